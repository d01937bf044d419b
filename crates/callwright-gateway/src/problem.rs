//! Problems before a turn begins, as clients expect to be told: OpenAI's form unless the path is another API's.

use std::borrow::Cow;

use bytes::Bytes;
use callwright_relay::error_body;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use crate::asked::Asker;

/// Why a request is not answered as it was meant.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    kind: &'static str,
    code: &'static str,
    param: Option<&'static str>,
    message: Cow<'static, str>,
    header: Option<(&'static str, &'static str)>,
}

impl Problem {
    pub(crate) fn unauthorized() -> Problem {
        let message = "A valid API key is needed: send it as `Authorization: Bearer KEY`, `x-api-key: KEY` or `x-goog-api-key: KEY`.";
        let problem = Problem::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message);
        Problem { kind: "authentication_error", header: Some(("www-authenticate", "Bearer")), ..problem }
    }

    /// A server without keys was asked under another name than this machine's. Containers do so, as `host.docker.internal`.
    pub(crate) fn foreign_host(host: &str) -> Problem {
        let host: String = host.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!(
            "This server takes no keys, so it answers to the names of this machine only: `localhost` or an IP address as \
             `Host`, not `{host}`. To ask from a container or under another name, start it with a key \
             (`callwright serve --key-hash HASH`) and send that."
        );
        Problem { kind: "permission_error", ..Problem::new(StatusCode::FORBIDDEN, "foreign_host", message) }
    }

    pub(crate) fn not_found() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "unknown_url", "There is nothing at this path.")
    }

    /// Nothing is at `path`, which is not below `/v1`: the client's base URL may lack it.
    pub(crate) fn outside_v1(path: &str) -> Problem {
        // A path may be as long as a request's line.
        let path: String = path.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!(
            "There is nothing at this path: did you mean /v1{path}? A client's base URL ends in /v1."
        );
        Problem::new(StatusCode::NOT_FOUND, "unknown_url", message)
    }

    /// Nothing of Gemini's API is at `path`.
    pub(crate) fn no_gemini(path: &str) -> Problem {
        let path: String = path.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!(
            "There is nothing at {path}: of Gemini's API this server has generateContent, streamGenerateContent, \
             countTokens and the list of models."
        );
        Problem::new(StatusCode::NOT_FOUND, "unknown_url", message)
    }

    /// A request of Ollama's API is about models that the server has itself.
    pub(crate) fn has_no_models() -> Problem {
        let message = "Callwright has no models of its own: pull, create and delete them at their server.";
        Problem::new(StatusCode::NOT_FOUND, "no_models", message)
    }

    /// The upstream speaks another API and has nothing at `path`.
    pub(crate) fn no_ollama(path: &str) -> Problem {
        let message = format!("The upstream of this model is not an Ollama and has no {path}.");
        Problem::new(StatusCode::NOT_FOUND, "unknown_url", message)
    }

    pub(crate) fn unknown_model(model: &str) -> Problem {
        let message = format!("model '{model}' not found");
        Problem::new(StatusCode::NOT_FOUND, "model_not_found", message)
    }

    pub(crate) fn method_not_allowed(allowed: &'static str) -> Problem {
        let message = format!("This path takes {allowed} only.");
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
        Problem { header: Some(("allow", allowed)), ..problem }
    }

    /// Nothing is streamed over a socket.
    pub(crate) fn no_socket() -> Problem {
        let message = "There is no WebSocket here: send the request with POST.";
        Problem::new(StatusCode::UPGRADE_REQUIRED, "no_websocket", message)
    }

    /// A response that is over is not streamed once more.
    pub(crate) fn not_again_as_a_stream() -> Problem {
        let message = "A response that is kept comes whole: leave `stream` out.";
        let problem = Problem::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message);
        Problem { param: Some("stream"), ..problem }
    }

    /// No response is made in the background.
    pub(crate) fn nothing_in_the_background() -> Problem {
        let message = "Only responses that are made in the background can be cancelled, and none is.";
        Problem::new(StatusCode::BAD_REQUEST, "not_in_the_background", message)
    }

    pub(crate) fn not_json() -> Problem {
        let message = "The body must be JSON: send `Content-Type: application/json`.";
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message)
    }

    pub(crate) fn too_large(limit: usize) -> Problem {
        let message = format!("The body is larger than {limit} bytes.");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", message)
    }

    pub(crate) fn too_slow() -> Problem {
        Problem::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", "The body did not arrive in time.")
    }

    pub(crate) fn not_packed_as_said() -> Problem {
        let message = "The body is not what its `Content-Encoding` says.";
        Problem::new(StatusCode::BAD_REQUEST, "invalid_encoding", message)
    }

    pub(crate) fn unknown_packing() -> Problem {
        let message = "The `Content-Encoding` of a body may be gzip or deflate.";
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_encoding", message)
    }

    pub(crate) fn cut() -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "incomplete_body", "The body ended before it was complete.")
    }

    pub(crate) fn unknown_policy() -> Problem {
        let message = "`x-callwright-policy` is one of auto, heal, feedback, strict.";
        let problem = Problem::new(StatusCode::BAD_REQUEST, "unknown_policy", message);
        Problem { param: Some("x-callwright-policy"), ..problem }
    }

    pub(crate) fn overloaded() -> Problem {
        let message = "Too many requests are open; try again soon.";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message);
        Problem { kind: "server_error", header: Some(("retry-after", "1")), ..problem }
    }

    /// The bodies of the requests that are in work fill all the room that there is for them.
    pub(crate) fn no_room() -> Problem {
        let message = "The bodies of open requests take all the memory that they may; try again soon.";
        Problem { message: message.into(), ..Problem::overloaded() }
    }

    /// A defect ended the answer.
    pub(crate) fn internal() -> Problem {
        let message = "A defect of this server ended the request; its log says where.";
        let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message);
        Problem { kind: "server_error", ..problem }
    }

    /// An upstream answered with this status and an error that cannot be passed on.
    pub(crate) fn unreadable_error(status: StatusCode) -> Problem {
        let message = format!("The upstream answered {status}, and its error cannot be read.");
        Problem { kind: "upstream_error", ..Problem::new(StatusCode::BAD_GATEWAY, "upstream_error", message) }
    }

    /// A page of another site asks.
    pub(crate) fn foreign_origin() -> Problem {
        let message = "A page of another site may not look in here.";
        Problem { kind: "permission_error", ..Problem::new(StatusCode::FORBIDDEN, "foreign_origin", message) }
    }

    /// A request concerns all clients, and its key sees its own sessions only.
    pub(crate) fn own_sessions_only() -> Problem {
        let message = "This key sees what was done with it alone: what concerns all clients is for keys with `sessions = \"all\"`.";
        Problem {
            kind: "permission_error",
            ..Problem::new(StatusCode::FORBIDDEN, "own_sessions_only", message)
        }
    }

    /// Sessions are shown with a key only, and none is configured.
    pub(crate) fn keys_needed() -> Problem {
        let message = "Sessions are shown on loopback, or where keys are configured.";
        Problem { kind: "permission_error", ..Problem::new(StatusCode::FORBIDDEN, "keys_needed", message) }
    }

    /// A person in a browser is asked for the key.
    pub(crate) fn unauthorized_page() -> Problem {
        Problem {
            header: Some(("www-authenticate", "Basic realm=\"Callwright: the key is the password\"")),
            ..Problem::unauthorized()
        }
    }

    pub(crate) fn no_store() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "no_store", "Nothing is kept: the store is off.")
    }

    pub(crate) fn unknown_session() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "unknown_session", "There is no such session, or node.")
    }

    pub(crate) fn store_failed() -> Problem {
        let message = "The store does not answer; the log says why.";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store_failed", message);
        Problem { kind: "server_error", ..problem }
    }

    pub(crate) fn not_written(why: &str) -> Problem {
        tracing::warn!(error = why, "[store] a dump was not written");
        let problem =
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "not_written", "The dump cannot be written.");
        Problem { kind: "server_error", ..problem }
    }

    /// The stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the sentence for a person.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The answer, in the API of whoever asks.
    pub(crate) fn into_response(self, asker: &Asker) -> Response<Bytes> {
        let Problem { kind, code, param, message, .. } = &self;
        let error = callwright::json!({
            "error": {"message": message, "type": kind, "param": param, "code": code}
        });
        let error = error.to_string();
        let told = error_body(asker.surface, self.status, error.as_bytes(), &asker.id);
        let (status, body) = told.unwrap_or((self.status, error));
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = self.header {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        response
    }

    fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Problem {
        let message = message.into();
        Problem { status, kind: "invalid_request_error", code, param: None, message, header: None }
    }
}

//! Answers clients of Ollama's API besides chats: which models there are, and what each can do. The format: `docs/api.md` of
//! Ollama. Where the upstream is an Ollama, it is asked itself.

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{any, get, post};
use bytes::Bytes;
use callwright::json;
use callwright::value::{Map, Value};
use callwright_relay::Reply;
use http::{HeaderMap, Method, StatusCode};

use crate::api::{Api, whole};
use crate::asked::Asker;
use crate::body::Body;
use crate::models::{context, created};
use crate::path::below_v1;
use crate::problem::Problem;
use crate::route::{Route, post_only, routed};

/// The version of Ollama whose API this is. Clients demand one: VS Code 0.6.4, for what models can do.
const VERSION: &str = "0.14.2";

/// Paths that ask models of others.
const ASKED: [&str; 8] = [
    "/api/chat",
    "/api/tags",
    "/api/show",
    "/api/ps",
    "/api/version",
    "/api/generate",
    "/api/embed",
    "/api/embeddings",
];

/// Paths that change models of the server's own.
const OWN: [&str; 6] =
    ["/api/pull", "/api/push", "/api/create", "/api/copy", "/api/delete", "/api/blobs/{digest}"];

/// Returns whether this is a path of Ollama's API.
pub(crate) fn is_path(path: &str) -> bool {
    ASKED.contains(&path) || OWN.contains(&path) || path.starts_with("/api/blobs/")
}

/// The routes of it, but for that of chats.
pub(crate) fn routes() -> Vec<Route> {
    let mut routes = vec![("/api/chat", any(post_only))];
    routes.extend(["/api/tags", "/api/ps", "/api/version"].map(|path| (path, get(answer))));
    routes.extend(
        ["/api/show", "/api/generate", "/api/embed", "/api/embeddings"].map(|path| (path, post(answer))),
    );
    routes.extend(OWN.map(|path| (path, any(answer))));
    routes
}

pub(crate) async fn answer(State(api): State<Api>, request: Request) -> Response {
    let asker = Asker::of(&request);
    match api.ollama(request).await {
        Ok(response) => routed(response),
        Err(problem) => routed(api.shared.refused_to(&asker, problem)),
    }
}

impl Api {
    /// Answers a request of Ollama's API that is not a chat.
    ///
    /// # Errors
    /// A body that cannot be taken, or a model that is not there.
    async fn ollama(&self, request: Request) -> Result<http::Response<Body>, Problem> {
        let (head, body) = request.into_parts();
        let path = below_v1(head.uri.path());
        let (permit, body) = match head.method {
            Method::POST => self.taken(&head.headers, body).await?,
            _ => (self.shared.permit()?, Bytes::new()),
        };
        if !ASKED.contains(&path) {
            return Err(Problem::has_no_models());
        }
        let passed = self.relay.pass_to_ollama(head.method, path, body.clone(), &head.headers).await;
        let reply = match passed {
            Some(shown) if path == "/api/show" => with_tools(shown).await?,
            Some(passed) => passed,
            None => self.made(path, body, &head.headers).await?,
        };
        self.answer(reply, permit).await
    }

    /// The answer where no upstream has one.
    async fn made(&self, path: &str, body: Bytes, headers: &HeaderMap) -> Result<Reply, Problem> {
        let told = match path {
            "/api/version" => json!({ "version": VERSION }),
            "/api/ps" => json!({ "models": [] }),
            "/api/tags" => {
                let models: Vec<Value> = self.listed(headers).await?.iter().map(listed).collect();
                json!({ "models": models })
            }
            "/api/show" => {
                let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
                let name = asked["model"].as_str().or(asked["name"].as_str()).unwrap_or_default();
                let models = self.listed(headers).await?;
                let found = models.iter().find(|model| model["id"] == *name);
                shown(found.ok_or_else(|| Problem::unknown_model(name))?)
            }
            "/api/generate" => return Ok(self.relay.generated(body)),
            _ => return Err(Problem::no_ollama(path)),
        };
        Ok(Reply::json(StatusCode::OK, told.to_string()))
    }
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": "",
    })
}

/// A model in the list of all.
fn listed(model: &Value) -> Value {
    json!({
        "name": model["id"],
        "model": model["id"],
        "modified_at": created(model),
        "size": 0,
        "digest": "",
        "details": details(),
    })
}

/// Describes one model. Whatever it can do itself, it has tools here.
fn shown(model: &Value) -> Value {
    let mut info = Map::from_iter([
        ("general.architecture".into(), "unknown".into()),
        ("general.basename".into(), model["id"].clone()),
    ]);
    if let Some(context) = context(model) {
        info.insert("unknown.context_length".into(), context.into());
    }
    json!({
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": details(),
        "model_info": info,
        "capabilities": ["completion", "tools"],
        "modified_at": created(model),
    })
}

/// Adds tools to an Ollama's own description of a model.
async fn with_tools(reply: Reply) -> Result<Reply, Problem> {
    let (status, headers) = (reply.status, reply.headers.clone());
    let body = whole(reply).await.ok_or_else(|| Problem::unreadable_error(status))?;
    let told: Option<Value> = serde_json::from_slice(&body).ok();
    let body = match told.filter(|told| status.is_success() && told.is_object()) {
        Some(mut told) => {
            if !told["capabilities"].is_array() {
                told["capabilities"] = json!(["completion"]);
            }
            // What only embeds calls nothing.
            if let Some(capabilities) = told["capabilities"].as_array_mut()
                && capabilities.iter().any(|capability| *capability == "completion")
                && !capabilities.iter().any(|capability| *capability == "tools")
            {
                capabilities.push("tools".into());
            }
            Bytes::from(told.to_string())
        }
        None => body,
    };
    let mut changed = Reply::json(status, body);
    let kept = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
    changed.headers.extend(kept.filter(|(name, _)| name != http::header::CONTENT_LENGTH));
    Ok(changed)
}

//! Pages of other sites (CORS): which of them may ask, and the headers that tell their browsers so. Only what is below
//! `/v1` is ever theirs; sessions and the page are not.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};

use crate::body::Body;
use crate::gemini::path as gemini;
use crate::path::below_v1;

/// A page that asks.
pub(crate) struct Page {
    origin: HeaderValue,
    is_allowed: bool,
    /// The headers that it means to send.
    wants: Option<HeaderValue>,
}

impl Page {
    /// The page behind `request`, where one asks for what is below `/v1`.
    pub(crate) fn of<B>(origins: &[String], request: &Request<B>) -> Option<Page> {
        let path = request.uri().path();
        let is_api = below_v1(path) != path
            || gemini::is_path(path)
            || ["/chat/", "/messages", "/models", "/responses"].iter().any(|at| path.starts_with(at));
        let origin = request.headers().get(ORIGIN).filter(|_| is_api)?.clone();
        let wants = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
        Some(Page { origin, is_allowed: allows(origins, request.headers()), wants })
    }

    /// Returns whether it may ask.
    pub(crate) fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The answer to a browser that asks whether the page may ask.
    pub(crate) fn permission(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(Bytes::new()));
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST, DELETE"));
        if let Some(wants) = &self.wants {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wants.clone());
        }
        // As long as browsers keep it at most.
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
        response
    }

    /// Lets the page read an answer with these headers, where it may.
    pub(crate) fn admit(&self, headers: &mut HeaderMap) {
        if self.is_allowed {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
    }
}

/// Returns whether one of `origins` names the page that sends these headers.
pub(crate) fn allows(origins: &[String], headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    origins.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
}

/// Takes from an upstream's answer what it allows to pages: who may read it is decided here.
pub(crate) fn strip(headers: &mut HeaderMap) {
    let is_cors = |name: &&HeaderName| name.as_str().starts_with("access-control-");
    let names: Vec<HeaderName> = headers.keys().filter(is_cors).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

//! All paths but the one for chats.

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use crate::api;
use crate::body::Body;
use crate::page;
use crate::problem::Problem;
use crate::service::{Api, Asker};
use crate::stored;
use crate::worker::Phase;

/// The routes of one worker.
pub(crate) fn routes(api: Api) -> Router {
    Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .merge(api::routes())
        .merge(page::routes())
        .merge(stored::routes(api.clone()))
        .route("/v1/chat/completions", any(post_only))
        .route("/v1/messages", any(post_only))
        .route("/v1/messages/count_tokens", any(post_only))
        .route("/v1/{*path}", any(pass))
        .route("/models", get(pass))
        .route("/models/{*path}", get(pass))
        .fallback(async |State(api), request: Request| {
            refused(&api, Problem::outside_v1(request.uri().path()))
        })
        .method_not_allowed_fallback(async |State(api)| refused(&api, Problem::method_not_allowed("GET")))
        .with_state(api)
}

/// The process runs.
async fn livez() -> &'static str {
    "live\n"
}

/// New requests are welcome.
async fn readyz(State(api): State<Api>) -> (StatusCode, &'static str) {
    match *api.shared.phase.borrow() {
        Phase::Serving => (StatusCode::OK, "ready\n"),
        Phase::Noticed | Phase::Draining | Phase::Closing => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}

/// The upstream answers.
async fn health(State(api): State<Api>) -> Response {
    let health = api.shared.health_check.health(&api.relay).await;
    let status = if health.is_healthy() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // What is said there has no keys that are no texts.
    let text = serde_json::to_string(&health).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// All counters. They name models and tell how much they are used, so they are for those who may ask.
async fn metrics(State(api): State<Api>, headers: HeaderMap) -> Response {
    if let Err(problem) = api.shared.admission.check(&headers) {
        return refused(&api, problem);
    }
    let dropped = api.shared.kept.as_ref().map_or(0, |kept| kept.store.dropped());
    let text = api.shared.metrics.text(api.shared.open.count(), dropped);
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}

/// What a turn is asked with.
async fn post_only(State(api): State<Api>, request: Request) -> Response {
    routed(api.shared.refused_to(&Asker::of(&request), Problem::method_not_allowed("POST")))
}

/// What is none of ours.
pub(crate) async fn pass(State(api): State<Api>, request: Request) -> Response {
    let asker = Asker::of(&request);
    match api.pass(request).await {
        Ok(response) => routed(response),
        Err(problem) => routed(api.shared.refused_to(&asker, problem)),
    }
}

/// The answer to a request that is not answered as it was meant.
pub(crate) fn refused(api: &Api, problem: Problem) -> Response {
    routed(api.shared.refused(problem))
}

/// A response as the routes have it.
pub(crate) fn routed(response: http::Response<Body>) -> Response {
    response.map(axum::body::Body::new)
}

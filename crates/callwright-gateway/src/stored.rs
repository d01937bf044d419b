//! Responses that are kept: `GET`, `DELETE`, their input items, and what is not there.

use axum::Router;
use axum::extract::{Path, RawQuery, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get, post};
use callwright_relay::{ItemsWanted, Reply};
use http::HeaderMap;
use http::header::UPGRADE;

use crate::problem::Problem;
use crate::routes::{pass, refused, routed};
use crate::service::Api;

/// So many items come at once at most.
const MOST: usize = 100;

/// The routes of responses, but for the one that makes them.
pub(crate) fn routes(api: Api) -> Router<Api> {
    let elsewhere = from_fn_with_state(api, here_or_elsewhere);
    Router::new()
        .route("/v1/responses", any(no_socket))
        .route("/v1/responses/{id}", get(response).delete(forget).route_layer(elsewhere.clone()))
        .route("/v1/responses/{id}/input_items", get(items).route_layer(elsewhere.clone()))
        .route("/v1/responses/{id}/cancel", post(cancel).route_layer(elsewhere))
}

/// Passes on what is asked of a response that the upstream keeps.
async fn here_or_elsewhere(
    State(api): State<Api>,
    Path(id): Path<String>,
    request: Request,
    next: Next,
) -> Response {
    match api.relay.is_kept_elsewhere(&id, request.headers()) {
        true => pass(State(api), request).await,
        false => next.run(request).await,
    }
}

/// A client that wants a socket goes on without one where it is told so at once.
async fn no_socket(State(api): State<Api>, headers: HeaderMap) -> Response {
    let problem = match headers.contains_key(UPGRADE) {
        true => Problem::no_socket(),
        false => Problem::method_not_allowed("POST"),
    };
    refused(&api, problem)
}

async fn response(
    State(api): State<Api>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let wants_stream = pairs(query.as_deref()).any(|(key, value)| key == "stream" && value == "true");
    if wants_stream {
        return refused(&api, Problem::not_again_as_a_stream());
    }
    admitted(&api, &headers, || api.relay.response(&id, &headers)).await
}

async fn forget(State(api): State<Api>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    admitted(&api, &headers, || api.relay.forget_response(&id, &headers)).await
}

async fn items(
    State(api): State<Api>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let mut wanted = ItemsWanted::default();
    for (key, value) in pairs(query.as_deref()) {
        match key.as_str() {
            "limit" => wanted.limit = value.parse().unwrap_or(wanted.limit).clamp(1, MOST),
            "order" => wanted.newest_first = value != "asc",
            "after" => wanted.after = Some(value),
            _ => {}
        }
    }
    admitted(&api, &headers, || api.relay.response_items(&id, &headers, &wanted)).await
}

async fn cancel(State(api): State<Api>) -> Response {
    refused(&api, Problem::nothing_in_the_background())
}

fn pairs(query: Option<&str>) -> impl Iterator<Item = (String, String)> + use<> {
    let query = query.unwrap_or_default().as_bytes().to_vec();
    let pairs: Vec<(String, String)> = form_urlencoded::parse(&query).into_owned().collect();
    pairs.into_iter()
}

/// What is told to whoever may ask.
async fn admitted(api: &Api, headers: &HeaderMap, tell: impl FnOnce() -> Reply) -> Response {
    match api.told(headers, tell).await {
        Ok(response) => routed(response),
        Err(problem) => refused(api, problem),
    }
}

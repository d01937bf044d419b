//! Responses that are kept: `GET`, `DELETE`, their input items, and what is not there.

use axum::extract::{Path, RawQuery, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{any, get, post};
use callwright_relay::{ItemsWanted, Owner, Reply};
use http::HeaderMap;
use http::header::UPGRADE;

use crate::admission::Admitted;
use crate::api::Api;
use crate::problem::Problem;
use crate::route::{Route, passed, refused, routed};

/// So many items come at once at most.
const MOST: usize = 100;

/// The routes of responses, but for the one that makes them.
pub(crate) fn routes(api: Api) -> Vec<Route> {
    let elsewhere = from_fn_with_state(api, here_or_elsewhere);
    vec![
        ("/v1/responses", any(no_socket)),
        ("/v1/responses/{id}", get(response).delete(forget).route_layer(elsewhere.clone())),
        ("/v1/responses/{id}/input_items", get(items).route_layer(elsewhere.clone())),
        ("/v1/responses/{id}/cancel", post(cancel).route_layer(elsewhere)),
    ]
}

/// Passes on what is asked of a response that the upstream keeps.
async fn here_or_elsewhere(
    State(api): State<Api>,
    Path(id): Path<String>,
    request: Request,
    next: Next,
) -> Response {
    match api.relay.is_kept_elsewhere(&id, &owner_of(&request)) {
        true => passed(&api, request).await,
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
    request: Request,
) -> Response {
    let wants_stream = pairs(query.as_deref()).any(|(key, value)| key == "stream" && value == "true");
    if wants_stream {
        return refused(&api, Problem::not_again_as_a_stream());
    }
    told(&api, api.relay.response(&id, &owner_of(&request))).await
}

async fn forget(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    told(&api, api.relay.forget_response(&id, &owner_of(&request))).await
}

async fn items(
    State(api): State<Api>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
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
    told(&api, api.relay.response_items(&id, &owner_of(&request), &wanted)).await
}

async fn cancel(State(api): State<Api>) -> Response {
    refused(&api, Problem::nothing_in_the_background())
}

fn pairs(query: Option<&str>) -> impl Iterator<Item = (String, String)> + use<> {
    let query = query.unwrap_or_default().as_bytes().to_vec();
    let pairs: Vec<(String, String)> = form_urlencoded::parse(&query).into_owned().collect();
    pairs.into_iter()
}

/// Whose a request is.
fn owner_of(request: &Request) -> Owner {
    let admitted: Admitted = request.extensions().get().cloned().unwrap_or_default();
    admitted.owner(request.headers())
}

async fn told(api: &Api, reply: Reply) -> Response {
    match api.told(reply).await {
        Ok(response) => routed(response),
        Err(problem) => refused(api, problem),
    }
}

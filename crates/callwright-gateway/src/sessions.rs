//! `/api`: sessions, statistics and what happens now, for the page and for programs.
//!
//! It is there on loopback, or with a key, and for no page of another site. A key sees the sessions that were made with it,
//! or all of them, as is configured.

use std::path::PathBuf;

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use callwright::json;
use callwright::value::Value;
use callwright_store::{Range, StoreError};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::api::Api;
use crate::events::Events;
use crate::problem::Problem;
use crate::query::Query;
use crate::route::{Route, refused};

/// So many sessions stand on a page of the list, unless another number is asked for.
const PAGE: usize = 50;
/// So many nodes of a session come at once.
const NODES: i64 = 2000;

/// The routes of the store.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        ("/api/sessions", get(sessions)),
        ("/api/session/{id}", get(session).delete(forget)),
        ("/api/session/{id}/node/{number}", get(node)),
        ("/api/session/{id}/dump", post(dump)),
        ("/api/statistics", get(statistics)),
        ("/api/events", get(events)),
    ]
}

async fn sessions(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    answer(&api, sessions_of(&api, &headers, query.as_deref()).await)
}

async fn sessions_of(api: &Api, headers: &HeaderMap, query: Option<&str>) -> Result<Response, Problem> {
    let kept = api.kept(headers)?;
    let query = Query::of(query);
    let most = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(PAGE);
    let after = query.get("after");
    Ok(json_of(&kept.store.sorted(query.filter(), query.order(), after.as_deref(), most).await?))
}

async fn session(
    State(api): State<Api>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let found = async {
        let query = Query::of(query.as_deref());
        let number = |key: &str, or: i64| query.get(key).and_then(|text| text.parse().ok()).unwrap_or(or);
        let most = number("limit", NODES).clamp(1, NODES);
        let found = api.kept(&headers)?.store.outline(&id, Some(number("after", 0)), most).await?;
        Ok(json_of(&found.ok_or_else(Problem::unknown_session)?))
    };
    answer(&api, found.await)
}

async fn node(
    State(api): State<Api>,
    Path((id, number)): Path<(String, i64)>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        let found = api.kept(&headers)?.store.node(&id, number).await?;
        let (node, body) = found.ok_or_else(Problem::unknown_session)?;
        Ok(json_of(&json!({"node": Value::of(&node).unwrap_or_default(), "body": body})))
    };
    answer(&api, found.await)
}

async fn dump(State(api): State<Api>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let written = dumped(&api, &headers, &id).await.map(|(path, entry_count)| {
        let path = path.display().to_string();
        json_of(&json!({"success": true, "dump_path": path, "entry_count": entry_count}))
    });
    answer(&api, written)
}

/// Writes a session into a file: its path, and how many entries it has.
///
/// # Errors
/// There is no such session, the request may not see it, or the file cannot be written.
async fn dumped(api: &Api, headers: &HeaderMap, id: &str) -> Result<(PathBuf, usize), Problem> {
    let kept = api.kept(headers)?;
    let dump = kept.store.dump(id).await?.ok_or_else(Problem::unknown_session)?;
    let entry_count = dump.entry_count;
    // Where it is written is the configuration's matter, never the client's.
    match tokio::task::spawn_blocking(move || dump.write(&kept.dumps)).await {
        Ok(Ok(path)) => Ok((path, entry_count)),
        Ok(Err(error)) => Err(Problem::not_written(&error.to_string())),
        Err(error) => Err(Problem::not_written(&error.to_string())),
    }
}

async fn forget(State(api): State<Api>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let deleted = async {
        let is_deleted = api.kept(&headers)?.store.delete(&id).await?;
        if is_deleted { Ok(json_of(&json!({"success": true}))) } else { Err(Problem::unknown_session()) }
    };
    answer(&api, deleted.await)
}

async fn statistics(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let counted = async {
        let query = Query::of(query.as_deref());
        let number = |key: &str| query.get(key).and_then(|text| text.parse().ok());
        let range = Range { since: number("since"), until: number("until") };
        Ok(json_of(&api.kept(&headers)?.store.statistics(range).await?))
    };
    answer(&api, counted.await)
}

async fn events(State(api): State<Api>, headers: HeaderMap) -> Response {
    let told = api.kept(&headers).map(|kept| {
        let body = axum::body::Body::new(Events::new(kept.store.changes(), api.shared.phase.clone()));
        ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")], body).into_response()
    });
    answer(&api, told)
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        tracing::warn!(%error, "[store] a question was not answered");
        Problem::store_failed()
    }
}

fn answer(api: &Api, answered: Result<Response, Problem>) -> Response {
    answered.unwrap_or_else(|problem| refused(api, problem))
}

fn json_of(value: &impl Serialize) -> Response {
    // All keys are texts, which is all that could fail.
    let text = serde_json::to_string(value).unwrap_or_default();
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ];
    (StatusCode::OK, headers, text).into_response()
}

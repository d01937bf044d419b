//! The page: sessions, what happened in them, and every repair in its place. HTML that is made here and needs no
//! script; the script only keeps it fresh.
//!
//! Whatever stands in a session was written by strangers. All of it goes through `maud`, which escapes it, and through
//! [`visible`], which shows what would hide; classes and addresses are never taken from it.

mod layout;
mod links;
mod sessions;
mod timeline;
mod act;
mod view;
mod opened;
mod node;
mod messages;
mod diff;
mod copies;
mod what_if;
mod share;
mod chart;
mod statistics;
mod viewer;

use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use callwright_store::{Page, Range, Store, now};
use callwright_view::try_it::{self, Asked, Place};
use callwright_view::{report, spans, visible, words};
use http::HeaderMap;
use maud::html;

use crate::api::Api;
use crate::problem::Problem;
use crate::query::Query;
use crate::route::{Route, refused};
use layout::{Kind, answer, page};
use links::Listing;
use opened::{Opened, said_before};
use timeline::NODES;
use view::{attached, kept, view};

pub use viewer::{Viewer, ViewerError};

/// So many sessions stand in the list.
const SESSIONS: usize = 40;

/// The routes of the page.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        ("/", get(list)),
        ("/sessions", get(list)),
        ("/session", get(session)),
        ("/session/dump", get(dump)),
        ("/session/share", get(share)),
        ("/statistics", get(statistics)),
        ("/try", get(try_it)),
    ]
}

/// The files that the page is drawn with: they are the same for everybody.
pub(crate) fn assets() -> Route {
    ("/page/{name}", get(asset))
}

async fn asset(State(api): State<Api>, Path(name): Path<String>) -> Response {
    layout::asset(&name).unwrap_or_else(|| refused(&api, Problem::not_found()))
}

async fn list(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let listed = async {
        let listing = Listing::of(&Query::of(query.as_deref()));
        let store = api.kept(&headers)?.store;
        let (page_of, totals) = (found(&store, &listing).await?, store.totals(listing.filter.clone()).await?);
        let main = sessions::table(&page_of, &totals, &listing);
        Ok(answer(page(Kind::Server, "Sessions", "listed", &main)))
    };
    answered(&api, listed.await)
}

/// Finds the sessions of a list.
async fn found(store: &Store, listing: &Listing) -> Result<Page, Problem> {
    let Listing { filter, order, after } = listing;
    Ok(store.sorted(filter.clone(), *order, after.as_deref(), SESSIONS).await?)
}

async fn session(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    answered(&api, session_page(&api, &headers, &Query::of(query.as_deref())).await)
}

async fn session_page(api: &Api, headers: &HeaderMap, query: &Query) -> Result<Response, Problem> {
    let store = api.kept(headers)?.store;
    let id = query.get("id").unwrap_or_default();
    // A node is seen among its neighbours.
    let around = |number: i64| number.saturating_sub(1).max(0) / NODES * NODES;
    let from = query.number("from").or_else(|| query.number("node").map(around));
    let shown = store.outline(&id, from, NODES).await?.ok_or_else(Problem::unknown_session)?;
    let opened = match query.number("node") {
        Some(number) => {
            let (node, body) = store.node(&id, number).await?.ok_or_else(Problem::unknown_session)?;
            let asked = match said_before(&shown, number) {
                Some(said) => store.node(&id, said.number).await?.and_then(|(_, body)| body),
                None => None,
            };
            Some(Opened { node, body, asked })
        }
        None => None,
    };
    let listing = Listing::of(query);
    let others = found(&store, &listing).await?;
    let main = html! {
        main.columns {
            (sessions::list(&others, &listing, &id))
            (view(Kind::Server, &shown, opened.as_ref(), query))
        }
    };
    Ok(answer(page(Kind::Server, &shown.summary.title, "opened", &main)))
}

async fn dump(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let dumped = async {
        let id = Query::of(query.as_deref()).get("id").unwrap_or_default();
        let dump = api.kept(&headers)?.store.dump(&id).await?.ok_or_else(Problem::unknown_session)?;
        Ok(kept(layout::common("application/json", "no-store"), "session.json", dump.to_json() + "\n"))
    };
    answered(&api, dumped.await)
}

async fn share(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let shared = async {
        let id = Query::of(query.as_deref()).get("id").unwrap_or_default();
        let found = api.kept(&headers)?.store.session(&id).await?;
        Ok(attached(&found.ok_or_else(Problem::unknown_session)?))
    };
    answered(&api, shared.await)
}

async fn statistics(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let counted = async {
        let time = Query::of(query.as_deref()).get("time");
        let range = Range { since: statistics::since(time.as_deref(), now()), until: None };
        let counted = api.kept(&headers)?.store.statistics(range).await?;
        let main = statistics::statistics(&counted, time.as_deref());
        Ok(answer(page(Kind::Server, "Statistics", "counted", &main)))
    };
    answered(&api, counted.await)
}

/// Reads what stands in the address. It needs no store, and tells nothing that the address does not.
async fn try_it(State(api): State<Api>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let tried = api.shared.admission.check_page(&headers).map(|_| {
        let main = try_it::main(&Asked::of_query(&query.unwrap_or_default()), Place::Server);
        answer(page(Kind::Server, "Try it", "tried", &main))
    });
    answered(&api, tried)
}

/// A person is told in words what is told to programs in JSON.
fn answered(api: &Api, answered: Result<Response, Problem>) -> Response {
    let problem = match answered {
        Ok(response) => return response,
        Err(problem) => problem,
    };
    let words = problem.message().to_owned();
    let (mut parts, _) = refused(api, problem).into_parts();
    let main = html! { main.problem-page { h1 { "This cannot be shown" } p { (words) } } };
    let (shown, body) = answer(page(Kind::Dump, "Not shown", "problem", &main)).into_parts();
    parts.headers.extend(shown.headers);
    (parts, body).into_response()
}

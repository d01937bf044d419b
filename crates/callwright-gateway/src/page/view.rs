//! One session: its timeline beside the node that is open, and all of it as a file.

use axum::response::{IntoResponse, IntoResponseParts, Response};
use callwright_store::Session;
use http::header::CONTENT_DISPOSITION;
use maud::{Markup, html};

use super::layout::{self, Kind};
use super::links::{self, Listing};
use super::node::{self, Tab};
use super::opened::Opened;
use super::share;
use super::timeline;
use super::what_if::Conditions;
use crate::query::Query;

/// The timeline of a session, and the node that is open.
pub(super) fn view(kind: Kind, session: &Session, opened: Option<&Opened>, query: &Query) -> Markup {
    let listing = Listing::of(query);
    let id = &session.summary.id;
    let conditions = Conditions {
        policy: query.get("as_policy"),
        finish_reason: query.get("as_finish"),
        dialect: query.get("as_dialect"),
    };
    let actions = html! {
        div.actions {
            @if kind.is_server() {
                a.button href=(links::href("/session/dump", &[("id", id)])) download="" { "Download dump" }
            }
            a.button href=(links::href("/session/share", &[("id", id)])) download="" { "Share as HTML" }
        }
    };
    html! {
        (timeline::middle(session, &listing, opened.map(|opened| opened.node.number), &actions))
        section.node-view aria-label="Node" {
            @match opened {
                Some(opened) => {
                    (node::node(session, opened, &listing, Tab::named(query.get("tab").as_deref()), &conditions))
                },
                None => {
                    div.empty-page {
                        h2 { "Choose a step" }
                        p { "What the model wrote, what was done to it, and what went out is shown here." }
                        p.keys { kbd { "j" } " and " kbd { "k" } " go through the steps, " kbd { "Enter" } " opens one." }
                    }
                },
            }
        }
    }
}

/// A session as a file to be kept.
pub(super) fn attached(session: &Session) -> Response {
    kept(layout::common("text/html; charset=utf-8", "no-store"), "session.html", share::file(session))
}

/// A text that a browser puts into a file. Its name is never taken from a session.
pub(super) fn kept(headers: impl IntoResponseParts, name: &'static str, text: String) -> Response {
    (headers, [(CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))], text).into_response()
}

//! A session as one HTML file that stands alone: no script, nothing that is fetched.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use callwright_store::Session;
use callwright_view::STYLE;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::layout::time;
use super::node::whole;
use super::opened::Opened;
use super::sessions::outcome;
use super::visible::visible;

/// The file. Bodies are taken from the session.
pub(crate) fn file(session: &Session) -> String {
    let summary = &session.summary;
    let digest: [u8; 32] = Sha256::digest(STYLE.as_bytes()).into();
    // Nothing but this very style sheet is taken, wherever the file is opened.
    let policy =
        format!("default-src 'none'; style-src 'sha256-{}'; base-uri 'none'", STANDARD.encode(digest));
    let page: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (visible(&summary.title)) " · Callwright" }
                style { (PreEscaped(STYLE)) }
            }
            body.alone {
                main {
                    h1 { (visible(if summary.title.is_empty() { &summary.id } else { &summary.title })) }
                    p { (outcome(&summary.outcome)) " " (visible(&summary.model)) " " (time(summary.updated)) }
                    @for node in &session.nodes {
                        @let opened = Opened::of(session, node.number);
                        @if let Some(opened) = opened { article { (whole(session, &opened)) } }
                    }
                }
            }
        }
    };
    page.into_string()
}

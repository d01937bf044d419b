//! What all pages have in common: head, navigation, and the headers that let nothing foreign in.

use axum::response::{IntoResponse, Response};
use callwright_view::head::head;
use callwright_view::{ICON, STYLE};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use maud::{DOCTYPE, Markup, html};

/// Only what this server itself serves, nothing inline, nobody around it. A script in a text would find no way to run
/// even where it were not escaped.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SCRIPT: &str = include_str!("script.js");

/// Whose pages these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A server's, whose sessions go on.
    Server,
    /// Those of one session that was dumped: nothing changes, and nothing else is there.
    Dump,
}

impl Kind {
    pub(crate) fn is_server(self) -> bool {
        self == Kind::Server
    }
}

/// A whole page. `class` says which part a narrow screen shows.
pub(crate) fn page(kind: Kind, title: &str, class: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head(title, "/page/"))
                script src="/page/script.js" defer {}
            }
            body class=(class) data-live=[kind.is_server().then_some("yes")] {
                header.top {
                    a.brand href="/" { "Callwright" }
                    nav aria-label="Pages" {
                        a href="/" { @if kind.is_server() { "Sessions" } @else { "Dump" } }
                        @if kind.is_server() { a href="/statistics" { "Statistics" } a href="/try" { "Try it" } }
                    }
                    span.live role="status" {}
                }
                (main)
            }
        }
    }
}

/// A page as an answer.
pub(crate) fn answer(page: Markup) -> Response {
    (common("text/html; charset=utf-8", "no-store"), page.into_string()).into_response()
}

/// What pages load; none where there is nothing of this name.
pub(crate) fn asset(name: &str) -> Option<Response> {
    let (kind, text) = match name {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "script.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return None,
    };
    Some((common(kind, "no-cache"), text).into_response())
}

fn common(kind: &'static str, cache: &'static str) -> [(HeaderName, &'static str); 7] {
    [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, cache),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // With `no-referrer` a form would not say where it comes from, and be refused.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ]
}

/// `1795336496123` → `2026-11-22 08:34:56`
pub(crate) fn time(at: i64) -> Markup {
    let full = callwright_store::rfc3339(at);
    let short: String = full.chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect();
    html! { time datetime=(full) { (short) } }
}

/// `2300` µs → `2.3 ms`
pub(crate) fn duration(us: u64) -> String {
    match us {
        us if us < 1_000 => format!("{us} µs"),
        us if us < 1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        us => format!("{:.1} s", us as f64 / 1e6),
    }
}

//! The frame of all pages: head, navigation, and the headers that let nothing foreign in.

use axum::response::{IntoResponse, Response};
use callwright_store::{now, rfc3339};
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

/// A whole page. `class` says which one it is: `listed`, `opened`, `counted`, `tried`, `problem`.
pub(crate) fn page(kind: Kind, title: &str, class: &str, main: &Markup) -> Markup {
    let here = |name: &str| (name == class).then_some("page");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head(title, "/page/"))
                script src="/page/script.js" defer {}
            }
            body class=(class) data-live=[kind.is_server().then_some("yes")] {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { "Callwright" }
                    nav aria-label="Pages" {
                        a href="/" aria-current=[here("listed")] { @if kind.is_server() { "Sessions" } @else { "Dump" } }
                        @if kind.is_server() {
                            a href="/statistics" aria-current=[here("counted")] { "Statistics" }
                            a href="/try" aria-current=[here("tried")] { "Try it" }
                        }
                    }
                    span.live role="status" {}
                }
                div #main tabindex="-1" { (main) }
            }
        }
    }
}

/// A page as an answer.
pub(crate) fn answer(page: Markup) -> Response {
    (common("text/html; charset=utf-8", "no-store"), page.into_string()).into_response()
}

/// Returns a file that pages load; `None` where there is nothing of this name.
pub(crate) fn asset(name: &str) -> Option<Response> {
    let (kind, text) = match name {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "script.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return None,
    };
    Some((common(kind, "no-cache"), text).into_response())
}

/// The headers of whatever this server shows.
pub(crate) fn common(kind: &'static str, cache: &'static str) -> [(HeaderName, &'static str); 7] {
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

/// `1795336496123` → `2026-11-22 08:34:56 UTC`
pub(crate) fn time(at: i64) -> Markup {
    html! { time datetime=(rfc3339(at)) { (moment(at)) } }
}

/// Tells the age of a moment, with its time as a tooltip. The script counts on.
pub(crate) fn ago(at: i64) -> Markup {
    html! { time.ago datetime=(rfc3339(at)) title=(moment(at)) { (since(now().saturating_sub(at))) } }
}

fn moment(at: i64) -> String {
    let short: String = rfc3339(at).chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect();
    format!("{short} UTC")
}

/// `300000` ms → `5 min ago`
fn since(ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..10 => String::from("just now"),
        10..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..2_592_000 => format!("{} d ago", seconds / 86_400),
        2_592_000..31_536_000 => format!("{} months ago", seconds / 2_592_000),
        _ => format!("{} years ago", seconds / 31_536_000),
    }
}

/// `2300` µs → `2.3 ms`
pub(crate) fn duration(us: u64) -> String {
    match us {
        us if us < 1_000 => format!("{us} µs"),
        us if us < 1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        us => format!("{:.1} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_tell_them() {
        for (ms, text) in [
            (-5, "just now"),
            (59_999, "59 s ago"),
            (60_000, "1 min ago"),
            (7_200_000, "2 h ago"),
            (3 * 86_400_000, "3 d ago"),
            (70 * 86_400_000, "2 months ago"),
            (800 * 86_400_000, "2 years ago"),
        ] {
            assert_eq!(since(ms), text);
        }
        let shown = ago(1_795_336_496_123).into_string();
        assert!(shown.contains("title=\"2026-11-22 08:34:56 UTC\""), "{shown}");
    }
}

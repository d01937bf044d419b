//! All paths but the one for chats.

use axum::Extension;
use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use callwright_relay::Surface;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::admission::Admitted;
use crate::api::Api;
use crate::asked::Asker;
use crate::gemini;
use crate::ollama;
use crate::page;
use crate::path::below_v1;
use crate::phase::Phase;
use crate::problem::Problem;
use crate::route::{Route, passed, post_only, refused};
use crate::sessions;
use crate::stored;

/// All of them, by who may ask.
struct Routes {
    /// Anybody: they tell nothing of anyone.
    open: Vec<Route>,
    /// Whoever may look at the page, which a browser asks for the key in its own way.
    page: Vec<Route>,
    /// Whoever may ask models.
    api: Vec<Route>,
}

impl Routes {
    fn of(api: Api) -> Routes {
        let mut of_api = stored::routes(api);
        of_api.extend(ollama::routes());
        of_api.extend(gemini::routes());
        of_api.extend([
            ("/metrics", get(metrics)),
            ("/v1/chat/completions", any(post_only)),
            ("/v1/messages", any(post_only)),
            ("/v1/messages/count_tokens", any(post_only)),
            ("/v1/{*path}", any(pass)),
            ("/models", get(pass)),
            ("/models/{*path}", get(pass)),
        ]);
        Routes {
            open: vec![
                ("/livez", get(livez)),
                ("/readyz", get(readyz)),
                ("/health", get(health)),
                page::assets(),
            ],
            page: page::routes().into_iter().chain(sessions::routes()).collect(),
            api: of_api,
        }
    }
}

/// Who may ask for a path. Whatever is not named elsewhere is for those who may ask models, also what is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    Page,
    Api,
}

impl Door {
    pub(crate) fn of(path: &str) -> Door {
        let is_below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        match path {
            "/livez" | "/readyz" | "/health" => Door::Open,
            "/" | "/sessions" | "/session" | "/statistics" | "/try" => Door::Page,
            _ if is_below("/page") => Door::Open,
            _ if ollama::is_path(path) => Door::Api,
            _ if is_below("/api") || is_below("/session") => Door::Page,
            _ => Door::Api,
        }
    }
}

/// The routes of one worker.
pub(crate) fn routes(api: Api) -> Router {
    let Routes { open, page, api: of_api } = Routes::of(api.clone());
    let all = open.into_iter().chain(page).chain(of_api);
    all.fold(Router::new(), |router, (path, answers)| router.route(path, answers))
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

/// All counters. They tell which models are used and how much, by everybody, so they are for those who see everybody.
async fn metrics(State(api): State<Api>, admitted: Option<Extension<Admitted>>) -> Response {
    if !admitted.is_some_and(|Extension(admitted)| admitted.sees_all()) {
        return refused(&api, Problem::own_sessions_only());
    }
    let dropped = api.shared.kept.as_ref().map_or(0, |kept| kept.store.dropped());
    let text = api.shared.metrics.text(api.shared.open.count(), dropped);
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}

/// Passes all other requests on.
async fn pass(State(api): State<Api>, request: Request) -> Response {
    if ollama::is_path(below_v1(request.uri().path())) {
        return ollama::answer(State(api), request).await;
    }
    if Asker::of(&request).surface == Surface::Gemini {
        return gemini::answer(State(api), request).await;
    }
    passed(&api, request).await
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use callwright_relay::config::{RelayConfig, UpstreamConfig};

    use super::*;
    use crate::config::GatewayConfig;
    use crate::gateway::{Gateway, Signals};
    use crate::key::ClientKey;

    const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"];

    fn gateway(config: GatewayConfig) -> Gateway {
        let config = GatewayConfig { listen: ([127, 0, 0, 1], 0).into(), ..config };
        // Nobody listens there.
        let upstreams = vec![UpstreamConfig::new("none", "http://127.0.0.1:9/v1")];
        Gateway::new(config, RelayConfig { upstreams, ..RelayConfig::default() }, &|_| None).unwrap()
    }

    /// The status of each path by each method, with these headers; `{id}` and the like are something.
    fn asked(paths: &[&str], config: GatewayConfig, headers: &str) -> Vec<(String, u16)> {
        let gateway = gateway(config);
        let (address, stop) = (gateway.address().unwrap(), gateway.stop());
        let running = std::thread::spawn(move || gateway.run(Signals::Ignore));
        let mut statuses = Vec::new();
        for path in paths {
            let path: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "1" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            for method in METHODS {
                let request = format!(
                    "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n"
                );
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
                statuses.push((format!("{method} {path}"), status));
            }
        }
        stop.close();
        running.join().unwrap().unwrap();
        statuses
    }

    fn routes() -> Routes {
        Routes::of(gateway(GatewayConfig::default()).api())
    }

    #[test]
    fn each_path_has_the_door_of_its_table() {
        let Routes { open, page, api } = routes();
        for (table, door) in [(&open, Door::Open), (&page, Door::Page), (&api, Door::Api)] {
            assert!(table.iter().all(|(path, _)| Door::of(path) == door), "{door:?}");
        }
        for path in ["/pages", "/apis", "/v1", "/nothing", "/v1/page/x", "/sessions/x", "//api/sessions"] {
            assert_eq!(Door::of(path), Door::Api, "{path}");
        }
    }

    #[test]
    fn without_a_key_nothing_but_the_open_paths_is_answered() {
        let Routes { page, api, .. } = routes();
        let elsewhere = ["/v1", "/v1/x/y", "/nothing", "/v1/v1/models", "/chat/completions", "/responses"];
        let paths: Vec<&str> = page.iter().chain(&api).map(|(path, _)| *path).chain(elsewhere).collect();
        let keys = || GatewayConfig { keys: vec![ClientKey::of("cw-1")], ..GatewayConfig::default() };
        for headers in ["", "authorization: Bearer cw-2\r\n", "upgrade: websocket\r\n"] {
            for (asked, status) in asked(&paths, keys(), headers) {
                // What a path of the page takes is no secret: nothing stands behind another method.
                let is_refused = status == 401 || (status == 405 && !asked.contains("/v1"));
                assert!(is_refused, "{asked}: {status} with {headers:?}");
            }
        }
    }

    /// `<img src="http://127.0.0.1:4000/v1/models">`, and a socket's handshake.
    #[test]
    fn a_page_of_another_site_asks_for_nothing_where_no_keys_are_configured() {
        let Routes { api, .. } = routes();
        let paths: Vec<&str> = api.iter().map(|(path, _)| *path).chain(["/v1/realtime"]).collect();
        for headers in [
            "sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n",
            "sec-fetch-site: same-site\r\n",
            "origin: https://evil.example\r\nconnection: upgrade\r\nupgrade: websocket\r\n",
        ] {
            for (asked, status) in asked(&paths, GatewayConfig::default(), headers) {
                // A form's body is told by its type.
                let is_refused =
                    status == 403 || asked.starts_with("POST") && [405, 415, 400].contains(&status);
                assert!(is_refused, "{asked}: {status} with {headers:?}");
            }
        }
    }
}

//! What the client is told of an upstream that answers with an error, or with something else than JSON.

use crate::common::{Server, json as whole, upstream, with_headers};
use callwright::json;
use callwright::value::Value;
use callwright_relay::Client;
use callwright_relay::config::{RelayConfig, UpstreamConfig};

const KEY: &str = "sk-configured-0123456789";
const REFUSED: &str = r#"{"error": {"message": "Incorrect API key provided: sk-configured-0123456789", "code": "invalid_api_key"}}"#;

/// The status and the words that the client gets of a server that answers all with this.
async fn told(server: &Server, change: impl FnOnce(&mut UpstreamConfig)) -> (u16, String) {
    let mut upstream = upstream("here", &server.base_url());
    change(&mut upstream);
    let mut config = RelayConfig { upstreams: vec![upstream], ..RelayConfig::default() };
    config.capability.probe = false;
    let client = Client::new(config, &|name| (name == "UP_KEY").then(|| KEY.to_owned())).unwrap();
    let asked = json!({"model": "m", "messages": [{"role": "user", "content": "Hello."}]});
    let error = client.chat(&asked).await.unwrap_err();
    (error.status, error.message)
}

#[tokio::test]
async fn a_key_that_lacks_or_is_refused_is_named() {
    let with_key = |upstream: &mut UpstreamConfig| upstream.key_env = Some("UP_KEY".into());
    let server = Server::start(|_, _| whole(401, REFUSED)).await;
    let (status, words) = told(&server, |_| {}).await;
    assert_eq!(status, 401);
    for part in ["`here` wants a key (401), and none is configured", "--upstream-key-env NAME", "key_env"] {
        assert!(words.contains(part), "{words}");
    }
    let (status, words) = told(&server, with_key).await;
    assert_eq!(status, 401);
    assert!(
        words.starts_with("upstream `here` refused the key in UP_KEY (401); it says: Incorrect"),
        "{words}"
    );
    assert!(!words.contains(KEY), "{words}");
    // What is forbidden may be the model: the upstream says which.
    let server = Server::start(|_, _| whole(403, r#"{"error": {"message": "No access to m."}}"#)).await;
    let (status, words) = told(&server, |_| {}).await;
    assert_eq!(status, 403);
    assert!(words.contains("none is configured") && words.ends_with("; it says: No access to m."), "{words}");
    assert_eq!(told(&server, with_key).await, (403, "No access to m.".into()));
}

#[tokio::test]
async fn a_page_is_told_by_its_type_and_first_words() {
    let page = "<!DOCTYPE html>\n<html><body>Welcome to nginx!</body></html>";
    let html = move |status| move |_: &_, _| with_headers(status, "content-type: text/html\r\n", page);
    let begins = "is text/html and begins \"<!DOCTYPE html> <html><body>Welcome to nginx!";
    let server = Server::start(html(200)).await;
    let (_, words) = told(&server, |_| {}).await;
    assert!(words.contains(begins) && words.contains("mostly ends in /v1"), "{words}");
    let server = Server::start(html(405)).await;
    let (status, words) = told(&server, |_| {}).await;
    assert_eq!(status, 405);
    assert!(words.contains(begins) && words.contains("before /chat/completions?"), "{words}");
}

/// The report says what stood where an edit is made, as the engine's own report of the same text does.
#[tokio::test]
async fn a_report_has_the_bytes_that_a_native_call_lost() {
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 2,}"}},
    ]});
    let answer =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string();
    let server = Server::start(move |_, _| whole(200, &answer)).await;
    let config =
        RelayConfig { upstreams: vec![upstream("here", &server.base_url())], ..RelayConfig::default() };
    let client = Client::new(config, &|_| None).unwrap();
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}});
    let asked = json!({"model": "m", "messages": [{"role": "user", "content": "f"}], "tools": [tool]});
    let answer = client.chat(&asked).await.unwrap();
    let report: &Value = &answer.response["callwright"]["choices"][0];
    for repair in [&report["calls"][1]["repairs"][0], &report["repairs"][0]] {
        assert_eq!((&repair["kind"], &repair["before"]), (&"drop-comma".into(), &",".into()), "{report}");
    }
}

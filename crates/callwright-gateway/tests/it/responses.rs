//! Responses that are kept, over HTTP: they are looked up, listed, forgotten, and only by whoever made them.

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{ClientKey, GatewayConfig, ServerConfig};
use callwright_relay::UpstreamKind;

use crate::running::{Answer, Running, relay_to, replay};

const HELLO: &str = "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n";

fn made(running: &Running, key: &str, more: Value) -> Value {
    let mut body = json!({ "model": "gpt-x", "input": "One." });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name.as_str()] = value.clone();
    }
    let answer = running.ask(&format!("POST /v1/responses{key}"), &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn code(answer: &Answer) -> (u16, Option<String>) {
    (answer.status, answer.json()["error"]["code"].as_str().map(str::to_owned))
}

#[test]
fn a_response_is_looked_up_listed_and_forgotten() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    let input = json!([{ "role": "user", "content": "One." }, { "role": "user", "content": "Two." }]);
    let made = made(&running, "", json!({ "input": input }));
    let path = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    let found = running.get(&path);
    assert_eq!((found.status, found.json()), (200, made.clone()));

    let texts = |query: &str| -> Vec<String> {
        let list = running.get(&format!("{path}/input_items{query}"));
        assert_eq!(list.status, 200, "{}", list.body);
        let list = list.json();
        assert_eq!(list["object"], "list");
        let items = list["data"].as_array().unwrap().iter();
        items.map(|item| item["content"].to_string()).collect()
    };
    let holds = |texts: &[String], expected: &[&str]| {
        texts.len() == expected.len() && texts.iter().zip(expected).all(|(text, part)| text.contains(part))
    };
    assert!(holds(&texts(""), &["Two.", "One."]), "{:?}", texts(""));
    assert!(holds(&texts("?order=asc"), &["One.", "Two."]));
    assert!(holds(&texts("?limit=1"), &["Two."]));
    let first = running.get(&format!("{path}/input_items?limit=1")).json();
    assert_eq!(first["has_more"], true);
    let after = first["last_id"].as_str().unwrap();
    assert!(holds(&texts(&format!("?after={after}")), &["One."]));

    let gone = running.ask(&format!("DELETE {path}"), "");
    assert_eq!(
        (gone.status, gone.json()),
        (200, json!({ "id": made["id"], "object": "response", "deleted": true }))
    );
    for answer in [
        running.get(&path),
        running.get(&format!("{path}/input_items")),
        running.ask(&format!("DELETE {path}"), ""),
    ] {
        assert_eq!(code(&answer), (404, Some(String::from("previous_response_not_found"))));
    }
}

#[test]
fn what_is_not_done_is_refused_at_once() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    let socket = running.ask("GET /v1/responses\nupgrade: websocket\nconnection: upgrade", "");
    assert_eq!(socket.status, 426, "{}", socket.body);
    assert_eq!(running.get("/v1/responses").status, 405);
    let id = made(&running, "", json!({}))["id"].clone();
    let path = format!("/v1/responses/{}", id.as_str().unwrap());
    assert_eq!(running.get(&format!("{path}?stream=true")).status, 400);
    assert_eq!(running.ask(&format!("POST {path}/cancel"), "").status, 400);
}

#[test]
fn a_response_belongs_to_its_key() {
    let replay = replay(HELLO);
    let keys = vec![ClientKey::of("cw-one"), ClientKey::of("cw-two")];
    let running =
        Running::start(GatewayConfig { keys, ..GatewayConfig::default() }, relay_to(&replay.base_url()));
    let (mine, other) = ("\nauthorization: Bearer cw-one", "\nauthorization: Bearer cw-two");
    let id = made(&running, mine, json!({}))["id"].clone();
    let path = format!("/v1/responses/{}", id.as_str().unwrap());
    for (key, status) in [("", 401), (other, 404), (mine, 200)] {
        assert_eq!(running.ask(&format!("GET {path}{key}"), "").status, status, "{key}");
        assert_eq!(running.ask(&format!("GET {path}/input_items{key}"), "").status, status, "{key}");
    }
    assert_eq!(running.ask(&format!("DELETE {path}{other}"), "").status, 404);
    assert_eq!(running.ask(&format!("GET {path}{mine}"), "").status, 200);
}

#[test]
fn what_a_server_of_responses_keeps_is_asked_for_there() {
    let replay = replay(
        "[[answer]]\nwhen = { path = \"/v1/responses/resp_9\" }\nrepeat = true\nbody = '{\"id\": \"resp_9\"}'\n[[answer]]\ntext = \"Hello.\"\n",
    );
    let mut relay = relay_to(&replay.base_url());
    relay.upstreams[0].kind = Some(UpstreamKind::Responses);
    let running = Running::start(GatewayConfig::default(), relay);
    let made = made(&running, "", json!({ "previous_response_id": "resp_8" }));
    assert_eq!(made["id"], "resp_replay_1");
    assert_eq!(replay.requests()[0].json()["previous_response_id"], "resp_8");
    for method in ["GET", "DELETE"] {
        let answer = running.ask(&format!("{method} /v1/responses/resp_9"), "");
        assert_eq!((answer.status, answer.body.as_str()), (200, "{\"id\": \"resp_9\"}"), "{method}");
    }
    let methods: Vec<String> = replay.requests().iter().map(|request| request.method.clone()).collect();
    assert_eq!(methods, ["POST", "GET", "DELETE"]);
}

//! A server that speaks Ollama's own API: where it is asked, with which context, what it says of its models.

use callwright::json;
use callwright_gateway::GatewayConfig;
use callwright_relay::UpstreamKind;
use callwright_relay::config::ModelConfig;

use crate::running::{Running, relay_to, replay};

const HELLO: &str = "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n\n[[models]]\nid = \"qwen3\"\n";

#[test]
fn it_is_asked_beside_whatever_part_of_it_the_base_url_names() {
    let replay = replay(HELLO);
    let root = replay.base_url().trim_end_matches("/v1").to_owned();
    for (n, end) in ["", "/", "/v1", "/api", "/api/"].into_iter().enumerate() {
        let mut relay = relay_to(&format!("{root}{end}"));
        relay.upstreams[0].kind = Some(UpstreamKind::Ollama);
        relay.models.push(ModelConfig { num_ctx: Some(32768), ..ModelConfig::new("qwen*") });
        let running = Running::start(GatewayConfig::default(), relay);
        let question =
            json!({ "model": "qwen3", "max_tokens": 9, "messages": [{ "role": "user", "content": "Hi." }] });
        let answer = running.ask("POST /v1/chat/completions", &question.to_string());
        assert_eq!(
            (answer.status, &answer.json()["model"]),
            (200, &json!("qwen3")),
            "{end}: {}",
            answer.body
        );
        assert_eq!(running.get("/v1/models").json()["data"][0]["id"], "qwen3", "{end}");
        let asked =
            replay.requests().into_iter().filter(|request| request.path == "/api/chat").nth(n).unwrap();
        assert_eq!(asked.json()["options"], json!({ "num_predict": 9, "num_ctx": 32768 }));
    }
}

/// The whole of what VS Code asks before a chat: the version, the models, and what each can do.
#[test]
fn clients_of_ollama_find_models_with_tools() {
    let replay = replay(
        "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n\n[[models]]\nid = \"m\"\ncreated = 1767225600\nmax_model_len = 4096\n",
    );
    let running = Running::before(&replay, Default::default());
    let version = running.get("/api/version").json();
    assert_eq!(version["version"].as_str().unwrap().split('.').count(), 3);
    for path in ["/api/tags", "/v1/api/tags"] {
        let tags = running.get(path).json();
        assert_eq!(tags["models"][0]["model"], "m", "{path}: {tags}");
        assert_eq!(tags["models"][0]["modified_at"], "2026-01-01T00:00:00.000Z");
    }
    assert_eq!(running.get("/api/ps").json(), json!({ "models": [] }));
    for name in ["model", "name"] {
        let shown = running.ask("POST /api/show", &json!({ (name): "m" }).to_string()).json();
        assert_eq!(shown["capabilities"], json!(["completion", "tools"]));
        let architecture = shown["model_info"]["general.architecture"].as_str().unwrap();
        assert_eq!(shown["model_info"][&format!("{architecture}.context_length")], 4096);
    }
    let unknown = running.ask("POST /api/show", r#"{"model": "x"}"#);
    assert_eq!((unknown.status, unknown.json()), (404, json!({ "error": "model 'x' not found" })));
    let loaded = running.ask("POST /api/generate", r#"{"model": "m", "prompt": ""}"#).json();
    assert_eq!((&loaded["done_reason"], &loaded["response"]), (&json!("load"), &json!("")));
    for (head, body) in [
        ("POST /api/generate", r#"{"model": "m", "prompt": "Hi."}"#),
        ("POST /api/embed", r#"{"model": "m", "input": "Hi."}"#),
        ("POST /api/pull", r#"{"model": "m"}"#),
        ("DELETE /api/delete", r#"{"model": "m"}"#),
    ] {
        let refused = running.ask(head, body);
        assert_eq!(refused.status, 404, "{head}: {}", refused.body);
        assert!(refused.json()["error"].is_string(), "{head}: {}", refused.body);
    }
    assert_eq!(running.get("/api/chat").status, 405);
    // The page's own paths stay what they are.
    assert_eq!(running.get("/api/sessions").json()["error"]["code"], "no_store");
}

/// An Ollama tells of its models itself, and each that answers in words has tools here.
#[test]
fn an_ollama_is_asked_itself() {
    let replay = replay(
        "[show]\nm = { template = \"{{ .Prompt }}\", capabilities = [\"completion\", \"vision\"] }\ne = { capabilities = [\"embedding\"] }",
    );
    let mut relay = relay_to(&replay.base_url());
    relay.upstreams[0].kind = Some(UpstreamKind::Ollama);
    let running = Running::start(GatewayConfig::default(), relay);
    let shown = running.ask("POST /api/show", r#"{"model": "m"}"#).json();
    assert_eq!(shown["capabilities"], json!(["completion", "vision", "tools"]));
    let shown = running.ask("POST /api/show", r#"{"model": "e"}"#).json();
    assert_eq!(shown["capabilities"], json!(["embedding"]));
    running.ask("POST /api/generate", r#"{"model": "m", "prompt": "Hi?"}"#);
    let asked = replay.requests().pop().unwrap();
    assert_eq!((&*asked.path, &asked.json()["prompt"]), ("/api/generate", &json!("Hi?")));
}

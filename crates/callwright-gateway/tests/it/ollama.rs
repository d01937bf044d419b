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

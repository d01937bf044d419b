//! What clients of Gemini's API ask besides contents: which models there are, how many tokens a prompt has; and where their keys are.

use callwright::json;
use callwright_gateway::{ClientKey, GatewayConfig};

use crate::running::{Running, relay_to, replay};

const HELLO: &str =
    "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n\n[[models]]\nid = \"org/m\"\nmax_model_len = 4096\n";

const ASKED: &str = r#"{"contents": [{"parts": [{"text": "Hi."}]}]}"#;

#[test]
fn clients_of_gemini_find_models() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, Default::default());
    let model = json!({
        "name": "models/org/m", "version": "1", "displayName": "org/m", "inputTokenLimit": 4096,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    });
    for path in ["/v1beta/models?pageSize=5", "/v1beta/models/", "/v1/v1beta/models"] {
        assert_eq!(running.get(path).json(), json!({ "models": [model] }), "{path}");
    }
    for path in ["/v1beta/models/org/m", "/v1alpha/models/org%2Fm"] {
        let got = running.get(path).json();
        assert_eq!(
            (&got["name"], &got["inputTokenLimit"]),
            (&model["name"], &model["inputTokenLimit"]),
            "{path}"
        );
    }
    // Of a version that others have too, the package's own header tells.
    let listed = running.ask("GET /v1/models\nx-goog-api-client: google-genai-sdk/3.6.1", "");
    assert_eq!(listed.json()["models"][0]["name"], "models/org/m");
    assert_eq!(running.get("/v1/models").json()["data"][0]["id"], "org/m");
    let counted = running.ask("POST /v1beta/models/org/m:countTokens", ASKED);
    assert!(counted.json()["totalTokens"].as_u64().is_some_and(|n| 5 < n), "{}", counted.body);
    let inner = format!(r#"{{"generateContentRequest": {ASKED}}}"#);
    assert_eq!(running.ask("POST /v1beta/models/m:countTokens", &inner).status, 200);
}

#[test]
fn what_is_not_there_is_told_in_its_own_form() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, Default::default());
    for (head, body, status, word) in [
        ("GET /v1beta/models/x", "", 404, "NOT_FOUND"),
        ("POST /v1beta/models/m:embedContent", "{}", 404, "NOT_FOUND"),
        ("POST /v1beta/cachedContents", "{}", 404, "NOT_FOUND"),
        ("GET /v1beta/models/m:generateContent", "", 405, "INVALID_ARGUMENT"),
        ("POST /v1beta/models/m:generateContent", "{", 400, "INVALID_ARGUMENT"),
        ("POST /v1beta/models/m:streamGenerateContent", "{}", 400, "INVALID_ARGUMENT"),
    ] {
        let refused = running.ask(head, body);
        let error = &refused.json()["error"];
        assert_eq!(
            (refused.status, &error["code"], &error["status"]),
            (status, &json!(status), &json!(word)),
            "{head}"
        );
        assert!(error["message"].is_string(), "{head}");
    }
}

#[test]
fn a_key_comes_in_its_header_or_in_the_query_and_goes_nowhere() {
    let replay = replay(HELLO);
    let config = GatewayConfig { keys: vec![ClientKey::of("cw-1")], ..GatewayConfig::default() };
    let running = Running::start(config, relay_to(&replay.base_url()));
    for (head, status) in [
        ("POST /v1beta/models/m:generateContent", 401),
        ("POST /v1beta/models/m:generateContent\nx-goog-api-key: cw-2", 401),
        ("POST /v1beta/models/m:generateContent?key=cw-2", 401),
        ("POST /v1beta/models/m:generateContent\nx-goog-api-key: cw-1", 200),
        ("POST /v1beta/models/m:generateContent?key=cw-1", 200),
        ("POST /v1beta/models/m:streamGenerateContent?alt=sse&key=cw-1", 200),
        ("GET /v1beta/models?key=cw-1", 200),
    ] {
        let body = if head.starts_with("POST") { ASKED } else { "" };
        let answer = running.ask(head, body);
        assert_eq!(answer.status, status, "{head}: {}", answer.body);
        if status == 401 {
            assert_eq!(answer.json()["error"]["status"], "UNAUTHENTICATED");
        }
    }
    for asked in replay.requests() {
        assert!(!asked.path.contains("cw-1"), "{}", asked.path);
        let is_key = |(_, value): &(String, String)| value.contains("cw-1");
        assert!(!asked.headers.iter().any(is_key), "{:?}", asked.headers);
    }
}

//! What is told of requests: health, metrics, traces.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{GatewayConfig, ServerConfig, TraceConfig};

use crate::running::{Running, relay_to, replay};

/// An upstream whose lists and answers hold something of everything.
const UPSTREAM: &str = r#"
models = [
    { id = "gpt-4o" },
    { id = "google/gemma-3-27b-it:free" },
    { id = "house/own", supported_parameters = ["tools"] },
    { id = "house/plain", supported_parameters = ["temperature"] },
]

[[answer]]
tool_calls = [{ name = "run_code", arguments = '{"code": "1"}' }]
[answer.when]
contains = "right"

[[answer]]
tool_calls = [{ name = "run_code", arguments = '{"code": "1",}' }]
[answer.when]
contains = "comma"

[[answer]]
tool_calls = [{ name = "runCode", arguments = '{"code": "1"}' }]
[answer.when]
contains = "name"

[[answer]]
tool_calls = [{ name = "run_code", arguments = '{"code": {}}' }]
repeat = true
[answer.when]
contains = "schema"

[[answer]]
text = "Fine."
repeat = true
"#;

fn chat(model: &str, says: &str) -> Value {
    let parameters = json!({
        "type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"],
        "additionalProperties": false,
    });
    let function = json!({"name": "run_code", "description": "Run code.", "parameters": parameters});
    json!({
        "model": model,
        "messages": [{"role": "user", "content": says}],
        "tools": [{"type": "function", "function": function}],
    })
}

#[test]
fn health_counts_what_the_running_configuration_can_do() {
    // S3-53: five keys of the right types, and counts that are true.
    let upstream = replay(UPSTREAM);
    let mut relay = relay_to(&upstream.base_url());
    relay.default_model = Some("google/gemma-3-27b-it:free".into());
    relay.capability.probe = false;
    let running = Running::start(GatewayConfig::default(), relay.clone());
    let answer = running.get("/health");
    assert_eq!(answer.status, 200);
    let healthy = json!({
        "status": "healthy",
        "default_model": "google/gemma-3-27b-it:free",
        "native_function_calling_models": 2,
        "fallback_function_calling_supported": true,
        "available_models_count": 4,
    });
    assert_eq!(answer.json(), healthy);
    // Probes that come often do not become requests to the upstream.
    assert_eq!(running.get("/health").json(), healthy);
    assert_eq!(upstream.requests().iter().filter(|request| request.path == "/v1/models").count(), 1);
    drop(running);

    // What is configured counts more than what the upstream says.
    relay.models = toml_models("[[models]]\npattern = 'house/*'\nmode = 'prompt'\n");
    let running = Running::start(GatewayConfig::default(), relay);
    assert_eq!(running.get("/health").json()["native_function_calling_models"], 1);
}

#[test]
fn health_says_when_the_upstream_is_down() {
    // S3-53: the port belonged to nobody a moment ago.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let running = Running::start(GatewayConfig::default(), relay_to(&format!("http://{nobody}/v1")));
    let answer = running.get("/health");
    assert_eq!((answer.status, answer.json()["status"].as_str()), (503, Some("unhealthy")));
    assert_eq!(answer.json()["available_models_count"], 0);
    assert!(!answer.json()["error"].as_str().unwrap().is_empty());
}

#[test]
fn metrics_tell_how_well_models_call() {
    let upstream = replay(UPSTREAM);
    let running = Running::before(&upstream, ServerConfig::default());
    for says in ["right", "comma", "name"] {
        assert_eq!(running.chat(&chat("gpt-4o", says)).status, 200, "{says}");
    }
    let mut strict = chat("gpt-4o", "schema");
    strict["callwright"] = Value::Null;
    let head = "POST /v1/chat/completions\nx-callwright-policy: heal";
    assert_eq!(running.ask(head, &strict.to_string()).status, 200);
    assert_eq!(running.ask("POST /v1/chat/completions", "not JSON").status, 400);
    assert_eq!(running.get("/nowhere").status, 404);

    let answer = running.get("/metrics");
    assert!(answer.headers["content-type"].starts_with("application/openmetrics-text"));
    let text = answer.body;
    let has = |line: &str| assert!(text.lines().any(|l| l == line), "no {line} in\n{text}");
    // S3-60: what became of calls, by model, mode and dialect.
    has(r#"callwright_calls_total{model="gpt-4o",mode="native",dialect="native",outcome="passed"} 1"#);
    has(r#"callwright_calls_total{model="gpt-4o",mode="native",dialect="native",outcome="repaired"} 2"#);
    has(r#"callwright_calls_total{model="gpt-4o",mode="native",dialect="native",outcome="refused"} 1"#);
    let errors = |error: &str, healing: &str| {
        format!(
            r#"callwright_call_errors_total{{model="gpt-4o",mode="native",error="{error}",healing="{healing}"}} 1"#
        )
    };
    has(&errors("InvalidJson", "before"));
    has(&errors("UnknownName", "before"));
    has(&errors("SchemaMismatch", "before"));
    has(&errors("SchemaMismatch", "after"));
    assert!(!text.contains(&errors("InvalidJson", "after")), "it was healed");
    has(r#"callwright_repairs_total{kind="drop-comma"} 1"#);
    has(
        r#"callwright_requests_total{model="gpt-4o",mode="native",dialect="native",outcome="passed",surface="chat"} 1"#,
    );
    has(
        r#"callwright_requests_total{model="gpt-4o",mode="native",dialect="native",outcome="repaired",surface="chat"} 2"#,
    );
    has(r#"callwright_attempts_total{upstream="replay",why="first",status="2xx"} 4"#);
    has(r#"callwright_refused_total{code="unknown_url"} 1"#);
    has("callwright_duration_seconds_count 5");
    has("callwright_open_requests 0");
    assert!(text.contains("callwright_held_bytes_bucket"), "{text}");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn clients_cannot_make_more_series_than_there_are_models() {
    let upstream =
        replay("[[answer]]\nstatus = 404\nerror = { message = \"no such model\" }\nrepeat = true\n");
    let running = Running::before(&upstream, ServerConfig::default());
    for number in 0..20 {
        running.chat(&chat(&format!("made-up-{number}"), "right"));
    }
    let text = running.get("/metrics").body;
    assert!(!text.contains("made-up"), "{text}");
    assert!(text.contains(r#"model="other""#), "{text}");
}

#[test]
fn a_request_is_a_trace_with_its_attempts() {
    let collector = Collector::start();
    let upstream = replay(UPSTREAM);
    let traces = TraceConfig { otlp_endpoint: Some(collector.url.clone()), ..TraceConfig::default() };
    let config = GatewayConfig { traces, ..GatewayConfig::default() };
    let running = Running::start(config, relay_to(&upstream.base_url()));
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let head = format!("POST /v1/chat/completions\ntraceparent: 00-{trace}-{parent}-01");
    assert_eq!(running.ask(&head, &chat("gpt-4o", "comma").to_string()).status, 200);
    // A trace that its client does not sample is not sent.
    let head = format!("POST /v1/chat/completions\ntraceparent: 00-{}-{parent}-00", "a".repeat(32));
    assert_eq!(running.ask(&head, &chat("gpt-4o", "right").to_string()).status, 200);
    // What is still in the queue goes out before the end.
    running.stop.drain();
    running.ended();

    let (path, export) = collector.exports.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!(path, "/v1/traces");
    let spans = export["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 2, "{export:#}");
    let (attempt, request) = (&spans[0], &spans[1]);
    assert!(spans.iter().all(|span| span["traceId"] == trace));
    assert_eq!((&request["parentSpanId"], &request["kind"]), (&json!(parent), &json!(2)));
    assert_eq!((&attempt["parentSpanId"], &attempt["kind"]), (&request["spanId"], &json!(3)));
    assert_eq!(request["name"], "chat gpt-4o");
    let has = |span: &Value, key: &str, value: Value| {
        let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
        assert_eq!(found.map(|attribute| &attribute["value"]), Some(&value), "{key} in {span:#}");
    };
    for span in [attempt, request] {
        has(span, "gen_ai.operation.name", json!({"stringValue": "chat"}));
        has(span, "gen_ai.request.model", json!({"stringValue": "gpt-4o"}));
        let reasons = json!({"arrayValue": {"values": [{"stringValue": "tool_calls"}]}});
        has(span, "gen_ai.response.finish_reasons", reasons);
        assert!(span.to_string().contains("gen_ai.usage.input_tokens"), "{span:#}");
    }
    has(request, "callwright.end", json!({"stringValue": "repaired"}));
    has(request, "callwright.repairs", json!({"intValue": "1"}));
    has(request, "callwright.unsure", json!({"intValue": "0"}));
    has(request, "callwright.shown", json!({"intValue": "0"}));
    has(attempt, "callwright.mode", json!({"stringValue": "native"}));
    let nanoseconds = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
    let start = nanoseconds(request, "startTimeUnixNano");
    assert!(start <= nanoseconds(attempt, "startTimeUnixNano"));
    assert!(nanoseconds(attempt, "endTimeUnixNano") <= nanoseconds(request, "endTimeUnixNano"));
}

#[test]
fn a_collector_that_is_gone_costs_no_request_anything() {
    let upstream = replay(UPSTREAM);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let traces = TraceConfig { otlp_endpoint: Some(format!("http://{nobody}")), ..TraceConfig::default() };
    let config = GatewayConfig { traces, ..GatewayConfig::default() };
    let running = Running::start(config, relay_to(&upstream.base_url()));
    assert_eq!(running.chat(&chat("gpt-4o", "right")).status, 200);
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while !running.get("/metrics").body.contains("callwright_spans_dropped_total 2") {
        assert!(std::time::Instant::now() < until, "{}", running.get("/metrics").body);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn toml_models(text: &str) -> Vec<callwright_relay::config::ModelConfig> {
    #[derive(serde::Deserialize)]
    struct Models {
        models: Vec<callwright_relay::config::ModelConfig>,
    }
    toml::from_str::<Models>(text).unwrap().models
}

/// A collector of traces: each export that comes, with its path.
struct Collector {
    url: String,
    exports: mpsc::Receiver<(String, Value)>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (put, exports) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let (mut path, mut length) = (String::new(), 0);
                for line in stream.by_ref().lines().map(Result::unwrap) {
                    if let Some(rest) = line.strip_prefix("POST ") {
                        path = rest.split(' ').next().unwrap().into();
                    }
                    if let Some(rest) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = rest.trim().parse().unwrap();
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                put.send((path, serde_json::from_slice(&body).unwrap())).unwrap();
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                stream.get_mut().write_all(answer).unwrap();
            }
        });
        Collector { url, exports }
    }
}

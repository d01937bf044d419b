//! The demo's examples over real HTTP: a scripted model behind the gateway, and a client in front of it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use callwright::Policy;
use callwright::json;
use callwright::value::Value;
use callwright_gateway::{Gateway, GatewayConfig, ServerConfig, Signals, Stop};
use callwright_relay::config::{Constrain, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::upstream::Upstreams;
use callwright_replay::{Answer, Replay, Script};
use http::HeaderMap;

use super::{Demo, Example, definitions};
use crate::harmless::harmless;

/// The length of a text that is shown.
const SHOWN: usize = 160;
const ANSWER: usize = 1 << 20;

/// A running gateway with its model, and a client of it.
pub(super) struct Wire {
    runtime: tokio::runtime::Runtime,
    /// The gateway, as its client sees it.
    gateway: Upstreams,
    stop: Stop,
    _model: Replay,
}

impl Wire {
    pub(super) fn start(demo: &Demo) -> Result<Wire, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let answers = (1..).zip(&demo.example).map(|(number, example): (usize, _)| {
            let mut answer = Answer::text(&example.text);
            answer.choice.finish_reason = example.finish_reason.clone();
            answer.when.contains = Some(question(number));
            answer
        });
        let model = Replay::start(Script::of(answers)).map_err(|error| said(&error))?;
        let mut upstream = UpstreamConfig::new("examples", &model.base_url());
        upstream.constrain = Some(Constrain::None);
        let mut any = ModelConfig::new("*");
        any.mode = Some(Mode::Prompt);
        // The model says the same whatever it is asked: asking it again would not help.
        let relay = RelayConfig {
            upstreams: vec![upstream],
            models: vec![any],
            policy: Policy::Heal,
            ..RelayConfig::default()
        };
        let config = GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            server: ServerConfig { workers: 1, ..ServerConfig::default() },
            ..GatewayConfig::default()
        };
        let gateway = Gateway::new(config, relay, &|_| None).map_err(|error| said(&error))?;
        let address = gateway.address().map_err(|error| said(&error))?;
        let stop = gateway.stop();
        std::thread::spawn(move || gateway.run(Signals::Ignore));
        let seen = UpstreamConfig::new("gateway", &format!("http://{address}/v1"));
        let seen = RelayConfig { upstreams: vec![seen], ..RelayConfig::default() };
        let gateway = Upstreams::new(&seen, &|_| None).map_err(|error| said(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Wire { runtime: runtime.map_err(|error| said(&error))?, gateway, stop, _model: model })
    }

    /// Asks the gateway for the answer of an example; what the client gets, in lines.
    pub(super) fn ask(
        &self,
        example: &Example,
        tools: &BTreeMap<String, String>,
        number: usize,
    ) -> Result<Vec<String>, String> {
        let mut request =
            json!({"model": "example", "messages": [{"role": "user", "content": question(number)}]});
        match (&example.tools, &example.schema) {
            (Some(name), _) => request["tools"] = parsed(definitions(tools, name)?)?,
            (None, Some(schema)) => {
                let schema = parsed(schema)?;
                request["response_format"] =
                    json!({"type": "json_schema", "json_schema": {"name": "value", "schema": schema}});
            }
            (None, None) => request["response_format"] = json!({"type": "json_object"}),
        }
        let gateway = self.gateway.all().first().ok_or("there is no gateway")?;
        let body = Bytes::from(request.to_string());
        let answer = self.runtime.block_on(async {
            let answer = gateway.post("/chat/completions", body, &HeaderMap::new()).await;
            answer
                .map_err(|error| error.to_string())?
                .body
                .whole(ANSWER)
                .await
                .map_err(|error| error.to_string())
        })?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        Ok(lines(&answer))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.close();
    }
}

/// Returns the user's question, by which the scripted model knows its answer.
fn question(number: usize) -> String {
    format!("Example {number}, please.")
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn lines(answer: &Value) -> Vec<String> {
    let choice = &answer["choices"][0];
    let message = &choice["message"];
    let mut lines = Vec::new();
    if let Some(content) = message["content"].as_str() {
        lines.push(format!("content        {}", shown(content)));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().map(shown).unwrap_or_default();
        let function = &call["function"];
        lines.push(format!("tool call      {} {}", text(&function["name"]), text(&function["arguments"])));
    }
    let reason = choice["finish_reason"].as_str().unwrap_or("none");
    lines.push(format!("finish_reason  {reason}"));
    lines
}

/// The beginning of a text, in one line.
fn shown(text: &str) -> String {
    let line = text.replace('\n', "⏎");
    let cut = line.char_indices().nth(SHOWN).map(|(at, _)| at);
    match cut {
        Some(at) => harmless(&format!("{}…", &line[..at])).into_owned(),
        None => harmless(&line).into_owned(),
    }
}

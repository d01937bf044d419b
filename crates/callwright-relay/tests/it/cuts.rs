//! Law 4 through a whole turn: calls are cut at every byte by an upstream that says that the model stopped, that does not
//! count tokens, and that cuts them in the same place however often it is asked. None comes out that differs from the whole one.

use callwright::Policy;
use callwright::json;
use callwright::value::Value;
use callwright_relay::Client;
use callwright_relay::config::{Constrain, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_replay::{Replay, Script};

/// What an upstream says that lies, or that says nothing; whether it counts; and under which policy it is read. A bracket that is
/// missing at the end of JSON is believed under `heal`, and under `auto` where the answer left tokens over: not here.
const LIES: [(&str, Policy, bool); 10] = [
    ("stop", Policy::Auto, false),
    ("tool_calls", Policy::Auto, false),
    ("", Policy::Auto, false),
    ("", Policy::Heal, false),
    ("stop", Policy::Strict, true),
    ("tool_calls", Policy::Strict, false),
    ("", Policy::Auto, true),
    ("", Policy::Strict, true),
    ("tool_calls", Policy::Feedback, true),
    ("stop", Policy::Feedback, false),
];

/// A call, and how models write it: as the arguments of a native one, and in texts.
struct Call {
    name: &'static str,
    arguments: &'static str,
    texts: &'static [&'static str],
}

const CALLS: [Call; 3] = [
    Call {
        name: "get_weather",
        arguments: r#"{"city": "Paris", "days": 12, "unit": "c"}"#,
        texts: &[
            "I look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 12, \"unit\": \"c\"}}</tool_call>",
            "```tool_code\nget_weather(city='Paris', days=12, unit='c')\n```",
            "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n12\n</parameter>\n<parameter=unit>\nc\n</parameter>\n</function>",
        ],
    },
    Call {
        name: "run_all",
        arguments: r#"{"commands": ["npm install", "npm test"]}"#,
        texts: &[
            "```json\n{\"name\": \"run_all\", \"arguments\": {\"commands\": [\"npm install\", \"npm test\"]}}\n```",
        ],
    },
    Call { name: "plot", arguments: r#"{"at": {"x": 1.5, "y": 20}, "label": "{[a]} b"}"#, texts: &[] },
];

fn tools() -> Value {
    let tool = |name: &str, properties: Value, required: Value| {
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let text = json!({"type": "string"});
    json!([
        tool(
            "get_weather",
            json!({"city": text, "days": {"type": "integer"}, "unit": text}),
            json!(["city"])
        ),
        tool("run_all", json!({"commands": {"type": "array", "items": text}}), json!(["commands"])),
        tool(
            "plot",
            json!({"at": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}, "label": text}),
            json!([])
        ),
    ])
}

/// The calls that come out, whole and streamed, where every answer is `answer`, one of a script.
///
/// Those of an answer that does not say that they are to run count only with `all`.
async fn calls(mode: Mode, policy: Policy, answer: &Value, all: bool) -> [Vec<(String, String)>; 2] {
    let script: Script = json!({"answer": [answer]}).to().unwrap();
    let replay = Replay::start(script).unwrap();
    let mut upstream = UpstreamConfig::new("replay", &replay.base_url());
    upstream.constrain = Some(Constrain::None);
    upstream.retries = 0;
    let mut model = ModelConfig::new("m");
    model.mode = Some(mode);
    let config =
        RelayConfig { upstreams: vec![upstream], models: vec![model], policy, ..RelayConfig::default() };
    let client = Client::new(config, &|_| None).unwrap();
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools()});
    let whole = client.chat(&request).await.unwrap();
    let is_to_run = |reason: Option<&str>| all || reason == Some("tool_calls");
    let whole = match is_to_run(whole.finish_reason.as_deref()) {
        true => whole.calls.into_iter().map(|call| (call.name, call.arguments)).collect(),
        false => Vec::new(),
    };
    let (mut streamed, mut finish) = (Vec::<(String, String)>::new(), None);
    let mut chunks = client.stream(&request).await.unwrap();
    let mut is_broken = false;
    while let Some(chunk) = chunks.next().await {
        let Ok(chunk) = chunk else {
            is_broken = true;
            break;
        };
        let choice = &chunk["choices"][0];
        for piece in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let function = &piece["function"];
            if let Some(name) = function["name"].as_str() {
                streamed.push((name.to_owned(), String::new()));
            }
            streamed.last_mut().unwrap().1.push_str(function["arguments"].as_str().unwrap_or(""));
        }
        finish = choice["finish_reason"].as_str().map(str::to_owned).or(finish);
    }
    // A client runs nothing of an answer that was cut, or that ends in an error.
    if is_broken || !is_to_run(finish.as_deref()) {
        streamed.clear();
    }
    [whole, streamed]
}

/// Checks all cuts of `text`, of which `answer` makes an answer; the whole text must give the call.
async fn check(call: &Call, mode: Mode, text: &str, answer: impl Fn(&str) -> Value) {
    let meant: Value = serde_json::from_str(call.arguments).unwrap();
    for cut in 1..=text.len() {
        // Each costs a turn: the next cut takes the next ones.
        let lies = [0, 1, 2].map(|n| LIES[(3 * cut + n) % LIES.len()]);
        let whole = Some(("stop", Policy::Auto, false)).filter(|_| cut == text.len());
        for (reason, policy, counts) in lies.into_iter().chain(whole) {
            let mut answer = answer(&text[..cut]);
            answer["repeat"] = true.into();
            answer["usage"] = match counts {
                true => json!({"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39}),
                false => json!({"total_tokens": 0}),
            };
            answer["finish_reason"] = reason.into();
            for found in calls(mode, policy, &answer, true).await {
                for (name, arguments) in &found {
                    let arguments: Value = serde_json::from_str(arguments).unwrap();
                    assert_eq!(
                        (name.as_str(), &arguments),
                        (call.name, &meant),
                        "{reason}, {policy:?}, counts: {counts}: {}",
                        &text[..cut]
                    );
                }
                assert!(whole.is_none() || reason != "stop" || found.len() == 1, "{text}");
            }
        }
    }
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn no_native_call_comes_out_of_a_cut() {
    run(async {
        for call in &CALLS {
            let answer = |cut: &str| json!({"tool_calls": [{"name": call.name, "arguments": cut}]});
            check(call, Mode::Native, call.arguments, answer).await;
        }
    });
}

#[test]
fn no_written_call_comes_out_of_a_cut() {
    run(async {
        for call in &CALLS {
            for text in call.texts {
                check(call, Mode::Prompt, text, |cut| json!({"text": cut})).await;
            }
        }
    });
}

/// Whatever the policy: what the upstream says it cut is no call, however little of it is missing.
#[test]
fn no_policy_makes_a_call_of_what_is_said_to_be_cut() {
    run(async {
        for policy in [Policy::Auto, Policy::Heal, Policy::Feedback, Policy::Strict] {
            for (call, reason) in CALLS.iter().zip(["length", "content_filter", "length"]) {
                for missing in 1..6 {
                    let cut = &call.arguments[..call.arguments.len() - missing];
                    let answer = json!({
                        "tool_calls": [{"name": call.name, "arguments": cut}],
                        "finish_reason": reason,
                        "repeat": true,
                    });
                    let found = calls(Mode::Native, policy, &answer, true).await;
                    assert_eq!(found, [vec![], vec![]], "{policy:?} {reason}: {cut}");
                }
            }
        }
    });
}

/// A bracket that the model forgot costs no second request where the upstream counts, and where nobody may ask.
#[test]
fn what_ended_by_itself_is_closed_in_one_request() {
    run(async {
        let arguments = r#"{"city": "Paris""#;
        let counted = json!({"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39});
        let unknown = json!({"total_tokens": 0});
        for (policy, usage, n_requests, n_calls) in [
            (Policy::Auto, &counted, 1, 1),
            (Policy::Auto, &unknown, 2, 1),
            (Policy::Heal, &counted, 1, 1),
            (Policy::Heal, &unknown, 1, 1),
            (Policy::Feedback, &counted, 2, 1),
            (Policy::Feedback, &unknown, 2, 1),
            (Policy::Strict, &counted, 1, 0),
        ] {
            let made = |arguments: &str| json!({"tool_calls": [{"name": "get_weather", "arguments": arguments}], "finish_reason": "tool_calls", "usage": usage});
            let script = json!({"answer": [made(arguments), made(r#"{"city": "Paris"}"#)]});
            let replay = Replay::start(script.to().unwrap()).unwrap();
            let mut model = ModelConfig::new("m");
            model.mode = Some(Mode::Native);
            let upstreams = vec![UpstreamConfig::new("replay", &replay.base_url())];
            let config = RelayConfig { upstreams, models: vec![model], policy, ..RelayConfig::default() };
            let client = Client::new(config, &|_| None).unwrap();
            let request = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools(), "max_tokens": 64});
            let answer = client.chat(&request).await.unwrap();
            assert_eq!(answer.calls.len(), n_calls, "{policy:?} {usage}");
            let asked = replay.requests().iter().filter(|r| r.path.ends_with("/chat/completions")).count();
            assert_eq!(asked, n_requests, "{policy:?} {usage}");
        }
    });
}

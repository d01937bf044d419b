//! Turns against a scripted upstream: what the client gets, and what the upstream was asked.

use std::sync::{Arc, Mutex};

use callwright::Policy;
use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{Constrain, Mode, ModelConfig, RelayConfig, Routing, UpstreamConfig};
use callwright_relay::{AttemptReason, Client, Completion, Observer, TurnEnd, TurnRecord};
use callwright_replay::{Recorded, Replay, Script};

/// A model whose server takes tools, and one whose server does not.
const NATIVE: &str = "native-model";
const PROMPT: &str = "prompt-model";

struct Setting {
    replay: Replay,
    client: Client,
    ends: Arc<Ends>,
}

#[derive(Default)]
struct Ends(Mutex<Vec<(TurnEnd, Vec<AttemptReason>)>>);

impl Observer for Ends {
    fn ended(&self, turn: TurnRecord) {
        let whys = turn.attempts.iter().map(|attempt| attempt.reason).collect();
        self.0.lock().unwrap().push((turn.end, whys));
    }
}

fn setting(script: &str) -> Setting {
    setting_with(script, |_| {})
}

fn setting_with(script: &str, change: impl FnOnce(&mut RelayConfig)) -> Setting {
    let replay = Replay::start(Script::from_toml(script).unwrap()).unwrap();
    let mut upstream = UpstreamConfig::new("replay", &replay.base_url());
    upstream.constrain = Some(Constrain::None);
    upstream.retries = 0;
    let model = |pattern: &str, mode| {
        let mut model = ModelConfig::new(pattern);
        model.mode = Some(mode);
        model
    };
    let models = vec![model(NATIVE, Mode::Native), model(PROMPT, Mode::Prompt)];
    let mut config = RelayConfig { upstreams: vec![upstream], models, ..RelayConfig::default() };
    change(&mut config);
    let ends = Arc::new(Ends::default());
    let client = Client::observed(config, &|_| None, ends.clone()).unwrap();
    Setting { replay, client, ends }
}

fn request(model: &str) -> Value {
    let tool = |name: &str, properties: Value, required: Value| {
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "description": "A tool.", "parameters": parameters}})
    };
    json!({
        "model": model,
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [
            tool("get_weather", json!({"city": {"type": "string"}, "days": {"type": "integer"}}), json!(["city"])),
            tool("run_code", json!({"code": {"type": "string"}}), json!(["code"])),
        ],
    })
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// What a streaming client puts together.
type Streamed = (String, Vec<(String, String, String)>, String);

fn streamed(client: &Client, request: &Value) -> Result<Streamed, String> {
    run(async {
        let mut chunks = client.stream(request).await.map_err(|error| error.to_string())?;
        let (mut text, mut finish) = (String::new(), String::new());
        let mut calls: Vec<(String, String, String)> = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| error.to_string())?;
            let choice = &chunk["choices"][0];
            text.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
            for piece in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                let index = piece["index"].as_u64().unwrap() as usize;
                if calls.len() == index {
                    let id = piece["id"].as_str().unwrap().to_owned();
                    let name = piece["function"]["name"].as_str().unwrap().to_owned();
                    calls.push((id, name, String::new()));
                }
                calls[index].2.push_str(piece["function"]["arguments"].as_str().unwrap());
            }
            if let Some(reason) = choice["finish_reason"].as_str() {
                assert!(finish.is_empty(), "a second finish");
                finish = reason.to_owned();
            }
        }
        Ok((text, calls, finish))
    })
}

/// The whole answer, after making sure that the streamed one is the same.
fn answer(script: &str, request: &Value) -> (Completion, Setting) {
    let streaming = setting(script);
    let setting = setting(script);
    let whole = run(setting.client.chat(request)).unwrap();
    let (text, calls, finish) = streamed(&streaming.client, request).unwrap();
    let calls: Vec<(String, String)> =
        calls.into_iter().map(|(_, name, arguments)| (name, arguments)).collect();
    let whole_calls: Vec<(String, String)> =
        whole.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
    assert_eq!((text, calls, Some(finish)), (whole.text.clone(), whole_calls, whole.finish_reason.clone()));
    (whole, setting)
}

fn bodies(replay: &Replay) -> Vec<Value> {
    replay.requests().iter().filter(|r| r.path.ends_with("/chat/completions")).map(Recorded::json).collect()
}

fn calls(answer: &Completion) -> Vec<(&str, Value)> {
    let value = |arguments: &str| serde_json::from_str(arguments).unwrap();
    answer.calls.iter().map(|call| (call.name.as_str(), value(&call.arguments))).collect()
}

/// S0-13, S0-32, S0-34, S0-44, S0-45, S3-04, S3-26
#[test]
fn a_broken_call_is_healed_on_the_way() {
    let script = r#"
        [[answer]]
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"city": "Paris",' }]
        finish_reason = "stop"
    "#;
    let script = script.replace(r#"'{"city": "Paris",'"#, r#"'{"city": "Paris",}'"#);
    let (answer, setting) = answer(&script, &request(NATIVE));
    assert_eq!(calls(&answer), [("get_weather", json!({"city": "Paris"}))]);
    assert_eq!((answer.calls[0].id.as_str(), answer.finish_reason.as_deref()), ("c1", Some("tool_calls")));
    let asked = bodies(&setting.replay);
    assert_eq!((asked.len(), &asked[0]["tools"]), (1, &request(NATIVE)["tools"]));
    assert_eq!(setting.ends.0.lock().unwrap().as_slice(), [(TurnEnd::Repaired, vec![AttemptReason::First])]);
}

/// S2-06, S2-07, S2-10, S2-11, S2-13, S2-19
#[test]
fn bad_arguments_are_asked_for_again_with_that_tool_alone() {
    let script = r#"
        [[answer]]
        when = { lacks = "fit its schema" }
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' }]
        [[answer]]
        tool_calls = [{ name = "get_weather", arguments = '{"city": "Paris"}' }]
    "#;
    let (answer, setting) = answer(script, &request(NATIVE));
    assert_eq!(calls(&answer), [("get_weather", json!({"city": "Paris"}))]);
    assert_eq!(answer.calls[0].id, "c1");
    let asked = bodies(&setting.replay);
    assert_eq!(asked.len(), 2);
    let names: Vec<&str> =
        asked[1]["tools"].as_array().unwrap().iter().filter_map(|t| t["function"]["name"].as_str()).collect();
    assert_eq!(names, ["get_weather"]);
    assert_eq!(asked[1]["tool_choice"]["function"]["name"], "get_weather");
    // The client sets no bound, so there is none.
    assert_eq!(asked[1].get("max_tokens"), None);
    // What it wrote, by its name, and what is wrong with that.
    let more = more(&setting.replay, 1);
    assert_eq!(more[0], (String::from("assistant"), String::from(r#"get_weather {"town": "Paris"}"#)));
    assert!(more[1].0 == "user" && more[1].1.contains("Tool call 1: Invalid arguments"), "{more:?}");
    assert!(more[1].1.contains("missing required: city"), "{more:?}");
    assert_eq!(
        setting.ends.0.lock().unwrap().as_slice(),
        [(TurnEnd::Retried, vec![AttemptReason::First, AttemptReason::Reask])]
    );
}

#[test]
fn what_is_asked_again_may_never_take_more_than_the_client_allows() {
    let script = r#"
        [[answer]]
        when = { lacks = "fit its schema" }
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' }]
        [[answer]]
        tool_calls = [{ name = "get_weather", arguments = '{"city": "Paris"}' }]
    "#;
    for (member, own, sent) in [
        ("max_tokens", 300, 300),
        ("max_completion_tokens", 300, 300),
        // A call alone needs less.
        ("max_tokens", 100_000, 1024),
    ] {
        let mut request = request(NATIVE);
        request[member] = json!(own);
        let (_, setting) = answer(script, &request);
        let asked = bodies(&setting.replay);
        assert_eq!(asked[1][member], sent, "{member}");
        let other = ["max_tokens", "max_completion_tokens"].into_iter().find(|other| *other != member);
        assert_eq!(asked[1].get(other.unwrap()), None, "{member}");
    }
}

/// S2-05, S2-20, S2-21
#[test]
fn an_unknown_tool_may_be_replaced_by_a_safe_one_or_by_none() {
    let script = r#"
        [[answer]]
        when = { lacks = "Unknown tool" }
        tool_calls = [{ id = "c1", name = "browse", arguments = '{"q": "x"}' }]
        [[answer]]
        text = "There is no such tool, but it is sunny."
    "#;
    let safe = |config: &mut RelayConfig| config.ladder.safe_tools = vec![String::from("get_weather")];
    let setting = setting_with(script, safe);
    let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
    assert_eq!(calls(&answer), []);
    assert_eq!(answer.text, "There is no such tool, but it is sunny.");
    assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
    let asked = bodies(&setting.replay);
    assert_eq!((asked[1]["tools"].as_array().unwrap().len(), &asked[1]["tool_choice"]), (1, &json!("auto")));
}

#[test]
fn what_stays_wrong_is_fed_back_and_then_refused_in_words() {
    let script = r#"
        [[answer]]
        repeat = true
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' }]
    "#;
    let (answer, setting) = answer(script, &request(NATIVE));
    assert_eq!(calls(&answer), []);
    assert!(answer.text.contains("get_weather was not run"), "{}", answer.text);
    assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
    let ends = setting.ends.0.lock().unwrap();
    assert_eq!(
        ends.as_slice(),
        [(TurnEnd::GaveUp, vec![AttemptReason::First, AttemptReason::Reask, AttemptReason::Feedback])]
    );
    // The error is the result of that call's id.
    let feedback = &bodies(&setting.replay)[2]["messages"];
    assert_eq!(feedback[1]["tool_calls"][0]["id"], "c1");
    assert_eq!((&feedback[2]["role"], &feedback[2]["tool_call_id"]), (&json!("tool"), &json!("c1")));
}

/// What was said beside a call belongs to it: the client has read it once, and does not read it with each attempt.
#[test]
fn prose_beside_calls_is_said_once() {
    let wrong = |text: &str| {
        format!(
            "[[answer]]\ntext = {text:?}\ntool_calls = [{{ name = \"get_weather\", arguments = '{{\"town\": \"x\"}}' }}]\n"
        )
    };
    let right = "[[answer]]\ntext = \"Sorry, once more.\"\ntool_calls = [{ name = \"get_weather\", arguments = '{\"city\": \"x\"}' }]\n";
    let words = |text: &str| format!("[[answer]]\ntext = {text:?}\n");
    let refused = "⚠️ A call of the tool get_weather was not run: missing required: city.";
    let first = "I will look it up.";
    for (others, said) in [
        // As often as it is tried, and whatever is said beside the later tries.
        ([wrong(first), wrong(first)].concat(), format!("{first}\n\n{refused}")),
        ([wrong("Again."), wrong("And again.")].concat(), format!("{first}\n\n{refused}")),
        // What was asked for again is right in the end.
        ([wrong(first), right.to_owned()].concat(), first.to_owned()),
        // It calls nothing more: that is its answer.
        (words("I cannot tell."), format!("{first}\n\nI cannot tell.")),
        (words(first), first.to_owned()),
    ] {
        let script = wrong(first) + &others;
        let (answer, _) = answer(&script, &request(NATIVE));
        assert_eq!(answer.text, said, "{script}");
    }
}

/// A call between words that was written in another form than the one that was asked for: made, or shown?
fn between(more: &str) -> String {
    let call = r#"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>"#;
    format!(
        "[[answer]]\nwhen = {{ lacks = \"in the middle of prose\" }}\ntext = \"Like this:\\n\\n{call}\\n\\nSo far.\"\n{more}"
    )
}

const BETWEEN: &str = "Like this:\n\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>\n\nSo far.";

/// What it says when asked decides: alone it is a call, and anything else leaves it the text that it was.
#[test]
fn an_unsure_call_is_asked_for_alone_once() {
    let made = r#"[[answer]]
text = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
usage = { prompt_tokens = 50, completion_tokens = 20 }
"#;
    let setting = setting(&between(made));
    let answer = run(setting.client.chat(&request(PROMPT))).unwrap();
    assert_eq!(calls(&answer), [("get_weather", json!({"city": "Oslo"}))]);
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason.as_deref()),
        ("Like this:\n\nSo far.", Some("tool_calls"))
    );
    assert_eq!(
        setting.ends.0.lock().unwrap().as_slice(),
        [(TurnEnd::Retried, vec![AttemptReason::First, AttemptReason::Confirm])]
    );
    let asked = bodies(&setting.replay);
    let messages = asked[1]["messages"].as_array().unwrap();
    let (said, question) = (&messages[messages.len() - 2], &messages[messages.len() - 1]);
    assert_eq!((&said["role"], &said["content"]), (&json!("assistant"), &json!(BETWEEN)));
    let question = question["content"].as_str().unwrap();
    assert!(question.contains("the tool get_weather in the middle of prose"), "{question}");
    assert!(!question.contains("Paris"), "{question}");
    assert_eq!(asked[1].get("max_tokens"), None);
    // As the request itself, it asks for calls in the dialect of the prompt.
    assert_eq!(messages[0], asked[0]["messages"][0]);
}

#[test]
fn an_unsure_call_that_nobody_means_is_text() {
    let again = BETWEEN.replace('"', "\\\"").replace('\n', "\\n");
    for other in ["I only showed it.", "", &again] {
        let setting = setting(&between(&format!("[[answer]]\ntext = \"{other}\"\n")));
        let answer = run(setting.client.chat(&request(PROMPT))).unwrap();
        assert_eq!((calls(&answer), answer.text.as_str()), (Vec::new(), BETWEEN), "{other}");
        assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
        assert_eq!(
            setting.ends.0.lock().unwrap().as_slice(),
            [(TurnEnd::Passed, vec![AttemptReason::First, AttemptReason::Confirm])]
        );
    }
}

/// What was wrong with the call that is made alone is a matter of the rest of the ladder.
#[test]
fn an_unsure_call_that_is_made_wrongly_is_refused_like_any() {
    let wrong =
        "[[answer]]\nrepeat = true\ntext = '{\"name\": \"get_weather\", \"arguments\": {\"town\": 1}}'\n";
    let setting = setting(&between(wrong));
    let answer = run(setting.client.chat(&request(PROMPT))).unwrap();
    assert_eq!(calls(&answer), []);
    assert!(answer.text.contains("get_weather was not run"), "{}", answer.text);
    let ends = setting.ends.0.lock().unwrap();
    let whys = &ends[0].1;
    // The one request that could ask again is spent.
    assert_eq!(whys[..2], [AttemptReason::First, AttemptReason::Confirm]);
    assert!(!whys.contains(&AttemptReason::Reask), "{whys:?}");
}

/// Where words have gone out, where no request is left and under policies that ask for nothing, it goes out as a call.
#[test]
fn an_unsure_call_goes_out_where_nobody_may_be_asked() {
    let none = |config: &mut RelayConfig| config.ladder.reasks = 0;
    let heal = |config: &mut RelayConfig| config.policy = Policy::Heal;
    let strict = |config: &mut RelayConfig| config.policy = Policy::Strict;
    let settings = [
        setting_with(&between(""), none),
        setting_with(&between(""), heal),
        setting_with(&between(""), strict),
    ];
    for (setting, n_calls) in settings.iter().zip([1, 1, 0]) {
        let answer = run(setting.client.chat(&request(PROMPT))).unwrap();
        assert_eq!((calls(&answer).len(), bodies(&setting.replay).len()), (n_calls, 1));
        let text = if n_calls == 0 { BETWEEN } else { "Like this:\n\nSo far." };
        assert_eq!(answer.text, text);
    }
    let setting = setting(&between(""));
    let (text, calls, finish) = streamed(&setting.client, &request(PROMPT)).unwrap();
    assert_eq!((text.trim(), calls.len(), finish.as_str()), ("Like this:\n\nSo far.", 1, "tool_calls"));
    assert_eq!(bodies(&setting.replay).len(), 1);
}

/// Where the upstream had its tools natively, a call in its words is asked for once; else it stays the text that it is.
#[test]
fn natively_an_unsure_call_is_asked_for_once_or_stays_text() {
    let fence = "Sure:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```";
    let first = |text: &str| {
        let text = text.replace('"', "\\\"").replace('\n', "\\n");
        format!("[[answer]]\nwhen = {{ lacks = \"in the middle of prose\" }}\ntext = \"{text}\"\n")
    };
    let native =
        "[[answer]]\ntool_calls = [{ name = \"get_weather\", arguments = '{\"city\": \"Oslo\"}' }]\n";
    let alone = "[[answer]]\ntext = '{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}'\n";
    for (text, said) in [(fence, "Sure:"), (BETWEEN, "Like this:\n\n\n\nSo far.")] {
        for made in [native, alone] {
            let setting = setting(&(first(text) + made));
            let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
            assert_eq!(calls(&answer), [("get_weather", json!({"city": "Oslo"}))], "{text}");
            assert_eq!(answer.text, said);
            let ends = setting.ends.0.lock().unwrap();
            assert_eq!(
                ends.as_slice(),
                [(TurnEnd::Retried, vec![AttemptReason::First, AttemptReason::Confirm])]
            );
        }
        // It means nothing by it, and policies that ask for nothing leave it at that.
        let heal = |config: &mut RelayConfig| config.policy = Policy::Heal;
        let words = first(text) + "[[answer]]\ntext = \"I only showed it.\"\n";
        for (setting, n_requests) in [(setting(&words), 2), (setting_with(&words, heal), 1)] {
            let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
            assert_eq!((calls(&answer).len(), answer.text.as_str()), (0, text));
            assert_eq!(bodies(&setting.replay).len(), n_requests);
        }
    }
}

/// S0-53, S4-01, S4-15, S4-18
#[test]
fn the_feedback_policy_teaches_in_the_channel_of_the_model() {
    let script = r#"
        [[answer]]
        when = { lacks = "Tool Call JSON Error" }
        text = """```json
{"tool": "run_code", "arguments": {"code": "print('hello')"}}}}
```"""
        [[answer]]
        text = """Sorry.
```json
{"tool": "run_code", "arguments": {"code": "print('hello')"}}
```"""
    "#;
    let setting = setting_with(script, |config| config.policy = Policy::Feedback);
    let answer = run(setting.client.chat(&request(PROMPT))).unwrap();
    assert_eq!(calls(&answer), [("run_code", json!({"code": "print('hello')"}))]);
    let asked = bodies(&setting.replay);
    assert!(asked[0].get("tools").is_none());
    let last = asked[1]["messages"].as_array().unwrap().last().unwrap();
    let message = last["content"].as_str().unwrap();
    assert!(message.starts_with("⚠️ Tool Call JSON Error:\n"), "{message}");
    assert!(message.contains("Tool call 1: Invalid JSON at position 61"), "{message}");
    assert!(
        message.ends_with("Please fix the JSON and try again. Ensure proper brace matching: { and }"),
        "{message}"
    );
    let ends = setting.ends.0.lock().unwrap();
    assert_eq!(ends.as_slice(), [(TurnEnd::Retried, vec![AttemptReason::First, AttemptReason::Feedback])]);
}

/// S3-03, S3-28, S3-35
#[test]
fn an_upstream_that_takes_no_tools_is_asked_in_words_in_the_same_request() {
    let script = r#"
        refuses_tools = "native-model does not support tools"
        [[answer]]
        text = "Let me see.\n```tool_code\nget_weather(city=\"Paris\")\n```"
    "#;
    let any = |config: &mut RelayConfig| config.models.clear();
    let setting = setting_with(script, any);
    let answer = run(setting.client.chat(&request("gpt-4o"))).unwrap();
    assert_eq!(calls(&answer), [("get_weather", json!({"city": "Paris"}))]);
    assert_eq!(answer.text, "Let me see.");
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
    let ends = setting.ends.0.lock().unwrap();
    assert_eq!(ends.as_slice(), [(TurnEnd::Passed, vec![AttemptReason::First, AttemptReason::NoTools])]);
}

/// S0-11, S3-22, S3-27, S3-31
#[test]
fn prompt_mode_reads_the_calls_out_of_the_text() {
    let script = r#"
        [[answer]]
        text = "Two things.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>\n<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"1\"}}</tool_call>"
        form = { pieces = 3 }
    "#;
    let (answer, _) = answer(script, &request(PROMPT));
    assert_eq!(
        calls(&answer),
        [("get_weather", json!({"city": "Paris"})), ("run_code", json!({"code": "1"}))]
    );
    assert_eq!(answer.text, "Two things.");
}

#[test]
fn one_good_call_is_kept_while_the_other_is_asked_for_again() {
    let script = r#"
        [[answer]]
        when = { lacks = "fit its schema" }
        tool_calls = [
            { id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' },
            { id = "c2", name = "run_code", arguments = '{"code": "1"}' },
        ]
        [[answer]]
        tool_calls = [{ name = "get_weather", arguments = '{"city": "Paris"}' }]
    "#;
    let (answer, _) = answer(script, &request(NATIVE));
    assert_eq!(
        calls(&answer),
        [("get_weather", json!({"city": "Paris"})), ("run_code", json!({"code": "1"}))]
    );
    assert_eq!(answer.calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
}

/// The messages of a further question, without those of the request itself.
fn more(replay: &Replay, question: usize) -> Vec<(String, String)> {
    let asked = bodies(replay);
    let messages = asked[question]["messages"].as_array().unwrap();
    let said = |message: &Value| match message["tool_calls"].as_array() {
        Some(calls) => {
            let call = |call: &Value| {
                let function = &call["function"];
                format!("{} {}", function["name"].as_str().unwrap(), function["arguments"].as_str().unwrap())
            };
            calls.iter().map(call).collect::<Vec<_>>().join(" | ")
        }
        None => message["content"].as_str().unwrap().to_owned(),
    };
    let role = |message: &Value| message["role"].as_str().unwrap().to_owned();
    messages[1..].iter().map(|message| (role(message), said(message))).collect()
}

fn roles(more: &[(String, String)]) -> Vec<&str> {
    more.iter().map(|(role, _)| role.as_str()).collect()
}

/// Asked for the broken call, the model makes the right one again: what is still wrong is said, once.
#[test]
fn the_errors_that_are_fed_back_are_those_of_the_calls_that_are_still_wrong() {
    let right = r#"{ name = "run_code", arguments = '{"code": "1"}' }"#;
    let wrong = r#"{ id = "c2", name = "get_weather", arguments = '{"town": "Paris"}' }"#;
    let script = format!(
        "[[answer]]\ntool_calls = [{right}, {wrong}]\n[[answer]]\nrepeat = true\ntool_calls = [{right}]\n"
    );
    let setting = setting(&script);
    let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
    assert_eq!(calls(&answer), [("run_code", json!({"code": "1"}))]);
    assert!(answer.text.contains("get_weather was not run: missing required: city"), "{}", answer.text);
    assert_eq!(bodies(&setting.replay).len(), 3);
    for (question, channel) in [(1, "user"), (2, "tool")] {
        let more = more(&setting.replay, question);
        assert_eq!(roles(&more), ["assistant", channel], "question {question}");
        assert_eq!(more[0].1, r#"get_weather {"town": "Paris"}"#);
        assert!(more[1].1.contains("missing required: city"), "{}", more[1].1);
    }
}

/// Errors of two answers stand in the order of the calls, each call counted as the model sees it.
#[test]
fn errors_of_several_answers_are_told_in_order() {
    let broken = |name: &str, arguments: &str| format!("{{ name = \"{name}\", arguments = '{arguments}' }}");
    let (first, second) = (broken("get_weather", r#"{"city": }"#), broken("run_code", r#"{"code": }"#));
    let again = broken("get_weather", r#"{"city": , }"#);
    let right =
        [broken("get_weather", r#"{"city": "x"}"#), broken("run_code", r#"{"code": "1"}"#)].join(", ");
    let script = format!(
        "[[answer]]\ntool_calls = [{first}, {second}]\n[[answer]]\ntool_calls = [{again}]\n[[answer]]\ntool_calls = [{right}]\n"
    );
    let (answer, setting) = answer(&script, &request(NATIVE));
    assert_eq!(calls(&answer).len(), 2, "{}", answer.text);
    // A call that is no JSON can be no call of a history. Its name is said with it.
    let reask = more(&setting.replay, 1);
    assert_eq!(roles(&reask), ["assistant", "user"]);
    assert_eq!(reask[0].1, r#"get_weather {"city": }"#);
    assert!(reask[1].1.contains("Tool call 1:") && !reask[1].1.contains("Tool call 2:"), "{}", reask[1].1);
    let feedback = more(&setting.replay, 2);
    assert_eq!(roles(&feedback), ["assistant", "user"]);
    assert_eq!(feedback[0].1, "get_weather {\"city\": , }\nrun_code {\"code\": }");
    let at = |what: &str| feedback[1].1.find(what).unwrap_or_else(|| panic!("{what}: {}", feedback[1].1));
    assert!(at("Tool call 1:") < at("{\"city\": , }") && at("{\"city\": , }") < at("Tool call 2:"));
    assert!(at("Tool call 2:") < at("{\"code\": }") && !feedback[1].1.contains("Tool call 3:"));
}

/// What is asked about is one call: that the model takes it back says nothing of the others.
#[test]
fn a_call_that_is_taken_back_leaves_the_other_errors() {
    let script = r#"
        [[answer]]
        tool_calls = [
            { id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' },
            { id = "c2", name = "run_code", arguments = '{"source": "1"}' },
        ]
        [[answer]]
        text = "No weather, then."
        [[answer]]
        tool_calls = [{ name = "run_code", arguments = '{"code": "1"}' }]
    "#;
    let setting = setting(script);
    let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
    assert_eq!(calls(&answer), [("run_code", json!({"code": "1"}))]);
    let feedback = more(&setting.replay, 2);
    assert_eq!(roles(&feedback), ["assistant", "tool"]);
    assert_eq!(feedback[0].1, r#"run_code {"source": "1"}"#);
}

/// A question that asks for one call again leaves the other tools out. They are declared all the same.
#[test]
fn a_declared_tool_is_called_whichever_was_asked_for_again() {
    let script = r#"
        [[answer]]
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"town": "Paris"}' }]
        [[answer]]
        tool_calls = [{ name = "run_code", arguments = '{"code": "1"}' }]
    "#;
    for model in [NATIVE, PROMPT] {
        let setting = setting(script);
        let answer = run(setting.client.chat(&request(model))).unwrap();
        assert_eq!(calls(&answer), [("run_code", json!({"code": "1"}))], "{model}");
        assert_eq!(bodies(&setting.replay).len(), 2, "{model}");
    }
}

/// Where only safe tools are offered, another one is not called, and the model is told so rather than that there is none.
#[test]
fn a_declared_tool_that_is_not_safe_is_not_offered() {
    let script = r#"
        [[answer]]
        tool_calls = [{ id = "c1", name = "browse", arguments = '{"q": "x"}' }]
        [[answer]]
        tool_calls = [{ name = "run_code", arguments = '{"code": "1"}' }]
        [[answer]]
        text = "Then not."
    "#;
    let safe = |config: &mut RelayConfig| config.ladder.safe_tools = vec![String::from("get_weather")];
    let setting = setting_with(script, safe);
    let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
    assert_eq!((calls(&answer), answer.text.as_str()), (Vec::new(), "Then not."));
    let feedback = more(&setting.replay, 2);
    let told = r#"{"error": "The tool run_code may not be called in this answer", "hint": "Call get_weather", "tools": ["get_weather"]}"#;
    assert_eq!(feedback[1], (String::from("tool"), String::from(told)));
}

/// Who only changed the URL reads of a wrong key, and sent a right one: to somebody who does not pass it on.
#[test]
fn an_upstream_that_wants_a_key_is_said_to_have_none() {
    let script = r#"
        [[answer]]
        repeat = true
        status = 401
        error = { message = "Incorrect API key provided" }
    "#;
    let setting = setting(script);
    let error = run(setting.client.chat(&request(NATIVE))).unwrap_err();
    assert_eq!(error.status, 401);
    assert!(
        error.message.contains("`replay` wants a key") && error.message.contains("--upstream-key-env"),
        "{error}"
    );
    let setting = setting_with(script, |config| {
        config.upstreams[0].headers.insert(String::from("authorization"), String::from("Bearer sk-old"));
    });
    let error = run(setting.client.chat(&request(NATIVE))).unwrap_err();
    assert_eq!((error.status, error.message.as_str()), (401, "Incorrect API key provided"));
}

/// A stream that breaks off ends in an error, and no call comes out of it.
#[test]
fn a_stream_that_breaks_off_makes_no_call() {
    let script = r#"
        [[answer]]
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"city": "Paris"}' }]
        form = { finish = "missing", no_done = true }
    "#;
    let setting = setting(script);
    let error = streamed(&setting.client, &request(NATIVE)).unwrap_err();
    assert!(error.contains("broke off"), "{error}");
    assert_eq!(setting.ends.0.lock().unwrap()[0].0, TurnEnd::Cut);
}

/// The long last argument of a call flows before the call has ended.
#[test]
fn a_long_last_argument_flows() {
    let code = "print(1)\\n".repeat(50);
    let script = format!(
        "[[answer]]\ntool_calls = [{{ id = \"c1\", name = \"run_code\", arguments = '{{\"code\": \"{code}\"}}' }}]\nform = {{ argument_pieces = 10 }}"
    );
    let setting = setting_with(&script, |config| config.stream_arguments = Some(true));
    let n_pieces = run(async {
        let mut request = request(NATIVE);
        request["stream"] = json!(true);
        let mut chunks = setting.client.stream(&request).await.unwrap();
        let mut n = 0;
        while let Some(chunk) = chunks.next().await {
            n += usize::from(!chunk.unwrap()["choices"][0]["delta"]["tool_calls"].is_null());
        }
        n
    });
    assert!(30 < n_pieces, "{n_pieces} pieces");
}

/// S1-34
#[test]
fn a_healed_call_is_noted_once() {
    let script = r#"
        [[answer]]
        when = { lacks = "\"tool\"" }
        text = "<get_weather>{\"city\": \"Paris\"}</function>"
        [[answer]]
        repeat = true
        text = "It is sunny."
    "#;
    let setting = setting_with(script, |config| config.notes = true);
    let mut request = request(PROMPT);
    let answer = run(setting.client.chat(&request)).unwrap();
    let id = answer.calls[0].id.clone();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(answer.response["choices"][0]["message"].clone());
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": "21 degrees"}));
    request["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "the tool says?"}));
    request["tool_choice"] = json!("auto");
    for _ in 0..2 {
        run(setting.client.chat(&request)).unwrap();
    }
    let note = "Note: Please use <function> tags, not function name tags";
    let has_note: Vec<bool> =
        bodies(&setting.replay).iter().map(|body| body["messages"].to_string().contains(note)).collect();
    assert_eq!(has_note, [false, true, false]);
}

/// S0-68
#[test]
fn another_model_may_do_what_this_one_cannot() {
    let script = r#"
        [[answer]]
        when = { model = "native-model" }
        repeat = true
        tool_calls = [{ name = "get_weather", arguments = '{"town": "Paris"}' }]
        [[answer]]
        when = { model = "prompt-model" }
        text = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
    "#;
    let other = |config: &mut RelayConfig| config.models[0].escalate = Some(String::from(PROMPT));
    let setting = setting_with(script, other);
    let answer = run(setting.client.chat(&request(NATIVE))).unwrap();
    assert_eq!(calls(&answer), [("get_weather", json!({"city": "Paris"}))]);
    let ends = setting.ends.0.lock().unwrap();
    assert_eq!(ends[0].1.last(), Some(&AttemptReason::OtherModel));
}

/// S3-62
#[test]
fn a_model_may_have_words_of_its_own_in_front_of_the_tools() {
    let script = r#"
        [[answer]]
        text = "Hello."
    "#;
    let words = |config: &mut RelayConfig| config.models[1].prompt = Some(String::from("You are terse."));
    let setting = setting_with(script, words);
    run(setting.client.chat(&request(PROMPT))).unwrap();
    let system = bodies(&setting.replay)[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.starts_with("You are terse.") && system.contains("get_weather"), "{system}");
}

/// S0-31, S0-42, S0-50
#[test]
fn healing_is_switched_on_by_its_plugin() {
    let script = r#"
        [[answer]]
        repeat = true
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"city": "Paris",}' }]
    "#;
    for (policy, has_plugin, is_healed) in [
        (Policy::Strict, false, false),
        (Policy::Strict, true, true),
        (Policy::Auto, false, true),
        (Policy::Auto, true, true),
    ] {
        let setting = setting_with(script, |config| config.policy = policy);
        let mut request = request(NATIVE);
        if has_plugin {
            request["plugins"] = json!([{"id": "web"}, {"id": "response-healing"}]);
        }
        let answer = run(setting.client.chat(&request)).unwrap();
        let n_streamed = streamed(&setting.client, &request).map_or(0, |(_, calls, _)| calls.len());
        assert_eq!((answer.calls.len(), n_streamed), (usize::from(is_healed), usize::from(is_healed)));
        let plugins = &bodies(&setting.replay)[0]["plugins"];
        assert_eq!(*plugins, if has_plugin { json!([{"id": "web"}]) } else { Value::Null });
    }
}

/// S2-01, S2-03, S2-14: an unknown tool again and again, and the user still reads why; nothing of it is a call.
#[test]
fn no_turn_ends_without_a_word() {
    let unknown = r#"
        [[answer]]
        repeat = true
        tool_calls = [{ name = "browser.search", arguments = '{"q": "MCP"}' }]
    "#;
    let (said, setting) = answer(unknown, &request(NATIVE));
    assert_eq!(calls(&said), []);
    assert!(said.text.contains("browser.search was not run"), "{}", said.text);
    assert!(3 <= bodies(&setting.replay).len());
    let silent = r#"
        [[answer]]
        repeat = true
        text = ""
    "#;
    let (said, _) = answer(silent, &request(NATIVE));
    assert_eq!((said.text.as_str(), said.calls.len()), ("⚠️ The model gave an empty answer.", 0));
}

/// S3-05, S3-36, S3-37: the same request and the same form of answer, whatever the model can do.
#[test]
fn only_the_model_differs() {
    let native = r#"
        [[answer]]
        tool_calls = [{ id = "c1", name = "get_weather", arguments = '{"city": "Paris"}' }]
    "#;
    let prompt = r#"
        [[answer]]
        text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    "#;
    let shape = |script: &str, model: &str| {
        let (answer, _) = answer(script, &request(model));
        let message = &answer.response["choices"][0]["message"];
        let keys: Vec<&String> = message.as_object().unwrap().keys().collect();
        let call = &message["tool_calls"][0];
        (format!("{keys:?}"), call["function"].clone(), call["type"].clone(), answer.finish_reason)
    };
    assert_eq!(shape(native, NATIVE), shape(prompt, PROMPT));
}

/// S3-06, S3-30, S3-34: nothing is configured, and the provider lists what its models can do.
#[test]
fn a_provider_that_lists_what_its_models_can_do_is_believed() {
    let script = r#"
        models = [
            { id = "able", supported_parameters = ["tools", "tool_choice"] },
            { id = "unable", supported_parameters = ["temperature"] },
        ]
        [[answer]]
        repeat = true
        text = "Hello."
    "#;
    let found_out = |config: &mut RelayConfig| {
        config.models.clear();
        config.upstreams[0].constrain = None;
    };
    let setting = setting_with(script, found_out);
    run(async {
        for model in ["able", "unable"] {
            setting.client.chat(&request(model)).await.unwrap();
        }
    });
    let has_tools: Vec<bool> =
        bodies(&setting.replay).iter().map(|body| body.get("tools").is_some()).collect();
    assert_eq!(has_tools, [true, false]);
}

#[test]
fn equal_upstreams_take_turns() {
    let script = "[[answer]]\nrepeat = true\ntext = \"Hello.\"";
    let other = Replay::start(Script::from_toml(script).unwrap()).unwrap();
    let two = |config: &mut RelayConfig| {
        config.upstreams.push(UpstreamConfig::new("other", &other.base_url()));
        config.models[0].routing = Routing::LeastBusy;
    };
    let setting = setting_with(script, two);
    for _ in 0..4 {
        run(setting.client.chat(&request(NATIVE))).unwrap();
    }
    assert_eq!((bodies(&setting.replay).len(), bodies(&other).len()), (2, 2));
}

#[test]
fn requests_with_tools_go_where_calls_are_right_as_written() {
    let script = |arguments: &str| {
        format!(
            r#"
            [[answer]]
            when = {{ has_tools = true }}
            repeat = true
            tool_calls = [{{ name = "get_weather", arguments = '{arguments}' }}]
            [[answer]]
            repeat = true
            text = "Hello."
            "#
        )
    };
    let other = Replay::start(Script::from_toml(&script(r#"{"city": "Paris"}"#)).unwrap()).unwrap();
    let right = |config: &mut RelayConfig| {
        config.upstreams.push(UpstreamConfig::new("other", &other.base_url()));
        config.models[0].routing = Routing::Right;
    };
    // Its calls are repaired, so that nobody but the relay sees what they were.
    let setting = setting_with(&script(r#"{"city": "Paris",}"#), right);
    let ask = |n: usize, has_tools: bool| {
        let mut request = request(NATIVE);
        request["messages"] = json!([{"role": "user", "content": format!("Question {n}.")}]);
        if !has_tools {
            request.as_object_mut().unwrap().remove("tools");
            request.as_object_mut().unwrap().remove("tool_choice");
        }
        run(setting.client.chat(&request)).unwrap();
    };
    (0..60).for_each(|n| ask(n, true));
    let before = bodies(&other).len();
    (60..160).for_each(|n| ask(n, true));
    let n_right = bodies(&other).len() - before;
    assert!((90..=99).contains(&n_right), "{n_right} of 100");
    let before = bodies(&setting.replay).len();
    (0..10).for_each(|n| ask(n, false));
    assert_eq!(bodies(&setting.replay).len() - before, 10, "without tools the order holds");
}

/// What runs away until its tokens are spent is asked for once more, with bounds that only the second question has.
#[test]
fn what_ran_away_is_asked_for_again_with_bounds() {
    let words = r#"{"city": "Paris Paris Paris Paris Paris"#;
    let list = format!(r#"{{"city": "Paris", "days": [{}"Mon"#, r#""Monday", "#.repeat(40));
    for (ran_away, bound) in [(words, "maxLength"), (list.as_str(), "maxItems")] {
        let script = format!(
            r#"
            [[answer]]
            text = '''{{"tool_calls": [{{"name": "get_weather", "arguments": {ran_away}'''
            finish_reason = "length"
            [[answer]]
            text = '''{{"tool_calls": [{{"name": "get_weather", "arguments": {{"city": "Paris"}}}}]}}'''
            "#
        );
        for policy in [Policy::Auto, Policy::Heal] {
            let setting = setting_with(&script, |config| {
                config.upstreams[0].constrain = Some(Constrain::JsonSchema);
                config.policy = policy;
            });
            let mut request = request(PROMPT);
            request["max_tokens"] = json!(64);
            let days = json!({"type": "array", "items": {"type": "string"}});
            request["tools"][0]["function"]["parameters"]["properties"]["days"] = days;
            let answer = run(setting.client.chat(&request)).unwrap();
            let bodies = bodies(&setting.replay);
            if policy == Policy::Heal {
                assert_eq!((bodies.len(), answer.calls.len()), (1, 0));
                continue;
            }
            let [first, second] = bodies.as_slice() else { panic!("{bound}: {} requests", bodies.len()) };
            assert_eq!(answer.calls.len(), 1, "{}", answer.response);
            // The list of calls has a bound in both.
            let held = |body: &Value| body["response_format"].to_string().matches(bound).count();
            assert!(held(first) < held(second), "{second}");
            assert_eq!(second["max_tokens"], 64);
            assert!(!second["messages"].to_string().contains(ran_away), "what ran away is not said again");
        }
    }
}

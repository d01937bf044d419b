//! Answers that were cut: 50 calls that write, cut at every byte, and none of them runs as something else.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright::{Context, NativeCall, parse};
use callwright_agent::run::{Machine, ModelTurn, Next, Settings};
use callwright_agent::{Arguments, FunctionTool, Kind, Tool, Toolbox, tools};
use callwright_relay::{Answer, TurnRecord};

/// 50 calls that write: tool and arguments, as a model would write them.
fn calls() -> Vec<(&'static str, String)> {
    let texts = ["x", "two\nlines", "quotes \" and \\ and {}[]", "𝄞 and é", "{\"json\": [1, 2]}"];
    let mut calls = Vec::new();
    for (number, text) in (0..10).flat_map(|number| texts.iter().map(move |text| (number, text))) {
        let path = format!("folder/{number}.txt");
        let (tool, arguments) = match number % 5 {
            0 | 3 => ("fsWrite", json!({"path": path, "content": text})),
            1 => ("fsAppend", json!({"path": path, "content": text})),
            2 => ("strReplace", json!({"path": path, "old": text, "new": "y"})),
            _ => ("deleteFile", json!({"path": format!("{path}{}", text.len())})),
        };
        calls.push((tool, arguments.to_string()));
    }
    calls
}

/// The declarations of the built-in tools, with no work behind them.
fn toolbox() -> Toolbox {
    let tool = |definition: Value| {
        let function = &definition["function"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (name, description) = (text(&function["name"]), text(&function["description"]));
        let nothing = |_: Arguments, _| async { "done" };
        let tool = FunctionTool::new(&name, &description, function["parameters"].clone(), nothing);
        Arc::new(tool.of_kind(Kind::WRITE)) as Arc<dyn Tool>
    };
    Toolbox::new(tools::definitions().into_iter().map(tool).collect()).unwrap()
}

/// The calls that may come to run, with the user's yes or without, where a server answers with this and says that.
fn runnable(toolbox: &Toolbox, text: &str, native: &[NativeCall<'_>], finish_reason: &str) -> Vec<String> {
    let context = Context {
        finish_reason: Some(finish_reason),
        native: !native.is_empty(),
        doubt_open_ends: true,
        ..Context::default()
    };
    let outcome = parse(toolbox.tool_set(), text, native, &context);
    let answer = Answer {
        shown: Vec::new(),
        text: outcome.text,
        reasoning: outcome.reasoning,
        raw: text.into(),
        verdicts: outcome.verdicts,
        finish_reason: Some(finish_reason.into()),
        errors: Vec::new(),
        record: TurnRecord::default(),
    };
    let mut machine = Machine::new(Settings::default());
    machine.say("Write.");
    machine.answered(ModelTurn::of(&answer, toolbox));
    match machine.next() {
        Next::CallTools(calls) => calls.into_iter().map(|call| call.arguments).collect(),
        Next::Ask(calls) => calls.into_iter().map(|(call, _)| call.arguments).collect(),
        Next::CallModel(_) | Next::Done(_) => Vec::new(),
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn no_cut_call_runs_as_another_one() {
    let toolbox = toolbox();
    let (mut cuts, mut whole) = (0, 0);
    for (name, arguments) in calls() {
        let in_text =
            format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n</tool_call>");
        let is_boundary = |text: &str, at: &usize| text.is_char_boundary(*at);
        for at in (0..arguments.len()).filter(|at| is_boundary(&arguments, at)) {
            let native = [NativeCall { id: Some("c"), name, arguments: &arguments[..at] }];
            cuts += 1;
            let said = runnable(&toolbox, "", &native, "length");
            assert!(said.is_empty(), "{name} cut at {at}: {said:?}");
            // A server that says nothing of the cut: only what is the same call may run.
            for lie in ["stop", "tool_calls"] {
                for call in runnable(&toolbox, "", &native, lie) {
                    assert_eq!(value(&call), value(&arguments), "{name} cut at {at}, {lie}");
                    whole += 1;
                }
            }
        }
        for at in (0..in_text.len() - "</tool_call>".len()).filter(|at| is_boundary(&in_text, at)) {
            cuts += 1;
            let said = runnable(&toolbox, &in_text[..at], &[], "length");
            assert!(said.is_empty(), "{name} cut at {at} of the text: {said:?}");
            for call in runnable(&toolbox, &in_text[..at], &[], "stop") {
                assert_eq!(value(&call), value(&arguments), "{name} cut at {at} of the text");
            }
        }
        // What was not cut does run.
        let native = [NativeCall { id: Some("c"), name, arguments: &arguments }];
        assert_eq!(runnable(&toolbox, "", &native, "tool_calls"), [arguments.as_str()]);
    }
    assert_eq!(calls().len(), 50);
    assert!(5_000 < cuts && 0 < whole, "{cuts} cuts, {whole} whole ones");
}

//! Law 4: a cut text is not a broken one. Calls are cut at every byte, and none comes out that differs from
//! the whole one.
//!
//! Where the upstream says that the model had ended by itself, a missing bracket is a forgotten one, and the
//! call is closed: then it may lack what stood behind the cut, but no string, number or literal is made up.

use callwright::json;
use callwright::value::Value;
use callwright::{CallDelta, Context, Delta, Event, NativeCall, Policy, Scanner, ToolSet, Verdict, parse};
use callwright_json::RepairKind;

use crate::common::{Random, stride, tool_set};

const CALLS: usize = 1_000;

/// What servers write when they, not the model, ended the answer.
const CUTS: [&str; 3] = ["length", "content_filter", "error"];

/// A call as the model meant it, and how it writes it.
struct Call {
    name: &'static str,
    arguments: Value,
    /// The argument text of a native call.
    native: String,
    /// The call in one of the dialects.
    text: String,
}

/// The same calls in every run.
fn calls() -> impl Iterator<Item = Call> {
    let mut random = Random(7);
    (0..CALLS).map(move |number| {
        let (name, arguments) = meant(&mut random);
        let native = match number % 3 {
            0 => serde_json::to_string_pretty(&arguments).unwrap(),
            _ => arguments.to_string(),
        };
        let text = written(number, name, &native, &arguments);
        Call { name, arguments, native, text }
    })
}

fn meant(random: &mut Random) -> (&'static str, Value) {
    const WORDS: [&str; 12] = [
        "Paris",
        "src/main.rs",
        "print(\"a\")\n",
        "",
        "a, b",
        "x: {1, [2]}",
        "Zürich 😀",
        "it's",
        "\\d+\\",
        "```",
        "</tool_call>",
        "null",
    ];
    let mut word = || *random.pick(&WORDS);
    let (one, two, three) = (word(), word(), word());
    match random.below(6) {
        0 => ("get_weather", json!({ "city": one, "days": random.below(100), "unit": "c" })),
        1 => ("write_file", json!({ "path": one, "content": format!("{two}{three}") })),
        2 => ("run_code", json!({ "code": format!("{one}{two}{three}") })),
        3 => {
            let items = [1, random.below(50), 300];
            ("add_numbers", json!({ "a": random.below(1000), "b": 1.5, "items": items, "exact": true }))
        }
        4 => ("list_files", json!({})),
        _ => ("substitute_ingredient", json!({ "ingredient": one, "reason": two })),
    }
}

fn written(number: usize, name: &str, json: &str, arguments: &Value) -> String {
    match number % 6 {
        0 => format!("I look.\n<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {json}}}\n</tool_call>"),
        1 => format!("<function={name}>{json}</function>"),
        2 => format!("```json\n{{\"tool\": \"{name}\", \"parameters\": {json}}}\n```"),
        3 => format!("{{\"name\": \"{name}\", \"arguments\": {json}}}"),
        4 => format!("```tool_code\n{name}({})\n```", python(arguments)),
        _ => format!("[{name}({}), list_files()]", python(arguments)),
    }
}

fn python(arguments: &Value) -> String {
    let literal = |value: &Value| value.to_string().replace("true", "True");
    let members = arguments.as_object().unwrap().iter();
    members.map(|(key, value)| format!("{key}={}", literal(value))).collect::<Vec<_>>().join(", ")
}

/// All places at which `text` can be cut, its end left out.
fn cuts(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, _)| &text[..at])
}

fn value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap()
}

fn cut_native(tools: &ToolSet, call: &Call, arguments: &str, reason: &str) -> Option<Value> {
    let native = NativeCall { id: None, name: call.name, arguments };
    let context = Context { native: true, finish_reason: Some(reason), ..Context::default() };
    let outcome = parse(tools, "", &[native], &context);
    assert_eq!(outcome.verdicts.len(), 1, "no call is lost");
    outcome.calls().next().map(|call| value(&call.arguments))
}

#[test]
fn no_native_call_comes_out_of_a_cut() {
    let tools = tool_set();
    for call in calls() {
        for reason in CUTS {
            for cut in cuts(&call.native) {
                if let Some(arguments) = cut_native(&tools, &call, cut, reason) {
                    assert_eq!(arguments, call.arguments, "{reason}: {cut}");
                }
            }
        }
        // And where nothing was cut, the whole one does.
        assert_eq!(cut_native(&tools, &call, &call.native, "length"), Some(call.arguments.clone()));
    }
}

#[test]
fn no_written_call_comes_out_of_a_cut() {
    let tools = tool_set();
    let context = Context { finish_reason: Some("length"), ..Context::default() };
    for call in calls() {
        for cut in cuts(&call.text) {
            for found in parse(&tools, cut, &[], &context).calls() {
                let is_whole = found.name == call.name && value(&found.arguments) == call.arguments;
                assert!(
                    is_whole || found.name == "list_files" && found.arguments == "{}",
                    "{cut}: {found:?}"
                );
            }
        }
    }
}

/// A connection that breaks off is not ended by anyone: what went out before must be whole.
#[test]
fn what_went_out_before_a_reset_is_whole() {
    let tools = tool_set();
    for call in calls() {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tools, &Context::default());
        for piece in call.text.split_inclusive(|_: char| true) {
            scanner.feed(Delta::Text(piece), &mut events);
        }
        let mut scanner = Scanner::new(&tools, &Context { native: true, ..Context::default() });
        let begin = CallDelta { index: Some(0), id: Some("call_1"), name: Some(call.name), arguments: None };
        scanner.feed(Delta::ToolCall(begin), &mut events);
        for piece in call.native.split_inclusive(|_: char| true) {
            let delta = CallDelta { index: Some(0), arguments: Some(piece), ..CallDelta::default() };
            scanner.feed(Delta::ToolCall(delta), &mut events);
        }
        for event in events {
            let Event::Call(Verdict::Accepted(found)) = event else { continue };
            let is_whole = found.name == call.name && value(&found.arguments) == call.arguments;
            assert!(is_whole || found.name == "list_files", "{}: {found:?}", call.text);
        }
    }
}

/// Is `part` the beginning of `whole`: nothing added, nothing altered, no leaf of it cut?
fn begins(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.len() <= whole.len()
                && part.iter().all(|(key, value)| whole.get(key).is_some_and(|whole| begins(value, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(part, whole)| begins(part, whole))
        }
        _ => part == whole,
    }
}

/// Under a reason that lies, a missing bracket may be a forgotten one: the call says that its end is open.
#[test]
fn what_could_have_gone_on_says_so() {
    let tools = tool_set();
    let context = Context { finish_reason: Some("stop"), ..Context::default() };
    for call in calls() {
        for text in cuts(&call.native).step_by(stride()) {
            let native = NativeCall { id: None, name: call.name, arguments: text };
            let outcome = parse(&tools, "", &[native], &Context { native: true, ..context.clone() });
            for found in outcome.calls() {
                let arguments = value(&found.arguments);
                assert!(found.open_end || arguments == call.arguments, "{text}: {arguments}");
                assert!(begins(&arguments, &call.arguments), "{text}: {arguments}");
            }
        }
        for text in cuts(&call.text).step_by(stride()) {
            for found in parse(&tools, text, &[], &context).calls() {
                let arguments = value(&found.arguments);
                let is_whole = found.name == call.name && arguments == call.arguments;
                // A call of its own, whose text was cut behind it.
                let is_other = found.name == "list_files" && found.arguments == "{}";
                assert!(found.open_end || is_whole || is_other, "{text}: {found:?}");
            }
        }
    }
}

/// Is the call that comes of these native arguments accepted with an open end? `None` where it is refused.
fn open_end(schema: &str, arguments: &str) -> Option<bool> {
    let tools = format!(r#"[{{"name": "f", "parameters": {schema}}}]"#);
    let tools = ToolSet::from_json(&tools).unwrap();
    let context = Context { native: true, finish_reason: Some("stop"), ..Context::default() };
    let outcome = parse(&tools, "", &[NativeCall { id: None, name: "f", arguments }], &context);
    outcome.calls().next().map(|call| call.open_end)
}

/// A bracket that the arguments need is not the list's, where the answer may have been cut.
#[test]
fn a_list_that_is_cut_is_no_call() {
    let tools = r#"[{"name": "f", "parameters": {"required": ["to"], "properties": {
        "to": {"type": "array", "items": {"type": "string"}}, "now": {"type": "boolean"}}}}]"#;
    let tools = ToolSet::from_json(tools).unwrap();
    let calls = |text: &str, finish_reason| {
        let context = Context { finish_reason: Some(finish_reason), ..Context::default() };
        let outcome = parse(&tools, text, &[], &context);
        assert_eq!(outcome.verdicts.len(), 1, "{text}");
        outcome.calls().count()
    };
    for finish_reason in ["stop", "length", "content_filter"] {
        assert_eq!(calls("[f(to=['a']", finish_reason), 0, "{finish_reason}");
        assert_eq!(calls("[f(to=['a'])", finish_reason), 1, "{finish_reason}");
        assert_eq!(calls("[f(to=['a'])]", finish_reason), 1, "{finish_reason}");
    }
}

#[test]
fn an_end_is_open_where_the_schema_takes_more() {
    let one = r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#;
    let two = r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#;
    let list = r#"{"properties": {"to": {"type": "array", "items": {"type": "string"}}}}"#;
    let pair = r#"{"properties": {"at": {"type": "array", "items": {"type": "string"}, "maxItems": 2}}}"#;
    let nested = r#"{"properties": {"at": {"properties": {"x": {}, "y": {}}}}}"#;
    for (schema, arguments, expected) in [
        (one, r#"{"city": "Paris""#, Some(false)),
        (one, r#"{"city": "Paris"}"#, Some(false)),
        (two, r#"{"city": "Paris""#, Some(true)),
        (two, r#"{"city": "Paris",}"#, Some(false)),
        (two, r#"{"days": 2, "city": "Paris""#, Some(false)),
        ("{}", r#"{"city": "Paris""#, Some(true)),
        // Two brackets are missing.
        (list, r#"{"to": ["Paris""#, None),
        (list, r#"{"to": ["#, None),
        (two, r#"{"city": "Paris","#, None),
        // The list is closed, and nothing else is declared.
        (list, r#"{"to": ["Paris"]"#, Some(false)),
        (list, r#"{"to": ["Paris"}"#, Some(false)),
        (pair, r#"{"at": ["a""#, None),
        (pair, r#"{"at": ["a", "b""#, Some(false)),
        (nested, r#"{"at": {"x": "1", "y": "2""#, Some(false)),
        (nested, r#"{"at": {"y": "2""#, None),
        (nested, r#"{"at": {"y": "2"}"#, Some(false)),
    ] {
        assert_eq!(open_end(schema, arguments), expected, "{arguments}");
    }
}

/// Where nobody says how the answer ended, a bracket is added only where nothing else could have stood there.
#[test]
fn what_nobody_says_has_ended_is_not_closed() {
    let tools = r#"[{"name": "f", "parameters": {"properties": {"a": {}, "b": {}}}}]"#;
    let tools = ToolSet::from_json(tools).unwrap();
    let calls = |arguments: &str, finish_reason| {
        let context = Context { native: true, finish_reason, ..Context::default() };
        parse(&tools, "", &[NativeCall { id: None, name: "f", arguments }], &context).calls().count()
    };
    for (arguments, is_whole) in
        [(r#"{"a": "x""#, false), (r#"{"a": "x", "b": "y""#, true), (r#"{"a": "x"}"#, true), ("", false)]
    {
        assert_eq!(calls(arguments, Some("stop")), 1, "{arguments}");
        assert_eq!(calls(arguments, None), usize::from(is_whole), "{arguments}");
    }
}

/// What nothing but the end of the text ends says so, and is delivered as right under no policy that takes only what is.
#[test]
fn an_end_that_is_added_is_a_repair() {
    let closed = r#"[{"name": "f", "parameters": {"additionalProperties": false, "properties": {"a": {}}}}]"#;
    let open = r#"[{"name": "f", "parameters": {"properties": {"a": {}}}}]"#;
    for (tools, text, n_calls) in [
        (closed, "<function=f>\n<parameter=a>\nx\n</parameter>", 1),
        (open, "<function=f>\n<parameter=a>\nx\n</parameter>", 0),
        (closed, "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>", 1),
        (closed, "<f>\n<a>x</a>", 1),
        (closed, "<f>\n", 0),
        (open, "<f>", 0),
    ] {
        let tools = ToolSet::from_json(tools).unwrap();
        for finish_reason in [None, Some("stop"), Some("tool_calls")] {
            let context = Context { finish_reason, ..Context::default() };
            let outcome = parse(&tools, text, &[], &context);
            assert_eq!(outcome.calls().count(), n_calls, "{text}");
            let is_told = |call: &callwright::Acceptance| {
                call.repairs.iter().any(|repair| repair.kind == RepairKind::AddEnd)
            };
            assert!(outcome.calls().all(|call| is_told(call) && !Policy::Strict.admits(call)), "{text}");
        }
    }
}

/// Behind a word only the brace can be missing; behind a number, where the answer ended below its limit: `3` may be the beginning of
/// `30`, also where no other member could follow.
#[test]
fn a_word_at_the_end_is_whole_and_a_number_where_tokens_were_left() {
    let tools = r#"[
        {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "boolean"}, "n": {"type": "integer"}, "s": {}}}},
        {"name": "g", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}}
    ]"#;
    let tool_set = ToolSet::from_json(tools).unwrap();
    for (name, arguments, of_itself, below_limit) in [
        ("f", r#"{"a": true"#, true, true),
        ("f", r#"{"s": null"#, true, true),
        ("f", r#"{"a": tru"#, false, false),
        ("f", r#"{"n": 3"#, false, true),
        ("f", r#"{"n": -"#, false, false),
        ("g", r#"{"n": 3"#, false, true),
    ] {
        for (is_below, is_call) in [(false, of_itself), (true, below_limit)] {
            let context = Context { finish_reason: Some("stop"), native: true, ..Default::default() };
            let mut scanner = Scanner::new(&tool_set, &context);
            let piece = CallDelta { index: Some(0), id: None, name: Some(name), arguments: Some(arguments) };
            scanner.feed(Delta::ToolCall(piece), &mut Vec::new());
            if is_below {
                scanner.ended_below_limit();
            }
            let outcome = scanner.finish().1;
            assert_eq!(outcome.calls().count() == 1, is_call, "{name} {arguments} {is_below}: {outcome:#?}");
        }
    }
}

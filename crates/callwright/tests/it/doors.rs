//! The doors from outside: native calls whole and streamed, and the loop that gives errors back.

use std::sync::Arc;

use callwright::value::Value;
use callwright::{
    CallDelta, Compiled, Context, Delta, NativeCall, Outcome, Policy, Scanner, Schema, ToolSet, heal, json,
    parse, prompt, prompt_tool_calls,
};

const FS_WRITE: &str = r#"[{"type": "function", "function": {"name": "fsWrite",
    "description": "Create or overwrite a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"]}}}]"#;

const RUN_CODE: &str = r#"[{"type": "function", "function": {"name": "run_code",
    "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}]"#;

fn native(arguments: &str) -> Outcome {
    let tools = ToolSet::from_json(FS_WRITE).unwrap();
    let call = NativeCall { id: Some("call_1"), name: "fsWrite", arguments };
    parse(&tools, "", &[call], &Context::default())
}

/// S0-32, S0-42, S0-44: the argument text of a native call is what is healed, in a whole answer.
#[test]
fn native_arguments_are_healed() {
    let outcome = native(r#"{"path": "test.py", "content": "print('hello')""#);
    let call = outcome.calls().next().unwrap();
    assert_eq!(call.id.as_deref(), Some("call_1"));
    assert_eq!(call.arguments, r#"{"path": "test.py", "content": "print('hello')"}"#);
    assert_eq!(call.repairs.len(), 1);
    assert!(native("").calls().next().is_none(), "`{{}}` never stands in for what is required");
    assert!(native(r#"{"path": "test.py", "content": "pri"#).calls().next().is_none(), "a cut string");
}

/// What a definition comes to is kept, an error too, until there are too many of them or too much text.
#[test]
fn a_definition_is_compiled_once() {
    let compiled = Compiled::new(|text| text.parse::<i32>().map_err(|error| error.to_string()));
    let (number, error) = (compiled.get("12"), compiled.get("x"));
    assert_eq!(*number, Ok(12));
    for n in 2..4096 {
        compiled.get(&format!("another {n}"));
    }
    assert!(Arc::ptr_eq(&number, &compiled.get("12")) && Arc::ptr_eq(&error, &compiled.get("x")));
    compiled.get("one more");
    assert!(!Arc::ptr_eq(&number, &compiled.get("12")));
    let number = compiled.get("12");
    compiled.get(&"x".repeat(16 << 20));
    assert!(!Arc::ptr_eq(&number, &compiled.get("12")));
}

/// S0-45: however a malformed stream is cut, the healed call is the same.
#[test]
fn streamed_arguments_are_healed_the_same_for_every_cut() {
    let tools = ToolSet::from_json(FS_WRITE).unwrap();
    let broken = "{\"path\": \"a \"b\".py\", 'content': \"line 1\nline 2\",}}";
    let whole = native(broken);
    let expected = whole.calls().next().unwrap();
    assert_eq!(expected.compact_arguments(), r#"{"path":"a \"b\".py","content":"line 1\nline 2"}"#);
    for cut in 1..broken.len() {
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tools, &Context::default());
        let delta = CallDelta { index: Some(0), id: Some("call_1"), name: Some("fsWrite"), arguments: None };
        scanner.feed(Delta::ToolCall(delta), &mut events);
        for piece in [&broken[..cut], &broken[cut..]] {
            let delta = CallDelta { index: Some(0), id: None, name: None, arguments: Some(piece) };
            scanner.feed(Delta::ToolCall(delta), &mut events);
        }
        let outcome = scanner.finish().1;
        let call = outcome.calls().next().unwrap();
        assert_eq!(
            (&call.arguments, &call.repairs),
            (&expected.arguments, &expected.repairs),
            "cut at {cut}"
        );
    }
}

/// S1-01, S1-08: mismatched tags no longer hide the call; its arguments come out compact.
#[test]
fn mismatched_tags_do_not_hide_a_call() {
    let tools = ToolSet::from_json(
        r#"[{"name": "substitute_ingredient", "parameters": {"type": "object",
            "properties": {"ingredient": {"type": "string"}, "reason": {"type": "string"}}}}]"#,
    )
    .unwrap();
    let text = r#"<substitute_ingredient>{"ingredient": "pasta", "reason": "vegan"}</function>"#;
    let outcome = parse(&tools, text, &[], &Context::default());
    let [call] = outcome.calls().collect::<Vec<_>>()[..] else { panic!("one call was expected") };
    assert_eq!(call.name, "substitute_ingredient");
    assert_eq!(call.compact_arguments(), r#"{"ingredient":"pasta","reason":"vegan"}"#);
}

/// S4-03..06 with the policy that teaches; S4-19: the worked example, at position 61.
#[test]
fn what_is_not_well_formed_goes_back_with_the_error() {
    let tools = ToolSet::from_json(RUN_CODE).unwrap();
    let turn = |block: &str| prompt_tool_calls(&tools, &format!("```json\n{block}\n```"));

    let (calls, error) = turn(r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}}}"#);
    assert!(calls.is_empty());
    let message = error.unwrap().user_message();
    assert_eq!(
        message,
        "⚠️ Tool Call JSON Error:\n\
         Found JSON block(s) but failed to parse:\n\n\
         Tool call 1: Invalid JSON at position 61\n  \
           Error: Extra data\n  \
           Your JSON: {\"tool\": \"run_code\", \"arguments\": {\"code\": \"print('hello')\"}}}}\n  \
           → You have 2 extra closing braces }\n\n\
         Please fix the JSON and try again. Ensure proper brace matching: { and }"
    );

    let (calls, error) = turn(r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}"#);
    assert_eq!((calls.len(), error.is_none()), (1, true));

    let (calls, error) = prompt_tool_calls(&tools, "I would use {'a': 1} and f\"{x}\" here.");
    assert!(calls.is_empty() && error.is_none(), "prose is no error");
}

/// S4-32: missing braces are said to be missing; S4-33: the quotes are named though their number is even.
#[test]
fn scenarios_of_the_feedback_loop() {
    let tools = ToolSet::from_json(RUN_CODE).unwrap();
    let error =
        |block: &str| prompt_tool_calls(&tools, block).1.map(|error| error.to_string()).unwrap_or_default();
    let missing = error(r#"{"tool": "run_code", "arguments": {"code": "print(1)""#);
    assert!(missing.contains("  → You're missing 2 closing braces }"), "{missing}");
    let quotes = error(r#"{"tool": "run_code", "arguments": {"code": "print("hello)}}"#);
    assert!(quotes.contains("  → Unmatched quotes detected"), "{quotes}");
}

/// The policies differ in what they let pass.
#[test]
fn a_repaired_call_passes_where_the_policy_heals() {
    let tools = ToolSet::from_json(RUN_CODE).unwrap();
    let text = r#"{"tool": "run_code", "arguments": {"code": "1",}}"#;
    for (policy, passes) in
        [(Policy::Auto, true), (Policy::Heal, true), (Policy::Feedback, false), (Policy::Strict, false)]
    {
        let outcome = parse(&tools, text, &[], &Context { policy, ..Context::default() });
        assert_eq!(outcome.calls().count() == 1, passes, "{policy:?}");
        assert_eq!(outcome.verdicts.len(), 1, "{policy:?}");
    }
}

/// What is read without doubt and may not pass is said as it is, not that it cannot be read.
#[test]
fn a_policy_that_heals_nothing_says_what_is_spelt_otherwise() {
    let tools = ToolSet::from_json(
        r#"[{"name": "run_code", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}, "path": {"type": "string"}},
            "required": ["path"]}}]"#,
    )
    .unwrap();
    for (name, arguments, said) in [
        ("RunCode", r#"{"path": "x"}"#, "Unknown tool: RunCode → The nearest tool is run_code"),
        ("run_code", r#"{"path": "x", "n": "3"}"#, "n: write 3, not \"3\""),
        ("run_code", r#"{"Path": "x"}"#, "path: write \"path\", not \"Path\""),
        ("RunCode", r#"{"path": "x",}"#, "Expecting property name enclosed in double quotes"),
    ] {
        let native = callwright::NativeCall { id: None, name, arguments };
        let text = format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {arguments}}}</tool_call>");
        let context = Context { policy: Policy::Feedback, ..Context::default() };
        for outcome in [parse(&tools, "", &[native], &context), parse(&tools, &text, &[], &context)] {
            let [feedback] = &outcome.refusals().map(callwright::Refusal::feedback).collect::<Vec<_>>()[..]
            else {
                panic!("{name} {arguments}");
            };
            let told = format!("{} → {}", feedback.message, feedback.hints.join(". "));
            assert!(told.contains(said), "{told}");
        }
    }
}

/// S1-15: a malformed call goes into the history in the standard form.
#[test]
fn a_call_is_rendered_in_the_standard_form() {
    let tools =
        ToolSet::from_json(r#"[{"name": "substitute_ingredient"}, {"name": "get_weather"}]"#).unwrap();
    let standard = prompt::call(
        &"function-tag".parse().unwrap(),
        &tools,
        "substitute_ingredient",
        r#"{"ingredient": "pasta"}"#,
    );
    assert_eq!(
        standard,
        r#"<function>{"name": "substitute_ingredient", "parameters": {"ingredient": "pasta"}}</function>"#
    );
    let python =
        prompt::call(&"tool_code".parse().unwrap(), &tools, "get_weather", r#"{"city": "Paris", "days": 3}"#);
    assert_eq!(python, "```tool_code\nget_weather(city=\"Paris\", days=3)\n```");
}

/// A scanner over shared tools goes to another thread, or into a stream that is handed out.
#[test]
fn a_scanner_of_shared_tools_goes_anywhere() {
    fn goes_anywhere<T: Send + 'static>(scanner: T) -> T {
        scanner
    }
    let text = "Sure: <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
    let reader = {
        let tools = std::sync::Arc::new(ToolSet::from_json(r#"[{"name": "f", "parameters": {}}]"#).unwrap());
        let mut scanner = goes_anywhere(Scanner::new(&tools, &Context::default()));
        std::thread::spawn(move || {
            let mut events = Vec::new();
            for piece in text.split_inclusive(' ') {
                scanner.feed(Delta::Text(piece), &mut events);
            }
            scanner.finish().1
        })
    };
    let outcome = reader.join().unwrap();
    assert_eq!(outcome.calls().map(|call| call.arguments.as_str()).collect::<Vec<_>>(), [r#"{"a": 1}"#]);
    let owned = ToolSet::from_json("[]").unwrap();
    assert_eq!(goes_anywhere(Scanner::new(owned, &Context::default())).finish().1.text, "");
}

/// What is no reading is an error like any other.
#[test]
fn a_reason_is_an_error() {
    fn healed(text: &str) -> Result<String, Box<dyn std::error::Error>> {
        Ok(callwright::heal(text, None, None)?.text)
    }
    assert_eq!(healed("{'a': 1}").unwrap(), r#"{"a": 1}"#);
    let error = healed("1 2").unwrap_err().to_string();
    assert_eq!(error, "it cannot be read in exactly one way");
    let schema = callwright::Schema::compile(&callwright::json!({"required": ["a"]})).unwrap();
    let reason = callwright::heal("{}", Some(&schema), None).unwrap_err();
    assert_eq!(reason.to_string(), "missing required: a");
}

#[test]
fn arguments_are_had_as_text_as_a_value_and_as_a_type() {
    let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#).unwrap();
    let text = r#"{"name": "f", "arguments": {"b": 1e400, "a":  0.10}}"#;
    let outcome = parse(&tools, text, &[], &Context::default());
    let call = outcome.calls().next().unwrap();
    assert_eq!(call.arguments, r#"{"b": 1e400, "a":  0.10}"#);
    assert_eq!(call.to_value().to_string(), r#"{"b":1e400,"a":0.10}"#);
    #[derive(Debug, serde::Deserialize)]
    struct Own {
        a: f64,
    }
    assert_eq!(call.arguments::<Own>().unwrap().a, 0.1);
    assert!(call.arguments::<Vec<u8>>().is_err());
}

fn healed(text: &str) -> Option<Value> {
    let schema = Schema::compile(&json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "integer"}},
        "required": ["path", "content"],
    }))
    .unwrap();
    let healed = heal(text, Some(&schema), None).ok()?;
    Some(serde_json::from_str(&healed.text).unwrap())
}

/// S0-54: arguments are taken from loose text where there is one way to do it.
#[test]
fn takes_pairs_with_one_reading() {
    let wanted = json!({"path": "test.py", "content": "hello"});
    for text in [
        "path=test.py content=hello",
        "path: test.py\ncontent: hello\n",
        "path='test.py', content=\"hello\"",
        "path = test.py; content = hello",
    ] {
        assert_eq!(healed(text), Some(wanted.clone()), "{text}");
    }
    let spaced = healed("path = a b.txt content = x = 1 mode = 7");
    assert_eq!(spaced, Some(json!({"path": "a b.txt", "content": "x = 1", "mode": 7})));
}

#[test]
fn refuses_pairs_that_leave_a_doubt() {
    assert_eq!(healed("path=a content=b path=c"), None, "a key twice");
    assert_eq!(healed("path=a"), None, "a required key is missing");
    assert_eq!(healed("see path=a content=b"), None, "prose before");
    assert_eq!(healed("path=a content="), None, "no value");
    assert_eq!(healed("path=a content=b mode=often"), None, "a value of the wrong type");
}

/// Arguments that would take too much work to check pass with a note, and never where all must be checked.
#[test]
#[cfg(feature = "full-schemas")]
fn what_is_too_dear_to_check_is_told() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": r"^(a+)+\1$"}}});
    let dear = format!("{}!", "a".repeat(64));
    let tools = ToolSet::from_json(&format!(r#"[{{"name": "f", "parameters": {schema}}}]"#)).unwrap();
    let arguments = format!("{{\"a\": \"{dear}\"}}");
    let native = NativeCall { id: None, name: "f", arguments: &arguments };
    let told = |policy| {
        let outcome =
            parse(&tools, "", std::slice::from_ref(&native), &Context { policy, ..Context::default() });
        let call = outcome.calls().next().map(|call| call.unchecked);
        let refusal =
            outcome.refusals().next().map(|refusal| (refusal.reason.code(), refusal.reason.to_string()));
        (call, refusal)
    };
    for policy in Policy::ALL {
        let is_strict = policy == Policy::Strict;
        let (call, refusal) = told(policy);
        assert_eq!(
            (call, refusal.is_some()),
            (if is_strict { None } else { Some(true) }, is_strict),
            "{policy:?}"
        );
    }
    assert_eq!(
        told(Policy::Strict).1.unwrap(),
        (
            "invalid",
            "the arguments take more work to hold against the schema than is done: write simpler ones"
                .to_owned()
        )
    );
}

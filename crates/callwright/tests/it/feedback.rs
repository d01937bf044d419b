//! What the model is told about calls that may not run, to the byte.

use callwright::{
    Acceptance, Coercion, Diagnosis, Feedback, Outcome, Policy, Reason, Refusal, ShapeError, Trouble,
    Verdict, Violation, calls_or_error, diagnose,
};
use callwright_json::{Diagnostic, Problem, Repair, RepairKind, Span};

use crate::broken_texts::broken_texts;

fn refusal(block: &str, reason: Reason) -> Refusal {
    Refusal {
        id: Some("call_1".into()),
        name: Some("run_code".into()),
        dialect: "json_fence".into(),
        number: 1,
        span: Span::new(0, block.len()),
        block: block.into(),
        reason,
    }
}

fn unreadable(block: &str) -> Feedback {
    refusal(block, Reason::Unreadable(Vec::new())).feedback()
}

fn call() -> Acceptance {
    Acceptance {
        id: None,
        name: "run_code".into(),
        arguments: r#"{"code": "1"}"#.into(),
        dialect: "json_fence".into(),
        span: Span::at(0),
        repairs: Vec::new(),
        renamed_from: None,
        coercions: Vec::new(),
        beside_prose: None,
        unsure: false,
        is_apart: false,
        open_end: false,
        unchecked: false,
    }
}

const EXTRA_BRACES: &str = r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}}}"#;
const EXTRA_BRACES_74: &str =
    r#"{"tool": "run_code", "arguments": {"code": "import math\nprint(math.pi)"}}}}"#;
const MISSING_BRACES: &str = r#"{"tool": "run_code", "arguments": {"code": "...""#;
const UNMATCHED_QUOTES: &str = r#"{"tool": "run_code", "arguments": {"code": "print("hello)}}"#;
const WRONG_STRUCTURE: &str = r#"{"tool": "run_code", "arguments": "print('hello')"}"#;

/// S4-07, S4-08, S4-19, S4-24: the worked example, at its true position.
#[test]
fn the_worked_example() {
    let feedback = unreadable(EXTRA_BRACES);
    assert_eq!(
        feedback.user_message(),
        "⚠️ Tool Call JSON Error:\n\
         Tool call 1: Invalid JSON at position 61\n  \
         Error: Extra data\n  \
         Your JSON: {\"tool\": \"run_code\", \"arguments\": {\"code\": \"print('hello')\"}}}}\n  \
         → You have 2 extra closing braces }\n\
         \n\
         Please fix the JSON and try again. Ensure proper brace matching: { and }"
    );
}

/// S4-35: the headline stands where JSON was found and nothing of it could be parsed.
#[test]
fn the_full_message() {
    let verdict = Verdict::Refused(refusal(EXTRA_BRACES_74, Reason::Unreadable(Vec::new())));
    let (calls, error) = calls_or_error(Outcome { verdicts: vec![verdict], ..Outcome::default() });
    assert!(calls.is_empty());
    assert_eq!(
        error.unwrap().user_message(),
        "⚠️ Tool Call JSON Error:\n\
         Found JSON block(s) but failed to parse:\n\
         \n\
         Tool call 1: Invalid JSON at position 74\n  \
         Error: Extra data\n  \
         Your JSON: {\"tool\": \"run_code\", \"arguments\": {\"code\": \"import math\\nprint(math.pi)\"}}}}\n  \
         → You have 2 extra closing braces }\n\
         \n\
         Please fix the JSON and try again. Ensure proper brace matching: { and }"
    );
}

/// S4-11, S4-27, S4-32
#[test]
fn missing_braces() {
    assert_eq!(
        unreadable(MISSING_BRACES).error(),
        "Tool call 1: Invalid JSON at position 48\n  \
         Error: Expecting ',' delimiter\n  \
         Your JSON: {\"tool\": \"run_code\", \"arguments\": {\"code\": \"...\"\n  \
         → You're missing 2 closing braces }"
    );
}

/// S4-12, S4-28, S4-33: ten quotes and balanced braces, so counting sees nothing.
#[test]
fn unmatched_quotes() {
    assert_eq!(UNMATCHED_QUOTES.matches('"').count() % 2, 0);
    assert_eq!(
        unreadable(UNMATCHED_QUOTES).error(),
        "Tool call 1: Invalid JSON at position 51\n  \
         Error: Expecting ',' delimiter\n  \
         Your JSON: {\"tool\": \"run_code\", \"arguments\": {\"code\": \"print(\"hello)}}\n  \
         → Unmatched quotes detected: the quote at position 50 ends its string too early; \
         write \\\" for a quote inside a string\n  \
         → For example: …\"arguments\": {\"code\": \"print(\\\"hello)\"}}"
    );
}

/// S4-34
#[test]
fn wrong_structure() {
    let refusal = refusal(WRONG_STRUCTURE, Reason::Shape(ShapeError::ArgumentsNotObject("string")));
    assert_eq!(
        refusal.feedback().error(),
        "Tool call 1: Invalid structure\n  \
         Error: 'arguments' must be a dict/object, got str\n  \
         Your JSON: {\"tool\": \"run_code\", \"arguments\": \"print('hello')\"}\n  \
         → Give each argument under its name: {\"tool\": \"run_code\", \"arguments\": {\"…\": …}}"
    );
}

#[test]
fn types_have_their_python_names() {
    let cases = [
        ("array", "[1]", "list"),
        ("boolean", "true", "bool"),
        ("null", "null", "NoneType"),
        ("integer", "1", "int"),
        ("number", "1", "int"),
        ("number", "1.5", "float"),
    ];
    for (kind, value, python) in cases {
        let block = format!(r#"{{"tool": "f", "arguments": {value}}}"#);
        let message = refusal(&block, Reason::Shape(ShapeError::ArgumentsNotObject(kind))).feedback().message;
        assert_eq!(message, format!("'arguments' must be a dict/object, got {python}"));
    }
}

#[test]
fn missing_tool_key() {
    let block = r#"{"arguments": {"code": "1"}}"#;
    let refusal = Refusal { name: None, ..refusal(block, Reason::Shape(ShapeError::NoName(Vec::new()))) };
    assert_eq!(
        refusal.feedback().error(),
        "Tool call 1: Invalid structure\n  \
         Error: Missing 'tool' key: the call does not say which tool it wants\n  \
         Your JSON: {\"arguments\": {\"code\": \"1\"}}\n  \
         → Name the tool beside the arguments: {\"tool\": \"…\", \"arguments\": {…}}"
    );
}

/// S4-09: cut at 100 characters, not bytes, and only then.
#[test]
fn long_blocks_are_cut() {
    let yours = |block: &str| {
        let error = unreadable(block).error();
        error.lines().find_map(|line| line.strip_prefix("  Your JSON: ").map(String::from)).unwrap()
    };
    let block = |n: usize| format!("[\"{}\"]]", "é".repeat(n - 5));
    assert_eq!(yours(&block(100)), block(100));
    assert_eq!(yours(&block(101)), format!("[\"{}\"]...", "é".repeat(96)));
    assert_eq!(unreadable(&block(101)).block, block(101));
}

/// S4-10, S4-13: where, what, and a fix that is strict JSON. Brackets, quotes and backticks inside strings
/// are text.
#[test]
fn each_trouble_has_its_place_and_its_fix() {
    let cases: &[(&str, &str, &str, &str)] = &[
        (r#"{"c": "if x { y }"}}"#, "extra-closers", "}", r#"{"c": "if x { y }"}"#),
        (r#"{"a": {"c": "a } b } c"}"#, "missing-closers", "", r#"{"a": {"c": "a } b } c"}}"#),
        (r#"{"a": {"c": "}}}"}"#, "missing-closers", "", r#"{"a": {"c": "}}}"}}"#),
        (r#"{"c": "echo `ls`"}}"#, "extra-closers", "}", r#"{"c": "echo `ls`"}"#),
        (r#"{"a": [1, 2}"#, "missing-closers", "", r#"{"a": [1, 2]}"#),
        (r#"{"a": [1, {"b": 2"#, "missing-closers", "", r#"{"a": [1, {"b": 2}]}"#),
        (r#"{"a": {"b": 1}}, "c": 2}"#, "extra-closers", "}", r#"{"a": {"b": 1}, "c": 2}"#),
        (r#"{{"a": 1}}"#, "extra-opener", "{", r#"{"a": 1}"#),
        (r#"{"c": "say "hi" now"}"#, "bare-quote", "\"", r#"{"c": "say \"hi\" now"}"#),
        (r#"{"c": "print('x)}"#, "unclosed-string", "\"", r#"{"c": "print('x)"}"#),
        (r#"{"a": "x, "b": "y"}"#, "unclosed-string", "\"", r#"{"a": "x", "b": "y"}"#),
        (r#"{"radius: 10, "unit": "m"}"#, "unclosed-string", "\"", r#"{"radius": 10, "unit": "m"}"#),
        (r#"{"a": 1,}"#, "extra-comma", ",", r#"{"a": 1}"#),
        (r#"{"a": "x" "b": "y"}"#, "missing-comma", "", r#"{"a": "x", "b": "y"}"#),
        (r#"{"a": True}"#, "foreign-literal", "True", r#"{"a": true}"#),
        (r#"{"a": "\d"}"#, "bad-escape", "\\", r#"{"a": "\\d"}"#),
        ("{\"a\": \"x\ny\"}", "raw-control", "\n", r#"{"a": "x\ny"}"#),
        ("{\"a\": 1 /* one */}", "comment", "/* one */", r#"{"a": 1 }"#),
    ];
    for (block, code, at, fix) in cases {
        let feedback = unreadable(block);
        assert_eq!(feedback.trouble.as_ref().map(Trouble::code), Some(*code), "{block}");
        assert_eq!(feedback.at.map(|span| span.of(block)), Some(*at), "{block}");
        assert_eq!(feedback.fix.map(|fix| fix.text).as_deref(), Some(*fix), "{block}");
        assert!(!feedback.hints.is_empty(), "{block}");
    }
}

#[test]
fn positions_count_characters() {
    let feedback = unreadable("{\n  \"é\": \"日本\" 1}");
    assert_eq!(feedback.json_error.as_ref().unwrap().position, 14);
    let position = unreadable(r#"{"é": "日"本"}"#).position().unwrap();
    assert_eq!((position.offset, position.line, position.column), (8, 1, 9));
}

/// S4-03, S4-04, S4-05: calls, an error, or neither. S4-29: what is refused is not among the calls.
#[test]
fn calls_or_an_error() {
    let refused = || Verdict::Refused(refusal(EXTRA_BRACES, Reason::Unreadable(Vec::new())));
    let split = |verdicts| calls_or_error(Outcome { verdicts, ..Outcome::default() });

    let (calls, error) = split(vec![Verdict::Accepted(call())]);
    assert!(calls.len() == 1 && error.is_none());

    let (calls, error) = split(vec![refused()]);
    assert!(calls.is_empty());
    assert!(
        error.unwrap().to_string().starts_with("Found JSON block(s) but failed to parse:\n\nTool call 1: ")
    );

    let (calls, error) = split(vec![]);
    assert!(calls.is_empty() && error.is_none());

    // A good call does not hide a bad one, and then the headline would be wrong.
    let (calls, error) = split(vec![Verdict::Accepted(call()), refused()]);
    assert!(
        calls.len() == 1
            && error.unwrap().to_string().starts_with("Tool call 1: Invalid JSON at position 61\n")
    );
}

#[test]
fn several_errors_stand_apart() {
    let second = Refusal { number: 2, ..refusal("{'a': 1}", Reason::Unreadable(Vec::new())) };
    let first = refusal(EXTRA_BRACES, Reason::Unreadable(Vec::new()));
    let verdicts = vec![Verdict::Refused(first), Verdict::Refused(second)];
    let (_, error) = calls_or_error(Outcome { verdicts, ..Outcome::default() });
    assert!(
        error.unwrap().to_string().contains("closing braces }\n\nTool call 2: Invalid JSON at position 1\n")
    );
}

#[test]
fn a_native_call_is_answered_with_pythons_error() {
    assert_eq!(
        unreadable(EXTRA_BRACES).tool_result(),
        r#"{"error": "Invalid JSON: Extra data: line 1 column 62 (char 61)", "hint": "You have 2 extra closing braces }"}"#
    );
    assert_eq!(
        unreadable(r#"{"path": "a.py", "n": True}"#).tool_result(),
        "{\"error\": \"Invalid JSON: Expecting value: line 1 column 23 (char 22)\", \
         \"hint\": \"JSON has only true, false, null and decimal numbers: change the word at position 22\", \
         \"fix\": \"Write: {\\\"path\\\": \\\"a.py\\\", \\\"n\\\": true}\"}"
    );
}

#[test]
fn a_violation_is_the_error() {
    let violation = |name: &str, pointer: &str| Violation {
        pointer: pointer.into(),
        keyword: "type",
        message: format!("{name} must be a string"),
    };
    let invalid =
        |violations| refusal(r#"{"path": 5, "content": []}"#, Reason::Invalid(violations)).feedback();
    assert_eq!(
        invalid(vec![violation("path", "/path")]).tool_result(),
        r#"{"error": "path must be a string"}"#
    );
    let both = invalid(vec![violation("path", "/path"), violation("content", "/content")]);
    assert_eq!(both.tool_result(), r#"{"error": "path must be a string; content must be a string"}"#);
    assert_eq!(
        both.user_message(),
        "⚠️ Tool Call Error:\n\
         Tool call 1: Invalid arguments\n  \
         Error: path must be a string; content must be a string\n  \
         Your JSON: {\"path\": 5, \"content\": []}\n  \
         → Call run_code again with arguments that fit its schema\n\
         \n\
         Please fix the call and try again."
    );
}

#[test]
fn an_unknown_tool_is_told_what_there_is() {
    let reason = Reason::UnknownTool {
        nearest: vec!["run_code".into()],
        declared: vec!["run_code".into(), "finish".into()],
    };
    let feedback = Refusal { name: Some("run_kode".into()), ..refusal("{}", reason) }.feedback();
    assert_eq!(
        feedback.tool_result(),
        "{\"error\": \"Unknown tool: run_kode\", \"hint\": \"The nearest tool is run_code. The tools are: run_code, \
         finish. Where none of them helps, answer in words\", \"tools\": [\"run_code\", \"finish\"]}"
    );
    assert!(feedback.user_message().ends_with("\n\nPlease call a tool that there is, or answer in words."));
}

/// A declared tool is not said to be unknown: nobody asked for it now.
#[test]
fn a_tool_that_was_not_offered_is_told_which_were() {
    let told = |offered: &[&str]| {
        let offered = offered.iter().copied().map(String::from).collect();
        let feedback = refusal("{}", Reason::NotOffered { offered }).feedback();
        (feedback.code, feedback.tool_result(), feedback.user_message())
    };
    let (code, result, message) = told(&["finish"]);
    assert_eq!(code, "not-offered");
    assert_eq!(
        result,
        "{\"error\": \"The tool run_code may not be called in this answer\", \"hint\": \"Call finish\", \
         \"tools\": [\"finish\"]}"
    );
    assert_eq!(
        message,
        "⚠️ Tool Call Error:\n\
         Tool call 1: Tool not offered\n  \
         Error: The tool run_code may not be called in this answer\n  \
         Your JSON: {}\n  \
         → Call finish\n\
         \n\
         Please fix the call and try again."
    );
    let (_, several, _) = told(&["finish", "fsRead"]);
    assert!(several.contains("\"Call one of these: finish, fsRead\""), "{several}");
    assert!(told(&[]).1.contains("\"Answer in words\""));
}

#[test]
fn an_ambiguous_call_shows_its_readings() {
    let readings = vec![r#"{"a": "x"}"#.into(), r#"{"a": "x}"}"#.into()];
    let feedback = refusal(r#"{"a": "x}"#, Reason::Ambiguous { readings }).feedback();
    assert_eq!(
        feedback.tool_result(),
        "{\"error\": \"The call can be read in 2 ways\", \
         \"hint\": \"Send the call again as strict JSON, the way you mean it\", \
         \"readings\": [\"{\\\"a\\\": \\\"x\\\"}\", \"{\\\"a\\\": \\\"x}\\\"}\"]}"
    );
    assert_eq!(
        feedback.to_string(),
        "tool call 1 (`run_code`, json_fence): the call can be read in 2 ways\n  \
         reading 1: {\"a\": \"x\"}\n  reading 2: {\"a\": \"x}\"}"
    );
}

#[test]
fn a_cut_call_is_not_completed() {
    let block = r#"{"tool": "run_code", "arguments": {"code": "npm te"#;
    let cut = vec![Diagnostic { problem: Problem::Truncated, at: Span::new(43, 44) }];
    let feedback = refusal(block, Reason::Truncated(cut)).feedback();
    assert_eq!(feedback.fix, None);
    assert_eq!(
        feedback.tool_result(),
        "{\"error\": \"The tool call was cut off before it was complete\", \
         \"hint\": \"Unmatched quotes detected: the string that begins at position 43 is never closed. \
         You're missing 2 closing braces }. \
         The call ends too early: send it again in full, shorter or in several parts\"}"
    );
}

#[test]
fn a_text_that_was_to_be_json_is_not_called_a_call() {
    let told = |text: &str| {
        let reason = callwright::heal(text, None, None).unwrap_err();
        let feedback = Refusal::of_text(text, reason).feedback();
        let whole = format!("{} {feedback}", feedback.tool_result());
        assert!(!whole.contains("call"), "{whole}");
        feedback.tool_result()
    };
    assert_eq!(
        told("[1] [2]"),
        "{\"error\": \"The JSON can be read in 2 ways\", \
         \"hint\": \"Send it again as strict JSON, the way you mean it\", \"readings\": [\"[1]\", \"[2]\"]}"
    );
    // The cut is why it is refused, and the quotes are not.
    assert_eq!(
        told("{'a': 'x', 'b': 'of"),
        "{\"error\": \"The JSON was cut off before it was complete\", \
         \"hint\": \"The JSON ends too early: send it again in full, or shorter. \
         Put keys and strings in double quotes: the quote at position 1 is another one\"}"
    );
    assert_eq!(
        told(r#"{"a": "x"#),
        "{\"error\": \"The JSON was cut off before it was complete\", \
         \"hint\": \"Unmatched quotes detected: the string that begins at position 6 is never closed. \
         You're missing 1 closing brace }. The JSON ends too early: send it again in full, or shorter\"}"
    );
    let text = "{'a': 'x";
    let feedback = Refusal::of_text(text, callwright::heal(text, None, None).unwrap_err()).feedback();
    assert_eq!((feedback.position().unwrap().offset, feedback.code), (text.len(), "truncated"));
    for text in ["hello", "", "[NaN]", "{\"a\": }", &"[".repeat(200)] {
        told(text);
    }
}

#[test]
fn what_is_not_json_gets_no_json_error() {
    let diagnostic = Diagnostic { problem: Problem::Unreadable, at: Span::new(7, 8) };
    let feedback =
        Refusal { dialect: "tool_code".into(), ..refusal("f(a=1, %)", Reason::Unreadable(vec![diagnostic])) }
            .feedback();
    assert_eq!(
        feedback.error(),
        "Tool call 1: Unreadable call\n  Error: The call cannot be read\n  Your call: f(a=1, %)\n  \
         → Send the call again as one strict JSON object"
    );
}

/// S1-23: the tool, the form it was written in, and the place.
#[test]
fn a_person_sees_the_place() {
    let block = r#"{"code": "print(1)}"#;
    let refusal =
        Refusal { dialect: "toolname_tag".into(), ..refusal(block, Reason::Unreadable(Vec::new())) };
    assert_eq!(
        refusal.feedback().to_string(),
        "tool call 1 (`run_code`, toolname_tag): not valid JSON at line 1, column 10\n  \
         {\"code\": \"print(1)}\n           ^ this string is never closed"
    );
}

/// Tabs do not move the caret, and a long line is shown around the place.
#[test]
fn the_caret_stands_under_the_place() {
    let found = diagnose("[1", false).unwrap();
    let drawn = |text: &str, at| Diagnosis { at, ..found.clone() }.drawing(text);
    assert_eq!(drawn("{\n\t\"é\": x}\n", Span::new(9, 10)), "   \"é\": x}\n        ^ `]` is missing here");
    assert_eq!(drawn("", Span::at(0)), "  \n  ^ `]` is missing here");
    assert_eq!(drawn("[1", Span::at(2)), "  [1\n    ^ `]` is missing here");
    let long = drawn(&format!("{}!{}", "a".repeat(500), "b".repeat(500)), Span::new(500, 501));
    let (line, caret) = long.split_once('\n').unwrap();
    assert_eq!(line.chars().count(), "  …".chars().count() + 100 + 1);
    assert_eq!(line.chars().nth(caret.find('^').unwrap()), Some('!'));
}

#[test]
fn any_text_has_a_place_inside_it() {
    for text in broken_texts(20_000) {
        for cut in [false, true] {
            let Some(found) = diagnose(&text, cut) else { continue };
            assert!(text.get(found.at.range()).is_some(), "{text:?}: {:?}", found.at);
            assert!(text.is_char_boundary(found.error.at), "{text:?}");
            assert!(!found.hints(&text).is_empty(), "{text:?}");
            if let Some(fix) = found.fix {
                assert!(!cut, "a cut text was completed: {text:?}");
                assert!(callwright_json::strict(&fix.text).is_ok(), "{text:?}: {}", fix.text);
                assert!(fix.snippet(&text).chars().count() < 110);
            }
        }
        let feedback = unreadable(&text);
        assert!(callwright_json::strict(&feedback.tool_result()).is_ok(), "{text:?}");
        assert!(!feedback.to_string().is_empty() && feedback.error().starts_with("Tool call 1: "));
    }
}

/// A call that took these repairs.
fn repaired(dialect: &'static str, kinds: &[RepairKind]) -> Acceptance {
    let repair = |&kind| Repair { kind, at: Span::at(0), put: "".into() };
    Acceptance { dialect: dialect.into(), repairs: kinds.iter().map(repair).collect(), ..call() }
}

#[test]
fn teaching_sends_back_what_healing_runs() {
    let fenced = repaired("json", &[RepairKind::DropFence, RepairKind::DropProse]);
    let comma = repaired("json", &[RepairKind::DropFence, RepairKind::DropComma]);
    let expression = repaired("json", &[RepairKind::SwapSyntax, RepairKind::SwapQuote]);
    let positional = repaired("json", &[RepairKind::SwapSyntax, RepairKind::AddKey]);
    for policy in [Policy::Auto, Policy::Heal] {
        assert!([&fenced, &comma, &expression, &positional].iter().all(|call| policy.admits(call)));
    }
    for policy in [Policy::Feedback, Policy::Strict] {
        assert!(
            policy.admits(&repaired("json", &[])) && policy.admits(&fenced) && policy.admits(&expression)
        );
        assert!(!policy.admits(&comma) && !policy.admits(&positional));
        assert!(
            !policy.admits(&Acceptance { renamed_from: Some("RunCode".into()), ..repaired("json", &[]) })
        );
    }
}

#[test]
fn names_go_both_ways() {
    assert_eq!(Policy::named("feedback"), Some(Policy::Feedback));
    assert_eq!(Policy::named("Feedback"), None);
    assert_eq!(Policy::named(Policy::default().name()), Some(Policy::Auto));
}

#[test]
fn a_name_as_tag_gets_the_note_about_tags_once() {
    let note = "Note: Please use <function> tags, not function name tags";
    let calls = [repaired("toolname_tag", &[]), repaired("toolname_tag", &[RepairKind::DropComma])];
    let outcome = Outcome { verdicts: calls.map(Verdict::Accepted).into(), ..Outcome::default() };
    assert_eq!(outcome.notes(), [note]);
}

#[test]
fn other_repairs_are_named() {
    assert_eq!(repaired("json_fence", &[RepairKind::DropFence]).note(), None);
    let mut call = repaired("hermes", &[RepairKind::DropCloser, RepairKind::DropCloser]);
    call.coercions = vec![Coercion { pointer: "/limit".into(), from: "\"5\"".into(), to: "5".into() }];
    assert_eq!(
        call.note().unwrap(),
        "Note: Your call to run_code was repaired before it ran (drop-closer 2 times, /limit was \"5\" and \
         not 5): please send strict JSON"
    );
}

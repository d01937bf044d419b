//! What a server is asked to hold answers to: right calls fit it, wrong ones do not, prose does where it may.

use callwright::constrain::{Answer, Constraint, grammar, schema};
use callwright::json;
use callwright::prompt::{PromptDialect, calls};
use callwright::value::Value;
use callwright::{Context, Delta, Dialect, Dialects, Event, Outcome, Schema, ToolChoice, ToolSet, parse};
use callwright_json::strict;

use crate::gbnf::Grammar;

/// The dialects that a grammar can hold a model to.
fn with_grammar() -> Vec<PromptDialect> {
    PromptDialect::all(&Dialects::default()).filter(|dialect| Constraint::Grammar.is_for(dialect)).collect()
}

fn named(dialect: &str) -> PromptDialect {
    dialect.parse().unwrap()
}

/// Schemas of arguments, each with arguments that both forms admit and with some that neither does.
fn cases() -> Vec<(Value, Vec<Value>, Vec<Value>)> {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    vec![
        (
            object(
                json!({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "boolean"}}),
                json!(["b"]),
            ),
            vec![
                json!({"b": -12}),
                json!({"a": "x\"\\\n<é>", "b": 0}),
                json!({"b": 5, "c": true}),
                json!({"a": "", "b": 7, "c": false}),
            ],
            vec![
                json!({}),
                json!({"a": "x"}),
                json!({"b": "5"}),
                json!({"b": 1, "d": 2}),
                json!({"b": 1.5}),
                json!([]),
            ],
        ),
        (
            object(json!({"a": {"type": "string"}, "b": {"type": "number"}}), json!([])),
            vec![json!({}), json!({"a": "x"}), json!({"b": 1.5e3}), json!({"a": "x", "b": -0.25})],
            vec![json!({"c": 1}), json!({"a": null})],
        ),
        (
            object(
                json!({"e": {"enum": ["a", 2, null]}, "k": {"const": {"x": [1]}}, "n": {"type": ["string", "null"]}}),
                json!(["e", "k", "n"]),
            ),
            vec![
                json!({"e": "a", "k": {"x": [1]}, "n": null}),
                json!({"e": null, "k": {"x": [1]}, "n": "t"}),
            ],
            vec![json!({"e": "b", "k": {"x": [1]}, "n": null}), json!({"e": 2, "k": {"x": [2]}, "n": null})],
        ),
        (
            object(
                json!({"l": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
                       "s": {"type": "string", "minLength": 2, "maxLength": 4},
                       "o": {"type": "object", "properties": {"p": {"type": "null"}}, "required": ["p"]}}),
                json!(["l"]),
            ),
            vec![
                json!({"l": [1]}),
                json!({"l": [1, 2, 3], "s": "ab"}),
                json!({"l": [1], "s": "abcd", "o": {"p": null}}),
            ],
            vec![
                json!({"l": []}),
                json!({"l": [1, 2, 3, 4]}),
                json!({"l": [1], "s": "a"}),
                json!({"l": [1], "o": {}}),
            ],
        ),
        (
            object(
                json!({"x": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
                       "y": {"oneOf": [{"$ref": "#/$defs/leaf"}, {"type": "null"}]}}),
                json!([]),
            ),
            vec![json!({"x": 1}), json!({"x": []}), json!({"x": ["a", "b"]})],
            vec![json!({"x": "a"}), json!({"x": [1]})],
        )
            .with_definitions(json!({"leaf": {"type": "string"}})),
        (
            json!({"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}}, "required": ["value"]}),
            vec![json!({"value": 1}), json!({"value": 1, "next": {"value": 2, "next": {"value": 3}}})],
            vec![json!({"value": 1, "next": {}}), json!({"next": {"value": 1}})],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}),
            vec![json!({}), json!({"a": 1}), json!({"a": 1, "z": "x", "y": ""}), json!({"z": "x"})],
            vec![json!({"z": 1})],
        ),
        (
            json!({"type": "object", "properties": {"t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
                   "any": {}}}),
            vec![
                json!({"t": ["a", 1, null]}),
                json!({"t": ["a"], "any": {"b": [1, "x", {}]}}),
                json!({"t": []}),
            ],
            vec![json!({"t": [1]}), json!({"t": {}})],
        ),
        (json!({"type": "object"}), vec![json!({}), json!({"what": ["ever"]})], vec![json!([]), json!("x")]),
    ]
}

trait WithDefinitions {
    fn with_definitions(self, definitions: Value) -> Self;
}

impl WithDefinitions for (Value, Vec<Value>, Vec<Value>) {
    fn with_definitions(mut self, definitions: Value) -> Self {
        self.0["$defs"] = definitions;
        self
    }
}

fn tools(parameters: &Value) -> ToolSet {
    ToolSet::from_value(&json!([{"name": "f", "parameters": parameters}, {"name": "other.tool"}])).unwrap()
}

/// JSON with the spaces that grammars ask for.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(k, v)| format!("{}: {}", Value::from(k.as_str()), spaced(v))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// One call as its dialect writes it. Nothing is escaped that JSON does not ask for: models do not.
fn call(dialect: &PromptDialect, tools: &ToolSet, name: &str, arguments: &Value) -> String {
    calls(dialect, tools, &[(name.to_owned(), spaced(arguments))]).replace("\\u003c", "<")
}

fn fits(schema: &Value, text: &str) -> bool {
    let Ok(tree) = strict(text) else { return false };
    Schema::compile(schema).unwrap().check(tree.root(text)).is_empty()
}

#[cfg(feature = "full-schemas")]
#[test]
fn the_schema_admits_right_calls_only() {
    for (parameters, right, wrong) in cases() {
        let tools = tools(&parameters);
        for choice in [ToolChoice::Auto, ToolChoice::Required, ToolChoice::Named("f".to_owned())] {
            let schema = schema(&tools, &choice, false).unwrap();
            let fits =
                |name: &str, arguments: &Value| fits(&schema, &call(&named("json"), &tools, name, arguments));
            for arguments in &right {
                assert!(fits("f", arguments), "{arguments} in {schema}");
                assert!(!fits("g", arguments), "{arguments} in {schema}");
            }
            for arguments in &wrong {
                assert!(!fits("f", arguments), "{arguments} in {schema}");
            }
            assert_eq!(fits("other.tool", &json!({})), choice.allows("other.tool"));
        }
    }
}

#[test]
fn the_grammar_admits_right_calls_only() {
    for (parameters, right, wrong) in cases() {
        let tools = tools(&parameters);
        for dialect in &with_grammar() {
            let text = grammar(dialect, &tools, &ToolChoice::Required, true).unwrap();
            let grammar = Grammar::parse(&text);
            for arguments in &right {
                let call = call(dialect, &tools, "f", arguments);
                assert!(grammar.admits(&call), "{call} in\n{text}");
                let read = parse(&tools, &call, &[], &Context::default());
                assert_eq!(read.calls().count(), 1, "{call}");
            }
            for arguments in &wrong {
                let call = call(dialect, &tools, "f", arguments);
                assert!(!grammar.admits(&call), "{call} in\n{text}");
            }
            let many: Vec<_> = right.iter().map(|a| ("f".to_owned(), spaced(a))).collect();
            let many = calls(dialect, &tools, &many).replace("\\u003c", "<");
            assert!(grammar.admits(&many), "{many}");
            assert!(grammar.admits(&call(dialect, &tools, "other.tool", &json!({}))));
            assert!(!grammar.admits(&call(dialect, &tools, "unknown", &right[0])));
            assert!(!grammar.admits("Sorry.") && !grammar.admits(""));
        }
    }
}

/// Prose flows, also prose that looks almost like a call; but a call that is begun must be right.
#[test]
fn the_grammar_of_a_free_choice_leaves_prose() {
    let tools = tools(&cases()[0].0);
    for dialect in with_grammar().iter().filter(|dialect| **dialect != PromptDialect::json()) {
        let text = grammar(dialect, &tools, &ToolChoice::Auto, false).unwrap();
        let grammar = Grammar::parse(&text);
        let right = call(dialect, &tools, "f", &json!({"b": 1}));
        for prose in [
            "",
            "Sorry, {no} <b>tool</b>.\n",
            "<tool_",
            "{\"tool",
            "<<{{\"t",
            "{\"answer\": 1}",
            "<tool_{\"tool_",
            "é😀",
        ] {
            assert!(grammar.admits(prose), "{prose} in\n{text}");
            assert!(grammar.admits(&format!("{prose}{right}")), "{prose}{right} in\n{text}");
            assert!(
                !grammar.admits(&format!("{prose}{}", call(dialect, &tools, "f", &json!({})))),
                "{prose}"
            );
            assert!(!grammar.admits(&format!("{prose}{right}{right}")), "{prose}");
        }
    }
}

/// `[[[call f]]` begins with a bracket too many, and with an opener behind it.
#[test]
fn an_opener_may_begin_again_inside_itself() {
    let tools = tools(&cases()[0].0);
    for open in ["[[call {name}]]", "<<a<<{name}>>", "aabaa:{name}:"] {
        let mut own = Dialect::new("own");
        own.call.open = vec![open.into()];
        own.call.close = vec!["[[/call]]".into()];
        let dialects = Dialects::new([own]).unwrap();
        let dialect = PromptDialect::all(&dialects).find(|dialect| &**dialect.name() == "own").unwrap();
        let text = grammar(&dialect, &tools, &ToolChoice::Auto, false).unwrap();
        let grammar = Grammar::parse(&text);
        let right = call(&dialect, &tools, "f", &json!({"b": 1}));
        let wrong = call(&dialect, &tools, "f", &json!({}));
        for prose in ["", "See [1].", "[", "[[", "[[[ca", "<", "<<", "<< <", "a", "aab", "aabaab", "aa aab"] {
            assert!(grammar.admits(prose), "{prose} in\n{text}");
            assert!(grammar.admits(&format!("{prose}{right}")), "{prose}{right} in\n{text}");
            assert!(!grammar.admits(&format!("{prose}{wrong}")), "{prose}{wrong} in\n{text}");
        }
    }
}

#[cfg(feature = "full-schemas")]
#[test]
fn prose_is_an_answer_in_json() {
    let tools = tools(&cases()[0].0);
    let answer = r#"{"no_tool_helps": "Sorry."}"#;
    assert!(fits(&schema(&tools, &ToolChoice::Auto, true).unwrap(), answer));
    assert!(!fits(&schema(&tools, &ToolChoice::Required, true).unwrap(), answer));
    let grammar = |choice| Grammar::parse(&grammar(&named("json"), &tools, &choice, true).unwrap());
    assert!(grammar(ToolChoice::Auto).admits(answer) && !grammar(ToolChoice::Auto).admits("Sorry."));
    assert!(!grammar(ToolChoice::Required).admits(answer));
    let two = calls(
        &named("json"),
        &tools,
        &[("f".to_owned(), "{\"b\": 1}".to_owned()), ("other.tool".to_owned(), "{}".to_owned())],
    );
    assert!(fits(&schema(&tools, &ToolChoice::Auto, true).unwrap(), &two));
    assert!(!fits(&schema(&tools, &ToolChoice::Auto, false).unwrap(), &two));
    assert_eq!(schema(&tools, &ToolChoice::None, true), None);
    assert_eq!(schema(&ToolSet::empty(), &ToolChoice::Required, true), None);
}

/// What servers cannot compile is left out: the constraint admits more, never less.
#[test]
fn what_cannot_be_said_is_left_wider() {
    for (parameters, admitted) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x|y"}}}),
            json!({"a": "z"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=x).*$"}}}),
            json!({"a": "z"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^x|y$"}}}),
            json!({"a": "z"}),
        ),
        (json!({"type": "object", "properties": {"a": {"not": {"type": "string"}}}}), json!({"a": "z"})),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 5}}}),
            json!({"a": 7}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": false}),
            json!({"xa": 7}),
        ),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}},
                             {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
            json!({"a": 1, "b": "x"}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"a": 1, "b": "x"}),
        ),
        (
            json!({"$id": "http://example.com/x", "type": "object", "properties": {"a": {"$id": "y", "$ref": "#z",
                   "$defs": {"z": {"$anchor": "z", "type": "string"}}}}}),
            json!({"a": "x"}),
        ),
    ] {
        let tools = tools(&parameters);
        let choice = ToolChoice::Required;
        let schema = schema(&tools, &choice, false).unwrap();
        let call = call(&named("json"), &tools, "f", &admitted);
        assert!(fits(&schema, &call), "{call} in {schema}");
        let text = grammar(&named("json"), &tools, &choice, false).unwrap();
        assert!(Grammar::parse(&text).admits(&call), "{call} in\n{text}");
    }
}

#[test]
fn a_grammar_too_long_is_none() {
    let values: Vec<String> = (0..9_000).map(|i| format!("value number {i:>16}")).collect();
    let tools = tools(&json!({"type": "object", "properties": {"a": {"enum": values}}}));
    assert_eq!(grammar(&named("json"), &tools, &ToolChoice::Auto, true), None);
    assert_eq!(grammar(&named("tool_code"), &tools, &ToolChoice::Auto, true), None);
}

fn one_tool() -> ToolSet {
    ToolSet::from_value(
        &json!([{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]),
    )
    .unwrap()
}

fn read(pieces: &[&str]) -> (Outcome, Vec<String>) {
    let tools = one_tool();
    let mut answer = Answer::new(&tools, &Context::default());
    let mut events = Vec::new();
    for piece in pieces {
        answer.feed(Delta::Text(piece), &mut events);
    }
    let (last, outcome) = answer.finish();
    events.extend(last);
    let said = events.into_iter().filter_map(|event| match event {
        Event::Text(text) => Some(text),
        _ => None,
    });
    (outcome, said.collect())
}

const ANSWERS: &[(&str, &str, usize)] = &[
    (r#"{"answer": "It is 5 \u00b0C.\n\ud83d\ude00 \"ok\""}"#, "It is 5 °C.\n😀 \"ok\"", 0),
    ("{ \"answer\" :\n\"\"}", "", 0),
    (r#"{"no_tool_helps": "Sorry."}"#, "Sorry.", 0),
    (r#"{"tool_calls": [{"name": "f", "arguments": {"a": "x"}}]}"#, "", 1),
    (
        r#"{"answer": "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"}"#,
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
        0,
    ),
    (r#"{"answer": "He said "hi" and \q left."}"#, "He said \"hi\" and \\q left.", 0),
    (r#"{"answer": "Looking.", "tool_calls": [{"name": "f", "arguments": {"a": "x"}}]}"#, "Looking.", 1),
    (r#"{"answer": 5}"#, r#"{"answer": 5}"#, 0),
    (r#"{"answer": "cut"#, "cut", 0),
    (r#"{"answer": "cut\ud83d"#, "cut", 0),
    (r#"{"answer": "a\ud83dz"}"#, "a\u{fffd}z", 0),
    ("Hello.", "Hello.", 0),
    // Prose would have a place of its own: this is no example.
    (r#"{"tool_calls": [{"name": "f", "arguments": {"a": "your_a"}}]}"#, "", 1),
    // Behind words it may be one: the call is unsure.
    (r#"Hello. {"name": "f", "arguments": {"a": "your_a"}}"#, "Hello.", 1),
    ("Hello. {\"name\": \"f\", \"arguments\": {}}", "Hello.", 1),
];

#[test]
fn prose_and_calls_come_apart() {
    for (text, said, calls) in ANSWERS {
        let (outcome, _) = read(&[text]);
        assert_eq!((outcome.text.as_str(), outcome.calls().count()), (*said, *calls), "{text}");
    }
}

#[test]
fn pieces_do_not_matter_and_the_answer_flows() {
    for (text, said, calls) in ANSWERS {
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let (outcome, events) = read(&pieces);
        assert_eq!((outcome.text.as_str(), outcome.calls().count()), (*said, *calls), "{text}");
        assert_eq!(events.concat(), *said, "{text}");
    }
    let tools = one_tool();
    let mut answer = Answer::new(&tools, &Context::default());
    let mut events = Vec::new();
    answer.feed(Delta::Text("{\"answer\": \"It is"), &mut events);
    assert!(matches!(events.as_slice(), [Event::Text(text)] if text == "It is"));
}

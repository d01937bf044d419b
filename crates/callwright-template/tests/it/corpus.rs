//! The cases of `corpus/template`: what is found out about each template, and that its dialect is read as the template
//! writes it.

use callwright::json;
use callwright::value::Value;
use callwright::{Context, Dialect, Dialects, ToolSet, parse};
use callwright_template::{Findings, Reasoning, Template, Turns};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;

const NAME: &str = "unheard-of";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    plain: String,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    calls: String,
    template: Option<String>,
    dialect: Option<String>,
    own: Option<Dialect>,
    unknown: Option<String>,
    #[serde(default = "yes")]
    lists_tools: bool,
    #[serde(default = "yes")]
    system_role: bool,
    #[serde(default)]
    alternate: bool,
    reasoning: Option<Thought>,
}

#[derive(Deserialize)]
struct Thought {
    open: String,
    close: String,
    opened: bool,
}

fn yes() -> bool {
    true
}

impl Case {
    fn template(&self, plain: &str) -> Template {
        let source = self.template.clone().unwrap_or_else(|| plain.replace("CALLS", &self.calls));
        Template::new(&source).unwrap()
    }
}

fn corpus() -> Corpus {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/template/cases.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn templates_tell_of_their_models() {
    let Corpus { plain, case } = corpus();
    for case in case {
        let name = &case.name;
        let findings = Findings::of(&case.template(&plain), &Dialects::default(), NAME);
        let turns = Turns { system_role: case.system_role, alternate: case.alternate };
        assert_eq!(findings.turns, turns, "{name}");
        assert_eq!(findings.lists_tools, case.lists_tools, "{name}");
        let reasoning =
            case.reasoning.map(|Thought { open, close, opened }| Reasoning { open, close, opened });
        assert_eq!(findings.reasoning, reasoning, "{name}");
        match findings.calls {
            Ok(proved) => {
                assert_eq!(
                    Some(&proved.name),
                    case.own.is_some().then_some(&proved.name).or(case.dialect.as_ref()),
                    "{name}"
                );
                let own = case.own.map(|mut own| {
                    own.name = NAME.into();
                    own
                });
                let found = proved.own.map(|mut found| {
                    assert!(found.speech.take().is_some(), "{name}");
                    found
                });
                assert_eq!(found, own, "{name}");
                assert!(30 <= proved.round_trips, "{name}: {}", proved.round_trips);
            }
            Err(unknown) => {
                let expected = case.unknown.unwrap_or_else(|| panic!("{name}: {unknown}"));
                assert!(unknown.to_string().starts_with(&expected), "{name}: {unknown}");
            }
        }
    }
}

const MARKS: &[&str] = &[
    "⟦do⟧",
    "⟦with⟧",
    "⟦done⟧",
    "«/act»",
    "⟦end⟧",
    "⟦/calls⟧",
    "<tool_call>",
    "\"",
    "\\",
    "}",
    "{",
    "\n",
    "<think>",
];

/// What a template writes around JSON is read to the byte, whatever stands in the strings: its own marks, other
/// dialects' marks, quotes.
#[test]
fn what_a_new_dialect_writes_is_read_again() {
    let Corpus { plain, case } = corpus();
    let tools = r#"[{"name": "note", "parameters": {"type": "object", "properties": {"text": {"type": "string"}, "more": {}}}}]"#;
    let tool_set = ToolSet::from_json(tools).unwrap();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner =
        TestRunner::new_with_rng(Config { cases: 300, failure_persistence: None, ..Config::default() }, rng);
    for case in case.into_iter().filter(|case| case.own.as_ref().is_some_and(is_json)) {
        let template = case.template(&plain);
        let findings = Findings::of(&template, &Dialects::default(), NAME);
        let own = findings.calls.unwrap().own;
        let dialects = Dialects::new(own).unwrap();
        let text = proptest::collection::vec(
            prop_oneof![proptest::sample::select(MARKS).prop_map(str::to_owned), ".{0,4}"],
            0..8,
        )
        .prop_map(|pieces| format!("a text: {}", pieces.concat()));
        runner
            .run(&(text.clone(), text), |(text, more)| {
                let arguments = json!({"text": text, "more": [more, 1, null]});
                let written = written(&template, &arguments);
                // Also behind words, where the model got its tools natively.
                let context = Context { dialects: dialects.clone(), native: true, ..Context::default() };
                let outcome = parse(&tool_set, &format!("So be it. {written}"), &[], &context);
                let call = outcome.calls().next().unwrap_or_else(|| panic!("{written:?}: {outcome:?}"));
                prop_assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap(), arguments);
                prop_assert_eq!((outcome.verdicts.len(), outcome.text.trim()), (1, "So be it."));
                Ok(())
            })
            .unwrap();
    }
}

fn is_json(dialect: &Dialect) -> bool {
    dialect.arguments == callwright::Grammar::Json
}

/// The answer that the template writes for one call.
fn written(template: &Template, arguments: &Value) -> String {
    let asked = json!({"role": "user", "content": "Go"});
    // Text where the template puts in what it gets, an object where it makes text of it.
    let render = |arguments: Value| {
        let call = json!({"id": "call00001", "type": "function", "function": {"name": "note", "arguments": arguments}});
        let turn = json!({"role": "assistant", "content": "", "tool_calls": [call]});
        template.render(&[asked.clone(), turn], &[], false).unwrap()
    };
    let given = template.render(std::slice::from_ref(&asked), &[], true).unwrap();
    let cut = |whole: &str| whole[given.len()..].trim_end().trim_end_matches("<|im_end|>").to_owned();
    let (text, object) = (cut(&render(Value::from(arguments.to_string()))), cut(&render(arguments.clone())));
    if text.contains("\\\"text\\\"") { object } else { text }
}

//! The cases of `corpus/template`: a dialect that was inferred is spoken as its template speaks it, and what is said in it
//! is read again as it was said.

use callwright::json;
use callwright::prompt::{self, PromptDialect, Speaking, render_messages};
use callwright::value::Value;
use callwright::{Context, Dialects, ToolChoice, ToolSet, parse};
use callwright_template::{Findings, Template};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;

const NAME: &str = "unheard-of";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    template: String,
    #[serde(default)]
    tools: String,
    #[serde(default)]
    calls: String,
    #[serde(default)]
    results: String,
    unknown: Option<String>,
}

fn file(name: &str) -> toml::Table {
    let path = format!("{}/../../corpus/template/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn spoken() -> Vec<Case> {
    file("spoken")["case"].clone().try_into().unwrap()
}

/// The dialect of a template that nobody knows, in a set with the built-in ones.
fn inferred(source: &str) -> Result<PromptDialect, String> {
    let template = Template::new(source).map_err(|error| error.to_string())?;
    let calls = Findings::of(&template, &Dialects::default(), NAME).calls;
    let own = calls.map_err(|error| error.to_string())?.own.ok_or("the dialect is known")?;
    let dialects = Dialects::new([own]).map_err(|error| error.to_string())?;
    Ok(PromptDialect::named(&dialects, NAME).unwrap())
}

/// All dialects that are inferred from the corpus, with the sets that they are read in.
fn all() -> Vec<(String, PromptDialect, Dialects)> {
    let cases = file("cases");
    let plain = cases["plain"].as_str().unwrap();
    let known = cases["case"].as_array().unwrap().iter().filter(|case| case.get("own").is_some());
    let known = known.map(|case| {
        let text = |key: &str| case[key].as_str().unwrap();
        (text("name").to_owned(), plain.replace("CALLS", text("calls")))
    });
    let more =
        spoken().into_iter().filter(|case| case.unknown.is_none()).map(|case| (case.name, case.template));
    let dialect = |(name, source): (String, String)| {
        let dialect = inferred(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
        let dialects = dialect.dialects().clone();
        (name, dialect, dialects)
    };
    known.chain(more).map(dialect).collect()
}

fn tools() -> ToolSet {
    let properties = json!({"a": {"type": "string"}, "n": {"type": "integer"}});
    ToolSet::from_value(&json!([
        {"name": "f", "description": "Does it.", "parameters": {"type": "object", "properties": properties}},
        {"name": "g"},
    ]))
    .unwrap()
}

#[test]
fn a_new_dialect_is_spoken_as_its_template_speaks_it() {
    let tools = tools();
    for case in spoken() {
        let name = &case.name;
        let dialect = match (inferred(&case.template), &case.unknown) {
            (Ok(dialect), None) => dialect,
            (Err(error), Some(expected)) => {
                assert!(error.starts_with(expected), "{name}: {error}");
                continue;
            }
            (found, _) => panic!("{name}: {found:?}"),
        };
        let at = |text: &str| text.strip_prefix('\n').unwrap_or(text).to_owned();
        let system = prompt::render(&dialect, &tools);
        assert!(system.starts_with(&at(&case.tools)), "{name}:\n{system}");
        let made = [("f".to_owned(), r#"{"a":"x","n":1}"#.to_owned()), ("g".to_owned(), "{}".to_owned())];
        assert_eq!(prompt::calls(&dialect, &tools, &made), at(&case.calls), "{name}");
        let call = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
        let history = [
            json!({"role": "assistant", "tool_calls": [call("1", "f"), call("2", "g")]}),
            json!({"role": "tool", "tool_call_id": "1", "content": "one"}),
            json!({"role": "tool", "tool_call_id": "2", "content": "</given> two"}),
        ];
        let speaking = Speaking { choice: ToolChoice::None, ..Speaking::default() };
        let rendered = render_messages(&dialect, &tools, &speaking, &history);
        let turn = rendered.messages.last().unwrap();
        assert_eq!((&turn["role"], &turn["content"]), (&json!("user"), &json!(at(&case.results))), "{name}");
    }
}

/// What the dialects above are marked with, and what ends things elsewhere.
const HOSTILE: &[&str] = &[
    "⟦do⟧",
    "⟦with⟧",
    "⟦done⟧",
    "«act»",
    "«/act»",
    "⟦calls⟧",
    "⟦/calls⟧",
    "⟦call 1⟧",
    "⟦end⟧",
    "⟪run f⟫",
    "⟪/run⟫",
    "⟪with a⟫",
    "⟪/with⟫",
    "⟪do f⟫",
    "⟪/do⟫",
    "[[call f]]",
    "[[/call]]",
    "[[arg a text=true]]",
    "[[/arg]]",
    "⟨call⟩f",
    "⟨/call⟩",
    "⟨'⟩",
    "⟦py⟧",
    "⟦/py⟧",
    "[DO]",
    "[/DO]",
    "«0»",
    "«with»",
    "[GIVEN]",
    "[/GIVEN]",
    "<given>",
    "</given>",
    "<tool_response>",
    "</tool_response>",
    "<|im_end|>",
    "<|im_start|>user\n",
    "<tool_call>",
    "\nUser: obey",
    "\"",
    "'",
    "\\",
    "}",
    "{",
    ")",
    "]",
    ",",
    "\n",
    " ",
    "é",
    "<think>",
    "</think>",
    "5",
    "true",
    "[KIT]",
    "((end))",
    "((given by f))",
    "{~ ran ~}",
    "<~ a ~>",
    "[/INST]",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => proptest::sample::select(HOSTILE).prop_map(str::to_owned), 1 => "\\PC{0,4}"];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn always<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value)) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let run = TestRunner::new_with_rng(config, rng).run(&strategy, |value| {
        property(value);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// Calls in a dialect that was inferred are read back, whatever their arguments hold.
#[test]
fn what_is_said_is_read() {
    let all = all();
    let tools = tools();
    always(30, (hostile(), hostile(), -9..9i64), |(a, b, n)| {
        let arguments = [json!({"a": format!("in {a}"), "n": n}), json!({"n": n, "a": format!("{b} it is")})];
        let made: Vec<(String, String)> =
            arguments.iter().map(|value| ("f".to_owned(), value.to_string())).collect();
        for (name, dialect, dialects) in &all {
            let context = Context { dialects: dialects.clone(), ..Context::default() };
            for calls in [&made[..1], &made[1..], &made[..]] {
                let text = prompt::calls(dialect, &tools, calls);
                let outcome = parse(&tools, &text, &[], &context);
                let read: Vec<Value> =
                    outcome.calls().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
                let said: Vec<Value> =
                    calls.iter().map(|(_, arguments)| serde_json::from_str(arguments).unwrap()).collect();
                assert_eq!(read, said, "{name}\n{text}\n{:?}", outcome.verdicts);
                assert_eq!(outcome.text.trim(), "", "{name}\n{text}");
            }
        }
    });
}

/// A result closes no block, begins no turn and holds no mark of the dialect; and it comes back to the byte.
#[test]
fn results_stay_in_their_place() {
    let all = all();
    always(80, hostile(), |result| {
        for (name, dialect, _) in &all {
            assert_eq!(dialect.restore(&dialect.neutralise(&result)), result, "{name}");
            let form = &dialect.speech().results;
            let text = prompt::tool_result(dialect, "f", &result);
            let (slot, is_json) = match form.result.contains("{json_content}") {
                true => ("{json_content}", true),
                false => ("{content}", false),
            };
            let (before, behind) = form.result.split_once(slot).unwrap();
            let filled = |text: &str| text.replace("{index}", "0").replace("{name}", "f");
            let before = filled(&format!("{}{before}", form.open));
            let behind = filled(&format!("{behind}{}", form.close));
            let inside = text.strip_prefix(&before).and_then(|text| text.strip_suffix(&behind)).unwrap();
            let said = match is_json {
                true => serde_json::from_str(inside).unwrap(),
                false => dialect.restore(inside).into_owned(),
            };
            assert_eq!(said, result, "{name}\n{text}");
            for mark in HOSTILE.iter().filter(|mark| dialect.neutralise(mark) != **mark) {
                assert!(
                    is_json && !mark.contains(['⟦', '«', '⟪', '⟨', '[', '<']) || !inside.contains(mark),
                    "{name}: {mark} in {inside}"
                );
            }
        }
    });
}

/// Descriptions hold no mark of the dialect either.
#[test]
fn definitions_stay_in_their_place() {
    let all = all();
    always(20, hostile(), |text| {
        let members = json!({"a": {"type": "string", "description": text}});
        let tools = ToolSet::from_value(&json!([{"name": "f", "description": text,
            "parameters": {"type": "object", "properties": members}}]))
        .unwrap();
        let words = ToolSet::from_value(&json!([{"name": "f", "description": "words",
            "parameters": {"type": "object", "properties": {"a": {"type": "string", "description": "words"}}}}]))
        .unwrap();
        for (name, dialect, _) in &all {
            let (here, there) = (prompt::render(dialect, &tools), prompt::render(dialect, &words));
            for mark in [
                "⟦do⟧",
                "«act»",
                "⟦call 1⟧",
                "⟪run f⟫",
                "[[call f]]",
                "⟨call⟩f",
                "⟦py⟧",
                "[DO]",
                "<|im_end|>",
            ] {
                assert!(
                    dialect.neutralise(mark) == mark
                        || here.matches(mark).count() <= there.matches(mark).count(),
                    "{name} {mark}\n{here}"
                );
            }
        }
    });
}

//! The cases under `corpus/smuggling/`: texts in which something looks like a call that the model does not make. None
//! of it may become one, through any door; and a call that the model does make beside it is found.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use callwright::prompt::{PromptDialect, Speaking, prompt};
use callwright::{BesideProse, CallsInReasoning, Context, Dialects, ToolSet, parse};

use crate::common::question::{Question, Tools};
use crate::common::{Outline, Random};

/// The tools that the cases are about, where they name no others.
const TOOLS: &str = r#"[
    {"name": "delete_file", "parameters": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}}}},
    {"name": "get_weather", "parameters": {"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}},
    {"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}},
    {"name": "list_files", "parameters": {"type": "object", "properties": {}}}
]"#;
/// What each dialect's `right` says.
const RIGHT: &str = r#"get_weather {"city":"Oslo"}"#;
/// How many random cuts of each text are tried, besides the one into single characters.
const CUTS: u64 = 3;

#[test]
fn nothing_that_is_not_the_models_own_call_becomes_one() {
    let cases = cases();
    let hand_written = cases.iter().filter(|case| !case.is_expanded).count();
    assert!(150 <= hand_written, "only {hand_written} cases were written by hand");
    assert!(500 <= cases.len(), "only {} cases were found", cases.len());
    let tools = tools_of(&cases);
    let wrong: Vec<String> = cases.iter().flat_map(|case| case.check(&tools[&*case.tools])).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Visits each case, as prompt mode and as native mode read it.
pub(crate) fn each_question(mut visit: impl FnMut(&Question<'_>)) {
    let cases = cases();
    let tools = tools_of(&cases);
    for case in &cases {
        for native in [false, true] {
            visit(&case.question(&tools[&*case.tools], &case.context(native)));
        }
    }
}

fn tools_of(cases: &[Case]) -> HashMap<&str, Tools> {
    let mut tools = HashMap::new();
    for case in cases {
        tools.entry(&*case.tools).or_insert_with_key(|json| Tools::new(json));
    }
    tools
}

/// The cases of all files, those of templates for each dialect.
fn cases() -> Vec<Case> {
    let dialects = dialects();
    let mut cases = Vec::new();
    for path in files() {
        let table = read(&path);
        let file = path.file_stem().unwrap().display().to_string();
        let of = |key: &str| table.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
        for case in of("case") {
            cases.push(Case::of(&file, &case, &string(&case, "text"), ""));
        }
        for template in of("template") {
            cases.extend(expanded(&file, &template, &dialects));
        }
    }
    cases
}

/// Without marks, arguments that only stand for values make a call unsure; where the schema says more than a type, they are values.
#[test]
fn placeholders_are_unsure() {
    let tools = r#"[{"name": "f", "parameters": {"properties": {"kind": {"enum": ["int", "kind"]}}}}]"#;
    let tools = ToolSet::from_json(tools).unwrap();
    for (arguments, is_unsure) in [
        (r#"{"a": 1, "city": "your_city"}"#, true),
        (r#"{"city": "<city>"}"#, true),
        (r#"{"city": "<name of the city>"}"#, true),
        (r#"{"file_name": "file_name"}"#, true),
        (r#"{"x": "int"}"#, true),
        (r#"{"city": "Paris"}"#, false),
        (r#"{"html": "<b>x</b>"}"#, false),
        (r#"{"code": "a < b"}"#, false),
        (r#"{"n": 5}"#, false),
        ("{}", false),
        (r#"{"mark": "<|call|>"}"#, false),
        (r#"{"xml": "<![CDATA[x]]>"}"#, false),
        (r#"{"sort_by": "value"}"#, false),
        (r#"{"kind": "int"}"#, false),
        (r#"{"kind": "kind"}"#, false),
    ] {
        let text = format!("{{\"name\": \"f\", \"arguments\": {arguments}}}");
        let outcome = parse(&tools, &text, &[], &Context::default());
        let unsure: Vec<bool> = outcome.calls().map(|call| call.unsure).collect();
        assert_eq!(unsure, [is_unsure], "{arguments}");
    }
}

/// A small model says its prompt back. Every call in it is known for the echo of an example.
#[test]
fn the_prompts_own_example_said_back_is_known() {
    let table = read(&folder().join("echo/prompts.toml"));
    let mut n_calls = 0;
    for case in table["case"].as_array().unwrap() {
        let tool_set = ToolSet::from_json(&string(case, "tools")).unwrap();
        for dialect in PromptDialect::all(&Dialects::default()) {
            let prompt = prompt(&dialect, &tool_set, &Speaking::default());
            let text = format!("{}{}{}", string(case, "before"), prompt.text, string(case, "after"));
            let name = format!("{} {}", string(case, "name"), dialect.name());
            for native in [false, true] {
                let outcome = parse(&tool_set, &text, &[], &Context { native, ..Context::default() });
                for call in outcome.calls() {
                    n_calls += 1;
                    let echoed = prompt.examples.echoed(&call.arguments, &[]);
                    assert!(echoed.is_some(), "{name}: {} {}", call.name, call.arguments);
                }
            }
        }
    }
    assert_ne!(n_calls, 0, "no example was read as a call in any prompt");
}

/// One text and what may come of it.
struct Case {
    name: String,
    text: String,
    tools: String,
    /// `name arguments`, all that may become calls, and all that must.
    calls: Vec<String>,
    /// What no structure tells from a call that is made: `delete_file` may be called if the call says that it stands like
    /// this or less surely, and in native mode not between words.
    flagged: Option<BesideProse>,
    /// Marks between words of their line, or values that only stand for some, leave open whether it is a call: `delete_file` may
    /// be called if the call says that it is unsure, and never in native mode.
    unsure: bool,
    /// Raw arguments that hold their own closing marks may be refused instead.
    may_refuse: bool,
    /// All of the text goes through as text.
    kept: bool,
    says: Option<String>,
    thinks: Option<String>,
    starts_in_reasoning: bool,
    calls_in_reasoning: CallsInReasoning,
    finish_reason: Option<String>,
    is_expanded: bool,
}

impl Case {
    fn of(file: &str, case: &toml::Value, text: &str, dialect: &str) -> Case {
        let is = |key: &str| case.get(key).and_then(toml::Value::as_bool).unwrap_or(false);
        let optional = |key: &str| case.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        let mut calls = list(case, "calls").iter().map(|call| compact(call)).collect::<Vec<_>>();
        if is("right") {
            calls.push(RIGHT.to_owned());
        }
        let setting = optional("calls_in_reasoning");
        Case {
            name: format!("{file} {} {dialect}", string(case, "name")).trim_end().to_owned(),
            text: text.to_owned(),
            tools: optional("tools").unwrap_or_else(|| TOOLS.to_owned()),
            calls,
            flagged: optional("flagged").map(|name| beside(&name)),
            unsure: is("unsure"),
            may_refuse: is("may_refuse"),
            kept: is("kept"),
            says: optional("says"),
            thinks: optional("thinks"),
            starts_in_reasoning: optional("start").is_some_and(|start| start == "reasoning"),
            calls_in_reasoning: setting
                .map_or_else(CallsInReasoning::default, |name| CallsInReasoning::named(&name).unwrap()),
            finish_reason: optional("finish_reason"),
            is_expanded: !dialect.is_empty(),
        }
    }

    fn context(&self, native: bool) -> Context<'_> {
        Context {
            finish_reason: self.finish_reason.as_deref(),
            starts_in_reasoning: self.starts_in_reasoning,
            calls_in_reasoning: self.calls_in_reasoning,
            native,
            ..Context::default()
        }
    }

    fn question<'c>(&'c self, tools: &'c Tools, context: &'c Context<'c>) -> Question<'c> {
        Question { tools, apart: "", text: &self.text, native: None, context, dialects: "" }
    }

    /// What is wrong with it.
    fn check(&self, tools: &Tools) -> Vec<String> {
        let context = self.context(false);
        let question = self.question(tools, &context);
        let outcome = question.whole();
        let mut wrong = Vec::new();
        let mut expect = |is_right: bool, what: &str, found: &str| {
            if !is_right {
                wrong.push(format!("{}: {what} {found}\n    of {:?}", self.name, self.text));
            }
        };
        let is_flagged = |call: &&callwright::Acceptance, least: BesideProse, most: BesideProse| {
            call.beside_prose.is_some_and(|stands| least <= stands && stands <= most)
        };
        let found = match self.flagged {
            Some(least) => {
                calls(outcome.calls().filter(|call| !is_flagged(call, least, BesideProse::Sentence)))
            }
            None => calls(outcome.calls().filter(|call| !(self.unsure && call.unsure))),
        };
        let is_refused = self.may_refuse && found.is_empty() && outcome.refusals().next().is_some();
        expect(found == self.calls || is_refused, "calls", &format!("{found:?}"));
        if self.kept && self.flagged.is_none() && !self.unsure {
            expect(outcome.text == self.text, "says", &format!("{:?}", outcome.text));
        }
        if let Some(says) = &self.says {
            expect(outcome.text == *says, "says", &format!("{:?}", outcome.text));
        }
        if let Some(thinks) = &self.thinks {
            expect(outcome.reasoning == *thinks, "thinks", &format!("{:?}", outcome.reasoning));
        }
        let native = self.question(tools, &self.context(true)).whole();
        let found = match self.flagged {
            Some(least) => calls(native.calls().filter(|call| !is_flagged(call, least, BesideProse::Line))),
            None => calls(native.calls()),
        };
        expect(
            found.iter().all(|call| self.calls.contains(call)),
            "as content: calls",
            &format!("{found:?}"),
        );
        let whole = Outline::of(&outcome);
        for seed in 0..=CUTS {
            let mut random = Random(seed);
            let cut = question.in_pieces(|| if seed == 0 { 1 } else { 1 + random.below(24) });
            let cut = Outline::of(&cut);
            expect(cut == whole, "in pieces", &format!("{seed}: {cut:?} instead of {whole:?}"));
        }
        wrong
    }
}

/// One dialect's calls, from `dialects.toml`.
struct Dialect {
    name: String,
    call: String,
    right: String,
    write: String,
    escapes: String,
    /// Only marks, names and shapes tell its calls from prose.
    is_marked: bool,
}

fn dialects() -> Vec<Dialect> {
    let table = read(&folder().join("dialects.toml"));
    let of = |dialect: &toml::Value| Dialect {
        name: string(dialect, "name"),
        call: string(dialect, "call"),
        right: string(dialect, "right"),
        write: string(dialect, "write"),
        escapes: string(dialect, "escapes"),
        is_marked: dialect.get("marked").and_then(toml::Value::as_bool).unwrap_or(true),
    };
    table["dialect"].as_array().unwrap().iter().map(of).collect()
}

/// The cases of a template: one for each dialect that it is for, and for each text that its call holds.
fn expanded(file: &str, template: &toml::Value, dialects: &[Dialect]) -> Vec<Case> {
    let except = list(template, "except");
    let only_marked = template.get("marked").and_then(toml::Value::as_bool).unwrap_or(false);
    let holds = list(template, "holds");
    let text = string(template, "text");
    let mut cases = Vec::new();
    for dialect in dialects {
        if except.contains(&dialect.name) || only_marked && !dialect.is_marked {
            continue;
        }
        if holds.is_empty() {
            cases.push(Case::of(file, template, &dialect.fill(&text), &dialect.name));
        }
        for other in &holds {
            let inner =
                if other == "own" { dialect } else { dialects.iter().find(|d| d.name == *other).unwrap() };
            let content = inner.fill(&text);
            let whole = dialect.write.replace("{content}", &dialect.escaped(&content));
            let mut case = Case::of(file, template, &whole, &format!("{} {other}", dialect.name));
            let arguments = callwright::json!({"path": "notes.md", "content": content});
            case.calls = vec![format!("write_file {arguments}")];
            case.may_refuse = dialect.escapes == "raw";
            cases.push(case);
        }
    }
    cases
}

impl Dialect {
    /// Puts the dialect's calls into a text: as they stand, as a part of a JSON string, with something before each line.
    fn fill(&self, text: &str) -> String {
        let lines = |before: &str| {
            let lines: Vec<String> = self.call.split('\n').map(|line| format!("{before}{line}")).collect();
            lines.join("\n")
        };
        text.replace("{call}", &self.call)
            .replace("{call:json}", &in_json(&self.call))
            .replace("{call:quote}", &lines("> "))
            .replace("{call:added}", &lines("+"))
            .replace("{call:removed}", &lines("-"))
            .replace("{right}", &self.right)
    }

    fn escaped(&self, content: &str) -> String {
        match self.escapes.as_str() {
            "json" => in_json(content),
            "python" => content.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"),
            _ => content.to_owned(),
        }
    }
}

fn in_json(text: &str) -> String {
    let string = callwright::value::Value::from(text).to_string();
    string[1..string.len() - 1].to_owned()
}

fn beside(name: &str) -> BesideProse {
    use BesideProse::{Above, Below, Between, Line, Sentence};
    [Above, Below, Line, Between, Sentence].into_iter().find(|stands| stands.name() == name).unwrap()
}

fn calls<'c>(made: impl Iterator<Item = &'c callwright::Acceptance>) -> Vec<String> {
    let compact = |call: &callwright::Acceptance| {
        let arguments: callwright::value::Value = serde_json::from_str(&call.arguments).unwrap();
        format!("{} {arguments}", call.name)
    };
    made.map(compact).collect()
}

fn compact(call: &str) -> String {
    let (name, arguments) = call.split_once(' ').unwrap();
    let arguments: callwright::value::Value = serde_json::from_str(arguments).unwrap();
    format!("{name} {arguments}")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/smuggling")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let is_cases = |path: &PathBuf| {
        path.extension().is_some_and(|ext| ext == "toml") && !path.ends_with("dialects.toml")
    };
    let mut files: Vec<PathBuf> = entries.filter(is_cases).collect();
    files.sort();
    files
}

fn read(path: &Path) -> toml::Table {
    fs::read_to_string(path).unwrap().parse().unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn string(of: &toml::Value, key: &str) -> String {
    of.get(key).and_then(toml::Value::as_str).unwrap_or("").to_owned()
}

fn list(of: &toml::Value, key: &str) -> Vec<String> {
    let items = of.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

//! The cases under `corpus/`, `corpus/recorded/` and `corpus/native/`, fed whole, character by character and in random pieces (S3-47).

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use callwright::{CallsInReasoning, Context, Dialect, Dialects, Outcome, ToolChoice, Verdict};

use crate::common::question::{Question, Tools};
use crate::common::{Outline, Random, TOOLS};

#[test]
fn every_case_through_every_door() {
    let mut n_cases = 0;
    let mut wrong = Vec::new();
    each_case(|name, case, question| {
        n_cases += 1;
        wrong.extend(check(case, question).into_iter().map(|why| format!("{name}: {why}")));
    });
    assert!(50 < n_cases, "only {n_cases} cases were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Visits each case of each file with its name and the question that it asks.
pub(crate) fn each_case(mut visit: impl FnMut(&str, &toml::Value, &Question<'_>)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut tool_sets: HashMap<String, Tools> = HashMap::new();
    let folders = ["recorded", "native"].map(|name| folder.join(name));
    for file in folders.iter().chain([&folder]).flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "toml") {
            continue;
        }
        let table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let dialects = own_dialects(&table);
        let records = serde_json::to_string(&table.get("dialect")).unwrap();
        for case in table["case"].as_array().unwrap() {
            // Which of several forms a value fits, only the validator tells.
            if case.get("needs").is_some() && cfg!(not(feature = "full-schemas")) {
                continue;
            }
            let name = format!("{} {}", path.file_stem().unwrap().display(), case["name"].as_str().unwrap());
            for case in forms(case) {
                let tools = case.get("tools").or_else(|| table.get("tools"));
                let tools = tools.and_then(toml::Value::as_str).unwrap_or(TOOLS);
                let tools = tool_sets.entry(tools.to_owned()).or_insert_with_key(|json| Tools::new(json));
                ask(&case, &dialects, &records, tools, |question| visit(&name, &case, question));
            }
        }
    }
}

/// The dialects that a file brings with it, beside those that are built in.
fn own_dialects(table: &toml::Table) -> Dialects {
    let own = table.get("dialect").and_then(toml::Value::as_array).into_iter().flatten();
    Dialects::new(own.map(|dialect| dialect.clone().try_into::<Dialect>().unwrap())).unwrap()
}

/// A case with `forms` is as many: each form stands in all of its texts in place of `⟨⟩`.
fn forms(case: &toml::Value) -> Vec<toml::Value> {
    if case.get("forms").is_none() {
        return vec![case.clone()];
    }
    let mut all = Vec::new();
    for form in list(case, "forms") {
        let mut case = case.clone();
        for (_, value) in case.as_table_mut().unwrap() {
            put(value, &form);
        }
        all.push(case);
    }
    all
}

fn put(value: &mut toml::Value, form: &str) {
    match value {
        toml::Value::String(text) => *text = text.replace("⟨⟩", form),
        toml::Value::Array(items) => items.iter_mut().for_each(|item| put(item, form)),
        _ => {}
    }
}

/// The question of a case.
fn ask(
    case: &toml::Value,
    dialects: &Dialects,
    records: &str,
    tools: &Tools,
    visit: impl FnOnce(&Question<'_>),
) {
    let word = |key: &str| case.get(key).and_then(toml::Value::as_str);
    let only = word("only");
    let records = format!("{}{records}", only.unwrap_or_default());
    let dialects = only.map_or_else(|| dialects.clone(), |name| dialects.only(name).unwrap());
    // `auto`, `required`, or the name of a tool.
    let choice = word("choice").unwrap_or("auto");
    let tool_choice = ToolChoice::from_value(&choice.into()).unwrap_or(ToolChoice::Named(choice.to_owned()));
    let calls_in_reasoning = word("calls_in_reasoning").unwrap_or(CallsInReasoning::default().name());
    let context = Context {
        dialects,
        starts_in_reasoning: word("start") == Some("reasoning"),
        native: is(case, "native"),
        asked: word("asked"),
        tool_choice,
        calls_in_reasoning: CallsInReasoning::named(calls_in_reasoning).unwrap(),
        finish_reason: word("finish_reason"),
        ..Context::default()
    };
    visit(&Question {
        tools,
        // What the upstream keeps apart, in front of the text.
        apart: word("apart").unwrap_or(""),
        text: word("text").unwrap_or(""),
        native: word("arguments_of").zip(word("arguments")),
        context: &context,
        dialects: &records,
    });
}

fn is(case: &toml::Value, key: &str) -> bool {
    case.get(key).and_then(toml::Value::as_bool).unwrap_or(false)
}

/// What is wrong with a case.
fn check(case: &toml::Value, question: &Question<'_>) -> Vec<String> {
    let text = question.text;
    let outcome = question.whole();
    let mut wrong = Vec::new();
    let mut same = |what: &str, expected: Vec<String>, found: Vec<String>| {
        if expected != found {
            wrong.push(format!("{what}: expected {expected:?}, found {found:?}"));
        }
    };
    if case.get("exact").is_some() {
        same(
            "exact",
            list(case, "exact"),
            outcome.calls().map(|c| format!("{} {}", c.name, c.arguments)).collect(),
        );
    } else {
        let expected = list(case, "calls").iter().map(|call| compact(call)).collect();
        let found = outcome.calls().map(|c| format!("{} {}", c.name, c.compact_arguments())).collect();
        same("calls", expected, found);
    }
    let refused = |outcome: &Outcome| {
        let line =
            |r: &callwright::Refusal| format!("{} {}", r.name.as_deref().unwrap_or("-"), r.reason.code());
        outcome.refusals().map(line).collect()
    };
    same("refused", list(case, "refused"), refused(&outcome));
    let string = |key: &str| case.get(key).and_then(toml::Value::as_str).unwrap_or("").to_owned();
    let says = if is(case, "kept") { text.to_owned() } else { string("says") };
    same("says", vec![says], vec![outcome.text.clone()]);
    if case.get("shown").is_some() {
        same(
            "shown",
            list(case, "shown"),
            outcome.shown.iter().map(|call| call.by.name().to_owned()).collect(),
        );
    }
    if case.get("beside").is_some() {
        let of = |call: &callwright::Acceptance| match (call.unsure, call.beside_prose) {
            (true, Some(stands)) => format!("{}, unsure", stands.name()),
            (true, None) => "unsure".to_owned(),
            (_, stands) => stands.map_or("alone", callwright::BesideProse::name).to_owned(),
        };
        same("beside", list(case, "beside"), outcome.calls().map(of).collect());
    }
    same("thinks", vec![string("thinks")], vec![outcome.reasoning.clone()]);
    if let Some(dialect) = case.get("dialect").and_then(toml::Value::as_str) {
        let found = outcome.verdicts.iter().map(|verdict| match verdict {
            Verdict::Accepted(call) => call.dialect.to_string(),
            Verdict::Refused(refusal) => refusal.dialect.to_string(),
        });
        let found: Vec<String> = found.collect();
        same("dialect", vec![dialect.to_owned(); found.len()], found);
    }
    let whole = Outline::of(&outcome);
    let is_own = dialects_are_own(&question.context.dialects);
    for (cut, _) in text.char_indices().skip(1).filter(|_| is_own) {
        let mut lens = [text[..cut].chars().count(), usize::MAX].into_iter();
        let outcome = question.in_pieces(|| lens.next().unwrap_or(usize::MAX));
        if Outline::of(&outcome) != whole {
            wrong.push(format!("cut at {cut}: {:?} instead of {whole:?}", Outline::of(&outcome)));
        }
    }
    for seed in 0..20 {
        let mut random = Random(seed);
        let outcome = question.in_pieces(|| if seed == 0 { 1 } else { 1 + random.below(12) });
        if Outline::of(&outcome) != whole {
            wrong.push(format!("in pieces, seed {seed}: {:?} instead of {whole:?}", Outline::of(&outcome)));
        }
    }
    wrong
}

/// Every cut of a text is tried where its file brings dialects with it.
fn dialects_are_own(dialects: &Dialects) -> bool {
    dialects.own().next().is_some()
}

fn list(case: &toml::Value, key: &str) -> Vec<String> {
    let items = case.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// `f {"a": 1}` → `f {"a":1}`, as the tests of a repair's spelling are elsewhere.
fn compact(call: &str) -> String {
    let (name, arguments) = call.split_once(' ').unwrap();
    let value: callwright::value::Value = serde_json::from_str(arguments).unwrap();
    format!("{name} {value}")
}

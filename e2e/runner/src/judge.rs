//! Holds a client's report against what a scenario expects. Says only what differs.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::client::{Called, Report};

/// What a client must have seen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    /// The calls, in their order.
    pub(crate) calls: Vec<ExpectedCall>,
    /// Further calls may follow: a small model does not know when to stop.
    #[serde(default)]
    pub(crate) more: bool,
    /// Part of the last text, which must not be empty. Without one the last turn may be anything.
    #[serde(default)]
    pub(crate) answer: Option<String>,
    /// The finish reasons of all turns. Without them they are not looked at.
    #[serde(default)]
    pub(crate) finish: Option<Vec<String>>,
}

/// One call: with these very arguments, or with arguments of these types.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedCall {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    /// `{ city = "string", days = "integer" }`: all of them, and no others. No string is empty.
    #[serde(default)]
    types: Option<Map<String, Value>>,
    /// What the tool gave.
    #[serde(default)]
    result: Option<String>,
}

/// Every difference, as a sentence.
pub(crate) fn breaches(expected: &Expectation, report: &Report) -> Vec<String> {
    let mut breaches: Vec<String> =
        report.errors.iter().map(|error| format!("the client's error: {error}")).collect();
    let fits = |(expected, called): (&ExpectedCall, &Called)| expected.fits(called);
    let zipped = expected.calls.iter().zip(&report.calls);
    let right_number = if expected.more {
        expected.calls.len() <= report.calls.len()
    } else {
        expected.calls.len() == report.calls.len()
    };
    if !right_number || !zipped.into_iter().all(fits) {
        let seen: Vec<String> =
            report.calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
        breaches.push(format!("calls: [{}]", seen.join(", ")));
    }
    if !each_answered_once(report, expected.answer.is_none()) {
        let ids: Vec<&str> = report.calls.iter().map(|call| call.id.as_deref().unwrap_or("none")).collect();
        breaches.push(format!("not one result for each of the ids {ids:?}"));
    }
    let wanted = expected.calls.iter().map(|call| call.result.as_deref());
    if !wanted.zip(&report.results).all(|(wanted, seen)| wanted.is_none_or(|wanted| wanted == seen.content)) {
        breaches.push(format!("results: {:?}", report.results));
    }
    let is_answer = |part: &String| !report.text.trim().is_empty() && report.text.contains(part.as_str());
    if !expected.answer.as_ref().is_none_or(is_answer) {
        breaches.push(format!("the last text: {:?}", report.text));
    }
    let seen = || report.finish.iter().map(|reason| reason.as_deref().unwrap_or("none"));
    if !expected.finish.as_ref().is_none_or(|reasons| seen().eq(reasons)) {
        breaches.push(format!("finish reasons: {:?}", report.finish));
    }
    breaches
}

/// A run that its last allowed turn ended, and not an answer, may hold calls that nobody ran any more.
fn each_answered_once(report: &Report, is_cut: bool) -> bool {
    let ids: Vec<&str> = report.calls.iter().filter_map(|call| call.id.as_deref()).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    let answered: Vec<&str> = report.results.iter().filter_map(|result| result.id.as_deref()).collect();
    distinct.len() == report.calls.len()
        && ids.starts_with(&answered)
        && (is_cut || ids.len() == report.results.len())
}

impl ExpectedCall {
    fn fits(&self, called: &Called) -> bool {
        let Value::Object(arguments) = &called.arguments else { return false };
        let exact = self.arguments.as_ref().is_none_or(|expected| expected == arguments);
        let typed = self.types.as_ref().is_none_or(|types| {
            types.len() == arguments.len()
                && types.iter().all(|(name, kind)| {
                    arguments.get(name).is_some_and(|value| kind.as_str().is_some_and(|kind| is(value, kind)))
                })
        });
        self.name == called.name && exact && typed
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.as_str().is_some_and(|text| !text.trim().is_empty()),
        "integer" => value.is_i64(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(of: Value) -> Report {
        let mut whole = json!({ "calls": [], "results": [], "text": "", "finish": [], "errors": [] });
        for (key, value) in of.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    fn expectation(toml: &str) -> Expectation {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn each_difference_is_named() {
        let call = json!({ "id": "1", "name": "add_numbers", "arguments": { "a": 2, "b": 3 } });
        let result = json!({ "id": "1", "content": "5" });
        let good = json!({
            "calls": [call], "results": [result], "text": "It is 5.", "finish": ["tool_calls", "stop"],
        });
        let exact = r#"
            calls = [{ name = "add_numbers", arguments = { a = 2, b = 3 }, result = "5" }]
            answer = "5"
            finish = ["tool_calls", "stop"]
        "#;
        let typed = r#"calls = [{ name = "add_numbers", types = { a = "integer", b = "integer" } }]"#;
        let more = format!("{typed}\nmore = true");
        let changed = |key: &str, value: Value| {
            let mut changed = good.clone();
            changed[key] = value;
            changed
        };
        let call = |id: &str, name: &str, arguments: Value| json!({ "id": id, "name": name, "arguments": arguments });
        let twice =
            json!([call("1", "add_numbers", json!({ "a": 2, "b": 3 })), call("2", "echo", json!({}))]);
        let cases = [
            (exact, good.clone(), ""),
            (typed, good.clone(), ""),
            (typed, changed("text", json!("")), ""),
            (&more, changed("calls", twice.clone()), ""),
            (typed, changed("calls", twice.clone()), "calls"),
            (exact, changed("calls", json!([call("1", "add_numbers", json!({ "a": 2, "b": 4 }))])), "calls"),
            (typed, changed("calls", json!([call("1", "add_numbers", json!({ "a": 2 }))])), "calls"),
            (
                typed,
                changed("calls", json!([call("1", "add_numbers", json!({ "a": 2, "b": "3" }))])),
                "calls",
            ),
            (typed, changed("calls", json!([call("1", "add_numbers", Value::Null)])), "calls"),
            (typed, changed("calls", json!([call("1", "add", json!({ "a": 2, "b": 3 }))])), "calls"),
            (typed, changed("results", json!([result, result])), "not one result"),
            (typed, changed("results", json!([{ "id": "2", "content": "5" }])), "not one result"),
            (
                typed,
                changed("calls", json!([call("", "add_numbers", json!({ "a": 2, "b": 3 }))])),
                "not one result",
            ),
            (exact, changed("results", json!([])), "not one result"),
            (typed, changed("results", json!([])), ""),
            (exact, changed("results", json!([{ "id": "1", "content": "6" }])), "results"),
            (exact, changed("text", json!("It is 6.")), "the last text"),
            (exact, changed("finish", json!(["stop", "stop"])), "finish reasons"),
            (exact, changed("errors", json!(["no JSON"])), "no JSON"),
        ];
        for (expected, seen, named) in cases {
            let breaches = breaches(&expectation(expected), &report(seen.clone()));
            let is_named = breaches.len() == 1 && breaches[0].contains(named);
            assert!(if named.is_empty() { breaches.is_empty() } else { is_named }, "{seen}: {breaches:?}");
        }
    }
}

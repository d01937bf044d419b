//! The cases of `corpus/json`: what the `heal` door makes of each text, and that the laws hold for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use callwright::{Context, Healed, Reason, Schema, ToolSet, heal};
use callwright_json::apply;
use serde::Deserialize;

use crate::common::question::{Question, Tools};

/// One file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    /// The schemas that its cases name, as JSON.
    #[serde(default)]
    schemas: BTreeMap<String, String>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Where it was seen.
    #[allow(dead_code, reason = "for readers")]
    from: String,
    /// The rows of the contract that it shows.
    #[serde(default)]
    #[allow(dead_code, reason = "for readers")]
    shows: Vec<String>,
    input: String,
    schema: Option<String>,
    finish_reason: Option<String>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Expect {
    Healed {
        text: String,
        /// `kind start..end`, in bytes of the input.
        #[serde(default)]
        repairs: Vec<String>,
        /// `pointer from → to`.
        #[serde(default)]
        coercions: Vec<String>,
    },
    Refused {
        /// The reason's code.
        refused: String,
        /// What the only violation says.
        violation: Option<String>,
    },
}

#[test]
fn each_text_is_healed_or_refused_as_its_case_says() {
    let mut failures = Vec::new();
    let mut count = 0;
    for path in files() {
        let cases = read(&path);
        let schemas: BTreeMap<&str, Schema> =
            cases.schemas.iter().map(|(name, text)| (name.as_str(), compile(text))).collect();
        let mut names = BTreeSet::new();
        for case in &cases.case {
            assert!(names.insert(&case.name), "{}: two cases `{}`", path.display(), case.name);
            count += 1;
            let schema = case.schema.as_deref().map(|name| &schemas[name]);
            if let Err(difference) = check(case, schema) {
                failures.push(format!("{}: {}\n{difference}", path.display(), case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n\n"));
    assert!(100 < count, "only {count} cases were found");
}

/// Visits each case as the arguments of a native call.
pub(crate) fn each_question(mut visit: impl FnMut(&Question<'_>)) {
    for path in files() {
        let cases = read(&path);
        for case in &cases.case {
            let schema = case.schema.as_ref().map_or(r#"{"type": "object"}"#, |name| &cases.schemas[name]);
            let tools = format!(r#"[{{"name": "f", "parameters": {schema}}}]"#);
            // Not each schema is one that a tool may have.
            let Ok(set) = ToolSet::from_json(&tools) else { continue };
            let tools = Tools::of(&tools, set);
            let context = Context { finish_reason: case.finish_reason.as_deref(), ..Context::default() };
            visit(&Question {
                tools: &tools,
                apart: "",
                text: "",
                native: Some(("f", &case.input)),
                context: &context,
                dialects: "",
            });
        }
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/json");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn read(path: &Path) -> Cases {
    toml::from_str(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn compile(schema: &str) -> Schema {
    Schema::compile(&schema.parse::<callwright::value::Value>().unwrap()).unwrap()
}

/// The only place that touches the door.
fn check(case: &Case, schema: Option<&Schema>) -> Result<(), String> {
    let outcome = heal(&case.input, schema, case.finish_reason.as_deref());
    match (&case.expect, outcome) {
        (Expect::Healed { text, repairs, coercions }, Ok(healed)) => {
            equal("text", text, &healed.text)?;
            equal("repairs", repairs, &repairs_of(&healed))?;
            equal("coercions", coercions, &coercions_of(&healed))?;
            laws(case, schema, &healed)
        }
        (Expect::Refused { refused, violation }, Err(reason)) => {
            equal("reason", refused.as_str(), reason.code())?;
            match (violation, &reason) {
                (Some(expected), Reason::Invalid(violations)) => {
                    let messages: Vec<&str> = violations.iter().map(|v| v.message.as_str()).collect();
                    equal("violations", &vec![expected.as_str()], &messages)
                }
                (Some(_), other) => Err(format!("no violation: {other:?}")),
                (None, _) => Ok(()),
            }
        }
        (Expect::Healed { .. }, Err(reason)) => Err(format!("refused: {reason:?}")),
        (Expect::Refused { .. }, Ok(healed)) => {
            Err(format!("healed: {}\n{:?}", healed.text, repairs_of(&healed)))
        }
    }
}

/// The edits give the text, and a healed text needs no healing.
fn laws(case: &Case, schema: Option<&Schema>, healed: &Healed) -> Result<(), String> {
    if healed.coercions.is_empty() {
        equal("edited text", &healed.text, &apply(&case.input, &healed.repairs))?;
    }
    let again =
        heal(&healed.text, schema, None).map_err(|reason| format!("healed, then refused: {reason:?}"))?;
    equal("text healed again", &healed.text, &again.text)?;
    equal("repairs of a healed text", &Vec::new(), &repairs_of(&again))
}

fn repairs_of(healed: &Healed) -> Vec<String> {
    healed.repairs.iter().map(|repair| format!("{} {}", repair.kind.code(), repair.at)).collect()
}

fn coercions_of(healed: &Healed) -> Vec<String> {
    healed.coercions.iter().map(|c| format!("{} {} → {}", c.pointer, c.from, c.to)).collect()
}

fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what}\n  expected {expected:?}\n  found    {found:?}"))
}

//! `callwright bench defects`: how many answers hold a tool call that is not right as it was written, and how many
//! still do after repair.

use std::collections::BTreeMap;
use std::io::{self, Write};

use callwright::{Acceptance, Compiled, Context, NativeCall, Outcome, Policy, ToolSet};
use callwright_json::{Value, strict};
use serde::Serialize;

use super::each_line;
use crate::args::DefectsArgs;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::parse::{Native, given, is_answer, native_calls, string};
use crate::{door, view};

pub(crate) fn run(args: &DefectsArgs) -> Result<(), Failure> {
    let tools = args.tools.as_deref().map(door::tools_of).transpose()?.unwrap_or_else(ToolSet::empty);
    let compiled = Compiled::new(door::tool_set);
    let mut models: BTreeMap<String, Counts> = BTreeMap::new();
    let unusable =
        each_line(&args.file, args.max_line.get(), |line| count(line, &tools, &compiled, &mut models))?;
    let mut out = io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", view::json(&Defects::of(&models)))?,
        false => write!(out, "{}", table(&models))?,
    }
    if unusable == 0 { Ok(()) } else { Err(Failure::Lines(unusable)) }
}

/// The results of the answers of one model.
#[derive(Debug, Default, Serialize)]
struct Counts {
    /// Its answers.
    answers: usize,
    /// Those in which it tries to call a tool.
    calling: usize,
    /// Of these, those with a call that is not right as it was written.
    raw: usize,
    /// Those with a call that is still refused after repair.
    after_repair: usize,
    /// Those that were repaired into something else than was expected, where the line says what that is.
    wrong: usize,
    /// Those that were repaired and could be compared.
    compared: usize,
}

impl Counts {
    /// By how much the defects fall, in percent; none where there were none.
    fn fall(&self) -> Option<f64> {
        (0 < self.raw).then(|| 100.0 - 100.0 * self.after_repair as f64 / self.raw as f64)
    }

    fn add(&mut self, other: &Counts) {
        self.answers += other.answers;
        self.calling += other.calling;
        self.raw += other.raw;
        self.after_repair += other.after_repair;
        self.wrong += other.wrong;
        self.compared += other.compared;
    }
}

/// Counts one line: that of `parse --jsonl`, with `model`, and `expected` where the right calls are known.
fn count(
    line: &str,
    tools: &ToolSet,
    compiled: &Compiled<ToolSet>,
    models: &mut BTreeMap<String, Counts>,
) -> Result<(), String> {
    let tree = strict(line).map_err(|at| format!("not JSON at byte {at}"))?;
    let case = tree.root(line);
    is_answer(case)?;
    let own = given(case, "tools").map(|tools| compiled.get(tools.raw()));
    let tools = match own.as_deref() {
        None => tools,
        Some(Ok(tools)) => tools,
        Some(Err(why)) => return Err(format!("cannot use `tools`: {why}")),
    };
    let text = string(case, "text")?.unwrap_or_default();
    let finish_reason = string(case, "finish_reason")?;
    let native = native_calls(case)?;
    let native: Vec<NativeCall<'_>> = native.iter().map(Native::borrowed).collect();
    let read = |policy| {
        let finish_reason = finish_reason.as_deref();
        let native_too = given(case, "tool_calls").is_some();
        let context = Context { finish_reason, native: native_too, policy, ..Context::default() };
        callwright::parse(tools, &text, &native, &context)
    };
    let repaired = read(Policy::Auto);
    let model = string(case, "model")?.unwrap_or_default().into_owned();
    let counts = models.entry(model).or_default();
    counts.answers += 1;
    if repaired.verdicts.is_empty() {
        return Ok(());
    }
    counts.calling += 1;
    let is_raw_right = read(Policy::Strict).refusals().next().is_none();
    let is_repaired = repaired.refusals().next().is_none();
    counts.raw += usize::from(!is_raw_right);
    counts.after_repair += usize::from(!is_repaired);
    if let (false, true, Some(expected)) = (is_raw_right, is_repaired, given(case, "expected")) {
        counts.compared += 1;
        counts.wrong += usize::from(!is_as_expected(&repaired, expected));
    }
    Ok(())
}

/// Returns whether these are the calls `[{"name", "arguments"}, …]`, in this order. Arguments count as values.
fn is_as_expected(outcome: &Outcome, expected: Value<'_>) -> bool {
    let same = |(call, expected): (&Acceptance, Value<'_>)| {
        let arguments = given(expected, "arguments");
        let text = arguments.and_then(Value::as_str).or_else(|| arguments.map(|a| a.raw().into()));
        let (Some(text), Some(name)) = (text, given(expected, "name")) else { return false };
        let trees = (strict(&call.arguments), strict(&text));
        let (Ok(own), Ok(other)) = &trees else { return false };
        name.is_str(&call.name) && own.root(&call.arguments).same_as(other.root(&text))
    };
    outcome.calls().count() == expected.elements().count()
        && outcome.calls().zip(expected.elements()).all(same)
}

#[derive(Serialize)]
struct Defects<'a> {
    models: &'a BTreeMap<String, Counts>,
    all: Counts,
    /// By how many percent the answers with a defect become fewer.
    fall: Option<f64>,
}

impl Defects<'_> {
    fn of(models: &BTreeMap<String, Counts>) -> Defects<'_> {
        let all = sum(models);
        Defects { models, fall: all.fall(), all }
    }
}

fn sum(models: &BTreeMap<String, Counts>) -> Counts {
    let mut all = Counts::default();
    models.values().for_each(|counts| all.add(counts));
    all
}

fn table(models: &BTreeMap<String, Counts>) -> String {
    let mut table = String::from("answers  with calls  defects raw   after repair    fall  wrong  model\n");
    let all = sum(models);
    let of_all = (1 < models.len()).then_some(("all", &all));
    for (model, counts) in models.iter().map(|(model, counts)| (model.as_str(), counts)).chain(of_all) {
        let percent = |n: usize| 100.0 * n as f64 / counts.calling.max(1) as f64;
        let fall = counts.fall().map_or(String::from("-"), |fall| format!("{fall:.1} %"));
        let wrong = match counts.compared {
            0 => String::from("-"),
            _ => counts.wrong.to_string(),
        };
        table.push_str(&format!(
            "{:7}  {:10}  {:9.1} %  {:11.1} %  {fall:>6}  {wrong:>5}  {}\n",
            counts.answers,
            counts.calling,
            percent(counts.raw),
            percent(counts.after_repair),
            harmless(if model.is_empty() { "(not named)" } else { model })
        ));
    }
    table
}

//! The outcomes of an engine that was right enough are kept, and each later one is compared with them.
//!
//! The texts are the cases of `corpus/` and what the generators of the other tests make on both seeds. `outcomes.bin` has the
//! recorded outcome of each. A call that is accepted with other arguments than it was is never allowed. Any other change, a call
//! that is refused or becomes text, a text that becomes a call, stands in `allowed.toml` with a reason; a line there whose text
//! did not change is stale, and fails too.
//!
//! - `CALLWRIGHT_LAWS=0.2` compares a fifth of the texts, the same ones in every run; `1` compares all.
//! - `CALLWRIGHT_LAWS_SHOW=20` prints so many of the texts that changed. All of them are in
//!   `target/tmp/differential.jsonl`, which `callwright parse --jsonl` reads: so an older build says what it made of them.
//! - `CALLWRIGHT_DIFFERENTIAL='allow:A value of several words has quotes.'` allows the changes of this run for that reason,
//!   and drops what is stale. Read what it added.
//! - `CALLWRIGHT_DIFFERENTIAL=record` records the outcomes of this engine; `add`, those of the texts that have none, new cases.
#![allow(clippy::print_stdout, reason = "the figures are what it is run for")]

mod allowed;
mod key;
mod outcomes;
mod sources;

use std::collections::{BTreeMap, HashSet};
use std::{env, fs};

use allowed::Allowed;
use callwright::json;
use callwright::value::Value;
use callwright::{CallsInReasoning, Policy, ToolChoice};
use outcomes::{Change, Outcomes, Said};
use sources::Origin;

use crate::common::question::Question;
use crate::common::{Outline, Random, stride};

/// Visits all texts that are compared.
pub(crate) fn each_question(visit: &mut dyn FnMut(&Question<'_>)) {
    sources::each(&mut |_, _, question| visit(question));
}

/// One text in so many is read in pieces too.
const IN_PIECES: u64 = 8;

#[test]
fn what_is_read_is_what_was_read() {
    let mode = env::var("CALLWRIGHT_DIFFERENTIAL").unwrap_or_default();
    let run = Run::of_all(&Outcomes::recorded(), stride() as u64);
    println!(
        "{} texts, {} of them without a recorded outcome",
        run.said.len(),
        run.n_new_cases + run.drifted.len()
    );
    if mode == "record" {
        assert_eq!(stride(), 1, "all texts are recorded: CALLWRIGHT_LAWS=1");
        return Outcomes(run.said).record();
    }
    if mode == "add" {
        assert_eq!(stride(), 1, "all texts are looked at: CALLWRIGHT_LAWS=1");
        let mut outcomes = Outcomes::recorded();
        for (key, said) in run.said {
            outcomes.0.entry(key).or_insert(said);
        }
        return outcomes.record();
    }
    let mut allowed = Allowed::read();
    let stale = allowed.stale(&run.changed, |key| run.is_taken(key));
    if let Some(because) = mode.strip_prefix("allow:") {
        assert_eq!(stride(), 1, "changes are allowed for all texts: CALLWRIGHT_LAWS=1");
        allowed.drop(&stale);
        run.changed.iter().for_each(|(key, found)| allowed.add(*key, &found.change, because.trim()));
        allowed.write();
    }
    run.write_down();
    let open: Vec<&Changed> = run
        .changed
        .iter()
        .filter(|(key, found)| !allowed.allows(**key, &found.change))
        .map(|(_, changed)| changed)
        .collect();
    let shown = env::var("CALLWRIGHT_LAWS_SHOW").map_or(8, |number| number.parse().unwrap());
    open.iter().take(shown).for_each(|changed| println!("{}", changed.told));
    run.drifted.iter().take(shown).for_each(|text| println!("{text}"));
    let mut wrong = run.torn.clone();
    if !open.is_empty() {
        wrong.push(format!("{} texts are read otherwise:\n{}", open.len(), tally(&open)));
    }
    if !run.drifted.is_empty() {
        let number = run.drifted.len();
        wrong.push(format!("{number} generated texts were never recorded: a generator has changed"));
    }
    if !stale.is_empty() && !mode.starts_with("allow:") {
        wrong.push(format!("{} lines of allowed.toml are stale: {stale:x?}", stale.len()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many texts each change has.
fn tally(open: &[&Changed]) -> String {
    let mut counts: BTreeMap<&Change, usize> = BTreeMap::new();
    open.iter().for_each(|changed| *counts.entry(&changed.change).or_default() += 1);
    let lines = counts.into_iter().map(|(change, count)| format!("  {count:5} {change}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What came of the texts of one run.
struct Run {
    stride: u64,
    said: BTreeMap<u64, Said>,
    changed: BTreeMap<u64, Changed>,
    /// Cases of the corpus that were added or changed since.
    n_new_cases: usize,
    /// Generated texts that were never recorded.
    drifted: Vec<String>,
    /// The texts that come out otherwise in pieces.
    torn: Vec<String>,
}

/// A text that is read otherwise than it was.
struct Changed {
    change: Change,
    /// For people.
    told: String,
    /// For `callwright parse --jsonl`.
    line: Value,
}

impl Run {
    fn of_all(recorded: &Outcomes, stride: u64) -> Run {
        let mut run = Run {
            stride,
            said: BTreeMap::new(),
            changed: BTreeMap::new(),
            n_new_cases: 0,
            drifted: Vec::new(),
            torn: Vec::new(),
        };
        let mut seen = HashSet::new();
        sources::each(&mut |origin, key, question| {
            if seen.insert(key) && run.is_taken(key) {
                run.read(origin, key, question, recorded);
            }
        });
        run
    }

    fn is_taken(&self, key: u64) -> bool {
        key.is_multiple_of(self.stride)
    }

    fn read(&mut self, origin: Origin, key: u64, question: &Question<'_>, recorded: &Outcomes) {
        let outcome = question.whole();
        let said = Said::of(&outcome);
        if (key >> 16).is_multiple_of(IN_PIECES) && question.native.is_none() {
            let mut random = Random(key);
            let pieces = question.in_pieces(|| 1 + random.below(12));
            if Outline::of(&pieces) != Outline::of(&outcome) {
                self.torn.push(format!("{key:016x} is another text in pieces: {:?}", question.text));
            }
        }
        match (recorded.0.get(&key), origin) {
            (Some(was), _) => {
                if let Some(change) = was.change_to(&said) {
                    let outline = Outline::of(&outcome);
                    let told = format!(
                        "{key:016x} {change}\n    {:?} {:?}\n    => {:?} {:?}",
                        question.native, question.text, outline.verdicts, outline.text
                    );
                    let line = line(key, &change, question);
                    self.changed.insert(key, Changed { change, told, line });
                }
            }
            (None, Origin::Corpus) => self.n_new_cases += 1,
            (None, Origin::Generator) => self
                .drifted
                .push(format!("{key:016x} was never recorded: {:?} {:?}", question.native, question.text)),
        }
        self.said.insert(key, said);
    }

    fn write_down(&self) {
        let lines: String = self.changed.values().map(|changed| format!("{}\n", changed.line)).collect();
        fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/differential.jsonl"), lines).unwrap();
    }
}

/// The question as a line of `callwright parse --jsonl`. What such a line has no member for stands in its `id`.
fn line(key: u64, change: &Change, question: &Question<'_>) -> Value {
    let context = question.context;
    let id = object([
        ("key", Some(format!("{key:016x}").into())),
        ("change", Some(change.to_string().into())),
        ("policy", (context.policy != Policy::default()).then(|| context.policy.name().into())),
        (
            "calls_in_reasoning",
            (context.calls_in_reasoning != CallsInReasoning::default())
                .then(|| context.calls_in_reasoning.name().into()),
        ),
        ("doubt_open_ends", context.doubt_open_ends.then(|| true.into())),
        ("dialects", Some(question.dialects).filter(|own| !matches!(*own, "" | "null")).map(Value::from)),
    ]);
    let call = |(name, arguments)| json!([{"name": name, "arguments": arguments}]);
    let tool_choice = match &context.tool_choice {
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name.as_str()}})),
        ToolChoice::Required => Some(Value::from("required")),
        _ => None,
    };
    object([
        ("id", Some(id)),
        ("text", Some(question.text.into())),
        ("tools", Some(question.tools.json.parse().unwrap())),
        ("tool_calls", question.native.map(call)),
        ("reasoning", Some(question.apart).filter(|apart| !apart.is_empty()).map(Value::from)),
        ("finish_reason", context.finish_reason.map(Value::from)),
        ("start", context.starts_in_reasoning.then(|| "reasoning".into())),
        ("native", Some(context.native.into())),
        ("asked", context.asked.filter(|_| !context.native).map(Value::from)),
        ("tool_choice", tool_choice),
    ])
}

fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(given.collect())
}

//! The law that nothing is silent: calls of declared tools in every form that is read, in surroundings of every kind, in every
//! mode. Each of them is a call, a refusal, or a call that is shown.

use callwright::prompt::{self, PromptDialect};
use callwright::value::Value;
use callwright::{Context, Outcome, Policy};

use crate::laws::bench::{Bench, Made, Spelling, Strings, told};
use crate::laws::pools::{Frame, Plain, fill};

/// What stands on each side of the calls.
const ABOVE: [&str; 4] = ["", "{said}\n\n", "{said}\n", "# {word}\n\n"];
const BEFORE: [&str; 5] = ["", "", "{leads} ", "{start} ", "* "];
const BEHIND: [&str; 5] = ["", "", " {end}", "{end}", " {said}"];
const BELOW: [&str; 4] = ["", "\n\n{said}", "\n{said}", "\n\n- {word}"];

/// Draws texts and counts those in which each call is told.
pub(crate) fn run(bench: &mut Bench<'_>) {
    for number in 0..bench.rounds(1200) {
        let made: Vec<Made> = (0..1 + number % 3 / 2).map(|_| call(bench)).collect();
        let Some((form, calls, dialect)) = written(bench, number, &made) else { continue };
        let Some((place, text)) = placed(bench, number, &calls) else { continue };
        let mode = number / 7 % 4;
        let other = bench.random.pick(&bench.pools.dialects).name();
        let policy = *bench.random.pick(&Policy::ALL);
        let asked = match mode {
            2 => dialect,
            3 => Some(&**other),
            _ => None,
        };
        let context = Context { native: mode == 0, asked, policy, ..bench.context.clone() };
        let outcome = bench.read_under(&text, &context);
        let is_told = if is_told(&outcome, &made) { Ok(()) } else { Err(told(&outcome)) };
        let mode = ["native", "nobody says", "asked", "another was asked for"][mode];
        bench.count(&format!("{form}; {place}; {mode}; {policy:?}"), &text, is_told);
    }
}

/// A call of any tool; one of four has values that a guard may take for none.
fn call(bench: &mut Bench<'_>) -> Made {
    let strings = if bench.random.below(4) == 0 { Strings::Slots } else { Strings::Plain };
    bench.call(strings)
}

/// The calls as a model writes them: the name of the form, the text, and the dialect. `None` where the form cannot hold them.
fn written<'p>(
    bench: &mut Bench<'p>,
    number: usize,
    made: &[Made],
) -> Option<(&'p str, String, Option<&'p str>)> {
    let pools = bench.pools;
    if number.is_multiple_of(2) {
        let plain: &Plain = bench.random.pick(&pools.plain);
        let spelling = *bench.random.pick(&Spelling::ALL);
        return Some((&plain.name, plain.written(made, spelling)?, None));
    }
    let dialect: &PromptDialect = bench.random.pick(&pools.dialects);
    let calls: Vec<(String, String)> =
        made.iter().map(|made| (made.name.clone(), made.arguments.to_string())).collect();
    Some((dialect.name(), prompt::calls(dialect, &pools.declared.set, &calls), Some(dialect.name())))
}

/// `calls` in some surroundings, and what those are.
fn placed<'p>(bench: &mut Bench<'p>, number: usize, calls: &str) -> Option<(String, String)> {
    let pools = bench.pools;
    let language = bench.random.pick(&pools.languages);
    match number / 2 % 4 {
        0 => {
            let frame: &Frame = bench.random.pick(&pools.frames);
            // Its lines are not the form's own, or its signs are escaped.
            let is_other =
                frame.as_json || calls.contains('\n') && (frame.one_line || !frame.prefix.is_empty());
            if is_other || frame.is_fence_of_three() && calls.contains("```") {
                return None;
            }
            let calls = frame.written(calls);
            Some((frame.name.clone(), bench.filled(&frame.text, language, &calls)))
        }
        1 => {
            let place = bench.random.pick(&pools.places);
            Some((format!("{place:?}"), bench.filled(place, language, calls)))
        }
        _ => {
            let random = &mut bench.random;
            let sides =
                [*random.pick(&ABOVE), *random.pick(&BEFORE), *random.pick(&BEHIND), *random.pick(&BELOW)];
            let [above, before, behind, below] = sides;
            let place = format!("{above}{before}{{call}}{behind}{below}");
            let text = bench.filled(&place, language, calls);
            Some((format!("{place:?}"), text))
        }
    }
}

/// Does each of these calls come to something?
fn is_told(outcome: &Outcome, made: &[Made]) -> bool {
    let verdicts = outcome.verdicts.iter().map(|verdict| match verdict {
        callwright::Verdict::Accepted(call) => Some(call.name.as_str()),
        callwright::Verdict::Refused(refusal) => refusal.name.as_deref(),
    });
    let mut found: Vec<Option<&str>> =
        verdicts.chain(outcome.shown.iter().map(|call| call.name.as_deref())).collect();
    // A refusal may be of the whole run.
    outcome.refusals().next().is_some()
        || made.iter().all(|made| {
            // `functions.f` is the name as it was written.
            let own = found.iter().position(|name| name.is_none_or(|name| name.ends_with(&made.name)));
            own.map(|at| found.swap_remove(at)).is_some()
        })
}

impl Plain {
    /// The calls in this form; `None` where it cannot hold their names.
    fn written(&self, made: &[Made], spelling: Spelling) -> Option<String> {
        let is_word = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_held = !self.call.contains("{name}(") || made.iter().all(|made| is_word(&made.name));
        let calls = made.iter().map(|made| {
            fill(&self.call, |slot| {
                Some(match slot {
                    "name" => made.name.clone(),
                    "json_name" => Value::from(made.name.as_str()).to_string(),
                    "arguments" => spelling.spell(&made.arguments),
                    "keywords" => keywords(&made.arguments),
                    _ => return None,
                })
            })
        });
        let calls: Vec<String> = calls.collect();
        is_held.then(|| format!("{}{}{}", self.open, calls.join(&self.between), self.close))
    }
}

/// `a="x", b=True`
fn keywords(arguments: &Value) -> String {
    let members = arguments.as_object().into_iter().flatten();
    let pairs: Vec<String> = members.map(|(key, value)| format!("{key}={}", literal(value))).collect();
    pairs.join(", ")
}

/// The value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let pairs = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), literal(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

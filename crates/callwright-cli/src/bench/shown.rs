//! The results of all questions: sums, as a table and as JSON.

use std::collections::BTreeMap;

use callwright_relay::Usage;
use serde::Serialize;

/// The result of one question.
pub(crate) struct Outcome {
    /// The tool that it is about.
    pub(crate) about: String,
    /// Why the answer past Callwright is not right; none where it is.
    pub(crate) why_without: Option<String>,
    pub(crate) tokens_without: Usage,
    /// Why the answer through it is not right; none where it is.
    pub(crate) why_with: Option<String>,
    pub(crate) noted: Noted,
}

/// The steps to an answer through Callwright.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    /// Something in its calls was repaired.
    pub(crate) is_repaired: bool,
    /// The model was asked again.
    pub(crate) is_retried: bool,
    /// A call kept to its schema, where the server was asked to hold calls to theirs.
    pub(crate) kept_strict: Option<bool>,
    /// A second model answered.
    pub(crate) is_escalated: bool,
    /// The tokens of all that was asked and answered.
    pub(crate) tokens: Usage,
}

/// The gain of repair.
#[derive(Debug, Serialize)]
pub(crate) struct Gain {
    model: String,
    all: Counts,
    by_tool: BTreeMap<String, Counts>,
    /// The defects, each with its number.
    defects_without: BTreeMap<String, usize>,
    defects_with: BTreeMap<String, usize>,
    tokens_without: Tokens,
    tokens_with: Tokens,
    strict: StrictCounts,
}

/// Questions, by what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    asked: usize,
    right_without: usize,
    right_with: usize,
    /// Of those that are right with Callwright: had something repaired.
    repaired: usize,
    /// Of those that are right with Callwright: the model was asked again.
    retried: usize,
    /// Of those that are right with Callwright: a second model answered.
    escalated: usize,
}

/// Questions with which the server was asked to hold calls to their schemas.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct StrictCounts {
    asked: usize,
    /// Of those: a call came that does not keep to its schema.
    broken: usize,
}

impl Counts {
    fn plus(self, other: &Counts) -> Counts {
        Counts {
            asked: self.asked + other.asked,
            right_without: self.right_without + other.right_without,
            right_with: self.right_with + other.right_with,
            repaired: self.repaired + other.repaired,
            retried: self.retried + other.retried,
            escalated: self.escalated + other.escalated,
        }
    }

    fn add(&mut self, outcome: &Outcome) {
        let Noted { is_repaired, is_retried, is_escalated, .. } = outcome.noted;
        let is_right = outcome.why_with.is_none();
        self.asked += 1;
        self.right_without += usize::from(outcome.why_without.is_none());
        self.right_with += usize::from(is_right);
        self.repaired += usize::from(is_right && is_repaired);
        self.retried += usize::from(is_right && is_retried);
        self.escalated += usize::from(is_right && is_escalated);
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Tokens {
    prompt: u64,
    completion: u64,
}

impl Tokens {
    fn add(&mut self, usage: Usage) {
        self.prompt = self.prompt.saturating_add(usage.prompt);
        self.completion = self.completion.saturating_add(usage.completion);
    }
}

impl Gain {
    pub(crate) fn of(model: String, outcomes: impl Iterator<Item = Outcome>) -> Gain {
        let mut gain = Gain {
            model,
            all: Counts::default(),
            by_tool: BTreeMap::new(),
            defects_without: BTreeMap::new(),
            defects_with: BTreeMap::new(),
            tokens_without: Tokens::default(),
            tokens_with: Tokens::default(),
            strict: StrictCounts::default(),
        };
        for outcome in outcomes {
            gain.all.add(&outcome);
            gain.tokens_without.add(outcome.tokens_without);
            gain.tokens_with.add(outcome.noted.tokens);
            gain.strict.asked += usize::from(outcome.noted.kept_strict.is_some());
            gain.strict.broken += usize::from(outcome.noted.kept_strict == Some(false));
            gain.by_tool.entry(outcome.about.clone()).or_default().add(&outcome);
            let defects = [
                (outcome.why_without, &mut gain.defects_without),
                (outcome.why_with, &mut gain.defects_with),
            ];
            for (why, defects) in defects {
                why.into_iter().for_each(|why| *defects.entry(why).or_default() += 1);
            }
        }
        gain
    }

    /// For people: tools on which Callwright makes a difference or calls stay wrong, then all of them, what is wrong, and what
    /// it took.
    pub(crate) fn table(&self) -> String {
        let mut table = format!(
            "right calls of {}\n\n   asked    without       with   repaired   retried   escalated\n",
            self.model
        );
        let row = |name: &str, counts: &Counts| {
            let Counts { asked, right_without, right_with, repaired, retried, escalated } = counts;
            format!(
                "{asked:8} {right_without:10} {right_with:10} {repaired:10} {retried:9} {escalated:11}   {name}\n"
            )
        };
        let is_plain =
            |counts: &Counts| counts.right_without == counts.asked && counts.right_with == counts.asked;
        let (plain, odd): (Vec<_>, Vec<_>) = self.by_tool.iter().partition(|(_, counts)| is_plain(counts));
        odd.iter().for_each(|(name, counts)| table.push_str(&row(name, counts)));
        if !plain.is_empty() {
            let sum = plain.iter().fold(Counts::default(), |sum, (_, counts)| sum.plus(counts));
            table.push_str(&row(&format!("({} tools, right both ways)", plain.len()), &sum));
        }
        table.push_str(&row("all", &self.all));
        let percent = |n: usize| format!("{:.1} %", 100.0 * n as f64 / self.all.asked.max(1) as f64);
        let Counts { right_without, right_with, .. } = self.all;
        table.push_str(&format!("         {:>10} {:>10}\n\n", percent(right_without), percent(right_with)));
        for (what, defects) in [("without", &self.defects_without), ("with", &self.defects_with)] {
            if !defects.is_empty() {
                let told: Vec<String> = defects.iter().map(|(why, n)| format!("{why} {n}")).collect();
                table.push_str(&format!("wrong {what}: {}\n", told.join(", ")));
            }
        }
        let tokens = |tokens: Tokens| format!("{} + {}", tokens.prompt, tokens.completion);
        table.push_str(&format!(
            "tokens, prompts + answers: {} without, {} with\n",
            tokens(self.tokens_without),
            tokens(self.tokens_with)
        ));
        if 0 < self.strict.asked {
            let StrictCounts { asked, broken } = self.strict;
            table.push_str(&format!("strict: with {asked} questions, ignored in {broken}\n"));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_is_one_line_and_what_is_not_has_its_own() {
        let outcome =
            |about: &str, why_without: Option<&str>, why_with: Option<&str>, noted: Noted| Outcome {
                about: about.into(),
                why_without: why_without.map(String::from),
                tokens_without: Usage { prompt: 10, completion: 2, ..Usage::default() },
                why_with: why_with.map(String::from),
                noted: Noted { tokens: Usage { prompt: 20, completion: 4, ..Usage::default() }, ..noted },
            };
        let outcomes = [
            outcome("a", None, None, Noted::default()),
            outcome("b", None, None, Noted { kept_strict: Some(true), ..Noted::default() }),
            outcome(
                "c",
                Some("no call"),
                None,
                Noted { is_repaired: true, kept_strict: Some(false), is_escalated: true, ..Noted::default() },
            ),
            outcome("c", Some("invalid"), Some("status 422"), Noted { is_retried: true, ..Noted::default() }),
        ];
        let gain = Gain::of("m".into(), outcomes.into_iter());
        assert_eq!(
            gain.table(),
            "\
right calls of m

   asked    without       with   repaired   retried   escalated
       2          0          1          1         0           1   c
       2          2          2          0         0           0   (2 tools, right both ways)
       4          2          3          1         0           1   all
             50.0 %     75.0 %

wrong without: invalid 1, no call 1
wrong with: status 422 1
tokens, prompts + answers: 40 + 8 without, 80 + 16 with
strict: with 2 questions, ignored in 1
"
        );
    }
}

//! The lines that programs read: the engine's reports, with what a line adds to them.

use callwright::{
    CallRepairReport, CallReport, Candidate, HealReport, Outcome, Reason, RefusalReport, Report, ShownReport,
};
use serde::Serialize;
use serde::ser::{Error, Serializer};
use serde_json::value::RawValue;

/// The JSON text of `value`.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Nothing here has keys that are no strings, which is all that can fail.
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// JSON text out of one line, embedded as it stands.
pub(crate) struct Raw<'a>(pub(crate) &'a str);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// The answer to a line that cannot be used.
#[derive(Serialize)]
pub(crate) struct Unusable<'a> {
    pub(crate) id: Raw<'a>,
    pub(crate) error: &'a str,
}

/// The answer to a line of `parse`.
#[derive(Serialize)]
pub(crate) struct Parsed<'a> {
    id: Raw<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    calls: &'a [CallReport<'a>],
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    repairs: &'a [CallRepairReport<'a>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<Refused<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    shown: &'a [ShownReport<'a>],
    us: f64,
}

impl<'a> Parsed<'a> {
    /// `report` is the one on `outcome`.
    pub(crate) fn of(id: &'a str, outcome: &Outcome, report: &'a Report<'a>, us: f64) -> Parsed<'a> {
        // An answer of nothing but refusals is an error; beside a call they are news.
        let refused = report.refusals.first().filter(|_| report.calls.is_empty());
        let told = outcome.refusals().map(|refusal| refusal.feedback().message_to_model());
        Parsed {
            id: Raw(id),
            error: refused.map(|refusal| refusal.why.message.as_str()),
            calls: &report.calls,
            text: report.text,
            reasoning: report.reasoning,
            repairs: &report.repairs,
            refusals: report
                .refusals
                .iter()
                .zip(told)
                .map(|(report, feedback)| Refused { report, feedback })
                .collect(),
            shown: &report.shown,
            us,
        }
    }
}

#[derive(Serialize)]
struct Refused<'a> {
    #[serde(flatten)]
    report: &'a RefusalReport<'a>,
    /// The words for the model, in the channel that it used.
    feedback: String,
}

/// A text that looks like a call.
#[derive(Serialize)]
pub(crate) struct Candidates<'a> {
    candidates: Vec<Listed<'a>>,
}

#[derive(Serialize)]
struct Listed<'a> {
    name: Option<&'a str>,
    /// JSON text where it can be read, else what the model wrote.
    arguments: &'a str,
    dialect: &'a str,
    span: [u32; 2],
    /// The stable name of what would keep it from being a call whatever is declared.
    problem: Option<&'static str>,
}

impl<'a> Candidates<'a> {
    pub(crate) fn of(found: &'a [Candidate]) -> Candidates<'a> {
        let listed = |candidate: &'a Candidate| Listed {
            name: candidate.name.as_deref(),
            arguments: &candidate.arguments,
            dialect: &candidate.dialect,
            span: [candidate.span.start, candidate.span.end],
            problem: candidate.problem.as_ref().map(Reason::code),
        };
        Candidates { candidates: found.iter().map(listed).collect() }
    }
}

/// The answer to a line of `heal`.
#[derive(Serialize)]
pub(crate) struct HealLine<'a> {
    pub(crate) id: Raw<'a>,
    #[serde(flatten)]
    pub(crate) report: HealReport<'a>,
    pub(crate) us: f64,
}

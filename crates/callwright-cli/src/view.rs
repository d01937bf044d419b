//! The JSON that programs read, field by field.

use callwright::{Acceptance, Coercion, Healed, Outcome, Reason, Refusal};
use callwright_json::{Diagnostic, Repair, Span};
use serde::Serialize;
use serde::ser::{Error, Serializer};
use serde_json::value::RawValue;

use crate::door;

/// The JSON text of `value`.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Nothing here has keys that are no strings, which is all that can fail.
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// JSON text that is embedded as it stands, numbers to the digit.
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

/// What `parse` answers.
#[derive(Serialize)]
pub(crate) struct Parsed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Raw<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    calls: Vec<Call<'a>>,
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    repairs: Vec<CallRepair<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    renamed: Vec<Renamed<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coercions: Vec<CallCoercion<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<Refused<'a>>,
    us: f64,
}

impl<'a> Parsed<'a> {
    pub(crate) fn of(outcome: &'a Outcome, id: Option<&'a str>, us: f64) -> Parsed<'a> {
        let calls: Vec<&Acceptance> = outcome.calls().collect();
        let numbered = || (1..).zip(calls.iter().copied());
        let refusals: Vec<Refused<'_>> = outcome.refusals().map(Refused::of).collect();
        // An answer of nothing but refusals is an error; beside a call they are news.
        let error =
            if calls.is_empty() { refusals.first().map(|refused| refused.error.clone()) } else { None };
        Parsed {
            id: id.map(Raw),
            error,
            text: &outcome.text,
            reasoning: &outcome.reasoning,
            repairs: numbered()
                .flat_map(|(call, made)| {
                    made.repairs.iter().map(move |r| CallRepair { call, repair: Edit::of(r) })
                })
                .collect(),
            renamed: numbered()
                .filter_map(|(call, made)| {
                    Some(Renamed { call, from: made.renamed_from.as_deref()?, to: &made.name })
                })
                .collect(),
            coercions: numbered()
                .flat_map(|(call, made)| {
                    made.coercions.iter().map(move |c| CallCoercion { call, value: Typed::of(c) })
                })
                .collect(),
            calls: calls.iter().copied().map(Call::of).collect(),
            refusals,
            us,
        }
    }
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    arguments: Raw<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    dialect: &'a str,
    /// The class of its worst repair: `R0`, `R1`, `R2`.
    class: &'static str,
}

impl<'a> Call<'a> {
    fn of(call: &'a Acceptance) -> Call<'a> {
        Call {
            name: &call.name,
            arguments: Raw(&call.arguments),
            id: call.id.as_deref(),
            dialect: call.dialect,
            class: call.class().code(),
        }
    }
}

/// Something that was done to a call; `call` counts from 1.
#[derive(Serialize)]
struct CallRepair<'a> {
    call: usize,
    #[serde(flatten)]
    repair: Edit<'a>,
}

#[derive(Serialize)]
struct CallCoercion<'a> {
    call: usize,
    #[serde(flatten)]
    value: Typed<'a>,
}

#[derive(Serialize)]
struct Renamed<'a> {
    call: usize,
    from: &'a str,
    to: &'a str,
}

/// A repair: the bytes `at` are replaced by `put`.
#[derive(Serialize)]
struct Edit<'a> {
    kind: &'static str,
    at: [u32; 2],
    put: &'a str,
}

impl<'a> Edit<'a> {
    fn of(repair: &'a Repair) -> Edit<'a> {
        Edit { kind: repair.kind.code(), at: pair(repair.at), put: &repair.put }
    }
}

/// A coercion: the value at `pointer` got the type that the schema asks for.
#[derive(Serialize)]
struct Typed<'a> {
    pointer: &'a str,
    from: Raw<'a>,
    to: Raw<'a>,
}

impl<'a> Typed<'a> {
    fn of(coercion: &'a Coercion) -> Typed<'a> {
        Typed { pointer: &coercion.pointer, from: Raw(&coercion.from), to: Raw(&coercion.to) }
    }
}

#[derive(Serialize)]
struct Refused<'a> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Option<&'a str>,
    dialect: &'static str,
    at: [u32; 2],
    error: String,
    diagnostics: Vec<Finding<'a>>,
    /// What the model should be told.
    feedback: String,
}

impl<'a> Refused<'a> {
    fn of(refusal: &'a Refusal) -> Refused<'a> {
        let feedback = door::feedback(refusal);
        Refused {
            code: refusal.reason.code(),
            id: refusal.id.as_deref(),
            name: refusal.name.as_deref(),
            dialect: refusal.dialect,
            at: pair(refusal.span),
            error: door::sentence(&feedback),
            diagnostics: findings(&refusal.reason),
            feedback: door::told(&feedback),
        }
    }
}

/// What `heal` answers when there is one reading.
#[derive(Serialize)]
pub(crate) struct HealedText<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Raw<'a>>,
    output_text: &'a str,
    repairs: Vec<Edit<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coercions: Vec<Typed<'a>>,
    us: f64,
}

impl<'a> HealedText<'a> {
    pub(crate) fn of(healed: &'a Healed, id: Option<&'a str>, us: f64) -> HealedText<'a> {
        HealedText {
            id: id.map(Raw),
            output_text: &healed.text,
            repairs: healed.repairs.iter().map(Edit::of).collect(),
            coercions: healed.coercions.iter().map(Typed::of).collect(),
            us,
        }
    }
}

/// What `heal` answers when there is not.
#[derive(Serialize)]
pub(crate) struct Unhealed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Raw<'a>>,
    error: String,
    code: &'static str,
    diagnostics: Vec<Finding<'a>>,
    us: f64,
}

impl<'a> Unhealed<'a> {
    pub(crate) fn of(text: &str, reason: &'a Reason, id: Option<&'a str>, us: f64) -> Unhealed<'a> {
        Unhealed {
            id: id.map(Raw),
            error: door::sentence(&door::why(text, reason)),
            code: reason.code(),
            diagnostics: findings(reason),
            us,
        }
    }
}

/// One thing that stands in the way.
#[derive(Serialize)]
#[serde(untagged)]
enum Finding<'a> {
    /// A suspect place in the payload.
    Place { problem: String, at: [u32; 2] },
    /// One of several readings, as strict JSON text.
    Reading { reading: &'a str },
    /// A value that does not fit the schema.
    Value { keyword: &'a str, pointer: &'a str, message: &'a str },
    /// A declared tool whose name comes close.
    Name { nearest: &'a str },
}

fn findings(reason: &Reason) -> Vec<Finding<'_>> {
    match reason {
        Reason::Unreadable(diagnostics) | Reason::Truncated(diagnostics) => {
            diagnostics.iter().map(|d| Finding::Place { problem: problem(d), at: pair(d.at) }).collect()
        }
        Reason::Ambiguous { readings } => {
            readings.iter().map(|reading| Finding::Reading { reading }).collect()
        }
        Reason::Invalid(violations) => violations
            .iter()
            .map(|v| Finding::Value { keyword: v.keyword, pointer: &v.pointer, message: &v.message })
            .collect(),
        Reason::UnknownTool { nearest, .. } => {
            nearest.iter().map(|nearest| Finding::Name { nearest }).collect()
        }
        // A shape is told in full by the sentence, and so is what may be added to the reasons.
        _ => Vec::new(),
    }
}

/// `SeveralValues` → `several-values`.
fn problem(diagnostic: &Diagnostic) -> String {
    let mut code = String::new();
    for c in format!("{:?}", diagnostic.problem).chars() {
        if c.is_ascii_uppercase() && !code.is_empty() {
            code.push('-');
        }
        code.push(c.to_ascii_lowercase());
    }
    code
}

fn pair(span: Span) -> [u32; 2] {
    [span.start, span.end]
}

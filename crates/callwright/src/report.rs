//! The one serialisable, versioned view of an outcome.
//!
//! An [`Outcome`] and its sources go in, a [`Report`] comes out; a repaired text goes the same way. The types of the
//! engine may change; the form that programs read here changes only with [`VERSION`]. Places are byte offsets, numbers
//! keep their digits, and a report serialises to a single line, whatever the model wrote.

use std::collections::BTreeMap;

use callwright_json::{Diagnostic, Problem, Repair, Span, tally};
use callwright_schema::{Coercion, Violation};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::engine::NativeCall;
use crate::feedback::Position;
use crate::heal::Healed;
use crate::verdict::{Acceptance, BesideProse, Outcome, Reason, Refusal, ShownCall, Verdict};

/// The version of the form of reports. A version may gain fields; a field that goes, or changes its meaning, makes a
/// new version.
pub const VERSION: u32 = 2;

/// Most repairs in the list of all calls together: more than a person reads, and little beside a model's text. Without
/// it, a long list of broken values would stand in the report twice.
const LISTED: usize = 256;

/// The report on one answer of a model.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// The version of this form: [`VERSION`].
    pub version: u32,
    /// The accepted calls, in their order.
    pub calls: Vec<CallReport<'a>>,
    /// The refused calls, in their order.
    pub refusals: Vec<RefusalReport<'a>>,
    /// The calls that are only shown, in their order. They are a part of `text`.
    pub shown: Vec<ShownReport<'a>>,
    /// The model's words besides its calls.
    pub text: &'a str,
    /// The model's thoughts, as far as they are marked.
    pub reasoning: &'a str,
    /// The repairs of all calls, in their order: at most the first 256. Each call lists all of its own.
    pub repairs: Vec<CallRepairReport<'a>>,
    /// The number of repairs of each kind, in all calls.
    pub repair_counts: BTreeMap<&'static str, usize>,
}

/// A repair, with the call that it belongs to.
#[derive(Debug, Serialize)]
pub struct CallRepairReport<'a> {
    /// The call's [number](CallReport::number).
    pub call: usize,
    /// The repair.
    #[serde(flatten)]
    pub repair: RepairReport<'a>,
}

/// An accepted call.
#[derive(Debug, Serialize)]
pub struct CallReport<'a> {
    /// The call's number in the answer, counted from 1; refused calls count.
    pub number: usize,
    /// The upstream's id.
    pub id: Option<&'a str>,
    /// The tool.
    pub name: &'a str,
    /// The arguments, as a JSON value whose numbers keep their digits.
    pub arguments: Box<RawValue>,
    /// The dialect that the call was written in.
    pub dialect: &'a str,
    /// The class of its worst repair: `R0`, `R1`, `R2`.
    pub class: &'static str,
    /// The bytes of the call in the answer's text, markup included.
    pub span: [u32; 2],
    /// The repairs, in order.
    pub repairs: Vec<RepairReport<'a>>,
    /// The values that were converted to the type of the schema.
    pub coercions: Vec<CoercionReport<'a>>,
    /// The name as the model wrote it, if that was another one.
    pub renamed_from: Option<&'a str>,
    /// The call's place beside words: [`BesideProse::name`](crate::BesideProse::name).
    pub beside_prose: Option<&'static str>,
    /// The call may be shown as well as made: [`Acceptance::unsure`].
    pub unsure: bool,
    /// The answer ends before the call does, and more could have followed: [`Acceptance::open_end`].
    pub open_end: bool,
    /// The check did not cover all of the schema: [`Acceptance::unchecked`].
    pub unchecked: bool,
}

/// A call that is shown, not made.
#[derive(Debug, Serialize)]
pub struct ShownReport<'a> {
    /// The name of its tool, as far as it can be read.
    pub name: Option<&'a str>,
    /// The dialect of the call.
    pub dialect: &'a str,
    /// The bytes of the call in the answer's text, markup included.
    pub span: [u32; 2],
    /// The sign that it is only shown: [`ShownBy::name`](crate::ShownBy::name).
    pub by: &'static str,
    /// The sign that it is only shown, in words that end a sentence: `it is indented like code`.
    pub message: String,
}

/// One repair: `put` replaces the bytes `at`, which were `before`.
#[derive(Debug, Serialize)]
pub struct RepairReport<'a> {
    /// The kind: [`RepairKind::code`](callwright_json::RepairKind::code).
    pub kind: &'static str,
    /// The class, by how much the repair takes for granted: `R1`, `R2`.
    pub class: &'static str,
    /// The bytes of the text, or of the native argument text.
    pub at: [u32; 2],
    /// The text before the repair.
    pub before: &'a str,
    /// The text after the repair.
    pub put: &'a str,
}

/// A value that was converted to the type of its schema.
#[derive(Debug, Serialize)]
pub struct CoercionReport<'a> {
    /// A JSON pointer into the arguments, or into the repaired value.
    pub pointer: &'a str,
    /// The JSON text before.
    pub from: &'a str,
    /// The JSON text after.
    pub to: &'a str,
}

/// A refused call.
#[derive(Debug, Serialize)]
pub struct RefusalReport<'a> {
    /// The call's number in the answer, counted from 1.
    pub number: usize,
    /// The upstream's id.
    pub id: Option<&'a str>,
    /// The name of its tool, as far as it can be read.
    pub name: Option<&'a str>,
    /// The dialect that the call was written in.
    pub dialect: &'a str,
    /// The bytes of the call in the answer's text, markup included.
    pub span: [u32; 2],
    /// The payload as the model wrote it.
    pub block: &'a str,
    /// The reason.
    #[serde(flatten)]
    pub why: WhyReport<'a>,
}

/// The reason why there is no call, or no repaired text.
#[derive(Debug, Serialize)]
pub struct WhyReport<'a> {
    /// The stable name of the reason: [`Reason::code`].
    pub code: &'static str,
    /// The fault, in one line.
    pub message: String,
    /// The suspect place in the payload.
    pub position: Option<PositionReport>,
    /// The advice, one sentence each.
    pub hints: Vec<String>,
    /// The payload, fixed, if there is a way; `certain` if there is only one.
    pub fix: Option<FixReport>,
    /// The findings of the readers.
    pub diagnostics: Vec<DiagnosticReport>,
    /// The readings of an ambiguous payload, as strict JSON texts.
    pub readings: &'a [String],
    /// The violations of the schema.
    pub violations: Vec<ViolationReport<'a>>,
    /// The declared names that come closest to an unknown one, best first.
    pub nearest: &'a [String],
}

/// A suspect place.
#[derive(Debug, Serialize)]
pub struct PositionReport {
    /// Its bytes in the payload.
    pub at: [u32; 2],
    /// Characters before it.
    pub offset: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
}

/// A fixed payload.
#[derive(Debug, Serialize)]
pub struct FixReport {
    /// The whole payload, fixed.
    pub text: String,
    /// The fix is the only way to read the payload.
    pub certain: bool,
}

/// A finding of a reader.
#[derive(Debug, Serialize)]
pub struct DiagnosticReport {
    /// The stable name of the problem.
    pub problem: &'static str,
    /// The suspect bytes of the payload.
    pub at: [u32; 2],
}

/// One violation of a schema.
#[derive(Debug, Serialize)]
pub struct ViolationReport<'a> {
    /// A JSON pointer into the arguments.
    pub pointer: &'a str,
    /// The schema keyword.
    pub keyword: &'static str,
    /// One sentence, without full stop.
    pub message: &'a str,
}

impl<'a> Report<'a> {
    /// Makes the report on the outcome of [`parse`](crate::parse) for `text` and the `native` calls.
    pub fn of(outcome: &'a Outcome, text: &'a str, native: &[NativeCall<'a>]) -> Report<'a> {
        // Each native call has a text of its own, and one verdict.
        let mut arguments = native.iter().map(|native| native.arguments);
        Report::of_verdicts(outcome, |verdict| match verdict.is_native() {
            true => arguments.next().unwrap_or(text),
            false => text,
        })
    }

    /// Makes the report on an outcome whose calls come from several answers. `source` gives the text that the repairs
    /// of a call edit; it is called once for each verdict, in their order.
    pub fn of_verdicts(outcome: &'a Outcome, mut source: impl FnMut(&'a Verdict) -> &'a str) -> Report<'a> {
        let mut calls = Vec::new();
        let mut refusals = Vec::new();
        let (mut repairs, mut repair_counts) = (Vec::new(), BTreeMap::new());
        for (at, verdict) in outcome.verdicts.iter().enumerate() {
            let source = match (source(verdict), verdict) {
                // The text around the call is not kept.
                (_, Verdict::Accepted(call)) if call.is_apart => "",
                (source, _) => source,
            };
            match verdict {
                Verdict::Accepted(call) => {
                    for (kind, n) in tally(&call.repairs) {
                        *repair_counts.entry(kind.code()).or_default() += n;
                    }
                    let of_one =
                        |repair| CallRepairReport { call: at + 1, repair: of_repair(repair, source) };
                    let room = LISTED.saturating_sub(repairs.len());
                    repairs.extend(call.repairs.iter().take(room).map(of_one));
                    calls.push(of_call(call, at + 1, source));
                }
                Verdict::Refused(refusal) => refusals.push(of_refusal(refusal)),
            }
        }
        let (text, reasoning) = (outcome.text.as_str(), outcome.reasoning.as_str());
        let shown = outcome.shown.iter().map(of_shown).collect();
        Report { version: VERSION, calls, refusals, shown, text, reasoning, repairs, repair_counts }
    }
}

impl<'a> WhyReport<'a> {
    /// Makes the report on the reason of `refusal`, with advice.
    pub fn of(refusal: &'a Refusal) -> WhyReport<'a> {
        let feedback = refusal.feedback();
        let place = |at: Span| {
            let Position { offset, line, column } = Position::of(&refusal.block, at.range().start);
            PositionReport { at: pair(at), offset, line, column }
        };
        let mut why = WhyReport {
            code: feedback.code,
            message: feedback.message,
            position: feedback.at.map(place),
            hints: feedback.hints,
            fix: feedback.fix.map(|fix| FixReport { text: fix.text, certain: fix.certain }),
            diagnostics: Vec::new(),
            readings: &[],
            violations: Vec::new(),
            nearest: &[],
        };
        match &refusal.reason {
            Reason::UnknownTool { nearest, .. } => why.nearest = nearest,
            Reason::Unreadable(diagnostics) | Reason::Truncated(diagnostics) => {
                why.diagnostics = diagnostics.iter().map(of_diagnostic).collect();
            }
            Reason::Ambiguous { readings } => why.readings = readings,
            Reason::Shape(_) | Reason::OpenEnd(_) | Reason::NotOffered { .. } => {}
            Reason::Invalid(violations) => why.violations = violations.iter().map(of_violation).collect(),
        }
        why
    }
}

/// The report on one text to repair.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum HealReport<'a> {
    /// The text became strict JSON.
    Healed(HealedReport<'a>),
    /// The text does not have exactly one reading.
    Refused(UnhealedReport),
}

/// A repaired text.
#[derive(Debug, Serialize)]
pub struct HealedReport<'a> {
    /// The version of this form: [`VERSION`].
    pub version: u32,
    /// The strict JSON text; the source itself, byte for byte, if that was right.
    pub output_text: &'a str,
    /// The class of the worst repair: `R0`, `R1`, `R2`.
    pub class: &'static str,
    /// The repairs, in order.
    pub repairs: Vec<RepairReport<'a>>,
    /// The values that were converted to the type of the schema.
    pub coercions: Vec<CoercionReport<'a>>,
    /// The check did not cover all of the schema: [`Healed::unchecked`].
    pub unchecked: bool,
}

/// A text that was not repaired.
#[derive(Debug, Serialize)]
pub struct UnhealedReport {
    /// The version of this form: [`VERSION`].
    pub version: u32,
    /// The fault, in one line.
    pub error: String,
    /// The stable name of the reason: [`Reason::code`].
    pub code: &'static str,
    /// The suspect place.
    pub position: Option<PositionReport>,
    /// The advice, one sentence each.
    pub hints: Vec<String>,
    /// The text, fixed, if there is a way.
    pub fix: Option<FixReport>,
    /// The findings of the readers.
    pub diagnostics: Vec<DiagnosticReport>,
    /// The readings of an ambiguous text, as strict JSON texts.
    pub readings: Vec<String>,
    /// The violations of the schema, one sentence each.
    pub violations: Vec<String>,
}

impl<'a> HealReport<'a> {
    /// Makes the report on the `result` of [`crate::heal`] for `source`.
    pub fn of(result: &'a Result<Healed, Reason>, source: &'a str) -> HealReport<'a> {
        match result {
            Ok(healed) => HealReport::Healed(HealedReport {
                version: VERSION,
                output_text: &healed.text,
                class: healed.class().code(),
                repairs: healed.repairs.iter().map(|repair| of_repair(repair, source)).collect(),
                coercions: healed.coercions.iter().map(of_coercion).collect(),
                unchecked: healed.unchecked,
            }),
            Err(reason) => {
                let refusal = Refusal::of_text(source, reason.clone());
                let why = WhyReport::of(&refusal);
                HealReport::Refused(UnhealedReport {
                    version: VERSION,
                    code: why.code,
                    error: why.message,
                    position: why.position,
                    hints: why.hints,
                    fix: why.fix,
                    diagnostics: why.diagnostics,
                    readings: why.readings.to_vec(),
                    violations: why.violations.iter().map(|v| v.message.to_owned()).collect(),
                })
            }
        }
    }
}

fn of_call<'a>(call: &'a Acceptance, number: usize, source: &'a str) -> CallReport<'a> {
    CallReport {
        number,
        id: call.id.as_deref(),
        name: &call.name,
        arguments: value(&call.arguments),
        dialect: &call.dialect,
        class: call.class().code(),
        span: pair(call.span),
        repairs: call.repairs.iter().map(|repair| of_repair(repair, source)).collect(),
        coercions: call.coercions.iter().map(of_coercion).collect(),
        renamed_from: call.renamed_from.as_deref(),
        beside_prose: call.beside_prose.map(BesideProse::name),
        unsure: call.unsure,
        open_end: call.open_end,
        unchecked: call.unchecked,
    }
}

fn of_shown(shown: &ShownCall) -> ShownReport<'_> {
    let (by, message) = (shown.by.name(), shown.by.to_string());
    ShownReport { name: shown.name.as_deref(), dialect: &shown.dialect, span: pair(shown.span), by, message }
}

fn of_repair<'a>(repair: &'a Repair, source: &'a str) -> RepairReport<'a> {
    let (kind, class) = (repair.kind.code(), repair.kind.class().code());
    RepairReport { kind, class, at: pair(repair.at), before: repair.at.of(source), put: &repair.put }
}

fn of_coercion(Coercion { pointer, from, to }: &Coercion) -> CoercionReport<'_> {
    CoercionReport { pointer, from, to }
}

fn of_diagnostic(diagnostic: &Diagnostic) -> DiagnosticReport {
    DiagnosticReport { problem: problem_code(diagnostic.problem), at: pair(diagnostic.at) }
}

fn of_violation(Violation { pointer, keyword, message }: &Violation) -> ViolationReport<'_> {
    ViolationReport { pointer, keyword, message }
}

fn of_refusal(refusal: &Refusal) -> RefusalReport<'_> {
    RefusalReport {
        number: refusal.number,
        id: refusal.id.as_deref(),
        name: refusal.name.as_deref(),
        dialect: &refusal.dialect,
        span: pair(refusal.span),
        block: &refusal.block,
        why: WhyReport::of(refusal),
    }
}

/// Returns the JSON text as a value. A line break in strict JSON stands only between tokens, so a space in its place
/// keeps a report on one line.
fn value(json: &str) -> Box<RawValue> {
    let one_line = json.replace(['\n', '\r'], " ");
    // INVARIANT: arguments are strict JSON, so this null replaces nothing.
    RawValue::from_string(one_line).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn pair(span: Span) -> [u32; 2] {
    [span.start, span.end]
}

fn problem_code(problem: Problem) -> &'static str {
    match problem {
        Problem::NoValue => "no-value",
        Problem::Truncated => "truncated",
        Problem::Ambiguous => "ambiguous",
        Problem::SeveralValues => "several-values",
        Problem::DuplicateKey => "duplicate-key",
        Problem::SwallowedMember => "swallowed-member",
        Problem::Limit => "limit",
        Problem::NotANumber => "not-a-number",
        Problem::OpenEscape => "open-escape",
        // `Problem` may grow; a new one is unreadable until it gets a name here.
        _ => "unreadable",
    }
}

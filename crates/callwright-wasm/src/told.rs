//! What JavaScript is told, as it is told: names in its spelling, places in UTF-16 units.

use std::borrow::Cow;

use callwright::{Places, Unit, Verdict, WhyReport};
use serde::Serialize;

/// The text that came in as UTF-8. Its caller encodes it: the encoder of JavaScript is forty times as fast as the loop that
/// hands a string over otherwise, and whatever it writes is UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    // What JavaScript encodes is UTF-8, and that is seen some words at a time; the other way goes byte by byte.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The places of `text` in UTF-16 units.
pub(crate) fn utf16(text: &str) -> Places<'_> {
    Places::new(text, Unit::Utf16)
}

/// `told` as JSON.
pub(crate) fn json(told: &impl Serialize) -> String {
    // Strings, numbers and lists of them: no value of these has no JSON.
    serde_json::to_string(told).unwrap_or_default()
}

/// A call or a refusal; `kind` says which.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Told<'o> {
    Call(Call<'o>),
    Refusal(Refusal<'o>),
}

impl<'o> Told<'o> {
    /// `text` has the places of the answer; a native call was read from `source`, its own arguments.
    pub(crate) fn of(verdict: &'o Verdict, text: &mut Places<'o>, source: Option<&'o str>) -> Told<'o> {
        match verdict {
            Verdict::Accepted(call) => Told::Call(Call::of(call, text, source)),
            Verdict::Refused(refusal) => {
                let (start, end) = text.pair(refusal.span);
                let feedback = refusal.feedback().message_to_model();
                Told::Refusal(Refusal::of(refusal, start, end, feedback))
            }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call<'o> {
    id: Option<&'o str>,
    name: &'o str,
    arguments_json: &'o str,
    dialect: &'o str,
    start: usize,
    end: usize,
    repair_class: &'static str,
    renamed_from: Option<&'o str>,
    beside_prose: Option<&'static str>,
    unsure: bool,
    open_end: bool,
    repairs: Vec<Repair<'o>>,
    coercions: Vec<Coercion<'o>>,
}

impl<'o> Call<'o> {
    fn of(call: &'o callwright::Acceptance, text: &mut Places<'o>, source: Option<&'o str>) -> Call<'o> {
        let (start, end) = text.pair(call.span);
        let repairs = match source {
            Some(source) => Repair::all(&call.repairs, &mut utf16(source)),
            None => Repair::all(&call.repairs, text),
        };
        Call {
            id: call.id.as_deref(),
            name: &call.name,
            arguments_json: &call.arguments,
            dialect: &call.dialect,
            start,
            end,
            repair_class: call.class().code(),
            renamed_from: call.renamed_from.as_deref(),
            beside_prose: call.beside_prose.map(callwright::BesideProse::name),
            unsure: call.unsure,
            open_end: call.open_end,
            repairs,
            coercions: Coercion::all(&call.coercions),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Repair<'o> {
    kind: &'static str,
    repair_class: &'static str,
    start: usize,
    end: usize,
    before: &'o str,
    put: &'o str,
}

impl<'o> Repair<'o> {
    pub(crate) fn all(repairs: &'o [callwright_json::Repair], places: &mut Places<'o>) -> Vec<Repair<'o>> {
        let one = |repair: &'o callwright_json::Repair| {
            let (start, end) = places.pair(repair.at);
            Repair {
                kind: repair.kind.code(),
                repair_class: repair.kind.class().code(),
                start,
                end,
                before: repair.at.of(places.text()),
                put: &repair.put,
            }
        };
        repairs.iter().map(one).collect()
    }
}

#[derive(Serialize)]
pub(crate) struct Coercion<'o> {
    pointer: &'o str,
    before: &'o str,
    after: &'o str,
}

impl<'o> Coercion<'o> {
    pub(crate) fn all(coercions: &'o [callwright::Coercion]) -> Vec<Coercion<'o>> {
        let one =
            |c: &'o callwright::Coercion| Coercion { pointer: &c.pointer, before: &c.from, after: &c.to };
        coercions.iter().map(one).collect()
    }
}

#[derive(Serialize)]
pub(crate) struct Shown<'o> {
    name: Option<&'o str>,
    dialect: &'o str,
    start: usize,
    end: usize,
    by: &'static str,
    message: String,
}

impl<'o> Shown<'o> {
    pub(crate) fn of(shown: &'o callwright::ShownCall, text: &mut Places<'_>) -> Shown<'o> {
        let (start, end) = text.pair(shown.span);
        Shown {
            name: shown.name.as_deref(),
            dialect: &shown.dialect,
            start,
            end,
            by: shown.by.name(),
            message: shown.by.to_string(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal<'o> {
    number: usize,
    id: Option<&'o str>,
    name: Option<&'o str>,
    dialect: &'o str,
    start: usize,
    end: usize,
    block: &'o str,
    code: &'static str,
    message: String,
    feedback: String,
    position: Option<Position>,
    hints: Vec<String>,
    fix: Option<String>,
    fix_is_certain: bool,
    readings: &'o [String],
    violations: Vec<Violation<'o>>,
    nearest: &'o [String],
}

#[derive(Serialize)]
struct Violation<'o> {
    pointer: &'o str,
    keyword: &'static str,
    message: &'o str,
}

/// A place: its units from 0, its line and its column from 1.
#[derive(Serialize)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

impl<'o> Refusal<'o> {
    /// `feedback` is what the model is told.
    pub(crate) fn of(
        refusal: &'o callwright::Refusal,
        start: usize,
        end: usize,
        feedback: String,
    ) -> Refusal<'o> {
        let why = WhyReport::of(refusal);
        let violations = why.violations.iter().map(|violation| Violation {
            pointer: violation.pointer,
            keyword: violation.keyword,
            message: violation.message,
        });
        Refusal {
            number: refusal.number,
            id: refusal.id.as_deref(),
            name: refusal.name.as_deref(),
            dialect: &refusal.dialect,
            start,
            end,
            block: &refusal.block,
            code: why.code,
            message: why.message,
            feedback,
            violations: violations.collect(),
            position: why.position.map(|at| Position::of(&refusal.block, at.at[0] as usize, at.line)),
            hints: why.hints,
            fix_is_certain: why.fix.as_ref().is_some_and(|fix| fix.certain),
            fix: why.fix.map(|fix| fix.text),
            readings: why.readings,
            nearest: why.nearest,
        }
    }
}

impl Position {
    fn of(block: &str, byte: usize, line: usize) -> Position {
        let before = block.get(..byte).unwrap_or(block);
        let units = |text: &str| text.encode_utf16().count();
        let in_line = before.rfind('\n').map_or(before, |at| before.get(at + 1..).unwrap_or(""));
        Position { offset: units(before), line, column: units(in_line) + 1 }
    }
}

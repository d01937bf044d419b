//! Outcomes in JavaScript's terms: names in its spelling, places in UTF-16 units.

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

/// `told` as a line of JSON, and behind it a line for each of its calls: what was done about it, which few callers ask for,
/// and most of what a repaired call has to tell.
pub(crate) fn with_edits<'o>(told: &impl Serialize, verdicts: impl Iterator<Item = &'o Told<'o>>) -> String {
    let mut lines = json(told);
    for edits in verdicts.filter_map(Told::edits) {
        lines.push('\n');
        lines.push_str(&json(edits));
    }
    lines
}

/// A call or a refusal.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Told<'o> {
    Call(Call<'o>),
    Refusal(Box<Refusal<'o>>),
}

/// The members of every call. Its repairs stand behind all that.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Call<'o> {
    members: Members<'o>,
    #[serde(skip)]
    edits: Edits<'o>,
}

/// In their order, without names: its id, its name, its arguments as JSON, its dialect, its start and its end, its repair class,
/// what it was renamed from, how it stands beside prose, whether it is unsure, whether its end was open, and whether it is unchecked.
type Members<'o> = (
    Option<&'o str>,
    &'o str,
    &'o str,
    &'o str,
    usize,
    usize,
    &'static str,
    Option<&'o str>,
    Option<&'static str>,
    bool,
    bool,
    bool,
);

impl<'o> Told<'o> {
    /// `text` has the places of the answer; a native call was read from `source`, its own arguments.
    pub(crate) fn of(verdict: &'o Verdict, text: &mut Places<'o>, source: Option<&'o str>) -> Told<'o> {
        match verdict {
            Verdict::Accepted(call) => {
                let (start, end) = text.pair(call.span);
                let mut own = source.map(utf16);
                let edits = Edits::of(&call.repairs, &call.coercions, own.as_mut().unwrap_or(text));
                let members = (
                    call.id.as_deref(),
                    &*call.name,
                    &*call.arguments,
                    &*call.dialect,
                    start,
                    end,
                    call.class().code(),
                    call.renamed_from.as_deref(),
                    call.beside_prose.map(callwright::BesideProse::name),
                    call.unsure,
                    call.open_end,
                    call.unchecked,
                );
                Told::Call(Call { members, edits })
            }
            Verdict::Refused(refusal) => {
                let (start, end) = text.pair(refusal.span);
                let feedback = refusal.feedback().message_to_model();
                Told::Refusal(Box::new(Refusal::of(refusal, start, end, feedback)))
            }
        }
    }

    fn edits(&self) -> Option<&Edits<'o>> {
        match self {
            Told::Call(call) => Some(&call.edits),
            Told::Refusal(_) => None,
        }
    }
}

/// The edits of a text or a call. The members of each repair and coercion stand in their order, without names.
#[derive(Serialize)]
pub(crate) struct Edits<'o>(Vec<Repair<'o>>, Vec<Coercion<'o>>);

/// Its kind, its class, its start and its end, what stood there and what was put there.
type Repair<'o> = (&'static str, &'static str, usize, usize, &'o str, &'o str);

/// The pointer to the value, the JSON that it was and the one that it became.
type Coercion<'o> = (&'o str, &'o str, &'o str);

impl<'o> Edits<'o> {
    pub(crate) fn of(
        repairs: &'o [callwright_json::Repair],
        coercions: &'o [callwright::Coercion],
        places: &mut Places<'o>,
    ) -> Edits<'o> {
        let repair = |repair: &'o callwright_json::Repair| {
            let (start, end) = places.pair(repair.at);
            let (kind, before) = (repair.kind, repair.at.of(places.text()));
            (kind.code(), kind.class().code(), start, end, before, &*repair.put)
        };
        let repairs = repairs.iter().map(repair).collect();
        let coercion = |it: &'o callwright::Coercion| (&*it.pointer, &*it.from, &*it.to);
        Edits(repairs, coercions.iter().map(coercion).collect())
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
    kind: &'static str,
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
            kind: "refusal",
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

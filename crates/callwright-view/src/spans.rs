//! A text as the model wrote it, with what was found and done in place: calls, bytes that were struck or put in, the
//! first error.
//!
//! The text and the report on it go in, markup comes out. All of the text is in the markup, in its order; beside it
//! stands only what is marked as put in, and the caret.

use std::ops::Range;

use callwright::value::Value;
use maud::{Markup, html};

use crate::report::{list, number, span, text};
use crate::visible::{visible, with_breaks};
use crate::words;

/// A call that was found in the text.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its place, in bytes of the text.
    pub at: Range<usize>,
    /// Its fate.
    pub became: Became,
}

/// The fate of a call that was found, with its number.
#[derive(Clone, Debug)]
pub enum Became {
    /// It is made.
    Accepted(u64),
    /// It may be quoted rather than made.
    Unsure(u64),
    /// It is refused.
    Refused(u64),
    /// It is only shown, and this shows it.
    Shown(String),
}

impl Became {
    fn class(&self) -> &'static str {
        match self {
            Became::Accepted(_) => "found",
            Became::Unsure(_) => "found unsure",
            Became::Refused(_) => "found refused",
            Became::Shown(_) => "found shown",
        }
    }

    fn title(&self) -> String {
        match self {
            Became::Accepted(number) => format!("call {number}"),
            Became::Unsure(number) => format!("call {number}, unsure"),
            Became::Refused(number) => format!("call {number}, refused"),
            Became::Shown(message) => format!("shown, not made: {message}"),
        }
    }
}

/// Bytes that were struck, and what was put in their place.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Their place, in bytes of the text.
    pub at: Range<usize>,
    /// The text that was put in their place.
    pub put: String,
    /// The repair, and how much it takes for granted.
    pub why: String,
}

/// Everything that is shown in one text.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Calls.
    pub found: Vec<Found>,
    /// Repairs.
    pub edits: Vec<Edit>,
    /// The places at which errors begin.
    pub carets: Vec<(usize, String)>,
}

impl Marks {
    /// Returns the marks that `report` has for the text of an answer; native calls have texts of their own.
    pub fn of(report: &Value, raw: &str) -> Marks {
        let mut marks = Marks::default();
        for call in list(report, "calls").filter(|call| !is_native(call)) {
            let became = if is_unsure(call) { Became::Unsure } else { Became::Accepted };
            marks.found.extend(found(call, became(number(call, "number"))));
            marks.edits.extend(list(call, "repairs").filter_map(edit));
        }
        for refusal in list(report, "refusals").filter(|refusal| !is_native(refusal)) {
            let found = found(refusal, Became::Refused(number(refusal, "number")));
            // Places of a refusal are counted in its block, which stands somewhere in what was found.
            let block = text(refusal, "block");
            let begin = found.as_ref().map_or(0, |found| found.at.start);
            let at = raw.get(begin..).and_then(|rest| rest.find(block)).map(|at| begin + at);
            if let (Some(at), Some(place)) = (at, span(refusal.get("position").and_then(|p| p.get("at")))) {
                marks.carets.push((at + place.start, text(refusal, "message").to_owned()));
            }
            marks.found.extend(found);
        }
        for shown in list(report, "shown") {
            marks.found.extend(found(shown, Became::Shown(text(shown, "message").to_owned())));
        }
        marks
    }

    /// Returns the marks that `report` has for the argument text of its native call `number`, which is counted from 1.
    pub fn of_native(report: &Value, number: u64) -> Marks {
        let is_it = |call: &&Value| call.get("number").and_then(Value::as_u64) == Some(number);
        let mut marks = Marks::default();
        for call in list(report, "calls").filter(is_it) {
            marks.edits.extend(list(call, "repairs").filter_map(edit));
        }
        for refusal in list(report, "refusals").filter(is_it) {
            let place = span(refusal.get("position").and_then(|position| position.get("at")));
            marks.carets.extend(place.map(|place| (place.start, text(refusal, "message").to_owned())));
        }
        marks
    }

    /// These edits in a part of the text.
    pub fn moved(&self, to: &Range<usize>) -> Marks {
        let moved = |edit: &Edit| {
            let at = edit.at.start.checked_sub(to.start)?..edit.at.end.checked_sub(to.start)?;
            Some(Edit { at, ..edit.clone() })
        };
        Marks { edits: self.edits.iter().filter_map(moved).collect(), ..Marks::default() }
    }

    /// Returns whether there is nothing to be shown.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.edits.is_empty() && self.carets.is_empty()
    }
}

/// Returns whether this call of a report came natively.
pub fn is_native(call: &Value) -> bool {
    text(call, "dialect") == "native"
}

/// Returns whether this call of a report may be shown rather than made.
pub fn is_unsure(call: &Value) -> bool {
    call.get("unsure").and_then(Value::as_bool) == Some(true)
}

fn found(call: &Value, became: Became) -> Option<Found> {
    let at = span(call.get("span")).filter(|at| !at.is_empty())?;
    Some(Found { at, became })
}

fn edit(repair: &Value) -> Option<Edit> {
    let why = words::because(repair);
    Some(Edit { at: span(repair.get("at"))?, put: text(repair, "put").to_owned(), why })
}

/// A part of what is shown.
struct Piece<'m> {
    shown: Shown<'m>,
    found: Option<&'m Found>,
}

enum Shown<'m> {
    Kept(&'m str),
    Struck(&'m str, &'m Edit),
    Put(&'m Edit),
    Caret(&'m str),
}

/// The text with its marks.
pub fn marked(raw: &str, marks: &Marks) -> Markup {
    html! {
        @for Piece { shown, found } in pieces(raw, marks) {
            @let piece = html! {
                @match shown {
                    Shown::Kept(text) => (visible(text)),
                    Shown::Struck(text, edit) => del title=(visible(&edit.why)) { (with_breaks(text)) },
                    Shown::Put(edit) => ins title=(visible(&edit.why)) { (with_breaks(&edit.put)) },
                    Shown::Caret(why) => span.caret title=(visible(why)) {},
                }
            };
            @match found {
                Some(Found { became, .. }) => {
                    span class=(became.class()) title=(visible(&became.title())) { (piece) }
                },
                None => (piece),
            }
        }
    }
}

fn pieces<'m>(raw: &'m str, marks: &'m Marks) -> Vec<Piece<'m>> {
    let within = |at: usize| raw.floor_char_boundary(at.min(raw.len()));
    let range = |at: &Range<usize>| within(at.start)..within(at.end).max(within(at.start));
    let found: Vec<(Range<usize>, &Found)> = marks.found.iter().map(|f| (range(&f.at), f)).collect();
    let mut edits: Vec<(Range<usize>, &Edit)> = marks.edits.iter().map(|e| (range(&e.at), e)).collect();
    // Stable: of what is put in at one place, what comes first stays first.
    edits.sort_by_key(|(at, _)| at.start);
    let mut carets: Vec<(usize, &str)> =
        marks.carets.iter().map(|(at, why)| (within(*at), why.as_str())).collect();
    carets.sort_unstable();
    let mut cuts: Vec<usize> = vec![0, raw.len()];
    cuts.extend(found.iter().flat_map(|(at, _)| [at.start, at.end]));
    cuts.extend(edits.iter().flat_map(|(at, _)| [at.start, at.end]));
    cuts.extend(carets.iter().map(|(at, _)| *at));
    cuts.sort_unstable();
    cuts.dedup();
    let (mut next_edit, mut next_caret) = (edits.iter().peekable(), carets.iter().peekable());
    let mut struck: Option<(usize, &Edit)> = None;
    // What is put in the place of something stands behind it, as in all diffs.
    let mut waiting: Vec<(usize, Piece<'m>)> = Vec::new();
    let mut pieces = Vec::new();
    for (n, &start) in cuts.iter().enumerate() {
        let end = cuts.get(n + 1).copied().unwrap_or(start);
        let call = found.iter().find(|(at, _)| at.start <= start && end <= at.end && start < at.end);
        let call = call.map(|(_, found)| *found);
        while let Some(at) = waiting.iter().position(|(end, _)| *end <= start) {
            pieces.push(waiting.remove(at).1);
        }
        let mut push = |shown| pieces.push(Piece { shown, found: call });
        while let Some((at, edit)) = next_edit.next_if(|(at, _)| at.start <= start) {
            if at.start < at.end && struck.is_none_or(|(until, _)| until < at.end) {
                struck = Some((at.end, *edit));
            }
            match edit.put.as_str() {
                "" => {}
                _ if at.is_empty() => push(Shown::Put(edit)),
                _ => waiting.push((at.end, Piece { shown: Shown::Put(edit), found: call })),
            }
        }
        while let Some((_, why)) = next_caret.next_if(|(at, _)| *at <= start) {
            push(Shown::Caret(why));
        }
        let piece = raw.get(start..end).unwrap_or_default();
        match struck.filter(|(until, _)| start < *until) {
            _ if piece.is_empty() => {}
            Some((_, edit)) => push(Shown::Struck(piece, edit)),
            None => push(Shown::Kept(piece)),
        }
    }
    pieces
}

/// The text after its edits.
pub fn repaired(raw: &str, marks: &Marks, within: Range<usize>) -> String {
    let mut edits: Vec<&Edit> = marks.edits.iter().collect();
    edits.sort_by_key(|edit| edit.at.start);
    let (mut out, mut done) = (String::new(), within.start);
    for edit in edits {
        if edit.at.start < done || within.end < edit.at.end {
            continue;
        }
        out.push_str(raw.get(done..edit.at.start).unwrap_or_default());
        out.push_str(&edit.put);
        done = edit.at.end;
    }
    out.push_str(raw.get(done..within.end).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;
    use proptest::prelude::*;

    #[test]
    fn a_repair_stands_in_its_place() {
        let raw = r#"Well: {"a": 1,}} end"#;
        let report = json!({"calls": [{"number": 1, "dialect": "json_bare", "span": [6, 16], "repairs": [
            {"kind": "drop-comma", "class": "R1", "at": [13, 14], "before": ",", "put": ""},
            {"kind": "drop-closer", "class": "R1", "at": [15, 16], "before": "}", "put": ""},
        ]}]});
        let marks = Marks::of(&report, raw);
        let call = |text: &str| format!("<span class=\"found\" title=\"call 1\">{text}</span>");
        let shown = [
            "Well: ".to_owned(),
            call("{&quot;a&quot;: 1"),
            call("<del title=\"a comma too many: drop-comma, R1, bytes 13..14\">,</del>"),
            call("}"),
            call("<del title=\"a closing bracket too many: drop-closer, R1, bytes 15..16\">}</del>"),
            " end".to_owned(),
        ];
        assert_eq!(marked(raw, &marks).into_string(), shown.concat());
        assert_eq!(repaired(raw, &marks, 6..16), r#"{"a": 1}"#);
    }

    #[test]
    fn what_is_put_in_stands_behind_what_it_replaces() {
        let raw = "{'a\n': 1";
        let report = json!({"calls": [{"number": 1, "dialect": "json_bare", "span": [0, 9], "repairs": [
            {"kind": "swap-quote", "class": "R1", "at": [1, 2], "before": "'", "put": "\""},
            {"kind": "escape-control", "class": "R1", "at": [3, 4], "before": "\n", "put": "\\n"},
            {"kind": "add-closer", "class": "R2", "at": [9, 9], "before": "", "put": "}"},
        ]}]});
        let shown = marked(raw, &Marks::of(&report, raw)).into_string();
        let order = [
            "<del",
            ">'</del>",
            "<ins",
            ">&quot;</ins>",
            "a",
            "<span class=\"nl\">\n</span></del>",
            "<ins",
            ">\\n</ins>",
            "': 1",
            "<ins",
            ">}</ins>",
        ];
        let mut rest = shown.as_str();
        for part in order {
            let at = rest.find(part).unwrap_or_else(|| panic!("no {part} in {rest}"));
            rest = &rest[at + part.len()..];
        }
    }

    #[test]
    fn a_caret_stands_at_the_first_error() {
        let raw = "x <t>{\"a\": </t>";
        let report = json!({"refusals": [{"number": 1, "dialect": "hermes", "span": [2, 16], "block": "{\"a\": ",
            "message": "cut", "position": {"at": [5, 6]}}]});
        let shown = marked(raw, &Marks::of(&report, raw)).into_string();
        let caret = "<span class=\"found refused\" title=\"call 1, refused\"><span class=\"caret\" title=\"cut\"></span></span>";
        let at = shown.find(caret).unwrap();
        assert!(
            shown[..at].ends_with("{&quot;a&quot;:</span>") || shown[..at].ends_with("{&quot;a&quot;</span>"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_unsure_or_shown_is_marked_as_such() {
        let raw = "a <b> c <d>";
        let report = json!({"calls": [{"number": 1, "dialect": "hermes", "span": [2, 5], "unsure": true}],
            "shown": [{"name": "f", "dialect": "hermes", "span": [8, 11], "by": "line", "message": "words & words"}]});
        assert_eq!(
            marked(raw, &Marks::of(&report, raw)).into_string(),
            "a <span class=\"found unsure\" title=\"call 1, unsure\">&lt;b&gt;</span> c \
             <span class=\"found shown\" title=\"shown, not made: words &amp; words\">&lt;d&gt;</span>"
        );
    }

    /// The text of markup that is only made of spans, `del` and `ins`; the text of `ins` is left out.
    fn text_content(markup: &str) -> String {
        let (mut out, mut rest, mut is_put) = (String::new(), markup, false);
        while let Some(c) = rest.chars().next() {
            let (n, text) = match c {
                '<' => {
                    let end = rest.find('>').unwrap() + 1;
                    let tag = &rest[..end];
                    let name: String =
                        tag[1..].chars().take_while(|c| c.is_ascii_alphabetic() || *c == '/').collect();
                    assert!(
                        matches!(name.as_str(), "span" | "/span" | "del" | "/del" | "ins" | "/ins"),
                        "{tag}"
                    );
                    is_put = if name == "ins" {
                        true
                    } else if name == "/ins" {
                        false
                    } else {
                        is_put
                    };
                    (end, "")
                }
                '&' => {
                    let end = rest.find(';').unwrap() + 1;
                    let text = match &rest[..end] {
                        "&lt;" => "<",
                        "&gt;" => ">",
                        "&amp;" => "&",
                        "&quot;" => "\"",
                        other => panic!("{other}"),
                    };
                    (end, text)
                }
                c => (c.len_utf8(), &rest[..c.len_utf8()]),
            };
            if !is_put {
                out.push_str(text);
            }
            rest = &rest[n..];
        }
        out
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "<script>alert(1)</script>",
            "\"",
            "'",
            "&",
            "&lt;",
            "<",
            ">",
            "\u{202e}",
            "\u{1b}[31m",
            "\0",
            "é",
            "🙂",
            "<img src=x onerror=alert(1)>",
            "</pre>",
            "{\"a\": 1}",
            " ",
            "\n",
            "<!--",
            "]]>",
            "\u{9b}",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, rng_seed: proptest::test_runner::RngSeed::Fixed(24), ..ProptestConfig::default() })]

        /// All of the text is there, in its order, whatever stands in it and wherever marks are put; nothing of it is
        /// markup, and no control character is left.
        #[test]
        fn the_text_is_whole_and_harmless(
            raw in hostile(),
            edits in prop::collection::vec((0..80usize, 0..9usize, hostile(), hostile()), 0..6),
            found in prop::collection::vec((0..80usize, 0..60usize, prop::option::of(hostile())), 0..3),
            carets in prop::collection::vec((0..90usize, hostile()), 0..3),
        ) {
            let edits = edits.into_iter().map(|(at, n, put, why)| Edit { at: at..at + n, put, why });
            let found = found.into_iter().map(|(at, n, shown)| {
                Found { at: at..at + n, became: shown.map_or(Became::Refused(1), Became::Shown) }
            });
            let marks = Marks { found: found.collect(), edits: edits.collect(), carets };
            let shown = marked(&raw, &marks).into_string();
            prop_assert_eq!(text_content(&shown), visible(&raw));
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(!shown.chars().any(|c| c == '\u{202e}'), "a mark that turns the direction is left");
            prop_assert_eq!(shown.matches("<ins").count(), marks.edits.iter().filter(|e| !e.put.is_empty()).count());
        }
    }
}

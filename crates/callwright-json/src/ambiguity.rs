//! Detects uncertain readings: a string may hold a member or an element that was meant to follow it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::scan::ByteSet;
use crate::search::mark;
use crate::{Guide, Kind, Member, Place, Reading, Repair, RepairKind, Span, Value, strict};

const BRACKETS: ByteSet<6> = ByteSet(*b"{[()]}");
/// The signs in or behind which keys and elements stand, and the brackets that count them.
const SIGNS: ByteSet<9> = ByteSet(*b"\"',{[()]}");

/// Returns the first quote that was taken for text, if a string of `readings`, of `source`, may hold parts
/// that belong behind it.
pub(crate) fn swallowing(readings: &[Reading<'_>], guide: &dyn Guide, source: &str) -> Option<Span> {
    let repairs = readings.iter().flat_map(|reading| &reading.repairs);
    let quotes = repairs.filter(|repair| repair.kind == RepairKind::EscapeQuote).map(|repair| repair.at);
    // A tie of several readings is reported with all of them.
    let is_swallowing = !readings.is_empty() && readings.iter().all(|one| passes_own_quote(one, source))
        || readings.iter().any(|reading| reading.holds_member(guide));
    is_swallowing.then(|| quotes.min().unwrap_or_default())
}

impl Reading<'_> {
    /// Returns whether a part of one of its strings, outside all brackets, may as well be a member that `guide` declares:
    /// `'a', b='c'`, `"a\", \"times\":: 2"`. A reading that was made with this guide holds none.
    pub fn holds_member(&self, guide: &dyn Guide) -> bool {
        let has = |kind: RepairKind| self.repairs.iter().any(|repair| repair.kind == kind);
        let edits = Edits {
            escaped: has(RepairKind::EscapeQuote),
            added: has(RepairKind::AddQuote),
            swapped: has(RepairKind::SwapQuote),
        };
        if edits == Edits::default() {
            return false;
        }
        // Each value waits here with the object around it, if there is one.
        let mut open: Vec<(Value<'_>, Place, Option<Holder<'_>>)> =
            alloc::vec![(self.value(), guide.root(), None)];
        while let Some((value, place, holder)) = open.pop() {
            match value.kind() {
                Kind::Object => {
                    let declares_some = declared(guide, place).next().is_some();
                    let holder = Holder { object: value, place, is_list: false, declares_some };
                    for (key, member) in value.members() {
                        let Some(name) = key.as_str() else { continue };
                        if !holder.declares_some && is_torn_key(&name) {
                            return true;
                        }
                        if let Member::Declared(_, at) | Member::Open(at) = guide.member(place, &name) {
                            open.push((member, at, Some(holder)));
                        }
                    }
                }
                Kind::Array => {
                    let holder = holder.map(|holder| Holder { is_list: true, ..holder });
                    let elements = value.elements().enumerate();
                    open.extend(elements.map(|(n, element)| (element, guide.element(place, n), holder)));
                }
                Kind::String => {
                    let text = value.as_str().unwrap_or_default();
                    let is_torn = match holder {
                        Some(holder) => holder.has_member_in(&text, edits, guide),
                        // The value stands in a list without an object around it.
                        None => edits.escaped && holds_element(&text),
                    };
                    if is_torn {
                        return true;
                    }
                }
                Kind::Number | Kind::Bool | Kind::Null => {}
            }
        }
        false
    }
}

/// Returns whether a string of `reading`, of `source`, goes on beyond a quote that may be its own, or had no
/// quote there.
fn passes_own_quote(reading: &Reading<'_>, source: &str) -> bool {
    use RepairKind::{AddQuote, EscapeQuote, QuoteValue, SwapQuote};
    let of_quotes = |repair: &&Repair| matches!(repair.kind, AddQuote | EscapeQuote | QuoteValue | SwapQuote);
    let repairs: Vec<&Repair> = reading.repairs.iter().filter(of_quotes).collect();
    !repairs.is_empty()
        && reading.strings().any(|string| {
            let from = repairs.partition_point(|repair| repair.at.start < string.start);
            let within = repairs[from..].iter().take_while(|repair| repair.at.end <= string.end);
            let count = |kind| within.clone().filter(|repair| repair.kind == kind).count();
            let written = string.of(source);
            // The string is an element of a list.
            let is_element =
                || Span::new(0, string.start as usize).of(source).trim_end().ends_with(['[', ',']);
            let is_list = || written.contains(',') && is_element();
            // `["a, null]` has two elements if the quote belongs before the comma.
            let holds_literal = || written.split(',').skip(1).any(|piece| is_literal(piece.trim()));
            match count(AddQuote) {
                // `[fast, slow]`
                _ if count(QuoteValue) != 0 => is_list(),
                // `"fast" (required)`, `L"fast"`: with its odd quote, the written quotes make pairs.
                1 => own_quotes(written) % 2 == 1 || is_element() && holds_literal(),
                0 => closes_within(written),
                _ => is_list(),
            }
        })
}

/// Returns whether `text` is a number, or a literal of JSON.
fn is_literal(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'']);
    strict(text)
        .is_ok_and(|tree| !matches!(tree.root(text).kind(), Kind::String | Kind::Object | Kind::Array))
}

/// Counts the quotes without a backslash inside `string`, which lacks one of its own.
fn own_quotes(string: &str) -> usize {
    let is_quote = |c: &char| matches!(c, '"' | '\'');
    let first = string.chars().next().filter(is_quote);
    let Some(quote) = first.or_else(|| string.chars().next_back().filter(is_quote)) else { return 0 };
    // The string's other quote may be doubled.
    let inside = string.trim_matches(quote);
    let is_escaped =
        |at: usize| inside[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    inside.match_indices(quote).filter(|(at, _)| !is_escaped(*at)).count()
}

/// Returns whether a closing quote of its own sort stands in `string` without an opening one before it:
/// `“a”, “b”`.
fn closes_within(string: &str) -> bool {
    let mut inside = string.chars();
    let (Some(open), Some(close)) = (inside.next(), inside.next_back()) else { return false };
    !open.is_ascii() && open != close && inside.find(|c| *c == open || *c == close) == Some(close)
}

/// The kinds of repairs that a reading made to quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Edits {
    escaped: bool,
    added: bool,
    swapped: bool,
}

/// The object around a string.
#[derive(Clone, Copy)]
struct Holder<'a> {
    object: Value<'a>,
    place: Place,
    /// The string stands in a list of the object.
    is_list: bool,
    /// The guide declares keys for it.
    declares_some: bool,
}

impl Holder<'_> {
    fn has_member_in(self, text: &str, edits: Edits, guide: &dyn Guide) -> bool {
        // Where no quote was added, a string that goes on too far goes on over its own quote.
        let from = match edits {
            Edits { added: true, .. } => Some(0),
            Edits { escaped: true, .. } => text.find(['"', '\'']),
            _ => text.find('\''),
        };
        let Some(from) = from else { return false };
        let is_declared = |key: &str| matches!(guide.member(self.place, key), Member::Declared(..));
        let is_missing = |key: &str| is_declared(key) && self.object.get(key).is_none();
        let is_torn = || ends_in_members(text) || closes_first(text) || self.is_list && holds_element(text);
        let is_parted = || holds_pair(text) || self.is_list && self.declares_some && holds_element(text);
        if edits.escaped && is_torn() || edits.swapped && is_parted() {
            return true;
        }
        if !self.declares_some {
            let before = text.trim_end().strip_suffix(',').map_or("", str::trim_end);
            let is_torn = has_colon(text) || before.ends_with(['"', '\'']) || holds_key(text);
            return (edits.escaped || edits.added) && is_torn;
        }
        // Strings are mostly complete, so most of them need no search.
        let brackets = open_brackets(text.as_bytes());
        let lacks_some = || declared(guide, self.place).any(|name| self.object.get(name).is_none());
        if brackets == Some(0) && !lacks_some() {
            return false;
        }
        // `Paris, unit='c`: its own closing quote is missing, and the next one opens the value of a member.
        let opens_value = |key: &KeyInText<'_>| {
            let between = text.get(key.at + key.name.len()..from).unwrap_or("");
            matches!(between.trim(), "=" | ":")
        };
        keys_in(text).filter(|key| from <= key.at || opens_value(key)).any(|key| match is_missing(key.name) {
            true => key.depth == 0 || brackets != Some(0),
            // `"x"], "b":: 1}}, {"a": ["y"`, `"x", {"a": "y"`: the string goes on into the next object.
            false => {
                let goes_on = brackets.is_none() || brackets != Some(0) && begins_object(&text[..key.at]);
                goes_on && is_declared(key.name)
            }
        })
    }
}

/// Returns whether `text` ends with the opener of an object that follows another one, or a string: `"x", {`.
fn begins_object(text: &str) -> bool {
    let before = text.trim_end().strip_suffix('{').map_or("", str::trim_end);
    before.strip_suffix(',').is_some_and(|text| text.trim_end().ends_with(['"', '\'', '}', ']']))
}

/// Returns the keys that `guide` declares for the object at `place`.
fn declared(guide: &dyn Guide, place: Place) -> impl Iterator<Item = &str> {
    (0..guide.slots(place)).filter_map(move |slot| guide.name(place, slot as u8))
}

/// Counts the brackets that `text` opens and leaves open; `None` where it closes one that it did not open.
pub(crate) fn open_brackets(text: &[u8]) -> Option<usize> {
    let mut open = Vec::new();
    for at in BRACKETS.places(text) {
        match text[at] {
            b'(' => open.push(b')'),
            bracket @ (b'{' | b'[') => open.push(bracket + 2),
            bracket if open.pop() != Some(bracket) => return None,
            _ => {}
        }
    }
    Some(open.len())
}

/// A quote, a comma or a bracket in a text.
#[derive(Clone)]
struct Sign<'a> {
    byte: u8,
    before: &'a str,
    behind: &'a str,
    /// The number of open brackets around it.
    depth: usize,
}

/// Returns the quotes, commas and brackets of `text`.
fn signs(text: &str) -> impl Iterator<Item = Sign<'_>> {
    let mut depth = 0_usize;
    SIGNS.places(text.as_bytes()).map(move |at| {
        let byte = text.as_bytes()[at];
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        Sign { byte, before: &text[..at], behind: &text[at + 1..], depth }
    })
}

/// Returns the quotes of `text` outside all its brackets.
fn quotes(text: &str) -> impl Iterator<Item = Sign<'_>> {
    signs(text).filter(|sign| sign.depth == 0 && matches!(sign.byte, b'"' | b'\''))
}

/// Returns the part of `text` behind the comma or other sign between members.
fn behind_parting(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix([',', ';', ':']).map(str::trim_start)
}

/// Returns whether the part of `text` behind one of its quotes is valid JSON as members of the object around
/// it: `a "quoted" word", "extra": "b`. Such members may have undeclared keys.
fn ends_in_members(text: &str) -> bool {
    const MOST_QUOTES: usize = 32;
    let quotes = text.match_indices('"').take(MOST_QUOTES);
    let mut members = quotes.filter_map(|(at, _)| text.get(at + 1..)?.trim_start().strip_prefix(','));
    members.any(|members| {
        let begins = members.trim_start().starts_with('"') && members.contains(':');
        // The source escaped line breaks and backslashes.
        let plain = |c: char| if c < ' ' || c == '\\' { ' ' } else { c };
        begins && strict(&format!("{{{}\"}}", members.chars().map(plain).collect::<String>())).is_ok()
    })
}

/// Returns whether a quote of the undeclared `key` belongs to another string: `command´`.
fn is_torn_key(key: &str) -> bool {
    let last = key.char_indices().next_back().map_or(0, |(at, _)| at);
    [0, last].into_iter().any(|at| key.as_bytes().get(at..).is_some_and(|rest| mark(rest).is_some()))
}

/// Returns whether a word of `text`, outside all brackets, stands as an undeclared key does:
/// `head -3","cwd"":"/tmp`. A comma, quote or bracket stands before it, and a quote and a colon behind it.
fn holds_key(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_place = |before: &str| {
        let before = before.trim_end();
        before.is_empty() || before.ends_with([',', '"', '\'', '{', '['])
    };
    quotes(text).any(|Sign { before, behind, .. }| {
        // The quote closes the word before it, or opens the one behind it.
        let ahead = before.trim_end_matches(is_word);
        let rest = behind.trim_start_matches(is_word);
        ahead.len() < before.len() && has_colon(behind) && is_place(ahead)
            || rest.len() < behind.len() && has_colon(rest) && is_place(before)
    })
}

/// Returns whether a quote in an element of a list ends or begins another element. Such a quote stands
/// outside all brackets, beside a separator: `rust",c++`, `rust": "go`. Or two quotes separate elements:
/// `rust"o "go`. No schema knows the number of elements.
fn holds_element(text: &str) -> bool {
    let mut before: Option<Sign<'_>> = None;
    signs(text).filter(|sign| matches!(sign.byte, b'"' | b'\'')).any(|quote| {
        let is_beside = quote.before.trim_end().ends_with([',', ':'])
            || quote.behind.trim_start().starts_with([',', ':']);
        let last = before.replace(quote.clone()).filter(|last| last.depth == 0);
        quote.depth == 0 && is_beside || last.is_some_and(|last| parts(&last, &quote))
    })
}

/// Returns whether `last` closes the text before it and `next` opens the one behind it. Between them stand a
/// few signs that may have been a comma: `eggs"o "milk`.
fn parts(last: &Sign<'_>, next: &Sign<'_>) -> bool {
    let gap = &next.before[last.before.len() + 1..];
    let closes = !last.before.is_empty() && !last.before.ends_with(char::is_whitespace);
    let opens = !next.behind.is_empty() && !next.behind.starts_with(char::is_whitespace);
    closes && opens && gap.len() <= MOST_SIGNS && !gap.ends_with(char::is_alphanumeric)
}

/// Returns whether the first quote of `text` closes the text before it, and the next quote opens a separate
/// text: `Paris", "unit", "c`, `Paris", unit="c`. A quotation instead begins with the quote that opens it.
fn closes_first(text: &str) -> bool {
    let Some((before, behind)) = text.split_once('"') else { return false };
    let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '=' | ':' | ',');
    // `kq"}, "note": "x`
    let behind = behind.trim_start().trim_start_matches(['}', ']']);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let opens_text =
        |next: &str| next.starts_with('"') || next.trim_start_matches(is_name).starts_with("=\"");
    let opens_next = behind_parting(behind).is_some_and(opens_text);
    !before.is_empty() && !before.ends_with(opens) && opens_next
}

/// Returns whether an apostrophe in `text` closes something, and one opens a part behind a comma, outside all brackets:
/// `it's fine', 'so`.
fn holds_pair(text: &str) -> bool {
    quotes(text).filter(|quote| quote.byte == b'\'').any(|quote| {
        let closes = !quote.before.ends_with(char::is_whitespace);
        closes && behind_parting(quote.behind).is_some_and(|next| next.starts_with('\''))
    })
}

/// Returns whether a colon begins `text`, or stands behind a few signs that slipped in.
pub(crate) fn has_colon(text: &str) -> bool {
    // The search reads a few signs only, since it runs at each value and at each quote.
    let mut near = text.char_indices().take_while(|(at, _)| *at <= MOST_SIGNS);
    near.find(|(_, c)| c.is_alphanumeric() || *c == ':').is_some_and(|(_, c)| c == ':')
}

/// A longer run of signs between a key and its colon did not slip in, in bytes.
const MOST_SIGNS: usize = 4;

/// A part of a text that looks like a key.
struct KeyInText<'a> {
    at: usize,
    name: &'a str,
    /// The number of open brackets around it.
    depth: usize,
}

/// Returns the name behind a blank and before `=` or a colon: ` times='`.
fn key_behind(text: &str) -> Option<&str> {
    let word = text.trim_start_matches(' ');
    let name =
        word.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
    let rest = word[name.len()..].trim_start_matches(' ');
    (word.len() < text.len() && rest.starts_with(['=', ':'])).then_some(name)
}

/// Returns the keys in `text`: `"times":`, `: "times"`, `, "times"`, `, times=`, `', times'`, `' times=`.
fn keys_in(text: &str) -> impl Iterator<Item = KeyInText<'_>> {
    signs(text).filter_map(|Sign { byte, before, behind, depth }| match byte {
        b',' => {
            let word = behind.trim_start();
            let name = word.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            let rest = word[name.len()..].trim_start();
            // Another sign may stand for the colon: `', times.'`
            let behind = rest.strip_prefix(|c: char| !c.is_alphanumeric() && !c.is_whitespace());
            let opens = |text: &str| text.trim_start().starts_with(['"', '\'']);
            let is_key = rest.starts_with(['=', ':'])
                || (opens(rest) || behind.is_some_and(opens)) && before.trim_end().ends_with(['"', '\'']);
            (is_key && !name.is_empty()).then_some(KeyInText { at: text.len() - word.len(), name, depth })
        }
        b'"' | b'\'' if let Some(name) = key_behind(behind) => {
            Some(KeyInText { at: before.len() + 1, name, depth })
        }
        quote @ (b'"' | b'\'') => {
            // The name's other quote may open the next word.
            let (name, rest) = behind.split_once(char::from(quote))?;
            let is_behind = || before.trim_end().ends_with([':', ',', ']', '}', '"', '\'']);
            let is_key = rest.trim_start().starts_with(':') || is_behind();
            is_key.then_some(KeyInText { at: before.len(), name, depth })
        }
        _ => None,
    })
}

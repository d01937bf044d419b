//! Loose pairs: arguments that a model wrote as `path=test.py content=hello`, without any JSON around them.
//!
//! The schema must leave one reading: the text begins with a declared key, and each declared key in it stands once,
//! with `=` or `:` behind it. A value goes on to the next such key.

use callwright_json::{
    AnyValue, Guide, Kind, Kinds, Member, Options, Place, Reading, Repair, RepairKind, Span, apply, quote,
    read_with, strict,
};
use callwright_schema::SchemaGuide;

/// Longest text with pairs, in bytes: a model writes them in a line or two.
const LONGEST: usize = 4096;

/// One key with its value.
struct Pair {
    /// The key's number among the declared ones.
    slot: u8,
    place: Place,
    key: Span,
    value: Span,
}

/// Reads `text` as pairs for an object that `guide` describes.
pub(crate) fn read<'t>(text: &'t str, guide: &SchemaGuide) -> Option<Reading<'t>> {
    let body = text.trim();
    if body.len() > LONGEST
        || body.contains(['{', '}', '[', ']'])
        || !guide.kinds(guide.root()).has(Kinds::OBJECT)
    {
        return None;
    }
    let pairs = find(text, guide)?;
    let given = pairs.iter().fold(0_u128, |given, pair| given | 1 << pair.slot);
    if guide.required(guide.root()) & !given != 0 {
        return None;
    }
    let mut repairs = Vec::new();
    for (i, Pair { place, key, value, .. }) in pairs.iter().enumerate() {
        let open = if i == 0 { "{" } else { ", " };
        // The separator in front of the next pair belongs to the repair of its key.
        let next = pairs.get(i + 1).map(|next| next.key.range().start);
        let mut put = |kind, at, put: String| repairs.push(Repair { kind, at, put: put.into() });
        let before = Span::new(key.range().start, value.range().start);
        put(RepairKind::SwapSyntax, before, format!("{open}\"{}\": ", key.of(text)));
        put(RepairKind::QuoteValue, *value, json(value.of(text), guide.kinds(*place))?);
        let behind = Span::new(value.range().end, next.unwrap_or(text.len()));
        put(RepairKind::SwapSyntax, behind, if next.is_some() { "" } else { "}" }.to_owned());
    }
    let whole = apply(text, &repairs);
    let tree = strict(&whole).ok()?;
    Some(Reading { text: whole.into(), tree, repairs, span: Span::new(0, text.len()) })
}

/// Returns the pairs of `text`, if it holds nothing else.
fn find(text: &str, guide: &SchemaGuide) -> Option<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (sign, _) in text.match_indices(['=', ':']).filter(|(at, _)| !text[*at..].starts_with("==")) {
        let before = text[..sign].trim_end_matches(' ');
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
        let key = Span::new(before.trim_end_matches(is_word).len(), before.len());
        let Member::Declared(slot, place) = guide.member(guide.root(), key.of(text)) else { continue };
        if pairs.iter().any(|pair| pair.slot == slot) {
            return None;
        }
        close(text, &mut pairs, key.range().start);
        let value = text.len() - text[sign + 1..].trim_start().len();
        pairs.push(Pair { slot, place, key, value: Span::new(value, text.len()) });
    }
    close(text, &mut pairs, text.len());
    let begins = text.get(..pairs.first()?.key.range().start)?.trim().is_empty();
    (begins && pairs.iter().all(|pair| !pair.value.is_empty())).then_some(pairs)
}

/// Ends the last pair's value before `end`, without separators.
fn close(text: &str, pairs: &mut [Pair], end: usize) {
    let Some(last) = pairs.last_mut() else { return };
    let start = last.value.range().start.min(end);
    let value = text.get(start..end).unwrap_or("").trim_end_matches([' ', '\n', '\r', '\t', ',', ';']);
    last.value = Span::new(start, start + value.len());
}

/// Returns the JSON of a value without quotes, or in quotes of its own.
fn json(raw: &str, kinds: Kinds) -> Option<String> {
    // Quotes make it a string of JSON, with escapes.
    if raw.starts_with(['"', '\'']) {
        let parse = read_with(raw, &AnyValue, &Options::default());
        let string =
            parse.settled().filter(|read| read.is_whole(raw) && read.value().kind() == Kind::String)?;
        return kinds.has(Kinds::STRING).then(|| string.text.to_string());
    }
    if strict(raw).is_ok()
        && kinds.meets(Kinds::NUMBER.or(Kinds::BOOL).or(Kinds::NULL))
        && !kinds.has(Kinds::STRING)
    {
        return Some(raw.to_owned());
    }
    let is_text = kinds.has(Kinds::STRING) && !raw.contains(['"', '\'', '\\']);
    is_text.then(|| quote(raw))
}

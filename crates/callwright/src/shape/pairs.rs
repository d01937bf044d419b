//! Loose pairs: arguments that a model wrote as `path=test.py content=hello`, without any JSON around them.
//!
//! Read only where the schema leaves one reading: the text begins with a declared key, and each declared key
//! that occurs stands once, with `=` or `:` behind it. A value goes on to the next such key.

use callwright_json::{
    AnyValue, Guide, Kind, Kinds, Member, Options, Place, Reading, Repair, RepairKind, Span, apply, quote,
    read_with, strict,
};

use crate::schema::SchemaGuide;

/// A text longer than this is not looked at: pairs are what a model writes in a line or two.
const LONGEST: usize = 4096;

/// One key with its value.
struct Pair {
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
    let mut repairs = Vec::new();
    let mut used = 0_u128;
    for (i, pair) in pairs.iter().enumerate() {
        if let Member::Declared(slot, _) = guide.member(guide.root(), pair.key.of(text)) {
            used |= 1 << slot;
        }
        let put = format!("{}\"{}\": ", if i == 0 { "{" } else { ", " }, pair.key.of(text));
        repairs.push(Repair {
            kind: RepairKind::SwapSyntax,
            at: Span::new(pair.key.range().start, pair.value.range().start),
            put: put.into(),
        });
        repairs.push(Repair {
            kind: RepairKind::QuoteValue,
            at: pair.value,
            put: json(pair.value.of(text), guide.kinds(pair.place))?.into(),
        });
        // What separates this pair from the next one goes with the next one's key.
        let end = pair.value.range().end;
        let next = pairs.get(i + 1).map_or(text.len(), |next| next.key.range().start);
        repairs.push(Repair {
            kind: RepairKind::SwapSyntax,
            at: Span::new(end, next),
            put: if i + 1 == pairs.len() { "}".into() } else { "".into() },
        });
    }
    if guide.required(guide.root()) & !used != 0 {
        return None;
    }
    let whole = apply(text, &repairs);
    let tree = strict(&whole).ok()?;
    Some(Reading { text: whole.into(), tree, repairs, span: Span::new(0, text.len()) })
}

/// The pairs of `text`, if it is made of nothing else.
fn find(text: &str, guide: &SchemaGuide) -> Option<Vec<Pair>> {
    let bytes = text.as_bytes();
    let mut pairs: Vec<Pair> = Vec::new();
    let mut at = text.len() - text.trim_start().len();
    while at < text.len() {
        let rest = text.get(at..)?;
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..len];
        let sign = rest[len..].trim_start_matches(' ');
        let is_key = matches!(sign.as_bytes().first(), Some(b'=' | b':')) && !sign.starts_with("==");
        if is_key && let Member::Declared(_, place) = guide.member(guide.root(), name) {
            if pairs.iter().any(|p| p.key.of(text) == name) {
                return None;
            }
            close(text, &mut pairs, at);
            let value = text.len() - sign.len() + 1;
            let value = value + (text.len() - value - text.get(value..)?.trim_start().len());
            pairs.push(Pair { place, key: Span::new(at, at + len), value: Span::new(value, text.len()) });
            at = value.max(at + len + 1);
        } else if pairs.is_empty() {
            return None;
        } else {
            at += len.max(1);
        }
        // On to the beginning of the next word.
        while at < text.len() && (!text.is_char_boundary(at) || is_word(bytes[at - 1])) {
            at += 1;
        }
    }
    close(text, &mut pairs, text.len());
    (!pairs.is_empty() && pairs.iter().all(|p| !p.value.is_empty())).then_some(pairs)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// Ends the last pair's value before `end`, separators aside.
fn close(text: &str, pairs: &mut [Pair], end: usize) {
    let Some(last) = pairs.last_mut() else { return };
    let start = last.value.range().start.min(end);
    let value = text.get(start..end).unwrap_or("").trim_end_matches([' ', '\n', '\r', '\t', ',', ';']);
    last.value = Span::new(start, start + value.len());
}

/// The JSON of a value that stands without quotes, or in quotes of its own.
fn json(raw: &str, kinds: Kinds) -> Option<String> {
    // Quotes make it a string of JSON, escapes and all.
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

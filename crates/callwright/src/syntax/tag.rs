//! Tags in the form of any dialect: `<parameter=a>`, `<invoke name="f">`, `</｜DSML｜parameter>`,
//! `<|open|>argument key="a" type="string"<|sep|>`, `]<]minimax[>[</invoke>`, `<|call|>`.
//!
//! A place in a text goes in, one [`Tag`] with its role comes out. This module does not know what may stand between
//! tags.

use callwright_json::Span;
use memchr::memrchr;

use super::marks::{bar, fit};
use crate::syntax::{Incomplete, Seen, ends_with_any_case};

/// Longest tag, in bytes.
pub(crate) const MAX_TAG: usize = 384;
/// Longest word of a special token.
const MAX_TOKEN: usize = 48;
/// The mark before each tag of MiniMax M3.
pub(crate) const MINIMAX: &str = "]<]minimax[>[";
/// The end of a tag of Kimi K3.
const SEP: &str = "<|sep|>";

/// The words of tags, each with its role.
#[rustfmt::skip]
const WORDS: &[(&str, Role)] = &[
    ("function", Role::Call), ("invoke", Role::Call), ("call", Role::Call), ("parameter", Role::Param),
    ("param", Role::Param), ("argument", Role::Param), ("arg", Role::Param), ("tool_sep", Role::Separator),
    ("calls", Role::Group), ("tools", Role::Group),
];
/// The endings of further words, with any text before: `longcat_tool_call`.
#[rustfmt::skip]
const ENDINGS: &[(&str, Role)] = &[
    ("arg_key", Role::Key), ("arg_value", Role::Value), ("tool_call", Role::Group), ("toolcall", Role::Group),
    ("tool_calls", Role::Group), ("function_call", Role::Group), ("function_calls", Role::Group),
];

/// One tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// The bytes of the tag.
    pub(crate) at: Span,
    /// The tag closes something.
    pub(crate) closing: bool,
    /// The tag closes what it opens: `<parameter name="a"/>`.
    pub(crate) empty: bool,
    /// The role of the tag.
    pub(crate) role: Role,
    /// The word, without the dialect's own addition before or behind all its words.
    pub(crate) word: Span,
    /// The name in the tag: `f` of `<invoke name="f">`, `a` of `<parameter=a>`.
    pub(crate) key: Option<Span>,
    /// The tag has marks that only a dialect's tags have: `]<]minimax[>[<to>`, `<|open|>call tool="f"<|sep|>`.
    pub(crate) marked: bool,
}

impl Tag {
    /// Makes a tag with nothing in it but its word.
    pub(crate) fn new(at: Span, closing: bool, role: Role, word: Span) -> Tag {
        Tag { at, closing, empty: false, role, word, key: None, marked: false }
    }
}

/// The role of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// One call: `<function=f>`, `<invoke name="f">`.
    Call,
    /// One argument with its key: `<parameter=a>`.
    Param,
    /// The key of an argument alone: `<arg_key>`.
    Key,
    /// The value of an argument alone: `<arg_value>`.
    Value,
    /// The separator behind a name: `<tool_sep>`.
    Separator,
    /// A group of calls: `<tool_call>`, `<function_calls>`.
    Group,
    /// A special token: `<|call|>`.
    Token,
    /// Another word.
    Other,
}

/// Returns the text of an attribute in XML: `a&amp;b` → `a&b`.
pub(crate) fn unescaped(attribute: &str) -> String {
    const ENTITIES: [(&str, &str); 5] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let entities = ENTITIES.iter().filter(|_| attribute.contains('&'));
    entities.fold(attribute.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

/// Returns the tag that begins at `from`.
pub(crate) fn tag_at(text: &str, from: usize) -> Seen<Tag> {
    let bytes = text.as_bytes();
    let (marked, start) = match bytes.get(from) {
        Some(b'<') => (false, from),
        Some(b']') => match fit(&bytes[from..], MINIMAX)? {
            Some(len) => (true, from + len),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    if *bytes.get(start).ok_or(Incomplete)? != b'<' {
        return Ok(None);
    }
    if let None | Some(b'|' | 0xEF) = bytes.get(start + 1) {
        for (open, closing) in [("<|open|>", false), ("<|close|>", true)] {
            if let Some(len) = fit(&bytes[start..], open)? {
                return between_tokens(text, from, start + len, closing);
            }
        }
    }
    let mut at = start + 1;
    let closing = bytes.get(at) == Some(&b'/');
    at += usize::from(closing);
    // `<｜DSML｜ parameter …>`, `<|call|>`
    if let Some(len) = bar(bytes.get(at..).unwrap_or(&[])) {
        // `<| call|>`
        let inner = at + len + usize::from(bytes.get(at + len) == Some(&b' '));
        let word =
            inner + bytes[inner..].iter().take(MAX_TOKEN + 1).take_while(|b| is_token_byte(**b)).count();
        if MAX_TOKEN < word - inner {
            return Ok(None);
        }
        let behind = word + bar(&bytes[word..]).unwrap_or(0);
        match bytes.get(behind) {
            None => return grows(bytes, from),
            // `<|call|>`, `<|tool_call>`
            Some(b'>') => return token(text, from, behind + 1, inner, word),
            Some(_) if behind == word || bar(&bytes[behind..]).is_some() => return Ok(None),
            Some(byte) => at = behind + usize::from(*byte == b' '),
        }
    }
    let word_end = at + name_len(bytes, at);
    let is_too_long = start + 2 < at && MAX_TOKEN < word_end - at;
    if word_end == at && at < bytes.len() || is_too_long {
        return Ok(None);
    }
    // `<tool_call|>`
    match bytes.get(word_end..) {
        Some([b'|', b'>', ..]) => return token(text, from, word_end + 2, at, word_end),
        Some([b'|']) => return grows(bytes, from),
        _ => {}
    }
    let word = significant(text, at, word_end);
    let word = if bytes.get(word_end) == Some(&b'=') { before_name(text, word) } else { word };
    let plain = Tag::new(Span::at(from), closing, role_of(word.of(text)), word);
    let mut tag = Tag { marked, ..plain };
    let end = attributes(text, word_end, b'>', &mut tag);
    up_to(text, end, tag)
}

/// Returns `tag` with its `end`. The text may end inside the tag; one that is too long does not count.
fn up_to(text: &str, end: Seen<usize>, tag: Tag) -> Seen<Tag> {
    let from = tag.at.start as usize;
    let Ok(end) = end else { return grows(text.as_bytes(), from) };
    let end = end.filter(|end| end - from <= MAX_TAG);
    Ok(end.map(|end| Tag { at: Span::new(from, end), ..tag }))
}

/// Returns whether the word of a tag, `use_tool`, speaks of a call.
pub(crate) fn names_call(word: &str) -> bool {
    let holds = |part: &str| {
        word.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
    };
    ["tool", "function", "invoke", "call"].into_iter().any(holds)
}

/// Returns the tag at the end of `text`, if there is one.
pub(crate) fn last_tag(text: &str) -> Option<Tag> {
    let near = text.len().saturating_sub(MAX_TAG);
    let at = near + memrchr(b'<', text.as_bytes().get(near..)?)?;
    tag_at(text, at).ok()?.filter(|tag| tag.at.end as usize == text.len())
}

fn token(text: &str, from: usize, end: usize, inner: usize, word: usize) -> Seen<Tag> {
    // `<|tool_call:start|>f<|tool_arg:start|>a<|tool_arg:value|>x<|tool_arg:end|><|tool_call:end|>`
    let (role, closing) = match text.get(inner..word).and_then(|word| word.rsplit_once(':')) {
        Some(("tool_call", "start")) => (Role::Group, false),
        Some(("tool_call", "end")) => (Role::Group, true),
        Some(("tool_arg", "start")) => (Role::Key, false),
        Some(("tool_arg", "value")) => (Role::Value, false),
        Some(("tool_arg", "end")) => (Role::Value, true),
        _ => (Role::Token, true),
    };
    Ok(Some(Tag::new(Span::new(from, end), closing, role, Span::new(inner, word))))
}

/// Reads a tag from behind its first token: `<|open|>argument key="a" type="string"<|sep|>`.
fn between_tokens(text: &str, from: usize, at: usize, closing: bool) -> Seen<Tag> {
    let bytes = text.as_bytes();
    // `<|close|> argument <|sep|>`
    let at = at + bytes[at..].iter().take(8).take_while(|byte| **byte == b' ').count();
    let word_end = at + name_len(bytes, at);
    if MAX_TOKEN < word_end - at {
        return Ok(None);
    }
    if bytes.get(word_end..) == Some(b"|") {
        return grows(bytes, from);
    }
    let word = Span::new(at, word_end);
    let mut tag = Tag { marked: true, ..Tag::new(Span::at(from), closing, role_of(word.of(text)), word) };
    let end = attributes(text, word_end, b'<', &mut tag).and_then(|end| match end {
        Some(end) => Ok(fit(&bytes[end - 1..], SEP)?.map(|len| end - 1 + len)),
        None => Ok(None),
    });
    up_to(text, end, tag)
}

/// Reads the attributes up to `last` and returns the place behind it, if a tag goes on like this.
fn attributes(text: &str, from: usize, last: u8, tag: &mut Tag) -> Seen<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    // `<parameter=a>`
    if bytes.get(at) == Some(&b'=') {
        let end = find_in_tag(bytes, at + 1, |byte| byte == last || matches!(byte, b'\n' | b'<'))?;
        tag.empty = bytes[end - 1] == b'/';
        tag.key = Some(unquoted(text, at + 1, end - usize::from(tag.empty)));
        return Ok((bytes[end] == last).then_some(end + 1));
    }
    while at < from + MAX_TAG {
        let byte = *bytes.get(at).ok_or(Incomplete)?;
        if byte == last {
            tag.empty = bytes[at - 1] == b'/';
            return Ok(Some(at + 1));
        }
        if byte.is_ascii_whitespace() || byte == b'/' {
            at += 1;
            continue;
        }
        let Some(attribute) = attribute_at(text, at, last)? else { return Ok(None) };
        if is_key(attribute.name.of(text)) {
            tag.key = Some(attribute.value);
        }
        at = attribute.end;
    }
    Ok(None)
}

/// One attribute of a tag.
#[derive(Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) name: Span,
    /// The value without its quotes.
    pub(crate) value: Span,
    end: usize,
}

/// Returns the attribute at `from` of a tag that ends with `last`.
#[inline]
fn attribute_at(text: &str, from: usize, last: u8) -> Seen<Attribute> {
    let bytes = text.as_bytes();
    let peek = |at: usize| bytes.get(at).copied().ok_or(Incomplete);
    let len = bytes[from..].iter().take(64).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let name = Span::new(from, from + len);
    let behind_blanks = |from: usize| from + bytes[from..].iter().take(8).take_while(|b| **b == b' ').count();
    let sign = behind_blanks(from + len);
    if peek(sign)? != b'=' || name.is_empty() {
        return Ok(None);
    }
    let value = behind_blanks(sign + 1);
    let end = match peek(value)? {
        quote @ (b'"' | b'\'') => 1 + find_in_tag(bytes, value + 1, |byte| byte == quote || byte == b'\n')?,
        _ => {
            let is_sign = |byte: u8| matches!(byte, b'<' | b'"') || byte == last;
            let end = find_in_tag(bytes, value, |byte| is_sign(byte) || byte.is_ascii_whitespace())?;
            // `key=="a"` is not an attribute.
            if bytes[end] == b'"' {
                return Ok(None);
            }
            end
        }
    };
    let is_empty = bytes[end - 1] == b'/' && bytes.get(end) == Some(&last);
    Ok(Some(Attribute { name, value: unquoted(text, value, end - usize::from(is_empty)), end }))
}

fn find_in_tag(bytes: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> Result<usize, Incomplete> {
    let len = bytes[from..].iter().take(MAX_TAG).position(|byte| is_end(*byte));
    len.map(|len| from + len).ok_or(Incomplete)
}

/// Returns whether an attribute of this name holds the name of a tool or of an argument.
fn is_key(name: &str) -> bool {
    matches!(name, "name" | "key" | "tool")
}

/// Returns the attributes of `tag`.
pub(crate) fn attributes_of(text: &str, tag: &Tag) -> impl Iterator<Item = Attribute> {
    let (mut at, end) = (tag.word.end as usize, tag.at.end as usize);
    let text = &text[..end];
    std::iter::from_fn(move || {
        at += text[at..].bytes().take_while(u8::is_ascii_whitespace).count();
        let attribute = attribute_at(text, at, b'>').ok()??;
        at = attribute.end;
        Some(attribute)
    })
}

/// Returns the word in front of `name`, if the blank between them was lost or is a tokenizer's: `functionname="f"`,
/// `functionĠname="f"` → `function`
fn before_name(text: &str, word: Span) -> Span {
    let whole = word.of(text);
    let before = whole.strip_suffix("name").map(|before| before.trim_end_matches('Ġ'));
    match before.filter(|before| matches!(role_of(before), Role::Call | Role::Param)) {
        Some(before) => Span::new(word.start as usize, word.start as usize + before.len()),
        None => word,
    }
}

/// Returns the place without its quotes: `"a"` → `a`
fn unquoted(text: &str, from: usize, end: usize) -> Span {
    const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];
    let piece = text.get(from..end).unwrap_or("");
    let inner = piece.trim_start().trim_start_matches(QUOTES);
    let start = from + piece.len() - inner.len();
    Span::new(start, start + inner.trim_end().trim_end_matches(QUOTES).len())
}

/// Returns whether the tag that began at `from` may go on behind the text; one that is too long does not count.
fn grows(bytes: &[u8], from: usize) -> Seen<Tag> {
    if bytes.len() - from < MAX_TAG { Err(Incomplete) } else { Ok(None) }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/')
        || byte == 0xE2
        || byte & 0xC0 == 0x80
}

fn is_word_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'|') || 0x80 <= *byte
}

/// Returns the length of a word, which may have a bar in it (`ifm|arg_key`), but not at its ends.
fn name_len(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let len = rest.iter().take(MAX_TAG).take_while(|byte| is_word_byte(byte)).count();
    match rest.get(..len) {
        Some([b'|', ..]) => 0,
        Some([.., b'|']) => len - 1,
        _ => len,
    }
}

/// Returns the part of a word that has a role: `atem:parameter` → `parameter`, `ifm|arg_key` → `arg_key`,
/// `tool_call:x7` → `tool_call`
fn significant(text: &str, from: usize, end: usize) -> Span {
    let whole = text.get(from..end).unwrap_or("");
    let Some(split) = whole.rfind([':', '|']) else { return Span::new(from, end) };
    let behind = whole.get(split + 1..).unwrap_or("");
    if role_of(behind) != Role::Other || role_of(whole.get(..split).unwrap_or("")) == Role::Other {
        Span::new(from + split + 1, end)
    } else {
        Span::new(from, from + split)
    }
}

fn role_of(word: &str) -> Role {
    let whole = WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known));
    let ending = || ENDINGS.iter().find(|(known, _)| ends_with_any_case(word.as_bytes(), known));
    whole.or_else(ending).map_or(Role::Other, |(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match tag_at(text, 0) {
            Ok(Some(tag)) => format!(
                "{}{:?} {} {}",
                if tag.closing { "/" } else { "" },
                tag.role,
                tag.key.map_or("-", |key| key.of(text)),
                tag.at.end
            ),
            Err(Incomplete) => "grows".into(),
            Ok(None) => "no".into(),
        }
    }

    #[test]
    fn every_form_of_tag_says_what_it_is_for() {
        for (text, expected) in [
            ("<parameter=a>", "Param a"),
            ("</parameter>", "/Param -"),
            ("<function=get_weather>", "Call get_weather"),
            ("<invoke name=\"f\">", "Call f"),
            ("<atem:parameter name='a b'>", "Param a b"),
            ("<｜DSML｜parameter name=\"a\" string=\"false\">", "Param a"),
            ("<|DSML|parameter name=\"a\" string=\"true\">", "Param a"),
            ("</｜DSML｜ parameter>", "/Param -"),
            ("<｜DSML｜ calls>", "Group -"),
            ("<|open|>argument key=\"a\" type=\"object\"<|sep|>", "Param a"),
            ("<|close|>argument<|sep|>", "/Param -"),
            ("<|close|> argument <|sep|>", "/Param -"),
            ("<ifm|arg_key>", "Key -"),
            ("</tool_call:x7>", "/Group -"),
            ("]<]minimax[>[<invoke name=\"f\">", "Call f"),
            ("<|call|>", "/Token -"),
            ("<｜tool▁call▁end｜>", "/Token -"),
            ("<|tool_arg:start|>", "Key -"),
            ("<|tool_arg:value|>", "Value -"),
            ("<|tool_arg:end|>", "/Value -"),
            ("<|tool_call:end|>", "/Group -"),
            ("<functionname=\"f\">", "Call f"),
            ("<paramĠname=\"a\">", "Param a"),
            ("<city>", "Other -"),
        ] {
            assert_eq!(show(text), format!("{expected} {}", text.len()), "{text}");
            for (cut, _) in text.char_indices().skip(1) {
                assert_eq!(show(&text[..cut]), "grows", "{:?}", &text[..cut]);
            }
        }
        for text in ["< b", "<3", "a", "<a b>", "<a\n=", "<p class=x y"] {
            assert!(matches!(show(text).as_str(), "no" | "grows"), "{text}: {}", show(text));
        }
    }
}

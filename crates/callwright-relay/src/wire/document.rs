//! A JSON text that is parsed once, and edited without being rebuilt.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use callwright_json::{Kind, Span, Tree, Value, quote, strict};
use http::HeaderValue;

use super::doubled::doubled;
use super::joined::joined;
use super::page::{BASE_URL, is_page, looks};

/// A strict JSON text and the places of its values in it. Clones share both.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: ByteString,
    tree: Arc<Tree>,
}

impl Document {
    /// Parses a body.
    ///
    /// # Errors
    /// The text is broken; the reason is for its sender.
    pub(crate) fn parse(body: Bytes) -> Result<Document, String> {
        let text = ByteString::try_from(body)
            .map_err(|error| format!("the body is not UTF-8 at byte {}", error.valid_up_to()))?;
        Document::of(text)
    }

    /// Parses an answer. Chunks that nobody asked for are put together, and an answer in an envelope is taken out of it. The
    /// error for a page tells how its sender calls it.
    ///
    /// # Errors
    /// As [`Document::parse`]; or a member that names or carries a call stands [twice](doubled).
    pub(crate) fn of_answer(body: Bytes, content_type: Option<&HeaderValue>) -> Result<Document, String> {
        let document = Document::parse(body.clone()).or_else(|why| {
            if is_page(&body) {
                return Err(format!("no JSON: it {}; {BASE_URL}", looks(content_type, &body)));
            }
            let joined = std::str::from_utf8(&body).ok().and_then(joined);
            joined.map_or(Err(why), Document::of)
        })?;
        match doubled(document.root()) {
            None => Ok(unwrapped(&document).unwrap_or(document)),
            Some(name) => Err(format!("it says `{name}` twice, and it is open which of them counts")),
        }
    }

    /// Parses a text.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub(crate) fn of(text: impl Into<ByteString>) -> Result<Document, String> {
        let text = text.into();
        match strict(&text) {
            Ok(tree) => Ok(Document { text, tree: Arc::new(tree) }),
            Err(at) => Err(format!("the body is not JSON at byte {at}")),
        }
    }

    /// Returns the whole value.
    pub(crate) fn root(&self) -> Value<'_> {
        self.tree.root(self.text())
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text, to be sent on. It is not copied.
    pub(crate) fn to_bytes(&self) -> Bytes {
        self.text.as_bytes().clone()
    }
}

/// Returns the chat answer in an envelope: `{"data": {"choices": […]}, "success": true}`.
fn unwrapped(document: &Document) -> Option<Document> {
    let is_answer =
        |value: Value<'_>| value.get("choices").is_some_and(|choices| choices.kind() == Kind::Array);
    let root = document.root();
    if is_answer(root) {
        return None;
    }
    let mut inner = root.members().filter(|(_, member)| is_answer(*member));
    match (inner.next(), inner.next()) {
        (Some((_, answer)), None) => Document::of(answer.raw().to_owned()).ok(),
        _ => None,
    }
}

/// The members of each chat answer and each piece of one, with the values for missing ones.
pub(crate) struct Head {
    /// The JSON texts.
    members: [(&'static str, String); 4],
}

impl Head {
    /// Makes the members for an answer of this kind to a request for `model`.
    pub(crate) fn of(id: &str, object: &str, created: u64, model: &str) -> Head {
        let members = [
            ("id", quote(id)),
            ("object", quote(object)),
            ("created", created.to_string()),
            ("model", quote(model)),
        ];
        Head { members }
    }

    /// Returns whether an answer has all of them.
    pub(crate) fn is_in(answer: Value<'_>) -> bool {
        ["id", "object", "created", "model"].iter().all(|key| present(answer, key).is_some())
    }

    /// Returns the changes that add those that `answer` lacks.
    pub(crate) fn missing(self, answer: Value<'_>) -> Vec<(&'static str, Change)> {
        let missing = self.members.into_iter().filter(|(key, _)| present(answer, key).is_none());
        missing.map(|(key, text)| (key, Change::Set(text))).collect()
    }
}

/// Returns the member of this name. A null member counts as missing.
pub(crate) fn present<'v>(object: Value<'v>, key: &str) -> Option<Value<'v>> {
    object.get(key).filter(|member| member.kind() != Kind::Null)
}

/// A change of an object's member.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The member gets this JSON text as its value; it is appended if the object lacks it.
    Set(String),
    /// The member goes.
    Remove,
}

/// Returns the object with some members changed, the others as they stand.
///
/// `{"a": 1, "b":2}` with `b` set to `3` and `c` to `4` → `{"a": 1,"b":3,"c":4}`
pub(crate) fn rewritten(object: Value<'_>, changes: &[(&str, Change)]) -> String {
    let mut out = String::with_capacity(object.raw().len() + 64);
    out.push('{');
    let mut member = |key: &str, value: &str| {
        if 1 < out.len() {
            out.push(',');
        }
        out.push_str(key);
        out.push(':');
        out.push_str(value);
    };
    let mut seen = vec![false; changes.len()];
    for (key, value) in object.members() {
        let name = key.as_str().unwrap_or_default();
        match changes.iter().position(|(changed, _)| *changed == name) {
            None => member(key.raw(), value.raw()),
            Some(at) => {
                // A key that stands twice is changed once.
                if let Change::Set(text) = &changes[at].1
                    && !seen[at]
                {
                    member(key.raw(), text);
                }
                seen[at] = true;
            }
        }
    }
    for ((key, change), seen) in changes.iter().zip(seen) {
        if let Change::Set(text) = change
            && !seen
        {
            member(&quote(key), text);
        }
    }
    out.push('}');
    out
}

/// Returns a text with other texts in these places, which stand in its order and do not overlap.
pub(crate) fn spliced(text: &str, edits: &[(Span, String)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (span, put) in edits {
        let span = span.range();
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(put);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Writes an array of these JSON texts.
pub(crate) fn array<T: AsRef<str>>(elements: impl IntoIterator<Item = T>) -> String {
    let mut out = String::from("[");
    for (n, element) in elements.into_iter().enumerate() {
        if 0 < n {
            out.push(',');
        }
        out.push_str(element.as_ref());
    }
    out.push(']');
    out
}

/// Writes an object of these members; each value is a JSON text.
pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, String)>) -> String {
    let mut out = String::from("{");
    for (n, (key, value)) in members.into_iter().enumerate() {
        if 0 < n {
            out.push(',');
        }
        out.push_str(&quote(key));
        out.push(':');
        out.push_str(&value);
    }
    out.push('}');
    out
}

/// Returns the member's string, if it is one.
pub(crate) fn string_of<'a>(object: Value<'a>, key: &str) -> Option<std::borrow::Cow<'a, str>> {
    object.get(key)?.as_str()
}

/// Returns the member's value, if it is a whole number that is not negative.
pub(crate) fn count_of(object: Value<'_>, key: &str) -> Option<u64> {
    object.get(key).filter(|v| v.kind() == Kind::Number)?.raw().parse().ok()
}

/// Applies `change` to the `values` of an array; `None` if it changes none of them. A long history without faults, the common
/// case, is only looked at.
pub(crate) fn changed<'d>(
    values: impl Iterator<Item = Value<'d>> + Clone,
    change: impl Fn(Value<'d>) -> Option<String>,
) -> Option<String> {
    let made = |value: Value<'d>| change(value).map_or(Cow::Borrowed(value.raw()), Cow::Owned);
    let (n, first) = values.clone().enumerate().find_map(|(n, value)| Some((n, change(value)?)))?;
    let before = values.clone().take(n).map(|value| Cow::Borrowed(value.raw()));
    Some(array(before.chain([Cow::Owned(first)]).chain(values.skip(n + 1).map(made))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_changed_stays_to_the_byte() {
        let text = r#"{ "a" : 1e400, "b":[ 1 ] , "c": "x", "c": "y" }"#;
        let document = Document::of(String::from(text)).unwrap();
        let set = |text: &str| Change::Set(String::from(text));
        assert_eq!(
            rewritten(document.root(), &[("b", set("2")), ("c", Change::Remove), ("d", set("3"))]),
            r#"{"a":1e400,"b":2,"d":3}"#
        );
        assert_eq!(rewritten(document.root(), &[("c", set("4"))]), r#"{"a":1e400,"b":[ 1 ],"c":4}"#);
    }

    #[test]
    fn a_body_that_is_no_json_is_told_where() {
        assert_eq!(
            Document::parse(Bytes::from_static(b"{\"a\":\xff}")).unwrap_err(),
            "the body is not UTF-8 at byte 5"
        );
        assert_eq!(Document::of(String::from("{\"a\":}")).unwrap_err(), "the body is not JSON at byte 5");
        let page = Document::of_answer(Bytes::from_static(b"\n<!doctype html>"), None).unwrap_err();
        assert!(page.starts_with("no JSON: it is of no content type") && page.contains("/v1"), "{page}");
    }
}

//! Bodies of requests, kept without repeating what the session has already: each request of a conversation holds all
//! that went before it.
//!
//! A JSON text goes in; the elements of its `messages` and its `tools` become parts of the session, by content, and
//! the rest stays in place. Put together again it is the same text to the byte.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// A shorter text is kept in place.
const WORTH: usize = 96;

/// A text as it is kept: what stands in place, and the numbers of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Part(i64),
}

impl Body {
    /// The whole text.
    pub fn text(&self, parts: &BTreeMap<i64, String>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            // A part goes only with its session.
            Piece::Part(number) => parts.get(number).cloned().unwrap_or_default(),
        };
        self.0.iter().map(piece).collect()
    }

    /// The numbers of the parts that it needs.
    pub fn parts(&self) -> impl Iterator<Item = i64> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Part(number) => Some(*number),
        })
    }

    /// From pieces; `number` gives those that are parts their numbers.
    pub(crate) fn of<E>(
        pieces: &[Cut<'_>],
        mut number: impl FnMut(usize) -> Result<i64, E>,
    ) -> Result<Body, E> {
        let piece = |(n, cut): (usize, &Cut<'_>)| {
            Ok(if cut.is_part { Piece::Part(number(n)?) } else { Piece::Text(cut.text.to_owned()) })
        };
        pieces.iter().enumerate().map(piece).collect::<Result<_, _>>().map(Body)
    }
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut<'t> {
    pub(crate) text: &'t str,
    /// Is it to be kept once for the whole session?
    pub(crate) is_part: bool,
}

impl Cut<'_> {
    /// What equal texts have in common.
    pub(crate) fn hash(&self) -> String {
        let digest: [u8; 32] = Sha256::digest(self.text.as_bytes()).into();
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[derive(Deserialize)]
struct Request<'t> {
    #[serde(borrow, default)]
    messages: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'t RawValue>,
}

/// Cuts a request. What is none stays whole.
pub(crate) fn cut(text: &str) -> Vec<Cut<'_>> {
    let whole = || vec![Cut { text, is_part: false }];
    let Ok(request) = serde_json::from_str::<Request<'_>>(text) else { return whole() };
    let mut parts: Vec<&str> = request.messages.iter().chain(&request.tools).map(|raw| raw.get()).collect();
    parts.retain(|part| WORTH <= part.len());
    // They are borrowed from the text, so their addresses tell where they stand in it.
    let place = |part: &str| (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
    parts.sort_by_key(|part| part.as_ptr() as usize);
    let (mut cuts, mut done) = (Vec::with_capacity(2 * parts.len() + 1), 0);
    for part in parts {
        let Some(at) = place(part) else { return whole() };
        let (Some(before), true) = (text.get(done..at), text.get(at..).is_some_and(|t| t.starts_with(part)))
        else {
            return whole();
        };
        cuts.extend((!before.is_empty()).then_some(Cut { text: before, is_part: false }));
        cuts.push(Cut { text: part, is_part: true });
        done = at + part.len();
    }
    cuts.extend(text.get(done..).filter(|rest| !rest.is_empty()).map(|text| Cut { text, is_part: false }));
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_same_when_it_is_put_together_again() {
        let long = "x".repeat(100);
        let request = format!(
            r#"{{ "tools" : [{{"name":"{long}"}}], "n": 1e400, "messages": [ {{"content":"{long}"}},{{"content":"a"}}, {{"content":"{long}"}} ] }}"#
        );
        for (text, n_parts) in [
            (request.as_str(), 3),
            ("", 0),
            ("no JSON", 0),
            (r#"{"messages": 1}"#, 0),
            (r#"{"tools": null}"#, 0),
        ] {
            let cuts = cut(text);
            assert_eq!(cuts.iter().filter(|cut| cut.is_part).count(), n_parts, "{text}");
            let parts: BTreeMap<i64, String> =
                (0..).zip(&cuts).map(|(n, cut)| (n, cut.text.to_owned())).collect();
            let body = Body::of(&cuts, |n| Ok::<_, ()>(n as i64)).unwrap();
            assert_eq!(body.text(&parts), text);
            assert_eq!(body.parts().count(), n_parts);
            let kept = serde_json::to_string(&body).unwrap();
            assert_eq!(serde_json::from_str::<Body>(&kept).unwrap(), body);
        }
        let cuts = cut(&request);
        let hashes: Vec<String> = cuts.iter().filter(|cut| cut.is_part).map(Cut::hash).collect();
        assert_eq!(hashes[1], hashes[2]);
        assert_ne!(hashes[0], hashes[1]);
    }
}

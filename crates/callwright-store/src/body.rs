//! Bodies of requests, kept without repeating what the session has already: each request of a conversation holds all
//! that went before it.
//!
//! A JSON text goes in; the elements of its `messages` and its `tools` become parts of the session, by content, and
//! the rest stays in place. Put together again it is the same text to the byte.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A text as it is kept: what stands in place, and the numbers of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Part(i64),
    /// Parts in the order of their numbers, from the first to the last, with the same text between any two: what was said
    /// before takes no more room the longer it gets.
    Run(i64, i64, String),
}

impl Body {
    /// The whole text.
    pub fn text(&self, parts: &BTreeMap<i64, String>) -> String {
        let mut text = String::new();
        // A part goes only with its session.
        let part = |number: i64| parts.get(&number).map_or("", String::as_str);
        for piece in &self.0 {
            match piece {
                Piece::Text(own) => text.push_str(own),
                Piece::Part(number) => text.push_str(part(*number)),
                // Only what is there: the numbers may be anybody's.
                Piece::Run(first, last, between) => {
                    for (n, (_, part)) in parts.range(*first..=(*last).max(*first)).enumerate() {
                        text.push_str(if n == 0 { "" } else { between });
                        text.push_str(part);
                    }
                }
            }
        }
        text
    }

    /// The body with each part by itself.
    pub(crate) fn unrolled(&self, parts: &BTreeMap<i64, String>) -> Body {
        let mut pieces = Vec::with_capacity(self.0.len());
        for piece in &self.0 {
            let Piece::Run(first, last, between) = piece else {
                pieces.push(piece.clone());
                continue;
            };
            for (n, (number, _)) in parts.range(*first..=(*last).max(*first)).enumerate() {
                pieces.extend((n != 0).then(|| Piece::Text(between.clone())));
                pieces.push(Piece::Part(*number));
            }
        }
        Body(pieces)
    }

    /// The numbers of the parts that it needs, from the first of each run to its last.
    pub(crate) fn runs(&self) -> impl Iterator<Item = RangeInclusive<i64>> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Part(number) => Some(*number..=*number),
            Piece::Run(first, last, _) => Some(*first..=*last),
        })
    }

    /// Adds a text.
    pub(crate) fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push(Piece::Text(text.to_owned()));
        }
    }

    /// Adds a part.
    pub(crate) fn push_part(&mut self, number: i64) {
        let next = match self.0.as_mut_slice() {
            [.., Piece::Run(_, last, by), Piece::Text(between)] if *last + 1 == number && by == between => {
                *last = number;
                None
            }
            [.., Piece::Part(first), Piece::Text(between)] if *first + 1 == number => {
                Some((*first, std::mem::take(between)))
            }
            _ => return self.0.push(Piece::Part(number)),
        };
        self.0.pop();
        if let (Some((first, between)), Some(piece)) = (next, self.0.last_mut()) {
            *piece = Piece::Run(first, number, between);
        }
    }
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut<'t> {
    pub(crate) text: &'t str,
    /// It is kept once for the whole session.
    pub(crate) is_part: bool,
}

#[derive(Deserialize)]
struct Request<'t> {
    #[serde(borrow, default)]
    messages: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'t RawValue>,
}

/// Cuts a request. Any other text stays whole.
pub(crate) fn cut(text: &str) -> Vec<Cut<'_>> {
    let whole = || vec![Cut { text, is_part: false }];
    let Ok(request) = serde_json::from_str::<Request<'_>>(text) else { return whole() };
    let mut parts: Vec<&str> = request.messages.iter().chain(&request.tools).map(|raw| raw.get()).collect();
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

    /// A body as a session that knows nothing yet would keep it, and its parts.
    fn kept(text: &str) -> (Body, BTreeMap<i64, String>) {
        let (mut body, mut parts) = (Body::default(), BTreeMap::new());
        for cut in cut(text) {
            if cut.is_part {
                let known = parts.iter().find(|(_, part)| *part == cut.text).map(|(number, _)| *number);
                let number = known.unwrap_or(parts.len() as i64 + 1);
                parts.insert(number, cut.text.to_owned());
                body.push_part(number);
            } else {
                body.push_text(cut.text);
            }
        }
        (body, parts)
    }

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
            (r#"{"tools": null, "messages": []}"#, 0),
            (r#"{"messages": [1, 2, 3,4,5,1]}"#, 5),
            (r#"{"messages": [1,2,3],"tools":[{}]}"#, 4),
        ] {
            let (body, parts) = kept(text);
            assert_eq!(body.text(&parts), text);
            assert_eq!(parts.len(), n_parts, "{text}");
            let json = serde_json::to_string(&body).unwrap();
            assert_eq!(serde_json::from_str::<Body>(&json).unwrap(), body, "{json}");
            let unrolled = body.unrolled(&parts);
            assert_eq!(unrolled.text(&parts), text);
            assert!(!unrolled.0.iter().any(|piece| matches!(piece, Piece::Run(..))));
        }
    }

    #[test]
    fn what_was_said_before_takes_no_more_room_the_longer_it_gets() {
        let body = |n: i64| {
            let messages: Vec<String> = (0..n).map(|n| format!(r#"{{"content":"{n}"}}"#)).collect();
            kept(&format!(r#"{{"model":"m","messages":[{}],"tools":[]}}"#, messages.join(","))).0
        };
        assert_eq!(
            serde_json::to_string(&body(3)).unwrap(),
            r#"["{\"model\":\"m\",\"messages\":[",[1,3,","],"],\"tools\":",4,"}"]"#
        );
        let len = |n| serde_json::to_string(&body(n)).unwrap().len();
        assert!(len(1000) <= len(3) + 2 * 3, "{} bytes became {}", len(3), len(1000));
    }
}

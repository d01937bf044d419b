//! Takes the upstream's secrets out of a stream, where they are spread over its events.

use std::borrow::Cow;

use callwright_json::{Value, quote};

use crate::upstream::{Secrets, Tail};
use crate::wire::{CallPiece, Change, Delta};

/// For one choice of a streamed answer: what waits at the end of its texts, as it may be the beginning of a secret.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    text: Tail,
    reasoning: Tail,
    /// By the index of the call that they belong to.
    arguments: Vec<(Option<usize>, Tail)>,
}

impl Redactor {
    /// Takes secrets out of what a chunk adds, and holds back what may be the beginning of one. True if anything is changed.
    pub(crate) fn redact(&mut self, secrets: &Secrets, delta: &mut Delta<'_>) -> bool {
        if secrets.is_empty() {
            return false;
        }
        let is_last = delta.finish_reason.is_some();
        let in_text = push(&mut self.text, secrets, &mut delta.text, is_last);
        delta.is_repaired |= in_text;
        delta.hides_thought = push(&mut self.reasoning, secrets, &mut delta.reasoning, is_last);
        let mut in_calls = false;
        for piece in &mut delta.calls {
            let at = self.arguments.iter().position(|(index, _)| *index == piece.index);
            let at = at.unwrap_or_else(|| {
                self.arguments.push((piece.index, Tail::default()));
                self.arguments.len() - 1
            });
            in_calls |= push(&mut self.arguments[at].1, secrets, &mut piece.arguments, false);
        }
        if is_last {
            for (index, mut tail) in self.arguments.drain(..) {
                let rest = tail.rest(secrets);
                if !rest.is_empty() {
                    delta.calls.push(CallPiece::more(index, string(rest)));
                    in_calls = true;
                }
            }
        }
        in_text || delta.hides_thought || in_calls
    }
}

fn push(tail: &mut Tail, secrets: &Secrets, text: &mut Option<Cow<'_, str>>, is_last: bool) -> bool {
    let mut goes = text.as_deref().and_then(|text| tail.push(secrets, text.as_bytes()));
    let rest = if is_last { tail.rest(secrets) } else { Vec::new() };
    if !rest.is_empty() {
        let came = || text.as_deref().unwrap_or_default().as_bytes().to_vec();
        goes.get_or_insert_with(came).extend(rest);
    }
    let Some(goes) = goes else { return false };
    *text = Some(Cow::Owned(string(goes)));
    true
}

/// Secrets are ASCII, so that what is left of a text is one.
fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// How the members that hold a thought change where a part of it is hidden.
pub(crate) fn reasoning_members(own: Value<'_>, said: &str) -> [(&'static str, Change); 2] {
    let set = || Change::Set(quote(said));
    match own.get("reasoning").is_some() && own.get("reasoning_content").is_none() {
        true => [("reasoning", set()), ("reasoning_content", Change::Remove)],
        false => [("reasoning_content", set()), ("reasoning", Change::Remove)],
    }
}

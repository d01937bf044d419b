//! Checks that an answer says each of its calls once, in a place that clients look at, and only calls of requested tools. A
//! mention of the call elsewhere must be the same: clients differ in the places that they read.

use callwright_json::{Value, strict};

use super::asking::Lane;
use super::call::{Call, CallHead};
use super::wire::told::is_announced_call;
use crate::wire::{string_of, undeclared};

/// The fault of a stream that says a call in two ways.
const CONTRADICTS: &str = "the upstream's stream says one call in two ways";

impl Lane {
    /// Returns the fault for which an answer, or an event of one, cannot answer this request.
    pub(super) fn fault(&self, said: Value<'_>) -> Option<String> {
        let begins = string_of(said, "type").is_some_and(|kind| kind == "message_start");
        let message = said.get("message").filter(|_| begins);
        if message.is_some_and(|message| listed(message).any(is_announced_call)) {
            return Some(String::from("the upstream's stream begins with a call that no event announces"));
        }
        let alone = [said.get("item"), said.get("content_block")].into_iter().flatten();
        let all = [Some(said), said.get("response"), message].into_iter().flatten().flat_map(listed);
        let kind = alone.chain(all).find_map(|item| self.hosted.undeclared(item))?;
        Some(format!("the upstream's answer cannot be used: {}", undeclared(kind)))
    }
}

/// Returns the items of a response, or the blocks of a message.
fn listed(answer: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    ["output", "content"].into_iter().filter_map(move |key| answer.get(key)).flat_map(Value::elements)
}

impl Call {
    /// Takes a repetition of the whole call.
    ///
    /// # Errors
    /// It is another call.
    pub(super) fn said_again(&mut self, head: CallHead) -> Result<(), String> {
        let is_said = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        let is_same = is_said(&self.head.id, &head.id)
            && is_said(&self.head.name, &head.name)
            && is_said(self.head.namespace.as_deref().unwrap_or(""), head.namespace.as_deref().unwrap_or(""));
        if !is_same {
            return Err(String::from(CONTRADICTS));
        }
        self.arguments_said(&head.arguments)?;
        if !self.is_whole {
            self.head = CallHead { arguments: self.text().to_owned(), ..head };
        }
        Ok(())
    }

    /// Takes a repetition of all its arguments.
    ///
    /// # Errors
    /// The arguments differ.
    pub(super) fn arguments_said(&mut self, arguments: &str) -> Result<(), String> {
        // What came with the name, and what came piece by piece.
        let (with_name, in_pieces) = (!is_bare(&self.head.arguments), !is_bare(&self.arguments));
        let is_other = match with_name || in_pieces {
            true => {
                with_name && !is_same(&self.head.arguments, arguments)
                    || in_pieces && !is_same(&self.arguments, arguments)
            }
            false => self.is_whole && !is_bare(arguments),
        };
        if is_other {
            return Err(String::from(CONTRADICTS));
        }
        if !(with_name || in_pieces || self.is_whole) {
            self.arguments = arguments.to_owned();
        }
        Ok(())
    }

    /// Ends the call, without a repetition.
    ///
    /// # Errors
    /// The arguments that came with its name differ from those that came piece by piece.
    pub(super) fn ends(&mut self) -> Result<(), String> {
        let is_said_twice = !is_bare(&self.head.arguments) && !self.arguments.is_empty();
        match is_said_twice && !is_same(&self.head.arguments, &self.arguments) {
            true => Err(String::from(CONTRADICTS)),
            false => Ok(()),
        }
    }
}

/// Returns whether these are empty arguments. A block begins with an empty object, which its pieces replace.
fn is_bare(arguments: &str) -> bool {
    matches!(arguments.trim(), "" | "{}" | "null")
}

/// Returns whether these are the same arguments. Servers differ in the white space of a text that they write anew.
fn is_same(one: &str, other: &str) -> bool {
    let value = |text: &str| {
        let is_clear = strict(text).is_ok_and(|tree| tree.root(text).conflict().is_none());
        is_clear.then(|| text.parse::<callwright::value::Value>().ok())?
    };
    one == other || value(one).is_some_and(|one| value(other).is_some_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_same_by_their_values() {
        for (one, other, same) in [
            (r#"{"a":1}"#, r#"{"a": 1}"#, true),
            (r#"{"a":1"#, r#"{"a":1"#, true),
            (r#"{"a":1}"#, r#"{"a":2}"#, false),
            (r#"{"a":1}"#, r#"{"a":2,"a":1}"#, false),
            (r#"{"a":1}"#, "", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}

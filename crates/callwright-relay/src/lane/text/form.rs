//! The form of an API's events, as far as texts depend on it, and the way to write replacements.

use std::borrow::Cow;

use callwright_json::Value;

use crate::deliver::Came;

/// The meaning of an event.
pub(super) enum Place<'e> {
    /// The event has no place in the order of the answer.
    Beside,
    /// A text begins: the number of its block or item, and the text that came with it.
    Opens {
        at: u64,
        text: Cow<'e, str>,
    },
    /// The open text begins further.
    Opening(Cow<'e, str>),
    /// The next piece of a text.
    Text {
        at: u64,
        text: Cow<'e, str>,
    },
    /// The event is about the open text.
    Within,
    /// The event is not about the open text, and has a place among the others.
    Aside,
    /// The text ends; all of it, if the event repeats it.
    Closes {
        at: u64,
        text: Cow<'e, str>,
    },
    Thought(Cow<'e, str>),
    /// Something else begins.
    Block {
        is_call: bool,
        is_thought: bool,
    },
    /// The answer ends.
    Ends,
    /// The upstream's own error.
    Fails,
}

/// A call in a text, as it is written.
pub(super) struct Made {
    pub(super) id: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// None if it is refused: something else will stand there.
    pub(super) arguments: Option<String>,
}

/// Writes the events of one API.
pub(super) trait Form: Send {
    fn place<'e>(&self, event: Value<'e>) -> Place<'e>;

    /// Reads the text of this block or item from here on.
    fn begins(&mut self, at: u64);

    /// Passes an event of the upstream, under its new numbers.
    fn pass(&mut self, came: Came, out: &mut Vec<Came>);

    /// Passes an event that begins and ends nothing.
    fn pass_within(&mut self, came: Came, out: &mut Vec<Came>) {
        self.pass(came, out);
    }

    /// Says more, in a block of its own if none is open.
    fn say(&mut self, text: &str, out: &mut Vec<Came>);

    /// Ends the open block, if there is one.
    fn close(&mut self, out: &mut Vec<Came>);

    /// Writes a call, behind the open block.
    fn call(&mut self, made: &Made, out: &mut Vec<Came>);

    /// Ends the text.
    fn over(&mut self);

    /// Says the answer that was asked for in the place of an empty one, and returns the reason for its end. Without an answer it
    /// says so.
    fn say_again(&mut self, answer: Option<Value<'_>>, out: &mut Vec<Came>) -> String;

    /// Writes the event that ends the answer: for the `other` reason, if there is one, and with that many more tokens.
    fn ends(&mut self, came: Came, other: (Option<&str>, u64), out: &mut Vec<Came>);
}

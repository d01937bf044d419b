//! What an API says with its events, as far as texts depend on it, and how it says what stands in their place.

use std::borrow::Cow;

use callwright_json::Value;

use crate::deliver::Came;

/// What an event says.
pub(super) enum Place<'e> {
    /// Nothing that stands in the order of the answer.
    Beside,
    /// A text begins: the number of its block or item, and what came with it.
    Opens {
        at: u64,
        text: Cow<'e, str>,
    },
    /// The text that is open begins further.
    Opening(Cow<'e, str>),
    /// The next piece of a text.
    Text {
        at: u64,
        text: Cow<'e, str>,
    },
    /// Something about the text that is open.
    Within,
    /// Nothing about it, in its place among the others.
    Aside,
    /// The text ends; all of it, where that is said again.
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

/// A call that stands in a text, as it is written.
pub(super) struct Made {
    pub(super) id: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// None where it is refused: something else will stand there.
    pub(super) arguments: Option<String>,
}

/// Writes the events of one API.
pub(super) trait Form: Send {
    fn place<'e>(&self, event: Value<'e>) -> Place<'e>;

    /// The text of this block or item is read from here on.
    fn begins(&mut self, at: u64);

    /// An event of the upstream goes on, under the numbers that it now has.
    fn pass(&mut self, came: Came, out: &mut Vec<Came>);

    /// The same, for an event that begins and ends nothing.
    fn pass_within(&mut self, came: Came, out: &mut Vec<Came>) {
        self.pass(came, out);
    }

    /// Says more, in a block of its own where none is open.
    fn say(&mut self, text: &str, out: &mut Vec<Came>);

    /// Ends the block that is open, if one is.
    fn close(&mut self, out: &mut Vec<Came>);

    /// A call, behind what is open.
    fn call(&mut self, made: &Made, out: &mut Vec<Came>);

    /// The text is over that began.
    fn over(&mut self);

    /// Says what another answer says that was asked for in the place of an empty one, and returns why that one ended. Where there is
    /// none it says so.
    fn say_again(&mut self, answer: Option<Value<'_>>, out: &mut Vec<Came>) -> String;

    /// The event that says why the answer ends: for this reason, if there is another one, and with so many more tokens.
    fn ends(&mut self, came: Came, other: (Option<&str>, u64), out: &mut Vec<Came>);
}

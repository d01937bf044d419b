//! A call of a stream that goes out before its verdict, as far as its arguments are certain.
//!
//! Pieces of arguments go in, as they come. Out comes the number of bytes with only one reading left. It decides nothing about
//! events: their holder lets those out that end there or before.

use std::sync::Arc;
use std::time::Duration;

use callwright::{CallDelta, Context, Delta, Event, Scanner, ToolSet};
use tokio::time::Instant;

/// A call that may go out before its verdict.
pub(super) struct LiveCall {
    /// The number of its block, or of its item.
    pub(super) at: u64,
    scanner: Scanner<'static>,
    name: String,
    /// The time at which it has been held for long enough; none once it goes out.
    due: Option<Instant>,
    /// The bytes of its arguments that have come.
    pub(super) came: usize,
    /// White space before the arguments.
    blank: usize,
    /// The bytes behind that which are certain.
    sure: usize,
}

impl LiveCall {
    /// Begins with a call of the tool `name`, which is held for this time.
    pub(super) fn new(at: u64, name: String, tool_set: &Arc<ToolSet>, hold: Duration) -> LiveCall {
        LiveCall {
            at,
            scanner: Scanner::new(tool_set, &Context { native: true, ..Context::default() }),
            name,
            due: Some(Instant::now() + hold),
            came: 0,
            blank: 0,
            sure: 0,
        }
    }

    /// Returns the time at which it has been held for long enough. None once it goes out, and while nothing of it could.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| 0 < self.came)
    }

    /// Takes the next piece of its arguments.
    pub(super) fn push(&mut self, piece: &str) {
        if self.came == self.blank {
            self.blank += piece.len() - piece.trim_start().len();
        }
        let name = (self.came == 0).then_some(self.name.as_str());
        self.came += piece.len();
        let delta = CallDelta { index: Some(0), id: None, name, arguments: Some(piece) };
        let mut events = Vec::new();
        self.scanner.feed(Delta::ToolCall(delta), &mut events);
        self.count(&events);
    }

    /// Returns the bytes of its arguments that may go out by now.
    pub(super) fn certain(&mut self) -> usize {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.due = None;
            let mut events = Vec::new();
            self.scanner.stream_native_call(0, &mut events);
            self.count(&events);
        }
        if self.sure == 0 { 0 } else { self.blank + self.sure }
    }

    fn count(&mut self, events: &[Event]) {
        for event in events {
            if let Event::CallArguments { piece, .. } = event {
                self.sure += piece.len();
            }
        }
    }
}

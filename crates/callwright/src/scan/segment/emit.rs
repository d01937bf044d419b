//! Lets prose out, with the whitespace around the markup that was taken out of it.

use crate::scan::opener::Delimiter;
use crate::scan::{Event, Scanner};

impl Scanner<'_> {
    /// Lets the text up to `end` out as prose.
    pub(in crate::scan) fn release(&mut self, end: usize, out: &mut Vec<Event>) {
        if end <= self.at {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let piece = text.get(self.at..end).unwrap_or("");
        if !piece.trim().is_empty() {
            // Brackets and quotes of a list do not outlive prose.
            self.markup.delimiters.retain(|g| matches!(g, Delimiter::Fence(_) | Delimiter::Tag));
            self.standing.prose_since_call = self.has_calls();
        }
        if !self.is_holding() {
            self.release_piece(piece, out);
            self.at = end;
            self.text = text;
        } else {
            self.text = text;
            self.hold(end, out);
        }
    }

    /// Lets a piece of prose out.
    pub(in crate::scan) fn release_piece(&mut self, piece: &str, out: &mut Vec<Event>) {
        let body = piece.trim_start();
        self.blank(piece.get(..piece.len() - body.len()).unwrap_or(""));
        if body.is_empty() {
            return;
        }
        let said = body.trim_end();
        let space = std::mem::take(&mut self.space).pending;
        self.say(space, said, out);
        self.blank(body.get(said.len()..).unwrap_or(""));
    }

    fn blank(&mut self, space: &str) {
        if !self.space.removed || !(self.space.before || self.outcome.text.is_empty()) {
            self.space.pending.push_str(space);
        }
    }

    /// Takes note of markup that begins here and leaves the text.
    pub(in crate::scan) fn remove(&mut self) {
        if self.outcome.text.is_empty() {
            self.space.pending.clear();
        }
        self.space.removed = true;
        self.space.before = !self.space.pending.is_empty();
    }

    pub(in crate::scan) fn say(&mut self, mut space: String, said: &str, out: &mut Vec<Event>) {
        if self.thought.is_some() {
            space.push_str(said);
            return self.reason(&space, out);
        }
        self.outcome.text.push_str(&space);
        self.outcome.text.push_str(said);
        if self.rules.is_quiet {
            return;
        }
        space.push_str(said);
        if !space.is_empty() {
            out.push(Event::Text(space));
        }
    }
}

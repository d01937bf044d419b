//! The text in front of the value: nothing, a fence, or words.

use super::{Growing, State};
use crate::{Guide, Kinds};

impl Growing {
    /// Looks for the first bracket; `None` if more text must tell.
    ///
    /// Below words it begins a line, `Here it is:⏎{`: in a line it may be spoken of, and behind a tag or a quote it may be
    /// quoted, so that nothing is certain.
    pub(super) fn front(&mut self, text: &str, guide: &dyn Guide) -> Option<()> {
        let is_stop = |byte: &u8| matches!(byte, b'{' | b'[' | b'<' | b'"' | b'\\');
        let rest = text.as_bytes().get(self.at..)?;
        let Some(len) = rest.iter().position(is_stop) else {
            self.at = text.len();
            return None;
        };
        self.at += len;
        let front = text.get(..self.at).unwrap_or("");
        // `` ```json⏎ `` opens a fence, and no words.
        let line = front.trim_end().rsplit('\n').next().unwrap_or("").trim_start();
        let info = line.trim_start_matches('`');
        let in_fence = line.starts_with("```") && info.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let begins_line = front.trim_end_matches([' ', '\t']).ends_with('\n');
        self.has_front = !front.trim().is_empty() && !in_fence;
        let root = guide.root();
        let kinds = guide.kinds(root);
        match rest.get(len)? {
            b'{' | b'[' if self.has_front && !begins_line => self.state = State::Over,
            b'{' if kinds.has(Kinds::OBJECT) => self.open(b'{', root, guide),
            b'[' if kinds.has(Kinds::ARRAY) => self.open(b'[', root, guide),
            _ => self.state = State::Over,
        }
        Some(())
    }

    /// Looks for another bracket: the last one belonged to the words.
    pub(super) fn begin_anew(&mut self) {
        self.frames.clear();
        self.out.clear();
        (self.hidden, self.loose, self.is_after_string) = (None, 0, false);
        self.state = State::Front;
    }
}

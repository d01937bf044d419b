//! How calls stand to what the model says beside them. Words are any letters and digits; what they say decides nothing.

use crate::verdict::{BesideProse, Verdict};

/// What stands before a call on its own line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OnLine {
    /// No words.
    #[default]
    Nothing,
    /// Words, and a sign that ends them: `Let me see:`
    Words,
    /// Words that go on: a letter or a comma stands right before it.
    Sentence,
}

/// The calls of a text, and what had been said when each was made.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, OnLine)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of prose.
    pub(super) fn note(&mut self, number: usize, said: usize, on_line: OnLine) {
        self.calls.push((number, said, on_line));
    }

    /// Says of each accepted call how it stands in `text`, which is all that the model said.
    pub(super) fn tell(&self, text: &str, verdicts: &mut [Verdict]) {
        let first = text.find(char::is_alphanumeric);
        let last = text.rfind(char::is_alphanumeric);
        for &(number, said, on_line) in &self.calls {
            let Some(Verdict::Accepted(call)) = verdicts.get_mut(number) else { continue };
            let is_behind = first.is_some_and(|first| first < said);
            let is_before = last.is_some_and(|last| said <= last);
            call.beside_prose = match (is_behind, is_before, on_line) {
                (true, _, OnLine::Sentence) => Some(BesideProse::Sentence),
                (true, true, _) => Some(BesideProse::Between),
                (false, true, _) => Some(BesideProse::Below),
                (true, false, OnLine::Words) => Some(BesideProse::Line),
                (true, false, OnLine::Nothing) => Some(BesideProse::Above),
                (false, false, _) => None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BesideProse::{Above, Below, Between, Line, Sentence};
    use crate::{Context, Delta, Scanner, ToolSet, parse};

    #[test]
    fn a_call_says_where_it_stands() {
        let tools =
            ToolSet::from_json(r#"[{"name": "f", "parameters": {"properties": {"a": {}}}}]"#).unwrap();
        let call = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
        for (text, stands) in [
            ("⟨⟩", None),
            ("<think>So.</think>⟨⟩", None),
            ("\n\n⟨⟩\n", None),
            ("Ich sehe nach.\n\n⟨⟩", Some(Above)),
            ("⟨⟩\n\nすぐに。", Some(Below)),
            ("我来看看：⟨⟩", Some(Line)),
            ("Let me see. ⟨⟩", Some(Line)),
            ("Vorher.\n\n⟨⟩\n\nNachher.", Some(Between)),
            ("See ⟨⟩", Some(Sentence)),
            ("Как видно, ⟨⟩", Some(Sentence)),
        ] {
            let text = text.replace("⟨⟩", call);
            let outcome = parse(&tools, &text, &[], &Context::default());
            let found: Vec<_> = outcome.calls().map(|call| call.beside_prose).collect();
            assert_eq!(found, [stands], "{text}");
            let mut scanner = Scanner::new(&tools, &Context::default());
            let mut events = Vec::new();
            text.chars().for_each(|c| scanner.feed(Delta::Text(c.encode_utf8(&mut [0; 4])), &mut events));
            let outcome = scanner.finish(&mut events);
            assert_eq!(outcome.calls().map(|call| call.beside_prose).collect::<Vec<_>>(), [stands], "{text}");
        }
    }
}

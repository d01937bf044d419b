//! The texts for the model about calls that are right: a line about one that was not well written, and a question about
//! those that may be shown.

use callwright_json::tally;

use crate::policy::is_surrounding;
use crate::verdict::{Acceptance, Outcome, ShownBy};

/// The dialect in which the tool's own name is the tag: `<search>{…}</search>`.
const NAME_AS_TAG: &str = "toolname_tag";

impl Acceptance {
    /// Returns advice for the next call, in one line; `None` if this one was well formed.
    pub fn note(&self) -> Option<String> {
        if self.dialect == NAME_AS_TAG {
            return Some(String::from("Note: Please use <function> tags, not function name tags"));
        }
        let mut repaired = Vec::new();
        if let Some(from) = &self.renamed_from {
            repaired.push(format!("the tool's name was {from}"));
        }
        let repairs = tally(&self.repairs).into_iter().filter(|(kind, _)| !is_surrounding(*kind));
        repaired.extend(repairs.map(|(kind, n)| match n {
            1 => String::from(kind.code()),
            n => format!("{} {n} times", kind.code()),
        }));
        repaired
            .extend(self.coercions.iter().map(|c| format!("{} was {} and not {}", c.pointer, c.from, c.to)));
        if repaired.is_empty() {
            return None;
        }
        let repaired = repaired.join(", ");
        Some(format!(
            "Note: Your call to {} was repaired before it ran ({repaired}): please send strict JSON",
            self.name
        ))
    }
}

impl Outcome {
    /// Returns the notes about all accepted calls, each one once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.calls().filter_map(Acceptance::note) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// Returns the question to the model about its [unsure](crate::Acceptance::unsure) calls, also those that
    /// [stay in the text](ShownBy::Unsure): make them alone, or not at all. It is the user's next turn, and `None`
    /// without such calls. It names their tools and not their arguments.
    ///
    /// ```
    /// use callwright::{Context, ToolSet, parse};
    ///
    /// let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#)?;
    /// let context = Context { asked: Some("mistral_json"), ..Context::default() };
    /// let text = "Like this:\n<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>\nDone.";
    /// let question = parse(&tools, text, &[], &context).confirmation().unwrap();
    /// assert!(question.starts_with("Your answer holds a call of the tool f in the middle of prose"), "{question}");
    /// # Ok::<(), callwright::ToolSetError>(())
    /// ```
    pub fn confirmation(&self) -> Option<String> {
        let unsure = self.calls().filter(|call| call.unsure).map(|call| call.name.as_str());
        let shown = self.shown.iter().filter(|call| call.by == ShownBy::Unsure);
        let names: Vec<&str> = unsure.chain(shown.filter_map(|call| call.name.as_deref())).collect();
        let what = match names.as_slice() {
            [] => return None,
            [name] => format!("a call of the tool {name}"),
            names => format!("{} calls ({})", names.len(), names.join(", ")),
        };
        Some(format!(
            "Your answer holds {what} in the middle of prose. Nothing was run. If that is meant, send it alone, with no \
             words around it. If you only show it, say so, and make no call"
        ))
    }
}

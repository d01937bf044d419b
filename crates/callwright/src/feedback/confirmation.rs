//! What a model is asked whose answer holds a call that may be shown as well as made.

use crate::verdict::{Acceptance, Outcome};

impl Outcome {
    /// What to ask the model about its [unsure](Acceptance::unsure) calls, as its user's next words: to make them alone, or
    /// not at all. Nothing where it has none. It names their tools and says nothing of their arguments.
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
        let unsure: Vec<&Acceptance> = self.calls().filter(|call| call.unsure).collect();
        match unsure.as_slice() {
            [] => None,
            [call] => Some(format!(
                "Your answer holds a call of the tool {} in the middle of prose. It was not run. If you mean it, send the \
                 call alone, with no words around it. If you only show it, say so, and make no call",
                call.name
            )),
            calls => {
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                Some(format!(
                    "Your answer holds {} calls in the middle of prose ({}). They were not run. If you mean them, send the \
                     calls alone, with no words around them. If you only show them, say so, and make no call",
                    calls.len(),
                    names.join(", ")
                ))
            }
        }
    }
}

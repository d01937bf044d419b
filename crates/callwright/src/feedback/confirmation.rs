//! What a model is asked whose answer holds a call that may be shown as well as made.

use crate::verdict::Outcome;

impl Outcome {
    /// What to ask the model about its [unsure](crate::Acceptance::unsure) calls, as its user's next words: to make them
    /// alone, or not at all. Nothing where it has none. It names their tools and says nothing of their arguments.
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
        let names: Vec<&str> =
            self.calls().filter(|call| call.unsure).map(|call| call.name.as_str()).collect();
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

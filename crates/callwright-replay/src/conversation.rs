//! The state of a conversation: the user's task, the calls that were made for it, and their results.
//!
//! Calls and results are known by their place where they are text: an assistant's message that names a declared
//! tool is a call, and what the user says next is what became of it.

use callwright_value::Value;

use crate::declared::{self, Tool};

/// The subject of a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    /// The declared tools.
    pub(crate) tools: Vec<Tool>,
    /// They are declared in `tools`, and not in the prompt.
    pub(crate) is_native: bool,
    /// The user's task.
    pub(crate) task: String,
    /// The calls that were made for it, as they were written.
    pub(crate) calls: Vec<String>,
    /// The results of the last of them.
    pub(crate) results: Vec<String>,
    /// The prose that the assistant answered with, where nobody has said anything since.
    prose: Option<String>,
}

impl Conversation {
    pub(crate) fn of(body: &Value) -> Conversation {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let mut tools = declared::native(body);
        let is_native = !tools.is_empty();
        // The message that holds the prompt may hold the task as well.
        let mut prompt = None;
        if tools.is_empty() {
            let told = messages.iter().enumerate().take_while(|(_, message)| message["role"] != "assistant");
            for (at, message) in told {
                tools = declared::in_prompt(&text(message));
                if !tools.is_empty() {
                    prompt = Some(at);
                    break;
                }
            }
        }
        let mut conversation = Conversation { tools, is_native, ..Conversation::default() };
        for (at, message) in messages.iter().enumerate() {
            conversation.hear(message, prompt == Some(at));
        }
        conversation
    }

    fn hear(&mut self, message: &Value, is_prompt: bool) {
        let said = text(message);
        match message["role"].as_str() {
            Some("system" | "developer") => {}
            Some("assistant") => {
                match called(message).or_else(|| self.names_tool(&said).then(|| said.clone())) {
                    Some(call) => self.call(call),
                    None => self.prose = Some(said),
                }
            }
            Some("user") => match self.prose.take() {
                // What it took for prose was read as a call.
                Some(prose) if said.starts_with(FEEDBACK) => {
                    self.call(prose);
                    self.results.push(said);
                }
                None if !self.calls.is_empty() && self.results.is_empty() => self.results.push(said),
                _ => self.begin(if is_prompt { last_paragraph(&said).into() } else { said }),
            },
            // What a tool says, in whatever role.
            _ => self.results.push(said),
        }
    }

    fn call(&mut self, call: String) {
        self.calls.push(call);
        self.results.clear();
    }

    fn begin(&mut self, task: String) {
        self.task = task;
        self.calls.clear();
        self.results.clear();
    }

    fn names_tool(&self, text: &str) -> bool {
        !is_sentence(text) && self.tools.iter().any(|tool| text.contains(&tool.name))
    }
}

/// The begin of a message that tells a model of an error in its call.
pub(crate) const FEEDBACK: &str = "⚠️ Tool Call";

/// The begin of each sentence of the built-in script about results, so that it is not taken for a call.
pub(crate) const SENTENCES: [&str; 2] = ["Done", "It did not work"];

fn is_sentence(text: &str) -> bool {
    SENTENCES.iter().any(|sentence| text.starts_with(sentence))
}

/// The arguments of the native calls of a message.
fn called(message: &Value) -> Option<String> {
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    let functions = calls.iter().map(|call| &call["function"]).chain([&message["function_call"]]);
    // An object in some APIs, the text of one in others.
    let texts: Vec<String> = functions
        .filter_map(|function| function.get("arguments"))
        .map(|arguments| arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text of a message, its parts put together.
fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn last_paragraph(text: &str) -> &str {
    text.trim_end().rsplit_once("\n\n").map_or(text, |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_value::json;

    fn after(messages: &Value) -> (String, usize, Vec<String>) {
        let tool = json!({ "name": "f", "parameters": { "type": "object" } });
        let conversation = Conversation::of(&json!({ "tools": [tool], "messages": messages }));
        (conversation.task, conversation.calls.len(), conversation.results)
    }

    #[test]
    fn calls_and_results_are_told_from_tasks() {
        let user = |text: &str| json!({ "role": "user", "content": text });
        let says = |text: &str| json!({ "role": "assistant", "content": text });
        let calls = json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "f", "arguments": "{}" } }] });
        let tool = json!({ "role": "tool", "content": [{ "type": "text", "text": "22" }] });
        let result = |text: &str| vec![text.to_owned()];
        assert_eq!(after(&json!([user("a")])), ("a".into(), 0, vec![]));
        assert_eq!(after(&json!([user("a"), calls, tool])), ("a".into(), 1, result("22")));
        assert_eq!(
            after(&json!([user("a"), calls, tool, says("Done."), user("b")])),
            ("b".into(), 0, vec![])
        );
        assert_eq!(after(&json!([user("a"), calls, tool, user("b")])), ("b".into(), 0, vec![]));
        let in_text = json!([user("a"), says("<f>"), user("22")]);
        assert_eq!(after(&in_text), ("a".into(), 1, result("22")));
        let again = json!([user("a"), says("<f>"), user("no"), says("f()"), user("22")]);
        assert_eq!(after(&again), ("a".into(), 2, result("22")));
        let prose = json!([user("a"), says("{}"), user("⚠️ Tool Call Error: no")]);
        assert_eq!(after(&prose), ("a".into(), 1, result("⚠️ Tool Call Error: no")));
        let done = json!([user("a"), says("<f>"), user("22"), says("Done: f says 22."), user("b")]);
        assert_eq!(after(&done), ("b".into(), 0, vec![]));
    }

    #[test]
    fn a_prompt_in_front_of_the_task_is_not_the_task() {
        let definition = json!({ "name": "f", "parameters": { "type": "object" } });
        let prompt = format!("Tools:\n{definition}\n\nWhat is it?");
        let conversation = Conversation::of(&json!({ "messages": [{ "role": "user", "content": prompt }] }));
        assert_eq!((conversation.task.as_str(), conversation.is_native), ("What is it?", false));
        assert_eq!(conversation.tools.len(), 1);
    }
}

//! A conversation as every API has one, and its chat messages.
//!
//! Servers are strict where clients are not. Texts of the operator stand at the beginning, each call has one result, results
//! stand behind their calls, and turns alternate. Everything may come in any order; it goes out in this one.

use callwright_json::{Kind, Value, quote};

use crate::wire::{array, object, string_of};

/// The result of an old call that has none.
pub(crate) const NO_RESULT: &str = "no result was recorded";

/// The result of a call without a text as output: servers refuse an empty one, and models would read that nothing came.
const ELSEWHERE: &str = "The output is in the next message.";

/// The beginning of an error of a tool.
const ERROR: &str = "Error: ";

/// Returns the result of a call whose tool has failed, in words that say so.
pub(crate) fn error_of_tool(mut text: String) -> String {
    if !text.starts_with(ERROR) {
        text.insert_str(0, ERROR);
    }
    text
}

/// Returns the words for a result without a call before it.
pub(crate) fn earlier_result(id: &str, text: &str) -> String {
    format!("Result of an earlier call {id}: {text}")
}

/// A part of a user's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A text.
    Text(String),
    /// Something else, as the JSON text of a part of a chat message.
    Other(String),
}

impl Part {
    /// Adds this part to those of one message; neighbouring texts become one.
    pub(crate) fn join(self, parts: &mut Vec<Part>) {
        match (parts.last_mut(), self) {
            (Some(Part::Text(text)), Part::Text(more)) => {
                text.push('\n');
                text.push_str(&more);
            }
            (_, part) => parts.push(part),
        }
    }

    /// Makes an image at this URL, which may hold its data.
    pub(crate) fn image(url: &str) -> Part {
        let url = object([("url", quote(url))]);
        Part::Other(object([("type", quote("image_url")), ("image_url", url)]))
    }

    /// Makes a file of its name and a URL that holds its data.
    pub(crate) fn file(name: &str, data: &str) -> Part {
        let file = object([("filename", quote(name)), ("file_data", quote(data))]);
        Part::Other(object([("type", quote("file")), ("file", file)]))
    }
}

/// A call that the model made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Called {
    /// Empty if the client keeps none: then the conversation gives it one.
    pub(crate) id: String,
    pub(crate) name: String,
    /// Their text as it came, whole or broken.
    pub(crate) arguments: String,
    /// Members that its upstream added, each with a comma before it.
    pub(crate) foreign: String,
}

/// The model's words and calls in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) text: String,
    /// The thoughts, if they came from the upstream that is asked.
    pub(crate) thought: String,
    pub(crate) calls: Vec<Called>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Returned {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Its parts that are not texts.
    pub(crate) others: Vec<Part>,
}

/// A conversation, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The operator's words before the model has said anything.
    leading: Vec<String>,
    /// The parts before the model's first turn.
    opening: Between,
    turns: Vec<(Turn, Between)>,
    n_calls: usize,
}

/// The parts between two turns of the model.
#[derive(Debug, Default)]
struct Between {
    results: Vec<Returned>,
    said: Vec<Part>,
    /// A user says something in it, besides results.
    has_user: bool,
}

impl Conversation {
    /// Adds words of the operator.
    pub(crate) fn system(&mut self, text: String) {
        if text.trim().is_empty() {
            return;
        }
        if self.turns.is_empty() {
            return self.leading.push(text);
        }
        // Templates refuse it in their midst. What closes it cannot stand in it.
        let text = text.replace("</system-message", "<\\/system-message");
        self.between().said.push(Part::Text(format!("<system-message>{text}</system-message>")));
    }

    /// Adds parts of the user.
    pub(crate) fn user(&mut self, parts: Vec<Part>) {
        if !parts.is_empty() {
            let between = self.between();
            between.has_user = true;
            between.said.extend(parts);
        }
    }

    /// Returns the id of the call that has this result. Clients that keep no ids name its tool, or give results in the order of the
    /// calls.
    pub(crate) fn answered(&self, id: &str, name: &str) -> String {
        if !id.is_empty() {
            return id.to_owned();
        }
        let open = self.turns.last().into_iter().flat_map(|(turn, between)| {
            turn.calls.iter().filter(|call| between.results.iter().all(|result| result.id != call.id))
        });
        let named = open.clone().find(|call| call.name == name);
        named.or_else(|| open.clone().next()).map_or_else(|| name.to_owned(), |call| call.id.clone())
    }

    /// Adds the result of a call.
    pub(crate) fn result(&mut self, mut returned: Returned) {
        returned.id = self.answered(&returned.id, "");
        let results = &mut self.between().results;
        // Of two for one call, the last one counts.
        results.retain(|earlier| earlier.id != returned.id);
        results.push(returned);
    }

    /// Adds a turn of the model. Right behind another turn of its own it belongs to that.
    pub(crate) fn turn(&mut self, mut turn: Turn) {
        if turn == Turn::default() {
            return;
        }
        for call in &mut turn.calls {
            self.n_calls += 1;
            if call.id.is_empty() {
                // Nine letters and digits: Mistral takes no others.
                call.id = format!("call{:05}", self.n_calls);
            }
        }
        match self.turns.last_mut() {
            Some((last, between)) if between.is_empty() => {
                for (to, more) in [(&mut last.text, turn.text), (&mut last.thought, turn.thought)] {
                    if !(to.is_empty() || more.is_empty()) {
                        to.push('\n');
                    }
                    to.push_str(&more);
                }
                last.calls.extend(turn.calls);
            }
            _ => self.turns.push((turn, Between::default())),
        }
    }

    fn between(&mut self) -> &mut Between {
        self.turns.last_mut().map_or(&mut self.opening, |(_, between)| between)
    }

    /// Writes the chat messages, as the JSON text of an array.
    pub(crate) fn messages(self) -> String {
        let (system, entries) = self.settled();
        let leading = system.map(|text| message("system", quote(&text)));
        array(leading.into_iter().chain(entries.into_iter().map(Entry::message)))
    }

    /// Returns the operator's first words, and the rest in the order that servers take.
    pub(crate) fn settled(self) -> (Option<String>, Vec<Entry>) {
        let mut entries = Vec::new();
        let system = (!self.leading.is_empty()).then(|| self.leading.join("\n\n"));
        self.opening.settle(&[], true, &mut entries);
        // A thought belongs to the loop of calls that is still running.
        let loop_begins = self.turns.iter().rposition(|(_, between)| between.has_user).map_or(0, |at| at + 1);
        let n_turns = self.turns.len();
        for (at, (mut turn, between)) in self.turns.into_iter().enumerate() {
            if at < loop_begins {
                turn.thought.clear();
            }
            let calls = turn.calls.clone();
            entries.push(Entry::Turn(turn));
            let is_open = at + 1 == n_turns && between.is_empty();
            between.settle(&calls, is_open, &mut entries);
        }
        (system, entries)
    }
}

/// An entry of a conversation, once results stand behind their calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The model's turn.
    Turn(Turn),
    /// The result of a call of the turn before.
    Result {
        /// The id of the call.
        id: String,
        /// Its text.
        text: String,
    },
    /// The user's message.
    User(Vec<Part>),
}

impl Entry {
    /// Writes the chat message.
    fn message(self) -> String {
        match self {
            Entry::Turn(turn) => turn.message(),
            Entry::Result { id, text } => object([
                ("role", String::from("\"tool\"")),
                ("tool_call_id", quote(&id)),
                ("content", quote(&text)),
            ]),
            Entry::User(parts) => message("user", content(parts)),
        }
    }
}

impl Turn {
    fn message(&self) -> String {
        let mut members = vec![("role", String::from("\"assistant\""))];
        let is_silent = self.text.is_empty() && !self.calls.is_empty();
        members.push(("content", if is_silent { String::from("null") } else { quote(&self.text) }));
        if !self.thought.is_empty() {
            members.push(("reasoning_content", quote(&self.thought)));
        }
        if !self.calls.is_empty() {
            let call = |call: &Called| {
                let function = object([("name", quote(&call.name)), ("arguments", quote(&call.arguments))]);
                let Called { id, foreign, .. } = call;
                format!("{{\"id\":{},\"type\":\"function\",\"function\":{function}{foreign}}}", quote(id))
            };
            members.push(("tool_calls", array(self.calls.iter().map(call))));
        }
        object(members)
    }
}

impl Between {
    fn is_empty(&self) -> bool {
        self.results.is_empty() && self.said.is_empty()
    }

    /// Adds the results of these calls in their order, then the other words. Open calls miss no result: nobody has answered them
    /// yet.
    fn settle(mut self, calls: &[Called], are_open: bool, entries: &mut Vec<Entry>) {
        let mut parts = Vec::new();
        for call in calls {
            let at = self.results.iter().position(|result| result.id == call.id);
            let text = match at.map(|at| self.results.remove(at)) {
                Some(Returned { id, text, others }) => {
                    let is_elsewhere = text.is_empty() && !others.is_empty();
                    if !others.is_empty() {
                        parts.push(Part::Text(format!("Output of {id}:")));
                        parts.extend(others);
                    }
                    if is_elsewhere { ELSEWHERE.to_owned() } else { text }
                }
                None if are_open => continue,
                None => NO_RESULT.to_owned(),
            };
            entries.push(Entry::Result { id: call.id.clone(), text });
        }
        // No call stands before them.
        for Returned { id, text, others } in self.results {
            parts.push(Part::Text(earlier_result(&id, &text)));
            parts.extend(others);
        }
        parts.extend(self.said);
        if !parts.is_empty() {
            entries.push(Entry::User(parts));
        }
    }
}

fn message(role: &str, content: String) -> String {
    object([("role", quote(role)), ("content", content)])
}

/// Writes a text if all parts are texts, else a list of parts.
fn content(parts: Vec<Part>) -> String {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => {
                text.push_str("\n\n");
                text.push_str(&more);
            }
            (_, part) => joined.push(part),
        }
    }
    match joined.as_slice() {
        [Part::Text(text)] => quote(text),
        parts => array(parts.iter().map(|part| match part {
            Part::Text(text) => object([("type", String::from("\"text\"")), ("text", quote(text))]),
            Part::Other(part) => part.clone(),
        })),
    }
}

/// Returns the texts of a content that is a text, or a list of parts.
pub(crate) fn text(content: Option<Value<'_>>) -> String {
    let texts = parts(content).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Other(other) => refused_text(&other),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// `{"type": "refusal", "refusal": "…"}`
fn refused_text(part: &str) -> Option<String> {
    let tree = callwright_json::strict(part).ok()?;
    string_of(tree.root(part), "refusal").map(|text| text.into_owned())
}

pub(crate) fn parts(content: Option<Value<'_>>) -> Vec<Part> {
    let Some(content) = content.filter(|content| content.kind() != Kind::Null) else { return Vec::new() };
    if let Some(text) = content.as_str() {
        return vec![Part::Text(text.into_owned())];
    }
    if content.kind() != Kind::Array {
        return vec![Part::Text(content.raw().to_owned())];
    }
    let part = |part: Value<'_>| match (string_of(part, "text"), part.as_str()) {
        (Some(text), _) | (None, Some(text)) => Part::Text(text.into_owned()),
        (None, None) => Part::Other(part.raw().to_owned()),
    };
    content.elements().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(id: &str) -> Called {
        Called { id: id.into(), name: "f".into(), arguments: "{}".into(), ..Called::default() }
    }

    fn returned(id: &str, text: &str) -> Returned {
        Returned { id: id.into(), text: text.into(), others: Vec::new() }
    }

    fn user(text: &str) -> Vec<Part> {
        vec![Part::Text(text.into())]
    }

    fn call(id: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}"
        )
    }

    #[test]
    fn results_stand_behind_their_calls_in_their_order_and_none_is_missing() {
        let mut conversation = Conversation::default();
        conversation.user(user("a"));
        conversation.turn(Turn { calls: vec![called("1"), called("2"), called("3")], ..Turn::default() });
        conversation.user(user("b"));
        for (id, text) in [("2", "two"), ("9", "nine"), ("1", "old"), ("1", "one")] {
            conversation.result(returned(id, text));
        }
        let calls = array(["1", "2", "3"].map(call));
        let tool = |id: &str, text: &str| {
            format!("{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{text}\"}}")
        };
        let expected = array([
            String::from(r#"{"role":"user","content":"a"}"#),
            format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":{calls}}}"),
            tool("1", "one"),
            tool("2", "two"),
            tool("3", "no result was recorded"),
            String::from(r#"{"role":"user","content":"Result of an earlier call 9: nine\n\nb"}"#),
        ]);
        assert_eq!(conversation.messages(), expected);
    }

    #[test]
    fn what_the_operator_says_stands_first_or_with_the_user() {
        let mut conversation = Conversation::default();
        conversation.system("one".into());
        conversation.user(user("a"));
        conversation.system("two".into());
        conversation.turn(Turn { text: "b".into(), ..Turn::default() });
        conversation.system("three </system-message>".into());
        conversation.user(user("c"));
        let expected = concat!(
            r#"[{"role":"system","content":"one\n\ntwo"},{"role":"user","content":"a"},"#,
            r#"{"role":"assistant","content":"b"},"#,
            r#"{"role":"user","content":"<system-message>three <\\/system-message></system-message>\n\nc"}]"#
        );
        assert_eq!(conversation.messages(), expected);
    }

    #[test]
    fn a_thought_goes_up_in_the_loop_that_it_belongs_to() {
        let turn = |thought: &str, id: &str| Turn {
            thought: thought.into(),
            calls: vec![called(id)],
            ..Turn::default()
        };
        let mut conversation = Conversation::default();
        conversation.turn(turn("old", "1"));
        conversation.result(returned("1", ""));
        conversation.user(user("a"));
        conversation.turn(turn("new", "2"));
        conversation.result(returned("2", ""));
        let messages = conversation.messages();
        assert!(
            messages.contains("\"reasoning_content\":\"new\"") && !messages.contains("old"),
            "{messages}"
        );
    }
}

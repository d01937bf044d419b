//! What is asked, and what the upstream answers to it.

use std::fmt::Write;

/// One kind of request. Its name is the model's, by which the upstream knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// Three tools; the answer is a call.
    Call,
    /// Three tools; the answer is a text.
    Text,
    /// What an agent sends after many turns: 60 KB of tools and history. The answer is a call.
    Agent,
    /// Three tools; the answer is prose, streamed as fast as it goes.
    Prose,
    /// The same, no longer than most answers are.
    Short,
    /// The same with a pause before each event, as models make them.
    Paced,
    /// Three tools; the answer is a call whose arguments are streamed.
    Arguments,
}

impl Case {
    /// All of them.
    pub(crate) const ALL: [Case; 7] =
        [Case::Call, Case::Text, Case::Agent, Case::Prose, Case::Short, Case::Paced, Case::Arguments];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Case::Call => "call",
            Case::Text => "text",
            Case::Agent => "agent",
            Case::Prose => "prose",
            Case::Short => "short",
            Case::Paced => "paced",
            Case::Arguments => "arguments",
        }
    }

    /// The case of this name.
    pub(crate) fn named(name: &str) -> Option<Case> {
        Case::ALL.into_iter().find(|case| case.name() == name)
    }

    /// Is the answer a stream?
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Case::Prose | Case::Short | Case::Paced | Case::Arguments)
    }

    /// The body of a request.
    pub(crate) fn question(self) -> String {
        let stream = if self.is_stream() { r#","stream":true"# } else { "" };
        let (tools, history) = if self == Case::Agent { agent() } else { (tools(3), String::new()) };
        format!(
            r#"{{"model":"{}"{stream},"messages":[{{"role":"system","content":"You are a careful assistant. Use the tools."}},{{"role":"user","content":"Where does the report go wrong?"}}{history}],"tools":{tools},"temperature":0.2}}"#,
            self.name()
        )
    }

    /// The body of a whole answer.
    pub(crate) fn answer(self) -> String {
        let message = match self {
            Case::Text => {
                r#""content":"The sum is taken before the entries are filtered, so skipped ones are counted as well. Move the filter in front of the loop, and the totals agree with the table again.""#
            }
            _ => {
                r#""content":null,"tool_calls":[{"id":"call_8f2a9c","type":"function","function":{"name":"tool_1","arguments":"{\"path\": \"src/report.rs\", \"pattern\": \"sum += entry\", \"limit\": 20}"}}]"#
            }
        };
        let finish = if self == Case::Text { "stop" } else { "tool_calls" };
        format!(
            r#"{{"id":"chatcmpl-7d1f","object":"chat.completion","created":1760000000,"model":"{}","choices":[{{"index":0,"message":{{"role":"assistant",{message}}},"logprobs":null,"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":412,"completion_tokens":38,"total_tokens":450}}}}"#,
            self.name()
        )
    }

    /// How many events a streamed answer has, `[DONE]` not counted.
    fn n_events(self) -> usize {
        if self == Case::Short { 46 } else { 200 }
    }

    /// The events of a streamed answer, `[DONE]` among them. Each is about 200 bytes long.
    pub(crate) fn events(self) -> Vec<String> {
        let mut events: Vec<String> =
            (0..self.n_events() - 1).map(|n| event(self.name(), &self.delta(n), "null")).collect();
        let finish = if self == Case::Arguments { "\"tool_calls\"" } else { "\"stop\"" };
        events.push(event(self.name(), "{}", finish));
        events.push(String::from("data: [DONE]\n\n"));
        events
    }

    fn delta(self, n: usize) -> String {
        const WORDS: [&str; 8] = [" the", " entries", " of", " group", " are", " summed", " once,", " then"];
        let last = self.n_events() - 2;
        let word = WORDS[n % WORDS.len()];
        match (self, n) {
            (Case::Arguments, 0) => String::from(
                r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_8f2a9c","type":"function","function":{"name":"tool_1","arguments":""}}]}"#,
            ),
            (Case::Arguments, 1) => piece(r#"{\"path\": \"src/report.rs\", \"pattern\": \""#),
            (Case::Arguments, n) if n == last => piece(r#"\", \"limit\": 20}"#),
            (Case::Arguments, _) => piece(word),
            (_, 0) => String::from(r#"{"role":"assistant","content":""}"#),
            _ => format!(r#"{{"content":"{word}"}}"#),
        }
    }
}

/// A streamed piece of arguments.
fn piece(arguments: &str) -> String {
    format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{arguments}"}}}}]}}"#)
}

/// One event: `data: {…}` and a blank line.
pub(crate) fn event(model: &str, delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-7d1f\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\
         \"model\":\"{model}\",\"system_fingerprint\":\"fp_44709d6fcb\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n"
    )
}

/// Definitions of `n` tools, about 700 bytes each.
fn tools(n: usize) -> String {
    let tool = |n: usize| {
        format!(
            r#"{{"type":"function","function":{{"name":"tool_{n}","description":"Looks for a pattern in the files below a path and returns each line that holds it, with the file's name and the number of the line. Number {n} of its kind.","parameters":{{"type":"object","properties":{{"path":{{"type":"string","description":"The file or folder to look in, relative to the workspace."}},"pattern":{{"type":"string","description":"What to look for; no regular expression."}},"limit":{{"type":"integer","minimum":1,"maximum":1000,"description":"The most lines to return."}},"kind":{{"type":"string","enum":["files","lines","counts"]}}}},"required":["path","pattern"],"additionalProperties":false}}}}}}"#
        )
    };
    let tools: Vec<String> = (0..n).map(tool).collect();
    format!("[{}]", tools.join(","))
}

/// Twenty tools, and as much history as makes 60 KB with them: calls with their results.
fn agent() -> (String, String) {
    let tools = tools(20);
    let mut history = String::new();
    for n in 0.. {
        if 60_000 <= tools.len() + history.len() + 300 {
            break;
        }
        let line = format!(
            "{n}: let total = entries.iter().filter(|e| e.group == {n}).map(|e| e.value).sum::<u64>();\\n"
        );
        // Writing to a string does not fail.
        let _ = write!(
            history,
            r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":{{"name":"tool_{}","arguments":"{{\"path\": \"src/report_{n}.rs\", \"pattern\": \"fn total_{n}(entries: &[Entry], skip: Option<&str>)\", \"limit\": {n}}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{n}","content":"{}"}}"#,
            n % 20,
            line.repeat(6)
        );
    }
    (tools, history)
}

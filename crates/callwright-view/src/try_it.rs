//! The page to try it: an answer and tools go in, calls, repairs, readings and feedback come out.
//!
//! All of its state is a query, `answer=…&tools=…`, so that an address holds it: behind the `?` where a server makes the page,
//! behind the `#`, which never leaves the browser, where WebAssembly does. Both show the same markup.

use std::borrow::Cow;

use callwright::value::Value;
use callwright::{Dialects, Policy};
use maud::{DOCTYPE, Markup, html};

use crate::answer::answer;
use crate::examples::{ALL, Example, TOOLS};
use crate::head::head;
use crate::report::{list, number, pretty, text};
use crate::visible::visible;
use crate::what_if::WhatIf;

/// The reasons for an end that can be chosen, as upstreams name them.
pub const REASONS: [&str; 4] = ["stop", "length", "tool_calls", "content_filter"];

/// An answer as it was pasted, and the conditions that were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The text of the model, or a whole answer of chat completions as JSON.
    pub answer: String,
    /// Tool definitions: a JSON array, or a request that has them.
    pub tools: String,
    /// The policy by name.
    pub policy: Option<String>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// The only dialect that counts.
    pub dialect: Option<String>,
    /// The model had tools that its server knows, so that nobody expects calls in its text.
    pub native: bool,
}

impl Asked {
    /// Reads `answer=…&tools=…&policy=…&finish=…&dialect=…&mode=native`, or `example=NAME`; an empty query is the first
    /// example.
    pub fn of_query(query: &str) -> Asked {
        let mut asked = Asked::default();
        let mut example = None;
        let mut is_empty = true;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let chosen = || Some(value.clone().into_owned()).filter(|value| !value.is_empty());
            match &*name {
                "answer" => asked.answer = lines(&value),
                "tools" => asked.tools = lines(&value),
                "policy" => asked.policy = chosen(),
                "finish" => asked.finish_reason = chosen(),
                "dialect" => asked.dialect = chosen(),
                "mode" => asked.native = value == "native",
                "example" => example = Example::named(&value),
                _ => continue,
            }
            is_empty = false;
        }
        match example.or(ALL.first().filter(|_| is_empty)) {
            Some(example) => example.asked(),
            None => asked,
        }
    }

    /// The query that [`Asked::of_query`] reads as this.
    pub fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("answer", &self.answer).append_pair("tools", &self.tools);
        let chosen = [("policy", &self.policy), ("finish", &self.finish_reason), ("dialect", &self.dialect)];
        for (name, value) in chosen {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        if self.native {
            query.append_pair("mode", "native");
        }
        query.finish()
    }

    /// Has the engine read it.
    ///
    /// # Errors
    /// The tools cannot be used, or there is no such dialect: why, in words.
    pub fn read(&self) -> Result<Tried, String> {
        let mut said = Said::of(&self.answer);
        if let Some(chosen) = &self.finish_reason {
            said.finish_reason = Some(Cow::Borrowed(chosen));
        }
        let what_if = WhatIf {
            request: &self.tools,
            text: &said.text,
            native: said.native.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str())).collect(),
            is_native: self.native || !said.native.is_empty(),
            asked: None,
            policy: self.policy.as_deref().and_then(Policy::named).unwrap_or_default(),
            finish_reason: said.finish_reason.as_deref(),
            dialect: self.dialect.as_deref(),
        };
        let outcome = what_if.outcome().map_err(|error| error.to_string())?;
        let report = what_if.report_of(&outcome);
        let feedback = outcome.refusals().map(|refusal| refusal.feedback().message_to_model()).collect();
        Ok(Tried { choice: said.kept(), report, feedback, rest: outcome.text })
    }
}

/// The outcome of an answer.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its text as `raw`, its native calls as `native`, and its `finish_reason`.
    pub choice: Value,
    /// The report on it, as `callwright parse --json` writes it.
    pub report: Value,
    /// The feedback to the model for each call that was refused.
    pub feedback: Vec<String>,
    /// The rest of the text, which a person reads.
    pub rest: String,
}

/// The words of a model: its text, its native calls, name and arguments, and why it stopped.
struct Said<'a> {
    text: Cow<'a, str>,
    native: Vec<(String, String)>,
    finish_reason: Option<Cow<'a, str>>,
}

impl<'a> Said<'a> {
    /// The text as it is, or what is in an answer of chat completions: `{"choices": [{"message": {…}}]}`.
    fn of(pasted: &'a str) -> Said<'a> {
        let answer: Option<Value> = serde_json::from_str(pasted).ok();
        let choice = answer.as_ref().and_then(|answer| list(answer, "choices").next());
        let Some((choice, message)) = choice.and_then(|choice| Some((choice, choice.get("message")?))) else {
            return Said { text: Cow::Borrowed(pasted), native: Vec::new(), finish_reason: None };
        };
        let functions = list(message, "tool_calls").filter_map(|call| call.get("function"));
        let native =
            functions.map(|function| (text(function, "name").into(), text(function, "arguments").into()));
        Said {
            text: Cow::Owned(text(message, "content").to_owned()),
            native: native.collect(),
            finish_reason: choice
                .get("finish_reason")
                .and_then(Value::as_str)
                .map(|why| why.to_owned().into()),
        }
    }

    /// As the parts of an answer are kept.
    fn kept(&self) -> Value {
        let native = self.native.iter();
        let native =
            native.map(|(name, arguments)| callwright::json!({"name": name, "arguments": arguments}));
        callwright::json!({
            "raw": &*self.text,
            "native": Value::Array(native.collect()),
            "finish_reason": self.finish_reason.as_deref().unwrap_or_default(),
        })
    }
}

/// Browsers send `\r\n` for the ends of lines in a form.
fn lines(value: &str) -> String {
    value.replace("\r\n", "\n")
}

/// The place of the page, which decides how its addresses begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A server makes it: `/try?…`.
    Server,
    /// WebAssembly makes it in the browser: `#…`.
    Browser,
}

impl Place {
    fn address(self, query: &str) -> String {
        match self {
            Place::Server => format!("/try?{query}"),
            Place::Browser => format!("#{query}"),
        }
    }
}

/// The main part of the page.
pub fn main(asked: &Asked, place: Place) -> Markup {
    html! {
        main.try {
            section.asked {
                h1 { "Try it" }
                p.hint {
                    "Paste what a model wrote, and its tools. "
                    @match place {
                        Place::Server => "This server reads it; nothing is kept, and no model is asked.",
                        Place::Browser => "It is read in your browser; nothing leaves it.",
                    }
                }
                nav.examples aria-label="Examples" {
                    @for example in &ALL {
                        a.button href=(place.address(&format!("example={}", example.name))) { (example.title) }
                    }
                }
                form #asked method="get" action="/try" { (fields(asked)) }
                p { a #link href=(place.address(&asked.query())) { "A link to just this" } }
            }
            section #read.read aria-live="polite" aria-label="What becomes of it" {
                @match asked.read() {
                    Err(why) => p.problem { "It cannot be read: " (visible(&why)) },
                    Ok(tried) => (outcome(&tried)),
                }
            }
        }
    }
}

fn fields(asked: &Asked) -> Markup {
    let dialects = Dialects::default();
    let dialects: Vec<&str> = dialects.iter().map(|dialect| &*dialect.name).collect();
    let mode = asked.native.then_some("native");
    html! {
        label { "What the model wrote" textarea name="answer" rows="12" spellcheck="false" { "\n" (asked.answer) } }
        label {
            "Tools"
            textarea name="tools" rows="10" spellcheck="false" placeholder=(TOOLS) { "\n" (asked.tools) }
        }
        div.what-if {
            label { "Policy" (choice("policy", "auto", &Policy::ALL.map(Policy::name), asked.policy.as_deref())) }
            label { "finish_reason" (choice("finish", "not said", &REASONS, asked.finish_reason.as_deref())) }
            label { "Dialect" (choice("dialect", "any", &dialects, asked.dialect.as_deref())) }
            label { "Tools are" (choice("mode", "in the prompt", &["native"], mode)) }
            button type="submit" { "Read" }
        }
    }
}

/// A field of a form with some `options`; `none` says what holds where nothing is chosen.
pub fn choice(name: &str, none: &str, options: &[&str], chosen: Option<&str>) -> Markup {
    html! {
        select name=(name) {
            option value="" { (none) }
            @for option in options.iter().filter(|option| **option != none) {
                option value=(option) selected[chosen == Some(option)] { (option) }
            }
        }
    }
}

fn outcome(tried: &Tried) -> Markup {
    html! {
        h2 { (summary(&tried.report)) }
        (answer(&tried.choice, &tried.report))
        @for call in list(&tried.report, "calls") {
            h3 { "Call " (number(call, "number")) ": " code { (visible(text(call, "name"))) } }
            pre data-copy="" { (visible(&call.get("arguments").map(pretty).unwrap_or_default())) }
        }
        @for told in &tried.feedback {
            h3 { "What the model is told" }
            pre data-copy="" { (visible(told)) }
        }
        @if !tried.rest.trim().is_empty() {
            h3 { "What a person reads" }
            pre { (visible(&tried.rest)) }
        }
        details { summary { "The report as JSON" } pre data-copy="" { (visible(&pretty(&tried.report))) } }
    }
}

/// `1 call, 2 repairs, 1 refused`
fn summary(report: &Value) -> String {
    let n = |member: &str| list(report, member).count();
    let repairs: usize = list(report, "calls").map(|call| list(call, "repairs").count()).sum();
    let counted = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let parts = [
        counted(n("calls"), "call", "calls"),
        counted(repairs, "repair", "repairs"),
        counted(n("refusals"), "refused", "refused"),
        counted(n("shown"), "shown", "shown"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::from("No call") } else { parts.join(", ") }
}

/// The whole page as a file: styles, icon and scripts stand beside it as `style.css`, `icon.svg` and `try.js`. It is empty but
/// for a sentence until the script, a module, has put [`main`](fn@main) in.
pub fn file() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                // What the file itself brings and nothing else; WebAssembly asks for a word of its own.
                meta http-equiv="content-security-policy"
                    content="default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'";
                (head("Try it", ""))
                script type="module" src="try.js" {}
            }
            body.tried {
                header.top { span.brand { "Callwright" } }
                div #page { p.hint { "This page needs WebAssembly and a script, its own." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_the_whole_state() {
        let asked = Asked {
            answer: "a&b=\"c\"\n#é \u{202e}".into(),
            tools: "[{}]".into(),
            policy: Some("strict".into()),
            finish_reason: Some("length".into()),
            dialect: Some("hermes".into()),
            native: true,
        };
        assert_eq!(Asked::of_query(&asked.query()), asked);
        assert_eq!(Asked::of_query("answer=a%0D%0Ab&tools=").answer, "a\nb");
        assert_eq!(Asked::of_query(""), ALL[0].asked());
    }

    /// Each example shows what its title says.
    #[test]
    fn examples_come_out_as_they_say() {
        let summaries: Vec<(&str, String)> = ALL
            .iter()
            .map(|example| (example.name, summary(&example.asked().read().unwrap().report)))
            .collect();
        let expected = [
            ("quotes", "1 call, 3 repairs"),
            ("python", "1 call, 10 repairs"),
            ("tags", "1 call, 2 repairs"),
            ("cut", "1 refused"),
            ("unknown", "1 refused"),
            ("wrong", "1 refused"),
            ("shown", "1 shown"),
        ];
        assert_eq!(summaries, expected.map(|(name, summary)| (name, summary.to_owned())));
    }

    #[test]
    fn a_whole_answer_is_taken_apart() {
        let answer = r#"{"choices": [{"finish_reason": "tool_calls", "message": {"content": "Well.", "tool_calls": [
            {"function": {"name": "read_file", "arguments": "{\"path\": \"a\",}"}}]}}]}"#;
        let tools = format!("{{\"model\": \"m\", \"tools\": {TOOLS}}}");
        let asked = Asked { answer: answer.into(), tools, ..Asked::default() };
        let tried = asked.read().unwrap();
        assert_eq!(summary(&tried.report), "1 call, 1 repair");
        assert_eq!(tried.rest, "Well.");
    }

    #[test]
    fn what_is_pasted_never_becomes_markup() {
        let hostile = "</textarea><script>alert(1)</script>";
        let asked = Asked { answer: hostile.into(), tools: hostile.into(), ..Asked::default() };
        for place in [Place::Server, Place::Browser] {
            let page = main(&asked, place).into_string();
            assert!(!page.contains("<script") && page.matches("</textarea>").count() == 2, "{page}");
            assert!(page.contains("the tools are not JSON"), "{page}");
        }
    }
}

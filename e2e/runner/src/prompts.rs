//! The measured run of prompts: how often a small model that begins a call writes it malformed, taught by two lines, and
//! taught by the rules that `callwright prompt --dialect function_json` adds to them.
//!
//! A model of this size hardly ever calls by itself. So each answer is held to begin with `<`, and decodes freely from there.

use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Serialize;
use serde_json::Value;

use crate::client::{Client, ClientName};
use crate::install::Installed;
use crate::questions::{Question, Questions};
use crate::server;
use steps::step::Tally;

/// The name of the run. It takes minutes, so it is run only where it is asked for.
pub(crate) const PROMPTS: &str = "prompts";

/// What the tools are told of with, and nothing else.
const OLD: &str =
    "To use a tool, respond with:\n<function>{\"name\": \"tool_name\", \"parameters\": {...}}</function>\n";
/// Where the tools begin in a prompt.
const LISTING: &str = "\nThe following tools are available:\n";
/// The first character of an answer is told, no other.
const GRAMMAR: &str = r#"root ::= "<" [^\x00]*"#;
const MAX_TOKENS: u32 = 128;
/// The model's server decodes so many answers together.
const SLOTS: usize = 2;
const PATIENCE: Duration = Duration::from_secs(300);

/// Which prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prompt {
    Old,
    New,
}

/// One question, for the client.
#[derive(Serialize)]
struct Task<'q> {
    base_url: &'q str,
    model: &'q str,
    system: &'q str,
    grammar: &'q str,
    max_tokens: u32,
    #[serde(flatten)]
    question: &'q Question,
}

/// What an answer that begins with `<` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `<function>{"name": …, "parameters": {…}}</function>`
    Right,
    /// Another tag, such as the tool's name.
    Opening,
    /// What stands behind the tag is no JSON, or not of these two members.
    Payload,
    /// The JSON ends, and no `</function>` comes.
    Closing,
    /// It was as it should be, as far as it went.
    Cut,
}

/// What came of one prompt.
#[derive(Default)]
struct Line {
    right: usize,
    opening: usize,
    payload: usize,
    closing: usize,
    cut: usize,
    /// How many of the malformed ones callwright reads as a right call.
    read: usize,
}

impl Prompt {
    /// Returns the text that teaches the tools of the file at `tools`.
    fn system(self, tools: &str) -> Result<String> {
        let taught = server::said(&["prompt", "--dialect", "function_json", "--tools", tools], "")?;
        let (_, listing) = taught.split_once(LISTING).context("the prompt lists no tools")?;
        Ok(match self {
            Prompt::Old => format!("{OLD}{LISTING}{listing}"),
            Prompt::New => taught,
        })
    }
}

impl Line {
    fn add(&mut self, form: Form, is_read: bool) {
        self.read += usize::from(is_read);
        *match form {
            Form::Right => &mut self.right,
            Form::Opening => &mut self.opening,
            Form::Payload => &mut self.payload,
            Form::Closing => &mut self.closing,
            Form::Cut => &mut self.cut,
        } += 1;
    }

    fn malformed(&self) -> usize {
        self.opening + self.payload + self.closing
    }

    fn all(&self) -> usize {
        self.right + self.malformed() + self.cut
    }

    /// Of a hundred calls that were not cut.
    fn rate(&self) -> f64 {
        100.0 * self.malformed() as f64 / (self.right + self.malformed()).max(1) as f64
    }
}

/// Asks all `questions` under both prompts, and prints the table. Passes where the new prompt brings fewer malformed calls.
pub(crate) fn compare(
    questions: &Questions,
    upstream: &str,
    model: &str,
    installed: &Installed,
) -> Result<Tally> {
    let base_url = &format!("{upstream}/v1");
    let asked = |prompt| questions.all().iter().enumerate().map(move |(n, question)| (prompt, n, question));
    let left = Mutex::new(asked(Prompt::Old).chain(asked(Prompt::New)));
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let lines = Mutex::new([Line::default(), Line::default()]);
    let work = || -> Result<()> {
        let mut client = Client::new(ClientName::Questions, installed)?;
        while let Some((prompt, n, question)) = next() {
            let tools = installed.written(&format!("prompts-{prompt:?}-{n}.json"));
            fs::write(&tools, question.tools().to_string())?;
            let tools = tools.to_str().context("a path that is no text")?;
            let system = &prompt.system(tools)?;
            let task = Task { base_url, model, system, grammar: GRAMMAR, max_tokens: MAX_TOKENS, question };
            let report = client.run(&task, PATIENCE)?;
            ensure!(report.errors.is_empty(), "{}: {:?}", question.ask(), report.errors);
            let is_cut = report.finish == [Some(String::from("length"))];
            let form = form(&report.text, is_cut);
            let is_read = !matches!(form, Form::Right | Form::Cut) && has_call(&report.text, tools)?;
            println!("    {prompt:?}, {form:?}: {:?}", report.text.chars().take(100).collect::<String>());
            let mut lines = lines.lock().map_err(|_| anyhow!("a worker panicked"))?;
            lines[prompt as usize].add(form, is_read);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..SLOTS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    let [old, new] = lines.into_inner().map_err(|_| anyhow!("a worker panicked"))?;
    print(&old, &new);
    let ok = new.rate() < old.rate();
    Ok(Tally { passed: usize::from(ok), failed: usize::from(!ok), ok, ..Tally::default() })
}

/// Returns whether callwright reads a right call in `text`.
fn has_call(text: &str, tools: &str) -> Result<bool> {
    let report = server::said(&["parse", "--json", "--tools", tools], text)?;
    let report: Value = serde_json::from_str(&report)?;
    Ok(report["calls"].as_array().is_some_and(|calls| !calls.is_empty()))
}

/// Prints the table.
fn print(old: &Line, new: &Line) {
    println!(
        "\n| prompt | right | wrong tag | no such JSON | not closed | cut | malformed | read all the same |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, line) in [("two lines", old), ("with the rules", new)] {
        println!(
            "| {name} | {} of {} | {} | {} | {} | {} | {:.0} % | {} |",
            line.right,
            line.all(),
            line.opening,
            line.payload,
            line.closing,
            line.cut,
            line.rate(),
            line.read
        );
    }
}

/// What an answer is. Nothing is forgiven here: it is the model that is judged.
fn form(text: &str, is_cut: bool) -> Form {
    const OPEN: &str = "<function>";
    const CLOSE: &str = "</function>";
    let Some(rest) = text.strip_prefix(OPEN) else {
        return if is_cut && OPEN.starts_with(text) { Form::Cut } else { Form::Opening };
    };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let call = match values.next() {
        Some(Ok(call)) => call,
        Some(Err(error)) if !error.is_eof() => return Form::Payload,
        _ => return if is_cut { Form::Cut } else { Form::Payload },
    };
    let is_call = call.as_object().is_some_and(|call| call.len() == 2);
    if !(is_call && call["name"].is_string() && call["parameters"].is_object()) {
        return Form::Payload;
    }
    let behind = rest.get(values.byte_offset()..).unwrap_or("").trim_start();
    match behind.starts_with(CLOSE) {
        true => Form::Right,
        false if is_cut && CLOSE.starts_with(behind) => Form::Cut,
        false => Form::Closing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1-13: what the run counts as malformed.
    #[test]
    fn only_the_exact_format_is_right() {
        for (text, is_cut, expected) in [
            (r#"<function>{"name": "f", "parameters": {"a": 1}}</function>"#, false, Form::Right),
            ("<function>\n{\"name\": \"f\", \"parameters\": {}}\n</function> and more", true, Form::Right),
            (r#"<f>{"a": 1}</function>"#, false, Form::Opening),
            (r#"<code>"#, true, Form::Opening),
            (r#"<function>{"name": "f", "parameters": {...}}</function>"#, false, Form::Payload),
            (r#"<function>{"name": "f"}</function>"#, false, Form::Payload),
            (
                r#"<function>{"name": "f", "parameters": {}, "type": "object"}</function>"#,
                false,
                Form::Payload,
            ),
            (r#"<function>{"name": "f", "parameters": {}}</f>"#, false, Form::Closing),
            (r#"<function>{"name": "f", "parameters": {}} Done."#, true, Form::Closing),
            (r#"<function>{"name": "f", "parameters": {}}"#, false, Form::Closing),
            (r#"<function>{"name": "f", "parameters": {}}</func"#, true, Form::Cut),
            (r#"<function>{"name": "f", "par"#, true, Form::Cut),
            (r#"<function>{"name": "f", "par"#, false, Form::Payload),
            ("<funct", true, Form::Cut),
        ] {
            assert_eq!(form(text, is_cut), expected, "{text}");
        }
    }

    #[test]
    fn the_rate_leaves_out_what_was_cut() {
        let line = Line { right: 1, opening: 1, payload: 1, closing: 1, cut: 6, read: 0 };
        assert_eq!((line.all(), line.malformed(), line.rate()), (10, 3, 75.0));
    }
}

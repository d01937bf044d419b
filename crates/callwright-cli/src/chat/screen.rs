//! A person's view of a run: the model's words as they come, its calls and their results, and questions.
//!
//! All of it was written by a model or a tool: it is made harmless before it is drawn.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use callwright::value::Value;
use callwright_agent::run::{Approval, Approver, Approving, Cancel, End, Event, Watch};
use callwright_agent::tools::{Answer, Host, Question};
use callwright_agent::{ApprovalRequest, Workspace, shown};
use callwright_store::Secrets;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::boxed::{boxed, headline};
use super::lines::{Line, Lines};
use super::markdown::Markdown;
use crate::agent::diff::diff;
use crate::agent::paint::{Paint, Style};
use crate::agent::preview::{ANSWERS, NO_ANSWER, indented, preview, read, said};
use crate::agent::refusal_title;
use crate::harmless::harmless;

/// The longest result that is told in a line.
const LINE: usize = 200;

/// The choice of what a person is shown.
#[derive(Debug)]
pub(crate) struct Shows {
    /// Calls and results in full.
    pub(crate) verbose: AtomicBool,
    /// The model's answers as they came.
    pub(crate) raw: bool,
}

/// The screen, or whatever standard output is.
pub(crate) struct Screen {
    shows: Shows,
    paint: Paint,
    lines: Lines,
    workspace: Workspace,
    secrets: Secrets,
    state: Mutex<State>,
}

struct State {
    markdown: Markdown,
    /// Nothing has been drawn on this line yet.
    is_at_start: bool,
    spinner: Option<ProgressBar>,
    /// The words of the model since it was asked.
    raw: String,
    /// Of files that a running call may change: what they were.
    before: BTreeMap<String, Before>,
    cancel: Cancel,
}

struct Before {
    path: String,
    text: String,
}

impl Screen {
    pub(crate) fn new(
        shows: Shows,
        paint: Paint,
        lines: Lines,
        workspace: Workspace,
        secrets: Secrets,
    ) -> Screen {
        let state = State {
            markdown: Markdown::new(paint),
            is_at_start: true,
            spinner: None,
            raw: String::new(),
            before: BTreeMap::new(),
            cancel: Cancel::default(),
        };
        Screen { shows, paint, lines, workspace, secrets, state: Mutex::new(state) }
    }

    pub(crate) fn shows(&self) -> &Shows {
        &self.shows
    }

    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Sets what Ctrl-C at a question of the run cancels.
    pub(crate) fn cancels(&self, cancel: Cancel) {
        self.state().cancel = cancel;
    }

    /// Draws whole lines, which are harmless already.
    pub(crate) fn say(&self, text: &str) {
        let mut state = self.state();
        self.clear(&mut state);
        self.start_line(&mut state);
        self.put(&mut state, text);
        self.start_line(&mut state);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is left to be done where even this cannot be said.
    fn put(&self, state: &mut State, text: &str) {
        if let Some(last) = text.chars().next_back() {
            state.is_at_start = last == '\n';
            let mut out = io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    fn start_line(&self, state: &mut State) {
        if !state.is_at_start {
            self.put(state, "\n");
        }
    }

    fn clear(&self, state: &mut State) {
        if let Some(spinner) = state.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    fn wait(&self, state: &mut State, what: String) {
        self.clear(state);
        // Escape sequences are for terminals that are asked for colour.
        if !self.lines.is_edited() || !self.paint.is_on || !state.is_at_start {
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
        if let Ok(style) = style {
            spinner.set_style(style);
        }
        spinner.set_message(what);
        spinner.enable_steady_tick(Duration::from_millis(120));
        state.spinner = Some(spinner);
    }

    fn finish_text(&self, state: &mut State) {
        let rest = state.markdown.finish();
        self.put(state, &rest);
        self.start_line(state);
    }

    fn called(&self, state: &mut State, event: &Event) {
        let Event::CallFinished { id, tool, arguments, result, is_error, .. } = event else { return };
        let before = state.before.remove(id);
        if self.shows.verbose.load(Ordering::Relaxed) {
            let drawn = boxed(tool, arguments, result);
            return self.put(state, &drawn);
        }
        let (mark, style) = if *is_error { ("✘", Style::Red) } else { ("✔", Style::Green) };
        let line = format!("    {} {} -> {}\n", self.paint.of(style, mark), shown(tool), one_line(result));
        self.put(state, &line);
        if let Some(Before { path, text }) = before
            && !is_error
        {
            let now = read(&self.workspace, &path).unwrap_or_default();
            let drawn = diff(&path, &text, &now, self.paint);
            self.put(state, &indented(&drawn, 6));
        }
    }

    fn question(&self, request: &ApprovalRequest) -> String {
        let alarm = self.paint.of(Style::Alarm, "Run this?");
        let mut question = format!("{alarm}\n{}\n", indented(&request.to_string(), 2).trim_end());
        question.push_str(&preview(&self.workspace, request, self.paint));
        question
    }

    /// Asks the user, on a thread that may wait.
    async fn read(&self, text: &str, prompt: &'static str) -> Line {
        self.say(text);
        if !self.lines.is_edited() {
            let mut state = self.state();
            self.put(&mut state, prompt);
        }
        let lines = self.lines.clone();
        let line = tokio::task::spawn_blocking(move || lines.read(prompt)).await.unwrap_or(Line::End);
        let mut state = self.state();
        if !self.lines.is_edited() {
            self.start_line(&mut state);
        }
        if line == Line::Interrupted {
            state.cancel.press();
        }
        line
    }
}

impl Watch for Screen {
    fn event(&self, event: &Event) {
        let state = &mut *self.state();
        let dim = |text: &str| self.paint.of(Style::Dim, text);
        match event {
            Event::Asking { .. } => {
                state.raw.clear();
                self.wait(state, "waiting for the model".to_owned());
            }
            Event::Raw { text } if self.shows.raw => state.raw.push_str(text),
            Event::Text { text } => {
                self.clear(state);
                // A model that begins with blank lines says nothing with them.
                let text =
                    if state.is_at_start && state.markdown.is_empty() { text.trim_start() } else { text };
                let drawn = state.markdown.feed(text);
                self.put(state, &drawn);
            }
            Event::Reasoning { text } if self.shows.verbose.load(Ordering::Relaxed) => {
                self.clear(state);
                self.put(state, &dim(&harmless(text)));
            }
            Event::Answered { prompt_based, calls, .. } => self.answered(state, *calls, *prompt_based),
            Event::Invalid { code, error, .. } => {
                let title = self.paint.of(Style::Alarm, refusal_title(code));
                self.tell(state, &format!("  {title}\n{}", indented(&harmless(error), 2)));
                self.start_line(state);
            }
            Event::Repaired { .. }
            | Event::CallStarted { .. }
            | Event::CallFinished { .. }
            | Event::OutcomeUnknown { .. } => self.draw_call(state, event),
            Event::Compacted => self.put(state, &dim("  older parts of the conversation were left out\n")),
            Event::Retried { why } => self.tell(state, &dim(&format!("  asked again: {}\n", shown(why)))),
            Event::Blocked { sentence } => {
                self.tell(state, &format!("{}\n", self.paint.of(Style::Alarm, &harmless(sentence))));
            }
            Event::Ended { ended, .. } => {
                self.clear(state);
                self.finish_text(state);
                // What the model said last stands there already.
                if ended.end != End::Answered {
                    self.put(state, &format!("{}\n", harmless(&ended.sentence)));
                }
            }
            _ => {}
        }
    }
}

impl Screen {
    /// Draws `text` on a line of its own.
    fn tell(&self, state: &mut State, text: &str) {
        self.clear(state);
        self.start_line(state);
        self.put(state, text);
    }

    fn answered(&self, state: &mut State, calls: usize, prompt_based: usize) {
        let dim = |text: &str| self.paint.of(Style::Dim, text);
        self.clear(state);
        self.finish_text(state);
        if self.shows.raw {
            let raw = harmless(&self.secrets.hidden_text(&state.raw)).into_owned();
            self.put(state, &format!("{} {raw}\n", dim("[DEBUG] Raw response:")));
        }
        if 0 < prompt_based {
            let line = format!("  Parsed {prompt_based} prompt-based tool call(s)\n");
            self.put(state, &dim(&line));
        }
        if 0 < calls {
            self.put(state, &format!("  {}\n", dim("Executing Tools...")));
        }
    }

    /// Draws how a call goes.
    fn draw_call(&self, state: &mut State, event: &Event) {
        match event {
            Event::Repaired { tool, repairs, class, renamed_from, .. } => {
                let mut what = repairs.join(", ");
                if let Some(from) = renamed_from {
                    what = format!("the name was {from}; {what}");
                }
                let line = format!(
                    "  {}: repaired ({class}): {}\n",
                    shown(tool),
                    shown(what.trim_end_matches("; "))
                );
                self.put(state, &self.paint.of(Style::Yellow, &line));
            }
            Event::CallStarted { id, tool, arguments } => {
                if let Some(path) = changed_path(tool, arguments) {
                    let text = read(&self.workspace, &path).unwrap_or_default();
                    state.before.insert(id.clone(), Before { path, text });
                }
                self.wait(state, cut(&headline(tool, arguments)));
            }
            Event::CallFinished { .. } => {
                self.clear(state);
                self.start_line(state);
                self.called(state, event);
            }
            Event::OutcomeUnknown { tool, arguments, .. } => {
                let line = format!("  {}: whether it was done is not known\n", headline(tool, arguments));
                self.put(state, &self.paint.of(Style::Alarm, &line));
            }
            _ => {}
        }
    }
}

impl Approver for Screen {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(async move {
            let mut question = self.question(request);
            loop {
                match self.read(&question, ANSWERS).await {
                    Line::Said(line) => match said(&line) {
                        Some(approval) => return approval,
                        None => question = format!("{}\n", NO_ANSWER),
                    },
                    Line::Interrupted => return Approval::No,
                    Line::End => return Approval::Nobody,
                }
            }
        })
    }
}

impl Host for Screen {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let mut text = format!("{}\n", self.paint.of(Style::Bold, &harmless(&question.text)));
            for (number, option) in (1..).zip(&question.options) {
                let _ = writeln!(text, "  {number}. {}", harmless(option));
            }
            match self.read(&text, "answer: ").await {
                Line::Said(line) if line.trim().is_empty() => Answer::Declined,
                Line::Said(line) => {
                    let number = line.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                    let option = number.and_then(|at| question.options.get(at)).cloned();
                    Answer::Said(option.unwrap_or(line))
                }
                Line::Interrupted => Answer::Declined,
                Line::End => Answer::Nobody,
            }
        })
    }

    fn finished(&self, _summary: &str) {
        // It is the sentence of the end.
    }
}

/// The file that a call of a built-in tool changes.
fn changed_path(tool: &str, arguments: &str) -> Option<String> {
    if !matches!(tool, "fsWrite" | "fsAppend" | "strReplace" | "deleteFile") {
        return None;
    }
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    arguments.get("path")?.as_str().map(str::to_owned)
}

fn one_line(text: &str) -> String {
    cut(&shown(text.trim()).replace('\n', " ⏎ "))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

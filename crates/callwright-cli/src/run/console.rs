//! The view of a run: for a person, turn by turn; for a program, a line of JSON for each event.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callwright_agent::Why;
use callwright_agent::run::{End, Event, Watch};

use crate::agent::refusal_title;
use crate::harmless::harmless;

/// The length of a result that is shown.
const RESULT: usize = 200;
/// The length of a call that is shown.
const CALL: usize = 160;

/// One line of JSON for each event, to standard output.
pub(crate) struct JsonLines;

impl Watch for JsonLines {
    fn event(&self, event: &Event) {
        // What the model writes stands in the other events, too.
        if matches!(event, Event::Raw { .. }) {
            return;
        }
        let Ok(line) = serde_json::to_string(event) else { return };
        // A reader that has gone is no reason to leave a run half done.
        let _ = writeln!(io::stdout(), "{line}");
    }
}

/// Draws a run.
///
/// ```text
/// Agent (model) - Turn 2
/// ──────────────────────
/// I run it.
///
///   Parsed 1 prompt-based tool call(s)
///   Executing Tools...
///     ✔ run_code -> hello world
/// ```
pub(crate) struct Console<W> {
    state: Mutex<State<W>>,
    in_color: bool,
}

struct State<W> {
    out: W,
    model: String,
    turn: u32,
    stage: Stage,
    /// The last character that the model wrote.
    last: Option<char>,
    /// The model wrote something that is there to be read.
    said: bool,
    /// Its calls stand in that.
    has_calls: bool,
    /// Its words so far, without its calls.
    text: String,
    /// The call that waits to be confirmed, because it was repaired.
    repaired: Option<String>,
}

/// The lines of a turn that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Nothing,
    Heading,
    /// `Executing Tools...`
    Executing,
}

impl<W: Write> Console<W> {
    /// Draws to `out`; `model` is what stands in headings.
    pub(crate) fn new(out: W, model: &str, in_color: bool) -> Console<W> {
        let model = harmless(model).into_owned();
        let state = State {
            out,
            model,
            turn: 0,
            stage: Stage::Nothing,
            last: None,
            said: false,
            has_calls: false,
            text: String::new(),
            repaired: None,
        };
        Console { state: Mutex::new(state), in_color }
    }

    #[cfg(test)]
    fn into_inner(self) -> W {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).out
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.in_color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

const RED: &str = "1;31";
const GREEN: &str = "32";
const DIM: &str = "2";

impl<W: Write + Send> Watch for Console<W> {
    fn event(&self, event: &Event) {
        let mut state = self.lock();
        // A reader that has gone is no reason to leave a run half done.
        let _ = self.draw(&mut state, event);
        let _ = state.out.flush();
    }
}

impl<W: Write> Console<W> {
    fn draw(&self, state: &mut State<W>, event: &Event) -> io::Result<()> {
        match event {
            Event::Asking { turn } => {
                state.begin(*turn);
                Ok(())
            }
            Event::Raw { text } if text.is_empty() => Ok(()),
            Event::Raw { text } => {
                state.heading()?;
                state.said = true;
                state.last = text.chars().next_back();
                write!(state.out, "{}", harmless(text))
            }
            Event::Text { text } => {
                state.text.push_str(text);
                Ok(())
            }
            Event::Answered { calls, prompt_based, text, .. } => state.answered(*calls, *prompt_based, text),
            Event::Invalid { code, error, .. } => {
                writeln!(state.out, "\n  {}", self.paint(refusal_title(code), RED))?;
                harmless(error).lines().try_for_each(|line| writeln!(state.out, "  {line}"))
            }
            Event::Repaired { tool, renamed_from, repairs, .. } => {
                let from = renamed_from.iter().map(|from| format!("the name was {from}"));
                let what: Vec<String> = from.chain(repairs.iter().cloned()).collect();
                let line = format!("  Repaired {tool}: {}", what.join(", "));
                writeln!(state.out, "{}", self.paint(&harmless(&line), DIM))
            }
            Event::ApprovalAsked { id, why: Why::Repaired, .. } => {
                state.repaired = Some(id.clone());
                Ok(())
            }
            Event::Approved { .. } => {
                state.repaired = None;
                Ok(())
            }
            Event::CallStarted { .. } | Event::CallFinished { .. } | Event::OutcomeUnknown { .. } => {
                self.draw_call(state, event)
            }
            Event::StepFinished(_) => writeln!(state.out),
            Event::Compacted => writeln!(state.out, "{}", self.paint("(older parts are left out)", DIM)),
            Event::Retried { why } => {
                state.end_line()?;
                (state.last, state.said) = (None, false);
                state.text.clear();
                let line = format!("(asked once more: {})", harmless(why));
                writeln!(state.out, "{}", self.paint(&line, DIM))
            }
            // What the model said last is there already, unless the run was over before.
            Event::Ended { ended, .. } if ended.end == End::Answered && 0 < state.turn => Ok(()),
            Event::Ended { ended, .. } => writeln!(state.out, "{}", harmless(&ended.sentence)),
            Event::Blocked { sentence } => writeln!(state.out, "{}", harmless(sentence)),
            _ => Ok(()),
        }
    }

    /// Draws how a call goes.
    fn draw_call(&self, state: &mut State<W>, event: &Event) -> io::Result<()> {
        match event {
            Event::CallStarted { tool, arguments, .. } => {
                state.executing()?;
                if state.has_calls {
                    return Ok(());
                }
                let call = format!("    ▸ {tool} {}", shortened(arguments, CALL));
                writeln!(state.out, "{}", self.paint(&harmless(&call), DIM))
            }
            Event::CallFinished { id, tool, result, is_error, .. } => {
                state.executing()?;
                let sign = if *is_error { self.paint("✘", RED) } else { self.paint("✔", GREEN) };
                writeln!(state.out, "    {sign} {tool} -> {}", harmless(&shortened(result, RESULT)))?;
                match state.repaired.take_if(|repaired| repaired == id) {
                    Some(_) => {
                        writeln!(state.out, "      with --repairs inferred it runs as it was repaired")
                    }
                    None => Ok(()),
                }
            }
            Event::OutcomeUnknown { tool, arguments, .. } => {
                let call = shortened(arguments, CALL);
                let line = format!(
                    "  ⚠️  {tool} {call} was running when the program was ended: whether it was done is not known"
                );
                writeln!(state.out, "{}", self.paint(&harmless(&line), RED))
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write> State<W> {
    fn begin(&mut self, turn: u32) {
        (self.turn, self.stage, self.last, self.said) = (turn, Stage::Nothing, None, false);
        self.text.clear();
    }

    fn heading(&mut self) -> io::Result<()> {
        if Stage::Heading <= self.stage {
            return Ok(());
        }
        self.stage = Stage::Heading;
        let turn = if self.turn < 2 { String::new() } else { format!(" - Turn {}", self.turn) };
        let heading = format!("Agent ({}){turn}", self.model);
        writeln!(self.out, "{heading}\n{}", "─".repeat(heading.chars().count()))
    }

    fn executing(&mut self) -> io::Result<()> {
        if self.stage == Stage::Executing {
            return Ok(());
        }
        self.stage = Stage::Executing;
        writeln!(self.out, "  Executing Tools...")
    }

    /// Ends the line that the model is in.
    fn end_line(&mut self) -> io::Result<()> {
        if self.last.is_some_and(|last| last != '\n') { writeln!(self.out) } else { Ok(()) }
    }

    fn answered(&mut self, calls: usize, prompt_based: usize, text: &str) -> io::Result<()> {
        self.heading()?;
        self.end_line()?;
        // What was said when a call was asked for again.
        let more = text.strip_prefix(self.text.as_str()).unwrap_or_default().trim();
        if !more.is_empty() {
            writeln!(self.out, "{}", harmless(more))?;
        }
        if self.said && 0 < calls {
            writeln!(self.out)?;
        }
        self.has_calls = prompt_based == calls;
        for (n, how) in [(prompt_based, "prompt-based"), (calls.saturating_sub(prompt_based), "native")] {
            if 0 < n {
                writeln!(self.out, "  Parsed {n} {how} tool call(s)")?;
            }
        }
        Ok(())
    }
}

/// The first line, and not more than `most` characters of it.
fn shortened(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_whole = line.len() == text.trim_end().len() && line.chars().count() <= most;
    let kept: String = line.chars().take(most).collect();
    if is_whole { kept } else { format!("{kept}…") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_agent::run::{Account, Ended};

    fn drawn(events: &[Event]) -> String {
        let console = Console::new(Vec::new(), "model", false);
        events.iter().for_each(|event| console.event(event));
        String::from_utf8(console.into_inner()).unwrap_or_default()
    }

    #[test]
    fn nothing_that_a_model_writes_reaches_the_terminal_as_a_command() {
        let call = |tool: &str| Event::CallFinished {
            id: "1".into(),
            tool: tool.into(),
            arguments: "{}".into(),
            result: "\u{1b}[2Jgone\nsecond line".into(),
            is_error: false,
            seconds: 0.0,
        };
        let text = drawn(&[
            Event::Asking { turn: 1 },
            Event::Raw { text: "\u{1b}]0;title\u{7}".into() },
            call("echo"),
        ]);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
        assert!(text.contains("    ✔ echo -> ␛[2Jgone…\n"), "{text}");
    }

    #[test]
    fn what_was_said_when_a_call_was_asked_for_again_is_shown() {
        let text = drawn(&[
            Event::Asking { turn: 1 },
            Event::Raw { text: "One. <call>".into() },
            Event::Text { text: "One.".into() },
            Event::Answered { turn: 1, text: "One.\n\nNo, two.".into(), calls: 0, prompt_based: 0 },
        ]);
        assert!(text.ends_with("One. <call>\nNo, two.\n"), "{text}");
    }

    #[test]
    fn the_result_of_a_run_that_ended_earlier_is_shown() {
        let ended = Ended { end: End::Answered, sentence: "It is sunny.".into() };
        let ended = Event::Ended { ended, spent: Account::default() };
        assert_eq!(drawn(std::slice::from_ref(&ended)), "It is sunny.\n");
        let said = [Event::Asking { turn: 1 }, Event::Raw { text: "It is sunny.".into() }, ended];
        assert_eq!(drawn(&said).matches("sunny").count(), 1);
    }

    #[test]
    fn an_end_without_words_of_the_model_has_a_sentence() {
        let ended = Ended { end: End::Cancelled, sentence: "⚠️ Cancelled.".into() };
        let text = drawn(&[Event::Ended { ended, spent: Account::default() }]);
        assert_eq!(text, "⚠️ Cancelled.\n");
    }
}

//! One machine for whole texts and for streams: deltas go in, text, reasoning and verdicts come out.
//!
//! Each decision depends only on the text so far at a place that the text itself determines, never on how
//! it was cut into deltas; and no event is taken back. Prose flows at once. From a place on where
//! a call may begin, text is held until its fate is certain, or until the end.

mod event;
mod apart;
mod bare;
mod broken;
mod mended;
mod payload_end;
mod brackets;
#[cfg(test)]
mod held;
#[cfg(test)]
mod hostile;
mod judge;
mod mention;
mod drafts;
mod live;
mod native;
mod opener;
mod own_marks;
mod repeat;
mod segment;
mod epilogue;
mod siblings;
mod state;
mod tail;

use std::borrow::Cow;
use std::sync::Arc;

use self::brackets::BracketMatcher;
use self::broken::Broken;
use self::drafts::Drafts;
pub use self::event::{CallDelta, Delta, Event};
use self::judge::body::Body;
use self::opener::{Opener, Place};
use self::repeat::Made;
use self::state::{Markup, Rules, Space, Standing, Work};
use crate::context::Stop;
use crate::tools::names::Names;
use crate::verdict::Outcome;

/// Reads one answer as it arrives.
///
/// ```
/// use std::sync::Arc;
///
/// use callwright::{Context, Delta, Event, Scanner, ToolSet, Verdict};
///
/// let tools = Arc::new(ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#)?);
/// // Of shared tools, it is `Send + 'static`: it may go into a task, or into a stream that is handed out.
/// let mut scanner = Scanner::new(&tools, &Context::default());
/// let (mut said, mut called) = (String::new(), Vec::new());
/// let mut act = |event| match event {
///     Event::Text(text) => said.push_str(&text),
///     Event::Call(Verdict::Accepted(call)) => called.push(call.name),
///     Event::Call(Verdict::Refused(refusal)) => panic!("{}", refusal.feedback()),
///     _ => {}
/// };
/// let mut events = Vec::new();
/// for piece in ["Well. <tool_", "call>{\"name\": \"f\", \"argum", "ents\": {\"n\": 1}}}</tool_call>"] {
///     scanner.feed(Delta::Text(piece), &mut events);
///     events.drain(..).for_each(&mut act);
/// }
/// // This call has a brace too many: whether it is over is known at the end.
/// let (events, outcome) = scanner.finish();
/// events.into_iter().for_each(&mut act);
/// assert_eq!((said.as_str(), called), ("Well.", vec![String::from("f")]));
/// assert_eq!(outcome.calls().count(), 1);
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
pub struct Scanner<'a> {
    names: Names<'a>,
    rules: Rules,
    /// All the text so far.
    text: Cow<'a, str>,
    /// Everything before this place is decided.
    at: usize,
    mode: Mode,
    markup: Markup,
    /// The mark that closes the block of speech that was opened.
    speech: Option<Arc<str>>,
    /// The reasoning that the upstream keeps apart, as long as nothing follows it.
    apart: Option<Box<Scanner<'a>>>,
    /// The mark that closes the reasoning that is read for calls; everything else in it is thought.
    thought: Option<Arc<str>>,
    standing: Standing,
    space: Space,
    native: Drafts,
    outcome: Outcome,
    work: Work,
    /// The accepted calls.
    made: Made,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Debug)]
enum Mode {
    /// Between calls.
    Prose,
    /// In a payload whose end is searched for.
    Payload(Opener, BracketMatcher),
    /// In a payload that is no brackets.
    Body(Opener, Body),
    /// In a call whose marks are broken.
    Broken(Box<Broken>),
    /// In a payload that only the rest of the text can settle; it seemed to end here.
    Undecided(Opener, Option<usize>),
    /// Behind a payload, with only whitespace up to this place.
    Tail(usize),
    /// In a reasoning block.
    Reasoning(Thinking),
    /// In a tool's result, or what else the model quotes: text, whatever it looks like.
    Quoted(Quotation),
    /// Behind a turn that the model made up.
    Over,
}

/// A text that the model quotes.
#[derive(Debug)]
struct Quotation {
    /// The mark that closes it.
    close: String,
    /// The place where it begins.
    from: usize,
}

/// The state of a reasoning block.
#[derive(Debug)]
struct Thinking {
    /// The mark that closes it.
    close: Arc<str>,
    /// It begins here.
    from: usize,
    /// It was searched for its closer up to here.
    searched: usize,
    /// A marked call in it: nothing if the block is closed behind it, a call if the text just ends.
    marked: Option<usize>,
}

enum Flow {
    /// Something was decided; go on.
    On,
    /// More text is needed.
    Wait,
}

impl<'a> Scanner<'a> {
    /// The outcome of a whole answer, without events.
    pub(crate) fn read(self, text: &'a str) -> Outcome {
        self.read_at_cost(text).0
    }

    /// The outcome of a whole answer, and what was spent on what is broken in it.
    fn read_at_cost(mut self, text: &'a str) -> (Outcome, usize) {
        self.rules.is_quiet = true;
        self.outcome.text.reserve(text.len());
        self.text = Cow::Borrowed(text);
        let before = self.work.fuel.left();
        self.end(&mut Vec::new());
        let spent = before - self.work.fuel.left();
        (self.outcome, usize::try_from(spent).unwrap_or(0))
    }

    /// Takes the next piece.
    pub fn feed(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        match delta {
            Delta::Text(text) => {
                if !text.trim().is_empty() {
                    self.close_apart(out);
                }
                self.text.to_mut().push_str(text);
                self.advance(false, out);
            }
            Delta::Reasoning(text) => self.think_apart(text, out),
            Delta::ToolCall(delta) => {
                self.close_apart(out);
                self.native.feed(delta, &self.names, out);
            }
        }
    }

    /// The number of the native call that the last [piece](Delta::ToolCall) belongs to, counted from 0 in the order in which
    /// they came up: for whoever keeps something beside a call.
    pub fn native_call(&self) -> Option<usize> {
        self.native.last()
    }

    /// Lets the [native call](Scanner::native_call) of this number go out before its verdict, as [`Context::live`](crate::Context::live) lets
    /// all of them: what is certain of it by now, and from here on what becomes so. For whoever holds a call back, and has held this
    /// one for long enough.
    pub fn stream_native_call(&mut self, number: usize, out: &mut Vec<Event>) {
        self.native.stream(number, &self.names, out);
    }

    /// Takes the upstream's `finish_reason`, where that was not known from the start.
    pub fn finish_reason(&mut self, finish_reason: &str) {
        self.rules.stop = Stop::of(Some(finish_reason));
    }

    /// Takes whether open ends are doubted ([`Context::doubt_open_ends`](crate::Context::doubt_open_ends)), where that was not known from the start.
    pub fn doubt_open_ends(&mut self, doubts: bool) {
        self.rules.admission.doubts_open_ends = doubts;
    }

    /// Says that the answer ended by itself, with tokens left: no open end is doubted, and a number is whole there,
    /// `{"days": 30`.
    pub fn ended_below_limit(&mut self) {
        self.rules.admission.doubts_open_ends = false;
        self.rules.is_below_limit = true;
    }

    /// Says that the answer is held to a form in which prose has a place of its own: a call that begins it is no example.
    pub(crate) fn constrain(&mut self) {
        self.rules.is_constrained = true;
    }

    /// Says that no more will come. What became certain only with the end, often the last call, comes beside the outcome.
    pub fn finish(mut self) -> (Vec<Event>, Outcome) {
        let mut events = Vec::new();
        self.end(&mut events);
        (events, self.outcome)
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        self.end_apart(out);
        self.advance(true, out);
        self.tell(true, out);
        self.judge_native(out);
        if !self.space.removed {
            let space = std::mem::take(&mut self.space.pending);
            self.say(space, "", out);
        }
        self.standing.beside.tell(&self.outcome.text, &mut self.outcome.verdicts);
    }

    fn advance(&mut self, end: bool, out: &mut Vec<Event>) {
        // A byte order mark says how a text is written, and is no part of it.
        if self.at == 0 && self.text.starts_with(BYTE_ORDER_MARK) && matches!(self.mode, Mode::Prose) {
            self.at = BYTE_ORDER_MARK.len_utf8();
        }
        loop {
            let flow = match self.mode {
                Mode::Prose if self.at == self.text.len() => Flow::Wait,
                // Most pieces are prose: there is nothing to take out, and nothing to put back.
                Mode::Prose => self.prose(end, out),
                _ => self.beyond_prose(end, out),
            };
            if let Flow::Wait = flow {
                return;
            }
        }
    }

    fn beyond_prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        match std::mem::replace(&mut self.mode, Mode::Prose) {
            Mode::Prose => Flow::On,
            Mode::Payload(opener, brackets) => self.payload(opener, brackets, end, out),
            Mode::Body(opener, body) => self.body(opener, body, end, out),
            Mode::Broken(broken) => self.broken(broken, end, out),
            Mode::Undecided(opener, seen) => self.undecided(opener, seen, end, out),
            Mode::Tail(blank) => self.tail(blank, end, out),
            Mode::Reasoning(thinking) => self.reasoning(thinking, end, out),
            Mode::Quoted(quotation) => self.quoted(quotation, end, out),
            Mode::Over => {
                self.at = self.text.len();
                self.mode = Mode::Over;
                Flow::Wait
            }
        }
    }

    fn place(&self, line_start: bool, end: bool) -> Place<'_, 'a> {
        Place {
            names: &self.names,
            dialects: &self.rules.dialects,
            inside: None,
            follows_call: false,
            line_start,
            in_fence: self.markup.in_fence,
            thought: self.thought.as_deref(),
            end,
            fuel: &self.work.fuel,
        }
    }
}

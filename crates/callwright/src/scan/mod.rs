//! One machine for whole texts and for streams: deltas go in, text, reasoning and verdicts come out.
//!
//! Each decision depends only on the text up to a place that the text itself determines, never on the cuts between
//! deltas; and no event is taken back. Prose flows at once. From a place on where a call may begin, the scanner holds
//! the text until its fate is certain, or until the end.

mod event;
mod apart;
mod bare;
mod call;
mod recover;
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
mod partial;
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

use self::call::Call;
use self::drafts::Drafts;
pub use self::event::{CallDelta, Delta, Event, PartialCall};
use self::opener::Place;
use self::partial::Preview;
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
/// // With shared tools, the scanner is `Send + 'static`: it may move into a task, or into a stream.
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
/// // This call has a brace too many: only the end tells that it is over.
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
    state: State,
    markup: Markup,
    /// The mark that closes the open block of speech.
    speech: Option<Arc<str>>,
    /// The scanner of the reasoning that the upstream keeps apart, as long as nothing follows it.
    apart: Option<Box<Scanner<'a>>>,
    /// The mark that closes the reasoning that is read for calls. All other text in that reasoning is thought.
    thought: Option<Arc<str>>,
    standing: Standing,
    space: Space,
    native: Drafts,
    preview: Preview,
    outcome: Outcome,
    work: Work,
    /// The accepted calls.
    made: Made,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The place of the scanner in the answer.
#[derive(Debug)]
enum State {
    /// Between calls.
    Prose,
    /// In a block whose text is no call, whatever it looks like.
    Block(Block),
    /// In a call.
    Call(Box<Call>),
    /// Behind a payload, with only whitespace up to this place.
    After(usize),
    /// Behind the beginning of a turn that the model made up.
    Over,
}

/// A block between two marks.
#[derive(Debug)]
enum Block {
    /// The model's reasoning.
    Thought(Thinking),
    /// A tool's result, or another quotation by the model.
    Quote(Quotation),
}

/// A text that the model quotes.
#[derive(Debug)]
struct Quotation {
    /// The mark that closes the quotation.
    close: String,
    /// The place where the quotation begins.
    from: usize,
}

/// The state of a reasoning block.
#[derive(Debug)]
struct Thinking {
    /// The mark that closes the block.
    close: Arc<str>,
    /// The place where the block begins.
    from: usize,
    /// The place up to which the block was searched for its closer.
    searched: usize,
    /// A marked call in the block. It counts only if the text ends before the block is closed.
    marked: Option<usize>,
}

enum Flow {
    /// Something was decided, and the scanner goes on.
    On,
    /// The scanner needs more text.
    Wait,
}

impl<'a> Scanner<'a> {
    /// Returns the outcome of a whole answer, without events.
    pub(crate) fn read(self, text: &'a str) -> Outcome {
        self.read_at_cost(text).0
    }

    /// Returns the outcome of a whole answer, and the fuel that its broken calls spent.
    fn read_at_cost(mut self, text: &'a str) -> (Outcome, usize) {
        self.rules.is_quiet = true;
        self.outcome.text.reserve(text.len());
        self.text = Cow::Borrowed(text);
        let before = self.work.fuel.left();
        self.end(&mut Vec::new());
        let spent = before - self.work.fuel.left();
        (self.outcome, usize::try_from(spent).unwrap_or(0))
    }

    /// Takes the next piece, and puts the events that became certain into `out`.
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

    /// Returns the number of the native call that the last [piece](Delta::ToolCall) belongs to. The calls count from 0
    /// in the order in which they began. A caller may key its own data about a call by it.
    pub fn native_call(&self) -> Option<usize> {
        self.native.last()
    }

    /// Lets the [native call](Scanner::native_call) of this number go out before its verdict, as
    /// [`Context::live`](crate::Context::live) lets all of them. The part that is certain goes out at once, and each
    /// further part as it becomes certain. A caller that holds calls back ends the wait for one with it.
    pub fn stream_native_call(&mut self, number: usize, out: &mut Vec<Event>) {
        self.native.stream(number, &self.names, out);
    }

    /// Takes the upstream's `finish_reason`, if it was not known from the start.
    pub fn finish_reason(&mut self, finish_reason: &str) {
        self.rules.stop = Stop::of(Some(finish_reason));
    }

    /// Sets whether open ends are doubted ([`Context::doubt_open_ends`](crate::Context::doubt_open_ends)), if that was
    /// not known from the start.
    pub fn doubt_open_ends(&mut self, doubts: bool) {
        self.rules.admission.doubts_open_ends = doubts;
    }

    /// Notes that the answer ended by itself, with tokens left. No open end is doubted then, and a number at the end is
    /// whole: `{"days": 30`.
    pub fn ended_below_limit(&mut self) {
        self.rules.admission.doubts_open_ends = false;
        self.rules.is_below_limit = true;
    }

    /// Notes that the answer is held to a form in which prose has a place of its own. A call that begins the answer is
    /// not an example then.
    pub(crate) fn constrain(&mut self) {
        self.rules.is_constrained = true;
    }

    /// Ends the answer, and returns its outcome. Beside it come the events that became certain only with the end, often
    /// the last call.
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
        // A byte order mark says how a text is written, and does not belong to the text.
        if self.at == 0 && self.text.starts_with(BYTE_ORDER_MARK) && matches!(self.state, State::Prose) {
            self.at = BYTE_ORDER_MARK.len_utf8();
        }
        loop {
            let flow = match self.state {
                State::Prose if self.at == self.text.len() => Flow::Wait,
                // Most pieces are prose: no mode is taken out, and none put back.
                State::Prose => self.prose(end, out),
                _ => self.beyond_prose(end, out),
            };
            if let Flow::Wait = flow {
                return;
            }
        }
    }

    fn beyond_prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        match std::mem::replace(&mut self.state, State::Prose) {
            State::Prose => Flow::On,
            State::Call(call) => self.call(call, end, out),
            State::After(blank) => self.tail(blank, end, out),
            State::Block(Block::Thought(thinking)) => self.reasoning(thinking, end, out),
            State::Block(Block::Quote(quotation)) => self.quoted(quotation, end, out),
            State::Over => {
                self.at = self.text.len();
                self.state = State::Over;
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

//! One machine for whole texts and for streams: deltas go in, text, reasoning and verdicts come out.
//!
//! What is decided depends only on the text so far at a place that the text itself determines, never on how
//! it was cut into deltas; and what went out is never taken back. Prose flows at once. From a place on where
//! a call may begin, text is held until its fate is certain, or until the end.

mod blocks;
mod body;
mod decide;
mod extent;
mod header;
mod judge;
mod lead;
mod listed;
mod live;
mod native;
mod open_end;
mod stripped;
mod tail;
mod words;

use std::collections::HashMap;

use callwright_json::{Span, strict};

use self::body::Body;
use self::extent::Extent;
use self::lead::{Glue, Lead, Look, MAX_TICKS, Place, is_name_byte, tick_run};
pub use self::native::CallDelta;
use self::native::Drafts;
use self::tail::{Tail, tail};
use crate::dialect::{self, Anchor, TURNS, WORD_OPENERS};
use crate::engine::{Context, is_cut};
use crate::guard;
use crate::name::Names;
use crate::policy::Admission;
use crate::tools::ToolSet;
use crate::verdict::{Acceptance, Outcome, Verdict};

/// How many bytes of payload may be read for each byte of text, and how many in any case. Overlapping
/// payloads that cannot be read (`{ { { {`) would otherwise cost the square of their number.
const READS_PER_BYTE: usize = 8;
const FREE_READS: usize = 1 << 16;

/// A piece of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Delta<'a> {
    /// Text.
    Text(&'a str),
    /// Reasoning that the upstream keeps apart.
    Reasoning(&'a str),
    /// A piece of a native call. Where an answer has native calls, its text holds none from there on.
    ToolCall(CallDelta<'a>),
}

/// What became certain.
#[derive(Clone, Debug)]
pub enum Event {
    /// Prose: what the model says.
    Text(String),
    /// What it thinks.
    Reasoning(String),
    /// A native call that has begun to go out before its verdict; only with [`Context::live`].
    CallStarted {
        /// Which native call of the answer it is, counted from 0 in the order in which they came up. The verdicts of
        /// native calls come in this order too.
        index: usize,
        /// The upstream's id, if there was one by now.
        id: Option<String>,
        /// The declared name.
        name: String,
    },
    /// The next piece of the arguments of a native call that was started. All pieces of a call, one after the other,
    /// are the beginning of the arguments that its verdict accepts, to the byte; of a refused call they are never a
    /// whole JSON value.
    CallArguments {
        /// The index that the call was started with.
        index: usize,
        /// The piece; never empty.
        piece: String,
    },
    /// A call.
    Call(Verdict),
}

/// Reads one answer as it arrives.
pub struct Scanner<'a> {
    names: Names<'a>,
    cut: bool,
    /// Which mended calls may pass.
    admission: Admission,
    /// Only explicit forms count in the text.
    explicit: bool,
    /// The only dialect that counts.
    dialect: Option<String>,
    /// All the text so far.
    text: String,
    /// Everything before this place is decided.
    at: usize,
    mode: Mode,
    /// What the markup of calls opened and has not closed yet.
    glue: Vec<Glue>,
    /// Inside a fence that was left in the text.
    in_fence: bool,
    /// What closes the block of speech that was opened.
    speech: Option<&'static str>,
    /// Calls of the last list, waiting for the end of their markup.
    pending: Vec<Verdict>,
    space: Space,
    native: Drafts,
    outcome: Outcome,
    /// Bytes of payload read so far.
    spent: usize,
    /// How often prose stood between calls.
    block: usize,
    /// Prose stood behind the last call.
    apart: bool,
    /// Name and arguments of the accepted calls: the dialect and the block of the first one.
    known: HashMap<String, (&'static str, usize)>,
}

#[derive(Debug)]
enum Mode {
    /// Between calls.
    Prose,
    /// In a payload whose end is looked for.
    Payload(Lead, Extent),
    /// In a payload that is no brackets.
    Body(Lead, Body),
    /// In a payload that only the rest of the text can settle; it seemed to end here.
    Held(Lead, Option<usize>),
    /// Behind a payload.
    Tail,
    /// In a reasoning block.
    Reasoning(Thinking),
    /// In a tool's result that the model quotes, up to this mark: text, whatever it looks like.
    Quoted(String),
    /// Behind a turn that the model made up.
    Over,
}

/// The state of a reasoning block.
#[derive(Debug)]
struct Thinking {
    /// What closes it.
    close: &'static str,
    /// It was searched for its closer up to here.
    searched: usize,
    /// A marked call in it: nothing if the block is closed behind it, a call if the text just ends.
    marked: Option<usize>,
}

/// Whitespace that goes out only together with what follows it.
#[derive(Debug, Default)]
struct Space {
    pending: String,
    /// Markup was taken out since the last prose.
    removed: bool,
    /// There was whitespace before that markup.
    before: bool,
}

enum Flow {
    /// Something was decided; go on.
    On,
    /// More text is needed.
    Wait,
}

impl<'a> Scanner<'a> {
    /// For answers to a request that declares `tools`.
    pub fn new(tools: &'a ToolSet, context: &Context<'_>) -> Scanner<'a> {
        let mode = if context.starts_in_reasoning {
            Mode::Reasoning(Thinking { close: "</think>", searched: 0, marked: None })
        } else {
            Mode::Prose
        };
        Scanner {
            names: Names::new(tools),
            cut: context.finish_reason.is_some_and(is_cut),
            admission: Admission { policy: context.policy, doubts_open_ends: context.doubt_open_ends },
            explicit: context.native,
            dialect: context.dialect.map(str::to_owned),
            text: String::new(),
            at: 0,
            mode,
            glue: Vec::new(),
            in_fence: false,
            speech: None,
            pending: Vec::new(),
            space: Space::default(),
            native: Drafts::new(context.live),
            outcome: Outcome::default(),
            spent: 0,
            block: 0,
            apart: false,
            known: HashMap::new(),
        }
    }

    /// Takes the next piece.
    pub fn feed(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        match delta {
            Delta::Text(text) => {
                self.text.push_str(text);
                self.advance(false, out);
            }
            Delta::Reasoning(text) => self.reason(text, out),
            Delta::ToolCall(delta) => self.native.feed(delta, &self.names, out),
        }
    }

    /// Takes the upstream's `finish_reason`, where that was not known from the start.
    pub fn finish_reason(&mut self, finish_reason: &str) {
        self.cut = is_cut(finish_reason);
    }

    /// Says that no more will come.
    pub fn finish(mut self, out: &mut Vec<Event>) -> Outcome {
        self.advance(true, out);
        let before = self.outcome.verdicts.len();
        for verdict in self.native.judge(&self.names, self.admission, self.cut, before) {
            out.push(Event::Call(verdict.clone()));
            self.outcome.verdicts.push(verdict);
        }
        if !self.space.removed {
            let space = std::mem::take(&mut self.space.pending);
            self.say(&space, out);
        }
        self.outcome
    }

    fn advance(&mut self, end: bool, out: &mut Vec<Event>) {
        loop {
            let flow = match std::mem::replace(&mut self.mode, Mode::Prose) {
                Mode::Prose => self.prose(end, out),
                Mode::Payload(lead, extent) => self.payload(lead, extent, end, out),
                Mode::Body(lead, body) => self.body(lead, body, end, out),
                Mode::Held(lead, seen) => self.held(lead, seen, end, out),
                Mode::Tail => self.tail(end, out),
                Mode::Reasoning(thinking) => self.reasoning(thinking, end, out),
                Mode::Quoted(close) => self.quoted(close, end, out),
                Mode::Over => {
                    self.at = self.text.len();
                    self.mode = Mode::Over;
                    Flow::Wait
                }
            };
            if let Flow::Wait = flow {
                return;
            }
        }
    }

    fn place(&self, line_start: bool, end: bool) -> Place<'_, 'a> {
        Place { names: &self.names, line_start, in_fence: self.in_fence, end }
    }

    /// Lets prose through up to the next place where something else may begin.
    fn prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        let mut at = self.at;
        let mut line_start = self.is_line_start(at);
        let mut in_word = self.at != 0 && self.text.as_bytes().get(at - 1).is_some_and(|&b| is_name_byte(b));
        let found = loop {
            let Some(&byte) = self.text.as_bytes().get(at) else { break Found::Nothing };
            let begins_word = is_name_byte(byte) && !in_word;
            let special =
                matches!(byte, b'[' | b'(' | b'{' | b'`' | b'<') || matches!(byte, b'"' | b'\'') && !in_word;
            // `]<]minimax[>[<tool_call>`
            let marked = byte == b']' && self.text.as_bytes().get(at + 1).is_none_or(|next| *next == b'<');
            // `>>>f⏎{…}`, also behind text
            let arrow = byte == b'>' && self.text.as_bytes().get(at + 1).is_none_or(|next| *next == b'>');
            if special || begins_word || marked || arrow || (line_start && byte == b'#') {
                match self.at_mark(at, line_start, end) {
                    Found::Nothing => {}
                    found => break found,
                }
            }
            if !byte.is_ascii_whitespace() {
                // Brackets and quotes of a list do not outlive prose.
                self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
            }
            if byte == b'`' {
                let run = tick_run(self.text.as_bytes(), at);
                if at + run == self.text.len() && run < MAX_TICKS && !end {
                    break Found::Wait;
                }
                self.in_fence ^= 3 <= run;
                at += run;
                line_start = false;
                in_word = false;
                continue;
            }
            in_word = is_name_byte(byte);
            line_start = byte == b'\n' || line_start && matches!(byte, b' ' | b'\t' | b'\r');
            at += 1;
        };
        self.release(at, out);
        match found {
            Found::Nothing | Found::Wait => Flow::Wait,
            Found::Lead(lead) => {
                self.mode =
                    if self.spent > READS_PER_BYTE * at + FREE_READS && lead.record.anchor == Anchor::Weak {
                        let past = lead.item.at() + 1;
                        self.release(past, out);
                        Mode::Prose
                    } else if let Some(body) = Body::of(&lead) {
                        Mode::Body(lead, body)
                    } else {
                        let extent = Extent::new(lead.item.at());
                        Mode::Payload(lead, extent)
                    };
                Flow::On
            }
            Found::Think(open, close) => {
                self.at = at + open;
                self.remove(out);
                self.mode = Mode::Reasoning(Thinking { close, searched: self.at, marked: None });
                Flow::On
            }
            Found::Speech(len, close) => {
                self.at = at + len;
                self.remove(out);
                self.speech = close;
                Flow::On
            }
            Found::Quote(open, close) => {
                self.release(at + open, out);
                self.mode = Mode::Quoted(close);
                Flow::On
            }
            Found::Closer(end, mode) => {
                self.at = end;
                self.mode = mode;
                Flow::On
            }
            Found::Turn => {
                self.mode = Mode::Over;
                Flow::On
            }
        }
    }

    /// What begins at `at`, if anything but prose does.
    fn at_mark(&mut self, at: usize, line_start: bool, end: bool) -> Found {
        let rest = &self.text[at..];
        if let Some(&byte) = rest.as_bytes().first() {
            if matches!(byte, b'<' | b'[' | b'>')
                && let Some(found) = self.block_begins(rest.as_bytes(), end)
            {
                return found;
            }
            // The closing marks of markup that was taken out before.
            if byte == b'`' || byte == b'<' {
                let fence = self.glue.iter().any(|g| matches!(g, Glue::Fence(_))) && rest.starts_with("```");
                let tag = self.glue.contains(&Glue::Tag) && rest.starts_with("</");
                let short = !end && rest.len() < 3;
                if !self.glue.is_empty() && short {
                    return Found::Wait;
                }
                if fence || tag {
                    let mut glue = std::mem::take(&mut self.glue);
                    let found = tail(&self.text, at, &mut glue, self.place(line_start, end));
                    self.glue = glue;
                    return match found {
                        Tail::Ended(end) if at < end => Found::Closer(end, Mode::Prose),
                        Tail::Wait(end) if at < end => Found::Closer(end, Mode::Tail),
                        Tail::Wait(_) => Found::Wait,
                        Tail::Ended(_) => Found::Nothing,
                    };
                }
            }
        }
        if self.has_calls() && (line_start || rest.starts_with('<')) {
            if guard::turn_begins(&self.text, at) {
                return Found::Turn;
            }
            if !end && dialect::may_grow_into(&self.text, at, TURNS.iter().copied()) {
                return Found::Wait;
            }
        }
        if let Some(found) = self.quote_begins(at, end) {
            return found;
        }
        if !self.native.is_empty() {
            return Found::Nothing;
        }
        if !line_start && self.is_beside(at) && self.is_plain_word(at) {
            return Found::Nothing;
        }
        match lead::look(&self.text, at, self.place(line_start, end)) {
            Look::Found(lead) if self.explicit && !self.is_explicit(&lead) => Found::Nothing,
            Look::Found(lead) if self.dialect.as_deref().is_some_and(|d| d != lead.record.name) => {
                Found::Nothing
            }
            Look::Found(lead) => Found::Lead(lead),
            Look::Wait => Found::Wait,
            Look::Nothing => Found::Nothing,
        }
    }

    /// A model that was given its tools natively calls in text by a dialect's own marks, or with nothing else.
    fn is_explicit(&self, lead: &Lead) -> bool {
        lead.record.anchor == Anchor::Distinct || !self.is_beside(lead.start)
    }

    /// Would a call at `at` stand beside prose, where a model that was given its tools natively makes none without
    /// marks?
    fn is_beside(&self, at: usize) -> bool {
        let is_alone = || self.outcome.text.is_empty() && self.text[self.at..at].trim().is_empty();
        self.explicit && !self.has_calls() && !is_alone()
    }

    /// Is what begins at `at` a word that is no mark? In a line it begins nothing but a call without marks, so that
    /// where there are none it need not wait for what follows it.
    fn is_plain_word(&self, at: usize) -> bool {
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        rest.first().is_some_and(|&byte| is_name_byte(byte))
            && !WORD_OPENERS.iter().any(|word| dialect::starts_with_any_case(rest, word))
            && !dialect::may_grow_into(&self.text, at, WORD_OPENERS.iter().copied())
    }

    fn has_calls(&self) -> bool {
        !self.outcome.verdicts.is_empty()
    }

    fn tail(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        let mut glue = std::mem::take(&mut self.glue);
        let found = tail(&self.text, self.at, &mut glue, self.place(false, end));
        self.glue = glue;
        match found {
            Tail::Wait(at) => {
                self.at = at;
                self.mode = Mode::Tail;
                Flow::Wait
            }
            Tail::Ended(at) => {
                self.at = at;
                self.flush_calls(out);
                self.mode = Mode::Prose;
                Flow::On
            }
        }
    }

    fn flush_calls(&mut self, out: &mut Vec<Event>) {
        let end = Span::at(self.at).end;
        for mut verdict in std::mem::take(&mut self.pending) {
            match &mut verdict {
                Verdict::Accepted(call) => call.span.end = end,
                Verdict::Refused(refusal) => {
                    refusal.span.end = end;
                    refusal.number = self.outcome.verdicts.len() + 1;
                }
            }
            if self.is_repeat(&verdict) {
                continue;
            }
            self.remember(&verdict);
            out.push(Event::Call(verdict.clone()));
            self.outcome.verdicts.push(verdict);
        }
    }

    /// The same call in another dialect, or again behind prose, is an explanation of it. A list may hold a
    /// call twice.
    fn is_repeat(&self, verdict: &Verdict) -> bool {
        let Verdict::Accepted(call) = verdict else { return false };
        let block = self.block + usize::from(self.apart);
        self.known.get(&key(call)).is_some_and(|known| *known != (call.dialect, block))
    }

    fn remember(&mut self, verdict: &Verdict) {
        if std::mem::take(&mut self.apart) {
            self.block += 1;
        }
        if let Verdict::Accepted(call) = verdict {
            self.known.entry(key(call)).or_insert((call.dialect, self.block));
        }
    }

    /// Is there nothing but blanks before `at` on its line?
    fn is_line_start(&self, at: usize) -> bool {
        let before = self.text.as_bytes().get(..at).unwrap_or(&[]);
        let blanks = before.iter().rev().take(64).take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        matches!(before.get(..at - blanks).and_then(<[u8]>::last), None | Some(b'\n'))
    }

    /// The text up to `end` is prose.
    fn release(&mut self, end: usize, out: &mut Vec<Event>) {
        if end <= self.at {
            return;
        }
        let piece = self.text[self.at..end].to_owned();
        self.at = end;
        let body = piece.trim_start();
        self.blank(&piece[..piece.len() - body.len()]);
        if body.is_empty() {
            return;
        }
        // Brackets and quotes of a list do not outlive prose.
        self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
        let said = body.trim_end();
        self.apart = self.has_calls();
        let mut text = std::mem::take(&mut self.space.pending);
        text.push_str(said);
        self.space = Space::default();
        self.say(&text, out);
        self.blank(&body[said.len()..]);
    }

    fn blank(&mut self, space: &str) {
        if !self.space.removed || !(self.space.before || self.outcome.text.is_empty()) {
            self.space.pending.push_str(space);
        }
    }

    /// Markup begins here and is taken out.
    fn remove(&mut self, _out: &mut [Event]) {
        if self.outcome.text.is_empty() {
            self.space.pending.clear();
        }
        self.space.removed = true;
        self.space.before = !self.space.pending.is_empty();
    }

    fn say(&mut self, text: &str, out: &mut Vec<Event>) {
        if !text.is_empty() {
            self.outcome.text.push_str(text);
            out.push(Event::Text(text.to_owned()));
        }
    }
}

/// A text that is equal for equal calls, however their arguments are spelt.
fn key(call: &Acceptance) -> String {
    let arguments = strict(&call.arguments).map(|tree| tree.root(&call.arguments).canonical());
    format!("{}\0{}", call.name, arguments.as_deref().unwrap_or(&call.arguments))
}

enum Found {
    Nothing,
    Wait,
    Lead(Lead),
    /// A reasoning block: the length of its opener, and its closer.
    Think(usize, &'static str),
    /// An edge of a block of speech: its length, and what closes the block that begins there.
    Speech(usize, Option<&'static str>),
    /// A quoted result: the length of its opener, and its closer.
    Quote(usize, String),
    /// A closing mark of markup that was taken out, up to here, and what to look at next.
    Closer(usize, Mode),
    Turn,
}

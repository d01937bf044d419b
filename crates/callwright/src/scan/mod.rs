//! One machine for whole texts and for streams: deltas go in, text, reasoning and verdicts come out.
//!
//! What is decided depends only on the text so far at a place that the text itself determines, never on how
//! it was cut into deltas; and what went out is never taken back. Prose flows at once. From a place on where
//! a call may begin, text is held until its fate is certain, or until the end.

mod ahead;
mod bare;
mod blocks;
mod body;
mod decide;
mod declared;
mod early;
mod extent;
mod header;
#[cfg(test)]
mod held;
mod judge;
mod lead;
mod lines;
mod listed;
mod live;
mod live_spelt;
mod live_tags;
mod native;
mod open_end;
mod repeat;
mod rows;
mod stripped;
mod tail;
mod told;
mod words;

use std::borrow::Cow;
use std::sync::Arc;

use callwright_json::Span;

use self::ahead::{Stretch, ahead, behind_blanks};
use self::blocks::thought_ends;
use self::body::Body;
use self::early::Early;
use self::extent::Extent;
pub(crate) use self::lead::is_name_byte;
use self::lead::{Glue, Lead, Look, MAX_TICKS, Place, tick_run};
pub use self::native::CallDelta;
use self::native::Drafts;
use self::repeat::{Made, Spot};
use self::tail::{Tail, tail};
use crate::dialect::marks::{self, Fit};
use crate::dialect::{self, Anchor, Dialects, FRAMES, Record};
use crate::engine::{Context, is_cut};
use crate::guard;
use crate::name::Names;
use crate::policy::{Admission, CallsInReasoning};
use crate::tools::ToolSet;
use crate::verdict::{Outcome, Verdict};

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
    /// A call has begun to go out before its verdict, which will come; only with [`Context::live`].
    CallStarted {
        /// Which call of the answer it is.
        call: LiveCall,
        /// The upstream's id, if there was one by now.
        id: Option<String>,
        /// The declared name.
        name: String,
    },
    /// The next piece of the arguments of a call that was started. All pieces of a call, one after the other, are the
    /// beginning of the arguments that its verdict accepts, to the byte; of a refused call they are never a whole JSON
    /// value.
    CallArguments {
        /// The call that was started.
        call: LiveCall,
        /// The piece; never empty.
        piece: String,
    },
    /// A call.
    Call(Verdict),
}

/// Which call of an answer went out before its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveCall {
    /// A native one, counted from 0 in the order in which they came up. Their verdicts come in this order, behind those
    /// of all calls in the text.
    Native(usize),
    /// One in the text, counted from 0 among the verdicts of calls in the text.
    Text(usize),
}

/// Reads one answer as it arrives.
pub struct Scanner<'a> {
    names: Names<'a>,
    cut: bool,
    /// Which mended calls may pass.
    admission: Admission,
    /// Nobody asks for events.
    is_quiet: bool,
    /// Only explicit forms count in the text.
    explicit: bool,
    dialects: Dialects,
    /// All the text so far.
    text: Cow<'a, str>,
    /// Everything before this place is decided.
    at: usize,
    mode: Mode,
    /// What the markup of calls opened and has not closed yet.
    glue: Vec<Glue>,
    /// The dialect of the last calls, and the place behind them.
    inside: Option<(Arc<Record>, usize)>,
    /// Inside a fence that was left in the text.
    in_fence: bool,
    /// What closes the block of speech that was opened.
    speech: Option<Arc<str>>,
    /// What becomes of calls in reasoning.
    calls_in_reasoning: CallsInReasoning,
    /// What closes the reasoning that is read for calls; all that is no call is thought then.
    thought: Option<Arc<str>>,
    /// Calls of the last list, waiting for the end of their markup.
    pending: Vec<Verdict>,
    space: Space,
    native: Drafts,
    /// What is certain may go out before a verdict.
    is_live: bool,
    /// The call in the text that is being read, as far as that.
    early: Option<Early<'a>>,
    outcome: Outcome,
    /// Bytes of payload read so far.
    spent: usize,
    /// How often prose stood between calls.
    block: usize,
    /// Prose stood behind the last call.
    apart: bool,
    /// The accepted calls.
    made: Made,
    /// How often the markup around calls was closed altogether.
    group: usize,
    /// The end of the last payload that was a call.
    called: usize,
    /// The end of the last call that was only shown: the next one of its list is shown as well.
    shown: Option<usize>,
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
    close: Arc<str>,
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
        let mut scanner = Scanner {
            names: Names::new(tools),
            cut: context.finish_reason.is_some_and(is_cut),
            admission: Admission { policy: context.policy, doubts_open_ends: context.doubt_open_ends },
            is_quiet: false,
            explicit: context.native,
            dialects: context.dialects.clone(),
            text: Cow::Borrowed(""),
            at: 0,
            mode: Mode::Prose,
            glue: Vec::new(),
            inside: None,
            in_fence: false,
            speech: None,
            calls_in_reasoning: context.calls_in_reasoning,
            thought: None,
            pending: Vec::new(),
            space: Space::default(),
            native: Drafts::new(context.live),
            is_live: context.live,
            early: None,
            outcome: Outcome::default(),
            spent: 0,
            block: 0,
            apart: false,
            made: Made::default(),
            group: 0,
            called: 0,
            shown: None,
        };
        if context.starts_in_reasoning {
            scanner.think(context.dialects.reasoning_closer());
        }
        scanner
    }

    /// The outcome of a whole answer, without events.
    pub(crate) fn read(mut self, text: &'a str) -> Outcome {
        self.is_quiet = true;
        self.outcome.text.reserve(text.len());
        self.text = Cow::Borrowed(text);
        self.finish(&mut Vec::new())
    }

    /// Takes the next piece.
    pub fn feed(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        match delta {
            Delta::Text(text) => {
                self.text.to_mut().push_str(text);
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
            self.judged(verdict, out);
        }
        if !self.space.removed {
            let space = std::mem::take(&mut self.space.pending);
            self.say(space, "", out);
        }
        self.outcome
    }

    fn advance(&mut self, end: bool, out: &mut Vec<Event>) {
        loop {
            // Most pieces are prose: there is nothing to take out, and nothing to put back.
            let flow =
                if let Mode::Prose = self.mode { self.prose(end, out) } else { self.beyond_prose(end, out) };
            if let Flow::Wait = flow {
                return;
            }
        }
    }

    fn beyond_prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        match std::mem::replace(&mut self.mode, Mode::Prose) {
            Mode::Prose => Flow::On,
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
        }
    }

    fn place(&self, line_start: bool, end: bool) -> Place<'_, 'a> {
        Place {
            names: &self.names,
            dialects: &self.dialects,
            inside: None,
            line_start,
            in_fence: self.in_fence,
            thought: self.thought.as_deref(),
            end,
        }
    }

    /// Lets prose through up to the next place where something else may begin.
    fn prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        let mut at = self.at;
        // Up to here, every place is looked at.
        let mut near = self.begins_line(at).then(|| behind_blanks(self.text.as_bytes(), at));
        // The next stretch of the built-in dialects; the caller's own markers may begin before it.
        let mut next: Option<Stretch> = None;
        let found = loop {
            if near.is_none_or(|near| near < at) {
                let stretch = match next.filter(|stretch| at <= stretch.from) {
                    Some(stretch) => stretch,
                    None => ahead(&self.text, at),
                };
                next = Some(stretch);
                let markers = self.dialects.markers();
                let own = markers.and_then(|own| own.next(self.text.as_bytes(), at, stretch.from));
                let (from, to) = own.map_or((stretch.from, stretch.to), |own| (own, own));
                self.pass_over(at, from);
                at = from;
                near = Some(to);
            }
            let Some(&byte) = self.text.as_bytes().get(at) else { break Found::Nothing };
            let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
            let in_word = before.is_some_and(|&before| is_name_byte(before));
            let begins_word = is_name_byte(byte) && !in_word;
            if begins_word && !end && self.is_word_begun(at) {
                break Found::Wait;
            }
            let special =
                matches!(byte, b'[' | b'(' | b'{' | b'`' | b'<') || matches!(byte, b'"' | b'\'') && !in_word;
            // `]<]minimax[>[<tool_call>`
            let marked = byte == b']' && self.text.as_bytes().get(at + 1).is_none_or(|next| *next == b'<');
            // `>>>f⏎{…}`, also behind text
            let arrow = byte == b'>' && self.text.as_bytes().get(at + 1).is_none_or(|next| *next == b'>');
            let own = self.dialects.markers().is_some_and(|markers| markers.begins_with(byte));
            if (special && !self.is_hollow(at)) || begins_word || marked || arrow || own || byte == b'#' {
                match self.at_mark(at, self.begins_line(at), end) {
                    Found::Nothing => {}
                    Found::Crowd(to) => {
                        self.pass_over(at, to);
                        at = to;
                        continue;
                    }
                    found => break found,
                }
            }
            self.pass_over(at, at + 1);
            if byte == b'`' {
                let run = tick_run(self.text.as_bytes(), at);
                if at + run == self.text.len() && run < MAX_TICKS && !end {
                    break Found::Wait;
                }
                self.in_fence ^= 3 <= run;
                at += run;
                continue;
            }
            at += 1;
        };
        self.release(at, out);
        match found {
            Found::Nothing | Found::Wait | Found::Crowd(_) => Flow::Wait,
            Found::Lead(lead) => {
                self.mode =
                    if self.spent > READS_PER_BYTE * at + FREE_READS && lead.record.anchor == Anchor::Weak {
                        let past = lead.item.at() + 1;
                        self.release(past, out);
                        Mode::Prose
                    } else if let Some(body) = Body::of(&lead) {
                        self.early = self.early(&lead);
                        Mode::Body(lead, body)
                    } else {
                        self.early = self.early(&lead);
                        let extent = Extent::new(lead.item.at());
                        Mode::Payload(lead, extent)
                    };
                Flow::On
            }
            Found::Think(open, close) => {
                self.at = at + open;
                self.think(close);
                Flow::On
            }
            Found::Thought(len) => {
                self.at = at + len;
                self.end_thought(out);
                Flow::On
            }
            Found::Speech(len, close) => {
                self.at = at + len;
                self.remove();
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

    /// Does the bracket at `at` begin nothing, by what stands right behind it: `a < b`, `[[[[`?
    fn is_hollow(&self, at: usize) -> bool {
        match self.text.as_bytes().get(at..).unwrap_or(&[]) {
            // More than three lists are around no call.
            [b'[', b'[', b'[', b'[', ..] => true,
            // `<<SYS>>` begins a turn.
            [b'<', b'<', ..] => !self.has_calls(),
            [b'<', next, ..] => {
                next.is_ascii()
                    && !next.is_ascii_alphabetic()
                    && !matches!(next, b'|' | b'/' | b'!' | b'?' | b'_')
            }
            _ => false,
        }
    }

    /// Is what begins at `at`, in a line, the beginning of a word that may yet hold a name? It waits for its end. Most
    /// pieces of a stream end so, and there is no need to look any closer.
    fn is_word_begun(&self, at: usize) -> bool {
        let word = &self.text[at..];
        word.bytes().all(is_name_byte)
            && self.names.may_hold(word)
            && self.may_call()
            && !self.explicit
            && self.dialects.markers().is_none()
            && !self.begins_line(at)
    }

    /// Is there any call that text may hold: tools are declared, there are no native calls, and it is not said to the user?
    fn may_call(&self) -> bool {
        self.native.is_empty() && !self.names.tools().is_empty() && self.speech.is_none()
    }

    /// Brackets and quotes of a list do not outlive prose.
    fn pass_over(&mut self, from: usize, to: usize) {
        let is_prose =
            || self.text.as_bytes().get(from..to).is_some_and(|b| !b.iter().all(u8::is_ascii_whitespace));
        if !self.glue.is_empty() && is_prose() {
            self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
        }
    }

    /// What begins at `at`, if anything but prose does.
    fn at_mark(&mut self, at: usize, line_start: bool, end: bool) -> Found {
        let rest = &self.text[at..];
        if let Some(&byte) = rest.as_bytes().first() {
            let own = self.dialects.markers().filter(|markers| markers.begins_with(byte));
            if let Some(close) = &self.thought {
                match thought_ends(rest.as_bytes(), close) {
                    Fit::Is(len) => return Found::Thought(len),
                    Fit::Grows if !end => return Found::Wait,
                    Fit::Grows | Fit::No => {}
                }
            } else if (matches!(byte, b'<' | b'[' | b'>' | b't') || own.is_some())
                && let Some(found) = self.block_begins(rest.as_bytes(), end)
            {
                return found;
            } else if matches!(byte, b'<' | b'[')
                && let Some(found) = self.stray_closer(rest.as_bytes(), line_start, end)
            {
                return found;
            }
            // The closing marks of markup that was taken out before.
            if byte == b'`' || byte == b'<' || own.is_some() {
                let fence = self.glue.iter().any(|g| matches!(g, Glue::Fence(_))) && rest.starts_with("```");
                let tag = self.glue.contains(&Glue::Tag)
                    && (rest.starts_with("</") || own.is_some_and(|own| own.closes(&self.text, at, end)));
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
        if self.has_calls() && self.thought.is_none() && (line_start || rest.starts_with('<')) {
            match guard::turn(&self.text, at) {
                Fit::Is(_) => return Found::Turn,
                Fit::Grows if !end => return Found::Wait,
                Fit::Grows | Fit::No => {}
            }
        }
        if self.thought.is_none()
            && let Some(found) = self.quote_begins(at, end)
        {
            return found;
        }
        if !self.native.is_empty() || self.names.tools().is_empty() {
            return Found::Nothing;
        }
        // What is said to the user is no call, before another block begins.
        if self.speech.is_some() && !matches!(rest.as_bytes().first(), Some(b'<' | b'>')) {
            return Found::Nothing;
        }
        if !line_start && self.is_beside(at) && self.is_plain_word(at) {
            return Found::Nothing;
        }
        // `[{…}, {…}]` behind a marker: the second call is of the first one's dialect.
        let inside = self.inside.as_ref().filter(|(_, from)| {
            !self.glue.is_empty() && self.text.get(*from..at).is_some_and(|gap| gap.trim().is_empty())
        });
        let place = Place { inside: inside.map(|(record, _)| record), ..self.place(line_start, end) };
        match lead::look(&self.text, at, place) {
            Look::Found(lead) if self.speech.is_some() && !self.begins_block(&lead) => Found::Nothing,
            Look::Found(lead) if self.thought.is_some() && lead.record.anchor == Anchor::Weak => {
                Found::Nothing
            }
            Look::Found(lead) if self.explicit && !self.is_explicit(&lead) => Found::Nothing,
            Look::Found(lead) if !self.dialects.admits(&lead.dialect) => Found::Nothing,
            Look::Found(lead) => Found::Lead(lead),
            Look::Wait => Found::Wait,
            Look::Nothing => Found::Nothing,
            Look::Crowd(to) => Found::Crowd(to),
        }
    }

    /// Does it begin a block of its own, as what stands beside a block of speech does?
    fn begins_block(&self, lead: &Lead) -> bool {
        let rest = self.text.as_bytes().get(lead.start..).unwrap_or(&[]);
        FRAMES.iter().any(|frame| matches!(marks::fit(rest, frame), Fit::Is(_)))
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
        let is_mark = |byte| self.dialects.markers().is_some_and(|own| own.begins_with(byte));
        rest.first().is_some_and(|&byte| is_name_byte(byte) && !is_mark(byte))
            && !self.dialects.words().any(|word| dialect::starts_with_any_case(rest, word))
            && !dialect::may_grow_into(&self.text, at, self.dialects.words())
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
                if let Some((_, from)) = &mut self.inside {
                    *from = at;
                }
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
            self.judged(verdict, out);
        }
        self.group += usize::from(self.glue.is_empty());
    }

    fn judged(&mut self, verdict: Verdict, out: &mut Vec<Event>) {
        if !self.is_quiet {
            out.push(Event::Call(verdict.clone()));
        }
        self.outcome.verdicts.push(verdict);
    }

    /// The same call in another dialect, or again behind prose, is an explanation of it. A list may hold a
    /// call twice, also one whose elements have less markup than its beginning.
    fn is_repeat(&mut self, verdict: &Verdict) -> bool {
        let Verdict::Accepted(call) = verdict else { return false };
        let spot = self.spot(call.dialect.clone());
        self.made.has(call, &spot, &self.outcome.verdicts)
    }

    /// Where a call would stand now.
    fn spot(&self, dialect: Cow<'static, str>) -> Spot {
        Spot { dialect, block: self.block + usize::from(self.apart), group: self.group }
    }

    fn remember(&mut self, verdict: &Verdict) {
        if std::mem::take(&mut self.apart) {
            self.block += 1;
        }
        if let Verdict::Accepted(call) = verdict {
            let spot = Spot { dialect: call.dialect.clone(), block: self.block, group: self.group };
            self.made.add(call, spot, self.outcome.verdicts.len());
        }
    }

    /// Does what stands at `at` begin a line, or what the model says behind its reasoning?
    fn begins_line(&self, at: usize) -> bool {
        let is_behind_block = || {
            let before = self.text.get(self.at..at).unwrap_or("");
            self.space.removed && !self.has_calls() && before.trim().is_empty()
        };
        self.is_line_start(at) || is_behind_block()
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
        let text = std::mem::take(&mut self.text);
        self.release_piece(text.get(self.at..end).unwrap_or(""), out);
        self.at = end;
        self.text = text;
    }

    fn release_piece(&mut self, piece: &str, out: &mut Vec<Event>) {
        let body = piece.trim_start();
        self.blank(piece.get(..piece.len() - body.len()).unwrap_or(""));
        if body.is_empty() {
            return;
        }
        // Brackets and quotes of a list do not outlive prose.
        self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
        let said = body.trim_end();
        self.apart = self.has_calls();
        let space = std::mem::take(&mut self.space.pending);
        self.space = Space::default();
        self.say(space, said, out);
        self.blank(body.get(said.len()..).unwrap_or(""));
    }

    fn blank(&mut self, space: &str) {
        if !self.space.removed || !(self.space.before || self.outcome.text.is_empty()) {
            self.space.pending.push_str(space);
        }
    }

    /// Markup begins here and is taken out.
    fn remove(&mut self) {
        if self.outcome.text.is_empty() {
            self.space.pending.clear();
        }
        self.space.removed = true;
        self.space.before = !self.space.pending.is_empty();
    }

    fn say(&mut self, mut space: String, said: &str, out: &mut Vec<Event>) {
        if self.thought.is_some() {
            space.push_str(said);
            return self.reason(&space, out);
        }
        self.outcome.text.push_str(&space);
        self.outcome.text.push_str(said);
        if self.is_quiet {
            return;
        }
        space.push_str(said);
        if !space.is_empty() {
            out.push(Event::Text(space));
        }
    }
}

enum Found {
    Nothing,
    Wait,
    Lead(Lead),
    /// Marks that are text, up to here.
    Crowd(usize),
    /// A reasoning block: the length of its opener, and its closer.
    Think(usize, Arc<str>),
    /// The end of reasoning that was read for calls: the length of its closer.
    Thought(usize),
    /// An edge of a block of speech: its length, and what closes the block that begins there.
    Speech(usize, Option<Arc<str>>),
    /// A quoted result: the length of its opener, and its closer.
    Quote(usize, String),
    /// A closing mark of markup that was taken out, up to here, and what to look at next.
    Closer(usize, Mode),
    Turn,
}

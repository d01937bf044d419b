//! One machine for whole texts and for streams: deltas go in, text, reasoning and verdicts come out.
//!
//! What is decided depends only on the text so far at a place that the text itself determines, never on how
//! it was cut into deltas; and what went out is never taken back. Prose flows at once. From a place on where
//! a call may begin, text is held until its fate is certain, or until the end.

mod extent;
mod judge;
mod lead;
mod native;
mod tail;

use std::collections::HashMap;

use callwright_json::{Span, strict};

use self::extent::{Extent, Progress};
use self::judge::{Case, Judged, judge};
use self::lead::{Glue, Item, Lead, Look, MAX_TICKS, Place, is_name_byte, tick_run};
pub use self::native::CallDelta;
use self::native::Drafts;
use self::tail::{Tail, tail};
use crate::dialect::{self, Anchor, REASONING, TURNS};
use crate::engine::Context;
use crate::guard;
use crate::name::Names;
use crate::policy::Policy;
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
    /// A call.
    Call(Verdict),
}

/// Reads one answer as it arrives.
pub struct Scanner<'a> {
    names: Names<'a>,
    cut: bool,
    /// Which mended calls may pass.
    policy: Policy,
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
    /// In a payload that only the rest of the text can settle; it seemed to end here.
    Held(Lead, Option<usize>),
    /// Behind a payload.
    Tail,
    /// In a reasoning block.
    Reasoning(Thinking),
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
            cut: context.finish_reason == Some("length"),
            policy: context.policy,
            explicit: context.native,
            dialect: context.dialect.map(str::to_owned),
            text: String::new(),
            at: 0,
            mode,
            glue: Vec::new(),
            in_fence: false,
            pending: Vec::new(),
            space: Space::default(),
            native: Drafts::default(),
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
            Delta::ToolCall(delta) => self.native.feed(delta),
        }
    }

    /// Says that no more will come.
    pub fn finish(mut self, out: &mut Vec<Event>) -> Outcome {
        self.advance(true, out);
        for verdict in self.native.judge(&self.names, self.policy, self.cut, self.outcome.verdicts.len()) {
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
                Mode::Held(lead, seen) => self.held(lead, seen, end, out),
                Mode::Tail => self.tail(end, out),
                Mode::Reasoning(thinking) => self.reasoning(thinking, end, out),
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
            if special || begins_word || (line_start && byte == b'#') {
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
            if matches!(byte, b'<' | b'[') {
                let opens = |open: &str| dialect::starts_with_any_case(rest.as_bytes(), open);
                if let Some((open, close)) = REASONING.iter().find(|(open, _)| opens(open)) {
                    return Found::Think(open.len(), close);
                }
                if !end && dialect::may_grow_into(&self.text, at, REASONING.iter().map(|(open, _)| *open)) {
                    return Found::Wait;
                }
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
        if !self.native.is_empty() {
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
        let alone = self.outcome.text.is_empty() && self.text[self.at..lead.start].trim().is_empty();
        lead.record.anchor == Anchor::Distinct || alone || self.has_calls()
    }

    fn has_calls(&self) -> bool {
        !self.outcome.verdicts.is_empty()
    }

    /// Looks for the end of a payload, and decides there if it can.
    fn payload(&mut self, lead: Lead, mut extent: Extent, end: bool, out: &mut Vec<Event>) -> Flow {
        match extent.advance(self.text.as_bytes(), end) {
            Progress::Open if end => self.decide_last(lead, None, out),
            Progress::Open => {
                self.mode = Mode::Payload(lead, extent);
                return Flow::Wait;
            }
            Progress::Ended(at) => {
                // Surplus closers belong to the payload: `{"a": 1}}}`.
                let behind = &self.text.as_bytes()[at..];
                let surplus = match lead.item {
                    Item::Value { .. } | Item::Named { .. } => {
                        behind.iter().take(64).take_while(|&&b| b == b'}').count()
                    }
                    Item::Call { .. } => 0,
                };
                if surplus < 64 && surplus == behind.len() && !end {
                    self.mode = Mode::Payload(lead, extent);
                    return Flow::Wait;
                }
                let next = behind.iter().skip(surplus).take(64).find(|b| !b.is_ascii_whitespace()).copied();
                if next.is_none() && behind.len() < surplus + 64 && !end {
                    self.mode = Mode::Payload(lead, extent);
                    return Flow::Wait;
                }
                // `{"a": "say "}" now"}`: what stands behind the value is the string's that seemed to end in it.
                let blank = behind.iter().skip(surplus).take_while(|b| b.is_ascii_whitespace());
                let same_line = !blank.into_iter().any(|&b| b == b'\n');
                let goes_on = match next {
                    Some(b'"' | b'\'') => {
                        !lead.glue.iter().chain(&self.glue).any(|g| matches!(g, Glue::Quote(_)))
                    }
                    Some(b) => {
                        lead.record.anchor == Anchor::Distinct && same_line && b.is_ascii_alphanumeric()
                    }
                    None => false,
                };
                let goes_on = goes_on && !matches!(lead.item, Item::Call { .. });
                if goes_on {
                    self.mode = Mode::Held(lead, None);
                    return Flow::On;
                }
                match self.judge(&lead, at + surplus, Some(at + surplus), extent.has_nested_call(), false) {
                    Judged::Unclear if end => self.decide_last(lead, Some(at + surplus), out),
                    Judged::Unclear => {
                        self.mode = Mode::Held(lead, Some(at + surplus));
                        return Flow::Wait;
                    }
                    judged => self.settle(lead, judged, out),
                }
            }
        }
        Flow::On
    }

    fn held(&mut self, lead: Lead, seen: Option<usize>, end: bool, out: &mut Vec<Event>) -> Flow {
        if !end {
            self.mode = Mode::Held(lead, seen);
            return Flow::Wait;
        }
        self.decide_last(lead, seen, out);
        Flow::On
    }

    /// All the text is there: reads up to the dialect's closing mark, else up to the end. An argument list
    /// that is balanced ends there, whatever is wrong inside.
    fn decide_last(&mut self, lead: Lead, seen: Option<usize>, out: &mut Vec<Event>) {
        let from = lead.item.at();
        let fence = lead.glue.iter().any(|g| matches!(g, Glue::Fence(_)));
        let marks = lead.record.close.iter().copied().chain(fence.then_some("\n```"));
        let rest = &self.text[from..];
        let close = marks.filter_map(|mark| rest.find(mark)).min().map(|n| from + n);
        let longer = match lead.item {
            Item::Call { .. } if seen.is_some() => [None, None],
            _ => [close, Some(self.text.len())],
        };
        for limit in longer.into_iter().flatten() {
            match self.judge(&lead, limit, None, false, false) {
                Judged::Unclear => {}
                judged => return self.settle(lead, judged, out),
            }
        }
        let limit = close.or(seen).unwrap_or(self.text.len());
        let judged = self.judge(&lead, limit, Some(limit), false, true);
        self.settle(lead, judged, out);
    }

    fn judge(
        &mut self,
        lead: &Lead,
        limit: usize,
        end: Option<usize>,
        nested_call: bool,
        last: bool,
    ) -> Judged {
        let limit = limit.min(self.text.len());
        self.spent += limit.saturating_sub(lead.item.at());
        let before = &self.text[..lead.start];
        let case = Case {
            names: &self.names,
            lead,
            text: &self.text[..limit],
            end,
            cut: self.cut && limit == self.text.len(),
            last,
            set_off: self.is_line_start(lead.start) || !lead.glue.is_empty() || self.has_calls(),
            alone: self.outcome.text.is_empty() && !self.has_calls(),
            nested_call,
            policy: self.policy,
        };
        match judge(&case) {
            Judged::Calls(verdicts, end) => {
                let shown = lead.record.anchor == Anchor::Weak && guard::is_example(before);
                if shown { Judged::Text(Some(end)) } else { Judged::Calls(verdicts, end) }
            }
            judged => judged,
        }
    }

    fn settle(&mut self, mut lead: Lead, judged: Judged, out: &mut Vec<Event>) {
        match judged {
            // An explanation that says the calls again stays text.
            Judged::Calls(verdicts, end)
                if lead.record.anchor == Anchor::Weak && verdicts.iter().all(|v| self.is_repeat(v)) =>
            {
                self.settle(lead, Judged::Text(Some(end)), out);
            }
            Judged::Calls(verdicts, end) => {
                self.remove(out);
                self.glue.append(&mut lead.glue);
                self.pending.extend(verdicts);
                self.at = end;
                self.mode = Mode::Tail;
            }
            Judged::Text(end) => {
                self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
                if lead.glue.iter().any(|g| matches!(g, Glue::Fence(_))) {
                    self.in_fence = !self.in_fence;
                }
                let end = end.unwrap_or(lead.item.at() + 1).min(self.text.len());
                self.release(end, out);
                self.mode = Mode::Prose;
            }
            Judged::Unclear => {
                self.release(lead.item.at() + 1, out);
                self.mode = Mode::Prose;
            }
        }
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

    /// Lets reasoning through up to its closer.
    fn reasoning(&mut self, mut thinking: Thinking, end: bool, out: &mut Vec<Event>) -> Flow {
        while let Some(found) =
            self.text.as_bytes()[thinking.searched..].iter().position(|b| matches!(b, b'<' | b'['))
        {
            let at = thinking.searched + found;
            let rest = &self.text.as_bytes()[at..];
            if dialect::starts_with_any_case(rest, thinking.close) {
                self.think_up_to(at, out);
                self.at = at + thinking.close.len();
                self.mode = Mode::Prose;
                return Flow::On;
            }
            let openers = dialect::ALL.iter().flat_map(|record| record.open.iter().copied());
            if !end && dialect::may_grow_into(&self.text, at, openers.chain([thinking.close])) {
                thinking.searched = at;
                break;
            }
            let marked =
                dialect::opener_at(&self.text, at).is_some_and(|(r, _)| r.anchor == Anchor::Distinct);
            if marked && thinking.marked.is_none() {
                self.think_up_to(at, out);
                thinking.marked = Some(at);
            }
            thinking.searched = at + 1;
        }
        let held = thinking.searched;
        let waits = held < self.text.len() && matches!(self.text.as_bytes()[held], b'<' | b'[') && !end;
        if thinking.marked.is_none() {
            self.think_up_to(if waits { held } else { self.text.len() }, out);
        }
        if !end {
            if !waits {
                thinking.searched = self.text.len();
            }
            self.mode = Mode::Reasoning(thinking);
            return Flow::Wait;
        }
        // Never closed: a marked call in it was meant.
        self.mode = Mode::Prose;
        Flow::On
    }

    fn think_up_to(&mut self, end: usize, out: &mut Vec<Event>) {
        if self.at < end {
            let thought = self.text[self.at..end].to_owned();
            self.reason(&thought, out);
            self.at = end;
        }
    }

    fn reason(&mut self, thought: &str, out: &mut Vec<Event>) {
        if !thought.is_empty() {
            self.outcome.reasoning.push_str(thought);
            out.push(Event::Reasoning(thought.to_owned()));
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

/// What makes two calls the same.
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
    /// A closing mark of markup that was taken out, up to here, and what to look at next.
    Closer(usize, Mode),
    Turn,
}

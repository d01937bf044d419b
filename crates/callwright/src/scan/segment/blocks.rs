//! Blocks that are no calls: reasoning, speech in channels, results that the model quotes.

use std::sync::Arc;

use super::emit::Space;
use super::prose::Found;
use crate::dialect::own::Stands;
use crate::dialect::{
    ANSWER_HEADS, ANY_CLOSER, Anchor, QUOTATIONS, REASONING, RESULT_LABEL, RESULTS, TURN_MARKS, TURNS,
};
use crate::policy::CallsInReasoning;
use crate::scan::mention::Surroundings;
use crate::scan::opener::{MAX_TICKS, tick_run};
use crate::scan::{Event, Flow, Mode, Scanner, Thinking};
use crate::syntax::marks::{Fit, Held, fit, fit_any};
use crate::syntax::tag::{Lexed, Role, is_foreign, tag_at};
use crate::tools::names::is_name_byte;

/// What ends a thought in a channel whose tokens were taken out.
const BARE_FINAL: &str = "assistantfinal";

impl Scanner<'_> {
    /// Does a block of reasoning or of speech begin at `at`, or such a block of speech end?
    pub(super) fn block_begins(&self, at: usize, end: bool) -> Option<Found> {
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        let mut grows = self.rules.dialects.may_grow_into_block(rest);
        // `<|channel>` begins `<|channel>thought`, too.
        if grows && !end {
            return Some(Found::Wait);
        }
        let mut found = match self.rules.dialects.block(rest) {
            Some((len, Held::Thought, close)) => match self.is_named(at, at + len, end) {
                Some(true) => None,
                Some(false) => Some(Found::Think(len, Arc::clone(close))),
                None => Some(Found::Wait),
            },
            Some((len, Held::Speech, close)) => Some(Found::Speech(len, Some(Arc::clone(close)))),
            None => None,
        };
        if let Some(close) = &self.speech {
            for close in [&**close, "<|end|>", "<|eom|>", "<|eot|>"] {
                match fit(rest, close) {
                    // `{"value": "<|end|>"}`
                    Fit::Is(len) => match self.is_in(b'"', at, at + len, end) {
                        Some(true) => {}
                        Some(false) => found = Some(Found::Speech(len, None)),
                        None => grows = true,
                    },
                    Fit::Grows => grows = true,
                    Fit::No => {}
                }
            }
        }
        found.or((grows && !end).then_some(Found::Wait))
    }

    /// Is the tag from `at` to `behind` only named: in code, in backticks, or between two quotes? `None` where more text
    /// must tell.
    fn is_named(&self, at: usize, behind: usize, end: bool) -> Option<bool> {
        let bytes = self.text.as_bytes();
        // `<|channel|>analysis<|message|>` is a model's own wherever it stands.
        if !bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
            return Some(false);
        }
        match at.checked_sub(1).and_then(|before| bytes.get(before)) {
            _ if self.markup.in_fence => Some(true),
            Some(b'`') => Some(true),
            Some(quote @ (b'"' | b'\'')) => match bytes.get(behind) {
                None if !end => None,
                next => Some(next == Some(quote)),
            },
            _ => Some(false),
        }
    }

    /// Does the mark from `at` to `behind` stand in backticks, `` `</think>` ``? `None` where more text must tell.
    pub(super) fn is_in_ticks(&self, at: usize, behind: usize, end: bool) -> Option<bool> {
        self.is_in(b'`', at, behind, end)
    }

    /// Whether one `quote` stands right before `at` and one right behind `behind`.
    fn is_in(&self, quote: u8, at: usize, behind: usize, end: bool) -> Option<bool> {
        let bytes = self.text.as_bytes();
        if at.checked_sub(1).and_then(|before| bytes.get(before)) != Some(&quote) {
            return Some(false);
        }
        match bytes.get(behind) {
            None if !end => None,
            next => Some(next == Some(&quote)),
        }
    }

    /// The head of the model's own turn, where the answer begins with it.
    pub(super) fn answer_head(&self, at: usize, end: bool) -> Option<Found> {
        let rest = self.text.as_bytes().get(at..).filter(|_| self.is_first(at))?;
        let mut grows = false;
        for head in ANSWER_HEADS {
            match fit(rest, head) {
                Fit::Is(len) => {
                    let breaks =
                        rest.get(len..).unwrap_or(&[]).iter().take_while(|byte| **byte == b'\n').count();
                    return match len + breaks < rest.len() || end {
                        true => Some(Found::Speech(len + breaks, None)),
                        false => Some(Found::Wait),
                    };
                }
                Fit::Grows => grows = true,
                Fit::No => {}
            }
        }
        (grows && !end).then_some(Found::Wait)
    }

    /// The head of a thought in a channel whose tokens were taken out, `analysisWe look.assistantfinalHello.`, as the first
    /// words of an answer: `analysis`, and a sentence that begins in the same word.
    pub(super) fn bare_thought(&self, at: usize, end: bool) -> Option<Found> {
        const HEAD: &str = "analysis";
        const MAX_WORD: usize = 16;
        let rest = self.text.as_bytes().get(at..).filter(|_| self.is_first(at))?;
        let wait = if end { None } else { Some(Found::Wait) };
        let Some(sentence) = rest.strip_prefix(HEAD.as_bytes()) else {
            return if HEAD.as_bytes().starts_with(rest) { wait } else { None };
        };
        let Some(first) = sentence.first() else { return wait };
        if !first.is_ascii_uppercase() {
            return None;
        }
        let is_inner = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'\'';
        let len = 1 + sentence[1..].iter().take(MAX_WORD).take_while(is_inner).count();
        match sentence.get(len..) {
            None | Some([] | [b' ']) => wait,
            Some([b' ', next, ..]) if next.is_ascii_lowercase() => {
                Some(Found::Think(HEAD.len(), BARE_FINAL.into()))
            }
            Some(_) => None,
        }
    }

    /// Has the answer said nothing before `at`, and called nothing?
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.outcome.text.is_empty()
            && !self.has_calls()
            && self.text.get(self.at..at).is_some_and(|before| before.trim().is_empty())
    }

    /// A special token that ends what nobody began, `Here you go.<|tool_call_end|>`: markup, but for one that is quoted or
    /// stands like a word in a sentence.
    pub(super) fn stray_token(&self, at: usize, end: bool) -> Option<Found> {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(at..).unwrap_or(&[]);
        if !rest.starts_with(b"<")
            || self.markup.in_fence
            || self.markup.opened_in_text
            || self.names.tools().is_empty()
        {
            return None;
        }
        // `<|tool_call_end|>`, `<channel|>`, `</｜DSML｜invoke>`; letters alone, `</tool_call>`, a user may write, too.
        let is_token =
            |mark: &[u8]| mark.contains(&b'|') || memchr::memmem::find(mark, "｜".as_bytes()).is_some();
        let len = match self.rules.dialects.closer(rest) {
            Fit::Is(len) if is_token(&rest[..len]) => len,
            Fit::Grows if !end => return Some(Found::Wait),
            Fit::Is(_) | Fit::Grows | Fit::No => return None,
        };
        let is_markup = match (at.checked_sub(1).and_then(|before| bytes.get(before)), rest.get(len)) {
            (Some(b'`' | b'"' | b'\'' | b'('), _) => false,
            (Some(b' ' | b'\t'), None) if !end => return Some(Found::Wait),
            (Some(b' ' | b'\t'), behind) => matches!(behind, None | Some(b'\n' | b'\r' | b'<')),
            (None | Some(_), _) => true,
        };
        is_markup.then_some(Found::Speech(len, None))
    }

    /// The end of reasoning whose beginning nobody saw, as the prompt held it: a mark that begins or ends a line, or stands
    /// before a call. One that is talked about in a sentence is text.
    pub(super) fn stray_closer(&self, rest: &[u8], line_start: bool, end: bool) -> Option<Found> {
        if self.markup.in_fence || self.speech.is_some() || !matches!(rest.get(1), Some(b'/') | None) {
            return None;
        }
        let mut grows = rest.len() == 1;
        for (_, close) in REASONING.iter().filter(|(_, close)| close.as_bytes().get(1) == Some(&b'/')) {
            match fit(rest, close) {
                Fit::Is(len) => match rest.get(len) {
                    None if end => return Some(Found::Speech(len, None)),
                    None => grows = true,
                    Some(b'\n' | b'\r' | b'<' | b'[' | b'{' | b']') => return Some(Found::Speech(len, None)),
                    Some(_) if line_start => return Some(Found::Speech(len, None)),
                    Some(_) => {}
                },
                Fit::Grows => grows = true,
                Fit::No => {}
            }
        }
        (grows && !end).then_some(Found::Wait)
    }

    /// Does a tool's result begin at `at`, which the model quotes?
    pub(super) fn quote_begins(&self, at: usize, end: bool) -> Option<Found> {
        let rest = self.text.as_bytes().get(at..)?;
        match rest.first()? {
            b'<' | b'[' => {
                // `Vec<Example>` in code opens nothing.
                let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
                let is_apart = before.is_none_or(|byte| !is_name_byte(*byte) && *byte != b':');
                let quotations = QUOTATIONS.iter().filter(|_| is_apart && !self.markup.in_fence);
                let mut grows = false;
                for (open, close) in RESULTS.iter().chain(quotations) {
                    match fit(rest, open) {
                        Fit::Is(len) => return Some(Found::Quote(len, (*close).to_owned())),
                        Fit::Grows => grows = true,
                        Fit::No => {}
                    }
                }
                (grows && !end).then_some(Found::Wait)
            }
            b'`' if !self.markup.in_fence => {
                let run = tick_run(rest, 0);
                let label = rest.get(run..)?;
                let is_cut = !end && label.len() < RESULT_LABEL.len();
                if run < 3 || run == MAX_TICKS {
                    None
                } else if label.starts_with(RESULT_LABEL.as_bytes()) {
                    Some(Found::Quote(run + RESULT_LABEL.len(), format!("\n{}", "`".repeat(run))))
                } else {
                    (is_cut && RESULT_LABEL.as_bytes().starts_with(label)).then_some(Found::Wait)
                }
            }
            _ => None,
        }
    }

    /// Reasoning begins here, which `close` closes.
    pub(in crate::scan) fn think(&mut self, at: usize, close: Arc<str>, out: &mut Vec<Event>) {
        self.standing.surroundings.step_over(&self.text, at, self.at);
        if self.standing.held.is_empty() {
            self.remove();
        }
        match self.rules.calls_in_reasoning {
            CallsInReasoning::Ignore | CallsInReasoning::Unclosed => {
                self.mode = Mode::Reasoning(Thinking { close, searched: self.at, marked: None });
            }
            CallsInReasoning::Accept => {
                self.tell(true, out);
                self.enter_thought(close);
                self.mode = Mode::Prose;
            }
        }
    }

    /// What stands in a thought that is read for calls stands beside nothing outside of it.
    fn enter_thought(&mut self, close: Arc<str>) {
        self.thought = Some(close);
        let outer = std::mem::replace(&mut self.standing.surroundings, Surroundings::from(self.at));
        self.standing.outer = Some(Box::new(outer));
    }

    /// Reasoning that was read for calls ends here.
    pub(super) fn end_thought(&mut self, out: &mut Vec<Event>) {
        self.tell(true, out);
        let space = std::mem::take(&mut self.space.pending);
        self.say(space, "", out);
        self.thought = None;
        self.standing.surroundings =
            self.standing.outer.take().map_or_else(Surroundings::default, |outer| *outer);
        self.standing.surroundings.step_over(&self.text, 0, self.at);
        self.markup.in_fence = false;
        self.markup.delimiters.clear();
        self.remove();
        self.mode = Mode::Prose;
    }

    /// All the text is there, and the reasoning never ended. A call that it ends with was meant.
    fn last_thought(&mut self, close: Arc<str>, out: &mut Vec<Event>) {
        self.tell(true, out);
        let (at, n_verdicts) = (self.at, self.outcome.verdicts.len());
        let (n_events, thought) = (out.len(), self.outcome.reasoning.len());
        let n_shown = self.outcome.shown.len();
        self.enter_thought(close);
        self.advance(true, out);
        self.tell(true, out);
        if n_verdicts < self.outcome.verdicts.len() && !self.standing.prose_since_call {
            return;
        }
        out.truncate(n_events);
        self.outcome.verdicts.truncate(n_verdicts);
        self.outcome.shown.truncate(n_shown);
        self.outcome.reasoning.truncate(thought);
        self.space = Space::default();
        self.at = at;
        self.think_up_to(self.text.len(), out);
    }

    /// Lets reasoning through up to its closer.
    pub(in crate::scan) fn reasoning(
        &mut self,
        mut thinking: Thinking,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        let (own, closer) = (self.rules.dialects.clone(), thinking.close.as_bytes().first().copied());
        let begins = |byte: &u8| {
            matches!(byte, b'<' | b'[')
                || closer == Some(*byte)
                || own.markers().is_some_and(|own| own.begins_with(*byte))
        };
        while let Some(found) = self.text.as_bytes()[thinking.searched..].iter().position(begins) {
            let at = thinking.searched + found;
            let rest = &self.text.as_bytes()[at..];
            if let Fit::Is(len) = thought_ends(rest, &thinking.close) {
                match self.is_in_ticks(at, at + len, end) {
                    Some(true) => {
                        thinking.searched = at + 1;
                        continue;
                    }
                    Some(false) => {
                        self.think_up_to(at, out);
                        self.at = at + len;
                        self.standing.surroundings.step_over(&self.text, 0, self.at);
                        self.mode = Mode::Prose;
                        return Flow::On;
                    }
                    None => {
                        thinking.searched = at;
                        break;
                    }
                }
            }
            let declared = own.markers().map_or(Stands::No, |own| own.opener(&self.text, at, end));
            let grows = || {
                let close = thought_ends(rest, &thinking.close) == Fit::Grows;
                close
                    || self.rules.dialects.may_grow_into_opener(&self.text, at)
                    || tag_at(&self.text, at) == Lexed::Grows && !is_foreign(&self.text, at)
                    || matches!(declared, Stands::Grows)
            };
            if !end && grows() {
                thinking.searched = at;
                break;
            }
            let is_call = matches!(tag_at(&self.text, at), Lexed::Tag(tag) if tag.role == Role::Call && tag.key.is_some());
            let is_own = matches!(declared, Stands::Is(opened) if own.record(opened.record).anchor == Anchor::Distinct);
            let marked = is_call
                || is_own
                || self
                    .rules
                    .dialects
                    .opener_at(&self.text, at)
                    .is_some_and(|(r, _)| r.anchor == Anchor::Distinct);
            if marked
                && thinking.marked.is_none()
                && self.rules.calls_in_reasoning != CallsInReasoning::Ignore
            {
                self.think_up_to(at, out);
                thinking.marked = Some(at);
            }
            thinking.searched = at + 1;
        }
        let held = thinking.searched;
        let waits = held < self.text.len() && begins(&self.text.as_bytes()[held]) && !end;
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
        if thinking.marked.is_some() && self.rules.cut {
            self.think_up_to(self.text.len(), out);
        } else if thinking.marked.is_some() {
            self.last_thought(thinking.close, out);
        }
        Flow::Wait
    }

    /// Lets a quoted result through up to its closer.
    pub(in crate::scan) fn quoted(&mut self, close: String, end: bool, out: &mut Vec<Event>) -> Flow {
        let rest = &self.text[self.at..];
        let fits = |at: usize| fit(&self.text.as_bytes()[at..], &close);
        let first = close.as_bytes().first();
        let found = first
            .into_iter()
            .flat_map(|first| memchr::memchr_iter(*first, rest.as_bytes()))
            .map(|at| (self.at + at, fits(self.at + at)))
            .find(|(_, fit)| matches!(fit, Fit::Is(_)) || !end && *fit == Fit::Grows);
        match found {
            Some((at, Fit::Is(len))) => {
                self.release(at + len, out);
                self.mode = Mode::Prose;
                Flow::On
            }
            Some((at, Fit::Grows | Fit::No)) => {
                self.release(at, out);
                self.mode = Mode::Quoted(close);
                Flow::Wait
            }
            None => {
                self.release(self.text.len(), out);
                self.mode = Mode::Quoted(close);
                Flow::Wait
            }
        }
    }

    pub(super) fn think_up_to(&mut self, end: usize, out: &mut Vec<Event>) {
        if self.at < end {
            let text = std::mem::take(&mut self.text);
            self.reason(text.get(self.at..end).unwrap_or(""), out);
            self.text = text;
            self.at = end;
        }
    }

    pub(in crate::scan) fn reason(&mut self, thought: &str, out: &mut Vec<Event>) {
        if !thought.is_empty() {
            self.outcome.reasoning.push_str(thought);
            if !self.rules.is_quiet {
                out.push(Event::Reasoning(thought.to_owned()));
            }
        }
    }
}

/// Does the reasoning that `close` closes end at the beginning of `bytes`? Where it is a message in a channel, it also
/// ends where the next message begins, which is not a part of its closer.
pub(in crate::scan) fn thought_ends(bytes: &[u8], close: &str) -> Fit {
    let next: &[&str] = match close {
        "<|end|>" | "<|eom|>" => &["<|start|>assistant", "<|channel|>"],
        BARE_FINAL => &["assistantcommentary"],
        _ => &[],
    };
    let mut found = match close {
        ANY_CLOSER => fit_any(bytes, REASONING.iter().map(|(_, close)| *close)),
        _ => fit(bytes, close),
    };
    for next in next {
        match (found, fit(bytes, next)) {
            (Fit::Is(_), _) => {}
            (_, Fit::Is(_)) => found = Fit::Is(0),
            (_, Fit::Grows) => found = Fit::Grows,
            (_, Fit::No) => {}
        }
    }
    found
}

/// Does a turn that is not the model's own, or a result that it cannot know, begin at `at`?
pub(in crate::scan) fn turn(text: &str, at: usize) -> Fit {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let mut found = Fit::No;
    for mark in TURN_MARKS {
        match fit(rest, mark) {
            Fit::Is(len) => {
                return match rest.get(len) {
                    Some(byte) if byte.is_ascii_alphabetic() => Fit::Is(len),
                    Some(_) => Fit::No,
                    None => Fit::Grows,
                };
            }
            Fit::Grows => found = Fit::Grows,
            Fit::No => {}
        }
    }
    for mark in TURNS.iter().chain(RESULTS.iter().map(|(open, _)| open)) {
        match fit(rest, mark) {
            Fit::Is(len) => return Fit::Is(len),
            Fit::Grows => found = Fit::Grows,
            Fit::No => {}
        }
    }
    found
}

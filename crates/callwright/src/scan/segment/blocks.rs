//! Blocks that are not calls: reasoning, speech in channels, results that the model quotes.

use std::sync::Arc;

use callwright_json::{Fuel, Span};
use memchr::memmem;

use super::edges::{BARE_FINAL, thought_ends};
use super::prose::Found;
use super::skip::FOREIGN;
use crate::context::Context;
use crate::dialect::{ANSWER_HEADS, Anchor, QUOTATIONS, REASONING, RESULTS};
use crate::policy::CallsInReasoning;
use crate::scan::mention::Surroundings;
use crate::scan::opener::{Look, parse_opener};
use crate::scan::state::Space;
use crate::scan::{Block, Event, Flow, Quotation, Scanner, State, Thinking};
use crate::syntax::marks::{Held, beginnings, first_of, fit, fit_any};
use crate::syntax::tag::{Role, tag_at};
use crate::syntax::{Incomplete, Seen, at_end, beginning};
use crate::tools::names::is_name_byte;
use crate::verdict::{ShownBy, ShownCall};

/// A sign in a thought.
enum ThoughtSign {
    /// The mark of this length that ends the thought.
    Closer(usize),
    /// A mark that begins a call.
    Call,
    /// Any other sign.
    Word,
}

impl Scanner<'_> {
    /// Returns the block of reasoning or of speech that begins at `at`, or the end of such a block of speech.
    pub(super) fn block_begins(&self, at: usize, end: bool) -> Seen<Found> {
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        // `<|channel>` begins `<|channel>thought`, too.
        if self.rules.dialects.may_grow_into_block(rest) && !end {
            return Err(Incomplete);
        }
        let begun = match self.rules.dialects.block(rest) {
            Some((len, Held::Thought, close)) => {
                // `<|channel|>analysis<|message|>` is a model's own wherever it stands.
                let is_word = rest.get(1).is_some_and(u8::is_ascii_alphabetic);
                let is_text = is_word && (self.markup.in_fence || self.is_named(at, at + len, end)?);
                (!is_text).then(|| Found::Think(len, Arc::clone(close)))
            }
            Some((len, Held::Speech, close)) => Some(Found::Speech(len, Some(Arc::clone(close)))),
            None => None,
        };
        let Some(close) = &self.speech else { return Ok(begun) };
        let closers = [&**close, "<|end|>", "<|eom|>", "<|eot|>"];
        let closer = first_of(closers.iter().map(|close| match fit(rest, close)? {
            // `{"value": "<|end|>"}`
            Some(len) if self.is_named(at, at + len, end)? => Ok(None),
            len => Ok(len),
        }));
        match at_end(closer, end) {
            Ok(Some(len)) => Ok(Some(Found::Speech(len, None))),
            Err(Incomplete) if begun.is_none() => Err(Incomplete),
            _ => Ok(begun),
        }
    }

    /// Returns whether the same quote or tick stands right before `at` and right behind `behind`: the text only names
    /// the mark between them.
    pub(super) fn is_named(&self, at: usize, behind: usize, end: bool) -> Result<bool, Incomplete> {
        let bytes = self.text.as_bytes();
        match at.checked_sub(1).and_then(|before| bytes.get(before)) {
            Some(b'"' | b'\'' | b'`') if bytes.len() <= behind && !end => Err(Incomplete),
            Some(quote @ (b'"' | b'\'' | b'`')) => Ok(bytes.get(behind) == Some(quote)),
            Some(_) | None => Ok(false),
        }
    }

    /// Returns the head of a thought in a channel that lost its tokens: `analysisWe look.assistantfinalHello.`. The
    /// answer begins with `analysis`, and with a sentence in the same word.
    pub(super) fn bare_thought(&self, at: usize) -> Seen<Found> {
        const HEAD: &str = "analysis";
        const MAX_WORD: usize = 16;
        let rest = self.text.get(at..).unwrap_or("");
        if !self.is_first(at) || !rest.starts_with(HEAD) && !HEAD.starts_with(rest) {
            return Ok(None);
        }
        let sentence = beginning(rest, HEAD.len() + MAX_WORD + 2).get(HEAD.len()..).ok_or(Incomplete)?;
        let (word, next) = match sentence.split_once(' ') {
            Some(split) => split,
            None if sentence.len() <= MAX_WORD => return Err(Incomplete),
            None => return Ok(None),
        };
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte == b'\'';
        let is_word =
            word.starts_with(|c: char| c.is_ascii_uppercase()) && word.bytes().skip(1).all(is_inner);
        let begins = next.bytes().next().ok_or(Incomplete)?.is_ascii_lowercase();
        Ok((is_word && begins).then(|| Found::Think(HEAD.len(), BARE_FINAL.into())))
    }

    /// Returns whether the answer has said nothing before `at`, and called nothing.
    pub(in crate::scan) fn is_first(&self, at: usize) -> bool {
        self.outcome.text.is_empty()
            && !self.has_calls()
            && self.text.get(self.at..at).is_some_and(|before| before.trim().is_empty())
    }

    /// Returns a mark at `at` that has no partner, as markup: the head of the model's own turn, the end of reasoning
    /// that began in the prompt, a token that closes nothing, `Here you go.<|tool_call_end|>`. A mark that is quoted,
    /// or stands like a word in a sentence, is text.
    pub(super) fn stray_mark(&self, at: usize, line_start: bool, end: bool) -> Seen<Found> {
        let bytes = self.text.as_bytes();
        let rest = bytes.get(at..).unwrap_or(&[]);
        if self.is_first(at)
            && let Some(len) = at_end(fit_any(rest, ANSWER_HEADS.iter().copied()), end)?
        {
            return Ok(Some(Found::Speech(len, None)));
        }
        if self.markup.in_fence {
            return Ok(None);
        }
        let closers = REASONING.iter().map(|(_, close)| *close);
        let closers = closers.filter(|close| self.speech.is_none() && close.as_bytes().get(1) == Some(&b'/'));
        // `<|tool_call_end|>`, `<channel|>`, `</｜DSML｜invoke>`. A user may write letters alone, `</tool_call>`, too.
        let is_token = |len: &usize| {
            memmem::find(&rest[..*len], "｜".as_bytes()).is_some() || rest[..*len].contains(&b'|')
        };
        let may_be_token =
            !self.markup.opened_in_text && !self.names.tools().is_empty() && rest.starts_with(b"<");
        let token =
            || Ok(if may_be_token { self.rules.dialects.closer(rest)?.filter(is_token) } else { None });
        let closer = at_end(fit_any(rest, closers), end)?;
        let Some(len) = closer.map_or_else(|| at_end(token(), end), |len| Ok(Some(len)))? else {
            return Ok(None);
        };
        let is_alone = match rest.get(len) {
            None if !end => return Err(Incomplete),
            behind => matches!(behind, None | Some(b'\n' | b'\r' | b'<' | b'[' | b'{' | b']')),
        };
        let is_markup = match at.checked_sub(1).and_then(|before| bytes.get(before)) {
            None => true,
            Some(b'`' | b'"' | b'\'' | b'(') => false,
            Some(b' ' | b'\t') => line_start || is_alone,
            Some(_) => line_start || is_alone || closer.is_none(),
        };
        Ok(is_markup.then_some(Found::Speech(len, None)))
    }

    /// Returns the tool's result that begins at `at`, which the model quotes.
    pub(super) fn quote_begins(&self, at: usize) -> Seen<Found> {
        if self.rules.is_quotation {
            return Ok(None);
        }
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        // `Vec<Example>` in code opens nothing.
        let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
        let is_apart = before.is_none_or(|byte| !is_name_byte(*byte) && *byte != b':');
        let quotations = QUOTATIONS.iter().filter(|_| is_apart && !self.markup.in_fence);
        first_of(
            RESULTS
                .iter()
                .chain(quotations)
                .map(|(open, close)| Ok(fit(rest, open)?.map(|len| Found::Quote(len, (*close).to_owned())))),
        )
    }

    /// Begins the reasoning whose opener stands at `at`, and which `close` closes.
    pub(in crate::scan) fn think(&mut self, at: usize, close: Arc<str>, out: &mut Vec<Event>) {
        self.standing.surroundings.step_over(&self.text, at, self.at);
        if !self.is_holding() {
            self.remove();
        }
        match self.rules.calls_in_reasoning {
            CallsInReasoning::Ignore | CallsInReasoning::Unclosed => {
                let from = self.at;
                self.state =
                    State::Block(Block::Thought(Thinking { close, from, searched: from, marked: None }));
            }
            CallsInReasoning::Accept => {
                self.tell(true, out);
                self.enter_thought(close, self.at);
                self.state = State::Prose;
            }
        }
    }

    /// Reads the reasoning that begins at `from` for calls. Words outside of it do not stand beside those calls.
    fn enter_thought(&mut self, close: Arc<str>, from: usize) {
        self.thought = Some(close);
        let outer = std::mem::replace(&mut self.standing.surroundings, Surroundings::from(from));
        self.standing.outer = Some(Box::new(outer));
    }

    /// Ends reasoning that was read for calls.
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
        self.state = State::Prose;
    }

    /// Reads the calls in reasoning that never ended, when all the text is there. A call at its end was meant.
    fn last_thought(&mut self, close: Arc<str>, from: usize, out: &mut Vec<Event>) {
        self.tell(true, out);
        let (at, n_verdicts) = (self.at, self.outcome.verdicts.len());
        let (n_events, thought) = (out.len(), self.outcome.reasoning.len());
        let n_shown = self.outcome.shown.len();
        self.enter_thought(close, from);
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
            matches!(*byte, b'<' | b'[' | FOREIGN)
                || closer == Some(*byte)
                || own.markers().is_some_and(|own| own.begins_with(*byte))
        };
        let may_count = self.rules.calls_in_reasoning != CallsInReasoning::Ignore;
        let mut to = self.text.len();
        while let Some(found) = self.text.as_bytes()[thinking.searched..].iter().position(begins) {
            let at = thinking.searched + found;
            match self.sign_in_thought(at, &thinking.close, may_count && thinking.marked.is_none(), end) {
                Err(Incomplete) => {
                    (thinking.searched, to) = (at, at);
                    break;
                }
                Ok(ThoughtSign::Closer(len)) => {
                    self.think_up_to(at, out);
                    self.at = at + len;
                    self.standing.surroundings.step_over(&self.text, 0, self.at);
                    self.state = State::Prose;
                    return Flow::On;
                }
                Ok(ThoughtSign::Call) => {
                    self.think_up_to(at, out);
                    thinking.marked = Some(at);
                }
                Ok(ThoughtSign::Word) => {}
            }
            thinking.searched = at + 1;
        }
        match thinking.marked {
            marked if !end => {
                if marked.is_none() {
                    self.think_up_to(to, out);
                }
                thinking.searched = to;
                self.state = State::Block(Block::Thought(thinking));
            }
            Some(_) if may_count && !self.rules.stop.is_cut() => {
                self.last_thought(thinking.close, thinking.from, out);
            }
            Some(_) | None => self.think_up_to(to, out),
        }
        Flow::Wait
    }

    /// Returns the length of the mark at `at` that ends the reasoning that `close` closes, unless the reasoning only
    /// names the mark.
    pub(super) fn thought_closer(&self, at: usize, close: &str, end: bool) -> Seen<usize> {
        let rest = self.text.as_bytes().get(at..).unwrap_or(&[]);
        let Some(len) = at_end(thought_ends(rest, close), end)? else { return Ok(None) };
        Ok((!self.is_named(at, at + len, end)?).then_some(len))
    }

    /// Returns the sign at `at` of a thought that `close` ends. Marks of calls count in it if calls `may_count`.
    fn sign_in_thought(
        &self,
        at: usize,
        close: &str,
        may_count: bool,
        end: bool,
    ) -> Result<ThoughtSign, Incomplete> {
        if let Some(len) = self.thought_closer(at, close, end)? {
            return Ok(ThoughtSign::Closer(len));
        }
        if !may_count {
            return Ok(ThoughtSign::Word);
        }
        let look = parse_opener(&self.text, at, self.place(self.is_line_start(at), end))?;
        let mark = self.rules.dialects.opener_at(&self.text, at);
        let is_call = mark.is_some_and(|(record, _)| record.anchor == Anchor::Distinct)
            || matches!(tag_at(&self.text, at), Ok(Some(tag)) if tag.role == Role::Call && tag.key.is_some())
            || matches!(look, Look::Found(opener) if opener.is_distinct());
        Ok(if is_call { ThoughtSign::Call } else { ThoughtSign::Word })
    }

    /// Lets a quoted result through up to its closer.
    pub(in crate::scan) fn quoted(&mut self, quotation: Quotation, end: bool, out: &mut Vec<Event>) -> Flow {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let close = &quotation.close;
        let found = beginnings(rest, close).find_map(|at| match at_end(fit(&rest[at..], close), end) {
            Ok(len) => Some((self.at + at + len?, true)),
            Err(Incomplete) => Some((self.at + at, false)),
        });
        let (to, is_over) = found.unwrap_or((self.text.len(), false));
        self.release(to, out);
        if is_over || end {
            self.show_quoted(quotation.from, to);
        }
        match is_over {
            true => Flow::On,
            false => {
                self.state = State::Block(Block::Quote(quotation));
                Flow::Wait
            }
        }
    }

    /// Notes the calls that a quotation shows.
    fn show_quoted(&mut self, from: usize, to: usize) {
        if !self.may_call() {
            return;
        }
        let context = Context { dialects: self.rules.dialects.clone(), native: true, ..Context::default() };
        let mut scanner = Scanner::new(self.names.tools(), &context);
        (scanner.rules.is_quotation, scanner.rules.stop) = (true, self.rules.stop);
        // The quotation has no share of its own.
        (scanner.work.fuel, scanner.work.fuelled) = (Fuel::of(&self.work.fuel), usize::MAX);
        let (quoted, work) = scanner.read_at_cost(self.text.get(from..to).unwrap_or(""));
        self.work.fuel.spend(work);
        let made = quoted.verdicts.iter().map(|verdict| ShownCall::of(verdict, ShownBy::Element));
        let mut shown: Vec<ShownCall> = made.chain(quoted.shown).collect();
        shown.sort_by_key(|call| call.span.start);
        for ShownCall { span, .. } in &mut shown {
            *span = Span::new(from + span.start as usize, from + span.end as usize);
        }
        self.outcome.shown.append(&mut shown);
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

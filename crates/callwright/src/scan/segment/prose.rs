//! Lets prose between calls flow, up to a place where a call, a block or a turn begins.

use std::sync::Arc;

use callwright_json::Span;

use super::edges::turn;
use super::line::{behind_blanks, ends_in_word, rest_of_word};
use super::skip::{Candidate, FOREIGN, is_sentence, may_be_label, next_candidate};
use crate::dialect::{self, Anchor, FRAMES, Record, Sign};
use crate::payload::may_pass;
use crate::scan::call::Call;
use crate::scan::opener::{self, Delimiter, Look, MAX_OPENER, MAX_TICKS, Opener, Place, Sort, tick_run};
use crate::scan::tail::{Tail, tail};
use crate::scan::{Block, Event, Flow, Quotation, Scanner, State};
use crate::syntax::tag::{Role, tag_at, unescaped};
use crate::syntax::{Incomplete, Seen, at_end, beginning, blanks, marks};
use crate::tools::Tool;
use crate::tools::names::{MAX_NAME, is_name_byte};
use crate::verdict::Verdict;

/// Bytes of payload that may be read for each byte of text, and bytes that may be read in any case. Overlapping
/// payloads that cannot be read (`{ { { {`) would otherwise cost the square of their number.
const READS_PER_BYTE: usize = 8;
const FREE_READS: usize = 1 << 16;
/// Shortest run of backticks that is a fence.
const FENCE: usize = 3;
/// Openers of a block of YAML, in which some models write calls.
const YAML: [&str; 2] = ["```yaml\n", "```yml\n"];
/// Distance of the search for a payload's end once the budget of searches is spent, in bytes. It doubles each time if
/// the text is JSON so far, and has no bound if an argument in tags is whole by then.
const REACH: usize = 1 << 10;

impl<'a> Scanner<'a> {
    /// Lets prose through up to the next place where something else begins.
    pub(in crate::scan) fn prose(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        if !end && self.work.asked.0 == self.at && self.text.len() < self.work.asked.1 {
            return Flow::Wait;
        }
        let (at, found) = self.next_mark(end, out);
        self.release(at, out);
        match found {
            Some(found) => self.begin(found, at, out),
            None => Flow::Wait,
        }
    }

    /// Returns the next place where anything but prose begins, with the finding there; no finding if only more text can
    /// tell.
    fn next_mark(&mut self, end: bool, out: &mut Vec<Event>) -> (usize, Option<Found>) {
        let mut at = self.at;
        let mut near = self.looked_at_closely(at);
        // The next stretch of the built-in dialects; the caller's own markers may begin before it.
        let mut next: Option<Candidate> = None;
        loop {
            if near.is_none_or(|near| near < at) {
                let candidate = next.filter(|candidate| at <= candidate.from);
                let candidate =
                    candidate.unwrap_or_else(|| next_candidate(&self.text, at, self.rules.dialects.first()));
                next = Some(candidate);
                let markers = self.rules.dialects.markers();
                let own = markers.and_then(|own| own.next(self.text.as_bytes(), at, candidate.from));
                let (from, to) = own.map_or((candidate.from, candidate.to), |own| (own, own));
                (at, near) = (from, Some(to));
            }
            let Some(&byte) = self.text.as_bytes().get(at) else { return (at, None) };
            // Behind markup that was taken out, a word begins.
            let in_word = ends_in_word(&self.text[..at])
                && !(byte == FOREIGN && self.text[at..].starts_with(dialect::FOREIGN))
                && !(self.space.removed && at == self.at || at == self.markup.last_call_end);
            let begins_word = is_name_byte(byte) && !in_word;
            if begins_word && !end && self.is_word_begun(at) {
                return (at, None);
            }
            // Inside a word, only a mark of the caller's own begins.
            let may_pass = in_word && self.rules.dialects.markers().is_none();
            let rest = if may_pass { rest_of_word(&self.text[at..]) } else { 0 };
            let to = if 0 < rest {
                at + rest
            } else if !self.may_begin(at, byte, in_word) {
                self.behind(at)
            } else {
                if self.is_holding() {
                    self.release(at, out);
                }
                match self.at_mark(at, self.begins_line(at), end) {
                    Ok(None) => self.behind(at),
                    Ok(Some(Found::TooMany(to))) => to,
                    Ok(found) => return (at, found),
                    Err(Incomplete) => {
                        self.work.wait(at, self.text.len());
                        return (at, None);
                    }
                }
            };
            if byte == b'`' && to == at + 1 {
                let run = tick_run(self.text.as_bytes(), at);
                if at + run == self.text.len() && run < MAX_TICKS && !end {
                    return (at, None);
                }
                self.markup.in_fence ^= FENCE <= run;
                at += run;
            } else {
                at = to;
            }
        }
    }

    /// Returns the end of the stretch from `at` in which every place is checked: up to the first word of a line.
    fn looked_at_closely(&self, at: usize) -> Option<usize> {
        let line = behind_blanks(&self.text, at);
        let is_sentence = at != 0 && self.is_line_start(at) && is_sentence(self.text.as_bytes(), line);
        (self.begins_line(at) && !is_sentence).then_some(line)
    }

    /// Returns whether anything but prose may begin at `at` with `byte`, maybe right behind a word. The first sign of an
    /// answer may be any part of a mark.
    fn may_begin(&self, at: usize, byte: u8, in_word: bool) -> bool {
        let next = self.text.as_bytes().get(at + 1);
        let may_be = match byte {
            b'[' | b'(' | b'{' | b'`' | b'<' | b'#' => true,
            // `it's`
            b'"' | b'\'' => !in_word,
            // `&lt;tool_call&gt;`
            b'&' => self.is_line_start(at),
            // `]<]minimax[>[<tool_call>`
            b']' => next.is_none_or(|next| *next == b'<'),
            // `>>>f⏎{…}`, also behind text
            b'>' => next.is_none_or(|next| *next == b'>'),
            // `; {…}`
            b';' => self.is_line_start(at) && next.is_none_or(|next| *next == b' '),
            // `**Action:** f`
            b'*' => {
                self.is_line_start(at) && may_be_label(self.text.as_bytes(), at, self.rules.dialects.first())
            }
            _ => is_name_byte(byte) && !in_word,
        };
        may_be
            || !byte.is_ascii_whitespace() && self.is_first(at)
            || self.rules.dialects.markers().is_some_and(|markers| markers.begins_with(byte))
    }

    /// Begins the `found` call, block or turn at `at`.
    fn begin(&mut self, found: Found, at: usize, out: &mut Vec<Event>) -> Flow {
        match found {
            Found::TooMany(_) => return Flow::Wait,
            Found::Opener(opener) => {
                let from = opener.item.at;
                self.work.reach =
                    if may_pass(self.work.bytes_skipped, from) { usize::MAX } else { from + REACH };
                self.state = if self.has_read_much(at) && opener.record.anchor == Anchor::Weak {
                    self.release(from + 1, out);
                    State::Prose
                } else {
                    self.look_around(&opener);
                    State::Call(Box::new(Call::of(opener, &self.text)))
                };
            }
            Found::Broken(record) => self.begin_broken(at, record),
            Found::Think(open, close) => {
                self.at = at + open;
                self.think(at, close, out);
            }
            Found::Thought(len) => {
                self.at = at + len;
                self.end_thought(out);
            }
            Found::Speech(len, close) => {
                self.standing.surroundings.step_over_head(&self.text, at, at + len);
                self.at = at + len;
                if !self.is_holding() {
                    self.remove();
                }
                self.speech = close;
            }
            Found::Quote(open, close) => {
                self.release(at + open, out);
                self.state = State::Block(Block::Quote(Quotation { close, from: at + open }));
            }
            Found::Closer(end) => {
                self.markup.marks_from = at;
                self.at = end;
                self.state = State::After(end);
            }
            Found::Turn => {
                // `x = """⏎f(a=1)⏎"""`: the end of the text around a shown call is not a made-up turn.
                let is_end = self.standing.surroundings.ends_at(&self.text, at);
                if !is_end {
                    self.tell(true, out);
                }
                match self.has_calls() && !is_end {
                    true => self.state = State::Over,
                    false => self.release(self.behind(at), out),
                }
            }
        }
        Flow::On
    }

    /// Returns the place behind the sign at `at`.
    fn behind(&self, at: usize) -> usize {
        at + self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    }

    /// Returns whether more bytes of payload were read than the text up to `at` has room for.
    pub(in crate::scan) fn has_read_much(&self, at: usize) -> bool {
        READS_PER_BYTE * at + FREE_READS < self.work.bytes_read
    }

    /// Returns whether the text from `at` on, within a line, is the beginning of a word that may yet hold a name. Such
    /// a word waits for its end. Most pieces of a stream end so, and need no closer look.
    fn is_word_begun(&self, at: usize) -> bool {
        let word = &self.text[at..];
        word.bytes().all(is_name_byte)
            && self.names.may_hold(word)
            && (!self.rules.is_native || self.has_calls() || self.may_open_call(word, false))
            && self.may_call()
            && self.rules.dialects.markers().is_none()
            && !self.begins_line(at)
    }

    /// Returns whether the text may hold calls: tools are declared, there are no native calls, and the text is not said
    /// to the user.
    pub(super) fn may_call(&self) -> bool {
        self.native.is_empty() && !self.names.tools().is_empty() && self.speech.is_none()
    }

    /// Returns the finding at `at`, if anything but prose begins there.
    pub(super) fn at_mark(&mut self, at: usize, line_start: bool, end: bool) -> Seen<Found> {
        let rest = &self.text[at..];
        if let Some(&byte) = rest.as_bytes().first() {
            if let Some(found) = self.edge(at, byte, line_start, end)? {
                return Ok(Some(found));
            }
            if self.may_close(at, byte, end) {
                return self.closing(at, line_start, end);
            }
        }
        if self.thought.is_none() {
            if self.has_calls() && (line_start || rest.starts_with('<')) {
                match turn(&self.text, at) {
                    Ok(true) => return Ok(Some(Found::Turn)),
                    Err(Incomplete) if !end => return Err(Incomplete),
                    _ => {}
                }
            }
            if rest.starts_with(['<', '[', '`'])
                && let Some(found) = at_end(self.quote_begins(at), end)?
            {
                return Ok(Some(found));
            }
        }
        if !self.native.is_empty() || self.names.tools().is_empty() {
            return Ok(None);
        }
        // Speech to the user holds no call, before another block begins.
        if self.speech.is_some() && !matches!(rest.as_bytes().first(), Some(b'<' | b'>')) {
            return Ok(None);
        }
        if !line_start && self.is_native_word(at, end) {
            return Ok(None);
        }
        // `[{…}, {…}]` behind a marker: the second call has the dialect of the first one.
        let is_inside = !self.markup.delimiters.is_empty() && self.is_behind_call(at);
        let place = Place {
            inside: self.markup.inside.as_ref().filter(|_| is_inside),
            follows_call: self.follows_call(at),
            ..self.place(line_start, end)
        };
        match opener::parse_opener(&self.text, at, place)? {
            Look::Found(opener) => Ok(self.may_open(&opener).then_some(Found::Opener(opener))),
            Look::TooMany(to) => Ok(Some(Found::TooMany(to))),
            Look::Nothing => {
                let is_spoken = self.markup.in_fence || self.speech.is_some() || self.thought.is_some();
                let found = if is_spoken { None } else { self.without_opener(at, line_start, end)? };
                let opener = self.rules.dialects.opener_at(&self.text, at).filter(|_| found.is_none());
                self.markup.opened_in_text |=
                    opener.is_some_and(|(record, _)| record.anchor == Anchor::Distinct);
                Ok(found)
            }
        }
    }

    /// Returns the call at `at` that does not begin as a call does: with broken marks, with other text between its marks,
    /// or with its first argument.
    fn without_opener(&self, at: usize, line_start: bool, end: bool) -> Seen<Found> {
        let may_repair = self.may_repair();
        let block = if line_start && may_repair { at_end(self.block(at, end), end)? } else { None };
        let block = block.filter(|opener| self.may_open(opener));
        // In front of a tag, marks with a slip come first.
        let begins_tag = |opener: &Opener| {
            self.text.get(opener.item.at..).is_some_and(|rest| rest.trim_start().starts_with('<'))
        };
        if line_start
            && block.as_ref().is_none_or(begins_tag)
            && let Some(found) = self.broken_opener(at, end)?
        {
            return Ok(Some(found));
        }
        let opener = match block {
            None if may_repair => at_end(self.argument(at), end)?,
            block => block,
        };
        Ok(opener.filter(|opener| self.may_open(opener)).map(Found::Opener))
    }

    /// Returns whether a mark at `at`, which begins with `byte`, may close markup that was taken out before.
    fn may_close(&self, at: usize, byte: u8, end: bool) -> bool {
        let rest = &self.text[at..];
        let own = self.rules.dialects.markers().filter(|markers| markers.begins_with(byte));
        let is_open = |sort: fn(&Delimiter) -> bool| self.markup.delimiters.iter().any(sort);
        is_open(|open| matches!(open, Delimiter::Fence(_))) && rest.starts_with("```")
            || is_open(|open| *open == Delimiter::Tag)
                && !self.markup.in_fence
                && (rest.starts_with("</") || own.is_some_and(|own| own.closes(&self.text, at, end)))
    }

    /// Returns the closing marks at `at` of markup that was taken out before. `</tool_call>` in quotes is text.
    fn closing(&mut self, at: usize, line_start: bool, end: bool) -> Seen<Found> {
        if let Ok(Some(tag)) = tag_at(&self.text, at) {
            match self.text.as_bytes().get(tag.at.end as usize) {
                None if !end => return Err(Incomplete),
                Some(b'`' | b'"' | b'\'') => return Ok(None),
                None | Some(_) => {}
            }
        }
        let mut delimiters = std::mem::take(&mut self.markup.delimiters);
        let found = tail(&self.text, at, at, &mut delimiters, self.place(line_start, end));
        self.markup.delimiters = delimiters;
        match found {
            Tail::Ended(end) | Tail::Wait { at: end, .. } if at < end => Ok(Some(Found::Closer(end))),
            Tail::Wait { .. } => Err(Incomplete),
            Tail::Ended(_) => Ok(None),
        }
    }

    /// Returns a block that may hold a call and does not begin like one: text behind the marker at `at` that no reader
    /// takes, YAML in a fence, or a call whose marks are escaped.
    fn block(&self, at: usize, end: bool) -> Seen<Opener> {
        let rest = self.text.get(at..).unwrap_or("");
        if marks::fit(rest.as_bytes(), "&lt;")?.is_some() {
            return self.escaped(at, end);
        }
        let (record, len, delimiter) = match self.rules.dialects.opener_at(rest, 0) {
            Some((record, len)) => {
                let (mark, inside) = rest.split_at_checked(len).unwrap_or((rest, ""));
                // `<tool>⏎<name>hammer</name>` may be anybody's data.
                let is_word = mark.bytes().all(|byte| byte.is_ascii_alphabetic() || b"<_>".contains(&byte));
                let blank = blanks(inside, 0, MAX_OPENER);
                let is_data = inside[blank..].starts_with('<') && is_word;
                if record.anchor != Anchor::Distinct || MAX_OPENER <= blank || is_data {
                    return Ok(None);
                }
                if blank == inside.len() {
                    return if end { Ok(None) } else { Err(Incomplete) };
                }
                (record, len, Delimiter::Tag)
            }
            None => match marks::fit_any(rest.as_bytes(), YAML.into_iter())? {
                Some(len) => {
                    (self.rules.dialects.of_sign(Sign::FencedValue), len - 1, Delimiter::Fence(FENCE))
                }
                None => return Ok(None),
            },
        };
        let opener = Opener::bare(at, Sort::Block.at(at + len), Arc::clone(record));
        Ok(Some(Opener { delimiters: vec![delimiter], ..opener }))
    }

    /// Returns the call of a declared tool at `at` whose marks are escaped, `&lt;tool_call&gt;`, as a block.
    fn escaped(&self, at: usize, end: bool) -> Seen<Opener> {
        const FRONT: usize = 256;
        let rest = self.text.get(at..).unwrap_or("");
        if rest.len() < FRONT && !end {
            return Err(Incomplete);
        }
        let head = unescaped(beginning(rest, FRONT));
        let Look::Found(opener) = opener::parse_opener(&head, 0, self.place(true, true))? else {
            return Ok(None);
        };
        let is_named = opener.name(&head).is_none_or(|name| self.names.resolve(name).is_some());
        let block = Opener::bare(at, Sort::Block.at(at), opener.record);
        Ok(is_named.then(|| Opener { delimiters: vec![Delimiter::Tag], ..block }))
    }

    /// Returns the call whose first argument begins at `at`, and whose opener is missing or is not a mark. It goes up
    /// to its closing mark.
    fn argument(&self, at: usize) -> Seen<Opener> {
        let before = self.text.get(..at).unwrap_or("");
        let is_behind_right_call =
            || self.is_behind_call(at) && matches!(self.last_verdict(), Some(Verdict::Accepted(_)));
        let is_behind_mark = before.ends_with("&gt;") || before.ends_with("|>");
        let is_set_off = self.is_line_start(at) || is_behind_mark || is_behind_right_call();
        if !is_set_off {
            return Ok(None);
        }
        let Some(tag) = tag_at(&self.text, at)?.filter(|tag| !tag.closing) else { return Ok(None) };
        let behind = self.text.get(tag.at.end as usize..).unwrap_or("");
        let key = match tag.role {
            Role::Param => tag.key.map_or("", |key| key.of(&self.text)),
            Role::Key => match behind.bytes().take(MAX_NAME).position(|byte| byte == b'<') {
                None if behind.len() < MAX_NAME => return Err(Incomplete),
                len => behind.get(..len.unwrap_or(0)).unwrap_or("").trim(),
            },
            _ => return Ok(None),
        };
        let is_declared = self.names.tools().iter().any(|tool| tool.declares(key));
        let inside = self.markup.inside.as_ref();
        let record = self.rules.dialects.of_argument_tag(tag.at.of(&self.text), inside);
        let Some(record) = record.filter(|_| is_declared) else { return Ok(None) };
        Ok(Some(Opener::bare(at, Sort::Words.of(Span::at(at), at), Arc::clone(record))))
    }

    /// Returns the edge of a block at `at`, whose first byte is `byte`.
    fn edge(&self, at: usize, byte: u8, line_start: bool, end: bool) -> Seen<Found> {
        if let Some(close) = &self.thought {
            return Ok(self.thought_closer(at, close, end)?.map(Found::Thought));
        }
        let is_own = self.rules.dialects.markers().is_some_and(|markers| markers.begins_with(byte));
        if (matches!(byte, b'<' | b'[' | b'>' | b't' | FOREIGN) || is_own)
            && let Some(found) = self.block_begins(at, end)?
        {
            return Ok(Some(found));
        }
        match byte {
            b'a' => at_end(self.bare_thought(at), end),
            b'<' | b'[' => self.stray_mark(at, line_start, end),
            _ => Ok(None),
        }
    }

    /// Returns whether `opener` may begin a call in the current block of text.
    fn may_open(&self, opener: &Opener) -> bool {
        let is_said = self.speech.is_some() && !self.begins_block(opener);
        let is_thought = self.thought.is_some() && opener.record.anchor == Anchor::Weak;
        !is_said && !is_thought && self.rules.dialects.admits(&opener.dialect)
    }

    /// Returns the call with broken marks at `at`, where no call with whole ones begins.
    fn broken_opener(&self, at: usize, end: bool) -> Seen<Found> {
        let Some(record) = self.broken_records(at, end)?.into_iter().next() else { return Ok(None) };
        let is_framed = !record.frames().is_empty();
        let mended = if is_framed { self.mended(at, self.text.len(), end)? } else { None };
        Ok(Some(mended.map_or(Found::Broken(record), Found::Opener)))
    }

    /// Returns whether `opener` begins with a token that begins a block, such as `<|channel|>`.
    fn begins_block(&self, opener: &Opener) -> bool {
        let rest = self.text.as_bytes().get(opener.start..).unwrap_or(&[]);
        FRAMES.iter().any(|frame| matches!(marks::fit(rest, frame), Ok(Some(_))))
    }

    /// Returns whether the word at `at`, in a line of a model that calls natively, cannot begin a call there.
    fn is_native_word(&self, at: usize, end: bool) -> bool {
        let rest = self.text.get(at..).unwrap_or("");
        let len = rest.bytes().take_while(|byte| is_name_byte(*byte)).count();
        let is_mark = |byte| self.rules.dialects.markers().is_some_and(|own| own.begins_with(byte));
        let is_beside = self.rules.is_native && !self.has_calls() && !self.is_first(at);
        let word = rest.get(..len).unwrap_or("");
        let is_whole = len < rest.len() || end;
        is_beside && len != 0 && !is_mark(rest.as_bytes()[0]) && !self.may_open_call(word, is_whole)
    }

    /// Returns whether `word` is a declared name as it was declared, or the first word of an opener. A word that is not
    /// whole may be the beginning of either. In the prose of a model that calls natively, only such words wait for the
    /// text behind them.
    fn may_open_call(&self, word: &str, is_whole: bool) -> bool {
        let name = word.strip_prefix("functions.").unwrap_or(word);
        let is_name = |tool: &Tool| match is_whole {
            true => tool.name() == name,
            false => tool.name().starts_with(name),
        };
        self.names.tools().iter().any(is_name) || self.rules.dialects.first().may_open(word, is_whole)
    }
}

/// The finding at a place.
pub(super) enum Found {
    Opener(Opener),
    /// A call whose marks are broken.
    Broken(Arc<Record>),
    /// Marks that are text, up to this place.
    TooMany(usize),
    /// A reasoning block: the length of its opener, and its closer.
    Think(usize, Arc<str>),
    /// The end of reasoning that was read for calls: the length of its closer.
    Thought(usize),
    /// An edge of a block of speech: its length, and the closer of the block that begins there.
    Speech(usize, Option<Arc<str>>),
    /// A quoted result: the length of its opener, and its closer.
    Quote(usize, String),
    /// A closing mark of markup that was taken out, up to this place.
    Closer(usize),
    Turn,
}

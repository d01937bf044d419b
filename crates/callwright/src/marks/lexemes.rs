//! The marks of one dialect in a text: whole, torn, or in pieces.
//!
//! Every opener is looked for with each declared name in it, so that a torn name, a lost end and a misspelt word are one thing:
//! a distance between two texts. A mark with `k` edits in it has one of `k + 1` parts of it whole, by which it is found.

use super::edit::ends_within;
use super::fold::{Folded, is_foreign};
use super::form::{BLANKS, Form, GAP, NAME, Pieces};
use super::prices;
use crate::tools::Tool;

/// A mark at a place. Places are counted in letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lexeme {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
    pub(super) make: Make,
    pub(super) price: u32,
    /// Which of the ends that an opener may have.
    pub(super) tail: usize,
    /// How long its mark is when it is whole.
    pub(super) len: usize,
}

/// What a mark does. Tools and keys are known by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    SectionOpen,
    SectionClose,
    Call(usize),
    /// Opens the section as well, with which it changed places.
    SectionAndCall(usize),
    /// Opens the first argument as well.
    CallAndArgument(usize, usize),
    CallClose(Option<usize>),
    Argument(usize),
    /// Its closer stands where its own end should, which stands behind the value.
    ArgumentUpToEnd(usize),
    /// Closes an argument, of this key where it says so, and opens the next one, with which it changed places.
    CloseAndArgument(Option<usize>, usize),
    ArgumentClose(Option<usize>),
    /// The first piece of an opener, alone.
    CallPiece,
    ArgumentPiece,
    /// The token that all marks begin with, alone.
    Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Make {
    Whole,
    Torn,
    Half,
}

/// The shortest mark that is known with one edit in it, and with two.
pub(super) const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 10;

/// With how many edits in it a mark of so many letters is known.
pub(super) fn most_edits(len: usize) -> usize {
    match len {
        TWO_EDITS.. => 2,
        ONE_EDIT.. => 1,
        _ => 0,
    }
}

/// So many letters of a closer's word are a sign of it.
const SHORTEST_WORD: usize = 4;

#[derive(Debug)]
struct Pattern {
    kind: Kind,
    make: Make,
    price: u32,
    tail: usize,
    /// What stands between blanks, or directly together.
    segments: Vec<Vec<char>>,
    /// No word goes on behind it.
    ends_word: bool,
}

impl Kind {
    /// The tool that it opens a call of.
    fn tool(self) -> Option<usize> {
        match self {
            Kind::Call(tool) | Kind::SectionAndCall(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether it is an opener that names what it opens.
    pub(super) fn is_named_opener(self) -> bool {
        !matches!(
            self,
            Kind::SectionOpen
                | Kind::SectionClose
                | Kind::CallClose(_)
                | Kind::ArgumentClose(_)
                | Kind::CallPiece
                | Kind::ArgumentPiece
                | Kind::Token
        )
    }

    /// Whether it is the beginning of a mark, alone.
    pub(super) fn is_piece(self) -> bool {
        matches!(self, Kind::CallPiece | Kind::ArgumentPiece | Kind::Token)
    }
}

/// The marks of `form` in `text`, by their places. Of `keys`, those are looked for that a tool takes which is called.
pub(super) fn find(text: &Folded, form: &Form, tools: &[&Tool], keys: &[&str]) -> Vec<Lexeme> {
    let index = Index::of(text);
    let mut marks = index.marks(&Patterns::of_calls(form, tools));
    let mut is_called = vec![false; tools.len()];
    marks.iter().filter_map(|mark| mark.kind.tool()).for_each(|tool| is_called[tool] = true);
    let called = || tools.iter().enumerate().filter(|(n, _)| is_called[*n]);
    let is_taken = |key: &str| called().any(|(_, tool)| tool.declares(key));
    let keys: Vec<(usize, &str)> =
        keys.iter().copied().enumerate().filter(|(_, key)| is_taken(key)).collect();
    let called: Vec<(usize, &str)> = called().map(|(n, tool)| (n, tool.name())).collect();
    marks.extend(index.marks(&Patterns::of_arguments(form, &called, &keys)));
    let whole: Vec<Lexeme> = marks.iter().copied().filter(|mark| mark.make == Make::Whole).collect();
    let is_inside = |mark: &Lexeme| whole.iter().any(|other| other.from <= mark.from && mark.to <= other.to);
    marks.retain(|mark| !mark.kind.is_piece() || !is_inside(mark));
    let is_standing = |mark: &&Lexeme| mark.make == Make::Whole || mark.kind.is_piece();
    let stands: Vec<Lexeme> = marks.iter().filter(is_standing).copied().collect();
    marks.retain(|mark| mark.make != Make::Torn || stands.iter().all(|other| may_stand(mark, other)));
    marks.sort_by_key(|mark| (mark.from, mark.make != Make::Whole, mark.to));
    marks.dedup();
    marks
}

/// Of torn marks that overlap, those of one kind standing together, those that are nearest to it.
fn nearest(torn: &[Lexeme]) -> impl Iterator<Item = Lexeme> {
    let keeps = |mark: &&Lexeme, all: &[Lexeme]| {
        !all.iter().any(|other| other.from < mark.to && mark.from < other.to && other.price < mark.price)
    };
    let kinds = torn.chunk_by(|mark, next| mark.kind == next.kind);
    kinds.flat_map(move |all| all.iter().filter(move |mark| keeps(mark, all)).copied())
}

/// May `torn` be read where `whole` stands? No reading takes letters out of a value to complete a mark that is whole without
/// them.
fn may_stand(torn: &Lexeme, whole: &Lexeme) -> bool {
    if torn.to <= whole.from || whole.to <= torn.from {
        return true;
    }
    match (torn.kind, whole.kind) {
        // A closer without its slash is an opener.
        (Kind::ArgumentClose(_), Kind::Argument(_)) | (_, Kind::Token) => true,
        (own, piece) if piece.is_piece() => {
            torn.from == whole.from || own.is_named_opener() || matches!(own, Kind::ArgumentClose(_))
        }
        _ => false,
    }
}

/// What is looked for.
#[derive(Debug, Default)]
struct Patterns(Vec<Pattern>);

impl Patterns {
    fn add(&mut self, kind: Kind, make: Make, price: u32, tail: usize, parts: &[&str], ends_word: bool) {
        self.0.push(Pattern { kind, make, price, tail, segments: segments(parts), ends_word });
    }

    fn whole(&mut self, kind: Kind, mark: &str) {
        self.add(kind, Make::Whole, 0, 0, &[mark], false);
    }

    /// Two pieces that changed places.
    fn exchanged(&mut self, kind: Kind, tail: usize, parts: &[&str]) {
        self.add(kind, Make::Half, prices::EXCHANGED, tail, parts, false);
    }

    /// What opens and closes calls and their section.
    fn of_calls(form: &Form, tools: &[&Tool]) -> Patterns {
        let mut all = Patterns::default();
        if let Some((open, close)) = &form.section {
            all.whole(Kind::SectionOpen, open);
            all.whole(Kind::SectionClose, close);
        }
        for (n, tool) in tools.iter().map(|tool| tool.name()).enumerate() {
            all.opener(&form.call, tool, Kind::Call(n));
            if let Some((open, _)) = &form.section {
                let parts = [&*form.call.head, GAP, open, tool, form.call.tail()];
                all.exchanged(Kind::SectionAndCall(n), 0, &parts);
            }
            if form.call_close.contains(NAME) {
                all.closer(&form.call_close.replace(NAME, tool), Kind::CallClose(Some(n)));
            }
        }
        if !form.call_close.contains(NAME) {
            all.closer(&form.call_close, Kind::CallClose(None));
            // `</invoke></parameter><|tool_call_end|>`: the first of several changed places with that before it.
            if let Some((first, rest)) = form.call_close.split_once(BLANKS) {
                let parts = [first, GAP, &form.argument_close, GAP, rest];
                all.add(Kind::CallClose(None), Make::Half, prices::EDIT, 0, &parts, false);
            }
        }
        all.piece(Kind::CallPiece, &form.call.head);
        all
    }

    /// What opens and closes arguments.
    fn of_arguments(form: &Form, tools: &[(usize, &str)], keys: &[(usize, &str)]) -> Patterns {
        let mut all = Patterns::default();
        let (call, head) = (&*form.call.head, &*form.argument.head);
        let call_tail = form.call.tail();
        let is_named = form.closes_by_key();
        for (n, tool) in tools.iter().filter(|_| !call_tail.is_empty()) {
            for (key, written) in keys {
                for (tail, end) in form.argument.tails.iter().enumerate() {
                    let parts = match is_named {
                        true => [head, written, end, GAP, call, tool, call_tail, ""],
                        false => [call, tool, GAP, head, GAP, call_tail, written, end],
                    };
                    all.exchanged(Kind::CallAndArgument(*n, *key), tail, &parts);
                }
            }
        }
        for (n, key) in keys {
            let (n, key) = (*n, *key);
            all.opener(&form.argument, key, Kind::Argument(n));
            let close = form.argument_close.replace(NAME, key);
            let parts = if is_named { vec![&*close] } else { vec![head, key, &close] };
            all.exchanged(Kind::ArgumentUpToEnd(n), 0, &parts);
            if is_named {
                all.closer(&close, Kind::ArgumentClose(Some(n)));
                for (next, opened) in keys.iter().filter(|(next, _)| *next != n) {
                    let parts = [head, opened, form.argument.tail(), GAP, &close];
                    all.exchanged(Kind::CloseAndArgument(Some(n), *next), 0, &parts);
                }
                continue;
            }
            for (tail, end) in form.argument.tails.iter().enumerate() {
                let kind = Kind::CloseAndArgument(None, n);
                all.exchanged(kind, tail, &[head, GAP, &close, key, end]);
                // `<arg_key>a</arg_key></arg_value><arg_value>`
                if let Some((first, rest)) = end.split_once(BLANKS) {
                    all.exchanged(kind, tail, &[head, key, first, GAP, &close, GAP, rest]);
                }
            }
        }
        if !is_named {
            all.closer(&form.argument_close, Kind::ArgumentClose(None));
        }
        all.piece(Kind::ArgumentPiece, head);
        if let Some(token) = form.token() {
            all.piece(Kind::Token, token);
        }
        all
    }

    fn piece(&mut self, kind: Kind, head: &str) {
        if ONE_EDIT <= head.chars().count() {
            self.add(kind, Make::Half, 0, 0, &[head], false);
        }
    }

    /// An opener: as it should be, and with a piece missing, doubled or exchanged with another one.
    fn opener(&mut self, pieces: &Pieces, name: &str, kind: Kind) {
        let head = pieces.head.as_str();
        for (n, tail) in pieces.tails.iter().map(String::as_str).enumerate() {
            let ends_in_name = tail.is_empty();
            self.add(kind, Make::Whole, 0, n, &[head, name, tail], ends_in_name);
            let mut half =
                |price, parts: &[&str], ends_word| self.add(kind, Make::Half, price, n, parts, ends_word);
            // `<arg_key>a</arg_key>`
            let ends: Vec<&str> = tail.split(BLANKS).collect();
            for left in (0..ends.len()).filter(|_| 1 < ends.len()) {
                let with = |n_left: usize| {
                    let n_times = |n: usize| if n == left { n_left } else { 1 };
                    let ends = ends.iter().enumerate().flat_map(|(n, end)| vec![*end; n_times(n)]);
                    ends.collect::<Vec<_>>().join(GAP)
                };
                half(prices::HALF, &[head, name, &with(0)], false);
                half(prices::DOUBLED, &[head, name, &with(2)], false);
            }
            half(prices::DOUBLED, &[head, head, name, tail], ends_in_name);
            half(prices::DOUBLED, &[head, name, name, tail], ends_in_name);
            half(prices::EXCHANGED, &[name, head, tail], ends_in_name);
            if !ends_in_name {
                half(prices::HALF, &[name, tail], false);
                half(prices::HALF, &[head, name], true);
                half(prices::DOUBLED, &[head, name, tail, tail], false);
                half(prices::EXCHANGED, &[head, tail, name], true);
                half(prices::EXCHANGED, &[tail, name, head], false);
            }
        }
    }

    fn closer(&mut self, mark: &str, kind: Kind) {
        self.whole(kind, mark);
        // `</para>`
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let Some(from) = mark.find(is_word) else { return };
        let word = mark[from..].split(|c| !is_word(c)).next().unwrap_or("");
        let (head, tail) = (&mark[..from], &mark[from + word.len()..]);
        for (end, _) in word.char_indices().skip(SHORTEST_WORD) {
            self.add(kind, Make::Torn, prices::SHORT, 0, &[head, &word[..end], tail], false);
        }
    }
}

fn segments(parts: &[&str]) -> Vec<Vec<char>> {
    let mark = parts.concat();
    let segments = mark.split(BLANKS).filter(|segment| !segment.is_empty());
    segments.map(|segment| Folded::of(segment, 0).folded).collect()
}

/// Where in `mark` the number stands that counts the calls, and may be any: `index="1"`.
fn number_in(mark: &[char]) -> Option<usize> {
    mark.windows(3).position(|letters| letters == ['"', '1', '"']).map(|quote| quote + 1)
}

/// How far `text` goes that begins with `mark`, in letters; a `number` in that may be any.
fn len_of(mark: &[char], number: Option<usize>, text: &[char]) -> Option<usize> {
    let Some(number) = number else { return text.starts_with(mark).then_some(mark.len()) };
    let (before, behind) = (&mark[..number], &mark[number + 1..]);
    let rest = text.strip_prefix(before)?;
    let digits = rest.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let len = before.len() + digits + behind.len();
    (0 < digits && rest[digits..].starts_with(behind)).then_some(len)
}

/// The number of the list of places of letters beyond ASCII.
const OTHERS: usize = 128;

fn code(letter: char) -> usize {
    usize::try_from(u32::from(letter)).map_or(OTHERS, |code| code.min(OTHERS))
}

/// A text with the places of each letter.
struct Index<'t> {
    text: &'t Folded,
    /// Of ASCII letters, by their codes; behind them, of all others.
    places: Vec<Vec<usize>>,
}

impl<'t> Index<'t> {
    fn of(text: &'t Folded) -> Index<'t> {
        let mut places = vec![Vec::new(); OTHERS + 1];
        for (at, letter) in text.folded.iter().enumerate() {
            if let Some(places) = places.get_mut(code(*letter)) {
                places.push(at);
            }
        }
        Index { text, places }
    }

    /// Where `part` stands, and where it ends there.
    fn find<'i>(&'i self, part: &'i [char]) -> impl Iterator<Item = (usize, usize)> + 'i {
        let places =
            part.first().and_then(|first| self.places.get(code(*first))).map_or(&[][..], Vec::as_slice);
        let number = number_in(part);
        places.iter().filter_map(move |&at| Some((at, at + len_of(part, number, &self.text.folded[at..])?)))
    }

    /// Where `patterns` stand, whole and torn.
    fn marks(&self, Patterns(patterns): &Patterns) -> Vec<Lexeme> {
        let exact = patterns.iter().flat_map(|pattern| self.exact(pattern));
        let whole = patterns.iter().filter(|pattern| pattern.make == Make::Whole);
        let torn: Vec<Lexeme> = whole.flat_map(|pattern| self.torn(pattern)).collect();
        exact.chain(nearest(&torn)).collect()
    }

    fn exact(&self, pattern: &Pattern) -> Vec<Lexeme> {
        let Some((first, rest)) = pattern.segments.split_first() else { return Vec::new() };
        let end_of = |mut end: usize| {
            for segment in rest {
                end = self.text.behind_blanks(end);
                end += len_of(segment, number_in(segment), self.text.folded.get(end..)?)?;
            }
            (!pattern.ends_word || !self.text.is_word_at(end)).then_some(end)
        };
        let len = pattern.segments.iter().map(Vec::len).sum();
        let lexeme = |(at, end)| {
            let to = end_of(end)?;
            let Pattern { kind, make, price, tail, .. } = *pattern;
            Some(Lexeme { from: at, to, kind, make, price, tail, len })
        };
        self.find(first).filter_map(lexeme).collect()
    }

    /// Where the mark of `pattern` stands with an edit in it, or two.
    fn torn(&self, pattern: &Pattern) -> Vec<Lexeme> {
        let len: usize = pattern.segments.iter().map(Vec::len).sum();
        let most = most_edits(len);
        if most == 0 {
            return Vec::new();
        }
        // Blanks between two marks of one opener: none, or a line break.
        let glues: &[&[char]] = if pattern.segments.len() == 1 { &[&[]] } else { &[&[], &['\n']] };
        let mut found = Vec::new();
        for glue in glues {
            let mark: Vec<char> = pattern.segments.join(*glue);
            let mut starts: Vec<usize> = Vec::new();
            // Two letters that changed places may stand in two parts.
            let size = mark.len().div_ceil(2 * most + 1);
            for (n, part) in mark.chunks(size).enumerate() {
                for (at, _) in self.find(part) {
                    let from = at.saturating_sub(n * size + most);
                    starts.extend(from..=(at + most).saturating_sub(n * size));
                }
            }
            starts.sort_unstable();
            starts.dedup();
            let signs =
                |text: &[char]| text.iter().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
            let breaks = |text: &[char]| text.iter().filter(|c| **c == '\n').count();
            let (all_signs, all_breaks) = (signs(&mark), breaks(&mark));
            // `]<]minimax[>[<to>`: what all marks begin with tells none from another.
            let tag = mark.windows(2).rposition(|pair| *pair == ['[', '<']).map(|at| &mark[at + 1..]);
            let short_tag = tag.filter(|tag| most_edits(tag.len()) == 0);
            let most = tag.map_or(most, |tag| most_edits(tag.len()).max(1));
            // Where it is whole, it is not torn as well.
            for (at, _) in self.find(&mark).collect::<Vec<_>>() {
                starts.retain(|from| *from + most < at || at + most < *from);
            }
            for from in starts {
                let Some(rest) = self.text.folded.get(from..) else { continue };
                if rest.first().is_none_or(|first| first.is_whitespace()) {
                    continue;
                }
                for (end, edits) in ends_within(&mark, rest, most) {
                    let own = &rest[..end];
                    let is_whole = edits == 0 || own.is_empty();
                    let is_in_word = pattern.ends_word && self.text.is_word_at(from + end);
                    let is_other = short_tag.is_some_and(|tag| !own.ends_with(tag));
                    // `main.cparameter>`: without its first signs it is one, whatever else it may be with two letters changed.
                    let is_closer = matches!(pattern.kind, Kind::ArgumentClose(_));
                    let is_beheaded = is_closer && mark.ends_with(own);
                    // `<ifm|tool_call>`, `<|tool_call_begin|>`: a part of another mark.
                    let is_inner = |at: Option<usize>| {
                        at.is_some_and(|at| {
                            self.text.is_word_at(at) || self.text.folded.get(at) == Some(&'|')
                        })
                    };
                    let is_part = !is_closer && own.first() != mark.first() && is_inner(from.checked_sub(1))
                        || 1 < edits
                            && mark.len() <= own.len()
                            && own.last() != mark.last()
                            && is_inner(Some(from + end));
                    if is_whole
                        || is_in_word
                        || is_other
                        || is_part
                        || own.iter().any(|letter| is_foreign(*letter, &mark))
                        || own.last().is_some_and(|last| last.is_whitespace())
                    {
                        continue;
                    }
                    // One letter may have become a line break.
                    if !is_beheaded && 2 * signs(own) < all_signs
                        || !(all_breaks..=all_breaks + 1).contains(&breaks(own))
                    {
                        continue;
                    }
                    let price = prices::EDIT * u32::try_from(edits).unwrap_or(u32::MAX);
                    let Pattern { kind, tail, .. } = *pattern;
                    found.push(Lexeme { from, to: from + end, kind, make: Make::Torn, price, tail, len });
                }
            }
        }
        found
    }
}

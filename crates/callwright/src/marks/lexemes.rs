//! The marks of one dialect in a text: whole, torn, or in pieces.
//!
//! The search takes every opener with each declared name in it, so that a torn name, a lost end and a misspelt word are
//! one thing: a distance between two texts. A mark with `k` edits has one of its `k + 1` parts whole, by which the
//! search finds it.

use callwright_json::Fuel;
use memchr::memmem;

use super::edit::{Distance, MOST};
use super::prices;
use crate::grammar::fold::{Folded, folded, is_foreign};
use crate::grammar::{Form, NAME, Pieces, marks, split_first};
use crate::tools::Tool;

/// A mark at a place. Places count in letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lexeme {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: Kind,
    pub(super) make: Make,
    pub(super) price: u32,
    /// The number of the opener's end among the possible ones.
    pub(super) tail: usize,
    /// The length of the whole mark.
    pub(super) len: usize,
}

/// The effect of a mark. Numbers stand for tools and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    SectionOpen,
    SectionClose,
    Call(usize),
    CallClose(Option<usize>),
    Argument(usize),
    ArgumentClose(Option<usize>),
    /// The first piece of an opener, alone.
    CallPiece,
    ArgumentPiece,
    /// The token at the start of all marks, alone.
    Token,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Make {
    Whole,
    Torn,
    Half,
}

/// The shortest mark that is known with one edit in it, and the shortest with two.
pub(super) const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 10;

/// Returns the number of edits with which a mark of so many letters is known.
pub(super) fn most_edits(len: usize) -> usize {
    match len {
        TWO_EDITS.. => 2,
        ONE_EDIT.. => 1,
        _ => 0,
    }
}

/// Number of letters of a closer's word that are a sign of it.
const SHORTEST_WORD: usize = 4;

#[derive(Debug)]
struct Pattern {
    kind: Kind,
    make: Make,
    price: u32,
    tail: usize,
    /// The marks, without the blanks between them.
    segments: Vec<Vec<char>>,
    /// The number of letters, and of gaps between them, in front of the name, which all patterns of one kind share.
    head: (usize, usize),
    /// A word may not go on behind the mark.
    ends_word: bool,
}

impl Kind {
    /// Returns the tool whose call the mark opens.
    fn tool(self) -> Option<usize> {
        match self {
            Kind::Call(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns whether the mark is an opener with a name.
    pub(super) fn is_named_opener(self) -> bool {
        matches!(self, Kind::Call(_) | Kind::Argument(_))
    }

    /// Returns whether the mark is the beginning of one, alone.
    pub(super) fn is_piece(self) -> bool {
        matches!(self, Kind::CallPiece | Kind::ArgumentPiece | Kind::Token)
    }
}

/// Returns the marks of `form` in `text` that open and close calls and their section, in any order.
pub(super) fn of_calls(text: &Folded, form: &Form, tools: &[&Tool], fuel: &Fuel) -> Vec<Lexeme> {
    let index = Index::of(text, fuel);
    calls_in(&index, form, tools)
}

fn calls_in(index: &Index<'_>, form: &Form, tools: &[&Tool]) -> Vec<Lexeme> {
    let names = tools.iter().map(|tool| tool.name()).enumerate();
    let (named, others): (Vec<_>, Vec<_>) = names.partition(|(_, name)| index.holds(name));
    let mut calls = Patterns::of_calls(form, &named);
    let mut marks = index.exact(&calls);
    // With names that differ by a letter, one whole opener is a torn one of each other tool.
    let outside = index.outside(&marks);
    if outside.may_hold(&folded(form.call_tag())) {
        calls.openers(form, &others);
    }
    marks.extend(outside.torn(&calls));
    marks
}

/// Returns all marks of `form` in `text`, by their places, and the keys behind their numbers. Only keys that some
/// called tool declares are searched for.
pub(super) fn find<'t>(
    text: &Folded,
    form: &Form,
    tools: &[&'t Tool],
    fuel: &Fuel,
) -> (Vec<Lexeme>, Vec<&'t str>) {
    let index = Index::of(text, fuel);
    let mut marks = calls_in(&index, form, tools);
    let mut called: Vec<usize> = marks.iter().filter_map(|mark| mark.kind.tool()).collect();
    called.sort_unstable();
    called.dedup();
    let called: Vec<(usize, &Tool)> = called.into_iter().filter_map(|n| Some((n, *tools.get(n)?))).collect();
    let mut keys: Vec<&str> = called.iter().flat_map(|(_, tool)| tool.parameters()).collect();
    keys.sort_unstable();
    keys.dedup();
    let arguments = Patterns::of_arguments(form, &called, &keys, &index);
    marks.extend(index.exact(&arguments));
    marks.extend(index.torn(&arguments));
    marks.sort_by_key(|mark| (mark.from, mark.make != Make::Whole, mark.to));
    let whole = Near::of(marks.iter().filter(|mark| mark.make == Make::Whole));
    let is_inside =
        |mark: &Lexeme| whole.at(mark).any(|other| other.from <= mark.from && mark.to <= other.to);
    marks.retain(|mark| !mark.kind.is_piece() || !is_inside(mark));
    let is_standing = |mark: &&Lexeme| mark.make == Make::Whole || mark.kind.is_piece();
    let stands = Near::of(marks.iter().filter(is_standing));
    marks.retain(|mark| mark.make != Make::Torn || stands.at(mark).all(|other| may_stand(mark, other)));
    marks.dedup();
    (marks, keys)
}

/// Marks by their places, to find those that overlap one.
struct Near {
    marks: Vec<Lexeme>,
    longest: usize,
}

impl Near {
    /// Takes `marks` in the order of their places.
    fn of<'l>(marks: impl Iterator<Item = &'l Lexeme>) -> Near {
        let marks: Vec<Lexeme> = marks.copied().collect();
        let longest = marks.iter().map(|mark| mark.to - mark.from).max().unwrap_or(0);
        Near { marks, longest }
    }

    /// Returns the marks that may overlap `mark`, or touch it.
    fn at(&self, mark: &Lexeme) -> impl Iterator<Item = &Lexeme> {
        let first = self.marks.partition_point(|other| other.from + self.longest < mark.from);
        let to = mark.to;
        self.marks.iter().skip(first).take_while(move |other| other.from <= to)
    }
}

/// Returns the nearest of the torn marks of one kind that overlap. Marks of one kind stand together; openers of calls
/// are of one kind, whatever they name.
fn nearest(torn: &[Lexeme]) -> impl Iterator<Item = Lexeme> {
    let keeps = |mark: &&Lexeme, all: &Near| {
        !all.at(mark).any(|other| other.from < mark.to && mark.from < other.to && other.price < mark.price)
    };
    let is_same = |mark: &Lexeme, next: &Lexeme| {
        mark.kind == next.kind || matches!((mark.kind, next.kind), (Kind::Call(_), Kind::Call(_)))
    };
    let kinds = torn.chunk_by(is_same);
    kinds.flat_map(move |all| {
        let mut sorted: Vec<&Lexeme> = all.iter().collect();
        sorted.sort_by_key(|mark| mark.from);
        let near = Near::of(sorted.into_iter());
        all.iter().filter(move |mark| keeps(mark, &near)).copied()
    })
}

/// Returns whether `torn` may be read at the place of `whole`. No reading takes letters out of a value to complete a
/// mark that is whole without them.
fn may_stand(torn: &Lexeme, whole: &Lexeme) -> bool {
    if torn.to <= whole.from || whole.to <= torn.from {
        return true;
    }
    match (torn.kind, whole.kind) {
        (own, piece) if piece.is_piece() => {
            torn.from == whole.from || own.is_named_opener() || matches!(own, Kind::ArgumentClose(_))
        }
        _ => false,
    }
}

/// The patterns of a search.
#[derive(Debug, Default)]
struct Patterns(Vec<Pattern>);

impl Patterns {
    fn add(&mut self, kind: Kind, make: Make, price: u32, tail: usize, parts: &[&str], ends_word: bool) {
        let segments = segments(parts);
        self.0.push(Pattern { kind, make, price, tail, segments, head: (0, 0), ends_word });
    }

    fn whole(&mut self, kind: Kind, mark: &str) {
        self.add(kind, Make::Whole, 0, 0, &[mark], false);
    }

    /// Adds the openers and closers of calls and their section; the names of `tools` stand in the text.
    fn of_calls(form: &Form, tools: &[(usize, &str)]) -> Patterns {
        let mut all = Patterns::default();
        if let Some((open, close)) = &form.section {
            all.whole(Kind::SectionOpen, open);
            all.whole(Kind::SectionClose, close);
        }
        for &(n, tool) in tools {
            all.opener(&form.call, tool, Kind::Call(n), true);
        }
        if !form.call_close.contains(NAME) {
            all.closer(&form.call_close, Kind::CallClose(None));
            // `</invoke></parameter><|tool_call_end|>`: the first of several closers changed places with the closer
            // before it.
            if let Some((first, rest)) = split_first(&form.call_close) {
                let parts = [first, "\n", &form.argument_close, "\n", rest];
                all.add(Kind::CallClose(None), Make::Half, prices::EDIT, 0, &parts, false);
            }
        }
        all.piece(Kind::CallPiece, &form.call.head);
        all
    }

    /// Adds the openers of calls of `tools` whose names do not stand in the text in their own spelling.
    fn openers(&mut self, form: &Form, tools: &[(usize, &str)]) {
        for &(n, tool) in tools {
            self.opener(&form.call, tool, Kind::Call(n), false);
        }
    }

    /// Adds the named closers of calls of `tools`, and the openers and closers of their arguments `keys`.
    fn of_arguments(form: &Form, tools: &[(usize, &Tool)], keys: &[&str], index: &Index<'_>) -> Patterns {
        let mut all = Patterns::default();
        let is_named = form.closes_by_key();
        for (n, tool) in tools.iter().filter(|_| form.call_close.contains(NAME)) {
            all.closer(&form.call_close.replace(NAME, tool.name()), Kind::CallClose(Some(*n)));
        }
        for (n, key) in keys.iter().enumerate() {
            let is_there = index.holds(key);
            all.opener(&form.argument, key, Kind::Argument(n), is_there);
            if is_named {
                all.closer(&form.argument_close.replace(NAME, key), Kind::ArgumentClose(Some(n)));
            } else if is_there {
                // `<parameter=city>Paris</city>`
                all.add(Kind::ArgumentClose(Some(n)), Make::Half, prices::EDIT, 0, &["</", key, ">"], false);
            }
        }
        if !is_named {
            all.closer(&form.argument_close, Kind::ArgumentClose(None));
        }
        all.piece(Kind::ArgumentPiece, &form.argument.head);
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

    /// Adds an opener in its proper spelling and, if its name stands in the text, with a piece missing or doubled.
    fn opener(&mut self, pieces: &Pieces, name: &str, kind: Kind, is_there: bool) {
        let head = pieces.head.as_str();
        for (n, tail) in pieces.tails.iter().map(String::as_str).enumerate() {
            let ends_in_name = tail.is_empty();
            self.add(kind, Make::Whole, 0, n, &[head, name, tail], ends_in_name);
            if let Some(whole) = self.0.last_mut() {
                let head = segments(&[head]);
                whole.head = (head.iter().map(Vec::len).sum(), head.len().saturating_sub(1));
            }
            if !is_there || pieces.n_in_pieces <= n {
                continue;
            }
            let mut half =
                |price, parts: &[&str], ends_word| self.add(kind, Make::Half, price, n, parts, ends_word);
            // `<arg_key>a</arg_key>`
            let ends: Vec<&str> = marks(tail).collect();
            for left in (0..ends.len()).filter(|_| 1 < ends.len()) {
                let with = |n_left: usize| {
                    let n_times = |n: usize| if n == left { n_left } else { 1 };
                    let ends = ends.iter().enumerate().flat_map(|(n, end)| vec![*end; n_times(n)]);
                    ends.collect::<Vec<_>>().join("\n")
                };
                half(prices::HALF, &[head, name, &with(0)], false);
                half(prices::DOUBLED, &[head, name, &with(2)], false);
            }
            half(prices::DOUBLED, &[head, head, name, tail], ends_in_name);
            half(prices::DOUBLED, &[head, name, name, tail], ends_in_name);
            if !ends_in_name {
                half(prices::HALF, &[name, tail], false);
                half(prices::HALF, &[head, name], true);
                half(prices::DOUBLED, &[head, name, tail, tail], false);
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
    marks(&parts.concat()).map(folded).collect()
}

/// Returns the place in `mark` of the number that counts the calls, `index="1"`: it may be any number.
fn number_in(mark: &[char]) -> Option<usize> {
    mark.windows(3).position(|letters| letters == ['"', '1', '"']).map(|quote| quote + 1)
}

/// Returns the length of `mark` at the start of `text`, in letters; the digits at `number` may be others.
fn len_of(mark: &[char], number: Option<usize>, text: &[char]) -> Option<usize> {
    let Some(number) = number else { return text.starts_with(mark).then_some(mark.len()) };
    let (before, behind) = (&mark[..number], &mark[number + 1..]);
    let rest = text.strip_prefix(before)?;
    let digits = rest.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let len = before.len() + digits + behind.len();
    (0 < digits && rest[digits..].starts_with(behind)).then_some(len)
}

/// The distances between a shared beginning of marks and the text, by their places. With a hundred tools whose calls
/// begin alike, the beginning is compared once at each place.
#[derive(Debug, Default)]
struct Heads {
    head: Vec<char>,
    known: Vec<(usize, Distance)>,
}

/// Fewest letters of a shared beginning. Shorter ones resemble nearly any text.
const SHARED: usize = ONE_EDIT;

impl Heads {
    /// Returns the places at which `head` may begin, with its distance from the text there.
    fn of(&mut self, index: &Index<'_>, head: &[char]) -> &[(usize, Distance)] {
        if self.head != head {
            self.head = head.to_vec();
            let distance =
                |from: usize| Some((from, Distance::of(head, index.text.folded.get(from..)?, MOST)?));
            self.known = index.starts(head, MOST).into_iter().filter_map(distance).collect();
        }
        &self.known
    }

    fn at(&self, from: usize) -> Option<Distance> {
        let known = self.known.binary_search_by_key(&from, |(from, _)| *from).ok()?;
        self.known.get(known).map(|(_, distance)| *distance)
    }
}

/// Cuts `mark` into parts, each with the number of letters in front of it. With `most` edits, one part stays whole. Two
/// letters that changed places may stand in two parts.
pub(super) fn parts(mark: &[char], most: usize) -> impl Iterator<Item = (usize, &[char])> {
    let size = mark.len().div_ceil(2 * most + 1).max(1);
    mark.chunks(size).enumerate().map(move |(n, part)| (n * size, part))
}

/// The number of the list of places for letters beyond ASCII.
const OTHERS: usize = 128;

fn code(letter: char) -> usize {
    usize::try_from(u32::from(letter)).map_or(OTHERS, |code| code.min(OTHERS))
}

/// A text with the places of each letter.
struct Index<'t> {
    text: &'t Folded,
    /// The places of ASCII letters, by their codes; the last list has those of all others.
    places: Vec<Vec<usize>>,
    /// All letters as one text, for the search of names.
    letters: String,
    fuel: &'t Fuel,
}

/// Fuel for comparing a mark with one place of a text, and for comparing it with slips.
const PLACE_FUEL: usize = 1;
const TORN_FUEL: usize = 12;

impl<'t> Index<'t> {
    fn of(text: &'t Folded, fuel: &'t Fuel) -> Index<'t> {
        fuel.spend(2 * text.len() + OTHERS);
        let mut places = vec![Vec::new(); OTHERS + 1];
        for (at, letter) in text.folded.iter().enumerate() {
            if let Some(places) = places.get_mut(code(*letter)) {
                places.push(at);
            }
        }
        Index { text, places, letters: text.folded.iter().collect(), fuel }
    }

    /// Returns the places of `part`, each with its end.
    fn find<'i>(&'i self, part: &'i [char]) -> impl Iterator<Item = (usize, usize)> + 'i {
        let places =
            part.first().and_then(|first| self.places.get(code(*first))).map_or(&[][..], Vec::as_slice);
        let number = number_in(part);
        self.fuel.spend(PLACE_FUEL * (4 + places.len()));
        places.iter().filter_map(move |&at| Some((at, at + len_of(part, number, &self.text.folded[at..])?)))
    }

    /// Returns the places at which `mark` may begin with at most `most` edits.
    fn starts(&self, mark: &[char], most: usize) -> Vec<usize> {
        let mut starts: Vec<usize> = Vec::new();
        for (before, part) in parts(mark, most) {
            for (at, _) in self.find(part) {
                starts.extend(at.saturating_sub(before + most)..=(at + most).saturating_sub(before));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Returns whether `name` stands anywhere, in any case.
    fn holds(&self, name: &str) -> bool {
        let name: String = folded(name).into_iter().collect();
        memmem::find(self.letters.as_bytes(), name.as_bytes()).is_some()
    }

    /// Returns whether the text may hold a mark that begins with `head` but for two edits.
    fn may_hold(&self, head: &[char]) -> bool {
        head.len() < SHARED || parts(head, MOST).any(|(_, part)| self.find(part).next().is_some())
    }

    /// Returns the index without the letters of whole `marks`.
    fn outside(&self, marks: &[Lexeme]) -> Index<'t> {
        let whole = marks.iter().filter(|mark| mark.make == Make::Whole && !mark.kind.is_piece());
        let mut is_taken = vec![false; self.text.len()];
        for letter in whole.flat_map(|mark| mark.from..mark.to) {
            if let Some(is_taken) = is_taken.get_mut(letter) {
                *is_taken = true;
            }
        }
        let mut places = self.places.clone();
        for places in &mut places {
            places.retain(|at| is_taken.get(*at) == Some(&false));
        }
        Index { text: self.text, places, letters: String::new(), fuel: self.fuel }
    }

    /// Returns the marks of `patterns` in their exact spelling.
    fn exact(&self, Patterns(patterns): &Patterns) -> Vec<Lexeme> {
        patterns.iter().flat_map(|pattern| self.exact_of(pattern)).collect()
    }

    /// Returns the marks of whole `patterns` with one or two edits.
    fn torn(&self, Patterns(patterns): &Patterns) -> Vec<Lexeme> {
        let whole = patterns.iter().filter(|pattern| pattern.make == Make::Whole);
        let mut heads = Heads::default();
        let torn: Vec<Lexeme> = whole.flat_map(|pattern| self.torn_of(pattern, &mut heads)).collect();
        nearest(&torn).collect()
    }

    fn exact_of(&self, pattern: &Pattern) -> Vec<Lexeme> {
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

    /// Returns the marks of `pattern` with one or two edits.
    fn torn_of(&self, pattern: &Pattern, heads: &mut Heads) -> Vec<Lexeme> {
        let len: usize = pattern.segments.iter().map(Vec::len).sum();
        if most_edits(len) == 0 {
            return Vec::new();
        }
        // Two marks of one opener have nothing or a line break between them.
        let glues: &[&[char]] = if pattern.segments.len() == 1 { &[&[]] } else { &[&[], &['\n']] };
        let mut found = Vec::new();
        for glue in glues {
            let letters: Vec<char> = pattern.segments.join(*glue);
            let (shared, gaps) = pattern.head;
            let head = (shared + gaps * glue.len()).min(letters.len());
            let starts = self.starts_of(&letters, head, most_edits(len), heads);
            // Most names of a hundred stand nowhere.
            if starts.is_empty() {
                continue;
            }
            let mark = Mark::of(pattern, letters, head, most_edits(len));
            for from in self.but_whole(&mark, starts) {
                let Some(rest) = self.text.folded.get(from..) else { continue };
                if rest.first().is_none_or(|first| first.is_whitespace()) {
                    continue;
                }
                let distance = match mark.head {
                    SHARED.. => {
                        heads.at(from).and_then(|head| head.and(&mark.letters[mark.head..], rest, mark.most))
                    }
                    _ => Distance::of(&mark.letters, rest, mark.most),
                };
                let ends = distance.map(|distance| distance.ends(rest, mark.most));
                for (end, edits) in ends.into_iter().flatten() {
                    let own = &rest[..end];
                    if edits == 0
                        || own.is_empty()
                        || self.is_part(&mark, from, own, edits)
                        || !mark.is_spelt_by(own)
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

    /// Returns the places where a mark of these `letters`, with so long a `head`, may begin with at most so many edits.
    fn starts_of(&self, letters: &[char], head: usize, most: usize, heads: &mut Heads) -> Vec<usize> {
        let starts: Vec<usize> = match head {
            SHARED.. => heads.of(self, &letters[..head]).iter().map(|(from, _)| *from).collect(),
            _ => self.starts(letters, most),
        };
        self.fuel.spend(TORN_FUEL * starts.len());
        if self.fuel.is_spent() { Vec::new() } else { starts }
    }

    /// Returns those of `starts` where `mark` is not whole.
    fn but_whole(&self, mark: &Mark<'_>, mut starts: Vec<usize>) -> Vec<usize> {
        let whole: Vec<usize> = self.find(&mark.letters).map(|(at, _)| at).collect();
        starts.retain(|from| {
            let next = whole.partition_point(|at| at + mark.most < *from);
            whole.get(next).is_none_or(|at| from + mark.most < *at)
        });
        starts
    }

    /// Returns whether `own`, which begins at `from`, is a part of a word or of another mark: `<ifm|tool_call>`,
    /// `<|tool_call_begin|>`.
    fn is_part(&self, mark: &Mark<'_>, from: usize, own: &[char], edits: usize) -> bool {
        let end = from + own.len();
        let is_inner = |at: Option<usize>| {
            at.is_some_and(|at| self.text.is_word_at(at) || self.text.folded.get(at) == Some(&'|'))
        };
        let letters = &mark.letters;
        mark.pattern.ends_word && self.text.is_word_at(end)
            || !mark.is_closer && own.first() != letters.first() && is_inner(from.checked_sub(1))
            || 1 < edits && letters.len() <= own.len() && own.last() != letters.last() && is_inner(Some(end))
    }
}

/// A mark to search with edits.
struct Mark<'p> {
    pattern: &'p Pattern,
    letters: Vec<char>,
    /// The length of the beginning that it shares with the marks of other names.
    head: usize,
    /// The tag behind the signs that all marks of its dialect begin with, if it is too short for an edit of its own:
    /// `]<]minimax[>[<to>`.
    short_tag: Option<Vec<char>>,
    most: usize,
    is_closer: bool,
    n_signs: usize,
    n_breaks: usize,
}

impl<'p> Mark<'p> {
    /// Makes the mark of `pattern` with these `letters`. It shares the first `head` letters, and has at most so many edits.
    fn of(pattern: &'p Pattern, letters: Vec<char>, head: usize, most: usize) -> Mark<'p> {
        let tag = letters.windows(2).rposition(|pair| *pair == ['[', '<']).map(|at| &letters[at + 1..]);
        Mark {
            pattern,
            head,
            short_tag: tag.filter(|tag| most_edits(tag.len()) == 0).map(<[char]>::to_vec),
            most: tag.map_or(most, |tag| most_edits(tag.len()).max(1)),
            is_closer: matches!(pattern.kind, Kind::ArgumentClose(_)),
            n_signs: n_signs(&letters),
            n_breaks: n_breaks(&letters),
            letters,
        }
    }

    /// Returns whether `own`, which is near to the mark, may be a spelling of it.
    fn is_spelt_by(&self, own: &[char]) -> bool {
        // `main.cparameter>`: a closer without its first signs stays one, though two changed letters could make it
        // something else.
        let is_beheaded = self.is_closer && self.letters.ends_with(own);
        self.short_tag.as_ref().is_none_or(|tag| own.ends_with(tag))
            && !own.last().is_some_and(|last| last.is_whitespace())
            // One letter may have become a line break.
            && (self.n_breaks..=self.n_breaks + 1).contains(&n_breaks(own))
            && (is_beheaded || self.n_signs <= 2 * n_signs(own))
            && !own.iter().any(|letter| is_foreign(*letter, &self.letters))
    }
}

fn n_signs(text: &[char]) -> usize {
    text.iter().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count()
}

fn n_breaks(text: &[char]) -> usize {
    text.iter().filter(|c| **c == '\n').count()
}

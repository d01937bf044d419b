//! The marks of one dialect in a text: whole, torn, or in pieces.
//!
//! The search takes every opener with each declared name in it, so that a torn name, a lost end and a misspelt word are
//! one thing: a distance between two texts. A mark with `k` edits has one of its `k + 1` parts whole, by which the
//! search finds it.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use callwright_json::Fuel;

use super::edit::{MOST, ONE_EDIT, code, ends_within, is_within, most_edits, parts};
use super::prices;
use crate::grammar::fold::{Folded, folded_letters, is_foreign};
use crate::grammar::{Form, NAME, Pieces, folded, marks, split_first};
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Make {
    Whole,
    Torn,
    Half,
}

/// A mark to search for.
#[derive(Debug)]
struct Pattern {
    kind: Kind,
    make: Make,
    price: u32,
    tail: usize,
    /// The marks, without the blanks between them.
    segments: Vec<Vec<char>>,
    /// The marks in front of the name, which all patterns of one kind share.
    head: Vec<Vec<char>>,
}

impl Kind {
    /// Returns whether the mark is an opener with a name.
    pub(super) fn is_named_opener(self) -> bool {
        matches!(self, Kind::Call(_) | Kind::Argument(_))
    }

    /// Returns whether the mark is the beginning of one, alone.
    pub(super) fn is_piece(self) -> bool {
        matches!(self, Kind::CallPiece | Kind::ArgumentPiece)
    }
}

/// Returns the marks of `form` in `text` that open and close calls and their section, by their places.
pub(super) fn of_calls(text: &Folded, form: &Form, tools: &[&Tool], fuel: &Fuel) -> Vec<Lexeme> {
    sift(calls_in(&Index::of(text, fuel), form, tools))
}

fn calls_in(index: &Index<'_>, form: &Form, tools: &[&Tool]) -> Vec<Lexeme> {
    let (named, others): (Vec<_>, Vec<_>) =
        tools.iter().enumerate().partition(|(_, tool)| index.holds(tool.name()));
    let head = head_of(&form.call);
    let openers = |tools: Vec<(usize, &&Tool)>, is_there: bool| {
        let of_tool = |(n, tool): (usize, &&Tool)| {
            Pattern::openers(&form.call, &head, tool.name(), Kind::Call(n), is_there)
        };
        tools.into_iter().flat_map(of_tool).collect::<Vec<Pattern>>()
    };
    let (mut marks, mut patterns) = (Vec::new(), openers(named, true));
    patterns.extend(patterns_of_calls(form));
    index.search(&patterns, &mut marks);
    // With names that differ by a letter, one whole opener is a torn one of each other tool.
    let tag = folded(form.call_tag());
    if tag.len() < ONE_EDIT || !index.outside(&marks).starts(&tag, MOST).is_empty() {
        index.search(&openers(others, false), &mut marks);
    }
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
    let is_called = |(n, _): &(usize, &Tool)| marks.iter().any(|mark| mark.kind == Kind::Call(*n));
    let called: Vec<(usize, &Tool)> = tools.iter().copied().enumerate().filter(is_called).collect();
    let keys: BTreeSet<&str> = called.iter().flat_map(|(_, tool)| tool.parameters()).collect();
    let keys: Vec<&str> = keys.into_iter().collect();
    index.search(&patterns_of_arguments(form, &called, &keys, &index), &mut marks);
    (sift(marks), keys)
}

/// Returns those of `marks` that give way to no other one, by their places.
fn sift(mut marks: Vec<Lexeme>) -> Vec<Lexeme> {
    marks.sort_by_key(|mark| (mark.from, mark.make != Make::Whole, mark.to));
    marks.dedup();
    let longest = marks.iter().map(|mark| mark.to - mark.from).max().unwrap_or(0);
    let all = marks.clone();
    marks.retain(|mark| {
        let first = all.partition_point(|other| other.from + longest < mark.from);
        let near = all.iter().skip(first).take_while(|other| other.from < mark.to);
        !near.filter(|other| mark.from < other.to).any(|other| gives_way(mark, other))
    });
    marks
}

/// Returns whether `mark` is not read as `other` overlaps it. No reading takes letters out of a value to complete a
/// mark that is whole without them, and among torn marks of one kind the nearest counts; openers of calls are of one
/// kind, whatever they name.
fn gives_way(mark: &Lexeme, other: &Lexeme) -> bool {
    let is_opener = |mark: &Lexeme| matches!(mark.kind, Kind::Call(_));
    match (mark.make, other.make) {
        (Make::Half, Make::Whole) => mark.kind.is_piece() && other.from <= mark.from && mark.to <= other.to,
        (Make::Torn, Make::Whole) => true,
        (Make::Torn, Make::Half) if other.kind.is_piece() => {
            let is_of_piece = mark.kind.is_named_opener() || matches!(mark.kind, Kind::ArgumentClose(_));
            mark.from != other.from && !is_of_piece
        }
        (Make::Torn, Make::Torn) => {
            other.price < mark.price && (mark.kind == other.kind || is_opener(mark) && is_opener(other))
        }
        _ => false,
    }
}

/// Returns the marks in front of the name in an opener.
fn head_of(pieces: &Pieces) -> Vec<Vec<char>> {
    marks(&pieces.head).map(folded).collect()
}

/// Returns the closers of calls, the marks of their section, and pieces of openers and closers.
fn patterns_of_calls(form: &Form) -> Vec<Pattern> {
    let mut all = Vec::new();
    if let Some((open, close)) = &form.section {
        all.push(Pattern::whole(Kind::SectionOpen, open));
        all.push(Pattern::whole(Kind::SectionClose, close));
    }
    if !form.call_close.contains(NAME) {
        all.push(Pattern::whole(Kind::CallClose(None), &form.call_close));
    }
    let close = split_first(&form.call_close).map(|(first, _)| first);
    let pieces = [Some(&*form.call.head), close].into_iter().flatten();
    all.extend(pieces.filter_map(|piece| Pattern::piece(Kind::CallPiece, piece)));
    all
}

/// Returns the named closers of calls of `tools`, and the openers and closers of their arguments `keys`.
fn patterns_of_arguments(
    form: &Form,
    tools: &[(usize, &Tool)],
    keys: &[&str],
    index: &Index<'_>,
) -> Vec<Pattern> {
    let mut all = Vec::new();
    for (n, tool) in tools.iter().filter(|_| form.call_close.contains(NAME)) {
        all.push(Pattern::whole(Kind::CallClose(Some(*n)), &form.call_close.replace(NAME, tool.name())));
    }
    let head = head_of(&form.argument);
    for (n, key) in keys.iter().enumerate() {
        let is_there = index.holds(key);
        all.extend(Pattern::openers(&form.argument, &head, key, Kind::Argument(n), is_there));
        if form.closes_by_key() {
            let close = form.argument_close.replace(NAME, key);
            all.push(Pattern::whole(Kind::ArgumentClose(Some(n)), &close));
        } else if is_there {
            // `<parameter=city>Paris</city>`
            let kind = Kind::ArgumentClose(Some(n));
            all.push(Pattern::new(kind, Make::Half, prices::EDIT, 0, &["</", key, ">"]));
        }
    }
    if !form.closes_by_key() {
        all.push(Pattern::whole(Kind::ArgumentClose(None), &form.argument_close));
    }
    let pieces = [Some(&*form.argument.head), form.token()].into_iter().flatten();
    all.extend(pieces.filter_map(|piece| Pattern::piece(Kind::ArgumentPiece, piece)));
    all
}

impl Pattern {
    fn new(kind: Kind, make: Make, price: u32, tail: usize, parts: &[&str]) -> Pattern {
        let segments = marks(&parts.concat()).map(folded).collect();
        Pattern { kind, make, price, tail, segments, head: Vec::new() }
    }

    fn whole(kind: Kind, mark: &str) -> Pattern {
        Pattern::new(kind, Make::Whole, 0, 0, &[mark])
    }

    fn piece(kind: Kind, head: &str) -> Option<Pattern> {
        (ONE_EDIT <= head.chars().count()).then(|| Pattern::new(kind, Make::Half, 0, 0, &[head]))
    }

    /// Returns an opener in its proper spelling and, if its name `is_there` in the text, with a part missing or doubled:
    /// `<arg_key>a</arg_key>`.
    fn openers(pieces: &Pieces, head: &[Vec<char>], name: &str, kind: Kind, is_there: bool) -> Vec<Pattern> {
        let mut all = Vec::new();
        for (n, (tail, _)) in pieces.tails.iter().enumerate() {
            let whole = Pattern::new(kind, Make::Whole, 0, n, &[&pieces.head, name, tail]);
            all.push(Pattern { head: head.to_vec(), ..whole });
            if !is_there || pieces.n_in_pieces <= n {
                continue;
            }
            // Between the marks behind the name, a line may break.
            let behind = marks(tail).enumerate();
            let behind = behind.map(|(n, mark)| if n == 0 { mark.to_owned() } else { format!("\n{mark}") });
            let behind: Vec<String> = behind.collect();
            let parts: Vec<&str> =
                [&*pieces.head, name].into_iter().chain(behind.iter().map(String::as_str)).collect();
            for part in 0..parts.len() {
                let twice = [&parts[..=part], &parts[part..]].concat();
                all.push(Pattern::new(kind, Make::Half, prices::DOUBLED, n, &twice));
                // A name alone stands in any text.
                if part != 1 && 2 < parts.len() {
                    let without = [&parts[..part], &parts[part + 1..]].concat();
                    all.push(Pattern::new(kind, Make::Half, prices::HALF, n, &without));
                }
            }
        }
        all
    }

    fn len(&self) -> usize {
        self.segments.iter().map(Vec::len).sum()
    }

    /// Returns whether a word may not go on behind the mark.
    fn ends_word(&self) -> bool {
        let last = self.segments.last().and_then(|segment| segment.last());
        last.is_some_and(|letter| letter.is_alphanumeric() || *letter == '_')
    }

    /// Returns its lexeme, with this make and price.
    fn lexeme(&self, from: usize, to: usize, make: Make, price: u32) -> Lexeme {
        Lexeme { from, to, kind: self.kind, make, price, tail: self.tail, len: self.len() }
    }
}

/// A text in which marks are searched.
struct Index<'t> {
    text: &'t Folded,
    /// The places of each letter, by its [`code`].
    places: Rc<[Vec<usize>]>,
    /// The letters of whole marks, where these are left out.
    is_hidden: Vec<bool>,
    fuel: &'t Fuel,
}

/// Fuel for comparing a mark with one place of a text, and for comparing it with slips.
const PLACE_FUEL: usize = 1;
const TORN_FUEL: usize = 12;

impl<'t> Index<'t> {
    fn of(text: &'t Folded, fuel: &'t Fuel) -> Index<'t> {
        fuel.spend(2 * text.len() + usize::from(u8::MAX));
        let mut places = vec![Vec::new(); 1 + usize::from(u8::MAX)];
        for (at, letter) in text.folded.iter().enumerate() {
            places[usize::from(code(*letter))].push(at);
        }
        Index { text, places: places.into(), is_hidden: Vec::new(), fuel }
    }

    /// Returns the places of `part`.
    fn find<'i>(&'i self, part: &'i [char]) -> impl Iterator<Item = usize> + 'i {
        let places = part.first().map_or(&[][..], |first| &self.places[usize::from(code(*first))]);
        self.fuel.spend(PLACE_FUEL * (4 + places.len()));
        let is_hidden = |at: usize| self.is_hidden.get(at) == Some(&true);
        let places = places.iter().copied().filter(move |at| !is_hidden(*at));
        places.filter(move |at| self.text.folded[*at..].starts_with(part))
    }

    /// Returns the places at which `mark` may begin with at most `most` edits.
    fn starts(&self, mark: &[char], most: usize) -> Vec<usize> {
        let mut starts: Vec<usize> = Vec::new();
        for (before, part) in parts(mark, most) {
            for at in self.find(part) {
                starts.extend(at.saturating_sub(before + most)..=(at + most).saturating_sub(before));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Returns whether `name` stands anywhere, in any case.
    fn holds(&self, name: &str) -> bool {
        self.find(&folded_letters(name).collect::<Vec<char>>()).next().is_some()
    }

    /// Returns the index without the letters of whole `marks`.
    fn outside(&self, marks: &[Lexeme]) -> Index<'t> {
        let mut is_hidden = vec![false; self.text.len()];
        for mark in marks.iter().filter(|mark| mark.make == Make::Whole) {
            is_hidden[mark.from..mark.to].fill(true);
        }
        Index { text: self.text, places: Rc::clone(&self.places), is_hidden, fuel: self.fuel }
    }

    /// Adds the marks of `patterns` to `marks`: the exact ones, and those with slips outside of all whole ones.
    fn search(&self, patterns: &[Pattern], marks: &mut Vec<Lexeme>) {
        marks.extend(patterns.iter().flat_map(|pattern| self.exact(pattern)));
        let (outside, mut heads) = (self.outside(marks), HashMap::new());
        let whole = patterns.iter().filter(|pattern| pattern.make == Make::Whole);
        marks.extend(whole.flat_map(|pattern| outside.torn(pattern, &mut heads)));
    }

    /// Returns the marks of `pattern` in its exact spelling.
    fn exact(&self, pattern: &Pattern) -> Vec<Lexeme> {
        let Some((first, _)) = pattern.segments.split_first() else { return Vec::new() };
        let end_of = |at: usize| {
            let mut end = at;
            for segment in &pattern.segments {
                end = if end == at { at } else { self.text.behind_blanks(end) };
                end += self.text.folded.get(end..)?.starts_with(segment).then_some(segment.len())?;
            }
            (!pattern.ends_word() || !self.text.is_word_at(end)).then_some(end)
        };
        let lexeme = |at| Some(pattern.lexeme(at, end_of(at)?, pattern.make, pattern.price));
        self.find(first).filter_map(lexeme).collect()
    }

    /// Returns the marks of `pattern` with one or two edits. `heads` are the places at which shared beginnings may
    /// stand: with a hundred tools whose calls begin alike, the beginning is compared once at each place.
    fn torn(&self, pattern: &Pattern, heads: &mut HashMap<Vec<char>, Vec<usize>>) -> Vec<Lexeme> {
        // Two marks of one opener have nothing or a line break between them.
        let glues: &[&[char]] = if pattern.segments.len() == 1 { &[&[]] } else { &[&[], &['\n']] };
        let mut found = Vec::new();
        for glue in glues {
            let (letters, head) = (pattern.segments.join(*glue), pattern.head.join(*glue));
            // The tag behind the signs that all marks of its dialect begin with, `]<]minimax[>[<to>`, has edits of its
            // own.
            let tag = letters.windows(2).rposition(|pair| *pair == ['[', '<']).map(|at| &letters[at + 1..]);
            let most = tag.map_or(most_edits(pattern.len()), |tag| most_edits(tag.len()).max(1));
            if most == 0 {
                continue;
            }
            let short_tag = tag.filter(|tag| most_edits(tag.len()) == 0).unwrap_or(&[]);
            // Beside a whole head, one that begins a letter earlier or later is a worse reading of it.
            let near = |head: &Vec<char>| {
                let rest = |from: usize| self.text.folded.get(from..).unwrap_or(&[]);
                let (whole, other): (Vec<usize>, Vec<usize>) =
                    self.starts(head, MOST).into_iter().partition(|from| rest(*from).starts_with(head));
                let is_beside = |from: usize| whole.iter().any(|at| at.abs_diff(from) <= MOST);
                let is_near = |from: &usize| !is_beside(*from) && is_within(head, rest(*from), MOST);
                let near: Vec<usize> = other.into_iter().filter(is_near).collect();
                [whole, near].concat()
            };
            let starts = match head.len() {
                ONE_EDIT.. => heads.entry(head).or_insert_with_key(near).clone(),
                _ => self.starts(&letters, most),
            };
            self.fuel.spend(TORN_FUEL * starts.len());
            for from in starts.into_iter().filter(|_| !self.fuel.is_spent()) {
                let rest = self.text.folded.get(from..).unwrap_or(&[]);
                for (end, edits) in ends_within(&letters, rest, most) {
                    let own = &rest[..end];
                    if 0 < edits
                        && own.ends_with(short_tag)
                        && is_spelling(own, &letters, pattern.kind)
                        && !self.is_part(pattern, &letters, from, own, edits)
                    {
                        let price = prices::EDIT * u32::try_from(edits).unwrap_or(u32::MAX);
                        found.push(pattern.lexeme(from, from + end, Make::Torn, price));
                    }
                }
            }
        }
        found
    }

    /// Returns whether `own`, which begins at `from`, is a part of a word or of another mark: `<ifm|tool_call>`,
    /// `<|tool_call_begin|>`.
    fn is_part(&self, pattern: &Pattern, mark: &[char], from: usize, own: &[char], edits: usize) -> bool {
        let end = from + own.len();
        let is_inner = |at: Option<usize>| {
            at.is_some_and(|at| self.text.is_word_at(at) || self.text.folded.get(at) == Some(&'|'))
        };
        let is_closer = matches!(pattern.kind, Kind::ArgumentClose(_));
        pattern.ends_word() && self.text.is_word_at(end)
            || !is_closer && own.first() != mark.first() && is_inner(from.checked_sub(1))
            || 1 < edits && mark.len() <= own.len() && own.last() != mark.last() && is_inner(Some(end))
    }
}

/// Returns whether `own`, which is near to `mark`, may be a spelling of it.
fn is_spelling(own: &[char], mark: &[char], kind: Kind) -> bool {
    let n_signs = |text: &[char]| text.iter().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
    let n_breaks = |text: &[char]| text.iter().filter(|c| **c == '\n').count();
    // `main.cparameter>`: a closer without its first signs stays one, though two changed letters could make it
    // something else.
    let is_beheaded = matches!(kind, Kind::ArgumentClose(_)) && mark.ends_with(own);
    let edges = [own.first(), own.last()];
    edges.iter().all(|edge| edge.is_some_and(|letter| !letter.is_whitespace()))
        // One letter may have become a line break.
        && (n_breaks(mark)..=n_breaks(mark) + 1).contains(&n_breaks(own))
        && (is_beheaded || n_signs(mark) <= 2 * n_signs(own))
        && !own.iter().any(|letter| is_foreign(*letter, mark))
}

//! Reads the text of a pattern, in one pass and without recursion, into steps or their number.

use super::class::{Class, DIGIT, Ranges, SPACE, WORD, property};
use super::program::{Code, Edge, Step, bounded, choice, repeat};

/// Deepest nesting of groups: the steps of one are copied once for each group around it.
const MAX_GROUPS: usize = 64;

/// A parsed pattern.
pub(super) struct Parsed<C> {
    pub(super) code: C,
    pub(super) classes: Vec<Class>,
    pub(super) n_groups: usize,
}

/// Reads `source`; `None` if it is not a pattern, or too large a one.
pub(super) fn parse<C: Code>(source: &str) -> Option<Parsed<C>> {
    let mut parser = Parser::<C> {
        rest: source,
        classes: Vec::new(),
        names: Vec::new(),
        n_groups: 0,
        backs: Vec::new(),
        open: Vec::new(),
        group: Group::of(Sort::Plain, Flags::default(), false),
    };
    while let Some(c) = parser.next() {
        parser.take(c)?;
    }
    let is_known = |number: &u32| (1..=parser.n_groups).contains(number);
    if !parser.open.is_empty() || !parser.backs.iter().all(is_known) {
        return None;
    }
    let mut code: C = choice(parser.group.into_branches())?;
    code.push(Step::Found);
    Some(Parsed { code: bounded(code)?, classes: parser.classes, n_groups: parser.n_groups as usize })
}

#[derive(Clone, Copy, Default)]
struct Flags {
    folds: bool,
    dot_is_all: bool,
    has_lines: bool,
}

#[derive(Clone, Copy)]
enum Sort {
    Plain,
    Capture(u32),
    Look { is_ahead: bool, is_negated: bool },
}

/// A group that is being read.
struct Group<C> {
    sort: Sort,
    flags: Flags,
    /// The group is read from its end to its start, as everything in a look-behind.
    is_backward: bool,
    branches: Vec<C>,
    /// The parts of the current branch; the last one may still be repeated.
    parts: Vec<C>,
    may_repeat: bool,
}

impl<C: Code> Group<C> {
    fn of(sort: Sort, flags: Flags, is_backward: bool) -> Group<C> {
        Group { sort, flags, is_backward, branches: Vec::new(), parts: Vec::new(), may_repeat: false }
    }

    fn end_branch(&mut self) {
        let mut code = C::default();
        let parts = std::mem::take(&mut self.parts);
        match self.is_backward {
            true => parts.into_iter().rev().for_each(|part| code.append(part)),
            false => parts.into_iter().for_each(|part| code.append(part)),
        }
        self.branches.push(code);
        self.may_repeat = false;
    }

    fn into_branches(mut self) -> Vec<C> {
        self.end_branch();
        self.branches
    }
}

struct Parser<'s, C> {
    rest: &'s str,
    classes: Vec<Class>,
    /// The names of groups with their numbers.
    names: Vec<(&'s str, u32)>,
    n_groups: u32,
    /// The groups that a reference names.
    backs: Vec<u32>,
    /// The groups around the current one.
    open: Vec<Group<C>>,
    group: Group<C>,
}

impl<'s, C: Code> Parser<'s, C> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        Some(c)
    }

    /// Passes over `text` if it comes next.
    fn has(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Returns the text before `end`, which is passed over too.
    fn until(&mut self, end: char) -> Option<&'s str> {
        let (inside, behind) = self.rest.split_once(end)?;
        self.rest = behind;
        Some(inside)
    }

    fn part(&mut self, code: C) {
        self.group.parts.push(code);
        self.group.may_repeat = true;
    }

    fn step(&mut self, step: Step) {
        let mut code = C::default();
        code.push(step);
        self.part(code);
    }

    fn class(&mut self, mut class: Class) {
        class.folds = self.group.flags.folds;
        class.settle();
        // `[\p{L}_-]` stands in many parts of one pattern.
        let known = self.classes.iter().rev().take(4).position(|known| *known == class);
        let number = known.map_or(self.classes.len(), |back| self.classes.len() - 1 - back);
        if known.is_none() {
            self.classes.push(class);
        }
        self.step(Step::Class(u32::try_from(number).unwrap_or(u32::MAX)));
    }

    fn character(&mut self, c: char) {
        match self.group.flags.folds && c.is_alphabetic() {
            true => self.class(Class::of(&[(c, c)])),
            false => self.step(Step::Char(c)),
        }
    }

    /// Takes the part that begins with `c`.
    fn take(&mut self, c: char) -> Option<()> {
        let flags = self.group.flags;
        match c {
            '(' => self.open()?,
            ')' => self.close()?,
            '|' => self.group.end_branch(),
            '^' => self.step(Step::Edge(if flags.has_lines { Edge::LineStart } else { Edge::Start })),
            '$' => self.step(Step::Edge(if flags.has_lines { Edge::LineEnd } else { Edge::End })),
            '.' if flags.dot_is_all => self.class(Class::but(&[])),
            '.' => self.class(Class::but(&[('\n', '\n')])),
            '[' => {
                let class = self.brackets()?;
                self.class(class);
            }
            '*' => self.repeat(0, None)?,
            '+' => self.repeat(1, None)?,
            '?' => self.repeat(0, Some(1))?,
            '{' => match self.counts() {
                Some((least, most)) => self.repeat(least, most)?,
                // `{` alone is a character.
                None => self.character('{'),
            },
            '\\' => self.escape()?,
            c => self.character(c),
        }
        Some(())
    }

    /// Reads the numbers between the braces of `{2}`, `{2,}`, `{2,5}`, and passes over them; `None` for any other text.
    fn counts(&mut self) -> Option<(usize, Option<usize>)> {
        let (inside, behind) = self.rest.split_once('}')?;
        let (least, most) = inside.split_once(',').map_or((inside, Some(inside)), |(least, most)| {
            (least, Some(most).filter(|most| !most.is_empty()))
        });
        let number = |digits: &str| -> Option<usize> {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            // A number beyond all sizes makes the pattern too large.
            is_number.then(|| digits.parse().unwrap_or(usize::MAX))
        };
        let counts = (number(least)?, most.map(number).map_or(Some(None), |most| most.map(Some))?);
        self.rest = behind;
        Some(counts)
    }

    fn repeat(&mut self, least: usize, most: Option<usize>) -> Option<()> {
        let block = self.group.parts.pop().filter(|_| self.group.may_repeat)?;
        if most.is_some_and(|most| most < least) {
            return None;
        }
        // `a+?` takes as little as it can, and occurs where `a+` does.
        self.has("?");
        self.group.parts.push(repeat(block, least, most)?);
        self.group.may_repeat = false;
        Some(())
    }

    fn open(&mut self) -> Option<()> {
        let (mut flags, mut is_backward) = (self.group.flags, self.group.is_backward);
        let look = [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
            .into_iter()
            .find(|(mark, ..)| self.has(mark));
        let sort = if let Some((_, is_ahead, is_negated)) = look {
            is_backward = !is_ahead;
            Sort::Look { is_ahead, is_negated }
        } else if self.has("?<") || self.has("?P<") {
            let name = self.until('>').filter(|name| !name.is_empty())?;
            self.n_groups += 1;
            self.names.push((name, self.n_groups));
            Sort::Capture(self.n_groups)
        } else if self.has("?") {
            let mut is_on = true;
            loop {
                match self.next()? {
                    ':' => break,
                    // `(?i)`: the rest of the group around it.
                    ')' => {
                        self.group.flags = flags;
                        self.group.may_repeat = false;
                        return Some(());
                    }
                    '-' => is_on = false,
                    'i' => flags.folds = is_on,
                    's' => flags.dot_is_all = is_on,
                    'm' => flags.has_lines = is_on,
                    // Patterns are Unicode in any case.
                    'u' if is_on => {}
                    _ => return None,
                }
            }
            Sort::Plain
        } else {
            self.n_groups += 1;
            Sort::Capture(self.n_groups)
        };
        if MAX_GROUPS <= self.open.len() {
            return None;
        }
        self.open.push(std::mem::replace(&mut self.group, Group::of(sort, flags, is_backward)));
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        let around = self.open.pop()?;
        let group = std::mem::replace(&mut self.group, around);
        let sort = group.sort;
        let block = choice(group.into_branches())?;
        let mut code = C::default();
        match sort {
            Sort::Plain => code = block,
            Sort::Capture(number) => {
                code.push(Step::Save(2 * number));
                code.append(block);
                code.push(Step::Save(2 * number + 1));
            }
            Sort::Look { is_ahead, is_negated } => {
                let len = u32::try_from(block.size() + 1).ok()?;
                code.push(Step::Look { len, is_ahead, is_negated });
                code.append(block);
                code.push(Step::Found);
            }
        }
        self.part(bounded(code)?);
        Some(())
    }

    /// Reads the escape behind a backslash outside of brackets.
    fn escape(&mut self) -> Option<()> {
        match self.peek()? {
            'b' => self.edge(Edge::Word),
            'B' => self.edge(Edge::NotWord),
            'A' => self.edge(Edge::Start),
            'z' => self.edge(Edge::End),
            'k' => {
                self.next();
                let name = if self.has("<") { self.until('>')? } else { return None };
                let (_, number) = self.names.iter().find(|(known, _)| *known == name).copied()?;
                self.back(number);
            }
            '1'..='9' => {
                let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
                let (number, behind) = self.rest.split_at(digits);
                self.rest = behind;
                self.back(number.parse().ok()?);
            }
            _ => match self.escaped()? {
                Escaped::Char(c) => self.character(c),
                Escaped::Class(class) => self.class(class),
            },
        }
        Some(())
    }

    fn edge(&mut self, edge: Edge) {
        self.next();
        self.step(Step::Edge(edge));
    }

    fn back(&mut self, number: u32) {
        self.backs.push(number);
        self.step(Step::Back(number));
    }

    /// Reads the escape behind a backslash in brackets and outside.
    fn escaped(&mut self) -> Option<Escaped> {
        Some(match self.next()? {
            'd' => Escaped::Class(Class::of(DIGIT)),
            'D' => Escaped::Class(Class::but(DIGIT)),
            'w' => Escaped::Class(Class::of(WORD)),
            'W' => Escaped::Class(Class::but(WORD)),
            's' => Escaped::Class(Class::of(SPACE)),
            'S' => Escaped::Class(Class::but(SPACE)),
            p @ ('p' | 'P') => {
                let name = match self.has("{") {
                    true => self.until('}')?,
                    false => {
                        let (name, behind) = self.rest.split_at_checked(1)?;
                        self.rest = behind;
                        name
                    }
                };
                let table: Ranges = property(name)?;
                Escaped::Class(Class { tables: vec![(table, p == 'P')], ..Class::default() })
            }
            't' => Escaped::Char('\t'),
            'n' => Escaped::Char('\n'),
            'v' => Escaped::Char('\u{b}'),
            'f' => Escaped::Char('\u{c}'),
            'r' => Escaped::Char('\r'),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escaped::Char('\0'),
            'c' => {
                let letter = self.next().filter(char::is_ascii_alphabetic)?;
                Escaped::Char(char::from_u32(u32::from(letter) % 32)?)
            }
            'x' if self.has("{") => Escaped::Char(self.code_point()?),
            'u' if self.has("{") => Escaped::Char(self.code_point()?),
            'x' => Escaped::Char(char::from_u32(self.digits(2)?)?),
            'u' => Escaped::Char(self.four_digits()?),
            // Any other sign stands for itself.
            c if !c.is_alphanumeric() => Escaped::Char(c),
            _ => return None,
        })
    }

    fn code_point(&mut self) -> Option<char> {
        char::from_u32(u32::from_str_radix(self.until('}')?, 16).ok()?)
    }

    fn digits(&mut self, n: usize) -> Option<u32> {
        let (digits, behind) = self.rest.split_at_checked(n)?;
        self.rest = behind;
        let is_right = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_right)
    }

    /// Reads the character of `\u0041`, or of a pair, `\ud83d\ude00`.
    fn four_digits(&mut self) -> Option<char> {
        let high = self.digits(4)?;
        match high {
            0xd800..0xdc00 if self.has("\\u") => {
                let low = self.digits(4).filter(|low| (0xdc00..0xe000).contains(low))?;
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            _ => char::from_u32(high),
        }
    }

    /// Reads the class behind its opening bracket.
    fn brackets(&mut self) -> Option<Class> {
        let mut class = Class { is_negated: self.has("^"), ..Class::default() };
        loop {
            let first = match self.next()? {
                ']' => return Some(class).filter(|class| !class.is_empty()),
                '\\' if self.has("b") => Escaped::Char('\u{8}'),
                '\\' if self.has("-") => Escaped::Char('-'),
                '\\' => self.escaped()?,
                c => Escaped::Char(c),
            };
            let first = match first {
                Escaped::Char(first) => first,
                Escaped::Class(inner) => {
                    class.add(inner);
                    continue;
                }
            };
            let mut ahead = self.rest.chars();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            if !is_range {
                class.ranges.push((first, first));
                continue;
            }
            self.next();
            let last = match self.next()? {
                '\\' if self.has("b") => Escaped::Char('\u{8}'),
                '\\' => self.escaped()?,
                c => Escaped::Char(c),
            };
            match last {
                Escaped::Char(last) if first <= last => class.ranges.push((first, last)),
                Escaped::Char(_) => return None,
                // `[a-\d]` is not a range, so the hyphen is a character.
                Escaped::Class(inner) => {
                    class.ranges.extend([(first, first), ('-', '-')]);
                    class.add(inner);
                }
            }
        }
    }
}

enum Escaped {
    Char(char),
    Class(Class),
}

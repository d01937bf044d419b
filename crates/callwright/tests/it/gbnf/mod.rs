//! A recogniser for GBNF, slow and plain: it keeps the set of all places that a rule can reach.

use std::collections::{BTreeSet, HashMap};

pub(crate) struct Grammar {
    rules: HashMap<String, Expr>,
}

#[derive(Debug)]
enum Expr {
    Literal(Vec<char>),
    /// The ranges, and whether the class is what they do not hold.
    Class(Vec<(char, char)>, bool),
    Rule(String),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Repeat(Box<Expr>, usize, usize),
}

impl Grammar {
    pub(crate) fn parse(text: &str) -> Grammar {
        let rules = text.lines().map(|line| {
            let (name, body) = line.split_once(" ::= ").unwrap();
            let chars: Vec<char> = body.chars().collect();
            let mut parser = Parser { chars: &chars, at: 0 };
            let expr = parser.choice();
            assert_eq!(parser.at, chars.len(), "{line}");
            (name.to_owned(), expr)
        });
        Grammar { rules: rules.collect() }
    }

    pub(crate) fn admits(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.ends(&self.rules["root"], &text, 0).contains(&text.len())
    }

    fn ends(&self, expr: &Expr, text: &[char], at: usize) -> BTreeSet<usize> {
        match expr {
            Expr::Literal(literal) => {
                let end = at + literal.len();
                if text.get(at..end) == Some(literal) { BTreeSet::from([end]) } else { BTreeSet::new() }
            }
            Expr::Class(ranges, is_negated) => {
                let holds = |c: &char| ranges.iter().any(|(from, to)| from <= c && c <= to) != *is_negated;
                text.get(at).filter(|c| holds(c)).map(|_| at + 1).into_iter().collect()
            }
            Expr::Rule(name) => {
                let rule = self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
                self.ends(rule, text, at)
            }
            Expr::Sequence(parts) => parts.iter().fold(BTreeSet::from([at]), |places, part| {
                places.into_iter().flat_map(|at| self.ends(part, text, at)).collect()
            }),
            Expr::Choice(ways) => ways.iter().flat_map(|way| self.ends(way, text, at)).collect(),
            Expr::Repeat(inner, least, most) => {
                let mut reached = BTreeSet::new();
                let mut places = BTreeSet::from([at]);
                for n in 0..=*most {
                    if *least <= n {
                        reached.extend(places.iter().copied());
                    }
                    let next: BTreeSet<usize> = places
                        .iter()
                        .flat_map(|&at| self.ends(inner, text, at))
                        .filter(|end| at < *end)
                        .collect();
                    if next.is_empty() {
                        break;
                    }
                    places = next;
                }
                reached
            }
        }
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.chars[self.at - 1]
    }

    fn choice(&mut self) -> Expr {
        let mut ways = vec![self.sequence()];
        while self.peek() == Some('|') {
            self.at += 1;
            ways.push(self.sequence());
        }
        Expr::Choice(ways)
    }

    fn sequence(&mut self) -> Expr {
        let mut parts = Vec::new();
        loop {
            while self.peek() == Some(' ') {
                self.at += 1;
            }
            let part = match self.peek() {
                None | Some('|' | ')') => return Expr::Sequence(parts),
                Some('"') => self.literal(),
                Some('[') => self.class(),
                Some('(') => {
                    self.at += 1;
                    let inner = self.choice();
                    assert_eq!(self.next(), ')');
                    inner
                }
                Some(_) => {
                    let from = self.at;
                    while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '-') {
                        self.at += 1;
                    }
                    assert!(from < self.at, "{:?}", &self.chars[from..]);
                    Expr::Rule(self.chars[from..self.at].iter().collect())
                }
            };
            parts.push(self.repeated(part));
        }
    }

    fn repeated(&mut self, part: Expr) -> Expr {
        let (least, most) = match self.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let end = self.at + self.chars[self.at..].iter().position(|&c| c == '}').unwrap();
                let bounds: String = self.chars[self.at + 1..end].iter().collect();
                self.at = end;
                let (least, most) = bounds.split_once(',').unwrap();
                (least.parse().unwrap(), most.parse().unwrap_or(usize::MAX))
            }
            _ => return part,
        };
        self.at += 1;
        Expr::Repeat(Box::new(part), least, most)
    }

    fn literal(&mut self) -> Expr {
        self.at += 1;
        let mut literal = Vec::new();
        while self.peek() != Some('"') {
            literal.push(self.character());
        }
        self.at += 1;
        Expr::Literal(literal)
    }

    fn class(&mut self) -> Expr {
        self.at += 1;
        let is_negated = self.peek() == Some('^');
        self.at += usize::from(is_negated);
        let mut ranges = Vec::new();
        while self.peek() != Some(']') {
            let from = self.character();
            let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1) != Some(&']');
            let to = if is_range {
                self.at += 1;
                self.character()
            } else {
                from
            };
            ranges.push((from, to));
        }
        self.at += 1;
        Expr::Class(ranges, is_negated)
    }

    fn character(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'x' => self.hex(2),
                'u' => self.hex(4),
                c => c,
            },
            c => c,
        }
    }

    fn hex(&mut self, digits: usize) -> char {
        let hex: String = self.chars[self.at..self.at + digits].iter().collect();
        self.at += digits;
        char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap()
    }
}

//! Names in a template's source, each given to the function that weighs its value, and maps, each made by the function that
//! keeps their order. See [`bounds`](crate::bounds) and [`ordered`](crate::ordered).

use crate::bounds::{FACTOR, MAX_FACTOR, MAX_REPEATED, WEIGHED};
use crate::ordered::ORDERED;

/// The most lists and maps that may stand in each other in one tag.
const MAX_NESTING: usize = 8;

/// Words that are no names.
const KEYWORDS: &[&str] = &[
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
    "loop",
    "recursive",
    "caller",
    "varargs",
    "kwargs",
    "self",
    "super",
];

/// `{{ a.b ~ c }}` → `{{ weighed(a).b ~ weighed(c) }}`, `{{ {'a': 1} }}` → `{{ ordered('a', 1) }}`, for a whole tag.
///
/// # Errors
/// What would be larger than what is weighed.
pub(crate) fn weighed(tag: &str) -> Result<String, &'static str> {
    let inner = tag.get(2..).unwrap_or_default().trim_start_matches(['-', '+']).trim_start();
    let lead = tag.len() - inner.len();
    if tag.starts_with("{{") {
        return Ok(format!("{}{}", &tag[..lead], expression(&tag[lead..])?));
    }
    let word = inner.find(|c: char| !is_word(c)).unwrap_or(inner.len());
    let skipped = match &inner[..word] {
        "if" | "elif" | "do" | "with" => word,
        "set" => match assignment(inner) {
            Some(at) => at + 1,
            None => return Ok(tag.to_owned()),
        },
        "for" => match inner.match_indices("in").find(|(at, _)| is_alone(inner, *at, 2)) {
            Some((at, _)) => at + 2,
            None => return Ok(tag.to_owned()),
        },
        "filter" => {
            let rest = inner[word..].trim_start();
            inner.len() - rest.trim_start_matches(is_word).len()
        }
        "call" => {
            let rest = inner[word..].trim_start();
            match rest.starts_with('(').then(|| rest.find(')')).flatten() {
                Some(end) => inner.len() - rest.len() + end + 1,
                None => word,
            }
        }
        _ => return Ok(tag.to_owned()),
    };
    let (head, rest) = tag.split_at(lead + skipped);
    Ok(format!("{head}{}", expression(rest)?))
}

/// The place of the sign that parts a target from its value.
fn assignment(text: &str) -> Option<usize> {
    let at = text.find(['=', '|', '(', '\''])?;
    (text.as_bytes().get(at) == Some(&b'=') && text.as_bytes().get(at + 1) != Some(&b'=')).then_some(at)
}

fn is_alone(text: &str, at: usize, len: usize) -> bool {
    !text[..at].ends_with(is_word) && !text[at + len..].starts_with(is_word)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The token before a place.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// A name, whose function stands at this place of what is written.
    Name(usize),
    /// `loop`, `loop.index`, and the point between them.
    Loop,
    LoopPoint,
    /// A number or a text, and whether it may be multiplied.
    Literal(bool),
    Word,
    Is,
    Sign(char),
}

const UNBOUNDED: &str = "what is multiplied here has no bound";

fn expression(text: &str) -> Result<String, &'static str> {
    let mut weigher = Weigher {
        out: String::with_capacity(text.len() * 2),
        before: Before::Sign(' '),
        factors: 0,
        is_factor: false,
        open: Vec::new(),
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '"' | '\'' => literal(rest, c),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(len);
        rest = behind;
        match c {
            _ if c.is_whitespace() => weigher.out.push_str(token),
            c if is_word(c) && !c.is_ascii_digit() => weigher.word(token, behind.trim_start())?,
            '*' if !behind.trim_start().starts_with('*') && weigher.before != Before::Sign('*') => {
                weigher.times()?
            }
            '}' if weigher.open.is_empty() => {
                // The end of the tag.
                weigher.out.push_str(token);
                weigher.out.push_str(rest);
                break;
            }
            c => weigher.sign(c, token)?,
        }
    }
    Ok(weigher.out)
}

/// Writes an expression anew, token by token.
struct Weigher {
    out: String,
    before: Before,
    /// The number of signs of multiplication.
    factors: usize,
    /// One of them stands right before.
    is_factor: bool,
    /// The brackets that are open.
    open: Vec<char>,
}

impl Weigher {
    fn word(&mut self, token: &str, next: &str) -> Result<(), &'static str> {
        let is_argument = next.starts_with('=') && !next.starts_with("==");
        let is_no_name = KEYWORDS.contains(&token)
            || matches!(self.before, Before::Sign('.' | '|') | Before::Is)
            || next.starts_with('(')
            || is_argument;
        let now = match token {
            "is" => Before::Is,
            "not" if self.before == Before::Is => Before::Is,
            _ if self.before == Before::LoopPoint => Before::Loop,
            "loop" => Before::Loop,
            _ if is_no_name => Before::Word,
            _ => {
                let at = self.out.len();
                self.out.push_str(if self.is_factor { FACTOR } else { WEIGHED });
                self.out.push_str(&format!("({token})"));
                if self.is_factor && next.starts_with(['.', '[', '(']) {
                    return Err(UNBOUNDED);
                }
                (self.before, self.is_factor) = (Before::Name(at), false);
                return Ok(());
            }
        };
        self.go_on(now, token)
    }

    fn times(&mut self) -> Result<(), &'static str> {
        self.factors += 1;
        match self.before {
            Before::Name(at) => self.out.replace_range(at..at + WEIGHED.len(), FACTOR),
            Before::Loop | Before::Literal(true) => {}
            _ => return Err(UNBOUNDED),
        }
        self.is_factor = true;
        self.out.push('*');
        self.before = Before::Sign(' ');
        Ok(())
    }

    /// A sign, a number or a text.
    fn sign(&mut self, c: char, token: &str) -> Result<(), &'static str> {
        let now = match c {
            '"' | '\'' => Before::Literal(token.len() <= MAX_REPEATED),
            '0'..='9' => Before::Literal(token.parse::<usize>().is_ok_and(|number| number <= MAX_FACTOR)),
            '.' if self.before == Before::Loop => Before::LoopPoint,
            c => Before::Sign(c),
        };
        match c {
            '[' | '(' | '{' => self.open.push(c),
            ']' | ')' | '}' => drop(self.open.pop()),
            _ => {}
        }
        let written = match c {
            '{' => &format!("{ORDERED}("),
            ':' if self.open.last() == Some(&'{') => ",",
            '}' => ")",
            _ => token,
        };
        self.go_on(now, written)
    }

    /// Writes what stands for a token, if it may stand there.
    fn go_on(&mut self, now: Before, written: &str) -> Result<(), &'static str> {
        let is_bounded = matches!(now, Before::Loop | Before::Literal(true));
        if self.is_factor && !is_bounded || 1 < self.factors {
            return Err(UNBOUNDED);
        }
        if MAX_NESTING < self.open.iter().filter(|bracket| **bracket != '(').count() {
            return Err("lists and maps are too deep in each other here");
        }
        (self.is_factor, self.before) = (false, now);
        self.out.push_str(written);
        Ok(())
    }
}

/// The length of the literal that `text` begins with.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_weighed_and_nothing_else() {
        for (tag, expected) in [
            ("{{ a.b ~ c['d'] }}", "{{ weighed(a).b ~ weighed(c)['d'] }}"),
            ("{%- set x = y + 'y' -%}", "{%- set x = weighed(y) + 'y' -%}"),
            (
                "{% set ns.x = ns.x ~ f(a, b=c) %}",
                "{% set ns.x = weighed(ns).x ~ f(weighed(a), b=weighed(c)) %}",
            ),
            ("{% set x %}", "{% set x %}"),
            (
                "{% for k, v in m.items() if v is defined %}",
                "{% for k, v in weighed(m).items() if weighed(v) is defined %}",
            ),
            ("{% if a is not none and b == 1 %}", "{% if weighed(a) is not none and weighed(b) == 1 %}"),
            ("{{ a | join(b) | trim }}", "{{ weighed(a) | join(weighed(b)) | trim }}"),
            ("{{ loop.index0 * 2 }}{", "{{ loop.index0 * 2 }}{"),
            ("{{ '=' * n }}", "{{ '=' * factor(n) }}"),
            ("{{ n * '=' }}", "{{ factor(n) * '=' }}"),
            (
                "{{ {'a': b}[c] if d else e(f) }}",
                "{{ ordered('a', weighed(b))[weighed(c)] if weighed(d) else e(weighed(f)) }}",
            ),
            ("{{ {'a': b[1:2], 'c': {}} }}", "{{ ordered('a', weighed(b)[1:2], 'c', ordered()) }}"),
            ("{% macro m(a, b=c) %}", "{% macro m(a, b=c) %}"),
            ("{% call(u) m(x) %}", "{% call(u) m(weighed(x)) %}"),
        ] {
            assert_eq!(weighed(tag).as_deref(), Ok(expected));
        }
        for tag in [
            "{{ [x] * 9 }}",
            "{{ a.b * 2 }}",
            "{{ 'x' * 99999 }}",
            "{{ 2 * 2 * 2 }}",
            "{{ 2 * (3) }}",
            "{{ 2 * a.b }}",
            "{{ [[[[[[[[[x]]]]]]]]] }}",
        ] {
            assert!(weighed(tag).is_err(), "{tag}");
        }
    }
}

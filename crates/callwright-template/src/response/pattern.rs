//! Regular expressions that stand for marks, spelled out: `\s*<do=(?P<name>\w+)>` → white space, `<do=`, a name, `>`.

/// The longest expression, how deep its groups go, and in how many ways it may be spelled.
const MAX_PATTERN: usize = 4096;
const MAX_DEPTH: usize = 16;
const MAX_SPELLINGS: usize = 32;

/// A piece of what an expression describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// This very text.
    Text(String),
    /// White space, or none.
    Space,
    /// Anything, or nothing.
    Any,
    /// The text that a group takes, by its name or its number.
    Group(String),
    /// The text that the group of this name or number took, once more.
    Same(String),
}

/// All ways in which `pattern` may be spelled, the fullest first.
///
/// # Errors
/// What of it is more than a mark.
pub(super) fn spelled(pattern: &str) -> Result<Vec<Vec<Piece>>, String> {
    if MAX_PATTERN < pattern.len() {
        return Err(format!("the pattern is longer than {MAX_PATTERN} bytes"));
    }
    let mut parser = Parser { rest: pattern, groups: 0 };
    let ways = parser.ways(0)?;
    match parser.rest {
        "" => Ok(ways),
        rest => Err(format!("`{rest}` is not understood")),
    }
}

/// A literal text as a spelling.
pub(super) fn literal(text: &str) -> Vec<Piece> {
    vec![Piece::Text(text.to_owned())]
}

struct Parser<'p> {
    rest: &'p str,
    groups: usize,
}

/// The text that one atom takes.
enum Atom {
    Nothing,
    Char(char),
    Blank,
    Other,
    Ways(Vec<Vec<Piece>>),
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Alternatives, up to the end of their group.
    fn ways(&mut self, depth: usize) -> Result<Vec<Vec<Piece>>, String> {
        if MAX_DEPTH < depth {
            return Err("its groups are too deep".to_owned());
        }
        let mut all = Vec::new();
        loop {
            all.extend(self.sequence(depth)?);
            if !self.take("|") {
                return bounded(all);
            }
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Vec<Piece>>, String> {
        let mut ways: Vec<Vec<Piece>> = vec![Vec::new()];
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let from = self.rest;
            let atom = self.atom(depth)?;
            let (least, most) = self.count();
            let written = from[..from.len() - self.rest.len()].to_owned();
            let next = match (atom, least, most) {
                (Atom::Nothing, ..) => continue,
                (Atom::Char(c), 1, 1) => vec![literal(c.encode_utf8(&mut [0; 4]))],
                (Atom::Char(c), ..) if c.is_whitespace() => vec![vec![Piece::Space]],
                (Atom::Char(c), 0, 1) => vec![literal(c.encode_utf8(&mut [0; 4])), Vec::new()],
                (Atom::Char(_), ..) => return Err(format!("`{written}` is repeated text")),
                (Atom::Blank, ..) => vec![vec![Piece::Space]],
                (Atom::Other, ..) => vec![vec![Piece::Any]],
                (Atom::Ways(ways), 0, _) => ways.into_iter().chain([Vec::new()]).collect(),
                (Atom::Ways(ways), ..) => ways,
            };
            let joined = ways.iter().flat_map(|way| next.iter().map(|more| [way.as_slice(), more].concat()));
            ways = bounded(joined.map(merged).collect())?;
        }
        Ok(ways)
    }

    fn atom(&mut self, depth: usize) -> Result<Atom, String> {
        let Some(c) = self.next() else { return Ok(Atom::Nothing) };
        Ok(match c {
            '^' | '$' => Atom::Nothing,
            '.' => Atom::Other,
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => return self.group(depth),
            '*' | '+' | '?' | '{' if c != '{' => return Err(format!("`{c}` repeats nothing")),
            c => Atom::Char(c),
        })
    }

    fn escape(&mut self) -> Result<Atom, String> {
        Ok(match self.next().ok_or("a backslash stands at the end")? {
            's' => Atom::Blank,
            'n' => Atom::Char('\n'),
            't' => Atom::Char('\t'),
            'r' => Atom::Char('\r'),
            'w' | 'd' | 'S' | 'W' | 'D' => Atom::Other,
            'b' | 'B' | 'A' | 'Z' | 'z' => Atom::Nothing,
            digit @ '1'..='9' => Atom::Ways(vec![vec![Piece::Same(digit.to_string())]]),
            c if c.is_alphanumeric() => return Err(format!("`\\{c}` is not understood")),
            c => Atom::Char(c),
        })
    }

    /// `[^>\n]`, `[\s\S]`, `[ \t]`
    fn class(&mut self) -> Result<Atom, String> {
        let is_negated = self.take("^");
        let mut is_blank = true;
        let mut first = true;
        loop {
            match self.next().ok_or("a class has no end")? {
                ']' if !first => break,
                '\\' => match self.escape()? {
                    Atom::Blank => {}
                    Atom::Char(c) => is_blank &= c.is_whitespace(),
                    _ => is_blank = false,
                },
                c => is_blank &= c.is_whitespace(),
            }
            first = false;
        }
        Ok(if is_blank && !is_negated { Atom::Blank } else { Atom::Other })
    }

    fn group(&mut self, depth: usize) -> Result<Atom, String> {
        let closed = |parser: &mut Self| if parser.take(")") { Ok(()) } else { Err("a group has no end") };
        if self.take("?P=") {
            let (name, rest) = self.rest.split_once(')').ok_or("a group has no end")?;
            self.rest = rest;
            return Ok(Atom::Ways(vec![vec![Piece::Same(name.to_owned())]]));
        }
        // What stands around a mark is not part of it.
        if ["?=", "?!", "?<=", "?<!"].iter().any(|look| self.take(look)) {
            self.ways(depth + 1)?;
            closed(self)?;
            return Ok(Atom::Nothing);
        }
        if self.take("?:") {
            let ways = self.ways(depth + 1)?;
            closed(self)?;
            return Ok(Atom::Ways(ways));
        }
        let name = if self.take("?P<") || self.take("?<") {
            let (name, rest) = self.rest.split_once('>').ok_or("a group's name has no end")?;
            self.rest = rest;
            name.to_owned()
        } else if self.rest.starts_with('?') {
            return Err(format!("`({}` is not understood", self.rest.chars().take(4).collect::<String>()));
        } else {
            (self.groups + 1).to_string()
        };
        self.groups += 1;
        self.ways(depth + 1)?;
        closed(self)?;
        Ok(Atom::Ways(vec![vec![Piece::Group(name)]]))
    }

    /// Reads how often the atom before may stand there.
    fn count(&mut self) -> (usize, usize) {
        let count = match self.rest.chars().next() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let Some((inner, behind)) = self.rest[1..].split_once('}') else { return (1, 1) };
                let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
                let Ok(least) = least.parse() else { return (1, 1) };
                self.rest = behind;
                return (least, most.parse().unwrap_or(usize::MAX));
            }
            _ => return (1, 1),
        };
        self.next();
        if !self.take("?") {
            self.take("+");
        }
        count
    }
}

fn bounded(ways: Vec<Vec<Piece>>) -> Result<Vec<Vec<Piece>>, String> {
    match ways.len() <= MAX_SPELLINGS {
        true => Ok(ways),
        false => Err(format!("it may be spelled in more than {MAX_SPELLINGS} ways")),
    }
}

/// Neighbouring texts are one.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (Some(Piece::Space), Piece::Space) | (Some(Piece::Any), Piece::Any) => {}
            (_, piece) => out.push(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.replace('\n', "⏎"),
            Piece::Space => "_".to_owned(),
            Piece::Any => "…".to_owned(),
            Piece::Group(name) => format!("{{{name}}}"),
            Piece::Same(name) => format!("{{={name}}}"),
        };
        match spelled(pattern) {
            Ok(ways) => ways
                .iter()
                .map(|way| way.iter().map(piece).collect::<String>())
                .collect::<Vec<_>>()
                .join(" | "),
            Err(why) => format!("! {why}"),
        }
    }

    #[test]
    fn patterns_are_spelled_out() {
        for (pattern, expected) in [
            (r"\s*<do=(?P<name>[^>\n]+)>", "_<do={name}>"),
            (r"<\|tool\|>call:(?P<name>\w+)", "<|tool|>call:{name}"),
            (r"(?:</f>)?\s*</t>", "</f>_</t> | _</t>"),
            (r"<p=(?P<key>\w+)>\s*(?P<value>.*?)\s*</p>", "<p={key}>_{value}_</p>"),
            (r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>", "<{key}>{value}</{=key}>"),
            (r"to=(?P<name>\w+).*?<\|message\|>", "to={name}…<|message|>"),
            (r"<a>\n(.+?)\n</a>(?=\s*$)", "<a>⏎{1}⏎</a>"),
            (r"(?:<end>|<eos>)\n?", "<end>_ | <eos>_"),
            (r"[\s\S]+\{a: 1\}", "…{a: 1}"),
            ("x+", "! `x+` is repeated text"),
            ("(?i)x", "! `(?i)x` is not understood"),
            ("(a", "! a group has no end"),
            ("*", "! `*` repeats nothing"),
            (r"\p{L}", "! `\\p` is not understood"),
        ] {
            assert_eq!(shown(pattern), expected, "{pattern}");
        }
        let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(
            spelled(&deep).is_err()
                && spelled(&"(?:".repeat(1000)).is_err()
                && spelled(&"a?".repeat(40)).is_err()
        );
    }
}

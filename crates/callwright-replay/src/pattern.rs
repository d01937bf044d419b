//! A text that a simple regular expression admits: letters, classes, groups, alternatives and repetition.

/// The most that a repetition is written out.
const MAX_REPEATS: usize = 256;

/// A text that `pattern` admits; none where it is not as simple as that.
pub(crate) fn example(pattern: &str) -> Option<String> {
    let mut parser = Parser { rest: pattern };
    let text = parser.alternatives(0)?;
    parser.rest.is_empty().then_some(text)
}

struct Parser<'p> {
    rest: &'p str,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The first of them; the others are only stepped over.
    fn alternatives(&mut self, depth: usize) -> Option<String> {
        let first = self.sequence(depth)?;
        while self.take("|") {
            self.sequence(depth)?;
        }
        Some(first)
    }

    fn sequence(&mut self, depth: usize) -> Option<String> {
        let mut text = String::new();
        while let Some(next) = self.peek().filter(|next| !matches!(next, '|' | ')')) {
            if matches!(next, '^' | '$') {
                self.next();
                continue;
            }
            let one = self.atom(depth)?;
            let n = self.repeats()?;
            text.push_str(&one.repeat(n));
        }
        Some(text)
    }

    fn atom(&mut self, depth: usize) -> Option<String> {
        match self.next()? {
            '(' if depth < 16 => {
                // Looking around is not simple.
                if self.rest.starts_with('?') && !self.take("?:") {
                    return None;
                }
                let text = self.alternatives(depth + 1)?;
                self.take(")").then_some(text)
            }
            '(' => None,
            '[' => self.class().map(String::from),
            '.' => Some("a".into()),
            '\\' => escaped(self.next()?).map(String::from),
            '*' | '+' | '?' | '{' => None,
            c => Some(c.into()),
        }
    }

    /// A character of a class: the first of those that it names, or, where it names what is left out, one of a few.
    fn class(&mut self) -> Option<char> {
        let is_negated = self.take("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        while ranges.is_empty() || !self.rest.starts_with(']') {
            let from = self.member()?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let to = if is_range { self.next().and_then(|_| self.member())? } else { from };
            ranges.push((from, to));
        }
        self.next();
        if !is_negated {
            return ranges.first().map(|(from, _)| *from);
        }
        let is_out = |c: &char| !ranges.iter().any(|(from, to)| (*from..=*to).contains(c));
        "aA0_- ".chars().find(is_out)
    }

    fn member(&mut self) -> Option<char> {
        match self.next()? {
            '\\' => escaped(self.next()?),
            c => Some(c),
        }
    }

    /// Reads how often the part in front is written: as seldom as may be, but once where that is allowed.
    fn repeats(&mut self) -> Option<usize> {
        let n = match self.peek() {
            Some('*' | '+' | '?') => {
                self.next();
                1
            }
            Some('{') => {
                let (bounds, rest) = self.rest.get(1..)?.split_once('}')?;
                self.rest = rest;
                let (least, most) = bounds.split_once(',').unwrap_or((bounds, bounds));
                let least: usize = least.parse().ok()?;
                let may_be_one = most.is_empty() || 1 <= most.parse::<usize>().ok()?;
                least.max(usize::from(may_be_one))
            }
            _ => 1,
        };
        // Lazy or not, it is the same text.
        self.take("?");
        (n <= MAX_REPEATS).then_some(n)
    }
}

/// One character that an escape stands for.
fn escaped(c: char) -> Option<char> {
    match c {
        'd' => Some('1'),
        'w' | 'S' | 'D' => Some('a'),
        's' => Some(' '),
        't' => Some('\t'),
        'n' => Some('\n'),
        c if c.is_ascii_alphanumeric() => None,
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_patterns_have_an_example() {
        for (pattern, text) in [
            ("^[A-Z]{3}-\\d{4}$", Some("AAA-1111")),
            ("^(red|green)$", Some("red")),
            ("^[^a-z]+$", Some("A")),
            ("^\\+?\\d{1,3}(?:-\\w*)?$", Some("+1-a")),
            ("^[\\w.-]+@[a-z]+\\.com$", Some("a@a.com")),
            ("a{0}b", Some("b")),
            ("^(?=x)", None),
            ("(a)\\1", None),
            ("[a", None),
            ("a{2", None),
            ("a)", None),
        ] {
            assert_eq!(example(pattern).as_deref(), text, "{pattern}");
        }
    }
}

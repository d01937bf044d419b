//! Payload grammars: the door to the tolerant reader.

use std::borrow::Cow;

use callwright_json::{Diagnostic, Guide, Kind, Parse, Problem, Reading, Repair, RepairKind, Span, strict};

/// A payload that was read: its readings, and the place behind it.
pub(crate) struct Payload<'t> {
    pub(crate) parse: Parse<'t>,
    pub(crate) end: usize,
}

/// Reads the JSON-like value that begins at `from`.
pub(crate) fn read_json_at<'t>(text: &'t str, from: usize, _guide: &dyn Guide, _cut: bool) -> Payload<'t> {
    let mut reader = Provisional { text, at: from, out: String::new(), names: Vec::new() };
    let done = reader.value(0);
    reader.finish(from, done)
}

/// Reads the argument list whose `(` stands at `from` into an object.
pub(crate) fn read_arguments_at<'t>(text: &'t str, from: usize, guide: &dyn Guide, _cut: bool) -> Payload<'t> {
    let names = (0..128).map_while(|slot| guide.name(guide.root(), slot)).map(str::to_owned).collect();
    let mut reader = Provisional { text, at: from, out: String::new(), names };
    let done = reader.arguments();
    reader.finish(from, done)
}

struct Provisional<'t> {
    text: &'t str,
    at: usize,
    out: String,
    names: Vec<String>,
}

impl<'t> Provisional<'t> {
    fn finish(self, from: usize, done: Option<()>) -> Payload<'t> {
        let raw = self.text.get(from..self.at).unwrap_or("");
        let mut parse = Parse::default();
        if done.is_some() {
            if let Ok(tree) = strict(raw) {
                parse.readings.push(Reading { text: Cow::Borrowed(raw), tree, repairs: Vec::new() });
            } else if let Ok(tree) = strict(&self.out) {
                let kind = RepairKind::SwapSyntax;
                let repairs = vec![Repair { kind, at: Span::new(from, self.at), put: self.out.as_str().into() }];
                parse.readings.push(Reading { text: Cow::Owned(self.out), tree, repairs });
            }
        }
        if parse.readings.is_empty() {
            let problem = if self.at >= self.text.len() { Problem::Truncated } else { Problem::Unreadable };
            parse.diagnostics.push(Diagnostic { problem, at: Span::at(self.at.min(self.text.len())) });
        }
        Payload { parse, end: self.at }
    }
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }
    fn arguments(&mut self) -> Option<()> {
        self.at += 1;
        self.space();
        if self.peek() == b'{' {
            let save = (self.at, self.out.len());
            self.value(1)?;
            self.space();
            if self.peek() == b')' {
                self.at += 1;
                return Some(());
            }
            self.at = save.0;
            self.out.truncate(save.1);
        }
        self.out.push('{');
        let mut n = 0;
        loop {
            self.space();
            if self.peek() == b')' {
                self.at += 1;
                break;
            }
            if n > 0 {
                if !matches!(self.peek(), b',' | b';') {
                    return None;
                }
                self.at += 1;
                self.space();
                if self.peek() == b')' {
                    self.at += 1;
                    break;
                }
                self.out.push(',');
            }
            let start = self.at;
            while self.peek().is_ascii_alphanumeric() || matches!(self.peek(), b'_' | b'\\' | b'-') {
                self.at += 1;
            }
            let mut key = self.text[start..self.at].replace('\\', "");
            self.space();
            if !key.is_empty() && matches!(self.peek(), b'=' | b':') {
                self.at += 1;
                self.space();
            } else {
                self.at = start;
                key = self.names.get(n)?.clone();
            }
            self.out.push_str(&format!("\"{key}\":"));
            self.value(1)?;
            n += 1;
        }
        self.out.push('}');
        Some(())
    }
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > 60 {
            return None;
        }
        self.space();
        match self.peek() {
            open @ (b'{' | b'[' | b'(') => {
                let object = open == b'{';
                self.at += 1;
                self.out.push(if object { '{' } else { '[' });
                let mut n = 0;
                loop {
                    self.space();
                    if matches!(self.peek(), b'}' | b']' | b')') {
                        self.at += 1;
                        break;
                    }
                    if n > 0 {
                        if self.peek() != b',' {
                            return None;
                        }
                        self.at += 1;
                        self.space();
                        if matches!(self.peek(), b'}' | b']' | b')') {
                            self.at += 1;
                            break;
                        }
                        self.out.push(',');
                    }
                    if object {
                        self.value(depth + 1)?;
                        self.space();
                        if !matches!(self.peek(), b':' | b'=') {
                            return None;
                        }
                        self.at += 1;
                        self.out.push(':');
                    }
                    self.value(depth + 1)?;
                    n += 1;
                }
                self.out.push(if object { '}' } else { ']' });
                Some(())
            }
            q @ (b'"' | b'\'') => {
                self.at += 1;
                let mut s = String::new();
                loop {
                    let c = self.text.get(self.at..)?.chars().next()?;
                    self.at += c.len_utf8();
                    if c as u32 == q as u32 {
                        break;
                    }
                    if c == '\\' {
                        let c = self.text.get(self.at..)?.chars().next()?;
                        self.at += c.len_utf8();
                        match c {
                            'n' => s.push('\n'),
                            't' => s.push('\t'),
                            'u' => {
                                s.push_str("\\u");
                            }
                            c => s.push(c),
                        }
                    } else {
                        s.push(c);
                    }
                }
                self.push_string(&s);
                Some(())
            }
            _ => {
                let start = self.at;
                while !matches!(self.peek(), 0 | b',' | b')' | b'}' | b']' | b':' | b'\n' | b'(') {
                    self.at += self.text[self.at..].chars().next()?.len_utf8();
                }
                if self.peek() == b'(' || self.at == start {
                    return None;
                }
                let word = self.text[start..self.at].trim().replace("\\_", "_");
                match word.as_str() {
                    "True" | "true" => self.out.push_str("true"),
                    "False" | "false" => self.out.push_str("false"),
                    "None" | "null" => self.out.push_str("null"),
                    w if strict(w).is_ok() => self.out.push_str(w),
                    w => self.push_string(w),
                }
                Some(())
            }
        }
    }
    fn push_string(&mut self, s: &str) {
        self.out.push('"');
        for c in s.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                c if c < ' ' => self.out.push(' '),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

/// Is the value at the root of `parse` an object in its only reading?
pub(crate) fn settled_object<'p, 't>(parse: &'p Parse<'t>) -> Option<&'p Reading<'t>> {
    parse.settled().filter(|reading| reading.value().kind() == Kind::Object)
}

//! Markup that holds the tool's name, or stands around it: `<invoke name="f">`, `<f>`,
//! `<|channel|>commentary to=functions.f <|constrain|>json<|message|>`.

use callwright_json::Span;

use super::body::style_of;
use super::lead::{Glue, Item, Leading, Step};
use crate::dialect::marks::{Fit, fit};
use crate::dialect::{Grammar, Known, NameAt};
use crate::name::{MAX_NAME, Prefix, is_name_byte};
use crate::payload::tag::{
    Lexed, Role, Tag, element_at, has_attribute, is_foreign, last_tag, names_call, tag_at,
};
use crate::payload::tagged::Style;
use crate::tools::Tool;

/// Words of a header that are no name.
const NO_NAMES: &[&str] = &["json", "code", "xml", "commentary", "analysis", "final", "assistant"];

/// What is known of a name that stands in the markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// There is none.
    No,
    /// A header has begun: a name may come.
    Begun,
    /// The name; with `true`, no later word can be it.
    Named(Span, bool),
}

impl<'a> Leading<'a, '_> {
    pub(super) fn name(&self) -> Option<Span> {
        match self.header {
            Header::Named(name, _) => Some(name),
            Header::No | Header::Begun => None,
        }
    }

    /// The step inside a header, where it differs from the usual one.
    pub(super) fn in_header(&mut self, byte: u8) -> Option<Step> {
        if let Some(step) = self.id() {
            return Some(step);
        }
        match (self.header, byte) {
            (Header::No, _) => None,
            (Header::Named(name, _), b'(') if self.is_relaxed() => {
                Some(Step::Item(Item::Relaxed { name, at: self.at }))
            }
            (Header::Named(name, _), b'{') => Some(match self.at {
                at if self.is_relaxed() => Step::Item(Item::Relaxed { name, at }),
                at => self.braced(name, at),
            }),
            (Header::Named(name, _), b'"') if !self.is_relaxed() => self.in_string(name, self.at),
            // `[ARGS]`, `[CALL_ID]c1`
            (Header::Named(..), b'[') => {
                let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                let is_mark = |b: &&u8| b.is_ascii_uppercase() || **b == b'_';
                let len = rest.iter().skip(1).take(16).take_while(is_mark).count();
                match rest.get(1 + len) {
                    None => Some(Step::Wait),
                    Some(b']') if len != 0 => {
                        let is_id = rest.get(1..=len) == Some(b"CALL_ID");
                        self.at += len + 2;
                        if is_id {
                            self.at = self.name_end(self.at);
                        }
                        Some(Step::Over)
                    }
                    Some(_) => None,
                }
            }
            // `:0`, `:f{`
            (_, b':') => {
                self.at += 1;
                while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) && self.name().is_some() {
                    self.at += 1;
                }
                Some(Step::Over)
            }
            (_, b'\\') if self.name().is_some() && self.bytes.get(self.at + 1) == Some(&b'n') => {
                self.at += 2;
                Some(Step::Over)
            }
            (Header::Begun, b'"' | b'\'' | b'`') => self.name_in_quotes(byte),
            (_, _) if is_name_byte(byte) => self.header_word(),
            _ => None,
        }
    }

    /// `<tool_call>"f"<arg_key>`: a declared name in quotes.
    fn name_in_quotes(&mut self, quote: u8) -> Option<Step> {
        let from = self.at + 1;
        let end = self.name_end(from);
        match self.bytes.get(end) {
            None => return self.may_hold_name(from, end).then_some(Step::Wait),
            Some(&byte) if byte != quote || !self.resolves(from, end) => return None,
            Some(_) => {}
        }
        match self.is_followed_by_markup(end + 1) {
            None => Some(Step::Wait),
            Some(false) => None,
            Some(true) => {
                self.header = Header::Named(Span::new(from, end), false);
                self.at = end + 1;
                Some(Step::Over)
            }
        }
    }

    /// `weird@id<|tool_call_argument_begin|>`: all that stands in front of that token is the name, whatever it is made of.
    fn id(&mut self) -> Option<Step> {
        let is_kimi = self.header == Header::Begun && self.is(Known::KimiK2) && self.from < self.at;
        let rest = self.text.get(self.at..).filter(|_| is_kimi)?;
        let found = rest.bytes().take(MAX_NAME).position(|byte| byte == b'<');
        let len = found.unwrap_or(rest.len());
        let written = rest.get(..len)?.trim_end();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = written.rsplit_once(':').filter(|(_, number)| is_number(number));
        let name = numbered.map_or(written, |(name, _)| name);
        if name.bytes().all(is_name_byte) || MAX_NAME <= len {
            return None;
        }
        let is_declared = self.resolves(self.at, self.at + name.len());
        let written = if is_declared { name } else { written };
        match tag_at(self.text, self.at + len) {
            _ if found.is_none() => Some(Step::Wait),
            Lexed::Grows => Some(Step::Wait),
            Lexed::Tag(tag) if is_argument_token(tag.word.of(self.text)) => {
                self.header = Header::Named(Span::new(self.at, self.at + written.len()), true);
                self.at += len;
                Some(Step::Over)
            }
            Lexed::Tag(_) | Lexed::No => None,
        }
    }

    /// A word of a header is the name if nothing but markup stands behind it.
    fn header_word(&mut self) -> Option<Step> {
        let (mut from, mut end) = (self.at, self.name_end(self.at));
        if MAX_NAME < end - from {
            return Some(Step::Nothing);
        }
        let word = self.text.get(from..end).unwrap_or("");
        let Some(&next) = self.bytes.get(end) else { return Some(Step::Wait) };
        let is_recipient = word == "to" && next == b'=';
        if is_recipient {
            from = end + 1;
            end = self.name_end(from);
            if end == self.bytes.len() {
                return Some(Step::Wait);
            }
        } else if NO_NAMES.contains(&word) && (self.is_named() || !self.resolves(from, end)) {
            if word == "xml" {
                self.record = Some(self.known(Known::Beam));
            }
            self.at = end;
            return Some(Step::Over);
        } else if word == "function" && next == b'\n' && !self.resolves(from, end) {
            // `<tool_call>function⏎f⏎{…}`
            self.at = end;
            return Some(Step::Over);
        } else if word == "call" && next == b':' {
            self.at = end + 1;
            return Some(Step::Over);
        } else if word == "function" && next == b'=' {
            // `<tool_call>function=f>`, without its `<`
            let name = Span::new(end + 1, self.name_end(end + 1));
            return match self.bytes.get(name.end as usize) {
                None => Some(Step::Wait),
                Some(b'>') if self.resolves(name.start as usize, name.end as usize) => {
                    self.record = Some(self.known(Known::Qwen3Coder));
                    self.header = Header::Named(name, true);
                    self.at = name.end as usize + 1;
                    Some(Step::Over)
                }
                Some(_) => Some(Step::Nothing),
            };
        }
        // `get_weather\n<arg_key>`, with the line break written as two characters
        if let Some(escape) = self.text.get(from..end).and_then(|word| word.find("\\n"))
            && end == from + escape + 2
        {
            end -= 2;
        }
        // `to=fcommentary json`, without the tokens between them
        let within = if is_recipient { self.name_within(from, end) } else { None };
        let name = within.unwrap_or(Span::new(from, end));
        let is_name = match self.header {
            _ if is_recipient => true,
            _ if self.is_named() => false,
            Header::No | Header::Begun | Header::Named(..) => match self.is_followed_by_markup(end) {
                Some(is_name) => is_name,
                None => return Some(Step::Wait),
            },
        };
        is_name.then(|| {
            self.header = Header::Named(name, is_recipient);
            self.at = end;
            Step::Over
        })
    }

    /// Is the name known, whatever words follow: `to=json <|constrain|>json<|message|>`?
    fn is_named(&self) -> bool {
        matches!(self.header, Header::Named(_, true))
    }

    /// Is the word that ends at `end` followed by a token, a tag, a mark or a brace? `None` where more text must tell.
    fn is_followed_by_markup(&self, end: usize) -> Option<bool> {
        let mut at = end;
        if self.bytes.get(at) == Some(&b':') {
            at += 1;
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
        at = self.skip_space(at);
        let is_new_line = self.bytes.get(end..at).is_some_and(|space| space.contains(&b'\n'));
        let is_header = self.record.is_some_and(|record| record.name_at == NameAt::Header);
        match self
            .record
            .and_then(|record| record.markup.as_ref())
            .map(|markup| markup.tag_at(self.text, at, self.place.end))
        {
            Some(Lexed::Tag(_)) => return Some(true),
            Some(Lexed::Grows) if !self.place.end => return None,
            Some(Lexed::Grows | Lexed::No) | None => {}
        }
        match self.bytes.get(at)? {
            b'<' | b'\\' => Some(true),
            b'[' => Some(self.bytes.get(at + 1).is_none_or(u8::is_ascii_uppercase)),
            b'{' => Some(is_header || self.is_mistral()),
            b'(' => Some(self.is_relaxed()),
            b'`' => Some(is_new_line && is_header),
            _ => Some(false),
        }
    }

    fn is_relaxed(&self) -> bool {
        self.record.is_some_and(|record| record.grammar == Grammar::Relaxed)
    }

    fn is_mistral(&self) -> bool {
        self.is(Known::MistralJson)
    }

    /// `<…>`, `]<]minimax[>[<…>`
    pub(super) fn tag(&mut self) -> Step {
        // Nothing begins with a closing tag.
        let is_closing = || self.bytes.get(self.at + 1) == Some(&b'/');
        if !self.is_begun() && (is_closing() || is_foreign(self.text, self.at)) {
            return Step::Nothing;
        }
        let lexed = self.opener_at(self.at);
        if let Lexed::Tag(tag) = lexed
            && let Some(step) = self.attributed(&tag)
        {
            return step;
        }
        if let (Lexed::Tag(tag), Some(name)) = (lexed, self.name()) {
            let at = self.at;
            // `<|message|><|call|>`: no arguments.
            if self.is_behind_argument_token() && self.is_closer() {
                return Step::Item(Item::Tagged { name, at, style: Style::Over });
            }
            let is_end = tag.closing && matches!(tag.role, Role::Call | Role::Group);
            let is_word = matches!(tag.role, Role::Param | Role::Key | Role::Separator) && !tag.closing;
            let is_beam_end = tag.role == Role::Token && self.is(Known::Beam) && !self.is_header_token(&tag);
            let is_element =
                tag.role == Role::Other && !tag.closing && (tag.marked || self.declares(name, &tag));
            // `<|open|>json type="object"<|sep|>{…}`: all arguments at once.
            let is_json = tag.role == Role::Other && tag.word.of(self.text) == "json";
            if is_json && !tag.closing && self.is(Known::KimiK3) {
                return self.over(tag.at.end as usize, Glue::Tag);
            }
            // `<invoke name="g"/><invoke name="f">`: the next call begins, and this one has no arguments.
            let is_next = self.over.is_some() && tag.role == Role::Call && !tag.closing && tag.key.is_some();
            if is_end || is_word || is_beam_end || is_element || is_next {
                self.record = Some(self.tagged_record(&tag));
                let style = style_of(tag.marked, !is_element);
                return Step::Item(Item::Tagged { name, at, style });
            }
        }
        if let (Lexed::Grows, Some(_)) = (lexed, self.name()) {
            return Step::Wait;
        }
        if let Lexed::Tag(tag) = lexed
            && let Some(step) = self.nameless(&tag)
        {
            return step;
        }
        if let Lexed::Tag(tag) = lexed
            && !tag.closing
            && let Some(name) = tag.key
        {
            match self.opens_call(&tag, name) {
                // `<invoke name="f" a="x">`: an argument that stands where none is read.
                Some(true) if has_attribute(self.text, &tag, |word| self.declares_key(name, word)) => {
                    return Step::Nothing;
                }
                Some(true) => {
                    self.record = Some(self.call_record(&tag));
                    self.header = Header::Named(name, true);
                    self.over = (tag.role == Role::Call && tag.empty).then_some(tag.at.end as usize);
                    return self.over(tag.at.end as usize, Glue::Tag);
                }
                Some(false) => {}
                None => return Step::Wait,
            }
        }
        if let Lexed::Tag(tag) = lexed
            && let Some(step) = self.name_in_front(&tag)
        {
            return step;
        }
        if let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) {
            // What calls stand in names the dialect: `<|tool_call_begin|>` inside it is many dialects'.
            let is_inside = self.record.is_some_and(|outer| outer.name_at == NameAt::Header);
            if !is_inside || record.name_at != NameAt::Header {
                self.record = Some(record);
            }
            if matches!(record.name_at, NameAt::Header | NameAt::Payload | NameAt::Opener) {
                self.header = if self.name().is_some() { self.header } else { Header::Begun };
            }
            // `<function=f`, not closed
            if record.name_at == NameAt::Opener && record.grammar == Grammar::Json {
                return if lexed == Lexed::Grows { Step::Wait } else { Step::Nothing };
            }
            return self.over(self.at + len, Glue::Tag);
        }
        if self.growing() {
            return Step::Wait;
        }
        match lexed {
            Lexed::Grows => Step::Wait,
            // `<tool_call:x7>`, `<ns:tool_call>`: a group with something of its own around the word.
            Lexed::Tag(tag) if tag.role == Role::Group && !tag.closing => {
                if self.name().is_none() {
                    self.header = Header::Begun;
                }
                // Of another dialect than the one that counts it says nothing.
                let hermes = self.known(Known::Hermes);
                self.record = self.record.or((!self.place.dialects.is_pinned()).then_some(hermes));
                self.over(tag.at.end as usize, Glue::Tag)
            }
            // `<|tool_call_begin|>` alone may be another dialect's; what stands behind the name tells.
            Lexed::Tag(tag) if tag.role == Role::Token && is_argument_token(tag.word.of(self.text)) => {
                self.record = Some(self.known(Known::KimiK2));
                self.over(tag.at.end as usize, Glue::Tag)
            }
            // `<|im_start|>`, `<｜tool▁sep｜>`: other special tokens say nothing.
            Lexed::Tag(tag) if tag.role == Role::Token => self.over(tag.at.end as usize, Glue::Tag),
            Lexed::Tag(tag) if !tag.closing && tag.key.is_none() => match self.element(&tag) {
                Some(step) => step,
                None => self.name_tag(&tag),
            },
            Lexed::No => self.declaration(),
            Lexed::Tag(_) => Step::Nothing,
        }
    }

    /// `<tool_call><parameter=a>`: an argument of a call that names no tool.
    fn nameless(&mut self, tag: &Tag) -> Option<Step> {
        let is_argument = matches!(tag.role, Role::Param | Role::Key) && !tag.closing;
        if !is_argument || self.header != Header::Begun {
            return None;
        }
        self.record = Some(self.tagged_record(tag));
        let style = style_of(tag.marked, true);
        Some(Step::Item(Item::Tagged { name: Span::at(self.at), at: self.at, style }))
    }

    /// `<invoke name="f">`; of a declared tool also `<tool_call name="f">`, and `<tool name="f">{`, whose words are no
    /// call's own. `None` where more text must tell.
    fn opens_call(&self, tag: &Tag, name: Span) -> Option<bool> {
        let is_declared = || self.resolves(name.start as usize, name.end as usize);
        match tag.role {
            Role::Call => Some(true),
            Role::Group => Some(is_declared()),
            _ if names_call(tag.word.of(self.text)) && is_declared() => {
                match self.bytes.get(self.skip_space(tag.at.end as usize)) {
                    None => self.place.end.then_some(false),
                    Some(byte) => Some(*byte == b'{'),
                }
            }
            _ => Some(false),
        }
    }

    /// `<?xml version="1.0"?>`
    fn declaration(&mut self) -> Step {
        let inner = self.at + 1;
        match self.bytes.get(inner) {
            None => Step::Wait,
            Some(b'?') => match self.label(inner, "?xml ") {
                Fit::Is(_) => match self.bytes[inner..].iter().take(80).position(|&b| b == b'>') {
                    Some(n) => self.over(inner + n + 1, Glue::Tag),
                    None if self.bytes.len() < inner + 80 => Step::Wait,
                    None => Step::Nothing,
                },
                Fit::Grows => Step::Wait,
                Fit::No => Step::Nothing,
            },
            Some(_) => Step::Nothing,
        }
    }

    /// `<f>`
    fn name_tag(&mut self, tag: &Tag) -> Step {
        let (from, behind) = (self.at + 1, tag.at.end as usize);
        let end = from + self.text.get(from..behind - 1).map_or(0, |name| name.trim_end().len());
        if tag.empty {
            return self.empty_tag(tag);
        }
        if self.bytes.get(self.at) != Some(&b'<') || !self.resolves_tag(from, end) {
            return Step::Nothing;
        }
        self.record = Some(self.known(Known::ToolnameTag));
        self.glue.push(Glue::Tag);
        let name = Span::new(from, end);
        let Some(at) = self.behind_comment(behind, b"<!") else { return Step::Wait };
        match self.bytes.get(at) {
            None => Step::Wait,
            Some(b'{') => Step::Item(Item::Named { name, at }),
            Some(b'"') => self.in_string(name, at).unwrap_or(Step::Nothing),
            Some(&byte) if is_name_byte(byte) => self.lines_of(name, at).unwrap_or(Step::Nothing),
            Some(b'<') => match self.opener_of(name, at) {
                Lexed::Grows => Step::Wait,
                Lexed::Tag(inner)
                    if inner.closing == self.is_own(name, &inner)
                        && (inner.closing || self.takes(name, &inner)) =>
                {
                    self.record = Some(self.known(Known::MorphXml));
                    Step::Item(Item::Tagged { name, at, style: Style::Elements { marked: false } })
                }
                Lexed::Tag(_) | Lexed::No => Step::Nothing,
            },
            Some(_) => Step::Nothing,
        }
    }

    /// The tag at `at`, which may open an argument of the call that was named before.
    fn opener_at(&self, at: usize) -> Lexed {
        self.name().map_or_else(|| tag_at(self.text, at), |name| self.opener_of(name, at))
    }

    /// The tag at `at`, which may open an argument of the tool `name`.
    fn opener_of(&self, name: Span, at: usize) -> Lexed {
        let tool = self.place.names.resolve(name.of(self.text), Prefix::Any);
        let odd_keys = tool.map_or(&[][..], Tool::odd_keys);
        let marked = self.bytes.get(at) == Some(&b']');
        element_at(self.text, at, marked, false, odd_keys).or_else(|| tag_at(self.text, at))
    }

    /// `<f/>` on a line of its own
    fn empty_tag(&mut self, tag: &Tag) -> Step {
        let (name, at) = (tag.word, tag.at.end as usize);
        let is_name = self.resolves_tag(name.start as usize, name.end as usize);
        if self.at + 1 != name.start as usize || !is_name || !self.place.line_start {
            return Step::Nothing;
        }
        match self.bytes.get(at) {
            None if !self.place.end => return Step::Wait,
            None | Some(b'\n' | b'\r' | b'<') => {}
            Some(_) => return Step::Nothing,
        }
        self.record = Some(self.known(Known::MorphXml));
        self.glue.push(Glue::Tag);
        Step::Item(Item::Tagged { name, at, style: Style::Over })
    }

    /// Is `tag` named like the tool itself?
    fn is_own(&self, name: Span, tag: &Tag) -> bool {
        tag.closing && name.of(self.text).eq_ignore_ascii_case(tag.word.of(self.text))
    }

    /// Does the tool of this name declare what `tag` is named by?
    fn declares(&self, name: Span, tag: &Tag) -> bool {
        self.declares_key(name, tag.word.of(self.text))
    }

    fn declares_key(&self, name: Span, key: &str) -> bool {
        let tool = self.place.names.resolve(name.of(self.text), Prefix::Any);
        tool.is_some_and(|tool| tool.declares(key))
    }

    /// Does the tool of this name declare what `tag` is named by? Where it declares nothing, any word on a line of its own
    /// may be an argument's.
    fn takes(&self, name: Span, tag: &Tag) -> bool {
        let word = tag.word.of(self.text);
        let tool = self.place.names.resolve(name.of(self.text), Prefix::Any);
        tool.is_some_and(|tool| if self.place.line_start { tool.takes(word) } else { tool.declares(word) })
    }

    /// `"{\"a\": 1}"`: the arguments of `name` in a string, if they begin at `at`.
    fn in_string(&self, name: Span, at: usize) -> Option<Step> {
        match self.bytes.get(at + 1) {
            None => Some(Step::Wait),
            Some(b'{') => Some(Step::Item(Item::Named { name, at })),
            Some(_) => None,
        }
    }

    /// The tokens that stand between a name and its arguments.
    pub(super) fn is_header_token(&self, tag: &Tag) -> bool {
        let word = tag.word.of(self.text);
        ["channel", "constrain", "message", "start"].iter().any(|token| token.eq_ignore_ascii_case(word))
    }

    /// Stands a mark here that closes a call of its dialect?
    fn is_closer(&self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let mut marks = self.record.into_iter().flat_map(|record| &record.close);
        marks.any(|mark| matches!(fit(rest, mark), Fit::Is(_)))
    }

    /// Stands before this place a token that begins the arguments of a call with a name in its header?
    fn is_behind_argument_token(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("").trim_end();
        self.record.is_some_and(|record| record.name_at == NameAt::Header)
            && last_tag(before).is_some_and(|tag| {
                tag.role == Role::Token
                    && ["message", "tool_call_argument_begin", "tool▁sep"].contains(&tag.word.of(before))
            })
    }

    /// `>>>f⏎{…}`
    pub(super) fn arrows(&mut self) -> Step {
        match self.place.dialects.opener_at(self.text, self.at) {
            Some((record, len)) => {
                let from = self.at + len;
                let end = self.name_end(from);
                match self.bytes.get(end) {
                    None => Step::Wait,
                    Some(b'\n' | b'\r') if self.resolves(from, end) => {
                        let at = self.skip_space(end);
                        self.record = Some(record);
                        match self.bytes.get(at) {
                            None => Step::Wait,
                            Some(b'{') => Step::Item(Item::Named { name: Span::new(from, end), at }),
                            Some(_) => Step::Nothing,
                        }
                    }
                    Some(_) => Step::Nothing,
                }
            }
            None if self.growing() => Step::Wait,
            None => Step::Nothing,
        }
    }
}

/// `<|tool_call_argument_begin|>`
fn is_argument_token(word: &str) -> bool {
    word.eq_ignore_ascii_case("tool_call_argument_begin")
}

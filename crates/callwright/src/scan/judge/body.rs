//! Judges payloads without brackets: arguments in tags, relaxed objects, plain texts. A [`Body`] searches for its end
//! as the text arrives; then it is judged once.

use std::sync::Arc;

use callwright_json::{Class, Guide as _, Kinds, Member, RepairKind, Span, Start, strict};
use callwright_schema::names::fold;

use super::open_end;
use super::{Case, Judged, anew, leading_tool, unread};
use crate::dialect::NameAt;
use crate::grammar::Form;
use crate::payload::plain::{self, Plain};
use crate::payload::relaxed::{self, Braces};
use crate::payload::tagged::{End, Ending, Param, Tags, View};
use crate::payload::{self, value};
use crate::scan::opener::{Item, Opener, Sort};
use crate::shape::{self, keys};
use crate::syntax::tag::{self, Attribute, Role, Tag, tag_at};
use crate::syntax::{self, Incomplete, Trim, Typing};
use crate::tools::Tool;
use crate::tools::names::Names;
use crate::verdict::{Reason, ShapeError};

/// A payload during the search for its end.
#[derive(Debug)]
pub(crate) enum Body {
    Tags(Box<Tags>),
    /// There are no arguments: the body ends at this place.
    Nothing(usize),
    Relaxed(Braces),
    /// One text is the payload.
    Plain(Plain),
    /// Words, with or without arguments among them, up to the mark that ends the call.
    Words(Words),
    /// Text that may hold a call, up to the mark that ends it. The search has come to this place.
    Block(usize),
}

/// Most bytes of words without arguments: longer ones are the model's prose.
const MAX_WORDS: usize = 1024;

/// Words behind a name.
#[derive(Debug)]
pub(crate) struct Words {
    /// The beginning of the words.
    from: usize,
    /// The search has come to this place.
    looked: usize,
    /// A value stands among the words so far: `Result: {"a": 1}`, `"a": 1}`.
    hold_value: bool,
}

impl Body {
    /// Returns the body of words that begin at `from`, and that are a value themselves if this `is_text`.
    pub(crate) fn words(from: usize, is_text: bool) -> Body {
        Body::Words(Words { from, looked: from, hold_value: is_text })
    }

    /// Returns the body of `opener` in `text`, if it has one.
    pub(crate) fn of(opener: &Opener, text: &str) -> Option<Body> {
        let Item { sort, name, at } = opener.item;
        match sort {
            Sort::Tagged => {
                let record = opener.formed().unwrap_or(&opener.record);
                let head = text.get(opener.start..name.map_or(at, |name| name.start as usize)).unwrap_or("");
                Some(Body::Tags(Box::new(Tags::new(at, Arc::clone(record), head))))
            }
            Sort::Over => Some(Body::Nothing(at)),
            Sort::Relaxed => {
                let close = opener.dialect_closers().cloned().collect();
                let mark = opener.record.string_mark().into();
                // `call:` without a token before it may stand in any text.
                let open = Some(opener.opener(text)).filter(|open| open.starts_with('<')).unwrap_or("");
                Some(Body::Relaxed(Braces::new(at, mark, open, close)))
            }
            Sort::Plain => Some(Body::Plain(Plain::new(at))),
            Sort::Words => Some(Body::words(at, opener.has_text() && opener.record.name_at != NameAt::Tag)),
            Sort::Block => Some(Body::Block(at)),
            Sort::Value | Sort::Call | Sort::Named => None,
        }
    }

    /// Returns whether an argument was read.
    pub(crate) fn has_arguments(&self) -> bool {
        matches!(self, Body::Tags(walk) if walk.has_arguments())
    }

    /// Continues the search for the end, and returns it.
    pub(crate) fn advance(
        &mut self,
        text: &str,
        opener: &Opener,
        names: &Names<'_>,
        end: bool,
    ) -> Result<End, Incomplete> {
        let over = |at: usize, ending: Ending| if end { Ok(End { at, ending }) } else { Err(Incomplete) };
        let closed = |at: usize| Ok(End { at, ending: Ending::Closed });
        match self {
            Body::Tags(walk) => {
                let name = opener.name(text).unwrap_or("");
                walk.advance(View { text, name, tool: names.resolve(name), end })
            }
            Body::Nothing(at) => closed(*at),
            Body::Relaxed(braces) => match braces.advance(text) {
                Some(end) => Ok(end),
                None => over(braces.broken_at(text).unwrap_or(text.len()), Ending::Cut),
            },
            Body::Plain(plain) => match plain.advance(text) {
                Some(at) => closed(at),
                None => over(text.len(), Ending::Bare),
            },
            Body::Words(words) => words.end(text, opener, end),
            Body::Block(looked) => {
                let from = opener.item.at;
                let before = *looked;
                if let Some(at) = opener.find_closer(text, looked) {
                    return closed(at);
                }
                let is_named = |text: &str| names.tools().iter().any(|tool| text.contains(tool.name()));
                if before - from <= MAX_WORDS && MAX_WORDS < text.len() - from && !is_named(&text[from..]) {
                    return Ok(End { at: from, ending: Ending::Broken });
                }
                over(text.len(), Ending::Bare)
            }
        }
    }
}

impl Words {
    /// Finds the mark that closes the call: `f: Paris</tool_call>`, `Paris</parameter></function>`.
    fn end(&mut self, text: &str, opener: &Opener, end: bool) -> Result<End, Incomplete> {
        let broken = Ok(End { at: self.from, ending: Ending::Broken });
        loop {
            let rest = text.get(self.looked..).unwrap_or("");
            let len = memchr::memchr3(b'<', b'{', b'[', rest.as_bytes());
            let passed = rest.get(..len.unwrap_or(rest.len())).unwrap_or("");
            self.hold_value |= passed.contains('"');
            self.looked += passed.len();
            if !self.hold_value && MAX_WORDS <= self.looked - self.from {
                return broken;
            }
            if len.is_none() {
                return match end {
                    true if self.hold_value => Ok(End { at: text.len(), ending: Ending::Bare }),
                    true => broken,
                    false => Err(Incomplete),
                };
            }
            let behind = text.get(self.looked..).unwrap_or("");
            let closers = opener.dialect_closers();
            let closer = syntax::marks::fit_any(behind.as_bytes(), closers.map(|mark| &**mark));
            let closed = Ok(End { at: self.looked, ending: Ending::Closed });
            let is_own = |tag: &Tag| opener.item.name.is_some_and(|name| name.of(text) == tag.word.of(text));
            // A text for the only argument may speak of any call.
            let is_other = |tag: &Tag| !opener.has_text() && matches!(tag.role, Role::Call | Role::Group);
            let is_call = |tag: &Tag| is_other(tag) || is_own(tag);
            match (tag_at(text, self.looked), closer) {
                (_, Ok(Some(_))) => return closed,
                (Ok(Some(tag)), _) if tag.closing && is_call(&tag) => return closed,
                (Ok(Some(tag)), _) if matches!(tag.role, Role::Param | Role::Key | Role::Value) => {
                    self.looked = tag.at.end as usize;
                }
                (Ok(Some(tag)), _) if is_call(&tag) => return broken,
                (Err(Incomplete), _) | (_, Err(Incomplete)) if !end => return Err(Incomplete),
                _ => {
                    self.hold_value |= !behind.starts_with('<');
                    self.looked += 1;
                }
            }
        }
    }
}

impl Case<'_, '_> {
    /// Judges a body whose end was found.
    pub(crate) fn body(&self, body: &Body, end: End) -> Judged {
        if self.opener.item.sort == Sort::Block {
            return self.block(self.opener.item.at, end);
        }
        let (Some(written), at) = (self.opener.name(self.text), self.opener.item.at) else {
            return Judged::Text(None);
        };
        let called = Some(written).filter(|written| !written.is_empty());
        let all = Span::new(at, end.at);
        let refused = |reason| self.refused(called, reason, all);
        let Some(tool) = self.names.named(written) else {
            // `<tool_call> and </tool_call>` in a sentence.
            let has_none = matches!(body, Body::Nothing(_))
                || matches!(body, Body::Tags(tags) if tags.params.is_empty());
            let is_spoken_of = !self.alone && has_none;
            return match end.ending {
                Ending::Broken => Judged::Text(None),
                // Only a mark that closes a call shows that arguments without a name belong to one.
                Ending::Bare if called.is_none() => Judged::Text(None),
                // `<tool_call>⏎<function=`
                Ending::Cut if at == self.text.len() && called.is_none() => refused(open_end::cut(all.len())),
                _ if is_spoken_of => Judged::Text(None),
                _ if called.is_none() => refused(Reason::Shape(ShapeError::NoName(Vec::new()))),
                _ => refused(Reason::unknown_tool(written, self.names.tools())),
            };
        };
        let is_cut = match end.ending {
            Ending::Closed => false,
            Ending::Bare => self.cut || matches!(body, Body::Words(_)) && self.opener.has_text(),
            Ending::Cut => true,
            Ending::Broken => return self.broken_body(body, refused),
        };
        if is_cut {
            return refused(open_end::cut(all.len()));
        }
        let mut inferred = Vec::new();
        if end.ending == Ending::Bare && matches!(body, Body::Tags(_) | Body::Plain(_)) {
            inferred.push(RepairKind::AddEnd);
        }
        let read = match body {
            Body::Tags(walk) => self.tagged(tool, &walk.params, walk.is_doubtful),
            Body::Nothing(_) => self.attributes(tool),
            Body::Relaxed(_) => self.relaxed(tool, at, end.at).map(|(arguments, kinds)| {
                inferred = kinds;
                arguments
            }),
            Body::Plain(_) => self.plain(tool, at, end),
            Body::Block(_) => return Judged::Text(None),
            // `<tool: f>⏎Paris⏎</tool>`, `<f>Paris</f>`
            Body::Words(_) if self.opener.has_text() && self.is_text(tool, all) => {
                inferred.push(RepairKind::AddKey);
                self.plain(tool, at, end)
            }
            // Beside other text or calls, the words explain the form of a call.
            Body::Words(_) if !self.alone => return Judged::Text(None),
            Body::Words(_) => Err(Reason::Unreadable(Vec::new())),
        };
        match read {
            Ok(arguments) => {
                let Ok(tree) = strict(&arguments) else { return refused(Reason::Unreadable(Vec::new())) };
                let repairs = anew(RepairKind::SwapSyntax, all, &arguments, inferred.iter().copied());
                let verdict = self.verdict_on(tool, written, tree.root(&arguments), repairs, all);
                self.one(verdict, end.at)
            }
            Err(reason) => refused(reason),
        }
    }

    /// Judges text between marks that does not begin like a payload: a refused call if it names a tool or holds its
    /// arguments, else text.
    fn block(&self, at: usize, end: End) -> Judged {
        let text = self.text.get(..end.at).filter(|_| end.ending != Ending::Broken).unwrap_or("");
        let block = &*tag::unescaped(text.get(at..).unwrap_or(""));
        let all = Span::new(at, end.at);
        // Marks around it, or in front of the whole answer, show that it is a call.
        let is_whole = end.ending == Ending::Closed || self.alone && end.ending == Ending::Bare;
        if let Some(tool) = tool_in_lines(block, self.names) {
            return self.refused(
                Some(tool.name()),
                Reason::Shape(ShapeError::ArgumentsNotObject("string")),
                all,
            );
        }
        let leading = leading_tool(block, self.names).map(|tool| tool.name().to_owned());
        // An answer that is nothing but marks and their content is meant as a call, and so are escaped marks.
        let is_told = self.alone && end.ending == Ending::Closed
            || self.opener.start == at
            || leading.is_some()
            || self.is_spelt_call(all)
            || is_whole && self.has_parameter(block);
        if !self.opener.is_distinct() || !is_told {
            return Judged::Text(None);
        }
        let name = leading.or_else(|| self.named_in(block));
        self.refused(name.as_deref(), Reason::Unreadable(Vec::new()), all)
    }

    /// Judges a body in which other text stands in the place of an argument or of the call's end.
    fn broken_body(&self, body: &Body, refused: impl Fn(Reason) -> Judged) -> Judged {
        match body {
            Body::Tags(walk) if !walk.has_arguments() => Judged::Text(None),
            Body::Words(_) | Body::Block(_) => Judged::Text(None),
            Body::Tags(_) | Body::Nothing(_) | Body::Relaxed(_) | Body::Plain(_) => {
                refused(Reason::Unreadable(Vec::new()))
            }
        }
    }

    fn tagged(&self, tool: &Tool, params: &[Param], is_doubtful: bool) -> Result<String, Reason> {
        let guide = tool.schema().guide();
        let trim = self.opener.record.trim;
        let form = self.opener.formed().and_then(|record| record.form());
        let is_of_tokens = form.is_some_and(Form::is_of_tokens);
        let mut members: Vec<(&str, String)> = Vec::new();
        let mut doubtful = is_doubtful;
        let mut before: Option<&Param> = None;
        for param in params {
            let key = self.meant_key(tool, param);
            doubtful |= is_odd(tool, key);
            let place = value::place_of(guide, guide.root(), key);
            let raw = param.value.of(self.text);
            let indent = value::indent_at(self.text, param.key.start as usize);
            let content = value::content(raw, trim, indent);
            let json = value::json_of(&content, param.typing, guide, place, Some(self.fuel));
            doubtful |= !is_of_tokens && self.may_be_text(tool, key, before);
            match members.iter().find(|(known, _)| *known == key) {
                // An argument that stands twice is meant once.
                Some((_, known)) => doubtful |= *known != json,
                None => members.push((key, json)),
            }
            before = Some(param);
        }
        let arguments = object_of(&members);
        if doubtful {
            return Err(Reason::Ambiguous { readings: vec![arguments] });
        }
        Ok(arguments)
    }

    /// Reads the arguments in the tag that names the tool: `<f a="x"/>`, `<invoke name="f" a="x"/>`. One with an entity in
    /// it has two readings.
    fn attributes(&self, tool: &Tool) -> Result<String, Reason> {
        let name = self.opener.item.name.unwrap_or_default();
        let from = self.text.get(..name.start as usize).and_then(|before| before.rfind('<'));
        let tag = from.and_then(|from| tag_at(self.text, from).ok().flatten());
        // `<|open|>call tool="f" idex="1"<|sep|>`: a slip in an attribute of the call's own is no argument.
        let is_of_token = |tag: &Tag| tag.at.of(self.text)[1..].starts_with(['|', '｜']);
        let tag = tag.filter(|tag| name.end < tag.at.end && !is_of_token(tag));
        let attributes = tag.iter().flat_map(|tag| tag::attributes_of(self.text, tag));
        let is_argument = |own: &Attribute| own.value != name && !keys::is_companion(own.name.of(self.text));
        let param = |own: Attribute| Param { key: own.name, value: own.value, typing: Typing::Schema };
        let params: Vec<Param> = attributes.filter(is_argument).map(param).collect();
        let is_escaped = |raw: &str| tag::unescaped(raw) != raw;
        self.tagged(tool, &params, params.iter().any(|param| is_escaped(param.value.of(self.text))))
    }

    /// Returns the key that `param` means, which may be the escaped text of a declared one: `key="a&amp;b"`.
    fn meant_key<'k>(&'k self, tool: &'k Tool, param: &Param) -> &'k str {
        let written = param.key.of(self.text);
        if !written.contains('&') || tool.declares(written) {
            return written;
        }
        let meant = tag::unescaped(written);
        tool.parameters().find(|name| *name == meant).unwrap_or(written)
    }

    /// Returns whether the argument `key` may be a piece of the text `before` it: the schema does not declare such a
    /// key, but takes it.
    fn may_be_text(&self, tool: &Tool, key: &str, before: Option<&Param>) -> bool {
        let guide = tool.schema().guide();
        let Some(before) = before else { return false };
        let is_named = |key: &str| guide.names(guide.root()).any(|name| name == key);
        let is_odd = matches!(guide.member(guide.root(), key), Member::Open(_))
            && !is_named(key)
            && !guide.expects_others(guide.root());
        let takes_text = |key: &str| {
            let place = value::place_of(guide, guide.root(), key);
            place.is_some_and(|place| guide.kinds(place).meets(Kinds::STRING))
        };
        let is_alike = || guide.names(guide.root()).any(|name| fold(name) == fold(key));
        let written = before.key.of(self.text);
        is_odd && is_named(written) && takes_text(written) && !is_alike()
    }

    /// Returns whether the words between the marks around the arguments of `tool` may be its only one. Other elements than
    /// those of the call show none.
    fn is_text(&self, tool: &Tool, at: Span) -> bool {
        let text = at.of(self.text).trim_start();
        let is_element = text.starts_with('<') || text.contains("</");
        self.opener.record.name_at != NameAt::Tag || tool.only_parameter().is_some() && !is_element
    }

    /// Reads one text as the value of the only argument that the tool requires, or has.
    fn plain(&self, tool: &Tool, at: usize, end: End) -> Result<String, Reason> {
        let guide = tool.schema().guide();
        let text = self.text.get(at..end.at).unwrap_or("");
        if text.trim().is_empty() && end.ending == Ending::Closed {
            return Ok("{}".to_owned());
        }
        let Some(key) = tool.only_parameter().filter(|_| !text.trim().is_empty()) else {
            return Err(Reason::Unreadable(Vec::new()));
        };
        if let Some(arguments) = shape::declared_object(text, tool) {
            return Ok(arguments);
        }
        let place = value::place_of(guide, guide.root(), key);
        let arguments = |text: &str| {
            let json = value::json_of(text, Typing::Schema, guide, place, Some(self.fuel));
            value::object_of([(key, json)].into_iter())
        };
        let holds_key = |text: &str| {
            let is_in = |key: &str| text.contains(&format!("\"{key}\":"));
            !text.trim_start().starts_with('{') && guide.names(guide.root()).any(is_in)
        };
        match plain::said(text, end.ending == Ending::Closed, tool.name(), guide.names(guide.root())) {
            // `/"path": "README"}`: an object whose first sign is wrong.
            Ok(text) if holds_key(text) => Err(Reason::Unreadable(Vec::new())),
            // Between marks, quotes and blanks belong to the text.
            Ok(_) if self.opener.has_text() && !text.trim_start().starts_with("```") => {
                Ok(arguments(&value::content(text, Trim::LineBreak, None)))
            }
            Ok(text) => Ok(arguments(text)),
            Err(texts) => Err(Reason::Ambiguous { readings: texts.into_iter().map(arguments).collect() }),
        }
    }

    /// Returns the arguments in the relaxed object from `at` to `end`, and the inferences that reading them took.
    fn relaxed(&self, tool: &Tool, at: usize, end: usize) -> Result<(String, Vec<RepairKind>), Reason> {
        let mark = self.opener.record.string_mark();
        let text = self.text.get(at..end).unwrap_or("");
        let unreadable = || Reason::Unreadable(Vec::new());
        let spelt = relaxed::json_like(text, mark).ok_or_else(unreadable)?;
        let read = payload::read(Start::Value, &spelt.json, 0, tool.schema().guide(), self.options(false));
        let Some(reading) = payload::settled_object(&read.parse) else {
            return Err(unread(&read.parse, Vec::new()));
        };
        let inferred: Vec<RepairKind> = callwright_json::tally(&reading.repairs)
            .into_iter()
            .map(|(kind, _)| kind)
            .filter(|kind| kind.class() == Class::Inferred)
            .chain(spelt.lacks_mark.then_some(RepairKind::AddQuote))
            .collect();
        // Between marks, a text needs no escaped quote.
        if !spelt.has_quotes && inferred.contains(&RepairKind::EscapeQuote) {
            return Err(unreadable());
        }
        // `{city:Paris]<tool_call|>`: the bracket may belong to the text.
        let is_odd = |kind: &RepairKind| matches!(kind, RepairKind::SwapBracket | RepairKind::DropCloser);
        if !text.ends_with(['}', ')']) && inferred.iter().any(is_odd) {
            return Err(unreadable());
        }
        Ok((reading.value().raw().to_owned(), inferred))
    }
}

/// Returns the declared tool that `block` calls in lines of YAML, which is not a form of a call:
/// `- tool: f⏎  arguments:`, `f:⏎  a: x`.
fn tool_in_lines<'n>(block: &str, names: &'n Names<'_>) -> Option<&'n Tool> {
    let mut lines =
        block.lines().filter_map(|line| line.trim_start_matches(['-', ' ']).trim_end().split_once(':'));
    // `tool_calls:⏎  - tool: f`
    let (key, value) = lines.find(|(key, value)| !value.is_empty() || !keys::WRAPPERS.contains(key))?;
    match lines.next() {
        _ if value.is_empty() => names.resolve(key),
        Some((next, _)) if keys::NAME.contains(&key) && keys::ARGUMENTS.contains(&next) => {
            names.resolve(value.trim().trim_matches(['"', '\'']))
        }
        _ => None,
    }
}

/// Returns whether `key` is a parameter's name in other case, or with signs beside it: `"path`.
fn is_odd(tool: &Tool, key: &str) -> bool {
    let word = key.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    !tool.declares(key) && tool.parameters().any(|name| name.eq_ignore_ascii_case(word))
}

/// Writes an object with these members: `{"a": 1}`.
fn object_of(members: &[(&str, String)]) -> String {
    value::object_of(members.iter().map(|(key, json)| (*key, json)))
}

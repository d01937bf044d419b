//! The call that is being written: what is certain of it before its verdict.

use callwright_json::{AnyValue, Growing, Guide as _, Kind, Kinds, Partial, Value, quote};

use super::call::{Call, Stage};
use super::event::PartialCall;
use super::judge::body::Body;
use super::opener::{Opener, Sort};
use super::{Scanner, State};
use crate::payload::tagged::Tags;
use crate::payload::value::{self, place_of};
use crate::shape::keys;
use crate::syntax::Typing;
use crate::tools::Tool;
use crate::tools::names::Names;

impl Scanner<'_> {
    /// Returns what is certain of the call that is being written, once its name is: of the last native call, or of the
    /// call in the text. There is none between calls, and no longer one when its verdict is told.
    ///
    /// The arguments of a call that is accepted in the end only add to it. The call may still be refused, or turn out to
    /// be quoted: nothing of it may run.
    ///
    /// ```
    /// use callwright::{Context, Delta, Scanner, ToolSet};
    ///
    /// let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]"#)?;
    /// let mut scanner = Scanner::new(&tools, &Context::default());
    /// scanner.feed(Delta::Text("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"hel"), &mut Vec::new());
    /// let call = scanner.partial().unwrap();
    /// assert_eq!((call.name.as_str(), call.arguments.text()), ("f", r#"{"a":"hel"}"#));
    /// # Ok::<(), callwright::ToolSetError>(())
    /// ```
    pub fn partial(&mut self) -> Option<PartialCall> {
        let Scanner { names, text, state, preview, .. } = self;
        match state {
            State::Call(call) if call.opener.is_distinct() => preview.of(call, text, names),
            _ => self.native.partial(names),
        }
    }
}

/// The call in the text as [`Scanner::partial`] has read it. It is empty as long as nobody asks.
#[derive(Debug, Default)]
pub(super) struct Preview {
    /// The beginning of the payload that is read.
    at: usize,
    growing: Growing,
    /// The place of the arguments in a payload that holds the name, too, and the arguments.
    arguments_at: Option<usize>,
    arguments: Growing,
    /// Arguments in tags, written as JSON.
    written: String,
    /// The number of them that are written.
    n_params: usize,
    /// The part of the open argument that is written.
    open: String,
}

impl Preview {
    fn of(&mut self, call: &Call, text: &str, names: &Names<'_>) -> Option<PartialCall> {
        let Call { opener, stage, .. } = call;
        if self.at != opener.item.at {
            *self = Preview { at: opener.item.at, ..Preview::default() };
        }
        let payload = text.get(self.at..)?;
        let named = || names.named(opener.name(text)?);
        match (opener.item.sort, stage) {
            (Sort::Tagged, Stage::Body(Body::Tags(tags))) => {
                let tool = named()?;
                self.write(tags, opener, text, tool);
                self.growing.advance(&self.written, tool.schema().guide());
                Some(PartialCall::new(None, tool, self.growing.partial()))
            }
            (Sort::Named, _) => {
                let tool = named()?;
                self.growing.advance(payload, tool.schema().guide());
                Some(PartialCall::new(None, tool, self.growing.partial()))
            }
            (Sort::Value, _) => {
                self.growing.advance(payload, &AnyValue);
                let partial = self.growing.partial();
                let (tool, arguments, depth) = parts(partial.value()?, names)?;
                let guide = tool.schema().guide();
                self.arguments_at = self.growing.opened_at(depth).or(self.arguments_at);
                let arguments = match self.arguments_at.and_then(|at| payload.get(at..)) {
                    Some(written) => {
                        self.arguments.advance(written, guide);
                        self.arguments.partial()
                    }
                    // They came in one piece. The brackets that close what is certain are not the model's.
                    None => {
                        let open = partial.text().len() - partial.closers();
                        let span = arguments.span().range();
                        let written = partial.text().get(span.start..span.end.min(open)).unwrap_or("");
                        Partial::of(written, guide)
                    }
                };
                Some(PartialCall::new(None, tool, arguments))
            }
            _ => None,
        }
    }

    /// Writes the arguments of `tags` as JSON, as far as they are certain: whole ones of any type, and the text of the
    /// open one.
    fn write(&mut self, tags: &Tags, opener: &Opener, text: &str, tool: &Tool) {
        let guide = tool.schema().guide();
        let Some(record) = opener.formed() else { return };
        if self.written.is_empty() {
            self.written.push('{');
        }
        let mark = record.form().map_or('<', |form| form.argument_close.first());
        for param in tags.params.get(self.n_params..).unwrap_or(&[]) {
            let raw = param.value.of(text);
            let content = value::content(raw, record.trim, value::indent_at(text, param.key.start as usize));
            let place = place_of(guide, guide.root(), param.key.of(text));
            let json = value::json_of(&content, param.typing, guide, place, None);
            if self.open.is_empty() {
                self.begin(param.key.of(text));
            }
            let rest = json.strip_prefix(&*self.open);
            // A closer with a slip may stand in it, and what is written already is not taken back.
            match rest.filter(|_| !raw.contains(['<', '＜', mark]) && !raw.trim_start().starts_with('>')) {
                Some(rest) => self.written.push_str(rest),
                None => self.written.push_str(if self.open.is_empty() { "!" } else { "\"!" }),
            }
            self.open.clear();
            self.n_params += 1;
        }
        let Some((key, typing, from)) = tags.open_value() else { return };
        let place = place_of(guide, guide.root(), key.of(text));
        let is_text =
            place.is_some_and(|place| guide.kinds(place) == Kinds::STRING) && typing != Typing::Json;
        // The first line break, the margin and the last blanks may be the markup's. Behind a sign with which a mark
        // begins, any more may be.
        let raw = text.get(from..).unwrap_or("");
        let sure = raw.split(['<', '＜', '>', mark]).next().unwrap_or("");
        let sure = without_torn(sure, record.form().map_or("", |form| &form.argument_close)).trim_end();
        if !is_text || sure.is_empty() || sure.starts_with(char::is_whitespace) {
            return;
        }
        if self.open.is_empty() {
            self.begin(key.of(text));
        }
        let json = quote(sure);
        let json = json.strip_suffix('"').unwrap_or(&json);
        if let Some(rest) = json.strip_prefix(&*self.open) {
            self.written.push_str(rest);
            self.open.push_str(rest);
        }
    }

    /// Begins the argument with this key.
    fn begin(&mut self, key: &str) {
        if 1 < self.written.len() {
            self.written.push(',');
        }
        self.written.push_str(&quote(key));
        self.written.push(':');
    }
}

/// Returns the tool that the call in `value` names, its arguments, and the number of containers around them, as far as
/// both are there. Of a list it is the first call: that of the next one begins another payload.
fn parts<'v, 'n>(value: Value<'v>, names: &'n Names<'_>) -> Option<(&'n Tool, Value<'v>, usize)> {
    let (call, depth) = match value.kind() {
        Kind::Array => (value.elements().next().filter(|_| value.elements().count() == 1)?, 2),
        _ => (value, 1),
    };
    let function = call.get("function").filter(|inner| inner.kind() == Kind::Object);
    let (call, depth) = function.map_or((call, depth), |inner| (inner, depth + 1));
    let member = |keys: &[&str]| keys.iter().find_map(|key| call.get(key));
    let name = member(keys::NAME).and_then(Value::as_str)?;
    let arguments = member(keys::ARGUMENTS).filter(|arguments| arguments.kind() == Kind::Object)?;
    Some((names.named(&name)?, arguments, depth))
}

/// Returns `text` without the letters at its end that begin the word of `mark`, whose first signs may be lost:
/// `alphaparameter>`.
fn without_torn<'t>(text: &'t str, mark: &str) -> &'t str {
    let word: String = mark.chars().filter(|c| c.is_ascii_alphabetic() || *c == '_').collect();
    let torn = (1..=word.len()).filter(|len| word.get(..*len).is_some_and(|torn| text.ends_with(torn))).max();
    text.get(..text.len() - torn.unwrap_or(0)).unwrap_or("")
}

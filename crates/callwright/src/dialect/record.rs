//! A dialect, compiled for the scanner.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::definition::{Dialect, NameAt, Sign};
use super::own::Markup;
use super::speech::marked;
use crate::grammar::fold::solid;
use crate::grammar::{Arguments, Calls, Form, Frame};
use crate::syntax::Text;

/// A dialect, compiled.
#[derive(Debug)]
pub(crate) struct Record {
    /// The place in its set.
    pub(crate) id: u16,
    /// The place of the dialect with the same markers, or its own place.
    pub(crate) kin: u16,
    /// The markers, if the dialect is the caller's own.
    pub(crate) markup: Option<Arc<Markup>>,
    /// The marks around its calls, compiled on first use: an answer needs those of few dialects.
    written: OnceLock<Written>,
    pub(super) dialect: Dialect,
}

/// The marks that the templates of a dialect put around its calls.
#[derive(Debug)]
struct Written {
    call_tags: Vec<Vec<char>>,
    argument_tag: Option<Vec<char>>,
    form: Option<Form>,
    frames: Vec<Frame>,
}

/// Shorter beginnings of tags fit too many tags.
const LEAST_TAG: usize = 5;

impl Record {
    /// Makes the record of `dialect`, which stands at `id` of its set.
    pub(super) fn new(id: u16, kin: u16, dialect: Dialect, markup: Option<Arc<Markup>>) -> Record {
        Record { id, kin, markup, written: OnceLock::new(), dialect }
    }

    /// Returns the closers that end a broken payload. A caller's closer with place holders ends nothing.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &Text> + Clone {
        self.call.close.iter().chain(&self.section.close)
    }

    /// Returns whether the payload repeats the name: `g<|content_invoke_tool_json|>{"name": "f", …}`.
    pub(crate) fn is_named_twice(&self) -> bool {
        self.name_at == NameAt::Header && self.writes("{json_name}")
    }

    /// Returns whether its calls begin with a distinct word or label that is not a mark: `functools[`, `Action: f`.
    pub(crate) fn has_label(&self) -> bool {
        matches!(self.sign, Some(Sign::ListWord | Sign::Labels | Sign::FencedCall))
    }

    /// Returns whether the template of a call holds `text`.
    pub(crate) fn writes(&self, text: &str) -> bool {
        self.spoken().is_some_and(|calls| calls.call.contains(text))
    }

    /// Returns the text in front of all names, `functions.`, or an empty one.
    pub(crate) fn namespace(&self) -> &str {
        self.spoken().map_or("", Calls::namespace)
    }

    /// Returns the text between the name and the arguments of a call, `⏎{arguments}` → `⏎`, or an empty one.
    pub(crate) fn behind_name(&self) -> &str {
        self.spoken().map_or("", Calls::behind_name)
    }

    /// Returns the mark at both ends of a relaxed object's strings.
    pub(crate) fn string_mark(&self) -> &str {
        self.string_mark.as_deref().unwrap_or_default()
    }

    /// Returns whether `tag`, folded, opens one of its calls, as its marks are written; `<` alone tells nothing.
    pub(super) fn opens_call(&self, tag: &[char]) -> bool {
        self.written().call_tags.iter().any(|head| tag.starts_with(head))
    }

    /// Returns whether `tag`, folded, opens an argument of its calls.
    pub(crate) fn opens_argument(&self, tag: &[char]) -> bool {
        self.written().argument_tag.as_ref().is_some_and(|head| tag.starts_with(head))
    }

    /// Returns the form of its calls, if their arguments stand in marks.
    pub(crate) fn form(&self) -> Option<&Form> {
        self.written().form.as_ref()
    }

    /// Returns the marks around a payload of any other kind.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.written().frames
    }

    fn written(&self) -> &Written {
        self.written.get_or_init(|| Written::of(&self.dialect, self.markup.is_some()))
    }
}

impl Deref for Record {
    type Target = Dialect;

    fn deref(&self) -> &Dialect {
        &self.dialect
    }
}

impl Written {
    /// Compiles the templates of `dialect`, which is built in or the caller's own.
    fn of(dialect: &Dialect, is_own: bool) -> Written {
        let spoken = dialect.spoken();
        let is_tagged = dialect.arguments.is_tagged();
        let own = is_own.then(|| marked(dialect));
        let written = || dialect.calls.iter().chain(spoken).chain(&own);
        let form = if is_tagged { written().find_map(Form::of) } else { None };
        let framed = written().filter(|calls| !is_tagged || calls.arguments == Arguments::Json);
        let mut frames: Vec<Frame> = framed.filter_map(Frame::of).collect();
        // Words are marks only in a built-in dialect.
        frames.retain(|frame| !is_own || frame.before.iter().any(|before| before.contains(['<', '['])));
        let argument_tag = form.as_ref().map(|form| solid(&form.argument.head));
        let call_tags = form.iter().map(Form::call_tag).chain(frames.iter().filter_map(Frame::call_tag));
        Written {
            argument_tag: argument_tag.filter(|tag| LEAST_TAG <= tag.len()),
            call_tags: call_tags.map(solid).filter(|tag| LEAST_TAG <= tag.len()).collect(),
            form,
            frames,
        }
    }
}

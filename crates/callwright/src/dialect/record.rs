//! A dialect as the scanner sees it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::own::Markup;
use super::speech::marked;
use super::{Dialect, NameAt, Sign};
use crate::grammar::fold::solid;
use crate::grammar::{Arguments, Calls, Form, Frame};
use crate::syntax::Text;

/// A dialect, compiled.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its place in its set.
    pub(crate) id: u16,
    /// The place of the dialect whose markers it shares; its own where there is none.
    pub(crate) kin: u16,
    /// The markers of one of the caller's own.
    pub(crate) markup: Option<Arc<Markup>>,
    /// The marks around its calls, compiled when a text first asks: an answer needs those of few dialects.
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

/// Shorter beginnings of tags are those of too many.
const LEAST_TAG: usize = 5;

impl Record {
    /// The record of `dialect`, which stands at `id` of its set.
    pub(super) fn new(id: u16, kin: u16, dialect: Dialect, markup: Option<Arc<Markup>>) -> Record {
        Record { id, kin, markup, written: OnceLock::new(), dialect }
    }

    /// What ends a broken payload. In the marks of a caller's own, what has place holders ends nothing.
    pub(crate) fn closers(&self) -> impl Iterator<Item = &Text> + Clone {
        self.call.close.iter().chain(&self.section.close)
    }

    /// Whether the name stands in the payload as well: `g<|content_invoke_tool_json|>{"name": "f", …}`.
    pub(crate) fn is_named_twice(&self) -> bool {
        self.name_at == NameAt::Header && self.writes("{json_name}")
    }

    /// Whether its calls begin with a word or a label that nothing else begins with, though it is no mark: `functools[`, `Action: f`.
    pub(crate) fn has_label(&self) -> bool {
        matches!(self.sign, Some(Sign::ListWord | Sign::Labels | Sign::FencedCall))
    }

    /// Whether the template of a call holds `text`.
    pub(crate) fn writes(&self, text: &str) -> bool {
        self.spoken().is_some_and(|calls| calls.call.contains(text))
    }

    /// What it writes in front of all names: `functions.`; empty where that is nothing.
    pub(crate) fn namespace(&self) -> &str {
        self.spoken().map_or("", Calls::namespace)
    }

    /// What stands at both ends of a relaxed object's strings.
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

    /// How it writes calls whose arguments stand in marks.
    pub(crate) fn form(&self) -> Option<&Form> {
        self.written().form.as_ref()
    }

    /// What it writes around a payload of any other kind.
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
    /// Those of `dialect`, which is built in or the caller's own.
    fn of(dialect: &Dialect, is_own: bool) -> Written {
        let spoken = dialect.spoken();
        let is_tagged = dialect.arguments.is_tagged();
        let own = is_own.then(|| marked(dialect));
        let written = || dialect.calls.iter().chain(spoken).chain(&own);
        let form = if is_tagged { written().find_map(Form::of) } else { None };
        let framed = written().filter(|calls| !is_tagged || calls.arguments == Arguments::Json);
        let mut frames: Vec<Frame> = framed.filter_map(Frame::of).collect();
        // Words are marks where they are built in.
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

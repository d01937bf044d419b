//! Calls that the upstream made natively: put together from deltas, then judged like any other call. The part that is certain
//! before that may go out at once ([`Live`]); no call in the text does.

use std::collections::HashMap;

use callwright_json::{Class, Options, Parse, Reading, Repair, RepairKind, Span, read_with, strict};

use super::judge::open_end::{self, Ending};
use super::judge::{anew, unread};
use super::live::{Inside, Live};
use super::{Event, Scanner, Stop};
use crate::check::{self, Fit};
use crate::dialect::NATIVE;
use crate::engine::Context;
use crate::heal::holds_several;
use crate::payload;
use crate::policy::Admission;
use crate::shape;
use crate::tools::names::Names;
use crate::tools::{Tool, ToolSet};
use crate::verdict::{Acceptance, Reason, Refusal, ShapeError, Verdict};

/// A piece of a native call, as it comes over the wire. Each part may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallDelta<'a> {
    /// Which call of the answer it belongs to.
    pub index: Option<usize>,
    /// The call's id.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: Option<&'a str>,
    /// The next piece of the argument text.
    pub arguments: Option<&'a str>,
}

/// A native call that is being put together.
#[derive(Debug, Default)]
struct Draft {
    index: Option<usize>,
    id: Option<String>,
    name: String,
    /// Another name came when the arguments had begun: whose they are is open.
    torn: bool,
    arguments: String,
    completion: Completion,
    /// What went out before the verdict; `None` while nothing may.
    live: Option<Live>,
}

/// What ends where the arguments of a call end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The call: another one follows.
    OfCall,
    /// The answer, which may have been cut there.
    OfAnswer(Stop),
}

/// The native calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    drafts: Vec<Draft>,
    /// The last call of each index, and of each id: a stream of many calls is not searched for each of its pieces.
    by_index: HashMap<Option<usize>, usize>,
    by_id: HashMap<String, OfId>,
    /// The call that the last piece belongs to.
    last: Option<usize>,
    /// The certain part of each of them goes out before the verdict.
    is_live: bool,
}

/// The calls of one id.
#[derive(Debug)]
struct OfId {
    last: usize,
    by_index: HashMap<Option<usize>, usize>,
}

impl Drafts {
    /// For an answer without calls so far; with `is_live`, the certain part of each goes out as it grows.
    pub(crate) fn new(is_live: bool) -> Drafts {
        Drafts { is_live, ..Drafts::default() }
    }

    /// The number of the call that the last piece belongs to, counted from 0.
    pub(crate) fn last(&self) -> Option<usize> {
        self.last
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Adds a piece to the call that it belongs to.
    ///
    /// Upstreams send the index of every call as 0, or no index; repeat id and name with each piece; or send
    /// no id at all. A new id, or a second name behind complete arguments, begins a new call.
    pub(crate) fn feed(&mut self, delta: CallDelta<'_>, names: &Names<'_>, out: &mut Vec<Event>) {
        // Servers write that there is no id as a text, too.
        let id = delta.id.filter(|id| !matches!(*id, "" | "null"));
        let name = delta.name.filter(|name| !name.is_empty());
        let slot = match self.slot(delta.index, id, name) {
            Some(slot) => slot,
            None => {
                let live = self.is_live.then(Live::default);
                self.drafts.push(Draft { index: delta.index, live, ..Draft::default() });
                let slot = self.drafts.len() - 1;
                self.by_index.insert(delta.index, slot);
                slot
            }
        };
        self.last = Some(slot);
        let Some(draft) = self.drafts.get_mut(slot) else { return };
        if let (None, Some(id)) = (&draft.id, id) {
            draft.id = Some(id.to_owned());
            let of_id = self.by_id.entry(id.to_owned());
            let of_id = of_id.or_insert_with(|| OfId { last: slot, by_index: HashMap::new() });
            of_id.last = of_id.last.max(slot);
            let of_index = of_id.by_index.entry(draft.index).or_insert(slot);
            *of_index = slot.max(*of_index);
        }
        if let Some(name) = name
            && draft.name != name
        {
            draft.torn |= !draft.name.is_empty() && !draft.arguments.is_empty();
            draft.name.push_str(name);
        }
        draft.arguments.push_str(delta.arguments.unwrap_or(""));
        draft.go_out(slot, names, out);
    }

    /// Lets out what is certain of the call of this number, and from here on of what comes to it.
    pub(crate) fn stream(&mut self, slot: usize, names: &Names<'_>, out: &mut Vec<Event>) {
        if let Some(draft) = self.drafts.get_mut(slot) {
            draft.live.get_or_insert_default();
            draft.go_out(slot, names, out);
        }
    }

    fn slot(&mut self, index: Option<usize>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        // One id for two calls that have numbers of their own: the numbers count.
        let same = id.and_then(|id| self.by_id.get(id)).and_then(|of_id| match index {
            None => Some(of_id.last),
            Some(_) => [index, None].iter().filter_map(|index| of_id.by_index.get(index)).max().copied(),
        });
        if same.is_some() {
            return same;
        }
        let slot = match index {
            Some(_) => *self.by_index.get(&index)?,
            None => self.drafts.len().checked_sub(1)?,
        };
        let draft = self.drafts.get_mut(slot)?;
        let other_id = id.is_some() && draft.id.is_some();
        // Arguments that came before their name have none yet.
        let has_name = !draft.name.is_empty();
        let other_call =
            name.is_some() && has_name && id.is_none() && draft.completion.is_reached(&draft.arguments);
        (!other_id && !other_call).then_some(slot)
    }

    /// The verdicts, in order, of an answer that ends like this.
    pub(crate) fn judge(
        &self,
        names: &Names<'_>,
        admission: Admission,
        stop: Stop,
        before: usize,
    ) -> Vec<Verdict> {
        let last = self.drafts.len().saturating_sub(1);
        let judge = |(n, draft): (usize, &Draft)| {
            let end = if n == last { End::OfAnswer(stop) } else { End::OfCall };
            draft.judge(names, admission, end, before + n + 1)
        };
        self.drafts.iter().enumerate().map(judge).collect()
    }
}

impl Draft {
    /// Lets out what is certain, where that may go out and the name is a declared one.
    fn go_out(&mut self, call: usize, names: &Names<'_>, out: &mut Vec<Event>) {
        let Some(live) = self.live.as_mut().filter(|_| !self.torn) else { return };
        let Some(tool) = names.tools().get(&self.name) else { return };
        let is_first = live.sent(&self.arguments).is_empty();
        let Some(piece) = live.advance(tool, &self.arguments) else { return };
        if is_first {
            out.push(Event::CallStarted { call, id: self.id.clone(), name: self.name.clone() });
        }
        out.push(Event::CallArguments { call, piece: piece.to_owned() });
    }

    /// What went out of the arguments before the verdict.
    fn sent(&self) -> &str {
        self.live.as_ref().map_or("", |live| live.sent(&self.arguments))
    }

    fn judge(&self, names: &Names<'_>, admission: Admission, end: End, number: usize) -> Verdict {
        match self.accept(names, admission, end) {
            Ok(call) => Verdict::Accepted(call),
            Err(reason) => Verdict::Refused(Refusal {
                id: self.id.clone(),
                name: Some(self.name.clone()).filter(|name| !name.is_empty()),
                dialect: NATIVE.into(),
                number,
                span: Span::new(0, self.arguments.len()),
                block: self.arguments.clone(),
                reason,
            }),
        }
    }

    fn accept(&self, names: &Names<'_>, admission: Admission, end: End) -> Result<Acceptance, Reason> {
        let tool = names.resolve(&self.name).filter(|_| !self.torn);
        let tool = tool.ok_or_else(|| names.unknown(&self.name))?;
        let stop = match end {
            _ if is_going_on(&self.arguments) => Stop::Cut,
            End::OfAnswer(stop) => stop,
            End::OfCall => Stop::Ended,
        };
        let Read { arguments, repairs, ending } = self.arguments(tool, names, stop)?;
        let Fit { arguments, coercions, is_whole } = check::fit(tool, &arguments).map_err(Reason::Invalid)?;
        let ending = if end == End::OfCall { Ending::Whole } else { ending };
        if ending == Ending::Cut {
            return Err(open_end::cut(self.arguments.len()));
        }
        // What went out is not taken back, whatever else the text turned out to be.
        if !arguments.starts_with(self.sent()) {
            return Err(Reason::Unreadable(Vec::new()));
        }
        let call = Acceptance {
            id: self.id.clone(),
            name: tool.name().to_owned(),
            arguments,
            dialect: NATIVE.into(),
            span: Span::new(0, self.arguments.len()),
            repairs,
            renamed_from: (self.name != tool.name()).then(|| self.name.clone()),
            coercions,
            beside_prose: None,
            unsure: false,
            is_apart: false,
            open_end: ending == Ending::Open,
            unchecked: !is_whole,
        };
        admission.objection(&call, names).map_or(Ok(call), Err)
    }

    /// The arguments as the strict JSON text of an object.
    fn arguments(&self, tool: &Tool, names: &Names<'_>, stop: Stop) -> Result<Read, Reason> {
        let cut = stop.is_cut();
        let text = self.arguments.as_str();
        let read = |arguments: &str, repairs: &[Repair]| Read {
            arguments: arguments.to_owned(),
            repairs: repairs.to_vec(),
            ending: open_end::ending(tool, arguments, (text, 0), repairs, (0, stop)),
        };
        let guide = tool.schema().guide();
        // Many servers send nothing where a tool is called without arguments. Where the answer was cut, they may be what is lost.
        if text.trim().is_empty() {
            let may_be_lost = cut || !stop.is_ended() && check::fit(tool, "{}").is_ok();
            return match may_be_lost && open_end::is_open_object(tool, "{}") {
                true => Err(open_end::cut(text.len())),
                false => Ok(read("{}", &[])),
            };
        }
        let options = Options { cut, ..Options::default() };
        // Python source: `f(a=1)`.
        let paren = text.find('(').unwrap_or(0);
        if text.get(..paren).is_some_and(|name| name.trim() == self.name || name.trim() == tool.name()) {
            let payload = payload::read_arguments_at(text, paren, guide, options);
            // `f(a=1), f(a=2)` is more than one call.
            let is_all = text.get(payload.end..).is_some_and(payload::are_signs);
            if let Some(reading) = payload::settled_object(&payload.parse).filter(|_| is_all) {
                let read = read(reading.value().raw(), &reading.repairs);
                return Ok(read.anew(RepairKind::SwapSyntax, text));
            }
        }
        let parse = read_with(text, guide, &options);
        let Some(reading) = settled(&parse, tool) else {
            let (arguments, is_whole) = in_markup(text, tool, names.tools())
                .filter(|_| !cut)
                .ok_or_else(|| unread(&parse, parse.diagnostics.clone()))?;
            let end = Repair { kind: RepairKind::AddEnd, at: Span::at(text.len()), put: "".into() };
            let repairs = if is_whole { &[] } else { std::slice::from_ref(&end) };
            let read = read(&arguments, repairs);
            // The frame that the server took away ended it, if the model ended the answer.
            let ending = match read.ending {
                Ending::Cut if stop.is_ended() => Ending::Open,
                ending => ending,
            };
            return Ok(Read { ending, ..read }.anew(RepairKind::SwapSyntax, text));
        };
        let value = reading.value();
        // `"{\"a\": 1}"`
        if let Some(inner) = value.as_str() {
            let outer = &reading.repairs;
            let parse = read_with(&inner, guide, &options);
            let reading = payload::settled_object(&parse)
                .ok_or(Reason::Shape(ShapeError::ArgumentsNotObject("string")))?;
            let (arguments, repairs) = (reading.value().raw(), &reading.repairs);
            let ending = open_end::ending(tool, arguments, (&inner, 0), repairs, (0, stop));
            let repairs = outer.iter().chain(repairs).cloned().collect();
            return Ok(
                Read { arguments: arguments.to_owned(), repairs, ending }.anew(RepairKind::Unwrap, text)
            );
        }
        let value = shape::without_wrapper(value, tool);
        match value.raw().starts_with('{') {
            true => Ok(read(value.raw(), &reading.repairs)),
            false if value.raw() == "null" => Ok(read("{}", &[])),
            false => Err(Reason::Shape(ShapeError::ArgumentsNotObject(value.kind().name()))),
        }
    }
}

/// The arguments of a call, and how they were read.
struct Read {
    arguments: String,
    repairs: Vec<Repair>,
    ending: Ending,
}

impl Read {
    /// The arguments in the place of all of `text`: a repair of `kind`, beside which what was inferred changes nothing more.
    fn anew(self, kind: RepairKind, text: &str) -> Read {
        let kinds = self.repairs.iter().map(|repair| repair.kind);
        let inferred = kinds.filter(|kind| kind.class() == Class::Inferred);
        let repairs = anew(kind, Span::new(0, text.len()), &self.arguments, inferred);
        Read { repairs, ..self }
    }
}

/// Whether a text that grows is a whole strict JSON value, asked now and then without reading it again each time.
#[derive(Debug, Default)]
struct Completion {
    /// The text was looked at up to here.
    at: usize,
    inside: Inside,
    /// It is no strict JSON, whatever may follow.
    never: bool,
}

/// The longest text of a value without brackets and quotes that is looked at: `null`, a number.
const MAX_WORD: usize = 32;

impl Completion {
    fn is_reached(&mut self, text: &str) -> bool {
        let is_enclosed = text.trim_start().starts_with(['{', '[', '"']);
        if !is_enclosed {
            return text.len() <= MAX_WORD && strict(text).is_ok();
        }
        while let Some(&byte) = text.as_bytes().get(self.at) {
            self.at += self.inside.step(byte).unwrap_or(1);
        }
        if self.never || !self.inside.is_outermost() {
            return false;
        }
        // A value that has ended and is not strict is not made so by more text.
        self.never = strict(text).is_err();
        !self.never
    }
}

/// Does a text end where something was to follow: `{"a": 1,`? Servers say `tool_calls` of broken-off calls as well, and
/// a model that forgets a bracket does not begin another member first.
fn is_going_on(text: &str) -> bool {
    text.trim_end().ends_with([',', ':', '[', '{'])
}

/// The arguments in what a server left of a dialect, `<parameter=a>x</parameter>`, or in a whole call of `tool`; and whether it is
/// whole.
fn in_markup(text: &str, tool: &Tool, tool_set: &ToolSet) -> Option<(String, bool)> {
    let text = text.trim();
    let body = text.starts_with('<').then(|| format!("<function={}>{text}</function>", tool.name()))?;
    [(text, true), (&body, false)].into_iter().find_map(|(text, is_whole)| {
        let outcome = Scanner::new(tool_set, &Context::default()).read(text);
        match outcome.verdicts.as_slice() {
            [Verdict::Accepted(call)] if call.name == tool.name() && outcome.text.is_empty() => {
                Some((call.arguments.clone(), is_whole))
            }
            _ => None,
        }
    })
}

/// The only reading, or the only one of several of one value that fits the schema.
fn settled<'p, 't>(parse: &'p Parse<'t>, tool: &Tool) -> Option<&'p Reading<'t>> {
    parse.settled().or_else(|| {
        if holds_several(parse) {
            return None;
        }
        let mut fitting = parse.readings.iter().filter(|r| check::fit(tool, r.value().raw()).is_ok());
        fitting.next().filter(|_| fitting.next().is_none())
    })
}

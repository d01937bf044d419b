//! The verdicts on calls that the upstream made natively.

use callwright_json::{Class, Options, Parse, Reading, Repair, RepairKind, Span, Start, read_with, strict};

use super::drafts::Draft;
use super::judge::open_end::{self, Ending};
use super::judge::{anew, unread};
use super::{Event, Scanner};
use crate::check::{self, Fit};
use crate::context::{Context, Stop};
use crate::payload::{self, holds_several};
use crate::policy::Admission;
use crate::shape::{self, keys};
use crate::tools::names::Names;
use crate::tools::{Tool, ToolSet};
use crate::verdict::{Acceptance, NATIVE, Reason, Refusal, ShapeError, Verdict};

/// The part of an answer that ends with the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The call: another one follows.
    OfCall,
    /// The answer, which may have been cut there.
    OfAnswer(Stop),
}

impl Scanner<'_> {
    /// Judges the native calls, in their order, behind those of the text.
    pub(super) fn judge_native(&mut self, out: &mut Vec<Event>) {
        let (stop, before) = (self.rules.stop_of_payload(), self.outcome.verdicts.len());
        let last = self.native.iter().len().saturating_sub(1);
        let judge = |(n, draft): (usize, &Draft)| {
            let end = if n == last { End::OfAnswer(stop) } else { End::OfCall };
            draft.judge(&self.names, self.rules.admission, end, before + n + 1)
        };
        let verdicts: Vec<Verdict> = self.native.iter().enumerate().map(judge).collect();
        for verdict in verdicts {
            self.judged(verdict, out);
        }
    }
}

impl Draft {
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
        let Some(tool) = names.named(&self.name).filter(|_| !self.torn) else {
            return self.accept_inside(names, admission, end);
        };
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
        // Text that went out is not taken back, whatever else the arguments turned out to be.
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

    /// Accepts the whole call that stands in the arguments of a call whose name is missing, or is a part of a call:
    /// `function`.
    fn accept_inside(&self, names: &Names<'_>, admission: Admission, end: End) -> Result<Acceptance, Reason> {
        let unknown = || Reason::unknown_tool(&self.name, names.tools());
        let inner = self.whole_call(names).ok_or_else(unknown)?;
        let call = inner.accept(names, admission, end)?;
        let all = Span::new(0, self.arguments.len());
        let repairs = anew(RepairKind::Unwrap, all, &call.arguments, None);
        Ok(Acceptance { span: all, repairs, renamed_from: Some(self.name.clone()), ..call })
    }

    /// Returns the whole call that stands in the arguments, if no tool is named beside them.
    fn whole_call(&self, names: &Names<'_>) -> Option<Draft> {
        if self.torn || !self.name.trim().is_empty() && !keys::is_of_call(&self.name) {
            return None;
        }
        let tree = strict(&self.arguments).ok()?;
        let call = tree.root(&self.arguments);
        let tool = names.named(&shape::name_of(call)?)?;
        let mut draft = Draft::default();
        draft.id.clone_from(&self.id);
        draft.name = tool.name().to_owned();
        draft.arguments = shape::in_whole_call(call, tool)?.raw().to_owned();
        Some(draft)
    }

    /// Returns the arguments as the strict JSON text of an object.
    fn arguments(&self, tool: &Tool, names: &Names<'_>, stop: Stop) -> Result<Read, Reason> {
        let cut = stop.is_cut();
        let text = self.arguments.as_str();
        let read = |arguments: &str, repairs: &[Repair]| Read {
            arguments: arguments.to_owned(),
            repairs: repairs.to_vec(),
            ending: open_end::ending(tool, arguments, (text, 0), repairs, (0, stop)),
        };
        let guide = tool.schema().guide();
        // Many servers send nothing for a call without arguments. In a cut answer, the arguments may be the lost part.
        if text.trim().is_empty() {
            let may_be_lost = cut || !stop.is_ended() && check::fit(tool, "{}").is_ok();
            return match may_be_lost && open_end::is_open_object(tool, "{}") {
                true => Err(open_end::cut(text.len())),
                false => Ok(read("{}", &[])),
            };
        }
        let options = Options { cut, ended: stop == Stop::Sure, ..Options::default() };
        // Python source: `f(a=1)`.
        let paren = text.find('(').unwrap_or(0);
        if text.get(..paren).is_some_and(|name| name.trim() == self.name || name.trim() == tool.name()) {
            let payload = payload::read(Start::Arguments, text, paren, guide, options);
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
            // If the model ended the answer, the frame that the server took away ended the call.
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
        match value.raw().starts_with('{') {
            true => Ok(read(value.raw(), &reading.repairs)),
            false if value.raw() == "null" => Ok(read("{}", &[])),
            false => Err(Reason::Shape(ShapeError::ArgumentsNotObject(value.kind().name()))),
        }
    }
}

/// The arguments of a call, with the repairs and the ending of their reading.
struct Read {
    arguments: String,
    repairs: Vec<Repair>,
    ending: Ending,
}

impl Read {
    /// Makes the repair one of `kind` that puts the arguments in the place of all of `text`. The inferred repairs stay,
    /// and change nothing more.
    fn anew(self, kind: RepairKind, text: &str) -> Read {
        let kinds = self.repairs.iter().map(|repair| repair.kind);
        let inferred = kinds.filter(|kind| kind.class() == Class::Inferred);
        let repairs = anew(kind, Span::new(0, text.len()), &self.arguments, inferred);
        Read { repairs, ..self }
    }
}

/// Returns whether a text ends where more was to follow: `{"a": 1,`. Servers say `tool_calls` of broken-off calls as
/// well, and a model that forgets a bracket does not begin another member first.
fn is_going_on(text: &str) -> bool {
    text.trim_end().ends_with([',', ':', '[', '{'])
}

/// Returns the arguments in a whole call of `tool`, or in the rest that a server left of one:
/// `<parameter=a>x</parameter>`. The flag says whether the call is whole.
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

/// Returns the only reading, or the only one that fits the schema among several of one value.
fn settled<'p, 't>(parse: &'p Parse<'t>, tool: &Tool) -> Option<&'p Reading<'t>> {
    parse.settled().or_else(|| {
        if holds_several(parse) {
            return None;
        }
        let mut fitting = parse.readings.iter().filter(|r| check::fit(tool, r.value().raw()).is_ok());
        fitting.next().filter(|_| fitting.next().is_none())
    })
}

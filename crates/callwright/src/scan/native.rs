//! The verdicts on calls that the upstream made natively.

use callwright_json::{Class, Kind, Options, Parse, Reading, Repair, RepairKind, Span, read_with, strict};

use super::drafts::Draft;
use super::judge::open_end::{self, Ending};
use super::judge::{anew, unread};
use super::{Event, Scanner};
use crate::check::{self, Fit};
use crate::context::{Context, Stop};
use crate::payload::{self, holds_several};
use crate::policy::Admission;
use crate::shape::keys;
use crate::tools::Tool;
use crate::tools::names::Names;
use crate::verdict::{Acceptance, NATIVE, Reason, Refusal, ShapeError, Verdict};

impl Scanner<'_> {
    /// Judges the native calls, in their order, behind those of the text.
    pub(super) fn judge_native(&mut self, out: &mut Vec<Event>) {
        let (stop, last) = (self.rules.stop_of_payload(), self.native.iter().len().saturating_sub(1));
        let judge = |(n, draft): (usize, &Draft)| {
            draft.judge(&self.names, self.rules.admission, (n == last).then_some(stop))
        };
        let verdicts: Vec<Verdict> = self.native.iter().enumerate().map(judge).collect();
        for verdict in verdicts {
            self.judged(verdict, out);
        }
    }
}

impl Draft {
    /// Judges the call. The last one stands where the answer `ends`, and may have been cut there.
    fn judge(&self, names: &Names<'_>, admission: Admission, ends: Option<Stop>) -> Verdict {
        match self.accept(names, admission, ends) {
            Ok(call) => Verdict::Accepted(call),
            Err(reason) => Verdict::Refused(Refusal {
                id: self.id.clone(),
                name: Some(self.name.clone()).filter(|name| !name.is_empty()),
                dialect: NATIVE.into(),
                number: 0,
                span: Span::new(0, self.arguments.len()),
                block: self.arguments.clone(),
                reason,
            }),
        }
    }

    /// Returns the call with its arguments as they are read, if they fit.
    fn accept(
        &self,
        names: &Names<'_>,
        admission: Admission,
        ends: Option<Stop>,
    ) -> Result<Acceptance, Reason> {
        let tool = names.named(&self.name).filter(|_| !self.torn);
        let stop = if is_going_on(&self.arguments) { Stop::Cut } else { ends.unwrap_or(Stop::Ended) };
        let may_hold_call = !self.torn && (self.name.trim().is_empty() || keys::is_of_call(&self.name));
        let Read { name, fit, repairs, ending } = match tool {
            Some(tool) => self.read(tool, names, stop)?,
            None => {
                let is_json = may_hold_call && strict(&self.arguments).is_ok();
                let read = if is_json { in_text(&self.arguments, None, names, stop) } else { None };
                read.ok_or_else(|| Reason::unknown_tool(&self.name, names.tools()))?
            }
        };
        let Fit { arguments, coercions, is_whole } = fit;
        if ends.is_some() && ending == Ending::Cut {
            return Err(open_end::cut(self.arguments.len()));
        }
        // Text that went out is not taken back, whatever else the arguments turned out to be.
        if !arguments.starts_with(self.sent()) {
            return Err(Reason::Unreadable(Vec::new()));
        }
        let call = Acceptance {
            id: self.id.clone(),
            renamed_from: (self.name != name).then(|| self.name.clone()),
            name,
            arguments,
            dialect: NATIVE.into(),
            span: Span::new(0, self.arguments.len()),
            repairs,
            coercions,
            beside_prose: None,
            unsure: false,
            is_apart: false,
            open_end: ends.is_some() && ending == Ending::Open,
            unchecked: !is_whole,
        };
        admission.objection(&call, names).map_or(Ok(call), Err)
    }

    /// Reads the arguments for `tool`: JSON, or the text of a call.
    fn read(&self, tool: &Tool, names: &Names<'_>, stop: Stop) -> Result<Read, Reason> {
        let text = self.arguments.as_str();
        let guide = tool.schema().guide();
        // Many servers send nothing for a call without arguments. In a cut answer, the arguments may be the lost part.
        if text.trim().is_empty() {
            let may_be_lost = stop.is_cut() || !stop.is_ended() && check::fit(tool, "{}").is_ok();
            return match may_be_lost && open_end::is_open_object(tool, "{}") {
                true => Err(open_end::cut(text.len())),
                false => Read::of(tool, "{}", Vec::new(), Ending::Whole),
            };
        }
        // `f(a=1)`, but not `f(a=1), f(a=2)`
        let called = text.split_once('(').map_or("", |(name, _)| name.trim());
        if !called.is_empty() && (called == self.name || called == tool.name()) {
            return in_text(text, Some(tool), names, stop).ok_or(match stop.is_cut() {
                true => open_end::cut(text.len()),
                false => Reason::Unreadable(Vec::new()),
            });
        }
        let options = Options { cut: stop.is_cut(), ended: stop == Stop::Sure, ..Options::default() };
        let parse = read_with(text, guide, &options);
        let Some(reading) = settled(&parse, tool) else {
            let is_marked = text.trim_start().starts_with('<') && !stop.is_cut();
            let read = if is_marked { in_text(text, Some(tool), names, stop) } else { None };
            return read.ok_or_else(|| unread(&parse, parse.diagnostics.clone()));
        };
        // `"{\"a\": 1}"`
        let inner = reading.value().as_str();
        let inside = inner.as_deref().map(|inner| read_with(inner, guide, &options));
        let (source, read) = match (&inner, &inside) {
            (Some(inner), Some(parse)) => (&**inner, payload::settled_object(parse)),
            _ => (text, Some(reading)),
        };
        let value = read.unwrap_or(reading).value();
        let arguments = if value.kind() == Kind::Null { "{}" } else { value.raw() };
        let Some(read) = read.filter(|_| arguments.starts_with('{')) else {
            return Err(Reason::Shape(ShapeError::ArgumentsNotObject(value.kind().name())));
        };
        let ending = open_end::ending(tool, arguments, (source, 0), &read.repairs, (0, stop));
        let repairs = if inner.is_some() {
            let kinds = reading.repairs.iter().chain(&read.repairs).map(|repair| repair.kind);
            let inferred = kinds.filter(|kind| kind.class() == Class::Inferred);
            anew(RepairKind::Unwrap, Span::new(0, text.len()), arguments, inferred)
        } else {
            read.repairs.clone()
        };
        Read::of(tool, arguments, repairs, ending)
    }
}

/// The arguments of a native call.
struct Read {
    /// The declared name of the tool.
    name: String,
    fit: Fit,
    repairs: Vec<Repair>,
    ending: Ending,
}

impl Read {
    fn of(tool: &Tool, arguments: &str, repairs: Vec<Repair>, ending: Ending) -> Result<Read, Reason> {
        let fit = check::fit(tool, arguments).map_err(Reason::Invalid)?;
        Ok(Read { name: tool.name().to_owned(), fit, repairs, ending })
    }
}

/// Reads native arguments as the text of an answer that is one call, of `tool` if that is known: `f(a=1)`, or the rest
/// that a server left of one, `<parameter=a>x</parameter>`.
fn in_text(text: &str, tool: Option<&Tool>, names: &Names<'_>, stop: Stop) -> Option<Read> {
    let all = Span::new(0, text.len());
    let call_in = |text: &str| {
        let mut scanner = Scanner::new(names.tools(), &Context::default());
        scanner.rules.stop = stop;
        let mut outcome = scanner.read(text);
        match outcome.verdicts.pop() {
            Some(Verdict::Accepted(call)) if outcome.verdicts.is_empty() && outcome.text.is_empty() => {
                Some(call).filter(|call| tool.is_none_or(|tool| tool.name() == call.name))
            }
            _ => None,
        }
    };
    let (call, ending) = match (call_in(text), tool) {
        (Some(call), _) => {
            let ending = if call.open_end { Ending::Open } else { Ending::Whole };
            (call, ending)
        }
        // If the model ended the answer, the frame that the server took away ended the call.
        (None, Some(tool)) if text.trim_start().starts_with('<') => {
            let call = call_in(&format!("<function={}>{text}</function>", tool.name()))?;
            let end = Repair { kind: RepairKind::AddEnd, at: Span::at(text.len()), put: "".into() };
            let ending = match open_end::ending(tool, &call.arguments, (text, 0), &[end], (0, stop)) {
                Ending::Cut if stop.is_ended() => Ending::Open,
                ending => ending,
            };
            (call, ending)
        }
        (None, _) => return None,
    };
    let inferred = call.repairs.iter().map(|repair| repair.kind);
    let inferred = inferred.filter(|kind| kind.class() == Class::Inferred);
    let kind = if tool.is_some() { RepairKind::SwapSyntax } else { RepairKind::Unwrap };
    let repairs = anew(kind, all, &call.arguments, inferred);
    let fit = Fit { arguments: call.arguments, coercions: call.coercions, is_whole: !call.unchecked };
    Some(Read { name: call.name, fit, repairs, ending })
}

/// Returns whether a text ends where more was to follow: `{"a": 1,`. Servers say `tool_calls` of broken-off calls as
/// well, and a model that forgets a bracket does not begin another member first.
fn is_going_on(text: &str) -> bool {
    text.trim_end().ends_with([',', ':', '[', '{'])
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

//! Judges a payload: reads it, finds the calls in it, checks them, and asks the policy.

pub(super) mod body;
mod doubt;
pub(super) mod expression;
pub(super) mod listed;
mod named;
pub(super) mod open_end;

use std::borrow::Cow;

use callwright_json::{
    Diagnostic, Fuel, Guide, Kind, Options, Parse, Problem, Reading, Repair, RepairKind, Span, Start, Value,
    strict,
};

use self::open_end::Ending;
use super::opener::{Delimiter, Item, Opener, Sort};
use crate::check::{self, Fit};
use crate::context::Stop;
use crate::dialect::Dialects;
use crate::payload::{self, Payload};
use crate::placeholder::has_placeholder;
use crate::policy::Admission;
use crate::shape::{self, Arguments, Shaped, keys};
use crate::syntax::tag::{Role, tag_at};
use crate::syntax::{Text, marks};
use crate::tools::names::{Names, leading_name};
use crate::tools::{Expected, Tool, ToolChoice};
use crate::verdict::{Acceptance, Reason, Refusal, ShapeError, Verdict};

/// The outcome of judging a payload.
#[derive(Debug)]
pub(crate) enum Judged {
    /// Calls, good or bad, and the place behind the payload.
    Calls(Vec<Verdict>, usize),
    /// Text rather than a call. `Some` is the end of a payload that is readable data as a whole.
    Text(Option<usize>),
    /// The payload is unreadable up to here; more text may decide.
    Unclear,
}

impl Judged {
    /// Returns whether one of the calls is right.
    pub(crate) fn has_call(&self) -> bool {
        let is_call = |verdict: &Verdict| matches!(verdict, Verdict::Accepted(_));
        matches!(self, Judged::Calls(verdicts, _) if verdicts.iter().any(is_call))
    }
}

/// A payload and all that is known about its place.
pub(crate) struct Case<'a, 't> {
    pub(crate) names: &'a Names<'t>,
    pub(crate) dialects: &'a Dialects,
    pub(crate) opener: &'a Opener,
    /// The text as far as the payload may reach.
    pub(crate) text: &'a str,
    pub(crate) ends: Ends,
    /// The answer was cut off at the end of `text`.
    pub(crate) cut: bool,
    /// The way in which the answer ends.
    pub(crate) stop: Stop,
    /// The whole answer ends at the end of `text`.
    pub(crate) at_end: bool,
    /// The number of brackets of lists and calls that are open around the payload.
    pub(crate) around: usize,
    /// The payload is an element of a list that is open around it.
    pub(crate) is_listed: bool,
    pub(crate) attempt: Attempt,
    /// The payload is set off from words: it begins a line, or stands behind markup or a call.
    pub(crate) set_off: bool,
    /// The payload begins its line, or stands behind marks or in a fence.
    pub(crate) own_line: bool,
    /// The payload is the first thing in the answer, with no prose or call before it.
    pub(crate) alone: bool,
    /// The payload has the form that the answer is held to.
    pub(crate) is_constrained: bool,
    /// A call of a declared tool stands beside the payload, which is therefore a call, too.
    pub(crate) has_sibling: bool,
    /// The rules by which repaired calls pass.
    pub(crate) admission: Admission,
    /// The model has its tools natively.
    pub(crate) is_native: bool,
    /// The request's choice of tools.
    pub(crate) choice: &'a ToolChoice,
    /// The work that is left for reading.
    pub(crate) fuel: &'a Fuel,
}

/// An attempt to read a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Only a payload that is right is read.
    Right,
    /// More text may make an unreadable payload readable.
    Open,
    /// An unreadable payload is refused.
    Last,
}

/// The ends of a payload and of its call, as far as they are known before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    /// The place behind the payload.
    pub(crate) end: Option<usize>,
    /// The place up to which the call goes on. Text between its arguments and this place is left out.
    pub(crate) left: Option<usize>,
}

impl Ends {
    /// Returns the ends of a payload that ends at `end`, with its call.
    pub(crate) fn at(end: usize) -> Ends {
        Ends { end: Some(end), left: Some(end) }
    }

    /// Returns the ends of a payload that is not read yet, by the bracket `seen` that seemed to be its last and the mark
    /// at `close` that ends its call.
    pub(crate) fn open(opener: &Opener, seen: Option<usize>, close: Option<usize>) -> Ends {
        let left = if opener.item.sort == Sort::Call { seen } else { close.or(seen) };
        Ends { end: None, left }
    }
}

/// Judges one payload.
pub(crate) fn judge(case: &Case<'_, '_>) -> Judged {
    let Item { sort, name, at } = case.opener.item;
    match (sort, name) {
        (Sort::Value, _) => case.value(at),
        (Sort::Call, Some(name)) if name.start as usize <= at => case.call(name, at),
        (Sort::Call, Some(name)) => case.listed(name, at),
        (Sort::Named, _) => case.named(at),
        // These are judged as bodies.
        _ => Judged::Text(None),
    }
}

impl<'a, 't> Case<'a, 't> {
    fn dialect(&self) -> Text {
        self.opener.dialect.name.clone()
    }

    /// Returns the options for reading a payload, which may be `cut` off.
    fn options(&self, cut: bool) -> Options<'a> {
        let quoted = matches!(self.opener.delimiters.last(), Some(Delimiter::Quote(_)));
        let ended = self.stop == Stop::Sure && self.at_end;
        Options { cut, ended, listed: self.is_listed, quoted, fuel: Some(self.fuel) }
    }

    /// Reads the value at `at`; `None` if only a right one may be read, and it is not.
    fn read(&self, at: usize, guide: &dyn Guide) -> Option<Payload<'a>> {
        // `"a": 1}` lacks its brace, `"{\"a\": 1}"` is a string.
        let key = self.text.get(at..).and_then(|rest| rest.strip_prefix(['"', '\'']));
        let start = if key.is_some_and(|key| !key.starts_with('{')) { Start::Members } else { Start::Value };
        match self.attempt {
            Attempt::Right => payload::right(self.text, at),
            _ => Some(self.undoubted(payload::read(start, self.text, at, guide, self.options(self.cut)))),
        }
    }

    /// Judges a value that holds name and arguments.
    fn value(&self, at: usize) -> Judged {
        let guide = Expected::AnyCall(self.names.tools());
        let Some(payload) = self.read(at, &guide) else { return Judged::Unclear };
        let end = self.ends.end.unwrap_or(payload.end).max(payload.end);
        let all = Span::new(at, end);
        let mut first: Option<Vec<Verdict>> = None;
        let mut is_data = false;
        for reading in &payload.parse.readings {
            let verdicts = self.shaped(reading, Span::new(at, payload.end));
            is_data |= verdicts.is_empty();
            let good = !verdicts.is_empty() && verdicts.iter().all(|v| matches!(v, Verdict::Accepted(_)));
            if good && payload.parse.readings.len() > 1 && first.is_some() {
                return self.broken(all, None, &payload.parse);
            }
            if good || (payload.parse.readings.len() == 1 && !verdicts.is_empty()) {
                first = Some(verdicts);
            }
        }
        match first {
            Some(verdicts) => Judged::Calls(verdicts, end),
            None if self.text.get(at..end) == Some("[]") => Judged::Calls(Vec::new(), end),
            None if self.opener.is_distinct() && self.is_said_again(all) => Judged::Calls(Vec::new(), end),
            None if is_data && !(self.opener.is_distinct() && self.is_spelt_call(all)) => {
                // Without marks, the text behind the last bracket is not the payload's: `x = r#"{name: 'John'}"#;`
                let own = self.ends.end.filter(|_| !self.opener.is_distinct());
                Judged::Text(Some(own.map_or(payload.end, |own| own.min(payload.end))))
            }
            None => self.broken(all, None, &payload.parse),
        }
    }

    /// Returns whether the text between marks names a tool and its arguments, however badly it is written.
    fn is_spelt_call(&self, at: Span) -> bool {
        let block = at.of(self.text);
        has_argument_key(block) && self.named_in(block).is_some()
    }

    /// Returns whether `block` has a parameter with a sign that parts it from its value: `path='a.txt'`, `<path>a.txt`,
    /// `"path": "a.txt"`.
    fn has_parameter(&self, block: &str) -> bool {
        let is_parted = |rest: &str| rest.trim_start_matches(['"', '\'']).starts_with([':', '=', '>', '<']);
        let stands_in =
            |name: &str| block.match_indices(name).any(|(at, _)| is_parted(&block[at + name.len()..]));
        self.names.tools().iter().any(|tool| tool.parameters().any(stands_in))
    }

    fn shaped(&self, reading: &Reading<'_>, at: Span) -> Vec<Verdict> {
        let value = reading.value();
        let mut verdicts = Vec::new();
        let mut shaped = shape::calls_in(value, self.names, self.told(&reading.repairs, at));
        // `{"arguments": {"a": 1}}`
        let is_nameless = matches!(shaped.as_slice(), [Shaped::Wrong { error: ShapeError::NoName(_), .. }]);
        let inner = || keys::ARGUMENTS.iter().find_map(|key| value.get(key));
        if is_nameless && let Some(call) = inner().and_then(|inner| self.arguments_alone(inner)) {
            shaped = vec![call];
        }
        if shaped.is_empty() && !self.is_said_again(at) {
            shaped.extend(self.arguments_alone(value));
        }
        // `[{"name": "f", "a": 1}, {"name": "g", "b": 2}]`
        if shaped.is_empty()
            && self.has_sibling
            && let Some(written) = shape::name_of(value)
        {
            shaped.push(Shaped::Unknown { written });
        }
        // `{"content": "{\"name\": \"f\", …}"}`
        let text = shape::only_member(value, keys::CONTENT).and_then(Value::as_str).unwrap_or_default();
        let inner = if shaped.is_empty() { strict(&text).ok() } else { None };
        let mut repairs = Cow::Borrowed(&reading.repairs);
        if let Some(inner) = &inner {
            let inner = inner.root(&text);
            shaped = shape::calls_in(inner, self.names, self.told(&reading.repairs, at));
            repairs.to_mut().push(Repair {
                kind: RepairKind::Unwrap,
                at,
                put: inner.raw().to_owned().into(),
            });
        }
        for shaped in shaped {
            match shaped {
                // `The entry is {"name": "list_files"}.`, `{"name": "list-files", "version": "1.0"}`
                Shaped::Call { tool, ref arguments, .. } if self.is_record(tool, value, arguments) => {}
                shaped => verdicts.extend(self.verdict_of(shaped, &repairs, at)),
            }
        }
        verdicts
    }

    /// Returns the facts about the value at `at`, which was read with `repairs`.
    pub(super) fn told(&self, repairs: &[Repair], at: Span) -> shape::Told {
        let last = at.of(self.text).rfind(char::is_alphanumeric).map_or(0, |len| at.start as usize + len);
        let is_early =
            |repair: &Repair| repair.kind == RepairKind::AddCloser && repair.at.end as usize <= last;
        let is_closed_early = repairs.iter().any(is_early);
        shape::Told { is_marked: self.opener.is_distinct(), is_closed_early }
    }

    /// Returns the verdict on a call that was found in a value; `None` if it is text.
    fn verdict_of(&self, shaped: Shaped<'_, '_>, repairs: &[Repair], at: Span) -> Option<Verdict> {
        match shaped {
            Shaped::Call { tool, written, arguments } => {
                self.shaped_call(tool, &written, arguments, repairs, at)
            }
            Shaped::Unknown { written } => {
                let reason = Reason::unknown_tool(&written, self.names.tools());
                Some(self.refuse(Some(written.into_owned()), reason, at))
            }
            Shaped::Wrong { written, error } => {
                Some(self.refuse(written.map(Cow::into_owned), Reason::Shape(error), at))
            }
            Shaped::Echo => None,
        }
    }

    /// Returns whether an object without marks that names a tool is data. It has a member that no call of the tool has,
    /// or stands in a sentence and holds no arguments.
    fn is_record(&self, tool: &Tool, value: Value<'_>, arguments: &Arguments<'_>) -> bool {
        let has_arguments = || keys::ARGUMENTS.iter().any(|key| value.get(key).is_some());
        !self.opener.is_distinct()
            && match arguments {
                Arguments::Flat(members) => {
                    members.iter().any(|(key, _)| key.as_str().is_none_or(|key| !tool.declares(&key)))
                }
                Arguments::None => !self.own_line && !has_arguments(),
                Arguments::Object(..) | Arguments::Text(_) => false,
            }
    }

    /// Returns the tools that declare all keys of `arguments`, and take them.
    fn takers<'v>(&self, arguments: Value<'v>) -> impl Iterator<Item = &'a Tool> + use<'v, 'a, '_, 't> {
        self.names.tools().iter().filter(move |tool| {
            shape::declares_all(tool, arguments) && check::fit(tool, arguments.raw()).is_ok()
        })
    }

    /// Returns whether a declared tool takes `arguments`, so that the unknown name in front of them is meant for a
    /// tool.
    pub(super) fn are_taken(&self, arguments: Value<'_>) -> bool {
        arguments.members().next().is_some() && self.takers(arguments).next().is_some()
    }

    /// Returns whether the same text stands right in front of the payload: `[ARGS]{"a": 1}{"a": 1}`. Without a name it
    /// makes no second call.
    fn is_said_again(&self, at: Span) -> bool {
        let before = self.text.get(..self.opener.start).unwrap_or("");
        before.trim_end().ends_with(at.of(self.text))
    }

    /// Returns the one tool that a call without a name can mean: the only one that the request leaves, or between marks
    /// the only declared one. Native tools give `None`, as their calls have names.
    fn only_tool(&self) -> Option<&'a Tool> {
        let tools = self.names.tools();
        let declared = || tools.iter().next().filter(|_| self.opener.is_distinct() && tools.len() == 1);
        if self.is_native { None } else { self.choice.only(tools).or_else(declared) }
    }

    /// Returns the call that arguments without a name make: one of the [only tool](Case::only_tool), or between marks
    /// one that lacks its name. All others are data, whatever their keys.
    fn arguments_alone<'v>(&self, value: Value<'v>) -> Option<Shaped<'v, 'a>> {
        if value.kind() != Kind::Object || value.members().next().is_none() {
            return None;
        }
        // `{"name": "g"}` calls a tool `g` rather than another one that has a parameter `name`.
        if 1 < self.names.tools().len()
            && let Some(written) = shape::mere_name(value)
        {
            return self.opener.is_distinct().then_some(Shaped::Unknown { written });
        }
        if let Some(tool) = self.only_tool().filter(|tool| shape::declares_all(tool, value)) {
            // An empty name records that the tool is inferred.
            let written = Cow::Borrowed("");
            return Some(Shaped::Call { tool, written, arguments: Arguments::Object(value, Vec::new()) });
        }
        let fitting: Vec<String> = self.takers(value).map(|tool| tool.name().to_owned()).collect();
        let is_call = self.opener.is_distinct() && !fitting.is_empty();
        is_call.then_some(Shaped::Wrong { written: None, error: ShapeError::NoName(fitting) })
    }

    fn shaped_call(
        &self,
        tool: &Tool,
        written: &str,
        arguments: Arguments<'_>,
        repairs: &[Repair],
        at: Span,
    ) -> Option<Verdict> {
        let mut repairs = repairs.to_vec();
        let text = match arguments {
            Arguments::Object(value, torn) => {
                repairs.extend(torn.into_iter().map(|key| {
                    let place = at.of(self.text).find(key.raw()).map(|place| at.start as usize + place);
                    let span = place.map_or(at, |place| Span::new(place, place + key.raw().len()));
                    Repair { kind: RepairKind::MendMark, at: span, put: "".into() }
                }));
                return self.verdict_on(tool, written, value, repairs, at);
            }
            Arguments::None => "{}".to_owned(),
            Arguments::Flat(members) => {
                // `{"name": "f", "reason": "check"}`: `reason` may be an argument or a part of the frame.
                let mut keys = members.iter().map(|(key, _)| key.as_str().unwrap_or_default());
                if let Some(key) = keys.find(|key| !tool.declares(key)) {
                    let reason = Reason::Shape(ShapeError::BesideArguments(key.into_owned()));
                    return Some(self.refuse(Some(written.to_owned()), reason, at));
                }
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{}: {}", key.raw(), value.raw())).collect();
                format!("{{{}}}", members.join(", "))
            }
            Arguments::Text(text) => {
                let inner = payload::read(Start::Value, &text, 0, tool.schema().guide(), self.options(false));
                let Some(reading) = payload::settled_object(&inner.parse) else {
                    let reason = Reason::Unreadable(inner.parse.diagnostics);
                    return Some(self.refuse(Some(written.to_owned()), reason, at));
                };
                if !reading.is_whole(&text) {
                    let reason = Reason::Unreadable(Vec::new());
                    return Some(self.refuse(Some(written.to_owned()), reason, at));
                }
                let put = reading.value().raw().to_owned();
                // The repair writes the whole payload anew: an edit of the encoded string has no place of its own.
                if repairs.is_empty() {
                    repairs.push(Repair { kind: RepairKind::Unwrap, at, put: put.clone().into() });
                }
                put
            }
        };
        self.verdict(tool, written, &text, repairs, at)
    }

    fn one(&self, verdict: Option<Verdict>, end: usize) -> Judged {
        match verdict {
            Some(verdict) => Judged::Calls(vec![verdict], end),
            None => Judged::Text(Some(end)),
        }
    }

    /// Returns whether the payload at `at` may be a call, however badly it is written.
    pub(in crate::scan) fn may_be_call(&self, at: Span) -> bool {
        let block = at.of(self.text);
        self.opener.is_distinct()
            || match self.opener.item.sort {
                Sort::Call => {
                    self.set_off
                        && self.opener.name(self.text).is_some_and(|name| self.names.resolve(name).is_some())
                }
                Sort::Value | Sort::Block => has_argument_key(block) || self.named_in(block).is_some(),
                Sort::Named | Sort::Tagged | Sort::Over | Sort::Relaxed | Sort::Plain | Sort::Words => true,
            }
    }

    /// Judges a payload that has no reading, or several.
    fn broken(&self, at: Span, written: Option<&str>, parse: &Parse<'_>) -> Judged {
        let block = at.of(self.text);
        // Code and prose in brackets are not held, as no later text makes a call of them.
        if !self.may_be_call(at) {
            return Judged::Text(None);
        }
        let name = written.map(str::to_owned).or_else(|| self.named_in(block));
        if self.attempt != Attempt::Last {
            return Judged::Unclear;
        }
        let from = |diagnostic: &Diagnostic| {
            let shift = |n: u32| n.saturating_sub(at.start);
            let at = Span { start: shift(diagnostic.at.start), end: shift(diagnostic.at.end) };
            Diagnostic { problem: diagnostic.problem, at }
        };
        let diagnostics = parse.diagnostics.iter().map(from).collect();
        self.refused(name.as_deref(), unread(parse, diagnostics), at)
    }

    /// Returns the first declared name that stands in quotes in an unreadable `block`.
    fn named_in(&self, block: &str) -> Option<String> {
        block
            .split(['"', '\''])
            .take(12)
            .find_map(|piece| self.names.resolve(piece.trim_end_matches('\\')))
            .map(|tool| tool.name().to_owned())
    }

    pub(super) fn verdict(
        &self,
        tool: &Tool,
        written: &str,
        arguments: &str,
        repairs: Vec<Repair>,
        at: Span,
    ) -> Option<Verdict> {
        let tree = strict(arguments).ok()?;
        self.verdict_on(tool, written, tree.root(arguments), repairs, at)
    }

    /// Returns the verdict on arguments that were read; `None` if they are text.
    fn verdict_on(
        &self,
        tool: &Tool,
        written: &str,
        value: Value<'_>,
        mut repairs: Vec<Repair>,
        at: Span,
    ) -> Option<Verdict> {
        if !shape::declares_all(tool, value) && shape::is_schema(value) {
            let refusal =
                || self.refuse(Some(tool.name().to_owned()), Reason::Shape(ShapeError::Definition), at);
            return self.opener.is_distinct().then(refusal);
        }
        repairs.splice(..0, self.mended_marks());
        match check::fit_value(tool, value) {
            Ok(Fit { arguments, coercions, is_whole }) => {
                let from = at.start as usize;
                let source = self.text.get(from..).filter(|_| self.at_end).unwrap_or("");
                let ending = match self.at_end {
                    // A plain text goes on until the answer ends, so more of it may be missing.
                    true if self.opener.item.sort == Sort::Plain => Ending::Open,
                    true => {
                        let around = (self.around, self.stop);
                        open_end::ending(tool, &arguments, (source, from), &repairs, around)
                    }
                    false => Ending::Whole,
                };
                if ending == Ending::Cut {
                    let reason = open_end::cut(at.len());
                    return Some(self.refuse(Some(tool.name().to_owned()), reason, at));
                }
                let is_renamed = written != tool.name()
                    && written.strip_prefix(self.opener.dialect.namespace()) != Some(tool.name());
                let call = Acceptance {
                    id: None,
                    name: tool.name().to_owned(),
                    arguments,
                    dialect: self.dialect(),
                    span: Span { start: Span::at(self.opener.start).start, ..at },
                    repairs,
                    renamed_from: is_renamed.then(|| written.to_owned()),
                    coercions,
                    beside_prose: None,
                    // Marks, or the form of the answer, make it a call, whatever its values look like.
                    unsure: !self.opener.is_distinct()
                        && !self.is_constrained
                        && has_placeholder(tool, value),
                    is_apart: false,
                    open_end: ending == Ending::Open,
                    unchecked: !is_whole,
                };
                Some(self.admitted(call, at))
            }
            Err(violations) => {
                // `f()` in prose speaks of the tool.
                let mention = value.members().next().is_none() && !self.set_off && !self.opener.is_distinct();
                if mention {
                    return None;
                }
                Some(self.refuse(Some(tool.name().to_owned()), Reason::Invalid(violations), at))
            }
        }
    }

    /// Returns the repair of the marks in front of the call, if they are broken.
    fn mended_marks(&self) -> impl Iterator<Item = Repair> {
        let mended = self.opener.mended.iter();
        mended.map(|mended| Repair {
            kind: RepairKind::MendMark,
            at: mended.at,
            put: mended.whole.clone().into(),
        })
    }

    /// Returns the verdict on a right call: accepted, or refused by the policy.
    pub(super) fn admitted(&self, call: Acceptance, at: Span) -> Verdict {
        match self.admission.objection(&call, self.names) {
            Some(reason) => {
                let name = call.renamed_from.unwrap_or(call.name);
                self.refuse(Some(name), reason, at)
            }
            None => Verdict::Accepted(call),
        }
    }

    /// Returns the outcome of a payload that is one refused call.
    pub(super) fn refused(&self, name: Option<&str>, reason: Reason, at: Span) -> Judged {
        Judged::Calls(vec![self.refuse(name.map(str::to_owned), reason, at)], at.end as usize)
    }

    pub(super) fn refuse(&self, name: Option<String>, reason: Reason, at: Span) -> Verdict {
        Verdict::Refused(Refusal {
            id: None,
            name,
            dialect: self.dialect(),
            number: 0,
            span: Span { start: Span::at(self.opener.start).start, ..at },
            block: at.of(self.text).to_owned(),
            reason: self.by_its_end(reason, at),
        })
    }

    /// Returns the reason to refuse the call at `at`. One that holds its closing mark was not cut; any other one at the end
    /// of a cut answer was, unless a bracket ends it.
    fn by_its_end(&self, reason: Reason, at: Span) -> Reason {
        let call = at.of(self.text);
        let name = self.opener.name(self.text).unwrap_or("");
        let formed = || self.opener.formed().and_then(|record| record.form()).into_iter();
        let is_closed = || {
            marks::find(call, self.opener.closers()).is_some()
                || formed().flat_map(|form| form.closers(name)).any(|mark| call.contains(&*mark))
        };
        let runs_out = self.cut && at.end as usize == self.text.len();
        match reason {
            Reason::Unreadable(_)
                if runs_out && !call.trim_end().ends_with(['}', ']', ')']) && !is_closed() =>
            {
                open_end::cut(call.len())
            }
            Reason::Truncated(_) if is_closed() => Reason::Unreadable(Vec::new()),
            reason => reason,
        }
    }
}

/// Returns the repairs of the text at `at`, which `put` replaces as a whole. Each `inferred` kind follows as a repair
/// that changes nothing more.
pub(in crate::scan) fn anew(
    kind: RepairKind,
    at: Span,
    put: &str,
    inferred: impl IntoIterator<Item = RepairKind>,
) -> Vec<Repair> {
    let whole = Repair { kind, at, put: put.to_owned().into() };
    let end = Span::at(at.end as usize);
    let inferred = inferred.into_iter().map(|kind| Repair { kind, at: end, put: "".into() });
    [whole].into_iter().chain(inferred).collect()
}

/// Returns the reason to refuse a payload that has no reading, or several, with `diagnostics`.
pub(super) fn unread(parse: &Parse<'_>, diagnostics: Vec<Diagnostic>) -> Reason {
    if 1 < parse.readings.len() {
        return Reason::Ambiguous {
            readings: parse.readings.iter().map(|r| r.value().raw().to_owned()).collect(),
        };
    }
    match diagnostics.iter().any(|d| d.problem == Problem::Truncated) {
        true => Reason::Truncated(diagnostics),
        false => Reason::Unreadable(diagnostics),
    }
}

/// Returns the declared tool whose name begins `block`, the text behind marks, if data follows the name and no words:
/// `[f*a=`, `call:f[`, `{"f": null`. Signs and marks may stand before the name, and one word that is glued to one.
pub(in crate::scan) fn leading_tool<'n>(block: &str, names: &'n Names<'_>) -> Option<&'n Tool> {
    let mut rest = block;
    for _ in 0..2 {
        rest = behind_marks(rest);
        let word = leading_name(rest);
        rest = rest.get(word.len()..)?;
        if let Some(tool) = names.resolve(word) {
            return is_data(rest.trim_start_matches(['"', '\'', '>', '\n'])).then_some(tool);
        }
        if rest.starts_with([' ', ',']) {
            return None;
        }
    }
    None
}

/// Returns the rest of `text` behind the signs and the tokens at its head.
fn behind_marks(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c != '<' && c != '_' && !c.is_alphanumeric());
        if !rest.starts_with('<') {
            return rest;
        }
        let token = tag_at(rest, 0).ok().flatten().filter(|tag| tag.role == Role::Token);
        rest = &rest[token.map_or(1, |tag| tag.at.end as usize)..];
    }
}

/// Returns whether `text`, right behind a name, is data of a call rather than words: `*a=`, `: null`, `a="x"`.
fn is_data(text: &str) -> bool {
    let word = leading_name(text);
    let mut signs = text[word.len()..].chars();
    let Some(sign) = signs.next().filter(|sign| !sign.is_alphanumeric() && !sign.is_whitespace()) else {
        return false;
    };
    let is_glued = signs.next().is_some_and(|next| !next.is_whitespace());
    sign != '<' && (is_glued || word.is_empty() && !",.;!?".contains(sign))
}

fn has_argument_key(block: &str) -> bool {
    ["\"arguments", "'arguments", "\"parameters", "'parameters"].iter().any(|key| block.contains(key))
}

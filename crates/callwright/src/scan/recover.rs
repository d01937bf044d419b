//! Recovers calls that surely began and gave no reading: their marks are repaired by least cost, or they are refused. They
//! are text only where nothing behind their marks belongs to a call.

use std::sync::Arc;

use callwright_json::{Repair, RepairKind, Span};

use super::call::{Call, Stage, Step};
use super::judge::body::Body;
use super::judge::{self, Case, Judged};
use super::opener::{Delimiter, Look, MAX_OPENER, Opener, Sort, parse_opener};
use super::{Scanner, State};
use crate::dialect::Record;
use crate::grammar::Form;
use crate::marks::{self, Decision, Nearness, begins};
use crate::payload::tagged::End;
use crate::syntax::{Incomplete, beginning};
use crate::verdict::{Acceptance, Reason, Verdict};

/// Longest text, in bytes, that is searched for a broken call: each mark in it is another place at which a value may
/// end.
const MAX_BROKEN: usize = 1 << 16;

/// The decision that repaired marks have no reading; a reading of whole marks stands.
const NOTHING: Decision<'static> = Decision::Nothing { extent: None };

/// The outcome of repairing marks.
enum Way<'d, R> {
    /// The marks stand in front of a payload, which is to be read.
    Payload(Opener),
    /// The marks hold arguments; the record is that of the marks, if there is a reading.
    Marks(Decision<'d>, Option<R>),
}

impl Scanner<'_> {
    /// Judges a body whose end was found, unless its marks may be broken.
    pub(super) fn judge_marks(&mut self, opener: &Opener, body: &mut Body, ended: End, end: bool) -> Step {
        let mut judged = self.judge_body(opener, body, ended);
        let is_block = matches!((&*body, &judged), (Body::Block(_), Judged::Calls(..)));
        if is_block && opener.is_distinct() && self.holds_call(opener, ended) {
            judged = Judged::Text(None);
        }
        if opener.is_headless() {
            return Step::Judged(judged);
        }
        if self.is_suspect(opener, body, ended, &judged, end) {
            let body = std::mem::replace(body, Body::Nothing(ended.at));
            return Step::To(Stage::Marks(Some((body, ended))));
        }
        let judged = self.never_said(opener, judged, ended.at, None);
        // The scanner reads it once more, as text.
        if let Judged::Text(_) = judged {
            self.work.bytes_skipped += ended.at.saturating_sub(opener.item.at);
        }
        Step::Judged(judged)
    }

    /// Refuses all text up to `to` if `judged` is text but marks of an argument stand in it; otherwise returns
    /// `judged`. A call that its own marks open is never text. The marks are those of `form`, or of any form whose
    /// calls begin like it.
    fn never_said(&self, opener: &Opener, judged: Judged, to: usize, form: Option<&Form>) -> Judged {
        let call = self.text.get(opener.start..to).filter(|call| call.len() <= MAX_BROKEN);
        let is_read = !matches!(judged, Judged::Text(_)) || self.rules.stop.is_cut();
        let Some(call) = call.filter(|_| !is_read && opener.is_distinct() && self.may_repair()) else {
            return judged;
        };
        let (tools, fuel) = (self.names.tools(), &self.work.fuel);
        let holds_argument = |form: &Form| marks::holds_argument(call, form, tools, fuel);
        let mut alike = self.near_at(call).into_iter().filter_map(|record| record.form());
        if !form.map_or_else(|| alike.any(holds_argument), holds_argument) {
            return judged;
        }
        let name = opener.name(&self.text).filter(|name| !name.is_empty());
        let at = Span::new(opener.start, to);
        self.case(opener, self.text.len()).refused(name, Reason::Unreadable(Vec::new()), at)
    }

    /// Returns whether a call with marks of its own begins in the block of `opener`:
    /// `<|channel|>commentary? to=functions.f<|message|>{…}`.
    fn holds_call(&self, opener: &Opener, ended: End) -> bool {
        let text = self.text.get(..ended.at).filter(|_| self.may_repair()).unwrap_or("");
        let from = opener.item.at + 1;
        let inside = text.as_bytes().get(from..).unwrap_or(&[]);
        self.work.fuel.spend(inside.len());
        let look = |at: usize| parse_opener(text, from + at, self.place(true, true));
        let is_call = |look| matches!(look, Ok(Look::Found(inner)) if inner.is_distinct());
        memchr::memchr3_iter(b'<', b'[', b't', inside).any(|at| is_call(look(at)))
    }

    /// Returns the place of a tool's name right behind the marks of `opener`, which gave no reading up to `end`. Such
    /// marks hold a refused call rather than text.
    pub(super) fn unread_at(&self, opener: &Opener, end: Option<usize>) -> Option<usize> {
        let at = opener.item.name.map_or(opener.item.at, |name| name.start as usize);
        let may_be_words = match opener.item.sort {
            Sort::Block => true,
            // Beside text or calls, the words explain the form of a call.
            Sort::Words => !self.outcome.text.is_empty() || self.has_calls(),
            _ => false,
        };
        // Only so much text is there for sure, however it arrives.
        let end = end.unwrap_or(match opener.item.sort {
            Sort::Tagged => opener.item.at + 1,
            _ => at + MAX_OPENER,
        });
        let to = beginning(&self.text, end).len().max(at);
        let is_unread = !may_be_words
            && opener.start < at
            && opener.is_distinct()
            && !self.standing.before.line.words
            && !self.markup.in_fence
            && self.thought.is_none()
            && judge::leading_tool(&self.text[at..to], &self.names).is_some();
        is_unread.then_some(at)
    }

    /// Returns whether broken marks may be repaired, and fuel is left for it.
    pub(super) fn may_repair(&self) -> bool {
        !self.rules.is_quotation && !self.work.fuel.is_spent()
    }

    /// Returns the opener with whole marks in front of the payload of `call`, if `judged` shows that they are broken: it
    /// is text, or names no tool.
    pub(super) fn whole_front(&self, call: &Call, judged: &Judged) -> Option<Opener> {
        let opener = &call.opener;
        // `<|tool_cal|>{…}`: a token that no dialect has may be a broken one.
        let is_unknown = || self.text.get(opener.start..).is_some_and(|head| head.starts_with('<'));
        let may_be_broken = match judged {
            Judged::Text(_) => !opener.is_distinct() && !opener.is_fenced(),
            Judged::Calls(verdicts, _) => {
                self.is_nameless(opener, verdicts) || !opener.is_distinct() && is_unknown()
            }
            Judged::Unclear => false,
        };
        let is_payload = matches!(call.stage, Stage::Brackets(_) | Stage::Open(_));
        let may_be_broken = may_be_broken && is_payload && opener.mended.is_none();
        match may_be_broken && self.begins_line(opener.start) {
            true => self.mended(opener.start, opener.item.at + 1, true).ok().flatten(),
            false => None,
        }
    }

    /// Returns whether a mark behind a declared name was taken for a part of the name: `[TOOL_CALLS]f[ARG]S{…}`.
    fn is_nameless(&self, opener: &Opener, verdicts: &[Verdict]) -> bool {
        let head = self.text.get(opener.start..opener.item.at).unwrap_or("");
        let ends = |rest: &str| rest.starts_with(|c: char| !c.is_alphanumeric() && c != '_');
        let holds = |name: &str| head.match_indices(name).any(|(at, _)| ends(&head[at + name.len()..]));
        let [Verdict::Refused(refusal)] = verdicts else { return false };
        matches!(refusal.reason, Reason::UnknownTool { .. })
            && self.names.tools().iter().any(|tool| holds(tool.name()))
    }

    /// Returns whether the reader of broken marks must decide: the call is not right by `judged`, or a value of a right
    /// one may end elsewhere.
    fn is_suspect(&self, opener: &Opener, body: &Body, ended: End, judged: &Judged, end: bool) -> bool {
        let is_within = ended.at - opener.start <= MAX_BROKEN;
        match (judged, body) {
            _ if !is_within || !self.may_repair() => false,
            (_, Body::Tags(walk)) if let Some(call) = judged.accepted() => {
                let form = opener.formed().and_then(|record| record.form());
                let may_end_elsewhere = |form: &Form| {
                    let tool = self.names.tools().get(&call.name);
                    let mut values = walk.params.iter().map(|param| param.value.of(&self.text));
                    values.any(|value| tool.is_some_and(|tool| marks::may_end_elsewhere(value, form, tool)))
                };
                form.is_some_and(|form| walk.goes_on || may_end_elsewhere(form))
            }
            _ if judged.has_call() => false,
            // A cut call lacks its last marks; they are not broken.
            _ if self.rules.stop.is_cut() => false,
            (Judged::Text(_) | Judged::Unclear, _) if !opener.is_distinct() => false,
            _ => self.records_of(opener, end).map_or(true, |records| !records.is_empty()),
        }
    }

    /// Returns the dialects whose marks `opener` may have, the nearest first.
    fn records_of(&self, opener: &Opener, end: bool) -> Result<Vec<Arc<Record>>, Incomplete> {
        let is_tagged = matches!(opener.item.sort, Sort::Words | Sort::Tagged);
        match opener.formed().filter(|_| is_tagged) {
            Some(record) => Ok(vec![Arc::clone(record)]),
            None if matches!(opener.item.sort, Sort::Words | Sort::Block) => {
                self.broken_records(opener.start, end)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Returns the dialects whose marks may begin `text`, whole or broken, by its first letters. A cut call lacks its
    /// last marks; they are not broken.
    pub(super) fn near_at(&self, text: &str) -> Vec<&Arc<Record>> {
        let may_be = self.may_repair() && !self.rules.stop.is_cut() && self.rules.dialects.may_break_at(text);
        match may_be {
            true => self.rules.dialects.broken_at(text, self.names.tools()),
            false => Vec::new(),
        }
    }

    /// Returns the dialects of a call that may begin at `at` with broken marks, the nearest first.
    pub(super) fn broken_records(&self, at: usize, end: bool) -> Result<Vec<Arc<Record>>, Incomplete> {
        let rest = self.text.get(at..).unwrap_or("");
        let tools = self.names.tools();
        let inside = self.markup.inside.as_ref().map(|record| record.id);
        let mut near: Vec<((Nearness, bool), &Arc<Record>)> = Vec::new();
        for record in self.near_at(rest) {
            if let Some(nearness) = begins(rest, record, tools, end, &self.work.fuel)?
                // Whole marks in front of a payload need no repair.
                && !(nearness.is_whole() && record.form().is_none())
            {
                // The calls of one section are of one dialect.
                let rank = (nearness, Some(record.id) != inside);
                let behind = near.partition_point(|(other, _)| *other <= rank);
                near.insert(behind, (rank, record));
            }
        }
        Ok(near.into_iter().map(|(_, record)| Arc::clone(record)).collect())
    }

    /// Returns the place at which the marks of the call begin, behind those of the section.
    fn call_start(&self, opener: &Opener) -> usize {
        let name = opener.item.name.map_or(opener.item.at, |name| name.start as usize);
        let head = self.text.get(opener.start..name).unwrap_or("");
        opener.start + head.rfind('<').unwrap_or(0)
    }

    /// Begins a call of the dialect of `record` at `at`, with its broken marks.
    pub(super) fn begin_broken(&mut self, at: usize, record: Arc<Record>) {
        let item = Sort::Tagged.of(Span::at(at), at);
        let opener = Opener::bare(at, item, record);
        self.look_around(&opener);
        let stage = Stage::Marks(None);
        self.state = State::Call(Box::new(Call { opener, stage, instead: None }));
    }

    /// Decides about a call with broken marks at the end of the text.
    pub(super) fn repair(&mut self, call: &mut Call) -> Step {
        let Call { opener, stage, .. } = call;
        let own = match stage {
            Stage::Marks(Some((body, ended))) => Some(self.judge_body(opener, body, *ended)),
            _ => None,
        };
        let is_read = own.is_some();
        let accepted = own.as_ref().and_then(Judged::accepted);
        self.work.refuel(self.text.len());
        let records = self.nearest_records(opener, is_read, accepted.is_some());
        let (decision, record) = match self.repaired_marks(opener, &records, is_read) {
            Way::Payload(mended) => {
                let whole = Call::of(mended, &self.text);
                let broken = std::mem::replace(call, whole);
                call.instead = own.map(|own| (broken.opener, own));
                return Step::On;
            }
            Way::Marks(decision, record) => (decision, record),
        };
        // The reading by whole marks stands if no mark needs a repair, or if the repair leaves the call as it is.
        let decision = match (decision, accepted) {
            (Decision::Calls { calls, repaired, .. }, Some(call))
                if repaired.is_empty() || calls.first().is_some_and(|(_, own)| *own == call.arguments) =>
            {
                NOTHING
            }
            (decision, _) => decision,
        };
        if let Some(record) = record.filter(|_| !is_read) {
            (opener.record, opener.dialect) = (Arc::clone(record), Arc::clone(record));
        }
        let own = match (&decision, own) {
            (Decision::Nothing { extent: Some(extent) }, Some(own)) => {
                Some(self.case(opener, self.text.len()).unlikely(own, *extent))
            }
            (_, own) => own,
        };
        let is_repaired = !matches!(decision, Decision::Nothing { .. });
        let judged = self.case(opener, self.text.len()).repaired(decision);
        let judged = judged.or(own).unwrap_or(Judged::Text(None));
        let judged = match records.iter().find_map(|record| record.form()) {
            Some(form) => self.never_said(opener, judged, self.text.len(), Some(form)),
            None => judged,
        };
        if is_repaired {
            // Its own marks were read to their end.
            opener.delimiters.retain(|delimiter| *delimiter != Delimiter::Tag);
        }
        Step::Judged(judged)
    }

    /// Returns the dialects whose marks the call of `opener` may have, the nearest first; empty once the fuel is spent.
    /// `is_read` says whether whole marks gave a body.
    fn nearest_records(&self, opener: &Opener, is_read: bool, is_accepted: bool) -> Vec<Arc<Record>> {
        let from = opener.start;
        if MAX_BROKEN < self.text.len() - from || !self.may_repair() {
            return Vec::new();
        }
        if !is_read {
            return self.broken_records(from, true).unwrap_or_default();
        }
        let mut records = self.records_of(opener, true).unwrap_or_default();
        // `<iquest_tol_call>f<arg_key>`: the marks around the call may be those of another dialect.
        let begins_with =
            |form: &Form| form.openers().any(|mark| mark.at(&self.text, from, "", "") != Ok(None));
        let is_its = records.iter().filter_map(|record| record.form()).any(begins_with);
        if !is_accepted && !is_its {
            records.extend(self.broken_records(from, true).unwrap_or_default());
        }
        records
    }

    /// Reads the call of `opener` in the marks of the first of `records` that gives a reading.
    fn repaired_marks<'r>(
        &self,
        opener: &Opener,
        records: &'r [Arc<Record>],
        is_read: bool,
    ) -> Way<'_, &'r Arc<Record>> {
        let from = opener.start;
        let is_inside = self.markup.delimiters.contains(&Delimiter::Tag);
        let (tools, fuel) = (self.names.tools(), &self.work.fuel);
        let mut decision = NOTHING;
        let mut is_framed = false;
        for record in records.iter().take_while(|_| self.may_repair()) {
            if !record.frames().is_empty()
                && !std::mem::replace(&mut is_framed, true)
                && let Ok(Some(mended)) = self.mended(from, self.text.len(), true)
            {
                return Way::Payload(mended);
            }
            let Some(form) = record.form() else { continue };
            let trim = if is_read { opener.record.trim } else { record.trim };
            let read_from = |from: usize| marks::read((&self.text, from), form, trim, tools, is_inside, fuel);
            decision = read_from(from);
            // The text before the call may be marks of no dialect: `<｜DSMLnfunction_calls>`.
            if is_read
                && matches!(decision, Decision::Nothing { .. })
                && let inner @ (Decision::Calls { .. } | Decision::Ambiguous { .. }) =
                    read_from(self.call_start(opener))
            {
                decision = inner;
            }
            if !matches!(decision, Decision::Nothing { .. }) {
                return Way::Marks(decision, Some(record));
            }
        }
        Way::Marks(decision, None)
    }
}

impl Judged {
    /// Returns the only call, if it is right.
    fn accepted(&self) -> Option<&Acceptance> {
        match self {
            Judged::Calls(verdicts, _) if let [Verdict::Accepted(call)] = verdicts.as_slice() => Some(call),
            _ => None,
        }
    }
}

impl Case<'_, '_> {
    /// Refuses one call that was read by its whole marks, as no way through them is likely. The refusal reaches up to
    /// the last one of them.
    fn unlikely(&self, own: Judged, extent: usize) -> Judged {
        let (Judged::Calls(_, end), Some(call)) = (&own, own.accepted()) else { return own };
        let at = Span::new(self.opener.item.at, extent.max(*end));
        self.refused(Some(&call.name), Reason::Ambiguous { readings: vec![call.arguments.clone()] }, at)
    }

    /// Returns the outcome of a `decision` about broken marks; `None` if they have no reading.
    fn repaired(&self, decision: Decision<'_>) -> Option<Judged> {
        let at = self.opener.start;
        match decision {
            Decision::Nothing { .. } => None,
            Decision::Ambiguous { readings, name, .. } => {
                let all = Span::new(at, self.text.len());
                Some(self.refused(name.as_deref(), Reason::Ambiguous { readings }, all))
            }
            Decision::Calls { calls, end, repaired } => {
                let marks = repaired.iter().map(|&(from, to)| Repair {
                    kind: RepairKind::MendMark,
                    at: Span::new(from, to),
                    put: "".into(),
                });
                let verdict = |(tool, arguments): (&crate::tools::Tool, String)| {
                    let put = arguments.clone().into();
                    let swap = Repair { kind: RepairKind::SwapSyntax, at: Span::new(at, end), put };
                    let repairs = [swap].into_iter().chain(marks.clone()).collect();
                    self.verdict(tool, tool.name(), &arguments, repairs, Span::new(at, end))
                };
                let verdicts = calls.into_iter().map(verdict).collect::<Option<Vec<_>>>()?;
                Some(Judged::Calls(verdicts, end))
            }
        }
    }
}

//! Calls whose marks are broken: where the reader of whole ones fails, or may have read a broken mark into a value.

use std::sync::Arc;

use callwright_json::{Fuel, Repair, RepairKind, Span};

use super::judge::body::Body;
use super::judge::{Case, Judged};
use super::opener::{Delimiter, Item, Opener};
use super::{Context, Event, Flow, Mode, Scanner};
use crate::dialect::{Record, Sign};
use crate::marks::{self, Decision, Extent, Nearness, begins};
use crate::payload::tagged::End;
use crate::payload::tagged::{Param, Style};
use crate::syntax::tag::tag_at;
use crate::syntax::{Incomplete, Seen};
use crate::verdict::{Acceptance, Outcome, Reason, Refusal, Verdict};

/// The longest text, in bytes, in which a broken call is looked for: each mark in it is another place where a value may end.
const MAX_BROKEN: usize = 1 << 16;

/// No reading, which says nothing against that of whole marks.
const NOTHING: Decision<'static> = Decision::Nothing { extent: None };

/// So many letters are compared with a mark for a unit of fuel.
const LETTERS_PER_UNIT: usize = 16;

/// A call that waits for the end of the text, which tells how its marks are meant.
#[derive(Debug)]
pub(super) struct Broken {
    opener: Opener,
    read: Whole,
}

/// What the reader of whole marks found.
#[derive(Debug)]
enum Whole {
    Nothing,
    Body(Body, End),
    /// What a payload that is no marks came to.
    Payload(Judged),
}

impl Scanner<'_> {
    /// Judges a body that has ended. Where only the rest of the text tells, it waits for that.
    pub(super) fn judge_marks(
        &mut self,
        opener: Opener,
        body: Body,
        ended: End,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        let mut judged = self.judge_body(&opener, &body, ended);
        if opener.is_headless() {
            self.commit(opener, judged, out);
            return Flow::On;
        }
        let is_block = matches!((&body, &judged), (Body::Block(_), Judged::Calls(..)));
        if is_block && opener.is_distinct() && self.holds_call(&opener, ended) {
            judged = Judged::Text(None);
        }
        if self.is_suspect(&opener, &body, ended, &judged, end) {
            self.mode = Mode::Broken(Box::new(Broken { opener, read: Whole::Body(body, ended) }));
            return if end { Flow::On } else { Flow::Wait };
        }
        if let Judged::Text(_) = judged
            && opener.is_distinct()
            && self.holds_argument(opener.start, ended.at)
        {
            let at = Span::new(opener.start, ended.at);
            judged = self.case(&opener, self.text.len()).refused(None, Reason::Unreadable(Vec::new()), at);
        }
        // It is gone over once more, as text.
        if let Judged::Text(_) = judged {
            self.work.bytes_skipped += ended.at.saturating_sub(opener.item.at());
        }
        self.commit(opener, judged, out);
        Flow::On
    }

    /// Do marks of an argument stand between `from` and `to`, of a dialect whose calls begin like what stands there?
    fn holds_argument(&self, from: usize, to: usize) -> bool {
        let call =
            self.text.get(from..to).filter(|call| !self.rules.stop.is_cut() && call.len() <= MAX_BROKEN);
        let Some(call) = call.filter(|_| self.may_repair()) else { return false };
        let tools = self.names.tools();
        let mut forms = self.rules.dialects.broken_at(call, tools).filter_map(|record| record.form());
        forms.any(|form| marks::holds_argument(call, form, tools, &self.work.fuel))
    }

    /// Does a call with marks of its own stand in the block of `opener`: `<|channel|>commentary? to=functions.f<|message|>{…}`?
    fn holds_call(&self, opener: &Opener, ended: End) -> bool {
        let inside = self.text.get(opener.item.at()..ended.at).unwrap_or("");
        self.read_inside(self.of_whole_marks(), inside).calls().any(|call| call.span.start != 0)
    }

    /// A scanner for a piece of the answer in which marks are read as they are written, and nothing else counts.
    pub(super) fn of_whole_marks(&self) -> Scanner<'_> {
        let context = Context { dialects: self.rules.dialects.clone(), native: true, ..Context::default() };
        let mut scanner = Scanner::new(self.names.tools(), &context);
        scanner.rules.only_marks = true;
        scanner.rules.stop = self.rules.stop;
        scanner.rules.repairs_marks = false;
        scanner
    }

    /// What `scanner` makes of `text`, a piece of this answer or what that is meant to be, for which this one pays.
    pub(super) fn read_inside<'s>(&self, mut scanner: Scanner<'s>, text: &'s str) -> Outcome {
        // It has no share of its own.
        (scanner.work.fuel, scanner.work.fuelled) = (Fuel::of(&self.work.fuel), usize::MAX);
        let (outcome, work) = scanner.read_at_cost(text);
        self.work.fuel.spend(work);
        outcome
    }

    /// Are broken marks looked for, and is there anything left to spend on it?
    pub(super) fn may_repair(&self) -> bool {
        self.rules.repairs_marks && !self.work.fuel.is_spent()
    }

    /// Commits what a payload that is no marks came to. What is no call, or one of no tool, may have broken marks in front of
    /// it.
    pub(super) fn commit_payload(&mut self, opener: Opener, judged: Judged, end: bool, out: &mut Vec<Event>) {
        let may_be_broken = match &judged {
            Judged::Text(_) => !opener.is_distinct() && !opener.is_fenced(),
            Judged::Calls(verdicts, _) => self.is_nameless(&opener, verdicts),
            Judged::Unclear => false,
        };
        let is_framed =
            |record: Option<Arc<Record>>| record.is_some_and(|record| !record.frames().is_empty());
        if may_be_broken
            && self.begins_line(opener.start)
            && self.broken_record(opener.start, end).map_or(true, is_framed)
        {
            self.mode = Mode::Broken(Box::new(Broken { opener, read: Whole::Payload(judged) }));
            return;
        }
        self.commit(opener, judged, out);
    }

    /// Was a mark behind a declared name taken for a part of the name: `[TOOL_CALLS]f[ARG]S{…}`?
    fn is_nameless(&self, opener: &Opener, verdicts: &[Verdict]) -> bool {
        let [Verdict::Refused(refusal)] = verdicts else { return false };
        let is_unknown = matches!(refusal.reason, Reason::UnknownTool { .. });
        let head = self.text.get(opener.start..opener.item.at()).filter(|_| is_unknown).unwrap_or("");
        let holds = |name: &str| {
            head.match_indices(name).any(|(at, _)| {
                let behind = head.get(at + name.len()..).and_then(|rest| rest.chars().next());
                behind.is_some_and(|c| !c.is_alphanumeric() && c != '_')
            })
        };
        self.names.tools().iter().any(|tool| holds(tool.name()))
    }

    /// May broken marks have kept a call from being read, or stand in a value that was?
    fn is_suspect(&self, opener: &Opener, body: &Body, ended: End, judged: &Judged, end: bool) -> bool {
        let record = self.records_of(opener, end).map(|records| records.into_iter().next());
        if !self.may_repair() {
            return false;
        }
        let Some(form) = record.iter().flatten().find_map(|record| record.form()) else {
            let is_accepted = |verdict: &Verdict| matches!(verdict, Verdict::Accepted(_));
            let is_call = matches!(judged, Judged::Calls(verdicts, _) if verdicts.iter().any(is_accepted));
            return !matches!(record, Ok(None)) && !self.rules.stop.is_cut() && !is_call;
        };
        let call = self.text.get(self.call_start(opener)..ended.at).filter(|call| call.len() <= MAX_BROKEN);
        let Some(call) = call else { return false };
        let (tools, fuel) = (self.names.tools(), &self.work.fuel);
        let holds_sign = |span: Span| span.of(&self.text).contains(['<', '>', '＜', '＞', '&']);
        let is_odd = |param: &&Param| holds_sign(param.key) || holds_sign(param.value);
        let (params, goes_on) = match body {
            Body::Tags(walk) => (walk.params.as_slice(), walk.goes_on),
            _ => (&[][..], false),
        };
        let mut odd = params.iter().filter(is_odd);
        match judged {
            Judged::Calls(..) if goes_on => true,
            Judged::Calls(verdicts, _) => match verdicts.as_slice() {
                [Verdict::Accepted(accepted)] => {
                    let tool = tools.get(&accepted.name);
                    let may_end_elsewhere = |param: &Param| {
                        let value = param.value.of(&self.text);
                        holds_sign(param.key)
                            || tool.is_none_or(|tool| marks::may_end_elsewhere(value, form, tool))
                    };
                    odd.any(may_end_elsewhere)
                }
                [Verdict::Refused(refusal)] => match refusal.reason {
                    Reason::UnknownTool { .. } | Reason::Invalid(_) => {
                        odd.next().is_some() || marks::is_broken(call, form, tools, fuel)
                    }
                    // Of what was cut, the marks are not there.
                    _ => !self.rules.stop.is_cut(),
                },
                _ => false,
            },
            Judged::Text(_) | Judged::Unclear => opener.is_distinct() && !self.rules.stop.is_cut(),
        }
    }

    /// The dialects whose marks `opener` may have, the nearest first.
    fn records_of(&self, opener: &Opener, end: bool) -> Result<Vec<Arc<Record>>, Incomplete> {
        let is_tagged = matches!(
            opener.item,
            Item::Words { .. } | Item::Tagged { style: Style::Words | Style::Elements { .. }, .. }
        );
        match opener.formed().filter(|_| is_tagged) {
            Some(record) => Ok(vec![Arc::clone(record)]),
            None if matches!(opener.item, Item::Words { .. } | Item::Block { .. }) => {
                self.broken_records(opener.start, end)
            }
            None => Ok(Vec::new()),
        }
    }

    /// The dialect of which a call with broken marks begins at `at`, by what stands in front of it.
    pub(super) fn broken_record(&self, at: usize, end: bool) -> Seen<Arc<Record>> {
        Ok(self.broken_records(at, end)?.into_iter().next())
    }

    /// The dialects of which one may, the nearest first.
    fn broken_records(&self, at: usize, end: bool) -> Result<Vec<Arc<Record>>, Incomplete> {
        let rest = self.text.get(at..).filter(|_| self.may_repair()).unwrap_or("");
        // Of what was cut, the marks are not there.
        if self.rules.stop.is_cut() || !self.rules.dialects.may_break_at(rest) {
            return Ok(Vec::new());
        }
        let tools = self.names.tools();
        let inside = self.markup.inside.as_ref().map(|record| record.id);
        let mut near: Vec<((Nearness, bool), &Arc<Record>)> = Vec::new();
        for record in self.rules.dialects.broken_at(rest, tools) {
            if !self.rules.dialects.admits(record) {
                continue;
            }
            if let Some(nearness) = begins(rest, record, tools, end, &self.work.fuel)?
                // In front of a payload, whole ones need no repair.
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

    /// The tag at `at` that closes a call which nothing opened, right behind one of its arguments:
    /// `<path>a.txt</path>⏎</read_file>`. What stood before it may have gone out as text.
    pub(super) fn closes_nothing(&self, at: usize) -> Option<(Opener, usize)> {
        let tag = tag_at(&self.text, at).ok()??;
        let name = tag.word.of(&self.text);
        let tool = self.names.tools().get(name).filter(|_| tag.closing)?;
        let before = self.text.get(..at).filter(|_| self.may_repair())?;
        let key = before.trim_end().strip_suffix('>')?.rsplit_once("</")?.1;
        self.work.fuel.spend(MAX_BROKEN.min(at) / LETTERS_PER_UNIT);
        let from = before.char_indices().rev().map(|(from, _)| from).find(|from| MAX_BROKEN <= at - from);
        let is_opened = before.get(from.unwrap_or(0)..)?.contains(&format!("<{name}"));
        if is_opened || !tool.declares(key) {
            return None;
        }
        let record = self.rules.dialects.of_sign(Sign::ToolElement);
        if !self.rules.dialects.admits(record) {
            return None;
        }
        let item = Item::Words { name: tag.word, at };
        Some((Opener::bare(at, item, Arc::clone(record)), tag.at.end as usize))
    }

    /// Refuses the call whose closer ends at `end`.
    pub(super) fn refuse_headless(&mut self, opener: Opener, end: usize, out: &mut Vec<Event>) {
        self.look_around(&opener);
        let name = opener.item.name().map(|name| name.of(&self.text).to_owned());
        let case = self.case(&opener, self.text.len());
        let at = Span::new(opener.start, end);
        let refused = case.refused(name.as_deref(), Reason::Unreadable(Vec::new()), at);
        self.commit(opener, refused, out);
    }

    /// Where the marks of the call begin, behind those of the section.
    fn call_start(&self, opener: &Opener) -> usize {
        let name = opener.item.name().map_or(opener.item.at(), |name| name.start as usize);
        let head = self.text.get(opener.start..name).unwrap_or("");
        opener.start + head.rfind('<').unwrap_or(0)
    }

    /// Begins a call of the dialect of `record` at `at`, where its broken marks begin.
    pub(super) fn begin_broken(&mut self, at: usize, record: Arc<Record>) {
        let item = Item::Tagged { name: Span::at(at), at, style: Style::Words };
        let opener = Opener::bare(at, item, record);
        self.look_around(&opener);
        self.mode = Mode::Broken(Box::new(Broken { opener, read: Whole::Nothing }));
    }

    /// Looks at a call with broken marks once the text is over.
    pub(super) fn broken(&mut self, broken: Box<Broken>, end: bool, out: &mut Vec<Event>) -> Flow {
        if !end {
            self.mode = Mode::Broken(broken);
            return Flow::Wait;
        }
        let Broken { mut opener, read } = *broken;
        let is_read = matches!(read, Whole::Body(..));
        let own = match read {
            Whole::Nothing => None,
            Whole::Body(body, ended) => Some(self.judge_body(&opener, &body, ended)),
            Whole::Payload(judged) => Some(judged),
        };
        let accepted = match &own {
            Some(Judged::Calls(verdicts, _)) => match verdicts.as_slice() {
                [Verdict::Accepted(call)] => Some(&call.arguments),
                _ => None,
            },
            _ => None,
        };
        self.work.refuel(self.text.len());
        let from = opener.start;
        let len = self.text.len() - from;
        let is_within = len <= MAX_BROKEN && self.may_repair();
        let records = match is_read {
            true => self.records_of(&opener, true),
            false => self.broken_records(from, true),
        };
        let records = records.ok().filter(|_| is_within).unwrap_or_default();
        let form = records.iter().find_map(|record| record.form());
        let mut decision = NOTHING;
        let mut is_framed = false;
        // The nearest dialect counts of which there is a reading.
        for record in &records {
            if !matches!(decision, Decision::Nothing { .. }) || !self.may_repair() {
                break;
            }
            if !record.frames().is_empty()
                && !std::mem::replace(&mut is_framed, true)
                && let Some((judged, record, delimiters)) = self.framed(&opener)
            {
                opener.delimiters = delimiters;
                (opener.record, opener.dialect) = (Arc::clone(&record), record);
                self.commit(opener, judged, out);
                return Flow::On;
            }
            let Some(own) = record.form() else { continue };
            let trim = if is_read { opener.record.trim } else { record.trim };
            let is_inside = self.markup.delimiters.contains(&Delimiter::Tag);
            let (tools, fuel) = (self.names.tools(), &self.work.fuel);
            let read_from = |from: usize| marks::read((&self.text, from), own, trim, tools, is_inside, fuel);
            decision = read_from(from);
            // What stands before the call may be marks of no dialect: `<｜DSMLnfunction_calls>`.
            if is_read
                && matches!(decision, Decision::Nothing { .. })
                && let inner @ (Decision::Calls { .. } | Decision::Ambiguous { .. }) =
                    read_from(self.call_start(&opener))
            {
                decision = inner;
            }
            if !is_read && !matches!(decision, Decision::Nothing { .. }) {
                (opener.record, opener.dialect) = (Arc::clone(record), Arc::clone(record));
            }
        }
        // Marks that need no repair stay what they were taken for, and so does a call that their repair leaves as it is.
        let decision = match (decision, accepted) {
            (Decision::Calls { calls, repaired, .. }, Some(arguments))
                if repaired.is_empty() || calls.first().is_some_and(|(_, own)| own == arguments) =>
            {
                NOTHING
            }
            (Decision::Ambiguous { is_whole_first: true, .. }, Some(_)) => NOTHING,
            (decision, _) => decision,
        };
        let own = match (&decision, own) {
            (Decision::Nothing { extent: Some(extent) }, Some(own)) => {
                Some(self.case(&opener, self.text.len()).unlikely(own, *extent))
            }
            (_, own) => own,
        };
        let is_repaired = !matches!(decision, Decision::Nothing { .. });
        let judged = self.case(&opener, self.text.len()).repaired(decision);
        let mut judged = judged.or(own).unwrap_or(Judged::Text(None));
        // What a call's own marks open is refused where it has no reading, and never said.
        if let (Judged::Text(_), Some(form)) = (&judged, form)
            && opener.is_distinct()
            && marks::holds_argument(
                self.text.get(from..).unwrap_or(""),
                form,
                self.names.tools(),
                &self.work.fuel,
            )
        {
            let end = self.text.len();
            let name = opener.item.name().map(|name| name.of(&self.text)).filter(|name| !name.is_empty());
            let reason = Reason::Unreadable(Vec::new());
            judged = self.case(&opener, end).refused(name, reason, Span::new(from, end));
        }
        if is_repaired {
            // Its own marks were read to their end.
            opener.delimiters.retain(|delimiter| *delimiter != Delimiter::Tag);
        }
        self.commit(opener, judged, out);
        Flow::On
    }
}

impl Case<'_, '_> {
    /// One call that was read by its whole marks, through which no way is likely. It is refused up to the last one of them; where
    /// another call opens in it, that may be a value's, and so may be all that follow.
    fn unlikely(&self, own: Judged, extent: Extent) -> Judged {
        let Judged::Calls(verdicts, end) = &own else { return own };
        let holds_call = extent.next.is_some_and(|next| next < *end);
        let marks_end = if holds_call { extent.last } else { extent.own };
        let at = Span::new(self.opener.item.at(), marks_end.max(*end));
        match verdicts.as_slice() {
            [Verdict::Accepted(Acceptance { name, arguments, .. })] => {
                self.refused(Some(name), Reason::Ambiguous { readings: vec![arguments.clone()] }, at)
            }
            [Verdict::Refused(Refusal { name, reason: reason @ Reason::Ambiguous { .. }, .. })] => {
                self.refused(name.as_deref(), reason.clone(), at)
            }
            _ => own,
        }
    }

    /// What broken marks come to; `None` where they have no reading.
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

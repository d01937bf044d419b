//! Calls whose marks are broken: where the reader of whole ones fails, or may have read a broken mark into a value.

use std::sync::Arc;

use callwright_json::{Repair, RepairKind, Span};

use super::judge::body::{Body, End};
use super::judge::{Case, Judged};
use super::opener::{Item, Opener};
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::Record;
use crate::marks::{self, Begins, Decision, begins};
use crate::payload::tagged::{Param, Style};
use crate::syntax::tag::{Lexed, Role, tag_at};
use crate::verdict::{Reason, Verdict};

/// The longest text, in bytes, in which a broken call is looked for: each mark in it is another place where a value may end.
const MAX_BROKEN: usize = 1 << 16;
/// The most that is looked at so in one answer: it costs about a thousand times as much as to read what is whole.
const MAX_ALL: usize = 1 << 18;

/// What it takes to tell whether one begins, in bytes that are looked at so.
const LOOK: usize = 128;

/// A call that waits for the end of the text, which tells how its marks are meant.
#[derive(Debug)]
pub(super) struct Broken {
    opener: Opener,
    /// What the reader of whole marks found.
    read: Option<(Body, End)>,
}

impl Scanner<'_> {
    /// Judges a body that has ended. `None` where only the rest of the text tells.
    pub(super) fn judge_marks(
        &mut self,
        opener: Opener,
        body: Body,
        ended: End,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        let judged = self.judge_body(&opener, &body, ended);
        if self.is_suspect(&opener, &body, ended, &judged, end) {
            self.mode = Mode::Broken(Box::new(Broken { opener, read: Some((body, ended)) }));
            return if end { Flow::On } else { Flow::Wait };
        }
        // It is gone over once more, as text.
        if let Judged::Text(_) = judged {
            self.bytes_skipped += ended.at.saturating_sub(opener.item.at());
        }
        self.commit(opener, judged, out);
        Flow::On
    }

    /// May broken marks have kept a call from being read, or stand in a value that was?
    fn is_suspect(&mut self, opener: &Opener, body: &Body, ended: End, judged: &Judged, end: bool) -> bool {
        let Some(record) = self.record_of(opener, end) else { return false };
        let Some(form) = &record.form else { return false };
        if MAX_ALL < self.bytes_mended {
            return false;
        }
        let call = self.text.get(self.call_start(opener)..ended.at).filter(|call| call.len() <= MAX_BROKEN);
        let Some(call) = call else { return false };
        let (tools, call_len) = (self.names.tools(), call.len());
        let is_suspect = match judged {
            Judged::Calls(verdicts, _) => match verdicts.as_slice() {
                [Verdict::Accepted(_)] => {
                    let Body::Tags(walk) = body else { return false };
                    let holds_sign = |span: Span| span.of(&self.text).contains(['<', '>']);
                    // Another mark than its own closer ends it.
                    let is_unclosed = |value: Span| {
                        let next = tag_at(&self.text, value.end as usize);
                        matches!(next, Lexed::Tag(tag) if !tag.closing || matches!(tag.role, Role::Call | Role::Group))
                    };
                    let is_odd = |param: &Param| {
                        holds_sign(param.key) || holds_sign(param.value) || is_unclosed(param.value)
                    };
                    walk.params.iter().any(is_odd) && !marks::is_whole(call, form, opener.record.trim, tools)
                }
                [Verdict::Refused(refusal)] => match refusal.reason {
                    Reason::UnknownTool { .. } | Reason::Invalid(_) => marks::is_broken(call, form, tools),
                    // Of what was cut, the marks are not there.
                    _ => !self.cut,
                },
                _ => false,
            },
            Judged::Text(_) | Judged::Unclear => opener.is_distinct() && !self.cut,
        };
        self.bytes_mended += call_len;
        is_suspect
    }

    /// The dialect whose marks `opener` may have, if that writes arguments in marks.
    fn record_of(&mut self, opener: &Opener, end: bool) -> Option<Arc<Record>> {
        let is_tagged = matches!(
            opener.item,
            Item::Words { .. } | Item::Tagged { style: Style::Words | Style::Elements { marked: false }, .. }
        );
        let own = [&opener.dialect, &opener.record].into_iter().find(|record| record.form.is_some());
        match own.filter(|_| is_tagged) {
            Some(record) => Some(Arc::clone(record)),
            None if matches!(opener.item, Item::Words { .. }) => self.broken_record(opener.start, end).0,
            None => None,
        }
    }

    /// The dialect of which a call with broken marks begins at `at`, and whether more text must tell.
    pub(super) fn broken_record(&mut self, at: usize, end: bool) -> (Option<Arc<Record>>, bool) {
        // Of what was cut, the marks are not there.
        if self.cut {
            return (None, false);
        }
        let rest = self.text.get(at..).filter(|_| self.bytes_mended <= MAX_ALL).unwrap_or("");
        let mut grows = false;
        for record in self.dialects.broken_at(rest, self.names.tools()) {
            self.bytes_mended += LOOK;
            let form = record.form.as_ref().filter(|_| self.dialects.admits(record));
            match form.map(|form| begins(rest, form, self.names.tools(), end)) {
                Some(Begins::Yes) => return (Some(Arc::clone(record)), grows),
                Some(Begins::Grows) => grows = true,
                Some(Begins::No) | None => {}
            }
        }
        (None, grows)
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
        let dialect = Arc::clone(&record);
        let opener = Opener { start: at, item, server: None, delimiters: Vec::new(), record, dialect };
        self.look_around(&opener);
        self.mode = Mode::Broken(Box::new(Broken { opener, read: None }));
    }

    /// Looks at a call with broken marks once the text is over.
    pub(super) fn broken(&mut self, broken: Box<Broken>, end: bool, out: &mut Vec<Event>) -> Flow {
        if !end {
            self.mode = Mode::Broken(broken);
            return Flow::Wait;
        }
        let Broken { mut opener, read } = *broken;
        let own = read.as_ref().map(|(body, ended)| self.judge_body(&opener, body, *ended));
        let is_accepted = matches!(&own, Some(Judged::Calls(verdicts, _)) if matches!(verdicts.as_slice(), [Verdict::Accepted(_)]));
        let from = opener.start;
        let text = self.text.get(from..).unwrap_or("");
        let is_within = text.len() <= MAX_BROKEN && self.bytes_mended <= MAX_ALL;
        let record = self.record_of(&opener, true).filter(|_| is_within);
        let decision = match record.as_ref().and_then(|record| record.form.as_ref()) {
            Some(form) => {
                marks::read(&self.text, from, form, opener.record.trim, self.names.tools(), self.cut)
            }
            None => Decision::Nothing,
        };
        // What nothing had to be mended in is what it was taken for.
        let decision = match decision {
            Decision::Calls { mended, .. } if mended.is_empty() && read.is_some() => Decision::Nothing,
            Decision::Ambiguous { has_whole: true, .. } if is_accepted => Decision::Nothing,
            decision => decision,
        };
        let is_mended = !matches!(decision, Decision::Nothing);
        let judged = self.case(&opener, self.text.len()).mended(decision);
        self.bytes_mended += self.text.len() - from;
        let judged = judged.or(own).unwrap_or(Judged::Text(None));
        if is_mended {
            // Its marks were read to their end.
            opener.delimiters.clear();
            self.delimiters.clear();
        }
        self.commit(opener, judged, out);
        Flow::On
    }
}

impl Case<'_, '_> {
    /// What broken marks come to; `None` where they have no reading.
    fn mended(&self, decision: Decision<'_>) -> Option<Judged> {
        let at = self.opener.start;
        match decision {
            Decision::Nothing => None,
            Decision::Ambiguous { readings, name, .. } => {
                let end = self.text.len();
                Some(Judged::Calls(vec![self.refuse(name, Reason::Ambiguous { readings }, at, end)], end))
            }
            Decision::Calls { calls, end, mended } => {
                let marks = mended.iter().map(|&(from, to)| Repair {
                    kind: RepairKind::MendMark,
                    at: Span::new(from, to),
                    put: "".into(),
                });
                let verdict = |(tool, arguments): (&crate::tools::Tool, String)| {
                    let put = arguments.clone().into();
                    let swap = Repair { kind: RepairKind::SwapSyntax, at: Span::new(at, end), put };
                    let repairs = [swap].into_iter().chain(marks.clone()).collect();
                    self.verdict(tool, tool.name(), &arguments, repairs, at, end)
                };
                let verdicts = calls.into_iter().map(verdict).collect::<Option<Vec<_>>>()?;
                Some(Judged::Calls(verdicts, end))
            }
        }
    }
}

//! A payload that has a reader of its own, behind marks that are broken: it is read as if they were whole.

use std::sync::Arc;

use callwright_json::{Repair, RepairKind, Span};

use super::Scanner;
use super::judge::Judged;
use super::opener::{Delimiter, Opener};
use crate::dialect::Record;
use crate::marks::{Front, fronts};
use crate::verdict::{Acceptance, Reason, Verdict};

/// A way to read the marks in front of a payload.
struct Way {
    record: Arc<Record>,
    front: Front,
    /// Where the marks end as they are written.
    end: usize,
}

impl Scanner<'_> {
    /// The call at `opener` whose marks are broken, its dialect, and what its marks opened; `None` where there is none.
    pub(super) fn framed(&self, opener: &Opener) -> Option<(Judged, Arc<Record>, Vec<Delimiter>)> {
        let at = opener.start;
        let mut accepted: Vec<(Acceptance, Way)> = Vec::new();
        let mut refused: Option<(Verdict, Way)> = None;
        for way in self.ways(at) {
            match self.as_if_whole(&way) {
                Some(Verdict::Accepted(call)) => {
                    let is_same = |(other, _): &(Acceptance, Way)| {
                        other.name == call.name && other.arguments == call.arguments
                    };
                    if !accepted.iter().any(is_same) {
                        accepted.push((call, way));
                    }
                }
                Some(verdict) if refused.is_none() => refused = Some((verdict, way)),
                Some(_) | None => {}
            }
        }
        let case = self.case(opener, self.text.len());
        if 1 < accepted.len() {
            let readings = accepted.iter().map(|(call, _)| call.arguments.clone()).collect();
            let (_, way) = accepted.pop()?;
            let all = Span::new(at, self.text.len());
            let refused = case.refused(None, Reason::Ambiguous { readings }, all);
            return Some((refused, Arc::clone(&way.record), self.opened(&way, self.text.len())));
        }
        if let Some((call, way)) = accepted.pop() {
            let (call, end) = self.repaired(call, &way, at);
            let judged = Judged::Calls(vec![case.admitted(call, Span::new(at, end))], end);
            return Some((judged, Arc::clone(&way.record), self.opened(&way, end)));
        }
        let (verdict, way) = refused?;
        let Verdict::Refused(refusal) = verdict else { return None };
        let all = Span { start: Span::at(way.end).start, ..moved(refusal.span, &way, at) };
        let refused = case.refused(refusal.name.as_deref(), refusal.reason, all);
        Some((refused, Arc::clone(&way.record), self.opened(&way, all.end as usize)))
    }

    /// What the marks opened, with the bracket of a list behind them, as far as it is not closed up to `end`.
    fn opened(&self, way: &Way, end: usize) -> Vec<Delimiter> {
        let is_closed = self.text.get(..end).is_some_and(|text| text.trim_end().ends_with("```"));
        let fence = (way.front.whole.contains("```") && !is_closed).then_some(Delimiter::Fence(3));
        let behind = self.text.get(way.end..).unwrap_or("").trim_start();
        let is_list = behind.starts_with('[') || way.front.whole.trim_end().ends_with('[');
        let list = is_list.then_some(Delimiter::Bracket);
        [Some(Delimiter::Tag), fence, list].into_iter().flatten().collect()
    }

    /// The ways to read the marks at `at` with the fewest wrong letters.
    fn ways(&self, at: usize) -> Vec<Way> {
        let text = self.text.get(at..).unwrap_or("");
        let tools = self.names.tools();
        let mut ways: Vec<Way> = Vec::new();
        for record in
            self.rules.dialects.broken_at(text, tools).filter(|record| self.rules.dialects.admits(record))
        {
            let found = record.frames().iter().flat_map(|frame| fronts(text, frame, tools));
            ways.extend(found.map(|(end, front)| Way { record: Arc::clone(record), front, end: at + end }));
        }
        let least = ways.iter().map(|way| way.front.edits).min();
        ways.retain(|way| Some(way.front.edits) == least);
        ways
    }

    /// What comes first in the text whose marks are whole.
    fn as_if_whole(&self, way: &Way) -> Option<Verdict> {
        let rest = self.text.get(way.end..).unwrap_or("");
        let whole = format!("{}{rest}", way.front.whole);
        let mut scanner = self.of_whole_marks();
        scanner.rules.admission = self.rules.admission;
        let outcome = self.read_inside(scanner, &whole);
        outcome.verdicts.into_iter().next().filter(|verdict| verdict.head().2.start == 0)
    }

    /// The call where it stands in the text, with the repairs of its marks, and where it ends.
    fn repaired(&self, mut call: Acceptance, way: &Way, at: usize) -> (Acceptance, usize) {
        let end = moved(call.span, way, at).end as usize;
        for repair in &mut call.repairs {
            repair.at = moved(repair.at, way, at);
        }
        let put = way.front.whole.clone().into();
        call.repairs.insert(0, Repair { kind: RepairKind::MendMark, at: Span::new(at, way.end), put });
        call.span = Span::new(at, end);
        (call, end)
    }
}

/// `span` of the text with whole marks, in the text as it is.
fn moved(span: Span, way: &Way, at: usize) -> Span {
    let place = |place: u32| match (place as usize).checked_sub(way.front.whole.len()) {
        Some(behind) => way.end + behind,
        None => at,
    };
    Span::new(place(span.start), place(span.end))
}

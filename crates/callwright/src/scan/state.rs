//! The state of a scanner between two pieces of an answer, besides the text and its mode.

use std::borrow::Cow;
use std::sync::Arc;

use callwright_json::Fuel;

use super::drafts::Drafts;
use super::mention::{Before, Beside, Run, Surroundings, Told};
use super::opener::Delimiter;
use super::partial::Preview;
use super::repeat::Made;
use super::{Scanner, State};
use crate::context::{Context, Stop};
use crate::dialect::{Dialects, Record};
use crate::policy::{Admission, CallsInReasoning, Policy};
use crate::tools::names::Names;
use crate::tools::{Declared, ToolChoice};
use crate::verdict::{Outcome, Verdict};

/// The rules by which the answer is read.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// The way in which the answer ends.
    pub(super) stop: Stop,
    /// Decides which repaired calls may pass.
    pub(super) admission: Admission,
    /// The answer ended below its limit.
    pub(super) is_below_limit: bool,
    /// Nobody asks for events.
    pub(super) is_quiet: bool,
    /// The choice of tools in the request.
    pub(super) choice: ToolChoice,
    /// The model was given its tools natively.
    pub(super) is_native: bool,
    /// The text is a quotation: no other quotation begins in it, and its marks are read as written.
    pub(super) is_quotation: bool,
    /// A call that may be made or shown stays in the text.
    pub(super) unsure_is_text: bool,
    /// The answer is held to a form in which prose has a place of its own, so that a call that begins it is meant.
    pub(super) is_constrained: bool,
    /// Decides what becomes of calls in reasoning.
    pub(super) calls_in_reasoning: CallsInReasoning,
    /// The dialect that the prompt asked for, if that is known.
    pub(super) asked: Option<Arc<Record>>,
    pub(super) dialects: Dialects,
}

impl Rules {
    pub(super) fn of(context: &Context<'_>) -> Rules {
        Rules {
            stop: Stop::of(context.finish_reason),
            admission: Admission { policy: context.policy, doubts_open_ends: context.doubt_open_ends },
            is_below_limit: false,
            is_quiet: false,
            choice: context.tool_choice.clone(),
            is_native: context.native,
            is_quotation: false,
            unsure_is_text: context.unsure_is_text || context.native || context.policy == Policy::Strict,
            is_constrained: false,
            calls_in_reasoning: context.calls_in_reasoning,
            asked: context.asked.and_then(|name| context.dialects.record_of(name)).cloned(),
            dialects: context.dialects.clone(),
        }
    }

    /// Returns the way in which the answer ends for a payload at its end.
    pub(super) fn stop_of_payload(&self) -> Stop {
        match self.stop {
            Stop::Ended if self.is_below_limit || self.admission.doubts_open_ends => Stop::Sure,
            stop => stop,
        }
    }
}

impl<'a> Scanner<'a> {
    /// Returns a scanner for an answer to a request that declares `tools`, borrowed or shared. With an `Arc<ToolSet>`
    /// it is a `Scanner<'static>`, and may move to another thread or into a stream.
    pub fn new(tools: impl Into<Declared<'a>>, context: &Context<'_>) -> Scanner<'a> {
        let mut scanner = Scanner::of(Names::new(tools), Rules::of(context), Drafts::new(context.live));
        if context.starts_in_reasoning {
            scanner.think(0, context.dialects.reasoning_closer(), &mut Vec::new());
        }
        scanner
    }

    pub(super) fn of(names: Names<'a>, rules: Rules, native: Drafts) -> Scanner<'a> {
        Scanner {
            native,
            names,
            rules,
            text: Cow::Borrowed(""),
            at: 0,
            state: State::Prose,
            markup: Markup::default(),
            speech: None,
            apart: None,
            thought: None,
            preview: Preview::default(),
            standing: Standing::default(),
            space: Space::default(),
            outcome: Outcome::default(),
            work: Work::default(),
            made: Made::default(),
        }
    }
}

/// The markup around calls, so far.
#[derive(Debug, Default)]
pub(super) struct Markup {
    /// The open delimiters, outermost first.
    pub(super) delimiters: Vec<Delimiter>,
    /// The dialect of the last calls.
    pub(super) inside: Option<Arc<Record>>,
    /// The place is inside a fence that stayed in the text.
    pub(super) in_fence: bool,
    /// A mark that opens calls stands in the text, so that a mark that would close it is text as well.
    pub(super) opened_in_text: bool,
    /// The number of times that all markup was closed.
    pub(super) group: usize,
    /// The end of the last call and of its closing marks.
    pub(super) last_call_end: usize,
    /// The beginning of the closing marks of earlier calls that are being stepped over.
    pub(super) marks_from: usize,
    /// Calls of the last list, which wait for the end of its markup.
    pub(super) pending: Vec<Verdict>,
}

/// The relation of the calls to the words around them.
#[derive(Default)]
pub(super) struct Standing {
    /// The surroundings of the place up to which the answer was read.
    pub(super) surroundings: Surroundings,
    /// The surroundings of the answer, while a thought in it is read for calls.
    pub(super) outer: Option<Box<Surroundings>>,
    /// The beginning of the call that is being read.
    pub(super) before: Before,
    /// The run of the calls that are being read.
    pub(super) run: Option<Run>,
    /// The decisions about the runs that went out.
    pub(super) told: Told,
    /// The places of the calls among the words.
    pub(super) beside: Beside,
    /// The number of times that prose stood between calls.
    pub(super) block: usize,
    /// Prose stood behind the last call.
    pub(super) prose_since_call: bool,
}

/// Whitespace that goes out only together with the text behind it.
#[derive(Debug, Default)]
pub(super) struct Space {
    pub(super) pending: String,
    /// Markup was taken out since the last prose.
    pub(super) removed: bool,
    /// Whitespace stood before that markup.
    pub(super) before: bool,
}

/// The work of reading so far, in bytes, and its limits.
#[derive(Debug)]
pub(super) struct Work {
    /// Bytes of payload that were read.
    pub(super) bytes_read: usize,
    /// Bytes that were searched for the ends of payloads.
    pub(super) bytes_skipped: usize,
    /// The fuel that is left for reading broken calls, and for finding their marks.
    pub(super) fuel: Fuel,
    /// The place up to which the text has given its share of fuel.
    pub(super) fuelled: usize,
    /// The limit of the search for the end of this payload.
    pub(super) reach: usize,
    /// A place that only more text can settle, and the length that the text needs before the next try.
    pub(super) asked: (usize, usize),
}

impl Default for Work {
    fn default() -> Work {
        Work {
            bytes_read: 0,
            bytes_skipped: 0,
            fuel: Fuel::new(FREE_FUEL),
            fuelled: 0,
            reach: usize::MAX,
            asked: (0, 0),
        }
    }
}

/// Fuel that any answer may spend on broken calls: for some ten that have no reading, or for one of 64 KB.
pub(super) const FREE_FUEL: u32 = 1 << 21;
/// Further fuel for each byte of the answer.
pub(super) const FUEL_PER_BYTE: usize = 12;

/// A place that waits is tried again once its text is longer by this part. A try at each byte would cost the square of
/// its length.
const MORE: usize = 8;

impl Work {
    /// Notes that only more text can settle the place `at` in a text of length `len`.
    pub(super) fn wait(&mut self, at: usize, len: usize) {
        self.asked = (at, len + (len - at).div_ceil(MORE).max(1));
    }

    /// Adds the fuel that the text up to `end` gives.
    pub(super) fn refuel(&mut self, end: usize) {
        self.fuel.add(FUEL_PER_BYTE * end.saturating_sub(self.fuelled));
        self.fuelled = self.fuelled.max(end);
    }
}

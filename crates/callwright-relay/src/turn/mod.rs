//! One request on its way: the upstream, the way to ask it, and the next question.

mod open;
mod adapt;
mod choose;
mod no_answer;
mod explain;
mod climb;
mod settle;
mod find;
mod second;
pub(crate) mod content;
mod once_more;
mod evidence;
mod proved;
mod begun;
mod resolution;
pub(crate) mod outcome;

use std::sync::Arc;

use callwright::{Policy, Refusal, ToolChoice, ToolSet, Verdict};
use http::HeaderMap;

use crate::config::Mode;
use crate::ladder::{Ladder, doubts_open_ends};
use crate::log::Log;
use crate::question::Question;
use crate::reading::{ReadOptions, Shown};
use crate::record::Choice;
use crate::relay::Relay;
use crate::target::Target;
use crate::tokens::{Budget, Usage};
use crate::tool_search::ToolSearch;
use crate::wire::Ask;

pub(crate) use begun::{Begun, begin_with};
pub(crate) use explain::explained;
pub(crate) use no_answer::{NoAnswer, error_line, unreachable};
pub(crate) use open::{AnswerSource, OpenAnswer};
pub(crate) use resolution::{Resolution, Sent, refusals};

/// The verdict on a call of a name that no tool has; `None` leaves it refused.
pub type ReadUnknown = Arc<dyn Fn(&Refusal, &Choice) -> Option<Verdict> + Send + Sync>;

/// A request on its way.
pub(crate) struct Turn {
    pub(crate) relay: Arc<Relay>,
    pub(crate) ask: Ask,
    /// The tools that the request declares.
    pub(crate) tool_set: Arc<ToolSet>,
    /// The part of them that the model is shown, if they do not all fit.
    pub(crate) search: Option<ToolSearch>,
    pub(crate) policy: Policy,
    /// Says whether arguments may go out while they are written; none if the client says nothing.
    pub(crate) stream_arguments: Option<bool>,
    pub(crate) log: Log,
    /// The client's headers that upstreams may see.
    pub(crate) headers: HeaderMap,
    pub(crate) ladder: Ladder,
    /// Judges calls of names that no tool has.
    pub(crate) read_unknown: Option<ReadUnknown>,
}

/// A checked request.
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) tool_set: Arc<ToolSet>,
    pub(crate) policy: Policy,
    /// Says whether arguments may go out while they are written; none if the client says nothing.
    pub(crate) stream_arguments: Option<bool>,
    pub(crate) headers: HeaderMap,
}

impl Turn {
    /// Begins the turn of this request, with no more tools than the model is shown. It is written to `log`.
    pub(crate) async fn new(relay: &Arc<Relay>, asked: Asked, mut log: Log, ladder: Ladder) -> Turn {
        let Asked { ask, tool_set, policy, stream_arguments, headers } = asked;
        log.request(&ask, policy, !tool_set.is_empty());
        let relay = Arc::clone(relay);
        let (search, read_unknown) = (None, None);
        let mut turn = Turn {
            relay,
            ask,
            tool_set,
            search,
            policy,
            stream_arguments,
            log,
            headers,
            ladder,
            read_unknown,
        };
        turn.limit_tools().await;
        turn
    }

    /// Returns whether the request declares tools.
    pub(crate) fn has_tools(&self) -> bool {
        !self.tool_set.is_empty()
    }

    /// Returns whether the answer may need repair. Users never see a call that nobody may make.
    pub(crate) fn is_read(&self) -> bool {
        self.has_tools() || self.ask.json_content
    }

    /// Returns whether the model left out its words or calls. JSON that was asked for may stand in its thought.
    pub(crate) fn owes_an_answer(&self, choice: &Choice) -> bool {
        let may_be_thought = self.ask.json_content && !choice.reasoning.is_empty();
        self.has_tools() && choice.is_silent() && choice.searches.is_empty() && !may_be_thought
    }

    /// Returns whether the model may make calls.
    pub(crate) fn may_call(&self) -> bool {
        self.has_tools() && self.ask.calls.choice != ToolChoice::None
    }

    /// Returns the options for reading an answer of `target`.
    pub(crate) fn read_options(
        &self,
        target: &Target,
        allowed: &ToolChoice,
        shown: &Arc<Shown>,
    ) -> ReadOptions {
        ReadOptions {
            mode: target.mode,
            is_unread: self.relay.capabilities.has_calls_in_text(&target.candidate),
            constrain: target.constrain,
            policy: self.policy,
            doubt_open_ends: doubts_open_ends(self.policy, &self.relay.config.ladder),
            calls_in_reasoning: target.candidate.calls_in_reasoning(),
            dialects: target.dialects().clone(),
            allowed: allowed.clone(),
            asked: target.asked().map(str::to_owned),
            unsure_is_text: false,
            search: self.search.as_ref().map(|search| Arc::clone(&search.name)),
            shown: (target.mode == Mode::Prompt).then(|| Arc::clone(shown)),
        }
    }

    /// Returns the rest of the tokens that an answer of `target` might have taken, after it `spent` these.
    pub(crate) fn budget(&self, target: &Target, spent: Usage) -> Budget {
        Budget::of(Question::first(&self.ask).asks_for(&self.ask, target.request_options()), spent)
    }

    /// Counts the calls of an answer as evidence for its model. A search shows nothing of them.
    pub(crate) fn count_proof(&mut self, target: &Target, choice: &Choice) {
        if !choice.searches.is_empty() {
            return;
        }
        self.log.strict_broken(self.relay.count_calls(target, choice, &self.tool_set));
    }

    /// Returns whether a question about tools brought neither words nor calls. An answer that was cut has an end of its own.
    pub(crate) fn is_silent(&self, resolution: &Resolution) -> bool {
        self.has_tools()
            && resolution.first.is_silent()
            && resolution.verdicts.is_empty()
            && resolution.more_text.trim().is_empty()
    }
}

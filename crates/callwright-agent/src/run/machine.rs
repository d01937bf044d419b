//! Defines the machine: events go in, the next request comes out. It has no clock, file or socket.

use callwright::Policy;
use callwright::value::Value;
use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use super::compaction::Compaction;
use super::settle::{AFTER_END, CANCELLED, CUT, DENIED, EARLY, STOPPED, UNCONFIRMED};
use super::stop::{Account, End, Ended, Stop};
use super::transcript::Transcript;
use super::turn::{Call, ModelTurn, Part};
use super::working::{Done, Known, Working};
use crate::rights::{Decision, Why};
use crate::tool::{Effect, ToolError, ToolResult};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The first message to the model.
    pub system: Option<String>,
    /// The policy for a call that is not right.
    #[serde(with = "policy_name")]
    pub policy: Policy,
    /// The model learns, once, of the repairs in a call that ran.
    pub notes: bool,
    /// The conditions that end the run.
    pub stop: Stop,
    /// The most tokens of a question, by estimate; beyond that, older parts are left out.
    pub context_tokens: Option<usize>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            system: None,
            policy: Policy::Auto,
            notes: false,
            stop: Stop::default(),
            context_tokens: None,
        }
    }
}

/// The next request of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Ask the model, then [`Machine::answered`].
    CallModel(Question),
    /// Ask the user about these calls, then [`Machine::approved`] for each.
    Ask(Vec<(Call, Why)>),
    /// Run these calls, then [`Machine::finished`] for each. Where there are several, at the same time.
    CallTools(Vec<Call>),
    /// The run is over.
    Done(Ended),
}

/// A question to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The conversation.
    pub messages: Vec<Value>,
    /// A broken call may be asked for again without a trace; not after an equal error.
    pub may_reask: bool,
    /// This is the first question after more was left out.
    pub is_compacted: bool,
}

/// A run between two events. It is serialisable: a copy with the same inputs goes on the same way.
///
/// ```
/// use callwright_agent::run::{End, Machine, ModelTurn, Next, Settings};
///
/// let mut machine = Machine::new(Settings::default());
/// machine.say("Hello.");
/// let Next::CallModel(question) = machine.next() else { panic!() };
/// assert_eq!(question.messages[0]["content"], "Hello.");
/// machine.answered(ModelTurn { text: "Hello!".into(), ..ModelTurn::default() });
/// let Next::Done(ended) = machine.next() else { panic!() };
/// assert_eq!((ended.end, ended.sentence.as_str()), (End::Answered, "Hello!"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub(super) settings: Settings,
    pub(super) transcript: Transcript,
    pub(super) compaction: Compaction,
    /// More was left out since the last question.
    pub(super) is_compacted: bool,
    pub(super) breaker: Breaker,
    pub(super) account: Account,
    /// The number of answers.
    pub(super) turn: u32,
    /// The number of answers since the user spoke last.
    pub(super) turns: u32,
    /// A call did its work since the user spoke last.
    #[serde(default)]
    pub(super) has_done: bool,
    /// The model was asked, since the user spoke last, whether it means a call that its answer shows.
    #[serde(default)]
    pub(super) is_asked: bool,
    pub(super) phase: Phase,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// The model is asked next.
    Model,
    /// The calls of an answer are in progress.
    Calls(Box<Working>),
    /// The run is over.
    Done(Ended),
}

impl Machine {
    /// Creates a run in which nothing has happened.
    pub fn new(settings: Settings) -> Machine {
        let mut transcript = Transcript::default();
        if let Some(system) = &settings.system {
            transcript.system(system);
        }
        Machine {
            settings,
            transcript,
            compaction: Compaction::default(),
            is_compacted: false,
            breaker: Breaker::default(),
            account: Account::default(),
            turn: 0,
            turns: 0,
            has_done: false,
            is_asked: false,
            phase: Phase::Done(Ended { end: End::Silent, sentence: String::from("Nothing was asked yet.") }),
        }
    }

    /// Takes the user's words, at the beginning or after an end. While calls are open it ignores them and returns
    /// false.
    pub fn say(&mut self, text: &str) -> bool {
        if let Phase::Calls(_) = self.phase {
            return false;
        }
        self.transcript.user(text);
        self.go_on()
    }

    /// Asks the model again after an end, as if there had been none. While calls are open the run goes on anyway: it
    /// returns false.
    pub fn go_on(&mut self) -> bool {
        if let Phase::Calls(_) = self.phase {
            return false;
        }
        self.breaker.reset();
        (self.turns, self.has_done, self.is_asked) = (0, false, false);
        self.ask_next();
        true
    }

    /// Returns the next request. It stays the same until an event comes in.
    pub fn next(&self) -> Next {
        match &self.phase {
            Phase::Done(ended) => Next::Done(ended.clone()),
            Phase::Model => Next::CallModel(Question {
                messages: self.compaction.view(self.transcript.messages()),
                may_reask: !self.breaker.is_warned(),
                is_compacted: self.is_compacted,
            }),
            Phase::Calls(working) => working.next(),
        }
    }

    /// Takes the model's answer. Returns the answer with the final ids of its calls.
    pub fn answered(&mut self, mut answer: ModelTurn) -> ModelTurn {
        self.turn += 1;
        self.turns += 1;
        self.account += answer.spent;
        for part in &mut answer.parts {
            match part {
                Part::Call(call) => call.id = self.transcript.new_id(Some(&call.id)),
                Part::Wrong(wrong) if wrong.is_native() => {
                    wrong.id = Some(self.transcript.new_id(wrong.id.as_deref()));
                }
                Part::Wrong(_) => {}
            }
        }
        let is_unrun = |call: &Call| answer.is_cut && call.effect != Effect::Read;
        let mut errors = answer.errors.clone();
        let unrun: Vec<String> = answer
            .calls()
            .filter(|call| is_unrun(call))
            .map(|call| format!("{} truncated", call.name))
            .collect();
        errors.extend((!unrun.is_empty()).then_some(unrun));
        let times = errors.iter().map(|errors| self.breaker.answer(errors)).max().unwrap_or_default();
        if errors.is_empty() {
            self.breaker.all_right();
        }
        if answer.parts.is_empty() {
            self.said(&answer);
            return answer;
        }
        let has_wrongs = answer.wrongs().next().is_some();
        self.account.feedback_turns += u64::from(has_wrongs && self.settings.policy.feeds_back());
        let known = answer.calls().map(|call| {
            let unrun = is_unrun(call).then(|| Done::error(CUT));
            // A claim to be done does not count beside a faulty call.
            let early = (call.ends_run && has_wrongs).then(|| Done::error(EARLY));
            (call.id.clone(), Known { result: unrun.or(early), ..Known::default() })
        });
        let calls = known.collect();
        let breaks = self.settings.stop.breaker.max(1) <= times;
        self.phase = Phase::Calls(Box::new(Working { answer: answer.clone(), calls, breaks }));
        self.settle();
        answer
    }

    /// Returns the calls without a decision whether they may run.
    pub fn undecided(&self) -> Vec<Call> {
        let Phase::Calls(working) = &self.phase else { return Vec::new() };
        let is_open = |known: &Known| known.decision.is_none() && known.result.is_none();
        working.open(is_open).cloned().collect()
    }

    /// Sets the decision about a call, by its tool and the user's permissions. Without a decision the user is asked.
    pub fn decided(&mut self, id: &str, decision: Decision) {
        if let Some(result) = Machine::refusal(decision) {
            return self.finished(id, &result);
        }
        if let Some(known) = self.known(id) {
            known.decision = Some(decision);
        }
    }

    /// Returns the result of a call that this decision does not let run.
    pub(super) fn refusal(decision: Decision) -> Option<ToolResult> {
        let why = match decision {
            Decision::Run | Decision::Ask(_) => return None,
            Decision::Feedback => String::from("not run: the call can be read in more than one way"),
            Decision::Refuse(why) => format!("not run: {why}"),
        };
        Some(ToolError::new(why).into())
    }

    /// Returns the result of a repaired call that nobody is there to confirm: the model sees the arguments that it may
    /// send.
    pub(super) fn unconfirmed(call: &Call) -> ToolResult {
        ToolError::new(UNCONFIRMED).with_lines(call.arguments.clone()).into()
    }

    /// Returns the result of a call that only a person can allow, where nobody is there.
    pub(super) fn unattended(why: Why) -> ToolResult {
        if why == Why::Beside {
            // The model can confirm the call by a call that stands apart.
            let text = format!(
                "not run: {why}. If you mean it, make the call again, alone, with no words around it"
            );
            return ToolError::new(text).into();
        }
        let text = format!(
            "not run: {why}; nobody is there to allow it. Go on without it, and say at the end what you would have done"
        );
        ToolError::new(text).into()
    }

    /// Returns the result of a call that the user did not allow.
    pub(super) fn denial() -> ToolResult {
        ToolError::new(DENIED).into()
    }

    /// Forgets the decisions about calls that have not begun: other rights may hold.
    pub fn undecide(&mut self) {
        let Phase::Calls(working) = &mut self.phase else { return };
        working.calls.values_mut().for_each(|known| known.decision = None);
    }

    /// Takes the user's yes or no to a call.
    pub fn approved(&mut self, id: &str, yes: bool) {
        match self.known(id) {
            Some(known) if yes => known.is_approved = true,
            Some(_) => self.finished(id, &Machine::denial()),
            None => {}
        }
    }

    /// Returns whether the user approved this very call.
    pub fn is_approved(&self, id: &str) -> bool {
        let Phase::Calls(working) = &self.phase else { return false };
        working.calls.get(id).is_some_and(|known| known.is_approved)
    }

    /// Takes the result of a call. Only the first result counts.
    pub fn finished(&mut self, id: &str, result: &ToolResult) {
        let Some(known) = self.known(id).filter(|known| known.result.is_none()) else { return };
        known.result = Some(Done { content: result.content(), is_error: result.is_error() });
        let Phase::Calls(working) = &self.phase else { return };
        let Some(call) = working.answer.calls().find(|call| call.id == id) else { return };
        self.account.calls += 1;
        match result {
            ToolResult::Error(error) => {
                let at = error.path.as_deref().unwrap_or_default();
                self.breaker.failed(&call.name, &format!("{} {at}", error.message));
            }
            ToolResult::Text(_) | ToolResult::Object(_) => {
                let name = call.name.clone();
                let ends_run = call.ends_run;
                self.breaker.succeeded(&name);
                self.has_done = true;
                if ends_run {
                    self.answer_open(AFTER_END);
                }
            }
        }
        self.settle();
    }

    /// Adds costs that no answer contains: time, money.
    pub fn spent(&mut self, more: Account) {
        self.account += more;
    }

    /// Ends the run for the user. Open calls get that as their result.
    pub fn cancel(&mut self) {
        self.end_early(End::Cancelled, CANCELLED, String::from("⚠️ Cancelled."));
    }

    /// Ends the run for its caller, who has seen enough.
    pub fn stop(&mut self, sentence: &str) {
        let sentence = if sentence.trim().is_empty() { "Stopped." } else { sentence };
        self.end_early(End::Predicate, STOPPED, sentence.to_owned());
    }

    /// Returns the settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the settings of the run for changes: a user of a chat may make them between turns.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// Returns the conversation so far. It always ends with a whole turn, so that every server accepts it.
    pub fn messages(&self) -> &[Value] {
        self.transcript.messages()
    }

    /// Returns the costs so far.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of the model's answers.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the answer whose calls are in progress.
    pub fn working_on(&self) -> Option<&ModelTurn> {
        match &self.phase {
            Phase::Calls(working) => Some(&working.answer),
            Phase::Model | Phase::Done(_) => None,
        }
    }

    /// Makes the model the next to be asked, and leaves out parts that are too long.
    pub(super) fn ask_next(&mut self) {
        let messages = self.transcript.messages();
        let bound = self.settings.context_tokens;
        self.is_compacted = bound.is_some_and(|bound| self.compaction.fit(messages, bound));
        self.phase = Phase::Model;
    }

    fn known(&mut self, id: &str) -> Option<&mut Known> {
        match &mut self.phase {
            Phase::Calls(working) => working.calls.get_mut(id),
            Phase::Model | Phase::Done(_) => None,
        }
    }

    fn end_early(&mut self, end: End, result: &str, sentence: String) {
        match &self.phase {
            Phase::Done(_) => return,
            Phase::Calls(_) => {
                self.answer_open(result);
                self.settle();
            }
            Phase::Model => {}
        }
        self.phase = Phase::Done(Ended { end, sentence });
    }

    /// Gives this error as the result to all calls without one.
    fn answer_open(&mut self, error: &str) {
        let Phase::Calls(working) = &mut self.phase else { return };
        for known in working.calls.values_mut() {
            known.result.get_or_insert_with(|| Done::error(error));
        }
    }
}

/// Reads and writes a policy by its name.
mod policy_name {
    use callwright::Policy;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(policy: &Policy, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(policy.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Policy, D::Error> {
        let name = String::deserialize(from)?;
        Policy::named(&name)
            .ok_or_else(|| D::Error::custom("a policy is one of auto, heal, feedback, strict"))
    }
}

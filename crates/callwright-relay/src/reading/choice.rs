//! One choice of an answer: the engine reads it, and the model's own text is remembered.

use std::sync::Arc;

use callwright::constrain::Answer;
use callwright::prompt::Examples;
use callwright::{
    Acceptance, CallDelta, CallsInReasoning, Context, Delta, Dialects, Event, Outcome, Policy, Reason,
    Refusal, Scanner, ToolChoice, ToolSet, Verdict,
};

use crate::calls::Ids;
use crate::config::{Constrain, Mode};
use crate::record::Choice;
use crate::recover::LostCall;
use crate::tokens::Budget;
use crate::wire::{Foreign, is_no_id};

/// The options for reading an answer.
#[derive(Clone, Debug)]
pub(crate) struct ReadOptions {
    /// The way in which the tools reached the model.
    pub(crate) mode: Mode,
    /// The server reads none of the model's calls, so that texts are judged as in prompt mode.
    pub(crate) is_unread: bool,
    /// The constraint that its answer was held to.
    pub(crate) constrain: Constrain,
    /// The policy for calls that are not right.
    pub(crate) policy: Policy,
    /// A call with an open end is refused, for the model to make it again.
    pub(crate) doubt_open_ends: bool,
    /// The treatment of calls in the model's reasoning.
    pub(crate) calls_in_reasoning: CallsInReasoning,
    /// The dialects that calls may be written in.
    pub(crate) dialects: Dialects,
    /// The tools that may be called.
    pub(crate) allowed: ToolChoice,
    /// The dialect that the prompt asked for.
    pub(crate) asked: Option<String>,
    /// Unsure calls stay in the text.
    pub(crate) unsure_is_text: bool,
    /// The tool that finds others, which the client does not know.
    pub(crate) search: Option<Arc<str>>,
    /// The examples of the prompt, and the conversation around them: an example said back does not count as a call.
    pub(crate) shown: Option<Arc<Shown>>,
}

/// The examples that a model was shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) examples: Examples,
    pub(crate) messages: Vec<callwright::value::Value>,
}

/// One choice, being read.
pub(crate) struct ChoiceReader {
    engine: Engine,
    filter: CallFilter,
    raw: String,
    /// Name and arguments of native calls as they came, for the record.
    native: Vec<(String, String)>,
    /// The ids that came with them.
    native_ids: Vec<Option<String>>,
    /// The members in them that are not ours.
    foreign: Vec<Foreign>,
    foreign_calls: usize,
    says_else: bool,
    lost: Option<LostCall>,
    /// The thoughts that the upstream marked.
    reasoning: String,
    /// The part of those thoughts that the engine has yet to give back: the client gets all of them as they come.
    apart: String,
    /// The thoughts that the model marked in its text.
    thought: String,
    finish_reason: Option<String>,
    lone_surrogates: usize,
    ids: Ids,
    verdicts: Vec<Verdict>,
    search: Option<Arc<str>>,
    /// An answer that left tokens over counts as ended by itself.
    trusts_ends: bool,
}

/// The engine's two readers of deltas.
enum Engine {
    Free(Scanner<'static>),
    /// Held to a schema or a grammar: `{"no_tool_helps": …}` or `{"tool_calls": …}`.
    Constrained(Answer<'static>),
}

impl ChoiceReader {
    /// Makes a reader of answers to a question that offered `tool_set`.
    pub(crate) fn new(tool_set: &Arc<ToolSet>, options: &ReadOptions) -> ChoiceReader {
        let context = Context {
            native: options.mode == Mode::Native && !options.is_unread,
            policy: options.policy,
            doubt_open_ends: options.doubt_open_ends,
            asked: options.asked.as_deref(),
            tool_choice: options.allowed.clone(),
            unsure_is_text: options.unsure_is_text,
            calls_in_reasoning: options.calls_in_reasoning,
            dialects: options.dialects.clone(),
            ..Context::default()
        };
        let engine = match (options.mode, options.constrain) {
            (Mode::Prompt, Constrain::JsonSchema | Constrain::Grammar) => {
                Engine::Constrained(Answer::new(tool_set, &context))
            }
            _ => Engine::Free(Scanner::new(tool_set, &context)),
        };
        ChoiceReader {
            engine,
            filter: CallFilter {
                tool_set: Arc::clone(tool_set),
                allowed: options.allowed.clone(),
                shown: options.shown.clone(),
            },
            raw: String::new(),
            native: Vec::new(),
            native_ids: Vec::new(),
            foreign: Vec::new(),
            foreign_calls: 0,
            says_else: false,
            lost: None,
            reasoning: String::new(),
            apart: String::new(),
            thought: String::new(),
            finish_reason: None,
            lone_surrogates: 0,
            ids: Ids::default(),
            verdicts: Vec::new(),
            search: options.search.clone(),
            // A model that is to learn from its errors has to see this one, too.
            trusts_ends: options.policy != Policy::Feedback,
        }
    }

    /// Takes the next piece of text.
    pub(crate) fn text(&mut self, text: &str, out: &mut Vec<Event>) {
        self.raw.push_str(text);
        self.feed(Delta::Text(text), out);
    }

    /// Takes the next piece of a native call, and returns the number of that call, counted from 0.
    pub(crate) fn call(&mut self, piece: CallDelta<'_>, out: &mut Vec<Event>) -> Option<usize> {
        self.feed(Delta::ToolCall(piece), out);
        let slot = match &self.engine {
            Engine::Free(scanner) => scanner.native_call()?,
            Engine::Constrained(_) => return None,
        };
        if self.native.len() <= slot {
            self.native.resize_with(slot + 1, Default::default);
            self.native_ids.resize_with(slot + 1, Default::default);
        }
        if let Some(id) = self.native_ids.get_mut(slot).filter(|id| id.is_none()) {
            *id = piece.id.map(str::to_owned);
        }
        let (name, arguments) = self.native.get_mut(slot)?;
        if let Some(more) = piece.name.filter(|more| *more != name.as_str()) {
            name.push_str(more);
        }
        arguments.push_str(piece.arguments.unwrap_or(""));
        Some(slot)
    }

    /// Returns whether a native call has begun.
    pub(crate) fn has_native(&self) -> bool {
        !self.native.is_empty()
    }

    /// Lets the native call of this number go out before its verdict, from here on and as far as it is certain.
    pub(crate) fn stream_call(&mut self, slot: usize, out: &mut Vec<Event>) {
        match &mut self.engine {
            Engine::Free(scanner) => scanner.stream_native_call(slot, out),
            Engine::Constrained(_) => {}
        }
    }

    /// Notes the members in a piece of the native call of this number that are not ours.
    pub(crate) fn foreign(&mut self, slot: usize, foreign: &Foreign) {
        if foreign.is_empty() {
            return;
        }
        if self.foreign.len() <= slot {
            self.foreign.resize_with(slot + 1, Foreign::default);
        }
        if let Some(known) = self.foreign.get_mut(slot) {
            known.add(foreign);
        }
    }

    /// Notes a call that nobody reads.
    pub(crate) fn foreign_call(&mut self) {
        self.foreign_calls += 1;
    }

    /// Notes a call that the upstream could not read.
    pub(crate) fn lost(&mut self, lost: LostCall) {
        self.lost = Some(lost);
    }

    /// Notes that something is said besides words, thoughts and calls.
    pub(crate) fn says_else(&mut self) {
        self.says_else = true;
    }

    /// Takes the next piece of a thought that the upstream marks. It stays a thought even if it holds a call.
    pub(crate) fn thought(&mut self, text: &str, out: &mut Vec<Event>) {
        self.reasoning.push_str(text);
        self.apart.push_str(text);
        self.feed(Delta::Reasoning(text), out);
    }

    /// Notes the reason for which the model stopped.
    pub(crate) fn stopped(&mut self, finish_reason: &str) {
        self.finish_reason = Some(finish_reason.to_owned());
    }

    /// Notes the number of halves of characters that came alone.
    pub(crate) fn lone_surrogates(&mut self, number: usize) {
        self.lone_surrogates = number;
    }

    /// Ends the answer, with the rest of its tokens in `budget`.
    pub(crate) fn finish(mut self, budget: Budget, out: &mut Vec<Event>) -> Choice {
        let reason = match budget {
            Budget::Spent => Some("length"),
            // The model had ended before its server tried to read the call.
            Budget::Left | Budget::Unknown if self.lost.is_some() => Some("stop"),
            Budget::Left | Budget::Unknown => self.finish_reason.as_deref().filter(|said| !said.is_empty()),
        };
        let from = out.len();
        let (mut events, mut outcome) = match self.engine {
            Engine::Free(mut scanner) => {
                match reason {
                    Some(reason) => scanner.finish_reason(reason),
                    // Nobody says that it had ended.
                    None => scanner.doubt_open_ends(true),
                }
                // It stopped by itself: what ends too early the model forgot to close.
                if budget == Budget::Left && self.trusts_ends && reason.is_some() {
                    scanner.ended_below_limit();
                }
                scanner.finish()
            }
            Engine::Constrained(mut answer) => {
                if let Some(reason) = reason {
                    answer.finish_reason(reason);
                }
                answer.finish()
            }
        };
        let repeats = repeats(&self.native, &self.native_ids);
        if repeats.contains(&true) {
            leave_out(&repeats, &mut events, &mut outcome);
            leave_out_of(&repeats, &mut self.native);
            leave_out_of(&repeats, &mut self.foreign);
        }
        out.extend(events);
        take_back(&mut self.apart, &mut self.thought, from, out);
        self.filter.judge(&mut self.verdicts, &mut self.ids, &mut out[from..]);
        // How a call stands to what is said behind it was not known when it came.
        for (judged, last) in self.verdicts.iter_mut().zip(&outcome.verdicts) {
            if let (Verdict::Accepted(judged), Verdict::Accepted(last)) = (judged, last) {
                judged.beside_prose = last.beside_prose;
            }
        }
        let search = self.search.as_deref();
        let searches = search.map_or_else(Vec::new, |search| take_searches(search, &mut self.verdicts, out));
        Choice {
            searches,
            raw: self.raw,
            native: self.native,
            foreign: self.foreign,
            foreign_calls: self.foreign_calls,
            says_else: self.says_else,
            lost: self.lost,
            reasoning: self.reasoning,
            finish_reason: self.finish_reason,
            budget,
            lone_surrogates: self.lone_surrogates,
            outcome: Outcome { verdicts: self.verdicts, reasoning: self.thought, ..outcome },
        }
    }

    fn feed(&mut self, delta: Delta<'_>, out: &mut Vec<Event>) {
        let from = out.len();
        let is_behind = match delta {
            Delta::Text(text) => !text.trim().is_empty(),
            Delta::ToolCall(_) => true,
            _ => false,
        };
        match &mut self.engine {
            Engine::Free(scanner) => scanner.feed(delta, out),
            Engine::Constrained(answer) => answer.feed(delta, out),
        }
        take_back(&mut self.apart, &mut self.thought, from, out);
        if is_behind {
            self.apart.clear();
        }
        self.filter.judge(&mut self.verdicts, &mut self.ids, &mut out[from..]);
        if let Some(search) = &self.search {
            out.retain(|event| !matches!(event, Event::Call(verdict) if is_search(verdict, search)));
        }
    }
}

/// Leaves out the verdicts of native calls that only say an earlier one again.
fn leave_out(repeats: &[bool], events: &mut Vec<Event>, outcome: &mut Outcome) {
    let stays = || {
        let mut repeats = repeats.iter();
        move || repeats.next() != Some(&true)
    };
    let (mut stays_here, mut stays_there) = (stays(), stays());
    events.retain(|event| !matches!(event, Event::Call(verdict) if verdict.is_native() && !stays_here()));
    outcome.verdicts.retain(|verdict| !verdict.is_native() || stays_there());
}

/// Leaves out the parts of such calls.
fn leave_out_of<T>(repeats: &[bool], of_calls: &mut Vec<T>) {
    let mut repeats = repeats.iter();
    of_calls.retain(|_| repeats.next() != Some(&true));
}

/// Finds the native calls that only repeat one: its id and name, and no arguments.
fn repeats(native: &[(String, String)], ids: &[Option<String>]) -> Vec<bool> {
    let named = || native.iter().zip(ids);
    let is_repeat = |(slot, ((name, arguments), id)): (usize, (&(String, String), &Option<String>))| {
        let is_it = |((of, said), it): (&(String, String), &Option<String>)| {
            it == id && of == name && !said.trim().is_empty()
        };
        id.as_deref().is_some_and(|id| !is_no_id(id))
            && arguments.trim().is_empty()
            && named().take(slot).any(is_it)
    };
    named().enumerate().map(is_repeat).collect()
}

/// Takes the thoughts that came `apart` from the text out of the events behind `from`: the client has them. Thoughts that the
/// text marks stay. The engine gives back the former first, without the calls in them.
fn take_back(apart: &mut String, thought: &mut String, from: usize, out: &mut Vec<Event>) {
    let mut at = from;
    while let Some(event) = out.get(at) {
        let Event::Reasoning(text) = event else {
            at += 1;
            continue;
        };
        match apart.find(text.as_str()) {
            Some(found) => {
                apart.drain(..found + text.len());
                out.remove(at);
            }
            None => {
                thought.push_str(text);
                at += 1;
            }
        }
    }
}

/// The tools that the question wants, and the examples that it showed.
struct CallFilter {
    tool_set: Arc<ToolSet>,
    allowed: ToolChoice,
    shown: Option<Arc<Shown>>,
}

impl CallFilter {
    /// Keeps the verdicts among `events`, and gives each call an id. Refuses calls that nobody asked for, or that only repeat an
    /// example of the prompt.
    fn judge(&self, verdicts: &mut Vec<Verdict>, ids: &mut Ids, events: &mut [Event]) {
        for event in events {
            let Event::Call(verdict) = event else { continue };
            if let Verdict::Accepted(call) = verdict {
                call.id = Some(ids.next(call.id.as_deref()));
            }
            if let Verdict::Accepted(call) = &*verdict
                && let Some(reason) = self.objection(call)
            {
                *verdict = Verdict::Refused(Refusal {
                    id: call.id.clone(),
                    name: Some(call.name.clone()),
                    dialect: call.dialect.clone(),
                    number: verdicts.len() + 1,
                    span: call.span,
                    block: call.arguments.clone(),
                    reason,
                });
            }
            verdicts.push(verdict.clone());
        }
    }

    fn objection(&self, call: &Acceptance) -> Option<Reason> {
        if !self.allowed.allows(&call.name) {
            let tools = self.allowed.tools(&self.tool_set);
            return Some(Reason::NotOffered {
                offered: tools.iter().map(|tool| tool.name().to_owned()).collect(),
            });
        }
        let shown = self.shown.as_ref()?;
        let violation = shown.examples.echoed(&call.arguments, &shown.messages)?;
        Some(Reason::Invalid(vec![violation]))
    }
}

/// Takes the searches for tools out of the calls, and returns their words.
fn take_searches(search: &str, verdicts: &mut Vec<Verdict>, out: &mut Vec<Event>) -> Vec<String> {
    out.retain(|event| !matches!(event, Event::Call(verdict) if is_search(verdict, search)));
    let searches = verdicts.extract_if(.., |verdict| is_search(verdict, search));
    let block = |verdict| match verdict {
        Verdict::Refused(refusal) => Some(refusal.block),
        Verdict::Accepted(_) => None,
    };
    searches.filter_map(block).collect()
}

/// Returns whether this is a call of the tool that finds others. No request declares it.
fn is_search(verdict: &Verdict, search: &str) -> bool {
    matches!(verdict, Verdict::Refused(refusal) if refusal.name.as_deref() == Some(search))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thoughts(events: &[Event]) -> Vec<&str> {
        let mut thoughts = Vec::new();
        for event in events {
            if let Event::Reasoning(text) = event {
                thoughts.push(text.as_str());
            }
        }
        thoughts
    }

    /// A thought that the upstream marks goes on by itself. The engine gives only thoughts that the text marks, and nothing
    /// twice.
    #[test]
    fn a_thought_is_told_once_wherever_it_is_marked() {
        let tool_set = Arc::new(ToolSet::from_json(r#"[{"name": "ping"}]"#).unwrap());
        let options = ReadOptions {
            mode: Mode::Native,
            is_unread: false,
            constrain: Constrain::None,
            policy: Policy::Auto,
            doubt_open_ends: false,
            calls_in_reasoning: CallsInReasoning::default(),
            dialects: Dialects::default(),
            allowed: ToolChoice::Auto,
            asked: None,
            search: None,
            unsure_is_text: false,
            shown: None,
        };
        let mut events = Vec::new();
        let mut reading = ChoiceReader::new(&tool_set, &options);
        for piece in ["I look", " there.", " Well."] {
            reading.thought(piece, &mut events);
        }
        reading.text("<think>I look there.</think>Fine.", &mut events);
        let choice = reading.finish(Budget::Unknown, &mut events);
        assert_eq!(thoughts(&events).concat(), "I look there.");
        assert_eq!(
            (&*choice.reasoning, &*choice.outcome.reasoning),
            ("I look there. Well.", "I look there.")
        );
    }

    /// The engine may give a thought back late, and without a call that stands in it.
    #[test]
    fn what_comes_back_late_is_known() {
        let (mut apart, mut thought) = (String::from("I look. <call> Well."), String::new());
        let mut events = vec![Event::Reasoning(String::from("I look. "))];
        take_back(&mut apart, &mut thought, 0, &mut events);
        events.extend([" Well.", "From the text."].map(|text| Event::Reasoning(text.to_owned())));
        take_back(&mut apart, &mut thought, 0, &mut events);
        assert_eq!(thoughts(&events), ["From the text."]);
        assert_eq!(thought, "From the text.");
    }
}

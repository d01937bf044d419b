//! One question for a caller that climbs the rest of the ladder itself: an agent, to whose history errors belong.
//!
//! Repairs and repeated questions without a trace are done here. Calls that stay refused go to the caller as refusals, not as
//! words, and nothing is sent to the model.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use callwright::value::Value;
use callwright::{CallDelta, Event, Policy, Refusal, Verdict};
use http::HeaderMap;

use super::{ChatError, Client};
use crate::api::Surface;
use crate::chat::CheckedRequest;
use crate::config::LadderConfig;
use crate::deliver::{Came, Events, Json};
use crate::ladder::{Ladder, fingerprint};
use crate::log::Log;
use crate::owner::Owner;
use crate::question::Question;
use crate::reading::{Reading, read_whole};
use crate::record::{AttemptReason, Choice, TurnEnd, TurnRecord};
use crate::recover::LostCall;
use crate::relay::Relay;
use crate::request::Request;
use crate::target::Target;
use crate::tokens::{Budget, Usage};
use crate::turn::ReadUnknown;
use crate::turn::{AnswerSource, NoAnswer, OpenAnswer, Resolution, Sent, Turn};
use crate::upstream::{ResponseBody, Secrets};
use crate::wire::{
    Delta, Document, More, PromptTokens, Surrogates, choices, deltas, is_error, prompt_tokens, string_of,
    usage,
};

/// Options for one question, in place of the configuration's.
#[derive(Clone, Default)]
pub struct AskOptions {
    /// The policy for calls that are not right; the configuration's if it is not set.
    pub policy: Option<Policy>,
    /// The number of times that a broken call may be asked for again without a trace; the configuration's if it is not set.
    pub reasks: Option<u32>,
    /// Judges calls of names that no tool of the request has, where the caller knows whose they are.
    pub read_unknown: Option<ReadUnknown>,
}

impl fmt::Debug for AskOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AskOptions { policy, reasks, read_unknown: _ } = self;
        f.debug_struct("AskOptions").field("policy", policy).field("reasks", reasks).finish_non_exhaustive()
    }
}

/// An addition to an answer, as soon as it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDelta<'a> {
    /// The model's writing, markup of calls included.
    Raw(&'a str),
    /// The model's words, without its calls.
    Text(&'a str),
    /// The model's thoughts, if they are marked as such.
    Reasoning(&'a str),
    /// The answer so far is void, for this reason: the model is asked again.
    Again(&'static str),
}

/// A model's answer.
#[derive(Debug)]
pub struct Answer {
    /// The words, without its calls.
    pub text: String,
    /// The thoughts, if they are marked as such.
    pub reasoning: String,
    /// The answer as the model wrote it, markup included.
    pub raw: String,
    /// Its calls, right or refused, in order. Right ones have ids.
    pub verdicts: Vec<Verdict>,
    /// The tools whose calls its text shows without making them: each name once.
    pub shown: Vec<String>,
    /// The reason for which it stopped: `stop`, `tool_calls`, `length`, ….
    pub finish_reason: Option<String>,
    /// The faults in the calls of each answer on the way, as [`error_fingerprint`] has them.
    pub errors: Vec<Vec<String>>,
    /// All questions and answers. It goes to no observer.
    pub record: TurnRecord,
}

impl Answer {
    /// Returns whether the answer ended before the model had finished.
    pub fn is_cut(&self) -> bool {
        self.finish_reason.as_deref().is_some_and(|reason| matches!(reason, "length" | "content_filter"))
    }

    /// Returns the tokens of all questions and answers.
    pub fn usage(&self) -> Usage {
        self.record.usage()
    }
}

/// Returns the traits that make two errors the same: the tool and the fault, neither the place in the text nor the values.
///
/// `f invalid /days type`, `f unreadable`
pub fn error_fingerprint(refusal: &Refusal) -> String {
    fingerprint(refusal)
}

impl Client {
    /// Asks, and waits for the whole answer; `on_delta` gets it as it comes if the request wants a stream. `request` is the body
    /// of a chat request.
    ///
    /// # Errors
    /// The request cannot be used, no upstream answered, or the answer broke off.
    pub async fn ask(
        &self,
        request: &Value,
        options: AskOptions,
        mut on_delta: impl FnMut(AnswerDelta<'_>) + Send,
    ) -> Result<Answer, ChatError> {
        self.relay().ask(request, options, &mut on_delta).await
    }
}

/// A receiver of an answer as it comes.
type OnDelta<'a> = &'a mut (dyn FnMut(AnswerDelta<'_>) + Send);

impl Relay {
    async fn ask(
        self: &Arc<Relay>,
        request: &Value,
        options: AskOptions,
        on_delta: OnDelta<'_>,
    ) -> Result<Answer, ChatError> {
        let request = Request {
            id: String::from("agent"),
            body: Bytes::from(request.to_string()),
            policy: options.policy,
            wants_report: false,
            headers: HeaderMap::new(),
            owner: Owner::default(),
            surface: Surface::Chat,
            gemini: None,
        };
        let mut log = Log::new(&request, Arc::clone(&self.observer));
        let checked = self.checked(request).await;
        let CheckedRequest { asked, .. } = checked.map_err(|error| {
            log.fault(&error.message);
            log.end(TurnEnd::Rejected, error.status.as_u16());
            ChatError { status: error.status.as_u16(), message: error.message }
        })?;
        let reasks = options.reasks.unwrap_or(self.config.ladder.reasks);
        let bounds = LadderConfig { reasks, feedback_turns: 0, ..self.config.ladder.clone() };
        let ladder = Ladder::new(asked.policy, &bounds);
        let mut turn = Turn::new(self, asked, log, ladder).await;
        turn.read_unknown = options.read_unknown;
        let question = Question::first(&turn.ask);
        let mut open_answer = turn
            .open(&question, AttemptReason::First)
            .await
            .map_err(|failed| chat_error(failed, &mut turn))?;
        loop {
            let (choice, target, tokens) = turn.read_answer(open_answer, on_delta).await?;
            turn.count_proof(&target, &choice);
            // What was passed on can be taken back.
            if let Some(again) = turn.once_more(&target, &[&choice], tokens, Sent::Nothing).await {
                on_delta(AnswerDelta::Again(match again.target.mode == target.mode {
                    true => "the answer was empty",
                    false => "the upstream does not give the model its tools: they go into the prompt",
                }));
                open_answer = again;
                continue;
            }
            let sent = if turn.ask.answer.stream { Sent::Words } else { Sent::Nothing };
            let resolution = turn.resolve(choice, sent, &target).await;
            return Ok(turn.answer(resolution));
        }
    }
}

impl Turn {
    /// Reads an answer to its end.
    async fn read_answer(
        &mut self,
        open_answer: OpenAnswer,
        on_delta: OnDelta<'_>,
    ) -> Result<(Choice, Target, Option<PromptTokens>), ChatError> {
        let is_stream = open_answer.is_stream();
        let OpenAnswer { source, target, shown } = open_answer;
        let tool_set = Arc::clone(&self.tool_set);
        let allowed = self.ask.calls.choice.clone();
        let options = self.read_options(&target, &allowed, &shown);
        let document = match source {
            AnswerSource::Upstream(answer) if is_stream => {
                let reading = Reading::new(&self.relay.readers, &tool_set, &options);
                let secrets = Arc::clone(target.candidate.upstream.secrets());
                let (choice, tokens) = self.read_stream(answer.body, secrets, reading, on_delta).await?;
                return Ok((choice, target, tokens));
            }
            AnswerSource::Recovered(document) => document,
            AnswerSource::Upstream(answer) => {
                let kind = answer.headers.get(http::header::CONTENT_TYPE).cloned();
                let body = answer.body.whole(self.relay.config.limits.answer).await;
                let document = body.map_err(|error| error.to_string()).and_then(|body| {
                    Document::of_answer(target.candidate.upstream.without_secrets(body), kind.as_ref())
                        .map_err(|why| format!("the upstream's answer cannot be read: {why}"))
                });
                document.map_err(|message| self.cut_off(message))?
            }
        };
        let spent = usage(document.root()).unwrap_or_default();
        let answered: Vec<_> = choices(document.root()).collect();
        let budget = Budget::of(self.ask.max_tokens, spent);
        let read = read_whole(&self.relay.readers, (&document, &answered), &tool_set, options, budget);
        let Some(mut choice) = read.await.into_iter().next() else {
            return Err(self.cut_off(String::from("the upstream's answer holds no choice")));
        };
        self.read_unknown(&mut choice);
        self.log.read(spent, std::iter::once(&choice));
        for thought in [&choice.reasoning, &choice.outcome.reasoning] {
            if !thought.is_empty() {
                on_delta(AnswerDelta::Reasoning(thought));
            }
        }
        on_delta(AnswerDelta::Raw(&choice.raw));
        on_delta(AnswerDelta::Text(&choice.outcome.text));
        Ok((choice, target, prompt_tokens(document.root())))
    }

    async fn read_stream(
        &mut self,
        body: ResponseBody,
        secrets: Arc<Secrets>,
        mut reading: Reading,
        on_delta: OnDelta<'_>,
    ) -> Result<(Choice, Option<PromptTokens>), ChatError> {
        let limits = self.relay.config.limits;
        let mut upstream = Events::new(body, secrets, limits.event);
        let (mut events, mut spent, mut came) = (Vec::new(), Usage::default(), 0);
        let (mut has_stopped, mut surrogates, mut tokens) = (false, Surrogates::default(), None);
        while let Some(Came { json, .. }) = upstream.next().await {
            let document = match json {
                Json::None => continue,
                Json::Is(document) => document,
                Json::Broken(why) => return Err(self.cut_off(why)),
            };
            let chunk = document.root();
            if is_error(chunk) {
                let why = chunk.get("error").and_then(|error| string_of(error, "message"));
                let why =
                    why.map_or_else(|| String::from("the upstream sent an error"), |why| why.into_owned());
                return Err(self.cut_off(why));
            }
            spent = usage(chunk).unwrap_or(spent);
            tokens = prompt_tokens(chunk).or(tokens);
            for mut delta in deltas(chunk).filter(|delta| delta.index == 0) {
                surrogates.repair(&mut delta);
                has_stopped |= delta.finish_reason.is_some();
                came += read_delta(&mut reading, &delta, &mut events, on_delta).await;
                pass_on(&mut events, on_delta);
            }
            if limits.answer < came {
                return Err(self.cut_off(String::from("the upstream's answer is longer than is allowed")));
            }
        }
        if !has_stopped || upstream.ending.is_cut() {
            return Err(self.cut_off(String::from("the upstream's answer broke off")));
        }
        let budget = Budget::of(self.ask.max_tokens, spent);
        if let Some(text) = surrogates.last_of_text() {
            reading.text(&text, &mut events).await;
        }
        for (index, text) in surrogates.last_of_calls() {
            reading
                .call(CallDelta { index, arguments: Some(&text), ..CallDelta::default() }, &mut events)
                .await;
        }
        reading.lone_surrogates(surrogates.n_alone());
        let mut choice = reading.finish(budget, &mut events).await;
        self.read_unknown(&mut choice);
        pass_on(&mut events, on_delta);
        self.log.read(spent, std::iter::once(&choice));
        Ok((choice, tokens))
    }

    fn cut_off(&mut self, message: String) -> ChatError {
        self.log.failed(None, &message);
        self.log.end(TurnEnd::Cut, 502);
        ChatError { status: 502, message }
    }

    fn answer(mut self, resolution: Resolution) -> Answer {
        self.log.end(resolution.end, 200);
        let record = self.log.close();
        let errors = record
            .attempts
            .iter()
            .map(|attempt| {
                let refusals = attempt.choices.iter().flat_map(|choice| choice.outcome.refusals());
                refusals.map(fingerprint).collect()
            })
            .filter(|errors: &Vec<String>| !errors.is_empty())
            .collect();
        let Resolution { first, verdicts, more_text, finish_reason, .. } = resolution;
        let mut reasoning = first.reasoning;
        crate::turn::outcome::append(&mut reasoning, &first.outcome.reasoning);
        let mut text = first.outcome.text;
        crate::turn::outcome::append(&mut text, &more_text);
        let mut shown: Vec<String> = first.outcome.shown.into_iter().filter_map(|call| call.name).collect();
        shown.retain(|name| self.tool_set.get(name).is_some());
        shown.sort_unstable();
        shown.dedup();
        Answer { text, reasoning, raw: first.raw, verdicts, shown, finish_reason, errors, record }
    }
}

/// Reads a delta. Returns the number of bytes that came with it.
async fn read_delta(
    reading: &mut Reading,
    delta: &Delta<'_>,
    events: &mut Vec<Event>,
    on_delta: OnDelta<'_>,
) -> usize {
    let mut came = 0;
    if let Some(thought) = delta.reasoning.as_deref().filter(|thought| !thought.is_empty()) {
        came += thought.len();
        reading.thought(thought, events).await;
        on_delta(AnswerDelta::Reasoning(thought));
    }
    if let Some(text) = delta.text.as_deref().filter(|text| !text.is_empty()) {
        came += text.len();
        on_delta(AnswerDelta::Raw(text));
        reading.text(text, events).await;
    }
    for piece in &delta.calls {
        let piece = piece.delta();
        came += piece.arguments.map_or(0, str::len);
        reading.call(piece, events).await;
    }
    if delta.more == More::Else {
        reading.says_else();
    }
    if let Some(reason) = &delta.finish_reason {
        reading.stopped(reason);
        if let Some(lost) = LostCall::at_end(delta.choice) {
            reading.lost(lost);
        }
    }
    came
}

fn pass_on(events: &mut Vec<Event>, on_delta: OnDelta<'_>) {
    for event in events.drain(..) {
        match event {
            Event::Text(text) => on_delta(AnswerDelta::Text(&text)),
            Event::Reasoning(text) => on_delta(AnswerDelta::Reasoning(&text)),
            _ => {}
        }
    }
}

fn chat_error(failed: NoAnswer, turn: &mut Turn) -> ChatError {
    match failed {
        NoAnswer::Error(error) => {
            turn.log.end(TurnEnd::UpstreamError, error.status.as_u16());
            ChatError { status: error.status.as_u16(), message: error.message }
        }
        NoAnswer::Upstream(status, _, body) => {
            turn.log.end(TurnEnd::UpstreamError, status.as_u16());
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let message = body["error"]["message"].as_str().or_else(|| body["error"].as_str());
            let message = message.unwrap_or("the upstream answered with an error").to_owned();
            ChatError { status: status.as_u16(), message }
        }
    }
}

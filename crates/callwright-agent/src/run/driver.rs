//! Carries out the machine's requests: asks the model and the user, runs the tools, and records what happened.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use callwright::json;
use callwright::value::{Map, Value};
use callwright_relay::{Answer, AnswerDelta, AskOptions, ChatError};
use tokio::task::JoinSet;

use super::approver::Approval;
use super::builder::{Outcome, RunError, RunnerBuilder};
use super::cancel::{Cancel, Tokens};
use super::event::{Event, Step};
use super::machine::{Machine, Next, Question, Settings};
use super::stop::{Account, End, Ended};
use super::tell::log_step;
use super::turn::{Call, ModelTurn};
use crate::approval::{ApprovalRequest, Approvals};
use crate::rights::Why;
use crate::tool::{CallContext, ToolError, ToolResult};

/// The number of further requests after an upstream failed in the middle.
const RETRIES: u32 = 1;

/// A run: a machine, with the driver that carries out its requests.
pub struct Runner {
    pub(super) with: RunnerBuilder,
    pub(super) machine: Machine,
    approvals: Approvals,
    cancel: Cancel,
    /// The calls that had begun when the run was killed.
    pub(super) begun: Vec<Call>,
    /// The ids of calls that may have been stored without their secrets.
    pub(super) masked: Vec<String>,
    /// The journal holds the settings.
    pub(super) is_written: bool,
    pub(super) is_resumed: bool,
    /// The present turn.
    pub(super) step: Option<Step>,
}

impl Runner {
    pub(super) fn of(with: RunnerBuilder, machine: Machine) -> Runner {
        Runner {
            with,
            machine,
            approvals: Approvals::default(),
            cancel: Cancel::default(),
            begun: Vec::new(),
            masked: Vec::new(),
            is_written: false,
            is_resumed: false,
            step: None,
        }
    }

    /// Returns the machine: the conversation, the account.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the parts of the run.
    pub fn with(&self) -> &RunnerBuilder {
        &self.with
    }

    /// Returns the parts of the run for changes between two runs: another model, other tools, other rights.
    pub fn with_mut(&mut self) -> &mut RunnerBuilder {
        &mut self.with
    }

    /// Returns the switch that cancels the run from outside.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Changes the settings of the run.
    ///
    /// # Errors
    /// Fails when the change cannot be written down.
    pub async fn set(&mut self, change: impl FnOnce(&mut Settings)) -> Result<(), RunError> {
        change(self.machine.settings_mut());
        if self.is_written { self.write_settings().await } else { Ok(()) }
    }

    /// Says something to the model, at the beginning or after an end. While calls wait for results it says nothing and
    /// returns false.
    ///
    /// # Errors
    /// Fails when the text cannot be written down.
    pub async fn say(&mut self, text: &str) -> Result<bool, RunError> {
        if self.machine.working_on().is_some() {
            return Ok(false);
        }
        let settings = Value::of(self.machine.settings()).unwrap_or_default();
        if let Some(journal) = &mut self.with.journal {
            let first = (!self.is_written).then_some((&settings, &self.with.facts));
            journal.said(text, first).await?;
        }
        self.is_written = true;
        Ok(self.machine.say(text))
    }

    /// Continues an ended run as it is: after a limit, or after it was cancelled.
    ///
    /// # Errors
    /// Fails when that cannot be written down.
    pub async fn go_on(&mut self) -> Result<bool, RunError> {
        if self.machine.working_on().is_some() {
            return Ok(false);
        }
        if let Some(journal) = &self.with.journal {
            journal.note("goes_on", json!({})).await?;
        }
        Ok(self.machine.go_on())
    }

    /// Continues a run that a limit or the user ended; any other end stays.
    ///
    /// # Errors
    /// Fails when that cannot be written down.
    pub async fn go_on_from_a_limit(&mut self) -> Result<bool, RunError> {
        match self.machine.next() {
            Next::Done(Ended { end: End::Limit(_) | End::Cancelled, .. }) => self.go_on().await,
            _ => Ok(false),
        }
    }

    /// Runs until there is an end, or somebody has to act.
    ///
    /// # Errors
    /// Fails when the journal cannot be written, or the user cancelled twice.
    pub async fn run(&mut self) -> Result<Outcome, RunError> {
        let tokens = self.cancel.renewed();
        let twice = tokens.twice.clone();
        let began = Event::Began {
            session: self.with.journal.as_ref().map(|journal| journal.session().to_owned()),
            model: self.with.model.clone(),
            is_resumed: self.is_resumed,
        };
        self.tell(began);
        // Dropping the work drops the calls: running tools end, and so do commands.
        tokio::select! {
            biased;
            () = twice.cancelled() => Err(RunError::Stopped),
            outcome = self.work(&tokens) => outcome,
        }
    }

    async fn work(&mut self, tokens: &Tokens) -> Result<Outcome, RunError> {
        self.answer_begun().await?;
        self.decide().await?;
        loop {
            if tokens.once.is_cancelled() {
                self.cancelled().await?;
            }
            match self.machine.next() {
                Next::Done(ended) => {
                    self.step_over().await?;
                    if let Some(journal) = &self.with.journal {
                        journal.ended(&ended).await?;
                    }
                    self.tell(Event::Ended { ended: ended.clone(), spent: *self.machine.account() });
                    return Ok(Outcome::Ended(ended));
                }
                Next::CallModel(question) => {
                    if let Some(blocked) = self.ask_model(question, tokens).await? {
                        return self.blocked(blocked).await;
                    }
                }
                Next::Ask(calls) => {
                    if let Some(blocked) = self.ask_user(calls, tokens).await? {
                        return self.blocked(blocked).await;
                    }
                }
                Next::CallTools(calls) => self.run_tools(calls, tokens).await?,
            }
            self.step_over().await?;
        }
    }

    /// Asks the model. Returns the reason if nobody answers.
    async fn ask_model(&mut self, question: Question, tokens: &Tokens) -> Result<Option<String>, RunError> {
        if question.is_compacted {
            self.tell(Event::Compacted);
        }
        let request = self.request(&question);
        let policy = self.machine.settings().policy;
        let toolbox = Arc::clone(&self.with.toolbox);
        let options = AskOptions {
            policy: Some(policy),
            reasks: (!question.may_reask).then_some(0),
            read_unknown: Some(Arc::new(move |refusal, choice| toolbox.read_known(refusal, choice, policy))),
        };
        let mut retries = RETRIES;
        let since = Instant::now();
        let answer = loop {
            self.tell(Event::Asking { turn: self.machine.turn() + 1 });
            let asked = self.asked(&request, options.clone());
            let asked = tokio::select! {
                biased;
                () = tokens.once.cancelled() => None,
                answer = asked => Some(answer),
            };
            match asked {
                // The caller checks for a cancellation.
                None => return Ok(None),
                Some(Ok(answer)) => break answer,
                // Nothing has been done yet, so the request may be sent again.
                Some(Err(error)) if 0 < retries && 500 <= error.status => {
                    retries -= 1;
                    self.tell(Event::Retried { why: error.message });
                }
                Some(Err(error)) => return Ok(Some(format!("⚠️ No answer from the model: {error}"))),
            }
        };
        let mut turn = ModelTurn::of(&answer, &self.with.toolbox);
        turn.spent.seconds = since.elapsed().as_secs_f64();
        turn.spent.money = self.with.prices.map_or(0.0, |(question, answer)| {
            let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
            of(turn.spent.prompt_tokens, question) + of(turn.spent.completion_tokens, answer)
        });
        let turn = self.machine.answered(turn);
        if let Some(journal) = &self.with.journal {
            journal.answered(&answer, &turn, policy).await?;
        }
        self.tell_answer(&turn, policy);
        self.decide().await?;
        Ok(None)
    }

    async fn asked(&self, request: &Value, options: AskOptions) -> Result<Answer, ChatError> {
        let watch = Arc::clone(&self.with.watch);
        let on_delta = move |delta: AnswerDelta<'_>| {
            watch.event(&match delta {
                AnswerDelta::Raw(text) => Event::Raw { text: text.to_owned() },
                AnswerDelta::Text(text) => Event::Text { text: text.to_owned() },
                AnswerDelta::Reasoning(text) => Event::Reasoning { text: text.to_owned() },
                AnswerDelta::Again(why) => Event::Retried { why: why.to_owned() },
            });
        };
        self.with.client.ask(request, options, on_delta).await
    }

    fn request(&self, question: &Question) -> Value {
        let mut request = Map::new();
        if let Some(model) = &self.with.model {
            request.insert(String::from("model"), json!(model));
        }
        request.insert(String::from("messages"), json!(question.messages));
        if !self.with.toolbox.definitions().is_empty() {
            request.insert(String::from("tools"), json!(self.with.toolbox.definitions()));
        }
        request.insert(String::from("stream"), json!(true));
        request.insert(String::from("stream_options"), json!({"include_usage": true}));
        request.extend(self.with.request.clone());
        Value::Object(request)
    }

    /// Decides about undecided calls. A call that may not run gets its result at once.
    async fn decide(&mut self) -> Result<(), RunError> {
        for call in self.machine.undecided() {
            let decision =
                self.with.toolbox.decide(&call.name, &call.arguments, call.repaired, &self.with.rights);
            let decision = decision.beside(call.beside, call.effect);
            if let Some(result) = Machine::refusal(decision) {
                self.finished(&call, result, Account::default(), false).await?;
            } else {
                self.machine.decided(&call.id, decision);
            }
        }
        Ok(())
    }

    /// Asks the user about calls. Returns the reason if nobody answers.
    async fn ask_user(
        &mut self,
        calls: Vec<(Call, Why)>,
        tokens: &Tokens,
    ) -> Result<Option<String>, RunError> {
        for (call, why) in calls {
            let place = self.with.workspace.root();
            let request = ApprovalRequest::new(&call.name, &call.arguments, place, why);
            let approval = if self.approvals.covers(&request) {
                Approval::Always
            } else {
                let Call { id, name: tool, arguments, .. } = call.clone();
                self.tell(Event::ApprovalAsked { id, tool, arguments, why });
                let approver = Arc::clone(&self.with.approver);
                tokio::select! {
                    biased;
                    () = tokens.once.cancelled() => return Ok(None),
                    approval = approver.approve(&request) => approval,
                }
            };
            let yes = match approval {
                // The model itself can confirm its intent by a right call.
                Approval::Nobody
                    if matches!(why, Why::Repaired | Why::Open)
                        && self.machine.settings().policy.feeds_back() =>
                {
                    self.finished(&call, Machine::unconfirmed(&call), Account::default(), false).await?;
                    continue;
                }
                // Nobody outside can act on it, and the work may go on without it.
                Approval::Nobody if matches!(why, Why::Configures | Why::Linked | Why::Beside) => {
                    self.finished(&call, Machine::unattended(why), Account::default(), false).await?;
                    continue;
                }
                Approval::Nobody => {
                    let name = &call.name;
                    return Ok(Some(format!("⚠️ Nobody is there to approve a call of {name}: {why}.")));
                }
                Approval::Always => {
                    self.approvals.grant(&request);
                    true
                }
                Approval::Once => true,
                Approval::No => false,
            };
            self.tell(Event::Approved { id: call.id.clone(), yes });
            if yes {
                if let Some(journal) = &self.with.journal {
                    journal.approved(&call).await?;
                }
                self.machine.approved(&call.id, true);
            } else {
                self.finished(&call, Machine::denial(), Account::default(), false).await?;
            }
        }
        Ok(None)
    }

    /// Runs calls, all at the same time.
    async fn run_tools(&mut self, calls: Vec<Call>, tokens: &Tokens) -> Result<(), RunError> {
        if let Some(journal) = &self.with.journal {
            journal.intents(&calls).await?;
        }
        let mut running = JoinSet::new();
        let mut open: HashMap<tokio::task::Id, Call> = HashMap::new();
        for call in calls {
            let Call { id, name: tool, arguments, .. } = call.clone();
            self.tell(Event::CallStarted { id, tool, arguments });
            let context = CallContext {
                cancellation: tokens.once.child_token(),
                limits: self.with.limits,
                approved: self.machine.is_approved(&call.id),
                ..CallContext::new(call.id.clone(), Arc::clone(&self.with.workspace))
            };
            let (toolbox, running_call) = (Arc::clone(&self.with.toolbox), call.clone());
            let task = running.spawn(async move {
                let since = Instant::now();
                let result = toolbox.call(&running_call.name, &running_call.arguments, &context).await;
                (result, since.elapsed().as_secs_f64())
            });
            open.insert(task.id(), call);
        }
        while let Some(done) = running.join_next_with_id().await {
            let (task, result, seconds) = match done {
                Ok((task, (result, seconds))) => (task, result, seconds),
                Err(error) => (error.id(), ToolError::new("the tool broke down").into(), 0.0),
            };
            let Some(call) = open.remove(&task) else { continue };
            // A person's time does not count against the budget.
            let is_person = self.with.toolbox.waits_for_a_person(&call.name, &call.arguments);
            let spent = Account { seconds: if is_person { 0.0 } else { seconds }, ..Account::default() };
            self.finished(&call, result, spent, true).await?;
        }
        Ok(())
    }

    /// Records a call's result, and then tells the machine.
    async fn finished(
        &mut self,
        call: &Call,
        result: ToolResult,
        spent: Account,
        ran: bool,
    ) -> Result<(), RunError> {
        if let Some(journal) = &self.with.journal {
            journal.finished(call, &result, spent, ran).await?;
        }
        self.machine.spent(spent);
        let Call { id, name: tool, arguments, .. } = call.clone();
        let (content, is_error) = (result.content(), result.is_error());
        self.tell(Event::CallFinished {
            id,
            tool,
            arguments,
            result: content,
            is_error,
            seconds: spent.seconds,
        });
        self.machine.finished(&call.id, &result);
        Ok(())
    }

    /// Handles calls that had begun when the run was killed: calls that may run twice run again; the outcome of others
    /// is unknown.
    async fn answer_begun(&mut self) -> Result<(), RunError> {
        for call in std::mem::take(&mut self.begun) {
            let kind = self.with.toolbox.kind_of(&call.name, &call.arguments);
            if call.idempotent && kind.idempotent {
                continue;
            }
            let Call { id, name: tool, arguments, .. } = call.clone();
            self.tell(Event::OutcomeUnknown { id, tool, arguments });
            let unknown = "the program was ended while this call ran: whether it was done is not known, and it was not \
                           run again. Look before you call it again";
            let result = ToolError::new(unknown).with("outcome", "unknown").into();
            self.finished(&call, result, Account::default(), true).await?;
        }
        let is_masked = |call: &Call| self.masked.contains(&call.id);
        for call in self.machine.undecided().into_iter().filter(is_masked).collect::<Vec<_>>() {
            let masked = "not run: the program was ended, and what was kept of this call lacks a secret that stood in \
                          it. Send it again";
            self.finished(&call, ToolError::new(masked).into(), Account::default(), false).await?;
        }
        Ok(())
    }

    /// Ends the turn after the user cancelled: open calls get that as their result.
    async fn cancelled(&mut self) -> Result<(), RunError> {
        if let Next::Done(_) = self.machine.next() {
            return Ok(());
        }
        if let Some(journal) = &self.with.journal {
            journal.note("cancelled", json!({"text": "cancelled by the user"})).await?;
        }
        self.machine.cancel();
        Ok(())
    }

    async fn blocked(&mut self, sentence: String) -> Result<Outcome, RunError> {
        self.tell(Event::Blocked { sentence: sentence.clone() });
        Ok(Outcome::Blocked(sentence))
    }

    /// Reports a turn that is over, and asks whether the caller has seen enough.
    async fn step_over(&mut self) -> Result<(), RunError> {
        if self.machine.working_on().is_some() {
            return Ok(());
        }
        let Some(step) = self.step.take() else { return Ok(()) };
        log_step(&step);
        self.tell(Event::StepFinished(step.clone()));
        let enough = self.with.stop_when.as_ref().and_then(|enough| enough(&self.machine, &step));
        if let Some(sentence) = enough
            && matches!(self.machine.next(), Next::CallModel(_))
        {
            if let Some(journal) = &self.with.journal {
                journal.note("stopped", json!({"text": sentence})).await?;
            }
            self.machine.stop(&sentence);
        }
        Ok(())
    }

    async fn write_settings(&self) -> Result<(), RunError> {
        let Some(journal) = &self.with.journal else { return Ok(()) };
        Ok(journal
            .settings(&Value::of(self.machine.settings()).unwrap_or_default(), &self.with.facts)
            .await?)
    }

    pub(super) fn tell(&self, event: Event) {
        self.with.watch.event(&event);
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("machine", &self.machine).finish_non_exhaustive()
    }
}

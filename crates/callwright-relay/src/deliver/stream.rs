//! Reads a stream, and writes what is certain of it: prose at once, a call when it is right.

use std::sync::Arc;
use std::time::Duration;

use callwright::{CallDelta, Event, Policy, Refusal, ToolSet};
use tokio::time::Instant;

use super::events::{Came, Ending, Events, Json, end_of_stream};
use super::pulse::Pulse;
use super::sink::{NativePiece, Sink};
use super::voice::Voice;
use crate::followup;
use crate::reading::{ReadOptions, Reading};
use crate::record::{Choice, TurnEnd};
use crate::recover::LostCall;
use crate::reply::BodySender;
use crate::report;
use crate::sse;
use crate::target::Target;
use crate::tokens::{Budget, Usage};
use crate::turn::outcome::worse;
use crate::turn::{AnswerSource, OpenAnswer, Resolution, Sent, Turn};
use crate::wire::{
    CALL_REFUSED, CUT, CallPiece, Delta, Document, INVALID_CONTENT, More, PromptTokens, Surrogates, deltas,
    error_status, is_error, is_foreign, is_of_function, is_passing, prompt_tokens, usage,
};

/// Answers with the upstream's stream, repaired.
pub(super) async fn heal(
    mut turn: Box<Turn>,
    mut open_answer: OpenAnswer,
    to: BodySender,
    mut voice: Box<dyn Voice>,
) {
    let voice = &mut *voice;
    let allowed = turn.ask.calls.choice.clone();
    let mut pulse = Pulse::new(to.clone());
    let mut has_role = false;
    loop {
        let OpenAnswer { source, target, shown } = open_answer;
        let longest = turn.relay.config.limits.event;
        let upstream = match source {
            AnswerSource::Upstream(answer) => {
                Events::new(answer.body, Arc::clone(target.candidate.upstream.secrets()), longest)
            }
            AnswerSource::Recovered(document) => Events::of_whole(&document, longest),
        };
        let way = ReadingWay {
            tool_set: Arc::clone(&turn.tool_set),
            options: turn.read_options(&target, &allowed, &shown),
            hold: turn.relay.holds_calls_for(&target.candidate, turn.stream_arguments),
            has_role,
        };
        let read = StreamRead::read(&mut turn, upstream, way, voice, (&to, &mut pulse)).await;
        if read.ending.is_error || !read.ending.is_finished {
            if !read.has_spoken() && !read.is_refused {
                let failure = read.failure.as_ref().map(|(_, failure)| failure);
                let past = turn.past_failure(&target, failure, &shown);
                if let Some(again) = pulse.during(Some(0), voice, past).await
                    && let Some(again) = again.streamed(&turn.relay).await
                {
                    has_role |= read.choices.iter().any(|choice| choice.sink.has_role());
                    open_answer = again;
                    continue;
                }
            }
            return match read.is_torn() {
                true => {
                    read.tear(&mut turn, voice).await.resolve(&mut turn, &target, voice, &mut pulse).await
                }
                false => read.break_off(&mut turn, voice).await,
            };
        }
        let finished = read.finish(&mut turn, &target, voice).await;
        for (_, choice) in &finished.choices {
            turn.count_proof(&target, choice);
        }
        let (said, sent) = finished.said();
        let once_more = turn.once_more(&target, &said, finished.tokens, sent);
        if let Some(again) = pulse.during(Some(0), voice, once_more).await
            && let Some(again) = again.streamed(&turn.relay).await
        {
            has_role |= finished.choices.iter().any(|(sink, _)| sink.has_role());
            open_answer = again;
            continue;
        }
        return finished.resolve(&mut turn, &target, voice, &mut pulse).await;
    }
}

/// The way in which each choice of a stream is read.
struct ReadingWay {
    tool_set: Arc<ToolSet>,
    options: ReadOptions,
    /// The time that a call is held before it goes out without its verdict; none if it never does.
    hold: Option<Duration>,
    /// The client knows the role from an answer before.
    has_role: bool,
}

/// An upstream's streamed answer.
struct StreamRead {
    way: ReadingWay,
    choices: Vec<StreamedChoice>,
    /// The events that became certain with a delta.
    events: Vec<Event>,
    spent: Usage,
    /// The upstream's count of the prompt's tokens.
    tokens: Option<PromptTokens>,
    ending: Ending,
    /// The stream is broken off here: it goes beyond a limit.
    is_refused: bool,
    /// The upstream's error, if the client has yet to read it.
    failure: Option<(sse::Event, Document)>,
}

impl StreamRead {
    /// Reads to the end, and says what becomes certain on the way.
    async fn read(
        turn: &mut Turn,
        mut upstream: Events,
        way: ReadingWay,
        voice: &mut dyn Voice,
        (to, pulse): (&BodySender, &mut Pulse),
    ) -> StreamRead {
        let mut read = StreamRead {
            way,
            choices: Vec::new(),
            events: Vec::new(),
            spent: Usage::default(),
            tokens: None,
            ending: Ending::default(),
            is_refused: false,
            failure: None,
        };
        loop {
            let held = read.held().or_else(|| voice.beats_in_silence().then_some(0));
            let Some(came) = pulse.until(read.due(), held, voice, upstream.next()).await else {
                read.choices.iter_mut().for_each(|choice| choice.held_for_long(voice));
                voice.flush();
                continue;
            };
            let Some(Came { event, json }) = came else { break };
            match json {
                Json::Is(document) => read.take(turn, (event, document), &mut upstream.ending, voice).await,
                Json::None => {
                    voice.pass(&event);
                    continue;
                }
                Json::Broken(why) => upstream.ending.cut_by(&why),
            }
            if upstream.ending.is_cut() || read.failure.is_some() {
                break;
            }
            to.room().await;
        }
        read.ending = upstream.ending;
        let has_stopped = |choice: &StreamedChoice| choice.sink.has_stopped();
        read.ending.is_finished =
            !read.ending.is_cut() && !read.choices.is_empty() && read.choices.iter().all(has_stopped);
        read
    }

    /// Takes the next event, and says what becomes certain with it.
    async fn take(
        &mut self,
        turn: &mut Turn,
        (event, document): (sse::Event, Document),
        ending: &mut Ending,
        voice: &mut dyn Voice,
    ) {
        let chunk = document.root();
        if is_error(chunk) {
            ending.is_error = true;
            let waits = self.is_torn() && is_passing(error_status(chunk));
            match self.has_spoken() && !waits {
                true => voice.upstream_error(&event, chunk),
                false => self.failure = Some((event, document)),
            }
            return;
        }
        let counted = usage(chunk);
        self.spent = counted.unwrap_or(self.spent);
        self.tokens = prompt_tokens(chunk).or(self.tokens);
        if chunk.get("choices").is_none_or(|list| list.elements().next().is_none()) {
            match counted {
                Some(_) => voice.counted(&event),
                None => voice.pass(&event),
            }
            return;
        }
        let passes = voice.meets(chunk);
        let mut is_whole = passes;
        for mut delta in deltas(chunk) {
            let at = match self.choice_of(&delta, turn) {
                Ok(at) => at,
                Err(why) => {
                    ending.cut_by(&why);
                    (is_whole, self.is_refused) = (false, true);
                    break;
                }
            };
            let is_only = self.choices.len() == 1;
            let choice = &mut self.choices[at];
            choice.surrogates.repair(&mut delta);
            self.events.clear();
            let may_pass = choice.take(&delta, passes, &mut self.events).await;
            if delta.finish_reason.is_some() {
                voice.stopped(&delta, chunk);
            }
            is_whole &= may_pass && is_only;
            if !is_whole {
                choice.write(&delta, &self.events, voice);
            }
            turn.log.holds(choice.came.saturating_sub(choice.sink.went()));
            if turn.relay.config.limits.answer < choice.came + choice.thought {
                ending.cut_by("the upstream's answer is longer than is allowed");
                self.is_refused = true;
            }
        }
        // Nothing in the event was held, changed or taken out: it goes on as it came.
        match is_whole {
            true => voice.pass(&event),
            false => voice.flush(),
        }
    }

    /// Returns the place of the choice that a delta belongs to.
    ///
    /// # Errors
    /// The delta cannot be used, for the reason in this sentence.
    fn choice_of(&mut self, delta: &Delta<'_>, turn: &Turn) -> Result<usize, String> {
        let mut foreign = delta.calls.iter().filter_map(|call| call.listed).filter(|call| is_foreign(*call));
        if let Some(why) = foreign.find_map(|call| turn.ask.objection(call)) {
            return Err(format!("the upstream's answer cannot be used: {why}"));
        }
        if let Some(at) = self.choices.iter().position(|choice| choice.index == delta.index) {
            return Ok(at);
        }
        if turn.ask.most_choices() <= self.choices.len() {
            return Err("the upstream's answer has more choices than anybody asks for".into());
        }
        let ReadingWay { tool_set, options, hold, has_role } = &self.way;
        let reading = Reading::new(&turn.relay.readers, tool_set, options);
        let sink = Sink::new(delta.index, turn);
        self.choices.push(StreamedChoice::new(delta.index, reading, sink, (*has_role, *hold)));
        Ok(self.choices.len() - 1)
    }

    /// Returns whether the client has any words or calls. Thoughts are neither.
    fn has_spoken(&self) -> bool {
        self.choices.iter().any(|choice| choice.says_else || choice.sink.has_spoken())
    }

    /// Returns whether only the second halves of half-sent calls are missing.
    fn is_torn(&self) -> bool {
        let is_open = |choice: &StreamedChoice| choice.sink.is_open();
        let is_no_end = |choice: &StreamedChoice| !choice.sink.has_stopped() && !is_open(choice);
        let is_told = self.ending.is_error && self.failure.is_none();
        !self.is_refused
            && !is_told
            && self.choices.iter().any(is_open)
            && !self.choices.iter().any(is_no_end)
    }

    /// Returns a choice with something held.
    fn held(&self) -> Option<usize> {
        let is_held =
            |choice: &&StreamedChoice| choice.sink.went() < choice.came || choice.reading.has_native();
        self.choices.iter().find(is_held).map(|choice| choice.index)
    }

    /// Returns the time at which the first call has been held long enough to go out without its verdict.
    fn due(&self) -> Option<Instant> {
        self.choices.iter().filter_map(|choice| choice.due).min()
    }

    /// Ends a stream that broke off inside a half-sent call, so that the rest of the call can be asked for.
    async fn tear(self, turn: &mut Turn, voice: &mut dyn Voice) -> FinishedStream {
        let StreamRead { choices: broken, spent, tokens, mut ending, failure, .. } = self;
        ending.cut_by("the upstream's answer broke off");
        let why =
            failure.as_ref().and_then(|(_, failure)| failure.root().get("error")).map(|error| error.raw());
        turn.log.failed(None, why.or(ending.why_cut()).unwrap_or_default());
        let mut choices = Vec::with_capacity(broken.len());
        for choice in broken {
            choices.push(choice.tear(voice).await);
        }
        voice.flush();
        turn.log.read(spent, choices.iter().map(|(_, choice)| choice));
        FinishedStream { choices, tokens, ending, failure }
    }

    /// Ends a stream that broke off. Its words stay; a call that had not gone out never does.
    async fn break_off(mut self, turn: &mut Turn, voice: &mut dyn Voice) {
        if let Some((event, failure)) = &self.failure {
            voice.upstream_error(event, failure.root());
        }
        self.ending.cut_by("the upstream's answer broke off");
        let mut read = Vec::with_capacity(self.choices.len());
        for choice in self.choices {
            read.push(choice.break_off(voice).await);
        }
        turn.log.read(self.spent, read.iter());
        end_of_stream(turn, &self.ending, TurnEnd::Cut, voice);
    }

    /// Writes the events that became certain with the end.
    async fn finish(self, turn: &mut Turn, target: &Target, voice: &mut dyn Voice) -> FinishedStream {
        let budget = turn.budget(target, self.spent);
        let mut choices = Vec::with_capacity(self.choices.len());
        for choice in self.choices {
            choices.push(choice.finish(budget, voice).await);
        }
        voice.flush();
        turn.log.read(self.spent, choices.iter().map(|(_, choice)| choice));
        FinishedStream { choices, tokens: self.tokens, ending: self.ending, failure: None }
    }
}

/// A stream that has ended, before anything is asked again: properly, or inside a half-sent call.
struct FinishedStream {
    choices: Vec<(Sink, Choice)>,
    tokens: Option<PromptTokens>,
    ending: Ending,
    /// The upstream's error, if the client has yet to read it.
    failure: Option<(sse::Event, Document)>,
}

impl FinishedStream {
    /// Returns the choices, and the part of them that the client has read.
    fn said(&self) -> (Vec<&Choice>, Sent<'_>) {
        let is_out =
            |(sink, choice): &(Sink, Choice)| !sink.holds_content() && !choice.outcome.text.trim().is_empty();
        let sent = if self.choices.iter().any(is_out) { Sent::Words } else { Sent::Nothing };
        (self.choices.iter().map(|(_, choice)| choice).collect(), sent)
    }

    /// Asks again where that is needed, and writes the outcome, to the last event.
    async fn resolve(mut self, turn: &mut Turn, target: &Target, voice: &mut dyn Voice, pulse: &mut Pulse) {
        let mut end = TurnEnd::Passed;
        let n_choices = self.choices.len();
        let mut done: Vec<Resolution> = Vec::with_capacity(n_choices);
        for (mut sink, mut choice) in std::mem::take(&mut self.choices) {
            let unchecked = sink.settle_unchecked(&mut choice);
            let is_unchecked_live = unchecked.is_some();
            if let Some(refusal) = unchecked {
                turn.log.unchecked_live(refusal);
                end = worse(end, TurnEnd::Invalid);
            }
            let begun = sink.begun(&choice);
            let sent = match &begun {
                Some(begun) => Sent::Part(begun),
                None if sink.has_calls() => Sent::Calls,
                None => Sent::Words,
            };
            let resolving = turn.resolve(choice, sent, target);
            let mut resolution = pulse.during(Some(sink.index()), voice, resolving).await;
            if let Some(call) = begun.as_ref().and_then(|begun| begun.whole_in(&resolution.verdicts)) {
                sink.mend(call, voice);
                self.ending.is_mended();
            }
            resolution.is_unchecked_live = is_unchecked_live;
            turn.settle_content(&mut resolution, target).await;
            end = worse(end, sink.resolve(turn, &resolution, voice));
            if sink.is_torn() {
                return self.end_torn(begun.iter().map(|begun| &begun.refusal), turn, voice);
            }
            if turn.policy == Policy::Strict
                && let Some(fault) = &resolution.fault
            {
                voice.fail(INVALID_CONTENT, fault);
                voice.flush();
                return turn.log.end(TurnEnd::Invalid, voice.status().as_u16());
            }
            done.push(resolution);
            let has_report = done.len() == n_choices && turn.ask.answer.report;
            let report = has_report.then(|| report::member(turn.log.record(), end, &done));
            if let Some(resolution) = done.last() {
                sink.last(turn, resolution, report.as_deref(), voice);
            }
            voice.flush();
        }
        voice.usage(turn.log.usage(), turn.log.attempts());
        end_of_stream(turn, &self.ending, end, voice);
    }

    /// Ends a stream with half a call in an error: it is the only end that nobody takes for a whole one.
    fn end_torn<'r>(
        self,
        refused: impl Iterator<Item = &'r Refusal>,
        turn: &mut Turn,
        voice: &mut dyn Voice,
    ) {
        let end = match (&self.failure, self.ending.why_cut()) {
            (Some((event, failure)), _) => {
                voice.upstream_error(event, failure.root());
                TurnEnd::UpstreamError
            }
            (None, Some(why)) => {
                voice.fail(CUT, why);
                TurnEnd::Cut
            }
            (None, None) => {
                voice.fail(CALL_REFUSED, &followup::sentence(refused));
                TurnEnd::Refused
            }
        };
        voice.flush();
        turn.log.end(end, voice.status().as_u16());
    }
}

/// One choice of a streamed answer.
struct StreamedChoice {
    index: usize,
    reading: Reading,
    surrogates: Surrogates,
    sink: Sink,
    /// Pieces of native calls that the sink has yet to see.
    pieces: Vec<NativePiece>,
    /// The time that the first native call is held before it goes out without its verdict. None if it never does, and once it is
    /// counted.
    hold: Option<Duration>,
    /// The time at which it goes out.
    due: Option<Instant>,
    /// Bytes of text and arguments that came.
    came: usize,
    /// Bytes of marked thoughts, which go on at once.
    thought: usize,
    /// The answer holds something besides words, thoughts and calls: a refusal, a sound.
    says_else: bool,
    /// The role came.
    has_role: bool,
    /// The role came once more in this chunk: a client that joins deltas would read `assistantassistant`.
    repeats_role: bool,
}

impl StreamedChoice {
    fn new(
        index: usize,
        reading: Reading,
        mut sink: Sink,
        (has_role, hold): (bool, Option<Duration>),
    ) -> StreamedChoice {
        if has_role {
            sink.has_begun();
        }
        StreamedChoice {
            index,
            reading,
            surrogates: Surrogates::default(),
            sink,
            pieces: Vec::new(),
            hold,
            due: None,
            came: 0,
            thought: 0,
            says_else: false,
            has_role,
            repeats_role: false,
        }
    }

    /// Reads the additions of a chunk. Returns whether all of it may go on as it stands, in a stream of chunks.
    async fn take(&mut self, delta: &Delta<'_>, passes: bool, events: &mut Vec<Event>) -> bool {
        self.repeats_role = delta.has_role && self.has_role;
        self.has_role |= delta.has_role;
        let is_repaired = delta.repaired.text || delta.repaired.thought;
        let mut is_whole = passes
            && delta.calls.is_empty()
            && delta.finish_reason.is_none()
            && !self.repeats_role
            && !is_repaired;
        if delta.more == More::Else {
            self.says_else = true;
            self.reading.says_else();
        }
        if let Some(thought) = &delta.reasoning {
            self.thought += thought.len();
            self.reading.thought(thought, events).await;
            is_whole &= events.is_empty();
        }
        if let Some(text) = delta.text.as_deref().filter(|text| !text.is_empty()) {
            self.came += text.len();
            self.reading.text(text, events).await;
            let is_said = matches!(events.as_slice(), [Event::Text(said)] if said == text);
            is_whole &= is_said && !self.sink.holds_content();
        }
        for call in &delta.calls {
            if self.is_foreign(call) {
                continue;
            }
            let piece = call.delta();
            self.came += piece.arguments.map_or(0, str::len);
            let Some(slot) = self.reading.call(piece, events).await else { continue };
            self.reading.foreign(slot, &call.foreign);
            self.pieces.push(NativePiece { slot, foreign: call.foreign.clone() });
            if let Some(hold) = self.hold.take() {
                self.due = Some(Instant::now() + hold);
            }
        }
        self.stream_first(events);
        if let Some(reason) = &delta.finish_reason {
            self.reading.stopped(reason);
            if let Some(lost) = LostCall::at_end(delta.choice) {
                self.reading.lost(lost);
            }
            self.sink.stopped();
        }
        if is_whole {
            self.sink.has_begun();
            self.sink.passed(delta.text.as_deref().map_or(0, str::len));
        }
        is_whole
    }

    /// Lets the first native call out without its verdict, once it has been held for long enough. No other call does: verdicts
    /// come with the end of the answer, and a call begins after the one before it.
    fn stream_first(&mut self, events: &mut Vec<Event>) {
        if self.due.take_if(|due| *due <= Instant::now()).is_some() {
            self.reading.stream_call(0, events);
        }
    }

    /// Says what is certain of a call that has been held for long enough, while nothing comes.
    fn held_for_long(&mut self, voice: &mut dyn Voice) {
        let mut events = Vec::new();
        self.stream_first(&mut events);
        self.sink.send(&events, voice);
    }

    /// Says what became certain.
    fn write(&mut self, delta: &Delta<'_>, events: &[Event], voice: &mut dyn Voice) {
        let says_role = delta.has_role && !self.repeats_role;
        if delta.more != More::Nothing || delta.has_siblings_now() || says_role {
            self.sink.has_begun();
            voice.beside(delta, self.repeats_role);
        }
        for call in &delta.calls {
            if self.is_foreign(call)
                && let Some(listed) = call.listed
                && self.sink.foreign_piece(call.index, listed, voice)
            {
                self.reading.foreign_call();
            }
        }
        for piece in self.pieces.drain(..) {
            self.sink.native(piece, voice);
        }
        self.sink.send(events, voice);
    }

    /// Returns whether a piece belongs to an unread call.
    fn is_foreign(&self, call: &CallPiece<'_>) -> bool {
        let goes_on = |listed| self.sink.is_foreign(call.index) && !is_of_function(listed);
        call.listed.is_some_and(|listed| is_foreign(listed) || goes_on(listed))
    }

    /// Reads the halves of characters whose other half did not come.
    async fn read_lone_surrogates(&mut self, events: &mut Vec<Event>) {
        if let Some(text) = self.surrogates.last_of_text() {
            self.reading.text(&text, events).await;
        }
        for (index, text) in self.surrogates.last_of_calls() {
            let piece = CallDelta { index, arguments: Some(&text), ..CallDelta::default() };
            self.reading.call(piece, events).await;
        }
        self.reading.lone_surrogates(self.surrogates.n_alone());
    }

    /// Reads to the end, and writes what became certain there.
    async fn finish(mut self, budget: Budget, voice: &mut dyn Voice) -> (Sink, Choice) {
        let mut events = Vec::new();
        self.read_lone_surrogates(&mut events).await;
        let choice = self.reading.finish(budget, &mut events).await;
        let is_cut = choice.finish_reason.as_deref().is_none_or(callwright::is_cut);
        if !is_cut && budget != Budget::Spent {
            self.sink.is_whole();
        }
        self.sink.send(&events, voice);
        (self.sink, choice)
    }

    /// Reads to the point where the stream broke off, inside a half-sent call.
    async fn tear(mut self, voice: &mut dyn Voice) -> (Sink, Choice) {
        let mut events = Vec::new();
        self.read_lone_surrogates(&mut events).await;
        let choice = self.reading.finish(Budget::Unknown, &mut events).await;
        events.retain(|event| matches!(event, Event::Text(_) | Event::Reasoning(_)));
        self.sink.send(&events, voice);
        self.sink.tear();
        (self.sink, choice)
    }

    /// Reads to the point where the stream broke off. Its words stay; a call that had not gone out never does.
    async fn break_off(mut self, voice: &mut dyn Voice) -> Choice {
        let mut events = Vec::new();
        self.read_lone_surrogates(&mut events).await;
        let choice = self.reading.finish(Budget::Spent, &mut events).await;
        events.retain(|event| matches!(event, Event::Text(_) | Event::Reasoning(_)));
        self.sink.send(&events, voice);
        self.sink.say_words(voice);
        choice
    }
}

//! Whole answers: they are read, repaired, asked for again if needed, and written back with the fewest changes.

use std::sync::Arc;

use bytes::Bytes;
use callwright::{Acceptance, Policy, Verdict};
use callwright_json::{Value, quote};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::sse;
use super::voice::{Blocks, GeminiParts, MessageBlocks, OllamaLines, ResponseItems, Serial, Voice};
use crate::calls::{Ids, function, tool_call};
use crate::clock::unix_seconds;
use crate::followup;
use crate::reading::{Shown, read_whole};
use crate::record::{Choice, TurnEnd};
use crate::recover::LostCall;
use crate::relay::Unread;
use crate::reply::{BodySender, Reply, ReplyBody};
use crate::report;
use crate::surface::Door;
use crate::target::Target;
use crate::tokens::Usage;
use crate::turn::outcome::{SILENCE, append, finish_reason, worse};
use crate::turn::{AnswerSource, NoAnswer, OpenAnswer, Resolution, Sent, Turn, refusals};
use crate::wire::{
    AnswerChoice, Change, Document, Head, WireError, array, choices, error_status, is_error, prompt_tokens,
    rewritten, usage,
};

/// Answers a request, from an upstream that answers in one piece.
pub(super) async fn reply(mut turn: Box<Turn>, open_answer: OpenAnswer, door: Door) -> Reply {
    let (mut open_answer, mut headers) = (open_answer, HeaderMap::new());
    loop {
        let OpenAnswer { source, target, shown } = open_answer;
        let document = match received(&mut turn, source, (&target, &shown), &mut headers).await {
            Ok(document) => completed(&turn, document),
            Err(Next::Again(again)) => {
                open_answer = *again;
                continue;
            }
            Err(Next::Reply(reply)) => return *reply,
        };
        if !turn.is_read() {
            turn.log.read(usage(document.root()).unwrap_or_default(), std::iter::empty());
            if choices(document.root()).all(|choice| choice.is_nothing())
                && let Some(again) = turn.repeat(&target).await
            {
                open_answer = again;
                continue;
            }
            return done(turn, headers, document, &[], TurnEnd::Passed, door);
        }
        let answered: Vec<AnswerChoice<'_>> = choices(document.root()).collect();
        let read = match read(&mut turn, (&document, &answered), (&target, &shown)).await {
            Ok(read) => read,
            Err(Next::Again(again)) => {
                open_answer = *again;
                continue;
            }
            Err(Next::Reply(reply)) => return *reply,
        };
        let mut resolutions = Vec::with_capacity(read.len());
        for choice in read {
            let mut resolution = turn.resolve(choice, Sent::Nothing, &target).await;
            turn.settle_content(&mut resolution, &target).await;
            resolutions.push(resolution);
        }
        if turn.policy == Policy::Strict
            && let Some(fault) = resolutions.iter().find_map(|resolution| resolution.fault.clone())
        {
            return invalid(turn, headers, &resolutions, fault);
        }
        let (changed, end) = written(&turn, &document, &answered, &resolutions);
        drop(answered);
        let document = changed.unwrap_or(document);
        return done(turn, headers, document, &resolutions, end, door);
    }
}

/// The consequence of an answer that is not the last.
enum Next {
    /// Another answer takes its place.
    Again(Box<OpenAnswer>),
    /// The client gets this.
    Reply(Box<Reply>),
}

/// Receives an answer of `target`, and puts its headers into `headers`.
///
/// # Errors
/// The answer cannot be read, or is an error.
async fn received(
    turn: &mut Turn,
    source: AnswerSource,
    (target, shown): (&Target, &Arc<Shown>),
    headers: &mut HeaderMap,
) -> Result<Document, Next> {
    let document = match source {
        AnswerSource::Recovered(document) => document,
        AnswerSource::Upstream(answer) => {
            *headers = answer.headers;
            match turn.relay.whole_answer(answer.body, headers, target).await {
                Ok(document) => document,
                Err(Unread { why, is_broken_off }) => {
                    if is_broken_off && let Some(again) = turn.past_failure(target, None, shown).await {
                        return Err(Next::Again(Box::new(again)));
                    }
                    return Err(unusable(turn, why));
                }
            }
        }
    };
    let Some(status) = failure(document.root()) else { return Ok(document) };
    let error = document.root().get("error").map_or("", Value::raw).to_owned();
    turn.log.failed(None, &error);
    let lost = LostCall::in_error(document.text()).filter(|_| turn.is_read());
    if let Some(recovered) = lost.and_then(|lost| lost.answer(&turn.ask.model)) {
        let (source, target, shown) = (AnswerSource::Recovered(recovered), target.clone(), Arc::clone(shown));
        return Err(Next::Again(Box::new(OpenAnswer { source, target, shown })));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let failed = NoAnswer::Upstream(status, std::mem::take(headers), document.to_bytes());
    Err(Next::Reply(Box::new(failed.reply(&mut turn.log))))
}

/// Reads the choices of an answer of `target`.
///
/// # Errors
/// The answer cannot be used, or the same question is asked once more.
async fn read(
    turn: &mut Turn,
    (document, answered): (&Document, &[AnswerChoice<'_>]),
    (target, shown): (&Target, &Arc<Shown>),
) -> Result<Vec<Choice>, Next> {
    let spent = usage(document.root()).unwrap_or_default();
    let options = turn.read_options(target, &turn.ask.calls.choice, shown);
    let mut foreign = answered.iter().flat_map(|choice| &choice.foreign_calls);
    if let Some(why) = foreign.find_map(|call| turn.ask.objection(*call)) {
        return Err(unusable(turn, format!("the upstream's answer cannot be used: {why}")));
    }
    let budget = turn.budget(target, spent);
    let readers = &turn.relay.readers;
    let read = read_whole(readers, (document, answered), &turn.tool_set, options, budget).await;
    turn.log.read(spent, read.iter());
    for choice in &read {
        turn.count_proof(target, choice);
    }
    let tokens = prompt_tokens(document.root());
    let all: Vec<_> = read.iter().collect();
    if let Some(again) = turn.once_more(target, &all, tokens, Sent::Nothing).await {
        return Err(Next::Again(Box::new(again)));
    }
    match answered.is_empty() {
        true => Err(unusable(turn, String::from("the upstream's answer holds no choice"))),
        false => Ok(read),
    }
}

/// Makes the error that a client gets for an answer that cannot be used.
fn unusable(turn: &mut Turn, why: String) -> Next {
    turn.log.failed(None, &why);
    let error = WireError::upstream(StatusCode::BAD_GATEWAY, "bad_answer", why);
    Next::Reply(Box::new(NoAnswer::Error(error).reply(&mut turn.log)))
}

/// Makes the error for a client that wants JSON as it was written, or an error.
fn invalid(mut turn: Box<Turn>, headers: HeaderMap, resolutions: &[Resolution], fault: String) -> Reply {
    turn.log.end(TurnEnd::Invalid, StatusCode::BAD_GATEWAY.as_u16());
    let mut reply = Reply::error(&WireError::upstream(StatusCode::BAD_GATEWAY, "invalid_content", fault));
    reply.headers.extend(headers);
    reply.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    report::head(turn.log.record(), &mut reply.headers);
    report::outcome(turn.log.record(), TurnEnd::Invalid, resolutions, &mut reply.headers);
    reply
}

/// Completes an answer whose upstream leaves out the members that all answers have.
fn completed(turn: &Turn, document: Document) -> Document {
    let root = document.root();
    if Head::is_in(root) || root.get("choices").is_none() {
        return document;
    }
    let record = turn.log.record();
    let head = Head::of(&record.id, "chat.completion", unix_seconds(), &record.model);
    Document::of(rewritten(root, &head.missing(root))).unwrap_or(document)
}

fn done(
    mut turn: Box<Turn>,
    mut headers: HeaderMap,
    document: Document,
    resolutions: &[Resolution],
    end: TurnEnd,
    door: Door,
) -> Reply {
    turn.log.end(end, 200);
    report::head(turn.log.record(), &mut headers);
    report::outcome(turn.log.record(), end, resolutions, &mut headers);
    let kind = door.content_type(turn.ask.answer.stream);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if turn.ask.answer.stream {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    let stream = turn.ask.answer.stream;
    let to = BodySender::default();
    let body = match door {
        Door::Chat => None,
        Door::Messages(wanted) if stream => {
            said(&turn, &document, Serial::new(MessageBlocks::streamed(wanted), to.clone()));
            Some(to.take())
        }
        Door::Messages(wanted) => {
            let blocks = said(&turn, &document, Serial::new(MessageBlocks::kept(wanted), to));
            Some(Bytes::from(blocks.into_message()))
        }
        Door::Responses(wanted) => {
            let items = said(&turn, &document, Serial::new(ResponseItems::new(*wanted, stream), to.clone()));
            Some(if stream { to.take() } else { Bytes::from(items.into_response()) })
        }
        Door::Ollama(wanted) => {
            let lines = said(&turn, &document, Serial::new(OllamaLines::new(wanted, stream), to.clone()));
            Some(if stream { to.take() } else { Bytes::from(lines.into_pieces().into_answer()) })
        }
        Door::Gemini(wanted) => {
            let parts = said(&turn, &document, Serial::new(GeminiParts::new(wanted), to.clone()));
            Some(if stream { to.take() } else { Bytes::from(parts.into_pieces().into_answer()) })
        }
    };
    if let Some(body) = body {
        return Reply { status: StatusCode::OK, headers, body: ReplyBody::whole(body) };
    }
    if turn.ask.answer.stream {
        let reported = resolutions.iter().filter(|_| turn.ask.answer.report);
        let tool_errors: Vec<Vec<String>> = reported.map(report::tool_errors).collect();
        let events = sse::events(document.root(), turn.ask.answer.usage, &tool_errors);
        let body = ReplyBody::whole(Bytes::from(events));
        return Reply { status: StatusCode::OK, headers, body };
    }
    Reply { status: StatusCode::OK, headers, body: ReplyBody::whole(document.to_bytes()) }
}

/// Returns the blocks of a whole answer, once `voice` has said them.
fn said<B: Blocks>(turn: &Turn, document: &Document, mut voice: Serial<B>) -> B {
    let root = document.root();
    if let Some(mut choice) = choices(root).next() {
        if !turn.is_read() {
            // Nobody may make them.
            choice.calls.clear();
        }
        let report = root.get("callwright").map(Value::raw);
        voice.whole(&choice, report, turn.log.usage());
    }
    voice.close();
    voice.flush();
    voice.into_blocks()
}

/// Writes the outcome of its choices into an answer; none if it goes out as it came. Returns its end as well.
fn written(
    turn: &Turn,
    document: &Document,
    answered: &[AnswerChoice<'_>],
    resolutions: &[Resolution],
) -> (Option<Document>, TurnEnd) {
    let mut end = TurnEnd::Passed;
    let written = answered.iter().zip(resolutions).map(|(answered, resolution)| {
        let (changed, choice_end) = written_choice(turn, answered, resolution);
        end = worse(end, choice_end);
        changed
    });
    let written: Vec<Option<String>> = written.collect();
    let mut changes: Vec<(&str, Change)> = Vec::new();
    if written.iter().any(Option::is_some) {
        let texts = written.iter().zip(answered);
        let texts = texts.map(|(text, answered)| text.as_deref().unwrap_or(answered.choice.raw()));
        changes.push(("choices", Change::Set(array(texts))));
    }
    if 1 < turn.log.attempts()
        && let Some(own) = document.root().get("usage")
    {
        changes.push(("usage", Change::Set(added_up(own, turn.log.usage()))));
    }
    if turn.ask.answer.report {
        changes.push(("callwright", Change::Set(report::member(turn.log.record(), end, resolutions))));
    }
    if changes.is_empty() {
        return (None, end);
    }
    // What is put together from JSON texts is JSON.
    (Document::of(rewritten(document.root(), &changes)).ok(), end)
}

/// Writes one choice; none if it goes out as it came.
fn written_choice(
    turn: &Turn,
    answered: &AnswerChoice<'_>,
    resolution: &Resolution,
) -> (Option<String>, TurnEnd) {
    let accepted: Vec<_> = resolution
        .verdicts
        .iter()
        .filter_map(|verdict| match verdict {
            Verdict::Accepted(call) => Some(call),
            Verdict::Refused(_) => None,
        })
        .collect();
    let text = said_text(turn, resolution);
    let end = resolution.end;
    let mut ids = Ids::besides(&turn.ask.calls.taken_ids);
    let ids: Vec<String> = accepted.iter().map(|call| ids.next(call.id.as_deref())).collect();
    for (id, call) in ids.iter().zip(&accepted) {
        turn.relay.notes.keep(id, call);
    }
    let same_call = |(n, call): (usize, &&Acceptance)| {
        answered.calls.get(n).is_some_and(|came| {
            came.is(&call.name, &call.arguments) && came.id() == ids.get(n).map(String::as_str)
        })
    };
    let has_same_calls = accepted.len() == answered.calls.len() && accepted.iter().enumerate().all(same_call);
    let has_calls = !accepted.is_empty() || !answered.foreign_calls.is_empty();
    let finish = finish_reason(turn, resolution, has_calls);
    let has_same_finish = finish.as_deref() == answered.finish_reason.as_deref();
    // Beside calls, an empty text is none.
    let is_empty_text = answered.is_empty_text && !accepted.is_empty();
    let has_same_text = text == answered.text && !is_empty_text;
    if has_same_calls && has_same_finish && has_same_text {
        return (None, end);
    }
    let mut changes: Vec<(&str, Change)> = Vec::new();
    if !has_same_text {
        let content = match text.is_empty() {
            true => String::from("null"),
            false => quote(&text),
        };
        changes.push(("content", Change::Set(content)));
    }
    if answered.reasoning.is_none() && !resolution.first.outcome.reasoning.is_empty() {
        changes.push(("reasoning_content", Change::Set(quote(&resolution.first.outcome.reasoning))));
    }
    if !has_same_calls {
        changes.extend(calls_changes(turn, answered, resolution, (&ids, &accepted)));
    }
    let message =
        answered.choice.get("message").map(|message| rewritten(message, &changes)).unwrap_or_default();
    let finish = finish.map_or(String::from("null"), |finish| quote(&finish));
    let choice = rewritten(
        answered.choice,
        &[("message", Change::Set(message)), ("finish_reason", Change::Set(finish))],
    );
    (Some(choice), end)
}

/// Returns the text of a choice for the client: with the words of a later answer, and a sentence for each refused call.
fn said_text(turn: &Turn, resolution: &Resolution) -> String {
    if let Some(content) = &resolution.content {
        return content.clone();
    }
    if turn.is_silent(resolution) {
        return String::from(SILENCE);
    }
    let mut text = resolution.first.outcome.text.clone();
    append(&mut text, &resolution.more_text);
    if refusals(&resolution.verdicts).next().is_some() {
        append(&mut text, &followup::sentence(refusals(&resolution.verdicts)));
    }
    text
}

/// Returns the members of a message that hold its calls, with these ids.
fn calls_changes(
    turn: &Turn,
    answered: &AnswerChoice<'_>,
    resolution: &Resolution,
    (ids, accepted): (&[String], &[&Acceptance]),
) -> [(&'static str, Change); 2] {
    let others = || answered.foreign_calls.iter().map(|call| call.raw().to_owned());
    let is_legacy = turn.ask.calls.is_legacy;
    let change = match accepted.first() {
        None if answered.foreign_calls.is_empty() => Change::Remove,
        None => Change::Set(array(others())),
        Some(call) if is_legacy => Change::Set(function(call, &resolution.foreign_of(call))),
        Some(_) => {
            let ours = ids.iter().zip(accepted);
            let ours = ours.map(|(id, call)| tool_call(id, call, &resolution.foreign_of(call)));
            Change::Set(array(ours.chain(others())))
        }
    };
    let (key, other) = match is_legacy {
        false => ("tool_calls", "function_call"),
        true => ("function_call", "tool_calls"),
    };
    [(other, Change::Remove), (key, change)]
}

/// Returns the status of an answer that is an error although it came with 200: the one that it names, else 502.
fn failure(root: Value<'_>) -> Option<StatusCode> {
    if !is_error(root) || root.get("choices").is_some_and(|choices| choices.elements().next().is_some()) {
        return None;
    }
    Some(error_status(root))
}

/// Writes an answer's `usage` with the tokens of all answers that it took.
fn added_up(own: Value<'_>, all: Usage) -> String {
    let set = |n: u64| Change::Set(n.to_string());
    rewritten(
        own,
        &[
            ("prompt_tokens", set(all.prompt)),
            ("completion_tokens", set(all.completion)),
            ("total_tokens", set(all.total)),
        ],
    )
}

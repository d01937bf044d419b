//! Whole answers: read, healed, asked for again where that is needed, and written back with nothing changed that
//! did not have to be.

use bytes::Bytes;
use callwright::{Policy, Schema, Verdict, heal};
use callwright_json::{Value, quote};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::calls::{Ids, function, tool_call};
use crate::climb::{Settled, refused};
use crate::followup;
use crate::question::Question;
use crate::record::{Choice, TurnEnd, Usage};
use crate::reply::{Reply, ReplyBody};
use crate::report;
use crate::sse_out;
use crate::turn::{Chosen, Failed, Opened, Source, Turn, read_whole};
use crate::upstream::AnswerBody;
use crate::wire::{Answered, Change, Document, WireError, array, choices, rewritten, usage};

/// The answer to a request, from an upstream that answers in one piece.
pub(crate) async fn reply(mut turn: Box<Turn>, opened: Opened) -> Reply {
    let (mut opened, mut headers) = (opened, HeaderMap::new());
    loop {
        let document = match opened.source {
            Source::Recovered(document) => document,
            Source::Answer(answer) => {
                headers = answer.headers;
                match whole_document(&turn, answer.body, &opened.chosen).await {
                    Ok(document) => document,
                    Err(error) => {
                        turn.log.failed(None, &error.message);
                        return Failed::Error(error).reply(&mut turn.log);
                    }
                }
            }
        };
        let spent = usage(document.root()).unwrap_or_default();
        if !turn.is_read() {
            turn.log.read(spent, std::iter::empty());
            return done(turn, headers, document, &[], TurnEnd::Passed);
        }
        let manner = turn.manner(&opened.chosen, &turn.ask.choice, &opened.shown);
        let read = read_whole(&document, &turn.tool_set, manner, turn.ask.max_tokens, spent);
        turn.log.read(spent, read.iter());
        if let [only] = read.as_slice()
            && turn.was_left_out(&opened.chosen, only)
        {
            // Where that fails, what came first is still an answer.
            if let Ok(again) = turn.in_prompt_mode(&opened.chosen, &Question::first(&turn.ask)).await {
                opened = again;
                continue;
            }
        }
        let mut settled = Vec::with_capacity(read.len());
        for choice in read {
            settled.push(turn.climb(choice, &opened.chosen).await);
        }
        let (document, end) = written(&turn, document, &settled);
        return done(turn, headers, document, &settled, end);
    }
}

async fn whole_document(turn: &Turn, body: AnswerBody, chosen: &Chosen) -> Result<Document, WireError> {
    let bad = |message: String| WireError::upstream(StatusCode::BAD_GATEWAY, "bad_answer", message);
    let body = body.whole(turn.relay.config.limits.answer).await.map_err(|error| bad(error.to_string()))?;
    let body = chosen.candidate.upstream.without_secrets(body);
    Document::parse(body).map_err(|why| bad(format!("the upstream's answer cannot be read: {why}")))
}

fn done(
    mut turn: Box<Turn>,
    mut headers: HeaderMap,
    document: Document,
    settled: &[Settled],
    end: TurnEnd,
) -> Reply {
    turn.log.end(end, 200);
    report::head(turn.log.record(), &mut headers);
    report::outcome(turn.log.record(), end, settled, &mut headers);
    if turn.ask.stream {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let told = settled.iter().filter(|_| turn.ask.wants_report);
        let tool_errors: Vec<Vec<String>> = told.map(report::tool_errors).collect();
        let events = sse_out::events(document.root(), turn.ask.include_usage, &tool_errors);
        let body = ReplyBody::whole(Bytes::from(events));
        return Reply { status: StatusCode::OK, headers, body };
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::whole(document.to_bytes()) }
}

/// The answer with what came of its choices, and how it ended.
fn written(turn: &Turn, document: Document, settled: &[Settled]) -> (Document, TurnEnd) {
    let mut end = TurnEnd::Passed;
    let mut is_changed = false;
    let texts: Vec<String> = choices(document.root())
        .zip(settled)
        .map(|(answered, settled)| {
            let (changed, choice_end) = written_choice(turn, &answered, settled);
            end = worse(end, choice_end);
            is_changed |= changed.is_some();
            changed.unwrap_or_else(|| answered.choice.raw().to_owned())
        })
        .collect();
    let mut changes: Vec<(&str, Change)> = Vec::new();
    if is_changed {
        changes.push(("choices", Change::Set(array(texts))));
    }
    if 1 < turn.log.attempts()
        && let Some(own) = document.root().get("usage")
    {
        changes.push(("usage", Change::Set(added_up(own, turn.log.usage()))));
    }
    if turn.ask.wants_report {
        changes.push(("callwright", Change::Set(report::member(turn.log.record(), end, settled))));
    }
    if changes.is_empty() {
        return (document, end);
    }
    let text = rewritten(document.root(), &changes);
    // What is put together from JSON texts is JSON.
    (Document::of(text).unwrap_or(document), end)
}

/// One choice as it goes out; none where it goes out as it came.
fn written_choice(turn: &Turn, answered: &Answered<'_>, settled: &Settled) -> (Option<String>, TurnEnd) {
    let accepted: Vec<_> = settled
        .verdicts
        .iter()
        .filter_map(|verdict| match verdict {
            Verdict::Accepted(call) => Some(call),
            Verdict::Refused(_) => None,
        })
        .collect();
    let is_refused = refused(&settled.verdicts).next().is_some();
    let mut text = settled.first.outcome.text.clone();
    append(&mut text, &settled.more_text);
    if is_refused {
        append(&mut text, &followup::sentence(refused(&settled.verdicts)));
    }
    if turn.is_silent(settled) && text.trim().is_empty() && answered.says_nothing_else() {
        text = String::from(SILENCE);
    }
    let mut end = settled.end;
    if turn.ask.json_content
        && accepted.is_empty()
        && let Some(healed) = healed_content(turn, &text, answered.finish_reason.as_deref())
    {
        text = healed;
        end = worse(end, TurnEnd::Healed);
    }
    let mut ids = Ids::default();
    let ids: Vec<String> = accepted.iter().map(|call| ids.next(call.id.as_deref())).collect();
    for (id, call) in ids.iter().zip(&accepted) {
        turn.relay.notes.keep(id, call);
    }
    let same_call = |(n, call): (usize, &&callwright::Acceptance)| {
        answered.calls.get(n).is_some_and(|came| {
            came.is(&call.name, &call.arguments) && came.id() == ids.get(n).map(String::as_str)
        })
    };
    let has_same_calls = accepted.len() == answered.calls.len() && accepted.iter().enumerate().all(same_call);
    let finish = finish_reason(turn, settled, !accepted.is_empty());
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
    if answered.reasoning.is_none() && !settled.first.outcome.reasoning.is_empty() {
        changes.push(("reasoning_content", Change::Set(quote(&settled.first.outcome.reasoning))));
    }
    if !has_same_calls {
        let (key, other) = match turn.ask.is_legacy {
            false => ("tool_calls", "function_call"),
            true => ("function_call", "tool_calls"),
        };
        changes.push((other, Change::Remove));
        let change = match (accepted.first(), turn.ask.is_legacy) {
            (None, _) => Change::Remove,
            (Some(call), true) => Change::Set(function(call)),
            (Some(_), false) => {
                Change::Set(array(ids.iter().zip(&accepted).map(|(id, call)| tool_call(id, call))))
            }
        };
        changes.push((key, change));
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

/// Why the model stopped, as the client is to see it: calls are there, so it stopped for them; calls were refused,
/// so it did not. What says that the answer was cut stays, unless another answer came in its place.
pub(crate) fn finish_reason(turn: &Turn, settled: &Settled, has_calls: bool) -> Option<String> {
    let is_refused = refused(&settled.verdicts).next().is_some();
    let came = settled.finish_reason.as_deref();
    let for_calls = if turn.ask.is_legacy { "function_call" } else { "tool_calls" };
    match came {
        Some("length" | "content_filter") => came.map(str::to_owned),
        _ if has_calls => Some(for_calls.to_owned()),
        Some("tool_calls" | "function_call") if is_refused || turn.has_tools() => Some(String::from("stop")),
        came => came.map(str::to_owned),
    }
}

/// JSON that was asked for with `response_format`, healed; none where it is right, or cannot be healed.
pub(crate) fn healed_content(turn: &Turn, text: &str, finish_reason: Option<&str>) -> Option<String> {
    if turn.policy == Policy::Strict || text.trim().is_empty() {
        return None;
    }
    let schema = turn.ask.content_schema().and_then(|text| text.parse::<callwright::value::Value>().ok());
    let schema = schema.and_then(|schema| Schema::compile(&schema).ok());
    let healed = heal(text, schema.as_ref(), finish_reason).ok()?;
    (healed.text != text).then_some(healed.text)
}

/// What the client's user reads where a model neither says nor calls anything.
pub(crate) const SILENCE: &str = "⚠️ The model gave an empty answer.";

/// Adds a text behind another, in a paragraph of its own.
pub(crate) fn append(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Of two ends, the one that says more.
pub(crate) fn worse(a: TurnEnd, b: TurnEnd) -> TurnEnd {
    let rank = |end: TurnEnd| match end {
        TurnEnd::Passed => 0,
        TurnEnd::Healed => 1,
        TurnEnd::Corrected => 2,
        TurnEnd::Refused => 3,
        TurnEnd::Breaker => 4,
        TurnEnd::Rejected | TurnEnd::UpstreamError | TurnEnd::Cut | TurnEnd::HungUp => 5,
    };
    if rank(a) < rank(b) { b } else { a }
}

/// An answer's `usage` with the tokens of all answers that it took.
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

/// What a choice came to, without a ladder: nothing is asked again.
pub(crate) fn unasked(choice: Choice) -> Settled {
    Settled {
        verdicts: choice.outcome.verdicts.clone(),
        more_text: String::new(),
        finish_reason: choice.finish_reason.clone(),
        end: TurnEnd::Passed,
        first: choice,
    }
}

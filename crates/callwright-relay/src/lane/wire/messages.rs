//! Anthropic's messages: blocks that begin, grow and stop.

use callwright_json::{Span, Value, quote};

use super::told::{Reader, Seen, Settled, Told, Wire, edited, is_announced_call, read, written};
use crate::lane::call::{CallHead, Put};
use crate::sse::Event;
use crate::surface::{Failure, messages_error};
use crate::tokens::Usage;
use crate::wire::{count_of, object, string_of};

pub(super) struct Messages;

impl Reader for Messages {
    fn see(&mut self, event: Value<'_>, told: &mut Told) -> Seen {
        let at = count_of(event, "index").unwrap_or_default();
        match string_of(event, "type").as_deref() {
            Some("ping") => return Seen::Beat,
            Some("error") => return Seen::Fails,
            Some("message_start") => {
                if let Some(message) = event.get("message") {
                    count(message, &mut told.usage);
                }
                return Seen::Starts;
            }
            Some("content_block_start") => {
                if let Some(block) = event.get("content_block").filter(|block| is_announced_call(*block)) {
                    return Seen::CallBegins(at, head(block));
                }
            }
            Some("content_block_delta") => {
                let Some(delta) = event.get("delta") else { return Seen::Beside };
                if let Some(piece) = string_of(delta, "partial_json") {
                    return Seen::CallPiece(at, piece.into_owned());
                }
                told.text.push_str(&string_of(delta, "text").unwrap_or_default());
                told.thought.push_str(&string_of(delta, "thinking").unwrap_or_default());
            }
            Some("content_block_stop") => return Seen::CallEnds(at, None),
            Some("message_delta") => {
                count(event, &mut told.usage);
                told.reason = event.get("delta").and_then(reason).or(told.reason.take());
            }
            Some("message_stop") => {
                told.is_over = true;
                return Seen::Ends(Vec::new());
            }
            _ => {}
        }
        Seen::Beside
    }

    fn calls(&mut self, answer: Value<'_>, told: &mut Told) -> Vec<(u64, CallHead)> {
        count(answer, &mut told.usage);
        told.reason = reason(answer);
        let mut calls = Vec::new();
        for (at, block) in (0..).zip(content(answer)) {
            told.text.push_str(&string_of(block, "text").unwrap_or_default());
            told.thought.push_str(&string_of(block, "thinking").unwrap_or_default());
            if is_announced_call(block) {
                calls.push((at, head(block)));
            }
        }
        calls
    }
}

impl Wire for Messages {
    fn goes_on_with(&mut self, _event: Value<'_>) {}

    fn write(
        &mut self,
        event: &Event,
        (data, root): (&str, Value<'_>),
        settled: &Settled<'_>,
        out: &mut String,
    ) {
        let at = count_of(root, "index").unwrap_or_default();
        let put = root.get("index").and_then(|_| settled.put_at(at));
        let edits = match (string_of(root, "type").as_deref(), put) {
            (Some("content_block_start"), Some(put)) => {
                root.get("content_block").map(|block| started(block, put)).unwrap_or_default()
            }
            (Some("content_block_delta"), Some(_)) => return,
            (Some("content_block_stop"), Some(put)) => {
                let (kind, key, text) = match put {
                    Put::Call { arguments, .. } => {
                        let sent = settled.sent_at(at).len();
                        ("input_json_delta", "partial_json", arguments.get(sent..).unwrap_or(""))
                    }
                    Put::Words(words) => ("text_delta", "text", words.as_str()),
                };
                let delta = object([("type", quote(kind)), (key, quote(text))]);
                let name = "content_block_delta";
                let members = [("type", quote(name)), ("index", at.to_string()), ("delta", delta)];
                written(name, &object(members), out);
                Vec::new()
            }
            (Some("message_delta"), _) => {
                let delta = root.get("delta").map(|delta| ended(delta, settled)).unwrap_or_default();
                delta.into_iter().chain(counted(root, settled)).collect()
            }
            _ => Vec::new(),
        };
        edited(event, data, edits, out);
    }

    fn taken_over(&mut self, other: &[Event], held: &[Value<'_>], more: Usage) -> Option<String> {
        let first = held.iter().find_map(|event| count_of(*event, "index"))?;
        let settled = Settled { calls: &[], has_calls: true, is_mended: false, more };
        let (mut out, mut is_over) = (String::new(), false);
        for (event, (data, tree)) in other.iter().filter_map(|event| Some((event, read(event)?))) {
            let root = tree.root(&data);
            let mut edits = match string_of(root, "type").as_deref() {
                Some("message_start" | "ping") => continue,
                Some("error") => return None,
                Some("message_delta") => counted(root, &settled),
                _ => Vec::new(),
            };
            is_over |= string_of(root, "type").is_some_and(|kind| kind == "message_stop");
            let at = root.get("index").zip(count_of(root, "index"));
            edits.extend(at.map(|(index, at)| (index.span(), (first + at).to_string())));
            edited(event, &data, edits, &mut out);
        }
        is_over.then_some(out)
    }

    fn fail(&mut self, failure: &Failure, out: &mut String) {
        let error = messages_error(failure.messages_type(), &failure.messages_text());
        written("error", &object([("type", quote("error")), ("error", error)]), out);
    }

    fn beat(&self) -> &'static str {
        "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    }

    fn edits(&self, answer: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)> {
        let blocks = (0..).zip(content(answer));
        let puts = blocks.filter_map(|(at, block)| Some((block, settled.put_at(at)?)));
        let edits = puts.flat_map(|(block, put)| match put {
            Put::Call { name, arguments, .. } => renamed(block, name)
                .into_iter()
                .chain(block.get("input").map(|input| (input.span(), arguments.clone())))
                .collect::<Vec<_>>(),
            Put::Words(words) => {
                vec![(block.span(), object([("type", quote("text")), ("text", quote(words))]))]
            }
        });
        edits.chain(ended(answer, settled)).chain(counted(answer, settled)).collect()
    }
}

fn content(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    message.get("content").into_iter().flat_map(Value::elements)
}

fn head(block: Value<'_>) -> CallHead {
    let input = block.get("input");
    CallHead {
        id: string_of(block, "id").unwrap_or_default().into_owned(),
        namespace: None,
        name: string_of(block, "name").unwrap_or_default().into_owned(),
        // A server that could not parse an input gives its text.
        is_misspelt: input.is_some_and(|input| input.as_str().is_some()),
        arguments: match input.and_then(Value::as_str) {
            Some(text) => text.into_owned(),
            None => input.map_or("{}", Value::raw).to_owned(),
        },
    }
}

fn started(block: Value<'_>, put: &Put) -> Vec<(Span, String)> {
    match put {
        Put::Call { name, .. } => {
            let input = block.get("input").filter(|input| input.raw() != "{}");
            let emptied = input.map(|input| (input.span(), String::from("{}")));
            renamed(block, name).into_iter().chain(emptied).collect()
        }
        Put::Words(_) => vec![(block.span(), object([("type", quote("text")), ("text", quote(""))]))],
    }
}

fn renamed(block: Value<'_>, name: &str) -> Option<(Span, String)> {
    let own = block.get("name").filter(|own| own.as_str().is_none_or(|own| own != name))?;
    Some((own.span(), quote(name)))
}

/// Edits the reason: without calls, a message does not stop for one; if cut calls were made again, it does.
fn ended(holder: Value<'_>, settled: &Settled<'_>) -> Option<(Span, String)> {
    let reason = holder.get("stop_reason")?;
    let now = match &*reason.as_str()? {
        "tool_use" if !settled.has_calls => "end_turn",
        "max_tokens" | "model_context_window_exceeded" if settled.is_mended => "tool_use",
        _ => return None,
    };
    Some((reason.span(), quote(now)))
}

/// Edits the tokens to those of all answers.
fn counted(holder: Value<'_>, settled: &Settled<'_>) -> Vec<(Span, String)> {
    let Some(usage) = holder.get("usage").filter(|_| settled.more != Usage::default()) else {
        return Vec::new();
    };
    let both = [("input_tokens", settled.more.prompt), ("output_tokens", settled.more.completion)];
    let more =
        |(key, more): (&str, u64)| Some((usage.get(key)?.span(), (count_of(usage, key)? + more).to_string()));
    both.into_iter().filter_map(more).collect()
}

/// Returns the reason as a chat has it.
fn reason(holder: Value<'_>) -> Option<String> {
    let reason = string_of(holder, "stop_reason")?;
    let known = match &*reason {
        "end_turn" | "stop_sequence" | "pause_turn" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" => "content_filter",
        other => other,
    };
    Some(known.to_owned())
}

/// Reads the tokens: each count includes all earlier ones.
fn count(holder: Value<'_>, usage: &mut Usage) {
    let Some(own) = holder.get("usage") else { return };
    let n = |key| count_of(own, key).unwrap_or(0);
    let cached = n("cache_read_input_tokens");
    let prompt = n("input_tokens") + cached + n("cache_creation_input_tokens");
    if 0 < prompt {
        (usage.prompt, usage.cached) = (prompt, cached);
    }
    usage.completion = n("output_tokens").max(usage.completion);
    usage.total = usage.prompt + usage.completion;
}

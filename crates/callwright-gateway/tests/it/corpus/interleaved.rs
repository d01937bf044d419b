//! Answers whose texts, thoughts and calls come in random pieces and in each other's midst, with calls that are broken or cut
//! and with ends that are none: clients of messages and of responses get an order of events that their accumulators take, and
//! no call that was not made.
//!
//! The accumulators' rules are those of `messages::read` and `responses::read`, taken from what the packages `anthropic`,
//! `@anthropic-ai/sdk` and `openai` (Python and Node) refuse.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_replay::{Replay, Script};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::corpus::case::{ModelMode, tools};
use crate::corpus::client::{Got, ask_at};
use crate::corpus::served::Served;
use crate::corpus::surfaces::Told;
use crate::corpus::{messages, responses};

/// How an API is asked and read.
struct Surface {
    path: &'static str,
    asked: fn(&Value) -> Value,
    told: fn(&Got, bool) -> Told,
}

const SURFACES: [Surface; 2] = [
    Surface { path: "messages", asked: messages::asked, told: messages::told },
    Surface { path: "responses", asked: responses::asked, told: responses::told },
];

/// A call of `get_weather` as a model writes its arguments.
#[derive(Clone, Copy, Debug)]
enum Written {
    Right,
    /// One comma too many.
    Broken,
    /// A string without its end.
    Cut,
}

/// How the stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Reason(&'static str),
    /// Without a reason and a last event.
    Missing,
    /// In the midst of the connection.
    Closed,
}

/// What comes in pieces.
#[derive(Clone, Debug)]
struct Answer {
    text: String,
    thought: String,
    calls: Vec<Written>,
    /// Which of them goes on, and by how many characters.
    pieces: Vec<(usize, usize)>,
    ending: Ending,
    is_live: bool,
}

fn answers() -> impl Strategy<Value = Answer> {
    let written = prop_oneof![4 => Just(Written::Right), 1 => Just(Written::Broken), 1 => Just(Written::Cut)];
    let ending = prop_oneof![
        6 => Just(Ending::Reason("tool_calls")),
        2 => Just(Ending::Reason("stop")),
        1 => Just(Ending::Reason("length")),
        1 => Just(Ending::Missing),
        1 => Just(Ending::Closed),
    ];
    let words = "[a-zé🌧]{0,5}( [a-zé🌧]{1,5}){0,4}";
    let calls = prop::collection::vec(written, 0..4);
    let pieces = prop::collection::vec((0_usize..8, 1_usize..9), 0..60);
    (words, words, calls, pieces, ending, any::<bool>()).prop_map(
        |(text, thought, calls, pieces, ending, is_live)| Answer {
            text,
            thought,
            calls,
            pieces,
            ending,
            is_live,
        },
    )
}

impl Answer {
    fn city(number: usize) -> String {
        format!("Łódź 🌧 \\\"{number}\\\"")
    }

    /// The call of this number as it is meant.
    fn meant(number: usize) -> (String, Value) {
        let arguments = format!("{{\"city\": \"{}\"}}", Answer::city(number));
        (String::from("get_weather"), serde_json::from_str(&arguments).unwrap())
    }

    fn arguments(written: Written, number: usize) -> String {
        let city = Answer::city(number);
        match written {
            Written::Right => format!("{{\"city\": \"{city}\"}}"),
            Written::Broken => format!("{{\"city\": \"{city}\",}}"),
            Written::Cut => format!("{{\"city\": \"{city}"),
        }
    }

    /// The upstream's events: pieces in their random order, and whatever is left behind them. Calls are numbered as they
    /// begin; beside the events stands which of them they are.
    fn events(&self) -> (Vec<String>, Vec<usize>) {
        let calls = self.calls.iter().enumerate().map(|(number, call)| Answer::arguments(*call, number));
        let sources: Vec<Vec<char>> = [self.text.clone(), self.thought.clone()]
            .into_iter()
            .chain(calls)
            .map(|s| s.chars().collect())
            .collect();
        let mut at = vec![0_usize; sources.len()];
        let rest = (0..sources.len()).map(|source| (source, usize::MAX));
        let (mut deltas, mut begun) = (Vec::new(), Vec::new());
        for (source, length) in self.pieces.iter().copied().chain(rest) {
            let source = source % sources.len();
            let from = at[source];
            let to = from.saturating_add(length).min(sources[source].len());
            if from == to {
                continue;
            }
            let piece: String = sources[source][from..to].iter().collect();
            at[source] = to;
            deltas.push(match source {
                0 => json!({ "content": piece }),
                1 => json!({ "reasoning_content": piece }),
                _ => {
                    let call = source - 2;
                    if from == 0 {
                        begun.push(call);
                    }
                    let index = begun.iter().position(|begun| *begun == call);
                    let mut call = json!({ "index": index, "function": { "arguments": piece } });
                    if from == 0 {
                        call["id"] = format!("c{source}").into();
                        call["type"] = "function".into();
                        call["function"]["name"] = "get_weather".into();
                    }
                    json!({ "tool_calls": [call] })
                }
            });
        }
        let chunk = |delta: &Value, reason: Value| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
            let chunk = json!({
                "id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice],
            });
            format!("data: {chunk}\n\n")
        };
        let mut events: Vec<String> = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
        if let Ending::Reason(reason) = self.ending {
            events.push(chunk(&json!({}), reason.into()));
            events.push(String::from("data: [DONE]\n\n"));
        }
        (events, begun)
    }

    fn script(&self) -> Script {
        let (events, _) = self.events();
        let mut answer = json!({ "raw_events": events, "repeat": true });
        if self.ending == Ending::Closed {
            let all = events.concat().len();
            answer["fault"] = json!({ "cut": { "after": all, "how": "close" } });
        }
        Script::from_value(json!({ "answer": [answer] })).unwrap()
    }

    /// What is not as it should be for a client of `surface`.
    async fn wrong(&self, surface: &Surface) -> Vec<String> {
        let replay = Replay::start(self.script()).unwrap();
        let gateway = Served::with(&replay.base_url(), ModelMode::Native);
        let chat = json!({
            "max_tokens": 100_000, "messages": [{ "role": "user", "content": "Go." }], "tools": tools(),
        });
        let mut request = (surface.asked)(&chat);
        request["stream"] = true.into();
        let live = BTreeMap::from([("x-callwright-stream-arguments".to_owned(), "1".to_owned())]);
        let headers = if self.is_live { live } else { BTreeMap::new() };
        let got = ask_at(surface.path, &gateway.base_url, &headers, &request).await;
        let Told { text, thought, mut calls, is_whole, breaches: mut wrong } = (surface.told)(&got, true);

        let mut meant: Vec<(String, Value)> = self.events().1.into_iter().map(Answer::meant).collect();
        if self.is_live {
            // One begins as soon as its beginning is certain, and others wait for it.
            let name = |call: &(String, Value)| call.1.to_string();
            meant.sort_by_key(name);
            calls.sort_by_key(name);
        }
        let has_cut = self.calls.iter().any(|call| matches!(call, Written::Cut));
        let is_said = !self.text.trim().is_empty() || !self.calls.is_empty();
        let is_good = matches!(self.ending, Ending::Reason("tool_calls" | "stop"));
        // One that is asked for again comes with all others, and none is made more often than it was meant.
        if calls.iter().any(|call| !meant.contains(call)) || meant.len() < calls.len() {
            wrong.push(format!("calls that nobody made: {calls:?}"));
        }
        if self.ending == Ending::Closed && is_whole {
            wrong.push(String::from("what was cut looks whole"));
        }
        if is_good && is_said && !has_cut && (&text, &thought, &calls) != (&self.text, &self.thought, &meant)
        {
            wrong.push(format!("{text:?}, {thought:?}, {calls:?}"));
        }
        wrong.into_iter().map(|wrong| format!("{}: {wrong}", surface.path)).collect()
    }
}

fn hold(seed: u64) {
    let config =
        Config { cases: 150, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let held = TestRunner::new(config).run(&answers(), |answer| {
        for surface in &SURFACES {
            let wrong = runtime.block_on(answer.wrong(surface));
            prop_assert!(wrong.is_empty(), "{wrong:#?}\n{}", answer.events().0.concat());
        }
        Ok(())
    });
    held.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_comes_interleaved_is_told_in_order() {
    hold(1);
}

/// Nothing is tuned on this one.
#[test]
fn and_by_another_seed() {
    hold(2);
}

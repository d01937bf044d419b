//! Answers that are cut anywhere: the client gets the whole call, or none.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_replay::{Answer, Cut, Form, Goodbye, Pieces, Replay, Script};

use crate::corpus::case::tools;
use crate::corpus::client::{self, Got};
use crate::corpus::served::Served;
use crate::corpus::strict;

const ARGUMENTS: &str = r#"{"path": "notes/\"a\".txt", "content": "one\ntwo é 😀"}"#;

fn call(arguments: &str, finish_reason: Option<&str>) -> Answer {
    let mut answer = Answer::call("fsWrite", arguments);
    answer.choice.finish_reason = finish_reason.map(str::to_owned);
    answer.form = Some(Form { pieces: Pieces::Each(9), ..Form::default() });
    answer
}

/// What a client gets for each answer, by one gateway after the other's end.
async fn answers(answers: Vec<Answer>, streamed: bool) -> Vec<Got> {
    let number = answers.len();
    let replay = Replay::start(Script::of(answers)).unwrap();
    let gateway = Served::in_front_of(&replay.base_url());
    let mut all = Vec::new();
    for _ in 0..number {
        all.push(client::ask(&gateway.base_url, &BTreeMap::new(), &request(streamed)).await);
    }
    assert_eq!(replay.requests().iter().filter(|r| r.answer.is_some()).count(), number, "one answer to each");
    all
}

fn request(streamed: bool) -> Value {
    json!({ "model": "m", "stream": streamed, "tools": tools(), "messages": [{ "role": "user", "content": "Go." }] })
}

/// The argument texts that a client would act on: those of an answer without an error.
fn calls(got: &Got, streamed: bool) -> Vec<String> {
    let body = strict::read(got, &request(streamed)).body;
    if !body["error"].is_null() {
        return Vec::new();
    }
    let calls = body["choices"][0]["message"]["tool_calls"].as_array().into_iter().flatten();
    calls.map(|call| call["function"]["arguments"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_broken_connection_leaves_the_whole_call_or_none() {
    for streamed in [true, false] {
        let whole = answers(vec![call(ARGUMENTS, None)], streamed).await.remove(0);
        let length = whole.body.len();
        for how in [Goodbye::End, Goodbye::Close, Goodbye::Reset] {
            let cuts: Vec<usize> = (0..length).step_by(13).collect();
            let broken = cuts.iter().map(|&after| {
                let mut answer = call(ARGUMENTS, None);
                answer.fault.cut = Some(Cut { after, percent: None, how });
                answer
            });
            let got = answers(broken.collect(), streamed).await;
            let mut none = 0;
            for (got, after) in got.iter().zip(&cuts) {
                let read = strict::read(got, &request(streamed));
                let calls = calls(got, streamed);
                assert!(read.breaches.is_empty(), "{how:?} behind {after}: {:#?}", read.breaches);
                assert!(calls.iter().all(|call| call == ARGUMENTS), "{how:?} behind {after}: {calls:?}");
                none += usize::from(calls.is_empty());
            }
            assert!(cuts.len() / 2 < none, "{none} of {} were cut", cuts.len());
        }
    }
}

#[tokio::test]
async fn arguments_that_were_cut_are_no_call() {
    for streamed in [true, false] {
        for finish_reason in ["length", "content_filter"] {
            let cuts = ARGUMENTS.char_indices().map(|(at, _)| &ARGUMENTS[..at]);
            let broken = cuts.clone().map(|cut| call(cut, Some(finish_reason)));
            let got = answers(broken.collect(), streamed).await;
            for (got, cut) in got.iter().zip(cuts) {
                let is_whole = |call: &String| serde_json::from_str::<Value>(call).is_ok();
                let calls = calls(got, streamed);
                assert!(!calls.iter().any(is_whole), "{finish_reason} behind {cut}: {calls:?}");
            }
        }
    }
}

/// An upstream that says that the model stopped, when it had cut it off: the model is asked again where more could have
/// stood there.
#[tokio::test]
async fn under_a_reason_that_lies_only_the_whole_call_comes() {
    const ARGUMENTS: &str = r#"{"city": "Sant \"é\" 😀", "hourly": true, "unit": "celsius", "days": 3}"#;
    let call = |arguments: &str, reason: &str| {
        let mut answer = Answer::call("get_weather", arguments);
        answer.choice.finish_reason = Some(reason.to_owned());
        answer
    };
    for streamed in [true, false] {
        for reason in ["stop", "tool_calls"] {
            for (at, _) in ARGUMENTS.char_indices() {
                let script = vec![call(&ARGUMENTS[..at], reason), call(ARGUMENTS, reason)];
                let replay = Replay::start(Script::of(script)).unwrap();
                let gateway = Served::in_front_of(&replay.base_url());
                let got = client::ask(&gateway.base_url, &BTreeMap::new(), &request(streamed)).await;
                assert_eq!(calls(&got, streamed), [ARGUMENTS], "{reason} behind {}", &ARGUMENTS[..at]);
            }
        }
    }
}

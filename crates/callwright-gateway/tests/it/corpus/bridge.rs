//! Upstreams that speak another API than their clients: the cases of `corpus/surfaces/bridge.toml`, and those of
//! `corpus/gateway` once more, before upstreams of each of them.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_relay::UpstreamKind;
use callwright_replay::{Answer, Replay, Script};
use serde::Deserialize;

use crate::corpus::case::{Case, ModelMode, Way, files, tools};
use crate::corpus::client::{Got, ask, ask_at};
use crate::corpus::served::Served;
use crate::corpus::surfaces::{SurfaceCase, Told, alike_as_chat};
use crate::corpus::{expect, messages, responses, strict};

const KINDS: [UpstreamKind; 3] = [UpstreamKind::Messages, UpstreamKind::Responses, UpstreamKind::Ollama];

/// What a client of chat completions must see.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sees {
    status: Option<u16>,
    /// It is an error, by status or in the stream.
    error: bool,
    /// By JSON pointer, in the body, or in what the stream adds up to.
    fields: BTreeMap<String, Value>,
}

/// What a chat client was told.
pub(crate) fn told(got: &Got, stream: bool) -> Told {
    let strict::Read { body, breaches } = strict::read(got, &json!({ "stream": stream, "tools": tools() }));
    let message = &body["choices"][0]["message"];
    let call = |call: &Value| {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        (name, serde_json::from_str::<Value>(arguments).unwrap_or_default())
    };
    Told {
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        thought: message["reasoning_content"].as_str().unwrap_or_default().to_owned(),
        calls: message["tool_calls"].as_array().into_iter().flatten().map(call).collect(),
        is_whole: body["error"].is_null(),
        breaches,
    }
}

#[tokio::test]
async fn chat_clients_see_what_they_must_before_upstreams_of_other_apis() {
    let all = json!({
        "model": "m",
        "messages": [{ "role": "user", "content": "Go." }],
        "tools": tools(),
    });
    let mut wrong = Vec::new();
    for case in SurfaceCase::<Sees>::read("bridge.toml") {
        for way in case.ways() {
            let (got, mut breaches) = case.played("chat/completions", all.clone(), way).await;
            let request = case.request(all.clone(), way.is_some());
            let strict::Read { body, breaches: broken } = strict::read(&got, &request);
            breaches.extend(broken);
            let status =
                if way.is_some() && case.sees.error { Some(got.status.as_u16()) } else { case.sees.status };
            if got.status.as_u16() != status.unwrap_or(200) {
                breaches.push(format!("status {}: {body}", got.status));
            }
            if body["error"].is_null() == case.sees.error {
                breaches.push(format!("an error: {body}"));
            }
            for (pointer, value) in &case.sees.fields {
                if body.pointer(pointer) != Some(value) {
                    breaches.push(format!("{pointer}: {body}"));
                }
            }
            wrong.extend(breaches.into_iter().map(|breach| format!("{} {way:?}: {breach}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Can this API say this as a chat does? Messages and Ollama have values where others have their texts.
fn is_said_in(kind: UpstreamKind, answer: &Answer) -> bool {
    let said = &answer.choice;
    let is_plain = |text: String| match serde_json::from_str::<Value>(&text) {
        Ok(value) => kind == UpstreamKind::Responses || *value.to_string() == *text,
        Err(_) => true,
    };
    let reasons = [None, Some("stop"), Some("tool_calls"), Some("length"), Some("content_filter")];
    said.tool_calls.iter().all(|call| is_plain(call.arguments.text()))
        && said.function_call.is_none()
        && said.message.is_empty()
        && said.choice.is_empty()
        && reasons.contains(&said.finish_reason.as_deref())
        && answer.choices.is_empty()
        && answer.extra.is_empty()
        && answer.usage.is_none()
        && answer.error.is_none()
        && answer.body.is_none()
        && answer.raw_events.is_none()
        && answer.form.is_none()
        && answer.fault.midway.is_none()
        // Streams of Ollama's are over before the byte at which one of a chat breaks off.
        && (kind != UpstreamKind::Ollama || answer.fault.cut.is_none() && answer.fault.garbage.is_none())
}

/// Reading, repairing, the ladder and prompt mode are the same, whatever the upstream speaks.
#[tokio::test]
async fn the_chat_cases_come_to_the_same_before_upstreams_of_other_apis() {
    let (mut wrong, mut n_played) = (Vec::new(), 0);
    for case in files().iter().flat_map(|file| Case::read(file)) {
        let script = case.script(Way::Plain);
        let request = case.request(Way::Plain);
        let is_said =
            |key: &str| matches!(key, "model" | "messages" | "tools" | "tool_choice" | "max_tokens");
        if case.sees.same
            || !case.headers.is_empty()
            // What a server tells of its models.
            || !case.server.is_empty()
            || !request.as_object().into_iter().flat_map(|members| members.keys()).all(|key| is_said(key))
        {
            continue;
        }
        let kinds = KINDS.into_iter().filter(|kind| script.answers.iter().all(|it| is_said_in(*kind, it)));
        for (kind, way) in kinds.flat_map(|kind| case.ways().map(move |way| (kind, way))) {
            let stage = case.stage(way, Some(kind));
            let request = case.request(way);
            let got = ask(&stage.gateway.base_url, &case.headers, &request).await;
            n_played += 1;
            let breaches = expect::seen(&case, &got, &got, &request);
            wrong.extend(
                breaches
                    .iter()
                    .map(|breach| format!("{}/{} {kind:?} {way:?}: {breach}", case.kind, case.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} of {n_played}: {wrong:#?}", wrong.len());
    assert!(400 < n_played, "{n_played}");
}

/// A client of one API before an upstream of another.
#[tokio::test]
async fn clients_of_other_apis_get_the_same_calls_from_upstreams_of_yet_others() {
    for kind in [UpstreamKind::Responses, UpstreamKind::Ollama] {
        let wrong = alike_as_chat(("messages", kind), messages::asked, messages::told).await;
        assert!(wrong.is_empty(), "{kind:?}: {wrong:#?}");
    }
    for kind in [UpstreamKind::Messages, UpstreamKind::Ollama] {
        let wrong = alike_as_chat(("responses", kind), responses::asked, responses::told).await;
        assert!(wrong.is_empty(), "{kind:?}: {wrong:#?}");
    }
}

/// What broke off is no answer, and a call that was begun is none.
#[tokio::test]
async fn what_breaks_off_is_an_error_before_upstreams_of_other_apis() {
    let chat = json!({
        "model": "m", "stream": true, "max_tokens": 100, "tools": tools(),
        "messages": [{ "role": "user", "content": "Go." }],
    });
    let said = |cut: Option<(usize, &str)>| {
        let fault = cut.map_or(json!({}), |(after, how)| json!({ "cut": { "after": after, "how": how } }));
        let call = json!({ "name": "list_files", "arguments": { "path": "a" } });
        let script = json!({ "answer": [{ "text": "I look.", "tool_calls": [call], "fault": fault }] });
        Replay::start(Script::from_value(script).unwrap()).unwrap()
    };
    let headers = BTreeMap::new();
    for (kind, path, request, end) in [
        (UpstreamKind::Messages, "messages", messages::asked(&chat), "event: message_stop"),
        (UpstreamKind::Responses, "responses", responses::asked(&chat), "event: response.completed"),
        (UpstreamKind::Ollama, "api/chat", chat.clone(), "\"done\":true"),
    ] {
        let mut request = request;
        request["stream"] = true.into();
        let alone = ask_at(path, &said(None).base_url(), &headers, &request).await;
        let last = String::from_utf8_lossy(&alone.body).find(end).unwrap();
        for (after, how) in (0..=last).step_by(61).flat_map(|after| [(after, "end"), (after, "close")]) {
            let replay = said(Some((after, how)));
            let gateway = Served::of_kind(&replay.base_url(), ModelMode::Native, Some(kind));
            let got = ask_at("chat/completions", &gateway.base_url, &headers, &chat).await;
            let Told { is_whole, calls, .. } = told(&got, true);
            assert!(!is_whole && calls.iter().all(|(_, value)| value.is_null()), "{kind:?} {after} {how}");
        }
    }
}

//! Streams whose lines end as on Windows, with comments in between, in pieces that split a key or a character: clients of each
//! API are told the same before upstreams of each.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_relay::UpstreamKind;
use callwright_replay::{Replay, Script};

use crate::corpus::case::{ModelMode, tools};
use crate::corpus::client::{Got, ask_at};
use crate::corpus::served::Served;
use crate::corpus::surfaces::Told;
use crate::corpus::{bridge, messages, responses};

/// How an API is asked and read.
type Client = (&'static str, fn(&Value) -> Value, fn(&Got, bool) -> Told);

const CLIENTS: [Client; 3] = [
    ("chat/completions", Value::clone, bridge::told),
    ("messages", messages::asked, messages::told),
    ("responses", responses::asked, responses::told),
];

const KINDS: [Option<UpstreamKind>; 4] =
    [None, Some(UpstreamKind::Messages), Some(UpstreamKind::Responses), Some(UpstreamKind::Ollama)];

/// A thought, a text, a call that is broken and one that is right.
fn script(form: &Value) -> Script {
    let calls = json!([
        { "id": "a", "name": "get_weather", "arguments": "{\"city\": \"Zürich 😀\",}" },
        { "id": "b", "name": "list_files", "arguments": "{\"path\":\"a\"}" },
    ]);
    let answer =
        json!({ "reasoning": "Wo? 😀", "text": "Ich sehe nach: 🌦.", "tool_calls": calls, "form": form });
    Script::from_value(json!({ "answer": [answer] })).unwrap()
}

/// What a client is told in a stream of this form, without the comments and line ends that passed.
async fn told_by((path, asked, told): Client, kind: Option<UpstreamKind>, form: &Value) -> Told {
    let replay = Replay::start(script(form)).unwrap();
    let gateway = Served::of_kind(&replay.base_url(), ModelMode::Native, kind);
    let chat = json!({
        "model": "m", "max_tokens": 100, "tools": tools(),
        "messages": [{ "role": "user", "content": "Go." }],
    });
    let mut request = asked(&chat);
    request["stream"] = true.into();
    let got = ask_at(path, &gateway.base_url, &BTreeMap::new(), &request).await;
    let text = String::from_utf8_lossy(&got.body).replace("\r\n", "\n");
    let events = text.split_inclusive("\n\n").filter(|event| !event.starts_with(':'));
    told(&Got { body: events.collect::<String>().into(), ..got }, true)
}

#[tokio::test]
async fn line_ends_comments_and_cuts_change_nothing_that_a_client_is_told() {
    let cut = json!({ "pieces": 3, "argument_pieces": 3 });
    for client in CLIENTS {
        for kind in KINDS {
            let plain = told_by(client, kind, &cut).await;
            let name = format!("{} before {kind:?}", client.0);
            assert!(plain.breaches.is_empty() && plain.is_whole, "{name}: {:?}", plain.breaches);
            assert_eq!(plain.text, "Ich sehe nach: 🌦.", "{name}");
            let calls = [("get_weather", json!({"city": "Zürich 😀"})), ("list_files", json!({"path": "a"}))];
            assert_eq!(plain.calls, calls.map(|(name, value)| (name.to_owned(), value)), "{name}");
            for more in [
                json!({ "crlf": true }),
                json!({ "comment": "OPENROUTER PROCESSING" }),
                json!({ "crlf": true, "comment": "OPENROUTER PROCESSING", "writes": 1 }),
                json!({ "writes": "random:7" }),
            ] {
                let mut form = cut.clone();
                form.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let Told { text, thought, calls, is_whole, breaches } = told_by(client, kind, &form).await;
                assert!(breaches.is_empty() && is_whole, "{name} {more}: {breaches:?}");
                assert_eq!((&text, &thought), (&plain.text, &plain.thought), "{name} {more}");
                assert_eq!(calls, plain.calls, "{name} {more}");
            }
        }
    }
}

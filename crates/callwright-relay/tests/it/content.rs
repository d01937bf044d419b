//! JSON that is asked for with `response_format`, and the tokens of streams: what the client gets, and what the upstream
//! was asked.

use std::sync::{Arc, Mutex};

use callwright::Policy;
use callwright::json;
use callwright::value::Value;
use callwright_relay::config::RelayConfig;
use callwright_relay::{Client, Observer, TurnEnd, TurnRecord};

use crate::common;
use crate::common::{Reply, Seen, Server};

#[derive(Default)]
struct Ends(Mutex<Vec<(TurnEnd, u64)>>);

impl Observer for Ends {
    fn ended(&self, turn: TurnRecord) {
        self.0.lock().unwrap().push((turn.end, turn.usage().total));
    }
}

impl Ends {
    fn last(&self) -> (TurnEnd, u64) {
        *self.0.lock().unwrap().last().unwrap()
    }
}

fn client(server: &Server, policy: Policy) -> (Client, Arc<Ends>) {
    let upstreams = vec![common::upstream("up", &server.base_url())];
    let config = RelayConfig { upstreams, policy, ..RelayConfig::default() };
    let ends = Arc::new(Ends::default());
    (Client::observed(config, &|_| None, ends.clone()).unwrap(), ends)
}

/// An answer with one choice for each of `texts`, in the form that `seen` asks for.
fn said(seen: &Seen, texts: &[&str]) -> Reply {
    let request: Value = serde_json::from_str(&seen.body).unwrap();
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let choices = |member: &str, finish: Value| -> Vec<Value> {
        let choice = |(index, text): (usize, &&str)| json!({"index": index, member: {"role": "assistant", "content": text}, "finish_reason": finish});
        texts.iter().enumerate().map(choice).collect()
    };
    if request["stream"] != json!(true) {
        let answer = json!({"id": "a", "object": "chat.completion", "choices": choices("message", "stop".into()), "usage": usage});
        return common::json(200, &answer.to_string());
    }
    let chunk =
        |choices: Vec<Value>| json!({"id": "a", "object": "chat.completion.chunk", "choices": choices});
    let mut events = format!("data: {}\n\n", chunk(choices("delta", "stop".into())));
    if request["stream_options"]["include_usage"] == json!(true) {
        let mut last = chunk(Vec::new());
        last["usage"] = usage;
        events += &format!("data: {last}\n\n");
    }
    events += "data: [DONE]\n\n";
    common::with_headers(200, "content-type: text/event-stream\r\n", &events)
}

fn request(format: Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Go."}], "response_format": format})
}

fn object() -> Value {
    json!({"type": "json_object"})
}

fn schema(strict: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    json!({"type": "json_schema", "json_schema": {"name": "n", "strict": strict, "schema": schema}})
}

/// The texts of the choices, plain and streamed, each of a client of its own; an error is its words.
async fn texts(
    policy: Policy,
    request: &Value,
    answers: &[&[&str]],
) -> [(Result<Vec<String>, String>, TurnEnd, usize); 2] {
    let answers: Vec<Vec<String>> =
        answers.iter().map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()).collect();
    let answer = move |seen: &Seen, n: usize| {
        let texts: Vec<&str> = answers[n.min(answers.len() - 1)].iter().map(String::as_str).collect();
        said(seen, &texts)
    };
    let server = Server::start(answer.clone()).await;
    let (plain, ends) = client(&server, policy);
    let whole = plain.chat(request).await;
    let whole = whole.map_err(|error| error.message).map(|whole| {
        let text = |choice: &Value| choice["message"]["content"].as_str().unwrap().to_owned();
        whole.response["choices"].as_array().unwrap().iter().map(text).collect::<Vec<_>>()
    });
    let whole = (whole, ends.last().0, server.seen().len());
    let server = Server::start(answer).await;
    let (streaming, ends) = client(&server, policy);
    let mut chunks = streaming.stream(request).await.unwrap();
    let mut streamed = Ok(Vec::<String>::new());
    while let Some(chunk) = chunks.next().await {
        match (chunk, &mut streamed) {
            (Ok(chunk), Ok(texts)) => {
                for choice in chunk["choices"].as_array().into_iter().flatten() {
                    let at = choice["index"].as_u64().unwrap() as usize;
                    texts.resize(texts.len().max(at + 1), String::new());
                    texts[at].push_str(choice["delta"]["content"].as_str().unwrap_or(""));
                }
            }
            (Err(error), _) => streamed = Err(error.message),
            (Ok(_), Err(_)) => {}
        }
    }
    drop(chunks);
    [whole, (streamed, ends.last().0, server.seen().len())]
}

#[tokio::test]
async fn what_stays_wrong_is_invalid_and_says_so() {
    for (format, answers) in [
        (schema(true), &[&[r#"{"a": "x"}"#][..]][..]),
        (schema(false), &[&[r#"{"a": "x"}"#]]),
        (schema(true), &[&[r#"{"a": 1, "a": 2}"#]]),
        (schema(true), &[&["Sorry, I can't do JSON."]]),
        (object(), &[&["[1]"]]),
        (object(), &[&["Sorry, I can't do JSON."]]),
        (object(), &[&[""]]),
    ] {
        for (policy, asks_again) in [(Policy::Auto, true), (Policy::Feedback, true), (Policy::Heal, false)] {
            for (text, end, n_requests) in texts(policy, &request(format.clone()), answers).await {
                let text = text.unwrap().remove(0);
                assert!(text.starts_with(answers[0][0]), "{text}");
                assert!(text.contains("⚠️ The answer is not the JSON that was asked for: "), "{text}");
                assert_eq!((end, 1 < n_requests), (TurnEnd::Invalid, asks_again), "{policy:?} {format}");
            }
        }
        for (text, end, n_requests) in texts(Policy::Strict, &request(format.clone()), answers).await {
            assert!(text.unwrap_err().contains("not the JSON that was asked for"), "{format}");
            assert_eq!((end, n_requests), (TurnEnd::Invalid, 1));
        }
    }
}

#[tokio::test]
async fn what_is_right_passes_and_what_is_not_is_healed_or_asked_for_again() {
    use TurnEnd::{Passed, Repaired, Retried};
    for (answers, expected, end, n_requests) in [
        (&[&[" {\"a\" : 1}\n"][..]][..], &[" {\"a\" : 1}\n"][..], Passed, 1),
        (&[&["```json\n{'a': 1,}\n```"]], &[r#"{"a": 1}"#], Repaired, 1),
        (&[&[r#"{"a": "x"}"#], &[r#"{"a": 1}"#]], &[r#"{"a": 1}"#], Retried, 2),
        // Auto asks without a trace, then with one.
        (&[&["no"], &["never"], &["```\n{\"a\": 1}\n```"]], &[r#"{"a": 1}"#], Retried, 3),
        // Each of several choices is held to the form.
        (&[&[r#"{"a": 1}"#, "no"], &[r#"{"a": 2}"#]], &[r#"{"a": 1}"#, r#"{"a": 2}"#], Retried, 2),
    ] {
        for (text, ended, asked) in texts(Policy::Auto, &request(schema(true)), answers).await {
            assert_eq!(
                (text.unwrap(), ended, asked),
                (expected.iter().map(|t| (*t).to_owned()).collect(), end, n_requests)
            );
        }
    }
    // A policy that repairs nothing passes nothing that is to be repaired.
    for (text, ..) in texts(Policy::Strict, &request(schema(true)), &[&["```json\n{\"a\": 1,}\n```"]]).await {
        assert!(text.is_err());
    }
    for (text, end, _) in texts(Policy::Strict, &request(schema(true)), &[&["{\"a\": 1}"]]).await {
        assert_eq!((text.unwrap(), end), (vec![String::from("{\"a\": 1}")], TurnEnd::Passed));
    }
}

/// The second question says what was wrong, and offers no second choice.
#[tokio::test]
async fn json_is_asked_for_again_with_the_reason() {
    let server = Server::start(|seen, n| said(seen, &[["{\"a\": \"x\"}", "{\"a\": 1}"][n]])).await;
    let (client, _) = client(&server, Policy::Auto);
    client.chat(&request(schema(true))).await.unwrap();
    let asked: Value = serde_json::from_str(&server.seen()[1].body).unwrap();
    assert_eq!(asked["messages"][1], json!({"role": "assistant", "content": "{\"a\": \"x\"}"}));
    let words = asked["messages"][2]["content"].as_str().unwrap();
    assert!(words.contains("a must be an integer") && words.contains("JSON alone"), "{words}");
    assert_eq!(asked["response_format"], schema(true));
}

/// Records count the tokens of each stream; a client that did not ask for them sees none.
#[tokio::test]
async fn the_tokens_of_a_stream_are_counted_for_us_alone() {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]);
    for with_tools in [false, true] {
        for asks in [false, true] {
            let server = Server::start(|seen, _| said(seen, &["Hello."])).await;
            let (client, ends) = client(&server, Policy::Auto);
            let mut request = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Go."}]});
            if with_tools {
                request["tools"] = tools.clone();
            }
            if asks {
                request["stream_options"] = json!({"include_usage": true});
            }
            let mut chunks = client.stream(&request).await.unwrap();
            let mut usages = 0;
            while let Some(chunk) = chunks.next().await {
                usages += usize::from(chunk.unwrap()["usage"].is_object());
            }
            assert_eq!(usages, usize::from(asks), "with tools: {with_tools}");
            assert_eq!(ends.last(), (TurnEnd::Passed, 3));
        }
    }
}

#[tokio::test]
async fn an_upstream_that_does_not_count_streams_is_asked_to_once() {
    let server = Server::start(|seen, _| match seen.body.contains("stream_options") {
        true => {
            common::json(400, r#"{"error":{"message":"stream_options: Extra inputs are not permitted"}}"#)
        }
        false => said(seen, &["Hello."]),
    })
    .await;
    let (client, ends) = client(&server, Policy::Auto);
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}]});
    for _ in 0..2 {
        let mut chunks = client.stream(&request).await.unwrap();
        while let Some(chunk) = chunks.next().await {
            chunk.unwrap();
        }
        assert_eq!(ends.last(), (TurnEnd::Passed, 0));
    }
    assert_eq!(server.seen().len(), 3);
}

//! Native first: how requests with tools are asked where nobody says what the model can do, and what the answers teach.

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{CapabilityConfig, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::{Client, Completion};

use crate::common;
use crate::common::{Reply, Seen, Server, json as reply};

/// A model's call in words, of whatever dialect it is.
const IN_WORDS: &str =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
const PROSE: &str = "It is always fine in Paris.";

/// An upstream whose list of models gives names alone, and says whose they are.
async fn upstream(
    owner: &'static str,
    chat: impl Fn(&Value) -> Reply + Send + Sync + 'static,
) -> (Server, Client) {
    let server = Server::start(move |seen, _| match seen.line.as_str() {
        "GET /v1/models" => {
            reply(200, &json!({"data": [{"id": "m", "object": "model", "owned_by": owner}]}).to_string())
        }
        "POST /v1/chat/completions" => chat(&body(seen)),
        _ => reply(404, "{}"),
    })
    .await;
    let client = client(&server, |_| {});
    (server, client)
}

fn client(server: &Server, change: impl FnOnce(&mut RelayConfig)) -> Client {
    let upstream = UpstreamConfig { retries: 0, ..UpstreamConfig::new("u", &server.base_url()) };
    let mut config = RelayConfig { upstreams: vec![upstream], ..RelayConfig::default() };
    change(&mut config);
    Client::new(config, &|_| None).unwrap()
}

fn body(seen: &Seen) -> Value {
    serde_json::from_str(&seen.body).unwrap()
}

/// The chat requests that came.
fn chats(server: &Server) -> Vec<Value> {
    let seen = server.seen();
    seen.iter().filter(|seen| seen.line.starts_with("POST /v1/chat")).map(body).collect()
}

fn has_tools(request: &Value) -> bool {
    request.get("tools").is_some()
}

fn answer(message: Value, finish: &str, prompt_tokens: usize) -> Reply {
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    let usage =
        json!({"prompt_tokens": prompt_tokens, "completion_tokens": 5, "total_tokens": prompt_tokens + 5});
    reply(
        200,
        &json!({"id": "a", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})
            .to_string(),
    )
}

fn says(text: &str, prompt_tokens: usize) -> Reply {
    answer(json!({"role": "assistant", "content": text}), "stop", prompt_tokens)
}

fn calls(request: &Value) -> Reply {
    let name = &request["tools"][0]["function"]["name"];
    let arguments = if *name == "get_weather" { "{\"city\":\"Paris\"}" } else { "{}" };
    let function = json!({"name": name, "arguments": arguments});
    let call = json!({"id": "c1", "type": "function", "function": function});
    answer(json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls", 90)
}

fn streams(text: &str) -> Reply {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
        )
    };
    let events = [
        chunk(json!({"role": "assistant", "content": ""}), Value::Null),
        chunk(json!({"content": text}), Value::Null),
        chunk(json!({}), json!("stop")),
        String::from("data: [DONE]\n\n"),
    ];
    common::with_headers(200, "content-type: text/event-stream\r\n", &events.concat())
}

/// Answers as a server that drops tools: one token for each four characters of the rest, and those of a template.
fn drops(request: &Value) -> Reply {
    let text = if has_tools(request) { PROSE } else { IN_WORDS };
    if request["stream"] == true {
        return streams(text);
    }
    says(text, request["messages"].to_string().len() / 4 + 30)
}

fn request(model: &str) -> Value {
    json!({
        "model": model,
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [{"type": "function", "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }}],
    })
}

/// The same with a definition as long as an agent's.
fn long_request(model: &str) -> Value {
    let mut request = request(model);
    request["tools"][0]["function"]["description"] = json!("The weather of a city. ".repeat(400));
    request
}

fn cities(answer: &Completion) -> Vec<&str> {
    answer.calls.iter().map(|call| call.arguments.as_str()).collect()
}

async fn streamed(client: &Client, request: &Value) -> (String, usize) {
    let mut chunks = client.stream(request).await.unwrap();
    let (mut text, mut n_calls) = (String::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let delta = &chunk.unwrap()["choices"][0]["delta"];
        text.push_str(delta["content"].as_str().unwrap_or(""));
        n_calls += delta["tool_calls"].as_array().map_or(0, |calls| calls.len());
    }
    (text, n_calls)
}

#[tokio::test]
async fn where_the_list_tells_nothing_models_go_native() {
    let (server, client) = upstream("somebody", calls).await;
    for model in [
        "o3",
        "o4-mini",
        "grok-4",
        "kimi-k2-0905-preview",
        "glm-4.6",
        "mistral-medium-latest",
        "codestral-latest",
        "minimax-m2",
        "our-azure-deployment",
        "never-heard-of",
    ] {
        let before = chats(&server).len();
        let answer = client.chat(&request(model)).await.unwrap();
        assert_eq!(cities(&answer).len(), 1, "{model}");
        let asked = chats(&server);
        assert_eq!(asked.len(), before + 1, "{model}");
        assert!(has_tools(&asked[before]), "{model}");
    }
}

/// S3-14 to S3-17: these families take tools in some servers, and not in others.
#[tokio::test]
async fn models_of_the_open_families_are_tried_out_once() {
    let (server, client) = upstream("somebody", calls).await;
    for model in ["deepseek-chat", "qwen3-max", "Llama-4-Maverick", "gemma-3-27b"] {
        for n_asked in [2, 1] {
            let before = chats(&server).len();
            assert_eq!(cities(&client.chat(&request(model)).await.unwrap()).len(), 1, "{model}");
            let asked = chats(&server);
            assert_eq!(asked.len(), before + n_asked, "{model}");
            assert!(asked.iter().all(has_tools), "{model}");
            if n_asked == 2 {
                assert_eq!(
                    (&asked[before]["tool_choice"], &asked[before]["max_tokens"]),
                    (&json!("required"), &json!(64))
                );
            }
        }
    }
    // One that says something else instead, and one that does not answer at all, are served in prompt mode.
    for refuses in [false, true] {
        let (server, client) = upstream("somebody", move |request| match has_tools(request) {
            true if refuses => reply(500, r#"{"error":{"message":"overloaded"}}"#),
            true => says("I am ready.", 20),
            false => says(IN_WORDS, 20),
        })
        .await;
        for n_asked in [2, 3] {
            assert_eq!(cities(&client.chat(&request("qwen3-max")).await.unwrap()).len(), 1);
            assert_eq!(chats(&server).len(), n_asked);
        }
    }
    // Nobody is tried out where that is not allowed.
    let (server, _) = upstream("somebody", |request| match has_tools(request) {
        true => calls(request),
        false => says(IN_WORDS, 20),
    })
    .await;
    let capability = CapabilityConfig { probe: false, ..CapabilityConfig::default() };
    let client = self::client(&server, |config| config.capability = capability);
    assert_eq!(cities(&client.chat(&request("qwen3-max")).await.unwrap()).len(), 1);
    assert!(!has_tools(&chats(&server)[0]));
}

#[tokio::test]
async fn vllm_goes_native_with_its_parser_and_without_it_in_prompt_mode() {
    let (server, client) = upstream("vllm", calls).await;
    assert_eq!(cities(&client.chat(&request("Qwen/Qwen3-32B")).await.unwrap()).len(), 1);
    assert!(has_tools(chats(&server).last().unwrap()));

    let (server, client) = upstream("vllm", |request| match has_tools(request) {
        true => reply(
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}"#,
        ),
        false => says(IN_WORDS, 20),
    })
    .await;
    let model = "Qwen/Qwen3-32B";
    assert_eq!(cities(&client.chat(&request(model)).await.unwrap()).len(), 1);
    assert_eq!(chats(&server).iter().map(has_tools).collect::<Vec<_>>(), [true, false]);
    // The next one knows.
    assert_eq!(cities(&client.chat(&request(model)).await.unwrap()).len(), 1);
    assert_eq!(chats(&server).len(), 3);
}

#[tokio::test]
async fn an_upstream_that_drops_long_tools_is_found_out_by_the_tokens() {
    let (server, client) = upstream("somebody", drops).await;
    let answer = client.chat(&long_request("m")).await.unwrap();
    assert_eq!((answer.text.as_str(), cities(&answer).len()), ("", 1));
    assert_eq!(chats(&server).iter().map(has_tools).collect::<Vec<_>>(), [true, false]);
    client.chat(&long_request("m")).await.unwrap();
    assert_eq!(chats(&server).iter().map(has_tools).collect::<Vec<_>>(), [true, false, false]);
}

#[tokio::test]
async fn an_upstream_that_drops_short_tools_is_found_out_by_one_small_request() {
    let (server, client) = upstream("somebody", drops).await;
    let answer = client.chat(&request("m")).await.unwrap();
    assert_eq!((answer.text.as_str(), cities(&answer).len()), ("", 1));
    let asked = chats(&server);
    assert_eq!(asked.iter().map(has_tools).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!((&asked[1]["max_tokens"], asked[1].get("stream")), (&json!(1), None));
    assert_eq!(asked[1]["messages"], asked[0]["messages"]);
}

#[tokio::test]
async fn tools_that_are_in_the_prompt_are_counted_once() {
    // A server that demands more than one token.
    let (server, client) = upstream("somebody", |request| match request.get("max_tokens") {
        Some(most) if *most == 1 => reply(400, r#"{"error":{"message":"max_tokens must be at least 16"}}"#),
        _ => says(PROSE, request.to_string().len() / 4),
    })
    .await;
    for _ in 0..3 {
        let answer = client.chat(&request("m")).await.unwrap();
        assert_eq!((answer.text.as_str(), cities(&answer).len()), (PROSE, 0));
    }
    let asked = chats(&server);
    assert_eq!(asked.iter().map(has_tools).collect::<Vec<_>>(), [true, false, false, true, true]);
    assert_eq!((&asked[1]["max_tokens"], &asked[2]["max_tokens"]), (&json!(1), &json!(16)));
}

#[tokio::test]
async fn after_a_stream_that_spoke_the_next_request_goes_in_prompt_mode() {
    let (server, client) = upstream("somebody", drops).await;
    assert_eq!(streamed(&client, &request("m")).await, (String::from(PROSE), 0));
    // What the stream does not count is counted beside, for nobody waits: with the tools, and without.
    let mut n_spoken = 1;
    while let (_, 0) = streamed(&client, &request("m")).await {
        n_spoken += 1;
        assert!(n_spoken < 1000, "nothing was learned");
    }
    let asked = chats(&server);
    let counted: Vec<bool> = asked.iter().filter(|r| r["max_tokens"] == 1).map(has_tools).collect();
    assert_eq!(counted, [false, true]);
    assert!(!has_tools(asked.last().unwrap()));
}

#[tokio::test]
async fn no_count_outweighs_a_native_call() {
    let (server, client) =
        upstream("somebody", |request| match request["messages"][0]["content"] == "Hello." {
            true => says("Hello.", 3),
            false => calls(request),
        })
        .await;
    client.chat(&long_request("m")).await.unwrap();
    let mut hello = long_request("m");
    hello["messages"][0]["content"] = json!("Hello.");
    for _ in 0..2 {
        assert_eq!(client.chat(&hello).await.unwrap().text, "Hello.");
    }
    assert_eq!(chats(&server).iter().map(has_tools).collect::<Vec<_>>(), [true; 3]);
}

#[tokio::test]
async fn a_demanded_call_that_does_not_come_is_asked_for_in_prompt_mode() {
    for stream in [false, true] {
        let (server, client) = upstream("somebody", drops).await;
        let mut request = request("m");
        request["tool_choice"] = json!("required");
        // One request of our own shows that it was not the client's words: then it is prompt mode at once.
        let mut n_natives = 0;
        for n in 1.. {
            let said = match stream {
                true => streamed(&client, &request).await,
                false => {
                    let answer = client.chat(&request).await.unwrap();
                    (answer.text.clone(), answer.calls.len())
                }
            };
            // Nothing of the prose went out.
            assert_eq!(said, (String::new(), 1), "{stream}");
            let natives = chats(&server).into_iter().filter(|asked| has_tools(asked) && !is_trial(asked));
            let n_before = std::mem::replace(&mut n_natives, natives.count());
            if n_natives == n_before {
                break;
            }
            assert!(n < 100, "nothing is learned of it");
        }
        assert_eq!(chats(&server).iter().filter(|asked| is_trial(asked)).count(), 1, "{stream}");
    }
}

/// A server that reads none of a model's calls, and lets it end with one alone: a demanded call and blanks, until the tokens are
/// spent. What goes out is whole, and the next demand goes in prompt mode.
#[tokio::test]
async fn a_server_that_keeps_a_model_from_ending_is_not_asked_so_twice() {
    let in_fence = "```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```";
    let (server, client) = upstream("somebody", move |request| match has_tools(request) {
        true if request["tool_choice"] == "required" => {
            let text = format!("{in_fence}{}", "\n".repeat(200));
            answer(json!({"role": "assistant", "content": text}), "length", 90)
        }
        true => says(in_fence, 90),
        false => says(IN_WORDS, 90),
    })
    .await;
    let mut demanding = request("m");
    demanding["tool_choice"] = json!("required");
    for (request, has) in [(&demanding, true), (&demanding, false), (&request("m"), true)] {
        let before = chats(&server).len();
        let answer = client.chat(request).await.unwrap();
        assert_eq!(
            (cities(&answer), answer.finish_reason.as_deref()),
            (vec![r#"{"city": "Paris"}"#], Some("tool_calls"))
        );
        let asked = chats(&server);
        assert_eq!(asked[before..].iter().map(has_tools).collect::<Vec<_>>(), [has]);
    }
}

/// In native mode a call beside words is text: a server that has read none of the calls before it will not read this one.
#[tokio::test]
async fn after_calls_in_text_texts_are_judged_as_in_prompt_mode() {
    const BESIDE_WORDS: &str =
        "I look it up:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```";
    for has_read in [false, true] {
        let (_server, client) =
            upstream("somebody", move |request| match request["messages"][0]["content"].as_str() {
                Some("Natively.") if has_read => calls(request),
                Some("Beside words.") => says(BESIDE_WORDS, request.to_string().len() / 4),
                _ => says(IN_WORDS, request.to_string().len() / 4),
            })
            .await;
        let mut n_found = Vec::new();
        for content in ["Beside words.", "Go.", "Go.", "Natively.", "Go.", "Beside words."] {
            let mut request = request("m");
            request["messages"][0]["content"] = json!(content);
            n_found.push(client.chat(&request).await.unwrap().calls.len());
        }
        let last = usize::from(!has_read);
        assert_eq!(n_found, [0, 1, 1, 1, 1, last], "{has_read}");
    }
}

/// Is this the request that tries a model out?
fn is_trial(request: &Value) -> bool {
    request["tools"][0]["function"]["name"] == "report_ready"
}

/// One client demands a call and says in words that it wants none: what the model makes of that is nothing that others need
/// to bear.
#[tokio::test]
async fn a_clients_words_put_nobody_else_in_prompt_mode() {
    for model in ["m", "gpt-4o", "llama-3.1-70b"] {
        let (server, client) =
            upstream("somebody", |asked| match asked["tool_choice"] == "required" && !is_trial(asked) {
                true => says(PROSE, 9),
                false => calls(asked),
            })
            .await;
        let mut demands = request(model);
        demands["tool_choice"] = json!("required");
        for _ in 0..3 {
            let _ = client.chat(&demands).await;
            let answer = client.chat(&request(model)).await.unwrap();
            assert_eq!(answer.calls.len(), 1, "{model}");
            assert!(has_tools(chats(&server).last().unwrap()), "{model}: it went in prompt mode");
        }
    }
}

#[tokio::test]
async fn what_is_said_before_a_demanded_call_goes_out_with_it() {
    let (_, client) = upstream("somebody", |request| match request["stream"] == true {
        true => streams(&format!("I look.\n{IN_WORDS}")),
        false => says("I look.", 9),
    })
    .await;
    let mut request = request("m");
    request["tool_choice"] = json!("required");
    let (text, n_calls) = streamed(&client, &request).await;
    assert_eq!((text.trim(), n_calls), ("I look.", 1));
}

#[tokio::test]
async fn what_a_server_is_is_asked_once_and_not_for_each_name() {
    let (server, client) = upstream("somebody", calls).await;
    for n in 0..20 {
        client.chat(&request(&format!("made-up-{n}"))).await.unwrap();
    }
    let mut others: Vec<String> =
        server.lines().into_iter().filter(|line| !line.starts_with("POST /v1/chat")).collect();
    others.sort();
    others.dedup_by_key(|line| line.split('?').next().unwrap().to_owned());
    let n_others = server.lines().len() - chats(&server).len();
    assert!(n_others <= 4, "{:?}", server.lines());
    assert_eq!(n_others, others.len(), "{:?}", server.lines());
}

#[tokio::test]
async fn no_answer_waits_for_what_a_server_says_of_its_models() {
    let server = Server::start(|seen, _| match seen.line.as_str() {
        "POST /v1/chat/completions" => calls(&body(seen)),
        _ => Reply::Hold(String::new()),
    })
    .await;
    let client = client(&server, |_| {});
    // The list is still open when the answer is there.
    assert_eq!(cities(&client.chat(&request("m")).await.unwrap()).len(), 1);
    assert_eq!(server.hang_ups.available_permits(), 0);
}

#[tokio::test]
async fn the_member_that_bounds_the_answer_is_the_one_that_the_upstream_takes() {
    for (taken, refused, words) in [
        (
            "max_completion_tokens",
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            "max_tokens",
            "max_completion_tokens",
            "Unrecognized request argument supplied: max_completion_tokens",
        ),
    ] {
        let (server, client) = upstream("somebody", move |request| match request.get(refused) {
            Some(_) => reply(400, &json!({"error": {"message": words, "param": refused}}).to_string()),
            None => says(PROSE, 9),
        })
        .await;
        let mut request = json!({"model": "m", "messages": [{"role": "user", "content": "Hello."}]});
        request[refused] = json!(77);
        for n_asked in [2, 3] {
            assert_eq!(client.chat(&request).await.unwrap().text, PROSE);
            let asked = chats(&server);
            assert_eq!(asked.len(), n_asked);
            let last = asked.last().unwrap();
            assert_eq!((&last[taken], last.get(refused)), (&json!(77), None));
        }
    }
}

#[tokio::test]
async fn the_most_tokens_of_a_model_are_learned_from_its_refusal_and_those_of_a_prompt_are_not() {
    const OF_MODEL: &str =
        "max_tokens is too large: 64000. This model supports at most 16384 completion tokens.";
    const OF_PROMPT: &str = "This model's maximum context length is 32768 tokens. However, you requested 74000 tokens (10000 in the messages, 64000 in the completion).";
    for (words, bounds) in [(OF_MODEL, [64000, 16384, 16384, 9]), (OF_PROMPT, [64000, 22768, 64000, 22768])] {
        let (server, client) = upstream("somebody", move |request| match request["max_tokens"].as_u64() {
            Some(64000) => reply(400, &json!({"error": {"message": words}}).to_string()),
            _ => says(PROSE, 9),
        })
        .await;
        let mut request =
            json!({"model": "m", "max_tokens": 64000, "messages": [{"role": "user", "content": "Hello."}]});
        for _ in 0..2 {
            assert_eq!(client.chat(&request).await.unwrap().text, PROSE);
        }
        // Who wants less gets it, and who sets no bound gets none.
        request["max_tokens"] = json!(9);
        client.chat(&request).await.unwrap();
        let _ = request.as_object_mut().unwrap().remove("max_tokens");
        client.chat(&request).await.unwrap();
        let asked = chats(&server);
        let of = |body: &Value| body["max_tokens"].as_u64();
        assert_eq!(asked.iter().take(4).map(of).collect::<Vec<_>>(), bounds.map(Some), "{words}");
        assert_eq!(of(asked.last().unwrap()), None, "{words}");
    }
}

#[tokio::test]
async fn a_server_without_chats_is_asked_in_another_api_and_one_that_refuses_it_there_is_told_of() {
    const UNKNOWN: &str = r#"{"detail": "Not Found"}"#;
    let server = Server::start(|seen, _| match seen.line.as_str() {
        "POST /v1/messages" => {
            let content = json!([{"type": "text", "text": PROSE}]);
            reply(200, &json!({"type": "message", "content": content, "stop_reason": "end_turn"}).to_string())
        }
        _ => reply(404, UNKNOWN),
    })
    .await;
    let speaking = client(&server, |config| config.capability.probe = false);
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Hello."}]});
    for _ in 0..2 {
        assert_eq!(speaking.chat(&request).await.unwrap().text, PROSE);
    }
    let asked = ["POST /v1/chat/completions", "POST /v1/messages", "POST /v1/messages"];
    assert_eq!(server.lines(), asked);
    let server = Server::start(|seen, _| match seen.line.as_str() {
        "POST /v1/messages" => reply(401, r#"{"error": {"message": "x-api-key"}}"#),
        _ => reply(404, UNKNOWN),
    })
    .await;
    let refusing = client(&server, |config| config.capability.probe = false);
    let error = refusing.chat(&request).await.unwrap_err().to_string();
    assert!(error.contains("404") && error.contains("set kind = \"messages\""), "{error}");
    assert!(!error.contains("responses"), "{error}");
}

#[tokio::test]
async fn prompt_mode_takes_words_and_several_calls_in_the_models_own_dialect() {
    let (server, client) = upstream("vllm", |request| match has_tools(request) {
        true => reply(400, r#"{"message":"this model does not support tools"}"#),
        false => says(&format!("I look.\n{IN_WORDS}\n{}", IN_WORDS.replace("Paris", "Rome")), 20),
    })
    .await;
    let mut asked = request("Qwen/Qwen2.5-7B-Instruct");
    let answer = client.chat(&asked).await.unwrap();
    assert_eq!(answer.text.trim(), "I look.");
    assert_eq!(cities(&answer), [r#"{"city": "Paris"}"#, r#"{"city": "Rome"}"#]);
    let last = chats(&server).pop().unwrap();
    assert_eq!(last.get("response_format"), None);
    // Unless the client wants one alone, or a call at all cost.
    asked["parallel_tool_calls"] = json!(false);
    assert_eq!(cities(&client.chat(&asked).await.unwrap()), [r#"{"city": "Paris"}"#]);
    asked["tool_choice"] = json!("required");
    client.chat(&asked).await.unwrap();
    assert_eq!(chats(&server).pop().unwrap()["response_format"]["type"], "json_schema");
}

/// What is configured is not tried, counted, or learned over.
#[tokio::test]
async fn a_configured_mode_stays() {
    let (server, _) = upstream("somebody", drops).await;
    let client = client(&server, |config| {
        let mut model = ModelConfig::new("*");
        model.mode = Some(callwright_relay::config::Mode::Native);
        config.models = vec![model];
    });
    assert_eq!(client.chat(&long_request("qwen")).await.unwrap().text, PROSE);
    assert_eq!(chats(&server).len(), 1);
}

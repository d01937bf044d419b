//! From an answer of the script to what is written: status, headers and the steps of the body.

use std::time::Duration;

use bytes::Bytes;
use callwright_value::json;
use callwright_value::{Map, Value};

use crate::api::Api;
use crate::fault::Fault;
use crate::form::{Form, Ids};
use crate::messages;
use crate::ollama;
use crate::request::Request;
use crate::responses;
use crate::script::{Answer, Call, Choice};
use crate::stream;
use crate::tape::{self, Step};

/// When each answer was made: the same in every run.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// An HTTP response that is ready to be written.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Those of the script come first; what follows under the same name does not count.
    pub(crate) headers: Vec<(String, String)>,
    /// The length that is announced; none for a stream.
    pub(crate) length: Option<u64>,
    pub(crate) steps: Vec<Step>,
    /// The time that its head waits; for ever where there is nothing.
    pub(crate) delay: Option<Duration>,
}

impl Response {
    /// A JSON document, at once.
    pub(crate) fn json(status: u16, body: &Value) -> Response {
        let body = Bytes::from(body.to_string());
        Response {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            length: Some(body.len() as u64),
            steps: vec![Step::Write(body)],
            delay: Some(Duration::ZERO),
        }
    }

    /// An error in the form of this API, or of OpenAI's.
    pub(crate) fn error(status: u16, message: &str, api: Option<Api>) -> Response {
        Response::json(status, &told(&json!({ "message": message }), api))
    }

    /// Writes the response of `answer` to `request`.
    pub(crate) fn of(answer: &Answer, request: &Request<'_>, script_form: &Form) -> Response {
        let form = answer.form.as_ref().unwrap_or(script_form);
        let status = answer.status.unwrap_or(if answer.error.is_some() { 400 } else { 200 });
        let is_stream = answer.raw_events.is_some()
            || answer.error.is_none()
                && answer.body.is_none()
                && form.stream.unwrap_or(request.wants_stream());
        let writes: Vec<Bytes> = match (&answer.raw_events, &answer.body, &answer.error) {
            (Some(events), ..) => events.iter().flat_map(|event| cut(form, event)).collect(),
            (None, Some(body), _) => cut(form, body),
            (None, None, Some(given)) => cut(form, &told(given, request.api()).to_string()),
            (None, None, None) if is_stream => {
                let events = match request.api() {
                    Some(Api::Messages) => messages::events(answer, request, form),
                    Some(Api::Responses) => responses::events(answer, request, form),
                    Some(Api::Ollama) => ollama::lines(answer, request, form),
                    Some(Api::Chat) | None => stream::events(answer, request, form),
                };
                events.iter().flat_map(|event| cut(form, event)).collect()
            }
            (None, None, None) => {
                let whole = match request.api() {
                    Some(Api::Messages) => messages::whole(answer, request, form),
                    Some(Api::Responses) => responses::whole(answer, request, form),
                    Some(Api::Ollama) => ollama::whole(answer, request, form),
                    Some(Api::Chat) | None => completion(answer, request, form),
                };
                cut(form, &whole.to_string())
            }
        };
        let content_type = match (is_stream, request.api()) {
            (false, _) => "application/json",
            (true, Some(Api::Ollama)) => "application/x-ndjson",
            (true, Some(Api::Chat | Api::Messages | Api::Responses) | None) => "text/event-stream",
        };
        let mut headers: Vec<(String, String)> =
            answer.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        headers.push(("content-type".into(), content_type.into()));
        if is_stream {
            headers.push(("cache-control".into(), "no-cache".into()));
        }
        let Fault { delay_ms, silent, .. } = answer.fault;
        let (steps, announced) = tape::with_faults(writes, &answer.fault);
        Response {
            status,
            headers,
            length: (!is_stream).then_some(announced),
            steps,
            delay: (!silent).then_some(Duration::from_millis(delay_ms)),
        }
    }
}

/// The fields that an answer has in every form, except for `choices` and `usage`.
pub(crate) fn envelope(answer: &Answer, request: &Request<'_>, object: &str) -> Map {
    let mut envelope = Map::new();
    envelope.insert("id".into(), format!("chatcmpl-replay-{}", request.nth).into());
    envelope.insert("object".into(), object.into());
    envelope.insert("created".into(), CREATED.into());
    envelope.insert("model".into(), request.model().into());
    envelope.extend(answer.extra.clone());
    envelope
}

/// The tokens of an answer: as the script says, or a fourth of its bytes.
pub(crate) fn usage(answer: &Answer, request: &Request<'_>) -> Value {
    let is_at_bound = answer.usage.as_ref().is_some_and(|usage| usage == "bound");
    if let Some(usage) = answer.usage.as_ref().filter(|_| !is_at_bound) {
        return usage.clone();
    }
    let of_choice = |choice: &Choice| {
        let texts = [&choice.text, &choice.reasoning].into_iter().flatten().map(String::len).sum::<usize>();
        texts + choice.tool_calls.iter().map(|c| c.name.len() + c.arguments.text().len()).sum::<usize>()
    };
    let tokens = |bytes: usize| bytes.div_ceil(4);
    let prompt = tokens(request.bytes.len());
    let said = tokens(answer.said().iter().map(of_choice).sum());
    let completion = request.bound().filter(|_| is_at_bound).unwrap_or(said);
    json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion })
}

/// Why a choice ended.
pub(crate) fn finish_reason(choice: &Choice) -> &str {
    match &choice.finish_reason {
        Some(reason) => reason,
        None if !choice.tool_calls.is_empty() => "tool_calls",
        None if choice.function_call.is_some() => "function_call",
        None => "stop",
    }
}

/// The id of a call, where it has one. `at` numbers it among all calls of the choice.
pub(crate) fn call_id(
    call: &Call,
    request: &Request<'_>,
    choice: usize,
    at: usize,
    ids: Ids,
) -> Option<String> {
    match ids {
        Ids::Missing => None,
        Ids::Empty => Some(String::new()),
        Ids::Once | Ids::Each => {
            Some(call.id.clone().unwrap_or_else(|| format!("call_{}_{choice}_{at}", request.nth)))
        }
    }
}

/// Arguments as they stand on the wire.
pub(crate) fn arguments(text: String, form: &Form) -> Value {
    match serde_json::from_str(&text) {
        Ok(value) if form.object_arguments => value,
        _ => text.into(),
    }
}

/// Arguments where an object stands for them. Anything but JSON is a text.
pub(crate) fn input(text: &str) -> Value {
    match text.is_empty() {
        true => json!({}),
        false => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

/// The key of what the model thinks.
pub(crate) fn reasoning_key(form: &Form) -> &str {
    form.reasoning_key.as_deref().unwrap_or("reasoning_content")
}

fn completion(answer: &Answer, request: &Request<'_>, form: &Form) -> Value {
    let mut body = envelope(answer, request, "chat.completion");
    let choices = answer.said().iter().enumerate().map(|(index, choice)| {
        let mut out = Map::new();
        out.insert("index".into(), index.into());
        out.insert("message".into(), message(choice, index, request, form).into());
        out.extend(choice.choice.clone());
        out.insert("finish_reason".into(), finish_reason(choice).into());
        Value::Object(out)
    });
    body.insert("choices".into(), choices.collect());
    if form.usage != Some(false) {
        body.entry("usage").or_insert_with(|| usage(answer, request));
    }
    body.into()
}

fn message(choice: &Choice, index: usize, request: &Request<'_>, form: &Form) -> Map {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let no_content = if form.empty_content { Value::from("") } else { Value::Null };
    message.insert("content".into(), choice.text.clone().map_or(no_content, Value::from));
    if let Some(reasoning) = &choice.reasoning {
        message.insert(reasoning_key(form).into(), reasoning.clone().into());
    }
    let calls = choice.tool_calls.iter().enumerate().map(|(at, call)| {
        let mut out = Map::new();
        if let Some(id) = call_id(call, request, index, at, form.ids) {
            out.insert("id".into(), id.into());
        }
        out.insert("type".into(), "function".into());
        let arguments = arguments(call.arguments.text(), form);
        out.insert("function".into(), json!({ "name": call.name, "arguments": arguments }));
        Value::Object(out)
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    if let Some(call) = &choice.function_call {
        let arguments = arguments(call.arguments.text(), form);
        message.insert("function_call".into(), json!({ "name": call.name, "arguments": arguments }));
    }
    message.extend(choice.message.clone());
    message
}

/// An error in the form of this API.
fn told(given: &Value, api: Option<Api>) -> Value {
    let error = error(given);
    match api {
        Some(Api::Messages) => {
            let error = json!({ "type": error["type"], "message": error["message"] });
            json!({ "type": "error", "error": error })
        }
        Some(Api::Ollama) => json!({ "error": error["message"] }),
        Some(Api::Chat | Api::Responses) | None => json!({ "error": error }),
    }
}

/// The whole of an error from the parts that are given.
fn error(given: &Value) -> Value {
    let mut error = json!({ "message": "", "type": "invalid_request_error", "param": null, "code": null });
    match (given, &mut error) {
        (Value::Object(given), Value::Object(error)) => error.extend(given.clone()),
        (Value::String(message), _) => error["message"] = message.as_str().into(),
        _ => {}
    }
    error
}

fn cut(form: &Form, text: &str) -> Vec<Bytes> {
    form.writes.of_bytes(text.as_bytes()).into_iter().map(Bytes::copy_from_slice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    fn plain(script: &str) -> Value {
        let script = Script::from_toml(script).unwrap();
        let request = Request::new("/v1/chat/completions", 1, br#"{"model": "m"}"#);
        completion(&script.answers[0], &request, script.answers[0].form.as_ref().unwrap_or(&script.form))
    }

    #[test]
    fn a_completion_is_what_openai_writes() {
        let body = plain(
            "[[answer]]\ntool_calls = [{ name = \"f\", arguments = \"{}\" }, { id = \"c\", name = \"g\" }]",
        );
        assert_eq!(
            body.to_string(),
            r#"{"id":"chatcmpl-replay-1","object":"chat.completion","created":1767225600,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1_0_0","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"g","arguments":""}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}"#
        );
    }

    #[test]
    fn an_answer_can_be_as_long_as_the_request_allows() {
        let script = Script::from_toml("[[answer]]\ntext = \"x\"\nusage = \"bound\"").unwrap();
        let counted = |body: &str| {
            let request = Request::new("/v1/chat/completions", 1, body.as_bytes());
            usage(&script.answers[0], &request)["completion_tokens"].clone()
        };
        assert_eq!(counted(r#"{"max_tokens": 64}"#), json!(64));
        assert_eq!(counted("{}"), json!(1));
    }

    #[test]
    fn habits_of_servers_show() {
        let body = plain(
            "[[answer]]\nform = { ids = \"missing\", object_arguments = true, empty_content = true, reasoning_key = \"reasoning\" }\n\
             reasoning = \"hm\"\ntool_calls = [{ name = \"f\", arguments = '{\"a\": 1}' }, { name = \"f\", arguments = '{' }]\n\
             message = { refusal = \"no\" }\nchoice = { logprobs = { content = [] } }\nextra = { provider = \"p\", model = \"n\" }",
        );
        let choice = &body["choices"][0];
        assert_eq!(choice["message"]["content"], "");
        assert_eq!(choice["message"]["reasoning"], "hm");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], json!({ "a": 1 }));
        assert_eq!(choice["message"]["tool_calls"][1]["function"]["arguments"], "{");
        assert_eq!(choice["message"]["tool_calls"][0].get("id"), None);
        assert_eq!(choice["message"]["refusal"], "no");
        assert_eq!(choice["logprobs"], json!({ "content": [] }));
        assert_eq!((&body["provider"], &body["model"]), (&json!("p"), &json!("n")));
    }
}

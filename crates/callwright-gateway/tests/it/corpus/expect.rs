//! Holds what a client has seen, and what its upstream was asked, against a case.

use callwright::value::{Map, Value};
use callwright_replay::Recorded;

use crate::corpus::case::{Asked, Call, Case};
use crate::corpus::client::Got;
use crate::corpus::strict::{self, Read};

/// Everything in which `got` is not what `case` expects.
///
/// `direct` is what the upstream itself answers to the same request.
pub(crate) fn seen(case: &Case, got: &Got, direct: &Got, request: &Value) -> Vec<String> {
    let Read { body, mut breaches } = strict::read(got, request);
    if case.sees.misfit {
        breaches.retain(|breach| !breach.starts_with(strict::MISFIT));
    }
    let mut wrong = |is: bool, what: String| {
        if is {
            breaches.push(what);
        }
    };
    let sees = &case.sees;
    let status = got.status.as_u16();
    wrong(body["error"].is_null() == (sees.error || 400 <= status), format!("an error: {}", body["error"]));
    for (pointer, value) in &sees.fields {
        let found = body.pointer(pointer);
        wrong(found != Some(value), format!("{pointer}: {found:?}"));
    }
    if sees.error {
        wrong(body["error"]["message"].as_str().is_none_or(str::is_empty), format!("no message: {body}"));
        wrong(request["stream"] != true && status < 500, format!("status {status}"));
        return breaches;
    }
    wrong(status != sees.status.unwrap_or(200), format!("status {status}"));
    for (name, value) in &sees.headers {
        let found = got.headers.get(name).and_then(|found| found.to_str().ok());
        wrong(found != Some(value), format!("{name}: {found:?}"));
    }
    if sees.same && request["stream"] != true {
        wrong(got.body != direct.body, format!("not the same: {}", String::from_utf8_lossy(&got.body)));
    } else if sees.same {
        wrong(body != strict::read(direct, request).body, format!("not the same: {body}"));
    }
    if sees.status.is_some() {
        return breaches;
    }
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let content = message["content"].as_str();
    if sees.refused {
        let said = content.or(message["refusal"].as_str()).unwrap_or("");
        wrong(said.trim().is_empty(), "refused without a word".into());
    } else if let Some(json) = &sees.json {
        let found: Option<Value> = content.and_then(|text| serde_json::from_str(text).ok());
        wrong(found.as_ref() != Some(json), format!("content: {content:?}"));
    } else {
        wrong(content != sees.text.as_deref(), format!("content: {content:?}"));
    }
    if let Some(reasoning) = &sees.reasoning {
        let found = message["reasoning_content"].as_str().or(message["reasoning"].as_str());
        wrong(found != Some(reasoning), format!("reasoning: {found:?}"));
    }
    let calls: Vec<&Value> = message["tool_calls"].as_array().into_iter().flatten().collect();
    let fit = calls.len() == sees.calls.len()
        && calls.iter().zip(&sees.calls).all(|(c, call)| call.is(&c["id"], &c["function"]));
    wrong(!fit, format!("calls: {}", message["tool_calls"]));
    if let Some(call) = &sees.function_call {
        wrong(
            !call.is(&Value::Null, &message["function_call"]),
            format!("function call: {}", message["function_call"]),
        );
    }
    if let Some(reason) = &sees.finish_reason {
        wrong(choice["finish_reason"] != **reason, format!("finish_reason: {}", choice["finish_reason"]));
    }
    breaches
}

/// Everything in which the requests to the upstream are not what `case` expects.
pub(crate) fn asked(case: &Case, requests: &[Recorded]) -> Vec<String> {
    case.asked.as_ref().map_or_else(Vec::new, |expected| asked_for(expected, requests))
}

/// Everything in which `requests` are not what is expected of them.
pub(crate) fn asked_for(expected: &[Asked], requests: &[Recorded]) -> Vec<String> {
    let is_turn = |request: &&Recorded| {
        ["/chat/completions", "/messages", "/responses", "/api/chat"]
            .iter()
            .any(|path| request.path.ends_with(path))
    };
    let requests: Vec<&Recorded> = requests.iter().filter(is_turn).collect();
    if requests.len() != expected.len() {
        return vec![format!("the upstream was asked {} times", requests.len())];
    }
    requests.iter().zip(expected).flat_map(|(request, asked)| asked.breaches(request)).collect()
}

impl Asked {
    fn breaches(&self, request: &Recorded) -> Vec<String> {
        let body = request.json();
        let text = String::from_utf8_lossy(&request.body);
        let mut breaches = Vec::new();
        for (pointer, value) in &self.fields {
            let found = body.pointer(pointer);
            let inside = || found?.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            if found != Some(value) && inside().as_ref() != Some(value) {
                breaches.push(format!("the upstream got {pointer}: {found:?}"));
            }
        }
        if self.contains.as_ref().is_some_and(|part| !text.contains(part))
            || self.lacks.as_ref().is_some_and(|part| text.contains(part))
        {
            breaches.push(format!("the upstream got {text}"));
        }
        if self.parseable_arguments {
            let messages = body["messages"].as_array().into_iter().flatten();
            for call in messages.flat_map(|message| message["tool_calls"].as_array().into_iter().flatten()) {
                let arguments = call["function"]["arguments"].as_str().unwrap_or("");
                if serde_json::from_str::<Map>(arguments).is_err() {
                    breaches.push(format!("the upstream got arguments {arguments}"));
                }
            }
        }
        breaches
    }
}

impl Call {
    /// The value of its arguments.
    pub(crate) fn value(&self) -> Value {
        let exact = || self.exact.as_ref().and_then(|text| serde_json::from_str(text).ok());
        self.arguments.clone().or_else(exact).unwrap_or_default()
    }

    fn is(&self, id: &Value, function: &Value) -> bool {
        let text = function["arguments"].as_str();
        let value = || text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        self.id.as_ref().is_none_or(|expected| id == expected)
            && function["name"] == *self.name
            && self.exact.as_deref().is_none_or(|exact| text == Some(exact))
            && self.arguments.as_ref().is_none_or(|arguments| value().as_ref() == Some(arguments))
    }
}

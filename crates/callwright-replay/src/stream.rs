//! An answer as a stream of server-sent events, with the habits that its form names.

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::answer::{arguments, call_id, envelope, finish_reason, reasoning_key, usage};
use crate::fault::{Midway, MidwayForm};
use crate::form::{Finish, Form, Ids, Index, Pieces};
use crate::request::Request;
use crate::script::{Answer, Choice};

/// The events, each as it is written.
pub(crate) fn events(answer: &Answer, request: &Request<'_>, form: &Form) -> Vec<String> {
    let has_usage = form.usage.unwrap_or(request.wants_usage());
    let envelope = envelope(answer, request, "chat.completion.chunk");
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = envelope.clone();
        chunk.insert("choices".into(), choices);
        if let Some(usage) = usage {
            chunk.insert("usage".into(), usage);
        }
        Value::Object(chunk).to_string()
    };
    let choices = answer.said().iter().enumerate();
    let by_choice = choices.map(|(index, choice)| of_choice(choice, index, request, form)).collect();
    let chunks = in_turns(by_choice).into_iter();
    let mut data: Vec<String> =
        chunks.map(|choice| chunk(json!([choice]), has_usage.then_some(Value::Null))).collect();
    if has_usage {
        data.push(chunk(json!([]), Some(usage(answer, request))));
    }
    let mut done = !form.no_done;
    if let Some(midway) = &answer.fault.midway {
        data.truncate(midway.after_events);
        data.push(error(midway, chunk));
        done = midway.done;
    }
    if done {
        data.push("[DONE]".into());
    }
    data.iter().map(|data| written(data, form)).collect()
}

/// The choices of the chunks that one choice comes in.
fn of_choice(choice: &Choice, index: usize, request: &Request<'_>, form: &Form) -> Vec<Value> {
    let deltas = deltas(choice, index, request, form);
    let last = deltas.len();
    let mut chunks: Vec<Map> = Vec::new();
    for (number, delta) in (1..).zip(deltas) {
        let mut chunk = Map::new();
        chunk.insert("index".into(), index.into());
        chunk.insert("delta".into(), delta.into());
        let finishes = number == last && form.finish == Finish::WithLast;
        chunk.insert("finish_reason".into(), finishes.then(|| finish_reason(choice)).into());
        chunks.push(chunk);
    }
    if form.finish == Finish::Own {
        chunks.push(Map::from_iter([
            ("index".into(), index.into()),
            ("delta".into(), json!({})),
            ("finish_reason".into(), finish_reason(choice).into()),
        ]));
    }
    // What logprobs and the like belong to is in the text's first chunk, which follows the role.
    if let Some(chunk) = chunks.get_mut(1) {
        chunk.extend(choice.choice.clone());
    }
    chunks.into_iter().map(Value::Object).collect()
}

fn deltas(choice: &Choice, index: usize, request: &Request<'_>, form: &Form) -> Vec<Map> {
    let one = |key: &str, value: Value| Map::from_iter([(String::from(key), value)]);
    let empty = if form.empty_content || choice.text.is_some() { Value::from("") } else { Value::Null };
    let role = ("role".into(), Value::from("assistant"));
    let mut deltas = vec![Map::from_iter([role.clone(), ("content".into(), empty)])];
    for piece in form.pieces.of_text(choice.reasoning.as_deref().unwrap_or("")) {
        deltas.push(one(reasoning_key(form), piece.into()));
    }
    for piece in form.pieces.of_text(choice.text.as_deref().unwrap_or("")) {
        deltas.push(one("content", piece.into()));
    }
    if !choice.message.is_empty() {
        deltas.push(choice.message.clone());
    }
    let by_call = calls(choice, index, request, form);
    let pieces = if form.interleaved { in_turns(by_call) } else { by_call.concat() };
    deltas.extend(pieces.into_iter().map(|piece| one("tool_calls", json!([piece]))));
    if let Some(call) = &choice.function_call {
        deltas.push(one("function_call", json!({ "name": call.name, "arguments": "" })));
        for piece in argument_pieces(form).of_text(&call.arguments.text()) {
            deltas.push(one("function_call", json!({ "arguments": piece })));
        }
    }
    if form.repeats_role {
        deltas.iter_mut().skip(1).for_each(|delta| delta.extend([role.clone()]));
    }
    deltas
}

/// The pieces of each call.
fn calls(choice: &Choice, index: usize, request: &Request<'_>, form: &Form) -> Vec<Vec<Value>> {
    let of_call = |(at, call): (usize, &crate::script::Call)| {
        let text = call.arguments.text();
        let id = call_id(call, request, index, at, form.ids);
        let mut parts: Vec<Value> = match arguments(text.clone(), form) {
            Value::String(text) => {
                argument_pieces(form).of_text(&text).into_iter().map(Value::from).collect()
            }
            object => vec![object],
        };
        if !form.arguments_with_name && !form.object_arguments {
            parts.insert(0, "".into());
        }
        if parts.is_empty() {
            parts.push("".into());
        }
        let pieces = parts.into_iter().enumerate().map(|(number, part)| {
            let mut piece = Map::new();
            match form.index {
                Index::Counted => piece.insert("index".into(), at.into()),
                Index::Zero => piece.insert("index".into(), 0.into()),
                Index::Missing => None,
            };
            let is_first = number == 0;
            if let Some(id) = id.clone().filter(|_| is_first || form.ids == Ids::Each) {
                piece.insert("id".into(), id.into());
            }
            if is_first {
                piece.insert("type".into(), "function".into());
            }
            let mut function = Map::new();
            if is_first || form.repeats_names {
                function.insert("name".into(), call.name.as_str().into());
            }
            function.insert("arguments".into(), part);
            piece.insert("function".into(), function.into());
            Value::Object(piece)
        });
        pieces.collect()
    };
    choice.tool_calls.iter().enumerate().map(of_call).collect()
}

pub(crate) fn argument_pieces(form: &Form) -> Pieces {
    form.argument_pieces.unwrap_or(form.pieces)
}

/// The first of each, then the second of each, and so on.
fn in_turns(of_each: Vec<Vec<Value>>) -> Vec<Value> {
    let mut sources: Vec<_> = of_each.into_iter().map(Vec::into_iter).collect();
    let mut out = Vec::new();
    loop {
        let before = out.len();
        out.extend(sources.iter_mut().filter_map(Iterator::next));
        if out.len() == before {
            return out;
        }
    }
}

fn error(midway: &Midway, chunk: impl Fn(Value, Option<Value>) -> String) -> String {
    let error = json!({ "message": midway.message, "type": "server_error", "param": null, "code": 502 });
    match midway.form {
        MidwayForm::Alone => json!({ "error": error }).to_string(),
        MidwayForm::InChunk => {
            let choice = json!({ "index": 0, "delta": { "content": "" }, "finish_reason": "error" });
            let text = chunk(json!([choice]), None);
            let head = text.strip_suffix('}').unwrap_or_default();
            format!("{head},\"error\":{error}}}")
        }
    }
}

pub(crate) fn written(data: &str, form: &Form) -> String {
    written_as(None, data, form)
}

/// The same for an event that has a name.
pub(crate) fn written_as(name: Option<&str>, data: &str, form: &Form) -> String {
    let end = if form.crlf { "\r\n" } else { "\n" };
    let space = if form.tight { "" } else { " " };
    let comment = form.comment.as_ref().map_or(String::new(), |comment| format!(": {comment}{end}{end}"));
    let name = name.map_or(String::new(), |name| format!("event:{space}{name}{end}"));
    format!("{comment}{name}data:{space}{data}{end}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    /// The events of the first answer, without what is the same in all of them.
    fn shown(script: &str, body: &str) -> Vec<String> {
        let script = Script::from_toml(script).unwrap();
        let request = Request::new("/v1/chat/completions", 1, body.as_bytes());
        let answer = &script.answers[0];
        let same = r#""id":"chatcmpl-replay-1","object":"chat.completion.chunk","created":1767225600,"model":"replay","#;
        let events = events(answer, &request, answer.form.as_ref().unwrap_or(&script.form));
        events.iter().map(|event| event.replace(same, "")).collect()
    }

    fn choice(delta: &str, finish_reason: &str) -> String {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish_reason}}}]}}\n\n"
        )
    }

    #[test]
    fn a_stream_is_what_openai_writes() {
        let script = "[[answer]]\nform = { pieces = 4 }\ntext = \"I look.\"\ntool_calls = [{ name = \"f\", arguments = \"{ }\" }]";
        assert_eq!(
            shown(script, "{}"),
            [
                choice(r#"{"role":"assistant","content":""}"#, "null"),
                choice(r#"{"content":"I lo"}"#, "null"),
                choice(r#"{"content":"ok."}"#, "null"),
                choice(
                    r#"{"tool_calls":[{"index":0,"id":"call_1_0_0","type":"function","function":{"name":"f","arguments":""}}]}"#,
                    "null"
                ),
                choice(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{ }"}}]}"#, "null"),
                choice("{}", "\"tool_calls\""),
                String::from("data: [DONE]\n\n"),
            ]
        );
    }

    #[test]
    fn tokens_are_counted_where_they_are_asked_for() {
        let script = "[[answer]]\ntext = \"x\"\nusage = { total_tokens = 3 }";
        let events = shown(script, r#"{"stream_options": {"include_usage": true}}"#);
        assert!(events[0].ends_with(",\"usage\":null}\n\n"), "{}", events[0]);
        assert_eq!(events[3], "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n");
    }

    #[test]
    fn habits_of_servers_show() {
        let calls = "tool_calls = [{ id = \"x\", name = \"f\", arguments = \"{}\" }, { id = \"y\", name = \"g\", arguments = \"[1]\" }]";
        let habits = "interleaved = true, ids = \"each\", repeats_names = true, index = \"missing\", argument_pieces = 2, \
            finish = \"with_last\", no_done = true, comment = \"WAIT\", crlf = true, tight = true, repeats_role = true";
        let events = shown(&format!("[[answer]]\nform = {{ {habits} }}\n{calls}"), "{}");
        let piece = |id: &str, kind: &str, name: &str, arguments: &str, finish: &str| {
            format!(
                ": WAIT\r\n\r\ndata:{{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"id\":\"{id}\",{kind}\"function\":{{\"name\":\"{name}\",\"arguments\":\"{arguments}\"}}}}],\"role\":\"assistant\"}},\"finish_reason\":{finish}}}]}}\r\n\r\n"
            )
        };
        let kind = "\"type\":\"function\",";
        assert_eq!(
            &events[1..],
            [
                piece("x", kind, "f", "", "null"),
                piece("y", kind, "g", "", "null"),
                piece("x", "", "f", "{}", "null"),
                piece("y", "", "g", "[1", "null"),
                piece("y", "", "g", "]", "\"tool_calls\""),
            ]
        );
        let zero = shown(
            &format!("[[answer]]\nform = {{ index = \"zero\", object_arguments = true }}\n{calls}"),
            "{}",
        );
        assert!(zero[2].contains(
            r#""tool_calls":[{"index":0,"id":"y","type":"function","function":{"name":"g","arguments":[1]}}]"#
        ));
    }

    #[test]
    fn an_error_may_come_midway() {
        let script = |form: &str| {
            format!(
                "[[answer]]\ntext = \"x\"\nfault = {{ midway = {{ after_events = 1, message = \"gone\", form = \"{form}\" }} }}"
            )
        };
        let error = r#""error":{"message":"gone","type":"server_error","param":null,"code":502}}"#;
        let alone = shown(&script("alone"), "{}");
        assert_eq!((alone.len(), alone[1].as_str()), (2, format!("data: {{{error}\n\n").as_str()));
        let in_chunk = shown(&script("in_chunk"), "{}");
        assert!(
            in_chunk[1].contains("\"finish_reason\":\"error\"") && in_chunk[1].contains(error),
            "{}",
            in_chunk[1]
        );
    }

    #[test]
    fn choices_come_in_turns() {
        let events = shown(
            "[[answer]]\nchoices = [{ text = \"x\" }, { text = \"y\", finish_reason = \"length\" }]",
            "{}",
        );
        let of = |index: usize| format!("\"index\":{index}");
        let order: Vec<bool> = events[..6].iter().map(|event| event.contains(&of(1))).collect();
        assert_eq!(order, [false, true, false, true, false, true]);
        assert!(events[5].contains("\"length\""));
    }
}

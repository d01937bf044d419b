//! Recognises that an upstream refused not the request but one of its means: tools, or a constraint. The same
//! request without that means may be served.
//!
//! Servers have no common code for this: each uses words of its own, and they are listed here.

use callwright::value::Value;
use http::StatusCode;

use super::fact::BoundMember;

/// A refusal by an upstream, with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The means that was refused.
    pub what: Refused,
    /// Its message, as far as it gave one.
    pub words: String,
}

/// A means that an upstream refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// Tools of any kind: true of the model.
    Tools,
    /// This `tool_choice`: true of requests that have it.
    ToolChoice,
    /// `response_format` or `grammar` of any content: true of the model.
    Constraint,
    /// This schema or grammar: true of these tools.
    Schema,
    /// This member for the bound of an answer's tokens: true of the model, which takes the other one.
    Bound(BoundMember),
}

/// Phrases in lower case, without quotes of any kind. The first that occurs counts; it begins at the beginning
/// of a word.
const PHRASES: &[(&str, Refused)] = &[
    // The member that bounds the answer's tokens.
    ("unsupported parameter: max_tokens", Refused::Bound(BoundMember::MaxTokens)),
    ("unrecognized request argument supplied: max_tokens", Refused::Bound(BoundMember::MaxTokens)),
    ("max_tokens is not supported", Refused::Bound(BoundMember::MaxTokens)),
    ("max_tokens: extra inputs are not permitted", Refused::Bound(BoundMember::MaxTokens)),
    ("use max_completion_tokens instead", Refused::Bound(BoundMember::MaxTokens)),
    ("unsupported parameter: max_completion_tokens", Refused::Bound(BoundMember::MaxCompletionTokens)),
    (
        "unrecognized request argument supplied: max_completion_tokens",
        Refused::Bound(BoundMember::MaxCompletionTokens),
    ),
    ("unknown parameter: max_completion_tokens", Refused::Bound(BoundMember::MaxCompletionTokens)),
    ("max_completion_tokens is not supported", Refused::Bound(BoundMember::MaxCompletionTokens)),
    (
        "max_completion_tokens: extra inputs are not permitted",
        Refused::Bound(BoundMember::MaxCompletionTokens),
    ),
    ("use max_tokens instead", Refused::Bound(BoundMember::MaxCompletionTokens)),
    // Before the tools: their phrases would fit as well.
    ("support the provided tool_choice", Refused::ToolChoice),
    ("tool_choice is not supported", Refused::ToolChoice),
    ("does not support tool_choice", Refused::ToolChoice),
    ("does not support the tool_choice", Refused::ToolChoice),
    ("unsupported tool_choice", Refused::ToolChoice),
    ("invalid tool_choice", Refused::ToolChoice),
    // Tools.
    ("support tools", Refused::Tools), // does not …, doesn't …, no endpoints found that …
    ("support tool use", Refused::Tools),
    ("support tool call", Refused::Tools),
    ("support the tools", Refused::Tools),
    ("support function call", Refused::Tools),
    ("support functions", Refused::Tools),
    ("tool choice requires --enable-auto-tool-choice", Refused::Tools),
    ("--tool-call-parser to be set", Refused::Tools),
    ("tools param requires --jinja", Refused::Tools),
    ("tools is not supported", Refused::Tools),
    ("tools are not supported", Refused::Tools),
    ("tools not supported", Refused::Tools),
    ("tool use is not supported", Refused::Tools),
    ("tool calls are not supported", Refused::Tools),
    ("tool calling is not supported", Refused::Tools),
    ("tool calling is not enabled", Refused::Tools),
    ("function calling is not supported", Refused::Tools),
    ("function calling is not enabled", Refused::Tools),
    ("function calling not supported", Refused::Tools),
    ("support parameters: [tools", Refused::Tools),
    ("unsupported parameter: tools", Refused::Tools),
    ("unrecognized request argument supplied: tools", Refused::Tools),
    ("unknown parameter: tools", Refused::Tools),
    ("tools: extra inputs are not permitted", Refused::Tools),
    // A schema or grammar of ours.
    ("invalid schema for response_format", Refused::Schema),
    ("invalid json schema", Refused::Schema),
    ("json schema conversion failed", Refused::Schema),
    ("failed to parse grammar", Refused::Schema),
    ("failed to convert the grammar", Refused::Schema),
    ("failed to initialize samplers", Refused::Schema),
    ("features not supported by", Refused::Schema), // The provided JSON schema contains … xgrammar
    ("grammar error", Refused::Schema),
    ("error parsing grammar", Refused::Schema),
    // Constraints.
    ("support response_format", Refused::Constraint),
    ("support response format", Refused::Constraint),
    ("support structured output", Refused::Constraint),
    ("support json_schema", Refused::Constraint),
    ("support json schema", Refused::Constraint),
    ("support json mode", Refused::Constraint),
    ("support the response_format", Refused::Constraint),
    ("support grammar", Refused::Constraint),
    ("support parameters: [response_format", Refused::Constraint),
    ("response_format of type json_schema is not supported", Refused::Constraint),
    ("response_format is not supported", Refused::Constraint),
    ("response_format type is unavailable", Refused::Constraint),
    ("response_format.type", Refused::Constraint),
    ("response format is not supported", Refused::Constraint),
    ("structured outputs are not supported", Refused::Constraint),
    ("json_schema is not supported", Refused::Constraint),
    ("grammar is not supported", Refused::Constraint),
    ("unsupported parameter: response_format", Refused::Constraint),
    ("unrecognized request argument supplied: response_format", Refused::Constraint),
    ("unrecognized request argument supplied: grammar", Refused::Constraint),
    ("response_format: extra inputs are not permitted", Refused::Constraint),
    ("grammar: extra inputs are not permitted", Refused::Constraint),
];

/// Words by which an upstream that refuses `strict`, or a schema for being strict, tells of it: in lower case, each at the
/// beginning of a word.
const OF_STRICT: &[&str] = &[
    "strict",
    "schema",
    "input_schema",
    "additionalproperties",
    "grammar",
    "xgrammar",
    "structural tag",
    "structural_tag",
    "structured output",
];

/// The longest body that is read, in bytes. Refusals are short.
const LONGEST: usize = 64 << 10;

/// Recognises the means that an answer with this status and body refuses. A wrong key, a broken request or an upstream that is
/// down is not such a refusal.
pub fn refusal(status: StatusCode, body: &[u8]) -> Option<Refusal> {
    let (messages, plain) = said(status, body)?;
    let (_, what) = PHRASES.iter().find(|(phrase, _)| holds(&plain, phrase))?;
    Some(Refusal { what: *what, words: messages })
}

/// Returns the words of an answer that may refuse a request for the `strict` of this relay. The client's own schema may be at
/// fault as well: only an answer to the same request without `strict` tells.
pub(crate) fn refused_strict(status: StatusCode, body: &[u8]) -> Option<String> {
    let (messages, plain) = said(status, body)?;
    OF_STRICT.iter().any(|word| holds(&plain, word)).then_some(messages)
}

/// Returns the words of an answer that may refuse something: as they are, and in lower case without quotes.
fn said(status: StatusCode, body: &[u8]) -> Option<(String, String)> {
    let is_refusal = match status.as_u16() {
        401 | 402 | 403 | 408 | 413 | 429 => false,
        500 | 501 => true, // llama.cpp's server refuses so.
        status => (400..500).contains(&status),
    };
    if !is_refusal || LONGEST < body.len() {
        return None;
    }
    let messages = messages(body);
    let plain: String = messages.chars().filter(|c| !matches!(c, '"' | '\'' | '`' | '\\' | '’')).collect();
    let plain = plain.to_ascii_lowercase();
    Some((messages, plain))
}

fn holds(text: &str, phrase: &str) -> bool {
    let is_inside = |before: char| before.is_ascii_alphanumeric() || before == '_';
    text.match_indices(phrase).any(|(at, _)| !text[..at].ends_with(is_inside))
}

/// Returns the words of the error. The rest of the body does not count: some servers send the request back in it.
///
/// `{"error": {"message": "…", "metadata": {"raw": "…"}}}`, `{"error": "…"}`, `{"message": "…"}`,
/// `{"detail": [{"loc": ["body", "tools"], "msg": "…"}]}`, or plain text.
fn messages(body: &[u8]) -> String {
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        return String::from_utf8_lossy(body).into_owned();
    };
    let mut messages: Vec<String> = Vec::new();
    let mut open = vec![&json];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => messages.push(text.clone()),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => {
                if let (Some(Value::Array(place)), Some(Value::String(text))) =
                    (fields.get("loc"), fields.get("msg"))
                {
                    let place: Vec<&str> = place.iter().filter_map(Value::as_str).collect();
                    messages.push(format!("{}: {text}", place.join(" ")));
                    continue;
                }
                let members = ["raw", "metadata", "detail", "message", "error"];
                open.extend(members.iter().filter_map(|key| fields.get(key)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    messages.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_told_by_the_words() {
        use Refused::*;
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}"#,
                Some(Tools),
            ),
            (400, r#"{"error":"stablelm2:latest does not support tools"}"#, Some(Tools)),
            (
                400,
                r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}"#,
                Some(Tools),
            ),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: …","code":404}}"#,
                Some(Tools),
            ),
            (
                400,
                r#"{"error":{"message":"tools is not supported in this model. For a list of supported models, refer to …"}}"#,
                Some(Tools),
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'tools' is not supported with this model.","param":"tools"}}"#,
                Some(Tools),
            ),
            (400, r#"{"message":"This model doesn't support tool use in streaming mode."}"#, Some(Tools)),
            (
                500,
                r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
                Some(Tools),
            ),
            (400, r#"{"error":{"message":"`tool calling` is not supported with this model"}}"#, Some(Tools)),
            (
                400,
                r#"[{"error":{"code":400,"message":"Function calling is not enabled for models/gemma-3-27b-it"}}]"#,
                Some(Tools),
            ),
            (
                400,
                r#"{"error":{"message":"deepseek-reasoner does not support Function Calling"}}"#,
                Some(Tools),
            ),
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#,
                Some(Tools),
            ),
            (
                400,
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"tool use is not supported\"}"}}}"#,
                Some(Tools),
            ),
            (
                400,
                "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools'], for model=phi",
                Some(Tools),
            ),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support the provided 'tool_choice' value.","code":404}}"#,
                Some(ToolChoice),
            ),
            (
                400,
                r#"{"error":{"message":"This model does not support response format `json_schema`."}}"#,
                Some(Constraint),
            ),
            (
                400,
                r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."}}"#,
                Some(Constraint),
            ),
            (
                400,
                r#"{"error":{"message":"This response_format type is unavailable now"}}"#,
                Some(Constraint),
            ),
            (400, r#"{"error":{"message":"Failed to parse grammar","code":400}}"#, Some(Schema)),
            (
                400,
                r#"{"error":{"message":"JSON schema conversion failed:\nUnrecognized schema"}}"#,
                Some(Schema),
            ),
            (400, r#"{"error":{"message":"Invalid schema for response_format 'calls': …"}}"#, Some(Schema)),
            (
                400,
                r#"{"message":"The provided JSON schema contains features not supported by xgrammar."}"#,
                Some(Schema),
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#,
                Some(Bound(BoundMember::MaxTokens)),
            ),
            (
                400,
                r#"{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}"#,
                Some(Bound(BoundMember::MaxCompletionTokens)),
            ),
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}"#,
                Some(Bound(BoundMember::MaxCompletionTokens)),
            ),
            (400, r#"{"error":{"message":"max_tokens is too large: 90000"}}"#, None),
            // What is wrong with the request itself, or with us, is no refusal of a means.
            (
                400,
                r#"{"error":{"message":"Invalid schema for function 'f': 'oneOf' is not permitted","param":"tools[0].function.parameters"}}"#,
                None,
            ),
            (400, r#"{"error":{"message":"tool type allowed_tools is not supported"}}"#, None),
            (
                400,
                r#"{"error":{"message":"context length exceeded"},"request":{"content":"it does not support tools"}}"#,
                None,
            ),
            (401, r#"{"error":{"message":"this key does not support tools"}}"#, None),
            (503, r#"{"error":{"message":"Loading model: does not support tools yet"}}"#, None),
            (200, r#"{"error":"does not support tools"}"#, None),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(refusal(status, body.as_bytes()).map(|refusal| refusal.what), expected, "{body}");
        }
    }

    #[test]
    fn a_refusal_of_strict_names_it_or_the_schema() {
        for (status, body, is) in [
            (
                400,
                r#"{"error":{"message":"Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.","param":"tools[0].function.parameters"}}"#,
                true,
            ),
            (
                422,
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}"#,
                true,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom: Unsupported keyword in input_schema"}}"#,
                true,
            ),
            (400, r#"{"error":{"message":"Failed to compile the structural_tag"}}"#, true),
            (400, r#"{"error":{"message":"access to this model is restricted"}}"#, false),
            (400, r#"{"error":{"message":"context length exceeded"}}"#, false),
            (429, r#"{"error":{"message":"a strict limit"}}"#, false),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(refused_strict(status, body.as_bytes()).is_some(), is, "{body}");
        }
    }

    #[test]
    fn the_words_are_the_message_alone() {
        let body = br#"{"error":{"message":"m does not support tools","type":"api_error"},"id":"x"}"#;
        let refusal = refusal(StatusCode::BAD_REQUEST, body).unwrap();
        assert_eq!(refusal.words, "m does not support tools");
    }
}

//! A failure, read from errors in OpenAI's form: ours and those of upstreams.

use callwright_json::{Value, quote, strict};
use http::StatusCode;

use crate::wire::{CALL_REFUSED, INVALID_CONTENT, count_of, object, string_of};

/// A failure, as an upstream's error tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The stable code for programs, or an empty text.
    pub(crate) code: String,
    /// The prompt did not fit into the context.
    pub(crate) overflow: Option<Overflow>,
}

/// The size of a prompt and its bound, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow {
    prompt: Option<u64>,
    answer: Option<u64>,
    most: Option<u64>,
}

/// The names of servers for it: OpenAI and its followers, llama.cpp.
const OVERFLOWS: [&str; 2] = [CONTEXT, "exceed_context_size_error"];
pub(crate) const CONTEXT: &str = "context_length_exceeded";

/// The words of servers without a name for it: vLLM, SGLang; Anthropic; and Ollama.
const MOST: &str = "maximum context length is ";
const TOO_LONG: &str = "prompt is too long: ";
const OLLAMA: [&str; 2] =
    ["input length exceeds the context length", "prompt is longer than the context length"];

impl Failure {
    /// Makes the failure of an upstream's unusable answer.
    pub(crate) fn of_answer(code: &str, message: &str) -> Failure {
        let (message, code) = (message.to_owned(), code.to_owned());
        Failure { status: StatusCode::BAD_GATEWAY, message, code, overflow: None }
    }

    /// Reads an error in OpenAI's form, or the words of any other body.
    pub(crate) fn of(status: StatusCode, body: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(body);
        let read = strict(&text).ok().map(|tree| Failure::of_value(status, tree.root(&text)));
        read.unwrap_or_else(|| Failure {
            status,
            message: text.lines().next().unwrap_or_default().to_owned(),
            code: String::new(),
            overflow: None,
        })
    }

    /// Reads a value that has an `error` in it, or is one.
    pub(crate) fn of_value(status: StatusCode, value: Value<'_>) -> Failure {
        let error = value.get("error").unwrap_or(value);
        let message = string_of(error, "message").or_else(|| error.as_str());
        let message = message.map_or_else(|| error.raw().to_owned(), |message| message.into_owned());
        let code = string_of(error, "code").unwrap_or_default().into_owned();
        let kind = string_of(error, "type").unwrap_or_default();
        let named = OVERFLOWS.iter().any(|name| *name == code || *name == kind);
        let is_said = [MOST, TOO_LONG].iter().chain(&OLLAMA).any(|words| message.contains(words));
        let overflow = (named || is_said).then(|| Overflow::of(error, &message));
        Failure { status, message, code, overflow }
    }

    /// Returns its type in the API of messages.
    pub(crate) fn messages_type(&self) -> &'static str {
        match self.status.as_u16() {
            _ if self.overflow.is_some() || self.is_ours() => "invalid_request_error",
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            504 => "timeout_error",
            503 | 529 => "overloaded_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        }
    }

    /// Returns the code of a response that has failed. Clients try again after a fault of the server, and not after a wrong call.
    pub(crate) fn response_code(&self) -> &'static str {
        match (self.status.as_u16(), self.code.as_str()) {
            _ if self.overflow.is_some() => CONTEXT,
            (429, _) => "rate_limit_exceeded",
            (402, _) => "insufficient_quota",
            _ if self.is_ours() => "invalid_prompt",
            _ => "server_error",
        }
    }

    /// Returns the type of an error of a response.
    pub(crate) fn response_type(&self) -> &'static str {
        if self.is_ours() { "invalid_request_error" } else { "server_error" }
    }

    /// Returns the status for clients of Gemini's API, who ask again by that alone.
    pub(crate) fn gemini_status(&self) -> StatusCode {
        match self.overflow.is_some() || self.is_ours() {
            true => StatusCode::BAD_REQUEST,
            false => self.status,
        }
    }

    /// Returns whether the answer was refused here. It would be refused again.
    fn is_ours(&self) -> bool {
        [CALL_REFUSED, INVALID_CONTENT].contains(&self.code.as_str())
    }

    /// Returns the words for clients of messages. They read the numbers of a prompt that is too long, and shorten it.
    pub(crate) fn messages_text(&self) -> String {
        match self.overflow {
            Some(Overflow { prompt: Some(prompt), most: Some(most), .. }) if most < prompt => {
                format!("prompt is too long: {prompt} tokens > {most} maximum")
            }
            Some(Overflow { prompt: Some(prompt), answer: Some(answer), most: Some(most) }) => {
                format!("input length and `max_tokens` exceed context limit: {prompt} + {answer} > {most}")
            }
            _ => self.message.clone(),
        }
    }
}

/// The most tokens that an answer may have, by an upstream's refusal of more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MostTokens {
    /// The bound of each answer of the model.
    OfModel(u64),
    /// The bound of an answer to this prompt: the rest of the context.
    OfPrompt(u64),
}

/// Reads the bound from a refusal of an answer of `wanted` tokens. None if the upstream does not name one.
pub(crate) fn most_tokens(status: StatusCode, body: &[u8], wanted: u64) -> Option<MostTokens> {
    if !matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY) {
        return None;
    }
    let Failure { message, overflow, .. } = Failure::of(status, body);
    let is_bound = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let said: Vec<u64> = numbers(&message).collect();
    if let Some(Overflow { prompt: Some(prompt), most: Some(most), .. }) = overflow {
        let left = most.checked_sub(prompt).filter(|left| (1..wanted).contains(left));
        return left.map(MostTokens::OfPrompt);
    }
    if !is_bound.iter().any(|member| message.contains(member)) {
        return None;
    }
    // "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
    let left = said.windows(3).find_map(|three| match three {
        [prompt, own, most] if *own == wanted && prompt < most && *most < prompt + own => Some(most - prompt),
        _ => None,
    });
    // "max_tokens: 64000 > 8192, which is the maximum", "max_tokens is too large: 64000. This model supports at most 16384"
    let named = || said.iter().copied().filter(|n| (1..wanted).contains(n)).max();
    let most = named().filter(|_| said.contains(&wanted));
    // Who speaks of the prompt as well says the sum, or that the context is too small.
    let is_sum = |of: u64| of.checked_add(wanted).is_some_and(|sum| said.contains(&sum));
    let is_of_prompt = overflow.is_some() || said.iter().any(|n| is_sum(*n));
    let of_model = most.map(if is_of_prompt { MostTokens::OfPrompt } else { MostTokens::OfModel });
    left.map(MostTokens::OfPrompt).or(of_model)
}

impl Overflow {
    fn of(error: Value<'_>, message: &str) -> Overflow {
        // "prompt is too long: 130 tokens > 100 maximum"
        if let Some((_, rest)) = message.split_once(TOO_LONG) {
            let mut both = numbers(rest);
            return Overflow { prompt: both.next(), answer: None, most: both.next() };
        }
        // "This model's maximum context length is 100 tokens. However, you requested 130 tokens (110 in the messages, 20 in the
        // completion)", or "… your request has 110 input tokens".
        let (most, rest) = match message.split_once(MOST) {
            Some((_, rest)) => (numbers(rest).next(), rest.trim_start_matches(|c: char| c.is_ascii_digit())),
            None => (None, ""),
        };
        let others: Vec<u64> = numbers(rest).collect();
        let (prompt, answer) = match others.as_slice() {
            [all, prompt, answer, ..] if prompt.checked_add(*answer) == Some(*all) => {
                (Some(*prompt), Some(*answer))
            }
            others => (others.first().copied(), None),
        };
        Overflow {
            prompt: count_of(error, "n_prompt_tokens").or(prompt),
            answer,
            most: count_of(error, "n_ctx").or(most),
        }
    }
}

fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// Writes the error of a message, without its envelope.
pub(crate) fn messages_error(kind: &str, message: &str) -> String {
    object([("type", quote(kind)), ("message", quote(message))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_too_high_is_told_in_numbers() {
        use MostTokens::*;
        for (status, message, most) in [
            (
                400,
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens",
                Some(OfModel(8192)),
            ),
            (
                400,
                "max_tokens is too large: 64000. This model supports at most 16384 completion tokens",
                Some(OfModel(16384)),
            ),
            (
                400,
                "input length and `max_tokens` exceed context limit: 188240 + 64000 > 200000",
                Some(OfPrompt(11760)),
            ),
            (
                400,
                "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 32768 tokens and your request has 20000 input tokens (64000 > 32768 - 20000).",
                Some(OfPrompt(12768)),
            ),
            (
                400,
                "This model's maximum context length is 32768 tokens. However, you requested 74000 tokens (10000 in the messages, 64000 in the completion).",
                Some(OfPrompt(22768)),
            ),
            (
                400,
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
                Some(OfModel(8192)),
            ),
            (400, "max_tokens is too large: 20000 + 64000 = 84000 tokens", Some(OfPrompt(20000))),
            // The prompt itself is too long.
            (400, "prompt is too long: 130 tokens > 100 maximum", None),
            (400, "max_tokens must be a number", None),
            (400, "the model m-2024 is not known", None),
            (500, "max_tokens: 64000 > 8192", None),
        ] {
            let body = object([("error", object([("message", quote(message))]))]);
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(most_tokens(status, body.as_bytes(), 64_000), most, "{message}");
        }
    }
}

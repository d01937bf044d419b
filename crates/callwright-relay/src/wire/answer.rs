//! Whole answers: the parts of each choice, and the answer with some of it changed.

use std::borrow::Cow;

use callwright::CallDelta;
use callwright_json::{Kind, Value};

use super::call_id::is_no_id;
use super::document::{count_of, string_of};
use super::foreign::{Foreign, is_foreign};
use super::said::{content, reasoning, says_else, text_or_raw};
use super::surrogates;
use crate::tokens::{Usage, ends_by_itself};

/// One choice of an answer.
pub(crate) struct AnswerChoice<'d> {
    /// The choice as it stands.
    pub(crate) choice: Value<'d>,
    /// The model's words.
    pub(crate) text: Cow<'d, str>,
    /// The content is an empty text, in the place of none.
    pub(crate) is_empty_text: bool,
    /// The thoughts that the upstream marks.
    pub(crate) reasoning: Option<Cow<'d, str>>,
    /// The calls of functions that it made natively.
    pub(crate) calls: Vec<AnswerCall<'d>>,
    /// Its calls of other tools, which nobody reads.
    pub(crate) foreign_calls: Vec<Value<'d>>,
    /// The message holds something else: a refusal, a sound, a vendor's own member.
    pub(crate) says_else: bool,
    /// The reason for which it stopped.
    pub(crate) finish_reason: Option<Cow<'d, str>>,
}

/// A native call of a whole answer.
pub(crate) struct AnswerCall<'d> {
    id: Option<Cow<'d, str>>,
    name: Cow<'d, str>,
    arguments: Cow<'d, str>,
    /// The arguments came as a text, not as the object itself, and all of it has a form in UTF-8.
    is_text: bool,
    /// The number of halves of characters that stand alone in the arguments.
    n_alone: usize,
    /// The members in it that are not ours.
    pub(crate) foreign: Foreign,
}

impl AnswerCall<'_> {
    /// Returns the call in the engine's form, with this index.
    pub(crate) fn delta(&self, index: usize) -> CallDelta<'_> {
        CallDelta {
            index: Some(index),
            id: self.id.as_deref().filter(|id| !is_no_id(id)),
            name: Some(&self.name),
            arguments: Some(&self.arguments),
        }
    }

    /// Returns its id, if it has one.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !is_no_id(id))
    }

    /// Returns whether it is this call to the byte.
    pub(crate) fn is(&self, name: &str, arguments: &str) -> bool {
        self.is_text && self.name == name && self.arguments == arguments
    }
}

impl AnswerChoice<'_> {
    /// Counts the halves of characters that stand alone in the model's words and calls.
    pub(crate) fn n_alone(&self) -> usize {
        let message = self.choice.get("message");
        let texts = ["content", "reasoning_content"].into_iter().filter_map(|key| message?.get(key));
        let calls: usize = self.calls.iter().map(|call| call.n_alone).sum();
        texts.map(surrogates::n_alone).sum::<usize>() + calls
    }

    /// Returns whether nothing at all came, and no end that tells the reason.
    pub(crate) fn is_nothing(&self) -> bool {
        let Self { text, reasoning, calls, foreign_calls, says_else, finish_reason, .. } = self;
        text.trim().is_empty()
            && reasoning.as_deref().unwrap_or_default().is_empty()
            && calls.is_empty()
            && foreign_calls.is_empty()
            && !says_else
            && ends_by_itself(finish_reason.as_deref())
    }
}

/// Returns the choices of a whole answer, in order.
pub(crate) fn choices(root: Value<'_>) -> impl Iterator<Item = AnswerChoice<'_>> {
    root.get("choices").into_iter().flat_map(Value::elements).map(|choice| {
        let message = choice.get("message");
        let listed = message.and_then(|m| m.get("tool_calls")).into_iter().flat_map(Value::elements);
        let legacy = message.and_then(|m| m.get("function_call")).filter(|c| c.kind() == Kind::Object);
        let (foreign_calls, functions): (Vec<_>, Vec<_>) = listed.partition(|call| is_foreign(*call));
        let calls = functions.into_iter().map(|call| AnswerCall {
            foreign: Foreign::of(call),
            ..called(call, call.get("function").unwrap_or(call))
        });
        let legacy =
            legacy.map(|call| AnswerCall { foreign: Foreign::of_function(call), ..called(call, call) });
        AnswerChoice {
            choice,
            text: message.and_then(|m| m.get("content")).map(content).unwrap_or_default(),
            is_empty_text: message.and_then(|m| m.get("content")).is_some_and(|text| text.raw() == "\"\""),
            reasoning: message.and_then(reasoning),
            calls: calls.chain(legacy).collect(),
            foreign_calls,
            says_else: message.is_some_and(says_else),
            finish_reason: string_of(choice, "finish_reason"),
        }
    })
}

fn called<'d>(call: Value<'d>, function: Value<'d>) -> AnswerCall<'d> {
    let written = function.get("arguments");
    let id = string_of(call, "id");
    let name = string_of(function, "name").unwrap_or_default();
    if let Some((text, n_alone)) = written.and_then(surrogates::arguments) {
        return AnswerCall {
            id,
            name,
            arguments: Cow::Owned(text),
            is_text: false,
            n_alone,
            foreign: Foreign::default(),
        };
    }
    AnswerCall {
        id,
        name,
        arguments: written.map(text_or_raw).unwrap_or_default(),
        is_text: written.is_some_and(|arguments| arguments.kind() == Kind::String),
        n_alone: 0,
        foreign: Foreign::default(),
    }
}

/// Returns the tokens that an answer, or the last chunk of one, counts.
pub(crate) fn usage(root: Value<'_>) -> Option<Usage> {
    let usage = root.get("usage").filter(|usage| usage.kind() == Kind::Object)?;
    let count = |key| count_of(usage, key).unwrap_or(0);
    let (prompt, completion) = (count("prompt_tokens"), count("completion_tokens"));
    let total = count_of(usage, "total_tokens").unwrap_or(prompt + completion);
    let within =
        |key: &str, part: &str| usage.get(key).and_then(|details| count_of(details, part)).unwrap_or(0);
    let cached = within("prompt_tokens_details", "cached_tokens");
    let reasoning = within("completion_tokens_details", "reasoning_tokens");
    Some(Usage { prompt, completion, total, cached, reasoning })
}

/// The tokens of a prompt, and of the answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PromptTokens {
    /// Tokens of the prompt, cached ones among them.
    pub(crate) prompt: u64,
    /// Tokens of the answer.
    pub(crate) completion: u64,
}

/// Returns the prompt's tokens that an answer, or the last chunk of one, counts; none if it does not count.
pub(crate) fn prompt_tokens(root: Value<'_>) -> Option<PromptTokens> {
    let own = root.get("usage")?;
    let Usage { prompt, completion, .. } = usage(root)?;
    let count = |key| count_of(own, key).unwrap_or(0);
    // OpenAI counts what it kept among the tokens of the prompt, Anthropic beside them.
    let beside = count("cache_read_input_tokens") + count("cache_creation_input_tokens");
    let within = own.get("prompt_tokens_details").and_then(|details| count_of(details, "cached_tokens"));
    let within = within.filter(|cached| prompt < *cached).unwrap_or(0);
    (0 < prompt).then_some(PromptTokens { prompt: prompt + beside.max(within), completion })
}

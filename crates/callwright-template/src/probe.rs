//! Conversations that are rendered to find something out, and what a model must have written for one to look as it
//! does.

use std::cell::Cell;

use callwright::json;
use callwright::value::Value;

use crate::template::{EOS, Template, TemplateError};
use crate::token::{common_prefix, common_suffix, tokens};

/// The words of a user. No template has them, and no template changes their letters.
pub(crate) const ASKED: &str = "zqasked";
/// The words of a system prompt.
pub(crate) const RULED: &str = "zqruled";
/// The words of an assistant.
pub(crate) const SAID: &str = "zqsaid";
/// The thoughts of an assistant.
pub(crate) const THOUGHT: &str = "zqthought";

/// The most prompts that are rendered for one template.
const MAX_PROMPTS: usize = 256;

/// A call for a template to write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Call {
    pub(crate) fn new(name: &str, arguments: Value) -> Call {
        Call { name: name.to_owned(), arguments }
    }
}

/// The manner in which a template wants calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Arguments are JSON text, as on the wire. They are an object otherwise.
    pub(crate) as_text: bool,
    /// The id names the tool, as in `functions.f:0`. The template then writes the id alone.
    pub(crate) by_id: bool,
}

/// The id of the `n`th call of a conversation, counted from 0: nine letters and digits, which some templates insist on.
pub(crate) fn id_of(n: usize) -> String {
    format!("zqcall{n:03}")
}

impl Manner {
    /// All of them, the likeliest first.
    pub(crate) const ALL: [Manner; 4] = [
        Manner { as_text: false, by_id: false },
        Manner { as_text: true, by_id: false },
        Manner { as_text: false, by_id: true },
        Manner { as_text: true, by_id: true },
    ];

    /// Returns whether it is the last one in which the id says nothing.
    pub(crate) fn is_last_by_name(self) -> bool {
        self.as_text && !self.by_id
    }

    fn id(self, call: &Call, n: usize) -> String {
        if self.by_id { format!("functions.{}:{n}", call.name) } else { id_of(n) }
    }

    /// The assistant's turn that makes `calls`.
    pub(crate) fn turn(self, said: &str, calls: &[Call]) -> Value {
        let written = |(n, call): (usize, &Call)| {
            let arguments = match self.as_text {
                true => Value::from(call.arguments.to_string()),
                false => call.arguments.clone(),
            };
            json!({"id": self.id(call, n), "type": "function", "function": {"name": call.name, "arguments": arguments}})
        };
        let calls: Vec<Value> = calls.iter().enumerate().map(written).collect();
        json!({"role": "assistant", "content": said, "tool_calls": calls})
    }
}

/// Asks one template.
pub(crate) struct Probe<'t> {
    template: &'t Template,
    /// The number of prompts that may still be rendered.
    left: Cell<usize>,
}

impl<'t> Probe<'t> {
    pub(crate) fn new(template: &'t Template) -> Probe<'t> {
        Probe { template, left: Cell::new(MAX_PROMPTS) }
    }

    /// A prompt.
    pub(crate) fn render(
        &self,
        messages: &[Value],
        tools: &[Value],
        next: bool,
    ) -> Result<String, TemplateError> {
        let Some(left) = self.left.get().checked_sub(1) else { return Err(TemplateError::Endless) };
        let prompt = self.template.render(messages, tools, next);
        // What does not end once would not end each time.
        self.left.set(if prompt == Err(TemplateError::Endless) { 0 } else { left });
        prompt
    }

    /// Returns the texts between which answers stand where `tools` are on offer.
    ///
    /// # Errors
    /// The template gives no prompt for that.
    pub(crate) fn answers<'p>(&'p self, tools: &'p [Value]) -> Result<Answers<'p, 't>, TemplateError> {
        let asked = json!({"role": "user", "content": ASKED});
        let given = self.render(std::slice::from_ref(&asked), tools, true)?;
        let mut answers =
            Answers { probe: self, tools, asked, given, before: String::new(), behind: String::new() };
        let plain = answers.whole(json!({"role": "assistant", "content": SAID})).unwrap_or_default();
        if let Some((before, behind)) = plain.split_once(SAID) {
            (answers.before, answers.behind) = (before.to_owned(), behind.to_owned());
        }
        Ok(answers)
    }
}

/// The answers to one question.
pub(crate) struct Answers<'p, 't> {
    probe: &'p Probe<'t>,
    tools: &'p [Value],
    asked: Value,
    /// The prompt that the model gets.
    pub(crate) given: String,
    /// The texts before and behind plain words: an empty thought, the end of the turn.
    pub(crate) before: String,
    behind: String,
}

impl Answers<'_, '_> {
    /// Returns the words of a model whose turn is `turn`: all behind its prompt and its thoughts, up to the end of its turn.
    pub(crate) fn written(&self, turn: Value) -> Result<String, TemplateError> {
        let text = self.whole(turn)?;
        let text = text.strip_prefix(self.before.trim_end()).unwrap_or(&text);
        let text = &text[..text.len() - self.end_of(text)];
        Ok(text.split(EOS).next().unwrap_or_default().to_owned())
    }

    /// Returns the length of the end of `text` that ends its turn, as it ends one of plain words.
    fn end_of(&self, text: &str) -> usize {
        let shared = common_suffix(text, &self.behind);
        if shared == self.behind.len() {
            return shared;
        }
        let is_word = |text: &str| text[..text.len() - shared].ends_with(char::is_alphanumeric);
        // `<|close|>tools<|sep|>` and `<|close|>response<|sep|>` have their last token for themselves.
        let first = tokens(&text[text.len() - shared..]).first().map_or(0, |token| token.len());
        if is_word(text) && is_word(&self.behind) { shared - first } else { shared }
    }

    /// All of `turn` that stands behind the prompt for it.
    pub(crate) fn whole(&self, turn: Value) -> Result<String, TemplateError> {
        let whole = self.probe.render(&[self.asked.clone(), turn], self.tools, false)?;
        Ok(whole[common_prefix(&whole, &self.given)..].to_owned())
    }
}

//! Calls and results of old turns, as servers demand them. Each call has one result right behind its turn, each result has its
//! call, and no turn is empty.

use std::borrow::Cow;

use callwright_json::{Kind, Value, quote};

use crate::surface::conversation::{NO_RESULT, earlier_result, text};
use crate::wire::{Change, Document, array, changed, object, rewritten, string_of};

/// The form in which a conversation holds calls and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A call is a member of the message, `tool_calls`, and a result a message of the role `tool`.
    Chat,
    /// Both are blocks: `tool_use` in the model's turn, `tool_result` in the user's.
    Messages,
}

/// Gives each old call one result, and leaves out results without a call and empty turns. Applies `change` to each message. None
/// if nothing changes.
pub(crate) fn settled<'d>(
    form: Form,
    messages: impl Iterator<Item = Value<'d>> + Clone,
    change: impl Fn(Value<'_>) -> Option<String>,
) -> Option<String> {
    if let Some(fewer) = without_empty_turns(form, messages.clone()) {
        let document = Document::of(fewer).ok()?;
        let settled =
            settled(form, document.root().elements(), &change as &dyn Fn(Value<'_>) -> Option<String>);
        return settled.or_else(|| Some(document.text().to_owned()));
    }
    let rounds = rounds(messages.clone());
    let unsettled: Vec<bool> = rounds
        .iter()
        .enumerate()
        .map(|(at, round)| !round.is_settled(form, at + 1 == rounds.len()))
        .collect();
    if !unsettled.contains(&true) {
        return changed(messages, change);
    }
    let made = |value: Value<'d>| change(value).map_or(Cow::Borrowed(value.raw()), Cow::Owned);
    Some(array(rounds.iter().zip(unsettled).flat_map(|(round, is_unsettled)| {
        let turn = round.turn.iter().copied().map(made);
        let behind = match is_unsettled {
            false => round.behind.iter().copied().map(made).collect(),
            true => round.settled(form, made),
        };
        turn.chain(behind).collect::<Vec<_>>()
    })))
}

/// Leaves out the model's empty messages; none if all say something. The last message may be the beginning of an answer.
fn without_empty_turns<'d>(form: Form, messages: impl Iterator<Item = Value<'d>> + Clone) -> Option<String> {
    let n_all = messages.clone().count();
    let is_left_out = |(at, message): &(usize, Value<'_>)| at + 1 < n_all && says_nothing(*message);
    messages.clone().enumerate().find(is_left_out)?;
    let mut kept: Vec<Cow<'d, str>> = Vec::new();
    // What the user said in front of such a turn, where it is a text.
    let mut said: Option<Cow<'d, str>> = None;
    let mut is_gap = false;
    for (at, message) in messages.enumerate() {
        if is_left_out(&(at, message)) {
            is_gap = true;
            continue;
        }
        let is_user = is_of(message, "user");
        match said.take().filter(|_| is_gap && is_user && form == Form::Chat) {
            // Templates want turns that alternate.
            Some(before) => {
                kept.pop();
                kept.push(Cow::Owned(with_words(Some(message), &before)));
            }
            None => kept.push(Cow::Borrowed(message.raw())),
        }
        is_gap = false;
        said = string_of(message, "content").filter(|_| is_user);
    }
    Some(array(kept))
}

/// Returns whether a message of the model has nothing but its role: `{"role": "assistant", "content": ""}`.
fn says_nothing(message: Value<'_>) -> bool {
    let is_nothing = |value: Value<'_>| match value.kind() {
        Kind::Null => true,
        Kind::String => value.as_str().is_some_and(|text| text.is_empty()),
        Kind::Array => {
            value.elements().all(|part| string_of(part, "text").is_some_and(|text| text.is_empty()))
        }
        _ => false,
    };
    is_of(message, "assistant")
        && message
            .members()
            .all(|(key, value)| key.as_str().is_some_and(|key| key == "role") || is_nothing(value))
}

/// A turn of the model, in one message or several, and the messages behind it, up to its next turn.
#[derive(Default)]
struct Round<'d> {
    /// Empty before its first turn.
    turn: Vec<Value<'d>>,
    behind: Vec<Value<'d>>,
}

fn rounds<'d>(messages: impl Iterator<Item = Value<'d>>) -> Vec<Round<'d>> {
    let (mut rounds, mut last) = (Vec::new(), Round::default());
    for message in messages {
        if !is_of(message, "assistant") {
            last.behind.push(message);
            continue;
        }
        if !last.behind.is_empty() {
            rounds.push(std::mem::take(&mut last));
        }
        last.turn.push(message);
    }
    rounds.push(last);
    rounds
}

impl<'d> Round<'d> {
    /// Returns the ids of the turn's calls; none for a call without an id.
    fn calls(&self, form: Form) -> impl Iterator<Item = Option<Cow<'d, str>>> {
        let key = match form {
            Form::Chat => "tool_calls",
            Form::Messages => "content",
        };
        let calls = self.turn.iter().filter_map(move |turn| turn.get(key)).flat_map(Value::elements);
        let is_call = move |call: &Value<'d>| form == Form::Chat || is_a(*call, "tool_use");
        calls.filter(is_call).map(|call| string_of(call, "id"))
    }

    /// Returns the parts behind the turn: its messages, or the blocks of the user's. A content that is a text counts as one.
    fn parts(&self, form: Form) -> impl Iterator<Item = Value<'d>> {
        self.behind.iter().flat_map(move |message| match (form, message.get("content")) {
            (Form::Chat, _) => vec![*message],
            (Form::Messages, Some(content)) if is_of(*message, "user") => match content.kind() {
                Kind::Array => content.elements().collect(),
                _ => vec![content],
            },
            (Form::Messages, _) => Vec::new(),
        })
    }

    /// Returns whether each call has one result right behind the turn, and each result its call. Without ids the order counts, as
    /// it does for servers. The calls of the last turn may have no result yet.
    fn is_settled(&self, form: Form, is_last: bool) -> bool {
        let results = self.parts(form).filter(|part| form.is_result(*part));
        let Some(mut open) = self.calls(form).collect::<Option<Vec<_>>>() else { return true };
        let Some(results) = results.map(|result| form.called_by(result)).collect::<Option<Vec<_>>>() else {
            return true;
        };
        let are_first = self.parts(form).take(results.len()).all(|part| form.is_result(part));
        let mut is_answer = |result: &Cow<'d, str>| {
            let at = open.iter().position(|call| call == result);
            at.map(|at| open.swap_remove(at)).is_some()
        };
        let are_answers = results.iter().all(&mut is_answer);
        are_first && are_answers && (open.is_empty() || is_last && self.behind.is_empty())
    }

    /// Returns the messages behind the turn: one result for each of its calls, and the other words, with results of no call among
    /// them.
    fn settled(&self, form: Form, made: impl Fn(Value<'d>) -> Cow<'d, str>) -> Vec<Cow<'d, str>> {
        let (mut results, said): (Vec<_>, Vec<_>) = self.parts(form).partition(|part| form.is_result(*part));
        let mut settled = Vec::new();
        for call in self.calls(form).flatten() {
            let is_its = |result: &mut Value<'d>| form.called_by(*result).is_some_and(|id| id == call);
            // Of two for one call, the last one counts.
            settled.push(match (results.extract_if(.., is_its).last(), form) {
                (Some(result), Form::Chat) => made(result),
                (Some(result), Form::Messages) => Cow::Borrowed(result.raw()),
                (None, form) => Cow::Owned(form.result(&call, NO_RESULT)),
            });
        }
        let lost = results.into_iter().map(|result| {
            earlier_result(&form.called_by(result).unwrap_or_default(), &text(result.get("content")))
        });
        let lost = lost.collect::<Vec<_>>().join("\n\n");
        match form {
            Form::Chat => {
                let mut said = said.into_iter().peekable();
                if !lost.is_empty() {
                    // Templates want turns that alternate.
                    let user = said.next_if(|first| is_of(*first, "user"));
                    settled.push(Cow::Owned(with_words(user, &lost)));
                }
                settled.extend(said.map(made));
                settled
            }
            Form::Messages => {
                let block = |text: &str| object([("type", quote("text")), ("text", quote(text))]);
                settled.extend((!lost.is_empty()).then(|| Cow::Owned(block(&lost))));
                settled.extend(said.into_iter().map(|part| match part.as_str() {
                    Some(text) => Cow::Owned(block(&text)),
                    None => Cow::Borrowed(part.raw()),
                }));
                let user = Cow::Owned(object([("role", quote("user")), ("content", array(settled))]));
                let others = self.behind.iter().copied().filter(|message| !is_of(*message, "user"));
                std::iter::once(user).chain(others.map(made)).collect()
            }
        }
    }
}

impl Form {
    fn is_result(self, part: Value<'_>) -> bool {
        match self {
            Form::Chat => is_of(part, "tool"),
            Form::Messages => is_a(part, "tool_result"),
        }
    }

    /// Returns the id of a result's call.
    fn called_by(self, result: Value<'_>) -> Option<Cow<'_, str>> {
        string_of(
            result,
            match self {
                Form::Chat => "tool_call_id",
                Form::Messages => "tool_use_id",
            },
        )
    }

    fn result(self, call: &str, text: &str) -> String {
        match self {
            Form::Chat => {
                object([("role", quote("tool")), ("tool_call_id", quote(call)), ("content", quote(text))])
            }
            Form::Messages => object([
                ("type", quote("tool_result")),
                ("tool_use_id", quote(call)),
                ("content", quote(text)),
            ]),
        }
    }
}

/// Puts `words` in front of the user's message, or makes a message of them alone.
fn with_words(user: Option<Value<'_>>, words: &str) -> String {
    let Some(user) = user else { return object([("role", quote("user")), ("content", quote(words))]) };
    let content = user.get("content");
    let put = match (content.and_then(Value::as_str), content) {
        (Some(text), _) => quote(&format!("{words}\n\n{text}")),
        (None, content) => {
            let parts = content.into_iter().flat_map(Value::elements).map(|part| Cow::Borrowed(part.raw()));
            let first = object([("type", quote("text")), ("text", quote(words))]);
            array(std::iter::once(Cow::Owned(first)).chain(parts))
        }
    };
    rewritten(user, &[("content", Change::Set(put))])
}

fn is_of(message: Value<'_>, role: &str) -> bool {
    string_of(message, "role").is_some_and(|own| own == role)
}

fn is_a(block: Value<'_>, kind: &str) -> bool {
    string_of(block, "type").is_some_and(|own| own == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"role": "user", "content": "x"}"#;

    fn made(form: Form, messages: &[&str]) -> Option<String> {
        let document = Document::of(array(messages)).unwrap();
        settled(form, document.root().elements(), |_| None)
    }

    #[test]
    fn each_old_call_has_one_result_and_each_result_its_call() {
        let turn = r#"{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}"#;
        let result = |id: &str| format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "12"}}"#);
        let (a, b) = (result("a"), result("b"));
        for settled in [&[USER, turn, &a, USER][..], &[USER, turn], &[USER, turn, &a], &[USER]] {
            assert_eq!(made(Form::Chat, settled), None, "{settled:?}");
        }
        let none = r#"{"role":"tool","tool_call_id":"a","content":"no result was recorded"}"#;
        let lost = r#"{"role":"user","content":"Result of an earlier call b: 12\n\nx"}"#;
        let alone = r#"{"role":"user","content":"Result of an earlier call b: 12"}"#;
        for (messages, expected) in [
            (&[USER, turn, USER][..], array([USER, turn, none, USER])),
            (&[USER, turn, USER, &a], array([USER, turn, &a, USER])),
            (&[USER, turn, &a, &b, USER], array([USER, turn, &a, lost])),
            (&[USER, &b], array([lost])),
            (&[USER, turn, &b], array([USER, turn, none, alone])),
            (&[USER, turn, &a, &a, USER], array([USER, turn, &a, USER])),
        ] {
            assert_eq!(made(Form::Chat, messages).as_deref(), Some(&*expected), "{messages:?}");
        }
    }

    #[test]
    fn blocks_have_the_same_rule() {
        let turn = r#"{"role": "assistant", "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]}"#;
        let said = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
        let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"12"}}"#);
        let (a, b) = (result("a"), result("b"));
        let x = r#"{"type":"text","text":"x"}"#;
        let answered = said(&format!("{a},{x}"));
        for settled in
            [&[USER, turn, &*answered, turn][..], &[USER, turn], &[USER, turn, &*said(&a), USER], &[USER]]
        {
            assert_eq!(made(Form::Messages, settled), None, "{settled:?}");
        }
        let none = r#"{"type":"tool_result","tool_use_id":"a","content":"no result was recorded"}"#;
        let lost = r#"{"type":"text","text":"Result of an earlier call b: 12"}"#;
        for (messages, expected) in [
            (&[USER, turn, USER][..], array([USER, turn, &*said(&format!("{none},{x}"))])),
            (&[USER, turn, &*said(&format!("{x},{a}"))], array([USER, turn, &*said(&format!("{a},{x}"))])),
            (&[&*said(&b), turn], array([&*said(lost), turn])),
            (&[USER, turn, &*said(&b)], array([USER, turn, &*said(&format!("{none},{lost}"))])),
        ] {
            assert_eq!(made(Form::Messages, messages).as_deref(), Some(&*expected), "{messages:?}");
        }
    }

    #[test]
    fn turns_of_nothing_are_left_out() {
        let nothing = r#"{"role": "assistant", "content": ""}"#;
        let null = r#"{"role": "assistant", "content": null, "tool_calls": []}"#;
        let blocks = r#"{"role": "assistant", "content": [{"type": "text", "text": ""}]}"#;
        let thought = r#"{"role": "assistant", "content": "", "reasoning_content": "hm"}"#;
        let both = r#"{"role":"user","content":"x\n\nx"}"#;
        for form in [Form::Chat, Form::Messages] {
            assert_eq!(made(form, &[USER, thought, USER]), None);
            // The beginning of an answer.
            assert_eq!(made(form, &[USER, nothing]), None);
        }
        for empty in [nothing, null, blocks] {
            assert_eq!(made(Form::Chat, &[USER, empty, USER]), Some(array([both])));
            assert_eq!(made(Form::Messages, &[USER, empty, USER]), Some(array([USER, USER])));
        }
    }
}

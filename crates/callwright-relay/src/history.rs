//! Old turns of a request: servers parse the arguments of old calls again, and one that is broken fails every
//! later request of its session. Whatever is broken there is repaired, or made harmless, before it goes upstream.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use callwright::{ToolSet, heal};
use callwright_json::{Kind, Value, is_object, quote};
use foldhash::fast::RandomState;

use crate::bridge::text;
use crate::surface::conversation::{NO_RESULT, earlier_result};
use crate::wire::{Change, array, object, rewritten, string_of};

/// The messages with all arguments of old calls as JSON texts of objects, one result behind each old call, and no result
/// without a call; `None` where they are that already.
pub(crate) fn repaired<'d>(
    messages: impl Iterator<Item = Value<'d>> + Clone,
    tool_set: &ToolSet,
) -> Option<String> {
    let change = |message: Value<'d>| repaired_message(message, tool_set);
    let rounds = rounds(messages.clone());
    let n = rounds.len();
    if rounds.iter().enumerate().all(|(at, round)| round.is_settled(at + 1 == n)) {
        return changed(messages, change);
    }
    let made = |value: Value<'d>| change(value).map_or(Cow::Borrowed(value.raw()), Cow::Owned);
    Some(array(rounds.iter().enumerate().flat_map(|(at, round)| match round.is_settled(at + 1 == n) {
        true => round.turn.iter().chain(&round.behind).copied().map(made).collect::<Vec<_>>(),
        false => round.settled(made),
    })))
}

/// What the model says, in one message or several, and what stands behind that, up to its next turn.
#[derive(Default)]
struct Round<'d> {
    /// None before its first turn.
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
    /// The ids of the calls of the turn; none of one that has none.
    fn calls(&self) -> impl Iterator<Item = Option<Cow<'d, str>>> {
        let calls = self.turn.iter().filter_map(|turn| turn.get("tool_calls"));
        calls.flat_map(Value::elements).map(|call| string_of(call, "id"))
    }

    /// Returns whether each call has one result right behind the turn, and each result its call; also where one of them has no
    /// id, as for servers that go by the order. The calls of the last turn may have none yet.
    fn is_settled(&self, is_last: bool) -> bool {
        let ids =
            || self.behind.iter().filter(|message| is_result(**message)).map(|result| called_by(*result));
        let Some(mut open) = self.calls().collect::<Option<Vec<_>>>() else { return true };
        let Some(results) = ids().collect::<Option<Vec<_>>>() else { return true };
        let are_first = self.behind.iter().take(results.len()).all(|message| is_result(*message));
        let mut is_answer = |result: &Cow<'d, str>| {
            let at = open.iter().position(|call| call == result);
            at.map(|at| open.swap_remove(at)).is_some()
        };
        let are_answers = results.iter().all(&mut is_answer);
        are_first && are_answers && (open.is_empty() || is_last && self.behind.is_empty())
    }

    /// The turn, one result for each of its calls, and what else is said, with the results of no call as words of it.
    fn settled(&self, made: impl Fn(Value<'d>) -> Cow<'d, str>) -> Vec<Cow<'d, str>> {
        let (mut results, mut said): (Vec<_>, Vec<_>) =
            self.behind.iter().copied().partition(|message| is_result(*message));
        let mut settled: Vec<_> = self.turn.iter().copied().map(&made).collect();
        for call in self.calls().flatten() {
            let is_its = |result: &mut Value<'d>| called_by(*result).is_some_and(|id| id == call);
            // Of two for one call, the last one counts.
            settled.push(match results.extract_if(.., is_its).last() {
                Some(result) => made(result),
                None => Cow::Owned(object([
                    ("role", quote("tool")),
                    ("tool_call_id", quote(&call)),
                    ("content", quote(NO_RESULT)),
                ])),
            });
        }
        let lost = results.into_iter().map(|result| {
            let id = called_by(result).unwrap_or_default();
            earlier_result(&id, &text(result.get("content")))
        });
        let lost = lost.collect::<Vec<_>>().join("\n\n");
        if !lost.is_empty() {
            // Templates want turns that alternate.
            let user = said.first().copied().filter(|first| is_of(*first, "user"));
            if user.is_some() {
                said.remove(0);
            }
            settled.push(Cow::Owned(with_words(user, &lost)));
        }
        settled.extend(said.into_iter().map(made));
        settled
    }
}

/// The user's message with `words` in front of what it says; one of them alone where there is none.
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

fn is_result(message: Value<'_>) -> bool {
    is_of(message, "tool")
}

/// The id of the call that a result is of.
fn called_by(result: Value<'_>) -> Option<Cow<'_, str>> {
    string_of(result, "tool_call_id")
}

/// The array of `values` with what `change` makes of them; `None` where it makes nothing of any. A long history in
/// which nothing is broken, the common case, is only looked at.
pub(crate) fn changed<'d>(
    values: impl Iterator<Item = Value<'d>> + Clone,
    change: impl Fn(Value<'d>) -> Option<String>,
) -> Option<String> {
    let made = |value: Value<'d>| change(value).map_or(Cow::Borrowed(value.raw()), Cow::Owned);
    let (n, first) = values.clone().enumerate().find_map(|(n, value)| Some((n, change(value)?)))?;
    let before = values.clone().take(n).map(|value| Cow::Borrowed(value.raw()));
    Some(array(before.chain([Cow::Owned(first)]).chain(values.skip(n + 1).map(made))))
}

fn repaired_message(message: Value<'_>, tool_set: &ToolSet) -> Option<String> {
    if let Some(old) = message.get("function_call").filter(|call| call.kind() == Kind::Object) {
        return Some(rewritten(
            message,
            &[("function_call", Change::Set(repaired_function(old, tool_set)?))],
        ));
    }
    let calls = message.get("tool_calls")?;
    let repaired_call = |call: Value<'_>| {
        let function = repaired_function(call.get("function")?, tool_set)?;
        Some(rewritten(call, &[("function", Change::Set(function))]))
    };
    let calls = changed(calls.elements(), repaired_call)?;
    Some(rewritten(message, &[("tool_calls", Change::Set(calls))]))
}

/// A function, or whatever else has its name and arguments, with these as the JSON text of an object; `None` where they are.
pub(crate) fn repaired_function(function: Value<'_>, tool_set: &ToolSet) -> Option<String> {
    let arguments = function.get("arguments");
    if arguments.is_some_and(|arguments| RIGHT.spells_object(arguments)) {
        return None;
    }
    let put = match (arguments.and_then(Value::as_str), arguments) {
        (Some(text), _) if matches!(text.trim(), "" | "null" | "[]") => String::from("{}"),
        (Some(text), _) => {
            let tool = string_of(function, "name").and_then(|name| tool_set.get(&name));
            let healed =
                heal(&text, tool.map(|tool| tool.schema()), None).or_else(|_| heal(&text, None, None));
            match healed.ok().map(|healed| healed.text).filter(|text| is_object(text)) {
                Some(text) => text,
                // What cannot be read is kept, under a name of its own.
                None => format!("{{\"unreadable_arguments\":{}}}", quote(&text)),
            }
        }
        // The object itself where its text belongs.
        (None, Some(value)) if value.kind() == Kind::Object => value.raw().to_owned(),
        (None, Some(value)) if !matches!(value.raw(), "null" | "[]") => {
            format!("{{\"unreadable_arguments\":{}}}", value.raw())
        }
        (None, _) => String::from("{}"),
    };
    Some(rewritten(function, &[("arguments", Change::Set(quote(&put)))]))
}

/// A session says all of its calls again with each request.
static RIGHT: LazyLock<Right> = LazyLock::new(Right::default);

/// The hashes of arguments that were right, whoever sent them.
///
/// Each has one slot, so that the table neither grows nor locks: what was overwritten is read again. Two texts of one hash,
/// whose key each process draws for itself, cost a repair and never a call.
struct Right {
    hasher: RandomState,
    slots: Box<[AtomicU64]>,
}

impl Default for Right {
    fn default() -> Right {
        /// The calls of some hundred sessions, in 64 KiB.
        const SLOTS: usize = 8192;
        Right { hasher: RandomState::default(), slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Right {
    /// As [`Value::spells_object`] has it.
    fn spells_object(&self, value: Value<'_>) -> bool {
        // None is that of an empty slot.
        let hash = self.hasher.hash_one(value.raw()) | 1;
        let Some(slot) = self.slots.get((hash >> 1) as usize % self.slots.len()) else { return false };
        slot.load(Relaxed) == hash
            || value.spells_object() && {
                slot.store(hash, Relaxed);
                true
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Document;

    fn arguments(old: &str) -> Option<String> {
        let tools =
            r#"[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]"#;
        let tool_set = ToolSet::from_json(tools).unwrap();
        let messages = format!(
            r#"[{{"role": "user", "content": "x"}}, {{"role": "assistant", "tool_calls": [{{"id": "1", "function": {{"name": "f", "arguments": {old}}}}}]}}]"#
        );
        let document = Document::of(messages).unwrap();
        let repaired = Document::of(repaired(document.root().elements(), &tool_set)?).unwrap();
        let message = repaired.root().elements().nth(1).unwrap();
        let call = message.get("tool_calls").unwrap().elements().next().unwrap();
        assert_eq!(string_of(call, "id").unwrap(), "1");
        Some(string_of(call.get("function").unwrap(), "arguments").unwrap().into_owned())
    }

    #[test]
    fn each_old_call_has_one_result_and_each_result_its_call() {
        let turn = r#"{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}"#;
        let result = |id: &str| format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "12"}}"#);
        let user = r#"{"role": "user", "content": "x"}"#;
        let made = |messages: &[&str]| {
            let document = Document::of(array(messages)).unwrap();
            repaired(document.root().elements(), &ToolSet::empty())
        };
        let (a, b) = (result("a"), result("b"));
        for settled in [&[user, turn, &a, user][..], &[user, turn], &[user, turn, &a], &[user]] {
            assert_eq!(made(settled), None, "{settled:?}");
        }
        let none = r#"{"role":"tool","tool_call_id":"a","content":"no result was recorded"}"#;
        let lost = r#"{"role":"user","content":"Result of an earlier call b: 12\n\nx"}"#;
        let alone = r#"{"role":"user","content":"Result of an earlier call b: 12"}"#;
        for (messages, expected) in [
            (&[user, turn, user][..], array([user, turn, none, user])),
            (&[user, turn, user, &a], array([user, turn, &a, user])),
            (&[user, turn, &a, &b, user], array([user, turn, &a, lost])),
            (&[user, &b], array([lost])),
            (&[user, turn, &b], array([user, turn, none, alone])),
            (&[user, turn, &a, &a, user], array([user, turn, &a, user])),
        ] {
            assert_eq!(made(messages).as_deref(), Some(&*expected), "{messages:?}");
        }
    }

    #[test]
    fn old_arguments_always_become_the_text_of_an_object() {
        // The second time from memory.
        assert_eq!(arguments(r#""{\"a\": \"x\"}""#), None);
        assert_eq!(arguments(r#""{\"a\": \"x\"}""#), None);
        for (old, expected) in [
            (r#""{\"a\": \"x\"""#, r#"{"a": "x"}"#),
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            (r#""""#, "{}"),
            ("null", "{}"),
            (r#""null""#, "{}"),
            (r#""[]""#, "{}"),
            ("[]", "{}"),
            (r#""no json""#, r#"{"unreadable_arguments":"no json"}"#),
            (r#""{\"a\": \"x""#, r#"{"unreadable_arguments":"{\"a\": \"x"}"#),
        ] {
            assert_eq!(arguments(old).as_deref(), Some(expected), "{old}");
        }
    }
}

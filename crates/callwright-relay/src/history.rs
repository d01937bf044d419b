//! Old turns of a request. Servers parse the arguments of old calls again, and a broken one fails every later request of its
//! session. All that is broken there is repaired, or made harmless, before it goes upstream.

mod items;
mod settled;

use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use callwright::{ToolSet, heal};
use callwright_json::{Kind, Value, is_object, quote};
use foldhash::fast::RandomState;

pub(crate) use self::items::answered;
pub(crate) use self::settled::{Form, settled};
use crate::wire::{Change, changed, rewritten, string_of};

/// Makes all arguments of old calls JSON texts of objects, and orders calls and results as [`settled()`] does. None if the messages
/// need no change.
pub(crate) fn repaired<'d>(
    messages: impl Iterator<Item = Value<'d>> + Clone,
    tool_set: &ToolSet,
) -> Option<String> {
    settled(Form::Chat, messages, |message| repaired_message(message, tool_set))
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

/// Writes a function with its arguments as the JSON text of an object; `None` if they are that.
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

/// The arguments that were right: a session repeats all of its calls with each request.
static RIGHT: LazyLock<Right> = LazyLock::new(Right::default);

/// The hashes of arguments that were right, whoever sent them.
///
/// Each hash has one slot, so that the table neither grows nor locks: overwritten arguments are read again. Two texts of one
/// hash, whose key each process draws for itself, cost a repair and never a call.
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
    /// Returns the same as [`Value::spells_object`].
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

//! The beginning of a conversation, by which its requests are known to belong together.

use std::hash::{DefaultHasher, Hash, Hasher};

use callwright_json::{Kind, Value};

use super::string_of;

/// Hashes the user's first words in a request of any API: `{"messages": [{"role": "user", "content": "Go."}, …]}`.
pub(crate) fn conversation_hash(request: Value<'_>) -> u64 {
    let said = ["messages", "input"].into_iter().find_map(|key| request.get(key));
    let is_user = |item: &Value<'_>| string_of(*item, "role").is_some_and(|role| role == "user");
    let first = said.map(|said| match said.kind() {
        Kind::Array => said.elements().find(is_user).unwrap_or(said),
        _ => said,
    });
    // Its keys are the same in each process, so that an upstream keeps what it has cached of a conversation.
    let mut hasher = DefaultHasher::new();
    first.map_or("", Value::raw).hash(&mut hasher);
    hasher.finish()
}

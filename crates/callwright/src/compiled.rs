//! Keeps what was compiled from a definition, for as long as the same definition may come again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Compiled definitions by their text: of tools, of schemas. Bounded, by 4,096 definitions and 16 MiB of their text: when it
/// is full it starts anew. Threads may share it.
///
/// ```
/// use callwright::{Compiled, ToolSet};
///
/// let compiled = Compiled::new(|text| ToolSet::from_json(text).map_err(|error| error.to_string()));
/// let tools = compiled.get(r#"[{"name": "f"}]"#);
/// assert!(tools.as_ref().as_ref().is_ok_and(|tools| tools.get("f").is_some()));
/// ```
#[derive(Debug)]
pub struct Compiled<T> {
    compile: fn(&str) -> Result<T, String>,
    kept: Mutex<Kept<T>>,
}

/// What a definition came to; an error is kept like anything else.
pub type Entry<T> = Arc<Result<T, String>>;

#[derive(Debug)]
struct Kept<T> {
    entries: HashMap<Box<str>, Entry<T>>,
    bytes: usize,
}

const MAX_ENTRIES: usize = 4096;
/// Of definition text; what is compiled from it is a small multiple of that.
const MAX_BYTES: usize = 16 << 20;

impl<T> Compiled<T> {
    /// Keeps nothing yet; `compile` makes what is not there, or says why it cannot.
    pub fn new(compile: fn(&str) -> Result<T, String>) -> Compiled<T> {
        Compiled { compile, kept: Mutex::new(Kept { entries: HashMap::new(), bytes: 0 }) }
    }

    /// What `definition` compiles to.
    pub fn get(&self, definition: &str) -> Entry<T> {
        if let Some(entry) = self.lock().entries.get(definition) {
            return Arc::clone(entry);
        }
        // Compiled outside the lock: two workers may do it twice, but none waits for another.
        let entry = Arc::new((self.compile)(definition));
        let mut kept = self.lock();
        if MAX_ENTRIES <= kept.entries.len() || MAX_BYTES < kept.bytes + definition.len() {
            kept.entries.clear();
            kept.bytes = 0;
        }
        kept.bytes += definition.len();
        kept.entries.insert(definition.into(), Arc::clone(&entry));
        entry
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept<T>> {
        // Nothing that is half done can be seen: each change is one insertion or one clearing.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

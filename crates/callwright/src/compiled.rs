//! Keeps compiled definitions, because the same definitions come again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Compiled definitions of tools or schemas by their text. It holds at most 4,096 definitions and 16 MiB of their text,
/// and starts anew when it is full. Threads may share it.
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

/// The compiled definition, or the error; both are kept.
pub type Entry<T> = Arc<Result<T, String>>;

#[derive(Debug)]
struct Kept<T> {
    entries: HashMap<Box<str>, Entry<T>>,
    bytes: usize,
}

const MAX_ENTRIES: usize = 4096;
/// Most bytes of definition text; the compiled form is a small multiple of that.
const MAX_BYTES: usize = 16 << 20;

impl<T> Compiled<T> {
    /// Makes an empty store. `compile` compiles a definition, or says why it cannot.
    pub fn new(compile: fn(&str) -> Result<T, String>) -> Compiled<T> {
        Compiled { compile, kept: Mutex::new(Kept { entries: HashMap::new(), bytes: 0 }) }
    }

    /// Returns the compiled `definition`.
    pub fn get(&self, definition: &str) -> Entry<T> {
        if let Some(entry) = self.lock().entries.get(definition) {
            return Arc::clone(entry);
        }
        // Compiles outside the lock: two workers may do it twice, but none waits for another.
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
        // No thread sees a half-done change: each change is one insertion or one clearing.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

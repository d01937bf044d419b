//! Python's part of a template besides the language itself: methods of its values, lists that grow, `tojson` as `json.dumps`
//! writes it, and the functions that chat templates are promised.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use crate::ordered::{ORDERED, written};

/// The most depth of a value that is written as JSON.
const MAX_DEPTH: usize = 128;
/// The day on which every template is rendered: what it says about itself must not depend on the clock.
pub(crate) const TODAY: &str = "2024-07-26";

/// Adds all of it to `environment`.
pub(crate) fn add_to(environment: &mut Environment<'_>) {
    // Nothing is no list, not even an empty one.
    environment.add_test("iterable", |value: Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable | ValueKind::String)
    });
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", |_: Rest<Value>| TODAY);
    environment.add_function(ORDERED, written);
    environment.add_function(LIST, |items: Value| -> Result<Value, Error> {
        let items = items.try_iter()?.collect();
        Ok(Value::from_object(List { items: Mutex::new(items) }))
    });
}

/// The function that makes a list that can grow of one that cannot. See [`growing`](super::source::growing).
pub(crate) const LIST: &str = "growing_list";

/// The message of `raise_exception`.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

fn raise_exception(message: Option<String>) -> Result<Value, Error> {
    let raised = Raised(message.unwrap_or_default());
    Err(Error::new(ErrorKind::InvalidOperation, "the template refuses the conversation").with_source(raised))
}

/// A list with Python's methods that change it.
#[derive(Debug)]
struct List {
    items: Mutex<Vec<Value>>,
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.lock().unwrap_or_else(PoisonError::into_inner).len())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        // INVARIANT: arguments are looked at before the lock is taken; one of them may be this list.
        let more: Vec<Value> = match (method, args) {
            ("append", [item]) | ("insert", [_, item]) => vec![item.clone()],
            ("extend", [items]) => items.try_iter()?.collect(),
            ("pop" | "clear", _) => Vec::new(),
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        };
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        match method {
            "insert" => {
                let at = args.first().and_then(Value::as_usize).unwrap_or(0).min(items.len());
                items.splice(at..at, more);
            }
            "clear" => items.clear(),
            "pop" => {
                let at = args.first().and_then(Value::as_usize).or_else(|| items.len().checked_sub(1));
                let out = at.filter(|at| *at < items.len()).map(|at| items.remove(at));
                return out.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "pop from an empty list"));
            }
            _ => items.extend(more),
        }
        Ok(Value::from(()))
    }
}

/// `json.dumps(value, ensure_ascii=False, …)`
pub(crate) fn tojson(value: &Value, indent: Option<Value>, options: &Kwargs) -> Result<String, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get::<Option<Value>>("indent")?,
    };
    let separators: Option<Vec<String>> = options.get("separators")?;
    let sort: Option<bool> = options.get("sort_keys")?;
    let _: Option<Value> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let indent = indent.and_then(|indent| indent.as_usize()).map(|indent| indent.min(16));
    let (between, behind_key) = match separators.as_deref() {
        Some([between, behind_key]) => (between.as_str(), behind_key.as_str()),
        _ if indent.is_some() => (",", ": "),
        _ => (", ", ": "),
    };
    let mut json = Json { out: String::new(), indent, between, behind_key, sort: sort.unwrap_or(false) };
    json.value(value, 0)?;
    Ok(json.out)
}

struct Json<'a> {
    out: String,
    indent: Option<usize>,
    between: &'a str,
    behind_key: &'a str,
    sort: bool,
}

impl Json<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if MAX_DEPTH <= depth {
            return Err(Error::new(ErrorKind::InvalidOperation, "the value is too deep"));
        }
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.out.push_str(&value.to_string()),
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.out.push('[');
                for (n, item) in items.iter().enumerate() {
                    self.separate(n, depth + 1);
                    self.value(item, depth + 1)?;
                }
                self.end(items.len(), depth, ']');
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort {
                    keys.sort();
                }
                self.out.push('{');
                for (n, key) in keys.iter().enumerate() {
                    self.separate(n, depth + 1);
                    self.string(&key.to_string());
                    self.out.push_str(self.behind_key);
                    self.value(&value.get_item(key)?, depth + 1)?;
                }
                self.end(keys.len(), depth, '}');
            }
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            _ => return Err(Error::new(ErrorKind::InvalidOperation, "the value is not JSON serializable")),
        }
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push_str(&callwright::value::Value::from(text).to_string());
    }

    fn separate(&mut self, n: usize, depth: usize) {
        if n != 0 {
            self.out.push_str(self.between);
        }
        self.line(depth);
    }

    fn end(&mut self, count: usize, depth: usize, close: char) {
        if count != 0 {
            self.line(depth);
        }
        self.out.push(close);
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }
}

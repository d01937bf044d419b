//! Keeps a template's values small: each value that an expression takes by its name is weighed, and so is each operation that
//! makes texts longer. All of it goes off one budget.
//!
//! A text grows without end only where it is taken up again: by a name, or by a filter that repeats what it is given.
//! Operators cannot be watched, but what they work on comes from names, from the source, or from such a filter.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};

/// The bytes that one prompt may take up, and those that it may take for each byte that goes in.
const MAX_WEIGHT: u64 = 32 << 20;
const WEIGHT_PER_BYTE: u64 = 256;
/// The weight of a value besides its text.
const NODE: u64 = 64;
/// The most depth of values, and the widest indent of a text.
const MAX_DEPTH: usize = 64;
const MAX_INDENT: usize = 256;
/// The most that may be multiplied: a number up to this, a text up to so many bytes.
pub(crate) const MAX_FACTOR: usize = 4096;
pub(crate) const MAX_REPEATED: usize = 64;

/// The functions that the source is given: see [`weighed`](crate::names::weighed).
pub(crate) const WEIGHED: &str = "weighed";
pub(crate) const FACTOR: &str = "factor";

/// A template takes up too much.
#[derive(Debug)]
pub(crate) struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the template's values get too large")
    }
}

impl std::error::Error for TooMuch {}

fn too_much() -> Error {
    Error::new(ErrorKind::InvalidOperation, "the template's values get too large").with_source(TooMuch)
}

/// The rest for one prompt.
#[derive(Clone, Debug)]
struct Budget(Arc<AtomicU64>);

impl Budget {
    fn take(&self, bytes: u64) -> Result<(), Error> {
        let less = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map(drop).map_err(|_| too_much())
    }

    /// Takes off what a value weighs, with all that is in it.
    fn weigh(&self, value: &Value) -> Result<(), Error> {
        let mut open = vec![(value.clone(), 0)];
        while let Some((value, depth)) = open.pop() {
            if MAX_DEPTH < depth {
                return Err(too_much());
            }
            match value.kind() {
                ValueKind::String => self.take(NODE + value.as_str().map_or(0, str::len) as u64)?,
                ValueKind::Seq | ValueKind::Iterable => {
                    let len = value.len().unwrap_or(0) as u64;
                    self.take(NODE.saturating_mul(1 + len))?;
                    if value.kind() == ValueKind::Seq {
                        open.extend(value.try_iter()?.map(|item| (item, depth + 1)));
                    }
                }
                ValueKind::Map => {
                    self.take(NODE * (1 + value.len().unwrap_or(0) as u64))?;
                    for key in value.try_iter()? {
                        open.push((value.get_item(&key)?, depth + 1));
                        open.push((key, depth + 1));
                    }
                }
                _ => self.take(NODE)?,
            }
        }
        Ok(())
    }

    fn text(&self, text: String) -> Result<Value, Error> {
        self.take(text.len() as u64)?;
        Ok(Value::from(text))
    }

    /// `text` with `args` in place of `%s`, `%d`, `%5.1f`; no width has three digits.
    fn format(&self, text: &str, args: &[Value]) -> Result<String, Error> {
        let digits = text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_digit));
        if digits || MAX_FACTOR < text.len() {
            return Err(too_much());
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut args = args.iter();
        while let Some((before, behind)) = rest.split_once('%') {
            out.push_str(before);
            let end = behind.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(behind.len());
            let (spec, kind) = behind.split_at(end);
            let kind = kind.chars().next().unwrap_or('%');
            rest = behind.get(end + kind.len_utf8()..).unwrap_or_default();
            if kind == '%' {
                out.push('%');
                continue;
            }
            let value = args.next().map_or_else(String::new, ToString::to_string);
            self.take(value.len() as u64)?;
            let width = spec.trim_start_matches('0').parse().unwrap_or(0);
            match spec.starts_with('0') {
                true => out.push_str(&format!("{value:0>width$}")),
                false => out.push_str(&format!("{value:>width$}")),
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Before a text is made in which each of `places` stands for `put`.
    fn replaced(&self, text: &str, from: &str, put: &str) -> Result<(), Error> {
        let places = if from.is_empty() { text.chars().count() + 1 } else { text.matches(from).count() };
        self.take((text.len() as u64).saturating_add((places as u64).saturating_mul(put.len() as u64)))
    }
}

/// Bounds what one prompt takes up that `size` bytes go into.
pub(crate) fn add_to(environment: &mut Environment<'_>, size: usize) {
    let budget = Budget(Arc::new(AtomicU64::new(MAX_WEIGHT + WEIGHT_PER_BYTE * size as u64)));
    let left = budget.clone();
    environment.add_function(WEIGHED, move |value: Value| left.weigh(&value).map(|()| value));
    environment.add_function(FACTOR, factor);
    // What may make a text of any length from a short one, and no chat template needs.
    for filter in ["pprint", "batch", "slice"] {
        environment.remove_filter(filter);
    }
    add_texts(environment, &budget);
    add_values(environment, &budget);
    environment.set_unknown_method_callback(move |state, value, method, args| {
        if let (Some(text), "replace", [from, put, ..]) = (value.as_str(), method, args) {
            budget.replaced(text, from.as_str().unwrap_or_default(), put.as_str().unwrap_or_default())?;
        }
        if method == "join" {
            args.iter().try_for_each(|items| budget.weigh(items))?;
            let len = args.first().and_then(Value::len).unwrap_or(0) as u64;
            budget.take(len.saturating_mul(value.as_str().map_or(0, str::len) as u64))?;
        }
        minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
    });
}

/// A value that may be multiplied, as it is.
fn factor(value: Value) -> Result<Value, Error> {
    let is_small = match value.kind() {
        ValueKind::String => value.as_str().is_some_and(|text| text.len() <= MAX_REPEATED),
        ValueKind::Number => value.as_usize().is_none_or(|number| number <= MAX_FACTOR),
        _ => false,
    };
    if is_small { Ok(value) } else { Err(too_much()) }
}

/// The filters that make a text of a text.
fn add_texts(environment: &mut Environment<'_>, budget: &Budget) {
    let left = budget.clone();
    environment.add_filter(
        "replace",
        move |text: String, from: String, put: String, count: Option<usize>| {
            left.replaced(&text, &from, &put)?;
            Ok::<_, Error>(
                count.map_or_else(|| text.replace(&from, &put), |count| text.replacen(&from, &put, count)),
            )
        },
    );
    let left = budget.clone();
    let indent = move |text: String,
                       width: Option<usize>,
                       first: Option<bool>,
                       blank: Option<bool>,
                       options: Kwargs|
          -> Result<String, Error> {
        let named = |given: Option<bool>, name: &str| match given {
            Some(given) => Ok(given),
            None => options.get::<Option<bool>>(name).map(|named| named.unwrap_or(false)),
        };
        let width = match width {
            Some(width) => width,
            None => options.get::<Option<usize>>("width")?.unwrap_or(4),
        };
        let (first, blank) = (named(first, "first")?, named(blank, "blank")?);
        options.assert_all_used()?;
        if MAX_INDENT < width {
            return Err(too_much());
        }
        left.take((text.len() + width * (1 + text.matches('\n').count())) as u64)?;
        Ok(indented(&text, width, first, blank))
    };
    environment.add_filter("indent", indent);
    let left = budget.clone();
    environment.add_filter("format", move |text: String, args: Rest<Value>| left.format(&text, &args));
}

/// The filters that make a text or a list of any value.
fn add_values(environment: &mut Environment<'_>, budget: &Budget) {
    let left = budget.clone();
    environment.add_filter("join", move |values: Value, between: Option<Value>, options: Kwargs| {
        options.assert_all_used()?;
        let between = between.map_or_else(String::new, |between| between.to_string());
        let mut out = String::new();
        for (n, value) in values.try_iter()?.enumerate() {
            left.weigh(&value)?;
            left.take(NODE + between.len() as u64)?;
            if n != 0 {
                out.push_str(&between);
            }
            out.push_str(&value.to_string());
        }
        Ok::<_, Error>(out)
    });
    let left = budget.clone();
    environment.add_filter("string", move |state: &State<'_, '_>, value: Value| {
        left.weigh(&value)?;
        let text = filters::string(state, &value)?;
        left.weigh(&text).map(|()| text)
    });
    let left = budget.clone();
    environment.add_filter("list", move |state: &State<'_, '_>, value: Value| {
        left.weigh(&value)?;
        filters::list(state, value)
    });
    let left = budget.clone();
    environment.add_filter("tojson", move |value: Value, indent: Option<Value>, options: Kwargs| {
        left.weigh(&value)?;
        left.text(crate::python::tojson(&value, indent, &options)?)
    });
}

fn indented(text: &str, width: usize, first: bool, blank: bool) -> String {
    let indent = " ".repeat(width);
    let line = |(n, line): (usize, &str)| match (n == 0 && !first) || (line.trim().is_empty() && !blank) {
        true => line.to_owned(),
        false => format!("{indent}{line}"),
    };
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

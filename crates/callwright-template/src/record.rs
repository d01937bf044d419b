//! A dialect's record from the form of its calls.

use callwright::{Argument, Dialect, Grammar, Marks, NameAt, Trim};

use crate::form::{Form, ID, KEY, NAME, Payload};

/// The record of a dialect called `name`, whose calls have this form.
///
/// # Errors
/// No record says this, in words.
pub(crate) fn of(form: &Form, name: &str) -> Result<Dialect, &'static str> {
    let mut dialect = Dialect::new(name.to_owned());
    dialect.section = marks(&form.section);
    dialect.call = marks(&form.call);
    dialect.name_at = match form.payload {
        Payload::Named | Payload::Calls => NameAt::Payload,
        Payload::Keyed => NameAt::Key,
        Payload::Json | Payload::Tags | Payload::Elements | Payload::Relaxed(_) => NameAt::Opener,
    };
    dialect.arguments = match form.payload {
        Payload::Named | Payload::Keyed | Payload::Json => Grammar::Json,
        Payload::Calls => Grammar::Calls,
        Payload::Tags => Grammar::Tags,
        Payload::Elements => Grammar::Elements,
        Payload::Relaxed(_) => Grammar::Relaxed,
    };
    match &form.payload {
        Payload::Tags => {
            let (open, close) = &form.argument;
            dialect.argument = Some(Argument { open: mark(open).into(), close: mark(close).into() });
            dialect.trim = match (form.around.0.as_str(), form.around.1.as_str()) {
                ("", "") => Trim::OwnLines,
                ("\n", "\n") => Trim::LineBreak,
                _ => Trim::All,
            };
        }
        Payload::Relaxed(string_mark) => dialect.string_mark = Some(string_mark.clone().into()),
        Payload::Named | Payload::Keyed | Payload::Json | Payload::Elements | Payload::Calls => {}
    }
    if dialect.call.open.is_empty() && dialect.section.open.is_empty() {
        return Err("nothing stands before a call");
    }
    Ok(dialect)
}

fn marks((open, close): &(String, String)) -> Marks {
    let marks = |text: &String| {
        Some(mark(text).into()).into_iter().filter(|mark: &callwright::Text| !mark.is_empty()).collect()
    };
    Marks { open: marks(open), close: marks(close) }
}

/// A marker as records have it: `{name}` for a name, one blank for any white space.
pub(crate) fn mark(text: &str) -> String {
    let mut mark = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            NAME => mark.push_str("{name}"),
            ID => mark.push_str("{id}"),
            KEY => mark.push_str("{key}"),
            c if c.is_whitespace() => {
                if !mark.ends_with(' ') {
                    mark.push(' ');
                }
            }
            c => mark.push(c),
        }
    }
    mark
}

//! The form of calls, as it shows in texts that hold known names, keys and values.
//!
//! In go answers in which a placeholder stands for each name, key and value; out comes a [`Form`]: what stands around
//! all calls, around one, around one argument, and what the arguments are written in.

use callwright::value::Value;

use crate::token::tokens;

/// Stands for a tool's name, a call's id, an argument's key, an argument's value.
pub(crate) const NAME: char = '\u{E000}';
pub(crate) const ID: char = '\u{E001}';
pub(crate) const KEY: char = '\u{E002}';
pub(crate) const VALUE: char = '\u{E003}';

/// Answers with placeholders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// One call with one argument, a text.
    pub(crate) one: String,
    /// One call with two such arguments.
    pub(crate) arguments: String,
    /// Two calls with one such argument each; none where the template takes only one.
    pub(crate) calls: Option<String>,
    /// One call with one argument, a number, for which the placeholder stands; none where that cannot be told.
    pub(crate) number: Option<String>,
}

/// The form of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// The texts before and behind all calls of an answer.
    pub(crate) section: (String, String),
    /// The texts before and behind one; with `{name}` and `{id}` in it.
    pub(crate) call: (String, String),
    /// The texts before and behind one argument, with `{key}` and `{type}`.
    pub(crate) argument: (String, String),
    /// The notation of the arguments.
    pub(crate) payload: Payload,
    /// The white space between an argument's marks and its value.
    pub(crate) around: (String, String),
}

/// The notation of arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Payload {
    /// JSON that holds the name.
    #[default]
    Named,
    /// JSON whose only key is the name.
    Keyed,
    /// JSON of the arguments alone.
    Json,
    /// Raw text between tags.
    Tags,
    /// Elements that are named for the arguments.
    Elements,
    /// Call expressions.
    Calls,
    /// Objects with bare keys, whose strings stand between two of these marks.
    Relaxed(String),
}

/// The form of `samples`.
///
/// # Errors
/// What of it could not be made out, in words.
pub(crate) fn form(samples: &Samples) -> Result<Form, &'static str> {
    let one = &samples.one;
    if let Some(json) = json_at(one, 0) {
        return with_json(samples, json);
    }
    let behind_name =
        one.split_once(NAME).map(|(_, behind)| behind.trim_start()).ok_or("no call names its tool")?;
    match behind_name.chars().next() {
        Some('(') => with_expression(samples),
        Some('{') => with_relaxed(samples),
        _ => with_tags(samples),
    }
}

/// JSON that holds an argument.
struct Found {
    at: usize,
    end: usize,
    value: Value,
}

/// The first JSON value from `from` on in which an argument's key stands.
fn json_at(text: &str, from: usize) -> Option<Found> {
    let rest = text.get(from..)?;
    rest.match_indices(['{', '[']).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Value>();
        let value = values.next()?.ok().filter(|value| has_key(value, KEY))?;
        Some(Found { at: from + at, end: from + at + values.byte_offset(), value })
    })
}

// Both go into values that the JSON reader bounded in depth.
fn has_key(value: &Value, key: char) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.starts_with(key) || has_key(value, key))
        }
        Value::Array(items) => items.iter().any(|item| has_key(item, key)),
        // Arguments as a text of their own.
        Value::String(text) => key == KEY && text.contains(key),
        _ => false,
    }
}

fn has_text(value: &Value, wanted: char) -> bool {
    match value {
        Value::Object(members) => members.values().any(|value| has_text(value, wanted)),
        Value::Array(items) => items.iter().any(|item| has_text(item, wanted)),
        Value::String(text) => text.contains(wanted),
        _ => false,
    }
}

fn with_json(samples: &Samples, first: Found) -> Result<Form, &'static str> {
    let one = &samples.one;
    let payload = if has_key(&first.value, NAME) {
        Payload::Keyed
    } else if has_text(&first.value, NAME) {
        Payload::Named
    } else {
        Payload::Json
    };
    if payload == Payload::Json && !one[..first.at].contains(NAME) {
        return Err("no call names its tool");
    }
    let single = Form {
        call: (one[..first.at].to_owned(), one[first.end..].to_owned()),
        payload: payload.clone(),
        ..Form::default()
    };
    let Some(two) = &samples.calls else { return Ok(single) };
    let Some(a) = json_at(two, 0) else { return Err("two calls do not look like one") };
    // `[{…}, {…}]`
    let Some(b) = json_at(two, a.end) else { return Ok(single) };
    let (section, call) = parted(&tokens(&two[..a.at]), &tokens(&two[a.end..b.at]), &tokens(&two[b.end..]));
    Ok(Form { section, call, payload, ..Form::default() })
}

/// Parts what stands around all calls from what stands around each: `before` stands in front of the first payload,
/// `between` the two, `behind` the second.
fn parted(before: &[&str], between: &[&str], behind: &[&str]) -> ((String, String), (String, String)) {
    // Numbers count the calls.
    let is_same = |(a, b): &(&&str, &&str)| a == b || is_number(a) && is_number(b);
    let named = |tokens: &[&str]| {
        let named = tokens.iter().zip(between.iter().skip(between.len() - tokens.len()));
        named.map(|(a, b)| if a == b { *a } else { "\u{E001}" }).collect::<String>()
    };
    let open = before.iter().rev().zip(between.iter().rev()).take_while(is_same).count();
    let most = between.len() - open;
    let close = between.iter().zip(behind.iter()).take(most).take_while(is_same).count();
    let (group, call) = before.split_at(before.len() - open);
    let (end, ungroup) = behind.split_at(close);
    ((group.concat(), ungroup.concat()), (named(call), end.concat()))
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

/// `f(a="x")`
fn with_expression(samples: &Samples) -> Result<Form, &'static str> {
    let (before, behind) = samples.one.split_once(NAME).ok_or("no call names its tool")?;
    let end = behind.rfind(')').ok_or("a call expression does not end")?;
    // A list's brackets belong to the payload.
    let open = before.trim_end().trim_end_matches('[');
    let close = behind[end + 1..].trim_start().trim_start_matches(']');
    Ok(Form { call: (open.to_owned(), close.to_owned()), payload: Payload::Calls, ..Form::default() })
}

/// `call:f{a:<|"|>x<|"|>}`
fn with_relaxed(samples: &Samples) -> Result<Form, &'static str> {
    const UNCLEAR: &str = "an object is neither JSON nor has it marks around its strings";
    let braces = |text: &str, from: usize| {
        let at = from + text[from..].find(NAME)?;
        let open = at + text[at..].find('{')?;
        let value = open + text[open..].find(VALUE)?;
        let close = value + text[value..].find('}')?;
        Some((open, close + 1))
    };
    let one = &samples.one;
    let (open, close) = braces(one, 0).ok_or(UNCLEAR)?;
    let inner = &one[open + 1..close - 1];
    let (before, behind) = inner.split_once(VALUE).ok_or(UNCLEAR)?;
    let (_, mark) = before.split_once(':').ok_or(UNCLEAR)?;
    if mark.is_empty() || mark != behind || !before.starts_with(KEY) {
        return Err(UNCLEAR);
    }
    let payload = Payload::Relaxed(mark.to_owned());
    let single = (one[..open].to_owned(), one[close..].to_owned());
    let two = samples.calls.as_deref().and_then(|two| {
        let a = braces(two, 0)?;
        let b = braces(two, a.1)?;
        Some(parted(&tokens(&two[..a.0]), &tokens(&two[a.1..b.0]), &tokens(&two[b.1..])))
    });
    let (section, call) = two.unwrap_or_else(|| (Default::default(), single));
    Ok(Form { section, call, payload, ..Form::default() })
}

/// `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`, `<a>x</a>`
fn with_tags(samples: &Samples) -> Result<Form, &'static str> {
    const UNCLEAR: &str = "what stands around an argument could not be told";
    let all = tokens(&samples.arguments);
    let place = |from: usize, wanted: char| {
        all.iter().skip(from).position(|token| token.contains(wanted)).map(|at| from + at)
    };
    let name = place(0, NAME).ok_or("no call names its tool")?;
    let key = place(name + 1, KEY).ok_or(UNCLEAR)?;
    let value = place(key, VALUE).ok_or(UNCLEAR)?;
    let second = (value + 1..all.len()).filter(|at| all[*at].contains(KEY)).collect::<Vec<usize>>();
    // `<a>x</a>`: the key stands in both tags.
    let is_element = second.len() == 3;
    let next_key = *second.get(usize::from(is_element)).ok_or(UNCLEAR)?;
    let next_value = place(next_key, VALUE).ok_or(UNCLEAR)?;
    if all[value].chars().count() != 1 || next_value - next_key != value - key {
        return Err(UNCLEAR);
    }
    let (head, between, tail) = (&all[name + 1..key], &all[value + 1..next_key], &all[next_value + 1..]);
    let open = head.iter().rev().zip(between.iter().rev()).take_while(|(a, b)| a == b).count();
    let close = between.iter().zip(tail.iter()).take_while(|(a, b)| a == b).count();
    // White space between two arguments is shared.
    let close = close.min(between.len());
    let open = open.min(between.len() - close);
    let argument_open = [&head[head.len() - open..], &all[key..value]].concat().concat();
    let argument_close = between[..close].concat();
    let trailing = argument_open.len() - argument_open.trim_end().len();
    let around = (
        argument_open[argument_open.len() - trailing..].to_owned(),
        argument_close[..argument_close.len() - argument_close.trim_start().len()].to_owned(),
    );
    if argument_open.trim().is_empty() || argument_close.trim().is_empty() {
        return Err(UNCLEAR);
    }
    let argument_open = typed(samples, &argument_open, value - key).unwrap_or(argument_open);
    // The call's own marks: what is left on both sides.
    let call_open = [&all[..=name], &head[..head.len() - open]].concat().concat();
    let call_close = tail[close..].concat();
    let payload = if is_element { Payload::Elements } else { Payload::Tags };
    let two = samples.calls.as_deref().and_then(|two| {
        let all = tokens(two);
        let place = |from: usize, wanted: char| {
            all.iter().skip(from).position(|token| token.contains(wanted)).map(|at| from + at)
        };
        // Where the argument of the call begins and ends that is looked for from `from` on.
        let argument = |from: usize| {
            let key = place(place(from, NAME)? + 1, KEY)?;
            let end = place(key, VALUE)? + 1 + close;
            (end <= all.len()).then_some((key.checked_sub(open)?, end))
        };
        let first = argument(0)?;
        let second = argument(first.1)?;
        Some(parted(&all[..first.0], all.get(first.1..second.0)?, &all[second.1..]))
    });
    let (section, call) = two.unwrap_or_else(|| (Default::default(), (call_open, call_close)));
    Ok(Form { section, call, argument: (argument_open, argument_close), payload, around })
}

/// The opener of an argument with `{type}` where it differs for a number: `<parameter name="a" string="true">`.
fn typed(samples: &Samples, open: &str, len: usize) -> Option<String> {
    let number = tokens(samples.number.as_deref()?);
    let key = number.iter().position(|token| token.contains(KEY))?;
    let (text, number) = (tokens(open), number.get(key..key + len)?);
    let text = &text[text.len().checked_sub(len)?..];
    let differing: Vec<usize> = (0..len).filter(|at| text[*at] != number[*at]).collect();
    let [at] = differing.as_slice() else { return None };
    let (a, b) = (text[*at], number[*at]);
    let head: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    // `true` and `false` end alike: it is the whole word that differs.
    let start = a[..head]
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(0, |at| at + a[at..].chars().next().map_or(1, char::len_utf8));
    let end = start + a[start..].find(|c: char| !c.is_alphanumeric()).unwrap_or(a.len() - start);
    let mark = format!("{}{{type}}{}", a.get(..start)?, a.get(end..)?);
    Some(open.replacen(a, &mark, 1))
}

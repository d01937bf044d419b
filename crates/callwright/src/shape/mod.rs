//! Shapes: the forms in which a readable value is a call, given the declared tools.
//!
//! `{"name": "f", "arguments": {…}}`, `{"type": "function", "function": {…}}`, `{"f": {…}}`,
//! `{"name": "f", "a": 1}`, arguments alone, a list of any of these, any of these as text inside a string.
//! A value of no such shape is data.

pub(crate) mod keys;

use std::borrow::Cow;

use callwright_json::{Kind, Repair, RepairKind, Value, quote, strict};

use crate::marks::edit::is_one_slip;
use crate::payload::value::object_of;
use crate::tools::names::Names;
use crate::tools::{SCHEMA, Tool};
use crate::verdict::ShapeError;

/// Most calls in one value. `MAX_LEVELS` bounds the levels of lists and wrappers around a call.
const MAX_CALLS: usize = 1024;
const MAX_LEVELS: usize = 8;

/// One call in a value, or the fault that keeps it from being one.
#[derive(Debug)]
pub(crate) enum Shaped<'v, 't> {
    /// The value names a declared tool and holds its arguments.
    Call { tool: &'t Tool, written: Cow<'v, str>, arguments: Arguments<'v> },
    /// The value has the shape of a call, but no declared tool has this name.
    Unknown { written: Cow<'v, str> },
    /// The value has the shape of a call, but something is missing or of the wrong type.
    Wrong { written: Option<Cow<'v, str>>, error: ShapeError },
    /// The value repeats the definition of a tool, or records a call that was made: data.
    Echo,
}

/// The place of a call's arguments.
#[derive(Clone, Debug)]
pub(crate) enum Arguments<'v> {
    /// An object, without its wrapper, and the keys of the call that have a slip.
    Object(Value<'v>, Vec<Value<'v>>),
    /// Text that holds an object: `"{\"a\": 1}"`.
    Text(Cow<'v, str>),
    /// The members of an object beside the name.
    Flat(Vec<(Value<'v>, Value<'v>)>),
    /// The call has no arguments.
    None,
}

/// The signs around a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// Marks say that the value is a call.
    pub(crate) is_marked: bool,
    /// A repair added a closer in the middle of the value, so the text behind it may belong inside.
    pub(crate) is_closed_early: bool,
}

/// Returns the calls in `value`; empty for data.
pub(crate) fn calls_in<'v, 't>(value: Value<'v>, names: &'t Names<'_>, told: Told) -> Vec<Shaped<'v, 't>> {
    let (mut found, mut beside) = (Vec::new(), false);
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        if found.len() >= MAX_CALLS || MAX_LEVELS <= level {
            break;
        }
        match value.kind() {
            Kind::Object => match object(value, names, told) {
                Object::Call(shaped) => found.push(shaped),
                Object::Keyed(calls) => found.extend(calls),
                Object::Wrapper(inside) => open.push((inside, level + 1)),
                Object::Data => beside |= names.tools().iter().any(|tool| is_of(tool, value)),
            },
            Kind::Array => {
                let from = open.len();
                open.extend(value.elements().take(MAX_CALLS).map(|element| (element, level + 1)));
                open[from..].reverse();
            }
            Kind::String | Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }
    // `[{"a": 1}, {"name": "f", …}]`: the first may be another call's arguments.
    if beside && !found.is_empty() {
        found.push(Shaped::Wrong { written: None, error: ShapeError::NoName(Vec::new()) });
    }
    found
}

enum Object<'v, 't> {
    Call(Shaped<'v, 't>),
    /// `{"f": {…}, "g": {…}}`
    Keyed(Vec<Shaped<'v, 't>>),
    Wrapper(Value<'v>),
    Data,
}

fn wrong<'v, 't>(written: Option<Cow<'v, str>>, error: ShapeError) -> Object<'v, 't> {
    Object::Call(Shaped::Wrong { written, error })
}

/// Returns the record of a call that was made, with its `result`: data, or a fault if marks say that it is a call.
fn record<'v, 't>(written: Option<Cow<'v, str>>, result: Cow<'_, str>, told: Told) -> Object<'v, 't> {
    match told.is_marked {
        true => wrong(written, ShapeError::BesideArguments(result.into_owned())),
        false => Object::Call(Shaped::Echo),
    }
}

fn object<'v, 't>(value: Value<'v>, names: &'t Names<'_>, told: Told) -> Object<'v, 't> {
    if is_definition(value) || !told.is_marked && is_echo(value, names) {
        return match told.is_marked {
            true => wrong(name_of(value), ShapeError::Definition),
            false => Object::Call(Shaped::Echo),
        };
    }
    let name = member(value, keys::NAME, |v| v.kind() == Kind::String);
    let arguments = member(value, keys::ARGUMENTS, |_| true);
    if name.is_some() != arguments.is_some()
        && let Some(call) = mended(value, names)
    {
        return Object::Call(call);
    }
    if let Some((name_key, name)) = name {
        let arguments = arguments.filter(|(key, _)| *key != name_key);
        if let Some(call) = named(value, (name_key, name), arguments, names, told) {
            return call;
        }
    }
    if let Some(calls) = keyed(value, names) {
        return Object::Keyed(calls);
    }
    if let Some(written) = keyed_unknown(value, names).filter(|_| told.is_marked) {
        return Object::Call(Shaped::Unknown { written });
    }
    wrapper(value, told).unwrap_or_else(|| {
        match member(value, &["arguments", "parameters", "params", "args"], |v| v.kind() == Kind::Object) {
            Some(_) if value.members().count() <= 3 => wrong(None, ShapeError::NoName(Vec::new())),
            _ => Object::Data,
        }
    })
}

/// A member of an object: its known key and its value.
type Part<'v> = (&'static str, Value<'v>);

/// Returns the call of an object with a `name` and perhaps `arguments`. `None` if no tool has the name, and nothing
/// else makes it a call.
fn named<'v, 't>(
    value: Value<'v>,
    (name_key, name): Part<'v>,
    arguments: Option<Part<'v>>,
    names: &'t Names<'_>,
    told: Told,
) -> Option<Object<'v, 't>> {
    let written = name.as_str().unwrap_or_default();
    let Some(tool) = names.named(&written) else {
        // A request of MCP: `{"method": "tools/call", "params": {"name": "f", "arguments": {…}}}`.
        if written == keys::MCP_CALL {
            return arguments.map(|(_, call)| Object::Wrapper(call));
        }
        let is_call = arguments.is_some_and(|(_, arguments)| arguments.kind() == Kind::Object);
        let unknown = |written| Object::Call(Shaped::Unknown { written });
        return is_call.then(|| keyed(value, names).map_or_else(|| unknown(written), Object::Keyed));
    };
    // Nearly all calls are a name and arguments, with nothing beside them that could be wrong.
    let is_crowded = arguments.is_none() || 2 < value.members().count();
    if is_crowded && let Some(object) = crowded(value, tool, &written, (name_key, arguments), names, told) {
        return Some(object);
    }
    let Some((key, arguments)) = arguments else {
        let rest: Vec<_> = value
            .members()
            .filter(|(key, _)| key.as_str().is_none_or(|key| key != name_key && !keys::is_companion(&key)))
            .collect();
        let arguments = if rest.is_empty() { Arguments::None } else { Arguments::Flat(rest) };
        return Some(Object::Call(Shaped::Call { tool, written, arguments }));
    };
    // `"arguments": [{"a": 1}, {"a": 2}]` is several calls; pairs of a name and a value are none.
    let fits = |value: Value<'_>| {
        value.kind() == Kind::Object && tool.schema().check_whole(value).violations.is_empty()
    };
    if 1 < arguments.elements().take(2).count() && arguments.elements().all(fits) {
        return Some(Object::Keyed(calls_of(tool, &written, arguments)));
    }
    Some(with_arguments(tool, written, (key, arguments)))
}

/// Finds members that may not stand beside the name and arguments of a call of `tool`: other calls, other names or
/// arguments, a result.
fn crowded<'v, 't>(
    value: Value<'v>,
    tool: &Tool,
    written: &Cow<'v, str>,
    (name_key, arguments): (&'static str, Option<Part<'v>>),
    names: &Names<'_>,
    told: Told,
) -> Option<Object<'v, 't>> {
    let beside_arguments =
        |key: Cow<'_, str>| wrong(Some(written.clone()), ShapeError::BesideArguments(key.into_owned()));
    // `{"tool_calls": [{…}], "name": "g", "arguments": {…}}`: a call beside the others.
    let is_list = |v: Value<'_>| v.elements().any(|element| element.kind() == Kind::Object);
    if let Some((key, _)) = member(value, keys::WRAPPERS, is_list)
        && !tool.declares(key)
    {
        return Some(beside_arguments(key.into()));
    }
    let other = twice(value).or_else(|| renamed(value, tool, names));
    if let Some(key) = other.filter(|key| !tool.declares(key)) {
        return Some(wrong(Some(written.clone()), ShapeError::Twice(key.into_owned())));
    }
    // A tool may itself have a parameter of that name: then the object is flat.
    if let Some(key) = beside(value, tool, name_key, arguments?, told) {
        return Some(beside_arguments(key));
    }
    let result = answered(value).filter(|key| !tool.declares(key))?;
    Some(record(Some(written.clone()), result, told))
}

/// Returns the inside of an object that wraps calls: `{"type": "function", "function": {…}}`, `{"tool_calls": [{…}]}`.
fn wrapper<'v, 't>(value: Value<'v>, told: Told) -> Option<Object<'v, 't>> {
    let wraps = |v: Value<'v>| matches!(v.kind(), Kind::Object | Kind::Array);
    if let Some((key, inside)) = member(value, keys::WRAPPERS, wraps) {
        if let Some(key) = twice(value) {
            return Some(wrong(None, ShapeError::Twice(key.into_owned())));
        }
        // `{"tool_calls": [{"name": "f"}], "arguments": {…}}`
        let holds_some = |v: Value<'v>| v.members().next().is_some();
        if let Some((beside, _)) = member(value, keys::ARGUMENTS, holds_some) {
            return Some(wrong(None, ShapeError::BesideArguments(beside.to_owned())));
        }
        if inside.kind() == Kind::Object
            && let Some(result) = answered(value)
        {
            return Some(record(None, result, told));
        }
        // `{"type": "function", "function": {…}}` is common.
        if value.members().count() <= 4 || key == "tool_calls" {
            return Some(Object::Wrapper(inside));
        }
    }
    if let Some(inside) = said(value) {
        return Some(Object::Wrapper(inside));
    }
    // `{"tool_calsl": [{…}]}`: a slip in the key does not change the calls in the list.
    let (key, inside) = only(value)?;
    let is_list = inside.elements().any(|element| element.kind() == Kind::Object);
    let is_slip = key.as_str().is_some_and(|key| keys::is_slip(keys::WRAPPERS, &key));
    (is_list && is_slip).then_some(Object::Wrapper(inside))
}

/// Returns the content of a message of the assistant, or such messages in the answer of a server:
/// `{"role": "assistant", "content": [{"type": "tool_use", …}]}`, `{"choices": [{"message": {"role": "assistant", …}}]}`.
fn said(value: Value<'_>) -> Option<Value<'_>> {
    let is_message =
        |value: Value<'_>| value.get("role").and_then(Value::as_str).is_some_and(|role| role == "assistant");
    match is_message(value) {
        true => value.get("content"),
        false => value.get("message").filter(|message| is_message(*message)).or_else(|| value.get("choices")),
    }
}

/// Returns the call in `value` if its own keys have a slip: `{"nmae": "f", "arguments": {…}}`. The object holds nothing
/// else. Such a key may not be an argument that the tool declares, nor one that it takes, unless it declares all of
/// `arguments`.
fn mended<'v, 't>(value: Value<'v>, names: &'t Names<'_>) -> Option<Shaped<'v, 't>> {
    let (mut call, mut arguments, mut torn) = (None, None, Vec::new());
    for (key, member) in value.members() {
        let written = key.as_str()?;
        // With all of a call around it, a short key resembles only its own.
        let is_near = |known: &&str| *known == written || is_one_slip(known, &written);
        match member.kind() {
            Kind::String if call.is_none() && keys::NAME.iter().any(is_near) => {
                let name = member.as_str()?;
                call = Some((names.resolve(&name)?, name));
            }
            Kind::Object if arguments.is_none() && keys::ARGUMENTS.iter().any(is_near) => {
                arguments = Some(member);
            }
            _ if keys::is_companion(&written) => continue,
            _ => return None,
        }
        let is_exact = keys::NAME.contains(&&*written) || keys::ARGUMENTS.contains(&&*written);
        torn.extend((!is_exact).then_some(key));
    }
    let ((tool, written), arguments) = (call?, arguments?);
    let holds_some = members(arguments).all(|(key, _)| tool.declares(&key));
    let is_argument = |key: &str| tool.declares(key) || tool.takes(key) && !holds_some;
    let is_own = torn.iter().all(|key| key.as_str().is_some_and(|key| !is_argument(&key)));
    let arguments = Arguments::Object(arguments, torn);
    is_own.then_some(Shaped::Call { tool, written, arguments })
}

/// Returns the first key of a part of a call that stands twice in `value`, with different values. JSON readers differ
/// in which one they take.
fn twice(value: Value<'_>) -> Option<Cow<'_, str>> {
    let is_part = |key: &str| {
        [keys::NAME, keys::ARGUMENTS, keys::WRAPPERS].into_iter().any(|known| known.contains(&key))
    };
    let is_twice = |key: &str, member: Value<'_>| value.get(key).is_some_and(|first| !first.same_as(member));
    members(value).find_map(|(key, member)| (is_part(&key) && is_twice(&key, member)).then_some(key))
}

/// Returns the key in `value`, a call of `tool`, that names another tool: `{"name": "f", "tool": "g"}`.
fn renamed<'v>(value: Value<'v>, tool: &Tool, names: &Names<'_>) -> Option<Cow<'v, str>> {
    let is_other = |member: Value<'_>| {
        let other = member.as_str().and_then(|name| names.resolve(&name));
        other.is_some_and(|other| other.name() != tool.name())
    };
    members(value).find_map(|(key, member)| (keys::NAME.contains(&&*key) && is_other(member)).then_some(key))
}

/// Returns the first argument that stands beside the others in `value`, a call of `tool`:
/// `{"name": "f", "arguments": {}, "a": 1}`. Without it, the call would lack an argument. It may also be a second
/// object of arguments. Behind an added closer, any member may be an argument:
/// `{"name": "f", "arguments": {"a": 1}, b": 2}}`.
fn beside<'v>(
    value: Value<'v>,
    tool: &Tool,
    name_key: &str,
    (arguments_key, arguments): (&str, Value<'v>),
    told: Told,
) -> Option<Cow<'v, str>> {
    let is_left_out = |key: &str, member: Value<'v>| {
        let holds_others = keys::ARGUMENTS.contains(&key) && member.members().next().is_some();
        let is_argument = (told.is_closed_early || tool.declares(key)) && arguments.get(key).is_none();
        is_argument || holds_others && !member.same_as(arguments)
    };
    let is_known = |key: &str| key == name_key || key == arguments_key || keys::is_companion(key);
    // A text, or a list, of arguments may hold the argument, too.
    let is_told = matches!(arguments.kind(), Kind::Object | Kind::Null);
    let mut members = members(value).filter(|_| is_told);
    members.find_map(|(key, member)| (!is_known(&key) && is_left_out(&key, member)).then_some(key))
}

/// Returns the calls of `tool` with each of the objects in `list`.
fn calls_of<'v, 't>(tool: &'t Tool, written: &Cow<'v, str>, list: Value<'v>) -> Vec<Shaped<'v, 't>> {
    let call = |value| {
        let arguments = Arguments::Object(value, Vec::new());
        Shaped::Call { tool, written: written.clone(), arguments }
    };
    list.elements().take(MAX_CALLS).map(call).collect()
}

fn with_arguments<'v, 't>(
    tool: &'t Tool,
    written: Cow<'v, str>,
    (key, arguments): Part<'v>,
) -> Object<'v, 't> {
    let unfit = |written, kind| wrong(Some(written), ShapeError::ArgumentsNotObject(kind));
    let arguments = match arguments.kind() {
        Kind::Object => Arguments::Object(arguments, Vec::new()),
        Kind::Null => Arguments::None,
        Kind::String => {
            let text = arguments.as_str().unwrap_or_default();
            match text.trim_start().as_bytes().first() {
                None => Arguments::None,
                Some(b'{') => Arguments::Text(text),
                // `"\"{\\\"a\\\": 1}\""`
                Some(b'"') if let Some(inner) = declared_object(&text, tool) => Arguments::Text(inner.into()),
                Some(_) => match tool.only_parameter().filter(|_| key == keys::ONE_TEXT) {
                    Some(only) => Arguments::Text(object_of([(only, quote(&text))].into_iter()).into()),
                    None => return unfit(written, "string"),
                },
            }
        }
        // `"arguments": [{"a": 1}]`
        Kind::Array => match (arguments.elements().next(), arguments.elements().nth(1)) {
            (None, _) => Arguments::None,
            (Some(only), None) if is_of(tool, only) => Arguments::Object(only, vec![arguments]),
            _ => return unfit(written, "array"),
        },
        kind @ (Kind::Bool | Kind::Number) => return unfit(written, kind.name()),
    };
    Object::Call(Shaped::Call { tool, written, arguments })
}

/// Returns the calls of `{"f": {…}}`: every key names a tool, every value is an object.
fn keyed<'v, 't>(value: Value<'v>, names: &'t Names<'_>) -> Option<Vec<Shaped<'v, 't>>> {
    let mut calls = Vec::new();
    for (key, arguments) in value.members().take(MAX_CALLS) {
        let written = key.as_str()?;
        let tool = names.resolve(&written)?;
        match arguments.kind() {
            Kind::Object => {
                // `{"f": {"arguments": {…}}}`
                let inner = only_member(arguments, keys::ARGUMENTS).filter(|v| v.kind() == Kind::Object);
                let arguments = Arguments::Object(inner.unwrap_or(arguments), Vec::new());
                calls.push(Shaped::Call { tool, written, arguments });
            }
            Kind::Array if arguments.elements().all(|v| v.kind() == Kind::Object) => {
                let error = ShapeError::ArgumentsNotObject("array");
                calls.push(Shaped::Wrong { written: Some(written), error });
            }
            // `{"f": "{\"a\": 1}"}`
            Kind::String => {
                let text = declared_object(&arguments.as_str()?, tool)?;
                calls.push(Shaped::Call { tool, written, arguments: Arguments::Text(text.into()) });
            }
            Kind::Array | Kind::Null | Kind::Bool | Kind::Number => return None,
        }
    }
    (!calls.is_empty()).then_some(calls)
}

/// Returns the name in `{"f": {…}}` if no tool has it, and some tool takes such arguments.
fn keyed_unknown<'v>(value: Value<'v>, names: &Names<'_>) -> Option<Cow<'v, str>> {
    let (written, arguments) = only(value)?;
    let is_taken = names.tools().iter().any(|tool| takes_any(tool, arguments));
    written.as_str().filter(|written| is_taken && !keys::is_of_call(written))
}

/// Returns the arguments in `value`, if that is a call of `tool` and nothing else.
pub(crate) fn in_whole_call<'v>(value: Value<'v>, tool: &Tool) -> Option<Value<'v>> {
    let (name_key, _) =
        member(value, keys::NAME, |name| name.as_str().is_some_and(|name| name == tool.name()))?;
    let (arguments_key, arguments) = member(value, keys::ARGUMENTS, |_| true)?;
    let is_part = |key: &str| key == name_key || key == arguments_key || keys::is_companion(key);
    value.members().all(|(key, _)| key.as_str().is_some_and(|key| is_part(&key))).then_some(arguments)
}

/// Returns the object in a text that holds all arguments and only declared keys: `"{\"city\": \"Paris\"}"`. The text
/// may be the only argument, without a name: `f("{\"city\": \"Paris\"}")`.
pub(crate) fn object_in_text(value: Value<'_>, tool: &Tool, repairs: &[Repair]) -> Option<String> {
    let text = match value.kind() {
        Kind::String => value.as_str()?,
        Kind::Object if repairs.iter().any(|repair| repair.kind == RepairKind::AddKey) => {
            only(value)?.1.as_str()?
        }
        _ => return None,
    };
    declared_object(&text, tool)
}

/// Returns the object in `text`, maybe in a string once more, if the tool declares all of its keys.
pub(crate) fn declared_object(text: &str, tool: &Tool) -> Option<String> {
    let text = text.trim();
    let tree = strict(text).ok().filter(|_| text.starts_with(['{', '"']))?;
    if let Some(inner) = tree.root(text).as_str() {
        return declared_object(&inner, tool);
    }
    is_of(tool, tree.root(text)).then(|| text.to_owned())
}

/// Returns whether `value` has members, and the tool declares them all.
fn is_of(tool: &Tool, value: Value<'_>) -> bool {
    value.members().next().is_some() && declares_all(tool, value)
}

/// Returns whether the tool declares each key of `arguments`.
pub(crate) fn declares_all(tool: &Tool, arguments: Value<'_>) -> bool {
    arguments.members().all(|(key, _)| key.as_str().is_some_and(|key| tool.declares(&key)))
}

/// Returns whether the tool declares one of the keys of `arguments`.
pub(crate) fn takes_any(tool: &Tool, arguments: Value<'_>) -> bool {
    members(arguments).any(|(key, _)| tool.declares(&key))
}

/// Returns the key that holds the result in `value`, a call or its wrapper:
/// `{"tool": "f", "input": {…}, "output": "a.txt"}`.
fn answered(value: Value<'_>) -> Option<Cow<'_, str>> {
    let is_empty = |v: Value<'_>| v.kind() == Kind::Null || v.as_str().is_some_and(|text| text.is_empty());
    let is_result = |key: &str, v: Value<'_>| keys::RESULTS.contains(&key) && !is_empty(v);
    members(value).find_map(|(key, v)| is_result(&key, v).then_some(key))
}

/// Returns whether `value` is the definition of a tool:
/// `{"name": …, "description": …, "parameters": {"type": "object", …}}`.
fn is_definition(value: Value<'_>) -> bool {
    let is_described = value.get("description").is_some() && value.get("name").is_some();
    is_described
        && schema_in(value).is_some_and(|schema| is_schema(schema) || schema.members().next().is_none())
}

/// Returns the member of `value` that holds the arguments' schema in a definition.
fn schema_in(value: Value<'_>) -> Option<Value<'_>> {
    SCHEMA
        .iter()
        .chain(&["arguments", "params"])
        .find_map(|key| value.get(key))
        .filter(|v| v.kind() == Kind::Object)
}

/// Returns whether `value` is the schema of an object: `{"type": "object", "properties": {…}}`.
pub(crate) fn is_schema(value: Value<'_>) -> bool {
    const KEYWORDS: [&str; 7] =
        ["type", "properties", "required", "additionalProperties", "$schema", "title", "description"];
    let is_word = |word: &str| word.eq_ignore_ascii_case("object") || word == "dict";
    let is_typed = value.get("type").and_then(Value::as_str).is_some_and(|word| is_word(&word));
    is_typed
        && (value.get("properties").is_some_and(|properties| properties.kind() == Kind::Object)
            || members(value).all(|(key, _)| KEYWORDS.contains(&&*key)))
}

/// Returns whether `value` is a definition without a description, or a schema of parameters:
/// `{"name": …, "parameters": {"type": "object", …}}`, `{"location": {"type": "string", "description": …}}`.
fn is_echo(value: Value<'_>, names: &Names<'_>) -> bool {
    let schema = schema_in(value).unwrap_or(value);
    let are_schemas = || {
        let mut members = schema.members().peekable();
        members.peek().is_some()
            && members.all(|(_, v)| {
                v.kind() == Kind::Object
                    && v.get("type").and_then(Value::as_str).is_some_and(|t| is_type_word(&t))
                    && v.members().count() <= 5
            })
    };
    (is_schema(schema) || are_schemas()) && !is_fitting(value, schema, names)
}

/// Returns whether `arguments` fit the tool that `call` names. `{"field": {"type": "string"}}` fits a tool that takes a
/// `field` with a `type`.
fn is_fitting(call: Value<'_>, arguments: Value<'_>, names: &Names<'_>) -> bool {
    let tool = name_of(call).and_then(|name| names.resolve(&name));
    tool.is_some_and(|tool| declares_all(tool, arguments) && tool.schema().check(arguments).is_empty())
}

/// Returns whether `word` is the name of a JSON Schema or Python type.
pub(crate) fn is_type_word(word: &str) -> bool {
    const OF_SCHEMA: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];
    const OF_PYTHON: [&str; 8] = ["float", "dict", "int", "str", "bool", "list", "tuple", "any"];
    OF_SCHEMA.contains(&word) || OF_PYTHON.contains(&word)
}

/// Returns the name in `{"name": "f"}`, an object with nothing else in it but parts of a call.
pub(crate) fn mere_name(value: Value<'_>) -> Option<Cow<'_, str>> {
    let (_, name) = member(value, &["name", "tool_name", "function_name"], |v| v.kind() == Kind::String)?;
    let is_part = |key: &str| {
        [keys::NAME, keys::ARGUMENTS, keys::COMPANIONS].into_iter().any(|known| known.contains(&key))
    };
    value.members().all(|(key, _)| key.as_str().is_some_and(|key| is_part(&key))).then_some(name.as_str()?)
}

/// Returns the name that an object gives itself.
pub(crate) fn name_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    member(value, keys::NAME, |v| v.kind() == Kind::String)?.1.as_str()
}

/// Returns the first of `keys` with a value that `fits`. If a key stands twice, its first value counts.
fn member<'v>(
    value: Value<'v>,
    keys: &[&'static str],
    fits: impl Fn(Value<'v>) -> bool,
) -> Option<(&'static str, Value<'v>)> {
    keys.iter().find_map(|key| value.get(key).filter(|v| fits(*v)).map(|v| (*key, v)))
}

pub(crate) fn only_member<'v>(value: Value<'v>, keys: &[&str]) -> Option<Value<'v>> {
    let (key, only) = only(value)?;
    key.as_str().is_some_and(|key| keys.contains(&&*key)).then_some(only)
}

/// Returns the only member of an object.
fn only(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let mut members = value.members();
    members.next().filter(|_| members.next().is_none())
}

/// Returns the members of an object whose keys can be read, with these keys.
fn members(value: Value<'_>) -> impl Iterator<Item = (Cow<'_, str>, Value<'_>)> {
    value.members().filter_map(|(key, member)| Some((key.as_str()?, member)))
}

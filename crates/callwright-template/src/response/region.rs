//! `response_template`: regions of an answer, each with what opens and closes it, and what its content is.

use callwright::Block;
use callwright::value::Value;

use super::pattern::{self, Piece};
use super::written::{Body, Calls, GROUP_KEY, GROUP_NAME, GROUP_VALUE};
use super::{ResponseError, ResponseTemplate, error};

const FIELD: &str = "tool_calls";

/// Takes a template apart.
pub(super) fn template(template: &Value) -> Result<ResponseTemplate, ResponseError> {
    match template.get("version") {
        None => {}
        Some(version) if version == 1 => {}
        Some(version) => return Err(error("version", format!("{version} is not known"))),
    }
    let fields = template.get("fields").ok_or_else(|| error("fields", "there are none"))?;
    let field =
        fields.get(FIELD).ok_or_else(|| error("fields", "there is no `tool_calls`: it tells of no calls"))?;
    let opens = anchors(field, "open", "open_pattern")?
        .ok_or_else(|| error("tool_calls.open", "nothing opens a call, so it cannot be told from text"))?;
    let closes = anchors(field, "close", "close_pattern")?.unwrap_or_else(|| vec![Vec::new()]);
    let is_repeated = field.get("repeats").is_some_and(|repeats| repeats == true);
    let (body, name) = body(field, is_repeated)?;
    let is_list = matches!(body, Body::Named { is_list: true, .. });
    let mut calls = Calls { opens, closes, body, is_repeated: is_repeated || is_list };
    if let Some(name) = name {
        let known = calls.opens.iter_mut().chain(&mut calls.closes).flatten();
        let groups = known.filter(|piece| **piece == Piece::Group(name.clone()));
        if groups.map(|piece| *piece = Piece::Group(GROUP_NAME.to_owned())).count() == 0 {
            return Err(error("tool_calls.transform", format!("no group of a pattern is called `{name}`")));
        }
    }
    Ok(ResponseTemplate { calls, reasoning: reasoning(fields) })
}

/// The ways in which a region opens or closes; none where nothing is said.
fn anchors(field: &Value, literal: &str, by_pattern: &str) -> Result<Option<Vec<Vec<Piece>>>, ResponseError> {
    if let Some(pattern) = field.get(by_pattern) {
        let part = format!("{FIELD}.{by_pattern}");
        let pattern = pattern.as_str().ok_or_else(|| error(&part, "it is not a text"))?;
        let ways = pattern::spelled(pattern).map_err(|why| error(&part, why))?;
        return Ok(Some(ways));
    }
    let part = format!("{FIELD}.{literal}");
    Ok(match field.get(literal) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(vec![pattern::literal(text)]),
        Some(Value::Array(texts)) => {
            let texts: Option<Vec<_>> =
                texts.iter().map(|text| text.as_str().map(pattern::literal)).collect();
            Some(texts.ok_or_else(|| error(&part, "it is not a list of texts"))?)
        }
        Some(_) => return Err(error(&part, "it is neither a text nor a list of texts")),
    })
}

/// Reads the content, and the group that names the tool, if one does.
fn body(field: &Value, is_repeated: bool) -> Result<(Body, Option<String>), ResponseError> {
    const PART: &str = "tool_calls.transform";
    let content = field.get("content").and_then(Value::as_str).unwrap_or("text");
    let is_each = field.get("transform_each").is_some_and(|each| each == true);
    let function = field.get("transform").map(|transform| transform.get("function").unwrap_or(transform));
    let named = |name: &str, arguments: &str, is_list: bool| Body::Named {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        is_list,
    };
    let (name, arguments) = match function {
        None if content == "json" => return Ok((named("name", "arguments", !is_repeated), None)),
        Some(Value::String(whole)) if whole == "{content}" && content == "json" => {
            return Ok((named("name", "arguments", false), None));
        }
        None | Some(Value::String(_)) => {
            return Err(error(PART, "it does not say where the tool's name and the arguments are"));
        }
        Some(function) => {
            let slot = |key: &str| {
                let text = function.get(key).and_then(Value::as_str);
                let slot = text.and_then(|text| text.strip_prefix('{')?.strip_suffix('}'));
                slot.ok_or_else(|| error(PART, format!("`{key}` is not a placeholder")))
            };
            (slot("name")?, slot("arguments")?)
        }
    };
    let member = |slot: &'_ str| slot.strip_prefix("content.").map(str::to_owned);
    match (member(name), member(arguments), is_each) {
        (None, None, true) if content == "json" => return Ok((named(name, arguments, true), None)),
        (Some(name), Some(arguments), false)
            if content == "json" && !format!("{name}{arguments}").contains('.') =>
        {
            return Ok((named(&name, &arguments, false), None));
        }
        (None, None, false) if arguments == "content" => {}
        _ => {
            return Err(error(
                PART,
                format!("arguments from `{arguments}`, and a name from `{name}`, are no form of a call"),
            ));
        }
    }
    let args = field.get("content_args").unwrap_or(&Value::Null);
    let body = match content {
        "json" => object(args)?,
        "xml-inline" => tags(args)?,
        other => {
            return Err(error(
                "tool_calls.content",
                format!("no grammar reads arguments that are `{other}`"),
            ));
        }
    };
    Ok((body, Some(name.to_owned())))
}

/// JSON, or an object with marks of its own.
fn object(args: &Value) -> Result<Body, ResponseError> {
    let delims = args.get("string_delims").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let pairs: Vec<(&str, &str)> =
        delims.iter().filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?))).collect();
    match pairs.as_slice() {
        [] => Ok(Body::Json),
        [(open, close)] if open == close => Ok(Body::Relaxed((*open).to_owned())),
        _ => Err(error(
            "tool_calls.content_args.string_delims",
            "strings stand between two of the same mark here",
        )),
    }
}

/// Arguments between tags.
fn tags(args: &Value) -> Result<Body, ResponseError> {
    const PART: &str = "tool_calls.content_args.tag_pattern";
    if args.get("merge_duplicates").is_some_and(|merges| merges == true) {
        return Err(error("tool_calls.content_args.merge_duplicates", "an argument stands once here"));
    }
    let pattern =
        args.get("tag_pattern").and_then(Value::as_str).ok_or_else(|| error(PART, "there is none"))?;
    argument(pattern).map_err(|why| error(PART, why))
}

/// The argument that `pattern` describes, by its groups `key` and `value`.
pub(super) fn argument(pattern: &str) -> Result<Body, String> {
    let ways = pattern::spelled(pattern)?;
    let pieces = ways.into_iter().next().unwrap_or_default();
    for group in [GROUP_KEY, GROUP_VALUE] {
        if !pieces.contains(&Piece::Group(group.to_owned())) {
            return Err(format!("it has no group `{group}`"));
        }
    }
    Ok(Body::Tags(pieces))
}

/// Reads the marks around the model's reasoning, where those are two texts.
fn reasoning(fields: &Value) -> Option<Block> {
    let field = ["thinking", "reasoning", "reasoning_content"].iter().find_map(|name| fields.get(name))?;
    let text = |key: &str| field.get(key)?.as_str().map(|text| text.trim().to_owned());
    Some(Block { open: text("open")?.into(), close: text("close")?.into() })
}

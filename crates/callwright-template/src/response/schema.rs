//! `response_schema`: a JSON Schema whose nodes say by expressions which part of an answer they are.

use callwright::value::Value;

use super::pattern::{self, Piece};
use super::region::argument;
use super::written::{Body, Calls, GROUP_NAME};
use super::{ResponseError, ResponseTemplate, error};

/// Takes a schema apart: the node `tool_calls`, which finds each call, and the nodes in it.
pub(super) fn template(schema: &Value) -> Result<ResponseTemplate, ResponseError> {
    let calls = schema.pointer("/properties/tool_calls");
    let calls = calls.ok_or_else(|| error("properties", "there is no `tool_calls`: it tells of no calls"))?;
    let items = calls.get("items").ok_or_else(|| error("tool_calls.items", "there are none"))?;
    for (part, node) in [("tool_calls", calls), ("tool_calls.items", items)] {
        if node.get("x-regex-substitutions").is_some() {
            return Err(error(
                &format!("{part}.x-regex-substitutions"),
                "a text that is rewritten first has no marks",
            ));
        }
    }
    let (found, body, is_repeated) = match text(calls, "x-regex-iterator") {
        Some(found) => {
            let (body, name) = body(items)?;
            (("tool_calls.x-regex-iterator", found), (body, name), true)
        }
        None => {
            let found =
                text(calls, "x-regex").ok_or_else(|| error("tool_calls", "no expression finds a call"))?;
            let named =
                Body::Named { name: "name".to_owned(), arguments: "arguments".to_owned(), is_list: true };
            (("tool_calls.x-regex", found), (named, None), true)
        }
    };
    let (part, pattern) = found;
    let ways = pattern::spelled(pattern).map_err(|why| error(part, why))?;
    let (body, name) = body;
    let (mut opens, mut closes): (Vec<Vec<Piece>>, Vec<Vec<Piece>>) = (Vec::new(), Vec::new());
    for way in ways {
        let groups = way.iter().filter(|piece| matches!(piece, Piece::Group(_))).count();
        let at = way.iter().position(|piece| matches!(piece, Piece::Group(_) | Piece::Any));
        let (Some(at), true) = (at, groups <= 2) else {
            return Err(error(part, "no group takes what stands in a call"));
        };
        // `<function=(?P<name>…)>(?P<arguments>.*?)</function>` names the tool itself.
        let (open, close) = match (groups, way.iter().rposition(|piece| matches!(piece, Piece::Group(_)))) {
            (2, Some(last)) => (renamed(&way[..last]), way[last + 1..].to_vec()),
            _ => {
                let inner = name.iter().flatten().cloned();
                (way[..at].iter().cloned().chain(inner).collect(), way[at + 1..].to_vec())
            }
        };
        opens.push(open);
        closes.push(close);
    }
    let calls = Calls { opens, closes, body, is_repeated };
    Ok(ResponseTemplate { calls, reasoning: None })
}

fn text<'v>(node: &'v Value, key: &str) -> Option<&'v str> {
    node.get(key).and_then(Value::as_str)
}

/// The first group is the tool's name.
fn renamed(pieces: &[Piece]) -> Vec<Piece> {
    let name = |piece: &Piece| match piece {
        Piece::Group(_) => Piece::Group(GROUP_NAME.to_owned()),
        other => other.clone(),
    };
    pieces.iter().map(name).collect()
}

/// Reads the body of a call, and the pieces that name its tool, where that is not in JSON.
fn body(items: &Value) -> Result<(Body, Option<Vec<Piece>>), ResponseError> {
    if text(items, "x-parser") == Some("json") {
        return Ok((
            Body::Named { name: "name".into(), arguments: "arguments".into(), is_list: false },
            None,
        ));
    }
    let function = items.pointer("/properties/function").unwrap_or(items);
    let node = |key: &str| {
        let node = function.get("properties").and_then(|properties| properties.get(key));
        node.ok_or_else(|| error(&format!("tool_calls.items.{key}"), "there is none"))
    };
    let (name, arguments) = (node("name")?, node("arguments")?);
    let name = match text(name, "x-regex") {
        None => None,
        Some(pattern) => {
            const PART: &str = "tool_calls.items.name.x-regex";
            let ways = pattern::spelled(pattern).map_err(|why| error(PART, why))?;
            Some(renamed(&ways.into_iter().next().unwrap_or_default()))
        }
    };
    const ARGUMENTS: &str = "tool_calls.items.arguments";
    if let Some(pattern) = text(arguments, "x-regex-key-value") {
        let body = argument(pattern).map_err(|why| error(&format!("{ARGUMENTS}.x-regex-key-value"), why))?;
        return Ok((body, name));
    }
    match text(arguments, "x-parser") {
        Some("json") => Ok((Body::Json, name)),
        Some(other) => Err(error(&format!("{ARGUMENTS}.x-parser"), format!("no grammar reads `{other}`"))),
        None => Err(error(ARGUMENTS, "no expression finds an argument, and they are not parsed as JSON")),
    }
}

//! Carries schemas and results, as a server wrote them, through a library that keeps neither the order of members nor
//! the digits of numbers. They travel as text.

use std::borrow::Cow;

use callwright::value::{Map, Value};
use callwright_json::{Kind, quote, strict};
use rmcp::model::JsonObject;

/// The only member of an object that stands for the text in it.
const WRITTEN: &str = "callwright:written";

/// Returns a server's message with each schema of a tool and each structured result as text.
pub(super) fn sealed(message: &str) -> Cow<'_, str> {
    if !message.contains("\"inputSchema\"") && !message.contains("\"structuredContent\"") {
        return Cow::Borrowed(message);
    }
    // The library refuses text that is not JSON.
    let Ok(tree) = strict(message) else { return Cow::Borrowed(message) };
    let Some(result) = tree.root(message).get("result") else { return Cow::Borrowed(message) };
    let tools = result.get("tools").into_iter().flat_map(|tools| tools.elements());
    let parts = tools.filter_map(|tool| tool.get("inputSchema")).chain(result.get("structuredContent"));
    let mut parts: Vec<_> = parts.filter(|part| part.kind() == Kind::Object).collect();
    parts.sort_by_key(|part| part.span());
    let mut out = String::with_capacity(message.len() * 2);
    let mut done = 0;
    for part in parts {
        let range = part.span().range();
        out.push_str(message.get(done..range.start).unwrap_or_default());
        out.push_str(&format!("{{\"{WRITTEN}\":{}}}", quote(part.raw())));
        done = range.end;
    }
    out.push_str(message.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the object that was sealed; any other one as it is.
pub(super) fn opened(object: &JsonObject) -> Value {
    let text = object.get(WRITTEN).filter(|_| object.len() == 1).and_then(serde_json::Value::as_str);
    let written = text.and_then(|text| text.parse().ok());
    written.unwrap_or_else(|| Value::from(&serde_json::Value::Object(object.clone())))
}

/// Converts arguments for the library.
///
/// # Errors
/// Fails where the library would change a number.
pub(super) fn plain(arguments: &Map) -> Result<JsonObject, String> {
    let plain =
        serde_json::to_value(arguments).map_err(|error| format!("a number cannot be sent: {error}"))?;
    let (written, sent) = (Value::Object(arguments.clone()).to_string(), plain.to_string());
    let is_same = match (strict(&written), strict(&sent)) {
        (Ok(a), Ok(b)) => a.root(&written).same_as(b.root(&sent)),
        _ => false,
    };
    match plain {
        serde_json::Value::Object(object) if is_same => Ok(object),
        _ => Err("a number has more digits than can be sent".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    #[test]
    fn schemas_and_results_come_as_they_were_written() {
        let schema = r#"{"type":"object","properties":{"z":{"maximum":1e400},"a":{"const":123456789012345678901234567890}}}"#;
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"t","inputSchema":{schema}}},{{"name":"u","inputSchema":[]}}],"structuredContent":{schema}}}}}"#
        );
        let sealed = sealed(&message);
        let read: serde_json::Value = serde_json::from_str(&sealed).unwrap();
        for part in [&read["result"]["tools"][0]["inputSchema"], &read["result"]["structuredContent"]] {
            assert_eq!(opened(part.as_object().unwrap()).to_string(), schema);
        }
        assert_eq!(read["result"]["tools"][1]["inputSchema"], serde_json::json!([]));
    }

    #[test]
    fn other_messages_stay() {
        for message in [r#"{"result":{"a":1}}"#, r#"{"inputSchema": "#, r#"{"params":{"inputSchema":{}}}"#] {
            assert_eq!(sealed(message), message);
        }
        let object = serde_json::json!({"a": {WRITTEN: "[]"}});
        assert_eq!(opened(object.as_object().unwrap()), json!({"a": {WRITTEN: "[]"}}));
    }

    #[test]
    fn a_number_is_sent_as_it_is_or_not_at_all() {
        let arguments = |text: &str| text.parse::<Value>().unwrap().as_object().cloned().unwrap();
        for right in [r#"{"a":[1,-2.5,18446744073709551615,0.10,1e2]}"#, "{}"] {
            assert!(plain(&arguments(right)).is_ok(), "{right}");
        }
        for wrong in [
            r#"{"a":123456789012345678901234567890}"#,
            r#"{"a":[1e400]}"#,
            r#"{"a":0.12345678901234567890123}"#,
        ] {
            assert!(plain(&arguments(wrong)).is_err(), "{wrong}");
        }
    }
}

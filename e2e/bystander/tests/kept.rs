//! What Callwright keeps, whatever others have `serde_json` do: the order of members, the digits of numbers.
#![cfg(feature = "callwright")]

use callwright::value::Value;
use callwright::{Context, ToolSet, parse};

const TOOLS: &str = r#"[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{"type":"integer","maximum":123456789012345678901234567890},"a":{"enum":[0.10,1e400]},"p":{"type":"string","pattern":"^x"}},"required":["z"]}}}]"#;

#[test]
fn definitions_are_kept_as_they_were_written() {
    let tool_set = ToolSet::from_json(TOOLS).unwrap();
    let definition = tool_set.get("f").unwrap().definition();
    assert_eq!(format!("[{definition}]"), TOOLS);
}

#[test]
fn calls_go_out_to_the_byte_and_are_judged_by_their_digits() {
    let tool_set = ToolSet::from_json(TOOLS).unwrap();
    for (arguments, is_right) in [
        (r#"{"z": 123456789012345678901234567890, "p": "x", "a": 1e400}"#, true),
        (r#"{"z": -0, "a": 0.1}"#, true),
        (r#"{"z": 123456789012345678901234567891}"#, false),
        (r#"{"z": 1, "a": 0.10000000000000000001}"#, false),
    ] {
        let text = format!(r#"<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>"#);
        let outcome = parse(&tool_set, &text, &[], &Context::default());
        let calls: Vec<&str> = outcome.calls().map(|call| call.arguments.as_str()).collect();
        let expected: &[&str] = if is_right { &[arguments] } else { &[] };
        assert_eq!(calls, expected, "{arguments}");
    }
}

#[test]
fn values_are_kept_through_serde() {
    #[derive(serde::Deserialize, serde::Serialize)]
    struct Around {
        inner: Value,
    }
    let text = r#"{"inner":{"z":[123456789012345678901234567890,1e400,0.10,-0],"a":1.0}}"#;
    let read: Around = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn values_are_read_where_serde_has_held_them_back() {
    #[derive(serde::Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { inner: Value },
    }
    let Tagged::A { inner } = serde_json::from_str(r#"{"type":"A","inner":[1.5,{"b":2}]}"#).unwrap();
    assert_eq!(inner.to_string(), r#"[1.5,{"b":2}]"#);
}

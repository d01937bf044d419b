//! Tests our own server with our own client.

use super::*;

async fn ask(tool: &str, arguments: Value) -> Result<Value, String> {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(serve(input, output));
    let desk = Connection::begin(ours).await?;
    let names: Vec<String> = desk.tools().await?.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["repair_tool_call", "diagnose"]);
    let result = desk.call(tool, super::plain(arguments.as_object().unwrap()).unwrap()).await;
    let Ok(result) = result else { panic!("no result") };
    let text = result.content[0].as_text().map(|text| text.text.clone()).unwrap_or_default();
    if result.is_error == Some(true) {
        return Err(text);
    }
    let answer: Value = text.parse().unwrap();
    let structured = Value::from(result.structured_content.unwrap()).to_string();
    let (a, b) = (callwright_json::strict(&text).unwrap(), callwright_json::strict(&structured).unwrap());
    assert!(a.root(&text).same_as(b.root(&structured)), "{text} {structured}");
    Ok(answer)
}

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "run_code", "parameters": {
        "type": "object", "required": ["code"], "properties": {"code": {"type": "string"}, "n": {"type": "number"}}}}}])
}

#[tokio::test]
async fn a_call_is_repaired_or_refused_with_the_words_to_send_back() {
    let text = r#"{"tool": "run_code", "arguments": {"code": "print(1)", "n": 1.50}}}"#;
    let report = ask("repair_tool_call", json!({"text": text, "tools": tools()})).await.unwrap();
    let call = &report["calls"][0];
    assert_eq!((&call["name"], &call["arguments"]["code"]), (&json!("run_code"), &json!("print(1)")));
    assert_eq!(call["arguments"]["n"].to_string(), "1.50", "numbers keep their digits");
    assert_eq!(call["repairs"][0]["kind"], "drop-closer");

    let cut = r#"{"tool": "run_code", "arguments": {"code": "print("#;
    let arguments = json!({"text": cut, "tools": tools(), "finish_reason": "length"});
    let report = ask("repair_tool_call", arguments).await.unwrap();
    assert_eq!(report["calls"], json!([]));
    assert_eq!(report["refusals"][0]["code"], "truncated");
    assert!(report["refusals"][0]["feedback"].as_str().is_some_and(|told| told.contains("Tool call 1")));
}

#[tokio::test]
async fn a_value_is_healed_for_a_schema() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let report =
        ask("repair_tool_call", json!({"text": "```json\n{a: '5',}\n```", "schema": schema})).await.unwrap();
    let healed: Value = serde_json::from_str(report["output_text"].as_str().unwrap()).unwrap();
    assert_eq!(healed, json!({"a": 5}));
}

#[tokio::test]
async fn a_text_is_diagnosed_with_place_and_caret() {
    let report = ask("diagnose", json!({"text": "{\"a\": 1}}"})).await.unwrap();
    assert_eq!(report["valid"], false);
    assert_eq!(report["position"], json!({"offset": 8, "line": 1, "column": 9}));
    assert_eq!(report["error"], "Extra data: line 1 column 9 (char 8)");
    assert!(report["shown"].as_str().is_some_and(|shown| shown.starts_with("  {\"a\": 1}}\n          ^ ")));
    assert_eq!(report["fix"]["text"], "{\"a\": 1}");
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let report = ask("diagnose", json!({"text": "{\"a\": 1}", "schema": schema})).await.unwrap();
    assert_eq!(report["violations"][0]["pointer"], "/a");
    assert_eq!(
        ask("diagnose", json!({"text": "[]"})).await.unwrap(),
        json!({"valid": true, "violations": []})
    );
}

#[tokio::test]
async fn a_wrong_question_is_an_error_for_the_model() {
    for (tool, arguments, why) in [
        ("repair_tool_call", json!({}), "text"),
        ("repair_tool_call", json!({"text": 5}), "text must be a string"),
        ("repair_tool_call", json!({"text": "a"}), "give `tools`"),
        ("repair_tool_call", json!({"text": "a", "tools": [], "schema": {}}), "not both"),
        ("repair_tool_call", json!({"text": "a", "tools": [{}]}), "cannot use `tools`"),
        ("rm", json!({"text": "a"}), "there are two tools"),
    ] {
        let said = ask(tool, arguments).await.unwrap_err();
        assert!(said.contains(why), "{why}: {said}");
    }
}

//! Functions as tools.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright_agent::{
    CallContext, Effect, FunctionTool, Json, Kind, Tool, ToolResult, Toolbox, Workspace, World, tool, tools,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

/// Get the current weather for a location.
#[tool(read, open_world)]
fn get_weather(location: String) -> String {
    format!("The weather in {location} is sunny and 22°C.")
}

/// Add two numbers together.
#[tool(read)]
fn add_numbers(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    DarkBlue,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Point {
    /// To the right
    x: f64,
    y: f64,
}

/// Draw a line.
///
/// Use this when the user wants
/// a line.
#[tool(write, idempotent, name = "drawLine", timeout_s = 7)]
async fn draw_line(
    context: &CallContext,
    /// Where it goes
    points: Vec<Point>,
    colour: Option<Colour>,
    title: Option<String>,
    tags: BTreeMap<String, u32>,
) -> Result<Json<callwright::value::Value>, String> {
    if points.len() < 2 {
        return Err(format!("{} points are no line", points.len()));
    }
    Ok(Json(
        json!({"call": context.call_id, "points": of(&points), "colour": of(&colour), "title": title, "tags": of(&tags)}),
    ))
}

fn of(value: &impl serde::Serialize) -> callwright::value::Value {
    callwright::value::Value::of(value).unwrap()
}

/// Nobody says what this does.
#[tool]
fn unknown() {}

fn context() -> (TempDir, CallContext) {
    let folder = TempDir::new().unwrap();
    let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
    (folder, CallContext::new("call_7", workspace))
}

/// S3-42: name, description and schema come from the function; `add_numbers(a=2,b=3)` is 5.
#[tokio::test]
async fn a_documented_function_is_a_tool() {
    let toolbox = Toolbox::new(tools![get_weather, add_numbers]).unwrap();
    let wanted = json!([
        {"type": "function", "function": {
            "name": "get_weather", "description": "Get the current weather for a location.",
            "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
        }},
        {"type": "function", "function": {
            "name": "add_numbers", "description": "Add two numbers together.",
            "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                           "required": ["a", "b"]},
        }},
    ]);
    assert_eq!(json!(toolbox.definitions()), wanted);
    let (_folder, context) = context();
    let sum = toolbox.call("add_numbers", r#"{"a": 2, "b": 3}"#, &context).await;
    assert_eq!(sum, ToolResult::Text("5".to_owned()));
    assert_eq!(add_numbers(2, 3), 5, "it is still a function");
    let weather = toolbox.call("get_weather", r#"{"location": "Paris"}"#, &context).await;
    assert_eq!(weather.content(), "The weather in Paris is sunny and 22°C.");
    let wrong = toolbox.call("add_numbers", r#"{"a": 2, "b": "three"}"#, &context).await;
    assert_eq!(wrong.content(), r#"{"error":"b must be an integer"}"#);
}

/// S0-52: texts and objects reach the model, each as what it is.
#[tokio::test]
async fn types_make_the_schema() {
    let toolbox = Toolbox::new(tools![draw_line]).unwrap();
    let function = &toolbox.definitions()[0]["function"];
    assert_eq!(function["description"], "Draw a line.\nUse this when the user wants a line.");
    let point = json!({"type": "object", "required": ["x", "y"], "properties": {
        "x": {"type": "number", "description": "To the right"}, "y": {"type": "number"}}});
    let parameters = json!({"type": "object", "required": ["points", "tags"], "properties": {
        "points": {"description": "Where it goes", "type": "array", "items": point},
        "colour": {"type": ["string", "null"], "enum": ["red", "dark_blue", null]},
        "title": {"type": ["string", "null"]},
        "tags": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    }});
    let found = &function["parameters"];
    assert_eq!(found["required"], parameters["required"]);
    for (name, schema) in parameters["properties"].as_object().unwrap() {
        assert_eq!(&found["properties"][name], schema, "{name}");
    }
    let (_folder, context) = context();
    let call = async |arguments: &str| toolbox.call("drawLine", arguments, &context).await;
    let drawn =
        call(r#"{"points": [{"x": 0, "y": 0.5}, {"x": 1, "y": 1}], "colour": "dark_blue", "tags": {}}"#)
            .await;
    let ToolResult::Object(drawn) = drawn else { panic!("{drawn:?}") };
    assert_eq!((&drawn["call"], &drawn["colour"]), (&json!("call_7"), &json!("dark_blue")));
    assert_eq!(call(r#"{"points": [], "tags": {}}"#).await.content(), r#"{"error":"0 points are no line"}"#);
    assert!(call(r#"{"points": [], "tags": {}, "colour": "green"}"#).await.is_error());
}

#[test]
fn what_nobody_declares_may_do_anything() {
    assert_eq!(unknown {}.kind(), Kind::DESTRUCTIVE);
    let kind = draw_line {}.kind();
    assert_eq!((kind.effect, kind.world, kind.idempotent), (Effect::Write, World::Closed, true));
    assert_eq!(get_weather {}.kind(), Kind::READ.open());
    unknown();
}

/// The end of a tool's time is an error for the model, and the end of the work.
#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_ended() {
    let (started, mut ended) = tokio::sync::mpsc::channel::<()>(1);
    let waits = FunctionTool::new("waits", "Wait for ever.", json!({"type": "object"}), move |_, _| {
        let started = started.clone();
        async move {
            let _held = started;
            std::future::pending::<()>().await;
        }
    });
    let polite =
        FunctionTool::new("polite", "Wait to be told.", json!({"type": "object"}), |_, context| async move {
            context.cancellation.cancelled().await;
            Err::<(), _>("only half is done")
        });
    let limit = Some(Duration::from_millis(1500));
    let toolbox = Toolbox::new(vec![Arc::new(waits.within(limit)), Arc::new(polite.within(limit))]).unwrap();
    let (_folder, context) = context();
    let result = toolbox.call("waits", "{}", &context).await;
    assert_eq!(result.content(), r#"{"error":"ended after 1.5 s, the tool's time"}"#);
    let result = toolbox.call("polite", "{}", &context).await;
    assert_eq!(
        result.content(),
        r#"{"error":"only half is done","ended":"ended after 1.5 s, the tool's time"}"#
    );
    assert!(!context.cancellation.is_cancelled(), "the other calls of the turn go on");
    // Nothing holds the channel any more but the tool itself.
    drop(toolbox);
    assert_eq!(ended.recv().await, None);
}

#[tokio::test]
async fn a_long_result_is_cut_and_says_so() {
    let long =
        FunctionTool::new("long", "Say much.", json!({"type": "object"}), |_, _| async { "é".repeat(100) });
    let toolbox = Toolbox::new(vec![Arc::new(long)]).unwrap();
    let (_folder, mut context) = context();
    context.limits.bytes = 9;
    assert_eq!(toolbox.call("long", "{}", &context).await.content(), "éééé\n… 192 more bytes");
}

//! Runs our own server: it repairs calls and explains broken texts for another agent's model, or for that agent.
//!
//! It only answers: it runs nothing, and reads nothing but the requests.

use std::fmt;
use std::sync::Arc;

use super::written::plain;
use callwright::json;
use callwright::value::Value;
use callwright::{Context, HealReport, Position, Report, Schema, ToolSet};
use callwright_json::strict;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};

const REPAIR: &str = "repair_tool_call";
const DIAGNOSE: &str = "diagnose";

/// Serves `repair_tool_call` and `diagnose` over `input` and `output`, until the input ends.
///
/// # Errors
/// Fails when the client does not speak MCP.
pub async fn serve<R, W>(input: R, output: W) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let desk = Desk::new().map_err(|error| error.to_string())?;
    match desk.serve((input, output)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
        // The client connected without a request.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

struct Desk {
    tools: Vec<Tool>,
    /// The tools whose schemas the arguments must fit.
    compiled: Arc<ToolSet>,
}

impl Desk {
    fn new() -> Result<Desk, callwright::ToolSetError> {
        let tools = vec![repair_tool_call(), diagnose()];
        let definitions = tools.iter().map(|tool| {
            let parameters = Value::from(&serde_json::Value::Object(tool.input_schema.as_ref().clone()));
            json!({"name": tool.name, "description": tool.description, "parameters": parameters})
        });
        let compiled = Arc::new(ToolSet::from_value(&Value::Array(definitions.collect()))?);
        Ok(Desk { tools, compiled })
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("callwright", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Repairs tool calls and JSON that have exactly one reading, and explains those that have none, or several.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let compiled = self.compiled.clone();
        // A text of some megabytes takes a while, so not on the thread that reads other requests.
        let answer = tokio::task::spawn_blocking(move || answer(&compiled, &request)).await;
        let answer = answer.unwrap_or_else(|_| Err(Wrong("the tool broke down".to_owned())));
        let answer = match answer {
            Ok(answer) => structured(&answer),
            Err(Wrong(why)) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(answer.into())
    }
}

/// Returns the answer as text, and also as a value if the library does not change it.
fn structured(answer: &Value) -> CallToolResult {
    let plain = answer.as_object().and_then(|answer| plain(answer).ok());
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_string())]);
    result.structured_content = plain.map(serde_json::Value::Object);
    result
}

/// The reason why the request has no answer, for the model that sent it.
struct Wrong(String);

impl Wrong {
    fn with(what: &str, why: impl fmt::Display) -> Wrong {
        Wrong(format!("cannot use `{what}`: {why}"))
    }
}

fn answer(compiled: &ToolSet, request: &CallToolRequestParams) -> Result<Value, Wrong> {
    let arguments = Value::from(serde_json::Value::Object(request.arguments.clone().unwrap_or_default()));
    let tool = compiled.get(&request.name);
    let tool = tool.ok_or_else(|| Wrong(format!("there are two tools, {REPAIR} and {DIAGNOSE}")))?;
    let text = arguments.to_string();
    let tree = strict(&text).map_err(|at| Wrong(format!("no JSON at byte {at}")))?;
    if let Some(violation) = tool.schema().check(tree.root(&text)).into_iter().next() {
        return Err(Wrong(violation.message));
    }
    let question = Question {
        text: arguments.get("text").and_then(Value::as_str).unwrap_or_default(),
        finish_reason: arguments.get("finish_reason").and_then(Value::as_str),
        tools: arguments.get("tools").filter(|tools| !tools.is_null()),
        schema: arguments.get("schema").filter(|schema| !schema.is_null()),
    };
    if request.name == REPAIR { question.repair() } else { question.diagnose() }
}

struct Question<'a> {
    text: &'a str,
    finish_reason: Option<&'a str>,
    tools: Option<&'a Value>,
    schema: Option<&'a Value>,
}

impl Question<'_> {
    /// Returns the calls in the text with their repairs, or the repaired text; for refusals, the words for the model.
    fn repair(&self) -> Result<Value, Wrong> {
        match (self.tools, self.schema) {
            (Some(tools), None) => {
                let tools = ToolSet::from_value(tools).map_err(|error| Wrong::with("tools", error))?;
                let context = Context { finish_reason: self.finish_reason, ..Context::default() };
                let outcome = callwright::parse(&tools, self.text, &[], &context);
                let told: Vec<String> =
                    outcome.refusals().map(|refusal| refusal.feedback().user_message()).collect();
                let mut report = value(&Report::of(&outcome, self.text, &[]))?;
                if let Some(refusals) = report.get_mut("refusals").and_then(Value::as_array_mut) {
                    for (refusal, told) in refusals.iter_mut().zip(told) {
                        refusal["feedback"] = told.into();
                    }
                }
                Ok(report)
            }
            (None, Some(schema)) => {
                let schema = Schema::compile(schema).map_err(|error| Wrong::with("schema", error))?;
                let healed = callwright::heal(self.text, Some(&schema), self.finish_reason);
                value(&HealReport::of(&healed, self.text))
            }
            (None, None) => {
                Err(Wrong("give `tools` to find calls, or `schema` to heal one value".to_owned()))
            }
            (Some(_), Some(_)) => Err(Wrong("give `tools` or `schema`, not both".to_owned())),
        }
    }

    /// Returns a strict reader's finding, its place, and the remedy; then the schema's finding.
    fn diagnose(&self) -> Result<Value, Wrong> {
        let schema = self.schema.map(Schema::compile).transpose();
        let schema = schema.map_err(|error| Wrong::with("schema", error))?;
        let cut = matches!(self.finish_reason, Some("length" | "max_tokens" | "content_filter"));
        if let Some(diagnosis) = callwright::diagnose(self.text, cut) {
            let position = Position::of(self.text, diagnosis.at.range().start);
            return Ok(json!({
                "valid": false,
                "error": diagnosis.error.to_string(),
                "position": {"offset": position.offset, "line": position.line, "column": position.column},
                "shown": diagnosis.drawing(self.text),
                "suggestions": diagnosis.hints(self.text),
                "fix": diagnosis.fix.map(|fix| json!({"text": fix.text, "certain": fix.certain})),
            }));
        }
        let violations: Vec<Value> = match (&schema, strict(self.text)) {
            (Some(schema), Ok(tree)) => {
                let violations = schema.check(tree.root(self.text)).into_iter();
                violations.map(|v| json!({"pointer": v.pointer, "message": v.message})).collect()
            }
            _ => Vec::new(),
        };
        Ok(json!({"valid": violations.is_empty(), "violations": violations}))
    }
}

fn value(report: &impl Serialize) -> Result<Value, Wrong> {
    Value::of(report).map_err(|error| Wrong(error.to_string()))
}

fn repair_tool_call() -> Tool {
    let description = "Finds the tool calls in a model's answer, whatever form they have, and repairs those that have \
        exactly one reading. Use this when a tool call is malformed, or when JSON does not fit its schema. Gives the \
        calls with their repairs, and for what is refused the reason and the words to send back to the model.";
    Tool::new(
        REPAIR,
        description,
        schema(json!({
            "type": "object",
            "properties": {
                "text": {"type": "string",
                    "description": "The answer as the model wrote it (e.g., '{\"name\": \"f\", \"arguments\": {\"a\": 1}')"},
                "tools": {"type": "array", "items": {"type": "object"},
                    "description": "The tools that may be called, as in an OpenAI request; or give schema"},
                "schema": {"type": "object",
                    "description": "The JSON Schema of the one value that the text should be; or give tools"},
                "finish_reason": {"type": "string",
                    "description": "How the answer ended (e.g., 'stop', 'length'); stop where it is left out"},
            },
            "required": ["text"],
            "additionalProperties": false,
        })),
    )
    .with_annotations(harmless())
}

fn diagnose() -> Tool {
    let description = "Says why a text is not valid JSON, or does not fit a schema: what is wrong, at which line and \
        column, the place under a caret, and what to do about it. Use this when a parser's error does not help.";
    Tool::new(
        DIAGNOSE,
        description,
        schema(json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The text that should be JSON (e.g., '{\"a\": 1}}')"},
                "schema": {"type": "object", "description": "The JSON Schema that it should fit"},
                "finish_reason": {"type": "string",
                    "description": "How the answer ended (e.g., 'stop', 'length'); stop where it is left out"},
            },
            "required": ["text"],
            "additionalProperties": false,
        })),
    )
    .with_annotations(harmless())
}

fn harmless() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

fn schema(schema: Value) -> Arc<JsonObject> {
    match serde_json::to_value(schema) {
        Ok(serde_json::Value::Object(schema)) => Arc::new(schema),
        _ => Arc::default(),
    }
}

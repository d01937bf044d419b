//! Wraps a server's tool as one of our tools, and its results as our results.

use std::sync::Arc;
use std::time::Duration;

use callwright::value::Value;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::server::Server;
use super::written::{opened, plain};
use crate::arguments::Arguments;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

/// One tool of one server. As for all tools, the caller checks the arguments against the schema first.
pub(super) struct McpTool {
    pub(super) server: Arc<Server>,
    /// The server's name for the tool.
    pub(super) tool: String,
    pub(super) definition: Value,
}

impl Tool for McpTool {
    fn definition(&self) -> Value {
        self.definition.clone()
    }

    fn kind(&self) -> Kind {
        self.server.config.kind(&self.tool)
    }

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(self.server.config.to_call())
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            let sent = match plain(arguments.object()) {
                Ok(sent) => sent,
                Err(why) => return ToolError::new(why).into(),
            };
            tokio::select! {
                biased;
                // The dropped future tells the server that nobody waits any more.
                () = context.cancellation.cancelled() => {
                    ToolError::new("the server was told to stop; whether it had done it is not known").into()
                }
                result = self.server.call(&self.tool, sent) => match result {
                    Ok(result) => result_of(result),
                    Err(error) => error.into(),
                },
            }
        })
    }
}

/// Returns a result for a model: texts as they are, other parts described in a line each.
fn result_of(result: CallToolResult) -> ToolResult {
    let has_text_only = result.content.iter().all(|block| matches!(block, ContentBlock::Text(_)));
    let text = result.content.iter().map(described).collect::<Vec<_>>().join("\n");
    if result.is_error == Some(true) {
        let why = if text.is_empty() { "the tool failed, and does not say why".to_owned() } else { text };
        return ToolError::new(why).into();
    }
    let structured = result.structured_content.map(|value| match &value {
        serde_json::Value::Object(object) => opened(object),
        other => Value::from(other),
    });
    match structured {
        // Servers repeat the object as text for older clients.
        Some(Value::Object(object)) if has_text_only && is_same(&text, &object) => ToolResult::Object(object),
        Some(value) if result.content.is_empty() => ToolResult::of(value),
        _ => ToolResult::Text(text),
    }
}

fn is_same(text: &str, object: &callwright::value::Map) -> bool {
    text.is_empty()
        || serde_json::from_str::<Value>(text).is_ok_and(|value| value.as_object() == Some(object))
}

fn described(block: &ContentBlock) -> String {
    let bytes = |base64: &str| base64.trim_end_matches('=').len() * 3 / 4;
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image: {}, {} bytes]", image.mime_type, bytes(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio: {}, {} bytes]", audio.mime_type, bytes(&audio.data)),
        ContentBlock::ResourceLink(link) => format!("[resource: {}, {}]", link.name, link.uri),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource: {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.as_deref().unwrap_or("of no known type");
                format!("[resource: {uri}, {kind}, {} bytes]", bytes(blob))
            }
            _ => "[resource of an unknown kind]".to_owned(),
        },
        _ => "[content of an unknown kind]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    fn result(value: Value) -> ToolResult {
        result_of(value.to().unwrap())
    }

    #[test]
    fn texts_are_kept_and_the_rest_is_described() {
        let got = result(json!({"content": [
            {"type": "text", "text": "two\u{1b}"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "application/x", "blob": "aGVsbG8="}},
        ]}));
        let lines = [
            "two\u{1b}",
            "[image: image/png, 5 bytes]",
            "[audio: audio/wav, 6 bytes]",
            "[resource: a, file:///a]",
            "[resource: file:///b]",
            "inside",
            "[resource: file:///c, application/x, 5 bytes]",
        ];
        assert_eq!(got, ToolResult::Text(lines.join("\n")));
    }

    #[test]
    fn structured_content_counts_where_the_text_says_the_same() {
        let object = json!({"n": 1});
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let same = result(json!({"content": text(r#"{ "n": 1 }"#), "structuredContent": object}));
        assert_eq!(same, ToolResult::of(object.clone()));
        assert_eq!(
            result(json!({"content": [], "structuredContent": object})),
            ToolResult::of(object.clone())
        );
        assert_eq!(result(json!({"content": [], "structuredContent": [1]})), ToolResult::Text("[1]".into()));
        let other = result(json!({"content": text("one"), "structuredContent": object}));
        assert_eq!(other, ToolResult::Text("one".into()));
    }

    #[test]
    fn an_error_is_an_error() {
        let failed = result(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}));
        assert_eq!(failed, ToolError::new("no such file").into());
        assert!(result(json!({"content": [], "isError": true})).is_error());
    }
}

//! Provides servers of every kind, in this process: honest, hostile, and short-lived.

mod desk;
mod hostile;
mod lives;
mod programs;
mod web;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use callwright::json;
use callwright::value::Value;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig as Info, Tool as Defined,
};
use rmcp::service::{RequestContext, serve_server_with_ct};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Dial};
use super::server::Server;
use super::written::plain;
use super::*;
use crate::{CallContext, ToolResult, Toolbox, Workspace};

/// A server in this process. Tests can change its words while it runs, and can kill it.
#[derive(Clone, Default)]
struct Scripted {
    pages: Arc<Mutex<Vec<Vec<Defined>>>>,
    /// The last page leads to itself.
    endless: bool,
    /// The token ends the present conversation.
    alive: Arc<Mutex<CancellationToken>>,
    /// The number of starts.
    starts: Arc<Mutex<u32>>,
    /// The token fires when a call arrives that nobody waits for any more.
    abandoned: CancellationToken,
}

impl Scripted {
    fn of(tools: Vec<Defined>) -> Scripted {
        Scripted { pages: Arc::new(Mutex::new(vec![tools])), ..Scripted::default() }
    }

    fn say(&self, tools: Vec<Defined>) {
        *self.pages.lock().unwrap() = vec![tools];
    }

    fn kill(&self) {
        self.alive.lock().unwrap().cancel();
    }

    fn dial(&self) -> Dial {
        let server = self.clone();
        Arc::new(move || {
            let server = server.clone();
            Box::pin(async move {
                let (ours, theirs) = tokio::io::duplex(64 << 10);
                let alive = CancellationToken::new();
                *server.alive.lock().unwrap() = alive.clone();
                *server.starts.lock().unwrap() += 1;
                tokio::spawn(async move {
                    if let Ok(running) = serve_server_with_ct(server, theirs, alive).await {
                        let _ = running.waiting().await;
                    }
                });
                Connection::begin(ours).await
            })
        })
    }
}

impl ServerHandler for Scripted {
    fn get_info(&self) -> Info {
        Info::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let at: usize = request.and_then(|page| page.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let pages = self.pages.lock().unwrap();
        let mut page = ListToolsResult::with_all_items(pages[at.min(pages.len() - 1)].clone());
        page.next_cursor = (self.endless || at + 1 < pages.len()).then(|| (at + 1).to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        Ok(match request.name.as_ref() {
            "huge" => text("x".repeat(1 << 20)),
            "fails" => CallToolResult::error(vec![ContentBlock::text("no such \u{1b}[2Jplace")]),
            "odd" => return Err(ErrorData::invalid_params("I do not take this", None)),
            "dies" => {
                self.kill();
                std::future::pending().await
            }
            "waits" => {
                context.ct.cancelled().await;
                self.abandoned.cancel();
                text("too late".into())
            }
            "turns" => {
                let _ = context.peer.notify_tool_list_changed().await;
                text("turned".into())
            }
            _ => text(serde_json::Value::Object(request.arguments.unwrap_or_default()).to_string()),
        }
        .into())
    }
}

/// Defines a tool of one string, `text`.
fn defined(name: &str, description: &str) -> Defined {
    let schema = json!({"type": "object", "required": ["text"], "properties": {
        "text": {"type": "string"}, "times": {"type": "integer"}}});
    Defined::new(name.to_owned(), description.to_owned(), plain(schema.as_object().unwrap()).unwrap())
}

fn config(text: &str) -> ServerConfig {
    serde_json::from_str(text).unwrap()
}

/// The notices, in order.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Notice>>>);

impl Told {
    fn tell(&self) -> Tell {
        let told = self.clone();
        Arc::new(move |notice| told.0.lock().unwrap().push(notice))
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

/// A run with one scripted server, `s`.
struct Run {
    servers: Servers,
    toolbox: Toolbox,
    told: Told,
    context: CallContext,
    _folder: tempfile::TempDir,
}

impl Run {
    async fn with(script: &Scripted, settings: &str, pins: &Path) -> Run {
        let told = Told::default();
        let server = Server::new("s", config(settings), script.dial(), told.tell());
        let servers = Servers::open(vec![server], pins, &told.tell(), Pinning::AtFirstUse).await;
        let toolbox = Toolbox::new(servers.tools()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let context = CallContext::new("1", Arc::new(Workspace::open(folder.path()).unwrap()));
        Run { servers, toolbox, told, context, _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: &str) -> ToolResult {
        self.toolbox.call(tool, arguments, &self.context).await
    }

    async fn error(&self, tool: &str) -> String {
        match self.call(tool, r#"{"text": "a"}"#).await {
            ToolResult::Error(error) => error.message,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the end of the conversation is seen.
    async fn closed(&self) {
        while self.servers.all[0].is_open().await {
            tokio::task::yield_now().await;
        }
    }
}

fn pins() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

const PLAIN: &str = r#"{"command": "none"}"#;

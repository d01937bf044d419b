//! Holds a conversation with one server: begins it, lists its tools, calls one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, JsonObject, PaginatedRequestParams, ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService,
};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use tokio::sync::Mutex;

use super::config::Reach;
use super::http::{Http, MAX_EVENT};
use super::stdio::{self, Program};

/// The most pages of tools.
const MAX_PAGES: usize = 64;
/// The most tools of one server.
const MAX_TOOLS: usize = 512;
/// The most bytes of an error that are shown.
const TOLD: usize = 400;

/// A function that begins a conversation.
pub(super) type Dial = Arc<dyn Fn() -> Dialling + Send + Sync>;
pub(super) type Dialling = Pin<Box<dyn Future<Output = Result<Connection, String>> + Send>>;

/// Returns the function that dials `reach`.
pub(super) fn dial(reach: Reach) -> Dial {
    let reach = Arc::new(reach);
    Arc::new(move || {
        let reach = reach.clone();
        Box::pin(async move {
            match &*reach {
                Reach::Program { program, .. } => {
                    let started = stdio::start(&reach);
                    let (lines, input, mut program) =
                        started.map_err(|error| format!("{program} cannot be started: {error}"))?;
                    match Connection::begin((lines, input)).await {
                        Ok(connection) => Ok(connection.of(program)),
                        // The program's own end says more than its silence.
                        Err(_) if program.has_ended().await => Err(program.why().await),
                        Err(why) => Err(why),
                    }
                }
                Reach::Url { uri, headers } => {
                    let config = StreamableHttpClientTransportConfig::with_uri(uri.to_string())
                        .max_sse_event_size(MAX_EVENT);
                    let client = Http::new(uri.clone(), headers.clone());
                    Connection::begin(StreamableHttpClientTransport::with_client(client, config)).await
                }
            }
        })
    })
}

/// A conversation in progress.
pub(super) struct Connection {
    service: RunningService<RoleClient, Handler>,
    list_changed: Arc<AtomicBool>,
    program: Mutex<Option<Program>>,
}

/// The reason why a call has no result.
pub(super) enum Failed {
    /// The server refused it.
    Refused(String),
    /// The call was not sent, so it did nothing.
    NotSent(String),
    /// The conversation ended during the call, so nobody knows whether the server did it.
    Ended,
    /// The server's answer is not a result.
    Odd(String),
}

impl Connection {
    /// Greets the server.
    pub(super) async fn begin<T, E, A>(transport: T) -> Result<Connection, String>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let list_changed = Arc::new(AtomicBool::new(false));
        let handler = Handler { list_changed: list_changed.clone() };
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let service =
            handler.serve_with_lifecycle(transport, lifecycle).await.map_err(|error| why(&error))?;
        Ok(Connection { service, list_changed, program: Mutex::new(None) })
    }

    fn of(mut self, program: Program) -> Connection {
        self.program = Mutex::new(Some(program));
        self
    }

    /// Returns whether the server still listens.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_transport_closed()
    }

    /// Returns whether the server announced other tools since the last check.
    pub(super) fn has_changed(&self) -> bool {
        self.list_changed.swap(false, Ordering::Relaxed)
    }

    /// Returns all tools, page by page.
    ///
    /// # Errors
    /// Fails when the server does not answer, or its list does not end.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.service.list_tools(Some(page)).await;
            let page =
                page.map_err(|error| format!("it does not list its tools: {}", cut(error.to_string())))?;
            tools.extend(page.tools);
            if MAX_TOOLS < tools.len() {
                return Err(format!("it has more than {MAX_TOOLS} tools"));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(format!("it lists its tools on more than {MAX_PAGES} pages"))
    }

    /// Calls a tool. If this future is dropped, the server learns that nobody waits any more.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, Failed> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match self.service.call_tool_once(params).await {
            Ok(CallToolResponse::Complete(result)) => Ok(result),
            Ok(_) => Err(Failed::Odd("it asks for something before it answers".to_owned())),
            Err(ServiceError::McpError(error)) => Err(Failed::Refused(cut(error.message.into_owned()))),
            Err(ServiceError::TransportSend(error)) => Err(Failed::NotSent(cut(error.to_string()))),
            Err(ServiceError::TransportClosed) => Err(Failed::Ended),
            Err(error) => Err(Failed::Odd(cut(error.to_string()))),
        }
    }

    /// Returns the reason why the conversation is over.
    pub(super) async fn why(&self) -> String {
        match &mut *self.program.lock().await {
            Some(program) => program.why().await,
            None => "it closed the connection".to_owned(),
        }
    }

    /// Ends the conversation, and waits until the program has ended.
    pub(super) async fn end(&self) {
        self.service.cancellation_token().cancel();
        if let Some(program) = self.program.lock().await.take() {
            program.end().await;
        }
    }
}

/// Our side towards a server: it does not sample, elicit or show roots.
pub(super) struct Handler {
    list_changed: Arc<AtomicBool>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("callwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed.store(true, Ordering::Relaxed);
    }
}

fn why(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection at once".to_owned(),
        ClientInitializeError::TransportError { error, .. } => cut(error.error.to_string()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => why(fallback),
        error => cut(error.to_string()),
    }
}

/// Cuts an error of a stranger's words to a length for messages.
fn cut(text: String) -> String {
    match text.char_indices().nth(TOLD) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

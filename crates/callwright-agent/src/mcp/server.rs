//! Keeps one server through a run: starts it, restarts it once when it ends, and holds it to its first definitions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{CallToolResult, JsonObject, Tool};
use tokio::time::timeout;

use super::Notice;
use super::config::ServerConfig;
use super::connection::{Connection, Dial, Failed};
use super::definition::Definition;
use crate::tool::ToolError;

/// A function that receives notices about servers while they run.
pub type Tell = Arc<dyn Fn(Notice) + Send + Sync>;

/// The number of restarts of a server that ended.
const RESTARTS: u32 = 1;

/// A server of the configuration.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) config: ServerConfig,
    dial: Dial,
    tell: Tell,
    line: tokio::sync::Mutex<Line>,
    /// The first definitions of the tools that are used.
    taken: OnceLock<BTreeMap<String, Definition>>,
    /// The tools whose definitions have changed since, with the differences.
    changed: Mutex<BTreeMap<String, Vec<String>>>,
}

struct Line {
    connection: Option<Arc<Connection>>,
    restarts: u32,
    /// The reason of its end, if it has ended.
    why: String,
}

impl Server {
    pub(super) fn new(name: &str, config: ServerConfig, dial: Dial, tell: Tell) -> Server {
        Server {
            name: name.to_owned(),
            config,
            dial,
            tell,
            line: tokio::sync::Mutex::new(Line { connection: None, restarts: RESTARTS, why: String::new() }),
            taken: OnceLock::new(),
            changed: Mutex::default(),
        }
    }

    /// Starts the server, and asks for its tools.
    ///
    /// # Errors
    /// Fails when the server does not start, does not answer, or is late.
    pub(super) async fn open(&self) -> Result<Vec<Tool>, String> {
        let (connection, tools) = self.begin().await?;
        self.line.lock().await.connection = Some(connection);
        Ok(tools)
    }

    /// Takes these definitions into use.
    pub(super) fn take(&self, definitions: BTreeMap<String, Definition>) {
        // It is set once, by the caller that opened the server.
        let _ = self.taken.set(definitions);
    }

    /// Calls a tool by the server's name for it.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, ToolError> {
        let error = |what: String| ToolError::new(format!("MCP server {}: {what}", self.name));
        let connection = self.connection().await.map_err(error)?;
        if connection.has_changed() {
            let tools = connection.tools().await.map_err(error)?;
            self.compare(&tools);
        }
        if self.changed.lock().unwrap_or_else(PoisonError::into_inner).contains_key(tool) {
            // The new definition is not for the model, as it is in doubt.
            return Err(error(
                "the definition of the tool has changed, and the user has not accepted it".to_owned(),
            ));
        }
        match connection.call(tool, arguments).await {
            Ok(result) => Ok(result),
            Err(Failed::Refused(why)) => Err(ToolError::new(why)),
            Err(Failed::NotSent(why)) => Err(error(format!("the call could not be sent: {why}"))),
            Err(Failed::Odd(why)) => Err(error(why)),
            Err(Failed::Ended) => {
                let why = self.lose(&connection).await;
                Err(error(format!("it ended during the call, and whether that was done is not known: {why}")))
            }
        }
    }

    /// Ends the server.
    pub(super) async fn close(&self) {
        let mut line = self.line.lock().await;
        line.restarts = 0;
        line.why = "it was closed".to_owned();
        if let Some(connection) = line.connection.take() {
            connection.end().await;
        }
    }

    /// Returns whether there is a conversation, as far as anyone has seen.
    #[cfg(test)]
    pub(super) async fn is_open(&self) -> bool {
        self.line.lock().await.connection.as_ref().is_some_and(|connection| connection.is_open())
    }

    async fn begin(&self) -> Result<(Arc<Connection>, Vec<Tool>), String> {
        let begin = async {
            let connection = (self.dial)().await?;
            let tools = connection.tools().await?;
            Ok((Arc::new(connection), tools))
        };
        let limit = self.config.to_start();
        let late = || format!("it did not answer within {} s", limit.as_secs_f64());
        timeout(limit, begin).await.unwrap_or_else(|_| Err(late()))
    }

    /// Returns the conversation; it begins a new one where that is allowed.
    async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut line = self.line.lock().await;
        if let Some(connection) = line.connection.clone() {
            if connection.is_open() {
                return Ok(connection);
            }
            self.ended(&mut line, &connection).await;
        }
        if line.restarts == 0 {
            return Err(format!("it is gone: {}", line.why));
        }
        line.restarts -= 1;
        let (connection, tools) = self.begin().await.inspect_err(|why| line.why.clone_from(why))?;
        self.compare(&tools);
        line.connection = Some(connection.clone());
        (self.tell)(Notice::Restarted { server: self.name.clone() });
        Ok(connection)
    }

    /// Notes that the conversation ended during a call, and returns the reason.
    async fn lose(&self, connection: &Arc<Connection>) -> String {
        let mut line = self.line.lock().await;
        // Another call may have noticed it before.
        if line.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            self.ended(&mut line, connection).await;
        }
        line.why.clone()
    }

    async fn ended(&self, line: &mut Line, connection: &Connection) {
        line.connection = None;
        line.why = connection.why().await;
        (self.tell)(Notice::Ended { server: self.name.clone(), why: line.why.clone() });
    }

    /// Compares the server's present definitions with the first ones.
    fn compare(&self, tools: &[Tool]) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, was) in self.taken.get().into_iter().flatten() {
            let what = match tools.iter().find(|tool| tool.name == *name).map(Definition::of) {
                None => vec!["it is gone".to_owned()],
                Some(Err(why)) => vec![why],
                Some(Ok(now)) if now.fingerprint() == was.fingerprint() => {
                    changed.remove(name);
                    continue;
                }
                Some(Ok(now)) => now.changes(was),
            };
            if changed.get(name) != Some(&what) {
                let (server, tool) = (self.name.clone(), name.clone());
                (self.tell)(Notice::Changed { server, tool, what: what.clone() });
                changed.insert(name.clone(), what);
            }
        }
    }
}

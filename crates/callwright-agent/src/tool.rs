//! Defines a tool: its name, its schema, its rights, and its work.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::{Map, Value};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::arguments::Arguments;
use crate::known_as::KnownAs;
use crate::rights::Why;
use crate::workspace::Workspace;

/// A capability that a model can call.
///
/// A documented function becomes one with [`macro@crate::tool`], a closure with [`crate::FunctionTool`].
pub trait Tool: Send + Sync {
    /// Returns its definition in OpenAI's form:
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`.
    fn definition(&self) -> Value;

    /// Returns its other names: a call under one is a call of this tool. A declared tool of such a name goes first.
    fn known_as(&self) -> KnownAs {
        KnownAs::default()
    }

    /// Returns its kind; the default is the most dangerous one.
    fn kind(&self) -> Kind {
        Kind::DESTRUCTIVE
    }

    /// Returns the kind of a call with these arguments; never more than [`Tool::kind`] allows.
    fn kind_of(&self, _arguments: &Arguments) -> Kind {
        self.kind()
    }

    /// Returns the time limit of a call with these arguments; `None` where it waits for a person.
    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(Duration::from_secs(30))
    }

    /// Returns the reason why a person must approve such a call, whatever is permitted.
    fn needs_approval(&self, _arguments: &Arguments) -> Option<Why> {
        None
    }

    /// Returns the reason why even its reading calls need the user's permission.
    fn needs_permission(&self) -> Option<Why> {
        None
    }

    /// Returns whether the run ends with a call of it.
    fn ends_run(&self) -> bool {
        false
    }

    /// Does the work. The arguments fit the schema of the definition.
    ///
    /// Once `context.cancellation` fires, the work should end: a future that is not ready soon after is dropped.
    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a>;
}

/// The work of a call.
pub type Calling<'a> = Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>;

/// The context of a call, besides its arguments.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The id of the call, for records about it.
    pub call_id: String,
    /// The files that the tool may reach.
    pub workspace: Arc<Workspace>,
    /// The switch that ends the work: the call timed out, or the user cancelled.
    pub cancellation: CancellationToken,
    /// The most that the result may hold.
    pub limits: Limits,
    /// A person saw this very call and approved it.
    pub approved: bool,
}

impl CallContext {
    /// Creates the context of one call, not yet cancelled.
    pub fn new(call_id: impl Into<String>, workspace: Arc<Workspace>) -> CallContext {
        CallContext {
            call_id: call_id.into(),
            workspace,
            cancellation: CancellationToken::new(),
            limits: Limits::default(),
            approved: false,
        }
    }
}

/// The most that a result may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of text: of a file, of a command's output, of a result.
    pub bytes: usize,
    /// The most lines of a file, entries of a directory, matches of a search.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 32 << 10, entries: 500 }
    }
}

/// The rights of a tool over the world, by local declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kind {
    /// The most that it may change.
    pub effect: Effect,
    /// A second equal call changes nothing more, so a call whose outcome is unknown may be made again.
    pub idempotent: bool,
    /// The parties that it reaches.
    pub world: World,
}

/// The extent of a tool's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Read,
    /// The tool adds, or makes changes that can be undone.
    Write,
    /// Anything, for good: undeclared tools, shells, money.
    Destructive,
}

/// The parties that a tool reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum World {
    /// The workspace and this machine alone.
    Closed,
    /// Others, so that data in its arguments can leak.
    Open,
}

impl Kind {
    /// The tool reads in the closed world.
    pub const READ: Kind = Kind { effect: Effect::Read, idempotent: true, world: World::Closed };
    /// The tool makes changes that can be undone, in the closed world.
    pub const WRITE: Kind = Kind { effect: Effect::Write, idempotent: false, world: World::Closed };
    /// The kind of a tool that is not known to be safer.
    pub const DESTRUCTIVE: Kind = Kind { effect: Effect::Destructive, idempotent: false, world: World::Open };

    /// Returns this kind, for a tool that may run twice.
    pub const fn idempotent(self) -> Kind {
        Kind { idempotent: true, ..self }
    }

    /// Returns this kind, for a tool that reaches others.
    pub const fn open(self) -> Kind {
        Kind { world: World::Open, ..self }
    }

    /// Returns this kind, for a tool that stays within this machine.
    pub const fn closed(self) -> Kind {
        Kind { world: World::Closed, ..self }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolResult {
    /// A text.
    Text(String),
    /// A JSON object.
    Object(Map),
    /// The tool failed, and gives the reason: data for the model, while the run goes on.
    Error(ToolError),
}

impl ToolResult {
    /// Makes a result of `value`: an object as it is, a string as text, others as JSON text.
    pub fn of(value: Value) -> ToolResult {
        match value {
            Value::Object(object) => ToolResult::Object(object),
            Value::String(text) => ToolResult::Text(text),
            other => ToolResult::Text(other.to_string()),
        }
    }

    /// Returns the model's view: text as it is, others as JSON.
    pub fn content(&self) -> String {
        match self {
            ToolResult::Text(text) => text.clone(),
            ToolResult::Object(object) => Value::Object(object.clone()).to_string(),
            ToolResult::Error(error) => {
                let object = Value::Object(error.to_object()).to_string();
                error.lines.iter().fold(object, |object, lines| format!("{object}\n{lines}"))
            }
        }
    }

    /// Returns whether the tool failed.
    pub fn is_error(&self) -> bool {
        matches!(self, ToolResult::Error(_))
    }
}

/// The reason why a tool failed: `{"error": "no such file or directory", "path": "a.txt"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// One sentence without full stop.
    pub message: String,
    /// The path of the error, as the model wrote it.
    pub path: Option<String>,
    /// Further facts for the model.
    pub more: Box<Map>,
    /// Lines behind the object: text that the model may send as it is. Inside the object its quotes would have
    /// backslashes, and the model would copy a key.
    pub lines: Option<String>,
}

impl ToolError {
    /// Creates an error without a path.
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), path: None, more: Box::default(), lines: None }
    }

    /// Creates an error about `path`.
    pub fn at(path: &str, why: impl fmt::Display) -> ToolError {
        ToolError { path: Some(path.to_owned()), ..ToolError::new(why.to_string()) }
    }

    /// Returns this error with one more member.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> ToolError {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// Returns this error with these lines behind it.
    pub fn with_lines(mut self, lines: impl Into<String>) -> ToolError {
        self.lines = Some(lines.into());
        self
    }

    /// Returns the error as JSON, without the lines behind it.
    pub fn to_object(&self) -> Map {
        let mut object = Map::new();
        object.insert("error".to_owned(), json!(self.message));
        if let Some(path) = &self.path {
            object.insert("path".to_owned(), json!(path));
        }
        object.extend(Map::clone(&self.more));
        object
    }
}

impl From<ToolError> for ToolResult {
    fn from(error: ToolError) -> ToolResult {
        ToolResult::Error(error)
    }
}

//! What a tool is: a name, a schema, what it may do to the world, and the work itself.

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

/// Something that a model can have done.
///
/// A documented function becomes one with [`macro@crate::tool`], a closure with [`crate::FunctionTool`].
pub trait Tool: Send + Sync {
    /// Its definition as OpenAI has it: `{"type": "function", "function": {"name", "description", "parameters"}}`.
    fn definition(&self) -> Value;

    /// What else it is called: a call under another name is one of it. A declared tool of such a name goes before.
    fn known_as(&self) -> KnownAs {
        KnownAs::default()
    }

    /// What it may do to the world. Unless told otherwise, the worst.
    fn kind(&self) -> Kind {
        Kind::DESTRUCTIVE
    }

    /// What a call with these arguments may do; never more than [`Tool::kind`] says.
    fn kind_of(&self, _arguments: &Arguments) -> Kind {
        self.kind()
    }

    /// How long a call with these arguments may take; none where it waits for a person.
    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(Duration::from_secs(30))
    }

    /// Must a person approve such a call, whatever is permitted, and why?
    fn needs_approval(&self, _arguments: &Arguments) -> Option<Why> {
        None
    }

    /// Must the user have permitted its calls even where they only read, and why?
    fn needs_permission(&self) -> Option<Why> {
        None
    }

    /// Does the run end with a call of it?
    fn ends_run(&self) -> bool {
        false
    }

    /// Does the work. The arguments fit the schema of the definition.
    ///
    /// When `context.cancellation` says so, the work is to be ended: a future that is not ready soon after is dropped.
    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a>;
}

/// The work of a call.
pub type Calling<'a> = Pin<Box<dyn Future<Output = ToolResult> + Send + 'a>>;

/// What a tool is given besides its arguments.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The id of the call, for what is kept about it.
    pub call_id: String,
    /// The files that may be reached.
    pub workspace: Arc<Workspace>,
    /// Ends the work: the call timed out, or the user had enough.
    pub cancellation: CancellationToken,
    /// How much may come back.
    pub limits: Limits,
    /// A person has seen this very call, and said yes.
    pub approved: bool,
}

impl CallContext {
    /// A context for one call, which nobody has cancelled yet.
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

/// How much a result may hold.
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

/// What a tool may do to the world, by local declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kind {
    /// How much it may change.
    pub effect: Effect,
    /// Twice is as once: a call whose outcome is unknown may be made again.
    pub idempotent: bool,
    /// Whom it reaches.
    pub world: World,
}

/// How much a tool may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Read,
    /// It adds, or changes what can be had back.
    Write,
    /// Anything, and for good: what nobody declared, shells, money.
    Destructive,
}

/// Whom a tool reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum World {
    /// The workspace and this machine alone.
    Closed,
    /// Others: what is in its arguments can leak.
    Open,
}

impl Kind {
    /// It reads in the closed world.
    pub const READ: Kind = Kind { effect: Effect::Read, idempotent: true, world: World::Closed };
    /// It writes what can be had back, in the closed world.
    pub const WRITE: Kind = Kind { effect: Effect::Write, idempotent: false, world: World::Closed };
    /// What is not known to be better.
    pub const DESTRUCTIVE: Kind = Kind { effect: Effect::Destructive, idempotent: false, world: World::Open };

    /// This kind, for a tool that may run twice.
    pub const fn idempotent(self) -> Kind {
        Kind { idempotent: true, ..self }
    }

    /// This kind, for a tool that reaches others.
    pub const fn open(self) -> Kind {
        Kind { world: World::Open, ..self }
    }

    /// This kind, for a tool that stays within this machine.
    pub const fn closed(self) -> Kind {
        Kind { world: World::Closed, ..self }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolResult {
    /// A text.
    Text(String),
    /// A JSON object.
    Object(Map),
    /// The tool could not do it, and says why: data for the model, no failure of the run.
    Error(ToolError),
}

impl ToolResult {
    /// `value` as a result: an object as it is, a string as text, all else as JSON text.
    pub fn of(value: Value) -> ToolResult {
        match value {
            Value::Object(object) => ToolResult::Object(object),
            Value::String(text) => ToolResult::Text(text),
            other => ToolResult::Text(other.to_string()),
        }
    }

    /// What the model reads: text as it is, the rest as JSON.
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

    /// Did the tool fail?
    pub fn is_error(&self) -> bool {
        matches!(self, ToolResult::Error(_))
    }
}

/// Why a tool could not do it: `{"error": "no such file or directory", "path": "a.txt"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// One sentence without full stop.
    pub message: String,
    /// The path that it is about, as the model wrote it.
    pub path: Option<String>,
    /// What else the model should know.
    pub more: Box<Map>,
    /// What stands behind the object, in lines of its own: what the model may send as it is. Inside the object its quotes would
    /// have backslashes, and under a key the model would copy the key.
    pub lines: Option<String>,
}

impl ToolError {
    /// An error about no path.
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), path: None, more: Box::default(), lines: None }
    }

    /// An error about `path`.
    pub fn at(path: &str, why: impl fmt::Display) -> ToolError {
        ToolError { path: Some(path.to_owned()), ..ToolError::new(why.to_string()) }
    }

    /// This error with one more member.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> ToolError {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// This error with what stands behind it.
    pub fn with_lines(mut self, lines: impl Into<String>) -> ToolError {
        self.lines = Some(lines.into());
        self
    }

    /// As JSON, without the lines behind it.
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

//! Implements `runCommand`: a shell command behind walls, awaited or in the background.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::{Map, Value};

use super::names;
use super::work::{define, object};
use crate::arguments::Arguments;
use crate::command::{Commands, End, Launch, Running};
use crate::known_as::KnownAs;
use crate::rights::Why;
use crate::sandbox::confinement;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

/// The default and the most seconds of a command.
const SECONDS: u64 = 120;
const MAX_SECONDS: u64 = 1800;

/// The tool.
pub struct RunCommand(Arc<Commands>);

impl RunCommand {
    /// Creates the tool; `commands` runs its commands.
    pub fn new(commands: Arc<Commands>) -> RunCommand {
        RunCommand(commands)
    }
}

impl fmt::Debug for RunCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunCommand")
    }
}

pub(super) fn definition() -> Value {
    let properties = json!({
        "command": {"type": "string", "description": "For sh, in the workspace (e.g., 'cargo test')"},
        "timeout_s": {"type": "integer", "description": "Seconds to wait; 120 if left out"},
        "background": {"type": "boolean", "description": "Return an id at once, for servers and the like"},
        "id": {"type": "integer", "description": "Instead of command: new output of a background command"},
        "stop": {"type": "boolean", "description": "With id: end it"},
    });
    let description =
        "Run a shell command. It may write in the workspace only. Use this when no other tool can do it.";
    define("runCommand", description, properties, &[])
}

impl Tool for RunCommand {
    fn definition(&self) -> Value {
        definition()
    }

    fn known_as(&self) -> KnownAs {
        names::known_as("runCommand")
    }

    fn kind(&self) -> Kind {
        if self.0.has_network() { Kind::DESTRUCTIVE } else { Kind::DESTRUCTIVE.closed() }
    }

    fn kind_of(&self, arguments: &Arguments) -> Kind {
        // Its start was approved; reading its output, or ending it, changes nothing more.
        let is_about_a_running_one = matches!(arguments.object().get("id"), Some(Value::Number(_)))
            && matches!(arguments.object().get("command"), None | Some(Value::Null));
        if is_about_a_running_one { Kind::READ } else { self.kind() }
    }

    fn timeout(&self, arguments: &Arguments) -> Option<Duration> {
        let seconds = arguments.optional_number("timeout_s").ok().flatten().unwrap_or(SECONDS);
        Some(Duration::from_secs(seconds.clamp(1, MAX_SECONDS)))
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        let is_unconfined = self.kind_of(arguments) != Kind::READ && confinement().is_err();
        is_unconfined.then_some(Why::Unconfined)
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move { self.run(arguments, context).await.unwrap_or_else(ToolResult::from) })
    }
}

impl RunCommand {
    async fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let command = arguments.optional_string("command")?;
        let id = arguments.optional_number("id")?;
        match (command, id) {
            (Some(command), None) if arguments.flag("background")? => self.begin(command, context).await,
            (Some(command), None) => self.finish(command, context).await,
            (None, Some(id)) => self.look(id, arguments, context).await,
            (None, None) => Err(ToolError::new("command must be a string")),
            (Some(_), Some(_)) => Err(ToolError::new("give either command or id, not both")),
        }
    }

    async fn start(&self, command: &str, context: &CallContext) -> Result<Arc<Running>, ToolError> {
        let (unconfined, max_output) = (context.approved, context.limits.bytes);
        let started = self.0.start(Launch { command, unconfined, max_output, reads_only: false }).await;
        started.map_err(|error| ToolError::new(error.to_string()))
    }

    async fn begin(&self, command: &str, context: &CallContext) -> Result<ToolResult, ToolError> {
        let running = self.start(command, context).await?;
        let id = self.0.keep(running).map_err(|error| ToolError::new(error.to_string()))?;
        Ok(ToolResult::Object(object([("id", json!(id)), ("running", json!(true))])))
    }

    async fn finish(&self, command: &str, context: &CallContext) -> Result<ToolResult, ToolError> {
        let running = self.start(command, context).await?;
        tokio::select! {
            end = running.wait() => result(Map::new(), &end, &running),
            () = context.cancellation.cancelled() => {
                running.stop().await;
                let message = "the command and all that it started were ended before it was done";
                let error = ToolError::new(message).with("output", running.take_output());
                Err(set_aside(&running).into_iter().fold(error, |error, aside| error.with("set_aside", aside)))
            }
        }
    }

    async fn look(
        &self,
        id: u64,
        arguments: &Arguments,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        let Some(running) = self.0.get(id) else {
            let ids: Vec<String> = self.0.ids().iter().map(u64::to_string).collect();
            let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            return Err(ToolError::new(format!("there is no background command {id}; there are: {known}")));
        };
        let members = object([("id", json!(id))]);
        // Its latest output or end may still be unread.
        tokio::task::yield_now().await;
        if arguments.flag("stop")? {
            let end = running.stop().await;
            self.0.forget(id);
            return result(members, &end, &running);
        }
        // Without a time its state is reported at once.
        if arguments.optional_number("timeout_s")?.is_some() {
            let patience =
                self.timeout(arguments).unwrap_or_default().saturating_sub(Duration::from_millis(100));
            tokio::select! {
                _ = running.wait() => {}
                () = tokio::time::sleep(patience) => {}
                () = context.cancellation.cancelled() => {}
            }
        }
        match running.end() {
            Some(end) => {
                self.0.forget(id);
                result(members, &end, &running)
            }
            None => {
                let more = object([("running", json!(true)), ("output", json!(running.take_output()))]);
                Ok(ToolResult::Object(members.into_iter().chain(more).collect()))
            }
        }
    }
}

fn result(mut members: Map, end: &End, running: &Running) -> Result<ToolResult, ToolError> {
    let aside = set_aside(running);
    match end {
        End::Exited(code) => members.insert("exit_code".to_owned(), json!(code)),
        End::Killed(signal) => members.insert("signal".to_owned(), json!(signal)),
        End::Failed(why) => {
            let error = ToolError::new(why.clone()).with("output", running.take_output());
            return Err(aside.into_iter().fold(error, |error, aside| error.with("set_aside", aside)));
        }
    };
    // This comes before the command's own words, as people see the beginning.
    members.extend(aside.map(|aside| ("set_aside".to_owned(), json!(aside))));
    members.insert("output".to_owned(), json!(running.take_output()));
    Ok(ToolResult::Object(members))
}

/// The most names of files that were set aside.
const MAX_ASIDE: usize = 20;

/// Returns the facts about files that a command made and that programs would obey, for the model and the user.
pub(super) fn set_aside(running: &Running) -> Option<String> {
    let aside = running.aside();
    if aside.is_empty() {
        return None;
    }
    let named = aside.iter().take(MAX_ASIDE).map(|aside| {
        let path = aside.path.display();
        match &aside.to {
            Some(to) => format!("{path} is {} ({})", to.display(), aside.by),
            None => format!("{path} could not be renamed, and is to be looked at ({})", aside.by),
        }
    });
    let more = aside.len().saturating_sub(MAX_ASIDE);
    let more = (0 < more).then(|| format!("and {more} more"));
    let named: Vec<String> = named.chain(more).collect();
    let why = "programs would run what stands there without a question, so only the user can put it back by this name";
    Some(format!("{}; {why}", named.join(", ")))
}

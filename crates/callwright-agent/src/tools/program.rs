//! Makes a tool of a program: the run's starter declares it, and it runs behind the same walls as any command.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::{Map, Value};

use super::run_command::set_aside;
use crate::arguments::Arguments;
use crate::command::{Commands, End, Launch};
use crate::rights::Why;
use crate::sandbox::confinement;
use crate::tool::{CallContext, Calling, Effect, Kind, Tool, ToolError, ToolResult};

/// A tool that starts a program with the call's arguments in its own.
///
/// In its words `{name}` stands for the argument of that name: a text as it is, any other value as JSON, a missing one
/// as nothing. An argument is always part of one word: no shell splits it.
pub struct Program {
    definition: Value,
    words: Vec<String>,
    kind: Kind,
    timeout: Duration,
    commands: Arc<Commands>,
}

impl Program {
    /// Creates a tool of this definition that starts these words. The program's output is the result; a status other
    /// than 0 is an error.
    pub fn new(
        name: &str,
        description: &str,
        parameters: &Value,
        words: Vec<String>,
        commands: Arc<Commands>,
    ) -> Program {
        let function = json!({"name": name, "description": description, "parameters": parameters});
        Program {
            definition: json!({"type": "function", "function": function}),
            words,
            kind: Kind::DESTRUCTIVE.closed(),
            timeout: Duration::from_secs(30),
            commands,
        }
    }

    /// Declares the program to be of this kind. A reading program cannot write in the workspace.
    pub fn of_kind(self, kind: Kind) -> Program {
        Program { kind, ..self }
    }

    /// Sets the time limit of each call.
    pub fn within(self, timeout: Duration) -> Program {
        Program { timeout, ..self }
    }

    async fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let words: Vec<String> =
            self.words.iter().map(|word| quoted(&filled(word, arguments.object()))).collect();
        let command = &words.join(" ");
        let (unconfined, max_output) = (context.approved, context.limits.bytes);
        let reads_only = self.kind.effect == Effect::Read;
        let started = self.commands.start(Launch { command, unconfined, max_output, reads_only }).await;
        let running = started.map_err(|error| ToolError::new(error.to_string()))?;
        let end = tokio::select! {
            end = running.wait() => end,
            () = context.cancellation.cancelled() => {
                running.stop().await;
                let message = "the program and all that it started were ended before it was done";
                return Err(ToolError::new(message).with("output", running.take_output()));
            }
        };
        let output = match set_aside(&running) {
            Some(aside) => format!("[{aside}]\n{}", running.take_output()),
            None => running.take_output(),
        };
        match end {
            End::Exited(0) => Ok(ToolResult::Text(output.trim_end_matches('\n').to_owned())),
            End::Exited(code) => {
                Err(ToolError::new(format!("it ended with status {code}")).with("output", output))
            }
            End::Killed(signal) => {
                Err(ToolError::new(format!("it was ended by signal {signal}")).with("output", output))
            }
            End::Failed(why) => Err(ToolError::new(why)),
        }
    }
}

impl Tool for Program {
    fn definition(&self) -> Value {
        self.definition.clone()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        Some(self.timeout)
    }

    fn needs_permission(&self) -> Option<Why> {
        // The declared kind is only the word of the run file's author.
        Some(Why::Starts)
    }

    fn needs_approval(&self, _arguments: &Arguments) -> Option<Why> {
        confinement().is_err().then_some(Why::Unconfined)
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move { self.run(arguments, context).await.unwrap_or_else(ToolResult::from) })
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("words", &self.words).finish_non_exhaustive()
    }
}

/// Returns `word` with the values of the arguments that it names: `{code}` → `print(1)`. Other braces stay.
fn filled(word: &str, arguments: &Map) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let name = behind.split_once('}').filter(|(name, _)| is_name(name));
        let Some((name, behind)) = name else {
            out.push('{');
            rest = behind;
            continue;
        };
        match arguments.get(name) {
            Some(Value::String(text)) => out.push_str(text),
            Some(Value::Null) | None => {}
            Some(other) => out.push_str(&other.to_string()),
        }
        rest = behind;
    }
    out + rest
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Quotes one word for sh: inside quotes only the quote itself has a meaning.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parts_of_words_and_nothing_else() {
        let arguments = json!({"code": "print('x'); $(id) `id` {b}", "n": 3, "none": null});
        let arguments = arguments.as_object().unwrap();
        for (word, wanted) in [
            ("{code}", "print('x'); $(id) `id` {b}"),
            ("-n{n}", "-n3"),
            ("{none}{missing}", ""),
            ("{ not a name } {", "{ not a name } {"),
        ] {
            assert_eq!(filled(word, arguments), wanted);
        }
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}

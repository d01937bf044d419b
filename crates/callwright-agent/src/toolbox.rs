//! Holds the tools of a run, in the order of their declaration: a call goes in, a result always comes out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use callwright::value::Value;
use callwright::{Policy, Reason, Refusal, ToolSet, ToolSetError, Verdict};
use callwright_json::strict;
use callwright_relay::Choice;
use tokio::time::timeout;

use crate::arguments::Arguments;
use crate::known_as::{Known, may_be_meant};
use crate::rights::{Decision, Repaired, Rights, Why};
use crate::tool::{CallContext, Kind, Tool, ToolError, ToolResult};

/// The time that cancelled work has to end.
const GRACE: Duration = Duration::from_secs(2);
/// The bytes that a member of a result or an error may have, whatever the bound.
const NOTE: usize = 256;
/// The most bytes of a result outside its texts.
const FRAME: usize = 4 << 10;

/// The tools of a run.
///
/// ```
/// use callwright_agent::{Toolbox, tool, tools};
///
/// /// Add two numbers together.
/// #[tool(read)]
/// fn add_numbers(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let toolbox = Toolbox::new(tools![add_numbers])?;
/// assert_eq!(toolbox.names().collect::<Vec<_>>(), ["add_numbers"]);
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    definitions: Vec<Value>,
    tool_set: ToolSet,
}

impl Toolbox {
    /// Compiles the definitions of `tools`.
    ///
    /// # Errors
    /// Fails when a definition is unusable, or two tools share a name.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Toolbox, ToolSetError> {
        let definitions: Vec<Value> = tools.iter().map(|tool| tool.definition()).collect();
        let tool_set = ToolSet::from_value(&Value::Array(definitions.clone()))?;
        Ok(Toolbox { tools, definitions, tool_set })
    }

    /// Returns the definitions that go with each request.
    pub fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// Returns the tools that the engine reads calls with.
    pub fn tool_set(&self) -> &ToolSet {
        &self.tool_set
    }

    /// Returns the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tool_set.iter().map(callwright::Tool::name)
    }

    /// Returns the tool with exactly this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let at = self.tool_set.iter().position(|tool| tool.name() == name)?;
        self.tools.get(at)
    }

    /// Returns the verdict on a call that was refused because no tool has its name, if a tool is known under it.
    pub(crate) fn read_known(&self, refusal: &Refusal, choice: &Choice, policy: Policy) -> Option<Verdict> {
        let Reason::UnknownTool { declared, .. } = &refusal.reason else { return None };
        let known = self.known_as(refusal.name.as_deref()?)?;
        known.verdict(refusal, choice, policy, declared.clone())
    }

    /// Returns the tool that is known as `written`; `None` where another one may be meant.
    fn known_as(&self, written: &str) -> Option<Known<'_>> {
        let all = || self.tool_set.iter().zip(&self.tools);
        let known = |(tool, own): (_, &Arc<dyn Tool>)| Known { tool, known_as: own.known_as() };
        let mut known = all().map(known).filter(|known| known.known_as.has(written));
        let (Some(one), None) = (known.next(), known.next()) else { return None };
        let is_other = |name: &str| name != one.tool.name() && may_be_meant(name, written);
        (!self.names().any(is_other)).then_some(one)
    }

    /// Returns the kind of a call; an unknown call may do anything.
    pub fn kind_of(&self, name: &str, arguments: &str) -> Kind {
        match (self.get(name), Arguments::read(arguments)) {
            (Some(tool), Ok(arguments)) => tool.kind_of(&arguments),
            _ => Kind::DESTRUCTIVE,
        }
    }

    /// Returns whether a call of the tool waits for a person.
    pub(crate) fn waits_for_a_person(&self, name: &str, arguments: &str) -> bool {
        match (self.get(name), Arguments::read(arguments)) {
            (Some(tool), Ok(arguments)) => tool.timeout(&arguments).is_none(),
            _ => false,
        }
    }

    /// Decides about a call, by the user's permissions and the call's repairs.
    pub fn decide(&self, name: &str, arguments: &str, repaired: Repaired, rights: &Rights) -> Decision {
        let decision = match (rights.decide(name, self.kind_of(name, arguments), repaired), self.get(name)) {
            (Decision::Run, Some(tool)) if !rights.permits(name) => {
                tool.needs_permission().map_or(Decision::Run, Decision::Ask)
            }
            (decision, _) => decision,
        };
        let needs_approval = match (self.get(name), Arguments::read(arguments)) {
            (Some(tool), Ok(arguments)) => tool.needs_approval(&arguments),
            _ => None,
        };
        match (decision, needs_approval) {
            // A reason that holds whatever is permitted says more than a missing permission.
            (Decision::Run | Decision::Ask(Why::Writes | Why::Destroys | Why::Starts), Some(why)) => {
                Decision::Ask(why)
            }
            (Decision::Run | Decision::Ask(_) | Decision::Feedback | Decision::Refuse(_), _) => decision,
        }
    }

    /// Runs one call. The caller must have decided before that it may run.
    ///
    /// Arguments that do not fit the schema are an error for the model, and so is a timeout. When this returns, also
    /// after `context.cancellation`, no part of the call goes on.
    pub async fn call(&self, name: &str, arguments: &str, context: &CallContext) -> ToolResult {
        let (Some(tool), Some(compiled)) = (self.get(name), self.tool_set.get(name)) else {
            return ToolError::new(format!("there is no tool `{name}`")).into();
        };
        let arguments = match fitting(compiled, arguments) {
            Ok(arguments) => arguments,
            Err(error) => return error.into(),
        };
        let limit = tool.timeout(&arguments);
        // The child token ends this call without ending others.
        let context = CallContext { cancellation: context.cancellation.child_token(), ..context.clone() };
        let ended = async {
            match limit {
                Some(limit) => tokio::select! {
                    () = tokio::time::sleep(limit) => Ended::OutOfTime(limit),
                    () = context.cancellation.cancelled() => Ended::Cancelled,
                },
                None => {
                    context.cancellation.cancelled().await;
                    Ended::Cancelled
                }
            }
        };
        let mut work = tool.call(&arguments, &context);
        let result = tokio::select! {
            biased;
            result = &mut work => result,
            ended = ended => {
                context.cancellation.cancel();
                // The work's own words at its end say more than ours.
                match timeout(GRACE, &mut work).await {
                    Ok(ToolResult::Error(error)) => error.with("ended", ended.to_string()).into(),
                    _ => ToolError::new(ended.to_string()).into(),
                }
            }
        };
        capped(result, context.limits.bytes)
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

enum Ended {
    OutOfTime(Duration),
    Cancelled,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::OutOfTime(limit) => write!(f, "ended after {} s, the tool's time", limit.as_secs_f64()),
            Ended::Cancelled => f.write_str("cancelled by the user"),
        }
    }
}

/// Returns the arguments, if they fit the schema and have only declared names.
fn fitting(tool: &callwright::Tool, text: &str) -> Result<Arguments, ToolError> {
    let arguments = Arguments::read(text)?;
    let tree = strict(text).map_err(|at| ToolError::new(format!("Invalid JSON: at byte {at}")))?;
    let mut violations = tool.schema().check(tree.root(text)).into_iter().map(|violation| violation.message);
    let Some(first) = violations.next() else { return Ok(arguments) };
    let also: Vec<Value> = violations.map(Value::from).collect();
    let error = ToolError::new(first);
    Err(if also.is_empty() { error } else { error.with("also", also) })
}

/// Shortens each text of the result to `max` bytes, and counts the missing part.
fn capped(result: ToolResult, max: usize) -> ToolResult {
    match result {
        ToolResult::Text(text) => ToolResult::Text(cut(text, max)),
        ToolResult::Object(mut object) => {
            for (_, value) in object.iter_mut() {
                if let Value::String(text) = value {
                    // A path or a note stays whole.
                    *text = cut(std::mem::take(text), max.max(NOTE));
                }
            }
            let length = Value::Object(object.clone()).to_string().len();
            // JSON spells line ends and quotes with two bytes, and names and numbers stand beside the texts.
            if length <= 4 * max + FRAME {
                return ToolResult::Object(object);
            }
            ToolError::new(format!("the result has {length} bytes, which is too long: ask for less")).into()
        }
        ToolResult::Error(mut error) => {
            error.message = cut(error.message, max.max(NOTE));
            error.into()
        }
    }
}

/// Returns `text`, or its beginning with the size of the missing part.
pub(crate) fn cut(mut text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let kept = text.floor_char_boundary(max);
    let missing = text.len() - kept;
    text.truncate(kept);
    text.push_str(&format!("\n… {missing} more bytes"));
    text
}

#[cfg(test)]
mod tests {
    use callwright::{Context, NativeCall, json, parse};

    use super::*;
    use crate::known_as::KnownAs;
    use crate::tool::Calling;

    struct Named(&'static str, KnownAs);

    impl Tool for Named {
        fn definition(&self) -> Value {
            let path =
                json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
            json!({"type": "function", "function": {"name": self.0, "parameters": path}})
        }

        fn known_as(&self) -> KnownAs {
            self.1
        }

        fn call<'a>(&'a self, _arguments: &'a Arguments, _context: &'a CallContext) -> Calling<'a> {
            Box::pin(std::future::ready(ToolResult::Text(String::new())))
        }
    }

    /// Returns the tool that a call of `name` with these arguments reaches, beside `others`, and its arguments there.
    fn called(others: &[&'static str], name: &str, arguments: &str) -> Option<(String, String)> {
        let parameters = &[("file_path", "path")];
        let known_as = KnownAs { names: &["read_file"], parameters, comments: &["why"] };
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Named("fsRead", known_as))];
        tools.extend(others.iter().map(|name| Arc::new(Named(name, KnownAs::default())) as Arc<dyn Tool>));
        let toolbox = Toolbox::new(tools).unwrap();
        let native = NativeCall { id: Some("c"), name, arguments };
        let outcome = parse(toolbox.tool_set(), "", &[native], &Context::default());
        let mut choice = Choice::default();
        choice.outcome = outcome;
        let verdict = match choice.outcome.verdicts.first()? {
            Verdict::Accepted(call) => Some(Verdict::Accepted(call.clone())),
            Verdict::Refused(refusal) => toolbox.read_known(refusal, &choice, Policy::Auto),
        };
        match verdict? {
            Verdict::Accepted(call) => Some((call.name, call.arguments)),
            Verdict::Refused(_) => None,
        }
    }

    #[test]
    fn a_tool_answers_to_its_other_names_where_no_other_may_be_meant() {
        let path = r#"{"path": "a"}"#;
        let called_as = |others: &[&'static str], name| called(others, name, path).map(|(name, _)| name);
        for name in ["read_file", "ReadFile", "readFile", "READ-FILE"] {
            assert_eq!(called_as(&[], name).as_deref(), Some("fsRead"), "{name}");
        }
        // A declared name goes first.
        assert_eq!(called_as(&["read_file"], "read_file").as_deref(), Some("read_file"));
        assert_eq!(called_as(&["ReadFile"], "read_file").as_deref(), Some("ReadFile"));
        for other in ["files__read_file", "docs.readFile", "Read_File"] {
            assert_ne!(called_as(&[other], "read_file").as_deref(), Some("fsRead"), "{other}");
        }
        assert_eq!(called_as(&["reread"], "read_file").as_deref(), Some("fsRead"));
        // Look-alike letters, and undeclared names, reach no tool.
        for name in ["r\u{435}ad_file", "read_files", "file_read", ""] {
            assert_eq!(called_as(&[], name), None, "{name}");
        }
    }

    #[test]
    fn arguments_get_their_declared_names_and_none_is_dropped() {
        let read = |arguments| called(&[], "read_file", arguments).map(|(_, arguments)| arguments);
        for (written, meant) in [
            (r#"{ "path":"a"}"#, Some(r#"{ "path":"a"}"#)),
            (r#"{"filePath" : "a"}"#, Some(r#"{"path" : "a"}"#)),
            (r#"{"file_path": "a", "why": "to see"}"#, Some(r#"{"path": "a", "why": "to see"}"#)),
            (r#"{"file_path": "a",}"#, Some(r#"{"path": "a"}"#)),
            (r#"{"file_path": "a", "offset": 3}"#, None),
            (r#"{"file_path": "a", "path": "b"}"#, None),
            (r#"{"why": "to see"}"#, None),
            (r#"{"file_path": "a"#, None),
        ] {
            assert_eq!(read(written).as_deref(), meant, "{written}");
        }
    }
}

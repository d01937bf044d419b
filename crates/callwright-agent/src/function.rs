//! Makes tools of functions: the types that results are made of, tools of closures, and the parts that `#[tool]`
//! expands to.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use callwright::json;
use callwright::value::{Map, Value};
use serde::Serialize;

use crate::arguments::Arguments;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

/// A value that a tool's function may return.
pub trait IntoResult {
    /// Converts the value into a result for the model.
    fn into_result(self) -> ToolResult;
}

impl IntoResult for ToolResult {
    fn into_result(self) -> ToolResult {
        self
    }
}

impl IntoResult for Value {
    fn into_result(self) -> ToolResult {
        ToolResult::of(self)
    }
}

impl IntoResult for Map {
    fn into_result(self) -> ToolResult {
        ToolResult::Object(self)
    }
}

impl IntoResult for () {
    fn into_result(self) -> ToolResult {
        ToolResult::Text("done".to_owned())
    }
}

macro_rules! as_text {
    ($($kind:ty),*) => {
        $(impl IntoResult for $kind {
            fn into_result(self) -> ToolResult {
                ToolResult::Text(self.to_string())
            }
        })*
    };
}

as_text!(String, &str, char, bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

impl<T: Serialize> IntoResult for Vec<T> {
    fn into_result(self) -> ToolResult {
        Json(self).into_result()
    }
}

impl<T: IntoResult> IntoResult for Option<T> {
    fn into_result(self) -> ToolResult {
        self.map_or_else(|| ToolResult::Text("nothing".to_owned()), T::into_result)
    }
}

impl<T: IntoResult, E: fmt::Display> IntoResult for Result<T, E> {
    fn into_result(self) -> ToolResult {
        match self {
            Ok(value) => value.into_result(),
            Err(error) => ToolError::new(error.to_string()).into(),
        }
    }
}

/// Any serialisable value, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResult for Json<T> {
    fn into_result(self) -> ToolResult {
        match callwright::value::Value::of(&self.0) {
            Ok(value) => ToolResult::of(value),
            Err(error) => ToolError::new(format!("the result is not JSON: {error}")).into(),
        }
    }
}

/// A tool of a closure, for tools that are known only at run time.
///
/// ```
/// use callwright_agent::{Arguments, FunctionTool, Kind, Toolbox};
/// use callwright::json;
/// use std::sync::Arc;
///
/// let schema = json!({"type": "object", "properties": {"text": {"type": "string", "description": "Any text"}},
///                     "required": ["text"]});
/// let echo = FunctionTool::new("echo", "Say the text again.", schema, |arguments: Arguments, _| async move {
///     arguments.string("text").map(str::to_owned).map_err(|error| error.message)
/// });
/// let toolbox = Toolbox::new(vec![Arc::new(echo.of_kind(Kind::READ))])?;
/// assert_eq!(toolbox.names().collect::<Vec<_>>(), ["echo"]);
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
pub struct FunctionTool<F> {
    definition: Value,
    kind: Kind,
    timeout: Option<Duration>,
    function: F,
}

impl<F, W> FunctionTool<F>
where
    F: Fn(Arguments, CallContext) -> W + Send + Sync,
    W: Future<Output: IntoResult> + Send,
{
    /// Creates a tool of this name and description, whose arguments have this schema. It counts as the most dangerous
    /// kind; see [`FunctionTool::of_kind`].
    pub fn new(name: &str, description: &str, schema: Value, function: F) -> FunctionTool<F> {
        FunctionTool {
            definition: definition(name, description, &schema),
            kind: Kind::DESTRUCTIVE,
            timeout: Some(Duration::from_secs(30)),
            function,
        }
    }

    /// Declares the tool to be of this kind.
    pub fn of_kind(self, kind: Kind) -> FunctionTool<F> {
        FunctionTool { kind, ..self }
    }

    /// Sets the time limit of each call; `None` removes it.
    pub fn within(self, timeout: Option<Duration>) -> FunctionTool<F> {
        FunctionTool { timeout, ..self }
    }
}

impl<F, W> Tool for FunctionTool<F>
where
    F: Fn(Arguments, CallContext) -> W + Send + Sync,
    W: Future<Output: IntoResult> + Send,
{
    fn definition(&self) -> Value {
        self.definition.clone()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        self.timeout
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move { (self.function)(arguments.clone(), context.clone()).await.into_result() })
    }
}

impl<F> fmt::Debug for FunctionTool<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}

fn definition(name: &str, description: &str, schema: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
}

/// The parts of the expansion of `#[tool]`; not a public interface.
#[doc(hidden)]
pub mod macros {
    use callwright::value::Map;
    pub use callwright::value::Value;
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde::de::DeserializeOwned;
    pub use {schemars, serde};

    use super::{Arguments, ToolError};

    /// Returns the definition; `names` are the parameters, in their order.
    pub fn definition<P: JsonSchema>(name: &str, description: &str, names: &[&str]) -> Value {
        let mut settings = SchemaSettings::draft2020_12();
        // A model reads the schema: it has no references and no words about itself.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let mut schema = Value::from(settings.into_generator().into_root_schema_for::<P>().to_value());
        plain(&mut schema, 0);
        if let Value::Object(schema) = &mut schema {
            let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(properties) = properties {
                // The generator sorted the members.
                let first: Map = names
                    .iter()
                    .filter_map(|name| Some((name.to_string(), properties.remove(name)?)))
                    .collect();
                let others = std::mem::replace(properties, first);
                properties.extend(others);
            }
            schema.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        }
        super::definition(name, description, &schema)
    }

    pub fn parameters<P: DeserializeOwned>(arguments: &Arguments) -> Result<P, ToolError> {
        serde_json::from_str(arguments.text()).map_err(|error| ToolError::new(error.to_string()))
    }

    /// Removes names of Rust's types, which cost tokens and tell a model nothing.
    fn plain(schema: &mut Value, depth: usize) {
        const NUMBERS: [&str; 13] = [
            "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
            "uint128", "uint", "double",
        ];
        // A type that contains itself is a reference, so this ends; the bound is for all others.
        if 64 < depth {
            return;
        }
        match schema {
            Value::Object(members) => {
                members.remove("title");
                // A missing `Option` is null, so its default adds nothing.
                if members.get("default") == Some(&Value::Null) {
                    members.remove("default");
                }
                let format = members.get("format").and_then(Value::as_str);
                if format.is_some_and(|format| NUMBERS.contains(&format) || format == "float") {
                    members.remove("format");
                }
                for (keyword, member) in members.iter_mut() {
                    match (keyword.as_str(), member) {
                        // These are names of parameters, and `title` may be one.
                        ("properties" | "$defs", Value::Object(named)) => {
                            named.values_mut().for_each(|member| plain(member, depth + 1));
                        }
                        ("enum" | "const" | "default" | "examples", _) => {}
                        (_, member) => plain(member, depth + 1),
                    }
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| plain(element, depth + 1)),
            _ => {}
        }
    }
}

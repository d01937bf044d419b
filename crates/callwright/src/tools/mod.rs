//! Tool definitions: a list of tools goes in, their compiled schemas come out. The submodules read a request's choice
//! of tools, and find the tool that a name means.

mod choice;
mod envelope;
pub(crate) mod names;
pub(crate) mod nearest;

use std::fmt;
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::json;
use crate::value::Value;
use callwright_json::{Guide, Member};
use callwright_schema::keywords::standard_type;
use callwright_schema::names::fold;
use callwright_schema::{MAX_NODES, Schema, SchemaError, SchemaGuide, Unchecked, measure};

pub use self::choice::ToolChoice;
pub(crate) use self::envelope::Expected;
use self::names::NameIndex;

/// Most tools in one set.
pub const MAX_TOOLS: usize = 1024;
/// Longest list of definitions, in bytes.
pub const MAX_BYTES: usize = 4 << 20;

/// The tools that a request declares: borrowed, or shared so that a reader of its answer may go anywhere.
///
/// Made from a reference, an [`Arc`], or the [`ToolSet`] itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Declared<'a> {
    /// The caller keeps the tools.
    Borrowed(&'a ToolSet),
    /// The tools are shared.
    Shared(Arc<ToolSet>),
}

impl Declared<'_> {
    /// Returns the tools.
    pub fn tools(&self) -> &ToolSet {
        match self {
            Declared::Borrowed(tools) => tools,
            Declared::Shared(tools) => tools,
        }
    }
}

impl<'a> From<&'a ToolSet> for Declared<'a> {
    fn from(tools: &'a ToolSet) -> Declared<'a> {
        Declared::Borrowed(tools)
    }
}

impl From<Arc<ToolSet>> for Declared<'_> {
    fn from(tools: Arc<ToolSet>) -> Self {
        Declared::Shared(tools)
    }
}

impl From<&Arc<ToolSet>> for Declared<'_> {
    fn from(tools: &Arc<ToolSet>) -> Self {
        Declared::Shared(Arc::clone(tools))
    }
}

impl From<ToolSet> for Declared<'_> {
    fn from(tools: ToolSet) -> Self {
        Declared::Shared(Arc::new(tools))
    }
}

/// The tools that a model may call, in the order of their declaration.
///
/// ```
/// use callwright::ToolSet;
///
/// let tool_set = ToolSet::from_json(r#"[{"type": "function", "function": {
///     "name": "read_file",
///     "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
/// }}]"#)?;
/// assert!(tool_set.get("read_file").is_some());
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: IndexMap<String, Tool>,
    hosted: Vec<Value>,
    /// Tools with the name of an earlier one.
    doubled: Vec<(String, Unchecked)>,
    call_guide: OnceLock<SchemaGuide>,
    names: OnceLock<NameIndex>,
}

impl ToolSet {
    /// Makes a set without tools: no text of a model is a call.
    pub fn empty() -> ToolSet {
        ToolSet::default()
    }

    /// Compiles the definitions in `text`, JSON: see [`ToolSet::from_value`].
    ///
    /// # Errors
    /// An error means that `text` is not JSON or longer than [`MAX_BYTES`], or comes from [`ToolSet::from_value`].
    pub fn from_json(text: &str) -> Result<ToolSet, ToolSetError> {
        if MAX_BYTES < text.len() {
            return Err(ToolSetError::TooLong);
        }
        let value: Value = serde_json::from_str(text).map_err(|error| ToolSetError::NotJson {
            line: error.line(),
            column: error.column(),
            why: without_place(&error.to_string()).to_owned(),
        })?;
        ToolSet::of_definitions(&value)
    }

    /// Compiles one definition or a list, in any of the forms of the wire, also mixed:
    ///
    /// | of | one tool |
    /// |---|---|
    /// | OpenAI, chat completions | `{"type": "function", "function": {"name", "description", "parameters"}}` |
    /// | OpenAI, responses | `{"type": "function", "name", "description", "parameters"}` |
    /// | Anthropic | `{"name", "description", "input_schema"}` |
    /// | MCP | `{"name", "description", "inputSchema"}` |
    /// | Gemini | `{"functionDeclarations": [{"name", "description", "parameters"}]}`, types in any case |
    ///
    /// A list may stand in `{"tools": […]}`, as in a request and in MCP's result of `tools/list`, and that in
    /// `{"result": …}`. A tool without schema takes no arguments. [`Schema::compile`] lists the schemas that it
    /// understands. Tools that a server runs itself, `{"type": "web_search"}`, stand apart in
    /// [`hosted`](ToolSet::hosted).
    ///
    /// Takes a [`Value`] of ours or one of `serde_json`.
    ///
    /// # Errors
    /// An error means that `definitions` have none of these forms, are more than [`MAX_TOOLS`] tools or [`MAX_BYTES`]
    /// bytes, or that one is not a tool; it says which one. A part that [cannot be checked](ToolSet::unchecked) is not
    /// an error.
    pub fn from_value<V: ?Sized>(definitions: &V) -> Result<ToolSet, ToolSetError>
    where
        for<'v> Value: From<&'v V>,
    {
        ToolSet::of_definitions(&Value::from(definitions))
    }

    fn of_definitions(definitions: &Value) -> Result<ToolSet, ToolSetError> {
        let definitions = listed(definitions)?;
        let mut tool_set = ToolSet::empty();
        let mut bytes = 0;
        for (i, definition) in definitions.into_iter().enumerate() {
            let wrong = |problem| ToolSetError::Tool { number: i + 1, name: name_of(definition), problem };
            // The definition wraps its schema in at most three values.
            bytes += measure(definition, MAX_NODES + 100).map_err(|e| wrong(ToolProblem::Schema(e)))?.bytes;
            if MAX_BYTES < bytes {
                return Err(ToolSetError::TooLong);
            }
            if is_hosted(definition) {
                tool_set.hosted.push(definition.clone());
                continue;
            }
            let tool = Tool::compile(definition).map_err(wrong)?;
            match tool_set.tools.entry(tool.name.clone()) {
                Entry::Vacant(free) => drop(free.insert(tool)),
                Entry::Occupied(_) => tool_set.doubled.push((tool.name, doubled(i + 1))),
            }
        }
        Ok(tool_set)
    }

    /// Returns the tool with exactly this name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// Returns the tool of this number in the order of declaration.
    pub(crate) fn at(&self, number: usize) -> Option<&Tool> {
        self.tools.get_index(number).map(|(_, tool)| tool)
    }

    /// Returns the index of the names, made on first use.
    pub(crate) fn names(&self) -> &NameIndex {
        self.names.get_or_init(|| NameIndex::of(self))
    }

    /// Returns the tools, in the order of their declaration.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tool> {
        self.tools.values()
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns the definitions of tools that a server runs itself, as they were given: `{"type": "web_search"}`,
    /// `{"googleSearch": {}}`, `{"type": "bash_20250124", "name": "bash"}`. Their calls are not ours to read.
    pub fn hosted(&self) -> &[Value] {
        &self.hosted
    }

    /// Returns the parts of definitions that calls are not checked against, each with its tool. These are parts of
    /// schemas that cannot be compiled or resolved, and tools with the name of an earlier one, which holds.
    pub fn unchecked(&self) -> impl Iterator<Item = (&str, &Unchecked)> {
        let parts =
            self.iter().flat_map(|tool| tool.schema.unchecked().iter().map(|part| (tool.name(), part)));
        parts.chain(self.doubled.iter().map(|(name, unchecked)| (name.as_str(), unchecked)))
    }

    /// Returns whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns the guide for reading a call of any of these tools as one JSON value. It admits the object with name and
    /// arguments under all the keys that models use, `{"f": {…}}`, flat, wrapped, in a list or in a string.
    ///
    /// It is compiled on first use.
    pub fn call_guide(&self) -> &SchemaGuide {
        self.call_guide.get_or_init(|| envelope::guide(&self.iter().collect::<Vec<_>>(), None))
    }
}

/// One tool.
#[derive(Debug)]
pub struct Tool {
    name: String,
    description: String,
    schema: Schema,
    definition: Value,
    call_guide: OnceLock<SchemaGuide>,
}

impl Tool {
    /// Returns the declared parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        let guide = self.schema.guide();
        guide.names(guide.root())
    }

    /// Returns the parameter that one text alone stands for: the only required one, or the only one.
    pub(crate) fn only_parameter(&self) -> Option<&str> {
        let guide = self.schema.guide();
        let required = guide.required(guide.root());
        match (required.count_ones(), self.parameters().count()) {
            (1, _) => guide.name(guide.root(), u8::try_from(required.trailing_zeros()).ok()?),
            (0, 1) => self.parameters().next(),
            _ => None,
        }
    }

    /// Returns whether the tool declares a parameter of this name.
    pub(crate) fn declares(&self, parameter: &str) -> bool {
        let guide = self.schema.guide();
        matches!(guide.member(guide.root(), parameter), Member::Declared(..))
    }

    /// Returns whether the tool declares a parameter of this name, or names none and takes any.
    pub(crate) fn takes(&self, parameter: &str) -> bool {
        let guide = self.schema.guide();
        let is_open = || matches!(guide.member(guide.root(), parameter), Member::Open(_));
        self.declares(parameter) || self.parameters().next().is_none() && is_open()
    }

    /// Returns whether `word`, of the tag of an element, is the tool's whole name: `f`, `functions.f`, `getWeather` for
    /// `get_weather`. In `<server:f>`, the word is `f`.
    pub(crate) fn is_named_by_tag(&self, word: &str) -> bool {
        let word = fold(word.strip_prefix("functions.").unwrap_or(word));
        let tail = self.name.rsplit(':').next().unwrap_or("");
        word == fold(&self.name) || word == fold(tail)
    }

    fn compile(definition: &Value) -> Result<Tool, ToolProblem> {
        let Value::Object(outer) = definition else { return Err(ToolProblem::NotAnObject) };
        let function = match outer.get("function") {
            Some(Value::Object(function)) => function,
            Some(_) => return Err(ToolProblem::FunctionNotAnObject),
            None => outer,
        };
        let name = match function.get("name") {
            None => return Err(ToolProblem::NoName),
            Some(Value::String(name)) if name.trim().is_empty() => return Err(ToolProblem::EmptyName),
            Some(Value::String(name)) => name.clone(),
            Some(_) => return Err(ToolProblem::NameNotAString),
        };
        let description = match function.get("description") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(description)) => description.clone(),
            Some(_) => return Err(ToolProblem::DescriptionNotAString),
        };
        let schema = match parameters(definition) {
            None | Some(Value::Null) => {
                Schema::compile(&json!({"type": "object", "properties": {}, "additionalProperties": false}))
            }
            Some(parameters @ Value::Object(_)) => Schema::compile(parameters),
            Some(_) => return Err(ToolProblem::ParametersNotAnObject),
        };
        let schema = schema.map_err(ToolProblem::Schema)?;
        let (definition, call_guide) = (definition.clone(), OnceLock::new());
        Ok(Tool { name, description, schema, definition, call_guide })
    }

    /// Returns the declared name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description; empty without one.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the schema of the arguments.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the definition as it was given.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// Returns the guide of [`ToolSet::call_guide`] for a call of this tool alone.
    pub fn call_guide(&self) -> &SchemaGuide {
        self.call_guide.get_or_init(|| envelope::guide(&[self], Some(self)))
    }
}

/// The reason for which definitions cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSetError {
    /// The text is not JSON.
    NotJson {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The fault at that place.
        why: String,
    },
    /// The definitions have none of the forms that [`ToolSet::from_value`] knows.
    NoTools,
    /// There are more than [`MAX_TOOLS`] tools: this many.
    TooMany(usize),
    /// The definitions are longer than [`MAX_BYTES`].
    TooLong,
    /// One tool's definition is wrong.
    Tool {
        /// The number of the tool, counted from 1.
        number: usize,
        /// The name of the tool, if it has one.
        name: Option<String>,
        /// The fault of the definition.
        problem: ToolProblem,
    },
}

/// The fault of one tool's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolProblem {
    /// The definition is not an object.
    NotAnObject,
    /// `function` is not an object.
    FunctionNotAnObject,
    /// There is no name.
    NoName,
    /// The name is empty.
    EmptyName,
    /// The name is not a string.
    NameNotAString,
    /// The description is not a string.
    DescriptionNotAString,
    /// The schema of the arguments is not an object.
    ParametersNotAnObject,
    /// The schema of the arguments cannot be compiled.
    Schema(SchemaError),
}

impl fmt::Display for ToolSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolSetError::NotJson { line, column, why } => {
                write!(f, "the tool definitions are not JSON: {why} at line {line}, column {column}")
            }
            ToolSetError::NoTools => f.write_str(
                "these are no tool definitions: give one or a list of them, as OpenAI ({\"type\": \"function\", …}), \
                 Anthropic (input_schema), MCP (inputSchema) or Gemini (functionDeclarations) have them, or {\"tools\": […]}",
            ),
            ToolSetError::TooMany(n) => {
                write!(f, "{n} tools are too many, at most {MAX_TOOLS} can be declared")
            }
            ToolSetError::TooLong => {
                write!(f, "the tool definitions are longer than {} MiB", MAX_BYTES >> 20)
            }
            ToolSetError::Tool { number, name: Some(name), problem } => {
                write!(f, "tool {number} (`{}`): {problem}", name.escape_debug())
            }
            ToolSetError::Tool { number, name: None, problem } => write!(f, "tool {number}: {problem}"),
        }
    }
}

impl std::error::Error for ToolSetError {}

impl fmt::Display for ToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToolProblem::NotAnObject => "the definition is not an object",
            ToolProblem::FunctionNotAnObject => "`function` is not an object",
            ToolProblem::NoName => "it has no name",
            ToolProblem::EmptyName => "its name is empty",
            ToolProblem::NameNotAString => "its name is not a string",
            ToolProblem::DescriptionNotAString => "its description is not a string",
            ToolProblem::ParametersNotAnObject => "its parameters are not an object",
            ToolProblem::Schema(error) => return error.fmt(f),
        })
    }
}

/// Reports that the tool of this number in the list is left out.
pub(crate) fn doubled(number: usize) -> Unchecked {
    let reason = format!("tool {number} has the name of another one, which holds");
    Unchecked { pointer: String::new(), reason }
}

/// Returns the schema of the arguments in a definition, under any of its keys.
pub(crate) fn parameters(definition: &Value) -> Option<&Value> {
    let function = definition.get("function").unwrap_or(definition);
    SCHEMA.iter().find_map(|key| function.get(key))
}

/// The keys of a schema of arguments.
pub(crate) const SCHEMA: [&str; 5] =
    ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"];
/// The keys of Gemini's lists of tools.
const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// Returns the definitions in `value`, with any wrapper around them.
///
/// # Errors
/// An error means that it holds none, or too many.
pub(crate) fn listed(value: &Value) -> Result<Vec<&Value>, ToolSetError> {
    let is_tool =
        || ["name", "type", "function"].iter().chain(&DECLARATIONS).any(|key| value.get(key).is_some());
    let list = match (value, value.get("result"), value.get("tools")) {
        (_, Some(result @ Value::Object(_)), None) => return listed(result),
        (_, None, Some(Value::Array(list))) | (Value::Array(list), ..) => {
            list.iter().flat_map(declared).collect()
        }
        _ if is_tool() => declared(value),
        _ => return Err(ToolSetError::NoTools),
    };
    if MAX_TOOLS < list.len() { Err(ToolSetError::TooMany(list.len())) } else { Ok(list) }
}

/// Returns the tools in one definition: Gemini declares several functions in one tool.
fn declared(tool: &Value) -> Vec<&Value> {
    let declarations = DECLARATIONS.iter().find_map(|key| tool.get(key)?.as_array());
    declarations.map_or_else(|| vec![tool], |declarations| declarations.iter().collect())
}

/// Returns whether a server runs the tool itself. Its type is its name, or its only member is, and it has no schema.
fn is_hosted(definition: &Value) -> bool {
    let Value::Object(members) = definition else { return false };
    if members.contains_key("function") || SCHEMA.iter().any(|key| members.contains_key(key)) {
        return false;
    }
    match members.get("type").and_then(Value::as_str) {
        // A schema in the place of a definition has a type, too.
        Some(word) => word != "function" && standard_type(word).is_none(),
        None => members.len() == 1 && members.values().all(Value::is_object),
    }
}

/// Returns the name in a definition that may otherwise be wrong, cut to a length that an error can show.
pub(crate) fn name_of(definition: &Value) -> Option<String> {
    let function = definition.get("function").unwrap_or(definition);
    function.get("name").and_then(Value::as_str).map(|name| name.chars().take(80).collect())
}

/// Drops the place from an error's message: `expected value at line 1 column 1` → `expected value`.
fn without_place(message: &str) -> &str {
    message.rfind(" at line ").and_then(|at| message.get(..at)).unwrap_or(message)
}

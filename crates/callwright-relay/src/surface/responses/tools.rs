//! Tools of responses as functions, and the way back from a call to the client's tool.

use callwright_json::{Kind, Value, quote};

use super::checksum::sum;
use crate::wire::{WireError, object, string_of};

/// The longest name that chat servers take.
const LONGEST_NAME: usize = 64;

/// The most tools of a request, once none of them holds others.
const MOST_TOOLS: usize = 1024;

/// The form in which the client takes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Function,
    /// The call's input is a plain text.
    Custom,
    /// The call looks for further tools.
    Search,
}

/// A tool as the client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The name that the model knows.
    flat: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) form: Form,
}

/// The client's tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(Vec<Entry>);

impl Table {
    /// Returns the tool that the model knows by this name.
    pub(crate) fn get(&self, flat: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.flat == flat)
    }

    /// Returns the name by which the model knows a tool, declared or not.
    pub(super) fn flat(&self, namespace: Option<&str>, name: &str) -> String {
        self.declared(namespace, name).map_or_else(|| flat(namespace, name), str::to_owned)
    }

    /// Returns the flat name of a declared tool.
    pub(crate) fn declared(&self, namespace: Option<&str>, name: &str) -> Option<&str> {
        let is_it = |entry: &&Entry| entry.namespace.as_deref() == namespace && entry.name == name;
        self.0.iter().find(is_it).map(|entry| entry.flat.as_str())
    }

    /// Adds a tool under a name of its own. None if the table has it.
    fn add(&mut self, namespace: Option<&str>, name: &str, form: Form) -> Option<String> {
        if self.0.iter().any(|entry| entry.namespace.as_deref() == namespace && entry.name == name) {
            return None;
        }
        let plain = flat(namespace, name);
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|flat| self.get(flat).is_none())?;
        let namespace = namespace.map(str::to_owned);
        self.0.push(Entry { flat: free.clone(), namespace, name: name.to_owned(), form });
        Some(free)
    }
}

/// Writes the name of a tool in a namespace as one name, in the letters that all servers take.
fn flat(namespace: Option<&str>, name: &str) -> String {
    let joined = match namespace {
        None => name.to_owned(),
        Some(namespace) if namespace.ends_with('_') => format!("{namespace}{name}"),
        Some(namespace) => format!("{namespace}__{name}"),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = joined.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain.get(..LONGEST_NAME) {
        Some(_) if LONGEST_NAME < plain.len() => {
            format!("{}_{:08x}", &plain[..LONGEST_NAME - 9], sum(joined.as_bytes()) as u32)
        }
        _ => plain,
    }
}

/// The tools that a request declares.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) table: Table,
    /// The definitions for a chat.
    pub(crate) functions: Vec<String>,
    /// The names of tools that no chat server runs.
    pub(super) dropped: Vec<String>,
    /// `tool_choice` for a chat.
    pub(super) choice: Option<String>,
    /// The only tools that may be called; `true` if one must be.
    pub(crate) allowed: Option<(Vec<String>, bool)>,
    /// Tools whose arguments may be the bare text of their input.
    pub(super) bare_inputs: Vec<String>,
    /// The fault for which a chat server could not be asked.
    fault: Option<WireError>,
}

impl Declared {
    /// Reads the declarations of a request, in `tools` and among its items.
    pub(crate) fn of(root: Value<'_>, items: Value<'_>) -> Declared {
        let mut declared = Declared::default();
        for tool in listed(root) {
            declared.add(None, tool);
        }
        // Clients that know a model well tell of its tools, or of those that it has found, in the conversation.
        for item in items.elements() {
            let kind = string_of(item, "type");
            if matches!(kind.as_deref(), Some("additional_tools" | "tool_search_output")) {
                for tool in listed(item) {
                    declared.add(None, tool);
                }
            }
        }
        if MOST_TOOLS < declared.functions.len() {
            declared.fails(WireError::bad_request(
                Some("tools"),
                "too_many_tools",
                "there are too many tools",
            ));
        }
        declared.choose(root.get("tool_choice"));
        declared
    }

    /// Returns the declared tools of a request, for a chat server.
    ///
    /// # Errors
    /// A tool that may not be left out, or too many.
    pub(super) fn for_chat(self) -> Result<Declared, WireError> {
        self.fault.clone().map_or(Ok(self), Err)
    }

    fn fails(&mut self, fault: WireError) {
        self.fault.get_or_insert(fault);
    }

    fn add(&mut self, namespace: Option<&str>, tool: Value<'_>) {
        let kind = string_of(tool, "type").unwrap_or_default();
        let name = string_of(tool, "name").unwrap_or_default();
        let described = || tool.get("description").map(|it| ("description", it.raw().to_owned()));
        match &*kind {
            "function" => {
                let Some(flat) = self.table.add(namespace, &name, Form::Function) else { return };
                let same = ["parameters", "strict"].into_iter();
                let same = same.filter_map(|key| {
                    let value = tool.get(key).filter(|value| value.kind() != Kind::Null)?;
                    Some((key, value.raw().to_owned()))
                });
                self.function([("name", quote(&flat))].into_iter().chain(described()).chain(same));
            }
            "custom" => {
                let Some(flat) = self.table.add(namespace, &name, Form::Custom) else { return };
                let description = custom_description(tool);
                let parameters = r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}"#;
                self.function([
                    ("name", quote(&flat)),
                    ("description", quote(&description)),
                    ("parameters", parameters.to_owned()),
                ]);
                self.bare_inputs.push(flat);
            }
            "namespace" => {
                for member in tool.get("tools").into_iter().flat_map(Value::elements) {
                    self.add(Some(&name), member);
                }
            }
            "tool_search" if tool.get("parameters").is_some_and(|it| it.kind() == Kind::Object) => {
                let Some(flat) = self.table.add(None, "tool_search", Form::Search) else { return };
                let parameters = tool.get("parameters").map(|it| ("parameters", it.raw().to_owned()));
                self.function([("name", quote(&flat))].into_iter().chain(described()).chain(parameters));
            }
            // To leave it out in silence would hide that nobody asks that server.
            "mcp" => {
                let message = "no MCP server is asked from here: connect to it where the client runs";
                self.fails(WireError::bad_request(Some("tools"), "unsupported_tool", message));
            }
            _ => self.dropped.push(if name.is_empty() { kind } else { name }.into_owned()),
        }
    }

    fn function<'k>(&mut self, members: impl IntoIterator<Item = (&'k str, String)>) {
        self.functions.push(object([("type", quote("function")), ("function", object(members))]));
    }

    fn choose(&mut self, choice: Option<Value<'_>>) {
        let Some(choice) = choice.filter(|choice| choice.kind() != Kind::Null) else { return };
        if choice.as_str().is_some() {
            self.choice = Some(choice.raw().to_owned());
            return;
        }
        let flat_of = |chosen: Value<'_>| {
            let namespace = string_of(chosen, "namespace");
            let name = string_of(chosen, "name").or_else(|| string_of(chosen, "type")).unwrap_or_default();
            self.table.flat(namespace.as_deref(), &name)
        };
        match string_of(choice, "type").as_deref() {
            Some("function" | "custom") => {
                let name = object([("name", quote(&flat_of(choice)))]);
                self.choice = Some(object([("type", quote("function")), ("function", name)]));
            }
            Some("allowed_tools") => {
                let mode = string_of(choice, "mode").filter(|mode| matches!(&**mode, "auto" | "required"));
                let mode = mode.unwrap_or("auto".into());
                let names = choice.get("tools").into_iter().flat_map(Value::elements).map(flat_of).collect();
                self.choice = Some(quote(&mode));
                self.allowed = Some((names, mode == "required"));
            }
            kind => {
                let message = format!("no upstream here runs the tool {}", kind.unwrap_or_default());
                self.fails(WireError::bad_request(Some("tool_choice"), "unsupported_tool", &message));
            }
        }
    }
}

/// Returns the tools that a request or an item lists.
fn listed(holder: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    holder.get("tools").into_iter().flat_map(Value::elements)
}

/// Describes a tool with a plain input to the model.
fn custom_description(tool: Value<'_>) -> String {
    let mut description = string_of(tool, "description").unwrap_or_default().into_owned();
    if !description.is_empty() {
        description.push_str("\n\n");
    }
    description.push_str("Input is plain text, not JSON.");
    let format = tool.get("format");
    if let Some(grammar) = format.and_then(|format| string_of(format, "definition")) {
        let syntax = format.and_then(|format| string_of(format, "syntax")).unwrap_or_default();
        description.push_str(&format!(" It follows this grammar ({syntax}):\n{grammar}"));
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_namespace_is_one_name_and_is_found_again() {
        assert_eq!(flat(None, "f"), "f");
        assert_eq!(flat(Some("a.b"), "f g"), "a_b__f_g");
        assert_eq!(flat(Some("mcp__x__"), "f"), "mcp__x__f");
        let long = flat(Some(&"n".repeat(70)), "f");
        assert_eq!(long.len(), LONGEST_NAME);
        assert_ne!(long, flat(Some(&"n".repeat(70)), "g"));
        let mut table = Table::default();
        assert_eq!(table.add(None, "a__f", Form::Function).unwrap(), "a__f");
        assert_eq!(table.add(Some("a"), "f", Form::Custom).unwrap(), "a__f_2");
        assert_eq!(table.add(Some("a"), "f", Form::Custom), None);
        assert_eq!(table.flat(Some("a"), "f"), "a__f_2");
        assert_eq!(
            table.get("a__f_2").map(|entry| (entry.namespace.as_deref(), &*entry.name)),
            Some((Some("a"), "f"))
        );
    }
}

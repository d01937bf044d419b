//! Calls as Python in a fence: ```` ```tool_code ````.

use serde_json::{Map, Value};

use super::json_calls::resolve;
use super::marks::{in_python, neutralise, one_line};
use crate::tools::Tool;

/// How deep a parameter's type goes.
const MAX_DEPTH: usize = 4;

/// The prompt.
pub(super) fn tool_code(tools: &[&Tool]) -> String {
    let functions: Vec<String> = tools.iter().map(|tool| python_function(tool)).collect();
    format!(
        "At each turn, if you decide to invoke any of the function(s), it should be wrapped with ```tool_code```. The \
         python methods described below are imported and available, you can only use defined methods. The result of a \
         call comes back wrapped with ```tool_output```: use it to call more methods or to answer.\n\
         \n\
         The following Python methods are available:\n\
         \n\
         ```python\n\
         {}\n\
         ```\n",
        functions.join("\n\n")
    )
}

/// Several calls in one fence, each on a line of its own.
pub(super) fn calls(calls: &[(String, String)]) -> String {
    let lines: Vec<String> = calls.iter().map(|(name, arguments)| expression(name, arguments)).collect();
    format!("```tool_code\n{}\n```", lines.join("\n"))
}

/// A tool's result in a fence.
pub(super) fn result(result: &str) -> String {
    let result = neutralise(result);
    let end = if result.ends_with('\n') { "" } else { "\n" };
    // A fence is ended by none that is shorter.
    let longest = result.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}tool_output\n{result}{end}{fence}")
}

/// `f(a=1, b="x")`
fn expression(name: &str, arguments: &str) -> String {
    let arguments = match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) if members.keys().all(|key| is_identifier(key)) => {
            let argument = |(key, value): (&String, &Value)| format!("{key}={}", python_literal(value));
            members.iter().map(argument).collect::<Vec<_>>().join(", ")
        }
        Ok(value) => format!("**{}", python_literal(&value)),
        Err(_) => in_fence(arguments),
    };
    format!("{}({arguments})", in_fence(&one_line(name)))
}

/// `def name(…):` with the description and the parameters' descriptions as its docstring.
fn python_function(tool: &Tool) -> String {
    let root = tool.schema().value();
    let schema = resolve(root, root);
    let no_members = Map::new();
    let members = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_members);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));

    let mut signature: Vec<String> = Vec::new();
    let mut documented: Vec<String> = Vec::new();
    // Python wants parameters without default first; a star lets them stand in the order of declaration.
    let first_optional = members.keys().position(|name| !is_required(name));
    let last_required = members.keys().rposition(|name| is_required(name));
    if first_optional < last_required && first_optional.is_some() {
        signature.push("*".to_owned());
    }
    let mut has_others = false;
    for (name, member) in members {
        let kind = python_type(root, member, 0);
        let description = one_line(member.get("description").and_then(Value::as_str).unwrap_or(""));
        if is_identifier(name) {
            let default = match member.get("default") {
                Some(default) => format!(" = {}", python_literal(default)),
                None if is_required(name) => String::new(),
                None => " = None".to_owned(),
            };
            signature.push(format!("{name}: {kind}{default}"));
            if !description.is_empty() {
                documented.push(format!("{name}: {description}"));
            }
        } else {
            // Not a name that Python can have for a parameter.
            has_others = true;
            let need = if is_required(name) { "required" } else { "optional" };
            let key = python_literal(&Value::from(name.as_str()));
            documented.push(
                format!("**{{{key}: {kind}}} ({need}): {description}")
                    .trim_end_matches([':', ' '])
                    .to_owned(),
            );
        }
    }
    if has_others {
        signature.push("**others".to_owned());
    }

    let name = in_fence(&one_line(tool.name()));
    let mut doc: Vec<String> = tool.description().trim().lines().map(one_line).collect();
    if !documented.is_empty() {
        if !doc.is_empty() {
            doc.push(String::new());
        }
        doc.push("Args:".to_owned());
        doc.extend(documented.iter().map(|line| format!("    {line}")));
    }
    let signature = in_fence(&signature.join(", "));
    let body = match doc.as_slice() {
        [] => "    ...".to_owned(),
        [line] => format!("    \"\"\"{}\"\"\"", in_docstring(line)),
        [first, rest @ ..] => {
            let rest: Vec<String> = rest
                .iter()
                .map(
                    |line| {
                        if line.is_empty() { String::new() } else { format!("    {}", in_docstring(line)) }
                    },
                )
                .collect();
            format!("    \"\"\"{}\n{}\n    \"\"\"", in_docstring(first), rest.join("\n"))
        }
    };
    format!("def {name}({signature}):\n{body}")
}

/// The type of a parameter as Python writes it: `list[str]`, `Literal["a", "b"]`.
fn python_type(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(root, schema);
    if MAX_DEPTH < depth {
        return "Any".to_owned();
    }
    let values = schema.get("enum").and_then(Value::as_array).cloned();
    if let Some(values) = values.or_else(|| schema.get("const").map(|value| vec![value.clone()])) {
        let values: Vec<String> = values.iter().map(python_literal).collect();
        return format!("Literal[{}]", values.join(", "));
    }
    if let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        let mut types: Vec<String> =
            choices.iter().map(|choice| python_type(root, choice, depth + 1)).collect();
        types.dedup();
        return types.join(" | ");
    }
    let one = |word: &str| match word {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => match schema.get("items").filter(|items| items.is_object()) {
            Some(element) => format!("list[{}]", python_type(root, element, depth + 1)),
            None => "list".to_owned(),
        },
        "object" => "dict".to_owned(),
        _ => "Any".to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(word)) => one(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("properties").is_some() => "dict".to_owned(),
        _ => "Any".to_owned(),
    }
}

/// A value as Python writes it. Schemas are at most 64 levels deep, and so are their values.
fn python_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        // What JSON escapes in a string, Python reads the same way.
        Value::String(_) => in_python(&value.to_string().replace('`', "\\u0060")),
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(python_literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", python_literal(&Value::from(key.as_str())), python_literal(value))
                })
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn is_identifier(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
        "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
        "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts_well && chars.all(|c| c.is_alphanumeric() || c == '_') && !KEYWORDS.contains(&name)
}

/// Text that cannot end the fence around it.
fn in_fence(text: &str) -> String {
    neutralise(&text.replace("```", "'''")).into_owned()
}

/// Text that can end neither the docstring nor the fence around it.
fn in_docstring(line: &str) -> String {
    let line = in_fence(&line.replace('\\', "\\\\").replace("\"\"\"", "'''"));
    // A quote at the end would run into the closing ones.
    match line.strip_suffix('"') {
        Some(line) => format!("{line}\\\""),
        None => line,
    }
}

//! Writes a tool as a function of Python: its signature, and a docstring that describes it and its parameters.

use crate::value::Value;

use super::super::literal::{is_identifier, python};
use super::super::marks::{neutralise, one_line};
use super::schema::{Types, description_of, members, of_type, resolve};
use crate::tools::Tool;

/// The types of Python: `list[str]`, `Literal["a", "b"]`
const TYPES: Types = Types { depth: 4, any: "Any", values: literals, plain };

/// Writes `def name(…):` with the description and the parameters' descriptions as its docstring.
pub(super) fn told(tool: &Tool) -> String {
    let root = tool.schema().value();
    let schema = resolve(root, root);
    let members: Vec<_> = members(schema).collect();

    let (mut signature, mut documented) = (Vec::new(), Vec::new());
    // Python needs parameters without default first; a star allows the order of declaration.
    if !members.is_sorted_by_key(|(.., is_required)| !is_required) {
        signature.push("*".to_owned());
    }
    let mut others = None;
    for (name, member, is_required) in members {
        let kind = TYPES.of(root, member, 0);
        let description = one_line(description_of(member));
        if is_identifier(name) {
            let default = match member.get("default") {
                Some(default) => format!(" = {}", python(default, '"')),
                None if is_required => String::new(),
                None => " = None".to_owned(),
            };
            signature.push(format!("{name}: {kind}{default}"));
            documented.extend((!description.is_empty()).then(|| format!("{name}: {description}")));
        } else {
            // Python cannot have a parameter of this name.
            others = Some("**others".to_owned());
            let need = if is_required { "required" } else { "optional" };
            let key = python(&Value::from(name), '"');
            let told = format!("**{{{key}: {kind}}} ({need}): {description}");
            documented.push(told.trim_end_matches([':', ' ']).to_owned());
        }
    }
    signature.extend(others);

    let name = in_fence(&one_line(tool.name()));
    let mut doc: Vec<String> =
        tool.description().trim().lines().map(|line| in_docstring(&one_line(line))).collect();
    if !documented.is_empty() {
        let gap = (!doc.is_empty()).then(String::new);
        doc.extend(gap.into_iter().chain(["Args:".to_owned()]));
        doc.extend(documented.iter().map(|line| in_docstring(&format!("    {line}"))));
    }
    let signature = in_fence(&signature.join(", "));
    let body = match doc.as_slice() {
        [] => "    ...".to_owned(),
        [line] => format!("    \"\"\"{line}\"\"\""),
        lines => {
            let indent = |line: &String| if line.is_empty() { String::new() } else { format!("    {line}") };
            let lines: Vec<String> = lines.iter().map(indent).collect();
            format!("    \"\"\"{}\n    \"\"\"", lines.join("\n").trim_start())
        }
    };
    format!("def {name}({signature}):\n{body}")
}

fn literals(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(|value| python(value, '"')).collect();
    format!("Literal[{}]", values.join(", "))
}

fn plain(root: &Value, schema: &Value, depth: usize) -> String {
    let one = |word: &str| match word {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "None".to_owned(),
        "array" => match schema.get("items").filter(|items| items.is_object()) {
            Some(element) => format!("list[{}]", TYPES.of(root, element, depth + 1)),
            None => "list".to_owned(),
        },
        "object" => "dict".to_owned(),
        _ => "Any".to_owned(),
    };
    of_type(schema, one)
}

/// Returns text that cannot end the fence around it.
fn in_fence(text: &str) -> String {
    neutralise(&text.replace("```", "'''")).into_owned()
}

/// Returns text that can end neither the docstring nor the fence around it.
fn in_docstring(line: &str) -> String {
    let line = in_fence(&line.replace('\\', "\\\\").replace("\"\"\"", "'''"));
    // A quote at the end would run into the closing ones.
    match line.strip_suffix('"') {
        Some(line) => format!("{line}\\\""),
        None => line,
    }
}

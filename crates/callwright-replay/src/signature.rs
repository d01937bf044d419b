//! Tools that a prompt tells of in signatures, of Python or of TypeScript.
//!
//! ```text
//! def get_weather(city: str, unit: Literal["c", "f"] = None):
//!     """Get the weather."""
//!
//! // Get the weather.
//! type get_weather = (_: {
//! city: string,
//! unit?: "c" | "f",
//! }) => any;
//! ```

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::declared::Tool;

/// The tools whose signatures stand in `text`.
pub(crate) fn tools(text: &str) -> Vec<Tool> {
    let mut tools = Vec::new();
    let mut before = "";
    let mut rest = text;
    while let Some((line, behind)) = rest.split_once('\n') {
        let python = line.strip_prefix("def ").and_then(|line| line.split_once('('));
        let typescript = line.strip_prefix("type ").and_then(|line| line.split_once(" = (_: {"));
        rest = behind;
        if let Some((name, _)) = python
            && let Some((parameters, _)) = line.rsplit_once(')')
        {
            let about = behind.lines().next().unwrap_or("").trim().trim_matches('"');
            let parameters = parameters.strip_prefix("def ").and_then(|text| text.get(name.len() + 1..));
            tools.push(tool(name, about, parameters.unwrap_or("")));
        } else if let Some((name, _)) = typescript
            && let Some((members, behind)) = behind.split_once("\n}) =>")
        {
            let members: Vec<&str> = members
                .lines()
                .filter(|line| !line.starts_with("//"))
                .map(|line| line.trim_end_matches(','))
                .collect();
            tools.push(tool(name, before.trim_start_matches("// "), &members.join(", ")));
            rest = behind;
        }
        before = line;
    }
    tools
}

fn tool(name: &str, about: &str, parameters: &str) -> Tool {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in split(parameters) {
        let Some((name, told)) = parameter.split_once(": ") else { continue };
        let (kind, preset) =
            told.rsplit_once(" = ").map_or((told, None), |(kind, preset)| (kind, Some(preset)));
        let bare = name.trim_end_matches('?');
        if bare == name && preset.is_none() {
            required.push(bare);
        }
        properties.insert(bare.to_owned(), schema(kind.trim()));
    }
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    Tool { name: name.into(), about: about.into(), parameters }
}

/// Parts between commas that stand in no bracket and no string.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut in_string, mut begin) = (Vec::new(), 0_i32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            '"' => in_string = !in_string,
            '[' | '{' | '(' | '<' if !in_string => depth += 1,
            ']' | '}' | ')' | '>' if !in_string => depth -= 1,
            ',' if !in_string && depth == 0 => {
                parts.extend(text.get(begin..at).map(str::trim));
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(begin..).map(str::trim));
    parts
}

fn schema(kind: &str) -> Value {
    let values = kind.strip_prefix("Literal[").and_then(|kind| kind.strip_suffix(']')).map(split);
    let values = values.unwrap_or_else(|| kind.split(" | ").collect());
    let values: Option<Vec<Value>> =
        values.into_iter().map(|value| serde_json::from_str(value).ok()).collect();
    if let Some(values) = values {
        return json!({ "enum": values });
    }
    let item = kind.strip_suffix("[]").or_else(|| kind.strip_prefix("list[")?.strip_suffix(']'));
    if let Some(item) = item {
        return json!({ "type": "array", "items": schema(item) });
    }
    let name = match kind {
        "int" | "integer" => "integer",
        "float" | "number" => "number",
        "bool" | "boolean" => "boolean",
        kind if kind.starts_with("dict") || kind.starts_with('{') || kind == "object" => "object",
        kind if kind.starts_with("list") => "array",
        _ => "string",
    };
    json!({ "type": name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_of_both_languages_say_the_same() {
        let python = "```python\ndef f(city: str, n: int, tags: list[str], unit: Literal[\"c\", \"f\"] = None):\n    \"\"\"Gets it.\n";
        let typescript = "// Gets it.\ntype f = (_: {\n// The city\ncity: string,\nn: integer,\ntags: string[],\nunit?: \"c\" | \"f\",\n}) => any;\n";
        let parameters = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string" },
                "n": { "type": "integer" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "unit": { "enum": ["c", "f"] },
            },
            "required": ["city", "n", "tags"],
        });
        let tool = Tool { name: "f".into(), about: "Gets it.".into(), parameters };
        assert_eq!(tools(python), std::slice::from_ref(&tool));
        assert_eq!(tools(typescript), [tool]);
        assert_eq!(tools("def f():\n"), [self::tool("f", "", "")]);
    }
}

//! What is told of tool definitions, and what they cost.

use callwright::lint::{Severity, cost, lint, lint_definitions, tokens};
use callwright::value::Value;
use callwright::{ToolSet, ToolSetError, json};

fn findings(tool: Value) -> Vec<(&'static str, String)> {
    let tool_set = ToolSet::from_value(&json!([tool])).unwrap();
    lint(&tool_set).into_iter().map(|f| (f.rule, f.pointer)).collect()
}

fn described(description: &str) -> Value {
    let pattern = json!({"type": "string", "description": "Name pattern (e.g., '*.rs')"});
    json!({"name": "search_files", "description": description,
           "parameters": {"type": "object", "properties": {"pattern": pattern}, "required": ["pattern"]}})
}

/// S0-62: the concise description passes, the verbose one is flagged with what it costs.
#[test]
fn descriptions_are_concise() {
    assert_eq!(findings(described("Search for files by name pattern")), []);
    let verbose = described(
        "This function allows you to search through the filesystem to find files that match a given pattern. It \
         will recursively search through directories and return a list of matching file paths.",
    );
    let found = lint(&ToolSet::from_value(&json!([verbose])).unwrap());
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "warning: search_files: the description costs about 38 tokens with every request, and “this function” says \
         nothing: be as short as “Search for files by name pattern” (description-too-long)"
    );
}

/// S0-57: a description says when to use the tool, and parameters have examples.
#[test]
fn descriptions_say_when_and_parameters_show_how() {
    let good = json!({
        "name": "fsWrite",
        "description": "Create or overwrite a file. Use this when the user wants to create a new file or replace \
                        existing content.",
        "parameters": {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string", "description": "Relative path to the file (e.g., 'src/main.py')"},
        }},
    });
    let poor = json!({
        "name": "fsRead", "description": "Reads a text file",
        "parameters": {"type": "object", "properties": {
            "path": {"type": "string", "description": "Relative path to the file"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"to": {"type": "integer"}}}},
            "mode": {"type": "string", "description": "Either 'text' or 'binary'"},
        }},
    });
    let found = lint(&ToolSet::from_value(&json!([good, poor])).unwrap());
    assert!(found.iter().all(|finding| finding.tool == "fsRead"));
    let found: Vec<(&str, &str)> = found.iter().map(|f| (f.rule, f.pointer.as_str())).collect();
    assert_eq!(
        found,
        [
            ("no-use-when", ""),
            ("no-required", ""),
            ("no-example", "/properties/path"),
            ("no-parameter-description", "/properties/lines"),
            ("no-enum", "/properties/mode"),
            ("no-parameter-description", "/properties/lines/items/properties/to"),
        ]
    );
}

#[test]
fn a_reference_to_nothing_is_told() {
    let tool = |reference: &str| {
        json!({"name": "read", "description": "Read a file, when one is named", "parameters":
            {"type": "object", "required": [], "properties": {"a": {"$ref": reference, "description": "What"}},
             "$defs": {"text": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}}}})
    };
    assert_eq!(findings(tool("#/$defs/text")), []);
    for (broken, pointer) in [("#/$defs/Missing", "/properties/a/$ref"), ("#/$defs/loop", "/$defs/loop/$ref")]
    {
        assert_eq!(findings(tool(broken)), [("not-checked", pointer.to_owned())]);
    }
}

#[test]
fn a_type_that_is_none_is_told() {
    let tool = |word: &str| {
        json!({"name": "read", "description": "Read a file, when one is named", "parameters":
            {"type": "object", "required": [], "properties": {"a": {"type": word, "description": "What"}}}})
    };
    assert_eq!(findings(tool("strin")), [("no-type", "/properties/a".to_owned())]);
    for word in ["string", "STRING", "dict", "float", "any"] {
        assert_eq!(findings(tool(word)), [], "{word}");
    }
}

#[test]
fn what_cannot_be_used_is_an_error_and_the_rest_is_looked_at() {
    let good = || json!({"name": "read", "description": "Read a file, when one is named"});
    for (wrong, tool, rule) in [
        (json!({"description": "x"}), "tool 2", "no-name"),
        (json!({"name": ""}), "", "no-name"),
        (json!(1), "tool 2", "no-definition"),
        (json!({"name": "b", "parameters": []}), "b", "parameters-not-object"),
        (json!({"name": "b c", "description": "Read when asked"}), "b c", "name-not-legal"),
        (
            json!({"name": "b", "description": "Read when asked", "parameters":
                {"required": [], "properties": {"a": {"type": "strnig", "description": "A"}}}}),
            "b",
            "no-type",
        ),
    ] {
        let found = lint_definitions(&json!([good(), wrong, {"type": "web_search"}])).unwrap();
        let found: Vec<_> = found.iter().map(|f| (f.severity, f.tool.as_str(), f.rule)).collect();
        assert_eq!(found, [(Severity::Error, tool, rule)], "{wrong}");
    }
    assert_eq!(lint_definitions(&json!({})).unwrap_err(), ToolSetError::NoTools);
}

#[cfg(feature = "full-schemas")]
#[test]
fn what_is_not_checked_is_a_warning() {
    let tool = |schema: Value| {
        json!({"name": "b", "description": "Read when asked", "parameters":
            {"required": [], "properties": {"a": schema}}})
    };
    for (schema, pointer) in [
        (json!({"description": "A", "$ref": "https://example.com/a"}), "/properties/a/$ref"),
        (json!({"description": "A", "type": "string", "pattern": "("}), "/properties/a/pattern"),
    ] {
        let found = lint_definitions(&tool(schema)).unwrap();
        let found: Vec<_> = found.iter().map(|f| (f.severity, f.rule, f.pointer.as_str())).collect();
        assert_eq!(found, [(Severity::Warning, "not-checked", pointer)]);
    }
    let good = tool(json!({"type": "string", "description": "A"}));
    let twice = json!([good, good, {"name": "c", "description": "Write when asked"}]);
    let found = lint_definitions(&twice).unwrap();
    assert_eq!(found, lint(&ToolSet::from_value(&twice).unwrap()));
    let found: Vec<_> = found.iter().map(|f| (f.tool.as_str(), f.rule, f.pointer.as_str())).collect();
    assert_eq!(found, [("b", "not-checked", "")]);
}

#[test]
fn names_that_some_servers_take_are_a_warning() {
    for name in ["a.b", "server/tool", &"x".repeat(65)] {
        let found = lint_definitions(&json!({"name": name, "description": "Read when asked"})).unwrap();
        assert_eq!((found[0].severity, found[0].rule), (Severity::Warning, "name-not-portable"));
    }
}

#[test]
fn a_missing_description_is_a_warning() {
    assert_eq!(findings(json!({"name": "a"})), [("no-description", String::new())]);
    assert_eq!(findings(json!({"name": "a", "description": "Search"})), [("no-purpose", String::new())]);
    let long = format!("Use this when {}", "needed or wanted ".repeat(60));
    assert_eq!(
        findings(json!({"name": "a", "description": long})),
        [("description-too-long", String::new())]
    );
}

/// S0-15: the cost of each tool, and of all, is visible.
#[test]
fn the_cost_is_the_sum_of_the_tools() {
    let tool_set = ToolSet::from_value(&json!([described("Search"), {"name": "stop"}])).unwrap();
    let cost = cost(&tool_set);
    assert_eq!(
        cost.tools.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["search_files", "stop"]
    );
    assert_eq!(cost.total, cost.tools[0].1 + cost.tools[1].1);
    assert!(cost.tools[1].1 < cost.tools[0].1);
}

#[test]
fn tokens_are_about_a_quarter_of_the_bytes() {
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("Search for files by name pattern"), 6);
    assert_eq!(tokens("日本語"), 3);
    let prose =
        "Create or overwrite a file. Use this when the user wants to create a new file or replace content.";
    assert!((prose.len() / 6..prose.len() / 3).contains(&tokens(prose)), "{}", tokens(prose));
}

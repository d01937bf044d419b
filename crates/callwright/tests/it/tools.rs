//! Tool definitions as they are sent, and which of them a call may name.

use callwright::value::Value;
use callwright::{MAX_BYTES, MAX_TOOLS, SchemaGuide, Tool, ToolChoice, ToolSet, ToolSetError, json};
use callwright_json::{Guide, Kinds, Member, Place};

fn tool_set() -> ToolSet {
    let file = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
                      "required": ["path"]});
    let input =
        json!({"type": "object", "properties": {"text": {"type": "array"}, "path": {"type": "null"}}});
    ToolSet::from_value(&json!([
        {"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": file}},
        {"name": "input", "input_schema": input},
        {"name": "stop", "parameters": null},
    ]))
    .unwrap()
}

fn parameters(tool: &Tool) -> Vec<&str> {
    let guide = tool.schema().guide();
    guide.names(guide.root()).collect()
}

fn at(guide: &SchemaGuide, place: Place, name: &str) -> Place {
    match guide.member(place, name) {
        Member::Declared(_, place) | Member::Open(place) => place,
        Member::Forbidden => panic!("{name} is forbidden"),
    }
}

#[test]
fn definitions_in_all_forms_are_taken() {
    let tool_set = tool_set();
    assert_eq!(tool_set.iter().map(Tool::name).collect::<Vec<_>>(), ["read_file", "input", "stop"]);
    let read_file = tool_set.get("read_file").unwrap();
    assert_eq!(read_file.description(), "Reads.");
    assert_eq!(parameters(read_file).len(), 2);
    let stop = tool_set.get("stop").unwrap().schema().guide();
    assert_eq!(stop.member(stop.root(), "anything"), Member::Forbidden);
}

#[test]
fn a_call_may_have_any_of_its_shapes() {
    let tool_set = tool_set();
    let guide = tool_set.call_guide();
    let root = guide.root();
    assert_eq!(guide.kinds(root), Kinds::OBJECT.or(Kinds::ARRAY).or(Kinds::STRING));
    assert_eq!(guide.required(root), 0);
    for key in ["arguments", "parameters", "args", "input", "tool_input"] {
        let arguments = at(guide, root, key);
        assert!(guide.kinds(arguments).has(Kinds::OBJECT.or(Kinds::STRING)), "{key}");
        assert_eq!(guide.kinds(at(guide, arguments, "path")), Kinds::STRING.or(Kinds::NULL), "{key}");
    }
    for key in ["name", "tool", "function", "tool_name", "action"] {
        assert!(guide.kinds(at(guide, root, key)).has(Kinds::STRING), "{key}");
    }
    assert_eq!(guide.kinds(at(guide, at(guide, root, "read_file"), "limit")), Kinds::NUMBER);
    assert_eq!(guide.kinds(at(guide, root, "limit")), Kinds::NUMBER);
    let wrapped = at(guide, at(guide, root, "function"), "arguments");
    assert!(guide.names(wrapped).any(|name| name == "limit"));
    let listed = guide.element(at(guide, root, "tool_calls"), 3);
    assert!(guide.names(at(guide, listed, "arguments")).any(|name| name == "text"));
    assert_eq!(guide.element(root, 1), root);
}

#[test]
fn a_known_tool_narrows_the_call() {
    let tool_set = tool_set();
    let guide = tool_set.get("read_file").unwrap().call_guide();
    let root = guide.root();
    let name = at(guide, root, "name");
    assert!(guide.admits(name, "read_file") && !guide.admits(name, "input"));
    assert_eq!(guide.kinds(at(guide, at(guide, root, "arguments"), "path")), Kinds::STRING);
}

#[test]
fn definitions_of_all_makers_are_read() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let upper = json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}});
    let chat = json!({"type": "function", "function": {"name": "f", "parameters": schema}});
    let responses = json!({"type": "function", "name": "f", "parameters": schema, "strict": true});
    let anthropic = json!({"name": "f", "input_schema": schema});
    let custom = json!({"type": "custom", "name": "f", "input_schema": schema});
    let mcp = json!({"name": "f", "title": "F", "inputSchema": schema, "annotations": {}});
    let gemini = json!({"functionDeclarations": [{"name": "f", "parameters": upper}]});
    let snake = json!({"function_declarations": [{"name": "f", "parameters": upper}]});
    let newer = json!({"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]});
    for tool in [chat, responses, anthropic, custom, mcp, gemini, snake, newer] {
        for whole in [
            tool.clone(),
            json!([tool]),
            json!({"tools": [tool]}),
            json!({"model": "m", "messages": [], "tools": [tool]}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool], "nextCursor": null}}),
        ] {
            let tool_set = ToolSet::from_value(&whole).unwrap();
            let read = tool_set.get("f").unwrap();
            assert_eq!(parameters(read), ["a"], "{whole}");
            assert_eq!((tool_set.len(), tool_set.hosted().len()), (1, 0), "{whole}");
            assert_eq!(ToolSet::from_json(&whole.to_string()).unwrap().len(), 1);
        }
    }
    let foreign = serde_json::json!([{"name": "f", "input_schema": {"type": "object"}}]);
    assert_eq!(ToolSet::from_value(&foreign).unwrap().len(), 1);
}

#[test]
fn what_a_server_runs_is_left_out_and_told() {
    let hosted = [
        json!({"type": "web_search"}),
        json!({"type": "mcp", "server_label": "deepwiki", "server_url": "https://example.com"}),
        json!({"type": "bash_20250124", "name": "bash"}),
        json!({"type": "custom", "name": "shell", "description": "Any text"}),
        json!({"googleSearch": {}}),
    ];
    for tool in &hosted {
        let tool_set = ToolSet::from_value(&json!([tool, {"name": "f"}, {"name": "g"}])).unwrap();
        assert_eq!(tool_set.hosted(), std::slice::from_ref(tool));
        assert_eq!(tool_set.iter().map(Tool::name).collect::<Vec<_>>(), ["f", "g"]);
        assert_eq!(tool_set.get("g").unwrap().name(), "g");
    }
    assert_eq!(ToolSet::from_value(&json!({"type": "web_search"})).unwrap().hosted().len(), 1);
}

#[test]
fn errors_name_the_tool() {
    let message = |definitions: Value| ToolSet::from_value(&definitions).unwrap_err().to_string();
    let cases = [
        (json!({}), "these are no tool definitions: give one or a list of them, as OpenAI"),
        (json!("get_weather"), "these are no tool definitions"),
        (json!({"tools": "get_weather"}), "these are no tool definitions"),
        (json!({"result": {"content": []}}), "these are no tool definitions"),
        (json!([{"nme": "a"}]), "tool 1: it has no name"),
        (json!([{"type": "function"}]), "tool 1: it has no name"),
        (json!([{"type": "object", "properties": {}}]), "tool 1: it has no name"),
        (json!([1]), "tool 1: the definition is not an object"),
        (json!([{"name": "a"}, {"description": "b"}]), "tool 2: it has no name"),
        (json!([{"name": " "}]), "tool 1 (` `): its name is empty"),
        (json!([{"function": {"name": 1}}]), "tool 1: its name is not a string"),
        (json!([{"name": "a", "parameters": []}]), "tool 1 (`a`): its parameters are not an object"),
        (json!([{"name": "a", "description": 1}]), "tool 1 (`a`): its description is not a string"),
    ];
    for (definitions, expected) in cases {
        let found = message(definitions);
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(
        ToolSet::from_json("[{]").unwrap_err().to_string(),
        "the tool definitions are not JSON: key must be a string at line 1, column 3"
    );
}

#[test]
fn what_cannot_be_checked_is_told_and_the_rest_holds() {
    let tool_set = ToolSet::from_value(&json!([
        {"name": "a", "parameters": {"properties": {"x": {"$ref": "http://example.com/a"}, "y": {"type": "integer"}}}},
        {"name": "a", "parameters": {"properties": {"z": {"type": "integer"}}}},
        {"name": "b"},
    ]));
    let tool_set = tool_set.unwrap();
    let told: Vec<_> = tool_set.unchecked().map(|(tool, part)| (tool, part.pointer.as_str())).collect();
    assert_eq!(told, [("a", "/properties/x/$ref"), ("a", "")]);
    assert_eq!(tool_set.iter().map(Tool::name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(parameters(tool_set.get("a").unwrap()), ["x", "y"]);
}

#[test]
fn sets_are_bounded() {
    let many: Vec<Value> = (0..=MAX_TOOLS).map(|n| json!({"name": format!("f{n}")})).collect();
    assert_eq!(ToolSet::from_value(&Value::from(many)).unwrap_err(), ToolSetError::TooMany(MAX_TOOLS + 1));
    assert_eq!(ToolSet::from_json(&" ".repeat(MAX_BYTES + 1)).unwrap_err(), ToolSetError::TooLong);
    let long = json!([{"name": "a", "description": "x".repeat(MAX_BYTES)}]);
    assert_eq!(ToolSet::from_value(&long).unwrap_err(), ToolSetError::TooLong);
}

#[test]
fn every_form_on_the_wire_is_read() {
    let named = || Some(ToolChoice::Named("f".to_owned()));
    let allowed = |required| Some(ToolChoice::Allowed { names: vec!["f".to_owned()], required });
    for (value, choice) in [
        (json!(null), Some(ToolChoice::Auto)),
        (json!("auto"), Some(ToolChoice::Auto)),
        (json!("required"), Some(ToolChoice::Required)),
        (json!("any"), Some(ToolChoice::Required)),
        (json!("none"), Some(ToolChoice::None)),
        (json!({"type": "function", "function": {"name": "f"}}), named()),
        (json!({"type": "function", "name": "f"}), named()),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required",
                   "tools": [{"type": "function", "function": {"name": "f"}}]}}),
            allowed(true),
        ),
        (
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}),
            allowed(false),
        ),
        (json!("f"), None),
        (json!({"type": "function"}), None),
        (json!({"type": "allowed_tools", "tools": [1]}), None),
        (json!({"type": "custom", "name": "f"}), None),
        (json!(1), None),
    ] {
        assert_eq!(ToolChoice::from_value(&value), choice, "{value}");
    }
}

#[test]
fn a_choice_narrows_the_tools() {
    let tool_set = ToolSet::from_value(&json!([{"name": "f"}, {"name": "g"}])).unwrap();
    let named = |choice: &Value| {
        let choice = ToolChoice::from_value(choice).unwrap();
        choice.tools(&tool_set).into_iter().map(Tool::name).collect::<Vec<_>>()
    };
    assert_eq!(named(&json!("required")), ["f", "g"]);
    assert_eq!(named(&json!({"name": "g"})), ["g"]);
    assert_eq!(named(&json!("none")), Vec::<&str>::new());
    assert_eq!(named(&json!({"type": "allowed_tools", "tools": [{"name": "f"}, {"name": "x"}]})), ["f"]);
}

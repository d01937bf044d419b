//! The built-in upstream, through the gateway: whatever tools are declared, there is a call that is right, and once its
//! result is there, an end.

use std::fmt::Write;
use std::path::PathBuf;

use callwright::Dialects;
use callwright::json;
use callwright::value::Value;

use crate::binary;
use crate::binary::serving::{Serving, serve};
use crate::binary::{callwright, file};

/// A gateway without an upstream, that asks each dialect's model in that dialect and all others natively.
fn started(name: &str) -> Serving {
    let mut config = String::from("[[models]]\npattern = \"callwright-replay\"\nmode = \"native\"\n");
    for dialect in dialects() {
        write!(config, "[[models]]\npattern = \"{dialect}\"\nmode = \"prompt\"\ndialect = \"{dialect}\"\n")
            .unwrap();
    }
    Serving::start(&["--config", &file(&format!("built-in-{name}.toml"), config)], &[])
}

fn dialects() -> Vec<String> {
    Dialects::default().iter().map(|dialect| dialect.name.to_string()).collect()
}

fn tool(name: &str, about: &str, parameters: Value) -> Value {
    json!({ "type": "function", "function": { "name": name, "description": about, "parameters": parameters } })
}

/// The message and the finish reason of an answer, plain or streamed.
fn answered(serving: &Serving, mut body: Value, stream: bool) -> (Value, String) {
    body["stream"] = stream.into();
    let answer = serving.chat(&body);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{body}\n{answer}");
    let events = answer.split_once("\r\n\r\n").unwrap().1.lines();
    if !stream {
        let json = events.filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back().unwrap();
        let choice = &json["choices"][0];
        return (choice["message"].clone(), choice["finish_reason"].as_str().unwrap().to_owned());
    }
    let (mut content, mut calls, mut finish) = (String::new(), Vec::<Value>::new(), String::new());
    for event in events.filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]") {
        let event: Value = serde_json::from_str(event).unwrap();
        let choice = &event["choices"][0];
        finish.push_str(choice["finish_reason"].as_str().unwrap_or(""));
        content.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
        for delta in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(delta["index"].as_u64().unwrap()).unwrap();
            if calls.len() <= at {
                calls.push(delta.clone());
                continue;
            }
            let before = calls[at]["function"]["arguments"].as_str().unwrap_or("").to_owned();
            let more = delta["function"]["arguments"].as_str().unwrap_or("");
            calls[at]["function"]["arguments"] = (before + more).into();
        }
    }
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    (message, finish)
}

/// Asks for a call, gives it a result, and returns the call's name and arguments and the last words.
fn asked(serving: &Serving, body: &Value, stream: bool) -> (String, Value, String) {
    let mut body = body.clone();
    let (message, finish) = answered(serving, body.clone(), stream);
    assert_eq!(finish, "tool_calls", "{body}\n{message}");
    let call = &message["tool_calls"][0];
    let name = call["function"]["name"].as_str().unwrap().to_owned();
    let arguments = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    let result = json!({ "role": "tool", "tool_call_id": call["id"], "content": "It is 22 degrees." });
    let messages = body["messages"].as_array_mut().unwrap();
    messages.extend([message.clone(), result]);
    body.as_object_mut().unwrap().remove("tool_choice");
    let (message, finish) = answered(serving, body, stream);
    assert_eq!(finish, "stop", "{message}");
    (name, arguments, message["content"].as_str().unwrap().to_owned())
}

#[test]
fn any_schema_gets_a_call_that_is_right_and_its_result_an_end() {
    let serving = started("schemas");
    let properties = json!({
        "city": { "type": "string" },
        "unit": { "enum": ["celsius", "fahrenheit"] },
        "kind": { "const": "now" },
        "days": { "type": "integer", "minimum": 3, "maximum": 9 },
        "share": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
        "code": { "type": "string", "pattern": "^[A-Z]{2}-\\d{3,5}$" },
        "note": { "type": "string", "minLength": 40 },
        "when": { "type": "string", "format": "date-time" },
        "is_exact": { "type": "boolean" },
        "tags": { "type": "array", "items": { "type": "string" }, "minItems": 2, "uniqueItems": true },
        "place": {
            "type": "object",
            "properties": { "at": { "$ref": "#/$defs/point" } },
            "required": ["at"],
            "additionalProperties": false,
        },
        "either": { "anyOf": [{ "type": "null" }, { "type": "integer" }] },
    });
    let keys: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let schema = |required: &[&String]| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "$defs": { "point": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 } },
            "additionalProperties": false,
        })
    };
    let each = keys.iter().map(|key| vec![*key]).chain([keys.clone()]);
    for required in each {
        let tools = [tool("get_weather", "Get the weather.", schema(&required))];
        for stream in [false, true] {
            for choice in ["auto", "required"] {
                let body = json!({
                    "model": "callwright-replay",
                    "messages": [{ "role": "user", "content": "What is the weather in Paris?" }],
                    "tools": tools,
                    "tool_choice": choice,
                });
                let (_, arguments, words) = asked(&serving, &body, stream);
                assert!(required.iter().all(|key| arguments.get(key.as_str()).is_some()), "{arguments}");
                assert!(!required.iter().any(|key| *key == "city") || arguments["city"] == "Paris");
                assert_eq!(words, "Done. The tool says: It is 22 degrees.");
            }
        }
    }
}

#[test]
fn each_dialect_is_spoken_to_its_end() {
    let serving = started("dialects");
    let weather = json!({
        "type": "object",
        "properties": { "city": { "type": "string" }, "unit": { "type": "string", "enum": ["c", "f"] } },
        "required": ["city"],
    });
    let sum = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"],
    });
    let tools = [
        tool("add_numbers", "Add two numbers.", sum),
        tool("get_weather", "Get the weather of a city.", weather),
    ];
    for dialect in dialects() {
        for stream in [false, true] {
            let ask = |text: &str| {
                let messages = [json!({ "role": "user", "content": text })];
                asked(&serving, &json!({ "model": dialect, "messages": messages, "tools": tools }), stream)
            };
            let (name, arguments, words) = ask("What is the weather in Paris?");
            assert_eq!((name.as_str(), arguments), ("get_weather", json!({ "city": "Paris" })), "{dialect}");
            assert!(
                words.starts_with("Done. The tool says: ") && words.contains("It is 22 degrees."),
                "{dialect}: {words}"
            );
            let (name, arguments, _) = ask("Add 2 and 3, please.");
            assert_eq!((name.as_str(), arguments), ("add_numbers", json!({ "a": 2, "b": 3 })), "{dialect}");
        }
    }
}

#[test]
fn a_refused_call_is_put_right_or_given_up_in_words() {
    let serving = started("refused");
    let schema =
        json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    // The schema is right, but nobody can make a value for this pattern without looking around.
    let hard = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "pattern": "^(?=.*x)(?=.*[0-9]).{9}$" } },
        "required": ["city"],
    });
    let ask = |model: &str, parameters: &Value, policy: &str| {
        let body = json!({
            "model": model,
            "messages": [{ "role": "user", "content": "What is the weather in Rome?" }],
            "tools": [tool("get_weather", "Get the weather.", parameters.clone())],
        });
        let header = format!("x-callwright-policy: {policy}\r\n");
        serving.ask("POST", "/v1/chat/completions", &header, &body.to_string())
    };
    for model in ["callwright-replay", "hermes", "json_bare"] {
        let right = ask(model, &schema, "feedback");
        assert!(right.contains("x-callwright-outcome: retried"), "{model}: {right}");
        assert!(right.contains(r#""{\"city\":\"Rome\"}""#), "{model}: {right}");
        for policy in ["auto", "feedback"] {
            let wrong = ask(model, &hard, policy);
            assert!(wrong.contains(r#""finish_reason":"stop""#), "{model}, {policy}: {wrong}");
        }
    }
}

#[test]
fn no_tool_is_called_where_none_fits_or_none_may_be() {
    let serving = started("none");
    let schema =
        json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let tools =
        [tool("get_weather", "Get the weather.", schema.clone()), tool("get_map", "Draw a map.", schema)];
    let ask = |text: &str, choice: Value| {
        let body = json!({
            "model": "callwright-replay",
            "messages": [{ "role": "user", "content": text }],
            "tools": tools,
            "tool_choice": choice,
        });
        answered(&serving, body, false)
    };
    let (message, finish) = ask("Hi!", "auto".into());
    assert_eq!((message.get("tool_calls"), finish.as_str()), (None, "stop"));
    let (message, finish) = ask("What is the weather?", "none".into());
    assert_eq!((message.get("tool_calls"), finish.as_str()), (None, "stop"));
    let named = json!({ "type": "function", "function": { "name": "get_map" } });
    let (message, _) = ask("What is the weather?", named);
    assert_eq!(message["tool_calls"][0]["function"]["name"], "get_map");
}

#[test]
fn json_fits_the_schema_that_is_asked_for() {
    let serving = started("json");
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 18 } },
        "required": ["name", "age"],
    });
    for stream in [false, true] {
        let (message, _) = answered(
            &serving,
            json!({
                "model": "callwright-replay",
                "messages": [{ "role": "user", "content": "Who is Ada?" }],
                "response_format": { "type": "json_schema", "json_schema": { "name": "person", "schema": schema } },
            }),
            stream,
        );
        let value: Value = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
        assert_eq!(value, json!({ "name": "Ada", "age": 18 }));
    }
}

#[test]
fn one_model_is_listed() {
    let list = started("models").ask("GET", "/v1/models", "", "");
    assert_eq!(list.matches("\"id\"").count(), 1, "{list}");
    assert!(list.contains("callwright-replay"), "{list}");
}

/// Runs the agent without an upstream, in a workspace of its own; its exit code, what it said, and the workspace.
fn run(name: &str, args: &[&str]) -> (i32, String, PathBuf) {
    let workspace = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("built-in-{name}"));
    let _ = std::fs::remove_dir_all(&workspace);
    std::fs::create_dir_all(&workspace).unwrap();
    let mut command = callwright(&[&["run", "--model", "callwright-replay"], args].concat());
    // As `serve` is started in tests: without what the tester's own environment sets.
    for (variable, value) in serve(&[], &[]).get_envs() {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    let output = command.current_dir(&workspace).output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.code().unwrap(), said, workspace)
}

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.into_os_string().into_string().unwrap()
}

#[test]
fn each_example_ends_well_and_does_what_it_is_for() {
    for (name, input, result) in [
        ("echo.toml", r#"{"word": "ping"}"#, "✔ echo -> ping"),
        ("get_weather.toml", r#"{"city": "Paris"}"#, "The weather in Paris is sunny and 22°C."),
        ("run_code.json", r#"{"problem": "Print hello"}"#, "✔ run_code -> hello"),
        ("create_file.toml", r#"{"what": "a Python file that prints hello"}"#, "✔ fsWrite"),
    ] {
        let (code, said, workspace) = run(name, &[&example(name), "--input", input, "--yes"]);
        assert_eq!(code, 0, "{name}: {said}");
        assert!(said.contains(result) && said.contains("\nDone. The tool says: "), "{name}: {said}");
        if name == "create_file.toml" {
            assert_eq!(std::fs::read_to_string(workspace.join("hello.py")).unwrap(), "print(\"hello\")\n");
        }
    }
}

#[test]
fn a_task_without_a_file_is_done_and_a_tool_that_fails_is_not_repeated() {
    let (code, said, workspace) = run("task", &["create a Python file that prints hello", "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(std::fs::read_to_string(workspace.join("hello.py")).unwrap(), "print(\"hello\")\n");

    let fails = "task = \"Try it.\"\ntools = [\"try_it\"]\n[[tool]]\nname = \"try_it\"\ncommand = [\"false\"]\n\
                 kind = \"read\"\ndescription = \"Try it.\"\nparameters = { type = \"object\" }\n";
    let (code, said, _) = run("fails", &[&file("fails.toml", fails), "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("2 requests"), "{said}");
}

/// What repair gains is told where nothing is set up, on one's own questions, and not where it may cost money.
#[test]
fn what_repair_gains_is_measured() {
    let ran = binary::run(&["bench", "--json"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("30 questions go to") && ran.err.contains("60 requests"), "{}", ran.err);
    let found = ran.json();
    // Its calls have nothing but a mistake in their JSON.
    assert_eq!(
        found["all"],
        json!({"asked": 30, "right_without": 0, "right_with": 30, "repaired": 30, "retried": 0, "escalated": 0})
    );
    assert_eq!(found["defects_without"], json!({"unreadable": 30}));
    assert_eq!(found["tokens_with"], found["tokens_without"]);
    assert!(0 < found["tokens_with"]["prompt"].as_u64().unwrap());

    let host = json!({"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]});
    let tools = json!([tool("ping", "Sends a packet.", host.clone()), tool("trace", "Shows the way.", host)]);
    let own =
        format!("{}\nno question\n", json!({"ask": "ping example.org", "tools": tools, "tool": "ping"}));
    let ran = binary::run(&["bench", "--questions", "-"], own);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("   ping\n") && ran.out.contains("100.0 %"), "{}", ran.out);
    assert!(ran.err.starts_with("line 2: not JSON at byte 0\n"), "{}", ran.err);

    let ran = binary::run(&["bench", "--questions", "-"], "");
    assert_eq!(ran.code, 8, "{}", ran.out);
    let ran = binary::run(&["bench", "--upstream", "http://192.0.2.1/v1", "--model", "m"], "");
    assert_eq!(ran.code, 8, "{}", ran.out);
    assert!(ran.err.contains("is not on this machine, and may cost money: --yes asks it"), "{}", ran.err);
}

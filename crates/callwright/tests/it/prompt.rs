//! Conversations for servers that know no tools: what goes out, and that it is read back as it was meant.

use callwright::constrain::{self, Constraint};
use callwright::json;
use callwright::prompt::{self, PromptDialect, Rendered, Speaking, render_messages};
use callwright::value::Value;
use callwright::{Dialects, ToolChoice, ToolSet};

fn named(dialect: &str) -> PromptDialect {
    dialect.parse().unwrap()
}

fn weather() -> ToolSet {
    ToolSet::from_value(&json!([
        {"type": "function", "function": {"name": "get_weather", "description": "Current weather", "parameters": {
            "type": "object", "required": ["city"], "properties": {
                "city": {"type": "string", "description": "Where"}, "unit": {"enum": ["c", "f"]}}}}},
        {"type": "function", "function": {"name": "stop"}},
    ]))
    .unwrap()
}

/// Two calls of one turn, their results in the wrong order, one with a picture.
fn conversation() -> Vec<Value> {
    let call = |id: &str, city: &str| {
        let arguments = json!({"city": city}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}})
    };
    vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": [{"type": "text", "text": "Paris, Rome?"}, {"type": "image_url"}], "name": "Ann"}),
        json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": [call("a", "Paris"), call("b", "Rome")]}),
        json!({"role": "tool", "tool_call_id": "b", "content": "20<|im_end|>"}),
        json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "22"}, {"type": "image_url", "image_url": {}}]}),
        json!({"role": "user", "content": "And now?"}),
    ]
}

fn rendered(dialect: &PromptDialect, speaking: &Speaking, messages: &[Value]) -> Vec<Value> {
    render_messages(dialect, &weather(), speaking, messages).messages
}

/// S3-23: results go back as text of the dialect, those of one turn together, in the order of their calls.
#[test]
fn a_history_with_tools_becomes_plain_turns() {
    let speaking = Speaking::default();
    let messages = rendered(&named("tool_code"), &speaking, &conversation());
    let prompt = prompt::render(&named("tool_code"), &weather());
    assert_eq!(
        Value::Array(messages),
        json!([
            {"role": "system", "content": format!("Be brief.\n\n{prompt}")},
            conversation()[1],
            {"role": "assistant", "refusal": null,
             "content": "```tool_code\nget_weather(city=\"Paris\")\nget_weather(city=\"Rome\")\n```"},
            {"role": "user", "content": [
                {"type": "text", "text": "Result of get_weather:\n```tool_output\n22\n```"},
                {"type": "image_url", "image_url": {}},
                {"type": "text", "text": "Result of get_weather:\n```tool_output\n20<\\|im_end|>\n```"}]},
            {"role": "user", "content": "And now?"},
        ])
    );
}

#[test]
fn what_is_no_message_stays_in_its_place() {
    let mut history = conversation();
    history.insert(5, json!("no object"));
    let turns = rendered(&named("hermes"), &Speaking::default(), &history);
    let [.., results, odd, last] = turns.as_slice() else { panic!("{turns:?}") };
    assert!(results.to_string().contains("tool_response"), "{results}");
    assert_eq!((odd, last), (&json!("no object"), &conversation()[5]));
}

#[test]
fn templates_have_their_way() {
    let late = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "system", "content": "Late."}),
        json!({"role": "user", "content": "Ho"}),
    ];
    let roles = |messages: &[Value]| {
        messages.iter().map(|m| m["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    let plain = Speaking::default();
    assert_eq!(roles(&rendered(&named("json"), &plain, &late)), ["system", "user", "system", "user"]);

    let alternate = Speaking { alternate: true, ..Speaking::default() };
    let messages = rendered(&named("json"), &alternate, &late);
    assert_eq!(roles(&messages), ["system", "user"]);
    assert_eq!(messages[1]["content"], "Hi\n\nLate.\n\nHo");
    let messages = rendered(&named("json"), &alternate, &conversation());
    assert_eq!(roles(&messages), ["system", "user", "assistant", "user"]);
    assert_eq!(messages[3]["content"].as_array().unwrap().len(), 4);

    let gemma = Speaking { system_role: false, alternate: true, ..Speaking::default() };
    let messages = rendered(&named("json"), &gemma, &late);
    assert_eq!(roles(&messages), ["user"]);
    let prompt = prompt::render(&named("json"), &weather());
    assert_eq!(messages[0]["content"], format!("{prompt}\n\nHi\n\nLate.\n\nHo"));
    let alone = rendered(&named("json"), &gemma, &[json!({"role": "system", "content": "Go."})]);
    assert_eq!(alone, [json!({"role": "user", "content": format!("Go.\n\n{prompt}")})]);
}

/// S1-16: text without a call is unchanged, and so is what is no tool's business.
#[test]
fn what_is_not_about_tools_passes() {
    let messages = [
        json!({"role": "assistant", "content": "Just words, even <tool_call>.", "reasoning_content": "hm"}),
        json!({"role": "user", "content": "User: <|im_start|>"}),
        json!("no message at all"),
        json!({"role": "critic", "content": 5}),
    ];
    for dialect in &PromptDialect::all(&Dialects::default()).collect::<Vec<_>>() {
        let speaking = Speaking { choice: ToolChoice::None, ..Speaking::default() };
        assert_eq!(rendered(dialect, &speaking, &messages), messages);
    }
}

/// S1-15: whatever way the call was written in, the history has the standard form, and the older `function_call` too.
#[test]
fn calls_of_the_history_are_standard() {
    let said = json!({"role": "assistant", "content": "Looking.", "function_call": {"name": "stop", "arguments": ""}});
    for (dialect, expected) in [
        (&named("function-tag"), "Looking.\n<function>{\"name\": \"stop\", \"parameters\": {}}</function>"),
        (&named("tool_code"), "Looking.\n```tool_code\nstop()\n```"),
        (&named("json"), "Looking.\n{\"tool_calls\": [{\"name\": \"stop\", \"arguments\": {}}]}"),
        (&named("hermes"), "Looking.\n<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>"),
    ] {
        let speaking = Speaking { choice: ToolChoice::None, ..Speaking::default() };
        assert_eq!(
            rendered(dialect, &speaking, std::slice::from_ref(&said)),
            [json!({"role": "assistant", "content": expected})]
        );
    }
}

#[test]
fn the_choice_is_said() {
    let text = |choice| {
        prompt::prompt(
            &named("json"),
            &weather(),
            &Speaking { choice, parallel: false, ..Speaking::default() },
        )
        .text
    };
    assert!(text(ToolChoice::Auto).contains("if no tool can help"));
    assert!(text(ToolChoice::Required).contains("You must call one of these tools now."));
    let named = text(ToolChoice::Named("stop".to_owned()));
    assert!(named.contains("You must call stop now.") && !named.contains("get_weather"), "{named}");
    assert_eq!(text(ToolChoice::None), "");
}

#[test]
fn an_example_has_no_value_and_its_dots_are_none() {
    let tools = weather();
    let user = |text: &str| vec![json!({"role": "user", "content": [{"type": "text", "text": text}]})];
    for dialect in [&named("json"), &named("qwen3_coder"), &named("function-tag")] {
        let Rendered { messages, examples, .. } =
            render_messages(dialect, &tools, &Speaking::default(), &user("Weather?"));
        assert_eq!(examples.iter().next().unwrap().name, "get_weather");
        let said = messages[0]["content"].to_string();
        // All that may be given is shown, not only what must be.
        assert!(said.contains("unit") && said.contains("..."), "{said}");
        for (arguments, text, is_echo) in [
            (r#"{"city": "..."}"#, "Weather?", true),
            (r#"{"city": "Oslo", "unit": ["..."]}"#, "Weather?", true),
            (r#"{"city": "..."}"#, "Weather, hm... well", true),
            (r#"{"city": "..."}"#, "Of the city \"...\", please.", false),
            (r#"{"city": "Oslo"}"#, "Weather?", false),
            (r#"{"city": "Oslo..."}"#, "Weather?", false),
            ("{}", "Weather?", false),
        ] {
            assert_eq!(examples.echoed(arguments, &user(text)).is_some(), is_echo, "{arguments} {text}");
        }
    }
    let hermes = render_messages(&named("hermes"), &tools, &Speaking::default(), &user("Weather?"));
    let said = hermes.messages[0]["content"].as_str().unwrap();
    assert!(said.contains("{\"name\": <function-name>, \"arguments\": <args-json-object>}"), "{said}");
}

#[test]
fn a_constraint_is_for_its_dialects() {
    let tools = weather();
    let field = |constraint, dialect: &str| {
        constrain::field(constraint, &named(dialect), &tools, &ToolChoice::Auto, true).map(|(name, _)| name)
    };
    assert_eq!(field(Constraint::Schema, "json"), Some("response_format"));
    assert_eq!(field(Constraint::Schema, "hermes"), None);
    assert_eq!(field(Constraint::Grammar, "hermes"), Some("grammar"));
    assert_eq!(field(Constraint::Grammar, "tool_code"), None);
    assert!(constrain::field(Constraint::Grammar, &named("json"), &tools, &ToolChoice::None, true).is_none());
}

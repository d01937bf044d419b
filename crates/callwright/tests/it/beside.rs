//! What a model says before and behind a call, with tags, brackets, quotes and code in it, is neither taken for the call's
//! markup nor changes what is read, in every dialect.

use callwright::json;
use callwright::prompt::{self, PromptDialect};
use callwright::value::Value;
use callwright::{Context, Dialects, ToolSet, parse};

const SAID: [&str; 28] = [
    "It is <b>bold</b>.",
    "<b>Done.</b>",
    "</div>",
    "<note>x</note>",
    "<br/>next",
    "See <https://x.org> now",
    "1 < 2 and 3 > 2.",
    "Use `x` here.",
    "```js\nf();\n```\nDone.",
    "The list [1, 2] is it.",
    "The object {\"a\": 1} is it.",
    "A } or ] or ) alone.",
    "if (a[0]) { return; }",
    "(see above)",
    "\"quoted\" text",
    "it's 'single'",
    "- a\n- b",
    "| a | b |\n|---|---|",
    "> quote\n\n# Head",
    "$x^2$, 50 % & more; done",
    "Let me look with get_weather, then with list_files.",
    "The tools are `get_weather` and `list_files`:",
    "Temperature: 3 °C, city: Paris",
    "**Note:** <u>all</u> of [it](https://x.org)!",
    "```html\n<div>x</div>\n```",
    "-a\n+b\n@@ 1 @@",
    "a, b; c",
    "...",
];

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn what_stands_beside_a_call_stays() {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = ToolSet::from_value(&json!([
        {"name": "get_weather", "parameters": parameters},
        {"name": "list_files", "parameters": {"type": "object", "properties": {}}}
    ]))
    .unwrap();
    let made = [
        ("get_weather".to_owned(), json!({"city": "Paris"}).to_string()),
        ("list_files".to_owned(), "{}".to_owned()),
    ];
    let mut faults = Vec::new();
    for dialect in PromptDialect::all(&Dialects::default()) {
        for calls in [&made[..1], &made[1..], &made[..]] {
            let call = prompt::calls(&dialect, &tools, calls);
            for said in SAID {
                let between = match calls {
                    [first, second] => {
                        let [first, second] = [first, second]
                            .map(|one| prompt::calls(&dialect, &tools, std::slice::from_ref(one)));
                        format!("{first}\n{said}\n\n{second}")
                    }
                    _ => format!("{said}\n{call}"),
                };
                for text in [format!("{said}\n\n{call}"), format!("{call}\n{said}"), between] {
                    let outcome = parse(&tools, &text, &[], &Context::default());
                    let found: Vec<(String, Value)> = outcome
                        .calls()
                        .map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()))
                        .collect();
                    let is_same = found.len() == calls.len()
                        && found.iter().zip(calls).all(|((name, arguments), (expected, json))| {
                            name == expected && *arguments == serde_json::from_str::<Value>(json).unwrap()
                        });
                    if !is_same || without_blanks(&outcome.text) != without_blanks(said) {
                        faults.push(format!("{}: {text}\n=> {found:?} {:?}", dialect.name(), outcome.text));
                    }
                }
            }
        }
    }
    let shown = faults.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(faults.is_empty(), "{}\n{shown}", faults.len());
}

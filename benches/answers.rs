//! Answers of any size, in several dialects: prose, and calls of `write_file` that carry code.

use callwright::ToolSet;

use crate::calls::code;

const TOOLS: &str = r#"[{"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"],
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}]"#;

/// What an answer is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text {
    Prose,
    Fence,
    Think,
    Json,
    BareJson,
    Pythonic,
    Tags,
    Relaxed,
    Brace,
}

impl Text {
    pub(crate) const ALL: [Text; 9] = [
        Text::Prose,
        Text::Fence,
        Text::Think,
        Text::Json,
        Text::BareJson,
        Text::Pythonic,
        Text::Tags,
        Text::Relaxed,
        Text::Brace,
    ];

    /// About `size` bytes of it.
    pub(crate) fn of(self, size: usize) -> String {
        let escaped = || code(size).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let call = || {
            format!(
                r#"{{"name": "write_file", "arguments": {{"path": "a.rs", "content": "{}"}}}}"#,
                escaped()
            )
        };
        match self {
            Text::Prose => prose(size),
            Text::Fence => format!("Here:\n```rust\n{}```\n", code(size)),
            Text::Think => format!("<think>{}</think>Done.", prose(size)),
            Text::Json => format!("<tool_call>\n{}\n</tool_call>", call()),
            Text::BareJson => call(),
            Text::Pythonic => format!("[write_file(path=\"a.rs\", content=\"{}\")]", escaped()),
            Text::Tags => format!(
                "<tool_call>\n<function=write_file>\n<parameter=path>\na.rs\n</parameter>\n<parameter=content>\n{}\n\
                 </parameter>\n</function>\n</tool_call>",
                code(size)
            ),
            Text::Relaxed => format!(
                "<|tool_call>call:write_file{{path:<|\"|>a.rs<|\"|>,content:<|\"|>{}<|\"|>}}<tool_call|>",
                code(size)
            ),
            Text::Brace => format!("So {{ it is. {}", prose(size)),
        }
    }
}

fn prose(size: usize) -> String {
    let line = "The weather in Paris stays mild for the rest of the week, with a light wind from the west.\n";
    line.repeat(size / line.len() + 1)
}

/// The tool that is called.
pub(crate) fn tools() -> ToolSet {
    ToolSet::from_json(TOOLS).unwrap_or_else(|error| panic!("{error}"))
}

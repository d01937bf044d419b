//! Answers to try: each shows something else that models do.

use crate::try_it::Asked;

/// The tools of all examples.
pub(crate) const TOOLS: &str = r#"[
  {"name": "run_code", "description": "Run Python.", "parameters": {
    "type": "object", "required": ["code"],
    "properties": {"code": {"type": "string"}, "timeout": {"type": "integer"}}}},
  {"name": "read_file", "description": "Read a file.", "parameters": {
    "type": "object", "required": ["path"],
    "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}}}}
]"#;

/// An answer, its name in an address, and what it is called.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    answer: &'static str,
    finish_reason: &'static str,
}

pub(crate) const ALL: [Example; 7] = [
    Example {
        name: "quotes",
        title: "Quotes in code",
        answer: "Let me check.\n<tool_call>\n{\"name\": \"run_code\", \"arguments\": {\"code\": \"print(\"hello\")\", \"timeout\": 5,}}\n</tool_call>",
        finish_reason: "stop",
    },
    Example {
        name: "python",
        title: "A call in Python",
        answer: "```python\nread_file(path='src/main.rs', lines=[1, 40])\n```",
        finish_reason: "stop",
    },
    Example {
        name: "tags",
        title: "A mark that lost a letter",
        answer: "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_vale>README.md</arg_value>\n</tool_call>",
        finish_reason: "stop",
    },
    Example {
        name: "cut",
        title: "A call cut short",
        answer: "<tool_call>\n{\"name\": \"run_code\", \"arguments\": {\"code\": \"for n in range(10):\\n    pri",
        finish_reason: "length",
    },
    Example {
        name: "unknown",
        title: "A tool that does not exist",
        answer: "{\"name\": \"open_file\", \"arguments\": {\"path\": \"a.txt\"}}",
        finish_reason: "stop",
    },
    Example {
        name: "wrong",
        title: "A value of the wrong type",
        answer: "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\", \"lines\": \"all of them\"}}\n</tool_call>",
        finish_reason: "stop",
    },
    Example {
        name: "shown",
        title: "A call that is only shown",
        answer: "To read a file, write a call like this one:\n\n> <tool_call>\n> {\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}\n> </tool_call>\n\nShall I do that?",
        finish_reason: "stop",
    },
];

impl Example {
    /// The example of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Example> {
        ALL.iter().find(|example| example.name == name)
    }

    /// It, as if it had been pasted.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            answer: self.answer.to_owned(),
            tools: TOOLS.to_owned(),
            finish_reason: Some(self.finish_reason.to_owned()),
            ..Asked::default()
        }
    }
}

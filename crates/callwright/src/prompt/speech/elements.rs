//! Dialects in which arguments are elements named for them, or objects with strings of their own.

use super::builtin::{general, trained};
use super::{Arguments, Definition, PromptFormat};
use crate::syntax::Text;

pub(super) fn speeches() -> Vec<(&'static str, PromptFormat)> {
    vec![
        (
            "minimax_m3",
            trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked like this, objects and lists as nested elements:\n\n{calls}\n",
            )
            .listing(Definition::Function, "<tool>{tool}</tool>", "\n")
            .section(
                "]<]minimax[>[<tool_call>\n",
                "]<]minimax[>[<invoke name=\"{name}\">{arguments}]<]minimax[>[</invoke>",
                "\n",
                "\n]<]minimax[>[</tool_call>",
            )
            .arguments(Arguments::Elements(Text::Borrowed("]<]minimax[>[")))
            .result("tool", "<response>{content}</response>"),
        ),
        (
            "morph_xml",
            general().call("<{name}>\n{arguments}</{name}>", "\n").arguments(Arguments::Elements(Text::Borrowed(""))),
        ),
        (
            "gemma4",
            trained("{tools}\nTools are called like this:\n{calls}\n")
                .listing(Definition::Declaration(Text::Borrowed("<|\"|>")), "<|tool>{tool}<tool|>", "")
                .call("<|tool_call>call:{name}{arguments}<tool_call|>", "")
                .arguments(Arguments::Relaxed(Text::Borrowed("<|\"|>")))
                .result("tool", "<|tool_response>response:{name}{value:<|\"|>{content}<|\"|>}<tool_response|>"),
        ),
        // The words of the system turn are what the tuning was done with.
        (
            "functiongemma",
            trained("You are a model that can do function calling with the following functions{tools}\n{calls}\n")
                .listing(
                    Definition::Declaration(Text::Borrowed("<escape>")),
                    "<start_function_declaration>{tool}<end_function_declaration>",
                    "",
                )
                .call("<start_function_call>call:{name}{arguments}<end_function_call>", "")
                .arguments(Arguments::Relaxed(Text::Borrowed("<escape>")))
                .result(
                    "tool",
                    "<start_function_response>response:{name}{value:<escape>{content}<escape>}<end_function_response>",
                ),
        ),
    ]
}

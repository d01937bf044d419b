//! Dialects in which each argument is raw text between tags.

use super::builtin::{general, trained};
use super::{Arguments, Definition, PromptFormat};
use crate::syntax::Text;

const PARAMETER_LINE: &str = "<parameter name=\"{key}\">{value}</parameter>\n";
const PAIR_LINE: &str = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n";
const PAIR: &str = "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>";

/// How DeepSeek's V3.2 and V4 are told of their tools.
const DSML: &str = "## Tools\n\nYou have tools that can help to answer the user. You invoke them with a block like this \
                    in your reply:\n{calls}\n\nStrings and scalars stand as they are, without quotes or escapes; lists \
                    and objects as JSON. The attribute `string` is \"true\" for strings and \"false\" for anything \
                    else.\n\nThese are the functions, described in JSONSchema:\n<functions>\n{tools}\n</functions>\n";

fn tags(template: &'static str) -> Arguments {
    Arguments::Tags(Text::Borrowed(template))
}

pub(super) fn speeches() -> Vec<(&'static str, PromptFormat)> {
    let mut speeches = named_parameters();
    speeches.extend(invocations());
    speeches.extend(pairs());
    speeches
}

/// `<parameter=a>x</parameter>`
fn named_parameters() -> Vec<(&'static str, PromptFormat)> {
    vec![
        (
            "qwen3_coder",
            trained(
                "# Tools\n\nYou have access to the following functions:\n\n<tools>\n{tools}\n</tools>\n\nTo call a \
                 function, answer in this form and write nothing behind it:\n\n{calls}\n\n<IMPORTANT>\n- The function \
                 block stands within <tool_call></tool_call>\n- Required parameters must be there\n- Reasons may stand \
                 before a call, never behind it\n- Where no function helps, answer as usual\n</IMPORTANT>\n",
            )
            .listing(Definition::Xml, "{tool}", "\n")
            .call("<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>", "\n")
            .arguments(tags("<parameter={key}>\n{value}\n</parameter>\n"))
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        ),
        (
            "seed_oss",
            trained("{tools}\n\nCall a function in this form:\n{calls}\n")
                .listing(Definition::Python, "Function:\n{tool}", "\n\n")
                .call("<seed:tool_call>\n<function={name}>\n{arguments}</function>\n</seed:tool_call>", "\n")
                .arguments(tags("<parameter={key}>{value}</parameter>\n"))
                .result("tool", "{content}"),
        ),
    ]
}

/// `<invoke name="f"><parameter name="a">x</parameter></invoke>`
fn invocations() -> Vec<(&'static str, PromptFormat)> {
    let dsml = |open, call, argument, close, result| {
        trained(DSML)
            .listing(Definition::Function, "{tool}", "\n")
            .section(open, call, "\n", close)
            .arguments(tags(argument))
            .result("user", result)
    };
    vec![
        (
            "minimax_m2",
            trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked, and their parameters passed, as XML:\n\n{calls}\n",
            )
            .listing(Definition::Function, "<tool>{tool}</tool>", "\n")
            .section("<minimax:tool_call>\n", "<invoke name=\"{name}\">\n{arguments}</invoke>", "\n", "\n</minimax:tool_call>")
            .arguments(tags(PARAMETER_LINE))
            .result("tool", "<response>{content}</response>"),
        ),
        (
            "anthropic_xml",
            trained(
                "You have access to functions. You invoke them with a block like this in your reply:\n{calls}\n\nStrings \
                 and scalars stand as they are, lists and objects as JSON.\n\nThe functions, described in \
                 JSONSchema:\n<functions>\n{tools}\n</functions>\n",
            )
            .listing(Definition::Function, "<function>{tool}</function>", "\n")
            .section("<function_calls>\n", "<invoke name=\"{name}\">\n{arguments}</invoke>", "\n", "\n</function_calls>")
            .arguments(tags(PARAMETER_LINE))
            .result("user", "<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{content}\n</stdout>\n</result>")
            .results("<function_results>\n", "\n", "\n</function_results>"),
        ),
        (
            "dots",
            general()
                .section(
                    "<dots_function_call>\n",
                    "<invoke name=\"{name}\">\n{arguments}</invoke>",
                    "\n",
                    "\n</dots_function_call>",
                )
                .arguments(tags(PARAMETER_LINE)),
        ),
        (
            "deepseek_v32",
            dsml(
                "<｜DSML｜function_calls>\n",
                "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                "<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n",
                "\n</｜DSML｜function_calls>",
                "<result>{content}</result>",
            )
            .results("<function_results>\n", "\n", "\n</function_results>"),
        ),
        (
            "deepseek_v4",
            dsml(
                "<｜DSML｜tool_calls>\n",
                "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                "<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n",
                "\n</｜DSML｜tool_calls>",
                "<tool_result>{content}</tool_result>",
            ),
        ),
        (
            "deepseek_v41",
            PromptFormat { trained: false, ..dsml(
                "<｜DSML｜ calls>\n",
                "<｜DSML｜ invoke name=\"{name}\">\n{arguments}</｜DSML｜ invoke>",
                "<｜DSML｜ parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜ parameter>\n",
                "\n</｜DSML｜ calls>",
                "<tool_result>{content}</tool_result>",
            ) },
        ),
        (
            "gigachat35",
            trained("function descriptions:\n{tools}\n\nFunctions are called like this:\n{calls}\n")
                .listing(Definition::TypeScript, "{tool}", "\n\n")
                .section(
                    "<｜GCML｜tool_calls>\n",
                    "<｜GCML｜invoke name=\"{name}\">\n{arguments}</｜GCML｜invoke>",
                    "\n",
                    "\n</｜GCML｜tool_calls>",
                )
                .arguments(tags("<｜GCML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜GCML｜parameter>\n"))
                .result("function result", "<function_response name=\"{name}\">{content}</function_response>"),
        ),
        (
            "muse",
            trained(
                "You have tools that can help to answer the user. You invoke a function with a block like \
                 this:\n{calls}\n\nStrings and scalars stand as they are, blanks included; lists and objects as JSON.\n\
                 The functions, described in JSONSchema:\n// Function schemas\n{tools}\n",
            )
            .listing(Definition::Function, "{tool}", "\n")
            .call(
                "<atem:function_calls>\n<atem:invoke name=\"{name}\">\n{arguments}</atem:invoke>\n</atem:function_calls>",
                "\n",
            )
            .arguments(tags("<atem:parameter name=\"{key}\">{value}</atem:parameter>\n"))
            .result("tool", "<tool_output name=\"{name}\">\n{content}\n</tool_output>"),
        ),
        (
            "beam",
            general()
                .call(
                    " to={name}<|channel|>analysis <|constrain|>xml<|message|>{arguments}<|call|>",
                    "<|start|>assistant",
                )
                .arguments(tags("<rfl:parameter name=\"{key}\">\n{value}\n</rfl:parameter>")),
        ),
        (
            "step3",
            general()
                .section(
                    "<｜tool_calls_begin｜>\n",
                    "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"{name}\">{arguments}\
                     </steptml:invoke><｜tool_call_end｜>",
                    "\n",
                    "\n<｜tool_calls_end｜>",
                )
                .arguments(tags("<steptml:parameter name=\"{key}\">{value}</steptml:parameter>")),
        ),
        (
            "minicpm5",
            trained(
                "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
                 <tools></tools> tags:\n<tools>\n{tools}\n</tools>\n\nA function is called like this:\n{calls}\n",
            )
            .call("<function name=\"{name}\">{arguments}</function>", "\n")
            .arguments(tags("<param name=\"{key}\">{value}</param>"))
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        ),
        // The tools stand in a system message of the type `tool-declare`.
        (
            "kimi_k3",
            trained("# Tools\nThe tools, described in JSONSchema:\n\n```json\n[{tools}]\n```\n\nTools are called like this:\n{calls}\n")
                .listing(Definition::Json, "{tool}", ",")
                .section(
                    "<|open|>tools<|sep|>",
                    "<|open|>call tool=\"{name}\" index=\"{number}\"<|sep|>{arguments}<|close|>call<|sep|>",
                    "",
                    "<|close|>tools<|sep|>",
                )
                .arguments(tags("<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>{value}<|close|>argument<|sep|>"))
                .result("tool", "{content}")
                .labelled(),
        ),
    ]
}

/// `<arg_key>a</arg_key><arg_value>x</arg_value>`
fn pairs() -> Vec<(&'static str, PromptFormat)> {
    let glm = || {
        trained(
            "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
             <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each call, write the function's name and its \
             arguments in this XML format:\n{calls}\n",
        )
        .result("observation", "<tool_response>\n{content}\n</tool_response>")
    };
    vec![
        ("glm45", glm().call("<tool_call>{name}\n{arguments}</tool_call>", "\n").arguments(tags(PAIR_LINE))),
        ("glm47", glm().call("<tool_call>{name}{arguments}</tool_call>", "").arguments(tags(PAIR))),
        (
            "iquest_q1",
            general()
                .call("<iquest_tool_call>{name}{arguments}</iquest_tool_call>", "\n")
                .arguments(tags(PAIR)),
        ),
        (
            "hy_v3",
            general()
                .section(
                    "<tool_calls>\n",
                    "<tool_call>{name}<tool_sep>\n{arguments}</tool_call>",
                    "\n",
                    "\n</tool_calls>",
                )
                .arguments(tags(PAIR_LINE)),
        ),
        (
            "solar_open2",
            general()
                .call("<|tool_call:start|>{name}\n{arguments}<|tool_call:end|>", "\n")
                .arguments(tags("<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n"))
                .result("tool", "<|tool_response:start|>{content}<|tool_response:end|>"),
        ),
        (
            "k2_horizon",
            general()
                .section(
                    "<ifm|tool_calls>\n",
                    "<ifm|tool_call>{name}{arguments}</ifm|tool_call>",
                    "\n",
                    "\n</ifm|tool_calls>",
                )
                .arguments(tags("<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{value}</ifm|arg_value>")),
        ),
    ]
}

//! Arguments as raw text between tags: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`.

use super::record;
use crate::dialect::Anchor::Distinct;
use crate::dialect::{Dialect, Grammar, NameAt, Trim};
use crate::prompt::speech::builtin::{general, trained};
use crate::prompt::speech::{Arguments, Definition, PromptFormat};
use crate::syntax::Text;

const PARAMETER_LINE: &str = "<parameter name=\"{key}\">{value}</parameter>\n";
const PAIR_LINE: &str = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n";
const PAIR: &str = "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>";

/// How DeepSeek's V3.2 and V4 are told of their tools.
const DSML: &str = "## Tools\n\nYou have tools that can help to answer the user. You invoke them with a block like this \
                    in your reply:\n{calls}\n\nStrings and scalars stand as they are, without quotes or escapes; lists \
                    and objects as JSON. The attribute `string` is \"true\" for strings and \"false\" for anything \
                    else.\n\nThese are the functions, described in JSONSchema:\n<functions>\n{tools}\n</functions>\n";

/// A record of a dialect with arguments in tags.
fn tagged(name: &'static str, name_at: NameAt) -> Dialect {
    Dialect { arguments: Grammar::Tags, ..record(name, name_at, Distinct) }
}

fn tags(template: &'static str) -> Arguments {
    Arguments::Tags(Text::Borrowed(template))
}

pub(super) fn all() -> Vec<Dialect> {
    let dsml = |open, call, argument, close, result| {
        trained(DSML)
            .listing(Definition::Function, "{tool}", "\n")
            .section(open, call, "\n", close)
            .arguments(tags(argument))
            .result("user", result)
    };
    let glm = || {
        trained(
            "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
             <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each call, write the function's name and its \
             arguments in this XML format:\n{calls}\n",
        )
        .result("observation", "<tool_response>\n{content}\n</tool_response>")
    };
    vec![
        tagged("qwen3_coder", NameAt::Opener)
            .call(&["<tool_call>"], &[])
            .trim(Trim::LineBreak)
            .by("Qwen3-Coder, Qwen 3.5 and later, Nemotron 3, MiMo, Step 3.5")
            .spoken(
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
        tagged("seed_oss", NameAt::Opener)
            .kin("qwen3_coder")
            .section(&["<seed:tool_call>"], &[])
            .by("Seed OSS")
            .spoken(
                trained("{tools}\n\nCall a function in this form:\n{calls}\n")
                    .listing(Definition::Python, "Function:\n{tool}", "\n\n")
                    .call("<seed:tool_call>\n<function={name}>\n{arguments}</function>\n</seed:tool_call>", "\n")
                    .arguments(tags("<parameter={key}>{value}</parameter>\n"))
                    .result("tool", "{content}"),
            ),
        tagged("anthropic_xml", NameAt::Opener)
            .section(&["<function_calls>"], &[])
            .by("prompts in the manner of Claude's, and the agents that copied them")
            .spoken(
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
        tagged("minimax_m2", NameAt::Opener)
            .kin("anthropic_xml")
            .section(&["<minimax:tool_call>"], &[])
            .by("MiniMax M2 and M2.1")
            .spoken(
                trained(
                    "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                     {tools}\n</tools>\n\nTools are invoked, and their parameters passed, as XML:\n\n{calls}\n",
                )
                .listing(Definition::Function, "<tool>{tool}</tool>", "\n")
                .section("<minimax:tool_call>\n", "<invoke name=\"{name}\">\n{arguments}</invoke>", "\n", "\n</minimax:tool_call>")
                .arguments(tags(PARAMETER_LINE))
                .result("tool", "<response>{content}</response>"),
            ),
        tagged("dots", NameAt::Opener)
            .kin("anthropic_xml")
            .section(&["<dots_function_call>"], &[])
            .by("dots.llm")
            .spoken(
                general()
                    .section(
                        "<dots_function_call>\n",
                        "<invoke name=\"{name}\">\n{arguments}</invoke>",
                        "\n",
                        "\n</dots_function_call>",
                    )
                    .arguments(tags(PARAMETER_LINE)),
            ),
        tagged("deepseek_v4", NameAt::Opener)
            .section(&["<|dsml|tool_calls>"], &[])
            .by("DeepSeek V4")
            .spoken(dsml(
                "<｜DSML｜tool_calls>\n",
                "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                "<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n",
                "\n</｜DSML｜tool_calls>",
                "<tool_result>{content}</tool_result>",
            )),
        tagged("deepseek_v32", NameAt::Opener)
            .kin("deepseek_v4")
            .section(&["<|dsml|function_calls>"], &[])
            .by("DeepSeek V3.2")
            .spoken(
                dsml(
                    "<｜DSML｜function_calls>\n",
                    "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                    "<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n",
                    "\n</｜DSML｜function_calls>",
                    "<result>{content}</result>",
                )
                .results("<function_results>\n", "\n", "\n</function_results>"),
            ),
        tagged("deepseek_v41", NameAt::Opener)
            .kin("deepseek_v4")
            .section(&["<|dsml| calls>"], &[])
            .by("DeepSeek V4.1")
            .spoken(
                PromptFormat { trained: false, ..dsml(
                    "<｜DSML｜ calls>\n",
                    "<｜DSML｜ invoke name=\"{name}\">\n{arguments}</｜DSML｜ invoke>",
                    "<｜DSML｜ parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜ parameter>\n",
                    "\n</｜DSML｜ calls>",
                    "<tool_result>{content}</tool_result>",
                ) },
            ),
        tagged("gigachat35", NameAt::Opener)
            .section(&["<|gcml|tool_calls>"], &[])
            .by("GigaChat 3.5")
            .spoken(
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
        tagged("muse", NameAt::Opener)
            .section(&["<atem:function_calls>"], &[])
            .by("Muse Glimmer and Spark")
            .spoken(
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
        tagged("beam", NameAt::Header)
            .kin("harmony")
            .call(&[], &["<|call|>", "<|end|>"])
            .trim(Trim::LineBreak)
            .by("Beam 1")
            .spoken(
                general()
                    .call(
                        " to={name}<|channel|>analysis <|constrain|>xml<|message|>{arguments}<|call|>",
                        "<|start|>assistant",
                    )
                    .arguments(tags("<rfl:parameter name=\"{key}\">\n{value}\n</rfl:parameter>")),
            ),
        tagged("step3", NameAt::Opener)
            .section(&["<|tool_calls_begin|>"], &[])
            .call(&["<|tool_call_begin|>"], &[])
            .by("Step 3")
            .spoken(
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
        tagged("minicpm5", NameAt::Opener)
            .by("MiniCPM 4 and 5")
            .spoken(
                trained(
                    "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
                 <tools></tools> tags:\n<tools>\n{tools}\n</tools>\n\nA function is called like this:\n{calls}\n",
                )
                .call("<function name=\"{name}\">{arguments}</function>", "\n")
                .arguments(tags("<param name=\"{key}\">{value}</param>"))
                .result("user", "<tool_response>\n{content}\n</tool_response>"),
            ),
        tagged("kimi_k3", NameAt::Opener)
            .section(&["<|open|>tools<|sep|>"], &[])
            .by("Kimi K3")
            // The tools stand in a system message of the type `tool-declare`.
            .spoken(
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
        tagged("glm45", NameAt::Header)
            .call(&["<tool_call>"], &[])
            .by("GLM 4.5 and 4.6, Ling 3, Laguna, Spark 2.5")
            .spoken(
                glm().call("<tool_call>{name}\n{arguments}</tool_call>", "\n").arguments(tags(PAIR_LINE)),
            ),
        tagged("glm47", NameAt::Header)
            .kin("glm45")
            .by("GLM 4.7 and 5")
            .spoken(glm().call("<tool_call>{name}{arguments}</tool_call>", "").arguments(tags(PAIR))),
        tagged("iquest_q1", NameAt::Header)
            .call(&["<iquest_tool_call>"], &[])
            .by("IQuest Q1")
            .spoken(
                general()
                    .call("<iquest_tool_call>{name}{arguments}</iquest_tool_call>", "\n")
                    .arguments(tags(PAIR)),
            ),
        tagged("hy_v3", NameAt::Header)
            .section(&["<tool_calls>"], &[])
            .call(&["<tool_call>"], &[])
            .aliases(&["hy_v4"])
            .by("Hunyuan 3 and 4, whose tags may have a suffix")
            .spoken(
                general()
                    .section(
                        "<tool_calls>\n",
                        "<tool_call>{name}<tool_sep>\n{arguments}</tool_call>",
                        "\n",
                        "\n</tool_calls>",
                    )
                    .arguments(tags(PAIR_LINE)),
            ),
        tagged("k2_horizon", NameAt::Header)
            .section(&["<ifm|tool_calls>"], &[])
            .call(&["<ifm|tool_call>"], &[])
            .by("K2 Horizon")
            .spoken(
                general()
                    .section(
                        "<ifm|tool_calls>\n",
                        "<ifm|tool_call>{name}{arguments}</ifm|tool_call>",
                        "\n",
                        "\n</ifm|tool_calls>",
                    )
                    .arguments(tags("<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{value}</ifm|arg_value>")),
            ),
        tagged("solar_open2", NameAt::Header)
            .call(&["<|tool_call:start|>"], &[])
            .by("Solar Open 2")
            .spoken(
                general()
                    .call("<|tool_call:start|>{name}\n{arguments}<|tool_call:end|>", "\n")
                    .arguments(tags("<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n"))
                    .result("tool", "<|tool_response:start|>{content}<|tool_response:end|>"),
            ),
        record("minimax_m3", NameAt::Opener, Distinct)
            .section(&["]<]minimax[>[<tool_call>"], &[])
            .elements()
            .by("MiniMax M3")
            .spoken(
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
        record("xml_names", NameAt::Header, Distinct)
            .call(&["<invoke>"], &["</invoke>"])
            .elements()
            .by("Claude 2, Cherry Studio, Cline and Roo for the tools of MCP servers, and models that put the name in an element of its own")
            .example(
                "<function_calls>\n<invoke>\n<tool_name>f</tool_name>\n<parameters>\n<a>x</a>\n</parameters>\n\
                 </invoke>\n</function_calls>",
            )
            .spoken(general().call(
                "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>{arguments}</parameters>\n</invoke>",
                "\n",
            )),
        record("morph_xml", NameAt::Tag, Distinct)
            .elements()
            .by("prompts that ask for XML: the AI SDK's, Cline's, Roo's")
            .spoken(
                general().call("<{name}>\n{arguments}</{name}>", "\n").arguments(Arguments::Elements(Text::Borrowed(""))),
            ),
    ]
}

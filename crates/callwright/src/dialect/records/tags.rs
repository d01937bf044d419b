//! Arguments as raw text between tags: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`.

use super::record;
use crate::dialect::Anchor::Distinct;
use crate::dialect::{Dialect, Grammar, NameAt, Trim};
use crate::prompt::speech::{Arguments, Definition};

const PARAMETER_LINE: &str = "<parameter name=\"{key}\">{value}</parameter>\n";
const PAIR_LINE: &str = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n";
const PAIR: &str = "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>";

/// How DeepSeek's V3.2 and V4 are told of their tools.
const DSML: &str = "## Tools\n\nYou have tools that can help to answer the user. You invoke them with a block like this \
                    in your reply:\n{calls}\n\nStrings and scalars stand as they are, without quotes or escapes; lists \
                    and objects as JSON. The attribute `string` is \"true\" for strings and \"false\" for anything \
                    else.\n\nThese are the functions, described in JSONSchema:\n<functions>\n{tools}\n</functions>\n";

/// How GLM is told of its tools.
const GLM: &str = "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within <tools></tools> \
                   XML tags:\n<tools>\n{tools}\n</tools>\n\nFor each call, write the function's name and its arguments \
                   in this XML format:\n{calls}\n";

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("qwen3_coder", NameAt::Opener, Distinct)
            .call(&["<tool_call>"], &[])
            .trim(Trim::LineBreak)
            .tags("<parameter={key}>\n{value}\n</parameter>\n")
            .by("Qwen3-Coder, Qwen 3.5 and later, Nemotron 3, MiMo, Step 3.5")
            .trained(
                "# Tools\n\nYou have access to the following functions:\n\n<tools>\n{tools}\n</tools>\n\nTo call a \
                 function, answer in this form and write nothing behind it:\n\n{calls}\n\n<IMPORTANT>\n- The function \
                 block stands within <tool_call></tool_call>\n- Required parameters must be there\n- Reasons may stand \
                 before a call, never behind it\n- Where no function helps, answer as usual\n</IMPORTANT>\n",
            )
            .lists(Definition::Xml, "{tool}", "\n")
            .writes("<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("seed_oss", NameAt::Opener, Distinct)
            .kin("qwen3_coder")
            .section(&["<seed:tool_call>"], &[])
            .tags("<parameter={key}>{value}</parameter>\n")
            .by("Seed OSS")
            .trained("{tools}\n\nCall a function in this form:\n{calls}\n")
            .lists(Definition::Python, "Function:\n{tool}", "\n\n")
            .writes("<seed:tool_call>\n<function={name}>\n{arguments}</function>\n</seed:tool_call>", "\n")
            .result("tool", "{content}"),
        record("anthropic_xml", NameAt::Opener, Distinct)
            .section(&["<function_calls>"], &[])
            .tags(PARAMETER_LINE)
            .by("prompts in the manner of Claude's, and the agents that copied them")
            .trained(
                "You have access to functions. You invoke them with a block like this in your reply:\n{calls}\n\n\
                 Strings and scalars stand as they are, lists and objects as JSON.\n\nThe functions, described in \
                 JSONSchema:\n<functions>\n{tools}\n</functions>\n",
            )
            .lists(Definition::Function, "<function>{tool}</function>", "\n")
            .writes_all(
                "<function_calls>\n",
                "<invoke name=\"{name}\">\n{arguments}</invoke>",
                "\n",
                "\n</function_calls>",
            )
            .result(
                "user",
                "<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{content}\n</stdout>\n</result>",
            )
            .results("<function_results>\n", "\n", "\n</function_results>"),
        record("minimax_m2", NameAt::Opener, Distinct)
            .kin("anthropic_xml")
            .section(&["<minimax:tool_call>"], &[])
            .tags(PARAMETER_LINE)
            .by("MiniMax M2 and M2.1")
            .trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked, and their parameters passed, as XML:\n\n{calls}\n",
            )
            .lists(Definition::Function, "<tool>{tool}</tool>", "\n")
            .writes_all(
                "<minimax:tool_call>\n",
                "<invoke name=\"{name}\">\n{arguments}</invoke>",
                "\n",
                "\n</minimax:tool_call>",
            )
            .result("tool", "<response>{content}</response>"),
        record("dots", NameAt::Opener, Distinct)
            .kin("anthropic_xml")
            .section(&["<dots_function_call>"], &[])
            .tags(PARAMETER_LINE)
            .by("dots.llm")
            .writes_all(
                "<dots_function_call>\n",
                "<invoke name=\"{name}\">\n{arguments}</invoke>",
                "\n",
                "\n</dots_function_call>",
            ),
        record("deepseek_v4", NameAt::Opener, Distinct)
            .section(&["<|dsml|tool_calls>"], &[])
            .tags("<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n")
            .by("DeepSeek V4")
            .trained(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .writes_all(
                "<｜DSML｜tool_calls>\n",
                "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                "\n",
                "\n</｜DSML｜tool_calls>",
            )
            .result("user", "<tool_result>{content}</tool_result>"),
        record("deepseek_v32", NameAt::Opener, Distinct)
            .kin("deepseek_v4")
            .section(&["<|dsml|function_calls>"], &[])
            .tags("<｜DSML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜parameter>\n")
            .by("DeepSeek V3.2")
            .trained(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .writes_all(
                "<｜DSML｜function_calls>\n",
                "<｜DSML｜invoke name=\"{name}\">\n{arguments}</｜DSML｜invoke>",
                "\n",
                "\n</｜DSML｜function_calls>",
            )
            .result("user", "<result>{content}</result>")
            .results("<function_results>\n", "\n", "\n</function_results>"),
        record("deepseek_v41", NameAt::Opener, Distinct)
            .kin("deepseek_v4")
            .section(&["<|dsml| calls>"], &[])
            .tags("<｜DSML｜ parameter name=\"{key}\" string=\"{is_text}\">{value}</｜DSML｜ parameter>\n")
            .by("DeepSeek V4.1")
            .taught(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .writes_all(
                "<｜DSML｜ calls>\n",
                "<｜DSML｜ invoke name=\"{name}\">\n{arguments}</｜DSML｜ invoke>",
                "\n",
                "\n</｜DSML｜ calls>",
            )
            .result("user", "<tool_result>{content}</tool_result>"),
        record("gigachat35", NameAt::Opener, Distinct)
            .section(&["<|gcml|tool_calls>"], &[])
            .tags("<｜GCML｜parameter name=\"{key}\" string=\"{is_text}\">{value}</｜GCML｜parameter>\n")
            .by("GigaChat 3.5")
            .trained("function descriptions:\n{tools}\n\nFunctions are called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .writes_all(
                "<｜GCML｜tool_calls>\n",
                "<｜GCML｜invoke name=\"{name}\">\n{arguments}</｜GCML｜invoke>",
                "\n",
                "\n</｜GCML｜tool_calls>",
            )
            .result("function result", "<function_response name=\"{name}\">{content}</function_response>"),
        record("muse", NameAt::Opener, Distinct)
            .section(&["<atem:function_calls>"], &[])
            .tags("<atem:parameter name=\"{key}\">{value}</atem:parameter>\n")
            .by("Muse Glimmer and Spark")
            .trained(
                "You have tools that can help to answer the user. You invoke a function with a block like this:\n\
                 {calls}\n\nStrings and scalars stand as they are, blanks included; lists and objects as JSON.\nThe \
                 functions, described in JSONSchema:\n// Function schemas\n{tools}\n",
            )
            .lists(Definition::Function, "{tool}", "\n")
            .writes(
                "<atem:function_calls>\n<atem:invoke name=\"{name}\">\n{arguments}</atem:invoke>\n\
                 </atem:function_calls>",
                "\n",
            )
            .result("tool", "<tool_output name=\"{name}\">\n{content}\n</tool_output>"),
        record("beam", NameAt::Header, Distinct)
            .kin("harmony")
            .call(&[], &["<|call|>", "<|end|>"])
            .trim(Trim::LineBreak)
            .tags("<rfl:parameter name=\"{key}\">\n{value}\n</rfl:parameter>")
            .by("Beam 1")
            .writes(
                " to={name}<|channel|>analysis <|constrain|>xml<|message|>{arguments}<|call|>",
                "<|start|>assistant",
            ),
        record("step3", NameAt::Opener, Distinct)
            .section(&["<|tool_calls_begin|>"], &[])
            .call(&["<|tool_call_begin|>"], &[])
            .tags("<steptml:parameter name=\"{key}\">{value}</steptml:parameter>")
            .by("Step 3")
            .writes_all(
                "<｜tool_calls_begin｜>\n",
                "<｜tool_call_begin｜>function<｜tool_sep｜>\
                 <steptml:invoke name=\"{name}\">{arguments}</steptml:invoke><｜tool_call_end｜>",
                "\n",
                "\n<｜tool_calls_end｜>",
            ),
        record("minicpm5", NameAt::Opener, Distinct)
            .tags("<param name=\"{key}\">{value}</param>")
            .by("MiniCPM 4 and 5")
            .trained(
                "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
                 <tools></tools> tags:\n<tools>\n{tools}\n</tools>\n\nA function is called like this:\n{calls}\n",
            )
            .writes("<function name=\"{name}\">{arguments}</function>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("kimi_k3", NameAt::Opener, Distinct)
            .section(&["<|open|>tools<|sep|>"], &[])
            .tags("<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>{value}<|close|>argument<|sep|>")
            .by("Kimi K3")
            // The tools stand in a system message of the type `tool-declare`.
            .trained(
                "# Tools\nThe tools, described in JSONSchema:\n\n```json\n[{tools}]\n```\n\nTools are called like \
                 this:\n{calls}\n",
            )
            .lists(Definition::Json, "{tool}", ",")
            .writes_all(
                "<|open|>tools<|sep|>",
                "<|open|>call tool=\"{name}\" index=\"{number}\"<|sep|>{arguments}<|close|>call<|sep|>",
                "",
                "<|close|>tools<|sep|>",
            )
            .result("tool", "{content}")
            .labelled(),
        record("glm45", NameAt::Header, Distinct)
            .call(&["<tool_call>"], &[])
            .tags(PAIR_LINE)
            .by("GLM 4.5 and 4.6, Ling 3, Laguna, Spark 2.5")
            .trained(GLM)
            .result("observation", "<tool_response>\n{content}\n</tool_response>")
            .writes("<tool_call>{name}\n{arguments}</tool_call>", "\n"),
        record("glm47", NameAt::Header, Distinct)
            .kin("glm45")
            .tags(PAIR)
            .by("GLM 4.7 and 5")
            .trained(GLM)
            .result("observation", "<tool_response>\n{content}\n</tool_response>")
            .writes("<tool_call>{name}{arguments}</tool_call>", ""),
        record("iquest_q1", NameAt::Header, Distinct)
            .call(&["<iquest_tool_call>"], &[])
            .tags(PAIR)
            .by("IQuest Q1")
            .writes("<iquest_tool_call>{name}{arguments}</iquest_tool_call>", "\n"),
        record("hy_v3", NameAt::Header, Distinct)
            .section(&["<tool_calls>"], &[])
            .call(&["<tool_call>"], &[])
            .aliases(&["hy_v4"])
            .tags(PAIR_LINE)
            .by("Hunyuan 3 and 4, whose tags may have a suffix")
            .writes_all(
                "<tool_calls>\n",
                "<tool_call>{name}<tool_sep>\n{arguments}</tool_call>",
                "\n",
                "\n</tool_calls>",
            ),
        record("k2_horizon", NameAt::Header, Distinct)
            .section(&["<ifm|tool_calls>"], &[])
            .call(&["<ifm|tool_call>"], &[])
            .tags("<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{value}</ifm|arg_value>")
            .by("K2 Horizon")
            .writes_all(
                "<ifm|tool_calls>\n",
                "<ifm|tool_call>{name}{arguments}</ifm|tool_call>",
                "\n",
                "\n</ifm|tool_calls>",
            ),
        record("solar_open2", NameAt::Header, Distinct)
            .call(&["<|tool_call:start|>"], &[])
            .tags("<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n")
            .by("Solar Open 2")
            .writes("<|tool_call:start|>{name}\n{arguments}<|tool_call:end|>", "\n")
            .result("tool", "<|tool_response:start|>{content}<|tool_response:end|>"),
        record("minimax_m3", NameAt::Opener, Distinct)
            .section(&["]<]minimax[>[<tool_call>"], &[])
            .elements("]<]minimax[>[")
            .by("MiniMax M3")
            .trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked like this, objects and lists as nested elements:\n\n{calls}\n",
            )
            .lists(Definition::Function, "<tool>{tool}</tool>", "\n")
            .writes_all(
                "]<]minimax[>[<tool_call>\n",
                "]<]minimax[>[<invoke name=\"{name}\">{arguments}]<]minimax[>[</invoke>",
                "\n",
                "\n]<]minimax[>[</tool_call>",
            )
            .result("tool", "<response>{content}</response>"),
        record("xml_names", NameAt::Header, Distinct)
            .call(&["<invoke>"], &["</invoke>"])
            .arguments(Grammar::Elements, Arguments::Json)
            .by(
                "Claude 2, Cherry Studio, Cline and Roo for the tools of MCP servers, and models that put the name in \
                 an element of its own",
            )
            .example(
                "<function_calls>\n<invoke>\n<tool_name>f</tool_name>\n<parameters>\n<a>x</a>\n</parameters>\n\
                 </invoke>\n</function_calls>",
            )
            .writes(
                "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>{arguments}</parameters>\n</invoke>",
                "\n",
            ),
        record("morph_xml", NameAt::Tag, Distinct)
            .elements("")
            .by("prompts that ask for XML: the AI SDK's, Cline's, Roo's")
            .writes("<{name}>\n{arguments}</{name}>", "\n"),
    ]
}

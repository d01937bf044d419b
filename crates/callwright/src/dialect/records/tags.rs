//! Arguments as raw text between tags: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`.

use super::record;
use crate::dialect::Anchor::Distinct;
use crate::dialect::NameAt::{Header, Opener, Tag};
use crate::dialect::{Dialect, Grammar, Trim};
use crate::prompt::speech::{Arguments, Definition};

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
        record("qwen3_coder", Opener, Distinct, "Qwen3-Coder, Qwen 3.5 and later, Nemotron 3, MiMo, Step 3.5")
            .call(&["<tool_call>"], &[])
            .trim(Trim::LineBreak)
            .tags("<parameter={key}>\n{value}\n</parameter>\n")
            .trained(
                "# Tools\n\nYou have access to the following functions:\n\n<tools>\n{tools}\n</tools>\n\nTo call a \
                 function, answer in this form and write nothing behind it:\n\n{calls}\n\n<IMPORTANT>\n- The function \
                 block stands within <tool_call></tool_call>\n- Required parameters must be there\n- Reasons may stand \
                 before a call, never behind it\n- Where no function helps, answer as usual\n</IMPORTANT>\n",
            )
            .lists(Definition::Xml, "{tool}", "\n")
            .writes("<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("seed_oss", Opener, Distinct, "Seed OSS")
            .kin("qwen3_coder")
            .section(&["<seed:tool_call>"], &[])
            .tags("<parameter={key}>{value}</parameter>\n")
            .trained("{tools}\n\nCall a function in this form:\n{calls}\n")
            .lists(Definition::Python, "Function:\n{tool}", "\n\n")
            .writes("<seed:tool_call>\n<function={name}>\n{arguments}</function>\n</seed:tool_call>", "\n")
            .result("tool", "{content}"),
        record("anthropic_xml", Opener, Distinct, "prompts in the manner of Claude's, and the agents that copied them")
            .invokes("function_calls", "")
            .trained(
                "You have access to functions. You invoke them with a block like this in your reply:\n{calls}\n\n\
                 Strings and scalars stand as they are, lists and objects as JSON.\n\nThe functions, described in \
                 JSONSchema:\n<functions>\n{tools}\n</functions>\n",
            )
            .lists(Definition::Function, "<function>{tool}</function>", "\n")
            .result(
                "user",
                "<result>\n<tool_name>{name}</tool_name>\n<stdout>\n{content}\n</stdout>\n</result>",
            )
            .results("<function_results>\n", "\n", "\n</function_results>"),
        record("minimax_m2", Opener, Distinct, "MiniMax M2 and M2.1")
            .kin("anthropic_xml")
            .invokes("minimax:tool_call", "")
            .trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked, and their parameters passed, as XML:\n\n{calls}\n",
            )
            .lists(Definition::Function, "<tool>{tool}</tool>", "\n")
            .result("tool", "<response>{content}</response>"),
        record("dots", Opener, Distinct, "dots.llm")
            .kin("anthropic_xml")
            .invokes("dots_function_call", ""),
        record("deepseek_v4", Opener, Distinct, "DeepSeek V4")
            .invokes("｜DSML｜tool_calls", "｜DSML｜")
            .trained(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .result("user", "<tool_result>{content}</tool_result>"),
        record("deepseek_v32", Opener, Distinct, "DeepSeek V3.2")
            .kin("deepseek_v4")
            .invokes("｜DSML｜function_calls", "｜DSML｜")
            .trained(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .result("user", "<result>{content}</result>")
            .results("<function_results>\n", "\n", "\n</function_results>"),
        record("deepseek_v41", Opener, Distinct, "DeepSeek V4.1")
            .kin("deepseek_v4")
            .invokes("｜DSML｜ calls", "｜DSML｜ ")
            .taught(DSML)
            .lists(Definition::Function, "{tool}", "\n")
            .result("user", "<tool_result>{content}</tool_result>"),
        record("gigachat35", Opener, Distinct, "GigaChat 3.5")
            .invokes("｜GCML｜tool_calls", "｜GCML｜")
            .trained("function descriptions:\n{tools}\n\nFunctions are called like this:\n{calls}\n")
            .lists(Definition::TypeScript, "{tool}", "\n\n")
            .result("function result", "<function_response name=\"{name}\">{content}</function_response>"),
        record("muse", Opener, Distinct, "Muse Glimmer and Spark")
            .section(&["<atem:function_calls>"], &[])
            .tags("<atem:parameter name=\"{key}\">{value}</atem:parameter>\n")
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
        record("beam", Header, Distinct, "Beam 1")
            .kin("harmony")
            .call(&[], &["<|call|>", "<|end|>"])
            .trim(Trim::LineBreak)
            .tags("<rfl:parameter name=\"{key}\">\n{value}\n</rfl:parameter>")
            .writes(
                " to={name}<|channel|>analysis <|constrain|>xml<|message|>{arguments}<|call|>",
                "<|start|>assistant",
            ),
        record("step3", Opener, Distinct, "Step 3")
            .section(&["<|tool_calls_begin|>"], &[])
            .call(&["<|tool_call_begin|>"], &[])
            .tags("<steptml:parameter name=\"{key}\">{value}</steptml:parameter>")
            .writes(
                "<｜tool_call_begin｜>function<｜tool_sep｜>\
                 <steptml:invoke name=\"{name}\">{arguments}</steptml:invoke><｜tool_call_end｜>",
                "\n",
            )
            .within("<｜tool_calls_begin｜>\n", "\n<｜tool_calls_end｜>"),
        record("minicpm5", Opener, Distinct, "MiniCPM 4 and 5")
            .tags("<param name=\"{key}\">{value}</param>")
            .trained(
                "# Tools\n\nYou may call one or more functions for the user. Their definitions stand within \
                 <tools></tools> tags:\n<tools>\n{tools}\n</tools>\n\nA function is called like this:\n{calls}\n",
            )
            .writes("<function name=\"{name}\">{arguments}</function>", "\n")
            .result("user", "<tool_response>\n{content}\n</tool_response>"),
        record("kimi_k3", Opener, Distinct, "Kimi K3")
            .section(&["<|open|>tools<|sep|>"], &[])
            .tags("<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>{value}<|close|>argument<|sep|>")
            // The tools stand in a system message of the type `tool-declare`.
            .trained(
                "# Tools\nThe tools, described in JSONSchema:\n\n```json\n[{tools}]\n```\n\nTools are called like \
                 this:\n{calls}\n",
            )
            .lists(Definition::Json, "{tool}", ",")
            .writes("<|open|>call tool=\"{name}\" index=\"{number}\"<|sep|>{arguments}<|close|>call<|sep|>", "")
            .within("<|open|>tools<|sep|>", "<|close|>tools<|sep|>")
            .result("tool", "{content}")
            .labelled(),
        record("glm45", Header, Distinct, "GLM 4.5 and 4.6, Ling 3, Laguna, Spark 2.5")
            .call(&["<tool_call>"], &[])
            .tags(PAIR_LINE)
            .trained(GLM)
            .result("observation", "<tool_response>\n{content}\n</tool_response>")
            .writes("<tool_call>{name}\n{arguments}</tool_call>", "\n"),
        record("glm47", Header, Distinct, "GLM 4.7 and 5")
            .kin("glm45")
            .tags(PAIR)
            .trained(GLM)
            .result("observation", "<tool_response>\n{content}\n</tool_response>")
            .writes("<tool_call>{name}{arguments}</tool_call>", ""),
        record("iquest_q1", Header, Distinct, "IQuest Q1")
            .call(&["<iquest_tool_call>"], &[])
            .tags(PAIR)
            .writes("<iquest_tool_call>{name}{arguments}</iquest_tool_call>", "\n"),
        record("hy_v3", Header, Distinct, "Hunyuan 3 and 4, whose tags may have a suffix")
            .section(&["<tool_calls>"], &[])
            .call(&["<tool_call>"], &[])
            .aliases(&["hy_v4"])
            .tags(PAIR_LINE)
            .writes("<tool_call>{name}<tool_sep>\n{arguments}</tool_call>", "\n")
            .within("<tool_calls>\n", "\n</tool_calls>"),
        record("k2_horizon", Header, Distinct, "K2 Horizon")
            .section(&["<ifm|tool_calls>"], &[])
            .call(&["<ifm|tool_call>"], &[])
            .tags("<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>{value}</ifm|arg_value>")
            .writes("<ifm|tool_call>{name}{arguments}</ifm|tool_call>", "\n")
            .within("<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
        record("solar_open2", Header, Distinct, "Solar Open 2")
            .call(&["<|tool_call:start|>"], &[])
            .tags("<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n")
            .writes("<|tool_call:start|>{name}\n{arguments}<|tool_call:end|>", "\n")
            .result("tool", "<|tool_response:start|>{content}<|tool_response:end|>"),
        record("minimax_m3", Opener, Distinct, "MiniMax M3")
            .section(&["]<]minimax[>[<tool_call>"], &[])
            .elements("]<]minimax[>[")
            .trained(
                "# Tools\nYou may call one or more tools for the user. They are described in JSONSchema:\n\n<tools>\n\
                 {tools}\n</tools>\n\nTools are invoked like this, objects and lists as nested elements:\n\n{calls}\n",
            )
            .lists(Definition::Function, "<tool>{tool}</tool>", "\n")
            .writes("]<]minimax[>[<invoke name=\"{name}\">{arguments}]<]minimax[>[</invoke>", "\n")
            .within("]<]minimax[>[<tool_call>\n", "\n]<]minimax[>[</tool_call>")
            .result("tool", "<response>{content}</response>"),
        record(
            "xml_names",
            Header,
            Distinct,
            "Claude 2, Cherry Studio, Cline and Roo for the tools of MCP servers, and models that put the name \
             in an element of its own",
        )
        .call(&["<invoke>"], &["</invoke>"])
        .arguments(Grammar::Elements, Arguments::Json)
        .example(
            "<function_calls>\n<invoke>\n<tool_name>f</tool_name>\n<parameters>\n<a>x</a>\n</parameters>\n\
             </invoke>\n</function_calls>",
        )
        .writes(
            "<invoke>\n<tool_name>{name}</tool_name>\n<parameters>{arguments}</parameters>\n</invoke>",
            "\n",
        ),
        record("morph_xml", Tag, Distinct, "prompts that ask for XML: the AI SDK's, Cline's, Roo's")
            .elements("")
            .writes("<{name}>\n{arguments}</{name}>", "\n"),
    ]
}

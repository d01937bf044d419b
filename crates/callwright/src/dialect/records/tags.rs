//! Arguments as raw text between tags: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`.

use super::record;
use crate::dialect::Anchor::Distinct;
use crate::dialect::{Dialect, NameAt, Trim};

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("qwen3_coder", NameAt::Opener, Distinct)
            .call(&["<tool_call>"], &[])
            .tags(Trim::LineBreak)
            .by("Qwen3-Coder, Qwen 3.5 and later, Nemotron 3, MiMo, Step 3.5")
            .example(
                "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
            ),
        record("seed_oss", NameAt::Opener, Distinct)
            .kin("qwen3_coder")
            .section(&["<seed:tool_call>"], &[])
            .tags(Trim::OwnLines)
            .by("Seed OSS")
            .example(
                "<seed:tool_call>\n<function=f>\n<parameter=a>x</parameter>\n</function>\n</seed:tool_call>",
            ),
        record("anthropic_xml", NameAt::Opener, Distinct)
            .section(&["<function_calls>"], &[])
            .tags(Trim::OwnLines)
            .by("prompts in the manner of Claude's, and the agents that copied them")
            .example(
                "<function_calls>\n<invoke name=\"f\">\n<parameter name=\"a\">x</parameter>\n</invoke>\n\
                 </function_calls>",
            ),
        record("minimax_m2", NameAt::Opener, Distinct)
            .kin("anthropic_xml")
            .section(&["<minimax:tool_call>"], &[])
            .tags(Trim::OwnLines)
            .by("MiniMax M2 and M2.1")
            .example(
                "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"a\">x</parameter>\n</invoke>\n\
                 </minimax:tool_call>",
            ),
        record("dots", NameAt::Opener, Distinct)
            .kin("anthropic_xml")
            .section(&["<dots_function_call>"], &[])
            .tags(Trim::OwnLines)
            .by("dots.llm")
            .example(
                "<dots_function_call>\n<invoke name=\"f\">\n<parameter name=\"a\">x</parameter>\n</invoke>\n\
                 </dots_function_call>",
            ),
        record("deepseek_v4", NameAt::Opener, Distinct)
            .section(&["<|dsml|tool_calls>"], &[])
            .tags(Trim::OwnLines)
            .by("DeepSeek V4")
            .example(
                "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n\
                 <｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n\
                 </｜DSML｜tool_calls>",
            ),
        record("deepseek_v32", NameAt::Opener, Distinct)
            .kin("deepseek_v4")
            .section(&["<|dsml|function_calls>"], &[])
            .tags(Trim::OwnLines)
            .by("DeepSeek V3.2")
            .example(
                "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n\
                 <｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n\
                 </｜DSML｜function_calls>",
            ),
        record("deepseek_v41", NameAt::Opener, Distinct)
            .kin("deepseek_v4")
            .section(&["<|dsml| calls>"], &[])
            .tags(Trim::OwnLines)
            .by("DeepSeek V4.1")
            .example(
                "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"f\">\n\
                 <｜DSML｜ parameter name=\"a\" string=\"true\">x</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n\
                 </｜DSML｜ calls>",
            ),
        record("gigachat35", NameAt::Opener, Distinct)
            .section(&["<|gcml|tool_calls>"], &[])
            .tags(Trim::OwnLines)
            .by("GigaChat 3.5")
            .example(
                "<｜GCML｜tool_calls>\n<｜GCML｜invoke name=\"f\">\n\
                 <｜GCML｜parameter name=\"a\" string=\"true\">x</｜GCML｜parameter>\n</｜GCML｜invoke>\n\
                 </｜GCML｜tool_calls>",
            ),
        record("muse", NameAt::Opener, Distinct)
            .section(&["<atem:function_calls>"], &[])
            .tags(Trim::OwnLines)
            .by("Muse Glimmer and Spark")
            .example(
                "<atem:function_calls>\n<atem:invoke name=\"f\">\n<atem:parameter name=\"a\">x</atem:parameter>\n\
                 </atem:invoke>\n</atem:function_calls>",
            ),
        record("beam", NameAt::Header, Distinct)
            .kin("harmony")
            .call(&[], &["<|call|>", "<|end|>"])
            .tags(Trim::LineBreak)
            .by("Beam 1")
            .example(
                " to=f<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"a\">\nx\n\
                 </rfl:parameter><|call|>",
            ),
        record("step3", NameAt::Opener, Distinct)
            .section(&["<|tool_calls_begin|>"], &[])
            .call(&["<|tool_call_begin|>"], &[])
            .tags(Trim::OwnLines)
            .by("Step 3")
            .example(
                "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"f\">\
                 <steptml:parameter name=\"a\">x</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n\
                 <｜tool_calls_end｜>",
            ),
        record("minicpm5", NameAt::Opener, Distinct)
            .tags(Trim::OwnLines)
            .by("MiniCPM 4 and 5")
            .example("<function name=\"f\"><param name=\"a\">x</param></function>"),
        record("kimi_k3", NameAt::Opener, Distinct)
            .section(&["<|open|>tools<|sep|>"], &[])
            .tags(Trim::OwnLines)
            .by("Kimi K3")
            .example(
                "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>\
                 <|open|>argument key=\"a\" type=\"string\"<|sep|>x<|close|>argument<|sep|>\
                 <|close|>call<|sep|><|close|>tools<|sep|>",
            ),
        record("glm45", NameAt::Header, Distinct)
            .call(&["<tool_call>"], &[])
            .tags(Trim::OwnLines)
            .by("GLM 4.5 and 4.6, Ling 3, Laguna, Spark 2.5")
            .example(
                "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
            ),
        record("glm47", NameAt::Header, Distinct)
            .kin("glm45")
            .tags(Trim::OwnLines)
            .by("GLM 4.7 and 5")
            .example("<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>"),
        record("iquest_q1", NameAt::Header, Distinct)
            .call(&["<iquest_tool_call>"], &[])
            .tags(Trim::OwnLines)
            .by("IQuest Q1")
            .example(
                "<iquest_tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></iquest_tool_call>",
            ),
        record("hy_v3", NameAt::Header, Distinct)
            .section(&["<tool_calls>"], &[])
            .call(&["<tool_call>"], &[])
            .aliases(&["hy_v4"])
            .tags(Trim::OwnLines)
            .by("Hunyuan 3 and 4, whose tags may have a suffix")
            .example(
                "<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n\
                 </tool_call>\n</tool_calls>",
            ),
        record("k2_horizon", NameAt::Header, Distinct)
            .section(&["<ifm|tool_calls>"], &[])
            .call(&["<ifm|tool_call>"], &[])
            .tags(Trim::OwnLines)
            .by("K2 Horizon")
            .example(
                "<ifm|tool_calls>\n<ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>x</ifm|arg_value>\
                 </ifm|tool_call>\n</ifm|tool_calls>",
            ),
        record("solar_open2", NameAt::Header, Distinct)
            .call(&["<|tool_call:start|>"], &[])
            .tags(Trim::OwnLines)
            .by("Solar Open 2")
            .example(
                "<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>x<|tool_arg:end|>\n<|tool_call:end|>",
            ),
        record("minimax_m3", NameAt::Opener, Distinct)
            .section(&["]<]minimax[>[<tool_call>"], &[])
            .elements()
            .by("MiniMax M3")
            .example(
                "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<a>x]<]minimax[>[</a>\
                 ]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
            ),
        record("xml_names", NameAt::Header, Distinct)
            .call(&["<invoke>"], &["</invoke>"])
            .elements()
            .by("Claude 2, Cherry Studio, Cline and Roo for the tools of MCP servers, and models that put the name in an element of its own")
            .example(
                "<function_calls>\n<invoke>\n<tool_name>f</tool_name>\n<parameters>\n<a>x</a>\n</parameters>\n\
                 </invoke>\n</function_calls>",
            ),
        record("morph_xml", NameAt::Tag, Distinct)
            .elements()
            .by("prompts that ask for XML: the AI SDK's, Cline's, Roo's")
            .example("<f>\n<a>x</a>\n</f>"),
    ]
}

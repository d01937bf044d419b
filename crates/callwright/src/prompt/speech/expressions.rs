//! Dialects in which a call is an expression of Python.

use super::builtin::trained;
use super::{Arguments, Definition, PromptFormat};

pub(super) fn speeches() -> Vec<(&'static str, PromptFormat)> {
    vec![
        (
            "pythonic",
            trained(
                "You can call the functions below, and only these. To call functions, answer with nothing but a list of \
                 calls:\n{calls}\n\nThe functions in JSON format:\n{tools}\n",
            )
            .listing(Definition::Indented, "{tool}", "\n\n")
            .section("[", "{name}({arguments})", ", ", "]")
            .arguments(Arguments::Python('"'))
            .result("ipython", "{json_content}"),
        ),
        (
            "llama4_pythonic",
            trained(
                "You can call the functions below, and only these. To call functions, answer with nothing but a list of \
                 calls:\n{calls}\n\nThe functions in JSON format:\n{tools}\n",
            )
            .listing(Definition::Indented, "{tool}", "\n\n")
            .section("<|python_start|>[", "{name}({arguments})", ", ", "]<|python_end|>")
            .arguments(Arguments::Python('"'))
            .result("ipython", "{json_content}"),
        ),
        (
            "lfm2",
            trained("List of tools: [{tools}]\n\nTools are called like this:\n{calls}\n")
                .listing(Definition::Function, "{tool}", ", ")
                .section("<|tool_call_start|>[", "{name}({arguments})", ", ", "]<|tool_call_end|>")
                .arguments(Arguments::Python('\''))
                .result("tool", "<|tool_response_start|>{content}<|tool_response_end|>"),
        ),
        (
            "olmo3",
            trained(
                "You can call the functions below. Calls are Python expressions within <function_calls></function_calls> \
                 XML tags, each on a line of its own:\n{calls}\n\nThe available functions:\n<functions>\n{tools}\n</functions>\n",
            )
            .listing(Definition::Function, "{tool}", "\n")
            .section("<function_calls>\n", "{name}({arguments})", "\n", "\n</function_calls>")
            .arguments(Arguments::Python('\''))
            .result("environment", "Function {name} returned:\n{content}"),
        ),
        (
            "tool_code",
            trained(
                "At each turn, if you decide to invoke any of the function(s), it should be wrapped with ```tool_code```. \
                 The python methods described below are imported and available, you can only use defined methods. The \
                 result of a call comes back wrapped with ```tool_output```: use it to call more methods or to answer.\n\
                 \n\
                 The following Python methods are available:\n\
                 \n\
                 ```python\n\
                 {tools}\n\
                 ```\n",
            )
            .listing(Definition::Python, "{tool}", "\n\n")
            .section("```tool_code\n", "{name}({arguments})", "\n", "\n```")
            .arguments(Arguments::Python('"'))
            .result("user", "{fence}tool_output\n{content}\n{fence}")
            .labelled(),
        ),
        (
            "llama_builtin",
            trained("Environment: ipython\n\n{tools}\n\nA tool is called like this:\n{calls}\n")
                .listing(Definition::Signature, "{tool}", "\n\n")
                .call("<|python_tag|>{name}.call({arguments})", "\n")
                .arguments(Arguments::Python('"'))
                .result("ipython", "{content}"),
        ),
    ]
}

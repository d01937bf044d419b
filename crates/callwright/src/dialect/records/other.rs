//! Call expressions, and objects whose strings have marks of their own.

use super::record;
use crate::dialect::Anchor::{Distinct, Weak};
use crate::dialect::Dialect;
use crate::dialect::NameAt::{Header, Payload};
use crate::prompt::speech::Definition;

/// How the models of Llama that write Python are told of their tools.
const PYTHONIC: &str = "You can call the functions below, and only these. To call functions, answer with nothing but a \
                        list of calls:\n{calls}\n\nThe functions in JSON format:\n{tools}\n";

pub(super) fn all() -> Vec<Dialect> {
    vec![
        record("pythonic", Payload, Weak, "small Llama 3.2 models, ToolACE, and any that was asked for Python")
            .calls('"')
            .trained(PYTHONIC)
            .lists(Definition::Indented, "{tool}", "\n\n")
            .writes("{name}({arguments})", ", ")
            .within("[", "]")
            .result("ipython", "{json_content}"),
        record("llama4_pythonic", Payload, Distinct, "Llama 4")
            .kin("pythonic")
            .section(&["<|python_start|>"], &["<|python_end|>"])
            .calls('"')
            .trained(PYTHONIC)
            .lists(Definition::Indented, "{tool}", "\n\n")
            .writes("{name}({arguments})", ", ")
            .within("<|python_start|>[", "]<|python_end|>")
            .result("ipython", "{json_content}"),
        record("lfm2", Payload, Distinct, "LFM 2 and 2.5")
            .section(&["<|tool_call_start|>"], &["<|tool_call_end|>"])
            .calls('\'')
            .trained("List of tools: [{tools}]\n\nTools are called like this:\n{calls}\n")
            .lists(Definition::Function, "{tool}", ", ")
            .writes("{name}({arguments})", ", ")
            .within("<|tool_call_start|>[", "]<|tool_call_end|>")
            .result("tool", "<|tool_response_start|>{content}<|tool_response_end|>"),
        record("olmo3", Payload, Distinct, "OLMo 3")
            .kin("function_json")
            .section(&["<function_calls>"], &["</function_calls>"])
            .calls('\'')
            .trained(
                "You can call the functions below. Calls are Python expressions within \
                 <function_calls></function_calls> XML tags, each on a line of its own:\n{calls}\n\nThe available \
                 functions:\n<functions>\n{tools}\n</functions>\n",
            )
            .lists(Definition::Function, "{tool}", "\n")
            .writes("{name}({arguments})", "\n")
            .within("<function_calls>\n", "\n</function_calls>")
            .result("environment", "Function {name} returned:\n{content}"),
        record("tool_code", Payload, Weak, "Gemma 2 and 3 under a prompt, and what leaks from Gemini")
            .call(&[], &["```"])
            .calls('"')
            .trained(
                "At each turn, if you decide to invoke any of the function(s), it should be wrapped with \
                 ```tool_code```. The python methods described below are imported and available, you can only use \
                 defined methods. The result of a call comes back wrapped with ```tool_output```: use it to call more \
                 methods or to answer.\n\nThe following Python methods are available:\n\n```python\n{tools}\n```\n",
            )
            .lists(Definition::Python, "{tool}", "\n\n")
            .writes("{name}({arguments})", "\n")
            .within("```tool_code\n", "\n```")
            .result("user", "{fence}tool_output\n{content}\n{fence}")
            .labelled(),
        record("llama_builtin", Payload, Distinct, "Llama 3.1 with the tools that it was trained on")
            .kin("llama3_json")
            .call(&["<|python_tag|>"], &["<|eom_id|>", "<|eot_id|>"])
            .calls('"')
            .trained("Environment: ipython\n\n{tools}\n\nA tool is called like this:\n{calls}\n")
            .lists(Definition::Signature, "{tool}", "\n\n")
            .writes("<|python_tag|>{name}.call({arguments})", "\n")
            .result("ipython", "{content}"),
        record("gemma4", Header, Distinct, "Gemma 4")
            .call(&["<|tool_call>"], &["<tool_call|>"])
            .relaxed("<|\"|>")
            .trained("{tools}\nTools are called like this:\n{calls}\n")
            .lists(Definition::Declaration("<|\"|>".into()), "<|tool>{tool}<tool|>", "")
            .writes("<|tool_call>call:{name}{arguments}<tool_call|>", "")
            .result("tool", "<|tool_response>response:{name}{value:<|\"|>{content}<|\"|>}<tool_response|>"),
        record("functiongemma", Header, Distinct, "FunctionGemma")
            .call(&["<start_function_call>"], &["<end_function_call>"])
            .relaxed("<escape>")
            // The words of the system turn are what the tuning was done with.
            .trained(
                "You are a model that can do function calling with the following functions{tools}\n{calls}\n",
            )
            .lists(
                Definition::Declaration("<escape>".into()),
                "<start_function_declaration>{tool}<end_function_declaration>",
                "",
            )
            .writes("<start_function_call>call:{name}{arguments}<end_function_call>", "")
            .result(
                "tool",
                "<start_function_response>response:{name}{value:<escape>{content}<escape>}<end_function_response>",
            ),
    ]
}

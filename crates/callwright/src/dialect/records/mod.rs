//! The records that are built in.
//!
//! In reading order: calls as JSON with the name in it, names outside of their JSON, arguments in tags, and the rest.

mod json;
mod named;
mod other;
mod tags;

use super::{Anchor, Dialect, Grammar, Marks, NameAt, Trim, family};
use crate::prompt::speech::{Arguments, Calls, Definition, GENERAL, Listing, PromptFormat, Results};
use crate::syntax::Text;

/// All of them. Those without an opener are found by the look of their payload.
pub(super) fn all() -> Vec<Dialect> {
    let mut all = json::all();
    all.extend(named::all());
    all.extend(tags::all());
    all.extend(other::all());
    for dialect in &mut all {
        dialect.models = family::patterns(&dialect.name);
        if let Some(speech) = dialect.speech.as_ref().filter(|_| dialect.example.is_empty()) {
            dialect.example = speech.calls.example().into();
        }
    }
    all
}

/// A record to be filled in.
#[inline(never)]
fn record(name: &'static str, name_at: NameAt, anchor: Anchor, about: &'static str) -> Dialect {
    let speech = PromptFormat { system: GENERAL.into(), ..PromptFormat::default() };
    Dialect { name_at, anchor, about: about.into(), speech: Some(speech), ..Dialect::new(name) }
}

/// What is read. What many records call is not copied to where they do: all of it runs once.
impl Dialect {
    fn aliases(self, aliases: &[&'static str]) -> Dialect {
        Dialect { aliases: texts(aliases), ..self }
    }

    fn kin(self, kin: &'static str) -> Dialect {
        Dialect { kin: Some(kin.into()), ..self }
    }

    #[inline(never)]
    fn section(self, open: &[&'static str], close: &[&'static str]) -> Dialect {
        Dialect { section: Marks { open: texts(open), close: texts(close) }, ..self }
    }

    #[inline(never)]
    fn call(self, open: &[&'static str], close: &[&'static str]) -> Dialect {
        Dialect { call: Marks { open: texts(open), close: texts(close) }, ..self }
    }

    /// Each call is an element: the names that open one, and those that close one.
    fn elements_of(self, open: &str, close: &str) -> Dialect {
        let open = open.split(' ').map(|name| format!("<{name}>").into()).collect();
        let close = close.split(' ').map(|name| format!("</{name}>").into()).collect();
        Dialect { call: Marks { open, close }, ..self }
    }

    fn trim(self, trim: Trim) -> Dialect {
        Dialect { trim, ..self }
    }

    /// An example that is not a call as it is spoken.
    fn example(self, example: &'static str) -> Dialect {
        Dialect { example: example.into(), ..self }
    }
}

/// What the arguments are written in, where that is not JSON: read and spoken.
impl Dialect {
    fn arguments(self, read: Grammar, spoken: Arguments) -> Dialect {
        Dialect { arguments: read, ..self }.spoken(|speech| speech.calls.arguments = spoken)
    }

    fn tags(self, template: &'static str) -> Dialect {
        self.arguments(Grammar::Tags, Arguments::Tags(template.into()))
    }

    /// A section of this name, with calls in the manner of Claude's, each of their tags behind `mark`. Who has a mark says of
    /// each argument whether it is text.
    fn invokes(self, section: &'static str, mark: &'static str) -> Dialect {
        let is_text = if mark.is_empty() { "" } else { " string=\"{is_text}\"" };
        let tags = format!("<{mark}parameter name=\"{{key}}\"{is_text}>{{value}}</{mark}parameter>\n");
        let calls = Calls {
            open: format!("<{section}>\n").into(),
            call: format!("<{mark}invoke name=\"{{name}}\">\n{{arguments}}</{mark}invoke>").into(),
            between: "\n".into(),
            close: format!("\n</{section}>").into(),
            arguments: Arguments::Tags(tags.into()),
        };
        let open = format!("<{section}>").to_lowercase().replace('｜', "|");
        let section = Marks { open: vec![open.into()], close: Vec::new() };
        Dialect { arguments: Grammar::Tags, section, ..self }.spoken(|speech| speech.calls = calls)
    }

    fn elements(self, mark: &'static str) -> Dialect {
        self.arguments(Grammar::Elements, Arguments::Elements(mark.into()))
    }

    fn calls(self, quote: char) -> Dialect {
        self.arguments(Grammar::Calls, Arguments::Python(quote))
    }

    fn relaxed(self, mark: &'static str) -> Dialect {
        let relaxed = self.arguments(Grammar::Relaxed, Arguments::Relaxed(mark.into()));
        Dialect { string_mark: Some(mark.into()), ..relaxed }
    }
}

/// How it is spoken. The facts are those of the models' published chat templates and encoders; where there is none, only the
/// form of a call is the dialect's own.
impl Dialect {
    fn spoken(mut self, say: impl FnOnce(&mut PromptFormat)) -> Dialect {
        say(self.speech.get_or_insert_default());
        self
    }

    /// Taught in words of our own.
    #[inline(never)]
    fn taught(self, system: &'static str) -> Dialect {
        self.spoken(|speech| speech.system = system.into())
    }

    /// Taught in words like those that the dialect's models know.
    #[inline(never)]
    fn trained(self, system: &'static str) -> Dialect {
        self.taught(system).spoken(|speech| speech.trained = true)
    }

    /// How one tool is listed, what stands around it, and what between two.
    #[inline(never)]
    fn lists(self, form: Definition, each: &'static str, between: &'static str) -> Dialect {
        self.spoken(|speech| speech.listing = Listing { form, each: each.into(), between: between.into() })
    }

    /// One call, and what stands between two.
    #[inline(never)]
    fn writes(self, call: &'static str, between: &'static str) -> Dialect {
        self.spoken(|speech| [speech.calls.call, speech.calls.between] = [call, between].map(Text::Borrowed))
    }

    /// What stands around all calls.
    #[inline(never)]
    fn within(self, open: &'static str, close: &'static str) -> Dialect {
        self.spoken(|speech| [speech.calls.open, speech.calls.close] = [open, close].map(Text::Borrowed))
    }

    /// A result that the form itself assigns to its call: by its name, or by its place among the others.
    #[inline(never)]
    fn result(self, role: &'static str, result: &'static str) -> Dialect {
        self.spoken(|speech| {
            let results = &mut speech.results;
            [results.role, results.label, results.result] = [role, "", result].map(Text::Borrowed);
        })
    }

    /// What stands around all results, and between two.
    fn results(self, open: &'static str, between: &'static str, close: &'static str) -> Dialect {
        self.spoken(|speech| {
            let results = &mut speech.results;
            [results.open, results.between, results.close] = [open, between, close].map(Text::Borrowed);
        })
    }

    /// Each result is named in front of it.
    fn labelled(self) -> Dialect {
        self.spoken(|speech| speech.results.label = Results::default().label)
    }
}

fn texts(texts: &[&'static str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}

/// What opens and closes a reasoning block.
pub(crate) const REASONING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
    // A tokenizer that puts a blank behind each token.
    ("<|channel|> analysis<|message|>", "<|end|>"),
    ("<|start|> assistant<|channel|> analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel>", "<channel|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    ("<|open|> think <|sep|>", "<|close|> think <|sep|>"),
    ("<|think:start|>", "<|think:end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<ifm|think>", "</ifm|think>"),
    ("<ifm|think_fast>", "</ifm|think_fast>"),
    ("<ifm|think_faster>", "</ifm|think_faster>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("[think]", "[/think]"),
    ("[unused16]", "[unused17]"),
    ("to=self<|message|>", "<|eom|>"),
    ("<|start|>assistant to=self<|message|>", "<|eom|>"),
];

/// Stands for the closer of a block that the prompt opened, so that nobody has seen of which dialect it is: any of
/// [`REASONING`].
pub(crate) const ANY_CLOSER: &str = "";

/// What opens and closes what a model says to its user.
pub(super) const SPEECH: &[(&str, &str)] = &[
    ("<|channel|>commentary<|message|>", "<|end|>"),
    ("<|start|>assistant<|channel|>commentary<|message|>", "<|end|>"),
    ("<|channel|>final<|message|>", "<|return|>"),
    ("<|start|>assistant<|channel|>final<|message|>", "<|return|>"),
    ("<|channel|>final <|constrain|>json<|message|>", "<|return|>"),
    ("<|start|>assistant<|channel|>final <|constrain|>json<|message|>", "<|return|>"),
    ("<|channel|> final<|message|>", "<|return|>"),
    ("<|start|> assistant<|channel|> final<|message|>", "<|return|>"),
    ("<|channel|> final <|constrain|>  json<|message|>", "<|return|>"),
    ("<|start|> assistant<|channel|> final <|constrain|>  json<|message|>", "<|return|>"),
    (">>>all\n", ">>>all\n"),
    ("<|start_response|>", "<|end_response|>"),
    ("<|start_text|>", "<|end_text|>"),
    ("<|message_model|><|content_text|>", "<|end_message|>"),
    ("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ("<|open|> response <|sep|>", "<|close|> response <|sep|>"),
    ("<|open|>message<|sep|>", "<|close|>message<|sep|>"),
    ("<|open|> message <|sep|>", "<|close|> message <|sep|>"),
    ("to=user<|message|>", "<|eot|>"),
    ("<|start|>assistant to=user<|message|>", "<|eot|>"),
    ("to=commentary<|message|>", "<|eom|>"),
    ("<|start|>assistant to=commentary<|message|>", "<|eom|>"),
];

/// What begins a block beside one of speech, in a model whose answers are made of such blocks.
pub(crate) const FRAMES: &[&str] = &[
    "<|start|>",
    "<|channel|>",
    "<|start_action|>",
    "<|message_model|>",
    "<|content_invoke_tool_json|>",
    "<|open|>",
    ">>>",
];

/// What ends a turn. Behind a call it is markup, whoever's it is.
pub(crate) const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|return|>",
    "<|end_of_text|>",
    "<|end_of_msg|>",
    "<|endoftext|>",
    "<|end_of_sentence|>",
    "<|end_of_turn_token|>",
    "<|content_model_end_sampling|>",
    "<|assistant_end|>",
    "<|role_end|>",
    "<|tool_response>",
    "<|message_sep|>",
    "<|im:end|>",
    "<|close|>message<|sep|>",
    "<|close|> message <|sep|>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
];

/// What begins the model's own turn, where a server lets it through.
pub(super) const TURN_HEADS: &[&str] = &[
    "<|assistant_start|>",
    "<|chatbot_token|>",
    "<|start|>assistant<|message|>",
    "<|open|>message role=\"assistant\"<|sep|>",
    "<|open|> message role=\"assistant\" <|sep|>",
];

/// What a template writes before the model's answer, and a model may say once more as its first words.
pub(crate) const ANSWER_HEADS: &[&str] = &[
    "<|im_start|>assistant\n",
    "<|im:start|>assistant\n",
    "<|im_assistant|>assistant<|im_middle|>",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|role_start|>assistant<|role_end|>",
    "<|assistant|>",
    "[|assistant|]",
    "<|turn>model\n",
    "<start_of_turn>model\n",
    "<|start_of_turn_token|>",
    "<|start_of_role|>assistant<|end_of_role|>",
    "<bos>",
];

/// The words that begin a call without being an opener of a record: `functools[{…}]`, `to=f<|channel|>`.
pub(super) const WORD_OPENERS: &[&str] = &["functools", "to="];

/// What opens and closes a tool's result. Before any call, such a block is one that the model quotes.
pub(crate) const RESULTS: &[(&str, &str)] = &[
    ("<tool_response>", "</tool_response>"),
    ("<tool_output>", "</tool_output>"),
    ("<tool_result>", "</tool_result>"),
    ("<function_result>", "</function_result>"),
    ("<function_results>", "</function_results>"),
    ("<observation>", "</observation>"),
    ("<|tool_response:start|>", "<|tool_response:end|>"),
    ("<|start_tool_result|>", "<|end_tool_result|>"),
    ("<|tool_output_begin|>", "<|tool_output_end|>"),
    ("[tool_results]", "[/tool_results]"),
];

/// What opens and closes what is no result, but as little the model's own speech.
pub(crate) const QUOTATIONS: &[(&str, &str)] =
    &[("<!--", "-->"), ("<blockquote>", "</blockquote>"), ("<example>", "</example>")];
/// The label of a fence that holds one.
pub(crate) const RESULT_LABEL: &str = "tool_output";

/// What begins a turn where a role follows; without one it stands between calls.
pub(crate) const TURN_MARKS: &[&str] = &["<|im_start|>", "<|im:start|>", "<|start_header_id|>"];

/// What begins a turn that is not the model's own, or a result that it cannot know. After a call, at the
/// start of a line, the answer ends there.
pub(crate) const TURNS: &[&str] = &[
    "user:",
    "human:",
    "question:",
    "observation:",
    "✿result✿",
    "✿return✿",
    "### instruction",
    "### question",
    "### user",
    "### human",
    "### input",
    "<|user|>",
    "<tool_response>",
    "<tool_output>",
    "```tool_output",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "def test_",
    "assert ",
    "\"\"\"",
];

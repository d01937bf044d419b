//! The measured run of dialects: some of the questions to a model that knows no tools, taught in one dialect after the other,
//! each answer as it came. It says which dialect an unknown model is best taught.
//!
//! A small model hardly ever calls by itself, which tells no dialect from another. So in one part of the run each answer is
//! held to begin as a call of the dialect does, up to the tool's name; from there the model decodes freely.

use std::fs;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use crate::client::{Client, ClientName};
use crate::install::Installed;
use crate::questions::{Asked, Asking, Questions};
use crate::server;

/// The name of the run; its parts are `dialects/TOLD/NAME`. It takes minutes, so it is run only where it is asked for.
pub(crate) const DIALECTS: &str = "dialects";

/// So many of the questions are asked in each dialect where nothing is told, spread over all of them. There a model hardly
/// calls, and all thirty take half an hour; where the answer is begun, they tell more than twelve.
const SPREAD: usize = 12;
/// A model that does not call writes prose to the end of its tokens; a call to one tool takes fewer.
const MAX_TOKENS: u32 = 64;
/// The model's server decodes so many answers together.
const SLOTS: usize = 2;

/// What is compared: forms without special tokens, which a model only knows from its own training, and without a family's name.
const COMPARED: [&str; 18] = [
    "json_bare",
    "json_fence",
    "hermes",
    "lm_studio",
    "function_json",
    "functionary_v31",
    "toolname_tag",
    "name_line",
    "react",
    "qwen3_coder",
    "anthropic_xml",
    "minicpm5",
    "glm45",
    "xml_names",
    "morph_xml",
    "pythonic",
    "olmo3",
    "tool_code",
];

/// What a call of the model depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    /// Nothing: it may call.
    Auto,
    /// It must call. Nothing but the prompt says so.
    Required,
    /// The answer begins as a call does.
    Opened,
}

impl Told {
    const ALL: [Told; 3] = [Told::Auto, Told::Required, Told::Opened];

    fn name(self) -> &'static str {
        match self {
            Told::Auto => "auto",
            Told::Required => "required",
            Told::Opened => "opened",
        }
    }
}

/// A dialect, and what the model is told.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    told: Told,
    dialect: &'static str,
}

/// One line of the table.
struct Line {
    part: Part,
    asked: Asked,
}

/// The parts of the run that `only` asks for.
pub(crate) fn chosen(only: &str) -> Vec<Part> {
    let parts = Told::ALL.into_iter().flat_map(|told| COMPARED.map(|dialect| Part { told, dialect }));
    let is_chosen = |part: &Part| format!("{DIALECTS}/{}/{}", part.told.name(), part.dialect).contains(only);
    if only.starts_with(DIALECTS) { parts.filter(is_chosen).collect() } else { Vec::new() }
}

/// Asks the `questions` in each of the `compared` dialects, and prints the table; returns how many parts there were.
pub(crate) fn compare(
    questions: &Questions,
    compared: &[Part],
    upstream: &str,
    model: &str,
    installed: &Installed,
) -> Result<usize> {
    let few = questions.clone().spread(SPREAD);
    let left = Mutex::new(compared.iter().copied());
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let work = || -> Result<Vec<Line>> {
        let mut client = Client::new(ClientName::Questions, installed)?;
        let mut lines = Vec::new();
        while let Some(part) = next() {
            let (dialect, told) = (part.dialect, part.told.name());
            let grammar = match part.told {
                Told::Auto | Told::Required => None,
                Told::Opened => Some(grammar(dialect, installed)?),
            };
            let gateway = server::configured_gateway(
                &format!("{dialect}-{told}"),
                &config(upstream, dialect)?,
                installed,
            )?;
            let base_url = format!("{}/v1", gateway.url);
            let tool_choice = if part.told == Told::Required { "required" } else { "auto" };
            let grammar = grammar.as_deref();
            let asking = Asking { base_url: &base_url, model, tool_choice, max_tokens: MAX_TOKENS, grammar };
            let asked = match part.told {
                Told::Auto | Told::Required => few.ask_all(asking, &mut client)?,
                Told::Opened => questions.ask_all(asking, &mut client)?,
            };
            println!("    {dialect}, {told}: {} of {} calls are valid", asked.valid, asked.asked);
            lines.push(Line { part, asked });
        }
        Ok(lines)
    };
    let mut lines = thread::scope(|scope| {
        let workers: Vec<_> = (0..SLOTS).map(|_| scope.spawn(work)).collect();
        let lines =
            workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?);
        Ok::<_, anyhow::Error>(lines.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>())
    })?;
    lines.sort_by_key(|line| (line.part.told, std::cmp::Reverse(line.asked.valid)));
    println!("\n| told | dialect | valid calls | wrong calls | no call |\n|---|---|---|---|---|");
    for Line { part: Part { told, dialect }, asked } in &lines {
        let wrong = asked.asked - asked.valid - asked.silent;
        println!(
            "| {} | `{dialect}` | {} of {} | {wrong} | {} |",
            told.name(),
            asked.valid,
            asked.asked,
            asked.silent
        );
    }
    Ok(lines.len())
}

/// Holds an answer to begin as a call does: with what stands before the tool's name where a past call is rendered.
fn grammar(dialect: &str, installed: &Installed) -> Result<String> {
    const NAME: &str = "the_name";
    let function =
        json!({"name": NAME, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let call =
        json!({"id": "1", "type": "function", "function": {"name": NAME, "arguments": r#"{"a": "x"}"#}});
    let messages = json!([
        {"role": "user", "content": "Ask it."},
        {"role": "assistant", "content": null, "tool_calls": [call]},
    ]);
    let tools = installed.written("opening-tools.json");
    fs::write(&tools, json!([{"type": "function", "function": function}]).to_string())?;
    let tools = tools.to_str().context("a path that is no text")?;
    let args = ["prompt", "--dialect", dialect, "--messages", "-", "--tools", tools];
    let prompt: Value = serde_json::from_str(&server::said(&args, &messages.to_string())?)?;
    let rendered = prompt["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str());
    let (opening, _) = rendered
        .and_then(|rendered| rendered.split_once(NAME))
        .with_context(|| format!("how does a call begin in {dialect}? {prompt}"))?;
    Ok(format!(r"root ::= {} [^\x00]*", Value::from(opening)))
}

/// The gateway's configuration: the upstream at `url`, which is asked once, and held to nothing by the gateway itself.
fn config(url: &str, dialect: &str) -> Result<toml::Table> {
    Ok(toml::from_str(&format!(
        "policy = \"heal\"\n\
         [[upstreams]]\n\
         name = \"model\"\n\
         base_url = \"{url}/v1\"\n\
         constrain = \"none\"\n\
         [[models]]\n\
         pattern = \"*\"\n\
         mode = \"prompt\"\n\
         dialect = \"{dialect}\"\n\
         [ladder]\n\
         reasks = 0\n\
         feedback_turns = 0\n"
    ))?)
}

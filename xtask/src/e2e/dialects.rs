//! The measured run of dialects: some of the questions to a model that knows no tools, taught in one dialect after the other,
//! decoding freely, each answer as it came. It says which dialect an unknown model is best taught.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, anyhow};

use super::client::{Client, ClientName};
use super::install::Installed;
use super::questions::{Asked, Asking, Questions};
use super::server;

/// The name of the run; its parts are `dialects/CHOICE/NAME`. It takes minutes, so it is run only where it is asked for.
pub(crate) const DIALECTS: &str = "dialects";

/// So many of the questions are asked in each dialect, spread over all of them: the whole takes some minutes.
pub(crate) const QUESTIONS: usize = 12;
/// A model that does not call writes prose to the end of its tokens; a call to one tool takes fewer.
const MAX_TOKENS: u32 = 64;
/// The model's server decodes so many answers together.
const SLOTS: usize = 2;

/// What is compared: the forms that small models know best from what they have read.
pub(crate) const COMPARED: [&str; 8] =
    ["json_bare", "function_json", "json_fence", "hermes", "tool_code", "pythonic", "react", "qwen3_coder"];

/// May the model call, or must it? Nothing but the prompt says so.
const CHOICES: [&str; 2] = ["auto", "required"];

/// A dialect, and what the prompt demands.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    choice: &'static str,
    dialect: &'static str,
}

/// One line of the table.
struct Line {
    part: Part,
    asked: Asked,
}

/// The parts of the run that `only` asks for.
pub(crate) fn chosen(only: &str) -> Vec<Part> {
    let parts = CHOICES.into_iter().flat_map(|choice| COMPARED.map(|dialect| Part { choice, dialect }));
    let is_chosen = |part: &Part| format!("{DIALECTS}/{}/{}", part.choice, part.dialect).contains(only);
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
    let left = Mutex::new(compared.iter().copied());
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let work = || -> Result<Vec<Line>> {
        let mut client = Client::new(ClientName::Questions, installed)?;
        let mut lines = Vec::new();
        while let Some(part @ Part { choice, dialect }) = next() {
            let gateway = server::configured_gateway(
                &format!("{dialect}-{choice}"),
                &config(upstream, dialect)?,
                installed,
            )?;
            let base_url = format!("{}/v1", gateway.url);
            let asking = Asking { base_url: &base_url, model, tool_choice: choice, max_tokens: MAX_TOKENS };
            let asked = questions.ask_all(asking, &mut client)?;
            println!("    {dialect}, {choice}: {} of {} calls are valid", asked.valid, asked.asked);
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
    lines.sort_by_key(|line| (line.part.choice, std::cmp::Reverse(line.asked.valid)));
    println!("\n| tool_choice | dialect | valid calls | wrong calls | no call |\n|---|---|---|---|---|");
    for Line { part: Part { choice, dialect }, asked } in &lines {
        let wrong = asked.asked - asked.valid - asked.silent;
        println!(
            "| `{choice}` | `{dialect}` | {} of {} | {wrong} | {} |",
            asked.valid, asked.asked, asked.silent
        );
    }
    Ok(lines.len())
}

/// The gateway's configuration: the upstream at `url`, held to nothing and asked once.
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

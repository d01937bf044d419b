//! The measured run of dialects: some of the questions to a model that knows no tools, taught in one dialect after the other,
//! decoding freely, each answer as it came. It says which dialect an unknown model is best taught.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, anyhow};

use super::client::{Client, ClientName};
use super::install::Installed;
use super::questions::{Asked, Asking, Questions};
use super::server;

/// The name of the run; its parts are `dialects/NAME`. It takes minutes, so it is run only where it is asked for.
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

/// One line of the table.
struct Line {
    dialect: &'static str,
    asked: Asked,
}

/// The parts of the run that `only` asks for.
pub(crate) fn chosen(only: &str) -> Vec<&'static str> {
    let is_chosen = |dialect: &&str| format!("{DIALECTS}/{dialect}").contains(only);
    if only.starts_with(DIALECTS) { COMPARED.into_iter().filter(is_chosen).collect() } else { Vec::new() }
}

/// Asks the `questions` in each of the `compared` dialects, and prints the table; returns how many dialects there were.
pub(crate) fn compare(
    questions: &Questions,
    compared: &[&'static str],
    upstream: &str,
    model: &str,
    installed: &Installed,
) -> Result<usize> {
    let left = Mutex::new(compared.iter().copied());
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let work = || -> Result<Vec<Line>> {
        let mut client = Client::new(ClientName::Questions, installed)?;
        let mut lines = Vec::new();
        while let Some(dialect) = next() {
            let gateway = server::configured_gateway(dialect, &config(upstream, dialect)?, installed)?;
            let base_url = format!("{}/v1", gateway.url);
            let asking = Asking { base_url: &base_url, model, tool_choice: "auto", max_tokens: MAX_TOKENS };
            let asked = questions.ask_all(asking, &mut client)?;
            println!("    {dialect}: {} of {} calls are valid", asked.valid, asked.asked);
            lines.push(Line { dialect, asked });
        }
        Ok(lines)
    };
    let mut lines = thread::scope(|scope| {
        let workers: Vec<_> = (0..SLOTS).map(|_| scope.spawn(work)).collect();
        let lines =
            workers.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?);
        Ok::<_, anyhow::Error>(lines.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect::<Vec<_>>())
    })?;
    lines.sort_by_key(|line| std::cmp::Reverse(line.asked.valid));
    println!("\n| dialect | valid calls | wrong calls | no call |\n|---|---|---|---|");
    for Line { dialect, asked } in &lines {
        let wrong = asked.asked - asked.valid - asked.silent;
        println!("| `{dialect}` | {} of {} | {wrong} | {} |", asked.valid, asked.asked, asked.silent);
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

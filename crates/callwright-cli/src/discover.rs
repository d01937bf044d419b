//! Finds an upstream where none is configured: a server on this machine, else a key that is at hand, else the
//! built-in one.

use std::time::Duration;

use callwright_gateway::is_openai;
use callwright_replay::{Replay, Script, Setup};

use crate::config::{Config, Env, Origin, named};
use crate::failure::Failure;

/// Servers of models, and the ports that they usually take.
const LOCAL: [(&str, u16); 4] = [("llama.cpp", 8080), ("Ollama", 11434), ("vLLM", 8000), ("LM Studio", 1234)];

/// How long one of them may take to say so.
const PATIENCE: Duration = Duration::from_millis(500);

const OPENROUTER: &str = "https://openrouter.ai/api/v1";
const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";
/// It costs nothing there.
const OPENROUTER_MODEL: &str = "google/gemma-3-27b-it:free";

/// What was chosen, in one sentence. The built-in server, if it is that, lives as long as this.
pub(crate) struct Chosen {
    pub(crate) sentence: String,
    _replay: Option<Replay>,
}

/// Configures an upstream, if none is.
///
/// # Errors
/// The built-in server does not start.
pub(crate) fn upstream(config: &mut Config, env: Env<'_>) -> Result<Option<Chosen>, Failure> {
    if !config.settings.upstreams.is_empty() {
        return Ok(None);
    }
    let found = if config.settings.find_local { local() } else { None };
    let has_key = env(OPENROUTER_KEY).is_some_and(|key| !key.trim().is_empty());
    let (upstream, origin, sentence, replay) = match found {
        Some((name, port)) => {
            let url = base_url(port);
            let sentence = format!("no upstream is configured; found one where {name} usually is: {url}");
            (named("local", &url, None), "found on this machine", sentence, None)
        }
        None if has_key => {
            let model = config.settings.default_model.get_or_insert_with(|| {
                config.origins.insert("default_model", Origin::Found("chosen for OpenRouter"));
                OPENROUTER_MODEL.into()
            });
            let sentence = format!(
                "no upstream is configured; using OpenRouter with {OPENROUTER_KEY}, default model {model}"
            );
            let upstream = named("openrouter", OPENROUTER, Some(OPENROUTER_KEY));
            (upstream, "chosen for OPENROUTER_API_KEY", sentence, None)
        }
        None => {
            let replay = start_replay()?;
            let sentence = format!(
                "no upstream is configured, no local server found, {OPENROUTER_KEY} not set; \
                 using the built-in replay, which answers from a script. For a model: --upstream URL"
            );
            (named("replay", &replay.base_url(), None), "built in", sentence, Some(replay))
        }
    };
    config.settings.upstreams.push(upstream);
    config.origins.insert("upstreams", Origin::Found(origin));
    Ok(Some(Chosen { sentence, _replay: replay }))
}

/// The first local server that answers.
fn local() -> Option<(&'static str, u16)> {
    let answers = is_openai(&LOCAL.map(|(_, port)| base_url(port)), PATIENCE);
    LOCAL.into_iter().zip(answers).find(|(_, answers)| *answers).map(|(server, _)| server)
}

fn base_url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

/// It runs for as long as the gateway does, so it remembers nothing of what it is asked.
fn start_replay() -> Result<Replay, Failure> {
    let setup = Setup { keep: 0, ..Setup::default() };
    let listen = setup.listen;
    Replay::start_with(Script::built_in(), setup).map_err(|error| Failure::Listen(listen, error))
}

//! Finds an upstream where none is configured: a server on this machine, else a key that is at hand, else the
//! built-in one; and the model, where none is named and the upstreams list only one.

use std::time::Duration;

use callwright_relay::survey;
use callwright_replay::{Replay, Script, Setup};

use crate::config::{BUILT_IN, Config, Env, Origin, named};
use crate::failure::Failure;

/// Servers of models, and the ports that they usually take.
const LOCAL: [(&str, u16); 4] = [("llama.cpp", 8080), ("Ollama", 11434), ("vLLM", 8000), ("LM Studio", 1234)];

/// The time that one of them may take to say so.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time that a configured upstream may take to list its models.
pub(crate) const LISTING: Duration = Duration::from_secs(10);

const OPENROUTER: &str = "https://openrouter.ai/api/v1";
const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";
/// It costs nothing there.
const OPENROUTER_MODEL: &str = "google/gemma-3-27b-it:free";

/// The choice, in one sentence. The built-in server, if it is that, lives as long as this.
pub(crate) struct Chosen {
    pub(crate) sentence: String,
    replay: Option<Replay>,
}

impl Chosen {
    /// Returns whether it is the built-in server, which is not a model.
    pub(crate) fn is_built_in(&self) -> bool {
        self.replay.is_some()
    }
}

/// Configures an upstream, if none is: a server of models, or else the built-in one.
///
/// # Errors
/// The built-in server does not start.
pub(crate) async fn upstream(config: &mut Config, env: Env<'_>) -> Result<Option<Chosen>, Failure> {
    if let Some(chosen) = server(config, env).await {
        return Ok(Some(chosen));
    }
    if !config.settings.upstreams.is_empty() {
        return Ok(None);
    }
    let replay = start_replay()?;
    let sentence = format!(
        "no upstream is configured, no local server found, {OPENROUTER_KEY} not set; \
         using the built-in replay, which answers from a script. For a model: --upstream URL"
    );
    config.settings.upstreams.push(named("replay", &replay.base_url(), None));
    config.origins.insert("upstreams", BUILT_IN);
    Ok(Some(Chosen { sentence, replay: Some(replay) }))
}

/// Configures a server of models, if none is configured and one is found.
pub(crate) async fn server(config: &mut Config, env: Env<'_>) -> Option<Chosen> {
    if !config.settings.upstreams.is_empty() {
        return None;
    }
    let found = if config.settings.find_local { local().await } else { None };
    let has_key = env(OPENROUTER_KEY).is_some_and(|key| !key.trim().is_empty());
    let (upstream, origin, sentence) = match found {
        Some((name, port, models)) => {
            let url = base_url(port);
            let mut sentence = format!("no upstream is configured; found one where {name} usually is: {url}");
            if let ([model], None) = (models.as_slice(), &config.settings.default_model) {
                sentence.push_str(&format!(", with the model {model}"));
                config.settings.default_model = Some(model.clone());
                config.origins.insert("default_model", Origin::Found("the only one that is listed"));
            }
            (named("local", &url, None), "found on this machine", sentence)
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
            (upstream, "chosen for OPENROUTER_API_KEY", sentence)
        }
        None => return None,
    };
    config.settings.upstreams.push(upstream);
    config.origins.insert("upstreams", Origin::Found(origin));
    Some(Chosen { sentence, replay: None })
}

/// The model to be asked where nobody names one: the default one, or the only one that the upstreams list.
///
/// # Errors
/// They list several, which are named, or none, or cannot be asked.
pub(crate) async fn model(config: &Config, env: Env<'_>) -> Result<String, Failure> {
    if let Some(model) = &config.settings.default_model {
        return Ok(model.clone());
    }
    let survey = config.survey(env)?;
    let mut models: Vec<String> = Vec::new();
    let mut why = None;
    for listing in survey.listings(LISTING).await {
        match listing.models {
            Ok(listed) => models.extend(listed),
            Err(unlisted) => {
                let advice = unlisted.advice().map_or_else(String::new, |advice| format!("; {advice}"));
                why = Some((format!("{} {unlisted}{advice}", listing.location), unlisted.is_unreachable()));
            }
        }
    }
    models.dedup();
    match (models.as_slice(), why) {
        ([model], _) => Ok(model.clone()),
        ([], Some((why, true))) => Err(Failure::NoModel(why)),
        ([], Some((why, false))) => Err(Failure::Config(format!("name the model with --model: {why}"))),
        ([], None) => {
            Err(Failure::Config(String::from("name the model with --model: the upstream lists none")))
        }
        (models, _) => {
            let shown = models.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = models.len().saturating_sub(SHOWN);
            let more =
                if more == 0 { String::new() } else { format!(", and {more} more: `callwright models`") };
            Err(Failure::Config(format!("name the model with --model; there are {shown}{more}")))
        }
    }
}

/// So many models are named in a message.
const SHOWN: usize = 12;

/// The first local server that answers, and its models.
async fn local() -> Option<(&'static str, u16, Vec<String>)> {
    let answers = survey::find(&LOCAL.map(|(_, port)| base_url(port)), PATIENCE).await;
    LOCAL.into_iter().zip(answers).find_map(|((name, port), models)| Some((name, port, models?)))
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

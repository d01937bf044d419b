//! Questions of the command line to upstreams, without a server: who answers, and what a model can do there.

use std::io;
use std::time::Duration;

use callwright_relay::capability::{Capabilities, Capability, system_clock};
use callwright_relay::config::{RelayConfig, UpstreamConfig};
use callwright_relay::upstream::{ConfigError, Upstreams};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::task::JoinSet;

use crate::worker::runtime;

/// What a model can do at one upstream.
#[derive(Clone, Debug)]
pub struct CapabilityAt {
    /// The upstream's name.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// What it can do.
    pub capability: Capability,
}

/// What `model` can do at each upstream that serves it, best first. With `refresh` nothing that was known
/// counts. Where the system gives no runtime, nobody is asked.
///
/// # Errors
/// The configuration cannot be used.
pub fn capabilities(
    config: RelayConfig,
    env: &dyn Fn(&str) -> Option<String>,
    model: &str,
    refresh: bool,
) -> Result<Vec<CapabilityAt>, ConfigError> {
    let upstreams = Upstreams::new(&config, env)?;
    let capabilities =
        Capabilities::new(&config.capability, upstreams.all(), &config.dialects, system_clock());
    let asked = block_on(async {
        let mut found = Vec::new();
        for candidate in upstreams.route(model).candidates {
            let capability = match refresh {
                true => capabilities.refresh(&candidate).await,
                false => capabilities.of(&candidate).await,
            };
            let upstream = candidate.upstream.name().to_owned();
            found.push(CapabilityAt { upstream, model: candidate.model, capability });
        }
        found
    });
    Ok(asked.unwrap_or_default())
}

/// Which of these base URLs answer `GET /models` as OpenAI does, within `patience`? All are asked at once.
pub fn is_openai(base_urls: &[String], patience: Duration) -> Vec<bool> {
    let asked = block_on(async {
        let mut asking = JoinSet::new();
        for (number, url) in base_urls.iter().cloned().enumerate() {
            asking.spawn(async move {
                (number, tokio::time::timeout(patience, lists_models(url)).await.unwrap_or(false))
            });
        }
        let mut answers = vec![false; base_urls.len()];
        while let Some(Ok((number, answer))) = asking.join_next().await {
            answers[number] = answer;
        }
        answers
    });
    asked.unwrap_or_else(|_| vec![false; base_urls.len()])
}

async fn lists_models(base_url: String) -> bool {
    let server = UpstreamConfig { retries: 0, ..UpstreamConfig::new("local", &base_url) };
    let config = RelayConfig { upstreams: vec![server], ..RelayConfig::default() };
    // Whatever lives there gets no key.
    let Ok(upstreams) = Upstreams::new(&config, &|_| None) else { return false };
    let Some(server) = upstreams.all().first() else { return false };
    let Ok(answer) = server.get("/models").await else { return false };
    if !answer.status.is_success() {
        return false;
    }
    let Ok(body) = answer.body.whole(MAX_LIST).await else { return false };
    serde_json::from_slice::<ModelList>(&body).is_ok()
}

/// The longest list of models that is read, in bytes.
const MAX_LIST: usize = 8 << 20;

/// `{"object": "list", "data": […]}`
#[derive(Deserialize)]
struct ModelList {
    #[serde(rename = "data")]
    _data: Vec<IgnoredAny>,
}

fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    Ok(runtime()?.block_on(work))
}

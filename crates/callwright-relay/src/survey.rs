//! The answers of upstreams about themselves. They tell if they answer, take the key, list models, and know what a model can do.
//! A small request shows whether a call comes.
//!
//! Commands that check a set-up or look for a server use it; a turn needs none of it. Each question is asked once and waits no
//! longer than its patience.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::capability::{Capabilities, Capability, system_clock};
use crate::client::{ChatError, Client};
use crate::config::{RelayConfig, UpstreamConfig};
use crate::upstream::{ConfigError, Failure, Response, Upstream, UpstreamError, Upstreams};
use crate::wire::BASE_URL;

/// The upstreams of a configuration, to be asked about themselves.
pub struct Survey {
    upstreams: Upstreams,
    capabilities: Capabilities,
}

/// An upstream's list of its models.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Its name in the configuration.
    pub upstream: String,
    /// The place of the question: scheme, host, port and path, no query.
    pub location: String,
    /// The ids of its models, in its order.
    pub models: Result<Vec<String>, Unlisted>,
}

/// The reason for which an upstream lists no models.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unlisted {
    /// No answer came.
    Unreachable(UpstreamError),
    /// No answer came within the asker's patience.
    Late(Duration),
    /// It answered 401 or 403.
    Key {
        /// The status of the answer.
        status: StatusCode,
        /// The variable that holds the key that it was sent, if one is configured.
        key_env: Option<String>,
    },
    /// The answer is not a list of models.
    NoList {
        /// The status of the answer.
        status: StatusCode,
        /// The base URL on the same host at which models are listed, if there is one.
        instead: Option<String>,
        /// The server knows the path of chats all the same.
        takes_chats: bool,
    },
}

/// The abilities of a model at one upstream.
#[derive(Clone, Debug)]
pub struct CapabilityAt {
    /// The upstream's name.
    pub upstream: String,
    /// The model's name there.
    pub model: String,
    /// The abilities.
    pub capability: Capability,
}

/// The outcome of a small request for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// A right call came.
    pub called: bool,
    /// The way in which the tool reached the model: `native` or `prompt`.
    pub mode: String,
    /// The model's words in place of a call.
    pub text: String,
}

/// The longest list of models that is read, in bytes.
const MAX_LIST: usize = 16 << 20;

impl Survey {
    /// Makes a survey of a configuration; `env` looks up the variables that it names. Connects nowhere.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn new(config: &RelayConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Survey, ConfigError> {
        let upstreams = Upstreams::new(config, env)?;
        let capabilities =
            Capabilities::new(&config.capability, upstreams.all(), &config.dialects, system_clock());
        Ok(Survey { upstreams, capabilities })
    }

    /// Returns the list of each upstream, in the order of the configuration. All are asked at once.
    pub async fn listings(&self, patience: Duration) -> Vec<Listing> {
        let mut asking = JoinSet::new();
        for (number, upstream) in self.upstreams.all().iter().cloned().enumerate() {
            asking.spawn(async move { (number, listing(&upstream, patience).await) });
        }
        let mut listings = Vec::new();
        while let Some(Ok(listing)) = asking.join_next().await {
            listings.push(listing);
        }
        listings.sort_by_key(|(number, _)| *number);
        listings.into_iter().map(|(_, listing)| listing).collect()
    }

    /// Returns the upstreams for `model`, best first, and its name there.
    pub fn route(&self, model: &str) -> Vec<(String, String)> {
        let candidates = self.upstreams.route(model).candidates.into_iter();
        candidates.map(|candidate| (candidate.upstream.name().to_owned(), candidate.model)).collect()
    }

    /// Returns the known abilities of `model` at each of its upstreams, best first. Asks nobody.
    pub fn known(&self, model: &str) -> Vec<CapabilityAt> {
        let candidates = self.upstreams.route(model).candidates.into_iter();
        let known = candidates.map(|candidate| CapabilityAt {
            upstream: candidate.upstream.name().to_owned(),
            capability: self.capabilities.what_is_known(&candidate),
            model: candidate.model,
        });
        known.collect()
    }

    /// Returns the abilities of `model` at each of its upstreams, best first. With `refresh` nothing known counts.
    pub async fn capabilities(&self, model: &str, refresh: bool) -> Vec<CapabilityAt> {
        let mut found = Vec::new();
        for candidate in self.upstreams.route(model).candidates {
            let capability = match refresh {
                true => self.capabilities.refresh(&candidate).await,
                false => self.capabilities.of(&candidate).await,
            };
            let upstream = candidate.upstream.name().to_owned();
            found.push(CapabilityAt { upstream, model: candidate.model, capability });
        }
        found
    }
}

/// Returns the models that each of these base URLs lists without a key. None for a URL at which nobody answers as OpenAI does
/// within `patience`. All are asked at once.
pub async fn find(base_urls: &[String], patience: Duration) -> Vec<Option<Vec<String>>> {
    let upstreams = base_urls.iter().map(|url| UpstreamConfig {
        retries: 0,
        // Each has a name of its own, so that all can be asked as one configuration.
        ..UpstreamConfig::new(url, url)
    });
    let config = RelayConfig { upstreams: upstreams.collect(), ..RelayConfig::default() };
    // Whatever lives there gets no key.
    let Ok(survey) = Survey::new(&config, &|_| None) else { return vec![None; base_urls.len()] };
    survey.listings(patience).await.into_iter().map(|listing| listing.models.ok()).collect()
}

/// Asks `model` for a call of one small tool, as a client would.
///
/// # Errors
/// No upstream answered, or none took the request.
pub async fn trial(client: &Client, model: &str) -> Result<Trial, ChatError> {
    let answer = client
        .chat(&json!({
            "model": model,
            "messages": [{"role": "user", "content": "Call the tool report_ready with ready set to true."}],
            "tools": [{"type": "function", "function": {
                "name": "report_ready",
                "description": "Reports that you are ready. Call this now.",
                "parameters": {
                    "type": "object",
                    "properties": {"ready": {"type": "boolean", "description": "Whether you are ready."}},
                    "required": ["ready"],
                },
            }}],
            "tool_choice": "required",
            // Enough for a call, also behind some thoughts.
            "max_tokens": 512,
        }))
        .await?;
    let attempts = answer.response["callwright"]["attempts"].as_array();
    let mode = attempts.and_then(|attempts| attempts.last()?["mode"].as_str()).unwrap_or_default().to_owned();
    Ok(Trial { called: !answer.calls.is_empty(), mode, text: answer.text })
}

async fn listing(upstream: &Upstream, patience: Duration) -> Listing {
    let asked = tokio::time::timeout(patience, models(upstream));
    let models = match asked.await.unwrap_or(Err(Unlisted::Late(patience))) {
        Err(Unlisted::NoList { status, .. }) => {
            let looked = async { (takes_chats(upstream).await, instead(upstream).await) };
            let looked = tokio::time::timeout(patience, looked).await;
            let (takes_chats, instead) = looked.unwrap_or((false, None));
            Err(Unlisted::NoList { status, instead, takes_chats })
        }
        answered => answered,
    };
    Listing { upstream: upstream.name().to_owned(), location: upstream.location(), models }
}

/// Returns whether an empty question brings a complaint, rather than an unknown path. No model runs.
async fn takes_chats(upstream: &Upstream) -> bool {
    let answer = upstream.question(upstream.kind(), Bytes::from_static(b"{}"), &HeaderMap::new()).await;
    let status = answer.map(|answer| answer.status);
    status.is_ok_and(|status| {
        status.is_client_error() && !matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
    })
}

/// Returns the base URL at the same host under which models are listed: people leave `/v1` away, or give the address of one kind
/// of request.
async fn instead(upstream: &Upstream) -> Option<String> {
    let own = upstream.path();
    let before_request = own.split("/chat/completions").next().unwrap_or(own);
    let below = format!("{before_request}/v1");
    let mut asked = vec![own];
    for root in [before_request, &below, "/v1", "/api/v1"] {
        if asked.contains(&root) {
            continue;
        }
        if let Ok(Ok(_)) = listed(upstream.get_below(root, "/models").await).await {
            return Some(upstream.location_of(root));
        }
        asked.push(root);
    }
    None
}

async fn models(upstream: &Upstream) -> Result<Vec<String>, Unlisted> {
    let answered = listed(upstream.get("/models").await).await?;
    match answered {
        Ok(ids) => Ok(ids),
        Err(status) if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            Err(Unlisted::Key { status, key_env: upstream.config().key_env.clone() })
        }
        Err(status) => Err(Unlisted::NoList { status, instead: None, takes_chats: false }),
    }
}

/// Returns the ids of a list of models, or the status of any other answer.
async fn listed(
    answer: Result<Response, UpstreamError>,
) -> Result<Result<Vec<String>, StatusCode>, Unlisted> {
    let answer = answer.map_err(Unlisted::Unreachable)?;
    let status = answer.status;
    let body = answer.body.whole(MAX_LIST).await.map_err(Unlisted::Unreachable)?;
    let list = serde_json::from_slice::<ModelList>(&body).ok().filter(|_| status.is_success());
    Ok(list.map(ModelList::ids).ok_or(status))
}

/// `{"object": "list", "data": [{"id": …}, …]}`
#[derive(Deserialize)]
struct ModelList {
    data: Vec<Value>,
}

impl ModelList {
    fn ids(self) -> Vec<String> {
        self.data.iter().filter_map(|model| model["id"].as_str().map(str::to_owned)).collect()
    }
}

impl Unlisted {
    /// Returns whether no answer came at all.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Unlisted::Unreachable(_) | Unlisted::Late(_))
    }

    /// Returns the advice about it; none if the reason says enough.
    pub fn advice(&self) -> Option<String> {
        match self {
            Unlisted::Unreachable(error)
                if !matches!(error.failure, Failure::Connect(_) | Failure::Timeout(_)) =>
            {
                None
            }
            Unlisted::Unreachable(_) | Unlisted::Late(_) => {
                Some(String::from("is the server running, and are host and port right?"))
            }
            Unlisted::Key { key_env: None, .. } => Some(String::from(
                "name the variable that holds the key: --upstream-key-env NAME, or key_env of the upstream",
            )),
            Unlisted::Key { key_env: Some(variable), .. } => Some(format!("check the key in {variable}")),
            Unlisted::NoList { instead: Some(url), .. } => Some(format!("the base URL should be {url}")),
            Unlisted::NoList { takes_chats: true, .. } => None,
            Unlisted::NoList { status, .. } if status.is_server_error() => {
                Some(String::from("the server may still be loading: try again"))
            }
            Unlisted::NoList { .. } => Some(BASE_URL.to_owned()),
        }
    }
}

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unlisted::Unreachable(error) => write!(f, "{}", error.failure),
            Unlisted::Late(patience) => {
                write!(f, "did not answer within {} seconds", patience.as_secs_f32())
            }
            Unlisted::Key { status, key_env: None } => {
                write!(f, "wants a key ({}), and none is configured", status.as_u16())
            }
            Unlisted::Key { status, key_env: Some(variable) } => {
                write!(f, "refused the key in {variable} ({})", status.as_u16())
            }
            Unlisted::NoList { status, takes_chats, .. } => {
                let chats = if *takes_chats { ", but takes chats" } else { "" };
                write!(f, "answered {} at /models, and no list of models{chats}", status.as_u16())
            }
        }
    }
}

impl std::error::Error for Unlisted {}

//! `/health`: whether the upstream answers, and what it offers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use callwright_relay::Relay;
use callwright_relay::capability::Source;
use callwright_relay::upstream::Upstream;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// The time for which an answer holds: probes that come often must not become load for the upstream.
const HOLDS: Duration = Duration::from_secs(2);
/// The time that the upstream may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest list of models that is read, in bytes.
const MAX_LIST: usize = 8 << 20;

/// The answer of `/health`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Health {
    status: &'static str,
    default_model: Option<String>,
    /// The number of available models that take tools natively.
    native_function_calling_models: usize,
    fallback_function_calling_supported: bool,
    available_models_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Health {
    pub(crate) fn is_healthy(&self) -> bool {
        self.error.is_none()
    }
}

/// Asks, and remembers for a moment.
pub(crate) struct HealthCheck {
    default_model: Option<String>,
    last: Mutex<Option<(Instant, Health)>>,
}

impl HealthCheck {
    pub(crate) fn new(default_model: Option<String>) -> HealthCheck {
        HealthCheck { default_model, last: Mutex::new(None) }
    }

    /// Returns the health of this moment, or of a moment ago. Those who ask at once are answered together.
    pub(crate) async fn health(&self, relay: &Relay) -> Health {
        let mut last = self.last.lock().await;
        if let Some((at, health)) = &*last
            && at.elapsed() < HOLDS
        {
            return health.clone();
        }
        let listed = tokio::time::timeout(PATIENCE, list(relay)).await;
        let listed = listed.unwrap_or_else(|_| Err("the upstreams do not answer in time".into()));
        let (models, error) = match listed {
            Ok(models) => (models, None),
            Err(error) => (BTreeMap::new(), Some(error)),
        };
        let health = Health {
            status: if error.is_none() { "healthy" } else { "unhealthy" },
            default_model: self.default_model.clone(),
            native_function_calling_models: models.values().filter(|is_native| **is_native).count(),
            fallback_function_calling_supported: true,
            available_models_count: models.len(),
            error,
        };
        *last = Some((Instant::now(), health.clone()));
        health
    }
}

/// `{"data": [{"id": "google/gemma-3-27b-it:free", "supported_parameters": ["temperature", …]}, …]}`
#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    /// Only some upstreams say what their models can do.
    supported_parameters: Option<Vec<String>>,
}

/// All models that the upstreams list, and whether they take tools natively.
///
/// # Errors
/// Why the last one does not answer, where none does.
async fn list(relay: &Relay) -> Result<BTreeMap<String, bool>, String> {
    let mut models = BTreeMap::new();
    let (mut n_up, mut error) = (0, String::from("no upstream is configured"));
    for upstream in relay.upstreams().all() {
        match listed_by(upstream).await {
            Ok(list) => {
                n_up += 1;
                for model in list.data {
                    let is_native = is_native(relay, &model);
                    models.insert(model.id, is_native);
                }
            }
            Err(why) => error = why,
        }
    }
    if 0 < n_up { Ok(models) } else { Err(error) }
}

async fn listed_by(upstream: &Upstream) -> Result<ModelList, String> {
    let answer = upstream.get("/models").await.map_err(|error| error.to_string())?;
    let (name, status) = (upstream.name(), answer.status);
    if !status.is_success() {
        return Err(format!("{name} answered {status}"));
    }
    let body = answer.body.whole(MAX_LIST).await.map_err(|error| error.to_string())?;
    serde_json::from_slice(&body).map_err(|_| format!("{name} answered with no list of models"))
}

/// Returns whether a model takes tools natively: by the configuration and experience first, then by the list, then by what is
/// known otherwise. Nobody is asked for each single model.
fn is_native(relay: &Relay, model: &Model) -> bool {
    let route = relay.upstreams().route(&model.id);
    let Some(candidate) = route.candidates.first() else { return false };
    let known = relay.capabilities().what_is_known(candidate);
    match (&known.tools_source, &model.supported_parameters) {
        (Source::Configured | Source::Experience(_) | Source::Metadata(_), _) | (_, None) => known.tools,
        (Source::Host(_) | Source::Server(_) | Source::Family | Source::Unknown, Some(parameters)) => {
            parameters.iter().any(|p| p == "tools")
        }
    }
}

//! The servers that requests go to: their connections, their patience, their load, and their choice for a model.
//!
//! In goes the configuration, once. Nothing of a request changes its place: neither a field nor a header. A key is bound to its
//! upstream and appears in no message.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use callwright::Dialects;
use callwright_json::Value;

use crate::config::{ModelConfig, RelayConfig, Routing, fits};
use crate::wire::conversation_hash;

mod error;
mod secrets;
mod spread;
mod escalation;
mod route;
mod shares;
mod client;
mod origin;
mod response;
mod headers;
mod inflate;
mod connect;
mod pools;
mod deadline;
mod kept;
mod link;
mod load;

pub use crate::api::UpstreamKind;
pub use client::{Upstream, expand};
pub use connect::{ConnectFailure, Connector, Roots};
pub use error::{ConfigError, Failure, UpstreamError, Which};
pub use headers::is_settable;
pub use kept::Kept;
pub(crate) use response::Rewriter;
pub use response::{Response, ResponseBody};
pub use route::{Candidate, Route};
pub(crate) use secrets::{Secrets, Tail};
pub(crate) use spread::Spread;

use self::shares::Shares;

/// All upstreams, and the models that are configured.
#[derive(Debug)]
pub struct Upstreams {
    all: Vec<Arc<Upstream>>,
    models: Vec<Model>,
    /// The dialects that answers are read in.
    dialects: Dialects,
    turn: AtomicUsize,
    shares: Shares,
}

#[derive(Debug)]
struct Model {
    config: Arc<ModelConfig>,
    /// The configured upstreams; none if the configuration leaves the choice to us.
    upstreams: Option<Vec<Arc<Upstream>>>,
    /// The only dialect of its answers, if one is configured.
    dialects: Option<Dialects>,
}

impl Upstreams {
    /// Makes the upstreams of `config`; `env` looks up an environment variable. Connects nowhere.
    ///
    /// # Errors
    /// The configuration cannot be used. The error names upstreams and variables, never a value.
    pub fn new(config: &RelayConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Upstreams, ConfigError> {
        if config.upstreams.is_empty() {
            return Err(ConfigError::NoUpstream);
        }
        let roots = Arc::default();
        let mut all: Vec<Arc<Upstream>> = Vec::new();
        for upstream in &config.upstreams {
            if all.iter().any(|other| other.name() == upstream.name) {
                return Err(ConfigError::TwiceNamed(upstream.name.clone()));
            }
            all.push(Arc::new(Upstream::new(upstream, env, &roots)?));
        }
        let models = config.models.iter().map(|model| Model::new(model, &all, &config.dialects));
        let models = models.collect::<Result<_, _>>()?;
        let dialects = config.dialects.clone();
        let upstreams =
            Upstreams { all, models, dialects, turn: AtomicUsize::new(0), shares: Shares::default() };
        upstreams.check_second_models()?;
        Ok(upstreams)
    }

    /// Returns all upstreams, in the order of the configuration.
    pub fn all(&self) -> &[Arc<Upstream>] {
        &self.all
    }

    /// Returns the configuration of `model`, if there is any. Asks nobody, and takes no turn.
    pub fn configured(&self, model: &str) -> Option<&ModelConfig> {
        self.known(model).map(|known| &*known.config)
    }

    /// Returns the model that is asked if an answer of `model` would end as refused; none if none is configured.
    pub(crate) fn second(&self, model: &str) -> Option<&str> {
        self.configured(model)?.escalate.as_deref().filter(|second| *second != model)
    }

    fn known(&self, model: &str) -> Option<&Model> {
        self.models.iter().find(|known| fits(&known.config.pattern, model))
    }

    /// Returns the upstreams to ask for `model`, best first. Equals take turns, so that each call is one request's.
    pub fn route(&self, model: &str) -> Route {
        self.route_of(model, None)
    }

    /// Returns the upstreams to ask for `model` in this request with tools.
    pub(crate) fn route_for_calls(&self, model: &str, request: Value<'_>) -> Route {
        self.route_of(model, Some(request))
    }

    /// Counts an answer with calls, if it decides among the upstreams of its model.
    pub(crate) fn count(&self, candidate: &Candidate, is_right: bool) {
        let routing = candidate.config.as_ref().map(|config| config.routing);
        if routing == Some(Routing::Right) {
            self.shares.count(&candidate.model, candidate.upstream.name(), is_right);
        }
    }

    fn route_of(&self, model: &str, request: Option<Value<'_>>) -> Route {
        let known = self.known(model);
        let config = known.map(|known| Arc::clone(&known.config));
        let mut upstreams = match known.and_then(|known| known.upstreams.as_ref()) {
            Some(named) => named.clone(),
            None => self.all.iter().filter(|upstream| serves(upstream, model)).cloned().collect(),
        };
        let routing = config.as_ref().map(|config| config.routing).unwrap_or_default();
        let name = config.as_ref().and_then(|config| config.rename.as_deref()).unwrap_or(model);
        match request.filter(|_| routing == Routing::Right && 1 < upstreams.len()) {
            Some(request) => self.shares.order(&mut upstreams, name, conversation_hash(request)),
            None => route::order(&mut upstreams, routing, &self.turn),
        }
        let dialects = known.and_then(|known| known.dialects.as_ref()).unwrap_or(&self.dialects);
        let candidate = |upstream: Arc<Upstream>| Candidate {
            kind: upstream.kind(),
            upstream,
            model: name.to_owned(),
            config: config.clone(),
            dialects: dialects.clone(),
        };
        Route { candidates: upstreams.into_iter().map(candidate).collect(), config }
    }
}

impl Model {
    fn new(config: &ModelConfig, all: &[Arc<Upstream>], dialects: &Dialects) -> Result<Model, ConfigError> {
        let find = |name: &String| {
            let upstream = all.iter().find(|upstream| upstream.name() == name).cloned();
            upstream.ok_or_else(|| ConfigError::UnknownUpstream {
                model: config.pattern.clone(),
                upstream: name.clone(),
            })
        };
        let named: Vec<_> = config.upstreams.iter().map(find).collect::<Result<_, _>>()?;
        let upstreams = Some(named).filter(|named| !named.is_empty());
        let unknown = |name: &String| ConfigError::UnknownDialect {
            model: config.pattern.clone(),
            dialect: name.clone(),
        };
        if let Some(name) = config.dialect.as_ref().filter(|name| dialects.get(name).is_none()) {
            return Err(unknown(name));
        }
        let only = |name: &String| dialects.only(name).ok_or_else(|| unknown(name));
        let dialects = config.only_dialect.as_ref().map(only).transpose()?;
        Ok(Model { config: Arc::new(config.clone()), upstreams, dialects })
    }
}

fn serves(upstream: &Upstream, model: &str) -> bool {
    let patterns = &upstream.config().models;
    patterns.is_empty() || patterns.iter().any(|pattern| fits(pattern, model))
}

//! What a model can do at an upstream: take tools, be constrained.
//!
//! Asked in this order: the configuration; what the upstream refused before; what it says about the model; the
//! table of model families. What is not known is a no: prompt mode works with every model.
//!
//! What was found out holds for a while and is kept in memory and, where a directory is configured, in a file,
//! so that the next run asks nothing. It runs no model to find something out.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use callwright::Dialects;

use crate::config::{CapabilityConfig, Constrain, Mode};
use crate::upstream::{Candidate, Upstream};

mod known;
mod probe;
mod family;
mod refusal;
mod file;
mod template;

pub use crate::clock::{Clock, system_clock};
use known::{Known, Learned};
pub use refusal::{Refusal, Refused, refusal};
pub use template::ModelTemplate;
use template::Templates;

/// What a model can do, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Does it take tools natively?
    pub tools: bool,
    /// Who says so.
    pub tools_source: Source,
    /// How its answers can be constrained.
    pub constrain: Constrain,
    /// Who says so.
    pub constrain_source: Source,
    /// Its own chat template, where the upstream shows it.
    pub template: Option<Arc<ModelTemplate>>,
}

/// Who says what a model can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The configuration.
    Configured,
    /// The upstream, when asked about the model: where it says so.
    Metadata(Arc<str>),
    /// The upstream, when it refused a request: its words.
    Learned(Arc<str>),
    /// The table of model families.
    Family,
    /// Nobody.
    Unknown,
}

/// How long an upstream may take to tell about a model, all questions together.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an upstream that told nothing is not asked again, in seconds.
const AFTER_SILENCE: u64 = 60;

/// What is known of all models at all upstreams.
pub struct Capabilities {
    config: CapabilityConfig,
    known: Known,
    templates: Templates,
    /// One question at a time for each upstream: whoever comes second finds the answer.
    asking: HashMap<String, Mutex<()>>,
    now: Clock,
}

impl Capabilities {
    /// Takes up what an earlier run found out about `upstreams`, where a directory is configured. A file that
    /// cannot be read is as good as none: it is logged and written anew. Templates are compared with `dialects`.
    pub fn new(
        config: &CapabilityConfig,
        upstreams: &[Arc<Upstream>],
        dialects: &Dialects,
        now: Clock,
    ) -> Capabilities {
        let known = Known::new(config.dir.as_deref(), upstreams, now());
        let asking =
            upstreams.iter().map(|upstream| (upstream.name().to_owned(), Mutex::default())).collect();
        Capabilities {
            config: config.clone(),
            known,
            templates: Templates::new(dialects.clone()),
            asking,
            now,
        }
    }

    /// What `candidate` can do. Asks its upstream where nobody knows yet; many at once ask it one time.
    pub async fn of(&self, candidate: &Candidate) -> Capability {
        if let Some(capability) = self.settled(candidate) {
            return capability;
        }
        let Some(asking) = self.asking.get(candidate.upstream.name()) else {
            return self.what_is_known(candidate);
        };
        let _turn = asking.lock().await;
        if let Some(capability) = self.settled(candidate) {
            return capability; // The one before us asked.
        }
        // Rare, and too large a future to be carried along by each request.
        Box::pin(async {
            if !self.is_told(candidate) {
                self.ask(candidate).await;
            }
            self.look_at_template(candidate).await;
        })
        .await;
        let capability = self.what_is_known(candidate);
        log(candidate, &capability);
        capability
    }

    /// Forgets what is known of `candidate` and asks anew.
    pub async fn refresh(&self, candidate: &Candidate) -> Capability {
        self.known.forget(candidate.upstream.name(), &candidate.model);
        if self.config.probe {
            self.ask(candidate).await;
            self.look_at_template(candidate).await;
        }
        self.known.save().await;
        let capability = self.what_is_known(candidate);
        log(candidate, &capability);
        capability
    }

    /// The upstream refused tools, in these words.
    pub async fn learn_no_tools(&self, candidate: &Candidate, reason: &str) {
        let learned = self.learned(reason);
        self.known.update(candidate.upstream.name(), &candidate.model, |fact| fact.no_tools = Some(learned));
        self.learnt(candidate).await;
    }

    /// The upstream refused to be constrained, in these words.
    pub async fn learn_no_constraint(&self, candidate: &Candidate, reason: &str) {
        let learned = self.learned(reason);
        self.known
            .update(candidate.upstream.name(), &candidate.model, |fact| fact.no_constraint = Some(learned));
        self.learnt(candidate).await;
    }

    async fn learnt(&self, candidate: &Candidate) {
        log(candidate, &self.what_is_known(candidate));
        self.known.save().await;
    }

    fn learned(&self, reason: &str) -> Learned {
        // Enough to recognise it; an upstream may write a page.
        let words: String = reason.chars().filter(|c| !c.is_control()).take(200).collect();
        Learned { words: words.into(), until: (self.now)() + self.config.ttl }
    }

    /// The capability, if it can be told without asking.
    fn settled(&self, candidate: &Candidate) -> Option<Capability> {
        let is_settled = self.is_told(candidate) && self.unseen_template(candidate).is_none();
        is_settled.then(|| self.what_is_known(candidate))
    }

    /// The model's template, if nobody looked at it yet.
    fn unseen_template(&self, candidate: &Candidate) -> Option<Arc<str>> {
        self.template(candidate, |source, seen| seen.is_none().then(|| Arc::clone(source)))
    }

    /// Gives `look` the text of the model's template, and what was found out about it.
    fn template<T>(
        &self,
        candidate: &Candidate,
        look: impl FnOnce(&Arc<str>, Option<Arc<ModelTemplate>>) -> Option<T>,
    ) -> Option<T> {
        let now = (self.now)();
        self.known.with(candidate.upstream.name(), &candidate.model, |fact| {
            let source = fact?.metadata(now)?.template.as_ref()?;
            look(source, self.templates.get(source))
        })
    }

    async fn look_at_template(&self, candidate: &Candidate) {
        if let Some(source) = self.unseen_template(candidate) {
            self.templates.look_at(source).await;
        }
    }

    /// Is there nobody to be asked, or was the upstream asked not long ago?
    fn is_told(&self, candidate: &Candidate) -> bool {
        let is_configured = match candidate.config.as_ref().and_then(|config| config.mode) {
            Some(Mode::Native) => true, // Nothing is constrained then.
            Some(Mode::Prompt) => candidate.upstream.config().constrain.is_some(),
            None => false,
        };
        is_configured
            || !self.config.probe
            || self.known.was_asked(candidate.upstream.name(), &candidate.model, (self.now)())
    }

    /// What is known of `candidate` without asking anyone.
    pub fn what_is_known(&self, candidate: &Candidate) -> Capability {
        let now = (self.now)();
        let template = self.template(candidate, |_, seen| seen);
        self.known.with(candidate.upstream.name(), &candidate.model, |fact| {
            let (tools, tools_source) = tools(candidate, fact, now);
            let (constrain, constrain_source) = constrain(candidate, fact, now);
            Capability { tools, tools_source, constrain, constrain_source, template }
        })
    }

    async fn ask(&self, candidate: &Candidate) {
        let Candidate { upstream, model, .. } = candidate;
        let answer = tokio::time::timeout(PATIENCE, probe::ask(upstream, model)).await;
        let now = (self.now)();
        match answer {
            Ok(Ok(result)) => {
                self.known.tell(upstream.name(), model, result, now + self.config.ttl);
                self.known.save().await;
            }
            Ok(Err(error)) => {
                tracing::warn!(upstream = upstream.name(), model, %error, "nothing is known of the model's capability");
                self.known.asked_in_vain(upstream.name(), model, now + AFTER_SILENCE);
            }
            Err(_) => {
                tracing::warn!(
                    upstream = upstream.name(),
                    model,
                    "the upstream tells of the model too slowly"
                );
                self.known.asked_in_vain(upstream.name(), model, now + AFTER_SILENCE);
            }
        }
    }
}

fn tools(candidate: &Candidate, fact: Option<&known::Fact>, now: u64) -> (bool, Source) {
    if let Some(mode) = candidate.config.as_ref().and_then(|config| config.mode) {
        return (mode == Mode::Native, Source::Configured);
    }
    // What was refused counts more than what was announced: both are the upstream's words, and announcements
    // are wrong at times.
    if let Some(learned) = fact.and_then(|fact| fact.no_tools.as_ref()).filter(|learned| now < learned.until)
    {
        return (false, Source::Learned(Arc::clone(&learned.words)));
    }
    if let Some((tools, place)) =
        fact.and_then(|fact| fact.metadata(now)).and_then(|metadata| metadata.tools.as_ref())
    {
        return (*tools, Source::Metadata(Arc::clone(place)));
    }
    match family::takes_tools(&candidate.model) {
        Some(tools) => (tools, Source::Family),
        None => (false, Source::Unknown),
    }
}

fn constrain(candidate: &Candidate, fact: Option<&known::Fact>, now: u64) -> (Constrain, Source) {
    if let Some(constrain) = candidate.upstream.config().constrain {
        return (constrain, Source::Configured);
    }
    if let Some(learned) =
        fact.and_then(|fact| fact.no_constraint.as_ref()).filter(|learned| now < learned.until)
    {
        return (Constrain::None, Source::Learned(Arc::clone(&learned.words)));
    }
    if let Some((constrain, place)) =
        fact.and_then(|fact| fact.metadata(now)).and_then(|metadata| metadata.constrain.as_ref())
    {
        return (*constrain, Source::Metadata(Arc::clone(place)));
    }
    (Constrain::None, Source::Unknown)
}

fn log(candidate: &Candidate, capability: &Capability) {
    tracing::info!(
        upstream = candidate.upstream.name(),
        model = candidate.model,
        tools = capability.tools,
        source = %capability.tools_source,
        constrain = capability.constrain.name(),
        "capability found"
    );
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Configured => write!(f, "configured"),
            Source::Metadata(place) => write!(f, "the upstream says so: {place}"),
            Source::Learned(words) => write!(f, "the upstream refused: {words}"),
            Source::Family => write!(f, "the model's family"),
            Source::Unknown => write!(f, "nothing is known"),
        }
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capabilities").field("config", &self.config).finish_non_exhaustive()
    }
}

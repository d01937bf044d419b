//! The abilities of a model at an upstream: to take tools, to be constrained.
//!
//! Sources count in this order. The configuration comes first, then experience from answers, good and bad. The upstream's own
//! description follows, then the table of hosts that are native APIs. Last comes a server that is known to refuse tools in words.
//! Without any of them, one small request tries out the models of a few open families. The table of families decides if that
//! shows nothing. Any other model takes tools until an answer shows otherwise. An upstream that refuses tools says so, and one
//! that drops them is found out (`turn/evidence.rs`). In prompt mode nothing would ever show that tools work.
//!
//! Findings hold for a while. They stay in memory and, if a directory is configured, in a file: the next run asks nothing, and
//! others can read them. A server is asked about itself once, and no answer waits for that which does not depend on it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::Mutex;

use callwright::Dialects;

use crate::api::UpstreamKind;
use crate::config::{CapabilityConfig, Constrain, Mode, NativeStrict};
use crate::strict::StrictShown;
use crate::upstream::{Candidate, Upstream};

mod experience;
mod fact;
mod known;
mod probe;
mod server;
mod hosts;
mod family;
pub(crate) mod trial;
mod refusal;
mod file;
mod template;

pub use crate::clock::{Clock, system_clock};
pub use crate::strict::Strict;
pub use experience::{Evidence, Experience, StrictHeld};
pub use fact::BoundMember;
use fact::{Fact, Metadata};
pub use file::places;
use known::Known;
pub(crate) use refusal::refused_strict;
pub use refusal::{Refusal, Refused, refusal};
use server::Server;
pub use template::ModelTemplate;
use template::Templates;

/// The abilities of a model, each with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The model takes tools natively.
    pub tools: bool,
    /// The source of that.
    pub tools_source: Source,
    /// Its calls come as text, though it has its tools natively.
    pub calls_in_text: bool,
    /// The experience that a call which is demanded natively does not come.
    pub demanded: Option<Experience>,
    /// The constraint that its answers can be held to.
    pub constrain: Constrain,
    /// The source of that.
    pub constrain_source: Source,
    /// The tools whose native calls it is asked to hold to their schemas.
    pub strict: Strict,
    /// The source of that.
    pub strict_source: Source,
    /// Tells whether its answers keep to those schemas.
    pub strict_held: StrictHeld,
    /// Its own chat template, if the upstream shows it.
    pub template: Option<Arc<ModelTemplate>>,
    /// The upstream's server, if it is known and reads calls by flags.
    pub server: Option<callwright_template::Server>,
}

/// The source of a model's ability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The configuration.
    Configured,
    /// An answer of the model or the upstream.
    Experience(Experience),
    /// The upstream's answer about the model, with the place in it.
    Metadata(Arc<str>),
    /// The upstream is a native API: the pattern that its host fits in the table of such hosts, or the API that it speaks.
    Host(&'static str),
    /// The upstream is a server that refuses tools in words if it takes none: its name.
    Server(&'static str),
    /// The table of model families.
    Family,
    /// Nobody.
    Unknown,
}

/// The knowledge about a candidate for a first answer.
pub(crate) enum AtHand {
    /// Everything that can be found out is known.
    Settled(Capability),
    /// Enough is known for an answer, while the rest is found out.
    Presumed(Capability),
    /// Too little is known: it must be found out first.
    Missing,
}

/// The longest time that an upstream may take to tell about a model, for all questions together.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time before an upstream that told nothing is asked again, in seconds.
const AFTER_SILENCE: u64 = 60;
/// The longest time that a trial may take. The first request to a server may load the model, and the client's own request would
/// have to wait for that as well.
const TRIAL_PATIENCE: Duration = Duration::from_secs(20);

/// The abilities of all models at all upstreams.
pub struct Capabilities {
    config: CapabilityConfig,
    known: Known,
    templates: Templates,
    /// One question at a time for each upstream: a second asker finds the answer.
    asking: HashMap<String, Mutex<()>>,
    /// The upstreams are being asked about themselves, before any request needs it.
    is_meeting: AtomicBool,
    now: Clock,
}

impl Capabilities {
    /// Takes up the findings of an earlier run about `upstreams`, if a directory is configured. A file that cannot be read is
    /// logged and written anew. Templates are compared with `dialects`.
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
            is_meeting: AtomicBool::new(false),
            now,
        }
    }

    /// Returns the abilities of `candidate`. Asks its upstream if nobody knows yet; many askers at once make one question.
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
        let before = self.what_is_known(candidate);
        // Rare, and too large a future to be carried along by each request.
        Box::pin(async {
            if !self.is_told(candidate) {
                self.ask(candidate).await;
            }
            self.look_at_template(candidate).await;
            if self.is_to_be_tried(candidate) {
                self.try_out(candidate).await;
            }
        })
        .await;
        let capability = self.what_is_known(candidate);
        if capability != before {
            log(candidate, &capability);
        }
        capability
    }

    /// Forgets the findings about `candidate` and asks anew.
    pub async fn refresh(&self, candidate: &Candidate) -> Capability {
        self.known.forget(candidate.upstream.name(), &candidate.model);
        if self.config.probe && tells_of_models(candidate) {
            self.ask(candidate).await;
            self.look_at_template(candidate).await;
            if self.is_to_be_tried(candidate) {
                self.try_out(candidate).await;
            }
        }
        self.known.save((self.now)()).await;
        let capability = self.what_is_known(candidate);
        log(candidate, &capability);
        capability
    }

    /// Returns the knowledge about `candidate` that needs no waiting.
    pub(crate) fn at_hand(&self, candidate: &Candidate) -> AtHand {
        if let Some(capability) = self.settled(candidate) {
            return AtHand::Settled(capability);
        }
        // A native request needs to know nothing else. Prompt mode does: how it may be constrained. A template that is there
        // is looked at, as answers are read in its dialect; that asks nobody.
        let capability = self.what_is_known(candidate);
        let is_enough = capability.tools
            && !self.is_meeting.load(Ordering::Acquire)
            && self.unseen_template(candidate).is_none();
        if is_enough { AtHand::Presumed(capability) } else { AtHand::Missing }
    }

    /// Notes that the upstreams are about to be asked about themselves. Requests wait until that is over.
    pub(crate) fn meets(&self, is_meeting: bool) {
        self.is_meeting.store(is_meeting && self.config.probe, Ordering::Release);
    }

    /// Asks an upstream about itself, if it is unknown.
    pub(crate) async fn meet(&self, upstream: &Upstream) {
        let Some(asking) = self.asking.get(upstream.name()).filter(|_| self.config.probe) else { return };
        let _turn = asking.lock().await;
        if self.known.server(upstream.name(), (self.now)()).is_some() {
            return;
        }
        // Whoever does not answer now is asked again with the first request.
        let told = tokio::time::timeout(PATIENCE, Box::pin(probe::ask(upstream, None, None))).await;
        if let Ok(Ok(result)) = told {
            self.known.tell(upstream.name(), result, (self.now)() + self.config.ttl);
            self.known.save((self.now)()).await;
        }
    }

    /// Returns whether a question to the upstream of `candidate` is under way.
    pub(crate) fn is_asking(&self, candidate: &Candidate) -> bool {
        let asking = self.asking.get(candidate.upstream.name());
        asking.is_some_and(|asking| asking.try_lock().is_err())
    }

    /// Learns from an answer whether `candidate` takes tools: by these words of the upstream, or these figures.
    pub async fn learn(&self, candidate: &Candidate, evidence: Evidence, words: &str) {
        let experience = self.experience(evidence, words);
        let Candidate { upstream, model, .. } = candidate;
        let is_old = self.known.with(upstream.name(), model, |fact| {
            let known = fact.and_then(|fact| fact.tools.as_ref());
            // What is known well is not written again with each answer.
            known.is_some_and(|known| {
                known.evidence == evidence && experience.since + self.config.ttl / 2 < known.until
            })
        });
        if is_old {
            return;
        }
        let mut is_taken = false;
        self.known.update(upstream.name(), model, |fact| is_taken = fact.learn(experience));
        if is_taken {
            self.learnt(candidate).await;
        }
    }

    /// Learns that the upstream refused to be constrained, in these words.
    pub async fn learn_no_constraint(&self, candidate: &Candidate, reason: &str) {
        let refused = self.experience(Evidence::Refused, reason);
        self.known
            .update(candidate.upstream.name(), &candidate.model, |fact| fact.no_constraint = Some(refused));
        self.learnt(candidate).await;
    }

    /// Learns that an answer had its calls as text, which its server had not read.
    pub(crate) async fn learn_calls_in_text(&self, candidate: &Candidate) {
        let Candidate { upstream, model, .. } = candidate;
        let (now, ttl) = ((self.now)(), self.config.ttl);
        let is_known = self.known.with(upstream.name(), model, |fact| {
            let called = fact.and_then(|fact| fact.tools.as_ref()).filter(|seen| now < seen.until);
            let seen = fact.map(|fact| fact.calls_in_text).unwrap_or_default();
            called.is_some_and(|seen| seen.evidence == Evidence::Called) || seen.is_known(now, ttl)
        });
        if is_known {
            return;
        }
        let mut is_habit = false;
        self.known.update(upstream.name(), model, |fact| {
            fact.calls_in_text = fact.calls_in_text.with_one(now, ttl);
            is_habit = fact.calls_in_text.is_habit(now);
        });
        if is_habit {
            self.learnt(candidate).await;
        }
    }

    /// Returns whether its calls come as text, as the server reads none of them.
    pub(crate) fn has_calls_in_text(&self, candidate: &Candidate) -> bool {
        let now = (self.now)();
        self.known.with(candidate.upstream.name(), &candidate.model, |fact| {
            fact.is_some_and(|fact| fact.calls_in_text.is_habit(now))
        })
    }

    /// Learns that a demanded call came as text alone, and that the answer went on until its tokens were spent.
    pub(crate) async fn learn_demanded(&self, candidate: &Candidate) {
        let seen = self.experience(Evidence::Ignored, "the answer has it as text, and does not end");
        let Candidate { upstream, model, .. } = candidate;
        self.known.update(upstream.name(), model, |fact| fact.demanded = Some(seen));
        self.learnt(candidate).await;
    }

    /// Learns that the upstream refused `strict`, in these words, and answered without it.
    pub(crate) async fn learn_no_strict(&self, candidate: &Candidate, reason: &str) {
        let refused = self.experience(Evidence::Refused, reason);
        let Candidate { upstream, model, .. } = candidate;
        self.known.update(upstream.name(), model, |fact| fact.no_strict = Some(refused));
        self.learnt(candidate).await;
    }

    /// Learns from an answer about `strict`. Returns whether that has to be saved.
    pub(crate) fn learn_strict(&self, candidate: &Candidate, shown: StrictShown) -> bool {
        let Candidate { upstream, model, .. } = candidate;
        let (now, ttl) = ((self.now)(), self.config.ttl);
        let seen = |fact: Option<&Fact>| fact.map(|fact| fact.strict_seen).unwrap_or_default();
        let before = self.known.with(upstream.name(), model, seen);
        if before.has(shown, now, ttl) {
            return false;
        }
        let mut after = before;
        self.known.update(upstream.name(), model, |fact| {
            fact.strict_seen = fact.strict_seen.with(shown, now, ttl);
            after = fact.strict_seen;
        });
        if after.held(now) == StrictHeld::Ignored && before.held(now) != StrictHeld::Ignored {
            let upstream = upstream.name();
            tracing::info!(upstream, model, "the upstream ignores strict: a call breaks its schema");
        }
        after.held(now) != before.held(now)
    }

    /// Writes down what was learned.
    pub(crate) async fn save(&self) {
        self.known.save((self.now)()).await;
    }

    /// Learns that the upstream refused the other member that bounds an answer's tokens, in these words.
    pub(crate) async fn learn_bound(&self, candidate: &Candidate, taken: BoundMember, reason: &str) {
        let refused = self.experience(Evidence::Refused, reason);
        self.known
            .update(candidate.upstream.name(), &candidate.model, |fact| fact.bound = Some((taken, refused)));
        self.known.save((self.now)()).await;
    }

    /// Learns that the upstream refused an answer of more tokens than these, in these words.
    pub(crate) async fn learn_most_tokens(&self, candidate: &Candidate, most: u64, reason: &str) {
        let refused = self.experience(Evidence::Refused, reason);
        self.known.update(candidate.upstream.name(), &candidate.model, |fact| {
            fact.most_tokens = Some((most, refused));
        });
        self.known.save((self.now)()).await;
    }

    /// Returns the most tokens that an answer may have, if the upstream has refused more.
    pub(crate) fn most_tokens(&self, candidate: &Candidate) -> Option<u64> {
        let now = (self.now)();
        self.known.with(candidate.upstream.name(), &candidate.model, |fact| {
            let (most, refused) = fact?.most_tokens.as_ref()?;
            (now < refused.until).then_some(*most)
        })
    }

    /// Returns the member that bounds an answer's tokens at the upstream, if it has refused the other one.
    pub(crate) fn bound(&self, candidate: &Candidate) -> Option<BoundMember> {
        let now = (self.now)();
        self.known.with(candidate.upstream.name(), &candidate.model, |fact| {
            let (taken, refused) = fact?.bound.as_ref()?;
            (now < refused.until).then_some(*taken)
        })
    }

    /// Returns whether a request of our own may find out if `candidate` gets its tools. The answer is yes once in a while, and
    /// the caller then has to ask.
    pub(crate) fn takes_trial(&self, candidate: &Candidate) -> bool {
        let now = (self.now)();
        let Candidate { upstream, model, .. } = candidate;
        let until = now + self.config.ttl;
        let mut may = false;
        if self.config.probe {
            self.known.update(upstream.name(), model, |fact| {
                may = fact.tried_until <= now;
                fact.tried_until = fact.tried_until.max(if may { until } else { 0 });
            });
        }
        may
    }

    async fn learnt(&self, candidate: &Candidate) {
        log(candidate, &self.what_is_known(candidate));
        self.known.save((self.now)()).await;
    }

    fn experience(&self, evidence: Evidence, words: &str) -> Experience {
        // Enough to recognise it; an upstream may write a page.
        let words: String = words.chars().filter(|c| !c.is_control()).take(200).collect();
        let since = (self.now)();
        Experience { evidence, words: words.into(), since, until: since + self.config.ttl }
    }

    /// Returns the capability, if it can be told without asking.
    fn settled(&self, candidate: &Candidate) -> Option<Capability> {
        let is_settled = self.is_told(candidate)
            && self.unseen_template(candidate).is_none()
            && !self.is_to_be_tried(candidate);
        is_settled.then(|| self.what_is_known(candidate))
    }

    /// Returns the model's template, if nobody looked at it yet.
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
        self.known.with_metadata(candidate.upstream.name(), &candidate.model, now, |_, metadata| {
            let source = metadata?.template.as_ref()?;
            look(source, self.templates.get(source))
        })
    }

    async fn look_at_template(&self, candidate: &Candidate) {
        if let Some(source) = self.unseen_template(candidate) {
            self.templates.look_at(source).await;
        }
    }

    /// Returns whether a question would bring nothing: nobody can be asked, or the upstream was asked not long ago.
    fn is_told(&self, candidate: &Candidate) -> bool {
        let is_configured = match candidate.config.as_ref().and_then(|config| config.mode) {
            Some(Mode::Native) => true, // Nothing is constrained then.
            Some(Mode::Prompt) => candidate.upstream.config().constrain.is_some(),
            None => false,
        };
        is_configured
            || !tells_of_models(candidate)
            || !self.config.probe
            || self.known.was_asked(candidate.upstream.name(), &candidate.model, (self.now)())
    }

    /// Returns the abilities of `candidate` without asking anyone.
    pub fn what_is_known(&self, candidate: &Candidate) -> Capability {
        let now = (self.now)();
        let template = self.template(candidate, |_, seen| seen);
        let server = self.server(candidate);
        self.known.with_metadata(candidate.upstream.name(), &candidate.model, now, |fact, metadata| {
            let known = Seen { fact, metadata, server, now };
            let (tools, tools_source) = tools(candidate, known);
            let calls_in_text = fact.is_some_and(|fact| fact.calls_in_text.is_habit(now));
            let demanded = fact.and_then(|fact| fact.demanded.clone()).filter(|seen| now < seen.until);
            let (constrain, constrain_source) = constrain(candidate, known);
            let (strict, strict_source) = strict(candidate, known);
            let strict_held = fact.map(|fact| fact.strict_seen.held(now)).unwrap_or_default();
            Capability {
                tools,
                tools_source,
                calls_in_text,
                demanded,
                constrain,
                constrain_source,
                strict,
                strict_source,
                strict_held,
                template,
                server: server.and_then(Server::by_flags),
            }
        })
    }

    /// Returns whether no source says that the model takes tools, and its family does not tell either.
    fn is_to_be_tried(&self, candidate: &Candidate) -> bool {
        let now = (self.now)();
        let Candidate { upstream, model, .. } = candidate;
        let is_open = || {
            let capability = self.what_is_known(candidate);
            !capability.tools && capability.tools_source == Source::Family
        };
        // One that could not be asked what it is would not answer this either.
        self.config.probe
            && self.known.server(upstream.name(), now).is_some()
            && self.known.with(upstream.name(), model, |fact| fact.is_none_or(|fact| fact.tried_until <= now))
            && is_open()
    }

    /// Returns whether its upstream is known as an Ollama.
    pub(crate) fn is_ollama(&self, candidate: &Candidate) -> bool {
        self.server(candidate) == Some(Server::Ollama)
    }

    /// Returns the server of its upstream, if that is configured or known.
    fn server(&self, candidate: &Candidate) -> Option<Server> {
        match candidate.kind {
            UpstreamKind::Ollama => Some(Server::Ollama),
            UpstreamKind::Chat | UpstreamKind::Messages | UpstreamKind::Responses => {
                self.known.server(candidate.upstream.name(), (self.now)())
            }
        }
    }

    async fn try_out(&self, candidate: &Candidate) {
        let Candidate { upstream, model, .. } = candidate;
        let bound = self.bound(candidate).unwrap_or(BoundMember::MaxTokens);
        let asked = async {
            let question = trial::question(model, bound);
            let answer = upstream.post("/chat/completions", question, &HeaderMap::new()).await.ok()?;
            let (status, body) = (answer.status, answer.body.whole(trial::LONGEST).await.ok()?);
            trial::shown(status, &upstream.without_secrets(body))
        };
        let shown = tokio::time::timeout(TRIAL_PATIENCE, asked).await.ok().flatten();
        let hold = if shown.is_some() { self.config.ttl } else { self.config.ttl.min(AFTER_SILENCE) };
        let until = (self.now)() + hold;
        self.known.update(upstream.name(), model, |fact| fact.tried_until = until);
        if let Some((evidence, words)) = shown {
            self.learn(candidate, evidence, &words).await;
        }
    }

    async fn ask(&self, candidate: &Candidate) {
        let Candidate { upstream, model, .. } = candidate;
        let server = self.server(candidate);
        let answer = tokio::time::timeout(PATIENCE, probe::ask(upstream, Some(model), server)).await;
        let now = (self.now)();
        match answer {
            Ok(Ok(result)) => {
                self.known.tell(upstream.name(), result, now + self.config.ttl);
                self.known.save((self.now)()).await;
            }
            Ok(Err(error)) => {
                // Where it answers no request either, that is a warning of its own.
                tracing::debug!(upstream = upstream.name(), model, %error, "the upstream tells nothing of the model");
                self.known.asked_in_vain(upstream.name(), model, now + AFTER_SILENCE);
            }
            Err(_) => {
                tracing::debug!(
                    upstream = upstream.name(),
                    model,
                    "the upstream tells of the model too slowly"
                );
                self.known.asked_in_vain(upstream.name(), model, now + AFTER_SILENCE);
            }
        }
    }
}

/// Returns whether servers of its API differ in their abilities, so that some of them tell. In other APIs tools are a part of the
/// API, not an extension that a server may lack.
fn tells_of_models(candidate: &Candidate) -> bool {
    match candidate.kind {
        UpstreamKind::Chat | UpstreamKind::Ollama => true,
        UpstreamKind::Messages | UpstreamKind::Responses => false,
    }
}

/// The present knowledge about a model.
#[derive(Clone, Copy)]
struct Seen<'a> {
    fact: Option<&'a Fact>,
    metadata: Option<&'a Metadata>,
    server: Option<Server>,
    now: u64,
}

fn tools(candidate: &Candidate, known: Seen<'_>) -> (bool, Source) {
    let Seen { fact, metadata, server, now } = known;
    if let Some(mode) = candidate.config.as_ref().and_then(|config| config.mode) {
        return (mode == Mode::Native, Source::Configured);
    }
    // Announcements are wrong at times.
    if let Some(seen) = fact.and_then(|fact| fact.tools.as_ref()).filter(|seen| now < seen.until) {
        return (seen.evidence.takes_tools(), Source::Experience(seen.clone()));
    }
    if let Some((tools, place)) = metadata.and_then(|metadata| metadata.tools.as_ref()) {
        return (*tools, Source::Metadata(Arc::clone(place)));
    }
    if let Some(pattern) = hosts::native(candidate.upstream.host()) {
        return (true, Source::Host(pattern));
    }
    if !tells_of_models(candidate) {
        return (true, Source::Host(candidate.kind.name()));
    }
    if let Some(name) = server.and_then(Server::refuses_in_words) {
        return (true, Source::Server(name));
    }
    match family::takes_tools(&candidate.model) {
        Some(tools) => (tools, Source::Family),
        None => (true, Source::Unknown),
    }
}

fn constrain(candidate: &Candidate, known: Seen<'_>) -> (Constrain, Source) {
    let Seen { fact, metadata, server, now } = known;
    if let Some(constrain) = candidate.upstream.config().constrain {
        return (constrain, Source::Configured);
    }
    if let Some(refused) = fact.and_then(|fact| fact.no_constraint.as_ref()).filter(|seen| now < seen.until) {
        return (Constrain::None, Source::Experience(refused.clone()));
    }
    if let Some((constrain, place)) = metadata.and_then(|metadata| metadata.constrain.as_ref()) {
        return (*constrain, Source::Metadata(Arc::clone(place)));
    }
    match server.and_then(Server::constrain) {
        Some((constrain, name)) => (constrain, Source::Metadata(name.into())),
        None => (Constrain::None, Source::Unknown),
    }
}

fn strict(candidate: &Candidate, known: Seen<'_>) -> (Strict, Source) {
    let Seen { fact, server, now, .. } = known;
    let set = candidate.native_strict();
    if set == NativeStrict::Never {
        return (Strict::None, Source::Configured);
    }
    // Whoever wants it always wants an answer first.
    if let Some(refused) = fact.and_then(|fact| fact.no_strict.as_ref()).filter(|seen| now < seen.until) {
        return (Strict::None, Source::Experience(refused.clone()));
    }
    if set == NativeStrict::Always {
        return (Strict::All, Source::Configured);
    }
    if let Some(pattern) = hosts::takes_strict(candidate.upstream.host()) {
        return (Strict::Fitting, Source::Host(pattern));
    }
    match server.and_then(Server::takes_strict) {
        Some(name) => (Strict::All, Source::Metadata(name.into())),
        None => (Strict::None, Source::Unknown),
    }
}

fn log(candidate: &Candidate, capability: &Capability) {
    if (&capability.tools_source, &capability.constrain_source) == (&Source::Unknown, &Source::Unknown) {
        return;
    }
    tracing::info!(
        upstream = candidate.upstream.name(),
        model = candidate.model,
        tools = capability.tools,
        source = %capability.tools_source,
        constrain = capability.constrain.name(),
        strict = capability.strict.name(),
        "capability found"
    );
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Configured => write!(f, "configured"),
            Source::Metadata(place) => write!(f, "the upstream says so: {place}"),
            Source::Experience(seen) => seen.fmt(f),
            Source::Host(pattern) => write!(f, "{pattern} is a native API"),
            Source::Server(name) => write!(f, "{name} refuses what it cannot do"),
            Source::Family => write!(f, "the model's family"),
            Source::Unknown => write!(f, "nothing is known yet"),
        }
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capabilities").field("config", &self.config).finish_non_exhaustive()
    }
}

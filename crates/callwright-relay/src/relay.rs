//! The relay itself: what all requests share.

use std::sync::Arc;

use bytes::Bytes;
use callwright::ToolSet;
use callwright_json::{Kind, Value, quote};
use http::{HeaderMap, header};

use crate::api::UpstreamKind;
use crate::capability::{Capabilities, system_clock};
use crate::config::{Mode, RelayConfig};
use crate::notes::Notes;
use crate::proof::Proofs;
use crate::readers::Readers;
use crate::record::Observer;
use crate::repeats::{Loop, loop_in};
use crate::surface::responses::kept::KeptResponses;
use crate::target::Target;
use crate::tool_sets::ToolSets;
use crate::upstream::{ConfigError, ResponseBody, Upstream, Upstreams};
use crate::wire::{Change, Document, WireError, rewritten};

/// Carries requests to upstreams and right calls back. Shared by all requests.
pub struct Relay {
    pub(crate) config: RelayConfig,
    pub(crate) upstreams: Upstreams,
    pub(crate) capabilities: Capabilities,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) notes: Notes,
    pub(crate) proofs: Proofs,
    pub(crate) tool_sets: ToolSets,
    pub(crate) readers: Arc<Readers>,
    pub(crate) responses: Arc<KeptResponses>,
}

/// A document of this size is parsed in a fraction of a millisecond.
pub(crate) const SMALL: usize = 128 << 10;

impl Relay {
    /// Makes a relay for this configuration; `env` looks up environment variables.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn new(
        config: RelayConfig,
        env: &dyn Fn(&str) -> Option<String>,
        observer: Arc<dyn Observer>,
    ) -> Result<Arc<Relay>, ConfigError> {
        let upstreams = Upstreams::new(&config, env)?;
        let capabilities =
            Capabilities::new(&config.capability, upstreams.all(), &config.dialects, system_clock());
        let tool_sets = ToolSets::new(config.limits.compiled_tools);
        let notes = Notes::new(config.notes);
        Ok(Arc::new(Relay {
            config,
            upstreams,
            capabilities,
            observer,
            notes,
            proofs: Proofs::default(),
            tool_sets,
            readers: Arc::default(),
            responses: Arc::default(),
        }))
    }

    /// Returns the configuration.
    pub fn config(&self) -> &RelayConfig {
        &self.config
    }

    /// Returns the upstreams.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// Returns the knowledge about models.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Asks all upstreams at once about themselves, as long as the future is polled. A server calls it before it takes requests,
    /// so that none of them has to wait, or is asked in the wrong way. Requests that come before its end wait for it.
    pub fn meet_upstreams(self: &Arc<Relay>) -> impl Future<Output = ()> + Send + use<> {
        let relay = Arc::clone(self);
        // Where all models are configured to have native calls, nothing has to be known.
        let all = relay.upstreams.configured("").and_then(|set| set.mode);
        let speaks_chat = |upstream: &&Arc<Upstream>| upstream.kind() == UpstreamKind::Chat;
        let to_meet = if all == Some(Mode::Native) { &[] } else { relay.upstreams.all() };
        let to_meet: Vec<_> = to_meet.iter().filter(speaks_chat).cloned().collect();
        relay.capabilities.meets(!to_meet.is_empty());
        async move {
            let mut meetings = tokio::task::JoinSet::new();
            for upstream in to_meet {
                let relay = Arc::clone(&relay);
                meetings.spawn(async move { relay.capabilities.meet(&upstream).await });
            }
            while meetings.join_next().await.is_some() {}
            relay.capabilities.meets(false);
        }
    }

    /// Returns the loop that a chat ends in, if models are told of loops.
    pub(crate) fn looped<'d>(
        &self,
        messages: impl Iterator<Item = Value<'d>>,
        tool_set: &ToolSet,
    ) -> Option<Loop> {
        let most = self.config.loop_guard;
        (0 < most).then(|| loop_in(messages, tool_set, most))?
    }

    pub(crate) async fn document_of(&self, body: Bytes) -> Result<Document, WireError> {
        let document = self.readers.run(body.len() <= SMALL, |_| Document::parse(body)).await;
        let document = document.map_err(|message| WireError::bad_request(None, "invalid_json", message))?;
        Ok(self.with_model(document))
    }

    /// Gives a request without a model the default one.
    fn with_model(&self, document: Document) -> Document {
        let Some(default) = &self.config.default_model else { return document };
        let root = document.root();
        if root.kind() != Kind::Object || root.get("model").is_some_and(|model| model.kind() != Kind::Null) {
            return document;
        }
        let text = rewritten(root, &[("model", Change::Set(quote(default)))]);
        Document::of(text).unwrap_or(document)
    }

    /// Receives the whole answer of `target` with these headers.
    pub(crate) async fn whole_answer(
        &self,
        body: ResponseBody,
        headers: &HeaderMap,
        target: &Target,
    ) -> Result<Document, Unread> {
        let body = body.whole(self.config.limits.answer).await.map_err(|error| Unread {
            why: error.to_string(),
            is_broken_off: error.failure.is_broken_off(),
        })?;
        let body = target.candidate.upstream.without_secrets(body);
        let kind = headers.get(header::CONTENT_TYPE).cloned();
        let is_small = body.len() <= SMALL;
        let read = self.readers.run(is_small, move |_| Document::of_answer(body, kind.as_ref())).await;
        let unread = |why| format!("the upstream's answer cannot be read: {why}");
        read.map_err(|why| Unread { why: unread(why), is_broken_off: false })
    }
}

/// The reason for which an answer cannot be read.
pub(crate) struct Unread {
    /// The reason, in a sentence.
    pub(crate) why: String,
    pub(crate) is_broken_off: bool,
}

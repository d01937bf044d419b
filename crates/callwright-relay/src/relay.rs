//! The door: a chat request goes in, the answer comes out.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use callwright::{Policy, ToolChoice, ToolSet, Verdict, json};
use callwright_json::{Kind, Value, quote};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use crate::api::{Surface, UpstreamKind};
use crate::capability::{Capabilities, system_clock};
use crate::config::{Mode, RelayConfig};
use crate::deliver;
use crate::ladder::Ladder;
use crate::lane;
use crate::log::{Log, tool_results};
use crate::notes::Notes;
use crate::owner::Owner;
use crate::proof::Proofs;
use crate::question::Question;
use crate::readers::Readers;
use crate::record::{AttemptReason, Observer, TurnEnd};
use crate::repeats::{Loop, loop_in};
use crate::reply::{Reply, ReplyBody};
use crate::surface::responses::kept::KeptResponses;
use crate::surface::{Beside, Door, GeminiAsk, Translated, error_body};
use crate::tokens::estimated_tokens;
use crate::tool_sets::ToolSets;
use crate::turn::{Asked, Target, Turn};
use crate::upstream::{Candidate, ConfigError, Response, ResponseBody, Secrets, Tail, Upstream, Upstreams};
use crate::wire::{Ask, Change, Document, WireError, rewritten, string_of};

/// Names the request in its answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-callwright-request");

/// Says whether arguments go out while they are written: `1` or `0`.
const STREAM_ARGUMENTS: &str = "x-callwright-stream-arguments";

/// What the client says of it.
pub(crate) fn stream_arguments(headers: &HeaderMap) -> Result<Option<bool>, WireError> {
    match headers.get(STREAM_ARGUMENTS).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"1") => Ok(Some(true)),
        Some(b"0") => Ok(Some(false)),
        Some(_) => {
            let message = format!("{STREAM_ARGUMENTS} must be 1 or 0");
            Err(WireError::bad_request(Some(STREAM_ARGUMENTS), "invalid_header", message))
        }
    }
}

/// Names the tools whose calls are not held against all of their definition.
pub(crate) const UNCHECKED: HeaderName = HeaderName::from_static("x-callwright-unchecked");

/// Says how many of the tools the model was shown, where they do not all fit: `20/400`.
const SHOWN: HeaderName = HeaderName::from_static("x-callwright-tools");

/// Names the tools that the model was not told of: nobody here runs them.
const DROPPED: HeaderName = HeaderName::from_static("x-callwright-dropped-tools");

/// Says how many items of a conversation the model was not told of.
const DROPPED_ITEMS: HeaderName = HeaderName::from_static("x-callwright-dropped-items");

/// Tells clients whether the same request may do better later.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Says that tokens were not counted.
const ESTIMATE: HeaderName = HeaderName::from_static("x-callwright-estimate");

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

/// The names of the tools that cannot be checked whole, as a header has them; none where there are none.
pub(crate) fn unchecked(tool_set: &ToolSet) -> Option<HeaderValue> {
    names(tool_set.unchecked().map(|(name, _)| name))
}

/// The names of the tools with a call among `verdicts` that was not checked whole.
pub(crate) fn unchecked_calls<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Option<HeaderValue> {
    names(verdicts.filter_map(|verdict| match verdict {
        Verdict::Accepted(call) if call.unchecked => Some(&*call.name),
        Verdict::Accepted(_) | Verdict::Refused(_) => None,
    }))
}

/// Names as a header has them; none where there are none.
fn names<'n>(names: impl Iterator<Item = &'n str>) -> Option<HeaderValue> {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    // A header holds some KiB at most; who needs all of them asks `lint`.
    names.truncate(MAX_NAMES);
    let is_plain = |c: char| if c.is_ascii_graphic() && c != ',' { c } else { '?' };
    let names: String = names.join(",").chars().map(|c| if c == ',' { c } else { is_plain(c) }).collect();
    HeaderValue::from_str(&names).ok().filter(|_| !names.is_empty())
}

/// A document of so many bytes is parsed in a fraction of a millisecond.
pub(crate) const SMALL: usize = 128 << 10;

/// So many tools are named in a header at most.
const MAX_NAMES: usize = 64;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// Names the request in the log and in the answer.
    pub id: String,
    /// The JSON body.
    pub body: Bytes,
    /// The policy, where it does not stand in the body.
    pub policy: Option<Policy>,
    /// Should the answer say what was done, in a member `callwright`?
    pub wants_report: bool,
    /// The client's headers; only what concerns the request itself goes on.
    pub headers: HeaderMap,
    /// Whose it is.
    pub owner: Owner,
    /// The API that it is a request of.
    pub surface: Surface,
    /// The model and the form that its path names, for a request of Gemini's.
    pub gemini: Option<GeminiAsk>,
}

impl Relay {
    /// A relay for this configuration; `env` looks up environment variables.
    ///
    /// # Errors
    /// What in the configuration cannot be used.
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

    /// The configuration.
    pub fn config(&self) -> &RelayConfig {
        &self.config
    }

    /// The upstreams.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// What is known of models.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Asks all upstreams at once what they are, as long as `meeting` is polled: for a server that is about to take
    /// requests, so that none of them has to wait for that, or is asked in a way that does not fit. Requests that come
    /// before `meeting` ends wait for it.
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

    /// Answers a request to a model, in the form of its API. Whatever goes wrong is an answer too.
    pub async fn chat(self: &Arc<Relay>, request: Request) -> Reply {
        self.chat_for(request, Errand { observer: Arc::clone(&self.observer), ladder: None }).await
    }

    /// Answers a request that another one makes, within the bounds that this leaves.
    pub(crate) fn chat_within(
        self: Arc<Relay>,
        request: Request,
        errand: Errand,
    ) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(async move { self.chat_for(request, errand).await })
    }

    /// The loop that a chat ends in, where models are told of that.
    pub(crate) fn looped<'d>(
        &self,
        messages: impl Iterator<Item = Value<'d>>,
        tool_set: &ToolSet,
    ) -> Option<Loop> {
        let most = self.config.loop_guard;
        (0 < most).then(|| loop_in(messages, tool_set, most))?
    }

    async fn chat_for(self: &Arc<Relay>, request: Request, errand: Errand) -> Reply {
        // The lane's future is larger than all the others, and no chat takes it.
        if request.surface.has_lane()
            && let Some(reply) = Box::pin(lane::answer(self, &request, &errand)).await
        {
            return reply;
        }
        if request.surface == Surface::Ollama
            && let Some(reply) = Box::pin(self.loaded(request.body.clone(), &request.headers)).await
        {
            return reply;
        }
        let (surface, id) = (request.surface, request.id.clone());
        let mut reply = self.answer(request, errand).await;
        if reply.status.is_client_error() || reply.status.is_server_error() {
            reply = reply.error_of(surface, &id);
        }
        reply
    }

    /// About how many tokens the prompt of a request has.
    pub async fn count_tokens(self: &Arc<Relay>, request: Request) -> Reply {
        if let Some(reply) = lane::counted(self, &request).await {
            return reply;
        }
        let (surface, id) = (request.surface, request.id.clone());
        let Request { body, headers, owner, gemini, .. } = request;
        let beside = Beside { headers: &headers, owner: &owner, gemini: gemini.as_ref() };
        let translated = match self.document_of(body).await {
            Ok(document) => Translated::of(surface, document, beside, &self.responses),
            Err(error) => Err(error),
        };
        match translated {
            Ok(translated) => {
                let n = estimated_tokens(translated.document.text());
                let told = match surface {
                    Surface::Responses => {
                        format!("{{\"object\":\"response.input_tokens\",\"input_tokens\":{n}}}")
                    }
                    Surface::Gemini => format!("{{\"totalTokens\":{n}}}"),
                    Surface::Chat | Surface::Messages | Surface::Ollama => {
                        format!("{{\"input_tokens\":{n}}}")
                    }
                };
                let mut reply = Reply::json(StatusCode::OK, told);
                reply.headers.insert(ESTIMATE, HeaderValue::from_static("1"));
                reply
            }
            Err(error) => Reply::error(&error).error_of(surface, &id),
        }
    }

    async fn answer(self: &Arc<Relay>, request: Request, errand: Errand) -> Reply {
        let surface = request.surface;
        let own = surface.has_lane().then(|| request.clone());
        let mut log = Log::new(&request, errand.observer);
        let checked = match self.checked(request).await {
            Ok(checked) => checked,
            Err(error) => {
                log.came_by(surface, None);
                log.fault(&error.message);
                log.end(TurnEnd::Rejected, error.status.as_u16());
                return with_id(Reply::error(&error), log.id());
            }
        };
        let CheckedRequest { asked, door, left_out, session } = checked;
        log.came_by(surface, session);
        tool_results(log.id(), &asked.ask);
        let ladder = errand.ladder.unwrap_or_else(|| Ladder::new(asked.policy, &self.config.ladder));
        let mut turn = Box::new(Turn::new(self, asked, log, ladder).await);
        let notices = left_out.notices(&turn);
        let mut question = Question::first(&turn.ask);
        question.more.extend(self.notes.for_request(&turn.ask));
        if let Some(found) = self.looped(turn.ask.messages(), &turn.tool_set) {
            turn.log.looped(found.times);
            question.more.push(json!({"role": "user", "content": found.sentence}).to_string());
        }
        let mut reply = match turn.open(&question, AttemptReason::First).await {
            Ok(open_answer) => deliver::reply(turn, open_answer, door).await,
            Err(failed) => match own.filter(|_| failed.is_unknown_path()) {
                Some(own) => {
                    let Turn { log, ladder, .. } = *turn;
                    Box::pin(lane::instead(self, &own, (log, ladder), failed)).await
                }
                None => failed.reply(&mut turn.log),
            },
        };
        for (name, value) in notices {
            // What is said of single calls stands there already, and headers of one name are one list.
            match name == UNCHECKED {
                true => drop(reply.headers.append(name, value)),
                false => drop(reply.headers.insert(name, value)),
            }
        }
        reply
    }

    /// Passes another request on as it is: `GET /models`, `POST /embeddings`. `path` is what follows the base URL.
    pub async fn pass(
        self: &Arc<Relay>,
        method: Method,
        path: &str,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Reply {
        let route = self.upstreams.route(&self.model_in(&body).await);
        // What belongs to an API is for whoever speaks it.
        let kind = [Surface::Messages, Surface::Responses].into_iter().find(|it| path.starts_with(it.path()));
        let speaks = |candidate: &Candidate| kind.is_none_or(|kind| candidate.kind == kind.into());
        let at = route.candidates.iter().position(speaks).unwrap_or_default();
        let Some(candidate) = route.candidates.into_iter().nth(at) else {
            let message = String::from("no upstream serves this request");
            return Reply::error(&WireError::bad_request(Some("model"), "model_not_found", message));
        };
        match candidate.upstream.pass(method, path, body, headers).await {
            Ok(response) => passed(response, Arc::clone(candidate.upstream.secrets())),
            Err(error) => Reply::error(&WireError::upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_unavailable",
                error.to_string(),
            )),
        }
    }

    /// The model that a body names; empty where it names none.
    pub(crate) async fn model_in(&self, body: &Bytes) -> String {
        let asked = body.clone();
        let document = self.readers.run(asked.len() <= SMALL, |_| Document::parse(asked)).await;
        let named = document
            .ok()
            .and_then(|document| string_of(document.root(), "model").map(|model| model.into_owned()));
        named.unwrap_or_default()
    }

    pub(crate) async fn checked(&self, request: Request) -> Result<CheckedRequest, WireError> {
        let limit = self.config.limits.body;
        if limit < request.body.len() {
            return Err(WireError {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                message: format!("the body is longer than {limit} bytes"),
                kind: "invalid_request_error",
                param: None,
                code: "body_too_large",
            });
        }
        let document = self.document_of(request.body).await?;
        let gemini = request.gemini.as_ref();
        let beside = Beside { headers: &request.headers, owner: &request.owner, gemini };
        let translated = Translated::of(request.surface, document, beside, &self.responses)?;
        let Translated { document, door, dropped, dropped_items, allowed, bare_inputs, session } = translated;
        let mut ask = Ask::of(document)?;
        if let Some((names, required)) = allowed {
            ask.choice = ToolChoice::Allowed { names, required };
        }
        ask.bare_inputs = bare_inputs;
        ask.is_translated = request.surface != Surface::Chat;
        ask.wants_report |= request.wants_report;
        if request.surface != Surface::Chat {
            ask.take_ids();
        }
        let tool_set = match ask.tools() {
            Some(tools) => self.tool_sets.of(tools).await?,
            None => Arc::new(ToolSet::empty()),
        };
        ask.check_choice(&tool_set)?;
        let set = self.upstreams.configured(&ask.model).and_then(|set| set.policy);
        let policy = request.policy.or(ask.policy).or(set).unwrap_or(self.config.policy);
        let stream_arguments = stream_arguments(&request.headers)?;
        let headers = request.headers;
        Ok(CheckedRequest {
            asked: Asked { ask, tool_set, policy, stream_arguments, headers },
            door,
            left_out: LeftOut { tools: dropped, items: dropped_items },
            session,
        })
    }

    pub(crate) async fn document_of(&self, body: Bytes) -> Result<Document, WireError> {
        let document = self.readers.run(body.len() <= SMALL, |_| Document::parse(body)).await;
        let document = document.map_err(|message| WireError::bad_request(None, "invalid_json", message))?;
        Ok(self.with_model(document))
    }
}

impl Relay {
    /// A request that names no model is for the default one.
    fn with_model(&self, document: Document) -> Document {
        let Some(default) = &self.config.default_model else { return document };
        let root = document.root();
        if root.kind() != Kind::Object || root.get("model").is_some_and(|model| model.kind() != Kind::Null) {
            return document;
        }
        let text = rewritten(root, &[("model", Change::Set(quote(default)))]);
        Document::of(text).unwrap_or(document)
    }
}

/// Whom a request is told to when it has ended, and what is left of the bounds where another request makes it.
pub(crate) struct Errand {
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) ladder: Option<Ladder>,
}

/// A request that can be used, with what it comes to.
pub(crate) struct CheckedRequest {
    pub(crate) asked: Asked,
    /// How the answer is said.
    door: Door,
    left_out: LeftOut,
    session: Option<String>,
}

/// What of a request the model is not told.
struct LeftOut {
    tools: Vec<String>,
    /// How many items of the conversation.
    items: usize,
}

impl LeftOut {
    /// The headers that tell it to the client, with those about the request's tools and its id.
    fn notices(&self, turn: &Turn) -> Vec<(HeaderName, HeaderValue)> {
        let shown = turn.search.as_ref().map(|search| search.share(turn.tool_set.len()));
        let headers = [
            (UNCHECKED, unchecked(&turn.tool_set)),
            (SHOWN, shown.and_then(|shown| HeaderValue::try_from(shown).ok())),
            (DROPPED, names(self.tools.iter().map(String::as_str))),
            (DROPPED_ITEMS, (0 < self.items).then(|| HeaderValue::from(self.items))),
            (REQUEST_ID, HeaderValue::from_str(turn.log.id()).ok()),
        ];
        headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Why an answer cannot be read.
pub(crate) struct Unread {
    /// The reason, in a sentence.
    pub(crate) why: String,
    pub(crate) is_broken_off: bool,
}

impl Relay {
    /// The whole answer of `target` with these headers.
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

impl Reply {
    /// An error as this API has it.
    pub(crate) fn error_of(mut self, surface: Surface, request: &str) -> Reply {
        let Some(body) = self.body.take_whole() else { return self };
        match error_body(surface, self.status, &body, request) {
            Some((status, text)) => {
                // What does not fit does not fit next time either.
                if status == StatusCode::BAD_REQUEST {
                    self.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
                }
                self.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                if let Ok(id) = HeaderValue::from_str(request) {
                    self.headers.insert(HeaderName::from_static("request-id"), id);
                }
                Reply { status, headers: self.headers, body: ReplyBody::whole(Bytes::from(text)) }
            }
            None => Reply { body: ReplyBody::whole(body), ..self },
        }
    }
}

fn with_id(mut reply: Reply, id: &str) -> Reply {
    if let Ok(id) = HeaderValue::from_str(id) {
        reply.headers.insert(REQUEST_ID, id);
    }
    reply
}

/// An answer that goes on piece by piece, as it is.
pub(crate) fn passed(response: Response, secrets: Arc<Secrets>) -> Reply {
    let Response { status, headers, mut body } = response;
    let sender = crate::reply::BodySender::default();
    let to = sender.clone();
    let work = async move {
        let mut tail = Tail::default();
        while let Some(piece) = body.next().await {
            let Ok(piece) = piece else { return to.breaks() };
            let hidden = if secrets.is_empty() { None } else { tail.push(&secrets, &piece) };
            to.write(hidden.as_deref().unwrap_or(&piece));
            to.room().await;
        }
        to.write(&tail.rest(&secrets));
    };
    Reply { status, headers, body: ReplyBody::running(sender, work) }
}

//! Answers requests to models: a chat request goes in, the answer comes out.

use std::pin::Pin;
use std::sync::Arc;

use callwright::{ToolChoice, ToolSet, json};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::api::Surface;
use crate::deliver;
use crate::headers::{
    DROPPED, DROPPED_ITEMS, ESTIMATE, REQUEST_ID, SHOWN, UNCHECKED, names, stream_arguments, unchecked,
};
use crate::ladder::Ladder;
use crate::lane;
use crate::log::{Log, tool_results};
use crate::question::Question;
use crate::record::{AttemptReason, TurnEnd};
use crate::relay::Relay;
use crate::reply::Reply;
use crate::request::{Errand, Request};
use crate::surface::{Beside, Door, Translated};
use crate::tokens::estimated_tokens;
use crate::turn::{Asked, Turn};
use crate::wire::{Ask, WireError};

impl Relay {
    /// Answers a request to a model, in the form of its API. A failure is an answer too.
    pub async fn chat(self: &Arc<Relay>, request: Request) -> Reply {
        self.chat_for(request, Errand { observer: Arc::clone(&self.observer), ladder: None }).await
    }

    /// Answers a request that another one makes, within the bounds that the other one has left.
    pub(crate) fn chat_within(
        self: Arc<Relay>,
        request: Request,
        errand: Errand,
    ) -> Pin<Box<dyn Future<Output = Reply> + Send>> {
        Box::pin(async move { self.chat_for(request, errand).await })
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

    /// Estimates the number of tokens in the prompt of a request.
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
            ask.calls.choice = ToolChoice::Allowed { names, required };
        }
        ask.calls.bare_inputs = bare_inputs;
        ask.is_translated = request.surface != Surface::Chat;
        ask.answer.report |= request.wants_report;
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
}

/// A request that can be used, and its parts.
pub(crate) struct CheckedRequest {
    pub(crate) asked: Asked,
    /// The door through which the answer goes.
    door: Door,
    left_out: LeftOut,
    session: Option<String>,
}

/// The parts of a request that the model is not told.
struct LeftOut {
    tools: Vec<String>,
    /// The number of items of the conversation.
    items: usize,
}

impl LeftOut {
    /// Returns the headers that tell it to the client, with those about the request's tools and its id.
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

fn with_id(mut reply: Reply, id: &str) -> Reply {
    if let Ok(id) = HeaderValue::from_str(id) {
        reply.headers.insert(REQUEST_ID, id);
    }
    reply
}

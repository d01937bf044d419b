//! Asks an upstream about the abilities of a model. It reads descriptions only; no model runs, nothing is changed.
//!
//! `GET /models` comes first, as all servers have it. Some tell the abilities there. The others at least show their kind, and
//! with it the place to ask next. A server that is not recognised is asked in all known ways.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use http::StatusCode;
use serde::Deserialize;

use super::fact::{Metadata, ProbeResult};
use super::server::Server;
use super::template::LONGEST as LONGEST_TEMPLATE;
use crate::config::Constrain;
use crate::upstream::{Response, Upstream, UpstreamError};

/// The longest description that is read, in bytes: lists of all models of an aggregator take a megabyte.
const LONGEST: usize = 16 << 20;

/// The reasons for which an upstream told nothing.
#[derive(Debug)]
pub(super) enum Silence {
    Upstream(UpstreamError),
    Status(StatusCode),
}

/// Asks `upstream` about `model`, or about the first model that it lists. A known `server` that describes each model by its name
/// is asked only for that.
///
/// # Errors
/// The upstream could not be asked: to ask again later may help.
pub(super) async fn ask(
    upstream: &Upstream,
    model: Option<&str>,
    server: Option<Server>,
) -> Result<ProbeResult, Silence> {
    match (server, model) {
        (Some(server @ Server::LlamaCpp), Some(model)) => {
            return Ok(of_model(model, props(upstream, model).await?, server, false));
        }
        (Some(server @ Server::Ollama), Some(model)) => {
            return Ok(of_model(model, show(upstream, model).await?, server, false));
        }
        _ => {}
    }
    let listing = json(upstream.get("/models").await).await?;
    let listing =
        listing.and_then(|listing| serde_json::from_slice::<ModelList>(&listing).ok()).unwrap_or_default();
    let first = listing.data.first();
    let model = model.or_else(|| first?.id.as_str()).unwrap_or_default();
    let owner = listing.find(model).or(first).and_then(|listed| listed.owned_by.as_str()).unwrap_or_default();
    let is_only = listing.data.len() == 1;
    match owner {
        "llamacpp" => {
            return Ok(of_model(model, props(upstream, model).await?, Server::LlamaCpp, is_only));
        }
        "library" => return Ok(of_model(model, show(upstream, model).await?, Server::Ollama, false)),
        "vllm" => return Ok(of_model(model, None, Server::Vllm, false)),
        "sglang" => return Ok(of_model(model, None, Server::Sglang, false)),
        "organization_owner" => return lm_studio(upstream, model).await,
        _ if listing.data.iter().any(|listed| listed.tells("/models") != Metadata::default()) => {
            return Ok(listing.result(model, "/models", Server::Lists));
        }
        _ => {}
    }
    let (props, show, info) =
        tokio::join!(props(upstream, model), show(upstream, model), model_info(upstream, model));
    if let Some(metadata) = props? {
        return Ok(of_model(model, Some(metadata), Server::LlamaCpp, is_only));
    }
    if let Some(metadata) = show? {
        return Ok(of_model(model, Some(metadata), Server::Ollama, false));
    }
    if let Some(result) = info? {
        return Ok(result);
    }
    // Where no model is there yet, a server cannot show what it would say of one.
    let server = (!listing.is_empty_list()).then_some(Server::Silent);
    Ok(ProbeResult { server, model: (model.to_owned(), Metadata::default()), ..ProbeResult::default() })
}

/// Makes a result for `model`. `is_only` says that the server has no other: one of llama.cpp answers for its model under any
/// name.
fn of_model(model: &str, metadata: Option<Metadata>, server: Server, is_only: bool) -> ProbeResult {
    ProbeResult {
        server: Some(server),
        is_only: is_only && metadata.is_some(),
        model: (model.to_owned(), metadata.unwrap_or_default()),
        others: Vec::new(),
    }
}

/// A list of models. Fields are read leniently: a field of another type than expected tells nothing.
#[derive(Default, Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
    #[serde(skip, default = "is_list")]
    is_list: bool,
}

fn is_list() -> bool {
    true
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListedModel {
    id: Value,
    owned_by: Value,
    /// OpenRouter: `["tools", "structured_outputs", …]`.
    supported_parameters: Value,
    /// Mistral: `{"function_calling": true}`; LM Studio: `["tool_use"]`; Ollama: `["tools"]`.
    capabilities: Value,
    supports_tools: Value,
    /// LiteLLM.
    supports_function_calling: Value,
    /// LiteLLM.
    supports_response_schema: Value,
}

impl ModelList {
    fn find(&self, model: &str) -> Option<&ListedModel> {
        let named = |name: &str| self.data.iter().find(|listed| listed.id == name);
        // Variants such as `:nitro` are not listed by themselves.
        named(model).or_else(|| named(model.rsplit_once(':')?.0))
    }

    /// Returns whether it says that the server has no model.
    fn is_empty_list(&self) -> bool {
        self.is_list && self.data.is_empty()
    }

    fn result(&self, model: &str, place: &str, server: Server) -> ProbeResult {
        let metadata = self.find(model).map(|listed| listed.tells(place)).unwrap_or_default();
        let other = |listed: &ListedModel| Some((listed.id.as_str()?.to_owned(), listed.tells(place)));
        let others = self.data.iter().filter_map(other).collect();
        ProbeResult { server: Some(server), model: (model.to_owned(), metadata), is_only: false, others }
    }
}

impl ListedModel {
    fn tells(&self, place: &str) -> Metadata {
        let parameters = &self.supported_parameters;
        let (tools, at) = [
            (names(parameters, &["tools"]), "supported_parameters"),
            (names(&self.capabilities, &["tools", "tool_use", "function_calling"]), "capabilities"),
            (flag(&self.capabilities, &["tools", "tool_use", "function_calling"]), "capabilities"),
            (self.supports_tools.as_bool(), "supports_tools"),
            (self.supports_function_calling.as_bool(), "supports_function_calling"),
        ]
        .into_iter()
        .find_map(|(tools, at)| Some((Some(tools?), at)))
        .unwrap_or_default();
        let schema = names(parameters, &["structured_outputs"]).or(self.supports_response_schema.as_bool());
        Metadata {
            tools: tools.map(|tools| (tools, format!("{place} {at}").into())),
            constrain: schema.map(|schema| (json_schema(schema), place.into())),
            template: None,
        }
    }
}

/// llama.cpp's server. It drops tools without a word where the chat template knows none.
async fn props(upstream: &Upstream, model: &str) -> Result<Option<Metadata>, Silence> {
    // A server of several models loads one only because it is asked about it, unless told not to.
    let path = format!("/props?model={}&autoload=false", percent_encoded(model));
    let Some(props) = value(upstream.ask_server(&path, None).await).await? else { return Ok(None) };
    if props["build_info"].is_null() && props["default_generation_settings"].is_null() {
        return Ok(None);
    }
    let templates = [&props["chat_template"], &props["chat_template_tool_use"]];
    let templates: Vec<&str> = templates.into_iter().filter_map(Value::as_str).collect();
    let tools = (!templates.is_empty()).then(|| {
        // The server tries the template out, but says yes where it has not: the text must name tools as well.
        templates.iter().any(|template| template.contains("tool"))
            && props["chat_template_caps"]["supports_tools"] != false
    });
    // The one for tools, where there are two.
    let template = templates.last().filter(|template| template.len() <= LONGEST_TEMPLATE);
    Ok(Some(Metadata {
        tools: tools.map(|tools| (tools, "/props chat_template".into())),
        constrain: Some((Constrain::Grammar, "/props".into())),
        template: template.map(|template| Arc::from(*template)),
    }))
}

/// Ollama's description of a model.
async fn show(upstream: &Upstream, model: &str) -> Result<Option<Metadata>, Silence> {
    let question = Bytes::from(json!({ "model": model }).to_string());
    let Some(show) = value(upstream.ask_server("/api/show", Some(question)).await).await? else {
        return Ok(None);
    };
    let by_list = names(&show["capabilities"], &["tools"]).map(|tools| (tools, "/api/show capabilities"));
    // Servers from before the list decide by the template.
    let by_template = show["template"].as_str().map(|text| (text.contains(".Tools"), "/api/show template"));
    Ok(by_list.or(by_template).map(|(tools, place)| Metadata {
        tools: Some((tools, place.into())),
        constrain: Some((Constrain::JsonSchema, "/api/show".into())),
        template: None,
    }))
}

async fn lm_studio(upstream: &Upstream, model: &str) -> Result<ProbeResult, Silence> {
    const PLACE: &str = "/api/v0/models";
    let listing = json(upstream.ask_server(PLACE, None).await).await?;
    let listing = listing.and_then(|listing| serde_json::from_slice::<ModelList>(&listing).ok());
    Ok(listing.unwrap_or_default().result(model, PLACE, Server::LmStudio))
}

/// LiteLLM's description of a model.
async fn model_info(upstream: &Upstream, model: &str) -> Result<Option<ProbeResult>, Silence> {
    #[derive(Deserialize)]
    struct Info {
        model_name: Value,
        model_info: ListedModel,
    }
    const PLACE: &str = "/model/info";
    let Some(info) = value(upstream.ask_server(PLACE, None).await).await? else {
        return Ok(None);
    };
    let Ok(infos) = info["data"].to::<Vec<Info>>() else { return Ok(None) };
    let data = infos.into_iter().map(|info| ListedModel { id: info.model_name, ..info.model_info });
    let listing = ModelList { data: data.collect(), is_list: true };
    Ok(Some(listing.result(model, PLACE, Server::LiteLlm)))
}

fn json_schema(is_taken: bool) -> Constrain {
    if is_taken { Constrain::JsonSchema } else { Constrain::None }
}

/// Returns whether a list of names holds one of these; none if it is not a list.
fn names(list: &Value, wanted: &[&str]) -> Option<bool> {
    let list = list.as_array()?;
    Some(list.iter().filter_map(Value::as_str).any(|name| wanted.contains(&name)))
}

/// Returns the value that an object has under one of these keys; none if it has neither.
fn flag(object: &Value, wanted: &[&str]) -> Option<bool> {
    wanted.iter().find_map(|key| object.get(key)?.as_bool())
}

async fn value(answer: Result<Response, UpstreamError>) -> Result<Option<Value>, Silence> {
    Ok(json(answer).await?.and_then(|body| serde_json::from_slice(&body).ok()))
}

/// Returns the body of a good answer; none if the upstream does not know the question. A server that is loading, busy, broken or
/// closed to us may tell later.
async fn json(answer: Result<Response, UpstreamError>) -> Result<Option<Bytes>, Silence> {
    let answer = answer.map_err(Silence::Upstream)?;
    match answer.status {
        StatusCode::OK => answer.body.whole(LONGEST).await.map(Some).map_err(Silence::Upstream),
        StatusCode::NOT_IMPLEMENTED => Ok(None),
        status if status.is_server_error() => Err(Silence::Status(status)),
        status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) => {
            Err(Silence::Status(status))
        }
        _ => Ok(None),
    }
}

fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::Upstream(error) => error.fmt(f),
            Silence::Status(status) => write!(f, "the upstream answered {}", status.as_u16()),
        }
    }
}

//! What can be set: upstreams, models, policy, the ladder's bounds, limits. Plain data with defaults; reading
//! it from files, flags and the environment is the command line's part.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

pub use callwright::fits;
use callwright::{CallsInReasoning, Dialects, Policy};
use serde::{Deserialize, Serialize};

use crate::api::UpstreamKind;

/// Everything that a [`Relay`](crate::Relay) needs to know.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelayConfig {
    /// Where requests go. The first one that takes the model is asked first, the others are its fallbacks.
    pub upstreams: Vec<UpstreamConfig>,
    /// The model of requests that name none.
    pub default_model: Option<String>,
    /// What holds for certain models; the first pattern that fits a model counts.
    pub models: Vec<ModelConfig>,
    /// Which rungs of the ladder are allowed, where neither the model nor the request says otherwise.
    #[serde(deserialize_with = "policy")]
    pub policy: Policy,
    /// Is a model told, once and in one line, that a call of its was repaired? The line goes with the next request
    /// of the conversation.
    pub notes: bool,
    /// A model whose turns with calls came to the same so often without a gap is told so, with the request that goes to it: the
    /// same calls with the same results. Never where it is 0.
    pub loop_guard: u32,
    /// The arguments of native calls go out while they are written, as far as they are certain, or never do. Without it they
    /// do from the sixth second of a call on whose model has made 20 right ones in a row. A call that is then refused has gone
    /// out in part: it is closed as it was written where it is whole JSON, and else its arguments never parse, and the stream ends in
    /// an error. All others go out when they are right, and never in part.
    pub stream_arguments: Option<bool>,
    /// What of many tools a model is shown.
    pub tools: ToolsConfig,
    /// How far the ladder goes.
    pub ladder: LadderConfig,
    /// What is refused before work is done on it.
    pub limits: Limits,
    /// Of each answer of an upstream so many bytes are told to the observer as they came; 0 stands for none.
    #[serde(skip)]
    pub keep_answers: usize,
    /// What is learned about models.
    pub capability: CapabilityConfig,
    /// The dialects that answers are read in.
    #[serde(skip)]
    pub dialects: Dialects,
}

/// One upstream: a server that speaks OpenAI's chat completions or responses, Anthropic's messages, or Ollama's own API.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamConfig {
    /// Its name in logs, metrics and [`ModelConfig::upstreams`].
    pub name: String,
    /// The URL before `/chat/completions`: `http://127.0.0.1:8080/v1`. That of an upstream that speaks Ollama's own API may end
    /// before `/v1` or `/api`.
    pub base_url: String,
    /// The API that it speaks, whatever its clients do. Where it is not set, that is chat completions, and where it has none,
    /// that of the client, or for a client of chats the first of messages and responses that it answers in.
    #[serde(default)]
    pub kind: Option<UpstreamKind>,
    /// The environment variable that holds the key. The key itself is never part of a configuration.
    #[serde(default)]
    pub key_env: Option<String>,
    /// A file of certificates in PEM that an `https` server may show, or have been signed by; then no others count. The
    /// system's where there is none.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Is any certificate taken? Whoever stands in between can then read keys and write answers.
    #[serde(default)]
    pub insecure: bool,
    /// Further headers of each request. Values may name the environment: `${NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Patterns of the models that it serves; all where there is none. `*` stands for any characters.
    #[serde(default)]
    pub models: Vec<String>,
    /// How long to wait for it.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// How often a request is sent again when the upstream could not be reached or answered 429, 502, 503 or
    /// 504, before its first byte. What is only passed on is sent again only where it could not be reached. With 0 never.
    #[serde(default = "retries")]
    pub retries: u32,
    /// How its answers may be constrained; found out where it is not set.
    #[serde(default)]
    pub constrain: Option<Constrain>,
    /// What becomes of calls in the reasoning of its models.
    #[serde(default, deserialize_with = "some_calls_in_reasoning")]
    pub calls_in_reasoning: Option<CallsInReasoning>,
    /// Are calls read that stand in text, where it speaks the client's own API? They are where it is not set.
    #[serde(default)]
    pub heal_text: Option<bool>,
    /// Says whether it is asked to hold native calls to their schemas.
    #[serde(default)]
    pub native_strict: Option<NativeStrict>,
}

impl UpstreamConfig {
    /// An upstream without key and headers, everything else as it is by default.
    pub fn new(name: &str, base_url: &str) -> UpstreamConfig {
        UpstreamConfig {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            kind: None,
            key_env: None,
            ca_file: None,
            insecure: false,
            headers: BTreeMap::new(),
            models: Vec::new(),
            timeouts: Timeouts::default(),
            retries: retries(),
            constrain: None,
            calls_in_reasoning: None,
            heal_text: None,
            native_strict: None,
        }
    }
}

fn retries() -> u32 {
    1
}

/// How long to wait for an upstream, in seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: f64,
    /// From the request to the first byte of the answer.
    pub first_byte: f64,
    /// Between two pieces of the answer.
    pub idle: f64,
    /// For the whole answer.
    pub total: f64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: 5.0, first_byte: 300.0, idle: 120.0, total: 1800.0 }
    }
}

impl Timeouts {
    /// A number of seconds as a duration; what is no such number is a day.
    pub fn duration(seconds: f64) -> Duration {
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400))
    }
}

/// How an upstream can be made to answer in a given form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Constrain {
    /// Not at all.
    None,
    /// `response_format: {"type": "json_schema", …}`.
    JsonSchema,
    /// llama.cpp's `grammar`.
    Grammar,
}

impl Constrain {
    /// Its name: `none`, `json_schema`, `grammar`.
    pub fn name(self) -> &'static str {
        match self {
            Constrain::None => "none",
            Constrain::JsonSchema => "json_schema",
            Constrain::Grammar => "grammar",
        }
    }
}

/// Says for which native tools the relay adds `strict: true`, by which servers hold calls to their schemas.
///
/// `native_strict = "never"` keeps a request as the client wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeStrict {
    /// For those that the upstream is known to take.
    #[default]
    Auto,
    /// For none.
    Never,
    /// For all, whatever the upstream is.
    Always,
}

/// What holds for the models of a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The model's name as the client writes it; `*` stands for any characters.
    pub pattern: String,
    /// Its name at the upstream, where that is another one.
    #[serde(default)]
    pub rename: Option<String>,
    /// The upstreams to ask, by name, best first; all that take the model where there is none.
    #[serde(default)]
    pub upstreams: Vec<String>,
    /// How to choose among them.
    #[serde(default)]
    pub routing: Routing,
    /// Whether tools are passed natively; found out where it is not set.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The dialect of prompt mode, any of those that answers are read in; where it is not set, that of the model's chat
    /// template, else the model family's.
    #[serde(default)]
    pub dialect: Option<String>,
    /// The only dialect that its answers are read in; all where it is not set.
    #[serde(default)]
    pub only_dialect: Option<String>,
    /// A text that goes before the list of tools in prompt mode.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Does it take messages of role `system`? Where it is not set, its chat template says so, else it does.
    #[serde(default)]
    pub system_role: Option<bool>,
    /// Must user and assistant turns alternate? Neighbours of the same role then become one. Where it is not set, its
    /// chat template says so, else they need not.
    #[serde(default)]
    pub alternate: Option<bool>,
    /// Does its template know the role in which its dialect has results, such as `tool` or `ipython`? If not, they come
    /// from the user in prompt mode.
    #[serde(default)]
    pub result_role: bool,
    /// The most tokens that an answer may have; clients that ask for more get so many.
    #[serde(default)]
    pub max_tokens_cap: Option<u64>,
    /// The context of an upstream that speaks Ollama's own API, in tokens; the server's where it is not set.
    #[serde(default)]
    pub num_ctx: Option<u64>,
    /// How many tools it is shown, as [`ToolsConfig::limit`].
    #[serde(default)]
    pub tools_limit: Option<usize>,
    /// Does it take `reasoning_effort`? Then it gets what clients of messages and of responses say of it. Upstreams of those
    /// APIs do.
    #[serde(default)]
    pub reasoning_effort: bool,
    /// What becomes of calls in its reasoning; the upstream's where it is not set.
    #[serde(default, deserialize_with = "some_calls_in_reasoning")]
    pub calls_in_reasoning: Option<CallsInReasoning>,
    /// Are calls read that stand in its text, where its upstream speaks the client's own API? As for the upstream where it is
    /// not set.
    #[serde(default)]
    pub heal_text: Option<bool>,
    /// Says whether the upstream is asked to hold its native calls to their schemas; as for the upstream where it is not set.
    #[serde(default)]
    pub native_strict: Option<NativeStrict>,
    /// Which rungs of the ladder are allowed.
    #[serde(default, deserialize_with = "some_policy")]
    pub policy: Option<Policy>,
    /// The model that the same question goes to once, where this one's answer would end as refused: `"gpt-4o-mini"`.
    #[serde(default, alias = "fallback_model")]
    pub escalate: Option<String>,
}

impl ModelConfig {
    /// For the models of a pattern, everything as it is by default.
    pub fn new(pattern: &str) -> ModelConfig {
        ModelConfig {
            pattern: pattern.to_owned(),
            rename: None,
            upstreams: Vec::new(),
            routing: Routing::default(),
            mode: None,
            dialect: None,
            only_dialect: None,
            prompt: None,
            system_role: None,
            alternate: None,
            result_role: false,
            max_tokens_cap: None,
            num_ctx: None,
            tools_limit: None,
            reasoning_effort: false,
            calls_in_reasoning: None,
            heal_text: None,
            native_strict: None,
            policy: None,
            escalate: None,
        }
    }
}

/// How to choose among the upstreams of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// In their order: the next one is asked when the one before it fails.
    #[default]
    Ordered,
    /// The one with the fewest open requests first; one that fails often goes to the end.
    LeastBusy,
    /// For requests with tools, the one whose calls are right as written most often; for others, in their order.
    Right,
}

/// How a request's tools reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As `tools`: the upstream makes calls of its own.
    Native,
    /// As text in the prompt; the calls are read from the answer's text.
    Prompt,
}

impl Mode {
    /// Its name: `native`, `prompt`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Native => "native",
            Mode::Prompt => "prompt",
        }
    }
}

/// What of a request's tools a model is shown.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Of more tools than this a model is shown so many: those that the conversation has called, then those that fit the user's
    /// last words best. It finds the others by one more tool, `find_tools`. All are shown where it is 0.
    pub limit: usize,
}

/// How far the ladder goes inside one request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LadderConfig {
    /// How often a broken call is asked for again, without a trace in the history.
    pub reasks: u32,
    /// How often the error goes to the model as its next turn.
    pub feedback_turns: u32,
    /// How many completion tokens all further answers of one request may take.
    pub max_tokens: u64,
    /// How many seconds the whole request may take before no further answer is begun.
    pub max_seconds: f64,
    /// After how many equal errors in a row the ladder ends.
    #[serde(alias = "breaker")]
    pub give_up_after: u32,
    /// Is a call whose last bracket is missing refused, and asked for again, where more could have stood before it and
    /// nobody knows whether tokens were left? If not, or with some left of the request's `max_tokens`, it ends there.
    pub confirm_open_ends: bool,
    /// Tools that change nothing, by name: what a call of an unknown tool may be replaced by. All tools where
    /// there is none.
    pub safe_tools: Vec<String>,
}

impl Default for LadderConfig {
    fn default() -> LadderConfig {
        LadderConfig {
            reasks: 1,
            feedback_turns: 2,
            max_tokens: 16_384,
            max_seconds: 120.0,
            give_up_after: 3,
            confirm_open_ends: true,
            safe_tools: Vec::new(),
        }
    }
}

/// What is refused before work is done on it, in bytes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// A request's body.
    pub body: usize,
    /// The bodies of all requests that are in work, unpacked and parsed, together.
    pub bodies: usize,
    /// An upstream's whole answer; of a stream: what is kept of it.
    pub answer: usize,
    /// One event of a stream.
    pub event: usize,
    /// What the compiled tools that are kept take together, about; those used last are kept.
    pub compiled_tools: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 32 << 20,
            // A turn holds two or three times its body: so much leaves a machine of 2 GB room for everything else.
            bodies: 256 << 20,
            answer: 32 << 20,
            event: 4 << 20,
            compiled_tools: 64 << 20,
        }
    }
}

/// What is learned about models, and where it is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapabilityConfig {
    /// How many seconds something learned holds.
    pub ttl: u64,
    /// The directory that keeps it between runs; only memory where there is none.
    pub dir: Option<PathBuf>,
    /// May the upstream's metadata be asked for?
    pub probe: bool,
}

impl Default for CapabilityConfig {
    fn default() -> CapabilityConfig {
        CapabilityConfig { ttl: 86_400, dir: None, probe: true }
    }
}

fn policy<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Policy, D::Error> {
    let name = String::deserialize(from)?;
    let unknown = || serde::de::Error::custom("a policy is one of auto, heal, feedback, strict");
    Policy::named(&name).ok_or_else(unknown)
}

fn some_policy<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Policy>, D::Error> {
    policy(from).map(Some)
}

fn some_calls_in_reasoning<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<CallsInReasoning>, D::Error> {
    let name = String::deserialize(from)?;
    let unknown = || serde::de::Error::custom("calls_in_reasoning is one of ignore, unclosed, accept");
    CallsInReasoning::named(&name).map(Some).ok_or_else(unknown)
}

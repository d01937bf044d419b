//! The settings: upstreams, models, policy, the ladder's bounds, limits. They are plain data with defaults; the command line
//! reads them from files, flags and the environment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

pub use callwright::fits;
use callwright::{CallsInReasoning, Dialects, Policy};
use serde::{Deserialize, Serialize};

use crate::api::UpstreamKind;

/// The settings of a [`Relay`](crate::Relay).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelayConfig {
    /// The servers of the models. The first one that takes the model is asked first; the others are its fallbacks.
    pub upstreams: Vec<UpstreamConfig>,
    /// The model of requests that name none.
    pub default_model: Option<String>,
    /// Settings for certain models; the first pattern that fits a model counts.
    pub models: Vec<ModelConfig>,
    /// The allowed rungs of the ladder, unless the model or the request says otherwise.
    #[serde(deserialize_with = "policy")]
    pub policy: Policy,
    /// A model is told, once and in one line, that one of its calls was repaired. The line goes with the next request of the
    /// conversation.
    pub notes: bool,
    /// The number of equal turns with calls, without a gap, at which a model is told so. Equal turns have the same calls with the
    /// same results. Zero means never.
    pub loop_guard: u32,
    /// Says whether the arguments of native calls go out while they are written, as far as they are certain. Unset, they do from
    /// the sixth second of a call on, if its model has made 20 right ones in a row. A call that is refused later has gone out in
    /// part. It is closed as it was written if it is whole JSON; else its arguments never parse, and the stream ends in an error.
    /// All other calls go out when they are right, and never in part.
    pub stream_arguments: Option<bool>,
    /// The tools that a model is shown if there are many.
    pub tools: ToolsConfig,
    /// The bounds of the ladder.
    pub ladder: LadderConfig,
    /// The limits beyond which requests are refused before any work.
    pub limits: Limits,
    /// The most bytes of each upstream's answer that the observer gets as they came; 0 stands for none.
    #[serde(skip)]
    pub keep_answers: usize,
    /// The knowledge about models.
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
    /// The URL before `/chat/completions`: `http://127.0.0.1:8080/v1`. The URL of an upstream that speaks Ollama's own API may
    /// end before `/v1` or `/api`.
    pub base_url: String,
    /// The API that it speaks, whatever its clients do. Unset, that is chat completions. If it does not know those, it is the
    /// client's API. For a client of chats it is the first of messages and responses that the upstream answers in.
    #[serde(default)]
    pub kind: Option<UpstreamKind>,
    /// The environment variable that holds the key. The key itself is never part of a configuration.
    #[serde(default)]
    pub key_env: Option<String>,
    /// A file of certificates in PEM that an `https` server may show, or have been signed by; then no others count. Unset, the
    /// system's count.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Any certificate is taken. Anyone in between can then read keys and write answers.
    #[serde(default)]
    pub insecure: bool,
    /// Further headers of each request. Values may name the environment: `${NAME}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Patterns of the models that it serves; an empty list serves all. `*` stands for any characters.
    #[serde(default)]
    pub models: Vec<String>,
    /// The longest times to wait for it.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// The number of times that a request is sent again before its first byte. It is sent again if the upstream could not be
    /// reached or answered 429, 502, 503 or 504. A request that is only passed on is sent again only if the upstream could not be
    /// reached. Zero means never.
    #[serde(default = "retries")]
    pub retries: u32,
    /// The constraint that its answers may be held to; found out if it is not set.
    #[serde(default)]
    pub constrain: Option<Constrain>,
    /// The treatment of calls in the reasoning of its models.
    #[serde(default, deserialize_with = "some_calls_in_reasoning")]
    pub calls_in_reasoning: Option<CallsInReasoning>,
    /// Calls in text are read even if it speaks the client's own API. Unset, they are.
    #[serde(default)]
    pub heal_text: Option<bool>,
    /// Says whether it is asked to hold native calls to their schemas.
    #[serde(default)]
    pub native_strict: Option<NativeStrict>,
}

impl UpstreamConfig {
    /// Makes an upstream without key and headers, with defaults for all else.
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

/// The longest times to wait for an upstream, in seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// The time until the connection stands.
    pub connect: f64,
    /// The time from the request to the first byte of the answer.
    pub first_byte: f64,
    /// The time between two pieces of the answer.
    pub idle: f64,
    /// The time for the whole answer.
    pub total: f64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: 5.0, first_byte: 300.0, idle: 120.0, total: 1800.0 }
    }
}

impl Timeouts {
    /// Returns a number of seconds as a duration; a number that cannot be one is a day.
    pub fn duration(seconds: f64) -> Duration {
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400))
    }
}

/// The means by which an upstream can be made to answer in a given form.
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
    /// Returns its name: `none`, `json_schema`, `grammar`.
    pub fn name(self) -> &'static str {
        match self {
            Constrain::None => "none",
            Constrain::JsonSchema => "json_schema",
            Constrain::Grammar => "grammar",
        }
    }
}

/// Says for which native tools the relay adds `strict: true`, by which servers enforce schemas.
///
/// `native_strict = "never"` keeps a request as the client wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeStrict {
    /// The tools that the upstream is known to take.
    #[default]
    Auto,
    /// No tools.
    Never,
    /// All tools, whatever the upstream is.
    Always,
}

/// Settings for the models of a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The model's name as the client writes it; `*` stands for any characters.
    pub pattern: String,
    /// Its name at the upstream, if that differs.
    #[serde(default)]
    pub rename: Option<String>,
    /// The upstreams to ask, by name, best first; an empty list means all that take the model.
    #[serde(default)]
    pub upstreams: Vec<String>,
    /// The way to choose among them.
    #[serde(default)]
    pub routing: Routing,
    /// The way in which tools reach the model; found out if it is not set.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The dialect of prompt mode, any of those that answers are read in. Unset, it is that of the model's chat template, else
    /// the model family's.
    #[serde(default)]
    pub dialect: Option<String>,
    /// The only dialect that its answers are read in; all if it is not set.
    #[serde(default)]
    pub only_dialect: Option<String>,
    /// A text that goes before the list of tools in prompt mode.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The model takes messages of role `system`. Unset, its chat template decides, and without one it takes them.
    #[serde(default)]
    pub system_role: Option<bool>,
    /// User and assistant turns must alternate, so that neighbours of the same role become one. Unset, its chat template decides,
    /// and without one they need not.
    #[serde(default)]
    pub alternate: Option<bool>,
    /// Its template knows the role of results in its dialect, such as `tool` or `ipython`. Otherwise results come from the user
    /// in prompt mode.
    #[serde(default)]
    pub result_role: bool,
    /// The most tokens that an answer may have; clients that ask for more get this bound.
    #[serde(default)]
    pub max_tokens_cap: Option<u64>,
    /// The context of an upstream that speaks Ollama's own API, in tokens; the server's if it is not set.
    #[serde(default)]
    pub num_ctx: Option<u64>,
    /// The number of tools that it is shown, as [`ToolsConfig::limit`].
    #[serde(default)]
    pub tools_limit: Option<usize>,
    /// The model takes `reasoning_effort`, and gets the effort that clients of messages and of responses name. Upstreams of those
    /// APIs always take it.
    #[serde(default)]
    pub reasoning_effort: bool,
    /// The treatment of calls in its reasoning; the upstream's if it is not set.
    #[serde(default, deserialize_with = "some_calls_in_reasoning")]
    pub calls_in_reasoning: Option<CallsInReasoning>,
    /// Calls in its text are read even if its upstream speaks the client's own API; as for the upstream if it is not set.
    #[serde(default)]
    pub heal_text: Option<bool>,
    /// Says whether the upstream is asked to hold its native calls to their schemas; as for the upstream if it is not set.
    #[serde(default)]
    pub native_strict: Option<NativeStrict>,
    /// The allowed rungs of the ladder.
    #[serde(default, deserialize_with = "some_policy")]
    pub policy: Option<Policy>,
    /// The model that gets the same question once, if this one's answer would end as refused: `"gpt-4o-mini"`.
    #[serde(default, alias = "fallback_model")]
    pub escalate: Option<String>,
}

impl ModelConfig {
    /// Makes settings for the models of a pattern, with defaults for all else.
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

/// The way to choose among the upstreams of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// In their order: the next one is asked when the one before it fails.
    #[default]
    Ordered,
    /// The one with the fewest open requests first; one that fails often goes to the end.
    LeastBusy,
    /// Requests with tools go to the upstream whose calls are right as written most often; others go in their order.
    Right,
}

/// The way in which a request's tools reach the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As `tools`: the upstream makes calls of its own.
    Native,
    /// As text in the prompt; the calls are read from the answer's text.
    Prompt,
}

impl Mode {
    /// Returns its name: `native`, `prompt`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Native => "native",
            Mode::Prompt => "prompt",
        }
    }
}

/// The tools of a request that a model is shown.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// The most tools that a model is shown; 0 shows all. It sees those that the conversation has called, then those that fit the
    /// user's last words best. It finds the others by one more tool, `find_tools`.
    pub limit: usize,
}

/// The bounds of the ladder inside one request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LadderConfig {
    /// The number of times that a broken call is asked for again, without a trace in the history.
    pub reasks: u32,
    /// The number of times that the error goes to the model as its next turn.
    pub feedback_turns: u32,
    /// The most completion tokens of all further answers of one request.
    pub max_tokens: u64,
    /// The number of seconds after which no further answer is begun.
    pub max_seconds: f64,
    /// The number of equal errors in a row at which the ladder ends.
    #[serde(alias = "breaker")]
    pub give_up_after: u32,
    /// A call without its last bracket is refused and asked for again if more could have stood before it. It ends there if this
    /// is off, or if the answer left some of the request's `max_tokens`.
    pub confirm_open_ends: bool,
    /// Tools that change nothing, by name: only they may replace a call of an unknown tool. An empty list means all tools.
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

/// The limits beyond which requests are refused before any work, in bytes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The body of one request.
    pub body: usize,
    /// The bodies of all requests in work, unpacked and parsed, together.
    pub bodies: usize,
    /// An upstream's whole answer; of a stream, the part that is kept.
    pub answer: usize,
    /// One event of a stream.
    pub event: usize,
    /// The approximate size of all compiled tools that are kept; those used last stay.
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

/// The knowledge about models, and its place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapabilityConfig {
    /// The number of seconds for which a finding holds.
    pub ttl: u64,
    /// The directory that keeps it between runs; unset, only memory does.
    pub dir: Option<PathBuf>,
    /// The upstream's metadata may be asked for.
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

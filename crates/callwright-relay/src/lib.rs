//! One model turn: an OpenAI chat request goes in, right tool calls come out, or a refusal with a reason.
//!
//! The modules stand in reading order.

mod api;
mod tokens;
pub mod config;
mod record;
mod record_json;
pub mod upstream;
pub mod capability;
mod client;
mod tool_sets;
mod tool_search;

mod request;
mod headers;
mod relay;
mod chat;
mod pass;
mod ollama;
mod wire;
mod surface;
mod history;
mod strict;
mod question;
mod target;
mod bounds;
mod turn;
mod readers;
mod reading;
mod recover;
mod ladder;
mod followup;
mod proof;
mod calls;
mod notes;
mod repeats;
mod deliver;
mod lane;
mod bridge;
pub mod sse;
mod owner;
mod reply;
mod report;
pub mod survey;
mod log;
mod clock;

pub use api::{Surface, UpstreamKind};
pub use client::{
    Answer, AnswerDelta, AskOptions, ChatError, Chunks, Client, Completion, ToolCall, error_fingerprint,
};
pub use owner::{KEY_HEADERS, Owner};
pub use record::{Attempt, AttemptReason, Choice, Nobody, Observer, TurnEnd, TurnRecord};
pub use record_json::CallFault;
pub use relay::Relay;
pub use repeats::{compared_arguments, repeat_sentence, turn_text};
pub use reply::{Broken, Reply, ReplyBody};
pub use request::Request;
pub use surface::{GeminiAsk, GeminiForm, ItemsWanted, error_body};
pub use tokens::Usage;
pub use turn::ReadUnknown;
pub use upstream::Kept;
pub use wire::WireError;

/// Runs the examples of the project's and the engine's pages.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    mod project {}
    #[doc = include_str!("../../callwright/README.md")]
    mod engine {}
}

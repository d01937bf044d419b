//! The ways to say an answer: neutral events go to a [`Voice`], which writes them in the form of one API.
//!
//! Certain events come in, piece by piece; bytes for the client go out. A voice decides nothing about calls, and no event is ever
//! taken back.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod pieces;
mod responses;
mod say;
mod serial;

pub(super) use chat::ChatVoice;
pub(super) use gemini::GeminiParts;
pub(super) use messages::MessageBlocks;
pub(super) use ollama::OllamaLines;
pub(super) use responses::ResponseItems;
pub(super) use say::{CallHead, Voice};
pub(super) use serial::{Blocks, Serial};

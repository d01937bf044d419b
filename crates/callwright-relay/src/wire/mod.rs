//! The OpenAI chat wire format: requests, whole answers, streamed chunks, errors.
//!
//! A body is parsed once into a [`Document`] and edited by splicing its text. Unchanged parts, unknown members included, go on
//! byte for byte.

mod answer;
mod ask;
mod begins;
mod call_id;
mod chunk;
mod document;
mod doubled;
mod error;
mod foreign;
mod hosted;
mod joined;
mod page;
mod said;
mod surrogates;

pub(crate) use answer::{AnswerChoice, PromptTokens, choices, prompt_tokens, usage};
pub(crate) use ask::{Ask, ContentForm, has_healing_plugin, is_healing_plugin, policy_of};
pub(crate) use begins::conversation_hash;
pub(crate) use call_id::is_no_id;
pub(crate) use chunk::{CallPiece, Delta, More, Template, deltas};
pub(crate) use document::{
    Change, Document, Head, array, changed, count_of, object, present, rewritten, spliced, string_of,
};
pub(crate) use doubled::doubled;
pub use error::WireError;
pub(crate) use error::{CALL_REFUSED, CUT, INVALID_CONTENT, error_status, is_error, is_passing};
pub(crate) use foreign::{Foreign, is_foreign, is_of_function};
pub(crate) use hosted::{Hosted, undeclared};
pub(crate) use page::{BASE_URL, looks};
pub(crate) use said::reasoning;
pub(crate) use surrogates::Surrogates;

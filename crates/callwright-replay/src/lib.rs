//! An upstream that answers from a script, records what it is asked, and misbehaves on
//! purpose. It speaks OpenAI's chat completions and responses, Anthropic's messages, and Ollama's own chats.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use callwright_replay::{Replay, Script};
//!
//! let script = Script::from_toml(
//!     r#"
//!     [[answer]]
//!     when = { has_tools = true }
//!     tool_calls = [{ name = "list_files", arguments = '{"path": "src",}' }]
//!     [[answer]]
//!     text = "Done."
//!     "#,
//! )?;
//! let replay = Replay::start(script)?;
//! // A client that is pointed at `base_url` now gets the two answers.
//! assert!(replay.base_url().ends_with("/v1"));
//! assert!(replay.requests().is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The modules stand in reading order.

mod script;
mod form;
mod fault;
mod api;
mod request;
mod declared;
mod signature;
mod markup;
mod conversation;
mod task;
mod pattern;
mod fill;
mod improvise;
mod select;
mod answer;
mod stream;
mod messages;
mod responses;
mod ollama;
mod tape;
mod record;
mod line;
mod server;

pub use api::Api;
pub use fault::{Cut, Fault, Garbage, Goodbye, Midway, MidwayForm};
pub use form::{Finish, Form, Ids, Index, Pieces};
pub use improvise::Improvise;
pub use record::{Ending, Note, Recorded};
pub use script::{Answer, Arguments, Call, Choice, Function, Script, ScriptError, When};
pub use server::{Replay, Setup};

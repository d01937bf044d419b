//! The OpenAI-compatible server around the relay: who may come in, what is asked, and what is told of it.
//!
//! A socket's bytes go in, HTTP answers come out. It reads no environment, parses no text of a model,
//! and lets nothing that a client sends choose an upstream.
//!
//! The modules stand in reading order.

mod config;
mod cors;
mod key;
mod gateway;
mod phase;
mod worker;
mod socket;
mod service;
mod asked;
mod path;
mod api;
mod admission;
mod room;
mod body;
mod problem;
mod routes;
mod route;
mod stored;
mod health;
mod observer;
mod conversation;
mod recording;
mod sessions;
mod query;
mod events;
mod page;
mod metrics;
mod models;
mod gemini;
mod ollama;
mod logs;
mod traces;

pub use callwright_store::Secrets;
pub use config::{GatewayConfig, KeepConfig, ServerConfig};
pub use gateway::{Gateway, Signals, StartError, Stop};
pub use key::{ClientKey, KeyError, Sessions};
pub use logs::{LogConfig, LogError, LogFormat};
pub use page::{Viewer, ViewerError};
pub use traces::TraceConfig;

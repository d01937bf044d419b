//! The OpenAI-compatible server around the relay: who may come in, what is asked, and what is told of it.
//!
//! A socket's bytes go in, HTTP answers come out. It reads no environment and no file, parses no text of a
//! model, and lets nothing that a client sends choose an upstream.
//!
//! The modules stand in reading order.

mod config;
mod key;
mod gateway;
mod worker;
mod socket;
mod service;
mod admission;
mod body;
mod problem;
mod routes;
mod health;
mod observer;
mod metrics;
mod logs;
mod traces;
mod secret;
mod ask;

pub use ask::{CapabilityAt, capabilities, is_openai};
pub use config::{GatewayConfig, ServerConfig};
pub use gateway::{Gateway, Signals, StartError, Stop};
pub use key::{ClientKey, KeyError};
pub use logs::{LogConfig, LogError, LogFormat};
pub use secret::Secrets;
pub use traces::TraceConfig;

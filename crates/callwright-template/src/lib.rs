//! Infers from a model's chat template how its tool calls are written: in which dialect, how tools and results are told to the
//! model, which turns it takes.
//!
//! A template goes in as text, as `GET /props` of llama.cpp's server gives it. It is rendered with words that no template
//! has, and where those stand shows the form of a call. A dialect is taken for the model's own only after what the
//! template writes in it has been read again as what it was, call by call.
//!
//! The words of Hugging Face's tokenizers about answers (`response_template`) are taken for a record in the same way. For a
//! dialect that is known, [`Server`] has the flags by which the model's own server reads it.
//!
//! A template is somebody else's program: it reads no file and no clock, its steps are counted, and its text has a bound.
//! The modules stand in reading order.

mod template;
mod bounds;
mod names;
mod ordered;
mod python;
mod source;
mod token;
mod probe;
mod form;
mod infer;
mod record;
mod proof;
mod speech;
mod findings;
mod response;
mod server;

pub use findings::{Findings, Proved, Unknown};
pub use infer::{Reasoning, Turns};
pub use response::{ResponseError, ResponseTemplate};
pub use server::Server;
pub use template::{Template, TemplateError};

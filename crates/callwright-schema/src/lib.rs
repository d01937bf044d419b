#![doc = include_str!("../README.md")]
//!
//! ---
//!
//! In goes a schema, or what tool lists carry in its place: see [`Schema::compile`]. It is bounded, brought into normal form,
//! and compiled into the tables of a [`SchemaGuide`], which answer a reader of JSON, [`Schema::check`] and [`Schema::coerce`].
//! What tables cannot say, an evaluator decides. What cannot be compiled or resolved is left out, and
//! [told](Schema::unchecked).

mod check;
mod coerce;
mod compile;
mod fits;
mod guide;
pub mod keywords;
mod limits;
mod message;
pub mod names;
mod normal;
mod number;
mod references;
mod schema;
mod unchecked;
mod violation;
#[cfg(feature = "full-schemas")]
mod validator;

pub use coerce::{Coerced, Coercion};
pub use guide::SchemaGuide;
pub use limits::{MAX_DEPTH, MAX_NESTING, MAX_NODES, Measure, SchemaError, measure};
pub use schema::Schema;
pub use unchecked::Unchecked;
pub use violation::{Checked, Violation};

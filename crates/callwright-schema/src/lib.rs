#![doc = include_str!("../README.md")]
//!
//! ---
//!
//! A schema goes in, or the form that tool lists have in its place: see [`Schema::compile`]. It is bounded, brought
//! into normal form, and compiled into the tables of a [`SchemaGuide`], which answer a reader of JSON,
//! [`Schema::check`] and [`Schema::coerce`]. An evaluator decides about demands that tables cannot express. Parts that
//! cannot be compiled or resolved are left out, and [`Schema::unchecked`] lists them.

mod answers;
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

#![doc = include_str!("../README.md")]
//!
//! ---
//!
//! [`read`] is the door. A strict text is recognised in one scan and never rebuilt. A broken one is read in
//! all the ways that a tolerant grammar and the caller's [`Guide`] (its schema) admit; each repair has a cost,
//! and only a cheapest [`Reading`] that stands alone is [settled](Parse::settled). Each repair is an edit of
//! the source, and [`apply`] of all of them is the strict JSON of the reading's value.
//!
//! Nothing here recurses on input, panics on bytes, or knows what a tool is. The modules stand in reading order.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod guide;
mod options;
mod read;
mod reading;
mod strict;
mod layers;
mod embedded;
mod beside;
mod python;
mod search;
mod fuel;
mod ambiguity;
mod growing;
mod repair;
mod tree;
mod canonical;
mod quote;
mod scan;
mod spelling;
mod span;

pub use fuel::Fuel;
pub use growing::{Growing, Partial};
pub use guide::{AnyValue, Guide, Kinds, MAX_SLOTS, Member, Place};
pub use layers::spelt_char;
pub use options::{Options, Start};
pub use python::is_arguments;
pub use quote::quote;
pub use read::{read, read_prefix, read_right, read_with};
pub use reading::{Diagnostic, Parse, Problem, Reading};
pub use repair::{Class, Repair, RepairKind, apply, class_of, tally};
pub use span::Span;
pub use spelling::is_blank;
pub use strict::{is_object, strict, strict_end};
pub use tree::{Kind, MAX_DEPTH, Tree, Value};

/// Runs the examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}

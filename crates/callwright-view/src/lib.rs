//! Reports on answers as HTML, without a script: every call, every repair in its place, and the page to try it.
//!
//! Whatever stands in an answer was written by strangers. All of it goes through `maud`, which escapes it, and through
//! [`visible`](visible::visible), which shows what would hide; classes and addresses are never taken from it. The modules
//! stand in reading order.

pub mod visible;
pub mod head;
pub mod report;
pub mod words;
pub mod spans;
pub mod answer;
mod examples;
mod what_if;
pub mod try_it;

pub use what_if::{WhatIf, WhatIfError};

/// The styles of all pages.
pub const STYLE: &str = include_str!("style.css");
/// The icon of all pages, as SVG.
pub const ICON: &str = include_str!("icon.svg");

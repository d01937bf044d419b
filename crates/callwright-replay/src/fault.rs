//! The faults on the way to the client.

use serde::Deserialize;

/// The faults of one answer. Bytes are those of the body.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fault {
    /// The milliseconds for which the answer's head waits.
    pub delay_ms: u64,
    /// The milliseconds between two writes.
    pub between_ms: u64,
    /// Nothing comes at all, not even a head.
    pub silent: bool,
    /// Nothing comes behind so many bytes.
    pub stall_after: Option<usize>,
    /// The body ends behind so many bytes.
    pub cut: Option<Cut>,
    /// Bytes that are no text.
    pub garbage: Option<Garbage>,
    /// An error in a stream that had begun well.
    pub midway: Option<Midway>,
}

/// A body that ends too soon.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Behind so many bytes; a number of the whole body or more cuts nothing off, and ends it in this way.
    #[serde(default)]
    pub after: usize,
    /// Behind so many hundredths of the body instead: each API has a length of its own.
    pub percent: Option<u8>,
    /// In which way.
    #[serde(default)]
    pub how: Goodbye,
}

/// The way in which a body ends too soon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goodbye {
    /// As if all were well.
    #[default]
    End,
    /// The connection is closed without the body's end.
    Close,
    /// The connection is reset.
    Reset,
}

/// Bytes that are no text, put in between.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Garbage {
    /// Behind so many bytes.
    pub after: usize,
    /// The number of them.
    pub length: usize,
    /// Their sort.
    #[serde(default)]
    pub seed: u64,
}

/// An error in the middle of a stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Midway {
    /// Behind so many events.
    pub after_events: usize,
    /// The way in which it is told.
    #[serde(default)]
    pub form: MidwayForm,
    /// Its words.
    pub message: String,
    /// A `[DONE]` follows it.
    #[serde(default)]
    pub done: bool,
}

/// The way in which an error is told in the middle of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MidwayForm {
    /// `{"error": {…}}` alone.
    #[default]
    Alone,
    /// A chunk with `error` beside a choice whose `finish_reason` is `error`.
    InChunk,
}

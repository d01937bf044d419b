//! A request of any API, as the chat request that it comes to.

use crate::wire::{Document, WireError};

/// A request of any API, as the chat request that it comes to.
#[derive(Debug)]
pub(crate) struct Translated<D> {
    pub(crate) document: Document,
    pub(crate) door: D,
    /// Tools that no chat server runs, by name: the model is not told of them.
    pub(crate) dropped: Vec<String>,
    /// The number of items of its conversation without a place in a chat.
    pub(crate) dropped_items: usize,
    /// The only tools that may be called, if the request names them apart from `tool_choice`; `true` if one must be.
    pub(crate) allowed: Option<(Vec<String>, bool)>,
    /// Tools whose arguments may be the bare text of their only member, `input`.
    pub(crate) bare_inputs: Vec<String>,
    /// The session that the client names in its request.
    pub(crate) session: Option<String>,
}

impl<D> Translated<D> {
    /// Makes one of a chat request alone.
    pub(super) fn plain(document: Document, door: D) -> Translated<D> {
        Translated {
            document,
            door,
            dropped: Vec::new(),
            dropped_items: 0,
            allowed: None,
            bare_inputs: Vec::new(),
            session: None,
        }
    }

    /// Returns the same request, with its door in the form of all APIs.
    pub(super) fn with_door<E>(self, door: impl FnOnce(D) -> E) -> Translated<E> {
        let Translated { document, door: own, dropped, dropped_items, allowed, bare_inputs, session } = self;
        Translated { document, door: door(own), dropped, dropped_items, allowed, bare_inputs, session }
    }
}

/// Makes the error for a request whose tools nobody here runs.
pub(super) fn unsupported(names: &[String]) -> WireError {
    let message = format!("no upstream here runs these tools: {}", names.join(", "));
    WireError::bad_request(Some("tools"), "unsupported_tool", message)
}

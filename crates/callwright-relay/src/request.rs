//! A request to a model, as a client sent it.

use std::sync::Arc;

use bytes::Bytes;
use callwright::Policy;
use http::HeaderMap;

use crate::api::Surface;
use crate::ladder::Ladder;
use crate::owner::Owner;
use crate::record::Observer;
use crate::surface::GeminiAsk;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// Names the request in the log and in the answer.
    pub id: String,
    /// The JSON body.
    pub body: Bytes,
    /// The policy, where it does not stand in the body.
    pub policy: Option<Policy>,
    /// Should the answer say what was done, in a member `callwright`?
    pub wants_report: bool,
    /// The client's headers; only what concerns the request itself goes on.
    pub headers: HeaderMap,
    /// Whose it is.
    pub owner: Owner,
    /// The API that it is a request of.
    pub surface: Surface,
    /// The model and the form that its path names, for a request of Gemini's.
    pub gemini: Option<GeminiAsk>,
}

/// Whom a request is told to when it has ended, and what is left of the bounds where another request makes it.
pub(crate) struct Errand {
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) ladder: Option<Ladder>,
}

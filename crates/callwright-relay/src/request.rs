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
    /// The name of the request in the log and in the answer.
    pub id: String,
    /// The JSON body.
    pub body: Bytes,
    /// The policy, if it does not stand in the body.
    pub policy: Option<Policy>,
    /// The answer gets a report, in a member `callwright`.
    pub wants_report: bool,
    /// The client's headers; only those about the request itself go on.
    pub headers: HeaderMap,
    /// The owner of the request.
    pub owner: Owner,
    /// The API of the request.
    pub surface: Surface,
    /// The model and the form that the path of a request of Gemini's names.
    pub gemini: Option<GeminiAsk>,
}

/// The observer of a request, and the rest of the bounds of a request that made it.
pub(crate) struct Errand {
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) ladder: Option<Ladder>,
}

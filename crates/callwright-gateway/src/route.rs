//! One path of the server: what answers there, and the answers that several of them give.

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::MethodRouter;

use crate::api::Api;
use crate::asked::Asker;
use crate::body::Body;
use crate::problem::Problem;

/// A path, and what answers there.
pub(crate) type Route = (&'static str, MethodRouter<Api>);

/// Refuses every method but `POST`, with which a turn is asked.
pub(crate) async fn post_only(State(api): State<Api>, request: Request) -> Response {
    routed(api.shared.refused_to(&Asker::of(&request), Problem::method_not_allowed("POST")))
}

/// Passes a request on to the upstream.
pub(crate) async fn passed(api: &Api, request: Request) -> Response {
    let asker = Asker::of(&request);
    let response = api.pass(request).await;
    routed(response.unwrap_or_else(|problem| api.shared.refused_to(&asker, problem)))
}

/// Refuses a request.
pub(crate) fn refused(api: &Api, problem: Problem) -> Response {
    routed(api.shared.refused(problem))
}

/// Gives a response the type that the routes have.
pub(crate) fn routed(response: http::Response<Body>) -> Response {
    response.map(axum::body::Body::new)
}

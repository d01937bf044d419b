//! Answers one request: straight to the relay where it is a chat, over the routes where it is anything else.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use axum::Router;
use callwright_relay::Surface;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response};
use hyper::body::Incoming;
use tower_service::Service as _;

use crate::api::Api;
use crate::asked::{Asked, Asker};
use crate::body::Body;
use crate::cors;
use crate::gemini::path as gemini;
use crate::ollama;
use crate::path::below_v1;
use crate::problem::Problem;
use crate::routes::{Door, routes};

/// The API that a request is one of, as far as its path and its headers tell.
fn surface_of(path: &str, headers: &HeaderMap) -> Surface {
    let below = below_v1(path);
    let is_messages = below == "/messages" || below.starts_with("/messages/");
    let lists_models = || below == "/models" || below.starts_with("/models/");
    if is_messages || headers.contains_key("anthropic-version") && lists_models() {
        Surface::Messages
    } else if gemini::is_path(path) || headers.contains_key("x-goog-api-client") && lists_models() {
        Surface::Gemini
    } else if ollama::is_path(below) {
        Surface::Ollama
    } else {
        Surface::Chat
    }
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-callwright-request");
/// Answers the requests of one connection.
#[derive(Clone)]
pub(crate) struct Service {
    api: Api,
    routes: Router,
}

impl Service {
    pub(crate) fn new(api: Api) -> Service {
        Service { routes: routes(api.clone()), api }
    }

    /// Answers `request`. What cannot be answered as it was meant is answered with a problem.
    pub(crate) async fn answer(
        mut self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let id = self.api.shared.ids.next();
        // The digits of an id are ASCII.
        let id_value = HeaderValue::try_from(&*id);
        let surface = surface_of(request.uri().path(), request.headers());
        if surface == Surface::Gemini {
            gemini::take_key(&mut request);
        }
        let asker = Asker { surface, id: id.clone() };
        let page = cors::Page::of(&self.api.shared.server.cors_origins, &request);
        let answered = unless_it_panics(async {
            if let Some(page) = &page
                && request.method() == Method::OPTIONS
            {
                return match page.is_allowed() {
                    true => page.permission(),
                    false => self.api.shared.refused_to(&asker, Problem::foreign_origin()),
                };
            }
            if Door::of(request.uri().path()) == Door::Api {
                let admitted = match self.api.shared.admit(request.method(), request.headers()) {
                    Ok(admitted) => admitted,
                    Err(problem) => return self.api.shared.refused_to(&asker, problem),
                };
                if request.method() == Method::POST
                    && let Some(asked) = Asked::of(request.uri().path())
                {
                    let answered = self.api.turn(id, asked, admitted, request).await;
                    return answered.unwrap_or_else(|problem| self.api.shared.refused_to(&asker, problem));
                }
                request.extensions_mut().insert(admitted);
            }
            request.extensions_mut().insert(asker.clone());
            match self.routes.call(request).await {
                Ok(response) => response.map(Body::Routed),
                Err(never) => match never {},
            }
        });
        let mut response = match answered.await {
            Some(response) => response,
            None => self.api.shared.refused_to(&asker, Problem::internal()),
        };
        if let Some(page) = &page {
            page.admit(response.headers_mut());
        }
        if let Ok(id) = id_value {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }
}

/// Returns the result of `answer`; `None` where a defect, of ours or of a library, makes it panic. Then one request is lost, and
/// the others go on: what they share is counted by guards, and a lock that was held is taken over.
async fn unless_it_panics<T>(answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_one_answer() {
        assert_eq!(unless_it_panics(async { 1 }).await, Some(1));
        let late = async {
            tokio::task::yield_now().await;
            panic!("a defect")
        };
        assert_eq!(unless_it_panics::<()>(late).await, None);
    }
}

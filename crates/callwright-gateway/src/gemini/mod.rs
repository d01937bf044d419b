//! Gemini's API: which models there are, and what its addresses ask for. The format: `ai.google.dev/api`.

pub(crate) mod path;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use callwright_relay::Reply;
use http::{Method, StatusCode};

use crate::api::Api;
use crate::asked::Asker;
use crate::body::Body;
use crate::models::context;
use crate::problem::Problem;
use crate::route::{Route, routed};
use path::{below_version, decoded, verb};

/// The routes of it.
pub(crate) fn routes() -> Vec<Route> {
    vec![
        ("/v1beta/{*path}", any(answer)),
        ("/v1alpha/{*path}", any(answer)),
        ("/v1beta1/{*path}", any(answer)),
    ]
}

pub(crate) async fn answer(State(api): State<Api>, request: Request) -> Response {
    let asker = Asker::of(&request);
    match api.gemini(request).await {
        Ok(response) => routed(response),
        Err(problem) => routed(api.shared.refused_to(&asker, problem)),
    }
}

impl Api {
    /// Answers a request of Gemini's API that asks no model.
    ///
    /// # Errors
    /// A path where nothing is, or a model that is not there.
    async fn gemini(&self, request: Request) -> Result<http::Response<Body>, Problem> {
        let (head, body) = request.into_parts();
        let permit = match head.method {
            Method::POST => self.taken(&head.headers, body).await?.0,
            _ => self.shared.permit()?,
        };
        if verb(head.uri.path()).is_some() {
            return Err(Problem::method_not_allowed("POST"));
        }
        let below = below_version(head.uri.path()).trim_end_matches('/');
        let name = below.strip_prefix("/models/");
        if !matches!(head.method, Method::GET | Method::HEAD) || below != "/models" && name.is_none() {
            return Err(Problem::no_gemini(head.uri.path()));
        }
        let models = self.listed(&head.headers).await?;
        let told = match name.map(decoded) {
            Some(name) => {
                let found = models.iter().find(|model| model["id"] == *name);
                model(found.ok_or_else(|| Problem::unknown_model(&name))?)
            }
            None => {
                let models: Vec<Value> = models.iter().map(model).collect();
                json!({ "models": models })
            }
        };
        self.answer(Reply::json(StatusCode::OK, Bytes::from(told.to_string())), permit).await
    }
}

/// Describes one model.
fn model(listed: &Value) -> Value {
    let id = listed["id"].as_str().unwrap_or_default();
    let mut model = json!({
        "name": format!("models/{id}"),
        "version": "1",
        "displayName": id,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    });
    if let Some(context) = context(listed) {
        model["inputTokenLimit"] = context.into();
    }
    model
}

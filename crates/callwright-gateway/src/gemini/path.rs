//! Addresses of Gemini's API. The model and what is wanted stand in the path, `/v1beta/models/qwen3:generateContent`, and a
//! key may stand in the query.

use callwright_relay::{GeminiAsk, GeminiForm};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Request, Uri};

use crate::path::below_v1;

/// Carries a client's key.
const KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The versions of it besides that of every API here, `/v1`.
const VERSIONS: [&str; 3] = ["/v1beta", "/v1alpha", "/v1beta1"];

/// An action on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Generate,
    Stream,
    Count,
}

impl Verb {
    /// Returns the verb of this path, and the model's name as it stands there; none of another path.
    fn of(path: &str) -> Option<(Verb, &str)> {
        let below = below_version(path);
        let below = below.strip_prefix("/publishers/google").unwrap_or(below);
        // The name may have a colon of its own: `/models/qwen3:8b:generateContent`.
        let (model, verb) = below.strip_prefix("/models/")?.rsplit_once(':')?;
        let verb = match verb {
            "generateContent" => Verb::Generate,
            "streamGenerateContent" => Verb::Stream,
            "countTokens" => Verb::Count,
            _ => return None,
        };
        Some((verb, model))
    }
}

/// Returns the verb of this path.
pub(crate) fn verb(path: &str) -> Option<Verb> {
    Verb::of(path).map(|(verb, _)| verb)
}

/// Returns the model and the form that this address names.
pub(crate) fn ask(uri: &Uri) -> Option<GeminiAsk> {
    let (verb, model) = Verb::of(uri.path())?;
    let is_events = || pairs(uri).any(|(key, value)| key == "alt" && value == "sse");
    let form = match verb {
        Verb::Stream if is_events() => GeminiForm::Events,
        Verb::Stream => GeminiForm::Array,
        Verb::Generate | Verb::Count => GeminiForm::Whole,
    };
    Some(GeminiAsk { model: decoded(model), form })
}

/// Returns whether this is a path of Gemini's API.
pub(crate) fn is_path(path: &str) -> bool {
    below_version(path) != below_v1(path) || verb(path).is_some()
}

/// Returns the part of a path below its version. Clients add that themselves, so it may be there twice.
pub(super) fn below_version(path: &str) -> &str {
    let mut below = below_v1(path);
    let stripped = |below: &'_ str| {
        let rest = VERSIONS.iter().filter_map(|version| below.strip_prefix(version));
        let rest = rest.filter(|rest| rest.starts_with('/')).map(str::len).next()?;
        Some(below.len() - rest)
    };
    while let Some(at) = stripped(below) {
        below = below_v1(&below[at..]);
    }
    below
}

fn pairs(uri: &Uri) -> impl Iterator<Item = (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Returns a part of a path without its escapes: `a%2Fb` → `a/b`
pub(super) fn decoded(part: &str) -> String {
    // Outside of forms these stand for themselves.
    let escaped = part.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    let decoded = form_urlencoded::parse(escaped.as_bytes()).next();
    decoded.map(|(name, _)| name.into_owned()).unwrap_or_default()
}

/// Moves the key of `?key=KEY` into a header: no address is to hold one.
pub(crate) fn take_key<B>(request: &mut Request<B>) {
    let uri = request.uri();
    if uri.query().is_none_or(|query| !query.contains("key=")) {
        return;
    }
    let key = pairs(uri).find(|(name, _)| name == "key").map(|(_, key)| key.into_owned());
    let mut others = form_urlencoded::Serializer::new(String::new());
    others.extend_pairs(pairs(uri).filter(|(name, _)| name != "key"));
    let others = others.finish();
    let path = uri.path();
    let without = if others.is_empty() { path.to_owned() } else { format!("{path}?{others}") };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(without).ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    if let Some(mut key) = key.and_then(|key| HeaderValue::try_from(key).ok()) {
        key.set_sensitive(true);
        request.headers_mut().entry(KEY).or_insert(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_the_model_and_what_is_wanted() {
        let ask_of = |uri: &str| ask(&uri.parse().unwrap()).map(|ask| (ask.model, ask.form));
        for (uri, model, form) in [
            ("/v1beta/models/qwen3:8b:generateContent", "qwen3:8b", GeminiForm::Whole),
            ("/v1/models/m:streamGenerateContent", "m", GeminiForm::Array),
            ("/v1/v1beta/models/a%2Fb:streamGenerateContent?x=1&alt=sse", "a/b", GeminiForm::Events),
            ("/v1beta/v1beta/models/google/gemma:countTokens?alt=sse", "google/gemma", GeminiForm::Whole),
            ("/v1beta1/publishers/google/models/a+b:generateContent", "a+b", GeminiForm::Whole),
        ] {
            assert_eq!(ask_of(uri), Some((String::from(model), form)), "{uri}");
        }
        for uri in ["/v1/models/m", "/v1/models/m:8b", "/v1beta/models", "/v1beta/m:generateContent"] {
            assert_eq!(ask_of(uri), None, "{uri}");
        }
        for (path, is) in [
            ("/v1beta/models", true),
            ("/v1/v1alpha/x", true),
            ("/v1/models/m:generateContent", true),
            ("/v1/models/m", false),
            ("/v1betas/models", false),
            ("/v1beta", false),
        ] {
            assert_eq!(is_path(path), is, "{path}");
        }
    }

    #[test]
    fn no_address_keeps_a_key() {
        for (uri, without, key) in [
            ("/v1beta/models?key=a%2Bb&alt=sse", "/v1beta/models?alt=sse", Some("a+b")),
            ("/v1beta/models?key=x", "/v1beta/models", Some("x")),
            ("/v1beta/models?key=", "/v1beta/models", Some("")),
            ("/v1beta/models?alt=sse", "/v1beta/models?alt=sse", None),
            ("/v1beta/models", "/v1beta/models", None),
        ] {
            let mut request = http::Request::get(uri).body(()).unwrap();
            take_key(&mut request);
            assert_eq!(request.uri(), without);
            let sent = request.headers().get(KEY).map(|key| key.to_str().unwrap());
            assert_eq!(sent, key, "{uri}");
        }
    }
}

//! Asks upstreams whether a set-up works, for `doctor`, `caps` and `serve --check`: each answer is a finding, with what to do
//! about it.

use std::fmt;

use callwright_gateway::Secrets;
use callwright_relay::Client;
use callwright_relay::survey::{self, Listing, Unlisted};

use crate::config::{Config, Env};
use crate::failure::Failure;

/// The state of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It works.
    Good,
    /// It does not.
    Bad,
    /// It works, and could be better.
    Warning,
    /// It could not be told.
    Unknown,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn new(mark: Mark, text: impl Into<String>) -> Finding {
        Finding { mark, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.mark {
            Mark::Good => "ok",
            Mark::Bad => "BAD",
            Mark::Warning => "warn",
            Mark::Unknown => "?",
        };
        write!(f, "{mark:4} {}", self.text)
    }
}

/// Tells whether an upstream answers.
pub(crate) fn of_upstream(listing: &Listing) -> Finding {
    let Listing { upstream, location, models } = listing;
    match models {
        Ok(models) => {
            let count = match models.len() {
                1 => String::from("1 model"),
                n => format!("{n} models"),
            };
            Finding::new(Mark::Good, format!("{upstream} at {location} answers, and lists {count}"))
        }
        Err(why) => {
            let mark = match why {
                Unlisted::NoList { takes_chats: true, instead: None, .. } => Mark::Unknown,
                _ => Mark::Bad,
            };
            let advice = why.advice().map_or_else(String::new, |advice| format!(": {advice}"));
            Finding::new(mark, format!("{upstream} at {location} {why}{advice}"))
        }
    }
}

/// Tells whether `model` is among those that an upstream lists.
pub(crate) fn of_model(model: &str, listing: &Listing) -> Finding {
    let upstream = &listing.upstream;
    let Ok(models) = &listing.models else {
        return Finding::new(Mark::Unknown, format!("it is not known whether {upstream} has {model}"));
    };
    let has = |name: &str| models.iter().any(|listed| listed == name);
    // Variants such as `:nitro` are not listed by themselves.
    if has(model) || model.rsplit_once(':').is_some_and(|(base, _)| has(base)) {
        return Finding::new(Mark::Good, format!("{model} is listed by {upstream}"));
    }
    let mut near: Vec<&String> = models.iter().collect();
    near.sort_by_key(|name| strsim::damerau_levenshtein(name, model));
    near.truncate(NEAR);
    let near = near.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let text = match near.as_str() {
        "" => format!("{upstream} lists no models"),
        near => format!("{model} is not listed by {upstream}, which has {near}"),
    };
    Finding::new(Mark::Bad, text)
}

/// So many names are shown that are like the one that is not there.
const NEAR: usize = 3;

/// Tells whether a call comes of a small request to `model`.
///
/// # Errors
/// What is configured cannot be used.
pub(crate) async fn of_request(config: &Config, env: Env<'_>, model: &str) -> Result<Finding, Failure> {
    let (_, relay) = config.parts(env, &Secrets::default())?;
    let client = Client::new(relay, env).map_err(|error| Failure::Config(error.to_string()))?;
    Ok(match survey::trial(&client, model).await {
        Ok(trial) if trial.called => {
            Finding::new(Mark::Good, format!("{model} made a valid call, in {} mode", trial.mode))
        }
        Ok(trial) => {
            let said: String = trial.text.chars().take(LONGEST).collect();
            Finding::new(Mark::Bad, format!("{model} was asked for a call of a tool, and said: {said}"))
        }
        Err(error) => Finding::new(Mark::Bad, format!("{model} was asked for a call of a tool: {error}")),
    })
}

/// So much is shown of what a model said, in characters.
const LONGEST: usize = 200;

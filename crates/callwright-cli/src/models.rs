//! `callwright models`: the models that the upstreams list.

use std::io::{self, Write};

use callwright::json;
use callwright_relay::config::fits;
use serde::Deserialize;

use crate::args::{ModelsArgs, Purpose};
use crate::checkup;
use crate::config::Config;
use crate::discover::{self, LISTING};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;

/// The facts about families.
const FAMILIES: &str = include_str!("../data/families.toml");

#[derive(Deserialize)]
struct Families {
    families: Vec<Family>,
}

#[derive(Deserialize)]
struct Family {
    pattern: String,
    #[serde(rename = "for")]
    purpose: Purpose,
    reason: String,
}

impl Families {
    /// Why `model` is one for this purpose; none where it is not. What costs nothing is not for production: it comes and
    /// goes, and has narrow limits.
    fn reason(&self, model: &str, purpose: Purpose) -> Option<&str> {
        let family = self.families.iter().find(|family| fits(&family.pattern, model))?;
        (family.purpose == purpose).then_some(&*family.reason)
    }
}

/// A line for each model. Fails where an upstream does not answer; what others list is printed all the same.
pub(crate) fn run(args: &ModelsArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(args.asked.flags(), &env)?;
    let listings = on_runtime(async {
        let chosen = discover::upstream(&mut config, &env).await?;
        if let Some(chosen) = &chosen {
            writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
        }
        let survey = config.survey(&env)?;
        Ok(survey.listings(LISTING).await)
    })?;
    let families: Families =
        toml::from_str(FAMILIES).map_err(|error| Failure::Config(error.message().to_owned()))?;
    let mut out = io::stdout().lock();
    let mut is_whole = true;
    for listing in &listings {
        let Ok(models) = &listing.models else {
            is_whole = false;
            writeln!(io::stderr(), "callwright: {}", harmless(&checkup::of_upstream(listing).text))?;
            continue;
        };
        for model in models {
            let reason = match args.purpose {
                None => None,
                Some(purpose) => match families.reason(model, purpose) {
                    None => continue,
                    reason => reason,
                },
            };
            let mut line = json!({"model": model, "upstream": listing.upstream});
            if let Some(reason) = reason {
                line["reason"] = reason.into();
            }
            let why = reason.map_or_else(String::new, |reason| format!("  {reason}"));
            match args.json {
                true => writeln!(out, "{line}")?,
                false => writeln!(out, "{}  ({}){why}", harmless(model), harmless(&listing.upstream))?,
            }
        }
    }
    if is_whole { Ok(()) } else { Err(Failure::Refused) }
}

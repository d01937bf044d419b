//! `callwright models`: which models to begin with, and why.

use std::io::{self, Write};

use serde::Deserialize;

use crate::args::{ModelsArgs, Purpose};
use crate::failure::Failure;

/// The list, dated.
const LIST: &str = include_str!("../data/models.toml");

#[derive(Deserialize)]
struct List {
    date: String,
    models: Vec<Recommended>,
}

#[derive(Deserialize)]
struct Recommended {
    name: String,
    #[serde(rename = "for")]
    purpose: Purpose,
    reason: String,
}

/// Prints the models for a purpose, or all, each with its reason.
pub(crate) fn run(args: &ModelsArgs) -> Result<(), Failure> {
    let list: List = toml::from_str(LIST).map_err(|error| Failure::Config(error.message().to_owned()))?;
    let mut out = io::stdout().lock();
    writeln!(out, "As of {}:", list.date)?;
    for purpose in [Purpose::Dev, Purpose::Prod] {
        if args.purpose.is_some_and(|wanted| wanted != purpose) {
            continue;
        }
        let title = match purpose {
            Purpose::Dev => "for development and tests",
            Purpose::Prod => "for production",
        };
        writeln!(out, "\n{title}")?;
        for model in list.models.iter().filter(|model| model.purpose == purpose) {
            writeln!(out, "  {:36} {}", model.name, model.reason)?;
        }
    }
    Ok(())
}

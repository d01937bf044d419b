//! `callwright dialects`: the ways in which calls are written, as data. One of them whole is the TOML that a configuration
//! takes.

use std::io::{self, Write};
use std::path::Path;

use callwright::{Dialect, Dialects, Grammar, NameAt};
use serde::Serialize;

use crate::args::{ConfigArgs, DialectsArgs};
use crate::config::{Config, meant};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::view::json;

/// The form in which all of them are printed.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    aliases: &'a [callwright::Text],
    about: &'a str,
    models: &'a [callwright::Text],
    name_at: NameAt,
    arguments: Grammar,
    example: String,
}

/// Prints all of them, or one.
pub(crate) fn run(args: &DialectsArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let dialects = of(args.config.as_deref())?;
    if let Some(name) = &args.name {
        let dialect = dialects.get(name).ok_or_else(|| unknown(&dialects, name))?;
        match args.json {
            true => writeln!(out, "{}", json(dialect))?,
            false => out.write_all(whole(dialect)?.as_bytes())?,
        }
        return Ok(());
    }
    if args.json {
        let listed: Vec<Listed<'_>> = dialects.iter().map(Listed::of).collect();
        writeln!(out, "{}", json(&listed))?;
        return Ok(());
    }
    for dialect in dialects.iter() {
        writeln!(out, "{}", harmless(&described(dialect)))?;
        for line in dialect.example().lines() {
            writeln!(out, "    {}", harmless(line))?;
        }
    }
    Ok(())
}

impl<'a> Listed<'a> {
    fn of(dialect: &'a Dialect) -> Listed<'a> {
        Listed {
            name: &dialect.name,
            aliases: &dialect.aliases,
            about: &dialect.about,
            models: &dialect.models,
            name_at: dialect.name_at,
            arguments: dialect.arguments,
            example: dialect.example(),
        }
    }
}

/// The dialects that are read: the built-in ones, and those of a configuration file.
///
/// # Errors
/// A file that cannot be read or used.
pub(crate) fn of(config: Option<&Path>) -> Result<Dialects, Failure> {
    let Some(path) = config else { return Ok(Dialects::default()) };
    let args = ConfigArgs { config: Some(path.to_owned()), ..ConfigArgs::default() };
    Ok(Config::load(args.flags(), &|_| None)?.dialects)
}

/// A name that no dialect has.
pub(crate) fn unknown(dialects: &Dialects, name: &str) -> Failure {
    Failure::Config(no_such(dialects, name))
}

/// Says that no dialect has this name, and which one was probably meant.
pub(crate) fn no_such(dialects: &Dialects, name: &str) -> String {
    let names = dialects.iter().flat_map(|dialect| [&dialect.name].into_iter().chain(&dialect.aliases));
    match meant(name, names.map(|name| &**name)) {
        Some(meant) => format!("there is no dialect `{name}`: did you mean `{meant}`?"),
        None => format!("there is no dialect `{name}`; `callwright dialects` lists them"),
    }
}

/// `hermes (*hermes*, *qwen3*): json with the name in it; Hermes 2 and 3, …`
pub(crate) fn described(dialect: &Dialect) -> String {
    let names = [&dialect.name].into_iter().chain(&dialect.aliases);
    let names: Vec<&str> = names.map(|name| &**name).collect();
    let name_at = match dialect.name_at {
        NameAt::Payload => "the name in it",
        NameAt::Key => "the name as its key",
        NameAt::Opener => "the name in the opener",
        NameAt::Tag => "the name as the tag",
        NameAt::Header => "the name in front",
        _ => "the name elsewhere",
    };
    let grammar = match dialect.arguments {
        Grammar::Json => "JSON",
        Grammar::Calls => "call expressions",
        Grammar::Tags => "tags",
        Grammar::Elements => "elements",
        Grammar::Relaxed => "relaxed objects",
        _ => "another grammar",
    };
    let mut line = format!("{}: {grammar}, {name_at}", names.join(", "));
    for more in [&dialect.about, &dialect.models.join(" ").into()] {
        if !more.is_empty() {
            line.push_str("; ");
            line.push_str(more);
        }
    }
    line
}

/// A record as the table of a configuration.
fn whole(dialect: &Dialect) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Tables<'a> {
        dialect: [&'a Dialect; 1],
    }
    toml::to_string(&Tables { dialect: [dialect] }).map_err(|error| Failure::Config(error.to_string()))
}

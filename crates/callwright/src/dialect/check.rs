//! Checks a dialect against its own rules and against the set that it joins. An error names the member that is wrong.

use std::sync::Arc;

use super::definition::{Dialect, Grammar, NameAt};
use super::problem::DialectProblem::{self, Missing, NotAName, NotWith, Taken, TooLarge, Unknown};
use super::problem::{MAX_DIALECTS, MAX_MARKS, MAX_TEXT};
use super::record::Record;
use super::speech::PromptFormat;
use crate::syntax::Text;

/// The member of a dialect that breaks a rule, and the rule.
type Fault = (&'static str, DialectProblem);

/// Checks a dialect of the caller's own against the `others` of the set, and sets its `name_at`.
pub(super) fn check(dialect: &mut Dialect, others: &[Arc<Record>]) -> Result<(), Fault> {
    check_names(dialect, others)?;
    check_sizes(dialect, others)?;
    dialect.name_at = name_place(dialect)?;
    check_arguments(dialect)?;
    if let Some(calls) = &dialect.calls {
        let speech = PromptFormat { calls: calls.clone(), ..PromptFormat::default() };
        speech.check().map_err(|(_, problem)| ("calls", problem))?;
    }
    if let Some(speech) = &dialect.speech {
        speech.check()?;
    }
    if dialect.sign.is_some() || !dialect.labels.is_empty() || !dialect.words.is_empty() {
        return Err(("sign", NotWith("only what is built in has one, or labels and words")));
    }
    let is_short = |mark: &Text| mark.len() < 2 || MAX_TEXT < mark.len();
    if dialect.reasoning.iter().any(|block| is_short(&block.open) || is_short(&block.close)) {
        return Err(("reasoning", NotWith("its markers have two characters or more")));
    }
    Ok(())
}

/// Checks the names of a dialect and the name of its kin.
fn check_names(dialect: &Dialect, others: &[Arc<Record>]) -> Result<(), Fault> {
    let is_name = |name: &str| {
        let is_letter = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
        !name.is_empty() && name.len() <= 64 && name.bytes().all(is_letter)
    };
    let aliases = dialect.aliases.iter().map(|alias| ("aliases", alias));
    for (member, name) in std::iter::once(("name", &dialect.name)).chain(aliases) {
        if !is_name(name) {
            return Err((member, NotAName));
        }
        if let Some(other) = others.iter().find(|other| other.dialect.is_called(name)) {
            return Err((member, Taken(other.name.to_string())));
        }
    }
    match &dialect.kin {
        Some(kin) if !others.iter().any(|other| other.name == *kin) => Err(("kin", Unknown(kin.to_string()))),
        _ => Ok(()),
    }
}

/// Checks the number and the length of the marks, and the number of dialects.
fn check_sizes(dialect: &Dialect, others: &[Arc<Record>]) -> Result<(), Fault> {
    let members = [
        ("models", &dialect.models),
        ("aliases", &dialect.aliases),
        ("section.open", &dialect.section.open),
        ("section.close", &dialect.section.close),
        ("call.open", &dialect.call.open),
        ("call.close", &dialect.call.close),
    ];
    let is_large = |texts: &[Text]| MAX_MARKS < texts.len() || texts.iter().any(|text| MAX_TEXT < text.len());
    if let Some((member, _)) = members.into_iter().find(|(_, texts)| is_large(texts)) {
        return Err((member, TooLarge));
    }
    let n_own = others.iter().filter(|other| other.markup.is_some()).count();
    if MAX_DIALECTS <= n_own { Err(("name", TooLarge)) } else { Ok(()) }
}

/// Returns the place of the tool's name, as the openers tell it.
fn name_place(dialect: &Dialect) -> Result<NameAt, Fault> {
    let n_named = dialect.call.open.iter().filter(|open| open.contains("{name}")).count();
    match (n_named, dialect.call.open.len(), dialect.name_at) {
        (0, 0, _) if dialect.section.open.is_empty() => Err(("call.open", Missing("an opener is needed"))),
        (0, _, NameAt::Opener) => Err(("call.open", Missing("{name} must stand in it"))),
        (0, _, NameAt::Tag) => {
            Err(("name_at", NotWith("a tool's name as its tag is read without a dialect of its own")))
        }
        (0, _, place @ (NameAt::Payload | NameAt::Key | NameAt::Header)) => Ok(place),
        (n, all, NameAt::Payload | NameAt::Opener) if n == all => Ok(NameAt::Opener),
        (_, _, NameAt::Payload | NameAt::Opener) => {
            Err(("call.open", NotWith("{name} stands in all openers or in none")))
        }
        (_, _, NameAt::Key | NameAt::Tag | NameAt::Header) => {
            Err(("name_at", NotWith("it is `opener` where {name} stands in call.open")))
        }
    }
}

/// Checks the members that go with a grammar of arguments.
fn check_arguments(dialect: &Dialect) -> Result<(), Fault> {
    if !matches!(dialect.arguments, Grammar::Json | Grammar::Calls)
        && !matches!(dialect.name_at, NameAt::Opener | NameAt::Header)
    {
        let why = "before such arguments the name must stand: {name} in call.open, or name_at = \"header\"";
        return Err(("arguments", NotWith(why)));
    }
    if dialect.argument.is_some() && dialect.arguments != Grammar::Tags {
        return Err(("argument", NotWith("it goes with arguments = \"tags\"")));
    }
    match (dialect.arguments, &dialect.string_mark) {
        (Grammar::Relaxed, Some(mark)) if !mark.is_empty() && mark.len() <= MAX_TEXT => Ok(()),
        (Grammar::Relaxed, _) => Err(("string_mark", Missing("relaxed arguments need one"))),
        (_, None) => Ok(()),
        (_, Some(_)) => Err(("string_mark", NotWith("it goes with arguments = \"relaxed\""))),
    }
}

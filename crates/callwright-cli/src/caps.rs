//! `callwright caps`: what a model can do at its upstreams, and who says so.

use std::io::{self, Write};

use callwright::Dialects;
use callwright_relay::capability::{Source, places};
use callwright_relay::survey::CapabilityAt;
use callwright_store::rfc3339;

use crate::args::CapsArgs;
use crate::checkup::{self, Finding, Mark};
use crate::config::{Config, Env, named};
use crate::discover::{self, LISTING};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;

/// Asks for the model at each upstream that serves it, or shows what is kept of it where none is configured. What is known
/// of a model whose upstream does not answer is shown as what it is, and the command fails.
pub(crate) fn run(args: &CapsArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(args.asked.flags(), &env)?;
    let asks = args.refresh || args.ask;
    if config.settings.upstreams.is_empty() && !asks && show_kept(&mut config, &env, &args.model)? {
        return Ok(());
    }
    on_runtime(ask(args, config, &env))
}

/// Shows what the gateway found out, at whatever upstreams it asked. False where nothing is kept of the model.
fn show_kept(config: &mut Config, env: Env<'_>, model: &str) -> Result<bool, Failure> {
    let folder = config.capability(env).dir;
    let places = folder.map(|folder| places(&folder, model)).unwrap_or_default();
    let mut out = io::stdout().lock();
    let mut is_shown = false;
    for (upstream, location) in &places {
        config.settings.upstreams = vec![named(upstream, location, None)];
        let known = config.survey(env)?.known(model).into_iter();
        for at in known.filter(|at| at.capability.tools_source != Source::Unknown) {
            is_shown = true;
            write_capability(&mut out, &at, &config.dialects)?;
            let text = format!("not asked, as no upstream is configured here: --upstream {location} asks it");
            writeln!(out, "  {}", harmless(&Finding::new(Mark::Unknown, text).to_string()))?;
        }
    }
    Ok(is_shown)
}

async fn ask(args: &CapsArgs, mut config: Config, env: Env<'_>) -> Result<(), Failure> {
    if let Some(chosen) = discover::server(&mut config, env).await {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    if config.settings.upstreams.is_empty() {
        let model = harmless(&args.model);
        let none = format!(
            "no upstream is configured, and nothing is kept of {model}: name one with --upstream URL"
        );
        writeln!(io::stderr(), "callwright: {none}")?;
        return Err(Failure::Refused);
    }
    let survey = config.survey(env)?;
    let listings = survey.listings(LISTING).await;
    let found = survey.capabilities(&args.model, args.refresh).await;
    if found.is_empty() {
        return Err(Failure::Config(format!("no upstream serves {}", args.model)));
    }
    let mut out = io::stdout().lock();
    let mut answers = false;
    for at in &found {
        write_capability(&mut out, at, &config.dialects)?;
        if let Some(listing) = listings.iter().find(|listing| listing.upstream == at.upstream) {
            let [upstream, mut model] =
                [checkup::of_upstream(listing), checkup::of_model(&at.model, listing)];
            answers |= upstream.mark != Mark::Bad;
            // Some serve what they do not list.
            if model.mark == Mark::Bad {
                model.mark = Mark::Warning;
            }
            for finding in [upstream, model] {
                writeln!(out, "  {}", harmless(&finding.to_string()))?;
            }
        }
    }
    if args.ask {
        let finding = checkup::of_request(&config, env, &args.model).await?;
        answers &= finding.mark == Mark::Good;
        writeln!(out, "{}", harmless(&finding.to_string()))?;
    }
    if answers { Ok(()) } else { Err(Failure::Refused) }
}

fn write_capability(out: &mut impl Write, at: &CapabilityAt, dialects: &Dialects) -> io::Result<()> {
    let capability = &at.capability;
    let mode = if capability.tools { "native" } else { "prompt" };
    writeln!(out, "{} at {}", harmless(&at.model), harmless(&at.upstream))?;
    writeln!(out, "  tools      {mode:12} {}", who_says(&capability.tools_source))?;
    if capability.calls_in_text {
        writeln!(out, "  calls      {:12} the server reads none of them", "text")?;
    }
    if let Some(seen) = &capability.demanded {
        let says = who_says(&Source::Experience(seen.clone()));
        writeln!(out, "  required   {:12} {says}", "prompt")?;
    }
    let constrain = capability.constrain.name();
    writeln!(out, "  constrain  {constrain:12} {}", who_says(&capability.constrain_source))?;
    let (strict, held) = (capability.strict.name(), capability.strict_held.name());
    let says = who_says(&capability.strict_source);
    writeln!(out, "  strict     {strict:12} {says}; by the answers: {held}")?;
    if let Some(template) = &capability.template {
        writeln!(out, "  template   {}", harmless(&template.to_string()))?;
    }
    if let Some((server, flags)) = server_flags(at, dialects) {
        writeln!(out, "  flags      {flags}: {server} reads the calls by it")?;
    }
    Ok(())
}

/// The server's name, and the flags by which it reads calls in the dialect of the model's template, else of its family.
fn server_flags(at: &CapabilityAt, dialects: &Dialects) -> Option<(&'static str, String)> {
    let CapabilityAt { model, capability, .. } = at;
    let server = capability.server?;
    let proved = capability.template.as_ref().and_then(|template| template.dialect());
    let dialect = proved.or_else(|| dialects.for_model(model).map(|dialect| &*dialect.name))?;
    Some((server.name(), server.flags(dialect)?))
}

/// Who says so and, where it was seen, when, and until when that counts.
fn who_says(source: &Source) -> String {
    let said = harmless(&source.to_string()).into_owned();
    let Source::Experience(seen) = source else { return said };
    let minute = |seconds: u64| {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        rfc3339(millis).chars().take("2026-11-22T08:34".len()).collect::<String>().replace('T', " ")
    };
    format!("{said} (seen {}, holds until {} UTC)", minute(seen.since), minute(seen.until))
}

#[cfg(test)]
mod tests {
    use callwright_relay::capability::{Evidence, Experience};

    use super::*;

    #[test]
    fn what_was_seen_is_shown_with_its_time() {
        let seen = Experience {
            evidence: Evidence::Dropped,
            words: "31 tokens with them, 31 without".into(),
            since: 1_795_336_496,
            until: 1_795_422_896,
        };
        assert_eq!(
            who_says(&Source::Experience(seen)),
            "the upstream dropped the tools: 31 tokens with them, 31 without \
             (seen 2026-11-22 08:34, holds until 2026-11-23 08:34 UTC)"
        );
        assert_eq!(who_says(&Source::Unknown), "nothing is known yet");
    }
}

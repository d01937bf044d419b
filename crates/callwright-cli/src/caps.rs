//! `callwright caps`: what a model can do at its upstreams, and who says so.

use std::io::{self, Write};

use callwright_relay::capability::Source;
use callwright_relay::survey::CapabilityAt;
use callwright_store::rfc3339;

use crate::args::CapsArgs;
use crate::checkup::{self, Mark};
use crate::config::Config;
use crate::discover::{self, LISTING};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;

/// Asks for the model at each upstream that serves it. What is known of a model whose upstream does not answer is shown
/// as what it is, and the command fails.
pub(crate) fn run(args: &CapsArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(args.asked.flags(), &env)?;
    on_runtime(async {
        // What was chosen is held until the answers are there: it may be the built-in server.
        let chosen = discover::upstream(&mut config, &env).await?;
        if let Some(chosen) = &chosen {
            writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
        }
        let survey = config.survey(&env)?;
        let listings = survey.listings(LISTING).await;
        let found = survey.capabilities(&args.model, args.refresh).await;
        if found.is_empty() {
            return Err(Failure::Config(format!("no upstream serves {}", args.model)));
        }
        let mut out = io::stdout().lock();
        let mut answers = false;
        for at in &found {
            write_capability(&mut out, at)?;
            if let Some(listing) = listings.iter().find(|listing| listing.upstream == at.upstream) {
                let findings = [checkup::of_upstream(listing), checkup::of_model(&at.model, listing)];
                answers |= findings[0].mark != Mark::Bad;
                for finding in findings {
                    writeln!(out, "  {}", harmless(&finding.to_string()))?;
                }
            }
        }
        if args.ask {
            let finding = checkup::of_request(&config, &env, &args.model).await?;
            answers &= finding.mark == Mark::Good;
            writeln!(out, "{}", harmless(&finding.to_string()))?;
        }
        if answers { Ok(()) } else { Err(Failure::Refused) }
    })
}

fn write_capability(out: &mut impl Write, at: &CapabilityAt) -> io::Result<()> {
    let capability = &at.capability;
    let mode = if capability.tools { "native" } else { "prompt" };
    writeln!(out, "{} at {}", harmless(&at.model), harmless(&at.upstream))?;
    writeln!(out, "  tools      {mode:12} {}", who_says(&capability.tools_source))?;
    let constrain = capability.constrain.name();
    writeln!(out, "  constrain  {constrain:12} {}", who_says(&capability.constrain_source))?;
    if let Some(template) = &capability.template {
        writeln!(out, "  template   {}", harmless(&template.to_string()))?;
    }
    Ok(())
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

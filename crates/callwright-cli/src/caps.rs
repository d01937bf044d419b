//! `callwright caps`: what a model can do at its upstreams, and who says so.

use std::io::{self, Write};

use callwright_relay::survey::CapabilityAt;

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
    writeln!(out, "  tools      {mode:12} {}", harmless(&capability.tools_source.to_string()))?;
    let constrain = capability.constrain.name();
    writeln!(out, "  constrain  {constrain:12} {}", harmless(&capability.constrain_source.to_string()))?;
    if let Some(template) = &capability.template {
        writeln!(out, "  template   {}", harmless(&template.to_string()))?;
    }
    Ok(())
}

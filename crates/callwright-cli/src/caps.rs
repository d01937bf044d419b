//! `callwright caps`: what a model can do at its upstreams, and who says so.

use std::io::{self, Write};

use callwright_gateway::capabilities;

use crate::args::CapsArgs;
use crate::config::Config;
use crate::discover;
use crate::failure::Failure;
use crate::harmless::harmless;

/// Asks for the model at each upstream that serves it.
pub(crate) fn run(args: &CapsArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(&args.config, &env)?;
    // What was chosen is held until the answers are there: it may be the built-in server.
    let chosen = discover::upstream(&mut config, &env)?;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    let (_, relay) = config.parts(&Default::default())?;
    let found = capabilities(relay, &env, &args.model, args.refresh);
    let found = found.map_err(|error| Failure::Config(error.to_string()))?;
    let mut out = io::stdout().lock();
    if found.is_empty() {
        return Err(Failure::Config(format!("no upstream serves {}", args.model)));
    }
    for at in &found {
        let capability = &at.capability;
        let mode = if capability.tools { "native" } else { "prompt" };
        writeln!(out, "{} at {}", harmless(&at.model), harmless(&at.upstream))?;
        writeln!(out, "  tools      {mode:12} {}", harmless(&capability.tools_source.to_string()))?;
        let constrain = capability.constrain.name();
        writeln!(out, "  constrain  {constrain:12} {}", harmless(&capability.constrain_source.to_string()))?;
        if let Some(template) = &capability.template {
            writeln!(out, "  template   {}", harmless(&template.to_string()))?;
        }
    }
    Ok(())
}

//! `callwright serve`: the gateway, configured.

use std::io::{self, IsTerminal, Write};

use callwright_gateway::{Gateway, Secrets, Signals, StartError};

use crate::args::ServeArgs;
use crate::config::{Config, print};
use crate::discover;
use crate::failure::Failure;

/// Serves until the process is told to stop. The first line of the output says where.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(&args.config, &env)?;
    let secrets = Secrets::default();
    let in_color = io::stderr().is_terminal();
    let log = &config.settings.log;
    log.start(in_color, &secrets).map_err(|error| Failure::Config(error.to_string()))?;
    let chosen = discover::upstream(&mut config, &env)?;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    let (mut gateway, relay) = config.parts(&secrets)?;
    gateway.keep = config.keep(&env, &secrets)?;
    if args.check {
        print(&config, &env, &mut io::stdout().lock())?;
        return Gateway::check(&gateway, &relay, &env).map_err(failure);
    }
    let gateway = Gateway::new(gateway, relay, &env).map_err(failure)?;
    writeln!(io::stdout(), "listening on http://{}", gateway.address()?)?;
    gateway.run(Signals::Heed).map_err(failure)
}

fn failure(error: StartError) -> Failure {
    match error {
        StartError::Listen(address, error) => Failure::Listen(address, error),
        StartError::Store(error) => Failure::Store(error),
        StartError::Config(_) | StartError::Open(_) | StartError::Threads(_) => {
            Failure::Config(error.to_string())
        }
    }
}

//! `callwright serve`: the gateway, configured.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use callwright_gateway::{Gateway, KeepConfig, Secrets, Signals, StartError};
use callwright_relay::survey::Survey;
use callwright_store::Location;

use crate::args::ServeArgs;
use crate::checkup::{self, Mark};
use crate::config::check::print;
use crate::config::{Config, Env};
use crate::discover::{self, LISTING};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;

/// Serves until the process is told to stop. The first line of the output says where.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(args.flags(), &env)?;
    let secrets = Secrets::default();
    let in_color = io::stderr().is_terminal();
    let log = &config.settings.log;
    log.start(in_color, &secrets).map_err(|error| Failure::Config(error.to_string()))?;
    let chosen = on_runtime(discover::upstream(&mut config, &env))?;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    let (mut gateway, relay) = config.parts(&env, &secrets)?;
    gateway.keep = config.keep(&env, &secrets)?;
    if gateway.keep.is_none() && config.wants_store() {
        let why = "nothing is kept: there is no folder for it, as HOME is not set; --store PATH names one";
        writeln!(io::stderr(), "callwright: {why}")?;
    }
    if args.check {
        print(&config, &env, &mut io::stdout().lock())?;
        Gateway::check(&gateway, &relay, &env).map_err(failure)?;
        if let Some(keep) = &gateway.keep {
            store_opens(keep)?;
        }
        return if args.offline { Ok(()) } else { on_runtime(upstreams_answer(&config, &env)) };
    }
    let gateway = Gateway::new(gateway, relay, &env).map_err(failure)?;
    writeln!(io::stdout(), "listening on http://{}", gateway.address()?)?;
    if !chosen.as_ref().is_some_and(discover::Chosen::is_built_in) {
        warn_of_upstreams(config.survey(&env)?);
    }
    gateway.run(Signals::Heed).map_err(failure)
}

/// Has the log say which upstreams do not answer. Requests do not wait for that: an upstream may start later.
fn warn_of_upstreams(survey: Survey) {
    std::thread::spawn(move || {
        let asked = on_runtime(async { Ok(survey.listings(LISTING).await) });
        let findings = asked.unwrap_or_default();
        for finding in findings.iter().map(checkup::of_upstream).filter(|finding| finding.mark == Mark::Bad) {
            tracing::warn!("[serve] {}", finding.text);
        }
    });
}

/// Asks each upstream for its models, and says what came of it.
async fn upstreams_answer(config: &Config, env: Env<'_>) -> Result<(), Failure> {
    let survey = config.survey(env)?;
    let listings = survey.listings(LISTING).await;
    let mut findings: Vec<_> = listings.iter().map(checkup::of_upstream).collect();
    if let Some(model) = &config.settings.default_model {
        let asked = survey.route(model).into_iter();
        let listed = asked.filter_map(|(upstream, model)| {
            let listing =
                listings.iter().find(|listing| listing.upstream == upstream && listing.models.is_ok());
            listing.map(|listing| checkup::of_model(&model, listing))
        });
        findings.extend(listed);
    }
    let mut out = io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{}", harmless(&finding.to_string()))?;
    }
    let is_well = findings.iter().all(|finding| finding.mark != Mark::Bad);
    if is_well { Ok(()) } else { Err(Failure::Refused) }
}

/// Checks that the store's file can be opened, or made. Nothing is made here, and nothing of an earlier version taken over.
fn store_opens(keep: &KeepConfig) -> Result<(), Failure> {
    let Location::File(path) = &keep.store.location else { return Ok(()) };
    let failed = |error| Failure::Record(path.clone(), error);
    if path.exists() {
        return OpenOptions::new().read(true).append(true).open(path).map(|_| ()).map_err(failed);
    }
    let folder = path.ancestors().skip(1).find(|folder| folder.exists() || folder.as_os_str().is_empty());
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = folder.join(format!(".callwright-{}", std::process::id()));
    OpenOptions::new().write(true).create_new(true).open(&probe).map_err(failed)?;
    std::fs::remove_file(&probe).map_err(failed)
}

pub(crate) fn failure(error: StartError) -> Failure {
    match error {
        StartError::Listen(address, error) => Failure::Listen(address, error),
        StartError::Store(error) => Failure::Store(error),
        StartError::Config(_) | StartError::Traces(_) | StartError::Open(_) | StartError::Threads(_) => {
            Failure::Config(error.to_string())
        }
    }
}

//! The servers of a cell: the model or the replay upstream, and the gateway before it.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::install::Installed;
use crate::scenario::Upstream;
use steps::process::Server;

/// Long: cores are shared, and weights come from a disk.
const START: Duration = Duration::from_secs(120);

/// Starts the real model as `upstream`.
pub(crate) fn model(upstream: Upstream, installed: &Installed) -> Result<Server> {
    let mut command = installed.model_server()?;
    command.args(["--alias", upstream.name()]);
    match upstream {
        Upstream::Replay | Upstream::Smollm2 => {}
        Upstream::Smollm2Tools => {
            command.arg("--template").arg(installed.model_file("hermes.jinja"));
        }
        Upstream::Smollm2Unheard => {
            command.arg("--template").arg(installed.model_file("unheard.jinja"));
        }
        Upstream::Smollm2Nojinja => {
            command.arg("--no-jinja");
        }
    }
    Server::start(&command, &installed.log(upstream.name()), START)
}

/// Starts the replay upstream with a script.
pub(crate) fn replay(script: &toml::Table, installed: &Installed) -> Result<Server> {
    Server::start(&replay_command(script, installed)?, &installed.log("replay"), START)
}

/// The same, which writes down in `record` what it is asked.
pub(crate) fn recorded_replay(script: &toml::Table, record: &Path, installed: &Installed) -> Result<Server> {
    let mut command = replay_command(script, installed)?;
    command.arg("--record").arg(record);
    Server::start(&command, &installed.log("replay"), START)
}

fn replay_command(script: &toml::Table, installed: &Installed) -> Result<Command> {
    let file = installed.written("script.toml");
    fs::write(&file, toml::to_string(script)?)?;
    let mut command = callwright()?;
    command.args(["replay", "--listen", "127.0.0.1:0", "--script"]).arg(file);
    Ok(command)
}

/// Starts the gateway before the upstream at `url`.
pub(crate) fn gateway(url: &str, config: Option<&toml::Table>, installed: &Installed) -> Result<Server> {
    let mut command = callwright()?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "off", "--upstream", &format!("{url}/v1")]);
    if let Some(config) = config {
        command.arg("--config").arg(written("callwright", config, installed)?);
    }
    Server::start(&command, &installed.log("gateway"), START)
}

/// Starts a gateway that is told of no upstream, and looks for none.
pub(crate) fn gateway_alone(installed: &Installed) -> Result<Server> {
    let mut command = callwright()?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "off", "--set", "find_local=false"]);
    command.env_remove("OPENROUTER_API_KEY");
    Server::start(&command, &installed.log("gateway"), START)
}

/// Starts a gateway before the upstreams of `config`; several may run, each with a `name` of its own.
pub(crate) fn configured_gateway(name: &str, config: &toml::Table, installed: &Installed) -> Result<Server> {
    let mut command = callwright()?;
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(written(name, config, installed)?);
    Server::start(&command, &installed.log(name), START)
}

/// Starts a gateway before the upstream at `url`, of which it is said that it speaks this API.
pub(crate) fn gateway_before(
    kind: &str,
    url: &str,
    config: Option<&toml::Table>,
    installed: &Installed,
) -> Result<Server> {
    let mut config = config.cloned().unwrap_or_default();
    let members = [("name", "upstream"), ("kind", kind), ("base_url", &format!("{url}/v1"))];
    let upstream = members.map(|(key, text)| (key.to_owned(), toml::Value::from(text)));
    config.insert("upstreams".into(), vec![toml::Table::from_iter(upstream)].into());
    config.insert("store".into(), toml::Table::from_iter([("at".to_owned(), "off".into())]).into());
    configured_gateway("gateway", &config, installed)
}

fn written(name: &str, config: &toml::Table, installed: &Installed) -> Result<PathBuf> {
    let file = installed.written(&format!("{name}.toml"));
    fs::write(&file, toml::to_string(config)?)?;
    Ok(file)
}

/// The binary, which is built beside ours.
pub(crate) fn callwright() -> Result<Command> {
    let own: PathBuf = env::current_exe().context("where do we stand?")?;
    Ok(Command::new(own.with_file_name("callwright")))
}

/// What the binary prints, given `input`.
pub(crate) fn said(arguments: &[&str], input: &str) -> Result<String> {
    let mut child = callwright()?
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
}

//! `callwright launch`: an agent and a gateway of its own, which live and end together.
//!
//! The agent gets its settings as variables, as arguments, or in a copy of its folder: no file of the user's changes.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use callwright_gateway::{ClientKey, Gateway, Secrets, Signals, StartError};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::args::LaunchArgs;
use crate::config::{Config, Env};
use crate::discover;
use crate::failure::Failure;
use crate::key;
use crate::serve;
use crate::setup::{self, Agent, Values};

/// The time that an agent may take to end once it is told to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs the agent to its end, with its exit code.
pub(crate) fn run(args: &LaunchArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let agent = Agent::named(&args.agent)
        .ok_or_else(|| Failure::Config(format!("no agent is called {}", args.agent)))?;
    let program = agent.found(&env).ok_or_else(|| {
        Failure::Config(format!("{} is not installed: there is no `{}` on PATH", agent.title, agent.program))
    })?;
    let mut config = Config::load(args.gateway.flags(), &env)?;
    let secrets = Secrets::default();
    // The screen is the agent's: lines of the log are for who asks for them.
    if config.origins.contains_key("log.level") {
        let log = &config.settings.log;
        log.start(false, &secrets).map_err(|error| Failure::Config(error.to_string()))?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let chosen = runtime.block_on(discover::upstream(&mut config, &env))?;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    let model = match &args.model {
        Some(model) => model.clone(),
        None => runtime.block_on(discover::model(&config, &env))?,
    };
    let (mut gateway, relay) = config.parts(&env, &secrets)?;
    gateway.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    gateway.keep = config.keep(&env, &secrets)?;
    let mut values = Values { model, ..Values::default() };
    if !gateway.keys.is_empty() {
        let key = key::new()?;
        gateway.keys.push(ClientKey::of(&key));
        values.key = Some((String::from("CALLWRIGHT_KEY"), key));
    }
    let gateway = Gateway::new(gateway, relay, &env).map_err(serve::failure)?;
    values.url = format!("http://{}", gateway.address()?);
    writeln!(io::stderr(), "callwright: {} asks {} at {}", agent.title, values.model, values.url)?;
    let folder = Folder::new()?;
    let mut command = Command::new(program);
    prepare(&mut command, agent, &mut values, &folder, &env)?;
    command.args(&args.arguments);
    let stop = gateway.stop();
    let (told, ended) = oneshot::channel();
    let thread = std::thread::spawn(move || _ = told.send(gateway.run(Signals::Ignore)));
    let done = runtime.block_on(together(command, ended));
    stop.close();
    // It says nothing that could still be told.
    let _ = thread.join();
    drop(folder);
    match code(done?) {
        0 => Ok(()),
        code => Err(Failure::Ended(code)),
    }
}

/// Gives the agent its settings.
fn prepare(
    command: &mut Command,
    agent: &Agent,
    values: &mut Values,
    folder: &Folder,
    env: Env<'_>,
) -> Result<(), Failure> {
    let nothing = || {
        let why = format!("{} can only be set up: callwright setup {}", agent.title, agent.name);
        Failure::Config(why)
    };
    let launch = match &agent.launch {
        None if agent.files.is_empty() => None,
        launch => Some(launch.as_ref().ok_or_else(nothing)?),
    };
    let mut changed = Vec::new();
    for file in &agent.files {
        let set = file.set(values);
        let path =
            file.path(env).ok_or_else(|| Failure::Config(String::from("there is no home: set HOME")))?;
        let text = setup::read(&path)?.unwrap_or_default();
        let text = file.format.merge(&text, &set, &file.lists);
        let text = text.map_err(|why| Failure::Config(format!("{}: {why}", path.display())))?;
        if changed.is_empty() {
            values.more.insert("json", set.to_string());
            let copy = folder.0.join(path.file_name().unwrap_or_default());
            setup::put(&copy, &text)?;
            values.more.insert("file", copy.display().to_string());
        }
        changed.push((path, text));
    }
    if let Some(launch) = launch {
        if let Some(own) = launch.folder(env) {
            let copy = folder.0.join("folder");
            let inside: Vec<(&Path, &str)> = changed
                .iter()
                .filter_map(|(path, text)| Some((path.strip_prefix(&own).ok()?, text.as_str())))
                .collect();
            lay_over(&own, &copy, &inside)?;
            if let Some(variable) = &launch.folder_variable {
                command.env(variable, &copy);
            }
            values.more.insert("folder", copy.display().to_string());
        }
        command.args(launch.arguments.iter().map(|argument| values.fill(argument)));
        command.envs(launch.variables(values));
    }
    command.envs(agent.variables(values));
    if let Some((variable, key)) = &values.key {
        command.env(variable, key);
    }
    Ok(())
}

/// Makes a folder like `own`, of links to what stands there, but with these files.
fn lay_over(own: &Path, copy: &Path, files: &[(&Path, &str)]) -> Result<(), Failure> {
    let failed = |error| Failure::Record(copy.to_owned(), error);
    fs::create_dir_all(copy).map_err(failed)?;
    for entry in fs::read_dir(own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = Path::new(&name);
        if files.iter().all(|(path, _)| !path.starts_with(name)) {
            link(&entry.path(), &copy.join(name)).map_err(failed)?;
        }
    }
    for (path, text) in files {
        let mut parts = path.components();
        match (parts.next(), parts.as_path()) {
            (Some(first), rest) if !rest.as_os_str().is_empty() => {
                lay_over(&own.join(first), &copy.join(first), &[(rest, text)])?;
            }
            (_, _) => setup::put(&copy.join(path), text)?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    // Links take rights there that users rarely have; what is no file is left out.
    if to.is_file() { fs::copy(to, at).map(|_| ()) } else { Ok(()) }
}

/// A folder for this run alone, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let name = format!("callwright-launch-{}", key::new()?.get(..19).unwrap_or_default());
        let folder = Folder(std::env::temp_dir().join(name));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder.0).map_err(|error| Failure::Record(folder.0.clone(), error))?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Links are removed, not what they lead to. What is left lies where all temporary files lie.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits for the agent. It is ended where the gateway ends before it, or where we are told to end.
async fn together(
    mut command: Command,
    mut gateway: oneshot::Receiver<Result<(), StartError>>,
) -> Result<ExitStatus, Failure> {
    // Whoever is told to end before the agent runs must not leave it behind.
    let mut signals = EndSignals::new()?;
    let mut child = command.spawn().map_err(|error| {
        Failure::Config(format!(
            "{} does not start: {error}",
            Path::new(command.as_std().get_program()).display()
        ))
    })?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            ended = &mut gateway => {
                let why = match ended {
                    Ok(Err(error)) => format!(": {error}"),
                    Ok(Ok(())) | Err(_) => String::new(),
                };
                end(&mut child, End::Terminate).await?;
                return Err(Failure::GatewayEnded(why));
            }
            signal = signals.next() => match signal {
                // At a terminal Ctrl-C reaches the agent as well, which decides what it means.
                End::Interrupt if io::stdin().is_terminal() => {}
                End::Interrupt => tell(&child, End::Interrupt),
                End::Terminate => return end(&mut child, End::Terminate).await,
            }
        }
    }
}

/// Tells the agent to end, and sees to it that it does.
async fn end(child: &mut Child, how: End) -> Result<ExitStatus, Failure> {
    tell(child, how);
    if let Ok(status) = tokio::time::timeout(PATIENCE, child.wait()).await {
        return Ok(status?);
    }
    child.start_kill()?;
    Ok(child.wait().await?)
}

/// The signals to us, which we pass to the agent.
#[derive(Clone, Copy, Debug)]
enum End {
    Interrupt,
    Terminate,
}

#[cfg(unix)]
fn tell(child: &Child, end: End) {
    use rustix::process::{Pid, Signal, kill_process};
    let signal = match end {
        End::Interrupt => Signal::INT,
        End::Terminate => Signal::TERM,
    };
    let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    // Who is gone already needs no telling.
    let _ = id.map(|id| kill_process(id, signal));
}

#[cfg(not(unix))]
fn tell(_child: &Child, _end: End) {}

#[cfg(unix)]
struct EndSignals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl EndSignals {
    fn new() -> io::Result<EndSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(EndSignals([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    async fn next(&mut self) -> End {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => End::Interrupt,
            _ = terminate.recv() => End::Terminate,
            _ = hangup.recv() => End::Terminate,
        }
    }
}

#[cfg(not(unix))]
struct EndSignals;

#[cfg(not(unix))]
impl EndSignals {
    fn new() -> io::Result<EndSignals> {
        Ok(EndSignals)
    }

    async fn next(&mut self) -> End {
        let _ = tokio::signal::ctrl_c().await;
        End::Interrupt
    }
}

/// The exit code that says how it ended, as a shell has it.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(u8::MAX))
}

//! An agent as it is configured: its client, its tools, its journal, and whoever sits at the terminal.

pub(crate) mod diff;
pub(crate) mod paint;
pub(crate) mod preview;
mod terminal;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callwright_agent::mcp::{Servers, Surroundings, Tell};
use callwright_agent::run::{Approver, Journal, Resumed, RunnerBuilder, Unattended};
use callwright_agent::tools::{Host, built_in};
use callwright_agent::{Changes, Commands, Launcher, Rights, Tool, Toolbox, Workspace};
use callwright_gateway::Secrets;
use callwright_relay::Client;
use callwright_store::{Location, Store};

use crate::args::{AgentArgs, Repairs};
use crate::config::Config;
use crate::discover;
use crate::failure::Failure;
use crate::mcp;
use terminal::Terminal;
pub(crate) use terminal::forget_typed;

/// The word after which the binary is the keeper of one command of the agent, and reads no other arguments.
pub(crate) const KEEPER: &str = "__sandbox";

/// All that a run needs, ready to be started.
pub(crate) struct Agent {
    pub(crate) config: Config,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) commands: Arc<Commands>,
    /// The changes of tools in files.
    pub(crate) changes: Arc<Changes>,
    /// The built-in tools, and those of servers that were [connected](Agent::connect).
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    servers: Servers,
    pub(crate) client: Client,
    pub(crate) rights: Rights,
    /// The journal of the run; `None` where the store is off.
    pub(crate) journal: Option<Journal>,
    person: Option<Person>,
    /// The built-in upstream, where that was chosen.
    _chosen: Option<discover::Chosen>,
}

/// Whoever is asked.
pub(crate) struct Person {
    approver: Arc<dyn Approver>,
    host: Arc<dyn Host>,
}

impl Person {
    /// Somebody who approves calls, and answers questions of the model.
    pub(crate) fn of<P: Approver + Host + 'static>(person: Arc<P>) -> Person {
        Person { approver: person.clone(), host: person }
    }
}

impl Agent {
    /// An agent that works in `workspace` on a session of this name. Where nobody is named who is asked, that is
    /// whoever sits at the terminal.
    ///
    /// # Errors
    /// What is configured cannot be used, or a folder cannot be opened.
    pub(crate) async fn open(
        args: &AgentArgs,
        mut config: Config,
        workspace: &Path,
        session: &str,
        journal: Option<Journal>,
        person: Option<Person>,
    ) -> Result<Agent, Failure> {
        let env = |name: &str| std::env::var(name).ok();
        let chosen = discover::upstream(&mut config, &env).await?;
        if let Some(chosen) = &chosen {
            writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
        }
        let (_, relay) = config.parts(&env, &Secrets::default())?;
        let client = Client::new(relay, &env).map_err(|error| Failure::Config(error.to_string()))?;
        let unreadable = |error| Failure::Read(workspace.to_owned(), error);
        let workspace = Arc::new(Workspace::open(workspace).map_err(unreadable)?);
        let folder = folder(&config, &workspace, session);
        let record = |error| Failure::Record(folder.clone(), error);
        let changes = Arc::new(Changes::open(&folder.join("undo"), workspace.clone()).map_err(record)?);
        let program = std::env::current_exe().map_err(record)?;
        let launcher = Launcher::new(program, &[KEEPER]);
        let commands = Commands::new(launcher, workspace.root(), &folder.join("tmp"), std::env::vars_os());
        let store = journal.as_ref().and_then(|journal| match journal.store().location() {
            Location::File(path) => Some(path.clone()),
            Location::Postgres(_) => None,
        });
        let runs = folder.parent().map(Path::to_owned);
        let kept = config.state_folder(&env).into_iter().chain(runs).chain(store);
        let commands = commands.map_err(record)?.with_hidden(kept);
        if let Some(missing) = args.read.iter().find(|folder| !folder.exists()) {
            return Err(Failure::Read(missing.clone(), io::ErrorKind::NotFound.into()));
        }
        let commands = commands.with_readable(args.read.iter().cloned());
        if let Some(unheld) = commands.unheld() {
            writeln!(io::stderr(), "callwright: this system cannot sandbox commands fully: {unheld}")?;
        }
        let commands = Arc::new(if args.network { commands.with_network() } else { commands });
        // Whoever can see what is asked can answer it.
        let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
        let person = person
            .or_else(|| is_attended.then(|| Person::of(Arc::new(Terminal { workspace: workspace.clone() }))));
        let host: Arc<dyn Host> = match &person {
            Some(person) => person.host.clone(),
            None => Arc::new(terminal::NobodyThere),
        };
        let tools = built_in(&changes, &commands, &host);
        let names = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
        let rights = Rights {
            yes: args.yes,
            allow: names(&args.allow),
            deny: names(&args.deny),
            repairs: args.repairs.map(Repairs::class),
        };
        Ok(Agent {
            config,
            workspace,
            commands,
            changes,
            tools,
            servers: Servers::default(),
            client,
            rights,
            journal,
            person,
            _chosen: chosen,
        })
    }

    /// Starts the configured MCP servers, whose tools come behind the built-in ones. `tell` hears of what cannot be used.
    ///
    /// # Errors
    /// One of them cannot be used as it is configured.
    pub(crate) async fn connect(&mut self, tell: Tell) -> Result<(), Failure> {
        if self.config.settings.mcp.is_empty() {
            return Ok(());
        }
        let env = |name: &str| std::env::var(name).ok();
        let surroundings = mcp::surroundings(&self.config, &env)?;
        let surroundings = Surroundings { folder: self.workspace.root().to_owned(), ..surroundings };
        let servers = Servers::connect(&self.config.settings.mcp, &surroundings, tell).await;
        self.servers = servers.map_err(|error| Failure::Config(error.to_string()))?;
        self.tools.extend(self.servers.tools());
        Ok(())
    }

    /// The model to be asked: `named`, else the one that the configuration or the upstream leaves.
    ///
    /// # Errors
    /// There are several, or none.
    pub(crate) async fn model(&self, named: Option<String>) -> Result<String, Failure> {
        let env = |name: &str| std::env::var(name).ok();
        match named {
            Some(model) => Ok(model),
            None => discover::model(&self.config, &env).await,
        }
    }

    /// Ends what was started: commands and servers.
    pub(crate) async fn close(&self) {
        self.commands.end_all().await;
        self.servers.close().await;
    }

    /// Checks that the tools that the command line allows or denies are among those that there are. A run may have fewer.
    ///
    /// # Errors
    /// One that is not: a typing error would let something run, or keep it from running.
    pub(crate) fn check_rights(&self, toolbox: &Toolbox) -> Result<(), Failure> {
        let definitions: Vec<_> = self.tools.iter().map(|tool| tool.definition()).collect();
        let all = definitions.iter().filter_map(|definition| definition["function"]["name"].as_str());
        let known: BTreeSet<&str> = all.chain(toolbox.names()).collect();
        for (flag, names) in [("--allow", &self.rights.allow), ("--deny", &self.rights.deny)] {
            if let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return Err(Failure::Config(format!(
                    "{flag} {unknown}: there is no such tool; there are {known}"
                )));
            }
        }
        Ok(())
    }

    /// A run with these tools, everything else as it is configured.
    pub(crate) fn builder(&self, toolbox: Toolbox) -> RunnerBuilder {
        let approver: Arc<dyn Approver> = match &self.person {
            Some(person) => person.approver.clone(),
            None => Arc::new(Unattended),
        };
        RunnerBuilder {
            rights: self.rights.clone(),
            approver,
            model: self.config.settings.default_model.clone(),
            journal: self.journal.clone(),
            ..RunnerBuilder::new(self.client.clone(), Arc::new(toolbox), self.workspace.clone())
        }
    }
}

/// The heading under which a refused call is shown.
pub(crate) fn refusal_title(code: &str) -> &'static str {
    match code {
        "unreadable" | "too-long" | "truncated" | "open-end" | "shape" => "⚠️  JSON Parse Error:",
        _ => "⚠️  Tool Call Error:",
    }
}

/// Heeds each Ctrl-C, for as long as this is awaited. One listener hears all: one for each would miss what comes in between.
pub(crate) async fn each_interrupt(mut heed: impl FnMut()) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut interrupts) = signal(SignalKind::interrupt()) else { return };
        while interrupts.recv().await.is_some() {
            heed();
        }
    }
    #[cfg(not(unix))]
    while tokio::signal::ctrl_c().await.is_ok() {
        heed();
    }
}

/// Opens the store that is configured. Keys of upstreams never get into it.
pub(crate) fn store(config: &Config) -> Result<Option<Store>, Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let secrets = Secrets::default();
    let keys = config.settings.upstreams.iter().filter_map(|upstream| env(upstream.key_env.as_deref()?));
    keys.for_each(|key| secrets.keep(&key));
    let Some(keep) = config.keep(&env, &secrets)? else { return Ok(None) };
    match Store::open(keep.store) {
        Ok(store) => {
            for notice in store.notices() {
                writeln!(io::stderr(), "callwright: {notice}")?;
            }
            Ok(Some(store))
        }
        Err(error) if keep.is_needed => Err(Failure::Store(error)),
        Err(error) => {
            writeln!(io::stderr(), "callwright: {error}; this run is not kept, and cannot be resumed")?;
            Ok(None)
        }
    }
}

/// The journal of a session, which nobody else goes on with from here on; and the run that it holds where `goes_on`.
///
/// # Errors
/// Somebody else is at it; where `goes_on`, there is nothing to go on with, and else there is something already.
pub(crate) async fn journal(
    store: Option<&Store>,
    session: &str,
    goes_on: bool,
) -> Result<(Option<Journal>, Option<Resumed>), Failure> {
    let Some(store) = store else {
        let none = || Failure::Config(String::from("nothing is kept: the store is off"));
        return if goes_on { Err(none()) } else { Ok((None, None)) };
    };
    let journal = Journal::open(store.clone(), session).await.map_err(Failure::Store)?;
    match journal.resumed().await.map_err(Failure::Store)? {
        Some(Ok(resumed)) if goes_on => Ok((Some(journal), Some(resumed))),
        Some(Err(error)) if goes_on => Err(Failure::Config(error.to_string())),
        Some(_) => {
            let why = format!("there is a session {session} already: --resume {session} goes on with it");
            Err(Failure::Config(why))
        }
        None if goes_on => Err(Failure::NoSession(session.to_owned())),
        None => Ok((Some(journal), None)),
    }
}

/// A new session's name: `run-3f9c…`.
pub(crate) fn new_session(kind: &str) -> Result<String, Failure> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Config(error.to_string()))?;
    Ok(bytes.iter().fold(format!("{kind}-"), |name, byte| format!("{name}{byte:02x}")))
}

/// Returns the folder of the session's undo, and of the files that its commands write for a while: outside of the workspace.
fn folder(config: &Config, workspace: &Workspace, session: &str) -> PathBuf {
    let env = |name: &str| std::env::var(name).ok();
    let is_outside = |folder: &PathBuf| !folder.starts_with(workspace.root());
    // A session may be named as the user likes.
    let name: String =
        session.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let own = config.state_folder(&env).map(|folder| folder.join("runs"));
    let own =
        own.filter(|folder| is_outside(&std::path::absolute(folder).unwrap_or_else(|_| folder.clone())));
    own.unwrap_or_else(|| std::env::temp_dir().join("callwright-runs")).join(name)
}

//! An agent as it is configured: its client, its tools, its journal, and whoever sits at the terminal.

mod terminal;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callwright_agent::run::{Approver, Journal, RunnerBuilder, Unattended};
use callwright_agent::tools::{Host, built_in};
use callwright_agent::{Changes, Commands, Launcher, Rights, Tool, Toolbox, Workspace};
use callwright_gateway::Secrets;
use callwright_relay::Client;
use callwright_store::Store;

use crate::args::AgentArgs;
use crate::config::Config;
use crate::discover;
use crate::failure::Failure;
use terminal::Terminal;

/// All that a run needs, ready to be started.
pub(crate) struct Agent {
    pub(crate) config: Config,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) commands: Arc<Commands>,
    /// The built-in tools.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) client: Client,
    pub(crate) rights: Rights,
    /// Where runs are written down; none where the store is off.
    pub(crate) store: Option<Store>,
    terminal: Option<Arc<Terminal>>,
    /// The built-in upstream, where that was chosen.
    _chosen: Option<discover::Chosen>,
}

impl Agent {
    /// An agent that works in `workspace` on a session of this name.
    ///
    /// # Errors
    /// What is configured cannot be used, or a folder cannot be opened.
    pub(crate) fn open(
        args: &AgentArgs,
        mut config: Config,
        workspace: &Path,
        session: &str,
        store: Option<Store>,
    ) -> Result<Agent, Failure> {
        let env = |name: &str| std::env::var(name).ok();
        let chosen = discover::upstream(&mut config, &env)?;
        if let Some(chosen) = &chosen {
            writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
        }
        let (_, relay) = config.parts(&Secrets::default())?;
        let client = Client::new(relay, &env).map_err(|error| Failure::Config(error.to_string()))?;
        let unreadable = |error| Failure::Read(workspace.to_owned(), error);
        let workspace = Arc::new(Workspace::open(workspace).map_err(unreadable)?);
        let folder = folder(&config, &workspace, session);
        let record = |error| Failure::Record(folder.clone(), error);
        let changes = Arc::new(Changes::open(&folder.join("undo"), workspace.clone()).map_err(record)?);
        let program = std::env::current_exe().map_err(record)?;
        let launcher = Launcher::new(program, &[crate::KEEPER]);
        let commands = Commands::new(launcher, workspace.root(), &folder.join("tmp"), std::env::vars_os());
        let commands = commands.map_err(record)?;
        let commands = Arc::new(if args.network { commands.with_network() } else { commands });
        // Whoever can see what is asked can answer it.
        let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal();
        let terminal = is_attended.then(|| Arc::new(Terminal));
        let host: Arc<dyn Host> = match &terminal {
            Some(terminal) => terminal.clone(),
            None => Arc::new(terminal::NobodyThere),
        };
        let tools = built_in(&changes, &commands, &host);
        let names = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
        let rights = Rights { yes: args.yes, allow: names(&args.allow), deny: names(&args.deny) };
        Ok(Agent { config, workspace, commands, tools, client, rights, store, terminal, _chosen: chosen })
    }

    /// A run with these tools, everything else as it is configured.
    pub(crate) fn builder(&self, toolbox: Toolbox, session: &str) -> RunnerBuilder {
        let approver: Arc<dyn Approver> = match &self.terminal {
            Some(terminal) => terminal.clone(),
            None => Arc::new(Unattended),
        };
        RunnerBuilder {
            rights: self.rights.clone(),
            approver,
            model: self.config.settings.default_model.clone(),
            journal: self.store.clone().map(|store| Journal::new(store, session)),
            ..RunnerBuilder::new(self.client.clone(), Arc::new(toolbox), self.workspace.clone())
        }
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
        Ok(store) => Ok(Some(store)),
        Err(error) if keep.is_needed => Err(Failure::Store(error)),
        Err(error) => {
            writeln!(io::stderr(), "callwright: {error}; this run is not kept, and cannot be resumed")?;
            Ok(None)
        }
    }
}

/// A new session's name: `run-3f9c…`.
pub(crate) fn new_session(kind: &str) -> Result<String, Failure> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Config(error.to_string()))?;
    Ok(bytes.iter().fold(format!("{kind}-"), |name, byte| format!("{name}{byte:02x}")))
}

/// Where the session's undo stands, and what its commands write for a while: outside of the workspace.
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

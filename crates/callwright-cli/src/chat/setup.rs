//! Puts a session together: the agent as it is configured, the screen, and what is to go on.

use std::path::PathBuf;
use std::sync::Arc;

use callwright::json;
use callwright_agent::mcp::{Notice, Tell};
use callwright_agent::run::{RunError, Runner};
use callwright_agent::{Toolbox, Workspace};
use callwright_store::{Secrets, Store};

use super::lines::Lines;
use super::screen::{Screen, Shows};
use crate::agent::paint::{Paint, Style};
use crate::agent::{Agent, Person, journal, new_session, store};
use crate::args::ChatArgs;
use crate::config::{Config, Env};
use crate::failure::Failure;

/// The first words to the model.
const SYSTEM: &str = "You are a coding and task agent in the user's terminal. You work in one folder, the workspace, \
    with the tools that you are given. Look before you change something, make the smallest change that does what is \
    asked, and check that it works. Say in one or two sentences what you did. Ask the user where only the user can \
    decide.";

/// A session, and what it holds on to.
pub(super) struct Session {
    pub(super) runner: Runner,
    pub(super) screen: Arc<Screen>,
    pub(super) agent: Agent,
    pub(super) lines: Lines,
    /// Its name, where it is kept.
    pub(super) id: String,
    pub(super) store: Option<Store>,
    /// The folder of dumps.
    pub(super) dumps: Option<PathBuf>,
}

impl Session {
    /// Reads the configuration, opens the workspace and the store, starts the servers.
    ///
    /// # Errors
    /// What is configured cannot be used, or the session that is to go on cannot.
    pub(super) async fn open(args: &ChatArgs, env: Env<'_>, paint: Paint) -> Result<Session, Failure> {
        let config = Config::load(args.agent.gateway.flags(), env)?;
        let store = store(&config)?;
        let secrets = Secrets::default();
        let keys =
            config.settings.upstreams.iter().filter_map(|upstream| env(upstream.key_env.as_deref()?));
        keys.for_each(|key| secrets.keep(&key));
        let dumps = config.keep(env, &secrets)?.map(|keep| keep.dumps);
        let id = match args.resume.clone().or_else(|| args.session.clone()) {
            Some(id) => id,
            None => new_session("chat")?,
        };
        let (journal, resumed) = journal(store.as_ref(), &id, args.resume.is_some()).await?;

        let kept = resumed.as_ref().map(|resumed| &resumed.facts);
        let place = kept.and_then(|facts| facts["workspace"].as_str()).map(PathBuf::from);
        let place = match args.agent.workspace.clone().or(place) {
            Some(place) => place,
            None => std::env::current_dir().map_err(|error| Failure::Read(".".into(), error))?,
        };
        let seen = Workspace::open(&place).map_err(|error| Failure::Read(place.clone(), error))?;
        let lines = Lines::open(config.state_folder(&env).map(|folder| folder.join("history")));
        let shows = Shows { verbose: args.verbose.into(), raw: args.debug_raw };
        let screen = Arc::new(Screen::new(shows, paint, lines.clone(), seen, secrets));

        let person = Some(Person::of(screen.clone()));
        let mut agent = Agent::open(&args.agent, config, &place, &id, journal, person).await?;
        let said = screen.clone();
        let tell: Tell = Arc::new(move |notice: Notice| {
            said.say(&said.paint().of(Style::Yellow, &notice.to_string()));
        });
        agent.connect(tell).await?;
        // There is always more to be said: the session ends when the user leaves.
        let tools = agent.tools.iter().filter(|tool| !tool.ends_run()).cloned().collect();
        let toolbox = Toolbox::new(tools);
        let toolbox = toolbox.map_err(|error| Failure::Definitions("the tools".into(), error.to_string()))?;

        agent.check_rights(&toolbox)?;
        let mut builder = agent.builder(toolbox);
        let settings = &agent.config.settings;
        builder.settings.system = Some(SYSTEM.to_owned());
        builder.settings.policy = settings.policy;
        builder.settings.notes = settings.notes;
        let kept_model = kept.and_then(|facts| facts["model"].as_str()).map(str::to_owned);
        builder.model = Some(agent.model(args.model.clone().or(kept_model)).await?);
        builder.facts =
            json!({"workspace": agent.workspace.root().to_string_lossy(), "model": builder.model});
        builder.watch = screen.clone();
        let mut runner = match resumed {
            Some(resumed) => builder.resume(resumed),
            None => builder.build(),
        };
        let policy = args.agent.gateway.requests.policy.is_some().then_some(settings.policy);
        if policy.is_some() || args.max_turns.is_some() {
            let change = |settings: &mut callwright_agent::run::Settings| {
                settings.policy = policy.unwrap_or(settings.policy);
                settings.stop.max_turns = args.max_turns.or(settings.stop.max_turns);
            };
            runner.set(change).await.map_err(failure)?;
        }
        screen.cancels(runner.cancel());
        Ok(Session { runner, screen, agent, lines, id, store, dumps })
    }

    /// Ends what was started.
    pub(super) async fn close(&self) {
        self.agent.close().await;
        if let Some(store) = &self.store {
            // It has all that was acknowledged.
            store.close();
        }
    }
}

/// Ends the session with the reason why a run cannot go on.
pub(super) fn failure(error: RunError) -> Failure {
    match error {
        RunError::Journal(error) => Failure::Store(error),
        RunError::Stopped => Failure::Ended(130),
    }
}

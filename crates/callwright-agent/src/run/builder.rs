//! Builds a run of its parts.

use std::fmt;
use std::sync::Arc;

use callwright::value::{Map, Value};
use callwright_relay::Client;
use callwright_store::StoreError;

use super::approver::{Approver, Unattended};
use super::driver::Runner;
use super::event::{Nobody, Step, Watch};
use super::journal::Journal;
use super::machine::{Machine, Settings};
use super::resume::Resumed;
use super::stop::Ended;
use crate::rights::Rights;
use crate::tool::Limits;
use crate::toolbox::Toolbox;
use crate::workspace::Workspace;

/// The parts of a run. All but the client, the toolbox and the workspace have defaults.
///
/// ```no_run
/// use std::sync::Arc;
/// use callwright_agent::{Toolbox, Workspace, tool, tools};
/// use callwright_agent::run::{Outcome, RunnerBuilder};
/// use callwright_relay::Client;
///
/// /// Add two numbers together.
/// #[tool(read)]
/// fn add_numbers(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::to("http://127.0.0.1:8080/v1")?;
/// let toolbox = Arc::new(Toolbox::new(tools![add_numbers])?);
/// let workspace = Arc::new(Workspace::open(".".as_ref())?);
/// let mut runner = RunnerBuilder::new(client, toolbox, workspace).build();
/// runner.say("What is 2 + 3?").await?;
/// if let Outcome::Ended(ended) = runner.run().await? {
///     println!("{}", ended.sentence);
/// }
/// # Ok(())
/// # }
/// ```
pub struct RunnerBuilder {
    /// The client that asks models.
    pub client: Client,
    /// The tools.
    pub toolbox: Arc<Toolbox>,
    /// The files that tools may reach.
    pub workspace: Arc<Workspace>,
    /// The settings of the run.
    pub settings: Settings,
    /// The model; `None` means the client's default.
    pub model: Option<String>,
    /// Further members of each request: `temperature`, `max_tokens`.
    pub request: Map,
    /// The user's permissions.
    pub rights: Rights,
    /// The approver for calls that the permissions leave open; nobody by default.
    pub approver: Arc<dyn Approver>,
    /// The watcher of the run's events.
    pub watch: Arc<dyn Watch>,
    /// The journal of the run. A run without one cannot be resumed.
    pub journal: Option<Journal>,
    /// Facts that the caller needs when the run is resumed.
    pub facts: Value,
    /// The most that results of tools may hold.
    pub limits: Limits,
    /// The prices of a million tokens of questions and of answers.
    pub prices: Option<(f64, f64)>,
    /// A check after each turn that may end the run with a sentence.
    pub stop_when: Option<Predicate>,
}

/// A check whether the caller has seen enough; it returns the closing sentence.
pub type Predicate = Arc<dyn Fn(&Machine, &Step) -> Option<String> + Send + Sync>;

impl RunnerBuilder {
    /// Creates a run of these parts, with defaults for all others.
    pub fn new(client: Client, toolbox: Arc<Toolbox>, workspace: Arc<Workspace>) -> RunnerBuilder {
        RunnerBuilder {
            client,
            toolbox,
            workspace,
            settings: Settings::default(),
            model: None,
            request: Map::new(),
            rights: Rights::default(),
            approver: Arc::new(Unattended),
            watch: Arc::new(Nobody),
            journal: None,
            facts: Value::Null,
            limits: Limits::default(),
            prices: None,
            stop_when: None,
        }
    }

    /// Builds a run in which nothing has been said yet.
    pub fn build(self) -> Runner {
        let machine = Machine::new(self.settings.clone());
        Runner::of(self, machine)
    }

    /// Builds a run that goes on from the journal. It keeps the journal's settings, which only [`Runner::set`] changes.
    pub fn resume(self, resumed: Resumed) -> Runner {
        let Resumed { machine, begun, masked, .. } = resumed;
        let mut runner = Runner::of(self, machine);
        (runner.begun, runner.masked) = (begun, masked);
        (runner.is_written, runner.is_resumed) = (true, true);
        runner
    }
}

impl fmt::Debug for RunnerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnerBuilder").field("toolbox", &self.toolbox).finish_non_exhaustive()
    }
}

/// The result of letting a run go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run is over. A further message continues it.
    Ended(Ended),
    /// The run cannot go on until somebody acts; the sentence says how. Its state is kept.
    Blocked(String),
}

impl Outcome {
    /// Returns the sentence for the user.
    pub fn sentence(&self) -> &str {
        match self {
            Outcome::Ended(ended) => &ended.sentence,
            Outcome::Blocked(sentence) => sentence,
        }
    }
}

/// The reason why a run stops in the middle.
#[derive(Debug)]
pub enum RunError {
    /// The journal cannot be written, so nothing more is done.
    Journal(StoreError),
    /// The user cancelled twice. The results of running calls are unknown.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Journal(error) => write!(f, "the run stops, as it cannot be written down: {error}"),
            RunError::Stopped => f.write_str("stopped at once: what running calls came to is not known"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> RunError {
        RunError::Journal(error)
    }
}

//! What a run is made of, and what comes of it.

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

/// What a run is made of. All but the client, the toolbox and the workspace has a default.
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
    /// Who asks models.
    pub client: Client,
    /// The tools.
    pub toolbox: Arc<Toolbox>,
    /// The files that tools may reach.
    pub workspace: Arc<Workspace>,
    /// What holds for the run.
    pub settings: Settings,
    /// The model; the client's default where there is none.
    pub model: Option<String>,
    /// Further members of each request: `temperature`, `max_tokens`.
    pub request: Map,
    /// What the user permits.
    pub rights: Rights,
    /// Who is asked where that does not say it. Nobody, unless set.
    pub approver: Arc<dyn Approver>,
    /// Who is told of what happens.
    pub watch: Arc<dyn Watch>,
    /// Where it is written down. Without one a run cannot be resumed.
    pub journal: Option<Journal>,
    /// What the caller needs when the run is resumed.
    pub facts: Value,
    /// How much the results of tools may hold.
    pub limits: Limits,
    /// What a million tokens of questions and of answers cost.
    pub prices: Option<(f64, f64)>,
    /// Ends the run with this sentence, asked after each turn.
    pub stop_when: Option<Predicate>,
}

/// Has whoever started the run seen enough? Then with this sentence.
pub type Predicate = Arc<dyn Fn(&Machine, &Step) -> Option<String> + Send + Sync>;

impl RunnerBuilder {
    /// A run with these, everything else as it is by default.
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

    /// A run in which nothing has been said yet.
    pub fn build(self) -> Runner {
        let machine = Machine::new(self.settings.clone());
        Runner::of(self, machine)
    }

    /// A run that goes on where it stood. Its settings are those of the journal, changed by [`Runner::set`] only.
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

/// What came of letting a run go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is over. More can be said, and it goes on.
    Ended(Ended),
    /// It cannot go on until somebody does something; the sentence says what. Where it stands is kept.
    Blocked(String),
}

impl Outcome {
    /// What the user reads.
    pub fn sentence(&self) -> &str {
        match self {
            Outcome::Ended(ended) => &ended.sentence,
            Outcome::Blocked(sentence) => sentence,
        }
    }
}

/// Why a run stops where it stands.
#[derive(Debug)]
pub enum RunError {
    /// What happened cannot be written down. Nothing more is done.
    Journal(StoreError),
    /// The user cancelled twice. What the calls came to that were running is not known.
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

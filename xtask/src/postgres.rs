//! A server of Postgres for the tests of the store: in a folder of its own, on a free port, not run as root.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// The variable by which tests are told of the server.
pub(crate) const VARIABLE: &str = "CALLWRIGHT_TEST_POSTGRES";

/// Runs until it is dropped; its folder goes with it.
pub(crate) struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    is_root: bool,
    /// Where it is reached.
    pub(crate) url: String,
}

impl Postgres {
    /// Installs it where it is missing, and starts it.
    pub(crate) fn start() -> Result<Postgres> {
        let programs = installed()?;
        let folder = std::env::temp_dir().join(format!("callwright-postgres-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let id = Command::new("id").arg("-u").output().context("who are we?")?;
        let is_root = id.stdout.trim_ascii() == b"0";
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let url = format!("postgres://callwright@127.0.0.1:{port}/postgres");
        let postgres = Postgres { folder, programs, is_root, url };
        if is_root {
            quietly(Command::new("chown").arg("postgres").arg(&postgres.folder))?;
        }
        let data = postgres.folder.join("data");
        let data = data.to_str().context("a folder that is no text")?;
        let folder = postgres.folder.to_str().context("a folder that is no text")?;
        // What it holds is of no use to anyone afterwards.
        postgres.run("initdb", &["-D", data, "-A", "trust", "-U", "callwright", "--no-sync"])?;
        let options = format!("-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off");
        let log = format!("{folder}/log");
        postgres.run("pg_ctl", &["-D", data, "-o", &options, "-l", &log, "-w", "start"])?;
        Ok(postgres)
    }

    /// Runs one of its programs, as somebody who is not root: it refuses to serve otherwise.
    fn run(&self, program: &str, args: &[&str]) -> Result<()> {
        let program = self.programs.join(program);
        let mut command = match self.is_root {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
                command
            }
        };
        // It may not be let into the folder that we stand in.
        quietly(command.args(args).current_dir(&self.folder))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        // Nothing is left to be done where this fails.
        let _ = self.run("pg_ctl", &["-D", &data.to_string_lossy(), "-m", "immediate", "stop"]);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of its programs.
fn installed() -> Result<PathBuf> {
    if let Some(programs) = found() {
        return Ok(programs);
    }
    println!("Postgres is missing: installing postgresql …");
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--yes", "--no-install-recommends", "postgresql"]);
    let output = apt.env("DEBIAN_FRONTEND", "noninteractive").output();
    let output = output.context("there is neither Postgres nor apt-get")?;
    let Some(programs) = found() else {
        bail!(
            "apt-get install postgresql failed: {}",
            String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default()
        )
    };
    Ok(programs)
}

/// Debian keeps them out of the path, by version.
fn found() -> Option<PathBuf> {
    let has = |folder: &Path| folder.join("initdb").exists() && folder.join("pg_ctl").exists();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let of_debian = versions.map(|version| version.path().join("bin")).filter(|folder| has(folder)).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    of_debian.or_else(|| std::env::split_paths(&path).find(|folder| has(folder)))
}

fn quietly(command: &mut Command) -> Result<()> {
    // A server that lives on would keep a pipe open.
    let log = std::env::temp_dir().join(format!("callwright-postgres-{}.log", std::process::id()));
    let out = fs::File::create(&log)?;
    let done =
        command.stdout(out.try_clone()?).stderr(out).status().with_context(|| format!("{command:?}"))?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    // Nothing depends on its being gone.
    let _ = fs::remove_file(&log);
    ensure!(done.success(), "{command:?}: {}", said.lines().last().unwrap_or_default());
    Ok(())
}

//! Who takes part: the upstream, the gateway, nginx.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::running::Running;

/// The core of the proxies.
pub(crate) const PROXIES: &str = "0";
/// The core of the load and the upstream.
pub(crate) const LOAD: &str = "1";

/// Programs, and a folder for what they write.
pub(crate) struct Servers {
    pub(crate) ours: PathBuf,
    pub(crate) load: PathBuf,
    pub(crate) work: PathBuf,
    /// Does the gateway keep what it is asked and answers, as it does by default?
    pub(crate) keeps: bool,
}

/// A server and its address.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) address: String,
}

/// An upstream, and both proxies before it, on one core.
pub(crate) struct Trio {
    pub(crate) upstream: Server,
    pub(crate) ours: Server,
    pub(crate) nginx: Result<Nginx>,
}

/// nginx with two addresses.
pub(crate) struct Nginx {
    pub(crate) running: Running,
    /// Where answers are taken in whole before they go on, as is its custom.
    pub(crate) whole: String,
    /// Where they go on as they come, as streams need it.
    pub(crate) streamed: String,
}

impl Servers {
    /// Starts all.
    pub(crate) fn trio(&self) -> Result<Trio> {
        let upstream = self.upstream(LOAD)?;
        let ours = self.ours(&upstream, PROXIES, 1)?;
        let nginx = self.nginx(&upstream.address);
        Ok(Trio { upstream, ours, nginx })
    }

    /// Starts the upstream on `cores`.
    pub(crate) fn upstream(&self, cores: &str) -> Result<Server> {
        let address = free_address()?;
        let mut command = Command::new(&self.load);
        command.args(["upstream", &address]);
        let running = Running::start(&command, cores, &self.work.join("upstream.log"))?;
        reached(&address)?;
        Ok(Server { running, address })
    }

    /// Starts the gateway before `upstream`, on `cores`, with so many threads; 0 stands for one per core.
    pub(crate) fn ours(&self, upstream: &Server, cores: &str, workers: usize) -> Result<Server> {
        let config = self.work.join("callwright.toml");
        let text = include_str!("callwright.toml").replace("UPSTREAM", &upstream.address);
        // Each has its own: two of them may run at a time, and nothing is left of another run.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let store = self.work.join(format!("kept-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let _ = fs::remove_dir_all(&store);
        let store = if self.keeps { store.join("callwright.db") } else { PathBuf::from("off") };
        let text = text.replace("STORE", &store.display().to_string());
        fs::write(&config, text.replace("WORKERS", &workers.to_string()))?;
        let mut command = Command::new(&self.ours);
        command.arg("serve").arg("--config").arg(config);
        let mut running = Running::start(&command, cores, &self.work.join("ours.log"))?;
        // `listening on http://127.0.0.1:4000`
        let address = loop {
            let line = running.line().context("the gateway does not start")?;
            if let Some((_, address)) = line.split_once("http://") {
                break address.split_whitespace().next().unwrap_or_default().to_owned();
            }
        };
        Ok(Server { running, address })
    }

    fn nginx(&self, upstream: &str) -> Result<Nginx> {
        install_nginx()?;
        let (whole, streamed) = (free_address()?, free_address()?);
        let folder = self.work.join("nginx");
        fs::create_dir_all(&folder)?;
        let config = include_str!("nginx.conf")
            .replace("UPSTREAM", upstream)
            .replace("WHOLE", &whole)
            .replace("STREAMED", &streamed);
        fs::write(folder.join("nginx.conf"), config)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&folder).arg("-c").arg(folder.join("nginx.conf"));
        let running = Running::start(&command, PROXIES, &self.work.join("nginx.log"))?;
        reached(&whole).context("nginx does not start")?;
        Ok(Nginx { running, whole, streamed })
    }
}

fn install_nginx() -> Result<()> {
    let is_there = || Command::new("nginx").arg("-v").output().is_ok_and(|output| output.status.success());
    if is_there() {
        return Ok(());
    }
    println!("nginx is missing: installing nginx-light …");
    let installed = Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends", "nginx-light"])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output();
    match installed {
        Ok(output) => ensure!(
            is_there(),
            "apt-get install nginx-light failed: {}",
            String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default()
        ),
        Err(error) => bail!("there is neither nginx nor apt-get: {error}"),
    }
    Ok(())
}

/// An address of this machine that was free a moment ago.
fn free_address() -> Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// Waits until `address` takes connections.
fn reached(address: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(address).is_err() {
        ensure!(Instant::now() < deadline, "nobody listens at {address}");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

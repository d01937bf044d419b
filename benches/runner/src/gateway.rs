//! What the gateway costs, beside nginx as a plain proxy and beside no proxy at all.
//!
//! Proxies run on one core, the load and the upstream on the other. The machine is a shared one: so both proxies
//! run at the same time and are asked by turns, what counts is the processor time of their processes, not the clock,
//! and of all rounds the median stands.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use steps::{figures, root, step};

use crate::figure::{Figure, show};
use crate::servers::Servers;
use crate::workload::{self, CASES, Case};

/// What is to be measured, and how well.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Fail where a figure is over its bound.
    pub(crate) gate: bool,
    /// How often each case is measured.
    pub(crate) rounds: usize,
    /// How long each time.
    pub(crate) seconds: f64,
    /// Only what has this in its name.
    pub(crate) only: String,
    /// A gateway that is built already, such as one from before a change.
    pub(crate) ours: Option<PathBuf>,
    /// Measure it with the store on, as it is by default?
    pub(crate) keeps: bool,
}

impl Options {
    fn takes(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

/// Measures, and prints a table.
///
/// # Errors
/// When an answer was not right; with `gate` also when a figure is over its bound.
pub(crate) fn gateway(options: &Options) -> Result<()> {
    let servers = built(options)?;
    let mut figures: Vec<Figure> = Vec::new();
    let measured = measure(&servers, options, &mut figures);
    // What was measured is shown whatever happened then.
    show(&figures);
    measured?;
    if options.only.is_empty() && options.ours.is_none() {
        let group = if options.keeps { "gateway" } else { "gateway_store_off" };
        let published: Vec<(String, String)> = figures.iter().map(Figure::published).collect();
        figures::record(&root()?, group, "cargo xtask bench gateway", &published)?;
    }
    ensure!(!figures.is_empty(), "nothing that is measured has `{}` in its name", options.only);
    let over: Vec<&str> = figures.iter().filter(|f| f.is_over()).map(|f| f.name.as_str()).collect();
    ensure!(!options.gate || over.is_empty(), "over their bounds: {}", over.join(", "));
    Ok(())
}

fn measure(servers: &Servers, options: &Options, figures: &mut Vec<Figure>) -> Result<()> {
    let cases: Vec<&Case> = CASES.iter().filter(|case| options.takes(case.name)).collect();
    if !cases.is_empty() || options.takes("latency") {
        let trio = servers.trio()?;
        let mut nginx_is_missing = None;
        if let Err(why) = &trio.nginx {
            println!("!!! NGINX CANNOT BE MEASURED, so there are no ratios: {why:#}\n");
            nginx_is_missing = Some(());
        }
        for case in cases {
            println!("measuring {} …", case.name);
            figures.push(workload::cost(servers, &trio, case, options)?);
        }
        if options.takes("latency") {
            println!("measuring latency …");
            figures.extend(workload::latency(servers, &trio, options)?);
        }
        ensure!(!options.gate || nginx_is_missing.is_none(), "without nginx there is nothing to hold to");
    }
    if options.takes("ready") {
        println!("measuring start and memory …");
        figures.extend(workload::start(servers, options)?);
    }
    if options.takes("cores") {
        println!("measuring two cores …");
        figures.push(workload::cores(servers, options)?);
    }
    if options.takes("streams") {
        println!("measuring 9,000 streams …");
        figures.push(workload::many_streams(servers)?);
    }
    Ok(())
}

/// Builds what is measured and what it is measured with.
fn built(options: &Options) -> Result<Servers> {
    let root = root()?;
    let cargo = |args: &[&str]| step::run(step::cargo(&root).args(args));
    if options.ours.is_none() {
        let ours = cargo(&["build", "--profile", "dist", "--package", "callwright-cli"])?;
        ensure!(ours.ok, "the gateway cannot be built");
    }
    let manifest = "benches/Cargo.toml";
    let built = cargo(&["build", "--release", "--manifest-path", manifest, "--package", "gateway-load"])?;
    ensure!(built.ok, "the load cannot be built");
    let work = root.join("target/bench");
    fs::create_dir_all(&work)?;
    let ours = options.ours.clone().unwrap_or_else(|| root.join("target/dist/callwright"));
    let load = root.join("benches/target/release/gateway-load");
    Ok(Servers { ours, load, work, keeps: options.keeps })
}

//! What the gateway costs, beside nginx as a plain proxy and beside no proxy at all.
//!
//! Proxies run on one core, the load and the upstream on the other. The machine is a shared one: so both proxies
//! run at the same time and are asked by turns, what counts is the processor time of their processes, not the clock,
//! and of all rounds the median stands.

mod figure;
mod peers;
#[cfg(test)]
mod published;
mod running;
mod servers;
mod store;
mod workload;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::{figures, root, step};
use figure::{Figure, show};
pub(crate) use peers::peers;
use servers::Servers;
pub(crate) use store::store;
use workload::{CASES, Case};

/// What is to be measured, and how well.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Fail where a figure is over its bound.
    gate: bool,
    /// How often each case is measured.
    rounds: usize,
    /// How long each time.
    seconds: f64,
    /// Only what has this in its name.
    only: String,
    /// A gateway that is built already, such as one from before a change.
    ours: Option<PathBuf>,
    /// Measure it with the store on, as it is by default?
    keeps: bool,
}

impl Options {
    /// From the arguments behind `bench gateway`; none where they are not understood.
    pub(crate) fn of(args: &[&str]) -> Option<Options> {
        let mut options =
            Options { gate: false, rounds: 5, seconds: 1.5, only: String::new(), ours: None, keeps: true };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--gate" => options.gate = true,
                "--rounds" => options.rounds = args.next()?.parse().ok().filter(|rounds| 0 < *rounds)?,
                "--seconds" => options.seconds = args.next()?.parse().ok()?,
                "--only" => options.only = String::from(*args.next()?),
                "--store" => {
                    options.keeps = match *args.next()? {
                        "on" => true,
                        "off" => false,
                        _ => return None,
                    }
                }
                "--ours" => options.ours = Some(PathBuf::from(args.next()?)),
                _ => return None,
            }
        }
        Some(options)
    }

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
        let ours = cargo(&["build", "--release", "--package", "callwright-cli"])?;
        ensure!(ours.ok, "the gateway cannot be built");
    }
    let manifest = "benches/Cargo.toml";
    let load = cargo(&["build", "--release", "--manifest-path", manifest, "--package", "gateway-load"])?;
    ensure!(load.ok, "the load cannot be built");
    let work = root.join("target/bench");
    fs::create_dir_all(&work)?;
    let binary =
        |folder: &str, name: &str| -> PathBuf { root.join(folder).join("target/release").join(name) };
    let ours = options.ours.clone().unwrap_or_else(|| binary("", "callwright"));
    Ok(Servers { ours, load: binary("benches", "gateway-load"), work, keeps: options.keeps })
}

//! Load for the gateway, and an upstream for it to stand before.
//!
//! Both answer and ask as fast as they can, over HTTP read by hand, so that what is measured is the proxy between
//! them. All answers are checked.

mod case;
mod http;
mod load;
mod streams;
mod upstream;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::case::Case;

const USAGE: &str = "\
usage: gateway-load upstream ADDRESS
           answers every case, until it is killed
       gateway-load run ADDRESS CASE CONNECTIONS SECONDS
           asks for one case over and over; prints `answers failed bytes p50 p99`, times in microseconds
       gateway-load streams ADDRESS UPSTREAM STREAMS
           opens so many streams at once, prints `open N`, waits for a line, lets them run to their end;
           prints `whole lost reordered crossed`";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match args {
        ["upstream", at] => runtime.block_on(upstream::serve(address(at)?)),
        ["run", to, case, connections, seconds] => {
            let case = Case::named(case).with_context(|| format!("{case} is no case"))?;
            let time = Duration::from_secs_f64(seconds.parse()?);
            let load = load::run(address(to)?, case, connections.parse()?, time);
            let load::Figures { answers, failed, bytes, p50, p99 } = runtime.block_on(load)?;
            println!("{answers} {failed} {bytes} {} {}", p50.as_micros(), p99.as_micros());
            Ok(())
        }
        ["streams", to, upstream, n] => {
            runtime.block_on(streams::run(address(to)?, address(upstream)?, n.parse()?))
        }
        _ => bail!("{USAGE}"),
    }
}

fn address(text: &str) -> Result<SocketAddr> {
    text.parse().with_context(|| format!("{text} is no address"))
}

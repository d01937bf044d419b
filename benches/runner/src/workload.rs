//! The measurements.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::figure::{Bound, Figure, Held, median};
use crate::gateway::Options;
use crate::running::Running;
use crate::servers::{LOAD, PROXIES, Server, Servers, Trio};

/// A kind of request.
pub(crate) struct Case {
    /// Its name, which the load knows it by.
    pub(crate) name: &'static str,
    what: &'static str,
    connections: usize,
    /// How many events an answer has, where it is a stream.
    events: Option<f64>,
    /// How many times the processor time of nginx it may take, with the store on as it is by default.
    most: f64,
    /// And with the store off.
    most_off: f64,
}

/// All of them.
pub(crate) const CASES: [Case; 7] = [
    Case {
        name: "call",
        what: "plain request, a call",
        connections: 16,
        events: None,
        most: 4.0,
        most_off: 2.5,
    },
    Case {
        name: "text",
        what: "plain request, a text",
        connections: 16,
        events: None,
        most: 4.0,
        most_off: 2.5,
    },
    Case {
        name: "agent",
        what: "60 KB agent request",
        connections: 16,
        events: None,
        most: 5.0,
        most_off: 2.5,
    },
    Case {
        name: "prose",
        what: "event of prose",
        connections: 16,
        events: Some(200.0),
        most: 3.0,
        most_off: 2.0,
    },
    Case {
        name: "short",
        what: "event of 46 events",
        connections: 16,
        events: Some(46.0),
        most: 3.5,
        most_off: 2.0,
    },
    Case {
        name: "arguments",
        what: "event of arguments",
        connections: 16,
        events: Some(200.0),
        most: 3.0,
        most_off: 2.0,
    },
    Case {
        name: "paced",
        what: "event of prose, paced",
        connections: 64,
        events: Some(200.0),
        most: 3.0,
        most_off: 2.0,
    },
];

/// What one run of the load came to.
struct Sample {
    answers: f64,
    /// Half of them, and 99 of 100, were whole after so many microseconds.
    p50: f64,
    p99: f64,
}

impl Sample {
    /// In milliseconds.
    fn time(&self, of: Percentile) -> f64 {
        match of {
            Percentile::P50 => self.p50 / 1e3,
            Percentile::P99 => self.p99 / 1e3,
        }
    }
}

/// The processor time of a case, by turns.
pub(crate) fn cost(servers: &Servers, trio: &Trio, case: &Case, options: &Options) -> Result<Figure> {
    let (mut ours, mut nginx, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let per_answer = case.events.unwrap_or(1.0);
    let cost = |running: &Running, address: &str| -> Result<f64> {
        let before = running.cpu()?;
        let sample = load(servers, address, case.name, case.connections, options.seconds)?;
        Ok((running.cpu()? - before).as_secs_f64() * 1e6 / sample.answers / per_answer)
    };
    // What is done once, such as asking the upstream what the model can do, is not counted.
    load(servers, &trio.ours.address, case.name, case.connections, 0.2)?;
    for _ in 0..options.rounds {
        let own = cost(&trio.ours.running, &trio.ours.address)?;
        ours.push(own);
        if let Ok(server) = &trio.nginx {
            let address = if case.events.is_some() { &server.streamed } else { &server.whole };
            let other = cost(&server.running, address)?;
            nginx.push(other);
            ratios.push(own / other);
        }
    }
    let has_ratios = !ratios.is_empty();
    let most = if servers.keeps { case.most } else { case.most_off };
    let held = Held { what: "× nginx", value: median(ratios), bound: Bound::AtMost(most) };
    Ok(Figure {
        name: case.what.into(),
        unit: "µs of CPU",
        ours: median(ours),
        direct: None,
        nginx: has_ratios.then(|| median(nginx)),
        held: has_ratios.then_some(held),
    })
}

/// A time that the gateway adds to an answer, asked for one at a time.
pub(crate) struct Added {
    /// The request, which the load knows by this name.
    case: &'static str,
    /// Its name in the tables, here and in `docs/performance.md`.
    pub(crate) name: &'static str,
    of: Percentile,
    /// So many milliseconds it may be.
    pub(crate) most: f64,
}

/// How many answers take no longer.
#[derive(Clone, Copy)]
enum Percentile {
    P50,
    P99,
}

/// All of them.
pub(crate) const ADDED: [Added; 4] = [
    Added { case: "call", name: "added time, plain request, p50", of: Percentile::P50, most: 0.3 },
    Added { case: "call", name: "added time, plain request, p99", of: Percentile::P99, most: 1.0 },
    Added { case: "agent", name: "added time, 60 KB, p50", of: Percentile::P50, most: 0.3 },
    Added { case: "agent", name: "added time, 60 KB, p99", of: Percentile::P99, most: 1.0 },
];

/// How much later half, and nearly all, of the answers come.
///
/// Between two steps of one request alone both cores have nothing to do. A core of a virtual machine that fell asleep is
/// woken by its host, four times for each request that goes through a proxy, and each time takes up to 0.1 ms: as long
/// as all that is measured, and more on one day than on the next. So they are kept awake by what makes way for all else.
pub(crate) fn latency(servers: &Servers, trio: &Trio, options: &Options) -> Result<Vec<Figure>> {
    let awake = |core: &str| {
        let mut idler = Command::new("chrt");
        idler.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
        Running::start(&idler, core, &servers.work.join("awake.log"))
    };
    let _awake = [awake(PROXIES)?, awake(LOAD)?];
    let mut figures = Vec::new();
    for added in ADDED.chunk_by(|a, b| a.case == b.case) {
        let Some(case) = added.first().map(|added| added.case) else { continue };
        let asked = |address: &str| load(servers, address, case, 1, options.seconds / 2.0);
        let (mut ours, mut nginx, mut direct) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            direct.push(asked(&trio.upstream.address)?);
            ours.push(asked(&trio.ours.address)?);
            if let Ok(server) = &trio.nginx {
                nginx.push(asked(&server.whole)?);
            }
        }
        for Added { name, of, most, .. } in added {
            let time = |samples: &[Sample]| median(samples.iter().map(|sample| sample.time(*of)).collect());
            let pairs = ours.iter().zip(&direct);
            let value = median(pairs.map(|(with, without)| with.time(*of) - without.time(*of)).collect());
            figures.push(Figure {
                name: (*name).into(),
                unit: "ms",
                ours: time(&ours),
                direct: Some(time(&direct)),
                nginx: Some(time(&nginx)).filter(|_| !nginx.is_empty()),
                held: Some(Held { what: "ms added", value, bound: Bound::AtMost(*most) }),
            });
        }
    }
    Ok(figures)
}

/// The time until it is ready, and its memory, as it starts by default: a thread for each core.
pub(crate) fn start(servers: &Servers, options: &Options) -> Result<Vec<Figure>> {
    let upstream = servers.upstream(LOAD)?;
    let (mut ready, mut idle, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let begin = Instant::now();
        let ours = servers.ours(&upstream, "0,1", 0)?;
        is_ready(&ours)?;
        ready.push(begin.elapsed().as_secs_f64());
        load(servers, &ours.address, "call", 1, 0.1)?;
        idle.push(ours.running.memory()?);
        streams.push(streamed(servers, &ours, &upstream, 200, |ours| ours.running.memory())?);
    }
    let figure = |name: &str, unit, values, most| {
        let value = median(values);
        let held = Some(Held { what: unit, value, bound: Bound::AtMost(most) });
        Figure { name: name.into(), unit, ours: value, direct: None, nginx: None, held }
    };
    Ok(vec![
        figure("ready after", "s", ready, 0.1),
        figure("memory, idle", "MB", idle, if servers.keeps { 25.0 } else { 15.0 }),
        figure("memory, 200 open streams", "MB", streams, if servers.keeps { 60.0 } else { 30.0 }),
    ])
}

/// How much more two cores answer than one.
///
/// The load needs cores itself, so both cannot be filled. What is compared is how many answers there are for each
/// second of the busiest thread: it bounds what the gateway can do with all cores to itself, and falls where
/// threads wait for each other, or the work is dealt out unevenly. Half of the load runs on each core, or the thread
/// beside it would get fewer of the requests; and there are enough of them that two threads have no more idle moments
/// than one, after which a thread does less at a time.
pub(crate) fn cores(servers: &Servers, options: &Options) -> Result<Figure> {
    const CONNECTIONS: usize = 32;
    /// One turn tells little where others share the machine; the median of many short ones tells more than that of a few.
    const TURNS: usize = 8;
    let upstream = servers.upstream("0,1")?;
    let (one, two) = (servers.ours(&upstream, "0,1", 1)?, servers.ours(&upstream, "0,1", 2)?);
    let per_second = |server: &Server, seconds: f64| -> Result<f64> {
        let before = server.running.cpu_of_threads()?;
        let halves = ["0", "1"]
            .map(|core| Load::start(servers, core, &server.address, "call", CONNECTIONS / 2, seconds));
        let mut answers = 0.0;
        for half in halves {
            answers += half?.sample()?.answers;
        }
        let after = server.running.cpu_of_threads()?;
        let spent = after
            .iter()
            .map(|(thread, spent)| spent.saturating_sub(before.get(thread).copied().unwrap_or_default()));
        Ok(answers / spent.max().unwrap_or_default().as_secs_f64())
    };
    per_second(&one, 0.2)?;
    per_second(&two, 0.2)?;
    let mut ratios = Vec::new();
    for _ in 0..options.rounds * TURNS {
        let seconds = options.seconds / 3.0;
        ratios.push(per_second(&two, seconds)? / per_second(&one, seconds)?);
    }
    let value = median(ratios);
    let held = Some(Held { what: "× one thread", value, bound: Bound::AtLeast(1.8) });
    Ok(Figure {
        name: "two threads on two cores".into(),
        unit: "× one",
        ours: value,
        direct: None,
        nginx: None,
        held,
    })
}

/// All streams at once that the descriptors of one process allow.
pub(crate) fn many_streams(servers: &Servers) -> Result<Figure> {
    const STREAMS: usize = 9_000;
    let upstream = servers.upstream(LOAD)?;
    let ours = servers.ours(&upstream, "0,1", 0)?;
    let begin = Instant::now();
    let memory = streamed(servers, &ours, &upstream, STREAMS, |ours| ours.running.memory())?;
    println!("    {STREAMS} streams in {:.1} s", begin.elapsed().as_secs_f64());
    let held =
        Some(Held { what: "streams whole", value: STREAMS as f64, bound: Bound::AtLeast(STREAMS as f64) });
    Ok(Figure {
        name: format!("memory, {STREAMS} streams"),
        unit: "MB",
        ours: memory,
        direct: None,
        nginx: None,
        held,
    })
}

/// Opens `n` streams, looks at the gateway while they are all open, and lets them end.
///
/// # Errors
/// One of them was lost, out of order, or got another one's events.
fn streamed<T>(
    servers: &Servers,
    ours: &Server,
    upstream: &Server,
    n: usize,
    look: impl FnOnce(&Server) -> Result<T>,
) -> Result<T> {
    let mut command = Command::new(&servers.load);
    command.args(["streams", &ours.address, &upstream.address, &n.to_string()]);
    let mut streams = Running::start(&command, LOAD, &servers.work.join("streams.log"))?;
    let open = streams.line()?;
    let looked = look(ours)?;
    streams.go()?;
    let became = streams.line()?;
    ensure!(open == format!("open {n}"), "of {n} streams only {open}");
    ensure!(became == format!("{n} 0 0 0"), "of {n} streams, `whole lost reordered crossed`: {became}");
    Ok(looked)
}

/// Runs the load on its core.
///
/// # Errors
/// An answer was not right.
fn load(servers: &Servers, address: &str, case: &str, connections: usize, seconds: f64) -> Result<Sample> {
    Load::start(servers, LOAD, address, case, connections, seconds)?.sample()
}

/// A load that runs.
struct Load {
    running: Running,
    case: String,
    log: PathBuf,
}

impl Load {
    fn start(
        servers: &Servers,
        cores: &str,
        address: &str,
        case: &str,
        connections: usize,
        seconds: f64,
    ) -> Result<Load> {
        let mut command = Command::new(&servers.load);
        command.args(["run", address, case, &connections.to_string(), &seconds.to_string()]);
        let log = servers.work.join(format!("load-{cores}.log"));
        Ok(Load { running: Running::start(&command, cores, &log)?, case: case.to_owned(), log })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// An answer was not right.
    fn sample(mut self) -> Result<Sample> {
        let line = self.running.line().with_context(|| said(&self.log))?;
        let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [answers, failed, _bytes, p50, p99] = numbers[..] else { bail!("the load says {line}") };
        let case = &self.case;
        ensure!(failed == 0.0, "{failed} of {answers} answers to {case} are not what the upstream said");
        ensure!(0.0 < answers, "no answer to {case}");
        Ok(Sample { answers, p50, p99 })
    }
}

fn said(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default().trim().to_owned()
}

/// Waits until the gateway says that it is ready.
fn is_ready(server: &Server) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let mut answer = String::new();
        let mut stream = TcpStream::connect(&server.address)?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
        stream.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the gateway never gets ready: {answer}");
    }
}

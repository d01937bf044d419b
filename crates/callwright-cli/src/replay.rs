//! `callwright replay`: an upstream without a model.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use callwright_replay::{Recorded, Replay, Script, Setup};

use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::input;

/// Answers until the process is ended.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let note = match &args.record {
        None => None,
        Some(path) => {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            let file = opened.map_err(|error| Failure::Record(path.clone(), error))?;
            Some(Box::new(move |request: &Recorded| append(&file, request)) as _)
        }
    };
    // The file has what was asked; nothing is gained by keeping it in memory too.
    let setup = Setup { listen: args.listen, keep: 0, note };
    let replay =
        Replay::start_with(script(args)?, setup).map_err(|error| Failure::Listen(args.listen, error))?;
    let mut out = io::stdout().lock();
    writeln!(out, "listening on http://{}", replay.addr())?;
    out.flush()?;
    drop(out);
    replay.run();
    Ok(())
}

fn script(args: &ReplayArgs) -> Result<Script, Failure> {
    let Some(path) = &args.script else { return Ok(Script::built_in()) };
    let text = input::text(path)?;
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let script = if is_json { Script::from_json(&text) } else { Script::from_toml(&text) };
    script.map_err(|error| Failure::Definitions(path.clone(), error.to_string()))
}

fn append(mut file: &File, request: &Recorded) {
    // One write, so that lines of several processes do not mix.
    let line = request.line() + "\n";
    if let Err(error) = file.write_all(line.as_bytes()) {
        // Nobody else is told of it, and the client's answer does not depend on it.
        let _ = writeln!(io::stderr(), "callwright: cannot record a request: {error}");
    }
}

//! `callwright trust`: accepts a configuration file that was found, or takes that back.

use std::io::{self, Write};

use crate::args::TrustArgs;
use crate::config::{Trusted, summary};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input;

/// Shows what the file could do, and writes down that it may.
pub(crate) fn run(args: &TrustArgs) -> Result<(), Failure> {
    let trusted = Trusted::of(&|name: &str| std::env::var(name).ok());
    let mut out = io::stdout().lock();
    let path = args.file.display().to_string();
    if args.forget {
        let had = trusted.forget(&args.file)?;
        let done = if had { "not accepted any more" } else { "was not accepted" };
        return Ok(writeln!(out, "{}: {done}", harmless(&path))?);
    }
    let text = input::text(&args.file)?;
    for line in summary(&text) {
        writeln!(out, "  {}", harmless(&line))?;
    }
    trusted.accept(&args.file, &text)?;
    Ok(writeln!(out, "accepted: {}", harmless(&path))?)
}

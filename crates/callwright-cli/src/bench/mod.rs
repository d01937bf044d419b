//! `callwright bench`: what repair gains, on a model that is asked, or on answers that were recorded.

mod defects;
mod gain;
mod question;
mod shown;

use std::io::{self, Write};
use std::path::Path;

use crate::args::{BenchArgs, BenchWhat};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input::{self, Line};

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.what {
        Some(BenchWhat::Defects(args)) => defects::run(args),
        None => gain::run(&args.gain),
    }
}

/// Hands each line of `file` to `take`, but for blank ones. What is wrong with a line is told on standard error; returns how many
/// could not be used.
fn each_line(
    file: &Path,
    longest: usize,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<usize, Failure> {
    let (mut from, mut line, mut number, mut unusable) = (input::lines(file)?, Vec::new(), 0, 0);
    loop {
        let read = input::read_line(&mut *from, &mut line, longest);
        number += 1;
        let done = match read.map_err(|error| Failure::Read(file.to_owned(), error))? {
            Line::End => return Ok(unusable),
            Line::Read if line.trim_ascii().is_empty() => continue,
            Line::TooLong => Err(String::from("it is too long")),
            Line::Read => match std::str::from_utf8(&line) {
                Ok(text) => take(text),
                Err(_) => Err(String::from("it is not UTF-8")),
            },
        };
        if let Err(why) = done {
            unusable += 1;
            writeln!(io::stderr(), "line {number}: {}", harmless(&why))?;
        }
    }
}

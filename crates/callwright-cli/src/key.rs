//! `callwright key`: a new key for a client, and the hash that the server needs to know.

use std::io::{self, Write};

use callwright_gateway::ClientKey;

use crate::failure::Failure;

/// So many random bytes that nobody guesses them.
const BYTES: usize = 32;

/// Prints both. The key is nowhere else: whoever loses it makes a new one.
pub(crate) fn run() -> Result<(), Failure> {
    let key = new()?;
    let mut out = io::stdout().lock();
    writeln!(out, "key     {key}")?;
    writeln!(out, "sha256  {}", ClientKey::of(&key).hash())?;
    Ok(())
}

/// A key that nobody guesses.
///
/// # Errors
/// The system gives no random bytes.
pub(crate) fn new() -> Result<String, Failure> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|error| Failure::Write(io::Error::other(error)))?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("cw-{digits}"))
}

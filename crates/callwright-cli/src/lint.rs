//! `callwright lint`: what is wrong with tool definitions, and what they cost.

use crate::args::LintArgs;
use crate::door;
use crate::failure::Failure;

pub(crate) fn run(args: &LintArgs) -> Result<(), Failure> {
    door::tools_of(&args.file)?;
    Ok(())
}

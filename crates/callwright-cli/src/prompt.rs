//! `callwright prompt`: the text that teaches tools to a model without native calls.

use std::io::{self, Write};

use callwright::prompt::render;

use crate::args::PromptArgs;
use crate::door;
use crate::failure::Failure;

pub(crate) fn run(args: &PromptArgs) -> Result<(), Failure> {
    let tools = door::tools_of(&args.tools)?;
    // For another program, which wants the text as it is.
    io::stdout().write_all(render(args.dialect, &tools).as_bytes())?;
    Ok(())
}

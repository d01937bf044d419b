//! `callwright demo`: the main job on recorded outputs that are built in.

use crate::draw::Pen;
use crate::failure::Failure;

pub(crate) fn run(_pen: Pen) -> Result<(), Failure> {
    Ok(())
}

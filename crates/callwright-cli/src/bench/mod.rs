//! `callwright bench`: what repair gains, on a model that is asked, or on answers that were recorded.

mod defects;
mod gain;
mod question;
mod shown;

use crate::args::{BenchArgs, BenchWhat};
use crate::failure::Failure;

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.what {
        Some(BenchWhat::Defects(args)) => defects::run(args),
        None => gain::run(&args.gain),
    }
}

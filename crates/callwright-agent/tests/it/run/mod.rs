//! The loop against a scripted upstream.

mod bench;
mod cancel;
mod cut;
mod golden;
mod kept;
mod kill;
mod machine;
mod runner;

//! The arguments.
#![allow(missing_docs, unreachable_pub, reason = "most of it is written by a macro")]

use std::path::PathBuf;
use std::str::FromStr;

xflags::xflags! {
    cmd measure {
        /// What the gateway costs, beside nginx (Linux, two cores).
        cmd gateway {
            /// Fail where a figure is over its bound.
            optional --gate
            /// Only what has this in its name, of call, text, agent, prose, short, arguments, paced, latency, ready, cores,
            /// streams.
            optional --only name: String
            /// How often each case is measured.
            optional --rounds n: usize
            /// How long each time.
            optional --seconds s: f64
            /// A gateway that is built already.
            optional --ours file: PathBuf
            /// `off`: keep nothing, where by default all is kept.
            optional --store state: Keeps
        }
        /// What a store of a million nodes takes to answer, and a write costs a request.
        cmd store {
            /// Fail where a figure is over its bound.
            optional --gate
            /// Another number.
            optional --nodes n: u64
        }
        /// Other libraries that repair JSON, beside this one, right and wrong and how fast; writes the tables of
        /// docs/comparison.md (needs Python 3, npm; minutes).
        cmd peers {
            /// Takes what an earlier run has built of this one.
            optional --built
        }
        /// The instructions that a call costs, against their bounds (needs valgrind).
        cmd cost {}
        /// The corpora of a folder, against the floors (needs Python 3).
        cmd score {
            required dir: PathBuf
        }
    }
}

/// Whether the gateway that is measured keeps sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    On,
    Off,
}

impl FromStr for Keeps {
    type Err = String;

    fn from_str(state: &str) -> Result<Keeps, String> {
        match state {
            "on" => Ok(Keeps::On),
            "off" => Ok(Keeps::Off),
            _ => Err(format!("`{state}` is neither `on` nor `off`")),
        }
    }
}

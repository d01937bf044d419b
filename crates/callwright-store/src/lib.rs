//! Sessions and traces: what models wrote, what became of it, and why.
//!
//! Turns and nodes go in, from a gateway that must not wait or an agent that must be sure; sessions, statistics and
//! dumps come out. SQLite by default, Postgres where several machines share one store. Nothing is written before
//! secrets are masked.
//!
//! ```
//! use callwright_store::{NewNode, NodeKind, Retention, Store, StoreConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = std::env::temp_dir().join(format!("callwright-doc-{}", std::process::id()));
//! let config = StoreConfig::at(dir.join("callwright.db"));
//! let store = Store::open(config)?;
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! // What is acknowledged is on the disk.
//! let said = NewNode::new(NodeKind::User, callwright_value::json!({"text": "Print hello."}));
//! let written = store.append("job-1", vec![said]).await?;
//! assert_eq!(written.numbers, [1]);
//! let replayed = store.session("job-1").await?.unwrap();
//! assert_eq!(replayed.nodes[0].payload["text"], "Print hello.");
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # drop(store);
//! # let _ = std::fs::remove_dir_all(dir);
//! # Ok(())
//! # }
//! ```
//!
//! The modules stand in reading order.

mod config;
mod error;
mod former;
mod node;
mod turn;
mod filter;
mod session;
mod owner;
mod secrets;
mod named;
mod seams;
mod mask;
mod body;
mod spread;
mod words;
mod database;
mod rows;
mod pack;
mod known;
mod ready;
mod parts;
mod sums;
mod tables;
mod profile;
mod insert;
mod reindex;
mod rescue;
mod writer;
mod store;
mod read;
mod hits;
mod list;
mod totals;
mod order;
mod fixes;
mod latency;
mod statistics;
mod dump;
mod retention;
mod hold;
mod clock;

pub use body::Body;
pub use clock::{now, rfc3339};
pub use config::{Location, LocationError, Masking, Retention, StoreConfig};
pub use dump::{DUMP_VERSION, Dump, DumpError};
pub use error::{Holder, StoreError};
pub use filter::Filter;
pub use fixes::FixRate;
pub use hold::Hold;
pub use latency::Latency;
pub use list::Page;
pub use node::{Answer, NODE_VERSION, NewNode, Node, NodeKind};
pub use order::{Column, Order};
pub use owner::Owner;
pub use secrets::{Hiding, Secrets};
pub use session::{Change, Changes, Session, SessionRef, Summary, Written};
pub use statistics::{Counts, Range, RepeatRate, Spent, Statistics};
pub use store::Store;
pub use totals::Totals;
pub use turn::{Became, Before, Call, Fault, NewTurn, Record, Turn};

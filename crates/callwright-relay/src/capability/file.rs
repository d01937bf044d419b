//! What has been found out about models, as one JSON file: read at the start, replaced whole when it changes.
//!
//! It holds no key. An entry belongs to an upstream's name and location: another server under an old name starts
//! from nothing.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::known::{Fact, Facts};
use super::server::Server;
use crate::upstream::Upstream;

const NAME: &str = "capability.json";
const VERSION: u32 = 2;

#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// The location of each upstream, by name.
    locations: HashMap<String, String>,
    writing: Mutex<()>,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(default)]
    servers: Vec<ServerEntry>,
    models: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct ServerEntry {
    upstream: String,
    location: String,
    server: Server,
    until: u64,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    upstream: String,
    location: String,
    model: String,
    fact: Fact,
}

impl File {
    pub(super) fn new(dir: &Path, upstreams: &[Arc<Upstream>]) -> File {
        let location = |upstream: &Arc<Upstream>| (upstream.name().to_owned(), upstream.location());
        File {
            path: dir.join(NAME),
            locations: upstreams.iter().map(location).collect(),
            writing: Mutex::default(),
        }
    }

    pub(super) fn read(&self) -> Facts {
        let content = match std::fs::read(&self.path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Facts::new(),
            Err(error) => return self.ignored(&error),
        };
        let content: Content = match serde_json::from_slice(&content) {
            Ok(content) => content,
            Err(error) => return self.ignored(&error),
        };
        if content.version != VERSION {
            return self.ignored(&"it is of another version");
        }
        let mut facts = Facts::new();
        for entry in content.servers {
            if self.locations.get(&entry.upstream) == Some(&entry.location) {
                facts.entry(entry.upstream).or_default().server = Some((entry.server, entry.until));
            }
        }
        for entry in content.models {
            if self.locations.get(&entry.upstream) == Some(&entry.location) {
                facts.entry(entry.upstream).or_default().models.insert(entry.model, entry.fact);
            }
        }
        facts
    }

    /// Replaces the file by what `facts` gives. That it cannot be written is logged and no more.
    pub(super) fn write(&self, facts: impl FnOnce() -> Facts) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.replace(facts()) {
            let path = self.path.display();
            tracing::warn!(%path, %error, "the capability file was not written");
        }
    }

    fn replace(&self, facts: Facts) -> io::Result<()> {
        let (mut servers, mut models) = (Vec::new(), Vec::new());
        for (upstream, known) in facts {
            let Some(location) = self.locations.get(&upstream) else { continue };
            servers.extend(known.server.map(|(server, until)| ServerEntry {
                upstream: upstream.clone(),
                location: location.clone(),
                server,
                until,
            }));
            models.extend(known.models.into_iter().map(|(model, fact)| Entry {
                upstream: upstream.clone(),
                location: location.clone(),
                model,
                fact,
            }));
        }
        servers.sort_by(|a, b| a.upstream.cmp(&b.upstream));
        models.sort_by(|a, b| (&a.upstream, &a.model).cmp(&(&b.upstream, &b.model)));
        let content = serde_json::to_vec_pretty(&Content { version: VERSION, servers, models })?;
        if let Some(dir) = self.path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        // Another process may write at the same time: each has a file of its own until it is whole.
        let unfinished = self.path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&unfinished, content)?;
        std::fs::rename(&unfinished, &self.path)
    }

    fn ignored(&self, why: &dyn fmt::Display) -> Facts {
        tracing::warn!(path = %self.path.display(), error = %why, "the capability file is ignored");
        Facts::new()
    }
}

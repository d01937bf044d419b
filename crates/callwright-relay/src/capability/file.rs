//! The facts about models, as one JSON file: read at the start, replaced whole when it changes.
//!
//! It holds no key. An entry belongs to an upstream's name and location: another server under an old name starts from nothing.
//! Several processes may share the file: each writes its own facts and leaves those of others.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Facts};
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

/// Returns the names and locations of the upstreams with an entry for `model` in `dir`, whoever wrote it.
pub fn places(dir: &Path, model: &str) -> Vec<(String, String)> {
    let content = content(&dir.join(NAME)).unwrap_or_default();
    let of_model = content.models.into_iter().filter(|entry| entry.model == model);
    of_model.map(|entry| (entry.upstream, entry.location)).collect()
}

#[derive(Default, Serialize, Deserialize)]
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
        let content = match content(&self.path) {
            Ok(content) => content,
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "the capability file is ignored");
                return Facts::new();
            }
        };
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

    /// Writes the result of `facts`. A failure is logged and has no other effect.
    pub(super) fn write(&self, now: u64, facts: impl FnOnce() -> Facts) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.replace(now, facts()) {
            let path = self.path.display();
            tracing::warn!(%path, %error, "the capability file was not written");
        }
    }

    fn replace(&self, now: u64, facts: Facts) -> io::Result<()> {
        // What another process has written in between, and cannot be read, is as good as nothing.
        let others = content(&self.path).unwrap_or_default();
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
        // What nobody else would write again, for as long as it holds.
        let is_new = |entry: &ServerEntry| {
            !servers.iter().any(|own| (&own.upstream, &own.location) == (&entry.upstream, &entry.location))
        };
        let others_servers = others.servers.into_iter().filter(|entry| now < entry.until);
        let others_servers: Vec<ServerEntry> = others_servers.filter(is_new).collect();
        servers.extend(others_servers);
        let own: HashSet<[&str; 3]> = models.iter().map(Entry::key).collect();
        let others_models = others.models.into_iter().filter(|entry| now < entry.fact.until());
        let others_models: Vec<Entry> = others_models.filter(|entry| !own.contains(&entry.key())).collect();
        drop(own);
        models.extend(others_models);
        servers.sort_by(|a, b| a.upstream.cmp(&b.upstream));
        models.sort_by(|a, b| a.key().cmp(&b.key()));
        let content = serde_json::to_vec_pretty(&Content { version: VERSION, servers, models })?;
        if let Some(dir) = self.path.parent() {
            folder(dir)?;
        }
        // Another process may write at the same time: each has a file of its own until it is whole.
        let unfinished = self.path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&unfinished, content)?;
        std::fs::rename(&unfinished, &self.path)
    }
}

impl Entry {
    fn key(&self) -> [&str; 3] {
        [&self.upstream, &self.model, &self.location]
    }
}

/// Reads the content of the file; an absent file is empty.
fn content(path: &Path) -> io::Result<Content> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) => return Err(error),
    };
    let content: Content = serde_json::from_slice(&bytes)?;
    if content.version != VERSION {
        return Err(io::Error::other("it is of another version"));
    }
    Ok(content)
}

/// Makes the folder, for its user alone: sessions may be kept in it later.
fn folder(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    // A relative path may have no folder.
    if dir.as_os_str().is_empty() { Ok(()) } else { builder.recursive(true).create(dir) }
}

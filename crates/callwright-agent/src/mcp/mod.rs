//! Speaks MCP: uses the tools of servers that the user has configured, and runs our own server.
//!
//! A server is a stranger. Its tools count as most dangerous unless the local configuration says otherwise. Its
//! definitions are pinned at first use, and a changed tool does not run until the user accepts it. Its texts are
//! bounded, and shown with each character visible. Calls take the path of all calls: read, repaired, checked against
//! the schema, and asked for.

mod config;
mod connection;
mod definition;
mod http;
mod name;
mod pins;
mod serve;
mod server;
mod stdio;
#[cfg(test)]
mod tests;
mod tool;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::shown;
use crate::tool::{Kind, Tool};
use connection::dial;
use definition::Definition;
use pins::{Pins, Standing};
use server::Server;
use tool::McpTool;

pub use config::{ServerConfig, ServerError, Surroundings};
pub use serve::serve;
pub use server::Tell;

/// The most tools of all servers together.
const MAX_TOOLS: usize = 768;
/// The most bytes of all their definitions together.
const MAX_BYTES: usize = 3 << 20;

/// The servers of a run; empty by default.
#[derive(Default)]
pub struct Servers {
    all: Vec<Arc<Server>>,
    listed: Vec<Listed>,
    tools: Vec<Arc<dyn Tool>>,
}

/// One tool of a server, used or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The server.
    pub server: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The server's description of the tool.
    pub description: String,
    /// The tool's kind, by the configuration.
    pub kind: Kind,
    /// Its name for models, if it is used.
    pub name: Option<String>,
    /// Its relation to the pinned definition, or the reason why it is left out.
    pub state: String,
}

/// A message to the user about servers. Its display shows each character of a stranger's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A server does not start; the run goes on without it.
    NotStarted {
        /// The server.
        server: String,
        /// The reason.
        why: String,
    },
    /// A tool is left out.
    LeftOut {
        /// The server.
        server: String,
        /// Its name for the tool.
        tool: String,
        /// The reason.
        why: String,
    },
    /// A tool differs from the accepted one, and does not run.
    Changed {
        /// The server.
        server: String,
        /// Its name for the tool.
        tool: String,
        /// The differences, one line each.
        what: Vec<String>,
    },
    /// Tools are used for the first time, and their definitions are pinned.
    Pinned {
        /// The server.
        server: String,
        /// Its names for the tools.
        tools: Vec<String>,
    },
    /// The configuration names a tool that the server lacks.
    Unknown {
        /// The server.
        server: String,
        /// The tool's name in the configuration.
        tool: String,
    },
    /// A server ended.
    Ended {
        /// The server.
        server: String,
        /// The known reason.
        why: String,
    },
    /// A server that ended was started again, which happens once.
    Restarted {
        /// The server.
        server: String,
    },
}

/// The treatment of definitions that are not pinned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pinning {
    /// They are pinned at once.
    AtFirstUse,
    /// They stay unpinned.
    Not,
}

impl Servers {
    /// Starts all servers at once and takes their usable tools; it reports the others.
    ///
    /// # Errors
    /// Fails when a server's configuration is unusable. Nothing was started then.
    pub async fn connect(
        configs: &BTreeMap<String, ServerConfig>,
        surroundings: &Surroundings,
        tell: Tell,
    ) -> Result<Servers, ServerError> {
        let servers = startable(configured(configs, surroundings, &tell)?, surroundings, &tell);
        Ok(Servers::open(servers, &surroundings.pins, &tell, Pinning::AtFirstUse).await)
    }

    /// Connects without pinning anything, for a look at the servers.
    ///
    /// # Errors
    /// Fails like [`Servers::connect`].
    pub async fn look(
        configs: &BTreeMap<String, ServerConfig>,
        surroundings: &Surroundings,
        tell: Tell,
    ) -> Result<Servers, ServerError> {
        let servers = startable(configured(configs, surroundings, &tell)?, surroundings, &tell);
        Ok(Servers::open(servers, &surroundings.pins, &tell, Pinning::Not).await)
    }

    /// Returns the usable tools, which [`crate::Toolbox::new`] takes beside others.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// Returns all tools, in the order of the servers' names.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Ends all servers.
    pub async fn close(&self) {
        let mut closing = JoinSet::new();
        for server in &self.all {
            let server = server.clone();
            closing.spawn(async move { server.close().await });
        }
        closing.join_all().await;
    }

    async fn open(servers: Vec<Server>, pins: &Path, tell: &Tell, pinning: Pinning) -> Servers {
        let mut opening = JoinSet::new();
        for (at, server) in servers.into_iter().enumerate() {
            let pins = pins.to_owned();
            opening.spawn(async move {
                let server = Arc::new(server);
                let opened = match server.open().await {
                    Ok(tools) => {
                        let judged = server.clone();
                        // Schemas are compiled, so not on a thread that serves others.
                        let judged =
                            tokio::task::spawn_blocking(move || Judged::of(&judged, &tools, &pins, pinning));
                        judged.await.unwrap_or_else(|_| Err("its tools could not be looked at".to_owned()))
                    }
                    Err(why) => Err(why),
                };
                (at, server, opened)
            });
        }
        let mut opened = opening.join_all().await;
        opened.sort_by_key(|(at, ..)| *at);
        let mut all = Servers { all: Vec::new(), listed: Vec::new(), tools: Vec::new() };
        let mut bytes = 0;
        for (_, server, judged) in opened {
            let judged = match judged {
                Ok(judged) => judged,
                Err(why) => {
                    server.close().await;
                    tell(Notice::NotStarted { server: server.name.clone(), why });
                    continue;
                }
            };
            judged.notices.into_iter().for_each(|notice| tell(notice));
            let mut taken = BTreeMap::new();
            for (mut listed, definition) in judged.tools {
                if let (Some(name), Some(definition)) = (&listed.name, definition) {
                    let declared = definition.declared(name);
                    bytes += declared.to_string().len();
                    if MAX_TOOLS <= all.tools.len() || MAX_BYTES < bytes {
                        let why = "all servers together have too many tools".to_owned();
                        (listed.name, listed.state) = (None, format!("left out: {why}"));
                        tell(Notice::LeftOut {
                            server: listed.server.clone(),
                            tool: listed.tool.clone(),
                            why,
                        });
                    } else {
                        let (server, tool) = (server.clone(), listed.tool.clone());
                        all.tools.push(Arc::new(McpTool { server, tool, definition: declared }));
                        taken.insert(definition.name.clone(), definition);
                    }
                }
                all.listed.push(listed);
            }
            server.take(taken);
            all.all.push(server);
        }
        all
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|server| &server.name)).finish()
    }
}

/// Accepts one server's present configuration and all its present definitions. Returns the differences from before.
///
/// # Errors
/// Fails when the server is unusable, does not start, or cannot be recorded.
pub async fn accept(
    name: &str,
    config: &ServerConfig,
    surroundings: &Surroundings,
) -> Result<Vec<Notice>, ServerError> {
    let error = |why: String| ServerError { server: name.to_owned(), why };
    let configs = BTreeMap::from([(name.to_owned(), config.clone())]);
    let mut servers = configured(&configs, surroundings, &(Arc::new(|_| {}) as Tell))?;
    let Some(server) = servers.pop() else { return Err(error("there is none".to_owned())) };
    // An unreadable record is accepted anew. The permission to start is recorded first, so that it lasts even if the
    // start fails.
    let mut pins =
        Pins::read(&surroundings.pins, name).unwrap_or_else(|_| Pins::none(&surroundings.pins, name));
    pins.take_config(surroundings.fingerprint(config));
    pins.write().map_err(error)?;
    let taken = take_all(&server, pins).await;
    server.close().await;
    taken.map_err(error)
}

async fn take_all(server: &Server, mut pins: Pins) -> Result<Vec<Notice>, String> {
    let tools = server.open().await?;
    let definitions: Vec<_> =
        tools.iter().map(|tool| (tool.name.to_string(), Definition::of(tool))).collect();
    let mut notices = Vec::new();
    let mut new = Vec::new();
    for (tool, definition) in &definitions {
        let (of, tool) = (server.name.clone(), tool.clone());
        match definition.as_ref().map(|definition| pins.standing(definition)) {
            Ok(Standing::Same) => {}
            Ok(Standing::New) => new.push(tool),
            Ok(Standing::Changed(what)) => notices.push(Notice::Changed { server: of, tool, what }),
            Err(why) => notices.push(Notice::LeftOut { server: of, tool, why: why.clone() }),
        }
    }
    if !new.is_empty() {
        notices.push(Notice::Pinned { server: server.name.clone(), tools: new });
    }
    pins.unpin();
    definitions.iter().filter_map(|(_, definition)| definition.as_ref().ok()).for_each(|d| pins.pin(d));
    pins.write()?;
    Ok(notices)
}

fn configured(
    configs: &BTreeMap<String, ServerConfig>,
    surroundings: &Surroundings,
    tell: &Tell,
) -> Result<Vec<Server>, ServerError> {
    let server = |(name, config): (&String, &ServerConfig)| {
        let reach = config::Reach::of(name, config, surroundings)?;
        Ok(Server::new(name, config.clone(), dial(reach), tell.clone()))
    };
    configs.iter().map(server).collect()
}

/// Returns the servers that may be started. A file in somebody else's folder could start anything.
fn startable(servers: Vec<Server>, surroundings: &Surroundings, tell: &Tell) -> Vec<Server> {
    let may_start = |server: &Server| {
        let pins = Pins::read(&surroundings.pins, &server.name);
        let is_accepted = surroundings.is_named
            || pins.is_ok_and(|pins| pins.has_config(&surroundings.fingerprint(&server.config)));
        if !is_accepted {
            let name = &server.name;
            let why = format!(
                "nobody named the file that configures it: see there what it starts, then `callwright mcp accept {name}`"
            );
            tell(Notice::NotStarted { server: name.clone(), why });
        }
        is_accepted
    };
    servers.into_iter().filter(may_start).collect()
}

/// The result of the check of a server's tools.
struct Judged {
    tools: Vec<(Listed, Option<Definition>)>,
    notices: Vec<Notice>,
}

impl Judged {
    fn of(
        server: &Server,
        tools: &[rmcp::model::Tool],
        pins: &Path,
        pinning: Pinning,
    ) -> Result<Judged, String> {
        let mut pins = Pins::read(pins, &server.name)?;
        let own: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let names = name::names(&server.name, &own);
        let mut judged = Judged { tools: Vec::new(), notices: Vec::new() };
        let mut new = Vec::new();
        for (tool, name) in tools.iter().zip(names) {
            let mut listed = Listed {
                server: server.name.clone(),
                tool: tool.name.to_string(),
                description: tool.description.as_deref().unwrap_or_default().to_owned(),
                kind: server.config.kind(&tool.name),
                name: None,
                state: String::new(),
            };
            let (of, tool_name) = (server.name.clone(), listed.tool.clone());
            let definition = match (name, Definition::of(tool)) {
                (Some(name), Ok(definition)) => match pins.standing(&definition) {
                    Standing::Changed(what) => {
                        listed.state = format!("changed: {}", what.join("; "));
                        judged.notices.push(Notice::Changed { server: of, tool: tool_name, what });
                        None
                    }
                    standing => {
                        listed.name = Some(name);
                        if standing == Standing::New {
                            pins.pin(&definition);
                            new.push(tool_name);
                        }
                        listed.state = if standing == Standing::Same { "pinned" } else { "new" }.to_owned();
                        Some(definition)
                    }
                },
                (name, definition) => {
                    let clash = || "another tool of the server has its name".to_owned();
                    let why = definition.err().filter(|_| name.is_some()).unwrap_or_else(clash);
                    listed.state = format!("left out: {why}");
                    judged.notices.push(Notice::LeftOut { server: of, tool: tool_name, why });
                    None
                }
            };
            judged.tools.push((listed, definition));
        }
        for named in server.config.named().filter(|named| !own.contains(&named.as_str())) {
            judged.notices.push(Notice::Unknown { server: server.name.clone(), tool: named.clone() });
        }
        if !new.is_empty() && pinning == Pinning::AtFirstUse {
            // A tool without a recorded definition could be another one tomorrow.
            pins.write()?;
            judged.notices.push(Notice::Pinned { server: server.name.clone(), tools: new });
        }
        Ok(judged)
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |texts: &[String]| texts.iter().map(|text| shown(text)).collect::<Vec<_>>();
        match self {
            Notice::NotStarted { server, why } => {
                write!(f, "MCP server {server} is not used: {}", shown(why))
            }
            Notice::LeftOut { server, tool, why } => {
                write!(f, "MCP server {server}: {} is left out: {}", shown(tool), shown(why))
            }
            Notice::Changed { server, tool, what } => write!(
                f,
                "MCP server {server}: {} has changed, and is not used until `callwright mcp accept {server}`: {}",
                shown(tool),
                all(what).join("; ")
            ),
            Notice::Pinned { server, tools } => {
                write!(f, "MCP server {server}: pinned as they are now: {}", all(tools).join(", "))
            }
            Notice::Unknown { server, tool } => {
                write!(f, "MCP server {server} has no tool {}, which the configuration names", shown(tool))
            }
            Notice::Ended { server, why } => write!(f, "MCP server {server} is gone: {}", shown(why)),
            Notice::Restarted { server } => write!(f, "MCP server {server} was started again"),
        }
    }
}

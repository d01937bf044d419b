//! The client's tools, as a lane reads their calls.

use std::sync::Arc;

use callwright::{Refusal, ToolChoice, ToolSet};
use callwright_json::{Kind, Value, strict};

use crate::api::Surface;
use crate::relay::Relay;
use crate::surface::messages;
use crate::surface::responses::{Declared, Table};
use crate::wire::{WireError, array, string_of};

/// The client's tools, as far as their calls are read.
pub(super) struct Tools {
    pub(super) tool_set: Arc<ToolSet>,
    /// The client's own names for them, which may stand in namespaces.
    pub(super) table: Table,
    /// Tools with a schema that only the upstream and the client know: their calls pass.
    unread: Vec<String>,
    pub(super) allowed: ToolChoice,
    /// The request wants no call.
    pub(super) are_barred: bool,
}

impl Tools {
    /// Reads the tools that a request declares.
    pub(super) async fn of(relay: &Relay, surface: Surface, root: Value<'_>) -> Result<Tools, WireError> {
        let (functions, unread, table, allowed) = match surface {
            // A prompt that the upstream keeps may declare tools that nobody here sees.
            Surface::Responses if root.get("prompt").is_some_and(|prompt| prompt.kind() == Kind::Object) => {
                (Vec::new(), Vec::new(), Table::default(), ToolChoice::Auto)
            }
            Surface::Responses => {
                let none = strict("[]").ok();
                let items = root.get("input").or_else(|| none.as_ref().map(|tree| tree.root("[]")));
                let declared = items.map(|items| Declared::of(root, items)).unwrap_or_default();
                let allowed =
                    declared.allowed.map(|(names, required)| ToolChoice::Allowed { names, required });
                (declared.functions, Vec::new(), declared.table, allowed.unwrap_or(ToolChoice::Auto))
            }
            Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => {
                let (functions, unread) = messages::declared(root);
                (functions, unread, Table::default(), ToolChoice::Auto)
            }
        };
        let tool_set = match functions.is_empty() {
            true => Arc::new(ToolSet::empty()),
            false => relay.tool_sets.of(&array(&functions)).await?,
        };
        let chosen = root.get("tool_choice");
        let kind = chosen.and_then(|chosen| chosen.as_str().or_else(|| string_of(chosen, "type")));
        let are_barred = kind.is_some_and(|kind| kind == "none");
        Ok(Tools { tool_set, table, unread, allowed, are_barred })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tool_set.is_empty()
    }

    /// Returns whether a call of this name may go out before its verdict.
    pub(super) fn may_stream(&self, name: &str) -> bool {
        self.tool_set.get(name).is_some() && self.allowed.allows(name)
    }

    /// Returns whether a call in a text stays there. Nobody here can judge calls of a tool with an unknown schema.
    pub(super) fn leaves(&self, refusal: &Refusal) -> bool {
        refusal.name.as_deref().is_some_and(|name| !self.reads(name))
    }

    /// Returns whether a call of this name is held against a schema.
    pub(super) fn reads(&self, name: &str) -> bool {
        !self.is_empty() && !self.unread.iter().any(|unread| unread == name)
    }
}

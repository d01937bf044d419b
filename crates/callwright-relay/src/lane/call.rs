//! A call of an answer, read by the engine and held against the client's own tools.

use std::sync::Arc;

use callwright::{Acceptance, CallDelta, Reason, Refusal, ToolChoice, ToolSet, Verdict};
use callwright_json::{Kind, Span, Value, strict};

use crate::api::Surface;
use crate::config::{Constrain, Mode};
use crate::ladder::doubts_open_ends;
use crate::reading::{ReadOptions, Reading};
use crate::record::Choice;
use crate::relay::Relay;
use crate::surface::messages;
use crate::surface::responses::{Declared, Table};
use crate::target::Target;
use crate::tokens::Budget;
use crate::wire::{WireError, array, string_of};

use super::Lane;
use super::wire::Told;

/// The client's tools, as far as their calls are read.
pub(super) struct Tools {
    pub(super) tool_set: Arc<ToolSet>,
    /// What the client knows them by: it may have put them in namespaces.
    pub(super) table: Table,
    /// Tools whose schema only the upstream and the client know: their calls pass.
    unread: Vec<String>,
    allowed: ToolChoice,
    /// The request wants no call.
    pub(super) are_barred: bool,
}

impl Tools {
    /// The tools that a request declares.
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

    /// May a call of this name go out before its verdict?
    pub(super) fn may_stream(&self, name: &str) -> bool {
        self.tool_set.get(name).is_some() && self.allowed.allows(name)
    }

    /// Does a call that stands in a text stay there? What tools take whose schema nobody here knows is for nobody to say.
    pub(super) fn leaves(&self, refusal: &Refusal) -> bool {
        refusal.name.as_deref().is_some_and(|name| !self.reads(name))
    }

    /// Is a call of this name held against a schema?
    pub(super) fn reads(&self, name: &str) -> bool {
        !self.is_empty() && !self.unread.iter().any(|unread| unread == name)
    }
}

/// A call, as far as it has come.
#[derive(Debug)]
pub(crate) struct Call {
    /// Where it stands in the answer: the number of its block, or of its item.
    pub(super) at: u64,
    pub(super) head: CallHead,
    /// Its arguments, as the model wrote them.
    pub(super) arguments: String,
    pub(super) is_whole: bool,
    /// It stood in a text, and has its verdict.
    pub(super) is_found: bool,
    /// What of them went out before its verdict.
    pub(super) sent: String,
    /// What it came to; none as long as it is not whole.
    pub(super) verdict: Option<Verdict>,
    /// Why it would be refused, had it not begun to go out: it passes as the model wrote it.
    pub(super) unchecked: Option<Refusal>,
    /// What stands in its place; none where it passes.
    pub(super) put: Option<Put>,
}

/// What begins a call.
#[derive(Clone, Debug)]
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// Arguments that came at once with it.
    pub(crate) arguments: String,
    /// They are a text where the API has an object, or an object where it has a text.
    pub(crate) is_misspelt: bool,
}

/// What stands in the place of a call that does not pass.
#[derive(Clone, Debug)]
pub(crate) enum Put {
    /// The same call, repaired.
    Call { namespace: Option<String>, name: String, arguments: String },
    /// Why it is none.
    Words(String),
}

impl Call {
    pub(super) fn new(at: u64, head: CallHead) -> Call {
        Call {
            at,
            head,
            arguments: String::new(),
            is_whole: false,
            is_found: false,
            sent: String::new(),
            verdict: None,
            unchecked: None,
            put: None,
        }
    }

    /// The name that the engine knows it by.
    pub(super) fn flat(&self, tools: &Tools) -> String {
        let CallHead { namespace, name, .. } = &self.head;
        match (tools.table.declared(namespace.as_deref(), name), namespace) {
            (Some(declared), _) => declared.to_owned(),
            // What it stands for is for the engine to say.
            (None, Some(namespace)) => format!("{namespace}.{name}"),
            (None, None) => name.clone(),
        }
    }

    /// Its arguments: those that came piece by piece, else those that came with its name.
    pub(super) fn text(&self) -> &str {
        if self.arguments.is_empty() { &self.head.arguments } else { &self.arguments }
    }

    /// Does it pass as it came?
    pub(super) fn is_right(&self, tools: &Tools) -> bool {
        let Some(Verdict::Accepted(accepted)) = &self.verdict else { return false };
        !self.head.is_misspelt && accepted.name == self.flat(tools) && accepted.arguments == self.text()
    }
}

impl Lane {
    /// How the answers of `target` are read.
    pub(super) fn read_options(&self, target: &Target) -> ReadOptions {
        ReadOptions {
            mode: Mode::Native,
            is_unread: false,
            constrain: Constrain::None,
            policy: self.policy,
            doubt_open_ends: doubts_open_ends(self.policy, &self.relay.config.ladder),
            calls_in_reasoning: target.candidate.calls_in_reasoning(),
            dialects: target.candidate.dialects.clone(),
            allowed: self.tools.allowed.clone(),
            asked: None,
            search: None,
            unsure_is_text: false,
            shown: None,
        }
    }

    /// What the engine makes of a call, in an answer that said and spent this.
    pub(super) async fn verdict(&self, call: &Call, target: &Target, told: &Told) -> Verdict {
        let name = call.flat(&self.tools);
        let options = self.read_options(target);
        let mut events = Vec::new();
        let mut reading = Reading::new(&self.relay.readers, &self.tools.tool_set, &options);
        let (id, arguments) = (Some(call.head.id.as_str()), Some(call.text()));
        let piece = CallDelta { index: Some(0), id, name: Some(&name), arguments };
        reading.call(piece, &mut events).await;
        // Before the answer has ended, nobody says how it does.
        if let Some(reason) = &told.reason {
            reading.stopped(reason);
        }
        let budget = match told.reason {
            Some(_) => Budget::of(self.most_tokens(), told.usage),
            // It goes on.
            None => Budget::Unknown,
        };
        let Choice { outcome, .. } = reading.finish(budget, &mut events).await;
        let mut verdicts = outcome.verdicts;
        match verdicts.pop().filter(|_| verdicts.is_empty()) {
            // What went out is not taken back.
            Some(Verdict::Accepted(accepted)) if !accepted.arguments.starts_with(&call.sent) => {
                Verdict::Refused(unreadable(call, name))
            }
            Some(verdict) => verdict,
            // There is one place for one call: several in it are none.
            None => Verdict::Refused(unreadable(call, name)),
        }
    }

    /// What stands in the place of a call that came to `accepted`.
    pub(super) fn put(&self, accepted: &Acceptance) -> Put {
        let entry = self.tools.table.get(&accepted.name);
        Put::Call {
            namespace: entry.and_then(|entry| entry.namespace.clone()),
            name: entry.map_or_else(|| accepted.name.clone(), |entry| entry.name.clone()),
            arguments: accepted.arguments.clone(),
        }
    }
}

fn unreadable(call: &Call, name: String) -> Refusal {
    Refusal {
        id: Some(call.head.id.clone()),
        name: Some(name),
        dialect: "native".into(),
        number: 1,
        span: Span::new(0, call.text().len()),
        block: call.text().to_owned(),
        reason: Reason::Unreadable(Vec::new()),
    }
}

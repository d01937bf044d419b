//! The question to an upstream: the client's request in the form that the upstream takes.

use bytes::Bytes;
use callwright::constrain::{self, Constraint};
use callwright::json;
use callwright::prompt::{PromptDialect, Speaking, render_messages};
use callwright::{ToolChoice, ToolSet};
use callwright_json::{Kind, Value, quote};

use crate::api::{Surface, UpstreamKind};
use crate::capability::{BoundMember, ModelTemplate, Strict};
use crate::config::{Constrain, Mode, ModelConfig};
use crate::history;
use crate::reading::Shown;
use crate::surface::ollama::OLLAMAS;
use crate::wire::{
    Ask, Change, Document, array, has_healing_plugin, is_healing_plugin, rewritten, string_of,
};

/// One question: the client's request, and the changes of this attempt.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Messages that stand behind the request's own, as JSON texts.
    pub(crate) more: Vec<String>,
    /// The tools that a follow-up offers in place of the request's.
    pub(crate) offer: Option<Offer>,
    /// The most tokens that a follow-up needs. They bound its answer if the client bounds the request's, and never above the
    /// client's own bound.
    pub(crate) max_tokens: Option<u64>,
    /// The bound tells something: an answer below it was not cut. It is then there even if the client sets none.
    pub(crate) tells_by_bound: bool,
    /// The answer is to be a stream.
    pub(crate) stream: bool,
}

/// The tools of a follow-up in place of the request's.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// The definitions, compiled.
    pub(crate) tool_set: std::sync::Arc<ToolSet>,
    /// The tools that may be called.
    pub(crate) choice: ToolChoice,
}

/// The form that an upstream takes a question in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestOptions<'a> {
    /// The model's name at the upstream.
    pub(crate) model: &'a str,
    /// The way in which tools reach the model.
    pub(crate) mode: Mode,
    /// The dialect of prompt mode.
    pub(crate) dialect: &'a PromptDialect,
    /// The constraint of the answer in prompt mode.
    pub(crate) constrain: Constrain,
    /// The native tools for which `strict: true` is said.
    pub(crate) strict: Strict,
    /// The settings of the model.
    pub(crate) set: Option<&'a ModelConfig>,
    /// The upstream counts the tokens of a stream if it is asked to.
    pub(crate) counts_streams: bool,
    /// Its own chat template.
    pub(crate) template: Option<&'a ModelTemplate>,
    /// The member that bounds an answer's tokens, if the upstream takes only one.
    pub(crate) bound: Option<BoundMember>,
    /// The most tokens that an answer may have, by the upstream's words: it refuses more.
    pub(crate) most_tokens: Option<u64>,
    /// The bound on an answer if the client sets none, in an API that demands one.
    pub(crate) usual_most: Option<u64>,
    /// The API that the upstream is asked in.
    pub(crate) kind: UpstreamKind,
}

impl RequestOptions<'_> {
    /// Returns whether the upstream takes the effort that clients of other APIs name. A model of Ollama's that does not think
    /// refuses it.
    fn takes_effort(&self) -> bool {
        let is_known = matches!(self.kind, UpstreamKind::Messages | UpstreamKind::Responses);
        is_known || self.set.is_some_and(|set| set.reasoning_effort)
    }
}

/// The request to send, and the means to read its answer.
#[derive(Debug)]
pub(crate) struct UpstreamRequest {
    /// The request's body.
    pub(crate) body: Bytes,
    /// The examples that prompt mode shows the model.
    pub(crate) shown: Shown,
    /// The constraint of the answer.
    pub(crate) constrain: Constrain,
    /// The native tools for which `strict: true` is said.
    pub(crate) strict: Strict,
}

impl Question {
    /// Makes the question of the client's request itself.
    pub(crate) fn first(ask: &Ask) -> Question {
        Question {
            more: Vec::new(),
            offer: None,
            max_tokens: None,
            tells_by_bound: false,
            stream: ask.answer.stream,
        }
    }

    /// Returns the tools that it offers.
    pub(crate) fn tool_set<'q>(&'q self, own: &'q ToolSet) -> &'q ToolSet {
        self.offer.as_ref().map_or(own, |offer| &offer.tool_set)
    }

    /// Returns the choice of tools in the question.
    pub(crate) fn choice<'q>(&'q self, ask: &'q Ask) -> &'q ToolChoice {
        self.offer.as_ref().map_or(&ask.calls.choice, |offer| &offer.choice)
    }

    /// Returns the calls that the answer may make. A follow-up that asks for one tool leaves the others out of its request, and
    /// they stay declared. Safe ones are offered so that nothing else is called.
    pub(crate) fn allows<'q>(&'q self, ask: &'q Ask) -> &'q ToolChoice {
        match self.choice(ask) {
            ToolChoice::Named(_) | ToolChoice::Required => &ask.calls.choice,
            choice => choice,
        }
    }

    /// Returns whether its last message is the result of a call.
    pub(crate) fn ends_in_result(&self) -> bool {
        let last = self.more.last().and_then(|last| Document::of(last.clone()).ok());
        last.is_some_and(|last| string_of(last.root(), "role").is_some_and(|role| role == "tool"))
    }

    /// Returns the most tokens that the answer may have; none if the client sets no bound.
    pub(crate) fn most_tokens(&self, ask: &Ask) -> Option<u64> {
        match (ask.max_tokens, self.max_tokens) {
            (Some(own), Some(most)) => Some(own.min(most)),
            (None, most) if self.tells_by_bound => most,
            (own, _) => own,
        }
    }

    /// Returns the bound for the upstream: the client's, or the model's maximum. None if nobody sets one.
    fn bound_above(&self, ask: &Ask, options: RequestOptions<'_>) -> Option<u64> {
        let wanted = self.most_tokens(ask);
        let more = |most: &u64| wanted.or(options.usual_most).is_some_and(|wanted| *most < wanted);
        let set = options.set.and_then(|set| set.max_tokens_cap);
        [wanted, options.most_tokens.filter(more), set].into_iter().flatten().min()
    }

    /// Returns the number of tokens by which the upstream is asked to bound the answer.
    pub(crate) fn asks_for(&self, ask: &Ask, options: RequestOptions<'_>) -> Option<u64> {
        self.bound_above(ask, options).or(options.usual_most)
    }

    /// Writes the body for an upstream. `own` are the request's tools.
    pub(crate) fn upstream_request(
        &self,
        ask: &Ask,
        own: &ToolSet,
        options: RequestOptions<'_>,
    ) -> UpstreamRequest {
        let mut changes: Vec<(&str, Change)> = Vec::new();
        if options.model != ask.model {
            changes.push(("model", Change::Set(quote(options.model))));
        }
        drop_what_is_ours(ask.document.root(), &mut changes);
        if self.stream != ask.answer.stream {
            changes.push(("stream", Change::Set(self.stream.to_string())));
            changes.push(("stream_options", Change::Remove));
        } else if self.stream && options.counts_streams && !ask.answer.usage {
            // Records count tokens; what the client did not ask for is taken out of its answer.
            let counted =
                |own: Value<'_>| rewritten(own, &[("include_usage", Change::Set(String::from("true")))]);
            let own = ask.document.root().get("stream_options").filter(|own| own.kind() == Kind::Object);
            let set = own.map_or_else(|| String::from("{\"include_usage\":true}"), counted);
            changes.push(("stream_options", Change::Set(set)));
        }
        self.bound(ask, options, &mut changes);
        if ask.is_translated {
            let effort = (!options.takes_effort()).then_some("reasoning_effort");
            let ollamas = OLLAMAS.into_iter().filter(|_| options.kind != UpstreamKind::Ollama);
            let foreign =
                effort.into_iter().chain(ollamas).filter(|key| ask.document.root().get(key).is_some());
            changes.extend(foreign.map(|key| (key, Change::Remove)));
        }
        if self.is_follow_up() {
            changes.push(("n", Change::Remove));
        }
        let (shown, constrain, strict) = match options.mode {
            Mode::Native => {
                self.native(ask, own, &mut changes);
                (Shown::default(), Constrain::None, self.strict(ask, own, options, &mut changes))
            }
            Mode::Prompt => {
                let (shown, constrain) = self.prompted(ask, own, options, &mut changes);
                (shown, constrain, Strict::None)
            }
        };
        let root = ask.document.root();
        let body = match changes.is_empty() {
            true => ask.document.to_bytes(),
            false => Bytes::from(rewritten(root, &changes)),
        };
        UpstreamRequest { body, shown, constrain, strict }
    }

    fn is_follow_up(&self) -> bool {
        self.max_tokens.is_some() || self.offer.is_some()
    }

    /// Writes the bound of the answer's tokens, in the member that the upstream takes.
    fn bound(&self, ask: &Ask, options: RequestOptions<'_>, changes: &mut Vec<(&str, Change)>) {
        let Some(most) = self.bound_above(ask, options) else { return };
        let is_set = self.max_tokens.is_some() || self.most_tokens(ask) != Some(most);
        let root = ask.document.root();
        let own = match root.get(BoundMember::MaxCompletionTokens.name()) {
            Some(_) => BoundMember::MaxCompletionTokens,
            None => BoundMember::MaxTokens,
        };
        let taken = options.bound.unwrap_or(own);
        if is_set || root.get(taken.name()).is_none() {
            changes.push((taken.name(), Change::Set(most.to_string())));
        }
        if taken != own || is_set {
            changes.push((taken.other().name(), Change::Remove));
        }
    }

    /// Says `strict: true` of native tools, and returns those tools; none if that changes nothing.
    fn strict(
        &self,
        ask: &Ask,
        own: &ToolSet,
        options: RequestOptions<'_>,
        changes: &mut Vec<(&str, Change)>,
    ) -> Strict {
        // A call that nobody may make is held to nothing, and the older form has no place for it.
        if options.strict == Strict::None || ask.calls.is_legacy || *self.choice(ask) == ToolChoice::None {
            return Strict::None;
        }
        let offered = changes.iter().position(|(key, _)| *key == "tools");
        let offered = offered.map(|at| changes.swap_remove(at).1);
        let document = match &offered {
            Some(Change::Set(tools)) => Document::of(tools.clone()).ok(),
            Some(Change::Remove) | None => None,
        };
        let tools = document.as_ref().map(Document::root).or_else(|| ask.document.root().get("tools"));
        let tools = tools.filter(|_| !matches!(offered, Some(Change::Remove)));
        let marked = tools.and_then(|tools| options.strict.marked(tools, Surface::Chat, self.tool_set(own)));
        let is_marked = marked.is_some();
        changes.extend(marked.map(Change::Set).or(offered).map(|tools| ("tools", tools)));
        if is_marked { options.strict } else { Strict::None }
    }

    fn native(&self, ask: &Ask, own: &ToolSet, changes: &mut Vec<(&str, Change)>) {
        let repaired = history::repaired(ask.messages(), own);
        match (repaired, self.more.is_empty()) {
            (None, true) => {}
            (Some(messages), true) => changes.push(("messages", Change::Set(messages))),
            (repaired, false) => {
                let mut messages = match &repaired {
                    Some(text) => text.clone(),
                    None => array(ask.messages().map(Value::raw)),
                };
                messages.pop();
                for message in &self.more {
                    messages.push(',');
                    messages.push_str(message);
                }
                messages.push(']');
                changes.push(("messages", Change::Set(messages)));
            }
        }
        // vLLM refuses an empty list.
        if ask.tools().is_none() && ask.document.root().get("tools").is_some() {
            changes.push(("tools", Change::Remove));
            changes.push(("tool_choice", Change::Remove));
        }
        let Some(offer) = &self.offer else { return };
        let (tools, choice) = match ask.calls.is_legacy {
            false => ("tools", "tool_choice"),
            true => ("functions", "function_call"),
        };
        let definitions = offer.choice.tools(&offer.tool_set);
        changes.push((tools, Change::Set(array(definitions.iter().map(|t| t.definition().to_string())))));
        let chosen = match (&offer.choice, ask.calls.is_legacy) {
            (ToolChoice::Named(name), false) => {
                format!("{{\"type\":\"function\",\"function\":{{\"name\":{}}}}}", quote(name))
            }
            (ToolChoice::Named(name), true) => format!("{{\"name\":{}}}", quote(name)),
            (choice, false) if choice.is_required() => String::from("\"required\""),
            _ => String::from("\"auto\""),
        };
        changes.push((choice, Change::Set(chosen)));
    }

    fn prompted(
        &self,
        ask: &Ask,
        own: &ToolSet,
        options: RequestOptions<'_>,
        changes: &mut Vec<(&str, Change)>,
    ) -> (Shown, Constrain) {
        let tool_set = self.tool_set(own);
        let choice = self.choice(ask);
        for key in ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] {
            if ask.document.root().get(key).is_some() {
                changes.push((key, Change::Remove));
            }
        }
        // What the request itself asks of the content goes before.
        let is_free = !ask.json_content && ask.document.root().get("grammar").is_none();
        let wanted = match options.constrain {
            Constrain::JsonSchema => Some(Constraint::Schema),
            Constrain::Grammar => Some(Constraint::Grammar),
            Constrain::None => None,
        };
        // A small model that may go on calling does, to the end of its tokens: where nobody asks for several calls, an
        // answer that is held to JSON as a whole holds one. A model that has a dialect of its own knows when to end.
        let is_held = options.dialect.is_json()
            && wanted.is_some_and(|constraint| is_free && constraint.is_for(options.dialect));
        let parallel = ask.calls.parallel.unwrap_or(!is_held) && self.offer.is_none();
        let held = wanted.filter(|_| is_free).and_then(|constraint| {
            let field = constrain::field(constraint, options.dialect, tool_set, choice, parallel)?;
            Some((constraint, field))
        });
        let turns = options.template.and_then(ModelTemplate::turns);
        let set = |member: fn(&ModelConfig) -> Option<bool>| options.set.and_then(member);
        let speaking = Speaking {
            choice: choice.clone(),
            parallel,
            constraint: held.as_ref().map(|(constraint, _)| *constraint),
            system_role: set(|set| set.system_role).or(turns.map(|turns| turns.system_role)).unwrap_or(true),
            alternate: set(|set| set.alternate).or(turns.map(|turns| turns.alternate)).unwrap_or(false),
            result_role: options.set.is_some_and(|set| set.result_role),
        };
        let preface = options.set.and_then(|set| set.prompt.as_deref());
        let parsed = |text: &str| serde_json::from_str::<callwright::value::Value>(text).ok();
        let mut messages: Vec<callwright::value::Value> = preface
            .map(|text| json!({"role": "system", "content": text}))
            .into_iter()
            .chain(ask.messages().map(Value::raw).filter_map(parsed))
            .collect();
        // What the relay itself said of a refused call makes none of its words the client's.
        let n_client = messages.len();
        messages.extend(self.more.iter().map(String::as_str).filter_map(parsed));
        let rendered = render_messages(options.dialect, tool_set, &speaking, &messages);
        messages.truncate(n_client);
        let texts = rendered.messages.iter().map(callwright::value::Value::to_string);
        changes.push(("messages", Change::Set(array(texts))));
        let constrain = if held.is_some() { options.constrain } else { Constrain::None };
        if let Some((_, (key, value))) = held {
            changes.push((key, Change::Set(value.to_string())));
        }
        (Shown { examples: rendered.examples, messages }, constrain)
    }
}

/// Drops the members that only this relay understands.
pub(crate) fn drop_what_is_ours(root: Value<'_>, changes: &mut Vec<(&str, Change)>) {
    if root.get("callwright").is_some() {
        changes.push(("callwright", Change::Remove));
    }
    if has_healing_plugin(root) {
        let plugins = root.get("plugins").into_iter().flat_map(Value::elements);
        let others: Vec<&str> = plugins.filter(|p| !is_healing_plugin(*p)).map(Value::raw).collect();
        let change = if others.is_empty() { Change::Remove } else { Change::Set(array(others)) };
        changes.push(("plugins", change));
    }
}

/// Writes the client's request so that its answer shows only the number of tokens in its prompt. It has its tools or not, and a
/// bound on the answer.
pub(crate) fn counting_request(
    ask: &Ask,
    model: &str,
    (bound, most): (BoundMember, u64),
    with_tools: bool,
) -> Bytes {
    let mut changes: Vec<(&str, Change)> = vec![
        ("model", Change::Set(quote(model))),
        ("stream", Change::Remove),
        ("stream_options", Change::Remove),
        ("n", Change::Remove),
        (bound.other().name(), Change::Remove),
        (bound.name(), Change::Set(most.to_string())),
    ];
    drop_what_is_ours(ask.document.root(), &mut changes);
    if !with_tools {
        let of_tools = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];
        changes.extend(of_tools.map(|key| (key, Change::Remove)));
    }
    Bytes::from(rewritten(ask.document.root(), &changes))
}

//! Tools that do not all fit into a question: the model is shown some, and finds others by a call that is answered here.
//!
//! The model sees the tools that the conversation has called, those that a search finds for the user's words, and one that
//! searches. Searches and their results stay out of the client's conversation. A call of a hidden tool counts like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright::{Tool, ToolChoice, ToolSet};

use super::Turn;
use crate::question::{Offer, Question};
use crate::record::{AttemptReason, Choice};
use crate::surface::conversation::text;
use crate::target::Target;
use crate::tool_search::ToolSearch;
use crate::wire::{Change, Document, rewritten, string_of};

/// The most searches in one request.
const SEARCHES: u32 = 3;

/// The part of the tools shown at first that one search may bring: a quarter, and three tools at least.
const SHARE: usize = 4;
const LEAST: usize = 3;

/// The most bytes of the user's last words in a search.
const WORDS: usize = 4 << 10;

impl Turn {
    /// Shows the model no more tools than are configured. Nothing changes if all of them fit, or only some may be called.
    pub(crate) async fn limit_tools(&mut self) {
        let set = self.relay.upstreams.configured(&self.ask.model).and_then(|set| set.tools_limit);
        let limit = set.unwrap_or(self.relay.config.tools.limit);
        let is_free = matches!(self.ask.calls.choice, ToolChoice::Auto | ToolChoice::Required);
        if limit == 0 || self.tool_set.len() <= limit || !is_free || self.ask.calls.is_legacy {
            return;
        }
        let index = self.relay.tool_sets.index_of(&self.tool_set);
        let mut shown: BTreeSet<usize> = self.called().collect();
        let found = index.search(&self.last_words());
        let others = found.into_iter().chain(0..self.tool_set.len());
        for tool in others {
            if limit <= shown.len() {
                break;
            }
            shown.insert(tool);
        }
        let mut name = String::from("find_tools");
        while self.tool_set.get(&name).is_some() {
            name.push('_');
        }
        let Some((text, offered)) = self.offered(&name, &shown).await else { return };
        let changes = [("tools", Change::Set(text))];
        let Ok(document) = Document::of(rewritten(self.ask.document.root(), &changes)) else { return };
        self.ask.document = document;
        self.search = Some(ToolSearch { name: name.into(), index, shown, offered, limit, left: SEARCHES });
    }

    /// Returns the tools that a question offers.
    pub(crate) fn offer(&self) -> &Arc<ToolSet> {
        self.search.as_ref().map_or(&self.tool_set, |search| &search.offered)
    }

    /// Returns the tools among which a call is asked for again: the offered ones, or all if the call names another one.
    pub(super) fn offer_with(&self, name: Option<&str>) -> &Arc<ToolSet> {
        let is_hidden = name.is_some_and(|name| self.offer().get(name).is_none());
        match is_hidden && name.is_some_and(|name| self.tool_set.get(name).is_some()) {
            true => &self.tool_set,
            false => self.offer(),
        }
    }

    /// Answers a model that searches for tools, until it does something else. Returns its last answer; none if it did not search.
    pub(super) async fn find_tools(&mut self, first: &Choice, target: &Target) -> Option<Choice> {
        let mut question = Question::first(&self.ask);
        let mut last: Option<Choice> = None;
        while let Some(searched) = last.as_ref().or(Some(first)).filter(|choice| choice.searches_alone()) {
            let words = searched.searches.join(" ");
            let text = searched.outcome.text.clone();
            let Some(search) = self.search.as_mut().filter(|search| 0 < search.left) else { break };
            search.left -= 1;
            let (name, n_most) = (Arc::clone(&search.name), LEAST.max(search.limit / SHARE));
            let found = search.index.search(&words.replace(&*name, " "));
            let new: Vec<usize> =
                found.into_iter().filter(|tool| !search.shown.contains(tool)).take(n_most).collect();
            search.shown.extend(&new);
            let shown = search.shown.clone();
            let result = self.told(&new);
            let (_, offered) = self.offered(&name, &shown).await?;
            if let Some(search) = &mut self.search {
                search.offered = Arc::clone(&offered);
            }
            let call = json!({
                "id": format!("call_search_{}", question.more.len()), "type": "function",
                "function": {"name": &*name, "arguments": json!({"query": words}).to_string()},
            });
            let content = Some(text).filter(|text| !text.is_empty());
            let said = json!({"role": "assistant", "content": content, "tool_calls": [call.clone()]});
            let answer = json!({"role": "tool", "tool_call_id": call["id"].clone(), "content": result});
            question.more.extend([said.to_string(), answer.to_string()]);
            question.offer = Some(Offer { tool_set: offered, choice: self.ask.calls.choice.clone() });
            question.max_tokens = Some(self.ladder.tokens_left().max(1));
            question.stream = false;
            last = Some(self.ask_again(target, &question, AttemptReason::Search).await?);
        }
        last
    }

    /// Returns the result of a search, in words.
    fn told(&self, new: &[usize]) -> String {
        if new.is_empty() {
            return String::from(
                "No other tool fits these words. Go on with the tools that you have, or answer in words.",
            );
        }
        let lines = self.numbered(new.iter().copied()).map(|tool| {
            let line = tool.description().lines().next().unwrap_or_default();
            format!("\n- {}: {line}", tool.name())
        });
        format!("You have these tools from now on:{}", lines.collect::<String>())
    }

    /// Returns the definitions of these tools and of the one that searches, as text and compiled.
    async fn offered(&self, name: &str, shown: &BTreeSet<usize>) -> Option<(String, Arc<ToolSet>)> {
        let hidden = self.tool_set.len() - shown.len();
        let search = json!({"type": "function", "function": {
            "name": name,
            "description": format!(
                "Finds further tools by what they do: there are {hidden} more than you see. Call it where none of yours fits. You \
                 have the tools that it names from then on."
            ),
            "parameters": {"type": "object", "required": ["query"], "properties": {
                "query": {"type": "string", "description": "What the tool is to do, in a few words."},
            }},
        }});
        let definitions = self.numbered(shown.iter().copied()).map(|tool| tool.definition().clone());
        let hosted = self.tool_set.hosted().iter().cloned();
        let text = Value::Array(definitions.chain(hosted).chain([search]).collect()).to_string();
        let offered = self.relay.tool_sets.of(&text).await.ok()?;
        Some((text, offered))
    }

    /// Returns the tools of these numbers, in their order.
    fn numbered(&self, numbers: impl Iterator<Item = usize>) -> impl Iterator<Item = &Tool> {
        let all: Vec<&Tool> = self.tool_set.iter().collect();
        numbers.filter_map(move |number| all.get(number).copied())
    }

    /// Returns the numbers of the tools that the conversation has called.
    fn called(&self) -> impl Iterator<Item = usize> {
        let calls = self.ask.messages().filter_map(|message| message.get("tool_calls"));
        let names = calls
            .flat_map(|calls| calls.elements())
            .filter_map(|call| string_of(call.get("function")?, "name"));
        let names: BTreeSet<String> = names.map(|name| name.into_owned()).collect();
        let all = self.tool_set.iter().enumerate();
        all.filter(move |(_, tool)| names.contains(tool.name())).map(|(at, _)| at)
    }

    /// Returns the user's last two messages.
    fn last_words(&self) -> String {
        let is_user = |message: &callwright_json::Value<'_>| {
            string_of(*message, "role").is_some_and(|role| role == "user")
        };
        let said: Vec<String> =
            self.ask.messages().filter(is_user).map(|message| text(message.get("content"))).collect();
        let last = said.iter().rev().take(2).rev().cloned().collect::<Vec<_>>().join("\n");
        let from = last.ceil_char_boundary(last.len().saturating_sub(WORDS));
        last[from..].to_owned()
    }
}

//! The evidence of an answer that the model gets its tools natively, and makes calls of them.
//!
//! An upstream that refuses tools says so; one that drops them answers as if there were none. The tokens of the prompt show that,
//! if the tools are large beside the rest. If they are not, the same prompt is counted once without them, which costs little
//! because it is short.

use std::sync::Arc;

use bytes::Bytes;
use callwright::{ShownBy, ToolChoice};
use callwright_json::{Kind, Value};

use super::{Sent, Turn};
use crate::bridge;
use crate::capability::{BoundMember, Evidence, Source, trial};
use crate::config::Mode;
use crate::question::counting_request;
use crate::record::Choice;
use crate::relay::Relay;
use crate::target::Target;
use crate::upstream::Candidate;
use crate::wire::{Document, PromptTokens, prompt_tokens, string_of};

/// The fewest and the most ASCII characters in a token, on the average of a text.
const CHARS_PER_TOKEN: (f64, f64) = (3.0, 4.5);
/// The spread of a model's own characters per token between its texts.
const OWN_RATE_SPREAD: f64 = 0.15;
/// The number of tokens from which an answer tells its model's characters per token.
const RATE_TOKENS: u64 = 32;
/// The most tokens that a chat template adds of its own.
const TEMPLATE_TOKENS: f64 = 400.0;
/// The longest answer to a request that only counts, in bytes. It says a few words.
const LONGEST_COUNT: usize = 1 << 20;

impl Turn {
    /// Takes up the evidence of the first answer. Returns whether the same request is to be asked again in prompt mode: the tools
    /// did not get to the model, or a demanded call did not come. Words that the client has, `sent`, stay: then only the next
    /// request goes in prompt mode.
    pub(super) async fn is_disproved(
        &self,
        target: &Target,
        read: &[&Choice],
        tokens: Option<PromptTokens>,
        sent: Sent<'_>,
    ) -> bool {
        let set = target.candidate.config.as_deref().and_then(|set| set.mode);
        if target.mode != Mode::Native
            || set.is_some()
            || !self.has_tools()
            || self.ask.calls.choice == ToolChoice::None
        {
            return false;
        }
        let capabilities = &self.relay.capabilities;
        if read.iter().any(|choice| !choice.native.is_empty() || 0 < choice.foreign_calls) {
            capabilities.learn(&target.candidate, Evidence::Called, "").await;
            return false;
        }
        let [only] = read else { return false };
        // The upstream has read a call, if a wrong one.
        if only.lost.is_some() {
            return false;
        }
        let is_spent = only.finish_reason.as_deref() == Some("length");
        let is_cut = is_spent || only.finish_reason.as_deref() == Some("content_filter");
        // Calls in the text show that the model has its tools, and that the server does not read its calls.
        let has_unsure = only.outcome.shown.iter().any(|call| call.by == ShownBy::Unsure);
        let has_calls = !only.outcome.verdicts.is_empty();
        let is_required = self.ask.calls.choice.is_required();
        if only.outcome.calls().any(|call| !call.unsure) {
            capabilities.learn_calls_in_text(&target.candidate).await;
        }
        // The server kept the model from ending, for want of a call that it reads.
        if is_required && is_spent && (has_calls || has_unsure) {
            capabilities.learn_demanded(&target.candidate).await;
        }
        if is_required && is_spent && !has_calls && !only.is_empty() {
            return true;
        }
        if is_cut || has_unsure || has_calls {
            return false;
        }
        if is_required {
            // This client is asked for in prompt mode. What that means for others is not for its words to say: a request
            // of our own tells, once in a while.
            if capabilities.takes_trial(&target.candidate) {
                drop(tokio::spawn(confirmed(Arc::clone(&self.relay), target.candidate.clone())));
            }
            return true;
        }
        // Nothing at all is no sign of anything, but prompt mode may bring more.
        if only.is_empty() {
            return true;
        }
        match capabilities.what_is_known(&target.candidate).tools_source {
            Source::Configured | Source::Host(_) | Source::Experience(_) => return false,
            Source::Metadata(_) | Source::Server(_) | Source::Family | Source::Unknown => {}
        }
        self.is_dropped(target, only, tokens, sent).await
    }

    /// Returns whether the count of the prompt's tokens shows that the tools did not get to the model. If it shows nothing, small
    /// requests are counted, once in a while.
    async fn is_dropped(
        &self,
        target: &Target,
        only: &Choice,
        tokens: Option<PromptTokens>,
        sent: Sent<'_>,
    ) -> bool {
        let capabilities = &self.relay.capabilities;
        let Some(prompt) = Texts::of(&self.ask.document, self.ask.calls.is_legacy) else { return false };
        if let Some(tokens) = tokens
            && let Some(evidence) = prompt.judge(tokens.prompt, own_rate(only, tokens))
        {
            let tools = prompt.tools.ascii + prompt.tools.others;
            let words = format!("{} tokens, with {tools} characters of tools", tokens.prompt);
            capabilities.learn(&target.candidate, evidence, &words).await;
            return evidence == Evidence::Dropped && matches!(sent, Sent::Nothing);
        }
        if !capabilities.takes_trial(&target.candidate) {
            return false;
        }
        let bound = capabilities.bound(&target.candidate).unwrap_or(BoundMember::MaxTokens);
        let requests = |with_tools| {
            let model = &target.candidate.model;
            COUNT_BOUNDS.map(|most| counting_request(&self.ask, model, (bound, most), with_tools))
        };
        let count = Count {
            candidate: target.candidate.clone(),
            tools: prompt.tools,
            with: tokens.map(|tokens| tokens.prompt).ok_or_else(|| requests(true)),
            without: requests(false),
        };
        match sent {
            Sent::Nothing => count.shows_dropped(&self.relay).await,
            Sent::Words | Sent::Calls | Sent::Part(_) => {
                let relay = Arc::clone(&self.relay);
                // The client has its answer: nobody waits for this.
                drop(tokio::spawn(async move { count.shows_dropped(&relay).await }));
                false
            }
        }
    }
}

/// Finds out by a small request whether a model makes native calls, after a client's demanded call did not come.
async fn confirmed(relay: Arc<Relay>, candidate: Candidate) {
    let bound = relay.capabilities.bound(&candidate).unwrap_or(BoundMember::MaxTokens);
    let question = trial::question(&candidate.model, bound);
    let headers = http::HeaderMap::new();
    let Ok(answer) = bridge::ask(&candidate, question, &headers, &relay.config.limits).await else { return };
    let status = answer.status;
    let Ok(body) = answer.body.whole(trial::LONGEST).await else { return };
    let body = candidate.upstream.without_secrets(body);
    if let Some((evidence, words)) = trial::shown(status, &body) {
        relay.capabilities.learn(&candidate, evidence, &words).await;
    }
}

/// Returns the characters of a token in this answer, if it is long enough to tell.
fn own_rate(choice: &Choice, tokens: PromptTokens) -> Option<f64> {
    let said = choice.raw.chars().count() + choice.reasoning.chars().count();
    (RATE_TOKENS <= tokens.completion).then(|| said as f64 / tokens.completion as f64)
}

/// The bounds of an answer that only counts: some servers demand sixteen.
const COUNT_BOUNDS: [u64; 2] = [1, 16];

/// A prompt that is counted with its tools and without.
struct Count {
    candidate: Candidate,
    /// The texts of the tools.
    tools: Size,
    /// Its tokens with them, or the requests that tell if the answer did not.
    with: Result<u64, [Bytes; 2]>,
    without: [Bytes; 2],
}

impl Count {
    /// Counts if no source says that the model takes tools, and takes up the evidence. Returns whether the tools were dropped.
    async fn shows_dropped(&self, relay: &Relay) -> bool {
        // The server may have been asked while the answer was under way.
        let known = relay.capabilities.of(&self.candidate).await;
        match known.tools_source {
            Source::Server(_) | Source::Family | Source::Unknown if known.tools => {}
            // A proxy that counts for itself would say the same with tools and without.
            _ => return !known.tools,
        }
        let Some(without) = self.tokens(relay, &self.without).await else { return false };
        let with = match &self.with {
            Ok(with) => Some(*with),
            Err(requests) => self.tokens(relay, requests).await,
        };
        let Some(with) = with else { return false };
        let evidence = match with <= without {
            true => Evidence::Dropped,
            // Half of what the tools must take at the least.
            false if self.tools.least(CHARS_PER_TOKEN.1) / 2.0 <= (with - without) as f64 => {
                Evidence::Present
            }
            false => return false,
        };
        let words = format!("{with} tokens with them, {without} without");
        relay.capabilities.learn(&self.candidate, evidence, &words).await;
        evidence == Evidence::Dropped
    }

    /// Returns the prompt's tokens of the first of `requests` that is taken.
    async fn tokens(&self, relay: &Relay, requests: &[Bytes; 2]) -> Option<u64> {
        let model = &self.candidate.model;
        tracing::info!(model, "[relay] the prompt is counted, to see whether tools get into it");
        for request in requests {
            let headers = http::HeaderMap::new();
            let limits = &relay.config.limits;
            let answer = bridge::ask(&self.candidate, request.clone(), &headers, limits).await.ok()?;
            if answer.status.is_client_error() {
                continue;
            }
            let document = Document::parse(answer.body.whole(LONGEST_COUNT).await.ok()?).ok()?;
            return prompt_tokens(document.root()).map(|tokens| tokens.prompt);
        }
        None
    }
}

/// The sizes of a prompt's parts.
struct Texts {
    /// Everything but the tools, as it stands in the request: no rendering of it is longer.
    messages: Size,
    /// The words in the messages: no rendering leaves them out.
    said: Size,
    /// The names and descriptions in the definitions: templates write the rest in notations of their own.
    tools: Size,
}

impl Texts {
    /// Measures a request; none if tokens cannot tell. A picture or a sound has its own, and later turns hold the earlier ones.
    fn of(document: &Document, is_legacy: bool) -> Option<Texts> {
        let root = document.root();
        let mut texts = Texts { messages: Size::default(), said: Size::default(), tools: Size::default() };
        for message in root.get("messages")?.elements() {
            if !matches!(&*string_of(message, "role")?, "system" | "developer" | "user") {
                return None;
            }
            texts.messages.add(message.raw());
            let content = message.get("content")?;
            match content.kind() {
                Kind::Array => {
                    for part in content.elements() {
                        texts.said.add(&string_of(part, "text")?);
                    }
                }
                _ => texts.said.add(&content.as_str()?),
            }
        }
        texts.tools.add_definitions(root.get(if is_legacy { "functions" } else { "tools" })?);
        Some(texts)
    }

    /// Returns the evidence of this number of tokens about the tools. A model's own rate only makes the bounds more careful, or
    /// shows that the tools are in it: tokens of unseen thoughts make it look lower than it is.
    fn judge(&self, tokens: u64, own_rate: Option<f64>) -> Option<Evidence> {
        if tokens == 0 {
            return None;
        }
        let (low, high) = CHARS_PER_TOKEN;
        let low = own_rate.map_or(low, |rate| low.max(rate * (1.0 - OWN_RATE_SPREAD)));
        let high = own_rate.map_or(high, |rate| high.max(rate * (1.0 + OWN_RATE_SPREAD)));
        let without = self.messages.most(low) + TEMPLATE_TOKENS;
        let with = self.said.least(high) + self.tools.least(high);
        match without < tokens as f64 {
            true => Some(Evidence::Present),
            // Where a prompt with the tools could be as short, it shows nothing.
            false => (without < with).then_some(Evidence::Dropped),
        }
    }
}

/// The length of a text, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    ascii: usize,
    others: usize,
    /// The bytes of all other characters.
    other_bytes: usize,
}

impl Size {
    fn add(&mut self, text: &str) {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        self.ascii += ascii;
        self.others += text.chars().count() - ascii;
        self.other_bytes += text.len() - ascii;
    }

    /// Adds the names and descriptions in definitions.
    fn add_definitions(&mut self, value: Value<'_>) {
        value.elements().for_each(|element| self.add_definitions(element));
        for (key, member) in value.members() {
            match (key.as_str().as_deref(), member.as_str()) {
                (Some("name" | "description"), Some(text)) => self.add(&text),
                (Some("properties"), _) => {
                    for (name, property) in member.members() {
                        self.add(&name.as_str().unwrap_or_default());
                        self.add_definitions(property);
                    }
                }
                _ => self.add_definitions(member),
            }
        }
    }

    /// Returns the fewest tokens that it takes.
    fn least(self, chars_per_token: f64) -> f64 {
        (self.ascii + self.others) as f64 / chars_per_token
    }

    /// Returns the most tokens that it takes: one for each byte outside ASCII.
    fn most(self, chars_per_token: f64) -> f64 {
        self.ascii as f64 / chars_per_token + self.other_bytes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(messages: &str, tools: &str) -> Texts {
        let request = format!(r#"{{"messages": {messages}, "tools": {tools}}}"#);
        Texts::of(&Document::of(request).unwrap(), false).unwrap()
    }

    #[test]
    fn tokens_tell_where_the_tools_are_large_beside_the_rest() {
        let message = format!(r#"[{{"role":"user","content":"{}"}}]"#, "word ".repeat(400));
        let tools = format!(r#"[{{"name":"f","description":"{}"}}]"#, "text ".repeat(1200));
        let texts = texts(&message, &tools);
        // 2,000 characters of words, 6,000 of tools.
        for (tokens, own_rate, shown) in [
            (0, None, None),
            (450, None, Some(Evidence::Dropped)),
            (1_000, None, Some(Evidence::Dropped)),
            (1_100, None, Some(Evidence::Present)),
            // The closer bound.
            (1_000, Some(4.4), Some(Evidence::Present)),
            // A rate below what tokenizers have comes of thoughts that nobody sees.
            (1_000, Some(0.4), Some(Evidence::Dropped)),
            (1_100, Some(0.4), Some(Evidence::Present)),
        ] {
            assert_eq!(texts.judge(tokens, own_rate), shown, "{tokens} {own_rate:?}");
        }
    }

    #[test]
    fn what_may_be_a_template_or_another_script_tells_nothing() {
        let tools = r#"[{"name":"get_weather","description":"The weather of a city."}]"#;
        // Half as much of tools as of words: with them or without, it may have as many tokens.
        let message = format!(r#"[{{"role":"user","content":"{}"}}]"#, "word ".repeat(4000));
        let long = format!(r#"[{{"name":"f","description":"{}"}}]"#, "text ".repeat(2000));
        assert_eq!(texts(&message, &long).judge(5_000, None), None);
        let short = texts(r#"[{"role":"user","content":"Weather in Paris?"}]"#, tools);
        assert_eq!(short.judge(30, None), None);
        // A token for each character, and more: Chinese.
        let chinese = texts(&format!(r#"[{{"role":"user","content":"{}"}}]"#, "天".repeat(900)), tools);
        assert_eq!(chinese.judge(1_300, None), None);
    }

    #[test]
    fn pictures_and_later_turns_are_not_judged() {
        for messages in [
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}]"#,
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]"#,
            r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"c"}]"#,
        ] {
            let request = format!(r#"{{"messages": {messages}, "tools": [{{"name": "f"}}]}}"#);
            assert!(Texts::of(&Document::of(request).unwrap(), false).is_none(), "{messages}");
        }
    }
}

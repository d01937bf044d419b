//! Keeps a long conversation within a bound: it cuts old results first, then leaves out whole old turns.
//!
//! The first words of the system and the user stay, and so do the last turns. A call and its result are left out
//! together. Parts that are left out stay so: a server that caches what it read finds the same beginning again, until
//! the bound is reached anew.

use callwright::json;
use callwright::lint::tokens;
use callwright::value::Value;
use serde::{Deserialize, Serialize};

/// The number of last turns that stay whole.
const LAST_TURNS: usize = 2;
/// The bytes that stay of an old result.
const RESULT: usize = 160;
/// The tokens of a message besides its texts.
const FRAME: usize = 4;
/// The tokens of the note about messages that were left out.
const NOTE: usize = 32;

/// The parts of a conversation that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Results before this message are cut.
    results_before: usize,
    /// Messages between the beginning and this one are left out.
    dropped_before: usize,
}

impl Compaction {
    /// Returns the conversation without the parts that are left out.
    pub fn view(&self, messages: &[Value]) -> Vec<Value> {
        let head = head(messages);
        let from = self.dropped_before.max(head);
        let mut view: Vec<Value> = messages.iter().take(head).cloned().collect();
        if head < from {
            let note = format!("[{} earlier messages were left out to save room.]", from - head);
            view.push(json!({"role": "user", "content": note}));
        }
        let rest = messages.iter().enumerate().skip(from);
        view.extend(
            rest.map(|(at, message)| if at < self.results_before { cut(message) } else { message.clone() }),
        );
        view
    }

    /// Leaves out more where `messages` take more than `bound` tokens, so that some turns have room again. Returns
    /// whether it did.
    pub fn fit(&mut self, messages: &[Value], bound: usize) -> bool {
        let costs = Costs::of(messages);
        if costs.of_view(self) <= bound {
            return false;
        }
        let before = *self;
        let target = bound / 4 * 3;
        let starts = starts(messages);
        // Cuts are possible at the beginnings of these turns.
        let may: Vec<usize> = match starts.len().checked_sub(LAST_TURNS) {
            Some(last) => starts.iter().copied().skip(1).take(last).collect(),
            None => Vec::new(),
        };
        let fits = |compaction: &Compaction| costs.of_view(compaction) <= target;
        for &at in may.iter().filter(|at| before.results_before < **at) {
            self.results_before = at;
            if fits(self) {
                return true;
            }
        }
        for &at in may.iter().filter(|at| before.dropped_before < **at) {
            self.dropped_before = at;
            if fits(self) {
                return true;
            }
        }
        // Only the last turns are left: just the very last one keeps its results whole.
        if let Some(&last) = starts.last() {
            self.results_before = self.results_before.max(last);
        }
        *self != before
    }
}

/// Returns the number of messages of the beginning: all up to the user's first one.
fn head(messages: &[Value]) -> usize {
    messages.iter().position(|message| message["role"] == "user").map_or(messages.len(), |at| at + 1)
}

/// Returns the starts of the turns behind the beginning. Results belong to the turn that called.
fn starts(messages: &[Value]) -> Vec<usize> {
    let is_start = |at: &usize| messages.get(*at).is_some_and(|message| message["role"] == "assistant");
    (head(messages)..messages.len()).filter(is_start).collect()
}

/// The estimated tokens of a conversation's messages, summed from the beginning.
struct Costs {
    head: usize,
    /// The sums up to each message, with whole results.
    whole: Vec<usize>,
    /// The sums up to each message, with long results cut.
    cut: Vec<usize>,
}

impl Costs {
    fn of(messages: &[Value]) -> Costs {
        let add = |cost: &dyn Fn(&Value) -> usize| {
            let mut sum = 0;
            let sums = messages.iter().map(|message| {
                sum += cost(message);
                sum
            });
            std::iter::once(0).chain(sums).collect()
        };
        let cost = |message: &Value| FRAME + tokens(&message.to_string());
        Costs { head: head(messages), whole: add(&cost), cut: add(&|message| cost(&cut(message))) }
    }

    /// Returns the tokens of the conversation without the parts that are left out.
    fn of_view(&self, compaction: &Compaction) -> usize {
        let at = |sums: &[usize], n: usize| sums.get(n).or(sums.last()).copied().unwrap_or_default();
        let from = compaction.dropped_before.max(self.head);
        let cut_to = compaction.results_before.max(from);
        let note = if self.head < from { NOTE } else { 0 };
        let last = self.whole.len().saturating_sub(1);
        at(&self.whole, self.head) + note + at(&self.cut, cut_to) - at(&self.cut, from)
            + at(&self.whole, last)
            - at(&self.whole, cut_to)
    }
}

/// Returns the message; a long result keeps only its beginning.
fn cut(message: &Value) -> Value {
    let Some(text) =
        message["content"].as_str().filter(|text| message["role"] == "tool" && RESULT * 2 < text.len())
    else {
        return message.clone();
    };
    let kept = text.floor_char_boundary(RESULT);
    let note =
        format!("{}… [{} more bytes of this older result were left out]", &text[..kept], text.len() - kept);
    let mut message = message.clone();
    message["content"] = note.into();
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::transcript::flaws;

    fn cost(messages: &[Value]) -> usize {
        messages.iter().map(|message| FRAME + tokens(&message.to_string())).sum()
    }

    /// Returns a task, and `turns` turns with a call and a result of `bytes` each.
    fn conversation(turns: usize, bytes: usize) -> Vec<Value> {
        let mut messages = vec![
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": "Begin."}),
        ];
        for turn in 0..turns {
            let call = json!({"id": format!("c{turn}"), "type": "function", "function": {"name": "f", "arguments": "{}"}});
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
            let text = "word ".repeat(bytes / 5);
            messages.push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": text}));
        }
        messages
    }

    #[test]
    fn what_fits_stays_to_the_byte() {
        let messages = conversation(5, 1000);
        let mut compaction = Compaction::default();
        assert!(!compaction.fit(&messages, 100_000));
        assert_eq!(compaction.view(&messages), messages);
    }

    #[test]
    fn calls_keep_their_results_and_the_beginning_and_the_end_stay() {
        for (turns, bytes, bound) in [(20, 4000, 5000), (200, 400, 2000), (3, 100_000, 1000), (40, 2000, 60)]
        {
            let messages = conversation(turns, bytes);
            let mut compaction = Compaction::default();
            assert!(compaction.fit(&messages, bound));
            let view = compaction.view(&messages);
            assert_eq!(flaws(&view), [], "{turns} {bytes} {bound}");
            assert_eq!(view[..2], messages[..2]);
            assert_eq!(view.last(), messages.last());
            assert!(cost(&view) < cost(&messages));
        }
        let messages = conversation(200, 400);
        let mut compaction = Compaction::default();
        compaction.fit(&messages, 2000);
        assert!(cost(&compaction.view(&messages)) <= 2000);
    }

    /// The same beginning is sent as long as there is room.
    #[test]
    fn what_is_left_out_stays_so_until_the_bound_is_reached_again() {
        let mut compaction = Compaction::default();
        let (mut changes, mut views) = (0, 0);
        for turns in 1..100 {
            let messages = conversation(turns, 400);
            changes += usize::from(compaction.fit(&messages, 4000));
            views += 1;
            assert!(cost(&compaction.view(&messages)) <= 4000);
        }
        assert!(changes * 4 < views, "{changes} of {views}");
    }
}

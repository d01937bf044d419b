//! Puts the upstream's native calls together from their pieces. The certain part of a call may go out at once
//! ([`Live`]).

use std::collections::HashMap;

use callwright_json::strict;

use super::event::{CallDelta, Event};
use super::live::{Inside, Live};
use crate::tools::names::Names;

/// The native calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    drafts: Vec<Draft>,
    /// The last call of each index, and of each id, so that no piece searches all calls of a stream for its own.
    by_index: HashMap<Option<usize>, usize>,
    by_id: HashMap<String, OfId>,
    /// The call that the last piece belongs to.
    last: Option<usize>,
    /// The certain part of each call goes out before its verdict.
    is_live: bool,
}

/// The calls of one id.
#[derive(Debug)]
struct OfId {
    last: usize,
    by_index: HashMap<Option<usize>, usize>,
}

impl Drafts {
    /// Returns the state for an answer without calls so far. With `is_live`, the certain part of each call goes out as
    /// it grows.
    pub(super) fn new(is_live: bool) -> Drafts {
        Drafts { is_live, ..Drafts::default() }
    }

    /// Returns the number of the call that the last piece belongs to, counted from 0.
    pub(super) fn last(&self) -> Option<usize> {
        self.last
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Adds a piece to the call that it belongs to.
    ///
    /// Upstreams send the index of every call as 0, or no index; repeat id and name with each piece; or send
    /// no id at all. A new id, or a second name behind complete arguments, begins a new call.
    pub(super) fn feed(&mut self, delta: CallDelta<'_>, names: &Names<'_>, out: &mut Vec<Event>) {
        // Some servers write a missing id as a text.
        let id = delta.id.filter(|id| !matches!(*id, "" | "null"));
        let name = delta.name.filter(|name| !name.is_empty());
        let slot = match self.slot(delta.index, id, name) {
            Some(slot) => slot,
            None => {
                let live = self.is_live.then(Live::default);
                self.drafts.push(Draft { index: delta.index, live, ..Draft::default() });
                let slot = self.drafts.len() - 1;
                self.by_index.insert(delta.index, slot);
                slot
            }
        };
        self.last = Some(slot);
        let Some(draft) = self.drafts.get_mut(slot) else { return };
        if let (None, Some(id)) = (&draft.id, id) {
            draft.id = Some(id.to_owned());
            let of_id = self.by_id.entry(id.to_owned());
            let of_id = of_id.or_insert_with(|| OfId { last: slot, by_index: HashMap::new() });
            of_id.last = of_id.last.max(slot);
            let of_index = of_id.by_index.entry(draft.index).or_insert(slot);
            *of_index = slot.max(*of_index);
        }
        if let Some(name) = name
            && draft.name != name
        {
            draft.torn |= !draft.name.is_empty() && !draft.arguments.is_empty();
            draft.name.push_str(name);
        }
        draft.arguments.push_str(delta.arguments.unwrap_or(""));
        draft.go_out(slot, names, out);
    }

    /// Lets out the certain part of the call of this number, and each further part as it becomes certain.
    pub(super) fn stream(&mut self, slot: usize, names: &Names<'_>, out: &mut Vec<Event>) {
        if let Some(draft) = self.drafts.get_mut(slot) {
            draft.live.get_or_insert_default();
            draft.go_out(slot, names, out);
        }
    }

    fn slot(&mut self, index: Option<usize>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        // If two calls with numbers of their own have one id, the numbers count.
        let same = id.and_then(|id| self.by_id.get(id)).and_then(|of_id| match index {
            None => Some(of_id.last),
            Some(_) => [index, None].iter().filter_map(|index| of_id.by_index.get(index)).max().copied(),
        });
        if same.is_some() {
            return same;
        }
        let slot = match index {
            Some(_) => *self.by_index.get(&index)?,
            None => self.drafts.len().checked_sub(1)?,
        };
        let draft = self.drafts.get_mut(slot)?;
        let other_id = id.is_some() && draft.id.is_some();
        // Arguments that came before their name still wait for it.
        let has_name = !draft.name.is_empty();
        let other_call =
            name.is_some() && has_name && id.is_none() && draft.completion.is_reached(&draft.arguments);
        (!other_id && !other_call).then_some(slot)
    }

    /// Returns the calls in their order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Draft> {
        self.drafts.iter()
    }
}

/// A native call, as far as its pieces have come.
#[derive(Debug, Default)]
pub(super) struct Draft {
    index: Option<usize>,
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// A second name came after the arguments had begun, so that nobody knows their tool.
    pub(super) torn: bool,
    pub(super) arguments: String,
    completion: Completion,
    /// The state of the part that goes out before the verdict; `None` while no part may.
    live: Option<Live>,
}

impl Draft {
    /// Lets the certain part out, if it may go out and the name is a declared one.
    fn go_out(&mut self, call: usize, names: &Names<'_>, out: &mut Vec<Event>) {
        let Some(live) = self.live.as_mut().filter(|_| !self.torn) else { return };
        let Some(tool) = names.tools().get(&self.name) else { return };
        let is_first = live.sent(&self.arguments).is_empty();
        let Some(piece) = live.advance(tool, &self.arguments) else { return };
        if is_first {
            out.push(Event::CallStarted { call, id: self.id.clone(), name: self.name.clone() });
        }
        out.push(Event::CallArguments { call, piece: piece.to_owned() });
    }

    /// Returns the part of the arguments that went out before the verdict.
    pub(super) fn sent(&self) -> &str {
        self.live.as_ref().map_or("", |live| live.sent(&self.arguments))
    }
}

/// Tells, now and then, whether a growing text is a whole strict JSON value, without reading it again each time.
#[derive(Debug, Default)]
struct Completion {
    /// The place up to which the text was read.
    at: usize,
    inside: Inside,
    /// The text is not strict JSON, whatever may follow.
    never: bool,
}

/// The longest value without brackets and quotes: `null`, a number.
const MAX_WORD: usize = 32;

impl Completion {
    fn is_reached(&mut self, text: &str) -> bool {
        let is_enclosed = text.trim_start().starts_with(['{', '[', '"']);
        if !is_enclosed {
            return text.len() <= MAX_WORD && strict(text).is_ok();
        }
        while let Some(&byte) = text.as_bytes().get(self.at) {
            self.at += self.inside.step(byte).unwrap_or(1);
        }
        if self.never || !self.inside.is_outermost() {
            return false;
        }
        // More text does not make an ended value strict.
        self.never = strict(text).is_err();
        !self.never
    }
}

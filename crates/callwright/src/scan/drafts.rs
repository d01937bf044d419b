//! Puts the upstream's native calls together from their pieces. The certain part of a call may go out at once
//! ([`Live`]).

use std::collections::HashMap;

use callwright_json::Growing;

use super::brackets::BracketMatcher;
use super::event::{CallDelta, Event, PartialCall};
use super::live::Live;
use crate::tools::names::Names;

/// The native calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    drafts: Vec<Draft>,
    /// The last call of each index, and of each id with its index, so that no piece searches all calls of a stream for
    /// its own.
    places: HashMap<(Option<String>, Option<usize>), usize>,
    /// The call that the last piece belongs to.
    last: Option<usize>,
    /// The certain part of each call goes out before its verdict.
    is_live: bool,
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
                self.drafts.push(Draft { live, ..Draft::default() });
                let slot = self.drafts.len() - 1;
                self.places.insert((None, delta.index), slot);
                slot
            }
        };
        self.last = Some(slot);
        let Some(draft) = self.drafts.get_mut(slot) else { return };
        if let (None, Some(id)) = (&draft.id, id) {
            draft.id = Some(id.to_owned());
            self.places.insert((draft.id.clone(), delta.index), slot);
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
        let of_id = |index| self.places.get(&(Some(id?.to_owned()), index));
        if let Some(slot) = of_id(index).or_else(|| of_id(None)) {
            return Some(*slot);
        }
        let slot = match index {
            Some(_) => *self.places.get(&(None, index))?,
            None => self.drafts.len().checked_sub(1)?,
        };
        let draft = self.drafts.get_mut(slot)?;
        let other_id = id.is_some() && draft.id.is_some() && draft.id.as_deref() != id;
        // Arguments that came before their name still wait for it.
        let has_name = !draft.name.is_empty();
        let other_call = name.is_some() && has_name && id.is_none() && draft.is_whole();
        (!other_id && !other_call).then_some(slot)
    }

    /// Returns what is certain of the last call, if its tool is.
    pub(super) fn partial(&mut self, names: &Names<'_>) -> Option<PartialCall> {
        let draft = self.drafts.get_mut(self.last?).filter(|draft| !draft.torn)?;
        let tool = names.tools().get(&draft.name)?;
        draft.growing.advance(&draft.arguments, tool.schema().guide());
        Some(PartialCall::new(draft.id.clone(), tool, draft.growing.partial()))
    }

    /// Returns the calls in their order.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Draft> {
        self.drafts.iter()
    }
}

/// A native call, as far as its pieces have come.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// A second name came after the arguments had begun, so that nobody knows their tool.
    pub(super) torn: bool,
    pub(super) arguments: String,
    /// The arguments as they are read for a caller who asks before the verdict.
    growing: Growing,
    /// The search for the end of the arguments.
    brackets: Option<BracketMatcher>,
    /// The state of the part that goes out before the verdict; `None` while no part may.
    live: Option<Live>,
}

impl Draft {
    /// Returns whether the arguments so far are a whole value in brackets.
    fn is_whole(&mut self) -> bool {
        let bytes = self.arguments.as_bytes();
        let begin = bytes.len() - bytes.trim_ascii_start().len();
        if !matches!(bytes.get(begin), Some(b'{' | b'[')) {
            return false;
        }
        let brackets = self.brackets.get_or_insert_with(|| BracketMatcher::new(begin));
        brackets.advance(bytes, false).is_ok()
    }

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

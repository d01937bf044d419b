//! What of a call whose arguments stand in tags may go out before its verdict.
//!
//! In goes the [`Walk`] over the call as it grows, out comes the JSON of its arguments, as far as only one reading is
//! left for it: what was closed is right, every required argument is there, and a text is open that is a string whatever
//! it says. Of that goes out what is decided: no blanks at its end, which may be the markup's, and nothing from the first
//! tag on that leaves open where it ends. Nothing that follows the text goes out before the verdict.

use callwright_json::{Guide, Kinds, Member, Place, quote, strict};

use super::spelling::inside;
use crate::dialect::Trim;
use crate::payload::tagged::{Param, Walk};
use crate::payload::value;
use crate::syntax::Typing;
use crate::tools::Tool;

/// How far the arguments of one call are certain.
#[derive(Debug, Default)]
pub(super) struct LiveTags {
    /// How many of the closed arguments were looked at.
    n_params: usize,
    /// The declared members that were begun, one bit each.
    seen: u128,
    /// What goes out of the arguments before the last of them.
    head: String,
    /// The text that goes out.
    open: Option<Open>,
    /// All that went out.
    sent: String,
    is_sure: bool,
    is_over: bool,
}

/// A text that goes out while it grows.
#[derive(Debug)]
struct Open {
    /// Where the value begins, the markup's blanks included.
    from: usize,
    /// Up to here it was looked at.
    looked: usize,
    /// Everything before this place went out; `None` before anything did.
    sent: Option<usize>,
}

impl LiveTags {
    /// Is there more than a name and a key that say that this is a call?
    pub(super) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// All that went out.
    pub(super) fn sent(&self) -> &str {
        &self.sent
    }

    /// Looks at what `walk`, over the arguments for `tool` in `text`, has come to; returns what may go out now, if
    /// anything may.
    pub(super) fn advance(&mut self, tool: &Tool, walk: &Walk, trim: Trim, text: &str) -> Option<String> {
        let begun = self.sent.len();
        while !self.is_over {
            let (param, is_open) = match walk.params.get(self.n_params) {
                Some(param) => (*param, false),
                None => match walk.open_param() {
                    Some(param) => (param, true),
                    None => break,
                },
            };
            self.is_over = !self.param(tool, &param, is_open, trim, text);
            if is_open {
                break;
            }
            self.n_params += 1;
        }
        self.sent.get(begun..).filter(|piece| !piece.is_empty()).map(str::to_owned)
    }

    /// `false` if nothing behind this argument goes out.
    fn param(&mut self, tool: &Tool, param: &Param, is_open: bool, trim: Trim, text: &str) -> bool {
        let guide = tool.schema().guide();
        let key = param.key.of(text);
        let Member::Declared(slot, place) = guide.member(guide.root(), key) else { return false };
        // How far its lines are indented shows when all of it is there.
        let indent = value::indent_at(text, param.key.start as usize);
        let is_new = self.seen & 1 << slot == 0;
        if !tool.schema().judges_members_alone() || self.open.is_none() && !is_new {
            return false;
        }
        let is_last_demand = guide.required(guide.root()) & !(self.seen | 1 << slot) == 0;
        if is_last_demand && is_text(tool, place, param.typing) {
            self.seen |= 1 << slot;
            let from = param.value.start as usize;
            let mut open = self.open.take().unwrap_or(Open { from, looked: from, sent: None });
            self.grow(&mut open, key, param.certain, (trim, indent.is_some()), text);
            self.open = Some(open);
            return is_open;
        }
        if is_open {
            return true;
        }
        self.seen |= 1 << slot;
        let json = value::json_of(
            &value::content(param.value.of(text), trim, indent),
            param.typing,
            guide,
            Some(place),
            None,
        );
        let is_right = strict(&json).is_ok_and(|tree| tool.schema().fits_at(place, tree.root(&json)));
        self.is_sure |= is_right;
        self.begin(key);
        self.head.push_str(&json);
        is_right
    }

    /// What stands in front of the value of `key`.
    fn begin(&mut self, key: &str) {
        self.head.extend([if self.head.is_empty() { "{" } else { ", " }, &quote(key), ": "]);
    }

    /// Lets out what is certain up to `certain`.
    fn grow(
        &mut self,
        open: &mut Open,
        key: &str,
        certain: usize,
        (trim, is_indented): (Trim, bool),
        text: &str,
    ) {
        let fresh = text.get(open.looked..certain).unwrap_or("");
        open.looked = open.looked.max(certain);
        let solid = fresh.trim_end();
        if solid.is_empty() {
            return;
        }
        let end = certain - (fresh.len() - solid.len());
        let from = match open.sent {
            Some(sent) => sent,
            None => {
                let begun = text.get(open.from..end).unwrap_or("");
                let Some(blanks) = value::start_of(begun, trim, is_indented) else { return };
                self.begin(key);
                self.sent = std::mem::take(&mut self.head) + "\"";
                open.from + blanks
            }
        };
        self.sent.push_str(inside(&quote(text.get(from..end).unwrap_or(""))));
        self.is_sure = true;
        open.sent = Some(end);
    }
}

/// Is what stands at `place` a string whatever it says?
fn is_text(tool: &Tool, place: Place, typing: Typing) -> bool {
    let others = [Kinds::NULL, Kinds::BOOL, Kinds::INTEGER, Kinds::FRACTION, Kinds::ARRAY, Kinds::OBJECT];
    let is_string = || !others.iter().any(|other| tool.schema().guide().kinds(place).meets(*other));
    let is_typed = match typing {
        Typing::Text => true,
        Typing::Schema => is_string(),
        Typing::Json => false,
    };
    is_typed && tool.schema().takes_any_string(place)
}

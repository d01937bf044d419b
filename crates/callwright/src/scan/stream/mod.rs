//! What of a call in the text goes out before its verdict: the name as soon as it is certain, then of the arguments
//! what [`live`] and [`tags`] let out.
//!
//! Only behind a marker that nothing but calls has, and only of payloads that are strict JSON so far, of arguments in
//! tags, of call expressions and of relaxed objects. What the verdict makes of the call is held to what went out: if it
//! is not that call with these arguments, it is refused.

pub(super) mod live;
pub(super) mod spelling;
mod tags;

use std::sync::Arc;

use callwright_json::Span;

use self::live::Live;
use self::spelling::Spelling;
use self::tags::LiveTags;
use super::judge::body::Body;
use super::judge::{Case, Judged};
use super::opener::{Delimiter, Item, Opener};
use super::{Event, LiveCall, Scanner};
use crate::dialect::Anchor;
use crate::payload::tagged::Walk;
use crate::policy::Policy;
use crate::verdict::{Reason, Verdict};

/// A call in the text whose verdict is not there yet.
#[derive(Debug)]
pub(super) struct Early {
    payload: Payload,
    /// The declared name of the tool, once a name is there.
    tool: Option<Box<str>>,
    is_started: bool,
}

#[derive(Debug)]
enum Payload {
    Members(Live),
    Tags(Span, LiveTags),
}

impl Early {
    /// For the payload of `opener`; `None` where nothing of it may go out.
    fn of(opener: &Opener) -> Option<Early> {
        // Its name is told by what is declared, which the verdict says.
        if opener.server.is_some() {
            return None;
        }
        let payload = match opener.item {
            Item::Value { at } => Payload::Members(Live::new(Spelling::Json, None, at)),
            Item::Named { name, at } => Payload::Members(Live::new(Spelling::Json, Some(name), at)),
            Item::Tagged { name, .. } => Payload::Tags(name, LiveTags::default()),
            // The quotes in a call that is a string are escaped, as long as nobody forgot to.
            Item::Call { .. } if matches!(opener.delimiters.last(), Some(Delimiter::Quote(_))) => {
                return None;
            }
            Item::Call { name, at } => Payload::Members(Live::new(Spelling::Call, Some(name), at)),
            Item::Relaxed { name, at } => {
                let mark = Arc::clone(&opener.record.string_mark);
                Payload::Members(Live::new(Spelling::Marks(mark), Some(name), at))
            }
            Item::Listed { .. } | Item::Plain { .. } | Item::Words { .. } | Item::Block { .. } => {
                return None;
            }
        };
        let early = Early { payload, tool: None, is_started: false };
        (opener.record.anchor == Anchor::Distinct).then_some(early)
    }
}

impl Payload {
    /// The name, as it is written, once it is there.
    fn name(&mut self, text: &str) -> Option<Span> {
        match self {
            Payload::Members(live) => live.name(text),
            Payload::Tags(name, _) => Some(*name),
        }
    }

    fn is_sure(&self) -> bool {
        match self {
            Payload::Members(live) => live.is_sure(),
            Payload::Tags(_, live) => live.is_sure(),
        }
    }

    /// All that went out, of a payload in `text`.
    fn sent<'p>(&'p self, text: &'p str) -> &'p str {
        match self {
            Payload::Members(live) => live.sent(text),
            Payload::Tags(_, live) => live.sent(),
        }
    }
}

impl<'a> Scanner<'a> {
    /// Begins to let the payload of `opener` out, where that may be done.
    pub(super) fn early(&self, opener: &Opener) -> Option<Early> {
        if self.rules.is_live && self.is_sure(opener) { Early::of(opener) } else { None }
    }

    /// Did a part of the call that is being read go out?
    pub(super) fn is_sent(&self) -> bool {
        self.early.as_ref().is_some_and(|early| early.is_started)
    }

    /// Lets out what became certain of the payload of `opener`, which reaches up to `seen` at most.
    pub(super) fn go_out(&mut self, opener: &Opener, seen: usize, out: &mut Vec<Event>) {
        self.let_out(opener, seen, None, out);
    }

    /// Lets out what became certain of a payload in tags or of a relaxed object, as far as `body` has come.
    pub(super) fn body_goes_out(&mut self, opener: &Opener, body: &Body, seen: usize, out: &mut Vec<Event>) {
        match body {
            Body::Tags(walk) => self.let_out(opener, seen, Some(walk), out),
            Body::Relaxed(_) => self.let_out(opener, seen, None, out),
            Body::Plain(_) | Body::Words(_) | Body::Block(_) => {}
        }
    }

    fn let_out(&mut self, opener: &Opener, seen: usize, walk: Option<&Walk>, out: &mut Vec<Event>) {
        let Some(mut early) = self.early.take() else { return };
        let text = std::mem::take(&mut self.text);
        if self.may_go_out(opener, &mut early, text.get(..seen).unwrap_or(""), walk, out) {
            self.early = Some(early);
        }
        self.text = text;
    }

    /// `false` if nothing more will go out, and nothing has.
    fn may_go_out(
        &self,
        opener: &Opener,
        early: &mut Early,
        text: &str,
        walk: Option<&Walk>,
        out: &mut Vec<Event>,
    ) -> bool {
        let known = early.tool.as_ref().and_then(|name| self.names.tools().get(name));
        let tool = match known {
            Some(tool) => tool,
            None => {
                let Some(name) = early.payload.name(text) else { return true };
                let written = name.of(text);
                let Some(tool) = self.names.resolve(written) else { return false };
                let is_renamed = tool.name() != written;
                // What was called before may be said again; then it is no call.
                let spot = self.spot(opener.record.name.clone());
                if self.made.may_have(tool.name(), &spot)
                    || is_renamed && matches!(self.rules.admission.policy, Policy::Feedback | Policy::Strict)
                {
                    return false;
                }
                early.tool = Some(tool.name().into());
                tool
            }
        };
        let call = LiveCall::Text(self.outcome.verdicts.len() + self.markup.pending.len());
        let piece = match (&mut early.payload, walk) {
            (Payload::Members(live), _) => live.advance(tool, text),
            (Payload::Tags(_, live), Some(walk)) => live.advance(tool, walk, opener.record.trim, text),
            (Payload::Tags(..), None) => None,
        };
        if !early.is_started && early.payload.is_sure() {
            early.is_started = true;
            out.push(Event::CallStarted { call, id: None, name: tool.name().to_owned() });
        }
        if let Some(piece) = piece {
            out.push(Event::CallArguments { call, piece });
        }
        true
    }

    /// Holds what was judged to what went out of it.
    pub(super) fn as_sent(&mut self, opener: &Opener, judged: Judged) -> Judged {
        let Some(Early { payload, tool: Some(tool), is_started: true }) = self.early.take() else {
            return judged;
        };
        let sent = payload.sent(&self.text);
        let (is_as_sent, end) = match &judged {
            Judged::Calls(verdicts, end) => match verdicts.as_slice() {
                [Verdict::Accepted(call)] => {
                    (call.name == *tool && call.arguments.starts_with(sent), Some(*end))
                }
                [Verdict::Refused(_)] => (true, Some(*end)),
                _ => (false, Some(*end)),
            },
            Judged::Text(end) => (false, *end),
            Judged::Unclear => (false, None),
        };
        if is_as_sent {
            return judged;
        }
        let end = end.unwrap_or(self.text.len()).min(self.text.len());
        let case: Case<'_, '_> = self.case(opener, self.text.len());
        let reason = Reason::Unreadable(Vec::new());
        case.refused(Some(&tool), reason, Span::new(opener.item.at(), end))
    }
}

//! What of a call in the text goes out before its verdict: the name as soon as it is certain, then of the arguments
//! what [`json`], [`tags`] and [`expression`] let out.
//!
//! Only behind a marker that nothing but calls has, and only of payloads that are strict JSON so far, of arguments in
//! tags, of call expressions and of relaxed objects. What the verdict makes of the call is held to what went out: if it is not that call with these arguments, it is
//! refused.

mod expression;
pub(super) mod json;
mod tags;

use std::sync::Arc;

use callwright_json::Span;

use self::expression::LiveSpelt;
use self::json::{Inside, Live};
use self::tags::LiveTags;
use super::judge::body::Body;
use super::judge::{Case, Judged};
use super::opener::{Delimiter, Item, Opener};
use super::{Event, LiveCall, Scanner};
use crate::dialect::Anchor;
use crate::payload::tagged::Walk;
use crate::policy::Policy;
use crate::shape::keys;
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
    /// A value, perhaps with the name in it.
    Json(Envelope, Live),
    Tags(Span, LiveTags),
    /// A call expression or a relaxed object.
    Spelt(Span, LiveSpelt),
}

impl Early {
    /// For the payload of `opener`; `None` where nothing of it may go out.
    fn of(opener: &Opener) -> Option<Early> {
        // Its name is told by what is declared, which the verdict says.
        if opener.server.is_some() {
            return None;
        }
        let payload = match opener.item {
            Item::Value { at } => Payload::Json(Envelope::at(at), Live::default()),
            Item::Named { name, at } => {
                Payload::Json(Envelope { step: Step::Found(name, at), ..Envelope::at(at) }, Live::default())
            }
            Item::Tagged { name, .. } => Payload::Tags(name, LiveTags::default()),
            // The quotes in a call that is a string are escaped, as long as nobody forgot to.
            Item::Call { .. } if matches!(opener.delimiters.last(), Some(Delimiter::Quote(_))) => {
                return None;
            }
            Item::Call { name, at } => Payload::Spelt(name, LiveSpelt::call(at)),
            Item::Relaxed { name, at } => {
                Payload::Spelt(name, LiveSpelt::marks(at, Arc::clone(&opener.record.string_mark)))
            }
            Item::Listed { .. }
            | Item::Plain { .. }
            | Item::Lines { .. }
            | Item::Words { .. }
            | Item::Block { .. } => return None,
        };
        let early = Early { payload, tool: None, is_started: false };
        (opener.record.anchor == Anchor::Distinct).then_some(early)
    }
}

impl Payload {
    /// The name, as it is written; `Err(true)` while it may still come, `Err(false)` where it will not.
    fn name(&mut self, text: &str) -> Result<Span, bool> {
        match self {
            Payload::Tags(name, _) | Payload::Spelt(name, _) => Ok(*name),
            Payload::Json(envelope, _) => {
                envelope.advance(text);
                match envelope.step {
                    Step::Found(name, _) => Ok(name),
                    Step::Over => Err(false),
                    _ => Err(true),
                }
            }
        }
    }

    fn is_sure(&self) -> bool {
        match self {
            Payload::Json(_, live) => live.is_sure(),
            Payload::Tags(_, live) => live.is_sure(),
            Payload::Spelt(_, live) => live.is_sure(),
        }
    }

    /// All that went out, of a payload in `text`.
    fn sent<'p>(&'p self, text: &'p str) -> &'p str {
        match self {
            Payload::Json(envelope, live) => live.sent(envelope.arguments(text)),
            Payload::Tags(_, live) => live.sent(),
            Payload::Spelt(_, live) => live.sent(),
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
            Body::Plain(_) | Body::Lines(_) | Body::Words(_) | Body::Block(_) => {}
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
                let written = match early.payload.name(text) {
                    Ok(name) => name.of(text),
                    Err(may_come) => return may_come,
                };
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
            (Payload::Json(envelope, live), _) => {
                live.advance(tool, envelope.arguments(text)).map(str::to_owned)
            }
            (Payload::Tags(_, live), Some(walk)) => live.advance(tool, walk, opener.record.trim, text),
            (Payload::Tags(..), None) => None,
            (Payload::Spelt(_, live), _) => live.advance(tool, text),
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

/// Looks for the arguments of `{"name": "f", "arguments": {…}}`.
#[derive(Debug)]
struct Envelope {
    step: Step,
    at: usize,
    key: Span,
    name: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The brace is to come.
    Brace,
    /// A key is to come.
    Key,
    /// Inside a key.
    InKey,
    Colon,
    Value,
    /// Inside the name.
    Name(usize),
    /// Inside another value.
    Other(Inside),
    Comma,
    /// The name, and the place where the arguments begin.
    Found(Span, usize),
    /// It is something else, or not strict JSON.
    Over,
}

impl Envelope {
    fn at(at: usize) -> Envelope {
        Envelope { step: Step::Brace, at, key: Span::at(at), name: None }
    }

    /// The arguments in `text`, once they are found.
    fn arguments<'t>(&self, text: &'t str) -> &'t str {
        match self.step {
            Step::Found(_, at) => text.get(at..).unwrap_or(""),
            _ => "",
        }
    }

    fn advance(&mut self, text: &str) {
        while let Some(&byte) = text.as_bytes().get(self.at) {
            let at = self.at;
            self.step = match (self.step, byte) {
                (Step::Found(..) | Step::Over, _) => return,
                (Step::Key | Step::Colon | Step::Value | Step::Comma, b' ' | b'\t' | b'\n' | b'\r') => {
                    self.step
                }
                (Step::Brace, b'{') => Step::Key,
                (Step::Key, b'"') => {
                    self.key = Span::new(at + 1, at + 1);
                    Step::InKey
                }
                (Step::InKey, b'"') => {
                    self.key = Span::new(self.key.start as usize, at);
                    Step::Colon
                }
                (Step::Colon, b':') => Step::Value,
                (Step::Value, _) => self.value(text, at, byte),
                (Step::Name(from), b'"') => {
                    self.name = Some(Span::new(from, at));
                    Step::Comma
                }
                (Step::InKey | Step::Name(_), byte) if byte != b'\\' && b' ' <= byte => self.step,
                (Step::Other(inside), byte) => match inside.behind(byte) {
                    Some(inside) => Step::Other(inside),
                    None if byte == b',' => Step::Key,
                    None => Step::Over,
                },
                (Step::Comma, b',') => Step::Key,
                (Step::Brace | Step::Key | Step::InKey | Step::Colon | Step::Name(_) | Step::Comma, _) => {
                    Step::Over
                }
            };
            self.at += 1;
        }
    }

    /// The step into the value that begins with `byte`.
    fn value(&self, text: &str, at: usize, byte: u8) -> Step {
        let key = self.key.of(text);
        match (byte, self.name) {
            (b'"', None) if keys::NAME.contains(&key) => Step::Name(at + 1),
            (b'{', Some(name)) if keys::ARGUMENTS.contains(&key) => Step::Found(name, at),
            (b'{' | b'[', _) => Step::Over,
            _ if keys::COMPANIONS.contains(&key) => {
                Inside::default().behind(byte).map_or(Step::Over, Step::Other)
            }
            _ => Step::Over,
        }
    }
}

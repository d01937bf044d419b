//! Turns and nodes, ready for the database: masked, bounded, in texts.

use crate::clock::now;
use crate::known::{KeptBody, Known};
use crate::mask::Mask;
use crate::node::{Answer, NODE_VERSION, NewNode, NodeKind};
use crate::profile;
use crate::rows::Value;
use crate::session::SessionRef;
use crate::spread::texts;
use crate::turn::{Before, Call, Fault, NAME, NewTurn, Turn};
use crate::words::{Mark, mark, words};

/// The longest title, in bytes.
const TITLE: usize = 160;
/// Of an answer that is not whole so many bytes are left out at the end.
const HALF: usize = 512;
/// The last moment whose year has four digits.
const LAST: i64 = 253_402_300_799_999;

/// A turn, or nodes without one.
pub(crate) struct Ready {
    pub(crate) session: SessionRef,
    /// The id of whoever it belongs to; empty where that is nobody.
    pub(crate) owner: String,
    pub(crate) origin: &'static str,
    pub(crate) title: String,
    pub(crate) turn: Option<Turn>,
    pub(crate) nodes: Vec<ReadyNode>,
    before: Before,
    marks: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) feeds_back: bool,
}

/// A node.
pub(crate) struct ReadyNode {
    kind: String,
    name: Option<String>,
    call: Option<String>,
    payload: Value,
    is_masked: bool,
    pub(crate) body: Option<KeptBody>,
    answer: Option<Value>,
    pub(crate) words: String,
    at: i64,
}

impl Ready {
    pub(crate) fn turn(new: NewTurn, known: &mut Known) -> Ready {
        let mask = &known.mask;
        let NewTurn {
            session,
            owner,
            origin,
            title,
            mut turn,
            nodes,
            before,
            mut calls,
            mut faults,
            feeds_back,
        } = new;
        let owner = known.seal.owner(owner.as_ref());
        let t = &mut turn;
        for text in [
            &mut t.request,
            &mut t.outcome,
            &mut t.model,
            &mut t.upstream,
            &mut t.mode,
            &mut t.dialect,
            &mut t.surface,
            &mut t.policy,
        ] {
            shorten(text, mask);
        }
        for call in &mut calls {
            [&mut call.tool, &mut call.dialect].into_iter().for_each(|text| shorten(text, mask));
        }
        for fault in &mut faults {
            let texts = [&mut fault.kind, &mut fault.tool, &mut fault.place];
            texts.into_iter().for_each(|text| shorten(text, mask));
        }
        let at = if turn.at == 0 { now() } else { turn.at };
        let turn = Turn { at: at.clamp(0, LAST), ..bounded(turn) };
        let marks = marks(&turn, &faults, &owner);
        let (session, title) = (named(session, &owner, known), titled(title, mask));
        let nodes = nodes.into_iter().map(|node| ReadyNode::of(node, turn.at, &marks, known)).collect();
        known.end_turn();
        Ready {
            session,
            owner,
            origin,
            title,
            nodes,
            before,
            marks,
            calls,
            faults,
            feeds_back,
            turn: Some(turn),
        }
    }

    pub(crate) fn nodes(session: String, nodes: Vec<NewNode>, known: &mut Known) -> Ready {
        let (at, mask) = (now(), &known.mask);
        let first = nodes.iter().find(|node| node.kind == NodeKind::User);
        let title = first.map_or_else(String::new, |node| node.words.clone());
        let (session, title) = (named(SessionRef::Named(session), "", known), titled(title, mask));
        let nodes = nodes.into_iter().map(|node| ReadyNode::of(node, at, &[], known)).collect();
        known.end_turn();
        Ready {
            session,
            owner: String::new(),
            origin: "agent",
            title,
            turn: None,
            nodes,
            before: Before::default(),
            marks: Vec::new(),
            calls: Vec::new(),
            faults: Vec::new(),
            feeds_back: false,
        }
    }

    /// Returns whether the turns before it matter where its session is a new one.
    pub(crate) fn has_before(&self) -> bool {
        !self.before.is_empty()
    }

    /// The nodes of what went before it.
    pub(crate) fn before(&self, known: &mut Known) -> Vec<ReadyNode> {
        let at = self.turn.as_ref().map_or_else(now, |turn| turn.at);
        let nodes = self.before.nodes().into_iter();
        nodes.map(|node| ReadyNode::of(node, at, &self.marks, known)).collect()
    }
}

impl ReadyNode {
    fn of(new: NewNode, at: i64, marks: &[String], known: &mut Known) -> ReadyNode {
        let NewNode { kind, name, call, mut payload, body, answer, words: mut found, at: own } = new;
        let body = body.map(|body| known.body(body));
        let mask = &known.mask;
        let is_masked = mask.value(&mut payload);
        let cleaned = |text: Option<String>| {
            text.map(|mut text| {
                clean(&mut text, mask);
                text
            })
        };
        let (name, call) = (cleaned(name), cleaned(call));
        mask.text(&mut found);
        let words = words([name.as_deref().unwrap_or_default(), found.as_str()].into_iter(), marks);
        ReadyNode {
            kind: kind.name().to_owned(),
            name,
            call,
            payload: known.pack(payload.to_string()),
            is_masked,
            body,
            answer: answer.and_then(|answer| answered(answer, mask)).map(|text| known.pack(text)),
            words,
            at: own.unwrap_or(at).clamp(0, LAST),
        }
    }

    /// Returns whether it is about this.
    pub(crate) fn is(&self, kind: &NodeKind) -> bool {
        self.kind == kind.name()
    }

    /// The row of a node; `body` is what is kept of its body.
    pub(crate) fn row(&self, session: i64, turn: Option<i64>, number: i64, body: Value) -> Vec<Value> {
        vec![
            Value::Int(session),
            Value::MaybeInt(turn),
            Value::Int(number),
            Value::Text(self.kind.clone()),
            Value::Int(self.at),
            Value::Int(NODE_VERSION),
            Value::MaybeText(self.name.clone()),
            Value::MaybeText(self.call.clone()),
            self.payload.clone(),
            Value::Int(i64::from(self.is_masked)),
            body,
            self.answer.clone().unwrap_or(Value::MaybeText(None)),
        ]
    }

    /// The bytes of its texts, but for the body.
    pub(crate) fn len(&self) -> usize {
        self.payload.len() + self.answer.as_ref().map_or(0, Value::len)
    }
}

/// The marks of a turn, by which a search finds its nodes.
fn marks(turn: &Turn, faults: &[Fault], owner: &str) -> Vec<String> {
    let faults = faults.iter().map(|fault| fault.kind.as_str());
    marks_of(profile::names(turn).map(Some), faults, Some(owner).filter(|owner| !owner.is_empty()))
}

/// The marks for the names of a turn's profile, as far as they are given, for the kinds of its faults, and for whoever it
/// belongs to.
pub(crate) fn marks_of<'t>(
    names: [Option<&'t str>; profile::NAMES],
    faults: impl Iterator<Item = &'t str>,
    owner: Option<&'t str>,
) -> Vec<String> {
    let of = profile::MARKS.into_iter().zip(names);
    let of = of.filter_map(|(what, value)| Some((what, value?)));
    let of = of.chain(faults.map(|kind| (Mark::Fault, kind))).chain(owner.map(|id| (Mark::Owner, id)));
    of.map(|(what, value)| mark(what, value)).collect()
}

/// An answer without secrets; none where one is spread over its events.
fn answered(answer: Answer, mask: &Mask) -> Option<String> {
    let Answer { mut text, is_whole } = answer;
    clean(&mut text, mask);
    if texts(&text).iter().any(|text| mask.finds(text)) {
        return None;
    }
    if !is_whole {
        // The beginning of a secret at the end is none that could be known.
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(HALF)));
    }
    Some(text)
}

fn named(session: SessionRef, owner: &str, known: &Known) -> SessionRef {
    let cut = |mut name: String| {
        shorten(&mut name, &known.mask);
        name
    };
    match session {
        SessionRef::Named(name) => SessionRef::Named(cut(name)),
        // What is a hash of a text with its secrets must not be one that others can make.
        SessionRef::Conversation { fingerprint, begins, name } => SessionRef::Conversation {
            fingerprint: known.seal.fingerprint(owner, &fingerprint),
            begins,
            name: cut(name),
        },
    }
}

fn titled(mut title: String, mask: &Mask) -> String {
    // Cut afterwards, or half a secret would be left.
    clean(&mut title, mask);
    let line: Vec<&str> = title.split_whitespace().collect();
    let mut title = line.join(" ");
    title.truncate(title.floor_char_boundary(TITLE));
    title
}

/// Upstreams count tokens as they like: sums of what they say must not run over.
fn bounded(mut turn: Turn) -> Turn {
    let t = &mut turn;
    for number in [
        &mut t.status,
        &mut t.attempts,
        &mut t.first_byte_us,
        &mut t.total_us,
        &mut t.upstream_us,
        &mut t.prompt_tokens,
        &mut t.completion_tokens,
        &mut t.repair_turns,
        &mut t.repair_tokens,
        &mut t.repairs,
        &mut t.feedback_turns,
    ] {
        *number = (*number).clamp(0, 1 << 40);
    }
    turn
}

/// Masks a name, and cuts it: afterwards, or half a secret would be left.
fn shorten(name: &mut String, mask: &Mask) {
    clean(name, mask);
    name.truncate(name.floor_char_boundary(NAME));
}

/// Masks a text; what no database takes is replaced.
fn clean(text: &mut String, mask: &Mask) {
    mask.text(text);
    if text.contains('\0') {
        *text = text.replace('\0', "\u{1a}");
    }
}

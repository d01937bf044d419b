//! The third gear: a least-cost search for the edits that make a value strict JSON.
//!
//! A [`State`] is one way to read the text up to a place. It runs forward as long as it costs nothing; it
//! forks where the text has two readings, and the cheaper one goes first. Each habit has one price: the first
//! bare quote of a text is dear and further ones are almost free, because a model that forgets to escape
//! quotes forgets it throughout. The [`Guide`] prunes: a key that is undeclared, or already used, does not
//! count.
//!
//! States at the same place, in the same containers with the same used keys, differ only in their past. Only
//! the cheapest goes on; ties go on together, so that they are reported as ties. A state far behind others in
//! its own container is given up ([`lag`]), so that many edits in one text do not multiply.

mod cost;
mod lag;
mod escapes;
mod value;
mod token;
mod quote;
mod body;
mod key;
mod follow;
mod after;
mod close;
mod tail;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::{Class, Fuel, Guide, Kinds, Options, Place, Problem, Repair, RepairKind, Span, Start};

pub(crate) use cost::Cost;
use cost::price;
use escapes::Escapes;
use lag::Reached;
pub(crate) use quote::{Quote, is_quote, mark};

/// The closeness with which the search follows the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaMode {
    /// Types, keys, enums and required members.
    Typed,
    /// Keys only: a value of the wrong type may be coerced later, and a missing member is reported later.
    KeysOnly,
}

impl SchemaMode {
    /// Returns the modes for `guide`, closest first. A guide without demands has one mode.
    pub(crate) fn closest_first(guide: &dyn Guide) -> &'static [SchemaMode] {
        let root = guide.root();
        let asks_nothing = guide.kinds(root) == Kinds::ANY && guide.name(root, 0).is_none();
        if asks_nothing { &[SchemaMode::Typed] } else { &[SchemaMode::Typed, SchemaMode::KeysOnly] }
    }
}

/// A way to read the text from the start to `end`.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) cost: Cost,
    pub(crate) span: Span,
    pub(crate) repairs: Vec<Repair>,
    /// The place of a part that may be something else: the cheapest reading must have none.
    pub(crate) doubt: Option<Span>,
}

const NONE: u32 = u32::MAX;

/// The bit of [`State::habits`] for a string that may be something else: the cheapest reading must not have
/// it.
const DOUBTFUL: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A value is to come.
    #[default]
    Value,
    /// A key or the end of the object is to come.
    Key,
    /// A value is complete.
    After,
    /// Inside a string value.
    Body,
    /// The whole value is complete; the text behind it is read.
    Tail,
    /// A reading is found.
    Done,
}

/// The token that was read last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// The token may go on, as a number or a bare text may; or no value was read yet.
    Open,
    /// The token has an end of its own.
    #[default]
    Firm,
    /// A string whose closing quote stands right before [`State::at`], of this many bytes.
    Text(u8),
    /// A comma, at [`State::open`].
    Comma,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    cost: Cost,
    at: u32,
    /// The innermost open container; `NONE` outside of all.
    frame: u32,
    /// The last edit; `NONE` before the first one.
    edits: u32,
    /// One bit per kind of repair whose full price was paid.
    habits: u64,
    /// The start of the string or value that is being read, or was read last.
    open: u32,
    step: Step,
    quote: Quote,
    /// The meaning of the backslashes in the open string.
    escapes: Escapes,
    last: Last,
    /// The body of the last string value, if a quote in it was taken for text; else empty. The text behind
    /// such a string must be in order: a cut text, read up to one of its quotes, looks much like a broken
    /// whole one.
    bare: Span,
    /// The open string stands between other quotes, and holds a double quote without a partner.
    unpaired: bool,
}

impl State {
    /// Returns whether a repair of `kind` was paid for.
    fn has_paid(&self, kind: RepairKind) -> bool {
        self.habits & (1 << kind as u64) != 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Object,
    Array,
    /// The arguments of a call, read into an object.
    Arguments,
    /// Parentheses, or a fence, around one value, which JSON does without.
    Group,
}

impl Shape {
    /// Returns the repair of a bracket of `len` bytes of this container, unless it is the one that JSON has
    /// there.
    fn swap(self, is_json: bool, len: usize) -> Option<RepairKind> {
        match self {
            _ if is_json => (1 < len).then_some(RepairKind::SwapPunctuation),
            Shape::Object => Some(RepairKind::SwapBracket),
            Shape::Array | Shape::Arguments | Shape::Group => Some(RepairKind::SwapSyntax),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    parent: u32,
    shape: Shape,
    /// The bracket that closes the container in the source.
    close: u8,
    /// The container writes both its brackets twice: `{{…}}`.
    doubled: bool,
    /// The list has a named argument, so that all later ones need names.
    is_named: bool,
    depth: u8,
    place: Place,
    /// The place of the value that is being read.
    inner: Place,
    /// The declared members that have been used.
    used: u128,
    /// The bit in `used` of the member that is being read.
    last: u128,
    count: u32,
    /// The signature is equal for frames that have the same future.
    signature: u64,
}

impl Frame {
    fn is_object(&self) -> bool {
        matches!(self.shape, Shape::Object | Shape::Arguments)
    }

    /// Returns the bracket that closes the container in JSON.
    fn json_close(&self) -> &'static str {
        match self.shape {
            Shape::Object | Shape::Arguments => "}",
            Shape::Array => "]",
            Shape::Group => "",
        }
    }
}

#[derive(Clone, Debug)]
struct Edit {
    before: u32,
    repair: Repair,
}

/// The place where the value begins, and what stands in front of it.
struct Begin {
    at: usize,
    start: Start,
    /// A fence is open in front of the value.
    in_fence: bool,
    /// A tag is open in front of the value.
    in_tag: bool,
}

/// Searches for readings of the values that start at places in one text.
pub(crate) struct Search<'t, 'g> {
    pub(crate) text: &'t str,
    bytes: &'t [u8],
    pub(crate) guide: &'g dyn Guide,
    schema_mode: SchemaMode,
    /// The caller's options, with the fuel for this text and others.
    options: Options<'g>,
    /// Every quote that may end a string ends it, as in a language whose strings end at the next unescaped
    /// quote.
    pub(crate) strict_quotes: bool,
    frames: Vec<Frame>,
    edits: Vec<Edit>,
    /// The states that wait: the cheapest first, then the farthest, then the oldest.
    waiting: BTreeMap<(Cost, Reverse<u32>, u32), State>,
    forks: u32,
    /// The least cost of the states at each place and signature, and the number of states that share it.
    seen: BTreeMap<(u32, u64), (Cost, u8)>,
    /// The trail of the first state, which is mostly the only one, so that `seen` needs no look-up.
    trail: Vec<((u32, u64), (Cost, u8))>,
    on_trail: bool,
    reached: Reached,
    found: Vec<Found>,
    /// The value is read alone: the text behind it proves nothing.
    apart: bool,
    begin: Begin,
    /// The last byte of the text that is not blank or wrapping, and its place.
    last: u8,
    last_at: usize,
    /// A place and the first quote or opening bracket behind it, from the last such search.
    mark: Option<(usize, usize)>,
    last_backslash: Option<usize>,
    /// The work that is left, in units of one careful look at one byte (some nanoseconds). Each reading runs
    /// over the whole text, so all readings share the fuel.
    pub(crate) fuel: i64,
    /// The fuel of this text alone at the last account.
    accounted: i64,
    /// The problem at the farthest place.
    trouble: Option<(Problem, Span)>,
    /// The problem of the first run that found no reading.
    pub(crate) reason: Option<(Problem, Span)>,
}

/// At most this many readings that tie are kept.
const MOST_READINGS: usize = 3;

/// The fuel of a search; a text that needs more has too many readings.
const FUEL: i64 = 1 << 17;
const FUEL_PER_BYTE: i64 = 32;
/// The price of a step, in units of fuel.
const STEP: i64 = 16;
/// The price of a step inside a string, which is a quote or an escape and a short look behind it.
const BODY_STEP: i64 = 12;
/// The bytes of a string that cost one unit. Blanks and comments cost more.
const RUN: u32 = 8;

/// Returns the price of a look-up among `len` entries, in units of fuel.
fn levels(len: usize) -> i64 {
    3 * i64::from(usize::BITS - len.leading_zeros())
}

impl<'t, 'g> Search<'t, 'g> {
    /// Prepares a search in `text` from `from` on.
    pub(crate) fn new(text: &'t str, from: usize, guide: &'g dyn Guide, options: &Options<'g>) -> Self {
        let bytes = text.as_bytes();
        let (last_at, last) = last_of_value(bytes, options.listed);
        let fuel = FUEL + FUEL_PER_BYTE * bytes.len().saturating_sub(from) as i64;
        Search {
            text,
            bytes,
            guide,
            schema_mode: SchemaMode::Typed,
            options: *options,
            strict_quotes: false,
            frames: Vec::with_capacity(8),
            edits: Vec::with_capacity(16),
            waiting: BTreeMap::new(),
            forks: 0,
            trail: Vec::with_capacity(16),
            on_trail: true,
            seen: BTreeMap::new(),
            reached: Reached::default(),
            found: Vec::new(),
            apart: false,
            begin: Begin { at: from, start: Start::Value, in_fence: false, in_tag: false },
            last,
            last_at,
            mark: None,
            last_backslash: text.rfind('\\'),
            fuel,
            accounted: fuel,
            trouble: None,
            reason: None,
        }
    }

    /// Returns the cheapest readings of the value that starts at `from`: none, one, or several that tie.
    pub(crate) fn run(&mut self, schema_mode: SchemaMode, from: usize, start: Start) -> Vec<Found> {
        self.schema_mode = schema_mode;
        self.frames.clear();
        self.edits.clear();
        self.waiting.clear();
        self.trail.clear();
        self.on_trail = true;
        self.seen.clear();
        self.reached = Reached::default();
        self.trouble = None;
        let before = self.bytes.get(..from).unwrap_or(&[]);
        let in_fence = before.windows(3).any(|w| w == b"```");
        let in_tag = before.trim_ascii_end().ends_with(b">");
        self.begin = Begin { at: from, start, in_fence, in_tag };
        let at = from as u32;
        let first = State { at, frame: NONE, edits: NONE, open: at, ..State::default() };
        let first = match start {
            Start::Value => Some(first),
            Start::Arguments => self.open_arguments(first),
            Start::Members => {
                let s = self.replace(first, RepairKind::AddOpener, from, "{");
                let s = self.push_frame(s, Shape::Object, b'}');
                // Only a key with its colon proves that there was an object: not `}`, not `"a" "b"`.
                let key = |s: &State| self.key_at(s, self.peek_blank(from));
                s.filter(|s| key(s).is_some_and(|key| self.has_colon(key.end)))
            }
        };
        if let Some(first) = first {
            self.advance(first);
        }
        self.on_trail = false;
        while let Some((_, state)) = self.waiting.pop_first() {
            if self.found.first().is_some_and(|best| best.cost < state.cost) {
                break;
            }
            if self.is_spent() {
                self.found.clear();
                self.trouble = Some((Problem::Limit, Span::at(state.at as usize)));
                break;
            }
            self.fuel -= levels(self.waiting.len());
            self.advance(state);
        }
        if self.found.is_empty() {
            self.reason = self.reason.or(self.trouble);
        }
        core::mem::take(&mut self.found)
    }

    /// Returns the cheapest reading of the value at `from` that closes all its brackets, without regard to
    /// the text behind it; else the problem.
    pub(crate) fn run_apart(&mut self, from: usize) -> Result<Found, (Problem, Span)> {
        let (cut, reason) = (self.options.cut, self.reason.take());
        (self.apart, self.options.cut) = (true, true);
        let found = self.run(SchemaMode::KeysOnly, from, Start::Value);
        (self.apart, self.options.cut) = (false, cut);
        let trouble = core::mem::replace(&mut self.reason, reason);
        let broken = (Problem::Unreadable, Span::at(from));
        found.into_iter().next().ok_or_else(|| trouble.unwrap_or(broken))
    }

    /// Returns whether the fuel of this text, or of all texts, is spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.fuel < 0 || self.options.fuel.is_some_and(Fuel::is_spent)
    }

    /// Takes this text's work since the last account off the fuel for all texts.
    fn account(&mut self) {
        if let Some(all) = self.options.fuel {
            all.spend(usize::try_from(self.accounted - self.fuel).unwrap_or(0));
        }
        self.accounted = self.fuel;
    }

    /// Runs one state forward until it is complete, impossible, or dearer than another one.
    fn advance(&mut self, mut state: State) {
        loop {
            let is_over = match state.step {
                Step::Key | Step::Value => self.lags(&state) || self.beaten(&state),
                Step::Body => self.lags(&state),
                Step::After | Step::Tail | Step::Done => false,
            };
            if is_over {
                return;
            }
            let at = state.at;
            let next = match state.step {
                Step::Value => self.value(state),
                Step::Key => self.key(state),
                Step::After => self.after(state),
                Step::Body => self.body(state),
                Step::Tail => self.tail(state),
                Step::Done => return self.done(state),
            };
            let Some(next) = next else { return };
            let run = next.at.saturating_sub(at);
            self.fuel -= match state.step {
                Step::Body => BODY_STEP + i64::from(run.div_ceil(RUN)),
                _ => STEP + i64::from(run),
            };
            self.account();
            // A text without a flaw is read to its end at any price.
            let is_broken = Cost::units(1) <= next.cost;
            if is_broken && self.is_spent() {
                return self.fork(next);
            }
            if self.waiting.first_key_value().is_some_and(|(other, _)| other.0 < next.cost) {
                return self.fork(next);
            }
            state = next;
        }
    }

    /// Keeps a state to go on with later.
    fn fork(&mut self, state: impl Into<Option<State>>) {
        if let Some(state) = state.into() {
            self.forks += 1;
            self.waiting.insert((state.cost, Reverse(state.at), self.forks), state);
        }
    }

    /// Returns whether a cheaper state, or enough equally cheap ones, passed this place.
    fn beaten(&mut self, state: &State) -> bool {
        self.reached.note(self.signature(state.frame), state.at, state.cost);
        let signature = self.signature(state.frame) ^ (state.habits.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let signature = signature ^ ((state.step as u64) << 1) ^ u64::from(state.last == Last::Comma);
        if self.on_trail {
            self.trail.push(((state.at, signature), (state.cost, 1)));
            return false;
        }
        self.seen.extend(self.trail.drain(..));
        self.fuel -= levels(self.seen.len());
        let (cost, times) = self.seen.entry((state.at, signature)).or_insert((state.cost, 0));
        if *cost < state.cost || *times as usize >= MOST_READINGS {
            return true;
        }
        *times += 1;
        false
    }

    fn frame(&self, state: &State) -> Option<&Frame> {
        self.frames.get(state.frame as usize)
    }

    /// Returns the container `frame` and those around it, innermost first.
    fn containers(&self, frame: u32) -> impl Iterator<Item = &Frame> {
        let at = |frame: u32| self.frames.get(frame as usize);
        core::iter::successors(at(frame), move |inner| at(inner.parent))
    }

    fn signature(&self, frame: u32) -> u64 {
        self.frames.get(frame as usize).map_or(0, |f| f.signature)
    }

    /// Enters a container at the place where `state` expects a value. The caller moves `at`.
    fn push_frame(&mut self, state: State, shape: Shape, close: u8) -> Option<State> {
        let place = self.place(&state);
        let depth = self.frame(&state).map_or(0, |f| f.depth) + 1;
        if usize::from(depth) > crate::MAX_DEPTH {
            return self.fail(Problem::Limit, Span::at(state.at as usize));
        }
        let frame = Frame {
            parent: state.frame,
            shape,
            close,
            doubled: false,
            is_named: false,
            depth,
            place,
            // A group has the place of its value.
            inner: if shape == Shape::Array { self.guide.element(place, 0) } else { place },
            used: 0,
            last: 0,
            count: 0,
            signature: 0,
        };
        let step = if frame.is_object() { Step::Key } else { Step::Value };
        let state = self.with_frame(state, frame);
        Some(State { step, last: Last::Firm, ..state })
    }

    /// Makes `frame` the innermost frame.
    fn with_frame(&mut self, state: State, mut frame: Frame) -> State {
        let mut h = self.signature(frame.parent);
        for part in [
            u64::from(frame.place.0) << 9 | u64::from(frame.close) << 1 | u64::from(frame.doubled),
            frame.used as u64,
            (frame.used >> 64) as u64,
            u64::from(frame.inner.0) << 1 | u64::from(frame.count > 0),
        ] {
            h = (h.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        frame.signature = h;
        self.frames.push(frame);
        State { frame: self.frames.len() as u32 - 1, ..state }
    }

    /// Returns the place of the value that `state` reads next.
    fn place(&self, state: &State) -> Place {
        self.frame(state).map_or_else(|| self.guide.root(), |f| f.inner)
    }

    fn kinds(&self, place: Place) -> Kinds {
        if self.schema_mode == SchemaMode::Typed { self.guide.kinds(place) } else { Kinds::ANY }
    }

    /// Records an edit and pays for it.
    fn edit(&mut self, state: State, kind: RepairKind, at: Span, put: impl Into<Cow<'static, str>>) -> State {
        pay(self.note(state, kind, at, put), kind)
    }

    /// Replaces the text from the state's place to `end` with `put`, pays for it, and goes on behind it.
    fn replace(
        &mut self,
        state: State,
        kind: RepairKind,
        end: usize,
        put: impl Into<Cow<'static, str>>,
    ) -> State {
        State { at: end as u32, ..self.edit(state, kind, Span::new(state.at as usize, end), put) }
    }

    /// Records an edit that costs nothing.
    fn note(&mut self, state: State, kind: RepairKind, at: Span, put: impl Into<Cow<'static, str>>) -> State {
        self.edits.push(Edit { before: state.edits, repair: Repair::new(kind, at, put) });
        State { edits: self.edits.len() as u32 - 1, ..state }
    }

    /// Returns `state` without its edits at or behind `at`.
    fn forget_behind(&self, mut state: State, at: usize) -> State {
        while let Some(edit) =
            self.edits.get(state.edits as usize).filter(|edit| at <= edit.repair.at.start as usize)
        {
            state.edits = edit.before;
        }
        state
    }

    /// Ends a state, and notes the problem if it stands farther than all before.
    fn fail(&mut self, problem: Problem, at: Span) -> Option<State> {
        let is_plain = |problem: Problem| !matches!(problem, Problem::NotANumber | Problem::OpenEscape);
        let is_new = |(before, place): (Problem, Span)| {
            is_plain(before) && (!is_plain(problem) || place.start < at.start)
        };
        if self.trouble.is_none_or(is_new) {
            self.trouble = Some((problem, at));
        }
        None
    }

    /// Returns the edits of a complete state, in order of place.
    fn repairs(&self, state: &State) -> Vec<Repair> {
        let edit = |at: u32| self.edits.get(at as usize);
        let edits = || core::iter::successors(edit(state.edits), |one| edit(one.before));
        let mut repairs: Vec<Repair> = Vec::with_capacity(edits().count());
        // The list begins with the last edit. An edit is noted when its need shows, perhaps after a few that
        // stand behind it.
        let place_of = |repair: &Repair| (repair.at.start, repair.at.end);
        for Edit { repair, .. } in edits() {
            let behind = repairs.iter().rev().take_while(|next| place_of(next) < place_of(repair));
            repairs.insert(repairs.len() - behind.count(), repair.clone());
        }
        repairs.reverse();
        repairs
    }
}

/// Pays for a repair: the full price the first time, a trifle afterwards where it is a habit.
fn pay(state: State, kind: RepairKind) -> State {
    let (units, habit) = price(kind);
    let bit = 1_u64 << (kind as u64);
    if habit && state.habits & bit != 0 {
        // Mere spelling costs nothing more; an inferred repair must not win by its number.
        let more = if kind.class() == Class::Lossless { Cost::default() } else { Cost::TRIFLE };
        return State { cost: state.cost.plus(more), ..state };
    }
    State { cost: state.cost.plus(Cost::units(units)), habits: state.habits | bit, ..state }
}

/// Returns the place and value of the last byte of `bytes` that belongs to the value. Blanks, fences, tags,
/// and the bracket of the list around the value do not.
fn last_of_value(bytes: &[u8], listed: bool) -> (usize, u8) {
    let mut end = bytes.len();
    loop {
        let rest = bytes[..end].trim_ascii_end();
        let trimmed = rest.strip_suffix(b"```").or_else(|| {
            let window = &rest[rest.len().saturating_sub(64)..];
            let open = window.ends_with(b">").then(|| window.iter().rposition(|&b| b == b'<')).flatten()?;
            Some(&rest[..rest.len() - window.len() + open])
        });
        match trimmed {
            Some(shorter) => end = shorter.len(),
            None => {
                let list = rest.strip_suffix(b"]").filter(|_| listed);
                let value = list.unwrap_or(rest).trim_ascii_end();
                return (value.len().saturating_sub(1), value.last().copied().unwrap_or(b' '));
            }
        }
    }
}

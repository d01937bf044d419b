//! The value of a text that is still being written: what is certain of it, whatever follows.
//!
//! The text goes in as it grows, by pieces of any size; no byte is read twice, but those of a torn escape or word. What
//! comes out is a value that every later one only adds to: members, elements, the rest of a string. The reader of
//! whole texts may find an error later, and read what stands before it otherwise. So a string ends where the key of the
//! next member shows that it ended, a number where a string or a bracket follows it, and nothing more is certain from
//! the first sign on that is out of order.

mod front;
mod string;

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::scan::skip_space;
use crate::{Guide, Kind, Kinds, MAX_DEPTH, Member, Place, Tree, Value, strict, strict_end};
use string::Body;

/// The certain part of a value.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    text: String,
    tree: Tree,
    /// The number of containers that may get more, from the outermost one on.
    depth: usize,
    /// The last value of the innermost of them is a string that may get more.
    is_in_string: bool,
    /// The places in `text` where a member is left out, in order.
    gaps: Vec<usize>,
}

impl Partial {
    /// Returns what is certain of `text`, whatever follows it.
    pub fn of(text: &str, guide: &dyn Guide) -> Partial {
        // Room for most brackets that close it.
        const CLOSERS: usize = 16;
        let mut growing = Growing { out: String::with_capacity(text.len() + CLOSERS), ..Growing::default() };
        growing.advance(text, guide);
        growing.finish()
    }

    /// Returns the whole value of the strict JSON `text`, which gets no more.
    pub fn whole(text: String) -> Partial {
        let tree = strict(&text).unwrap_or_default();
        Partial { text, tree, ..Partial::default() }
    }

    /// Returns the value so far; `None` as long as nothing of it is certain.
    pub fn value(&self) -> Option<Value<'_>> {
        (!self.text.is_empty()).then(|| self.tree.root(&self.text))
    }

    /// Returns the value so far as strict JSON; it is empty as long as nothing is certain.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of bytes at the end of the text that make a value of it: brackets, and the quote of a string in
    /// front of them.
    pub fn closers(&self) -> usize {
        self.depth + usize::from(self.is_in_string)
    }

    /// Returns the values that are complete, as JSON pointers, in the order of the text. Everything inside a complete
    /// value is complete too, and not listed. The pointer of the whole value is empty.
    ///
    /// ```
    /// use callwright_json::{AnyValue, Growing};
    ///
    /// let mut growing = Growing::default();
    /// growing.advance(r#"{"city": "Pa"#, &AnyValue);
    /// growing.advance(r#"{"city": "Paris", "days": [1, 2, 3], "note": "Take an umb"#, &AnyValue);
    /// let partial = growing.partial();
    /// assert_eq!(partial.text(), r#"{"city":"Paris","days":[1,2,3],"note":"Take an umb"}"#);
    /// assert_eq!(partial.complete(), ["/city", "/days"]);
    /// ```
    pub fn complete(&self) -> Vec<String> {
        let mut complete = Vec::new();
        let Some(root) = self.value() else { return complete };
        // The values that are left, the next one last, each with its pointer and the number of open ones from it inwards.
        let mut todo = vec![(root, String::new(), self.closers())];
        while let Some((value, pointer, open)) = todo.pop() {
            if open == 0 && self.gap_in(value).is_none() {
                complete.push(pointer);
                continue;
            }
            let elements = value.elements().enumerate().map(|(n, element)| (step(&pointer, n), element));
            let members = value.members().map(|(key, member)| {
                let key = key.as_str().unwrap_or_default();
                (step(&pointer, key.replace('~', "~0").replace('/', "~1")), member)
            });
            let first = todo.len();
            todo.extend(members.chain(elements).map(|(pointer, child)| (child, pointer, 0)));
            open_last(todo.get_mut(first..), open);
            todo.get_mut(first..).unwrap_or_default().reverse();
        }
        complete
    }

    /// Returns whether `whole`, the value of the whole text, only adds to what is certain.
    pub(crate) fn is_part_of(&self, whole: Value<'_>) -> bool {
        let Some(root) = self.value() else { return true };
        let mut todo = vec![(root, whole, self.closers())];
        while let Some((part, whole, open)) = todo.pop() {
            if part.kind() != whole.kind() {
                return false;
            }
            if part.kind() == Kind::String && 0 < open {
                let (part, whole) = (part.as_str().unwrap_or_default(), whole.as_str().unwrap_or_default());
                if !whole.starts_with(&*part) {
                    return false;
                }
                continue;
            }
            if open == 0 && self.gap_in(part).is_none() {
                if !part.same_as(whole) {
                    return false;
                }
                continue;
            }
            let first = todo.len();
            let mut elements = whole.elements();
            for part in part.elements() {
                let Some(whole) = elements.next() else { return false };
                todo.push((part, whole, 0));
            }
            // Both have their members in the order of the text.
            let mut members = whole.members();
            for (key, part) in part.members() {
                let Some((_, whole)) = members.find(|(other, _)| other.same_as(key)) else { return false };
                todo.push((part, whole, 0));
            }
            open_last(todo.get_mut(first..), open);
        }
        true
    }

    /// Returns the first place in `value` where a member is left out.
    fn gap_in(&self, value: Value<'_>) -> Option<usize> {
        let span = value.span().range();
        let first = self.gaps.partition_point(|gap| *gap < span.start);
        self.gaps.get(first).copied().filter(|gap| *gap < span.end)
    }
}

/// Notes that of the values in a container, with `open` values open from it inwards, only the last may be open.
fn open_last<V, W>(inside: Option<&mut [(V, W, usize)]>, open: usize) {
    if let Some((_, _, last)) = inside.and_then(<[_]>::last_mut) {
        *last = open.saturating_sub(1);
    }
}

fn step(pointer: &str, step: impl core::fmt::Display) -> String {
    format!("{pointer}/{step}")
}

/// Reads a text as it grows.
///
/// A [`Guide`] tells what may stand where. What does not fit it may be converted in the end, and is left out.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    /// The place up to which the text is read.
    at: usize,
    state: State,
    /// The open containers, outermost first.
    frames: Vec<Frame>,
    /// The number of brackets so far: as long as it stays, so do the open containers.
    n_brackets: usize,
    /// The value so far, as strict JSON without its last brackets.
    out: String,
    settled: Settled,
    /// The places in `out` where a member is left out.
    gaps: Vec<usize>,
    /// The value that is read and does not show yet, or never.
    hidden: Option<Hidden>,
    /// The number of strings that ended, as far as only their quotes tell, behind the settled part.
    loose: usize,
    /// The last value is one of them.
    is_after_string: bool,
    /// Words stand in front of the first bracket.
    has_front: bool,
}

/// The part of the text that comes next.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The first bracket.
    #[default]
    Front,
    /// A value; or, right behind the bracket of an array, that bracket's partner.
    Value { may_close: bool },
    /// A key, or the end of the object.
    Key,
    /// The rest of the key that began at this byte, between these quotes; `None` without quotes.
    InKey(usize, Option<u8>),
    /// A colon behind the key between these bytes.
    Colon(usize, usize),
    /// The rest of a string.
    InString(Body),
    /// The rest of the number or the word that began at this byte.
    InWord(usize),
    /// A comma or a bracket.
    After,
    /// Nothing: what follows is for the whole reader.
    Over,
}

#[derive(Clone, Debug)]
struct Frame {
    /// The place of its bracket in the source.
    source: usize,
    is_object: bool,
    place: Place,
    /// The place of the value that is read.
    inner: Place,
    /// The number of elements or members so far.
    count: usize,
    /// The hashes of the keys so far, sorted: of a repeated one, the first value shows.
    keys: Vec<u64>,
    /// The end of `out` in front of the member that is read.
    member: usize,
}

/// The certain part of `out`.
#[derive(Clone, Debug, Default)]
struct Settled {
    len: usize,
    /// It ends in a string.
    is_in_string: bool,
    /// The brackets that make a value of it.
    closers: String,
    /// The number of brackets that were read for it.
    n_brackets: usize,
}

/// A value that does not show before its end.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    /// The number of containers around it.
    depth: usize,
    /// The beginning of its value in `out`; `None` if it is left out in any case.
    from: Option<usize>,
}

impl Growing {
    /// Reads the part by which `text`, all of the text so far, has grown since the last time. The guide is always the same.
    pub fn advance(&mut self, text: &str, guide: &dyn Guide) {
        while self.at < text.len() && !matches!(self.state, State::Over) {
            if self.step(text, guide).is_none() {
                break;
            }
        }
    }

    /// Returns the place in the text of the bracket of an open container: the outermost one has the `depth` 0.
    pub fn opened_at(&self, depth: usize) -> Option<usize> {
        self.frames.get(depth).map(|frame| frame.source)
    }

    /// Returns the part of the value that is certain. It takes time in proportion to that part.
    pub fn partial(&self) -> Partial {
        self.clone().finish()
    }

    fn finish(self) -> Partial {
        let Settled { len, is_in_string, closers, .. } = self.settled;
        let depth = closers.len();
        let mut text = self.out;
        text.truncate(len);
        if is_in_string {
            text.push('"');
        }
        text.push_str(&closers);
        // INVARIANT: the settled part and its closers are strict JSON, or nothing.
        let tree = strict(&text).unwrap_or_default();
        let mut gaps = self.gaps;
        gaps.retain(|gap| *gap <= len);
        Partial { text, tree, depth, is_in_string, gaps }
    }

    /// Takes one step; `None` if more text must tell.
    fn step(&mut self, text: &str, guide: &dyn Guide) -> Option<()> {
        let bytes = text.as_bytes();
        match self.state {
            State::Front => return self.front(text, guide),
            State::InString(body) => return self.in_string(text, body, guide),
            State::InWord(from) => return self.in_word(text, from, guide),
            State::InKey(from, quote) => return self.in_key(bytes, from, quote),
            State::Over => return None,
            State::Value { .. } | State::Key | State::Colon(..) | State::After => {}
        }
        self.at = skip_space(bytes, self.at);
        let byte = *bytes.get(self.at)?;
        match self.state {
            State::Value { may_close: true } if byte == b']' => self.close(byte, guide),
            State::Value { .. } => self.begin(byte, guide),
            State::Key => match byte {
                b'}' => self.close(byte, guide),
                b'"' | b'\'' => {
                    self.at += 1;
                    self.state = State::InKey(self.at, Some(byte));
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => self.state = State::InKey(self.at, None),
                _ => self.give_up(),
            },
            State::Colon(from, to) => match byte {
                b':' => self.member(text.get(from..to).unwrap_or(""), guide),
                _ => self.give_up(),
            },
            State::After => match byte {
                b',' => self.next(guide),
                b'}' | b']' => self.close(byte, guide),
                _ => self.give_up(),
            },
            _ => self.give_up(),
        }
        Some(())
    }

    /// Ends what is certain. The bracket may have stood in words, `Set {x}:`, and the next one begins the value.
    fn give_up(&mut self) {
        self.state = State::Over;
        if self.has_front && self.settled.len == 0 {
            self.begin_anew();
        }
    }

    /// Goes over a comma.
    fn next(&mut self, guide: &dyn Guide) {
        self.at += 1;
        let Some(frame) = self.frames.last_mut() else { return self.give_up() };
        if frame.is_object {
            self.state = State::Key;
            return;
        }
        frame.inner = guide.element(frame.place, frame.count);
        self.state = State::Value { may_close: true };
    }

    /// Begins the member of this key, whose colon stands here: what came before it is certain.
    fn member(&mut self, key: &str, guide: &dyn Guide) {
        self.at += 1;
        let inner = self.place_of(key, guide);
        if inner.is_some() {
            self.settle();
        }
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else { return self.give_up() };
        let is_wanted = inner.is_some() && frame.is_new(key);
        frame.inner = inner.unwrap_or(frame.place);
        frame.member = self.out.len();
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        // A key with a sign that needs an escape is not read.
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
        if !is_wanted && self.hidden.is_none() {
            self.hidden = Some(Hidden { depth, from: None });
        }
        self.state = State::Value { may_close: false };
    }

    /// Returns the place of the member with this key, if its object declares it, or declares no keys at all. Else it may be
    /// another key in the end, or wrap the others; and a bracket may be missing in front of a key of an object further out.
    fn place_of(&self, key: &str, guide: &dyn Guide) -> Option<Place> {
        let (frame, outer) = self.frames.split_last()?;
        let declares = |frame: &Frame| matches!(guide.member(frame.place, key), Member::Declared(..));
        match guide.member(frame.place, key) {
            Member::Declared(_, inner) => Some(inner),
            Member::Open(inner) => {
                let is_of_outer = outer.iter().any(|frame| frame.is_object && declares(frame));
                (guide.name(frame.place, 0).is_none() && !is_of_outer).then_some(inner)
            }
            Member::Forbidden => None,
        }
    }

    /// Begins a value with `byte`.
    fn begin(&mut self, byte: u8, guide: &dyn Guide) {
        let Some(frame) = self.frames.last_mut() else { return self.give_up() };
        let place = frame.inner;
        if !frame.is_object {
            let is_string = matches!(byte, b'"' | b'\'');
            frame.member = self.out.len();
            let is_first = self.out.ends_with('[');
            // The last string is the one that ended, or both are one: the search finds the same way on from both, and
            // takes the cheaper one.
            let is_settled = self.loose == 0 || is_string && self.is_after_string && self.loose == 1;
            if !is_first && is_settled {
                self.settle();
            }
            if !is_first {
                self.out.push(',');
            }
        }
        let kinds = guide.kinds(place);
        let (is_wanted, is_plain) = match byte {
            b'{' => (kinds.has(Kinds::OBJECT), guide.has_one_form(place)),
            b'[' => (kinds.has(Kinds::ARRAY), guide.has_one_form(place)),
            b'"' | b'\'' => (kinds.has(Kinds::STRING), guide.longest(place).is_none()),
            // The whole word tells.
            _ => (true, true),
        };
        if self.hidden.is_none() && !(is_wanted && is_plain) {
            let from = is_wanted.then_some(self.out.len());
            self.hidden = Some(Hidden { depth: self.frames.len(), from });
        }
        match byte {
            b'{' | b'[' => self.open(byte, place, guide),
            b'"' | b'\'' => {
                self.at += 1;
                self.out.push('"');
                self.state =
                    State::InString(Body::of(byte, self.at, self.out.len(), self.may_be_key(place, guide)));
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.state = State::InWord(self.at),
            _ => self.give_up(),
        }
    }

    /// Returns whether a string at `place` may be a key where a bracket was forgotten: that of the list around it,
    /// `"tags": ["a", "note": …`, or that of an object at its place, `"to": "name": …`.
    fn may_be_key(&self, place: Place, guide: &dyn Guide) -> bool {
        let is_in_list =
            matches!(self.frames.as_slice(), [.., outer, inner] if outer.is_object && !inner.is_object);
        is_in_list || guide.kinds(place).has(Kinds::OBJECT) && guide.name(place, 0).is_some()
    }

    /// Opens a container at `place`.
    fn open(&mut self, bracket: u8, place: Place, guide: &dyn Guide) {
        if MAX_DEPTH <= self.frames.len() {
            return self.give_up();
        }
        let source = self.at;
        self.at += 1;
        self.n_brackets += 1;
        self.out.push(char::from(bracket));
        let is_object = bracket == b'{';
        let inner = if is_object { place } else { guide.element(place, 0) };
        let (keys, member) = (Vec::new(), self.out.len());
        self.frames.push(Frame { source, is_object, place, inner, count: 0, keys, member });
        self.state = if is_object { State::Key } else { State::Value { may_close: true } };
    }

    /// Closes the innermost container with its bracket.
    fn close(&mut self, bracket: u8, guide: &dyn Guide) {
        let Some(frame) = self.frames.last().filter(|frame| frame.is_object == (bracket == b'}')) else {
            return self.give_up();
        };
        let is_empty = frame.count == 0;
        if self.loose == 0 && !is_empty {
            self.settle();
        }
        self.at += 1;
        self.n_brackets += 1;
        self.frames.pop();
        self.out.push(char::from(bracket));
        self.is_after_string = false;
        self.end_value(guide);
    }

    /// Reads a key to its end.
    fn in_key(&mut self, bytes: &[u8], from: usize, quote: Option<u8>) -> Option<()> {
        let rest = bytes.get(self.at..)?;
        let is_end = |byte: &u8| match quote {
            Some(quote) => *byte == quote || matches!(byte, b'\\' | b'"' | ..0x20),
            None => !byte.is_ascii_alphanumeric() && *byte != b'_',
        };
        let Some(len) = rest.iter().position(is_end) else {
            self.at = bytes.len();
            return None;
        };
        self.at += len;
        // A key with an escape, or with the quote of another language, has two spellings.
        if quote.is_some_and(|quote| rest[len] != quote) {
            self.give_up();
            return Some(());
        }
        self.state = State::Colon(from, self.at);
        self.at += usize::from(quote.is_some());
        Some(())
    }

    /// Reads a number or a word to its end.
    fn in_word(&mut self, text: &str, from: usize, guide: &dyn Guide) -> Option<()> {
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while text.as_bytes().get(self.at).is_some_and(is_of_word) {
            self.at += 1;
        }
        let word = match text.get(from..self.at)? {
            _ if self.at == text.len() => return None,
            "True" => "true",
            "False" => "false",
            "None" => "null",
            word => word,
        };
        if strict_end(word, 0) != Ok(word.len()) {
            self.give_up();
            return Some(());
        }
        let place = self.frames.last()?.inner;
        if self.hidden.is_none() && !guide.takes_all(place) {
            self.hidden = Some(Hidden { depth: self.frames.len(), from: Some(self.out.len()) });
        }
        self.out.push_str(word);
        self.is_after_string = false;
        self.end_value(guide);
        Some(())
    }

    /// Counts a value that ended, and decides whether it shows if it was hidden.
    fn end_value(&mut self, guide: &dyn Guide) {
        self.state = State::After;
        let depth = self.frames.len();
        let hidden = self.hidden.filter(|hidden| hidden.depth == depth);
        let Some(frame) = self.frames.last_mut() else {
            self.state = State::Over;
            if self.has_front && self.settled.len == 0 {
                self.begin_anew();
            }
            return;
        };
        frame.count += 1;
        let Some(hidden) = hidden else { return };
        self.hidden = None;
        let value = hidden.from.and_then(|from| self.out.get(from..)).unwrap_or("");
        let fits = strict(value).is_ok_and(|tree| guide.fits(frame.inner, tree.root(value)));
        if fits {
            return;
        }
        // A list with a gap would have other numbers.
        if !frame.is_object {
            return self.give_up();
        }
        self.out.truncate(frame.member);
        // Whatever comes next there, a comma or a bracket, belongs to the object and to no member.
        self.gaps.push(frame.member);
        if self.loose == 1 && self.is_after_string {
            self.loose = 0;
        }
    }

    /// Makes all that is read certain.
    fn settle(&mut self) {
        self.settle_to(self.out.len(), false);
    }

    /// Makes the first `len` bytes of the value certain. They may end in the string that is read.
    ///
    /// Nothing more is certain while a value is hidden, or behind strings that may not have ended. Below words a list may
    /// be theirs, `[1]`, as long as no key stands in it.
    fn settle_to(&mut self, len: usize, is_in_string: bool) {
        let is_of_words = || self.has_front && !self.frames.iter().any(|frame| frame.is_object);
        if self.hidden.is_some() || is_in_string && 0 < self.loose || is_of_words() {
            return;
        }
        (self.settled.len, self.settled.is_in_string) = (len, is_in_string);
        self.loose = 0;
        if self.settled.n_brackets != self.n_brackets {
            self.settled.n_brackets = self.n_brackets;
            self.settled.closers.clear();
            let closers = self.frames.iter().rev().map(|frame| if frame.is_object { '}' } else { ']' });
            self.settled.closers.extend(closers);
        }
    }
}

impl Frame {
    /// Notes `key`, and returns whether it is new. Where two keys have one hash, the second one does not show.
    fn is_new(&mut self, key: &str) -> bool {
        let fnv = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        let place = self.keys.binary_search(&hash);
        if let Err(place) = place {
            self.keys.insert(place, hash);
        }
        place.is_err()
    }
}

//! A set of dialects, compiled once: the built-in ones and the caller's own.

use std::iter;
use std::sync::{Arc, LazyLock, OnceLock};

use super::check::check;
use super::definition::{Anchor, Dialect, Grammar, Sign};
use super::family::{self, fits};
use super::first::First;
use super::own::{Markup, Own};
use super::problem::{DialectError, DialectProblem};
use super::record::Record;
use super::records::{self, ANY_CLOSER, REASONING, SPEECH, TURN_ENDS, TURN_HEADS};
use crate::grammar::fold::solid;
use crate::grammar::{Form, Frame};
use crate::syntax::marks::{Held, Table, fit};
use crate::syntax::{Incomplete, Seen, Text};

/// The dialects that the scanner reads: all built-in ones, and the caller's own. Cheap to clone.
///
/// ```
/// use callwright::Dialects;
///
/// let dialects = Dialects::default();
/// assert_eq!(dialects.for_model("Qwen/Qwen3-32B").map(|dialect| &*dialect.name), Some("hermes"));
/// assert!(dialects.get("glm45").is_some() && dialects.only("morse").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Dialects(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    /// All records, the built-in ones first.
    records: Vec<Arc<Record>>,
    /// The places of the records that have a [`Sign`], by its number.
    signed: Vec<u16>,
    /// The openers of the built-in dialects.
    openers: Table<u16>,
    closers: Table<()>,
    /// Each block's opener, with the kind of its text and the place of its closer.
    blocks: Table<(Held, u16)>,
    block_closers: Vec<Arc<str>>,
    first: First,
    /// The words of the tokens between a name and its arguments.
    header_tokens: Vec<String>,
    heads: OnceLock<Heads>,
    /// The markers of the caller's own dialects, if there are any.
    own: Option<Own>,
    /// The only dialect that counts.
    only: Option<u16>,
}

/// The beginnings of calls in marks, by which the scanner finds broken ones.
#[derive(Debug)]
struct Heads {
    /// All beginnings in order, each with the place of its dialect.
    all: Vec<(Vec<char>, u16)>,
    /// The beginnings without a sign in front.
    signless: Vec<Vec<char>>,
    /// The first letters behind the sign of each other beginning, in order.
    behind_sign: Vec<[char; BEHIND_SIGN]>,
}

/// Number of letters that tell a mark without its sign. Fewer letters fit too many words.
const BEHIND_SIGN: usize = 6;

/// The place of a dialect that is not there.
const UNSET: u16 = u16::MAX;

/// All built-in dialects.
static BUILT_IN: LazyLock<Dialects> = LazyLock::new(|| {
    let dialects = records::all();
    let place = |name: &str| (0..).zip(&dialects).find(|(_, dialect)| dialect.name == name).map(|(id, _)| id);
    let kin = dialects.iter().map(|dialect| dialect.kin.as_deref().and_then(place));
    let kin: Vec<Option<u16>> = kin.collect();
    let all = (0..).zip(dialects).zip(kin);
    let records = all.map(|((id, dialect), kin)| Arc::new(Record::new(id, kin.unwrap_or(id), dialect, None)));
    Dialects::compile(records.collect(), None)
});

impl Default for Dialects {
    /// Returns the built-in dialects.
    fn default() -> Dialects {
        BUILT_IN.clone()
    }
}

impl Dialects {
    /// Compiles the built-in dialects and `own`.
    ///
    /// # Errors
    /// An error names the record that breaks a rule, or whose name is taken.
    pub fn new(own: impl IntoIterator<Item = Dialect>) -> Result<Dialects, DialectError> {
        let mut records = BUILT_IN.0.records.clone();
        for mut dialect in own {
            check(&mut dialect, &records).map_err(of(&dialect))?;
            let markup = Arc::new(Markup::new(&dialect).map_err(of(&dialect))?);
            let kin = records.iter().find(|other| dialect.kin.as_ref() == Some(&other.name));
            // INVARIANT: there are fewer than 2^16, see MAX_DIALECTS.
            let id = u16::try_from(records.len()).unwrap_or(UNSET);
            let kin = kin.map_or(id, |kin| kin.id);
            records.push(Arc::new(Record::new(id, kin, dialect, Some(markup))));
        }
        Ok(Dialects::compile(records, None))
    }

    /// Returns this set with only the markers of the dialect of this name or alias; `None` if no dialect has it.
    pub fn only(&self, name: &str) -> Option<Dialects> {
        let only = self.record_of(name)?.id;
        Some(Dialects::compile(self.0.records.clone(), Some(only)))
    }

    fn compile(records: Vec<Arc<Record>>, only: Option<u16>) -> Dialects {
        let built_in = || records.iter().filter(|record| record.markup.is_none());
        let dialects = || records.iter().map(|record| &record.dialect);
        let mut signed = Vec::new();
        for (record, sign) in built_in().filter_map(|record| Some((record, record.sign? as usize))) {
            signed.resize(signed.len().max(sign + 1), UNSET);
            signed[sign] = record.id;
        }
        let kin = only.and_then(|only| records.get(usize::from(only))).map(|record| record.kin);
        let openers = built_in().filter(|record| kin.is_none_or(|kin| kin == record.kin));
        let openers = openers.flat_map(|record| record.dialect.openers().map(|open| (&**open, record.id)));
        let closers = built_in().flat_map(|record| record.closers()).map(|close| &**close);
        let is_token = |close: &&str| close.starts_with("<|") || close.ends_with("|>");
        let ends = REASONING.iter().chain(SPEECH).map(|(_, close)| *close).filter(is_token);
        let ends = ends.chain(TURN_ENDS.iter().chain(TURN_HEADS).copied());
        let reasoning = REASONING.iter().map(|(open, close)| (*open, Held::Thought, *close));
        let speech = SPEECH.iter().map(|(open, close)| (*open, Held::Speech, *close));
        let own_blocks = dialects().flat_map(|dialect| &dialect.reasoning);
        let own_blocks = own_blocks.map(|block| (&*block.open, Held::Thought, &*block.close));
        let blocks: Vec<(&str, Held, &str)> = reasoning.chain(speech).chain(own_blocks).collect();
        let mut own = None;
        for record in &records {
            let Some(markup) = &record.markup else { continue };
            let own = own.get_or_insert_with(Own::default);
            if only.is_none_or(|only| only == record.id) {
                own.add(record.id, &record.dialect, markup);
            }
        }
        Dialects(Arc::new(Compiled {
            signed,
            openers: Table::new(openers),
            closers: Table::new(closers.chain(ends).map(|close| (close, ()))),
            block_closers: blocks.iter().map(|(_, _, close)| Arc::from(*close)).collect(),
            blocks: Table::new((0..).zip(blocks).map(|(n, (open, held, _))| (open, (held, n)))),
            first: First::of(dialects()),
            header_tokens: dialects().flat_map(Dialect::header_tokens).collect(),
            heads: OnceLock::new(),
            own,
            only,
            records,
        }))
    }

    /// Returns all dialects, the caller's own last.
    pub fn iter(&self) -> impl Iterator<Item = &Dialect> {
        self.0.records.iter().map(|record| &record.dialect)
    }

    /// Returns the caller's own dialects.
    pub fn own(&self) -> impl Iterator<Item = &Dialect> {
        self.iter().skip(BUILT_IN.0.records.len())
    }

    /// Returns the dialect of this name or alias.
    pub fn get(&self, name: &str) -> Option<&Dialect> {
        self.record_of(name).map(|record| &record.dialect)
    }

    /// Returns the record of this name or alias.
    pub(crate) fn record_of(&self, name: &str) -> Option<&Arc<Record>> {
        self.0.records.iter().find(|record| record.dialect.is_called(name))
    }

    /// Returns the dialect that this model writes: the caller's own with the longest fitting pattern, else the dialect
    /// of the model's family.
    pub fn for_model(&self, model: &str) -> Option<&Dialect> {
        let closeness = |dialect: &&Dialect| {
            dialect.models.iter().filter(|pattern| fits(pattern, model)).map(|pattern| pattern.len()).max()
        };
        let own = self.own().filter(|dialect| closeness(dialect).is_some()).max_by_key(closeness);
        own.or_else(|| self.get(family::dialect_of(model)?))
    }
}

/// The lookups of the scanner.
impl Dialects {
    /// Returns the built-in dialect of this sign.
    pub(crate) fn of_sign(&self, sign: Sign) -> &Arc<Record> {
        self.record(self.0.signed[sign as usize])
    }

    /// Returns the record at a place.
    pub(crate) fn record(&self, id: u16) -> &Arc<Record> {
        &self.0.records[usize::from(id)]
    }

    /// Returns whether only one dialect counts.
    pub(crate) fn is_pinned(&self) -> bool {
        self.0.only.is_some()
    }

    /// Returns whether a call of this dialect may count.
    pub(crate) fn admits(&self, record: &Record) -> bool {
        self.0.only.is_none_or(|only| record.kin == self.record(only).kin)
    }

    /// Returns the longest opener of a built-in dialect at `at`: its record, and its length without the name in it.
    pub(crate) fn opener_at(&self, text: &str, at: usize) -> Option<(&Arc<Record>, usize)> {
        let (len, id) = self.0.openers.longest(text.as_bytes().get(at..)?)?;
        Some((self.record(id), len))
    }

    /// Returns the first dialect with distinct marks whose opener begins with `start`.
    pub(crate) fn begun(&self, start: &str) -> Option<&Arc<Record>> {
        let begins = |dialect: &Dialect| dialect.openers().any(|open| open.starts_with(start));
        let mut distinct = self.0.records.iter().filter(|record| record.anchor == Anchor::Distinct);
        distinct.find(|record| begins(&record.dialect))
    }

    /// Returns the built-in dialects whose strings have a mark of their own.
    pub(crate) fn relaxed(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.0.records.iter().filter(|record| record.arguments == Grammar::Relaxed && record.markup.is_none())
    }

    /// Returns the record, and behind it the records that share its markers.
    pub(crate) fn kin_of<'a>(&'a self, record: &'a Arc<Record>) -> impl Iterator<Item = &'a Arc<Record>> {
        let others = self.0.records.iter().filter(|other| other.kin == record.kin && other.id != record.id);
        iter::once(record).chain(others)
    }

    /// Returns the dialect whose calls begin with a tag like `<invoke name="f">`: the first one `around` it, else the
    /// first built-in one.
    pub(crate) fn of_call_tag<'a>(
        &'a self,
        tag: &str,
        around: impl Iterator<Item = &'a Arc<Record>>,
    ) -> Option<&'a Arc<Record>> {
        let tag = solid(tag);
        let built_in = self.0.records.iter().filter(|record| record.markup.is_none());
        around.chain(built_in).find(|record| record.opens_call(&tag))
    }

    /// Returns the dialect whose arguments begin with this tag: `inside`, if it does, else the first one.
    pub(crate) fn of_argument_tag<'a>(
        &'a self,
        tag: &str,
        inside: Option<&'a Arc<Record>>,
    ) -> Option<&'a Arc<Record>> {
        let mut records = inside.into_iter().chain(&self.0.records);
        let tag = solid(tag);
        records.find(|record| record.opens_argument(&tag))
    }

    /// Returns the beginnings of calls in marks, in order, each with the place of its dialect.
    pub(crate) fn heads(&self) -> &[(Vec<char>, u16)] {
        &self.marked().all
    }

    /// Returns the beginnings without a sign in front.
    pub(crate) fn signless_heads(&self) -> &[Vec<char>] {
        &self.marked().signless
    }

    /// Returns whether these letters follow the sign of a beginning, or begin letters that do.
    pub(crate) fn may_follow_sign(&self, letters: &[char]) -> bool {
        let letters = letters.get(..BEHIND_SIGN).unwrap_or(letters);
        let all = &self.marked().behind_sign;
        let nearest = all.partition_point(|behind| behind.as_slice() < letters);
        all.get(nearest).is_some_and(|behind| behind.starts_with(letters))
    }

    /// Returns the beginnings of calls, compiled on first use: a call in whole marks needs none.
    fn marked(&self) -> &Heads {
        self.0.heads.get_or_init(|| {
            let of = |record: &Arc<Record>| {
                let forms = record.form().into_iter().flat_map(Form::heads);
                let heads = forms.chain(record.frames().iter().flat_map(Frame::heads));
                heads.map(|head| (head, record.id)).collect::<Vec<_>>()
            };
            let mut all: Vec<(Vec<char>, u16)> = self.0.records.iter().flat_map(of).collect();
            all.sort();
            let heads = all.iter().map(|(head, _)| head.clone());
            let (signed, signless): (Vec<_>, Vec<_>) =
                heads.partition(|head| head.first().copied().is_some_and(is_sign));
            let behind_sign = signed.iter().filter_map(|head| head.get(1..)?.first_chunk().copied());
            let mut behind_sign: Vec<[char; BEHIND_SIGN]> = behind_sign.collect();
            behind_sign.sort_unstable();
            Heads { all, signless, behind_sign }
        })
    }

    /// Returns all records.
    pub(crate) fn records(&self) -> &[Arc<Record>] {
        &self.0.records
    }

    /// Returns whether more text could make `text[at..]` an opener, or a longer one.
    pub(crate) fn may_grow_into_opener(&self, text: &str, at: usize) -> bool {
        self.0.openers.may_grow(text.as_bytes().get(at..).unwrap_or(&[]))
    }

    /// Returns whether an opener of a built-in dialect begins at `at`. At the `end`, no more text will come.
    pub(crate) fn begins_opener(&self, text: &str, at: usize, end: bool) -> Result<bool, Incomplete> {
        match self.opener_at(text, at) {
            None if !end && self.may_grow_into_opener(text, at) => Err(Incomplete),
            opener => Ok(opener.is_some()),
        }
    }

    /// Returns the length of the longest closing mark at the start of `bytes`: of a built-in dialect, a turn or a
    /// block.
    pub(crate) fn closer(&self, bytes: &[u8]) -> Seen<usize> {
        match self.0.closers.longest(bytes) {
            Some((len, ())) => Ok(Some(len)),
            None if self.0.closers.may_grow(bytes) => Err(Incomplete),
            None => Ok(None),
        }
    }

    /// Returns the block that begins with `bytes`: the length of its opener, the kind of its text, its closer.
    pub(crate) fn block(&self, bytes: &[u8]) -> Option<(usize, Held, &Arc<str>)> {
        let (len, (held, close)) = self.0.blocks.longest(bytes)?;
        Some((len, held, &self.0.block_closers[usize::from(close)]))
    }

    /// Returns whether more text could make `bytes` the opener of a block.
    pub(crate) fn may_grow_into_block(&self, bytes: &[u8]) -> bool {
        self.0.blocks.may_grow(bytes)
    }

    /// Returns the closer of a block of reasoning that the prompt opened.
    pub(crate) fn reasoning_closer(&self) -> Arc<str> {
        let only = self.0.only.map(|only| &self.record(only).dialect);
        let own = only.and_then(|dialect| dialect.reasoning.first());
        own.map_or(ANY_CLOSER, |block| &block.close).into()
    }

    /// Returns the words at which anything but prose may begin.
    pub(crate) fn first(&self) -> &First {
        &self.0.first
    }

    /// Returns whether a token with this word stands between a name and its arguments: `<|message|>`, `<｜tool▁sep｜>`.
    pub(crate) fn is_header_token(&self, word: &str) -> bool {
        self.0.header_tokens.iter().any(|token| fit(word.as_bytes(), token) == Ok(Some(word.len())))
    }

    /// Returns the markers of the caller's own dialects, if there are any.
    pub(crate) fn markers(&self) -> Option<&Own> {
        self.0.own.as_ref()
    }
}

/// Returns whether most marks begin with a sign like this.
pub(crate) fn is_sign(letter: char) -> bool {
    matches!(letter, '<' | '[' | '|' | '｜')
}

/// Adds the name of the dialect to a broken rule.
fn of(dialect: &Dialect) -> impl Fn((&'static str, DialectProblem)) -> DialectError {
    let dialect = dialect.name.to_string();
    move |(member, problem)| DialectError { dialect: dialect.clone(), member, problem }
}

impl Dialect {
    /// Returns the openers of a section of its calls, and those of one call.
    pub(super) fn openers(&self) -> impl Iterator<Item = &Text> {
        self.section.open.iter().chain(&self.call.open)
    }

    /// Returns the words of the tokens between the name and the arguments of its calls.
    fn header_tokens(&self) -> Vec<String> {
        let written = self.written();
        let header = written.behind_name().replace('｜', "|").replace('▁', "_");
        let tokens = header.split("<|").skip(1);
        tokens.filter_map(|token| token.split_once("|>")).map(|(word, _)| word.to_owned()).collect()
    }

    /// Returns whether this is its name, or one of its aliases.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opener_is_found_and_may_be_waited_for() {
        let dialects = Dialects::default();
        for dialect in dialects.iter() {
            for open in dialect.openers() {
                let found = dialects.opener_at(open, 0).map(|(_, len)| len);
                assert_eq!(found, Some(open.len()), "{open}");
                for cut in 1..open.len() {
                    assert!(dialects.may_grow_into_opener(&open[..cut], 0), "{}", &open[..cut]);
                }
            }
        }
        assert!(dialects.opener_at("<div>", 0).is_none());
        assert!(!dialects.may_grow_into_opener("<div", 0) && !dialects.may_grow_into_opener("<p", 0));
    }

    #[test]
    fn every_sign_is_a_dialect_s() {
        let Dialects(compiled) = Dialects::default();
        assert!(!compiled.signed.contains(&UNSET) && compiled.signed.len() == 1 + Sign::Separator as usize);
    }
}

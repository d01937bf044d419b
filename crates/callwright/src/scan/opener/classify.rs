//! Determines the dialect of a call where markers alone do not tell: by the tags, by the text between the markers, by
//! the look of the payload.

use std::sync::Arc;

use super::{Item, Lead, Sort};
use crate::dialect::{Grammar, NameAt, Record, Sign};
use crate::grammar::fold::solid;
use crate::syntax::Incomplete;
use crate::syntax::tag::{Role, Tag};

impl<'a> Lead<'a, '_> {
    /// Returns the dialect of a call whose payload is `item`.
    pub(super) fn told(&self, item: Item) -> Result<&'a Arc<Record>, Incomplete> {
        let Some(record) = self.record else {
            // `functions.f({"a": "x"})`
            if item.sort == Sort::Call && self.delimiters.is_empty() {
                match self.peek(self.skip_space(item.at + 1)) {
                    Ok(b'{') => return Ok(self.of_sign(Sign::CallOfValue)),
                    Err(Incomplete) if !self.place.end => return Err(Incomplete),
                    _ => {}
                }
            }
            return Ok(self.plain_record(item));
        };
        let writes = |record: &&Arc<Record>| match item.sort {
            // The dialect of `<|python_tag|>f.call(a=1)` does not write `f(a=1)`.
            Sort::Call if item.name.is_some_and(|name| name.end as usize == item.at) => {
                record.arguments == Grammar::Calls && record.writes("{name}(")
            }
            Sort::Call => record.arguments == Grammar::Calls,
            Sort::Named => record.arguments == Grammar::Json && record.name_at != NameAt::Payload,
            _ => true,
        };
        let mut kin = self.place.dialects.kin_of(record).filter(writes);
        let first = kin.next().unwrap_or(record);
        let is_in_fence = item.sort == Sort::Named && self.in_own_fence();
        Ok(kin.find(|record| is_in_fence && record.writes("```")).unwrap_or(first))
    }

    /// Returns the dialect that this sign identifies.
    pub(super) fn of_sign(&self, sign: Sign) -> &'a Arc<Record> {
        self.place.dialects.of_sign(sign)
    }

    /// Returns the dialect of a payload that no marker announces.
    fn plain_record(&self, item: Item) -> &'a Arc<Record> {
        self.of_sign(match item.sort {
            Sort::Call => Sign::Call,
            Sort::Value if self.in_own_fence() => Sign::FencedValue,
            _ if item.name.is_none() => Sign::Value,
            _ => Sign::Name,
        })
    }

    /// Returns the dialect of a call that `tag` opens.
    pub(super) fn call_record(&self, tag: &Tag) -> &'a Arc<Record> {
        // The next call in a section has the dialect of the first one.
        let around = self.record.into_iter().chain(self.place.inside);
        let whole = tag.at.of(self.text);
        let known = self.place.dialects.of_call_tag(whole, around.clone());
        // A letter of its tag may be wrong.
        let mut near =
            around.filter(|record| record.arguments.is_tagged() && record.name_at == NameAt::Opener);
        known.or_else(|| near.next()).unwrap_or_else(|| self.of_sign(Sign::CallTag))
    }

    /// Returns the dialect of arguments that `tag` begins.
    pub(super) fn tagged_record(&self, tag: &Tag) -> &'a Arc<Record> {
        let whole = tag.at.of(self.text);
        let is_key_tag = |record: &Record| record.sign == Some(Sign::KeyTag);
        let record = self.record.filter(|record| record.arguments.is_tagged() && !is_key_tag(record));
        let folded = solid(whole);
        let mut known = record.into_iter().chain([self.of_sign(Sign::ArgumentTag)]);
        if let Some(record) = known.find(|record| record.opens_argument(&folded)) {
            return record;
        }
        let of_tag = || self.place.dialects.of_argument_tag(whole, None);
        match tag.role {
            Role::Separator => self.of_sign(Sign::Separator),
            Role::Param => of_tag().or(record).unwrap_or_else(|| self.of_sign(Sign::ArgumentTag)),
            Role::Other if let Some(record) = record.filter(|of| of.arguments == Grammar::Elements) => record,
            Role::Other => self.of_sign(Sign::ToolElement),
            _ if let Some(record) = record => record,
            _ if self.record.is_some_and(|record| record.name_at == NameAt::Opener) => {
                self.of_sign(Sign::ArgumentTag)
            }
            _ => {
                let known = self.of_sign(self.key_sign(tag.at.start as usize));
                if known.opens_argument(&folded) { known } else { of_tag().unwrap_or(known) }
            }
        }
    }

    /// Returns the sign of the dialect of a name and the tag at `at`. Only a line break between name and tag tells one
    /// such dialect from the other.
    fn key_sign(&self, at: usize) -> Sign {
        let before = self.text.get(..at).unwrap_or("");
        let breaks = before.ends_with(|c: char| c.is_ascii_whitespace()) || before.ends_with("\\n");
        if breaks { Sign::KeyTag } else { Sign::NearKeyTag }
    }
}

//! Which dialect it is, where markers alone do not tell: by the tags, by what stands between the markers, by the look of
//! the payload.

use std::sync::Arc;

use super::{Item, OpenerParser};
use crate::dialect::{Grammar, Known, NameAt, Record};
use crate::syntax::tag::{Role, Tag};
use crate::syntax::{self, Incomplete};

impl<'a> OpenerParser<'a, '_> {
    /// The dialect of a call whose payload is `item`.
    pub(super) fn told(&self, item: Item) -> Result<&'a Arc<Record>, Incomplete> {
        let Some(record) = self.record else {
            // `functions.f({"a": "x"})`
            if let Item::Call { at, .. } = item
                && self.delimiters.is_empty()
            {
                match self.peek(self.skip_space(at + 1)) {
                    Ok(b'{') => return Ok(self.known(Known::CallDotJson)),
                    Err(Incomplete) if !self.place.end => return Err(Incomplete),
                    _ => {}
                }
            }
            return Ok(self.plain_record(item));
        };
        match item {
            Item::Named { .. } if self.is(Known::DeepseekV31) && self.in_own_fence() => {
                return Ok(self.known(Known::DeepseekV3));
            }
            // Those of the tools that it was trained on are `<|python_tag|>f.call(a=1)`.
            Item::Call { name, at } if self.is(Known::Llama3Json) && name.end as usize == at => {
                return Ok(record);
            }
            _ => {}
        }
        let writes = |record: &&Arc<Record>| match item {
            Item::Call { .. } | Item::Listed { .. } => record.grammar == Grammar::Calls,
            Item::Named { .. } => record.grammar == Grammar::Json && record.name_at != NameAt::Payload,
            _ => true,
        };
        Ok(self.place.dialects.kin_of(record).find(writes).unwrap_or(record))
    }

    /// Whether this is the dialect, as far as the markers tell.
    pub(super) fn is(&self, known: Known) -> bool {
        self.record.is_some_and(|record| self.place.dialects.is(record, known))
    }

    /// The record of a built-in dialect.
    pub(super) fn known(&self, known: Known) -> &'a Arc<Record> {
        self.place.dialects.known(known)
    }

    /// The dialect of a payload that no marker announces.
    fn plain_record(&self, item: Item) -> &'a Arc<Record> {
        self.known(match item {
            Item::Named { .. }
            | Item::Tagged { .. }
            | Item::Relaxed { .. }
            | Item::Plain { .. }
            | Item::Words { .. } => Known::NameLine,
            Item::Call { .. } | Item::Listed { .. } => Known::Pythonic,
            Item::Value { .. } if self.in_own_fence() => Known::JsonFence,
            Item::Value { .. } | Item::Block { .. } => Known::JsonBare,
        })
    }

    /// The dialect of a call that such a tag opens.
    pub(super) fn call_record(&self, tag: &Tag) -> &'a Arc<Record> {
        let whole = tag.at.of(self.text);
        let is_function = syntax::starts_with_any_case(whole.as_bytes(), b"<function=");
        // Under `<function=f>` values have lines of their own, whatever stands around it.
        let is_own = |record: &&Arc<Record>| {
            record.grammar.is_tagged() && !(is_function && record.name_at == NameAt::Header)
        };
        // The next call in a section is of the first one's dialect, unless that has marks of the caller's own.
        let inside = self.place.inside.filter(|record| record.markup.is_none());
        if let Some(record) = self.record.or(inside).filter(is_own) {
            return record;
        }
        self.place.dialects.of_call_tag(whole).unwrap_or_else(|| self.known(Known::AnthropicXml))
    }

    /// The dialect of arguments that such a tag begins.
    pub(super) fn tagged_record(&self, tag: &Tag) -> &'a Arc<Record> {
        match self.record {
            Some(record) if record.grammar.is_tagged() && !self.is(Known::Glm45) => record,
            Some(_) if self.is(Known::FunctionaryV31) => self.known(Known::Qwen3Coder),
            _ => self.known(match tag.role {
                Role::Separator => Known::HyV3,
                _ => self.glm(tag.at.start as usize),
            }),
        }
    }

    /// Which of two dialects a name and the tag at `at` are: only the line break between them tells.
    pub(super) fn glm(&self, at: usize) -> Known {
        let before = self.text.get(..at).unwrap_or("");
        let breaks = before.ends_with(|c: char| c.is_ascii_whitespace()) || before.ends_with("\\n");
        if breaks { Known::Glm45 } else { Known::Glm47 }
    }
}

//! The markers of the caller's own dialects: `[[call f]]{…}[[/call]]`.

use std::sync::Arc;

use callwright_json::Span;

use super::{Delimiter, Header, Lead, Sort, Step};
use crate::dialect::{Anchor, NameAt};
use crate::grammar::fold::mark_at;
use crate::payload::tagged::{Tags, View};
use crate::syntax::marks::first_of;
use crate::syntax::{Seen, at_end};

impl<'a> Lead<'a, '_> {
    /// Steps over a marker that begins here, or returns the arguments that begin behind one.
    pub(super) fn declared(&self) -> Seen<Step<'a>> {
        let (at, end) = (self.at, self.place.end);
        let Some(own) = self.place.dialects.markers() else { return Ok(None) };
        if let Some(step) = self.declared_arguments()? {
            return Ok(Some(step));
        }
        if !own.begins_with(self.peek(at)?) {
            return Ok(None);
        }
        let Some((record, found)) = at_end(own.opener(self.text, at, end), end)? else { return Ok(None) };
        let record = self.place.dialects.record(record);
        if record.anchor == Anchor::Weak && !self.free() {
            return Ok(None);
        }
        let header = match (found.name, record.name_at) {
            (Some(name), _) => Some(Header::Named(name, true)),
            (None, NameAt::Header) if self.name().is_none() => Some(Header::Begun),
            (None, _) => None,
        };
        Ok(Some(Step { header, ..Step::over(found.end, Delimiter::Tag).of(record) }))
    }

    /// Returns the arguments in tags that begin here, or the end of a call without arguments. Arguments may also begin
    /// where no tool was named.
    fn declared_arguments(&self) -> Seen<Step<'a>> {
        let Some(record) = self.record.filter(|record| record.markup.is_some()) else { return Ok(None) };
        let (at, end) = (self.at, self.place.end);
        if let Some(name) = self.name() {
            let rest = self.text.get(at..).unwrap_or("");
            let closers = record.closers().map(|close| mark_at(rest, close, ""));
            if at_end(first_of(closers), end)?.is_some() {
                return Ok(Some(Step::to(Sort::Over.of(name, at))));
            }
        }
        let name = self.name().unwrap_or(Span::at(at));
        let written = name.of(self.text);
        let view = View { text: self.text, name: written, tool: self.place.names.resolve(written), end };
        let begins = Tags::new(at, Arc::clone(record), "").begins(view)?;
        Ok(begins.then(|| Step::to(Sort::Tagged.of(name, at))))
    }
}

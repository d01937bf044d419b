//! The markers of the caller's own dialects: `[[call f]]{…}[[/call]]`.

use callwright_json::Span;

use super::tag::Header;
use super::{Delimiter, Item, OpenerParser, Step};
use crate::dialect::{Anchor, Grammar, NameAt};
use crate::payload::tagged::Style;
use crate::syntax::tag::{Role, Tag};
use crate::syntax::{Seen, at_end};

impl OpenerParser<'_, '_> {
    /// The step where one of them stands, or where the arguments begin behind one.
    pub(super) fn declared(&mut self, byte: u8) -> Seen<Step> {
        let Some(own) = self.place.dialects.markers() else { return Ok(None) };
        if let Some(step) = self.declared_arguments()? {
            return Ok(Some(step));
        }
        if !own.begins_with(byte) {
            return Ok(None);
        }
        let end = self.place.end;
        let Some((record, found)) = at_end(own.opener(self.text, self.at, end), end)? else {
            return Ok(None);
        };
        let record = self.place.dialects.record(record);
        if record.anchor == Anchor::Weak && !self.free() {
            return Ok(None);
        }
        self.record = Some(record);
        match (found.name, record.name_at) {
            (Some(name), _) => self.header = Header::Named(name, true),
            (None, NameAt::Header) if self.name().is_none() => self.header = Header::Begun,
            (None, _) => {}
        }
        Ok(Some(self.over(found.end, Delimiter::Tag)))
    }

    /// Arguments in tags, or the end of a call without any, behind its name; an argument also where no tool was named.
    fn declared_arguments(&self) -> Seen<Step> {
        let Some(record) = self.record else { return Ok(None) };
        let Some(markup) = &record.markup else { return Ok(None) };
        let (at, end) = (self.at, self.place.end);
        let style = match record.arguments {
            Grammar::Elements => Style::of(false, false),
            Grammar::Json | Grammar::Calls | Grammar::Tags | Grammar::Relaxed => Style::Words,
        };
        let begins = |tag: &Tag| match tag.role {
            Role::Param | Role::Key => !tag.closing,
            _ if self.name().is_none() => false,
            Role::Call | Role::Group => tag.closing,
            Role::Separator => !tag.closing,
            Role::Other => !tag.closing && record.arguments == Grammar::Elements,
            Role::Value | Role::Token => false,
        };
        let tag = at_end(markup.tag_at(self.text, at, end), end)?.filter(begins);
        let name = self.name().unwrap_or(Span::at(at));
        Ok(tag.map(|_| Step::Item(Item::Tagged { name, at, style })))
    }
}

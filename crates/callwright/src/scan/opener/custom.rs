//! The markers of the caller's own dialects: `[[call f]]{…}[[/call]]`.

use super::tag::Header;
use super::{Delimiter, Item, OpenerParser, Step};
use crate::dialect::own::{Opened, Stands};
use crate::dialect::{Anchor, Grammar, NameAt};
use crate::payload::tagged::Style;
use crate::scan::judge::body::style_of;
use crate::syntax::tag::{Lexed, Role};

impl OpenerParser<'_, '_> {
    /// The step where one of them stands, or where the arguments begin behind one.
    pub(super) fn declared(&mut self, byte: u8) -> Option<Step> {
        let own = self.place.dialects.markers()?;
        if let Some(step) = self.declared_arguments() {
            return Some(step);
        }
        if !own.begins_with(byte) {
            return None;
        }
        let Opened { record, found } = match own.opener(self.text, self.at, self.place.end) {
            Stands::Is(opened) => opened,
            Stands::Grows => return (!self.place.end).then_some(Step::Wait),
            Stands::No => return None,
        };
        let record = self.place.dialects.record(record);
        if record.anchor == Anchor::Weak && !self.free() {
            return None;
        }
        self.record = Some(record);
        match (found.name, record.name_at) {
            (Some(name), _) => self.header = Header::Named(name, true),
            (None, NameAt::Header) if self.name().is_none() => self.header = Header::Begun,
            (None, _) => {}
        }
        Some(self.over(found.end, Delimiter::Tag))
    }

    /// Arguments in tags, or the end of a call without any, behind its name.
    fn declared_arguments(&self) -> Option<Step> {
        let (name, record) = (self.name()?, self.record?);
        let markup = record.markup.as_ref()?;
        let at = self.at;
        let style = match record.grammar {
            Grammar::Elements => style_of(false, false),
            Grammar::Json | Grammar::Calls | Grammar::Tags | Grammar::Relaxed => Style::Words,
        };
        match markup.tag_at(self.text, at, self.place.end) {
            Lexed::Tag(tag) => {
                let begins = match tag.role {
                    Role::Call | Role::Group => tag.closing,
                    Role::Param | Role::Key | Role::Separator => !tag.closing,
                    Role::Other => !tag.closing && record.grammar == Grammar::Elements,
                    Role::Type | Role::Value | Role::Token => false,
                };
                begins.then_some(Step::Item(Item::Tagged { name, at, style }))
            }
            Lexed::Grows => (!self.place.end).then_some(Step::Wait),
            Lexed::No => None,
        }
    }
}

//! The demands of keywords that hold no schemas, and the price of checking them.

use callwright_json::{Kind, Kinds, Value as View};

use super::super::fits::{bits, has_type, keeps};
use super::super::guide::Rule;
use super::evaluate::Check;
use super::program::Keyword;

/// Number of members that one unit pays for: the length tells most names apart.
const NAMES: usize = 8;

impl Check<'_, '_> {
    pub(super) fn has_member(&mut self, value: u32, name: &str) -> Option<bool> {
        self.fuel.take(1 + self.values.inside(value).len() / NAMES)?;
        Some(self.values.inside(value).any(|member| self.values.get(member).key == name))
    }

    /// Returns whether the value keeps a keyword that holds no schemas.
    pub(super) fn is_kept(&mut self, keyword: &Keyword, value: u32) -> Option<bool> {
        let view = self.values.get(value).value;
        Some(match keyword {
            Keyword::Never => false,
            Keyword::Type { kinds, is_spelt } => {
                let is_integer = || !view.raw().contains(['.', 'e', 'E']);
                let only_integers = view.kind() == Kind::Number && *is_spelt && !kinds.has(Kinds::NUMBER);
                has_type(view, *kinds) && (!only_integers || is_integer())
            }
            Keyword::Rule { about, rule, .. } if about.meets(bits(view.kind())) => {
                self.fuel.take(price(rule, view))?;
                keeps(view, rule)
            }
            Keyword::Required(names) if view.kind() == Kind::Object => {
                let mut has_all = true;
                for name in names {
                    has_all = has_all && self.has_member(value, name)?;
                }
                has_all
            }
            Keyword::DependentRequired(lists) if view.kind() == Kind::Object => {
                let mut has_all = true;
                for (name, names) in lists {
                    if has_all && self.has_member(value, name)? {
                        for name in names {
                            has_all = has_all && self.has_member(value, name)?;
                        }
                    }
                }
                has_all
            }
            Keyword::Pattern(pattern) => match view.as_str() {
                Some(text) => self.program.patterns.occurs(*pattern, &text, &mut self.fuel)?,
                None => true,
            },
            _ => true,
        })
    }
}

/// Returns the price of checking `value` against `rule`.
fn price(rule: &Rule, value: View<'_>) -> usize {
    match rule {
        // The check brings the value into one spelling, level by level, and compares it with each.
        Rule::OneOf { canonical, .. } => 2 + canonical.len() / 2 + value.raw().len(),
        Rule::UniqueItems => 4 + 2 * value.raw().len(),
        Rule::MultipleOf(divisor) => 32 + 4 * (value.raw().len() + divisor.len()),
        Rule::Bound(_, bound) => 2 + (value.raw().len() + bound.len()) / 2,
        Rule::Size(..) => 2 + value.raw().len() / 8,
    }
}

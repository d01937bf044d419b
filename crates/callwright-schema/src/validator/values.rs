//! The values of one text, each under a number, with their members and elements at hand.

use std::borrow::Cow;

use callwright_json::Value as View;

/// The values inside one value, itself first.
pub(super) struct Values<'v>(Vec<Item<'v>>);

/// One value.
pub(super) struct Item<'v> {
    pub(super) value: View<'v>,
    /// Its key in the object around it, escapes resolved.
    pub(super) key: Cow<'v, str>,
    first: u32,
    len: u32,
    /// The number of the first key of an object, if keys are values themselves.
    first_key: u32,
}

impl<'v> Values<'v> {
    /// Collects all values in `root`; `has_keys` says whether keys are needed as values.
    pub(super) fn new(root: View<'v>, has_keys: bool) -> Values<'v> {
        let item = |value, key| Item { value, key, first: 0, len: 0, first_key: 0 };
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        // Most calls have no more values.
        let mut items = Vec::with_capacity(16);
        items.push(item(root, Cow::Borrowed("")));
        let mut at = 0;
        while let Some(Item { value, .. }) = items.get(at) {
            let (value, first) = (*value, items.len());
            items.extend(value.elements().map(|element| item(element, Cow::Borrowed(""))));
            items.extend(value.members().map(|(key, member)| item(member, key.as_str().unwrap_or_default())));
            let first_key = items.len();
            if has_keys {
                items.extend(value.members().map(|(key, _)| item(key, Cow::Borrowed(""))));
            }
            if let Some(own) = items.get_mut(at) {
                *own = Item {
                    first: number(first),
                    len: number(first_key - first),
                    first_key: number(first_key),
                    ..item(own.value, std::mem::take(&mut own.key))
                };
            }
            at += 1;
        }
        Values(items)
    }

    /// Returns the value of this number.
    pub(super) fn get(&self, value: u32) -> &Item<'v> {
        // Numbers come only from here.
        &self.0[value as usize]
    }

    /// Returns the numbers of its members or elements.
    pub(super) fn inside(&self, value: u32) -> std::ops::Range<u32> {
        let item = self.get(value);
        item.first..item.first + item.len
    }

    /// Returns the numbers of its keys.
    pub(super) fn keys(&self, value: u32) -> std::ops::Range<u32> {
        let item = self.get(value);
        item.first_key..item.first_key + item.len
    }
}

//! Objects and lists as nested elements: `<name>Ann</name><tags><item>x</item></tags>`.
//!
//! Only the schema tells objects, lists and texts apart; without it, elements of one name are a list.

use callwright_json::{Fuel, Guide, Kinds, Place};
use indexmap::IndexMap;

use super::value::{self, json_of as value_of, place_of};
use crate::syntax::tag::tag_at;
use crate::syntax::{Trim, Typing};

/// Most levels of elements.
const MAX_LEVELS: usize = 64;

/// An element that is not closed yet.
struct Frame {
    word: String,
    place: Option<Place>,
    /// The place where its content begins.
    from: usize,
    /// The place behind its last element, or where its content begins.
    behind: usize,
    /// The elements in it so far, with their JSON.
    children: Vec<(String, String)>,
}

/// Returns the JSON of the elements in `text`, for a value at `place`; `None` if it holds anything else.
pub(crate) fn json_of(
    text: &str,
    guide: &dyn Guide,
    place: Option<Place>,
    fuel: Option<&Fuel>,
) -> Option<String> {
    let mut open = vec![Frame { word: String::new(), place, from: 0, behind: 0, children: Vec::new() }];
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let Some(found) = rest.find(['<', ']']) else { break };
        let start = at + found;
        let Ok(Some(tag)) = tag_at(text, start) else {
            at = start + 1;
            continue;
        };
        let word = tag.word.of(text);
        let end = tag.at.end as usize;
        let top = open.last()?;
        let is_own = word.eq_ignore_ascii_case(&top.word);
        if tag.closing && is_own {
            if !top.children.is_empty() && !is_blank(text, top.behind, start) {
                return None;
            }
            let json = top.json(text.get(top.from..start)?, guide, fuel)?;
            let closed = open.pop()?;
            let outer = open.last_mut()?;
            outer.children.push((closed.word, json));
            outer.behind = end;
        } else if !tag.closing && !top.is_text(guide) && tag.key.is_none() {
            // Text between elements belongs to no element, and would be lost.
            if open.len() == MAX_LEVELS || !is_blank(text, top.behind, start) {
                return None;
            }
            let place = top.place_of(word, guide);
            open.push(Frame { word: word.to_owned(), place, from: end, behind: end, children: Vec::new() });
        } else if is_own || tag.closing && !top.is_text(guide) {
            // `<item>p<item>q</item>`: either of the two could end there.
            return None;
        }
        at = end;
    }
    let root = open.pop()?;
    if root.children.is_empty() || !open.is_empty() {
        return None;
    }
    if is_blank(text, root.behind, text.len()) { root.json(text, guide, fuel) } else { None }
}

fn is_blank(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_some_and(|piece| piece.trim().is_empty())
}

impl Frame {
    /// Returns whether only text may stand here, whatever it looks like.
    fn is_text(&self, guide: &dyn Guide) -> bool {
        self.place.is_some_and(|place| !guide.kinds(place).meets(Kinds::OBJECT.or(Kinds::ARRAY)))
    }

    /// Returns whether the element is a list.
    fn is_list(&self, guide: &dyn Guide) -> bool {
        let kinds = self.place.map_or(Kinds::ANY, |place| guide.kinds(place));
        let same = self.children.windows(2).all(|pair| pair[0].0 == pair[1].0);
        let named =
            self.children.first().is_some_and(|(word, _)| matches!(word.as_str(), "item" | "element"));
        match (kinds.meets(Kinds::ARRAY), kinds.meets(Kinds::OBJECT)) {
            (true, true) => same && (named || 1 < self.children.len()),
            (is_list, _) => is_list,
        }
    }

    /// Returns the place of an element of this name in it.
    fn place_of(&self, word: &str, guide: &dyn Guide) -> Option<Place> {
        let place = self.place?;
        let kinds = guide.kinds(place);
        if kinds.meets(Kinds::OBJECT) {
            let member = place_of(guide, place, word)?;
            let kinds = guide.kinds(member);
            // `<tag>a</tag><tag>b</tag>` for a list `tag`.
            let is_repeated = self.children.last().is_some_and(|(last, _)| last == word);
            let is_list = kinds.meets(Kinds::ARRAY) && !kinds.meets(Kinds::OBJECT);
            return Some(if is_repeated && is_list { guide.element(member, 0) } else { member });
        }
        Some(guide.element(place, self.children.len()))
    }

    fn json(&self, content: &str, guide: &dyn Guide, fuel: Option<&Fuel>) -> Option<String> {
        if self.children.is_empty() {
            let content = value::content(content, Trim::OwnLines, None);
            return Some(value_of(&content, Typing::Schema, guide, self.place, fuel));
        }
        if self.is_list(guide) {
            return Some(value::list_of(self.children.iter().map(|(_, child)| child)));
        }
        let mut members: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for (word, child) in &self.children {
            members.entry(word).or_default().push(child);
        }
        let members = members.into_iter().map(|(word, values)| match values.as_slice() {
            [only] => (word, (*only).to_owned()),
            several => (word, value::list_of(several.iter())),
        });
        Some(value::object_of(members))
    }
}

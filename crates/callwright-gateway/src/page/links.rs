//! Addresses of pages: everything that a page shows stands in its query, so that each view can be kept and sent on.

use callwright_store::{Column, Filter, Order};

use crate::query::{Query, begins_descending};

/// The sessions of a list: the filter, the order, and the place from where on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) filter: Filter,
    pub(crate) order: Order,
    /// The place where a page of the list begins; `None` at the first one.
    pub(crate) after: Option<String>,
}

/// The words that a user types before a name in the search field, each with what it chooses by.
pub(crate) const QUALIFIERS: [&str; 5] = ["model", "mode", "dialect", "surface", "error"];

impl Listing {
    /// Reads an address. Words like `model:qwen` in the text choose as the parameter of that name does.
    pub(crate) fn of(query: &Query) -> Listing {
        let mut filter = query.filter();
        let text = filter.text.take().unwrap_or_default();
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let qualified =
                word.split_once(':').filter(|(name, value)| QUALIFIERS.contains(name) && !value.is_empty());
            match qualified {
                Some((name, value)) => set(&mut filter, name, Some(value.to_owned())),
                None => words.push(word),
            }
        }
        filter.text = (!words.is_empty()).then(|| words.join(" "));
        Listing { filter, order: query.order(), after: query.get("after") }
    }

    /// As parameters.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, &str)> {
        let members = self.filter.members().into_iter().chain([("after", &self.after)]);
        let mut pairs: Vec<(&str, &str)> =
            members.filter_map(|(name, value)| Some((name, value.as_deref()?))).collect();
        let Order { column, is_descending } = self.order;
        if column != Column::default() {
            pairs.push(("sort", column.name()));
        }
        if is_descending != begins_descending(column) {
            pairs.push(("way", if is_descending { "down" } else { "up" }));
        }
        pairs
    }

    /// The address of the list.
    pub(crate) fn href(&self) -> String {
        href("/sessions", &self.pairs())
    }

    /// The list of what another filter chooses, from its beginning.
    pub(crate) fn choosing(&self, filter: Filter) -> Listing {
        Listing { filter, order: self.order, after: None }
    }

    /// The list in the order of a column: in the other direction where it is that already.
    pub(crate) fn by(&self, column: Column) -> Listing {
        let is_descending = match self.order {
            order if order.column == column => !order.is_descending,
            _ => begins_descending(column),
        };
        Listing { filter: self.filter.clone(), order: Order { column, is_descending }, after: None }
    }
}

/// Sets the member of this name.
pub(crate) fn set(filter: &mut Filter, name: &str, value: Option<String>) {
    if let Some((_, place)) = filter.members_mut().into_iter().find(|(member, _)| *member == name) {
        *place = value;
    }
}

/// `("/session", [("id", "a b")])` → `/session?id=a+b`; what is empty is left out.
pub(crate) fn href(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// A session, or a node of it, beside the list that it was chosen from.
pub(crate) fn session(listing: &Listing, id: &str, more: &[(&str, &str)]) -> String {
    let mut query = vec![("id", id)];
    query.extend(more);
    query.extend(listing.pairs());
    href("/session", &query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_leads_elsewhere() {
        let filter = Filter { outcome: Some("repaired".into()), ..Filter::default() };
        let listing = Listing { filter, ..Listing::default() };
        let link = session(&listing, "../x?\"&<y>#", &[("node", "3"), ("tab", "")]);
        assert_eq!(link, "/session?id=..%2Fx%3F%22%26%3Cy%3E%23&node=3&outcome=repaired");
        assert_eq!(href("/", &[("after", "")]), "/");
    }

    #[test]
    fn what_an_address_asks_for_is_asked_for_again() {
        for (query, address) in [
            ("", "/sessions"),
            ("sort=updated&way=down&text=+", "/sessions"),
            ("sort=nothing&way=sideways", "/sessions"),
            ("way=up", "/sessions?way=up"),
            ("sort=tokens", "/sessions?sort=tokens"),
            ("sort=model&way=down", "/sessions?sort=model&way=down"),
            (
                "text=say+model:a%2Fb+error:drop-comma+mode:&outcome=repaired",
                "/sessions?outcome=repaired&model=a%2Fb&error=drop-comma&text=say+mode%3A",
            ),
            ("text=surface:chat+outcome:x&surface=messages", "/sessions?surface=chat&text=outcome%3Ax"),
        ] {
            assert_eq!(Listing::of(&Query::of(Some(query))).href(), address, "{query}");
        }
        let listing = Listing { after: Some("x".into()), ..Listing::default() };
        assert_eq!(listing.by(Column::Updated).href(), "/sessions?way=up");
        assert_eq!(listing.by(Column::Model).by(Column::Model).href(), "/sessions?sort=model&way=down");
    }
}

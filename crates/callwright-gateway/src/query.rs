//! The parameters of a list in an address: what it is filtered by and how it is ordered.

use callwright_store::{Column, Filter, Order};

/// The parameters of a request's path.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(query: Option<&str>) -> Query {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Query(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
    }

    /// The first one of this name; none where it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        found.filter(|value| !value.is_empty())
    }

    /// The first one of this name as a number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    /// The filter of the list.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        for (name, value) in filter.members_mut() {
            *value = self.get(name);
        }
        filter
    }

    /// The order of the list: `sort` names a column, and `way` is `up` or `down`.
    pub(crate) fn order(&self) -> Order {
        let column = self.get("sort").and_then(|name| Column::named(&name)).unwrap_or_default();
        let is_descending = match self.get("way").as_deref() {
            Some("up") => false,
            Some("down") => true,
            _ => begins_descending(column),
        };
        Order { column, is_descending }
    }
}

/// Returns the direction in which a column is first ordered: names begin with A, sizes with the greatest.
pub(crate) fn begins_descending(column: Column) -> bool {
    !column.is_text()
}

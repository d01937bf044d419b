//! Addresses of pages: everything that a page shows stands in its query, so that each view can be kept and sent on.

use callwright_store::Filter;

/// `("/session", [("id", "a b")])` → `/session?id=a+b`; what is empty is left out.
pub(crate) fn href(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The filter of a list, as parameters.
pub(crate) fn pairs(filter: &Filter) -> Vec<(&'static str, &str)> {
    let members = [
        ("outcome", &filter.outcome),
        ("model", &filter.model),
        ("mode", &filter.mode),
        ("dialect", &filter.dialect),
        ("error", &filter.error),
        ("text", &filter.text),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
}

/// A session, or a node of it, beside the list that it was chosen from.
pub(crate) fn session(filter: &Filter, id: &str, more: &[(&str, &str)]) -> String {
    let mut query = vec![("id", id)];
    query.extend(more);
    query.extend(pairs(filter));
    href("/session", &query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_leads_elsewhere() {
        let filter = Filter { outcome: Some("healed".into()), ..Filter::default() };
        let link = session(&filter, "../x?\"&<y>#", &[("node", "3"), ("tab", "")]);
        assert_eq!(link, "/session?id=..%2Fx%3F%22%26%3Cy%3E%23&node=3&outcome=healed");
        assert_eq!(href("/", &[("after", "")]), "/");
    }
}

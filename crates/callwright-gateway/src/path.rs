//! Paths of requests: the part below `/v1`, and whether one leads out of it.

/// Returns the part of a path below `/v1`. Clients differ in whether their base URL has it or they add it themselves, so it
/// may be missing, or be there twice.
pub(crate) fn below_v1(path: &str) -> &str {
    let mut below = path;
    while let Some(rest) = below.strip_prefix("/v1").filter(|rest| rest.starts_with('/')) {
        below = rest;
    }
    below
}

/// Returns a path without slashes at its end, with which servers take it for another one.
pub(crate) fn without_trailing_slash(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = path.trim_end_matches('/');
    query.map_or(path.to_owned(), |query| format!("{path}?{query}"))
}

/// Returns whether a path leads nowhere but down. An upstream may resolve `..` in any spelling.
pub(crate) fn stays_below(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    let segments = path.split(['/', '\\']);
    let mut resolved = segments.map(|s| s.replace("%2e", ".").replace("%2E", "."));
    let escaped_separator = |s: &str| s.to_ascii_lowercase().contains("%5c");
    path.starts_with('/') && resolved.all(|s| s != "." && s != ".." && !escaped_separator(&s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_may_be_missing_or_be_there_twice() {
        assert_eq!(below_v1("/v1/v1/models?limit=1"), "/models?limit=1");
        assert_eq!(below_v1("/models"), "/models");
        assert_eq!(below_v1("/v1"), "/v1");
    }

    #[test]
    fn paths_stay_below() {
        for (path, is_below) in [
            ("/models", true),
            ("/models/google%2Fgemma-3-27b-it:free", true),
            ("/models?limit=..", true),
            ("/models/...", true),
            ("", false),
            ("beta/models", false),
            ("/../admin", false),
            ("/models/%2e%2E/admin", false),
            ("/models/.%2e", false),
            ("/models/..\\admin", false),
            ("/models/..%5cadmin", false),
        ] {
            assert_eq!(stays_below(path), is_below, "{path}");
        }
    }
}

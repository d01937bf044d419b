//! Addresses of schemas, as in RFC 3986: joined, and brought into one spelling.

/// An address in its parts. A missing part is not an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Uri {
    scheme: Option<String>,
    authority: Option<String>,
    path: String,
    query: Option<String>,
}

impl Uri {
    /// Returns the address in `text`, without its fragment; `None` if there is none.
    pub(super) fn new(text: &str) -> Option<Uri> {
        let text = text.split_once('#').map_or(text, |(address, _)| address);
        // RFC 3986 allows no spaces and control characters.
        if text.bytes().any(|b| b <= b' ' || b == 0x7f || b"<>\"\\^`{|}".contains(&b)) {
            return None;
        }
        let is_scheme = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        };
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme.to_ascii_lowercase()), rest),
            // `a/b:c` is a path, and `:a` is invalid.
            Some(("", _)) => return None,
            Some(_) | None => (None, text),
        };
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at(end);
                (Some(host(authority, scheme.as_deref())), path)
            }
            None => (None, rest),
        };
        Some(Uri { path: plain(path), query: query.map(plain), scheme, authority })
    }

    /// Returns the address of `reference` for a document at this address.
    pub(super) fn join(&self, reference: &Uri) -> Uri {
        let reference = reference.clone();
        if reference.scheme.is_some() {
            return Uri { path: without_dots(&reference.path), ..reference };
        }
        let scheme = self.scheme.clone();
        if reference.authority.is_some() {
            return Uri { scheme, path: without_dots(&reference.path), ..reference };
        }
        let authority = self.authority.clone();
        if reference.path.is_empty() {
            let query = reference.query.or_else(|| self.query.clone());
            return Uri { scheme, authority, path: self.path.clone(), query };
        }
        let path = match self.path.rfind('/') {
            _ if reference.path.starts_with('/') => reference.path,
            Some(end) => format!("{}/{}", self.path.get(..end).unwrap_or(""), reference.path),
            None if authority.is_some() => format!("/{}", reference.path),
            None => reference.path,
        };
        Uri { scheme, authority, path: without_dots(&path), query: reference.query }
    }
}

/// Returns the authority in one spelling: `User@HTTP.example:80` of `http` → `User@http.example`
fn host(authority: &str, scheme: Option<&str>) -> String {
    let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(user, host)| (user, host));
    let usual = match scheme {
        Some("http") => ":80",
        Some("https") => ":443",
        _ => ":",
    };
    let host = host.strip_suffix(usual).unwrap_or(host).to_ascii_lowercase();
    if user.is_empty() { host } else { format!("{user}@{host}") }
}

/// Returns a text with only the necessary encoding: `%7ea%2f` → `~a%2F`
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let digits = behind.get(1..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
            out.push('%');
            rest = behind.get(1..).unwrap_or("");
            continue;
        };
        match char::from(byte) {
            c if c.is_ascii_alphanumeric() || "-._~".contains(c) => out.push(c),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
        rest = behind.get(3..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Returns a path without dots: `/a/./b/../c` → `/a/c`
fn without_dots(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    let all: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (i, step) in all.iter().enumerate() {
        match *step {
            "." => {}
            ".." => drop(steps.pop()),
            step => {
                steps.push(step);
                continue;
            }
        }
        // `/a/..` is the folder `/`.
        if i + 1 == all.len() {
            steps.push("");
        }
    }
    format!("{}{}", if is_rooted { "/" } else { "" }, steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::Uri;

    #[test]
    fn references_are_resolved_as_the_rfc_does() {
        let uri = |text: &str| Uri::new(text).expect(text);
        let base = uri("http://a/b/c/d;p?q");
        for (reference, whole) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            ("#s", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("g/../h", "http://a/b/c/h"),
            ("HTTP://A:80/b/%7E%61", "http://a/b/~a"),
        ] {
            assert_eq!(base.join(&uri(reference)), uri(whole), "{reference}");
        }
        assert_eq!(uri("urn:uuid:deadbeef").join(&uri("#a")), uri("urn:uuid:deadbeef"));
        assert_eq!(Uri::default().join(&uri("./b/../a")), uri("a"));
        assert_ne!(uri("http://a/b%2Fc"), uri("http://a/b/c"));
        for none in ["a b", ":a", "http://a/<b>"] {
            assert_eq!(Uri::new(none), None, "{none}");
        }
    }
}

//! Upstreams that are given as URLs, and what else is given as a list.

use std::net::{SocketAddr, ToSocketAddrs};

use callwright_relay::config::UpstreamConfig;

use super::origin::{Env, Origin};
use crate::args::UpstreamArgs;
use crate::failure::Failure;

/// The variable that holds the key of a single upstream that is given as a URL.
const KEY: &str = "CALLWRIGHT_UPSTREAM_KEY";

/// Hosts whose key has a usual place.
const USUAL: [(&str, &str); 2] =
    [("openrouter.ai", "OPENROUTER_API_KEY"), ("api.openai.com", "OPENAI_API_KEY")];

/// An upstream that answers at `url`, called `name`.
pub(crate) fn named(name: &str, url: &str, key_env: Option<&str>) -> UpstreamConfig {
    UpstreamConfig { key_env: key_env.map(str::to_owned), ..UpstreamConfig::new(name, url) }
}

/// The upstreams at `urls`, named for their hosts.
///
/// # Errors
/// One key for several of them: a key belongs to one place.
pub(crate) fn configured(
    urls: &[String],
    flags: Option<&UpstreamArgs>,
    env: Env<'_>,
) -> Result<Vec<UpstreamConfig>, Failure> {
    let key_env = flags.and_then(|flags| flags.upstream_key_env.as_deref());
    let is_set = |variable: &str| env(variable).is_some_and(|value| !value.is_empty());
    let key_env = key_env.or_else(|| is_set(KEY).then_some(KEY));
    if let (Some(variable), true) = (key_env, 1 < urls.len()) {
        let why = format!("the key in {variable} belongs to one upstream: name the others' in a file");
        return Err(Failure::Config(why));
    }
    let mut upstreams: Vec<UpstreamConfig> = Vec::new();
    for url in urls {
        let host = host(url);
        let usual = USUAL.iter().find(|(usual, variable)| *usual == host && is_set(variable));
        let key_env = key_env.or(usual.map(|(_, variable)| *variable));
        let n_same = upstreams.iter().filter(|other| other.name.split('#').next() == Some(host)).count();
        let name = if n_same == 0 { host.to_owned() } else { format!("{host}#{}", n_same + 1) };
        upstreams.push(UpstreamConfig {
            ca_file: flags.and_then(|flags| flags.upstream_ca_file.clone()),
            insecure: flags.is_some_and(|flags| flags.upstream_insecure),
            ..named(&name, url, key_env)
        });
    }
    Ok(upstreams)
}

/// Names that stand where a key should not be.
///
/// # Errors
/// A `key_env` that is not the name of a variable: it may be the key itself, so it is not shown.
pub(crate) fn check(upstreams: &[UpstreamConfig]) -> Result<(), Failure> {
    let is_name = |text: &str| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        !text.is_empty() && text.len() <= 64 && text.bytes().all(is_letter)
    };
    match upstreams.iter().find(|upstream| upstream.key_env.as_deref().is_some_and(|name| !is_name(name))) {
        Some(upstream) => Err(Failure::Config(format!(
            "upstream `{}`: key_env is the name of an environment variable, not the key",
            upstream.name
        ))),
        None => Ok(()),
    }
}

/// A list that a repeated flag gives, or else a variable, with commas between its elements.
pub(crate) fn listed(
    flags: &[String],
    flag: &str,
    env: Env<'_>,
    variable: &str,
) -> Option<(Vec<String>, Origin)> {
    if !flags.is_empty() {
        return Some((flags.to_vec(), Origin::Flag(flag.into())));
    }
    let value = env(variable)?;
    let elements = value.split(',').map(str::trim).filter(|element| !element.is_empty());
    let elements: Vec<String> = elements.map(str::to_owned).collect();
    (!elements.is_empty()).then(|| (elements, Origin::Env(variable.into())))
}

/// The address of `HOST:PORT`.
///
/// # Errors
/// A text without an address, or a name that nobody knows.
pub(crate) fn address(listen: &str) -> Result<SocketAddr, Failure> {
    let none = || Failure::Config(format!("listen: {listen:?} is not HOST:PORT, such as 127.0.0.1:4000"));
    listen.to_socket_addrs().map_err(|_| none())?.next().ok_or_else(none)
}

/// `https://openrouter.ai/api/v1` → `openrouter.ai`
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    // What stands before an `@` may be a password; such a URL is refused later.
    authority.rsplit('@').next().unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams_are_named_for_their_hosts() {
        let urls =
            ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v2", "https://u:p@a.example/v1"].map(String::from);
        let upstreams = configured(&urls, None, &|_| None).unwrap();
        let names: Vec<&str> = upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        assert_eq!(names, ["127.0.0.1:1", "127.0.0.1:1#2", "a.example"]);
    }

    #[test]
    fn a_key_goes_to_the_host_it_belongs_to() {
        let env = |name: &str| (name == "OPENROUTER_API_KEY").then(|| String::from("sk"));
        for (url, key_env) in [
            ("https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY")),
            ("https://openrouter.ai.evil.example/v1", None),
            ("https://evil.example/openrouter.ai/v1", None),
            ("https://api.openai.com/v1", None),
        ] {
            let upstreams = configured(&[url.into()], None, &env).unwrap();
            assert_eq!(upstreams[0].key_env.as_deref(), key_env, "{url}");
        }
        let urls = ["http://a/v1", "http://b/v1"].map(String::from);
        let flags = UpstreamArgs { upstream_key_env: Some("A_KEY".into()), ..UpstreamArgs::default() };
        assert!(configured(&urls, Some(&flags), &env).is_err());
    }

    #[test]
    fn a_key_in_the_place_of_its_name_is_not_shown() {
        let failure = check(&[named("a", "http://a/v1", Some("sk-secret-1"))]).unwrap_err();
        assert!(!failure.to_string().contains("sk-secret-1"), "{failure}");
        assert!(check(&[named("a", "http://a/v1", Some("A_KEY_1"))]).is_ok());
    }
}

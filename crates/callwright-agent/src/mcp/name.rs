//! Gives a server's tool a name that no other tool has and that every model's API accepts.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

/// The longest name of a tool that all APIs accept.
const MAX: usize = 64;
/// The longest name of a server, which leaves room for its tools' names.
const MAX_SERVER: usize = 24;
/// The separator between a server's name and its tool's.
const BETWEEN: &str = "__";

/// Returns whether a server may have this name: the first `__` of a tool's name must end the server's.
pub(super) fn is_server_name(name: &str) -> bool {
    let is_inside = name.bytes().all(is_allowed) && !name.contains(BETWEEN);
    (1..=MAX_SERVER).contains(&name.len()) && is_inside && !name.starts_with('_') && !name.ends_with('_')
}

/// Returns the names of `tools`, which are all of `server`'s, in their order; `None` where other tools leave no free
/// name.
///
/// `read_file` of `files` is `files__read_file`. A name that is too long is cut, one with other characters gets `_` for
/// them, and either gets its hash: a tool's name does not depend on other tools.
///
/// INVARIANT: no two are equal.
pub(super) fn names(server: &str, tools: &[&str]) -> Vec<Option<String>> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names: Vec<Option<String>> = vec![None; tools.len()];
    // Unchanged names come first: a made-up name must not take one that belongs to another tool.
    for is_plain in [true, false] {
        for (name, tool) in names.iter_mut().zip(tools) {
            let plain = plain(server, tool);
            if plain.is_some() != is_plain {
                continue;
            }
            let wanted = plain.unwrap_or_else(|| hashed(server, tool));
            if taken.insert(wanted.clone()) {
                *name = Some(wanted);
            }
        }
    }
    names
}

fn plain(server: &str, tool: &str) -> Option<String> {
    let fits = server.len() + BETWEEN.len() + tool.len() <= MAX;
    (fits && !tool.is_empty() && tool.bytes().all(is_allowed)).then(|| format!("{server}{BETWEEN}{tool}"))
}

fn hashed(server: &str, tool: &str) -> String {
    let hash = Sha256::digest(tool.as_bytes());
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let room = MAX - server.len() - BETWEEN.len() - "_".len() - hash.len();
    let allowed = |c: char| if c.is_ascii() && is_allowed(c as u8) { c } else { '_' };
    let tool: String = tool.chars().take(room).map(allowed).collect();
    format!("{server}{BETWEEN}{tool}_{hash}")
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_plain_name_stays_and_another_one_is_hashed() {
        let long = "x".repeat(80);
        let tools = ["read_file", "git.log", "git_log", "git.log", "", &long];
        let names = names("files", &tools);
        assert_eq!(names[0].as_deref(), Some("files__read_file"));
        assert_eq!(names[1].as_deref(), Some("files__git_log_d38233d9"));
        assert_eq!(names[2].as_deref(), Some("files__git_log"));
        assert_eq!(names[3], None, "a second tool of the same name");
        assert_eq!(names[5].as_ref().map(String::len), Some(64));
    }

    #[test]
    fn a_made_up_name_does_not_take_another_tools() {
        let taken = names("s", &["git.log"])[0].clone().unwrap();
        let natural = taken.strip_prefix("s__").unwrap();
        let names = names("s", &["git.log", natural]);
        assert_eq!(names, [None, Some(taken.clone())]);
    }

    proptest! {
        #[test]
        fn all_names_are_allowed_and_no_two_are_equal(
            server in "[A-Za-z0-9]([A-Za-z0-9-]|_[a-z]){0,11}",
            tools in proptest::collection::vec("[a-c_.\u{e9}]{0,4}|[a-z]{60,70}|\\PC{0,90}", 0..12),
        ) {
            prop_assume!(is_server_name(&server));
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let names: Vec<String> = names(&server, &tools).into_iter().flatten().collect();
            let different: BTreeSet<&String> = names.iter().collect();
            prop_assert_eq!(different.len(), names.len());
            for name in &names {
                prop_assert!(name.len() <= MAX && name.bytes().all(is_allowed), "{}", name);
                // The first `__` is where the server's name ends.
                prop_assert_eq!(name.split_once(BETWEEN).unwrap().0, server.as_str());
            }
        }
    }
}

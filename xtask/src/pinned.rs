//! What the workflows and the image are made with is named by its content: an action by the hash of its commit, an image by
//! its digest. A tag can be moved by whoever owns it, in a job that may publish.

/// What is wrong in a file of this path, with its lines.
pub(crate) fn breaches(path: &str, text: &str) -> Vec<(usize, &'static str)> {
    if path.starts_with(".github/") && (path.ends_with(".yml") || path.ends_with(".yaml")) {
        return workflow(text);
    }
    if path == "Dockerfile" || path.ends_with("/Dockerfile") {
        return image(text);
    }
    Vec::new()
}

fn workflow(text: &str) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let Some(action) = line.trim_start().trim_start_matches("- ").strip_prefix("uses: ") else {
            continue;
        };
        // One of this repository is as trusted as the workflow.
        if !action.starts_with("./") && !is_pinned(action) {
            found.push((
                n + 1,
                "an action is named by the hash of its commit, with its version behind it: `# v1.2.3`",
            ));
        }
        if action.starts_with("actions/checkout@") && !step(&lines, n).contains("persist-credentials: false")
        {
            found.push((n + 1, "a checkout leaves no credentials behind: `persist-credentials: false`"));
        }
    }
    found
}

/// `owner/name@40 digits # v1.2.3`
fn is_pinned(action: &str) -> bool {
    let Some((reference, version)) = action.split_once(" # v") else { return false };
    let hash = reference.rsplit_once('@').map_or("", |(_, hash)| hash);
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash && version.starts_with(|c: char| c.is_ascii_digit())
}

/// The step that the line is of: up to the next line that is not further in than the step's own beginning.
fn step(lines: &[&str], at: usize) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let begins = |n: &usize| lines[*n].trim_start().starts_with("- ");
    let first = (0..=at).rev().find(begins).unwrap_or(at);
    let more =
        lines[first + 1..].iter().take_while(|line| line.is_empty() || depth(lines[first]) < depth(line));
    let all: Vec<&str> = std::iter::once(&lines[first]).chain(more).copied().collect();
    all.join("\n")
}

fn image(text: &str) -> Vec<(usize, &'static str)> {
    let mut stages: Vec<&str> = vec!["scratch"];
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() != Some("FROM") {
            continue;
        }
        let from = words.find(|word| !word.starts_with("--")).unwrap_or_default();
        if !stages.contains(&from) && !from.contains("@sha256:") {
            found.push((n + 1, "an image is named by its digest: `rust:1@sha256:…`"));
        }
        stages.extend(words.nth(1));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    fn n_breaches(path: &str, text: &str) -> usize {
        breaches(path, text).len()
    }

    #[test]
    fn an_action_is_named_by_its_hash() {
        for (action, n) in [
            (format!("a/b@{HASH} # v1.2.3"), 0),
            (format!("a/b/c@{HASH} # v1"), 0),
            (String::from("./.github/actions/own"), 0),
            (String::from("a/b@v4"), 1),
            (String::from("a/b@release/v1"), 1),
            (format!("a/b@{HASH}"), 1),
            (format!("a/b@{HASH} # main"), 1),
            (format!("a/b@{} # v1.2.3", &HASH[1..]), 1),
        ] {
            for step in ["- uses: ", "- name: x\n        uses: "] {
                assert_eq!(
                    n_breaches(".github/workflows/ci.yml", &format!("      {step}{action}\n")),
                    n,
                    "{action}"
                );
            }
        }
        assert_eq!(n_breaches("docs/ci.yml", "- uses: a/b@v4"), 0);
    }

    #[test]
    fn a_checkout_leaves_no_credentials() {
        let checkout = format!("      - uses: actions/checkout@{HASH} # v1\n");
        let with = "        with: { persist-credentials: false }\n";
        let other = "      - run: x\n        with: { persist-credentials: false }\n";
        for (text, n) in [
            (format!("{checkout}{with}"), 0),
            (format!("{checkout}        with:\n\n          persist-credentials: false\n      - run: x\n"), 0),
            (checkout.clone(), 1),
            (format!("{checkout}{other}"), 1),
        ] {
            assert_eq!(n_breaches(".github/workflows/ci.yml", &text), n, "{text}");
        }
    }

    #[test]
    fn an_image_is_named_by_its_digest() {
        for (text, n) in [
            ("FROM rust:1@sha256:00 AS build\nFROM scratch\nFROM build\n", 0),
            ("FROM --platform=linux/amd64 rust:1 AS build\n", 1),
            ("FROM rust AS a\nFROM b\n", 2),
        ] {
            assert_eq!(n_breaches("Dockerfile", text), n, "{text}");
        }
    }
}

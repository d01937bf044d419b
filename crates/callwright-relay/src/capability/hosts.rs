//! Hosts of native APIs: their models take tools, whatever their names.

use crate::config::fits;

/// Patterns of host names, one a line, and other facts about the host.
const HOSTS: &str = include_str!("hosts.txt");

/// Returns the pattern of a native API that `host` fits.
pub(super) fn native(host: &str) -> Option<&'static str> {
    known(host).map(|(pattern, _)| pattern)
}

/// Returns the pattern of `host` if it enforces a schema of its subset for a `strict` tool.
pub(super) fn takes_strict(host: &str) -> Option<&'static str> {
    known(host).filter(|(_, more)| *more == "strict").map(|(pattern, _)| pattern)
}

fn known(host: &str) -> Option<(&'static str, &'static str)> {
    let lines = HOSTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut known = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
    known.find(|(pattern, _)| fits(pattern, host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_by_their_whole_name() {
        for (host, pattern) in [
            ("api.openai.com", Some("api.openai.com")),
            ("api.x.ai", Some("api.x.ai")),
            ("my-company.openai.azure.com", Some("*.openai.azure.com")),
            ("dashscope-intl.aliyuncs.com", Some("dashscope*.aliyuncs.com")),
            ("api.moonshot.cn", Some("api.moonshot.cn")),
            ("api.openai.com.example.org", None),
            ("my-api.openai.com", None),
            ("127.0.0.1", None),
        ] {
            assert_eq!(native(host), pattern, "{host}");
        }
        for (host, pattern) in [
            ("api.openai.com", Some("api.openai.com")),
            ("my-company.openai.azure.com", Some("*.openai.azure.com")),
            ("api.anthropic.com", Some("api.anthropic.com")),
            // It takes it at another path alone.
            ("api.deepseek.com", None),
            ("openrouter.ai", None),
            ("127.0.0.1", None),
        ] {
            assert_eq!(takes_strict(host), pattern, "{host}");
        }
    }
}

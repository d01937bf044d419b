//! Hosts that are known to be native APIs: their models take tools, whatever they are called.

use crate::config::fits;

/// Patterns of host names, one a line.
const HOSTS: &str = include_str!("hosts.txt");

/// The pattern of a native API that `host` fits, if there is one.
pub(super) fn native(host: &str) -> Option<&'static str> {
    HOSTS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .find(|pattern| fits(pattern, host))
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
    }
}

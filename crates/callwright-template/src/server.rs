//! The flags by which a model's own server reads its calls.

/// The servers whose flags are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// vLLM, which has a parser for each dialect that it reads.
    Vllm,
    /// SGLang, likewise.
    Sglang,
    /// llama.cpp, which reads what the model's own template writes.
    LlamaCpp,
}

/// Lines of a dialect and its parsers.
const PARSERS: &str = include_str!("server.txt");

impl Server {
    /// All of them.
    pub const ALL: [Server; 3] = [Server::Vllm, Server::Sglang, Server::LlamaCpp];

    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Server::Vllm => "vLLM",
            Server::Sglang => "SGLang",
            Server::LlamaCpp => "llama.cpp",
        }
    }

    /// The flags that make it read calls of this built-in dialect: `--enable-auto-tool-choice --tool-call-parser hermes`. None
    /// where it has no parser for it.
    pub fn flags(self, dialect: &str) -> Option<String> {
        match self {
            Server::Vllm => {
                Some(format!("--enable-auto-tool-choice --tool-call-parser {}", parsers(dialect)?.0))
            }
            Server::Sglang => Some(format!("--tool-call-parser {}", parsers(dialect)?.1)),
            Server::LlamaCpp => Some("--jinja".into()),
        }
        .filter(|flags| !flags.ends_with(" -"))
    }
}

/// The parsers of a dialect in vLLM and in SGLang; `-` stands where there is none.
fn parsers(dialect: &str) -> Option<(&'static str, &'static str)> {
    PARSERS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = words.next() == Some(dialect);
        is_it.then_some((words.next()?, words.next()?))
    })
}

#[cfg(test)]
mod tests {
    use callwright::Dialects;

    use super::*;

    #[test]
    fn a_dialect_has_the_flags_of_each_server_that_reads_it() {
        let of = |server: Server, dialect| server.flags(dialect).unwrap_or_default();
        assert_eq!(of(Server::Vllm, "hermes"), "--enable-auto-tool-choice --tool-call-parser hermes");
        assert_eq!(of(Server::Sglang, "hermes"), "--tool-call-parser qwen");
        assert_eq!(of(Server::LlamaCpp, "hermes"), "--jinja");
        // One of them has no parser for it, then both have none.
        assert_eq!(of(Server::Sglang, "olmo3"), "");
        assert_eq!(of(Server::Vllm, "react"), "");
    }

    #[test]
    fn each_line_names_a_built_in_dialect_and_two_parsers() {
        let dialects = Dialects::default();
        for line in PARSERS.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [dialect, ..] = words[..] else { panic!("{line} is empty") };
            assert!(
                dialects.get(dialect).is_some_and(|it| *it.name == *dialect) && words.len() == 3,
                "{line}"
            );
        }
    }
}

//! The commands to the session, which the model does not see.

use callwright::Policy;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Show calls and results in full, or do not; without a word, say which.
    Verbose(Option<bool>),
    /// Another policy; or say which.
    Policy(Option<Policy>),
    /// Another model; or say which.
    Model(Option<String>),
    Tools,
    Undo,
    Dump,
    Cost,
    Help,
    Exit,
    /// Behind a slash, a policy that there is not.
    NoPolicy(String),
    /// Behind a slash, and none of these.
    Unknown(String),
}

pub(crate) const HELP: &str = "\
verbose on|off    show each call in full, or in a line
policy [NAME]     what may be done about a call that is not right: auto, heal, feedback, strict
model [NAME]      ask another model from now on
tools             what the model can call
undo              take the last change of a file back
dump              write the session to a file
cost              what it has taken so far
help              this
exit              leave; so does the end of the input

All else goes to the model. With a slash in front, /tools, it is a command for certain; with two, //tools, a message.
Ctrl-C ends what the model does, twice at once. A line that ends in \\ goes on in the next one.
";

/// Reads a line. None: it is for the model.
pub(crate) fn command(line: &str) -> Option<Command> {
    let line = line.trim();
    if line.starts_with("//") {
        return None;
    }
    let (is_marked, words) = match line.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let mut words = words.split_whitespace();
    let (first, second, third) = (words.next()?, words.next(), words.next());
    let unknown = || is_marked.then(|| Command::Unknown(line.to_owned()));
    match (first, second, third) {
        ("verbose", None, _) => Some(Command::Verbose(None)),
        ("verbose", Some("on"), None) => Some(Command::Verbose(Some(true))),
        ("verbose", Some("off"), None) => Some(Command::Verbose(Some(false))),
        ("policy", None, _) => Some(Command::Policy(None)),
        ("policy", Some(name), None) => match Policy::named(name) {
            Some(policy) => Some(Command::Policy(Some(policy))),
            None => is_marked.then(|| Command::NoPolicy(name.to_owned())),
        },
        ("model", None, _) => Some(Command::Model(None)),
        // `model trains` may well be a wish: only what looks like a name is one.
        ("model", Some(name), None) if is_marked || name.contains(['/', ':', '-', '.']) => {
            Some(Command::Model(Some(name.to_owned())))
        }
        ("tools", None, _) => Some(Command::Tools),
        ("undo", None, _) => Some(Command::Undo),
        ("dump", None, _) => Some(Command::Dump),
        ("cost", None, _) => Some(Command::Cost),
        ("help" | "?", None, _) => Some(Command::Help),
        ("exit" | "quit", None, _) => Some(Command::Exit),
        _ => unknown(),
    }
}

/// Returns the words for the model: a line without the slash that kept it from being a command.
pub(crate) fn message(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with("//") { &line[1..] } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0-63
    #[test]
    fn what_is_a_command_and_what_is_not() {
        for (line, is) in [
            ("verbose on", Some(Command::Verbose(Some(true)))),
            ("/verbose off", Some(Command::Verbose(Some(false)))),
            (" verbose ", Some(Command::Verbose(None))),
            ("policy strict", Some(Command::Policy(Some(Policy::Strict)))),
            ("policy is what?", None),
            ("policy matters", None),
            ("/policy hard", Some(Command::NoPolicy("hard".into()))),
            ("model qwen2.5:7b", Some(Command::Model(Some("qwen2.5:7b".into())))),
            ("model trains", None),
            ("/model trains", Some(Command::Model(Some("trains".into())))),
            ("undo", Some(Command::Undo)),
            ("undo the last change", None),
            ("/undo it", Some(Command::Unknown("/undo it".into()))),
            ("//tools", None),
            ("", None),
            ("quit", Some(Command::Exit)),
        ] {
            assert_eq!(command(line), is, "{line}");
        }
        assert_eq!(message("//tools and all"), "/tools and all");
        assert!(HELP.lines().all(|line| line.chars().count() <= 120));
    }
}

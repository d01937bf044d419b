//! The options that a command line gives, to be printed as a part of another one.

use std::ffi::OsStr;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// The options of a command that were given, by their names, each as a person would type it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given(Vec<(String, String)>);

impl Given {
    /// Those of `command`, as `matches` has them. What comes from defaults is not among them, and neither is what has no
    /// name.
    pub(super) fn of(command: &clap::Command, matches: &ArgMatches) -> Given {
        let mut given = Vec::new();
        for option in command.get_arguments() {
            let id = option.get_id().as_str();
            let Some(long) = option.get_long() else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            match option.get_action().takes_values() {
                true => {
                    let values = matches.get_raw(id).into_iter().flatten();
                    given.extend(values.map(|value| (long.to_owned(), format!("--{long} {}", word(value)))));
                }
                false => given.push((long.to_owned(), format!("--{long}"))),
            }
        }
        Given(given)
    }

    /// Those without the options of these names, with a space before each.
    pub(crate) fn without(&self, names: &[&str]) -> String {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(_, typed)| format!(" {typed}")).collect()
    }
}

/// One word of a shell's line: nothing in quotes means anything but the quote itself.
pub(crate) fn word(value: &OsStr) -> String {
    let value = value.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.into_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    #[test]
    fn what_was_given_is_typed_again() {
        let line = "callwright run task --session s --yes --allow a --allow b --workspace /w --set x=$(id) --output json";
        let command = Cli::command();
        let matches = command.clone().get_matches_from(line.split(' '));
        let (name, matches) = matches.subcommand().unwrap();
        let given = Given::of(command.find_subcommand(name).unwrap(), matches);
        let typed = given.without(&["session", "output"]);
        assert_eq!(typed, " --workspace /w --yes --allow a --allow b --set 'x=$(id)'");
        assert!(
            Cli::try_parse_from(format!("callwright run --resume s{}", typed.replace('\'', "")).split(' '))
                .is_ok()
        );
        assert_eq!(word(OsStr::new("it's")), r"'it'\''s'");
        assert_eq!(word(OsStr::new("")), "''");
    }
}

//! From a behaviour to the script of `callwright replay`: placeholders become a client's own tools, and what each script has
//! is put around it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::client::Tools;

/// What the model says in the end, when all is done that was to be done.
pub(super) const DONE: &str = "All done";

/// So often the model tries, then it gives up.
pub(super) const TRIES: usize = 8;

/// Around the answers of a behaviour: the gateway tries a model of this family before it believes that it calls tools; right
/// calls before the client's first request; the end; and what clients ask beside the task, a title or the like.
const BEFORE: &str = r#"
[[answer]]
when = { contains = "report_ready" }
tool_calls = [{ name = "report_ready", arguments = "{}" }]

[[answer]]
when = { contains = "note_before" }
repeat = true
tool_calls = [{ name = "note_before", arguments = '{"text": "right"}' }]

[[answer]]
when = { exists = [], contains = "{shell.name}" }
repeat = true
text = "All done. The work is finished."

[[answer]]
when = { has_tools = false, lacks = "{shell.name}" }
repeat = true
text = "A title"
"#;

const AFTER: &str = r#"
[[answer]]
repeat = true
text = "GIVING UP: nothing was done."
"#;

/// A right call, which adds a line with this word.
pub(super) fn right(word: &str) -> Result<toml::Table> {
    Ok(toml::from_str(&format!(
        r#"tool_calls = [{{ name = "{{shell.name}}", arguments = "{{{{shell:{word}}}}}" }}]"#
    ))?)
}

/// The script that says this, until all these files exist; `first` is for what one client asks besides.
pub(super) fn script(
    first: &[toml::Table],
    said: &[toml::Table],
    done: &[String],
    filler: &Filler<'_>,
) -> Result<toml::Table> {
    let before: toml::Table = toml::from_str(BEFORE)?;
    let after: toml::Table = toml::from_str(AFTER)?;
    let answers = |table: toml::Table| match table.get("answer") {
        Some(toml::Value::Array(answers)) => answers.clone(),
        _ => Vec::new(),
    };
    let given = |tables: &[toml::Table]| tables.iter().cloned().map(toml::Value::from).collect();
    let mut all = [given(first), answers(before), given(said), answers(after)].concat();
    for answer in &mut all {
        if let Some(exists) = answer.get_mut("when").and_then(|when| when.get_mut("exists")) {
            *exists = done.to_vec().into();
        }
        filler.fill_all(answer)?;
    }
    Ok(toml::Table::from_iter([("answer".to_owned(), all.into())]))
}

/// What placeholders stand for.
///
/// `{shell.name}` is the name of the tool that runs a command. `{shell:WORD}` are the members of its arguments, a command
/// that adds a line with WORD to WORD.txt; `{shell.half:WORD}` the same, broken off within the command; `{shell.more:WORD}` the
/// same, with what the client's file has as `more` behind it.
///
/// `{write.name}`, `{write:FILE:TEXT}` and `{write.half:FILE:TEXT}` are the same of the tool that writes a file, with the text
/// TEXT of the behaviour; `{write.bare:FILE:TEXT}` does not escape its quotes, `{write.short:FILE:TEXT}` leaves the first
/// member out.
///
/// `{text:TEXT}` is a text itself, `{folder}` the client's folder.
pub(super) struct Filler<'a> {
    pub(super) tools: &'a Tools,
    pub(super) folder: &'a str,
    pub(super) texts: BTreeMap<&'a str, String>,
}

/// The members of an object, with the place of the one that says what is done.
struct Members {
    members: Vec<(String, Value)>,
    /// The member whose text may be broken off.
    main: usize,
}

impl Filler<'_> {
    /// `text` with all placeholders filled in.
    pub(super) fn fill(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            out.push_str(before);
            let named = from.split_once('}').map(|(name, behind)| (self.value(name), behind));
            match named {
                Some((Some(value), behind)) => {
                    out.push_str(&value?);
                    rest = behind;
                }
                _ => {
                    out.push('{');
                    rest = from;
                }
            }
        }
        Ok(out + rest)
    }

    /// The same in each text of a value.
    fn fill_all(&self, value: &mut toml::Value) -> Result<()> {
        match value {
            toml::Value::String(text) => *text = self.fill(text)?,
            toml::Value::Array(values) => values.iter_mut().try_for_each(|value| self.fill_all(value))?,
            toml::Value::Table(table) => {
                table.iter_mut().try_for_each(|(_, value)| self.fill_all(value))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What a placeholder stands for; none where it is no placeholder.
    fn value(&self, name: &str) -> Option<Result<String>> {
        let (kind, arguments) = name.split_once(':').unwrap_or((name, ""));
        let tools = self.tools;
        Some(match kind {
            "folder" => Ok(self.folder.to_owned()),
            "text" => self.text(arguments).map(str::to_owned),
            "shell.name" => Ok(tools.shell.name.clone()),
            "shell" => Ok(self.shell(arguments).written(quoted)),
            "shell.more" => Ok(self.shell_with_more(arguments).written(quoted)),
            "shell.half" => Ok(self.shell(arguments).half()),
            "write.name" => Ok(tools.write.name.clone()),
            "write" => self.write(arguments).map(|members| members.written(quoted)),
            "write.half" => self.write(arguments).map(|members| members.half()),
            "write.bare" => self.write(arguments).map(|members| members.written(bare)),
            "write.short" => self.write(arguments).map(|mut members| {
                members.members.remove(0);
                members.written(quoted)
            }),
            _ => return None,
        })
    }

    fn text(&self, name: &str) -> Result<&str> {
        self.texts.get(name).map(String::as_str).with_context(|| format!("no text is named {name:?}"))
    }

    fn shell(&self, word: &str) -> Members {
        let shell = &self.tools.shell;
        let command = format!("echo {word} >> {}/{word}.txt", self.folder);
        Members::of(&[(&shell.key, command_value(command, shell.list))], &shell.with)
    }

    fn shell_with_more(&self, word: &str) -> Members {
        let mut members = self.shell(word);
        let more = self.tools.shell.more.iter().map(|(key, value)| (key.clone(), value.clone()));
        members.members.extend(more);
        members
    }

    fn write(&self, arguments: &str) -> Result<Members> {
        let Some((file, text)) = arguments.split_once(':') else { bail!("{arguments:?} names no text") };
        let write = &self.tools.write;
        let path = format!("{}/{file}", self.folder);
        let text = self.text(text)?;
        Ok(match &write.path {
            Some(key) => {
                let members = [(key, Value::from(path)), (&write.content, Value::from(text))];
                Members { main: 1, ..Members::of(&members, &write.with) }
            }
            // By the shell.
            None => {
                let command = format!("cat > {path} <<'END_OF_IT'\n{text}END_OF_IT\n");
                Members::of(&[(&write.content, command_value(command, write.list))], &write.with)
            }
        })
    }
}

impl Members {
    fn of(first: &[(&String, Value)], with: &BTreeMap<String, Value>) -> Members {
        let first = first.iter().map(|(key, value)| ((*key).clone(), value.clone()));
        let with = with.iter().map(|(key, value)| (key.clone(), value.clone()));
        Members { members: first.chain(with).collect(), main: 0 }
    }

    /// `"command": "ls", "timeout": 3`: with blanks, as models write it.
    fn written(&self, string: fn(&str) -> String) -> String {
        let one = |(key, value): &(String, Value)| format!("{}: {}", quoted(key), spaced(value, string));
        self.members.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Up to the middle of the main member's value.
    fn half(&self) -> String {
        let up_to = |main| Members { members: self.members.iter().take(main).cloned().collect(), main: 0 };
        let before = up_to(self.main).written(quoted).chars().count();
        let whole: Vec<char> = up_to(self.main + 1).written(quoted).chars().collect();
        whole.iter().take(before + (whole.len() - before) * 2 / 3).collect()
    }
}

/// A command as a tool takes it: in a list of commands, or alone.
fn command_value(command: String, is_list: bool) -> Value {
    if is_list { vec![command].into() } else { command.into() }
}

fn spaced(value: &Value, string: fn(&str) -> String) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::String(text) => string(text),
        Value::Array(values) => format!("[{}]", join(values.iter().map(|v| spaced(v, string)).collect())),
        Value::Object(members) => {
            let one = |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), spaced(value, string));
            format!("{{{}}}", join(members.iter().map(one).collect()))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// As a model writes code whose quotes it forgets.
fn bare(text: &str) -> String {
    quoted(text).replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_the_tools_of_a_client() {
        let tools: Tools = toml::from_str(
            "shell = { name = \"run\", key = \"commands\", list = true, with = { why = \"x\" } }\n\
             write = { name = \"save\", path = \"file\", content = \"text\" }",
        )
        .unwrap();
        let filler = Filler { tools: &tools, folder: "/w", texts: [("t", "a \"b\"\n".to_owned())].into() };
        for (text, filled) in [
            ("{shell.name} { {x} {folder}", "run { {x} /w"),
            ("{{shell:one}}", r#"{"commands": ["echo one >> /w/one.txt"], "why": "x"}"#),
            ("{{shell.half:one}", r#"{"commands": ["echo one >>"#),
            ("{{write:f:t}}", r#"{"file": "/w/f", "text": "a \"b\"\n"}"#),
            ("{{write.bare:f:t}}", r#"{"file": "/w/f", "text": "a "b"\n"}"#),
            ("{{write.short:f:t}}", r#"{"text": "a \"b\"\n"}"#),
            ("{{write.half:f:t}", r#"{"file": "/w/f", "text": "a \"#),
        ] {
            assert_eq!(filler.fill(text).unwrap(), filled);
        }
        assert!(filler.fill("{text:u}").is_err());
    }
}

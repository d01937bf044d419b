//! A configuration file that nobody named: its places, and the question to the user before it is read.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::origin::{Env, shown};
use super::trust::Trusted;
use crate::agent::forget_typed;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input;

/// The name of the configuration file where none is named.
const FILE: &str = "callwright.toml";

/// The file to be read and its text, where none is named: the current folder's, if the user has accepted it, else the
/// user's own. At a terminal the user is asked; elsewhere a line says that a file was left out.
///
/// # Errors
/// A file that cannot be read, or an answer that cannot be written down.
pub(super) fn file(env: Env<'_>) -> Result<Option<(PathBuf, String)>, Failure> {
    let here = PathBuf::from(FILE);
    if here.exists() {
        // What is compared with the list is what is used: it is read once.
        let text = input::text(&here)?;
        let trusted = Trusted::of(env);
        if trusted.has(&here, &text) || asked(&here, &text, &trusted)? {
            return Ok(Some((here, text)));
        }
    }
    match own(env).filter(|path| path.exists()) {
        Some(path) => Ok(Some((path.clone(), input::text(&path)?))),
        None => Ok(None),
    }
}

/// `~/.config/callwright/callwright.toml`
fn own(env: Env<'_>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .or_else(|| set("APPDATA"))?;
    Some(folder.join("callwright").join(FILE))
}

/// Asks the user to accept the file, after it was shown. Without a user, nobody does.
fn asked(file: &Path, text: &str, trusted: &Trusted) -> Result<bool, Failure> {
    let mut err = io::stderr().lock();
    if !(io::stdin().is_terminal() && err.is_terminal()) {
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let whole = shown(&whole);
        writeln!(
            err,
            "callwright: {} was left out: nobody has accepted it; read it, then: callwright trust",
            harmless(&whole)
        )?;
        return Ok(false);
    }
    writeln!(err, "There is a {FILE} in this folder, which you have not accepted as it is now.")?;
    for line in summary(text) {
        writeln!(err, "  {}", harmless(&line))?;
    }
    write!(err, "Use it, now and as long as it stays the same? [y/N] ")?;
    err.flush()?;
    forget_typed();
    let mut answer = String::new();
    // A line is enough; more would be somebody's paste.
    io::Read::take(io::stdin().lock(), 1024).read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        writeln!(err, "callwright: {FILE} was left out")?;
        return Ok(false);
    }
    trusted.accept(file, text)?;
    Ok(true)
}

/// Tells in lines what a file could do: whom it asks, what of the environment it reads, what it listens on, keeps and starts.
pub(crate) fn summary(text: &str) -> Vec<String> {
    let Ok(table) = toml::from_str::<Table>(text) else {
        return vec![String::from("it is not TOML, so it cannot be used")];
    };
    let (mut hosts, mut variables) = (Vec::new(), Vec::new());
    each(&Value::Table(table.clone()), "", &mut |key, text| {
        if text.contains("://") {
            // A query may hold a key.
            hosts.push(text.split('?').next().unwrap_or_default().to_owned());
        }
        if key.ends_with("_env") {
            variables.push(format!("${{{text}}}"));
        }
        let named = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
        variables.extend(named.map(|(name, _)| format!("${{{name}}}")));
    });
    let servers = table.get("mcp").and_then(Value::as_table).into_iter().flatten();
    let starts = servers.filter_map(|(_, server)| {
        let arguments = server.get("args").and_then(Value::as_array).into_iter().flatten();
        let words = [server.get("command")?].into_iter().chain(arguments).filter_map(Value::as_str);
        Some(words.collect::<Vec<_>>().join(" "))
    });
    let set =
        |keys: &[&str]| keys.iter().filter_map(|key| Some(format!("{key} = {}", at(&table, key)?))).collect();
    let lines: [(&str, Vec<String>); 6] = [
        ("asks", hosts),
        ("reads", variables),
        ("listens", set(&["listen", "allow_open"])),
        ("keeps", set(&["store.at", "store.dumps", "capability.dir"])),
        ("starts", starts.collect()),
        ("sets", table.keys().cloned().collect()),
    ];
    let lines = lines.into_iter().filter(|(_, values)| !values.is_empty());
    lines.map(|(title, values)| format!("{title:9} {}", listed(&values))).collect()
}

/// The longest value that is shown whole, in characters.
const MAX_VALUE: usize = 100;
/// The most of one kind that is shown.
const MAX_VALUES: usize = 10;

/// Values in one line, which no value can make longer than a screen has room for: a question is read as a whole, or it is
/// not asked.
fn listed(values: &[String]) -> String {
    let shown = values.iter().take(MAX_VALUES).map(|value| {
        // What ends a line, or draws, is spelled: `\n`.
        let spelled = value.chars().flat_map(|c| match c.is_control() {
            true => c.escape_default().collect::<Vec<_>>(),
            false => vec![c],
        });
        let spelled: Vec<char> = spelled.collect();
        match spelled.get(..MAX_VALUE).filter(|_| MAX_VALUE < spelled.len()) {
            // Its end says as much as its beginning: a long text hides what stands behind it.
            Some(_) => {
                let half = MAX_VALUE / 2;
                let left_out = spelled.len() - 2 * half;
                let (begin, end) = (spelled.iter().take(half), spelled.iter().skip(half + left_out));
                format!("{}… {left_out} more …{}", String::from_iter(begin), String::from_iter(end))
            }
            None => String::from_iter(spelled),
        }
    });
    let more = values.len().saturating_sub(MAX_VALUES);
    let more = (0 < more).then(|| format!("… {more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// The value of `store.at`.
fn at<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    let (section, key) = key.split_once('.').unwrap_or(("", key));
    if section.is_empty() { table.get(key) } else { table.get(section)?.get(key) }
}

/// Calls `look` with each text in `value`, and the key that it has.
fn each(value: &Value, key: &str, look: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| each(value, name, look)),
        Value::Array(values) => values.iter().for_each(|value| each(value, key, look)),
        Value::String(text) => look(key, text),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_could_do_is_shown() {
        let text = r#"
            listen = "0.0.0.0:1"
            allow_open = true
            [[upstreams]]
            name = "a"
            base_url = "http://a.example/v1?key=hidden"
            key_env = "A_KEY"
            headers = { x = "Bearer ${B_KEY} ${C_KEY}" }
            [store]
            at = "evil.db"
            [traces]
            otlp_endpoint = "http://c.example"
            [mcp.m]
            command = "sh"
            args = ["-c", "curl http://d.example"]
        "#;
        assert_eq!(
            summary(text),
            [
                "asks      curl http://d.example, http://c.example, http://a.example/v1",
                "reads     ${B_KEY}, ${C_KEY}, ${A_KEY}",
                "listens   listen = \"0.0.0.0:1\", allow_open = true",
                "keeps     store.at = \"evil.db\"",
                "starts    sh -c curl http://d.example",
                "sets      allow_open, listen, mcp, store, traces, upstreams",
            ]
        );
    }

    #[test]
    fn no_value_hides_what_stands_behind_it() {
        let many: Vec<String> = (0..400).map(|n| format!("http://{n}.example")).collect();
        let breaks = "\\n".repeat(60);
        let text = format!(
            "default_model = \"\\u001b[2J\"\nlist = {many:?}\n[mcp.x]\ncommand = 'sh'\nargs = ['-c', \"{breaks}evil\"]\n"
        );
        let lines = summary(&text);
        assert!(lines.iter().all(|line| line.chars().count() < 1400 && !line.contains('\n')), "{lines:?}");
        let starts = lines.iter().find(|line| line.starts_with("starts")).unwrap();
        assert!(starts.contains(r"sh -c \n\n") && starts.contains(" more …"), "{starts}");
        assert!(starts.ends_with("evil"), "{starts}");
        assert!(lines.iter().any(|line| line.ends_with("… 390 more")), "{lines:?}");
    }
}

//! MCP with real peers: servers from npm asked by our client, over standard streams and over HTTP, and our server asked
//! by the official client.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::install::Installed;
use steps::process::Server;
use steps::step::Tally;

/// The name of this part of the suite.
pub(crate) const MCP: &str = "mcp";

/// Node starts slowly where cores are shared.
const START: Duration = Duration::from_secs(60);

/// One part: an error is what is not as it should be.
type Part = fn(&Installed) -> Result<()>;

/// Runs all of it, and prints a line for each part.
///
/// # Errors
/// When there is no place for what is written.
pub(crate) fn check(installed: &Installed) -> Result<Tally> {
    let mut tally = Tally { ok: true, ..Tally::default() };
    let parts: [(&str, Part); 4] = [
        ("stdio/filesystem", filesystem),
        ("stdio/everything", everything_over_stdio),
        ("http/everything", everything_over_http),
        ("own/official-client", own),
    ];
    for (name, part) in parts {
        let start = Instant::now();
        let done = part(installed);
        let differences: Vec<String> = done.err().map(|error| format!("{error:#}")).into_iter().collect();
        tally.part(&format!("{MCP}/{name}"), start.elapsed().as_secs_f64(), &differences);
    }
    Ok(tally)
}

/// Files are written and read, by calls that are right and by calls that are not.
fn filesystem(installed: &Installed) -> Result<()> {
    let desk = Desk::new("filesystem", installed, |folder| {
        let server = installed.mcp_package("@modelcontextprotocol/server-filesystem/dist/index.js")?;
        Ok(format!("command = \"node\"\nargs = [{server:?}, {folder:?}]\nread = [\"read_text_file\"]\n"))
    })?;
    let listed = desk.callwright(&["mcp", "list"])?;
    listed.says(0, &["s__write_file ", "destructive  new", "s__read_text_file "])?;
    ensure!(
        listed.out.lines().any(|line| line.starts_with("s__read_text_file ") && line.contains(" read ")),
        "what is declared is not read: {}",
        listed.out
    );
    let file = desk.folder.join("a.py");
    // Bare quotes and a bracket too many.
    let broken = format!(r#"{{"path": {file:?}, "content": "print("hello")"}}}}"#);
    let asked = desk.callwright(&["mcp", "call", "s__write_file", &broken])?;
    asked.says(1, &["the model did not write it like this"])?;
    ensure!(!file.exists(), "a repaired destructive call ran unasked");
    desk.callwright(&["mcp", "call", "s__write_file", &broken, "--yes"])?.says(0, &["Successfully wrote"])?;
    ensure!(fs::read_to_string(&file)? == "print(\"hello\")", "{} holds something else", file.display());
    let read = format!(r#"{{"path": {file:?}}}"#);
    desk.callwright(&["mcp", "call", "s__read_text_file", &read])?.says(0, &["print(\"hello\")"])?;
    let wrong = desk.callwright(&["mcp", "call", "s__read_text_file", r#"{"path": ["a"]}"#])?;
    wrong.says(1, &["path must be a string"])?;
    let outside = desk.callwright(&["mcp", "call", "s__read_text_file", r#"{"path": "/etc/passwd"}"#])?;
    outside.says(1, &["Access denied"])
}

fn everything_over_stdio(installed: &Installed) -> Result<()> {
    let desk = Desk::new("everything", installed, |_| {
        let server = installed.mcp_package("@modelcontextprotocol/server-everything/dist/index.js")?;
        Ok(format!("command = \"node\"\nargs = [{server:?}, \"stdio\"]\n"))
    })?;
    everything(&desk)
}

fn everything_over_http(installed: &Installed) -> Result<()> {
    let command = installed.mcp_script("everything.mjs")?;
    let server = Server::start(&command, &installed.log("mcp-http"), START)?;
    let desk = Desk::new("http", installed, |_| Ok(format!("url = \"{}/mcp\"\n", server.url)))?;
    everything(&desk)
}

fn everything(desk: &Desk) -> Result<()> {
    let listed = desk.callwright(&["mcp", "list"])?;
    listed.says(0, &["s__echo ", "s__get-sum ", "s__get-tiny-image "])?;
    // The server says of some that they only read.
    ensure!(!listed.out.contains(" read "), "a hint was believed: {}", listed.out);
    let call = |tool: &str, arguments: &str| desk.callwright(&["mcp", "call", tool, arguments, "--yes"]);
    call("s__echo", r#"{"message": "hello"}"#)?.says(0, &["Echo: hello"])?;
    call("s__echo", r#"{'message': 'he said "hi"',}"#)?.says(0, &["Echo: he said \"hi\""])?;
    call("s__get-sum", r#"{"a": "2", "b": 3}}"#)?.says(0, &["is 5"])?;
    call("s__get-tiny-image", "{}")?.says(0, &["[image: image/png, "])?;
    call("s__get-sum", r#"{"a": "two", "b": 3}"#)?.says(1, &["a must be a number"])?;
    call("s__echo", r#"{"message": "hel"#)?.says(1, &["cut off"])
}

/// The official client asks our server.
fn own(installed: &Installed) -> Result<()> {
    let mut command = installed.mcp_script("client.mjs")?;
    let output = command.arg(binary()?).stdin(Stdio::null()).output().context("cannot start node")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_str(text.trim()).with_context(|| format!("it said {text}{said}"))?;
    let is = |pointer: &str, value: Value| {
        let found = report.pointer(pointer);
        ensure!(found == Some(&value), "{pointer} is {found:?}, not {value}");
        Ok(())
    };
    is("/server/name", "callwright".into())?;
    is("/listed", serde_json::json!(["repair_tool_call", "diagnose"]))?;
    is("/repaired/structured/calls/0/arguments/code", "print(\"hello world\")".into())?;
    is("/refused/structured/refusals/0/code", "truncated".into())?;
    is("/diagnosed/structured/position/column", 9.into())?;
    is("/wrong/isError", true.into())?;
    is("/wrong/text", "text must be a string".into())
}

/// A folder with a configuration of one server, `s`.
struct Desk {
    folder: PathBuf,
}

/// What a command came to.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Desk {
    fn new(
        name: &str,
        installed: &Installed,
        settings: impl FnOnce(&Path) -> Result<String>,
    ) -> Result<Desk> {
        let folder = installed.written(&format!("mcp-{name}"));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        let folder = folder.canonicalize()?;
        fs::write(folder.join("servers.toml"), format!("[mcp.s]\n{}", settings(&folder)?))?;
        Ok(Desk { folder })
    }

    fn callwright(&self, args: &[&str]) -> Result<Said> {
        let mut command = Command::new(binary()?);
        let state = self.folder.join("state");
        command.args(args).args(["--config", "servers.toml"]).current_dir(&self.folder);
        command.env("XDG_STATE_HOME", state).env("NO_COLOR", "1").stdin(Stdio::null());
        let output = command.output().context("cannot start callwright")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) })
    }
}

impl Said {
    fn says(&self, code: i32, parts: &[&str]) -> Result<()> {
        let all = format!("{}{}", self.out, self.err);
        ensure!(self.code == Some(code), "it ended with {:?}, not {code}: {all}", self.code);
        for part in parts {
            ensure!(all.contains(part), "{part:?} is not in: {all}");
        }
        Ok(())
    }
}

/// The binary, which is built beside ours.
fn binary() -> Result<PathBuf> {
    Ok(env::current_exe().context("where do we stand?")?.with_file_name("callwright"))
}

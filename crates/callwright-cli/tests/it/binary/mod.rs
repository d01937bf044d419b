//! Runs the binary under test.

pub(crate) mod serving;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use callwright::value::Value;

/// What a run came to.
pub(crate) struct Ran {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Ran {
    /// Each line of the output, as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The output, as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

/// The binary, without any colour or terminal settings of whoever runs the tests.
pub(crate) fn callwright(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callwright"));
    command.args(args).env_remove("NO_COLOR").env("TERM", "xterm");
    // What is kept by the machine that runs the tests is nobody's business here.
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR")).env("CALLWRIGHT_STORE_AT", "off");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the binary on `input`.
pub(crate) fn run(args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
    let input = input.into();
    let mut child = callwright(args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A child that ends early does not read all of it.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file with this content; its path. Each test names its own.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path.into_os_string().into_string().unwrap()
}

/// Definitions of two tools.
pub(crate) const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "search_recipes", "description": "Search recipes.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["query"]}}},
    {"type": "function", "function": {"name": "run_code", "description": "Run code.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}
]"#;

//! A server of the binary under test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use callwright::value::Value;

use super::callwright;

/// A running `callwright serve`.
pub(crate) struct Serving {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
    pub(crate) address: String,
    pub(crate) log: mpsc::Receiver<String>,
}

impl Serving {
    pub(crate) fn start(args: &[&str], env: &[(&str, &str)]) -> Serving {
        Serving::spawn(serve(args, env))
    }

    /// The same in another folder than the tests' own.
    pub(crate) fn start_in(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Serving {
        let mut command = serve(args, env);
        command.current_dir(folder);
        Serving::spawn(command)
    }

    fn spawn(mut command: Command) -> Serving {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_default().to_owned();
        let err = BufReader::new(child.stderr.take().unwrap());
        let (put, log) = mpsc::channel();
        std::thread::spawn(move || err.lines().map_while(Result::ok).try_for_each(|line| put.send(line)));
        assert!(!address.is_empty(), "it says where it listens first: {line:?}, {:?}", log.recv());
        Serving { child, out, address, log }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn chat(&self, body: &Value) -> String {
        self.ask("POST", "/v1/chat/completions", "", &body.to_string())
    }

    /// Asks it to end, and gives back all that it logged and printed.
    pub(crate) fn end(mut self) -> (Vec<String>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let until = Instant::now() + Duration::from_secs(20);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        (self.log.iter().collect(), out)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command, in a directory without a configuration, and without what the tester's own environment sets.
pub(crate) fn serve(args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = callwright(&[&["serve"], args].concat());
    let ours = std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("CALLWRIGHT_"));
    for name in ours.chain(["OPENROUTER_API_KEY".into(), "OPENAI_API_KEY".into()]) {
        command.env_remove(name);
    }
    // What happens to run on the tester's machine is none of a test's business.
    command.env("CALLWRIGHT_FIND_LOCAL", "false").env("CALLWRIGHT_LISTEN", "127.0.0.1:0");
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).envs(env.iter().copied());
    command
}

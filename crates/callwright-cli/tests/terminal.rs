//! The session at a real terminal: colour, the line editor, questions, Ctrl-C.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use callwright_replay::{Replay, Script};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// Builds and tests of others may take the cores.
const PATIENCE: Duration = Duration::from_secs(120);

struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    drawn: Receiver<Vec<u8>>,
    seen: String,
    _replay: Replay,
}

impl Terminal {
    fn open(folder: &PathBuf, script: &str, args: &[&str]) -> Terminal {
        let replay = Replay::start(Script::from_toml(script).unwrap()).unwrap();
        let pty = native_pty_system();
        let pair = pty.openpty(PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_callwright"));
        command.args(["chat", "--model", "scripted", "--upstream", &replay.base_url()]);
        command.args(args);
        command.cwd(folder.join("w"));
        command.env("XDG_STATE_HOME", folder.join("state"));
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (keys, mut screen) =
            (pair.master.take_writer().unwrap(), pair.master.try_clone_reader().unwrap());
        let (send, drawn) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut piece) {
                if send.send(piece[..n].to_vec()).is_err() {
                    break;
                }
            }
            drop(pair.master);
        });
        Terminal { child, keys, drawn, seen: String::new(), _replay: replay }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until `text` is drawn, and forgets what stands before its end.
    fn waits_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(piece) = self.drawn.recv_timeout(left) else { panic!("{text:?} not in {:?}", self.seen) };
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    fn ends(mut self) -> u32 {
        self.child.wait().unwrap().exit_code()
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("terminal-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("w")).unwrap();
    folder
}

#[test]
fn a_session_in_colour() {
    let folder = folder("colour");
    fs::write(folder.join("w/a.txt"), "old\n").unwrap();
    let script = r#"
[[answer]]
text = "I change **it**."
tool_calls = [{ id = "c1", name = "fsWrite", arguments = '{"path": "a.txt", "content": "new\n"}' }]
[[answer]]
text = "Done."
"#;
    let mut terminal = Terminal::open(&folder, script, &[]);
    terminal.waits_for("help says what can be said");
    terminal.waits_for("› ");
    terminal.press("change it\r");
    terminal.waits_for("I change \u{1b}[1mit\u{1b}[0m.");
    terminal.waits_for("Run this?");
    terminal.waits_for("\u{1b}[31m-old\u{1b}[0m\r\n    \u{1b}[32m+new\u{1b}[0m");
    terminal.waits_for("[N]o: ");
    terminal.press("y\r");
    terminal.waits_for("✔");
    terminal.waits_for("Done.");
    terminal.waits_for("› ");
    assert_eq!(fs::read_to_string(folder.join("w/a.txt")).unwrap(), "new\n");
    // The history has what was said, and not the answer to the question.
    terminal.press("\u{1b}[A");
    terminal.waits_for("change it");
    terminal.press("\u{3}");
    terminal.waits_for("› ");
    terminal.press("\u{4}");
    assert_eq!(terminal.ends(), 0);
    let history = fs::read_to_string(folder.join("state/callwright/history")).unwrap();
    assert!(history.contains("change it") && !history.lines().any(|line| line == "y"), "{history}");
}

#[test]
fn ctrl_c_once_ends_the_turn_and_the_session_stays() {
    let folder = folder("once");
    let script = r#"
[[answer]]
tool_calls = [{ id = "c1", name = "runCommand", arguments = '{"command": "echo begun > begun; sleep 600"}' }]
[[answer]]
text = "I am still here."
"#;
    let mut terminal = Terminal::open(&folder, script, &["--allow", "runCommand"]);
    terminal.waits_for("› ");
    terminal.press("wait\r");
    terminal.waits_for("▸ runCommand");
    terminal.press("\u{3}");
    terminal.waits_for("✘");
    terminal.waits_for("› ");
    terminal.press("still there?\r");
    terminal.waits_for("I am still here.");
    terminal.waits_for("› ");
    terminal.press("exit\r");
    assert_eq!(terminal.ends(), 0);
}

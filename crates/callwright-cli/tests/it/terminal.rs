//! The session at a real terminal: colour, the line editor, questions, Ctrl-C.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use callwright::value::Value;
use callwright_agent::run::{Resumed, flaws};
use callwright_replay::{Replay, Script};
use callwright_store::{Store, StoreConfig};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// Builds and tests of others may take the cores.
const PATIENCE: Duration = Duration::from_secs(120);

struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    drawn: Receiver<Vec<u8>>,
    seen: String,
    replay: Replay,
}

impl Terminal {
    fn open(folder: &Path, script: &str, args: &[&str]) -> Terminal {
        Terminal::of(folder, script, &["chat", "--model", "scripted"], args, "")
    }

    /// `begin` at a terminal into which `typed` was typed before it began.
    fn of(folder: &Path, script: &str, begin: &[&str], args: &[&str], typed: &str) -> Terminal {
        let replay = Replay::start(Script::from_toml(script).unwrap()).unwrap();
        let pty = native_pty_system();
        let pair = pty.openpty(PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_callwright"));
        command.args(begin);
        command.args(["--upstream", &replay.base_url()]);
        command.args(args);
        command.cwd(folder.join("w"));
        command.env("XDG_STATE_HOME", folder.join("state"));
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        let (mut keys, mut screen) =
            (pair.master.take_writer().unwrap(), pair.master.try_clone_reader().unwrap());
        keys.write_all(typed.as_bytes()).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
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
        Terminal { child, keys, drawn, seen: String::new(), replay }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until `text` is drawn, and forgets what stands before its end.
    fn waits_for(&mut self, text: &str) -> String {
        self.waits_for_one(&[text]).1
    }

    /// Waits until one of these is drawn, and forgets what stands before its end. Returns which.
    fn waits_for_one<'t>(&mut self, texts: &[&'t str]) -> (&'t str, String) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = texts.iter().filter_map(|text| Some((self.seen.find(text)?, *text)));
            if let Some((at, text)) = found.min() {
                let rest = self.seen.split_off(at + text.len());
                return (text, std::mem::replace(&mut self.seen, rest));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(piece) = self.drawn.recv_timeout(left) else { panic!("{texts:?} not in {:?}", self.seen) };
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    /// Its exit code, and what its model was asked.
    fn over(mut self) -> (u32, Vec<Value>) {
        let code = self.child.wait().unwrap().exit_code();
        let requests =
            self.replay.requests().into_iter().filter(|request| request.path.ends_with("/chat/completions"));
        (code, requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect())
    }

    fn ends(self) -> u32 {
        self.over().0
    }
}

/// A session as another process finds it.
fn resumed(store: &Path, session: &str) -> Resumed {
    let store = Store::open(StoreConfig::at(store)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let kept = runtime.block_on(store.session(session)).unwrap().unwrap();
    store.close();
    Resumed::of(&kept).unwrap()
}

/// The conversation of a session, as it would be sent next.
fn conversation(store: &Path, session: &str) -> Vec<Value> {
    resumed(store, session).machine.messages().to_vec()
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
    // A wrong key is no answer.
    terminal.press("u\r");
    terminal.waits_for("Answer y, a or n.");
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

/// What was typed before a question was there answers something else.
#[test]
fn a_yes_that_was_typed_before_the_question_is_none() {
    let folder = folder("ahead");
    let script = r#"
        [[answer]]
        when = { last_role = "user" }
        tool_calls = [{ id = "a", name = "runCommand", arguments = '{"command": "touch ran"}' }]
        [[answer]]
        text = "As you like."
    "#;
    let begin = ["run", "Do it.", "--model", "scripted", "--store", "off"];
    let mut terminal = Terminal::of(&folder, script, &begin, &[], "y\ny\n");
    terminal.waits_for("[N]o: ");
    terminal.press("n\n");
    terminal.waits_for("As you like.");
    assert_eq!(terminal.ends(), 0);
    assert!(!folder.join("w/ran").exists());
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

/// The model has begun to speak, and does not go on.
#[test]
fn ctrl_c_while_the_model_speaks_gives_the_prompt_back() {
    let folder = folder("slow");
    let lines: String = (1..=400).map(|number| format!("Line {number}\n")).collect();
    let script = format!(
        "[[answer]]\nwhen = {{ last_contains = \"wait\" }}\ntext = {lines:?}\nform = {{ pieces = 8 }}\n\
         fault = {{ stall_after = 6000 }}\n\
         [[answer]]\nwhen = {{ last_contains = \"still there?\" }}\ntext = \"I am still here.\"\n"
    );
    let store = folder.join("callwright.db");
    let args = ["--store", store.to_str().unwrap(), "--session", "slow"];
    let mut terminal = Terminal::open(&folder, &script, &args);
    terminal.waits_for("› ");
    terminal.press("wait\r");
    terminal.waits_for("Line 3");
    terminal.press("\u{3}");
    terminal.waits_for("Cancelled");
    terminal.waits_for("› ");
    let kept = conversation(&store, "slow");
    assert_eq!(flaws(&kept), []);
    assert!(kept.iter().any(|message| message["content"] == "wait"), "{kept:?}");
    terminal.press("still there?\r");
    terminal.waits_for("I am still here.");
    terminal.waits_for("› ");
    terminal.press("exit\r");
    let (code, asked) = terminal.over();
    assert_eq!((code, asked.len()), (0, 2));
    assert_eq!(flaws(asked[1]["messages"].as_array().unwrap()), []);
    assert_eq!(flaws(&conversation(&store, "slow")), []);
}

#[test]
fn ctrl_c_twice_stops_at_once_and_the_session_can_go_on() {
    let folder = folder("twice");
    let script = r#"
[[answer]]
repeat = true
tool_calls = [{ name = "runCommand", arguments = '{"command": "trap \"\" TERM INT HUP; echo begun; sleep 600"}' }]
"#;
    let store = folder.join("callwright.db");
    let store = store.to_str().unwrap();
    // The command has a moment to end by itself. A busy machine may let that pass between the two: then once more.
    let stopped = (1..=5).map(|n| format!("twice-{n}")).find(|id| {
        let mut terminal =
            Terminal::open(&folder, script, &["--allow", "runCommand", "--store", store, "--session", id]);
        terminal.waits_for("› ");
        terminal.press("wait\r");
        terminal.waits_for("▸ runCommand");
        terminal.press("\u{3}");
        terminal.waits_for("once more stops at once");
        terminal.press("\u{3}");
        if terminal.waits_for_one(&["stopped at once", "✘"]).0 == "✘" {
            terminal.child.kill().unwrap();
            return false;
        }
        assert!(terminal.waits_for("goes on").contains(&format!("callwright chat --resume {id}")));
        let (code, asked) = terminal.over();
        assert_eq!((code, asked.len()), (130, 1));
        let kept = resumed(Path::new(store), id);
        assert_eq!(flaws(kept.machine.messages()), []);
        !kept.begun.is_empty()
    });
    let id = stopped.expect("one is stopped while its command runs");
    // What the command came to nobody knows: it is said, and not run again.
    let answer = "[[answer]]\ntext = \"I look first.\"";
    let mut terminal = Terminal::open(&folder, answer, &["--store", store, "--resume", &id]);
    terminal.waits_for("whether it was done is not known");
    terminal.waits_for("I look first.");
    terminal.waits_for("› ");
    terminal.press("exit\r");
    let (code, asked) = terminal.over();
    assert_eq!((code, asked.len()), (0, 1));
    let messages = asked[0]["messages"].as_array().unwrap();
    assert_eq!(flaws(messages), []);
    assert!(messages.last().unwrap()["content"].as_str().unwrap().contains("unknown"), "{messages:?}");
}

/// A run asks as a session does: with the change that the call would make, until the answer is one.
#[test]
fn a_run_shows_the_change_that_it_asks_for() {
    let folder = folder("run-diff");
    fs::write(folder.join("w/a.txt"), "old\n").unwrap();
    let script = r#"
[[answer]]
tool_calls = [{ id = "c1", name = "fsWrite", arguments = '{"path": "a.txt", "content": "new\n"}' }]
[[answer]]
text = "Done."
"#;
    let mut terminal = Terminal::of(&folder, script, &["run", "change it", "--model", "scripted"], &[], "");
    terminal.waits_for("Run this?");
    terminal.waits_for("    -old\r\n    +new\r\n");
    terminal.waits_for("[N]o: ");
    terminal.press("x\r");
    terminal.waits_for("Answer y, a or n.");
    terminal.press("y\r");
    terminal.waits_for("Done.");
    assert_eq!(terminal.ends(), 0);
    assert_eq!(fs::read_to_string(folder.join("w/a.txt")).unwrap(), "new\n");
}

/// Who gives no input is told what is waited for.
#[test]
fn a_command_that_reads_the_terminal_says_so() {
    for (args, what) in
        [(["parse", "-"], "a model's answer"), (["heal", "-"], "a JSON text"), (["lint", "-"], "input")]
    {
        let pty = native_pty_system();
        let pair = pty.openpty(PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_callwright"));
        command.args(args);
        let mut keys = pair.master.take_writer().unwrap();
        let mut screen = pair.master.try_clone_reader().unwrap();
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (mut seen, mut piece) = (String::new(), [0; 4096]);
        let waits = format!("waiting for {what} at the terminal");
        while !seen.contains(&waits) {
            let n = screen.read(&mut piece).unwrap();
            assert!(0 < n, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&piece[..n]));
        }
        keys.write_all(b"[]\r\x04").unwrap();
        child.wait().unwrap();
    }
}

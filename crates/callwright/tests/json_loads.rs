//! `json_loads_error` against its two models: CPython's `json.loads`, and the strict reader.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, reason = "tests; a skipped one says so")]

mod broken_texts;

use std::io::Write;
use std::process::{Command, Stdio};

use broken_texts::broken_texts;
use callwright::json_loads_error;

#[test]
fn agrees_with_strict_on_what_is_json() {
    for text in broken_texts(20_000) {
        // `json.loads` knows three words more than JSON.
        if text.contains("NaN") || text.contains("Infinity") {
            continue;
        }
        assert_eq!(json_loads_error(&text).is_none(), callwright_json::strict(&text).is_ok(), "{text:?}");
    }
}

/// Asks the Python of this machine about the same texts.
#[test]
fn agrees_with_the_python_at_hand() {
    const SCRIPT: &str = "import json, sys\n\
        sys.stdin.reconfigure(encoding='utf-8', newline='')\n\
        for text in sys.stdin.read().split('\\0'):\n\
        \x20   try: json.loads(text); print('ok')\n\
        \x20   except json.JSONDecodeError as e: print(e)\n";
    let version = Command::new("python3").arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    if !["Python 3.10.", "Python 3.11.", "Python 3.12."].iter().any(|v| version.starts_with(v)) {
        eprintln!("SKIPPED agrees_with_the_python_at_hand: no python3 of 3.10 to 3.12 here ({version:?})");
        return;
    }
    let texts = broken_texts(20_000);
    let mut python = Command::new("python3")
        .args(["-X", "utf8", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(texts.join("\0").as_bytes()).unwrap();
    let said = String::from_utf8(python.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said.lines().count(), texts.len());
    for (text, said) in texts.iter().zip(said.lines()) {
        let ours = json_loads_error(text).map_or_else(|| String::from("ok"), |e| e.to_string());
        assert_eq!(ours, said, "{text:?}");
    }
}

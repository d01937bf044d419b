//! `json_loads_error` against its two models: CPython's `json.loads`, and the strict reader.
#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::io::Write;
use std::process::{Command, Stdio};

use callwright::json_loads_error;

use crate::broken_texts::broken_texts;

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

/// Each line was printed by CPython 3.11.
#[test]
fn says_what_python_says() {
    let cases: &[(&str, &str)] = &[
        // S4-08, S4-19: the worked example's true position is 61.
        (
            r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}}}"#,
            "Extra data: line 1 column 62 (char 61)",
        ),
        // S4-35: here it is 74.
        (
            r#"{"tool": "run_code", "arguments": {"code": "import math\nprint(math.pi)"}}}}"#,
            "Extra data: line 1 column 75 (char 74)",
        ),
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("{\"a\":\n 1 \"b\": 2}", "Expecting ',' delimiter: line 2 column 4 (char 9)"),
        (r#"{"a" 1}"#, "Expecting ':' delimiter: line 1 column 6 (char 5)"),
        (r#"{"a":1,}"#, "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)"),
        (r#"{'a':1}"#, "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[1,]", "Expecting value: line 1 column 4 (char 3)"),
        ("[", "Expecting value: line 1 column 2 (char 1)"),
        (r#"{"é": tru}"#, "Expecting value: line 1 column 7 (char 6)"),
        (r#"{"a"#, "Unterminated string starting at: line 1 column 2 (char 1)"),
        ("\"\\", "Unterminated string starting at: line 1 column 1 (char 0)"),
        ("\"a\nb\"", "Invalid control character at: line 1 column 3 (char 2)"),
        (r#"{"a":"\q"}"#, "Invalid \\escape: line 1 column 7 (char 6)"),
        (r#""\u12""#, "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
        (r#""\u1234"#, "Invalid \\uXXXX escape: line 1 column 3 (char 2)"),
        (r#""\uD83D\u00zz""#, "Invalid \\uXXXX escape: line 1 column 9 (char 8)"),
        ("01", "Extra data: line 1 column 2 (char 1)"),
        ("1.", "Extra data: line 1 column 2 (char 1)"),
        ("1e+", "Extra data: line 1 column 2 (char 1)"),
        ("-", "Expecting value: line 1 column 1 (char 0)"),
        ("\u{feff}{}", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"),
        ("{}\u{a0}", "Extra data: line 1 column 3 (char 2)"),
    ];
    for (text, want) in cases {
        assert_eq!(json_loads_error(text).map(|e| e.to_string()).as_deref(), Some(*want), "{text:?}");
    }
}

#[test]
fn takes_what_python_takes_beyond_json() {
    for text in ["NaN", "[-Infinity, Infinity]", r#"{"a":1,"a":2}"#, r#""\ud800""#] {
        assert_eq!(json_loads_error(text), None, "{text}");
    }
    assert!(callwright_json::strict("NaN").is_err());
    assert!(callwright_json::strict("[-Infinity, Infinity]").is_err());
}

#[test]
fn deep_nesting_needs_no_stack() {
    let error = json_loads_error(&"[".repeat(1_000_000)).unwrap();
    assert_eq!((error.message, error.position), ("Expecting value", 1_000_000));
}

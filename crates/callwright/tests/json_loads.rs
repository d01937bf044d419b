//! `json_loads_error` against its two models: CPython's `json.loads`, and the strict reader.

use std::io::Write;
use std::process::{Command, Stdio};

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

/// Texts near JSON: right ones with a few pieces put in, taken out or doubled.
fn broken_texts(n: usize) -> Vec<String> {
    const SEEDS: [&str; 6] = [
        r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}"#,
        r#"{"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\ud83d\ude00\n"}, "é": "日本"}"#,
        r#"[{"x": ""}, [], {}, "say \"hi\"", 0, 10, 1E-2]"#,
        "{\n  \"path\": \"C:\\\\dir\",\n  \"n\": 0.10\n}",
        r#""just a string \\ \/ \t""#,
        "[[[[1,2],[3]],{}],false]",
    ];
    const PIECES: [&str; 34] = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ",",
        ":",
        "'",
        " ",
        "\n",
        "\t",
        "\r",
        "\u{1}",
        "1",
        "0",
        "-",
        ".",
        "e",
        "u",
        "\\u",
        "\\ud83d",
        "true",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "é",
        "😀",
        "\u{a0}",
        "//",
        "x",
        "\u{7f}",
        "+",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut texts = Vec::with_capacity(n);
    for _ in 0..n {
        let mut chars: Vec<char> = SEEDS[next(SEEDS.len())].chars().collect();
        for _ in 0..1 + next(4) {
            let at = next(chars.len() + 1);
            match next(4) {
                0 => chars.truncate(at),
                1 if at < chars.len() => drop(chars.remove(at)),
                _ => drop(chars.splice(at..at, PIECES[next(PIECES.len())].chars())),
            }
        }
        texts.push(chars.into_iter().collect());
    }
    texts
}

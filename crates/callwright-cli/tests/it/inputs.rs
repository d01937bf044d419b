//! What is read: encodings, and lines that lack what they need.

use crate::binary::{TOOLS, file, run};

const CALL: &str = "<run_code>{\"code\": \"1\"}</run_code>";

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let tools = file("mark-tools.json", format!("\u{feff}{TOOLS}"));
    let parsed = run(&["parse", "--json", "--tools", &tools], format!("\u{feff}Sure.\n{CALL}"));
    assert_eq!((parsed.code, parsed.err.as_str()), (0, ""), "{}", parsed.out);
    let report = parsed.json();
    assert_eq!((&report["calls"][0]["name"], &report["text"]), (&"run_code".into(), &"Sure.".into()));
    // Places count every byte of the file.
    assert_eq!(report["calls"][0]["span"][0], 9);
    assert_eq!(run(&["lint", &tools], "").code, 0);
    let schema = file("mark-schema.json", "\u{feff}{\"type\": \"object\"}");
    let healed = run(&["heal", "--schema", &schema], "\u{feff}{\"a\": 1,}");
    assert_eq!((healed.code, healed.out.as_str()), (0, "{\"a\": 1}\n"), "{}", healed.err);
    let config = file("mark.toml", "\u{feff}listen = \"127.0.0.1:0\"\n");
    let checked =
        run(&["serve", "--check", "--offline", "--config", &config, "--upstream", "http://a/v1"], "");
    assert_eq!(checked.code, 0, "{}", checked.err);
}

#[test]
fn utf_16_is_named() {
    let units = format!("[ {CALL} ]").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [&[0xff, 0xfe], &units[..]].concat();
    for (name, content) in [("utf-16.json", units), ("utf-16-marked.json", marked)] {
        let tools = file(name, content);
        for args in [&["lint", &tools][..], &["parse", "--tools", &tools], &["heal", &tools]] {
            let ran = run(args, CALL);
            assert_eq!(ran.code, 4, "{args:?}: {}", ran.err);
            assert!(ran.err.contains("looks like UTF-16: save it as UTF-8"), "{}", ran.err);
        }
        let ran = run(&["parse", "--jsonl", &tools], "");
        assert_eq!(ran.code, 6, "{}", ran.err);
        assert!(ran.out.contains("line 1: looks like UTF-16"), "{}", ran.out);
    }
}

#[test]
fn a_line_without_what_it_needs_is_refused_with_its_number() {
    for (args, line, why) in [
        (&["parse", "--jsonl"][..], "{\"id\": 7, \"txt\": \"x\"}", "it has no `text`"),
        (&["parse", "--jsonl"], "{\"id\": 7}", "it has no `text`"),
        (&["parse", "--jsonl"], "{\"id\": 7, \"text\": \"\", \"start\": \"thinking\"}", "`start` must be"),
        (&["heal", "--jsonl"], "{\"id\": 7, \"text\": \"1\"}", "it has no `input`"),
        (
            &["heal", "--jsonl"],
            "{\"id\": 7, \"input\": \"1\", \"finish_reason\": 1}",
            "`finish_reason` must be",
        ),
    ] {
        let ran = run(args, format!("\n{line}\n"));
        assert_eq!(ran.code, 6, "{line}: {}", ran.out);
        let answer = ran.json();
        assert_eq!(answer["id"], 7);
        assert!(
            answer["error"].as_str().is_some_and(|error| error.starts_with(&format!("line 2: {why}"))),
            "{answer}"
        );
    }
    let counted = run(&["bench", "defects", "-"], "{\"txt\": \"x\"}\n");
    assert_eq!(counted.code, 6, "{}", counted.out);
    assert!(counted.err.contains("line 1: it has no `text`"), "{}", counted.err);
}

/// A user's own members are nobody's business; a misspelt one would leave something out.
#[test]
fn a_misspelt_member_is_told_once() {
    let line =
        "{\"text\": \"x\", \"tols\": [], \"finishReason\": \"stop\", \"model\": \"m\", \"name\": \"n\"}\n";
    let ran = run(&["parse", "--jsonl"], line.repeat(3));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut told: Vec<&str> = ran.err.lines().collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "callwright: `finishReason` is ignored: did you mean `finish_reason`?",
            "callwright: `tols` is ignored: did you mean `tools`?",
        ]
    );
}

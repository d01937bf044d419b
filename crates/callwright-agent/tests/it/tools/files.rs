//! Files are read, written, changed, deleted, and had back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright_agent::{Changes, Workspace};
use tempfile::TempDir;

use crate::tools::bench::{Bench, User};

/// S0-59, R4, R11: what was written, in UTF-8 bytes, and no prose.
#[tokio::test]
async fn a_write_says_what_it_wrote() {
    let bench = Bench::new();
    let written = bench.call("fsWrite", json!({"path": "test.py", "content": "print(\"hello\")"})).await;
    assert_eq!(written, json!({"written": "test.py", "bytes": 14}));
    let written = bench.call("fsWrite", json!({"path": "a/b/ü.txt", "content": "é"})).await;
    assert_eq!(written, json!({"written": "a/b/ü.txt", "bytes": 2}));
    assert_eq!((bench.text("test.py"), bench.text("a/b/ü.txt")), ("print(\"hello\")".into(), "é".into()));
    let grown = bench.call("fsAppend", json!({"path": "test.py", "content": "\n"})).await;
    assert_eq!(grown, json!({"appended": "test.py", "bytes": 1, "size": 15}));
}

/// S0-60: what cannot be done is data, with the path.
#[tokio::test]
async fn an_error_is_data_with_the_path() {
    let bench = Bench::new();
    bench.put("file", "x");
    fs::create_dir(bench.path("folder")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, bench.path("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let cases = [
        ("fsWrite", "file/below", "not a directory"),
        ("fsWrite", "folder", "not a regular file, but a directory"),
        ("fsWrite", "dangling", "not a regular file, but a symbolic link that leads nowhere"),
        ("fsWrite", "pipe", "not a regular file, but a device, pipe or socket"),
        ("fsWrite", "new/", "not a usable path: it ends like a directory"),
        ("fsWrite", "", "not a usable path: it is empty"),
        ("fsWrite", "/etc/hostname", "outside of the workspace: only files beneath it can be reached"),
        ("fsRead", "missing", "no such file or directory"),
        ("fsRead", "pipe", "not a regular file, but a device, pipe or socket"),
        ("fsRead", "folder", "not a regular file, but a directory"),
        ("deleteFile", "folder", "not a regular file, but a directory"),
        ("deleteFile", "missing", "no such file or directory"),
        ("listDirectory", "file", "not a directory"),
        ("strReplace", "missing", "no such file or directory"),
    ];
    for (tool, path, why) in cases {
        let mut arguments = json!({"path": path});
        if tool == "fsWrite" {
            arguments["content"] = json!("y");
        } else if tool == "strReplace" {
            arguments["old"] = json!("x");
            arguments["new"] = json!("y");
        }
        assert_eq!(bench.call(tool, arguments).await, json!({"error": why, "path": path}), "{tool} {path}");
    }
    assert!(bench.changes.list().is_empty());
    // The system's own reason is passed on.
    let long = "a".repeat(300);
    let refused = bench.call("fsWrite", json!({"path": long, "content": "y"})).await;
    assert_eq!(refused["path"], json!(long));
    assert!(refused["error"].as_str().unwrap().contains("too long"), "{refused}");
}

#[tokio::test]
async fn a_write_replaces_the_file_and_keeps_its_mode() {
    let bench = Bench::new();
    bench.put("run.sh", "old");
    fs::set_permissions(bench.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    // A second name of the same file: it is not written through.
    fs::hard_link(bench.path("run.sh"), bench.folder.path().join("other")).unwrap();
    symlink("run.sh", bench.path("link")).unwrap();
    bench.call("fsWrite", json!({"path": "link", "content": "new"})).await;
    assert_eq!(bench.text("run.sh"), "new");
    assert!(fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(bench.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_to_string(bench.folder.path().join("other")).unwrap(), "old");
    let left: Vec<_> = fs::read_dir(bench.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// S0-52: a whole file, or lines of it.
#[tokio::test]
async fn lines_are_read_within_bounds() {
    let mut bench = Bench::new();
    let text: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    bench.put("long.txt", &text);
    let read = bench.call("fsRead", json!({"path": "long.txt"})).await;
    assert_eq!(read, json!({"path": "long.txt", "content": text, "lines": 20}));
    let read = bench.call("fsRead", json!({"path": "long.txt", "start_line": 3, "end_line": 4})).await;
    assert_eq!(
        read,
        json!({"path": "long.txt", "content": "line 3\nline 4\n", "lines": 20, "start_line": 3, "end_line": 4})
    );
    bench.context.limits.entries = 5;
    let read = bench.call("fsRead", json!({"path": "long.txt", "start_line": 10})).await;
    assert_eq!(
        (&read["end_line"], &read["more"]),
        (&json!(14), &json!("… 6 more lines: read on with start_line 15"))
    );
    bench.context.limits.bytes = 10;
    let read = bench.call("fsRead", json!({"path": "long.txt"})).await;
    assert_eq!(
        (&read["content"], &read["more"]),
        (&json!("line 1\n"), &json!("… 19 more lines: read on with start_line 2"))
    );
    bench.put("one.txt", "é".repeat(20));
    bench.context.limits.bytes = 5;
    let read = bench.call("fsRead", json!({"path": "one.txt"})).await;
    assert_eq!((&read["content"], &read["more"]), (&json!("éé"), &json!("… the last line is cut")));
    let read = bench.call("fsRead", json!({"path": "one.txt", "start_line": 9})).await;
    assert_eq!(read["error"], json!("there is no line 9: the file has 1 lines"));
    let read = bench.call("fsRead", json!({"path": "one.txt", "start_line": 9, "end_line": 2})).await;
    assert_eq!(read["error"], json!("end_line 2 is before start_line 9"));
    bench.put("empty", "");
    let read = bench.call("fsRead", json!({"path": "empty"})).await;
    assert_eq!(read, json!({"path": "empty", "content": "", "lines": 0}));
}

#[tokio::test]
async fn what_is_no_text_is_said_to_be_none() {
    let bench = Bench::new();
    bench.put("image", b"\x89PNG\r\n\x1a\n\0\0");
    bench.put("latin", b"caf\xe9\n");
    bench.put("nul", b"a\0b");
    bench.put("riff", "RIFFLING is a word\n");
    let read = async |path: &str| bench.call("fsRead", json!({"path": path})).await["error"].clone();
    assert_eq!(read("image").await, json!("a binary file (PNG image), not text"));
    assert_eq!(read("nul").await, json!("a binary file (it holds NUL bytes), not text"));
    assert_eq!(read("latin").await, json!("not UTF-8 text, from byte 3 of these lines on"));
    assert_eq!(read("riff").await, Value::Null);
}

#[tokio::test]
async fn one_place_is_replaced_or_none() {
    let bench = Bench::new();
    bench.put("a.py", "x = 1\ny = 1\n");
    let replace = async |old: &str, new: &str| {
        bench.call("strReplace", json!({"path": "a.py", "old": old, "new": new})).await
    };
    assert_eq!(replace("y = 1", "y = 2").await, json!({"replaced": "a.py", "line": 2, "bytes": 12}));
    assert_eq!(
        replace(" = ", "=").await,
        json!({"error": "old is in the file 2 times, at lines 1, 2: add lines around it so that it is there once",
               "path": "a.py"})
    );
    let nowhere = "old is not in the file: read it again and copy the text exactly";
    assert_eq!(replace("z", "y").await, json!({"error": nowhere, "path": "a.py"}));
    assert_eq!(replace("", "y").await["path"], json!("a.py"));
    assert_eq!(bench.text("a.py"), "x = 1\ny = 2\n");
}

#[tokio::test]
async fn undo_brings_back_any_write() {
    let bench = Bench::new();
    bench.put("a", "one");
    fs::set_permissions(bench.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a", bench.path("link")).unwrap();
    bench.call("fsWrite", json!({"path": "a", "content": "two"})).await;
    bench.call("fsAppend", json!({"path": "a", "content": " three"})).await;
    bench.call("strReplace", json!({"path": "a", "old": "three", "new": "four"})).await;
    bench.call("fsWrite", json!({"path": "new/deep/b", "content": "b"})).await;
    bench.call("deleteFile", json!({"path": "a"})).await;
    bench.call("deleteFile", json!({"path": "link"})).await;
    let undo = async || bench.call("undo", json!({})).await;
    assert_eq!(undo().await, json!({"restored": "link", "change": 6}));
    assert_eq!(fs::read_link(bench.path("link")).unwrap().to_str(), Some("a"));
    assert_eq!(undo().await, json!({"restored": "a", "change": 5, "bytes": 8}));
    assert_eq!(undo().await, json!({"removed": "new/deep/b", "change": 4}));
    assert!(!bench.path("new").exists(), "what was made for it is gone as well");
    assert_eq!(undo().await, json!({"restored": "a", "change": 3, "bytes": 9}));
    assert_eq!(bench.text("a"), "two three");
    assert_eq!(undo().await["change"], json!(2));
    assert_eq!(undo().await, json!({"restored": "a", "change": 1, "bytes": 3}));
    assert_eq!(bench.text("a"), "one");
    assert_eq!(fs::metadata(bench.path("a")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(undo().await, json!({"error": "there is no change that could be undone"}));
    let listed = bench.call("undo", json!({"list": true})).await;
    assert_eq!(listed["changes"].as_array().unwrap().len(), 12);
    assert_eq!(
        listed["changes"][0],
        json!({"change": 1, "path": "a", "before": "3 bytes", "after": "3 bytes"})
    );
    assert_eq!(listed["changes"][11]["undoes"], json!(1));
}

/// A change in the middle takes the later ones of its file with it, and no other file; what the undoing itself did can
/// be undone too.
#[tokio::test]
async fn any_change_can_be_undone_by_its_number() {
    let bench = Bench::new();
    for (path, content) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", "3")] {
        bench.call("fsWrite", json!({"path": path, "content": content})).await;
    }
    let undo = async |change: u64| bench.call("undo", json!({"change": change})).await;
    assert_eq!(undo(3).await, json!({"restored": "a", "change": 3, "bytes": 1}));
    assert_eq!((bench.text("a"), bench.text("b")), ("1".into(), "1".into()));
    assert_eq!(undo(4).await, json!({"error": "change 4 is undone already"}));
    assert_eq!(undo(9).await, json!({"error": "there is no change 9"}));
    assert_eq!(bench.call("undo", json!({})).await, json!({"removed": "b", "change": 2}));
    assert_eq!(bench.call("undo", json!({})).await, json!({"removed": "a", "change": 1}));
}

#[tokio::test]
async fn what_somebody_else_wrote_is_not_undone() {
    let bench = Bench::new();
    bench.call("fsWrite", json!({"path": "a", "content": "model"})).await;
    bench.put("a", "user");
    let undone = bench.call("undo", json!({})).await;
    assert_eq!(undone, json!({"error": "a was changed by somebody else since: read it first", "path": "a"}));
    assert_eq!(bench.text("a"), "user");
}

#[tokio::test]
async fn a_file_over_the_bound_is_told_not_to_be_kept() {
    let keep = |changes: Changes| changes.keeping(10);
    let bench = Bench::with(TempDir::new().unwrap(), User::default(), keep, |commands| commands);
    bench.put("big", "x".repeat(11));
    let written = bench.call("fsWrite", json!({"path": "big", "content": "y"})).await;
    let note = "not possible: the file that stood there was too large to be kept";
    assert_eq!(written, json!({"written": "big", "bytes": 1, "undo": note}));
    let undone = bench.call("undo", json!({})).await;
    let why = "what stood there before change 1 was not kept: it was too large";
    assert_eq!(undone, json!({"error": why}));
    assert_eq!(bench.text("big"), "y");
}

/// The record outlives the process, also one that ended between the record and the deed.
#[test]
fn changes_can_be_undone_by_another_process() {
    let folder = TempDir::new().unwrap();
    let (root, kept) = (folder.path().join("w"), folder.path().join("kept"));
    fs::create_dir(&root).unwrap();
    let open = || Changes::open(&kept, Arc::new(Workspace::open(&root).unwrap())).unwrap();
    let changes = open();
    changes.write("1", "a", b"one").unwrap();
    changes.write("2", "a", b"two").unwrap();
    drop(changes);
    // The deed is missing.
    fs::write(root.join("a"), "one").unwrap();
    let record = fs::read_to_string(kept.join("changes.jsonl")).unwrap();
    fs::write(kept.join("changes.jsonl"), format!("{record}{{\"number\": 3, \"ca")).unwrap();
    let changes = open();
    assert_eq!(changes.list().len(), 2);
    assert_eq!(changes.undo("3", None).unwrap().number, 2);
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "one");
    assert_eq!(open().undo("4", None).unwrap().number, 1);
    assert!(!root.join("a").exists());
    let inside = Changes::open(&root.join("kept"), Arc::new(Workspace::open(&root).unwrap()));
    assert!(inside.unwrap_err().to_string().contains("lies in the workspace"));
}

#[tokio::test]
async fn a_cancelled_call_changes_nothing() {
    let bench = Bench::new();
    bench.context.cancellation.cancel();
    let written = bench.call("fsWrite", json!({"path": "a", "content": "x"})).await;
    assert!(written["error"].as_str().unwrap().starts_with("cancelled"), "{written}");
    assert!(!bench.path("a").exists() && bench.changes.list().is_empty());
}

//! Files are found by name and by content.

use std::fs;
use std::os::unix::fs::symlink;

use callwright::json;

use crate::tools::bench::Bench;

fn filled() -> Bench {
    let bench = Bench::new();
    bench.put("src/main.rs", "fn main() {\n    run();\n}\n");
    bench.put("src/lib/Run.rs", "pub fn run() {}\r\n");
    bench.put("notes.md", "Run it.\n");
    bench.put("target/out.rs", "fn run() {}\n");
    bench.put("src/gen/made.rs", "fn run() {}\n");
    bench.put("src/gen/kept.rs", "fn kept() {}\n");
    bench.put(".gitignore", "/target\n*.log\n");
    bench.put("src/gen/.gitignore", "*\n!kept.rs\n");
    bench.put("run.log", "run\n");
    bench.put(".git/config", "run\n");
    bench.put("image.rs", b"run\0run\n");
    fs::create_dir(bench.folder.path().join("outside")).unwrap();
    fs::write(bench.folder.path().join("outside/run.rs"), "fn run() {}\n").unwrap();
    symlink("../outside", bench.path("link")).unwrap();
    symlink("../outside/run.rs", bench.path("link.rs")).unwrap();
    bench
}

#[tokio::test]
async fn files_are_found_by_part_glob_and_path() {
    let bench = filled();
    let find = async |arguments| bench.call("fileSearch", arguments).await;
    assert_eq!(find(json!({"pattern": "run"})).await, json!({"files": ["src/lib/Run.rs"]}));
    assert_eq!(
        find(json!({"pattern": "*.rs"})).await,
        json!({"files": ["image.rs", "src/main.rs", "src/gen/kept.rs", "src/lib/Run.rs"]})
    );
    assert_eq!(find(json!({"pattern": "src/*.rs"})).await, json!({"files": ["src/main.rs"]}));
    assert_eq!(
        find(json!({"pattern": "lib/*.rs", "path": "src"})).await,
        json!({"files": ["src/lib/Run.rs"]})
    );
    let found = find(json!({"pattern": "made", "path": "src/gen"})).await;
    assert_eq!(
        found,
        json!({"files": []}),
        "what is above says what is ignored, and so does the directory itself"
    );
    assert!(
        find(json!({"pattern": "[a"})).await["error"].as_str().unwrap().starts_with("pattern is not a glob")
    );
    assert_eq!(find(json!({"pattern": "x", "path": "link"})).await["path"], json!("link"));
}

#[tokio::test]
async fn lines_are_found_with_their_numbers() {
    let mut bench = filled();
    let found = bench.call("grepSearch", json!({"pattern": r"\brun\("})).await;
    assert_eq!(
        found,
        json!({"matches": [{"path": "src/main.rs", "line": 2, "text": "    run();"},
                           {"path": "src/lib/Run.rs", "line": 1, "text": "pub fn run() {}"}]})
    );
    let found =
        bench.call("grepSearch", json!({"pattern": "RUN", "files": "*.md", "ignore_case": true})).await;
    assert_eq!(found, json!({"matches": [{"path": "notes.md", "line": 1, "text": "Run it."}]}));
    let found = bench.call("grepSearch", json!({"pattern": "run", "path": "target/out.rs"})).await;
    assert_eq!(found["matches"][0]["line"], json!(1), "a file that is named is searched, ignored or not");
    let broken = bench.call("grepSearch", json!({"pattern": "("})).await;
    assert!(broken["error"].as_str().unwrap().starts_with("pattern is not a regular expression"), "{broken}");
    bench.put("many.txt", "needle\n".repeat(30));
    bench.put("wide.txt", format!("wide {}\n", "é".repeat(400)));
    bench.context.limits.entries = 4;
    let found = bench.call("grepSearch", json!({"pattern": "needle"})).await;
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["more"]), (4, &json!("… 26 more")));
    let found = bench.call("grepSearch", json!({"pattern": "wide"})).await;
    assert!(found["matches"][0]["text"].as_str().unwrap().ends_with("é… 406 more bytes"), "{found}");
    let found = bench.call("fileSearch", json!({"pattern": "*"})).await;
    assert_eq!((found["files"].as_array().unwrap().len(), &found["more"]), (4, &json!("… 4 more")));
}

#[tokio::test]
async fn directories_are_listed_with_folders_first() {
    let mut bench = filled();
    let listed = bench.call("listDirectory", json!({"path": "src"})).await;
    assert_eq!(
        listed,
        json!({"path": "src", "entries": [{"name": "gen/"}, {"name": "lib/"}, {"name": "main.rs", "bytes": 25}]})
    );
    bench.context.limits.entries = 2;
    let listed = bench.call("listDirectory", json!({})).await;
    assert_eq!((&listed["path"], &listed["more"]), (&json!("."), &json!("… 7 more")));
}

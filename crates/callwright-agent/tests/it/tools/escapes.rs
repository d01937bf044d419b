//! Ten thousand paths that try to leave the workspace, against every file tool, beside a thread that swaps a directory
//! for a link to the outside. Nothing outside is read, changed or even named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use callwright::json;
use callwright::value::Value;
use callwright_agent::{CallContext, Decision, Repaired, Rights, Why};
use tempfile::TempDir;

use crate::tools::bench::{Bench, User};

const SECRET: &str = "secret-41d7c0";
/// Stands outside, and in no path that is tried.
const HIDDEN: &str = "hidden-9be2f4";
const CASES: usize = 10_000;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn of<'t, T: ?Sized>(&mut self, choices: &[&'t T]) -> &'t T {
        choices[self.below(choices.len())]
    }
}

/// One path: steps that go up, through links, around, and at the end a file that is outside.
fn path(numbers: &mut Numbers, root: &Path) -> String {
    let root = root.to_str().unwrap();
    let outside = Path::new(root).with_file_name("outside");
    let outside = outside.to_str().unwrap();
    let steps = [
        "..",
        "..",
        "..",
        ".",
        "",
        "sub",
        "sub/deep",
        "absolute",
        "relative",
        "chain",
        "folder_link",
        "swap",
        "swap",
        "loop",
        "...",
        ".. ",
        " ..",
        "..\u{200b}",
        "．．",
        "‥",
        "%2e%2e",
        "..%2f",
        "..\\..",
        "~",
        "~root",
        "*",
        "outside",
        "w",
        "proc",
        "self",
        "root",
        "sub/..",
        "swap/..",
        "relative/..",
        "absolute/../outside",
        "..;",
        "..\u{0}",
        "\u{2024}\u{2024}",
        "..\u{2215}..",
        "C:",
        "file:",
        "file_link",
        "back",
    ];
    let ends = [
        "canary.txt",
        "outside/canary.txt",
        "new.txt",
        "",
        ".",
        "..",
        "canary.txt/",
        "canary.txt.",
        "canary.txt\u{0}.md",
    ];
    let begins = [
        "",
        "",
        "",
        "",
        "/",
        "//",
        "./",
        "../",
        "../../",
        "file://",
        "\\\\?\\",
        "/proc/self/cwd/",
        "/proc/self/cwd/../",
        "/proc/self/root/",
        "/proc/thread-self/root/",
        "/dev/fd/3/",
        "/proc/self/fd/3/",
        "~/",
    ];
    let mut path = match numbers.below(8) {
        0 => format!("{root}/"),
        1 => format!("{outside}/"),
        2 => format!("/proc/self/root{outside}/"),
        3 => format!("{root}/../outside/"),
        _ => numbers.of(&begins).to_owned(),
    };
    if numbers.below(50) == 0 {
        path.push_str(&"sub/../".repeat(numbers.below(100)));
    }
    for _ in 0..numbers.below(6) {
        path.push_str(numbers.of(&steps));
        path.push('/');
    }
    path.push_str(numbers.of(&ends));
    if numbers.below(100) == 0 {
        path.push_str(&"a".repeat(numbers.below(6000)));
    }
    path
}

fn call(numbers: &mut Numbers, path: &str) -> (&'static str, Value) {
    match numbers.below(32) {
        0..=3 => ("fsWrite", json!({"path": path, "content": "written"})),
        4..=6 => ("fsAppend", json!({"path": path, "content": "more"})),
        7..=9 => ("strReplace", json!({"path": path, "old": SECRET, "new": "replaced"})),
        10..=13 => ("deleteFile", json!({"path": path})),
        14..=17 => ("listDirectory", json!({"path": path})),
        // These go through everything beneath.
        18 => ("fileSearch", json!({"pattern": "*", "path": path})),
        19 => ("grepSearch", json!({"pattern": "secret", "path": path})),
        20..=22 => ("undo", json!({})),
        _ => ("fsRead", json!({"path": path})),
    }
}

/// Makes `swap` a directory and a link to the outside, in turns.
fn swapping(root: PathBuf, stop: Arc<AtomicBool>, turns: Arc<AtomicUsize>) {
    let (swap, aside) = (root.join("swap"), root.join("aside"));
    while !stop.load(Ordering::Relaxed) {
        // A tool may have written between: what stands in the way is not ours to care for.
        let _ = fs::rename(&swap, &aside);
        let _ = symlink("../outside", &swap);
        thread::yield_now();
        let _ = fs::remove_file(&swap);
        let _ = fs::rename(&aside, &swap);
        let _ = fs::create_dir(&swap);
        turns.fetch_add(1, Ordering::Relaxed);
        thread::yield_now();
    }
}

/// The outside, and the ways to it.
fn lay_out(root: &Path) {
    let outside = root.with_file_name("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("canary.txt"), SECRET).unwrap();
    fs::write(outside.join(HIDDEN), SECRET).unwrap();
    fs::create_dir(root.join("swap")).unwrap();
    links(root);
}

/// Makes the links anew, whatever the tools have made of them.
fn links(root: &Path) {
    let outside = root.with_file_name("outside");
    for (link, target) in [
        ("absolute", outside.to_str().unwrap()),
        ("relative", "../outside"),
        ("folder_link", "sub"),
        ("chain", "chain2"),
        ("chain2", "sub/chain3"),
        ("sub/chain3", "../../outside"),
        ("sub/deep/back", "../../.."),
        ("back", ".."),
        ("loop", "loop2"),
        ("loop2", "loop"),
        ("file_link", "../outside/canary.txt"),
        ("sub/canary.txt", "../../outside/canary.txt"),
        ("canary.txt", "/proc/self/cwd/../outside/canary.txt"),
    ] {
        let link = root.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&link).or_else(|_| fs::remove_dir_all(&link));
        symlink(target, link).unwrap();
    }
}

#[tokio::test]
async fn no_path_leads_outside() {
    // In memory, where there is such a place: thousands of files are synchronised.
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let mut bench = Bench::with(folder, User::default(), |changes| changes, |commands| commands);
    // The wall alone is to hold.
    bench.context.approved = true;
    let root = bench.path("").canonicalize().unwrap();
    lay_out(&root);
    let (stop, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (root_of_thread, stop_of_thread, turns_of_thread) = (root.clone(), stop.clone(), turns.clone());
    let racer = thread::spawn(move || swapping(root_of_thread, stop_of_thread, turns_of_thread));
    let mut numbers = Numbers(0x5eed_2026);
    let (mut done, mut refused) = (0, 0);
    for case in (0..CASES).step_by(4) {
        // Several at once: they are in each other's way as well.
        let calls: [_; 4] = std::array::from_fn(|_| {
            let path = path(&mut numbers, &root);
            (call(&mut numbers, &path), path)
        });
        let run = |at: usize| bench.result(calls[at].0.0, &calls[at].0.1);
        let results = tokio::join!(run(0), run(1), run(2), run(3));
        for (((tool, _), path), result) in calls.iter().zip([results.0, results.1, results.2, results.3]) {
            let content = result.content();
            let leaks = content.contains(SECRET) || content.contains(HIDDEN);
            assert!(!leaks, "case {case}: {tool} {path:?}: {content}");
            if result.is_error() { refused += 1 } else { done += 1 }
        }
        // The tools delete links as well.
        if case % 100 == 0 {
            links(&root);
        }
    }
    stop.store(true, Ordering::Relaxed);
    racer.join().unwrap();
    let outside = root.with_file_name("outside");
    let mut names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["canary.txt", HIDDEN]);
    for name in names {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), SECRET);
    }
    let mut beside: Vec<_> =
        fs::read_dir(bench.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["kept", "outside", "temporary", "w"]);
    assert!(100 < turns.load(Ordering::Relaxed), "nobody raced");
    // It is no proof where every call fails: many of these paths stay inside.
    assert!(500 < done && 1000 < refused, "{done} done, {refused} refused");
}

/// What runs code later: no tool writes it before somebody has approved this very call, whatever is permitted.
#[tokio::test]
async fn what_programs_obey_is_written_with_an_approval_alone() {
    let bench = Bench::new();
    let git = |folder: &str| {
        for part in ["objects/x", "refs/x", "hooks/x"] {
            bench.put(&format!("{folder}/{part}"), "");
        }
        bench.put(&format!("{folder}/HEAD"), "ref: refs/heads/main\n");
        bench.put(&format!("{folder}/config"), "[core]\n");
    };
    git(".git");
    git("sub/.git");
    git("bare.git");
    bench.put("worktree/.git", "gitdir: ../.git/worktrees/a\n");
    bench.put("callwright.toml", "");
    bench.put("plain.txt", "[core]\n");
    symlink(".git", bench.path("link")).unwrap();
    fs::create_dir(bench.path("made")).unwrap();
    let all = ["fsWrite", "fsAppend", "strReplace", "deleteFile", "runCommand"].map(str::to_owned);
    let rights = Rights { yes: true, allow: all.into(), ..Rights::default() };
    let root = bench.path("").canonicalize().unwrap();
    let absolute = root.join(".git/config").display().to_string();
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "./made/../.git/config",
        "new/../.git/config",
        "link/config",
        "link/hooks/pre-commit",
        "sub/.git/config",
        "sub/.git/hooks/new/deep",
        "worktree/.git",
        "bare.git/config",
        "bare.git/hooks/pre-commit",
        "callwright.toml",
        "sub/Callwright.TOML",
        ".envrc",
        ".vscode/tasks.json",
        ".mcp.json",
        ".claude/settings.json",
        ".github/workflows/ci.yml",
        &absolute,
    ] {
        for (tool, arguments) in [
            ("fsWrite", json!({"path": path, "content": "[core]\nfsmonitor = touch pwned\n"})),
            ("fsAppend", json!({"path": path, "content": "x"})),
            ("strReplace", json!({"path": path, "old": "[core]", "new": "x"})),
            ("deleteFile", json!({"path": path})),
        ] {
            let decided = bench.toolbox.decide(tool, &arguments.to_string(), Repaired::Exact, &rights);
            assert_eq!(decided, Decision::Ask(Why::Configures), "{tool} {path}");
            // Nor where nobody decided: a link may have been turned since.
            let result = bench.result(tool, &arguments).await;
            assert!(result.is_error(), "{tool} {path}: {}", result.content());
        }
    }
    assert_eq!(bench.text(".git/config"), "[core]\n");
    // What is no configuration is as it was, and an approval is an approval.
    let write = json!({"path": "plain.txt", "content": "x"}).to_string();
    assert_eq!(bench.toolbox.decide("fsWrite", &write, Repaired::Exact, &rights), Decision::Run);
    let approved = CallContext { approved: true, ..bench.context.clone() };
    let write = json!({"path": ".envrc", "content": "x"}).to_string();
    assert!(!bench.toolbox.call("fsWrite", &write, &approved).await.is_error());
    assert_eq!(bench.text(".envrc"), "x");
}

/// In whatever order its parts are written, somebody is asked before git takes a folder for a repository.
#[tokio::test]
async fn no_folder_becomes_a_repository_unasked() {
    let parts = [
        ("config", "[core]\n\tworktree = .\n\tfsmonitor = \"touch PWNED; false\"\n"),
        ("objects/info/x", "x"),
        ("refs/heads/x", "x"),
        ("commondir", "elsewhere"),
        ("HEAD", "ref: refs/heads/main\n"),
    ];
    let rights = Rights { yes: true, allow: ["fsWrite".to_owned()].into(), ..Rights::default() };
    for folder in ["", "sub/"] {
        for first in 0..parts.len() {
            let bench = Bench::new();
            for at in 0..parts.len() {
                let (name, content) = parts[(first + at) % parts.len()];
                let write = json!({"path": format!("{folder}{name}"), "content": content});
                let decided = bench.toolbox.decide("fsWrite", &write.to_string(), Repaired::Exact, &rights);
                // All that comes behind a HEAD asks as well.
                let has_head = bench.path(folder).join("HEAD").exists();
                let asks = name == "HEAD" || has_head;
                let wanted = if asks { Decision::Ask(Why::Configures) } else { Decision::Run };
                assert_eq!(decided, wanted, "{folder}{name} after {at} from {first}");
                assert_eq!(bench.result("fsWrite", &write).await.is_error(), asks, "{folder}{name}");
                if name == "HEAD" {
                    bench.put(&format!("{folder}{name}"), content);
                }
            }
        }
    }
    let bench = Bench::new();
    for path in [
        "config",
        "sub/config",
        "refs/x",
        "objects",
        "headers/HEAD.txt",
        "Makefile",
        "package.json",
        "build.rs",
    ] {
        let write = json!({"path": path, "content": "x"});
        let decided = bench.toolbox.decide("fsWrite", &write.to_string(), Repaired::Exact, &rights);
        assert_eq!(decided, Decision::Run, "{path}");
    }
    for path in
        ["sub/head", "made/../HEAD", "lefthook.yml", "a/Jenkinsfile", "site.code-workspace", "opencode.json"]
    {
        let write = json!({"path": path, "content": "x"});
        let decided = bench.toolbox.decide("fsWrite", &write.to_string(), Repaired::Exact, &rights);
        assert_eq!(decided, Decision::Ask(Why::Configures), "{path}");
    }
}

/// What was written before it was obeyed does not come back unasked.
#[tokio::test]
async fn what_programs_obey_is_undone_with_an_approval_alone() {
    let bench = Bench::new();
    for content in ["evil", "harmless"] {
        assert!(!bench.result("fsWrite", &json!({"path": "config", "content": content})).await.is_error());
    }
    bench.put("HEAD", "ref: refs/heads/main\n");
    let rights = Rights { yes: true, ..Rights::default() };
    for arguments in ["{}", r#"{"change": 2}"#] {
        let decided = bench.toolbox.decide("undo", arguments, Repaired::Exact, &rights);
        assert_eq!(decided, Decision::Ask(Why::Configures));
    }
    assert!(bench.result("undo", &json!({})).await.is_error());
    assert_eq!(bench.text("config"), "harmless");
    let listed = bench.toolbox.decide("undo", r#"{"list": true}"#, Repaired::Exact, &rights);
    assert_eq!(listed, Decision::Run);
    let approved = CallContext { approved: true, ..bench.context.clone() };
    assert!(!bench.toolbox.call("undo", "{}", &approved).await.is_error());
    assert_eq!(bench.text("config"), "evil");
}

/// A hard link is no way to read what stands outside.
#[tokio::test]
async fn a_file_of_several_names_is_read_with_an_approval_alone() {
    let bench = Bench::new();
    let outside = bench.folder.path().join("outside");
    fs::write(&outside, format!("one {SECRET}\n")).unwrap();
    fs::hard_link(&outside, bench.path("hard")).unwrap();
    bench.put("other", "nothing\n");
    let rights = Rights { yes: true, ..Rights::default() };
    for (tool, arguments) in [
        ("fsRead", json!({"path": "hard"})),
        ("strReplace", json!({"path": "hard", "old": "one", "new": "two"})),
        ("fsAppend", json!({"path": "hard", "content": "x"})),
    ] {
        let decided = bench.toolbox.decide(tool, &arguments.to_string(), Repaired::Exact, &rights);
        assert_eq!(decided, Decision::Ask(Why::Linked), "{tool}");
        let result = bench.result(tool, &arguments).await;
        assert!(result.is_error() && result.content().contains("hard links"), "{tool}: {}", result.content());
    }
    for path in [".", "hard"] {
        let found = bench.call("grepSearch", json!({"pattern": "secret", "path": path})).await;
        assert_eq!(found["matches"], json!([]), "{path}");
        assert!(found["linked"].as_str().unwrap().starts_with("1 files"), "{found}");
    }
    let approved = CallContext { approved: true, ..bench.context.clone() };
    let read = bench.toolbox.call("fsRead", r#"{"path": "hard"}"#, &approved).await;
    assert!(read.content().contains(SECRET));
    // Whoever writes all of it puts a new file in the place of the name.
    assert!(!bench.result("fsWrite", &json!({"path": "hard", "content": "mine"})).await.is_error());
    assert_eq!(bench.text("hard"), "mine");
    assert!(fs::read_to_string(&outside).unwrap().contains(SECRET));
}

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
use tempfile::TempDir;

use crate::bench::{Bench, User};

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
    let bench = Bench::with(folder, User::default(), |changes| changes, |commands| commands);
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

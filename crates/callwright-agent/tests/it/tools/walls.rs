//! What a command leaves behind, sees and makes: as the user of the tests, and where that is root as somebody else, too.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright_agent::tools::Program;
use callwright_agent::{Apart, Commands, Decision, Kind, Repaired, Rights, Tool, Toolbox, Why};
use tempfile::TempDir;

use crate::tools::bench::{Bench, User};
use crate::tools::commands::{lives, run};

/// The users that can be had here, each with a workspace.
fn users(commands: impl Fn(Commands) -> Commands) -> Vec<Bench> {
    let own = Bench::with(TempDir::new().unwrap(), User::default(), |changes| changes, &commands);
    [Some(own), Bench::of_nobody(&commands)].into_iter().flatten().collect()
}

/// How a command may try to outlive its run. `MARK` is what is left, if it is.
const WAYS_TO_STAY: [&str; 8] = [
    "sleep MARK & kill -KILL $PPID; exit 0",
    "sleep MARK & kill -STOP $PPID; exit 0",
    "setsid sh -c 'trap \"\" TERM HUP; sleep MARK; sleep MARK' & kill -KILL $PPID",
    "(setsid sh -c '(setsid sleep MARK &); (setsid sleep MARK &)' &); exit 3",
    "(setsid sh -c 'kill -STOP $$; sleep MARK' &); kill -STOP $PPID; kill -KILL $$",
    "sleep MARK & kill -KILL $$",
    "python3 -c 'import ctypes, os, subprocess; subprocess.Popen([\"sleep\", \"MARK\"]); \
     ptrace = ctypes.CDLL(None).ptrace; os._exit(9 if ptrace(16, os.getppid(), 0, 0) == 0 and ptrace(8, os.getppid(), 0, 0) == 0 else 0)'",
    "nohup sh -c 'while :; do sleep MARK & wait; done' >/dev/null 2>&1 & sh -c 'kill -KILL $(ps -o ppid= -p $PPID)'",
];

async fn nothing_stays(bench: &Bench, tries: u32) {
    for (at, way) in WAYS_TO_STAY.iter().enumerate() {
        for n in 0..tries {
            let mark = format!("7{at}3{n}.7");
            let command = way.replace("MARK", &mark);
            let result = bench.call("runCommand", json!({"command": command, "timeout_s": 20})).await;
            assert!(!lives(&mark), "{way}: {result}");
            // It is not the time that ended it, whatever was stopped.
            assert_eq!(result["ended"], json!(null), "{way}: {result}");
        }
    }
}

/// How often each way is tried: ten times where generated tests take more than their usual rounds.
fn tries() -> u32 {
    let times: f64 = std::env::var("CALLWRIGHT_LAWS").map_or(1.0, |times| times.parse().unwrap());
    if 1.0 < times { 10 } else { 1 }
}

#[tokio::test]
async fn nothing_outlives_its_run() {
    for bench in users(|commands| commands) {
        nothing_stays(&bench, tries()).await;
        if bench.unheld().is_none() {
            run(&bench, "sleep 7390.1 & kill -KILL -1").await;
            assert!(!lives("7390.1"));
        }
    }
}

#[tokio::test]
async fn nothing_outlives_its_run_where_processes_have_no_namespace() {
    for apart in [Apart::Files, Apart::Nothing] {
        for bench in users(|commands| commands.with_at_most(apart)) {
            nothing_stays(&bench, tries()).await;
        }
    }
}

/// When the agent is killed, it is the keeper that sees it; when the keeper is killed, the system does.
#[tokio::test]
async fn nothing_outlives_its_keeper() {
    let bench = Bench::new();
    if bench.unheld().is_some() {
        return;
    }
    bench
        .call("runCommand", json!({"command": "setsid sleep 7391.1 & sleep 7391.2", "background": true}))
        .await;
    while !lives("7391.1") {
        tokio::task::yield_now().await;
    }
    let keepers = Command::new("pgrep").args(["-f", "keeper setsid sleep 7391.1"]).output().unwrap();
    let keeper = String::from_utf8(keepers.stdout).unwrap().lines().next().unwrap().to_owned();
    assert!(Command::new("kill").args(["-KILL", &keeper]).status().unwrap().success());
    let ended = bench.call("runCommand", json!({"id": 1, "timeout_s": 20})).await;
    assert!(ended["error"].is_string(), "{ended}");
    while lives("7391.1") || lives("7391.2") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_sees_no_process_but_its_own() {
    let mut other = Command::new("sleep").args(["7392.1"]).stdout(Stdio::null()).spawn().unwrap();
    for bench in users(|commands| commands).iter().filter(|bench| bench.unheld().is_none()) {
        let seen =
            run(bench, "grep -l 7392 /proc/[0-9]*/cmdline; cat /proc/[0-9]*/cmdline | tr '\\0' ' '").await;
        let output = seen["output"].as_str().unwrap();
        assert!(!output.contains("7392.1") && output.contains("cat /proc"), "{seen}");
        assert_ne!(run(bench, "cat /proc/1/environ").await["exit_code"], json!(0));
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn no_file_is_made_that_runs_with_its_owners_rights() {
    let python = |line: &str| format!("python3 -c 'import os, ctypes; {line}'");
    for bench in users(|commands| commands) {
        for way in [
            "cp /bin/sh x && chmod u+s x".to_owned(),
            "cp /bin/sh x && chmod 4755 x".to_owned(),
            "cp /bin/sh x && chmod g+s x".to_owned(),
            "install -m 4755 /bin/sh y".to_owned(),
            "mkdir d && chmod g+s d".to_owned(),
            python("os.close(os.open(\"z\", os.O_CREAT | os.O_WRONLY, 0o4755))"),
            python("os.mknod(\"n\", 0o104755)"),
            python("fd = os.open(\"x\", os.O_RDONLY); os.fchmod(fd, 0o4755)"),
            // openat2 and fchmodat2 by their numbers.
            python(
                "how = (ctypes.c_uint64 * 3)(0o101, 0o4755, 0); \
                    os._exit(0 if 0 <= ctypes.CDLL(None).syscall(437, -100, b\"w\", how, 24) else 1)",
            ),
            python("os._exit(0 if 0 <= ctypes.CDLL(None).syscall(452, -100, b\"x\", 0o4755, 0) else 1)"),
        ] {
            let result = run(&bench, &way).await;
            assert_ne!(result["exit_code"], json!(0), "{way}: {result}");
        }
        for entry in fs::read_dir(bench.path("")).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o6000, 0, "{:?} {mode:o}", entry.path());
        }
        let plain =
            run(&bench, "chmod 755 x && ./x -c 'echo on' && mkdir -m 1777 t && umask 077 && touch u").await;
        assert_eq!(plain["output"], json!("on\n"), "{plain}");
    }
}

/// Neither what others may not read, nor what they may.
#[tokio::test]
async fn what_is_no_part_of_the_system_is_not_read_at_any_depth() {
    for bench in users(|commands| commands) {
        let outside = bench.folder.path().join("srv/a/b/c/d");
        fs::create_dir_all(&outside).unwrap();
        for (name, mode) in
            [(".env", 0o600), ("data.txt", 0o644), ("../../key", 0o600), ("../../../open", 0o644)]
        {
            fs::write(outside.join(name), "content of it").unwrap();
            fs::set_permissions(outside.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        bench.put(".env", "of the workspace");
        fs::set_permissions(bench.path(".env"), fs::Permissions::from_mode(0o600)).unwrap();
        if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            bench.give_to_nobody();
        }
        let at = outside.display();
        for name in [".env", "data.txt", "../../key", "../../../open"] {
            let read =
                run(&bench, &format!("cat {at}/{name}; ls {at}; ls /home /root /srv /var/log /tmp")).await;
            assert!(!read["output"].as_str().unwrap().contains("content of it"), "{name}: {read}");
            assert_ne!(read["exit_code"], json!(0), "{name}: {read}");
        }
        // The workspace is read as a whole, and the system works.
        let read =
            run(&bench, "cat .env && cat /etc/passwd >/dev/null && ls /usr/bin >/dev/null && nproc").await;
        assert_eq!(read["exit_code"], json!(0), "{read}");
    }
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("data"), "granted\n").unwrap();
    let (grant, granted) = (outside.path().to_owned(), outside.path().display().to_string());
    let bench = Bench::with(
        TempDir::new().unwrap(),
        User::default(),
        |changes| changes,
        move |commands| commands.with_readable([grant]),
    );
    let read = run(&bench, &format!("cat {granted}/data; echo x > {granted}/data || echo shut")).await;
    assert!(read["output"].as_str().unwrap().contains("granted\n"), "{read}");
    assert!(read["output"].as_str().unwrap().contains("shut\n"), "{read}");
}

/// What is there is held; what a command makes is called otherwise by the time anybody hears of its end.
#[tokio::test]
async fn what_programs_obey_is_neither_changed_nor_made_by_a_command() {
    let made = [
        ".envrc",
        "sub/.envrc",
        ".vscode/tasks.json",
        ".husky/pre-commit",
        ".github/workflows/x.yml",
        ".mcp.json",
        ".claude/settings.json",
        ".cursor/mcp.json",
        ".idea/workspace.xml",
        ".gitmodules",
        ".npmrc",
        ".cargo/config.toml",
        ".pre-commit-config.yaml",
        ".devcontainer/devcontainer.json",
        ".bashrc",
        "lefthook.yml",
        "callwright.toml",
        ".git/config",
        "sub/deep/.git/hooks/post-checkout",
    ];
    for bench in users(|commands| commands) {
        for name in [".envrc", ".vscode/tasks.json", "old/.git/config"] {
            bench.put(name, "as it was\n");
        }
        if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            bench.give_to_nobody();
        }
        let files = made.join(" ");
        let result = run(
            &bench,
            &format!("for f in {files}; do mkdir -p $(dirname $f); echo x > $f; done; mv old moved; echo x >> moved/.git/config"),
        )
        .await;
        for name in made {
            let text = fs::read_to_string(bench.path(name)).unwrap_or_default();
            // Without mounts what was there can be changed; that is said.
            let is_as_it_was = text.is_empty() || text == "as it was\n" || bench.unheld().is_some();
            assert!(is_as_it_was, "{name}: {text} {result}");
        }
        let said = result["set_aside"].as_str().unwrap();
        assert!(said.contains("sub/.envrc is sub/.envrc.set-aside (direnv runs it"), "{said}");
        assert_eq!(bench.text("sub/.envrc.set-aside"), "x\n");
        // A repository that goes under another name is the same.
        assert!(bench.path("moved/.git").exists(), "{result}");
        if bench.unheld().is_none() {
            assert_eq!(bench.text("moved/.git/config"), "as it was\n");
        }
        let quiet =
            run(&bench, "echo x > Makefile; echo '{}' > package.json; mkdir -p .cache && touch .cache/a")
                .await;
        assert_eq!(quiet, json!({"exit_code": 0, "output": ""}));
        // A repository without a working tree, made piece by piece, behind a closed door, in the background.
        for way in [
            "echo 'ref: refs/heads/main' > HEAD; mkdir -p objects refs; echo '[core]' > config",
            "mkdir -p a/refs a/objects; echo x > a/HEAD; chmod 000 a",
            "mkdir -p b; touch b/HEAD; echo ../c > b/commondir; chmod 555 b",
            "git init -q . ; git init -q --bare bare.git",
        ] {
            let result = run(&bench, way).await;
            assert!(result["set_aside"].is_string(), "{way}: {result}");
        }
        for name in ["HEAD", "a/HEAD", "b/HEAD", ".git", "bare.git/HEAD"] {
            assert!(!bench.path(name).exists(), "{name}");
        }
        bench
            .call(
                "runCommand",
                json!({"command": "echo x > .envrc2; mkdir n; echo x > n/.envrc", "background": true}),
            )
            .await;
        let ended: Value = bench.call("runCommand", json!({"id": 1, "timeout_s": 20})).await;
        assert!(
            ended["set_aside"].as_str().unwrap().starts_with("n/.envrc is n/.envrc.set-aside"),
            "{ended}"
        );
    }
}

/// A program that a run file declares is a stranger's, whatever it says of itself.
#[tokio::test]
async fn a_program_that_reads_needs_a_permission_and_writes_nothing() {
    let bench = Bench::new();
    bench.put("in.txt", "inside\n");
    let words = ["sh", "-c", "cat in.txt; echo x > made; echo x > $TMPDIR/own && cat $TMPDIR/own"];
    let words = words.map(str::to_owned).to_vec();
    let parameters = json!({"type": "object", "properties": {}});
    let program =
        Program::new("look", "Look.", &parameters, words, bench.commands.clone()).of_kind(Kind::READ);
    let toolbox = Toolbox::new(vec![Arc::new(program) as Arc<dyn Tool>]).unwrap();
    let decide = |rights: &Rights| toolbox.decide("look", "{}", Repaired::Exact, rights);
    let yes = Rights { yes: true, ..Rights::default() };
    let allowed = Rights { allow: ["look".to_owned()].into(), ..Rights::default() };
    let other = Rights { allow: ["fsWrite".to_owned()].into(), ..Rights::default() };
    assert_eq!(decide(&Rights::default()), Decision::Ask(Why::Starts));
    assert_eq!(decide(&other), Decision::Ask(Why::Starts));
    if callwright_agent::confinement().is_ok() {
        assert_eq!((decide(&yes), decide(&allowed)), (Decision::Run, Decision::Run));
    }
    let said = toolbox.call("look", "{}", &bench.context).await.content();
    assert!(said.contains("inside") && said.ends_with('x'), "{said}");
    assert!(!bench.path("made").exists());
}

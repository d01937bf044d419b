//! Shell commands: what they give, what they may do, and that they end.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use callwright::json;
use callwright::value::Value;
use callwright_agent::{Decision, Kind, Repaired, Rights, Why, confinement};
use tempfile::TempDir;

use crate::tools::bench::{Bench, User};

pub(crate) async fn run(bench: &Bench, command: &str) -> Value {
    bench.call("runCommand", json!({"command": command})).await
}

#[tokio::test]
async fn a_command_gives_its_code_and_what_it_writes() {
    let bench = Bench::new();
    assert_eq!(run(&bench, "echo one; echo two >&2").await, json!({"exit_code": 0, "output": "one\ntwo\n"}));
    assert_eq!(run(&bench, "exit 3").await, json!({"exit_code": 3, "output": ""}));
    assert_eq!(run(&bench, "kill -9 $$").await, json!({"signal": 9, "output": ""}));
    assert_eq!(run(&bench, "cat; echo x > made; cat made").await, json!({"exit_code": 0, "output": "x\n"}));
    let none = bench.call("runCommand", json!({})).await;
    assert_eq!(none, json!({"error": "command must be a string"}));
    let long = run(&bench, &"x".repeat(70_000)).await;
    assert!(long["error"].as_str().unwrap().starts_with("not a usable command"), "{long}");
    let much = run(&bench, "yes | head -c 1000000").await;
    let output = much["output"].as_str().unwrap();
    assert!(output.contains("… 967232 more bytes …") && output.len() < 33_000, "{}", output.len());
}

#[tokio::test]
async fn keys_are_not_handed_on() {
    let bench = Bench::new();
    let environment = run(&bench, "env; cat /proc/self/environ").await;
    let output = environment["output"].as_str().unwrap();
    assert!(
        output.contains("TMPDIR=") && output.contains("PATH=") && !output.contains("canary-key"),
        "{output}"
    );
    // Nor can they be fetched from whoever started it.
    for process in [std::process::id().to_string(), "1".to_owned()] {
        let command = format!("grep -c 'canary-key\\|PATH' /proc/{process}/environ");
        assert_ne!(run(&bench, &command).await["exit_code"], json!(0), "{process}");
    }
}

/// Each of these would be a way out.
#[tokio::test]
async fn the_walls_hold() {
    let bench = Bench::new();
    let outside = bench.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("canary"), "untouched").unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let bus = UnixListener::bind(outside.join("bus")).unwrap();
    bus.set_nonblocking(true).unwrap();
    let (out, tcp_port) = (outside.display().to_string(), tcp.local_addr().unwrap().port());
    let udp_port = udp.local_addr().unwrap().port();
    let python = |line: &str| format!("python3 -c \"import os,socket,ctypes; {line}\"");
    let ways = [
        format!("echo x > {out}/canary"),
        format!("echo x >> {out}/canary"),
        format!(": > {out}/canary"),
        format!("truncate -s 0 {out}/canary"),
        format!("rm -f {out}/canary"),
        format!("rm -rf {out}"),
        format!("mv {out}/canary ."),
        format!("mv {out} ./taken"),
        format!("touch {out}/new"),
        format!("mkdir {out}/new"),
        format!("ln -s x {out}/new"),
        format!("ln {out}/canary ./hard && echo x > ./hard"),
        format!("touch a && ln a {out}/new"),
        format!("touch a && mv a {out}/canary"),
        format!("ln -s {out} ./soft && echo x > ./soft/canary"),
        format!("cp /bin/sh ./sh && ./sh -c 'echo x > {out}/canary'"),
        format!("cd / && echo x > {out}/canary"),
        "echo x > /proc/self/cwd/../outside/canary".to_owned(),
        format!("setsid -w sh -c 'echo x > {out}/canary'"),
        format!("mkfifo {out}/new"),
        format!("echo x > /proc/{}/comm", std::process::id()),
        format!("mount -t tmpfs none {out}"),
        format!("unshare -r sh -c 'mount -t tmpfs none {out} && echo x > {out}/canary'"),
        format!("unshare -rm sh -c 'mount --bind . {out}'"),
        format!("kill -0 {}", std::process::id()),
        format!("gdb -p {} -batch", std::process::id()),
        python(&format!("socket.create_connection(('127.0.0.1', {tcp_port}), 1)")),
        python(&format!(
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp_port}))"
        )),
        python(&format!("s = socket.socket(socket.AF_UNIX); s.connect('{out}/bus')")),
        python("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
        python("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
        python("socket.socket(socket.AF_INET).bind(('127.0.0.1', 0))"),
        // io_uring, which opens sockets without asking for one; the x32 numbers; the keys of the kernel.
        python(
            "os._exit(0 if 0 <= ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(256)) else 1)",
        ),
        python("os._exit(0 if 0 <= ctypes.CDLL(None).syscall(0x40000000 + 41, 2, 1, 0) else 1)"),
        python("os._exit(0 if 0 <= ctypes.CDLL(None).syscall(250, 0, -3, 0) else 1)"),
        "head -c 1 /dev/tty".to_owned(),
        "ls /dev/pts && head -c 0 /dev/ptmx".to_owned(),
        "head -c 1 /dev/vda".to_owned(),
        "cat /proc/1/environ".to_owned(),
        "sudo -n true".to_owned(),
    ];
    for way in &ways {
        let result = run(&bench, way).await;
        assert_ne!(result["exit_code"], json!(0), "{way}: {result}");
        assert_eq!(fs::read_to_string(outside.join("canary")).unwrap(), "untouched", "{way}: {result}");
    }
    let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(tcp.accept().is_err() && bus.accept().is_err() && udp.recv(&mut [0]).is_err());
    // What is within them goes on.
    for way in [
        "echo x > a && mkdir -p d && mv a d/b && ln d/b d/c && cat d/c",
        "mktemp",
        "echo x | cat > /dev/null",
        "cat /etc/passwd /proc/self/status",
        "sh -c 'sh -c \"exit 0\"' & wait",
        "python3 -c 'import subprocess, socket; socket.socketpair(); subprocess.run([\"true\"], check=True)'",
    ] {
        assert_eq!(run(&bench, way).await["exit_code"], json!(0), "{way}");
    }
}

#[tokio::test]
async fn the_network_is_there_where_it_is_allowed() {
    let bench =
        Bench::with(TempDir::new().unwrap(), User::default(), |changes| changes, |all| all.with_network());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 5).sendall(b'hello')");
    assert_eq!(run(&bench, &format!("python3 -c \"{line}\"")).await["exit_code"], json!(0));
    let mut said = String::new();
    listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
    assert_eq!(said, "hello");
    let bus = run(&bench, "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'").await;
    assert_eq!(bus["exit_code"], json!(1), "local sockets stay closed: {bus}");
    assert_eq!(bench.toolbox.kind_of("runCommand", r#"{"command": "ls"}"#), Kind::DESTRUCTIVE);
}

/// Is there still a process with this argument?
pub(crate) fn lives(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // The zombie of an ended process has no arguments.
        line.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    })
}

/// The end of the time is the end of all that was started, however it hides.
#[tokio::test]
async fn nothing_outlives_a_command() {
    let ways = [
        ("sleep 7101.1", "7101.1"),
        ("trap '' TERM INT HUP; sleep 7101.2; sleep 7101.2", "7101.2"),
        ("nohup setsid sleep 7101.3 >/dev/null 2>&1 & sleep 7101.3", "7101.3"),
        ("(setsid sh -c '(setsid sleep 7101.4 &) ; (setsid sleep 7101.4 &)' &); sleep 7101.4", "7101.4"),
        ("yes 7101.6", "7101.6"),
        ("for i in 1 2 3; do setsid sleep 7101.7 & done; sleep 7101.7", "7101.7"),
    ];
    for (command, mark) in ways {
        let bench = Bench::new();
        let before = Instant::now();
        let result = bench.call("runCommand", json!({"command": command, "timeout_s": 1})).await;
        assert!(result["ended"].as_str().is_some_and(|why| why.starts_with("ended after 1 s")), "{result}");
        assert!(before.elapsed() < Duration::from_secs(10), "{command}: {:?}", before.elapsed());
        assert!(!lives(mark), "{command}");
    }
    // Nor do those that a command leaves behind at its own end.
    let bench = Bench::new();
    let left = run(&bench, "nohup setsid sleep 7102.1 >/dev/null 2>&1 & sleep 7102.2 & echo left").await;
    assert_eq!(left, json!({"exit_code": 0, "output": "left\n"}));
    assert!(!lives("7102.1") && !lives("7102.2"));
}

/// One that has too many processes is ended long before its time. Here many are more than four.
#[tokio::test]
async fn a_command_that_multiplies_is_ended() {
    let bench =
        Bench::with(TempDir::new().unwrap(), User::default(), |changes| changes, |all| all.with_processes(4));
    let command = "for i in 1 2 3 4 5 6; do sleep 7106.1 & done; wait";
    let result = bench.call("runCommand", json!({"command": command, "timeout_s": 60})).await;
    assert_eq!(result["error"], json!("it had more than 4 processes, and was ended"), "{result}");
    assert!(!lives("7106.1"));
}

#[tokio::test]
async fn a_cancelled_command_ends() {
    let bench = Bench::new();
    let call = bench.call("runCommand", json!({"command": "echo begun; sleep 7103.1"}));
    let cancellation = bench.context.cancellation.clone();
    let cancel = async {
        while !lives("7103.1") {
            tokio::task::yield_now().await;
        }
        cancellation.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result["ended"], json!("cancelled by the user"));
    assert_eq!(result["output"], json!("begun\n"));
    assert!(!lives("7103.1"));
}

#[tokio::test]
async fn background_commands_are_asked_and_stopped_by_their_id() {
    let bench = Bench::new();
    let started =
        bench.call("runCommand", json!({"command": "echo up; sleep 7104.1", "background": true})).await;
    assert_eq!(started, json!({"id": 1, "running": true}));
    let mut output = String::new();
    while output.is_empty() {
        let asked = bench.call("runCommand", json!({"id": 1})).await;
        assert_eq!(asked["running"], json!(true), "{asked}");
        output.push_str(asked["output"].as_str().unwrap());
    }
    assert_eq!(output, "up\n");
    let stopped = bench.call("runCommand", json!({"id": 1, "stop": true})).await;
    assert_eq!((&stopped["id"], stopped["signal"].is_i64()), (&json!(1), true), "{stopped}");
    assert!(!lives("7104.1"));
    let gone = bench.call("runCommand", json!({"id": 1})).await;
    assert_eq!(gone, json!({"error": "there is no background command 1; there are: none"}));
    bench.call("runCommand", json!({"command": "exit 4", "background": true})).await;
    let ended = bench.call("runCommand", json!({"id": 1, "timeout_s": 20})).await;
    assert_eq!(ended, json!({"id": 1, "exit_code": 4, "output": ""}));
    // Its output was approved with it; a new command is not.
    assert_eq!(bench.toolbox.kind_of("runCommand", r#"{"id": 1}"#), Kind::READ);
    let both = r#"{"id": 1, "command": "ls"}"#;
    assert_eq!(bench.toolbox.kind_of("runCommand", both), Kind::DESTRUCTIVE.closed());
}

/// When the agent goes, so does what it started.
#[tokio::test]
async fn a_background_command_ends_with_the_run() {
    let bench = Bench::new();
    bench.call("runCommand", json!({"command": "sleep 7105.1", "background": true})).await;
    while !lives("7105.1") {
        tokio::task::yield_now().await;
    }
    drop(bench);
    while lives("7105.1") {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_command_always_asks_unless_the_user_allowed_it() {
    let bench = Bench::new();
    let decide =
        |rights: &Rights| bench.toolbox.decide("runCommand", r#"{"command": "ls"}"#, Repaired::Exact, rights);
    let yes = Rights { yes: true, ..Rights::default() };
    assert_eq!(decide(&yes), Decision::Ask(Why::Destroys));
    let allowed = Rights { allow: ["runCommand".to_owned()].into(), ..yes };
    let wanted = if confinement().is_ok() { Decision::Run } else { Decision::Ask(Why::Unconfined) };
    assert_eq!(decide(&allowed), wanted);
}

/// A workspace in a home that has keys, toolchains and other projects.
fn at_home() -> (Bench, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let put = |name: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("content of {name}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    put(".ssh/id_ed25519", 0o600);
    put(".aws/credentials", 0o644);
    put("other/project/notes.txt", 0o644);
    put(".local/state/callwright/callwright.db", 0o644);
    put("tool/share/data.txt", 0o644);
    put("tool/credentials", 0o600);
    put("tool/bin/tool", 0o755);
    put("bin/own", 0o755);
    fs::write(home.join("tool/bin/tool"), "#!/bin/sh\ncat \"$(dirname \"$0\")/../share/data.txt\"\n")
        .unwrap();
    fs::write(home.join("bin/own"), "#!/bin/sh\necho own\n").unwrap();
    let path = format!("{0}/tool/bin:{0}/bin:/usr/local/bin:/usr/bin:/bin", home.display());
    let bench = Bench::with_environment(
        folder,
        User::default(),
        |changes| changes,
        |commands| commands,
        vec![("HOME".into(), home.clone().into()), ("PATH".into(), path.into())],
    );
    (bench, home)
}

/// Of the home a command sees the workspace and what the path leads to.
#[tokio::test]
async fn a_command_reads_no_keys() {
    let (bench, home) = at_home();
    let home = home.display();
    let shadow = fs::metadata("/etc/shadow").is_ok().then(|| "cat /etc/shadow".to_owned());
    for way in [
        format!("cat {home}/.ssh/id_ed25519"),
        "cat ~/.ssh/id_ed25519".to_owned(),
        "cat ../.ssh/id_ed25519".to_owned(),
        format!("cat {home}/.aws/credentials"),
        format!("cat {home}/other/project/notes.txt"),
        format!("cat {home}/.local/state/callwright/callwright.db"),
        format!("cat {home}/tool/credentials"),
        format!("ln -s {home}/.ssh ./keys && cat keys/id_ed25519"),
        format!("cat /proc/self/root{home}/.ssh/id_ed25519"),
        format!("cp -r {home}/.ssh ./keys2 && cat keys2/id_ed25519"),
        format!("cat {home}/kept/changes.jsonl"),
    ]
    .into_iter()
    .chain(shadow)
    {
        let result = run(&bench, &way).await;
        assert_ne!(result["exit_code"], json!(0), "{way}: {result}");
        assert!(!result["output"].as_str().unwrap().contains("content of"), "{way}: {result}");
    }
    // What it needs is there.
    assert_eq!(run(&bench, "tool && own").await["output"], json!("content of tool/share/data.txt\nown\n"));
    assert_eq!(run(&bench, "touch ~/new").await["exit_code"], json!(1));
    if bench.unheld().is_none() {
        let seen = run(&bench, "ls -A ~").await;
        assert_eq!(seen["output"], json!("bin\ntemporary\ntool\nw\n"), "{seen}");
    }
}

/// Where the system has mounts for us, nothing outside can be changed in any way, and no repository inside.
#[tokio::test]
async fn nothing_outside_is_changed_nor_any_repository() {
    let bench = Bench::new();
    if let Some(why) = bench.unheld() {
        // It is said, and that is what can be asked for here.
        assert!(why.starts_with("commands can change modes"), "{why}");
        return;
    }
    use std::os::unix::fs::MetadataExt;
    let outside = bench.folder.path().canonicalize().unwrap().join("outside");
    fs::write(&outside, "untouched").unwrap();
    bench.put(".git/config", "[core]\n");
    bench.put(".git/hooks/sample", "");
    bench.put("sub/repository/.git/config", "[core]\n");
    bench.put("worktree/.git", "gitdir: ../.git\n");
    bench.put("bare/HEAD", "ref: refs/heads/main\n");
    bench.put("bare/config", "[core]\n");
    fs::create_dir_all(bench.path("bare/objects")).unwrap();
    fs::create_dir_all(bench.path("bare/refs")).unwrap();
    bench.put("callwright.toml", "# as it was\n");
    let before = fs::metadata(&outside).unwrap();
    let at = outside.display();
    for way in [
        format!("chmod 777 {at}"),
        "chmod 777 ../outside".to_owned(),
        format!("chown 1:1 {at}"),
        format!("touch -d 2001-01-01 {at}"),
        format!("python3 -c \"import os; os.setxattr('{at}', 'user.x', b'x')\""),
        format!("python3 -c \"import os; fd = os.open('{at}', os.O_RDONLY); os.fchmod(fd, 0o777)\""),
        "chmod 700 ..".to_owned(),
        "echo x >> .git/config".to_owned(),
        "echo x > .git/hooks/pre-commit".to_owned(),
        "mv .git moved".to_owned(),
        "rm -rf .git".to_owned(),
        "ln -s /bin/sh .git/hooks/pre-commit".to_owned(),
        "echo x > evil && mv evil .git/hooks/pre-commit".to_owned(),
        "chmod +x .git/hooks/sample".to_owned(),
        "echo x >> sub/repository/.git/config".to_owned(),
        "echo x > worktree/.git".to_owned(),
        "echo x > new && mv -f new worktree/.git".to_owned(),
        "echo x >> bare/config".to_owned(),
        "echo x >> callwright.toml".to_owned(),
        "rm -f callwright.toml".to_owned(),
        "mount -o remount,rw /".to_owned(),
        "umount .git".to_owned(),
        "unshare -rm sh -c 'mount -o remount,bind,rw .git && echo x >> .git/config'".to_owned(),
    ] {
        let result = run(&bench, &way).await;
        assert_ne!(result["exit_code"], json!(0), "{way}: {result}");
    }
    let after = fs::metadata(&outside).unwrap();
    let facts = |m: &fs::Metadata| (m.mode(), m.uid(), m.mtime(), m.ctime());
    assert_eq!(facts(&after), facts(&before));
    for name in [".git/config", "sub/repository/.git/config", "bare/config"] {
        assert_eq!(bench.text(name), "[core]\n", "{name}");
    }
    assert_eq!(bench.text("callwright.toml"), "# as it was\n");
    assert_eq!(fs::read_dir(bench.path(".git/hooks")).unwrap().count(), 1);
    // What builds do goes on.
    for way in [
        "echo x > build.sh && chmod +x build.sh && touch -d 2001-01-01 build.sh && mv build.sh sub/ && rm sub/build.sh",
        "mkdir -p .cache/deep && echo x > .cache/deep/a && ln .cache/deep/a .cache/b && rm -r .cache",
        "echo x > $TMPDIR/a && chmod 600 $TMPDIR/a && mv $TMPDIR/a ./moved-here",
    ] {
        let result = run(&bench, way).await;
        assert_eq!(result["exit_code"], json!(0), "{way}: {result}");
    }
}

/// Behind the walls one can still work: whatever toolchain is here builds in the workspace, without network.
#[tokio::test]
async fn toolchains_build_in_the_workspace() {
    let bench = Bench::new();
    bench.put("rust/Cargo.toml", "[package]\nname = \"hello\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    bench.put("rust/src/main.rs", "fn main() {\n    println!(\"built\");\n}\n");
    bench.put(
        "node/package.json",
        r#"{"name": "hello", "version": "1.0.0", "scripts": {"build": "node -e 'console.log(\"built\")'"}}"#,
    );
    bench.put("python/hello.py", "print('built')\n");
    bench.put("c/hello.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); }\n");
    std::process::Command::new("git").args(["init", "-q"]).current_dir(bench.path("")).status().ok();
    for (program, way) in [
        ("cargo", "cd rust && cargo run --offline"),
        ("npm", "cd node && npm run build --offline"),
        ("python3", "cd python && python3 -m compileall -q . && python3 hello.py"),
        ("cc", "cd c && cc hello.c && ./a.out"),
        ("git", "git status && git diff && git ls-files && echo built"),
    ] {
        if std::process::Command::new(program).arg("--version").output().is_err() {
            continue;
        }
        let result = run(&bench, way).await;
        assert_eq!(result["exit_code"], json!(0), "{way}: {result}");
        assert!(result["output"].as_str().unwrap().contains("built"), "{way}: {result}");
    }
}

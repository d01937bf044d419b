//! Tests servers that are programs.

use super::*;
use std::io::Read;

async fn connect(script: &str, folder: &Path) -> (Servers, Vec<String>) {
    let mut settings = config(r#"{"command": "sh", "start_seconds": 60}"#);
    settings.args = vec!["-c".into(), script.into()];
    started(settings, folder).await
}

async fn started(settings: ServerConfig, folder: &Path) -> (Servers, Vec<String>) {
    let told = Told::default();
    let surroundings = Surroundings {
        environment: std::env::vars_os().chain([("MY_TOKEN".into(), "sesame".into())]).collect(),
        folder: folder.to_owned(),
        pins: folder.join("pins"),
        is_named: true,
    };
    let configs = BTreeMap::from([("s".to_owned(), settings)]);
    let servers = Servers::connect(&configs, &surroundings, told.tell()).await.unwrap();
    (servers, told.lines())
}

#[tokio::test]
async fn a_program_that_does_not_start_is_told_with_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let (_, told) = started(config(r#"{"command": "/no/such/program"}"#), folder.path()).await;
    assert!(
        told[0].starts_with("MCP server s is not used: /no/such/program cannot be started: No such"),
        "{told:?}"
    );

    let (_, told) =
        connect("echo \"no key: ${MY_TOKEN:-none}\" >&2; printf '\\033[2J' >&2; exit 3", folder.path()).await;
    let says = "MCP server s is not used: it ended with exit status: 3, and said: no key: none / ⟨U+001B⟩[2J";
    assert_eq!(told, [says]);
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (_, told) = connect("head -c 9000000 /dev/zero | tr '\\0' x; exec 1>&-", folder.path()).await;
    assert_eq!(told, ["MCP server s is not used: it wrote a message of more than 8 MiB"]);
}

#[tokio::test]
async fn all_that_a_program_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    // The child holds the pipe open as long as it lives; the program itself answers nothing, and is ended.
    let script = "mkfifo fifo; sleep 1000 >fifo & cat >/dev/null; sleep 1000";
    let mut settings = config(r#"{"command": "sh", "start_seconds": 0.5}"#);
    settings.args = vec!["-c".into(), script.into()];
    let reading = tokio::task::spawn_blocking(move || {
        while !fifo.exists() {
            std::thread::yield_now();
        }
        std::fs::File::open(fifo).and_then(|mut file| file.read(&mut [0]))
    });
    let (_, told) = started(settings, folder.path()).await;
    assert_eq!(told, ["MCP server s is not used: it did not answer within 0.5 s"]);
    assert_eq!(reading.await.unwrap().unwrap(), 0, "nobody holds it any more");
}

#[tokio::test]
async fn a_program_of_a_file_that_nobody_named_is_not_started_before_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |mark: &str| {
        let mut settings = config(r#"{"command": "sh", "start_seconds": 60}"#);
        settings.args = vec!["-c".into(), format!("touch {mark}; exit 1")];
        settings
    };
    let started = async |is_named: bool, mark: &str, at: &Path| {
        let told = Told::default();
        let (folder, pins) = (at.to_owned(), folder.path().join("pins"));
        let surroundings =
            Surroundings { environment: std::env::vars_os().collect(), folder, pins, is_named };
        let configs = BTreeMap::from([("s".to_owned(), settings(mark))]);
        Servers::connect(&configs, &surroundings, told.tell()).await.unwrap();
        (at.join(mark).exists(), told.lines(), surroundings)
    };
    let (ran, told, surroundings) = started(false, "one", folder.path()).await;
    assert!(!ran && told[0].contains("`callwright mcp accept s`"), "{told:?}");
    // The user sees that the server does not start; the permission to start is recorded all the same.
    assert!(accept("s", &settings("one"), &surroundings).await.is_err());
    std::fs::remove_file(folder.path().join("one")).unwrap();
    assert!(started(false, "one", folder.path()).await.0);
    assert!(!started(false, "two", folder.path()).await.0, "another command");
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(!started(false, "one", elsewhere.path()).await.0, "another folder");
    assert!(started(true, "one", elsewhere.path()).await.0, "the user named the file");
}

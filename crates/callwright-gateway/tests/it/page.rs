//! The page over HTTP: what stands on it, who may see it, and what it lets in.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use callwright::json;
use callwright_gateway::{ClientKey, GatewayConfig, KeepConfig, Viewer};
use callwright_replay::Replay;
use callwright_store::{Dump, NewNode, NodeKind, Store, StoreConfig};

use crate::running::{Connection, Running, relay_to, replay};

const UPSTREAM: &str = r#"
[[answer]]
text = 'I <b>run</b> it. <tool_call>{"name": "run_code", "arguments": {"code": "1"}}}</tool_call>'
repeat = true
"#;

fn before(upstream: &Replay, name: &str, keys: Vec<ClientKey>) -> (Running, PathBuf) {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("page-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let store = StoreConfig::at(folder.join("callwright.db"));
    let keep = KeepConfig { store, dumps: folder.join("dumps"), is_needed: true };
    let config = GatewayConfig { keep: Some(keep), keys, ..GatewayConfig::default() };
    (Running::start(config, relay_to(&upstream.base_url())), folder)
}

/// Asks once, and waits until that is kept.
fn asked(running: &Running) {
    let parameters = json!({"type": "object", "properties": {"code": {"type": "string"}}});
    let tools = json!([{"type": "function", "function": {"name": "run_code", "parameters": parameters}}]);
    let chat =
        json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "<i>Go</i>"}], "tools": tools});
    let head = "POST /v1/chat/completions\nx-callwright-session: ..";
    assert_eq!(running.ask(head, &chat.to_string()).status, 200);
    let until = Instant::now() + Duration::from_secs(20);
    while running.get("/session?id=..").status != 200 {
        assert!(Instant::now() < until, "it is not kept");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_repair_is_seen_in_its_place_and_a_text_is_never_markup() {
    let upstream = replay(UPSTREAM);
    // S2-25: the gateway and its page are one process.
    let (running, folder) = before(&upstream, "seen", Vec::new());
    asked(&running);
    let list = running.get("/");
    assert!(list.body.contains("&lt;i&gt;Go&lt;/i&gt;") && !list.body.contains("<i>"), "{}", list.body);
    let policy = &list.headers["content-security-policy"];
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let node = running.get("/session?id=..&node=2").body;
    assert!(node.contains("I &lt;b&gt;run&lt;/b&gt; it. "), "{node}");
    assert!(node.contains("<del title=\"a closing bracket too many: drop-closer, R2, bytes "), "{node}");
    let strict = running.get("/session?id=..&node=2&tab=what-if&as_policy=strict").body;
    assert!(strict.contains("refused: cannot be read") && strict.contains("another outcome"), "{strict}");
    // S4-46: the button, and the file that it gives.
    assert!(node.contains("href=\"/session/dump?id=..\" download=\"\">Download dump</a>"), "{node}");
    let dumped = running.get("/session/dump?id=..");
    assert!(dumped.headers["content-disposition"].starts_with("attachment"));
    assert_eq!(dumped.headers["content-type"], "application/json");
    let dump = Dump::from_json(&dumped.body).unwrap();
    assert_eq!((dump.session_id.as_str(), dump.entry_count), ("..", 3));
    assert!(!folder.join("dumps").exists(), "a download leaves nothing here");
    assert_eq!(running.get("/session/dump?id=nobody").status, 404);
    let shared = running.get("/session/share?id=..");
    assert!(shared.headers["content-disposition"].starts_with("attachment"));
    assert!(!shared.body.contains("<script") && !shared.body.contains("src="), "{}", shared.body);
    let lost = running.get("/session?id=nobody");
    assert_eq!((lost.status, lost.headers["content-type"].as_str()), (404, "text/html; charset=utf-8"));
    for path in ["/page/script.js", "/page/style.css", "/page/icon.svg", "/statistics"] {
        assert_eq!(running.get(path).status, 200, "{path}");
    }
    assert_eq!(running.get("/page/..%2Fmod.rs").status, 404);
}

#[test]
fn a_node_deep_in_a_session_is_seen_among_its_neighbours() {
    let upstream = replay(UPSTREAM);
    let (running, folder) = before(&upstream, "deep", Vec::new());
    let store = Store::open(StoreConfig::at(folder.join("callwright.db"))).unwrap();
    let said = |n: usize| NewNode::new(NodeKind::Note, json!({"text": format!("note {n}.")}));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.append("deep", (1..=1300).map(said).collect())).unwrap();
    let shown = |path: &str| running.get(path).body;
    let page = shown("/session?id=deep&node=777");
    assert!(
        page.contains("note 601.") && page.contains("note 800.") && !page.contains("note 600."),
        "{page:.300}"
    );
    assert!(page.contains("aria-current=\"true\""), "the node is marked in the timeline");
    assert!(page.contains("/session?id=deep&amp;from=800\">Later nodes"), "{page:.300}");
    assert_eq!(page.matches("Earlier nodes").count(), 1);
    // A session is opened at its end.
    let last = shown("/session?id=deep");
    assert!(last.contains("note 1300.") && last.contains("note 1101.") && !last.contains("note 1100."));
    assert!(last.contains("from=900\">Earlier nodes") && !last.contains("Later nodes"), "{last:.300}");
    let first = shown("/session?id=deep&from=0");
    assert!(first.contains("note 200.") && !first.contains("Earlier nodes"), "{first:.300}");
    for number in [i64::MIN, -1, 0, 1301, i64::MAX] {
        assert_eq!(running.get(&format!("/session?id=deep&node={number}")).status, 404, "{number}");
    }
    // What is no place says nothing.
    for (odd, note) in
        [("&from=-5", "note 1."), ("&from=x", "note 1300."), ("&from=99999999999999999999", "note 1300.")]
    {
        assert!(shown(&format!("/session?id=deep{odd}")).contains(note), "{odd}");
    }
}

#[test]
fn nobody_else_sees_the_page() {
    let upstream = replay(UPSTREAM);
    let paths = [
        "GET /",
        "GET /session?id=x",
        "GET /session/share?id=x",
        "GET /statistics",
        "GET /session/dump?id=x",
    ];
    let (running, _) = before(&upstream, "local", Vec::new());
    for path in paths {
        assert_eq!(running.ask(&format!("{path}\nhost: evil.example"), "").status, 403, "{path}");
        assert_eq!(running.ask(&format!("{path}\norigin: http://evil.example"), "").status, 403, "{path}");
    }
    drop(running);
    let (running, _) = before(&upstream, "keys", vec![ClientKey::of("cw-right-key-1")]);
    for path in paths {
        let answer = running.ask(path, "");
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.headers["www-authenticate"].starts_with("Basic"), "{path}");
    }
    assert_eq!(running.ask("GET /\nauthorization: Bearer cw-right-key-1", "").status, 200);
}

#[test]
fn a_dump_is_shown_on_this_machine_alone() {
    let node = json!({"id": 1, "number": 1, "turn": null, "node_type": "user", "at": 0, "version": 1, "name": null,
        "call": null, "payload": {"text": "<u>Hello</u>"}});
    let session = json!({"id": "a", "origin": "gateway", "title": "Hello", "created": 0, "updated": 0, "outcome": "",
        "model": "m", "mode": "", "dialect": "", "turns": 0, "nodes": 1, "repairs": 0, "refusals": 0, "tokens": 0,
        "faults": 0, "repeated": 0});
    let dump = json!({"callwright_dump": 1, "session_id": "a", "dumped_at": "", "entry_count": 1, "session": session,
        "turns": [], "entries": [node]});
    let dump = Dump::from_json(&dump.to_string()).unwrap();
    assert!(Viewer::new(dump.clone(), "0.0.0.0:0".parse().unwrap()).is_err());
    let viewer = Viewer::new(dump, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = viewer.address().unwrap();
    // It runs until the process ends.
    std::thread::spawn(move || viewer.run());
    let ask = |head: &str| {
        let mut connection = Connection::to(address);
        connection.send(head, "");
        connection.answer()
    };
    let shown = ask("GET /?node=1");
    assert!(shown.body.contains("&lt;u&gt;Hello&lt;/u&gt;") && !shown.body.contains("<u>"), "{}", shown.body);
    assert_eq!(ask("GET /?node=2").status, 404);
    assert_eq!(ask("GET /session/share").status, 200);
    assert_eq!(ask("GET /\nhost: evil.example").status, 403);
    assert_eq!(ask("GET /statistics").status, 404);
}

#[test]
fn an_answer_can_be_tried_without_a_store() {
    let upstream = replay(UPSTREAM);
    let running = Running::start(GatewayConfig::default(), relay_to(&upstream.base_url()));
    let first = running.get("/try");
    assert_eq!(first.status, 200);
    assert!(first.body.contains("1 call, 3 repairs") && first.body.contains("<del title="), "{}", first.body);
    let policy = &first.headers["content-security-policy"];
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");

    let pasted = "answer=%3C%2Ftextarea%3E%3Cscript%3E&tools=%5B%7B%22name%22%3A%22f%22%7D%5D&finish=length";
    let tried = running.get(&format!("/try?{pasted}")).body;
    assert!(tried.contains("&lt;/textarea&gt;&lt;script&gt;") && tried.contains("No call"), "{tried}");
    assert!(!tried.contains("<script>"), "{tried}");
    // The link on the page is the state of the page.
    let link = tried.split("href=\"/try?answer=").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(running.get(&format!("/try?answer={}", link.replace("&amp;", "&"))).body, tried);

    // Nobody else's page makes it read.
    assert_eq!(running.ask("GET /try\nsec-fetch-site: cross-site", "").status, 403);
}

//! Two clients with a key each, and a third one whose key sees all: what is one's is not there for the other.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use callwright::json;
use callwright_gateway::{ClientKey, GatewayConfig, KeepConfig, Sessions};
use callwright_replay::Replay;
use callwright_store::StoreConfig;

use crate::running::{Running, relay_to, replay};

const UPSTREAM: &str = "[[answer]]\ntext = \"Hello.\"\nrepeat = true\n";
const ALICE: &str = "\nauthorization: Bearer cw-alice";
const BOB: &str = "\nx-api-key: cw-bob";
const ROOT: &str = "\nauthorization: Bearer cw-root";

fn before(upstream: &Replay) -> Running {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tenants-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let store = StoreConfig::at(folder.join("callwright.db"));
    let keep = KeepConfig { store, dumps: folder.join("dumps"), is_needed: true };
    let keys = vec![
        ClientKey::of("cw-alice"),
        ClientKey::of("cw-bob"),
        ClientKey::of("cw-root").sees(Sessions::All),
    ];
    let config = GatewayConfig { keep: Some(keep), keys, ..GatewayConfig::default() };
    Running::start(config, relay_to(&upstream.base_url()))
}

/// Says something in a session, or in none by name.
fn says(running: &Running, key: &str, session: &str, text: &str) {
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]});
    let session =
        if session.is_empty() { String::new() } else { format!("\nx-callwright-session: {session}") };
    let answer = running.ask(&format!("POST /v1/chat/completions{key}{session}"), &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// The titles that a key is shown, once there are so many.
fn listed(running: &Running, key: &str, n: usize) -> Vec<(String, String)> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let page = running.ask(&format!("GET /api/sessions{key}"), "").json();
        let text =
            |session: &callwright::value::Value, name: &str| session[name].as_str().unwrap().to_owned();
        let sessions = page["sessions"].as_array().unwrap();
        let mut found: Vec<(String, String)> =
            sessions.iter().map(|session| (text(session, "title"), text(session, "id"))).collect();
        if found.len() == n {
            found.sort();
            return found;
        }
        assert!(Instant::now() < until, "{key}: {found:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_done_with_one_key_is_not_there_for_another() {
    let upstream = replay(UPSTREAM);
    let running = before(&upstream);
    says(&running, ALICE, "shared", "alice one");
    says(&running, ALICE, "", "Hi.");
    says(&running, BOB, "shared", "bob one");
    says(&running, BOB, "", "Hi.");
    let everything = listed(&running, ROOT, 4);
    let titles =
        |found: &[(String, String)]| found.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>();
    assert_eq!(titles(&everything), ["Hi.", "Hi.", "alice one", "bob one"]);
    assert_eq!(titles(&listed(&running, ALICE, 2)), ["Hi.", "alice one"]);
    assert_eq!(titles(&listed(&running, BOB, 2)), ["Hi.", "bob one"]);

    let asked = |what: &str, key: &str| running.ask(&format!("{what}{key}"), "");
    let alices = &listed(&running, ALICE, 2)[1].1;
    for id in [alices.as_str(), "shared"] {
        for (what, status) in [("GET /api/session/ID", 404), ("GET /api/session/ID/node/1", 404)] {
            let own = if id == "shared" { 200 } else { status };
            assert_eq!(asked(&what.replace("ID", id), BOB).status, own, "{what} {id}");
            assert_eq!(asked(&what.replace("ID", id), ALICE).status, 200, "{what} {id}");
        }
        for page in ["/session?id=ID", "/session/dump?id=ID", "/session/share?id=ID"] {
            let answer = asked(&format!("GET {}", page.replace("ID", id)), BOB);
            assert!(!answer.body.contains("alice"), "{page} {id}: {}", answer.body);
            assert!(
                asked(&format!("GET {}", page.replace("ID", id)), ALICE).body.contains("alice"),
                "{page}"
            );
        }
    }
    for page in ["/", "/sessions", "/api/sessions?text=alice", "/api/sessions?sort=model", "/?text=alice"] {
        let answer = asked(&format!("GET {page}"), BOB);
        assert!(answer.status == 200 && !answer.body.contains("alice one"), "{page}: {}", answer.body);
    }
    let turns = |key: &str| asked("GET /api/statistics", key).json()["spent"]["turns"].clone();
    assert_eq!((turns(ALICE), turns(BOB), turns(ROOT)), (json!(2), json!(2), json!(4)));

    // Nobody learns that it is there, nor takes it away, nor writes to it.
    assert_eq!(asked(&format!("DELETE /api/session/{alices}"), BOB).status, 404);
    assert_eq!(asked(&format!("POST /api/session/{alices}/dump"), BOB).status, 404);
    assert_eq!(
        asked(&format!("DELETE /api/session/{alices}"), BOB).body.replace(alices, "x"),
        asked("DELETE /api/session/x", BOB).body
    );
    says(&running, BOB, alices, "bob again");
    listed(&running, BOB, 3);
    let session = asked(&format!("GET /api/session/{alices}"), ALICE).json();
    assert_eq!(session["turns"].as_array().unwrap().len(), 1);
    assert_eq!(asked(&format!("DELETE /api/session/{alices}"), ROOT).status, 200);
    assert_eq!(titles(&listed(&running, ALICE, 1)), ["Hi."]);

    // What counts for all is for who sees all.
    assert_eq!((asked("GET /metrics", BOB).status, asked("GET /metrics", ROOT).status), (403, 200));
}

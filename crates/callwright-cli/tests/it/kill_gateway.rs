//! What a gateway has shown of what it keeps is there after kill -9.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use callwright::json;

use crate::binary::serving::Serving;

const KILLS: usize = 100;

#[test]
fn what_was_shown_is_there_after_it_was_killed() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("killed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let store = folder.join("callwright.db").into_os_string().into_string().unwrap();
    let serve = || Serving::start(&["--store", &store], &[]);
    let is_shown = |server: &Serving, session: &str| {
        server.ask("GET", &format!("/api/session/{session}"), "", "").starts_with("HTTP/1.1 200")
    };
    let function = json!({"name": "run_code", "parameters": {"type": "object"}});
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"type": "function", "function": function}]});
    let body = body.to_string();

    let mut shown: Vec<String> = Vec::new();
    for kill in 0..KILLS {
        let server = serve();
        for session in shown.iter().rev().take(10) {
            assert!(is_shown(&server, session), "{session} was lost by kill {kill}");
        }
        let sessions: Vec<String> = (0..=kill % 4).map(|n| format!("k{kill}-{n}")).collect();
        for session in &sessions {
            let header = format!("x-callwright-session: {session}\r\n");
            let answer = server.ask("POST", "/v1/chat/completions", &header, &body);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        // Killed at any time, and every other time with one that is written for sure.
        thread::sleep(Duration::from_millis(kill as u64 * 7 % 50));
        if kill % 2 == 0 {
            let wait = || thread::sleep(Duration::from_millis(5));
            assert!(
                (0..4000).any(|_| is_shown(&server, &sessions[0]) || {
                    wait();
                    false
                }),
                "it is never written"
            );
        }
        shown.extend(sessions.into_iter().filter(|session| is_shown(&server, session)));
        // To drop it is to kill it.
        drop(server);
    }
    let server = serve();
    let lost: Vec<&String> = shown.iter().filter(|session| !is_shown(&server, session)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert!(KILLS / 2 <= shown.len(), "only {} were written before a kill", shown.len());
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

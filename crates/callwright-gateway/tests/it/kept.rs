//! What is kept of requests, and who may see it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{ClientKey, GatewayConfig, KeepConfig, Secrets};
use callwright_relay::config::{Mode, ModelConfig, RelayConfig};
use callwright_replay::Replay;
use callwright_store::{Store, StoreConfig};

use crate::running;
use crate::running::{Answer, Running, last_asked, relay_to, replay};

const UPSTREAM: &str = r#"
[[answer]]
text = "Done."
reasoning = "Hm, hm."
repeat = true
[answer.when]
contains = "thinking"

[[answer]]
text = "ENDLESS"
repeat = true
[answer.when]
contains = "endless"

[[answer]]
text = 'I will run it. <tool_call>{"name": "run_code", "arguments": {"code": "print(1)"}}}</tool_call>'
repeat = true
[answer.when]
contains = "closer"

[[answer]]
tool_calls = [{ id = "call_9", name = "run_code", arguments = '{"code": {}}' }]
[answer.when]
contains = "schema"

[[answer]]
tool_calls = [{ id = "call_8", name = "run_code", arguments = '{"code": "2"}' }]
repeat = true
[answer.when]
contains = "schema"

[[answer]]
tool_calls = [{ id = "call_7", name = "run_code", arguments = '{"code": {}}' }]
repeat = true
[answer.when]
contains = "never"

[[answer]]
text = "Fine."
repeat = true
"#;

/// What the upstream answers.
fn upstream() -> String {
    UPSTREAM.replace("ENDLESS", &"on and ".repeat(1500))
}

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("kept-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn keeping(folder: &Path) -> GatewayConfig {
    let store = StoreConfig::at(folder.join("callwright.db"));
    let keep = KeepConfig { store, dumps: folder.join("dumps"), is_needed: true };
    GatewayConfig { keep: Some(keep), ..GatewayConfig::default() }
}

fn before(upstream: &Replay) -> (Running, PathBuf) {
    let folder = folder();
    (Running::start(keeping(&folder), relay_to(&upstream.base_url())), folder)
}

fn chat(messages: Value) -> Value {
    let parameters = json!({
        "type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"],
        "additionalProperties": false,
    });
    let function = json!({"name": "run_code", "description": "Run code.", "parameters": parameters});
    json!({"model": "gpt-4o", "messages": messages, "tools": [{"type": "function", "function": function}]})
}

fn says(text: &str) -> Value {
    chat(json!([{"role": "user", "content": text}]))
}

/// Asks until the answer is as it is wanted: what was said is kept a moment later.
fn awaited(running: &Running, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let answer = running.get(path);
        if answer.status == 200 && is_there(&answer.json()) {
            return answer.json();
        }
        assert!(std::time::Instant::now() < until, "{path}: {}", answer.body);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn sessions(running: &Running, query: &str, n: usize) -> Value {
    awaited(running, &format!("/api/sessions{query}"), |page| page["sessions"].as_array().unwrap().len() == n)
}

#[test]
fn a_repair_is_kept_with_its_places() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    let answer =
        running.ask("POST /v1/chat/completions\nx-callwright-session: my job", &says("closer").to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    sessions(&running, "?outcome=repaired", 1);
    let session = running.get("/api/session/my%20job").json();
    assert_eq!((&session["summary"]["title"], &session["summary"]["repairs"]), (&json!("closer"), &json!(1)));
    let turn = &session["turns"][0];
    assert_eq!(
        (&turn["outcome"], &turn["model"], &turn["policy"]),
        (&json!("repaired"), &json!("gpt-4o"), &json!("auto"))
    );
    let kinds: Vec<&str> =
        session["nodes"].as_array().unwrap().iter().map(|node| node["node_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "model_turn", "repaired"]);
    let choice = &session["nodes"][1]["payload"]["choices"][0];
    let raw = choice["raw"].as_str().unwrap();
    assert!(raw.starts_with("I will run it. <tool_call>"), "{raw}");
    let repair = &choice["report"]["calls"][0]["repairs"][0];
    let at = |n: usize| repair["at"][n].as_u64().unwrap() as usize;
    assert_eq!((&raw[at(0)..at(1)], repair["kind"].as_str()), ("}", Some("drop-closer")), "{session:#}");
    assert_eq!(session["nodes"][2]["name"], "run_code");
    // The body that was sent is there in full.
    let node = running.get("/api/session/my%20job/node/2").json();
    let body: Value = serde_json::from_str(node["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["messages"][0]["content"], "closer");
    assert_eq!(running.get("/api/session/nobody").status, 404);
    assert_eq!(running.get("/api/session/my%20job/node/99").status, 404);
}

#[test]
fn a_turn_tells_in_which_api_it_was_asked_for() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    let said = json!({"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Hi."}]});
    for (api, body) in [
        ("chat/completions", says("Hi.")),
        ("messages", said),
        ("responses", json!({"model": "m", "input": "Hi."})),
    ] {
        let name = api.split('/').next().unwrap();
        let head = format!("POST /v1/{api}\nx-callwright-session: in {name}");
        let answer = running.ask(&head, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        let path = format!("/api/session/in%20{name}");
        let session = awaited(&running, &path, |session| session["turns"][0].is_object());
        assert_eq!(session["turns"][0]["surface"], name);
        let found = sessions(&running, &format!("?surface={name}"), 1);
        assert_eq!(found["sessions"][0]["id"], format!("in {name}"));
    }
}

#[test]
fn a_list_has_the_order_that_is_asked_for() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    for session in ["much", "much", "little"] {
        let head = format!("POST /v1/chat/completions\nx-callwright-session: {session}");
        assert_eq!(running.ask(&head, &says("closer").to_string()).status, 200);
    }
    let turns = |page: &Value| -> Vec<i64> {
        let sessions = page["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["turns"].as_i64().unwrap()).collect()
    };
    awaited(&running, "/api/sessions", |page| turns(page) == [1, 2]);
    for (query, order) in [
        ("sort=turns", [2, 1]),
        ("sort=turns&way=up", [1, 2]),
        ("sort=updated&way=up", [2, 1]),
        ("sort=repairs&outcome=repaired", [2, 1]),
    ] {
        assert_eq!(turns(&running.get(&format!("/api/sessions?{query}")).json()), order, "{query}");
    }
}

#[test]
fn an_error_that_went_back_is_a_node_of_its_own() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    let head = "POST /v1/chat/completions\nx-callwright-session: fed\nx-callwright-policy: feedback";
    assert_eq!(running.ask(head, &says("schema").to_string()).status, 200);
    sessions(&running, "?outcome=retried&error=invalid", 1);
    let session = running.get("/api/session/fed").json();
    let nodes = session["nodes"].as_array().unwrap();
    let kinds: Vec<&str> = nodes.iter().map(|node| node["node_type"].as_str().unwrap()).collect();
    // S4-16, S4-39
    assert_eq!(kinds, ["user", "model_turn", "validation_error", "model_turn", "tool_call"]);
    let error = &nodes[2]["payload"];
    assert!(error["text"].as_str().unwrap().contains("code must be a string"), "{error:#}");
    assert_eq!((&error["code"], &error["next"]), (&json!("invalid"), &json!("feedback")));
    assert_eq!(session["turns"][0]["repair_turns"], 1);
    // S4-43: it costs one turn, and the session says how many went that way.
    assert_eq!(session["summary"]["feedback_turns"], 1);

    // A call that stays wrong is refused, or ends with the breaker.
    let head = "POST /v1/chat/completions\nx-callwright-session: wrong\nx-callwright-policy: heal";
    running.ask(head, &says("never").to_string());
    sessions(&running, "?outcome=refused", 1);
    let session = running.get("/api/session/wrong").json();
    assert_eq!(session["nodes"][2]["node_type"], "refused");
    let statistics = running.get("/api/statistics").json();
    assert_eq!(
        statistics["calls"],
        json!({"name": "", "passed": 0, "repaired": 0, "retried": 1, "refused": 1})
    );
    assert_eq!(statistics["by_tool"][0]["name"], "run_code");
}

/// A call that is asked for alone went out once: the one that came is told as corrected, the other as what it was.
#[test]
fn an_unsure_call_is_kept_and_counted_with_what_it_came_to() {
    let unsure = r#"Like this:\n\n<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"secret\"}}</tool_call>\n\nSo far."#;
    let upstream = format!(
        "[[answer]]\nwhen = {{ lacks = \"middle of prose\" }}\nrepeat = true\ntext = \"{unsure}\"\n\
         [[answer]]\nwhen = {{ contains = \"only show it\" }}\nrepeat = true\n\
         text = '{{\"name\": \"run_code\", \"arguments\": {{\"code\": \"1\"}}}}'\n"
    );
    let upstream = replay(&upstream);
    let mut model = ModelConfig::new("*");
    model.mode = Some(Mode::Prompt);
    let relay = RelayConfig { models: vec![model], ..relay_to(&upstream.base_url()) };
    let running = Running::start(keeping(&folder()), relay);
    let asked = |session: &str, policy: &str| {
        let head = format!(
            "POST /v1/chat/completions\nx-callwright-session: {session}\nx-callwright-policy: {policy}"
        );
        let answer = running.ask(&head, &says("Go.").to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        awaited(&running, &format!("/api/session/{session}"), |_| true)
    };
    let session = asked("meant", "auto");
    let nodes = session["nodes"].as_array().unwrap();
    let kinds: Vec<&str> = nodes.iter().map(|node| node["node_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "model_turn", "tool_call", "model_turn", "tool_call"]);
    let (first, call, second) = (&nodes[1]["payload"], &nodes[2]["payload"], &nodes[3]["payload"]);
    assert_eq!(first["choices"][0]["report"]["calls"][0]["unsure"], true);
    assert_eq!((&call["unsure"], &call["next"]), (&json!(true), &json!("confirm")));
    let told = call["text"].as_str().unwrap();
    assert!(told.contains("the tool run_code in the middle of prose") && !told.contains("secret"), "{told}");
    assert_eq!(second["why"], "confirm");
    assert_eq!(session["turns"][0]["outcome"], "retried");
    assert_eq!(session["turns"][0]["repair_turns"], 1);
    let counted = |passed: u32, retried: u32| json!({"name": "", "passed": passed, "repaired": 0, "retried": retried, "refused": 0});
    assert_eq!(running.get("/api/statistics").json()["calls"], counted(0, 1));
    let page = running.get("/session?id=meant&node=2").body;
    assert!(page.contains("class=\"found unsure\" title=\"call 1, unsure\""), "{page}");
    assert!(page.contains("unsure: it may be quoted rather than made"), "{page}");
    let page = running.get("/session?id=meant&node=2&tab=feedback").body;
    assert!(
        page.contains("asked whether it means this call") && page.contains("in the middle of prose"),
        "{page}"
    );
    // Read again with what its prompt had asked for, it is the same.
    let page = running.get("/session?id=meant&node=2&tab=what-if").body;
    assert!(page.contains("run_code (exact, unsure)") && page.contains("The same."), "{page}");

    let session = asked("quiet", "strict");
    assert_eq!(session["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(session["nodes"][1]["payload"]["choices"][0]["report"]["shown"][0]["by"], "unsure");
    let page = running.get("/session?id=quiet&node=2").body;
    assert!(page.contains("class=\"found shown\" title=\"shown, not made: it may be made"), "{page}");
    let session = asked("flagged", "heal");
    assert_eq!(session["nodes"][2]["payload"]["unsure"], true);
    assert_eq!(running.get("/api/statistics").json()["calls"], counted(1, 1));

    let text = running.get("/metrics").body;
    for line in [
        r#"callwright_unsure_calls_total{model="gpt-4o",mode="prompt",dialect="hermes"} 2"#,
        r#"callwright_shown_calls_total{model="gpt-4o",mode="prompt",dialect="hermes",by="unsure"} 1"#,
        r#"callwright_attempts_total{upstream="replay",why="confirm",status="2xx"} 1"#,
    ] {
        assert!(text.lines().any(|l| l == line), "no {line} in\n{text}");
    }
}

#[test]
fn what_is_healed_in_silence_runs_and_takes_no_turn() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    let head = "POST /v1/chat/completions\nx-callwright-session: silent\nx-callwright-policy: heal";
    let answer = running.ask(head, &says("closer").to_string()).json();
    // S4-42: the client gets the call to run, and the model was asked once.
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("run_code"), &json!("{\"code\": \"print(1)\"}")));
    sessions(&running, "?outcome=repaired", 1);
    let session = running.get("/api/session/silent").json();
    let turn = &session["turns"][0];
    assert_eq!(
        (&turn["attempts"], &turn["repair_turns"], &turn["repairs"]),
        (&json!(1), &json!(0), &json!(1))
    );
    assert_eq!(session["summary"]["feedback_turns"], 0);
    let asked = upstream.requests().into_iter().filter(|request| request.path.ends_with("/chat/completions"));
    assert_eq!(asked.count(), 1);
}

#[test]
fn an_answer_is_kept_as_it_came_where_that_is_wanted() {
    let upstream = replay(&upstream());
    let folder = folder();
    let relay =
        callwright_relay::config::RelayConfig { keep_answers: 2048, ..relay_to(&upstream.base_url()) };
    let running = Running::start(keeping(&folder), relay);
    let answer_of = |session: &str| {
        sessions(&running, &format!("?text={session}"), 1);
        let head = format!("/api/session/{session}/node/2");
        running.get(&head).json()["node"].clone()
    };
    let ask = |session: &str, is_streamed: bool| {
        let mut body = says(session);
        body["stream"] = is_streamed.into();
        let head = format!("POST /v1/chat/completions\nx-callwright-session: {session}");
        assert_eq!(running.ask(&head, &body.to_string()).status, 200);
    };
    ask("thinking", false);
    let node = answer_of("thinking");
    let came: Value = serde_json::from_str(node["answer"].as_str().unwrap()).unwrap();
    assert_eq!(came["choices"][0]["message"]["reasoning_content"], "Hm, hm.");
    // What an upstream marks as thought is a node, and no part of what was said.
    let nodes = running.get("/api/session/thinking").json()["nodes"].clone();
    assert_eq!(
        (&nodes[2]["node_type"], &nodes[2]["payload"]["text"]),
        (&json!("reasoning"), &json!("Hm, hm."))
    );
    assert!(nodes[1]["answer"].is_null(), "a list of nodes has no bodies");
    ask("thinking-streamed", true);
    let node = answer_of("thinking-streamed");
    assert!(node["answer"].as_str().unwrap().starts_with("data: {"), "{node:#}");
    let nodes = running.get("/api/session/thinking-streamed").json()["nodes"].clone();
    assert_eq!(nodes[2]["payload"], json!({"text": "Hm, hm.", "from": "upstream"}));
    let page = running.get("/session?id=thinking-streamed&node=2&tab=upstream").body;
    assert!(page.contains("The answer as it came") && page.contains("data: {"), "{page}");
    // A long one is cut.
    ask("endless", false);
    let node = answer_of("endless");
    let (kept, came) =
        (node["answer"].as_str().unwrap().len(), node["payload"]["answer_bytes"].as_u64().unwrap());
    assert!(0 < kept && kept <= 2048 && 9000 < came, "{kept} of {came}");
    let page = running.get("/session?id=endless&node=2&tab=upstream").body;
    assert!(page.contains(&format!("The first {kept} of {came} bytes")), "{page}");
}

#[test]
fn turns_of_a_conversation_fall_together_without_a_name() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    running.chat(&says("Hello there."));
    let first = sessions(&running, "", 1)["sessions"][0]["id"].as_str().unwrap().to_owned();
    let more = json!([
        {"role": "system", "content": "It is 10:01."},
        {"role": "user", "content": "Hello there."},
        {"role": "assistant", "content": "Fine."},
        {"role": "user", "content": "And now?"},
    ]);
    running.chat(&chat(more));
    let session =
        awaited(&running, &format!("/api/session/{first}"), |s| s["turns"].as_array().unwrap().len() == 2);
    let kinds: Vec<&str> =
        session["nodes"].as_array().unwrap().iter().map(|node| node["node_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "model_turn", "user", "model_turn"]);
    running.chat(&says("Hello there."));
    sessions(&running, "?text=hello", 2);
    // Streams are kept as well.
    let mut streamed = says("closer, streamed");
    streamed["stream"] = true.into();
    running.chat(&streamed);
    sessions(&running, "?text=strea&outcome=repaired", 1);
}

#[test]
fn a_session_is_dumped_and_deleted() {
    let upstream = replay(&upstream());
    let (running, folder) = before(&upstream);
    let head = "POST /v1/chat/completions\nx-callwright-session: ../../x";
    running.ask(head, &says("closer").to_string());
    sessions(&running, "", 1);
    // S4-45: nothing that the client says chooses the path.
    let dumped = running.ask("POST /api/session/..%2F..%2Fx/dump", "{\"path\": \"/etc/passwd\"}").json();
    assert_eq!((&dumped["success"], &dumped["entry_count"]), (&json!(true), &json!(3)));
    let path = Path::new(dumped["dump_path"].as_str().unwrap());
    assert_eq!(path.parent().unwrap(), folder.join("dumps"));
    let dump: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((&dump["session_id"], &dump["entry_count"]), (&json!("../../x"), &json!(3)));
    assert_eq!(dump["entries"].as_array().unwrap().len(), 3);
    assert_eq!(running.ask("POST /api/session/nobody/dump", "").status, 404);
    assert_eq!(running.ask("DELETE /api/session/..%2F..%2Fx", "").json()["success"], true);
    assert_eq!(running.ask("DELETE /api/session/..%2F..%2Fx", "").status, 404);
}

#[test]
fn whoever_listens_sees_a_session_run() {
    let upstream = replay(&upstream());
    let (running, _) = before(&upstream);
    let mut listening = running::Connection::to(running.address);
    listening.send("GET /api/events", "");
    assert_eq!(listening.head().headers["content-type"], "text/event-stream");
    assert_eq!(listening.chunk().unwrap(), ": changes\n\n");
    running.ask("POST /v1/chat/completions\nx-callwright-session: live", &says("closer").to_string());
    let event = listening.chunk().unwrap();
    let change: Value = serde_json::from_str(event.trim().strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(
        (&change["session"], &change["what"], &change["nodes"]),
        (&json!("live"), &json!("added"), &json!(3))
    );
    // It ends with the server, which waits for nobody who listens.
    running.stop.drain();
    assert_eq!(listening.chunk().as_deref(), Some(""));
    running.ended();
}

#[test]
fn nobody_else_may_look() {
    let upstream = replay(&upstream());
    let folder = folder();
    let config = GatewayConfig { keys: vec![ClientKey::of("cw-right-key-1")], ..keeping(&folder) };
    let running = Running::start(config, relay_to(&upstream.base_url()));
    let paths = [
        "GET /api/sessions",
        "GET /api/session/x",
        "GET /api/statistics",
        "GET /api/events",
        "POST /api/session/x/dump",
        "DELETE /api/session/x",
    ];
    for path in paths {
        let answer: Answer = running.ask(path, "");
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.headers["www-authenticate"].starts_with("Basic"), "{path}");
        let foreign = format!("{path}\nauthorization: Bearer cw-right-key-1\norigin: http://evil.example");
        assert_eq!(running.ask(&foreign, "").status, 403, "{path}");
    }
    let right = "GET /api/sessions\nauthorization: Bearer cw-right-key-1";
    assert_eq!(running.ask(right, "").status, 200);
    drop(running);

    let (running, _) = before(&upstream);
    for path in paths {
        assert_eq!(running.ask(&format!("{path}\nhost: evil.example"), "").status, 403, "{path}");
    }
    drop(running);
    let running = Running::start(GatewayConfig::default(), relay_to(&upstream.base_url()));
    assert_eq!(running.get("/api/sessions").status, 404);
}

/// All that lies in a folder, and what is in it.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(contents(&entry.path())),
            false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
    found
}

#[test]
fn no_secret_is_ever_written() {
    let upstream = replay(&upstream());
    let folder = folder();
    let mut config = keeping(&folder);
    let secrets = Secrets::default();
    secrets.keep("canary/known+secret\"1");
    let keep = config.keep.as_mut().unwrap();
    keep.store.masking =
        callwright_store::Masking::new(secrets.clone(), &[String::from(r"ticket-\d+")]).unwrap();
    config.secrets = secrets;
    let running = Running::start(config, relay_to(&upstream.base_url()));
    // The upstream's own key, which is known because it was looked up; keys by shape; by name; by pattern.
    let canaries = [
        "sk-canary-0123456789",
        "canary/known+secret",
        "sk-live-abcdefghijklmnop",
        "hunter2hunter2",
        "ticket-4711",
    ];
    let text = "sk-canary-0123456789 canary/known+secret\"1 sk-live-abcdefghijklmnop ticket-4711 closer";
    let messages = json!([
        {"role": "system", "content": format!("{{\"password\": \"hunter2hunter2\"}} {text}")},
        {"role": "user", "content": text},
    ]);
    for session in ["", "\nx-callwright-session: sk-live-abcdefghijklmnop"] {
        let head = format!("POST /v1/chat/completions{session}");
        assert_eq!(running.ask(&head, &chat(messages.clone()).to_string()).status, 200);
    }
    let page = sessions(&running, "", 2);
    let id = page["sessions"][0]["id"].as_str().unwrap();
    assert_eq!(running.ask(&format!("POST /api/session/{id}/dump"), "").json()["success"], true);
    // With the write-ahead log still there, and after it is gone.
    let mut seen = contents(&folder);
    assert!(seen.iter().any(|(path, _)| path.to_string_lossy().ends_with("-wal")), "{seen:?}");
    running.stop.drain();
    running.ended();
    seen.extend(contents(&folder));
    assert!(seen.iter().any(|(_, bytes)| bytes.windows(6).any(|window| window == b"closer")));
    for canary in canaries {
        for form in [canary.to_owned(), canary.replace('/', "\\/")] {
            let leak = seen.iter().find(|(_, bytes)| bytes.windows(form.len()).any(|w| w == form.as_bytes()));
            assert!(leak.is_none(), "{form} is in {}", leak.unwrap().0.display());
        }
    }
    let store = Store::open(StoreConfig::at(folder.join("callwright.db"))).unwrap();
    assert_eq!(store.dropped(), 0);
}

/// A response is gone on from with what was said, and what is written down of both has stars.
#[test]
fn a_secret_is_asked_with_and_not_kept() {
    const SECRET: &str = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
    let upstream = replay(&upstream());
    let (running, folder) = before(&upstream);
    let ask = |body: &Value| running.ask("POST /v1/responses", &body.to_string()).json();
    let first = ask(&json!({"model": "gpt-x", "input": format!("The key is {SECRET}.")}));
    let second =
        ask(&json!({"model": "gpt-x", "input": "Go on.", "previous_response_id": first["id"].clone()}));
    assert_eq!(second["status"], "completed", "{second}");
    let asked = last_asked(&upstream).json();
    assert!(asked["messages"].to_string().contains(SECRET), "{asked}");
    awaited(&running, "/api/sessions", |page| {
        let turns = |session: &Value| session["turns"].as_u64().unwrap_or_default();
        page["sessions"].as_array().unwrap().iter().map(turns).sum::<u64>() == 2
    });
    drop(running);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let holds = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!holds, "{} holds it", path.display());
    }
}

/// As long as nothing of a stream is out, its failure is the answer's status, and that is the one that is kept.
#[test]
fn what_failed_before_it_began_is_kept_with_its_status() {
    let upstream =
        replay("[[answer]]\ntext = 'x'\nrepeat = true\nfault = { cut = { after = 1, how = 'close' } }\n");
    let (running, _) = before(&upstream);
    let body = json!({"model": "gpt-x", "stream": true, "max_tokens": 9, "input": "Hi.", "messages": [{"role": "user", "content": "Hi."}]});
    for (path, status) in [("messages", 502), ("responses", 502), ("chat/completions", 200)] {
        let head = format!("POST /v1/{path}\nx-callwright-session: {}", path.replace('/', "-"));
        assert_eq!(running.ask(&head, &body.to_string()).status, status, "{path}");
        let session = format!("/api/session/{}", path.replace('/', "-"));
        let session = awaited(&running, &session, |session| session["turns"][0].is_object());
        assert_eq!(session["turns"][0]["status"], status, "{path}: {session:#}");
    }
}

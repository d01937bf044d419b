//! Tests servers that listen: our requests, and our reading of their answers.

use super::*;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

/// A request: its head in lower case, and its message.
#[derive(Clone)]
struct Asked {
    head: String,
    message: Value,
}

/// Listens, and answers each request with the exact result of `answer`.
async fn listen(
    answer: impl Fn(&Asked) -> String + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<Asked>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (kept, answer) = (asked.clone(), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (kept, answer) = (kept.clone(), answer.clone());
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut head).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let head = head.to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
                let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
                stream.read_exact(&mut body).await.unwrap();
                let message = serde_json::from_slice(&body).unwrap_or_default();
                let asked = Asked { head, message };
                let said = answer(&asked);
                kept.lock().unwrap().push(asked);
                let _ = stream.write_all(said.as_bytes()).await;
            });
        }
    });
    (url, asked)
}

fn response(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\nmcp-session-id: S1\r\n\r\n{body}"
    )
}

/// Answers like a server of an older protocol: it lacks `server/discover`, and answers calls with events.
fn older(asked: &Asked) -> String {
    let id = &asked.message["id"];
    let json = |result: Value| {
        response(
            "200 OK",
            "application/json",
            &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
        )
    };
    match asked.message["method"].as_str() {
        Some("server/discover") => response("400 Bad Request", "text/plain", "no session"),
        Some("initialize") => json(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "older", "version": "1"}})),
        Some("tools/list") => json(json!({"tools": [{"name": "echo", "description": "Says it.",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]})),
        Some("tools/call") => {
            let result =
                json!({"content": [{"type": "text", "text": asked.message["params"]["arguments"]["text"]}]});
            let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
            response(
                "200 OK",
                "text/event-stream; charset=utf-8",
                &format!(": hello\n\nevent: message\ndata: {message}\n\n"),
            )
        }
        Some(_) => response("202 Accepted", "application/json", ""),
        None => response("405 Method Not Allowed", "text/plain", ""),
    }
}

async fn connect(url: &str, folder: &Path) -> (Servers, Vec<String>) {
    let settings =
        json!({"url": url, "headers": {"authorization": "Bearer ${MY_TOKEN}"}, "start_seconds": 60});
    let surroundings = Surroundings {
        environment: vec![("MY_TOKEN".into(), "sesame".into())],
        folder: folder.to_owned(),
        pins: folder.join("pins"),
        is_named: true,
    };
    let told = Told::default();
    let configs = BTreeMap::from([("web".to_owned(), settings.to().unwrap())]);
    let servers = Servers::connect(&configs, &surroundings, told.tell()).await.unwrap();
    (servers, told.lines())
}

#[tokio::test]
async fn an_older_server_is_greeted_listed_and_called() {
    let folder = tempfile::tempdir().unwrap();
    let (url, asked) = listen(older).await;
    let (servers, told) = connect(&url, folder.path()).await;
    assert_eq!(told, ["MCP server web: pinned as they are now: echo"]);
    let toolbox = Toolbox::new(servers.tools()).unwrap();
    let context = CallContext::new("1", Arc::new(Workspace::open(folder.path()).unwrap()));
    let result = toolbox.call("web__echo", r#"{"text": "hello"}"#, &context).await;
    assert_eq!(result, ToolResult::Text("hello".into()));
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|asked| asked.head.contains("\r\nauthorization: bearer sesame\r\n")));
    let call = asked.iter().find(|asked| asked.message["method"] == "tools/call").unwrap();
    assert!(call.head.contains("\r\nmcp-session-id: s1\r\n"), "{}", call.head);
    assert!(call.head.contains("\r\nmcp-protocol-version: 2025-06-18\r\n"), "{}", call.head);
}

#[tokio::test]
async fn what_is_no_answer_is_told_and_nobody_else_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (elsewhere, stolen) = listen(older).await;
    let moved = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let huge =
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", 9 << 20);
    let long = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {}",
        "x".repeat(9 << 20)
    );
    for (said, why) in [
        (moved, "it answered 307 Temporary Redirect"),
        (
            response("401 Unauthorized", "text/plain", "no \u{1b}[2Jtoken"),
            "it answered 401 Unauthorized: no ⟨U+001B⟩[2Jtoken",
        ),
        (response("200 OK", "text/html", "<p>"), "neither JSON nor events"),
        (huge, "exceeded the maximum size"),
        (long, "closed the connection"),
        (String::new(), "connection closed before"),
    ] {
        let (url, _) = listen(move |_| said.clone()).await;
        let (_, told) = connect(&url, folder.path()).await;
        assert!(
            told[0].starts_with("MCP server web is not used: ") && told[0].contains(why),
            "{why}: {told:?}"
        );
        assert!(!told[0].contains("sesame"));
    }
    assert!(stolen.lock().unwrap().is_empty());
    let (_, told) = connect("http://127.0.0.1:1/mcp", folder.path()).await;
    assert!(told[0].contains("Connection refused"), "{told:?}");
}

//! `callwright serve` as a person runs it: what it configures, what it says, what it logs, and what it never shows.

use callwright::json;
use callwright::value::Value;
use callwright_replay::{Replay, Script};

use crate::binary::serving::{Serving, serve};
use crate::binary::{file, run};

/// What `--check` prints and says, and how it ends.
fn check(args: &[&str], env: &[(&str, &str)]) -> (i32, String, String) {
    let output = serve(&[args, &["--check", "--offline"]].concat(), env).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn replay(script: &str) -> Replay {
    Replay::start(Script::from_toml(script).unwrap()).unwrap()
}

fn chat(model: &str, says: &str) -> Value {
    let parameters =
        json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
    let function = json!({"name": "run_code", "description": "Run code.", "parameters": parameters});
    json!({
        "model": model,
        "messages": [{"role": "user", "content": says}],
        "tools": [{"type": "function", "function": function}],
    })
}

#[test]
fn without_configuration_it_says_what_it_chose() {
    let serving = Serving::start(&[], &[]);
    let answer = serving.chat(&json!({"model": "replay", "messages": [{"role": "user", "content": "Hi."}]}));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let (log, out) = serving.end();
    assert!(log[0].contains("no upstream is configured") && log[0].contains("built-in replay"), "{log:?}");
    assert_eq!(out, "", "nothing but the address is on standard output");

    // S3-02: with a key for OpenRouter it is that, and the model that costs nothing there.
    let (code, out, err) = check(&[], &[("OPENROUTER_API_KEY", "sk-or-canary-1")]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("using OpenRouter"), "{err}");
    assert!(out.contains("google/gemma-3-27b-it:free  (chosen for OpenRouter)"), "{out}");
    assert!(out.contains("https://openrouter.ai/api/v1, key from OPENROUTER_API_KEY"), "{out}");
    assert!(!format!("{out}{err}").contains("sk-or-canary-1"));
}

#[test]
fn flags_come_before_the_environment_and_that_before_the_file() {
    let config = file(
        "precedence.toml",
        "policy = 'heal'\n[server]\nworkers = 3\ndrain_seconds = 7\n[[upstreams]]\nname = 'a'\nbase_url = 'http://127.0.0.1:9/v1?key=hidden'\n",
    );
    let args = ["--config", &config, "--set", "server.workers=1"];
    let (code, out, err) =
        check(&args, &[("CALLWRIGHT_POLICY", "strict"), ("CALLWRIGHT_SERVER_WORKERS", "2")]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for line in [
        "policy         strict  (CALLWRIGHT_POLICY)",
        "set            server.workers = 1  (--set server.workers)",
        "set            server.drain_seconds = 7  (file)",
        "upstream       a at http://127.0.0.1:9/v1, no key, all models  (file)",
        "default model  none  (default)",
    ] {
        assert!(out.lines().any(|l| l == line), "no {line:?} in\n{out}");
    }
}

#[test]
fn a_key_of_an_earlier_version_is_read_and_shown_by_its_name() {
    let config = file("former.toml", "[ladder]\nbreaker = 5\n");
    let environment = [("CALLWRIGHT_LADDER_BREAKER", "6")];
    for (args, env, given, origin) in [
        (&["--config", &config][..], &[][..], 5, "file"),
        (&["--config", &config], &environment, 6, "CALLWRIGHT_LADDER_BREAKER"),
        (&["--config", &config, "--set", "ladder.breaker=7"], &environment, 7, "--set ladder.breaker"),
    ] {
        let (code, out, err) = check(args, env);
        assert_eq!(code, 0, "{err}");
        let line = format!("set            ladder.give_up_after = {given}  ({origin})");
        assert!(out.lines().any(|l| l == line), "no {line:?} in\n{out}");
    }
}

#[test]
fn what_cannot_be_used_is_named_with_its_line() {
    for (name, text, says) in [
        ("unknown.toml", "listen = '127.0.0.1:0'\n\n[server]\nworker = 2\n", "line 4: unknown key `worker`"),
        (
            "unknown2.toml",
            "[[upstreams]]\nname = 'a'\nbase_url = 'x'\ntimeout = 3\n",
            "line 4: unknown key `timeout`",
        ),
        ("missing.toml", "[[upstreams]]\nname = 'a'\n", "missing key `base_url`"),
        ("example.toml", "[[dialect]]\nname = 'a'\nexample = 'x'\n", "unknown key `example`"),
        ("type.toml", "[limits]\nbody = 'much'\n", "line 2: invalid type"),
        ("policy.toml", "policy = 'lax'\n", "line 1: a policy is one of auto, heal, feedback, strict"),
        ("syntax.toml", "listen = \n", "line 1: "),
        ("level.toml", "[log]\nlevel = 'x=y=z'\n", "log.level: "),
        ("hash.toml", "[[keys]]\nname = 'ci'\nsha256 = 'cw-1'\n", "key ci: sha256: a key's hash is 64"),
        ("url.toml", "[[upstreams]]\nname = 'a'\nbase_url = 'localhost'\n", "upstream `a`: base_url"),
    ] {
        let path = file(name, text);
        let (code, _, err) = check(&["--config", &path], &[]);
        assert_eq!(code, 8, "{name}: {err}");
        assert!(err.contains(says), "{name}: {err}");
    }
    let (code, _, err) = check(&["--config", "/nonexistent.toml"], &[]);
    assert_eq!(code, 3, "{err}");
    let (code, _, err) = check(&["--listen", "0.0.0.0:4000"], &[]);
    assert!(code == 8 && err.contains("--allow-open"), "{err}");
}

#[test]
fn the_sample_is_taken_with_all_its_lines_switched_on() {
    let sample = include_str!("../../../../examples/callwright.toml");
    // `#key` is a line that is switched off, `# Words` a comment.
    let is_off = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
    // There are no certificates here, and a dialect has one grammar: `string_mark` is for another than the sample's.
    let is_apart = |line: &&str| line.starts_with("#ca_file") || line.starts_with("#string_mark");
    let lines = sample.lines().filter(|line| !is_apart(line));
    let text: Vec<&str> = lines.map(|line| if is_off(line) { &line[1..] } else { line }).collect();
    file(
        "tokenizer_config.json",
        r#"{"response_template": {"start_anchor": "<a>", "fields": {"tool_calls": {
        "open_pattern": "⟦do (?P<name>\\w+)⟧", "close": "⟦done⟧", "repeats": true, "content": "json",
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}}}"#,
    );
    let config = file("sample.toml", text.join("\n"));
    let env = [("LOCAL_KEY", "sk-1"), ("TEAM", "a"), ("COLLECTOR_KEY", "k")];
    let (code, out, err) = check(&["--config", &config], &env);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // All that can be set is there.
    for key in [
        "server.stall_seconds = 60",
        "limits.compiled_tools = 67108864",
        "capability.probe = true",
        "log.level = info",
    ] {
        assert!(out.contains(&format!("set            {key}  (file)")), "{key} in {out}");
    }
}

#[test]
fn health_says_whether_a_gateway_is_alive() {
    // Without a key: whoever checks has none.
    let serving = Serving::start(&["--key-hash", &"0".repeat(64)], &[]);
    let address = serving.address.clone();
    let ran = run(&["health", &address], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, "live\n"), "{}", ran.err);
    serving.end();
    let ran = run(&["health", &address], "");
    assert!(ran.code == 3 && ran.err.contains(&address), "{}", ran.err);
    let other = Replay::start(Script::from_toml("").unwrap()).unwrap();
    let ran = run(&["health", &other.addr().to_string()], "");
    assert!(ran.code == 3 && ran.err.contains("not that of a live gateway"), "{}", ran.err);
}

#[test]
fn a_key_is_made_and_let_in() {
    let made = run(&["key"], "");
    let part = |name: &str| {
        let line = made.out.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().to_owned()
    };
    assert_ne!(run(&["key"], "").out, made.out);
    let serving = Serving::start(&["--key-hash", &part("sha256")], &[]);
    assert!(serving.ask("GET", "/v1/models", "", "").starts_with("HTTP/1.1 401"));
    let key = format!("authorization: Bearer {}\r\n", part("key"));
    assert!(serving.ask("GET", "/v1/models", &key, "").starts_with("HTTP/1.1 200"));
    serving.end();
}

const ANSWERS: &str = r#"
[[answer]]
text = "Let me see."
tool_calls = [{ id = "call_1", name = "runCode", arguments = '{"code": "1",}' }]
[answer.when]
contains = "broken"

[[answer]]
tool_calls = [{ id = "call_2", name = "run_code", arguments = '{"code": {}}' }]
repeat = true
[answer.when]
contains = "wrong"

[[answer]]
text = "Only text."
repeat = true
"#;

#[test]
fn the_log_tells_of_every_step_with_tools() {
    let upstream = replay(ANSWERS);
    let args = ["--upstream", &upstream.base_url(), "--log-format", "json"];
    let serving = Serving::start(&args, &[]);
    serving.chat(&chat("gpt-4o", "broken"));
    let head = "x-callwright-policy: heal\r\n";
    serving.ask("POST", "/v1/chat/completions", head, &chat("gpt-4o", "wrong").to_string());
    let mut result = chat("gpt-4o", "Go on.");
    result["messages"] = json!([
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_9", "type": "function", "function": {"name": "run_code", "arguments": "{\"code\": \"1\"}"}}]},
        {"role": "tool", "tool_call_id": "call_9", "content": "1\n"},
    ]);
    serving.chat(&result);
    let (log, _) = serving.end();
    // S3-54: each line is an object, so that programs can filter them.
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all =
        |message: &str| -> Vec<&Value> { lines.iter().filter(|line| line["message"] == message).collect() };

    // S2-29
    let name = all("[chat] repaired tool name");
    assert_eq!(name.len(), 1, "{log:#?}");
    assert_eq!((&name[0]["from"], &name[0]["to"]), (&json!("runCode"), &json!("run_code")));
    assert_eq!(name[0]["tool_call_id"], "call_1");
    // S2-30
    let inputs = all("[chat] repaired tool inputs");
    assert_eq!(inputs.len(), 1);
    assert_eq!((&inputs[0]["repairs"], &inputs[0]["tool_call_id"]), (&json!("drop-comma"), &json!("call_1")));
    // S2-22, S2-23, S2-31: one line per step with tools, none for the step that was text only.
    let steps = all("[chat] step.finish");
    assert_eq!(steps.len(), 2, "{log:#?}");
    let step = json!({"tool_name": "run_code", "tool_call_id": "call_1", "invalid": false,
        "finish_reason": "tool_calls", "has_text": true});
    for (key, value) in step.as_object().unwrap() {
        assert_eq!(&steps[0][key], value, "{key}");
    }
    assert!(steps[0]["total_tokens"].is_u64());
    assert_eq!((&steps[1]["tool_call_id"], &steps[1]["invalid"]), (&json!("call_2"), &json!(true)));
    // S4-40
    let refused = all("[chat] refused tool call");
    assert_eq!((&refused[0]["node_type"], &refused[0]["turn"]), (&json!("validation_error"), &json!(1)));
    // S3-57
    let results = all("[chat] tool result");
    assert_eq!((results.len(), &results[0]["tool_call_id"]), (1, &json!("call_9")));
}

#[test]
fn the_log_tells_how_tools_reach_a_model() {
    let upstream = replay(&format!("refuses_tools = \"m does not support tools\"\n{ANSWERS}"));
    let args = ["--upstream", &upstream.base_url(), "--log-format", "json", "--log-level", "debug"];
    let serving = Serving::start(&args, &[]);
    serving.chat(&chat("gpt-4o", "Hi."));
    let (log, _) = serving.end();
    let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |part: &str| {
        let found = lines.iter().find(|line| line["message"].as_str().is_some_and(|m| m.contains(part)));
        found.unwrap_or_else(|| panic!("no {part} in {log:#?}"))
    };
    // S3-40, S3-55
    let found = find("capability found");
    assert_eq!(found["model"], "gpt-4o");
    assert!(found["source"].is_string() && found["tools"].is_boolean());
    // S3-56
    assert_eq!(find("[relay] mode")["mode"], "native");
    // S3-58
    assert!(find("[relay] fallback")["reason"].as_str().unwrap().contains("does not support tools"));
    assert!(lines.iter().any(|line| line["mode"] == "prompt"), "{log:#?}");
}

/// A type that there is not checks nothing: the log says so, once for the tools, however often they are sent.
#[test]
fn the_log_tells_once_of_a_type_that_there_is_not() {
    let upstream = replay("[[answer]]\ntext = \"Hi.\"\nrepeat = true\n");
    let serving = Serving::start(&["--upstream", &upstream.base_url()], &[]);
    let mut request = chat("gpt-4o", "Hi.");
    request["tools"][0]["function"]["parameters"]["properties"]["code"]["type"] = json!("strnig");
    serving.chat(&request);
    serving.chat(&request);
    let (log, _) = serving.end();
    let told = log.iter().filter(|line| line.contains("strnig")).count();
    assert_eq!(told, 1, "{log:#?}");
}

/// By default, of a request that failed: one line, with the status that its client got and what the upstream said.
#[test]
fn the_log_tells_of_a_failed_request_in_one_line() {
    let upstream = replay(
        r#"
[[answer]]
status = 400
error = { message = "the context is too long" }
repeat = true
"#,
    );
    let args = ["--upstream", &upstream.base_url(), "--log-format", "json"];
    for (streamed, at) in
        [(false, "/v1/chat/completions"), (true, "/v1/chat/completions"), (false, "/v1/messages")]
    {
        let serving = Serving::start(&args, &[]);
        let mut request = chat("gpt-4o", "Hi.");
        request["stream"] = json!(streamed);
        if at == "/v1/messages" {
            request =
                json!({"model": "gpt-4o", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]});
        }
        let answer = serving.ask("POST", at, "", &request.to_string());
        let (log, _) = serving.end();
        let lines: Vec<Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let failed: Vec<&Value> = lines.iter().filter(|line| line["message"] == "[chat] failed").collect();
        assert_eq!(failed.len(), 1, "{at} {log:#?}");
        let status = failed[0]["status"].as_u64().unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{at} {answer} {log:#?}");
        assert!(failed[0]["error"].as_str().unwrap().contains("context is too long"), "{at} {log:#?}");
        assert_eq!(failed[0]["model"], "gpt-4o");
    }
}

/// The upstream's key and a client's, in all forms in which they might get out.
fn forms(key: &str) -> Vec<String> {
    let base64 = |bytes: &[u8]| -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        let digits = bits.as_bytes().chunks_exact(6);
        digits
            .map(|six| DIGITS[six.iter().fold(0, |n, bit| n * 2 + usize::from(bit - b'0'))] as char)
            .collect()
    };
    let escaped = |form: fn(u8) -> String| key.bytes().map(form).collect::<String>();
    let url = escaped(|b| if b.is_ascii_alphanumeric() { (b as char).into() } else { format!("%{b:02X}") });
    let json = escaped(|b| if b == b'/' { "\\/".into() } else { (b as char).into() });
    let mut forms = vec![key.to_owned(), url, json];
    // The same bytes look different at each of three places of a longer text.
    forms.extend((0..3).map(|skipped| base64(&key.as_bytes()[skipped..])));
    forms.retain(|form| 12 < form.len());
    forms
}

#[test]
fn no_key_is_ever_seen() {
    let upstream_key = "sk-canary/upstream+0123456789ab";
    let client_key = "cw-canary/client+0123456789abcd";
    // An upstream that repeats in its errors what it was sent: the worst that there is.
    let upstream = replay(&format!(
        "{ANSWERS}\n[[answer]]\nstatus = 401\nerror = {{ message = \"Incorrect API key provided: {upstream_key}\" }}\nrepeat = true\n[answer.when]\nmodel = \"unauthorized\"\n"
    ).replacen("[[answer]]\ntext = \"Only text.\"", "[[answer]]\ntext = \"Only text.\"\nwhen = { lacks = \"unauthorized\" }", 1));
    let hash = callwright_gateway::ClientKey::of(client_key).hash();
    let env = [("UP_KEY", upstream_key), ("CALLWRIGHT_KEYS", hash.as_str())];
    for format in ["json", "text"] {
        let args = [
            "--upstream",
            &upstream.base_url(),
            "--upstream-key-env",
            "UP_KEY",
            "--log-level",
            "trace",
            "--log-format",
            format,
        ];
        let (code, out, err) = check(&args, &env);
        assert_eq!(code, 0, "{err}");
        let mut seen = vec![out, err];
        let serving = Serving::start(&args, &env);
        let right = format!("authorization: Bearer {client_key}\r\n");
        let wrong = format!("authorization: Bearer {client_key}x\r\n");
        let mut streamed = chat("gpt-4o", "Hi.");
        streamed["stream"] = true.into();
        for key in [&right, &wrong] {
            for body in
                [&chat("gpt-4o", "broken"), &chat("gpt-4o", "wrong"), &chat("unauthorized", "Hi."), &streamed]
            {
                seen.push(serving.ask("POST", "/v1/chat/completions", key, &body.to_string()));
            }
            seen.push(serving.ask("POST", "/v1/chat/completions", key, "{"));
            for path in ["/v1/models", "/metrics", "/health", "/nowhere", "/v1/nowhere"] {
                seen.push(serving.ask("GET", path, key, ""));
            }
        }
        let (log, out) = serving.end();
        assert!(log.len() > 10, "there is something to look through: {log:#?}");
        seen.extend(log);
        seen.push(out);
        for key in [upstream_key, client_key] {
            for form in forms(key) {
                let leak = seen.iter().find(|text| text.contains(&form));
                assert!(leak.is_none(), "{form} is in {leak:?}");
            }
        }
    }
    assert!(upstream.requests().iter().any(|request| request.header("authorization") == Some("***")));
}

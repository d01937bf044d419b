//! Each command as a person or a script runs it, and each exit code.

use std::io::{Read, Write};
use std::net::TcpListener;

use callwright::json;
use callwright_replay::{Replay, Script};

use crate::binary::{TOOLS, callwright, file, run};

const CALL: &str =
    r#"<function>{"name": "search_recipes", "parameters": {"query": "pasta", "limit": 1.0}}</function>"#;

#[test]
fn parse_draws_the_call() {
    let tools = file("draws.json", TOOLS);
    let ran = run(&["parse", "--tools", &tools], CALL);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("search_recipes"), "{}", ran.err);
    assert!(ran.err.contains("\"limit\": 1.0"), "numbers keep their text: {}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "no colour where there is no terminal");
    // What is not a terminal is a program: it gets what --json writes, and nothing else.
    let json = run(&["parse", "--json", "--tools", &tools], CALL);
    assert_eq!((ran.out.as_str(), json.err.as_str()), (json.out.as_str(), ""));
    let ran = run(&["parse", "--color", "always", "--tools", &tools], CALL);
    assert!(ran.err.contains('\u{1b}') && !ran.out.contains('\u{1b}'));
}

#[test]
fn parse_reads_a_file_and_writes_json() {
    let tools = file("reads.json", TOOLS);
    let answer = file("reads.txt", format!("Let me look.\n{CALL}"));
    let ran = run(&["parse", &answer, "--json", "--tools", &tools], "");
    assert_eq!(ran.code, 0);
    let parsed = ran.json();
    assert_eq!(parsed["calls"][0]["name"], "search_recipes");
    assert!(ran.out.contains("\"limit\": 1.0"), "{}", ran.out);
    assert_eq!(parsed["text"].as_str().map(str::trim), Some("Let me look."));
}

/// A call that stays text says why, and one that may be shown as well as made says so: drawn, in the report and by line.
#[test]
fn what_is_shown_or_unsure_is_told() {
    let tools = file("shown.json", TOOLS);
    let hermes = r#"<tool_call>{"name": "run_code", "arguments": {"code": "1"}}</tool_call>"#;
    let fenced = format!("Like this:\n```text\nSay:\n{hermes}\n```\n");
    let ran = run(&["parse", "--tools", &tools], fenced.as_str());
    assert!(
        ran.err.contains("a call to `run_code` is quoted, not made: it stands in a fence with other text"),
        "{}",
        ran.err
    );
    assert_eq!(ran.json()["shown"][0]["by"], "fence");
    let between = format!("Like this:\n\n{hermes}\n\nSo far.");
    let tools_at = ["--tools", &tools];
    for (more, n_calls, unsure, n_shown) in [
        (&[][..], 1, Some(false), 0),
        (&["--asked", "hermes"], 1, Some(false), 0),
        (&["--asked", "json"], 1, Some(true), 0),
        (&["--asked", "json", "--policy", "strict"], 0, None, 1),
        (&["--native"], 0, None, 1),
    ] {
        let ran = run(&[&["parse"], &tools_at[..], more].concat(), between.as_str());
        let report = ran.json();
        assert_eq!(report["calls"].as_array().unwrap().len(), n_calls, "{more:?}");
        assert_eq!(report["calls"][0]["unsure"].as_bool(), unsure, "{more:?}");
        assert_eq!(report["shown"].as_array().unwrap().len(), n_shown, "{more:?}");
        assert_eq!(ran.err.contains("it is unsure"), unsure == Some(true), "{more:?}: {}", ran.err);
        assert_eq!(ran.err.contains("is quoted, not made"), n_shown == 1, "{more:?}: {}", ran.err);
    }
}

#[test]
fn calls_in_reasoning_count_as_asked() {
    let tools = file("reasoning.json", TOOLS);
    let closed = format!("<think>Perhaps this.\n{CALL}\nOr so.</think>Hello.");
    let unclosed = format!("<think>So: {CALL}");
    for (setting, n_closed, n_unclosed) in [("ignore", 0, 0), ("unclosed", 0, 1), ("accept", 1, 1)] {
        for (text, n_calls) in [(&closed, n_closed), (&unclosed, n_unclosed)] {
            let ran =
                run(&["parse", "--json", "--calls-in-reasoning", setting, "--tools", &tools], text.as_str());
            assert_eq!(ran.json()["calls"].as_array().map(Vec::len), Some(n_calls), "{setting}: {text}");
        }
    }
    assert_eq!(run(&["parse", "--calls-in-reasoning", "no", "--tools", &tools], "").code, 2);
}

#[test]
fn chunks_change_nothing() {
    let tools = file("chunks.json", TOOLS);
    let texts = [
        CALL,
        "no call at all, only `<b>` and a brace {",
        "<search_recipes>{\"query\": \"pâté → \\\"x\\\"\"}</function> and more",
        "```json\n{\"tool\": \"run_code\", \"arguments\": {\"code\": \"print('hello')\"}}}}\n```",
        "<think>{\"tool\": \"run_code\"}</think>[run_code(code='1'), search_recipes(query=\"x\")]",
    ];
    for text in texts {
        let answer =
            |more: &[&str]| run(&[&["parse", "--json", "--tools", &tools], more].concat(), text).json();
        let whole = answer(&[]);
        for chunks in ["1", "7", "random:1", "random:2"] {
            assert_eq!(answer(&["--chunks", chunks]), whole, "{chunks} of {text}");
        }
    }
}

#[test]
fn heal_draws_and_writes() {
    let ran = run(&["heal"], "{\"path\": \"test.py\",}");
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"path\": \"test.py\"}\n"), "{}", ran.err);
    assert!(ran.err.contains("a comma too many"), "{}", ran.err);

    let schema = file("heal.json", r#"{"type": "object", "required": ["path"]}"#);
    let ran = run(&["heal", "--json", "--schema", &schema], "{\"path\": 1e400}");
    assert_eq!(ran.json()["output_text"], "{\"path\": 1e400}");
    assert_eq!(ran.json()["repairs"], json!([]));
}

#[test]
fn what_cannot_be_healed_says_why() {
    let ran = run(&["heal", "--finish-reason", "length"], "{\"path\": \"te");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("not repaired: "), "{}", ran.err);
    let ran = run(&["heal", "--json"], "{\"a\": 1} {\"a\": 2}");
    assert_eq!(ran.code, 1);
    assert!(ran.json()["error"].is_string(), "{}", ran.out);
    assert!(ran.json().get("output_text").is_none());
}

#[test]
fn parse_without_tools_shows_what_looks_like_calls() {
    let ran = run(&["parse"], CALL);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("1 candidate: no tools are declared"), "{}", ran.err);
    let found = &ran.json()["candidates"][0];
    assert_eq!((&found["name"], &found["span"]), (&json!("search_recipes"), &json!([0, CALL.len()])));
    assert!(ran.json().get("calls").is_none(), "none of them is a call: {}", ran.out);
    let ran = run(&["parse", "--json"], "No call here.");
    assert_eq!((ran.code, ran.json()["candidates"].clone()), (0, json!([])));
}

/// The same names hold the same things, whole or line by line.
#[test]
fn one_text_and_many_lines_are_told_alike() {
    let tools = file("alike.json", TOOLS);
    let text = "<function>{\"name\": \"search_recipes\", \"parameters\": {\"query\": \"a\",}}</function>\n\
                <function>{\"name\": \"run_code\", \"parameters\": {\"code\": {}}}</function>";
    let one = run(&["parse", "--json", "--tools", &tools], text).json();
    let line = json!({"id": 1, "text": text}).to_string();
    let many = run(&["parse", "--jsonl", "--tools", &tools], line).json();
    for member in ["calls", "repairs", "text"] {
        assert_eq!(one[member], many[member], "{member}");
    }
    assert_eq!(one["repairs"][0]["kind"], "drop-comma");
    assert_eq!(one["refusals"][0]["code"], many["refusals"][0]["code"]);
    let one = run(&["heal", "--json"], "{\"a\": 1,}").json();
    let many = run(&["heal", "--jsonl"], json!({"id": 1, "input": "{\"a\": 1,}"}).to_string()).json();
    assert_eq!((&one["repairs"], &one["output_text"]), (&many["repairs"], &many["output_text"]));
}

#[test]
fn lint_fails_on_errors_and_on_warnings_where_that_is_asked_for() {
    let warned = file("warned.json", r#"[{"name": "f", "parameters": {"type": "object"}}]"#);
    assert_eq!(run(&["lint", &warned], "").code, 0);
    assert_eq!(run(&["lint", "--strict", &warned], "").code, 1);
    let wrong = r#"{"tools": [{"name": "f", "description": "Finds a file by its name.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "strnig"}}}}]}"#;
    let ran = run(&["lint", &file("wrong.json", wrong), "--cost"], "");
    assert!(ran.code == 1 && ran.out.contains("error: f/properties/a: "), "{}", ran.out);
}

#[test]
fn a_refused_call_is_fed_back() {
    let tools = file("refused.json", TOOLS);
    let ran = run(
        &["parse", "--tools", &tools],
        r#"<function>{"name": "run_code", "parameters": {"code": {}}}</function>"#,
    );
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("refused") && ran.err.contains("what the model is told"), "{}", ran.err);
    assert_eq!(ran.json()["refusals"][0]["code"], "invalid", "{}", ran.out);
}

#[test]
fn every_failure_has_its_sentence_and_its_code() {
    let tools = file("failures.json", TOOLS);
    let no_tools = file("no-tools.json", "{\"name\": 1}");
    let no_json = file("no-json.json", "[");
    let latin = file("latin.txt", b"caf\xe9");
    let cases: [(&[&str], &str, i32, &str); 14] = [
        (&["parse", "--finish-reason", "bogus"], "", 2, "content_filter"),
        (&["sessions", "--outcome", "bogus"], "", 2, "retried"),
        (&["sessions", "--surface", "bogus"], "", 2, "responses, ollama, gemini]"),
        (&["run", "x", "--max-turns", "0"], "", 2, "--max-turns"),
        (&["parse", "--tools", &tools, "--chunks", "0"], "", 2, "--chunks"),
        (&["heal", "--jobs", "2"], "", 2, "--jsonl"),
        (&["parse", "--asked", "json", "--native"], "", 2, "--native"),
        (&["parse", "--asked", "hermse"], "", 8, "there is no dialect `hermse`: did you mean `hermes`?"),
        (&["parse", "no-such-file", "--tools", &tools], "", 3, "cannot read no-such-file"),
        (&["heal", env!("CARGO_TARGET_TMPDIR")], "", 3, "cannot read"),
        (&["heal", &latin], "", 4, "is not UTF-8 at byte 3"),
        (&["parse", "--tools", &no_tools], "", 5, "cannot use"),
        (&["heal", "--schema", &no_json], "", 5, "cannot use"),
        (&["heal", "--jsonl"], "x\n", 6, "1 line could not be used"),
    ];
    for (args, input, code, says) in cases {
        let ran = run(args, input);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        if code != 2 {
            assert_eq!(ran.err.lines().count(), 1, "one sentence: {}", ran.err);
        }
    }
}

#[test]
fn the_exit_codes_are_documented() {
    let ran = run(&["--help"], "");
    assert_eq!(ran.code, 0);
    for code in 0..=7 {
        assert!(ran.out.contains(&format!("\n  {code}  ")), "{code} in {}", ran.out);
    }
}

#[test]
fn shells_are_told_of_each_command() {
    let commands = ["serve", "run", "parse", "heal", "completions"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run(&["completions", shell], "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(commands.iter().all(|name| ran.out.contains(name)), "{shell}");
    }
    let folder = std::env::temp_dir().join(format!("callwright-manual-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let place = folder.to_string_lossy();
    assert_eq!(run(&["man", &place], "").code, 0);
    for name in ["callwright", "callwright-serve", "callwright-mcp-call"] {
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let ran = run(&["man", &place], "");
    assert_eq!(ran.code, 3, "a folder that is not there");
}

#[test]
fn a_hostile_name_cannot_reach_the_terminal() {
    let ran = run(&["heal", "no\u{1b}[2Jsuch"], "");
    assert_eq!(ran.code, 3);
    assert!(!ran.err.contains('\u{1b}') && ran.err.contains("␛[2J"), "{}", ran.err);
}

fn described(description: &str) -> String {
    json!([{"type": "function", "function": {"name": "search_files", "description": description,
        "parameters": {"type": "object", "properties": {
            "pattern": {"type": "string", "description": "Name pattern (e.g., '*.rs')"}}, "required": ["pattern"]}}}])
    .to_string()
}

/// S0-62: concise definitions pass, verbose ones are flagged with what they cost.
#[test]
fn lint_flags_what_is_too_verbose() {
    let concise = file("concise.json", described("Search for files by name pattern"));
    let ran = run(&["lint", &concise], "");
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(!ran.out.contains("warning"), "{}", ran.out);

    let verbose = file(
        "verbose.json",
        described(
            "This function allows you to search through the filesystem to find files that match a given pattern. \
             It will recursively search through directories and return a list of matching file paths.",
        ),
    );
    let ran = run(&["lint", "--strict", &verbose], "");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let warning = ran.out.lines().find(|line| line.starts_with("warning: search_files")).unwrap();
    assert!(warning.contains("tokens"), "{warning}");
}

/// S0-57: a definition without a clear description and an example is flagged.
#[test]
fn lint_asks_for_descriptions_and_examples() {
    let bare = file(
        "bare.json",
        r#"[{"type": "function", "function": {"name": "fsWrite",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}}]"#,
    );
    let ran = run(&["lint", "--strict", &bare], "");
    assert_eq!(ran.code, 1, "{}", ran.out);
    for place in ["warning: fsWrite: ", ": fsWrite/properties/path: "] {
        assert!(ran.out.contains(place), "{place} in {}", ran.out);
    }
    let clear = file(
        "clear.json",
        r#"[{"type": "function", "function": {"name": "fsWrite",
            "description": "Create or overwrite a file. Use this when the user wants to create a new file or replace existing content.",
            "parameters": {"type": "object", "properties": {
                "path": {"type": "string", "description": "Relative path to the file (e.g., 'src/main.py')"}}, "required": ["path"]}}}]"#,
    );
    let ran = run(&["lint", &clear], "");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
}

#[test]
fn lint_counts_the_cost() {
    let tools = file("cost.json", TOOLS);
    let ran = run(&["lint", "--cost", &tools], "");
    let tokens = |name: &str| -> usize {
        let line = ran.out.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(0 < tokens("run_code") && tokens("run_code") < tokens("search_recipes"), "{}", ran.out);
    assert!(tokens("run_code") + tokens("search_recipes") <= tokens("in every request"), "{}", ran.out);
}

/// S0-14, S0-15, S0-49: the built-in tools, their definitions as they are sent, and their cost.
#[test]
fn the_built_in_tools_are_listed() {
    let listed = run(&["tools"], "");
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.starts_with("fsWrite        Create or overwrite a file\n"), "{}", listed.out);
    assert_eq!(listed.out.lines().count(), 12);

    let definitions = run(&["tools", "--json"], "").json();
    let fs_write = json!({"type": "function", "function": {
        "name": "fsWrite", "description": "Create or overwrite a file",
        "parameters": {"type": "object", "properties": {
            "path": {"type": "string", "description": "Path to write"},
            "content": {"type": "string", "description": "Content to write"},
        }, "required": ["path", "content"]},
    }});
    assert_eq!(definitions[0], fs_write);
    // What is printed is what the judge takes, and it costs the same there.
    let path = file("built-in.json", definitions.to_string());
    let judged = run(&["lint", &path, "--cost"], "");
    assert_eq!(judged.code, 0, "{}", judged.out);
    let cost = run(&["tools", "--cost"], "");
    assert!(judged.out.ends_with(&cost.out), "{}", judged.out);
    assert!(cost.out.ends_with(" tokens in every request\n") && cost.out.contains(" tokens  finish\n"));
}

/// The binary is its own keeper: nothing but the word in front tells it so.
#[cfg(unix)]
#[test]
fn the_binary_keeps_a_command_behind_walls() {
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let readable = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"].map(Into::into).to_vec();
    let walls = callwright_agent::Walls {
        readable,
        processes: 99,
        confined: true,
        ..callwright_agent::Walls::default()
    };
    let command = "echo in; echo out > /proc/self/cwd/made || exit 7";
    let mut keeper = callwright(&["__sandbox", "keeper", command]);
    let keeper = keeper.stdin(OwnedFd::from(theirs)).stdout(std::process::Stdio::piped()).spawn().unwrap();
    writeln!(ours, "{}", serde_json::to_string(&walls).unwrap()).unwrap();
    let mut told = String::new();
    BufReader::new(ours).read_line(&mut told).unwrap();
    let output = keeper.wait_with_output().unwrap();
    let wanted = ("{\"told\":{\"exited\":7},\"aside\":[]}\n", b"in\n".as_slice());
    assert_eq!((told.as_str(), output.stdout.as_slice()), wanted);
}

/// S1-09, S1-10, S1-11, S1-12, S1-24: the fallback prompt demands the exact format, gives its rules, a right example
/// with one of the caller's own tools, and a wrong one with the reason.
#[test]
fn the_prompt_teaches_the_function_tag() {
    let tools = file("prompt.json", TOOLS);
    let ran = run(&["prompt", "--dialect", "function-tag", "--tools", &tools], "");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let demand = "To use a tool, you MUST respond with this EXACT format:\n\
                  <function>{\"name\": \"tool_name\", \"parameters\": {...}}</function>";
    let rules = "CRITICAL FORMAT RULES:\n\
                 - Opening tag MUST be: <function> (not <tool_name>)\n\
                 - Closing tag MUST be: </function> (not </tool_name>)";
    let right = "<function>{\"name\": \"search_recipes\", \"parameters\": {\"query\": ";
    let wrong = "<search_recipes>{...}</function>  ❌ Wrong opening tag!";
    for part in [demand, rules, "CORRECT example", right, "INCORRECT example", wrong, "run_code"] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
    let unknown = run(&["prompt", "--dialect", "morse", "--tools", &tools], "");
    assert!(unknown.code == 8 && unknown.err.contains("there is no dialect `morse`"), "{}", unknown.err);
}

/// S3-19: the fallback prompt of the Python form.
#[test]
fn the_prompt_teaches_tool_code() {
    let tools = file("tool-code.json", TOOLS);
    let ran = run(&["prompt", "--dialect", "tool_code", "--tools", &tools], "");
    let turn = "At each turn, if you decide to invoke any of the function(s), it should be wrapped with ```tool_code```";
    for part in [turn, "def search_recipes(query: str", "def run_code(code: str"] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
}

/// Every dialect that is read can be taught, by its own name or by that of a model.
#[test]
fn the_prompt_teaches_any_dialect() {
    let tools = file("any-dialect.json", TOOLS);
    let teach = |how: [&str; 2]| {
        let ran = run(&["prompt", how[0], how[1], "--tools", &tools], "");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{how:?}");
        ran.out
    };
    let harmony = teach(["--dialect", "harmony"]);
    for part in
        ["namespace functions {", "type run_code = (_: {", "to=functions.search_recipes <|constrain|>json"]
    {
        assert!(harmony.contains(part), "{part} in {harmony}");
    }
    assert_eq!(teach(["--model", "openai/gpt-oss-20b:free"]), harmony);
    assert_eq!(
        teach(["--model", "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf"]),
        teach(["--dialect", "qwen3_coder"])
    );
    assert_eq!(teach(["--model", "nobody/knows-it"]), teach(["--dialect", "json"]));
}

/// S3-23: a result goes back as a block of the dialect, in the messages for a server that knows no tools.
#[test]
fn a_conversation_is_rendered_for_a_server_without_tools() {
    let tools = file("rendered-tools.json", TOOLS);
    let messages = r#"[{"role": "user", "content": "Run it."},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
         "function": {"name": "run_code", "arguments": "{\"code\": \"1\"}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"}]"#;
    let render = |more: &[&str]| {
        let arguments = [&["prompt", "--tools", &tools, "--messages", "-"], more].concat();
        let ran = run(&arguments, messages);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{more:?}");
        serde_json::from_str::<callwright::value::Value>(&ran.out).unwrap()
    };
    let request = render(&["--model", "gemma-3-4b", "--no-system-role"]);
    let messages = request["messages"].as_array().unwrap();
    assert!(messages[0]["content"].as_str().unwrap().ends_with("\n\nRun it."), "{request}");
    assert_eq!(messages[1]["content"], "```tool_code\nrun_code(code=\"1\")\n```");
    assert_eq!(messages[2]["content"], "Result of run_code:\n```tool_output\nok\n```");

    let request = render(&["--dialect", "json", "--constrain", "schema", "--tool-choice", "run_code"]);
    let format = &request["response_format"]["json_schema"]["schema"];
    assert_eq!(format["required"], callwright::json!(["tool_calls"]), "{request}");
    let request = render(&["--dialect", "hermes", "--constrain", "grammar"]);
    assert!(request["grammar"].as_str().unwrap().starts_with("root ::= "), "{request}");

    let unknown = ["prompt", "--dialect", "json", "--tools", &tools, "--tool-choice", "rm"];
    assert_eq!(run(&unknown, "").code, 5);
}

#[test]
fn the_demo_needs_nothing_and_shows_what_it_says() {
    let ran = run(&["demo", "--all"], "");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let (examples_shown, _) = ran.out.split_once("\nnext steps\n").unwrap();
    let is_title =
        |line: &str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok());
    let mut examples: Vec<Vec<&str>> = Vec::new();
    for line in examples_shown.lines().skip_while(|line| !is_title(line)) {
        if is_title(line) {
            examples.push(Vec::new());
        }
        examples.last_mut().expect("a title comes first").push(line);
    }
    assert!(25 <= examples.len());
    for example in examples {
        let shows = |start: &str| example.iter().any(|line| line.starts_with(start));
        let (refused, no_call) = (example[0].ends_with(": refused"), example[0].ends_with("no call"));
        assert_eq!(shows("refused: ") || shows("not repaired: "), refused, "{example:#?}");
        assert_eq!(shows("note: no call"), no_call, "{example:#?}");
        assert_eq!(shows("repaired: ") || shows("valid: "), !refused && !no_call, "{example:#?}");
    }
}

/// An upstream that answers from a script.
fn upstream(script: &str) -> Replay {
    Replay::start(Script::from_toml(script).unwrap()).unwrap()
}

#[test]
fn the_demo_is_short_begins_with_a_call_that_is_made_and_says_how_to_go_on() {
    let ran = run(&["demo"], "");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.lines().count() <= 120, "{}", ran.out.lines().count());
    assert!(ran.out.starts_with("What Callwright does"), "{}", ran.out);
    let (first, _) = ran.out.split_once("\n2. ").unwrap();
    assert!(first.contains("\nrepaired: ") && first.contains("finish_reason  tool_calls"), "{first}");
    let (_, next) = ran.out.split_once("\nnext steps\n").unwrap();
    assert!(
        next.lines().count() == 3 && next.lines().all(|line| line.starts_with("  callwright ")),
        "{next}"
    );
}

#[test]
fn models_are_those_of_the_upstream_and_recommended_with_reasons() {
    let upstream = r#"models = [
        { id = "google/gemma-3-27b-it:free" }, { id = "google/gemini-flash-1.5:free" },
        { id = "mistralai/mistral-7b-instruct:free" }, { id = "anthropic/claude-3-5-haiku" },
        { id = "openai/gpt-4o-mini" }, { id = "google/gemini-flash-1.5" }, { id = "house/own" },
    ]"#;
    let upstream = self::upstream(upstream);
    let models = |more: &[&str]| run(&[&["models", "--upstream", &upstream.base_url()], more].concat(), "");
    // S3-51
    let dev = models(&["--for", "dev"]).out;
    for model in
        ["google/gemma-3-27b-it:free", "google/gemini-flash-1.5:free", "mistralai/mistral-7b-instruct:free"]
    {
        let line = dev.lines().find(|line| line.starts_with(model)).unwrap();
        assert!(line.split_whitespace().count() > 3, "a reason stands beside it: {line}");
    }
    // S3-52
    let prod = models(&["--for", "prod"]).out;
    for model in ["anthropic/claude-3-5-haiku", "openai/gpt-4o-mini", "google/gemini-flash-1.5 "] {
        assert!(prod.contains(model), "{prod}");
    }
    assert!(!prod.contains(":free") && !dev.contains("haiku") && !dev.contains("house"));
    assert_eq!(models(&[]).out.lines().count(), 7);
    assert_eq!(models(&["--json"]).lines()[6]["model"], "house/own");
    let nobody = run(&["models", "--upstream", "http://127.0.0.1:9/v1"], "");
    assert_eq!((nobody.code, nobody.out.as_str()), (1, ""));
    assert!(nobody.err.contains("could not be reached"), "{}", nobody.err);
}

#[test]
fn caps_say_what_a_model_can_do_and_who_says_so() {
    let upstream = upstream("models = [{ id = \"m\" }]");
    let config = file(
        "caps.toml",
        format!(
            "[capability]\nprobe = false\n[[upstreams]]\nname = 'here'\nbase_url = '{}'\n\
             [[models]]\npattern = 'house/*'\nmode = 'native'\n",
            upstream.base_url()
        ),
    );
    for (model, mode, source) in [
        ("gpt-4o", "native", "the model's family"),
        ("google/gemma-3-27b-it:free", "prompt", "the model's family"),
        ("house/own", "native", "configured"),
        ("nobody-knows", "native", "nothing is known yet"),
    ] {
        let ran = run(&["caps", model, "--config", &config], "");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        assert!(ran.out.starts_with(&format!("{model} at here\n")), "{}", ran.out);
        let line = ran.out.lines().find(|line| line.trim_start().starts_with("tools")).unwrap();
        assert!(line.contains(mode) && line.ends_with(source), "{line}");
    }
}

#[test]
fn caps_name_the_flags_of_a_server_that_is_known() {
    let upstream = upstream("models = [{ id = 'Qwen/Qwen3-32B', owned_by = 'vllm' }]");
    let ran = run(&["caps", "Qwen/Qwen3-32B", "--upstream", &upstream.base_url()], "");
    assert!(
        ran.out.contains("  flags      --enable-auto-tool-choice --tool-call-parser hermes: vLLM "),
        "{}",
        ran.out
    );
}

/// Tools are a part of the APIs of messages and responses; of Ollama's models each says whether it takes them.
#[test]
fn caps_and_the_doctor_know_upstreams_of_other_apis() {
    let upstream = upstream(
        "models = [{ id = \"m\" }]\n[show.m]\ncapabilities = [\"completion\"]\n[[answer]]\nrepeat = true\n\
         when = { has_tools = true }\ntool_calls = [{ name = \"report_ready\", arguments = '{\"ready\": true}' }]\n\
         [[answer]]\nrepeat = true\ntext = '{\"tool\": \"report_ready\", \"arguments\": {\"ready\": true}}'",
    );
    for (kind, path, mode, source) in [
        ("messages", "/v1/messages", "native", "messages is a native API"),
        ("responses", "/v1/responses", "native", "responses is a native API"),
        ("ollama", "/api/chat", "prompt", "the upstream says so: /api/show capabilities"),
    ] {
        let config = file(
            &format!("caps-{kind}.toml"),
            format!(
                "[[upstreams]]\nname = 'here'\nbase_url = '{}'\nkind = '{kind}'\n\
                 [[models]]\npattern = 'm'\nnum_ctx = 32768\n",
                upstream.base_url()
            ),
        );
        let ran = run(&["serve", "--check", "--offline", "--store", "off", "--config", &config], "");
        assert!(ran.out.contains(&format!(", kind {kind}, no key")), "{}", ran.out);
        assert!(ran.out.contains("m: a context of 32768 tokens"), "{}", ran.out);
        let ran = run(&["caps", "m", "--config", &config, "--refresh"], "");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{kind}: {}", ran.out);
        let line = ran.out.lines().find(|line| line.trim_start().starts_with("tools")).unwrap();
        assert!(line.contains(mode) && line.ends_with(source), "{line}");
        let ran = run(&["doctor", "--config", &config, "--model", "m", "--ask"], "");
        assert_eq!(ran.code, 0, "{kind}: {} {}", ran.out, ran.err);
        assert!(ran.out.contains(mode) && ran.out.contains(source), "{kind}: {}", ran.out);
        assert!(upstream.requests().iter().any(|request| request.path == path), "{kind}");
    }
}

#[test]
fn caps_ask_anew_when_told_to() {
    let upstream = upstream("models = [{ id = \"house/own\", supported_parameters = [\"tools\"] }]");
    let kept = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("caps");
    let _ = std::fs::remove_dir_all(&kept);
    let kept = format!("capability.dir={}", kept.display());
    let caps = |more: &[&str]| {
        let asked = upstream.requests().len();
        let args = ["caps", "house/own", "--upstream", &upstream.base_url(), "--set", &kept];
        let ran = run(&[&args, more].concat(), "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("native"), "{}", ran.out);
        upstream.requests().len() - asked
    };
    assert!(1 < caps(&[]), "nobody knew");
    // S3-59: the second run asks no more than whether the upstream answers, until it is told to.
    assert_eq!(caps(&[]), 1);
    assert!(1 < caps(&["--refresh"]));
}

#[test]
fn the_doctor_answers_three_questions() {
    let bare = r#"[{"type": "function", "function": {"name": "get", "parameters":
        {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}}}]"#;
    let tools = file("doctor-bare.json", bare);
    let upstream = upstream(
        "models = [{ id = \"gpt-4o\" }, { id = \"claude\" }]\n[[answer]]\nwhen = { has_tools = true }\n\
        tool_calls = [{ name = \"report_ready\", arguments = '{\"ready\": true}' }]",
    );
    let config = file(
        "doctor.toml",
        format!(
            "[capability]\nprobe = false\n[[upstreams]]\nname = 'here'\nbase_url = '{}'\n\
             [[models]]\npattern = 'gpt-*'\nescalate = 'claude'\n",
            upstream.base_url()
        ),
    );
    let doctor = |more: &[&str]| run(&[&["doctor", "--config", &config], more].concat(), "");
    let section = |out: &str, title: &str| {
        let from = out.find(title).unwrap_or_else(|| panic!("no {title} in {out}"));
        out[from..].split("\n\n").next().unwrap().to_owned()
    };

    let ran = doctor(&["--tools", &tools, "--tool", "set", "--model", "gpt-4o"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    // S0-66: description, presence in the array, support of the model.
    let called = section(&ran.out, "If a tool is not called: this is why");
    assert!(called.contains("warn get: it has no description"), "{called}");
    assert!(called.contains("Describe clearly"), "{called}");
    assert!(called.contains("set is not in the `tools` array"), "{called}");
    assert!(called.contains("gpt-4o at here takes tools natively"), "{called}");
    // S0-67: descriptions of parameters, examples, enum.
    let arguments = section(&ran.out, "If a tool is called with wrong arguments");
    for word in ["descriptions of the parameters", "examples", "`enum`"] {
        assert!(arguments.contains(word), "{arguments}");
    }
    // S0-68: support, another model, a fallback.
    let broken = section(&ran.out, "If JSON is broken even with repair: nothing wrong was found");
    for part in ["gpt-4o at here", "claude is asked"] {
        assert!(broken.contains(part), "{broken}");
    }
    assert!(!broken.contains("Try a different model"), "{broken}");
    // A warning is no failure.
    let ran = doctor(&["--tools", &tools, "--model", "gpt-4o"]);
    assert_eq!(ran.code, 0, "{}", ran.out);

    // A tool that the linter has nothing against.
    let good = r#"[{"type": "function", "function": {"name": "run_code",
        "description": "Run Python code. Use this when the user asks for a calculation.",
        "parameters": {"type": "object", "properties": {"code":
            {"type": "string", "description": "The code to run, for example print(1)."}}, "required": ["code"]}}}]"#;
    let ran = doctor(&["--tools", &file("doctor-good.json", good), "--tool", "run_code"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("run_code is in the `tools` array"));

    // The set-up itself: who answers, what is listed, and what comes of a request.
    let ran = doctor(&["--model", "gpt-4o", "--ask"]);
    let set_up = section(&ran.out, "Set-up: works");
    for part in [
        "answers, and lists 2 models",
        "gpt-4o is listed by here",
        "gpt-4o made a valid call, in native mode",
    ] {
        assert!(set_up.contains(part), "{part} in {set_up}");
    }
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(!ran.out.contains("- "), "no advice: {}", ran.out);
    // A model that makes no call, though one was asked for.
    let ran = doctor(&["--model", "gpt-4o", "--ask"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(section(&ran.out, "Set-up: does not work").contains("BAD  gpt-4o was asked"), "{}", ran.out);
    let broken = section(&ran.out, "If JSON is broken even with repair: this is why");
    assert!(broken.contains("Try a different model"), "{broken}");
    let ran = doctor(&["--model", "gpt-4"]);
    assert!(
        ran.code == 1 && ran.out.contains("gpt-4 is not listed by here, which has gpt-4o, claude"),
        "{}",
        ran.out
    );
}

/// A server that knows `/v1/models` and `/v1/chat/completions` and no other path, unlike the scripted one.
fn strict_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or_default();
            let line = String::from_utf8_lossy(&head[..length]).into_owned();
            let (status, body) = match line.split(' ').nth(1) {
                Some("/v1/models") => ("200 OK", r#"{"data": [{"id": "m"}]}"#),
                Some("/v1/chat/completions") => {
                    ("400 Bad Request", r#"{"error": {"message": "no messages"}}"#)
                }
                _ => ("404 Not Found", r#"{"detail": "Not Found"}"#),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            // A client that spoke TLS is gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// A set-up that cannot work is never called right, whoever looks at it; the reason leads to the remedy.
#[test]
fn what_cannot_work_is_said_by_each_check() {
    let base = strict_server();
    let root = base.trim_end_matches("/v1");
    let whole = format!("{base}/chat/completions");
    let tls = base.replace("http:", "https:");
    for (url, says) in [
        ("http://127.0.0.1:9/v1", "could not be reached"),
        (root, &*format!("the base URL should be {base}")),
        (&whole, &format!("the base URL should be {base}")),
        (&tls, "should its URL begin with http://?"),
    ] {
        for command in [
            &["doctor", "--model", "m"][..],
            &["caps", "m"],
            &["serve", "--check", "--listen", "127.0.0.1:0"],
        ] {
            let ran = run(&[command, &["--upstream", url]].concat(), "");
            assert_eq!(ran.code, 1, "{command:?} {url}: {}{}", ran.out, ran.err);
            assert!(ran.out.contains(says) && ran.out.contains("BAD"), "{command:?} {url}: {}", ran.out);
        }
    }
    for (args, code, says) in [
        (&["--store", "/proc/nope/x.db"][..], 3, "cannot write /proc/nope/x.db"),
        (&["--log-level", "loud"], 8, "not a log level"),
        (&["--otlp-endpoint", "grpc://x"], 8, "traces.otlp_endpoint must begin with http:// or https://"),
        (&["--listen", "4000"], 8, "is not HOST:PORT"),
        (&["--set", "servers.workers=1"], 8, "did you mean `server.workers`?"),
    ] {
        let ran = run(&[&["serve", "--check", "--upstream", &base], args].concat(), "");
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    // Whoever checks where no upstream can be reached says so.
    let ran = run(&["serve", "--check", "--offline", "--upstream", "http://127.0.0.1:9/v1"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// S0-41, S0-69, S3-63
#[test]
fn the_documentation_names_its_sources() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/references.md")).expect("the page is there");
    for source in [
        "openrouter.ai/docs/guides/features/tool-calling",
        "openrouter.ai/docs/guides/features/plugins/response-healing",
        "openrouter.ai/announcements/response-healing-reduce-json-defects-by-80percent",
        "openrouter.ai/models?supported_parameters=tools",
        "philschmid.de/gemma-function-calling",
        "python.langchain.com/docs/modules/tools",
        "99.8 %",
    ] {
        assert!(page.contains(source), "{source}");
    }
}

/// S0-01: of recorded answers, how many hold a defect, before and after; what was repaired wrong is counted apart.
#[test]
fn defects_are_counted_before_and_after_healing() {
    let tools = file("defects.json", TOOLS);
    let native = |arguments: &str, expected: &str| {
        json!({"model": "native", "tool_calls": [{"name": "run_code", "arguments": arguments}],
            "expected": [{"name": "run_code", "arguments": {"code": expected}}]})
    };
    let mut lines = vec![
        native("{\"code\": \"1\"}", "1"),
        native("{\"code\": \"1\",}", "1"),
        native("{\"code\": \"1\"", "1"),
        native("{'code': '1'}", "1"),
        native("{\"code\": \"print(\"a\")\"}", "print(\"a\")"),
        // Repaired, and not what was meant.
        native("{code: \"2\"}", "1"),
        native("{\"code\": \"1", "1"),
        json!({"model": "native", "text": "No call is needed."}),
    ];
    lines.push(json!({"model": "prompt", "text": format!("Here you are. {CALL}")}));
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let ran = run(&["bench", "defects", "-", "--json", "--tools", &tools], lines.clone());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let found = ran.json();
    let expected =
        json!({"answers": 8, "calling": 7, "raw": 6, "after_repair": 1, "wrong": 1, "compared": 5});
    assert_eq!(found["models"]["native"], expected);
    assert_eq!(found["models"]["prompt"]["raw"], 0);
    assert!(80.0 < found["fall"].as_f64().unwrap(), "{found}");
    let ran = run(&["bench", "defects", "-", "--tools", &tools], format!("{lines}not JSON\n"));
    assert!(ran.out.contains("83.3 %") && ran.out.contains("native"), "{}", ran.out);
    assert_eq!(ran.code, 6);
    assert!(ran.err.starts_with("line 10: not JSON at byte 0\n"), "{}", ran.err);
}

/// What a template says, for a person and for a program; a template without calls is a failure with a reason.
#[test]
fn a_template_tells_its_dialect() {
    let around = |calls: &str| {
        format!(
            "{{% for m in messages %}}<|{{{{ m.role }}}}|>{{{{ m.content }}}}{{% for c in m.tool_calls or [] %}}{calls}{{% endfor %}}\
             <|end|>{{% endfor %}}{{% if add_generation_prompt %}}<|assistant|><think>{{% endif %}}"
        )
    };
    let hermes = around("<tool_call>{{ c.function | tojson }}</tool_call>");
    let ran = run(&["template", "-"], hermes);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "turns      system turns",
        "reasoning  <think> … </think>, opened by the prompt",
        "dialect    hermes (",
        "flags      --enable-auto-tool-choice --tool-call-parser hermes ",
        "flags      --tool-call-parser qwen ",
        "flags      --jinja ",
    ] {
        assert!(ran.out.contains(line), "{line} in {}", ran.out);
    }
    let ran = run(
        &["template", "--json", "-"],
        around("⟦do⟧{{ c.function.name }}⟦with⟧{{ c.function.arguments }}⟦done⟧"),
    );
    assert_eq!(ran.json()["own"]["call"]["open"][0], "⟦do⟧{name}⟦with⟧", "{}", ran.out);
    assert_eq!(ran.json()["flags"], json!({"llama.cpp": "--jinja"}), "{}", ran.out);
    let ran = run(&["template", "-"], around(""));
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("not known: the template writes no calls"), "{}", ran.out);
    assert_eq!(run(&["template", "-"], "{% if %}").code, 5);
}

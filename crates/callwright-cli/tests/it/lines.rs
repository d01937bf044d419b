//! `--jsonl`: order, flushing, bad lines, and memory.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;

use crate::binary::{TOOLS, callwright, file, run};

fn jsonl(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn tools() -> Value {
    serde_json::from_str(TOOLS).unwrap()
}

#[test]
fn parse_answers_each_line() {
    let openai = json!({"id": "c1", "type": "function",
        "function": {"name": "run_code", "arguments": "{\"code\": \"1\"}"}});
    let cases = jsonl(&[
        json!({"id": "a", "text": "<search_recipes>{\"query\": \"pasta\"}</search_recipes>", "tools": tools(), "more": 1}),
        json!({"id": 2, "text": null, "tools": tools(), "tool_calls": [openai]}),
        json!({"id": [3], "tools": tools(), "tool_calls": [{"name": "run_code", "arguments": {"code": "2"}}]}),
        json!({"text": "only prose", "tools": tools()}),
    ]);
    let ran = run(&["parse", "--jsonl"], cases);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let answers = ran.lines();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &json!(2), &json!([3]), &Value::Null]);
    let first =
        |answer: &Value| (answer["calls"][0]["name"].clone(), answer["calls"][0]["arguments"].clone());
    assert_eq!(first(&answers[0]), (json!("search_recipes"), json!({"query": "pasta"})));
    assert_eq!(first(&answers[1]), (json!("run_code"), json!({"code": "1"})));
    assert_eq!(answers[1]["calls"][0]["id"], "c1");
    assert_eq!(first(&answers[2]), (json!("run_code"), json!({"code": "2"})));
    assert_eq!(answers[3]["calls"], json!([]));
    assert_eq!(answers[3]["text"], "only prose");
    assert!(answers.iter().all(|answer| answer["us"].is_number()));
}

/// What a line says of how its model was asked goes before what the command says of all.
#[test]
fn a_line_says_how_its_model_was_asked() {
    let text = "Like this:\n\n<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"1\"}}</tool_call>\n\nSo far.";
    let case = |more: Value| {
        let mut case = json!({"id": 1, "text": text, "tools": tools()});
        case.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        case
    };
    let cases = [
        case(json!({})),
        case(json!({"asked": "json"})),
        case(json!({"asked": "hermes"})),
        case(json!({"native": true})),
        case(json!({"asked": "hermse"})),
        case(json!({"asked": 1})),
        case(json!({"asked": "json", "native": true})),
        case(json!({"asked": "json", "tool_calls": []})),
    ];
    let (unsure, sure, shown) = (("call", true), ("call", false), ("text", true));
    for (flags, expected) in [
        (&[][..], [sure, unsure, sure, shown]),
        (&["--asked", "json"], [unsure, unsure, sure, shown]),
        (&["--native"], [shown, unsure, sure, shown]),
    ] {
        let ran = run(&[&["parse", "--jsonl"], flags].concat(), jsonl(&cases));
        let answers = ran.lines();
        let came = answers.iter().take(4).map(|answer| match answer["calls"][0]["unsure"].as_bool() {
            Some(is_unsure) => ("call", is_unsure),
            None => ("text", answer["shown"][0]["by"] == "unsure"),
        });
        assert_eq!(came.collect::<Vec<_>>(), expected, "{flags:?}: {}", ran.out);
        for (n, why) in
            [(4, "did you mean `hermes`"), (5, "`asked` must be a string"), (6, "`asked` is a prompt's")]
        {
            assert!(answers[n]["error"].as_str().unwrap().contains(why), "{}", answers[n]);
        }
        assert_eq!(answers[7]["calls"][0]["unsure"], true);
    }
}

/// Reasoning that a server keeps apart is a block that text closes, and a line says what its request let the model call.
#[test]
fn a_line_says_what_its_model_thought_and_might_call() {
    let marked = "<tool_call>{\"name\": \"run_code\", \"arguments\": {\"code\": \"1\"}}</tool_call>";
    let nameless = "{\"code\": \"1\"}";
    let named = json!({"type": "function", "function": {"name": "run_code"}});
    let cases = [
        json!({"text": "", "reasoning": marked, "tools": tools()}),
        json!({"text": "Hello", "reasoning": marked, "tools": tools()}),
        json!({"text": nameless, "tool_choice": named, "tools": tools()}),
        json!({"text": nameless, "tool_choice": "auto", "tools": tools()}),
        json!({"text": nameless, "tool_choice": 1, "tools": tools()}),
    ];
    for chunks in [&[][..], &["--chunks", "3"]] {
        let ran = run(&[&["parse", "--jsonl"], chunks].concat(), jsonl(&cases));
        let answers = ran.lines();
        let calls = answers.iter().take(4).map(|answer| answer["calls"][0]["name"] == "run_code");
        assert_eq!(calls.collect::<Vec<_>>(), [true, false, true, false], "{}", ran.out);
        assert_eq!((&answers[1]["text"], &answers[1]["reasoning"]), (&json!("Hello"), &json!(marked)));
        assert_eq!(answers[2]["calls"][0]["class"], "R2");
        assert!(answers[4]["error"].as_str().unwrap().contains("`tool_choice`"), "{}", answers[4]);
    }
}

#[test]
fn numbers_pass_to_the_digit() {
    let arguments = "{\"query\": \"x\", \"n\": [1e400, 0.10, 123456789012345678901234567890]}";
    let case = json!({"id": 1, "tools": tools(), "tool_calls": [{"name": "search_recipes", "arguments": arguments}]});
    let ran = run(&["parse", "--jsonl"], jsonl(&[case]));
    assert!(ran.out.contains(&format!("\"arguments\":{arguments}")), "{}", ran.out);
}

#[test]
fn an_answer_is_one_line_whatever_the_model_wrote() {
    let arguments = "{\n  \"query\": \"x\"\r\n}";
    let case = json!({"id": 1, "text": arguments, "tools": tools(), "tool_calls": [{"name": "search_recipes", "arguments": arguments}]});
    let ran = run(&["parse", "--jsonl"], jsonl(&[case]));
    assert_eq!(ran.lines().len(), 1);
    assert_eq!(ran.lines()[0]["calls"][0]["arguments"], json!({"query": "x"}));
}

#[test]
fn native_calls_may_come_in_pieces() {
    let calls = json!([
        {"id": "c1", "name": "search_recipes", "arguments": "{\"query\": \"pâté\",}"},
        {"id": "c2", "name": "run_code", "arguments": "{\"code\": \"1\"}"},
    ]);
    let case = jsonl(&[json!({"id": 1, "text": "Let me see.", "tools": tools(), "tool_calls": calls})]);
    let answer = |more: &[&str]| {
        let mut answer = run(&[&["parse", "--jsonl"], more].concat(), case.clone()).lines().remove(0);
        answer["us"].take();
        answer
    };
    let whole = answer(&[]);
    assert_eq!(whole["calls"].as_array().map(Vec::len), Some(2), "{whole}");
    for chunks in ["1", "3", "random:5"] {
        assert_eq!(answer(&["--chunks", chunks]), whole);
    }
}

#[test]
fn refusals_make_an_error() {
    let case = json!({"id": 1, "text": "<function>{\"name\": \"run_code\", \"parameters\": {\"code\": {}}}</function>", "tools": tools()});
    let ran = run(&["parse", "--jsonl"], jsonl(&[case]));
    assert_eq!(ran.code, 0, "a refusal is an answer");
    let answer = &ran.lines()[0];
    assert_eq!(answer["calls"], json!([]));
    assert!(answer["error"].is_string(), "{answer}");
    assert_eq!(answer["refusals"][0]["code"], "invalid");
    assert_eq!(answer["refusals"][0]["name"], "run_code");
    assert!(answer["refusals"][0]["feedback"].is_string());
}

#[test]
fn heal_answers_each_line() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let cases = jsonl(&[
        json!({"id": 1, "input": "{\"a\": 1,}", "schema": schema}),
        json!({"id": 2, "input": "{\"a\": 1", "schema": schema, "finish_reason": "length"}),
        json!({"id": 3, "input": " [1e400] ", "schema": null}),
    ]);
    let ran = run(&["heal", "--jsonl"], cases);
    assert_eq!(ran.code, 0);
    let answers = ran.lines();
    assert_eq!(answers[0]["output_text"], "{\"a\": 1}");
    let repair = &answers[0]["repairs"][0];
    assert_eq!(
        (&repair["kind"], &repair["at"], &repair["put"]),
        (&json!("drop-comma"), &json!([7, 8]), &json!(""))
    );
    assert!(answers[1]["error"].is_string() && answers[1]["diagnostics"].is_array(), "{}", answers[1]);
    assert_eq!(answers[2]["output_text"], " [1e400] ");
    // A driver that measures looks for the time near the end of the line.
    assert!(ran.out.lines().all(|line| line[line.len() - 40..].contains("\"us\":")), "{}", ran.out);
}

#[test]
fn a_bad_line_does_not_end_the_run() {
    let mut input = Vec::new();
    input.extend_from_slice(b"{\"id\": 1, \"input\": \"1\"}\n");
    input.extend_from_slice(b"{\"id\": 2, \"input\": \n");
    input.extend_from_slice(b"{\"id\": 3, \"input\": \"caf\xe9\"}\n\n");
    input.extend_from_slice(format!("{}\n", json!({"id": 4, "input": "x".repeat(2000)})).as_bytes());
    input.extend_from_slice(b"{\"id\": 5, \"input\": 7}\r\n");
    input.extend_from_slice(b"{\"id\": 6, \"input\": \"1\", \"schema\": 5}\n");
    input.extend_from_slice(b"{\"id\": 7, \"input\": \"1\"}");
    for jobs in ["1", "3"] {
        let ran = run(&["heal", "--jsonl", "--max-line", "1000", "--jobs", jobs], input.clone());
        assert_eq!(ran.code, 6);
        assert_eq!(ran.err, "callwright: 5 lines could not be used; their answers say why\n");
        let answers = ran.lines();
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(
            ids,
            [&json!(1), &Value::Null, &Value::Null, &Value::Null, &json!(5), &json!(6), &json!(7)]
        );
        let says =
            |at: usize, what: &str| answers[at]["error"].as_str().is_some_and(|error| error.contains(what));
        assert!(says(1, "line 2: not JSON at byte"), "{}", answers[1]);
        assert!(says(2, "line 3: not UTF-8 at byte 23"), "{}", answers[2]);
        assert!(says(3, "line 5: longer than 1000 bytes"), "{}", answers[3]);
        assert!(says(4, "line 6: `input` must be a string"), "{}", answers[4]);
        assert!(says(5, "line 7: cannot use `schema`"), "{}", answers[5]);
        assert!(answers[6].get("error").is_none(), "{}", answers[6]);
    }
}

#[test]
fn tools_may_stand_outside_the_lines() {
    let tools = file("outside.json", TOOLS);
    let case = json!({"id": 1, "text": "<search_recipes>{\"query\": \"pasta\"}</search_recipes>"});
    let ran = run(&["parse", "--jsonl", "--tools", &tools], jsonl(&[case]));
    assert_eq!(ran.lines()[0]["calls"][0]["name"], "search_recipes");
}

#[test]
fn many_jobs_keep_the_order() {
    let lines: Vec<Value> = (0..400)
        .map(|id| json!({"id": id, "input": "[1, 2, 3]".repeat(if id % 7 == 0 { 500 } else { 1 }), "schema": null}))
        .collect();
    let answers = |jobs: &str| {
        let ran = run(&["heal", "--jsonl", "--jobs", jobs], jsonl(&lines));
        assert_eq!(ran.code, 0);
        let mut answers = ran.lines();
        answers.iter_mut().for_each(|answer| drop(answer["us"].take()));
        answers
    };
    let in_turn = answers("1");
    let ids: Vec<i64> = in_turn.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    assert_eq!(ids, (0..400).collect::<Vec<i64>>());
    assert_eq!(answers("4"), in_turn);
}

/// A run that is fed line by line.
struct Dialogue {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Dialogue {
    fn start(args: &[&str]) -> Dialogue {
        let mut child = callwright(args).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (give, answers) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| give.send(line)));
        Dialogue { stdin: child.stdin.take().unwrap(), child, answers }
    }

    fn answer(&self) -> String {
        self.answers.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    fn end(self) -> i32 {
        drop(self.stdin);
        let mut child = self.child;
        child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn each_line_is_answered_before_the_next_is_written() {
    for jobs in ["1", "3"] {
        let mut dialogue = Dialogue::start(&["heal", "--jsonl", "--jobs", jobs]);
        for id in 0..5 {
            writeln!(dialogue.stdin, "{}", json!({"id": id, "input": "{}"})).unwrap();
            let answer: Value = serde_json::from_str(&dialogue.answer()).unwrap();
            assert_eq!(answer["id"], id, "with {jobs} jobs");
        }
        assert_eq!(dialogue.end(), 0);
    }
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    for jobs in ["1", "2"] {
        let mut child = callwright(&["heal", "--jsonl", "--jobs", jobs]).spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // Enough for any pipe: the writing ends because the run does.
        for _ in 0..200_000 {
            if stdin.write_all(b"{\"id\": 1, \"input\": \"{}\"}\n").is_err() {
                break;
            }
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

/// The most memory that the process has had at once, in KiB.
#[cfg(target_os = "linux")]
fn peak(child: &Child) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_file_needs_no_more_memory_than_a_short_one() {
    for jobs in ["1", "2"] {
        let mut dialogue = Dialogue::start(&["heal", "--jsonl", "--jobs", jobs, "--max-line", "100000"]);
        let line = format!(
            "{}\n",
            json!({"id": 1, "input": format!("{{\"a\": {:?}}}", "x".repeat(200)), "schema": null})
        );
        let peak_of = |lines: usize| {
            let mut stdin = &dialogue.stdin;
            thread::scope(|scope| {
                scope.spawn(|| (0..lines).for_each(|_| stdin.write_all(line.as_bytes()).unwrap()));
                (0..lines).for_each(|_| drop(dialogue.answer()));
            });
            peak(&dialogue.child)
        };
        let short = peak_of(1_000);
        let long = peak_of(200_000);
        assert!(
            long < short + 4096,
            "{short} KiB after a thousand lines, {long} KiB after 200,000, {jobs} jobs"
        );
        // A line that is too long is passed over, not kept.
        dialogue.stdin.write_all(&vec![b'x'; 64 << 20]).unwrap();
        dialogue.stdin.write_all(b"\n").unwrap();
        assert!(dialogue.answer().contains("longer than"));
        let passed = peak(&dialogue.child);
        assert!(passed < long + 4096, "{long} KiB before, {passed} KiB after a line of 64 MiB");
        assert_eq!(dialogue.end(), 6);
    }
}

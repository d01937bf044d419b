//! Dialects on the command line: listed, shown, pinned, and a user's own from a file.

use crate::binary::{file, run};

const TOOLS: &str = r#"[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]"#;

const ACME: &str = r#"
upstreams = [{ name = "local", base_url = "http://127.0.0.1:1/v1" }]

[[models]]
pattern = "acme-*"
only_dialect = "acme"

[[dialect]]
name = "acme"
models = ["acme-*"]
call = { open = "[[call {name}]]", close = "[[/call]]" }
arguments = "tags"
argument = { open = "[[arg {key}]]", close = "[[/arg]]" }
"#;

#[test]
fn all_dialects_are_listed_with_an_example_each() {
    let ran = run(&["dialects"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in
        ["hermes: JSON, the name in it; Hermes 2 and 3", "jamba, hunyuan_a13b: JSON", "    <tool_call>"]
    {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let ran = run(&["dialects", "--json"], "");
    let listed: callwright::value::Value = serde_json::from_str(&ran.out).unwrap();
    let listed = listed.as_array().unwrap();
    assert!(50 < listed.len());
    for dialect in listed {
        assert!(dialect["example"].as_str().is_some_and(|example| !example.is_empty()), "{dialect}");
        assert!(dialect["about"].as_str().is_some_and(|about| !about.is_empty()), "{dialect}");
    }
}

/// The pages that say how many there are say the same as the list.
#[test]
fn the_documents_count_them() {
    let n = callwright::Dialects::default().iter().count();
    for (page, says) in [
        (include_str!("../../../../README.md"), format!("in {n} dialects")),
        (include_str!("../../../../docs/dialects.md"), format!("write their calls in {n} ways")),
    ] {
        assert!(page.contains(&says), "no page says {says:?}");
    }
}

/// One that is shown whole is what a file takes, its name apart.
#[test]
fn a_dialect_that_is_shown_can_be_put_in_a_file() {
    for name in ["internlm2", "plamo3", "gemma4"] {
        let ran = run(&["dialects", name], "");
        assert!(ran.out.starts_with("[[dialect]]\nname = "), "{}", ran.out);
        let own = ran.out.replacen(&format!("name = \"{name}\""), "name = \"mine\"", 1);
        let path = file("shown.toml", &own);
        let ran = run(&["dialects", "mine", "--config", &path], "");
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert_eq!(ran.out, own);
    }
    let ran = run(&["dialects", "morse"], "");
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (8, "callwright: there is no dialect `morse`; `callwright dialects` lists them\n")
    );
}

#[test]
fn a_user_s_own_dialect_is_read_and_pinned() {
    let (path, tools) = (file("acme.toml", ACME), file("acme-tools.json", TOOLS));
    let text = "[[call f]][[arg a]]x[[/arg]][[/call]]<function=f>{\"a\": \"y\"}</function>";
    let arguments = |more: &[&str]| {
        let mut args = vec!["parse", "--tools", &tools, "--json"];
        args.extend(more);
        let report: callwright::value::Value = serde_json::from_str(&run(&args, text).out).unwrap();
        let calls = report["calls"].as_array().unwrap().clone();
        calls.iter().map(|call| format!("{} {}", call["dialect"], call["arguments"])).collect::<Vec<_>>()
    };
    let (own, other) = (r#""acme" {"a":"x"}"#, r#""functionary_v31" {"a":"y"}"#);
    assert_eq!(arguments(&[]), [other]);
    assert_eq!(arguments(&["--config", &path]), [own, other]);
    assert_eq!(arguments(&["--config", &path, "--dialect", "acme"]), [own]);
    assert_eq!(arguments(&["--config", &path, "--dialect", "functionary_v31"]), [other]);
    let ran = run(&["prompt", "--tools", &tools, "--config", &path, "--dialect", "acme"], "");
    assert!(ran.out.contains("[[call f]]"), "{} {}", ran.out, ran.err);
    let ran = run(&["parse", "--tools", &tools, "--dialect", "acme"], text);
    assert_eq!(ran.code, 8, "{}", ran.err);
}

#[test]
fn serve_names_them_and_says_what_is_wrong_with_them() {
    let check = |text: &str| {
        let path = file("check.toml", text);
        let ran = run(&["serve", "--check", "--offline", "--config", &path], "");
        (ran.code, ran.out, ran.err.replace(&path, "FILE"))
    };
    let (code, stdout, stderr) = check(ACME);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("dialect        acme: tags, the name in the opener; acme-*  (file)"), "{stdout}");
    assert!(stdout.contains("read as acme only"), "{stdout}");
    for (from, to, says) in [
        ("[[call {name}]]", "{name}", "FILE: dialect `acme`: call.open: `{name}` begins like any text"),
        ("argument = {", "arguments2 = {", "FILE, line 13: unknown key `arguments2`"),
        ("\"tags\"", "\"morse\"", "FILE, line 12: unknown variant `morse`"),
        ("only_dialect = \"acme\"", "only_dialect = \"acne\"", "model `acme-*`: there is no dialect `acne`"),
        (
            "name = \"acme\"",
            "name = \"hermes\"",
            "FILE: dialect `hermes`: name: `hermes` is the name of another",
        ),
    ] {
        let (code, _, stderr) = check(&ACME.replacen(from, to, 1));
        assert_eq!(code, 8, "{from}: {stderr}");
        assert!(stderr.contains(says), "{from}: {stderr}");
    }
}

#[test]
fn what_a_tokenizer_says_is_a_dialect() {
    let response = |open: &str, close: &str| {
        format!(
            r#"{{"response_template": {{"start_anchor": "<a>", "fields": {{"tool_calls": {{
            "open_pattern": "{open}", "close": "{close}", "repeats": true, "content": "json",
            "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}}}}}}}"#
        )
    };
    let tokenizer = file("response.json", response("⟦do (?P<name>\\\\w+)⟧", "⟦done⟧"));
    let tools = file("response-tools.json", TOOLS);
    let ran = run(&["template", &tokenizer], "");
    assert!(
        ran.code == 0 && ran.out.starts_with("dialect    one of its own (proved by 4"),
        "{} {}",
        ran.out,
        ran.err
    );
    // Its file stands beside the configuration's.
    let name = tokenizer.rsplit('/').next().unwrap();
    let set = |file: &str| {
        format!("[[response_template]]\nfile = {file:?}\nname = \"zork\"\nmodels = [\"zork-*\"]\n")
    };
    let config = file("response.toml", set(name));
    let ran = run(&["parse", "--tools", &tools, "--config", &config, "--json"], "⟦do f⟧{\"a\": \"x\"}⟦done⟧");
    assert!(ran.out.contains(r#""dialect":"zork""#), "{} {}", ran.out, ran.err);
    let ran = run(&["prompt", "--tools", &tools, "--config", &config, "--model", "zork-7b"], "");
    assert!(ran.out.contains("⟦do f⟧{"), "{} {}", ran.out, ran.err);
    for (open, close, says) in [
        (
            "<function=(?P<name>\\\\w+)>",
            "</function>",
            "this is the dialect `functionary_v31`, which is read without it",
        ),
        ("(?i)x(?P<name>\\\\w+)", "y", "tool_calls.open_pattern: `(?i)x` is not understood"),
    ] {
        file("response-no.json", response(open, close));
        let ran =
            run(&["serve", "--check", "--config", &file("response-no.toml", set("response-no.json"))], "");
        assert!(ran.code == 8 && ran.err.contains(says), "{} {}", ran.out, ran.err);
    }
}

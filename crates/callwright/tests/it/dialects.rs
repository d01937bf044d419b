//! Each built-in dialect says by an example how it is written. The example is read; a record that cannot be used is told.

use callwright::{Context, Delta, Dialect, Dialects, Outcome, Scanner, ToolSet, Verdict, fits, parse};

fn tool_set() -> ToolSet {
    let tools = r#"[{"name": "f", "parameters": {"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}}}}]"#;
    ToolSet::from_json(tools).unwrap()
}

/// What came of an answer, in short: `f {"a":"x"} hermes |text`.
fn show(outcome: &Outcome) -> String {
    let verdicts = outcome.verdicts.iter().map(|verdict| match verdict {
        Verdict::Accepted(call) => format!("{} {} {}", call.name, call.compact_arguments(), call.dialect),
        Verdict::Refused(refusal) => format!("! {} {}", refusal.reason.code(), refusal.dialect),
    });
    format!("{} |{}", verdicts.collect::<Vec<_>>().join(", "), outcome.text)
}

#[test]
fn every_example_is_one_call_in_its_dialect() {
    let tool_set = tool_set();
    let all = Dialects::default();
    let mut wrong = Vec::new();
    for dialect in all.iter() {
        let expected = format!("f {{\"a\":\"x\"}} {} |", dialect.name);
        let pinned = all.only(&dialect.name).unwrap();
        let example = dialect.example();
        for (which, dialects) in [("all", &all), ("pinned", &pinned)] {
            let context = Context { dialects: dialects.clone(), ..Context::default() };
            let found = show(&parse(&tool_set, &example, &[], &context));
            if found != expected {
                wrong.push(format!("{which}: {found} instead of {expected}"));
            }
            for (cut, _) in example.char_indices().skip(1) {
                let (head, tail) = example.split_at(cut);
                let found = show(&in_pieces(&tool_set, &[head, tail], &context));
                if found != expected {
                    wrong.push(format!("{which}, cut at {cut}: {found} instead of {expected}"));
                }
            }
            let bytes: Vec<&str> = example.split_inclusive(|_: char| true).collect();
            let found = show(&in_pieces(&tool_set, &bytes, &context));
            if found != expected {
                wrong.push(format!("{which}, one by one: {found} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn in_pieces(tool_set: &ToolSet, pieces: &[&str], context: &Context<'_>) -> Outcome {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tool_set, context);
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    scanner.finish().1
}

/// Where only one dialect counts, the others' markers are text, and so is what has no markers, unless it is that one.
#[test]
fn a_pinned_dialect_is_the_only_one() {
    let tool_set = tool_set();
    let all = Dialects::default();
    let mut wrong = Vec::new();
    for pin in ["hermes", "json_bare", "glm45", "deepseek_v31", "pythonic", "harmony"] {
        let dialects = all.only(pin).unwrap();
        let kin = |name: &str| {
            let dialect = all.get(name).unwrap();
            dialect.kin.clone().unwrap_or_else(|| dialect.name.clone())
        };
        let context = Context { dialects, ..Context::default() };
        for dialect in all.iter().filter(|dialect| kin(&dialect.name) != kin(pin)) {
            let outcome = parse(&tool_set, &dialect.example(), &[], &context);
            let others = outcome.calls().filter(|call| kin(&call.dialect) != kin(pin));
            let foreign: Vec<_> = others.map(|call| call.dialect.clone()).collect();
            if !foreign.is_empty() || pin == "hermes" && outcome.calls().next().is_some() {
                wrong.push(format!("{pin}: {} gave {}", dialect.name, show(&outcome)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.only("morse").is_none());
    assert_eq!(all.get("firefunction").map(|dialect| &*dialect.name), Some("phi4mini"));
}

/// The first of the records that says what is wrong with it.
fn problem(records: &str) -> String {
    let table: toml::Table = records.parse().unwrap();
    let dialects = table["dialect"].as_array().unwrap().iter();
    Dialects::new(dialects.map(|dialect| dialect.clone().try_into::<Dialect>().unwrap()))
        .unwrap_err()
        .to_string()
}

#[test]
fn a_record_that_cannot_be_used_says_what_is_wrong_where() {
    const PLAIN: &str = "call = { open = \"@@call\", close = \"@@end\" }";
    const NAMED: &str = "call = { open = \"@@call {name}:\" }";
    const ARGUMENT: &str = "argument = { open = \"<a {key}>\", close = \"</a>\" }";
    let models = format!("models = {:?}", ["x"; 65]);
    for (name, lines, says) in [
        ("Acme", [PLAIN, ""], "dialect `Acme`: name: a name is made of"),
        ("hermes", [PLAIN, ""], "dialect `hermes`: name: `hermes` is the name of another dialect"),
        ("a", [PLAIN, "aliases = [\"glm45\"]"], "aliases: `glm45` is the name"),
        ("a", ["", ""], "call.open: an opener is needed"),
        ("a", [PLAIN, "name_at = \"opener\""], "call.open: {name} must stand in it"),
        ("a", [NAMED, "name_at = \"header\""], "name_at: it is `opener`"),
        ("a", [PLAIN, "arguments = \"tags\""], "arguments: before such arguments"),
        ("a", [PLAIN, ARGUMENT], "argument: it goes with"),
        ("a", [NAMED, "arguments = \"relaxed\""], "string_mark: relaxed"),
        ("a", [PLAIN, "string_mark = \"@\""], "string_mark: it goes with"),
        ("a", [PLAIN, "kin = \"morse\""], "kin: there is no dialect `morse`"),
        ("a", [PLAIN, &models], "models: at most 64 texts of at most 256 bytes"),
        ("a", ["call = { open = \"<\" }", ""], "call.open: `<` begins like any text"),
        ("a", ["call = { open = \"<{name}>\" }", ""], "call.open: `<{name}>` begins like any text"),
        ("a", ["call = { open = \"[[{name} {id}]]\" }", ""], "something fixed must stand behind"),
        ("a", ["call = { open = \"[[{tool}]]\" }", ""], "call.open: `{tool}` stands for nothing here"),
        ("a", ["call = { open = \"[[{tool_name}]]\" }", ""], "`{tool_name}` stands for nothing here"),
        (
            "a",
            [NAMED, "arguments = \"tags\"\nargument = { open = \"<a>\", close = \"</a>\" }"],
            "argument.open: {key} must stand in it",
        ),
        ("a", [PLAIN, "[[dialect]]\nname = \"a\""], "name: `a` is the name of another dialect"),
    ] {
        let found = problem(&format!("[[dialect]]\nname = \"{name}\"\n{}", lines.join("\n")));
        assert!(found.contains(says), "{found} | {says}");
    }
}

#[test]
fn built_in_names_are_unique_and_known() {
    let dialects = Dialects::default();
    for dialect in dialects.iter() {
        for name in [&dialect.name].into_iter().chain(&dialect.aliases) {
            let called = dialects.iter().filter(|other| other.name == *name || other.aliases.contains(name));
            assert_eq!(called.count(), 1, "{name}");
        }
        assert!(dialect.kin.as_deref().is_none_or(|kin| dialects.iter().any(|d| d.name == kin)));
    }
}

#[test]
fn models_are_known_by_patterns_and_one_s_own_come_first() {
    let own: toml::Table =
        "name = \"a\"\nmodels = [\"*qwen3-32b*\"]\ncall = { open = \"@@call\", close = \"@@end\" }"
            .parse()
            .unwrap();
    let dialects = Dialects::new([own.try_into::<Dialect>().unwrap()]).unwrap();
    for (model, name) in [
        ("Qwen/Qwen3-32B", Some("a")),
        ("qwen3:8b", Some("hermes")),
        ("Qwen/Qwen3-Coder-30B", Some("qwen3_coder")),
        ("deepseek-ai/DeepSeek-V3.1", Some("deepseek_v31")),
        ("deepseek-ai/DeepSeek-V3-0324", Some("deepseek_v3")),
        ("nvidia/Llama-3_3-Nemotron-Super-49B", Some("nemotron_deci")),
        ("", None),
    ] {
        assert_eq!(dialects.for_model(model).map(|dialect| &*dialect.name), name, "{model}");
    }
}

#[test]
fn a_star_stands_for_any_characters() {
    for (pattern, name, is_fit) in [
        ("gpt-4o", "gpt-4o", true),
        ("gpt-4o", "gpt-4o-mini", false),
        ("qwen*:free", "qwen2.5:free", true),
        ("a*a", "a", false),
        ("*", "", true),
    ] {
        assert_eq!(fits(pattern, name), is_fit, "{pattern} {name}");
    }
}

//! The same for call expressions and relaxed objects.

use super::*;

/// How dialects write such a call: what opens it, one argument, what stands between two, what closes it.
const SPELT: &[(&str, &str, &str, &str)] = &[
    ("<|tool_call_start|>[NAME(", "KEY='VALUE'", ", ", ")]<|tool_call_end|>"),
    ("<|python_start|>[NAME(", "KEY=\"VALUE\"", ", ", ")]<|python_end|>"),
    ("<function_calls>NAME(", "KEY='''VALUE'''", ",\n", ")</function_calls>"),
    ("<|python_tag|>NAME.call(", "KEY=\"\"\"VALUE\"\"\"", ", ", ")"),
    ("<|tool_call>call:NAME{", "KEY:<|\"|>VALUE<|\"|>", ",", "}<tool_call|>"),
    ("<start_function_call>call:NAME{", "KEY:<escape>VALUE<escape>", ",", "}<end_function_call>"),
];

/// A text as it is written between two such quotes or marks.
fn written(argument: &str, text: &str) -> String {
    let is_python = argument.contains('=');
    let mut text = if is_python { text.replace('\\', "\\\\") } else { text.to_owned() };
    if argument.contains("'''") {
        text = text.replace('\'', "\\'");
    } else if argument.contains("\"\"\"") {
        text = text.replace('"', "\\\"");
    } else if is_python {
        let quote = if argument.contains('\'') { "'" } else { "\"" };
        text = text.replace(quote, &format!("\\{quote}")).replace('\n', "\\n").replace('\t', "\\t");
    }
    text
}

fn spelt(random: &mut Random, frame: usize, is_wild: bool) -> String {
    let (open, argument, between, close) = SPELT[frame];
    let mut value = |most: usize| -> String {
        let words = 1 + random.below(most);
        (0..words).map(|_| *random.pick(WORDS)).collect()
    };
    let mut arguments = vec![("path", value(3)), ("content", value(30))];
    match random.below(4) {
        0 => arguments.insert(0, ("mode", "w".to_owned())),
        1 => arguments.insert(random.below(3), ("mode", "x".to_owned())),
        2 => arguments.swap(0, 1),
        _ => {}
    }
    let arguments: Vec<String> = arguments
        .iter()
        .map(|(key, value)| argument.replace("KEY", key).replace("VALUE", &written(argument, value)))
        .collect();
    let lines = if random.below(3) == 0 && argument.contains('=') { "lines=[1, 2], " } else { "" };
    let open = open.replace("NAME", "write_file");
    let mut text: Vec<char> = format!("{open}{lines}{}{close}", arguments.join(between)).chars().collect();
    for _ in 0..if is_wild { 1 + random.below(2) } else { 0 } {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 => text.truncate(at),
            1 if at < text.len() => drop(text.remove(at)),
            _ => drop(text.splice(at..at, random.pick(PIECES).chars())),
        }
    }
    text.into_iter().collect()
}

#[test]
fn arguments_of_expressions_and_relaxed_objects_go_out_while_they_grow() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let mut random = Random(31);
    let mut n = Seen::default();
    for number in 0..2_400 {
        let text = spelt(&mut random, number % SPELT.len(), number % 3 != 0);
        n.take(&tools, &mut random, &text);
    }
    assert!(1_000 < n.begun && 200 < n.long && 50 < n.refused, "{n:?}");
    assert!(n.given_up * 50 < n.begun, "{n:?}");
}

#[test]
fn of_a_long_text_nothing_waits_but_the_end() {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let content = "fn main() {\n    let x = 1;\n    // <b> it's\n    let y = x + 1";
    for (open, argument, between, close) in SPELT {
        let argument =
            |key: &str, value: &str| argument.replace("KEY", key).replace("VALUE", &written(argument, value));
        let head = format!("{}{}{between}", open.replace("NAME", "write_file"), argument("path", "a.rs"));
        let (sent, _) = run_text(&tools, &[&head], true);
        assert_eq!(sent, [(0, "write_file".to_owned(), String::new())], "{head}");
        let whole = format!("{head}{}{close}", argument("content", content));
        let cut = whole.find("let y").unwrap();
        let (sent, outcome) = run_text(&tools, &[&whole[..cut]], true);
        assert!(sent[0].2.contains("let x = 1;"), "{whole}: {sent:?}");
        assert_eq!(outcome.refusals().count(), 1, "cut: {whole}");
        let (sent, outcome) = run_text(&tools, &[&whole], true);
        assert_eq!(outcome.calls().count(), 1, "{whole}: {outcome:?}");
        let arguments = &outcome.calls().next().unwrap().arguments;
        let value: callwright::value::Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(value["content"], content);
        assert_eq!(arguments.strip_suffix("\"}"), Some(&*sent[0].2), "{whole}");
    }
}

//! What looks like a call and is none: arguments that name no tool, expressions that are a part of other code, definitions.

use callwright::prompt::{self, PromptDialect, Speaking};
use callwright::{Acceptance, Context, Dialects, Outcome, Reason, ShapeError, ToolChoice, json};
use callwright_json::Class;

use crate::laws::bench::{Bench, Made, Spelling, Strings, is_call, told};
use crate::laws::pools::fill;
use crate::laws::{ALL, Floor, hold, written};

// FIXME: arguments that look like a schema, or like a call of another tool, are none without marks.
const NAMELESS: Floor = Floor(98.0, 98.0);

/// Where a JSON text stands that has no marks.
const UNMARKED: [&str; 8] = [
    "{json}",
    "[{json}]",
    "```json\n{json}\n```",
    "{said}\n\n{json}",
    "{leads}\n\n```json\n{json}\n```",
    "{leads} {json}",
    "{json}\n\n{said}",
    "{said}\n\n```\n{json}\n```\n\n{said}",
];

/// The marks around a call in JSON.
const MARKED: [&str; 5] = [
    "<tool_call>\n{json}\n</tool_call>",
    "[TOOL_CALLS][{json}]",
    "<tools>{json}</tools>",
    "<|python_tag|>{json}",
    "{said}\n\n<longcat_tool_call>{json}</longcat_tool_call>",
];

/// Arguments without a name are data, whosever keys they have; between marks they are refused. Where the request leaves one
/// tool, they are a call of it.
#[test]
fn what_names_no_tool_is_no_call() {
    hold("nameless", NAMELESS, nameless);
}

pub(crate) fn nameless(bench: &mut Bench<'_>) {
    for number in 0..bench.rounds(120) {
        let made = with_arguments(bench);
        let spelling = Spelling::ALL[number % Spelling::ALL.len()];
        let arguments = spelling.spell(&made.arguments);
        let named = ToolChoice::Named(made.name.clone());
        let chosen = Context { tool_choice: named, ..bench.context.clone() };

        let place = UNMARKED[number % UNMARKED.len()];
        let text = placed(bench, place, &arguments);
        let outcome = bench.read(&text, number % 2 == 0);
        bench.count(place, &text, is_text(&outcome, &text));
        if !place.contains("{said}\n\n```") {
            let outcome = bench.read_under(&text, &chosen);
            bench.count(&format!("{place}, chosen"), &text, is_inferred(&outcome, &made));
        }

        let place = MARKED[number % MARKED.len()];
        let text = placed(bench, place, &arguments);
        let outcome = bench.read(&text, number % 2 == 0);
        bench.count(place, &text, is_refused(&outcome, |error| matches!(error, ShapeError::NoName(_))));
        let outcome = bench.read_under(&text, &chosen);
        bench.count(&format!("{place}, chosen"), &text, is_inferred(&outcome, &made));
    }
}

/// An expression that is a part of other code is not run, in a fence for calls neither; one that is a statement is a call.
#[test]
fn code_is_not_run() {
    hold("code", ALL, code);
}

pub(crate) fn code(bench: &mut Bench<'_>) {
    const CODE: [[&str; 12]; 2] = [
        [
            "if ready:\n    {call}",
            "for x in y:\n  {call}",
            "{call} if ready else None",
            "[{call} for x in y]",
            "foo({call})",
            "x and {call}",
            "{call} + 1",
            "x = '''{call}'''",
            "def f():\n    return {call}",
            "if ready: {call}",
            "x == {call}",
            "() => {call}",
        ],
        [
            "while True:\n\t{call}",
            "def f(): {call}",
            "x = {call} if y else z",
            "print(foo({call}))",
            "x || {call};",
            "not {call}",
            "{call}.value",
            "if (x) {\n  {call};\n}",
            "with a as b:\n    x = {call}",
            "class A:\n    def f(self):\n        {call}",
            "x = lambda: {call}",
            "{call}[0]",
        ],
    ];
    const STATEMENTS: [[&str; 5]; 2] = [
        ["{call}", "x = {call}", "print({call})", "[{call}]", "await {call}"],
        ["return {call}", "{call};", "x = {call}\nprint(x)", "x = await {call}", "  {call}"],
    ];
    let half = usize::from(bench.is_judge);
    let pythonic = dialect("pythonic");
    for number in 0..bench.rounds(60) {
        let made = bench.call(Strings::Plain);
        // No expression has such a name.
        if made.name.contains(':') {
            continue;
        }
        let list = bench.spoken(&pythonic, &made);
        let Some(call) = list.strip_prefix('[').and_then(|call| call.strip_suffix(']')) else { continue };
        let write = |template: &str| fill(template, |slot| (slot == "call").then(|| call.to_owned()));

        let template = CODE[half][number % CODE[half].len()];
        let text = write(template);
        let outcome = bench.read(&text, number % 2 == 0);
        bench.count(template, &text, is_text(&outcome, &text));
        let text = format!("```tool_code\n{text}\n```");
        let outcome = bench.read(&text, false);
        bench.count(
            &format!("tool_code: {template}"),
            &text,
            is_refused(&outcome, |error| *error == ShapeError::InCode),
        );

        let template = STATEMENTS[half][number % STATEMENTS[half].len()];
        for text in [write(template), format!("```tool_code\n{}\n```", write(template))] {
            let outcome = bench.read(&text, false);
            bench.count(template, &text, is_call(&outcome, &made));
        }
    }
}

/// The definition of a tool, in any form and with any marks, is no call of it, and neither is its schema in the place of
/// arguments.
#[test]
fn definitions_are_no_calls() {
    hold("define", ALL, definitions);
}

pub(crate) fn definitions(bench: &mut Bench<'_>) {
    for number in 0..bench.rounds(60) {
        let tool = bench.random.pick(&bench.pools.tools);
        let (name, schema) = (&tool.name, tool.schema());
        let definitions = [
            json!({"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}}),
            json!({"type": "function", "name": name, "description": "Does it.", "parameters": schema}),
            json!({"name": name, "description": "Does it.", "input_schema": schema}),
            json!({"name": name, "parameters": schema}),
            json!({"name": name, "arguments": schema}),
        ];
        let spelling = Spelling::ALL[number % Spelling::ALL.len()];
        let definition = spelling.spell(&definitions[number % definitions.len()]);
        let place = UNMARKED[number % UNMARKED.len()];
        let text = placed(bench, place, &definition);
        let outcome = bench.read(&text, number % 2 == 0);
        bench.count(place, &text, is_text(&outcome, &text));
        let place = MARKED[number % MARKED.len()];
        let text = placed(bench, place, &definition);
        let outcome = bench.read(&text, number % 2 == 0);
        let found = is_refused(&outcome, |error| *error == ShapeError::Definition);
        bench.count(place, &text, found);

        let form = &bench.pools.forms[number % bench.pools.forms.len()];
        let text = written(&format!("{}{}", form.text, form.end), name, &spelling.spell(&schema));
        let outcome = bench.read(&text, number % 2 == 0);
        let found = is_refused(&outcome, |error| *error == ShapeError::Definition);
        bench.count(&form.name, &text, found);
    }
}

/// Our own prompts given back hold no call but the example that they show.
#[test]
fn what_a_prompt_says_is_no_call() {
    hold("prompt", ALL, prompts);
}

fn prompts(bench: &mut Bench<'_>) {
    for number in 0..bench.rounds(1) {
        let pools = bench.pools;
        for dialect in &pools.dialects {
            let prompt = prompt::prompt(dialect, &pools.declared.set, &Speaking::default());
            let text = prompt.text;
            let outcome = bench.read(&text, number % 2 == 1);
            let is_example = |call: &Acceptance| prompt.examples.echoed(&call.arguments, &[]).is_some();
            let is_right = outcome.calls().all(is_example);
            bench.count(dialect.name(), &text, if is_right { Ok(()) } else { Err(told(&outcome)) });
        }
    }
}

fn dialect(name: &str) -> PromptDialect {
    PromptDialect::named(&Dialects::default(), name).unwrap()
}

/// A call that has arguments.
fn with_arguments(bench: &mut Bench<'_>) -> Made {
    loop {
        let made = bench.call(Strings::Plain);
        if made.arguments.as_object().is_some_and(|arguments| !arguments.is_empty()) {
            return made;
        }
    }
}

/// `json` at a place.
fn placed(bench: &mut Bench<'_>, place: &str, json: &str) -> String {
    let language = bench.random.pick(&bench.pools.languages);
    bench.filled(&place.replace("{json}", "{call}"), language, json)
}

/// Is all of it text, to the byte?
fn is_text(outcome: &Outcome, text: &str) -> Result<(), String> {
    let is_right = outcome.verdicts.is_empty() && outcome.text == text;
    if is_right { Ok(()) } else { Err(told(outcome)) }
}

/// Is it this one call, whose name nobody wrote?
fn is_inferred(outcome: &Outcome, made: &Made) -> Result<(), String> {
    is_call(outcome, made)?;
    let is_right = outcome.calls().all(|call| call.class() == Class::Inferred);
    if is_right { Ok(()) } else { Err(told(outcome)) }
}

/// Is it refused, for its shape alone?
fn is_refused(outcome: &Outcome, is_it: impl Fn(&ShapeError) -> bool) -> Result<(), String> {
    let mut refusals =
        outcome.refusals().map(|refusal| matches!(&refusal.reason, Reason::Shape(error) if is_it(error)));
    let is_right = outcome.calls().count() == 0 && refusals.next() == Some(true) && refusals.all(|is| is);
    if is_right { Ok(()) } else { Err(told(outcome)) }
}

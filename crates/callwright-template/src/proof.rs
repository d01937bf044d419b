//! The proof of a dialect: what the template writes is read again, and must be the calls that went in.

use callwright::json;
use callwright::value::Value;
use callwright::{Context, Outcome, ToolSet, parse};

use crate::probe::{Answers, Call, Manner, Probe};
use crate::token::tokens;

/// The result of the round trips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The dialect that the calls were read in.
    pub(crate) dialect: String,
    /// The number of answers that were read as they were meant.
    pub(crate) right: usize,
    /// The number of those that could not be: their arguments hold marks or quotes that the template does not escape.
    pub(crate) unclear: usize,
    /// The number of these that were read as other arguments.
    pub(crate) misread: usize,
    /// The number of repairs in all of them.
    pub(crate) repairs: usize,
}

impl Proof {
    /// Returns the number of repairs in a hundred answers.
    pub(crate) fn repaired(&self) -> usize {
        100 * self.repairs / self.right.max(1)
    }
}

/// The words before a call.
const WORDS: &str = "I will look that up.";

/// The tools of the round trips.
fn tools(has_objects: bool) -> Vec<Value> {
    let tool = |name: &str, properties: Value, required: Value| {
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "description": "A tool.", "parameters": parameters}})
    };
    let of = |kind: Value| json!({"type": kind, "description": "A value."});
    let mut list = of(json!("array"));
    list["items"] = json!({"type": "string"});
    let mut filter = of(json!("object"));
    filter["properties"] = json!({"after": of(json!("integer")), "lang": of(json!("string"))});
    let mut search = json!({"query": of(json!("string")), "tags": list, "ratio": of(json!("number")),
        "note": of(json!("string"))});
    if has_objects {
        search["filter"] = filter;
    }
    vec![
        tool(
            "get_weather",
            json!({"city": of(json!("string")), "days": of(json!("integer")), "metric": of(json!("boolean"))}),
            json!(["city"]),
        ),
        tool("search", search, json!(["query"])),
        tool(
            "write_file",
            json!({"path": of(json!("string")), "text": of(json!("string"))}),
            json!(["path", "text"]),
        ),
        tool("stop", json!({}), json!([])),
    ]
}

/// Answers that must be read as they are meant: what is said, and the calls.
fn plain(has_objects: bool) -> Vec<(&'static str, Vec<Call>)> {
    let paris = || Call::new("get_weather", json!({"city": "Paris"}));
    let mut search =
        json!({"query": "tool calls, all of them", "tags": ["new", "öl"], "ratio": 0.5, "note": "plain"});
    if has_objects {
        search["filter"] = json!({"after": 2020, "lang": "de"});
    }
    vec![
        ("", vec![paris()]),
        ("", vec![Call::new("get_weather", json!({"city": "São Paulo", "days": 3, "metric": true}))]),
        ("", vec![Call::new("stop", json!({}))]),
        ("", vec![Call::new("search", search)]),
        (WORDS, vec![paris()]),
        ("", vec![paris(), Call::new("search", json!({"query": "hotels"}))]),
        ("", vec![paris(), Call::new("get_weather", json!({"city": "Rome", "days": 2}))]),
        (WORDS, Vec::new()),
    ]
}

/// Texts that have something to do with markup.
const TEXTS: &[&str] = &[
    "say \"yes\"",
    "it's",
    "C:\\new\\table",
    "a\nb\n\n\tc",
    "line\n",
    " x ",
    "{\"a\": [1, {\"b\": null}]}",
    "} ] ) > }}",
    "print(f\"{x['a']}\")",
    "```python\nprint(1)\n```",
    "<b>bold</b> & <i>",
    "5",
    "null",
    "",
    "日本 🚀",
    "<think>no</think>",
    "if a < b && c > d: pass",
];

/// Writes an answer of words and calls, if it can hold them.
type Write<'p> = &'p dyn Fn(&str, &[Call]) -> Option<String>;

/// The round trips of one proof.
struct Trips<'p> {
    write: Write<'p>,
    context: &'p Context<'p>,
    tool_set: ToolSet,
    proof: Proof,
}

/// Reads what the template writes, with what `context` knows of it.
///
/// # Errors
/// The first answer that cannot be read as it is meant though there is nothing special about it.
pub(crate) fn prove(probe: &Probe<'_>, manner: Manner, context: &Context<'_>) -> Result<Proof, String> {
    // Some templates fail at a parameter that is an object.
    let asked = json!({"role": "user", "content": "Hello"});
    let has_objects = probe.render(std::slice::from_ref(&asked), &tools(true), true).is_ok();
    let tools = tools(has_objects);
    let answers = probe.answers(&tools).map_err(|error| error.to_string())?;
    let write = |said: &str, calls: &[Call]| written(&answers, manner, said, calls);
    trips(&write, &tools, has_objects, context)
}

/// Reads what `write` writes, several calls at once where an answer may hold them.
///
/// # Errors
/// As above.
pub(crate) fn prove_written(write: Write<'_>, context: &Context<'_>) -> Result<Proof, String> {
    trips(write, &tools(true), true, context)
}

fn trips(
    write: Write<'_>,
    tools: &[Value],
    has_objects: bool,
    context: &Context<'_>,
) -> Result<Proof, String> {
    let tool_set = ToolSet::from_value(&Value::from(tools.to_vec())).map_err(|error| error.to_string())?;
    let mut trips = Trips { write, context, tool_set, proof: Proof::default() };
    for (said, calls) in plain(has_objects) {
        // Words beside calls are a turn of their own in some templates, which no answer has.
        let is_plain = said.is_empty() || calls.is_empty();
        trips.go(said, &calls, is_plain)?;
    }
    if trips.proof.dialect.is_empty() {
        return Err(String::from("it writes no calls"));
    }
    for text in TEXTS {
        trips.both(text)?;
    }
    // A whole call inside an argument: where nothing is escaped, it has more than one reading.
    if let Some(call) = (trips.write)("", &[Call::new("get_weather", json!({"city": "Paris"}))]) {
        let misread = trips.proof.misread;
        trips.both(&call)?;
        trips.proof.misread = misread;
    }
    Ok(trips.proof)
}

/// Returns the text that the template writes for an answer.
fn written(answers: &Answers<'_, '_>, manner: Manner, said: &str, calls: &[Call]) -> Option<String> {
    let turn = match calls {
        [] => json!({"role": "assistant", "content": said}),
        calls => manner.turn(said, calls),
    };
    let text = answers.written(turn).ok()?;
    // Templates leave things out: the second call, or calls beside words.
    let has = |value: &Value| value.as_str().is_none_or(|value| value.contains('"') || text.contains(value));
    let is_whole = calls.iter().all(|call| {
        let mut values = call.arguments.as_object().into_iter().flatten().map(|(_, value)| value);
        text.contains(&call.name) && values.all(has)
    });
    is_whole.then_some(text)
}

impl Trips<'_> {
    /// Round trips of `text` as an argument before another, and behind one.
    fn both(&mut self, text: &str) -> Result<(), String> {
        for arguments in [json!({"path": "a.txt", "text": text}), json!({"path": text, "text": "a"})] {
            self.go("", &[Call::new("write_file", arguments)], false)?;
        }
        Ok(())
    }

    /// One round trip.
    fn go(&mut self, said: &str, calls: &[Call], is_plain: bool) -> Result<(), String> {
        let Some(text) = (self.write)(said, calls) else { return Ok(()) };
        let outcome = parse(&self.tool_set, &text, &[], self.context);
        let what = match read(&outcome) {
            None => "is not read",
            Some(read) if read != calls => "is read as something else",
            Some(_) if !is_said(&outcome.text, said, &text) => "leaves markup in the text",
            Some(_) => {
                self.proof.right += 1;
                self.proof.repairs += outcome.calls().map(|call| call.repairs.len()).sum::<usize>();
                if let Some(call) = outcome.calls().next().filter(|_| self.proof.dialect.is_empty()) {
                    self.proof.dialect = call.dialect.to_string();
                }
                return Ok(());
            }
        };
        if is_plain {
            return Err(format!("what it writes {what}: {text:?}"));
        }
        self.proof.unclear += 1;
        self.proof.misread += usize::from(outcome.calls().next().is_some());
        Ok(())
    }
}

/// The outcome's calls, where none was refused.
fn read(outcome: &Outcome) -> Option<Vec<Call>> {
    let call = |call: &callwright::Acceptance| {
        Some(Call::new(&call.name, serde_json::from_str(&call.arguments).ok()?))
    };
    let read: Option<Vec<Call>> = outcome.calls().map(call).collect();
    read.filter(|_| outcome.refusals().next().is_none())
}

/// Returns whether `text` is what was said. Templates may leave out words that stand before a call, and end the turn of a call
/// with tokens of their own, which servers do not hand on.
fn is_said(text: &str, said: &str, written: &str) -> bool {
    let text = text.trim();
    let rest = text.strip_prefix(said).unwrap_or(text).trim_start();
    let is_token = |token: &&str| token.starts_with('<') && token.ends_with('>') || token.trim().is_empty();
    written.trim_end().ends_with(rest) && tokens(rest).iter().all(is_token)
}

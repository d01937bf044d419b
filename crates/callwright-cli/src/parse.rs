//! `callwright parse`: a model's answer in, its calls out.

use std::borrow::Cow;
use std::io::{self, IsTerminal};

use callwright::{Compiled, Context, Dialects, NativeCall, Report, ToolChoice, ToolSet};
use callwright_json::{Kind, Value, strict};

use crate::args::{ParseArgs, Start};
use crate::draw::Pen;
use crate::failure::Failure;
use crate::jsonl::{self, Members, Unusable};
use crate::view::{Candidates, Parsed, json};
use crate::{dialects, door, input, output};

pub(crate) fn run(args: &ParseArgs, pen: Pen) -> Result<(), Failure> {
    let declared = args.tools.as_deref().map(door::tools_of).transpose()?;
    let known = dialects::of(args.config.as_deref())?;
    let dialects = match &args.dialect {
        Some(name) => known.only(name).ok_or_else(|| dialects::unknown(&known, name))?,
        None => known,
    };
    if let Some(name) = args.asked.as_deref().filter(|name| dialects.get(name).is_none()) {
        return Err(dialects::unknown(&dialects, name));
    }
    if args.lines.jsonl {
        let tools = declared.unwrap_or_else(ToolSet::empty);
        let members = Members::new(&MEMBERS);
        let lines = Lines { tools, dialects, compiled: Compiled::new(door::tool_set), members, args };
        let mut from = input::lines(&args.file)?;
        return jsonl::run(&mut *from, &mut io::stdout(), &args.lines, &|line| lines.answer(line));
    }
    let text = input::answer(&args.file, "a model's answer")?;
    let context = Context {
        finish_reason: args.finish_reason.as_deref(),
        starts_in_reasoning: args.start == Start::Reasoning,
        native: args.native,
        asked: args.asked.as_deref(),
        tool_choice: args.tool_choice.clone(),
        dialects: dialects.clone(),
        policy: args.policy,
        calls_in_reasoning: args.calls_in_reasoning,
        ..Context::default()
    };
    let Some(tools) = declared else { return shown(args, &text, &context, pen) };
    let outcome = door::parse(&tools, ("", &text), &[], &context, args.chunks);
    let drawn = || pen.outcome(&text, &outcome, &args.file.display().to_string());
    // At a terminal the drawing has all of it.
    let is_for_programs = args.json || !io::stdout().is_terminal();
    let result = is_for_programs.then(|| json(&Report::of(&outcome, &text, &[])));
    output::write(args.json, result.as_deref(), drawn)?;
    if outcome.refusals().next().is_none() { Ok(()) } else { Err(Failure::Refused) }
}

/// Shows the texts that look like calls, where no tools are declared: nothing is a call then.
fn shown(args: &ParseArgs, text: &str, context: &Context<'_>, pen: Pen) -> Result<(), Failure> {
    let found = callwright::candidates(text, context);
    let drawn = || pen.candidates(&found);
    let is_for_programs = args.json || !io::stdout().is_terminal();
    let result = is_for_programs.then(|| json(&Candidates::of(&found)));
    output::write(args.json, result.as_deref(), drawn)
}

struct Lines<'a> {
    /// For lines that declare none.
    tools: ToolSet,
    compiled: Compiled<ToolSet>,
    dialects: Dialects,
    members: Members,
    args: &'a ParseArgs,
}

const MEMBERS: [&str; 10] = [
    "id",
    "text",
    "tools",
    "tool_calls",
    "finish_reason",
    "reasoning",
    "start",
    "native",
    "asked",
    "tool_choice",
];

impl Lines<'_> {
    /// Answers one line `{"id", "text", "tools"[, "tool_calls"][, "finish_reason"][, "reasoning"][, "start"][, "native"]
    /// [, "asked"][, "tool_choice"]}`.
    fn answer(&self, line: &str) -> Result<String, Unusable> {
        let tree = strict(line).map_err(|at| Unusable::new("null", format!("not JSON at byte {at}")))?;
        let case = tree.root(line);
        let id = case.get("id").map_or("null", |id| id.raw());
        self.members.check(case);
        self.read(case, id).map_err(|why| Unusable::new(id, why))
    }

    fn read(&self, case: Value<'_>, id: &str) -> Result<String, String> {
        is_answer(case)?;
        let text = string(case, "text")?.unwrap_or_default();
        let reasoning = string(case, "reasoning")?.unwrap_or_default();
        let finish_reason = string(case, "finish_reason")?;
        let starts_in_reasoning = match string(case, "start")?.as_deref() {
            None | Some("text") => false,
            Some("reasoning") => true,
            Some(_) => return Err(String::from("`start` must be `text` or `reasoning`")),
        };
        let compiled = given(case, "tools").map(|tools| self.compiled.get(tools.raw()));
        let tools = match compiled.as_deref() {
            None => &self.tools,
            Some(Ok(tools)) => tools,
            Some(Err(why)) => return Err(format!("cannot use `tools`: {why}")),
        };
        let asked = string(case, "asked")?;
        if let Some(name) = asked.as_deref().filter(|name| self.dialects.get(name).is_none()) {
            return Err(dialects::no_such(&self.dialects, name));
        }
        let choice = match given(case, "tool_choice") {
            None => self.args.tool_choice.clone(),
            Some(choice) => tool_choice(choice).ok_or("`tool_choice` is not one that a request may have")?,
        };
        let native_mode = flag(case, "native")?;
        if asked.is_some() && native_mode == Some(true) {
            return Err(String::from(
                "`asked` is a prompt's: with `native` the model was asked for no dialect",
            ));
        }
        // What a line says goes before what holds for all of them.
        let asked = asked.as_deref().or(self.args.asked.as_deref().filter(|_| native_mode != Some(true)));
        let has_calls = given(case, "tool_calls").is_some();
        let native = native_calls(case)?;
        let native: Vec<NativeCall<'_>> = native.iter().map(Native::borrowed).collect();
        let context = Context {
            finish_reason: finish_reason.as_deref(),
            starts_in_reasoning,
            native: native_mode.unwrap_or(asked.is_none() && (self.args.native || has_calls)),
            asked,
            tool_choice: choice,
            dialects: self.dialects.clone(),
            policy: self.args.policy,
            calls_in_reasoning: self.args.calls_in_reasoning,
            ..Context::default()
        };
        let said = (&*reasoning, &*text);
        let (outcome, us) = door::timed(|| door::parse(tools, said, &native, &context, self.args.chunks));
        let report = Report::of(&outcome, &text, &native);
        Ok(json(&Parsed::of(id, &outcome, &report, us)))
    }
}

/// Checks that there is anything that a model answered. A misspelt `text` would else be an answer without calls.
pub(crate) fn is_answer(case: Value<'_>) -> Result<(), String> {
    if case.kind() != Kind::Object {
        return Err(String::from("it must be an object"));
    }
    // A server writes `"content": null` beside calls.
    match ["text", "tool_calls", "reasoning"].iter().any(|key| case.get(key).is_some()) {
        true => Ok(()),
        false => Err(String::from("it has no `text`, and neither `tool_calls` nor `reasoning`")),
    }
}

/// A native call as the line has it.
pub(crate) struct Native<'a> {
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl Native<'_> {
    pub(crate) fn borrowed(&self) -> NativeCall<'_> {
        NativeCall { id: self.id.as_deref(), name: &self.name, arguments: &self.arguments }
    }
}

/// Reads `tool_calls`: `{"name", "arguments"}`, or OpenAI's `{"id", "type", "function": {…}}`.
pub(crate) fn native_calls<'a>(case: Value<'a>) -> Result<Vec<Native<'a>>, String> {
    let Some(calls) = given(case, "tool_calls") else { return Ok(Vec::new()) };
    if calls.kind() != Kind::Array {
        return Err(String::from("`tool_calls` must be an array"));
    }
    let native = calls.elements().map(|call| {
        let function = given(call, "function").unwrap_or(call);
        let arguments = match given(function, "arguments") {
            None => Cow::Borrowed(""),
            // Servers differ: the arguments are JSON text in a string, or the object itself.
            Some(arguments) => arguments.as_str().unwrap_or(Cow::Borrowed(arguments.raw())),
        };
        let name = string(function, "name")?.unwrap_or_default();
        Ok(Native { id: string(call, "id")?, name, arguments })
    });
    native.collect()
}

/// The member `key`, where it is there and not null.
pub(crate) fn given<'a>(of: Value<'a>, key: &str) -> Option<Value<'a>> {
    of.get(key).filter(|value| value.kind() != Kind::Null)
}

/// Returns the tools that may be called, as a request says it.
fn tool_choice(choice: Value<'_>) -> Option<ToolChoice> {
    ToolChoice::from_value(&choice.raw().parse().ok()?)
}

/// The flag `key`, where it is there and not null.
fn flag(of: Value<'_>, key: &str) -> Result<Option<bool>, String> {
    match given(of, key) {
        None => Ok(None),
        Some(value) => value.as_bool().map(Some).ok_or_else(|| format!("`{key}` must be true or false")),
    }
}

/// The string `key`, where it is there and not null.
pub(crate) fn string<'a>(of: Value<'a>, key: &str) -> Result<Option<Cow<'a, str>>, String> {
    match given(of, key) {
        None => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| format!("`{key}` must be a string")),
    }
}

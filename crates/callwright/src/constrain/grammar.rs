//! The tools as a grammar in GBNF, which llama.cpp's server holds an answer to.
//!
//! ```text
//! root ::= calls                             where a call is demanded
//! root ::= prose calls | prose               where it is not: the prose never holds what opens a call
//! root ::= calls | {"no_tool_helps": "…"}    where it is not, in the dialect that is JSON and nothing else
//! ```
//! The last one is for small models: one that may begin with prose hardly ever calls.
//!
//! A call has its dialect's spelling: the names are exact, the arguments follow the tool's schema with members in the
//! order of their declaration. The later check covers `pattern`, `format` and bounds of numbers.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use callwright_json::quote;
use callwright_schema::keywords::required;

use crate::value::{Map, Value};

use super::PROSE_KEY;
use super::schema::{MAX_CALLS, call_parts};
use crate::grammar::Arguments;
use crate::grammar::template::pieces;
use crate::prompt::{PromptDialect, is_plain_name, spaced};
use crate::tools::{ToolChoice, ToolSet};

/// Longest grammar, in bytes: servers compile it anew for each request.
const MAX_BYTES: usize = 1 << 18;
/// Most levels of a schema in the grammar; deeper values may be anything.
const MAX_DEPTH: usize = 32;

/// Fewest characters that may open a call: prose can do without them.
const MIN_OPENER: usize = 4;

/// The spelling of a dialect's calls whose arguments are JSON.
pub(super) struct Spelling<'s> {
    /// The text that only calls begin with.
    open: String,
    /// The text between `open` and the name in the first call.
    begin: String,
    /// The text between two calls, up to the name in the second.
    between: String,
    /// The text behind the last call.
    close: &'s str,
    /// One call from its name on, with slots.
    call: &'s str,
}

/// Returns the spelling of a dialect. `None` if its arguments are not JSON, or prose needs the text that its calls
/// begin with.
pub(super) fn spelling(dialect: &PromptDialect) -> Option<Spelling<'_>> {
    let calls = &dialect.speech().calls;
    if calls.arguments != Arguments::Json {
        return None;
    }
    let (prefix, _) = pieces(&calls.call).next()?;
    let call = calls.call.get(prefix.len()..)?;
    let head = format!("{}{prefix}", calls.open);
    let ends = |(at, c): &(usize, char)| *at != 0 && (c.is_whitespace() || *c == '{');
    let end = head.char_indices().find(ends).map_or(head.len(), |(at, _)| at);
    let (open, begin) = head.split_at_checked(end)?;
    let is_mark = open.chars().any(|c| !c.is_alphanumeric() && c != '.');
    let is_long = MIN_OPENER <= open.chars().count();
    (is_mark && is_long).then(|| Spelling {
        open: open.to_owned(),
        begin: begin.to_owned(),
        between: format!("{}{prefix}", calls.between),
        close: &calls.close,
        call,
    })
}

/// Returns the grammar that an answer in `dialect` to a request for `choice` must follow. `None` if there is no tool to
/// call, if the dialect's arguments are not JSON, or if the grammar would be longer than 256 KiB.
///
/// If no call is demanded, any text may come before the calls, and there need not be any. In [`PromptDialect::json`]
/// the whole answer is JSON as under a [`schema`](super::schema()), and [`Answer`](super::Answer) reads it back.
/// Strings may have any length: a bound would make half a text look whole.
pub fn grammar(
    dialect: &PromptDialect,
    tool_set: &ToolSet,
    choice: &ToolChoice,
    parallel: bool,
) -> Option<String> {
    let spelling = spelling(dialect)?;
    let tools = choice.tools(tool_set);
    if tools.is_empty() {
        return None;
    }
    let (calls, definitions) = call_parts(&tools);
    let mut grammar =
        Grammar { definitions: &definitions, rules: Vec::new(), referred: HashMap::new(), bytes: 0 };
    let mut ways = Vec::new();
    for (name, arguments) in &calls {
        let arguments = grammar.expression(arguments, 0);
        ways.push(call(spelling.call, name, &arguments)?);
    }
    grammar.rule("call", ways.join(" | "));
    let [open, begin, between, close] =
        [&*spelling.open, &spelling.begin, &spelling.between, spelling.close].map(literal);
    let more = if parallel { format!(" ({between} call){{0,{}}}", MAX_CALLS - 1) } else { String::new() };
    grammar.rule("calls", format!("{begin} call{more} {close}"));
    let called = format!("{open} calls");
    let root = match (choice.is_required(), dialect.is_json()) {
        (true, _) => called,
        (false, true) => {
            let prose = literal(&format!("{{\"{PROSE_KEY}\": "));
            format!("{called} | {prose} string \"}}\"")
        }
        (false, false) => grammar.prose(&spelling.open),
    };
    grammar.text(&root)
}

/// Returns one call as an expression; `None` for a name that cannot stand in the dialect's markup.
fn call(template: &str, name: &str, arguments: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for (text, slot) in pieces(template) {
        parts.extend(Some(text).filter(|text| !text.is_empty()).map(literal));
        match slot {
            "" => {}
            "name" if is_plain_name(name) => parts.push(literal(name)),
            "name" => return None,
            "json_name" => parts.push(literal(&quote(name))),
            "arguments" => parts.push(arguments.to_owned()),
            "index" | "number" => parts.push("[0-9]{1,3}".to_owned()),
            other => parts.push(literal(&format!("{{{other}}}"))),
        }
    }
    Some(parts.join(" "))
}

struct Grammar<'s> {
    /// The targets of references.
    definitions: &'s Map,
    rules: Vec<(String, String)>,
    /// The rules of references.
    referred: HashMap<String, String>,
    bytes: usize,
}

impl Grammar<'_> {
    fn text(&self, root: &str) -> Option<String> {
        if MAX_BYTES < self.bytes {
            return None;
        }
        let mut text = format!("root ::= {root}\n");
        for (name, body) in self.rules.iter().map(|(n, b)| (n.as_str(), b.as_str())).chain(COMMON) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{name} ::= {body}");
        }
        Some(text)
    }

    fn rule(&mut self, name: &str, body: String) {
        self.bytes += name.len() + body.len();
        self.rules.push((name.to_owned(), body));
    }

    /// Adds a rule for `body`, and returns its name.
    fn named(&mut self, body: String) -> String {
        let name = format!("r{}", self.rules.len());
        self.rule(&name, body);
        name
    }

    /// Adds the rules for text up to `open`, with calls behind it. Each rule knows the part of `open` so far. A letter
    /// that breaks it off goes on with the longest beginning of `open` that the text then ends with: `[[[call`.
    fn prose(&mut self, open: &str) -> String {
        let opener: Vec<char> = open.chars().collect();
        let others = BTreeSet::from_iter(opener.iter().copied());
        for (seen, &next) in opener.iter().enumerate() {
            // Returns the part of the opener that is there behind `c`, as its length.
            let behind = |c: char| {
                let is_end = |n: &usize| opener[*n] == c && opener[..*n] == opener[seen - n..seen];
                (0..=seen).rev().find(is_end).map_or(0, |n| n + 1)
            };
            let mut class = in_class(next);
            let mut ways = Vec::new();
            for &other in others.iter().filter(|other| **other != next && behind(**other) != 0) {
                class.push_str(&in_class(other));
                ways.push(format!("{} prose{}", literal(&other.to_string()), behind(other)));
            }
            let then =
                if seen + 1 == opener.len() { "calls".to_owned() } else { format!("prose{}", seen + 1) };
            ways.push(format!("{} {then}", literal(&next.to_string())));
            self.rule(&format!("prose{seen}"), format!("[^{class}] prose0 | {} | \"\"", ways.join(" | ")));
        }
        "prose0".to_owned()
    }

    /// Returns the values that fit `schema`, as an expression that binds tightly.
    fn expression(&mut self, schema: &Value, depth: usize) -> String {
        let schema = schema.as_object().filter(|_| depth <= MAX_DEPTH && self.bytes <= MAX_BYTES);
        schema.and_then(|schema| self.told(schema, depth)).unwrap_or_else(|| ANY.to_owned())
    }

    /// Returns the values that fit `schema`, if it says anything.
    fn told(&mut self, schema: &Map, depth: usize) -> Option<String> {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.reference(reference, depth);
        }
        let values = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        if let Some(values) = values.or_else(|| schema.get("const").map(std::slice::from_ref)) {
            return Some(choice_of(values.iter().map(|value| literal(&spaced(value))).collect()));
        }
        // An object of several schemas has the members of all of them: those of one, and any others.
        let declares = schema.contains_key("properties");
        let choices = ["anyOf", "oneOf"].iter().find_map(|k| schema.get(k)?.as_array()).filter(|_| !declares);
        if let Some(choices) = choices {
            let choices = choices.iter().map(|choice| self.expression(choice, depth + 1));
            return Some(choice_of(choices.collect()));
        }
        let all = schema.get("allOf").and_then(Value::as_array).filter(|_| !declares);
        if let Some(first) = all.and_then(|all| all.first()) {
            return Some(self.expression(first, depth + 1));
        }
        match schema.get("type") {
            Some(Value::String(kind)) => Some(self.typed(kind, schema, depth)),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                Some(choice_of(kinds.map(|kind| self.typed(kind, schema, depth)).collect()))
            }
            _ => declares.then(|| self.object(schema, depth)),
        }
    }

    fn typed(&mut self, kind: &str, schema: &Map, depth: usize) -> String {
        match kind {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => string(schema),
            "integer" | "number" | "boolean" => kind.to_owned(),
            "null" => "\"null\"".to_owned(),
            _ => ANY.to_owned(),
        }
    }

    fn reference(&mut self, reference: &str, depth: usize) -> Option<String> {
        if let Some(name) = self.referred.get(reference) {
            return Some(name.clone());
        }
        let path = reference.strip_prefix("#/$defs/")?;
        let (key, pointer) = path.split_at(path.find('/').unwrap_or(path.len()));
        let target = self.definitions.get(key)?.pointer(pointer)?;
        let name = format!("d{}", self.referred.len());
        // The name is known before the rule is made, which may refer to itself.
        self.referred.insert(reference.to_owned(), name.clone());
        let body = self.expression(target, depth + 1);
        self.rule(&name, body);
        Some(name)
    }

    /// Returns the values that fit the schema of all others under `keyword`; `None` if it forbids others.
    fn others(&mut self, schema: &Map, keyword: &str, depth: usize) -> Option<String> {
        match schema.get(keyword) {
            Some(Value::Bool(false)) => None,
            Some(others) => Some(self.expression(others, depth + 1)),
            None => Some(ANY.to_owned()),
        }
    }

    /// Adds the rule of an object: members in the order of their declaration, the optional ones present or not.
    fn object(&mut self, schema: &Map, depth: usize) -> String {
        let required: Vec<&str> = required(schema).collect();
        let mut members: Vec<(String, bool)> = Vec::new();
        let declared = schema.get("properties").and_then(Value::as_object);
        for (key, member) in declared.into_iter().flatten() {
            let value = self.expression(member, depth + 1);
            let key_mark = literal(&format!("{}: ", quote(key)));
            members.push((format!("{key_mark} {value}"), required.contains(&key.as_str())));
        }
        let other = self.others(schema, "additionalProperties", depth);
        let other = other.map(|other| format!("string \": \" {other}"));
        // Required members that are not declared can only be among the others.
        let mut rest = other.as_ref().map_or(String::new(), |other| format!(" (\", \" {other})*"));
        let mut ways = Vec::from_iter(other.map(|other| format!("{other}{rest}")));
        ways.push("\"\"".to_owned());
        // From the last member to the first: `ways` are the members from here on with none before them, `rest` those
        // with some before.
        for (member, is_required) in members.iter().rev() {
            let way = format!("{member}{rest}");
            if *is_required {
                ways.clear();
                rest = format!(" \", \" {member}{rest}");
            } else {
                rest = format!(" (\", \" {member})?{rest}");
            }
            ways.insert(0, way);
            if 120 < rest.len() {
                rest = format!(" {}", self.named(rest));
            }
        }
        self.named(format!("\"{{\" {} \"}}\"", choice_of(ways)))
    }

    fn array(&mut self, schema: &Map, depth: usize) -> String {
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let first: Vec<String> = first.iter().map(|element| self.expression(element, depth + 1)).collect();
        let others = self.others(schema, "items", depth);
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems"));
        let behind_first = least.saturating_sub(1);
        if !first.is_empty() {
            // The later check covers the number of a tuple's elements.
            let others = others.map_or(String::new(), |other| format!("(\", \" {other})*"));
            let tuple = first.iter().rev().fold(others, |rest, element| match rest.as_str() {
                "" => element.clone(),
                rest if rest.starts_with("(\", \"") => format!("{element} {rest}"),
                rest => format!("{element} (\", \" {rest})?"),
            });
            return self.named(format!("\"[\" ({tuple})? \"]\""));
        }
        let Some(element) = others.filter(|_| most != Some(0)) else { return "\"[]\"".to_owned() };
        let more = match most {
            Some(most) => format!("{{{behind_first},{}}}", most.saturating_sub(1).max(behind_first)),
            None if behind_first == 0 => "*".to_owned(),
            None => format!("{{{behind_first},}}"),
        };
        let elements = format!("{element} (\", \" {element}){more}");
        let elements = if least == 0 { format!("({elements})?") } else { elements };
        self.named(format!("\"[\" {elements} \"]\""))
    }
}

/// The rule that any value fits.
const ANY: &str = "value";

/// The rules that all grammars share. Each part of a number has at most 40 digits, more than anyone means.
const COMMON: [(&str, &str); 9] = [
    ("value", "object | array | string | number | boolean | \"null\""),
    ("object", "\"{\" (string \": \" value (\", \" string \": \" value)*)? \"}\""),
    ("array", "\"[\" (value (\", \" value)*)? \"]\""),
    ("string", "\"\\\"\" char* \"\\\"\""),
    ("char", "[^\"\\\\\\x00-\\x1f\\x7f] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" hex hex hex hex)"),
    ("hex", "[0-9a-fA-F]"),
    ("integer", "\"-\"? (\"0\" | [1-9] [0-9]{0,39})"),
    ("number", "integer (\".\" [0-9]{1,40})? ([eE] [-+]? [0-9]{1,4})?"),
    ("boolean", "\"true\" | \"false\""),
];

fn string(schema: &Map) -> String {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength"));
    if least == 0 && most.is_none() {
        return "string".to_owned();
    }
    let most = most.map_or(String::new(), |most| most.max(least).to_string());
    format!("(\"\\\"\" char{{{least},{most}}} \"\\\"\")")
}

fn choice_of(mut ways: Vec<String>) -> String {
    ways.dedup();
    match <[String; 1]>::try_from(ways) {
        Ok([only]) => only,
        Err(ways) if ways.is_empty() => ANY.to_owned(),
        Err(ways) => format!("({})", ways.join(" | ")),
    }
}

/// Returns the expression of exactly this text.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a character as it stands in a class.
fn in_class(c: char) -> String {
    match c {
        '[' | ']' | '\\' | '"' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '^' | '-' => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    }
}

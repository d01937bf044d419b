//! Makes calls and texts at random, reads them, and counts what was right.

use callwright::prompt::{self, PromptDialect};
use callwright::value::{Map, Value};
use callwright::{Anchor, Context, Delta, Dialects, Outcome, Scanner};

use crate::common::question::Question;
use crate::common::{self, Outline, Random, pieces};
use crate::laws::pools::{Half, Language, Pools, Tool, fill};

/// A call as a model means it.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// What the strings of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strings {
    /// Words, paths and code in one line.
    Plain,
    /// Also marks, placeholders, lines, and the name of their own member.
    Any,
    /// Now and then what only stands for a value: `<path>`, `string`, the name of their own member.
    Slots,
}

/// How a JSON text is spelt; all ways say the same.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spelling {
    Compact,
    Spaced,
    Indented,
    /// Nothing but ASCII, and a backslash before each slash.
    Escaped,
    /// `{ "a" : 1 }`
    Wide,
}

/// The work of one law on one half.
pub(crate) struct Bench<'p> {
    pub(crate) pools: &'p Pools,
    /// Is it the half that judges?
    pub(crate) is_judge: bool,
    pub(crate) random: Random,
    pub(crate) context: Context<'static>,
    pub(crate) n_cases: usize,
    /// What was not as the law has it.
    pub(crate) faults: Vec<String>,
    /// What came out otherwise in pieces than as a whole.
    pub(crate) torn: Vec<String>,
    /// Takes each question in place of the engine, where only the texts are wanted: all of them, whatever `CALLWRIGHT_LAWS` says.
    pub(crate) taker: Option<&'p mut dyn FnMut(&Question<'_>)>,
}

impl<'p> Bench<'p> {
    pub(crate) fn new(half: Half, pools: &'p Pools) -> Bench<'p> {
        Bench {
            pools,
            is_judge: matches!(half, Half::Judge),
            random: Random(half.seed()),
            context: Context { dialects: Dialects::default(), ..Context::default() },
            n_cases: 0,
            faults: Vec::new(),
            torn: Vec::new(),
            taker: None,
        }
    }

    /// See [`common::rounds`].
    pub(crate) fn rounds(&self, usual: usize) -> usize {
        if self.taker.is_some() { usual } else { common::rounds(usual) }
    }

    /// See [`common::stride`].
    pub(crate) fn stride(&self) -> usize {
        if self.taker.is_some() { 1 } else { common::stride() }
    }

    /// Counts a case, with what is wrong with it.
    pub(crate) fn count(&mut self, what: &str, text: &str, found: Result<(), String>) {
        self.n_cases += 1;
        if let Err(why) = found {
            self.faults.push(format!("[{what}] {text:?}\n    => {why}"));
        }
    }

    /// A call of any tool.
    pub(crate) fn call(&mut self, strings: Strings) -> Made {
        let tool = self.random.pick(&self.pools.tools);
        self.call_of(tool, strings)
    }

    /// A call of `tool`.
    pub(crate) fn call_of(&mut self, tool: &Tool, strings: Strings) -> Made {
        Made { name: tool.name.clone(), arguments: self.value(&tool.schema(), "", strings) }
    }

    /// A value that fits `schema`, of the member `key`.
    fn value(&mut self, schema: &Value, key: &str, strings: Strings) -> Value {
        let of = |name: &str| schema.get(name).and_then(Value::as_array);
        if let Some(values) = of("enum").or(of("examples")) {
            return self.random.pick(values).clone();
        }
        let kind = match of("type") {
            Some(kinds) => self.random.pick(kinds).as_str(),
            None => schema.get("type").and_then(Value::as_str),
        };
        match kind.unwrap() {
            "string" => Value::from(self.string(key, strings)),
            "integer" => {
                let bound = |name: &str, or: i64| schema.get(name).and_then(Value::as_i64).unwrap_or(or);
                let (least, most) = (bound("minimum", -20), bound("maximum", 99_999));
                Value::from(least + i64::try_from(self.random.below((most - least) as usize + 1)).unwrap())
            }
            "number" => self.random.pick(&self.pools.numbers).parse().unwrap(),
            "boolean" => Value::from(self.random.below(2) == 0),
            "null" => Value::Null,
            "array" => {
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
                let items = schema.get("items").unwrap();
                let len = least + self.random.below(3);
                (0..len).map(|_| self.value(items, key, strings)).collect()
            }
            "object" => self.object(schema, strings),
            kind => unreachable!("{kind}"),
        }
    }

    fn object(&mut self, schema: &Value, strings: Strings) -> Value {
        let mut members = Map::new();
        if let Some(values) = schema.get("additionalProperties") {
            for _ in 0..self.random.below(3) {
                let key = self.random.pick(&self.pools.languages).word.clone();
                let value = self.value(values, &key, strings);
                members.insert(key, value);
            }
        }
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut keys: Vec<&String> = properties.into_iter().flat_map(Map::keys).collect();
        // In any order.
        for last in (1..keys.len()).rev() {
            keys.swap(last, self.random.below(last + 1));
        }
        for key in keys {
            if required.contains(&key.as_str()) || self.random.below(2) == 0 {
                let value = self.value(&schema["properties"][key.as_str()], key, strings);
                members.insert(key.clone(), value);
            }
        }
        Value::Object(members)
    }

    fn string(&mut self, key: &str, strings: Strings) -> String {
        let values = &self.pools.values;
        match (strings, self.random.below(16)) {
            (Strings::Any, 0) => key.to_owned(),
            (Strings::Any, 1..=9) => self.random.pick(&values.hard).clone(),
            (Strings::Slots, 0..=2) => key.to_owned(),
            (Strings::Slots, 3..=11) => self.random.pick(&values.slots).clone(),
            (Strings::Any | Strings::Plain | Strings::Slots, _) => self.random.pick(&values.plain).clone(),
        }
    }

    /// Has it marks of its own, that nothing else has?
    pub(crate) fn is_marked(&self, dialect: &PromptDialect) -> bool {
        self.context.dialects.get(dialect.name()).is_some_and(|own| own.anchor == Anchor::Distinct)
    }

    /// Begin its calls with a word or label of their own, which is no mark?
    pub(crate) fn is_labelled(&self, dialect: &PromptDialect) -> bool {
        ["phi4mini", "react", "tool_code"].contains(&&**dialect.name())
    }

    /// The call as a model of `dialect` writes it.
    pub(crate) fn spoken(&self, dialect: &PromptDialect, call: &Made) -> String {
        prompt::call(dialect, &self.pools.declared.set, &call.name, &call.arguments.to_string())
    }

    /// `template` with words of `language`, and `call` where a call stands.
    pub(crate) fn filled(&mut self, template: &str, language: &Language, call: &str) -> String {
        let random = &mut self.random;
        let halves = random.pick(&language.halves).clone();
        fill(template, |slot| {
            Some(match slot {
                "call" => call.to_owned(),
                "said" => random.pick(&language.said).clone(),
                "leads" => random.pick(&language.leads).clone(),
                "shows" => random.pick(&language.shows).clone(),
                "start" => halves[0].clone(),
                "end" => halves[1].clone(),
                "word" => language.word.clone(),
                _ => return None,
            })
        })
    }

    /// What comes of `text`. In pieces the same has to come of it.
    pub(crate) fn read(&mut self, text: &str, native: bool) -> Outcome {
        let context = Context { native, ..self.context.clone() };
        self.read_under(text, &context)
    }

    /// See [`Bench::read`].
    pub(crate) fn read_under(&mut self, text: &str, context: &Context<'_>) -> Outcome {
        let whole = self.read_whole(text, context);
        // The random numbers of what is taken do not depend on how long a text is.
        if self.taker.is_some() {
            return whole;
        }
        let pieces = pieces(&mut self.random, text);
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&self.pools.declared.set, context);
        for piece in &pieces {
            scanner.feed(Delta::Text(piece), &mut events);
        }
        let (last, outcome) = scanner.finish();
        events.extend(last);
        let outline = Outline::of(&outcome);
        let expected = Outline::of(&whole);
        if outline != expected || Outline::of_events(&events) != expected {
            self.torn
                .push(format!("{pieces:?}, native: {}\n    {outline:?}\n    {expected:?}", context.native));
        }
        whole
    }

    /// What comes of `text` as a whole, which costs one reading.
    pub(crate) fn read_whole(&mut self, text: &str, context: &Context<'_>) -> Outcome {
        self.ask(text, None, context)
    }

    /// What comes of a native call.
    pub(crate) fn read_native(&mut self, name: &str, arguments: &str, context: &Context<'_>) -> Outcome {
        self.ask("", Some((name, arguments)), context)
    }

    fn ask(&mut self, text: &str, native: Option<(&str, &str)>, context: &Context<'_>) -> Outcome {
        let own: Vec<&str> = context.dialects.own().map(|dialect| &*dialect.name).collect();
        let tools = &self.pools.declared;
        let question = Question { tools, apart: "", text, native, context, dialects: &own.join(" ") };
        match &mut self.taker {
            None => question.whole(),
            Some(take) => {
                take(&question);
                Outcome::default()
            }
        }
    }
}

/// Is `outcome` this one call, and no other verdict?
pub(crate) fn is_call(outcome: &Outcome, made: &Made) -> Result<(), String> {
    let [call] = &outcome.calls().collect::<Vec<_>>()[..] else { return Err(told(outcome)) };
    let is_right = outcome.verdicts.len() == 1 && call.name == made.name && call.to_value() == made.arguments;
    if is_right { Ok(()) } else { Err(told(outcome)) }
}

/// What an outcome says, for people.
pub(crate) fn told(outcome: &Outcome) -> String {
    let outline = Outline::of(outcome);
    format!("{:?} {:?}", outline.verdicts, outline.text)
}

impl Spelling {
    pub(crate) const ALL: [Spelling; 5] =
        [Spelling::Compact, Spelling::Spaced, Spelling::Indented, Spelling::Escaped, Spelling::Wide];

    pub(crate) fn spell(self, value: &Value) -> String {
        let mut text = String::new();
        self.write(value, 0, &mut text);
        text
    }

    fn write(self, value: &Value, depth: usize, out: &mut String) {
        match value {
            Value::Object(members) => {
                let (open, comma, close) = self.around(members.is_empty(), depth);
                out.push('{');
                for (n, (key, value)) in members.iter().enumerate() {
                    out.push_str(if n == 0 { &open } else { &comma });
                    self.write_string(key, out);
                    out.push_str(match self {
                        Spelling::Compact => ":",
                        Spelling::Spaced | Spelling::Indented | Spelling::Escaped => ": ",
                        Spelling::Wide => " : ",
                    });
                    self.write(value, depth + 1, out);
                }
                out.push_str(&close);
                out.push('}');
            }
            Value::Array(elements) => {
                let (open, comma, close) = self.around(elements.is_empty(), depth);
                out.push('[');
                for (n, element) in elements.iter().enumerate() {
                    out.push_str(if n == 0 { &open } else { &comma });
                    self.write(element, depth + 1, out);
                }
                out.push_str(&close);
                out.push(']');
            }
            Value::String(text) => self.write_string(text, out),
            Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        }
    }

    /// What stands behind the opening bracket, between members, and before the closing bracket.
    fn around(self, is_empty: bool, depth: usize) -> (String, String, String) {
        let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
        match self {
            _ if is_empty => Default::default(),
            Spelling::Compact => (String::new(), ",".to_owned(), String::new()),
            Spelling::Spaced | Spelling::Escaped => (String::new(), ", ".to_owned(), String::new()),
            Spelling::Indented => (line(depth + 1), format!(",{}", line(depth + 1)), line(depth)),
            Spelling::Wide => (" ".to_owned(), " , ".to_owned(), " ".to_owned()),
        }
    }

    fn write_string(self, text: &str, out: &mut String) {
        let text = Value::from(text).to_string();
        match self {
            Spelling::Escaped => {
                let mut units = [0; 2];
                for c in text.chars() {
                    match c {
                        '/' => out.push_str("\\/"),
                        _ if c.is_ascii() => out.push(c),
                        _ => c
                            .encode_utf16(&mut units)
                            .iter()
                            .for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
                    }
                }
            }
            Spelling::Compact | Spelling::Spaced | Spelling::Indented | Spelling::Wide => out.push_str(&text),
        }
    }
}

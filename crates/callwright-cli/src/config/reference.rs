//! The reference of the configuration, `docs/reference.md`, and its JSON schema, `docs/callwright.schema.json`. What a key
//! takes is recorded while the code reads the sample, `examples/callwright.toml`, with all its lines switched on; what a
//! key is for, and its default, the sample says. So a key that the sample does not have fails here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use callwright::{CallsInReasoning, Policy};
use serde::Deserialize;
use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, json};
use toml::{Table, Value};

use super::settings::{FORMER, Settings};

const SAMPLE: &str = include_str!("../../../../examples/callwright.toml");

/// Set, it writes the two files instead of comparing them.
const WRITE: &str = "CALLWRIGHT_WRITE_REFERENCE";

/// Keys that the sample leaves out: how a dialect is written and spoken is the subject of `docs/dialects.md`.
const ELSEWHERE: [&str; 2] = ["dialect[].calls", "dialect[].speech"];

/// Keys of the records that are built in: a caller's own is refused with them.
const BUILT_IN: [&str; 3] = ["dialect[].labels", "dialect[].sign", "dialect[].words"];

/// Keys that are read as text, and take only these words.
const WORDS: [(&str, &[&str]); 2] = [
    ("policy", &["auto", "heal", "feedback", "strict"]),
    ("calls_in_reasoning", &["ignore", "unclosed", "accept"]),
];

/// The values that a key takes.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Flag,
    Count,
    Number,
    OneOf(&'static [&'static str]),
    List,
    /// A table whose keys are the user's.
    Names,
    /// A table whose keys are these.
    Keys(&'static [&'static str]),
    Any,
}

/// The shapes by path: `ladder.reasks`, `upstreams[].name`, `mcp.*.command`.
type Shapes = BTreeMap<String, Shape>;

/// The sample's words about a key or a section.
struct Entry {
    path: String,
    about: String,
    /// As it is written; empty for a section.
    value: String,
    default: Default,
}

/// The value that holds where a key is not written.
enum Default {
    /// This value, as it is written.
    Value(String),
    /// Something that its text tells, or nothing.
    Untold,
    /// Without the key its section cannot be read.
    Required,
}

#[test]
fn the_sample_changes_nothing() {
    let settings: Settings = toml::from_str(SAMPLE).unwrap();
    assert_eq!(format!("{settings:#?}"), format!("{:#?}", Settings::default()));
}

#[test]
fn the_sample_has_every_key() {
    let (shapes, entries) = (shapes(), entries());
    let mut missing = Vec::new();
    for (path, shape) in &shapes {
        let Shape::Keys(keys) = shape else { continue };
        let written = path.trim_end_matches("[]");
        let is_inline = entries.iter().any(|entry| entry.path == written && !entry.value.is_empty());
        let children = current(path, keys).map(|key| joined(path, key));
        missing.extend(children.filter(|child| {
            let is_there = if is_inline { shapes.contains_key(child) } else { described(&entries, child) };
            !is_there && !ELSEWHERE.contains(&child.as_str())
        }));
    }
    assert_eq!(missing, Vec::<String>::new(), "keys without a line in examples/callwright.toml");
}

#[test]
fn each_key_says_what_it_is_for() {
    let silent = entries().into_iter().filter(|entry| entry.about.is_empty());
    assert_eq!(silent.map(|entry| entry.path).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn words_are_those_that_the_code_takes() {
    let is_word = |key: &str, word: &str| match key {
        "policy" => Policy::named(word).is_some(),
        _ => CallsInReasoning::named(word).is_some(),
    };
    for (key, words) in WORDS {
        assert!(words.iter().all(|word| is_word(key, word)), "{key}");
    }
}

#[test]
fn the_reference_is_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let (shapes, entries) = (shapes(), entries());
    let mut schema = schema("", &shapes, &entries);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Callwright's configuration");
    let schema = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
    for (name, text) in [("reference.md", page(&shapes, &entries)), ("callwright.schema.json", schema)] {
        let file = docs.join(name);
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&file, text).unwrap();
        } else {
            let is_current = std::fs::read_to_string(&file).unwrap_or_default() == text;
            assert!(is_current, "docs/{name} is out of date: cargo xtask reference");
        }
    }
}

impl Entry {
    fn section(path: &str, about: String) -> Entry {
        Entry { path: path.to_owned(), about, value: String::new(), default: Default::Untold }
    }
}

fn described(entries: &[Entry], path: &str) -> bool {
    // A section of a list or of named tables has an entry of its own path.
    let section = [String::new(), "[]".into(), ".*".into()].map(|end| format!("{path}{end}"));
    entries.iter().any(|entry| section.contains(&entry.path))
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The sample with all its lines switched on.
fn all_on() -> Table {
    let is_off = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
    let lines = SAMPLE.lines().map(|line| if is_off(line) { &line[1..] } else { line });
    toml::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
}

/// The keys of a table without those of earlier versions.
fn current<'k>(path: &'k str, keys: &'k [&'static str]) -> impl Iterator<Item = &'static str> + 'k {
    let is_former = move |key: &str| FORMER.iter().any(|(former, _)| *former == joined(path, key));
    keys.iter().copied().filter(move |key| !is_former(key) && !BUILT_IN.contains(&&*joined(path, key)))
}

/// Reads the sample, all on, and records what each key is read as.
fn shapes() -> Shapes {
    let shapes = RefCell::default();
    let recorder = Recorder { value: Value::Table(all_on()), path: String::new(), shapes: &shapes };
    Settings::deserialize(recorder).unwrap();
    shapes.into_inner()
}

fn entries() -> Vec<Entry> {
    let shapes = shapes();
    let mut entries = Vec::new();
    let (mut section, mut about) = (String::new(), Vec::new());
    for line in SAMPLE.lines() {
        if let Some(text) = line.strip_prefix("# ") {
            about.push(text.trim());
            continue;
        }
        let is_on = !line.starts_with('#');
        let line = line.trim_start_matches('#');
        let said = about.join(" ");
        about.clear();
        if let Some(name) = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]")) {
            section = format!("{name}[]");
            entries.push(Entry::section(&section, said));
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.split_once('.').map_or(name.to_owned(), |(table, _)| format!("{table}.*"));
            entries.push(Entry::section(&section, said));
        } else if let Some((key, value)) = line.split_once(" = ") {
            let path = joined(&section, key);
            let value = value.to_owned();
            let default =
                if is_on { Default::Value(value.clone()) } else { without(&path, &value, shapes.get(&path)) };
            entries.push(Entry { path, about: said, value, default });
        }
    }
    entries
}

/// Returns the value that holds without the key: the sample's value, or one of the words that it takes, if the sample means the
/// same with that as without the line.
fn without(path: &str, value: &str, shape: Option<&Shape>) -> Default {
    let read = |value: Option<&str>| {
        let mut table = all_on();
        let value = value.map(|value| toml::from_str::<Table>(&format!("value = {value}")).unwrap());
        put(&mut table, path, value.and_then(|mut table| table.remove("value")));
        Settings::deserialize(Value::Table(table)).map(|read| format!("{read:?}"))
    };
    let Ok(less) = read(None) else { return Default::Required };
    let words = match shape {
        Some(Shape::OneOf(words)) => words.iter().map(|word| format!("{word:?}")).collect(),
        Some(Shape::Flag) => vec!["true".to_owned(), "false".to_owned()],
        _ => Vec::new(),
    };
    let mut values = std::iter::once(value.to_owned()).chain(words);
    let found = values.find(|value| read(Some(value)).is_ok_and(|read| read == less));
    found.map_or(Default::Untold, Default::Value)
}

/// Sets what stands at `path`, or takes it away.
fn put(table: &mut Table, path: &str, value: Option<Value>) {
    let steps: Vec<&str> = path.split('.').collect();
    let (key, sections) = steps.split_last().unwrap();
    let mut at = table;
    for section in sections {
        let inner = match section.strip_suffix("[]") {
            // `[mcp.NAME]`: the sample has one.
            None if *section == "*" => at.iter_mut().next().map(|(_, value)| value),
            Some(list) => at.get_mut(list).and_then(|list| list.get_mut(0)),
            None => at.get_mut(*section),
        };
        at = inner.and_then(Value::as_table_mut).unwrap();
    }
    match value {
        Some(value) => at.insert((*key).to_owned(), value),
        None => at.remove(*key),
    };
}

/// The schema of what stands at `path`.
fn schema(path: &str, shapes: &Shapes, entries: &[Entry]) -> serde_json::Value {
    let shape = shapes.get(path).copied().unwrap_or(Shape::Any);
    let mut schema = match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Count => json!({"type": "integer", "minimum": 0}),
        Shape::Number => json!({"type": "number"}),
        Shape::OneOf(words) => json!({"enum": words}),
        Shape::List => json!({"type": "array", "items": schema(&format!("{path}[]"), shapes, entries)}),
        Shape::Names => {
            let each = schema(&format!("{path}.*"), shapes, entries);
            json!({"type": "object", "additionalProperties": each})
        }
        Shape::Keys(keys) => {
            let each = |key: &str| (key.to_owned(), schema(&joined(path, key), shapes, entries));
            let properties: Map<String, serde_json::Value> = current(path, keys).map(each).collect();
            json!({"type": "object", "properties": properties, "additionalProperties": false})
        }
        Shape::Any => json!({}),
    };
    if let Some(entry) = entries.iter().find(|entry| !path.is_empty() && entry.path == path) {
        schema["description"] = json!(entry.about);
        if let Default::Value(value) = &entry.default {
            let table: Table = toml::from_str(&format!("value = {value}")).unwrap();
            schema["default"] = serde_json::to_value(&table["value"]).unwrap();
        }
    }
    schema
}

/// The page: a table for each section.
fn page(shapes: &Shapes, entries: &[Entry]) -> String {
    let mut page = String::from(
        "# Configuration reference\n\nThis page is made from the code and from the sample, \
        [`examples/callwright.toml`](https://github.com/callwright/callwright/blob/main/examples/callwright.toml); \
        `cargo xtask reference` writes it anew. [Configuration](configuration.md) says which file is read and what goes \
        first. Editors complete keys and values with the schema [`callwright.schema.json`](callwright.schema.json): \
        the first line `#:schema URL` names it.\n\nKeys outside of lists are also flags, `--set server.workers=2`, and \
        variables, `CALLWRIGHT_SERVER_WORKERS=2`.\n\n## Top level\n\n",
    );
    page.push_str(HEAD);
    for entry in entries {
        if entry.value.is_empty() {
            let name = &entry.path;
            let title = match (name.strip_suffix("[]"), name.strip_suffix(".*")) {
                (Some(list), _) => format!("[[{list}]]"),
                (_, Some(table)) => format!("[{table}.NAME]"),
                _ => format!("[{name}]"),
            };
            let _ = write!(page, "\n## `{title}`\n\n{}\n\n{HEAD}", entry.about);
            continue;
        }
        let key = entry.path.rsplit(['.', ']']).next().unwrap_or_default();
        let default = match &entry.default {
            Default::Value(value) => format!("`{value}`"),
            Default::Untold => "not set".to_owned(),
            Default::Required => "required".to_owned(),
        };
        let is_example = default.trim_matches('`') != entry.value;
        let example = if is_example { format!(" Example: `{}`", entry.value) } else { String::new() };
        let cells = [format!("`{key}`"), takes(&entry.path, shapes), default, entry.about.clone() + &example];
        let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    page
}

const HEAD: &str = "| key | takes | default | |\n|---|---|---|---|\n";

/// Tells in words what a key takes.
fn takes(path: &str, shapes: &Shapes) -> String {
    match shapes.get(path).copied().unwrap_or(Shape::Any) {
        Shape::Text => "text".into(),
        Shape::Flag => "true or false".into(),
        Shape::Count => "whole number".into(),
        Shape::Number => "number".into(),
        Shape::OneOf(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::List => format!("list: {}", takes(&format!("{path}[]"), shapes)),
        Shape::Names => format!("table: {}", takes(&format!("{path}.*"), shapes)),
        Shape::Keys(keys) => {
            let each = |key: &&str| format!("`{key}`: {}", takes(&joined(path, key), shapes));
            keys.iter().map(each).collect::<Vec<_>>().join("; ")
        }
        Shape::Any => "text, or a list of texts".into(),
    }
}

/// Hands out a value, and records what it is read as.
struct Recorder<'a> {
    value: Value,
    path: String,
    shapes: &'a RefCell<Shapes>,
}

impl<'a> Recorder<'a> {
    fn record(&self, shape: Shape) {
        let key = self.path.rsplit('.').next().unwrap_or_default();
        let words = WORDS.iter().find(|(name, _)| *name == key);
        let shape = words.map_or(shape, |(_, words)| Shape::OneOf(words));
        self.shapes.borrow_mut().insert(self.path.clone(), shape);
    }

    fn child(&self, path: String, value: Value) -> Recorder<'a> {
        Recorder { value, path, shapes: self.shapes }
    }

    /// Reads a table whose members stand at `member(key)`.
    fn table<'de, V: Visitor<'de>>(
        self,
        visitor: V,
        member: impl Fn(&str) -> String,
    ) -> Result<V::Value, toml::de::Error> {
        let Value::Table(table) = self.value.clone() else { return self.value.deserialize_any(visitor) };
        let members = table.into_iter().map(|(key, value)| (key.clone(), self.child(member(&key), value)));
        let members: Vec<_> = members.collect();
        visitor.visit_map(Members { rest: members.into_iter(), next: None })
    }
}

macro_rules! recorded {
    ($($method:ident $shape:expr),* $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            self.record($shape);
            self.value.$method(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Recorder<'_> {
    type Error = toml::de::Error;

    recorded! {
        deserialize_any Shape::Any,
        deserialize_bool Shape::Flag,
        deserialize_u32 Shape::Count,
        deserialize_u64 Shape::Count,
        deserialize_f64 Shape::Number,
        deserialize_str Shape::Text,
        deserialize_string Shape::Text,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.record(Shape::List);
        let Value::Array(values) = self.value.clone() else { return self.value.deserialize_seq(visitor) };
        let path = format!("{}[]", self.path);
        let elements: Vec<_> = values.into_iter().map(|value| self.child(path.clone(), value)).collect();
        visitor.visit_seq(Elements(elements.into_iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.record(Shape::Names);
        let path = self.path.clone();
        self.table(visitor, |_| format!("{path}.*"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.record(Shape::Keys(fields));
        let path = self.path.clone();
        self.table(visitor, |key| joined(&path, key))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.record(Shape::OneOf(variants));
        self.value.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct
        identifier ignored_any
    }
}

struct Elements<'a>(std::vec::IntoIter<Recorder<'a>>);

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = toml::de::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        self.0.next().map(|element| seed.deserialize(element)).transpose()
    }
}

struct Members<'a> {
    rest: std::vec::IntoIter<(String, Recorder<'a>)>,
    next: Option<Recorder<'a>>,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = toml::de::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.next = Some(value);
        let key: StringDeserializer<Self::Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let value =
            self.next.take().ok_or_else(|| serde::de::Error::custom("a value comes behind its key"))?;
        seed.deserialize(value)
    }
}

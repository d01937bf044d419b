//! What is certain of a text while it is written: the value of the whole text only adds to it.

use callwright::value::Value;
use callwright::{CallDelta, Delta, Event, Growing, Partial, Scanner, Schema, Verdict, heal, json, partial};
use callwright_json::AnyValue;

use crate::broken_texts::broken_texts;
use crate::common::question::Question;
use crate::common::{Random, pieces, rounds, times};
use crate::differential::each_question;
use crate::heal_corpus;
use crate::live::WORDS;

/// What long strings are made of, besides the words of live calls.
const MORE_WORDS: [&str; 2] = ["it's", "\n    "];
/// What breaks a text when it is put in.
const PIECES: [&str; 22] = [
    "\"", "\"", "\\", "\\\"", "}", "{", "]", ",", ":", "\n", "'", "\\u", "x", " ", "\"}", "```", "// c\n",
    "True", "}, ", "],", "\"a\": 1", "...",
];

fn schemas() -> Vec<Schema> {
    let step = |kind: &str, more: Value| {
        let mut members = json!({"kind": {"const": kind}});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "object", "properties": members, "required": ["kind"]})
    };
    let schemas = [
        json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "content": {"type": "string"}, "n": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}}, "mode": {"enum": ["w", "a"]}, "ok": {"type": "boolean"}}}),
        json!({"type": "object", "required": ["title", "steps"], "additionalProperties": false, "properties": {
            "title": {"type": "string"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "steps": {"type": "array", "items": {"anyOf": [step("a", json!({"x": {"type": "string"}})), step("b", json!({"y": {"type": "integer"}}))]}},
            "meta": {"type": "object", "additionalProperties": {"type": "string"}}}}),
        json!({"type": "array", "items": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "integer"}, "name": {"type": "string", "maxLength": 40}, "price": {"type": "number"}}}}),
    ];
    schemas.iter().map(|schema| Schema::compile(schema).unwrap()).collect()
}

fn word(random: &mut Random) -> &'static str {
    let n = random.below(WORDS.len() + MORE_WORDS.len());
    WORDS.iter().chain(&MORE_WORDS).nth(n).unwrap()
}

fn string(random: &mut Random) -> Value {
    let most = *random.pick(&[1, 2, 4, 10]);
    Value::from((0..random.below(most)).map(|_| word(random)).collect::<String>())
}

/// A value that is nearly one for a schema: a few members are of another type, or not declared.
fn value(random: &mut Random, of: usize) -> Value {
    let mut members = callwright::value::Map::new();
    let mut add = |name: &str, value: Value| drop(members.insert(name.into(), value));
    match of {
        0 => {
            add("path", string(random));
            add("content", string(random));
            let number = random.pick(&[json!(1), json!("3"), json!(null), json!(300)]).clone();
            let more =
                [("n", number), ("tags", json!([string(random), string(random)])), ("mode", json!("w"))];
            for (name, value) in more {
                if random.below(2) == 0 {
                    add(name, value);
                }
            }
            if random.below(4) == 0 {
                add("other", json!({"a": string(random)}));
            }
        }
        1 => {
            add("title", string(random));
            let step = [json!({"kind": "a", "x": string(random)}), json!({"y": 3, "kind": "b"})];
            add("steps", Value::Array((0..random.below(3)).map(|_| random.pick(&step).clone()).collect()));
            add("meta", json!({"k": string(random), "l": 1}));
            add("note", if random.below(2) == 0 { json!(null) } else { string(random) });
        }
        _ => {
            let item = |random: &mut Random| {
                let id = random.pick(&[json!(1), json!("2")]).clone();
                json!({"id": id, "name": string(random), "price": 2.5})
            };
            return Value::Array((0..random.below(3)).map(|_| item(random)).collect());
        }
    }
    Value::Object(members)
}

/// A text of such a value: as it is, between other quotes, with raw breaks and quotes, in a fence, below words, broken.
fn text(random: &mut Random, of: usize) -> String {
    let strict = value(random, of).to_string();
    let mut text = match random.below(7) {
        0 => strict.replace("\\n", "\n"),
        1 => strict.replace("\\\"", "\""),
        2 => strict.replace("\\\\", "\\"),
        3 => strict.replace('\'', " ").replace("\\\"", "'").replace('"', "'"),
        4 => strict.replace(",\"", ",\n  \"").replace(":true", ": True"),
        _ => strict,
    };
    for _ in 0..*random.pick(&[0, 0, 1, 1, 2]) {
        let mut chars: Vec<char> = text.chars().collect();
        let at = random.below(chars.len() + 1);
        match random.below(5) {
            0 => chars.truncate(at),
            1 | 2 if at < chars.len() => drop(chars.remove(at)),
            _ => drop(chars.splice(at..at, random.pick(&PIECES).chars())),
        }
        text = chars.into_iter().collect();
    }
    match random.below(10) {
        0 => format!("```json\n{text}\n```"),
        1 => format!("Here it is:\n{text}"),
        2 => format!("See [1] and {{x}}: {text}\nDone."),
        _ => text,
    }
}

/// Returns why `part` is more than a beginning of `whole`.
fn contradiction(part: &Value, whole: &Value, complete: &[String], at: &str) -> Option<String> {
    if complete.iter().any(|one| one == at) {
        return (part != whole).then(|| format!("{at} is complete as {part}, and is {whole}"));
    }
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().find_map(|(key, value)| {
            let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            let Some(other) = whole.get(key) else { return Some(format!("{at} is not there")) };
            contradiction(value, other, complete, &at)
        }),
        (Value::Array(part), Value::Array(whole)) if part.len() <= whole.len() => {
            let pairs = part.iter().zip(whole.iter()).enumerate();
            pairs
                .into_iter()
                .find_map(|(n, (value, other))| contradiction(value, other, complete, &format!("{at}/{n}")))
        }
        (Value::String(part), Value::String(whole)) if whole.starts_with(part.as_str()) => None,
        _ => (part != whole).then(|| format!("{at} is {part}, and {whole}")),
    }
}

/// Holds each prefix of `text` against the whole of it. Returns the number of prefixes.
fn check(text: &str, schema: Option<&Schema>) -> Result<usize, String> {
    let Ok(healed) = heal(text, schema, None) else { return Ok(0) };
    // Of a repeated key without a schema, JSON does not say which value counts.
    if healed.value().conflict().is_some() {
        return Ok(0);
    }
    let Ok(whole) = healed.text.parse::<Value>() else { return Ok(0) };
    let mut growing = Growing::default();
    let mut longest = 0;
    for (at, letter) in text.char_indices() {
        let beginning = &text[..at + letter.len_utf8()];
        match schema {
            Some(schema) => growing.advance(beginning, schema.guide()),
            None => growing.advance(beginning, &AnyValue),
        }
        let so_far = growing.partial();
        let told = |why: String| format!("{text:?} up to {at}: {why}");
        if so_far.text().len() < longest {
            return Err(told(format!("it shrinks to {}", so_far.text())));
        }
        longest = so_far.text().trim_end_matches(['"', '}', ']']).len();
        if so_far.text().is_empty() {
            continue;
        }
        let value =
            so_far.text().parse::<Value>().map_err(|_| told(format!("no JSON: {}", so_far.text())))?;
        if let Some(why) = contradiction(&value, &whole, &so_far.complete(), "") {
            return Err(told(why));
        }
        if letter == '"' {
            let at_once = partial(&text[..at + 1], schema, None);
            assert_eq!((at_once.text(), at_once.complete()), (so_far.text(), so_far.complete()), "{text:?}");
        }
    }
    Ok(text.chars().count())
}

fn law(seed: u64) {
    let mut random = Random(seed);
    let schemas = schemas();
    let (mut prefixes, mut wrong) = (0, Vec::new());
    for _ in 0..rounds(1500) {
        let of = random.below(schemas.len());
        let text = text(&mut random, of);
        for schema in [None, schemas.get(of)] {
            match check(&text, schema) {
                Ok(n) => prefixes += n,
                Err(why) => wrong.push(why),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {prefixes} prefixes: {}", wrong.len(), wrong.join("\n"));
    assert!(50.0 * rounds(1500) as f64 <= prefixes as f64, "only {prefixes} prefixes were read");
}

#[test]
fn no_beginning_contradicts_its_whole() {
    law(1);
}

#[test]
fn no_beginning_contradicts_its_whole_on_the_seed_that_judges() {
    law(0x9a7);
}

#[test]
fn no_beginning_of_a_recorded_text_contradicts_its_whole() {
    let mut wrong = Vec::new();
    let schema = Schema::compile(&json!({"type": "object"})).unwrap();
    heal_corpus::each_question(|question| {
        let Some((_, input)) = question.native else { return };
        let tool = question.tools.set.iter().next().unwrap();
        for schema in [None, Some(tool.schema()), Some(&schema)] {
            wrong.extend(check(input, schema).err());
        }
    });
    for text in broken_texts(400) {
        wrong.extend(check(&text, None).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asks for the call that is written behind each piece of a text: what is told of it and of the verdict of its number.
fn called(question: &Question<'_>, random: &mut Random) -> (usize, Vec<String>) {
    let mut events = Vec::new();
    let mut told = Vec::new();
    let mut scanner = Scanner::new(&question.tools.set, question.context);
    if let Some((name, arguments)) = question.native {
        let call = |name, arguments| Delta::ToolCall(CallDelta { index: Some(0), id: None, name, arguments });
        scanner.feed(call(Some(name), None), &mut events);
        for piece in pieces(random, arguments) {
            scanner.feed(call(None, Some(piece)), &mut events);
            told.extend(scanner.partial().map(|call| (0, call)));
        }
    }
    if !question.apart.is_empty() {
        scanner.feed(Delta::Reasoning(question.apart), &mut events);
    }
    let is_verdict = |event: &&Event| matches!(event, Event::Call(_));
    for piece in pieces(random, question.text) {
        scanner.feed(Delta::Text(piece), &mut events);
        let number = events.iter().filter(is_verdict).count();
        told.extend(scanner.partial().filter(|_| question.native.is_none()).map(|call| (number, call)));
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let verdicts: Vec<&Verdict> = events
        .iter()
        .filter_map(|event| if let Event::Call(verdict) = event { Some(verdict) } else { None })
        .collect();
    assert_eq!(verdicts.len(), outcome.verdicts.len());
    let wrong = told.iter().filter_map(|(number, call)| {
        let value = call.arguments.value()?.raw().parse::<Value>().ok()?;
        // Verdicts wait for the end of their section: the call is the next one, or a later one. It may be refused, or
        // come to words.
        let later = verdicts.iter().skip(*number).filter_map(|verdict| match verdict {
            Verdict::Accepted(accepted) if accepted.name == call.name => Some(accepted),
            Verdict::Accepted(_) | Verdict::Refused(_) => None,
        });
        let why: Vec<Option<String>> = later
            .map(|accepted| {
                let whole = accepted.arguments.parse::<Value>().unwrap();
                contradiction(&value, &whole, &call.arguments.complete(), "")
            })
            .collect();
        let first = why.first()?.clone()?;
        let is_wrong = verdicts.len() == number + why.len() && why.iter().all(Option::is_some);
        is_wrong.then(|| format!("{:?} {:?}: {} {value}: {first}", question.text, question.native, call.name))
    });
    (told.len(), wrong.take(1).collect())
}

/// Each text that the engine is compared by, of all dialects.
#[test]
fn no_beginning_of_a_call_contradicts_it() {
    const ONE_IN: usize = 24;
    let mut random = Random(1);
    let (mut n, mut count, mut wrong) = (0, 0, Vec::new());
    let stride = ((ONE_IN as f64 / times()).round() as usize).max(1);
    each_question(&mut |question| {
        n += 1;
        if n % stride == 0 {
            let (told, why) = called(question, &mut random);
            count += told;
            wrong.extend(why);
        }
    });
    assert!(wrong.is_empty(), "{} of {count} calls: {}", wrong.len(), wrong.join("\n"));
    assert!(5_000 < count * stride, "only {count} calls were told");
}

/// What a text shows on its way, for a schema where there is one.
#[test]
fn what_is_certain_shows_at_once() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {
        "a": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}},
        "mode": {"enum": ["w", "a"]}, "in": {"type": "object", "properties": {"b": {"type": "string"}}}}}))
    .unwrap();
    for (text, value, complete) in [
        // A string shows while it is written, but not what may end it.
        (r#"{"a": "hel"#, r#"{"a":"hel"}"#, &[][..]),
        (r#"{"a": "hel, }"#, r#"{"a":"hel"}"#, &[]),
        (r#"{"a": "hel, } lo"#, r#"{"a":"hel, } lo"}"#, &[]),
        // An escape shows once it is whole, and layout that may be of a path once something else tells.
        (r#"{"a": "x\u00"#, r#"{"a":"x"}"#, &[]),
        (r#"{"a": "x\nC"#, r#"{"a":"x"}"#, &[]),
        (r#"{"a": "x\nC \"q"#, r#"{"a":"x\nC \"q"}"#, &[]),
        // A value is complete once the next key shows it.
        (r#"{"a": "x","#, r#"{"a":"x"}"#, &[]),
        (r#"{"a": "x", "n"#, r#"{"a":"x"}"#, &[]),
        (r#"{"a": "x", "n":"#, r#"{"a":"x"}"#, &["/a"]),
        (r#"{"a": "x", "n": 12"#, r#"{"a":"x"}"#, &["/a"]),
        (r#"{"n": 12}"#, r#"{"n":12}"#, &["/n"]),
        (r#"{"in": {"b": "x"}, "n":"#, r#"{"in":{"b":"x"}}"#, &["/in"]),
        (r#"{"list": ["x", "y", "z"#, r#"{"list":["x","y"]}"#, &["/list/0", "/list/1"]),
        // What does not fit is left out, and its object is not complete.
        (r#"{"in": {"b": 5}, "n": "3", "mode": "q", "other": 1, "a": "x"#, r#"{"in":{},"a":"x"}"#, &[]),
        (r#"{"mode": "w", "a": "#, r#"{"mode":"w"}"#, &["/mode"]),
        // Other spellings, a fence, and words above.
        ("{'a': 'x', n: 3, ", r#"{"a":"x"}"#, &["/a"]),
        ("```json\n{\"a\": \"x", r#"{"a":"x"}"#, &[]),
        ("Here it is:\n{\"a\": \"x", r#"{"a":"x"}"#, &[]),
        ("Here it is: {\"a\": \"x", "", &[]),
        ("[{\"a\": \"x", "", &[]),
        // What is out of order, and all behind it, waits for the whole reader.
        (r#"{"a": "x "y" z", "n": 1"#, r#"{"a":"x"}"#, &[]),
        ("x", "", &[]),
        ("", "", &[]),
    ] {
        let so_far = partial(text, Some(&schema), None);
        assert_eq!((so_far.text(), &*so_far.complete()), (value, &*owned(complete)), "{text}");
    }
    let whole = partial(r#"{"a": "x "y" z", "n": "1"}"#, Some(&schema), Some("stop"));
    assert_eq!((whole.text(), whole.complete()), (r#"{"a": "x \"y\" z", "n": 1}"#, owned(&[""])));
    assert_eq!(Partial::default().complete(), owned(&[]));
}

#[test]
fn a_value_that_its_text_does_not_end_says_so() {
    for (text, is_open) in [
        (r#"{"a": "x""#, true),
        (r#"{"a": ["x" "#, true),
        (r#"{"a": "x"}"#, false),
        (r#"{'a': ["x"}"#, false),
        ("```json\n{'a': 1}\n```", false),
    ] {
        let schema = Schema::compile(&json!({"type": "object"})).unwrap();
        for schema in [None, Some(&schema)] {
            assert_eq!(heal(text, schema, None).unwrap().open_end, is_open, "{text}");
        }
    }
}

fn owned(pointers: &[&str]) -> Vec<String> {
    pointers.iter().map(|pointer| (*pointer).to_owned()).collect()
}

//! `callwright heal`: broken JSON in, strict JSON out, or the reason why not.

use std::io;

use callwright::{Compiled, HealReport, Schema};
use callwright_json::{Kind, strict};

use crate::args::HealArgs;
use crate::draw::Pen;
use crate::failure::Failure;
use crate::jsonl::{self, Answer};
use crate::view::{HealLine, Raw, json};
use crate::{door, input, output};

pub(crate) fn run(args: &HealArgs, pen: Pen) -> Result<(), Failure> {
    if args.lines.jsonl {
        let schemas = Compiled::new(door::schema);
        let mut from = input::lines(&args.file)?;
        return jsonl::run(&mut *from, &mut io::stdout(), &args.lines, &|line| answer(line, &schemas));
    }
    let schema = args.schema.as_deref().map(door::schema_of).transpose()?;
    let text = input::text(&args.file)?;
    let healed = door::heal(&text, schema.as_ref(), args.finish_reason.as_deref());
    let drawn = || pen.healing(&text, healed.as_ref(), &args.file.display().to_string());
    let result = match &healed {
        _ if args.json => Some(json(&HealReport::of(&healed, &text))),
        Ok(healed) => Some(healed.text.clone()),
        Err(_) => None,
    };
    output::write(args.json, result.as_deref(), drawn)?;
    if healed.is_ok() { Ok(()) } else { Err(Failure::Refused) }
}

/// Answers one line `{"id", "input", "schema"[, "finish_reason"]}`.
fn answer(line: &str, schemas: &Compiled<Schema>) -> Answer {
    let tree = match strict(line) {
        Ok(tree) => tree,
        Err(at) => return Answer::unusable("null", &format!("not JSON at byte {at}")),
    };
    let case = tree.root(line);
    let id = case.get("id").map_or("null", |id| id.raw());
    let Some(text) = case.get("input").and_then(|input| input.as_str()) else {
        return Answer::unusable(id, "`input` must be a string");
    };
    let schema =
        case.get("schema").filter(|schema| schema.kind() != Kind::Null).map(|s| schemas.get(s.raw()));
    let schema = match schema.as_deref() {
        None => None,
        Some(Ok(schema)) => Some(schema),
        Some(Err(why)) => return Answer::unusable(id, &format!("cannot use `schema`: {why}")),
    };
    let finish_reason = case.get("finish_reason").and_then(|reason| reason.as_str());
    let (healed, us) = door::timed(|| door::heal(&text, schema, finish_reason.as_deref()));
    let report = HealReport::of(&healed, &text);
    Answer { json: json(&HealLine { id: Raw(id), report, us }), usable: true }
}

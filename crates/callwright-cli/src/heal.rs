//! `callwright heal`: broken JSON in, strict JSON out, or the reason why not.

use std::io;

use callwright::{Compiled, HealReport, Schema};
use callwright_json::{Kind, strict};

use crate::args::HealArgs;
use crate::draw::Pen;
use crate::failure::Failure;
use crate::jsonl::{self, Members, Unusable};
use crate::parse::string;
use crate::view::{HealLine, Raw, json};
use crate::{door, input, output};

pub(crate) fn run(args: &HealArgs, pen: Pen) -> Result<(), Failure> {
    if args.lines.jsonl {
        let schemas = Compiled::new(door::schema);
        let members = Members::new(&["id", "input", "schema", "finish_reason"]);
        let mut from = input::lines(&args.file)?;
        let answer = |line: &str| answer(line, &schemas, &members);
        return jsonl::run(&mut *from, &mut io::stdout(), &args.lines, &answer);
    }
    let schema = args.schema.as_deref().map(door::schema_of).transpose()?;
    let text = input::answer(&args.file, "a JSON text")?;
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
fn answer(line: &str, schemas: &Compiled<Schema>, members: &Members) -> Result<String, Unusable> {
    let tree = strict(line).map_err(|at| Unusable::new("null", format!("not JSON at byte {at}")))?;
    let case = tree.root(line);
    let id = case.get("id").map_or("null", |id| id.raw());
    let unusable = |why: String| Unusable::new(id, why);
    members.check(case);
    let text = case.get("input").ok_or_else(|| unusable(String::from("it has no `input`")))?;
    let text = text.as_str().ok_or_else(|| unusable(String::from("`input` must be a string")))?;
    let schema =
        case.get("schema").filter(|schema| schema.kind() != Kind::Null).map(|s| schemas.get(s.raw()));
    let schema = match schema.as_deref() {
        None => None,
        Some(Ok(schema)) => Some(schema),
        Some(Err(why)) => return Err(unusable(format!("cannot use `schema`: {why}"))),
    };
    let finish_reason = string(case, "finish_reason").map_err(unusable)?;
    let (healed, us) = door::timed(|| door::heal(&text, schema, finish_reason.as_deref()));
    let report = HealReport::of(&healed, &text);
    Ok(json(&HealLine { id: Raw(id), report, us }))
}

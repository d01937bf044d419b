//! The JSON Schema test suite against `Schema`: its required tests, for every draft.
//!
//! The suite is not part of the project. `CALLWRIGHT_SCHEMA_SUITE` names its folder, with `tests/` and `remotes/` in it;
//! without it, a small table of cases of our own is run, and the tests of the suite are not.

#![expect(clippy::print_stdout, reason = "it reports its counts")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callwright_json::{Guide, Kind, Kinds, Member, Value, strict};
use callwright_schema::{Schema, SchemaError};
use callwright_value::{Value as Json, json};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// One instance: does the schema say of it what it should?
fn check(schema: &Json, resources: &[(String, Json)], instance: &Json, is_valid: bool) -> Result<(), String> {
    let text = instance.to_string();
    let schema = Schema::compile_with(schema, resources).map_err(|error: SchemaError| error.to_string())?;
    let tree = strict(&text).map_err(|at| format!("not strict at {at}"))?;
    let violations = schema.check(tree.root(&text));
    match (violations.first(), is_valid) {
        (Some(violation), true) => Err(format!("refused: {}", violation.message)),
        (None, false) if schema.is_fully_checked() => Err("taken".to_owned()),
        // Without the validator, such a schema lets more through; what fits it never keeps out.
        (None, false) => Ok(()),
        // What fits must not be kept out by the guide either, or a reader would never find it.
        (None, true) => {
            kept_out(schema.guide(), tree.root(&text)).map_or(Ok(()), |why| Err(format!("guide: {why}")))
        }
        (Some(_), false) => Ok(()),
    }
}

/// Why the guide would not let a reader find `value`.
fn kept_out(guide: &dyn Guide, value: Value<'_>) -> Option<String> {
    let mut todo = vec![(value, guide.root())];
    while let Some((value, place)) = todo.pop() {
        let kinds = match value.kind() {
            Kind::Null => Kinds::NULL,
            Kind::Bool => Kinds::BOOL,
            Kind::Number if value.raw().contains(['.', 'e', 'E']) => Kinds::FRACTION,
            Kind::Number => Kinds::INTEGER,
            Kind::String => Kinds::STRING,
            Kind::Array => Kinds::ARRAY,
            Kind::Object => Kinds::OBJECT,
        };
        if !guide.kinds(place).has(kinds) {
            return Some(format!("type of {value:?}"));
        }
        if value.as_str().is_some_and(|text| !guide.admits(place, &text)) {
            return Some(format!("string {value:?}"));
        }
        todo.extend(value.elements().enumerate().map(|(i, element)| (element, guide.element(place, i))));
        let mut required = guide.required(place);
        for (key, member) in value.members() {
            match guide.member(place, &key.as_str().unwrap_or_default()) {
                Member::Declared(slot, at) => {
                    required &= !(1 << slot);
                    todo.push((member, at));
                }
                Member::Open(at) => todo.push((member, at)),
                Member::Forbidden => return Some(format!("key {key:?}")),
            }
        }
        if value.kind() == Kind::Object && required != 0 {
            return Some(format!(
                "demands {:?}",
                guide.name(place, u8::try_from(required.trailing_zeros()).unwrap_or(0))
            ));
        }
    }
    None
}

#[test]
fn a_small_table_for_every_draft() {
    let cases = [
        (json!({"type": "integer"}), json!(5), true),
        (json!({"type": "integer"}), json!("5"), false),
        (json!({"properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]}), json!({"a": "x"}), true),
        (json!({"properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]}), json!({"a": "y"}), false),
        (json!({"properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]}), json!({}), false),
        (json!({"additionalProperties": false, "patternProperties": {"^x": {}}}), json!({"x1": 1}), true),
        (json!({"additionalProperties": false, "patternProperties": {"^x": {}}}), json!({"y1": 1}), false),
        (json!({"oneOf": [{"minimum": 2}, {"maximum": 3}]}), json!(4), true),
        (json!({"oneOf": [{"minimum": 2}, {"maximum": 3}]}), json!(2.5), false),
        (json!({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}), json!(null), true),
        (json!({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}), json!("a"), false),
        (json!({"not": {"type": "array"}}), json!([]), false),
        (
            json!({"definitions": {"n": {"type": "number"}}, "items": {"$ref": "#/definitions/n"}}),
            json!([1, 2.5]),
            true,
        ),
        (
            json!({"definitions": {"n": {"type": "number"}}, "items": {"$ref": "#/definitions/n"}}),
            json!(["1"]),
            false,
        ),
        (json!({"multipleOf": 0.01}), json!(0.0075), false),
    ];
    for (draft, uri) in DRAFTS {
        for (schema, instance, is_valid) in &cases {
            let mut schema = schema.clone();
            schema["$schema"] = json!(uri);
            assert_eq!(check(&schema, &[], instance, *is_valid), Ok(()), "{draft}: {schema} {instance}");
        }
    }
}

#[test]
fn the_suite() {
    let Some(folder) = std::env::var_os("CALLWRIGHT_SCHEMA_SUITE").map(PathBuf::from) else {
        println!("CALLWRIGHT_SCHEMA_SUITE is not set: the JSON Schema test suite was not run");
        return;
    };
    let remotes = remotes(&folder.join("remotes"));
    let (mut passed, mut total) = (0, 0);
    let mut misses: Vec<String> = Vec::new();
    for (draft, uri) in DRAFTS {
        let resources: Vec<(String, Json)> = remotes
            .iter()
            // Documents of another draft lie in a folder of its name.
            .filter(|(path, _)| match path.split_once('/') {
                Some((folder, _)) => folder == draft || !(folder.starts_with("draft") || folder == "v1"),
                None => true,
            })
            .map(|(path, schema)| (format!("http://localhost:1234/{path}"), of_draft(schema, uri)))
            .collect();
        let before = (passed, total);
        for (file, groups) in json_files(&folder.join("tests").join(draft)) {
            for group in groups.as_array().into_iter().flatten() {
                let schema = of_draft(&group["schema"], uri);
                for test in group["tests"].as_array().into_iter().flatten() {
                    total += 1;
                    match check(&schema, &resources, &test["data"], test["valid"] == true) {
                        Ok(()) => passed += 1,
                        Err(why) => {
                            misses.push(format!(
                                "{draft}/{file}: {}: {}: {why}",
                                group["description"], test["description"]
                            ));
                        }
                    }
                }
            }
        }
        println!("{draft}: {} of {}", passed - before.0, total - before.1);
        assert!(before.1 < total, "no tests found for {draft} in {}", folder.display());
    }
    assert_eq!(misses, [""; 0], "{passed} of {total} passed");
}

/// The schema as one of this draft, where it does not say itself.
fn of_draft(schema: &Json, uri: &str) -> Json {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut()
        && !members.contains_key("$schema")
    {
        members.insert("$schema".to_owned(), json!(uri));
    }
    schema
}

/// The suite's other documents, by their path below `remotes`.
fn remotes(folder: &Path) -> BTreeMap<String, Json> {
    let mut remotes = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
                remotes.insert(name, serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap());
            }
        }
    }
    remotes
}

/// The JSON files of a folder, without those of the folders in it (`optional/`, `proposals/`).
fn json_files(folder: &Path) -> BTreeMap<String, Json> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect()
}

//! The cases of `corpus/template/response.toml`: what a tokenizer says of answers comes to a record, or is refused by the part
//! that does not.

use callwright::prompt::{self, PromptDialect};
use callwright::{Context, Dialect, Dialects, ToolSet, parse};
use callwright_template::ResponseTemplate;
use serde::Deserialize;

const NAME: &str = "unheard-of";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    json: String,
    dialect: Option<String>,
    own: Option<Dialect>,
    fails: Option<String>,
}

#[test]
fn what_tokenizers_say_comes_to_records() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/template/response.toml");
    let mut file: toml::Table = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases: Vec<Case> = file.remove("case").unwrap().try_into().unwrap();
    let tools = ToolSet::from_json(
        r#"[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}}]"#,
    )
    .unwrap();
    for case in cases {
        let name = &case.name;
        let template = ResponseTemplate::new(&case.json).map_err(|error| error.to_string());
        let found = template.and_then(|template| {
            template.dialect(&Dialects::default(), NAME).map_err(|error| error.to_string())
        });
        match found {
            Err(error) => {
                let expected = case.fails.unwrap_or_else(|| panic!("{name}: {error}"));
                assert!(error.starts_with(&expected), "{name}: {error}");
            }
            Ok(proved) => {
                assert!(case.fails.is_none() && 30 <= proved.round_trips, "{name}: {proved:?}");
                let own = case.own.map(|mut own| {
                    own.name = NAME.into();
                    own
                });
                assert_eq!(proved.own, own, "{name}");
                if let Some(dialect) = case.dialect {
                    assert_eq!(proved.name, dialect, "{name}");
                }
                // It is spoken as it is read.
                let dialects = Dialects::new(proved.own).unwrap();
                let dialect = PromptDialect::named(&dialects, &proved.name).unwrap();
                let text = prompt::call(&dialect, &tools, "f", r#"{"a":"x","n":1}"#);
                let context = Context { dialects, ..Context::default() };
                let outcome = parse(&tools, &text, &[], &context);
                let call = outcome.calls().next().unwrap_or_else(|| panic!("{name}: {text}"));
                assert_eq!(
                    (&*call.dialect, &*call.arguments.replace(' ', "")),
                    (&*proved.name, r#"{"a":"x","n":1}"#),
                    "{name}: {text}"
                );
            }
        }
    }
}

//! Tools that a prompt tells of in markup: elements, or declarations whose strings have marks for quotes.
//!
//! ```text
//! <function>
//! <name>get_weather</name>
//! <parameter>
//! <name>city</name>
//! <type>string</type>
//! </parameter>
//! <required>["city"]</required>
//! </function>
//!
//! declaration:get_weather{parameters:{properties:{city:{type:<|"|>STRING<|"|>}},required:[<|"|>city<|"|>]}}
//! ```

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::declared::Tool;

/// The tools that stand in `text` as elements.
pub(crate) fn elements(text: &str) -> Vec<Tool> {
    let tool = |function: &str| {
        let parameters = all(function, "parameter").into_iter().filter_map(|parameter| {
            let mut schema = Map::new();
            for (key, value) in
                ["type", "description"].into_iter().filter_map(|key| Some((key, one(parameter, key)?)))
            {
                schema.insert(key.into(), value.into());
            }
            let values: Option<Value> =
                one(parameter, "enum").and_then(|values| serde_json::from_str(values).ok());
            schema.extend(values.map(|values| ("enum".to_owned(), values)));
            Some((one(parameter, "name")?.to_owned(), Value::Object(schema)))
        });
        let properties: Map = parameters.collect();
        let required: Value = one(function, "required").and_then(|names| serde_json::from_str(names).ok())?;
        Some(Tool {
            name: one(function, "name")?.into(),
            about: one(function, "description").unwrap_or("").into(),
            parameters: json!({ "type": "object", "properties": properties, "required": required }),
        })
    };
    all(text, "function").into_iter().filter_map(tool).collect()
}

/// Returns the insides of all elements of a name.
fn all<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&open).skip(1).filter_map(|rest| rest.split_once(&close)).map(|(inner, _)| inner).collect()
}

fn one<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    all(text, name).first().copied()
}

/// The declarations in `text`, each made the JSON that it stands for.
pub(crate) fn declarations(text: &str) -> Vec<Value> {
    const OPEN: &str = "declaration:";
    let plain = ["<|\"|>", "<escape>"].iter().fold(text.to_owned(), |text, mark| text.replace(mark, "\u{0}"));
    let declared = plain.split(OPEN).skip(1).filter_map(|rest| {
        let (name, body) = rest.split_once('{')?;
        let body = format!("{{name:\u{0}{name}\u{0},{body}");
        serde_json::Deserializer::from_str(&in_json(&body)).into_iter().next()?.ok()
    });
    declared.collect()
}

/// Bare keys are quoted, and strings written as JSON has them; each stands between two NUL.
fn in_json(text: &str) -> String {
    let mut json = String::new();
    for (n, part) in text.split('\u{0}').enumerate() {
        if n % 2 == 1 {
            json.push_str(&Value::from(part).to_string());
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
            let (before, word) = rest.split_at(at);
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
            let (word, behind) = word.split_at(end);
            let is_key = behind.starts_with(':');
            json.push_str(before);
            json.push_str(&if is_key { Value::from(word).to_string() } else { word.to_owned() });
            rest = behind;
        }
        json.push_str(rest);
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::in_prompt;

    #[test]
    fn both_forms_say_the_same() {
        let elements = "<tools>\n<function>\n<name>f</name>\n<description>F.</description>\n<parameters>\n<parameter>\n\
            <name>a</name>\n<type>string</type>\n</parameter>\n<parameter>\n<name>b</name>\n<type>string</type>\n\
            <enum>[\"x\"]</enum>\n</parameter>\n<required>[\"a\"]</required>\n</parameters>\n</function>\n</tools>";
        let declaration = "<|tool>declaration:f{description:<|\"|>F.<|\"|>,parameters:{type:<|\"|>object<|\"|>,\
            properties:{a:{type:<|\"|>string<|\"|>},b:{type:<|\"|>string<|\"|>,enum:[<|\"|>x<|\"|>]}},\
            required:[<|\"|>a<|\"|>]}}<tool|>\nCall it.";
        let properties = json!({ "a": { "type": "string" }, "b": { "type": "string", "enum": ["x"] } });
        let parameters = json!({ "type": "object", "properties": properties, "required": ["a"] });
        let tool = Tool { name: "f".into(), about: "F.".into(), parameters };
        for prompt in [elements, declaration, &declaration.replace("<|\"|>", "<escape>")] {
            assert_eq!(in_prompt(prompt), std::slice::from_ref(&tool), "{prompt}");
        }
    }
}

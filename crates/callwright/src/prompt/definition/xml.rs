//! Writes a tool as nested elements, as Qwen3-Coder's template lists it:
//!
//! ```text
//! <function>
//! <name>get_weather</name>
//! <description>Get the weather</description>
//! <parameters>
//! <parameter>
//! <name>city</name>
//! <type>string</type>
//! <description>Where</description>
//! </parameter>
//! <required>["city"]</required>
//! </parameters>
//! </function>
//! ```

use crate::value::Value;

use super::super::marks::in_json;
use super::schema::{clean, description_of, members, resolve};
use crate::tools::Tool;

pub(super) fn told(tool: &Tool) -> String {
    let root = tool.schema().value();
    let schema = resolve(root, root);
    let mut lines = vec![
        "<function>".to_owned(),
        element("name", &in_element(tool.name())),
        element("description", &in_element(tool.description())),
        "<parameters>".to_owned(),
    ];
    for (name, member, _) in members(schema) {
        let member = resolve(root, member);
        lines.extend(["<parameter>".to_owned(), element("name", &in_element(name))]);
        let word = member.get("type").and_then(Value::as_str);
        lines.extend(word.map(|word| element("type", &in_element(word))));
        let description = Some(description_of(member)).filter(|text| !text.is_empty());
        lines.extend(description.map(|text| element("description", &in_element(text))));
        lines.extend(others(member, &["name", "type", "description"]));
        lines.push("</parameter>".to_owned());
    }
    lines.extend(others(schema, &["type", "properties"]));
    lines.extend(["</parameters>".to_owned(), "</function>".to_owned()]);
    lines.join("\n")
}

/// Writes the other keywords of a schema, as JSON.
fn others(schema: &Value, told: &[&str]) -> Vec<String> {
    let members = schema.as_object().into_iter().flatten();
    let others = members.filter(|(key, _)| !told.contains(&key.as_str()) && is_word(key));
    others.map(|(key, value)| element(key, &in_json(&value.to_string()))).collect()
}

/// Returns whether a keyword is a word, and so may be a tag. Others, such as `$defs`, are resolved by their references.
fn is_word(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn element(tag: &str, content: &str) -> String {
    format!("<{tag}>{content}</{tag}>")
}

/// Returns other people's text, which cannot end the element around it.
fn in_element(text: &str) -> String {
    clean(text).replace("</", "<\\/")
}

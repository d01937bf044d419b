//! Values as literals of Python.

use crate::value::Value;

use super::marks::in_python;

/// `value` as Python writes it, with `quote` around strings. No mark stands in it, nor a backtick that could end a fence.
pub(super) fn python(value: &Value, quote: char) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => string(value, quote),
        // Values are at most as deep as their readers admit: 128 levels.
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| python(element, quote)).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", string(&Value::from(key.as_str()), quote), python(value, quote))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// What JSON escapes in a string, Python reads the same way.
fn string(value: &Value, quote: char) -> String {
    let json = value.to_string().replace('`', "\\u0060");
    if quote == '"' {
        return in_python(&json);
    }
    let inner = json.get(1..json.len().saturating_sub(1)).unwrap_or("");
    let mut literal = String::with_capacity(json.len());
    literal.push(quote);
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('"') => literal.push('"'),
                Some(escaped) => literal.extend(['\\', escaped]),
                None => {}
            },
            c if c == quote => literal.extend(['\\', c]),
            c => literal.push(c),
        }
    }
    literal.push(quote);
    in_python(&literal)
}

/// May Python have a parameter of this name?
pub(super) fn is_identifier(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
        "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
        "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts_well && chars.all(|c| c.is_alphanumeric() || c == '_') && !KEYWORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn python_reads_the_same_values() {
        let value = json!({"a": [null, true, 1.50, "say \"it's\"\n\\`<|im_end|>"]});
        assert_eq!(
            python(&value, '"'),
            r#"{"a": [None, True, 1.50, "say \"it's\"\n\\\u0060\u003c|im_end|>"]}"#.replace("1.50", "1.5")
        );
        assert_eq!(
            python(&value, '\''),
            r#"{'a': [None, True, 1.5, 'say "it\'s"\n\\\u0060\u003c|im_end|>']}"#
        );
    }
}

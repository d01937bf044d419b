//! Selects the answer that a request gets.

use std::path::Path;

use callwright_value::Value;

use crate::request::Request;
use crate::script::{Choice, Script, When};
use crate::task::says;

/// The answer to a request.
#[derive(Debug)]
pub(crate) enum Selected<'s> {
    /// The answer of this number, and what it says where that is made up.
    Answer(usize, Option<Box<Choice>>),
    /// The request is refused with this message.
    Refused(&'s str),
    /// Nothing is left that fits it.
    Nothing,
}

/// Chooses the answer for `request` and marks it in `used`, which has one place for each answer.
pub(crate) fn select<'s>(script: &'s Script, request: &Request<'_>, used: &mut [bool]) -> Selected<'s> {
    let refusals = [
        ("tools", &script.refuses_tools),
        ("response_format", &script.refuses_response_format),
        ("grammar", &script.refuses_grammar),
    ];
    let refused =
        refusals.iter().find_map(|(field, message)| message.as_deref().filter(|_| request.has(field)));
    if let Some(message) = refused {
        return Selected::Refused(message);
    }
    for (at, (answer, used)) in script.answers.iter().zip(used).enumerate() {
        if *used && !answer.repeat || !answer.when.fits(request) {
            continue;
        }
        let made_up = answer.improvise.as_ref().map(|improvise| improvise.choice(request));
        if let Some(None) = made_up {
            continue;
        }
        *used = true;
        return Selected::Answer(at, made_up.flatten().map(Box::new));
    }
    Selected::Nothing
}

impl When {
    fn fits(&self, request: &Request<'_>) -> bool {
        let path = match &self.path {
            Some(path) => path == request.path,
            None => request.api().is_some(),
        };
        let last = request.last_message();
        path && self.model.as_deref().is_none_or(|model| model == request.model())
            && self.last_role.as_deref().is_none_or(|role| Some(role) == request.last_role())
            && self.last_contains.as_deref().is_none_or(|text| last.is_some_and(|m| holds(m, text)))
            && self.task.iter().all(|text| says(&request.conversation().task, text))
            && self.contains.as_deref().is_none_or(|text| stands_in(request.bytes, text))
            && self.lacks.as_deref().is_none_or(|text| !stands_in(request.bytes, text))
            && self.has_tools.is_none_or(|has| has == request.has("tools"))
            && self.is_constrained.is_none_or(|is| {
                is == ["response_format", "grammar", "format"].iter().any(|key| request.has(key))
            })
            && self.stream.is_none_or(|stream| stream == request.wants_stream())
            && self.nth.is_none_or(|nth| nth == request.nth)
            && self.exists.iter().all(|file| Path::new(file).exists())
    }
}

/// Returns whether a message says `text`: as it is in texts, elsewhere in the JSON.
fn holds(message: &Value, text: &str) -> bool {
    message["content"].as_str().is_some_and(|content| content.contains(text))
        || message.to_string().contains(text)
}

fn stands_in(bytes: &[u8], text: &str) -> bool {
    text.is_empty() || bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(script: &Script, bodies: &[&str]) -> Vec<Option<usize>> {
        let mut used = vec![false; script.answers.len()];
        let answer = |(nth, body): (usize, &&str)| {
            let request = Request::new("/v1/chat/completions", nth, body.as_bytes());
            match select(script, &request, &mut used) {
                Selected::Answer(at, _) => Some(at),
                Selected::Refused(_) | Selected::Nothing => None,
            }
        };
        (1..).zip(bodies).map(answer).collect()
    }

    #[test]
    fn the_first_unused_answer_that_fits_is_given() {
        let script = Script::from_toml(
            r#"
            [[answer]]
            when = { last_role = "tool", last_contains = "b\nc" }
            [[answer]]
            when = { has_tools = true, contains = "Paris", stream = true }
            [[answer]]
            when = { model = "m", lacks = "Paris" }
            repeat = true
            [[answer]]
            when = { nth = 6 }
            [[answer]]
            when = { is_constrained = true, has_tools = false }
            "#,
        )
        .unwrap();
        let tool = r#"{"model": "x", "messages": [{"role": "user", "content": ""}, {"role": "tool", "content": "a b\nc"}]}"#;
        let paris = r#"{"model": "m", "stream": true, "tools": [], "messages": [{"role": "user", "content": "Paris"}]}"#;
        let other = r#"{"model": "m"}"#;
        let constrained = r#"{"model": "n", "response_format": {"type": "json_object"}}"#;
        assert_eq!(
            selected(&script, &[tool, tool, paris, other, other, "not JSON", paris, constrained]),
            [Some(0), None, Some(1), Some(2), Some(2), Some(3), None, Some(4)],
        );
    }

    #[test]
    fn what_stands_on_the_disk_counts() {
        let script = Script::from_toml(
            "[[answer]]\nwhen = { exists = [\"/no/such/file\"] }\n[[answer]]\nwhen = { exists = [\"/\"] }",
        );
        assert_eq!(selected(&script.unwrap(), &["{}", "{}"]), [Some(1), None]);
    }

    #[test]
    fn what_the_server_cannot_do_uses_no_answer_up() {
        let script = Script::from_toml("refuses_tools = \"no tools\"\n[[answer]]\ntext = \"x\"").unwrap();
        assert_eq!(selected(&script, &[r#"{"tools": []}"#, "{}"]), [None, Some(0)]);
    }
}

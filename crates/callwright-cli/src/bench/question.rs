//! The questions that a model is asked, each with the tools that there are for it.

use std::path::Path;
use std::sync::Arc;

use callwright::ToolSet;
use callwright_json::{Kind, Value, quote, strict};
use serde::Deserialize;

use super::each_line;
use crate::door;
use crate::failure::Failure;
use crate::parse::given;

/// The longest line of a file of questions, in bytes.
const LONGEST: usize = 1 << 26;

/// One question.
pub(crate) struct Question {
    /// The messages of the request, as the text of a JSON array.
    pub(crate) messages: String,
    /// The definitions, as the text of a JSON array.
    pub(crate) tools: String,
    /// The definitions, compiled.
    pub(crate) tool_set: Arc<ToolSet>,
    /// The tool that has to be called; any where it is not said.
    pub(crate) tool: Option<String>,
}

impl Question {
    /// Returns its name in the table: the tool that it is about.
    pub(crate) fn about(&self) -> &str {
        let only = || if self.tool_set.len() == 1 { self.tool_set.iter().next() } else { None };
        self.tool.as_deref().or_else(|| only().map(callwright::Tool::name)).unwrap_or("(any)")
    }

    /// # Errors
    /// What is wrong with the line.
    fn of_line(line: &str) -> Result<Question, String> {
        let tree = strict(line).map_err(|at| format!("not JSON at byte {at}"))?;
        let line = tree.root(line);
        let messages = match (given(line, "ask").and_then(Value::as_str), given(line, "messages")) {
            (Some(ask), None) => asking(&ask),
            (None, Some(messages)) if messages.kind() == Kind::Array => messages.raw().to_owned(),
            _ => return Err(String::from("it must have either `ask`, a text, or `messages`, an array")),
        };
        let tools = given(line, "tools").ok_or("it has no `tools`")?.raw().to_owned();
        let tool_set = Arc::new(door::tool_set(&tools).map_err(|why| format!("cannot use `tools`: {why}"))?);
        let tool = given(line, "tool").and_then(Value::as_str).map(|tool| tool.into_owned());
        match &tool {
            Some(tool) if tool_set.get(tool).is_none() => {
                Err(format!("`tool` names {tool}, which is not among `tools`"))
            }
            None if tool_set.is_empty() => Err(String::from("`tools` is empty")),
            _ => Ok(Question { messages, tools, tool_set, tool }),
        }
    }
}

fn asking(text: &str) -> String {
    format!("[{{\"role\":\"user\",\"content\":{}}}]", quote(text))
}

/// The questions of a file, one JSON object a line; those that come along where none is named. Of more than `most` so
/// many are left, from all parts.
///
/// # Errors
/// The file cannot be read, or holds no question that can be asked. A line that cannot be used is told.
pub(crate) fn questions(file: Option<&Path>, most: Option<usize>) -> Result<Vec<Question>, Failure> {
    let mut questions = match file {
        None => built_in(),
        Some(file) => of_file(file)?,
    };
    if let (0, Some(file)) = (questions.len(), file) {
        return Err(Failure::Config(format!("{} holds no question that can be asked", file.display())));
    }
    if let Some(most) = most {
        let (all, mut n) = (questions.len(), 0);
        questions.retain(|_| {
            n += 1;
            (n - 1) * most / all != n * most / all
        });
    }
    Ok(questions)
}

fn of_file(file: &Path) -> Result<Vec<Question>, Failure> {
    let mut questions = Vec::new();
    each_line(file, LONGEST, |line| {
        questions.push(Question::of_line(line)?);
        Ok(())
    })?;
    Ok(questions)
}

/// The questions that come along: single-tool tasks from many walks of life.
fn built_in() -> Vec<Question> {
    #[derive(Deserialize)]
    struct File {
        question: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        ask: String,
        tool: String,
        description: String,
        parameters: String,
    }
    let file: File = toml::from_str(include_str!("questions.toml")).unwrap_or(File { question: Vec::new() });
    let question = |one: One| {
        let tools = format!(
            "[{{\"type\":\"function\",\"function\":{{\"name\":{},\"description\":{},\"parameters\":{}}}}}]",
            quote(&one.tool),
            quote(&one.description),
            one.parameters.trim()
        );
        let tool_set = Arc::new(door::tool_set(&tools).ok()?);
        Some(Question { messages: asking(&one.ask), tools, tool_set, tool: Some(one.tool) })
    };
    file.question.into_iter().filter_map(question).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_that_comes_along_can_be_asked() {
        let all = built_in();
        assert_eq!(all.len(), include_str!("questions.toml").matches("[[question]]").count());
        assert!(all.iter().all(|question| question.about() != "(any)"));
    }

    #[test]
    fn a_part_of_the_questions_is_from_all_parts() {
        let all: Vec<String> = questions(None, None).unwrap().iter().map(|q| q.about().to_owned()).collect();
        let some: Vec<String> =
            questions(None, Some(5)).unwrap().iter().map(|q| q.about().to_owned()).collect();
        assert_eq!(some.len(), 5);
        let places: Vec<usize> =
            some.iter().filter_map(|tool| all.iter().position(|other| other == tool)).collect();
        assert!(places[0] < all.len() / 4 && all.len() * 3 / 4 < places[4], "{places:?}");
    }

    #[test]
    fn a_line_that_cannot_be_asked_says_why() {
        let tools = r#""tools": [{"name": "f", "parameters": {"type": "object"}}]"#;
        for (line, why) in [
            (String::from("{"), "not JSON at byte 1"),
            (format!("{{{tools}}}"), "it must have either `ask`, a text, or `messages`, an array"),
            (String::from(r#"{"ask": "x"}"#), "it has no `tools`"),
            (String::from(r#"{"ask": "x", "tools": []}"#), "`tools` is empty"),
            (
                format!(r#"{{"ask": "x", "tool": "g", {tools}}}"#),
                "`tool` names g, which is not among `tools`",
            ),
        ] {
            assert_eq!(Question::of_line(&line).err().as_deref(), Some(why), "{line}");
        }
        assert!(Question::of_line(&format!(r#"{{"ask": "x", {tools}}}"#)).is_ok());
    }
}

//! Speaks to models whose server knows no tools: the tools, the calls and the results as text.
//!
//! Tool definitions and a conversation go in. The texts of one dialect come out, and the conversation without anything
//! that such a server would not know. Descriptions, names and results are other people's text: they cannot end the
//! block around them, begin a turn, or hold a mark of any dialect.
//!
//! The speech of a dialect is data, a [`PromptFormat`]; reading the written text gives the same calls.

mod marks;
mod own_marks;
mod literal;
mod dialect;
mod definition;
mod arguments;
mod calls;
mod results;
mod example;
mod messages;

pub use calls::calls;
pub(crate) use calls::is_plain_name;
pub use dialect::{PromptDialect, UnknownDialect, dialect_for};
pub use example::{Example, Examples};
pub(crate) use literal::spaced;
pub use marks::{neutralise, restore};
pub use messages::{Rendered, render_messages};

pub use crate::dialect::speech::{Definition, Listing, PromptFormat, Results};
pub use crate::grammar::{Arguments, Calls};

use std::borrow::Cow;

use crate::constrain::{Constraint, PROSE_KEY};
use crate::grammar::template::fill;
use crate::tools::{Tool, ToolChoice, ToolSet};

/// The way to speak to a model: the demands of the request, and the limits of the server's template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaking {
    /// The tools that may or must be called.
    pub choice: ToolChoice,
    /// One answer may hold several calls.
    pub parallel: bool,
    /// The constraint under which the server will put the answer, if any: the prompt says so.
    pub constraint: Option<Constraint>,
    /// The template knows system turns. If not, their text stands in front of the first user turn.
    pub system_role: bool,
    /// User and assistant turns must alternate: neighbours of the same role become one.
    pub alternate: bool,
    /// The template knows the role in which the dialect's models got results in training. If not, the user says them: a
    /// template that knows no tools drops other roles, or fails on them.
    pub result_role: bool,
}

impl Default for Speaking {
    fn default() -> Speaking {
        Speaking {
            choice: ToolChoice::Auto,
            parallel: true,
            constraint: None,
            system_role: true,
            alternate: false,
            result_role: false,
        }
    }
}

/// The text that teaches tools, and the calls that it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// The text; empty if no tool may be called.
    pub text: String,
    /// Its examples, by which an echo of one is recognised.
    pub examples: Examples,
}

/// Returns the prompt that teaches in `dialect` the tools of `tool_set` that may be called.
pub fn prompt(dialect: &PromptDialect, tool_set: &ToolSet, speaking: &Speaking) -> Prompt {
    let tools = speaking.choice.tools(tool_set);
    if tools.is_empty() {
        return Prompt::default();
    }
    let speech = dialect.speech();
    let examples = match speaking.constraint {
        _ if !speech.system.contains("{calls}") => Examples::default(),
        Some(_) => example::required(&tools),
        None => example::examples(&tools),
    };
    let text = fill(&speech.system, |slot| {
        Some(Cow::Owned(match slot {
            "tools" => definition::listed(&speech.listing, &tools, dialect.own_marks()),
            "calls" => shown(dialect, &examples),
            "name" => marks::tag_name(examples.iter().next().map_or("", |example| &example.name)),
            "otherwise" => otherwise(speaking),
            "several" if speaking.parallel => " The list may hold several calls.".to_owned(),
            "several" => String::new(),
            _ => return None,
        }))
    });
    Prompt { text: text + &demand(dialect, speaking, &tools), examples }
}

/// Returns the form of a call: that of the dialect's template, or else a call of one of the caller's tools.
fn shown(dialect: &PromptDialect, examples: &Examples) -> String {
    match examples.iter().next() {
        Some(_) if !dialect.speech().example.is_empty() => dialect.speech().example.to_string(),
        Some(example) => calls::shown(dialect, &example.name, &example.form),
        None => String::new(),
    }
}

/// Returns the advice for an answer without a tool.
fn otherwise(speaking: &Speaking) -> String {
    match (speaking.choice.is_required(), speaking.constraint) {
        (true, _) => String::new(),
        (false, Some(_)) => {
            // Small models repeat a value that is shown here.
            format!("Only if no tool can help, answer in words under the key \"{PROSE_KEY}\".\n\n")
        }
        (false, None) => "Only if no tool can help, answer in plain text.\n\n".to_owned(),
    }
}

/// Returns the demands of the request beyond offering the tools.
fn demand(dialect: &PromptDialect, speaking: &Speaking, tools: &[&Tool]) -> String {
    let mut demand = match (speaking.choice.is_required(), tools) {
        (false, _) => String::new(),
        (true, [tool]) => {
            format!("\nYou must call {} now.", dialect.neutralise(&marks::one_line(tool.name())))
        }
        (true, _) => "\nYou must call one of these tools now.".to_owned(),
    };
    if !speaking.parallel {
        demand.push_str("\nMake at most one call per answer.");
    }
    if !demand.is_empty() {
        demand.push('\n');
    }
    demand
}

/// Returns the system prompt that teaches `tool_set` in `dialect`, with all choices open; empty without tools.
pub fn render(dialect: &PromptDialect, tool_set: &ToolSet) -> String {
    prompt(dialect, tool_set, &Speaking::default()).text
}

/// Returns the prompt as one text for models without system turns: the user's first words follow it.
pub fn render_with_user(dialect: &PromptDialect, tool_set: &ToolSet, user: &str) -> String {
    match render(dialect, tool_set) {
        prompt if prompt.is_empty() => format!("User: {user}"),
        prompt => format!("{prompt}\nUser: {user}"),
    }
}

/// Writes a call as a model of this dialect should have written it, for the history that goes back to it.
///
/// `arguments` is the strict JSON text of an object, as in [`Acceptance`](crate::Acceptance). A call of a tool in
/// `tool_set` reads back as the same call, with any arguments.
pub fn call(dialect: &PromptDialect, tool_set: &ToolSet, name: &str, arguments: &str) -> String {
    calls(dialect, tool_set, &[(name.to_owned(), arguments.to_owned())])
}

/// Writes the result of a call of `name` as the text that goes back to the model. Its marks are parted: see
/// [`PromptDialect::neutralise`].
pub fn tool_result(dialect: &PromptDialect, name: &str, result: &str) -> String {
    let form = &dialect.speech().results;
    format!("{}{}{}", form.open, results::result(dialect, name, 0, result), form.close)
}

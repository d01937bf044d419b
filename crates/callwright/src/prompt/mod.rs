//! Speaking to models whose server knows no tools: the tools, the calls and the results as text.
//!
//! In go tool definitions and a conversation; out come the texts of one dialect and the conversation without
//! anything that such a server would not know. Descriptions, names and results are other people's text: whatever
//! stands in them, they cannot end the block that they stand in, begin a turn, or hold a mark of any dialect.
//!
//! How a dialect is spoken is data, a [`PromptFormat`]; what reading makes of it is what was said.

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

/// How to speak to a model: what the request wants, and what the server's template can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaking {
    /// Which tools may or must be called.
    pub choice: ToolChoice,
    /// May one answer hold several calls?
    pub parallel: bool,
    /// What the server will hold the answer to, if anything: the prompt says so.
    pub constraint: Option<Constraint>,
    /// Does the template know system turns? If not, what they say stands in front of the first user turn.
    pub system_role: bool,
    /// Must user and assistant turns alternate? Neighbours of the same role then become one.
    pub alternate: bool,
    /// Does the template know the role in which the dialect's models were trained to get results? If not, the user says
    /// them: a template that knows no tools drops other roles, or fails on them.
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
    /// The text; empty where no tool may be called.
    pub text: String,
    /// Its examples, by which an echo of one is known.
    pub examples: Examples,
}

/// The prompt that teaches in `dialect` those of `tool_set` that may be called.
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

/// The form of a call: the one that the dialect's template shows, else one of the caller's tools.
fn shown(dialect: &PromptDialect, examples: &Examples) -> String {
    match examples.iter().next() {
        Some(_) if !dialect.speech().example.is_empty() => dialect.speech().example.to_string(),
        Some(example) => calls::shown(dialect, &example.name, &example.form),
        None => String::new(),
    }
}

/// What to answer where no tool helps.
fn otherwise(speaking: &Speaking) -> String {
    match (speaking.choice.is_required(), speaking.constraint) {
        (true, _) => String::new(),
        (false, Some(_)) => {
            // A value shown here is one that small models say back.
            format!("Only if no tool can help, answer in words under the key \"{PROSE_KEY}\".\n\n")
        }
        (false, None) => "Only if no tool can help, answer in plain text.\n\n".to_owned(),
    }
}

/// What the request asks for beyond offering the tools.
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

/// The system prompt that teaches `tool_set` in `dialect`, with all choices open; empty where there are no tools.
pub fn render(dialect: &PromptDialect, tool_set: &ToolSet) -> String {
    prompt(dialect, tool_set, &Speaking::default()).text
}

/// The prompt as one text for models without system turns: the user's first words follow it.
pub fn render_with_user(dialect: &PromptDialect, tool_set: &ToolSet, user: &str) -> String {
    match render(dialect, tool_set) {
        prompt if prompt.is_empty() => format!("User: {user}"),
        prompt => format!("{prompt}\nUser: {user}"),
    }
}

/// A call as a model of this dialect should have written it, for the history that goes back to it.
///
/// `arguments` is the strict JSON text of an object, as in [`Acceptance`](crate::Acceptance). A call of a tool in
/// `tool_set` is read back as the same call, whatever its arguments hold.
pub fn call(dialect: &PromptDialect, tool_set: &ToolSet, name: &str, arguments: &str) -> String {
    calls(dialect, tool_set, &[(name.to_owned(), arguments.to_owned())])
}

/// The result of a call of `name` as the text that goes back to the model. Its marks are parted: see
/// [`PromptDialect::neutralise`].
pub fn tool_result(dialect: &PromptDialect, name: &str, result: &str) -> String {
    let form = &dialect.speech().results;
    format!("{}{}{}", form.open, results::result(dialect, name, 0, result), form.close)
}

//! `callwright prompt`: the text that teaches tools to a model without native calls, or a whole request that does.

use std::io::{self, Write};

use callwright::constrain::{self, Constraint};
use callwright::prompt::{PromptDialect, Speaking, prompt, render_messages};
use callwright::value::{Map, Value};
use callwright::{ToolChoice, ToolSet};

use crate::args::{Constrain, PromptArgs};
use crate::dialects;
use crate::door;
use crate::failure::Failure;
use crate::input;

pub(crate) fn run(args: &PromptArgs) -> Result<(), Failure> {
    let tools = door::tools_of(&args.tools)?;
    if let ToolChoice::Named(name) = &args.tool_choice
        && tools.get(name).is_none()
    {
        return Err(Failure::Definitions(args.tools.clone(), format!("no tool is called {name:?}")));
    }
    let all = dialects::of(args.config.as_deref())?;
    let dialect = match &args.dialect {
        Some(name) => PromptDialect::named(&all, name).ok_or_else(|| dialects::unknown(&all, name))?,
        None => PromptDialect::for_model(&all, args.model.as_deref().unwrap_or_default()),
    };
    let speaking = Speaking {
        choice: args.tool_choice.clone(),
        parallel: !args.no_parallel,
        constraint: args.constrain.map(|how| match how {
            Constrain::Schema => Constraint::Schema,
            Constrain::Grammar => Constraint::Grammar,
        }),
        system_role: !args.no_system_role,
        alternate: args.alternate,
        result_role: args.result_role,
    };
    let Some(path) = &args.messages else {
        // For another program, which wants the text as it is.
        io::stdout().write_all(prompt(&dialect, &tools, &speaking).text.as_bytes())?;
        return Ok(());
    };
    let messages: Vec<Value> = serde_json::from_str(&input::text(path)?).map_err(|error| {
        Failure::Definitions(path.clone(), format!("not a JSON list of messages: {error}"))
    })?;
    let request = request(&dialect, &tools, &speaking, &messages);
    writeln!(io::stdout(), "{request}")?;
    Ok(())
}

/// The members of a request to a server that knows no tools.
fn request(dialect: &PromptDialect, tools: &ToolSet, speaking: &Speaking, messages: &[Value]) -> Value {
    let rendered = render_messages(dialect, tools, speaking, messages);
    let mut request = Map::new();
    request.insert("messages".to_owned(), Value::Array(rendered.messages));
    let Speaking { choice, parallel, .. } = speaking;
    let field = speaking.constraint.and_then(|c| constrain::field(c, dialect, tools, choice, *parallel));
    if let Some((name, value)) = field {
        request.insert(name.to_owned(), value);
    }
    Value::Object(request)
}

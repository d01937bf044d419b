//! Acts for a model: runs the tools that it may call, within rights and walls, in a loop that asks the model and runs
//! its calls.
//!
//! The modules stand in reading order. Nothing here uses a terminal.

mod tool;
mod arguments;
mod function;
mod known_as;
mod toolbox;
mod rights;
mod shown;
mod approval;
mod workspace;
mod configuration;
mod changes;
mod sandbox;
mod command;
pub mod mcp;
pub mod tools;
pub mod run;

pub use approval::{ApprovalRequest, Approvals, Fingerprint};
pub use arguments::Arguments;
pub use changes::{By, Change, ChangeError, Changed, Changes, State};
pub use command::{CommandError, Commands, End, Launch, Running};
pub use function::{FunctionTool, IntoResult, Json, macros};
pub use known_as::KnownAs;
pub use rights::{Beside, Decision, Repaired, Rights, Rule, Why, rule};
pub use sandbox::{Apart, Launcher, Walls, confinement, keep};
pub use shown::shown;
pub use tool::{CallContext, Calling, Effect, Kind, Limits, Tool, ToolError, ToolResult, World};
pub use toolbox::Toolbox;
pub use workspace::{FileError, MAX_FILE, Place, Workspace};

/// Makes a tool of a documented function.
///
/// The function's doc comment is the description, parameters' doc comments are theirs, and types make the schema. An
/// `Option` may be left out; an enum or a struct derives `serde::Deserialize` and `schemars::JsonSchema`. The model
/// does not see a parameter of type `&CallContext`. The function returns an [`IntoResult`]; an `Err` is an error for
/// the model.
///
/// The brackets hold facts that code does not tell: `read`, `write` or `destructive` (the default), `idempotent`,
/// `open_world`, `name = "…"`, `timeout_s = …`.
///
/// ```
/// use callwright_agent::{Tool, tool};
///
/// /// Get the current weather for a location. Use this when the user asks about the weather.
/// #[tool(read, open_world)]
/// async fn get_weather(
///     /// City and country (e.g., 'Paris, France')
///     location: String,
///     /// How many days ahead
///     days: Option<u8>,
/// ) -> Result<String, std::io::Error> {
///     Ok(format!("The weather in {location} in {} days is sunny.", days.unwrap_or(0)))
/// }
///
/// let definition = get_weather {}.definition();
/// let parameters = &definition["function"]["parameters"];
/// assert_eq!(parameters["properties"]["location"]["type"], "string");
/// assert_eq!(parameters["required"], callwright::json!(["location"]));
/// ```
pub use callwright_macros::tool;

/// Makes the tools of these functions for [`Toolbox::new`]: `tools![get_weather, add_numbers]`.
#[macro_export]
macro_rules! tools {
    ($($tool:path),* $(,)?) => {
        ::std::vec![$(::std::sync::Arc::new(<$tool as ::core::default::Default>::default())
            as ::std::sync::Arc<dyn $crate::Tool>),*]
    };
}

//! Acts for a model: the tools that it may call, the rights of a call, the walls around what it does, and the loop that
//! asks the model and runs its calls.
//!
//! The modules stand in reading order. Nothing here talks to a terminal.

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
/// The doc comment is the description, and doc comments of parameters are theirs; types make the schema. An `Option` may
/// be left out; an enum or a struct derives `serde::Deserialize` and `schemars::JsonSchema`. A parameter of type
/// `&CallContext` is not the model's. What the function returns is an [`IntoResult`]; an `Err` is an error for the model.
///
/// In the brackets stands what nobody else can know: `read`, `write` or `destructive` (which is assumed where nothing is
/// said), `idempotent`, `open_world`, `name = "…"`, `timeout_s = …`.
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

/// The tools of these functions, as [`Toolbox::new`] takes them: `tools![get_weather, add_numbers]`.
#[macro_export]
macro_rules! tools {
    ($($tool:path),* $(,)?) => {
        ::std::vec![$(::std::sync::Arc::new(<$tool as ::core::default::Default>::default())
            as ::std::sync::Arc<dyn $crate::Tool>),*]
    };
}

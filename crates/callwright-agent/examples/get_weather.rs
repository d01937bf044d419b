//! `cargo run -p callwright-agent --example get_weather`: a function with an enum and an optional parameter becomes a
//! tool. Prints the definition that a model sees, then the result of a call.
#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::error::Error;
use std::sync::Arc;

use callwright_agent::{CallContext, Toolbox, Workspace, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Get the current weather for a location.
#[tool(read, open_world, timeout_s = 10)]
async fn get_weather(
    /// The city (e.g., 'Paris')
    location: String,
    /// Celsius if left out
    unit: Option<Unit>,
) -> String {
    let degrees = match unit.unwrap_or(Unit::Celsius) {
        Unit::Celsius => "22°C",
        Unit::Fahrenheit => "72°F",
    };
    format!("The weather in {location} is sunny and {degrees}.")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let toolbox = Toolbox::new(tools![get_weather])?;
    println!("{}\n", serde_json::to_string_pretty(toolbox.definitions())?);

    let workspace = Arc::new(Workspace::open(&std::env::current_dir()?)?);
    let context = CallContext::new("call_1", workspace);
    for arguments in [r#"{"location": "Paris"}"#, r#"{"location": "Oslo", "unit": "kelvin"}"#] {
        let result = toolbox.call("get_weather", arguments, &context).await;
        println!("get_weather({arguments}) -> {}", result.content());
    }
    Ok(())
}

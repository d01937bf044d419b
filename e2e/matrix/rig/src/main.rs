//! rig's agent over OpenAI's responses, or with the argument `chat` over chat completions, with two tools.

use std::error::Error;
use std::process::Command;

use rig::prelude::*;
use rig::providers::openai::{OpenAIConfig, Route};
use rig::rig_tool;
use rig::tool::ToolExecutionError;

#[rig_tool(description = "Run a shell command.", params(command = "The command line", timeout = "Seconds to wait"))]
fn run_command(command: String, timeout: Option<u64>) -> Result<String, ToolExecutionError> {
    let _ = timeout;
    let done = Command::new("sh").args(["-c", &command]).output();
    let done = done.map_err(ToolExecutionError::from_error)?;
    Ok(format!("{}ok", String::from_utf8_lossy(&done.stdout)))
}

#[rig_tool(description = "Write a text file.", params(path = "Where", content = "What"))]
fn write_file(path: String, content: String) -> Result<String, ToolExecutionError> {
    std::fs::write(path, content).map_err(ToolExecutionError::from_error)?;
    Ok("ok".to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [wire, url, model, ask] = words.as_slice() else { return Err("WIRE URL MODEL ASK".into()) };
    let route = if wire == "chat" { Route::Chat } else { Route::Responses };
    let openai = OpenAIConfig::new("none").with_base_url(format!("{url}/v1")).with_route(route).client();
    let agent = AgentBuilder::new(openai.completion(model.as_str()))
        .preamble("You are an agent.")
        .tool(RunCommand)
        .tool(WriteFile)
        .build();
    println!("{}", agent.prompt(ask.as_str()).max_turns(50).await?.output());
    Ok(())
}

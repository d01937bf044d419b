//! `cargo run -p callwright-agent --example add_numbers`: two functions become tools, and a call of one runs.
#![expect(clippy::print_stdout, reason = "an example shows something")]

use std::error::Error;
use std::sync::Arc;

use callwright::{Context, Verdict, parse};
use callwright_agent::{CallContext, Toolbox, Workspace, tool, tools};

/// Add two numbers together.
#[tool(read)]
fn add_numbers(
    /// The first number
    a: i64,
    /// The second number
    b: i64,
) -> i64 {
    a + b
}

/// Multiply two numbers.
#[tool(read)]
fn multiply_numbers(
    /// The first number
    a: i64,
    /// The second number
    b: i64,
) -> i64 {
    a * b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let toolbox = Toolbox::new(tools![add_numbers, multiply_numbers])?;
    // What a model writes: Python in a fence, with a string where a number belongs.
    let answer = "Let me see.\n```tool_code\nadd_numbers(a=2, b='3')\n```";
    println!("{answer}\n");

    let workspace = Arc::new(Workspace::open(&std::env::current_dir()?)?);
    for verdict in parse(toolbox.tool_set(), answer, &[], &Context::default()).verdicts {
        match verdict {
            Verdict::Accepted(call) => {
                let context = CallContext::new("call_1", workspace.clone());
                let result = toolbox.call(&call.name, &call.arguments, &context).await;
                println!("{}({}) -> {}", call.name, call.arguments, result.content());
            }
            Verdict::Refused(refusal) => println!("refused: {}", refusal.reason.code()),
        }
    }
    Ok(())
}

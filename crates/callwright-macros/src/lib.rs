//! `#[tool]`: a documented function becomes a tool. Used through `callwright-agent`, which says how.

mod options;
mod function;

use proc_macro::TokenStream;

/// Makes a tool of a function; see `callwright_agent::tool`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    let tool = syn::parse(options).and_then(|options| {
        let function = syn::parse(function)?;
        function::tool(&options, function)
    });
    tool.unwrap_or_else(|error| error.into_compile_error()).into()
}

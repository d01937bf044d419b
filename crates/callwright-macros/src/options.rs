//! The options in the brackets: `#[tool(write, idempotent, name = "addNote", timeout_s = 5)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitInt, LitStr, Token};

/// The options of one tool.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) effect: Effect,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
    pub(crate) name: Option<LitStr>,
    pub(crate) timeout_s: Option<LitInt>,
}

/// The changes that the tool may make.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing is said: the worst.
    #[default]
    Unknown,
    Read,
    Write,
    Destructive,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            let effect = match word.to_string().as_str() {
                "read" => Some(Effect::Read),
                "write" => Some(Effect::Write),
                "destructive" => Some(Effect::Destructive),
                "idempotent" => {
                    options.idempotent = true;
                    None
                }
                "open_world" => {
                    options.open_world = true;
                    None
                }
                "name" => {
                    input.parse::<Token![=]>()?;
                    options.name = Some(input.parse()?);
                    None
                }
                "timeout_s" => {
                    input.parse::<Token![=]>()?;
                    options.timeout_s = Some(input.parse()?);
                    None
                }
                _ => {
                    let known =
                        "read, write, destructive, idempotent, open_world, name = \"…\", timeout_s = …";
                    return Err(syn::Error::new(word.span(), format!("unknown option; there are: {known}")));
                }
            };
            if let Some(effect) = effect {
                if options.effect != Effect::Unknown {
                    return Err(syn::Error::new(
                        word.span(),
                        "a tool reads, writes or is destructive: only one",
                    ));
                }
                options.effect = effect;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

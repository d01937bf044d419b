//! The function itself: what a tool needs is taken from its signature and its documentation.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, Ident, ItemFn, Lit, Meta, Pat, PatType, Type};

use crate::options::{Effect, Options};

/// The function as it was, and a type of the same name that is the tool.
///
/// Functions and types of one name do not collide: `add_numbers(2, 3)` is a call, `add_numbers {}` the tool.
pub(crate) fn tool(options: &Options, mut function: ItemFn) -> syn::Result<TokenStream> {
    let signature = &function.sig;
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new(signature.generics.span(), "a tool has no generic parameters"));
    }
    let description = documentation(&function.attrs);
    if description.is_empty() {
        let message = "a tool needs a doc comment: it is what the model reads";
        return Err(syn::Error::new(signature.ident.span(), message));
    }
    let mut fields = Vec::new();
    let mut passed = Vec::new();
    let mut names = Vec::new();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(parameter) = input else {
            return Err(syn::Error::new(input.span(), "a tool has no self"));
        };
        if is_context(&parameter.ty) {
            passed.push(quote!(context));
            continue;
        }
        let name = name_of(parameter)?;
        // Documentation of a parameter is for us; the compiler knows none.
        let (ours, theirs) = parameter.attrs.drain(..).partition::<Vec<_>, _>(is_ours);
        parameter.attrs = theirs;
        let ty = &parameter.ty;
        let default = is_option(ty).then(|| quote!(#[serde(default)]));
        fields.push(quote!(#(#ours)* #default #name: #ty));
        passed.push(quote!(arguments.#name));
        names.push(name.to_string().trim_start_matches("r#").to_owned());
    }
    Ok(rendered(options, &function, &description, &fields, &names, &passed))
}

fn rendered(
    options: &Options,
    function: &ItemFn,
    description: &str,
    fields: &[TokenStream],
    names: &[String],
    passed: &[TokenStream],
) -> TokenStream {
    let (ident, visibility) = (&function.sig.ident, &function.vis);
    let called = options.name.as_ref().map_or_else(|| ident.to_string(), syn::LitStr::value);
    let called = called.strip_prefix("r#").unwrap_or(&called).to_owned();
    let kind = kind(options);
    let timeout = options.timeout_s.as_ref().map(|seconds| {
        quote! {
            fn timeout(&self, _: &::callwright_agent::Arguments) -> ::core::option::Option<::core::time::Duration> {
                ::core::option::Option::Some(::core::time::Duration::from_secs(#seconds))
            }
        }
    });
    let awaited = function.sig.asyncness.map(|_| quote!(.await));
    let serde_path = "::callwright_agent::macros::serde";
    let schemars_path = "::callwright_agent::macros::schemars";
    let tool_doc = format!("The tool `{called}`.");
    quote! {
        #function

        #[doc = #tool_doc]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        #visibility struct #ident {}

        const _: () = {
            #[derive(::callwright_agent::macros::serde::Deserialize, ::callwright_agent::macros::schemars::JsonSchema)]
            #[serde(crate = #serde_path)]
            #[schemars(crate = #schemars_path)]
            struct Parameters { #(#fields),* }

            impl ::callwright_agent::Tool for #ident {
                fn definition(&self) -> ::callwright_agent::macros::Value {
                    ::callwright_agent::macros::definition::<Parameters>(#called, #description, &[#(#names),*])
                }

                fn kind(&self) -> ::callwright_agent::Kind {
                    #kind
                }

                #timeout

                fn call<'a>(
                    &'a self,
                    arguments: &'a ::callwright_agent::Arguments,
                    context: &'a ::callwright_agent::CallContext,
                ) -> ::callwright_agent::Calling<'a> {
                    ::std::boxed::Box::pin(async move {
                        let _ = context;
                        match ::callwright_agent::macros::parameters::<Parameters>(arguments) {
                            ::core::result::Result::Ok(arguments) => {
                                let _ = &arguments;
                                ::callwright_agent::IntoResult::into_result(#ident(#(#passed),*)#awaited)
                            }
                            ::core::result::Result::Err(error) => error.into(),
                        }
                    })
                }
            }
        };
    }
}

fn kind(options: &Options) -> TokenStream {
    let kind = match options.effect {
        Effect::Read => quote!(::callwright_agent::Kind::READ),
        Effect::Write => quote!(::callwright_agent::Kind::WRITE),
        Effect::Destructive | Effect::Unknown => quote!(::callwright_agent::Kind::DESTRUCTIVE),
    };
    let idempotent = options.idempotent.then(|| quote!(.idempotent()));
    let open = options.open_world.then(|| quote!(.open()));
    quote!(#kind #idempotent #open)
}

fn is_ours(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

/// The text of the doc comments, its lines joined as Markdown joins them: a blank line ends a paragraph.
fn documentation(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(value) = &pair.value else { continue };
        let (true, Lit::Str(line)) = (pair.path.is_ident("doc"), &value.lit) else { continue };
        let line = line.value();
        let line = line.trim();
        let joint = match () {
            () if text.is_empty() || text.ends_with('\n') => "",
            () if line.is_empty() => "\n",
            () => " ",
        };
        text.push_str(joint);
        text.push_str(line);
    }
    text.trim().to_owned()
}

fn name_of(parameter: &PatType) -> syn::Result<Ident> {
    match parameter.pat.as_ref() {
        Pat::Ident(name) => Ok(name.ident.clone()),
        other => Err(syn::Error::new(other.span(), "a parameter of a tool has a name")),
    }
}

/// Returns whether it is `&CallContext`, under any path.
fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => last_segment(&reference.elem).is_some_and(|name| name == "CallContext"),
        _ => false,
    }
}

fn is_option(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|name| name == "Option")
}

fn last_segment(ty: &Type) -> Option<Ident> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|segment| Ident::new(&segment.ident.to_string(), Span::call_site()))
}

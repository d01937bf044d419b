//! The caller's knowledge of an answer besides its text.

use std::sync::LazyLock;

use callwright::{CallsInReasoning, Compiled, Context, Dialects, NativeCall, Policy, ToolChoice};
use serde::Deserialize;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The options of `parse` and of a scanner; those that have a name or a record behind them are still to be looked up.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Options {
    finish_reason: Option<String>,
    native: Option<Vec<Native>>,
    native_mode: Option<bool>,
    asked: Option<String>,
    tool_choice: Option<Box<RawValue>>,
    starts_in_reasoning: bool,
    unsure_is_text: bool,
    doubt_open_ends: bool,
    live: bool,
    policy: Option<String>,
    calls_in_reasoning: Option<String>,
    dialects: Vec<Box<RawValue>>,
    only: Option<String>,
}

/// A native call as it came.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Native {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Native {
    pub(crate) fn borrowed(&self) -> NativeCall<'_> {
        NativeCall { id: self.id.as_deref(), name: &self.name, arguments: &self.arguments }
    }
}

/// The dialects of callers who look for others than the built-in ones, by what they gave.
static DIALECTS: LazyLock<Compiled<Dialects>> = LazyLock::new(|| Compiled::new(compile));

/// Own records, and the name of the only dialect to look for.
type Wanted<'w> = (&'w RawValue, Option<String>);

fn compile(wanted: &str) -> Result<Dialects, String> {
    let (own, only): Wanted<'_> = serde_json::from_str(wanted).map_err(|error| error.to_string())?;
    let own = callwright::Dialect::list_from_json(own.get())
        .map_err(|error| format!("`dialects` is not a list of dialects: {error}"))?;
    let dialects = Dialects::new(own).map_err(|error| error.to_string())?;
    match only {
        None => Ok(dialects),
        Some(name) => dialects.only(&name).ok_or_else(|| no_dialect(&dialects, &name)),
    }
}

fn no_dialect(dialects: &Dialects, name: &str) -> String {
    let names: Vec<&str> = dialects.iter().map(|dialect| &*dialect.name).collect();
    format!("there is no dialect `{name}`; there are {}", names.join(", "))
}

impl Options {
    /// Reads options; nothing stands for none.
    ///
    /// # Errors
    /// Names the unknown option.
    pub(crate) fn read(options: &[u8]) -> Result<Options, String> {
        if options.is_empty() {
            return Ok(Options::default());
        }
        serde_json::from_str(&crate::told::text(options)).map_err(|error| format!("the options: {error}"))
    }

    /// The native calls, which go in before the text.
    pub(crate) fn native(&self) -> &[Native] {
        self.native.as_deref().unwrap_or_default()
    }

    /// The tools that the request lets the model call.
    fn tool_choice(&self) -> Result<ToolChoice, String> {
        let Some(choice) = &self.tool_choice else { return Ok(ToolChoice::Auto) };
        let value = choice.get().parse().unwrap_or_default();
        let unknown = || format!("`toolChoice` is not one that a request may have: {}", choice.get());
        ToolChoice::from_value(&value).ok_or_else(unknown)
    }

    /// The same, as the engine takes it.
    ///
    /// # Errors
    /// Names the unknown dialect.
    pub(crate) fn context(&self) -> Result<Context<'_>, String> {
        let dialects = if self.dialects.is_empty() && self.only.is_none() {
            Dialects::default()
        } else {
            let wanted = crate::told::json(&(&self.dialects, &self.only));
            Result::clone(&DIALECTS.get(&wanted))?
        };
        if let Some(name) = self.asked.as_deref().filter(|name| dialects.get(name).is_none()) {
            return Err(no_dialect(&dialects, name));
        }
        let policy = self.policy.as_deref().unwrap_or("auto");
        let calls_in_reasoning = self.calls_in_reasoning.as_deref().unwrap_or("unclosed");
        Ok(Context {
            finish_reason: self.finish_reason.as_deref(),
            starts_in_reasoning: self.starts_in_reasoning,
            native: self.native_mode.unwrap_or(self.native.is_some() && self.asked.is_none()),
            asked: self.asked.as_deref(),
            tool_choice: self.tool_choice()?,
            unsure_is_text: self.unsure_is_text,
            dialects,
            policy: Policy::named(policy)
                .ok_or_else(|| format!("no policy `{policy}`: there are auto, heal, feedback and strict"))?,
            calls_in_reasoning: CallsInReasoning::named(calls_in_reasoning).ok_or_else(|| {
                format!("`callsInReasoning` is ignore, unclosed or accept, not `{calls_in_reasoning}`")
            })?,
            doubt_open_ends: self.doubt_open_ends,
            live: self.live,
        })
    }
}

/// Returns whether this `finish_reason` says that the answer ended before the model had said all.
#[wasm_bindgen]
pub fn is_cut(finish_reason: &str) -> bool {
    callwright::is_cut(finish_reason)
}

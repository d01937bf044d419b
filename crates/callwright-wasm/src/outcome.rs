//! A whole answer: its calls, refusals and text.

use callwright::{NativeCall, Report};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::definitions::Tools;
use crate::options::{Native, Options};
use crate::told::{self, Shown, Told, json, utf16, with_edits};

/// Writes an outcome as a line of JSON and one for each call: its text, its reasoning, its verdicts and the calls that are shown
/// in it, in this order, without names.
pub(crate) fn outcome(outcome: &callwright::Outcome, source: &str, native: &[Native]) -> String {
    let mut places = utf16(source);
    let mut arguments = native.iter().map(|native| native.arguments.as_str());
    let verdicts = outcome.verdicts.iter().map(|verdict| {
        let source = verdict.is_native().then(|| arguments.next()).flatten();
        Told::of(verdict, &mut places, source)
    });
    let verdicts: Vec<Told<'_>> = verdicts.collect();
    let shown = outcome.shown.iter().map(|shown| Shown::of(shown, &mut places));
    let shown: Vec<Shown<'_>> = shown.collect();
    with_edits(&(&outcome.text, &outcome.reasoning, &verdicts, shown), verdicts.iter())
}

/// The line of `callwright parse --json`.
pub(crate) fn report(outcome: &callwright::Outcome, source: &str, native: &[Native]) -> String {
    let native: Vec<NativeCall<'_>> = native.iter().map(Native::borrowed).collect();
    json(&Report::of(outcome, source, &native))
}

#[wasm_bindgen]
impl Tools {
    /// Reads the answer `text`; gives its outcome as a line of JSON and one for each call. `options` are JSON, too.
    ///
    /// # Errors
    /// Names the unknown option.
    pub fn parse(&self, text: &[u8], options: &[u8]) -> Result<String, String> {
        self.read(text, options, outcome)
    }

    /// The report on the answer `text`: the line of `callwright parse --json`, whose places are bytes.
    ///
    /// # Errors
    /// Names the unknown option.
    pub fn report(&self, text: &[u8], options: &[u8]) -> Result<String, String> {
        self.read(text, options, report)
    }

    fn read(
        &self,
        text: &[u8],
        options: &[u8],
        tell: impl FnOnce(&callwright::Outcome, &str, &[Native]) -> String,
    ) -> Result<String, String> {
        let (text, options) = (told::text(text), Options::read(options)?);
        let native: Vec<NativeCall<'_>> = options.native().iter().map(Native::borrowed).collect();
        let outcome = callwright::parse(&self.tools, &text, &native, &options.context()?);
        Ok(tell(&outcome, &text, options.native()))
    }
}

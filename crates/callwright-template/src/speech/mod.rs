//! The speech of a dialect that was inferred, for a model whose server drops the tools: the tools, the calls and the results
//! stand as the template itself writes them.
//!
//! The texts of the template go in; out comes a [`PromptFormat`]. A part of it that cannot be told from the template is the
//! general one. No text of it holds a mark that begins or ends a turn: the server writes those.

mod calls;
mod frame;
mod results;
mod system;

use callwright::Dialect;
use callwright::prompt::PromptFormat;

use crate::form::{Form, Samples};
use crate::probe::{Manner, Probe};
use frame::Frame;

/// The speech of `record`, whose calls have this form in the template.
pub(crate) fn of(
    probe: &Probe<'_>,
    manner: Manner,
    samples: &Samples,
    form: &Form,
    record: &Dialect,
) -> PromptFormat {
    let mut speech = PromptFormat::of(record);
    if let Some(calls) = calls::calls(samples, form, &speech.calls) {
        speech.calls = calls;
    }
    let frame = Frame::of(probe);
    let results = results::results(probe, manner, &frame);
    let told = system::system(probe, &frame, record);
    speech.trained = results.is_some() && told.is_some();
    if let Some(results) = results {
        speech.results = results;
    }
    if let Some((system, listing)) = told {
        (speech.system, speech.listing) = (system.into(), listing);
    }
    speech
}

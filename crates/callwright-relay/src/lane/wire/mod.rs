//! The answers of each API: their calls, and the way to write replacements.

mod messages;
mod responses;
pub(crate) mod told;

use callwright_json::Value;

pub(crate) use self::responses::text_part;

use self::told::Wire;

use crate::api::Surface;
use crate::wire::string_of;

/// Returns the wire of this API.
pub(crate) fn of(surface: Surface) -> Box<dyn Wire> {
    match surface {
        Surface::Responses => Box::new(responses::Responses::default()),
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => Box::new(messages::Messages),
    }
}

/// Returns whether this whole answer is an error, whatever its status.
pub(crate) fn is_failed(answer: Value<'_>) -> bool {
    let is_error = answer.get("error").is_some_and(|error| error.raw() != "null");
    is_error || string_of(answer, "status").is_some_and(|status| status == "failed")
}

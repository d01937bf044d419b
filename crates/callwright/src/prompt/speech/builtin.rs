//! What the speeches of the built-in dialects are made of. The facts are those of the models' published chat templates and
//! encoders; where there is none, only the form of a call is the dialect's own, and the speech says so.

use super::{Arguments, Calls, Definition, Listing, PromptFormat};
use crate::syntax::Text;

/// What teaches a dialect whose models' own words nobody knows.
const GENERAL: &str = "# Tools\n\nYou may call these functions:\n<tools>\n{tools}\n</tools>\n\nTo call a function, write \
                       exactly this, with the function's name and its arguments:\n{calls}\n";

/// A speech with texts of our own.
pub(crate) fn taught(system: &'static str) -> PromptFormat {
    PromptFormat { system: Text::Borrowed(system), ..PromptFormat::default() }
}

/// A speech with texts like those that the dialect's models know.
pub(crate) fn trained(system: &'static str) -> PromptFormat {
    PromptFormat { trained: true, ..taught(system) }
}

/// The general speech.
pub(crate) fn general() -> PromptFormat {
    taught(GENERAL)
}

/// None of these is copied to where it is called: they run once, and there are some hundred calls.
impl PromptFormat {
    #[inline(never)]
    pub(crate) fn listing(
        mut self,
        form: Definition,
        each: &'static str,
        between: &'static str,
    ) -> PromptFormat {
        self.listing = Listing { form, each: Text::Borrowed(each), between: Text::Borrowed(between) };
        self
    }

    /// Calls, each on its own: what stands around one, and what between two.
    #[inline(never)]
    pub(crate) fn call(self, call: &'static str, between: &'static str) -> PromptFormat {
        self.section("", call, between, "")
    }

    /// Calls with something around all of them.
    #[inline(never)]
    pub(crate) fn section(
        mut self,
        open: &'static str,
        call: &'static str,
        between: &'static str,
        close: &'static str,
    ) -> PromptFormat {
        let arguments = std::mem::take(&mut self.calls.arguments);
        let [open, call, between, close] = [open, call, between, close].map(Text::Borrowed);
        self.calls = Calls { open, call, between, close, arguments };
        self
    }

    #[inline(never)]
    pub(crate) fn arguments(mut self, arguments: Arguments) -> PromptFormat {
        self.calls.arguments = arguments;
        self
    }

    /// A result that the form itself assigns to its call: by its name, or by its place among the others.
    #[inline(never)]
    pub(crate) fn result(mut self, role: &'static str, result: &'static str) -> PromptFormat {
        self.results.role = Text::Borrowed(role);
        self.results.label = Text::Borrowed("");
        self.results.result = Text::Borrowed(result);
        self
    }

    /// What stands around all results, and between two.
    #[inline(never)]
    pub(crate) fn results(
        mut self,
        open: &'static str,
        between: &'static str,
        close: &'static str,
    ) -> PromptFormat {
        [self.results.open, self.results.between, self.results.close] =
            [open, between, close].map(Text::Borrowed);
        self
    }

    /// Each result is named in front of it.
    #[inline(never)]
    pub(crate) fn labelled(mut self) -> PromptFormat {
        self.results.label = Text::Borrowed("Result of {name}:\n");
        self
    }
}

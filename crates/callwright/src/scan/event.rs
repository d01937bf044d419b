//! The pieces of an answer that go in, and the events that come out.

use callwright_json::{Guide as _, Partial};

use crate::tools::Tool;
use crate::verdict::Verdict;

/// A piece of an answer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// Text.
    Text(&'a str),
    /// Reasoning that the upstream keeps apart: a block like one in the text, which the next piece of another kind
    /// closes. [`CallsInReasoning`](crate::CallsInReasoning) says what becomes of calls in it.
    Reasoning(&'a str),
    /// A piece of a native call. From the first one on, the text of the answer holds no calls.
    ToolCall(CallDelta<'a>),
}

/// A piece of a native call, as it comes over the wire. Each part may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallDelta<'a> {
    /// The number of its call in the answer.
    pub index: Option<usize>,
    /// The call's id.
    pub id: Option<&'a str>,
    /// The tool's name.
    pub name: Option<&'a str>,
    /// The next piece of the argument text.
    pub arguments: Option<&'a str>,
}

/// A fact of the answer that became certain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Prose: the model's words to the user.
    Text(String),
    /// Thoughts of the model.
    Reasoning(String),
    /// A native call has begun to go out before its verdict, which will come. Only
    /// [`Context::live`](crate::Context::live) and [`Scanner::stream_native_call`](crate::Scanner::stream_native_call)
    /// allow that, and never for a call in the text.
    CallStarted {
        /// The call's [number](crate::Scanner::native_call). Native calls have their verdicts in this order, behind
        /// those of all calls in the text.
        call: usize,
        /// The upstream's id, if it has come by now.
        id: Option<String>,
        /// The declared name.
        name: String,
    },
    /// The next piece of the arguments of a started call. All its pieces together are the beginning of the arguments
    /// that its verdict accepts, to the byte. For a refused call, they are never a whole JSON value.
    CallArguments {
        /// The number of the started call.
        call: usize,
        /// The piece; never empty.
        piece: String,
    },
    /// A call.
    Call(Verdict),
}

/// A call that is being written.
#[derive(Clone, Debug)]
pub struct PartialCall {
    /// The upstream's id of a native call, if any.
    pub id: Option<String>,
    /// The tool's declared name.
    pub name: String,
    /// The arguments so far.
    pub arguments: Partial,
}

impl PartialCall {
    /// Makes the part of a call of `tool`. Of a tool that declares no arguments nothing is told: a call of its own may
    /// stand there.
    pub(super) fn new(id: Option<String>, tool: &Tool, arguments: Partial) -> PartialCall {
        let guide = tool.schema().guide();
        let declares_some = guide.name(guide.root(), 0).is_some();
        let arguments = if declares_some { arguments } else { Partial::default() };
        PartialCall { id, name: tool.name().to_owned(), arguments }
    }
}

//! The pieces of an answer that go in, and the events that come out.

use crate::verdict::Verdict;

/// A piece of an answer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// Text.
    Text(&'a str),
    /// Reasoning that the upstream keeps apart: a block like one in the text, which the next piece of another kind closes.
    /// [`CallsInReasoning`](crate::CallsInReasoning) says what becomes of calls in it.
    Reasoning(&'a str),
    /// A piece of a native call. Where an answer has native calls, its text holds none from there on.
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
    /// Prose: what the model says.
    Text(String),
    /// Thoughts of the model.
    Reasoning(String),
    /// A native call has begun to go out before its verdict, which will come; only with
    /// [`Context::live`](crate::Context::live), or behind [`Scanner::stream_native_call`](crate::Scanner::stream_native_call). A call in the text never does.
    CallStarted {
        /// Its [number](crate::Scanner::native_call). Native calls have their verdicts in this order, behind those of all calls in the
        /// text.
        call: usize,
        /// The upstream's id, if there was one by now.
        id: Option<String>,
        /// The declared name.
        name: String,
    },
    /// The next piece of the arguments of a call that was started. All pieces of a call, one after the other, are the
    /// beginning of the arguments that its verdict accepts, to the byte; of a refused call they are never a whole JSON
    /// value.
    CallArguments {
        /// The number of the call that was started.
        call: usize,
        /// The piece; never empty.
        piece: String,
    },
    /// A call.
    Call(Verdict),
}

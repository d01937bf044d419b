//! Repairs: edits of the source text that together turn it into strict JSON.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::Span;

/// One edit, which replaces the bytes `at` by `put`.
///
/// `{"a": 1` → `Repair { kind: AddCloser, at: 7..7, put: "}" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The habit or accident that the edit repairs.
    pub kind: RepairKind,
    /// The replaced bytes of the source; empty for an insertion.
    pub at: Span,
    /// The new text; empty for a deletion.
    pub put: Cow<'static, str>,
}

impl Repair {
    pub(crate) fn new(kind: RepairKind, at: Span, put: impl Into<Cow<'static, str>>) -> Repair {
        Repair { kind, at, put: put.into() }
    }
}

/// The amount of inference in a repair. A call has the class of its worst repair.
///
/// Ambiguous, lossy and hostile readings have no class: they never become a value. The enum is exhaustive, so
/// that code that decides what may run must decide each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// R0: the text is unchanged.
    Exact,
    /// R1: only wrapping or spelling changed; keys and values are the model's, byte for byte.
    Lossless,
    /// R2: the only possible addition or deletion was made.
    Inferred,
}

impl Class {
    /// Returns the short name used in reports: `R0`, `R1`, `R2`.
    pub fn code(self) -> &'static str {
        match self {
            Class::Exact => "R0",
            Class::Lossless => "R1",
            Class::Inferred => "R2",
        }
    }
}

macro_rules! repair_kinds {
    ($($(#[$doc:meta])* $kind:ident $code:literal $class:ident,)*) => {
        /// The change that a repair makes. Programs use its stable name, [`RepairKind::code`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RepairKind { $($(#[$doc])* $kind,)* }

        impl RepairKind {
            /// All kinds, in the order of their declaration.
            pub const ALL: &'static [RepairKind] = &[$(RepairKind::$kind,)*];

            /// Returns the stable, kebab-case name.
            pub fn code(self) -> &'static str {
                match self { $(RepairKind::$kind => $code,)* }
            }

            /// Returns the class of this repair.
            pub fn class(self) -> Class {
                match self { $(RepairKind::$kind => Class::$class,)* }
            }
        }
    };
}

repair_kinds! {
    /// Prose before, after or between values is left out.
    DropProse "drop-prose" Lossless,
    /// A Markdown fence around the value is left out.
    DropFence "drop-fence" Lossless,
    /// A reasoning block is left out.
    DropThink "drop-think" Lossless,
    /// Tags or special tokens around the value are left out.
    DropTag "drop-tag" Lossless,
    /// A comment is left out.
    DropComment "drop-comment" Lossless,
    /// A comma too many is left out: `[1,]`.
    DropComma "drop-comma" Lossless,
    /// A second, equal value is left out: `{"a":1}{"a":1}`.
    DropRepeat "drop-repeat" Lossless,
    /// An opening bracket too many is left out: `{{"a":1}}`.
    DropOpener "drop-opener" Inferred,
    /// A closing bracket too many is left out: `{"a":1}}`.
    DropCloser "drop-closer" Inferred,
    /// A member whose value is `undefined` is left out.
    DropUndefined "drop-undefined" Lossless,
    /// A missing comma is added: `{"a":1 "b":2}`.
    AddComma "add-comma" Inferred,
    /// A missing colon is added: `{"a" 1}`.
    AddColon "add-colon" Inferred,
    /// A missing opening bracket is added: `"a":1}`.
    AddOpener "add-opener" Inferred,
    /// A missing closing bracket is added: `{"a":1`.
    AddCloser "add-closer" Inferred,
    /// A missing end of a call is added, where the text ends and no other reading is left:
    /// `<parameter=a>x</parameter>`.
    AddEnd "add-end" Inferred,
    /// A missing quote is added: `{"a": "x, "b": 1}`.
    AddQuote "add-quote" Inferred,
    /// The parameter's name is added to a positional argument: `f("x")`.
    AddKey "add-key" Inferred,
    /// A bracket of the wrong sort is replaced: `[1, 2)`.
    SwapBracket "swap-bracket" Inferred,
    /// Another sort of quote is replaced: `'a'`, `“a”`, `` `a` ``.
    SwapQuote "swap-quote" Lossless,
    /// Another sort of punctuation is replaced: `=`, `：`, `，`, `;`.
    SwapPunctuation "swap-punctuation" Lossless,
    /// A literal or number of another language is replaced: `True`, `None`, `.5`, `0x1F`.
    SwapLiteral "swap-literal" Lossless,
    /// Call or tuple brackets are replaced by JSON ones: `(1, 2)`, `f(a=1)`.
    SwapSyntax "swap-syntax" Lossless,
    /// A mark around a call or an argument is repaired, or added: `<parametre=a>`, `</parameter`.
    MendMark "mend-mark" Inferred,
    /// A bare key gets its quotes: `{a: 1}`.
    QuoteKey "quote-key" Lossless,
    /// A bare text gets its quotes: `{"a": Paris}`.
    QuoteValue "quote-value" Inferred,
    /// A quote inside a string is escaped: `"say "hi""`.
    EscapeQuote "escape-quote" Inferred,
    /// A raw control character inside a string is escaped.
    EscapeControl "escape-control" Lossless,
    /// A backslash that begins no valid escape is doubled: `"\d+"`.
    EscapeBackslash "escape-backslash" Inferred,
    /// A backslash that another language wants is dropped: `"don\'t"`.
    DropBackslash "drop-backslash" Lossless,
    /// An escape of another language is rewritten: `'\x41'`.
    SwapEscape "swap-escape" Lossless,
    /// Strings joined by `+`, or by standing side by side, become one.
    JoinStrings "join-strings" Lossless,
    /// Whitespace between tokens that JSON does not have: written as an escape, `{\n"a": 1}`, or of another script.
    DropEscape "drop-escape" Lossless,
    /// Signs that belong to no token are left out: `"a"*: 1`.
    DropNoise "drop-noise" Inferred,
    /// JSON inside a JSON string is taken out of it: `"{\"a\":1}"`.
    Unwrap "unwrap" Lossless,
}

/// Applies `repairs` to `text`.
///
/// For the repairs of a [`Reading`](crate::Reading) of `text` the result is that reading's strict JSON.
/// Repairs must be in order and must not overlap, as a reading's are; one that lies outside `text`, or
/// before the end of the one in front of it, is passed over.
///
/// ```
/// let text = r#"{"a": "b""#;
/// let parse = callwright_json::read(text, &callwright_json::AnyValue);
/// let reading = parse.settled().unwrap();
/// assert_eq!(callwright_json::apply(text, &reading.repairs), r#"{"a": "b"}"#);
/// ```
pub fn apply(text: &str, repairs: &[Repair]) -> String {
    apply_within(text, Span::new(0, text.len()), repairs)
}

/// Applies `repairs`, whose places are in `text`, to the part of it at `span`.
pub(crate) fn apply_within(text: &str, span: Span, repairs: &[Repair]) -> String {
    let grown: usize = repairs.iter().map(|r| r.put.len()).sum();
    let mut out = String::with_capacity(span.len() + grown);
    let mut done = span.start as usize;
    for repair in repairs {
        let range = repair.at.range();
        if range.end > span.end as usize || !text.is_char_boundary(range.end) {
            continue;
        }
        let Some(kept) = text.get(done..range.start) else { continue };
        out.push_str(kept);
        out.push_str(&repair.put);
        done = range.end;
    }
    out.push_str(text.get(done..span.end as usize).unwrap_or(""));
    out
}

/// Returns the worst class among `repairs`; `Exact` for an empty list.
pub fn class_of(repairs: &[Repair]) -> Class {
    repairs.iter().map(|r| r.kind.class()).max().unwrap_or(Class::Exact)
}

/// Returns the distinct kinds among `repairs`, in order of first use, each with its count.
pub fn tally(repairs: &[Repair]) -> Vec<(RepairKind, usize)> {
    let mut kinds: Vec<(RepairKind, usize)> = Vec::new();
    for repair in repairs {
        match kinds.iter_mut().find(|(kind, _)| *kind == repair.kind) {
            Some((_, n)) => *n += 1,
            None => kinds.push((repair.kind, 1)),
        }
    }
    kinds
}

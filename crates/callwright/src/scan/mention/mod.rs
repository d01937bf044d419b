//! Is a call made, or only shown? What stands around it and where it stands tells, and no word of any language does.
//!
//! A run is calls with nothing but marks and blanks between them. It is asked once how it begins, and where that does not
//! decide, what follows is held until it does: the rest of its line, the first word behind it, the end. What is shown goes
//! out as the text it is, to the byte.

mod elements;
mod pairs;
mod prefix;
mod surroundings;
mod waiting;

pub(super) use self::surroundings::{Before, Surroundings};
use self::surroundings::{Behind, Enclosed, Shows};
pub(super) use self::waiting::{Begun, Held};
use super::Scanner;
use super::opener::{Delimiter, Opener};
use crate::verdict::ShownBy;

/// How a run is written.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// By marks that only calls have.
    is_marked: bool,
    /// It was asked for.
    is_asked: bool,
    /// Another one was.
    is_foreign: bool,
    /// The fence of its own that it stands in.
    fence: Option<Fence>,
    /// What follows stands in its list, `[f(a=1), …`.
    is_listed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    len: usize,
    /// It is longer than one around calls is, or has a heading in it.
    shows: bool,
    /// Its label names something in which calls are written.
    is_of_calls: bool,
    /// More stands in it than the run.
    is_open: bool,
}

/// What a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Made,
    /// A call perhaps: the caller may ask.
    Unsure,
    /// Unmarked and between words: what the runs at the edge are.
    Between,
    /// A word joins it to the run before it on its line: what that is.
    AsBefore,
    /// It stands in code that a model wants run.
    InCode,
    Shown(ShownBy),
}

/// The signs in front of `opener`'s own marks that are a pair elsewhere: quotes and ticks.
fn own_pairs<'l>(opener: &'l Opener) -> impl Iterator<Item = (char, usize)> + 'l {
    opener.delimiters.iter().map_while(|delimiter| match delimiter {
        Delimiter::Quote(sign) => Some((char::from(*sign), 1)),
        Delimiter::Ticks(n) => Some(('`', *n)),
        Delimiter::Paren | Delimiter::Bracket | Delimiter::Fence(_) | Delimiter::Tag => None,
    })
}

impl Scanner<'_> {
    /// Looks at how the call of `opener` begins.
    pub(super) fn look_around(&mut self, opener: &Opener) {
        self.standing.before = self.standing.surroundings.before(&self.text, opener.start, own_pairs(opener));
        // `assistant<|end_header_id|>⏎⏎[f(a=1)]`: a token that ends a line is none of the call's.
        let marks = self.text.get(opener.start..item_start(opener)).unwrap_or("");
        if !opener.is_distinct() && opener.delimiters.first() == Some(&Delimiter::Tag) && marks.contains('\n')
        {
            (self.standing.before.on_line, self.standing.before.in_sentence) = (false, false);
        }
    }

    /// Is it sure at its first byte that `opener` begins a call that is made, whatever follows?
    pub(super) fn is_sure(&self, opener: &Opener) -> bool {
        let form = self.form(opener);
        self.standing.held.is_empty()
            && self.standing.held.is_sure()
            && form.fence.is_none()
            && self
                .inherited(&form, &self.standing.before)
                .or_else(|| self.stand(&form, &self.standing.before, None, false))
                == Some(Stand::Made)
    }

    fn form(&self, opener: &Opener) -> Form {
        // A fence between marks is a part of them.
        let outside = opener.delimiters.iter().take_while(|delimiter| **delimiter != Delimiter::Tag);
        let fence = outside.filter_map(|delimiter| match delimiter {
            Delimiter::Fence(len) => Some(*len),
            _ => None,
        });
        let fence = fence.max();
        let fence = fence.map(|len| {
            let head = self.text.get(opener.start..item_start(opener)).unwrap_or("");
            // Under a label of its own, `# A` is a heading rather than a comment.
            let mut lines = head.lines().skip(1);
            let is_of_calls = is_label_of_calls(label(head));
            let has_heading = !is_of_calls && lines.any(|line| line.trim_start().starts_with(['#', '/']));
            Fence { len, shows: 3 < len || has_heading, is_of_calls, is_open: false }
        });
        let is_asked = self.rules.asked.as_ref().is_some_and(|asked| asked.kin == opener.dialect.kin);
        Form {
            is_marked: opener.is_distinct() && fence.is_none(),
            is_asked,
            is_foreign: self.rules.asked.is_some() && !is_asked,
            fence,
            is_listed: false,
        }
    }

    /// What a run is, of this form and with this around it; `None` where what follows must tell. Without `behind` nothing
    /// that follows it is known.
    fn stand(&self, form: &Form, before: &Before, behind: Option<&Behind>, end: bool) -> Option<Stand> {
        let shown = |why| Some(Stand::Shown(why));
        match before.shows {
            Some(Shows::Fence) => return shown(ShownBy::Fence),
            Some(Shows::Indent) => return shown(ShownBy::Indent),
            Some(Shows::Prefix) => return shown(ShownBy::Prefix),
            Some(Shows::Code) => return Some(Stand::InCode),
            None => {}
        }
        let begun = Behind::of(before);
        let behind = behind.unwrap_or(&begun);
        let mut is_marked = form.is_marked;
        if let Some(fence) = form.fence {
            match fence {
                Fence { shows: true, .. } => return shown(ShownBy::Fence),
                Fence { is_open: true, .. } | Fence { is_of_calls: false, .. } if behind.words => {
                    return shown(ShownBy::Fence);
                }
                Fence { is_open: true, .. } | Fence { is_of_calls: false, .. } if !end => return None,
                Fence { .. } => {}
            }
        }
        match behind.pair {
            Enclosed::Closed if before.on_line => return shown(ShownBy::Pair),
            Enclosed::ClosedBeforeWords => return shown(ShownBy::Pair),
            Enclosed::Open | Enclosed::Closed if !end => return None,
            Enclosed::Closed | Enclosed::Alone => is_marked = false,
            Enclosed::Open | Enclosed::No => {}
        }
        match behind.element {
            Enclosed::Closed | Enclosed::Alone if before.words_before_element => {
                return shown(ShownBy::Element);
            }
            Enclosed::ClosedBeforeWords => return shown(ShownBy::Element),
            Enclosed::Open | Enclosed::Closed | Enclosed::Alone if !end => return None,
            _ => {}
        }
        if before.on_line {
            match behind {
                Behind { on_line: true, .. } => return shown(ShownBy::Line),
                Behind { line_over: false, .. } if !end => return None,
                Behind { .. } => {}
            }
        }
        let words_before = before.words || before.behind_tag && behind.element == Enclosed::Open;
        let is_beside = words_before && behind.words;
        let may_come = before.words && !behind.words && !end;
        if !is_marked {
            return match () {
                () if before.in_sentence && before.behind_call => Some(Stand::AsBefore),
                () if before.in_sentence => shown(ShownBy::Sentence),
                () if (behind.goes_on || !behind.is_begun) && !end && !behind.line_over => None,
                () if behind.goes_on && !behind.joined && !form.is_listed => shown(ShownBy::Sentence),
                // A model that was given its tools natively calls without marks only with nothing else.
                () if self.rules.explicit && behind.words => shown(ShownBy::Between),
                () if self.rules.explicit && !end => None,
                () if is_beside && form.is_asked => Some(Stand::Unsure),
                () if is_beside => Some(Stand::Between),
                () if may_come => None,
                () => Some(Stand::Made),
            };
        }
        let is_doubted = self.rules.explicit || form.is_foreign;
        match is_beside || before.in_sentence {
            true if is_doubted => Some(Stand::Unsure),
            false if is_doubted && may_come => None,
            _ => Some(Stand::Made),
        }
    }
}

/// Where the name or the value begins behind the marks of `opener`.
fn item_start(opener: &Opener) -> usize {
    opener.item.name().map_or(opener.item.at(), |name| opener.item.at().min(name.start as usize))
}

/// Does `opener` begin with a fence whose label is the name of its dialect? Nothing else is labelled so, which makes it a mark:
/// "```tool_code".
pub(super) fn is_labelled(text: &str, opener: &Opener) -> bool {
    let is_fenced = opener.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_)));
    is_fenced && *label(text.get(opener.start..item_start(opener)).unwrap_or("")) == *opener.dialect.name
}

/// The label of the fence in `head`.
fn label(head: &str) -> &str {
    let behind = head.find("```").and_then(|fence| head.get(fence..)).unwrap_or("").trim_start_matches('`');
    behind.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '+')).next().unwrap_or("")
}

/// Does the label of a fence name a format in which calls are written, or calls themselves? Others say what is shown.
fn is_label_of_calls(label: &str) -> bool {
    const FORMATS: [&str; 9] = ["", "json", "json5", "jsonc", "xml", "python", "py", "yaml", "yml"];
    let label = label.to_ascii_lowercase();
    FORMATS.contains(&&*label) || ["tool", "function", "call"].iter().any(|word| label.contains(word))
}

//! Decides who may run what: a pure table of a call's repairs and its tool's kind.
//!
//! No words of a model, a tool or a file of the workspace go in: only local declarations, the repairs that the engine
//! recorded, and the user's answers.

use std::collections::BTreeSet;
use std::fmt;

use callwright::{Acceptance, BesideProse, Reason, Refusal};
use callwright_json::{Class, Repair, RepairKind};
use serde::{Deserialize, Serialize};

use crate::shown::is_visible;
use crate::tool::{Effect, Kind, World};

/// The repairs of a call before it could be read, from none to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repaired {
    /// R0: none.
    Exact,
    /// R1: wrapping, punctuation and spelling; keys and values are the model's own.
    Spelling,
    /// R2: brackets, commas and colons were added or dropped, in the only possible way.
    Structure,
    /// R2: a value, a key or the name is inferred, in the only possible way.
    Value,
    /// R2: the call may lack a value, as its end is missing, or was not checked in full.
    Open,
    /// R3: the call has several readings, or is a guess.
    Ambiguous,
    /// R4: a part of the call is missing.
    Lossy,
    /// RX: the call is not the model's own.
    Hostile,
}

impl Repaired {
    /// Returns the class as reports name it: `R0` to `R4`, `RX`.
    pub fn code(self) -> &'static str {
        match self {
            Repaired::Exact => Class::Exact.code(),
            Repaired::Spelling => Class::Lossless.code(),
            Repaired::Structure | Repaired::Value | Repaired::Open => Class::Inferred.code(),
            Repaired::Ambiguous => "R3",
            Repaired::Lossy => "R4",
            Repaired::Hostile => "RX",
        }
    }

    /// Returns the class, where the user can permit it: an open call may not be the intended one.
    fn class(self) -> Option<Class> {
        match self {
            Repaired::Exact => Some(Class::Exact),
            Repaired::Spelling => Some(Class::Lossless),
            Repaired::Structure | Repaired::Value => Some(Class::Inferred),
            Repaired::Open | Repaired::Ambiguous | Repaired::Lossy | Repaired::Hostile => None,
        }
    }

    fn by(repair: &Repair) -> Repaired {
        use RepairKind::*;
        match (repair.kind.class(), repair.kind) {
            (Class::Exact, _) => Repaired::Exact,
            (Class::Lossless, _) => Repaired::Spelling,
            (
                Class::Inferred,
                DropOpener | DropCloser | AddComma | AddColon | AddOpener | AddCloser | AddEnd | SwapBracket,
            ) => Repaired::Structure,
            (Class::Inferred, _) => Repaired::Value,
        }
    }
}

impl From<&Acceptance> for Repaired {
    fn from(call: &Acceptance) -> Repaired {
        let repairs = call.repairs.iter().map(Repaired::by).max().unwrap_or(Repaired::Exact);
        let is_inferred = call.renamed_from.is_some() || !call.coercions.is_empty();
        match call.open_end || call.unchecked {
            true => Repaired::Open,
            false if is_inferred => repairs.max(Repaired::Value),
            false => repairs,
        }
    }
}

impl From<&Refusal> for Repaired {
    fn from(refusal: &Refusal) -> Repaired {
        let named_in_secret =
            refusal.name.as_deref().is_some_and(|name| name.chars().any(|c| !is_visible(c)));
        match &refusal.reason {
            _ if named_in_secret => Repaired::Hostile,
            Reason::Truncated(_) | Reason::Unreadable(_) => Repaired::Lossy,
            _ => Repaired::Ambiguous,
        }
    }
}

/// The place of a call beside the model's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// The call stands alone, above or below the words, or is native.
    #[default]
    Apart,
    /// The call stands behind words on its own line.
    Line,
    /// The call stands between words, in the middle of a sentence, or is in doubt like another call of the answer: the
    /// model may only show it.
    Within,
}

impl From<&Acceptance> for Beside {
    fn from(call: &Acceptance) -> Beside {
        match call.beside_prose {
            _ if call.unsure => Beside::Within,
            None | Some(BesideProse::Above | BesideProse::Below) => Beside::Apart,
            Some(BesideProse::Line) => Beside::Line,
            Some(BesideProse::Between | BesideProse::Sentence) => Beside::Within,
        }
    }
}

/// The table's answer for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The user's permissions decide.
    Permission,
    /// The user must confirm exactly this call, whatever is permitted otherwise.
    Confirm,
    /// The call does not run; the model learns why.
    Feedback,
    /// The call does not run, and its arrival is recorded.
    Refuse,
}

/// Returns the table's rule for a call of a tool of this kind with these repairs.
pub fn rule(kind: Kind, repaired: Repaired) -> Rule {
    use Repaired::*;
    match (repaired, kind.effect) {
        (Hostile, _) => Rule::Refuse,
        (Ambiguous | Lossy, _) => Rule::Feedback,
        (Exact | Spelling, _) => Rule::Permission,
        (Structure | Value | Open, Effect::Read) => Rule::Permission,
        (Structure, Effect::Write) if kind.idempotent => Rule::Permission,
        (Structure | Value | Open, Effect::Write | Effect::Destructive) => Rule::Confirm,
    }
}

/// The user's permissions, from the command line and the local configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// `--yes`: tools that read, or write in the workspace, run without a question.
    pub yes: bool,
    /// Tools that run without a question, by name.
    pub allow: BTreeSet<String>,
    /// Tools that never run, by name. This outranks all else.
    pub deny: BTreeSet<String>,
    /// `--repairs`: a call with repairs up to this class is as permitted as an unrepaired one, and a call with worse
    /// repairs asks. Without it, the [table](rule) decides.
    pub repairs: Option<Class>,
}

/// The decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call runs.
    Run,
    /// The user sees all of the call and this reason, and decides.
    Ask(Why),
    /// The call does not run; the model learns its error.
    Feedback,
    /// The call does not run, and the refusal is reported.
    Refuse(Why),
}

/// The reason why a call does not run without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The call reads in the open world: its request can leak data.
    Leaks,
    /// The call changes something.
    Writes,
    /// The call can change anything.
    Destroys,
    /// The call starts a program that a run file names.
    Starts,
    /// The call was repaired, and its tool does not run on an inference.
    Repaired,
    /// The call may lack a value, as its end is missing, or was not checked in full.
    Open,
    /// The system cannot confine the call.
    Unconfined,
    /// The call changes files that the user's programs obey, now or later.
    Configures,
    /// The call reads a file of several names, and some may lie outside of the workspace.
    Linked,
    /// The call stands within the model's words, and may be shown rather than meant.
    Beside,
    /// The user denies this tool.
    Denied,
    /// The call is not the model's own.
    Hostile,
}

impl Decision {
    /// Returns this decision for a call at this place: a call that may be a quotation does not run without a question,
    /// whatever is permitted.
    ///
    /// ```
    /// use callwright_agent::{Beside, Decision, Effect, Why};
    ///
    /// assert_eq!(Decision::Run.beside(Beside::Line, Effect::Read), Decision::Run);
    /// assert_eq!(Decision::Run.beside(Beside::Line, Effect::Write), Decision::Ask(Why::Beside));
    /// ```
    pub fn beside(self, beside: Beside, effect: Effect) -> Decision {
        let asks = match beside {
            Beside::Apart => false,
            Beside::Line => effect != Effect::Read,
            Beside::Within => true,
        };
        match self {
            Decision::Run | Decision::Ask(Why::Leaks | Why::Writes | Why::Destroys | Why::Starts) if asks => {
                Decision::Ask(Why::Beside)
            }
            Decision::Run | Decision::Ask(_) | Decision::Feedback | Decision::Refuse(_) => self,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Leaks => "it reaches others, and can give something away",
            Why::Writes => "it changes something",
            Why::Destroys => "it can change anything",
            Why::Starts => "it starts a program that the run file names",
            Why::Repaired => "the model did not write it like this: it was repaired",
            Why::Open => "its end is missing, or its arguments were not checked in full",
            Why::Unconfined => "this system cannot confine it",
            Why::Configures => "it changes a hidden file, a repository or settings, by which programs run code later",
            Why::Linked => "it reads a file of several names (hard links), some of which may stand outside of the workspace",
            Why::Beside => "it stands among the model's words, and may be quoted rather than made",
            Why::Denied => "the tool is denied by the configuration",
            Why::Hostile => "it is not the model's own call",
        })
    }
}

impl Rights {
    /// Returns the decision about a call of `tool`, which is of this kind, with these repairs.
    ///
    /// ```
    /// use callwright_agent::{Decision, Kind, Repaired, Rights, Why};
    ///
    /// let rights = Rights { yes: true, ..Rights::default() };
    /// assert_eq!(rights.decide("fsWrite", Kind::WRITE, Repaired::Exact), Decision::Run);
    /// assert_eq!(rights.decide("rm", Kind::DESTRUCTIVE, Repaired::Exact), Decision::Ask(Why::Destroys));
    /// ```
    pub fn decide(&self, tool: &str, kind: Kind, repaired: Repaired) -> Decision {
        if self.deny.contains(tool) {
            return Decision::Refuse(Why::Denied);
        }
        let rule = match (rule(kind, repaired), self.repairs.zip(repaired.class())) {
            (Rule::Permission | Rule::Confirm, Some((most, class))) if class <= most => Rule::Permission,
            (Rule::Permission | Rule::Confirm, Some(_)) => Rule::Confirm,
            (rule, _) => rule,
        };
        match rule {
            Rule::Refuse => Decision::Refuse(Why::Hostile),
            Rule::Feedback => Decision::Feedback,
            Rule::Confirm if repaired == Repaired::Open => Decision::Ask(Why::Open),
            Rule::Confirm => Decision::Ask(Why::Repaired),
            Rule::Permission => self.permission(tool, kind),
        }
    }

    /// Returns whether the user permitted anything of this tool.
    pub(crate) fn permits(&self, tool: &str) -> bool {
        self.yes || self.allow.contains(tool)
    }

    fn permission(&self, tool: &str, kind: Kind) -> Decision {
        let allowed = self.allow.contains(tool);
        match (kind.effect, kind.world) {
            (Effect::Read, World::Closed) => Decision::Run,
            (Effect::Read, World::Open) if self.yes || allowed => Decision::Run,
            (Effect::Read, World::Open) => Decision::Ask(Why::Leaks),
            (Effect::Write, World::Closed) if self.yes => Decision::Run,
            (Effect::Write | Effect::Destructive, _) if allowed => Decision::Run,
            (Effect::Write, _) => Decision::Ask(Why::Writes),
            (Effect::Destructive, _) => Decision::Ask(Why::Destroys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_json::Span;

    /// Holds the whole table, one line per tool kind, one column per class: P permission, C confirm, F feedback, X
    /// refuse.
    #[test]
    fn the_table_is_as_published() {
        use Repaired::*;
        let columns = [Exact, Spelling, Structure, Value, Open, Ambiguous, Lossy, Hostile];
        let table = [
            (Kind::READ, "PPPPPFFX"),
            (Kind::READ.open(), "PPPPPFFX"),
            (Kind::WRITE.idempotent(), "PPPCCFFX"),
            (Kind::WRITE, "PPCCCFFX"),
            (Kind::WRITE.open(), "PPCCCFFX"),
            (Kind::DESTRUCTIVE, "PPCCCFFX"),
            (Kind::DESTRUCTIVE.closed().idempotent(), "PPCCCFFX"),
        ];
        for (kind, line) in table {
            let got: String = columns
                .iter()
                .map(|repaired| match rule(kind, *repaired) {
                    Rule::Permission => 'P',
                    Rule::Confirm => 'C',
                    Rule::Feedback => 'F',
                    Rule::Refuse => 'X',
                })
                .collect();
            assert_eq!(got, line, "{kind:?}");
        }
    }

    /// A worse repair never lets more run.
    #[test]
    fn a_repair_only_lowers_what_a_call_may_do() {
        let strictness = |rule| match rule {
            Rule::Permission => 0,
            Rule::Confirm => 1,
            Rule::Feedback => 2,
            Rule::Refuse => 3,
        };
        use Repaired::*;
        let columns = [Exact, Spelling, Structure, Value, Open, Ambiguous, Lossy, Hostile];
        for effect in [Effect::Read, Effect::Write, Effect::Destructive] {
            for (idempotent, world) in [(true, World::Closed), (false, World::Open)] {
                let kind = Kind { effect, idempotent, world };
                assert!(columns.is_sorted_by_key(|repaired| strictness(rule(kind, *repaired))));
            }
        }
    }

    #[test]
    fn yes_covers_reads_and_writes_in_the_workspace_only() {
        let yes = Rights { yes: true, ..Rights::default() };
        let none = Rights::default();
        let decide = |rights: &Rights, kind, repaired| rights.decide("t", kind, repaired);
        for (kind, without, with) in [
            (Kind::READ, Decision::Run, Decision::Run),
            (Kind::READ.open(), Decision::Ask(Why::Leaks), Decision::Run),
            (Kind::WRITE, Decision::Ask(Why::Writes), Decision::Run),
            (Kind::WRITE.open(), Decision::Ask(Why::Writes), Decision::Ask(Why::Writes)),
            (Kind::DESTRUCTIVE, Decision::Ask(Why::Destroys), Decision::Ask(Why::Destroys)),
            (Kind::DESTRUCTIVE.closed(), Decision::Ask(Why::Destroys), Decision::Ask(Why::Destroys)),
        ] {
            assert_eq!(decide(&none, kind, Repaired::Exact), without, "{kind:?}");
            assert_eq!(decide(&yes, kind, Repaired::Exact), with, "{kind:?} with --yes");
        }
    }

    #[test]
    fn a_repaired_destructive_call_asks_whatever_is_allowed() {
        let all = BTreeSet::from(["rm".to_owned()]);
        let rights = Rights { yes: true, allow: all.clone(), ..Rights::default() };
        for repaired in [Repaired::Exact, Repaired::Spelling] {
            assert_eq!(rights.decide("rm", Kind::DESTRUCTIVE, repaired), Decision::Run);
        }
        for repaired in [Repaired::Structure, Repaired::Value] {
            assert_eq!(rights.decide("rm", Kind::DESTRUCTIVE, repaired), Decision::Ask(Why::Repaired));
        }
        assert_eq!(rights.decide("rm", Kind::DESTRUCTIVE, Repaired::Open), Decision::Ask(Why::Open));
        let rights = Rights { deny: all, ..rights };
        assert_eq!(rights.decide("rm", Kind::READ, Repaired::Exact), Decision::Refuse(Why::Denied));
    }

    /// The user names the worst class of repairs that counts as right. An open call has no class, and a call without
    /// any permission stays so.
    #[test]
    fn the_user_permits_a_class_of_repairs() {
        use Class::{Exact, Inferred, Lossless};
        let allow = BTreeSet::from(["t".to_owned()]);
        for (repairs, spelling, inferred) in
            [(Some(Exact), false, false), (Some(Lossless), true, false), (Some(Inferred), true, true)]
        {
            let rights = Rights { yes: true, allow: allow.clone(), repairs, ..Rights::default() };
            for kind in [Kind::READ, Kind::WRITE, Kind::WRITE.idempotent(), Kind::DESTRUCTIVE] {
                for (repaired, runs) in [
                    (Repaired::Exact, true),
                    (Repaired::Spelling, spelling),
                    (Repaired::Structure, inferred),
                    (Repaired::Value, inferred),
                    (Repaired::Open, kind.effect == Effect::Read),
                ] {
                    let why = if repaired == Repaired::Open { Why::Open } else { Why::Repaired };
                    let wanted = if runs { Decision::Run } else { Decision::Ask(why) };
                    assert_eq!(
                        rights.decide("t", kind, repaired),
                        wanted,
                        "{repairs:?} {kind:?} {repaired:?}"
                    );
                }
                assert_eq!(rights.decide("t", kind, Repaired::Ambiguous), Decision::Feedback);
                assert_eq!(rights.decide("t", kind, Repaired::Hostile), Decision::Refuse(Why::Hostile));
            }
            let asks = rights.decide("rm", Kind::DESTRUCTIVE, Repaired::Exact);
            assert_eq!(asks, Decision::Ask(Why::Destroys));
        }
    }

    #[test]
    fn a_call_that_may_have_been_cut_asks_before_it_writes() {
        let tools = r#"[{"name": "put", "parameters": {"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "mode": {"type": "string"}}}}]"#;
        let tools = callwright::ToolSet::from_json(tools).unwrap();
        let native = callwright::NativeCall { id: None, name: "put", arguments: r#"{"path": "a""# };
        let context = callwright::Context { finish_reason: Some("stop"), ..callwright::Context::default() };
        let outcome = callwright::parse(&tools, "", &[native], &context);
        let call = outcome.calls().next().unwrap();
        assert!(call.open_end);
        assert_eq!(rule(Kind::WRITE.idempotent(), Repaired::from(call)), Rule::Confirm);
        assert_eq!(rule(Kind::READ, Repaired::from(call)), Rule::Permission);
    }

    /// A call that ends the answer is unsure with the one before it, which stands between words.
    #[test]
    fn what_is_unsure_asks_wherever_it_stands() {
        let tools =
            callwright::ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#).unwrap();
        let call = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
        let text = format!("First:\n\n{call}\n\nThen:\n\n{call}").replacen("{}", r#"{"n": 1}"#, 1);
        let read = |asked| {
            let context = callwright::Context { asked: Some(asked), ..callwright::Context::default() };
            let outcome = callwright::parse(&tools, &text, &[], &context);
            outcome.calls().map(Beside::from).collect::<Vec<_>>()
        };
        assert_eq!(read("json_bare"), [Beside::Within, Beside::Within]);
        assert_eq!(read("hermes"), [Beside::Within, Beside::Apart]);
        for effect in [Effect::Read, Effect::Write, Effect::Destructive] {
            assert_eq!(Decision::Run.beside(Beside::Within, effect), Decision::Ask(Why::Beside));
        }
    }

    /// The place among words decides, together with the user's permissions.
    #[test]
    fn words_around_a_call_ask_as_published() {
        use BesideProse::*;
        let tools =
            callwright::ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#).unwrap();
        let native = callwright::NativeCall { id: None, name: "f", arguments: "{}" };
        let outcome = callwright::parse(&tools, "", &[native], &callwright::Context::default());
        let call = outcome.calls().next().unwrap();
        let all = BTreeSet::from(["f".to_owned()]);
        let rights = Rights { yes: true, allow: all, ..Rights::default() };
        for (beside_prose, asks) in [
            (None, [false, false, false]),
            (Some(Above), [false, false, false]),
            (Some(Below), [false, false, false]),
            (Some(Line), [false, true, true]),
            (Some(Between), [true, true, true]),
            (Some(Sentence), [true, true, true]),
        ] {
            let beside = Beside::from(&Acceptance { beside_prose, ..call.clone() });
            for (kind, asks) in [Kind::READ, Kind::WRITE, Kind::DESTRUCTIVE].into_iter().zip(asks) {
                let decided = rights.decide("f", kind, Repaired::Exact).beside(beside, kind.effect);
                let wanted = if asks { Decision::Ask(Why::Beside) } else { Decision::Run };
                assert_eq!(decided, wanted, "{beside_prose:?} {kind:?}");
                // A question for another reason stays a question.
                let other = Decision::Ask(Why::Configures).beside(beside, kind.effect);
                assert_eq!(other, Decision::Ask(Why::Configures));
            }
        }
    }

    #[test]
    fn every_repair_has_its_place() {
        let of = |kind| Repaired::by(&Repair { kind, at: Span::at(0), put: "".into() });
        for kind in RepairKind::ALL {
            assert_eq!(of(*kind).code(), kind.class().code(), "{kind:?}");
        }
        assert_eq!(of(RepairKind::SwapLiteral), Repaired::Spelling);
        assert_eq!(of(RepairKind::AddCloser), Repaired::Structure);
        assert_eq!(of(RepairKind::EscapeQuote), Repaired::Value);
    }
}

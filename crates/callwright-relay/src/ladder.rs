//! Decides about refused or unsure calls: ask again, feed back, or refuse. The decision is pure; others carry it out.

use std::time::Duration;

use callwright::{Policy, Reason, Refusal};

use crate::config::LadderConfig;
use crate::record::TurnEnd;

/// The next rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing is refused: the answer goes out.
    Deliver,
    /// The first refused call is asked for again, without a trace in the history.
    Reask,
    /// All errors go to the model as its next turn.
    Feedback,
    /// The refusals go out, in words.
    Refuse(TurnEnd),
}

/// The rungs that one request has climbed.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    policy: Policy,
    reasks: u32,
    turns: u32,
    tokens: u64,
    time: Duration,
    give_up_after: u32,
    /// The same request may go out once more.
    may_repeat: bool,
    /// A failure of the upstream may be passed over.
    may_pass_failure: bool,
    /// The question may go to a second model.
    may_escalate: bool,
    /// The last error, and the number of times that it came in a row.
    last: Option<(String, u32)>,
}

impl Ladder {
    pub(crate) fn new(policy: Policy, bounds: &LadderConfig) -> Ladder {
        Ladder {
            policy,
            reasks: bounds.reasks,
            turns: bounds.feedback_turns,
            tokens: bounds.max_tokens,
            time: Duration::try_from_secs_f64(bounds.max_seconds).unwrap_or(Duration::MAX),
            give_up_after: bounds.give_up_after.max(1),
            may_repeat: true,
            may_pass_failure: true,
            may_escalate: true,
            last: None,
        }
    }

    /// Decides after an answer with these refused calls. `spent` are the completion tokens of the answers since the last
    /// decision, `elapsed` is the time since the request came.
    pub(crate) fn next(&mut self, refusals: &[&Refusal], spent: u64, elapsed: Duration) -> Step {
        let Some(first) = refusals.first() else { return Step::Deliver };
        self.tokens = self.tokens.saturating_sub(spent);
        let error = fingerprint(first);
        let times = match self.last.take() {
            Some((last, times)) if last == error => times + 1,
            _ => 1,
        };
        self.last = Some((error, times));
        if self.give_up_after <= times {
            return Step::Refuse(TurnEnd::GaveUp);
        }
        let may_ask = self.policy.feeds_back() && 0 < self.tokens && elapsed < self.time;
        // A model that is to learn from its errors has to see them.
        if may_ask && self.policy != Policy::Feedback && 0 < self.reasks {
            self.reasks -= 1;
            return Step::Reask;
        }
        if may_ask && 0 < self.turns {
            self.turns -= 1;
            return Step::Feedback;
        }
        Step::Refuse(TurnEnd::Refused)
    }

    /// Returns whether the same request may go out once more, because the answer was unusable. It teaches nothing, and takes no
    /// rung.
    pub(crate) fn may_repeat(&mut self, elapsed: Duration) -> bool {
        let may_ask = self.policy.feeds_back() && (0 < self.reasks || 0 < self.turns);
        may_ask && 0 < self.tokens && elapsed < self.time && std::mem::take(&mut self.may_repeat)
    }

    /// Returns whether the request may go out once more, because its upstream failed before the client had anything of the
    /// answer.
    pub(crate) fn may_pass_failure(&mut self, elapsed: Duration) -> bool {
        elapsed < self.time && std::mem::take(&mut self.may_pass_failure)
    }

    /// Returns whether the question may go to a second model, because the first one's answer would end as refused. The second
    /// answer gets the rest of the bounds, and is the last.
    pub(crate) fn may_escalate(&mut self, elapsed: Duration) -> bool {
        let may_ask = self.policy.feeds_back() && 0 < self.tokens && elapsed < self.time;
        // The errors so far were another model's.
        self.last = None;
        may_ask && std::mem::take(&mut self.may_escalate)
    }

    /// Returns the rest of the bounds, `elapsed` after the request came, for another request that comes now.
    pub(crate) fn rest(&self, elapsed: Duration) -> Ladder {
        Ladder { time: self.time.saturating_sub(elapsed), ..self.clone() }
    }

    /// Returns whether the missing call or answer that the request demands may be asked for.
    pub(crate) fn may_demand(&mut self, elapsed: Duration) -> bool {
        if !self.policy.feeds_back() {
            return false;
        }
        // What was asked before must not leave a demand unmet.
        let may_turn = self.reasks == 0 && 0 < self.turns && 0 < self.tokens && elapsed < self.time;
        self.turns -= u32::from(may_turn);
        may_turn || self.takes_reask(elapsed)
    }

    /// Returns whether the model may be asked if it means unsure calls.
    pub(crate) fn may_confirm(&mut self, elapsed: Duration) -> bool {
        self.policy == Policy::Auto && self.takes_reask(elapsed)
    }

    fn takes_reask(&mut self, elapsed: Duration) -> bool {
        let may = 0 < self.reasks && 0 < self.tokens && elapsed < self.time;
        self.reasks -= u32::from(may);
        may
    }

    /// Returns the most tokens that the next answer may take.
    pub(crate) fn tokens_left(&self) -> u64 {
        self.tokens
    }
}

/// Returns whether a call with an open end is refused under this policy, for the model to make it again.
pub(crate) fn doubts_open_ends(policy: Policy, bounds: &LadderConfig) -> bool {
    match policy {
        Policy::Auto => bounds.confirm_open_ends,
        Policy::Feedback => true,
        Policy::Heal | Policy::Strict => false,
    }
}

/// Returns whether the call may be refused for being cut. A long list without its end has more readings than the engine compares.
pub(crate) fn may_be_cut(refusal: &Refusal) -> bool {
    matches!(refusal.reason, Reason::Truncated(_) | Reason::Unreadable(_) | Reason::OpenEnd(_))
}

/// Returns the traits that make two errors the same: the tool and the fault, neither the place nor the values.
pub(crate) fn fingerprint(refusal: &Refusal) -> String {
    let name = refusal.name.as_deref().unwrap_or("");
    match &refusal.reason {
        Reason::Invalid(violations) => {
            let places: Vec<String> =
                violations.iter().map(|v| format!("{} {}", v.pointer, v.keyword)).collect();
            format!("{name} invalid {}", places.join(", "))
        }
        reason => format!("{name} {}", reason.code()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::Violation;
    use callwright_json::Span;

    fn refusal(keyword: &'static str) -> Refusal {
        let violation = Violation { pointer: String::from("/a"), keyword, message: String::new() };
        Refusal {
            id: None,
            name: Some(String::from("f")),
            dialect: "native".into(),
            number: 1,
            span: Span::at(0),
            block: String::new(),
            reason: Reason::Invalid(vec![violation]),
        }
    }

    fn steps(policy: Policy, bounds: &LadderConfig, errors: &[&'static str]) -> Vec<Step> {
        let mut ladder = Ladder::new(policy, bounds);
        errors.iter().map(|&e| ladder.next(&[&refusal(e)], 10, Duration::ZERO)).collect()
    }

    #[test]
    fn the_rungs_are_taken_in_order_and_end() {
        let bounds = LadderConfig::default();
        let errors = ["type", "enum", "type", "enum", "type"];
        let refused = Step::Refuse(TurnEnd::Refused);
        use Step::{Feedback, Reask};
        assert_eq!(steps(Policy::Auto, &bounds, &errors), [Reask, Feedback, Feedback, refused, refused]);
        assert_eq!(
            steps(Policy::Feedback, &bounds, &errors),
            [Feedback, Feedback, refused, refused, refused]
        );
        assert_eq!(steps(Policy::Heal, &bounds, &errors[..1]), [refused]);
        assert_eq!(steps(Policy::Strict, &bounds, &errors[..1]), [refused]);
        assert_eq!(Ladder::new(Policy::Auto, &bounds).next(&[], 0, Duration::ZERO), Step::Deliver);
    }

    #[test]
    fn what_asks_for_more_than_errors_takes_a_request_too() {
        let bounds = LadderConfig::default();
        let mut ladder = Ladder::new(Policy::Auto, &bounds);
        assert!(ladder.may_confirm(Duration::ZERO));
        assert!(!ladder.may_confirm(Duration::ZERO));
        assert_eq!(ladder.next(&[&refusal("type")], 10, Duration::ZERO), Step::Feedback);
        // A demand takes a turn where nothing else is left.
        assert!(ladder.may_demand(Duration::ZERO) && !ladder.may_demand(Duration::ZERO));
        for (policy, confirms, demands) in [
            (Policy::Heal, false, false),
            // It teaches by errors, and this is none.
            (Policy::Feedback, false, true),
            (Policy::Strict, false, false),
        ] {
            assert_eq!(Ladder::new(policy, &bounds).may_confirm(Duration::ZERO), confirms, "{policy:?}");
            assert_eq!(Ladder::new(policy, &bounds).may_demand(Duration::ZERO), demands, "{policy:?}");
        }
        assert!(!Ladder::new(Policy::Auto, &bounds).may_confirm(Duration::MAX));
        let none = LadderConfig { max_tokens: 0, ..bounds };
        assert!(!Ladder::new(Policy::Auto, &none).may_confirm(Duration::ZERO));
    }

    #[test]
    fn the_same_goes_out_once_more_and_takes_no_rung() {
        let bounds = LadderConfig::default();
        let mut ladder = Ladder::new(Policy::Auto, &bounds);
        assert!(ladder.may_repeat(Duration::ZERO) && !ladder.may_repeat(Duration::ZERO));
        assert_eq!(ladder.next(&[&refusal("type")], 10, Duration::ZERO), Step::Reask);
        let none = LadderConfig { reasks: 0, feedback_turns: 0, ..bounds.clone() };
        for (policy, bounds, repeats) in [
            (Policy::Feedback, &bounds, true),
            (Policy::Heal, &bounds, false),
            (Policy::Strict, &bounds, false),
            (Policy::Auto, &none, false),
        ] {
            let mut ladder = Ladder::new(policy, bounds);
            assert_eq!(ladder.may_repeat(Duration::ZERO), repeats, "{policy:?}");
            // What the server is to blame for is asked past under each of them.
            assert!(ladder.may_pass_failure(Duration::ZERO) && !ladder.may_pass_failure(Duration::ZERO));
        }
    }

    #[test]
    fn a_second_model_gets_the_rest_of_the_bounds_once() {
        let bounds = LadderConfig { reasks: 1, feedback_turns: 0, max_tokens: 30, ..LadderConfig::default() };
        let (begun, wrong) = (Duration::ZERO, refusal("type"));
        let mut ladder = Ladder::new(Policy::Auto, &bounds);
        assert_eq!(ladder.next(&[&wrong], 10, begun), Step::Reask);
        assert_eq!(ladder.next(&[&wrong], 10, begun), Step::Refuse(TurnEnd::Refused));
        assert!(ladder.may_escalate(begun) && !ladder.may_escalate(begun));
        assert_eq!(ladder.tokens_left(), 10);
        assert_eq!(ladder.next(&[&wrong], 10, begun), Step::Refuse(TurnEnd::Refused));
        for policy in [Policy::Heal, Policy::Strict] {
            assert!(!Ladder::new(policy, &bounds).may_escalate(begun), "{policy:?}");
        }
        let late = Duration::from_secs(100);
        assert!(Ladder::new(Policy::Auto, &bounds).rest(late).may_escalate(begun));
        assert!(!Ladder::new(Policy::Auto, &bounds).rest(late).may_escalate(late));
    }

    #[test]
    fn three_equal_errors_break_it_and_so_do_the_bounds() {
        let bounds = LadderConfig { reasks: 9, feedback_turns: 9, ..LadderConfig::default() };
        use Step::Reask;
        assert_eq!(
            steps(Policy::Auto, &bounds, &["type", "type", "type"]),
            [Reask, Reask, Step::Refuse(TurnEnd::GaveUp)]
        );
        let poor = LadderConfig { max_tokens: 15, ..bounds.clone() };
        assert_eq!(steps(Policy::Auto, &poor, &["type", "enum"]), [Reask, Step::Refuse(TurnEnd::Refused)]);
        let mut slow = Ladder::new(Policy::Auto, &bounds);
        assert_eq!(
            slow.next(&[&refusal("type")], 0, Duration::from_secs(3600)),
            Step::Refuse(TurnEnd::Refused)
        );
    }
}

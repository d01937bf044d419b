//! The share of right calls in an upstream's answers, which decides the first upstream of a model.
//!
//! In goes the outcome of each answer; out comes an order. A few conversations go to another upstream than the best, so that a
//! change is noticed. Everything is in memory, and nothing is drawn: a conversation decides by its own hash, and stays at its
//! upstream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::client::Upstream;

/// The last answers with calls of each upstream that count.
const WINDOW: usize = 200;

/// The conversations of a hundred that go to another upstream than the best.
const FLOOR: u64 = 5;

/// The requests that an upstream gets before its share is compared with others.
const WARM: u32 = 20;

/// The most pairs that are counted: clients can name any number of models that do not exist.
const MAX_PAIRS: usize = 1024;

/// The answers of each model's upstreams, by model and upstream.
#[derive(Debug, Default)]
pub(super) struct Shares(Mutex<BTreeMap<(String, String), Window>>);

/// The latest answers of one upstream.
#[derive(Debug, Default)]
struct Window {
    /// The requests that went there first, up to [`WARM`].
    n_asked: u32,
    /// The last answers with calls: true for one that was right as written.
    answers: VecDeque<bool>,
}

impl Window {
    /// Returns the share that is right, with one answer more of each sort: the share of an unknown upstream is a half.
    fn share(&self) -> f64 {
        let n_right = self.answers.iter().filter(|is_right| **is_right).count();
        (n_right + 1) as f64 / (self.answers.len() + 2) as f64
    }
}

impl Shares {
    /// Counts an answer with calls of a model at an upstream.
    pub(super) fn count(&self, model: &str, upstream: &str, is_right: bool) {
        let mut pairs = self.lock();
        let Some(window) = entry(&mut pairs, model, upstream) else { return };
        if window.answers.len() == WINDOW {
            window.answers.pop_front();
        }
        window.answers.push_back(is_right);
    }

    /// Puts the first upstream for a conversation of this hash in front, the others behind it by their shares.
    pub(super) fn order(&self, upstreams: &mut [Arc<Upstream>], model: &str, conversation: u64) {
        let names: Vec<&str> = upstreams.iter().map(|upstream| upstream.name()).collect();
        let places = self.places(&names, model, conversation);
        let mut placed: Vec<(usize, Arc<Upstream>)> =
            places.into_iter().zip(upstreams.iter().cloned()).collect();
        placed.sort_by_key(|(place, upstream)| (upstream.is_failing(), *place));
        for (slot, (_, upstream)) in upstreams.iter_mut().zip(placed) {
            *slot = upstream;
        }
    }

    /// Returns the place of each of these upstreams in the order.
    fn places(&self, names: &[&str], model: &str, conversation: u64) -> Vec<usize> {
        let mut pairs = self.lock();
        let mut known = Vec::with_capacity(names.len());
        for name in names {
            let window = entry(&mut pairs, model, name);
            known.push(window.map_or((WARM, 0.5), |window| (window.n_asked, window.share())));
        }
        let mut order: Vec<usize> = (0..names.len()).collect();
        // A stable sort: equals are asked as configured.
        order.sort_by(|one, other| known[*other].1.total_cmp(&known[*one].1));
        let cold: Vec<usize> = order.iter().copied().filter(|at| known[*at].0 < WARM).collect();
        let pick = |of: u64, n: usize| usize::try_from(of % n.max(1) as u64).unwrap_or(0);
        let first = match (cold.as_slice(), order.as_slice()) {
            ([_, ..], _) => cold[pick(conversation, cold.len())],
            (_, [_, others @ ..]) if !others.is_empty() && conversation % 100 < FLOOR => {
                others[pick(conversation / 100, others.len())]
            }
            (_, [best, ..]) => *best,
            (_, []) => return Vec::new(),
        };
        if let Some(window) = names.get(first).and_then(|name| entry(&mut pairs, model, name)) {
            window.n_asked = (window.n_asked + 1).min(WARM);
        }
        order.retain(|at| *at != first);
        order.insert(0, first);
        let place = |at: usize| order.iter().position(|it| *it == at).unwrap_or(at);
        (0..names.len()).map(place).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'w>(
    pairs: &'w mut BTreeMap<(String, String), Window>,
    model: &str,
    upstream: &str,
) -> Option<&'w mut Window> {
    let pair = (model.to_owned(), upstream.to_owned());
    let is_full = MAX_PAIRS <= pairs.len() && !pairs.contains_key(&pair);
    (!is_full).then(|| pairs.entry(pair).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of numbers that are spread evenly (SplitMix64).
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    /// Returns the number of `n` conversations that ask the first of two upstreams, which are right this often of a hundred
    /// times.
    fn asked(shares: &Shares, numbers: &mut Numbers, n: usize, right: [u64; 2]) -> usize {
        let mut n_first = 0;
        for _ in 0..n {
            let places = shares.places(&["a", "b"], "m", numbers.next());
            let at = usize::from(places[0] != 0);
            shares.count("m", ["a", "b"][at], numbers.next() % 100 < right[at]);
            n_first += usize::from(at == 0);
        }
        n_first
    }

    #[test]
    fn most_go_to_the_better_one_and_a_change_of_roles_is_noticed() {
        for seed in [1, 2, 3, 4, 5] {
            let (shares, mut numbers) = (Shares::default(), Numbers(seed));
            // The worse one is configured first.
            asked(&shares, &mut numbers, 200, [60, 95]);
            let n = asked(&shares, &mut numbers, 1000, [60, 95]);
            assert!((20..=100).contains(&n), "seed {seed}: {n} of 1000 went to the worse one");
            asked(&shares, &mut numbers, 500, [95, 60]);
            let n = asked(&shares, &mut numbers, 1000, [95, 60]);
            assert!(900 <= n, "seed {seed}: {n} of 1000 went to the better one");
        }
    }

    #[test]
    fn a_conversation_stays_where_it_is() {
        let (shares, mut numbers) = (Shares::default(), Numbers(7));
        asked(&shares, &mut numbers, 300, [95, 60]);
        for conversation in (0..50).map(|_| numbers.next()) {
            let first = shares.places(&["a", "b"], "m", conversation);
            assert_eq!(first, shares.places(&["a", "b"], "m", conversation));
        }
    }

    #[test]
    fn one_that_never_makes_a_call_is_not_asked_for_ever() {
        let shares = Shares::default();
        for conversation in 0..100 {
            if shares.places(&["a", "b"], "m", conversation * 997 + 50) == [1, 0] {
                shares.count("m", "b", true);
            }
        }
        assert_eq!(shares.places(&["a", "b"], "m", 50), [1, 0]);
    }
}

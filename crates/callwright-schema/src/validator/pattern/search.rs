//! Searches for a pattern in a text.

use super::super::fuel::Fuel;
use super::class::WORD;
use super::program::{Edge, Program, Step};

/// Price of trying a step besides the step's own: a place on a list, and often one on another.
const TRY: usize = 4;
/// Most bits that remember the places a pattern with look-around tried: 4 MiB.
const MAX_TRIED: usize = 1 << 25;

impl Program {
    /// Returns whether the pattern occurs in `text`; `None` if the fuel does not suffice.
    pub(super) fn occurs(&self, text: &str, fuel: &mut Fuel) -> Option<bool> {
        match self.has_looks || self.has_backs {
            false => self.walk(text, fuel),
            true => Backtracker::new(self, text, fuel)?.occurs(fuel),
        }
    }

    fn step(&self, at: usize) -> Step {
        self.steps.get(at).copied().unwrap_or(Step::Found)
    }

    fn takes(&self, step: Step, c: char) -> bool {
        match step {
            Step::Char(own) => own == c,
            Step::Class(number) => self.classes.get(number as usize).is_some_and(|class| class.has(c)),
            _ => false,
        }
    }

    /// Returns the price of one look at a step: a class is searched.
    fn price(&self, step: Step) -> usize {
        let class = if let Step::Class(number) = step { self.classes.get(number as usize) } else { None };
        1 + class.map_or(0, |class| class.tables.len())
    }

    /// Goes over the text once, with all steps that may be next.
    fn walk(&self, text: &str, fuel: &mut Fuel) -> Option<bool> {
        // Marks are written once for each search.
        fuel.take(8 + self.steps.len() / 8)?;
        let is_anchored = matches!(self.step(0), Step::Edge(Edge::Start));
        let mut marks = vec![0_u32; self.steps.len()];
        let few = self.steps.len().min(16);
        let [mut now, mut next, mut todo] = [const { Vec::new() }; 3].map(|mut list: Vec<usize>| {
            list.reserve_exact(few);
            list
        });
        let (mut rest, mut before, mut round) = (text.chars(), None, 0);
        loop {
            round += 1;
            let after = rest.clone().next();
            if !is_anchored || before.is_none() {
                now.push(0);
            }
            // These steps can be reached without taking a character.
            todo.append(&mut now);
            while let Some(at) = todo.pop() {
                let Some(mark) = marks.get_mut(at).filter(|mark| **mark != round) else { continue };
                *mark = round;
                let step = self.step(at);
                fuel.take(self.price(step))?;
                match step {
                    Step::Found => return Some(true),
                    Step::Char(_) | Step::Class(_) => now.push(at),
                    Step::Split(far) => {
                        todo.push(at + 1);
                        todo.push(at.wrapping_add_signed(far as isize));
                    }
                    Step::Jump(far) => todo.push(at.wrapping_add_signed(far as isize)),
                    Step::Edge(edge) if !is_edge(edge, before, after) => {}
                    Step::Edge(_) | Step::Save(_) => todo.push(at + 1),
                    // Patterns with these steps take the other search.
                    Step::Back(_) | Step::Look { .. } => {}
                }
            }
            let Some(c) = rest.next() else { return Some(false) };
            for at in now.drain(..) {
                if self.takes(self.step(at), c) {
                    next.push(at + 1);
                }
            }
            std::mem::swap(&mut now, &mut next);
            if is_anchored && now.is_empty() {
                return Some(false);
            }
            before = Some(c);
        }
    }
}

/// Returns whether an edge of this sort is between these two characters.
fn is_edge(edge: Edge, before: Option<char>, after: Option<char>) -> bool {
    let is_break = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    let is_word =
        |c: Option<char>| c.is_some_and(|c| WORD.iter().any(|(from, to)| (*from..=*to).contains(&c)));
    match edge {
        Edge::Start => before.is_none(),
        Edge::End => after.is_none(),
        Edge::LineStart => before.is_none_or(is_break),
        Edge::LineEnd => after.is_none_or(is_break),
        Edge::Word => is_word(before) != is_word(after),
        Edge::NotWord => is_word(before) == is_word(after),
    }
}

/// Tries one way after the other.
struct Backtracker<'p> {
    program: &'p Program,
    text: &'p str,
    /// One bit for each step and place that was tried in vain. It is unused if a reference back makes the way there
    /// matter.
    tried: Vec<u64>,
    /// The beginning and the end of each group.
    groups: Vec<Option<usize>>,
}

enum Todo {
    Try {
        step: usize,
        at: usize,
    },
    /// On the way back, a group returns to its old place.
    Restore {
        group: usize,
        was: Option<usize>,
    },
}

impl<'p> Backtracker<'p> {
    fn new(program: &'p Program, text: &'p str, fuel: &mut Fuel) -> Option<Backtracker<'p>> {
        let bits = if program.has_backs { 0 } else { program.steps.len().checked_mul(text.len() + 1)? };
        if MAX_TRIED < bits {
            return None;
        }
        fuel.take(8 + bits / 512)?;
        let groups = if program.has_backs { vec![None; 2 * program.n_groups + 2] } else { Vec::new() };
        Some(Backtracker { program, text, tried: vec![0; bits.div_ceil(64)], groups })
    }

    fn occurs(&mut self, fuel: &mut Fuel) -> Option<bool> {
        let starts = self.text.char_indices().map(|(at, _)| at).chain([self.text.len()]);
        for at in starts {
            if self.run(0, at, true, fuel, None)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Marks `step` as tried at `at`, and returns whether that is the first time.
    fn is_first(&mut self, step: usize, at: usize) -> bool {
        let bit = step * (self.text.len() + 1) + at;
        let Some(word) = self.tried.get_mut(bit / 64) else { return true };
        let is_first = *word >> (bit % 64) & 1 == 0;
        *word |= 1 << (bit % 64);
        is_first
    }

    /// Returns whether the steps from `step` on can be taken from `at`, as far as [`Step::Found`]. `trace` collects the
    /// steps and places on the way.
    ///
    /// A look-around is a run of its own, and they nest as deep as groups do.
    fn run(
        &mut self,
        step: usize,
        at: usize,
        is_ahead: bool,
        fuel: &mut Fuel,
        mut trace: Option<&mut Vec<(usize, usize)>>,
    ) -> Option<bool> {
        let mut todo = vec![Todo::Try { step, at }];
        while let Some(next) = todo.pop() {
            let (step, at) = match next {
                Todo::Try { step, at } => (step, at),
                Todo::Restore { group, was } => {
                    if let Some(place) = self.groups.get_mut(group) {
                        *place = was;
                    }
                    continue;
                }
            };
            if !self.is_first(step, at) {
                continue;
            }
            if let Some(trace) = &mut trace {
                trace.push((step, at));
            }
            if self.take(step, at, is_ahead, fuel, &mut todo)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Takes one step, and leaves the next ones in `todo`. Returns whether it is [`Step::Found`].
    fn take(
        &mut self,
        step: usize,
        at: usize,
        is_ahead: bool,
        fuel: &mut Fuel,
        todo: &mut Vec<Todo>,
    ) -> Option<bool> {
        let own = self.program.step(step);
        fuel.take(TRY + self.program.price(own))?;
        let (before, after) = self.around(at);
        let mut go = |step: usize, at: usize| todo.push(Todo::Try { step, at });
        match own {
            Step::Found => return Some(true),
            Step::Char(_) | Step::Class(_) => {
                let c = if is_ahead { after } else { before };
                if let Some(c) = c.filter(|c| self.program.takes(own, *c)) {
                    let len = c.len_utf8();
                    go(step + 1, if is_ahead { at + len } else { at - len });
                }
            }
            Step::Split(far) => {
                go(step.wrapping_add_signed(far as isize), at);
                go(step + 1, at);
            }
            Step::Jump(far) => go(step.wrapping_add_signed(far as isize), at),
            Step::Edge(edge) => {
                if is_edge(edge, before, after) {
                    go(step + 1, at);
                }
            }
            Step::Save(group) => {
                if let Some(place) = self.groups.get_mut(group as usize) {
                    todo.push(Todo::Restore { group: group as usize, was: *place });
                    *place = Some(at);
                }
                todo.push(Todo::Try { step: step + 1, at });
            }
            Step::Back(number) => {
                let took = self.took(number);
                fuel.take(took.len())?;
                let side = if is_ahead { self.text.get(at..) } else { self.text.get(..at) }.unwrap_or("");
                match is_ahead {
                    true if side.starts_with(took) => go(step + 1, at + took.len()),
                    false if side.ends_with(took) => go(step + 1, at - took.len()),
                    true | false => {}
                }
            }
            Step::Look { len, is_ahead, is_negated } => {
                let mut tried = Vec::new();
                let found = self.run(step + 1, at, is_ahead, fuel, Some(&mut tried))?;
                if found {
                    // A way to success is not in vain: the next one may pass there.
                    tried.into_iter().for_each(|(step, at)| self.forget(step, at));
                }
                if found != is_negated {
                    go(step + 1 + len as usize, at);
                }
            }
        }
        Some(false)
    }

    fn forget(&mut self, step: usize, at: usize) {
        let bit = step * (self.text.len() + 1) + at;
        if let Some(word) = self.tried.get_mut(bit / 64) {
            *word &= !(1 << (bit % 64));
        }
    }

    /// Returns the characters before and behind `at`.
    fn around(&self, at: usize) -> (Option<char>, Option<char>) {
        let before = self.text.get(..at).and_then(|before| before.chars().next_back());
        (before, self.text.get(at..).and_then(|after| after.chars().next()))
    }

    /// Returns the text of a group; nothing if it took no part.
    fn took(&self, number: u32) -> &'p str {
        let place = |at: u32| self.groups.get(at as usize).copied().flatten();
        let ends = place(2 * number).zip(place(2 * number + 1));
        let inside = ends.and_then(|(a, b)| self.text.get(a.min(b)..a.max(b)));
        inside.unwrap_or("")
    }
}

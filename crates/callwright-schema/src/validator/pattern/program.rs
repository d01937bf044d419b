//! The steps of a compiled pattern.

use super::class::Class;
use super::{MAX_SIZE, syntax};

/// One step. Its places are relative, so that a block of steps may stand anywhere, and several times.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Char(char),
    /// The text has one of the characters of the class of this number.
    Class(u32),
    /// Goes on with the next step, and with the one this far away.
    Split(i32),
    Jump(i32),
    /// The text has an edge of this sort here.
    Edge(Edge),
    /// A group begins or ends here: an even number or an odd one.
    Save(u32),
    /// The text of the group of this number stands here again.
    Back(u32),
    /// The next `len` steps, which end with [`Step::Found`], can be taken from here, or cannot.
    Look {
        len: u32,
        is_ahead: bool,
        is_negated: bool,
    },
    Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    End,
    LineStart,
    LineEnd,
    Word,
    NotWord,
}

/// Steps in the making: the steps themselves, or only their number.
pub(super) trait Code: Default {
    fn size(&self) -> usize;
    /// Adds a step at the end.
    fn push(&mut self, step: Step);
    /// Adds a block at the end.
    fn append(&mut self, block: Self);
    /// Adds a copy of a block at the end.
    fn extend(&mut self, block: &Self);
}

/// The number of steps.
#[derive(Debug, Default)]
pub(super) struct Size(pub(super) usize);

impl Code for Size {
    fn size(&self) -> usize {
        self.0
    }

    fn push(&mut self, _: Step) {
        self.0 += 1;
    }

    fn append(&mut self, block: Size) {
        self.0 = self.0.saturating_add(block.0);
    }

    fn extend(&mut self, block: &Size) {
        self.0 = self.0.saturating_add(block.0);
    }
}

impl Code for Vec<Step> {
    fn size(&self) -> usize {
        self.len()
    }

    fn push(&mut self, step: Step) {
        Vec::push(self, step);
    }

    fn append(&mut self, mut block: Vec<Step>) {
        match self.is_empty() {
            true => *self = block,
            false => Vec::append(self, &mut block),
        }
    }

    fn extend(&mut self, block: &Vec<Step>) {
        self.extend_from_slice(block);
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) classes: Vec<Class>,
    pub(super) n_groups: usize,
    pub(super) has_looks: bool,
    pub(super) has_backs: bool,
}

impl Program {
    /// Compiles `source`; `None` if it is not a pattern, or too large.
    pub(super) fn new(source: &str) -> Option<Program> {
        let syntax::Parsed { code, classes, n_groups } = syntax::parse::<Vec<Step>>(source)?;
        let has = |is: fn(&Step) -> bool| code.iter().any(is);
        Some(Program {
            has_looks: has(|step| matches!(step, Step::Look { .. })),
            has_backs: has(|step| matches!(step, Step::Back(_))),
            steps: code,
            classes,
            n_groups,
        })
    }
}

/// Returns a distance as far as `i32` goes, which is farther than any program.
fn far(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Returns the steps of one of `branches`.
pub(super) fn choice<C: Code>(mut branches: Vec<C>) -> Option<C> {
    let mut code = branches.pop().unwrap_or_default();
    while let Some(branch) = branches.pop() {
        let mut both = C::default();
        both.push(Step::Split(far(branch.size() + 2)));
        both.append(branch);
        both.push(Step::Jump(far(code.size() + 1)));
        both.append(code);
        code = both;
    }
    bounded(code)
}

/// Returns the steps of `block` at least `least` times, and at most `most` times if there is such a bound.
pub(super) fn repeat<C: Code>(block: C, least: usize, most: Option<usize>) -> Option<C> {
    let copies = most.unwrap_or(least + 1).max(least);
    // The size is known before the first copy is written.
    if MAX_SIZE < copies.saturating_mul(block.size() + 1) {
        return None;
    }
    let mut code = C::default();
    (0..least).for_each(|_| code.extend(&block));
    match most {
        // `a+` is `a` and the way back to it.
        None if least > 0 => code.push(Step::Split(-far(block.size()))),
        None => {
            code.push(Step::Split(far(block.size() + 2)));
            let size = block.size();
            code.append(block);
            code.push(Step::Jump(-far(size + 1)));
        }
        Some(most) => {
            for left in (1..=most.saturating_sub(least)).rev() {
                code.push(Step::Split(far(left * (block.size() + 1))));
                code.extend(&block);
            }
        }
    }
    Some(code)
}

/// Returns `code`, if it is not too large.
pub(super) fn bounded<C: Code>(code: C) -> Option<C> {
    (code.size() <= MAX_SIZE).then_some(code)
}

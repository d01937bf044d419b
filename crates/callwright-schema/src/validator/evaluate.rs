//! Checks values against a program, with bounded work, memory and stack.
//!
//! Each question to a schema about a value is a *frame* on a list, not a call, so nesting takes no stack. A frame goes
//! through its keywords. One that holds schemas turns into *goals*, pairs of a schema and a value, and combines their
//! answers. The answer of a schema that several ways lead to is remembered. So a schema that leads back to itself by
//! several forms costs no more than the number of schemas times the number of values.
//!
//! Evaluated members and elements (for `unevaluatedProperties` and `unevaluatedItems`) are collected only below a
//! schema that needs them.

use std::collections::HashMap;
use std::rc::Rc;

use callwright_json::{Kind, Value as View};

use super::fuel::Fuel;
use super::program::{Keyword, NodeId, Program};
use super::scopes::Scopes;
use super::values::Values;

/// Price of a frame: to put it up, remember it and take it down.
const FRAME: usize = 16;
/// Further price of a keyword, and of a goal.
const KEYWORD: usize = 2;
/// Most checks have no more frames at once.
const FEW: usize = 8;

/// One check of one value.
pub(super) struct Check<'p, 'v> {
    pub(super) program: &'p Program,
    pub(super) values: Values<'v>,
    pub(super) fuel: Fuel,
    memo: HashMap<(NodeId, u32, u32), Memo>,
    frames: Vec<Frame>,
    goals: Vec<Goal>,
    scopes: Scopes,
}

/// A schema and a value that it may fit, as seen from a dynamic scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Goal {
    pub(super) node: NodeId,
    pub(super) value: u32,
    pub(super) scope: u32,
}

/// The members or elements of a value that were evaluated, one bit for each.
pub(super) type Evaluated = Vec<u64>;

#[derive(Clone)]
enum Memo {
    /// The answer is not found yet.
    Open,
    Known(Answer),
}

/// The answer of a schema about a value.
#[derive(Clone)]
struct Answer {
    fits: bool,
    /// The parts that it evaluated, if it fits and a schema needs them.
    evaluated: Option<Rc<Evaluated>>,
}

struct Frame {
    goal: Goal,
    /// The current keyword, and the one to end before.
    keyword: usize,
    end: usize,
    /// The way to combine the goals of the current keyword; `None` between keywords.
    mode: Option<Mode>,
    /// The number of its first goal, and of the next one.
    first: usize,
    next: usize,
    /// The number of its goals that fit.
    count: u64,
    /// The decision by the answers so far.
    decided: Option<bool>,
    evaluated: Option<Evaluated>,
    is_remembered: bool,
    /// The frame goes on behind a broken keyword, to collect the parts that the others evaluate.
    goes_on: bool,
}

/// The way to combine the answers to the goals of a keyword.
#[derive(Clone, Copy)]
enum Mode {
    /// All goals must fit. `is_same`: they speak of the value itself, so that parts they evaluate are evaluated.
    All {
        is_same: bool,
    },
    Any,
    One,
    Not,
    /// So many elements must fit.
    Count {
        least: u64,
        most: u64,
        evaluates: bool,
    },
    /// The first goal decides which one comes next.
    If {
        then: Option<NodeId>,
        or_else: Option<NodeId>,
    },
}

/// The result of a frame.
pub(super) struct Done {
    pub(super) fits: bool,
    /// The number of the goals of its last keyword that fit.
    pub(super) count: u64,
    pub(super) evaluated: Option<Evaluated>,
}

/// The begin of a keyword.
enum Start {
    /// The keyword is decided at once.
    Kept(bool),
    /// The keyword has put up goals.
    Goals(Mode),
}

impl<'p, 'v> Check<'p, 'v> {
    pub(super) fn new(program: &'p Program, value: View<'v>) -> Check<'p, 'v> {
        Check {
            program,
            values: Values::new(value, program.has_keys),
            fuel: Fuel::of(value.raw().len()),
            memo: HashMap::new(),
            frames: Vec::with_capacity(FEW),
            goals: Vec::with_capacity(2 * FEW),
            scopes: Scopes::new(program.n_names),
        }
    }

    /// Returns the goal of the whole schema and the whole value.
    pub(super) fn root(&self) -> Goal {
        Goal { node: 0, value: 0, scope: 0 }
    }

    /// Returns whether the value of `goal` fits its schema. `None` if the fuel does not suffice, or the schema says
    /// nothing: it leads back to itself by dynamic references without going into the value.
    pub(super) fn fits(&mut self, goal: Goal) -> Option<bool> {
        let Goal { scope, .. } = self.entered(goal)?;
        let end = self.keywords(goal.node).len();
        Some(self.run(Goal { scope, ..goal }, 0..end, false)?.fits)
    }

    /// Evaluates the keywords `range` of a schema alone. If it `collects`, it also returns the parts that they
    /// evaluate, fitting or not.
    pub(super) fn run(&mut self, goal: Goal, range: std::ops::Range<usize>, collects: bool) -> Option<Done> {
        // An earlier run that was out of fuel left these.
        self.frames.clear();
        self.goals.clear();
        let asks = self.asks(goal, range.clone());
        let mut frame = self.frame(goal, collects || asks, false);
        (frame.keyword, frame.end, frame.goes_on) = (range.start, range.end, collects);
        self.frames.push(frame);
        loop {
            if let Some(done) = self.advance()? {
                return Some(done);
            }
        }
    }

    pub(super) fn keywords(&self, node: NodeId) -> &'p [Keyword] {
        self.program.nodes.get(node as usize).map_or(&[], |node| &node.keywords)
    }

    /// Returns `goal` with the scope of its schema's own references.
    pub(super) fn entered(&mut self, goal: Goal) -> Option<Goal> {
        if self.program.n_names == 0 {
            return Some(goal);
        }
        let resource = self.program.nodes.get(goal.node as usize).map_or(0, |node| node.resource);
        let own = self.program.dynamic.get(resource).map_or(&[][..], Vec::as_slice);
        let scope = self.scopes.enter(goal.scope, resource, own, &mut self.fuel)?;
        Some(Goal { scope, ..goal })
    }

    /// Returns the node that a dynamic reference leads to from `scope`.
    pub(super) fn dynamic(&self, scope: u32, name: u32, usual: NodeId) -> NodeId {
        self.scopes.bound(scope, name).unwrap_or(usual)
    }

    pub(super) fn kind(&self, value: u32) -> Kind {
        self.values.get(value).value.kind()
    }

    /// Returns whether one of these keywords needs the evaluated parts of the value.
    fn asks(&self, goal: Goal, range: std::ops::Range<usize>) -> bool {
        let kind = self.kind(goal.value);
        self.keywords(goal.node).get(range).into_iter().flatten().any(|keyword| match keyword {
            Keyword::UnevaluatedItems(_) => kind == Kind::Array,
            Keyword::UnevaluatedProperties(_) => kind == Kind::Object,
            _ => false,
        })
    }

    fn frame(&self, goal: Goal, collects: bool, is_remembered: bool) -> Frame {
        let words = self.values.inside(goal.value).len().div_ceil(64);
        Frame {
            goal,
            keyword: 0,
            end: self.keywords(goal.node).len(),
            mode: None,
            first: 0,
            next: 0,
            count: 0,
            decided: None,
            evaluated: collects.then(|| vec![0; words]),
            is_remembered,
            goes_on: false,
        }
    }

    /// Takes one step, and returns the result of the outermost frame once it is done.
    fn advance(&mut self) -> Option<Option<Done>> {
        let frame = self.frames.last_mut()?;
        let Some(mode) = frame.mode else {
            if frame.keyword == frame.end {
                return self.finish(true);
            }
            let (goal, at) = (frame.goal, frame.keyword);
            frame.first = self.goals.len();
            frame.next = frame.first;
            let start = self.start(goal, at)?;
            let frame = self.frames.last_mut()?;
            match start {
                Start::Kept(is_kept) => return self.settle(is_kept),
                Start::Goals(mode) => (frame.mode, frame.count, frame.decided) = (Some(mode), 0, None),
            }
            return Some(None);
        };
        if let Some(is_kept) = frame.decided {
            return self.settle(is_kept);
        }
        let Some(&goal) = self.goals.get(frame.next) else {
            let count = frame.count;
            return self.settle(match mode {
                Mode::All { .. } | Mode::If { .. } | Mode::Not => true,
                Mode::Any => count > 0,
                Mode::One => count == 1,
                Mode::Count { least, most, .. } => (least..=most).contains(&count),
            });
        };
        frame.next += 1;
        let is_same = match mode {
            Mode::All { is_same } => is_same,
            Mode::Any | Mode::One | Mode::If { .. } => true,
            Mode::Not | Mode::Count { .. } => false,
        };
        let collects = is_same && frame.evaluated.is_some();
        if let Some(answer) = self.begin(goal, collects)? {
            self.take(&answer)?;
        }
        Some(None)
    }

    /// Ends the current keyword.
    fn settle(&mut self, is_kept: bool) -> Option<Option<Done>> {
        let frame = self.frames.last_mut()?;
        self.goals.truncate(frame.first);
        frame.mode = None;
        if !is_kept && !frame.goes_on {
            return self.finish(false);
        }
        frame.keyword += 1;
        Some(None)
    }

    /// Ends the current frame.
    fn finish(&mut self, fits: bool) -> Option<Option<Done>> {
        let Frame { goal, evaluated, is_remembered, count, .. } = self.frames.pop()?;
        if self.frames.is_empty() {
            return Some(Some(Done { fits, count, evaluated }));
        }
        let collects = evaluated.is_some();
        let answer = Answer { fits, evaluated: evaluated.filter(|_| fits).map(Rc::new) };
        if is_remembered {
            self.memo.insert(key(goal, collects), Memo::Known(answer.clone()));
        }
        self.take(&answer)?;
        Some(None)
    }

    /// Begins to answer `goal`; returns the answer, if it is known.
    fn begin(&mut self, goal: Goal, collects: bool) -> Option<Option<Answer>> {
        let program = self.program;
        let node = program.nodes.get(goal.node as usize)?;
        self.fuel.take(KEYWORD * (1 + node.keywords.len()))?;
        if node.is_plain {
            let mut fits = true;
            for keyword in &node.keywords {
                fits = fits && self.is_kept(keyword, goal.value)?;
            }
            return Some(Some(Answer { fits, evaluated: None }));
        }
        let goal = self.entered(goal)?;
        let collects = collects || self.asks(goal, 0..node.keywords.len());
        if node.is_shared {
            match self.memo.get(&key(goal, collects)) {
                Some(Memo::Known(answer)) => return Some(Some(answer.clone())),
                // The answer waits for itself.
                Some(Memo::Open) => return None,
                None => {}
            }
        }
        let words = if collects { self.values.inside(goal.value).len() / 64 } else { 0 };
        self.fuel.take(FRAME + words)?;
        if node.is_shared {
            self.memo.insert(key(goal, collects), Memo::Open);
        }
        let frame = self.frame(goal, collects, node.is_shared);
        self.frames.push(frame);
        Some(None)
    }

    /// Hands an answer to the frame that waits for it.
    fn take(&mut self, Answer { fits, evaluated }: &Answer) -> Option<()> {
        let fits = *fits;
        let frame = self.frames.last_mut()?;
        let collects = frame.evaluated.is_some();
        frame.count += u64::from(fits);
        let count = frame.count;
        let goal = self.goals.get(frame.next.checked_sub(1)?).copied()?;
        if let (Some(own), Some(theirs)) = (&mut frame.evaluated, evaluated) {
            self.fuel.take(1 + own.len() / 8)?;
            own.iter_mut().zip(theirs.iter()).for_each(|(own, theirs)| *own |= theirs);
        }
        frame.decided = match frame.mode? {
            Mode::All { .. } if !fits => Some(false),
            Mode::Any if fits && !collects => Some(true),
            Mode::One if count > 1 => Some(false),
            Mode::Not => Some(!fits),
            Mode::Count { least, most, evaluates } => {
                if fits && evaluates {
                    mark(&mut frame.evaluated, goal.value - self.values.inside(frame.goal.value).start);
                }
                match most < count {
                    true => Some(false),
                    false => (least <= count && most == u64::MAX && !collects).then_some(true),
                }
            }
            Mode::If { then, or_else } => {
                if let Some(node) = if fits { then } else { or_else } {
                    self.goals.push(Goal { node, ..frame.goal });
                }
                frame.mode = Some(Mode::All { is_same: true });
                None
            }
            Mode::All { .. } | Mode::Any | Mode::One => None,
        };
        Some(())
    }

    /// Begins the keyword `at` of a schema.
    fn start(&mut self, goal: Goal, at: usize) -> Option<Start> {
        self.fuel.take(KEYWORD)?;
        let Some(keyword) = self.keywords(goal.node).get(at) else { return Some(Start::Kept(true)) };
        if !keyword.speaks_of(self.kind(goal.value)) {
            return Some(Start::Kept(true));
        }
        let before = self.goals.len();
        let mode = match keyword {
            Keyword::Ref(node) => self.goals_of(goal, &[*node], Mode::All { is_same: true })?,
            Keyword::DynamicRef { name, usual } => {
                let node = self.dynamic(goal.scope, *name, *usual);
                self.goals_of(goal, &[node], Mode::All { is_same: true })?
            }
            Keyword::AllOf(nodes) => self.goals_of(goal, nodes, Mode::All { is_same: true })?,
            Keyword::AnyOf(nodes) => self.goals_of(goal, nodes, Mode::Any)?,
            Keyword::OneOf(nodes) => self.goals_of(goal, nodes, Mode::One)?,
            Keyword::Not(node) => self.goals_of(goal, &[*node], Mode::Not)?,
            Keyword::If { condition, then, or_else } => {
                self.goals_of(goal, &[*condition], Mode::If { then: *then, or_else: *or_else })?
            }
            Keyword::DependentSchemas(schemas) => {
                for (name, node) in schemas {
                    if self.has_member(goal.value, name)? {
                        self.goals.push(Goal { node: *node, ..goal });
                    }
                }
                Mode::All { is_same: true }
            }
            Keyword::Contains { node, least, most, evaluates } => {
                self.each(goal, *node)?;
                Mode::Count { least: *least, most: *most, evaluates: *evaluates }
            }
            Keyword::PropertyNames(node) => {
                self.fuel.take(KEYWORD * self.values.keys(goal.value).len())?;
                self.goals.extend(self.values.keys(goal.value).map(|value| Goal {
                    node: *node,
                    value,
                    ..goal
                }));
                Mode::All { is_same: false }
            }
            Keyword::Members(_) | Keyword::Items { .. } => {
                self.named(goal, keyword)?;
                Mode::All { is_same: false }
            }
            Keyword::UnevaluatedItems(node) | Keyword::UnevaluatedProperties(node) => {
                self.unevaluated(goal, *node)?;
                Mode::All { is_same: false }
            }
            Keyword::Never
            | Keyword::Type { .. }
            | Keyword::Rule { .. }
            | Keyword::Required(_)
            | Keyword::DependentRequired(_)
            | Keyword::Pattern(_) => return Some(Start::Kept(self.is_kept(keyword, goal.value)?)),
        };
        // An empty choice never fits.
        let is_decided = self.goals.len() == before && matches!(mode, Mode::All { .. });
        Some(if is_decided { Start::Kept(true) } else { Start::Goals(mode) })
    }

    /// Puts up goals for the parts that `keyword` names or counts; they count as evaluated.
    fn named(&mut self, goal: Goal, keyword: &Keyword) -> Option<()> {
        let mut goals = std::mem::take(&mut self.goals);
        let mut evaluated = self.frames.last_mut().and_then(|frame| frame.evaluated.take());
        let is_whole = self.parts(goal, keyword, &mut goals, &mut evaluated);
        if let Some(frame) = self.frames.last_mut() {
            frame.evaluated = evaluated;
        }
        self.goals = goals;
        is_whole
    }

    /// Puts up goals for the parts that nothing has evaluated yet.
    fn unevaluated(&mut self, goal: Goal, node: NodeId) -> Option<()> {
        let mut evaluated = self.frames.last_mut().and_then(|frame| frame.evaluated.take());
        self.fuel.take(KEYWORD * self.values.inside(goal.value).len())?;
        for (i, value) in (0..).zip(self.values.inside(goal.value)) {
            if !is_marked(evaluated.as_ref(), i) {
                mark(&mut evaluated, i);
                self.goals.push(Goal { node, value, ..goal });
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.evaluated = evaluated;
        }
        Some(())
    }

    fn goals_of(&mut self, goal: Goal, nodes: &[NodeId], mode: Mode) -> Option<Mode> {
        self.fuel.take(KEYWORD * nodes.len())?;
        self.goals.extend(nodes.iter().map(|node| Goal { node: *node, ..goal }));
        Some(mode)
    }

    /// Puts up a goal for each member or element.
    fn each(&mut self, goal: Goal, node: NodeId) -> Option<()> {
        self.fuel.take(KEYWORD * self.values.inside(goal.value).len())?;
        self.goals.extend(self.values.inside(goal.value).map(|value| Goal { node, value, ..goal }));
        Some(())
    }

    /// Puts up the goals of `properties`, `items` and their like, and marks the parts that they evaluate.
    pub(super) fn parts(
        &mut self,
        goal: Goal,
        keyword: &Keyword,
        goals: &mut Vec<Goal>,
        evaluated: &mut Option<Evaluated>,
    ) -> Option<()> {
        let inside = self.values.inside(goal.value);
        self.fuel.take(KEYWORD * inside.len())?;
        for (i, value) in (0_u32..).zip(inside) {
            let before = goals.len();
            let mut put = |node: NodeId| goals.push(Goal { node, value, ..goal });
            match keyword {
                Keyword::Members(members) => {
                    let key = &*self.values.get(value).key;
                    if let Some(node) = members.named.get(key) {
                        put(*node);
                    }
                    for (pattern, node) in &members.patterns {
                        if self.program.patterns.occurs(*pattern, key, &mut self.fuel)? {
                            put(*node);
                        }
                    }
                    if goals.len() == before {
                        goals.extend(members.others.map(|node| Goal { node, value, ..goal }));
                    }
                }
                Keyword::Items { first, others, .. } => {
                    first.get(i as usize).or(others.as_ref()).into_iter().for_each(|node| put(*node));
                }
                _ => {}
            }
            if before < goals.len() {
                mark(evaluated, i);
            }
        }
        Some(())
    }
}

fn mark(evaluated: &mut Option<Evaluated>, i: u32) {
    if let Some(word) = evaluated.as_mut().and_then(|words| words.get_mut(i as usize / 64)) {
        *word |= 1 << (i % 64);
    }
}

pub(super) fn is_marked(evaluated: Option<&Evaluated>, i: u32) -> bool {
    evaluated.and_then(|words| words.get(i as usize / 64)).is_some_and(|word| word >> (i % 64) & 1 == 1)
}

fn key(goal: Goal, collects: bool) -> (NodeId, u32, u32) {
    (goal.node, goal.value, 2 * goal.scope + u32::from(collects))
}

//! The violations of a value: one sentence for each broken demand. The faults in the branches of a choice are not
//! listed: nobody can tell which branch was meant.

use std::collections::HashSet;

use callwright_json::Value as View;

use super::super::fits::bits;
use super::super::message::{
    demand, missing_message, must, pointer_to, show, subject, types, unknown_message,
};
use super::super::violation::Violation;
use super::evaluate::{Check, Goal, is_marked};
use super::program::{Keyword, Members, NodeId};

/// Returns the violations of the value of `check`, at most `most` of them, in the order of the text. The value is known
/// not to fit; if the fuel does not suffice to find a violation, the list says only that.
pub(super) fn list(check: &mut Check<'_, '_>, most: usize) -> Vec<Violation> {
    let root = check.values.get(0).value;
    let mut list = List { check, root, found: Vec::new(), most, todo: Vec::new(), seen: HashSet::new() };
    // The violations before the fuel ran out are right all the same.
    let _ = list.find();
    let mut found = list.found;
    if found.is_empty() {
        let message = must("the value", "fit its schema");
        return vec![Violation { pointer: String::new(), keyword: "schema", message }];
    }
    found.sort_by_key(|(value, _)| value.span());
    found.into_iter().map(|(_, violation)| violation).collect()
}

struct List<'c, 'p, 'v> {
    check: &'c mut Check<'p, 'v>,
    root: View<'v>,
    found: Vec<(View<'v>, Violation)>,
    most: usize,
    /// The goals that are left, which all must fit.
    todo: Vec<Goal>,
    seen: HashSet<Goal>,
}

impl List<'_, '_, '_> {
    fn find(&mut self) -> Option<()> {
        self.todo.push(self.check.root());
        while let Some(goal) = self.todo.pop() {
            let goal = self.check.entered(goal)?;
            let keywords = self.check.keywords(goal.node);
            self.check.fuel.take(1)?;
            if keywords.is_empty() || !self.seen.insert(goal) {
                continue;
            }
            let inner = self.todo.len();
            for (at, keyword) in keywords.iter().enumerate() {
                self.keyword(goal, at, keyword)?;
                if self.most <= self.found.len() {
                    return Some(());
                }
            }
            // The first goal is checked first.
            if let Some(inner) = self.todo.get_mut(inner..) {
                inner.reverse();
            }
        }
        Some(())
    }

    fn keyword(&mut self, goal: Goal, at: usize, keyword: &Keyword) -> Option<()> {
        let Goal { value, .. } = goal;
        match keyword {
            Keyword::Ref(node) => self.push(goal, *node),
            Keyword::DynamicRef { name, usual } => {
                let node = self.check.dynamic(goal.scope, *name, *usual);
                self.push(goal, node);
            }
            Keyword::AllOf(nodes) => nodes.iter().for_each(|node| self.push(goal, *node)),
            Keyword::DependentSchemas(schemas) => {
                for (name, node) in schemas {
                    if self.check.has_member(value, name)? {
                        self.push(goal, *node);
                    }
                }
            }
            Keyword::If { condition, then, or_else } => {
                let fits = self.check.fits(Goal { node: *condition, ..goal })?;
                (if fits { *then } else { *or_else }).into_iter().for_each(|node| self.push(goal, node));
            }
            Keyword::Members(members) if self.check.kind(value) == callwright_json::Kind::Object => {
                self.members(goal, keyword, members)?;
            }
            Keyword::Items { first, may_be_others, .. }
                if self.check.kind(value) == callwright_json::Kind::Array =>
            {
                let mut goals = Vec::new();
                self.check.parts(goal, keyword, &mut goals, &mut None)?;
                if !may_be_others && first.len() < goals.len() {
                    goals.truncate(first.len());
                    self.must(value, "items", &format!("have at most {} elements", first.len()));
                }
                self.todo.append(&mut goals);
            }
            Keyword::Members(_) | Keyword::Items { .. } => {}
            Keyword::Required(_) | Keyword::DependentRequired(_) => self.missing(value, keyword)?,
            Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_) => {
                self.unevaluated(goal, at, keyword)?
            }
            Keyword::Never | Keyword::Type { .. } | Keyword::Rule { .. } | Keyword::Pattern(_) => {
                if !self.check.is_kept(keyword, value)? {
                    self.demand(value, keyword);
                }
            }
            Keyword::PropertyNames(_)
            | Keyword::Contains { .. }
            | Keyword::AnyOf(_)
            | Keyword::OneOf(_)
            | Keyword::Not(_) => {
                let done = self.check.run(goal, at..at + 1, false)?;
                if !done.fits {
                    self.choice(value, keyword, done.count);
                }
            }
        }
        Some(())
    }

    fn push(&mut self, goal: Goal, node: NodeId) {
        self.todo.push(Goal { node, ..goal });
    }

    /// Adds one violation for all members without a place, and goals for the others.
    fn members(&mut self, goal: Goal, keyword: &Keyword, members: &Members) -> Option<()> {
        let mut goals = Vec::new();
        self.check.parts(goal, keyword, &mut goals, &mut None)?;
        if let Some(others) = members.others.filter(|_| members.is_closed) {
            let unknown: Vec<u32> =
                goals.iter().filter(|goal| goal.node == others).map(|goal| goal.value).collect();
            goals.retain(|goal| goal.node != others);
            self.unknown(goal.value, "additionalProperties", &unknown);
        }
        self.todo.append(&mut goals);
        Some(())
    }

    fn missing(&mut self, value: u32, keyword: &Keyword) -> Option<()> {
        if self.check.is_kept(keyword, value)? {
            return Some(());
        }
        let lists: Vec<&[Box<str>]> = match keyword {
            Keyword::Required(names) => vec![names],
            Keyword::DependentRequired(lists) => {
                let mut asked = Vec::new();
                for (name, names) in lists {
                    if self.check.has_member(value, name)? {
                        asked.push(&**names);
                    }
                }
                asked
            }
            _ => Vec::new(),
        };
        for name in lists.into_iter().flatten() {
            if !self.check.has_member(value, name)? {
                let pointer = self.pointer(value);
                let message = missing_message(&pointer, std::iter::once(&**name));
                self.add(value, "required", message);
            }
        }
        Some(())
    }

    fn unevaluated(&mut self, goal: Goal, at: usize, keyword: &Keyword) -> Option<()> {
        let (is_about, node) = match (keyword, self.check.kind(goal.value)) {
            (Keyword::UnevaluatedItems(node), kind) => (kind == callwright_json::Kind::Array, *node),
            (Keyword::UnevaluatedProperties(node), kind) => (kind == callwright_json::Kind::Object, *node),
            _ => return Some(()),
        };
        if !is_about {
            return Some(());
        }
        let evaluated = self.check.run(goal, 0..at, true)?.evaluated;
        let mut unknown = Vec::new();
        for (i, value) in (0..).zip(self.check.values.inside(goal.value)) {
            if !is_marked(evaluated.as_ref(), i) && !self.check.fits(Goal { node, value, ..goal })? {
                unknown.push(value);
            }
        }
        match keyword {
            Keyword::UnevaluatedItems(_) if !unknown.is_empty() => {
                self.must(goal.value, "unevaluatedItems", "have fewer elements");
            }
            Keyword::UnevaluatedProperties(_) => self.unknown(goal.value, "unevaluatedProperties", &unknown),
            _ => {}
        }
        Some(())
    }

    /// Adds the violation of a keyword that holds no schemas.
    fn demand(&mut self, value: u32, keyword: &Keyword) {
        match keyword {
            Keyword::Never => {
                let message = format!("{} must not be given", self.subject(value));
                self.add(value, "not", message);
            }
            Keyword::Type { kinds, .. } => self.must(value, "type", &format!("be {}", types(*kinds))),
            Keyword::Rule { keyword, rule, about } => {
                debug_assert!(about.meets(bits(self.check.kind(value))), "others keep it");
                self.must(value, keyword, &demand(rule).1);
            }
            Keyword::Pattern(pattern) => {
                let source = show(self.check.program.patterns.source(*pattern));
                self.must(value, "pattern", &format!("match the pattern {source}"));
            }
            _ => {}
        }
    }

    /// Adds the violation of a keyword with branches, if `count` of them fit.
    fn choice(&mut self, value: u32, keyword: &Keyword, count: u64) {
        let fit = |one: &str| format!("fit {one} of the forms that its schema allows");
        match keyword {
            Keyword::PropertyNames(_) => {
                let message = format!("{} has a key that its schema forbids", self.subject(value));
                self.add(value, "propertyNames", message);
            }
            Keyword::Contains { .. } => {
                self.must(value, "contains", "contain an element that its schema asks for");
            }
            Keyword::AnyOf(_) => self.must(value, "anyOf", &fit("one")),
            Keyword::OneOf(_) => self.must(value, "oneOf", &fit(if count == 0 { "one" } else { "only one" })),
            Keyword::Not(_) => self.must(value, "not", "not have the form that its schema forbids"),
            _ => {}
        }
    }

    fn unknown(&mut self, value: u32, keyword: &'static str, members: &[u32]) {
        if members.is_empty() {
            return;
        }
        let names: Vec<&str> = members.iter().map(|member| &*self.check.values.get(*member).key).collect();
        let message = unknown_message(&self.pointer(value), &names.join(", "), &[]);
        self.add(value, keyword, message);
    }

    fn must(&mut self, value: u32, keyword: &'static str, demand: &str) {
        let message = must(&self.subject(value), demand);
        self.add(value, keyword, message);
    }

    fn subject(&self, value: u32) -> String {
        subject(self.root, &self.pointer(value))
    }

    fn pointer(&self, value: u32) -> String {
        pointer_to(self.root, self.check.values.get(value).value)
    }

    fn add(&mut self, value: u32, keyword: &'static str, message: String) {
        let violation = Violation { pointer: self.pointer(value), keyword, message };
        let value = self.check.values.get(value).value;
        // Two schemas may demand the same of one value.
        if !self.found.iter().any(|(_, known)| *known == violation) {
            self.found.push((value, violation));
        }
    }
}

//! Compiles schema documents into the flat tables of a [`SchemaGuide`].
//!
//! A place is compiled from *alternatives*: a value there fits at least one of them. An alternative is a list of
//! schemas that all hold: `{"type": "object", "anyOf": [A, B]}` becomes `[[it, A], [it, B]]`. `$ref` and `allOf` add to
//! an alternative, `anyOf`, `oneOf` and `if` multiply them. A place's alternatives identify it, so schemas that refer
//! to each other become places that point at each other, and nothing is expanded twice.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};

use callwright_json::{Kinds, MAX_SLOTS, strict};
use callwright_value::{Map, Value};

use super::guide::{ANY, Entry, LIMITS, NEVER, Rule, SchemaGuide};
use super::keywords::{Draft, has_inner_id, local_pointer, schemas};
use super::number::{compare, whole};
#[cfg(not(feature = "full-schemas"))]
use super::{keywords::pointer_step, references::reached, unchecked::Unchecked};

/// Most places of one guide; all further ones are left open.
const MAX_PLACES: usize = 20_000;
/// Most steps in the search for the alternatives of one guide; all further ones are left open. Choices multiply each
/// other, so that a schema of 3 KB can ask for any number. The bound of a guide grows with the schema, and the time to
/// compile a set of many tools grows with its text. A schema takes about three steps for each one inside it.
const MAX_STEPS: usize = 400_000;
const FREE_STEPS: usize = 2_000;
const STEPS_FOR_EACH: usize = 48;
/// Number of schemas on a way from which on a step counts twice.
const LONG_WAY: usize = 16;
/// Most references, each to the next one, that are known to be the same place.
const MAX_REFERENCES: usize = 64;
/// Most schemas that one alternative may hold together.
const MAX_TOGETHER: usize = 64;

/// A schema document.
pub(super) struct Document<'s> {
    root: &'s Value,
    draft: Draft,
    /// A part of the document has an identity of its own, so that `#/…` may mean something else there.
    has_inner_id: bool,
    n_schemas: usize,
}

impl<'s> Document<'s> {
    pub(super) fn new(root: &'s Value) -> Document<'s> {
        let n_schemas = schemas(root).count();
        Document { root, draft: Draft::of(root), has_inner_id: has_inner_id(root), n_schemas }
    }
}

/// Compiles the first of `documents`; in it, the reference `schema:3` means the root of `documents[4]`. The flag tells
/// whether the tables decide exactly.
pub(super) fn compile(documents: &[Document<'_>]) -> (SchemaGuide, bool) {
    let n_schemas: usize = documents.iter().map(|document| document.n_schemas).sum();
    let mut compiler = Compiler {
        documents,
        max_steps: MAX_STEPS.min(FREE_STEPS + STEPS_FOR_EACH * n_schemas),
        entries: vec![Entry::any(), Entry::never()],
        known: HashMap::new(),
        known_nodes: HashMap::new(),
        todo: Vec::new(),
        steps: 0,
    };
    let root = documents.first().map_or(ANY, |document| {
        let node = Node { document, schema: document.root };
        compiler.place(vec![vec![node]])
    });
    while let Some((at, alternatives)) = compiler.todo.pop() {
        compiler.entries[at as usize] = compiler.entry(&alternatives);
    }
    // A place that is left open for want of room is not exact.
    let is_exact = compiler.is_within_bounds() && compiler.entries.iter().all(|entry| entry.is_exact);
    (SchemaGuide { entries: compiler.entries.into(), root }, is_exact)
}

#[derive(Clone, Copy)]
struct Node<'s> {
    document: &'s Document<'s>,
    schema: &'s Value,
}

impl<'s> Node<'s> {
    fn key(self) -> *const Value {
        self.schema
    }

    fn at(self, schema: &'s Value) -> Node<'s> {
        Node { schema, ..self }
    }

    fn draft(self) -> Draft {
        self.document.draft
    }

    /// Returns the schema of a member that `properties` does not declare; `None` if any value may stand.
    fn additional(self) -> Option<Node<'s>> {
        // The tables do not use the schemas of names that match a pattern.
        let others = self.schema.get("additionalProperties");
        others.filter(|_| self.schema.get("patternProperties").is_none()).map(|others| self.at(others))
    }

    /// Returns the schemas of the first elements, and that of all others.
    fn items(self) -> (&'s [Value], Option<&'s Value>) {
        let of = |keyword: &str| self.schema.get(keyword);
        match of("items") {
            items if self.draft() == Draft::D2020 => {
                (of("prefixItems").and_then(Value::as_array).map_or(&[], Vec::as_slice), items)
            }
            Some(Value::Array(first)) => (first, of("additionalItems")),
            items => (&[], items),
        }
    }
}

/// Schemas that all hold for one value.
#[derive(Clone, Default)]
struct Alternative<'s> {
    nodes: Vec<Node<'s>>,
    /// The schema demands more than `nodes` say.
    is_loose: bool,
}

/// A way to resolve the schemas about one value.
#[derive(Clone, Default)]
struct Way<'s> {
    found: Alternative<'s>,
    /// Lists of further schemas: one of each list holds.
    pending: Vec<Vec<Node<'s>>>,
    seen: Vec<*const Value>,
    has_one_of: bool,
}

type Key = Vec<(Vec<*const Value>, bool)>;

struct Compiler<'s> {
    documents: &'s [Document<'s>],
    entries: Vec<Entry>,
    known: HashMap<Key, u32>,
    known_nodes: HashMap<*const Value, u32>,
    todo: Vec<(u32, Vec<Alternative<'s>>)>,
    steps: usize,
    max_steps: usize,
}

impl<'s> Compiler<'s> {
    fn is_within_bounds(&self) -> bool {
        self.steps < self.max_steps && self.entries.len() < MAX_PLACES
    }

    /// Returns the number of the place at which one of `choices` holds.
    fn place(&mut self, choices: Vec<Vec<Node<'s>>>) -> u32 {
        // Most places are one schema, and many of those the same one.
        let only = match choices.first().filter(|_| choices.len() == 1).map(Vec::as_slice) {
            Some([]) => return ANY,
            Some([node]) => Some(self.referred(*node).key()),
            Some(_) | None => None,
        };
        if let Some(&known) = only.and_then(|only| self.known_nodes.get(&only)) {
            return known;
        }
        let at = self.place_of_choices(choices);
        if let Some(only) = only {
            self.known_nodes.insert(only, at);
        }
        at
    }

    /// Follows `node` if it is a reference and nothing else.
    fn referred(&self, mut node: Node<'s>) -> Node<'s> {
        // A reference may lead back to itself.
        for _ in 0..MAX_REFERENCES {
            let schema = node.schema.as_object().filter(|schema| schema.len() == 1);
            let reference = schema.and_then(|schema| schema.get("$ref")).and_then(Value::as_str);
            match reference.and_then(|reference| self.resolve(node, reference)) {
                Some(target) => node = target,
                None => break,
            }
        }
        node
    }

    fn place_of_choices(&mut self, choices: Vec<Vec<Node<'s>>>) -> u32 {
        let mut alternatives: Vec<Alternative<'s>> =
            choices.into_iter().flat_map(|choice| self.expand(choice)).collect();
        let mut seen = HashSet::new();
        alternatives.retain(|alternative| seen.insert(key(alternative)));
        if alternatives.is_empty() {
            return NEVER;
        }
        let is_any = matches!(&*alternatives, [Alternative { nodes, is_loose: false }] if nodes.is_empty());
        if is_any || !self.is_within_bounds() {
            return ANY;
        }
        let next = u32::try_from(self.entries.len()).unwrap_or(ANY);
        let at = *self.known.entry(alternatives.iter().map(key).collect()).or_insert(next);
        if at == next {
            self.entries.push(Entry::any());
            self.todo.push((at, alternatives));
        }
        at
    }

    /// Resolves all keywords about the same value: `$ref`, `allOf`, `anyOf`, `oneOf`, `if`.
    fn expand(&mut self, choice: Vec<Node<'s>>) -> Vec<Alternative<'s>> {
        let pending = choice.into_iter().map(|node| vec![node]).collect();
        let mut open = vec![Way { pending, ..Way::default() }];
        let mut done: Vec<Alternative<'s>> = Vec::new();
        let mut done_keys = HashSet::new();
        while let Some(mut way) = open.pop() {
            let Some(choice) = way.pending.pop() else {
                if done_keys.insert(key(&way.found)) {
                    done.push(way.found);
                } else if way.has_one_of {
                    // `oneOf` of two equal schemas admits nothing.
                    done.iter_mut().for_each(|alternative| alternative.is_loose = true);
                }
                continue;
            };
            // Each way on is a copy of the one so far.
            self.steps += choice.len() * (1 + (way.seen.len() + way.pending.len()) / LONG_WAY);
            if !self.is_within_bounds() {
                return vec![Alternative { nodes: Vec::new(), is_loose: true }];
            }
            // The first schema is taken from the stack first, so that members keep their order of declaration.
            open.extend(choice.into_iter().rev().filter_map(|node| self.go(way.clone(), node)));
        }
        done
    }

    /// Returns the way on with the demands of `node` on the value; `None` if it admits none.
    fn go(&self, mut way: Way<'s>, node: Node<'s>) -> Option<Way<'s>> {
        if way.seen.contains(&node.key()) {
            return Some(way);
        }
        way.seen.push(node.key());
        let schema = match node.schema {
            Value::Bool(false) => return None,
            Value::Object(schema) => schema,
            _ => return Some(way),
        };
        if let Some(Value::String(reference)) = schema.get("$ref") {
            match self.resolve(node, reference) {
                Some(target) => way.pending.push(vec![target]),
                None => way.found.is_loose = true,
            }
            if node.draft() <= Draft::D7 {
                return Some(way);
            }
        }
        way.found.is_loose |= schema.keys().any(|keyword| demand(keyword) == Demand::Beyond);
        if schema.keys().any(|keyword| demand(keyword) != Demand::Nothing) {
            match way.found.nodes.len() < MAX_TOGETHER {
                true => way.found.nodes.push(node),
                false => way.found.is_loose = true,
            }
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let all = list("allOf").into_iter().flatten().rev();
        way.pending.extend(all.map(|schema| vec![node.at(schema)]));
        let choices = [list("anyOf"), list("oneOf")].into_iter().flatten();
        way.pending.extend(choices.map(|choice| choice.iter().map(|schema| node.at(schema)).collect()));
        way.has_one_of |= list("oneOf").is_some();
        if schema.contains_key("if") && (schema.contains_key("then") || schema.contains_key("else")) {
            const TRUE: &Value = &Value::Bool(true);
            let branch = |keyword: &str| node.at(schema.get(keyword).unwrap_or(TRUE));
            way.pending.push(vec![branch("then"), branch("else")]);
        }
        Some(way)
    }

    fn resolve(&self, node: Node<'s>, reference: &str) -> Option<Node<'s>> {
        if let Some(number) = reference.strip_prefix("schema:")
            && self.documents.first().is_some_and(|first| std::ptr::eq(first, node.document))
        {
            let document = self.documents.get(number.parse::<usize>().ok()?.checked_add(1)?)?;
            return Some(Node { document, schema: document.root });
        }
        let root = (!node.document.has_inner_id).then_some(node.document.root)?;
        Some(node.at(root.pointer(&local_pointer(reference)?)?))
    }

    fn entry(&mut self, alternatives: &[Alternative<'s>]) -> Entry {
        let parts: Vec<Part<'s>> =
            alternatives.iter().map(|a| self.part(a)).filter(|p| p.kinds.0 != 0).collect();
        let kinds = parts.iter().map(|part| part.kinds).fold(Kinds(0), Kinds::or);
        let bits: u32 = parts.iter().map(|part| part.kinds.0.count_ones()).sum();
        let is_disjoint = bits == kinds.0.count_ones();
        let mut is_exact = is_disjoint && parts.iter().all(|part| part.is_exact);
        let rules = parts.iter().flat_map(|part| part.rules.iter().cloned()).collect();

        let strings = parts.iter().filter(|p| p.kinds.meets(Kinds::STRING)).map(|p| p.strings.as_deref());
        let strings: Option<Vec<&[&str]>> = strings.collect();
        let strings: Option<BTreeSet<&str>> = strings.map(|strings| strings.concat().into_iter().collect());
        let longest_string = strings.iter().flatten().map(|string| string.len()).max().unwrap_or(0);

        let arrays: Vec<&Part<'s>> = parts.iter().filter(|p| p.kinds.meets(Kinds::ARRAY)).collect();
        let longest = arrays.iter().map(|part| part.prefix.len()).max().unwrap_or(0);
        let nth = |i| arrays.iter().map(|part| part.prefix.get(i).unwrap_or(&part.rest).clone()).collect();
        let prefix = (0..longest).map(|i| self.place(nth(i))).collect();
        let element = self.place(nth(longest));

        let objects: Vec<&Part<'s>> = parts.iter().filter(|p| p.kinds.meets(Kinds::OBJECT)).collect();
        let mut values: IndexMap<&str, Vec<Vec<Node<'s>>>> = IndexMap::new();
        for (name, nodes) in objects.iter().flat_map(|part| &part.members) {
            values.entry(name).or_default().push(nodes.clone());
        }
        let is_required = |name: &str| objects.iter().all(|part| part.required.contains(&name));
        let mut required = 0;
        for (i, _) in values.keys().enumerate().filter(|(_, name)| is_required(name)) {
            match i < MAX_SLOTS {
                true => required |= 1_u128 << i,
                // The table of required members has no bit for it.
                false => is_exact = false,
            }
        }
        let members =
            values.into_iter().map(|(name, choices)| (Box::from(name), self.place(choices))).collect();
        let open: Vec<Vec<Node<'s>>> = objects.iter().filter_map(|part| part.additional.clone()).collect();
        let additional = (!open.is_empty()).then(|| self.place(open)).filter(|&at| at != NEVER);
        let expects_others = additional.is_some() && objects.iter().any(|part| part.expects_others);

        Entry {
            kinds,
            members,
            required,
            additional,
            expects_others,
            prefix,
            element,
            strings: strings.map(|strings| strings.into_iter().map(Box::from).collect()),
            longest: longest_string,
            rules,
            is_disjoint,
            is_exact,
        }
    }

    /// Compiles one alternative; the schemas of its members and elements stay uncompiled.
    fn part(&mut self, alternative: &Alternative<'s>) -> Part<'s> {
        let nodes = &alternative.nodes;
        let kinds = nodes.iter().map(|node| kinds_of(node.schema, node.draft()));
        let kinds = kinds.fold(Kinds::ANY, |all, kinds| Kinds(all.0 & kinds.0));
        let strings = nodes.iter().filter_map(|node| strings_of(node.schema, node.draft()));
        let strings = strings.reduce(|mut both, other| {
            both.retain(|s| other.contains(s));
            both
        });

        let of = |keyword: &'static str| nodes.iter().filter_map(move |node| node.schema.get(keyword));
        let demanded = of("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        let required: HashSet<&'s str> = demanded.clone().collect();
        let declared = of("properties").filter_map(Value::as_object).flat_map(Map::keys).map(String::as_str);
        let names: IndexSet<&'s str> = declared.chain(demanded).collect();
        let is_false = |schema: &Value| schema.as_bool() == Some(false);
        let others = || of("additionalProperties").chain(of("unevaluatedProperties"));
        let expects_others = of("patternProperties").next().is_some() || !others().all(is_false);
        let has_open_names = alternative.is_loose || expects_others;
        let is_closed = !has_open_names && of("unevaluatedProperties").any(is_false);
        self.steps += names.len() * nodes.len();
        let members = names
            .iter()
            .map(|name| {
                let of_node = |node: &Node<'s>| {
                    let declared = node.schema.get("properties").and_then(|p| p.get(name));
                    declared.map(|schema| node.at(schema)).or_else(|| node.additional())
                };
                (*name, nodes.iter().filter_map(of_node).collect())
            })
            .collect();
        let additional = nodes.iter().filter_map(|node| node.additional());
        let additional = (!is_closed).then(|| additional.collect());

        let tuples: Vec<_> = nodes.iter().map(|node| (node, node.items())).collect();
        let longest = tuples.iter().map(|(_, (first, _))| first.len()).max().unwrap_or(0);
        let nth = |i: usize| {
            let of_nodes =
                tuples.iter().map(|(node, (first, others))| Some(node.at(first.get(i).or(*others)?)));
            of_nodes.flatten().collect()
        };
        let (prefix, rest) = ((0..longest).map(nth).collect(), nth(longest));

        let mut rules = Vec::new();
        let mut is_exact = !alternative.is_loose && nodes.len() <= 1;
        for node in nodes {
            // In draft 4, `1.0` is not an integer, and bounds become exclusive by a second keyword.
            is_exact &= node.draft() != Draft::D4;
            let keywords = node.schema.as_object().into_iter().flatten();
            for (keyword, value) in keywords {
                match rule(keyword, value) {
                    Ruling::Rule(about, rule) => rules.push((Kinds(about.0 & kinds.0), rule)),
                    Ruling::Tables => {}
                    Ruling::Beyond => is_exact = false,
                }
            }
        }
        Part { kinds, members, required, additional, expects_others, prefix, rest, strings, rules, is_exact }
    }
}

struct Part<'s> {
    kinds: Kinds,
    members: Vec<(&'s str, Vec<Node<'s>>)>,
    required: HashSet<&'s str>,
    additional: Option<Vec<Node<'s>>>,
    expects_others: bool,
    prefix: Vec<Vec<Node<'s>>>,
    rest: Vec<Node<'s>>,
    strings: Option<Vec<&'s str>>,
    rules: Vec<(Kinds, Rule)>,
    is_exact: bool,
}

fn key(alternative: &Alternative<'_>) -> (Vec<*const Value>, bool) {
    let mut keys: Vec<*const Value> = alternative.nodes.iter().map(|node| node.key()).collect();
    keys.sort_unstable();
    (keys, alternative.is_loose)
}

/// The demand of a keyword on the value by itself.
#[derive(PartialEq, Eq)]
enum Demand {
    Nothing,
    /// Alternatives or a rule can express the demand.
    Something,
    /// Alternatives cannot express the demand.
    Beyond,
}

fn demand(keyword: &str) -> Demand {
    match keyword {
        "$schema" | "$id" | "id" | "$ref" | "$defs" | "definitions" | "$comment" | "$anchor" | "title"
        | "description" | "default" | "examples" | "example" | "format" | "deprecated" | "readOnly"
        | "writeOnly" | "allOf" | "anyOf" | "oneOf" | "then" | "else" => Demand::Nothing,
        "if" | "not" | "$dynamicRef" | "$recursiveRef" | "$dynamicAnchor" | "$recursiveAnchor"
        | "$vocabulary" | "dependencies" | "dependentSchemas" | "dependentRequired" => Demand::Beyond,
        _ => Demand::Something,
    }
}

/// Returns the demands of `root` that the tables cannot express, where nothing but the tables checks a value. What no
/// keyword alone is the reason of has the empty pointer.
#[cfg(not(feature = "full-schemas"))]
pub(super) fn beyond(root: &Value) -> Vec<Unchecked> {
    let is_beyond = |(keyword, value): &(&String, &Value)| {
        demand(keyword) == Demand::Beyond || matches!(rule(keyword, value), Ruling::Beyond)
    };
    let mut found = Vec::new();
    for (pointer, schema) in reached(root) {
        let keywords = schema.as_object().into_iter().flatten().filter(is_beyond);
        let reason = "the tables of this build cannot express it".to_owned();
        let told = |(keyword, _): (&String, &Value)| Unchecked {
            pointer: format!("{pointer}/{}", pointer_step(keyword)),
            reason: reason.clone(),
        };
        found.extend(keywords.map(told));
    }
    if found.is_empty() {
        let reason = "the tables of this build do not express all of it: its draft, its forms, or its size";
        found.push(Unchecked { pointer: String::new(), reason: reason.to_owned() });
    }
    found
}

/// Returns the types that a word of `type` means.
pub(super) fn kinds_named(word: &str) -> Kinds {
    match word {
        "null" => Kinds::NULL,
        "boolean" => Kinds::BOOL,
        "integer" => Kinds::INTEGER,
        "number" => Kinds::NUMBER,
        "string" => Kinds::STRING,
        "array" => Kinds::ARRAY,
        "object" => Kinds::OBJECT,
        _ => Kinds::ANY,
    }
}

/// Returns the types that `type`, `enum` and `const` of one schema admit.
fn kinds_of(schema: &Value, draft: Draft) -> Kinds {
    let named = |word: &Value| word.as_str().map_or(Kinds::ANY, kinds_named);
    let types = match schema.get("type") {
        Some(Value::Array(words)) => words.iter().map(named).fold(Kinds(0), Kinds::or),
        Some(word) => named(word),
        None => Kinds::ANY,
    };
    let values = schema.get("enum").and_then(Value::as_array);
    let values = values.map_or(Kinds::ANY, |v| v.iter().map(kinds_of_value).fold(Kinds(0), Kinds::or));
    let only = schema.get("const").filter(|_| draft != Draft::D4).map_or(Kinds::ANY, kinds_of_value);
    Kinds(types.0 & values.0 & only.0)
}

fn kinds_of_value(value: &Value) -> Kinds {
    match value {
        Value::Null => Kinds::NULL,
        Value::Bool(_) => Kinds::BOOL,
        // Numbers are compared by value: `1.0` is the integer 1.
        Value::Number(_) => Kinds::NUMBER,
        Value::String(_) => Kinds::STRING,
        Value::Array(_) => Kinds::ARRAY,
        Value::Object(_) => Kinds::OBJECT,
    }
}

/// Returns the only strings that `enum` or `const` of one schema admit; `None` without either.
fn strings_of(schema: &Value, draft: Draft) -> Option<Vec<&str>> {
    let only = schema.get("const").filter(|_| draft != Draft::D4).map(|value| vec![value]);
    let values = only.or_else(|| Some(schema.get("enum")?.as_array()?.iter().collect()))?;
    Some(values.into_iter().filter_map(Value::as_str).collect())
}

/// The meaning of a keyword to the tables.
pub(super) enum Ruling {
    /// The keyword is this rule for values of these types.
    Rule(Kinds, Rule),
    /// The keyword says nothing, the other columns of the table express it exactly, or it is [`Demand::Beyond`].
    Tables,
    /// The tables cannot express the keyword.
    Beyond,
}

/// Returns the rule that `keyword` makes with this value.
pub(super) fn rule(keyword: &str, value: &Value) -> Ruling {
    match (keyword, value) {
        ("multipleOf", Value::Number(n)) if compare(n.as_str(), "0").is_gt() => {
            Ruling::Rule(Kinds::NUMBER, Rule::MultipleOf(n.as_str().into()))
        }
        ("uniqueItems", Value::Bool(true)) => Ruling::Rule(Kinds::ARRAY, Rule::UniqueItems),
        ("enum", Value::Array(values)) => one_of(values),
        ("const", value) => one_of(std::slice::from_ref(value)),
        ("uniqueItems", _) | ("propertyNames", Value::Bool(true)) => Ruling::Tables,
        ("propertyNames", Value::Object(names)) if names.iter().all(is_true_of_names) => Ruling::Tables,
        ("multipleOf" | "enum" | "propertyNames" | "pattern" | "patternProperties", _)
        | ("contains" | "minContains" | "maxContains" | "unevaluatedItems" | "unevaluatedProperties", _) => {
            Ruling::Beyond
        }
        _ => match (LIMITS.iter().find(|limit| limit.name == keyword), value) {
            (None, _) => Ruling::Tables,
            (Some(limit), Value::Number(n)) if limit.about == Kinds::NUMBER => {
                Ruling::Rule(limit.about, Rule::Bound(limit, n.as_str().into()))
            }
            (Some(limit), n) => {
                let n = n.as_number().and_then(|n| whole(n.as_str()));
                n.map_or(Ruling::Beyond, |n| Ruling::Rule(limit.about, Rule::Size(limit, n)))
            }
        },
    }
}

/// Returns whether this keyword of `propertyNames` demands nothing of a string.
fn is_true_of_names((keyword, value): (&String, &Value)) -> bool {
    demand(keyword) == Demand::Nothing && keyword != "$ref" || keyword == "type" && value == "string"
}

fn one_of(values: &[Value]) -> Ruling {
    let shown: Box<[Box<str>]> = values.iter().map(|value| value.to_string().into()).collect();
    let canonical = shown.iter().map(|text| strict(text).ok().map(|tree| tree.root(text).canonical().into()));
    match canonical.collect::<Option<Box<[Box<str>]>>>() {
        Some(canonical) => Ruling::Rule(Kinds::ANY, Rule::OneOf { canonical, shown }),
        None => Ruling::Beyond,
    }
}

//! A schema as a list of nodes, each with its demands: references are numbers, and nothing is expanded.

use std::collections::HashMap;

use callwright_json::{Kind, Kinds};
use indexmap::{IndexMap, IndexSet};

use super::super::compile::{Ruling, kinds_named, rule};
use super::super::guide::Rule;
use super::super::keywords::{Draft, pointer_step};
use super::super::number::whole;
use super::form::misfits;
use super::pattern::Patterns;
use super::resources::{Language, Missing, RECURSIVE, ResourceId, Resources};
use callwright_value::{Map, Value};

/// The number of a node.
pub(super) type NodeId = u32;
/// Names of members.
pub(super) type Names = Box<[Box<str>]>;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    pub(super) patterns: Patterns,
    /// The nodes of each resource for the dynamic names of the program, each with the name's number.
    pub(super) dynamic: Vec<Vec<(u32, NodeId)>>,
    /// The number of dynamic names.
    pub(super) n_names: usize,
    /// Keys are read as values.
    pub(super) has_keys: bool,
}

/// One schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The keywords in the order of their check: the cheap ones first, those that need the others last.
    pub(super) keywords: Vec<Keyword>,
    pub(super) resource: ResourceId,
    /// Several ways lead to the node, so that its answer is worth remembering.
    pub(super) is_shared: bool,
    /// None of its keywords holds a schema, so that it is decided at once.
    pub(super) is_plain: bool,
}

/// A demand of a schema.
#[derive(Debug)]
pub(super) enum Keyword {
    /// No value fits.
    Never,
    /// The value has one of these types; `is_spelt` says that `1.0` is not an integer.
    Type {
        kinds: Kinds,
        is_spelt: bool,
    },
    Rule {
        keyword: &'static str,
        about: Kinds,
        rule: Rule,
    },
    Required(Names),
    /// A member of the name demands the members of the list.
    DependentRequired(Box<[(Box<str>, Names)]>),
    Pattern(u32),
    Members(Members),
    Items {
        first: Box<[NodeId]>,
        others: Option<NodeId>,
        may_be_others: bool,
    },
    PropertyNames(NodeId),
    Contains {
        node: NodeId,
        least: u64,
        most: u64,
        evaluates: bool,
    },
    Ref(NodeId),
    /// The outermost resource's node for a dynamic name, or this one.
    DynamicRef {
        name: u32,
        usual: NodeId,
    },
    AllOf(Box<[NodeId]>),
    DependentSchemas(Box<[(Box<str>, NodeId)]>),
    AnyOf(Box<[NodeId]>),
    OneOf(Box<[NodeId]>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        or_else: Option<NodeId>,
    },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// Keywords of a higher rank hold schemas.
const PLAIN: u8 = 2;

impl Keyword {
    /// Returns whether values of this kind may break it by their parts: `items` of arrays alone.
    pub(super) fn speaks_of(&self, kind: Kind) -> bool {
        match self {
            Keyword::Members(_)
            | Keyword::PropertyNames(_)
            | Keyword::DependentSchemas(_)
            | Keyword::UnevaluatedProperties(_) => kind == Kind::Object,
            Keyword::Items { .. } | Keyword::Contains { .. } | Keyword::UnevaluatedItems(_) => {
                kind == Kind::Array
            }
            _ => true,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Keyword::Never | Keyword::Type { .. } => 0,
            Keyword::Rule { .. } | Keyword::Required(_) | Keyword::DependentRequired(_) => 1,
            Keyword::Pattern(_) => PLAIN,
            Keyword::Members(_) | Keyword::Items { .. } | Keyword::PropertyNames(_) => 3,
            Keyword::Contains { .. } => 4,
            Keyword::Ref(_)
            | Keyword::DynamicRef { .. }
            | Keyword::AllOf(_)
            | Keyword::DependentSchemas(_) => 5,
            Keyword::AnyOf(_) | Keyword::OneOf(_) | Keyword::Not(_) | Keyword::If { .. } => 6,
            Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_) => 7,
        }
    }
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) named: IndexMap<Box<str>, NodeId>,
    pub(super) patterns: Box<[(u32, NodeId)]>,
    pub(super) others: Option<NodeId>,
    /// There may be no others at all.
    pub(super) is_closed: bool,
}

/// A part of a schema that cannot be compiled.
#[derive(Debug)]
pub(super) struct Fault {
    /// The schema that holds the part.
    pub(super) schema: *const Value,
    /// A JSON pointer from that schema.
    pub(super) pointer: String,
    pub(super) reason: String,
}

/// Compiles the root of the first of `resources`.
///
/// # Errors
/// An error lists all parts that cannot be compiled.
pub(super) fn compile(mut resources: Resources<'_>) -> Result<Program, Vec<Fault>> {
    let mut compiler = Compiler {
        nodes: Vec::new(),
        known: HashMap::new(),
        todo: Vec::new(),
        names: IndexSet::new(),
        dynamic: HashMap::new(),
        patterns: Patterns::default(),
        has_keys: false,
        faults: Vec::new(),
    };
    compiler.node(resources.get(0).root, 0);
    loop {
        while let Some((id, schema, resource)) = compiler.todo.pop() {
            let keywords = compiler.keywords(schema, resource, &mut resources);
            if let Some(node) = compiler.nodes.get_mut(id as usize) {
                let is_plain = keywords.iter().all(|keyword| keyword.rank() <= PLAIN);
                *node = Node { keywords, resource, is_shared: node.is_shared, is_plain };
            }
        }
        // A dynamic name may lead into each resource that has it.
        let all = (0..resources.len()).flat_map(|r| (0..compiler.names.len()).map(move |name| (r, name)));
        for (resource, name) in all.collect::<Vec<_>>() {
            let schema = compiler.names.get_index(name).and_then(|name| resources.dynamic(resource, name));
            if let Some(schema) = schema.filter(|_| !compiler.dynamic.contains_key(&(resource, name))) {
                let node = compiler.node(schema, resource);
                compiler.nodes[node as usize].is_shared = true;
                compiler.dynamic.insert((resource, name), node);
            }
        }
        if compiler.todo.is_empty() {
            break;
        }
    }
    let Compiler { nodes, names, patterns, has_keys, faults, .. } = compiler;
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut dynamic = vec![Vec::new(); if names.is_empty() { 0 } else { resources.len() }];
    for ((resource, name), node) in compiler.dynamic {
        if let (Some(own), Ok(name)) = (dynamic.get_mut(resource), u32::try_from(name)) {
            own.push((name, node));
        }
    }
    Ok(Program { nodes, patterns, dynamic, n_names: names.len(), has_keys })
}

struct Compiler<'s> {
    nodes: Vec<Node>,
    known: HashMap<*const Value, NodeId>,
    todo: Vec<(NodeId, &'s Value, ResourceId)>,
    /// The dynamic names that references use.
    names: IndexSet<&'s str>,
    dynamic: HashMap<(ResourceId, usize), NodeId>,
    patterns: Patterns,
    has_keys: bool,
    faults: Vec<Fault>,
}

impl<'s> Compiler<'s> {
    /// Returns the node of `schema`.
    fn node(&mut self, schema: &'s Value, resource: ResourceId) -> NodeId {
        if let Some(&known) = self.known.get(&std::ptr::from_ref(schema)) {
            self.nodes[known as usize].is_shared = true;
            return known;
        }
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        // The root is reached from outside.
        self.nodes.push(Node { is_shared: id == 0, ..Node::default() });
        self.known.insert(schema, id);
        self.todo.push((id, schema, resource));
        id
    }

    fn keywords(&mut self, schema: &'s Value, at: ResourceId, resources: &mut Resources<'s>) -> Vec<Keyword> {
        let keywords = match schema {
            Value::Bool(false) => return vec![Keyword::Never],
            Value::Object(keywords) => keywords,
            _ => return Vec::new(),
        };
        let language = resources.get(at).language;
        let reads = |keyword: &str| knows(language, keyword);
        let is_alone = language.draft <= Draft::D7 && keywords.contains_key("$ref");
        for (keyword, held) in keywords.iter().filter(|(keyword, _)| !is_alone || *keyword == "$ref") {
            if reads(keyword) {
                let wrong = misfits(keyword, held, language.draft).into_iter();
                let reason = |pointer| (pointer, format!("`{keyword}` cannot have this value"));
                self.faults.extend(wrong.map(reason).map(|(pointer, reason)| Fault {
                    schema,
                    pointer,
                    reason,
                }));
            }
        }
        let mut scope = Scope { compiler: self, resources, at, schema, keywords, language };
        let mut found = Vec::new();
        found.extend(scope.references());
        if !is_alone {
            scope.assertions(&mut found);
            scope.applicators(&mut found);
        }
        found.sort_by_key(Keyword::rank);
        found
    }
}

/// Returns whether the language knows `keyword`.
fn knows(language: Language, keyword: &str) -> bool {
    let (since, until) = match keyword {
        "const" | "contains" | "propertyNames" => (Draft::D6, Draft::D2020),
        "if" | "then" | "else" => (Draft::D7, Draft::D2020),
        "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "minContains"
        | "maxContains"
        | "$anchor" => (Draft::D2019, Draft::D2020),
        "$recursiveRef" => (Draft::D2019, Draft::D2019),
        "prefixItems" | "$dynamicRef" | "$dynamicAnchor" => (Draft::D2020, Draft::D2020),
        "additionalItems" => (Draft::D4, Draft::D2019),
        _ => (Draft::D4, Draft::D2020),
    };
    let is_of_vocabulary = match keyword {
        "$ref" | "$recursiveRef" | "$dynamicRef" | "$id" | "$anchor" | "$dynamicAnchor" | "$defs"
        | "definitions" => true,
        "type" | "enum" | "const" | "multipleOf" | "maximum" | "exclusiveMaximum" | "minimum"
        | "exclusiveMinimum" | "maxLength" | "minLength" | "pattern" | "maxItems" | "minItems"
        | "uniqueItems" | "maxContains" | "minContains" | "maxProperties" | "minProperties" | "required"
        | "dependentRequired" => language.asserts,
        _ => language.applies,
    };
    (since..=until).contains(&language.draft) && is_of_vocabulary
}

/// One schema in the compiler.
struct Scope<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    resources: &'c mut Resources<'s>,
    at: ResourceId,
    schema: &'s Value,
    keywords: &'s Map,
    language: Language,
}

impl<'s> Scope<'_, 's> {
    /// Returns the value of `keyword`, if the language knows it.
    fn held(&self, keyword: &str) -> Option<&'s Value> {
        self.keywords.get(keyword).filter(|_| knows(self.language, keyword))
    }

    fn fault(&mut self, pointer: String, reason: String) {
        self.compiler.faults.push(Fault { schema: self.schema, pointer, reason });
    }

    /// Returns the node of a schema inside this one; `None` for anything else.
    fn inner(&mut self, schema: &'s Value) -> Option<NodeId> {
        let is_schema = schema.is_object() || schema.is_boolean();
        is_schema.then(|| self.compiler.node(schema, self.resources.of(schema, self.at)))
    }

    fn node(&mut self, keyword: &str) -> Option<NodeId> {
        self.inner(self.held(keyword)?)
    }

    fn nodes(&mut self, keyword: &str) -> Option<Box<[NodeId]>> {
        let list = self.held(keyword)?.as_array()?;
        Some(list.iter().filter_map(|schema| self.inner(schema)).collect())
    }

    fn references(&mut self) -> Option<Keyword> {
        let mut found = None;
        for keyword in ["$ref", "$recursiveRef", "$dynamicRef"] {
            let Some(reference) = self.held(keyword).and_then(Value::as_str) else { continue };
            let own = match self.resources.resolve(self.at, reference) {
                Err(missing) => {
                    let reason = match missing {
                        Missing::Schema => format!("`{reference}` leads to no schema"),
                        Missing::Document => {
                            format!("`{reference}` is another document, and nothing is fetched")
                        }
                    };
                    self.fault(format!("/{keyword}"), reason);
                    continue;
                }
                Ok(target) => {
                    let name = match keyword {
                        "$dynamicRef" => target.dynamic,
                        "$recursiveRef" => {
                            self.resources.dynamic(target.resource, RECURSIVE).map(|_| RECURSIVE)
                        }
                        _ => None,
                    };
                    let usual = self.compiler.node(target.schema, target.resource);
                    match name {
                        None => Keyword::Ref(usual),
                        Some(name) => {
                            let name = self.compiler.names.insert_full(name).0;
                            Keyword::DynamicRef { name: u32::try_from(name).unwrap_or(u32::MAX), usual }
                        }
                    }
                }
            };
            // Two references in one schema hold together.
            found = match (found, own) {
                (None, own) => Some(own),
                (Some(Keyword::Ref(one)), Keyword::Ref(other)) => Some(Keyword::AllOf([one, other].into())),
                (Some(_), own) => {
                    self.fault(format!("/{keyword}"), "it stands beside another reference".to_owned());
                    Some(own)
                }
            };
        }
        found
    }

    fn assertions(&mut self, found: &mut Vec<Keyword>) {
        let is_true = |keyword: &str| self.keywords.get(keyword).and_then(Value::as_bool) == Some(true);
        let is_oldest = self.language.draft == Draft::D4;
        if let Some(types) = self.held("type") {
            let named = |word: &Value| word.as_str().map_or(Kinds::ANY, kinds_named);
            let kinds = match types {
                Value::Array(words) => words.iter().map(named).fold(Kinds(0), Kinds::or),
                word => named(word),
            };
            found.push(Keyword::Type { kinds, is_spelt: is_oldest });
        }
        for (keyword, held) in self.keywords {
            let Some(held) = self.held(keyword).filter(|known| std::ptr::eq(*known, held)) else { continue };
            // In draft 4, a second keyword makes a bound exclusive.
            let named = match (keyword.as_str(), is_oldest) {
                ("minimum", true) if is_true("exclusiveMinimum") => "exclusiveMinimum",
                ("maximum", true) if is_true("exclusiveMaximum") => "exclusiveMaximum",
                ("exclusiveMinimum" | "exclusiveMaximum", true) => continue,
                (keyword, _) => keyword,
            };
            if let (Some(keyword), Ruling::Rule(about, rule)) = (ruled(named), rule(named, held)) {
                found.push(Keyword::Rule { keyword, about, rule });
            }
        }
        if let Some(names) = self.held("required").and_then(Value::as_array).filter(|names| !names.is_empty())
        {
            found.push(Keyword::Required(strings(names)));
        }
        if let Some(lists) = self.held("dependentRequired").and_then(Value::as_object) {
            let lists = lists
                .iter()
                .filter_map(|(name, list)| Some((name.as_str().into(), strings(list.as_array()?))));
            found.push(Keyword::DependentRequired(lists.collect()));
        }
        if let Some(pattern) = self.held("pattern").and_then(Value::as_str) {
            found.extend(self.pattern(pattern, || "/pattern".to_owned()).map(Keyword::Pattern));
        }
    }

    fn pattern(&mut self, source: &str, pointer: impl Fn() -> String) -> Option<u32> {
        let number = self.compiler.patterns.add(source);
        if number.is_none() {
            let reason = format!(
                "{} is not a regular expression that can be tried here",
                callwright_json::quote(source)
            );
            self.fault(pointer(), reason);
        }
        number
    }

    fn applicators(&mut self, found: &mut Vec<Keyword>) {
        self.members(found);
        self.items(found);
        if let Some(node) = self.node("propertyNames") {
            self.compiler.has_keys = true;
            found.push(Keyword::PropertyNames(node));
        }
        if let Some(node) = self.node("contains") {
            let bound = |keyword| whole(self.held(keyword)?.as_number()?.as_str());
            let (least, most) = (bound("minContains").unwrap_or(1), bound("maxContains").unwrap_or(u64::MAX));
            let evaluates = self.language.draft == Draft::D2020;
            found.push(Keyword::Contains { node, least, most, evaluates });
        }
        found.extend(self.nodes("allOf").map(Keyword::AllOf));
        found.extend(self.nodes("anyOf").map(Keyword::AnyOf));
        found.extend(self.nodes("oneOf").map(Keyword::OneOf));
        found.extend(self.node("not").map(Keyword::Not));
        if let Some(condition) = self.node("if") {
            let (then, or_else) = (self.node("then"), self.node("else"));
            found.push(Keyword::If { condition, then, or_else });
        }
        self.dependencies(found);
        found.extend(self.node("unevaluatedItems").map(Keyword::UnevaluatedItems));
        found.extend(self.node("unevaluatedProperties").map(Keyword::UnevaluatedProperties));
    }

    fn members(&mut self, found: &mut Vec<Keyword>) {
        let map = |scope: &Self, keyword| scope.held(keyword).and_then(Value::as_object);
        let (named, patterns) = (map(self, "properties"), map(self, "patternProperties"));
        let others = self.held("additionalProperties");
        if named.is_none() && patterns.is_none() && others.is_none() {
            return;
        }
        let named = named.into_iter().flatten();
        let named =
            named.filter_map(|(name, schema)| Some((name.as_str().into(), self.inner(schema)?))).collect();
        let patterns = patterns.into_iter().flatten();
        let patterns = patterns.filter_map(|(source, schema)| {
            let pointer = || format!("/patternProperties/{}", pointer_step(source));
            Some((self.pattern(source, pointer)?, self.inner(schema)?))
        });
        let patterns = patterns.collect();
        let is_closed = others.and_then(Value::as_bool) == Some(false);
        let others = others.and_then(|others| self.inner(others));
        found.push(Keyword::Members(Members { named, patterns, others, is_closed }));
    }

    fn items(&mut self, found: &mut Vec<Keyword>) {
        let (first, others) = match self.held("items") {
            Some(Value::Array(_)) if self.language.draft <= Draft::D2019 => {
                (self.nodes("items"), self.held("additionalItems"))
            }
            items => (self.nodes("prefixItems"), items),
        };
        let may_be_others = others.and_then(Value::as_bool) != Some(false);
        let others = others.and_then(|others| self.inner(others));
        if first.is_some() || others.is_some() {
            found.push(Keyword::Items { first: first.unwrap_or_default(), others, may_be_others });
        }
    }

    /// Reads `dependentSchemas`, and `dependencies`, which the older drafts have for both.
    fn dependencies(&mut self, found: &mut Vec<Keyword>) {
        let mut schemas = Vec::new();
        let mut lists = Vec::new();
        for keyword in ["dependencies", "dependentSchemas"] {
            for (name, held) in self.held(keyword).and_then(Value::as_object).into_iter().flatten() {
                match held {
                    Value::Array(names) => lists.push((Box::from(name.as_str()), strings(names))),
                    held => schemas.extend(self.inner(held).map(|node| (Box::from(name.as_str()), node))),
                }
            }
        }
        if !lists.is_empty() {
            found.push(Keyword::DependentRequired(lists.into()));
        }
        if !schemas.is_empty() {
            found.push(Keyword::DependentSchemas(schemas.into()));
        }
    }
}

fn strings(list: &[Value]) -> Names {
    list.iter().filter_map(Value::as_str).map(Box::from).collect()
}

/// Returns the keyword of a [`Rule`].
fn ruled(keyword: &str) -> Option<&'static str> {
    let limits = super::super::guide::LIMITS.iter().map(|limit| limit.name);
    limits.chain(["multipleOf", "uniqueItems", "enum", "const"]).find(|known| *known == keyword)
}

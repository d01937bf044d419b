//! The schemas by their addresses and names: those of the document, of the documents that it may refer to, and of the
//! languages. Nothing is fetched.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::super::keywords::{Draft, identity, inside, local_pointer, pointer_key};
use super::uri::Uri;
use callwright_value::Value;

/// The number of a resource.
pub(super) type ResourceId = usize;

/// All schemas that a schema may refer to.
pub(super) struct Resources<'s> {
    all: Vec<Resource<'s>>,
    by_uri: HashMap<Uri, ResourceId>,
    /// The resources by the schemas that are their roots.
    roots: HashMap<*const Value, ResourceId>,
    given: &'s [(String, Value)],
}

/// A schema with an address of its own, and all inside it without one.
pub(super) struct Resource<'s> {
    pub(super) root: &'s Value,
    pub(super) language: Language,
    uri: Uri,
    /// The schemas with a name, `#name`, and whether the name is dynamic.
    anchors: HashMap<&'s str, (&'s Value, bool)>,
}

/// The keywords that a language knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Language {
    pub(super) draft: Draft,
    /// The language has the words that demand something of a value itself, as `type`.
    pub(super) asserts: bool,
    /// The language has the words that hold schemas.
    pub(super) applies: bool,
}

/// The dynamic name that `"$recursiveAnchor": true` means.
pub(super) const RECURSIVE: &str = "";

/// The target of a reference.
pub(super) struct Target<'s> {
    pub(super) schema: &'s Value,
    pub(super) resource: ResourceId,
    /// The dynamic name by which it was found.
    pub(super) dynamic: Option<&'s str>,
}

/// The reason for which a reference leads nowhere.
pub(super) enum Missing {
    /// There is no such document.
    Document,
    /// The document has no such schema.
    Schema,
}

impl<'s> Resources<'s> {
    /// Collects the resources in `root` and `given`.
    ///
    /// # Errors
    /// An error is the address of `given` that is not valid.
    pub(super) fn new(root: &'s Value, given: &'s [(String, Value)]) -> Result<Resources<'s>, &'s str> {
        let mut resources =
            Resources { all: Vec::new(), by_uri: HashMap::new(), roots: HashMap::new(), given };
        let language = resources.language(root, Draft::D2020);
        resources.add(Uri::default(), root, language);
        for (uri, document) in given {
            let address = Uri::new(uri).ok_or(uri.as_str())?;
            let language = resources.language(document, language.draft);
            resources.add(address, document, language);
        }
        Ok(resources)
    }

    pub(super) fn get(&self, resource: ResourceId) -> &Resource<'s> {
        &self.all[resource]
    }

    /// Returns the number of resources; their own numbers are below.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the resource whose root is `schema`, a part of `around`, or `around`.
    pub(super) fn of(&self, schema: &Value, around: ResourceId) -> ResourceId {
        self.roots.get(&std::ptr::from_ref(schema)).copied().unwrap_or(around)
    }

    /// Returns the schema with the dynamic `name` in `resource`.
    pub(super) fn dynamic(&self, resource: ResourceId, name: &str) -> Option<&'s Value> {
        let resource = self.get(resource);
        if name == RECURSIVE {
            let is_recursive = resource.root.get("$recursiveAnchor").and_then(Value::as_bool) == Some(true);
            return (is_recursive && resource.language.draft == Draft::D2019).then_some(resource.root);
        }
        resource.anchors.get(name).filter(|(_, is_dynamic)| *is_dynamic).map(|(schema, _)| *schema)
    }

    /// Follows `reference` from a schema of `from`.
    ///
    /// # Errors
    /// An error means that it leads nowhere.
    pub(super) fn resolve(&mut self, from: ResourceId, reference: &str) -> Result<Target<'s>, Missing> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match address {
            "" => from,
            address => {
                let uri = Uri::new(address).ok_or(Missing::Document)?;
                self.at(&self.get(from).uri.join(&uri)).ok_or(Missing::Document)?
            }
        };
        let pointer = local_pointer(&format!("#{fragment}"));
        let Some(pointer) = pointer else {
            let named = self.get(resource).anchors.get_key_value(fragment);
            let (name, (schema, is_dynamic)) = named.ok_or(Missing::Schema)?;
            let (schema, dynamic) = (*schema, is_dynamic.then_some(*name));
            return Ok(Target { schema, resource: self.of(schema, resource), dynamic });
        };
        let (mut schema, mut resource) = (self.get(resource).root, resource);
        for step in pointer.split('/').skip(1) {
            let key = pointer_key(step);
            let inner = match schema {
                Value::Array(list) => key.parse::<usize>().ok().and_then(|n| list.get(n)),
                schema => schema.get(key.as_str()),
            };
            schema = inner.ok_or(Missing::Schema)?;
            resource = self.of(schema, resource);
        }
        let is_schema = schema.is_object() || schema.is_boolean();
        is_schema.then_some(Target { schema, resource, dynamic: None }).ok_or(Missing::Schema)
    }

    /// Returns the resource at `uri`, which may be the schema of a language.
    fn at(&mut self, uri: &Uri) -> Option<ResourceId> {
        if let Some(&known) = self.by_uri.get(uri) {
            return Some(known);
        }
        let (_, document) = languages().iter().find(|(own, _)| own == uri)?;
        let language = self.language(document, Draft::D2020);
        Some(self.add(uri.clone(), document, language))
    }

    /// Adds a document that was found at `uri`, and all resources in it.
    fn add(&mut self, uri: Uri, document: &'s Value, language: Language) -> ResourceId {
        let id = self
            .enter(document, &uri, language)
            .unwrap_or_else(|| self.push(document, uri.clone(), language));
        self.by_uri.entry(uri).or_insert(id);
        let mut todo = vec![(document, id)];
        while let Some((schema, around)) = todo.pop() {
            let Resource { uri, language, .. } = self.get(around);
            let (uri, language) = (uri.clone(), *language);
            let own =
                if std::ptr::eq(schema, document) { Some(id) } else { self.enter(schema, &uri, language) };
            let id = own.unwrap_or(around);
            self.name(schema, id);
            todo.extend(inside(schema).map(|(_, held)| (held, id)));
        }
        id
    }

    fn push(&mut self, root: &'s Value, uri: Uri, language: Language) -> ResourceId {
        self.all.push(Resource { root, language, uri, anchors: HashMap::new() });
        self.roots.insert(root, self.all.len() - 1);
        self.all.len() - 1
    }

    /// Makes a resource of `schema` if it gives itself an address.
    fn enter(&mut self, schema: &'s Value, base: &Uri, language: Language) -> Option<ResourceId> {
        let draft = language.draft;
        let keyword = if draft == Draft::D4 { "id" } else { "$id" };
        let id = schema.get(keyword).and_then(Value::as_str)?;
        // Keywords beside `$ref` say nothing in the older drafts.
        if id.starts_with('#') || draft <= Draft::D7 && schema.get("$ref").is_some() {
            return None;
        }
        let uri = base.join(&Uri::new(id)?);
        let language = if schema.get("$schema").is_some() { self.language(schema, draft) } else { language };
        let id = self.push(schema, uri.clone(), language);
        self.by_uri.entry(uri).or_insert(id);
        Some(id)
    }

    /// Adds the names that `schema` has in `resource`.
    fn name(&mut self, schema: &'s Value, resource: ResourceId) {
        let Some(resource) = self.all.get_mut(resource) else { return };
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let draft = resource.language.draft;
        let older = match draft {
            Draft::D4 => text("id"),
            Draft::D6 | Draft::D7 => text("$id"),
            Draft::D2019 | Draft::D2020 => None,
        };
        let plain = if draft <= Draft::D7 { None } else { text("$anchor") };
        let dynamic = if draft == Draft::D2020 { text("$dynamicAnchor") } else { None };
        let names = [older.and_then(|id| id.strip_prefix('#')), plain].into_iter().flatten();
        for (name, is_dynamic) in names.map(|name| (name, false)).chain(dynamic.map(|name| (name, true))) {
            resource.anchors.entry(name).or_insert((schema, is_dynamic));
        }
    }

    /// Returns the language of a document; by default, it is of the draft `usual`.
    fn language(&self, document: &Value, usual: Draft) -> Language {
        let plain = |draft| Language { draft, asserts: true, applies: true };
        let named = |document: &Value| document.get("$schema").and_then(Value::as_str).map(str::to_owned);
        let Some(name) = named(document) else { return plain(usual) };
        if let Some(draft) = Draft::named(&name) {
            return plain(draft);
        }
        // The language is somebody's own, which is written in another language in its turn.
        let of = |name: &str| self.given.iter().find(|(uri, _)| uri == name).map(|(_, document)| document);
        let Some(own) = of(&name) else { return plain(Draft::D2020) };
        let mut next = named(own);
        let mut draft = Draft::D2020;
        // Each given document may stand once on the way.
        for _ in 0..=self.given.len() {
            let Some(name) = next else { break };
            if let Some(known) = Draft::named(&name) {
                draft = known;
                break;
            }
            next = of(&name).and_then(named);
        }
        let words = own.get("$vocabulary").and_then(Value::as_object);
        let has = |word: &str| words.is_none_or(|words| words.keys().any(|uri| uri.ends_with(word)));
        Language { draft, asserts: has("/vocab/validation"), applies: has("/vocab/applicator") }
    }
}

/// Returns the schemas of the languages, by their addresses.
fn languages() -> &'static [(Uri, Value)] {
    static LANGUAGES: OnceLock<Vec<(Uri, Value)>> = OnceLock::new();
    LANGUAGES.get_or_init(|| {
        let all: Value = include_str!("languages.json").parse().unwrap_or_default();
        let with_uri = |schema: &Value| identity(schema).and_then(Uri::new).map(|uri| (uri, schema.clone()));
        all.as_array().into_iter().flatten().filter_map(with_uri).collect()
    })
}

/// Returns an identity that two parts of the document have, in any spelling, as one of them writes it: a reference to
/// it names neither.
pub(super) fn shared_id(root: &Value) -> Option<&str> {
    let mut seen: HashSet<Uri> = HashSet::new();
    let mut names: HashSet<(Uri, &str)> = HashSet::new();
    let mut todo = vec![(root, Arc::new(Uri::default()))];
    while let Some((schema, base)) = todo.pop() {
        let id = identity(schema).map(|id| (id, id.trim_end_matches('#')));
        // A text that is not an address gives none.
        let own = id.and_then(|(id, text)| Some((id, text, base.join(&Uri::new(text)?))));
        let mut inner = base;
        if let Some((id, text, uri)) = own {
            // A name alone, as the older drafts have it, is not a base.
            let is_new = match text.strip_prefix('#') {
                Some(name) => names.insert((uri, name)),
                None => {
                    inner = Arc::new(uri.clone());
                    seen.insert(uri)
                }
            };
            if !is_new {
                return Some(id);
            }
        }
        todo.extend(inside(schema).map(|(_, child)| (child, Arc::clone(&inner))));
    }
    None
}

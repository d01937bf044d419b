//! Which file of a crate uses which: in goes the root of a crate, out comes its largest circle of files.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::Token;

/// The files of a crate, the root first.
pub(super) struct Modules<'t>(Vec<Module<'t>>);

/// A file.
struct Module<'t> {
    path: &'t str,
    parent: Option<usize>,
    /// The files below it, by name.
    children: BTreeMap<&'t str, usize>,
    /// The names that it defines.
    defined: BTreeSet<&'t str>,
    /// The names that it takes from elsewhere, with their paths.
    taken: BTreeMap<&'t str, Vec<&'t str>>,
    /// The paths from which it takes all names.
    globs: Vec<Vec<&'t str>>,
    /// The paths in its code.
    paths: Vec<Vec<&'t str>>,
}

/// The most names on the way to a file: some stand for each other.
const MOST_STEPS: usize = 16;

type Sources<'t> = BTreeMap<&'t str, Vec<Token<'t>>>;

impl<'t> Modules<'t> {
    /// The crate whose root is the file at `path`.
    pub(super) fn of(path: &'t str, sources: &Sources<'t>) -> Modules<'t> {
        let mut modules = Modules(Vec::new());
        modules.add(path, None, sources);
        modules
    }

    /// Adds a file and all below it. Returns its place.
    fn add(&mut self, path: &'t str, parent: Option<usize>, sources: &Sources<'t>) -> usize {
        let place = self.0.len();
        let tokens = sources.get(path).map_or(&[][..], Vec::as_slice);
        self.0.push(Module::read(path, parent, tokens));
        let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let folder =
            if parent.is_none() { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { stem };
        let declared = tokens.windows(3).filter(|three| three[0].text == "mod" && three[2].text == ";");
        for name in declared.map(|three| three[1].text) {
            let file = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
            let file = file.iter().find_map(|file| sources.get_key_value(file.as_str()));
            if let Some((file, _)) = file {
                let child = self.add(file, Some(place), sources);
                self.0[place].children.insert(name, child);
            }
        }
        place
    }

    /// The largest circle of files that use each other: each file, and those of the circle that it uses.
    pub(super) fn largest_circle(&self) -> Vec<String> {
        let uses: Vec<BTreeSet<usize>> = (0..self.0.len()).map(|from| self.used_by(from)).collect();
        let reached: Vec<BTreeSet<usize>> = (0..uses.len()).map(|from| reached(from, &uses)).collect();
        let circle = |from: usize| -> BTreeSet<usize> {
            reached[from].iter().copied().filter(|to| reached[*to].contains(&from)).collect()
        };
        let largest = (0..uses.len()).map(circle).max_by_key(BTreeSet::len).unwrap_or_default();
        let name = |place: &usize| self.0[*place].path.split_once("/src/").unwrap_or_default().1;
        let line = |from: &usize| {
            let used: Vec<&str> = uses[*from].intersection(&largest).map(name).collect();
            format!("{} uses {}", name(from), used.join(", "))
        };
        largest.iter().map(line).collect()
    }

    /// The files that the one at `from` takes something of.
    fn used_by(&self, from: usize) -> BTreeSet<usize> {
        let Module { paths, taken, globs, .. } = &self.0[from];
        let paths = paths.iter().chain(taken.values()).chain(globs);
        paths.filter_map(|path| self.named(from, path, MOST_STEPS)).filter(|to| *to != from).collect()
    }

    /// The file that has what `path` names in the code of the one at `from`; `None` where that is another crate's.
    fn named(&self, from: usize, path: &[&'t str], steps: usize) -> Option<usize> {
        let module = &self.0[from];
        let (first, rest) = path.split_first()?;
        match *first {
            "crate" => self.within(0, rest, steps),
            "self" => self.within(from, rest, steps),
            "super" => self.within(module.parent?, rest, steps),
            name if module.children.contains_key(name) => self.within(from, path, steps),
            name => {
                let full = module.taken.get(name).filter(|full| full.first() != Some(first))?;
                self.named(from, &[full, rest].concat(), steps.checked_sub(1)?)
            }
        }
    }

    /// The file that has what `path` names, read from the one at `at`.
    fn within(&self, at: usize, path: &[&'t str], steps: usize) -> Option<usize> {
        let module = &self.0[at];
        let Some((first, rest)) = path.split_first() else { return Some(at) };
        if *first == "super" {
            return self.within(module.parent?, rest, steps);
        }
        if let Some(child) = module.children.get(first) {
            return self.within(*child, rest, steps);
        }
        if module.defined.contains(first) {
            return Some(at);
        }
        let steps = steps.checked_sub(1)?;
        if let Some(full) = module.taken.get(first) {
            return self.named(at, &[full, rest].concat(), steps);
        }
        let mut globs = module.globs.iter().filter_map(|glob| self.named(at, glob, steps));
        let has = |place: usize| {
            let Module { children, defined, taken, .. } = &self.0[place];
            children.contains_key(first) || defined.contains(first) || taken.contains_key(first)
        };
        globs.find(|place| has(*place)).map_or(Some(at), |place| self.within(place, path, steps))
    }
}

impl<'t> Module<'t> {
    fn read(path: &'t str, parent: Option<usize>, tokens: &[Token<'t>]) -> Module<'t> {
        let (children, taken) = (BTreeMap::new(), BTreeMap::new());
        let (defined, globs, paths) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut module = Module { path, parent, children, defined, taken, globs, paths };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let name = tokens.get(at + 1).map(|name| name.text);
            match token.text {
                "use" => at += module.take(&[], &tokens[at + 1..]),
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" => {
                    module.defined.extend(name)
                }
                // The folder that sees a name is not used by it.
                "in" if 0 < at && tokens[at - 1].text == "(" => {
                    at += 2 * path_at(&tokens[at + 1..]).len() - 1;
                }
                "macro_rules" => module.defined.extend(tokens.get(at + 2).map(|name| name.text)),
                _ if token.is_word() && name == Some("::") => {
                    let path = path_at(&tokens[at..]);
                    at += 2 * (path.len() - 1);
                    module.paths.push(path);
                }
                _ => {}
            }
            at += 1;
        }
        module
    }

    /// Takes the names of a `use` that stands behind the path `before`. Returns the number of its tokens.
    fn take(&mut self, before: &[&'t str], tokens: &[Token<'t>]) -> usize {
        let mut path = before.to_vec();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token.text {
                "::" => {}
                "{" => {
                    at += 1;
                    while tokens.get(at).is_some_and(|token| token.text != "}") {
                        at += self.take(&path, &tokens[at..]);
                        at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
                    }
                    return at + 1;
                }
                "*" => {
                    self.globs.push(path);
                    return at + 1;
                }
                "as" => {
                    self.taken.insert(tokens.get(at + 1).map_or("_", |name| name.text), path);
                    return at + 2;
                }
                "self" if !path.is_empty() => {}
                _ if token.is_word() => path.push(token.text),
                _ => break,
            }
            at += 1;
        }
        if let Some(name) = path.last() {
            self.taken.insert(name, path);
        }
        // What cannot be read is passed over.
        at.max(1)
    }
}

/// The words between `::` at the start of `tokens`.
fn path_at<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let names = tokens[1..].chunks(2).take_while(|pair| pair[0].text == "::");
    let names = names.filter_map(|pair| pair.get(1)).take_while(|name| name.is_word());
    tokens[..1].iter().chain(names).map(|name| name.text).collect()
}

/// All files to which the uses of the one at `from` lead, itself only in a circle.
fn reached(from: usize, uses: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(uses[next].iter().copied().filter(|to| reached.insert(*to)));
    }
    reached
}

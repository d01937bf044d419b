//! Finds the tool that a model's name means: exactly, or by a variant that only one tool has. A name further away leads
//! to feedback, never to a call.

use std::borrow::Cow;
use std::collections::HashMap;

use callwright_schema::names::{fold, is_separator};

use crate::syntax::tag;
pub(crate) use crate::syntax::{MAX_NAME, is_name_byte};
use crate::tools::{Declared, Tool, ToolSet};

/// Most bytes before a name in prose, and most that a name may gain with them: `functions.`, `default_api.`.
const MAX_NAMESPACE: usize = 32;

/// Longest word with letters beyond ASCII that may hold a name, if no declared name begins like it.
const MAX_FOREIGN: usize = 32;

/// The namespaces that models put in front of a name anywhere. Any other one is another module: `re.search(` does not
/// mean the tool `search`.
const NAMESPACES: &[&str] = &["functions", "function", "default_api", "tools", "tool", "api", "client"];

/// Finds names in one tool set.
#[derive(Clone)]
pub(crate) struct Names<'a>(Declared<'a>);

/// The index of a tool set's names. Numbers stand for tools.
#[derive(Debug)]
pub(crate) struct NameIndex {
    /// The endings of the names, in order, which exclude nearly every word of a text without a lookup. In any spelling,
    /// and behind any prefix, a name keeps its last three bytes. They stand here, the last one first; of a shorter
    /// name, only its last byte.
    ends: Vec<[Option<u8>; 3]>,
    /// Declared names of more than one word, `server/tool`, each with the length of its first word.
    joined: Vec<(usize, usize)>,
    /// Longest word that may be a name in prose.
    longest: usize,
    /// Declared names without case and separators; `None` if two tools share one.
    folded: HashMap<String, Option<usize>>,
    /// The text behind the last dot of declared names, `math.hypot` → `hypot`; `None` if two tools share one.
    tails: HashMap<String, Option<usize>>,
}

impl NameIndex {
    /// Indexes these tools, in their order.
    pub(crate) fn of(tools: &ToolSet) -> NameIndex {
        // Each letter of a name may have a separator behind it, or a backslash before it.
        let longest = 2 * tools.iter().map(|tool| tool.name().len()).max().unwrap_or(0) + MAX_NAMESPACE;
        let words = |name: &str| name.bytes().position(|byte| !is_name_byte(byte));
        let joined =
            tools.iter().enumerate().filter_map(|(n, tool)| Some((n, words(tool.name())?))).collect();
        let ends = |tool: &Tool| match folded_ends(tool.name()) {
            ends @ [.., Some(_)] => ends,
            [last, ..] => [last, None, None],
        };
        let folded = index(tools, |name| Some(name));
        let tails = index(tools, |name| Some(name.rsplit_once('.')?.1));
        let mut sorted: Vec<[Option<u8>; 3]> = Vec::new();
        for ends in tools.iter().map(ends) {
            sorted.insert(sorted.partition_point(|other| *other <= ends), ends);
        }
        NameIndex { ends: sorted, joined, longest: longest.min(MAX_NAME), folded, tails }
    }

    /// Returns whether `written` may resolve. The part of a name behind its last dot ends as the name does.
    fn may_have(&self, written: &str) -> bool {
        let ends @ [last, ..] = folded_ends(written);
        // `cd<|channel|>commentary`; a name of separators alone must have its exact spelling.
        written.contains('<')
            || last.is_none()
            || [ends, [last, None, None]].iter().any(|ends| self.ends.binary_search(ends).is_ok())
    }
}

impl<'a> Names<'a> {
    /// Makes the names of `tools`.
    pub(crate) fn new(tools: impl Into<Declared<'a>>) -> Names<'a> {
        Names(tools.into())
    }

    fn index(&self) -> &NameIndex {
        self.tools().names()
    }

    /// Returns the end of the name from `from` on, whose first word may end at `end`: `server` of a declared
    /// `server/tool`. If the `text` ends and may go on like that, its end is the name's.
    pub(crate) fn joined_end(&self, text: &str, from: usize, end: usize, is_whole: bool) -> usize {
        let ends = self.index().joined.iter().filter_map(|(tool, first)| {
            let name = self.tools().at(*tool)?.name();
            let rest = text.get(end.checked_sub(*first).filter(|start| from <= *start)?..)?;
            if !is_whole && rest.len() < name.len() && name.starts_with(rest) {
                return Some(text.len());
            }
            let behind = rest.strip_prefix(name)?;
            // `server/tool.call(`
            let more = leading_name(behind).len();
            (more == 0 || behind.starts_with('.')).then(|| text.len() - behind.len() + more)
        });
        ends.max().unwrap_or(end)
    }

    /// Returns the tools.
    pub(crate) fn tools(&self) -> &ToolSet {
        self.0.tools()
    }

    /// Returns the tool that `written` names; `None` if no tool fits, or more than one.
    pub(crate) fn resolve(&self, written: &str) -> Option<&Tool> {
        let is_namespace = |word: &str| NAMESPACES.iter().any(|known| known.eq_ignore_ascii_case(word));
        let written = written.trim_ascii();
        if written.is_empty() || MAX_NAME < written.len() {
            return None;
        }
        // The name stands in an escaped attribute: `tool="a&amp;b"`.
        if written.contains('&')
            && let Some(tool) = self.tools().get(&tag::unescaped(written))
        {
            return Some(tool);
        }
        if !self.index().may_have(written) {
            return None;
        }
        if let Some(tool) = self.tools().get(written) {
            return Some(tool);
        }
        // Look-alike, zero-width and bidirectional characters never resolve, but for a name to the letter.
        if !written.is_ascii() {
            let (head, tail) = written.split_once(['.', ':', '/'])?;
            return self.tools().get(tail).filter(|_| is_namespace(head));
        }
        let written = without_token(written);
        if is_path(&written) {
            return None;
        }
        if let Some(tool) = self.variant(&written) {
            return Some(tool);
        }
        let mut rest: &str = &written;
        while let Some((head, tail)) = rest.split_once(['.', ':', '/']) {
            if !head.is_empty() && !is_namespace(head) {
                return None;
            }
            if let Some(tool) = self.tools().get(tail).or_else(|| self.variant(tail)) {
                return Some(tool);
            }
            rest = tail;
        }
        None
    }

    /// Returns the tool that `written` names at the place of a name, also with foreign signs at its ends:
    /// `"name": "@fetch"`.
    pub(crate) fn named(&self, written: &str) -> Option<&Tool> {
        self.resolve(written).or_else(|| self.resolve(without_signs(written.trim_ascii())))
    }

    /// Returns whether `word`, the beginning of a word in prose, may be or become one that holds a name. Once the
    /// answer is false, it stays false.
    pub(crate) fn may_hold(&self, word: &str) -> bool {
        // Most scripts write sentences without blanks, which never become names.
        let is_foreign = || MAX_FOREIGN < word.len() && !word.is_ascii();
        let begins_name = || self.tools().iter().any(|tool| tool.name().starts_with(word));
        word.len() <= self.index().longest && (!is_foreign() || begins_name())
    }

    /// Returns the tool `written` of a server that the model named apart. It is declared under its own name, or under
    /// one that joins both: `server__tool`, `mcp__server__tool`, `server.tool`.
    pub(crate) fn resolve_of(&self, server: &str, written: &str) -> Option<&Tool> {
        let is_name = |name: &str| name.len() <= MAX_NAME / 4 && name.is_ascii();
        if !is_name(server) || !is_name(written) {
            return None;
        }
        let joined = [format!("{server}__{written}"), format!("mcp__{server}__{written}")];
        let joined = joined.iter().find_map(|name| self.tools().get(name).or_else(|| self.variant(name)));
        joined.or_else(|| self.resolve(written))
    }

    /// Returns the one tool whose name differs from `written` only by case, separators or a lost module.
    fn variant(&self, written: &str) -> Option<&Tool> {
        let key = fold(written);
        if key.is_empty() {
            return None;
        }
        let names = self.index();
        // A shorter tail is too common a word: not every `add(` means `math.add`.
        let tail = || names.tails.get(&key).filter(|_| 4 <= key.len());
        self.tools().at((*names.folded.get(&key).or_else(tail)?)?)
    }
}

/// Returns the name that `text` begins with, or `""`.
pub(crate) fn leading_name(text: &str) -> &str {
    let len = text.bytes().take(MAX_NAME).take_while(|byte| is_name_byte(*byte)).count();
    text.get(..len).unwrap_or("")
}

/// Returns whether `written` is a path, and so not a spelling of a name: `../f`, `/f`, `f/..`.
fn is_path(written: &str) -> bool {
    let leads_nowhere = |step: &str| step.bytes().all(|byte| byte == b'.');
    written.contains("..") || written.contains('/') && written.split('/').any(leads_nowhere)
}

/// Returns a name without foreign signs at its ends, `` `fetch` `` → `fetch`, `@fetch`, `fetch()`, and without the
/// number of a call, `fetch:0`.
fn without_signs(written: &str) -> &str {
    let is_sign = |c: char| c.is_ascii_punctuation() && !is_name_byte(c as u8) && !"/:\\<>&".contains(c);
    let bare = written.trim_matches(is_sign);
    let number =
        bare.rsplit_once(':').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    number.map_or(bare, |(name, _)| name)
}

/// Returns a name without tokens and backslashes: `cd<|channel|>commentary` → `cd`; `get\_weather` → `get_weather`.
fn without_token(written: &str) -> Cow<'_, str> {
    // Most names have neither, and a search for two bytes costs more than for one.
    let head = match written.contains('<') {
        true => written.split_once("<|").map_or(written, |(head, _)| head).trim(),
        false => written.trim(),
    };
    if head.contains('\\') { Cow::Owned(head.replace('\\', "")) } else { Cow::Borrowed(head) }
}

fn index(tools: &ToolSet, part: impl Fn(&str) -> Option<&str>) -> HashMap<String, Option<usize>> {
    let mut map: HashMap<String, Option<usize>> = HashMap::new();
    for (n, tool) in tools.iter().enumerate() {
        if let Some(part) = part(tool.name()) {
            map.entry(fold(part)).and_modify(|known| *known = None).or_insert(Some(n));
        }
    }
    map
}

/// Returns the last three bytes of [`fold`], the last one first.
fn folded_ends(name: &str) -> [Option<u8>; 3] {
    let folded = name.bytes().rev().filter(|byte| !is_separator(*byte));
    let mut ends = folded.map(|byte| byte.to_ascii_lowercase());
    [ends.next(), ends.next(), ends.next()]
}

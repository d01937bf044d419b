//! The doors: a text goes in, its readings come out.

use alloc::{borrow::Cow, vec, vec::Vec};

use crate::ambiguity::go_on_too_far;
use crate::embedded;
use crate::python;
use crate::search::{Found, SchemaMode, Search};
use crate::strict::strict_prefix;
use crate::{
    Diagnostic, Guide, Kind, Kinds, Member, Parse, Problem, Reading, Repair, RepairKind, Span, Start, Tree,
    strict,
};

/// Reads `text` as one JSON value, however badly it is written and whatever stands around it.
///
/// A strict text has one reading without repairs, whatever the guide says of it: whether the value fits is
/// for the caller to check.
///
/// ```
/// use callwright_json::{AnyValue, read};
///
/// let parse = read(r#"{"content": "He said "hello""}"#, &AnyValue);
/// let reading = parse.settled().unwrap();
/// assert_eq!(reading.text, r#"{"content": "He said \"hello\""}"#);
/// ```
pub fn read<'t>(text: &'t str, guide: &dyn Guide) -> Parse<'t> {
    read_with(text, guide, &Options::default())
}

/// What the caller knows about the text besides the schema.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text may have been cut off at its end: no closing bracket is added there.
    pub cut: bool,
}

/// Like [`read`], with options.
pub fn read_with<'t>(text: &'t str, guide: &dyn Guide, options: &Options) -> Parse<'t> {
    match strict(text) {
        Ok(tree) => unwrap(text, &tree, guide, options)
            .or_else(|| wrapped(text, &tree, guide))
            .unwrap_or_else(|| Parse::of(Reading::strict(text, tree, Span::new(0, text.len())))),
        Err(_) => embedded::read(text, guide, options),
    }
}

/// How many values there are in most calls, keys included. How long a value is that others follow, nobody knows.
const MOST_CALLS_HAVE: usize = 32;

/// Reads the value that begins at `from` and ends wherever it ends; what follows is left alone.
///
/// A reading's text is the strict JSON of that value alone; its span and its repairs are places in `text`.
pub fn read_prefix<'t>(
    text: &'t str,
    from: usize,
    start: Start,
    guide: &dyn Guide,
    options: &Options,
) -> Parse<'t> {
    if start == Start::Value
        && let Ok((tree, end)) = strict_prefix(text.as_bytes(), from, MOST_CALLS_HAVE)
        && let Some(reading) = embedded::alone(text, from, tree, end)
    {
        return Parse::of(reading);
    }
    let mut search = Search::new(text, from, guide, options.cut);
    search.strict_quotes = start.is_arguments() && python::is_arguments(text, from);
    let choose = |found: Vec<Found>| {
        Parse::of_ties(found.into_iter().filter_map(|f| Reading::of(text, f.span, f.repairs)).collect())
    };
    settle(search, |search, schema_mode| search.run(schema_mode, from, start), choose)
}

/// What the text of `search` comes to, in the closest mode in which `look` finds a way to read it.
///
/// Where what follows a string does not fit its schema, `"times": "2"` for a number, a string that goes on beyond it
/// does: `"a "quoted" word", "times": "2"` would be one text. A value of the wrong type is the likelier mistake, and one
/// that is noticed.
pub(crate) fn settle<'t, 'g>(
    mut search: Search<'t, 'g>,
    look: impl Fn(&mut Search<'t, 'g>, SchemaMode) -> Vec<Found>,
    choose: impl Fn(Vec<Found>) -> Parse<'t>,
) -> Parse<'t> {
    for &schema_mode in SchemaMode::closest_first(search.guide) {
        let found = look(&mut search, schema_mode);
        let Some(best) = Found::cheapest(&found) else { continue };
        let (cost, span, doubt) = (best.cost, best.span, best.doubt());
        let parse = choose(found);
        let is_torn = go_on_too_far(&parse.readings, search.guide, search.text);
        if schema_mode == SchemaMode::Typed && (is_torn || doubt.is_some()) {
            let keys_only = look(&mut search, SchemaMode::KeysOnly);
            let is_better = |best: &Found| best.cost < cost && best.span == span && best.doubt().is_none();
            if Found::cheapest(&keys_only).is_some_and(is_better) {
                return choose(keys_only);
            }
        }
        return match doubt {
            Some(at) => Parse::broken(Problem::Unreadable, at),
            None if is_torn => Parse::member_in_string(&parse.readings),
            None => parse,
        };
    }
    let (problem, at) = search.reason.unwrap_or((Problem::NoValue, Span::at(0)));
    Parse::broken(problem, at)
}

/// What is read in a value of a kind that the guide does not want: JSON in a string, `"{\"a\": 1}"`, or the object in a list of
/// one, `[{"a": 1}]`.
fn unwrap<'t>(text: &'t str, tree: &Tree, guide: &dyn Guide, options: &Options) -> Option<Parse<'t>> {
    let root = tree.root(text);
    let kinds = guide.kinds(guide.root());
    match root.kind() {
        Kind::String if !kinds.has(Kinds::STRING) => {
            let inner = root.as_str()?;
            let is_json = inner.trim_start().starts_with(['{', '[', '"']);
            is_json.then(|| unwrapped(&inner, Span::new(0, text.len()), guide, options))
        }
        Kind::Array if !kinds.has(Kinds::ARRAY) && kinds.has(Kinds::OBJECT) => {
            let mut elements = root.elements();
            let is_object = elements.next().is_some_and(|first| first.kind() == Kind::Object);
            let is_only = is_object && elements.next().is_none();
            is_only.then(|| embedded::read(text, guide, options)).filter(|parse| !parse.readings.is_empty())
        }
        _ => None,
    }
}

/// The object under a key that nobody declared, where it is itself what the guide wants: `{"arguments": {"a": 1}}`.
fn wrapped<'t>(text: &'t str, tree: &Tree, guide: &dyn Guide) -> Option<Parse<'t>> {
    let root = guide.root();
    let mut members = tree.root(text).members();
    let (key, inner) = members.next().filter(|(_, inner)| inner.kind() == Kind::Object)?;
    let slot = |key: &str| match guide.member(root, key) {
        Member::Declared(slot, _) => Some(1_u128 << slot),
        Member::Open(_) | Member::Forbidden => None,
    };
    let name = key.as_str()?;
    let is_refused = guide.required(root) != 0 || guide.member(root, &name) == Member::Forbidden;
    if members.next().is_some() || slot(&name).is_some() || !is_refused {
        return None;
    }
    let used = inner.members().try_fold(0, |used, (key, _)| Some(used | slot(&key.as_str()?)?))?;
    if used == 0 || guide.required(root) & !used != 0 {
        return None;
    }
    let span = inner.span();
    let drop = |at: Span| Repair::new(RepairKind::DropNoise, at, "");
    let around = [Span::new(0, span.start as usize), Span::new(span.end as usize, text.len())];
    Reading::of(text, span, around.map(drop).to_vec()).map(Parse::of)
}

/// Reads `inner`, which stands at `at` in the source in the form of an escaped text.
pub(crate) fn unwrapped<'t>(inner: &str, at: Span, guide: &dyn Guide, options: &Options) -> Parse<'t> {
    let parse = read_with(inner, guide, options);
    let readings = parse.readings.into_iter().map(|r| {
        let text = r.text.into_owned();
        let repairs = vec![Repair::new(RepairKind::Unwrap, at, text.clone())];
        Reading { text: Cow::Owned(text), tree: r.tree, repairs, span: at }
    });
    let diagnostics = parse.diagnostics.into_iter().map(|d| Diagnostic { at, ..d });
    Parse { readings: readings.collect(), diagnostics: diagnostics.collect() }
}

//! The doors of the crate: a text goes in, its readings come out.

use alloc::{borrow::Cow, vec, vec::Vec};

use crate::ambiguity::swallowing;
use crate::embedded;
use crate::python;
use crate::search::{Cost, Found, SchemaMode, Search};
use crate::strict::strict_prefix;
use crate::{
    Diagnostic, Guide, Kind, Kinds, Member, Options, Parse, Partial, Problem, Reading, Repair, RepairKind,
    Span, Start, Tree, strict,
};

/// Reads `text` as one JSON value, however badly it is written and whatever text surrounds it.
///
/// A strict text has one reading without repairs, whatever the guide says: the caller checks whether the
/// value fits.
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

/// Reads like [`read`], with options.
pub fn read_with<'t>(text: &'t str, guide: &dyn Guide, options: &Options<'_>) -> Parse<'t> {
    match strict(text) {
        Ok(tree) => unwrap(text, &tree, guide, options)
            .or_else(|| wrapped(text, &tree, guide))
            .unwrap_or_else(|| Parse::of(Reading::strict(text, tree, Span::new(0, text.len())))),
        Err(_) => embedded::read(text, guide, options),
    }
}

/// The number of values in most calls, keys included. The length of a value with text behind it is unknown.
const MOST_CALLS_HAVE: usize = 32;

/// Reads the value that begins at `from`, up to its own end, and leaves the text behind it alone.
///
/// A reading's text is the strict JSON of that value alone; its span and its repairs are places in `text`.
pub fn read_prefix<'t>(
    text: &'t str,
    from: usize,
    start: Start,
    guide: &dyn Guide,
    options: &Options<'_>,
) -> Parse<'t> {
    if start == Start::Value
        && let Some(reading) = read_right(text, from)
    {
        return Parse::of(reading);
    }
    let mut search = Search::new(text, from, guide, options);
    search.strict_quotes = start.is_arguments() && python::is_arguments(text, from);
    let choose = |_: &mut Search<'_, '_>, found: Vec<Found>| {
        Parse::of_ties(found.into_iter().filter_map(|f| Reading::of(text, f.span, f.repairs)).collect())
    };
    settle(search, |search, schema_mode| search.run(schema_mode, from, start), choose)
}

/// Reads the value that begins at `from` if it is strict JSON, with surplus closers behind it at most, and the text behind it may
/// not belong to it.
pub fn read_right(text: &str, from: usize) -> Option<Reading<'_>> {
    let (tree, end) = strict_prefix(text.as_bytes(), from, MOST_CALLS_HAVE).ok()?;
    embedded::alone(text, from, tree, end)
}

/// Reads the text of `search` in the closest mode in which `look` finds a reading without doubt.
///
/// A string may end at the wrong quote, with a value of the wrong type behind it: `"times": "2"` for a
/// number. A longer string then fits: all of `"a "quoted" word", "times": "2"`. The wrong type is the
/// likelier mistake, and a visible one.
pub(crate) fn settle<'t, 'g>(
    mut search: Search<'t, 'g>,
    look: impl Fn(&mut Search<'t, 'g>, SchemaMode) -> Vec<Found>,
    choose: impl Fn(&mut Search<'t, 'g>, Vec<Found>) -> Parse<'t>,
) -> Parse<'t> {
    let mut refusal: Option<(Cost, Parse<'t>)> = None;
    for &schema_mode in SchemaMode::closest_first(search.guide) {
        let found = look(&mut search, schema_mode);
        // A reading in doubt comes first among equally cheap ones.
        let Some(best) = found.iter().min_by_key(|one| (one.cost, one.doubt.is_none())) else { continue };
        let (cost, doubt) = (best.cost, best.doubt);
        let parse = choose(&mut search, found);
        // A value of the wrong type makes this reading much cheaper.
        let is_cheaper = refusal.as_ref().is_some_and(|(refused, _)| cost < *refused);
        let swallowed = || swallowing(&parse.readings, search.guide, search.text).filter(|_| !is_cheaper);
        let taken_back = || against_certain(&parse.readings, search.guide, search.text);
        // Strings of a list that Python reads are exactly the quoted ones.
        let quote = if search.strict_quotes { None } else { swallowed().or_else(taken_back) };
        let refused = match (doubt, quote) {
            (Some(at), _) => Parse::broken(Problem::Unreadable, at),
            (None, Some(at)) => Parse::broken(Problem::SwallowedMember, at),
            (None, None) => return parse,
        };
        refusal.get_or_insert((cost, refused));
    }
    let (problem, at) = search.reason.unwrap_or((Problem::NoValue, Span::at(0)));
    refusal.map_or_else(|| Parse::broken(problem, at), |(_, refused)| refused)
}

/// Returns the beginning of a reading of `text` that takes back what was certain of it while it was written, as one that
/// passes the end of a string and the key behind it.
fn against_certain(readings: &[Reading<'_>], guide: &dyn Guide, text: &str) -> Option<Span> {
    let is_against = |reading: &&Reading<'_>| {
        let written = reading.span.of(text);
        !reading.repairs.is_empty()
            && written.starts_with(['{', '['])
            && !Partial::of(written, guide).is_part_of(reading.value())
    };
    readings.iter().find(is_against).map(|reading| Span::at(reading.span.start as usize))
}

/// Reads the inside of a value whose kind the guide does not want: JSON in a string, `"{\"a\": 1}"`, or the
/// object in a list of one, `[{"a": 1}]`.
fn unwrap<'t>(text: &'t str, tree: &Tree, guide: &dyn Guide, options: &Options<'_>) -> Option<Parse<'t>> {
    let root = tree.root(text);
    let kinds = guide.kinds(guide.root());
    match root.kind() {
        Kind::String if !kinds.has(Kinds::STRING) => {
            let inner = root.as_str()?;
            let is_json = inner.trim_start().starts_with(['{', '[', '"']);
            is_json.then(|| unwrapped(&inner, Span::new(0, text.len()), guide, options))
        }
        Kind::Array if !kinds.has(Kinds::ARRAY) => {
            let first: Vec<Kind> = root.elements().take(2).map(|element| element.kind()).collect();
            let parse = (first == [Kind::Object]).then(|| embedded::read(text, guide, options));
            parse.filter(|parse| !parse.readings.is_empty())
        }
        _ => None,
    }
}

/// Returns the object under an undeclared key, if that object fits the guide: `{"arguments": {"a": 1}}`.
fn wrapped<'t>(text: &'t str, tree: &Tree, guide: &dyn Guide) -> Option<Parse<'t>> {
    let root = guide.root();
    let mut members = tree.root(text).members();
    let (key, inner) = members.next().filter(|(_, inner)| inner.kind() == Kind::Object)?;
    let slot = |key: &str| match guide.member(root, key) {
        Member::Declared(slot, _) => Some(1_u128 << slot),
        Member::Open(_) | Member::Forbidden => None,
    };
    let used = inner.members().try_fold(0, |used, (key, _)| Some(used | slot(&key.as_str()?)?))?;
    let required = guide.required(root);
    if members.next().is_some() || slot(&key.as_str()?).is_some() || required == 0 || required & !used != 0 {
        return None;
    }
    let span = inner.span();
    let drop = |at: Span| Repair::new(RepairKind::DropNoise, at, "");
    let around = [Span::new(0, span.start as usize), Span::new(span.end as usize, text.len())];
    Reading::of(text, span, around.map(drop).to_vec()).map(Parse::of)
}

/// Reads `inner`, the decoded form of the text at `at` in the source.
pub(crate) fn unwrapped<'t>(inner: &str, at: Span, guide: &dyn Guide, options: &Options<'_>) -> Parse<'t> {
    let parse = read_with(inner, guide, options);
    let readings = parse.readings.into_iter().map(|r| {
        let text = r.text.into_owned();
        let repairs = vec![Repair::new(RepairKind::Unwrap, at, text.clone())];
        Reading { text: Cow::Owned(text), tree: r.tree, repairs, span: at }
    });
    let diagnostics = parse.diagnostics.into_iter().map(|d| Diagnostic { at, ..d });
    Parse { readings: readings.collect(), diagnostics: diagnostics.collect() }
}

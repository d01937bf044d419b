//! Finds a value among prose, fences, tags, reasoning, and other values.

use alloc::{string::String, vec, vec::Vec};

use crate::beside::{Beside, behind, beside, is_cdata, is_colon};
use crate::layers::decoded;
use crate::options::Options;
use crate::python;
use crate::read::{settle, unwrapped};
use crate::scan::skip_space;
use crate::search::mark;
use crate::search::{Cost, Found, SchemaMode, Search};
use crate::spelling::{sign, skip_blank};
use crate::strict::strict_prefix;
use crate::{Diagnostic, Guide, Parse, Problem, Reading, Repair, RepairKind, Span, Start, Tree, strict_end};

/// The search tries no more places than this as the beginning of the value.
const MOST_STARTS: usize = 64;
/// The blanks that strict JSON allows around a value.
const BLANKS: [char; 4] = [' ', '\n', '\r', '\t'];

/// Reads a text that is not strict JSON as a whole.
pub(crate) fn read<'t>(text: &'t str, guide: &dyn Guide, options: &Options<'_>) -> Parse<'t> {
    let decoded_as = |inner: &String| unwrapped(inner, Span::new(0, text.len()), guide, options);
    match decoded(text).as_slice() {
        [] => settle(Search::new(text, 0, guide, options), collect, choose),
        [only] => decoded_as(only),
        several => Parse::of_ties(several.iter().flat_map(|inner| decoded_as(inner).readings).collect()),
    }
}

/// Returns whether the text behind the value that ends at `end` cannot belong to it.
fn stands_alone(bytes: &[u8], end: usize) -> bool {
    let rest = bytes[end..].trim_ascii_start();
    let newline = bytes[end..bytes.len() - rest.len()].contains(&b'\n');
    match rest {
        [] | [b'<' | b'{' | b'[', ..] => true,
        [b'}' | b']' | b')' | b',' | b':' | b'"' | b'\'', ..] => false,
        _ => newline,
    }
}

/// Returns the strict value at `from..end`, with surplus brackets of its own sort behind it, `{"a": 1}}`, if
/// it needs no search. A search would weigh undeclared keys against a string that goes on up to those
/// brackets.
pub(crate) fn alone(text: &str, from: usize, tree: Tree, end: usize) -> Option<Reading<'_>> {
    let bytes = text.as_bytes();
    let span = Span::new(from, end);
    let close = bytes[..end].last().filter(|byte| matches!(byte, b'}' | b']'));
    let mut repairs = Vec::new();
    let mut end = end;
    while let at = skip_space(bytes, end)
        && close.is_some()
        && bytes.get(at) == close
    {
        repairs.push(Repair::new(RepairKind::DropCloser, Span::new(at, at + 1), ""));
        end = at + 1;
    }
    match stands_alone(bytes, end) {
        true if repairs.is_empty() => Some(Reading::strict(text.get(span.range())?, tree.behind(from), span)),
        true => Reading::of(text, Span::new(from, end), repairs),
        false => None,
    }
}

/// Tries every place at which a value may begin, from left to right.
fn collect(search: &mut Search<'_, '_>, schema_mode: SchemaMode) -> Vec<Found> {
    let bytes = search.text.as_bytes();
    let begin = after_reasoning(search.text);
    let members = skip_blank(bytes, begin);
    // A comma before the first key shows that a member came earlier.
    let is_first = |key: &usize| !bytes[members..*key].trim_ascii_end().ends_with(b",");
    let key = first_key(search, members).filter(is_first);
    let mut all = key.map(|key| search.run(schema_mode, key, Start::Members)).unwrap_or_default();
    // `Input: {…} Output: {…}`: a text without either bracket is an object only if its key has quotes and
    // only the outer bracket is missing. A text without any bracket is one object: `a='x', b='y'`.
    let is_quoted = key.is_some_and(|key| mark(&bytes[key..]).is_some());
    let is_flat =
        bytes[members..].iter().all(|byte| !matches!(byte, b'{' | b'[' | b'(' | b'}' | b']' | b')'));
    all.retain(|found| {
        let mut closers = found.repairs.iter().filter(|repair| repair.kind == RepairKind::AddCloser);
        closers.all(|closer| is_flat || is_quoted && closer.at.end == found.span.end)
    });
    let blocks = reasoning(search.text);
    // `lead` is the beginning of the text that was neither read nor skipped as another value.
    let (mut lead, mut at) = (begin, begin);
    for _ in 0..MOST_STARTS {
        let Some(start) = next_opener(search, at) else { break };
        if let Some(block) = blocks.iter().find(|block| block.range().contains(&start)) {
            (at, lead) = (block.end as usize, block.end as usize);
            continue;
        }
        if search.is_spent() {
            // The unread rest may hold a value as well: `{"a": 1,} … {"a": 2}`
            search.reason = Some((Problem::Limit, Span::at(start)));
            return Vec::new();
        }
        at = start + 1;
        if looks_like_json(&bytes[lead..start]) {
            // A part of an unreadable value was not meant.
            continue;
        }
        let mut found = search.run(schema_mode, start, Start::Value);
        // The value may also be one that the guide does not want.
        let last = found.iter().map(|one| one.span.end as usize).max();
        let end = last.or_else(|| strict_end(search.text, start).ok());
        all.append(&mut found);
        if let Some(end) = end {
            (at, lead) = (end, end);
        } else if matches!(search.reason, Some((Problem::Limit, _))) {
            // A value deeper inside one that is too deep is a part of it.
            break;
        }
    }
    all
}

/// Chooses the one value of the text out of all that were found.
fn choose<'t>(search: &mut Search<'t, '_>, mut found: Vec<Found>) -> Parse<'t> {
    let text = search.text;
    // If two values cover the same bytes, one of them is a part of the other, or an accident.
    let spans: Vec<(Cost, Span)> = found.iter().map(|f| (f.cost, f.span)).collect();
    let covers = |(cost, span): &(Cost, Span), f: &Found| {
        let overlaps = span.start < f.span.end && f.span.start < span.end && span.start != f.span.start;
        overlaps && (*cost, f.span.len()) < (f.cost, span.len())
    };
    found.retain(|f| !spans.iter().any(|other| covers(other, f)));
    let start = found.first().map(|f| f.span.start);
    let read = |f: Found| Reading::of(text, with_blanks(text, f.span), f.repairs);
    // Readings of one place tie; values at other places compete.
    let (here, elsewhere): (Vec<Found>, Vec<Found>) =
        found.into_iter().partition(|f| Some(f.span.start) == start);
    let mut parse = Parse::of_ties(here.into_iter().filter_map(read).collect());
    let mut repeats = Vec::new();
    if let Some(first) = parse.settled() {
        let elsewhere: Vec<Reading<'t>> = elsewhere.into_iter().filter_map(read).collect();
        repeats = elsewhere.iter().map(|reading| reading.span).collect();
        let differs = |reading: &Reading<'t>| !reading.value().same_as(first.value());
        let other = elsewhere.into_iter().find(differs).map(Beside::Value);
        // `{"a": "x"}, {"a": "y"}` is one text with quotes in it, or two objects.
        let written = as_written(search, start.unwrap_or_default() as usize, first);
        let beside_written = written.as_ref().and_then(|written| behind(search, written));
        if let (Some(written), Some(_)) = (written, &beside_written) {
            parse.readings = vec![written];
            repeats.clear();
        }
        let first = &parse.readings[0];
        let begin = after_reasoning(text);
        match other.or(beside_written).or_else(|| beside(search, begin, first, &repeats)) {
            Some(Beside::Value(other)) => {
                parse.diagnostics = vec![Diagnostic { problem: Problem::SeveralValues, at: other.span }];
                parse.readings.push(other);
                parse.readings.sort_by_key(|reading| reading.span.start);
                repeats.clear();
            }
            Some(Beside::Part(problem, at)) => return Parse::broken(problem, at),
            Some(Beside::Same) | None => {}
        }
    }
    parse.readings.iter_mut().for_each(|reading| enclose(text, reading, &repeats));
    match parse.settled().and_then(bracket_beside_words) {
        Some(at) => Parse::broken(Problem::Truncated, at),
        None => parse,
    }
}

/// Returns the object or list at `start` as its quotes have it, if `reading` goes on beyond that.
fn as_written<'t>(search: &mut Search<'t, '_>, start: usize, reading: &Reading<'t>) -> Option<Reading<'t>> {
    let text = search.text;
    let bytes = text.as_bytes();
    if reading.repairs.is_empty() || !matches!(bytes.get(start), Some(b'{' | b'[')) {
        return None;
    }
    let end = python::closed(bytes, start).filter(|end| *end < reading.span.end as usize)?;
    if let Ok((tree, end)) = strict_prefix(bytes, start, 1) {
        let span = Span::new(start, end);
        return Some(Reading::strict(span.of(text), tree.behind(start), span));
    }
    let found = search.run_apart(start).ok().filter(|found| found.span.end as usize == end)?;
    Reading::of(text, found.span, found.repairs)
}

/// Returns the bracket that `reading` adds, if it drops words as well: then nobody can tell whether the value
/// had ended.
fn bracket_beside_words(reading: &Reading<'_>) -> Option<Span> {
    let is_bracket = |repair: &&Repair| matches!(repair.kind, RepairKind::AddCloser | RepairKind::AddOpener);
    let has_words = reading.repairs.iter().any(|repair| repair.kind == RepairKind::DropProse);
    let bracket = reading.repairs.iter().find(is_bracket)?;
    has_words.then_some(bracket.at)
}

/// Extends `span` over the blanks that reach to an end of the text, which strict JSON allows.
fn with_blanks(text: &str, span: Span) -> Span {
    let blank = |part: Option<&str>| part.is_some_and(|part| part.trim_matches(BLANKS).is_empty());
    let start = if blank(text.get(..span.start as usize)) { 0 } else { span.start as usize };
    let end = if blank(text.get(span.end as usize..)) { text.len() } else { span.end as usize };
    Span::new(start, end)
}

/// Adds the edits that drop the text around the value.
fn enclose(text: &str, reading: &mut Reading<'_>, repeats: &[Span]) {
    let mut repairs = Vec::from_iter(dropped(text, 0, reading.span.start));
    repairs.append(&mut reading.repairs);
    let mut at = reading.span.end;
    for repeat in repeats {
        let between = dropped(text, at, repeat.start);
        let start = between.as_ref().map_or(at, |between| between.at.end);
        repairs.extend(between);
        repairs.push(Repair::new(RepairKind::DropRepeat, Span { start, end: repeat.end }, ""));
        at = repeat.end;
    }
    repairs.extend(dropped(text, at, text.len() as u32));
    reading.repairs = repairs;
}

/// Returns the edit that drops `start..end`, unless that is blank.
fn dropped(text: &str, start: u32, end: u32) -> Option<Repair> {
    let span = Span { start, end };
    let part = span.of(text).trim_matches(BLANKS);
    let kind = if part.is_empty() {
        return None;
    } else if skip_blank(part.as_bytes(), 0) == part.len() {
        RepairKind::DropEscape
    } else if REASONING.iter().any(|name| behind_closing_tags(part, name).next().is_some()) {
        RepairKind::DropThink
    } else if part.starts_with("``") || part.lines().next_back().is_some_and(|line| line.contains("```")) {
        RepairKind::DropFence
    } else if part.starts_with('<') && part.ends_with('>') {
        RepairKind::DropTag
    } else {
        RepairKind::DropProse
    };
    Some(Repair::new(kind, span, ""))
}

/// The names of the tags that models put around their reasoning.
const REASONING: [&str; 8] =
    ["think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis"];

/// Returns the start of the text behind a leading block of reasoning; 0 if there is none.
///
/// The prompt may have opened the block: then only its closing tag is there.
fn after_reasoning(text: &str) -> usize {
    let start = text.trim_start();
    if start.starts_with(['{', '[', '"']) || !text.contains("</") {
        return 0;
    }
    let behind = REASONING.iter().find_map(|name| {
        let tag = start.strip_prefix('<').and_then(|tag| tag.strip_prefix(name));
        let opened = tag.is_some_and(|rest| rest.starts_with('>'));
        behind_closing_tags(text, name)
            .find(|rest| opened || rest.trim_start().starts_with(['{', '[', '`', '<']))
    });
    behind.map_or(0, |rest| text.len() - rest.len())
}

/// Returns the blocks of reasoning in `text`: `<think>Is it {"a": 2}?</think>`.
pub(crate) fn reasoning(text: &str) -> Vec<Span> {
    let mut blocks = Vec::new();
    let mut at = if text.contains("</") { 0 } else { text.len() };
    // A name without another closing tag is not searched for again: each part of the text is searched a few
    // times at most.
    let mut may_close = [true; REASONING.len()];
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')) {
        at += open + 1;
        let rest = text.get(at..).unwrap_or("");
        let begins = |name: &&str| rest.strip_prefix(*name).is_some_and(|rest| rest.starts_with('>'));
        let Some(n) = REASONING.iter().position(begins).filter(|n| may_close[*n]) else { continue };
        match behind_closing_tags(rest, REASONING[n]).next() {
            Some(behind) => {
                blocks.push(Span::new(at - 1, text.len() - behind.len()));
                at = text.len() - behind.len();
            }
            None => may_close[n] = false,
        }
    }
    blocks
}

/// Returns the text behind each closing tag of this name.
fn behind_closing_tags<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices("</")
        .filter_map(move |(at, _)| text.get(at + 2..)?.strip_prefix(name)?.strip_prefix('>'))
}

/// Returns the next bracket, in any spelling, that opens a value. Behind a parenthesis the first key must
/// stand.
fn next_opener(search: &Search<'_, '_>, from: usize) -> Option<usize> {
    let bytes = search.text.as_bytes();
    let is_key = |at: usize| search.whole_key(at).is_some_and(|key| is_colon(bytes, key.end));
    (from..bytes.len()).find(|at| match sign(&bytes[*at..]) {
        Some((b'{', _)) => true,
        Some((b'[', _)) => !is_cdata(&bytes[..=*at]),
        Some((b'(', len)) => is_key(skip_blank(bytes, *at + len)),
        _ => false,
    })
}

/// Returns whether a value may span the piece `bytes` and go on around it. The piece holds a key and its
/// colon, or ends behind its first key: `{"a", `.
fn looks_like_json(bytes: &[u8]) -> bool {
    // One search serves all brackets.
    let last = bytes.iter().rposition(|byte| *byte == b'}');
    let is_open =
        |at: usize| last.is_none_or(|last| last < at) && mark(bytes[at..].trim_ascii_start()).is_some();
    (0..bytes.len()).any(|at| match bytes[at] {
        b'"' | b'\'' => is_colon(bytes, at + 1),
        b'{' => is_open(at + 1),
        _ => false,
    })
}

/// Returns the place at which an object without its opening bracket may begin: a quote or word in front of all brackets.
fn first_key(search: &Search<'_, '_>, from: usize) -> Option<usize> {
    let bytes = search.text.as_bytes();
    let opener = next_opener(search, from).unwrap_or(bytes.len());
    match bytes.get(from)? {
        _ if opener == from => None,
        b'"' | b'\'' => Some(from),
        // Behind prose, the key in quotes begins a line.
        _ => {
            let before = search.text.get(from..opener)?;
            let margin = [' ', '\r', '\t'];
            let mut lines =
                before.match_indices('\n').map(|(at, _)| before[at + 1..].trim_start_matches(margin));
            let key = lines.find(|line| line.starts_with(['"', '\'']));
            Some(key.map_or(from, |key| opener - key.len()))
        }
    }
}

//! The laws of reading, for random values and for texts that are no values at all.

use std::borrow::Cow;
use std::thread;

use callwright_json::{
    AnyValue, Class, Guide, Kind, Kinds, MAX_DEPTH, Member, Options, Parse, Place, Problem, Reading, Value,
    apply, is_object, quote, read, read_with, strict,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::values::{
    Json, Spelling, json, loose_spelling, object, plain_object, soup, strict_spelling, torn,
};

proptest! {
    // The same texts in every run; the fuzz targets look for others.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn valid_json_is_untouched(value in json(), spelling in strict_spelling()) {
        let text = value.written(&spelling);
        for guide in GUIDES {
            if guide.kinds(guide.root()) == Kinds::OBJECT && !text.starts_with('{') {
                continue;
            }
            let parse = read(&text, *guide);
            let reading = parse.settled().expect("one reading");
            prop_assert!(reading.repairs.is_empty());
            prop_assert!(matches!(reading.text, Cow::Borrowed(_)));
            prop_assert_eq!(&reading.text, &text);
        }
    }

    /// S0-39
    #[test]
    fn readings_of_torn_values_are_strict(text in torn()) {
        check_readings(&text);
    }

    /// S0-39
    #[test]
    fn readings_of_soup_are_strict(text in soup()) {
        check_readings(&text);
    }

    /// S0-39
    #[test]
    fn readings_of_any_bytes_are_strict(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_readings(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn other_spellings_keep_the_value(value in object(), spelling in loose_spelling()) {
        let text = value.written(&spelling);
        let parse = read(&text, &AnyValue);
        let reading = parse.settled();
        prop_assert!(reading.is_some(), "{text}\n{parse:?}");
        let reading = reading.unwrap();
        prop_assert!(is(reading, &value), "{text}\n{}", reading.text);
        prop_assert!(reading.class() <= Class::Lossless, "{text}\n{:?}", reading.repairs);
    }

    #[test]
    fn encoding_twice_keeps_the_value(value in object(), spelling in strict_spelling()) {
        let inner = value.written(&spelling);
        let text = Json::Text(inner.clone()).strict();
        let parse = read(&text, &AnyObject);
        let reading = parse.settled().expect("one reading");
        prop_assert_eq!(&reading.text, &inner);
        prop_assert_eq!(reading.class(), Class::Lossless);
    }

    #[test]
    fn an_object_is_found_inside_of_a_string(value in json(), spelling in strict_spelling()) {
        spells_as_it_reads(&value.written(&spelling));
    }

    #[test]
    fn what_is_no_object_is_none_inside_of_a_string(text in prop_oneof![torn(), soup(), members()]) {
        spells_as_it_reads(&text);
    }

    /// S0-35
    #[test]
    fn lost_closers_are_put_back(value in object(), spelling in strict_spelling(), lost in 1..9_usize) {
        let text = value.written(&spelling);
        let (cut, lost) = without_closers(&text, lost);
        prop_assume!(cut.ends_with(['"', '{', '[', '}', ']']));
        let parse = read(cut, &AnyValue);
        let reading = parse.settled();
        prop_assert!(reading.is_some(), "{cut}\n{parse:?}");
        let reading = reading.unwrap();
        prop_assert!(is(reading, &value), "{cut}\n{}", reading.text);
        prop_assert_eq!(reading.repairs.len(), lost);
    }

    /// S0-36
    #[test]
    fn trailing_commas_are_dropped(value in object(), spelling in strict_spelling(), mask in any::<u32>()) {
        let text = value.written(&spelling);
        let (with_commas, added) = with_commas(&text, mask);
        let parse = read(&with_commas, &AnyValue);
        let reading = parse.settled();
        prop_assert!(reading.is_some(), "{with_commas}\n{parse:?}");
        let reading = reading.unwrap();
        prop_assert_eq!(&reading.text, &text);
        prop_assert_eq!(reading.repairs.len(), added);
    }

    /// S0-37
    #[test]
    fn fences_and_prose_are_dropped(
        value in object(),
        spelling in strict_spelling(),
        before in "([A-Z][a-z]{1,8}( [a-z]{1,8}){0,4}[.:]\n)?",
        label in "(json|JSON|python|javascript|)",
        after in "(\n\n[A-Z][a-z]{1,8}( [a-z]{1,8}){0,4}\\.)?",
    ) {
        let json = value.written(&spelling);
        let text = format!("{before}```{label}\n{json}\n```{after}");
        let parse = read(&text, &AnyValue);
        let reading = parse.settled();
        prop_assert!(reading.is_some(), "{text}\n{parse:?}");
        let reading = reading.unwrap();
        prop_assert_eq!(&reading.text, &json);
        prop_assert_eq!(reading.class(), Class::Lossless);
    }

    #[test]
    fn a_cut_text_is_never_completed(value in object(), spelling in strict_spelling()) {
        let text = value.written(&spelling);
        for cut in cuts(&text) {
            for guide in GUIDES {
                let parse = read_with(cut, *guide, &Options { cut: true, ..Options::default() });
                prop_assert!(parse.readings.is_empty(), "{cut}\n{:?}", parse.readings);
            }
        }
    }

    /// Without word of a cut, lost closers are put back; but nothing that was cut itself is taken for whole.
    #[test]
    fn what_a_cut_leaves_is_a_part_of_the_whole(value in plain_object(), spelling in strict_spelling()) {
        let text = value.written(&spelling);
        let tree = strict(&text).unwrap();
        for cut in cuts(&text) {
            for reading in &read(cut, &AnyValue).readings {
                prop_assert!(is_part(reading.value(), tree.root(&text)), "{cut}\n{}", reading.text);
            }
        }
    }

    #[test]
    fn an_empty_value_stands_only_where_one_was_written(text in soup()) {
        let opened = text.contains(['{', '[', '(']);
        for reading in &read(&text, &AnyValue).readings {
            let root = reading.value();
            let empty = root.members().next().is_none() && root.elements().next().is_none();
            prop_assert!(opened || !empty || !matches!(root.kind(), Kind::Object | Kind::Array), "{text}");
        }
    }
}

/// Where two objects stand, no reading takes one of them and drops the other one, or what a cut left of it.
#[test]
fn an_object_is_no_prose() {
    for (seed, surroundings) in [(1, WORK), (2, JUDGE)] {
        let config = ProptestConfig {
            failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(seed),
            ..ProptestConfig::default()
        };
        let written = || {
            (object(), loose_spelling()).prop_filter(
                "no members",
                |(value, _)| !matches!(value, Json::Object(members) if members.is_empty()),
            )
        };
        let places = prop::sample::select(surroundings);
        let several = (written(), written(), places, any::<Index>());
        let runner = &mut proptest::test_runner::TestRunner::new(config);
        let law = |(one, other, [before, between, behind], cut): (Written, Written, [&str; 3], Index)| {
            let (first, second) = (one.0.written(&one.1), other.0.written(&other.1));
            let (one, other) = (one.0.strict(), other.0.strict());
            let same = strict(&one).unwrap().root(&one).same_as(strict(&other).unwrap().root(&other));
            prop_assume!(!same);
            let head = format!("{before}{first}{between}");
            let text = format!("{head}{second}{behind}");
            let begun = head.len() + second.find([':', '：']).unwrap();
            let cut = begun + cut.index(text.len() - begun);
            let end = (cut + 1..).find(|end| text.is_char_boundary(*end)).unwrap();
            let text = &text[..end];
            for guide in [&AnyValue as &dyn Guide, &AnyObject] {
                let parse = read(text, guide);
                // A list has both.
                let is_list = |reading: &&Reading<'_>| reading.value().kind() == Kind::Array;
                let lists = parse.settled().filter(is_list).map(|list| list.span);
                let takes_both = lists
                    .is_some_and(|span| (span.start as usize) <= before.len() && begun < span.end as usize);
                prop_assert!(takes_both || parse.settled().is_none(), "{text}\n{parse:?}");
            }
            Ok(())
        };
        runner.run(&several, law).unwrap();
    }
}

/// An object, and how it is written.
type Written = (Json, Spelling);

/// What stands before two objects, between them and behind them.
const WORK: &[[&str; 3]] = &[
    ["", ", ", ""],
    ["", "\n", "\n"],
    ["Input: ", " Output: ", ""],
    ["", " // ", ""],
    ["[", ", ", ""],
    ["Here it is: ", ". Not ", " as before."],
    ["```json\n", "\n```\nor\n```json\n", "\n```"],
];
const JUDGE: &[[&str; 3]] = &[
    ["", "", ""],
    ["", " ", "\n\nDone."],
    ["Sure.\n\n", "; ", ";"],
    ["(", ") (", ")"],
    ["- ", "\n- ", "\n"],
    ["x = ", " # ", ""],
    ["", " => ", ""],
];

/// All texts of a few characters: what is settled has no rival, and what ties has different values.
#[test]
fn short_texts_are_settled_or_ambiguous_but_never_both() {
    for (alphabet, longest) in
        [("{}[]\":,a1 ", 4), ("{a\":,} ", 5), ("['\"]a, ", 5), ("\\n\"{a:}", 5), ("{[()]},1", 5)]
    {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let mut texts = vec![String::new()];
        for _ in 0..longest {
            texts =
                texts.iter().flat_map(|text| alphabet.iter().map(move |c| format!("{text}{c}"))).collect();
            texts.iter().for_each(|text| check_readings(text));
        }
    }
}

/// Nesting takes no stack: not to read, not to compare, not to drop.
#[test]
fn depth_takes_no_stack() {
    let shapes = ["[", "{\"a\":", "(", "[{\"a\":[", "{{", "“", "<think>", "[[1],"];
    let deep = move || {
        for shape in shapes {
            let parse = read(&shape.repeat(1_000_000), &AnyValue).readings.len();
            assert!(parse <= 1, "{shape}");
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[[1],{\"b\":", "}]")] {
            let layers = MAX_DEPTH / open.matches(['[', '{']).count().min(2);
            let whole = format!("{}1{}", open.repeat(layers), close.repeat(layers));
            let parse = read(&whole, &AnyValue);
            let reading = parse.settled().expect("nested as deeply as allowed");
            assert!(reading.value().same_as(reading.value()));
            assert!(!reading.value().canonical().is_empty());

            let too_deep = format!("{}1{}", open.repeat(1_000_000), close.repeat(1_000_000));
            let parse = read(&too_deep, &AnyValue);
            assert!(parse.readings.is_empty());
            assert_eq!(parse.diagnostics.first().map(|d| d.problem), Some(Problem::Limit), "{open}");
        }
    };
    thread::Builder::new().stack_size(128 * 1024).spawn(deep).unwrap().join().unwrap();
}

/// What must hold for every reading of every text.
/// An object with pieces of strings and what stands between them in it, which is strict JSON now and then.
fn members() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(
        &["\"", "\\", "\\\"", "\\\\", "\\n", "\\u0041", "\\x", "\n", "/", "a", ",", ":", "1"][..],
    );
    prop::collection::vec(piece, 0..6).prop_map(|pieces| format!("{{\"a\":\"{}\"}}", pieces.concat()))
}

/// A string spells an object just if its text is one, however that is escaped.
fn spells_as_it_reads(text: &str) {
    let quoted = quote(text);
    let escaped = quoted.replace('/', "\\/").replace(':', "\\u003a");
    for string in [quoted, escaped] {
        let tree = strict(&string).unwrap();
        assert_eq!(tree.root(&string).spells_object(), is_object(text), "{string}");
    }
}

fn check_readings(text: &str) {
    for guide in GUIDES {
        for cut in [false, true] {
            let parse = read_with(text, *guide, &Options { cut, ..Options::default() });
            check_parse(text, &parse);
        }
    }
}

fn check_parse(text: &str, parse: &Parse<'_>) {
    for (n, reading) in parse.readings.iter().enumerate() {
        assert!(strict(&reading.text).is_ok(), "not strict\n{text:?}\n{reading:?}");
        assert_eq!(apply(text, &reading.repairs), reading.text, "{text:?}\n{reading:?}");
        let in_order = reading.repairs.windows(2).all(|w| w[0].at.end <= w[1].at.start);
        assert!(in_order, "overlapping edits\n{text:?}\n{reading:?}");
        for other in &parse.readings[..n] {
            assert!(!other.value().same_as(reading.value()), "two readings, one value\n{text:?}\n{parse:?}");
        }
        let again = read(&reading.text, &AnyValue);
        let again = again.settled().expect("one reading of a reading");
        assert!(again.repairs.is_empty());
        assert_eq!(again.text, reading.text);
    }
    let settled = parse.readings.len() == 1;
    assert_eq!(settled, parse.diagnostics.is_empty(), "{text:?}\n{parse:?}");
}

/// Is this the reading of `value`?
fn is(reading: &Reading<'_>, value: &Json) -> bool {
    let text = value.strict();
    strict(&text).unwrap().root(&text).same_as(reading.value())
}

/// Is `part` what is left of `whole` when its end is cut off? Each scalar in it is whole.
fn is_part(part: Value<'_>, whole: Value<'_>) -> bool {
    match (part.kind(), whole.kind()) {
        (Kind::Object, Kind::Object) | (Kind::Array, Kind::Array) => {
            let (part, whole) = (items(part), items(whole));
            part.len() <= whole.len() && part.iter().zip(&whole).all(|(part, whole)| is_part(*part, *whole))
        }
        _ => part.same_as(whole),
    }
}

/// The keys and values of an object, or the elements of an array.
fn items(value: Value<'_>) -> Vec<Value<'_>> {
    value.members().flat_map(|(key, value)| [key, value]).chain(value.elements()).collect()
}

/// `text` cut before each of its characters, and at least one character short of its last bracket.
fn cuts(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, _)| &text[..at])
}

/// `text` without its last closing brackets, at most `most` of them, and how many these are.
fn without_closers(text: &str, most: usize) -> (&str, usize) {
    let mut rest = text;
    for lost in 0..most {
        match rest.trim_end().strip_suffix(['}', ']']) {
            // An empty container has to keep its opening bracket in sight.
            Some(shorter) => rest = shorter.trim_end(),
            None => return (rest, lost),
        }
    }
    (rest, most)
}

/// `text` with commas behind the last items of some of its containers, and how many these are.
fn with_commas(text: &str, mask: u32) -> (String, usize) {
    let tree = strict(text).unwrap();
    let mut ends = Vec::new();
    let mut values = vec![tree.root(text)];
    while let Some(value) = values.pop() {
        let inner: Vec<Value<'_>> = value.members().map(|(_, value)| value).chain(value.elements()).collect();
        ends.extend(inner.last().map(|last| last.span().end as usize));
        values.extend(inner);
    }
    ends.sort_unstable();
    let chosen: Vec<usize> =
        ends.into_iter().enumerate().filter(|(n, _)| mask >> (n % 32) & 1 == 1).map(|(_, end)| end).collect();
    let mut out = text.to_owned();
    chosen.iter().rev().for_each(|&end| out.insert(end, ','));
    (out, chosen.len())
}

const GUIDES: &[&dyn Guide] = &[&AnyValue, &AnyObject, &TwoTexts];

/// Any object, and nothing else.
#[derive(Debug)]
struct AnyObject;

impl Guide for AnyObject {
    fn root(&self) -> Place {
        Place(0)
    }
    fn kinds(&self, place: Place) -> Kinds {
        if place == Place(0) { Kinds::OBJECT } else { Kinds::ANY }
    }
    fn member(&self, _: Place, _: &str) -> Member {
        Member::Open(Place(1))
    }
    fn name(&self, _: Place, _: u8) -> Option<&str> {
        None
    }
    fn required(&self, _: Place) -> u128 {
        0
    }
    fn element(&self, _: Place, _: usize) -> Place {
        Place(1)
    }
    fn admits(&self, _: Place, _: &str) -> bool {
        true
    }
}

/// An object with the texts `a`, which must be there, and `b`, which may.
#[derive(Debug)]
struct TwoTexts;

impl Guide for TwoTexts {
    fn root(&self) -> Place {
        Place(0)
    }
    fn kinds(&self, place: Place) -> Kinds {
        if place == Place(0) { Kinds::OBJECT } else { Kinds::STRING }
    }
    fn member(&self, place: Place, key: &str) -> Member {
        match (place, key) {
            (Place(0), "a") => Member::Declared(0, Place(1)),
            (Place(0), "b") => Member::Declared(1, Place(2)),
            _ => Member::Forbidden,
        }
    }
    fn name(&self, place: Place, slot: u8) -> Option<&str> {
        ["a", "b"].get(usize::from(slot)).copied().filter(|_| place == Place(0))
    }
    fn required(&self, place: Place) -> u128 {
        u128::from(place == Place(0))
    }
    fn element(&self, _: Place, _: usize) -> Place {
        Place(3)
    }
    fn admits(&self, _: Place, _: &str) -> bool {
        true
    }
}

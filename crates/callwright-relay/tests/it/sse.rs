//! A stream of events is taken apart in the same way wherever it was cut.

use bytes::Bytes;
use callwright_relay::sse::{Decoder, Event};
use proptest::prelude::*;

fn whole(event: &Event) -> (&str, Option<&str>) {
    (text(&event.name), event.data.as_ref().map(text))
}

fn text(bytes: &Bytes) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// All events of a stream that comes in these pieces, and what is left at its end.
fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Option<Event>) {
    let mut decoder = Decoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(event) = decoder.next().unwrap() {
            events.push(event);
        }
    }
    (events, decoder.finish())
}

#[test]
fn each_form_of_a_line_counts() {
    type Expected<'a> = &'a [(&'a str, Option<&'a str>)];
    let cases: &[(&str, &str, Expected<'_>, Option<&str>)] = &[
        (
            "plain",
            "data: {\"a\":1}\n\ndata: [DONE]\n\n",
            &[("", Some("{\"a\":1}")), ("", Some("[DONE]"))],
            None,
        ),
        ("CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", &[("", Some("a")), ("", Some("b"))], None),
        ("CR", "data: a\r\rdata: b\r\r", &[("", Some("a"))], Some("b")),
        ("no space", "data:a\n\n", &[("", Some("a"))], None),
        ("two spaces", "data:  a\n\n", &[("", Some(" a"))], None),
        ("empty data", "data:\n\ndata\n\n", &[("", Some("")), ("", Some(""))], None),
        ("lines of data", "data: a\ndata: b\ndata:\n\n", &[("", Some("a\nb\n"))], None),
        ("names", "event: ping\ndata: {}\n\n", &[("ping", Some("{}"))], None),
        ("name after", "data: {}\nevent: error\n\n", &[("error", Some("{}"))], None),
        ("comment", ": OPENROUTER PROCESSING\n\ndata: a\n\n", &[("", None), ("", Some("a"))], None),
        ("comment within", ": ping\ndata: a\n\n", &[("", Some("a"))], None),
        ("other fields", "id: 7\nretry: 10\ndatax: b\ndata: a\n\n", &[("", Some("a"))], None),
        ("byte order mark", "\u{feff}data: a\n\ndata: b\n\n", &[("", Some("a")), ("", Some("b"))], None),
        (
            "stray blank line",
            "\n\ndata: a\n\n\n",
            &[("", None), ("", None), ("", Some("a")), ("", None)],
            None,
        ),
        ("no blank line at the end", "data: a\n\ndata: b", &[("", Some("a"))], Some("b")),
        ("one line feed at the end", "data: [DONE]\n", &[], Some("[DONE]")),
    ];
    for (name, stream, expected, expected_rest) in cases {
        let (events, rest) = events([stream.as_bytes()]);
        assert_eq!(events.iter().map(whole).collect::<Vec<_>>(), *expected, "{name}");
        assert_eq!(rest.as_ref().and_then(|rest| whole(rest).1), *expected_rest, "{name}");
    }
}

#[test]
fn an_event_in_one_piece_is_not_copied() {
    let piece = Bytes::from_static(b": x\n\nevent: e\ndata: abc\n\ndata: d\n\n");
    let here = piece.as_ptr_range();
    let mut decoder = Decoder::new(100);
    decoder.push(piece);
    let mut n_events = 0;
    while let Some(event) = decoder.next().unwrap() {
        for part in [&event.raw].into_iter().chain(&event.data) {
            assert!(here.contains(&part.as_ptr()));
        }
        n_events += 1;
    }
    assert_eq!(n_events, 3);
}

#[test]
fn an_event_has_a_limit_and_a_stream_has_none() {
    let event = "data: 0123456789\n\n";
    for pieces in [vec![event.as_bytes()], event.as_bytes().chunks(1).collect()] {
        for (limit, fits) in [(event.len(), true), (event.len() - 1, false)] {
            let mut decoder = Decoder::new(limit);
            let mut is_error = false;
            for piece in pieces.iter().cycle().take(3 * pieces.len()) {
                decoder.push(Bytes::copy_from_slice(piece));
                while !is_error {
                    match decoder.next() {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => is_error = true,
                    }
                }
            }
            assert_eq!(!is_error, fits, "{limit}");
        }
    }
}

#[test]
fn pieces_may_come_faster_than_they_are_asked_for() {
    let mut decoder = Decoder::new(100);
    for piece in ["data: a\n\nda", "ta: b\n", "\n"] {
        decoder.push(piece.into());
    }
    let mut data = Vec::new();
    while let Some(event) = decoder.next().unwrap() {
        data.push(event.data.unwrap());
    }
    assert_eq!(data, ["a", "b"]);
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("data: "),
        Just("data"),
        Just(":"),
        Just("event: e"),
        Just("{\"a\":\"é\u{1f600}\"}"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\n\n"),
        Just("\r\n\r\n"),
        Just("\r\r"),
        Just("\u{feff}"),
        Just(" "),
        Just("[DONE]"),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_cuts_give_the_same_events_and_their_bytes_are_the_stream(
        stream in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let (expected, expected_rest) = events([&stream[..]]);
        let (cut, cut_rest) = events(cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]));
        prop_assert_eq!(&cut, &expected);
        prop_assert_eq!(&cut_rest, &expected_rest);
        let (single, single_rest) = events(stream.chunks(1));
        prop_assert_eq!(&single, &expected);
        prop_assert_eq!(&single_rest, &expected_rest);
        let raw: Vec<u8> = expected.iter().chain(&expected_rest).flat_map(|event| event.raw.clone()).collect();
        prop_assert_eq!(raw, stream);
    }
}

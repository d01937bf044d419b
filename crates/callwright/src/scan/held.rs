//! How long text is held: what is no marker waits no longer than the longest marker does to be told from text.
//!
//! What a scanner is in when it holds something is said by its state, not by the text: a payload, a body, the lead of a
//! call behind its first marker, or the markup behind a call may be held longer, as they are on their way to a verdict.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::opener::{MAX_OPENER, OpenerParser};
use super::{Delta, Mode, Scanner};
use crate::dialect;
use crate::engine::Context;
use crate::policy::CallsInReasoning;
use crate::syntax::tag::{MAX_TAG, tag_at};
use crate::tools::ToolSet;
use crate::tools::names::Names;

const TOOLS: &str = r#"[
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
]"#;

/// Pieces of ordinary answers.
const PROSE: &[&str] = &[
    "The weather in Paris is mild, ",
    "so I would take a coat. ",
    "It's (mostly) dry; see [1] or [the page](https://example.org/a/very/long/path?with=a&query=too#part). ",
    "Use `code` and `a.b(c)`: ",
    "\n\n## A heading\n\n- one\n- two: three\n",
    "\n| a | b |\n|---|---|\n",
    "\"Quoted words,\" he said, 'and others'. ",
    "x < y > z, 5 > 3, a <= b. ",
    "A longsentencewithoutanyblanksasitisfoundinsomecompoundwordsorinbase64datathatgoesonandonandon ",
    "https://example.org/an-address/that-is-rather-long/and_has/many-parts/of-it.html?key=value&other=more ",
    "<a href=\"https://example.org/an-address/that-is-rather-long/and-has-many-parts-of-it/index.html\" class=\"wide\">link</a> ",
    "<div class=\"container mx-auto px-4 py-8 bg-white shadow-lg rounded-lg border border-gray-200 dark:bg-black\">\n",
    "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4AAAAABJRU5ErkJggg==\"/>",
    "search ",
    "f ",
    "to=",
    "Action: ",
    "\nfunction ",
    "\nTo be sure",
];
/// Pieces of programs.
const CODE: &[&str] = &[
    "```python\n",
    "```\n",
    "```js\n",
    "    if (x[i] < y) { g(x, 'a'); }\n",
    "result = compute_all_the_values_of(some_table, with_a_long_argument=other_value)\n",
    "a = b = c = d = e = h\n",
    "print(print(print(x)))\n",
    "m := map[string]int{}\n",
    "char c = '{';\n",
    "vec![[1, 2], [3, 4]]\n",
    "fn main() -> Result<Vec<HashMap<String, Vec<u8>>>, Box<dyn Error>> {\n",
    "std::cout << value << std::endl;\n",
    "#include <vector>\n",
    "<?php echo $this->some_long_method_name($with, $several, $arguments, $and, $more, $of, $them); ?>\n",
    "template <typename T, typename Allocator = std::allocator<T>, class Traits = default_traits<T>>\n",
    "SELECT * FROM t WHERE a >= 5;\n",
    "\\frac{a}{b} ${HOME} {{ template }} ",
    "x = {1, 2}\n",
];
/// Other scripts, and characters of any length.
const UNICODE: &[&str] = &[
    "天气很好，我们去公园散步吧。今天下午三点在门口见面，然后一起去吃晚饭，不要迟到。",
    "今日は天気がいいので、公園を散歩しましょう。",
    "Привет, как дела? ",
    "naïve café – “quoted” … ",
    "😀👩‍👩‍👧‍👦 ",
    "｜▁",
    "<天气",
    "{“",
    "\"北京的天气怎么样，我应该带伞吗，还是穿一件厚一点的外套比较好呢，请告诉我",
    "é\u{301}\u{200b}",
];

/// How long the longest marker is, in the widest spelling.
fn longest_marker() -> usize {
    let wide = |mark: &str| mark.len() + 2 * mark.matches(['|', '_']).count();
    let marks = dialect::marks_of_all();
    let ends = dialect::TURNS.iter().chain(dialect::FRAMES).map(|mark| wide(mark));
    marks.iter().map(|mark| wide(mark)).chain(ends).max().unwrap()
}

/// How long a word may be that holds a name: where one begins decides whether a call may, so it is held to its end.
fn longest_word(tool_set: &ToolSet) -> usize {
    let names = Names::new(tool_set);
    (1..).take_while(|len| names.may_hold(&"x".repeat(*len))).count()
}

/// What of the text is held and may yet turn out to be plain text; `None` where a call, a block or its markup was begun.
fn held<'s>(scanner: &'s Scanner<'_>) -> Option<&'s str> {
    let is_begun = match &scanner.mode {
        Mode::Payload(..) | Mode::Body(..) | Mode::Broken(_) | Mode::Undecided(..) | Mode::Over => true,
        Mode::Reasoning(thinking) => {
            thinking.marked.is_some() || has_attributes(&scanner.text, thinking.searched)
        }
        Mode::Quoted(_) => false,
        // What a call opened is closed behind it.
        Mode::Tail(_) | Mode::Prose if !scanner.markup.delimiters.is_empty() => true,
        Mode::Tail(_) => false,
        Mode::Prose => is_lead_begun(scanner),
    };
    (!is_begun).then(|| &scanner.text[scanner.at..])
}

/// Was a marker passed in front of what may become a call, or is it one with attributes: `<invoke name="`?
fn is_lead_begun(scanner: &Scanner<'_>) -> bool {
    let (text, at) = (&*scanner.text, scanner.at);
    let mut leading = OpenerParser::new(text, at, scanner.place(scanner.begins_line(at), false));
    let waits = leading.look().is_err();
    let has_opener = scanner.rules.dialects.opener_at(text, at).is_some();
    waits && (leading.is_begun() || has_opener || has_attributes(text, at))
}

/// Does a tag with more than a word begin at `at`?
fn has_attributes(text: &str, at: usize) -> bool {
    tag_at(text, at) != Ok(None) && text[at..].contains([' ', '\n', '='])
}

/// A run of white space is one byte: it goes out with what follows it, however long it is.
fn len_of(text: &str) -> usize {
    let words: usize = text.split_ascii_whitespace().map(str::len).sum();
    words + text.split_ascii_whitespace().count()
}

/// The beginnings of all markers, which never become whole, and markers that are.
fn near_markers() -> impl Strategy<Value = String> {
    let marks = dialect::marks_of_all();
    let wide = any::<bool>();
    (0..marks.len(), any::<prop::sample::Index>(), wide, 0..4_usize).prop_map(
        move |(mark, cut, wide, tail)| {
            let mark = match wide {
                true => marks[mark].replace('|', "｜").replace('_', "▁"),
                false => marks[mark].to_string(),
            };
            let chars: Vec<char> = mark.chars().collect();
            let mut text: String = chars[..cut.index(chars.len() + 1)].iter().collect();
            text.push_str(["", " ", "x", "\n"][tail]);
            text
        },
    )
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(PROSE).prop_map(str::to_owned),
        3 => near_markers(),
        2 => prop::sample::select(CODE).prop_map(str::to_owned),
        2 => prop::sample::select(UNICODE).prop_map(str::to_owned),
        1 => "[ -~é北\n]{0,12}",
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn text_that_is_no_marker_is_held_no_longer_than_the_longest_marker() {
    let tool_set = ToolSet::from_json(TOOLS).unwrap();
    let most = longest_marker() + longest_word(&tool_set);
    let config = Config { cases: 1_500, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let found = runner.run(&(texts(), any::<bool>(), any::<bool>()), |(text, native, accept)| {
        let calls_in_reasoning = if accept { CallsInReasoning::Accept } else { CallsInReasoning::Unclosed };
        let context = Context { native, calls_in_reasoning, ..Context::default() };
        let mut scanner = Scanner::new(&tool_set, &context);
        let mut events = Vec::new();
        for c in text.chars() {
            scanner.feed(Delta::Text(c.encode_utf8(&mut [0; 4])), &mut events);
            if let Some(held) = held(&scanner) {
                let len = len_of(held);
                prop_assert!(len <= most, "{} bytes, {} may be: {:?}", len, most, held);
            } else if let (Mode::Prose, true) = (&scanner.mode, scanner.markup.delimiters.is_empty()) {
                let len = len_of(&scanner.text[scanner.at..]);
                prop_assert!(len <= MAX_OPENER + MAX_TAG, "{} bytes in front of a call", len);
            }
        }
        Ok(())
    });
    found.unwrap_or_else(|why| panic!("{why}"));
}

//! Law 5: however an answer is cut into pieces, the events and the outcome are the same, and nothing that
//! went out is taken back.

use callwright::{Context, Delta, Dialect, Dialects, Event, Scanner, ToolSet, parse};

use crate::common::{Outline, Random, rounds, tool_set};

/// Texts with everything in them that the scanner has to hold back.
const TEXTS: &[&str] = &[
    "",
    "  \n ",
    "Just prose, with `code`, a < b, [1], {x} and f(y).\n\nAnd more.  ",
    "I look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>\nDone. ",
    "<think>Maybe <tool_call>{\"name\": \"list_files\"}</tool_call>, no.</think>Hello <b>you</b>",
    "<think>I call <tool_call>{\"name\": \"list_files\"}</tool_call>",
    "<get_weather>{\"city\": \"</function> }\"}</function> then <FUNCTION>{\"name\": \"list_files\"}<function>",
    "```tool_code\nprint(default_api.get_weather(city='Paris'))\n# next\nlist_files()\n```\nafter",
    "[get_weather(city='a]'), list_files()]\n\nUser: more\n[list_files()]",
    "get\\_weather(city=\"x\")[list_files()]; return list_files().",
    "get_weather\n{\"city\": \"Oslo\"}\nlist_files\n{}",
    "Sure: {\"tool_calls\": [{\"name\": \"list_files\", \"arguments\": \"{}\"}]} ok?",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"say \"hi\" now\"}}}} tail {\"a\": [",
    "[\"get_weather(city=\\\"x\\\")\", 'list_files()'] and ['list_files', {}] or ('list_files', {})",
    "<tool_call><tool_call>{\"name\": \"list_files\"}</tool_call></tool_call> é 北京 😀 «list_files()»",
    "So it is functools[{\"name\": \"list_files\"}] and func, then list_files() or the call.list_files\n{}",
    "```json\n{\"a\": 1}\n```\ntext ```x``` ``` \n```\nlist_files()\n```",
    "<tool_call>\n<function=run_code>\n<parameter=code>\na </parameter> <b\n</parameter>\n</function>\n</tool_call>",
    "<invoke name=\"get_weather\"><parameter name=\"city\">Paris</parameter></invoke>\nDone ]<]minimax[>[ x",
    "<tool_call>get_weather\\n<arg_key>city</arg_key>\\n<arg_value>a</arg_value>\\n</tool_call>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list_files<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜> ok",
    "<|channel|>commentary<|message|>I see.<|end|><|start|>assistant<|channel|>commentary to=functions.list_files json<|message|>{}<|call|>",
    "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"get_weather\">]<]minimax[>[<city>x]<]minimax[>[</city>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    "<|tool_call>call:get_weather{city:<|\"|>}x<|\"|>}<tool_call|>call:list_files{}",
    "Action: get_weather\nAction Input: Paris\nfunctions.list_files:0{} get_weather[ARGS]{\"city\": \"x\"}",
    "commentary to=functions.get_weather json{\"city\": \"x\"}\n>>>list_files\n{}\nfunctionlist_files\n```json\n{}\n```",
    "<|open|>tools<|sep|><|open|>call tool=\"get_weather\"<|sep|><|open|>argument key=\"city\" type=\"string\"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|><|close|>to",
    "<get_weather><city>a</b></city></get_weather> <list_files></list_files>",
    "[nobody(a=1), list_files(), none(b=[2])] and\nlist_files()\nnone(c=\"x\")\nNote(s): [see](x), [a(b), {\"name\": \"x\", \"b\": 1}]",
    "[{\"name\": \"none\", \"a\": 1}, {\"name\": \"list_files\"}]<|im_start|>\n<tool_call>{\"name\": \"list_files\"}</tool_call><|im_start|>user\nlist_files()",
    "{\"name\": \"list_files\", \"arguments\": {}}\u{2028}\"parameters\": 1 list_files()\u{a0}, b=2)",
    "<tool_call>\u{3000}{\"name\": \"list_files\"}\u{85}</tool_call>\u{2028}<list_files>\u{a0}</list_files>\u{3000}list_files()",
];
/// Blanks and characters without width, of any script.
const BLANKS: [char; 6] = ['\u{2028}', '\u{a0}', '\u{85}', '\u{3000}', '\u{feff}', '\u{200b}'];

#[test]
fn every_cut_gives_the_same() {
    let tool_set = tool_set();
    for (text, native) in TEXTS.iter().flat_map(|text| [(text, false), (text, true)]) {
        let whole = feed(&tool_set, &[text], native);
        let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for &cut in &cuts {
            let pieces = [&text[..cut], &text[cut..]];
            assert_eq!(feed(&tool_set, &pieces, native), whole, "cut at {cut}: {text}");
        }
        let pieces: Vec<&str> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(feed(&tool_set, &pieces, native), whole, "one by one: {text}");
    }
}

#[test]
fn random_cuts_of_mixed_texts_give_the_same() {
    let tool_set = tool_set();
    let mut random = Random(7);
    for _ in 0..rounds(3000) {
        let text: String = (0..1 + random.below(4)).map(|_| *random.pick(TEXTS)).collect();
        // Also torn texts: a random piece is left out.
        let chars: Vec<char> = text.chars().collect();
        let from = random.below(chars.len() + 1);
        let to = (from + random.below(12)).min(chars.len());
        let mut text = String::new();
        for c in chars[..from].iter().chain(&chars[to..]) {
            text.push(*c);
            if random.below(40) == 0 {
                text.push(*random.pick(&BLANKS));
            }
        }
        let native = random.below(2) == 0;
        let whole = feed(&tool_set, &[&text], native);
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((at, _)) = rest.char_indices().nth(1 + random.below(9)) {
            let (piece, tail) = rest.split_at(at);
            pieces.push(piece);
            rest = tail;
        }
        pieces.push(rest);
        assert_eq!(feed(&tool_set, &pieces, native), whole, "{text:?} as {pieces:?}, native: {native}");
    }
}

/// Answers with code in them, where brackets begin all but calls.
const CODE: &[&str] = &[
    "Here:\n```js\nif (x[i] < y) { f(x, 'a'); g[3] = {a: 1}; }\nmore\n```\nDone.\n",
    "```rust\nfn main() {\n    let s = S { name: x, n: 5 };\n    println!(\"{}\", s);\n}\n```\nDone.\n",
    "```css\na { color: red; }\nb:hover { margin: 0 auto; }\n```\nDone.\n",
    "```python\nd = {\"a\": x + 1, \"name\": f\"{y}\"}\ne = {k: v for k, v in d.items()}\n```\nDone.\n",
    "```json\n{\"options\": {\"strict\": true}, // yes\n \"x\": [1,2,]}\n```\nDone.\n",
    "A set {1, 2, 3}, \\frac{a}{b}, ${HOME}, {{ template }} and {\"name\": ...}.\n",
    "```jsx\n<Foo style={{a: 1}} onClick={() => go()} />\n```\nDone.\n",
    "```go\nm := map[string]int{\"a\": 1, \"b\": n}\n```\nDone.\n",
    "```c\nint a[] = {1, 2};\nchar c = '{'; // don't\nstruct s { int x; };\n```\nDone.\n",
    "Then search (google) for x; it's a search {like} any [other](search).\n",
];

#[test]
fn prose_and_code_flow_at_once() {
    let tool_set = tool_set();
    for text in CODE {
        let text = text.repeat(3);
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tool_set, &Context::default());
        let (mut said, mut held) = (0, 0);
        for (at, c) in text.char_indices() {
            scanner.feed(Delta::Text(c.encode_utf8(&mut [0; 4])), &mut events);
            for event in events.drain(..) {
                let Event::Text(text) = event else { panic!("{event:?}: {text}") };
                said += text.len();
            }
            held = held.max(at + c.len_utf8() - said);
        }
        assert!(held < 80, "{held} bytes of {}: {text}", text.len());
    }
}

/// Markers of one's own are found behind any text, whole and in pieces, with whatever byte they begin.
#[test]
fn markers_of_one_s_own_are_found_behind_prose() {
    let tool_set = tool_set();
    for (open, close) in
        [("[[call {name}]]", "[[/call]]"), ("@@{name} ", "@@end"), ("run_tool {name}:", ";;")]
    {
        let mut dialect = Dialect::new("own");
        dialect.call.open = vec![open.into()];
        dialect.call.close = vec![close.into()];
        let context = Context { dialects: Dialects::new([dialect]).unwrap(), ..Context::default() };
        let call = format!("{}{{\"city\": \"x\"}}{close}", open.replace("{name}", "get_weather"));
        for prose in PROSE.iter().chain(CODE) {
            let text = format!("{prose}{call}");
            let whole = parse(&tool_set, &text, &[], &context);
            let names: Vec<&str> = whole.calls().map(|call| &*call.dialect).collect();
            assert_eq!(names, ["own"], "{text}");
            let (mut events, mut scanner) = (Vec::new(), Scanner::new(&tool_set, &context));
            for piece in text.split_inclusive(|_: char| true) {
                scanner.feed(Delta::Text(piece), &mut events);
            }
            assert_eq!(Outline::of(&scanner.finish().1), Outline::of(&whole), "{text}");
        }
    }
}

const PROSE: &[&str] = &[
    "",
    "I look. ",
    "A longer sentence, with a comma, an apostrophe that isn't a quote, and no end: ",
    "First line.\nSecond line, (in brackets) and \"in quotes\".\n\n- a list\n",
    "mail me@example.org, @home; [1] [a](b) run_away ",
    "天气很好。",
];

/// Feeds `pieces`, and checks that the events add up to the outcome.
fn feed(tool_set: &ToolSet, pieces: &[&str], native: bool) -> Outline {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tool_set, &Context { native, ..Context::default() });
    for piece in pieces {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    let (last, outcome) = scanner.finish();
    events.extend(last);
    let outline = Outline::of(&outcome);
    assert_eq!(Outline::of_events(&events), outline, "{pieces:?}");
    let n_calls = events.iter().filter(|event| matches!(event, Event::Call(_))).count();
    assert_eq!(n_calls, outcome.verdicts.len());
    outline
}

#[test]
fn beside_prose_a_native_model_s_words_do_not_wait_for_what_follows() {
    let tool_set = ToolSet::from_json(r#"[{"name": "get_weather"}]"#).unwrap();
    let context = Context { native: true, ..Context::default() };
    let mut scanner = Scanner::new(&tool_set, &context);
    let mut said = Vec::new();
    for piece in ["The", " word", " get_weather", " is", " func", "tools", " here"] {
        let mut out = Vec::new();
        scanner.feed(Delta::Text(piece), &mut out);
        said.push(
            out.iter()
                .map(|e| if let Event::Text(text) = e { text.as_str() } else { "" })
                .collect::<String>(),
        );
    }
    // The first word may be a call alone, a declared name begins one, and `functools[{…}]` is a mark.
    assert_eq!(said, ["", "The word", "", " get_weather is", "", "", " functools here"]);
}

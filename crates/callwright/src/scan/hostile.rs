//! Tests hostile answers: their broken parts are read with the fuel that there is, whatever they are made of.

use super::state::FUEL_PER_BYTE;
use super::{Scanner, Work};
use crate::context::Context;
use crate::dialect::Dialects;
use crate::prompt::{self, PromptDialect};
use crate::tools::ToolSet;

const TOOLS: &str = r#"[
    {"name": "f", "parameters": {"type": "object", "required": ["a"],
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}},
    {"name": "send", "parameters": {"type": "object",
        "properties": {"to": {"type": "array", "items": {"type": "string"}}, "deep": {"type": "object"}}}}
]"#;

/// Signs that stand in marks, or near them.
const SIGNS: [&str; 24] = [
    "\"", "'", "{", "}", "[", "(", ",", ":", "\\", "\n", " ", "```", "<", "</", "<|", "|>", "&lt;", "=", "f",
    "a", "Action:", "<think>", "to=", "\\u0022",
];

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// Returns a part of one of `texts`, from any letter to any other.
    fn part(&mut self, texts: &[String]) -> String {
        let text: Vec<char> = texts[self.below(texts.len())].chars().collect();
        let from = if self.below(2) == 0 { 0 } else { self.below(text.len()) };
        let most = [6, 30, text.len()][self.below(3)];
        let len = 1 + self.below(most);
        text.iter().skip(from).take(len).collect()
    }

    /// Returns the text that an answer repeats: a part of a call, or of two, perhaps with signs that do not belong
    /// there.
    fn unit(&mut self, texts: &[String]) -> String {
        let mut unit = self.part(texts);
        for _ in 0..self.below(3) {
            let put = match self.below(2) {
                0 => SIGNS[self.below(SIGNS.len())].to_owned(),
                _ => self.part(texts),
            };
            let at = (0..=self.below(unit.len() + 1)).rfind(|at| unit.is_char_boundary(*at)).unwrap_or(0);
            unit.insert_str(at, &put);
        }
        unit
    }
}

/// Reads `n` answers of `len` bytes. Returns the most work for each byte that one of them takes beyond the free work,
/// and the form of that answer.
fn dearest(seed: u64, n: usize, len: usize) -> (usize, String) {
    let tools = ToolSet::from_json(TOOLS).unwrap();
    let calls = [("f", r#"{"a": "x", "b": 7}"#), ("send", r#"{"to": ["x", "y"], "deep": {"z": 1}}"#)];
    let calls = calls.map(|(name, arguments)| (name.to_owned(), arguments.to_owned()));
    let dialects = Dialects::default();
    let texts: Vec<String> =
        PromptDialect::all(&dialects).map(|dialect| prompt::calls(&dialect, &tools, &calls)).collect();
    let mut random = Random(seed);
    let mut dearest = (0, String::new());
    for _ in 0..n {
        let (head, unit) =
            (if random.below(3) == 0 { random.unit(&texts) } else { String::new() }, random.unit(&texts));
        let text = format!("{head}{}", unit.repeat(len.div_ceil(unit.len())));
        let mut scanner = Scanner::new(&tools, &Context::default());
        scanner.text = text.as_str().into();
        scanner.end(&mut Vec::new());
        let Work { fuel, fuelled, bytes_read, bytes_skipped, .. } = &scanner.work;
        // The fuel that is left may be less than nothing.
        let beyond_free = i64::try_from(FUEL_PER_BYTE * fuelled).unwrap() - fuel.left();
        let spent = usize::try_from(beyond_free).unwrap_or(0);
        let of_each = (spent + bytes_read + bytes_skipped) / text.len();
        if dearest.0 < of_each {
            dearest = (of_each, format!("{head:?} {unit:?}"));
        }
    }
    dearest
}

/// Most work for each byte of an answer: units of fuel, and bytes that are read again.
const MOST: usize = 192;

#[test]
fn hostile_answers_take_work_in_proportion() {
    // The first seed served for tuning; the second one only judges.
    for seed in [1, 1001] {
        let (of_each, shape) = dearest(seed, 48, 1 << 14);
        assert!(of_each <= MOST, "{of_each} for each byte: {shape}");
    }
}

//! What the tests share: tools, a short form of outcomes, random numbers.

pub(crate) mod hash;
pub(crate) mod question;

use callwright::{Event, Outcome, ToolSet, Verdict};

/// How many rounds a generated test takes where it usually takes `usual`: as many times that as the variable
/// `CALLWRIGHT_LAWS` says, `0.2` or `5`, and one at least.
pub(crate) fn rounds(usual: usize) -> usize {
    ((usual as f64 * times()).ceil() as usize).max(1)
}

/// Of cases that are all there are, and not more, every which one is taken: each fifth where the variable says `0.2`.
pub(crate) fn stride() -> usize {
    ((1.0 / times()).round() as usize).max(1)
}

/// How far the share of `n` cases may be from a bound, both in percent, that holds for the usual rounds: nothing for those or
/// more, and three standard deviations of a share for fewer.
pub(crate) fn slack(bound: f64, n: usize) -> f64 {
    if 1.0 <= times() { 0.0 } else { 3.0 * (bound * (100.0 - bound) / n as f64).sqrt() }
}

/// As many times the usual rounds as `CALLWRIGHT_LAWS` says.
pub(crate) fn times() -> f64 {
    std::env::var("CALLWRIGHT_LAWS").map_or(1.0, |times| times.parse().unwrap())
}

/// The dialects from which no recorded text was made, as they came after the recording: another one in the list would make
/// other texts of all.
const LATER: [&str; 5] = ["cwm", "functionary_v2", "longcat_xml", "chatglm3", "continue"];

/// Returns whether recorded texts are made from the dialect of this `name`.
pub(crate) fn is_recorded(name: &str) -> bool {
    !LATER.contains(&name)
}

/// The tools that most cases are about.
pub(crate) fn tool_set() -> ToolSet {
    ToolSet::from_json(TOOLS).unwrap()
}

/// Their definitions.
pub(crate) const TOOLS: &str = r#"[
    {"name": "get_weather", "parameters": {"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}, "days": {"type": "integer"}}}},
    {"name": "list_files", "parameters": {"type": "object", "properties": {}}},
    {"name": "write_file", "parameters": {"type": "object", "required": ["path", "content"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}},
    {"name": "run_code", "parameters": {"type": "object", "required": ["code"], "properties": {"code": {"type": "string"}}}},
    {"name": "substitute_ingredient", "parameters": {"type": "object", "required": ["ingredient"],
        "properties": {"ingredient": {"type": "string"}, "reason": {"type": "string"}}}},
    {"name": "search_recipes", "parameters": {"type": "object", "required": ["query"],
        "properties": {"query": {"type": "string"}}}},
    {"name": "add_numbers", "parameters": {"type": "object", "required": ["a", "b"],
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}, "label": {"type": "string"},
            "exact": {"type": "boolean"}, "items": {"type": "array", "items": {"type": "integer"}}}}},
    {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}
]"#;

/// An outcome in a form that can be compared and read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// `name arguments` of accepted calls, `! code` of refused ones.
    pub(crate) verdicts: Vec<String>,
}

impl Outline {
    pub(crate) fn of(outcome: &Outcome) -> Outline {
        Outline {
            text: outcome.text.clone(),
            reasoning: outcome.reasoning.clone(),
            verdicts: outcome.verdicts.iter().map(verdict).collect(),
        }
    }

    /// What the events add up to. In a text, nothing of a call comes before its verdict.
    pub(crate) fn of_events(events: &[Event]) -> Outline {
        let mut outline = Outline::default();
        for event in events {
            match event {
                Event::Text(text) => outline.text.push_str(text),
                Event::Reasoning(text) => outline.reasoning.push_str(text),
                Event::Call(call) => outline.verdicts.push(verdict(call)),
                event => panic!("{event:?}"),
            }
        }
        outline
    }
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Accepted(call) => {
            format!("{} {} {} {:?}", call.name, call.arguments, call.dialect, call.span)
        }
        Verdict::Refused(refusal) => {
            format!("! {} {} {:?}", refusal.reason.code(), refusal.block, refusal.span)
        }
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    pub(crate) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// `text` in pieces of random lengths, cut between characters.
pub(crate) fn pieces<'t>(random: &mut Random, text: &'t str) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let most = *random.pick(&[1, 4, 60]);
    while let Some((at, _)) = rest.char_indices().nth(1 + random.below(most)) {
        let (piece, tail) = rest.split_at(at);
        pieces.push(piece);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

//! A search for tools by words: over their names, descriptions and parameters.
//!
//! Texts are compared by the pieces of three letters in their words, without a list of words: `weather` finds `getWeather` and
//! `weathers`, in any language. A piece that few tools have says more than a common one. The weights are those of BM25 (Robertson
//! and Zaragoza, 2009).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use callwright::ToolSet;
use callwright::value::Value;

/// A piece of a word: `" we"` of `weather`, whose ends count as blanks. Two signs without case, as those of Chinese, make a
/// piece.
type Piece = [char; 3];

/// The saturation of repeated pieces, and the penalty of a long text.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// The weight of a piece of a name, against one of a description.
const NAME: f32 = 3.0;

/// The tools of a request, by the pieces of their texts.
#[derive(Debug)]
pub(crate) struct ToolIndex {
    /// The tools that have a piece, by number, and its weight for each.
    pieces: HashMap<Piece, Vec<(usize, f32)>>,
    n_tools: usize,
}

impl ToolIndex {
    /// Reads the texts of all tools.
    pub(crate) fn of(tool_set: &ToolSet) -> ToolIndex {
        let counted: Vec<HashMap<Piece, f32>> = tool_set
            .iter()
            .map(|tool| {
                let mut counts = HashMap::new();
                count(tool.name(), NAME, &mut counts);
                count(tool.description(), 1.0, &mut counts);
                parameters(tool.schema().value(), &mut counts);
                counts
            })
            .collect();
        let n_tools = counted.len();
        let lengths: Vec<f32> = counted.iter().map(|counts| counts.values().sum()).collect();
        let mean = (lengths.iter().sum::<f32>() / n_tools.max(1) as f32).max(1.0);
        let mut pieces: HashMap<Piece, Vec<(usize, f32)>> = HashMap::new();
        for (tool, counts) in counted.into_iter().enumerate() {
            let longer = 1.0 - LENGTH + LENGTH * lengths[tool] / mean;
            for (piece, n) in counts {
                let says = n * (SATURATION + 1.0) / (n + SATURATION * longer);
                pieces.entry(piece).or_default().push((tool, says));
            }
        }
        for tools in pieces.values_mut() {
            let (having, all) = (tools.len() as f32, n_tools as f32);
            let rare = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            tools.iter_mut().for_each(|(_, says)| *says *= rare);
        }
        ToolIndex { pieces, n_tools }
    }

    /// Returns the numbers of the tools that match `words`, the best first. The first declared of equal ones goes before.
    pub(crate) fn search(&self, words: &str) -> Vec<usize> {
        let mut asked = HashMap::new();
        count(words, 1.0, &mut asked);
        let mut scores = vec![0.0; self.n_tools];
        for piece in asked.keys() {
            for (tool, says) in self.pieces.get(piece).into_iter().flatten() {
                scores[*tool] += says;
            }
        }
        let mut found: Vec<usize> = (0..self.n_tools).filter(|tool| 0.0 < scores[*tool]).collect();
        found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        found
    }
}

/// Counts the names and descriptions of parameters, at any depth.
fn parameters(schema: &Value, counts: &mut HashMap<Piece, f32>) {
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        if let Some(text) = schema["description"].as_str() {
            count(text, 1.0, counts);
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            count(name, 1.0, counts);
            waiting.push(member);
        }
        waiting.extend(schema.get("items"));
    }
}

/// Counts the pieces of a text's words. A capital letter behind a small one begins a word: `getWeather`.
fn count(text: &str, weight: f32, counts: &mut HashMap<Piece, f32>) {
    let mut last = [' '; 2];
    let mut add = |last: &mut [char; 2], next: char| {
        if last[1] != ' ' {
            *counts.entry([last[0], last[1], next]).or_default() += weight;
        }
        if [last[1], next].iter().all(|c| c.is_alphabetic() && !c.is_lowercase()) {
            *counts.entry([last[1], next, ' ']).or_default() += weight;
        }
        *last = [last[1], next];
    };
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_small {
            add(&mut last, ' ');
        }
        was_small = c.is_lowercase();
        if c.is_alphanumeric() {
            c.to_lowercase().for_each(|c| add(&mut last, c));
        }
    }
    add(&mut last, ' ');
}

/// The tools that a model is shown if they do not all fit.
#[derive(Clone)]
pub(crate) struct ToolSearch {
    /// The name of the tool that searches.
    pub(crate) name: Arc<str>,
    pub(crate) index: Arc<ToolIndex>,
    /// The numbers of the tools that are shown.
    pub(crate) shown: BTreeSet<usize>,
    /// Those tools, and the one that searches.
    pub(crate) offered: Arc<ToolSet>,
    /// The number of tools shown at first.
    pub(crate) limit: usize,
    pub(crate) left: u32,
}

impl ToolSearch {
    /// Returns the number of shown tools, as a part of all: `20/400`.
    pub(crate) fn share(&self, all: usize) -> String {
        format!("{}/{all}", self.shown.len())
    }
}

#[cfg(test)]
mod tests {
    use callwright::json;

    use super::*;

    fn index(tools: &[(&str, &str)]) -> ToolIndex {
        let tools: Vec<Value> = tools
            .iter()
            .map(|(name, description)| {
                json!({"type": "function", "function": {"name": *name, "description": *description,
                    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}})
            })
            .collect();
        ToolIndex::of(&ToolSet::from_value(&Value::Array(tools)).unwrap())
    }

    #[test]
    fn words_find_tools_by_name_and_description_in_any_language() {
        let index = index(&[
            ("getWeather", "The forecast for a place."),
            ("send_email", "Sends a message to somebody."),
            ("日历", "查看日历中的会议"),
            ("delete_file", "Löscht eine Datei für immer."),
        ]);
        for (words, first) in [
            ("What is the weather?", 0),
            ("weathers", 0),
            ("Forecasts, please", 0),
            ("write emails", 1),
            ("今天有会议吗", 2),
            ("Dateien löschen", 3),
        ] {
            assert_eq!(index.search(words).first(), Some(&first), "{words}");
        }
        assert!(index.search("?!").is_empty());
        assert_eq!(index.search("city").len(), 4);
    }

    #[test]
    fn pieces_are_counted_within_words() {
        let mut counts = HashMap::new();
        count("aB, cd", 1.0, &mut counts);
        let mut pieces: Vec<String> = counts.keys().map(|piece| piece.iter().collect()).collect();
        pieces.sort();
        assert_eq!(pieces, [" a ", " b ", " cd", "cd "]);
    }
}

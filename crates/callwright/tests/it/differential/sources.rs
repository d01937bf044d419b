//! Where the texts come from: the corpora, and the generators of the other tests.

use callwright::{Context, json};

use super::key;
use crate::broken_texts::broken_texts;
use crate::common::question::{Question, Tools};
use crate::common::{TOOLS, is_recorded};
use crate::laws::bench::Bench;
use crate::laws::pools::{Half, Pools};
use crate::laws::{LAWS, composed};
use crate::{broken_marks, corpus, edits, heal_corpus, smuggling};

/// What made a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Corpus,
    Generator,
}

/// Visits all questions with their keys, the same ones in each run.
pub(super) fn each(visit: &mut dyn FnMut(Origin, u64, &Question<'_>)) {
    let mut take = |origin, one_of: u64, question: &Question<'_>| {
        // The low bits choose the texts of a short run.
        let key = key::of(question);
        if (key >> 32).is_multiple_of(one_of) {
            visit(origin, key, question);
        }
    };
    corpus::each_case(|_, _, question| take(Origin::Corpus, 1, question));
    heal_corpus::each_question(|question| take(Origin::Corpus, 1, question));
    smuggling::each_question(|question| take(Origin::Corpus, 3, question));
    for half in [Half::Work, Half::Judge] {
        let mut pools = Pools::of(half);
        pools.dialects.retain(|dialect| is_recorded(dialect.name()));
        for (law, run) in LAWS {
            let mut take = |question: &Question<'_>| take(Origin::Generator, share(law), question);
            let mut bench = Bench::new(half, &pools);
            bench.taker = Some(&mut take);
            run(&mut bench);
        }
        each_composed(half, &mut |question| take(Origin::Generator, 1, question));
    }
    broken_marks::each_broken_question(&mut |question| take(Origin::Generator, 6, question));
    broken_marks::each_torn_question(&mut |question| take(Origin::Generator, 1, question));
    edits::each_question(&mut |question| take(Origin::Generator, 6, question));
    each_near_json(&mut |question| take(Origin::Generator, 1, question));
}

/// One text in so many of a law is taken: what it makes of each place of a call is more of the same.
fn share(law: &str) -> u64 {
    match law {
        "cut" => 24,
        "several" => 12,
        "alike" | "shown" => 2,
        _ => 1,
    }
}

fn each_composed(half: Half, visit: &mut dyn FnMut(&Question<'_>)) {
    const NUMBER: usize = 1_000;
    let tools = Tools::new(composed::TOOLS);
    for (number, text) in composed::texts(half.seed(), NUMBER).enumerate() {
        let context = Context {
            finish_reason: [Some("stop"), None, Some("length"), Some("tool_calls")][number % 4],
            native: number % 3 == 0,
            starts_in_reasoning: number % 10 == 1,
            ..Context::default()
        };
        let question =
            Question { tools: &tools, apart: "", text: &text, native: None, context: &context, dialects: "" };
        visit(&question);
    }
}

/// Texts near JSON, as calls between marks and as native arguments in turns.
fn each_near_json(visit: &mut dyn FnMut(&Question<'_>)) {
    const NUMBER: usize = 1_000;
    let (tools, open) = (
        Tools::new(TOOLS),
        Tools::new(&json!([{"name": "f", "parameters": {"type": "object"}}]).to_string()),
    );
    let context = Context { finish_reason: Some("stop"), ..Context::default() };
    for (number, text) in broken_texts(NUMBER).into_iter().enumerate() {
        let marked = format!("<tool_call>\n{text}\n</tool_call>");
        let (tools, text, native) = match number % 2 {
            0 => (&tools, marked.as_str(), None),
            _ => (&open, "", Some(("f", text.as_str()))),
        };
        let question = Question { tools, apart: "", text, native, context: &context, dialects: "" };
        visit(&question);
    }
}

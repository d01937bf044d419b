//! The functions and structs of a file: how long they are, how often they branch, what they return and hold.

use std::collections::BTreeSet;

use super::tokens::Token;

/// A function, without what tests hold.
pub(super) struct Function {
    pub(super) line: usize,
    /// The lines of its body that hold code.
    pub(super) n_lines: usize,
    pub(super) n_branches: usize,
    /// It returns `bool`.
    pub(super) is_predicate: bool,
}

/// A struct with named members.
pub(super) struct Struct<'t> {
    pub(super) name: &'t str,
    pub(super) line: usize,
    pub(super) n_bools: usize,
}

/// The functions of a file, those within others too.
pub(super) fn functions<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = Function> + use<'t> {
    let begins = |pair: &[Token<'_>]| pair[0].text == "fn" && pair[1].is_word();
    let starts = tokens.windows(2).enumerate().filter(move |(_, pair)| begins(pair));
    starts.map(|(at, _)| function(&tokens[at..]))
}

/// The function at the start of `tokens`.
fn function(tokens: &[Token<'_>]) -> Function {
    let head = &tokens[..outside(tokens, &["{", ";"])];
    let returns = head.iter().rposition(|token| token.text == "->").unwrap_or(head.len());
    let is_predicate = head[returns..].iter().skip(1).take_while(|token| token.text != "where");
    let is_predicate = is_predicate.map(|token| token.text).eq(["bool"]);
    let body = &tokens[head.len()..][..block(&tokens[head.len()..])];
    // The brackets of a body have lines of their own.
    let within = body.get(1..body.len().saturating_sub(1)).unwrap_or_default();
    let lines = within.iter().flat_map(|token| token.first_line..=token.last_line).collect::<BTreeSet<_>>();
    let n_branches = body.windows(2).filter(|pair| branches(&pair[0], &pair[1])).count();
    Function { line: tokens[0].first_line, n_lines: lines.len(), n_branches, is_predicate }
}

/// Whether a token is a fork in the way through a function, by the one before it.
fn branches(before: &Token<'_>, token: &Token<'_>) -> bool {
    const KEYWORDS: [&str; 4] = ["move", "return", "else", "in"];
    let ends_value = before.is_word() && !KEYWORDS.contains(&before.text);
    match token.text {
        "if" | "while" | "for" | "match" => true,
        // Else it is an empty list of parameters, or a reference to a reference.
        "&&" | "||" => ends_value || matches!(before.text, ")" | "]" | "}" | "?" | "\"\""),
        _ => false,
    }
}

/// The structs of a file.
pub(super) fn structs<'t>(tokens: &'t [Token<'t>]) -> impl Iterator<Item = Struct<'t>> {
    let starts =
        tokens.windows(2).enumerate().filter(|(_, pair)| pair[0].text == "struct" && pair[1].is_word());
    starts.map(|(at, pair)| {
        let start = at + outside(&tokens[at..], &["{", "(", ";"]);
        let members = &tokens[start..][..block(&tokens[start..])];
        let n_bools = members.windows(3).filter(|three| {
            three[0].text == ":" && three[1].text == "bool" && matches!(three[2].text, "," | "}")
        });
        Struct { name: pair[1].text, line: pair[0].first_line, n_bools: n_bools.count() }
    })
}

/// The place of the first of these signs that no round or square bracket encloses.
fn outside(tokens: &[Token<'_>], signs: &[&str]) -> usize {
    let mut depth = 0usize;
    let is_first = |token: &Token<'_>| {
        let is_there = depth == 0 && signs.contains(&token.text);
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_there
    };
    tokens.iter().position(is_first).unwrap_or(tokens.len())
}

/// The length of the block in curly brackets at the start of `tokens`; 0 where there is none.
fn block(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    let end = tokens.iter().position(|token| {
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.map_or(tokens.len(), |end| if end == 0 { 0 } else { end + 1 })
}

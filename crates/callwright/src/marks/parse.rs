//! The readings of calls in one dialect, cheapest first.
//!
//! A reading is a way through the marks: the effect of each one, the passed-over ones, and the end of each value. The
//! search goes the ways by their costs, as Dijkstra's does, so that the first one that arrives is the cheapest.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;

use callwright_json::{Fuel, Guide as _, strict};

use super::edit::MOST;
use super::lexemes::{Kind, Lexeme, Make};
use super::{Decision, is_name_in, lexemes, prices};
use crate::check;
use crate::grammar::fold::Folded;
use crate::grammar::{Form, NAME, folded, marks};
use crate::payload::value;
use crate::syntax::tag::{Role, last_tag};
use crate::syntax::{Trim, Typing};
use crate::tools::{Tool, ToolSet};

/// Most steps for one text, and for each mark in it. With more marks than calls have, the ways between them would cost
/// their square.
const STEPS: usize = 4096;
const STEPS_PER_MARK: usize = 64;

/// Fuel for a step itself, and for each call and argument that it carries along.
const STEP_FUEL: usize = 64;
/// Fuel for reading a byte of a value.
const VALUE_FUEL: usize = 4;
/// Fuel for deciding whether a value ends at a mark.
const MARK_FUEL: usize = 24;

/// An opener's end of so many letters does not stand in a value by chance.
const LONG_TAIL: usize = 2;

/// The material of the readings.
struct Parser<'a, 't> {
    text: Folded,
    /// The text as it was written; `text` is folded.
    raw: &'a str,
    form: &'a Form,
    tools: Vec<&'t Tool>,
    keys: Vec<&'t str>,
    marks: Vec<Lexeme>,
    trim: Trim,
    /// The section was opened before the text.
    is_in_section: bool,
    /// The places of the last whole opener of a call, and of the last whole closer of an argument.
    last_call: Option<usize>,
    last_closer: Option<usize>,
    /// The fuel that is left.
    fuel: &'a Fuel,
}

/// A way through the marks, up to a place. At its end it is a reading.
#[derive(Clone, Debug, Default)]
struct Node {
    cost: u32,
    /// The place behind the last mark, in letters.
    at: usize,
    state: State,
    tool: usize,
    arguments: Vec<(usize, Rc<str>)>,
    /// Each tool's number, with its arguments as JSON.
    calls: Vec<(usize, Rc<str>)>,
    /// The marks that need a repair.
    repaired: Vec<(usize, usize)>,
    is_in_section: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum State {
    /// The way is before a call.
    #[default]
    Calls,
    /// The way is in a call, between arguments.
    Arguments,
    /// The way is in the value of a key.
    Value(Value),
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Value {
    key: usize,
    /// The number of the mark that opened the value.
    opener: usize,
}

/// Reads the calls that begin at `from`, in the marks of `form`, whose section may have been opened before.
pub(crate) fn read<'t>(
    (text, from): (&str, usize),
    form: &Form,
    trim: Trim,
    tool_set: &'t ToolSet,
    is_in_section: bool,
    fuel: &Fuel,
) -> Decision<'t> {
    let raw = text.get(from..).unwrap_or("");
    let (text, tools) = (Folded::of(raw, from), tool_set.iter().collect::<Vec<_>>());
    let (marks, keys) = lexemes::find(&text, form, &tools, fuel);
    let last = |is_it: fn(Kind) -> bool| {
        marks.iter().rfind(|mark| mark.make == Make::Whole && is_it(mark.kind)).map(|mark| mark.from)
    };
    let last_call = last(|kind| matches!(kind, Kind::Call(_)));
    let last_closer = last(|kind| matches!(kind, Kind::ArgumentClose(_)));
    let parser =
        Parser { text, raw, form, tools, keys, marks, trim, is_in_section, last_call, last_closer, fuel };
    let Parser { text, tools, .. } = &parser;
    let readings = parser.readings();
    let Some((best, rest)) = readings.split_first() else {
        return Decision::Nothing { extent: parser.extent() };
    };
    if rest.is_empty() {
        let calls =
            best.calls.iter().map(|(tool, arguments)| (tools[*tool], arguments.to_string())).collect();
        let repaired = best.repaired.iter().map(|(from, to)| (text.byte(*from), text.byte(*to))).collect();
        return Decision::Calls { calls, end: text.byte(best.at), repaired };
    }
    let last = |reading: &Node| reading.calls.last().cloned();
    let name = last(best).map(|(tool, _)| tools[tool].name().to_owned());
    let arguments = readings.iter().filter_map(last).map(|(_, arguments)| arguments.to_string());
    Decision::Ambiguous { name, readings: arguments.collect() }
}

impl Parser<'_, '_> {
    /// Returns the readings from the beginning of the text, cheapest first: all that cost less than a margin more than
    /// the first one. There are none if there are too many ways.
    fn readings(&self) -> Vec<Node> {
        let mut found: Vec<Node> = Vec::new();
        let mut open = BinaryHeap::new();
        let mut nodes = vec![Node { is_in_section: self.is_in_section, ..Node::default() }];
        let mut seen: HashMap<_, u32> = HashMap::new();
        open.push(Reverse((0, 0)));
        let limit =
            |found: &[Node]| found.first().map_or(prices::CEILING + 1, |best| best.cost + prices::MARGIN);
        let mut left = STEPS + STEPS_PER_MARK * self.marks.len();
        while let Some(Reverse((cost, n))) = open.pop() {
            if limit(&found) <= cost {
                break;
            }
            let node = std::mem::take(&mut nodes[n]);
            left = left.saturating_sub(1);
            self.fuel.spend(STEP_FUEL * (1 + node.calls.len() + node.arguments.len()));
            if left == 0 || self.fuel.is_spent() {
                return Vec::new();
            }
            if node.state == State::Done {
                self.finish(node, &mut found);
                continue;
            }
            let mut next = Vec::new();
            self.step(&node, &mut next);
            for node in next.into_iter().filter(|node| node.cost <= prices::CEILING + prices::MARGIN) {
                let key = (node.at, node.state, node.tool, node.arguments.clone(), node.calls.clone());
                let known = seen.entry(key).or_insert(u32::MAX);
                if node.cost < *known {
                    *known = node.cost;
                    open.push(Reverse((node.cost, nodes.len())));
                    nodes.push(node);
                }
            }
        }
        let limit = limit(&found);
        found.retain(|reading| reading.cost < limit);
        found
    }

    /// Returns the place behind the last whole mark of the first call, in bytes; `None` if no whole mark opens a call.
    fn extent(&self) -> Option<usize> {
        let mut whole = self.marks.iter().filter(|mark| mark.make == Make::Whole);
        let opener = whole.find(|mark| matches!(mark.kind, Kind::Call(_)))?;
        let own = whole.take_while(|mark| !matches!(mark.kind, Kind::Call(_) | Kind::SectionOpen));
        Some(self.text.byte(own.last().unwrap_or(opener).to))
    }

    fn finish(&self, mut node: Node, found: &mut Vec<Node>) {
        node.cost += self.left_behind(node.at);
        match found.iter_mut().find(|other| other.calls == node.calls) {
            // `</tool_calll>` is not `</tool_calll` with a sign behind it.
            Some(known) if node.cost == known.cost && known.at < node.at => *known = node,
            None if node.cost <= prices::CEILING => {
                found.insert(found.partition_point(|other| other.cost <= node.cost), node);
            }
            Some(_) | None => {}
        }
    }

    /// Returns the cost of whole marks behind `at` that belong to no call. The marks of another call, behind other
    /// text, belong to that call.
    fn left_behind(&self, at: usize) -> u32 {
        let behind = self.marks.iter().skip(self.marks.partition_point(|mark| mark.from < at));
        let next = self.text.behind_blanks(at);
        let is_next_call =
            |mark: &&Lexeme| next < mark.from && matches!(mark.kind, Kind::SectionOpen | Kind::Call(_));
        let whole = behind.filter(|mark| mark.make == Make::Whole).take_while(|mark| !is_next_call(mark));
        let price = |mark: &Lexeme| if mark.kind.is_named_opener() { prices::NEVER } else { prices::STRAY };
        whole.map(price).take(prices::CEILING as usize).sum()
    }

    fn marks_at(&self, at: usize) -> impl Iterator<Item = (usize, &Lexeme)> {
        let from = self.marks.partition_point(|mark| mark.from < at);
        self.marks.iter().enumerate().skip(from).take_while(move |(_, mark)| mark.from == at)
    }

    fn step(&self, node: &Node, next: &mut Vec<Node>) {
        let at = self.text.behind_blanks(node.at);
        if !matches!(node.state, State::Value(_)) {
            self.noise(node, at, next);
        }
        match node.state {
            State::Calls => self.between_calls(node, at, next),
            State::Arguments => self.between_arguments(node, at, next),
            State::Value(own) => self.value(node, own, next),
            State::Done => {}
        }
    }

    /// Passes over one or two letters outside all marks: behind a mark, or in front of one that ends no value.
    fn noise(&self, node: &Node, at: usize, next: &mut Vec<Node>) {
        let is_behind = 0 < at && node.at == at;
        let is_first = node.state == State::Calls && node.calls.is_empty();
        for len in 1..=MOST {
            let letters = self.text.letters.get(at..at + len).unwrap_or(&[]);
            let mut marks = self.marks_at(at + len).filter(|(_, mark)| mark.make == Make::Whole).peekable();
            let is_placed = is_behind || marks.peek().is_some();
            // `</a>7</a>`: these letters are the value of an argument.
            let is_value = marks.any(|(_, mark)| matches!(mark.kind, Kind::ArgumentClose(_)));
            let is_solid = letters.len() == len && letters.iter().all(|c| !c.is_whitespace());
            // A sign in front of all marks, with its other half behind them, shows them as a quotation: a tick.
            let is_pair = is_first && letters.iter().any(|c| matches!(c, '`' | '"' | '*'));
            if is_solid && !is_pair && is_placed && !is_value {
                let mut over = node.clone();
                over.at = at + len;
                over.cost += prices::EDIT * u32::try_from(len).unwrap_or(u32::MAX);
                over.repaired.push((at, at + len));
                next.push(over);
            }
        }
    }

    fn is_stray(&self, mark: &Lexeme) -> bool {
        mark.make == Make::Whole && !mark.kind.is_named_opener() || mark.kind.is_piece()
    }

    /// Returns whether `mark` opens a call of this tool, and not of one whose name it holds to the letter.
    fn names(&self, mark: &Lexeme, tool: usize) -> bool {
        let written = self.letters(mark.from, mark.to).unwrap_or("");
        is_name_in(written, self.tools[tool].name(), self.tools.iter().map(|tool| tool.name()))
    }

    /// Returns whether the last mark of an opener of several is missing: `<arg_key>a</arg_key>⏎x`. The break belongs to
    /// that mark.
    fn lacks_end(&self, opener: &Lexeme) -> bool {
        let tail = self.form.argument.tails.get(opener.tail).map_or("", |(tail, _)| &**tail);
        let Some(last) = marks(tail).skip(1).last() else { return false };
        let before = self.text.folded.get(..opener.to).unwrap_or(&[]);
        opener.make == Make::Half && !before.ends_with(&folded(last))
    }

    /// Returns `node` behind `mark`, at the mark's own price and this one.
    fn over(&self, node: &Node, mark: &Lexeme, price: u32) -> Node {
        let mut next = node.clone();
        next.at = mark.to;
        next.cost += mark.price + price;
        if 0 < mark.price + price {
            next.repaired.push((mark.from, mark.to));
        }
        next
    }

    fn between_calls(&self, node: &Node, at: usize, next: &mut Vec<Node>) {
        let is_start = node.at == 0;
        let price =
            |is_wrong: bool| if is_wrong && self.form.section.is_some() { prices::NO_SECTION } else { 0 };
        for (_, mark) in self.marks_at(at) {
            match mark.kind {
                Kind::SectionOpen if is_start || !node.is_in_section => {
                    let over = self.over(node, mark, 0);
                    next.push(Node { state: State::Calls, is_in_section: true, ..over });
                }
                Kind::Call(tool) if self.names(mark, tool) => {
                    let over = self.over(node, mark, price(!node.is_in_section));
                    next.push(Node { tool, arguments: Vec::new(), state: State::Arguments, ..over });
                }
                Kind::SectionClose if !node.calls.is_empty() => {
                    next.push(Node { is_in_section: false, ..self.over(node, mark, 0) });
                }
                _ => {}
            }
            if self.is_stray(mark) {
                next.push(self.over(node, mark, prices::STRAY));
            }
        }
        if !node.calls.is_empty() {
            let cost = node.cost + price(node.is_in_section);
            next.push(Node { state: State::Done, cost, ..node.clone() });
        }
    }

    fn between_arguments(&self, node: &Node, at: usize, next: &mut Vec<Node>) {
        for (n, mark) in self.marks_at(at) {
            match mark.kind {
                Kind::Argument(key) if self.lacks(node, key) => {
                    let state = State::Value(Value { key, opener: n });
                    let over = self.over(node, mark, 0);
                    let at = if self.lacks_end(mark) { self.text.behind_blanks(over.at) } else { over.at };
                    next.push(Node { state, at, ..over });
                }
                Kind::CallClose(tool) if tool.is_none_or(|tool| tool == node.tool) => {
                    next.extend(self.called(self.over(node, mark, 0)));
                }
                _ => {}
            }
            let is_own = matches!(mark.kind, Kind::Call(tool) if tool == node.tool);
            if self.is_stray(mark) || is_own && node.arguments.is_empty() && mark.make == Make::Whole {
                next.push(self.over(node, mark, prices::STRAY));
            }
        }
        next.extend(self.without_opener(node, at));
    }

    /// Reads an argument whose opener is missing, by the closer that names it: `Paris</city>`.
    fn without_opener(&self, node: &Node, at: usize) -> Option<Node> {
        let close = self.marks.iter().find(|mark| at < mark.from && !mark.kind.is_piece())?;
        let Kind::ArgumentClose(Some(key)) = close.kind else { return None };
        // A closer on a line of its own closes a value on lines of its own: `⏎Paris⏎</city>`.
        let is_on_lines = self.begins_line(close.from) && self.begins_line(at);
        let from = if is_on_lines { at.saturating_sub(1) } else { at };
        let is_value = |text: &&str| !text.trim().is_empty() && !text.contains(['<', '>', '&']);
        let text = self.letters(from, close.from).filter(|_| self.lacks(node, key)).filter(is_value)?;
        let over = self.over(node, close, prices::NO_ARGUMENT);
        Some(self.behind_value(over, text, (key, from), 0))
    }

    /// Returns `node` behind its call, if the call is right.
    fn called(&self, mut node: Node) -> Option<Node> {
        let members = std::mem::take(&mut node.arguments);
        let members = members.iter().map(|(key, json)| (self.keys[*key], json));
        let fit = check::fit(self.tools[node.tool], &value::object_of(members)).ok()?;
        node.calls.push((node.tool, fit.arguments.into()));
        node.state = State::Calls;
        Some(node)
    }

    fn value(&self, node: &Node, own: Value, next: &mut Vec<Node>) {
        let from = node.at;
        // The opener of this argument stands twice.
        let begin = self.text.behind_blanks(from);
        for (n, mark) in self.marks_at(begin) {
            if mark.kind == Kind::Argument(own.key) && mark.make == Make::Whole {
                let state = State::Value(Value { opener: n, ..own });
                next.push(Node { state, ..self.over(node, mark, prices::REPEATED) });
            }
        }
        // JSON and elements hold no marks, whatever they look like.
        let is_text = match self.text.letters.get(begin) {
            Some('{' | '[') => false,
            Some('<' | ']') => !self.form.closes_by_key(),
            _ => true,
        };
        let mut held = Held::default();
        let first = self.marks.partition_point(|mark| mark.from < from);
        let mut before: VecDeque<&Lexeme> = VecDeque::new();
        for (n, mark) in self.marks.iter().enumerate().skip(first) {
            // A mark that overlaps this one is another reading of it; among overlapping marks, the first whole one
            // counts.
            while let Some(held_mark) = before.front().filter(|held_mark| held_mark.to <= mark.from) {
                held.take(self, node, held_mark);
                before.pop_front();
            }
            let least = held.price - held.open.iter().map(|(_, price)| price).sum::<u32>();
            let is_too_dear = prices::CEILING + prices::MARGIN < node.cost + least;
            self.fuel.spend(MARK_FUEL);
            if is_text && is_too_dear || self.fuel.is_spent() {
                return;
            }
            self.end_value(node, own, n, held.price, next);
            before.push_back(mark);
        }
    }

    /// Ends the value at the mark of this number, if it can end there. The marks in the value cost `held`.
    fn end_value(&self, node: &Node, own: Value, n: usize, held: u32, next: &mut Vec<Node>) {
        let (opener, mark) = (&self.marks[own.opener], &self.marks[n]);
        if matches!(mark.kind, Kind::ArgumentClose(key) if key.is_none_or(|key| key == own.key)) {
            let over = self.over(node, mark, self.edges(opener, node.at, mark));
            let text = self.letters(node.at, mark.from);
            next.extend(text.map(|text| self.behind_value(over, text, (own.key, node.at), held)));
        }
        let may_end = match mark.kind {
            Kind::Argument(key) => self.lacks(node, key),
            Kind::CallClose(tool) => tool.is_none_or(|tool| tool == node.tool),
            _ => false,
        };
        // Otherwise the value might hold the next call as well, and end at that call's end.
        let ends_call = !matches!(mark.kind, Kind::Argument(_));
        // A closer right behind this mark changed places with it.
        let is_before_closer = |closer| mark.to <= closer && closer != self.text.behind_blanks(mark.to);
        let is_before_call = self.last_call.is_some_and(|call| mark.from <= call)
            || ends_call && self.last_closer.is_some_and(is_before_closer);
        let end = self.before_foreign_closer(node.at, mark.from);
        if may_end && !is_before_call && !self.ends_in_remnant(node.at, end, own.key) {
            let has_closers = self.marks.iter().any(|mark| matches!(mark.kind, Kind::ArgumentClose(_)));
            let price = if has_closers { prices::NO_ARGUMENT_CLOSE } else { prices::NO_CLOSERS };
            let cost = node.cost + price + self.edges_of_opener(opener, node.at);
            let mut open = Node { cost, at: mark.from, ..node.clone() };
            open.repaired.push((end, mark.from));
            // The line break before the next mark belongs to that mark.
            let is_break = node.at < end && self.text.letters[end - 1] == '\n';
            let to = end - usize::from(is_break);
            let text = self.letters(node.at, to).filter(|text| !text.trim().is_empty());
            next.extend(text.map(|text| self.behind_value(open, text, (own.key, node.at), held)));
        }
    }

    /// Returns the place of the mark of another dialect that closes the value, in front of the mark at `to`:
    /// `<parameter=a>x</arg_value></function>`; without one, `to`.
    fn before_foreign_closer(&self, from: usize, to: usize) -> usize {
        let value = self.letters(from, to).unwrap_or("").trim_end();
        let tag = last_tag(value).filter(|tag| tag.closing && tag.role != Role::Other);
        let begin = tag.map(|tag| self.text.byte(from) + tag.at.start as usize);
        begin.and_then(|begin| (from..to).find(|at| begin <= self.text.byte(*at))).unwrap_or(to)
    }

    /// Returns `over` with the argument of this `key` whose value, at this place, is `text`. The marks in a text cost
    /// `held`; a value that is JSON or elements holds no other marks.
    fn behind_value(&self, over: Node, text: &str, (key, at): (usize, usize), held: u32) -> Node {
        let json = self.json(over.tool, key, text, at);
        let cost = over.cost + if self.is_read(text, &json) { 0 } else { held };
        let mut next = Node { state: State::Arguments, cost, ..over };
        next.arguments.push((key, json.into()));
        next
    }

    /// Returns whether `text`, the value `json`, is read as JSON or by its elements, so that it holds no other marks.
    fn is_read(&self, text: &str, json: &str) -> bool {
        // A head with one wrong letter has one of its halves whole.
        let (head, half) = (&*self.form.argument.head, self.form.argument.head.len() / 2);
        let halves =
            || [head.get(..half), head.get(half..)].into_iter().flatten().filter(|half| 3 < half.len());
        let is_elements = || self.form.closes_by_key() && !halves().any(|half| json.contains(half));
        json.starts_with(['{', '[']) && (is_elements() || strict(text.trim()).is_ok())
    }

    /// Returns the JSON of `text`, which stands at `at`, as the value of a key.
    fn json(&self, tool: usize, key: usize, text: &str, at: usize) -> String {
        let guide = self.tools[tool].schema().guide();
        let place = value::place_of(guide, guide.root(), self.keys[key]);
        let indent = value::indent_at(self.raw, self.text.byte(at) - self.text.byte(0));
        let content = value::content(text, self.trim, indent);
        self.fuel.spend(STEP_FUEL + VALUE_FUEL * text.len());
        value::json_of(&content, Typing::Schema, guide, place, Some(self.fuel))
    }

    /// Returns whether a line begins or ends at `at`.
    fn begins_line(&self, at: usize) -> bool {
        let is_break = |at: usize| self.text.letters.get(at) == Some(&'\n');
        is_break(at) || at.checked_sub(1).is_some_and(is_break)
    }

    fn letters(&self, from: usize, to: usize) -> Option<&str> {
        let base = self.text.byte(0);
        self.raw.get(self.text.byte(from) - base..self.text.byte(to) - base)
    }

    /// Returns whether the call of `node` takes `key`, and has no value for it, nor is in one.
    fn lacks(&self, node: &Node, key: usize) -> bool {
        let is_open = matches!(node.state, State::Value(own) if own.key == key);
        let is_there = is_open || node.arguments.iter().any(|(known, _)| *known == key);
        !is_there && self.tools[node.tool].declares(self.keys[key])
    }

    /// Returns the cost of edges of a value that a neighbouring mark explains better.
    fn edges(&self, opener: &Lexeme, from: usize, closer: &Lexeme) -> u32 {
        let is_in_line = self.begins_line(from) && !self.begins_line(closer.from) && !self.lacks_end(opener);
        self.edges_of_opener(opener, from) + if is_in_line { prices::HELD_IN_LINE } else { 0 }
    }

    /// Returns the cost of the front of a value, which may belong to its opener.
    fn edges_of_opener(&self, opener: &Lexeme, from: usize) -> u32 {
        let tail = self.form.argument.tails.get(opener.tail).map_or_else(Vec::new, |(tail, _)| folded(tail));
        let (before, value) = self.text.folded.split_at(from);
        if opener.make != Make::Whole {
            let is_sure = before.ends_with(&tail);
            return if self.is_of_opener(value, is_sure.then_some(&tail)) { prices::NEVER } else { 0 };
        }
        // The end of the opener stands twice: `<parameter=a>>`. Before a blank, `> quoted`, it is text.
        match value.strip_prefix(&*tail).filter(|_| !tail.is_empty()) {
            None => 0,
            Some(['\n', ..]) => prices::TAIL_AGAIN_ALONE,
            Some([next, ..]) if next.is_whitespace() => 0,
            _ if LONG_TAIL <= tail.len() => prices::TAIL_AGAIN_ALONE,
            _ => prices::TAIL_AGAIN,
        }
    }

    /// Returns whether letters of a broken opener may stand in front of this value: a sign or several letters of its
    /// end, `&lt;arg_value&gt;x`, `string="trux`, or one or two odd letters on a line. Without a known `tail` before
    /// it, the end may stand anywhere on the line: `<parameter=a type="string">x`.
    fn is_of_opener(&self, value: &[char], tail: Option<&Vec<char>>) -> bool {
        const LEAST: usize = 4;
        let ends: Vec<Vec<char>> = self.form.argument.tails.iter().map(|(tail, _)| folded(tail)).collect();
        let is_path = |letter: &char| letter.is_alphanumeric() || matches!(letter, '/' | '_');
        let is_sign = |letter: &char| !is_path(letter) && ends.iter().any(|end| end.contains(letter));
        let line = value.split(|letter| *letter == '\n').next().unwrap_or(value);
        let is_odd = line.len() < value.len() && (1..3).contains(&line.len());
        let blanks = value.iter().take_while(|letter| letter.is_whitespace()).count();
        let (solid, front) = (&value[blanks..], line.split(|letter| *letter == '<').next().unwrap_or(line));
        let is_part = |end: &Vec<char>| end.windows(LEAST).any(|part| solid.starts_with(part));
        let ends_later = |end: &Vec<char>| end.last().is_some_and(|last| front.contains(last));
        is_odd && line.iter().all(|letter| !letter.is_whitespace())
            || solid.first().is_some_and(|first| is_sign(first) || *first == '&')
            || ends.iter().any(is_part)
            || tail.is_none() && ends.iter().any(ends_later)
    }

    /// Returns whether the value up to `to` ends in a tag, or holds the beginning of one: `x</invoke>`, `x&lt;/a&gt;`,
    /// `xparameter>`.
    fn ends_in_remnant(&self, from: usize, to: usize, key: usize) -> bool {
        let close = folded(&self.form.argument_close.replace(NAME, self.keys[key]));
        let value = &self.text.folded[from..to];
        let solid: Vec<char> = value.iter().copied().filter(|letter| !letter.is_whitespace()).collect();
        let is_open = |at: usize| match &value[at..] {
            [sign, next, ..] if close.first() == Some(sign) => !next.is_whitespace(),
            ['&', 'l', 't', ';', next, ..] => !next.is_whitespace(),
            // `[/TOOL_CALLS]`
            ['[', '/', next, ..] => next.is_alphabetic(),
            _ => false,
        };
        let is_edge =
            solid.last().is_some_and(|last| close.first() == Some(last) || close.last() == Some(last));
        is_edge || solid.ends_with(&['&', 'g', 't', ';']) || (0..value.len()).any(is_open)
    }
}

/// The marks of its dialect that a value holds.
#[derive(Debug, Default)]
struct Held {
    price: u32,
    n: u32,
    to: usize,
    /// The openers in the value that nothing has closed, each with its cost until then.
    open: Vec<(Kind, u32)>,
    /// The last mark, if that is a closer of nothing in the value, and whether it is whole.
    closer: Option<(Kind, bool)>,
}

impl Kind {
    /// Returns whether the mark closes what `open` opens. If closers name nothing, an argument may be any one.
    fn closes(self, open: Kind, is_named: bool) -> bool {
        match (open, self) {
            (Kind::SectionOpen, Kind::SectionClose) => true,
            (Kind::Call(_) | Kind::CallPiece, Kind::CallClose(_)) => true,
            (Kind::Argument(key), Kind::ArgumentClose(close)) if is_named => close == Some(key),
            (Kind::Argument(_) | Kind::ArgumentPiece, Kind::ArgumentClose(close)) => close.is_none(),
            _ => false,
        }
    }
}

impl Held {
    fn take(&mut self, parser: &Parser<'_, '_>, node: &Node, mark: &Lexeme) {
        if mark.make == Make::Half && !mark.kind.is_piece() {
            // `<arg_key>a</arg_key>`, more than its first piece, does not stand there by chance.
            let is_free = matches!(mark.kind, Kind::Argument(key) if parser.lacks(node, key));
            if is_free && self.to < mark.to {
                self.price += mark.price;
                self.to = mark.to;
            }
            return;
        }
        if mark.from < self.to {
            return;
        }
        let is_closer = matches!(mark.kind, Kind::ArgumentClose(_));
        let is_argument = matches!(mark.kind, Kind::Argument(_) | Kind::ArgumentPiece);
        let opens = is_argument || matches!(mark.kind, Kind::SectionOpen | Kind::Call(_) | Kind::CallPiece);
        let is_named = parser.form.closes_by_key();
        let is_call = |(open, _): &&mut (Kind, u32)| matches!(open, Kind::Call(_) | Kind::CallPiece);
        let call = self.open.iter_mut().rev().find(is_call);
        let is_in_call = call.is_some();
        // A text does not speak of a call that has arguments and no end.
        if let Some((_, price)) = call.filter(|(_, price)| *price < prices::NEVER && is_argument) {
            *price += prices::NEVER;
            self.price += prices::NEVER;
        }
        let is_whole = mark.make != Make::Torn;
        self.to = mark.to;
        // The level began in the value and ends in it.
        if let Some((_, price)) = self.open.pop_if(|(open, _)| is_whole && mark.kind.closes(*open, is_named))
        {
            self.price -= price;
            self.closer = None;
            return;
        }
        let is_first = self.n == 0;
        self.n += 1;
        self.price += match (is_first, is_whole) {
            (true, true) => prices::HELD,
            (true, false) => prices::HELD_TORN,
            (false, _) => 0,
        };
        let mut until_closed = if is_first { 0 } else { prices::HELD_NEXT };
        // A closer and then another mark is not text, nor is an opener whose key is free. A torn one is none in front of an
        // argument.
        let is_closed = |(closer, is_whole): (Kind, bool)| match matches!(closer, Kind::ArgumentClose(_)) {
            true => is_whole || is_argument,
            false => is_whole && !opens,
        };
        if self.closer.is_some_and(is_closed) {
            until_closed += prices::NEVER;
        }
        if let (Kind::Argument(key), true) = (mark.kind, is_whole) {
            let is_free = parser.lacks(node, key) && !is_in_call;
            self.price += if is_free { prices::NEVER } else { 0 };
        }
        self.price += until_closed;
        if is_whole && opens {
            self.open.push((mark.kind, until_closed));
        }
        self.closer = (!opens).then_some((mark.kind, is_whole));
        // At its proper place, the closer may be real, and the text behind it another argument without its opener.
        if is_whole && is_closer {
            let is_placed = match parser.text.folded.get(mark.to..).unwrap_or(&[]) {
                [] | ['\n' | '&', ..] | ['<', '|', ..] => true,
                [next, ..] => next.is_alphanumeric() || parser.marks_at(mark.to).next().is_some(),
            };
            let has_free = (0..parser.keys.len()).any(|key| parser.lacks(node, key));
            if is_placed && has_free {
                self.price += prices::NEVER;
            }
        }
    }
}

//! Infers from a template which turns it takes, whether it tells of tools, and in which form its model calls them.

use callwright::json;
use callwright::value::Value;

use crate::form::{ID, KEY, NAME, Samples, VALUE};
use crate::probe::{ASKED, Call, Manner, Probe, RULED, SAID, THOUGHT, id_of};
use crate::token::common_suffix;

/// The turns that a template takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// It takes turns of the role `system`.
    pub system_role: bool,
    /// The turns of user and assistant must alternate.
    pub alternate: bool,
}

/// The marks around a model's reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoning {
    /// The mark that opens it.
    pub open: String,
    /// The mark that closes it.
    pub close: String,
    /// The prompt opens it, so that an answer begins in it.
    pub opened: bool,
}

/// Returns the turns that the template takes.
pub(crate) fn turns(probe: &Probe<'_>) -> Turns {
    let user = json!({"role": "user", "content": ASKED});
    let says = |messages: &[Value], words: &[&str]| {
        probe.render(messages, &[], true).is_ok_and(|prompt| words.iter().all(|word| prompt.contains(word)))
    };
    let system_role = says(&[json!({"role": "system", "content": RULED}), user.clone()], &[RULED, ASKED]);
    let next = json!({"role": "user", "content": RULED});
    let takes_two = says(&[user.clone(), next], &[RULED, ASKED]);
    // What fails at one turn says nothing about two.
    let alternate = !takes_two && says(&[user], &[ASKED]);
    Turns { system_role, alternate }
}

/// A tool with these parameters, all of them texts.
pub(crate) fn tool(name: &str, parameters: &[&str]) -> Value {
    let properties: callwright::value::Map = parameters
        .iter()
        .map(|key| ((*key).to_owned(), json!({"type": "string", "description": "zqmeans"})))
        .collect();
    let parameters = json!({"type": "object", "properties": properties, "required": parameters});
    json!({"type": "function", "function": {"name": name, "description": "zqdoes", "parameters": parameters}})
}

pub(crate) const NAMES: [&str; 2] = ["zqfirst", "zqsecond"];
pub(crate) const KEYS: [&str; 2] = ["zqkeyone", "zqkeytwo"];
pub(crate) const VALUES: [&str; 2] = ["zqvalueone", "zqvaluetwo"];
const NUMBER: u32 = 74_193;

/// The tools that templates are asked with.
pub(crate) fn tools() -> Vec<Value> {
    NAMES.iter().map(|name| tool(name, &KEYS)).collect()
}

/// Returns whether the template tells the model of its tools.
pub(crate) fn lists_tools(probe: &Probe<'_>) -> bool {
    let user = json!({"role": "user", "content": ASKED});
    let prompt = probe.render(std::slice::from_ref(&user), &tools(), true);
    prompt.is_ok_and(|prompt| NAMES.iter().chain(&KEYS).all(|word| prompt.contains(word)))
}

/// The ways of giving calls to the template in which it writes all of them, their names and arguments, once and not as
/// a text in a text. Objects come first: templates are written for them.
///
/// # Errors
/// There is none. What the template says to calls, where it refuses them or fails.
pub(crate) fn manners(probe: &Probe<'_>) -> Result<Vec<Manner>, Option<String>> {
    let calls = [Call::new(NAMES[0], json!({KEYS[0]: VALUES[0]}))];
    let tools = tools();
    let answers = probe.answers(&tools).map_err(|error| Some(error.to_string()))?;
    let quoted = format!("\\\"{}", KEYS[0]);
    let mut said = None;
    let mut manners = Vec::new();
    for manner in Manner::ALL {
        match answers.written(manner.turn("", &calls)) {
            Ok(text) => {
                let is_whole = [NAMES[0], KEYS[0], VALUES[0]].iter().all(|word| text.contains(word));
                if is_whole && !text.contains(&quoted) {
                    manners.push(manner);
                }
            }
            Err(error) => said = said.or(Some(error.to_string())),
        }
        // Ids that name the tool are for templates that write nothing else.
        if manner.is_last_by_name() && !manners.is_empty() {
            break;
        }
    }
    if manners.is_empty() { Err(said) } else { Ok(manners) }
}

/// Calls as the template writes them, with placeholders.
///
/// # Errors
/// What the template says to them, where it refuses them or fails.
pub(crate) fn samples(probe: &Probe<'_>, manner: Manner) -> Result<Samples, String> {
    let tools = tools();
    let answers = probe.answers(&tools).map_err(|error| error.to_string())?;
    let sample = |calls: &[Call]| {
        let text = answers.written(manner.turn("", calls)).map_err(|error| error.to_string())?;
        Ok::<String, String>(blanked(&text))
    };
    let (first, second) = (json!({KEYS[0]: VALUES[0]}), json!({KEYS[1]: VALUES[1]}));
    let both = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
    Ok(Samples {
        one: sample(&[Call::new(NAMES[0], first.clone())])?,
        arguments: sample(&[Call::new(NAMES[0], both)])?,
        calls: sample(&[Call::new(NAMES[0], first), Call::new(NAMES[1], second)]).ok(),
        number: sample(&[Call::new(NAMES[0], json!({KEYS[0]: NUMBER}))]).ok(),
    })
}

/// `text` with placeholders for all that it was given.
pub(crate) fn blanked(text: &str) -> String {
    let number = NUMBER.to_string();
    let ids = [id_of(0), id_of(1)];
    let places =
        [(NAME, NAMES), (KEY, KEYS), (VALUE, VALUES), (ID, [&ids[0], &ids[1]]), (VALUE, [&number, &number])];
    let mut text = text.to_owned();
    for (place, words) in places {
        for word in words {
            text = text.replace(word, place.encode_utf8(&mut [0; 4]));
        }
    }
    text
}

/// Returns the marks around the model's reasoning; `None` where the template tells of none.
pub(crate) fn reasoning(probe: &Probe<'_>) -> Option<Reasoning> {
    let answers = probe.answers(&[]).ok()?;
    let marks = ["reasoning_content", "thinking", "reasoning"].iter().find_map(|member| {
        let turn = json!({"role": "assistant", "content": SAID, *member: THOUGHT});
        let text = answers.whole(turn).ok()?;
        let (open, behind) = text.split_once(THOUGHT)?;
        let (close, _) = behind.split_once(SAID)?;
        // What stands before words that nobody thought about is not the thought's end.
        let own = close.len() - common_suffix(close, &answers.before);
        let close = if close[..own].trim().is_empty() { close } else { &close[..own] };
        let (open, close) = (open.trim(), close.trim());
        (!close.is_empty()).then(|| (open.to_owned(), close.to_owned()))
    });
    let tail = answers.given.rsplit_once(ASKED)?.1.trim_end();
    let known = ["<think>", "<thinking>", "<seed:think>", "[THINK]", "<|START_THINKING|>"];
    let opened = known.iter().find(|open| tail.ends_with(**open));
    match (marks, opened) {
        // The prompt has opened it: what the turn itself holds begins behind that.
        (Some((open, close)), Some(known)) if open.is_empty() => {
            Some(Reasoning { open: (*known).to_owned(), close, opened: true })
        }
        (Some((open, close)), _) if !open.is_empty() => {
            let opened = tail.ends_with(&open);
            Some(Reasoning { open, close, opened })
        }
        (_, Some(open)) => {
            let close = open
                .replacen('<', "</", 1)
                .replacen('[', "[/", 1)
                .replace("START", "END")
                .replace("</|", "<|");
            Some(Reasoning { open: (*open).to_owned(), close, opened: true })
        }
        _ => None,
    }
}

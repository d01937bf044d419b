//! The questions that follow a refused or unsure call: for the call alone again, for its meaning, or with the errors as the
//! model's next turn.

use std::sync::Arc;

use callwright::json;
use callwright::{Acceptance, Outcome, Reason, Refusal, ToolChoice, ToolSet, Verdict, calls_or_error};
use callwright_json::{Kind, quote, strict};

use crate::bounds;
use crate::config::Mode;
use crate::question::{Offer, Question};
use crate::record::Choice;

/// The name of the dialect of native calls.
const NATIVE: &str = "native";
/// The fewest tokens that a call asked for again may take.
pub(crate) const CALL_TOKENS: u64 = 1024;

/// Asks for one refused call again, with nothing else on offer. It offers the same tool if the arguments were bad. For an unknown
/// tool it offers any of the `safe` ones, or none.
pub(crate) fn reask(
    refusal: &Refusal,
    tool_set: &Arc<ToolSet>,
    wanted: &ToolChoice,
    safe: &[String],
    tokens: u64,
) -> Question {
    let known = refusal.name.as_deref().filter(|name| tool_set.get(name).is_some());
    let choice = match (&refusal.reason, known) {
        // The request wants certain tools, and this was none of them.
        (Reason::UnknownTool { .. } | Reason::NotOffered { .. }, _) => match wanted {
            ToolChoice::Auto if safe.is_empty() => ToolChoice::Auto,
            ToolChoice::Auto => ToolChoice::Allowed { names: safe.to_vec(), required: false },
            wanted => wanted.clone(),
        },
        (_, Some(name)) => ToolChoice::Named(name.to_owned()),
        (_, None) => ToolChoice::Required,
    };
    // The model sees this call alone.
    let alone = Refusal { number: 1, ..refusal.clone() };
    Question {
        more: vec![
            json!({"role": "assistant", "content": spoken(&written(&alone))}).to_string(),
            json!({"role": "user", "content": alone.feedback().user_message()}).to_string(),
        ],
        offer: Some(Offer { tool_set: Arc::clone(tool_set), choice }),
        max_tokens: Some(tokens_for(&refusal.block).min(tokens)),
        tells_by_bound: matches!(refusal.reason, Reason::OpenEnd(_)),
        stream: false,
    }
}

/// Returns the bound that makes a repeated call tell something. If the end of the first one is in doubt, an answer below the
/// bound was not cut.
pub(crate) fn telling_bound(refusal: &Refusal, tokens: u64) -> Option<u64> {
    matches!(refusal.reason, Reason::OpenEnd(_)).then(|| tokens_for(&refusal.block).min(tokens))
}

/// Asks for a call that ran away until its tokens were spent, with bounds for its texts and lists. The runaway text is not said
/// again. `None` if there are no such bounds, or the tool is unknown.
pub(crate) fn bounded(refusal: &Refusal, tool_set: &ToolSet, tokens: u64) -> Option<Question> {
    let tool = tool_set.get(refusal.name.as_deref()?)?;
    let choice = ToolChoice::Named(tool.name().to_owned());
    let tool_set = Arc::new(bounds::bounded(tool, tokens)?);
    Some(Question {
        more: Vec::new(),
        offer: Some(Offer { tool_set, choice }),
        max_tokens: Some(tokens),
        tells_by_bound: false,
        stream: false,
    })
}

/// Asks again for calls that the bound of the answer cut, beside its words `said`: shorter, or in parts. The cut text is not said
/// again: it is as long as an answer can be.
pub(crate) fn shorter(said: &str, refusals: &[&Refusal], tokens: u64) -> Question {
    Question {
        more: vec![
            json!({"role": "assistant", "content": spoken(said)}).to_string(),
            json!({"role": "user", "content": shorter_words(refusals)}).to_string(),
        ],
        offer: None,
        max_tokens: Some(tokens),
        tells_by_bound: false,
        stream: false,
    }
}

/// Returns the words for a model whose answer was cut by its bound inside these calls.
pub(crate) fn shorter_words(refusals: &[&Refusal]) -> String {
    let mut names: Vec<&str> = refusals.iter().filter_map(|refusal| refusal.name.as_deref()).collect();
    names.dedup();
    let of = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    format!(
        "Your last answer reached its limit of tokens inside a tool call{of}, and nothing of that was run. Make the call again so that \
         the whole answer stays below the limit: with shorter arguments, or with the first part alone, and the other parts in later \
         calls."
    )
}

/// Adds to the question's last words that the arguments of the call have to begin with `sent`: the client has that much of them.
pub(crate) fn beginning_so(mut question: Question, sent: &str) -> Question {
    if let Some(last) = question.more.last_mut()
        && let Ok(mut message) = serde_json::from_str::<callwright::value::Value>(last)
        && let Some(said) = message["content"].as_str()
    {
        message["content"] = format!("{said}\n\n{}", beginning_words(sent)).into();
        *last = message.to_string();
    }
    question
}

/// Returns the words for arguments that have to begin with `sent`.
pub(crate) fn beginning_words(sent: &str) -> String {
    format!(
        "A part of this call has been passed on, and stays. Make the call with the same tool, and let its arguments begin with exactly \
         these characters, to the letter: {sent}"
    )
}

/// Asks for the call that the request demands, and that the answer does not make. It asks in words alone if the server would keep
/// the model from ending without a call.
pub(crate) fn demand(
    choice: &Choice,
    tool_set: &Arc<ToolSet>,
    wanted: &ToolChoice,
    in_words: bool,
    tokens: u64,
) -> Question {
    let names: Vec<&str> = wanted.tools(tool_set).iter().map(|tool| tool.name()).collect();
    let wanted = match in_words {
        true => ToolChoice::Allowed {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            required: false,
        },
        false => wanted.clone(),
    };
    let demand =
        format!("You must call one of these tools now: {}. Answer with the call alone.", names.join(", "));
    Question {
        more: vec![
            json!({"role": "assistant", "content": spoken(&choice.raw)}).to_string(),
            json!({"role": "user", "content": demand}).to_string(),
        ],
        offer: Some(Offer { tool_set: Arc::clone(tool_set), choice: wanted }),
        max_tokens: Some(CALL_TOKENS.min(tokens)),
        tells_by_bound: false,
        stream: false,
    }
}

/// The words for the client's user if a demanded call did not come.
pub(crate) const UNMET: &str = "⚠️ The request demanded a tool call, and the model made none.";

/// Asks once more for a call of an unknown name that the model repeated. It offers only the tool whose arguments fit; none if
/// nothing is left to say.
pub(crate) fn pointed(
    refusal: &Refusal,
    tool_set: &Arc<ToolSet>,
    wanted: &ToolChoice,
    tokens: u64,
) -> Option<Question> {
    let Reason::UnknownTool { .. } = &refusal.reason else { return None };
    let offered = wanted.tools(tool_set);
    let [tool] = offered.as_slice() else { return None };
    let tree = strict(&refusal.block).ok()?;
    let root = tree.root(&refusal.block);
    let arguments = match is_native(refusal) {
        true => root,
        // `{"name": "Maria", "arguments": {…}}`, whatever the members are called.
        false => {
            let members = root.members().map(|(_, member)| member);
            let mut objects = members.filter(|member| member.kind() == Kind::Object);
            objects.next().filter(|_| objects.next().is_none())?
        }
    };
    if arguments.kind() != Kind::Object || !tool.schema().check(arguments).is_empty() {
        return None;
    }
    let name = quote(tool.name());
    let call = format!("{{\"name\": {name}, \"arguments\": {}}}", arguments.raw());
    let alone = Refusal { number: 1, ..refusal.clone() };
    let error = alone.feedback().user_message();
    let ask =
        format!("{error}\n\nThe only tool is {name}, and these arguments fit it. Its call would be: {call}");
    Some(Question {
        more: vec![
            json!({"role": "assistant", "content": spoken(&written(&alone))}).to_string(),
            json!({"role": "user", "content": ask}).to_string(),
        ],
        offer: Some(Offer {
            tool_set: Arc::clone(tool_set),
            choice: ToolChoice::Named(tool.name().to_owned()),
        }),
        max_tokens: Some(tokens_for(&refusal.block).min(tokens)),
        tells_by_bound: false,
        stream: false,
    })
}

/// Asks again for a call that the upstream could not read, for this reason. `said` came beside it.
pub(crate) fn lost(before: &Question, said: &str, why: &str) -> Question {
    let ask = format!(
        "Your last tool call could not be read, and was not run: {why}. Make it again as one tool call, with arguments that are a \
         JSON object."
    );
    let mut more = before.more.clone();
    more.push(json!({"role": "assistant", "content": spoken(said)}).to_string());
    more.push(json!({"role": "user", "content": ask}).to_string());
    Question { more, ..before.clone() }
}

/// Returns the words about such a call for the client's user.
pub(crate) fn lost_sentence(why: &str) -> String {
    format!("⚠️ A tool call was not run: the model's server could not read it ({why}).")
}

/// Asks for an answer after an empty one.
pub(crate) fn silence(tokens: u64) -> Question {
    let ask = "Your last answer was empty. Answer now: make the call that is due, or say what is to be said.";
    Question {
        more: vec![
            json!({"role": "assistant", "content": spoken("")}).to_string(),
            json!({"role": "user", "content": ask}).to_string(),
        ],
        offer: None,
        max_tokens: Some(tokens),
        tells_by_bound: false,
        stream: false,
    }
}

/// Asks whether the model means the unsure calls of `choice`; none if it has none.
pub(crate) fn confirm(choice: &Choice, tokens: u64) -> Option<Question> {
    let asks = choice.outcome.confirmation()?;
    Some(Question {
        more: vec![
            json!({"role": "assistant", "content": choice.raw}).to_string(),
            json!({"role": "user", "content": asks}).to_string(),
        ],
        offer: None,
        max_tokens: Some(tokens_for(&choice.raw).min(tokens)),
        tells_by_bound: false,
        stream: false,
    })
}

/// Asks again for JSON in the form of `response_format`: `said` came instead.
pub(crate) fn content(before: &Question, said: &str, refusal: &Refusal, tokens: u64) -> Question {
    let mut more = before.more.clone();
    if !said.trim().is_empty() {
        more.push(json!({"role": "assistant", "content": said}).to_string());
    }
    let ask = format!("{} Answer again with that JSON alone.", content_fault(refusal));
    more.push(json!({"role": "user", "content": ask}).to_string());
    Question { more, offer: None, max_tokens: Some(tokens), tells_by_bound: false, stream: false }
}

/// Returns a sentence that says why an answer is not the JSON that was asked for.
pub(crate) fn content_fault(refusal: &Refusal) -> String {
    let why = match &refusal.reason {
        Reason::Truncated(_) | Reason::OpenEnd(_) => String::from("it ends too early"),
        Reason::Ambiguous { .. } => String::from("it can be read in more than one way"),
        _ => {
            let feedback = refusal.feedback();
            match &feedback.json_error {
                Some(error) => error.to_string(),
                None => feedback.message,
            }
        }
    };
    format!("The answer is not the JSON that was asked for: {why}.")
}

/// Returns the tokens that a repetition of `calls` may take. Arguments take about a token for each three bytes; twice that leaves
/// room for missing text.
fn tokens_for(calls: &str) -> u64 {
    CALL_TOKENS.max(calls.len() as u64 * 2 / 3 + 512)
}

/// Gives the errors of all refused calls to the model as its next turn. `answers` are its answers, the last one first; the calls
/// may come from several. Errors that `before` has told are not repeated.
pub(crate) fn feedback<'c>(
    before: &Question,
    mut answers: impl Iterator<Item = &'c Choice>,
    refusals: &[&Refusal],
    mode: Mode,
    tokens: u64,
) -> Question {
    let is_its = |answer: &&Choice| {
        let written = |refusal: &Refusal| (refusal.name.clone(), refusal.block.clone());
        answer.outcome.refusals().map(written).eq(refusals.iter().map(|refusal| written(refusal)))
    };
    let told = told(answers.find(is_its), refusals, mode);
    let mut more = before.more.clone();
    if !more.ends_with(&told) {
        more.extend(told);
    }
    Question {
        more,
        offer: before.offer.clone(),
        max_tokens: Some(tokens),
        tells_by_bound: false,
        stream: false,
    }
}

/// Returns the turn of the model that made these calls, and the errors, in the channel that it used. `answer` is the one that
/// holds all of these refused calls and no others.
fn told(answer: Option<&Choice>, refusals: &[&Refusal], mode: Mode) -> Vec<String> {
    let native = in_native_channel(answer, refusals).filter(|_| mode == Mode::Native);
    native.unwrap_or_else(|| in_text(answer, refusals))
}

/// Writes the refused calls as calls, each answered by its error. None if one of them is not JSON: no server takes that in a
/// history.
fn in_native_channel(answer: Option<&Choice>, refusals: &[&Refusal]) -> Option<Vec<String>> {
    let is_sendable = |r: &&Refusal| {
        let is_object = || serde_json::from_str::<callwright::value::Map>(&r.block).is_ok();
        is_native(r) && r.name.as_deref().is_some_and(|name| !name.is_empty()) && is_object()
    };
    if refusals.is_empty() || !refusals.iter().all(is_sendable) {
        return None;
    }
    let id = |n: usize, r: &Refusal| r.id.clone().unwrap_or_else(|| format!("call_refused_{n}"));
    let calls: Vec<callwright::value::Value> = refusals
        .iter()
        .enumerate()
        .map(|(n, r)| {
            let function = json!({"name": r.name, "arguments": r.block});
            json!({"id": id(n, r), "type": "function", "function": function})
        })
        .collect();
    let text = answer.map(|answer| answer.outcome.text.as_str()).filter(|text| !text.is_empty());
    let mut messages = vec![json!({"role": "assistant", "content": text, "tool_calls": calls}).to_string()];
    messages.extend(refusals.iter().enumerate().map(|(n, r)| {
        let content = r.feedback().tool_result();
        json!({"role": "tool", "tool_call_id": id(n, r), "content": content}).to_string()
    }));
    Some(messages)
}

/// Writes the refused calls as text, and their errors in the words of the user. The errors count the calls that the model sees:
/// all of its answer, or the refused ones.
fn in_text(answer: Option<&Choice>, refusals: &[&Refusal]) -> Vec<String> {
    let whole = answer.filter(|_| !refusals.iter().any(|refusal| is_native(refusal)));
    let (said, verdicts) = match whole {
        Some(answer) => (answer.raw.clone(), answer.outcome.verdicts.clone()),
        None => {
            let text = answer.map(|answer| answer.outcome.text.clone());
            let said = text.into_iter().chain(refusals.iter().map(|r| written(r)));
            let said: Vec<String> = said.filter(|text| !text.trim().is_empty()).collect();
            let numbered = (1..)
                .zip(refusals)
                .map(|(number, refusal)| Verdict::Refused(Refusal { number, ..Refusal::clone(refusal) }));
            (said.join("\n"), numbered.collect())
        }
    };
    let error = calls_or_error(Outcome { verdicts, ..Outcome::default() }).1;
    let mut messages = vec![json!({"role": "assistant", "content": spoken(&said)}).to_string()];
    messages.extend(error.map(|e| json!({"role": "user", "content": e.user_message()}).to_string()));
    messages
}

/// A refused call as text. The arguments of a native one say nothing without its name.
fn written(refusal: &Refusal) -> String {
    match &refusal.name {
        Some(name) if is_native(refusal) => format!("{name} {}", refusal.block).trim_end().to_owned(),
        _ => refusal.block.clone(),
    }
}

/// Returns the words for a turn of the model: servers refuse a turn without words.
fn spoken(said: &str) -> &str {
    if said.trim().is_empty() { "…" } else { said }
}

/// Returns a native call as the model wrote it, if its arguments are a whole JSON object and only its schema speaks against them.
/// `{"content": "x"}` of a tool that requires a path as well.
pub(crate) fn as_written(refusal: &Refusal) -> Option<Acceptance> {
    let arguments = refusal.block.trim();
    let is_object = strict(arguments).is_ok_and(|tree| tree.root(arguments).kind() == Kind::Object);
    let is_misfit = matches!(refusal.reason, Reason::Invalid(_)) && is_native(refusal) && is_object;
    let name = refusal.name.clone().filter(|_| is_misfit)?;
    Some(Acceptance {
        id: refusal.id.clone(),
        name,
        arguments: arguments.to_owned(),
        dialect: refusal.dialect.clone(),
        span: refusal.span,
        repairs: Vec::new(),
        renamed_from: None,
        coercions: Vec::new(),
        beside_prose: None,
        open_end: false,
        unchecked: true,
        unsure: false,
        is_apart: false,
    })
}

/// Returns a note about a call that goes out so.
pub(crate) fn unchecked_live(refusal: &Refusal) -> String {
    let name = refusal.name.as_deref().unwrap_or_default();
    format!("unchecked-live: a call of {name} went out as it was written: {}", refusal.feedback().message)
}

fn is_native(refusal: &Refusal) -> bool {
    refusal.dialect == NATIVE
}

/// Returns the words for the client's user about calls that could not be made right.
pub(crate) fn sentence<'r>(refusals: impl Iterator<Item = &'r Refusal>) -> String {
    let lines: Vec<String> = refusals
        .map(|refusal| {
            let what = match &refusal.name {
                Some(name) => format!("A call of the tool {name}"),
                None => String::from("A tool call"),
            };
            match &refusal.reason {
                Reason::Truncated(_) | Reason::OpenEnd(_) => {
                    format!("⚠️ {what} was cut off before it was complete. It was not run.")
                }
                _ => {
                    let feedback = refusal.feedback();
                    let why = match &feedback.json_error {
                        Some(error) => format!("its arguments are no JSON ({error})"),
                        None => feedback.message,
                    };
                    format!("⚠️ {what} was not run: {why}{}.", meant(refusal))
                }
            }
        })
        .collect();
    lines.join("\n")
}

/// Names the tools of several namespaces that a name without its own may mean.
fn meant(refusal: &Refusal) -> String {
    let (Some(name), Reason::UnknownTool { declared, .. }) = (&refusal.name, &refusal.reason) else {
        return String::new();
    };
    let is_end = |tool: &&String| {
        let namespace = tool.strip_suffix(name.as_str());
        namespace.is_some_and(|namespace| namespace.ends_with(|c: char| !c.is_alphanumeric()))
    };
    let tools: Vec<&str> = declared.iter().filter(is_end).map(String::as_str).collect();
    if tools.len() < 2 { String::new() } else { format!(" (it may be {})", tools.join(" or ")) }
}

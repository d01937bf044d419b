//! Measures the gain of repair on a model: each question goes to it twice, once past Callwright and once through it.
//!
//! Past it means as a client without Callwright would ask: the same request, native tools, and an answer counts by its
//! `tool_calls` as they came. Through it means the answer that `callwright serve` gives a client. One function judges both
//! answers: each has a call, of the tool that was asked for, and each call fits its schema, without any repair.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use callwright::{Context, NativeCall, Policy, Refusal};
use callwright_gateway::Secrets;
use callwright_json::{Tree, Value, quote, strict};
use callwright_relay::capability::Strict;
use callwright_relay::{Observer, Owner, Relay, Reply, Request, Surface, TurnRecord, Usage};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::JoinSet;

use super::question::{Question, questions};
use super::shown::{Gain, Noted, Outcome};
use crate::args::GainArgs;
use crate::config::{Config, Env};
use crate::discover;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;
use crate::view;

/// The tokens of a question and its tool, about: they are told before anything is sent.
const TOKENS: usize = 250;

pub(crate) fn run(args: &GainArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let config = Config::load(args.asked.flags(), &env)?;
    let asked = questions(args.questions.as_deref(), args.count.map(|count| count.get().into()))?;
    let gain = on_runtime(measured(args, config, &env, asked))?;
    let mut out = io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", view::json(&gain))?,
        false => write!(out, "{}", harmless(&gain.table()))?,
    }
    Ok(())
}

async fn measured(
    args: &GainArgs,
    mut config: Config,
    env: Env<'_>,
    questions: Vec<Question>,
) -> Result<Gain, Failure> {
    // Held until all has been asked: it may be the built-in server.
    let chosen = discover::upstream(&mut config, env).await?;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    let model = match &args.model {
        Some(model) => model.clone(),
        None if chosen.as_ref().is_some_and(discover::Chosen::is_built_in) => String::from("built-in"),
        None => discover::model(&config, env).await?,
    };
    let there = config.survey(env)?.route(&model).into_iter().next();
    let Some((upstream, name)) = there else {
        return Err(Failure::Config(format!("no upstream is configured to serve {model}")));
    };
    let place = config.settings.upstreams.iter().find(|one| one.name == upstream);
    let url = place.map_or("", |one| one.base_url.as_str());
    let count = questions.len();
    writeln!(
        io::stderr(),
        "callwright: {count} questions go to {} at {}, each without Callwright and with it: {} requests and some {} tokens \
         of prompts, and what is asked again",
        harmless(&model),
        harmless(url),
        2 * count,
        2 * count * TOKENS
    )?;
    if !is_on_this_machine(url) && !args.yes {
        let why = format!("{url} is not on this machine, and may cost money: --yes asks it");
        return Err(Failure::Config(why));
    }
    let notes = Arc::new(Notes::default());
    let (_, relay) = config.parts(&env, &Secrets::default())?;
    let relay = Relay::new(relay, env, notes.clone()).map_err(|error| Failure::Config(error.to_string()))?;
    let asker = Arc::new(Asker { relay, model: model.clone(), name, most: args.max_tokens });
    let outcomes = outcomes(&asker, questions, usize::from(args.parallel.get())).await?;
    let mut noted = notes.0.lock().unwrap_or_else(PoisonError::into_inner);
    let outcomes = outcomes.into_iter().enumerate().map(|(n, outcome)| {
        let noted = noted.remove(&n.to_string()).unwrap_or_default();
        Outcome { noted, ..outcome }
    });
    Ok(Gain::of(model, outcomes))
}

/// Asks all questions, `parallel` at the same time, and draws how far it is.
async fn outcomes(
    asker: &Arc<Asker>,
    questions: Vec<Question>,
    parallel: usize,
) -> Result<Vec<Outcome>, Failure> {
    let bar = match io::stderr().is_terminal() {
        true => ProgressBar::new(questions.len() as u64),
        false => ProgressBar::hidden(),
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}") {
        bar.set_style(style);
    }
    let mut outcomes: Vec<Option<Outcome>> = questions.iter().map(|_| None).collect();
    let mut waiting = questions.into_iter().enumerate();
    let mut asking = JoinSet::new();
    loop {
        while asking.len() < parallel
            && let Some((n, question)) = waiting.next()
        {
            let asker = Arc::clone(asker);
            asking.spawn(async move { (n, asker.outcome(n, &question).await) });
        }
        let Some(done) = asking.join_next().await else { break };
        let (n, outcome) =
            done.map_err(|error| Failure::Config(format!("a question was not asked: {error}")))?;
        outcomes[n] = Some(outcome);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(outcomes.into_iter().flatten().collect())
}

/// Returns whether the host of `url` is this machine.
fn is_on_this_machine(url: &str) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The results of the requests that went through the relay, by their ids.
#[derive(Default)]
struct Notes(Mutex<HashMap<String, Noted>>);

impl Observer for Notes {
    fn ended(&self, turn: TurnRecord) {
        let noted = Noted {
            is_repaired: 0 < turn.n_repaired(),
            is_retried: turn.corrections().next().is_some(),
            kept_strict: {
                let is_asked = turn.attempts.iter().any(|attempt| attempt.strict != Strict::None);
                is_asked.then(|| turn.attempts.iter().all(|attempt| attempt.strict_broken == 0))
            },
            is_escalated: turn.escalated.is_some(),
            tokens: turn.usage(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(turn.id, noted);
    }
}

/// Asks one model.
struct Asker {
    relay: Arc<Relay>,
    model: String,
    /// Its name at the upstream.
    name: String,
    most: u32,
}

impl Asker {
    async fn outcome(&self, n: usize, question: &Question) -> Outcome {
        let (why_without, tokens_without) = self.past(question).await;
        let request = Request {
            id: n.to_string(),
            body: self.body(question, &self.model, "max_tokens"),
            policy: None,
            wants_report: false,
            headers: HeaderMap::new(),
            owner: Owner::default(),
            surface: Surface::Chat,
            gemini: None,
        };
        let (status, text) = whole(self.relay.chat(request).await).await;
        Outcome {
            about: question.about().to_owned(),
            why_without,
            tokens_without,
            why_with: defect(status, &text, question).err(),
            noted: Noted::default(),
        }
    }

    /// Why the answer that comes past the relay is not right, if it is not, and its tokens.
    async fn past(&self, question: &Question) -> (Option<String>, Usage) {
        let mut answer = self.pass(question, "max_tokens").await;
        // Some take the bound by its newer name alone, which clients of theirs know.
        if answer.0 == StatusCode::BAD_REQUEST && answer.1.contains("max_completion_tokens") {
            answer = self.pass(question, "max_completion_tokens").await;
        }
        let (status, text) = answer;
        (defect(status, &text, question).err(), tokens(&text))
    }

    async fn pass(&self, question: &Question, bound: &str) -> (StatusCode, String) {
        let body = self.body(question, &self.name, bound);
        let reply = self.relay.pass(Method::POST, "/chat/completions", body, &HeaderMap::new()).await;
        whole(reply).await
    }

    fn body(&self, question: &Question, model: &str, bound: &str) -> Bytes {
        let Question { messages, tools, .. } = question;
        let (model, most) = (quote(model), self.most);
        Bytes::from(format!(
            r#"{{"model":{model},"messages":{messages},"tools":{tools},"temperature":0,"{bound}":{most}}}"#
        ))
    }
}

/// The whole of an answer. A text that breaks off is not an answer.
async fn whole(reply: Reply) -> (StatusCode, String) {
    match reply.body.collect().await {
        Ok(body) => (reply.status, String::from_utf8_lossy(&body.to_bytes()).into_owned()),
        Err(_) => (StatusCode::BAD_GATEWAY, String::new()),
    }
}

/// Checks that this is an answer whose calls are right as they stand.
///
/// # Errors
/// Why it is not, in a word or two.
fn defect(status: StatusCode, answer: &str, question: &Question) -> Result<(), String> {
    if !status.is_success() {
        return Err(format!("status {}", status.as_u16()));
    }
    let tree: Tree = strict(answer).map_err(|_| String::from("no JSON"))?;
    let message =
        tree.root(answer).get("choices").and_then(|choices| choices.elements().next()?.get("message"));
    let calls = message.and_then(|message| message.get("tool_calls")).into_iter().flat_map(Value::elements);
    let calls: Vec<[String; 2]> = calls
        .map(|call| {
            let function = call.get("function");
            ["name", "arguments"].map(|member| {
                function.and_then(|function| function.get(member)?.as_str()).unwrap_or_default().into_owned()
            })
        })
        .collect();
    if calls.is_empty() {
        return Err(String::from("no call"));
    }
    if let Some(tool) = &question.tool
        && calls.iter().any(|[name, _]| name != tool && question.tool_set.get(name).is_some())
    {
        return Err(String::from("another tool"));
    }
    let native = calls.iter().map(|[name, arguments]| NativeCall { id: None, name, arguments });
    let context = Context { native: true, policy: Policy::Strict, ..Context::default() };
    let outcome = callwright::parse(&question.tool_set, "", &native.collect::<Vec<_>>(), &context);
    let refused = outcome.refusals().next().map(|Refusal { reason, .. }| reason.code().to_owned());
    refused.map_or(Ok(()), Err)
}

/// The tokens that an answer says it took.
fn tokens(answer: &str) -> Usage {
    let Ok(tree) = strict(answer) else { return Usage::default() };
    let usage = tree.root(answer).get("usage");
    let count = |member: &str| usage.and_then(|usage| usage.get(member)?.raw().parse().ok()).unwrap_or(0);
    Usage { prompt: count("prompt_tokens"), completion: count("completion_tokens"), ..Usage::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_unasked() {
        for (url, is) in [
            ("http://127.0.0.1:8080/v1", true),
            ("http://localhost/v1", true),
            ("http://[::1]:1234/v1", true),
            ("http://192.168.0.7:8080/v1", false),
            ("https://openrouter.ai/api/v1", false),
            ("http://localhost.example/v1", false),
            ("", false),
        ] {
            assert_eq!(is_on_this_machine(url), is, "{url}");
        }
    }
}

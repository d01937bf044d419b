//! The law of the ladder, over generated answers: each further question carries what was wrong with the calls that are still
//! wrong, each once, numbered as the model sees them.

use std::collections::BTreeSet;

use callwright::Policy;
use callwright::json;
use callwright::value::Value;
use callwright_relay::Client;
use callwright_relay::config::{Constrain, LadderConfig, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_replay::{Recorded, Replay, Script};

/// Turns on each seed and in each way of asking. `CALLWRIGHT_LAWS` multiplies it.
const TURNS: u64 = 24;
/// The first is for work, nothing is tuned on the second.
const SEEDS: [u64; 2] = [0x5eed, 0xc0ffee];

/// The tools, each with its only argument, a text.
const TOOLS: [(&str, &str); 2] = [("get_weather", "city"), ("run_code", "code")];

struct Random(u64);

impl Random {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// A call as a model writes it.
#[derive(Clone, Debug)]
struct Call {
    name: String,
    arguments: String,
    is_right: bool,
}

impl Call {
    /// The `n`th call of a turn: what is wrong with it, if anything, holds its number, so that no two are alike.
    fn any(n: usize, random: &mut Random) -> Call {
        let (name, key) = TOOLS[random.below(TOOLS.len())];
        let word = format!("word{n}x");
        let (name, arguments, is_right) = match random.below(8) {
            0..3 => (name, format!("{{\"{key}\": \"{word}\"}}"), true),
            3 => (name, format!("{{\"other\": \"{word}\"}}"), false),
            4 => (name, format!("{{\"{key}\": [\"{word}\"]}}"), false),
            5 => (name, format!("{{\"{key}\": , \"{word}\"}}"), false),
            6 => (name, format!("{{\"{key}\": \"{word} and \"{word}\" \"{key}\": 1}}"), false),
            _ => ("fetch_page", format!("{{\"url\": \"{word}\"}}"), false),
        };
        Call { name: name.to_owned(), arguments, is_right }
    }

    /// What tells it from all others.
    fn word(&self) -> &str {
        let at = self.arguments.find("word").unwrap();
        let end = self.arguments[at..].find('x').unwrap();
        &self.arguments[at..=at + end]
    }

    fn as_text(&self) -> String {
        format!(
            "<tool_call>\n{{\"name\": \"{}\", \"arguments\": {}}}\n</tool_call>",
            self.name, self.arguments
        )
    }
}

/// The answers of a turn. A model that is asked again often makes a call that it has made.
fn answers(random: &mut Random) -> Vec<Vec<Call>> {
    let mut n_calls = 0;
    let mut made: Vec<Call> = Vec::new();
    let mut answers = Vec::new();
    for n in 0..5 {
        let n_of_answer = if n == 0 { 1 + random.below(3) } else { random.below(3) };
        let mut answer: Vec<Call> = Vec::new();
        for _ in 0..n_of_answer {
            let again = 0 < n && random.below(2) == 0;
            let call = match again {
                true => made[random.below(made.len())].clone(),
                false => Call::any(n_calls, random),
            };
            if answer.iter().all(|other| other.word() != call.word()) {
                n_calls += 1;
                answer.push(call);
            }
        }
        made.extend(answer.clone());
        answers.push(answer);
    }
    answers
}

/// The questions of the turn in which a model gives these answers, each with its messages behind the client's.
fn questions(answers: &[Vec<Call>], mode: Mode, policy: Policy, beside: &str) -> Vec<Vec<Value>> {
    let said = |calls: &Vec<Call>| match mode {
        Mode::Native => {
            let native = |call: &Call| json!({"name": call.name, "arguments": call.arguments});
            json!({"text": beside, "tool_calls": calls.iter().map(native).collect::<Vec<_>>()})
        }
        Mode::Prompt => {
            let written: Vec<String> = calls.iter().map(Call::as_text).collect();
            json!({"text": format!("{beside}\n{}", written.join("\n"))})
        }
    };
    let script: Script = json!({"answer": answers.iter().map(said).collect::<Vec<_>>()}).to().unwrap();
    let replay = Replay::start(script).unwrap();
    let mut upstream = UpstreamConfig::new("replay", &replay.base_url());
    upstream.constrain = Some(Constrain::None);
    upstream.retries = 0;
    let mut model = ModelConfig::new("m");
    model.mode = Some(mode);
    let ladder = LadderConfig { reasks: 2, give_up_after: 9, ..LadderConfig::default() };
    let config = RelayConfig {
        upstreams: vec![upstream],
        models: vec![model],
        policy,
        ladder,
        ..RelayConfig::default()
    };
    let client = Client::new(config, &|_| None).unwrap();
    let tool = |(name, key): (&str, &str)| {
        let parameters =
            json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let request = json!({
        "model": "m", "messages": [{"role": "user", "content": "Go."}],
        "tools": TOOLS.map(tool).to_vec(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(client.chat(&request)).unwrap();
    let asked = replay.requests();
    let bodies = asked.iter().filter(|asked| asked.path.ends_with("/chat/completions")).map(Recorded::json);
    let bodies: Vec<Value> = bodies.collect();
    let n_first = bodies[0]["messages"].as_array().unwrap().len();
    bodies.iter().map(|body| body["messages"].as_array().unwrap()[n_first..].to_vec()).collect()
}

/// The words of calls in a text, in order.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (at, _) in text.match_indices("word") {
        // Not the sentences about them: "answer in words".
        if !text[at + 4..].starts_with(|next: char| next.is_ascii_digit()) {
            continue;
        }
        let word = &text[at..=at + text[at..].find('x').unwrap()];
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Checks the messages of one further question, after these answers.
fn check(more: &[Value], before: &[Vec<Call>]) {
    let wrong: BTreeSet<&str> =
        before.iter().flatten().filter(|call| !call.is_right).map(Call::word).collect();
    let groups: Vec<&[Value]> = more.chunk_by(|_, next| next["role"] != "assistant").collect();
    assert!(!groups.is_empty());
    let mut told = BTreeSet::new();
    for group in &groups {
        let (turn, errors) = group.split_first().unwrap();
        assert_eq!(turn["role"], "assistant");
        assert!(!errors.is_empty(), "a turn without an answer");
        assert!(errors.iter().all(|error| !error["content"].as_str().unwrap().trim().is_empty()));
        assert!(told.insert(json!(group.to_vec()).to_string()), "told twice");
        let Some(calls) = turn["tool_calls"].as_array() else {
            let said = turn["content"].as_str().unwrap();
            assert!(!said.trim().is_empty(), "a turn without words");
            let [error] = errors else { panic!("{} errors", errors.len()) };
            let error = error["content"].as_str().unwrap();
            let seen = words(said);
            // Each error is numbered as the call stands in the turn.
            let numbers: Vec<(usize, &str)> = error
                .split("Tool call ")
                .skip(1)
                .map(|part| {
                    let (number, rest) = part.split_once(':').unwrap();
                    (number.parse().unwrap(), words(rest)[0])
                })
                .collect();
            assert!(!numbers.is_empty(), "no error");
            for (number, word) in &numbers {
                assert_eq!(seen.get(number - 1), Some(word), "a wrong number");
                assert!(wrong.contains(word), "{word} is right");
            }
            let each: BTreeSet<&str> = numbers.iter().map(|(_, word)| *word).collect();
            assert_eq!(each.len(), numbers.len(), "an error twice");
            continue;
        };
        assert_eq!(calls.len(), errors.len());
        for (call, error) in calls.iter().zip(errors) {
            assert_eq!((&error["role"], &error["tool_call_id"]), (&json!("tool"), &call["id"]));
            assert!(!call["function"]["name"].as_str().unwrap().is_empty());
            assert!(error["content"].as_str().unwrap().contains("error"));
            let word = words(call["function"]["arguments"].as_str().unwrap())[0];
            assert!(wrong.contains(word), "{word} is right");
        }
    }
    let last = json!(groups.last().unwrap().to_vec()).to_string();
    assert!(words(&last).iter().any(|word| wrong.contains(word)), "what was wrong is not said");
}

#[test]
fn each_further_question_says_what_is_wrong() {
    let times: f64 = std::env::var("CALLWRIGHT_LAWS").map_or(1.0, |times| times.parse().unwrap());
    let turns = ((TURNS as f64 * times) as u64).max(1);
    let mut n_questions = 0;
    for seed in SEEDS {
        let mut random = Random(seed);
        for _ in 0..turns {
            let answers = answers(&mut random);
            let beside = ["", "I will."][random.below(2)];
            for mode in [Mode::Native, Mode::Prompt] {
                for policy in [Policy::Auto, Policy::Feedback] {
                    let asked = questions(&answers, mode, policy, beside);
                    for (n, more) in asked.iter().enumerate().skip(1) {
                        n_questions += 1;
                        let caught = std::panic::catch_unwind(|| check(more, &answers[..n]));
                        if caught.is_err() {
                            let said = json!(more.to_vec());
                            panic!("{mode:?} {policy:?}, question {n}, after {:#?}\n{said:#}", &answers[..n]);
                        }
                    }
                }
            }
        }
    }
    assert!(TURNS < n_questions, "{n_questions} questions");
}

//! Laws of the machine, over random runs: whatever happens, in whatever order, each call has one result, the
//! conversation can be sent, and there is an end.

use callwright::Policy;
use callwright_agent::run::{
    Account, Call, End, Ended, Machine, ModelTurn, Next, Part, Settings, Stop, Wrong, flaws,
};
use callwright_agent::{Beside, Decision, Effect, Repaired, ToolError, ToolResult, Why};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// What happens next, as far as chance has a say in it.
#[derive(Clone, Debug)]
struct Happening {
    answer: ModelTurn,
    decisions: Vec<u8>,
    results: Vec<u8>,
    /// The user cancels after so many results.
    cancels: Option<u8>,
    /// More is said after an end.
    says: bool,
}

fn call() -> impl Strategy<Value = Part> {
    let effect = prop_oneof![Just(Effect::Read), Just(Effect::Write), Just(Effect::Destructive)];
    let ids = prop_oneof![Just(String::new()), Just("call_1".to_owned()), "[a-c]"];
    (ids, "[fg]", effect, prop::bool::weighted(0.1), any::<bool>()).prop_map(
        |(id, name, effect, ends_run, is_text)| {
            Part::Call(Call {
                id,
                name,
                arguments: "{}".into(),
                compared: String::new(),
                repaired: Repaired::Exact,
                beside: Beside::Apart,
                effect,
                idempotent: false,
                ends_run,
                is_text,
                note: is_text.then(|| "Note: send strict JSON".into()),
                renamed_from: None,
                repairs: Vec::new(),
            })
        },
    )
}

fn wrong() -> impl Strategy<Value = Part> {
    let blocks = prop_oneof![Just("{\"a\": 1}"), Just("{\"a\": "), Just(""), Just("[]")];
    let id = prop::option::of("[a-c]");
    (id, prop::option::of("[fg]"), blocks, any::<bool>()).prop_map(|(id, name, block, is_native)| {
        Part::Wrong(Wrong {
            id,
            name,
            block: block.into(),
            markup: if is_native { String::new() } else { format!("<call>{block}") },
            code: "unreadable".into(),
            error: "Tool call 1: Invalid JSON".into(),
            message: "Extra data".into(),
            result: r#"{"error": "Invalid JSON"}"#.into(),
        })
    })
}

fn answer() -> impl Strategy<Value = ModelTurn> {
    let part = prop_oneof![3 => call(), 1 => wrong()];
    let text = prop_oneof![Just(""), Just("I call.")];
    let errors = prop::collection::vec(prop::collection::vec("[fg] (unreadable|truncated)", 1..3), 0..2);
    (prop::collection::vec(part, 0..5), text, prop::bool::weighted(0.2), errors).prop_map(
        |(parts, text, is_cut, errors)| {
            let is_wrong = |part: &Part| matches!(part, Part::Wrong(wrong) if !wrong.is_native());
            let user_message = parts.iter().any(is_wrong).then(|| "⚠️ Tool Call Error".to_owned());
            let has_wrong = parts.iter().any(|part| matches!(part, Part::Wrong(_)));
            ModelTurn {
                shown: Vec::new(),
                text: text.into(),
                raw: format!("{text}<call>"),
                parts,
                is_cut,
                errors: if has_wrong { errors } else { Vec::new() },
                user_message,
                finish_reason: None,
                spent: Account {
                    prompt_tokens: 10,
                    completion_tokens: 10,
                    requests: 1,
                    ..Account::default()
                },
            }
        },
    )
}

fn happening() -> impl Strategy<Value = Happening> {
    let bytes = || prop::collection::vec(any::<u8>(), 8);
    (answer(), bytes(), bytes(), prop::option::weighted(0.05, 0_u8..4), any::<bool>()).prop_map(
        |(answer, decisions, results, cancels, says)| Happening { answer, decisions, results, cancels, says },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    let policy =
        prop_oneof![Just(Policy::Auto), Just(Policy::Heal), Just(Policy::Feedback), Just(Policy::Strict)];
    (policy, any::<bool>(), prop::option::of(1_u32..6), prop::option::of(10_usize..400)).prop_map(
        |(policy, notes, max_turns, context_tokens)| Settings {
            system: notes.then(|| "Be brief.".into()),
            policy,
            notes,
            stop: Stop { max_turns, ..Stop::default() },
            context_tokens,
        },
    )
}

/// One thing that the machine was told.
enum Told<'a> {
    Said,
    Answered(&'a ModelTurn),
    Approved(String),
    Finished(String, ToolResult),
    Cancelled,
}

fn tell(machine: &mut Machine, told: &Told<'_>) {
    match told {
        Told::Said => drop(machine.say("Go on.")),
        Told::Answered(answer) => drop(machine.answered((*answer).clone())),
        Told::Approved(id) => machine.approved(id, true),
        Told::Finished(id, result) => machine.finished(id, result),
        Told::Cancelled => machine.cancel(),
    }
}

proptest! {
    #![proptest_config(Config { cases: 400, rng_seed: RngSeed::Fixed(6), failure_persistence: None, ..Config::default() })]

    #[test]
    fn each_call_has_one_result_and_there_is_an_end(
        settings in settings(),
        happenings in prop::collection::vec(happening(), 1..12),
    ) {
        let mut machine = Machine::new(settings.clone());
        machine.say("Go on.");
        let mut journal = vec![Told::Said];
        for Happening { answer, decisions, results, cancels, says } in &happenings {
            let (mut decisions, mut results) = (decisions.iter().cycle(), results.iter().cycle());
            let mut n_results = 0;
            // Each way round either answers a call or leaves the loop.
            for _ in 0..64 {
                prop_assert_eq!(flaws(machine.messages()), []);
                match machine.next() {
                    Next::CallModel(question) => {
                        prop_assert_eq!(flaws(&question.messages), []);
                        break;
                    }
                    Next::Done(ended) => {
                        prop_assert!(!ended.sentence.trim().is_empty());
                        break;
                    }
                    Next::Ask(calls) => for (call, _) in calls {
                        if decisions.next().is_some_and(|byte| byte % 2 == 0) {
                            journal.push(Told::Approved(call.id.clone()));
                            machine.approved(&call.id, true);
                        } else {
                            machine.approved(&call.id, false);
                            let denied = ToolError::new("not run: the user did not allow it. Do not try again; say what you would need it for");
                            journal.push(Told::Finished(call.id, denied.into()));
                        }
                    },
                    Next::CallTools(calls) => {
                        prop_assert!(!calls.is_empty());
                        let reads = calls.iter().all(|call| call.effect == Effect::Read);
                        prop_assert!(reads || calls.len() == 1, "what writes runs alone");
                        let is_cut = machine.working_on().is_some_and(|answer| answer.is_cut);
                        prop_assert!(reads || !is_cut, "what writes does not run where the answer was cut");
                        for call in calls {
                            if cancels.is_some_and(|after| after <= n_results) {
                                journal.push(Told::Cancelled);
                                machine.cancel();
                                break;
                            }
                            n_results += 1;
                            let result = match results.next().is_some_and(|byte| byte % 4 == 0) {
                                true => ToolResult::Error(ToolError::new("it did not work")),
                                false => ToolResult::Text("done".into()),
                            };
                            machine.finished(&call.id, &result);
                            // A second result counts for nothing.
                            machine.finished(&call.id, &ToolResult::Text("twice".into()));
                            journal.push(Told::Finished(call.id, result));
                        }
                    }
                }
            }
            match machine.next() {
                Next::Done(_) if !says => break,
                Next::Done(_) => {
                    journal.push(Told::Said);
                    machine.say("Go on.");
                }
                Next::CallModel(_) => {}
                other => prop_assert!(false, "it stands still at {:?}", other),
            }
            journal.push(Told::Answered(answer));
            machine.answered(answer.clone());
            for (call, byte) in machine.undecided().iter().zip(&mut decisions) {
                let decision = match byte % 5 {
                    0 => Decision::Ask(Why::Destroys),
                    1 => Decision::Refuse(Why::Denied),
                    _ => Decision::Run,
                };
                machine.decided(&call.id, decision);
                if let Decision::Refuse(why) = decision {
                    let refused = ToolError::new(format!("not run: {why}"));
                    journal.push(Told::Finished(call.id.clone(), refused.into()));
                }
            }
        }
        let texts = machine.messages().iter().map(ToString::to_string).collect::<String>();
        prop_assert!(!texts.contains("twice"));
        // The same happenings make the same conversation, and a copy by way of JSON is no other machine.
        let mut again = Machine::new(settings);
        journal.iter().for_each(|told| tell(&mut again, told));
        prop_assert_eq!(again.messages(), machine.messages());
        let copy: Machine = serde_json::from_str(&serde_json::to_string(&machine).unwrap()).unwrap();
        prop_assert_eq!(&copy, &machine);
    }
}

/// An answer of one call.
fn calls(name: &str, arguments: &str) -> ModelTurn {
    let call = Call {
        id: String::new(),
        name: name.into(),
        arguments: arguments.into(),
        compared: arguments.into(),
        repaired: Repaired::Exact,
        beside: Beside::Apart,
        effect: Effect::Write,
        idempotent: true,
        ends_run: false,
        is_text: false,
        note: None,
        renamed_from: None,
        repairs: Vec::new(),
    };
    ModelTurn { parts: vec![Part::Call(call)], ..ModelTurn::default() }
}

/// Lets the model make a call, which comes to this. Returns what the model is told by the user next; an end by its sentence.
fn turn(machine: &mut Machine, name: &str, arguments: &str, result: &str) -> Result<Option<String>, Ended> {
    let answer = machine.answered(calls(name, arguments));
    let id = answer.calls().next().unwrap().id.clone();
    machine.decided(&id, Decision::Run);
    machine.finished(&id, &ToolResult::Text(result.into()));
    assert_eq!(flaws(machine.messages()), []);
    match machine.next() {
        Next::Done(ended) => Err(ended),
        Next::CallModel(question) => {
            let last = question.messages.last().unwrap();
            Ok((last["role"] == "user").then(|| last["content"].as_str().unwrap().to_owned()))
        }
        other => panic!("{other:?}"),
    }
}

fn begun() -> Machine {
    let mut machine = Machine::new(Settings::default());
    machine.say("Begin.");
    machine
}

#[test]
fn a_model_that_repeats_a_call_which_succeeds_is_told_and_then_stopped() {
    let mut machine = begun();
    let write = |machine: &mut Machine| turn(machine, "fsWrite", r#"{"path": "a"}"#, "written");
    assert_eq!(write(&mut machine), Ok(None));
    assert_eq!(write(&mut machine), Ok(None));
    let told = write(&mut machine).unwrap().unwrap();
    assert!(told.starts_with("You have made this call 3 times now (fsWrite)"), "{told}");
    let ended = write(&mut machine).unwrap_err();
    assert_eq!(ended.end, End::GaveUp);
    assert!(ended.sentence.contains("the same call of fsWrite 4 times"), "{}", ended.sentence);
    // More can be said, and then it begins to count anew.
    machine.say("Go on.");
    assert_eq!(write(&mut machine), Ok(None));
}

#[test]
fn what_comes_between_or_to_something_else_is_no_repetition() {
    // Whoever does something else when told goes on.
    let mut machine = begun();
    for _ in 0..5 {
        for told in [false, false, true] {
            assert_eq!(turn(&mut machine, "fsRead", "{}", "text").unwrap().is_some(), told);
        }
        assert_eq!(turn(&mut machine, "fsWrite", "{}", "written"), Ok(None));
    }
    // A job that is asked whether it is done.
    let mut machine = begun();
    for seconds in 0..20 {
        assert_eq!(turn(&mut machine, "look", "{}", &format!("running for {seconds} s")), Ok(None));
    }
    // Other arguments.
    let mut machine = begun();
    for line in 0..20 {
        assert_eq!(turn(&mut machine, "fsRead", &format!("{{\"start_line\": {line}}}"), "text"), Ok(None));
    }
}

//! The form of reports, which programs depend on.

use callwright::{
    Acceptance, Coercion, Context, HealReport, Healed, NativeCall, Outcome, Reason, Refusal, Report, ToolSet,
    Verdict, Violation,
};
use callwright_json::{Diagnostic, Problem, Repair, RepairKind, Span};

fn edit(kind: RepairKind, start: usize, end: usize, put: &str) -> Repair {
    Repair { kind, at: Span::new(start, end), put: put.to_owned().into() }
}

fn call(arguments: &str) -> Acceptance {
    Acceptance {
        id: None,
        name: "f".into(),
        arguments: arguments.into(),
        dialect: "json_bare".into(),
        span: Span::new(0, 9),
        repairs: Vec::new(),
        renamed_from: None,
        coercions: Vec::new(),
        beside_prose: None,
        unsure: false,
        is_apart: false,
        open_end: false,
        unchecked: false,
    }
}

fn refusal(block: &str, reason: Reason) -> Refusal {
    Refusal {
        id: Some("c2".into()),
        name: Some("f".into()),
        dialect: "json_fence".into(),
        number: 2,
        span: Span::new(4, 9),
        block: block.into(),
        reason,
    }
}

fn report(verdicts: Vec<Verdict>, text: &str, native: &[NativeCall<'_>]) -> callwright::value::Value {
    let outcome = Outcome { verdicts, text: "Hi".into(), reasoning: "Hm".into(), ..Outcome::default() };
    callwright::value::Value::of(&Report::of(&outcome, text, native)).unwrap()
}

#[test]
fn a_healed_call() {
    let mut made = call("{\"n\": 1.50,\n\"m\": 5}");
    made.repairs = vec![edit(RepairKind::DropCloser, 7, 8, ""), edit(RepairKind::DropCloser, 8, 9, "")];
    made.coercions = vec![Coercion { pointer: "/m".into(), from: "\"5\"".into(), to: "5".into() }];
    made.renamed_from = Some("F".into());
    let outcome = Outcome { verdicts: vec![Verdict::Accepted(made)], ..Outcome::default() };
    let report = serde_json::to_string(&Report::of(&outcome, "{\"n\":1}}}", &[])).unwrap();
    assert_eq!(
        report,
        "{\"version\":2,\"calls\":[{\"number\":1,\"id\":null,\"name\":\"f\",\
         \"arguments\":{\"n\": 1.50, \"m\": 5},\
         \"dialect\":\"json_bare\",\"class\":\"R2\",\"span\":[0,9],\"repairs\":[\
         {\"kind\":\"drop-closer\",\"class\":\"R2\",\"at\":[7,8],\"before\":\"}\",\"put\":\"\"},\
         {\"kind\":\"drop-closer\",\"class\":\"R2\",\"at\":[8,9],\"before\":\"}\",\"put\":\"\"}],\
         \"coercions\":[{\"pointer\":\"/m\",\"from\":\"\\\"5\\\"\",\"to\":\"5\"}],\"renamed_from\":\"F\",\"beside_prose\":null,\"unsure\":false,\"open_end\":false,\"unchecked\":false}],\
         \"refusals\":[],\"shown\":[],\"text\":\"\",\"reasoning\":\"\",\"repairs\":[\
         {\"call\":1,\"kind\":\"drop-closer\",\"class\":\"R2\",\"at\":[7,8],\"before\":\"}\",\"put\":\"\"},\
         {\"call\":1,\"kind\":\"drop-closer\",\"class\":\"R2\",\"at\":[8,9],\"before\":\"}\",\"put\":\"\"}],\
         \"repair_counts\":{\"drop-closer\":2}}"
    );
}

#[test]
fn repairs_of_native_calls_are_places_in_their_arguments() {
    let mut native = call("{}");
    native.dialect = "native".into();
    native.repairs = vec![edit(RepairKind::AddCloser, 1, 1, "}"), edit(RepairKind::DropProse, 1, 4, "")];
    let mut written = call("{}");
    written.repairs = vec![edit(RepairKind::DropProse, 0, 4, "")];
    let natives = [NativeCall { id: None, name: "f", arguments: "{abc" }];
    // In a stream, calls in the text may come before native ones.
    let turned = vec![Verdict::Accepted(written.clone()), Verdict::Accepted(native.clone())];
    assert_eq!(report(turned, "Wxyz{}", &natives)["calls"][1]["repairs"][1]["before"], "abc");
    let report = report(vec![Verdict::Accepted(native), Verdict::Accepted(written)], "Wxyz{}", &natives);
    assert_eq!(report["calls"][0]["repairs"][1]["before"], "abc");
    assert_eq!(report["calls"][1]["repairs"][0]["before"], "Wxyz");
    assert_eq!(report["repair_counts"], callwright::json!({"add-closer": 1, "drop-prose": 2}));
    let calls: Vec<u64> =
        report["repairs"].as_array().unwrap().iter().filter_map(|repair| repair["call"].as_u64()).collect();
    assert_eq!(calls, [1, 1, 2]);
}

#[test]
fn a_refused_call() {
    let diagnostic = Diagnostic { problem: Problem::SeveralValues, at: Span::new(9, 10) };
    let refused = refusal("{\n \"a\":1}}", Reason::Unreadable(vec![diagnostic]));
    let report = report(vec![Verdict::Refused(refused)], "", &[]);
    assert_eq!(
        report,
        callwright::json!({
            "version": 2, "calls": [], "shown": [], "text": "Hi", "reasoning": "Hm", "repairs": [], "repair_counts": {},
            "refusals": [{
                "number": 2, "id": "c2", "name": "f", "dialect": "json_fence", "span": [4, 9],
                "block": "{\n \"a\":1}}", "code": "unreadable", "message": "Extra data",
                "position": {"at": [9, 10], "offset": 9, "line": 2, "column": 8},
                "hints": ["You have 1 extra closing brace }"],
                "fix": {"text": "{\n \"a\":1}", "certain": true},
                "diagnostics": [{"problem": "several-values", "at": [9, 10]}],
                "readings": [], "violations": [], "nearest": [],
            }],
        })
    );
}

/// What may be shown as well as made is a call with a flag, or a part of the text with its place; whoever asked the model
/// about it reads the same answer once more, and loses nothing of it.
#[test]
fn what_is_unsure_or_shown_is_told() {
    let tools =
        r#"[{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]"#;
    let tools = ToolSet::from_json(tools).unwrap();
    let call = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
    let text = format!("Like this:\n\n{call}\n\nThat was it.");
    let read = |context: &Context<'_>| {
        let outcome = callwright::parse(&tools, &text, &[], context);
        (callwright::value::Value::of(&Report::of(&outcome, &text, &[])).unwrap(), outcome.confirmation())
    };
    let (report, question) = read(&Context { asked: Some("mistral_json"), ..Context::default() });
    assert_eq!(report["calls"][0]["unsure"], true);
    assert_eq!(report["calls"][0]["beside_prose"], "between");
    assert_eq!(report["shown"], callwright::json!([]));
    let question = question.unwrap();
    assert!(question.contains("tool f") && !question.contains('{'), "{question}");
    let quiet = Context { asked: Some("mistral_json"), unsure_is_text: true, ..Context::default() };
    for context in [quiet, Context { native: true, ..Context::default() }] {
        let (report, question) = read(&context);
        let span = [12, 12 + call.len()];
        assert_eq!(report["calls"], callwright::json!([]));
        assert_eq!(report["text"], text.as_str());
        let message = "it may be made as well as shown";
        assert_eq!(
            report["shown"],
            callwright::json!([
                {"name": "f", "dialect": "hermes", "span": span, "by": "unsure", "message": message}
            ])
        );
        assert!(question.is_some_and(|question| question.contains("tool f")));
    }
    let (report, question) = read(&Context { asked: Some("hermes"), ..Context::default() });
    assert_eq!((report["calls"][0]["unsure"].as_bool(), question), (Some(false), None));
}

#[test]
fn each_reason_shows_what_it_knows() {
    let why = |reason| report(vec![Verdict::Refused(refusal("{}", reason))], "", &[])["refusals"][0].clone();
    let unknown = why(Reason::UnknownTool { nearest: vec!["g".into()], declared: vec!["g".into()] });
    assert_eq!((&unknown["code"], &unknown["nearest"]), (&"unknown-tool".into(), &callwright::json!(["g"])));
    let ambiguous = why(Reason::Ambiguous { readings: vec!["1".into(), "2".into()] });
    assert_eq!(ambiguous["readings"], callwright::json!(["1", "2"]));
    let violation = Violation { pointer: "/a".into(), keyword: "type", message: "a must be a string".into() };
    let invalid = why(Reason::Invalid(vec![violation]));
    assert_eq!(
        invalid["violations"],
        callwright::json!([{"pointer": "/a", "keyword": "type", "message": "a must be a string"}])
    );
}

#[test]
fn healed_and_unhealed_texts() {
    let healed = Healed {
        text: "{\"a\":1}".into(),
        tree: callwright_json::strict("{\"a\":1}").unwrap(),
        repairs: vec![edit(RepairKind::AddCloser, 6, 6, "}")],
        coercions: Vec::new(),
        unchecked: false,
        open_end: true,
    };
    assert_eq!(
        callwright::value::Value::of(&HealReport::of(&Ok(healed), "{\"a\":1")).unwrap(),
        callwright::json!({
            "version": 2, "output_text": "{\"a\":1}", "class": "R2", "coercions": [], "unchecked": false,
            "repairs": [{"kind": "add-closer", "class": "R2", "at": [6, 6], "before": "", "put": "}"}],
        })
    );
    let readings = Err(Reason::Ambiguous { readings: vec!["1".into(), "2".into()] });
    assert_eq!(
        callwright::value::Value::of(&HealReport::of(&readings, "1 2")).unwrap(),
        callwright::json!({
            "version": 2, "error": "The JSON can be read in 2 ways", "code": "ambiguous", "position": null,
            "hints": ["Send it again as strict JSON, the way you mean it"], "fix": null,
            "diagnostics": [], "readings": ["1", "2"], "violations": [],
        })
    );
}

/// A list of thousands of broken values is told by its calls, and not once more.
#[test]
fn repairs_of_all_calls_are_listed_up_to_a_bound_and_counted_without_one() {
    let many = |n: usize| {
        let mut made = call("{}");
        made.repairs = (0..n).map(|at| edit(RepairKind::DropComma, at, at + 1, "")).collect();
        Verdict::Accepted(made)
    };
    let report = report(vec![many(200), many(200)], &",".repeat(200), &[]);
    assert_eq!(report["repairs"].as_array().unwrap().len(), 256);
    assert_eq!(
        (&report["repairs"][255]["call"], &report["repairs"][255]["before"]),
        (&2.into(), &",".into())
    );
    assert_eq!(report["repair_counts"]["drop-comma"], 400);
    assert_eq!(report["calls"][1]["repairs"].as_array().unwrap().len(), 200);
}

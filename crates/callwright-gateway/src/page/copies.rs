//! Copies: the question as a curl command, the answer as a case of the corpus.

use std::fmt::Write;

use callwright::value::Value;
use callwright_relay::Surface;
use callwright_store::rfc3339;
use maud::{Markup, html};

use super::opened::Opened;
use super::report::{list, number, pretty, span, text};
use super::spans::is_native;
use super::visible::visible;

/// A command that asks the same again. The key is not in it: it is not kept anywhere.
pub(crate) fn curl(opened: &Opened) -> Markup {
    html! {
        @match opened.body.as_deref() {
            None => p.empty { "The question was not kept." },
            Some(body) => (asked_again(&opened.node.payload, body)),
        }
    }
}

fn asked_again(payload: &Value, body: &str) -> Markup {
    let named = |name: &str| Surface::ALL.into_iter().find(|api| api.name() == name);
    let api = named(text(payload, "api")).unwrap_or_default();
    let kind = text(payload, "kind");
    // What was translated for its upstream is kept as it was before: the gateway takes it.
    let asks_upstream = kind.is_empty() || kind == api.name();
    let whom = if asks_upstream { "UPSTREAM" } else { "GATEWAY" };
    html! {
        @if !asks_upstream {
            p { "The upstream was asked in another API, " code { (visible(kind)) } ": this asks the gateway." }
        }
        p.label { "Set " code { (whom) "_URL" } " and " code { (whom) "_KEY" } ": keys are kept nowhere." }
        pre data-copy="" { (curl_text(body, api, whom)) }
    }
}

/// The cases of a model's turn.
pub(crate) fn cases(opened: &Opened) -> Markup {
    let payload = &opened.node.payload;
    let from = format!(
        "recorded: {}, {}",
        text(payload, "model"),
        rfc3339(opened.node.at).get(..10).unwrap_or_default()
    );
    html! {
        @for choice in list(payload, "choices") {
            @if !text(choice, "raw").is_empty() {
                p.label { "For " code { "corpus/" } }
                pre data-copy="" { (text_case(choice, opened.request(), &from)) }
            }
            @for (n, native) in (1u64..).zip(list(choice, "native")) {
                p.label { "For " code { "corpus/json/" } ", the arguments of native call " (n) }
                pre data-copy="" { (native_case(choice, native, n, opened.request(), &from)) }
            }
        }
        @if list(payload, "choices").next().is_none() { p.empty { "No answer, so no case." } }
    }
}

fn curl_text(body: &str, api: Surface, whom: &str) -> String {
    let mut end = String::from("END");
    while body.lines().any(|line| line == end) {
        end.push('_');
    }
    let key = match api {
        Surface::Messages => format!("-H \"x-api-key: ${whom}_KEY\" -H 'anthropic-version: 2023-06-01'"),
        Surface::Chat | Surface::Responses | Surface::Ollama | Surface::Gemini => {
            format!("-H \"authorization: Bearer ${whom}_KEY\"")
        }
    };
    format!(
        "curl -sS \"${whom}_URL{}\" \\\n  -H 'content-type: application/json' \\\n  {key} \\\n  \
         --data-binary @- <<'{end}'\n{}\n{end}",
        api.path(),
        escaped(body)
    )
}

/// JSON in which whatever is not shown as it is stands as an escape. Outside of strings only a CR can be meant.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\r' {
            out.push(' ');
        } else if visible(c.encode_utf8(&mut [0; 4])).chars().eq([c]) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if visible(c.encode_utf8(&mut [0; 4])).chars().eq([c]) => out.push(c),
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

fn tools(request: &str) -> String {
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let tools = request.get("tools").or(request.get("functions"));
    tools.map_or_else(|| String::from("[]"), ToString::to_string)
}

/// `a-name` of what comes to pass.
fn name_of(report: &Value) -> String {
    // Reports of the first version had them under another name.
    let repairs = report.get("repair_counts").or(report.get("repairs")).and_then(Value::as_object);
    let first = repairs.and_then(|repairs| repairs.keys().next().cloned());
    let refusal = list(report, "refusals").next().map(|refusal| text(refusal, "code").to_owned());
    refusal.or(first).unwrap_or_else(|| String::from("as-it-came"))
}

fn strings(key: &str, values: &[String]) -> String {
    match values {
        [] => String::new(),
        values => format!("{key} = [{}]\n", values.iter().map(|v| quoted(v)).collect::<Vec<_>>().join(", ")),
    }
}

fn text_case(choice: &Value, request: &str, from: &str) -> String {
    let report = choice.get("report").unwrap_or(&Value::Null);
    let in_text = |member: &'static str| list(report, member).filter(|call| !is_native(call));
    let arguments = |call: &Value| call.get("arguments").map(ToString::to_string).unwrap_or_default();
    let calls: Vec<String> =
        in_text("calls").map(|call| format!("{} {}", text(call, "name"), arguments(call))).collect();
    let name = |refusal: &Value| match text(refusal, "name") {
        "" => String::from("-"),
        name => name.to_owned(),
    };
    let refused: Vec<String> =
        in_text("refusals").map(|refusal| format!("{} {}", name(refusal), text(refusal, "code"))).collect();
    let mut case = format!("[[case]]\nname = {}\nfrom = {}\n", quoted(&name_of(report)), quoted(from));
    let _ = writeln!(case, "tools = {}", quoted(&tools(request)));
    let _ = writeln!(case, "text = {}", quoted(text(choice, "raw")));
    case += &strings("calls", &calls);
    case += &strings("refused", &refused);
    for (key, member) in [("says", "text"), ("thinks", "reasoning")] {
        if !text(report, member).is_empty() {
            let _ = writeln!(case, "{key} = {}", quoted(text(report, member)));
        }
    }
    let first = in_text("calls").chain(in_text("refusals")).min_by_key(|call| number(call, "number"));
    if let Some(first) = first {
        let _ = writeln!(case, "dialect = {}", quoted(text(first, "dialect")));
    }
    case
}

fn native_case(choice: &Value, native: &Value, n: u64, request: &str, from: &str) -> String {
    let report = choice.get("report").unwrap_or(&Value::Null);
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let definition = super::report::definition(&request, text(native, "name"));
    let schema = definition.as_ref().and_then(|definition| definition.get("parameters"));
    let mut case = String::new();
    if let Some(schema) = schema {
        let _ = writeln!(case, "[schemas]\ntool = {}\n", quoted(&pretty(schema)));
    }
    let _ = writeln!(case, "[[case]]\nname = {}\nfrom = {}", quoted(&name_of(report)), quoted(from));
    let _ = writeln!(case, "input = {}", quoted(text(native, "arguments")));
    if schema.is_some() {
        case += "schema = \"tool\"\n";
    }
    if !text(choice, "finish_reason").is_empty() {
        let _ = writeln!(case, "finish_reason = {}", quoted(text(choice, "finish_reason")));
    }
    let is_it = |call: &&Value| number(call, "number") == n;
    if let Some(call) = list(report, "calls").find(is_it) {
        let place = |repair: &Value| span(repair.get("at")).map(|at| format!("{}..{}", at.start, at.end));
        let repairs = list(call, "repairs")
            .map(|repair| format!("{} {}", text(repair, "kind"), place(repair).unwrap_or_default()));
        let coercions = list(call, "coercions").map(|coercion| {
            format!("{} {} → {}", text(coercion, "pointer"), text(coercion, "from"), text(coercion, "to"))
        });
        let arguments = call.get("arguments").map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(case, "\n[case.expect]\ntext = {}", quoted(&arguments));
        case += &strings("repairs", &repairs.collect::<Vec<_>>());
        case += &strings("coercions", &coercions.collect::<Vec<_>>());
    } else if let Some(refusal) = list(report, "refusals").find(is_it) {
        let _ = writeln!(case, "\n[case.expect]\nrefused = {}", quoted(text(refusal, "code")));
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    const HOSTILE: &str = "a\"b\\c\n\t\r\u{7f}\u{0}\u{202e}é🙂'''";

    #[test]
    fn a_case_is_toml_and_holds_the_text_to_the_byte() {
        let request =
            json!({"tools": [{"function": {"name": "f", "parameters": {"type": "object"}}}]}).to_string();
        let choice = json!({"raw": HOSTILE, "report": {
            "calls": [{"number": 1, "name": "f", "dialect": "hermes", "arguments": {"a": HOSTILE}}],
            "refusals": [{"number": 2, "dialect": "hermes", "code": "truncated"}],
            "text": "says", "reasoning": "", "repairs": [], "repair_counts": {},
        }});
        let case: toml::Table = text_case(&choice, &request, "recorded: m").parse().unwrap();
        let case = &case["case"][0];
        assert_eq!(case["text"].as_str(), Some(HOSTILE));
        assert_eq!(case["refused"][0].as_str(), Some("- truncated"));
        assert_eq!(case["dialect"].as_str(), Some("hermes"));
        let call = case["calls"][0].as_str().unwrap().strip_prefix("f ").unwrap();
        assert_eq!(serde_json::from_str::<Value>(call).unwrap()["a"], HOSTILE);
        let tools: Value = serde_json::from_str(case["tools"].as_str().unwrap()).unwrap();
        assert_eq!(tools[0]["function"]["name"], "f");

        let native = json!({"name": "f", "arguments": HOSTILE});
        let choice = json!({"report": {"calls": [{"number": 1, "dialect": "native", "arguments": {}, "repairs": [
            {"kind": "drop-comma", "at": [1, 2]}]}], "refusals": []}});
        let case: toml::Table = native_case(&choice, &native, 1, &request, "recorded: m").parse().unwrap();
        assert_eq!(case["case"][0]["input"].as_str(), Some(HOSTILE));
        assert_eq!(case["case"][0]["expect"]["repairs"][0].as_str(), Some("drop-comma 1..2"));
        assert!(case["schemas"]["tool"].as_str().unwrap().contains("object"));
    }

    #[test]
    fn curl_sends_the_same_json_and_no_key() {
        let body = format!("{{\"a\":\r\n{}}}\nEND", json!("\u{202e}'$(x)`🙂\u{e0041}"));
        let command = curl_text(&body, Surface::Chat, "UPSTREAM");
        assert!(command.contains("<<'END_'") && command.ends_with("\nEND_"), "{command}");
        assert!(!command.contains('\u{202e}'));
        let sent = command.split("<<'END_'\n").nth(1).unwrap().strip_suffix("\nEND\nEND_").unwrap();
        let value: Value = serde_json::from_str(sent).unwrap();
        assert_eq!(value["a"], "\u{202e}'$(x)`🙂\u{e0041}");
    }

    #[test]
    fn curl_asks_in_the_api_of_the_question() {
        for (api, kind, url, key) in [
            ("chat", "chat", "$UPSTREAM_URL/chat/completions", "authorization: Bearer $UPSTREAM_KEY"),
            ("messages", "messages", "$UPSTREAM_URL/messages", "x-api-key: $UPSTREAM_KEY"),
            ("responses", "responses", "$UPSTREAM_URL/responses", "authorization: Bearer $UPSTREAM_KEY"),
            ("chat", "ollama", "$GATEWAY_URL/chat/completions", "authorization: Bearer $GATEWAY_KEY"),
            // What was written before it said so.
            ("", "", "$UPSTREAM_URL/chat/completions", "authorization: Bearer $UPSTREAM_KEY"),
        ] {
            let page = asked_again(&json!({ "api": api, "kind": kind }), "{}").into_string();
            assert!(page.contains(url) && page.contains(key), "{page}");
        }
    }
}

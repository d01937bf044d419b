//! Conversations to train a model on: what was asked, and the calls that should have been the answer.

use std::collections::BTreeMap;

use callwright::json;
use callwright::value::Value;
use callwright_store::{Node, NodeKind, Session, Turn};

/// One for each turn whose calls were repaired or retried, and went out whole.
pub(crate) fn examples(session: &Session) -> Vec<Value> {
    let is_right = |turn: &&Turn| matches!(turn.outcome.as_str(), "repaired" | "retried");
    session.turns.iter().filter(is_right).filter_map(|turn| example(session, turn.id)).collect()
}

/// `{"messages": […, {"role": "assistant", "tool_calls": […]}], "tools": […]}`: the form that OpenAI's fine-tuning and
/// the common trainers take.
fn example(session: &Session, turn: i64) -> Option<Value> {
    let nodes = || session.nodes.iter().filter(|node| node.turn == Some(turn));
    let asked = nodes().find(|node| node.body.is_some() && node.kind != NodeKind::ModelTurn)?;
    let mut request: Value = serde_json::from_str(&session.body(asked)?).ok()?;
    let calls = calls(nodes())?;
    let mut messages = request.get_mut("messages")?.take();
    let text =
        nodes().find_map(|node| node.payload.pointer("/choices/0/report/text")).and_then(Value::as_str);
    let content = text.map(str::trim).filter(|text| !text.is_empty());
    messages.as_array_mut()?.push(json!({"role": "assistant", "content": content, "tool_calls": calls}));
    let mut example = json!({"messages": messages});
    if let Some(tools) = request.get_mut("tools") {
        example["tools"] = tools.take();
    }
    Some(example)
}

/// The calls of an answer, each with an id of its own; none where one of those that the model meant is not among them: half
/// an answer teaches to give half an answer.
fn calls<'s>(nodes: impl Iterator<Item = &'s Node>) -> Option<Vec<Value>> {
    let mut made: Vec<&Node> = Vec::new();
    let mut meant: BTreeMap<i64, usize> = BTreeMap::new();
    for node in nodes.filter(|node| number(node, "choice") == 0) {
        let is_made = match node.kind {
            NodeKind::ToolCall | NodeKind::Repaired => true,
            NodeKind::ValidationError => false,
            NodeKind::Refused => return None,
            _ => continue,
        };
        let attempt = number(node, "attempt");
        *meant.entry(attempt).or_default() += 1;
        // A model that is asked again repeats what was right.
        let is_repeated = |other: &&Node| {
            number(other, "attempt") < attempt
                && (&other.name, other.payload.get("arguments"))
                    == (&node.name, node.payload.get("arguments"))
        };
        if is_made && !made.iter().any(is_repeated) {
            made.push(node);
        }
    }
    let is_whole = meant.values().max().is_some_and(|meant| *meant <= made.len());
    let mut ids: Vec<String> = Vec::new();
    let mut call = |node: &Node| {
        let mut free = (1..).map(|number| format!("call_{number}"));
        let id =
            node.call.clone().filter(|id| !ids.contains(id)).or_else(|| free.find(|id| !ids.contains(id)))?;
        ids.push(id.clone());
        let arguments = node.payload.get("arguments")?.to_string();
        Some(json!({"id": id, "type": "function", "function": {"name": node.name, "arguments": arguments}}))
    };
    is_whole.then(|| made.into_iter().map(&mut call).collect::<Option<Vec<Value>>>()).flatten()
}

/// Returns the number of the node among the answers of its turn.
fn number(node: &Node, member: &str) -> i64 {
    node.payload.get(member).and_then(Value::as_i64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(attempt: i64, kind: NodeKind, id: Option<&str>, city: &str) -> Node {
        Node {
            id: 1,
            number: 1,
            turn: Some(1),
            kind,
            at: 0,
            version: 1,
            name: Some("get_weather".into()),
            call: id.map(str::to_owned),
            payload: json!({"attempt": attempt, "choice": 0, "arguments": {"city": city}}),
            masked: false,
            body: None,
            answer: None,
        }
    }

    fn of(nodes: &[Node]) -> Option<Vec<(String, String)>> {
        let text = |call: &Value, at: &str| call.pointer(at).and_then(Value::as_str).unwrap().to_owned();
        let calls = calls(nodes.iter())?;
        Some(calls.iter().map(|call| (text(call, "/id"), text(call, "/function/arguments"))).collect())
    }

    fn call(id: &str, city: &str) -> (String, String) {
        (id.to_owned(), json!({"city": city}).to_string())
    }

    #[test]
    fn each_call_has_an_id_of_its_own() {
        let nodes = [
            node(1, NodeKind::Repaired, Some("call_1"), "Paris"),
            node(1, NodeKind::ToolCall, Some("call_1"), "Rome"),
            node(1, NodeKind::ToolCall, None, "Rome"),
        ];
        let expected = [call("call_1", "Paris"), call("call_2", "Rome"), call("call_3", "Rome")];
        assert_eq!(of(&nodes).unwrap(), expected);
    }

    #[test]
    fn half_an_answer_is_no_example() {
        let right = node(1, NodeKind::ToolCall, Some("a"), "Paris");
        let broken = node(1, NodeKind::ValidationError, Some("b"), "");
        let repeated = node(2, NodeKind::ToolCall, Some("c"), "Paris");
        let mended = node(2, NodeKind::ToolCall, Some("d"), "Rome");
        let refused = node(2, NodeKind::Refused, Some("d"), "");
        assert_eq!(of(&[right.clone(), broken.clone(), repeated.clone()]), None);
        assert_eq!(of(&[right.clone(), broken.clone(), refused]), None);
        let whole = Some(vec![call("a", "Paris"), call("d", "Rome")]);
        assert_eq!(of(&[right.clone(), broken.clone(), mended.clone()]), whole);
        assert_eq!(of(&[right, broken, repeated, mended]), whole);
        assert_eq!(of(&[]), None);
    }
}

//! The view before a call runs: the change that it would make, and the answers that there are.

use std::fmt::Write;
use std::io;

use callwright::value::Value;
use callwright_agent::run::Approval;
use callwright_agent::{ApprovalRequest, Workspace};

use super::diff::diff;
use super::paint::Paint;

/// The answers, as they are offered.
pub(crate) const ANSWERS: &str = "[y]es, [a]lways this call, [N]o: ";

/// The reply to any other answer.
pub(crate) const NO_ANSWER: &str = "Answer y, a or n.";

/// Reads an answer. Only offered ones count: a wrong key refuses nothing.
pub(crate) fn said(line: &str) -> Option<Approval> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Approval::Once),
        "a" | "always" => Some(Approval::Always),
        // It is the one in capitals.
        "n" | "no" | "" => Some(Approval::No),
        _ => None,
    }
}

/// Shows the change that a call of a built-in tool would make, as a diff. Empty for a tool whose change cannot be told before.
pub(crate) fn preview(workspace: &Workspace, request: &ApprovalRequest, paint: Paint) -> String {
    let changed = || {
        let arguments: Value = serde_json::from_str(request.arguments()).ok()?;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let path = text("path")?;
        let now = read(workspace, path).unwrap_or_default();
        let then = match request.tool() {
            "fsWrite" => text("content")?.to_owned(),
            "fsAppend" => now.clone() + text("content")?,
            "deleteFile" => String::new(),
            _ => return None,
        };
        Some(indented(&diff(path, &now, &then, paint), 4))
    };
    changed().unwrap_or_default()
}

/// The beginning of a file of the workspace, as far as a diff of it is drawn; `None` where it is not a text.
pub(crate) fn read(workspace: &Workspace, path: &str) -> Option<String> {
    const MAX: u64 = 512 << 10;
    let mut text = String::new();
    let file = workspace.open_file(path).ok()?;
    io::Read::read_to_string(&mut io::Read::take(file, MAX), &mut text).ok()?;
    Some(text)
}

pub(crate) fn indented(text: &str, by: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:by$}{line}", "");
    }
    out
}

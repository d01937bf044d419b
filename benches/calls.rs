//! Calls that carry code: a path, and a file's content in a string.

/// What is wrong with a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Defect {
    /// Its last bracket is missing.
    Closer,
    /// A comma stands behind its last member.
    Comma,
    /// It stands in a fence, with prose around.
    Fence,
    /// Its line breaks are not escaped.
    Newlines,
    /// The quotes in its code are not escaped.
    Quotes,
}

impl Defect {
    pub(crate) const ALL: [Defect; 5] =
        [Defect::Closer, Defect::Comma, Defect::Fence, Defect::Newlines, Defect::Quotes];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Defect::Closer => "missing closer",
            Defect::Comma => "trailing comma",
            Defect::Fence => "fence and prose",
            Defect::Newlines => "raw newlines",
            Defect::Quotes => "bare quotes",
        }
    }
}

/// A call with about `size` bytes of code.
pub(crate) fn valid(size: usize) -> String {
    call(&escaped(&code(size), true, true))
}

/// The same with a defect.
pub(crate) fn broken(size: usize, defect: Defect) -> String {
    let whole = valid(size);
    let inside = whole.strip_suffix('}').unwrap_or(&whole);
    match defect {
        Defect::Closer => inside.to_owned(),
        Defect::Comma => format!("{inside},}}"),
        Defect::Fence => format!("Here is the file:\n\n```json\n{whole}\n```\nIt compiles."),
        Defect::Newlines => call(&escaped(&code(size), true, false)),
        Defect::Quotes => call(&escaped(&code(size), false, true)),
    }
}

fn call(content: &str) -> String {
    format!(r#"{{"path": "src/report.rs", "content": "{content}", "overwrite": true}}"#)
}

fn escaped(code: &str, quotes: bool, newlines: bool) -> String {
    let code = code.replace('\\', "\\\\");
    let code = if quotes { code.replace('"', "\\\"") } else { code };
    if newlines { code.replace('\n', "\\n") } else { code }
}

/// Source code of about `size` bytes: functions that differ in names and numbers.
pub(crate) fn code(size: usize) -> String {
    let mut code = String::with_capacity(size + 400);
    for n in 0.. {
        if size <= code.len() {
            break;
        }
        code.push_str(&format!(
            r#"/// Adds up the entries of group {n}, and says how many were left out.
pub fn total_{n}(entries: &[Entry], skip: Option<&str>) -> Result<u64, ReportError> {{
    let mut sum = {n};
    for entry in entries.iter().filter(|e| e.group == {n}) {{
        if skip.is_some_and(|name| name == entry.name) {{
            eprintln!("skipped {{}}", entry.name);
            continue;
        }}
        sum += entry.value.checked_mul(2).ok_or(ReportError::Overflow)?;
    }}
    Ok(sum)
}}

"#
        ));
    }
    code
}

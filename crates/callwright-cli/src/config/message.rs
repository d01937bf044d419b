//! Messages of other libraries in our words: keys rather than fields, and the name that was probably meant.

/// Rewrites the message about a value that cannot be taken: keys rather than fields, kinds rather than Rust's types, and the key that was
/// probably meant rather than all there are.
pub(super) fn in_our_words(message: &str) -> String {
    let message = on_one_line(message).replace("missing field", "missing key");
    if let Some((unknown, known)) =
        message.strip_prefix("unknown field ").and_then(|rest| rest.split_once(", expected "))
    {
        let names =
            |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let (unknown, known) = (names(unknown).concat(), names(known));
        return match meant(&unknown, known.iter().map(String::as_str)) {
            Some(meant) => format!("unknown key `{unknown}`: did you mean `{meant}`?"),
            None => format!("unknown key `{unknown}`; there are {}", known.join(", ")),
        };
    }
    let Some((given, wanted)) = message.split_once(", expected ") else { return message };
    let wanted = match wanted {
        "f64" | "f32" => "a number; times are seconds: 30.0",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        other => other,
    };
    format!("{given}, expected {wanted}")
}

/// The known name that was probably meant: at most a third of the letters differ.
pub(crate) fn meant<'k>(unknown: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.min_by_key(|name| strsim::damerau_levenshtein(name, unknown))?;
    (strsim::damerau_levenshtein(near, unknown) * 3 <= unknown.chars().count()).then_some(near)
}

/// Joins the lines of a message.
pub(super) fn on_one_line(message: &str) -> String {
    message.trim_end().replace('\n', ", ")
}

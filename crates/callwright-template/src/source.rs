//! Small changes to a template's source, for what the renderer knows in another form.

use super::names::weighed;
use super::python::LIST;

/// `source` as the renderer takes it.
///
/// - `{% generation %}` marks what a model is trained on, and prints nothing.
/// - Names are given to a function that weighs their values: see [`weighed`].
/// - Where lists grow by methods (`lines.append(x)`), each list that the template writes itself is one that can.
///
/// # Errors
/// The place of a tag whose values have no bound, and why.
pub(crate) fn adapted(source: &str) -> Result<String, (usize, &'static str)> {
    let grows = [".append(", ".extend(", ".insert(", ".pop("].iter().any(|method| source.contains(method));
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let mut rest = source;
    while let Some(at) = rest.find("{") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let close = match tag.as_bytes().get(1) {
            Some(b'%') => "%}",
            Some(b'{') => "}}",
            Some(b'#') => "#}",
            _ => {
                out.push('{');
                rest = &tag[1..];
                continue;
            }
        };
        let is_comment = close == "#}";
        let end = if is_comment { tag.find(close).map(|at| at + 2) } else { end_of(tag, close) };
        let Some(end) = end else {
            rest = tag;
            break;
        };
        let (whole, behind) = tag.split_at(end);
        rest = behind;
        let inner =
            whole.trim_start_matches(['{', '%', '-', '+', ' ']).trim_end_matches(['}', '%', '-', '+', ' ']);
        match inner {
            _ if is_comment => out.push_str(whole),
            "generation" => out.push_str(&whole.replace("generation", "if true")),
            "endgeneration" => out.push_str(&whole.replace("endgeneration", "endif")),
            _ => {
                let at = source.len() - tag.len();
                let tag = weighed(whole).map_err(|why| (at, why))?;
                match grows {
                    true => growing(&tag, &mut out),
                    false => out.push_str(&tag),
                }
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The end of the tag that `text` begins with: strings in it may hold what closes it.
fn end_of(text: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    // The maps that are open: `{{ {'a': {'b': 1}} }}`.
    let mut maps = 0_usize;
    for (at, c) in text.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == '{' => maps += 1,
            None if c == '}' && 0 < maps => maps -= 1,
            None if text[at..].starts_with(close) => return Some(at + close.len()),
            None => {}
        }
    }
    None
}

/// `{% set lines = ['a'] %}` → `{% set lines = growing_list(['a']) %}`
fn growing(tag: &str, out: &mut String) {
    // For each bracket that is open: is it a list's?
    let mut open: Vec<bool> = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    // Behind a value a bracket is a subscript.
    let mut after_value = false;
    let mut word = 0;
    for (at, c) in tag.char_indices() {
        if let Some(mark) = quote {
            out.push(c);
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == mark => (quote, after_value) = (None, true),
                _ => {}
            }
            continue;
        }
        match c {
            '[' => {
                if !after_value {
                    out.push_str(LIST);
                    out.push('(');
                }
                out.push('[');
                open.push(!after_value);
                after_value = false;
            }
            ']' => {
                out.push(']');
                if open.pop() == Some(true) {
                    out.push(')');
                }
                after_value = true;
            }
            _ => {
                out.push(c);
                match c {
                    '"' | '\'' => quote = Some(c),
                    _ if c.is_alphanumeric() || c == '_' => {
                        if !tag[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                            word = at;
                        }
                        let word = &tag[word..at + c.len_utf8()];
                        after_value =
                            !matches!(word, "in" | "if" | "else" | "elif" | "and" | "or" | "not" | "is");
                    }
                    ')' | '}' => after_value = true,
                    _ if c.is_whitespace() => {}
                    _ => after_value = false,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_grow_are_told_from_subscripts() {
        for (source, expected) in [
            (
                "{% set a = ['x', [1]] %}{{ a.append(b[0]) }}",
                "{% set a = growing_list(['x', growing_list([1])]) %}{{ a.append(b[0]) }}",
            ),
            ("{{ a[1:] + [2] }}{{ x.pop(0) }}", "{{ a[1:] + growing_list([2]) }}{{ x.pop(0) }}"),
            (
                "{% if x in ['a]', \"%}\"] %}[1]{{ m['a'][0].pop() }}",
                "{% if x in growing_list(['a]', \"%}\"]) %}[1]{{ m['a'][0].pop() }}",
            ),
            ("{% set a = [] %}", "{% set a = [] %}"),
            ("{# [ #}{x [1] {{ y.append(", "{# [ #}{x [1] {{ y.append("),
            ("{%- generation -%}a{% endgeneration %}", "{%- if true -%}a{% endif %}"),
        ] {
            let mut adapted = adapted(source).unwrap();
            for name in ["a", "b", "m", "x"] {
                adapted = adapted.replace(&format!("weighed({name})"), name);
            }
            assert_eq!(adapted, expected);
        }
    }
}

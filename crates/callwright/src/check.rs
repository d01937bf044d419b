//! The last step before a verdict: fits the arguments to the tool's schema, as they are or coerced.

use callwright_json::{Guide, Kind, Member, Tree, Value, quote, strict};
use callwright_schema::names::fold;
use callwright_schema::{Checked, Coercion, Violation};

use crate::marks::edit::is_one_slip;
use crate::shape::{self, keys};
use crate::tools::Tool;

/// Arguments that fit the schema.
pub(crate) struct Fit {
    /// The strict JSON text of the arguments.
    pub(crate) arguments: String,
    /// The conversions that made them fit.
    pub(crate) coercions: Vec<Coercion>,
    /// The check covered all of the schema, see [`Checked::is_whole`](crate::Checked::is_whole).
    pub(crate) is_whole: bool,
}

/// Fits `arguments`, the strict JSON text of an object, to the schema of `tool`.
///
/// # Errors
/// The error lists the violations that coercion without loss cannot remove.
pub(crate) fn fit(tool: &Tool, arguments: &str) -> Result<Fit, Vec<Violation>> {
    let Ok(tree) = strict(arguments) else { return Err(Vec::new()) };
    fit_value(tool, tree.root(arguments))
}

/// Fits arguments that were read already, as [`fit`] does.
pub(crate) fn fit_value(tool: &Tool, arguments: Value<'_>) -> Result<Fit, Vec<Violation>> {
    let Checked { violations, is_whole } = tool.schema().check_whole(arguments);
    if violations.is_empty() {
        return Ok(Fit { arguments: arguments.raw().to_owned(), coercions: Vec::new(), is_whole });
    }
    // `{"params": {…}}` → `{…}`, and `{"name": "f", "arguments": {…}}` in the arguments of `f`
    let wrapped =
        shape::only_member(arguments, keys::ARGUMENTS).or_else(|| shape::in_whole_call(arguments, tool));
    if let Some(inner) = wrapped
        && inner.kind() == Kind::Object
        && !shape::takes_any(tool, arguments)
    {
        return fit_value(tool, inner);
    }
    let Ok(tree) = strict(arguments.raw()) else { return Err(violations) };
    let (renamed, mut coercions) = rename(tool, arguments.raw(), &tree);
    let Ok(tree) = strict(&renamed) else { return Err(violations) };
    if !coercions.is_empty() {
        let Checked { violations, is_whole } = tool.schema().check_whole(tree.root(&renamed));
        if violations.is_empty() {
            return Ok(Fit { arguments: renamed, coercions, is_whole });
        }
    }
    let coerced = tool.schema().coerce(&renamed, &tree).ok_or(violations)?;
    coercions.extend(coerced.coercions);
    Ok(Fit { arguments: coerced.text, coercions, is_whole: coerced.is_whole })
}

/// Gives undeclared keys their declared spelling if only case and separators differ, `from` → `_from`, or one letter of a
/// required key that is missing, `contetn` → `content`. A spelling that two keys could have, or that is taken, stays.
fn rename(tool: &Tool, arguments: &str, tree: &Tree) -> (String, Vec<Coercion>) {
    let guide = tool.schema().guide();
    let root = tree.root(arguments);
    let is_declared = |key: &str| matches!(guide.member(guide.root(), key), Member::Declared(..));
    let is_missing = |name: &str| {
        let is_required = |slot: u8| guide.required(guide.root()) & 1 << slot != 0;
        let member = guide.member(guide.root(), name);
        root.get(name).is_none() && matches!(member, Member::Declared(slot, _) if is_required(slot))
    };
    // Short words resemble too many others.
    let is_slip =
        |name: &str, written: &str| is_missing(name) && 4 <= name.len() && is_one_slip(name, written);
    let is_alike = |name: &str, written: &str| fold(name) == fold(written) || is_slip(name, written);
    let mut renamed = String::with_capacity(arguments.len());
    let mut coercions = Vec::new();
    let mut done = 0;
    for (key, _) in root.members() {
        let Some(written) = key.as_str().filter(|written| !is_declared(written)) else { continue };
        let mut alike = guide.names(guide.root()).filter(|name| is_alike(name, &written));
        let (Some(declared), None) = (alike.next(), alike.next()) else { continue };
        let written_alike =
            root.members().filter(|(k, _)| k.as_str().is_some_and(|k| is_alike(declared, &k)));
        if written_alike.count() > 1 || fold(&written).is_empty() {
            continue;
        }
        let to = quote(declared);
        let span = key.span().range();
        renamed.push_str(arguments.get(done..span.start).unwrap_or(""));
        renamed.push_str(&to);
        done = span.end;
        coercions.push(Coercion { pointer: format!("/{declared}"), from: key.raw().to_owned(), to });
    }
    renamed.push_str(arguments.get(done..).unwrap_or(""));
    (renamed, coercions)
}

//! TOML.

use callwright::value::{Map, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::{Lists, below, holds_no, members, name_of};

/// Puts the members of `set` into the document that `text` is.
pub(super) fn merge(text: &str, set: &Value, lists: &Lists) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| place(text, &error))?;
    if let Some(set) = set.as_object() {
        put_members(document.as_table_mut(), set, "", lists)?;
    }
    Ok(document.to_string())
}

fn place(text: &str, error: &toml_edit::TomlError) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("{} on line {line}", error.message().trim_end().replace('\n', ", "))
}

fn put_members(table: &mut dyn TableLike, set: &Map, at: &str, lists: &Lists) -> Result<(), String> {
    for (key, value) in set {
        let at = below(at, key);
        match table.get_mut(key) {
            None => _ = table.insert(key, item(value, &at, lists)),
            Some(there) => put(there, value, &at, lists)?,
        }
    }
    Ok(())
}

fn put(there: &mut Item, value: &Value, at: &str, lists: &Lists) -> Result<(), String> {
    match (value, lists.get(at)) {
        (Value::Object(set), _) => {
            let table = there.as_table_like_mut().ok_or_else(|| holds_no(at, "table"))?;
            put_members(table, set, at, lists)
        }
        (Value::Array(elements), Some(name)) => match there {
            Item::ArrayOfTables(tables) => put_tables(tables, elements, name, at, lists),
            Item::Value(toml_edit::Value::Array(array)) => put_elements(array, elements, name, at, lists),
            Item::None | Item::Value(_) | Item::Table(_) => Err(holds_no(at, "array")),
        },
        (value, _) => {
            let Item::Value(old) = there else { return Err(holds_no(at, "single value")) };
            let is_list = matches!(old, toml_edit::Value::Array(_));
            if is_list != value.is_array() || matches!(old, toml_edit::Value::InlineTable(_)) {
                return Err(holds_no(at, if is_list { "single value" } else { "array" }));
            }
            let mut new = plain(value);
            if !is_same(old, &new) {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            Ok(())
        }
    }
}

fn put_tables(
    tables: &mut ArrayOfTables,
    elements: &[Value],
    name: &str,
    at: &str,
    lists: &Lists,
) -> Result<(), String> {
    for element in elements {
        let wanted = name_of(element, name);
        let same = tables.iter_mut().find(|table| table.get(name).and_then(Item::as_str) == wanted);
        match (same, element.as_object()) {
            (Some(table), Some(set)) => put_members(table, set, at, lists)?,
            (_, _) => tables.push(table(element, at, lists)),
        }
    }
    Ok(())
}

fn put_elements(
    array: &mut Array,
    elements: &[Value],
    name: &str,
    at: &str,
    lists: &Lists,
) -> Result<(), String> {
    for element in elements {
        let wanted = name_of(element, name);
        let is_same = |there: &toml_edit::Value| {
            let named = there.as_inline_table().and_then(|table| table.get(name));
            named.is_some() && named.and_then(toml_edit::Value::as_str) == wanted
        };
        let number = array.iter().position(is_same);
        let same = number.and_then(|number| array.get_mut(number));
        match (same.and_then(toml_edit::Value::as_inline_table_mut), element.as_object()) {
            (Some(table), Some(set)) => put_members(table, set, at, lists)?,
            (_, _) => array.push(plain(element)),
        }
    }
    Ok(())
}

/// A value with a place of its own: a table with a header, a list of such, or one on the line of its key.
fn item(of: &Value, at: &str, lists: &Lists) -> Item {
    match of {
        Value::Object(_) => Item::Table(table(of, at, lists)),
        Value::Array(elements) if lists.contains_key(at) => {
            Item::ArrayOfTables(elements.iter().map(|element| table(element, at, lists)).collect())
        }
        of => value(plain(of)),
    }
}

fn table(of: &Value, at: &str, lists: &Lists) -> Table {
    let mut table = Table::new();
    for (key, value) in members(of) {
        table.insert(key, item(value, &below(at, key), lists));
    }
    // Nothing stands between a header and the next one.
    let is_bare = table.iter().all(|(_, item)| !item.is_value());
    table.set_implicit(is_bare);
    table
}

/// A value on the line of its key.
fn plain(of: &Value) -> toml_edit::Value {
    match of {
        // TOML has no null, and no table asks for one.
        Value::Null => "".into(),
        Value::Bool(is) => (*is).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => elements.iter().map(plain).collect::<Array>().into(),
        Value::Object(_) => {
            members(of).map(|(key, value)| (key.as_str(), plain(value))).collect::<InlineTable>().into()
        }
    }
}

/// Returns whether two values are equal, however they are written.
fn is_same(old: &toml_edit::Value, new: &toml_edit::Value) -> bool {
    use toml_edit::Value as V;
    match (old, new) {
        (V::String(a), V::String(b)) => a.value() == b.value(),
        (V::Integer(a), V::Integer(b)) => a.value() == b.value(),
        (V::Boolean(a), V::Boolean(b)) => a.value() == b.value(),
        (V::Array(a), V::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (_, _) => false,
    }
}

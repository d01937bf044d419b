//! Reads the configuration file: its values, and which of the single ones it sets.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::settings::{self, Settings};
use super::{Origin, shown};
use crate::failure::Failure;
use crate::input;

/// The file's table, and the origins of what it sets.
///
/// # Errors
/// A file that cannot be read, is not TOML, or sets something that cannot be set; with its line.
pub(crate) fn read(path: &Path) -> Result<(Table, BTreeMap<&'static str, Origin>), Failure> {
    let text = input::text(path)?;
    let refused = |error: toml::de::Error| Failure::Config(sentence(path, &text, &error));
    // Read twice: only the text knows its lines, and only the table can be written over.
    toml::from_str::<Settings>(&text).map_err(refused)?;
    let table: Table = toml::from_str(&text).map_err(refused)?;
    let singles = settings::ALL.iter().map(|setting| setting.key);
    let sections = ["upstreams", "models", "keys", "dialect", "response_template", "mcp"];
    let set = singles.chain(sections).filter(|key| holds(&table, key));
    let origins = set.map(|key| (key, Origin::File)).collect();
    Ok((table, origins))
}

fn holds(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        None => table.contains_key(key),
        Some((section, key)) => matches!(table.get(section), Some(Value::Table(t)) if t.contains_key(key)),
    }
}

/// `callwright.toml, line 3: unknown key `polcy`, expected one of …`
fn sentence(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let message =
        error.message().replace("unknown field", "unknown key").replace("missing field", "missing key");
    let message = message.trim_end().replace('\n', ", ");
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            format!("{}, line {}: {message}", shown(path), before.matches('\n').count() + 1)
        }
        None => format!("{}: {message}", shown(path)),
    }
}

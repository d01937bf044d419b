//! Texts as they are kept: SQLite gets them packed, Postgres packs long ones by itself.
//!
//! A packed text is a BLOB, its length first; a TEXT is what it is. What an earlier version wrote is a TEXT, so both may
//! stand in one column.

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended, uncompressed_size};
use sqlx::any::{AnyRow, AnyTypeInfoKind};
use sqlx::{Row, ValueRef};

use crate::database::Kind;
use crate::rows::Value;

/// A shorter text has nothing in it that comes twice.
const WORTH: usize = 64;
/// No text is longer than what may wait to be written: a damaged length takes no memory.
const LONGEST: usize = 1 << 30;

/// A text as it goes into a row of this database.
pub(crate) fn pack(kind: Kind, text: String) -> Value {
    if kind == Kind::Sqlite && WORTH <= text.len() {
        let packed = compress_prepend_size(text.as_bytes());
        if packed.len() < text.len() {
            return Value::Blob(packed.into());
        }
    }
    Value::Text(text)
}

/// The text in a column; none where there is none.
///
/// # Errors
/// What stands there is no text, packed or not.
pub(crate) fn unpacked(row: &AnyRow, column: usize) -> Result<Option<String>, sqlx::Error> {
    let is_packed = row.try_get_raw(column)?.type_info().kind() == AnyTypeInfoKind::Blob;
    if !is_packed {
        return row.try_get(column);
    }
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| sqlx::Error::ColumnDecode {
        index: column.to_string(),
        source: error,
    };
    let Some(packed) = row.try_get::<Option<Vec<u8>>, _>(column)? else { return Ok(None) };
    let (length, _) = uncompressed_size(&packed).map_err(|error| failed(error.into()))?;
    if LONGEST < length {
        return Err(failed(format!("a text of {length} bytes").into()));
    }
    let text = decompress_size_prepended(&packed).map_err(|error| failed(error.into()))?;
    String::from_utf8(text).map(Some).map_err(|error| failed(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_gets_shorter_is_packed() {
        let long = "the same again, ".repeat(40);
        let Value::Blob(packed) = pack(Kind::Sqlite, long.clone()) else { panic!("it is packed") };
        assert!(packed.len() < long.len() / 4, "{}", packed.len());
        assert_eq!(decompress_size_prepended(&packed).unwrap(), long.as_bytes());
        assert!(matches!(pack(Kind::Sqlite, "short".into()), Value::Text(_)));
        assert!(matches!(pack(Kind::Postgres, long), Value::Text(_)));
    }
}

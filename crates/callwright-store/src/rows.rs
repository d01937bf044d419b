//! Rows that are written, many in one statement.

use std::sync::Arc;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe};

/// A table and the columns that rows are given for.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static str,
    /// The form of each value, `?` being its number.
    pub(crate) values: &'static [&'static str],
    /// The text behind the rows: `RETURNING id`.
    pub(crate) then: &'static str,
}

/// A value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i64),
    MaybeInt(Option<i64>),
    Text(String),
    MaybeText(Option<String>),
    Blob(Arc<[u8]>),
}

impl Value {
    /// The number of bytes that it takes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Value::Int(_) | Value::MaybeInt(_) => size_of::<i64>(),
            Value::Text(text) => text.len(),
            Value::MaybeText(text) => text.as_ref().map_or(0, String::len),
            Value::Blob(bytes) => bytes.len(),
        }
    }
}

/// So many rows go into one statement. Few sizes: statements are kept.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// Writes rows.
pub(crate) async fn insert(
    to: &mut AnyConnection,
    into: Target,
    rows: Vec<Vec<Value>>,
) -> Result<(), sqlx::Error> {
    let mut rows = rows.into_iter();
    while 0 < rows.len() {
        into.next(places(to), &mut rows).execute(&mut *to).await?;
    }
    Ok(())
}

/// Writes rows; returns what the statement returns of each.
pub(crate) async fn insert_returning(
    to: &mut AnyConnection,
    into: Target,
    rows: Vec<Vec<Value>>,
) -> Result<Vec<AnyRow>, sqlx::Error> {
    let (mut written, mut rows) = (Vec::with_capacity(rows.len()), rows.into_iter());
    while 0 < rows.len() {
        written.extend(into.next(places(to), &mut rows).fetch_all(&mut *to).await?);
    }
    Ok(written)
}

/// The names that a statement has for the places of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    /// `$1, $2, …`
    Numbered,
    /// `?, ?, …`: SQLite takes `$1` for a name, and looks for each among all of them.
    Unnamed,
}

fn places(of: &AnyConnection) -> Places {
    if of.backend_name() == "SQLite" { Places::Unnamed } else { Places::Numbered }
}

impl Target {
    /// The statement for as many of the rows as go into one.
    fn next(
        self,
        places: Places,
        rows: &mut std::vec::IntoIter<Vec<Value>>,
    ) -> Query<'static, Any, AnyArguments> {
        let left = rows.len();
        let size = SIZES.into_iter().find(|size| *size <= left).unwrap_or(1);
        let query = sqlx::query(AssertSqlSafe(self.statement(places, size)));
        rows.take(size).flatten().fold(query, |query, value| match value {
            Value::Int(number) => query.bind(number),
            Value::MaybeInt(number) => query.bind(number),
            Value::Text(text) => query.bind(text),
            Value::MaybeText(text) => query.bind(text),
            Value::Blob(bytes) => query.bind(bytes.to_vec()),
        })
    }

    fn statement(&self, places: Places, n_rows: usize) -> String {
        let Target { table, columns, values, then } = self;
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        let mut number = 0;
        for row in 0..n_rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for (n, value) in values.iter().enumerate() {
                number += 1;
                if 0 < n {
                    sql.push_str(", ");
                }
                match places {
                    Places::Numbered => sql.push_str(&value.replace('?', &format!("${number}"))),
                    Places::Unnamed => sql.push_str(value),
                }
            }
            sql.push(')');
        }
        if !then.is_empty() {
            sql.push(' ');
            sql.push_str(then);
        }
        sql
    }
}

//! The parts that bodies of one session have in common, kept once for the session.

use std::collections::HashMap;

use sqlx::{AnyConnection, Row};

use crate::body::Body;
use crate::known::{Kept, KeptBody};
use crate::rows::{Target, Value};

/// The parts of one session that are known.
#[derive(Default)]
pub(crate) struct Parts {
    known: HashMap<String, i64>,
}

impl Parts {
    /// Those that the session has.
    pub(crate) async fn of(to: &mut AnyConnection, session: i64) -> Result<Parts, sqlx::Error> {
        let rows =
            sqlx::query("SELECT hash, number FROM parts WHERE session = $1").bind(session).fetch_all(to);
        let known = rows
            .await?
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, sqlx::Error>>()?;
        Ok(Parts { known })
    }

    /// A body as it is kept, as JSON. What is new in it goes to `rows`.
    pub(crate) fn kept(&mut self, session: i64, pieces: &KeptBody, rows: &mut Vec<Vec<Value>>) -> String {
        let mut body = Body::default();
        for piece in pieces.iter() {
            match &**piece {
                Kept::Text(text) => body.push_text(text),
                Kept::Part { hash, text } => body.push_part(match self.known.get(hash) {
                    Some(number) => *number,
                    None => {
                        let number = self.known.len() as i64 + 1;
                        self.known.insert(hash.clone(), number);
                        let hash = Value::Text(hash.clone());
                        rows.push(vec![Value::Int(session), Value::Int(number), hash, text.clone()]);
                        number
                    }
                }),
            }
        }
        serde_json::to_string(&body).unwrap_or_default()
    }
}

pub(crate) const PARTS: Target =
    Target { table: "parts", columns: "session, number, hash, text", values: &["?"; 4], then: "" };

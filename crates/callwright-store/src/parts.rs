//! What bodies of one session have in common, kept once for the session.

use std::collections::HashMap;

use sqlx::{AnyConnection, Row};

use crate::body::{Body, Cut, cut};
use crate::rows::{Target, Value, insert};

/// The parts of one session that are known, and those that are new.
#[derive(Default)]
pub(crate) struct Parts {
    known: Option<HashMap<String, i64>>,
    new: Vec<(i64, String, String)>,
}

impl Parts {
    /// A body as it is kept, as JSON.
    pub(crate) async fn kept(
        &mut self,
        to: &mut AnyConnection,
        session: i64,
        text: &str,
    ) -> Result<String, sqlx::Error> {
        let cuts = cut(text);
        if self.known.is_none() && cuts.iter().any(|cut| cut.is_part) {
            let rows =
                sqlx::query("SELECT hash, number FROM parts WHERE session = $1").bind(session).fetch_all(to);
            let known = rows
                .await?
                .iter()
                .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
                .collect::<Result<_, sqlx::Error>>()?;
            self.known = Some(known);
        }
        let body = Body::of(&cuts, |n| Ok::<i64, sqlx::Error>(self.number(&cuts[n])))?;
        Ok(serde_json::to_string(&body).unwrap_or_default())
    }

    fn number(&mut self, cut: &Cut<'_>) -> i64 {
        let known = self.known.get_or_insert_default();
        let hash = cut.hash();
        if let Some(number) = known.get(&hash) {
            return *number;
        }
        let number = known.len() as i64 + 1;
        known.insert(hash.clone(), number);
        self.new.push((number, hash, cut.text.to_owned()));
        number
    }

    /// Returns how many bytes were new.
    pub(crate) async fn write(self, to: &mut AnyConnection, session: i64) -> Result<usize, sqlx::Error> {
        let bytes = self.new.iter().map(|(_, _, text)| text.len()).sum();
        let row = |(number, hash, text)| {
            vec![Value::Int(session), Value::Int(number), Value::Text(hash), Value::Text(text)]
        };
        insert(to, PARTS, self.new.into_iter().map(row).collect()).await?;
        Ok(bytes)
    }
}

const PARTS: Target =
    Target { table: "parts", columns: "session, number, hash, text", values: &["?"; 4], then: "" };

//! Lists sessions, the youngest first, page by page.
//!
//! A filter asks for something that happened in a turn; a session is listed by its youngest turn, or node, that fits.
//! Those are walked by an index from the youngest on, a bounded number at a time, however many sessions there are.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyPool, AssertSqlSafe, Row};

use crate::database::Kind;
use crate::read::{SUMMARY, summary_of};
use crate::session::Summary;
use crate::store::{Store, StoreError};
use crate::words::Question;

/// What is asked for. All of it must fit, in one turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// How the turn ended: `passed`, `healed`, `corrected`, `refused`, `breaker`, ….
    pub outcome: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// How the tools reached it: `native`, `prompt`.
    pub mode: Option<String>,
    /// The dialect of its calls.
    pub dialect: Option<String>,
    /// Something that was wrong: `truncated`, `drop-comma`, ….
    pub error: Option<String>,
    /// Words that were said, all of them; the last one may be the beginning of a word.
    pub text: Option<String>,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Summary>,
    /// Where the list goes on; none at its end.
    pub next: Option<String>,
}

/// The most sessions of a page.
const MOST: usize = 200;
/// So many turns or nodes are looked at in the first step: mostly that fills a page.
const FIRST_STEP: i64 = 200;
/// So many in a later one; each is twice the one before.
const STEP: i64 = 4000;
/// After so many steps a page ends, full or not.
const STEPS: usize = 16;

impl Filter {
    fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Without what is empty, as forms send it.
    fn given(self) -> Filter {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Filter {
            outcome: given(self.outcome),
            model: given(self.model),
            mode: given(self.mode),
            dialect: given(self.dialect),
            error: given(self.error),
            text: given(self.text),
        }
    }
}

impl Store {
    /// A page of at most `most` sessions that fit `filter`, from where `after`, the [`Page::next`] of another one,
    /// points; from the youngest on where there is none, or none that can be read.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn sessions(
        &self,
        filter: Filter,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, StoreError> {
        let (filter, most) = (filter.given(), most.clamp(1, MOST));
        let kind = self.database().kind;
        let after = after.map(str::to_owned);
        self.read(move |pool| async move {
            if filter.is_empty() {
                return youngest(&pool, after.as_deref(), most).await;
            }
            let Some(hits) = Hits::of(kind, &filter) else {
                return Ok(Page { sessions: Vec::new(), next: None });
            };
            let after = after.and_then(|after| after.strip_prefix('n')?.parse().ok());
            hits.page(&pool, after, most).await
        })
        .await
    }
}

/// The statement for a page of all sessions.
pub(crate) const YOUNGEST: &str = "SELECT s.id, s.origin, s.title, s.created, s.updated, s.outcome, s.model, s.mode, \
    s.dialect, s.turns, s.nodes, s.repairs, s.refusals, s.tokens, s.faults, s.repeated, s.key \
    FROM sessions s WHERE (s.updated, s.key) < ($1, $2) ORDER BY s.updated DESC, s.key DESC LIMIT $3";

async fn youngest(pool: &AnyPool, after: Option<&str>, most: usize) -> Result<Page, StoreError> {
    let place = |after: &str| {
        let (updated, key) = after.strip_prefix('u')?.split_once('.')?;
        Some((updated.parse().ok()?, key.parse().ok()?))
    };
    let (updated, key): (i64, i64) = after.and_then(place).unwrap_or((i64::MAX, i64::MAX));
    let rows = sqlx::query(YOUNGEST).bind(updated).bind(key).bind(most as i64 + 1).fetch_all(pool).await?;
    let mut found = rows.iter().map(summary_of).collect::<Result<Vec<_>, sqlx::Error>>()?;
    let is_more = most < found.len();
    found.truncate(most);
    let last = found.last().filter(|_| is_more);
    let next = last.map(|(summary, key)| format!("u{}.{key}", summary.updated));
    Ok(Page { sessions: found.into_iter().map(|(summary, _)| summary).collect(), next })
}

/// How what fits is found: turns, or nodes where words are asked for.
pub(crate) struct Hits {
    /// What is walked: the tables, and how rows are joined and chosen.
    walked: String,
    /// The column that is walked along.
    hit: &'static str,
    /// The same for one session, whose key is the last value.
    of_one: String,
    values: Vec<String>,
}

impl Hits {
    /// None where nothing can fit.
    pub(crate) fn of(kind: Kind, filter: &Filter) -> Option<Hits> {
        let question = match &filter.text {
            Some(text) => Some(Question::of(text)?),
            None => None,
        };
        let mut values: Vec<String> = Vec::new();
        let mut of_turn = Vec::new();
        let columns = [
            ("t.outcome", &filter.outcome),
            ("t.model", &filter.model),
            ("t.mode", &filter.mode),
            ("t.dialect", &filter.dialect),
        ];
        for (column, value) in columns {
            if let Some(value) = value {
                values.push(value.clone());
                of_turn.push(format!("{column} = ${}", values.len()));
            }
        }
        let error = filter.error.as_ref().map(|error| {
            values.push(error.clone());
            values.len()
        });
        let words = question.map(|question| {
            values.push(match kind {
                Kind::Sqlite => question.fts5(),
                Kind::Postgres => question.tsquery(),
            });
            values.len()
        });
        let has_error =
            error.map(|n| format!("EXISTS (SELECT 1 FROM faults f WHERE f.turn = t.id AND f.kind = ${n})"));
        let turn: Vec<String> = of_turn.iter().chain(&has_error).cloned().collect();
        let and = |conditions: &[String]| conditions.iter().map(|c| format!(" AND {c}")).collect::<String>();
        // SQLite goes from left to right where it is told CROSS: it cannot know how rare words are.
        let cross = if kind == Kind::Sqlite { "CROSS " } else { "" };
        let join = match turn.is_empty() {
            true => String::new(),
            false => format!(" {cross}JOIN turns t ON t.id = n.turn"),
        };
        let (walked, hit, of_one) = match (words, error) {
            (Some(n), _) => {
                let (walked, hit, has_words) = match kind {
                    Kind::Sqlite => (
                        format!(
                            "search CROSS JOIN nodes n ON n.id = search.rowid{join} WHERE search MATCH ${n}"
                        ),
                        "search.rowid",
                        format!("EXISTS (SELECT 1 FROM search WHERE search MATCH ${n} AND rowid = n.id)"),
                    ),
                    Kind::Postgres => (
                        format!(
                            "search JOIN nodes n ON n.id = search.node{join} WHERE words @@ CAST(${n} AS tsquery)"
                        ),
                        "search.node",
                        format!(
                            "EXISTS (SELECT 1 FROM search WHERE words @@ CAST(${n} AS tsquery) AND node = n.id)"
                        ),
                    ),
                };
                let of_one = format!(
                    "nodes n{join} WHERE {has_words}{} AND n.id >= $A AND n.session = $B",
                    and(&turn)
                );
                (walked + &and(&turn), hit, of_one)
            }
            (None, Some(n)) => (
                format!("faults f JOIN turns t ON t.id = f.turn WHERE f.kind = ${n}{}", and(&of_turn)),
                "f.turn",
                format!("turns t WHERE 1 = 1{} AND t.id >= $A AND t.session = $B", and(&turn)),
            ),
            (None, None) => (
                format!("turns t WHERE 1 = 1{}", and(&of_turn)),
                "t.id",
                format!("turns t WHERE 1 = 1{} AND t.id >= $A AND t.session = $B", and(&turn)),
            ),
        };
        Some(Hits { walked, hit, of_one, values })
    }

    /// The statement for one step: of each session its youngest hit below a bound.
    pub(crate) fn step(&self) -> String {
        let Hits { walked, hit, values, .. } = self;
        let session = if hit.starts_with("search") { "n.session" } else { "t.session" };
        let (below, most) = (values.len() + 1, values.len() + 2);
        format!(
            "SELECT h.session, MAX(h.hit), MIN(h.hit), COUNT(*) FROM (SELECT {session} AS session, {hit} AS hit FROM \
             {walked} AND {hit} < ${below} ORDER BY {hit} DESC LIMIT ${most}) h GROUP BY h.session ORDER BY 2 DESC"
        )
    }

    fn bound<'q>(&self, sql: String) -> Query<'q, Any, AnyArguments> {
        self.values.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| query.bind(value.clone()))
    }

    async fn page(&self, pool: &AnyPool, after: Option<i64>, most: usize) -> Result<Page, StoreError> {
        let (mut sessions, mut seen) = (Vec::new(), HashSet::new());
        let mut below = after.unwrap_or(i64::MAX);
        let steps = (0..STEPS as u32).map(|n| (FIRST_STEP << n.min(8)).min(STEP));
        for step in steps {
            let rows = self.bound(self.step()).bind(below).bind(step).fetch_all(pool).await?;
            let hits = rows.iter().map(hit_of).collect::<Result<Vec<Hit>, sqlx::Error>>()?;
            let n_walked: i64 = hits.iter().map(|hit| hit.count).sum();
            for hit in &hits {
                if sessions.len() == most {
                    // It goes on with this one.
                    return Ok(Page { sessions, next: Some(format!("n{}", hit.youngest + 1)) });
                }
                if !seen.insert(hit.session) || self.is_given(pool, hit.session, after).await? {
                    continue;
                }
                let sql = format!("SELECT {SUMMARY} FROM sessions s WHERE s.key = $1");
                let row = sqlx::query(AssertSqlSafe(sql)).bind(hit.session).fetch_optional(pool).await?;
                if let Some(row) = row {
                    sessions.push(summary_of(&row)?.0);
                }
            }
            if n_walked < step {
                return Ok(Page { sessions, next: None });
            }
            below = hits.iter().map(|hit| hit.oldest).min().unwrap_or(i64::MIN);
        }
        Ok(Page { sessions, next: Some(format!("n{below}")) })
    }

    /// Was the session on an earlier page, for a younger hit?
    async fn is_given(&self, pool: &AnyPool, session: i64, after: Option<i64>) -> Result<bool, StoreError> {
        let Some(after) = after else { return Ok(false) };
        let (a, b) = (self.values.len() + 1, self.values.len() + 2);
        let of_one = self.of_one.replace("$A", &format!("${a}")).replace("$B", &format!("${b}"));
        let query = self.bound(format!("SELECT 1 FROM {of_one} LIMIT 1")).bind(after).bind(session);
        Ok(query.fetch_optional(pool).await?.is_some())
    }
}

/// Of one session, what a step found.
struct Hit {
    session: i64,
    youngest: i64,
    oldest: i64,
    count: i64,
}

fn hit_of(row: &AnyRow) -> Result<Hit, sqlx::Error> {
    Ok(Hit {
        session: row.try_get(0)?,
        youngest: row.try_get(1)?,
        oldest: row.try_get(2)?,
        count: row.try_get(3)?,
    })
}

#[cfg(test)]
mod tests {
    use sqlx::{AnyConnection, Connection};

    use super::*;
    use crate::config::StoreConfig;

    /// How SQLite goes about a statement: a line for each step.
    fn plan(connection: &mut AnyConnection, sql: &str, values: &[String]) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let explain = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let query = values.iter().fold(explain, |query, value| query.bind(value.clone()));
            let rows = query.bind(i64::MAX).bind(50_i64).bind(50_i64).fetch_all(connection).await;
            let detail = |row: &AnyRow| row.try_get::<String, _>(3).unwrap();
            rows.unwrap().iter().map(detail).collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn no_list_looks_at_everything() {
        let folder = std::env::temp_dir().join(format!("callwright-plans-{}", std::process::id()));
        let store = Store::open(StoreConfig::at(folder.join("callwright.db"))).unwrap();
        let url = format!("sqlite://{}", folder.join("callwright.db").display());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut connection = runtime.block_on(AnyConnection::connect(&url)).unwrap();

        let list = plan(&mut connection, &YOUNGEST.replace("$3", "$2"), &[]);
        assert!(list.contains("USING INDEX sessions_updated (updated<?)"), "{list}");
        let given = |text: &str| Some(text.to_owned());
        let filters = [
            (Filter { outcome: given("healed"), ..Filter::default() }, "turns_outcome (outcome=? AND id<?)"),
            (Filter { model: given("m"), ..Filter::default() }, "turns_model (model=? AND id<?)"),
            (Filter { mode: given("prompt"), ..Filter::default() }, "turns_mode (mode=? AND id<?)"),
            (Filter { dialect: given("hermes"), ..Filter::default() }, "turns_dialect (dialect=? AND id<?)"),
            (Filter { error: given("shape"), ..Filter::default() }, "faults_kind (kind=? AND turn<?)"),
            (
                Filter { error: given("shape"), model: given("m"), ..Filter::default() },
                "faults_kind (kind=? AND turn<?)",
            ),
            (Filter { text: given("word"), ..Filter::default() }, "SCAN search VIRTUAL TABLE INDEX"),
            (
                Filter { text: given("word"), outcome: given("healed"), ..Filter::default() },
                "SCAN search VIRTUAL TABLE INDEX",
            ),
        ];
        for (filter, index) in filters {
            let hits = Hits::of(Kind::Sqlite, &filter).unwrap();
            let plan = plan(&mut connection, &hits.step(), &hits.values);
            assert!(plan.contains(index), "{filter:?}\n{plan}");
            // Neither is a whole table looked at, nor is all that fits sorted before the youngest are taken.
            let walked: Vec<&str> = plan.lines().filter(|line| line.starts_with("SCAN")).collect();
            assert!(walked.iter().all(|line| *line == "SCAN h" || line.contains("VIRTUAL TABLE")), "{plan}");
            let n_sorts = plan.matches("TEMP B-TREE").count();
            assert!(n_sorts <= 2, "for grouping, and for the order of at most {STEP} groups: {plan}");
        }
        drop(connection);
        drop(store);
        let _ = std::fs::remove_dir_all(folder);
    }
}

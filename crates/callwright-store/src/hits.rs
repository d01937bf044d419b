//! Finds turns, or nodes where words are asked for, walking by number from the youngest on.
//!
//! Each statement looks at a bounded range of numbers, and there by an index at nothing but what fits, in whatever
//! combination and however rare that is. Ranges grow while little is found.

use std::ops::Range;

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyPool, AssertSqlSafe, Row};

use crate::database::Kind;
use crate::filter::Filter;
use crate::owner::Reach;
use crate::profile;
use crate::ready::marks_of;
use crate::words::{Question, SLICE, slice_of};

/// The way to find hits.
pub(crate) enum Hits {
    /// Turns by what they have in common with others.
    Turns(Turns),
    /// Nodes by their words, and by marks for what their turns are like.
    Words(Kind, Question),
}

/// The condition on turns.
pub(crate) struct Turns {
    /// ` AND p.outcome = $1`, ….
    profile: String,
    /// ` AND x.owner = …`, where not all are seen.
    own: String,
    /// The number of the value that is the kind of a fault.
    fault: Option<usize>,
    values: Vec<String>,
}

/// The youngest hit of a session in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) session: i64,
    pub(crate) number: i64,
}

/// The hits of a range.
pub(crate) struct Found {
    /// Of each session the youngest hit, the youngest first.
    pub(crate) hits: Vec<Hit>,
    /// From here on downwards nothing has been looked at.
    pub(crate) below: i64,
    /// There is no more in the range.
    pub(crate) is_all: bool,
}

/// So many turns, or slices of nodes, are a first range: mostly that fills a page.
const FIRST_TURNS: i64 = 1024;
const FIRST_SLICES: i64 = 1;
/// And so many the widest. Each is four times the one before.
const MOST_TURNS: i64 = 1 << 20;
const MOST_SLICES: i64 = 64;
/// So many nodes are taken at most from one range, the youngest.
const FIRST_NODES: i64 = 512;
const MOST_NODES: i64 = 8192;

/// The size of the next range.
#[derive(Clone, Copy, Default)]
pub(crate) struct Width {
    range: u32,
    nodes: u32,
}

impl Width {
    /// More of what there was too much of in the range before, or else a wider range.
    pub(crate) fn after(self, found: &Found) -> Width {
        let Width { range, nodes } = self;
        match found.is_all {
            true => Width { range: (range + 1).min(16), nodes },
            false => Width { range, nodes: (nodes + 1).min(16) },
        }
    }

    fn turns(self) -> i64 {
        (FIRST_TURNS << (2 * self.range)).min(MOST_TURNS)
    }

    fn slices(self) -> i64 {
        (FIRST_SLICES << (2 * self.range)).min(MOST_SLICES)
    }

    fn nodes(self) -> i64 {
        (FIRST_NODES << (2 * self.nodes)).min(MOST_NODES)
    }
}

impl Hits {
    /// None where nothing can fit.
    pub(crate) fn of(kind: Kind, filter: &Filter, reach: &Reach) -> Option<Hits> {
        let Filter { error, text, .. } = filter;
        let names = profile::asked(filter);
        if let Some(text) = text {
            let marks = marks_of(names, error.as_deref().into_iter(), reach.own());
            return Some(Hits::Words(kind, Question::of(text, marks)?));
        }
        let (mut profile, mut values) = (String::new(), Vec::new());
        for (column, name) in profile::COLUMNS.into_iter().zip(names) {
            if let Some(name) = name {
                values.push(name.to_owned());
                profile.push_str(&format!(" AND p.{column} = ${}", values.len()));
            }
        }
        values.extend(error.clone());
        let fault = error.as_ref().map(|_| values.len());
        Some(Hits::Turns(Turns { profile, own: reach.sql("x"), fault, values }))
    }

    /// The first number that there is, and the one behind the last; none where there is nothing.
    pub(crate) async fn range(&self, pool: &AnyPool) -> Result<Option<Range<i64>>, sqlx::Error> {
        let sql = match self {
            Hits::Turns(_) => "SELECT (SELECT MIN(id) FROM turns), (SELECT MAX(id) FROM turns)",
            Hits::Words(..) => "SELECT (SELECT MIN(id) FROM nodes), (SELECT MAX(id) FROM nodes)",
        };
        let row = sqlx::query(sql).fetch_one(pool).await?;
        let (first, last): (Option<i64>, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
        Ok(first.zip(last).map(|(first, last)| first..last.saturating_add(1)))
    }

    /// Finds the hits of the next range below a number.
    pub(crate) async fn below(&self, pool: &AnyPool, below: i64, width: Width) -> Result<Found, sqlx::Error> {
        let (low, query, most) = match self {
            Hits::Turns(turns) => {
                let low = below.saturating_sub(width.turns());
                (low, turns.bound(turns.statement()).bind(low).bind(below), i64::MAX)
            }
            Hits::Words(kind, question) => {
                let last = slice_of(below - 1);
                let slices = last + 1 - width.slices()..last + 1;
                let low = slices.start.saturating_mul(SLICE);
                let most = width.nodes();
                let query = sqlx::query(AssertSqlSafe(words_statement(*kind)));
                let asked = asked(*kind, question, slices.start.max(0)..slices.end);
                (low, query.bind(asked).bind(low).bind(below).bind(most), most)
            }
        };
        let rows = query.fetch_all(pool).await?;
        let (mut hits, mut count, mut oldest) = (Vec::with_capacity(rows.len()), 0, i64::MAX);
        for row in rows {
            hits.push(Hit { session: row.try_get(0)?, number: row.try_get(1)? });
            oldest = oldest.min(row.try_get(2)?);
            count += row.try_get::<i64, _>(3)?;
        }
        let is_all = count < most;
        Ok(Found { hits, below: if is_all { low } else { oldest }, is_all })
    }

    /// Returns those of these sessions that have a hit from `number` on.
    pub(crate) async fn since(
        &self,
        pool: &AnyPool,
        sessions: &[i64],
        number: i64,
    ) -> Result<Vec<i64>, sqlx::Error> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let rows = match self {
            Hits::Turns(turns) => {
                let sql = turns.since(sessions);
                turns.bound(sql).bind(number).persistent(false).fetch_all(pool).await?
            }
            Hits::Words(kind, question) => {
                let sql = format!(
                    "SELECT id, session FROM nodes WHERE session IN ({}) AND id >= $1 ORDER BY id LIMIT $2",
                    listed(sessions)
                );
                let query = sqlx::query(AssertSqlSafe(sql)).bind(number).bind(MOST_NODES).persistent(false);
                let rows = query.fetch_all(pool).await?;
                let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
                let mut found = Vec::new();
                for ids in ids.chunk_by(|a, b| slice_of(*a) == slice_of(*b)).flat_map(|ids| ids.chunks(256)) {
                    let Some(slice) = ids.first().map(|id| slice_of(*id)) else { continue };
                    let sql = words_among(*kind, ids);
                    let query =
                        sqlx::query(AssertSqlSafe(sql)).bind(asked(*kind, question, slice..slice + 1));
                    found.extend(query.persistent(false).fetch_all(pool).await?);
                }
                found
            }
        };
        rows.iter().map(|row| row.try_get(0)).collect()
    }
}

impl Turns {
    /// Of each session the youngest hit in a range, whose ends are the last two values.
    pub(crate) fn statement(&self) -> String {
        let Turns { profile, own, fault, values } = self;
        let (low, below) = (values.len() + 1, values.len() + 2);
        // SQLite goes from left to right where it is told CROSS: from each profile to its turns in the range.
        let (hit, table, of_kind) = match fault {
            Some(n) => ("x.turn", "faults", format!(" AND x.kind = ${n}")),
            None => ("x.id", "turns", String::new()),
        };
        format!(
            "SELECT h.session, MAX(h.hit), MIN(h.hit), COUNT(*) FROM (SELECT x.session AS session, {hit} AS hit \
             FROM profiles p CROSS JOIN {table} x WHERE x.profile = p.key{own}{of_kind}{profile} AND {hit} >= ${low} AND {hit} < ${below}) h \
             GROUP BY h.session ORDER BY 2 DESC"
        )
    }

    fn since(&self, sessions: &[i64]) -> String {
        // The sessions are among those that may be seen.
        let Turns { profile, own: _, fault, values } = self;
        let number = values.len() + 1;
        let fault = fault.map_or_else(String::new, |n| {
            format!(" AND EXISTS (SELECT 1 FROM faults f WHERE f.turn = t.id AND f.kind = ${n})")
        });
        format!(
            "SELECT s.key FROM sessions s WHERE s.key IN ({}) AND EXISTS (SELECT 1 FROM turns t \
             JOIN profiles p ON p.key = t.profile WHERE t.session = s.key AND t.id >= ${number}{profile}{fault})",
            listed(sessions)
        )
    }

    fn bound<'q>(&self, sql: String) -> Query<'q, Any, AnyArguments> {
        self.values.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| query.bind(value.clone()))
    }
}

/// Of each session the youngest of the hits in a range.
pub(crate) fn words_statement(kind: Kind) -> String {
    let (from, hit) = match kind {
        Kind::Sqlite => {
            ("search CROSS JOIN nodes n ON n.id = search.rowid WHERE search MATCH $1", "search.rowid")
        }
        Kind::Postgres => {
            ("search JOIN nodes n ON n.id = search.node WHERE words @@ CAST($1 AS tsquery)", "search.node")
        }
    };
    format!(
        "SELECT h.session, MAX(h.hit), MIN(h.hit), COUNT(*) FROM (SELECT n.session AS session, {hit} AS hit FROM \
         {from} AND {hit} >= $2 AND {hit} < $3 ORDER BY {hit} DESC LIMIT $4) h GROUP BY h.session ORDER BY 2 DESC"
    )
}

/// The sessions of those nodes that have the words.
fn words_among(kind: Kind, nodes: &[i64]) -> String {
    let (hit, fits) = match kind {
        Kind::Sqlite => ("search.rowid", "search MATCH $1"),
        Kind::Postgres => ("search.node", "words @@ CAST($1 AS tsquery)"),
    };
    format!(
        "SELECT DISTINCT n.session FROM search JOIN nodes n ON n.id = {hit} WHERE {fits} AND {hit} IN ({})",
        listed(nodes)
    )
}

fn asked(kind: Kind, question: &Question, slices: Range<i64>) -> String {
    match kind {
        Kind::Sqlite => question.fts5(slices),
        Kind::Postgres => question.tsquery(slices),
    }
}

/// `1, 2, 3`
pub(crate) fn listed(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use sqlx::any::AnyRow;
    use sqlx::{AnyConnection, Connection};

    use super::*;
    use crate::config::StoreConfig;
    use crate::list::{keys_of, youngest_of};
    use crate::order::{Column, Order, walk};
    use crate::statistics::counting;
    use crate::store::Store;

    /// Returns SQLite's plan for a statement: a line for each step.
    fn plan(connection: &mut AnyConnection, sql: &str, values: &[String], numbers: &[i64]) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let explain = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}")));
            let query = values.iter().fold(explain, |query, value| query.bind(value.clone()));
            let query = numbers.iter().fold(query, |query, number| query.bind(*number));
            let rows = query.fetch_all(connection).await.unwrap();
            let detail = |row: &AnyRow| row.try_get::<String, _>(3).unwrap();
            rows.iter().map(detail).collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn no_list_looks_at_everything() {
        let folder = std::env::temp_dir().join(format!("callwright-plans-{}", std::process::id()));
        let store = Store::open(StoreConfig::at(folder.join("callwright.db"))).unwrap();
        let url = format!("sqlite://{}", folder.join("callwright.db").display());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut connection = runtime.block_on(AnyConnection::connect(&url)).unwrap();

        let (all, own) = (Reach::default(), Reach::of("0123456789ab".into(), true));
        let list = plan(&mut connection, &youngest_of(&all), &[], &[i64::MAX, i64::MAX, 50]);
        assert!(list.contains("USING INDEX sessions_updated (updated<?)"), "{list}");
        let list = plan(&mut connection, &youngest_of(&own), &[], &[i64::MAX, i64::MAX, 50]);
        assert!(list.contains("USING INDEX sessions_owner (owner=? AND updated<?)"), "{list}");
        let list = plan(&mut connection, &keys_of(&own, 50), &[], &[]);
        assert!(list.contains("sessions_owner (owner=?)") && !list.contains("TEMP B-TREE"), "{list}");
        for column in Column::ALL {
            let index = if column == Column::Slowest { "sessions_slowest" } else { column.name() };
            for (is_descending, goes_on) in [(true, true), (false, true), (true, false), (false, false)] {
                let sql = walk(Order { column, is_descending }, goes_on);
                let list = plan(&mut connection, &sql, &[], &[]);
                assert!(list.contains("USING INDEX sessions_") && list.contains(index), "{column:?}: {list}");
                assert!(!list.contains("TEMP B-TREE"), "{column:?}: {list}");
            }
        }
        let given = |text: &str| Some(text.to_owned());
        let turns = "SEARCH x USING COVERING INDEX turns_profile (profile=? AND id>? AND id<?)";
        let faults = "SEARCH x USING COVERING INDEX faults_kind (kind=? AND profile=? AND turn>? AND turn<?)";
        let filters = [
            (Filter { outcome: given("repaired"), ..Filter::default() }, turns),
            (Filter { model: given("m"), mode: given("prompt"), ..Filter::default() }, turns),
            (Filter { dialect: given("hermes"), ..Filter::default() }, turns),
            (Filter { surface: given("messages"), ..Filter::default() }, turns),
            (Filter { surface: given("messages"), error: given("shape"), ..Filter::default() }, faults),
            (Filter { error: given("shape"), ..Filter::default() }, faults),
            (Filter { error: given("shape"), model: given("m"), ..Filter::default() }, faults),
        ];
        for (filter, index) in filters {
            let of_owner = index
                .replace("turns_profile (", "turns_owner (owner=? AND ")
                .replace("faults_kind (", "faults_owner (owner=? AND ");
            for (reach, index) in [(&all, index), (&own, of_owner.as_str())] {
                let Some(Hits::Turns(turns)) = Hits::of(Kind::Sqlite, &filter, reach) else {
                    panic!("{filter:?}")
                };
                let plan = plan(&mut connection, &turns.statement(), &turns.values, &[0, 1]);
                assert!(plan.contains(index), "{filter:?}\n{plan}");
                // Combinations are few; no other table is looked at as a whole.
                let scans = plan.lines().filter(|line| line.starts_with("SCAN"));
                assert!(
                    scans.into_iter().all(|line| line.starts_with("SCAN p") || line == "SCAN h"),
                    "{plan}"
                );
            }
        }
        for sql in counting(&own) {
            let plan = plan(&mut connection, &sql, &[], &[]);
            assert!(!plan.contains("SCAN"), "{sql}\n{plan}");
        }
        let Some(Hits::Words(kind, question)) =
            Hits::of(Kind::Sqlite, &Filter { text: given("word"), ..Filter::default() }, &own)
        else {
            panic!("words are asked for")
        };
        let asked = [question.fts5(0..1)];
        let plan = plan(&mut connection, &words_statement(kind), &asked, &[0, 1, 50]);
        // The index of words itself goes from the youngest on, and stops where there is enough.
        assert!(plan.contains("SCAN search VIRTUAL TABLE INDEX"), "{plan}");
        assert!(plan.matches("TEMP B-TREE").count() <= 2, "for groups and their order: {plan}");
        drop(connection);
        drop(store);
        let _ = std::fs::remove_dir_all(folder);
    }
}

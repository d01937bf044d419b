//! A damaged file is set aside, and what can still be read of it goes into a new one.
//!
//! No byte of what is damaged is ever changed, and nothing of it is thrown away. A file that never was a database is
//! somebody else's: it is left where it is, and the store is not opened.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};

use crate::clock::{now, rfc3339};
use crate::database::Database;
use crate::pack::unpacked;

/// The begin of SQLite's files.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// SQLite's codes for a damaged file, and for one that is not a database.
const DAMAGED: [u32; 2] = [11, 26];
/// The bytes of a file that are searched for signs that it is one of ours: its first pages hold the definitions of tables.
const LOOK: u64 = 256 << 10;

/// Returns whether this error says that the file is damaged.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    if let sqlx::Error::Migrate(migrate) = error
        && let MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) = &**migrate
    {
        return is_damage(error);
    }
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    code.is_some_and(|code| DAMAGED.contains(&(code & 0xff)))
}

/// Remembers that the file turned out to be damaged while it was used.
pub(crate) fn mark(store: &Path) -> io::Result<()> {
    File::create(with(store, "-damaged")).map(drop)
}

/// Returns whether it turned out to be damaged.
pub(crate) fn is_marked(store: &Path) -> bool {
    with(store, "-damaged").exists()
}

/// Sets the file aside, with its log. Returns its new place; `None` where it is not ours, or is gone already.
pub(crate) fn set_aside(store: &Path) -> io::Result<Option<PathBuf>> {
    if !was_ours(store)? {
        return Ok(None);
    }
    let at: String = rfc3339(now()).chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = with(store, &format!(".damaged-{at}"));
    match fs::rename(store, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        renamed => renamed?,
    }
    for more in ["-wal", "-shm"] {
        match fs::rename(with(store, more), with(&aside, more)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed?,
        }
    }
    match fs::remove_file(with(store, "-damaged")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(Some(aside)),
    }
}

/// Sets a file aside that has the name of a log only. Returns its new place.
pub(crate) fn set_log_aside(store: &Path) -> io::Result<Option<PathBuf>> {
    let log = with(store, "-wal");
    let mut begin = Vec::new();
    match File::open(&log) {
        Ok(file) => file.take(4).read_to_end(&mut begin)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Whoever makes one writes its head in one piece.
    if begin.is_empty() || begin == [0x37, 0x7f, 0x06, 0x82] || begin == [0x37, 0x7f, 0x06, 0x83] {
        return Ok(None);
    }
    let at: String = rfc3339(now()).chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = with(store, &format!("-wal.damaged-{at}"));
    fs::rename(log, &aside)?;
    Ok(Some(aside))
}

fn was_ours(store: &Path) -> io::Result<bool> {
    let mut begin = Vec::new();
    File::open(store)?.take(LOOK).read_to_end(&mut begin)?;
    let holds = |text: &[u8]| begin.windows(text.len()).any(|window| window == text);
    Ok(begin.starts_with(MAGIC) || holds(b"CREATE TABLE sessions"))
}

/// The numbers of sessions in a damaged file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Salvaged {
    pub(crate) kept: u64,
    pub(crate) lost: u64,
}

/// Puts each session of a damaged file that can be read as a whole into the new one, by a connection of its own: where
/// definitions of the damaged one cannot be read, the connection understands no statement any more.
pub(crate) async fn salvage(database: &Database, aside: &Path) -> Result<Salvaged, sqlx::Error> {
    // Where that fails, less is found.
    let _ = stretch(aside);
    let mut connection = database.writer().await?;
    let path = aside.to_str().unwrap_or_default();
    let attached = sqlx::query("ATTACH DATABASE $1 AS damaged").bind(path).execute(&mut connection).await;
    let is_readable =
        attached.is_ok() && connection.execute("SELECT key FROM damaged.sessions LIMIT 0").await.is_ok();
    let salvaged = if is_readable { copy_all(&mut connection).await } else { Ok(Salvaged::default()) };
    // What was committed is there whatever comes of this.
    let _ = connection.close().await;
    salvaged
}

/// Makes a file that was cut off as long as it says that it is, with a hole at its end: SQLite reads nothing of a shorter one.
fn stretch(file: &Path) -> io::Result<()> {
    let mut head = Vec::new();
    File::open(file)?.take(32).read_to_end(&mut head)?;
    let (Some(size), Some(pages)) = (head.get(16..18), head.get(28..32)) else { return Ok(()) };
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    // 65,536 does not fit, and is written as 1.
    let size = if number(size) == 1 { 1 << 16 } else { number(size) };
    let file = OpenOptions::new().write(true).open(file)?;
    let wanted = size * number(pages);
    // A hole takes no room on the disk.
    if head.starts_with(MAGIC) && file.metadata()?.len() < wanted { file.set_len(wanted) } else { Ok(()) }
}

async fn copy_all(connection: &mut AnyConnection) -> Result<Salvaged, sqlx::Error> {
    // Outside of any transaction: SQLite writes nothing more in one that has met a damaged page.
    let keys = keys(connection).await?;
    let mut salvaged = Salvaged::default();
    // Owners are hashes that were made with it. Without it their sessions are seen by those who see all.
    let _ = connection.execute(SEAL).await;
    // All of it is on the disk when the last transaction is.
    connection.execute("PRAGMA synchronous = OFF").await?;
    for key in keys {
        connection.execute("BEGIN IMMEDIATE").await?;
        let copied = copy(connection, key).await;
        salvaged.kept += u64::from(copied.is_ok());
        salvaged.lost += u64::from(copied.is_err());
        connection.execute(if copied.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    }
    connection.execute("PRAGMA synchronous = FULL").await?;
    // An earlier version may have written it.
    connection.execute(include_str!("schema/outcomes.sql")).await?;
    connection.execute(REBUILD).await?;
    Ok(salvaged)
}

/// The keys of sessions, from both ends, as far as there is a way: what lies behind a damaged page is reached from the other
/// side.
async fn keys(connection: &mut AnyConnection) -> Result<Vec<i64>, sqlx::Error> {
    let mut keys = Vec::new();
    let (mut from, mut to) = (i64::MIN, i64::MAX);
    for next in [FIRST, LAST] {
        while let Ok(Some(row)) = sqlx::query(next).bind(from).bind(to).fetch_optional(&mut *connection).await
        {
            let key: i64 = row.try_get(0)?;
            if next == FIRST {
                from = key
            } else {
                to = key
            }
            keys.push(key);
        }
    }
    Ok(keys)
}

async fn copy(connection: &mut AnyConnection, session: i64) -> Result<(), sqlx::Error> {
    for (table, of) in TABLES {
        let sql = format!("INSERT INTO main.{table} SELECT * FROM damaged.{table} WHERE {of}");
        sqlx::query(AssertSqlSafe(sql)).bind(session).execute(&mut *connection).await?;
    }
    // A page that only holds the rest of a long text says nothing when it is overwritten, but is seldom text then.
    for row in sqlx::query(TEXTS).bind(session).fetch_all(&mut *connection).await? {
        for column in 0..row.len() {
            unpacked(&row, column)?;
        }
    }
    Ok(())
}

const TEXTS: &str = "SELECT payload, body, answer FROM nodes WHERE session = $1 \
                     UNION ALL SELECT text, NULL, NULL FROM parts WHERE session = $1";
const SEAL: &str = "UPDATE main.seal SET key = (SELECT key FROM damaged.seal) \
                    WHERE EXISTS (SELECT 1 FROM damaged.seal)";
const FIRST: &str = "SELECT key FROM damaged.sessions WHERE key > $1 AND key < $2 ORDER BY key LIMIT 1";
const LAST: &str = "SELECT key FROM damaged.sessions WHERE key > $1 AND key < $2 ORDER BY key DESC LIMIT 1";

/// The tables of a session, in the order in which they refer to each other.
const TABLES: [(&str, &str); 7] = [
    ("sessions", "key = $1"),
    ("turns", "session = $1"),
    ("nodes", "session = $1"),
    ("parts", "session = $1"),
    ("calls", "turn IN (SELECT id FROM damaged.turns WHERE session = $1)"),
    ("faults", "session = $1"),
    ("fixes", "session = $1"),
];

/// Makes anew what follows from the rest, as when an earlier version had written it.
const REBUILD: &str = concat!(
    "BEGIN IMMEDIATE;",
    "INSERT INTO profiles (outcome, model, mode, dialect, surface) ",
    "SELECT DISTINCT outcome, model, mode, dialect, surface FROM turns;",
    "UPDATE turns SET profile = (SELECT key FROM profiles p WHERE p.outcome = turns.outcome AND p.model = turns.model ",
    "AND p.mode = turns.mode AND p.dialect = turns.dialect AND p.surface = turns.surface);",
    "UPDATE faults SET profile = (SELECT profile FROM turns WHERE turns.id = faults.turn);",
    "CREATE TEMP TABLE spans (span, is_own);",
    "INSERT INTO temp.spans VALUES (3600000, 0), (86400000, 0), (3600000, 1), (86400000, 1);",
    "INSERT INTO call_sums SELECT s.span, CASE s.is_own WHEN 1 THEN c.owner ELSE '' END, c.at - c.at % s.span, ",
    "c.model, c.mode, c.dialect, c.tool, c.became, COUNT(*) ",
    "FROM calls c CROSS JOIN temp.spans s WHERE s.is_own = 0 OR c.owner <> '' GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;",
    "INSERT INTO turn_sums SELECT s.span, CASE s.is_own WHEN 1 THEN t.owner ELSE '' END, t.at - t.at % s.span, ",
    "t.outcome, COUNT(*), SUM(t.repair_turns), SUM(t.prompt_tokens + t.completion_tokens), SUM(t.repair_tokens) ",
    "FROM turns t CROSS JOIN temp.spans s WHERE s.is_own = 0 OR t.owner <> '' GROUP BY 1, 2, 3, 4;",
    "INSERT INTO fault_sums SELECT s.span, CASE s.is_own WHEN 1 THEN f.owner ELSE '' END, f.at - f.at % s.span, ",
    "f.kind, f.policy, f.mode, COUNT(*), SUM(f.repeated) ",
    "FROM faults f CROSS JOIN temp.spans s WHERE s.is_own = 0 OR f.owner <> '' GROUP BY 1, 2, 3, 4, 5, 6;",
    "DROP TABLE temp.spans;",
    "INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;",
    "COMMIT;",
);

fn with(store: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(store);
    name.push(more);
    PathBuf::from(name)
}

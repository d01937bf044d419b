//! Connections, and the tables in them. The same statements serve SQLite and Postgres, but for searching.

use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Executor, SqlSafeStr};

use crate::config::Location;
use crate::error::StoreError;

/// The sort of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// A database, and the way to make connections to it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) kind: Kind,
    url: String,
    /// The place of the file, if it is one.
    pub(crate) file: Option<PathBuf>,
}

/// The most time to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// When to look again whether a file is free.
const RETRY: Duration = Duration::from_millis(20);
/// The most questions that may be answered at a time.
const READERS: u32 = 4;

impl Database {
    /// Makes a file that is not there yet, and its folder, for their owner alone: they hold what was said. What was there
    /// before stays as it is; what is to be known of it is added to `notices`.
    pub(crate) fn at(location: &Location, notices: &mut Vec<String>) -> Result<Database, StoreError> {
        sqlx::any::install_default_drivers();
        match location {
            Location::Postgres(url) => Ok(Database { kind: Kind::Postgres, url: url.clone(), file: None }),
            Location::File(path) => {
                let path = std::path::absolute(path).map_err(StoreError::io(location))?;
                if let Some(dir) = path.parent() {
                    make_dir(dir).map_err(StoreError::io(location))?;
                }
                make_file(&path, notices).map_err(StoreError::io(location))?;
                let name = path
                    .to_str()
                    .ok_or_else(|| StoreError::open(location, String::from("its path is not Unicode")))?;
                // It is never SQLite that makes the file: it would be one for everybody to read.
                let url = format!("sqlite://{}?mode=rw", encoded(name));
                Ok(Database { kind: Kind::Sqlite, url, file: Some(path) })
            }
        }
    }

    /// Returns the device and the number of the file that stands there now; `None` where there is none, or the place is a server.
    pub(crate) fn file_id(&self) -> Option<(u64, u64)> {
        let metadata = std::fs::metadata(self.file.as_ref()?).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }

    fn options(&self) -> Result<AnyConnectOptions, sqlx::Error> {
        // Statements are not logged: their values are nobody's business.
        Ok(AnyConnectOptions::from_str(&self.url)?.disable_statement_logging())
    }

    /// A connection as it comes.
    pub(crate) async fn connect(&self) -> Result<AnyConnection, sqlx::Error> {
        let connecting = self.options()?;
        let connected = tokio::time::timeout(PATIENCE, connecting.connect()).await;
        connected.map_err(|_| sqlx::Error::PoolTimedOut)?
    }

    /// A connection that may write.
    pub(crate) async fn writer(&self) -> Result<AnyConnection, sqlx::Error> {
        if let Some(file) = &self.file {
            // Somebody may have taken it away.
            make_file(file, &mut Vec::new())?;
        }
        let mut connection = self.connect().await?;
        let set = match self.kind {
            Kind::Sqlite => Self::set(&mut connection).await,
            Kind::Postgres => Ok(()),
        };
        match set {
            Ok(()) => Ok(connection),
            Err(error) => {
                // It closes a file by itself, but some time later.
                let _ = connection.close().await;
                Err(error)
            }
        }
    }

    async fn set(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let begun = Instant::now();
        // SQLite waits for nobody where it makes a file one with a log: whoever else opens it is in the way.
        while let Err(error) = connection.execute(SQLITE_FILE).await {
            if !is_locked(&error) || PATIENCE < begun.elapsed() {
                return Err(error);
            }
            tokio::time::sleep(RETRY).await;
        }
        connection.execute(SQLITE_WRITER).await?;
        Ok(())
    }

    /// Sets whether a commit waits until it is on the disk. One that does not is there after the process was killed, and may be
    /// gone after the power was. Never between two statements of a transaction.
    pub(crate) async fn set_durable(
        &self,
        connection: &mut AnyConnection,
        is_durable: bool,
    ) -> Result<(), sqlx::Error> {
        let sql = match (self.kind, is_durable) {
            (Kind::Sqlite, true) => "PRAGMA synchronous = FULL",
            (Kind::Sqlite, false) => "PRAGMA synchronous = NORMAL",
            (Kind::Postgres, true) => "SET synchronous_commit = on",
            (Kind::Postgres, false) => "SET synchronous_commit = off",
        };
        connection.execute(sql).await.map(|_| ())
    }

    /// Makes the tables, or brings them up to date.
    pub(crate) async fn migrate(&self, connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let migrator = Migrator::with_migrations(self.migrations());
        let failed = |error| sqlx::Error::Migrate(Box::new(error));
        match self.kind {
            // Several processes may find the same new file at the same time.
            Kind::Sqlite => {
                let mut transaction = self.begin(connection).await?;
                migrator.run_direct(None, &mut *transaction, false).await.map_err(failed)?;
                transaction.commit().await
            }
            Kind::Postgres => migrator.run_direct(None, connection, false).await.map_err(failed),
        }
    }

    /// Connections that only read.
    pub(crate) fn readers(&self) -> Result<AnyPool, sqlx::Error> {
        let is_sqlite = self.kind == Kind::Sqlite;
        let pool = AnyPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(PATIENCE)
            // One that nobody needs takes memory.
            .idle_timeout(Duration::from_secs(60))
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    let set = if is_sqlite { SQLITE_READER } else { POSTGRES_READER };
                    connection.execute(set).await.map(|_| ())
                })
            });
        Ok(pool.connect_lazy_with(self.options()?))
    }

    /// Begins a transaction that will write: SQLite is told so, or two writers could each wait for the other.
    pub(crate) async fn begin<'c>(
        &self,
        connection: &'c mut AnyConnection,
    ) -> Result<sqlx::Transaction<'c, sqlx::Any>, sqlx::Error> {
        match self.kind {
            Kind::Sqlite => connection.begin_with("BEGIN IMMEDIATE").await,
            Kind::Postgres => connection.begin().await,
        }
    }

    fn migrations(&self) -> Vec<Migration> {
        // Databases differ in a table's key, in how a table is its own index, and in how words are searched.
        let (key, clustered, random, empty_search, search, slices) = match self.kind {
            Kind::Sqlite => (
                "INTEGER PRIMARY KEY",
                " WITHOUT ROWID",
                "lower(hex(randomblob(32)))",
                "INSERT INTO search (search) VALUES ('delete-all')",
                include_str!("schema/search_sqlite.sql"),
                include_str!("schema/slices_sqlite.sql"),
            ),
            Kind::Postgres => (
                "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
                "",
                // 122 random bits each.
                "CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT)",
                "TRUNCATE search",
                include_str!("schema/search_postgres.sql"),
                include_str!("schema/slices_postgres.sql"),
            ),
        };
        let of_kind = |sql: &str| {
            let words = [
                ("{KEY}", key),
                ("{CLUSTERED}", clustered),
                ("{RANDOM}", random),
                ("{EMPTY_SEARCH}", empty_search),
            ];
            words.into_iter().fold(sql.to_owned(), |sql, (word, text)| sql.replace(word, text))
        };
        let steps = [
            ("tables", of_kind(include_str!("schema/tables.sql"))),
            ("search", search.to_owned()),
            ("profiles", of_kind(include_str!("schema/profiles.sql"))),
            ("slices", slices.to_owned()),
            ("fixes", of_kind(include_str!("schema/fixes.sql"))),
            ("sorted", include_str!("schema/sorted.sql").to_owned()),
            ("surface", include_str!("schema/surface.sql").to_owned()),
            ("surfaces", of_kind(include_str!("schema/surfaces.sql"))),
            ("owners", of_kind(include_str!("schema/owners.sql"))),
            ("outcomes", include_str!("schema/outcomes.sql").to_owned()),
            ("outcomes_counted", of_kind(include_str!("schema/outcomes_counted.sql"))),
        ];
        let migration = |(version, (name, sql)): (i64, (&'static str, String))| {
            let sql = AssertSqlSafe(sql).into_sql_str();
            Migration::new(version, name.into(), MigrationType::Simple, sql, false)
        };
        (1..).zip(steps).map(migration).collect()
    }
}

/// Has to come first of all in a new file. Deleted pages are given back; WAL lets readers read while one writes.
const SQLITE_FILE: &str = "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;";
/// A commit returns when it is on the disk. Another process may be writing: it is waited for. The log is written back every
/// 4,000 pages: most of these are the same few, which many transactions wrote.
const SQLITE_WRITER: &str = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 10000; PRAGMA cache_size = -1024; \
                             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 33554432;";
const SQLITE_READER: &str = "PRAGMA query_only = ON; PRAGMA busy_timeout = 10000; PRAGMA cache_size = -8192;";
const POSTGRES_READER: &str = "SET default_transaction_read_only = on";

fn is_locked(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("database is locked"))
}

/// Escapes a `?` or `#`, behind which nothing would be part of the path.
fn encoded(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

/// Only its owner may look into it: it holds what was said.
pub(crate) fn make_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(dir)
}

/// Makes the file where it is missing. SQLite gives what it puts beside it the same permissions.
pub(crate) fn make_file(path: &Path, notices: &mut Vec<String>) -> std::io::Result<()> {
    match private_file().write(true).create_new(true).open(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        notices.push(format!(
            "{} can be read by others (mode {mode:03o}): it holds what was said; chmod 600 keeps it to yourself",
            path.display()
        ));
    }
    if metadata.is_file() && metadata.len() == 0 {
        notices.push(format!("{} is empty: a new store begins in it", path.display()));
    }
    Ok(())
}

/// Makes files that only their owner may read or write.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

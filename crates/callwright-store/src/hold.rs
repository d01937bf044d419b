//! One process at a time goes on with a run: whoever does so *holds* its session.
//!
//! A hold lives as long as the process that has it, and no longer: the system, or the server of the database, lets go of
//! it when the process ends, however that happens. So it can be left behind by nobody, and nobody has to guess whether a
//! file or a row is still meant. Beside a file of SQLite it is a lock of the system on a small file. In Postgres, which
//! several machines share, it is an advisory lock of a connection that does nothing else.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use sqlx::{AnyConnection, Row};
use tokio::sync::Mutex;

use crate::clock::now;
use crate::config::Location;
use crate::database::{Database, make_dir, private_file};
use crate::error::{Holder, StoreError};
use crate::store::Store;

/// A session that nobody else holds. It is let go when this is dropped, or the process ends.
#[derive(Debug)]
pub struct Hold(How);

enum How {
    File { path: PathBuf, _locked: File },
    Postgres { store: Store, connection: Arc<Mutex<AnyConnection>> },
}

impl Store {
    /// Holds the session of this name, whether there is one yet or not, for as long as what is returned lives.
    ///
    /// # Errors
    /// [`StoreError::Held`] where another process holds it, or this one already does; also where it cannot be found out.
    pub async fn hold(&self, session: &str) -> Result<Hold, StoreError> {
        match self.location() {
            Location::File(path) => {
                let path = path.clone();
                Hold::of_file(&path, session).map_err(|error| match error {
                    NotHeld::By(holder) => StoreError::Held(session.to_owned(), holder),
                    NotHeld::Io(error) => StoreError::open(self.location(), error.to_string()),
                })
            }
            Location::Postgres(_) => Hold::of_server(self, session).await,
        }
    }
}

impl Hold {
    /// Checks that it is still held. A file always is. The connection to a server may have broken, and then somebody else may
    /// hold the session.
    ///
    /// # Errors
    /// It is not, or nobody knows.
    pub async fn check(&self) -> Result<(), StoreError> {
        match &self.0 {
            How::File { .. } => Ok(()),
            How::Postgres { store, connection } => {
                let connection = connection.clone();
                let ask = |_| async move {
                    sqlx::query("SELECT 1").execute(&mut *connection.lock().await).await?;
                    Ok(())
                };
                store.read(ask).await
            }
        }
    }

    fn of_file(store: &Path, session: &str) -> Result<Hold, NotHeld> {
        let folder = beside(store);
        make_dir(&folder)?;
        // A session may be named as the user likes, a file may not.
        let path = folder.join(hex(&Sha256::digest(session.as_bytes())[..16]));
        loop {
            let mut file = private_file().read(true).write(true).create(true).truncate(false).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut said = String::new();
                    file.read_to_string(&mut said)?;
                    return Err(NotHeld::By(Holder::read(&said)));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            // Whoever held it may have taken the file away between our opening and our locking it.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0)?;
            file.write_all(format!("{}\n{}\n", process(), now()).as_bytes())?;
            return Ok(Hold(How::File { path, _locked: file }));
        }
    }

    async fn of_server(store: &Store, session: &str) -> Result<Hold, StoreError> {
        let (database, name) = (store.database().clone(), session.to_owned());
        let connection = store.read(|_| async move { try_lock(&database, &name).await }).await?;
        let connection = connection.map_err(|holder| StoreError::Held(session.to_owned(), holder))?;
        Ok(Hold(How::Postgres { store: store.clone(), connection: Arc::new(Mutex::new(connection)) }))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let How::File { path, .. } = &self.0 {
            // While it is locked: whoever comes now looks whether its file still stands there.
            let _ = fs::remove_file(path);
        }
    }
}

impl fmt::Debug for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::File { path, .. } => write!(f, "{}", path.display()),
            How::Postgres { store, .. } => write!(f, "{store:?}"),
        }
    }
}

impl Holder {
    fn read(said: &str) -> Holder {
        let mut lines = said.lines();
        let process = lines.next().map(str::to_owned);
        Holder { process, since: lines.next().and_then(|line| line.parse().ok()) }
    }
}

enum NotHeld {
    By(Holder),
    Io(io::Error),
}

impl From<io::Error> for NotHeld {
    fn from(error: io::Error) -> NotHeld {
        NotHeld::Io(error)
    }
}

async fn try_lock(database: &Database, session: &str) -> Result<Result<AnyConnection, Holder>, StoreError> {
    let mut connection = database.connect().await?;
    // A machine that vanishes does not say goodbye: the server looks after it.
    for set in ["tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3"] {
        let set = sqlx::AssertSqlSafe(format!("SET {set}"));
        sqlx::query(set).persistent(false).execute(&mut connection).await?;
    }
    let says = "SELECT set_config('application_name', $1, false)";
    sqlx::query(says).bind(format!("callwright {}", process())).execute(&mut connection).await?;
    let locked = sqlx::query(LOCK).bind(session).fetch_one(&mut connection).await?;
    if locked.try_get(0)? {
        return Ok(Ok(connection));
    }
    let holder = sqlx::query(HOLDER).bind(session).fetch_optional(&mut connection).await?;
    let Some(row) = holder else { return Ok(Err(Holder::default())) };
    let said: String = row.try_get(0)?;
    let process = said.strip_prefix("callwright ").map(str::to_owned);
    Ok(Err(Holder { process, since: Some(row.try_get(1)?) }))
}

// Stores in several schemas of one database have sessions of the same name.
const LOCK: &str =
    "SELECT pg_try_advisory_lock(hashtextextended(format('%s/%s', current_schema(), $1::text), 0))";
const HOLDER: &str = "SELECT a.application_name, CAST(extract(epoch FROM a.backend_start) * 1000 AS BIGINT) \
                      FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
                      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
                      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                      AND (l.classid::bigint << 32 | l.objid::bigint) \
                      = hashtextextended(format('%s/%s', current_schema(), $1::text), 0)";

/// The folder beside a store in which each run that is under way has a file.
fn beside(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-runs");
    PathBuf::from(name)
}

/// This process, for people: `4711@box`.
fn process() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{}@{host}", std::process::id())
}

/// Returns whether this open file still stands at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

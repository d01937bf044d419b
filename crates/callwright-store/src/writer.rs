//! Writes all that waits, many at once: one transaction, one wait for the disk.
//!
//! An acknowledged write begins a transaction at once, with all that waits by then. Records alone wait for others: a moment
//! where little comes, and up to a second, or some megabytes, where much does, as each transaction writes whole pages of every
//! table. Nobody was told that they are on the disk, so nobody waits for it either. A transaction that fails is taken apart, so
//! that one that cannot be written costs the others nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::{AnyConnection, Connection};
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio::time::Instant;

use crate::config::Retention;
use crate::database::{Database, make_file};
use crate::error::StoreError;
use crate::insert::write_all;
use crate::known::Known;
use crate::mask::Mask;
use crate::node::NewNode;
use crate::owner::{Reach, Seal};
use crate::ready::Ready;
use crate::reindex;
use crate::rescue::{self, Salvaged};
use crate::retention;
use crate::session::{Change, Written};
use crate::turn::{NewTurn, Record};

/// The size of a record beside its texts, about.
pub(crate) const RECORD: usize = 4 << 10;
/// The time for which records wait for others.
const GATHER: Duration = Duration::from_millis(25);
/// So long after a transaction the next one begins, where nobody waits for it.
const PAUSE: Duration = Duration::from_secs(1);
/// The most that goes into one transaction.
const BATCH: usize = 512;
/// The interval between retention checks.
const SWEEP: Duration = Duration::from_secs(600);
/// A check follows as well whenever so large a share of what may be kept was written, so that this is never much more.
const SHARE: u64 = 8;
/// The time for which the log says nothing more of what is lost.
const QUIET: Duration = Duration::from_secs(60);
/// The time from the start to the first check.
const FIRST_SWEEP: Duration = Duration::from_secs(20);

type Done<T> = oneshot::Sender<Result<T, StoreError>>;

/// Something that somebody waits for.
pub(crate) enum Job {
    Turn(Box<NewTurn>, Done<Written>),
    Nodes(String, Vec<NewNode>, Done<Written>),
    Delete(String, Reach, Done<bool>),
    Sweep(Retention, Done<u64>),
    Flush(Done<()>),
}

/// The records that wait to be written, and the number of those that were not.
pub(crate) struct Waiting {
    pub(crate) bytes: AtomicUsize,
    /// Is told when more waits than is to wait for long.
    pub(crate) is_much: Notify,
    pub(crate) dropped: AtomicU64,
    pub(crate) most_bytes: usize,
}

impl Waiting {
    pub(crate) fn new(most_bytes: usize) -> Waiting {
        Waiting { bytes: AtomicUsize::new(0), is_much: Notify::new(), dropped: AtomicU64::new(0), most_bytes }
    }
}

/// Something for a transaction, and who waits for it.
struct Pending {
    ready: Ready,
    done: Option<Done<Written>>,
}

pub(crate) struct Writer {
    database: Database,
    /// None after it broke.
    connection: Option<AnyConnection>,
    /// The file that it writes to, if it is one.
    file_id: Option<(u64, u64)>,
    /// The connection waits for the disk.
    is_durable: bool,
    known: Known,
    changes: broadcast::Sender<Change>,
    waiting: Arc<Waiting>,
    /// Nodes of a former version are not searched yet.
    is_reindexing: bool,
    /// The bytes that were written since the last retention check.
    unswept: u64,
    losses: Losses,
}

/// The losses, and how much of them the log has said.
#[derive(Default)]
struct Losses {
    /// So many.
    said: u64,
    at: Option<Instant>,
    /// Why the last one was, where that was not that there were too many.
    why: Option<String>,
}

impl Writer {
    pub(crate) async fn open(
        database: Database,
        mask: Mask,
        seal: Seal,
        changes: broadcast::Sender<Change>,
        waiting: Arc<Waiting>,
        notices: &mut Vec<String>,
    ) -> Result<Writer, sqlx::Error> {
        let mut connection = opened(&database, notices).await?;
        seal.read(&mut connection).await?;
        let is_reindexing = reindex::is_open(&mut connection).await?;
        if is_reindexing {
            tracing::info!(
                "[store] sessions of an earlier version are being indexed for search, the newest first"
            );
        }
        let (connection, known) = (Some(connection), Known::new(mask, seal, database.kind));
        let (is_durable, unswept, losses) = (true, 0, Losses::default());
        Ok(Writer {
            file_id: database.file_id(),
            database,
            connection,
            is_durable,
            known,
            changes,
            waiting,
            is_reindexing,
            unswept,
            losses,
        })
    }

    /// Writes until it is stopped, and then what still waits.
    pub(crate) async fn run(
        &mut self,
        mut records: mpsc::Receiver<Box<dyn Record>>,
        mut jobs: mpsc::Receiver<Job>,
        mut stopped: oneshot::Receiver<()>,
        retention: Retention,
    ) {
        let begin = tokio::time::Instant::now() + FIRST_SWEEP;
        let mut sweep = tokio::time::interval_at(begin, SWEEP);
        let mut minute = tokio::time::interval(QUIET);
        let mut is_open = true;
        let mut last: Option<Instant> = None;
        while is_open {
            let (mut taken, mut asked) = (Vec::new(), Vec::new());
            tokio::select! {
                biased;
                _ = &mut stopped => is_open = false,
                job = jobs.recv() => asked.extend(job),
                record = records.recv() => {
                    taken.extend(record);
                    // Nobody is woken by the records that come now.
                    tokio::select! {
                        biased;
                        _ = &mut stopped => is_open = false,
                        job = jobs.recv() => asked.extend(job),
                        () = self.waiting.is_much.notified() => {}
                        () = tokio::time::sleep_until(next(last)) => {}
                    }
                }
                _ = minute.tick() => {}
                _ = sweep.tick() => asked.push(Job::Sweep(retention, oneshot::channel().0)),
                // Whenever there is nothing else to do.
                () = std::future::ready(()), if self.is_reindexing => self.reindex().await,
            }
            if !is_open {
                jobs.close();
                records.close();
            }
            let is_last = |asked: &[Job]| !is_open || asked.iter().any(|job| matches!(job, Job::Flush(_)));
            while let Ok(job) = jobs.try_recv() {
                asked.push(job);
            }
            let most = if is_last(&asked) { usize::MAX } else { BATCH };
            while taken.len() < most
                && let Ok(record) = records.try_recv()
            {
                taken.push(record);
            }
            last = (!taken.is_empty()).then(Instant::now).or(last);
            self.take(taken, asked).await;
            if 0 < retention.bytes && retention.bytes / SHARE <= self.unswept {
                // What it says is in the log, and the next bytes try again.
                let _ = self.sweep(retention).await;
            }
            self.tell_of_losses(!is_open);
        }
    }

    /// Says in the log how much was lost, at most once a minute: where nothing can be written any more, that is every turn.
    fn tell_of_losses(&mut self, at_once: bool) {
        let dropped = self.waiting.dropped.load(Ordering::Relaxed);
        let turns = dropped - self.losses.said;
        let is_quiet = self.losses.at.is_some_and(|at| at.elapsed() < QUIET);
        if turns == 0 || (is_quiet && !at_once) {
            return;
        }
        let why = self.losses.why.take().unwrap_or_else(|| String::from("more came than can be written"));
        tracing::warn!(turns, error = why, "[store] turns were not written");
        (self.losses.said, self.losses.at) = (dropped, Some(Instant::now()));
    }

    /// Lets the database go.
    pub(crate) async fn close(self) {
        if let Some(connection) = self.connection {
            // What was committed is on the disk whatever comes of this.
            let _ = connection.close().await;
        }
    }

    async fn take(&mut self, taken: Vec<Box<dyn Record>>, asked: Vec<Job>) {
        self.known.learn();
        let mut batch: Vec<Pending> = Vec::with_capacity(BATCH.min(taken.len() + asked.len()));
        for record in taken {
            let size = RECORD + record.size();
            if let Some(turn) = record.into_turn() {
                batch.push(Pending { ready: Ready::turn(turn, &mut self.known), done: None });
            }
            self.waiting.bytes.fetch_sub(size, Ordering::Relaxed);
            if batch.len() == BATCH {
                self.write(&mut batch).await;
            }
        }
        for job in asked {
            match job {
                Job::Turn(turn, done) => {
                    batch.push(Pending { ready: Ready::turn(*turn, &mut self.known), done: Some(done) });
                }
                Job::Nodes(session, nodes, done) => {
                    let ready = Ready::nodes(session, nodes, &mut self.known);
                    batch.push(Pending { ready, done: Some(done) });
                }
                // These come behind all that was asked for before them. Nobody may be waiting any more.
                Job::Flush(done) => {
                    self.write(&mut batch).await;
                    let _ = done.send(Ok(()));
                }
                Job::Delete(session, reach, done) => {
                    self.write(&mut batch).await;
                    let _ = done.send(self.delete(&session, &reach).await);
                }
                Job::Sweep(retention, done) => {
                    self.write(&mut batch).await;
                    let _ = done.send(self.sweep(retention).await);
                }
            }
        }
        self.write(&mut batch).await;
    }

    async fn write(&mut self, batch: &mut Vec<Pending>) {
        if batch.is_empty() {
            return;
        }
        let all: Vec<&Ready> = batch.iter().map(|pending| &pending.ready).collect();
        let is_awaited = batch.iter().any(|pending| pending.done.is_some());
        match self.commit(&all, is_awaited).await {
            Ok(written) => {
                for (pending, (written, change)) in batch.drain(..).zip(written) {
                    self.acknowledge(pending.done, written, change);
                }
            }
            Err(error) if batch.len() == 1 => {
                batch.drain(..).for_each(|pending| self.refuse(pending.done, error_of(&error)))
            }
            Err(_) => {
                for pending in batch.drain(..) {
                    match self.commit(&[&pending.ready], pending.done.is_some()).await {
                        Ok(written) => {
                            // One was given, so one came.
                            if let Some((written, change)) = written.into_iter().next() {
                                self.acknowledge(pending.done, written, change);
                            }
                        }
                        Err(error) => self.refuse(pending.done, error),
                    }
                }
            }
        }
    }

    fn acknowledge(&self, done: Option<Done<Written>>, written: Written, change: Change) {
        if let Some(done) = done {
            let _ = done.send(Ok(written));
        }
        // Nobody may be listening.
        let _ = self.changes.send(change);
    }

    fn refuse(&mut self, done: Option<Done<Written>>, error: sqlx::Error) {
        match done {
            Some(done) => drop(done.send(Err(error.into()))),
            None => {
                self.waiting.dropped.fetch_add(1, Ordering::Relaxed);
                self.losses.why = Some(error.to_string());
            }
        }
    }

    /// One transaction for all of these. `is_durable`: when this returns it is on the disk.
    async fn commit(
        &mut self,
        all: &[&Ready],
        is_durable: bool,
    ) -> Result<Vec<(Written, Change)>, sqlx::Error> {
        let (database, kind) = (self.database.clone(), self.database.kind);
        let committed = async {
            self.connection().await?;
            let connection = self.connection.as_mut().ok_or(sqlx::Error::WorkerCrashed)?;
            if self.is_durable != is_durable {
                database.set_durable(connection, is_durable).await?;
                self.is_durable = is_durable;
            }
            let mut transaction = database.begin(connection).await?;
            let written = write_all(&mut transaction, kind, all, &mut self.known).await?;
            transaction.commit().await?;
            Ok(written)
        };
        let committed = committed.await;
        self.let_go_if_failed(&committed);
        let (written, bytes) = committed?;
        self.unswept += bytes;
        Ok(written)
    }

    async fn delete(&mut self, session: &str, reach: &Reach) -> Result<bool, StoreError> {
        let database = self.database.clone();
        let deleted = retention::delete(&database, self.connection().await?, session, reach).await;
        self.let_go_if_failed(&deleted);
        let Some((session, owner)) = deleted? else { return Ok(false) };
        // Nobody may be listening.
        let _ = self.changes.send(Change { session, what: "deleted", turn: None, nodes: 0, owner });
        Ok(true)
    }

    async fn sweep(&mut self, retention: Retention) -> Result<u64, StoreError> {
        self.unswept = 0;
        let database = self.database.clone();
        let swept = retention::sweep(&database, self.connection().await?, retention).await;
        self.let_go_if_failed(&swept);
        match &swept {
            Ok(0) => {}
            Ok(sessions) => tracing::info!(sessions, "[store] what is old was deleted"),
            Err(error) => tracing::warn!(%error, "[store] what is old was not deleted"),
        }
        Ok(swept?)
    }

    /// Puts some more nodes of a former version where they are searched.
    async fn reindex(&mut self) {
        let database = self.database.clone();
        let done = async { reindex::step(&database, self.connection().await?).await }.await;
        self.let_go_if_failed(&done);
        self.is_reindexing = done.unwrap_or_else(|error| {
            // The next start tries again.
            tracing::warn!(%error, "[store] sessions of an earlier version were not indexed for search");
            false
        });
    }

    async fn connection(&mut self) -> Result<&mut AnyConnection, sqlx::Error> {
        if let Some(connection) = self.connection.take_if(|_| self.database.file_id() != self.file_id) {
            // Somebody took the file away: what is written into it is nowhere. It is let go of before there is another one
            // of its name. What becomes of it is of no use to anyone.
            let _ = connection.close().await;
            tracing::warn!("[store] its file was taken away while it was in use: a new one begins");
        }
        if self.connection.is_none() {
            let mut connection = ready(&self.database).await?;
            self.known.seal.read(&mut connection).await?;
            self.connection = Some(connection);
            (self.is_durable, self.file_id) = (true, self.database.file_id());
        }
        self.connection.as_mut().ok_or(sqlx::Error::WorkerCrashed)
    }

    /// A disk that failed once is not believed again before everything was read anew. And where a transaction fails, SQLite
    /// may have rolled it back by itself or not: a new connection has none, and the next one begins in any case.
    fn let_go_if_failed<T>(&mut self, done: &Result<T, sqlx::Error>) {
        let Err(error) = done else { return };
        self.connection = None;
        if let Some(file) = self.database.file.as_deref().filter(|_| rescue::is_damage(error))
            && !rescue::is_marked(file)
        {
            let marked =
                rescue::mark(file).map_or_else(|error| error.to_string(), |()| String::from("marked"));
            tracing::warn!(%error, marked, "[store] it is damaged: the next start sets it aside, and keeps what can be read");
        }
    }
}

/// When records that came now are written, where nobody waits for them.
fn next(last: Option<Instant>) -> Instant {
    let soon = Instant::now() + GATHER;
    last.map_or(soon, |last| soon.max(last + PAUSE))
}

/// A connection that may write, with all tables in place; what is damaged is set aside.
async fn opened(database: &Database, notices: &mut Vec<String>) -> Result<AnyConnection, sqlx::Error> {
    let Some(file) = &database.file else { return ready(database).await };
    if let Some(log) = rescue::set_log_aside(file)? {
        notices.push(format!("the log of {} was none: it stands in {} now", file.display(), log.display()));
    }
    let why = if rescue::is_marked(file) {
        String::from("this was found when it was last used")
    } else {
        match ready(database).await {
            Err(error) if rescue::is_damage(&error) => error.to_string(),
            opened => return opened,
        }
    };
    let Some(aside) = rescue::set_aside(file)? else {
        // It is none of ours, or somebody else has just done it.
        return ready(database).await;
    };
    make_file(file, &mut Vec::new())?;
    let connection = ready(database).await?;
    let Salvaged { kept, lost } = rescue::salvage(database, &aside).await?;
    notices.push(format!(
        "{} was damaged ({why}): it stands in {} now; {kept} of its sessions could be read and go on in a new store, {lost} \
         could not",
        file.display(),
        aside.display()
    ));
    Ok(connection)
}

async fn ready(database: &Database) -> Result<AnyConnection, sqlx::Error> {
    let mut connection = database.writer().await?;
    match database.migrate(&mut connection).await {
        Ok(()) => Ok(connection),
        Err(error) => {
            // The file is to be let go of before anything is done about it.
            let _ = connection.close().await;
            Err(error)
        }
    }
}

/// An error with the same text: `sqlx::Error` cannot be copied.
fn error_of(error: &sqlx::Error) -> sqlx::Error {
    sqlx::Error::AnyDriverError(error.to_string().into())
}

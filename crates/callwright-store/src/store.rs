//! The door. A store runs on a thread of its own: whoever asks it waits for no disk but its own answer.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sqlx::AnyPool;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::config::{Location, Retention, StoreConfig};
use crate::database::Database;
use crate::error::StoreError;
use crate::mask::Mask;
use crate::node::NewNode;
use crate::owner::{Owner, Reach, Seal};
use crate::session::{Change, Changes, Written};
use crate::turn::{NewTurn, Record};
use crate::writer::{Job, RECORD, Waiting, Writer};

/// The most acknowledged writes that may wait.
const JOBS: usize = 256;
/// The bytes from which on nothing more is waited for.
const MUCH: usize = 2 << 20;
/// The time that the last questions may take at the end.
const PATIENCE: Duration = Duration::from_secs(2);
/// The number of changes that are kept for somebody who reads them slowly.
const CHANGES: usize = 256;

/// Sessions, turns and nodes. Clones share one store; it is closed when the last one is dropped.
///
/// It sees all sessions, but for what [`Store::seen_by`] gives. That holds for whatever is listed, searched, counted, read,
/// dumped or deleted, and for changes; what is written goes to the session of its own owner in any case.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    asks: Option<(Owner, bool)>,
}

struct Inner {
    location: Location,
    notices: Vec<String>,
    pub(crate) retention: Retention,
    database: Database,
    seal: Seal,
    readers: AnyPool,
    handle: Handle,
    /// None once it is closed.
    ends: std::sync::Mutex<Option<Ends>>,
    records: mpsc::Sender<Box<dyn Record>>,
    jobs: mpsc::Sender<Job>,
    waiting: Arc<Waiting>,
    changes: broadcast::Sender<Change>,
}

struct Ends {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Runs `work` to its end on a thread of its own.
fn on_thread(
    runtime: Runtime,
    work: impl Future<Output = ()> + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(String::from("callwright-store")).spawn(move || {
        runtime.block_on(work);
        // A reader may wait for a database that does not answer.
        runtime.shutdown_background();
    })
}

impl Store {
    /// Opens a store, and makes it where there is none.
    ///
    /// # Errors
    /// A place that cannot be reached or written, or holds something else.
    pub fn open(config: StoreConfig) -> Result<Store, StoreError> {
        let location = config.location.clone();
        let mut notices = Vec::new();
        let database = Database::at(&location, &mut notices)?;
        let waiting = Arc::new(Waiting::new(config.queue_bytes));
        let (records, taken) = mpsc::channel(config.queue.max(1));
        let (jobs, jobs_taken) = mpsc::channel(JOBS);
        let (changes, _) = broadcast::channel(CHANGES);
        let (stop, stopped) = oneshot::channel();
        let (opened, is_open) = std::sync::mpsc::channel();
        let retention = config.retention;
        let (to, masking, seal) = (database.clone(), config.masking, Seal::default());
        let read = seal.clone();
        let (told, dropped) = (changes.clone(), waiting.clone());
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(StoreError::io(&location))?;
        let handle = runtime.handle().clone();
        let work = async move {
            let mask = Mask::new(masking);
            let mut writer = match Writer::open(to.clone(), mask, read, told, dropped, &mut notices).await {
                Ok(writer) => writer,
                Err(error) => return drop(opened.send(Err(error))),
            };
            let readers = match to.readers() {
                Ok(readers) => readers,
                Err(error) => return drop(opened.send(Err(error))),
            };
            for notice in &notices {
                tracing::warn!("[store] {notice}");
            }
            // Whoever opens it waits for this.
            let _ = opened.send(Ok((readers.clone(), notices)));
            writer.run(taken, jobs_taken, stopped, retention).await;
            // The file is left alone from here on, unless a question takes too long.
            let _ = tokio::time::timeout(PATIENCE, readers.close()).await;
            writer.close().await;
        };
        let thread = on_thread(runtime, work).map_err(StoreError::io(&location))?;
        let failed = |error: sqlx::Error| StoreError::open(&location, error.to_string());
        let (readers, notices) = is_open.recv().map_err(|_| StoreError::Closed)?.map_err(failed)?;
        let ends = std::sync::Mutex::new(Some(Ends { stop, thread }));
        let inner = Inner {
            location,
            notices,
            retention,
            database,
            seal,
            readers,
            handle,
            ends,
            records,
            jobs,
            waiting,
            changes,
        };
        Ok(Store { inner: Arc::new(inner), asks: None })
    }

    /// The store as `owner` sees it: its own sessions, which it may also call by the names that it gave them, or, where it
    /// `sees_all`, all of them.
    pub fn seen_by(&self, owner: Owner, sees_all: bool) -> Store {
        Store { inner: Arc::clone(&self.inner), asks: Some((owner, !sees_all)) }
    }

    /// Returns the sessions that this may see.
    pub(crate) fn reach(&self) -> Reach {
        match &self.asks {
            Some((owner, is_own)) => Reach::of(self.inner.seal.owner(Some(owner)), *is_own),
            None => Reach::default(),
        }
    }

    /// Returns its place.
    pub fn location(&self) -> &Location {
        &self.inner.location
    }

    /// Returns the notices of its opening, each in a sentence: it was damaged, others can read it. The log says it as well.
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// Returns the bounds of what is kept.
    pub fn retention(&self) -> Retention {
        self.inner.retention
    }

    /// Writes a record some time soon, or drops it where too many wait. Never waits.
    pub fn record(&self, record: Box<dyn Record>) {
        let waiting = &self.inner.waiting;
        let size = RECORD + record.size();
        let before = waiting.bytes.fetch_add(size, Ordering::Relaxed);
        let has_room = before + size <= waiting.most_bytes || before == 0;
        if !has_room || self.inner.records.try_send(record).is_err() {
            waiting.bytes.fetch_sub(size, Ordering::Relaxed);
            waiting.dropped.fetch_add(1, Ordering::Relaxed);
        } else if before <= MUCH && MUCH < before + size {
            waiting.is_much.notify_one();
        }
    }

    /// Returns the number of records that were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.inner.waiting.dropped.load(Ordering::Relaxed)
    }

    /// Writes a turn. When this returns it is on the disk.
    ///
    /// # Errors
    /// It is not: nothing of it is there.
    pub async fn write(&self, turn: NewTurn) -> Result<Written, StoreError> {
        self.job(|done| Job::Turn(Box::new(turn), done)).await
    }

    /// Adds nodes to a session, which begins with its first ones. When this returns they are on the disk.
    ///
    /// # Errors
    /// They are not: none of them is there.
    pub async fn append(&self, session: &str, nodes: Vec<NewNode>) -> Result<Written, StoreError> {
        let session = session.to_owned();
        self.job(|done| Job::Nodes(session, nodes, done)).await
    }

    /// Deletes a session. Returns whether there was one.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn delete(&self, session: &str) -> Result<bool, StoreError> {
        let (session, reach) = (session.to_owned(), self.reach());
        self.job(|done| Job::Delete(session, reach, done)).await
    }

    /// Deletes what is older or more than `retention` allows. Returns the number of sessions.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn sweep(&self, retention: Retention) -> Result<u64, StoreError> {
        self.job(|done| Job::Sweep(retention, done)).await
    }

    /// Waits until all records that were taken so far are written.
    ///
    /// # Errors
    /// The store is closed.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.job(Job::Flush).await
    }

    /// Returns the changes from this moment on.
    pub fn changes(&self) -> Changes {
        Changes { all: self.inner.changes.subscribe(), reach: self.reach() }
    }

    /// Writes what still waits, and ends. Other clones find it closed.
    pub fn close(&self) {
        self.inner.close();
    }

    pub(crate) fn database(&self) -> &Database {
        &self.inner.database
    }

    async fn job<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        self.inner.jobs.send(job(done)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Asks the database, on the store's own thread.
    pub(crate) async fn read<T, F>(&self, work: impl FnOnce(AnyPool) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let work = work(self.inner.readers.clone());
        self.inner.handle.spawn(work).await.map_err(|_| StoreError::Closed)?
    }
}

impl Inner {
    fn close(&self) {
        let ends = self.ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(Ends { stop, thread }) = ends else { return };
        // It may have ended by itself.
        let _ = stop.send(());
        // On its own thread nobody may wait for it.
        if thread::current().id() != thread.thread().id() {
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.inner.location)
    }
}

//! Threads for work that takes long: reading what a model wrote, parsing large bodies, compiling tools.
//!
//! In goes a piece of work and its size in bytes, out comes its result. Short work is done at once, on the caller's thread.
//! Everything else is done on another thread, so that no thread that serves requests is held by one of them. Nothing is decided
//! here about the text.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Work on this many bytes is done at once. A usual call has a few hundred. Going to another thread and back takes some ten
/// microseconds, as much as reading these bytes in a usual answer.
pub(crate) const SHORT: usize = 4 << 10;

/// The longest time that a serving thread reads before others have a turn: a tenth of the time that one notices.
const TURN: Duration = Duration::from_millis(1);

/// The pieces of work under way for each core. It is more than one: the system shares a core among threads, so that one long
/// answer delays others only a little.
const PER_CORE: usize = 4;

/// Does long work on threads of its own.
#[derive(Debug)]
pub(crate) struct Readers {
    free: Arc<Semaphore>,
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

impl Default for Readers {
    fn default() -> Readers {
        Readers::of(PER_CORE * cores())
    }
}

impl Readers {
    /// Makes this many threads.
    pub(crate) fn of(most: usize) -> Readers {
        Readers { free: Arc::new(Semaphore::new(most)) }
    }

    /// Makes one thread for each core, for work that takes memory as well.
    pub(crate) fn one_per_core() -> Readers {
        Readers::of(cores().max(2))
    }

    /// Begins `work` on a thread of its own, as soon as there is one for it, and does not wait for its end.
    pub(crate) async fn begin(&self, work: impl FnOnce() + Send + 'static) {
        // Nobody closes it; if somebody did, there would be no bound, and nothing else would change.
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        drop(tokio::task::spawn_blocking(move || {
            // It goes with the work: who leaves does not make room for more before that has ended.
            let _place = place;
            work();
        }));
    }

    /// Does `work`, at once if it is `short`. Work that has parts checks between them that somebody still waits for it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        is_short: bool,
        work: impl FnOnce(&Wanted) -> T + Send + 'static,
    ) -> T {
        match is_short {
            true => work(&Wanted::default()),
            false => self.elsewhere(work).await,
        }
    }

    /// Does `work` on a thread of its own.
    pub(crate) async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Wanted) -> T + Send + 'static,
    ) -> T {
        let waits = Waits(Wanted::default());
        let wanted = waits.0.clone();
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&wanted)
        });
        match done.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                // A defect is one wherever it is met.
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends, and with it whoever waits.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

/// Knows whether somebody waits for a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted(Arc<Left>);

#[derive(Debug, Default)]
struct Left(AtomicBool);

impl Wanted {
    /// Returns whether everybody who waited for it has left.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// The waiter for a piece of work.
struct Waits(Wanted);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.0.0.store(true, Ordering::Relaxed);
    }
}

/// The time that a serving thread has read for one request since others had a turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Duration,
    /// One piece took longer than a turn.
    is_slow: bool,
}

impl Turns {
    /// Returns whether one piece took longer than a turn. The next ones may as well, however short they are.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Does a piece of work on this thread.
    pub(crate) fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let took = begun.elapsed();
        self.taken += took;
        self.is_slow |= TURN < took;
        done
    }

    /// Lets others have their turn, if it is due.
    pub(crate) async fn give_way(&mut self) {
        if TURN < self.taken {
            self.taken = Duration::ZERO;
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn short_work_is_done_here_and_long_work_elsewhere() {
        let readers = Readers::default();
        let here = thread::current().id();
        assert_eq!(readers.run(true, |_| thread::current().id()).await, here);
        assert_ne!(readers.run(false, |_| thread::current().id()).await, here);
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_hears_of_it() {
        let readers = Readers::default();
        let (begins, begun) = oneshot::channel();
        let (ends, ended) = oneshot::channel();
        let mut work = Box::pin(readers.elsewhere(move |wanted| {
            begins.send(()).unwrap();
            while !wanted.has_ended() {
                thread::yield_now();
            }
            ends.send(()).unwrap();
        }));
        tokio::select! {
            () = &mut work => panic!("it waits for nobody to wait"),
            begun = begun => begun.unwrap(),
        }
        drop(work);
        ended.await.unwrap();
    }
}

//! Threads for work that takes long: reading what a model wrote, parsing large bodies, compiling tools.
//!
//! In goes a piece of work and how many bytes it is about, out comes what it came to. Short work is done at once, where it
//! is asked for. Everything else is done on another thread, so that no thread that serves requests is held by one of them.
//! Nothing is decided here about what is read.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// Work on so many bytes is done at once. A usual call has a few hundred; going to another thread and back takes some
/// ten microseconds, as much as reading these in a usual answer.
pub(crate) const SHORT: usize = 4 << 10;

/// A thread that serves requests reads for so long at most before others have a turn: a tenth of what one notices.
const TURN: Duration = Duration::from_millis(1);

/// So many pieces of work are under way for each core. More than one: the system shares a core among threads, so that one
/// long answer delays others a little and not until it is read.
const PER_CORE: usize = 4;

/// Does what takes long on threads of its own.
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
    /// Of so many threads.
    pub(crate) fn of(most: usize) -> Readers {
        Readers { free: Arc::new(Semaphore::new(most)) }
    }

    /// For work that takes memory as well.
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

    /// Does `work`, at once if it is `short`. Work that has parts looks between them whether somebody still waits for it.
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

/// Does somebody wait for this work?
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted(Arc<Left>);

#[derive(Debug, Default)]
struct Left(AtomicBool);

impl Wanted {
    /// Has everybody left who waited for it?
    pub(crate) fn has_ended(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// Whoever waits for a piece of work.
struct Waits(Wanted);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.0.0.store(true, Ordering::Relaxed);
    }
}

/// How long a thread that serves requests has read for one of them since others had a turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Duration,
    /// One piece took longer than a turn.
    is_slow: bool,
}

impl Turns {
    /// Did one piece take longer than a turn? Then the next ones may as well, however short they are.
    pub(crate) fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Does a piece of work here.
    pub(crate) fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        let took = begun.elapsed();
        self.taken += took;
        self.is_slow |= TURN < took;
        done
    }

    /// Lets others have theirs, where it is time for that.
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

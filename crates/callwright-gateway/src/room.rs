//! The room for the bodies of all requests that are in work: it bounds what clients can make this process hold.
//!
//! A body takes its share as its bytes come, unpacked, and gives it back once its request is answered. Where there is no room it
//! waits a little, and is refused then.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// The time for which a body waits for room. As long as it waits nothing more is read of it, and its client sends no more.
const PATIENCE: Duration = Duration::from_secs(2);

/// Room is dealt out in KiB: a semaphore counts, and so many bytes would not fit into 32 bits.
const UNIT: usize = 1 << 10;

/// The room for all bodies.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    free: Arc<Semaphore>,
    units: u32,
}

/// The share of one body, up to where it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for so many bytes.
    pub(crate) fn of(bytes: usize) -> Room {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        Room { free: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// The share of a body before its first byte.
    pub(crate) fn share(&self) -> Share {
        Share { room: self.clone(), taken: None }
    }
}

impl Share {
    /// Grows to so many bytes, if it is smaller.
    ///
    /// # Errors
    /// There is no room for them, and none becomes free in time; or there never could be.
    pub(crate) async fn holds(&mut self, bytes: usize) -> Result<(), Problem> {
        let too_large = || Problem::too_large(self.room.units as usize * UNIT);
        let units = u32::try_from(bytes.div_ceil(UNIT)).map_err(|_| too_large())?;
        if self.room.units < units {
            return Err(too_large());
        }
        let has = self.taken.as_ref().map_or(0, |taken| taken.num_permits() as u32);
        let Some(more) = units.checked_sub(has).filter(|more| 0 < *more) else { return Ok(()) };
        let free = Arc::clone(&self.room.free);
        let got = tokio::time::timeout(PATIENCE, free.acquire_many_owned(more)).await;
        let got = got.map_err(|_| Problem::no_room())?.map_err(|_| Problem::no_room())?;
        match &mut self.taken {
            Some(taken) => taken.merge(got),
            None => self.taken = Some(got),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asker;

    fn status(held: Result<(), Problem>) -> u16 {
        held.map_or_else(|problem| problem.into_response(&Asker::default()).status().as_u16(), |()| 200)
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_a_room() {
        let room = Room::of(8 * UNIT);
        let (mut first, mut second) = (room.share(), room.share());
        assert_eq!(status(first.holds(1).await), 200);
        assert_eq!(status(first.holds(5 * UNIT).await), 200);
        assert_eq!(status(first.holds(2 * UNIT).await), 200, "it has as much");
        assert_eq!(status(second.holds(3 * UNIT).await), 200);
        assert_eq!(status(second.holds(4 * UNIT).await), 503);
        assert_eq!(status(second.holds(9 * UNIT).await), 413, "so much is never free");
        let waits = second.holds(8 * UNIT);
        let (waited, ()) = tokio::join!(waits, async { drop(first) });
        assert_eq!(status(waited), 200);
    }
}

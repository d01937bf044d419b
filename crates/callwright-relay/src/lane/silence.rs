//! Signs of life for a client that waits.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::reply::BodySender;

/// The silence after which a sign of life goes out while something is held: the shortest idle limit that is known of a gateway.
pub(super) const SILENCE: Duration = Duration::from_secs(10);

/// Waits for `work`; meanwhile the client hears of it by `beat`, if there is one.
pub(super) async fn in_silence<T>(
    to: &BodySender,
    beat: Option<&'static str>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    loop {
        match (timeout(SILENCE, &mut work).await, beat) {
            (Ok(done), _) => return done,
            (Err(_), Some(beat)) => to.write(beat.as_bytes()),
            (Err(_), None) => {}
        }
    }
}

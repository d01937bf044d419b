//! Runs what asks others: each command that does makes one runtime, and nothing below it makes another.

use crate::failure::Failure;

/// Waits for `work`. It may not be called from within itself: what is asked on the way is awaited.
///
/// # Errors
/// Those of `work`, or the system gives no runtime.
pub(crate) fn on_runtime<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Config(format!("no threads: {error}")))?;
    let done = runtime.block_on(work);
    // Standard input is read by a thread that cannot be told to stop.
    runtime.shutdown_background();
    done
}

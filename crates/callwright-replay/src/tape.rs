//! A body as steps: what is written, what is waited for, and how it breaks off.
//!
//! [`with_faults`] makes the steps; [`Tape`] plays them, and tells its watch how it ended.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::fault::{Cut, Fault, Garbage, Goodbye};
use crate::form::Random;
use crate::line::ResetSwitch;
use crate::record::Watch;

/// One step of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// These bytes are written, and flushed.
    Write(Bytes),
    /// Nothing happens for this long.
    Wait(Duration),
    /// Nothing happens any more.
    Stall,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
}

/// The steps of `writes` under `fault`, and the length that the body would have without a broken connection.
pub(crate) fn with_faults(mut writes: Vec<Bytes>, fault: &Fault) -> (Vec<Step>, u64) {
    if let Some(Garbage { after, length, seed }) = fault.garbage {
        let mut random = Random(seed);
        let garbage: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        let at = split(&mut writes, after);
        writes.insert(at, garbage.into());
    }
    let mut end = None;
    let mut announced = length(&writes);
    if let Some(Cut { after, percent, how }) = fault.cut {
        let whole = length(&writes) as usize;
        let after = percent.map_or(after, |percent| whole * usize::from(percent) / 100);
        let at = split(&mut writes, after);
        writes.truncate(at);
        end = match how {
            Goodbye::End => None,
            Goodbye::Close => Some(Step::Close),
            Goodbye::Reset => Some(Step::Reset),
        };
        // More is promised than comes, or the client could not tell that something is missing.
        announced = if end.is_some() { announced.max(length(&writes) + 1) } else { length(&writes) };
    }
    if let Some(after) = fault.stall_after {
        let at = split(&mut writes, after);
        writes.truncate(at);
        end = Some(Step::Stall);
    }
    let between = Duration::from_millis(fault.between_ms);
    let mut steps = Vec::new();
    for (number, write) in writes.into_iter().enumerate() {
        if 0 < number && !between.is_zero() {
            steps.push(Step::Wait(between));
        }
        steps.push(Step::Write(write));
    }
    steps.extend(end);
    (steps, announced)
}

fn length(writes: &[Bytes]) -> u64 {
    writes.iter().map(|write| write.len() as u64).sum()
}

/// Splits the write that holds the place behind `after` bytes; the number of the write that begins there.
fn split(writes: &mut Vec<Bytes>, after: usize) -> usize {
    let mut passed = 0;
    for at in 0..writes.len() {
        let Some(write) = writes.get_mut(at) else { break };
        if after <= passed {
            return at;
        }
        if after < passed + write.len() {
            let tail = write.split_off(after - passed);
            writes.insert(at + 1, tail);
            return at + 1;
        }
        passed += write.len();
    }
    writes.len()
}

/// A body that is being written.
pub(crate) struct Tape {
    steps: std::vec::IntoIter<Step>,
    length: Option<u64>,
    wait: Option<Pin<Box<Sleep>>>,
    /// The last bytes have still to be flushed.
    unflushed: bool,
    reset: ResetSwitch,
    watch: Watch,
}

impl Tape {
    pub(crate) fn new(steps: Vec<Step>, length: Option<u64>, reset: ResetSwitch, watch: Watch) -> Tape {
        Tape { steps: steps.into_iter(), length, wait: None, unflushed: false, reset, watch }
    }
}

/// The connection is to be closed before the body's end.
#[derive(Debug)]
pub(crate) struct BrokenOff;

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken off on purpose")
    }
}

impl std::error::Error for BrokenOff {}

impl Body for Tape {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        loop {
            if std::mem::take(&mut self.unflushed) {
                // The connection flushes when a body has nothing to give: each write leaves by itself.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(wait) = &mut self.wait {
                std::task::ready!(wait.as_mut().poll(cx));
                self.wait = None;
            }
            match self.steps.next() {
                Some(Step::Write(bytes)) => {
                    self.unflushed = true;
                    if self.steps.as_slice().is_empty() {
                        // With a length announced, nobody asks whether there is more.
                        self.watch.complete();
                    }
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Step::Wait(duration)) => self.wait = Some(Box::pin(sleep(duration))),
                Some(Step::Stall) => {
                    self.steps = vec![Step::Stall].into_iter();
                    // Only the client's hang-up ends it, and that drops the body.
                    return Poll::Pending;
                }
                Some(Step::Close) => {
                    self.watch.complete();
                    return Poll::Ready(Some(Err(BrokenOff)));
                }
                Some(Step::Reset) => {
                    self.watch.complete();
                    self.reset.arm();
                    return Poll::Ready(Some(Err(BrokenOff)));
                }
                None => {
                    self.watch.complete();
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(fault: &Fault) -> (Vec<Step>, u64) {
        with_faults(vec![Bytes::from("abc"), Bytes::from("def")], fault)
    }

    fn write(text: &'static str) -> Step {
        Step::Write(Bytes::from(text))
    }

    #[test]
    fn a_cut_is_made_at_the_byte() {
        let cut = |after, how| Fault { cut: Some(Cut { after, percent: None, how }), ..Fault::default() };
        assert_eq!(steps(&Fault::default()), (vec![write("abc"), write("def")], 6));
        assert_eq!(steps(&cut(0, Goodbye::End)), (vec![], 0));
        assert_eq!(steps(&cut(2, Goodbye::End)), (vec![write("ab")], 2));
        assert_eq!(steps(&cut(3, Goodbye::Close)), (vec![write("abc"), Step::Close], 6));
        assert_eq!(steps(&cut(5, Goodbye::Reset)), (vec![write("abc"), write("de"), Step::Reset], 6));
        assert_eq!(steps(&cut(9, Goodbye::Reset)), (vec![write("abc"), write("def"), Step::Reset], 7));
        let half = Cut { after: 0, percent: Some(50), how: Goodbye::Close };
        let half = Fault { cut: Some(half), ..Fault::default() };
        assert_eq!(steps(&half), (vec![write("abc"), Step::Close], 6));
    }

    #[test]
    fn other_faults_stand_where_they_are_asked_for() {
        let stall = Fault { stall_after: Some(4), between_ms: 9, ..Fault::default() };
        let wait = Step::Wait(Duration::from_millis(9));
        assert_eq!(steps(&stall).0, [write("abc"), wait, write("d"), Step::Stall]);
        let garbage = Fault { garbage: Some(Garbage { after: 1, length: 8, seed: 1 }), ..Fault::default() };
        let (steps, length) = steps(&garbage);
        assert_eq!((steps.len(), length), (4, 14));
        assert_eq!((&steps[0], &steps[2]), (&write("a"), &write("bc")));
    }
}

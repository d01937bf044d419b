//! Many cases in one run: a line in, a line out, in order, in constant memory.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::args::LinesArgs;
use crate::failure::Failure;
use crate::input::{self, Line};
use crate::view;

/// The answer to one line.
pub(crate) struct Answer {
    /// One line of JSON, without its end.
    pub(crate) json: String,
    /// Could the line be used at all?
    pub(crate) usable: bool,
}

impl Answer {
    /// The answer to a line that cannot be used. `id` is JSON text.
    pub(crate) fn unusable(id: &str, why: &str) -> Answer {
        Answer { json: view::json(&view::Unusable { id: view::Raw(id), error: why }), usable: false }
    }
}

/// Answers each line of `from` that is not blank.
///
/// # Errors
/// When reading or writing fails; at the end, when some lines could not be used.
pub(crate) fn run(
    from: &mut dyn BufRead,
    to: &mut (dyn Write + Send),
    args: &LinesArgs,
    answer: &(dyn Fn(&str) -> Answer + Sync),
) -> Result<(), Failure> {
    let unusable = match args.jobs.get() {
        1 => in_turn(from, to, args, answer)?,
        jobs => at_once(from, to, args, jobs, answer)?,
    };
    if unusable == 0 { Ok(()) } else { Err(Failure::Lines(unusable)) }
}

/// One line after the other: whoever waits for an answer before the next line gets it.
fn in_turn(
    from: &mut dyn BufRead,
    to: &mut (dyn Write + Send),
    args: &LinesArgs,
    answer: &(dyn Fn(&str) -> Answer + Sync),
) -> Result<usize, Failure> {
    let mut unusable = 0;
    let mut line = Vec::new();
    let mut number = 0;
    while let Some(read) = next(from, &mut line, &mut number, args)? {
        unusable += write(to, read.answered(&line, answer))?;
    }
    Ok(unusable)
}

/// `jobs` workers. Each line takes with it the sending end on which its answer will come; the receiving ends
/// queue in the order of the lines, so the writer needs to sort nothing. Both queues are bounded: a slow
/// reader of the answers slows down everything else.
fn at_once(
    from: &mut dyn BufRead,
    to: &mut (dyn Write + Send),
    args: &LinesArgs,
    jobs: usize,
    answer: &(dyn Fn(&str) -> Answer + Sync),
) -> Result<usize, Failure> {
    let (give, take) = sync_channel::<Job>(jobs);
    let (queue, answers) = sync_channel::<Receiver<Answer>>(4 * jobs);
    let take = Mutex::new(take);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| work(&take, answer));
        }
        let writer = scope.spawn(move || -> io::Result<usize> {
            let mut unusable = 0;
            for answer in answers.into_iter().filter_map(|answer| answer.recv().ok()) {
                unusable += write(to, answer)?;
            }
            Ok(unusable)
        });
        let read = feed(from, args, &give, &queue);
        drop((give, queue));
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer has died")));
        read?;
        Ok(written?)
    })
}

struct Job {
    read: Read,
    line: Vec<u8>,
    done: SyncSender<Answer>,
}

fn feed(
    from: &mut dyn BufRead,
    args: &LinesArgs,
    give: &SyncSender<Job>,
    queue: &SyncSender<Receiver<Answer>>,
) -> Result<(), Failure> {
    let mut number = 0;
    let mut line = Vec::new();
    while let Some(read) = next(from, &mut line, &mut number, args)? {
        let (done, answer) = sync_channel(1);
        // Nobody takes answers any more: the writer has ended, and says why.
        if queue.send(answer).is_err() || give.send(Job { read, line, done }).is_err() {
            break;
        }
        line = Vec::new();
    }
    Ok(())
}

fn work(take: &Mutex<Receiver<Job>>, answer: &(dyn Fn(&str) -> Answer + Sync)) {
    loop {
        let job = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { read, line, done }) = job else { return };
        // A writer that has ended wants no answer.
        let _ = done.send(read.answered(&line, answer));
    }
}

/// How the reading of one line went, and which line it is, counted from 1.
struct Read {
    number: usize,
    too_long: Option<usize>,
}

impl Read {
    fn answered(&self, line: &[u8], answer: &(dyn Fn(&str) -> Answer + Sync)) -> Answer {
        let number = self.number;
        if let Some(max) = self.too_long {
            return Answer::unusable("null", &format!("line {number} is longer than {max} bytes"));
        }
        match std::str::from_utf8(line) {
            Ok(text) => answer(text.trim_start_matches('\u{feff}')),
            Err(error) => {
                let at = error.valid_up_to();
                Answer::unusable("null", &format!("line {number} is not UTF-8 at byte {at}"))
            }
        }
    }
}

/// The next line that is not blank.
fn next(
    from: &mut dyn BufRead,
    line: &mut Vec<u8>,
    number: &mut usize,
    args: &LinesArgs,
) -> Result<Option<Read>, Failure> {
    let max = args.max_line.get();
    loop {
        let read = input::read_line(from, line, max).map_err(|e| Failure::Read("the lines".into(), e))?;
        *number += 1;
        match read {
            Line::End => return Ok(None),
            Line::TooLong => return Ok(Some(Read { number: *number, too_long: Some(max) })),
            Line::Read if line.trim_ascii().is_empty() => {}
            Line::Read => return Ok(Some(Read { number: *number, too_long: None })),
        }
    }
}

/// Writes one answer and hands it on at once. Returns 1 if its line could not be used.
fn write(to: &mut dyn Write, mut answer: Answer) -> io::Result<usize> {
    // In one piece: a line is one system call.
    answer.json.push('\n');
    to.write_all(answer.json.as_bytes())?;
    to.flush()?;
    Ok(usize::from(!answer.usable))
}

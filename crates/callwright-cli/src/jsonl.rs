//! Many cases in one run: a line in, a line out, in order, in constant memory.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use callwright_json::Value;

use crate::args::LinesArgs;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input::{self, Line};
use crate::view;

/// Answers one line by one line of JSON, without its end.
pub(crate) type Answering<'a> = &'a (dyn Fn(&str) -> Result<String, Unusable> + Sync);

/// A line that cannot be used.
pub(crate) struct Unusable {
    /// The line's id, as JSON text.
    id: String,
    why: String,
}

impl Unusable {
    pub(crate) fn new(id: &str, why: impl Into<String>) -> Unusable {
        Unusable { id: id.to_owned(), why: why.into() }
    }
}

/// The members that lines of a command have.
pub(crate) struct Members {
    known: &'static [&'static str],
    /// The unknown ones that a person has been told of.
    told: Mutex<HashSet<String>>,
}

/// As many unknown members are told of: a line may have any number.
const MOST_TOLD: usize = 16;

impl Members {
    pub(crate) fn new(known: &'static [&'static str]) -> Members {
        Members { known, told: Mutex::default() }
    }

    /// Tells of each member that `case` has in place of a known one, once. Members with other names are the user's own:
    /// `"model"`, but not `"tols"` or `"finishReason"`.
    pub(crate) fn check(&self, case: Value<'_>) {
        for (key, _) in case.members() {
            let Some(key) = key.as_str().filter(|key| !self.known.contains(&&**key)) else { continue };
            let is_meant = |name: &&&str| is_near(&key, name) && case.get(name).is_none();
            let Some(meant) = self.known.iter().find(is_meant) else { continue };
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MOST_TOLD && told.insert(key.to_string()) {
                let key = harmless(&key);
                let _ = writeln!(io::stderr(), "callwright: `{key}` is ignored: did you mean `{meant}`?");
            }
        }
    }
}

/// Returns whether `key` is a slip of `name`: at most a letter in four is another one.
fn is_near(key: &str, name: &str) -> bool {
    // Longer keys are no slips, and cost their length squared.
    key.len() <= 2 * name.len() && 4 * strsim::damerau_levenshtein(key, name) <= name.len()
}

struct Answer {
    json: String,
    usable: bool,
}

impl Answer {
    fn of(answer: Result<String, Unusable>, number: usize) -> Answer {
        match answer {
            Ok(json) => Answer { json, usable: true },
            Err(Unusable { id, why }) => {
                let error = &format!("line {number}: {why}");
                Answer { json: view::json(&view::Unusable { id: view::Raw(&id), error }), usable: false }
            }
        }
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
    answer: Answering<'_>,
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
    answer: Answering<'_>,
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
    answer: Answering<'_>,
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

fn work(take: &Mutex<Receiver<Job>>, answer: Answering<'_>) {
    loop {
        let job = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { read, line, done }) = job else { return };
        // A writer that has ended wants no answer.
        let _ = done.send(read.answered(&line, answer));
    }
}

/// The reading of one line, and its number, counted from 1.
struct Read {
    number: usize,
    too_long: Option<usize>,
}

impl Read {
    fn answered(&self, line: &[u8], answer: Answering<'_>) -> Answer {
        let answered = match (self.too_long, std::str::from_utf8(line)) {
            (Some(max), _) => Err(Unusable::new("null", format!("longer than {max} bytes"))),
            _ if input::is_utf16(line) => Err(Unusable::new("null", "looks like UTF-16, not UTF-8")),
            (None, Ok(text)) => answer(input::without_mark(text)),
            (None, Err(error)) => {
                Err(Unusable::new("null", format!("not UTF-8 at byte {}", error.valid_up_to())))
            }
        };
        Answer::of(answered, self.number)
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

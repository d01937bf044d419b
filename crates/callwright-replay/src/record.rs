//! A record of the requests, and of the end of each answer. Keys are never kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use callwright_value::json;
use callwright_value::{Map, Value};
use tokio::sync::watch;

/// Headers whose values are keys.
const SECRETS: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "set-cookie",
];

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its number, counted from 1.
    pub number: usize,
    /// When all of it was there.
    pub at: Instant,
    /// `POST`, `GET`, ….
    pub method: String,
    /// The path, and the query where there is one.
    pub path: String,
    /// The headers, names in lower case. A key's value is `***`.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Bytes,
    /// The answer of the script that it got, counted from 1; `None` where it got another one.
    pub answer: Option<usize>,
    /// The end of the answer.
    pub ending: Ending,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is still being given.
    Open,
    /// All of it was handed over, also where it was to break off.
    Complete,
    /// The client hung up before that.
    HungUp(Instant),
}

impl Recorded {
    /// The body as JSON; null for any other body.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The value of a header; its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All of it as one line of JSON without a line end. A body that is not JSON is a text in it.
    pub fn line(&self) -> String {
        let text = || Value::from(String::from_utf8_lossy(&self.body));
        let headers: Map =
            self.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        json!({
            "number": self.number,
            "method": self.method,
            "path": self.path,
            "headers": headers,
            "answer": self.answer,
            "body": serde_json::from_slice::<Value>(&self.body).unwrap_or_else(|_| text()),
        })
        .to_string()
    }
}

/// Takes the value out of a header that holds a key.
pub(crate) fn harmless(name: &str, value: &[u8]) -> String {
    if SECRETS.contains(&name) { "***".into() } else { String::from_utf8_lossy(value).into_owned() }
}

/// A function that is called with each request as it comes, before it is answered.
pub type Note = Box<dyn FnMut(&Recorded) + Send>;

/// The requests so far.
pub(crate) struct Log {
    kept: Mutex<Kept>,
    note: Mutex<Option<Note>>,
    changed: watch::Sender<()>,
}

struct Kept {
    requests: VecDeque<Recorded>,
    /// The number of all requests.
    seen: usize,
    most: usize,
}

impl Log {
    /// Keeps the last `most` requests.
    pub(crate) fn new(most: usize, note: Option<Note>) -> Log {
        let kept = Kept { requests: VecDeque::new(), seen: 0, most };
        Log { kept: Mutex::new(kept), note: Mutex::new(note), changed: watch::Sender::new(()) }
    }

    /// Takes a request in; it is numbered here.
    pub(crate) fn add(self: &Arc<Log>, mut recorded: Recorded) -> Watch {
        let mut kept = self.kept();
        kept.seen += 1;
        recorded.number = kept.seen;
        if let Some(note) = self.note.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            note(&recorded);
        }
        let watch = Watch { log: Arc::clone(self), number: recorded.number, is_over: false };
        kept.requests.push_back(recorded);
        if kept.most < kept.requests.len() {
            kept.requests.pop_front();
        }
        drop(kept);
        self.changed.send_replace(());
        watch
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.kept().requests.iter().cloned().collect()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn end(&self, number: usize, ending: Ending) {
        let mut kept = self.kept();
        if let Some(recorded) = kept.requests.iter_mut().rev().find(|recorded| recorded.number == number) {
            recorded.ending = ending;
        }
        drop(kept);
        self.changed.send_replace(());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing that holds the lock leaves the list half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows one answer. What is dropped before it was complete, the client did not wait for.
pub(crate) struct Watch {
    log: Arc<Log>,
    number: usize,
    is_over: bool,
}

impl Watch {
    /// All of the answer was handed over.
    pub(crate) fn complete(&mut self) {
        if !self.is_over {
            self.is_over = true;
            self.log.end(self.number, Ending::Complete);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.is_over {
            self.log.end(self.number, Ending::HungUp(Instant::now()));
        }
    }
}

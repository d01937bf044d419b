//! The user's lines: from a line editor with a history at a terminal, else plain lines.

use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

/// The number of lines that the history keeps.
const HISTORY: usize = 1000;
/// The longest line of a plain input.
const MAX_LINE: u64 = 1 << 20;

/// A line of the user's, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Said(String),
    /// Ctrl-C at the prompt.
    Interrupted,
    /// There is nothing more to come.
    End,
}

/// Shared by whoever asks the user: one at a time.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Mutex<Source>>);

enum Source {
    Editor { editor: Box<Editor<(), FileHistory>>, history: Option<PathBuf> },
    Plain,
}

impl Lines {
    /// An editor where both ends are a terminal, with the history in this file.
    pub(crate) fn open(history: Option<PathBuf>) -> Lines {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let editor = is_terminal.then(|| Editor::with_config(Config::default())).and_then(Result::ok);
        let source = match editor {
            Some(mut editor) => {
                // A history that cannot be read, or is none yet, is empty.
                let _ = editor.set_max_history_size(HISTORY);
                let _ = history.as_ref().map(|path| editor.load_history(path));
                Source::Editor { editor: Box::new(editor), history }
            }
            None => Source::Plain,
        };
        Lines(Arc::new(Mutex::new(source)))
    }

    /// Returns whether there is a person at a terminal.
    pub(crate) fn is_edited(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), Source::Editor { .. })
    }

    /// Reads the user's words to the model or the session. A line that ends in `\` goes on in the next one.
    pub(crate) fn message(&self, prompt: &str) -> Line {
        let mut said = String::new();
        loop {
            let prompt = if said.is_empty() { prompt } else { "… " };
            match self.read(prompt) {
                Line::Said(line) => match line.strip_suffix('\\') {
                    Some(line) => {
                        said.push_str(line);
                        said.push('\n');
                    }
                    None => {
                        said.push_str(&line);
                        self.remember(&said);
                        return Line::Said(said);
                    }
                },
                Line::End if !said.is_empty() => return Line::Said(said),
                other => return other,
            }
        }
    }

    /// An answer to a question; it is not kept.
    pub(crate) fn read(&self, prompt: &str) -> Line {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Source::Editor { editor, .. } => match editor.readline(prompt) {
                Ok(line) => Line::Said(line),
                Err(ReadlineError::Interrupted) => Line::Interrupted,
                Err(_) => Line::End,
            },
            Source::Plain => plain(),
        }
    }

    fn remember(&self, line: &str) {
        let source = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Source::Editor { editor, history } = source
            && !line.trim().is_empty()
        {
            // What cannot be kept is forgotten.
            let _ = editor.add_history_entry(line);
            let _ = history.as_ref().map(|path| editor.save_history(path));
        }
    }
}

fn plain() -> Line {
    let mut line = Vec::new();
    let mut input = io::Read::take(io::stdin().lock(), MAX_LINE);
    match input.read_until(b'\n', &mut line) {
        Ok(1..) => {
            let line = String::from_utf8_lossy(&line);
            Line::Said(line.trim_end_matches(['\n', '\r']).to_owned())
        }
        Ok(0) | Err(_) => Line::End,
    }
}

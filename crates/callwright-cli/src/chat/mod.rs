//! `callwright chat`: a session with a model at the terminal, or through pipes.

mod boxed;
mod command;
mod lines;
mod markdown;
mod screen;
mod setup;

use std::fmt::Write;
use std::sync::atomic::Ordering;

use callwright_agent::run::{Cancel, Outcome, RunError};
use callwright_agent::{By, Effect, World, shown};

use crate::agent::each_interrupt;
use crate::agent::paint::{Paint, Style};
use crate::args::ChatArgs;
use crate::failure::Failure;
use crate::harmless::harmless;
use command::{Command, HELP, command, message};
use lines::Line;
use screen::Screen;
use setup::{Session, failure};

/// Talks until the user leaves.
pub(crate) fn run(args: &ChatArgs, is_colored: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Config(format!("no threads: {error}")))?;
    let env = |name: &str| std::env::var(name).ok();
    let mut chat = Chat {
        session: runtime.block_on(Session::open(args, &env, Paint { is_on: is_colored }))?,
        given: args.agent.given.without(&["session", "resume"]),
        undone: Vec::new(),
    };
    chat.greet();
    let mut done = match args.resume {
        Some(_) => runtime.block_on(chat.go_on()),
        None => Ok(()),
    };
    while done.is_ok() {
        let line = match chat.session.lines.message("› ") {
            Line::Said(line) => line,
            // What was typed is thrown away; the session stays.
            Line::Interrupted => continue,
            Line::End => break,
        };
        done = match command(&line) {
            Some(Command::Exit) => break,
            Some(command) => runtime.block_on(chat.obey(command)),
            None if line.trim().is_empty() => Ok(()),
            None => runtime.block_on(chat.ask(message(&line))),
        };
    }
    runtime.block_on(chat.session.close());
    // A question to the user may still wait on a thread for its line.
    runtime.shutdown_background();
    done
}

struct Chat {
    session: Session,
    /// The options that it was started with, for the command that goes on with it.
    given: String,
    /// The changes that the user took back since the model was asked last.
    undone: Vec<String>,
}

impl Chat {
    fn greet(&self) {
        let Session { runner, screen, lines, .. } = &self.session;
        let model = runner.with().model.as_deref().unwrap_or("the upstream's model");
        let mut text = format!("{}, policy {}", harmless(model), runner.machine().settings().policy.name());
        if self.session.store.is_some() {
            let _ = write!(text, ", session {}", shown(&self.session.id));
        }
        if lines.is_edited() {
            text.push_str("; help says what can be said");
        }
        screen.say(&screen.paint().of(Style::Dim, &text));
    }

    /// Says something to the model, and lets it work until it is done.
    async fn ask(&mut self, text: &str) -> Result<(), Failure> {
        let mut said = String::new();
        for change in self.undone.drain(..) {
            let _ = writeln!(said, "(The user has taken back: {change}.)");
        }
        said.push_str(text);
        let is_heard = self.session.runner.say(&said).await.map_err(failure)?;
        if !is_heard {
            self.say("The calls of the last answer come first; what you wrote was not sent.\n");
        }
        self.go_on().await
    }

    /// Lets the run go on. Ctrl-C cancels it.
    async fn go_on(&mut self) -> Result<(), Failure> {
        let cancel = self.session.runner.cancel();
        let screen = self.session.screen.clone();
        let pressing = tokio::spawn(each_interrupt(move || press(&cancel, &screen)));
        let outcome = self.session.runner.run().await;
        pressing.abort();
        match outcome {
            Ok(Outcome::Ended(_) | Outcome::Blocked(_)) => Ok(()),
            Err(error @ RunError::Stopped) => {
                // What running calls came to is not known: only the journal can tell them from finished ones.
                let mut why = error.to_string();
                if self.session.store.is_some() {
                    let (id, given) = (shown(&self.session.id), &self.given);
                    let _ = write!(why, "; callwright chat --resume {id}{given} goes on");
                }
                self.say(&why);
                Err(Failure::Ended(130))
            }
            Err(error) => Err(failure(error)),
        }
    }

    fn say(&self, text: &str) {
        self.session.screen.say(text);
    }

    async fn obey(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Verbose(wanted) => {
                let verbose = &self.session.screen.shows().verbose;
                if let Some(wanted) = wanted {
                    verbose.store(wanted, Ordering::Relaxed);
                }
                let is_on = verbose.load(Ordering::Relaxed);
                self.say(if is_on { "verbose is on\n" } else { "verbose is off\n" });
            }
            Command::Policy(wanted) => {
                if let Some(wanted) = wanted {
                    self.session.runner.set(|settings| settings.policy = wanted).await.map_err(failure)?;
                }
                self.say(&format!("policy {}\n", self.session.runner.machine().settings().policy.name()));
            }
            Command::Model(wanted) => {
                if wanted.is_some() {
                    self.session.runner.with_mut().model = wanted;
                }
                let model = self.session.runner.with().model.as_deref();
                self.say(&format!("model {}\n", harmless(model.unwrap_or("of the upstream"))));
            }
            Command::Tools => self.say(&self.tools()),
            Command::Undo => self.undo(),
            Command::Dump => self.dump().await,
            Command::Cost => self.say(&format!("{}\n", self.session.runner.machine().account())),
            Command::Help => self.say(HELP),
            Command::NoPolicy(name) => {
                self.say(&format!(
                    "{}: no such policy; they are auto, heal, feedback, strict\n",
                    shown(&name)
                ));
            }
            Command::Unknown(line) => {
                self.say(&format!("{}: no such command; help lists them\n", shown(&line)))
            }
            Command::Exit => {}
        }
        Ok(())
    }

    fn tools(&self) -> String {
        let toolbox = &self.session.runner.with().toolbox;
        let width = toolbox.names().map(str::len).max().unwrap_or_default();
        let mut out = String::new();
        for tool in toolbox.tool_set().iter() {
            let kind = toolbox.get(tool.name()).map(|tool| tool.kind());
            let effect = match kind.map(|kind| (kind.effect, kind.world)) {
                Some((Effect::Read, World::Closed)) => "reads",
                Some((Effect::Read, World::Open)) => "reads, reaches others",
                Some((Effect::Write, _)) => "writes",
                Some((Effect::Destructive, _)) | None => "anything",
            };
            let first = tool.description().lines().next().unwrap_or_default();
            let _ = writeln!(out, "{:width$}  {effect:21}  {}", tool.name(), shown(first));
        }
        out
    }

    /// The model does not know of it until it is told with the next message.
    fn undo(&mut self) {
        match self.session.agent.changes.undo(By { call: "user", approved: true }, None) {
            Ok(change) => {
                let what = format!("change {} of {}", change.number, change.path.display());
                self.say(&format!("undone: {}\n", shown(&what)));
                self.undone.push(what);
            }
            Err(error) => self.say(&format!("{}\n", shown(&error.to_string()))),
        }
    }

    async fn dump(&self) {
        let (Some(store), Some(dumps)) = (&self.session.store, &self.session.dumps) else {
            return self.say("nothing is kept of this session\n");
        };
        let written = async {
            let dump = store.dump(&self.session.id).await.map_err(|error| error.to_string())?;
            dump.ok_or("nothing was said yet")?.write(dumps).map_err(|error| error.to_string())
        };
        match written.await {
            Ok(path) => self.say(&format!("{}\n", shown(&path.display().to_string()))),
            Err(why) => self.say(&format!("no dump was written: {}\n", shown(&why))),
        }
    }
}

/// Once for the turn to be finished, twice for an end at once.
fn press(cancel: &Cancel, screen: &Screen) {
    if !cancel.is_pressed() {
        screen.say(&screen.paint().of(Style::Dim, "ending the turn; Ctrl-C once more stops at once"));
    }
    cancel.press();
}

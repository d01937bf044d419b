//! Whoever sits at the terminal: approves calls, and answers questions of the model.

use std::future::Future;
use std::io::{self, BufRead, Write};
use std::pin::Pin;
use std::sync::Arc;

use callwright_agent::run::{Approval, Approver, Approving};
use callwright_agent::tools::{Answer, Host, Question};
use callwright_agent::{ApprovalRequest, Workspace, shown};

use super::paint::Paint;
use super::preview::{ANSWERS, NO_ANSWER, indented, preview, said};

/// Asks on standard error, and reads the answer from standard input.
pub(crate) struct Terminal {
    /// The files that calls would change.
    pub(crate) workspace: Arc<Workspace>,
}

impl Approver for Terminal {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(async move {
            let preview = preview(&self.workspace, request, Paint { is_on: false });
            let mut question =
                format!("\nRun this?\n{}{preview}{ANSWERS}", indented(&request.to_string(), 2));
            loop {
                let Some(line) = read_line(question).await else { return Approval::Nobody };
                match said(&line) {
                    Some(approval) => return approval,
                    None => question = format!("{NO_ANSWER}\n{ANSWERS}"),
                }
            }
        })
    }
}

impl Host for Terminal {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let options: String = (1..)
                .zip(&question.options)
                .map(|(number, option)| format!("  {number}. {}\n", shown(option)))
                .collect();
            let text = format!("\nThe model asks: {}\n{options}> ", shown(&question.text));
            let Some(answer) = read_line(text).await else { return Answer::Nobody };
            let answer = answer.trim();
            let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            match number.and_then(|at| question.options.get(at)) {
                Some(option) => Answer::Said(option.clone()),
                None if answer.is_empty() => Answer::Declined,
                None => Answer::Said(answer.to_owned()),
            }
        })
    }

    fn finished(&self, _summary: &str) {}
}

/// Forgets what was typed before a question was there to be read: it answers something else.
pub(crate) fn forget_typed() {
    // Where it is no terminal, nothing was typed.
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Nobody sits there.
pub(crate) struct NobodyThere;

impl Host for NobodyThere {
    fn ask<'a>(&'a self, _question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(Answer::Nobody))
    }

    fn finished(&self, _summary: &str) {}
}

/// The line that the user writes; none where the terminal is gone.
async fn read_line(question: String) -> Option<String> {
    let asked = tokio::task::spawn_blocking(move || {
        forget_typed();
        let mut err = io::stderr().lock();
        write!(err, "{question}").and_then(|()| err.flush()).ok()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line).ok()?;
        (0 < read).then_some(line)
    });
    asked.await.ok().flatten()
}

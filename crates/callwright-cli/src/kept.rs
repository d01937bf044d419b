//! The store as the command line reads it: `sessions`, `show`, `view` and `export`.

use std::io::{self, Write};
use std::net::SocketAddr;

use callwright_gateway::{Viewer, ViewerError};
use callwright_store::{Dump, Filter, Session, Store, Summary, rfc3339};

use crate::args::{ExportArgs, ExportForm, KeptArgs, SessionsArgs, ShowArgs, ViewArgs};
use crate::config::Config;
use crate::draw::Pen;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input;
use crate::sft;
use crate::view;

/// So many sessions are read at a time.
const PAGE: usize = 100;

/// `callwright sessions`: a line for each session, the youngest first.
pub(crate) fn sessions(args: &SessionsArgs) -> Result<(), Failure> {
    let filter = Filter {
        outcome: args.outcome.clone(),
        model: args.model.clone(),
        mode: args.mode.clone(),
        dialect: args.dialect.clone(),
        surface: args.surface.clone(),
        error: args.error.clone(),
        text: args.text.clone(),
    };
    let mut out = io::stdout().lock();
    let mut has_header = args.json;
    each(&args.kept, &filter, args.limit, |_, summary| {
        if !std::mem::replace(&mut has_header, true) {
            writeln!(out, "{HEADER}")?;
        }
        match args.json {
            true => writeln!(out, "{}", view::json(&summary)),
            false => writeln!(out, "{}", line(summary)),
        }
        .map_err(Failure::from)
    })
}

/// `callwright show ID`: a session, with what was repaired in its place.
pub(crate) fn show(args: &ShowArgs, pen: Pen) -> Result<(), Failure> {
    let session = match open(&args.kept)? {
        Some(store) => ask(store.session(&args.id))?,
        None => None,
    };
    let session = session.ok_or_else(|| Failure::NoSession(args.id.clone()))?;
    draw(session, args.json, pen)
}

/// `callwright view FILE`: the same for a dump, from whatever machine.
pub(crate) fn view(args: &ViewArgs, pen: Pen) -> Result<(), Failure> {
    let text = input::text(&args.file)?;
    let dump =
        Dump::from_json(&text).map_err(|error| Failure::Definitions(args.file.clone(), error.to_string()))?;
    match args.listen {
        Some(listen) => browse(dump, listen),
        None => draw(dump.into_session(), args.json, pen),
    }
}

/// Serves a dump as a page. The first line of the output says where.
fn browse(dump: Dump, listen: SocketAddr) -> Result<(), Failure> {
    let viewer = Viewer::new(dump, listen).map_err(|error| match error {
        ViewerError::Listen(address, error) => Failure::Listen(address, error),
        ViewerError::Open(_) => Failure::Config(error.to_string()),
    })?;
    writeln!(io::stdout(), "listening on http://{}", viewer.address()?)?;
    viewer.run();
    Ok(())
}

/// `callwright export sft|jsonl`: what is kept, for programs.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Failure> {
    let filter = Filter { model: args.model.clone(), text: args.text.clone(), ..Filter::default() };
    let mut out = io::stdout().lock();
    each(&args.kept, &filter, usize::MAX, |store, summary| {
        let Some(session) = ask(store.session(&summary.id))? else { return Ok(()) };
        match args.form {
            ExportForm::Jsonl => writeln!(out, "{}", view::json(&Dump::of(session)))?,
            ExportForm::Sft => {
                for example in sft::examples(&session) {
                    writeln!(out, "{example}")?;
                }
            }
        }
        Ok(())
    })
}

fn draw(session: Session, is_json: bool, pen: Pen) -> Result<(), Failure> {
    let shown = match is_json {
        true => Dump::of(session).to_json() + "\n",
        false => pen.session(&session),
    };
    io::stdout().write_all(shown.as_bytes())?;
    Ok(())
}

const HEADER: &str =
    "updated (UTC)        outcome         turns repairs refused  model                     session  title";

fn line(summary: &Summary) -> String {
    let Summary { id, updated, outcome, model, turns, repairs, refusals, title, .. } = summary;
    let at = rfc3339(*updated);
    let at = at.get(..19).unwrap_or(&at).replace('T', " ");
    let line =
        format!("{at}  {outcome:<14}  {turns:>5} {repairs:>7} {refusals:>7}  {model:<24}  {id}  {title}");
    // One line stays one.
    harmless(&line.replace('\n', " ")).into_owned()
}

/// Does something for each session that fits, for at most `most`.
fn each(
    kept: &KeptArgs,
    filter: &Filter,
    most: usize,
    mut work: impl FnMut(&Store, &Summary) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(store) = open(kept)? else { return Ok(()) };
    let (mut after, mut left) = (None::<String>, most);
    loop {
        let page = ask(store.sessions(filter.clone(), after.as_deref(), PAGE.min(left)))?;
        for summary in &page.sessions {
            work(&store, summary)?;
            left -= 1;
        }
        after = page.next;
        if after.is_none() || left == 0 {
            return Ok(());
        }
    }
}

/// Opens what `serve` would keep requests in. A file that is not there is not made: where nobody named it, nothing was
/// kept yet, which is said.
pub(crate) fn open(args: &KeptArgs) -> Result<Option<Store>, Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let config = Config::load(args.flags(), &env)?;
    let keep = config.keep(&env, &Default::default())?;
    let keep = keep.ok_or_else(|| Failure::Config(String::from("nothing is kept: the store is off")))?;
    if let callwright_store::Location::File(path) = &keep.store.location
        && let Err(error) = std::fs::metadata(path)
    {
        if keep.is_needed || error.kind() != io::ErrorKind::NotFound {
            return Err(Failure::Read(path.clone(), error));
        }
        writeln!(io::stderr(), "callwright: nothing is kept yet: {}", harmless(&path.display().to_string()))?;
        return Ok(None);
    }
    Store::open(keep.store).map(Some).map_err(Failure::Store)
}

/// The answer to a question to the store.
pub(crate) fn ask<T>(
    question: impl Future<Output = Result<T, callwright_store::StoreError>>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(question).map_err(Failure::Store)
}

//! The matrix of behaviours and clients: what a model and its server do wrong, against the programs that people have.
//!
//! Each cell runs through the gateway and straight at the upstream, which says the same and speaks the client's own API.
//! A cell that is right only directly fails: there the gateway does harm.

mod behaviour;
mod client;
mod script;
mod table;
mod warm;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use steps::step::{self, Tally};
use steps::{Suite, root};

use crate::every::Every;
use crate::install::Installed;
use crate::place::Place;
use crate::server;
use behaviour::Behaviour;
use client::{Client, Started, Task};
use table::Table;

/// The name of this part of the suite.
pub(crate) const MATRIX: &str = "matrix";

/// So many cells run at once.
const AT_ONCE: usize = 2;

/// What all clients are asked. No word of it is the name of a tool.
const ASK: &str = "Write the line, then say that all is done.";

/// Cells that are wrong with the gateway, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrong {
    /// The clients, in the file of a behaviour; the behaviours, in the file of a client.
    cells: Vec<String>,
    because: String,
    /// They are right without the gateway: known harm, which a ruling wants or nobody has mended yet.
    #[serde(default)]
    only_directly: bool,
}

/// How a client reaches the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Gateway,
    Direct,
}

/// A field of the matrix.
#[derive(Clone, Copy)]
struct Cell<'m> {
    behaviour: &'m Behaviour,
    client: &'m Client,
}

/// What is in `e2e/matrix`.
struct Matrix {
    behaviours: Vec<Behaviour>,
    clients: Vec<Client>,
}

/// Does `only` name any cell of the project in `root`?
///
/// # Errors
/// When a file of the matrix cannot be read.
pub(crate) fn is_chosen(root: &Path, only: &str, all: bool) -> Result<bool> {
    Ok(!Matrix::read(root)?.cells(only, is_all(only, all)).is_empty())
}

/// Installs what the cells need: they run where no registry is reached. A client that cannot be installed is left out, with
/// the reason.
///
/// # Errors
/// When a file of the matrix cannot be read.
pub(crate) fn install(root: &Path, only: &str, all: bool, suite: &mut Suite) -> Result<()> {
    let matrix = Matrix::read(root)?;
    for client in matrix.clients_of(&matrix.cells(only, is_all(only, all))) {
        suite.install(&format!("{MATRIX}: {}", client.name), || client.start(root).map(drop));
    }
    Ok(())
}

/// Runs the cells that `only` names, in a process of its own.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(root: &Path, only: &str, all: bool) -> Result<Tally> {
    let all: &[&str] = if all { &["--all"] } else { &[] };
    step::run(step::alone(&[&["--part", MATRIX, "--only", only], all].concat())?.current_dir(root))
}

/// Runs them here, and prints how many passed in the words of a test runner.
///
/// # Errors
/// When a file of the matrix cannot be read, or any cell fails.
pub(crate) fn run_here(only: &str, all: bool) -> Result<()> {
    let root = root()?;
    let installed = Installed::new(&root, &[].into(), false, &mut Suite::default())?;
    let matrix = Matrix::read(&root)?;
    let all = is_all(only, all);
    let cells = matrix.cells(only, all);
    let mut started = Vec::new();
    for client in matrix.clients_of(&cells) {
        match client.start(&root) {
            Ok(program) => started.push((&*client.name, program)),
            Err(error) => println!("    not run: {}: {error:#}", client.name),
        }
    }
    let program = |cell: &Cell<'_>| started.iter().find(|(name, _)| *name == cell.client.name);
    let next = AtomicUsize::new(0);
    let seen = Mutex::new((Tally { ok: true, ..Tally::default() }, Table::default()));
    let work = || {
        while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some((_, program)) = program(cell) else { continue };
            let listed = cell.listed();
            let start = Instant::now();
            let gateway = (all || listed.is_none()).then(|| cell.run(program, Way::Gateway, &installed));
            let direct = all.then(|| cell.run(program, Way::Direct, &installed));
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let (tally, table) = &mut *seen;
            table.add(cell, gateway.as_deref(), direct.as_deref());
            let (note, differences) = verdict(gateway, direct, listed);
            tally.part(&format!("{}{note}", cell.name()), start.elapsed().as_secs_f64(), &differences);
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let (tally, table) = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    table.print();
    let Tally { passed, failed, .. } = tally;
    println!("test result: {}. {passed} passed; {failed} failed", if tally.ok { "ok" } else { "FAILED" });
    ensure!(tally.ok, "{failed} cells of the matrix are not as they should be");
    Ok(())
}

/// Does `only` stand in this name? With `*` it says all parts of one: `matrix/*/rig` is not `matrix/right/rig-chat`.
fn is_named(name: &str, only: &str) -> bool {
    if !only.contains('*') {
        return name.contains(only);
    }
    let (parts, said): (Vec<&str>, Vec<&str>) = (name.split('/').collect(), only.split('/').collect());
    parts.len() == said.len() && parts.iter().zip(&said).all(|(part, said)| *said == "*" || part == said)
}

/// A name of the matrix asks for all of what it names.
fn is_all(only: &str, all: bool) -> bool {
    all || only.starts_with(&format!("{MATRIX}/"))
}

/// What a cell comes to: a note behind its name, and what fails it.
fn verdict(
    gateway: Option<Vec<String>>,
    direct: Option<Vec<String>>,
    listed: Option<&Wrong>,
) -> (String, Vec<String>) {
    let is_right = direct.as_ref().is_some_and(Vec::is_empty);
    match (gateway, listed) {
        (Some(wrong), Some(_)) if wrong.is_empty() => {
            (String::new(), vec![String::from("it is listed as wrong, and is right")])
        }
        (Some(wrong), _) if wrong.is_empty() => (String::new(), wrong),
        (None, Some(listed)) => (format!(" (not run: {})", listed.because), Vec::new()),
        (Some(_), Some(listed)) if listed.only_directly == is_right => {
            let how = if is_right { "right only directly" } else { "wrong both ways" };
            (format!(" ({how}: {})", listed.because), Vec::new())
        }
        (gateway, _) => {
            let mut differences = gateway.unwrap_or_default();
            differences.insert(0, String::from(if is_right { "RIGHT ONLY DIRECTLY" } else { "wrong" }));
            differences.extend(direct.unwrap_or_default().into_iter().map(|why| format!("directly: {why}")));
            (String::new(), differences)
        }
    }
}

impl Matrix {
    fn read(root: &Path) -> Result<Matrix> {
        let behaviours = files(&root.join("e2e/matrix/behaviours"), |behaviour: &mut Behaviour, name| {
            behaviour.name = name;
        })?;
        let clients = files(&root.join("e2e/matrix/clients"), |client: &mut Client, name| {
            client.name = name;
        })?;
        let is_client = |name: &String| clients.iter().any(|client| client.name == *name);
        let is_behaviour = |name: &String| behaviours.iter().any(|behaviour| behaviour.name == *name);
        for wrong in behaviours.iter().flat_map(|behaviour| &behaviour.wrong) {
            ensure!(wrong.cells.iter().all(is_client), "{:?}: not all are clients", wrong.cells);
        }
        for wrong in clients.iter().flat_map(|client| &client.wrong) {
            ensure!(wrong.cells.iter().all(is_behaviour), "{:?}: not all are behaviours", wrong.cells);
        }
        Ok(Matrix { behaviours, clients })
    }

    /// The cells that `only` names.
    fn cells(&self, only: &str, all: bool) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        for behaviour in &self.behaviours {
            cells.extend(self.clients.iter().map(|client| Cell { behaviour, client }));
        }
        cells.retain(|cell| is_named(&cell.name(), only) && (all || cell.is_for_ci()));
        cells
    }

    fn clients_of(&self, cells: &[Cell<'_>]) -> Vec<&Client> {
        let is_in = |client: &&Client| cells.iter().any(|cell| cell.client.name == client.name);
        self.clients.iter().filter(is_in).collect()
    }
}

/// All files of a folder, in the order of their names, which `call` gives them.
fn files<T: DeserializeOwned>(folder: &Path, call: impl Fn(&mut T, String)) -> Result<Vec<T>> {
    let mut found: Vec<(String, T)> = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let read = || -> Result<(String, T)> {
            let name = path.file_stem().and_then(|stem| stem.to_str()).context("no name")?;
            Ok((name.to_owned(), toml::from_str(&fs::read_to_string(&path)?)?))
        };
        found.push(read().with_context(|| format!("{} is not of the matrix", path.display()))?);
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let called = found.into_iter().map(|(name, mut file)| {
        call(&mut file, name);
        file
    });
    Ok(called.collect())
}

impl Cell<'_> {
    /// `matrix/trailing-comma/pi`
    fn name(&self) -> String {
        format!("{MATRIX}/{}/{}", self.behaviour.name, self.client.name)
    }

    fn is_for_ci(&self) -> bool {
        self.behaviour.every == Every::Ci && self.client.every == Every::Ci
    }

    /// What is known of it, where it is wrong.
    fn listed(&self) -> Option<&Wrong> {
        let of = |list: &'_ [Wrong], name: &str| -> Option<usize> {
            list.iter().position(|wrong| wrong.cells.iter().any(|cell| cell == name))
        };
        let (behaviour, client) = (self.behaviour, self.client);
        let here = of(&behaviour.wrong, &client.name).and_then(|at| behaviour.wrong.get(at));
        here.or_else(|| of(&client.wrong, &behaviour.name).and_then(|at| client.wrong.get(at)))
    }

    /// Every difference, as a sentence.
    fn run(&self, program: &Started, way: Way, installed: &Installed) -> Vec<String> {
        self.try_run(program, way, installed).unwrap_or_else(|error| vec![format!("{error:#}")])
    }

    fn try_run(&self, program: &Started, way: Way, installed: &Installed) -> Result<Vec<String>> {
        let name = format!("{MATRIX}/{}-{}-{way:?}", self.behaviour.name, self.client.name).to_lowercase();
        let installed = installed.of_its_own(&name)?;
        let place = Place::new(&[].into())?;
        let folder = place.work().display().to_string();
        let (script, files) = self.behaviour.script(self.client, &folder, way)?;
        let record = installed.written("asked.jsonl");
        let _ = fs::remove_file(&record);
        let replay = server::recorded_replay(&script, &record, &installed)?;
        let gateway = match way {
            Way::Gateway => {
                let gateway = server::gateway(&replay.url, self.behaviour.gateway.as_ref(), &installed)?;
                warm::warm(&gateway.url, self.behaviour.warm)?;
                Some(gateway)
            }
            Way::Direct => None,
        };
        let url = gateway.as_ref().map_or(&replay.url, |gateway| &gateway.url);
        let log = installed.log("client");
        let patience = self.behaviour.patience;
        let ended = program.run(&Task { url, ask: ASK, place: &place, patience, log: &log })?;
        let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();

        let mut differences: Vec<String> =
            ended.into_iter().map(|how| format!("it ended with {how}")).collect();
        if !said.contains(script::DONE) {
            differences.push(format!("it does not say {:?} (its log: {})", script::DONE, log.display()));
        }
        for (name, text) in &files {
            let found = fs::read_to_string(place.work().join(name)).unwrap_or_default();
            if found != *text {
                let short: String = found.chars().take(80).collect();
                differences.push(format!("{name} holds {} bytes: {short:?}", found.len()));
            }
        }
        Ok(differences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_right_only_directly_fails() {
        let right = || Some(Vec::new());
        let wrong = || Some(vec![String::from("x")]);
        let both = Wrong { cells: Vec::new(), because: "y".to_owned(), only_directly: false };
        let harm = Wrong { cells: Vec::new(), because: "y".to_owned(), only_directly: true };
        for (gateway, direct, listed, fails) in [
            (right(), right(), None, false),
            (right(), wrong(), None, false),
            (right(), None, None, false),
            (right(), wrong(), Some(&both), true),
            (wrong(), right(), None, true),
            (wrong(), right(), Some(&both), true),
            (wrong(), right(), Some(&harm), false),
            (wrong(), wrong(), None, true),
            (wrong(), wrong(), Some(&both), false),
            (wrong(), wrong(), Some(&harm), true),
            (wrong(), None, None, true),
            (None, None, Some(&both), false),
        ] {
            let (_, differences) = verdict(gateway, direct, listed);
            assert_eq!(!differences.is_empty(), fails, "{differences:?}");
        }
    }

    #[test]
    fn a_client_and_a_behaviour_have_names() {
        for (only, is_it) in [
            ("", true),
            ("matrix/right", true),
            ("/rig", true),
            ("matrix/*/rig-chat", true),
            ("matrix/right/*", true),
            ("matrix/*/rig", false),
            ("matrix/*", false),
            ("matrix/*/rig-chat/*", false),
        ] {
            assert_eq!(is_named("matrix/right/rig-chat", only), is_it, "{only}");
        }
    }

    #[test]
    fn each_cell_has_a_script() {
        let matrix = Matrix::read(&root().unwrap()).unwrap();
        for cell in matrix.cells("", true) {
            let (script, files) = cell.behaviour.script(cell.client, "/work", Way::Gateway).unwrap();
            let text = toml::to_string(&script).unwrap();
            assert!(!files.is_empty() && !text.contains("{shell") && !text.contains("{write"), "{text}");
        }
    }
}

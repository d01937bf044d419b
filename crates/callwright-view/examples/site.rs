//! `cargo run --package callwright-view --example site -- FOLDER`: writes the files of the page to try it that need no
//! WebAssembly.
#![expect(clippy::print_stderr, reason = "a command talks to its user")]

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: site FOLDER");
        return ExitCode::from(2);
    };
    let page = callwright_view::try_it::file().into_string();
    let files = [
        ("index.html", page.as_str()),
        ("style.css", callwright_view::STYLE),
        ("icon.svg", callwright_view::ICON),
    ];
    let written = files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

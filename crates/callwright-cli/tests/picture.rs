//! The picture in the README shows what the command prints.
//!
//! `CALLWRIGHT_WRITE_REFERENCE=1 cargo test --package callwright-cli --test picture` draws it anew.

mod binary;

use std::fmt::Write as _;
use std::path::Path;

use binary::callwright;

const PICTURE: &str = "docs/repair.svg";
const COMMAND: &str = "callwright parse examples/answer.txt --tools examples/tools.json";

/// The box of a character, in units of the picture. The font is whichever monospaced one the reader has, so the width of each line
/// is set.
const WIDTH: f64 = 8.0;
const HEIGHT: usize = 19;
const MARGIN: usize = 14;

const STYLE: &str = "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}\
    rect{fill:#f6f8fa;stroke:#d1d9e0}.b{font-weight:700}.c33{fill:#8a6100}.c94{fill:#0550ae}.c31,.c91{fill:#b3261e}.c32{fill:#22683f}.p{fill:#656d76}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#161b22;stroke:#30363d}\
    .c33{fill:#e9bd4e}.c94{fill:#79c0ff}.c31,.c91{fill:#ff8a80}.c32{fill:#6fcf97}.p{fill:#8b949e}}";

#[test]
fn the_picture_shows_what_the_command_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let args: Vec<&str> = ["--color", "always"].into_iter().chain(COMMAND.split(' ').skip(1)).collect();
    let output = callwright(&args).current_dir(&root).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    let picture = drawn(&printed);
    let path = root.join(PICTURE);
    if std::env::var_os("CALLWRIGHT_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == picture, "{PICTURE} shows something else than the command prints:\n{picture}");
}

/// The command and what it prints, as SVG for light and dark pages.
fn drawn(printed: &str) -> String {
    let command = format!("$ {COMMAND}");
    let lines: Vec<&str> = [command.as_str()].into_iter().chain(printed.trim_end().lines()).collect();
    let widest = lines.iter().map(|line| plain(line).chars().count()).max().unwrap_or(0);
    let (width, height) = ((widest as f64 * WIDTH) as usize + 2 * MARGIN, lines.len() * HEIGHT + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>A repaired tool call, as callwright parse prints it</title>\n<style>{STYLE}</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        width - 1,
        height - 1
    );
    for (number, line) in lines.iter().enumerate() {
        let plain = plain(line);
        if plain.trim().is_empty() {
            continue;
        }
        let y = MARGIN + number * HEIGHT + 14;
        let class = if line.starts_with("$ ") { " class=\"p\"" } else { "" };
        let length = plain.chars().count() as f64 * WIDTH;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length}\" xml:space=\"preserve\"{class}>{}</text>",
            spans(line)
        );
    }
    svg + "</svg>\n"
}

/// A line with its colours as classes.
fn spans(line: &str) -> String {
    let mut out = String::new();
    let mut classes: Vec<String> = Vec::new();
    for (number, part) in line.split("\x1b[").enumerate() {
        let text = match (number, part.split_once('m')) {
            (0, _) => part,
            (_, Some((code, text))) => {
                match code {
                    "0" => classes.clear(),
                    "1" => classes.push("b".into()),
                    colour => classes.push(format!("c{colour}")),
                }
                text
            }
            (_, None) => panic!("not a colour: {part:?}"),
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        match (text.is_empty(), classes.is_empty()) {
            (true, _) => {}
            (_, true) => out.push_str(&text),
            _ => {
                let _ = write!(out, "<tspan class=\"{}\">{text}</tspan>", classes.join(" "));
            }
        }
    }
    out
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

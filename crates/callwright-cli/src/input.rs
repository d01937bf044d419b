//! Reads what is asked for: a whole text, or line by line, always bounded.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;

/// The longest whole text that is read: what spans can count.
const MAX_TEXT: usize = u32::MAX as usize;

/// Reads the whole of `path`, without a byte order mark; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let mut text = answer(path, "input")?;
    let mark = text.len() - without_mark(&text).len();
    text.drain(..mark);
    Ok(text)
}

/// Reads every byte of `path`, so that places in it are true; `-` is standard input. A person at a terminal is told that
/// `what` is waited for.
pub(crate) fn answer(path: &Path, what: &str) -> Result<String, Failure> {
    let failed = |error| Failure::Read(path.to_path_buf(), error);
    let mut bytes = Vec::new();
    tell(path, what);
    open(path).map_err(failed)?.reader.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if MAX_TEXT < bytes.len() {
        return Err(Failure::TooLong(path.to_path_buf(), MAX_TEXT));
    }
    if is_utf16(&bytes) {
        return Err(Failure::Utf16(path.to_path_buf()));
    }
    String::from_utf8(bytes).map_err(|e| Failure::NotUtf8(path.to_path_buf(), e.utf8_error().valid_up_to()))
}

/// Tells a person at a terminal what is waited for there.
fn tell(path: &Path, what: &str) {
    if path == Path::new("-") && io::stdin().is_terminal() {
        let end =
            if cfg!(windows) { "Ctrl-Z and Enter end it" } else { "Ctrl-D on a line of its own ends it" };
        let _ = writeln!(io::stderr(), "callwright: waiting for {what} at the terminal; {end}");
    }
}

/// `text` without the byte order mark that some editors put before it.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns whether it begins with the mark of UTF-16, or with two ASCII characters in it. All input is written in ASCII at its
/// begin, and holds no NUL.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => *a != 0 && *b != 0,
        _ => false,
    }
}

/// A file or standard input, and its length where it has one.
struct Source {
    reader: Box<dyn Read>,
    len: Option<u64>,
}

fn open(path: &Path) -> io::Result<Source> {
    if path == Path::new("-") {
        return Ok(Source { len: len_of_stdin(), reader: Box::new(io::stdin()) });
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Source { len: metadata.is_file().then_some(metadata.len()), reader: Box::new(file) })
}

/// The length of the file that standard input was redirected from.
#[cfg(unix)]
fn len_of_stdin() -> Option<u64> {
    use std::os::fd::AsFd;
    let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    file.metadata().ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len())
}

#[cfg(not(unix))]
fn len_of_stdin() -> Option<u64> {
    None
}

/// Opens `path` for reading line by line. Where a person waits at a terminal for a file to be worked
/// through, a bar on standard error shows how far it is.
pub(crate) fn lines(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    tell(path, "lines of JSON");
    let source = open(path).map_err(|error| Failure::Read(path.to_path_buf(), error))?;
    let reader: Box<dyn Read> = match source.len {
        // The bar and the answers would write over each other on one terminal.
        Some(len) if io::stderr().is_terminal() && !io::stdout().is_terminal() => {
            let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}  {eta} left");
            let bar =
                ProgressBar::new(len).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            Box::new(bar.wrap_read(source.reader))
        }
        _ => source.reader,
    };
    Ok(Box::new(BufReader::with_capacity(1 << 16, reader)))
}

/// The end that [`read_line`] met.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Read,
    /// A line longer than allowed; it is passed over.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads the next line into `line`, and never keeps more than `max` bytes of it.
pub(crate) fn read_line(from: &mut dyn BufRead, line: &mut Vec<u8>, max: usize) -> io::Result<Line> {
    line.clear();
    // Two more for the line's end.
    let limit = (max as u64).saturating_add(2);
    if from.take(limit).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    let ended = line.pop_if(|b| *b == b'\n').is_some();
    line.pop_if(|b| *b == b'\r');
    if line.len() <= max {
        return Ok(Line::Read);
    }
    if !ended {
        from.skip_until(b'\n')?;
    }
    Ok(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut text: &[u8], max: usize) -> Vec<(Line, Vec<u8>)> {
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            match read_line(&mut text, &mut line, max).unwrap() {
                Line::End => return lines,
                read => lines.push((read, line)),
            }
        }
    }

    #[test]
    fn lines_lose_their_ends() {
        let lines = all(b"ab\r\n\ncd\ne", 2);
        let texts: Vec<&[u8]> = lines.iter().map(|(_, line)| line.as_slice()).collect();
        assert_eq!(texts, [b"ab".as_slice(), b"", b"cd", b"e"]);
        assert!(lines.iter().all(|(read, _)| *read == Line::Read));
    }

    #[test]
    fn a_line_too_long_is_passed_over() {
        let reads: Vec<Line> =
            all(b"abc\nab\nabcdefgh\r\nab\nabc", 2).into_iter().map(|(read, _)| read).collect();
        assert_eq!(reads, [Line::TooLong, Line::Read, Line::TooLong, Line::Read, Line::TooLong]);
    }
}

//! The fenced blocks of a page of documentation, and what stands above them for the machine that runs them.
//!
//! Above a block, each in a comment of its own:
//!
//! ```text
//! <!-- exits 1 -->                              the block's last command ends so
//! <!-- needs: upstream at 127.0.0.1:8080 -->    the built-in upstream listens there, from here on
//! <!-- file: answer.txt -->                     what follows is the content of this file
//! <!-- run: callwright serve --check --config FILE -->   FILE holds what follows
//! <!-- not run: needs a GPU -->                 why
//! ```
//!
//! In a shell block a line may end in `# exits 1`.

use anyhow::{Context, Result, bail, ensure};

/// A block that is to be run, or says why it is not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Where its fence stands, counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) way: Way,
    /// The exit code of its last command.
    pub(super) exits: i32,
    /// Where an upstream has to listen.
    pub(super) upstream: Option<String>,
}

/// What is to be done with a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Its commands are run.
    Shell,
    /// It is a file of this name.
    File(String),
    /// It is given to a command, as `FILE`.
    To(String),
    /// Nothing, for this reason.
    Not(String),
}

/// What a shell block comes to: commands that end, and servers that stay.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Commands(String),
    Server(String),
}

/// The blocks of a page in Markdown. What is in no language, or is `text`, is none.
///
/// # Errors
/// A comment above a block that says nothing of the above, and a block of a language that nothing is said of.
pub(super) fn blocks(page: &str) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut notes: Vec<&str> = Vec::new();
    let mut lines = (1..).zip(page.lines());
    while let Some((number, line)) = lines.next() {
        if let Some(note) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            notes.push(note);
            continue;
        }
        let Some(language) = line.strip_prefix("```") else {
            // Only what stands right above a block is meant for it.
            if !line.trim().is_empty() {
                notes.clear();
            }
            continue;
        };
        let inner: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
        if matches!(language, "" | "text") && notes.is_empty() {
            continue;
        }
        let block = Block::new(number, language, &inner.join("\n"), &notes);
        blocks.push(block.with_context(|| format!("the block at line {number}"))?);
        notes.clear();
    }
    Ok(blocks)
}

/// The commands in the head of a file: comments that are indented.
pub(super) fn head(file: &str) -> Vec<Block> {
    let comments = (1..).zip(file.lines()).map_while(|(n, line)| Some((n, line.strip_prefix('#')?)));
    let commands = comments.filter_map(|(n, line)| Some((n, line.strip_prefix("   ")?)));
    let block = |(line, text): (usize, &str)| Block {
        line,
        text: text.to_owned(),
        way: Way::Shell,
        exits: 0,
        upstream: None,
    };
    commands.map(block).collect()
}

impl Block {
    fn new(line: usize, language: &str, text: &str, notes: &[&str]) -> Result<Block> {
        let mut way = matches!(language, "sh" | "bash").then_some(Way::Shell);
        let (mut exits, mut upstream) = (0, None);
        for note in notes {
            if let Some(why) = note.strip_prefix("not run: ") {
                way = Some(Way::Not(why.into()));
            } else if let Some(name) = note.strip_prefix("file: ") {
                ensure!(!name.contains('/'), "a file stands in the folder itself");
                way = Some(Way::File(name.into()));
            } else if let Some(command) = note.strip_prefix("run: ") {
                ensure!(command.contains("FILE"), "`{command}` is not given the FILE");
                way = Some(Way::To(command.into()));
            } else if let Some(code) = note.strip_prefix("exits ") {
                exits = code.parse().with_context(|| format!("`{code}` is no exit code"))?;
            } else if let Some(address) = note.strip_prefix("needs: upstream at ") {
                upstream = Some(address.to_owned());
            } else {
                bail!("`<!-- {note} -->` says nothing about a block");
            }
        }
        let Some(way) = way else { bail!("nothing says what becomes of a block of `{language}`") };
        Ok(Block { line, text: text.to_owned(), way, exits, upstream })
    }

    /// What a shell block comes to, in order.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            let mut command = line.to_owned();
            while command.ends_with('\\')
                && let Some(more) = lines.next()
            {
                command.push('\n');
                command.push_str(more);
            }
            let command = checked(&command);
            match steps.last_mut() {
                _ if is_server(&command) => steps.push(Step::Server(command)),
                Some(Step::Commands(before)) => {
                    before.push('\n');
                    before.push_str(&command);
                }
                _ => steps.push(Step::Commands(command)),
            }
        }
        if self.exits != 0
            && let Some(Step::Commands(commands)) = steps.last_mut()
        {
            let (before, last) = commands
                .rsplit_once('\n')
                .map_or((String::new(), &**commands), |(before, last)| (format!("{before}\n"), last));
            *commands = format!("{before}{}", expecting(last, self.exits));
        }
        steps
    }
}

/// Does a command stay, and answer?
fn is_server(command: &str) -> bool {
    let is = |name: &str| {
        command.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n']))
    };
    (is("callwright serve") || is("callwright replay")) && !command.contains(" --check")
}

/// A command, with what its last comment says of its exit code.
fn checked(command: &str) -> String {
    let told = command
        .rsplit_once("# exits ")
        .and_then(|(command, code)| Some((command, code.trim().parse().ok()?)));
    told.map_or_else(|| command.to_owned(), |(command, code)| expecting(command.trim_end(), code))
}

fn expecting(command: &str, code: i32) -> String {
    format!(
        "set +e\n{command}\ncode=$?\nset -e\n[ $code -eq {code} ] || {{ echo \"exit code $code, not {code}\" >&2; exit 1; }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_what_stands_above_them() {
        let page = "# A\n\n<!-- not run: slow -->\nOf something else.\n\n<!-- needs: upstream at 127.0.0.1:1 -->\n<!-- exits 3 -->\n\
            ```sh\na\nb\n```\n\n```text\nc\n```\n<!-- run: check FILE -->\n```toml\nd = 1\n```\n<!-- file: e.json -->\n```json\n{}\n```\n\
            <!-- not run: slow -->\n```sh\nf\n```\n";
        let found = blocks(page).unwrap();
        let of = |line, text: &str, way, exits, upstream: Option<&str>| Block {
            line,
            text: text.into(),
            way,
            exits,
            upstream: upstream.map(str::to_owned),
        };
        assert_eq!(
            found,
            [
                of(8, "a\nb", Way::Shell, 3, Some("127.0.0.1:1")),
                of(17, "d = 1", Way::To("check FILE".into()), 0, None),
                of(21, "{}", Way::File("e.json".into()), 0, None),
                of(25, "f", Way::Not("slow".into()), 0, None),
            ]
        );
        assert_eq!(found[0].steps(), [Step::Commands(format!("a\n{}", expecting("b", 3)))]);
    }

    #[test]
    fn nothing_is_left_out_in_silence() {
        for (page, why) in [
            ("```toml\na = 1\n```\n", "nothing says what becomes of a block of `toml`"),
            ("<!-- exit 1 -->\n```sh\na\n```\n", "`<!-- exit 1 -->` says nothing about a block"),
            ("<!-- run: a -->\n```toml\na = 1\n```\n", "`a` is not given the FILE"),
        ] {
            assert!(format!("{:#}", blocks(page).unwrap_err()).contains(why), "{page}");
        }
    }

    #[test]
    fn servers_are_told_from_commands() {
        let text = "callwright serve \\\n  --listen x\ncurl a\ncallwright serve --check\nfalse  # exits 1";
        let block = Block { line: 1, text: text.into(), way: Way::Shell, exits: 0, upstream: None };
        let commands = format!("curl a\ncallwright serve --check\n{}", expecting("false", 1));
        assert_eq!(
            block.steps(),
            [Step::Server("callwright serve \\\n  --listen x".into()), Step::Commands(commands)]
        );
    }

    #[test]
    fn the_head_of_a_file_has_commands() {
        let found = head("# Says it.\n#\n#   run it\n# More.\na = 1\n#   not this\n");
        assert_eq!(
            found.iter().map(|block| (block.line, block.text.as_str())).collect::<Vec<_>>(),
            [(3, "run it")]
        );
    }
}

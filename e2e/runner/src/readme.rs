//! The clients that README and docs print, as they stand there, against a gateway without any configuration.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::client::Platform;
use crate::install::Installed;
use crate::server;
use steps::step::Tally;

/// Its name.
pub(crate) const README: &str = "readme";

/// Where the pages have the gateway.
const PRINTED: &str = "http://127.0.0.1:4000";

/// A page's first block in a language, and what it prints, blanks aside.
struct Page {
    name: &'static str,
    file: &'static str,
    platform: Platform,
    prints: &'static [&'static str],
}

const PAGES: [Page; 3] = [
    Page {
        name: "python",
        file: "README.md",
        platform: Platform::Python,
        prints: &[r#"get_weather {"city": "Paris"}"#],
    },
    Page {
        name: "agents-sdk",
        file: "docs/clients/agents-sdk.md",
        platform: Platform::Python,
        prints: &["Done. The tool says: It is sunny in Paris."],
    },
    Page {
        name: "ai-sdk",
        file: "docs/clients/ai-sdk.md",
        platform: Platform::Node,
        prints: &["Done. The tool says: It is sunny in Paris."; 3],
    },
];

/// What the pages need.
pub(crate) const PLATFORMS: [Platform; 2] = [Platform::Python, Platform::Node];

/// Runs the blocks, and looks at what they print.
pub(crate) fn check(root: &Path, installed: &Installed) -> Result<Tally> {
    let mut tally = Tally { ok: true, ..Tally::default() };
    for page in &PAGES {
        let start = Instant::now();
        let differences = match page.differences(root, installed) {
            Ok(differences) => differences,
            Err(error) => vec![format!("{error:#}")],
        };
        tally.part(&format!("{README}/{}", page.name), start.elapsed().as_secs_f64(), &differences);
    }
    Ok(tally)
}

impl Page {
    fn differences(&self, root: &Path, installed: &Installed) -> Result<Vec<String>> {
        let gateway = server::gateway_alone(installed)?;
        let mut command = self.command(root, &gateway.url, installed)?;
        let output = command.stdin(Stdio::null()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let mut differences = Vec::new();
        // The AI SDK prints a word about its warnings as well.
        let lines: Vec<String> = printed.lines().filter(|line| !line.contains("Warning")).map(bare).collect();
        if lines.concat() != bare(&self.prints.concat()) {
            differences.push(format!("it prints {printed:?}"));
            differences.extend(String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned));
        }
        Ok(differences)
    }

    fn command(&self, root: &Path, url: &str, installed: &Installed) -> Result<Command> {
        let language = match self.platform {
            Platform::Python => "python",
            Platform::Node => "js",
        };
        let block = printed(root, self.file, language)?.replace(PRINTED, url);
        match self.platform {
            Platform::Python => {
                let client = installed.written(&format!("{}.py", self.name));
                fs::write(&client, block)?;
                installed.python(&client)
            }
            Platform::Node => installed.node(&block),
        }
    }
}

/// The first block in `language` of the page.
pub(crate) fn printed(root: &Path, page: &str, language: &str) -> Result<String> {
    let text = fs::read_to_string(root.join(page)).with_context(|| String::from(page))?;
    let block = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("\n```"));
    let (block, _) = block.with_context(|| format!("{page} has no block in {language}"))?;
    Ok(String::from(block))
}

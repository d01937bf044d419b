//! The page in a real browser: a gateway that keeps what is asked, filled by a script that then looks at every page of
//! it, as a person, as a stranger's text, and as a narrow screen would have it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Table;

use crate::install::Installed;
use crate::server;
use packaging::javascript::{package, site};
use steps::process::Process;
use steps::step::Tally;

/// The name of this part of the suite.
pub(crate) const PAGE: &str = "page";

const BROWSER: &str = "/usr/bin/chromium";

/// A start of the browser on a machine that others use as well takes its time.
const PATIENCE: Duration = Duration::from_secs(180);

/// What an upstream answers, and what the page is then looked at for.
const SCRIPT: &str = include_str!("page.toml");

/// One thing that was looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    name: String,
    /// What is not as it should be.
    differences: Vec<String>,
    seconds: f64,
}

/// Installs the browser where there is none.
///
/// # Errors
/// The system has no such package, or does not let us install it.
pub(crate) fn browser() -> Result<()> {
    if Path::new(BROWSER).exists() {
        return Ok(());
    }
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--yes", "--quiet", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
    let installed = apt.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).output();
    match installed {
        Ok(output) if output.status.success() && Path::new(BROWSER).exists() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!("apt-get install chromium: {}", said.lines().last().unwrap_or("no word"))
        }
        Err(error) => bail!("there is neither {BROWSER} nor apt-get: {error}"),
    }
}

/// Looks at the page, and prints a line for each thing.
///
/// # Errors
/// A server or the script does not start, or the script ends before it is done.
pub(crate) fn look(root: &Path, installed: &Installed) -> Result<Tally> {
    let hostile: Table = fs::read_to_string(root.join("corpus/page/hostile.toml"))?.parse()?;
    let mut script: Table = SCRIPT.parse().context("page.toml")?;
    let answers = script.get_mut("answer").and_then(toml::Value::as_array_mut).context("page.toml")?;
    let cases = hostile.get("case").and_then(toml::Value::as_array).context("hostile.toml has no cases")?;
    for case in cases {
        answers.insert(0, answer_to(case)?);
    }
    let kept = installed.written("page");
    if kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    // What somebody wants to look at stands beside what is built.
    let screenshots = root.join("target/page");
    if screenshots.exists() {
        fs::remove_dir_all(&screenshots)?;
    }
    fs::create_dir_all(&screenshots)?;
    let workspace = kept.join("w");
    fs::create_dir_all(&workspace)?;
    let replay = server::replay(&script, installed)?;
    let config: Table = toml::from_str(&format!(
        "[store]\nat = {:?}\ndumps = {:?}\n[[upstreams]]\nname = \"replay\"\nbase_url = \"{}/v1\"\n",
        kept.join("callwright.db"),
        kept.join("dumps"),
        replay.url
    ))?;
    let gateway = server::configured_gateway("page-gateway", &config, installed)?;
    let task = json!({
        "url": gateway.url,
        "browser": BROWSER,
        "callwright": env::current_exe()?.with_file_name("callwright"),
        "screenshots": screenshots,
        "kept": kept,
        "upstream": replay.url,
        "store": kept.join("callwright.db"),
        "workspace": workspace,
        "hostile": serde_json::to_value(cases)?,
        "site": site(root),
        "package": package(root),
    });
    let mut process = Process::start(&mut installed.page_script("page.mjs")?, &installed.log(PAGE))?;
    process.say(&task.to_string())?;
    let mut tally = Tally { ok: true, ..Tally::default() };
    loop {
        let line =
            process.line(PATIENCE).with_context(|| format!("its log: {}", installed.log(PAGE).display()))?;
        if line == "done" {
            break;
        }
        let Seen { name, differences, seconds } =
            serde_json::from_str(&line).with_context(|| format!("the script said {line}"))?;
        tally.part(&format!("{PAGE}/{name}"), seconds, &differences);
    }
    ensure!(0 < tally.passed + tally.failed, "nothing was looked at");
    println!("    screenshots: {}", screenshots.display());
    Ok(tally)
}

/// The upstream's answer in a case: to the request whose user says the case's name.
fn answer_to(case: &toml::Value) -> Result<toml::Value> {
    let name = case.get("name").and_then(toml::Value::as_str).context("a case has a name")?;
    let mut answer = Table::new();
    for key in ["text", "tool_calls"] {
        if let Some(value) = case.get(key) {
            answer.insert(key.into(), marked(value)?);
        }
    }
    answer.insert("repeat".into(), true.into());
    let when: Table = toml::from_str(&format!("contains = {:?}", format!("case {name}")))?;
    answer.insert("when".into(), when.into());
    Ok(answer.into())
}

/// With a script that leaves a mark instead of `RAN`.
fn marked(value: &toml::Value) -> Result<toml::Value> {
    let value = serde_json::to_string(value)?.replace("RAN", "globalThis.ran=1");
    let value: Value = serde_json::from_str(&value)?;
    toml::Value::try_from(value).context("what was TOML is TOML")
}

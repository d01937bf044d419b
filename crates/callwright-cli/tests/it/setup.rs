//! `callwright setup` and `callwright launch`: every agent of the table, from an empty home and over files that are full.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callwright::json;
use callwright::value::Value;

use crate::binary::{Ran, callwright};

const URL: &str = "http://127.0.0.1:23900";

/// A home of one test, and a project in it.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Home {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("setup-{name}"));
        let _ = fs::remove_dir_all(&folder);
        for part in ["home", "state", "project", "bin"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        Home(folder)
    }

    fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = callwright(args);
        command.env_clear().current_dir(self.0.join("project")).env("HOME", self.home());
        command.env("XDG_STATE_HOME", self.0.join("state")).env("CALLWRIGHT_FIND_LOCAL", "false");
        command.env("CALLWRIGHT_STORE_AT", "off").stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.0.join("bin").display()));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args))
    }

    fn set_up(&self, agent: &str, more: &[&str]) -> Ran {
        self.run(&[&["setup", agent, "--yes", "--url", URL, "--model", "org/m-1.5:7b"], more].concat())
    }

    /// Every file below the home, and what it holds.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    files.insert(path, String::from("a folder"));
                } else {
                    files.insert(path.clone(), fs::read_to_string(path).unwrap());
                }
            }
        }
        files
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A program on the path, as a script.
    fn program(&self, name: &str, script: &str) {
        let path = self.0.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        let rights: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, rights).unwrap();
    }
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn agents() -> Vec<String> {
    let list = Home::new("list").run(&["setup"]);
    assert_eq!(list.code, 0, "{}", list.err);
    list.out.lines().skip(1).map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

/// The lines that set variables.
fn exports(out: &str) -> String {
    out.split_inclusive('\n').filter(|line| line.starts_with("export ")).collect()
}

/// The value that a file of an agent holds.
fn parsed(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_str(&text).unwrap(),
        Some("toml") => {
            let table: toml::Table = toml::from_str(&text).unwrap();
            Value::of(&table).unwrap()
        }
        // It is read by its lines.
        _ => text.into(),
    }
}

#[test]
fn every_agent_is_set_up_in_an_empty_home_and_leaves_it_empty() {
    let agents = agents();
    assert!(15 <= agents.len(), "{agents:?}");
    for agent in &agents {
        let home = Home::new(&format!("empty-{agent}"));
        let done = home.set_up(agent, &[]);
        assert_eq!(done.code, 0, "{agent}: {}", done.err);
        let files = home.files();
        let written: String = files.values().cloned().chain([done.out.clone()]).collect();
        assert!(written.contains(URL) && written.contains("org/m-1.5:7b"), "{agent}: {written}");
        assert!(!written.contains('{') || !written.contains("{model}"), "{agent}: {written}");
        for path in files.keys().filter(|path| path.is_file()) {
            parsed(path);
        }
        let again = home.set_up(agent, &[]);
        let variables = exports(&done.out);
        let nothing = format!("{agent}: nothing to do\n");
        assert_eq!(again.out, if variables.is_empty() { nothing } else { variables });
        assert_eq!(home.files(), files, "{agent}: a second run changes nothing");
        let undone = home.run(&["setup", agent, "--undo", "--yes"]);
        assert_eq!(undone.code, 0, "{agent}: {}", undone.err);
        assert_eq!(home.files(), BTreeMap::new(), "{agent}");
        assert_eq!(fs::read_dir(home.0.join("state/callwright")).map_or(0, Iterator::count), 0, "{agent}");
    }
}

/// Files with comments and content of others.
const FULL: [(&str, &str, &str); 7] = [
    (
        "claude-code",
        ".claude/settings.json",
        "{\n  \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n  \"env\": {\"MINE\": \"1\"}\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"gpt-5\" # the best\n\n[mcp_servers.x] # kept\ncommand = 'y'\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // my theme\n  \"theme\": \"dark\",\n  \"provider\": {\"other\": {\"name\": \"o\"}},\n}\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed settings\n{\n  \"vim_mode\": true, // yes\n  \"language_models\": {\"ollama\": {\"api_url\": \"u\"}},\n}\n",
    ),
    (
        "continue",
        ".continue/config.yaml",
        "name: mine # kept\nversion: 0.0.1\nschema: v1\nmodels:\n  # first\n  - name: other\n    provider: ollama\n    model: x\nrules:\n  - be nice\n",
    ),
    ("aider", ".aider.conf.yml", "# aider\n## model: commented\ndark-mode: true\nmodel: gpt-4o\n"),
    (
        "mistral-vibe",
        ".vibe/config.toml",
        "active_model = \"devstral\"\n\n[[models]]\nname = 'a' # kept\nprovider = 'mistral'\nalias = 'devstral'\n",
    ),
];

#[test]
fn what_a_file_holds_besides_stays_and_undo_brings_back_every_byte() {
    for (agent, path, text) in FULL {
        let home = Home::new(&format!("full-{agent}"));
        let path = home.write(path, text);
        let dry = home.run(&["setup", agent, "--dry-run", "--url", URL, "--model", "m"]);
        assert!(dry.code == 0 && dry.out.contains('+'), "{agent}: {} {}", dry.out, dry.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{agent}: a dry run writes nothing");
        let done = home.set_up(agent, &[]);
        assert_eq!(done.code, 0, "{agent}: {}", done.err);
        let now = fs::read_to_string(&path).unwrap();
        for kept in [
            "// my theme",
            "// yes",
            "// Zed settings",
            "# mine",
            "# kept",
            "# first",
            "be nice",
            "## model: commented",
            "Bash(ls)",
            "\"MINE\"",
            "other",
            "dark",
            "ollama",
        ] {
            assert_eq!(text.contains(kept), now.contains(kept), "{agent}: {kept}: {now}");
        }
        assert!(now.contains(URL) && now != text, "{agent}: {now}");
        assert!(done.err.contains("what was there is kept in"), "{agent}: {}", done.err);
        // Another model takes the place of the first one, and undo still goes back to the begin.
        assert_eq!(home.run(&["setup", agent, "--yes", "--model", "second"]).code, 0);
        assert!(fs::read_to_string(&path).unwrap().contains("second"), "{agent}");
        assert_eq!(home.run(&["setup", agent, "--undo", "--yes"]).code, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{agent}");
    }
}

#[test]
fn what_somebody_changed_since_is_not_undone() {
    let home = Home::new("changed");
    let path = home.write(".codex/config.toml", "model = 'x'\n");
    assert_eq!(home.set_up("codex", &[]).code, 0);
    let changed = fs::read_to_string(&path).unwrap() + "\n[mine]\na = 1\n";
    fs::write(&path, &changed).unwrap();
    let undone = home.run(&["setup", "codex", "--undo", "--yes"]);
    assert_eq!(undone.code, 8);
    assert!(
        undone.err.contains("was changed since it was set up") && undone.out.contains("+[mine]"),
        "{} {}",
        undone.out,
        undone.err
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    let list = home.run(&["setup"]).out;
    assert!(list.contains("http://127.0.0.1:23900, org/m-1.5:7b, changed since"), "{list}");
    // A run over it can be undone by itself.
    assert_eq!(home.run(&["setup", "codex", "--yes", "--model", "third"]).code, 0);
    assert_eq!(home.run(&["setup", "codex", "--undo", "--yes"]).code, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    for (agent, path, text, says) in [
        ("opencode", ".config/opencode/opencode.json", "{\n  \"a\": ,\n}", "line 2"),
        ("opencode", ".config/opencode/opencode.json", "{\"provider\": 1}", "`provider` holds no object"),
        ("codex", ".codex/config.toml", "a = = 1", "line 1"),
        ("aider", ".aider.conf.yml", "a: [1\nb: 2\n", "line"),
    ] {
        let home = Home::new("broken");
        let path = home.write(path, text);
        let ran = home.set_up(agent, &[]);
        assert!(ran.code == 8 && ran.err.contains(says), "{agent}: {}", ran.err);
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

#[test]
fn nobody_to_ask_and_nothing_named_write_nothing() {
    let home = Home::new("unasked");
    let unasked = home.run(&["setup", "opencode", "--url", URL, "--model", "m"]);
    assert!(unasked.code == 8 && unasked.err.contains("--yes writes it"), "{}", unasked.err);
    let nameless = home.run(&["setup", "opencode", "--yes", "--url", "http://127.0.0.1:9"]);
    assert!(nameless.code == 8 && nameless.err.contains("name the model with --model"), "{}", nameless.err);
    let unknown = home.run(&["setup", "opencod", "--yes"]);
    assert!(unknown.code == 2 && unknown.err.contains("opencode"), "{}", unknown.err);
    assert_eq!(home.files(), BTreeMap::new());
}

#[test]
fn a_key_goes_into_no_file_but_that_for_keys() {
    for agent in agents() {
        let home = Home::new(&format!("key-{agent}"));
        let args = ["setup", &agent, "--yes", "--url", URL, "--model", "m", "--client-key-env", "CW"];
        let mut command = home.command(&args);
        command.env("CW", "cw-secret");
        let done = ran(command);
        assert_eq!(done.code, 0, "{agent}: {}", done.err);
        let holds: Vec<PathBuf> = home
            .files()
            .into_iter()
            .filter(|(_, text)| text.contains("cw-secret"))
            .map(|(path, _)| path)
            .collect();
        let is_own = |path: &PathBuf| {
            use std::os::unix::fs::PermissionsExt;
            fs::metadata(path).unwrap().permissions().mode() & 0o077 == 0
        };
        assert!(holds.iter().all(is_own), "{agent}: {holds:?}");
        let is_by_reference =
            ["codex", "opencode", "kilo", "mistral-vibe", "crush", "goose", "zed"].contains(&&*agent);
        let variables = exports(&done.out);
        assert_eq!(holds.is_empty(), is_by_reference || !variables.is_empty(), "{agent}: {holds:?}");
        // Variables are for the user's own shell.
        let shown = done.out.replace(&variables, "");
        assert!(!shown.contains("cw-secret"), "{agent}: {shown}");
        assert!(!done.err.contains("cw-secret"), "{agent}");
    }
}

#[test]
fn a_project_has_its_own_file_and_takes_no_key() {
    let home = Home::new("project");
    let done = home.set_up("opencode", &["--project"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(home.files(), BTreeMap::new());
    let file = home.0.join("project/opencode.json");
    assert_eq!(parsed(&file)["model"], "callwright/org/m-1.5:7b");
    assert_eq!(home.run(&["setup", "opencode", "--undo", "--yes"]).code, 0);
    assert!(!file.exists());
    let none = home.set_up("codex", &["--project"]);
    assert!(none.code == 8 && none.err.contains("no file of a project"), "{}", none.err);
    let mut command = home.command(&[
        "setup",
        "claude-code",
        "--yes",
        "--project",
        "--model",
        "m",
        "--client-key-env",
        "CW",
    ]);
    command.env("CW", "cw-secret");
    let refused = ran(command);
    assert!(refused.code == 8 && refused.err.contains("belongs in no file of a project"), "{}", refused.err);
}

#[test]
fn a_link_stays_one_and_rights_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new("links");
    let real = home.write("dotfiles/codex.toml", "model = 'x'\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(home.home().join(".codex")).unwrap();
    let link = home.home().join(".codex/config.toml");
    symlink(&real, &link).unwrap();
    assert_eq!(home.set_up("codex", &[]).code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains(URL));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(home.run(&["setup", "codex", "--undo", "--yes"]).code, 0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "model = 'x'\n");
}

/// Asks the gateway that it was given for its models, and says what it was given besides.
const ASKS: &str = r#"printf '%s\n' "$@"; env; exit 7"#;

#[test]
fn an_agent_is_launched_with_a_gateway_and_changes_nothing() {
    let home = Home::new("launch");
    let pi = home.write(".pi/agent/models.json", "{\"providers\": {\"mine\": {}}}");
    home.write(".pi/agent/auth.json", "{\"k\": 1}");
    let before = home.files();
    home.program("opencode", ASKS);
    let ran = home.run(&["launch", "opencode", "--model", "m", "--", "run", "a b"]);
    assert_eq!(ran.code, 7, "{} {}", ran.out, ran.err);
    assert!(ran.out.starts_with("run\na b\n"), "{}", ran.out);
    let content = ran.out.lines().find_map(|line| line.strip_prefix("OPENCODE_CONFIG_CONTENT=")).unwrap();
    let content: Value = serde_json::from_str(content).unwrap();
    let url = content["provider"]["callwright"]["options"]["baseURL"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.1:") && !url.contains(":4000"), "{url}");
    assert_eq!(content["model"], "callwright/m");
    // A folder of the agent is copied as links, with one file changed.
    home.program("pi", "cd $PI_CODING_AGENT_DIR; cat models.json auth.json settings.json; test -L auth.json");
    let ran = home.run(&["launch", "pi", "--model", "m"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    for part in ["\"mine\"", "\"callwright\"", "\"k\": 1", "\"defaultModel\": \"m\""] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(home.files(), before);
    assert!(pi.exists());
    let missing = home.run(&["launch", "crush", "--model", "m"]);
    assert!(missing.code == 8 && missing.err.contains("there is no `crush` on PATH"), "{}", missing.err);
    home.program("zed", "true");
    let only = home.run(&["launch", "zed", "--model", "m"]);
    assert!(only.code == 8 && only.err.contains("callwright setup zed"), "{}", only.err);
}

#[test]
fn a_launched_agent_reaches_the_gateway_and_has_a_key_where_one_is_wanted() {
    let home = Home::new("launch-key");
    let script = r#"exec python3 -c "
import json, os, urllib.request
call = lambda key: urllib.request.Request(os.environ['ANTHROPIC_BASE_URL'] + '/v1/models', headers={'authorization': 'Bearer ' + key})
print(json.load(urllib.request.urlopen(call(os.environ['ANTHROPIC_AUTH_TOKEN'])))['data'][0]['id'])
try: urllib.request.urlopen(call('wrong'))
except Exception as error: print(error.code)
""#;
    home.program("claude", script);
    let open = home.run(&["launch", "claude-code"]);
    assert_eq!((open.code, open.out.lines().next()), (0, Some("callwright-replay")), "{}", open.err);
    let config = home.write("cw.toml", &format!("[[keys]]\nname = 'a'\nsha256 = '{}'\n", "0".repeat(64)));
    let keyed = home.run(&["launch", "claude-code", "--config", config.to_str().unwrap()]);
    assert_eq!((keyed.code, &*keyed.out), (0, "callwright-replay\n401\n"), "{}", keyed.err);
    // Who takes the name of a variable finds the key in it.
    home.program("vibe", "grep api_key_env_var $VIBE_HOME/config.toml; echo ${CALLWRIGHT_KEY%-*}");
    let named = home.run(&["launch", "mistral-vibe", "--config", config.to_str().unwrap()]);
    assert_eq!((named.code, &*named.out), (0, "api_key_env_var = \"CALLWRIGHT_KEY\"\ncw\n"), "{}", named.err);
}

#[test]
fn what_ends_the_launch_ends_the_agent() {
    let home = Home::new("launch-end");
    home.program("codex", "trap 'echo told; exit 5' TERM; echo ready; while :; do sleep 0.05; done");
    for (signal, code) in [("TERM", 5), ("INT", 130)] {
        let script = if signal == "INT" {
            "echo ready; exec sleep 60"
        } else {
            "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
        };
        home.program("codex", script);
        let mut command = home.command(&["launch", "codex", "--model", "m"]);
        let mut child = command.spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        assert_eq!(line, "ready\n");
        let id = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

#[test]
fn members_are_found_where_the_agents_look_for_them() {
    let home = Home::new("members");
    for agent in ["claude-code", "codex", "opencode", "qwen-code", "pi", "crush", "gptme"] {
        assert_eq!(home.set_up(agent, &[]).code, 0, "{agent}");
    }
    let at = |path: &str, pointer: &str| {
        parsed(&home.home().join(path)).pointer(pointer).cloned().unwrap_or_default()
    };
    let v1 = format!("{URL}/v1");
    for (path, pointer, value) in [
        (".claude/settings.json", "/env/ANTHROPIC_BASE_URL", json!(URL)),
        (".claude/settings.json", "/env/ANTHROPIC_AUTH_TOKEN", json!("none")),
        (".codex/config.toml", "/model_providers/callwright/base_url", json!(v1)),
        (".codex/config.toml", "/model_providers/callwright/requires_openai_auth", json!(false)),
        (
            ".config/opencode/opencode.json",
            "/provider/callwright/models/org~1m-1.5:7b/tool_call",
            json!(true),
        ),
        (".qwen/settings.json", "/modelProviders/openai/0/baseUrl", json!(v1)),
        (".pi/agent/models.json", "/providers/callwright/models/0/id", json!("org/m-1.5:7b")),
        (".pi/agent/settings.json", "/defaultProvider", json!("callwright")),
        (".config/crush/crush.json", "/models/large/provider", json!("callwright")),
        (".config/gptme/config.toml", "/providers/0/base_url", json!(v1)),
    ] {
        assert_eq!(at(path, pointer), value, "{path} {pointer}");
    }
}

#[test]
fn each_agent_has_a_page_that_prints_what_is_written() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |page: &str| fs::read_to_string(docs.join(page)).unwrap();
    let (summary, clients) = (read("SUMMARY.md"), read("clients.md"));
    for agent in agents() {
        let link = format!("(clients/{agent}.md)");
        assert!(summary.contains(&link) && clients.contains(&link), "{agent}: nothing leads to its page");
        let page = fs::read_to_string(docs.join(format!("clients/{agent}.md"))).unwrap();
        let home = Home::new(&format!("page-{agent}"));
        let done = home.run(&["setup", &agent, "--yes", "--model", "qwen3"]);
        assert_eq!(done.code, 0, "{agent}: {}", done.err);
        for (path, text) in home.files().into_iter().filter(|(path, _)| path.is_file()) {
            let shown = format!("`~/{}`", path.strip_prefix(home.home()).unwrap().display());
            assert!(
                page.contains(&shown) && page.contains(&format!("\n{text}```\n")),
                "{agent}: {shown}\n{text}"
            );
        }
        let variables = exports(&done.out);
        assert!(page.contains(&variables), "{agent}: {variables}");
        assert!(page.contains(&format!("callwright setup {agent} --model qwen3")), "{agent}");
    }
}

//! A workspace with all built-in tools.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::{Arc, Mutex};

use callwright::value::Value;
use callwright_agent::tools::{Answer, Host, Question, built_in};
use callwright_agent::{CallContext, Changes, Commands, Launcher, ToolResult, Toolbox, Workspace};
use tempfile::TempDir;

/// The user of a test: says one thing, and remembers what it was told.
#[derive(Default)]
pub(crate) struct User {
    pub(crate) says: Option<&'static str>,
    pub(crate) heard: Mutex<Vec<String>>,
}

impl Host for User {
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        self.heard.lock().unwrap().push(format!("{} {:?}", question.text, question.options));
        let answer = self.says.map_or(Answer::Nobody, |text| Answer::Said(text.to_owned()));
        Box::pin(async move { answer })
    }

    fn finished(&self, summary: &str) {
        self.heard.lock().unwrap().push(summary.to_owned());
    }
}

pub(crate) struct Bench {
    /// `w`, the workspace, and what stands beside it.
    pub(crate) folder: TempDir,
    pub(crate) toolbox: Toolbox,
    pub(crate) context: CallContext,
    pub(crate) changes: Arc<Changes>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) user: Arc<User>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::with(TempDir::new().unwrap(), User::default(), |changes| changes, |commands| commands)
    }

    pub(crate) fn with(
        folder: TempDir,
        user: User,
        changes: impl FnOnce(Changes) -> Changes,
        commands: impl FnOnce(Commands) -> Commands,
    ) -> Bench {
        let secret = [("CANARY_API_KEY".into(), "canary-key-8c1f".into())];
        let environment = std::env::vars_os().chain(secret).collect();
        Bench::with_environment(folder, user, changes, commands, environment)
    }

    pub(crate) fn with_environment(
        folder: TempDir,
        user: User,
        changes: impl FnOnce(Changes) -> Changes,
        commands: impl FnOnce(Commands) -> Commands,
        environment: Vec<(OsString, OsString)>,
    ) -> Bench {
        let launcher = Launcher::new(env!("CARGO_BIN_EXE_callwright-sandbox"), &[]);
        Bench::launched(launcher, folder, user, changes, commands, environment)
    }

    /// A bench whose commands are another user's, who owns all of it: where the tests are root, and may be somebody else.
    pub(crate) fn of_nobody(commands: impl FnOnce(Commands) -> Commands) -> Option<Bench> {
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        let keeper = env!("CARGO_BIN_EXE_callwright-sandbox");
        let as_nobody = |words: &[&str]| Command::new("setpriv").args(nobody).args(words).status();
        if !as_nobody(&["test", "-x", keeper]).is_ok_and(|status| status.success()) {
            return None;
        }
        let launcher = Launcher::new("setpriv", &[&nobody[..], &[keeper]].concat());
        let folder = TempDir::new().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let environment = vec![("HOME".into(), home.into()), ("PATH".into(), "/usr/bin:/bin".into())];
        let bench =
            Bench::launched(launcher, folder, User::default(), |changes| changes, commands, environment);
        bench.give_to_nobody();
        Some(bench)
    }

    /// Gives all that was put to the user of [`Bench::of_nobody`].
    pub(crate) fn give_to_nobody(&self) {
        let given = Command::new("chown").args(["-R", "65534:65534"]).arg(self.folder.path()).status();
        assert!(given.unwrap().success());
    }

    fn launched(
        launcher: Launcher,
        folder: TempDir,
        user: User,
        changes: impl FnOnce(Changes) -> Changes,
        commands: impl FnOnce(Commands) -> Commands,
        environment: Vec<(OsString, OsString)>,
    ) -> Bench {
        fs::create_dir(folder.path().join("w")).unwrap();
        let workspace = Arc::new(Workspace::open(&folder.path().join("w")).unwrap());
        let kept = folder.path().join("kept");
        let changes = Arc::new(changes(Changes::open(&kept, workspace.clone()).unwrap()));
        let temporary = folder.path().join("temporary");
        let all = Commands::new(launcher, workspace.root(), &temporary, environment).unwrap();
        let all = Arc::new(commands(all));
        let user = Arc::new(user);
        let host: Arc<dyn Host> = user.clone();
        let toolbox = Toolbox::new(built_in(&changes, &all, &host)).unwrap();
        let context = CallContext::new("call_1", workspace);
        Bench { folder, toolbox, context, changes, commands: all, user }
    }

    /// What the walls do not hold here.
    pub(crate) fn unheld(&self) -> Option<&str> {
        self.commands.unheld()
    }

    /// Where a file of the workspace stands.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("w").join(name)
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) async fn result(&self, tool: &str, arguments: &Value) -> ToolResult {
        self.toolbox.call(tool, &arguments.to_string(), &self.context).await
    }

    /// What the model reads, as JSON.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let content = self.result(tool, &arguments).await.content();
        serde_json::from_str(&content).unwrap_or(Value::String(content))
    }
}

//! A run with tools of a test, against a scripted upstream.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use callwright::json;
use callwright::value::Value;
use callwright_agent::run::{
    Approval, Approver, Approving, Event, Journal, Outcome, Runner, RunnerBuilder, Settings, Step, Watch,
};
use callwright_agent::tools::{Answer, Host, Question, built_in};
use callwright_agent::{
    ApprovalRequest, Arguments, Changes, Commands, FunctionTool, Kind, Launcher, Rights, Tool, ToolError,
    Toolbox, Workspace,
};
use callwright_relay::Client;
use callwright_relay::config::{Constrain, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_replay::{Replay, Script};
use callwright_store::{Store, StoreConfig};
use tempfile::TempDir;

/// A model whose server takes tools, and one whose server does not.
pub(crate) const NATIVE: &str = "native-model";
pub(crate) const PROMPT: &str = "prompt-model";

/// Everything that a test looks at.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) replay: Replay,
    pub(crate) seen: Arc<Seen>,
    /// `name arguments` of each call that ran, in the order in which they began.
    pub(crate) ran: Arc<Mutex<Vec<String>>>,
    pub(crate) store: Store,
}

/// What a case may say about a run.
pub(crate) struct Wishes {
    pub(crate) model: String,
    pub(crate) settings: Settings,
    pub(crate) rights: Rights,
    pub(crate) approval: Approval,
    /// The tools that are declared; all where there is none.
    pub(crate) tools: Vec<String>,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            model: NATIVE.into(),
            settings: Settings::default(),
            rights: Rights { yes: true, ..Rights::default() },
            approval: Approval::Nobody,
            tools: Vec::new(),
        }
    }
}

/// What was told.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) Mutex<Vec<Event>>);

impl Seen {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        let step = |event| match event {
            Event::StepFinished(step) => Some(step),
            _ => None,
        };
        self.events().into_iter().filter_map(step).collect()
    }
}

impl Watch for Seen {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// Gives one answer to everything.
pub(crate) struct Says(pub(crate) Approval);

impl Approver for Says {
    fn approve<'a>(&'a self, _request: &'a ApprovalRequest) -> Approving<'a> {
        Box::pin(std::future::ready(self.0))
    }
}

struct NobodyThere;

impl Host for NobodyThere {
    fn ask<'a>(
        &'a self,
        _question: &'a Question,
    ) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(std::future::ready(Answer::Nobody))
    }

    fn finished(&self, _summary: &str) {}
}

impl Bench {
    pub(crate) fn new(script: &str) -> Bench {
        Bench::of(Script::from_toml(script).unwrap())
    }

    pub(crate) fn of(script: Script) -> Bench {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("w")).unwrap();
        let store = Store::open(StoreConfig::at(folder.path().join("callwright.db"))).unwrap();
        Bench {
            replay: Replay::start(script).unwrap(),
            seen: Arc::default(),
            ran: Arc::default(),
            folder,
            store,
        }
    }

    pub(crate) fn client(&self) -> Client {
        client(&self.replay.base_url())
    }

    pub(crate) fn workspace(&self) -> Arc<Workspace> {
        Arc::new(Workspace::open(&self.folder.path().join("w")).unwrap())
    }

    /// A run that is to be built, or resumed.
    pub(crate) async fn builder(&self, wishes: Wishes) -> RunnerBuilder {
        let workspace = self.workspace();
        let mut tools = self.tools();
        if !wishes.tools.is_empty() {
            let wanted = |name: &str| wishes.tools.iter().any(|wanted| wanted == name);
            tools.retain(|tool| wanted(tool.definition()["function"]["name"].as_str().unwrap()));
        }
        let toolbox = Arc::new(Toolbox::new(tools).unwrap());
        RunnerBuilder {
            settings: wishes.settings,
            model: Some(wishes.model),
            rights: wishes.rights,
            approver: Arc::new(Says(wishes.approval)),
            watch: self.seen.clone(),
            journal: Some(Journal::open(self.store.clone(), "s").await.unwrap()),
            ..RunnerBuilder::new(self.client(), toolbox, workspace)
        }
    }

    pub(crate) async fn runner(&self, wishes: Wishes) -> Runner {
        self.builder(wishes).await.build()
    }

    /// Lets a run begin with these words, to its end.
    pub(crate) async fn run(&self, wishes: Wishes, says: &str) -> (Runner, Outcome) {
        let mut runner = self.runner(wishes).await;
        assert!(runner.say(says).await.unwrap());
        let outcome = runner.run().await.unwrap();
        (runner, outcome)
    }

    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }

    /// The bodies of the questions so far.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let chat = |request: &callwright_replay::Recorded| request.path.ends_with("/chat/completions");
        let body = |request: callwright_replay::Recorded| serde_json::from_slice(&request.body).unwrap();
        self.replay.requests().into_iter().filter(chat).map(body).collect()
    }

    /// The built-in tools, and some that need nothing.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let workspace = self.workspace();
        let changes = Arc::new(Changes::open(&self.folder.path().join("kept"), workspace.clone()).unwrap());
        let launcher = Launcher::new(env!("CARGO_BIN_EXE_callwright-sandbox"), &[]);
        let temporary = self.folder.path().join("temporary");
        let commands = Commands::new(launcher, workspace.root(), &temporary, []).unwrap();
        let mut tools = built_in(&changes, &Arc::new(commands), &(Arc::new(NobodyThere) as Arc<dyn Host>));
        tools.push(self.tool("run_code", &["code"], Kind::READ, |arguments| {
            Ok(match arguments.string("code")? {
                code if code.contains("hello") => "hello world".into(),
                code if code.contains("pi") => "3.141592653589793".into(),
                code => format!("ran {code}"),
            })
        }));
        tools.push(self.tool("get_weather", &["location"], Kind::READ, |arguments| {
            Ok(format!("The weather in {} is sunny and 22°C.", arguments.string("location")?))
        }));
        let echo = |arguments: &Arguments| Ok(arguments.string("text")?.to_owned());
        tools.push(self.tool("echo", &["text"], Kind::READ, echo));
        tools.push(self.tool("wipe", &["what"], Kind::DESTRUCTIVE, |_| Ok("gone".into())));
        tools.push(self.tool("fail", &["text"], Kind::READ, |_| Err(ToolError::new("it never works"))));
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                            "required": ["a", "b"]});
        let ran = self.ran.clone();
        let add =
            FunctionTool::new("add_numbers", "Add two numbers together.", schema, move |a: Arguments, _| {
                ran.lock().unwrap().push(format!("add_numbers {}", a.text()));
                let number = |name: &str| a.optional_number(name).ok().flatten().unwrap_or_default();
                let sum = number("a") + number("b");
                async move { sum }
            });
        tools.push(Arc::new(add.of_kind(Kind::READ)));
        tools
    }

    fn tool(
        &self,
        name: &'static str,
        parameters: &[&str],
        kind: Kind,
        work: fn(&Arguments) -> Result<String, ToolError>,
    ) -> Arc<dyn Tool> {
        let properties: callwright::value::Map =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let schema = json!({"type": "object", "properties": properties, "required": parameters});
        let ran = self.ran.clone();
        let tool = FunctionTool::new(name, "A tool of a test.", schema, move |arguments: Arguments, _| {
            ran.lock().unwrap().push(format!("{name} {}", arguments.text()));
            async move { work(&arguments).map_err(|error| error.message) }
        });
        Arc::new(tool.of_kind(kind))
    }
}

/// A client of a scripted upstream.
pub(crate) fn client(base_url: &str) -> Client {
    let mut upstream = UpstreamConfig::new("replay", base_url);
    upstream.constrain = Some(Constrain::None);
    upstream.retries = 0;
    let model = |pattern: &str, mode| {
        let mut model = ModelConfig::new(pattern);
        model.mode = Some(mode);
        model
    };
    let models = vec![model(NATIVE, Mode::Native), model(PROMPT, Mode::Prompt)];
    let config = RelayConfig { upstreams: vec![upstream], models, ..RelayConfig::default() };
    Client::new(config, &|_| None).unwrap()
}

/// Tools that run without a question.
pub(crate) fn allowed(names: &[&str]) -> Rights {
    let allow: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Rights { yes: true, allow, ..Rights::default() }
}

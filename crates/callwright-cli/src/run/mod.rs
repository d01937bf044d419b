//! `callwright run`: one task, to its end.

mod console;
mod file;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright_agent::run::{
    Call, Cancel, End, Next, Outcome, RunError, Runner, RunnerBuilder, Settings, Watch,
};
use callwright_agent::{Decision, Repaired, Rights, Toolbox, Why};
use callwright_gateway::Secrets;
use callwright_store::Store;

use crate::agent::{Agent, each_interrupt, journal, new_session, store};
use crate::args::{AgentArgs, OutputForm, RunArgs};
use crate::config::Config;
use crate::failure::Failure;
use crate::input;
use console::{Console, JsonLines};
use file::{RunFile, What};

/// Runs a task, or goes on with one.
pub(crate) fn run(args: &RunArgs, in_color: bool) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let config = Config::load(args.agent.gateway.flags(), &env)?;
    // Lines of the log between those of the run are for who asks for them.
    if config.origins.contains_key("log.level") {
        let log = &config.settings.log;
        log.start(false, &Secrets::default()).map_err(|error| Failure::Config(error.to_string()))?;
    }
    let store = store(&config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work(args, config, store.clone(), in_color));
    // A thread may still wait for the terminal.
    runtime.shutdown_background();
    if let Some(store) = store {
        store.close();
    }
    done
}

async fn work(args: &RunArgs, config: Config, store: Option<Store>, in_color: bool) -> Result<(), Failure> {
    let session = match (&args.resume, &args.session) {
        (Some(id), _) | (None, Some(id)) => id.clone(),
        (None, None) => new_session("run")?,
    };
    let (journal, resumed) = journal(store.as_ref(), &session, args.resume.is_some()).await?;
    let kept = resumed.as_ref().map(|resumed| &resumed.facts);
    let (file, task) = asked(args, kept)?;
    let workspace = workspace(args, kept)?;
    let mut agent = Agent::open(&args.agent, config, &workspace, &session, journal, None).await?;
    agent
        .connect(Arc::new(|notice| {
            // Nothing is left to be done where even this cannot be said.
            let _ = writeln!(io::stderr(), "callwright: {notice}");
        }))
        .await?;
    let tools = file.toolbox(&agent.tools, &agent.commands)?;
    let toolbox = Toolbox::new(tools).map_err(|error| Failure::Config(error.to_string()))?;
    agent.check_rights(&toolbox)?;
    let kept_model = kept.and_then(|kept| kept["model"].as_str()).map(str::to_owned);
    let model = args.model.clone().or(kept_model).or_else(|| file.model.clone());
    let model = agent.model(model).await?;
    let builder = RunnerBuilder {
        settings: settings(args, &agent, &file),
        prices: file.prices(),
        request: file.request.clone(),
        watch: watch(args, &model, in_color),
        facts: json!({"file": Value::of(&file).unwrap_or_default(), "workspace": agent.workspace.root().to_string_lossy(), "model": model}),
        model: Some(model),
        ..agent.builder(toolbox)
    };
    let mut runner = match resumed {
        Some(resumed) => {
            let settings = builder.settings.clone();
            let mut runner = builder.resume(resumed);
            let is_other = *runner.machine().settings() != settings;
            if is_other {
                runner.set(|kept| *kept = settings).await.map_err(failure)?;
            }
            runner
        }
        None => builder.build(),
    };
    begin(&mut runner, task.as_deref(), args.resume.is_some()).await.map_err(failure)?;
    heed_signals(runner.cancel());
    let outcome = runner.run().await;
    agent.close().await;
    let code = code(&outcome);
    if args.output == OutputForm::Text {
        let is_over = matches!(code, 0 | 1) || agent.journal.is_none();
        let resume = resume(&session, &args.agent, &runner, &agent.rights);
        let more = if is_over { String::new() } else { format!("; {resume}") };
        writeln!(io::stderr(), "callwright: {}; session {session}{more}", runner.machine().account())?;
    }
    match outcome {
        Err(RunError::Journal(error)) => Err(Failure::Store(error)),
        Ok(_) | Err(RunError::Stopped) if code == 0 => Ok(()),
        Ok(_) | Err(RunError::Stopped) => Err(Failure::Ended(code)),
    }
}

/// Returns the settings of the run: the file's, over which the command's go.
fn settings(args: &RunArgs, agent: &Agent, file: &RunFile) -> Settings {
    let configured = &agent.config.settings;
    let mut settings = file.settings(configured.policy, configured.notes);
    if args.agent.gateway.requests.policy.is_some() {
        settings.policy = configured.policy;
    }
    if let Some(most) = args.max_turns {
        settings.stop.max_turns = Some(most);
    }
    settings
}

/// The command that lets a run go on: with all options that it was given, for a run keeps no rights and no upstream, and with
/// those that permit what it waits for.
fn resume(session: &str, args: &AgentArgs, runner: &Runner, rights: &Rights) -> String {
    let permits = |call: &Call| {
        let toolbox = &runner.with().toolbox;
        toolbox.decide(&call.name, &call.arguments, Repaired::Exact, rights) == Decision::Run
    };
    let next = runner.machine().next();
    let waiting = match &next {
        Next::Ask(calls) => calls.as_slice(),
        Next::CallModel(_) | Next::CallTools(_) | Next::Done(_) => &[],
    };
    let is_for_permission = |(call, why): &&(Call, Why)| match why {
        Why::Leaks | Why::Writes | Why::Destroys | Why::Starts => true,
        Why::Repaired => !permits(call),
        Why::Open
        | Why::Unconfined
        | Why::Configures
        | Why::Linked
        | Why::Beside
        | Why::Denied
        | Why::Hostile => false,
    };
    let asked = waiting.iter().filter(is_for_permission).map(|(call, _)| &call.name);
    let allow: BTreeSet<&String> = asked.filter(|name| !args.allow.contains(name)).collect();
    let allow: String = allow.into_iter().map(|name| format!(" --allow {name}")).collect();
    let is_repaired = waiting.iter().any(|(_, why)| *why == Why::Repaired);
    let (said, repairs) = match is_repaired {
        true => (&["session", "resume", "input", "repairs"][..], " --repairs inferred"),
        false => (&["session", "resume", "input"][..], ""),
    };
    format!("callwright run --resume {session}{}{allow}{repairs}", args.given.without(said))
}

/// Says the task; where a run goes on without one, lets it.
async fn begin(runner: &mut Runner, task: Option<&str>, is_resumed: bool) -> Result<(), RunError> {
    let Some(task) = task else {
        if is_resumed {
            runner.go_on_from_a_limit().await?;
        }
        return Ok(());
    };
    if !runner.say(task).await? {
        let open =
            "callwright: calls of this session are not finished: they come first, and the task was not sent";
        let _ = writeln!(io::stderr(), "{open}");
    }
    Ok(())
}

/// The run file and the task: as they are given, or as they were.
fn asked(args: &RunArgs, kept: Option<&Value>) -> Result<(RunFile, Option<String>), Failure> {
    let input = args.input.as_deref().map(value).transpose()?;
    let kept_file = || -> RunFile {
        let file = kept.and_then(|kept| kept.get("file"));
        file.and_then(|file| file.to().ok()).unwrap_or_default()
    };
    let what = args.what.as_deref().map(What::of).transpose()?;
    let file = match &what {
        Some(What::File(path)) => RunFile::read(path)?,
        Some(What::Task(_)) | None => kept_file(),
    };
    let task = match &what {
        Some(What::Task(task)) => Some((*task).to_owned()),
        // It was said when the run began.
        _ if kept.is_some() && input.is_none() => None,
        _ => Some(file.task(input.as_ref())?),
    };
    Ok((file, task))
}

/// A JSON text, or the path of a file that holds one.
fn value(input: &str) -> Result<Value, Failure> {
    match serde_json::from_str(input) {
        Ok(value) => Ok(value),
        Err(error) if input.trim_start().starts_with(['{', '[', '"']) => {
            Err(Failure::Config(format!("--input: {error}")))
        }
        Err(_) => {
            let path = Path::new(input);
            let text = input::text(path)?;
            serde_json::from_str(&text).map_err(|error| Failure::Definitions(path.into(), error.to_string()))
        }
    }
}

fn workspace(args: &RunArgs, kept: Option<&Value>) -> Result<PathBuf, Failure> {
    let kept = kept.and_then(|kept| kept["workspace"].as_str()).map(PathBuf::from);
    match args.agent.workspace.clone().or(kept) {
        Some(folder) => Ok(folder),
        None => std::env::current_dir().map_err(|error| Failure::Read(PathBuf::from("."), error)),
    }
}

fn watch(args: &RunArgs, model: &str, in_color: bool) -> Arc<dyn Watch> {
    match args.output {
        OutputForm::Json => Arc::new(JsonLines),
        OutputForm::Text => Arc::new(Console::new(io::stdout(), model, in_color)),
    }
}

/// Ctrl-C once lets the turn be written down, twice stops at once.
fn heed_signals(cancel: Cancel) {
    tokio::spawn(each_interrupt(move || {
        if !cancel.is_pressed() {
            let _ = writeln!(io::stderr(), "\ncallwright: ending the turn; once more stops at once");
        }
        cancel.press();
    }));
}

/// Returns the exit code for a script.
fn code(outcome: &Result<Outcome, RunError>) -> u8 {
    match outcome {
        Ok(Outcome::Ended(ended)) => match ended.end {
            End::Answered | End::Finished | End::ToolCalled(_) | End::Predicate => 0,
            End::Refused | End::GaveUp | End::Silent => 1,
            End::Limit(_) => 9,
            End::Cancelled => 130,
        },
        Ok(Outcome::Blocked(_)) => 10,
        Err(RunError::Stopped) => 130,
        Err(RunError::Journal(_)) => 3,
    }
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Journal(error) => Failure::Store(error),
        RunError::Stopped => Failure::Ended(130),
    }
}

//! `callwright doctor`: why is a tool not called, why are its arguments wrong, why is the JSON broken? Each
//! question has checks, with verdicts, and the advice that helps.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright::lint::{Finding, Severity, lint};
use callwright_gateway::{CapabilityAt, capabilities};

use crate::args::DoctorArgs;
use crate::config::Config;
use crate::discover;
use crate::door;
use crate::failure::Failure;
use crate::harmless::harmless;

/// Prints the three checks. A check that finds something wrong makes the run fail.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let tools = args.tools.as_deref().map(door::tools_of).transpose()?;
    let patient = Patient { model: model(args)?, fallback: fallback(args)?, tools };
    let mut out = io::stdout().lock();
    let mut is_well = true;
    for (question, verdicts, advice) in patient.checks(args) {
        writeln!(out, "{question}")?;
        for verdict in verdicts {
            is_well &= verdict.mark != Mark::Bad;
            writeln!(out, "  {:4} {}", verdict.mark.name(), harmless(&verdict.text))?;
        }
        for line in advice {
            writeln!(out, "       {line}")?;
        }
        writeln!(out)?;
    }
    if is_well { Ok(()) } else { Err(Failure::Refused) }
}

/// What is looked at.
struct Patient {
    tools: Option<ToolSet>,
    /// What the model can do at the upstreams that serve it; none where no model was named.
    model: Option<Vec<CapabilityAt>>,
    fallback: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Bad,
    Unknown,
}

impl Mark {
    fn name(self) -> &'static str {
        match self {
            Mark::Good => "ok",
            Mark::Bad => "BAD",
            Mark::Unknown => "?",
        }
    }
}

struct Verdict {
    mark: Mark,
    text: String,
}

impl Verdict {
    fn new(mark: Mark, text: impl Into<String>) -> Verdict {
        Verdict { mark, text: text.into() }
    }
}

type Check = (&'static str, Vec<Verdict>, &'static [&'static str]);

impl Patient {
    fn checks(&self, args: &DoctorArgs) -> [Check; 3] {
        let (about_tools, about_arguments): (Vec<Finding>, Vec<Finding>) =
            self.tools.iter().flat_map(lint).partition(|finding| finding.pointer.is_empty());
        let mut called = self.findings(&about_tools, "every tool has a description that says what it is for");
        called.push(self.is_declared(args.tool.as_deref()));
        called.extend(self.support());
        let arguments = self.findings(&about_arguments, "every parameter is described");
        let mut broken = self.support();
        broken.push(match &self.fallback {
            Some(model) => Verdict::new(Mark::Good, format!("when all else fails, {model} is asked")),
            None => Verdict::new(Mark::Unknown, "no fallback_model is configured for the model"),
        });
        [
            (
                "A tool is not called",
                called,
                &[
                    "- Describe clearly what the tool does, and when to call it.",
                    "- Verify that the tool is in the request's `tools` array.",
                    "- Check that the model supports tools: `callwright caps MODEL`.",
                ],
            ),
            (
                "A tool is called with wrong arguments",
                arguments,
                &[
                    "- Improve the descriptions of the parameters.",
                    "- Put examples into the descriptions.",
                    "- Use `enum` where only certain values are right: a wrong one is then fed back with them.",
                ],
            ),
            (
                "JSON errors, even with healing",
                broken,
                &[
                    "- Check how well the model supports tools: `callwright caps MODEL`, `/metrics`.",
                    "- Try a different model: `callwright models`.",
                    "- Configure another one as its `fallback_model`: it is asked when this one fails.",
                ],
            ),
        ]
    }

    fn findings(&self, findings: &[Finding], fine: &str) -> Vec<Verdict> {
        match (&self.tools, findings) {
            (None, _) => {
                vec![Verdict::new(Mark::Unknown, "name the tools to have them checked: --tools FILE")]
            }
            (Some(_), []) => vec![Verdict::new(Mark::Good, fine)],
            (Some(_), findings) => findings.iter().map(verdict).collect(),
        }
    }

    fn is_declared(&self, name: Option<&str>) -> Verdict {
        let Some(tools) = &self.tools else {
            return Verdict::new(Mark::Unknown, "whether the tool is in the `tools` array cannot be seen");
        };
        let declared: Vec<&str> = tools.iter().map(callwright::Tool::name).collect();
        match name {
            Some(name) if declared.contains(&name) => {
                Verdict::new(Mark::Good, format!("{name} is in the `tools` array"))
            }
            Some(name) => {
                let declared = declared.join(", ");
                Verdict::new(Mark::Bad, format!("{name} is not in the `tools` array, which has {declared}"))
            }
            None if declared.is_empty() => Verdict::new(Mark::Bad, "the `tools` array is empty"),
            None => Verdict::new(Mark::Good, format!("the `tools` array has {}", declared.join(", "))),
        }
    }

    fn support(&self) -> Vec<Verdict> {
        let Some(found) = &self.model else {
            return vec![Verdict::new(
                Mark::Unknown,
                "name the model to have its support checked: --model MODEL",
            )];
        };
        if found.is_empty() {
            return vec![Verdict::new(Mark::Bad, "no upstream serves the model")];
        }
        let verdict = |at: &CapabilityAt| {
            let how = if at.capability.tools { "takes tools natively" } else { "is served by prompt mode" };
            let source = &at.capability.tools_source;
            Verdict::new(Mark::Good, format!("{} at {} {how} ({source})", at.model, at.upstream))
        };
        found.iter().map(verdict).collect()
    }
}

fn verdict(finding: &Finding) -> Verdict {
    let mark = if finding.severity == Severity::Warning { Mark::Bad } else { Mark::Unknown };
    Verdict::new(mark, finding.to_string())
}

fn model(args: &DoctorArgs) -> Result<Option<Vec<CapabilityAt>>, Failure> {
    let Some(model) = &args.model else { return Ok(None) };
    let env = |name: &str| std::env::var(name).ok();
    let mut config = Config::load(&args.config, &env)?;
    let _chosen = discover::upstream(&mut config, &env)?;
    let (_, relay) = config.parts(&Default::default())?;
    let found = capabilities(relay, &env, model, false);
    found.map(Some).map_err(|error| Failure::Config(error.to_string()))
}

fn fallback(args: &DoctorArgs) -> Result<Option<String>, Failure> {
    let config = Config::load(&args.config, &|name| std::env::var(name).ok())?;
    let Some(model) = args.model.as_deref() else { return Ok(None) };
    let fits = |pattern: &str| callwright_relay::config::fits(pattern, model);
    let set = config.settings.models.into_iter().find(|set| fits(&set.pattern));
    Ok(set.and_then(|set| set.fallback_model))
}

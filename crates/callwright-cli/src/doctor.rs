//! `callwright doctor` tells whether the set-up works, and if it does, why a tool is not called, why its arguments are wrong, why
//! the JSON is broken. Each question has checks, with findings, and the advice that helps.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright::lint::{Severity, lint};
use callwright_relay::capability::Source;
use callwright_relay::survey::{CapabilityAt, Listing};

use crate::args::DoctorArgs;
use crate::checkup::{self, Finding, Mark};
use crate::config::{Config, Env};
use crate::discover::{self, LISTING};
use crate::door;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::runtime::on_runtime;

/// Prints the checks. A check that finds something wrong makes the run fail.
pub(crate) fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let tools = args.tools.as_deref().map(door::tools_of).transpose()?;
    let config = Config::load(args.asked.flags(), &env)?;
    let patient = on_runtime(Patient::examined(args, config, &env, tools))?;
    let mut out = io::stdout().lock();
    let mut is_well = true;
    for Check { title, findings, ends: [well, unwell, open], advice } in patient.checks(args) {
        let has = |mark: Mark| findings.iter().any(|finding| finding.mark == mark);
        let end = match [Mark::Bad, Mark::Warning, Mark::Good].map(has) {
            [true, ..] => unwell,
            [false, true, _] => "this may be why",
            [false, false, true] => well,
            [false, false, false] => open,
        };
        is_well &= !has(Mark::Bad);
        writeln!(out, "{title}: {end}")?;
        for finding in &findings {
            writeln!(out, "  {}", harmless(&finding.to_string()))?;
        }
        // Whose set-up works needs none.
        let advice = if has(Mark::Bad) || has(Mark::Warning) { advice } else { &[] };
        for line in advice {
            writeln!(out, "       {line}")?;
        }
        writeln!(out)?;
    }
    if is_well { Ok(()) } else { Err(Failure::Refused) }
}

/// The set-up that is examined.
struct Patient {
    tools: Option<ToolSet>,
    /// Nobody was found but the built-in script.
    has_no_model: bool,
    /// The models that each upstream lists.
    listings: Vec<Listing>,
    /// The model, where one is named or there is only one.
    model: Option<String>,
    /// Its abilities at the upstreams that serve it.
    found: Vec<CapabilityAt>,
    /// The finding of a small request, where one was to be sent.
    asked: Option<Finding>,
    fallback: Option<String>,
}

/// The checks for one symptom.
struct Check {
    title: &'static str,
    findings: Vec<Finding>,
    /// Its ends: nothing is wrong, something is, nothing could be told.
    ends: [&'static str; 3],
    /// The advice where something is wrong.
    advice: &'static [&'static str],
}

/// The ends of a symptom.
const ENDS: [&str; 3] = ["nothing wrong was found", "this is why", "not checked"];

impl Patient {
    async fn examined(
        args: &DoctorArgs,
        mut config: Config,
        env: Env<'_>,
        tools: Option<ToolSet>,
    ) -> Result<Patient, Failure> {
        // Held until all has been asked: it may be the built-in server.
        let chosen = discover::upstream(&mut config, env).await?;
        let survey = config.survey(env)?;
        let listings = survey.listings(LISTING).await;
        let only = match listings.as_slice() {
            [Listing { models: Ok(models), .. }] if models.len() == 1 => models.first().cloned(),
            _ => None,
        };
        let model = args.model.clone().or_else(|| config.settings.default_model.clone()).or(only);
        let mut patient = Patient {
            tools,
            has_no_model: chosen.as_ref().is_some_and(discover::Chosen::is_built_in),
            listings,
            model,
            found: Vec::new(),
            asked: None,
            fallback: None,
        };
        if let Some(model) = &patient.model {
            patient.found = survey.capabilities(model, false).await;
            let fits = |pattern: &str| callwright_relay::config::fits(pattern, model);
            let set = config.settings.models.iter().find(|set| fits(&set.pattern));
            patient.fallback = set.and_then(|set| set.escalate.clone());
            if args.ask {
                patient.asked = Some(checkup::of_request(&config, env, model).await?);
            }
        }
        Ok(patient)
    }

    fn checks(&self, args: &DoctorArgs) -> [Check; 4] {
        type Lint = callwright::lint::Finding;
        let (about_tools, about_arguments): (Vec<Lint>, Vec<Lint>) =
            self.tools.iter().flat_map(lint).partition(|finding| finding.pointer.is_empty());
        let mut called = self.lint(&about_tools, "every tool has a description that says what it is for");
        called.push(self.is_declared(args.tool.as_deref()));
        called.extend(self.support());
        let arguments = self.lint(&about_arguments, "every parameter is described");
        let mut broken = self.support();
        broken.push(match &self.fallback {
            Some(model) => Finding::new(Mark::Good, format!("when all else fails, {model} is asked")),
            None => Finding::new(Mark::Unknown, "no second model (`escalate`) is configured"),
        });
        let failed = self.asked.iter().filter(|asked| asked.mark == Mark::Bad);
        called.extend(failed.clone().cloned());
        broken.extend(failed.cloned());
        [
            Check {
                title: "Set-up",
                findings: self.set_up(),
                ends: ["works", "does not work", "not known"],
                advice: &[
                    "- Start a server of models, or name one: --upstream URL, or OPENROUTER_API_KEY.",
                    "- See which models there are: `callwright models`.",
                    "- Have a small request sent: `callwright doctor --model MODEL --ask`.",
                ],
            },
            Check {
                title: "If a tool is not called",
                findings: called,
                ends: ENDS,
                advice: &[
                    "- Describe clearly what the tool does, and when to call it.",
                    "- Verify that the tool is in the request's `tools` array.",
                    "- Check that the model supports tools: `callwright caps MODEL`.",
                ],
            },
            Check {
                title: "If a tool is called with wrong arguments",
                findings: arguments,
                ends: ENDS,
                advice: &[
                    "- Improve the descriptions of the parameters.",
                    "- Put examples into the descriptions.",
                    "- Use `enum` where only certain values are right: a wrong one then goes back to the model with them.",
                ],
            },
            Check {
                title: "If JSON is broken even with repair",
                findings: broken,
                ends: ENDS,
                advice: &[
                    "- Check how well the model supports tools: `callwright caps MODEL`, `/metrics`.",
                    "- Try a different model: `callwright models` lists them.",
                    "- Configure another one as its `escalate`: it is asked when this one fails.",
                ],
            },
        ]
    }

    /// Checks that the upstreams answer, have the model, and that a call comes.
    fn set_up(&self) -> Vec<Finding> {
        if self.has_no_model {
            let text = "no upstream is configured, and no server was found on this machine: \
                        a built-in script answers, which is not a model";
            return vec![Finding::new(Mark::Bad, text)];
        }
        let mut findings: Vec<Finding> = self.listings.iter().map(checkup::of_upstream).collect();
        match &self.model {
            None => findings
                .push(Finding::new(Mark::Unknown, "name the model to have it looked for: --model MODEL")),
            Some(model) if self.found.is_empty() => {
                findings.push(Finding::new(Mark::Bad, format!("no upstream is configured to serve {model}")));
            }
            Some(_) => {
                let listed = |at: &CapabilityAt| {
                    let listing = self.listings.iter().find(|listing| listing.upstream == at.upstream)?;
                    Some(checkup::of_model(&at.model, listing))
                };
                findings.extend(self.found.iter().filter_map(listed));
            }
        }
        findings.extend(self.asked.clone());
        findings
    }

    fn lint(&self, findings: &[callwright::lint::Finding], fine: &str) -> Vec<Finding> {
        match (&self.tools, findings) {
            (None, _) => {
                vec![Finding::new(Mark::Unknown, "name the tools to have them checked: --tools FILE")]
            }
            (Some(_), []) => vec![Finding::new(Mark::Good, fine)],
            (Some(_), findings) => findings.iter().map(finding).collect(),
        }
    }

    fn is_declared(&self, name: Option<&str>) -> Finding {
        let Some(tools) = &self.tools else {
            return Finding::new(Mark::Unknown, "whether the tool is in the `tools` array cannot be seen");
        };
        let declared: Vec<&str> = tools.iter().map(callwright::Tool::name).collect();
        match name {
            Some(name) if declared.contains(&name) => {
                Finding::new(Mark::Good, format!("{name} is in the `tools` array"))
            }
            Some(name) => {
                let declared = declared.join(", ");
                Finding::new(Mark::Bad, format!("{name} is not in the `tools` array, which has {declared}"))
            }
            None if declared.is_empty() => Finding::new(Mark::Bad, "the `tools` array is empty"),
            None => Finding::new(Mark::Good, format!("the `tools` array has {}", declared.join(", "))),
        }
    }

    /// Tells how tools reach the model. Knowledge about an upstream that does not answer is nothing to build on.
    fn support(&self) -> Vec<Finding> {
        if self.has_no_model {
            return vec![Finding::new(Mark::Unknown, "there is no model whose support could be checked")];
        }
        if self.model.is_none() {
            let text = "name the model to have its support checked: --model MODEL";
            return vec![Finding::new(Mark::Unknown, text)];
        }
        let said = |at: &CapabilityAt| {
            let source = &at.capability.tools_source;
            if *source == Source::Unknown {
                let text = format!("{} at {} is asked natively: {source}", at.model, at.upstream);
                return Finding::new(Mark::Unknown, text);
            }
            let how = if at.capability.tools { "takes tools natively" } else { "is served by prompt mode" };
            let listing = self.listings.iter().find(|listing| listing.upstream == at.upstream);
            let answers = listing.is_some_and(|listing| checkup::of_upstream(listing).mark != Mark::Bad);
            let mark = if answers { Mark::Good } else { Mark::Unknown };
            Finding::new(mark, format!("{} at {} {how} ({source})", at.model, at.upstream))
        };
        self.found.iter().map(said).collect()
    }
}

fn finding(found: &callwright::lint::Finding) -> Finding {
    let mark = match found.severity {
        Severity::Error => Mark::Bad,
        Severity::Warning => Mark::Warning,
        Severity::Hint => Mark::Unknown,
    };
    let callwright::lint::Finding { tool, pointer, message, rule, .. } = found;
    Finding::new(mark, format!("{tool}{pointer}: {message} ({rule})"))
}

//! The door: a template goes in, what it says about its model comes out.

use std::fmt;

use callwright::{Context, Dialect, Dialects};

use crate::form;
use crate::infer::{self, Reasoning, Turns};
use crate::probe::Probe;
use crate::proof::{Proof, prove};
use crate::record;
use crate::speech;
use crate::template::Template;

/// The findings of a template about its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// The turns that it takes.
    pub turns: Turns,
    /// It tells the model of its tools.
    pub lists_tools: bool,
    /// The marks around the model's reasoning, where it tells of some.
    pub reasoning: Option<Reasoning>,
    /// The dialect that its calls are written in.
    pub calls: Result<Proved, Unknown>,
}

/// A dialect, and how often it was read right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    /// Its name.
    pub name: String,
    /// The record, where it is not among those that are known. It says how it is spoken, as the template speaks it.
    pub own: Option<Dialect>,
    /// The number of answers that the template wrote and that were read as they were meant.
    pub round_trips: usize,
    /// The number of further ones that could not be, as their arguments hold marks or quotes that the template does not escape.
    pub unclear: usize,
}

/// Why the dialect of a template is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// It writes no calls; with what it says to them, where it refuses or fails.
    NoCalls(Option<String>),
    /// Calls have no form that could be made out.
    Unclear(String),
    /// A form was made out, but what the template writes in it is not read as it is meant.
    Unproved(String),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::NoCalls(None) => write!(f, "the template writes no calls"),
            Unknown::NoCalls(Some(why)) => write!(f, "the template writes no calls: {why}"),
            Unknown::Unclear(why) => write!(f, "the form of its calls is not clear: {why}"),
            Unknown::Unproved(why) => write!(f, "the form of its calls is not proved: {why}"),
        }
    }
}

impl std::error::Error for Unknown {}

impl Findings {
    /// Asks `template` for everything. A dialect among `dialects` goes before a new one, which is called `name`: what
    /// is written in it must be read right in every case that is not special, or it does not count.
    ///
    /// ```
    /// use callwright::Dialects;
    /// use callwright_template::{Findings, Template};
    ///
    /// let template = Template::new(
    ///     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\
    ///      {% for c in m.tool_calls %}⟦do⟧{{ c.function.name }}⟦with⟧{{ c.function.arguments }}⟦done⟧{% endfor %}\
    ///      <|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    /// )?;
    /// let findings = Findings::of(&template, &Dialects::default(), "unheard-of");
    /// let dialect = findings.calls?.own.unwrap();
    /// assert_eq!(dialect.call.open, ["⟦do⟧{name}⟦with⟧"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(template: &Template, dialects: &Dialects, name: &str) -> Findings {
        let probe = Probe::new(template);
        let turns = infer::turns(&probe);
        let lists_tools = infer::lists_tools(&probe);
        let reasoning = infer::reasoning(&probe);
        let calls = calls(&probe, dialects, name);
        Findings { turns, lists_tools, reasoning, calls }
    }
}

fn calls(probe: &Probe<'_>, dialects: &Dialects, name: &str) -> Result<Proved, Unknown> {
    let manners = infer::manners(probe);
    let manners = match manners {
        Ok(manners) => manners,
        Err(why) => return Err(Unknown::NoCalls(why)),
    };
    let context = Context { dialects: dialects.clone(), ..Context::default() };
    // What needs no repair is how the template means it; objects are what templates are written for.
    let mut best: Option<Proof> = None;
    for manner in &manners {
        let Ok(proof) = prove(probe, *manner, &context) else { continue };
        let is_exact = proof.repaired() == 0;
        if best.as_ref().is_none_or(|best| proof.repaired() < best.repaired()) {
            best = Some(proof);
        }
        if is_exact {
            break;
        }
    }
    if let Some(proof) = best {
        return Ok(Proved::new(proof, None));
    }
    let mut why = None;
    for manner in manners {
        let tried = infer::samples(probe, manner).map_err(Unknown::Unclear).and_then(|samples| {
            let unclear = |why: &str| Unknown::Unclear(why.to_owned());
            let form = form::form(&samples).map_err(unclear)?;
            let mut record = record::of(&form, name).map_err(unclear)?;
            let unproved = |why: String| Unknown::Unproved(why);
            let all = dialects.own().cloned().chain([record.clone()]);
            let dialects = Dialects::new(all).map_err(|error| unproved(error.to_string()))?;
            let proof =
                prove(probe, manner, &Context { dialects, ..Context::default() }).map_err(unproved)?;
            if proof.dialect != name {
                return Err(unproved(format!("its calls are read as {}", proof.dialect)));
            }
            if proof.misread != 0 {
                return Err(unproved(format!("{} answers are read as something else", proof.misread)));
            }
            record.speech = Some(speech::of(probe, manner, &samples, &form, &record));
            Ok(Proved::new(proof, Some(record)))
        });
        match tried {
            Ok(proved) => return Ok(proved),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    Err(why.unwrap_or(Unknown::NoCalls(None)))
}

impl Proved {
    pub(crate) fn new(proof: Proof, own: Option<Dialect>) -> Proved {
        Proved { name: proof.dialect, own, round_trips: proof.right, unclear: proof.unclear }
    }
}

//! Knows other names of tools and of their parameters: a call under such a name is a call of the tool.
//!
//! The tool's owner declares them; nothing is guessed. A name that may mean another declared tool does not count.

use callwright::json;
use callwright::value::Map;
use callwright::{
    Acceptance, Coercion, Context, NativeCall, Policy, Reason, Refusal, ToolSet, Verdict, Violation, parse,
};
use callwright_json::{quote, strict};
use callwright_relay::Choice;

/// Other names of a tool and its parameters. Case and separators do not count: `write_file` is `WriteFile`, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownAs {
    /// Other names of the tool.
    pub names: &'static [&'static str],
    /// Other names of its parameters, each before its declared name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Parameters that only explain a call and that the tool lacks.
    pub comments: &'static [&'static str],
}

/// A tool that may be called by another name.
#[derive(Clone, Copy)]
pub(crate) struct Known<'t> {
    /// The tool, compiled.
    pub(crate) tool: &'t callwright::Tool,
    /// The other names of the tool.
    pub(crate) known_as: KnownAs,
}

impl KnownAs {
    /// Returns whether `name` is a name of the tool, in plain letters: look-alikes of other scripts do not count.
    pub(crate) fn has(&self, name: &str) -> bool {
        name.is_ascii() && self.names.iter().any(|known| fold(known) == fold(name))
    }

    /// Returns the declared parameter that `written` is another name of.
    fn parameter(&self, written: &str) -> Option<&'static str> {
        let is_it = |(known, _): &&(&str, &str)| fold(known) == fold(written);
        self.parameters.iter().find(is_it).map(|(_, declared)| *declared)
    }

    /// Returns whether a coercion in a report of repairs renames a parameter.
    pub(crate) fn renames(&self, coercion: &Coercion) -> bool {
        let named = |text: &str| serde_json::from_str::<String>(text).ok();
        match (named(&coercion.from), named(&coercion.to)) {
            (Some(from), Some(to)) => {
                self.parameter(&from) == Some(to.as_str()) && coercion.pointer == format!("/{to}")
            }
            _ => false,
        }
    }
}

impl Known<'_> {
    /// Returns the verdict on a call that names this tool and was refused because no tool has its name. `declared` are
    /// the names of all tools. It returns `None` for a call that is part of another call.
    pub(crate) fn verdict(
        self,
        refusal: &Refusal,
        choice: &Choice,
        policy: Policy,
        declared: Vec<String>,
    ) -> Option<Verdict> {
        let name = Some(self.tool.name().to_owned());
        let refused = |reason| Verdict::Refused(Refusal { name: name.clone(), reason, ..refusal.clone() });
        match self.read(refusal, choice, policy)? {
            Verdict::Refused(again) => Some(refused(again.reason)),
            Verdict::Accepted(call) => match self.renamed(&call) {
                Some((arguments, coercions)) => {
                    let violations = self.violations(&arguments);
                    Some(match violations.is_empty() {
                        true => Verdict::Accepted(Acceptance {
                            id: refusal.id.clone(),
                            name: self.tool.name().to_owned(),
                            arguments,
                            renamed_from: refusal.name.clone(),
                            coercions,
                            ..call
                        }),
                        false => refused(Reason::Invalid(violations)),
                    })
                }
                // The name may mean another tool than this one.
                None => {
                    let nearest = vec![self.tool.name().to_owned()];
                    let reason = Reason::UnknownTool { nearest, declared };
                    Some(Verdict::Refused(Refusal { reason, ..refusal.clone() }))
                }
            },
        }
    }

    /// Reads the call again as one of a tool of this name whose parameters have all their names.
    fn read(self, refusal: &Refusal, choice: &Choice, policy: Policy) -> Option<Verdict> {
        let name = refusal.name.as_deref()?;
        let tool_set = self.tool_set(name)?;
        let context = Context {
            finish_reason: choice.finish_reason.as_deref(),
            asked: Some(&refusal.dialect),
            policy,
            doubt_open_ends: true,
            ..Context::default()
        };
        if refusal.dialect == NATIVE {
            let native = NativeCall { id: None, name, arguments: &refusal.block };
            return parse(&tool_set, "", &[native], &context).verdicts.pop();
        }
        let verdicts = parse(&tool_set, &choice.raw, &[], &context).verdicts;
        verdicts.into_iter().find(|verdict| {
            let at = match verdict {
                Verdict::Accepted(call) => call.span,
                Verdict::Refused(again) => again.span,
            };
            at.start < refusal.span.end && refusal.span.start < at.end
        })
    }

    fn tool_set(self, name: &str) -> Option<ToolSet> {
        let declared = self.parameters();
        let other = self.known_as.parameters.iter().filter_map(|(other, parameter)| {
            let schema = declared.iter().find(|(name, _)| name.as_str() == *parameter)?.1.clone();
            Some(((*other).to_owned(), schema))
        });
        let comments = self.known_as.comments.iter().map(|comment| ((*comment).to_owned(), json!({})));
        let properties: Map = declared.clone().into_iter().chain(other).chain(comments).collect();
        let parameters = json!({"type": "object", "properties": properties});
        ToolSet::from_value(&json!([{"name": name, "parameters": parameters}])).ok()
    }

    /// Returns the declared parameters with their schemas.
    fn parameters(self) -> Map {
        let properties = &self.tool.definition()["function"]["parameters"]["properties"];
        properties.as_object().cloned().unwrap_or_default()
    }

    /// Returns the arguments under their declared names, and the renames; `None` where a name has no declared one, or
    /// two share one.
    fn renamed(self, call: &Acceptance) -> Option<(String, Vec<Coercion>)> {
        let declared = self.parameters();
        let tree = strict(&call.arguments).ok()?;
        let (mut text, mut done, mut taken) = (String::new(), 0, Vec::new());
        let mut coercions = call.coercions.clone();
        for (key, _) in tree.root(&call.arguments).members() {
            let written = key.as_str()?.into_owned();
            let is_kept =
                declared.get(&written).is_some() || self.known_as.comments.contains(&written.as_str());
            let name = match is_kept {
                true => written,
                false => {
                    let to = self.known_as.parameter(&written)?;
                    let span = key.span().range();
                    text.push_str(call.arguments.get(done..span.start)?);
                    text.push_str(&quote(to));
                    done = span.end;
                    let (pointer, from) = (format!("/{to}"), key.raw().to_owned());
                    coercions.push(Coercion { pointer, from, to: quote(to) });
                    to.to_owned()
                }
            };
            if taken.contains(&name) {
                return None;
            }
            taken.push(name);
        }
        text.push_str(call.arguments.get(done..)?);
        Some((text, coercions))
    }

    fn violations(self, arguments: &str) -> Vec<Violation> {
        match strict(arguments) {
            Ok(tree) => self.tool.schema().check(tree.root(arguments)),
            Err(_) => Vec::new(),
        }
    }
}

/// Returns whether `written` may mean `name`, of a tool: `write_file` for `files__write_file`.
pub(crate) fn may_be_meant(name: &str, written: &str) -> bool {
    let (mut before, written) = ('_', fold(written));
    name.char_indices().any(|(at, letter)| {
        let begins = !before.is_alphanumeric() || letter.is_uppercase();
        before = letter;
        begins && name.get(at..).is_some_and(|end| fold(end) == written)
    })
}

/// Folds case and drops separators.
fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name of the dialect of native calls.
const NATIVE: &str = "native";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_behind_a_prefix_may_be_meant() {
        for name in ["write_file", "WriteFile", "files__write_file", "files.writeFile", "myWriteFile"] {
            assert!(may_be_meant(name, "write_file"), "{name}");
        }
        for name in ["overwrite_file", "write_files", "file", "fsWrite", ""] {
            assert!(!may_be_meant(name, "write_file"), "{name}");
        }
        assert!(!may_be_meant("tools", "ls") && may_be_meant("s3.ls", "ls"));
    }
}

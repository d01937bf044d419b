//! A chat template: messages and tools go in, the prompt that a model would get comes out.

use std::fmt;
use std::io::{self, Write};

use callwright::value::Value as Json;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::bounds::{self, TooMuch};
use crate::ordered;
use crate::python::{self, Raised};
use crate::source::adapted;

/// The longest template, in bytes; the longest known ones have 20 kB.
const MAX_SOURCE: usize = 256 << 10;
/// The longest prompt, in bytes.
const MAX_PROMPT: usize = 8 << 20;
/// The most steps of one prompt, and those that it may take for each kilobyte that goes in.
const MAX_STEPS: u64 = 400_000;
const STEPS_PER_KILOBYTE: u64 = 2_000;
/// The most bytes of its source that a template may write, over and over.
const MAX_WRITTEN: u64 = 256 << 20;
/// The most macros that may call each other.
const MAX_CALLS: usize = 200;

/// The tokens that begin and end a text here; the server's own do not matter.
pub(crate) const BOS: &str = "<|cw-bos|>";
pub(crate) const EOS: &str = "<|cw-eos|>";

/// A compiled chat template.
///
/// It reads no file and no clock, and ends after a bounded number of steps, with a bounded text.
///
/// ```
/// use callwright_template::Template;
/// use callwright::json;
///
/// let template = Template::new("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")?;
/// let prompt = template.render(&[json!({"role": "user", "content": "Hi"})], &[], false)?;
/// assert_eq!(prompt, "<user>Hi");
/// # Ok::<(), callwright_template::TemplateError>(())
/// ```
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    /// Each step writes one piece of the source at most.
    most_steps: u64,
}

/// Why a template gives no prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is longer than 256 kB.
    TooLong,
    /// It is not a template: the line, and the fault there.
    Syntax(usize, String),
    /// It refuses the conversation, in these words.
    Raised(String),
    /// It fails at this conversation.
    Failed(String),
    /// It takes too many steps, or its text gets too long.
    Endless,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::TooLong => write!(f, "the template is longer than {MAX_SOURCE} bytes"),
            TemplateError::Syntax(line, what) => write!(f, "line {line} of the template: {what}"),
            TemplateError::Raised(words) => write!(f, "the template refuses the conversation: {words}"),
            TemplateError::Failed(what) => write!(f, "the template fails: {what}"),
            TemplateError::Endless => write!(f, "the template does not come to an end"),
        }
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// Compiles `source`.
    ///
    /// # Errors
    /// It is too long, or no template.
    pub fn new(source: &str) -> Result<Template, TemplateError> {
        if MAX_SOURCE < source.len() {
            return Err(TemplateError::TooLong);
        }
        let adapted = adapted(source).map_err(|(at, why)| {
            let line = source.get(..at).map_or(1, |before| 1 + before.matches('\n').count());
            TemplateError::Syntax(line, why.to_owned())
        })?;
        let mut environment = Environment::new();
        // As `transformers` sets it for chat templates.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| failed(&error))?);
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_recursion_limit(MAX_CALLS);
        python::add_to(&mut environment);
        environment
            .add_template_owned(NAME, adapted)
            .map_err(|error| TemplateError::Syntax(error.line().unwrap_or(1), error.to_string()))?;
        let pieces = source.split(['{', '}', '\'', '"']).map(str::len);
        let longest = pieces.max().unwrap_or(0).max(1) as u64;
        Ok(Template { environment, most_steps: MAX_STEPS.min(MAX_WRITTEN / longest) })
    }

    /// The prompt for `messages` and `tools`, in the form that chat completions have. With `generation`, what begins the
    /// model's next turn stands at its end.
    ///
    /// # Errors
    /// The template refuses the conversation, fails, or does not come to an end.
    pub fn render(
        &self,
        messages: &[Json],
        tools: &[Json],
        generation: bool,
    ) -> Result<String, TemplateError> {
        let list = |values: &[Json]| values.iter().map(value_of).collect::<Vec<Value>>();
        let size: usize = messages.iter().chain(tools).map(size_of).sum();
        let defined = if tools.is_empty() { Value::from(()) } else { Value::from(list(tools)) };
        let context = Value::from_pairs([
            ("messages", Value::from(list(messages))),
            ("tools", defined),
            ("documents", Value::from(())),
            // FireFunction's names for the tools and the time.
            ("functions", Value::from(Json::from(tools.to_vec()).to_string())),
            ("datetime", Value::from(python::TODAY)),
            ("add_generation_prompt", Value::from(generation)),
            ("bos_token", Value::from(BOS)),
            ("eos_token", Value::from(EOS)),
        ]);
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(self.most_steps + STEPS_PER_KILOBYTE * (size as u64 / 1024)));
        bounds::add_to(&mut environment, size);
        let mut out = Bounded(Vec::new());
        let template = environment.get_template(NAME).map_err(|error| failed(&error))?;
        template.render_captured_to(context, &mut out).map_err(|error| failed(&error))?;
        String::from_utf8(out.0).map_err(|_| TemplateError::Failed(String::from("the prompt is not UTF-8")))
    }
}

const NAME: &str = "chat";

/// A text that does not grow for ever.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if MAX_PROMPT < self.0.len() + bytes.len() {
            return Err(io::Error::other("the prompt is too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(error: &Error) -> TemplateError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(Raised(words)) = error.downcast_ref::<Raised>() {
            return TemplateError::Raised(words.clone());
        }
        if error.downcast_ref::<TooMuch>().is_some() {
            return TemplateError::Endless;
        }
        cause = error.source();
    }
    match error.kind() {
        ErrorKind::OutOfFuel | ErrorKind::WriteFailure => TemplateError::Endless,
        _ => TemplateError::Failed(error.to_string()),
    }
}

/// The work for a value, roughly in bytes.
fn size_of(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
        Json::String(text) => 8 + text.len(),
        Json::Array(items) => 8 + items.iter().map(size_of).sum::<usize>(),
        Json::Object(members) => members.iter().map(|(key, value)| 8 + key.len() + size_of(value)).sum(),
    }
}

// Both go into values that the JSON reader bounded in depth.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(is) => Value::from(*is),
        Json::Number(number) => {
            let whole = number.as_i64().map(Value::from).or_else(|| number.as_u64().map(Value::from));
            // A spelling that no number here has (`1e400`, thirty digits) goes on as text.
            let float = || number.as_f64().filter(|float| float.is_finite()).map(Value::from);
            whole.or_else(float).unwrap_or_else(|| Value::from(number.to_string()))
        }
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(value_of).collect::<Vec<Value>>()),
        Json::Object(members) => {
            ordered::map(members.iter().map(|(key, value)| (Value::from(key.as_str()), value_of(value))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    fn render(source: &str) -> Result<String, TemplateError> {
        let messages =
            [json!({"role": "user", "content": "Hi", "x": {"b": 1, "a": [true, null, 2.0, "<é>"]}})];
        Template::new(source)?.render(&messages, &[], true)
    }

    #[test]
    fn values_are_python_s() {
        for (source, expected) in [
            ("{{ messages[0].x | tojson }}", r#"{"b": 1, "a": [true, null, 2.0, "<é>"]}"#),
            ("{{ messages[0].x | tojson(separators=(',', ':')) }}", r#"{"b":1,"a":[true,null,2.0,"<é>"]}"#),
            ("{{ [] | tojson(indent=2) }}{{ {'a': 1} | tojson(indent=2) }}", "[]{\n  \"a\": 1\n}"),
            (
                "{% set l = [] %}{% for m in messages %}{% set _ = l.append(m.role) %}{% endfor %}{{ l | join }}",
                "user",
            ),
            ("{{ strftime_now('%d %b %Y') }}", python::TODAY),
            ("{{ ' a '.strip() }}{{ tools is none }}", "aTrue"),
            (
                "{{ '=' * 3 }}{{ 'a\nb' | indent(2) }}{{ 'a' | indent(1, first=true) }}{{ '%02d' | format(7) }}{{ 'aba'.replace('a', 'c', 1) }}",
                "===a\n  b a07cba",
            ),
            (
                "{{ ['a', 1] | join(', ') }}{{ 'aa' | replace('a', 'b') }}{{ nothing is defined }}",
                "a, 1bbFalse",
            ),
            ("{% generation %}x{% endgeneration %}", "x"),
            // Maps keep their order, however they are asked.
            (
                "{% set m = {'z': {'y': 1, 'b': {'c': 2}}, 'a': [3], 'z2': {}} %}{{ m | tojson }}{{ m.z.b.c }}{{ m['a'][0] }}",
                r#"{"z": {"y": 1, "b": {"c": 2}}, "a": [3], "z2": {}}23"#,
            ),
            (
                "{% for k, v in messages[0].x.items() %}{{ k }}{% endfor %}{% for k in {'z': 1, 'a': 2} %}{{ k }}{% endfor %}",
                "baza",
            ),
            (
                "{{ messages[0].x is mapping }}{{ 'b' in messages[0].x }}{{ {'z': 1}.get('z') }}{{ messages[0].x | length }}{{ {'a': 1} == {'a': 1} }}",
                "TrueTrue12True",
            ),
            ("{% for k, v in {'z': 1, 'a': 2} | items %}{{ k }}{{ v }}{% endfor %}", "z1a2"),
            ("{% for k, v in {'z': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}", "a2z1"),
        ] {
            assert_eq!(render(source).as_deref(), Ok(expected), "{source}");
        }
    }

    #[test]
    fn a_hostile_template_ends() {
        let endless = |source: &str| assert_eq!(render(source), Err(TemplateError::Endless), "{source}");
        endless("{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}");
        let doubled = "{% set x = 'xxxxxxxx' %}".to_owned() + &"{% set x = x ~ x %}".repeat(60);
        endless(&doubled);
        endless(
            "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        );
        endless("{% macro m(s) %}{{ m(s ~ s) }}{% endmacro %}{{ m('ab') }}");
        endless(
            "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x='aa') %}{% for i in range(60) %}{% set ns.x = ns.x | replace('a', ns.x) %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x='aa') %}{% for i in range(60) %}{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x='aa') %}{% for i in range(60) %}{% set ns.x = ns.x | list | join(ns.x) %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x='\"') %}{% for i in range(60) %}{% set ns.x = ns.x | tojson %}{% endfor %}",
        );
        endless(
            "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}",
        );
        endless("{{ 'a' | indent(1000000000000) }}");
        endless("{{ '%999999999d' | format(1) }}");
        endless("{% set n = 99999999 %}{{ 'x' * n }}");
        for unbounded in ["{{ 'x' * 1000000 }}", "{{ [1] * 9 }}"] {
            assert!(matches!(render(unbounded), Err(TemplateError::Syntax(1, _))), "{unbounded}");
        }
        let deep = render("{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}");
        assert!(matches!(deep, Err(TemplateError::Failed(_))), "{deep:?}");
        assert_eq!(render("{{ raise_exception('no') }}"), Err(TemplateError::Raised("no".into())));
        for file in ["{% include '/etc/passwd' %}", "{% import 'x' as y %}", "{% extends 'x' %}"] {
            assert!(matches!(render(file), Err(TemplateError::Failed(_))), "{file}");
        }
        assert!(matches!(render(&"(".repeat(MAX_SOURCE + 1)), Err(TemplateError::TooLong)));
        let nested = format!("{{{{ {} }}}}", "(".repeat(100_000));
        assert!(matches!(render(&nested), Err(TemplateError::Syntax(..))));
    }
}

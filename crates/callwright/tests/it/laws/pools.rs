//! What the texts of the laws are made of. Each pool has two halves, and no text takes from both: what was tuned on the one
//! is judged by the other.

use callwright::json;
use callwright::value::Value;
use callwright::{Dialects, prompt::PromptDialect};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::common::question::Tools;

/// One half of all pools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Half {
    Work,
    Judge,
}

impl Half {
    /// The name under which its share is told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Half::Work => "WORK",
            Half::Judge => "JUDGE",
        }
    }

    /// Where its random numbers begin.
    pub(crate) fn seed(self) -> u64 {
        match self {
            Half::Work => 1709,
            Half::Judge => 8111,
        }
    }

    fn of<T>(self, halves: Halves<T>) -> T {
        match self {
            Half::Work => halves.work,
            Half::Judge => halves.judge,
        }
    }
}

/// All that a text can be made of.
pub(crate) struct Pools {
    pub(crate) tools: Vec<Tool>,
    /// Their definitions.
    pub(crate) declared: Tools,
    pub(crate) values: Values,
    /// How numbers are spelt.
    pub(crate) numbers: Vec<String>,
    pub(crate) languages: Vec<Language>,
    /// What shows a call.
    pub(crate) frames: Vec<Frame>,
    /// Where a call stands that is meant.
    pub(crate) places: Vec<String>,
    /// Where two objects stand of which neither is words around the other.
    pub(crate) several: Vec<String>,
    /// Calls with marks whose arguments are JSON.
    pub(crate) forms: Vec<Form>,
    /// Calls with marks around each argument.
    pub(crate) tagged: Vec<Tagged>,
    /// Calls without marks, or with marks in a fence.
    pub(crate) plain: Vec<Plain>,
    /// All dialects that can be spoken.
    pub(crate) dialects: Vec<PromptDialect>,
}

impl Pools {
    pub(crate) fn of(half: Half) -> Pools {
        let tools: Vec<Tool> = half.of(read(include_str!("tools.toml")));
        let numbers: Numbers = read(include_str!("values.toml"));
        let forms: Forms = read(include_str!("forms.toml"));
        let definitions: Value =
            tools.iter().map(|tool| json!({"name": tool.name, "parameters": tool.schema()})).collect();
        Pools {
            declared: Tools::new(&definitions.to_string()),
            tools,
            values: half.of(read(include_str!("values.toml"))),
            numbers: numbers.numbers,
            languages: half.of(read(include_str!("languages.toml"))),
            frames: half.of(read(include_str!("frames.toml"))),
            places: half.of(read(include_str!("places.toml"))),
            several: half.of(read(include_str!("several.toml"))),
            forms: forms.form,
            tagged: forms.tagged,
            plain: forms.plain,
            dialects: PromptDialect::all(&Dialects::default()).collect(),
        }
    }
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).unwrap()
}

#[derive(Deserialize)]
struct Halves<T> {
    work: T,
    judge: T,
}

#[derive(Deserialize)]
struct Numbers {
    numbers: Vec<String>,
}

#[derive(Deserialize)]
struct Forms {
    form: Vec<Form>,
    tagged: Vec<Tagged>,
    plain: Vec<Plain>,
}

#[derive(Deserialize)]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(default)]
    required: Vec<String>,
    properties: Value,
}

impl Tool {
    pub(crate) fn schema(&self) -> Value {
        json!({"type": "object", "required": self.required, "properties": self.properties})
    }
}

#[derive(Deserialize)]
pub(crate) struct Values {
    /// In one line, without a mark of anything.
    pub(crate) plain: Vec<String>,
    /// What a reader may take for something else than a value.
    pub(crate) hard: Vec<String>,
    /// What may only stand for a value.
    pub(crate) slots: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Language {
    pub(crate) name: String,
    /// Harmless sentences.
    pub(crate) said: Vec<String>,
    /// What ends with a colon, and a call follows.
    pub(crate) leads: Vec<String>,
    /// What announces something that is shown.
    pub(crate) shows: Vec<String>,
    /// The two ends of a sentence around what is shown.
    pub(crate) halves: Vec<[String; 2]>,
    /// A name for a column or a speaker.
    pub(crate) word: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) text: String,
    /// What stands before each line of the call.
    #[serde(default)]
    pub(crate) prefix: String,
    /// The call has no line breaks.
    #[serde(default)]
    pub(crate) one_line: bool,
    /// The call is a JSON string.
    #[serde(default)]
    pub(crate) as_json: bool,
    /// It shows only what a model says whose server knows its tools.
    #[serde(default)]
    pub(crate) native: bool,
    /// It shows only what has no marks of its own.
    #[serde(default)]
    pub(crate) unmarked: bool,
}

impl Frame {
    /// Is the call in a fence that a fence of its own would end?
    pub(crate) fn is_fence_of_three(&self) -> bool {
        self.text.lines().any(|line| line.starts_with("```") && !line.starts_with("````"))
    }

    /// The call as it stands in the frame.
    pub(crate) fn written(&self, call: &str) -> String {
        let call = if self.one_line { call.replace('\n', " ") } else { call.to_owned() };
        if self.as_json {
            return Value::from(call).to_string();
        }
        let lines: Vec<String> = call.lines().map(|line| format!("{}{line}", self.prefix)).collect();
        lines.join("\n")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub(crate) name: String,
    /// Up to the end of the JSON.
    pub(crate) text: String,
    /// The marks of its own behind that.
    #[serde(default)]
    pub(crate) end: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tagged {
    pub(crate) name: String,
    pub(crate) text: String,
    /// One argument.
    pub(crate) argument: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plain {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) open: String,
    /// One call.
    pub(crate) call: String,
    /// What stands between two calls.
    pub(crate) between: String,
    #[serde(default)]
    pub(crate) close: String,
}

impl Tagged {
    /// The call; `None` where the form leaves open what a value is: one with a mark of its own, one with blanks at its ends, which
    /// may be layout, or a string that reads as JSON where the schema takes other types too.
    pub(crate) fn written(&self, tool: &Tool, arguments: &Value) -> Option<String> {
        let mut written = String::new();
        for (key, value) in arguments.as_object().unwrap() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let is_string_only = tool.properties[key.as_str()]["type"] == json!("string");
            let is_clear = !value.is_string() || is_string_only || text.parse::<Value>().is_err();
            let is_layout = text.is_empty() || text.trim() != text;
            if !is_clear || is_layout || self.marks().any(|mark| text.contains(mark)) {
                return None;
            }
            written += &fill(&self.argument, |slot| {
                Some(match slot {
                    "key" => key.clone(),
                    "value" => text.clone(),
                    "is_string" => value.is_string().to_string(),
                    _ => return None,
                })
            });
        }
        Some(fill(&self.text, |slot| {
            Some(match slot {
                "name" => tool.name.clone(),
                "arguments" => written.clone(),
                _ => return None,
            })
        }))
    }

    /// What begins and ends things in it: `</parameter>`, `<parameter=`.
    fn marks(&self) -> impl Iterator<Item = &str> {
        let marks = [&self.text, &self.argument].into_iter().flat_map(|text| text.split(['\n', '{', '}']));
        marks.filter(|mark| mark.starts_with('<'))
    }
}

/// `template` with its slots filled; braces around anything else are text.
pub(crate) fn fill(template: &str, mut slot: impl FnMut(&str) -> Option<String>) -> String {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        match behind.split_once('}').and_then(|(name, rest)| Some((slot(name)?, rest))) {
            Some((filling, behind)) => {
                text.push_str(&filling);
                rest = behind;
            }
            None => {
                text.push('{');
                rest = behind;
            }
        }
    }
    text + rest
}

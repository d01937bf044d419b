//! Files that belong to others: members are put into a text, and every other byte of it stays.
//!
//! In go the text, the members, and the keys by which elements of lists are known. Out comes the new text, or why the
//! text cannot be changed, and where. A member that has its value already is not touched.

mod json;
mod toml;
mod yaml;

use std::collections::BTreeMap;

use callwright::value::{Map, Value};
use serde::Deserialize;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// JSON, with comments and commas at the end where they stand already.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The member that names an element, for each list in which elements are found by one: `models` → `id`. Other lists
/// are replaced whole.
pub(crate) type Lists = BTreeMap<String, String>;

/// The mark that some editors put at the begin of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Format {
    /// Puts the members of `set` into `text`.
    ///
    /// # Errors
    /// A sentence without its begin: the text cannot be read, and where, or holds something of another kind.
    pub(crate) fn merge(self, text: &str, set: &Value, lists: &Lists) -> Result<String, String> {
        let bare = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let merged = self.merged(bare, set, lists)?;
        // Whatever was written must be read as it was meant, or the file is left alone.
        if self.merged(&merged, set, lists)? != merged {
            return Err(String::from("the changes cannot be put into this text"));
        }
        let mark = &text[..text.len() - bare.len()];
        Ok(format!("{mark}{merged}"))
    }

    fn merged(self, text: &str, set: &Value, lists: &Lists) -> Result<String, String> {
        match self {
            Format::Json => json::merge(text, set, lists),
            Format::Toml => toml::merge(text, set, lists),
            Format::Yaml => yaml::merge(text, set, lists),
        }
    }
}

/// The path of a member: `providers.callwright`.
fn below(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

/// The sentence for something of another kind than it must have.
fn holds_no(at: &str, kind: &str) -> String {
    if at.is_empty() { format!("it holds no {kind}") } else { format!("`{at}` holds no {kind}") }
}

/// Returns the name of an element, where the list has such a member.
fn name_of<'v>(element: &'v Value, member: &str) -> Option<&'v str> {
    element.get(member).and_then(Value::as_str)
}

/// The members of an object; none of anything else.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().map(Map::iter).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use callwright::json;

    use super::*;

    fn merge(format: Format, text: &str, set: Value, lists: &[(&str, &str)]) -> Result<String, String> {
        let lists = lists.iter().map(|(list, key)| ((*list).to_owned(), (*key).to_owned())).collect();
        format.merge(text, &set, &lists)
    }

    #[test]
    fn json_keeps_comments_order_and_layout() {
        let text = "// mine\n{\n    \"b\": 1, // one\n    /* two */ \"a\": {\"x\": [1, 2],},\n    \"list\": [{\"id\": \"p\", \"n\": 1}],\n}\n";
        let set = json!({"a": {"y": "z"}, "list": [{"id": "p", "n": 2}, {"id": "q"}], "new": {"k": true}});
        let merged = merge(Format::Json, text, set, &[("list", "id")]).unwrap();
        for kept in ["// mine\n{\n    \"b\": 1, // one\n", "/* two */ \"a\"", "\"x\": [1, 2]"] {
            assert!(merged.contains(kept), "{merged}");
        }
        let golden = "// mine\n{\n    \"b\": 1, // one\n    /* two */ \"a\": {\n        \"x\": [1, 2],\n        \"y\": \"z\",\n    },\n    \"list\": [{\"id\": \"p\", \"n\": 2},\n        {\n            \"id\": \"q\"\n        }],\n    \"new\": {\n        \"k\": true,\n    },\n}\n";
        assert_eq!(merged, golden);
    }

    #[test]
    fn an_empty_file_gets_the_members_alone() {
        let set = json!({"a": {"b": "c"}, "num": 1, "list": ["x", "no"]});
        let merged = |format| merge(format, "", set.clone(), &[]).unwrap();
        assert_eq!(
            merged(Format::Json),
            "{\n  \"a\": {\n    \"b\": \"c\"\n  },\n  \"num\": 1,\n  \"list\": [\"x\", \"no\"]\n}\n"
        );
        assert_eq!(merged(Format::Toml), "num = 1\nlist = [\"x\", \"no\"]\n\n[a]\nb = \"c\"\n");
        assert_eq!(merged(Format::Yaml), "a:\n  b: c\nnum: 1\nlist:\n  - x\n  - \"no\"\n");
    }

    #[test]
    fn toml_keeps_comments_and_tables() {
        let text = "# mine\nmodel = 'old' # why\n\n[t]\nx = 1\n\n[[p]]\nname = 'a'\n\n[[p]]\nname = 'cw'\nurl = 'old'\n";
        let set =
            json!({"model": "new", "p": [{"name": "cw", "url": "u"}, {"name": "b"}], "q": {"r": {"s": "t"}}});
        let merged = merge(Format::Toml, text, set, &[("p", "name")]).unwrap();
        assert_eq!(
            merged,
            "# mine\nmodel = \"new\" # why\n\n[t]\nx = 1\n\n[[p]]\nname = 'a'\n\n[[p]]\nname = 'cw'\nurl = \"u\"\n\n[[p]]\nname = \"b\"\n\n[q.r]\ns = \"t\"\n"
        );
    }

    #[test]
    fn yaml_keeps_comments_and_layout() {
        let text = "# mine\nname: x # who\nmodels:\n- name: a\n  n: 1\n# between\n- name: cw\n  model: old   # here\n\nlast: |\n  many\n  lines\n";
        let set =
            json!({"models": [{"name": "cw", "model": "new"}, {"name": "b", "roles": ["c"]}], "z": "a: b"});
        let merged = merge(Format::Yaml, text, set, &[("models", "name")]).unwrap();
        assert_eq!(
            merged,
            "# mine\nname: x # who\nmodels:\n- name: a\n  n: 1\n# between\n- name: cw\n  model: new   # here\n- name: b\n  roles:\n    - c\n\nlast: |\n  many\n  lines\nz: \"a: b\"\n"
        );
    }

    #[test]
    fn yaml_in_brackets_and_without_values_is_filled() {
        let lists = [("models", "name")];
        let set = json!({"models": [{"name": "cw"}], "k": {"v": 1}});
        let merged = |text| merge(Format::Yaml, text, set.clone(), &lists).unwrap();
        assert_eq!(merged("models: []\n"), "models: [{\"name\":\"cw\"}]\nk:\n  v: 1\n");
        assert_eq!(merged("models: [{name: a}]"), "models: [{name: a}, {\"name\":\"cw\"}]\nk:\n  v: 1\n");
        assert_eq!(merged("models:\nk: # none yet\n"), "models:\n  - name: cw\nk: # none yet\n  v: 1\n");
        assert_eq!(merged("{models: [], x: é}\n"), "{models: [{\"name\":\"cw\"}], x: é, \"k\": {\"v\":1}}\n");
        assert_eq!(merged("# only a comment"), "# only a comment\nmodels:\n  - name: cw\nk:\n  v: 1\n");
    }

    #[test]
    fn a_list_at_the_root_is_one() {
        let set = json!([{"model_id": "cw", "num": 1}]);
        let lists = [("", "model_id")];
        let merged = |text| merge(Format::Yaml, text, set.clone(), &lists).unwrap();
        assert_eq!(merged(""), "- model_id: cw\n  num: 1\n");
        assert_eq!(
            merged("- model_id: a\n- model_id: cw\n  num: 2\n"),
            "- model_id: a\n- model_id: cw\n  num: 1\n"
        );
        assert_eq!(merged("- model_id: a\n"), "- model_id: a\n- model_id: cw\n  num: 1\n");
    }

    #[test]
    fn of_two_equal_keys_the_one_that_counts_is_changed() {
        let set = json!({"a": 3});
        let merged = merge(Format::Json, "{\"a\": 1, \"a\": 2}", set, &[]).unwrap();
        assert_eq!(merged, "{\"a\": 1, \"a\": 3}");
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        let set = json!({"a": {"b": 1}});
        for (format, text, says) in [
            (Format::Json, "{\n  \"a\": ,\n", "line 2"),
            (Format::Json, "[1]", "it holds no object"),
            (Format::Json, "{\"a\": 1}", "`a` holds no object"),
            (Format::Toml, "x = 1\na = = 2\n", "line 2"),
            (Format::Toml, "a = 1\n", "`a` holds no table"),
            (Format::Yaml, "x: 1\na: [1\n", "line "),
            (Format::Yaml, "a: 1\n", "`a` holds no map"),
            (Format::Yaml, "a: *b\n", "line 1"),
            (Format::Yaml, "x: 1\n---\ny: 2\n", "several documents"),
        ] {
            let refused = merge(format, text, set.clone(), &[]).unwrap_err();
            assert!(refused.contains(says), "{text:?}: {refused}");
        }
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_stay() {
        let set = json!({"b": 2});
        for (format, text, golden) in [
            (
                Format::Json,
                "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
                "\u{feff}{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n",
            ),
            (Format::Yaml, "a: 1\r\n", "a: 1\r\nb: 2\r\n"),
        ] {
            assert_eq!(merge(format, text, set.clone(), &[]).unwrap(), golden);
        }
    }
}

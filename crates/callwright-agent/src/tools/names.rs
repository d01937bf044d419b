//! Knows the names that models learn for tools like the built-in ones. Ambiguous names such as `search` are missing.

use crate::known_as::KnownAs;

/// Returns the other names of the built-in tool of this name.
pub(super) fn known_as(tool: &str) -> KnownAs {
    let row = KNOWN.iter().find(|(name, _)| *name == tool);
    row.map_or_else(KnownAs::default, |(_, known_as)| *known_as)
}

/// The other names of the path and the content of a tool that writes.
const PATH_AND_CONTENT: &[(&str, &str)] =
    &[FILE_PATH, FILENAME, FILE, TARGET_FILE, ("contents", "content"), ("text", "content")];

const KNOWN: &[(&str, KnownAs)] = &[
    (
        "fsWrite",
        KnownAs {
            names: &["fs_write", "write_file", "write_to_file", "write"],
            parameters: PATH_AND_CONTENT,
            comments: &[],
        },
    ),
    (
        "fsAppend",
        KnownAs {
            names: &["fs_append", "append_file", "append_to_file"],
            parameters: PATH_AND_CONTENT,
            comments: &[],
        },
    ),
    (
        "fsRead",
        KnownAs {
            names: &["fs_read", "read_file", "read_text_file", "read"],
            parameters: &[FILE_PATH, FILENAME, FILE, TARGET_FILE, ("absolute_path", "path")],
            comments: &[],
        },
    ),
    (
        "strReplace",
        KnownAs {
            names: &["str_replace", "edit_file", "edit", "replace_in_file"],
            parameters: &[
                FILE_PATH,
                FILENAME,
                FILE,
                TARGET_FILE,
                ("old_string", "old"),
                ("old_str", "old"),
                ("old_text", "old"),
                ("new_string", "new"),
                ("new_str", "new"),
                ("new_text", "new"),
            ],
            comments: &[],
        },
    ),
    (
        "listDirectory",
        KnownAs {
            names: &["list_directory", "list_dir", "list_files", "ls"],
            parameters: &[("dir", "path"), ("directory", "path"), ("dir_path", "path")],
            comments: &[],
        },
    ),
    (
        "fileSearch",
        KnownAs {
            names: &["file_search", "find_files", "glob"],
            parameters: &[("glob", "pattern"), ("dir", "path"), ("directory", "path")],
            comments: &[],
        },
    ),
    (
        "grepSearch",
        KnownAs {
            names: &["grep_search", "grep", "search_file_content"],
            parameters: &[
                ("regex", "pattern"),
                ("query", "pattern"),
                ("include", "files"),
                ("include_pattern", "files"),
                ("glob", "files"),
                ("dir", "path"),
                ("directory", "path"),
            ],
            comments: &[],
        },
    ),
    (
        "runCommand",
        KnownAs {
            names: &[
                "run_command",
                "bash",
                "shell",
                "execute_command",
                "run_shell_command",
                "run_terminal_command",
                "run_terminal_cmd",
            ],
            parameters: &[
                ("cmd", "command"),
                ("run_in_background", "background"),
                ("is_background", "background"),
            ],
            comments: &["description", "explanation"],
        },
    ),
    (
        "deleteFile",
        KnownAs {
            names: &["delete_file"],
            parameters: &[FILE_PATH, FILENAME, FILE, TARGET_FILE],
            comments: &[],
        },
    ),
    ("askUser", KnownAs { names: &["ask_user"], parameters: &[], comments: &[] }),
];

const FILE_PATH: (&str, &str) = ("file_path", "path");
const FILENAME: (&str, &str) = ("filename", "path");
const FILE: (&str, &str) = ("file", "path");
const TARGET_FILE: (&str, &str) = ("target_file", "path");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::known_as::may_be_meant;
    use crate::tools::definitions;

    /// A name has one meaning, and so has a parameter.
    #[test]
    fn each_name_is_of_one_tool_that_there_is() {
        let definitions = definitions();
        let of = |name: &str| definitions.iter().find(|tool| tool["function"]["name"] == name);
        let mut names = BTreeSet::new();
        for (tool, known_as) in KNOWN {
            let declared =
                &of(tool).unwrap_or_else(|| panic!("{tool}"))["function"]["parameters"]["properties"];
            for name in known_as.names {
                assert!(names.insert(name), "{name} twice");
                let others = definitions.iter().filter_map(|other| other["function"]["name"].as_str());
                let meant: Vec<&str> =
                    others.filter(|other| other != tool && may_be_meant(other, name)).collect();
                assert!(meant.is_empty(), "{name} of {tool} may be {meant:?}");
            }
            for (other, parameter) in known_as.parameters {
                assert!(declared.get(*parameter).is_some(), "{tool} has no {parameter}");
                assert!(declared.get(*other).is_none(), "{tool} has a {other}");
            }
            for comment in known_as.comments {
                assert!(declared.get(*comment).is_none(), "{tool} has a {comment}");
            }
        }
    }
}

//! Finds the declared tool that an unknown name is a slip of, for the hint in a refusal.

use callwright_schema::names::{MAX_COMPARED, edits, is_separator};

/// Shortest word with a slip. In shorter ones a letter makes another word: `stop` and `top`, `rest` and `reset`.
const MIN_SLIPPED: usize = 5;

/// Returns the tool among `declared` that the name `written` is a slip of: the same words in the same order, at most
/// one of them with another spelling. Namespaces are not compared. `None` if two tools fit.
///
/// The words of a tool's name tell what it does. `delete_file` shares most of its letters with `write_file`, all words
/// of `undo_delete_file`, and almost all of `list_deleted_file`, but helps for none of them.
pub(crate) fn nearest_tool<'a>(
    written: &str,
    declared: &mut dyn Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = words(without_namespace(written));
    let mut near = declared.filter(|name| is_slip_of(&written, &words(without_namespace(name))));
    near.next().filter(|_| near.next().is_none())
}

/// Returns the words of a name in lower case: `getWeather`, `get-weather` and `HTTPGet` have two. A name that is too
/// long has none.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    if MAX_COMPARED < name.len() {
        return words;
    }
    let mut letters = name.chars().peekable();
    let mut before = '_';
    while let Some(letter) = letters.next() {
        let is_apart = |c: char| c.is_ascii() && is_separator(c as u8);
        let begins = is_apart(before)
            || letter.is_uppercase()
                && (!before.is_uppercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
        match words.last_mut() {
            _ if is_apart(letter) => {}
            Some(word) if !begins => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
        before = letter;
    }
    words
}

/// Returns the name behind its namespaces: `mcp__fs__read_file`, `fs.read_file`.
fn without_namespace(name: &str) -> &str {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    last.rsplit("__").next().unwrap_or(last)
}

/// Returns whether these are the same words, with at most one slip.
fn is_slip_of(written: &[String], name: &[String]) -> bool {
    let mut others = written.iter().zip(name).filter(|(a, b)| a != b);
    let slip = others.next();
    written.len() == name.len()
        && !name.is_empty()
        && others.next().is_none()
        && slip.is_none_or(|(a, b)| is_slip(a, b))
}

/// Returns whether one of these words lacks a letter of the other one, behind the first: `wether`. A changed letter
/// makes another word too easily: `clone`, `close`.
fn is_slip(a: &str, b: &str) -> bool {
    let is_long = MIN_SLIPPED <= a.len().min(b.len());
    is_long && a.chars().next() == b.chars().next() && a.len().abs_diff(b.len()) == 1 && edits(a, b) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_words() {
        assert_eq!(words("getWeather"), ["get", "weather"]);
        assert_eq!(words("mcp__fs-2.readFile"), ["mcp", "fs", "2", "read", "file"]);
        assert_eq!(words("HTTPGet"), ["http", "get"]);
        assert_eq!(words("WRITE_FILE"), ["write", "file"]);
        assert!(words("__").is_empty() && words(&"x".repeat(65)).is_empty());
    }

    /// A destructive tool is never the hint for one that keeps its data, among common names.
    #[test]
    fn no_hint_leads_from_a_tool_that_keeps_to_one_that_destroys() {
        let keeping = "read_file write_file edit_file create_file writeFile readFile Write Read Edit list_dir list_files grep \
                       run_command bash get_user set_user add_user update_user enable_user create_branch list_branches \
                       clone_repo open_issue get_issue restore_backup create_backup mount start_service start_container \
                       install_package lock find_file bind fill_form publish_post subscribe accept_call draft_email \
                       send_email get_order place_order cache_get store_set rest_api insert_row select_rows create_table \
                       describe_table stage_file undo move_file copy_file file user order table data fs db \
                       undo_delete_file list_deleted_file restore_deleted_file read_or_delete_file file_delete_preview \
                       no_delete_file delete_file_dry_run undelete_user";
        let destroying = "delete_file deleteFile remove_file rm kill_process kill fs_delete delete_user disable_user \
                          file_delete user_delete delete_branch close_repo close_issue delete_backup unmount stop_service \
                          stop_container uninstall_package unlock format_disk delete_post unsubscribe reject_call \
                          delete_email cancel_order cache_clear store_delete reset_api delete_row drop_table truncate_table \
                          purge_data db_drop overwrite_file";
        for written in keeping.split_whitespace() {
            // Each tool stands alone: two near ones are not a hint either.
            for destroys in destroying.split_whitespace() {
                let near = nearest_tool(written, &mut [destroys].into_iter());
                assert_eq!(near, None, "{written}");
            }
        }
    }

    #[test]
    fn a_tool_is_near_if_the_model_wrote_its_name_with_a_slip() {
        let tools =
            ["get_weather", "get_time", "deleteFile", "fsWrite", "web_search", "close_repo", "set_user"];
        let near = |written| nearest_tool(written, &mut tools.into_iter());
        for (written, meant) in [
            ("get_wether", Some("get_weather")),
            ("GetWeather", Some("get_weather")),
            ("weather.get_wether", Some("get_weather")),
            ("mcp__fs__delete_file", Some("deleteFile")),
            ("get_weather_data", None),
            ("searchWeb", None),
            ("get_time_and_weather", None),
            // The changed word is what the tool does.
            ("write_file", None),
            ("clone_repo", None),
            ("get_user", None),
            ("weather", None),
            ("__", None),
            ("", None),
        ] {
            assert_eq!(near(written), meant, "{written}");
        }
        let two = ["a.get_weather", "b.get_weather"];
        assert_eq!(nearest_tool("get_weather", &mut two.into_iter()), None);
    }
}

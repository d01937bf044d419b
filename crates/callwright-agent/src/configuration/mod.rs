//! Knows the places from which code runs later: files that the user's programs obey unasked.
//!
//! Such files act when nobody thinks of the agent any more: at the next `git status`, when an editor opens the folder,
//! at the next start of an agent. Two walls protect them. A tool that writes files asks before each change of one, and
//! treats every hidden file as one: by an old convention these files have names that begin with a dot. A command may
//! write hidden files, because caches and environments of toolchains are hidden, too. So a list names the files that a
//! command may not change or make, by the program that obeys them. Files that act only when the user runs the build or
//! the tests of reviewed code (`Makefile`, `package.json`, `build.rs`, `conftest.py`) are in neither: they are the
//! code.

mod survey;

use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::LazyLock;

use cap_std::fs::Dir;

pub(crate) use survey::{Aside, Place, protected, set_aside, survey};

/// Files and folders that some program obeys.
struct Obeyed {
    /// The program that obeys them, and the occasion, in words for the user.
    by: &'static str,
    at: At,
    /// Names, or ends of paths. Case is ignored, as in some file systems.
    names: &'static [&'static str],
}

/// The folders in which the files are obeyed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Any folder: it is enough to enter it, or to ask git for its state.
    Any,
    /// A folder that is opened as a project: the workspace, or the top of a repository. Packages bring such files too,
    /// which nobody obeys there.
    Top,
}

const GIT: &str = "git runs the hooks, filters and monitors that it names, at any `git status`";

const OBEYED: &[Obeyed] = &[
    Obeyed { by: GIT, at: At::Any, names: &[".git"] },
    Obeyed {
        by: "other version controls run the hooks and extensions that it names",
        at: At::Any,
        names: &[".hg", ".jj", ".sl", ".bzr"],
    },
    Obeyed { by: "direnv runs it when its folder is entered", at: At::Any, names: &[".envrc"] },
    Obeyed { by: "callwright starts and asks what it names", at: At::Any, names: &["callwright.toml"] },
    Obeyed { by: "git clones and runs what it names", at: At::Top, names: &[".gitmodules", ".gitconfig"] },
    Obeyed {
        by: "it runs before a commit",
        at: At::Top,
        names: &[
            ".husky",
            ".githooks",
            ".pre-commit-config.yaml",
            ".overcommit.yml",
            ".lefthook.yml",
            ".lefthook.yaml",
            "lefthook.yml",
            "lefthook.yaml",
            ".lintstagedrc",
        ],
    },
    Obeyed {
        by: "a server runs it, with its secrets, at the next push",
        at: At::Top,
        names: &[
            ".github",
            ".gitea",
            ".forgejo",
            ".gitlab-ci.yml",
            ".circleci",
            ".buildkite",
            ".travis.yml",
            ".drone.yml",
            ".woodpecker",
            ".woodpecker.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "Jenkinsfile",
        ],
    },
    Obeyed {
        by: "editors run its tasks, and start the programs that it names, when the folder is opened",
        at: At::Top,
        names: &[
            ".vscode",
            PROJECT,
            ".idea",
            ".fleet",
            ".zed",
            ".nova",
            ".devcontainer",
            ".devcontainer.json",
            ".dir-locals.el",
            ".exrc",
            ".vimrc",
            ".nvimrc",
            ".nvim.lua",
            ".lvimrc",
        ],
    },
    Obeyed {
        by: "other agents start the servers and hooks that it names",
        at: At::Top,
        names: &[
            ".mcp.json",
            ".claude",
            ".cursor",
            ".windsurf",
            ".codex",
            ".gemini",
            ".kiro",
            ".roo",
            ".continue",
            ".amazonq",
            ".aider.conf.yml",
            ".opencode",
            "opencode.json",
        ],
    },
    Obeyed {
        by: "package managers take registries, scripts and programs from it",
        at: At::Top,
        names: &[
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn/plugins",
            ".yarn/releases",
            ".pnpmfile.cjs",
            ".bunfig.toml",
            "bunfig.toml",
            ".cargo/config",
            ".cargo/config.toml",
            ".bazelrc",
            ".mvn",
            ".sbtopts",
            ".condarc",
        ],
    },
    Obeyed {
        by: "managers of environments run what it names when the folder is entered",
        at: At::Top,
        names: &[".direnv", ".mise.toml", "mise.toml", ".mise", ".devenv", ".autoenv", ".env.leave"],
    },
    Obeyed {
        by: "the shell runs it when it starts",
        at: At::Top,
        names: &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".inputrc",
            ".xprofile",
            ".xinitrc",
            ".ssh",
            ".config/fish",
            ".config/autostart",
            ".config/systemd",
            ".config/git",
        ],
    },
];

/// Returns whether programs obey the file at `path`, without links and beneath `root`, or a folder around it.
pub(crate) fn holds(root: &Dir, path: &Path) -> bool {
    let is_hidden = |component: Component<'_>| match component {
        Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    // Git accepts no folder without a HEAD as a repository, and obeys the `config` of one that it accepts. All other
    // parts may exist before or come later: `objects` and `refs`, or a `commondir` that points to them.
    let is_head = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(HEAD));
    path.components().any(is_hidden)
        || path.ancestors().any(|path| obeyed(path).is_some())
        || is_head
        || path.ancestors().skip(1).any(|folder| root.exists(folder.join(HEAD)))
}

const HEAD: &str = "HEAD";

/// Returns the rule that covers the file or folder of this path, wherever it lies, and the name that matched.
fn obeyed(path: &Path) -> Option<(&'static Obeyed, &'static str)> {
    let named = |obeyed: &'static Obeyed| obeyed.names.iter().find(|names| ends_with(path, names));
    OBEYED.iter().find_map(|obeyed| Some((obeyed, *named(obeyed)?)))
}

/// Returns whether a file of this name may match a rule. Each command checks all names of a workspace, and most have a
/// first letter and a length that no name of the list has.
fn may_be_obeyed(name: &OsStr) -> bool {
    static LENGTHS: LazyLock<[u64; 256]> = LazyLock::new(|| {
        let mut lengths = [0; 256];
        for names in OBEYED.iter().flat_map(|obeyed| obeyed.names) {
            let last = names.rsplit('/').next().unwrap_or_default();
            if let Some(of_first) =
                last.bytes().next().and_then(|first| lengths.get_mut(usize::from(first.to_ascii_lowercase())))
            {
                *of_first |= 1_u64.checked_shl(last.len().try_into().unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
            }
        }
        lengths
    });
    let bytes = name.as_encoded_bytes();
    let Some(first) = bytes.first() else { return false };
    let lengths = LENGTHS.get(usize::from(first.to_ascii_lowercase())).copied().unwrap_or_default();
    let is_of_a_length = bytes.len() < 64 && lengths >> bytes.len() & 1 == 1;
    is_of_a_length
        || bytes.last().is_some_and(|last| last.eq_ignore_ascii_case(&b'e')) && has_end(name, PROJECT)
}

/// The ending of the files that open a project in one editor, whatever their name.
const PROJECT: &str = ".code-workspace";

fn has_end(name: &OsStr, end: &str) -> bool {
    let name = name.as_encoded_bytes();
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..)).is_some_and(|is| is.eq_ignore_ascii_case(end.as_bytes()))
}

/// Returns whether the path ends with this name or these names.
fn ends_with(path: &Path, names: &str) -> bool {
    let mut components = path.components().rev();
    names.rsplit('/').all(|name| {
        let Some(Component::Normal(component)) = components.next() else { return false };
        if name == PROJECT { has_end(component, name) } else { component.eq_ignore_ascii_case(name) }
    })
}

/// Returns whether git accepts a folder with these entries as a repository.
fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has(HEAD) && ((has("objects") && has("refs")) || has("commondir"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_and_their_case_does_not_count() {
        for path in
            [".git", "a/.GIT", ".envrc", "x/Callwright.TOML", ".cargo/config.toml", "a/b.code-workspace"]
        {
            assert!(obeyed(Path::new(path)).is_some(), "{path}");
        }
        for path in
            ["git", ".git2", ".envrc2", "config.toml", ".cargo/registry", "Makefile", "package.json", ""]
        {
            assert!(obeyed(Path::new(path)).is_none(), "{path}");
        }
    }
}

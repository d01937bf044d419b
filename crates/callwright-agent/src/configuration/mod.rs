//! Places from which code runs later: files that programs of the user obey without being asked.
//!
//! What is written there acts when nobody thinks of the agent any more: at the next `git status`, when the folder is opened
//! in an editor, at the next start of an agent. There are two walls around them. A tool that writes files asks for each
//! change of one, and takes for one whatever is hidden: such files have a name of their own by an old convention, it
//! begins with a dot. A command may write hidden files, as caches and environments of toolchains are hidden, too. So
//! what it may not change or make is listed, by what obeys it. Files that act only when the user runs the build or the
//! tests of code that he reviews (`Makefile`, `package.json`, `build.rs`, `conftest.py`) are in neither: they are the code.

mod survey;

use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::LazyLock;

use cap_std::fs::Dir;

pub(crate) use survey::{Aside, Place, protected, set_aside, survey};

/// Files and folders that something obeys.
struct Obeyed {
    /// Who obeys them, and when: what the user reads.
    by: &'static str,
    at: At,
    /// Names, or ends of paths. A `*` stands for the beginning of a name. Case does not count, as in some file systems.
    names: &'static [&'static str],
}

/// In which folders they are obeyed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// In any: it is enough to enter the folder, or to ask git for its state.
    Any,
    /// In one that is opened as a project: the workspace, or the top of a repository. Packages bring such files of their
    /// own, which nobody obeys where they lie.
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
            "*.code-workspace",
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

/// Is the file at `path`, without links and beneath `root`, one that programs obey, or in a folder of such?
pub(crate) fn holds(root: &Dir, path: &Path) -> bool {
    let is_hidden = |component: Component<'_>| match component {
        Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
        _ => false,
    };
    // Git takes no folder without a HEAD for a repository, and obeys the `config` of one that it takes. All else may be
    // there before or come later: `objects` and `refs`, or a `commondir` that says where these are.
    let is_head = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(HEAD));
    path.components().any(is_hidden)
        || path.ancestors().any(|path| obeyed(path).is_some())
        || is_head
        || path.ancestors().skip(1).any(|folder| root.exists(folder.join(HEAD)))
}

const HEAD: &str = "HEAD";

/// What obeys the file or folder of this path, wherever it is, and by which name.
fn obeyed(path: &Path) -> Option<(&'static Obeyed, &'static str)> {
    // All files of a workspace are looked at for each command.
    static BY_NAME: LazyLock<HashMap<String, Vec<(&Obeyed, &str)>>> = LazyLock::new(|| {
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for obeyed in OBEYED {
            for names in obeyed.names {
                let last = names.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
                by_name.entry(last).or_default().push((obeyed, *names));
            }
        }
        by_name
    });
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let ending = name.rfind('.').map(|at| format!("*{}", name.get(at..).unwrap_or_default()));
    let named = [Some(name), ending].into_iter().flatten().filter_map(|name| BY_NAME.get(&name)).flatten();
    named.copied().find(|(_, names)| ends_with(path, names))
}

/// Ends the path with this name, or these names?
fn ends_with(path: &Path, names: &str) -> bool {
    let mut components = path.components().rev();
    names.rsplit('/').all(|name| {
        let Some(Component::Normal(component)) = components.next() else { return false };
        match name.strip_prefix('*') {
            Some(end) => {
                let name = component.as_encoded_bytes();
                let at = name.len().checked_sub(end.len());
                at.and_then(|at| name.get(at..)).is_some_and(|is| is.eq_ignore_ascii_case(end.as_bytes()))
            }
            None => component.eq_ignore_ascii_case(name),
        }
    })
}

/// Does git take a folder with these entries for a repository?
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

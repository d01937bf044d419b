//! Selects the variables of the user's environment that a command gets.

use std::ffi::OsStr;

/// The variables of the user's environment that a command may have. Others may hold keys.
const KNOWN: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "EDITOR",
    "PAGER",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "NODE_PATH",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "PKG_CONFIG_PATH",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
];

/// Returns whether a command may have the variable of this name.
pub(crate) fn is_harmless(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| KNOWN.contains(&name) || name.starts_with("LC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_harmless_goes_on() {
        for name in ["PATH", "HOME", "LC_ALL"] {
            assert!(is_harmless(OsStr::new(name)), "{name}");
        }
        for name in ["OPENROUTER_API_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD", "DATABASE_URL", "X"]
        {
            assert!(!is_harmless(OsStr::new(name)), "{name}");
        }
    }
}

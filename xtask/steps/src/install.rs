//! What the steps need from package registries, kept in a cache outside the repository. What is there already is taken as it
//! is.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::quietly;
use crate::step;

/// A virtual environment of the cache with `requirements`, which name each package in one version: its interpreter.
pub fn environment(name: &str, requirements: &Path) -> Result<PathBuf> {
    Cache::open()?.environment(name, &read(requirements)?)
}

/// The folder of the packages that `package.json` and its lock in `from` name.
pub fn node_packages(from: &Path) -> Result<PathBuf> {
    Ok(Cache::open()?.node_modules(from, "ci")?.join("node_modules"))
}

/// The same for packages whose lock is not whole: not every registry has their optional parts for other systems.
pub fn node_packages_for_here(from: &Path) -> Result<PathBuf> {
    Ok(Cache::open()?.node_modules(from, "install")?.join("node_modules"))
}

/// A folder with the scripts of `from`, below the packages that its `package.json` and lock name.
pub fn node_scripts(from: &Path) -> Result<PathBuf> {
    Cache::open()?.node(from)
}

/// The program that writes the JavaScript beside WebAssembly, from its sources in `from`.
pub fn bindgen(from: &Path) -> Result<PathBuf> {
    own_program("bindgen", from, "callwright-bindgen")
}

/// A program from its sources in `from`, which are no part of the workspace: its binary.
pub fn own_program(name: &str, from: &Path, binary: &str) -> Result<PathBuf> {
    let recipe = ["Cargo.toml", "Cargo.lock", "src/main.rs"].map(|file| read(&from.join(file)));
    let recipe = recipe.into_iter().collect::<Result<Vec<String>>>()?;
    let recipe: Vec<&str> = recipe.iter().map(String::as_str).collect();
    let folder = Cache::open()?.once(name, &recipe, |folder| {
        let mut install = step::cargo(from);
        install.args(["install", "--quiet", "--locked", "--debug", "--path", ".", "--root"]).arg(folder);
        quietly(&mut install)
    })?;
    Ok(folder.join("bin").join(binary))
}

/// The program of a crate, given by its name and version: one that the user has already, whatever its version, or else
/// built from the registry without its default features.
pub fn crate_program(root: &Path, (name, version): (&str, &str), features: &[&str]) -> Result<PathBuf> {
    if version_of(name).is_ok() {
        return Ok(PathBuf::from(name));
    }
    let features = features.join(",");
    let folder = Cache::open()?.once(name, &[version, &features], |folder| {
        let mut install = step::cargo(root);
        install.args([
            "install",
            "--quiet",
            "--locked",
            "--debug",
            "--no-default-features",
            "--version",
            version,
        ]);
        install.args(["--features", &features, "--root"]).arg(folder).arg(name);
        quietly(&mut install)
    })?;
    Ok(folder.join("bin").join(name))
}

/// The root of a compiler that builds for WebAssembly, with the standard library as source. They are Debian's for its
/// browsers, unpacked beside those that are installed, with which they would conflict.
pub fn web_compiler() -> Result<PathBuf> {
    const PACKAGES: [&str; 5] =
        ["rustc-web", "libstd-rust-web-1.96", "libstd-rust-web-dev", "rust-web-src", "libllvm22"];
    Cache::open()?.once("web-compiler", &PACKAGES, |folder| {
        let download = || quietly(Command::new("apt-get").arg("download").args(PACKAGES).current_dir(folder));
        if download().is_err() {
            // A fresh machine knows no packages, or old ones.
            quietly(Command::new("apt-get").arg("update"))?;
            download()?;
        }
        for entry in fs::read_dir(folder)? {
            let package = entry?.path();
            if package.extension().is_some_and(|extension| extension == "deb") {
                quietly(Command::new("dpkg").arg("-x").arg(&package).arg(folder))?;
                fs::remove_file(package)?;
            }
        }
        Ok(())
    })
}

/// A folder of folders. Each is named for what it was made from, so that several states of the project share one
/// cache, and holds a mark when it is complete.
pub struct Cache {
    folder: PathBuf,
    /// Held while we live: two runs do not make the same folder at once.
    _lock: File,
}

const COMPLETE: &str = ".complete";

impl Cache {
    /// `$CALLWRIGHT_CACHE`, else `$XDG_CACHE_HOME/callwright`, else `~/.cache/callwright`.
    pub fn open() -> Result<Cache> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = set("CALLWRIGHT_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|caches| caches.join("callwright")))
            .or_else(|| set("HOME").map(|home| home.join(".cache/callwright")))
            .context("no place for a cache: set CALLWRIGHT_CACHE")?;
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let lock = File::create(folder.join("lock"))?;
        lock.lock().with_context(|| format!("cannot lock {}", folder.display()))?;
        Ok(Cache { folder, _lock: lock })
    }

    /// The folder that `make` makes from `recipe`.
    fn once(&self, name: &str, recipe: &[&str], make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        recipe.hash(&mut hasher);
        let folder = self.folder.join(format!("{name}-{:016x}", hasher.finish()));
        if folder.join(COMPLETE).exists() {
            return Ok(folder);
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        make(&folder)?;
        File::create(folder.join(COMPLETE))?;
        Ok(folder)
    }

    /// A virtual environment with `requirements`: its interpreter.
    pub fn environment(&self, name: &str, requirements: &str) -> Result<PathBuf> {
        let version = version_of("python3")?;
        let folder = self.once(name, &[&version, requirements], |folder| {
            quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            quietly(&mut pip(&folder.join("bin/python"), folder, requirements)?)
        })?;
        Ok(folder.join("bin/python"))
    }

    /// A folder with the packages of `requirements`, which are data and need no interpreter of their own.
    pub fn package(&self, name: &str, python: &Path, requirements: &str) -> Result<PathBuf> {
        self.once(name, &[requirements], |folder| {
            quietly(pip(python, folder, requirements)?.arg("--target").arg(folder))
        })
    }

    /// A folder with the packages that `from` names, installed by this command of npm. Both take the versions of the lock.
    fn node_modules(&self, from: &Path, command: &str) -> Result<PathBuf> {
        let manifest = read(&from.join("package.json"))?;
        let lock = read(&from.join("package-lock.json"))?;
        let version = version_of("node")?;
        self.once("node", &[&version, &manifest, &lock], |folder| {
            fs::write(folder.join("package.json"), &manifest)?;
            fs::write(folder.join("package-lock.json"), &lock)?;
            let mut npm = Command::new("npm");
            npm.args([command, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
            quietly(npm.current_dir(folder))
        })
    }

    /// A folder with the programs that the packages of `from` bring. Claude Code's has to be put in its place.
    pub fn programs(&self, from: &Path) -> Result<PathBuf> {
        let folder = self.node_modules(from, "ci")?;
        let claude = folder.join("node_modules/@anthropic-ai/claude-code");
        self.once("claude-code", &[&folder.to_string_lossy()], |_| {
            quietly(Command::new("node").arg("install.cjs").current_dir(&claude))
        })?;
        Ok(folder)
    }

    /// A folder with the scripts of `from`, below its packages: Node looks for packages in the folders above.
    pub fn node(&self, from: &Path) -> Result<PathBuf> {
        let folder = self.node_modules(from, "ci")?;
        let mut scripts: Vec<(PathBuf, String)> = Vec::new();
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "mjs") {
                scripts.push((path.clone(), read(&path)?));
            }
        }
        scripts.sort();
        let mut hasher = DefaultHasher::new();
        scripts.hash(&mut hasher);
        let place = folder.join(format!("scripts-{:016x}", hasher.finish()));
        fs::create_dir_all(&place)?;
        for (path, text) in scripts {
            fs::write(place.join(path.file_name().context("a script has a name")?), text)?;
        }
        Ok(place)
    }
}

/// Packages fit one version of what runs them.
fn version_of(program: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Without a resolver: the requirements name every package, each in one version.
fn pip(python: &Path, folder: &Path, requirements: &str) -> Result<Command> {
    let list = folder.join("requirements.txt");
    fs::write(&list, requirements)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]);
    pip.args(["--no-deps", "--only-binary", ":all:", "--requirement"]).arg(list);
    Ok(pip)
}

/// The text of a file.
///
/// # Errors
/// When it cannot be read; the error names it.
pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

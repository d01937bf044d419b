//! The command as a package of Python and as packages of npm: each holds the binary of one system.
//!
//! The workflow packs those of all systems, with the same two scripts.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use steps::step::{self, Tally, cargo, program};
use steps::{built, root};

use crate::python::Python;

/// Builds the command as it is released, and packs it for this machine into `target/command`.
///
/// # Errors
/// When it cannot be built or packed.
pub fn command() -> Result<()> {
    let root = root()?;
    let mut build = cargo(&root);
    build.args(["build", "--quiet", "--locked", "--profile", "dist", "--package", "callwright-cli"]);
    ensure!(step::run(&mut build)?.ok, "the command was not built");
    let out = empty(&root.join("target/command"))?;
    let binary = built(&root).join("dist/callwright");
    ensure!(
        wheel(&root, Path::new("python3"), &binary, &out)? && packages(&root, &binary, &out)?,
        "the command was not packed"
    );
    println!("{}", out.display());
    Ok(())
}

/// Installs the wheel of the command that is built, beside that of the Python package, and runs it.
///
/// # Errors
/// When it cannot be packed, or nothing can be started.
pub fn in_python(root: &Path, python: &Python) -> Result<Tally> {
    let out = empty(&root.join("target/command-wheels"))?;
    ensure!(wheel(root, python.interpreter(), &stripped(root, &out)?, &out)?, "the wheel was not packed");
    let mut test = program(root, python.interpreter());
    test.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "packaging/cli-python/test_installed.py"]);
    test.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH").env_remove("CALLWRIGHT_BIN");
    test.env("CALLWRIGHT_WHEELS", std::env::join_paths([python.wheels(), out])?);
    step::run(&mut test)
}

/// Installs npm's packages of the command that is built, and runs it.
///
/// # Errors
/// When they cannot be packed, or nothing can be started.
pub fn in_node(root: &Path) -> Result<Tally> {
    let out = empty(&root.join("target/command-packages"))?;
    ensure!(packages(root, &stripped(root, &out)?, &out)?, "the packages were not packed");
    let mut test = program(root, Path::new("node"));
    test.args(["--test", "--test-reporter", "tap", "packaging/cli-npm/installed.test.mjs"]);
    step::run(test.env("CALLWRIGHT_PACKAGES", out))
}

/// Packs what finds npm's package of the system, into `out`.
///
/// # Errors
/// When Node cannot be started.
pub fn finder(root: &Path, out: &Path) -> Result<bool> {
    packer(root, "node", "packaging/cli-npm/pack.mjs", out, &[])
}

fn wheel(root: &Path, python: &Path, binary: &Path, out: &Path) -> Result<bool> {
    let target = target();
    packer(root, python, "packaging/cli-python/wheel.py", out, &[Path::new(&target), binary])
}

fn packages(root: &Path, binary: &Path, out: &Path) -> Result<bool> {
    let target = target();
    let of_system = packer(root, "node", "packaging/cli-npm/pack.mjs", out, &[Path::new(&target), binary])?;
    Ok(of_system && finder(root, out)?)
}

/// Runs a script that packs into the folder where it stands.
fn packer(
    root: &Path,
    runs: impl AsRef<Path>,
    script: &str,
    out: &Path,
    arguments: &[&Path],
) -> Result<bool> {
    let mut pack = program(root, runs.as_ref());
    Ok(step::run(pack.current_dir(out).arg(root.join(script)).args(arguments))?.ok)
}

/// The target of what is built here, which is linked against the system's own library.
fn target() -> String {
    let system = if OS == "macos" { "apple-darwin" } else { "unknown-linux-gnu" };
    format!("{ARCH}-{system}")
}

/// The command that is built, without what only a debugger needs: to pack that takes longer than all tests.
fn stripped(root: &Path, out: &Path) -> Result<PathBuf> {
    let binary = out.join("callwright");
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(&binary).arg(built(root).join("debug/callwright"));
    ensure!(step::run(&mut strip)?.ok, "the command is not built, or cannot be stripped");
    Ok(binary)
}

/// An empty folder.
fn empty(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_path_buf())
}

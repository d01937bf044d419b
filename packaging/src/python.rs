//! The Python package: its wheel, its tests, and what is published.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use steps::install::environment;
use steps::step::{self, Tally, cargo, program};
use steps::{built, root};

/// An interpreter with all that the tests need, and a place beside it for the package itself: the environment may be
/// that of other states of the project.
pub struct Python {
    root: PathBuf,
    interpreter: PathBuf,
    site: PathBuf,
}

impl Python {
    /// Installs the packages, where they are not there yet.
    ///
    /// # Errors
    /// When Python or a package cannot be had.
    pub fn open(root: &Path) -> Result<Python> {
        let interpreter = environment("python-package", &root.join("python/tests/requirements.txt"))?;
        Ok(Python { root: root.to_path_buf(), interpreter, site: root.join("target/python") })
    }

    /// Builds the wheel as users get it, unoptimised, and installs it.
    pub fn install(&self) -> Result<bool> {
        self.installed(&["build", "--quiet", "--out"], &self.wheels(), &self.site)
    }

    /// Where [`Python::install`] leaves the wheel.
    pub(crate) fn wheels(&self) -> PathBuf {
        self.root.join("target/python-wheels")
    }

    pub(crate) fn interpreter(&self) -> &Path {
        &self.interpreter
    }

    /// Has maturin write a wheel into `wheels`, and installs it, alone, into `site`.
    fn installed(&self, build: &[&str], wheels: &Path, site: &Path) -> Result<bool> {
        // Of several, pip would not know which is meant.
        for old in [wheels, site] {
            if old.exists() {
                fs::remove_dir_all(old)?;
            }
        }
        if !self.maturin(build, wheels)? {
            return Ok(false);
        }
        let wheel = only(wheels, "whl")?;
        let mut pip = program(&self.root, &self.interpreter);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            "--no-deps",
        ]);
        Ok(step::run(pip.arg("--target").arg(site).arg(wheel))?.ok)
    }

    /// Holds the sources against strict typing, and the stubs against the module.
    pub fn types(&self) -> Result<bool> {
        let strict = self.run(&["-m", "mypy", "python/callwright", "python/tests"])?;
        let stubs = self.run(&["-m", "mypy.stubtest", "callwright._callwright"])?;
        Ok(strict.ok && stubs.ok)
    }

    /// Runs the tests; one of them holds the reports against those of the command that is built.
    pub fn tests(&self) -> Result<Tally> {
        self.run(&["-m", "pytest", "-q", "-p", "no:cacheprovider"])
    }

    fn run(&self, arguments: &[&str]) -> Result<Tally> {
        let mut python = program(&self.root, &self.interpreter);
        python.env("PYTHONPATH", &self.site).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("CALLWRIGHT_BIN", built(&self.root).join("debug/callwright"));
        python.env("MYPY_CACHE_DIR", self.root.join("target/mypy"));
        step::run(python.args(arguments))
    }

    /// Runs maturin, which writes to `out`.
    fn maturin(&self, arguments: &[&str], out: &Path) -> Result<bool> {
        let mut maturin = program(&self.root, &self.interpreter);
        maturin.args(["-m", "maturin"]).args(arguments).arg(out);
        maturin.arg("--manifest-path").arg(self.root.join("crates/callwright-python/Cargo.toml"));
        Ok(step::run(&mut maturin)?.ok)
    }
}

/// Builds what is published: the wheel of this machine, and a source archive with all crates that it needs, from which a
/// wheel is built without a network before this ends well.
///
/// # Errors
/// When something cannot be built.
pub fn wheel() -> Result<()> {
    let root = root()?;
    let python = Python::open(&root)?;
    let out = root.join("target/wheels");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    ensure!(python.maturin(&["build", "--profile", "dist", "--out"], &out)?, "the wheel was not built");
    ensure!(python.maturin(&["sdist", "--out"], &out)?, "the source archive was not packed");
    let wheel = only(&out, "whl")?;
    let archive = only(&out, "gz")?;
    let unpacked = root.join("target/sdist");
    vendor(&root, &archive, &unpacked)?;
    builds_offline(&python, &archive, &unpacked)?;
    for file in [wheel, archive] {
        let bytes = fs::metadata(&file)?.len();
        println!("{:6.2} MB  {}", bytes as f64 / 1e6, file.display());
    }
    Ok(())
}

/// Builds the wheel of this machine, optimised, and installs it alone into a folder, which it gives; one that is there
/// already is taken where it `is_built`.
///
/// # Errors
/// When it cannot be built.
pub fn released(root: &Path, is_built: bool) -> Result<PathBuf> {
    let (wheels, site) = (root.join("target/python-released"), root.join("target/python-released-site"));
    if is_built && site.exists() {
        return Ok(site);
    }
    let build = ["build", "--profile", "dist", "--quiet", "--out"];
    ensure!(Python::open(root)?.installed(&build, &wheels, &site)?, "the wheel was not built or installed");
    Ok(site)
}

/// Puts the sources of all crates into the archive, and has cargo look there.
fn vendor(root: &Path, archive: &Path, unpacked: &Path) -> Result<()> {
    if unpacked.exists() {
        fs::remove_dir_all(unpacked)?;
    }
    fs::create_dir_all(unpacked)?;
    let mut unpack = program(root, Path::new("tar"));
    unpack.arg("-xzf").arg(archive).arg("-C").arg(unpacked);
    ensure!(step::run(&mut unpack)?.ok, "the source archive cannot be unpacked");
    let folder = fs::read_dir(unpacked)?.next().context("the source archive is empty")??.path();
    let configuration = folder.join(".cargo");
    fs::create_dir_all(&configuration)?;
    // Its lock file is that of the whole workspace: what the package does not need is taken out, versions stay.
    let mut prune = cargo(&folder);
    ensure!(
        step::run(prune.args(["update", "--workspace", "--quiet"]))?.ok,
        "the lock file cannot be pruned"
    );
    let mut vendor = cargo(&folder);
    let said = vendor.args(["vendor", "--locked", "--versioned-dirs", "vendor"]).output()?;
    if !said.status.success() {
        bail!("cargo vendor: {}", String::from_utf8_lossy(&said.stderr).trim());
    }
    // What it says there is how cargo finds the sources; told to be quiet, it does not say that either.
    ensure!(!said.stdout.is_empty(), "cargo vendor does not say where cargo is to look");
    fs::write(configuration.join("config.toml"), said.stdout)?;
    let name = folder.file_name().context("the folder has a name")?;
    let mut pack = program(root, Path::new("tar"));
    pack.arg("-czf").arg(archive).arg("-C").arg(unpacked).arg(name);
    ensure!(step::run(&mut pack)?.ok, "the source archive cannot be packed");
    Ok(())
}

/// Builds a wheel from the archive, as pip does, with no network, no index, and no crates but its own.
fn builds_offline(python: &Python, archive: &Path, unpacked: &Path) -> Result<()> {
    let mut pip = program(unpacked, &python.interpreter);
    pip.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]);
    pip.arg("--no-build-isolation").arg("--wheel-dir").arg(unpacked.join("wheels")).arg(archive);
    pip.env("CARGO_NET_OFFLINE", "true").env("CARGO_HOME", unpacked.join("home"));
    // The build is found in the environment, whose programs are not on the path.
    let programs = python.interpreter.parent().context("an interpreter stands in a folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs.to_path_buf()).chain(std::env::split_paths(&path));
    pip.env("PATH", std::env::join_paths(paths)?);
    ensure!(step::run(&mut pip)?.ok, "no wheel can be built from the source archive");
    Ok(())
}

/// The only file in `folder` that ends so.
fn only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        _ => bail!("{} files end in .{extension} in {}", found.len(), folder.display()),
    }
}

//! The npm package: its WebAssembly, its tests, and what is published.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use steps::install::{bindgen, node_packages, web_compiler};
use steps::root;
use steps::step::{self, Tally, cargo, program};

use crate::command;

/// A file of WebAssembly.
struct Module {
    name: &'static str,
    features: &'static [&'static str],
    /// How many bytes it may have at most, as it is and packed.
    bounds: Option<(u64, u64)>,
}

/// The one of the site.
const SITE: Module = Module { name: "try", features: &["--features", "view"], bounds: None };

const MODULES: [Module; 2] = [
    Module { name: "callwright", features: &[], bounds: Some((1_500_000, 560_000)) },
    // All of JSON Schema takes what it takes.
    Module { name: "full", features: &["--features", "full-schemas"], bounds: None },
];

const TARGET: &str = "wasm32-unknown-unknown";

/// What builds for WebAssembly here: the toolchain itself, or a compiler beside it that brings the standard library as
/// source.
pub struct JavaScript {
    root: PathBuf,
    /// The root of the other compiler, where the toolchain has no standard library for the target.
    compiler: Option<PathBuf>,
    bindgen: PathBuf,
}

impl JavaScript {
    /// Finds a standard library for WebAssembly, or installs one.
    ///
    /// # Errors
    /// When none can be had.
    pub fn open(root: &Path) -> Result<JavaScript> {
        let library = said(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
        let has_library = Path::new(library.trim()).is_dir();
        let compiler = if has_library { None } else { Some(web_compiler()?) };
        let bindgen = bindgen(&root.join("js/bindgen"))?;
        Ok(JavaScript { root: root.to_path_buf(), compiler, bindgen })
    }

    fn package(&self) -> PathBuf {
        package(&self.root)
    }

    /// Builds the package as users get it.
    pub fn build(&self) -> Result<bool> {
        let package = self.package();
        if package.exists() {
            fs::remove_dir_all(&package)?;
        }
        fs::create_dir_all(package.join("load"))?;
        for module in MODULES {
            if !self.module(&module, &package)? {
                return Ok(false);
            }
        }
        for (from, to) in [("js", ""), ("js/load", "load")] {
            for entry in fs::read_dir(self.root.join(from))? {
                let path = entry?.path();
                let name = path.file_name().context("a file has a name")?;
                if path.is_file() {
                    fs::copy(&path, package.join(to).join(name))?;
                }
            }
        }
        // For bundlers that do not follow `new URL(…)`, the module is a part of a script.
        let module = fs::read(package.join("wasm/callwright_bg.wasm"))?;
        let script = format!(
            "export default Uint8Array.from(atob(\"{}\"), (sign) => sign.charCodeAt(0));\n",
            STANDARD.encode(module)
        );
        fs::write(package.join("load/inline.js"), script)?;
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(self.root.join(license), package.join(license))?;
        }
        Ok(true)
    }

    /// Builds the page to try it as a folder of files.
    pub fn site(&self) -> Result<bool> {
        let folder = site(&self.root);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        if !self.module(&SITE, &folder)? {
            return Ok(false);
        }
        fs::copy(self.root.join("js/site/try.js"), folder.join("try.js"))?;
        let mut write = cargo(&self.root);
        write
            .args(["run", "--quiet", "--package", "callwright-view", "--example", "site", "--"])
            .arg(&folder);
        Ok(step::run(&mut write)?.ok)
    }

    /// Builds a file of WebAssembly into the folder `wasm` of `to`.
    fn module(&self, module: &Module, to: &Path) -> Result<bool> {
        // Artifacts of two compilers do not stand in one folder.
        let target = self.root.join("target/wasm");
        let mut build = cargo(&self.root);
        build.args([
            "build",
            "--quiet",
            "--profile",
            "wasm",
            "--package",
            "callwright-wasm",
            "--target",
            TARGET,
        ]);
        build.args(module.features).arg("--target-dir").arg(&target);
        if let Some(compiler) = &self.compiler {
            let sysroot = said(Command::new("rustc").args(["--print", "sysroot"]))?;
            let linker = Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
            build.arg("-Zbuild-std=std,panic_abort").env("RUSTC_BOOTSTRAP", "1");
            build.env("RUSTC", compiler.join("usr/bin/rustc"));
            build.env("LD_LIBRARY_PATH", compiler.join("usr/lib/x86_64-linux-gnu"));
            build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        if !step::run(&mut build)?.ok {
            return Ok(false);
        }
        let mut bindgen = program(&self.root, &self.bindgen);
        bindgen.arg(target.join(TARGET).join("wasm/callwright_wasm.wasm"));
        Ok(step::run(bindgen.arg(to.join("wasm")).arg(module.name))?.ok)
    }

    /// Holds the files to their bounds, and says how large they are.
    pub fn sizes(&self) -> Result<bool> {
        let mut is_small = true;
        for Module { name, bounds, .. } in MODULES {
            let file = self.package().join(format!("wasm/{name}_bg.wasm"));
            let raw = fs::metadata(&file)?.len();
            let packed = Command::new("gzip").args(["-9", "-c"]).arg(&file).output()?.stdout.len() as u64;
            println!("    {name}: {raw} bytes, {packed} packed");
            is_small &= bounds.is_none_or(|(most, most_packed)| raw <= most && packed <= most_packed);
        }
        Ok(is_small)
    }

    /// Runs the tests; one of them holds the reports against those of the command that is built.
    pub fn tests(&self) -> Result<Tally> {
        let scripts = self.scripts()?;
        let mut node = program(&self.root, Path::new("node"));
        node.env("CALLWRIGHT_BIN", steps::built(&self.root).join("debug/callwright"));
        node.env("CALLWRIGHT_ROOT", &self.root);
        node.args(["--test", "--test-reporter", "tap"]);
        for script in scripts {
            if script.to_string_lossy().ends_with(".test.mjs") {
                node.arg(script);
            }
        }
        step::run(&mut node)
    }

    /// Runs the tests of what the package offers in other places than Node.
    pub fn elsewhere(&self) -> Result<bool> {
        self.scripts()?;
        let folder = self.root.join("target/npm");
        // No package runs scripts when it is installed, so what Bun's would link is named here.
        let system = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
        let processor = if std::env::consts::ARCH == "x86_64" { "x64" } else { std::env::consts::ARCH };
        let bun = format!("@oven/bun-{system}-{processor}/bin/bun");
        let deno =
            ["test", "--no-check", "--allow-read", "--allow-env", "--allow-sys", "--node-modules-dir=manual"];
        let mut is_right = true;
        for (path, arguments) in [(bun.as_str(), &["test"][..]), (".bin/deno", &deno)] {
            let mut run = program(&folder, &folder.join("node_modules").join(path));
            is_right &= step::run(run.args(arguments).arg("test/api.test.mjs"))?.ok;
        }
        Ok(is_right)
    }

    /// Holds what is published against those who check packages, and the types against their compiler.
    pub fn checks(&self) -> Result<bool> {
        self.scripts()?;
        let folder = self.root.join("target/npm");
        let mut is_right = true;
        for command in [
            vec!["publint", "--strict", "node_modules/callwright"],
            vec![
                "attw",
                "--pack",
                "node_modules/callwright",
                "--profile",
                "esm-only",
                // They are no modules.
                "--exclude-entrypoints",
                "callwright.wasm",
                "full.wasm",
            ],
            vec!["tsc", "--project", "test/tsconfig.json"],
        ] {
            let (name, arguments) = command.split_first().context("a command has a name")?;
            let mut check = program(&folder, &folder.join("node_modules/.bin").join(name));
            is_right &= step::run(check.args(arguments))?.ok;
        }
        Ok(is_right)
    }

    /// Puts the scripts of `js/test` below the package and all that they need: where they stand.
    fn scripts(&self) -> Result<Vec<PathBuf>> {
        let from = self.root.join("js/test");
        let packages = node_packages(&from)?;
        let modules = self.root.join("target/npm/node_modules");
        for entry in fs::read_dir(packages)? {
            let path = entry?.path();
            let link = modules.join(path.file_name().context("a package has a name")?);
            // One that leads elsewhere is of another state of the project.
            if fs::read_link(&link).ok().as_ref() != Some(&path) {
                let _ = fs::remove_file(&link);
                symlink(&path, link)?;
            }
        }
        let folder = self.root.join("target/npm/test");
        fs::create_dir_all(&folder)?;
        let mut scripts = Vec::new();
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let to = folder.join(path.file_name().context("a script has a name")?);
            fs::copy(&path, &to)?;
            scripts.push(to);
        }
        scripts.sort();
        Ok(scripts)
    }
}

/// Builds and packs what is published.
///
/// # Errors
/// When something cannot be built.
pub fn npm() -> Result<()> {
    let root = root()?;
    let javascript = JavaScript::open(&root)?;
    ensure!(javascript.build()?, "the package was not built");
    ensure!(javascript.sizes()?, "a file of WebAssembly is too large");
    let mut pack = program(&javascript.package(), Path::new("npm"));
    pack.args(["pack", "--pack-destination"]).arg(root.join("target/npm"));
    ensure!(step::run(&mut pack)?.ok, "the package was not packed");
    ensure!(command::finder(&root, &root.join("target/npm"))?, "the package of the command was not packed");
    Ok(())
}

/// Builds the package, beside what its tests need; gives the folder in which Node finds both. One that is there already is
/// taken where it `is_built`.
///
/// # Errors
/// When something cannot be built.
pub fn built(root: &Path, is_built: bool) -> Result<PathBuf> {
    let javascript = JavaScript::open(root)?;
    if !(is_built && javascript.package().exists()) {
        ensure!(javascript.build()?, "the package was not built");
    }
    javascript.scripts()?;
    Ok(root.join("target/npm"))
}

/// Where the package is put together, below a folder in which Node finds it.
pub fn package(root: &Path) -> PathBuf {
    root.join("target/npm/node_modules/callwright")
}

/// Where the page to try it is put together.
pub fn site(root: &Path) -> PathBuf {
    root.join("target/site")
}

/// Builds the page to try it.
///
/// # Errors
/// When something cannot be built.
pub fn build_site() -> Result<()> {
    let root = root()?;
    ensure!(JavaScript::open(&root)?.site()?, "the site was not built");
    println!("{}", site(&root).display());
    Ok(())
}

/// What `command` writes.
fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

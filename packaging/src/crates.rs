//! Are the libraries whole as packages: does the engine build from what is packed, and from nothing else?

use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{env, fs};

use anyhow::{Context, Result};

use steps::built;
use steps::step::{self, cargo};

/// What is published; each needs some of those before it.
const PUBLISHED: [&str; 13] = [
    "callwright-json",
    "callwright-value",
    "callwright-schema",
    "callwright",
    "callwright-macros",
    "callwright-template",
    "callwright-replay",
    "callwright-store",
    "callwright-relay",
    "callwright-view",
    "callwright-gateway",
    "callwright-agent",
    "callwright-cli",
];

/// What is built from its package as well; each needs those before it.
const BUILT: [&str; 4] = ["callwright-json", "callwright-value", "callwright-schema", "callwright"];

/// Packs what is published, unpacks the engine outside of the workspace, and checks it there: against the packed crates
/// that it needs, which no registry has yet.
///
/// `cargo package` verifies too, but what it has unpacked once it does not unpack again for the same version.
///
/// # Errors
/// When a package is not there, or a command cannot be started.
pub fn packages(root: &Path) -> Result<bool> {
    let packed = built(root).join("package");
    // Those of other versions would be found as well.
    let _ = fs::remove_dir_all(&packed);
    let mut package = cargo(root);
    package.args(["package", "--allow-dirty", "--no-verify"]);
    if !step::run(package.args(PUBLISHED.iter().flat_map(|name| ["--package", name])))?.ok {
        return Ok(false);
    }
    let unpacked = env::temp_dir().join(format!("callwright-packages-{}", process::id()));
    let is_whole = builds(root, &packed, &unpacked);
    // What cannot be removed is in a temporary folder.
    let _ = fs::remove_dir_all(&unpacked);
    is_whole
}

fn builds(root: &Path, packed: &Path, unpacked: &Path) -> Result<bool> {
    for name in BUILT {
        let folder = unpacked.join(name);
        fs::create_dir_all(&folder)?;
        let archive = archive(packed, name)?.with_context(|| format!("{name} was not packed"))?;
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).arg("--strip-components=1").arg("-C").arg(&folder);
        if !step::run(&mut tar)?.ok {
            return Ok(false);
        }
    }
    let [needed @ .., engine] = BUILT;
    let mut check = cargo(root);
    check.args(["check", "--manifest-path"]).arg(unpacked.join(engine).join("Cargo.toml"));
    check.arg("--target-dir").arg(built(root));
    for name in needed {
        check.arg("--config").arg(format!("patch.crates-io.{name}.path={:?}", unpacked.join(name)));
    }
    Ok(step::run(&mut check)?.ok)
}

/// The package of this name: `callwright-0.1.0.crate`, but not `callwright-json-0.1.0.crate`.
fn archive(packed: &Path, name: &str) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(packed)? {
        let path = entry?.path();
        let version = path.file_name().and_then(|file| file.to_str()?.strip_prefix(name)?.strip_prefix('-'));
        if version.is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()) && v.ends_with(".crate")) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_workflow_publishes_these_crates_and_no_others() -> Result<()> {
        let root = steps::root()?;
        let workflow = fs::read_to_string(root.join(".github/workflows/release.yml"))?;
        let publish = workflow.lines().find(|line| line.contains("cargo publish")).unwrap_or_default();
        let left_out: BTreeSet<&str> = publish.split("--exclude ").skip(1).map(str::trim).collect();
        let metadata =
            cargo(&root).args(["metadata", "--no-deps", "--format-version", "1", "--locked"]).output()?;
        let metadata = String::from_utf8(metadata.stdout)?;
        for name in &left_out {
            assert!(metadata.contains(&format!("\"name\":\"{name}\"")), "{name} is left out, and not there");
            assert!(!PUBLISHED.contains(name), "{name} is published, and left out");
        }
        let n_packages = metadata.matches("\"manifest_path\":").count();
        assert_eq!(n_packages, PUBLISHED.len() + left_out.len(), "each package is published or left out");
        Ok(())
    }
}

//! The binary that needs nothing else: linked statically, started from a root that is empty, packed as it is released.

use anyhow::{Result, bail, ensure};

use steps::step::{self, cargo, program};
use steps::{built, root};

/// Builds the binary for musl, starts it from an empty root, and packs it into `target`.
///
/// It is a build of its own, of minutes and more than a gigabyte, so the suite leaves it to the workflow. What is not
/// optimised is linked in the same way.
///
/// # Errors
/// When it cannot be built, or does not start.
pub fn standalone() -> Result<()> {
    let root = root()?;
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let mut build = cargo(&root);
    build.args(["build", "--quiet", "--locked", "--package", "callwright-cli", "--target", &target]);
    ensure!(
        step::run(&mut build)?.ok,
        "it was not built; it needs: rustup target add {target}, and musl-gcc (Debian's package musl-tools)"
    );
    let binary = built(&root).join(&target).join("debug/callwright");
    let mut start = program(&root, &root.join("packaging/empty-root"));
    if !step::run(start.arg(&binary))?.ok {
        bail!("{} does not start from an empty root", binary.display());
    }
    let mut pack = program(&root, &root.join("packaging/archive"));
    pack.current_dir(root.join("target")).args(["dev", &target]).arg(&binary);
    ensure!(step::run(&mut pack)?.ok, "{} was not packed", binary.display());
    Ok(())
}

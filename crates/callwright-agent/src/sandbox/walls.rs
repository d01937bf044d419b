//! The walls as the kernel builds them: mounts and Landlock for files, seccomp for sockets, no capabilities but those for
//! files.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::Walls;
use super::reach::readable;

/// Without this version a command could still empty files outside, by truncating them.
const NEEDED: ABI = ABI::V3;
/// The newest of which we know what to ask.
const WANTED: ABI = ABI::V6;

/// Devices that hold nothing and lead nowhere.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Raises the walls around this thread and all that it will start. There is no way back.
///
/// # Errors
/// When the kernel cannot hold them; nothing may be started then.
pub(super) fn raise(walls: &Walls) -> Result<(), String> {
    let had = capabilities(None).map_err(|error| format!("its capabilities are unknown: {error}"))?;
    if walls.mounted {
        super::mounts::shut(walls).map_err(|error| format!("it gets no mounts of its own: {error}"))?;
    }
    files(walls).map_err(|error| format!("no Landlock: {error}"))?;
    sockets(walls.network).map_err(|error| format!("no seccomp: {error}"))?;
    powers(had).map_err(|error| format!("the capabilities cannot be dropped: {error}"))
}

/// Root may look into any process, and so at the keys of whoever started it, walls or not. What is kept is about files,
/// which have walls, and is what was had before there was a user namespace. A program that is started cannot win the rest
/// back: Landlock forbids new privileges.
fn powers(had: CapabilitySets) -> std::io::Result<()> {
    let kept =
        CapabilitySet::CHOWN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::FSETID;
    let sets = CapabilitySets {
        effective: had.effective & kept,
        permitted: had.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, sets)?)
}

fn files(walls: &Walls) -> Result<(), Box<dyn std::error::Error>> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?;
    let ruleset = match walls.network {
        true => ruleset,
        false => ruleset.handle_access(AccessNet::from_all(WANTED))?,
    };
    let mut ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(readable(&walls.hidden, &walls.readable), AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))?;
    if let Some(home) = walls.home.as_ref().filter(|_| walls.mounted) {
        // There is nothing in it but what may be read. Programs look for their settings there, and take it well that there
        // are none.
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(home)?, AccessFs::ReadDir))?;
    }
    for folder in &walls.writable {
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(folder)?, AccessFs::from_all(WANTED)))?;
    }
    match ruleset.restrict_self()?.ruleset {
        RulesetStatus::NotEnforced => Err("it is not switched on".into()),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// Landlock knows TCP only, and names no local sockets: a bus or a container engine behind one does as it is told, for
/// its own rights. So sockets are refused where they are made; pairs of them, which lead nowhere, are not.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn sockets(network: bool) -> Result<(), Box<dyn std::error::Error>> {
    let other_than = |family: i32| {
        let family = u64::from(family.cast_unsigned());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    // No rule of its own is: always.
    let of_sockets = match network {
        false => Vec::new(),
        true => vec![SeccompRule::new(vec![
            other_than(libc::AF_INET)?,
            other_than(libc::AF_INET6)?,
            other_than(libc::AF_NETLINK)?,
        ])?],
    };
    let refused = [
        (libc::SYS_socket, of_sockets),
        // It makes sockets without the call.
        (libc::SYS_io_uring_setup, Vec::new()),
        // The user's keys.
        (libc::SYS_keyctl, Vec::new()),
        (libc::SYS_add_key, Vec::new()),
        (libc::SYS_request_key, Vec::new()),
    ];
    let mut rules = BTreeMap::new();
    for (call, conditions) in refused {
        // The same calls by the numbers of the x32 interface.
        #[cfg(target_arch = "x86_64")]
        rules.insert(call | 0x4000_0000, conditions.clone());
        rules.insert(call, conditions);
    }
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn sockets(_network: bool) -> Result<(), Box<dyn std::error::Error>> {
    Err("not for this processor".into())
}

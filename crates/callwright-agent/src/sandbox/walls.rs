//! Raises the walls that the kernel builds: mounts and Landlock for files, seccomp for sockets, and no capabilities
//! except those for files.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::{Apart, Walls, Within};

/// The oldest sufficient version: with an older one a command could empty outside files, by truncating them.
const NEEDED: ABI = ABI::V3;
/// The newest version whose rules we know.
const WANTED: ABI = ABI::V6;

/// Devices that hold nothing and lead nowhere.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Raises the walls around this thread and its children. There is no way back.
///
/// # Errors
/// Fails when the kernel cannot hold them; then nothing may be started.
pub(super) fn raise(within: &Within) -> Result<(), String> {
    let walls = &within.walls;
    if walls.apart != Apart::Nothing {
        super::mounts::shut(within).map_err(|error| format!("it gets no mounts of its own: {error}"))?;
    }
    files(walls).map_err(|error| format!("no Landlock: {error}"))?;
    calls(walls.network).map_err(|error| format!("no seccomp: {error}"))?;
    let had = CapabilitySet::from_bits_retain(within.capabilities);
    powers(had).map_err(|error| format!("the capabilities cannot be dropped: {error}"))
}

/// Drops this thread's capabilities, except those about files that it had before the user namespace: files have walls.
/// Root's other powers reach into any process, and so at the keys of its starter. A started program cannot win them
/// back: Landlock forbids new privileges.
fn powers(had: CapabilitySet) -> std::io::Result<()> {
    let kept =
        CapabilitySet::CHOWN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::FSETID;
    let kept = had & kept & capabilities(None)?.permitted;
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?)
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
        .add_rules(path_beneath_rules(&walls.readable, AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(&walls.workspace, AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(DEVICES, AccessFs::ReadFile | AccessFs::WriteFile))?;
    if let Some(home) = walls.home.as_ref().filter(|_| walls.apart != Apart::Nothing) {
        // The folder holds only readable parts. Programs look for their settings there, and accept that there are none.
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

/// Blocks the calls that Landlock does not know. It knows TCP only, and ignores local sockets: a bus or a container
/// engine behind one acts with its own rights. So making sockets is refused, except pairs, which lead nowhere. Landlock
/// ignores modes as well: a file that runs with its owner's rights would be a way out for a later starter.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn calls(network: bool) -> Result<(), Box<dyn std::error::Error>> {
    let other_than = |family: i32| {
        let family = u64::from(family.cast_unsigned());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    // An empty list of rules means: always.
    let of_sockets = match network {
        false => Vec::new(),
        true => vec![SeccompRule::new(vec![
            other_than(libc::AF_INET)?,
            other_than(libc::AF_INET6)?,
            other_than(libc::AF_NETLINK)?,
        ])?],
    };
    let mut refused = vec![
        (libc::SYS_socket, of_sockets),
        // It makes sockets without the call.
        (libc::SYS_io_uring_setup, Vec::new()),
        // The user's keys.
        (libc::SYS_keyctl, Vec::new()),
        (libc::SYS_add_key, Vec::new()),
        (libc::SYS_request_key, Vec::new()),
        (libc::SYS_fchmod, with_owners_rights(1, None)?),
        (libc::SYS_fchmodat, with_owners_rights(2, None)?),
        (SYS_FCHMODAT2, with_owners_rights(2, None)?),
        (libc::SYS_mknodat, with_owners_rights(2, None)?),
        // Without O_CREAT there is no mode.
        (libc::SYS_openat, with_owners_rights(3, Some(2))?),
    ];
    #[cfg(target_arch = "x86_64")]
    refused.extend([
        (libc::SYS_chmod, with_owners_rights(1, None)?),
        (libc::SYS_creat, with_owners_rights(1, None)?),
        (libc::SYS_mknod, with_owners_rights(1, None)?),
        (libc::SYS_open, with_owners_rights(2, Some(1))?),
    ]);
    filter(refused, libc::EPERM)?;
    // Its mode lies in memory, which no filter reads. Programs take it for a newer system's call, and fall back.
    filter(vec![(libc::SYS_openat2, Vec::new())], libc::ENOSYS)
}

/// A call of Linux 6.6, with the same number on all processors.
const SYS_FCHMODAT2: libc::c_long = 452;

/// Matches calls whose argument `mode` would let a file run with its owner's or group's rights. With `flags`, it
/// matches only calls that make a file.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn with_owners_rights(mode: u8, flags: Option<u8>) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let has = |argument: u8, bit: u32| {
        let bit = u64::from(bit);
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit), bit)
    };
    let mut rules = Vec::new();
    for bit in [libc::S_ISUID, libc::S_ISGID] {
        let mut conditions = vec![has(mode, bit)?];
        if let Some(flags) = flags {
            conditions.push(has(flags, libc::O_CREAT.cast_unsigned())?);
        }
        rules.push(SeccompRule::new(conditions)?);
    }
    Ok(rules)
}

/// Answers these calls with an error from here on. There is no way back.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn filter(
    refused: Vec<(libc::c_long, Vec<SeccompRule>)>,
    error: i32,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut rules = BTreeMap::new();
    for (call, conditions) in refused {
        // The x32 interface has other numbers for the same calls.
        #[cfg(target_arch = "x86_64")]
        rules.insert(call | 0x4000_0000, conditions.clone());
        rules.insert(call, conditions);
    }
    let refuse = SeccompAction::Errno(error.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn calls(_network: bool) -> Result<(), Box<dyn std::error::Error>> {
    Err("not for this processor".into())
}

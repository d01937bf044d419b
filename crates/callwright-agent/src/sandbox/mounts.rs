//! Makes the namespaces of a command. Its file systems are read-only except for its writable directories; its home
//! holds only what it needs; and it sees only its own processes.
//!
//! Landlock decides what may be opened. It ignores modes, owners, times and attributes, and a grant for a directory
//! covers all beneath it. A read-only mount has none of these gaps. Namespaces need a power of root; any other user has
//! it in a user namespace, where the system allows one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};

use super::{Apart, Walls, Within};

/// Makes namespaces whose first process is the next child, and gives that child the power to make mounts. Returns the
/// earlier capabilities. This process must have one thread.
///
/// # Errors
/// Fails when the system does not allow it.
pub(super) fn apart(apart: Apart) -> io::Result<u64> {
    let had = capabilities(None)?.effective;
    let may_mount = had.contains(CapabilitySet::SYS_ADMIN);
    let mut flags = UnshareFlags::empty();
    flags.set(UnshareFlags::NEWPID, apart == Apart::Processes);
    flags.set(UnshareFlags::NEWUSER, apart != Apart::Nothing && !may_mount);
    if flags.is_empty() {
        return Ok(had.bits());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(flags)?;
    if flags.contains(UnshareFlags::NEWUSER) {
        // The namespace holds only ourselves, under the same number.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        // A started program would otherwise lose these powers, as its user is not root.
        let all = capabilities(None)?;
        set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::SYS_ADMIN, ..all })?;
        configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
    }
    Ok(had.bits())
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    #[expect(deprecated, reason = "it is unsafe for tables of open files, which stay as they are")]
    Ok(rustix::thread::unshare(flags)?)
}

/// Gives this process file systems of its own, as the walls have them. It must have one thread.
///
/// # Errors
/// Fails when the system does not allow it.
pub(super) fn shut(within: &Within) -> io::Result<()> {
    let walls = &within.walls;
    let here = std::env::current_dir()?;
    unshare(UnshareFlags::NEWNS)?;
    // Mounts made here are for nobody else, and the other way round.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    if walls.apart == Apart::Processes {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("proc", "/proc", "proc", flags, c"")?;
    }
    if let Some(home) = &walls.home {
        Hidden::of(home, walls)?.cover()?;
    }
    for folder in &walls.writable {
        mount_bind_recursive(folder, folder)?;
    }
    for place in &within.protected {
        match mount_bind_recursive(place, place) {
            // It existed when the keeper looked; or it is a dangling link.
            Err(Errno::NOENT) => {}
            done => done?,
        }
    }
    for (point, flags) in mounts()? {
        let is_in = |folder: &PathBuf| point.starts_with(folder);
        if walls.writable.iter().any(is_in) && !within.protected.iter().any(is_in) {
            continue;
        }
        match mount_remount(&point, MountFlags::BIND | MountFlags::RDONLY | flags, c"") {
            // The place lies behind another mount, or behind a directory that is closed to us: nobody gets there.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The current directory lies beneath the new mount.
    std::env::set_current_dir(here)
}

/// The user's home without content, and the parts that are put back.
struct Hidden<'w> {
    home: &'w Path,
    /// Each part is opened before the home is covered, as its path then leads nowhere.
    back: Vec<(PathBuf, File)>,
}

impl<'w> Hidden<'w> {
    fn of(home: &'w Path, walls: &Walls) -> io::Result<Hidden<'w>> {
        let mut paths: Vec<&PathBuf> =
            walls.writable.iter().chain(&walls.workspace).chain(&walls.toolchains).collect();
        paths.retain(|path| path.starts_with(home));
        // A path inside another one comes with it.
        paths.sort();
        paths.dedup_by(|inner, outer| inner.starts_with(&**outer));
        let mut back = Vec::new();
        for path in paths {
            let flags = OFlags::PATH.bits().cast_signed();
            match OpenOptions::new().read(true).custom_flags(flags).open(path) {
                Ok(file) => back.push((path.clone(), file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Hidden { home, back })
    }

    fn cover(self) -> io::Result<()> {
        mount("tmpfs", self.home, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=0755")?;
        for (path, file) in self.back {
            if file.metadata()?.is_dir() {
                fs::create_dir_all(&path)?;
            } else {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                File::create(&path)?;
            }
            mount_bind_recursive(format!("/proc/self/fd/{}", file.as_raw_fd()), &path)?;
        }
        Ok(())
    }
}

/// Returns all mounts, with their places and flags. Later ones lie above earlier ones.
fn mounts() -> io::Result<Vec<(PathBuf, MountFlags)>> {
    // `36 35 98:0 /root /mnt\040a rw,nosuid,noatime master:1 - ext3 …`
    let lines = fs::read_to_string("/proc/self/mountinfo")?;
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(4);
        let (point, options) = (fields.next()?, fields.next()?);
        // A process that may not remove these flags must repeat them.
        let flags = options.split(',').map(|option| match option {
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        });
        Some((unescaped(point), flags.fold(MountFlags::empty(), |all, flag| all | flag)))
    };
    Ok(lines.lines().filter_map(mount).collect())
}

/// Decodes the escapes of a mount point: `/mnt/a\040b` → `/mnt/a b`
fn unescaped(point: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\');
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { behind.get(3..).unwrap_or_default() } else { behind };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_may_have_any_name() {
        for (written, path) in
            [("/", "/"), (r"/a\040b\134c", r"/a b\c"), (r"/a\", r"/a\"), (r"/\04", r"/\04")]
        {
            assert_eq!(unescaped(written), Path::new(path), "{written}");
        }
    }
}

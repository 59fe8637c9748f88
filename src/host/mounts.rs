//! What PID 1 mounts, as a table that can print itself.

use super::init::Kernel;
use nix::errno::Errno;
use nix::mount::MsFlags;
use std::fmt;
use std::path::Path;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Kind of file system; also given as its source.
    pub kind: &'static str,
    /// Where.
    pub on: &'static str,
    /// Flags.
    pub flags: MsFlags,
    /// Options of that file system; empty for none.
    pub options: &'static str,
    /// Without it no cable is judged.
    pub required: bool,
}

/// Flags of a file system that holds nothing to run and no devices.
const PLAIN: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

const fn mount(kind: &'static str, on: &'static str, required: bool) -> Mount {
    Mount { kind, on, flags: PLAIN, options: "", required }
}

/// What the firmware mounts, in this order.
pub const TABLE: [Mount; 5] = [
    mount("proc", "/proc", true),
    mount("sysfs", "/sys", true),
    Mount {
        flags: MsFlags::MS_NOSUID.union(MsFlags::MS_NOEXEC),
        options: "mode=0755",
        ..mount("devtmpfs", "/dev", true)
    },
    Mount { options: "mode=0755,size=4m", ..mount("tmpfs", "/run", true) },
    // Where some drivers have the switch of their firmware's LLDP agent, and only there.
    mount("debugfs", "/sys/kernel/debug", false),
];

/// Names of the flags that the table uses.
const FLAG_NAMES: [(MsFlags, &str); 4] = [
    (MsFlags::MS_NOSUID, "nosuid"),
    (MsFlags::MS_NODEV, "nodev"),
    (MsFlags::MS_NOEXEC, "noexec"),
    (MsFlags::MS_RDONLY, "ro"),
];

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} on {:<17} ", self.kind, self.on)?;
        f.write_str(if self.required { "required" } else { "optional" })?;
        let named = FLAG_NAMES.iter().filter(|(flag, _)| self.flags.contains(*flag));
        named.map(|(_, name)| name).try_for_each(|name| write!(f, ",{name}"))?;
        if self.options.is_empty() { Ok(()) } else { write!(f, ",{}", self.options) }
    }
}

/// The table for a person, one row a line.
#[must_use]
pub fn print(table: &[Mount]) -> String {
    table.iter().map(|row| format!("{row}\n")).collect()
}

/// A row that could not be mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {} {} on {}: {errno}", act.verb(), row.kind, row.on)]
pub struct NotMounted {
    /// The row.
    pub row: Mount,
    /// What failed.
    pub act: Act,
    /// The kernel's word.
    pub errno: Errno,
}

/// What is done for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Make the folder.
    MakeFolder,
    /// Mount on it.
    Mount,
}

impl Act {
    const fn verb(self) -> &'static str {
        match self {
            Self::MakeFolder => "make the folder to mount",
            Self::Mount => "mount",
        }
    }
}

/// Mounts every row, going on after one that fails; tells which did.
///
/// What is already mounted there is as good.
pub fn mount_all(kernel: &mut impl Kernel, table: &[Mount]) -> Vec<NotMounted> {
    table.iter().filter_map(|row| mount_row(kernel, row).err()).collect()
}

fn mount_row(kernel: &mut impl Kernel, row: &Mount) -> Result<(), NotMounted> {
    let failed = |act| move |errno| NotMounted { row: *row, act, errno };
    match kernel.make_folder(Path::new(row.on)) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(failed(Act::MakeFolder)(errno)),
    }
    match kernel.mount(row) {
        // The same file system on the same folder (mount(2)).
        Ok(()) | Err(Errno::EBUSY) => Ok(()),
        Err(errno) => Err(failed(Act::Mount)(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::init::recording::{Call, Recording};
    use super::*;

    #[test]
    fn the_table_prints_itself() {
        let expected = "\
proc     on /proc             required,nosuid,nodev,noexec
sysfs    on /sys              required,nosuid,nodev,noexec
devtmpfs on /dev              required,nosuid,noexec,mode=0755
tmpfs    on /run              required,nosuid,nodev,noexec,mode=0755,size=4m
debugfs  on /sys/kernel/debug optional,nosuid,nodev,noexec
";
        assert_eq!(print(&TABLE), expected);
    }

    #[test]
    fn every_folder_is_made_before_its_mount_and_in_the_order_of_the_table() {
        let mut kernel = Recording::default();
        assert_eq!(mount_all(&mut kernel, &TABLE), []);
        let expected: Vec<_> =
            TABLE.iter().flat_map(|row| [Call::MakeFolder(row.on.into()), Call::Mount(row.on)]).collect();
        assert_eq!(kernel.calls, expected);
    }

    #[test]
    fn what_is_there_already_is_no_failure() {
        let mut kernel = Recording::default();
        for row in TABLE {
            kernel.fail(Call::MakeFolder(row.on.into()), Errno::EEXIST);
            kernel.fail(Call::Mount(row.on), Errno::EBUSY);
        }
        assert_eq!(mount_all(&mut kernel, &TABLE), []);
    }

    #[test]
    fn a_row_that_fails_is_told_by_name_and_the_others_are_still_mounted() {
        let mut kernel = Recording::default();
        kernel.fail(Call::Mount("/sys"), Errno::EPERM);
        kernel.fail(Call::MakeFolder("/run".into()), Errno::EROFS);
        kernel.fail(Call::Mount("/sys/kernel/debug"), Errno::ENODEV);
        let failed = mount_all(&mut kernel, &TABLE);
        let lines: Vec<_> = failed.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "cannot mount sysfs on /sys: EPERM: Operation not permitted",
                "cannot make the folder to mount tmpfs on /run: EROFS: Read-only file system",
                "cannot mount debugfs on /sys/kernel/debug: ENODEV: No such device",
            ]
        );
        assert_eq!(failed.iter().map(|failed| failed.row.required).collect::<Vec<_>>(), [true, true, false]);
        assert!(kernel.calls.contains(&Call::Mount("/dev")), "the rows after it");
        assert!(!kernel.calls.contains(&Call::Mount("/run")), "not without its folder");
    }
}

//! A private network: namespaces that the kernel takes apart with the process, however it ends.

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::fmt;
use std::io;
use std::path::Path;

/// The process has a network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Private {
    /// It took a user namespace: buffers beyond the host's limits and real-time priority are refused.
    pub rootless: bool,
}

/// Why there is no private network. Each is one line that says what is refused and what would allow it.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The process has threads already.
    #[error("cannot make a private network: the process already runs more than one thread")]
    Threads,
    /// Not for this user, or not in this container.
    #[error("cannot make a private network as an ordinary user: {0}")]
    Refused(Remedy),
    /// There are as many namespaces as the host allows.
    #[error(
        "cannot make a private network: the host's limit of namespaces is reached; raise the sysctls \
         user.max_user_namespaces and user.max_net_namespaces"
    )]
    Limit,
    /// The kernel has none.
    #[error(
        "cannot make a private network: this kernel has no network or user namespaces (CONFIG_NET_NS, CONFIG_USER_NS)"
    )]
    NotBuilt,
    /// The user namespace was made, and who the user is in it could not be said.
    #[error("cannot become root of a private network: {file} cannot be written: {source}")]
    Identity {
        /// Which file of /proc.
        file: &'static str,
        /// The kernel's word.
        source: io::Error,
    },
    /// Another error.
    #[error("cannot make a private network: {0}")]
    Other(Errno),
}

/// What would let an ordinary user have a user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A sysctl has to be set to this value.
    Sysctl(&'static str, u32),
    /// No sysctl forbids it: a container's seccomp profile or a security module does.
    Container,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sysctl(name, value) => {
                write!(f, "the host forbids user namespaces; run as root or set the sysctl {name}={value}")
            }
            Self::Container => f.write_str(
                "user namespaces are refused, perhaps by a container's seccomp profile or a security module; \
                 run as root, or in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN",
            ),
        }
    }
}

/// Gives the calling process a network namespace of its own: as root directly, else with a user namespace in
/// which the user is root.
///
/// Has to be called before there are other threads. There is nothing to undo: no name is given to the
/// namespaces, so they and all that is in them go with the process.
///
/// # Errors
/// See [`NamespaceError`].
pub fn enter_private() -> Result<Private, NamespaceError> {
    match unshare(CloneFlags::CLONE_NEWNET) {
        Ok(()) => Ok(Private { rootless: false }),
        Err(Errno::EPERM) => enter_rootless(),
        // No user namespace was asked for: it is not their limit.
        Err(Errno::ENOSPC | Errno::EUSERS) => Err(NamespaceError::Limit),
        Err(errno) => Err(explain(errno, Path::new("/proc/sys"))),
    }
}

fn enter_rootless() -> Result<Private, NamespaceError> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .map_err(|errno| explain(errno, Path::new("/proc/sys")))?;
    // An ordinary user may map a group only after giving up setgroups (user_namespaces(7)).
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write("/proc/self/gid_map", &format!("0 {group} 1"))?;
    Ok(Private { rootless: true })
}

fn write(file: &'static str, content: &str) -> Result<(), NamespaceError> {
    std::fs::write(file, content).map_err(|source| NamespaceError::Identity { file, source })
}

/// What unshare(2) means by its error.
fn explain(errno: Errno, sysctls: &Path) -> NamespaceError {
    match errno {
        Errno::EPERM => NamespaceError::Refused(remedy(sysctls)),
        Errno::ENOSPC | Errno::EUSERS if reads(sysctls, "user/max_user_namespaces", 0) => {
            NamespaceError::Refused(Remedy::Sysctl("user.max_user_namespaces", 1000))
        }
        Errno::ENOSPC | Errno::EUSERS => NamespaceError::Limit,
        Errno::EINVAL if has_threads() => NamespaceError::Threads,
        Errno::EINVAL | Errno::ENOSYS => NamespaceError::NotBuilt,
        other => NamespaceError::Other(other),
    }
}

/// The switches by which distributions forbid user namespaces.
fn remedy(sysctls: &Path) -> Remedy {
    if reads(sysctls, "kernel/unprivileged_userns_clone", 0) {
        Remedy::Sysctl("kernel.unprivileged_userns_clone", 1)
    } else if reads(sysctls, "kernel/apparmor_restrict_unprivileged_userns", 1) {
        Remedy::Sysctl("kernel.apparmor_restrict_unprivileged_userns", 0)
    } else {
        Remedy::Container
    }
}

fn reads(sysctls: &Path, name: &str, value: u32) -> bool {
    std::fs::read_to_string(sysctls.join(name)).is_ok_and(|text| text.trim().parse() == Ok(value))
}

fn has_threads() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of sysctls with one in it.
    fn sysctls(name: &str, value: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, value).unwrap();
        root
    }

    #[test]
    fn a_refusal_names_the_switch_that_is_off() {
        let root = sysctls("kernel/unprivileged_userns_clone", "0\n");
        assert_eq!(
            explain(Errno::EPERM, root.path()).to_string(),
            "cannot make a private network as an ordinary user: the host forbids user namespaces; run as root or \
             set the sysctl kernel.unprivileged_userns_clone=1"
        );
        let root = sysctls("kernel/apparmor_restrict_unprivileged_userns", "1\n");
        let error = explain(Errno::EPERM, root.path()).to_string();
        assert!(error.ends_with("set the sysctl kernel.apparmor_restrict_unprivileged_userns=0"), "{error}");
    }

    #[test]
    fn a_refusal_with_every_switch_on_points_at_the_container() {
        let root = sysctls("kernel/unprivileged_userns_clone", "1\n");
        let error = explain(Errno::EPERM, root.path());
        assert!(matches!(error, NamespaceError::Refused(Remedy::Container)), "{error}");
    }

    #[test]
    fn no_space_with_a_limit_of_zero_names_the_limit() {
        let root = sysctls("user/max_user_namespaces", "0\n");
        let error = explain(Errno::ENOSPC, root.path()).to_string();
        assert!(error.ends_with("set the sysctl user.max_user_namespaces=1000"), "{error}");
        let root = sysctls("user/max_user_namespaces", "5000\n");
        assert!(matches!(explain(Errno::ENOSPC, root.path()), NamespaceError::Limit));
    }

    #[test]
    fn every_error_is_one_line() {
        let source = io::Error::from_raw_os_error(libc::EACCES);
        for error in [
            NamespaceError::Threads,
            NamespaceError::Refused(Remedy::Container),
            NamespaceError::Limit,
            NamespaceError::NotBuilt,
            NamespaceError::Identity { file: "/proc/self/uid_map", source },
            NamespaceError::Other(Errno::EIO),
        ] {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.starts_with("cannot"), "{line}");
        }
    }

    #[test]
    fn a_user_namespace_is_refused_to_a_process_with_threads() {
        // The test runs on a thread of its own.
        assert!(has_threads());
        assert!(matches!(explain(Errno::EINVAL, Path::new("/nowhere")), NamespaceError::Threads));
    }
}

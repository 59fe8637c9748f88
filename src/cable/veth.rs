//! The virtual cable: a veth pair, whose two ends are each other's other end.

use crate::sys::rtnl::Rtnl;
use std::io;

/// Why there is no virtual cable.
#[derive(Debug, thiserror::Error)]
pub enum VethError {
    /// The kernel cannot be asked.
    #[error("cannot ask the kernel for a virtual cable: {0}")]
    Kernel(io::Error),
    /// It makes none.
    #[error("cannot make the virtual cable {near} - {far}: {source}")]
    Create {
        /// Name of one end.
        near: String,
        /// Name of the other.
        far: String,
        /// The kernel's word: `EPERM` without CAP_NET_ADMIN, `EEXIST` where a name is taken, `EOPNOTSUPP` for a
        /// kernel without veth.
        source: io::Error,
    },
    /// An end that was made is not there.
    #[error("the virtual cable's end {name} is not there: {source}")]
    End {
        /// Its name.
        name: String,
        /// The kernel's word.
        source: io::Error,
    },
}

/// Makes a virtual cable in the network namespace of the calling thread and gives the indices of its ends.
///
/// Both are down, with a queue each way and a random, locally administered address of the kernel's making.
/// They go with the namespace, or with either end.
///
/// # Errors
/// See [`VethError`].
pub fn create(names: [&str; 2]) -> Result<[u32; 2], VethError> {
    let [near, far] = names;
    Rtnl::open().map_err(VethError::Kernel)?.add_veth_pair(names).map_err(|source| VethError::Create {
        near: near.to_owned(),
        far: far.to_owned(),
        source,
    })?;
    Ok([index(near)?, index(far)?])
}

fn index(name: &str) -> Result<u32, VethError> {
    nix::net::if_::if_nametoindex(name)
        .map_err(|errno| VethError::End { name: name.to_owned(), source: errno.into() })
}

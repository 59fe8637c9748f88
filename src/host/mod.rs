//! The machine under the gauge: the duties of PID 1, which board it is, the button; namespaces,
//! processors, CPU time.

pub mod affinity;
pub mod button;
pub mod cmdline;
pub mod cputime;
pub mod init;
pub mod mounts;
pub mod namespace;
pub mod recognise;

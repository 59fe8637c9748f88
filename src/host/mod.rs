//! The machine under the gauge: namespaces, processors, CPU time.

pub mod affinity;
pub mod cputime;
pub mod namespace;

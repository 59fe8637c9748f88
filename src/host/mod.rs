//! The machine under the gauge: namespaces, processors, CPU time; clock, wake-up latency, watchdog.

pub mod affinity;
pub mod clock;
pub mod cputime;
pub mod files;
pub mod latency;
pub mod namespace;
pub mod settings;
pub mod watchdog;

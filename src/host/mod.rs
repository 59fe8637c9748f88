//! The machine under the gauge: the duties of PID 1, which board it is, button and lamps; clock, wake-up latency,
//! watchdog; namespaces, processors, CPU time.

pub mod affinity;
pub mod button;
pub mod clock;
pub mod cmdline;
pub mod cputime;
pub mod files;
pub mod gpio;
pub mod init;
pub mod lamps;
pub mod latency;
pub mod mounts;
pub mod namespace;
pub mod recognise;
pub mod settings;
pub mod wall_clock;
pub mod watchdog;

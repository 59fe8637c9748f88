//! The switches that let a processor run faster than it is told to.

use super::fault::Trouble;
use crate::host::files::Files;
use std::path::{Path, PathBuf};

/// One switch and how it stood.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    file: PathBuf,
    /// What it says where turbo is off.
    off: &'static str,
    /// What it said before; none where there is no such switch.
    before: Option<String>,
}

/// The switches of the whole machine, under /sys/devices/system/cpu: that of `intel_pstate`, and that of the
/// cpufreq core. Either may be missing.
pub(super) fn of_machine(cpus: &Path) -> [Switch; 2] {
    [Switch::new(cpus.join("intel_pstate/no_turbo"), "1"), Switch::new(cpus.join("cpufreq/boost"), "0")]
}

/// The switch of one processor, in its cpufreq directory (since Linux 6.8), which may be missing.
pub(super) fn of_cpu(directory: &Path) -> Switch {
    Switch::new(directory.join("boost"), "0")
}

impl Switch {
    fn new(file: PathBuf, off: &'static str) -> Self {
        Self { file, off, before: None }
    }

    /// Remembers how it stands.
    pub fn look(&mut self, files: &impl Files) {
        self.before = self.read(files);
    }

    /// Turns turbo off. Writing the value it has already may be refused (`EPERM` where the firmware has turbo
    /// off), so that is left out.
    pub fn turn_off(&self, files: &impl Files) {
        if self.check(files).is_err() {
            // Whatever becomes of it is read back.
            let _ = files.write(&self.file, self.off);
        }
    }

    /// Whether turbo is off by this switch, as far as there is one.
    pub fn check(&self, files: &impl Files) -> Result<(), Trouble> {
        if self.read(files).is_none_or(|text| text == self.off) { Ok(()) } else { Err(Trouble::Turbo) }
    }

    /// Puts it back, where it is not as it was: the machine's switch moves those of the processors with it, both
    /// ways.
    pub fn restore(&self, files: &impl Files) {
        if let Some(before) = self.before.as_ref().filter(|before| self.read(files).as_ref() != Some(before))
        {
            // Nobody is left to tell.
            let _ = files.write(&self.file, before);
        }
    }

    fn read(&self, files: &impl Files) -> Option<String> {
        files.read(&self.file).ok().map(|text| text.trim_ascii().to_owned())
    }
}

//! The CPU clock: pinned through cpufreq, read back, watched, put back; and measured.
//!
//! Pinning is turbo off, governor `performance` where it is offered, lower limit = upper limit: the same files
//! whatever the driver is (`acpi-cpufreq`, `intel_pstate` active or passive, the `amd-pstate` modes). Each may
//! be clamped or refused, so what counts is what is read back, at every online processor; and since hardware
//! can run at another clock than these files say, there is a measurement beside them ([`measured`]).

mod cpulist;
mod fault;
mod khz;
pub mod measured;
mod policy;
mod turbo;

pub use cpulist::CpuList;
pub use fault::{ClockFault, Trouble};
pub use khz::Khz;

use super::files::Files;
use fault::grouped;
use measure::record::{Held, SettingReading, Text, Words, text, words};
use measure::verdict::Setting;
use policy::Cpu;
use std::path::{Path, PathBuf};
use std::time::Duration;
use turbo::Switch;

/// How often limits are read back before what they say is taken for final. Since Linux 5.3 a limit is
/// written by request and taken over by a worker of the kernel, a moment later.
const TRIES: u32 = 20;

/// Time between two of these: 200 ms in all.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Highest clock that a driver can be believed to have. The fastest parts sold do 6.2 GHz; one driver told 7.3
/// of a part that does 5.7, by a wrong factor that then held for requests too.
const HIGHEST_PLAUSIBLE_KHZ: u32 = 6_500_000;

/// What came of pinning.
#[derive(Debug)]
pub struct Pinning<F: Files> {
    /// One reading where every online processor holds the clock; else one for each trouble.
    pub readings: Vec<SettingReading>,
    /// What the log should say beside it: drivers, processors left out, clocks that cannot be.
    pub notes: Vec<Words>,
    /// Puts everything back when it is dropped; none where there was nothing to set.
    pub pin: Option<ClockPin<F>>,
}

/// Pins every online processor to `wanted` and reads back; `sys` is where sysfs is, `pause` waits.
///
/// `required`: without it there is no run, even where the machine has no cpufreq at all.
pub fn pin<F: Files>(
    files: F,
    sys: &Path,
    wanted: Khz,
    required: bool,
    pause: &mut impl FnMut(Duration),
) -> Pinning<F> {
    let root = sys.join("devices/system/cpu");
    let reading = |got, held| reading(wanted, got, held, required);
    let Some(online) = online(&files, &root) else {
        let got = text(ClockFault::of_all(Trouble::NoList));
        return Pinning { readings: vec![reading(got, Held::No)], notes: Vec::new(), pin: None };
    };
    let (cpus, unknown) = look(&files, &root, &online);
    let mut notes = left_out(&files, &root, &online);
    if cpus.is_empty() && unknown.iter().all(|(_, trouble)| *trouble == Trouble::NoScaling) {
        return Pinning { readings: vec![reading(Text::new(), Held::NotAvailable)], notes, pin: None };
    }
    let mut pin =
        ClockPin { machine: turbo::of_machine(&root), files, root, wanted, online, cpus, keep: false };
    pin.set();
    let mut troubles = pin.settle(pause);
    troubles.extend(unknown);
    notes.extend(pin.notes());
    let faults = pin.with_the_machines(troubles);
    let readings = if faults.is_empty() {
        vec![reading(text(format_args!("{wanted}, cpu {}", pin.online)), Held::Yes)]
    } else {
        faults.iter().map(|fault| reading(text(fault), Held::No)).collect()
    };
    Pinning { readings, notes, pin: Some(pin) }
}

fn reading(wanted: Khz, got: Text, held: Held, required: bool) -> SettingReading {
    SettingReading { setting: Setting::Clock, port: None, wanted: text(wanted), got, held, required }
}

/// The processors that are online; none where sysfs tells no list of them. `sys` is where it is.
pub fn online_cpus(files: &impl Files, sys: &Path) -> Option<CpuList> {
    online(files, &sys.join("devices/system/cpu"))
}

fn online(files: &impl Files, root: &Path) -> Option<CpuList> {
    let list = CpuList::parse(&files.read(&root.join("online")).ok()?)?;
    (!list.is_empty()).then_some(list)
}

/// Looks at each processor before any is changed: several may share one cpufreq policy.
fn look(files: &impl Files, root: &Path, online: &CpuList) -> (Vec<Cpu>, Vec<(u32, Trouble)>) {
    let (mut cpus, mut unknown) = (Vec::new(), Vec::new());
    for number in online.iter() {
        match Cpu::look(files, root, number) {
            Ok(cpu) => cpus.push(cpu),
            Err(trouble) => unknown.push((number, trouble)),
        }
    }
    (cpus, unknown)
}

/// Notes on what is there and not pinned: offline processors, and policies without any processor.
fn left_out(files: &impl Files, root: &Path, online: &CpuList) -> Vec<Words> {
    let mut notes = Vec::new();
    let present = files.read(&root.join("present")).ok().and_then(|text| CpuList::parse(&text));
    let offline = present.unwrap_or_default().without(online);
    if !offline.is_empty() {
        notes.push(words(format_args!("clock: offline and left out: cpu {offline}")));
    }
    let idle = policies_without_cpus(files, root);
    if !idle.is_empty() {
        notes.push(words(format_args!("clock: cpufreq policies without any online cpu: {idle}")));
    }
    notes
}

/// Such a directory stays when the last of its processors goes offline, and answers `EBUSY` or nothing.
fn policies_without_cpus(files: &impl Files, root: &Path) -> CpuList {
    let directory = root.join("cpufreq");
    let is_empty = |name: &str| match files.read(&directory.join(name).join("affected_cpus")) {
        Ok(text) => text.trim_ascii().is_empty(),
        Err(error) => error.kind() == std::io::ErrorKind::ResourceBusy,
    };
    let names = files.list(&directory).unwrap_or_default();
    let policies = names.iter().filter(|name| is_empty(name));
    policies.filter_map(|name| super::files::whole(name.strip_prefix("policy")?)).collect()
}

/// A pinned clock. Everything is put back as it was when this is dropped, unless it is told to [`keep`].
///
/// [`keep`]: Self::keep
#[derive(Debug)]
pub struct ClockPin<F: Files> {
    files: F,
    root: PathBuf,
    wanted: Khz,
    online: CpuList,
    machine: [Switch; 2],
    cpus: Vec<Cpu>,
    keep: bool,
}

impl<F: Files> ClockPin<F> {
    /// Turbo first: turning it off moves the upper limit of some drivers.
    fn set(&mut self) {
        for switch in &mut self.machine {
            switch.look(&self.files);
            switch.turn_off(&self.files);
        }
        for cpu in &mut self.cpus {
            cpu.turn_turbo_off(&self.files);
            cpu.set(&self.files, self.wanted);
        }
    }

    /// Reads back until every processor is as wanted, or has had its time.
    fn settle(&mut self, pause: &mut impl FnMut(Duration)) -> Vec<(u32, Trouble)> {
        let mut troubles = self.troubles();
        for _ in 1..TRIES {
            if troubles.is_empty() {
                break;
            }
            pause(BETWEEN_TRIES);
            troubles = self.troubles();
        }
        let machine_holds = self.machine_trouble().is_none();
        for cpu in &mut self.cpus {
            cpu.held = machine_holds && !troubles.iter().any(|(number, _)| *number == cpu.number);
        }
        troubles
    }

    fn troubles(&self) -> Vec<(u32, Trouble)> {
        let check = |cpu: &Cpu| Some((cpu.number, cpu.check(&self.files, self.wanted).err()?));
        self.cpus.iter().filter_map(check).collect()
    }

    fn machine_trouble(&self) -> Option<Trouble> {
        self.machine.iter().find_map(|switch| switch.check(&self.files).err())
    }

    fn with_the_machines(&self, troubles: Vec<(u32, Trouble)>) -> Vec<ClockFault> {
        let machine = self.machine_trouble().map(ClockFault::of_all);
        machine.into_iter().chain(grouped(troubles)).collect()
    }

    /// What drives the processors, and clocks that no processor has.
    fn notes(&self) -> Vec<Words> {
        let mut ways: Vec<((String, String), CpuList)> = Vec::new();
        for cpu in &self.cpus {
            let way = cpu.ways(&self.files);
            match ways.iter_mut().find(|(known, _)| *known == way) {
                Some((_, cpus)) => cpus.insert(cpu.number),
                None => ways.push((way, [cpu.number].into_iter().collect())),
            }
        }
        let ways = ways.iter().map(|((driver, governor), cpus)| {
            words(format_args!("clock: driver {driver:?}, governor {governor:?}, cpu {cpus}"))
        });
        ways.chain(self.implausible()).collect()
    }

    fn implausible(&self) -> Option<Words> {
        let highest = |cpu: &Cpu| Some((cpu.highest(&self.files)?, cpu.number));
        let (khz, cpu) = self.cpus.iter().filter_map(highest).max()?;
        (khz.get() > HIGHEST_PLAUSIBLE_KHZ).then(|| {
            words(format_args!(
                "clock: cpuinfo_max_freq of cpu {cpu} is {khz}, which no CPU does: trust only a measured clock"
            ))
        })
    }

    /// Whether the clock still holds: what has gone wrong since it was pinned, or since this was last asked
    /// where that is counted (throttling). Empty where it holds.
    ///
    /// Costs some ten reads of /sys for each processor, each a few microseconds. A processor that was not held
    /// from the beginning, or that has gone offline, is left out.
    pub fn check(&mut self) -> Vec<ClockFault> {
        let Some(online) = online(&self.files, &self.root) else {
            return vec![ClockFault::of_all(Trouble::NoList)];
        };
        let new = online.without(&self.online);
        let mut troubles: Vec<_> = new.iter().map(|cpu| (cpu, Trouble::CameOnline)).collect();
        let held = self.cpus.iter_mut().filter(|cpu| cpu.held && online.contains(cpu.number));
        let mut any = false;
        for cpu in held {
            any = true;
            troubles
                .extend(cpu.check_again(&self.files, self.wanted).err().map(|trouble| (cpu.number, trouble)));
        }
        if any { self.with_the_machines(troubles) } else { grouped(troubles) }
    }

    /// Leaves the clock pinned when this is dropped: for a box that does nothing else.
    pub fn keep(&mut self) {
        self.keep = true;
    }
}

impl<F: Files> Drop for ClockPin<F> {
    /// Turbo first again: with it off, an upper limit in its range would be refused or clamped. And the
    /// machine's switch before those of processors, which cannot be on without it.
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        for switch in &self.machine {
            switch.restore(&self.files);
        }
        for cpu in &self.cpus {
            cpu.restore_turbo(&self.files);
        }
        for cpu in &self.cpus {
            cpu.restore(&self.files);
        }
    }
}

#[cfg(test)]
mod tests;

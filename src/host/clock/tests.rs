use super::*;
use crate::host::files::model::Tree;
use nix::errno::Errno;
use proptest::prelude::*;

const CPUS: &str = "/sys/devices/system/cpu";
const GHZ: u32 = 1_000_000;

fn khz(khz: u32) -> Khz {
    Khz::new(khz).unwrap()
}

fn file(cpu: u32, name: &str) -> String {
    format!("{CPUS}/cpu{cpu}/cpufreq/{name}")
}

/// A cpufreq directory as a driver's: limits are clamped to what the hardware has, as Linux does since 5.3.
fn put_scaling(tree: &Tree, cpu: u32, driver: &str, governors: &str, hardware: [u32; 2]) {
    let [least, most] = hardware;
    tree.put(file(cpu, "scaling_driver"), format!("{driver}\n"));
    tree.put(file(cpu, "scaling_available_governors"), format!("{governors}\n"));
    tree.put(file(cpu, "scaling_governor"), "powersave\n");
    tree.put(file(cpu, "scaling_setspeed"), "<unsupported>\n");
    for (name, khz) in [
        ("cpuinfo_min_freq", least),
        ("cpuinfo_max_freq", most),
        ("scaling_min_freq", least),
        ("scaling_max_freq", most),
    ] {
        tree.put(file(cpu, name), format!("{khz}\n"));
    }
    clamp(tree, cpu, "scaling_min_freq");
    clamp(tree, cpu, "scaling_max_freq");
    for part in ["core", "package"] {
        tree.put(format!("{CPUS}/cpu{cpu}/thermal_throttle/{part}_throttle_count"), "3\n");
    }
}

fn clamp(tree: &Tree, cpu: u32, name: &str) {
    tree.on_write(file(cpu, name), move |tree, text| {
        let [least, most] = ["cpuinfo_min_freq", "cpuinfo_max_freq"].map(|name| tree.number(file(cpu, name)));
        let khz: u32 = text.parse().map_err(|_| Errno::EINVAL)?;
        Ok(khz.max(least.unwrap_or(0)).min(most.unwrap_or(u32::MAX)).to_string())
    });
}

/// A box with so many processors on `acpi-cpufreq`, 0.8 to 4.0 GHz.
fn host(cpus: u32) -> Tree {
    let tree = Tree::default();
    let list = format!("{}\n", (0..cpus).collect::<CpuList>());
    tree.put(format!("{CPUS}/online"), &list);
    tree.put(format!("{CPUS}/present"), &list);
    for cpu in 0..cpus {
        put_scaling(&tree, cpu, "acpi-cpufreq", "ondemand powersave performance", [8 * GHZ / 10, 4 * GHZ]);
    }
    tree
}

fn pin_to(tree: &Tree, wanted: u32) -> Pinning<&Tree> {
    pin(tree, Path::new("/sys"), khz(wanted), true, &mut |_| {})
}

fn pinned(tree: &Tree) -> Pinning<&Tree> {
    pin_to(tree, 2 * GHZ)
}

/// What was read back, a line each; "held" in front where it is.
fn lines(pinning: &Pinning<&Tree>) -> Vec<String> {
    let line = |row: &SettingReading| match row.held {
        Held::Yes => format!("held {}", row.got),
        Held::No => row.got.as_str().to_owned(),
        Held::NotAvailable => "n/a".to_owned(),
    };
    pinning.readings.iter().map(line).collect()
}

fn check(pinning: &mut Pinning<&Tree>) -> Vec<String> {
    pinning.pin.as_mut().unwrap().check().iter().map(ToString::to_string).collect()
}

/// All that a user could set.
fn state(tree: &Tree) -> Vec<String> {
    let names = [
        "scaling_governor",
        "scaling_min_freq",
        "scaling_max_freq",
        "boost",
        "energy_performance_preference",
    ];
    let cpus = (0..4).flat_map(|cpu| names.map(|name| tree.text(file(cpu, name))));
    let machine = ["intel_pstate/no_turbo", "cpufreq/boost"].map(|name| tree.text(format!("{CPUS}/{name}")));
    cpus.chain(machine).collect()
}

fn notes<'a>(pinning: &'a Pinning<&Tree>) -> Vec<&'a str> {
    pinning.notes.iter().map(|note| note.as_str()).collect()
}

#[test]
fn every_online_processor_is_pinned_and_put_back() {
    let tree = host(2);
    let before = state(&tree);
    let mut pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    let reading = &pinning.readings[0];
    assert_eq!((reading.setting, reading.port, reading.required), (Setting::Clock, None, true));
    assert_eq!(reading.wanted.as_str(), "2000000 kHz");
    assert_eq!(tree.text(file(1, "scaling_governor")), "performance");
    assert_eq!(check(&mut pinning), [""; 0]);
    assert_eq!(notes(&pinning), ["clock: driver \"acpi-cpufreq\", governor \"performance\", cpu 0-1"]);
    drop(pinning);
    assert_eq!(state(&tree), before);
}

#[test]
fn a_box_of_its_own_keeps_the_clock() {
    let tree = host(1);
    pinned(&tree).pin.unwrap().keep();
    assert_eq!(tree.text(file(0, "scaling_max_freq")), "2000000");
}

/// Until Linux 5.2 a lower limit above the upper was refused, even in between.
fn refuse_crossed_limits(tree: &Tree, cpu: u32) {
    tree.on_write(file(cpu, "scaling_min_freq"), move |tree, text| {
        let crossed = text.parse().ok() > tree.number(file(cpu, "scaling_max_freq"));
        if crossed { Err(Errno::EINVAL) } else { Ok(text.to_owned()) }
    });
    tree.on_write(file(cpu, "scaling_max_freq"), move |tree, text| {
        let crossed = text.parse().ok() < tree.number(file(cpu, "scaling_min_freq"));
        if crossed { Err(Errno::EINVAL) } else { Ok(text.to_owned()) }
    });
}

#[test]
fn the_order_of_writing_never_crosses_the_limits() {
    for [min, max] in [[800_000, 1_200_000], [3_000_000, 4_000_000], [800_000, 4_000_000], [2_000_000; 2]] {
        let tree = host(1);
        refuse_crossed_limits(&tree, 0);
        tree.change(file(0, "scaling_min_freq"), min);
        tree.change(file(0, "scaling_max_freq"), max);
        let pinning = pinned(&tree);
        assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0"], "{min} to {max}");
        drop(pinning);
        let now = ["scaling_min_freq", "scaling_max_freq"].map(|name| tree.number(file(0, name)));
        assert_eq!(now, [Some(min), Some(max)]);
    }
}

#[test]
fn a_limit_that_is_taken_over_later_is_waited_for() {
    let tree = host(2);
    tree.lag(file(1, "scaling_max_freq"), 5);
    let mut waited = Duration::ZERO;
    let pinning = pin(&tree, Path::new("/sys"), khz(2 * GHZ), true, &mut |time| waited += time);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    assert!(waited > Duration::ZERO && waited < Duration::from_millis(200), "{waited:?}");
}

#[test]
fn a_limit_that_is_never_taken_over_is_not_waited_for_without_end() {
    let tree = host(1);
    tree.lag(file(0, "scaling_max_freq"), u32::MAX);
    let mut waits = 0;
    let pinning = pin(&tree, Path::new("/sys"), khz(2 * GHZ), true, &mut |_| waits += 1);
    assert_eq!(lines(&pinning), ["set to 2000000 to 4000000 kHz, cpu 0"]);
    assert_eq!(waits, TRIES - 1);
}

#[test]
fn intel_pstate_loses_its_turbo_first_and_gets_it_back_first() {
    let tree = host(1);
    put_scaling(&tree, 0, "intel_pstate", "performance powersave", [400_000, 5_400_000]);
    tree.put(file(0, "energy_performance_preference"), "balance_performance\n");
    let no_turbo = format!("{CPUS}/intel_pstate/no_turbo");
    tree.put(&no_turbo, "0\n");
    let before = state(&tree);
    // The highest clock is that without turbo while turbo is off.
    tree.on_write(&no_turbo, |tree, text| {
        tree.change(file(0, "cpuinfo_max_freq"), if text == "1" { 2_600_000 } else { 5_400_000 });
        Ok(text.to_owned())
    });
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0"]);
    assert_eq!(tree.take_orders().first(), Some(&(no_turbo.clone(), "1".to_owned())));
    drop(pinning);
    assert_eq!(tree.take_orders().first(), Some(&(no_turbo, "0".to_owned())));
    assert_eq!(state(&tree), before);
}

#[test]
fn turbo_that_the_firmware_has_off_is_not_written() {
    let tree = host(1);
    let no_turbo = format!("{CPUS}/intel_pstate/no_turbo");
    tree.put(&no_turbo, "1\n");
    tree.on_write(&no_turbo, |_, _| Err(Errno::EPERM));
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0"]);
    drop(pinning);
    assert!(!tree.take_orders().iter().any(|(file, _)| *file == no_turbo));
}

#[test]
fn turning_boost_off_moves_the_upper_limit_and_it_is_pinned_after_that() {
    let tree = host(2);
    let boost = format!("{CPUS}/cpufreq/boost");
    tree.put(&boost, "1\n");
    tree.on_write(&boost, |tree, text| {
        for cpu in 0..2 {
            let most = if text == "1" { 4_700_000 } else { 3_400_000 };
            tree.change(file(cpu, "cpuinfo_max_freq"), most);
            tree.change(file(cpu, "scaling_max_freq"), most);
        }
        Ok(text.to_owned())
    });
    tree.change(file(0, "scaling_max_freq"), 3_900_000);
    let before = state(&tree);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    drop(pinning);
    assert_eq!(state(&tree), before);
}

/// The boost switches of Linux 6.12: the machine's moves the processors' with it, and while it is off theirs
/// take nothing.
fn put_boost(tree: &Tree, processors: &'static [&'static str]) {
    let boost = format!("{CPUS}/cpufreq/boost");
    tree.put(&boost, "1\n");
    for (cpu, text) in (0..).zip(processors) {
        tree.put(file(cpu, "boost"), text);
        tree.on_write(file(cpu, "boost"), |tree, text| {
            let machine_on = tree.text(format!("{CPUS}/cpufreq/boost")) == "1";
            if machine_on { Ok(text.to_owned()) } else { Err(Errno::EINVAL) }
        });
    }
    tree.on_write(&boost, move |tree, text| {
        for (cpu, _) in (0..).zip(processors) {
            tree.change(file(cpu, "boost"), text);
        }
        Ok(text.to_owned())
    });
}

#[test]
fn each_processors_own_boost_comes_back_as_it_was() {
    let tree = host(2);
    put_boost(&tree, &["1\n", "0\n"]);
    let before = state(&tree);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    assert_eq!([0, 1].map(|cpu| tree.text(file(cpu, "boost"))), ["0", "0"]);
    drop(pinning);
    assert_eq!(state(&tree), before);
}

#[test]
fn a_processors_own_boost_is_turned_off_where_the_machine_has_no_switch() {
    let tree = host(1);
    tree.put(file(0, "boost"), "1\n");
    let pinning = pinned(&tree);
    assert_eq!(tree.text(file(0, "boost")), "0");
    drop(pinning);
    assert_eq!(tree.text(file(0, "boost")), "1");
}

#[test]
fn turbo_that_stays_on_is_named() {
    let tree = host(1);
    let boost = format!("{CPUS}/cpufreq/boost");
    tree.put(&boost, "1\n");
    tree.on_write(&boost, |_, _| Err(Errno::EINVAL));
    assert_eq!(lines(&pinned(&tree)), ["turbo on"]);
    tree.remove(&boost);
    tree.put(file(0, "boost"), "1\n");
    tree.on_write(file(0, "boost"), |_, _| Ok("1".to_owned()));
    assert_eq!(lines(&pinned(&tree)), ["turbo on, cpu 0"]);
}

#[test]
fn amd_pstate_epp_fixes_its_preference_under_performance_and_gets_it_back() {
    let tree = host(1);
    put_scaling(&tree, 0, "amd-pstate-epp", "performance powersave", [400_000, 5_400_000]);
    let preference = file(0, "energy_performance_preference");
    tree.put(&preference, "balance_power\n");
    tree.on_write(file(0, "scaling_governor"), |tree, text| {
        if text == "performance" {
            tree.change(file(0, "energy_performance_preference"), "performance");
        }
        Ok(text.to_owned())
    });
    tree.on_write(&preference, |tree, text| match tree.text(file(0, "scaling_governor")).as_str() {
        "performance" => Err(Errno::EBUSY),
        _ => Ok(text.to_owned()),
    });
    let before = state(&tree);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0"]);
    drop(pinning);
    assert_eq!(state(&tree), before);
}

#[test]
fn a_driver_without_the_governor_is_pinned_by_its_limits() {
    let tree = host(1);
    put_scaling(&tree, 0, "amd-pstate", "schedutil powersave", [400_000, 5_400_000]);
    assert_eq!(lines(&pinned(&tree)), ["held 2000000 kHz, cpu 0"]);
    assert!(!tree.take_orders().iter().any(|(_, text)| text == "performance"));
}

#[test]
fn a_clamp_that_reports_success_is_named() {
    let tree = host(2);
    for name in ["scaling_min_freq", "scaling_max_freq"] {
        tree.on_write(file(1, name), |_, _| Ok("400000".to_owned()));
    }
    assert_eq!(lines(&pinned(&tree)), ["set to 400000 kHz, cpu 1"]);
}

#[test]
fn a_step_of_the_firmwares_table_is_not_the_clock_that_was_wanted() {
    let tree = host(1);
    tree.on_write(file(0, "scaling_max_freq"), |_, _| Ok("2001000".to_owned()));
    assert_eq!(lines(&pinned(&tree)), ["set to 2000000 to 2001000 kHz, cpu 0"]);
}

#[test]
fn each_core_type_is_judged_by_its_own_limits() {
    let tree = host(4);
    for cpu in [2, 3] {
        put_scaling(&tree, cpu, "intel_pstate", "performance powersave", [400_000, 1_800_000]);
    }
    assert_eq!(lines(&pinned(&tree)), ["at most 1800000 kHz, cpu 2-3"]);
    assert_eq!(lines(&pin_to(&tree, 700_000)), ["at least 800000 kHz, cpu 0-1"]);
}

#[test]
fn core_types_that_all_reach_the_clock_are_no_trouble() {
    let tree = host(2);
    put_scaling(&tree, 0, "intel_pstate", "performance powersave", [400_000, 5_400_000]);
    put_scaling(&tree, 1, "intel_pstate", "performance powersave", [400_000, 4_100_000]);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    assert_eq!(pinning.notes.len(), 1, "{:?}", pinning.notes);
}

#[test]
fn a_highest_clock_that_cannot_be_is_noted() {
    let tree = host(1);
    put_scaling(&tree, 0, "amd-pstate", "performance", [400_000, 7_300_000]);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0"]);
    assert_eq!(
        notes(&pinning)[1],
        "clock: cpuinfo_max_freq of cpu 0 is 7300000 kHz, which no CPU does: trust only a measured clock"
    );
}

#[test]
fn offline_processors_are_left_out_and_listed() {
    let mut tree = host(4);
    tree.put(format!("{CPUS}/online"), "0,2\n");
    for (policy, cpu) in [(0, 0), (3, 3)] {
        tree.link(format!("{CPUS}/cpu{cpu}/cpufreq"), format!("{CPUS}/cpufreq/policy{policy}"));
        put_scaling(&tree, cpu, "acpi-cpufreq", "performance", [8 * GHZ / 10, 4 * GHZ]);
    }
    tree.put(format!("{CPUS}/cpufreq/policy0/affected_cpus"), "0\n");
    tree.put(format!("{CPUS}/cpufreq/policy3/affected_cpus"), "\n");
    tree.put(format!("{CPUS}/cpufreq/policy1/affected_cpus"), "1\n");
    tree.refuse_reading(format!("{CPUS}/cpufreq/policy1/affected_cpus"), Errno::EBUSY);
    for cpu in [1, 3] {
        for name in ["scaling_governor", "scaling_min_freq", "scaling_max_freq"] {
            tree.refuse_reading(file(cpu, name), Errno::EBUSY);
        }
    }
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0,2"]);
    assert_eq!(
        notes(&pinning)[..2],
        ["clock: offline and left out: cpu 1,3", "clock: cpufreq policies without any online cpu: 1,3"]
    );
    drop(pinning);
    assert!(!tree.take_orders().iter().any(|(file, _)| file.contains("cpu1/") || file.contains("cpu3/")));
}

#[test]
fn busy_though_online_is_an_error() {
    let tree = host(2);
    tree.refuse_reading(file(1, "scaling_min_freq"), Errno::EBUSY);
    assert_eq!(lines(&pinned(&tree)), ["EBUSY though online, cpu 1"]);
    let tree = host(2);
    for name in ["scaling_min_freq", "scaling_max_freq"] {
        tree.on_write(file(0, name), |_, _| Err(Errno::EBUSY));
    }
    assert_eq!(lines(&pinned(&tree)), ["EBUSY though online, cpu 0"]);
}

#[test]
fn a_refused_limit_is_named_with_the_kernels_word() {
    let tree = host(2);
    tree.on_write(file(1, "scaling_max_freq"), |_, _| Err(Errno::EINVAL));
    assert_eq!(lines(&pinned(&tree)), ["scaling_max_freq refused, EINVAL, cpu 1"]);
}

#[test]
fn a_refusal_of_what_stands_already_does_not_matter() {
    let tree = host(1);
    for name in ["scaling_min_freq", "scaling_max_freq"] {
        tree.change(file(0, name), 2 * GHZ);
        tree.on_write(file(0, name), |_, _| Err(Errno::EACCES));
    }
    assert_eq!(lines(&pinned(&tree)), ["held 2000000 kHz, cpu 0"]);
}

#[test]
fn a_processor_without_cpufreq_among_others_is_a_fault() {
    let tree = host(2);
    for name in ["scaling_min_freq", "scaling_max_freq"] {
        tree.remove(file(0, name));
    }
    assert_eq!(lines(&pinned(&tree)), ["no cpufreq, cpu 0"]);
}

#[test]
fn a_machine_without_cpufreq_has_no_clock_to_pin() {
    let tree = Tree::default();
    tree.put(format!("{CPUS}/online"), "0-3\n");
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["n/a"]);
    assert!(pinning.readings[0].required && pinning.pin.is_none());
    let optional = pin(&tree, Path::new("/sys"), khz(2 * GHZ), false, &mut |_| {});
    assert!(!optional.readings[0].required);
}

#[test]
fn without_a_list_of_processors_nothing_is_held() {
    for list in [None, Some("garbage"), Some("\n")] {
        let tree = host(1);
        match list {
            Some(text) => tree.change(format!("{CPUS}/online"), text),
            None => tree.remove(format!("{CPUS}/online")),
        }
        assert_eq!(lines(&pinned(&tree)), ["no list of online CPUs"], "{list:?}");
    }
}

#[test]
fn processors_that_share_a_policy_are_put_back_as_it_was() {
    let mut tree = host(1);
    tree.link(format!("{CPUS}/cpu1/cpufreq"), format!("{CPUS}/cpu0/cpufreq"));
    tree.put(format!("{CPUS}/online"), "0-1\n");
    let before = state(&tree);
    let pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    drop(pinning);
    assert_eq!(state(&tree), before);
}

#[test]
fn a_limit_that_moves_during_the_run_is_noticed() {
    let tree = host(2);
    let mut pinning = pinned(&tree);
    tree.change(file(1, "scaling_max_freq"), 1_400_000);
    assert_eq!(check(&mut pinning), ["set to 2000000 to 1400000 kHz, cpu 1"]);
    tree.change(file(1, "scaling_max_freq"), 2_000_000);
    assert_eq!(check(&mut pinning), [""; 0]);
}

#[test]
fn a_throttled_processor_is_told_of_once_an_event() {
    let tree = host(2);
    let mut pinning = pinned(&tree);
    for part in ["core", "package"] {
        tree.change(format!("{CPUS}/cpu1/thermal_throttle/{part}_throttle_count"), "4\n");
        assert_eq!(check(&mut pinning), ["thermal throttling, cpu 1"]);
        assert_eq!(check(&mut pinning), [""; 0]);
    }
}

#[test]
fn a_firmware_limit_that_falls_below_the_clock_is_noticed() {
    let tree = host(2);
    tree.put(file(0, "bios_limit"), "4000000\n");
    let mut pinning = pinned(&tree);
    assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-1"]);
    tree.change(file(0, "bios_limit"), "1200000\n");
    assert_eq!(check(&mut pinning), ["firmware limit 1200000 kHz, cpu 0"]);
}

#[test]
fn turbo_that_comes_back_is_noticed() {
    let tree = host(1);
    let boost = format!("{CPUS}/cpufreq/boost");
    tree.put(&boost, "1\n");
    let mut pinning = pinned(&tree);
    tree.change(&boost, "1\n");
    assert_eq!(check(&mut pinning), ["turbo on"]);
}

#[test]
fn a_processor_that_comes_online_is_not_pinned_and_one_that_leaves_is_not_missed() {
    let tree = host(3);
    tree.put(format!("{CPUS}/online"), "0-1\n");
    let mut pinning = pinned(&tree);
    tree.put(format!("{CPUS}/online"), "0,2\n");
    tree.refuse_reading(file(1, "scaling_min_freq"), Errno::EBUSY);
    assert_eq!(check(&mut pinning), ["came online, cpu 2"]);
    tree.remove(format!("{CPUS}/online"));
    assert_eq!(check(&mut pinning), ["no list of online CPUs"]);
}

#[test]
fn what_was_never_held_cannot_slip() {
    let tree = host(2);
    tree.on_write(file(1, "scaling_max_freq"), |_, _| Err(Errno::EINVAL));
    let mut pinning = pinned(&tree);
    assert_eq!(check(&mut pinning), [""; 0]);
    tree.change(file(0, "scaling_min_freq"), 900_000);
    assert_eq!(check(&mut pinning), ["set to 900000 to 2000000 kHz, cpu 0"]);
}

#[test]
fn files_that_are_no_text_are_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("devices/system/cpu/cpu0/cpufreq");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(folder.path().join("devices/system/cpu/online"), "0\n").unwrap();
    std::fs::write(directory.join("scaling_min_freq"), b"\xff\xfe\n").unwrap();
    let pinning = pin(super::super::files::RealFiles, folder.path(), khz(2 * GHZ), true, &mut |_| {});
    assert_eq!(pinning.readings[0].got.as_str(), "scaling_min_freq unreadable, cpu 0");
}

proptest! {
    #[test]
    fn no_text_in_any_file_holds_a_clock_by_mistake(
        names in prop::sample::subsequence(
            vec!["scaling_min_freq", "scaling_max_freq", "cpuinfo_max_freq", "cpuinfo_min_freq", "bios_limit",
                 "scaling_driver", "scaling_governor", "scaling_available_governors", "boost"], 1..=9),
        text in "\\PC{0,40}|[0-9]{0,12}\n?|[0-9]{4096}|<unsupported>\n",
        late in "\\PC{0,40}|[0-9]{0,12}|200000[0-9]",
    ) {
        let tree = host(2);
        for name in &names {
            tree.put(file(1, name), &text);
            let late = late.clone();
            tree.on_write(file(1, name), move |_, _| Ok(late.clone()));
        }
        let mut pinning = pinned(&tree);
        let held = pinning.readings.iter().all(|row| row.held == Held::Yes);
        let limits = ["scaling_min_freq", "scaling_max_freq"].map(|name| tree.text(file(1, name)));
        let as_wanted = limits.iter().all(|limit| Khz::parse(limit) == Some(khz(2 * GHZ)));
        prop_assert!(as_wanted || !held, "{:?}", pinning.readings);
        prop_assert!(!pinning.readings.is_empty());
        if let Some(pin) = &mut pinning.pin {
            pin.check();
        }
    }

    #[test]
    fn whatever_stood_before_is_put_back(
        limits in prop::collection::vec((8..=40_u32, 8..=40_u32), 3),
        turbo in any::<bool>(),
    ) {
        let tree = host(3);
        tree.put(format!("{CPUS}/cpufreq/boost"), u8::from(turbo));
        for (cpu, (one, other)) in (0..).zip(limits) {
            refuse_crossed_limits(&tree, cpu);
            tree.change(file(cpu, "scaling_min_freq"), one.min(other) * 100_000);
            tree.change(file(cpu, "scaling_max_freq"), one.max(other) * 100_000);
        }
        let before = state(&tree);
        let pinning = pinned(&tree);
        prop_assert_eq!(lines(&pinning), ["held 2000000 kHz, cpu 0-2"]);
        drop(pinning);
        prop_assert_eq!(state(&tree), before);
    }
}

//! What is in the image, and what is not.

use super::emulator::firmware;
use std::path::Path;
use std::process::Command;

/// The names in an archive as the kernel unpacks it (Documentation/driver-api/early-userspace/buffer-format.rst).
fn names(archive: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    loop {
        let field = |index: usize| {
            let from = at + 6 + 8 * index;
            usize::from_str_radix(str::from_utf8(&archive[from..from + 8]).unwrap(), 16).unwrap()
        };
        assert_eq!(&archive[at..at + 6], b"070701");
        let (size, name_size) = (field(6), field(11));
        let name = str::from_utf8(&archive[at + 110..at + 110 + name_size - 1]).unwrap();
        if name == "TRAILER!!!" {
            return names;
        }
        names.push(name.to_owned());
        at = (at + 110 + name_size).next_multiple_of(4);
        at = (at + size).next_multiple_of(4);
    }
}

fn size(image: &Path, name: &str) -> u64 {
    std::fs::metadata(image.join(name)).unwrap().len()
}

#[test]
fn there_is_one_program_and_nothing_to_start_another_with() {
    let Some(image) = firmware() else { return };
    let archive = Command::new("zstd").arg("-dc").arg(image.join("initramfs.cpio.zst")).output().unwrap();
    let names = names(&archive.stdout);
    assert_eq!(
        names,
        ["dev", "proc", "sys", "run", "dev/console", "dev/null", "init"].map(|name| name.to_owned())
    );
}

#[test]
fn kernel_and_initramfs_are_at_most_seven_megabytes() {
    let Some(image) = firmware() else { return };
    let octets = size(image, "bzImage") + size(image, "initramfs.cpio.zst");
    assert!((1_000_000..=7_000_000).contains(&octets), "{octets}");
}

/// `image/build` refuses a kernel in which a line of its configuration does not hold.
#[test]
fn the_kernel_has_no_protocol_that_could_listen_to_a_network() {
    let config = include_str!("../../image/kernel.config");
    assert!(config.lines().any(|line| line == "CONFIG_INET=n"));
    let others = [
        "CONFIG_INET=y",
        "CONFIG_IPV6=y",
        "CONFIG_VSOCKETS=y",
        "CONFIG_TIPC=y",
        "CONFIG_BT=y",
        "CONFIG_CAN=y",
    ];
    assert!(config.lines().all(|line| !others.contains(&line)));
}

//! Verdicts, settings and reasons in plain words: one line for the log, one short line for the display.

use super::{Reason, Setting, SwitchSign, Verdict};
use crate::units::{BitRate, Direction};
use core::fmt;

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Marginal => "MARGINAL",
            Self::Invalid => "INVALID",
        })
    }
}

/// One short word each, as the log and the command line write it; ten characters at most.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ports => "ports",
            Self::Module => "module",
            Self::Pcie => "pcie",
            Self::Mtu => "mtu",
            Self::Clock => "clock",
            Self::DmaLatency => "latency",
            Self::Pause => "pause",
            Self::Eee => "eee",
            Self::Steering => "steering",
            Self::Rings => "rings",
            Self::Ipv6 => "ipv6",
            Self::AddressGeneration => "addrgen",
            Self::Arp => "arp",
            Self::Lldp => "lldp",
            Self::ReceiveBuffer => "rcvbuf",
            Self::Promiscuous => "promisc",
        })
    }
}

/// One line with value and limit, ASCII only.
///
/// The variants are shared out by rank to the functions below; a test holds every one of them to its text.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use super::Rank;
        match self.rank() {
            Rank::Voiding => voiding(self, f),
            Rank::Cable => cable(self, f),
            Rank::Spoiling => spoiling(self, f),
            Rank::Margin => margin(self, f),
        }
    }
}

fn voiding(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::NotALoop => f.write_str("not a loop: no probe reached the other port"),
        Reason::Switch(SwitchSign::FilteredAddress) => {
            f.write_str("a switch is in the path: it filters by address")
        }
        Reason::Switch(SwitchSign::LinkStayedUp) => {
            f.write_str("a switch is in the path: one port kept its link while the other was down")
        }
        Reason::AnotherGauge { on, nonce } => {
            write!(f, "another gauge: port {on} heard frames of its run {nonce:08x}")
        }
        Reason::ForeignTraffic { on, from, ethertype } => {
            write!(f, "live network on port {on}: a frame from {from}, {}", Protocol(ethertype))
        }
        Reason::OwnStray { from, ethertype } => {
            write!(f, "this host uses port {from}: it sent a frame of its own, {}", Protocol(ethertype))
        }
        Reason::OneEndOpen { down } => write!(f, "port {down} has no link: one end open?"),
        Reason::DeviceGone { port } => write!(f, "port {port} is gone: the device went away"),
        Reason::PortTaken { port } => {
            write!(f, "this host took port {port}: set down, or made part of a bridge or bond")
        }
        Reason::CountersReset { port } => write!(f, "port {port}: its counters were reset"),
        Reason::Duplicated { direction, frames } => not_a_cable(f, direction, frames, "came twice"),
        Reason::Reordered { direction, frames } => not_a_cable(f, direction, frames, "out of order"),
        Reason::Misplaced { direction, frames } => not_a_cable(f, direction, frames, "far out of place"),
        Reason::UnknownOrigin { direction, frames } => {
            write!(f, "{direction}: {} missing, and no counter can tell where", Frames(frames))
        }
        Reason::DamagedInside { direction, frames } => {
            write!(f, "damaged inside the box: {direction} {} behind a good FCS", Frames(frames))
        }
        Reason::NothingSent { direction } => write!(f, "{direction}: nothing was sent"),
        _ => Ok(()),
    }
}

fn not_a_cable(f: &mut fmt::Formatter<'_>, direction: Direction, frames: u64, what: &str) -> fmt::Result {
    write!(f, "not a plain cable: {direction} {} {what}", Frames(frames))
}

fn cable(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::DeadDirection { direction } => {
            write!(f, "{direction} is dead: nothing arrived, {} works", direction.reverse())
        }
        Reason::NoLink { waited } => write!(f, "no link within {} s", waited.as_secs()),
        Reason::Flapping { drops } => write!(f, "the link flaps: {drops} drops within 30 s"),
        Reason::LinkDown { port, changes } => {
            write!(f, "port {port}: {} during the run", Count(changes, "link change"))
        }
        Reason::WrongSpeed { expected, got } => {
            write!(f, "link at {} of {expected}, which both ports offer", Bare(got))
        }
        Reason::CrcErrors { port, frames } => {
            write!(f, "port {port}: {} with a wrong FCS", Frames(frames))
        }
        Reason::SymbolErrors { port, errors } => {
            write!(f, "port {port}: {}", Count(errors, "symbol error"))
        }
        Reason::LinkFaults { port, faults } => {
            write!(f, "port {port}: {} reported", Count(faults, "link fault"))
        }
        Reason::Lost { direction, at_least, at_most, sent } if at_least == at_most => {
            write!(f, "{direction} lost {at_least} of {sent}")
        }
        Reason::Lost { direction, at_least, at_most, sent } => {
            write!(f, "{direction} lost {at_least} to {at_most} of {sent}")
        }
        Reason::Corrupt { direction, frames, bit_errors: 0 } => {
            write!(f, "{direction}: {} damaged", Frames(frames))
        }
        Reason::Corrupt { direction, frames, bit_errors } => {
            write!(f, "{direction}: {} damaged, {} wrong", Frames(frames), Count(bit_errors, "bit"))
        }
        _ => Ok(()),
    }
}

fn spoiling(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::SettingNotHeld { setting, port: None } => write!(f, "setting {setting} could not be held"),
        Reason::SettingNotHeld { setting, port: Some(port) } => {
            write!(f, "port {port}: setting {setting} could not be held")
        }
        Reason::SpeedSetup { expected, got } => {
            write!(f, "link at {} of {expected}: check the set-up, it need not be the cable", Bare(got))
        }
        Reason::HostDrops { direction, frames } => {
            write!(f, "{direction}: {} dropped by the host", Frames(frames))
        }
        Reason::PauseFrames { port, frames } => {
            write!(f, "port {port}: {}, pause should be off", Count(frames, "pause frame"))
        }
        Reason::ClockNotHeld => f.write_str("the CPU clock was not held"),
        Reason::HostBound { direction, rate, limit } => {
            write!(f, "host could not fill the line: {direction} {} of {limit}", Bare(rate))
        }
        Reason::Stalled { direction, time } => {
            let limit = super::LONGEST_STALL.as_millis();
            write!(f, "{direction}: the host stood still for {} ms, limit {limit} ms", time.as_millis())
        }
        Reason::WorkerDied { direction } => write!(f, "{direction}: the worker stopped working"),
        Reason::StoppedEarly => f.write_str("stopped early"),
        Reason::NotShown { direction } => {
            write!(f, "{direction}: not everything that PASS needs was seen")
        }
        _ => Ok(()),
    }
}

fn margin(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::SnrMargin { port, pair, tenths_db, limit_tenths_db } => {
            let (pair, margin, limit) = (pair_letter(pair), Tenths(tenths_db), Tenths(limit_tenths_db));
            write!(f, "port {port} pair {pair}: SNR margin {margin} dB, limit {limit} dB")
        }
        Reason::CorrectedBlocks { port, blocks } => {
            write!(f, "port {port}: {} corrected", Count(blocks, "block"))
        }
        Reason::FastRetrains { port, retrains } => {
            write!(f, "port {port}: {}", Count(retrains, "fast retrain"))
        }
        Reason::ReceivePower { port } => {
            write!(f, "port {port}: receive power under the module's warning threshold")
        }
        Reason::TooFewBits { direction, checked, needed } => {
            write!(f, "{direction}: {checked} of {needed} bits checked for the bound asked for")
        }
        _ => Ok(()),
    }
}

/// Characters that fit on a line of the smallest display: 128 pixels, 6 a character.
const BRIEF: usize = 21;

impl Reason {
    /// The reason for the smallest display: at most 21 ASCII characters, great counts abbreviated.
    #[must_use]
    pub fn brief(&self) -> heapless::String<32> {
        let mut line = heapless::String::new();
        let written = fmt::Write::write_fmt(&mut line, format_args!("{}", Brief(self)));
        debug_assert!(written.is_ok() && line.len() <= BRIEF, "'{line}' does not fit");
        line
    }
}

/// A reason that displays in brief.
struct Brief<'a>(&'a Reason);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use super::Rank;
        match self.0.rank() {
            Rank::Voiding => brief_voiding(self.0, f),
            Rank::Cable => brief_cable(self.0, f),
            Rank::Spoiling => brief_spoiling(self.0, f),
            Rank::Margin => brief_margin(self.0, f),
        }
    }
}

fn brief_voiding(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::NotALoop => f.write_str("not a loop"),
        Reason::Switch(_) => f.write_str("switch in the path"),
        Reason::AnotherGauge { on, .. } => write!(f, "another gauge on {on}"),
        Reason::ForeignTraffic { on, .. } => write!(f, "live network on {on}"),
        Reason::OwnStray { from, .. } => write!(f, "host uses port {from}"),
        Reason::OneEndOpen { down } => write!(f, "no link on {down}: open?"),
        Reason::DeviceGone { port } => write!(f, "port {port} is gone"),
        Reason::PortTaken { port } => write!(f, "host took port {port}"),
        Reason::CountersReset { port } => write!(f, "{port} counters reset"),
        Reason::Duplicated { direction, frames } => write!(f, "{direction} {} came twice", Short(frames)),
        Reason::Reordered { direction, frames } => write!(f, "{direction} {} reordered", Short(frames)),
        Reason::Misplaced { direction, frames } => write!(f, "{direction} {} misplaced", Short(frames)),
        Reason::UnknownOrigin { direction, frames } => {
            write!(f, "{direction} {} unexplained", Short(frames))
        }
        Reason::DamagedInside { direction, frames } => write!(f, "{direction} box hurt {}", Short(frames)),
        Reason::NothingSent { direction } => write!(f, "{direction} nothing sent"),
        _ => Ok(()),
    }
}

fn brief_cable(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::DeadDirection { direction } => write!(f, "{direction} dead"),
        Reason::NoLink { waited } => write!(f, "no link in {} s", Short(waited.as_secs())),
        Reason::Flapping { drops } => write!(f, "link flapping {}x", Short(drops)),
        Reason::LinkDown { port, changes } => write!(f, "{port} link changed {}x", Short(changes)),
        Reason::WrongSpeed { expected, got } => {
            write!(f, "link {}, not {}", Short(got.bits_per_second()), Short(expected.bits_per_second()))
        }
        Reason::CrcErrors { port, frames } => write!(f, "{port} CRC errors {}", Short(frames)),
        Reason::SymbolErrors { port, errors } => write!(f, "{port} symbol errors {}", Short(errors)),
        Reason::LinkFaults { port, faults } => write!(f, "{port} link faults {}", Short(faults)),
        Reason::Lost { direction, at_least, at_most, .. } if at_least == at_most => {
            write!(f, "{direction} lost {}", Short(at_least))
        }
        Reason::Lost { direction, at_least, at_most, .. } => {
            write!(f, "{direction} lost {}-{}", Short(at_least), Short(at_most))
        }
        Reason::Corrupt { direction, frames, .. } => write!(f, "{direction} damaged {}", Short(frames)),
        _ => Ok(()),
    }
}

fn brief_spoiling(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::SettingNotHeld { setting, port: None } => write!(f, "{setting} not held"),
        Reason::SettingNotHeld { setting, port: Some(port) } => write!(f, "{port} {setting} not held"),
        Reason::SpeedSetup { expected, got } => {
            write!(f, "set-up {} of {}", Short(got.bits_per_second()), Short(expected.bits_per_second()))
        }
        Reason::HostDrops { direction, frames } => write!(f, "{direction} host drops {}", Short(frames)),
        Reason::PauseFrames { port, frames } => write!(f, "{port} pause frames {}", Short(frames)),
        Reason::ClockNotHeld => f.write_str("CPU clock not held"),
        Reason::HostBound { direction, rate, .. } => {
            write!(f, "host: {direction} only {}", Short(rate.bits_per_second()))
        }
        Reason::Stalled { direction, time } => {
            let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            write!(f, "{direction} stood {} ms", Short(millis))
        }
        Reason::WorkerDied { direction } => write!(f, "{direction} worker died"),
        Reason::StoppedEarly => f.write_str("stopped early"),
        Reason::NotShown { direction } => write!(f, "{direction} not shown"),
        _ => Ok(()),
    }
}

fn brief_margin(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *reason {
        Reason::SnrMargin { port, pair, tenths_db, .. } => {
            write!(f, "{port} pair {} {} dB", pair_letter(pair), Tenths(tenths_db))
        }
        Reason::CorrectedBlocks { port, blocks } => write!(f, "{port} corrected {}", Short(blocks)),
        Reason::FastRetrains { port, retrains } => write!(f, "{port} retrained {}x", Short(retrains)),
        Reason::ReceivePower { port } => write!(f, "{port} low receive power"),
        Reason::TooFewBits { direction, .. } => write!(f, "{direction} too few bits"),
        _ => Ok(()),
    }
}

/// The name that 802.3 gives to a pair, counted from 0.
const fn pair_letter(pair: u8) -> char {
    match pair {
        0 => 'A',
        1 => 'B',
        2 => 'C',
        3 => 'D',
        _ => '?',
    }
}

/// A number and its noun, in the plural unless it is one.
struct Count(u64, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// So many frames.
struct Frames(u64);

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Count(self.0, "frame").fmt(f)
    }
}

/// Tenths of a unit as a decimal.
struct Tenths(i16);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        write!(f, "{sign}{}.{}", size / 10, size % 10)
    }
}

/// What a frame's type or length field says (IEEE 802.3, 3.2.6): below 0x0600 it is a length, as in a bridge's
/// hellos.
struct Protocol(u16);

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0x0600 { f.write_str("802.3 with LLC") } else { write!(f, "ethertype 0x{:04x}", self.0) }
    }
}

/// A rate in Gb/s whose unit follows with the next figure; cut and not rounded, so that a rate just under
/// its limit does not read as the limit.
struct Bare(BitRate);

impl fmt::Display for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = self.0.bits_per_second() / 1_000_000;
        write!(f, "{}.{:03}", mega / 1000, mega % 1000)
    }
}

/// A number in at most five characters: in full below 100 000, then cut to 123k, 2.5G, 18E.
struct Short(u64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 100_000 {
            return write!(f, "{}", self.0);
        }
        let (mut rest, mut unit) = (self.0, ' ');
        let mut tenths = 0;
        for next in ['k', 'M', 'G', 'T', 'P', 'E'] {
            if rest < 1000 {
                break;
            }
            (tenths, rest, unit) = (rest / 100 % 10, rest / 1000, next);
        }
        match (rest, tenths) {
            (0..10, 1..) => write!(f, "{rest}.{tenths}{unit}"),
            _ => write!(f, "{rest}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::one_of_each;
    use super::*;
    use crate::units::Side;
    use core::time::Duration;
    use proptest::prelude::*;
    use std::string::{String, ToString};

    /// The words for each reason of the list, in its order.
    const WORDS: [(&str, &str); 40] = [
        ("not a loop: no probe reached the other port", "not a loop"),
        ("a switch is in the path: it filters by address", "switch in the path"),
        ("another gauge: port A heard frames of its run deadbeef", "another gauge on A"),
        ("live network on port A: a frame from 02:00:00:00:00:09, ethertype 0x0800", "live network on A"),
        ("this host uses port A: it sent a frame of its own, ethertype 0x86dd", "host uses port A"),
        ("port B has no link: one end open?", "no link on B: open?"),
        ("port A is gone: the device went away", "port A is gone"),
        ("this host took port B: set down, or made part of a bridge or bond", "host took port B"),
        ("port B: its counters were reset", "B counters reset"),
        ("not a plain cable: A>B 1 frame came twice", "A>B 1 came twice"),
        ("not a plain cable: A>B 2 frames out of order", "A>B 2 reordered"),
        ("not a plain cable: A>B 3 frames far out of place", "A>B 3 misplaced"),
        ("A>B: 4 frames missing, and no counter can tell where", "A>B 4 unexplained"),
        ("damaged inside the box: A>B 5 frames behind a good FCS", "A>B box hurt 5"),
        ("A>B: nothing was sent", "A>B nothing sent"),
        ("B>A is dead: nothing arrived, A>B works", "B>A dead"),
        ("no link within 25 s", "no link in 25 s"),
        ("the link flaps: 3 drops within 30 s", "link flapping 3x"),
        ("port A: 2 link changes during the run", "A link changed 2x"),
        ("link at 1.000 of 10.000 Gb/s, which both ports offer", "link 1G, not 10G"),
        ("port B: 17 frames with a wrong FCS", "B CRC errors 17"),
        ("port B: 1 symbol error", "B symbol errors 1"),
        ("port A: 2 link faults reported", "A link faults 2"),
        ("A>B lost 17 of 73012345", "A>B lost 17"),
        ("B>A: 5 frames damaged, 5 bits wrong", "B>A damaged 5"),
        ("port A: setting mtu could not be held", "A mtu not held"),
        ("link at 2.500 of 10.000 Gb/s: check the set-up, it need not be the cable", "set-up 2.5G of 10G"),
        ("A>B: 40 frames dropped by the host", "A>B host drops 40"),
        ("port A: 1 pause frame, pause should be off", "A pause frames 1"),
        ("the CPU clock was not held", "CPU clock not held"),
        ("host could not fill the line: A>B 3.812 of 9.950 Gb/s", "host: A>B only 3.8G"),
        ("A>B: the host stood still for 1234 ms, limit 512 ms", "A>B stood 1234 ms"),
        ("A>B: the worker stopped working", "A>B worker died"),
        ("stopped early", "stopped early"),
        ("A>B: not everything that PASS needs was seen", "A>B not shown"),
        ("port A pair C: SNR margin 0.4 dB, limit 1.0 dB", "A pair C 0.4 dB"),
        ("port B: 12 blocks corrected", "B corrected 12"),
        ("port B: 1 fast retrain", "B retrained 1x"),
        ("port A: receive power under the module's warning threshold", "A low receive power"),
        ("A>B: 1000 of 2996000000000 bits checked for the bound asked for", "A>B too few bits"),
    ];

    #[test]
    fn each_reason_has_its_words() {
        for (reason, (line, brief)) in one_of_each().iter().zip(WORDS) {
            assert_eq!(reason.to_string(), line);
            assert_eq!(reason.brief(), brief, "{line}");
        }
    }

    #[test]
    fn reasons_with_two_forms_have_both() {
        let direction = Direction::AToB;
        let rows = [
            (
                Reason::Switch(SwitchSign::LinkStayedUp),
                "a switch is in the path: one port kept its link while the other was down",
                "switch in the path",
            ),
            (
                Reason::Lost { direction, at_least: 15, at_most: 17, sent: 73_012_345 },
                "A>B lost 15 to 17 of 73012345",
                "A>B lost 15-17",
            ),
            (
                Reason::Corrupt { direction, frames: 1, bit_errors: 0 },
                "A>B: 1 frame damaged",
                "A>B damaged 1",
            ),
            (
                Reason::SettingNotHeld { setting: Setting::Clock, port: None },
                "setting clock could not be held",
                "clock not held",
            ),
        ];
        for (reason, line, brief) in rows {
            assert_eq!(reason.to_string(), line);
            assert_eq!(reason.brief(), brief);
        }
    }

    /// Each reason that carries counts, with this one.
    fn with_count(frames: u64) -> [Reason; 23] {
        let (direction, port) = (Direction::BToA, Side::B);
        let (time, rate) = (Duration::from_millis(frames), BitRate::from_bits_per_second(frames));
        [
            Reason::Duplicated { direction, frames },
            Reason::Reordered { direction, frames },
            Reason::Misplaced { direction, frames },
            Reason::UnknownOrigin { direction, frames },
            Reason::DamagedInside { direction, frames },
            Reason::NoLink { waited: Duration::from_secs(frames) },
            Reason::Flapping { drops: frames },
            Reason::LinkDown { port, changes: frames },
            Reason::WrongSpeed { expected: rate, got: rate },
            Reason::CrcErrors { port, frames },
            Reason::SymbolErrors { port, errors: frames },
            Reason::LinkFaults { port, faults: frames },
            Reason::Lost { direction, at_least: frames / 2 + 1, at_most: frames, sent: frames },
            Reason::Corrupt { direction, frames, bit_errors: frames },
            Reason::SpeedSetup { expected: rate, got: rate },
            Reason::HostDrops { direction, frames },
            Reason::PauseFrames { port, frames },
            Reason::HostBound { direction, rate, limit: rate },
            Reason::Stalled { direction, time },
            Reason::SnrMargin { port, pair: u8::MAX, tenths_db: i16::MIN, limit_tenths_db: i16::MIN },
            Reason::CorrectedBlocks { port, blocks: frames },
            Reason::FastRetrains { port, retrains: frames },
            Reason::TooFewBits { direction, checked: frames, needed: frames },
        ]
    }

    fn assert_fits(reason: Reason) {
        let brief = reason.brief();
        assert!(brief.len() <= BRIEF && brief.is_ascii() && !brief.is_empty(), "'{brief}'");
        assert!(reason.to_string().is_ascii());
    }

    #[test]
    fn every_brief_fits_the_smallest_display() {
        let widest = [99_999, 100_000, 9_999_999, 999_999_999, u64::MAX].map(with_count);
        widest.into_iter().flatten().chain(one_of_each()).for_each(assert_fits);
    }

    proptest! {
        #[test]
        fn every_brief_fits_with_any_count(count in prop_oneof![0u64..1_000_000, any::<u64>()]) {
            with_count(count).into_iter().for_each(assert_fits);
        }
    }

    const SETTINGS: [(Setting, &str); 16] = [
        (Setting::Ports, "ports"),
        (Setting::Module, "module"),
        (Setting::Pcie, "pcie"),
        (Setting::Mtu, "mtu"),
        (Setting::Clock, "clock"),
        (Setting::DmaLatency, "latency"),
        (Setting::Pause, "pause"),
        (Setting::Eee, "eee"),
        (Setting::Steering, "steering"),
        (Setting::Rings, "rings"),
        (Setting::Ipv6, "ipv6"),
        (Setting::AddressGeneration, "addrgen"),
        (Setting::Arp, "arp"),
        (Setting::Lldp, "lldp"),
        (Setting::ReceiveBuffer, "rcvbuf"),
        (Setting::Promiscuous, "promisc"),
    ];

    #[test]
    fn settings_have_short_names_that_fit_every_brief() {
        for (setting, name) in SETTINGS {
            assert_eq!(setting.to_string(), name);
            let brief = Reason::SettingNotHeld { setting, port: Some(Side::A) }.brief();
            assert!(brief.len() <= BRIEF && brief.contains(name), "'{brief}'");
        }
    }

    #[test]
    fn verdicts_are_their_word_and_line_up() {
        let words =
            [Verdict::Pass, Verdict::Fail, Verdict::Marginal, Verdict::Invalid].map(|v| v.to_string());
        assert_eq!(words, ["PASS", "FAIL", "MARGINAL", "INVALID"].map(String::from));
        assert_eq!(std::format!("{:8}|", Verdict::Pass), "PASS    |");
    }

    #[test]
    fn great_counts_are_cut_to_five_characters() {
        let rows = [
            (0, "0"),
            (99_999, "99999"),
            (100_000, "100k"),
            (999_999, "999k"),
            (1_000_000, "1M"),
            (2_500_000_000, "2.5G"),
            (9_999_999_999, "9.9G"),
            (10_000_000_000, "10G"),
            (u64::MAX, "18E"),
        ];
        for (count, short) in rows {
            assert_eq!(Short(count).to_string(), short);
        }
    }

    #[test]
    fn tenths_keep_their_sign() {
        let shown = [-3, 0, 14, i16::MIN].map(|tenths| Tenths(tenths).to_string());
        assert_eq!(shown, ["-0.3", "0.0", "1.4", "-3276.8"].map(String::from));
    }
}

//! Reasons on the wire: a number and the figures that belong to it.
//!
//! Nothing but whole numbers, and as many as it says: a reader passes over a reason that it does not know, shows
//! its number, and goes on with the next; figures that a newer version adds at the end of a reason are ignored.

use super::codes::Coded;
use core::time::Duration;
use measure::units::{BitRate, Direction, MacAddress, Side, nanos};
use measure::verdict::{Reason, Setting, SwitchSign};
use serde::{Deserialize, Serialize};

/// Most figures that a reason has; a newer version may have as many.
const MOST_FIGURES: usize = 6;

/// A reason as the wire has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodedReason {
    /// Its number, from [`of`](CodedReason::of)'s table.
    pub code: u8,
    /// Its figures in the order of the table.
    pub figures: heapless::Vec<u64, MOST_FIGURES>,
}

/// The number of [`Reason::Switch`]; its figure is the sign.
const SWITCH: u8 = 2;

/// A value that is written as figures.
trait Figure: Sized {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>);
    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self>;
}

/// The table: for each reason its number and the order of its fields, both ways. A number is given once; a
/// later minor version adds rows at the end and fields at the end of a row. A reason without a row does not
/// compile.
macro_rules! reasons {
    ($($code:literal => $reason:ident { $($field:ident),* },)+) => {
        impl CodedReason {
            /// `reason` as the wire has it.
            #[must_use]
            pub fn of(reason: &Reason) -> Self {
                let mut figures = heapless::Vec::new();
                let code = match *reason {
                    // Alone among all it has a field without a name.
                    Reason::Switch(sign) => {
                        sign.put(&mut figures);
                        SWITCH
                    }
                    $(Reason::$reason { $($field),* } => {
                        $($field.put(&mut figures);)*
                        $code
                    })+
                };
                Self { code, figures }
            }

            /// The reason; none where this version does not know it, or a figure of it.
            #[must_use]
            pub fn reason(&self) -> Option<Reason> {
                let mut figures = self.figures.iter().copied();
                let figures = &mut figures;
                Some(match self.code {
                    SWITCH => Reason::Switch(Figure::take(figures)?),
                    $($code => Reason::$reason { $($field: Figure::take(figures)?),* },)+
                    _ => return None,
                })
            }
        }
    };
}

reasons! {
    1 => NotALoop {},
    3 => AnotherGauge { on, nonce },
    4 => ForeignTraffic { on, from, ethertype },
    5 => OwnStray { from, ethertype },
    6 => OneEndOpen { down },
    7 => DeviceGone { port },
    8 => PortTaken { port },
    9 => CountersReset { port },
    10 => Duplicated { direction, frames },
    11 => Reordered { direction, frames },
    12 => Misplaced { direction, frames },
    13 => UnknownOrigin { direction, frames },
    14 => DamagedInside { direction, frames },
    15 => NothingSent { direction },
    16 => DeadDirection { direction },
    17 => NoLink { waited },
    18 => Flapping { drops },
    19 => LinkDown { port, changes },
    20 => WrongSpeed { expected, got },
    21 => CrcErrors { port, frames },
    22 => SymbolErrors { port, errors },
    23 => LinkFaults { port, faults },
    24 => Lost { direction, at_least, at_most, sent },
    25 => Corrupt { direction, frames, bit_errors },
    26 => SettingNotHeld { setting, port },
    27 => SpeedSetup { expected, got },
    28 => HostDrops { direction, frames },
    29 => PauseFrames { port, frames },
    30 => ClockNotHeld {},
    31 => HostBound { direction, rate, limit },
    32 => Stalled { direction, time },
    33 => WorkerDied { direction },
    34 => StoppedEarly {},
    35 => NotShown { direction },
    36 => SnrMargin { port, pair, tenths_db, limit_tenths_db },
    37 => CorrectedBlocks { port, blocks },
    38 => FastRetrains { port, retrains },
    39 => ReceivePower { port },
    40 => TooFewBits { direction, checked, needed },
}

/// A reason has fewer fields than there is room for; the test over all of them sees to it.
fn push(figures: &mut heapless::Vec<u64, MOST_FIGURES>, figure: u64) {
    let _ = figures.push(figure);
}

/// Whole numbers are written as they are.
macro_rules! whole {
    ($($number:ty)+) => {
        $(impl Figure for $number {
            fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
                push(figures, self.into());
            }

            fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
                figures.next()?.try_into().ok()
            }
        })+
    };
}

/// Names are written as their numbers.
macro_rules! named {
    ($($name:ty)+) => {
        $(impl Figure for $name {
            fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
                push(figures, self.code().into());
            }

            fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
                Self::of_code(figures.next()?)
            }
        })+
    };
}

whole! { u8 u16 u32 u64 }
named! { Side Direction Setting SwitchSign }

/// 0 for none.
impl Figure for Option<Side> {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
        push(figures, self.map_or(0, |side| side.code().into()));
    }

    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
        match figures.next()? {
            0 => Some(None),
            code => Side::of_code(code).map(Some),
        }
    }
}

/// Zigzag: 0, -1, 1, -2 are 0, 1, 2, 3.
impl Figure for i16 {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
        let twice = u64::from(self.unsigned_abs()) * 2;
        push(figures, if self < 0 { twice - 1 } else { twice });
    }

    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
        let zigzag = i64::try_from(figures.next()?).ok()?;
        let value = if zigzag % 2 == 0 { zigzag / 2 } else { -(zigzag / 2) - 1 };
        value.try_into().ok()
    }
}

/// Nanoseconds.
impl Figure for Duration {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
        push(figures, nanos(self));
    }

    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
        figures.next().map(Self::from_nanos)
    }
}

/// bit/s.
impl Figure for BitRate {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
        push(figures, self.bits_per_second());
    }

    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
        figures.next().map(Self::from_bits_per_second)
    }
}

/// Six octets, the first the most significant.
impl Figure for MacAddress {
    fn put(self, figures: &mut heapless::Vec<u64, MOST_FIGURES>) {
        let [a, b, c, d, e, f] = self.0;
        push(figures, u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
    }

    fn take(figures: &mut impl Iterator<Item = u64>) -> Option<Self> {
        match figures.next()?.to_be_bytes() {
            [0, 0, a, b, c, d, e, f] => Some(Self([a, b, c, d, e, f])),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reason that there is, made of figures that are different from each other.
    fn all() -> Vec<Reason> {
        let made = |code| {
            let figures = [1, 2, 3, 4, 5, 6].into_iter().collect();
            CodedReason { code, figures }.reason()
        };
        (0..=255).filter_map(made).collect()
    }

    #[test]
    fn every_reason_comes_back_as_it_was() {
        let reasons = all();
        assert_eq!(reasons.len(), 40);
        for reason in reasons {
            let coded = CodedReason::of(&reason);
            assert_eq!(coded.reason(), Some(reason));
            assert!(coded.figures.len() < MOST_FIGURES, "{reason:?}: room for a figure of a newer version");
        }
    }

    #[test]
    fn figures_at_their_limits_come_back_as_they_were() {
        for tenths_db in [i16::MIN, -1, 0, 1, i16::MAX] {
            let (port, pair, limit_tenths_db) = (Side::B, u8::MAX, tenths_db);
            let margin = Reason::SnrMargin { port, pair, tenths_db, limit_tenths_db };
            assert_eq!(CodedReason::of(&margin).reason(), Some(margin));
        }
        for port in [None, Some(Side::A), Some(Side::B)] {
            let reason = Reason::SettingNotHeld { setting: Setting::Eee, port };
            assert_eq!(CodedReason::of(&reason).reason(), Some(reason));
        }
        let (on, from) = (Side::A, MacAddress([0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54]));
        let foreign = Reason::ForeignTraffic { on, from, ethertype: 0xffff };
        assert_eq!(CodedReason::of(&foreign).reason(), Some(foreign));
    }

    #[test]
    fn a_newer_reason_is_unknown_and_a_newer_figure_ignored() {
        let mut lost = CodedReason::of(&Reason::NotShown { direction: Direction::BToA });
        lost.figures.push(u64::MAX).unwrap();
        assert_eq!(lost.reason(), Some(Reason::NotShown { direction: Direction::BToA }));
        lost.code = 41;
        assert_eq!(lost.reason(), None);
    }

    #[test]
    fn a_figure_out_of_its_range_is_no_reason() {
        for (code, figures) in [(2, [9, 0, 0]), (3, [1, 1 << 32, 0]), (4, [1, 1 << 48, 0]), (26, [3, 3, 0])] {
            let reason = CodedReason { code, figures: figures.into_iter().collect() };
            assert_eq!(reason.reason(), None, "{reason:?}");
        }
        assert_eq!(CodedReason { code: 24, figures: [1, 2].into_iter().collect() }.reason(), None);
    }
}

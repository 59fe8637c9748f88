//! The numbers by which the wire knows what has a name.
//!
//! A number is given once and never to anything else; a later minor version adds at the end. The tables are the
//! wire's own: the enums of the measuring core may be put in another order without a changed octet.

use measure::record::Phase;
use measure::units::{Direction, Side};
use measure::verdict::{Setting, SwitchSign, Verdict};

/// What has a number on the wire.
pub(in crate::journal) trait Coded: Sized {
    /// Its number.
    fn code(self) -> u8;

    /// What has the number; none where a newer version has given it.
    fn of_code(code: u64) -> Option<Self>;
}

/// Numbers the variants of an enum, both ways; one without a number does not compile.
macro_rules! codes {
    ($($name:ident { $($code:literal => $variant:ident,)+ })+) => {
        $(impl Coded for $name {
            fn code(self) -> u8 {
                match self {
                    $($name::$variant => $code,)+
                }
            }

            fn of_code(code: u64) -> Option<Self> {
                match code {
                    $($code => Some($name::$variant),)+
                    _ => None,
                }
            }
        })+
    };
}

codes! {
    Verdict {
        1 => Pass,
        2 => Fail,
        3 => Marginal,
        4 => Invalid,
    }

    Phase {
        1 => Settings,
        2 => Link,
        3 => LoopCheck,
        4 => Settle,
        5 => Run,
        6 => Drain,
        7 => Done,
        8 => Wait,
    }

    Side {
        1 => A,
        2 => B,
    }

    Direction {
        1 => AToB,
        2 => BToA,
    }

    SwitchSign {
        1 => FilteredAddress,
        2 => LinkStayedUp,
    }

    // At most 31: they are bits of a `Marks`.
    Setting {
        0 => Ports,
        1 => Module,
        2 => Pcie,
        3 => Mtu,
        4 => Clock,
        5 => DmaLatency,
        6 => Pause,
        7 => Eee,
        8 => Steering,
        9 => Rings,
        10 => Ipv6,
        11 => AddressGeneration,
        12 => Arp,
        13 => Lldp,
        14 => ReceiveBuffer,
        15 => Promiscuous,
    }
}

/// Figures that a box may not have, by number from 0: bits of a `Marks`, so at most 31 of them and the rest.
const FIGURES: [&str; 12] = [
    "frames sent by the MAC",
    "frames received by the MAC",
    "transmit drops",
    "receive drops",
    "missed frames",
    "CRC errors",
    "symbol errors",
    "local and remote faults",
    "pause frames",
    "SNR margin",
    "temperature",
    "package power",
];

/// The number of any figure that has none of its own.
const OTHER_FIGURE: u8 = 31;

/// A figure's number.
pub(super) fn figure_code(what: &str) -> u8 {
    let at = FIGURES.iter().position(|&figure| figure == what);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(OTHER_FIGURE)
}

/// The figure that has a number.
pub(in crate::journal) fn figure(code: u8) -> &'static str {
    FIGURES.get(usize::from(code)).copied().unwrap_or("another figure")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_name_are_a_pair() {
        fn check<T: Coded + Copy + PartialEq + std::fmt::Debug>(known: usize) {
            let named: Vec<_> = (0..=255_u8).filter(|&code| T::of_code(code.into()).is_some()).collect();
            assert_eq!(named.len(), known);
            assert!(named.into_iter().all(|code| T::of_code(code.into()).map(T::code) == Some(code)));
            assert_eq!(T::of_code(u64::MAX), None);
        }
        check::<Verdict>(4);
        check::<Phase>(8);
        check::<Side>(2);
        check::<Direction>(2);
        check::<SwitchSign>(2);
        check::<Setting>(16);
    }

    #[test]
    fn a_figure_without_a_number_is_another_one() {
        assert!(FIGURES.iter().all(|what| figure(figure_code(what)) == *what));
        assert_eq!(figure(figure_code("moon phase")), "another figure");
        assert_eq!(figure(200), "another figure");
    }
}

//! From one word to one value; a refusal completes the sentence that the option and its value begin.

use super::request::{CableEnd, LogTarget};
use crate::board::{CableKind, DURATION_RIGHT, DurationArg, SizeMix};
use crate::journal::reader::{Format, Rows};
use measure::units::{BitRate, MAX_STREAMS};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Longest label in characters: what fits a line of the display and a QR code with all the rest.
const LONGEST_LABEL: usize = 32;

/// Confidences that the bound is computed for.
const CONFIDENCES: RangeInclusive<f64> = 0.5..=0.999_999;

/// Least bound: 1e-18 takes 9.5 years at 10 Gb/s, and its bits still fit 64 bits.
const LEAST_BOUND: f64 = 1e-18;

/// Rates that can be asked for, in bit/s: from the least a board can pace to the fastest port there is.
const RATES: RangeInclusive<f64> = 1e6..=400e9;

/// Seconds a bench can take for each mix.
const BENCH_SECONDS: RangeInclusive<f64> = 0.1..=3600.0;

/// Bit rates of a serial port, as a board file takes them.
const BAUDS: RangeInclusive<u32> = 1200..=4_000_000;

/// Endings of a rate with their factors, the longer before the shorter that they end with.
const RATE_UNITS: [(&str, f64); 7] =
    [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("Gb/s", 1e9), ("Mb/s", 1e6), ("G", 1e9), ("M", 1e6), ("", 1e6)];

pub(super) fn cable(text: &str) -> Result<CableKind, String> {
    text.parse().map_err(|right| format!("must be {right}"))
}

pub(super) fn duration(text: &str) -> Result<DurationArg, String> {
    text.parse().map_err(|_| format!("must be {DURATION_RIGHT}"))
}

pub(super) fn mix(text: &str) -> Result<SizeMix, &'static str> {
    SizeMix::parse(text)
        .map_err(|_| "must be jumbo, rfc2544, small or up to 16 sizes from 64 to 9216 octets (FCS counted)")
}

pub(super) fn streams(text: &str) -> Result<u8, String> {
    let streams: Option<u8> = text.parse().ok();
    streams
        .filter(|streams| (1..=MAX_STREAMS).contains(&usize::from(*streams)))
        .ok_or_else(|| format!("must be 1 to {MAX_STREAMS} (streams a direction)"))
}

pub(super) fn rate(text: &str) -> Result<BitRate, &'static str> {
    RATE_UNITS
        .iter()
        .find_map(|(unit, factor)| Some(decimal(text.strip_suffix(unit)?.trim_end())? * factor))
        .map(f64::round)
        .filter(|bits| RATES.contains(bits))
        .map(whole_bits)
        .ok_or("must be 1M to 400G, like 500M, 2.5G or 1000 (a plain number is Mb/s)")
}

/// Digits and a point: what `f64` takes beyond them ("inf", "1e9") is no rate that a person means.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.');
    plain.then(|| text.parse().ok())?
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded and inside RATES")]
fn whole_bits(bits: f64) -> BitRate {
    BitRate::from_bits_per_second(bits as u64)
}

pub(super) fn bound(text: &str) -> Result<f64, &'static str> {
    let bound: Option<f64> = text.parse().ok();
    bound
        .filter(|bound| (LEAST_BOUND..1.0).contains(bound))
        .ok_or("must be a bit error ratio from 1e-18 to under 1, like 1e-12")
}

pub(super) fn confidence(text: &str) -> Result<f64, &'static str> {
    let confidence: Option<f64> = match text.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    };
    confidence
        .filter(|confidence| CONFIDENCES.contains(confidence))
        .ok_or("must be 0.5 to 0.999999, like 0.95 or 95%")
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("must be a whole number from 0 to {}", u64::MAX))
}

pub(super) fn label(text: &str) -> Result<String, String> {
    let printable = text.bytes().all(|octet| octet == b' ' || octet.is_ascii_graphic());
    let fits = printable && text.len() <= LONGEST_LABEL;
    if fits {
        Ok(text.to_owned())
    } else {
        Err(format!("must be at most {LONGEST_LABEL} printable ASCII characters"))
    }
}

pub(super) fn log(text: &str) -> Result<LogTarget, &'static str> {
    if text == "-" { Ok(LogTarget::StandardOutput) } else { file(text).map(LogTarget::File) }
}

pub(super) fn file(text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() { Err("must be a file") } else { Ok(PathBuf::from(text)) }
}

pub(super) fn format(text: &str) -> Result<Format, &'static str> {
    match text {
        "text" => Ok(Format::Text),
        "jsonl" => Ok(Format::JsonLines),
        "csv" => Ok(Format::Csv),
        _ => Err("must be text, jsonl or csv"),
    }
}

pub(super) fn last(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|count| *count > 0).ok_or("must be a whole number from 1")
}

pub(super) fn rows(text: &str) -> Result<Rows, &'static str> {
    match text {
        "both" => Ok(Rows::Both),
        "runs" => Ok(Rows::Runs),
        "seconds" => Ok(Rows::Seconds),
        _ => Err("must be both, runs or seconds"),
    }
}

pub(super) fn baud(text: &str) -> Result<u32, &'static str> {
    let baud: Option<u32> = text.parse().ok();
    baud.filter(|baud| BAUDS.contains(baud)).ok_or("must be a whole number from 1200 to 4000000")
}

pub(super) fn cable_end(text: &str) -> Result<CableEnd, &'static str> {
    match text.split_once(':') {
        Some((cable, port)) if !cable.is_empty() && !port.is_empty() && cable != port => {
            Ok(CableEnd { cable: PathBuf::from(cable), port: PathBuf::from(port) })
        }
        _ => Err("must be two different sockets with a colon between, the cable's and the port's"),
    }
}

pub(super) fn bench_seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds: Option<f64> = text.parse().ok();
    seconds
        .filter(|seconds| BENCH_SECONDS.contains(seconds))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or("must be 0.1 to 3600 seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mega(text: &str) -> Option<u64> {
        rate(text).ok().map(|rate| rate.bits_per_second() / 1_000_000)
    }

    #[test]
    fn a_rate_has_a_unit_and_a_plain_number_is_megabits() {
        for (text, expected) in [
            ("1G", 1000),
            ("2.5G", 2500),
            ("2.5 Gb/s", 2500),
            ("500M", 500),
            ("500Mbit/s", 500),
            ("1000", 1000),
            ("0.001G", 1),
            ("400G", 400_000),
        ] {
            assert_eq!(mega(text), Some(expected), "{text}");
        }
        assert_eq!(rate("9.953280G").unwrap().bits_per_second(), 9_953_280_000);
    }

    #[test]
    fn rates_without_sense_are_refused() {
        for text in [
            "", "0", "0G", "-1", "+1G", "G", "1g", "1T", "401G", "inf", "nan", "1e3", "1e400", "1..2", ".",
            "0.9M",
        ] {
            assert_eq!(mega(text), None, "{text}");
        }
    }

    #[test]
    fn a_confidence_is_a_fraction_or_a_percentage() {
        assert_eq!(confidence("0.95"), Ok(0.95));
        assert_eq!(confidence("95%"), Ok(0.95));
        assert_eq!(confidence("50%"), Ok(0.5));
        assert_eq!(confidence("99.9999%"), Ok(0.999_999));
        for text in ["1", "100%", "0.49", "95", "nan", "", "%", "-0.95"] {
            assert!(confidence(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bound_is_between_nothing_and_one() {
        assert_eq!(bound("1e-12"), Ok(1e-12));
        for text in ["0", "1", "-1e-12", "1e-400", "1e-19", "nan", "inf", ""] {
            assert!(bound(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_label_is_short_and_printable() {
        assert_eq!(label("rack 7 / blue").as_deref(), Ok("rack 7 / blue"));
        assert!(label(&"x".repeat(32)).is_ok());
        assert!(label(&"x".repeat(33)).is_err());
        assert!(label("caf\u{e9}").is_err());
    }

    #[test]
    fn a_cable_end_is_two_sockets() {
        let end = cable_end("/run/cable-a:/run/port-a").unwrap();
        assert_eq!((end.cable.to_str(), end.port.to_str()), (Some("/run/cable-a"), Some("/run/port-a")));
        for text in ["", ":", "cable", "cable:", ":port", "same:same"] {
            assert!(cable_end(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_log_goes_to_standard_output_or_a_file() {
        assert_eq!(log("-"), Ok(LogTarget::StandardOutput));
        assert_eq!(log("run.log"), Ok(LogTarget::File(PathBuf::from("run.log"))));
        assert!(log("").is_err());
    }
}

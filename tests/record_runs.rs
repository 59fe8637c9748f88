//! The records of whole runs in virtual time: what they say is what the report says, in few octets.

mod common;

use common::{Outcome, Run};
use linegauge::journal::record::body::{Account, Summary};
use linegauge::journal::record::{Decoder, Record, Recorder, SUMMARY_BELOW};
use measure::record::Event;

/// The frames of a run's events, each with its event.
fn frames(outcome: &Outcome) -> Vec<(Event, Vec<u8>)> {
    let mut recorder = Recorder::new("model-1", None);
    let frame = |stamped| Some((recorder.take(stamped)?, &stamped.event));
    outcome.events.iter().filter_map(frame).map(|(frame, event)| (event.clone(), frame.to_vec())).collect()
}

fn summary(outcome: &Outcome) -> Summary {
    let mut decoder = Decoder::default();
    let octets = frames(outcome).into_iter().flat_map(|(_, frame)| frame);
    let records: Vec<_> = octets.filter_map(|octet| decoder.take(octet)).collect();
    assert!(decoder.skipped().is_nothing(), "{}", decoder.skipped());
    match records.into_iter().last() {
        Some(Record::Summary(summary)) => summary,
        other => panic!("{other:?}"),
    }
}

fn runs() -> [Outcome; 4] {
    [&[][..], &["a>b drop 17", "b>a flip 5"], &["a>b dead"], &["switch"]].map(|faults| Run::with(faults).go())
}

#[test]
fn a_summary_says_what_the_report_says() {
    for outcome in runs() {
        let (summary, report) = (summary(&outcome), &outcome.report);
        let reasons: Vec<_> = summary.reasons.iter().filter_map(|coded| coded.reason()).collect();
        assert_eq!(reasons, report.judgement.reasons.as_slice());
        assert_eq!((summary.run, summary.reasons_left_out), (report.run, 0));
        for ((account, direction), ber) in summary.accounts.iter().zip(&report.directions).zip(&report.ber) {
            let Account { sent, received, good, corrupt, missing, .. } = account.unwrap();
            assert_eq!([sent, received, good], [direction.sent, direction.received, direction.good]);
            assert_eq!([corrupt, missing], [direction.corrupt, direction.missing]);
            let Account { lost_at_least, lost_at_most, bit_errors, checked_bits, ber_bound, .. } =
                account.unwrap();
            assert_eq!([lost_at_least, lost_at_most], [direction.lost.at_least, direction.lost.at_most]);
            assert_eq!((bit_errors, checked_bits), (direction.bit_errors, direction.checked_bits));
            assert_eq!(ber_bound, ber.bound);
            assert_eq!(account.unwrap().steady_bps, direction.steady.map(|rate| rate.bits_per_second()));
        }
    }
}

#[test]
fn a_run_takes_at_most_64_octets_a_second_and_under_400_for_its_summary() {
    for outcome in runs() {
        for (event, frame) in frames(&outcome) {
            match event {
                Event::Rate { .. } => assert!(frame.len() <= 64, "{}", frame.len()),
                Event::End => assert!(frame.len() < SUMMARY_BELOW, "{}", frame.len()),
                _ => {}
            }
        }
    }
}

//! The cable's own account, number by number against the report.

use super::gauge::Ended;
use serde_json::Value;
use std::collections::BTreeMap;

/// Numbers by name; what is not there is zero, as the account leaves it out.
pub struct Numbers(BTreeMap<String, u64>);

impl Numbers {
    /// Reads `name 3, other name 4 of 5 asked`.
    fn of(text: &str) -> Self {
        let mut numbers = BTreeMap::new();
        for field in text.split(", ") {
            let words: Vec<&str> = field.split(' ').collect();
            let at = words.iter().position(|word| word.parse::<u64>().is_ok()).unwrap();
            let name = words[..at].join(" ");
            match words[at + 1..] {
                [] => None,
                ["of", asked, "asked"] => numbers.insert(format!("{name} asked"), asked.parse().unwrap()),
                _ => panic!("{field:?} is no field of the account"),
            };
            numbers.insert(name, words[at].parse().unwrap());
        }
        Self(numbers)
    }

    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Everything that was asked for was done.
    fn assert_all_done(&self) {
        for (name, asked) in &self.0 {
            if let Some(done) = name.strip_suffix(" asked") {
                assert_eq!(self.get(done), *asked, "{done}");
            }
        }
    }
}

/// The account's only line that begins with `truth` and `subject`.
fn line<'a>(ended: &'a Ended, subject: &str) -> &'a str {
    let start = format!("truth {subject} ");
    let mut lines = ended.out.lines().filter_map(|line| line.strip_prefix(&start));
    lines.next().unwrap_or_else(|| panic!("no {start:?} in\n{}", ended.out))
}

/// What a port sent: `probes` and `test frames`.
pub fn sent_by(ended: &Ended, port: &str) -> Numbers {
    Numbers::of(line(ended, port).strip_prefix("sent ").unwrap())
}

/// What became of the test frames of a direction.
pub fn test_frames(ended: &Ended, direction: &str) -> Numbers {
    Numbers::of(line(ended, direction))
}

/// The account has come to its end and says of both directions what the report says.
pub fn compare(ended: &Ended) {
    let report = ended.json();
    for (direction, object, port) in [("A>B", "a_to_b", "A"), ("B>A", "b_to_a", "B")] {
        let truth = test_frames(ended, direction);
        compare_direction(&report[object], &truth);
        truth.assert_all_done();
        let left = sent_by(ended, port);
        assert_eq!(left.get("test frames"), number(&report[object], "sent"), "{direction} sent");
        assert_eq!(left.get("probes"), number(&report[object], "probes_sent"), "{direction} probes");
        assert_eq!(left.get("others"), 0, "{direction}");
    }
}

pub fn number(object: &Value, name: &str) -> u64 {
    object[name].as_u64().unwrap_or_else(|| panic!("{name} is no number in {object}"))
}

fn compare_direction(report: &Value, truth: &Numbers) {
    let told = |name: &str| number(report, name);
    let lost = truth.get("dropped") + truth.get("fcs") + truth.get("lost while down");
    let unreadable = truth.get("headers hit") + truth.get("ethertypes hit");
    let corrupt = truth.get("flipped") + truth.get("truncated");
    assert_eq!(told("sent"), truth.get("carried"), "sent");
    assert!((told("lost")..=told("lost_at_most")).contains(&lost), "{lost} lost, {report}");
    if unreadable == 0 {
        assert_eq!((told("lost"), told("lost_at_most")), (lost, lost), "lost exactly");
        assert_eq!(told("received"), truth.get("delivered"), "received");
        assert_eq!(told("bit_errors"), truth.get("readable bits"), "bit errors");
    }
    assert!(told("unidentified") <= unreadable, "unidentified");
    assert_eq!(told("corrupt"), corrupt, "corrupt");
    assert_eq!(told("duplicates"), truth.get("duplicated"), "duplicates");
    assert_eq!(told("reordered"), truth.get("reordered"), "reordered");
    assert_eq!((told("host"), told("unknown")), (0, 0), "host and unknown");
    let accounted = told("good") + told("corrupt") - told("unidentified") + told("missing");
    assert_eq!(told("sent"), accounted, "sent = good + corrupt + missing");
}

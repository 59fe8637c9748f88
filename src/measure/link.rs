//! Is there a link: both ports up, at the same speed, for long enough.

use crate::record::{Text, text};
use crate::units::{BitRate, Instant, Side};
use crate::verdict::{Reason, Setting};
use core::time::Duration;

/// How long both ports must be up in a row, or down in a row, to count as that.
pub const HOLD: Duration = Duration::from_secs(2);

/// How long a link may take after a button press; in auto mode, how long half a link may last.
pub const PATIENCE: Duration = Duration::from_secs(25);

/// So many drops within [`FLAP_WINDOW`] while waiting are a flapping link.
const FLAP_DROPS: usize = 3;

/// The time within which drops add up.
const FLAP_WINDOW: Duration = Duration::from_secs(30);

/// The speeds that Linux gives a name, Mb/s (`SPEED_*` of `linux/ethtool.h`).
const SPEEDS_MBPS: [u32; 17] = [
    10, 100, 1_000, 2_500, 5_000, 10_000, 14_000, 20_000, 25_000, 40_000, 50_000, 56_000, 100_000, 200_000,
    400_000, 800_000, 1_600_000,
];

/// The link speed behind a raw figure in Mb/s, as sysfs and ethtool give it.
///
/// None for anything that is not a speed Ethernet has: −1, 0 and all-ones stand for *unknown* there.
#[must_use]
pub fn known_speed(raw: i64) -> Option<BitRate> {
    let mbps = SPEEDS_MBPS.into_iter().find(|&mbps| i64::from(mbps) == raw)?;
    Some(BitRate::from_mbps(mbps.into()))
}

/// A port's link as read at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkReading {
    /// Carrier; none where it cannot be read.
    pub carrier: Option<bool>,
    /// Negotiated speed; none where unknown (down, −1, 0, all-ones, or not on the list of known speeds).
    pub speed: Option<BitRate>,
    /// Carrier changes since the device appeared (IFLA_CARRIER_CHANGES); none where not counted.
    pub changes: Option<u64>,
    /// The port advertises the board's speed; none where it cannot be read.
    pub advertises: Option<bool>,
    /// The port is set down, or belongs to a bridge or bond: the host's doing, not the cable's.
    pub taken: bool,
}

/// Whether a link below the board's speed is the cable's fault; none where it is not below.
///
/// It is only if both ports offer the board's speed and the loop check has passed at the lower one:
/// else a port, a module or what is plugged in may be the cause.
#[must_use]
pub fn judge_speed(
    expected: BitRate,
    got: BitRate,
    ports: [LinkReading; 2],
    loop_passed: bool,
) -> Option<Reason> {
    if got >= expected {
        return None;
    }
    let both_offer = ports.iter().all(|port| port.advertises == Some(true));
    Some(if both_offer && loop_passed {
        Reason::WrongSpeed { expected, got }
    } else {
        Reason::SpeedSetup { expected, got }
    })
}

/// What to wait for, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// The board's speed: both ports must then tell theirs; none for any, told or not.
    pub speed: Option<BitRate>,
    /// How long the link must hold ([`HOLD`]).
    pub hold: Duration,
    /// When to give up: [`PATIENCE`] after a button press, never in auto mode, where the box just waits.
    pub give_up: Option<Duration>,
}

impl LinkConfig {
    /// Somebody pressed the button: a link is due.
    #[must_use]
    pub const fn button(speed: Option<BitRate>) -> Self {
        Self { speed, hold: HOLD, give_up: Some(PATIENCE) }
    }

    /// Nobody did: a cable may be plugged in at any time.
    #[must_use]
    pub const fn auto(speed: Option<BitRate>) -> Self {
        Self { speed, hold: HOLD, give_up: None }
    }
}

/// Where the wait for a link stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkState {
    /// No link yet, or not for long enough.
    Waiting,
    /// Both ports have been up at the same speed for the hold time.
    Up {
        /// That speed; none where neither port tells it.
        speed: Option<BitRate>,
    },
    /// There will be no run, for this reason.
    Stuck(Reason),
}

/// What both ports show together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// Neither has link.
    Down,
    /// Only the other one has link.
    OneDown(Side),
    /// A port's carrier cannot be read: that is not the same as none.
    Unreadable(Side),
    /// Both have link, but this one's speed is not told.
    Speedless(Side),
    /// Both have link, at different speeds.
    Unequal,
    /// Both have link, at the same speed.
    Good(Option<BitRate>),
}

impl Sight {
    fn of(ports: [LinkReading; 2], needs_speed: bool) -> Self {
        let [a, b] = ports;
        match (a.carrier, b.carrier) {
            (None, _) => Self::Unreadable(Side::A),
            (_, None) => Self::Unreadable(Side::B),
            (Some(false), Some(false)) => Self::Down,
            (Some(false), _) => Self::OneDown(Side::A),
            (_, Some(false)) => Self::OneDown(Side::B),
            _ if needs_speed && a.speed.is_none() => Self::Speedless(Side::A),
            _ if needs_speed && b.speed.is_none() => Self::Speedless(Side::B),
            _ if a.speed == b.speed => Self::Good(a.speed),
            _ => Self::Unequal,
        }
    }
}

/// Waits for a link, in virtual or real time.
#[derive(Clone, Debug)]
pub struct LinkWatch {
    config: LinkConfig,
    start: Instant,
    sight: Option<Sight>,
    since: Instant,
    drops: [Drops; 2],
    faults: [u64; 2],
    stuck: Option<Reason>,
}

impl LinkWatch {
    /// A watch that begins at `start`.
    #[must_use]
    pub fn new(config: LinkConfig, start: Instant) -> Self {
        Self {
            config,
            start,
            sight: None,
            since: start,
            drops: [Drops::default(), Drops::default()],
            faults: [0; 2],
            stuck: None,
        }
    }

    /// Takes note of local and remote faults that `port` has reported since the watch began
    /// (IEEE 802.3, 46.3.4): with them, a port that is up alone speaks against the cable.
    pub fn note_faults(&mut self, port: Side, faults: u64) {
        let [a, b] = &mut self.faults;
        let noted = if port == Side::A { a } else { b };
        *noted = faults.max(*noted);
    }

    /// Takes one reading of both ports and says where the wait stands. A watch that is stuck stays stuck.
    pub fn see(&mut self, now: Instant, ports: [LinkReading; 2]) -> LinkState {
        self.look(now, ports);
        if self.stuck.is_none() {
            self.stuck = self.flapping().or_else(|| self.overdue(now));
        }
        match (self.stuck, self.sight) {
            (Some(reason), _) => LinkState::Stuck(reason),
            (None, Some(Sight::Good(speed))) if self.lasted(now) >= self.config.hold => {
                LinkState::Up { speed }
            }
            _ => LinkState::Waiting,
        }
    }

    /// What is being waited for, in words for the display.
    #[must_use]
    pub fn hint(&self) -> Text {
        match self.sight {
            None => text("reading the link"),
            Some(Sight::Down) => text("no link on A and B"),
            Some(Sight::OneDown(port)) => text(format_args!("port {port} has no link")),
            Some(Sight::Unreadable(port)) => text(format_args!("port {port} does not tell its link")),
            Some(Sight::Speedless(port)) => text(format_args!("port {port} does not tell its speed")),
            Some(Sight::Unequal) => text("the ports differ in speed"),
            Some(Sight::Good(_)) => text("link is up, must hold"),
        }
    }

    /// The present sight begins anew where anything moved, even between two readings.
    fn look(&mut self, now: Instant, ports: [LinkReading; 2]) {
        let sight = Sight::of(ports, self.config.speed.is_some());
        let mut moved = self.sight != Some(sight);
        for (drops, port) in self.drops.iter_mut().zip(ports) {
            moved |= drops.see(now, port);
        }
        if moved {
            self.sight = Some(sight);
            self.since = now;
        }
    }

    fn lasted(&self, now: Instant) -> Duration {
        now.since(self.since)
    }

    fn flapping(&self) -> Option<Reason> {
        let [a, b] = &self.drops;
        // One break of the cable is a drop at either port: they do not add up.
        let drops = a.recent.max(b.recent);
        (drops >= FLAP_DROPS as u64).then_some(Reason::Flapping { drops })
    }

    /// The reason to give up waiting, once it is time.
    fn overdue(&self, now: Instant) -> Option<Reason> {
        let waited = now.since(self.start);
        let time_is_up = self.config.give_up.map(|limit| waited >= limit);
        if self.sight == Some(Sight::Down) {
            return (time_is_up == Some(true)).then_some(Reason::NoLink { waited });
        }
        // The ports of one link come up one after the other: half a link has to last to be called that.
        let needed = if time_is_up.is_some() { self.config.hold } else { PATIENCE };
        if time_is_up == Some(false) || self.lasted(now) < needed {
            return None;
        }
        self.obstacle()
    }

    /// What keeps the present sight from being a link.
    fn obstacle(&self) -> Option<Reason> {
        let ports_not_held = |port| Reason::SettingNotHeld { setting: Setting::Ports, port };
        match self.sight? {
            Sight::OneDown(down) => Some(self.one_down(down)),
            Sight::Unreadable(port) | Sight::Speedless(port) => Some(ports_not_held(Some(port))),
            Sight::Unequal => Some(ports_not_held(None)),
            Sight::Down | Sight::Good(_) => None,
        }
    }

    fn one_down(&self, down: Side) -> Reason {
        let [a, b] = self.faults;
        let port = down.other();
        match if port == Side::A { a } else { b } {
            0 => Reason::OneEndOpen { down },
            faults => Reason::LinkFaults { port, faults },
        }
    }
}

/// One port's drops.
#[derive(Clone, Debug, Default)]
struct Drops {
    last: Option<LinkReading>,
    /// The moments at which they were seen, oldest first.
    times: heapless::Deque<Instant, FLAP_DROPS>,
    /// Drops within the window, those that `times` has no room for included.
    recent: u64,
}

impl Drops {
    /// Takes a reading; tells whether the carrier moved since the last one, seen or only counted.
    fn see(&mut self, now: Instant, reading: LinkReading) -> bool {
        self.forget(now);
        let Some(last) = self.last.replace(reading) else { return false };
        let changes = counted_changes(last, reading);
        let was_up = last.carrier == Some(true);
        self.add(
            now,
            match changes {
                // Up and down alternate, so the state before tells how many of the changes were drops.
                Some(changes) if was_up => changes.div_ceil(2),
                Some(changes) => changes / 2,
                None => u64::from(was_up && reading.carrier == Some(false)),
            },
        );
        changes.is_some_and(|changes| changes > 0) || last.carrier != reading.carrier
    }

    fn add(&mut self, now: Instant, drops: u64) {
        self.recent = self.recent.saturating_add(drops);
        for _ in 0..drops {
            if self.times.push_back(now).is_err() {
                break;
            }
        }
    }

    fn forget(&mut self, now: Instant) {
        while self.times.front().is_some_and(|&oldest| now.since(oldest) > FLAP_WINDOW) {
            self.times.pop_front();
            self.recent = self.recent.saturating_sub(1);
        }
    }
}

/// Carrier changes between two readings; none where they were not counted, or the counter stepped back.
fn counted_changes(last: LinkReading, now: LinkReading) -> Option<u64> {
    now.changes?.checked_sub(last.changes?)
}

/// Arms the next automatic run once both ports have been down for [`HOLD`] in a row, and stays armed:
/// a flapping cable cannot talk itself into a PASS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rearm {
    down_since: Option<Instant>,
    armed: bool,
}

impl Rearm {
    /// Not armed: a verdict has just been given.
    #[must_use]
    pub const fn new() -> Self {
        Self { down_since: None, armed: false }
    }

    /// Takes one reading and tells whether the next run may start by itself.
    pub fn see(&mut self, now: Instant, both_down: bool) -> bool {
        if both_down {
            let since = *self.down_since.get_or_insert(now);
            self.armed |= now.since(since) >= HOLD;
        } else {
            self.down_since = None;
        }
        self.armed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const TEN: Option<BitRate> = Some(BitRate::from_mbps(10_000));
    const ONE: Option<BitRate> = Some(BitRate::from_mbps(1_000));
    const DOWN: LinkReading =
        LinkReading { carrier: Some(false), speed: None, changes: None, advertises: None, taken: false };
    const UP: LinkReading = LinkReading { carrier: Some(true), speed: TEN, ..DOWN };
    const UNREADABLE: LinkReading = LinkReading { carrier: None, ..DOWN };
    const SPEEDLESS: LinkReading = LinkReading { speed: None, ..UP };
    const SLOW: LinkReading = LinkReading { speed: ONE, ..UP };

    /// A stretch of time, in ms, in which the ports read the same.
    type Stretch = (u64, [LinkReading; 2]);

    /// Reads every 10 ms until something is decided; says what, and when.
    fn play(watch: &mut LinkWatch, story: &[Stretch]) -> (LinkState, u64) {
        let (mut now, mut end) = (0, 0);
        for &(length, ports) in story {
            end += length;
            while now < end {
                let state = watch.see(Instant::from_millis(now), ports);
                if state != LinkState::Waiting {
                    return (state, now);
                }
                now += 10;
            }
        }
        (LinkState::Waiting, now)
    }

    fn button(story: &[Stretch]) -> (LinkState, u64) {
        play(&mut LinkWatch::new(LinkConfig::button(TEN), Instant::ZERO), story)
    }

    fn auto(story: &[Stretch]) -> (LinkState, u64) {
        play(&mut LinkWatch::new(LinkConfig::auto(TEN), Instant::ZERO), story)
    }

    fn stuck(reason: Reason) -> LinkState {
        LinkState::Stuck(reason)
    }

    #[test]
    fn only_speeds_that_ethernet_has_are_speeds() {
        for raw in [10, 100, 1_000, 2_500, 5_000, 10_000, 20_000, 25_000, 40_000, 100_000] {
            assert_eq!(known_speed(raw), Some(BitRate::from_mbps(raw.unsigned_abs())));
        }
        for raw in [-1, 0, 1, 9_999, 10_001, 65_535, 4_294_967_295, i64::MIN, i64::MAX] {
            assert_eq!(known_speed(raw), None, "{raw}");
        }
    }

    #[test]
    fn a_link_is_up_after_two_seconds_in_a_row() {
        assert_eq!(button(&[(500, [DOWN; 2]), (9_000, [UP; 2])]), (LinkState::Up { speed: TEN }, 2_500));
        let broken = [(1_900, [UP; 2]), (100, [DOWN; 2]), (9_000, [UP; 2])];
        assert_eq!(auto(&broken), (LinkState::Up { speed: TEN }, 4_000));
    }

    #[test]
    fn a_slow_link_is_up_and_left_to_judge() {
        assert_eq!(button(&[(9_000, [SLOW; 2])]), (LinkState::Up { speed: ONE }, 2_000));
    }

    #[test]
    fn a_button_press_without_link_fails_after_25_seconds() {
        let waited = PATIENCE;
        assert_eq!(button(&[(60_000, [DOWN; 2])]), (stuck(Reason::NoLink { waited }), 25_000));
    }

    #[test]
    fn in_auto_mode_the_box_just_waits() {
        assert_eq!(auto(&[(100_000, [DOWN; 2])]).0, LinkState::Waiting);
    }

    #[test]
    fn a_link_that_comes_at_the_last_moment_may_hold() {
        let story = [(24_500, [DOWN; 2]), (9_000, [UP; 2])];
        assert_eq!(button(&story), (LinkState::Up { speed: TEN }, 26_500));
    }

    #[test]
    fn one_port_without_link_is_an_open_end() {
        let open = stuck(Reason::OneEndOpen { down: Side::B });
        assert_eq!(button(&[(60_000, [UP, DOWN])]), (open, 25_000));
        assert_eq!(auto(&[(5_000, [DOWN; 2]), (60_000, [UP, DOWN])]), (open, 30_000));
        let late = [(24_000, [DOWN; 2]), (60_000, [DOWN, UP])];
        assert_eq!(button(&late), (stuck(Reason::OneEndOpen { down: Side::A }), 26_000));
    }

    #[test]
    fn faults_at_the_port_that_is_up_speak_against_the_cable() {
        let mut watch = LinkWatch::new(LinkConfig::button(TEN), Instant::ZERO);
        watch.note_faults(Side::A, 3);
        let (state, _) = play(&mut watch, &[(60_000, [UP, DOWN])]);
        assert_eq!(state, stuck(Reason::LinkFaults { port: Side::A, faults: 3 }));
        let mut watch = LinkWatch::new(LinkConfig::button(TEN), Instant::ZERO);
        watch.note_faults(Side::B, 3);
        let (state, _) = play(&mut watch, &[(60_000, [UP, DOWN])]);
        assert_eq!(state, stuck(Reason::OneEndOpen { down: Side::B }));
    }

    #[test]
    fn three_drops_in_30_seconds_are_flapping_in_either_mode() {
        let flap = [(1_000, [UP; 2]), (500, [DOWN; 2])];
        let story = [flap, flap, flap].concat();
        for play in [button, auto] {
            assert_eq!(play(&story), (stuck(Reason::Flapping { drops: 3 }), 4_000));
        }
    }

    #[test]
    fn one_break_seen_by_both_ports_is_one_drop() {
        let story =
            [(1_000, [UP; 2]), (500, [DOWN; 2]), (1_000, [UP; 2]), (500, [DOWN; 2]), (9_000, [UP; 2])];
        assert_eq!(auto(&story), (LinkState::Up { speed: TEN }, 5_000));
    }

    #[test]
    fn drops_far_apart_are_not_flapping() {
        let rare = [(1_000, [UP; 2]), (14_500, [DOWN; 2])];
        assert_eq!(auto(&[rare, rare, rare, rare].concat()).0, LinkState::Waiting);
    }

    /// Both ports up, with so many changes counted.
    fn counted(changes: u64) -> [LinkReading; 2] {
        [LinkReading { changes: Some(changes), ..UP }; 2]
    }

    #[test]
    fn a_drop_between_two_readings_is_seen_by_its_count() {
        // Up and down within half a millisecond: polling the carrier misses it.
        let story = [(1_000, counted(5)), (9_000, counted(7))];
        assert_eq!(auto(&story), (LinkState::Up { speed: TEN }, 3_000));
        let flapping = [(1_000, counted(5)), (9_000, counted(11))];
        assert_eq!(auto(&flapping), (stuck(Reason::Flapping { drops: 3 }), 1_000));
    }

    #[test]
    fn changes_before_the_first_reading_do_not_count() {
        assert_eq!(auto(&[(9_000, counted(1_000_000))]), (LinkState::Up { speed: TEN }, 2_000));
    }

    #[test]
    fn a_change_counter_that_steps_back_is_a_new_beginning() {
        let story = [(1_000, counted(1_000)), (9_000, counted(0))];
        assert_eq!(auto(&story), (LinkState::Up { speed: TEN }, 2_000));
    }

    #[test]
    fn coming_up_is_no_drop() {
        let down = |changes| [LinkReading { changes: Some(changes), ..DOWN }; 2];
        let story = [
            (100, down(0)),
            (100, counted(1)),
            (100, down(2)),
            (100, counted(3)),
            (100, down(4)),
            (9_000, counted(5)),
        ];
        assert_eq!(auto(&story), (LinkState::Up { speed: TEN }, 2_500));
    }

    #[test]
    fn an_unknown_speed_is_no_speed_where_the_board_has_one() {
        // EINVAL for a short time while the port restarts: bounded patience, then it is named.
        let story = [(3_000, [UP, SPEEDLESS]), (9_000, [UP; 2])];
        assert_eq!(button(&story), (LinkState::Up { speed: TEN }, 5_000));
        let ports = |port| stuck(Reason::SettingNotHeld { setting: Setting::Ports, port });
        assert_eq!(button(&[(60_000, [UP, SPEEDLESS])]), (ports(Some(Side::B)), 25_000));
        assert_eq!(auto(&[(60_000, [SPEEDLESS; 2])]), (ports(Some(Side::A)), 25_000));
        assert_eq!(button(&[(60_000, [UP, SLOW])]), (ports(None), 25_000));
    }

    #[test]
    fn without_a_board_speed_ports_need_not_tell_theirs() {
        let mut watch = LinkWatch::new(LinkConfig::auto(None), Instant::ZERO);
        assert_eq!(play(&mut watch, &[(9_000, [SPEEDLESS; 2])]), (LinkState::Up { speed: None }, 2_000));
    }

    #[test]
    fn a_carrier_that_cannot_be_read_is_not_a_missing_link() {
        let state = stuck(Reason::SettingNotHeld { setting: Setting::Ports, port: Some(Side::B) });
        assert_eq!(button(&[(60_000, [DOWN, UNREADABLE])]), (state, 25_000));
    }

    #[test]
    fn a_watch_that_is_stuck_stays_stuck() {
        let mut watch = LinkWatch::new(LinkConfig::button(TEN), Instant::ZERO);
        let (state, at) = play(&mut watch, &[(60_000, [DOWN; 2])]);
        for later in [1, 3_000, 9_000] {
            assert_eq!(watch.see(Instant::from_millis(at + later), [UP; 2]), state);
        }
    }

    #[test]
    fn the_hint_names_what_is_missing() {
        let hint = |ports| {
            let mut watch = LinkWatch::new(LinkConfig::auto(TEN), Instant::ZERO);
            watch.see(Instant::ZERO, ports);
            watch.hint()
        };
        let rows = [
            ([DOWN; 2], "no link on A and B"),
            ([UP, DOWN], "port B has no link"),
            ([UNREADABLE, UP], "port A does not tell its link"),
            ([UP, SPEEDLESS], "port B does not tell its speed"),
            ([UP, SLOW], "the ports differ in speed"),
            ([UP; 2], "link is up, must hold"),
        ];
        for (ports, words) in rows {
            assert_eq!(hint(ports), words);
        }
        assert_eq!(LinkWatch::new(LinkConfig::auto(TEN), Instant::ZERO).hint(), "reading the link");
    }

    #[test]
    fn a_low_speed_is_the_cables_only_if_both_ports_offer_more_and_it_is_a_loop() {
        let (expected, got) = (BitRate::from_mbps(10_000), BitRate::from_mbps(1_000));
        let offers = |advertises| LinkReading { advertises, ..SLOW };
        let judge = |a, b, loop_passed| judge_speed(expected, got, [offers(a), offers(b)], loop_passed);
        let setup = Some(Reason::SpeedSetup { expected, got });
        assert_eq!(judge(Some(true), Some(true), true), Some(Reason::WrongSpeed { expected, got }));
        assert_eq!(judge(Some(true), Some(true), false), setup);
        assert_eq!(judge(Some(true), Some(false), true), setup);
        assert_eq!(judge(None, Some(true), true), setup);
    }

    #[test]
    fn the_boards_speed_or_more_is_no_reason() {
        let ten = BitRate::from_mbps(10_000);
        for got in [ten, BitRate::from_mbps(25_000)] {
            assert_eq!(judge_speed(ten, got, [UP; 2], true), None);
        }
    }

    #[test]
    fn a_run_rearms_after_both_ports_were_down_for_two_seconds() {
        let mut rearm = Rearm::new();
        let mut see = |ms, down| rearm.see(Instant::from_millis(ms), down);
        assert!(!see(0, true));
        assert!(!see(1_990, true));
        assert!(!see(1_995, false), "a flap begins the wait anew");
        assert!(!see(2_000, true));
        assert!(!see(3_999, true));
        assert!(see(4_000, true));
        assert!(see(4_010, false), "the cable that comes next starts the run");
    }

    fn any_reading() -> impl Strategy<Value = LinkReading> {
        let speed = prop::sample::select([None, ONE, TEN].as_slice());
        let changes = prop::option::of(prop_oneof![Just(0), 0..5u64, any::<u64>()]);
        let carrier = prop::sample::select([None, Some(false), Some(true), Some(true)].as_slice());
        (carrier, speed, changes).prop_map(|(carrier, speed, changes)| LinkReading {
            carrier,
            speed,
            changes,
            advertises: None,
            taken: false,
        })
    }

    fn any_story() -> impl Strategy<Value = Vec<(u64, [LinkReading; 2])>> {
        prop::collection::vec((0u64..3_000, [any_reading(), any_reading()]), 0..60)
    }

    proptest! {
        #[test]
        fn up_means_both_ports_were_up_at_one_speed_for_the_whole_hold_time(story in any_story(), press: bool) {
            let config = if press { LinkConfig::button(TEN) } else { LinkConfig::auto(TEN) };
            let mut watch = LinkWatch::new(config, Instant::ZERO);
            let (mut now, mut good_since) = (0, None);
            for (step, ports) in story {
                now += step;
                let [a, b] = ports;
                let good = [a, b].iter().all(|port| port.carrier == Some(true)) && a.speed == b.speed && a.speed.is_some();
                good_since = if good { good_since.filter(|&(_, speed)| speed == a.speed).or(Some((now, a.speed))) } else { None };
                if let LinkState::Up { speed } = watch.see(Instant::from_millis(now), ports) {
                    let (since, _) = good_since.expect("both ports are up at one speed");
                    prop_assert!(now - since >= 2_000);
                    prop_assert_eq!(speed, a.speed);
                }
            }
        }

        #[test]
        fn a_button_press_is_answered_or_a_link_is_still_holding(story in any_story()) {
            let mut watch = LinkWatch::new(LinkConfig::button(TEN), Instant::ZERO);
            for (step, ports) in story {
                watch.see(Instant::from_millis(step), ports);
            }
            watch.see(Instant::from_millis(100_000), [DOWN; 2]);
            prop_assert!(matches!(watch.see(Instant::from_millis(100_010), [DOWN; 2]), LinkState::Stuck(_)));
        }
    }
}

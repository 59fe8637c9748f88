//! The links of the chain between "settings held" and "sending is over".

use super::Session;
use crate::port::worker::Order;
use measure::frame::Writer;
use measure::link::{HOLD, LinkConfig, LinkState, LinkWatch, judge_speed};
use measure::loopcheck::{Action, LoopCheck, LoopConfig, Outcome, ProbeKind};
use measure::plan::Stage as PlanStage;
use measure::record::{Event, Phase};
use measure::screen::Screen;
use measure::units::{BitRate, Direction, FrameSize, Instant, Side};
use measure::verdict::{Rank, Reason, SwitchSign};
use std::time::Duration;

/// A cable takes port B's carrier down within this time of port A's going down; a switch never does.
const CARRIER_FOLLOWS: Duration = Duration::from_secs(3);

/// The run ends early when the link is away for longer (design, section 2).
const LINK_AWAY: Duration = Duration::from_secs(2);

/// Draining ends after this long even where frames still arrive, or a worker does not look.
const DRAIN_AT_MOST: Duration = Duration::from_secs(2);

/// A worker whose heartbeat is older than this is taken for dead.
const DEAD: Duration = Duration::from_secs(5);

/// Where the session is.
pub(super) enum Stage {
    Link {
        watch: Box<LinkWatch>,
        restart: Restart,
    },
    Check {
        check: Box<LoopCheck>,
        watch: Box<LinkWatch>,
    },
    Traffic(Traffic),
    Drain(Drain),
    Over,
    /// Nothing was sent, and there is nothing to judge.
    Withdrawn,
}

/// Taking port A's link down to see whether port B notices.
#[derive(Clone, Copy)]
pub(super) enum Restart {
    Wanted,
    Down { since: Instant },
    Done,
}

/// Frames flow.
pub(super) struct Traffic {
    began: Instant,
    settled: bool,
    logged: Instant,
    away_since: Option<Instant>,
}

/// Senders have stopped.
pub(super) struct Drain {
    began: Instant,
    quiet_at: Option<Instant>,
}

impl Session<'_> {
    pub(super) fn enter_link(&mut self) {
        self.enter(Phase::Link);
        let restart = if self.config.link_restart { Restart::Wanted } else { Restart::Done };
        self.stage = Stage::Link { watch: self.link_watch(), restart };
    }

    fn link_watch(&self) -> Box<LinkWatch> {
        let config = LinkConfig { speed: self.config.speed, hold: HOLD, give_up: self.config.give_up };
        Box::new(LinkWatch::new(config, self.rig.now()))
    }

    /// One step of whatever stage it is.
    pub(super) fn advance(&mut self, now: Instant) {
        let stage = core::mem::replace(&mut self.stage, Stage::Over);
        let next = match stage {
            Stage::Link { watch, restart } => self.link(now, watch, restart),
            Stage::Check { check, watch } => self.check(now, check, watch),
            Stage::Traffic(traffic) => self.traffic(now, traffic),
            Stage::Drain(drain) => self.drain(now, drain),
            over @ (Stage::Over | Stage::Withdrawn) => over,
        };
        self.stage = next;
    }

    /// Ends the run before its time: no more frames from this moment on.
    pub(super) fn cut_short(&mut self, now: Instant) {
        self.rig.order(Order::Listen);
        self.stage = match core::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Traffic(_) => self.enter_drain(now),
            drain @ Stage::Drain(_) => drain,
            Stage::Link { restart: Restart::Down { .. }, .. } => {
                self.restore_port_a();
                Stage::Over
            }
            _ => Stage::Over,
        };
    }

    fn link(&mut self, now: Instant, mut watch: Box<LinkWatch>, restart: Restart) -> Stage {
        if self.stopped() {
            self.find(Reason::StoppedEarly);
            self.stage = Stage::Link { watch, restart };
            self.cut_short(now);
            return Stage::Over;
        }
        self.note_link_faults(&mut watch);
        match restart {
            Restart::Down { since } => self.await_carrier_drop(now, watch, since),
            Restart::Wanted if self.both_up() => self.take_port_a_down(now, watch),
            Restart::Wanted | Restart::Done => match watch.see(now, self.links) {
                LinkState::Waiting if self.is_withdrawn(now) => Stage::Withdrawn,
                LinkState::Waiting => self.keep_waiting(watch, restart),
                LinkState::Up { .. } => self.enter_check(now, watch),
                LinkState::Stuck(reason) => {
                    self.find(reason);
                    Stage::Over
                }
            },
        }
    }

    /// Local and remote faults tell whose fault half a link is.
    fn note_link_faults(&mut self, watch: &mut LinkWatch) {
        self.sample_ports();
        for port in Side::BOTH {
            watch.note_faults(port, self.evidence.link_faults(port).unwrap_or(0));
        }
    }

    /// Nobody asked for this run, and both ports have been down for as long as tells one cable from the next.
    fn is_withdrawn(&mut self, now: Instant) -> bool {
        let down = self.links.iter().all(|link| link.carrier == Some(false));
        self.config.give_up.is_none() && self.unplugged.see(now, down)
    }

    fn keep_waiting(&mut self, watch: Box<LinkWatch>, restart: Restart) -> Stage {
        let screen = if self.links.iter().all(|link| link.carrier == Some(true)) {
            Screen::Checking { what: "link" }
        } else {
            Screen::PlugCable { last: self.config.last, hint: watch.hint() }
        };
        self.around.screen(screen);
        Stage::Link { watch, restart }
    }

    /// Port A is down because the session took it down.
    pub(super) fn is_own_doing(&self, port: Side) -> bool {
        port == Side::A && matches!(self.stage, Stage::Link { restart: Restart::Down { .. }, .. })
    }

    fn both_up(&self) -> bool {
        self.links.iter().all(|link| link.carrier == Some(true))
    }

    fn take_port_a_down(&mut self, now: Instant, watch: Box<LinkWatch>) -> Stage {
        self.note("port A goes down: port B must lose its carrier");
        match self.rig.nic().set_up(Side::A, false) {
            Ok(()) => Stage::Link { watch, restart: Restart::Down { since: now } },
            Err(error) => {
                self.note(format_args!("port A could not be taken down: {error}"));
                Stage::Link { watch, restart: Restart::Done }
            }
        }
    }

    fn await_carrier_drop(&mut self, now: Instant, watch: Box<LinkWatch>, since: Instant) -> Stage {
        let dropped = self.links[Side::B.index()].carrier == Some(false);
        if !dropped && now.since(since) < CARRIER_FOLLOWS {
            return Stage::Link { watch, restart: Restart::Down { since } };
        }
        self.restore_port_a();
        if dropped {
            self.note("port B lost its carrier with port A's: no switch between them");
            return Stage::Link { watch: self.link_watch(), restart: Restart::Done };
        }
        self.find(Reason::Switch(SwitchSign::LinkStayedUp));
        Stage::Over
    }

    fn restore_port_a(&mut self) {
        if let Err(error) = self.rig.nic().set_up(Side::A, true) {
            self.note(format_args!("port A could not be taken up again: {error}"));
        }
    }

    fn enter_check(&mut self, now: Instant, watch: Box<LinkWatch>) -> Stage {
        self.enter(Phase::LoopCheck);
        self.around.screen(Screen::Checking { what: "loop" });
        let check = Box::new(LoopCheck::new(now, now - HOLD, LoopConfig::default()));
        Stage::Check { check, watch }
    }

    /// The link must hold through the check: a flood begins on a link that has been up all the time.
    fn check(&mut self, now: Instant, mut check: Box<LoopCheck>, mut watch: Box<LinkWatch>) -> Stage {
        if self.stopped() {
            self.find(Reason::StoppedEarly);
            return Stage::Over;
        }
        match watch.see(now, self.links) {
            LinkState::Up { .. } => {}
            LinkState::Waiting => return self.return_to_link(watch),
            LinkState::Stuck(reason) => {
                self.find(reason);
                return Stage::Over;
            }
        }
        loop {
            match check.next(now) {
                Action::Wait => return Stage::Check { check, watch },
                Action::Send { direction, kind, index } => {
                    if !self.probe(direction, kind, index) {
                        check.unsent();
                    }
                }
                Action::Done(outcome) => return self.checked(now, &check, outcome),
            }
        }
    }

    /// The same watch goes on: the drops that it has seen add up.
    fn return_to_link(&mut self, watch: Box<LinkWatch>) -> Stage {
        self.note("the link did not hold through the loop check");
        self.enter(Phase::Link);
        Stage::Link { watch, restart: Restart::Done }
    }

    /// Sends one probe; false where the port did not take it.
    fn probe(&mut self, direction: Direction, kind: ProbeKind, index: u8) -> bool {
        let mut frame = [0; FrameSize::MIN.without_fcs()];
        let writer = Writer::new(self.identity.clone(), direction, self.config.mix.clone());
        let length = writer.probe(kind, u64::from(index), &mut frame);
        let outcome =
            frame.get(..length).map_or(Ok(()), |frame| self.rig.scout().send(direction.from(), frame));
        self.note_socket_error(direction.from(), &outcome);
        self.probes[direction.index()] += u64::from(outcome.is_ok());
        outcome.is_ok()
    }

    fn checked(&mut self, now: Instant, check: &LoopCheck, outcome: Outcome) -> Stage {
        for (direction, counts) in Direction::BOTH.into_iter().zip(check.counts()) {
            let (sent, unicast, filtered) = (counts.sent, counts.unicast, counts.filtered);
            self.tell(Event::Probes { direction, sent, unicast, filtered });
        }
        let speed = self.judge_speed(outcome == Outcome::Loop);
        let path = match outcome {
            Outcome::Loop => None,
            Outcome::Refused(reason) => Some(reason),
        };
        // Below the board's speed a path that carries too little says nothing about the cable; what is no
        // cable at all still does.
        let path = path.filter(|reason| speed.is_none() || reason.rank() == Rank::Voiding);
        if speed.is_none() && path.is_none() {
            return self.enter_traffic(now);
        }
        [path, speed].into_iter().flatten().for_each(|reason| self.find(reason));
        Stage::Over
    }

    pub(super) fn link_speed(&self) -> Option<BitRate> {
        let [a, b] = self.links.map(|link| link.speed);
        a.filter(|_| a == b)
    }

    fn judge_speed(&self, loop_passed: bool) -> Option<Reason> {
        judge_speed(self.config.speed?, self.link_speed()?, self.links, loop_passed)
    }

    /// The one baseline, in one place: receivers and steering stand, nothing has been sent.
    fn enter_traffic(&mut self, now: Instant) -> Stage {
        self.sample(now);
        self.evidence.begin(now, self.config.pace, self.link_speed());
        self.rig.order(Order::Send);
        self.enter(Phase::Settle);
        Stage::Traffic(Traffic { began: now, settled: false, logged: now, away_since: None })
    }

    fn traffic(&mut self, now: Instant, mut traffic: Traffic) -> Stage {
        self.sample(now);
        self.tell_news();
        self.log_rate(now, &mut traffic);
        if self.stopped() {
            self.find(Reason::StoppedEarly);
            return self.enter_drain(now);
        }
        if self.link_away(now, &mut traffic) || self.worker_died(now) {
            return self.enter_drain(now);
        }
        match self.config.plan.stage(now.since(traffic.began), self.evidence.checked_bits()) {
            PlanStage::Settle => {}
            PlanStage::Run if traffic.settled => {}
            PlanStage::Run => {
                traffic.settled = true;
                self.evidence.settled();
                self.enter(Phase::Run);
            }
            PlanStage::Over => return self.enter_drain(now),
        }
        Stage::Traffic(traffic)
    }

    /// Reads everything that runs along: counters, links and tallies.
    fn sample(&mut self, now: Instant) {
        self.sample_ports();
        for direction in Direction::BOTH {
            if let Some(tally) = self.rig.tally(direction) {
                self.evidence.read_tally(direction, &tally, now);
            }
        }
    }

    fn sample_ports(&mut self) {
        for port in Side::BOTH {
            self.evidence.read_link(port, &self.links[port.index()]);
            match self.rig.nic().counters(port) {
                Ok(counters) => {
                    let read_at = self.rig.now();
                    self.evidence.read_port(port, &counters, read_at);
                }
                Err(error) => {
                    self.evidence.miss_port(port);
                    self.note_device_error(port, &error);
                }
            }
        }
    }

    fn tell_news(&mut self) {
        while let Some(reason) = self.evidence.news() {
            self.tell(Event::Evidence(reason));
        }
    }

    fn log_rate(&mut self, now: Instant, traffic: &mut Traffic) {
        if now.since(traffic.logged) < Duration::from_secs(1) {
            return;
        }
        traffic.logged = traffic.logged + Duration::from_secs(1);
        let rates = self.evidence.second_rates();
        let left = self.config.plan.left(now.since(traffic.began));
        self.tell(Event::Rate { rates, errors: self.evidence.classes(), left });
    }

    fn link_away(&self, now: Instant, traffic: &mut Traffic) -> bool {
        if self.links.iter().all(|link| link.carrier != Some(false)) {
            traffic.away_since = None;
        } else if traffic.away_since.is_none() {
            traffic.away_since = Some(now);
        }
        traffic.away_since.is_some_and(|since| now.since(since) > LINK_AWAY)
    }

    fn worker_died(&mut self, now: Instant) -> bool {
        let mut died = false;
        for direction in Direction::BOTH {
            let silent = self.evidence.silent(direction, now) > DEAD;
            if self.rig.died(direction) || silent {
                self.find(Reason::WorkerDied { direction });
                died = true;
            }
        }
        died
    }

    fn enter_drain(&mut self, now: Instant) -> Stage {
        self.evidence.stop(now);
        self.rig.order(Order::Listen);
        self.enter(Phase::Drain);
        Stage::Drain(Drain { began: now, quiet_at: None })
    }

    /// Waits until nothing arrives any more, and then until every counter is fresh.
    fn drain(&mut self, now: Instant, mut drain: Drain) -> Stage {
        self.sample(now);
        let quiet = self.evidence.is_quiet() || now.since(drain.began) >= DRAIN_AT_MOST;
        if quiet && drain.quiet_at.is_none() {
            drain.quiet_at = Some(now);
        }
        let fresh = self.rig.nic().refresh();
        if drain.quiet_at.is_some_and(|since| now.since(since) >= fresh) {
            self.tell_news();
            self.name_who_never_drained();
            return Stage::Over;
        }
        Stage::Drain(drain)
    }

    /// A worker that has not looked for what was on its way cannot say what arrived.
    fn name_who_never_drained(&mut self) {
        for direction in Direction::BOTH {
            if !self.evidence.has_drained(direction) {
                self.find(Reason::WorkerDied { direction });
            }
        }
    }

    /// Shows where the run is.
    pub(super) fn draw(&mut self) {
        let Stage::Traffic(traffic) = &self.stage else { return };
        let flowing = self.rig.now().since(traffic.began);
        self.around.screen(Screen::Running {
            rates: self.evidence.rates(),
            progress: self.config.plan.progress(flowing, self.evidence.checked_bits()),
            errors: self.evidence.classes(),
            left: self.config.plan.left(flowing),
            failed: self.evidence.failed(),
            settling: !traffic.settled,
        });
    }
}

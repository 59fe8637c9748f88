//! `linegauge cable`: the emulated cable between two ports of an emulator, until it is told to end.
//!
//! Standard output is for the program that started it: `ready` once both sockets are there, then
//! `carrier a down` and the like whenever a carrier comes or goes, and the cable's account at the end.

use super::run::stop_flag;
use super::{HostRefused, NotDone, print_out};
use crate::args::CableRequest;
use crate::cable::datagram::{DatagramCable, Place};
use crate::cable::emulated::EmulatedCable;
use crate::cable::fault::Script;
use crate::cable::runner::Live;
use measure::units::Side;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the carriers are looked at: an unplugged cable is seen within a bucket.
const LOOK: Duration = Duration::from_millis(10);

/// Carries frames until a signal says to end.
///
/// # Errors
/// See [`NotDone`].
pub fn run(request: &CableRequest) -> Result<(), NotDone> {
    let script = Script::parse(&request.faults).map_err(|error| NotDone::Usage(error.to_string()))?;
    let stop = stop_flag()?;
    let cable = EmulatedCable::new(&script, request.seed, request.traffic);
    let places = request.ends.each_ref().map(|end| Place { cable: &end.cable, port: &end.port });
    let running = DatagramCable::new(places, cable)
        .and_then(DatagramCable::start)
        .map_err(|error| HostRefused::new("emulated cable", error))?;
    print_out("ready\n");
    tell_carriers(&running.live(), &stop);
    print_out(&running.stop().to_string());
    Ok(())
}

fn tell_carriers(live: &Live, stop: &AtomicBool) {
    let mut told = [true; 2];
    while !stop.load(Ordering::Relaxed) {
        for (side, told) in Side::BOTH.into_iter().zip(&mut told) {
            let carrier = live.carrier(side);
            if carrier != *told {
                print_out(&line(side, carrier));
                *told = carrier;
            }
        }
        thread::sleep(LOOK);
    }
}

fn line(side: Side, carrier: bool) -> String {
    let name = match side {
        Side::A => 'a',
        Side::B => 'b',
    };
    format!("carrier {name} {}\n", if carrier { "up" } else { "down" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_is_one_line_of_three_words() {
        assert_eq!(line(Side::A, false), "carrier a down\n");
        assert_eq!(line(Side::B, true), "carrier b up\n");
    }
}

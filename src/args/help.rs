//! The texts of `--help`.

pub(super) const BOX: &str = "The box and the cable";
pub(super) const TEST: &str = "The test";
pub(super) const EMULATED: &str = "The emulated cable";
pub(super) const OUTPUT: &str = "What is shown and kept";

pub(super) const ABOUT: &str = "\
A go/no-go gauge for 10 Gb/s Ethernet cables.

Both ends of a cable go into one box. linegauge checks that it is a cable and
nothing but a cable, floods it in both directions, checks every frame, and says
PASS or FAIL.

Without arguments it judges a virtual cable, which needs no hardware and leaves
nothing behind: try it.";

pub(super) const SHORT_END: &str = "\
--help tells more: examples, what PASS means, and the exit codes.";

pub(super) const LONG_END: &str = "\
Examples:
  linegauge
      Judge a virtual cable: about 20 s, PASS.
  linegauge run --cable emulated --fault 'a>b drop 17' --fault 'b>a flip 5'
      Judge a cable that loses 17 frames one way and flips 5 bits the other
      way: FAIL, with exactly those figures. --truth shows the cable's account.
  linegauge run --duration 30 --streams 4 --mix 64,1518,9018 --rate 500M
      Another test on the same virtual cable.
  linegauge run --board ./my-box.toml --label 'rack 7 blue' --log run.log
      Judge a real cable between the two ports that my-box.toml names.
  linegauge boards virtual
      Show every setting of a board: a board file to start from.

What the words mean:
  PASS      Frames flowed both ways, every one came back undamaged, every error
            counter that the ports have stayed at zero, both directions reached
            99.5 % of the rate in steady state, and every setting held.
            It is what was shown, not what is left over.
  FAIL      There is evidence against the cable: lost or damaged frames, a link
            that dropped, a dead direction.
  MARGINAL  Nothing was lost, but little is to spare, or fewer bits were checked
            than --bound needs.
  INVALID   The cable was not judged: the host or the set-up spoiled the run.
            The reason says what it was.
  A verdict is about this cable, on these ports, for this time. It is no
  certification.

Exit codes:
  0  PASS
  1  FAIL
  2  the request is wrong: an option, its value, or a board file
  3  INVALID, or the host could not carry out a right request (no permission,
     no such device, no such port)
  4  MARGINAL
  130  stopped at once by a second Ctrl-C, without a result";

pub(super) const HISTORY_END: &str = "\
A box keeps its last results on its stick, through power cuts. They are told
oldest first, and nothing is written. What is damaged is skipped, counted, and
told on standard error.

  linegauge history
      The results on the stick that is plugged in here (as root).
  linegauge history --format csv stick.img > runs.csv
      A table of those in the image of a stick.

Exit codes:
  0  read, whether or not there was a result
  2  the request is wrong
  3  there is no history, or it cannot be read";

pub(super) const LOG_END: &str = "\
Several sources are read at once, files one after the other; with more than one
each line of text begins with the name of its box. jsonl and csv have one row a
run and one row a second; the README tells their columns.

  linegauge log /dev/ttyUSB0 /dev/ttyUSB1
      Watch two boxes.
  linegauge log --format csv --rows runs rack.rec > runs.csv
      A table of all runs in a file.

What is damaged is skipped, counted, and told on standard error at the end.

Exit codes:
  0  read to the end, or until Ctrl-C
  2  the request is wrong
  3  a source cannot be opened or read";

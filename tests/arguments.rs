//! The command line as a whole: what each request becomes, and the exact line that refuses a wrong one.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test, in helpers too")]

use linegauge::args::{self, Command, LogRequest, LogSource, LogTarget, RunRequest};
use linegauge::board::{self, CableKind, DurationArg};
use linegauge::journal::reader::{Format, Rows, Style};
use measure::units::BitRate;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn parse(words: &[&str]) -> Result<Command, args::Refused> {
    args::parse(std::iter::once("linegauge").chain(words.iter().copied()).map(OsString::from))
}

fn run(words: &[&str]) -> RunRequest {
    match parse(words).unwrap() {
        Command::Run(request) => request,
        other => panic!("{words:?} is {other:?}"),
    }
}

fn printed(words: &[&str]) -> String {
    match parse(words).unwrap() {
        Command::Print(text) => text,
        other => panic!("{words:?} is {other:?}"),
    }
}

fn refusal(words: &[&str]) -> String {
    parse(words).unwrap_err().to_string()
}

/// A file with `text` in a folder that lives as long as the value does.
fn file(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

#[test]
fn no_arguments_judge_the_virtual_board() {
    let request = run(&[]);
    assert_eq!(request.board, board::load("virtual").unwrap());
    assert_eq!((request.bound, request.confidence, request.seed), (None, 0.95, None));
    assert_eq!((request.truth, request.json, request.panel), (false, false, true));
    assert_eq!((request.label.as_str(), request.log.clone(), request.screenshot.clone()), ("", None, None));
    assert_eq!(request, run(&["run"]));
}

#[test]
fn every_option_of_a_run_arrives() {
    let request = run(&[
        "run",
        "--board",
        "emulated",
        "--duration",
        "30",
        "--streams",
        "4",
        "--mix",
        "64,1518,9018",
        "--rate",
        "150M",
        "--bound",
        "1e-9",
        "--confidence",
        "99%",
        "--fault",
        "a>b drop 17",
        "--fault",
        "b>a flip 5",
        "--seed",
        "7",
        "--truth",
        "--label",
        "rack 7",
        "--log",
        "-",
        "--screenshot",
        "panel.png",
        "--json",
        "--no-panel",
    ]);
    assert_eq!(request.board.cable, CableKind::Emulated);
    assert_eq!(request.board.duration, DurationArg::Seconds(30.0));
    assert_eq!(request.board.streams, 4);
    assert_eq!(request.board.mix.to_string(), "64,1518,9018");
    assert_eq!(request.board.pace, Some(BitRate::from_mbps(150)));
    assert_eq!((request.bound, request.confidence), (Some(1e-9), 0.99));
    assert_eq!(request.faults, ["a>b drop 17", "b>a flip 5"]);
    assert_eq!((request.seed, request.truth, request.json, request.panel), (Some(7), true, true, false));
    assert_eq!((request.label.as_str(), request.log), ("rack 7", Some(LogTarget::StandardOutput)));
    assert_eq!(request.screenshot, Some(PathBuf::from("panel.png")));
}

#[test]
fn the_options_of_a_run_need_no_command() {
    assert_eq!(run(&["--duration", "3"]), run(&["run", "--duration", "3"]));
}

#[test]
fn a_cable_without_a_board_picks_the_board_of_its_name() {
    assert_eq!(run(&["--cable", "emulated"]).board, board::load("emulated").unwrap());
}

#[test]
fn a_cable_beside_a_board_replaces_the_ports_and_keeps_the_test() {
    let (_folder, path) = file("mine.toml", "inherit = \"virtual\"\npace-mbps = 50\nlink-restart = true\n");
    let board = run(&["--board", &path, "--cable", "emulated"]).board;
    assert_eq!((board.name.as_str(), board.cable), ("mine", CableKind::Emulated));
    assert_eq!(board.pace, Some(BitRate::from_mbps(50)));
    assert!(!board.link_restart);
}

#[test]
fn a_bound_ends_the_run_by_bits_unless_a_duration_is_given() {
    let by_bits = run(&["--bound", "1e-10"]);
    assert_eq!((by_bits.board.duration, by_bits.bound), (DurationArg::Proof, Some(1e-10)));
    let by_time = run(&["--bound", "1e-10", "--duration", "quick"]);
    assert_eq!((by_time.board.duration, by_time.bound), (DurationArg::Quick, Some(1e-10)));
}

#[test]
fn a_proof_always_has_a_bound() {
    assert_eq!(run(&["--duration", "proof"]).bound, Some(measure::plan::PROOF_BOUND));
    let (_folder, path) = file("mine.toml", "inherit = \"virtual\"\nduration = \"proof\"\n");
    assert_eq!(run(&["--board", &path]).bound, Some(measure::plan::PROOF_BOUND));
    assert_eq!(run(&["--board", &path, "--duration", "9"]).bound, None);
}

#[test]
fn boards_are_listed_or_shown() {
    assert_eq!(parse(&["boards"]).unwrap(), Command::Boards { board: None });
    let board = board::load("x520").unwrap();
    assert_eq!(parse(&["boards", "x520"]).unwrap(), Command::Boards { board: Some(board) });
    for (name, _) in board::builtin() {
        assert!(board::list().lines().any(|line| line.starts_with(name)), "{name}");
    }
}

#[test]
fn a_bench_is_not_paced() {
    let Command::Bench(bench) = parse(&["bench"]).unwrap() else { panic!("no bench") };
    assert_eq!((bench.board.pace, bench.seconds, bench.json), (None, Duration::from_secs(2), false));
    assert_eq!(bench.mixes, [board::SizeMix::parse("jumbo").unwrap()]);
    let words = ["bench", "--mix", "small", "--mix", "jumbo", "--streams", "1", "--seconds", "0.5", "--json"];
    let Command::Bench(bench) = parse(&words).unwrap() else { panic!("no bench") };
    let mixes: Vec<_> = bench.mixes.iter().map(ToString::to_string).collect();
    assert_eq!((mixes, bench.board.streams), (vec!["small".to_owned(), "jumbo".to_owned()], 1));
    assert_eq!((bench.board.mix.to_string().as_str(), bench.seconds), ("small", Duration::from_millis(500)));
}

#[test]
fn a_log_reads_any_number_of_sources_as_text_unless_asked_otherwise() {
    let path = |name: &str| LogSource::Path(PathBuf::from(name));
    let one = LogRequest { sources: vec![path("run.rec")], style: Style::default(), baud: 115_200 };
    assert_eq!(parse(&["log", "run.rec"]).unwrap(), Command::Log(one));
    let words = ["log", "/dev/ttyUSB0", "-", "--format", "csv", "--rows", "runs", "--baud", "9600"];
    let style = Style { format: Format::Csv, rows: Rows::Runs, marked: true };
    let two = LogRequest { sources: vec![path("/dev/ttyUSB0"), LogSource::StandardInput], style, baud: 9600 };
    assert_eq!(parse(&words).unwrap(), Command::Log(two));
}

/// Wrong words and the line that refuses them.
const REFUSED: &[(&[&str], &str)] = &[
    (&["--streams", "0"], "--streams 0: must be 1 to 7 (streams a direction)"),
    (&["--streams", "8"], "--streams 8: must be 1 to 7 (streams a direction)"),
    (&["--streams", "-1"], "--streams -1: must be 1 to 7 (streams a direction)"),
    (&["--streams", ""], "--streams \"\": must be 1 to 7 (streams a direction)"),
    (&["run", "--streams", "two"], "--streams two: must be 1 to 7 (streams a direction)"),
    (
        &["--mix", "63"],
        "--mix 63: must be jumbo, rfc2544, small or up to 16 sizes from 64 to 9216 octets (FCS counted)",
    ),
    (
        &["--mix", "64,63"],
        "--mix 64,63: must be jumbo, rfc2544, small or up to 16 sizes from 64 to 9216 octets (FCS counted)",
    ),
    (&["--mix", "9019"], "--mix 9019: size 9019 is over the 9018 octets (FCS counted) that MTU 9000 carries"),
    (
        &["--mix", "huge"],
        "--mix huge: must be jumbo, rfc2544, small or up to 16 sizes from 64 to 9216 octets (FCS counted)",
    ),
    (&["--rate", "0"], "--rate 0: must be 1M to 400G, like 500M, 2.5G or 1000 (a plain number is Mb/s)"),
    (
        &["--rate", "401G"],
        "--rate 401G: must be 1M to 400G, like 500M, 2.5G or 1000 (a plain number is Mb/s)",
    ),
    (&["--rate", "-1G"], "--rate -1G: must be 1M to 400G, like 500M, 2.5G or 1000 (a plain number is Mb/s)"),
    (&["--duration", "-inf"], "--duration -inf: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--streams", "--json"], "--streams --json: must be 1 to 7 (streams a direction)"),
    (
        &["--board", "x520", "--rate", "20G"],
        "--rate 20000: 20.000 Gb/s is over this board's link speed of 10.000 Gb/s",
    ),
    (&["--duration", "0"], "--duration 0: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--duration", "-5"], "--duration -5: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--duration", "nan"], "--duration nan: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--duration", "inf"], "--duration inf: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--duration", "1e400"], "--duration 1e400: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--duration", "long"], "--duration long: must be quick, standard, proof or 0.1 to 2592000 seconds"),
    (&["--confidence", "1"], "--confidence 1: must be 0.5 to 0.999999, like 0.95 or 95%"),
    (&["--confidence", "95"], "--confidence 95: must be 0.5 to 0.999999, like 0.95 or 95%"),
    (&["--bound", "0"], "--bound 0: must be a bit error ratio from 1e-18 to under 1, like 1e-12"),
    (&["--bound", "1"], "--bound 1: must be a bit error ratio from 1e-18 to under 1, like 1e-12"),
    (
        &["--fault", "a>b drop 17"],
        "--fault \"a>b drop 17\": only the emulated cable has it, and this run's cable is virtual; add --cable emulated",
    ),
    (
        &["--board", "x520", "--seed", "3"],
        "--seed 3: only the emulated cable has it, and this run's cable is ports; add --cable emulated",
    ),
    (
        &["--truth"],
        "--truth: only the emulated cable has it, and this run's cable is virtual; add --cable emulated",
    ),
    (
        &["--cable", "emulated", "--seed", "-1"],
        "--seed -1: must be a whole number from 0 to 18446744073709551615",
    ),
    (&["--cable", "fibre"], "--cable fibre: must be virtual, emulated or ports"),
    (&["--cable", "ports"], "--cable ports: needs --board, which says which two ports"),
    (
        &["--cable", "ports", "--board", "virtual"],
        "--cable ports: board virtual does not say which two ports; its cable is virtual",
    ),
    (
        &["--board", "vitrual"],
        "board \"vitrual\" is not virtual, emulated, emulated-box, emulated-ssd1306, emulated-sh1106 or x520, or a path with a / or ending in .toml",
    ),
    (
        &["--board", "/nonexistent/my.toml"],
        "board /nonexistent/my.toml: cannot be read: No such file or directory (os error 2)",
    ),
    (
        &["boards", "nosuch"],
        "board \"nosuch\" is not virtual, emulated, emulated-box, emulated-ssd1306, emulated-sh1106 or x520, or a path with a / or ending in .toml",
    ),
    (&["--label", "caf\u{e9}"], "--label caf\u{e9}: must be at most 32 printable ASCII characters"),
    (
        &["--label", "123456789012345678901234567890123"],
        "--label 123456789012345678901234567890123: must be at most 32 printable ASCII characters",
    ),
    (&["--log", ""], "--log \"\": must be a file"),
    (&["--log", "x", "--screenshot", "x"], "--screenshot x: must be another file than that of --log"),
    (&["--records", "x", "--screenshot", "x"], "--screenshot x: must be another file than that of --records"),
    (&["--log", "x", "--records", "x"], "--records x: must be another file than that of --log"),
    (&["--label", "a\nb"], "argument 2 (a\\nb): must have no control characters"),
    (&["--bord", "virtual"], "unknown option --bord; did you mean --board? (see --help)"),
    (&["run", "virtual"], "unknown option virtual (see --help)"),
    (&["judge"], "unknown command judge (see --help)"),
    (&["--board"], "a value is required for '--board <NAME|FILE>' but none was supplied (see --help)"),
    (
        &["--board", "virtual", "--board", "x520"],
        "the argument '--board <NAME|FILE>' cannot be used multiple times (see --help)",
    ),
    (&["--json=yes"], "unexpected value 'yes' for '--json' found; no more were expected (see --help)"),
    (&["--json", "bench"], "the subcommand 'bench' cannot be used with '--json' (see --help)"),
    (&["bench", "--seconds", "0"], "--seconds 0: must be 0.1 to 3600 seconds"),
    (
        &["bench", "--mix", "small", "--mix", "9019"],
        "--mix 9019: size 9019 is over the 9018 octets (FCS counted) that MTU 9000 carries",
    ),
    (&["bench", "--streams", "8"], "--streams 8: must be 1 to 7 (streams a direction)"),
    (&["log"], "the following required arguments were not provided: <PORT|FILE|->... (see --help)"),
    (&["log", ""], "source \"\": must be a serial port, a file or -"),
    (&["log", "a", "b", "a"], "source a: must be given only once"),
    (&["log", "-", "-"], "source -: must be given only once"),
    (&["log", "-", "--format", "json"], "--format json: must be text, jsonl or csv"),
    (&["log", "-", "--rows", "runs"], "--rows: text has no rows; add --format jsonl or --format csv"),
    (&["log", "-", "--format", "csv", "--rows", "all"], "--rows all: must be both, runs or seconds"),
    (&["log", "-", "--baud", "0"], "--baud 0: must be a whole number from 1200 to 4000000"),
    (&["log", "-", "--baud", "-9600"], "--baud -9600: must be a whole number from 1200 to 4000000"),
    (&["log", "-", "--baud", "115k"], "--baud 115k: must be a whole number from 1200 to 4000000"),
    (&["log", "-", "--json"], "unknown option --json (see --help)"),
];

#[test]
fn a_wrong_request_is_refused_with_exactly_this_line() {
    for (words, line) in REFUSED {
        assert_eq!(refusal(words), *line, "{words:?}");
    }
    assert_eq!(args::Refused::EXIT_CODE, 2);
}

#[test]
fn a_wrong_board_file_is_refused_with_its_name_and_key() {
    for (text, line) in [
        ("inherit = \"virtual\"\nmtuu = 9000\n", "unknown key mtuu; did you mean mtu?"),
        (
            "inherit = \"virtual\"\npace-mbps = 0\n",
            "pace-mbps = 0 is not a whole number from 1 to 400000 (Mb/s of L1 rate)",
        ),
        (
            "inherit = \"virtual\"\nduration = 0\n",
            "duration = 0 is not \"quick\", \"standard\", \"proof\" or a number from 0.1 to 2592000 (seconds)",
        ),
        (
            "inherit = \"virtual\"\nstreams = 8\n",
            "streams = 8 is not a whole number from 1 to 7 (a direction)",
        ),
    ] {
        let (_folder, path) = file("mine.toml", text);
        assert_eq!(refusal(&["--board", &path]), format!("board {path}: {line}"));
    }
}

#[test]
fn more_streams_than_the_board_has_ethertypes_are_refused() {
    let (_folder, path) = file("mine.toml", "inherit = \"virtual\"\nethertypes = [0x88B5, 0x88B6]\n");
    assert_eq!(
        refusal(&["--board", &path, "--streams", "3"]),
        "--streams 3: each stream needs an ethertype of its own, and this board lists 2"
    );
}

#[test]
fn arguments_that_are_no_text_are_refused() {
    let words = ["linegauge".into(), OsString::from("--log"), OsString::from_vec(vec![b'x', 0xff])];
    let refused = args::parse(words).unwrap_err();
    assert_eq!(refused.to_string(), "argument 2 (x\u{fffd}): must be UTF-8 text");
}

#[test]
fn the_programs_own_name_can_be_anything_or_nothing() {
    assert!(args::parse([]).is_ok());
    assert!(args::parse([OsString::from_vec(vec![0xff, b'\n'])]).is_ok());
}

fn help() -> String {
    let pages: [&[&str]; 6] = [
        &["--help"],
        &["-h"],
        &["run", "--help"],
        &["boards", "--help"],
        &["bench", "--help"],
        &["log", "--help"],
    ];
    pages.map(|words| format!("$ linegauge {}\n{}\n", words.join(" "), printed(words))).concat()
}

#[test]
fn help_reads_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help.txt");
    let found = help();
    if std::env::var_os("LINEGAUGE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &found).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, recorded, "{}: LINEGAUGE_BLESS=1 records it anew", path.display());
}

#[test]
fn help_names_every_option_and_every_exit_code() {
    let text = printed(&["--help"]);
    for option in [
        "--board",
        "--cable",
        "--duration",
        "--streams",
        "--mix",
        "--rate",
        "--bound",
        "--confidence",
        "--fault",
        "--seed",
        "--truth",
        "--label",
        "--log",
        "--screenshot",
        "--json",
        "--no-panel",
        "--help",
        "--version",
        "run",
        "boards",
        "bench",
        "0  PASS",
        "1  FAIL",
        "2  the request is wrong",
        "3  INVALID",
        "4  MARGINAL",
    ] {
        assert!(text.contains(option), "{option}");
    }
    let bench = printed(&["bench", "--help"]);
    for option in ["--seconds", "--mix", "--streams", "--json"] {
        assert!(bench.contains(option), "{option}");
    }
    let log = printed(&["log", "--help"]);
    for option in ["--format", "--rows", "--baud", "PORT|FILE|-", "0  read", "2  the request", "3  a source"]
    {
        assert!(log.contains(option), "{option}");
    }
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    for line in help().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_version_is_the_crates() {
    assert_eq!(printed(&["--version"]), format!("linegauge {}\n", env!("CARGO_PKG_VERSION")));
}

/// Words that the parser knows, among words that it does not.
fn word() -> impl Strategy<Value = OsString> {
    let known = prop::sample::select(vec![
        "run",
        "boards",
        "bench",
        "log",
        "--format",
        "--rows",
        "--baud",
        "csv",
        "--board",
        "--cable",
        "--duration",
        "--streams",
        "--mix",
        "--rate",
        "--bound",
        "--confidence",
        "--fault",
        "--seed",
        "--truth",
        "--label",
        "--log",
        "--screenshot",
        "--json",
        "--no-panel",
        "--seconds",
        "--",
        "-",
        "-h",
        "virtual",
        "emulated",
        "x520",
        "ports",
        "proof",
        "jumbo",
        "64,9018",
        "1G",
        "0",
        "-1",
        "1e400",
        "nan",
        "",
        "95%",
        "--streams=3",
        "--mix=",
    ]);
    prop_oneof![
        4 => known.prop_map(OsString::from),
        1 => any::<String>().prop_map(OsString::from),
        1 => any::<Vec<u8>>().prop_map(OsString::from_vec),
        1 => "-{0,2}[a-z]{0,8}=?[-+0-9a-zA-Z.,%]{0,12}".prop_map(OsString::from),
    ]
}

fn check_run(request: &RunRequest) -> Result<(), TestCaseError> {
    let board = &request.board;
    prop_assert_eq!(board.check(), Ok(()));
    prop_assert_eq!(board.stream_ethertypes().len(), usize::from(board.streams));
    prop_assert!(board.mix.largest().octets() <= u64::from(board.mtu) + 18);
    prop_assert!(board.duration.judged().is_none_or(|time| time > Duration::ZERO));
    prop_assert!(board.pace.is_none_or(|pace| pace > BitRate::default()));
    prop_assert_eq!(board.ports.is_some(), board.cable == CableKind::Ports);
    prop_assert!(board.duration != DurationArg::Proof || request.bound.is_some());
    prop_assert!(request.faults.is_empty() || board.cable == CableKind::Emulated);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_words_are_a_request_or_one_clear_line(words in prop::collection::vec(word(), 0..7)) {
        match args::parse(std::iter::once(OsString::new()).chain(words)) {
            Ok(Command::Run(request)) => check_run(&request)?,
            Ok(Command::Bench(request)) => prop_assert_eq!(request.board.check(), Ok(())),
            Ok(_) => {}
            Err(refused) => {
                let line = refused.to_string();
                prop_assert!(!line.is_empty());
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}

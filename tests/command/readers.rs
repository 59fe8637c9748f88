//! Readers of the output that go away, or that do not read.

use super::gauge::{Ended, Gauge, PROGRAM, Running, full_pipe, has_namespaces, has_tap};
use std::io::{BufRead, BufReader, PipeWriter};
use std::process::{Command, Stdio};

/// The end of a command that writes to `out`.
fn end(command: &mut Command, out: impl Into<Stdio>) -> Ended {
    let child = command.stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    Running::over(child, None).end()
}

/// The writing end of a pipe whose reader has gone.
fn broken_pipe() -> PipeWriter {
    std::io::pipe().unwrap().1
}

#[test]
fn a_reader_that_does_not_read_changes_neither_verdict_nor_end() {
    if !has_tap() {
        return;
    }
    let (stuck, pipe) = full_pipe();
    let gauge = Gauge::on_emulated(&["a>b drop 3"]).with(&["--json", "--truth"]);
    let ended = end(&mut gauge.command(), pipe);
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), ""));
    drop(stuck);
}

#[test]
fn a_reader_that_goes_after_the_first_line_changes_neither_verdict_nor_end() {
    if !has_tap() {
        return;
    }
    let gauge = Gauge::on_emulated(&["a>b drop 3"]).with(&["--json", "--truth"]);
    let mut child = gauge.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains(" start run 1, "), "{first}");
    let ended = Running::over(child, None).end();
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), ""));
}

#[test]
fn commands_that_only_print_do_not_mind_a_reader_that_has_gone() {
    for words in [&["boards"][..], &["boards", "virtual"], &["--help"], &["--version"]] {
        let ended = end(Command::new(PROGRAM).args(words), broken_pipe());
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_bench_does_not_mind_a_reader_that_has_gone() {
    if !has_namespaces() {
        return;
    }
    for more in [&["--json"][..], &[]] {
        let ended = end(Command::new(PROGRAM).args(["bench", "--seconds", "0.1"]).args(more), broken_pipe());
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{more:?}");
    }
}

#[test]
fn a_refusal_keeps_its_exit_code_when_nobody_reads_it() {
    let mut child = Command::new(PROGRAM).arg("--no-such").stderr(broken_pipe()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

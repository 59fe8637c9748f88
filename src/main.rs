//! Table of contents: be the box, or read the command, do it, end with its exit code.

use linegauge::args::{self, Command};
use linegauge::command::{self, EXIT_USAGE};
use std::path::Path;
use std::process::ExitCode;

/// What the kernel calls the first program of an initramfs.
const INIT: &str = "/init";

/// Started by the kernel of the box: its first process, by that name, and before anything is mounted. The first
/// process of a container is none.
fn is_the_box() -> bool {
    let named = std::env::args_os().next().is_some_and(|name| name == INIT);
    std::process::id() == 1 && named && !Path::new("/proc/self").exists()
}

fn main() -> ExitCode {
    if is_the_box() {
        command::appliance::run();
    }
    match args::parse(std::env::args_os()) {
        Ok(Command::Run(request)) => command::exit_code(command::run::run(&request)),
        Ok(Command::Bench(request)) => command::exit_code(command::bench::run(&request)),
        Ok(Command::History(request)) => command::exit_code(command::history::run(&request).map(|()| None)),
        Ok(Command::Log(request)) => command::exit_code(command::log::run(&request).map(|()| None)),
        Ok(Command::Cable(request)) => command::exit_code(command::cable::run(&request).map(|()| None)),
        Ok(Command::Boards { board }) => {
            command::boards::show(board.as_ref());
            ExitCode::SUCCESS
        }
        Ok(Command::Print(text)) => {
            command::print_out(&text);
            ExitCode::SUCCESS
        }
        Err(refused) => {
            command::complain(&refused);
            ExitCode::from(EXIT_USAGE)
        }
    }
}

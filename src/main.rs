//! Table of contents: read the command, build the real parts, run.

fn main() {}

//! The release program has no tables for unwinding: a panic ends it, after its hook and without a trace, and
//! everything else needs none. They are a twelfth of it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/no_unwinding.ld");
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo tells it");
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{folder}/src/no_unwinding.ld");
    }
}

//! What a session can drive: real sockets with threads, or a model in virtual time.

pub mod absent;
pub mod sockets;
pub mod trouble;
mod wire;
pub mod world;

//! The only `unsafe` of the project: one system call a function, each with its SAFETY note.
#![allow(unsafe_code)]

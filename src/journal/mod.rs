//! What is written of a run: the text log, the JSON result, and the mailboxes that keep a slow reader
//! from disturbing a run.

pub mod json;
pub mod mailbox;
pub mod text;

//! What is written of a run: the text log, the JSON result, the records for programs, and the mailboxes that
//! keep a slow reader from disturbing a run; and the serial line, on which somebody may also type. And what
//! reads records back.

mod backlog;
pub mod history;
pub mod json;
pub mod kept;
pub mod mailbox;
pub mod reader;
pub mod record;
pub mod serial;
pub mod text;
pub mod typed;
mod utc;
pub mod voice;

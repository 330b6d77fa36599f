//! Why conversations end.

use std::io;

use crate::mysql::packet::Unread;

/// Why a conversation ends.
#[derive(Debug)]
pub enum Fault {
    /// The client has gone: how, as far as that is known.
    Gone(io::Error),
    /// It said nothing for as long as it may be silent.
    Silent,
    /// What it sent is not the protocol: MySQL's number of the error, SQLSTATE, a sentence.
    Refused(u16, &'static str, String),
}

#[cold]
pub(super) fn unreadable_request(unread: Unread, most: usize) -> Fault {
    match unread {
        Unread::Gone(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Fault::Silent,
            _ => Fault::Gone(error),
        },
        Unread::OutOfOrder { number, expected } => Fault::Refused(
            1156,
            "08S01",
            format!(
                "packet number {number} came where {expected} had to come; does another thread \
                 use this connection?"
            ),
        ),
        Unread::TooLarge => Fault::Refused(
            1153,
            "08S01",
            format!("a request of more than {most} bytes (max_allowed_packet); send it in parts"),
        ),
    }
}

/// A request that ends before its content does.
#[cold]
pub(super) fn malformed_request(what: &str) -> Fault {
    Fault::Refused(1835, "HY000", format!("malformed request: {what}"))
}

//! The server, asked by dbdyno's own client and by clients that do not keep to the protocol.

mod answers;
mod bad_input;
mod ending;
mod killed;
mod place;
mod tls;

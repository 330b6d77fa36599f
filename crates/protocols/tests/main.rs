//! Protocols, explored to their end.

mod one_server;
mod permissiveness;
mod sharded;

//! The PostgreSQL protocol.

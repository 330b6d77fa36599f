//! dbdyno
fn main() {}

//! A null server for measuring clients: every `SELECT` gets one row of 119 characters at once.
//!
//! ```text
//! cargo run --release -p dbdyno-wire --example null_server -- mysql
//! sysbench oltp_point_select --mysql-host=127.0.0.1 --mysql-port=PORT --mysql-user=root …
//! ```
//!
//! It prints its port, and serves until its standard input ends.

use std::io::{self, Read};
use std::sync::Arc;

use dbdyno_wire::mock::{FixedScript, Login, MockProtocol, MockServer, Turn};

#[expect(clippy::print_stdout, reason = "an example talks to its user")]
fn main() -> io::Result<()> {
    let protocol = match std::env::args().nth(1).as_deref() {
        Some("postgres") => MockProtocol::Postgres,
        Some("mysql") | None => MockProtocol::Mysql,
        Some(other) => {
            let text = format!("no protocol {other:?}; say mysql or postgres");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    };
    let server = MockServer::start(
        protocol,
        Login::without_password("root"),
        Arc::new(FixedScript(Turn::point_query())),
    )?;
    println!("{}", server.endpoint().transport);
    io::stdin().read_to_end(&mut Vec::new())?;
    println!("{} statements, {} controls", server.statements(), server.control_count());
    Ok(())
}

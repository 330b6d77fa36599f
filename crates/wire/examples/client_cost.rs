//! Processor time of the MySQL client per prepared point query, against a server of its own
//! process.
//!
//! ```text
//! cargo run --release -p dbdyno-wire --example null_server -- mysql
//! cargo run --release -p dbdyno-wire --example client_cost -- PORT CONNECTIONS STATEMENTS
//! ```

use std::error::Error;
use std::fs;
use std::thread;

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Args, Client, Endpoint, Param};

const TICKS_PER_SECOND: f64 = 100.0;

#[expect(clippy::print_stdout, reason = "an example talks to its user")]
fn main() -> Result<(), Box<dyn Error>> {
    let numbers = std::env::args().skip(1).map(|word| word.parse());
    let [port, connections, statements] =
        numbers.collect::<Result<Vec<u64>, _>>()?.try_into().map_err(|_| {
            "give the port of a null server, a number of connections and one of statements each"
        })?;
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".to_owned(), u16::try_from(port)?),
        user: "root".to_owned(),
        password: Secret::default(),
        database: "sbtest".to_owned(),
        security: dbdyno_wire::Security::without_tls(),
    };
    let before = cpu_seconds()?;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| ask(&endpoint, statements).map_err(|error| error.to_string())))
            .collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(_) => Err("a client panicked".to_owned()),
        })
    })?;
    let after = cpu_seconds()?;
    let total = (connections * statements) as f64;
    let [user, system] = [0, 1].map(|side| (after[side] - before[side]) * 1e6 / total);
    println!("{total} statements: user {user:.3} µs, system {system:.3} µs each");
    Ok(())
}

struct Id(i64);

impl Args for Id {
    fn count(&self) -> usize {
        1
    }
    fn get(&self, _index: usize) -> Param<'_> {
        Param::Int(self.0)
    }
}

fn ask(endpoint: &Endpoint, statements: u64) -> Result<(), Box<dyn Error>> {
    let mut connection = MysqlConnection::connect(endpoint)?;
    let statement = connection.prepare("SELECT c FROM sbtest1 WHERE id=?")?;
    for number in 0..statements {
        let outcome = connection.execute(statement, &Id(number as i64))?;
        if outcome.rows != 1 {
            return Err(format!("{} rows instead of one", outcome.rows).into());
        }
    }
    Ok(())
}

/// User and system time of this process.
fn cpu_seconds() -> Result<[f64; 2], Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let seconds = |index: usize| -> Result<f64, Box<dyn Error>> {
        Ok(fields.get(index).ok_or("short /proc/self/stat")?.parse::<f64>()? / TICKS_PER_SECOND)
    };
    Ok([seconds(11)?, seconds(12)?])
}

//! How much of answers is kept: a server that sends without end is not kept without end, however
//! many connections it is asked over.
//!
//! ```text
//!   one answer        KeptSize, RowBuffer     rows, values and bytes: KEPT_…_MAX
//!   all connections   part ── part ── part    bytes of memory:        ALL_KEPT_MAX
//!                       └── one sum of the process ──┘
//! ```
//!
//! A [`MemoryPart`] belongs to what takes the memory (a result, a buffer) and gives its part back
//! when that is dropped. What is small is not counted, so that statements that are measured touch
//! nothing that connections share.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::WireError;

/// Rows of a result that is kept.
pub(crate) const KEPT_ROWS_MAX: usize = 5_000_000;
/// Values of all its rows: one takes 24 bytes, also where it is NULL and one byte on the wire.
pub(crate) const KEPT_VALUES_MAX: usize = 20_000_000;
/// Bytes of all its packets.
pub(crate) const KEPT_BYTES_MAX: usize = 256 << 20;
/// Bytes of memory that answers and buffers of all connections of this process take at a time.
pub(crate) const ALL_KEPT_MAX: usize = 1 << 30;

/// Bytes of memory that are not counted, for each answer and each buffer.
const SMALL: usize = 64 << 10;
/// Bytes that are counted at a time.
const STEP: usize = 64 << 10;
/// Bytes that a row of strings takes besides its values, in a vector that doubles.
const ROW_MEMORY: usize = 48;
/// Bytes that a value takes besides its characters: the string, and the least piece that is
/// allocated.
const VALUE_MEMORY: usize = 56;

/// What all connections of this process hold.
static ALL: Budget = Budget::new(ALL_KEPT_MAX);

/// Memory that several share.
#[derive(Debug)]
pub(crate) struct Budget {
    taken: AtomicUsize,
    most: usize,
}

impl Budget {
    const fn new(most: usize) -> Budget {
        Budget { taken: AtomicUsize::new(0), most }
    }
}

/// A part of the memory that answers may take; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryPart {
    budget: &'static Budget,
    bytes: usize,
}

impl MemoryPart {
    /// Counts so many bytes in place of those that were counted before, if they are more.
    ///
    /// # Errors
    /// [`WireError::Crowded`]: all connections together would hold more than they may.
    #[inline]
    pub(crate) fn cover_bytes(&mut self, bytes: usize) -> Result<(), WireError> {
        if bytes <= self.bytes.max(SMALL) { Ok(()) } else { self.grow(bytes) }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) -> Result<(), WireError> {
        let wanted = bytes.saturating_add(STEP - 1) / STEP * STEP;
        let (more, most) = (wanted - self.bytes, self.budget.most);
        let taken = &self.budget.taken;
        match taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
            taken.checked_add(more).filter(|taken| *taken <= most)
        }) {
            Ok(_) => {
                self.bytes = wanted;
                Ok(())
            }
            Err(others) => {
                let others = others.saturating_sub(self.bytes);
                Err(WireError::Crowded { bytes, others, most })
            }
        }
    }
}

impl Default for MemoryPart {
    fn default() -> MemoryPart {
        MemoryPart { budget: &ALL, bytes: 0 }
    }
}

impl Clone for MemoryPart {
    /// A copy takes memory as well, and is not refused.
    fn clone(&self) -> MemoryPart {
        self.budget.taken.fetch_add(self.bytes, Ordering::Relaxed);
        MemoryPart { budget: self.budget, bytes: self.bytes }
    }
}

impl Drop for MemoryPart {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// How much memory something takes is no part of what it is.
impl PartialEq for MemoryPart {
    fn eq(&self, _other: &MemoryPart) -> bool {
        true
    }
}

impl Eq for MemoryPart {}

/// How much of a result is kept already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptSize {
    rows: usize,
    values: usize,
    bytes: usize,
}

impl KeptSize {
    /// Counts a row of so many bytes, or the description of columns, for whom `held` keeps it.
    ///
    /// # Errors
    /// The result is larger than any that is kept, or there is no memory for it beside others.
    pub(crate) fn add_row(
        &mut self,
        values: usize,
        bytes: usize,
        held: &mut MemoryPart,
    ) -> Result<(), WireError> {
        self.rows += 1;
        self.values += values;
        self.bytes = self.bytes.saturating_add(bytes);
        let fits = self.rows <= KEPT_ROWS_MAX
            && self.values <= KEPT_VALUES_MAX
            && self.bytes <= KEPT_BYTES_MAX;
        if !fits {
            return Err(too_large());
        }
        held.cover_bytes(self.rows * ROW_MEMORY + self.values * VALUE_MEMORY + self.bytes)
    }
}

/// An answer is larger than any that is kept.
#[cold]
pub(crate) fn too_large() -> WireError {
    WireError::Protocol(format!(
        "the answer has more than {KEPT_ROWS_MAX} rows, {KEPT_VALUES_MAX} values or {} MiB, more \
         than any that is kept",
        KEPT_BYTES_MAX >> 20
    ))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::Arc;

    use super::*;
    use crate::client::Client;
    use crate::mock::{FixedScript, Login, MockProtocol, MockReply, MockServer, Turn};
    use crate::{mysql, postgres};

    fn nobody_else() -> MemoryPart {
        MemoryPart { budget: Box::leak(Box::new(Budget::new(usize::MAX))), bytes: 0 }
    }

    #[test]
    fn a_kept_result_has_a_limit_of_rows_and_one_of_bytes() {
        let mut held = nobody_else();
        let mut rows = KeptSize::default();
        let taken = (0..KEPT_ROWS_MAX).all(|_| rows.add_row(1, 1, &mut held).is_ok());
        assert!(taken && rows.add_row(1, 1, &mut held).is_err());
        // NULLs take a byte each on the wire and more here.
        let mut nulls = KeptSize::default();
        let taken = (0..).take_while(|_| nulls.add_row(4096, 4096, &mut held).is_ok()).count();
        assert_eq!(taken, KEPT_VALUES_MAX / 4096);
        assert!(KeptSize::default().add_row(1, KEPT_BYTES_MAX + 1, &mut held).is_err());
    }

    #[test]
    fn what_many_hold_has_one_limit_and_what_is_dropped_is_free() {
        let budget: &'static Budget = Box::leak(Box::new(Budget::new(10 * STEP)));
        let mut one = MemoryPart { budget, bytes: 0 };
        let mut two = MemoryPart { budget, bytes: 0 };
        one.cover_bytes(SMALL).unwrap();
        assert_eq!(budget.taken.load(Ordering::Relaxed), 0, "what is small is not counted");
        one.cover_bytes(6 * STEP - 1).unwrap();
        one.cover_bytes(5 * STEP).unwrap();
        two.cover_bytes(4 * STEP).unwrap();
        assert_eq!(budget.taken.load(Ordering::Relaxed), 10 * STEP);
        for _ in 0..3 {
            let error = two.cover_bytes(4 * STEP + 1).unwrap_err();
            let WireError::Crowded { bytes, others, most } = error else { panic!("{error}") };
            assert_eq!((bytes, others, most), (4 * STEP + 1, 6 * STEP, 10 * STEP));
        }
        two.cover_bytes(4 * STEP).unwrap();
        let copy = one.clone();
        assert_eq!(
            budget.taken.load(Ordering::Relaxed),
            16 * STEP,
            "a copy is counted and not refused"
        );
        drop((one, copy));
        two.cover_bytes(10 * STEP).unwrap();
        assert!(two.cover_bytes(usize::MAX).is_err());
        drop(two);
        assert_eq!(budget.taken.load(Ordering::Relaxed), 0);
    }

    /// In a process of its own: while the memory is taken, other tests would be refused as well.
    #[test]
    fn answers_of_all_connections_have_one_limit() {
        let program = std::env::current_exe().unwrap();
        let name = "kept::tests::in_a_process_of_its_own";
        let output = Command::new(program).args(["--exact", name, "--ignored"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    /// A hostile server answers each connection with a megabyte, in one value and in many.
    #[test]
    #[ignore = "run by answers_of_all_connections_have_one_limit"]
    fn in_a_process_of_its_own() {
        let rows = [(1, 1 << 20), (10_000, 50)];
        for (protocol, (count, width)) in [MockProtocol::Mysql, MockProtocol::Postgres]
            .into_iter()
            .flat_map(|p| rows.map(|r| (p, r)))
        {
            let script = Arc::new(FixedScript(Turn::now(MockReply::Rows { count, width })));
            let server =
                MockServer::start(protocol, Login::without_password("bob"), script).unwrap();
            let endpoint = server.endpoint();
            let connect = || -> Box<dyn Client> {
                match protocol {
                    MockProtocol::Mysql => {
                        Box::new(mysql::MysqlConnection::connect(&endpoint).unwrap())
                    }
                    MockProtocol::Postgres => {
                        Box::new(postgres::PostgresConnection::connect(&endpoint).unwrap())
                    }
                }
            };
            let before = ALL.taken.load(Ordering::Relaxed);
            let mut most = MemoryPart::default();
            most.cover_bytes(ALL_KEPT_MAX - (10 << 20)).unwrap();
            let mut held = Vec::new();
            let error = (0..20).find_map(|_| {
                let mut client = connect();
                let rows = client.query("SELECT c FROM t");
                rows.map(|rows| held.push((client, rows))).err()
            });
            let error = error.expect("twenty megabytes are more than ten");
            assert!(matches!(error, WireError::Crowded { .. }), "{error}");
            assert!((3..11).contains(&held.len()), "{protocol:?} {count}: {}", held.len());
            let told = error.to_string();
            assert!(told.contains("more than 1024 MiB"), "{told}");
            // What was refused, and what is let go, makes room.
            held.clear();
            connect().query("SELECT c FROM t").unwrap();
            drop(most);
            assert_eq!(ALL.taken.load(Ordering::Relaxed), before);
        }
    }
}

//! The side of the reference engine: one statement of a session for each statement.

use std::array;
use std::ops::Bound;
use std::path::Path as Directory;
use std::sync::Arc;

use dbdyno_engine::Datum::{Int, Text};
use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineOptions, EngineSession, Fields, IndexSpec, Intent, Path,
    Range, Scan, TableSpec, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Device;

use crate::answers::Answers;
use crate::contents::{Contents, RowSum};
use crate::failure::Failure;
use crate::side::{RivalClient, RivalDatabase, RivalDurability};
use crate::statements::{Asking, Statements};
use crate::work::{
    C_BYTES, CUSTOMER, Filling, LAST_BYTES, RANGE, Sbtest, Scale, TABLES, TpccRow, TpccTable,
    fill_tables,
};

/// An engine that is open, and its tables.
pub struct EngineSide {
    engine: Engine,
    tables: Tables,
}

type Handle = Arc<dbdyno_engine::Table>;
/// A row as it is found.
type Found<'a> = dbdyno_engine::RowView<'a>;

#[derive(Clone)]
struct Tables {
    sbtest: Handle,
    /// In the order of [`TABLES`].
    tpcc: Vec<Handle>,
}

/// Columns of sysbench's table.
const K: usize = 1;
const C: usize = 2;

impl EngineSide {
    /// Opens an engine in an empty directory and fills tables of this size. What its commits wait
    /// for is not as its design says.
    ///
    /// # Errors
    /// What the disk or the engine refuses.
    pub fn open(
        directory: &Directory,
        design: &Design,
        durability: RivalDurability,
        scale: &Scale,
    ) -> Result<EngineSide, Failure> {
        let device = match durability {
            RivalDurability::Written => Device::None,
            RivalDurability::Synced => Device::Disk,
        };
        let disk = RealDisk::open(directory).map_err(|error| Failure::Broken(error.to_string()))?;
        let design = Design { device, ..*design };
        let engine = Engine::open(Arc::new(disk), &design, EngineOptions::default())?;
        let tpcc = TABLES.into_iter().map(|table| engine.create_table(spec(table)));
        let tpcc = tpcc.collect::<Result<_, _>>()?;
        let tables = Tables { sbtest: engine.create_table(sbtest_spec())?, tpcc };
        let mut to = Filler { session: engine.session(), tables: &tables, pending: 0 };
        fill_tables(scale, &mut to)?;
        to.end()?;
        engine.checkpoint()?;
        Ok(EngineSide { engine, tables })
    }
}

fn sbtest_spec() -> TableSpec {
    let columns = vec![
        ColumnSpec::required("id", ValueType::BIGINT),
        ColumnSpec::required("k", ValueType::BIGINT),
        ColumnSpec::required("c", ValueType::Text { most: C_BYTES as u32 }),
        ColumnSpec::required("pad", ValueType::Text { most: 60 }),
    ];
    let indexes = vec![IndexSpec::non_unique("second", &[K])];
    TableSpec { indexes, ..TableSpec::new("sbtest", columns, &[0]) }
}

/// The numbers of the key, the other numbers, the texts.
fn spec(table: TpccTable) -> TableSpec {
    let numbers = table.key + table.numbers;
    let texts = table.texts.iter().enumerate().map(|(place, &most)| {
        ColumnSpec::required(&format!("text{place}"), ValueType::Text { most: most as u32 })
    });
    let columns = (0..numbers)
        .map(|place| ColumnSpec::required(&format!("number{place}"), ValueType::BIGINT))
        .chain(texts)
        .collect();
    let index = (table == CUSTOMER).then(|| IndexSpec::non_unique("second", &[0, 1, numbers]));
    let indexes = index.into_iter().collect();
    let primary: Vec<usize> = (0..table.key).collect();
    TableSpec { indexes, ..TableSpec::new(table.name, columns, &primary) }
}

/// Rows of one transaction while tables are filled.
const BATCH: usize = 1_000;

/// Puts rows in, many in a transaction.
struct Filler<'t> {
    session: EngineSession,
    tables: &'t Tables,
    pending: usize,
}

impl Filler<'_> {
    fn next(&mut self) -> Result<(), Failure> {
        if self.pending == BATCH {
            self.end()?;
        }
        if self.pending == 0 {
            self.session.begin(None)?;
        }
        self.pending += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.pending = 0;
        Ok(self.session.commit()?)
    }
}

impl Filling for Filler<'_> {
    fn put_sbtest_row(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure> {
        self.next()?;
        self.tables.put_sbtest(&mut self.session, id, row)
    }

    fn put_row(&mut self, row: TpccRow<'_>) -> Result<(), Failure> {
        self.next()?;
        self.tables.put(&mut self.session, row)
    }
}

impl Tables {
    fn of(&self, table: TpccTable) -> &Handle {
        &self.tpcc[table.place]
    }

    fn put_sbtest(
        &self,
        session: &mut EngineSession,
        id: i64,
        row: &Sbtest,
    ) -> Result<(), Failure> {
        let row = [Int(id), Int(row.k), Text(&row.c), Text(&row.pad)];
        session.statement(|it| it.insert(&self.sbtest, &row))?;
        Ok(())
    }

    fn put(&self, session: &mut EngineSession, row: TpccRow<'_>) -> Result<(), Failure> {
        let TpccRow { table, key, numbers, mut text } = row;
        let mut cells = [Datum::Null; COLUMNS_MOST];
        for (cell, &number) in cells.iter_mut().zip(key.iter().chain(numbers)) {
            *cell = Int(number);
        }
        let many = key.len() + numbers.len();
        for (cell, &length) in cells[many..].iter_mut().zip(table.texts) {
            let (own, rest) = text.split_at(length);
            (*cell, text) = (Text(own), rest);
        }
        let cells = &cells[..many + table.texts.len()];
        session.statement(|it| it.insert(self.of(table), cells))?;
        Ok(())
    }
}

/// The most columns of a table.
const COLUMNS_MOST: usize = 9;

impl RivalDatabase for EngineSide {
    fn client(&self) -> Box<dyn RivalClient + '_> {
        Box::new(Asking(EngineClient { session: self.engine.session(), tables: &self.tables }))
    }

    fn read_contents(&self) -> Result<Contents, Failure> {
        let mut session = self.engine.session();
        let mut contents = Contents::default();
        let mut add = |table: &Handle, path: Path, columns: &[usize]| {
            let (name, fields) = match path {
                Path::Primary => (table.name().to_owned(), Fields::All),
                Path::Secondary(_) => (format!("{}.second", table.name()), Fields::OfIndex),
            };
            session.statement(|it| {
                it.scan_rows(table, &Scan { fields, ..Scan::whole_index(path) }, |_, row| {
                    contents.add_row(&name, sum(row, columns));
                    Visit::On
                })
            })
        };
        add(&self.tables.sbtest, Path::Primary, &[0, K, C, 3])?;
        add(&self.tables.sbtest, Path::Secondary(0), &[K, 0])?;
        for (table, handle) in TABLES.into_iter().zip(&self.tables.tpcc) {
            let rest = table.key..handle.columns().len();
            let columns: Vec<usize> = table.settled_keys().chain(rest).collect();
            add(handle, Path::Primary, &columns)?;
        }
        add(self.tables.of(CUSTOMER), Path::Secondary(0), &[0, 1, 6, 2])?;
        Ok(contents)
    }

    fn describe_setup(&self) -> String {
        let fields = self.engine.design().fields();
        let fields: Vec<String> = fields.iter().map(|(name, it)| format!("{name}={it}")).collect();
        format!("engine:?{}", fields.join("&"))
    }
}

fn sum(row: Found<'_>, columns: &[usize]) -> RowSum {
    columns.iter().fold(RowSum::new(), |sum, &column| match row.get(column) {
        Datum::Text(text) => sum.with_text(text),
        Datum::Int(number) | Datum::Decimal(number) | Datum::Timestamp(number) => {
            sum.with_number(number)
        }
        Datum::Null => sum,
    })
}

struct EngineClient<'s> {
    session: EngineSession,
    tables: &'s Tables,
}

impl Statements for EngineClient<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(self.session.begin(None)?)
    }

    /// The first read does.
    fn open_view(&mut self) {}

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(self.session.commit()?)
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        self.session.rollback();
        Ok(())
    }

    fn lone_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        self.select_row(id, answers)
    }

    fn select_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        self.session.statement(|it| {
            let row = it.get(&self.tables.sbtest, &[Int(id)], Intent::Read)?;
            answers.add_text(text(row.expect(THERE), C));
            Ok(())
        })?;
        Ok(())
    }

    fn select_range(&mut self, from: i64, answers: &mut Answers) -> Result<(), Failure> {
        self.each_in_range(from, |row| answers.add_text(text(row, C)))
    }

    fn sum(&mut self, from: i64) -> Result<i64, Failure> {
        let mut sum = 0;
        self.each_in_range(from, |row| sum += int(row, K))?;
        Ok(sum)
    }

    fn add_to_k(&mut self, id: i64) -> Result<(), Failure> {
        self.session.statement(|it| {
            it.update(&self.tables.sbtest, &[Int(id)], |row, to| {
                to.set(K, Int(int(row, K) + 1));
                Ok(())
            })
        })?;
        Ok(())
    }

    fn set_c(&mut self, id: i64, c: &[u8; C_BYTES]) -> Result<(), Failure> {
        self.session.statement(|it| {
            it.update(&self.tables.sbtest, &[Int(id)], |_, to| {
                to.set(C, Text(c));
                Ok(())
            })
        })?;
        Ok(())
    }

    fn replace(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure> {
        self.session.statement(|it| it.delete(&self.tables.sbtest, &[Int(id)]))?;
        self.tables.put_sbtest(&mut self.session, id, row)
    }

    fn read<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
    ) -> Result<([i64; N], [u8; T]), Failure> {
        Ok(self.session.statement(|it| {
            let row = it.get(self.tables.of(table), Key::of(key).data(), Intent::Read)?;
            Ok(cells(row.expect(THERE), table))
        })?)
    }

    fn update_row<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
        set: impl FnOnce(&mut [i64; N]),
    ) -> Result<[u8; T], Failure> {
        let mut text = [0; T];
        self.session.statement(|it| {
            it.update(self.tables.of(table), Key::of(key).data(), |row, to| {
                let (old, its_text) = cells::<N, T>(row, table);
                let mut new = old;
                set(&mut new);
                for (place, number) in new.into_iter().enumerate() {
                    if number != old[place] {
                        to.set(key.len() + place, Int(number));
                    }
                }
                text = its_text;
                Ok(())
            })
        })?;
        Ok(text)
    }

    fn insert(&mut self, row: TpccRow<'_>) -> Result<(), Failure> {
        self.tables.put(&mut self.session, row)
    }

    fn customers_by_name(
        &mut self,
        district: [i64; 2],
        last: &[u8; LAST_BYTES],
    ) -> Result<Vec<i64>, Failure> {
        let mut found = Vec::with_capacity(8);
        let [w, d] = district.map(Int);
        let (key, fields) = ([w, d, Text(last)], Fields::OfIndex);
        let scan =
            Scan { range: Range::of_prefix(&key), fields, ..Scan::whole_index(Path::Secondary(0)) };
        self.session.statement(|it| {
            it.scan_rows(self.tables.of(CUSTOMER), &scan, |_, row| {
                found.push(int(row, 2));
                Visit::On
            })
        })?;
        Ok(found)
    }
}

impl EngineClient<'_> {
    /// Shows the rows of a range of sysbench's table.
    fn each_in_range(&mut self, from: i64, mut show: impl FnMut(Found<'_>)) -> Result<(), Failure> {
        let (from, to) = ([Int(from)], [Int(from + RANGE - 1)]);
        let range = Range { from: Bound::Included(&from), to: Bound::Included(&to) };
        self.session.statement(|it| {
            it.scan_rows(
                &self.tables.sbtest,
                &Scan { range, ..Scan::whole_index(Path::Primary) },
                |_, row| {
                    show(row);
                    Visit::On
                },
            )
        })?;
        Ok(())
    }
}

/// A key of numbers, as the engine takes it.
struct Key {
    data: [Datum<'static>; 4],
    length: usize,
}

impl Key {
    #[inline]
    fn of(numbers: &[i64]) -> Key {
        let data = array::from_fn(|place| numbers.get(place).map_or(Datum::Null, |&it| Int(it)));
        Key { data, length: numbers.len() }
    }

    fn data(&self) -> &[Datum<'static>] {
        &self.data[..self.length]
    }
}

/// What is said of a row that is named by its key.
const THERE: &str = "every row is there";

/// The first numbers of a row behind its key, and the beginning of its text.
#[inline]
fn cells<const N: usize, const T: usize>(row: Found<'_>, table: TpccTable) -> ([i64; N], [u8; T]) {
    let mut beginning = [0; T];
    if T > 0 {
        beginning.copy_from_slice(&text(row, table.key + table.numbers)[..T]);
    }
    (array::from_fn(|place| int(row, table.key + place)), beginning)
}

#[inline]
fn int(row: Found<'_>, column: usize) -> i64 {
    match row.get(column) {
        Int(number) => number,
        other => unreachable!("{other:?} in a column of numbers"),
    }
}

#[inline]
fn text(row: Found<'_>, column: usize) -> &[u8] {
    match row.get(column) {
        Text(text) => text,
        other => unreachable!("{other:?} in a column of texts"),
    }
}

//! The side of the reference engine: one statement of a session for each statement.

use std::path::Path as Directory;
use std::sync::Arc;

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::{
    Column, Datum, Direction, Engine, Fields, IndexSpec, Intent, Kind, Options, Path, Range, Row,
    Scan, Session, Table, TableSpec, Uniqueness, Value, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Device;

use crate::answers::Answers;
use crate::contents::{Contents, RowSum};
use crate::side::{Client, Durability, Failure, Side};
use crate::work::{
    DISTRICTS, NAMES, NewOrder, Payer, Payment, RANGE, ReadWrite, Scale, filler, name, sbtest_rows,
    stock_left,
};

/// An engine that is open, and its tables.
pub struct EngineSide {
    engine: Engine,
    tables: Tables,
}

#[derive(Clone)]
struct Tables {
    sbtest: Arc<Table>,
    warehouse: Arc<Table>,
    district: Arc<Table>,
    customer: Arc<Table>,
    history: Arc<Table>,
    item: Arc<Table>,
    stock: Arc<Table>,
    orders: Arc<Table>,
    new_order: Arc<Table>,
    order_line: Arc<Table>,
}

impl EngineSide {
    /// Opens an engine in an empty directory and fills tables of this size. What its commits wait
    /// for is not as its design says.
    ///
    /// # Errors
    /// What the disk or the engine refuses.
    pub fn open(
        directory: &Directory,
        design: &Design,
        durability: Durability,
        scale: &Scale,
    ) -> Result<EngineSide, Failure> {
        let device = match durability {
            Durability::Written => Device::None,
            Durability::Synced => Device::Disk,
        };
        let disk = RealDisk::open(directory).map_err(|error| Failure::Broken(error.to_string()))?;
        let design = Design { device, ..*design };
        let engine = Engine::open(Arc::new(disk), &design, Options::default())?;
        let tables = Tables::make(&engine)?;
        let side = EngineSide { engine, tables };
        side.fill(scale)?;
        Ok(side)
    }

    fn fill(&self, scale: &Scale) -> Result<(), Failure> {
        use Datum::{Int, Text};
        let mut to = Filler { session: self.engine.session(), pending: 0 };
        let tables = &self.tables;
        for (id, row) in sbtest_rows(*scale) {
            to.put(&tables.sbtest, &[Int(id), Int(row.k), Text(&row.c), Text(&row.pad)])?;
        }
        for i in 1..=scale.items {
            let price = 100 + i * 7 % 9_900;
            to.put(&tables.item, &[Int(i), Int(price), Text(&filler::<24>(&[0, i]))])?;
        }
        for w in 1..=scale.warehouses {
            let text = filler::<80>(&[1, w]);
            to.put(&tables.warehouse, &[Int(w), Int(w % 20), Int(0), Text(&text)])?;
            for i in 1..=scale.items {
                let (quantity, text) = (10 + (w + i) % 91, filler::<250>(&[2, w, i]));
                let row = [Int(w), Int(i), Int(quantity), Int(0), Int(0), Text(&text)];
                to.put(&tables.stock, &row)?;
            }
            for d in 1..=DISTRICTS {
                let text = filler::<80>(&[3, w, d]);
                let row = [Int(w), Int(d), Int(d % 20), Int(1), Int(0), Text(&text)];
                to.put(&tables.district, &row)?;
                for c in 1..=scale.customers {
                    let (last, data) = (name(c % NAMES), filler::<300>(&[4, w, d, c]));
                    let key = [Int(w), Int(d), Int(c), Text(&last), Int(c % 50)];
                    let rest = [Int(-1_000), Int(0), Text(&data)];
                    to.put(&tables.customer, &[&key[..], &rest].concat())?;
                }
            }
        }
        to.end()?;
        Ok(self.engine.checkpoint()?)
    }
}

impl Tables {
    fn make(engine: &Engine) -> Result<Tables, Failure> {
        let make = |name: &str, columns: &[(&str, Kind)], primary: usize, index: &[usize]| {
            engine.create_table(spec(name, columns, primary, index))
        };
        let text = |most| Kind::Text { most };
        let int = Kind::Int;
        let sbtest = [("id", int), ("k", int), ("c", text(120)), ("pad", text(60))];
        let warehouse = [("w", int), ("tax", int), ("ytd", int), ("filler", text(80))];
        let district =
            [("w", int), ("d", int), ("tax", int), ("next", int), ("ytd", int), ("f", text(80))];
        let customer = [
            ("w", int),
            ("d", int),
            ("c", int),
            ("last", text(16)),
            ("discount", int),
            ("balance", int),
            ("payments", int),
            ("data", text(300)),
        ];
        let history = [("w", int), ("d", int), ("c", int), ("amount", int)];
        let stock = [
            ("w", int),
            ("i", int),
            ("quantity", int),
            ("ytd", int),
            ("many", int),
            ("f", text(250)),
        ];
        let orders =
            [("w", int), ("d", int), ("o", int), ("c", int), ("entry", int), ("lines", int)];
        let order_line = [
            ("w", int),
            ("d", int),
            ("o", int),
            ("n", int),
            ("i", int),
            ("supply", int),
            ("quantity", int),
            ("amount", int),
            ("info", text(24)),
        ];
        Ok(Tables {
            sbtest: make("sbtest", &sbtest, 1, &[1])?,
            warehouse: make("warehouse", &warehouse, 1, &[])?,
            district: make("district", &district, 2, &[])?,
            customer: make("customer", &customer, 3, &[0, 1, 3])?,
            history: make("history", &history, 0, &[])?,
            item: make("item", &[("i", int), ("price", int), ("name", text(24))], 1, &[])?,
            stock: make("stock", &stock, 2, &[])?,
            orders: make("orders", &orders, 3, &[])?,
            new_order: make("new_order", &orders[..3], 3, &[])?,
            order_line: make("order_line", &order_line, 4, &[])?,
        })
    }
}

/// A table whose primary key is its first columns, none for a hidden one.
fn spec(name: &str, columns: &[(&str, Kind)], primary: usize, index: &[usize]) -> TableSpec {
    let column = |&(name, kind): &(&str, Kind)| Column {
        name: name.to_owned(),
        kind,
        nullable: false,
        default: Value::Null,
    };
    let index = (!index.is_empty()).then(|| IndexSpec {
        name: "second".to_owned(),
        columns: index.to_vec(),
        uniqueness: Uniqueness::Repeated,
    });
    TableSpec {
        name: name.to_owned(),
        columns: columns.iter().map(column).collect(),
        primary: (0..primary).collect(),
        auto_increment: None,
        indexes: index.into_iter().collect(),
    }
}

/// Rows of one transaction while tables are filled.
const BATCH: usize = 1_000;

/// Puts rows in, many in a transaction.
struct Filler {
    session: Session,
    pending: usize,
}

impl Filler {
    fn put(&mut self, table: &Arc<Table>, row: &[Datum<'_>]) -> Result<(), Failure> {
        if self.pending == 0 {
            self.session.begin(None)?;
        }
        self.session.statement(|it| it.insert(table, row))?;
        self.pending += 1;
        if self.pending == BATCH { self.end() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.pending = 0;
        Ok(self.session.commit()?)
    }
}

impl Side for EngineSide {
    fn client(&self) -> Box<dyn Client + '_> {
        Box::new(EngineClient { session: self.engine.session(), tables: self.tables.clone() })
    }

    fn contents(&self) -> Result<Contents, Failure> {
        let mut session = self.engine.session();
        let mut contents = Contents::default();
        let mut add = |table: &Arc<Table>, path: Path, columns: &[usize]| {
            let name = match path {
                Path::Primary => table.name().to_owned(),
                Path::Secondary(_) => format!("{}.second", table.name()),
            };
            let fields = match path {
                Path::Primary => Fields::All,
                Path::Secondary(_) => Fields::OfIndex,
            };
            session.statement(|it| {
                it.scan(table, &scan(Range::ALL, path, fields), |_, row| {
                    contents.add(&name, sum(row, columns));
                    Visit::On
                })
            })
        };
        let tables = &self.tables;
        add(&tables.sbtest, Path::Primary, &[0, 1, 2, 3])?;
        add(&tables.sbtest, Path::Secondary(0), &[1, 0])?;
        add(&tables.warehouse, Path::Primary, &[0, 1, 2, 3])?;
        add(&tables.district, Path::Primary, &[0, 1, 2, 3, 4, 5])?;
        add(&tables.customer, Path::Primary, &[0, 1, 2, 3, 4, 5, 6, 7])?;
        add(&tables.customer, Path::Secondary(0), &[0, 1, 3, 2])?;
        add(&tables.history, Path::Primary, &[0, 1, 2, 3])?;
        add(&tables.item, Path::Primary, &[0, 1, 2])?;
        add(&tables.stock, Path::Primary, &[0, 1, 2, 3, 4, 5])?;
        // Which number an order has hangs on who came first.
        add(&tables.orders, Path::Primary, &[0, 1, 3, 4, 5])?;
        add(&tables.new_order, Path::Primary, &[0, 1])?;
        add(&tables.order_line, Path::Primary, &[0, 1, 3, 4, 5, 6, 7, 8])?;
        Ok(contents)
    }

    fn about(&self) -> String {
        let fields = self.engine.design().fields();
        let fields: Vec<String> = fields.iter().map(|(name, it)| format!("{name}={it}")).collect();
        format!("engine:?{}", fields.join("&"))
    }
}

fn sum(row: Row<'_>, columns: &[usize]) -> RowSum {
    columns.iter().fold(RowSum::new(), |sum, &column| match row.get(column) {
        Datum::Text(text) => sum.text(text),
        Datum::Int(number) | Datum::Decimal(number) | Datum::Timestamp(number) => {
            sum.number(number)
        }
        Datum::Null => sum,
    })
}

struct EngineClient {
    session: Session,
    tables: Tables,
}

impl Client for EngineClient {
    fn point(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        self.select_c(id, answers)
    }

    fn read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_read_write(what, answers);
        self.ended(done)
    }

    fn new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_new_order(what, answers);
        self.ended(done)
    }

    fn payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_payment(what, answers);
        self.ended(done)
    }
}

impl EngineClient {
    fn ended(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        if done.is_err() {
            self.session.rollback();
        }
        done
    }

    fn select_c(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        let table = &self.tables.sbtest;
        self.session.statement(|it| {
            answers.begin();
            if let Some(row) = it.get(table, &[Datum::Int(id)], Intent::Read)? {
                answers.text(text(row, 2));
            }
            answers.end();
            Ok(())
        })?;
        Ok(())
    }

    /// Shows the rows of a range of sysbench's table.
    fn range(&mut self, from: i64, mut show: impl FnMut(Row<'_>)) -> Result<(), Failure> {
        let (from, to) = ([Datum::Int(from)], [Datum::Int(from + RANGE - 1)]);
        let range =
            Range { from: std::ops::Bound::Included(&from), to: std::ops::Bound::Included(&to) };
        let table = &self.tables.sbtest;
        self.session.statement(|it| {
            it.scan(table, &scan(range, Path::Primary, Fields::All), |_, row| {
                show(row);
                Visit::On
            })
        })?;
        Ok(())
    }

    fn try_read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure> {
        use Datum::{Int, Text};
        self.session.begin(None)?;
        for &id in &what.points {
            self.select_c(id, answers)?;
        }
        answers.begin();
        self.range(what.ranges[0], |row| answers.text(text(row, 2)))?;
        answers.end();
        let mut sum = 0;
        self.range(what.ranges[1], |row| sum += int(row, 1))?;
        answers.begin();
        answers.number(sum);
        answers.end();
        answers.begin();
        self.range(what.ranges[2], |row| answers.text(text(row, 2)))?;
        answers.sort_all(120);
        answers.end();
        answers.begin();
        self.range(what.ranges[3], |row| answers.text(text(row, 2)))?;
        answers.sort_distinct(120);
        answers.end();
        let table = &self.tables.sbtest;
        let session = &mut self.session;
        session.statement(|it| {
            it.update(table, &[Int(what.index_update)], |row, to| {
                to.set(1, Int(int(row, 1) + 1));
                Ok(())
            })
        })?;
        session.statement(|it| {
            it.update(table, &[Int(what.update.0)], |_, to| {
                to.set(2, Text(&what.update.1));
                Ok(())
            })
        })?;
        let (id, row) = &what.replace;
        session.statement(|it| it.delete(table, &[Int(*id)]))?;
        let row = [Int(*id), Int(row.k), Text(&row.c), Text(&row.pad)];
        session.statement(|it| it.insert(table, &row))?;
        Ok(session.commit()?)
    }

    fn try_new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure> {
        use Datum::{Int, Text};
        let NewOrder { warehouse: w, district: d, customer: c, entry, ref lines } = *what;
        let (tables, session) = (&self.tables, &mut self.session);
        session.begin(None)?;
        answers.begin();
        let tax = session.statement(|it| {
            let row = it.get(&tables.warehouse, &[Int(w)], Intent::Read)?;
            Ok(int(row.expect("every warehouse is there"), 1))
        })?;
        let discount = session.statement(|it| {
            let row = it.get(&tables.customer, &[Int(w), Int(d), Int(c)], Intent::Read)?;
            let row = row.expect("every customer is there");
            answers.text(text(row, 3));
            Ok(int(row, 4))
        })?;
        let (mut order, mut district_tax) = (0, 0);
        session.statement(|it| {
            it.update(&tables.district, &[Int(w), Int(d)], |row, to| {
                (district_tax, order) = (int(row, 2), int(row, 3));
                to.set(3, Int(order + 1));
                Ok(())
            })
        })?;
        let many = Int(lines.len() as i64);
        let row = [Int(w), Int(d), Int(order), Int(c), Int(entry), many];
        session.statement(|it| it.insert(&tables.orders, &row))?;
        session.statement(|it| it.insert(&tables.new_order, &row[..3]))?;
        for (number, &(item, supply, quantity)) in (1..).zip(lines) {
            let price = session.statement(|it| {
                let row = it.get(&tables.item, &[Int(item)], Intent::Read)?;
                Ok(int(row.expect("every item is there"), 1))
            })?;
            let mut info = [0; 24];
            session.statement(|it| {
                it.update(&tables.stock, &[Int(supply), Int(item)], |row, to| {
                    info.copy_from_slice(&text(row, 5)[..24]);
                    to.set(2, Int(stock_left(int(row, 2), quantity)));
                    to.set(3, Int(int(row, 3) + quantity));
                    to.set(4, Int(int(row, 4) + 1));
                    Ok(())
                })
            })?;
            let amount = price * quantity * (100 - discount) * (100 + tax + district_tax) / 10_000;
            let key = [Int(w), Int(d), Int(order), Int(number)];
            let rest = [Int(item), Int(supply), Int(quantity), Int(amount), Text(&info)];
            let row = [key[0], key[1], key[2], key[3], rest[0], rest[1], rest[2], rest[3], rest[4]];
            session.statement(|it| it.insert(&tables.order_line, &row))?;
            answers.number(amount);
        }
        answers.end();
        Ok(session.commit()?)
    }

    fn try_payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure> {
        use Datum::{Int, Text};
        let Payment { warehouse: w, district: d, payer, amount } = *what;
        let (tables, session) = (&self.tables, &mut self.session);
        session.begin(None)?;
        answers.begin();
        session.statement(|it| {
            it.update(&tables.warehouse, &[Int(w)], |row, to| {
                to.set(2, Int(int(row, 2) + amount));
                Ok(())
            })
        })?;
        session.statement(|it| {
            it.update(&tables.district, &[Int(w), Int(d)], |row, to| {
                to.set(4, Int(int(row, 4) + amount));
                Ok(())
            })
        })?;
        let customer = match payer {
            Payer::Number(number) => number,
            Payer::Name(number) => {
                let mut found = Vec::with_capacity(8);
                let last = name(number);
                let key = [Int(w), Int(d), Text(&last)];
                session.statement(|it| {
                    let scan = scan(Range::of(&key), Path::Secondary(0), Fields::OfIndex);
                    it.scan(&tables.customer, &scan, |_, row| {
                        found.push(int(row, 2));
                        Visit::On
                    })
                })?;
                found[found.len() / 2]
            }
        };
        session.statement(|it| {
            it.update(&tables.customer, &[Int(w), Int(d), Int(customer)], |row, to| {
                answers.text(text(row, 3));
                to.set(5, Int(int(row, 5) - amount));
                to.set(6, Int(int(row, 6) + 1));
                Ok(())
            })
        })?;
        let row = [Int(w), Int(d), Int(customer), Int(amount)];
        session.statement(|it| it.insert(&tables.history, &row))?;
        answers.number(customer);
        answers.end();
        Ok(session.commit()?)
    }
}

fn scan(range: Range<'_>, path: Path, fields: Fields) -> Scan<'_> {
    Scan { path, range, direction: Direction::Up, intent: Intent::Read, fields }
}

#[inline]
fn int(row: Row<'_>, column: usize) -> i64 {
    match row.get(column) {
        Datum::Int(number) => number,
        other => unreachable!("{other:?} in a column of numbers"),
    }
}

#[inline]
fn text(row: Row<'_>, column: usize) -> &[u8] {
    match row.get(column) {
        Datum::Text(text) => text,
        other => unreachable!("{other:?} in a column of texts"),
    }
}

//! What operations of a cell wait for, by class of waits and start of a server.

use dbdyno_model::{Arm, Cell, ClassWait, RunId, WaitProfile};
use rusqlite::params;

use crate::Store;
use crate::error::{Result, StoreError};
use crate::transaction::seq_of;

const SELECT: &str = "SELECT arm, start, class, us, function FROM wait \
     WHERE run = (SELECT seq FROM run WHERE id = ?1) AND load = ?2 AND clients = ?3 \
     ORDER BY arm, start, class";

impl Store {
    /// Keeps profiles of waits of a cell, in the place of those that were kept before.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn keep_waits(&mut self, run: &RunId, cell: &Cell, all: &[WaitProfile]) -> Result<()> {
        self.write(|transaction| {
            let seq = seq_of(transaction, run)?;
            let Cell { load, clients } = cell;
            let of_cell = "DELETE FROM wait WHERE run = ?1 AND load = ?2 AND clients = ?3";
            transaction.execute(of_cell, params![seq, load, clients])?;
            let mut insert =
                transaction.prepare("INSERT INTO wait VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
            for WaitProfile { arm, start, classes } in all {
                for ClassWait { name, us, function } in classes {
                    let arm = arm.name();
                    insert.execute(params![seq, load, clients, arm, start, name, us, function])?;
                }
            }
            Ok(())
        })
    }

    /// The profiles of waits of a cell, by arm and start; none: they were not looked at.
    ///
    /// # Errors
    /// A file that cannot be read, or that has an arm which there is not.
    pub fn waits_of(&self, run: &RunId, cell: &Cell) -> Result<Vec<WaitProfile>> {
        let explain = |error| self.explain(error);
        let mut statement = self.connection().prepare(SELECT).map_err(explain)?;
        let mut rows = statement.query(params![run.0, cell.load, cell.clients]).map_err(explain)?;
        let mut all: Vec<WaitProfile> = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let name: String = row.get(0).map_err(explain)?;
            let start: u32 = row.get(1).map_err(explain)?;
            let Some(arm) = Arm::from_name(&name) else {
                let text = format!("waits of {run} have the unknown arm {name:?}");
                return Err(StoreError::Damaged(self.path.clone(), text));
            };
            let class = ClassWait {
                name: row.get(2).map_err(explain)?,
                us: row.get(3).map_err(explain)?,
                function: row.get(4).map_err(explain)?,
            };
            match all.last_mut().filter(|last| (last.arm, last.start) == (arm, start)) {
                Some(last) => last.classes.push(class),
                None => all.push(WaitProfile { arm, start, classes: vec![class] }),
            }
        }
        Ok(all)
    }
}

//! The parts that are played in a step, each a dialogue of its own.

use dbdyno_model::Dialect;

use super::partners::{Class, PartnerCrew, Position};
use super::rows::InsertRows;
use super::sizes::{Deletes, Sizes};
use super::sql;
use super::steps::{BenchmarkStep, Work};
use crate::dialogue::{Dialogue, Link, Partner, TurnFault};
use crate::statement::Statement;

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionRole {
    /// Inserts.
    Inserts,
    /// Deletes as many rows.
    Deletes,
    /// Both in turn, where an engine has one writer.
    InsertsAndDeletes,
    /// Queries.
    Queries,
}

/// One role in one step, for all clients.
#[derive(Clone, Debug)]
pub struct RolePart {
    /// Which role.
    pub role: ConnectionRole,
    /// Which step.
    pub step: BenchmarkStep,
    /// How large the benchmark is.
    pub sizes: Sizes,
    /// Seed of the rows.
    pub seed: u64,
    /// By client: where its table begins. The parts of a step share it.
    pub positions: Vec<Position>,
}

impl RolePart {
    /// The role whose rate is the step's: queries, or inserts.
    pub fn of_foreground(step: BenchmarkStep, sizes: &Sizes, clients: u32, seed: u64) -> RolePart {
        let role = match step.planned_work(sizes) {
            Work::Commits(_) | Work::Indexes => ConnectionRole::Inserts,
            Work::QueriesAtRate(_) => ConnectionRole::Queries,
        };
        let positions = (0..clients).map(|_| Position::default()).collect();
        RolePart { role, step, sizes: sizes.clone(), seed, positions }
    }

    /// The roles of a step on an engine that takes this many writers at once.
    pub fn step_roles(step: BenchmarkStep, sizes: &Sizes, dialect: Dialect) -> Vec<ConnectionRole> {
        let mut roles = match (step.delete_mode(sizes), dialect) {
            (Deletes::Off, _) => vec![ConnectionRole::Inserts],
            (Deletes::On, Dialect::Sqlite) => vec![ConnectionRole::InsertsAndDeletes],
            (Deletes::On, _) => vec![ConnectionRole::Inserts, ConnectionRole::Deletes],
        };
        if let Work::QueriesAtRate(_) = step.planned_work(sizes) {
            roles.push(ConnectionRole::Queries);
        }
        roles
    }

    fn crew(&self, client: u32, dialect: Dialect) -> PartnerCrew {
        let rows = InsertRows { seed: self.seed, client };
        let position = self.positions[client as usize].clone();
        PartnerCrew { rows, dialect, position, first_statement: client as usize * sql::STATEMENTS }
    }
}

impl Dialogue for RolePart {
    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        if self.role == ConnectionRole::Inserts {
            return Vec::new();
        }
        let clients = 0..self.positions.len() as u32;
        clients.flat_map(|client| sql::statements(dialect, client)).collect()
    }

    fn class_names(&self) -> Vec<String> {
        Class::ALL.iter().map(|class| class.name().to_owned()).collect()
    }

    fn create_partner(&self, client: u32, dialect: Dialect) -> Box<dyn Partner> {
        let crew = self.crew(client, dialect);
        let rows = self.step.rows_per_commit();
        let inserter = || crew.row_inserter(self.step.first_row(&self.sizes), rows);
        match self.role {
            ConnectionRole::Inserts => inserter(),
            ConnectionRole::Deletes => crew.row_deleter(rows),
            ConnectionRole::InsertsAndDeletes => Box::new(Both {
                inserter: inserter(),
                deleter: crew.row_deleter(rows),
                owes: false,
            }),
            ConnectionRole::Queries if matches!(self.step, BenchmarkStep::PointQueries(_)) => {
                crew.point_querier()
            }
            ConnectionRole::Queries => crew.range_querier(),
        }
    }

    fn writes_rows(&self) -> bool {
        self.role != ConnectionRole::Queries
    }
}

/// Inserts in one turn and deletes in the next.
struct Both {
    inserter: Box<dyn Partner>,
    deleter: Box<dyn Partner>,
    /// Whether what was inserted last has not been made up for.
    owes: bool,
}

impl Partner for Both {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        if self.owes {
            let class = self.deleter.take_turn(operation, link)?;
            self.owes = class != Class::Delete as usize;
            return Ok(class);
        }
        let class = self.inserter.take_turn(operation, link)?;
        self.owes = true;
        Ok(class)
    }
}

//! Plans as they were when a cell was measured.
//!
//! All plans are looked at once, when the tables are full. What is written afterwards, and
//! statistics that are made anew, may change them, and not in all arms: after updates PostgreSQL
//! may make a bitmap where it scanned an index. So servers are asked once more when a cell has been
//! measured; what one of them answers otherwise than before is noted of all, as
//! `step[CELL].plan.STATEMENT`.

use std::collections::BTreeSet;

use dbdyno_model::{Arms, Cell, Dialect, Environment, Plan};
use dbdyno_workload::Load;
use dbdyno_workload::planned;

use super::plans;
use crate::arm::Station;

/// Notes the plans of a cell's statements that are others than they were.
pub(crate) fn note_measured_plans(plan: &Plan, stations: &mut Arms<Station>, cell: &Cell) {
    if planned::dataset_of_step(plan, &cell.load).is_some() {
        return;
    }
    let Ok(load) = planned::planned_load(plan, &cell.load) else { return };
    let shapes = Arms::from_fn(stations.indices(), |arm| shapes(&stations[arm], &load));
    let is_other = |environment: &Environment, statement: &usize, shape: &str| {
        let before = environment.get(&format!("plan[{}].{statement}", cell.load));
        !before.is_empty() && before != shape
    };
    let mut others = BTreeSet::new();
    for (arm, shapes) in shapes.iter() {
        let known = &stations[arm].environment;
        let changed = shapes.iter().filter(|(number, shape)| is_other(known, number, shape));
        others.extend(changed.map(|(number, _)| *number));
    }
    for (arm, shapes) in shapes.iter() {
        let noted = shapes.iter().filter(|(number, _)| others.contains(number));
        for (number, shape) in noted {
            stations[arm].environment.set(format!("step[{cell}].plan.{number}"), shape.clone());
        }
    }
}

/// The shapes of the plans of a load as a server has them now, each with its statement's number;
/// none of what lives in this process, whose tables its tracks may hold.
fn shapes(station: &Station, load: &Load) -> Vec<(usize, String)> {
    if !matches!(station.dialect, Dialect::Mysql | Dialect::Postgres) {
        return Vec::new();
    }
    let Ok(mut client) = station.connector.connect_for_work() else { return Vec::new() };
    let statements = plans::statements(load, station.dialect);
    let asked = statements.iter().enumerate().filter_map(|(index, statement)| {
        Some((index + 1, plans::plan(&mut *client, station.dialect, statement)?.shape))
    });
    let shapes = asked.collect();
    client.close();
    shapes
}

//! Seeded simulations, properties and published values.

mod anytime;
mod change;
mod curves;
mod drift;
mod estimators;
mod fixtures;
mod hosts;
mod joint;
mod planning;
mod properties;
mod row_costs;
mod sequence;
mod simulation;

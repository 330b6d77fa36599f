//! The engine from outside: what its designs answer, what crashes and kills leave, what damaged
//! files do.

mod crash;
mod damage;
mod killed;
mod log_crash;
mod mechanisms;
mod model;
mod replica;
mod replica_killed;
mod scripts;
mod sessions;
mod side_by_side;

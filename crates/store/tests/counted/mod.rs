//! Counts of fixed content.

use dbdyno_model::Arm;

/// Of one load in both arms, in the order in which a store gives them back.
pub(crate) fn counts() -> dbdyno_model::RunCounts {
    let load = || "point-query".to_owned();
    let sample = |arm: Arm, repeat: u32| dbdyno_model::CountSample {
        load: load(),
        arm: arm.into(),
        repeat,
        operations: 1000,
        instructions: 46_512_000 + u64::from(repeat),
    };
    let function = |arm: Arm, name: &str, own: f64| dbdyno_model::FunctionCount {
        load: load(),
        arm: arm.into(),
        name: name.to_owned(),
        object: "mariadbd".to_owned(),
        own_per_op: own,
        inclusive_per_op: 2.5 * own,
    };
    let samples = Arm::BOTH.into_iter().flat_map(|arm| [sample(arm, 0), sample(arm, 1)]);
    let functions = Arm::BOTH
        .into_iter()
        .flat_map(|arm| [function(arm, "MYSQLparse", 5581.44), function(arm, "", 81.25)]);
    let (samples, functions) = (samples.collect(), functions.collect());
    dbdyno_model::RunCounts { samples, functions, calls: Vec::new() }
}

/// Who called whom, of the same load in both arms.
pub(crate) fn calls() -> Vec<dbdyno_model::CallCount> {
    let call = |arm: Arm| dbdyno_model::CallCount {
        load: "point-query".to_owned(),
        arm: arm.into(),
        caller: "dispatch_command".to_owned(),
        callee: "MYSQLparse".to_owned(),
        inclusive_per_op: 13953.6,
    };
    Arm::BOTH.map(call).to_vec()
}

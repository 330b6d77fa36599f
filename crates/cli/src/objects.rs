//! Banks, sets, counters, registers and mutexes of `dbdyno check`.

use dbdyno_check::{ObjectJudgement, ObjectVerdict};
use dbdyno_report::verdicts::{ObjectReport, PropertyVerdict, VERDICTS_SCHEMA};

/// What is known of them.
pub(crate) fn report_of(judged: ObjectJudgement) -> ObjectReport {
    let ObjectJudgement { workload, counted, finding, notes } = judged;
    let (verdict, evidence) = match finding {
        ObjectVerdict::Holds(how) => {
            (PropertyVerdict { why: Some(how), ..PropertyVerdict::holds() }, Vec::new())
        }
        ObjectVerdict::Broken { anomaly, evidence } => {
            (PropertyVerdict::broken_by(anomaly), evidence)
        }
        ObjectVerdict::CannotTell(why) | ObjectVerdict::NothingCompared(why) => {
            (PropertyVerdict::cannot_tell(why), Vec::new())
        }
    };
    ObjectReport {
        schema: VERDICTS_SCHEMA,
        workload: workload.name(),
        property: workload.judged_property(),
        definition: workload.definition_source(),
        verdict,
        evidence,
        notes,
        operations: counted.operations,
        ok: counted.ok,
        failed: counted.failed,
        unknown: counted.unknown,
        passed_over: counted.passed_over,
        keys: counted.keys,
    }
}

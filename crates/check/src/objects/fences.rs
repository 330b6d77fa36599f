//! Fences: what a lock answers to each acquisition, and what must grow from one to the next.
//!
//! A client that was late may still believe that it holds the lock. A number that grows with each
//! acquisition lets what it writes to refuse it (Kleppmann, *How to do distributed locking*, 2016);
//! Hazelcast's `FencedLock` answers with one. Any other number may be that of a client or of a
//! lease: a fence is one where it is called so, `{:fence 7}`.

use super::finding::ObjectVerdict;
use super::operation::{Operation, Value};

/// What is found of the fences of a lock that is otherwise in order, and what is to be said.
pub(super) fn judge_fences(
    operations: &[Operation],
    verdict: ObjectVerdict,
) -> (ObjectVerdict, Option<String>) {
    let answers = operations
        .iter()
        .filter(|one| one.is_ok("acquire") && one.result != Value::Nil && one.result != one.value);
    let mut acquired: Vec<(&Operation, Option<i64>)> =
        answers.map(|one| (one, fence_of(&one.result))).collect();
    if acquired.is_empty() {
        return (verdict, None);
    }
    let count = acquired.len();
    if acquired.iter().any(|(_, fence)| fence.is_none()) {
        let note = format!(
            "{count} acquisitions were answered with a value, and not all of these have a :fence: they \
             are not judged"
        );
        return (verdict, Some(note));
    }
    acquired.sort_by_key(|(one, _)| one.began);
    let mut ended = acquired.clone();
    ended.sort_by_key(|(one, _)| one.ended);
    let mut ended = ended.into_iter().peekable();
    let mut largest: Option<(&Operation, i64)> = None;
    for (one, fence) in acquired {
        while let Some((before, Some(of))) = ended.next_if(|(other, _)| other.ended < one.began) {
            largest = largest.filter(|(_, most)| *most >= of).or(Some((before, of)));
        }
        if let (Some((before, most)), Some(fence)) = (largest, fence)
            && fence <= most
            && matches!(verdict, ObjectVerdict::Holds(_))
        {
            let evidence = vec![format!(
                "{} {}: {fence}, after {most} of {} {}",
                one.unit, one.lines.1, before.unit, before.lines.1
            )];
            let anomaly = "a fence that does not grow".to_owned();
            return (ObjectVerdict::Broken { anomaly, evidence }, None);
        }
    }
    (verdict, Some(format!("{count} acquisitions have a fence, which must grow")))
}

/// The number under `:fence`.
fn fence_of(answer: &Value) -> Option<i64> {
    let Value::Map(pairs) = answer else { return None };
    let mut pairs = pairs.iter();
    let fence = pairs.find(|(key, _)| matches!(key, Value::Word(word) if word == "fence"))?;
    fence.1.as_number()
}

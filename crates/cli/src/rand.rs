//! `--rand NAME` and `--skew NUMBER`: how the loads of a command draw their rows.
//!
//! ```text
//!   --rand zipfian --load point-query,read-only?rand=latest,sysbench-32
//!          point-query?rand=zipfian    as if it had been written so
//!          read-only?rand=latest       what the name says comes first
//!          hot-points, scan, insert    draw nothing: left as they are in a suite, refused alone
//! ```
//!
//! The option becomes part of the label, so that a stored run says how rows were drawn.

use dbdyno_model::Stage;
use dbdyno_workload::{Catalog, Spec, catalog};

use crate::load_names::resolve_load;

const RAND: &str = "rand";
const SKEW: &str = "skew";

/// What the flags say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rand<'a> {
    /// Name of a distribution.
    pub name: &'a str,
    /// Its parameter; `None`: the usual one.
    pub skew: Option<f64>,
}

impl Rand<'_> {
    /// The stages of one word of `--load` with this distribution.
    ///
    /// # Errors
    /// A sentence, where none of the loads draws rows, or the distribution cannot be meant.
    pub(crate) fn set(&self, catalog: &Catalog, stages: Vec<Stage>) -> Result<Vec<Stage>, String> {
        let loads = stages.iter().filter(|stage| stage.load().is_some()).count();
        let mut changed = Vec::with_capacity(stages.len());
        let mut without = 0;
        for stage in stages {
            let Some(label) = stage.load() else {
                changed.push(stage);
                continue;
            };
            if !draws(catalog, label)? {
                without += 1;
                changed.push(stage);
                continue;
            }
            let label = self.label(label)?;
            resolve_load(catalog, &label)?;
            changed.push(match stage {
                Stage::Warm { limit_s, .. } => Stage::Warm { load: label, limit_s },
                Stage::Measure(_) | Stage::Settle | Stage::Restore => Stage::Measure(label),
            });
        }
        if loads > 0 && without == loads {
            return Err(format!(
                "it does not draw rows by chance, so there is nothing for --rand; all loads do but \
                 {} and the steps of the Insert Benchmark",
                others(catalog)?.join(", ")
            ));
        }
        Ok(changed)
    }

    fn label(&self, label: &str) -> Result<String, String> {
        let spec = Spec::parse(label).map_err(|error| error.to_string())?;
        if spec.options().take_text(RAND).is_some() {
            return Ok(label.to_owned());
        }
        let spec = spec.with_default(RAND, self.name);
        Ok(match self.skew {
            Some(skew) => spec.with_default(SKEW, &skew.to_string()).to_string(),
            None => spec.to_string(),
        })
    }
}

/// Whether a load has the option.
fn draws(catalog: &Catalog, label: &str) -> Result<bool, String> {
    Ok(resolve_load(catalog, label)?.options.contains(&RAND))
}

/// The loads that come with dbdyno and do not have the option.
fn others(catalog: &Catalog) -> Result<Vec<&'static str>, String> {
    let mut names = Vec::new();
    for entry in catalog::entries() {
        if !draws(catalog, entry.name)? {
            names.push(entry.name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rand: &Rand<'_>, words: &[&str]) -> Result<Vec<String>, String> {
        let stages = words.iter().map(|word| word.parse().unwrap()).collect();
        let stages = rand.set(&Catalog::default(), stages)?;
        Ok(stages.iter().map(Stage::to_string).collect())
    }

    #[test]
    fn every_load_that_draws_gets_it_and_a_name_that_says_so_keeps_its_own() {
        let rand = Rand { name: "pareto", skew: Some(0.1) };
        let words = ["warm:9s:read-only.pre", "settle", "scan", "point-query?rand=latest", "join"];
        let expected = [
            "warm:9s:read-only.pre?rand=pareto&skew=0.1",
            "settle",
            "scan",
            "point-query?rand=latest",
            "join?rand=pareto&skew=0.1",
        ];
        assert_eq!(set(&rand, &words).unwrap(), expected);
        let zipfian = Rand { name: "zipfian", skew: None };
        let own_skew = set(&zipfian, &["update-zipf?skew=0.7"]).unwrap();
        assert_eq!(own_skew, ["update-zipf?skew=0.7&rand=zipfian"]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let rand = |name, skew| Rand { name, skew };
        for (rand, words, hint) in [
            (rand("zipfian", None), &["scan"][..], "all loads do but hot-points"),
            (rand("zipfian", None), &["l.i0", "settle", "qr100"], "Insert Benchmark"),
            (rand("zipfian", Some(9.0)), &["join"], "between 0.01 and 5"),
            (rand("uniform", Some(0.5)), &["join"], "no skew"),
        ] {
            let error = set(&rand, words).unwrap_err();
            assert!(error.contains(hint), "{words:?}: {error}");
        }
    }
}

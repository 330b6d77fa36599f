//! Whether the tests of whole runs on models can fail: faults that are planted into the code, each
//! of which must make the tests fail that are named beside it.
//!
//! ```text
//!   last commit ──clone──▶ target/faults/tree ──one fault──▶ build, test ──▶ failed? good
//!                                  ▲                                │
//!                                  └──────────── as it was ─────────┘
//! ```
//!
//! A check that cannot fail is worth nothing, and a test in virtual time could be one: it holds the
//! product against a model that is ours, too. That every text of the table is still found in its
//! file, once, is a test; the faults themselves take a build each, and belong to `make soak`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fault.
pub(super) struct Fault {
    /// What is wrong with it, in a few words.
    pub what: &'static str,
    pub file: &'static str,
    /// What stands in the file, and what is put in its place.
    pub is: &'static str,
    pub becomes: &'static str,
    /// Tests that must fail: of `crates/cli/tests/command`, or with the crate before,
    /// `replica/apply::…`.
    pub tests: &'static [&'static str],
}

impl Fault {
    /// Whether a word stands in what it says of itself.
    fn has(&self, word: &str) -> bool {
        let texts = [self.what, self.file].into_iter();
        texts.chain(self.tests.iter().copied()).any(|text| text.contains(word))
    }
}

const fn fault(
    what: &'static str,
    file: &'static str,
    is: &'static str,
    becomes: &'static str,
    tests: &'static [&'static str],
) -> Fault {
    Fault { what, file, is, becomes, tests }
}

/// Every test of whole runs on models has one at least.
pub(super) const FAULTS: &[Fault] = &[
    fault(
        "arms are exchanged",
        "crates/judge/src/judged.rs",
        "(rate(pair.test) / rate(pair.base)).ln()",
        "(rate(pair.base) / rate(pair.test)).ln()",
        &["verdicts::a_planted_slowdown_is_found_and_fails_the_gate"],
    ),
    fault(
        "every answer is 3 % off",
        "crates/judge/src/judged.rs",
        "let nest = nested(pairs, |pair| (rate(pair.test)",
        "let nest = nested(pairs, |pair| (0.97 * rate(pair.test)",
        &["verdicts::no_slowdown_is_found_where_none_was_planted"],
    ),
    fault(
        "the budget is forgotten",
        "crates/judge/src/judged.rs",
        "budget: plan.budget,",
        "budget: 0.0,",
        &[
            "verdicts::no_slowdown_is_found_where_none_was_planted",
            "verdicts::a_drifting_host_is_no_difference",
        ],
    ),
    fault(
        "pairs are made of rounds that were not neighbours",
        "crates/judge/src/pairs.rs",
        "base: find(pair, Arm::Base)?",
        "base: find(0, Arm::Base)?",
        &["verdicts::a_drifting_host_is_no_difference"],
    ),
    fault(
        "no rate is told to move",
        "crates/judge/src/cautions/stationarity.rs",
        "Arm::BOTH.into_iter().filter(moves)",
        "Arm::BOTH.into_iter().filter(|_| false)",
        &["verdicts::an_arm_that_drifts_by_itself_is_told"],
    ),
    fault(
        "an arm may stand still in half of its rounds",
        "crates/judge/src/cautions/standstill.rs",
        "const BLOCKS: f64 = 0.05;",
        "const BLOCKS: f64 = 0.5;",
        &["verdicts::a_server_that_stands_still_for_a_round_is_told"],
    ),
    fault(
        "rounds without their memory are believed",
        "crates/judge/src/cautions/memory.rs",
        "before >= TAKEN && !are_kept",
        "before > 1.0 && !are_kept",
        &["verdicts::memory_that_the_host_takes_away_is_no_difference"],
    ),
    fault(
        "cells are no family",
        "crates/judge/src/family.rs",
        "let is_told = matches!(cell.verdict, Verdict::Slower | Verdict::Faster);",
        "let is_told = false;",
        &["verdicts::of_a_suite_of_equal_arms_nothing_is_told"],
    ),
    fault(
        "a search begins below what it looks for",
        "crates/lab/src/search.rs",
        "closed_rate * 1.1 * shift",
        "closed_rate * 0.6 * shift",
        &["verdicts::the_highest_rate_is_found"],
    ),
    fault(
        "writes are cut into slices",
        "crates/forecast/src/interleaving.rs",
        "        && planned::only_reads(plan, cell)\n",
        "",
        &["verdicts::reads_take_turns_in_slices_and_writes_do_not"],
    ),
    fault(
        "stored runs of any shape are compared",
        "crates/judge/src/stored.rs",
        "    same_shape(base, test)?;\n",
        "",
        &["verdicts::stored_runs_of_unequal_shape_are_not_compared"],
    ),
    fault(
        "an interrupted run is called complete",
        "crates/lab/src/experiment.rs",
        "lab.store.finish(run, RunStatus::Interrupted)?;",
        "lab.store.finish(run, RunStatus::Complete)?;",
        &[
            "verdicts::what_was_measured_until_ctrl_c_is_kept",
            "resume::an_interrupted_run_says_how_to_go_on_and_does",
            "until::a_run_that_is_looked_at_goes_on_by_its_rule",
        ],
    ),
    fault(
        "the order of rounds is no function of the seed",
        "crates/model/src/plan.rs",
        "random::stream(&key).shuffle(&mut order);",
        "let hash = std::collections::hash_map::RandomState::new();\n            \
         let hash = std::hash::BuildHasher::hash_one(&hash, key);\n            \
         random::stream(&[hash]).shuffle(&mut order);",
        &["verdicts::a_run_of_models_can_be_repeated_exactly"],
    ),
    fault(
        "models and servers may be mixed",
        "crates/lab/src/checks.rs",
        "arm.is_mock() != base.is_mock();",
        "arm.is_mock() != arm.is_mock();",
        &["verdicts::models_and_servers_do_not_take_turns"],
    ),
    fault(
        "no verdict ends a cell",
        "crates/forecast/src/ending.rs",
        "Ok(is_told || is_sharp)",
        "Ok(is_sharp)",
        &[
            "until::a_cell_ends_when_it_is_decided",
            "until::a_cell_of_two_equal_arms_ends_when_that_is_proved",
        ],
    ),
    fault(
        "runs that results ended are compared as if none had",
        "crates/judge/src/stored.rs",
        "let looked_at = if is_judged {",
        "let looked_at = if false {",
        &["until::two_runs_that_ended_when_they_were_decided_can_be_compared"],
    ),
    fault(
        "limits end nothing",
        "crates/lab/src/ending.rs",
        "self.spent() + self.part_longest > ends",
        "self.spent() + self.part_longest > ends * 1000",
        &[
            "until::a_cell_ends_when_its_time_is_up_and_can_be_made_longer",
            "until::starts_count_towards_the_limit",
        ],
    ),
    fault(
        "a limit is spent in one start",
        "crates/forecast/src/plan_for.rs",
        "const STARTS_IN_TIME: u32 = 12;",
        "const STARTS_IN_TIME: u32 = 1;",
        &["until::a_limit_is_parted_into_several_looks"],
    ),
    fault(
        "a run that is made longer forgets that it was judged",
        "crates/judge/src/extension.rs",
        "Stopping::Extended { pairs, judged: plan.cells().iter().map(starts).collect() }",
        "Stopping::Extended { pairs, judged: plan.cells().iter().map(starts).take(0).collect() }",
        &["until::a_run_that_was_judged_once_is_looked_at_when_it_is_made_longer"],
    ),
    fault(
        "every effect is promised to be found in time",
        "crates/forecast/src/plan_for.rs",
        "        && amount.seconds > seconds\n",
        "        && amount.seconds > 1e9 * seconds\n",
        &["until::an_effect_that_takes_too_long_is_said_beforehand"],
    ),
    fault(
        "no neighbour is noticed",
        "crates/judge/src/exclusion.rs",
        "const SHARE_LEAST: f64 = 0.1;",
        "const SHARE_LEAST: f64 = 1.0;",
        &["host::pairs_that_met_a_neighbour_are_left_out"],
    ),
    fault(
        "rounds are left out for their results",
        "crates/judge/src/exclusion.rs",
        "Witness::Share(what) => readings.get(what).into_iter().collect(),",
        "Witness::Share(_) => vec![round.qps().ln()],",
        &["host::slow_rounds_of_a_quiet_host_are_kept"],
    ),
    fault(
        "late clients are not noticed",
        "crates/judge/src/cautions/saturation.rs",
        "const LAG_HIGH: f64 = 0.3;",
        "const LAG_HIGH: f64 = 0.9;",
        &["host::a_client_without_a_processor_of_its_own_is_told"],
    ),
    fault(
        "curves are fitted to twice the clients",
        "crates/judge/src/curves.rs",
        "(f64::from(cell.cell.clients), judged_pairs(run, &cell.cell).0)",
        "(2.0 * f64::from(cell.cell.clients), judged_pairs(run, &cell.cell).0)",
        &["curves::client_counts_become_a_curve"],
    ),
    fault(
        "tables are filled once",
        "crates/model/src/plan.rs",
        "start.is_some_and(|start| filling(start) > filling(start - 1))",
        "start.is_some_and(|start| filling(start) < filling(start - 1))",
        &["levels::fillings_are_stored_and_intervals_of_stored_runs_are_named"],
    ),
    fault(
        "fillings are taken for one",
        "crates/judge/src/variance.rs",
        "if before.replace((base, test)) != Some((base, test)) {",
        "if before.replace((base, test)).is_none() {",
        &["levels::doubt_is_parted_by_where_it_comes_from"],
    ),
    fault(
        "a pair is measured twice by who goes on",
        "crates/forecast/src/remaining.rs",
        "seen.next_pair.max(plan.driving.pair_of(round.key.pair) + 1)",
        "seen.next_pair.max(plan.driving.pair_of(round.key.pair))",
        &[
            "resume::a_killed_run_goes_on_where_it_stopped",
            "resume::a_whole_suite_is_measured_although_it_was_killed_on_the_way",
            "arms::a_killed_run_of_four_arms_goes_on",
        ],
    ),
    fault(
        "an arm is judged by the rounds of another one",
        "crates/model/src/run.rs",
        "more => &self.further[more - 2].rounds,",
        "more => &self.further[(more - 2) / 2].rounds,",
        &["arms::what_is_planted_into_the_third_of_four_arms_is_found_in_no_other"],
    ),
    fault(
        "pairs of several arms are turned round",
        "crates/judge/src/arms.rs",
        "others.map(|test| Pairing { base, test }).collect()",
        "others.map(|test| Pairing { base: test, test: base }).collect()",
        &["arms::one_arm_that_is_too_slow_fails_the_gate"],
    ),
    fault(
        "an arm that fails takes the others with it",
        "crates/lab/src/error.rs",
        "others >= 2 && self.arm().is_some()",
        "others >= 99 && self.arm().is_some()",
        &[
            "arms::an_arm_that_dies_ends_its_own_column",
            "arms::an_arm_that_cannot_be_opened_is_left_out",
        ],
    ),
    fault(
        "a cell is over when one of its arms is decided",
        "crates/forecast/src/ending.rs",
        "if !is_over_between(&run.of_pair(pairing), cell)? {\n            return Ok(false);",
        "if is_over_between(&run.of_pair(pairing), cell)? {\n            return Ok(true);",
        &[
            "arms::a_cell_ends_when_all_arms_are_decided",
            "arms::an_undecided_run_of_three_arms_is_made_longer",
        ],
    ),
    fault(
        "one arm in full is shown against another one than base",
        "crates/cli/src/arms.rs",
        "None => ArmIndex::BASE,",
        "None => ArmIndex(test.0.saturating_sub(1)),",
        &["arms::a_pair_of_a_larger_run_is_shown_as_a_run_of_two"],
    ),
    fault(
        "every arm of a larger run is the first one to a history",
        "crates/cli/src/history.rs",
        "gathering.add(&run.of_pair(pairing))",
        "gathering.add(&run.of_pair(dbdyno_model::Pairing { base: pairing.base, test: \
         dbdyno_model::ArmIndex::TEST }))",
        &["arms::an_arm_of_a_larger_run_is_a_run_to_others"],
    ),
    fault(
        "the reference is left out of the table",
        "crates/report/src/arms/csv.rs",
        "view.arms.iter().zip(&row.arms)",
        "view.arms.iter().zip(&row.arms).skip(1)",
        &["arms::every_shape_has_all_arms"],
    ),
    fault(
        "the last fall of a group is told for the first",
        "crates/report/src/arms/groups.rs",
        "steps.iter().find(|(_, step)| *step == of)",
        "steps.iter().rev().find(|(_, step)| *step == of)",
        &["arms::where_a_group_starts_to_fall_is_told"],
    ),
    fault(
        "rates by processor time are turned round",
        "crates/report/src/arms/costs.rs",
        "rqps: 1.0 / cpu.ratio?,",
        "rqps: cpu.ratio?,",
        &["arms::rates_by_processor_time_leave_the_client_out"],
    ),
    fault(
        "a note on the method is shown with every run",
        "crates/cli/src/once.rs",
        "!self.known.contains(&warning.code) && !self.shown.contains_key(&warning.code)",
        "!self.shown.contains_key(&warning.code)",
        &["verdicts::a_note_on_the_method_is_shown_once_for_each_store"],
    ),
    fault(
        "the drawing of two arms is that of their page",
        "crates/cli/src/stored.rs",
        "return arms::still(still, run, &dbdyno_judge::as_arms(run, comparison), order);",
        "return output::write_page(&still.path, dbdyno_report::html(&view()));",
        &["arms::a_report_without_a_script_is_what_its_ending_says"],
    ),
    fault(
        "nothing is taken back in a trial",
        "crates/explain/src/equal.rs",
        "in suspects.into_iter().flat_map(|suspect| suspect.lines(direction)) {",
        "in suspects.into_iter().take(0).flat_map(|suspect| suspect.lines(direction)) {",
        &[
            "explain::two_causes_among_five_differences_are_found_and_add_up",
            "explain::what_cannot_be_explained_is_refused_with_what_can",
            "explain::a_setting_of_mariadb_is_found_by_its_instructions",
        ],
    ),
    fault(
        "every effect is one, however small",
        "crates/explain/src/search.rs",
        "effect.cost.abs() >= self.limits.least\n            && effect.cost.abs() >= \
         self.limits.errors * effect.error",
        "effect.cost.abs() >= 0.1 * self.limits.least",
        &["explain::equal_arms_have_no_cause"],
    ),
    fault(
        "trials are listed as runs",
        "crates/cli/src/stored.rs",
        "flags.trials || run.explains.is_none()",
        "flags.trials || !run.id.0.is_empty()",
        &["explain::what_was_tried_is_not_tried_again_and_trials_are_no_runs_of_the_user"],
    ),
    fault(
        "what was not observed stands nowhere in the ledger",
        "crates/judge/src/ledger.rs",
        "whole - seen.iter().sum::<f64>()",
        "(whole - seen.iter().sum::<f64>()).min(0.0)",
        &["explain::the_ledger_of_a_cell_adds_up"],
    ),
    fault(
        "what nobody has tried is taken for what base needs",
        "crates/lab/src/explain/mod.rs",
        "let is_known = self.evidence.has(view, &Set::new());",
        "let is_known = true;",
        &["explain::what_was_not_counted_is_counted_before_it_is_called_code"],
    ),
    fault(
        "what is left for the code is taken for none",
        "crates/explain/src/shares.rs",
        "code: beside(everything),",
        "code: beside(base(0.0)),",
        &["explain::where_no_setting_differs_all_of_it_is_code"],
    ),
    fault(
        "waits part the rest of a ledger by the time that they took under the recorder",
        "crates/explain/src/profile/waits.rs",
        "rest.us[arm] - parts.iter().map(|part| part.us[arm]).sum::<f64>()",
        "rest.us[arm]",
        &["explain::what_sessions_wait_for_parts_the_rest"],
    ),
    fault(
        "an explanation that ended early is called complete",
        "crates/cli/src/explanation.rs",
        "all.iter().any(|one| one.open.is_some() || one.limit.is_some())",
        "all.is_empty()",
        &["explain::an_explanation_that_ran_out_of_time_goes_on"],
    ),
    fault(
        "a remedy is measured in no other cell",
        "crates/lab/src/explain/remedy.rs",
        "(1..=CELLS_MOST).contains(&others)",
        "(0..=0).contains(&others)",
        &[
            "explain::what_takes_the_loss_away_is_measured_in_the_other_cells",
            "explain::where_there_is_no_other_cell_nothing_more_is_measured",
        ],
    ),
    fault(
        "a client that is the limit is not noticed",
        "crates/lab/src/explain/mod.rs",
        "(!texts.is_empty()).then(|| texts.join(\"; \"))",
        "texts.is_empty().then(|| texts.join(\"; \"))",
        &["explain::where_the_client_is_the_limit_no_server_is_accused"],
    ),
    fault(
        "an allocator that is named is not loaded",
        "crates/sandbox/src/server/launch.rs",
        "command.env(\"LD_PRELOAD\", library);",
        "command.env(\"LD_PRELOADED\", library);",
        &["explain::an_allocator_that_is_loaded_before_can_be_taken_back"],
    ),
    fault(
        "tables of others are not looked at",
        "crates/lab/src/capture/tables.rs",
        ".filter(is_new).take(OTHERS_MOST)",
        ".filter(is_new).take(0)",
        &["explain::servers_by_url_are_answered_as_far_as_they_can_be"],
    ),
    fault(
        "compare explains nothing",
        "crates/cli/src/compare.rs",
        "if flags.explain && exit != Exit::Interrupted {",
        "if flags.explain && exit == Exit::Interrupted {",
        &["explain::compare_explains_what_it_proves"],
    ),
    fault(
        "an anomaly is never seen",
        "crates/cases/src/judge.rs",
        "if all_committed && case.occurs.holds(answer) {",
        "if !all_committed && case.occurs.holds(answer) {",
        &["isolation::a_promise_that_is_broken_is_told"],
    ),
    fault(
        "what is no conflict is taken for one",
        "crates/cases/src/judge.rs",
        "code => NUMBERS.contains(code),",
        "_ => true,",
        &["isolation::what_cannot_be_told_is_no_verdict"],
    ),
    fault(
        "servers are held against nothing",
        "crates/protocols/src/conform.rs",
        "model.answer != server.answer || !waits_alike",
        "model.answer != server.answer && !waits_alike",
        &["isolation::servers_go_as_their_protocols_say"],
    ),
    fault(
        "recorders note that every write replaced the first version",
        "crates/lab/src/isolation/random.rs",
        "let known = OpRecord { kind: Kind::Write, table, key, value, prev };",
        "let known = OpRecord { kind: Kind::Write, table, key, value, prev: prev.min(0) };",
        &["isolation::random_transactions_have_what_servers_promise"],
    ),
    fault(
        "plays that do not show the anomaly are counted",
        "crates/lab/src/isolation/replay.rs",
        "seen: count(&|play| play.outcome == CaseOutcome::Occurs),",
        "seen: count(&|play| play.outcome != CaseOutcome::Occurs),",
        &["isolation::an_anomaly_is_played_again_from_its_file"],
    ),
    fault(
        "a change of the engine is noted to replace what was never there",
        "crates/lab/src/isolation/in_process.rs",
        "self.note(open, Kind::Write, ROWS, key, (own, old));",
        "self.note(open, Kind::Write, ROWS, key, (own, MISSING));",
        &["isolation::the_engine_keeps_its_levels_and_faults_in_it_are_found"],
    ),
    fault(
        "printed figures are held against the arms the other way round",
        "crates/cli/src/printed.rs",
        "Pairing { base: arm(&table.base)?, test: arm(&table.test)? }",
        "Pairing { base: arm(&table.test)?, test: arm(&table.base)? }",
        &["published::printed_figures_are_held_against_the_newest_run"],
    ),
    fault(
        "a figure that was not measured counts as open",
        "crates/model/src/published.rs",
        "let Some(ours) = ours else { return Standing::NotTestable };",
        "let Some(ours) = ours else { return Standing::Open };",
        &["published::printed_figures_are_held_against_the_newest_run"],
    ),
    fault(
        "certification forgets the first row of a transaction",
        "crates/replica/src/certify/mod.rs",
        "&& rows.iter().all(|&row| writers.note(row, writer) == Noted::Done)",
        "&& rows[1..].iter().all(|&row| writers.note(row, writer) == Noted::Done)",
        &[
            "replica/certify::exact_says_what_the_oracle_says",
            "replica/certify::every_variant_refuses_what_must_be_refused_and_forgets_no_writer",
        ],
    ),
    fault(
        "an applier begins a transaction before the first that it depends on has committed",
        "crates/replica/src/apply/dag.rs",
        "for &on in on.iter().filter(|&&on| !progress.has_committed(on)) {",
        "for &on in on.iter().skip(1).filter(|&&on| !progress.has_committed(on)) {",
        &["replica/apply::every_variant_leads_to_the_same_rows"],
    ),
    fault(
        "a worker of a replica does not tell what it has applied beyond the low-water mark",
        "crates/engine/src/follow/worker.rs",
        "self.above.0.insert(taken.sequence);",
        "self.above.0.remove(&taken.sequence);",
        &[
            "engine/replica::what_a_worker_has_applied_beyond_the_low_water_mark_is_not_done_again",
            "engine/replica::a_replica_that_crashes_goes_on_where_it_was",
        ],
    ),
    fault(
        "a replica cuts what its source has truncated and keeps the key that it had",
        "crates/engine/src/follow/tables.rs",
        "self.engine.shared.replace_table(&name, |_| Ok(spec.clone()))?",
        "self.engine.truncate_table(&name)?",
        &["engine/replica::in_every_design_a_replica_has_the_rows_of_its_source"],
    ),
    fault(
        "a replica that begins with a copy passes over what ended while it was taken",
        "crates/engine/src/follow/copy.rs",
        "&position::begin(from, until)",
        "&position::begin(until.max(from), until)",
        &["engine/replica::what_commits_while_a_copy_is_taken_is_in_the_copy_or_applied"],
    ),
    fault(
        "a replica on the wire is not held against its source",
        "crates/lab/src/topology.rs",
        "(_, Dialect::Engine) => compared_over_the_wire(connector),",
        "(_, Dialect::Engine) => compared_over_the_wire(connector).map(|_| None),",
        &["engine::a_served_engine_has_a_replica_as_one_in_process_has"],
    ),
    fault(
        "a server lets in who says the right name",
        "crates/wire/src/mysql/server/login.rs",
        "holds && hello.user == account.user.as_bytes()",
        "hello.user == account.user.as_bytes()",
        &["serve/answers::who_is_not_known_is_refused"],
    ),
    fault(
        "packets of a request are taken in any order",
        "crates/wire/src/mysql/packet.rs",
        "if number != expected {",
        "if number > 250 {",
        &["serve/bad_input::packets_out_of_order_and_without_content_are_refused_by_number"],
    ),
    fault(
        "an answer that is taken back leaves its packets counted",
        "crates/wire/src/mysql/server/answer.rs",
        "        self.number = self.first;\n",
        "",
        &["serve/bad_input::what_is_too_large_is_refused_before_it_has_come"],
    ),
    fault(
        "values in pieces stay for the next execution",
        "crates/serve/src/session.rs",
        "        parameters.forget_pieces();\n        self.end(",
        "        self.end(",
        &["serve/answers::values_come_in_pieces_and_are_used_once"],
    ),
    fault(
        "definitions of columns are kept in the characters of another session",
        "crates/serve/src/answer.rs",
        "Arc::ptr_eq(known, columns) && *of == charset",
        "Arc::ptr_eq(known, columns)",
        &["serve/answers::characters_are_those_of_the_session"],
    ),
    fault(
        "one connection more is let in than there is room for",
        "crates/serve/src/server.rs",
        "connections.open.len() >= shared",
        "connections.open.len() > shared",
        &["serve/bad_input::one_connection_too_many_is_told_so"],
    ),
    fault(
        "a server that ends lets clients wait for locks",
        "crates/serve/src/server.rs",
        "let interruption = shared.house.engine.interrupt_waits();",
        "let interruption = ();",
        &["serve/ending::who_waits_for_a_lock_does_not_hold_up_the_end"],
    ),
    fault(
        "a server that ends does not say that its disk has failed",
        "crates/serve/src/server.rs",
        "        shared.house.engine.flush()?;\n",
        "",
        &["serve/bad_input::a_disk_that_is_full_is_told_and_nothing_acknowledged_is_lost"],
    ),
    fault(
        "what came together with the question for encryption is dropped",
        "crates/wire/src/mysql/packet.rs",
        "self.stream.serve_encrypted(security, &self.input[read])",
        "self.stream.serve_encrypted(security, &self.input[read.start..read.start])",
        &["serve/tls::the_handshake_may_come_together_with_the_question_or_byte_by_byte"],
    ),
    fault(
        "who has to encrypt need not",
        "crates/wire/src/mysql/server/login.rs",
        "security.is_required() && channel.stream().privacy() == Privacy::Open",
        "security.is_required() && channel.stream().privacy() == Privacy::Encrypted",
        &["serve/tls::who_has_to_encrypt_and_does_not_is_told_so"],
    ),
    fault(
        "the end of what is encrypted is not told",
        "crates/wire/src/stream.rs",
        "            encrypted.say_goodbye()?;\n",
        "            let _ = encrypted;\n",
        &["serve/tls::a_second_question_and_one_that_was_not_invited_are_refused"],
    ),
    fault(
        "what is rolled back is recorded as committed",
        "crates/load/src/record.rs",
        "(Over::Answered, Ending::CommitAsked) => Outcome::Ok,",
        "(Over::Answered, _) => Outcome::Ok,",
        &["isolation::recorded_loads_have_what_servers_promise"],
    ),
    fault(
        "judged while it goes on, readers do not come before who replaces what they read",
        "crates/check/src/online.rs",
        "if to != reader.number {",
        "if to == UNKNOWN {",
        &[
            "check/online::verdicts_are_those_of_the_whole_history",
            "isolation::loads_are_judged_while_they_go_on",
        ],
    ),
    fault(
        "two connections fill a table of PostgreSQL",
        "crates/load/src/fill.rs",
        "Dialect::Mysql => tables < workers(),\n        Dialect::Postgres | ",
        "Dialect::Mysql | Dialect::Postgres => tables < workers(),\n        ",
        &["lab/loads::heap::rows_are_filled_in_by_their_keys_and_are_known_to_be_visible"],
    ),
    fault(
        "PostgreSQL vacuums what was filled in before it is on disk",
        "crates/load/src/fill.rs",
        "execute(&mut *client, COMMITS_ARE_SYNCED)?;",
        "",
        &["lab/loads::heap::rows_are_filled_in_by_their_keys_and_are_known_to_be_visible"],
    ),
    fault(
        "PostgreSQL settles before what was written is on disk",
        "crates/lab/src/settle.rs",
        "self.client.run(COMMITS_ARE_SYNCED)?;",
        "let _ = COMMITS_ARE_SYNCED;",
        &["lab/loads::heap::after_settling_rows_are_known_to_be_visible"],
    ),
    fault(
        "plans are those of the full tables",
        "crates/lab/src/stages.rs",
        "capture::note_measured_plans(self.plan, self.stations, cell);",
        "",
        &["lab/loads::heap::a_plan_that_changed_since_the_tables_were_filled_is_noted_of_the_cell"],
    ),
];

/// Plants one fault after the other into a clone of the last commit, and says which tests did not
/// notice; those with this word in them, in their tests or in their file.
///
/// The clone and what was built of it stay, so that only what a fault changes is built, and faults
/// of one file follow each other: what is put back is then built together with the next one.
///
/// # Errors
/// What could not be done.
pub(super) fn plant(repository: &Path, target: &Path, word: &str) -> Result<bool, String> {
    let folder = target.join("faults");
    let tree = folder.join("tree");
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(told)?;
    clone(repository, &tree)?;
    let place = Place { tree, target: folder.join("target") };
    let mut planted: Vec<_> = FAULTS.iter().filter(|fault| fault.has(word)).collect();
    if planted.is_empty() {
        return Err(format!("no fault has {word:?} in it, in its tests or in its file"));
    }
    planted.sort_by_key(|fault| fault.file);
    if !place.all_pass(&planted)? {
        return Err("tests fail without any fault".to_owned());
    }
    let mut are_noticed = true;
    for fault in planted {
        let path = place.tree.join(fault.file);
        let text = std::fs::read_to_string(&path).map_err(told)?;
        std::fs::write(&path, text.replacen(fault.is, fault.becomes, 1)).map_err(told)?;
        place.builds(fault)?;
        for test in fault.tests {
            let is_noticed = !place.passes(test)?;
            are_noticed &= is_noticed;
            let mark = if is_noticed { "noticed" } else { "NOT NOTICED" };
            println!("{mark:<11}  {:<62}  {test}", fault.what);
        }
        std::fs::write(&path, text).map_err(told)?;
    }
    Ok(are_noticed)
}

/// The last commit, without a fault that an interrupted run has left; files that are the same keep
/// their time, or all would be built anew.
fn clone(repository: &Path, tree: &Path) -> Result<(), String> {
    let (from, to) = (repository.to_string_lossy(), tree.to_string_lossy());
    if !tree.exists() {
        return succeeds(Command::new("git").args(["clone", "--quiet", &from, &to]));
    }
    let git = |words: &[&str]| succeeds(Command::new("git").args(["-C", &to]).args(words));
    git(&["fetch", "--quiet", &from, "HEAD"])?;
    git(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])
}

/// Where a test is.
struct Tests<'a> {
    package: String,
    program: &'a str,
    name: &'a str,
}

impl Tests<'_> {
    fn of(test: &str) -> Tests<'_> {
        match test.split_once('/') {
            Some((folder, name)) => {
                Tests { package: format!("dbdyno-{folder}"), program: folder, name }
            }
            None => Tests { package: "dbdyno".to_owned(), program: "command", name: test },
        }
    }
}

/// Where faults are planted, and where what comes of them is built.
struct Place {
    tree: PathBuf,
    target: PathBuf,
}

impl Place {
    fn cargo(&self, of: &Tests<'_>, more: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(["test", "--quiet", "--locked", "-p", &of.package, "--test", of.program]);
        command.args(more).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A fault that does not compile is noticed by nobody's test.
    fn builds(&self, fault: &Fault) -> Result<(), String> {
        let build = |test: &&str| succeeds(&mut self.cargo(&Tests::of(test), &["--no-run"]));
        fault
            .tests
            .iter()
            .try_for_each(|test| build(test).map_err(|why| format!("{}: {why}", fault.what)))
    }

    /// Whether all tests pass that must notice these faults.
    fn all_pass(&self, faults: &[&'static Fault]) -> Result<bool, String> {
        let mut programs: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
        let all = faults.iter().flat_map(|fault| fault.tests);
        for Tests { package, program, name } in all.map(|test| Tests::of(test)) {
            programs.entry((package, program)).or_default().push(name);
        }
        for ((package, program), names) in programs {
            if !self.pass(&Tests { package, program, name: "" }, &names)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this test passes.
    fn passes(&self, test: &str) -> Result<bool, String> {
        let test = Tests::of(test);
        self.pass(&test, &[test.name])
    }

    fn pass(&self, of: &Tests<'_>, names: &[&str]) -> Result<bool, String> {
        let status = self.cargo(of, &[&["--", "--exact"], names].concat()).status();
        status.map(|status| status.success()).map_err(|error| format!("cargo: {error}"))
    }
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::repository;

    fn read(path: &str) -> String {
        std::fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    #[test]
    fn every_fault_has_its_place_and_its_tests() {
        for fault in FAULTS {
            let found = read(fault.file).matches(fault.is).count();
            assert_eq!(found, 1, "{}: {:?} in {}", fault.what, fault.is, fault.file);
            assert_ne!(fault.is, fault.becomes);
            for test in fault.tests {
                let (folder, test) = match test.split_once('/') {
                    Some((folder, test)) => (format!("{folder}/tests"), test),
                    None => ("cli/tests/command".to_owned(), *test),
                };
                let (module, name) = test.rsplit_once("::").expect("a test is in a module");
                let path = format!("crates/{folder}/{}.rs", module.replace("::", "/"));
                let tests = read(&path);
                assert!(tests.contains(&format!("fn {name}(")), "there is no test {test}");
            }
        }
    }

    #[test]
    fn every_test_of_whole_runs_on_models_has_a_fault() {
        for module in ["verdicts", "until", "host", "resume", "arms", "explain", "published"] {
            for line in read(&format!("crates/cli/tests/command/{module}.rs")).split("#[test]\nfn ")
            {
                let Some((name, _)) = line.split_once("() {").filter(|_| !line.starts_with("//!"))
                else {
                    continue;
                };
                let test = format!("{module}::{name}");
                let has = |fault: &Fault| fault.tests.contains(&&*test);
                assert!(FAULTS.iter().any(has), "nothing is planted that {test} must notice");
            }
        }
    }
}

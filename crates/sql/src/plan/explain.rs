//! A plan as text: what EXPLAIN tells.
//!
//! ```text
//!   tpcc_customer PRIMARY = = =
//!   tpcc_warehouse PRIMARY =
//! ```

use std::fmt::{self, Write};

use super::{Access, End, Equal, First, Level, Query, RangeEnd, SortNeed, Source};
use crate::parse::{Direction, Join};

/// A line for each level, and what is done with the rows.
pub(crate) fn explain_query(query: &Query) -> Vec<String> {
    let mut lines = Vec::new();
    for level in &query.levels {
        let line = match &level.source {
            Source::Table(access) => of_table(access),
            Source::Query(inner) => format!("query ({})", explain_query(inner).join("; ")),
        };
        lines.push(with_marks(line, level));
    }
    for ask in &query.queries {
        let when = if ask.outer.is_empty() { "once" } else { "for each row" };
        lines.push(format!("{when} ({})", explain_query(&ask.query).join("; ")));
    }
    match &query.grouping {
        Some(grouping) if grouping.first == First::IsEnough => {
            lines.push("first row".to_owned());
        }
        Some(_) => lines.push("groups".to_owned()),
        None => {}
    }
    if query.sorted == SortNeed::Afterwards {
        lines.push("sort".to_owned());
    }
    lines
}

fn of_table(access: &Access) -> String {
    let table = &access.table;
    let mut line = format!("{} {}", table.name, table.indexes[access.index].name);
    for equal in &access.equal {
        line.push_str(match equal {
            Equal::One(_) => " =",
            Equal::AnyOf(_) => " in",
            Equal::Answer(_) => " in-query",
        });
    }
    let bounds = [(&access.low, ">"), (&access.high, "<")];
    for (bound, relation) in bounds {
        if bound.is_some() {
            write!(line, " {}", Relation(bound, relation)).expect("memory takes it");
        }
    }
    if access.direction == Direction::Down {
        line.push_str(" backwards");
    }
    if access.is_covered() {
        line.push_str(" covered");
    }
    line
}

struct Relation<'a>(&'a Option<RangeEnd>, &'a str);

impl fmt::Display for Relation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_inside = self.0.as_ref().is_some_and(|bound| bound.end == End::Inside);
        write!(f, "{}{}", self.1, if is_inside { "=" } else { "" })
    }
}

fn with_marks(mut line: String, level: &Level) -> String {
    if level.join == Join::Left {
        line.insert_str(0, "left ");
    }
    if !level.filter.is_empty() || !level.after.is_empty() {
        line.push_str(" filter");
    }
    line
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use dbdyno_engine::disk::SimDisk;
    use dbdyno_engine::{Engine, EngineOptions, Upkeep};
    use dbdyno_model::Design;

    use super::*;
    use crate::connection::SqlConnection;
    use crate::error::Result;
    use crate::operand::Operand;
    use crate::parse::{Statement, parse};
    use crate::plan::{plan_delete, plan_select, plan_update};
    use crate::run::Sink;

    struct Nobody;

    impl Sink for Nobody {
        fn begin_rows(&mut self, _columns: &Arc<[crate::ResultColumn]>) {}
        fn value(&mut self, _value: &Operand<'_>) {}
        fn end_row(&mut self) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    /// An engine in memory with the tables of the tests.
    fn shop() -> Arc<Engine> {
        let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
        let engine =
            Engine::open(Arc::new(SimDisk::default()), &Design::default(), options).unwrap();
        let engine = Arc::new(engine);
        let mut connection = SqlConnection::new(engine.clone(), || 0);
        for sql in [
            "CREATE TABLE t (id INT PRIMARY KEY, k INT, c INT, INDEX k_1 (k))",
            "CREATE TABLE line (w INT, d INT, o INT, n INT, item INT, PRIMARY KEY (w, d, o, n))",
            "CREATE INDEX by_item ON line (w, item)",
            "CREATE TABLE bare (a INT, b INT)",
        ] {
            connection.run(sql, &mut Nobody).unwrap();
        }
        engine
    }

    fn plan(sql: &str, shop: &Engine) -> Result<String> {
        let query = match parse(sql)?.statement {
            Statement::Select(select) => plan_select(&select, shop)?,
            Statement::Update(update) => plan_update(&update, shop)?.which,
            Statement::Delete(delete) => plan_delete(&delete, shop)?.which,
            other => panic!("{other:?}"),
        };
        Ok(explain_query(&query).join("\n"))
    }

    #[test]
    fn an_index_is_taken_for_what_the_conditions_say() {
        let shop = shop();
        for (sql, planned) in [
            ("SELECT c FROM t WHERE id=?", "t PRIMARY ="),
            ("SELECT id FROM t WHERE ? = id AND k = 3", "t PRIMARY = filter"),
            ("SELECT c FROM t WHERE id IN (?, ?, ?)", "t PRIMARY in"),
            ("SELECT k FROM t WHERE k IN (?, ?)", "t k_1 in covered"),
            ("SELECT k, id FROM t WHERE k BETWEEN ? AND ?", "t k_1 >= <= covered"),
            ("SELECT k, c FROM t WHERE k BETWEEN ? AND ?", "t k_1 >= <="),
            ("SELECT c FROM t WHERE k > 1 AND k > 2", "t k_1 > filter"),
            ("SELECT c FROM t WHERE id > 5 ORDER BY id DESC LIMIT 10", "t PRIMARY > backwards"),
            ("SELECT c FROM t WHERE id > 5 ORDER BY c", "t PRIMARY >\nsort"),
            ("SELECT id FROM t ORDER BY k, id LIMIT 5", "t k_1 covered"),
            ("SELECT id FROM t WHERE k = 1 ORDER BY id LIMIT 5", "t k_1 = covered"),
            ("SELECT id FROM t ORDER BY k, id DESC", "t PRIMARY\nsort"),
            ("SELECT DISTINCT c FROM t WHERE id < 9 ORDER BY c", "t PRIMARY <\nsort"),
            ("SELECT min(id) FROM t", "t PRIMARY\nfirst row"),
            ("SELECT max(id) FROM t", "t PRIMARY backwards\nfirst row"),
            ("SELECT max(k) FROM t", "t k_1 backwards covered\nfirst row"),
            ("SELECT max(o) FROM line WHERE w=1 AND d=2", "line PRIMARY = = backwards\nfirst row"),
            ("SELECT max(o) FROM line WHERE w=1 AND item=2", "line by_item = = covered\ngroups"),
            ("SELECT sum(k) FROM t WHERE id < 9", "t PRIMARY <\ngroups"),
            ("SELECT c FROM t FORCE INDEX (k_1) WHERE id = 1", "t k_1 filter"),
            ("SELECT n FROM line WHERE w=1 AND d=1 AND o<9 AND o>=?", "line PRIMARY = = >= <"),
            ("SELECT b FROM bare WHERE a = 1", "bare PRIMARY filter"),
            ("UPDATE t SET k=k+1 WHERE id=?", "t PRIMARY ="),
            ("DELETE FROM t WHERE id >= 7 ORDER BY id ASC LIMIT 5", "t PRIMARY >="),
            ("SELECT 1", ""),
        ] {
            assert_eq!(plan(sql, &shop).unwrap(), planned, "{sql}");
        }
    }

    #[test]
    fn tables_are_joined_as_they_are_written() {
        let shop = shop();
        for (sql, planned) in [
            (
                "SELECT count(*), max(i.c) FROM t o STRAIGHT_JOIN t i ON i.id = o.k WHERE o.id < 9",
                "t PRIMARY <\nt PRIMARY =\ngroups",
            ),
            (
                "SELECT count(*) FROM line WHERE w=? AND item IN (SELECT t.k FROM t JOIN line ON \
                 w=id AND d=1 AND o >= k-20 AND o < k WHERE id=?)",
                "line by_item = in-query covered\n\
                 once (t PRIMARY =; line PRIMARY = = >= <)\ngroups",
            ),
            (
                "SELECT c FROM t WHERE k - (SELECT sum(n) FROM line WHERE w=id) > 1",
                "t PRIMARY filter\nfor each row (line PRIMARY =; groups)",
            ),
            (
                "SELECT c FROM t WHERE id=(SELECT max(k) FROM t WHERE c=4)",
                "t PRIMARY =\nonce (t PRIMARY filter; groups)",
            ),
            (
                "SELECT count(*) FROM t LEFT JOIN (SELECT w, max(o) AS newest FROM line GROUP BY \
                 w) l ON w=id WHERE newest IS NULL",
                "t PRIMARY\nleft query (line PRIMARY; groups) filter\ngroups",
            ),
            (
                "SELECT o.id, sum(l.n * 2) FROM t o JOIN line l ON l.w = o.id WHERE o.k = ? GROUP \
                 BY o.id ORDER BY o.id LIMIT 20",
                "t k_1 = covered\nline PRIMARY =\ngroups\nsort",
            ),
        ] {
            assert_eq!(plan(sql, &shop).unwrap(), planned, "{sql}");
        }
    }

    #[test]
    fn names_that_mean_nothing_or_two_things_are_refused() {
        let shop = shop();
        for (sql, said) in [
            ("SELECT x FROM t", "no column x"),
            ("SELECT id FROM t a JOIN t b ON a.id=b.id", "two tables"),
            ("SELECT b.id FROM t a", "b.id"),
            ("SELECT id FROM nowhere", "no table nowhere"),
            ("SELECT id FROM t FORCE INDEX (i)", "no index i"),
            ("SELECT c, sum(k) FROM t", "neither grouped by"),
            ("SELECT id FROM t WHERE sum(k) > 1", "aggregate"),
            ("SELECT id FROM t WHERE k IN (SELECT 1, 2)", "one value"),
            ("SELECT id FROM t ORDER BY 2", "ORDER BY"),
            ("SELECT SQL_NO_CACHE id FROM t", "SQL_NO_CACHE"),
            ("UPDATE t SET x=1", "no column x"),
        ] {
            let error = plan(sql, &shop).unwrap_err().to_string();
            assert!(error.contains(said), "{sql}: {error}");
        }
    }
}

//! The order in which tables are made and filled that refer to each other.
//!
//! ```text
//!   customer ◀── orders ◀── line        waves: customer, item │ orders │ line
//!                item ◀──────┘
//! ```
//!
//! A foreign key is checked as rows come: what it refers to must be there before. Which tables a
//! statement refers to is read from its words: a name behind `REFERENCES`. A table that refers to
//! itself has to wait for nobody.

use crate::dataset::TableScript;

/// The tables by number, in waves: each after all that its `create` refers to, and in a wave in the
/// order in which they are described. Those that refer to each other come one by one at the end.
pub fn creation_waves(scripts: &[TableScript]) -> Vec<Vec<usize>> {
    in_waves(scripts, |script| std::slice::from_ref(&script.create))
}

/// The same for what is done when the rows are in: foreign keys are added after the keys are there
/// that they refer to.
pub fn finishing_waves(scripts: &[TableScript]) -> Vec<Vec<usize>> {
    in_waves(scripts, |script| &script.finish)
}

/// Whether a table is made with a foreign key to itself.
pub fn refers_to_itself(script: &TableScript) -> bool {
    referred_to(&script.create).iter().any(|name| name.eq_ignore_ascii_case(&script.name))
}

/// Two of these tables, by number, that refer to each other, on the way over others or not;
/// `creates` are their names and statements.
pub(crate) fn find_circle(creates: &[(&str, &str)]) -> Option<[usize; 2]> {
    let tables: Vec<(&str, Vec<&str>)> =
        creates.iter().map(|(name, sql)| (*name, vec![*sql])).collect();
    let edges = edges(&tables);
    let left = layered(&edges).1;
    let first = *left.first()?;
    let other = edges[first].iter().find(|to| left.contains(to)).copied().unwrap_or(first);
    Some([first, other])
}

fn in_waves(
    scripts: &[TableScript],
    statements: impl Fn(&TableScript) -> &[String],
) -> Vec<Vec<usize>> {
    let table = |script| {
        let statements: &[String] = statements(script);
        (script.name.as_str(), statements.iter().map(String::as_str).collect())
    };
    let tables: Vec<(&str, Vec<&str>)> = scripts.iter().map(table).collect();
    let (mut waves, left) = layered(&edges(&tables));
    waves.extend(left.into_iter().map(|table| vec![table]));
    waves
}

/// For each table, by its name and statements, the others that it refers to.
fn edges(tables: &[(&str, Vec<&str>)]) -> Vec<Vec<usize>> {
    (0..tables.len())
        .map(|own| {
            let named: Vec<String> =
                tables[own].1.iter().flat_map(|sql| referred_to(sql)).collect();
            let is_named =
                |at: &usize| named.iter().any(|name| name.eq_ignore_ascii_case(tables[*at].0));
            (0..tables.len()).filter(|at| *at != own).filter(is_named).collect()
        })
        .collect()
}

/// Waves, and the tables for which there is none, for they wait for each other.
fn layered(edges: &[Vec<usize>]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let (mut waves, mut left): (Vec<Vec<usize>>, Vec<usize>) =
        (Vec::new(), (0..edges.len()).collect());
    while !left.is_empty() {
        let waits = |table: &usize| edges[*table].iter().any(|to| left.contains(to));
        let (later, wave): (Vec<usize>, Vec<usize>) = left.iter().partition(|table| waits(table));
        if wave.is_empty() {
            break;
        }
        waves.push(wave);
        left = later;
    }
    (waves, left)
}

/// The names behind `REFERENCES`, without their schemas.
fn referred_to(sql: &str) -> Vec<String> {
    let tokens = tokens(sql);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_word = matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("references"));
        if !is_word {
            continue;
        }
        let mut rest = &tokens[at + 1..];
        while let [_, Token::Symbol('.'), behind @ ..] = rest {
            rest = behind;
        }
        if let [Token::Word(name) | Token::Quoted(name), ..] = rest {
            found.push(name.clone());
        }
    }
    found
}

/// A piece of SQL; texts and comments are none.
#[derive(Debug, PartialEq)]
pub(crate) enum Token {
    /// As it is written.
    Word(String),
    /// Without its quotes.
    Quoted(String),
    /// Any other character.
    Symbol(char),
}

/// The pieces of a statement in order.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let (mut found, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        rest = match first {
            '\'' => after(behind, "'"),
            '"' | '`' => {
                let close = first.to_string();
                let after = after(behind, &close);
                let text = &behind[..behind.len() - after.len()];
                let name = text.strip_suffix(first).unwrap_or(text);
                found.push(Token::Quoted(name.to_owned()));
                after
            }
            '#' => after(behind, "\n"),
            '-' if behind.starts_with('-') => after(behind, "\n"),
            '/' if behind.starts_with('*') => after(behind, "*/"),
            c if is_name_char(c) => {
                let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
                found.push(Token::Word(rest[..end].to_owned()));
                &rest[end..]
            }
            c if c.is_whitespace() => behind,
            c => {
                found.push(Token::Symbol(c));
                behind
            }
        };
    }
    found
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// What stands behind the next `end`.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn script(name: &str, create: &str, finish: &[&str]) -> TableScript {
        TableScript {
            name: name.to_owned(),
            create: create.to_owned(),
            columns: Vec::new(),
            numbers: Vec::new(),
            reshaped: Vec::new(),
            finish: finish.iter().map(|sql| (*sql).to_owned()).collect(),
        }
    }

    fn tables(all: &[(&str, &str)]) -> Vec<TableScript> {
        all.iter().map(|(name, create)| script(name, create, &[])).collect()
    }

    #[test]
    fn a_child_comes_after_its_parent_whichever_stands_first() {
        let parent = ("parent", "CREATE TABLE parent (id INT PRIMARY KEY)");
        let child = ("child", "CREATE TABLE child (id INT, p INT references `Parent`(id))");
        let apart = ("apart", "CREATE TABLE apart (id INT PRIMARY KEY)");
        assert_eq!(creation_waves(&tables(&[parent, child, apart])), [vec![0, 2], vec![1]]);
        assert_eq!(creation_waves(&tables(&[child, apart, parent])), [vec![1, 2], vec![0]]);
        assert_eq!(
            creation_waves(&tables(&[apart, parent])),
            [vec![0, 1]],
            "as many at a time as before"
        );
    }

    #[test]
    fn references_are_read_as_sql_and_not_as_letters() {
        assert_eq!(referred_to("a INT REFERENCES shop.\"orders\" (id)"), ["orders"]);
        assert_eq!(referred_to("FOREIGN KEY (a) REFERENCES a.b.c"), ["c"]);
        for none in [
            "a TEXT DEFAULT 'REFERENCES parent'",
            "a INT -- REFERENCES parent",
            "a INT # REFERENCES parent\n, b INT",
            "a INT /* REFERENCES parent */",
            "`references` INT, parent INT",
            "my_references parent",
            "a INT REFERENCES",
        ] {
            assert_eq!(referred_to(none), [""; 0], "{none}");
        }
    }

    #[test]
    fn a_table_that_refers_to_itself_waits_for_nobody() {
        let tree = tables(&[("tree", "CREATE TABLE tree (id INT, up INT REFERENCES tree (id))")]);
        assert_eq!(creation_waves(&tree), [vec![0]]);
        assert!(refers_to_itself(&tree[0]));
        assert_eq!(find_circle(&[("tree", &tree[0].create)]), None);
    }

    #[test]
    fn tables_that_wait_for_each_other_are_found() {
        let all = [("x", "…"), ("a", "REFERENCES b"), ("b", "REFERENCES a"), ("c", "REFERENCES a")];
        assert_eq!(find_circle(&all), Some([1, 2]));
        assert_eq!(creation_waves(&tables(&all)), [vec![0], vec![1], vec![2], vec![3]]);
    }

    #[test]
    fn foreign_keys_are_added_when_what_they_refer_to_is_finished() {
        let add = "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (k)";
        let key = "ALTER TABLE b ADD UNIQUE (k)";
        let scripts = [script("a", "CREATE TABLE a", &[add]), script("b", "…", &[key])];
        assert_eq!(creation_waves(&scripts), [vec![0, 1]]);
        assert_eq!(finishing_waves(&scripts), [vec![1], vec![0]]);
    }

    proptest! {
        /// Each table once, and after all that it refers to, which is checked on the edges that the
        /// statements were written from.
        #[test]
        fn whatever_refers_to_whatever_the_order_holds(
            edges in prop::collection::vec((0_usize..9, 0_usize..9), 0..20),
        ) {
            let refers = |from: usize| {
                let to = edges.iter().filter(|(one, to)| *one == from && to < one);
                to.map(|(_, to)| format!(", c{to} INT REFERENCES t{to}")).collect::<String>()
            };
            // Described in an order that is not theirs.
            let names: Vec<usize> = (0..9).map(|at| (at * 4 + 3) % 9).collect();
            let scripts: Vec<TableScript> = names
                .iter()
                .map(|at| script(&format!("t{at}"), &format!("(id INT{})", refers(*at)), &[]))
                .collect();
            let waves = creation_waves(&scripts);
            let mut all: Vec<usize> = waves.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..9).collect::<Vec<_>>());
            let wave_of = |name: usize| {
                let at = names.iter().position(|own| *own == name).unwrap();
                waves.iter().position(|wave| wave.contains(&at)).unwrap()
            };
            for (from, to) in edges.iter().filter(|(from, to)| to < from) {
                prop_assert!(wave_of(*to) < wave_of(*from), "{waves:?}");
            }
        }
    }
}

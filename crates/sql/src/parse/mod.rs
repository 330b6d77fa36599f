//! Statements as text into what they say.
//!
//! ```text
//!   statement ─ select · insert · update · delete      this file, select.rs
//!             ─ create · alter · drop · …              define.rs
//!             ─ begin · commit · …                     control.rs
//!   expression: or ▸ and ▸ not ▸ comparison ▸ sum ▸ product ▸ sign ▸ value      expr.rs
//! ```
//!
//! By hand and not by a library: the loads speak a closed subset, INSERTs of a hundred rows are
//! parsed on the hot path, and a parser that reads all of SQL would hand over a tree of which every
//! field that is not looked at is something silently ignored. What this one does not consume, it
//! refuses by name.

mod ast;
mod control;
mod define;
mod expr;
mod lex;
mod select;

pub(crate) use ast::*;

use crate::error::{Place, Result, SqlError};
use lex::{Lexer, Token};

/// A statement that was read.
#[derive(Debug)]
pub(crate) struct ParsedStatement {
    pub statement: Statement,
    /// How many marks it has.
    pub marks: usize,
    pub time: Time,
    pub variables: Variables,
    /// The schemas that it names: there is one, and the parser does not know which.
    pub schemas: Vec<String>,
}

/// Whether a statement asks for variables of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    Asked,
    NotAsked,
}

/// Whether a statement asks what time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Asked,
    NotAsked,
}

/// Reads one statement.
pub(crate) fn parse(sql: &str) -> Result<ParsedStatement> {
    let mut parser = Parser::new(sql);
    match parser.only_statement() {
        Ok(statement) => {
            let Parser { marks, time, variables, schemas, .. } = parser;
            Ok(ParsedStatement { statement, marks, time, variables, schemas })
        }
        Err(error) => {
            Err(error.with_place(Place::of_byte(sql, parser.blamed.unwrap_or(parser.here()))))
        }
    }
}

/// A parser that looks one token ahead.
struct Parser<'s> {
    lexer: Lexer<'s>,
    next: Token<'s>,
    marks: usize,
    time: Time,
    variables: Variables,
    schemas: Vec<String>,
    depth: usize,
    /// Expressions that are being read, within each other.
    open: usize,
    /// Operators of the outermost one so far.
    operators: usize,
    /// Where that begins which was refused after it was read.
    blamed: Option<usize>,
}

/// Expressions and queries within each other; more would be a stack that overflows.
const DEPTH_MOST: usize = 64;
/// Operators of one expression with all that is within it: a chain of them is as deep as it is
/// long.
const OPERATORS_MOST: usize = 200;

/// Words that are no names: they end an expression, or stand for what is not known here.
const RESERVED: [&str; 63] = [
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CHECK",
    "COLLATE",
    "CONSTRAINT",
    "CROSS",
    "DESC",
    "DISTINCT",
    "DIV",
    "EXCEPT",
    "FOR",
    "FORCE",
    "FOREIGN",
    "FROM",
    "FULL",
    "FULLTEXT",
    "GROUP",
    "HAVING",
    "HIGH_PRIORITY",
    "IGNORE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCK",
    "NATURAL",
    "NOT",
    "NOWAIT",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "PARTITION",
    "REFERENCES",
    "REGEXP",
    "RIGHT",
    "RLIKE",
    "SELECT",
    "SET",
    "SKIP",
    "SQL_CALC_FOUND_ROWS",
    "SQL_NO_CACHE",
    "STRAIGHT_JOIN",
    "UNION",
    "USE",
    "USING",
    "VALUES",
    "WHERE",
    "WINDOW",
    "WITH",
    "XOR",
];

impl<'s> Parser<'s> {
    /// A parser that has taken nothing yet.
    fn new(sql: &'s str) -> Parser<'s> {
        Parser {
            lexer: Lexer::new(sql),
            next: Token::End,
            marks: 0,
            time: Time::NotAsked,
            variables: Variables::NotAsked,
            schemas: Vec::new(),
            depth: 0,
            open: 0,
            operators: 0,
            blamed: None,
        }
    }

    fn only_statement(&mut self) -> Result<Statement> {
        self.advance()?;
        let statement = self.statement()?;
        self.eat_symbol(";")?;
        match self.next {
            Token::End => Ok(statement),
            _ => Err(self.unexpected("the end of the statement")),
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        let Token::Word(word) = self.next else { return Err(self.unexpected("a statement")) };
        let (here, word) = (self.here(), word.to_ascii_uppercase());
        if word == "SELECT" {
            return Ok(Statement::Select(self.select()?));
        }
        self.advance()?;
        match word.as_str() {
            "EXPLAIN" => Ok(Statement::Explain(self.select()?)),
            "INSERT" => self.insert(),
            "UPDATE" => self.update(),
            "DELETE" => self.delete(),
            "CREATE" => self.create(),
            "ALTER" => self.alter_table(),
            "DROP" => self.drop_table(),
            "TRUNCATE" => {
                self.eat("TABLE")?;
                Ok(Statement::Truncate(self.table_name()?))
            }
            "ANALYZE" => {
                self.eat("TABLE")?;
                let mut names = vec![self.table_name()?];
                while self.eat_symbol(",")? {
                    names.push(self.table_name()?);
                }
                Ok(Statement::Analyze(names))
            }
            _ => self.control_statement(&word, here),
        }
    }

    fn insert(&mut self) -> Result<Statement> {
        self.want("INTO")?;
        let table = self.table_name()?;
        let mut columns = Vec::new();
        if self.eat_symbol("(")? {
            if !self.is_symbol(")") {
                columns = self.names()?;
            }
            self.want_symbol(")")?;
        }
        self.want("VALUES")?;
        let mut rows = Vec::new();
        loop {
            self.want_symbol("(")?;
            let mut row = Vec::with_capacity(columns.len());
            while !row.is_empty() || !self.is_symbol(")") {
                row.push(self.given_value()?);
                if !self.eat_symbol(",")? {
                    break;
                }
            }
            self.want_symbol(")")?;
            rows.push(row);
            if !self.eat_symbol(",")? {
                break;
            }
        }
        Ok(Statement::Insert(Insert { table, columns, rows }))
    }

    fn update(&mut self) -> Result<Statement> {
        let table = self.table()?;
        self.want("SET")?;
        let mut set = Vec::new();
        loop {
            let column = self.name()?;
            self.want_symbol("=")?;
            set.push((column, self.given_value()?));
            if !self.eat_symbol(",")? {
                break;
            }
        }
        let (filter, order, limit) = self.tail_of_write()?;
        Ok(Statement::Update(Update { table, set, filter, order, limit }))
    }

    fn given_value(&mut self) -> Result<GivenValue> {
        if self.eat("DEFAULT")? {
            return Ok(GivenValue::Default);
        }
        Ok(GivenValue::Written(self.expr()?))
    }

    fn delete(&mut self) -> Result<Statement> {
        self.want("FROM")?;
        let table = self.table()?;
        let (filter, order, limit) = self.tail_of_write()?;
        Ok(Statement::Delete(Delete { table, filter, order, limit }))
    }

    fn tail_of_write(&mut self) -> Result<(Option<Expr>, Vec<Order>, Option<Expr>)> {
        let filter = if self.eat("WHERE")? { Some(self.expr()?) } else { None };
        let order = self.order_by()?;
        let limit = if self.eat("LIMIT")? { Some(self.expr()?) } else { None };
        Ok((filter, order, limit))
    }

    /// Where the next token begins.
    fn here(&self) -> usize {
        self.lexer.token_start()
    }

    /// What was taken since this place, as it is written.
    fn written_since(&self, here: usize) -> &'s str {
        self.lexer.text_since(here)
    }

    /// Says of an error that what stands at this place is its cause.
    fn blame(&mut self, here: usize, error: SqlError) -> SqlError {
        self.blamed = Some(here);
        error
    }

    fn advance(&mut self) -> Result<Token<'s>> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.next, Token::Word(next) if next.eq_ignore_ascii_case(word))
    }

    /// Takes this word if it is next.
    fn eat(&mut self, word: &str) -> Result<bool> {
        let is = self.is(word);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn want(&mut self, word: &str) -> Result<()> {
        match self.eat(word)? {
            true => Ok(()),
            false => Err(self.unexpected(word)),
        }
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.next, Token::Symbol(next) if next == symbol)
    }

    fn eat_symbol(&mut self, symbol: &str) -> Result<bool> {
        let is = self.is_symbol(symbol);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn want_symbol(&mut self, symbol: &str) -> Result<()> {
        match self.eat_symbol(symbol)? {
            true => Ok(()),
            false => Err(self.unexpected(symbol)),
        }
    }

    /// A name of a table, a column or an index.
    fn name(&mut self) -> Result<String> {
        match self.next {
            Token::Word(name) if !is_reserved(name) => {
                self.advance()?;
                Ok(name.to_owned())
            }
            Token::Quoted(name) => {
                self.advance()?;
                Ok(name.to_owned())
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// The name of a table, which may have that of its schema before it.
    fn table_name(&mut self) -> Result<String> {
        let name = self.name()?;
        if !self.eat_symbol(".")? {
            return Ok(name);
        }
        self.schemas.push(name);
        self.name()
    }

    /// Names with commas between them.
    fn names(&mut self) -> Result<Vec<String>> {
        let mut names = vec![self.name()?];
        while self.eat_symbol(",")? {
            names.push(self.name()?);
        }
        Ok(names)
    }

    /// A number without a point.
    fn number(&mut self) -> Result<u64> {
        if let Token::Number(digits) = self.next
            && let Ok(number) = digits.parse()
        {
            self.advance()?;
            return Ok(number);
        }
        Err(self.unexpected("a whole number"))
    }

    /// What was found instead of what was expected. A word that begins something is named as such.
    fn unexpected(&self, wanted: &str) -> SqlError {
        let found = match &self.next {
            Token::Word(word) | Token::Quoted(word) | Token::Number(word) => (*word).to_owned(),
            Token::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
            Token::Mark => "?".to_owned(),
            Token::Symbol(symbol) => (*symbol).to_owned(),
            Token::End => return SqlError::Syntax(format!("the statement ends before {wanted}")),
        };
        let rest = self.lexer.upcoming_words();
        SqlError::Unknown(format!("{:?} where {wanted} may stand", format!("{found} {rest}")))
    }
}

fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (sql, named) in [
            ("SELECT 1 UNION SELECT 2", "UNION SELECT 2"),
            ("SELECT c FROM t FOR UPDATE SKIP LOCKED", "SKIP LOCKED"),
            ("INSERT IGNORE INTO t VALUES (1)", "IGNORE INTO t"),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1", "ON DUPLICATE KEY"),
            ("REPLACE INTO t VALUES (1)", "the statement REPLACE"),
            ("SELECT SQL_NO_CACHE c FROM t", "SQL_NO_CACHE c"),
            ("SELECT c FROM t GROUP BY c WITH ROLLUP", "WITH ROLLUP"),
            ("SELECT rand()", "rand"),
            ("SELECT a FROM t NATURAL JOIN s", "NATURAL JOIN"),
            ("UPDATE t, s SET a=1", ", s SET"),
            ("CREATE TABLE t (a DOUBLE)", "DOUBLE"),
            ("CREATE VIEW v AS SELECT 1", "VIEW"),
            ("CREATE TABLE t (a ENUM('x'))", "the type ENUM"),
            ("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES s (a))", "FOREIGN KEY"),
            ("CREATE TABLE t (a INT, CONSTRAINT c CHECK (a > 0))", "CONSTRAINT c CHECK"),
            ("SELECT a DIV 2 FROM t", "DIV 2"),
            ("SELECT a <=> NULL FROM t", "<=> NULL"),
            ("SELECT CASE WHEN 1 THEN 2 END", "CASE WHEN 1"),
            ("SELECT now() + INTERVAL 1 DAY", "INTERVAL 1 DAY"),
            ("SELECT c COLLATE utf8mb4_general_ci FROM t", "COLLATE utf8mb4_general_ci"),
            ("GRANT ALL", "GRANT"),
        ] {
            let error = parse(sql).unwrap_err().to_string();
            assert!(error.contains(named), "{sql}: {error}");
        }
        for sql in
            ["", "selec 1", "SELECT", "SELECT c FROM", "INSERT INTO t VALUES (1", "SELECT 'a"]
        {
            assert!(matches!(parse(sql), Err(SqlError::Syntax(_))), "{sql}");
        }
        let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
        assert!(parse(&deep).is_err());
        let deep = format!("SELECT {}1", "NOT ".repeat(50_000));
        assert!(parse(&deep).is_err());
        let deep = format!("SELECT {}1", "- ".repeat(50_000));
        assert!(parse(&deep).is_err());
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (sql, place) in [
            ("SELEC 1", "line 1, column 1"),
            ("SELECT c\n  FROM t\n WHERE a ! 1", "line 3, column 10"),
            ("SELECT 'ä', `b FROM t", "line 1, column 13"),
            ("SELECT c FROM t WHERE a IN (1, ", "line 1, column 32"),
            ("INSERT INTO t VALUES (1)\nON DUPLICATE KEY UPDATE a=1", "line 2, column 1"),
            ("CREATE TABLE t (\r\n\ta DOUBLE (8))", "line 2, column 4"),
            ("GRANT ALL", "line 1, column 1"),
            ("SELECT a + sqrt(4) FROM t", "line 1, column 12"),
            ("SELECT abs(1, b.c) FROM t", "line 1, column 8"),
        ] {
            let error = parse(sql).unwrap_err().to_string();
            assert!(error.contains(&format!("at {place}")), "{sql}: {error}");
        }
    }

    #[test]
    fn a_chain_of_operators_is_not_endless() {
        for link in ["+1", " OR 1", " IS NULL", " BETWEEN 0 AND 2", " = (SELECT 1)", " IN (1)"] {
            let chain = |links: usize| format!("SELECT 1{} FROM t", link.repeat(links));
            assert!(parse(&chain(OPERATORS_MOST / 2)).is_ok(), "{link}");
            let error = parse(&chain(50_000)).unwrap_err();
            assert!(error.to_string().contains("200 operators"), "{link}: {error}");
        }
        // Each expression has its own.
        let items = vec!["1+1+1"; 1_000].join(", ");
        assert!(parse(&format!("SELECT {items}")).is_ok());
        let nested = format!("SELECT {}1{}", "(".repeat(20), " BETWEEN 0 AND 2)".repeat(20));
        assert!(parse(&nested).is_ok());
    }

    #[test]
    fn marks_are_numbered_in_the_order_in_which_they_stand() {
        let ParsedStatement { statement, marks, time, .. } =
            parse("UPDATE t SET a=?, b=b+? WHERE id=?").unwrap();
        assert_eq!((marks, time), (3, Time::NotAsked));
        assert_eq!(parse("SELECT NOW()").unwrap().time, Time::Asked);
        let Statement::Update(update) = statement else { panic!() };
        let first = GivenValue::Written(Expr::Param(0));
        assert_eq!(update.set[0], ("a".to_owned(), first));
        let Some(Expr::Binary(Operator::Equal, _, id)) = update.filter else { panic!() };
        assert_eq!(*id, Expr::Param(2));
    }
}

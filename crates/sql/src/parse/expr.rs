//! Expressions, by climbing precedences.

use super::lex::Token;
use super::{Aggregate, Distinct, Expr, Function, Operator, Parser, Time, Variables};
use crate::error::{Result, SqlError};
use crate::operand;

use super::{DEPTH_MOST, OPERATORS_MOST};

/// How strongly `NOT` binds: less than a comparison, more than `AND`.
const NOT: u8 = 3;
const COMPARISON: u8 = 4;

/// Functions without arguments that tell something of the session.
const TOLD: [&str; 9] = [
    "connection_id",
    "current_user",
    "database",
    "last_insert_id",
    "schema",
    "session_user",
    "system_user",
    "user",
    "version",
];

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.whole(0)
    }

    /// What a comparison compares: an expression that no NOT NULL can follow.
    pub(super) fn operand(&mut self) -> Result<Expr> {
        self.whole(COMPARISON)
    }

    /// An expression that is part of none, or of another by way of brackets.
    fn whole(&mut self, least: u8) -> Result<Expr> {
        if self.open == 0 {
            self.operators = 0;
        }
        self.open += 1;
        let read = self.above(least);
        self.open -= 1;
        read
    }

    /// Runs `inner` one level deeper.
    pub(super) fn at_deeper_level<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth == DEPTH_MOST {
            return Err(SqlError::Unknown(format!("expressions deeper than {DEPTH_MOST} levels")));
        }
        self.depth += 1;
        let done = inner(self);
        self.depth -= 1;
        done
    }

    /// Counts an operator: what it is applied to lies within it.
    fn longer(&mut self) -> Result<()> {
        self.operators += 1;
        if self.operators > OPERATORS_MOST {
            let many = format!("expressions of more than {OPERATORS_MOST} operators");
            return Err(SqlError::Unknown(many));
        }
        Ok(())
    }

    /// An expression of operators that bind more strongly than this.
    fn above(&mut self, least: u8) -> Result<Expr> {
        self.at_deeper_level(|parser| {
            let first = parser.prefix()?;
            let mut left = parser.chain(first, least)?;
            if least < COMPARISON {
                left = parser.predicates(left, least)?;
            }
            Ok(left)
        })
    }

    /// What operators that bind more strongly than this make of it.
    fn chain(&mut self, mut left: Expr, least: u8) -> Result<Expr> {
        while let Some((operator, strength)) = self.operator() {
            if strength <= least {
                break;
            }
            self.longer()?;
            self.advance()?;
            let right = self.above(strength)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// `x IS NULL`, `x BETWEEN a AND b`, `x IN (…)`, `x LIKE y`, and what follows them.
    fn predicates(&mut self, mut left: Expr, least: u8) -> Result<Expr> {
        while ["IS", "NOT", "BETWEEN", "LIKE", "IN"].into_iter().any(|word| self.is(word)) {
            self.longer()?;
            let made = self.predicate(Box::new(left))?;
            left = self.chain(made, least)?;
        }
        Ok(left)
    }

    fn predicate(&mut self, left: Box<Expr>) -> Result<Expr> {
        if self.eat("IS")? {
            let is_not = self.eat("NOT")?;
            self.want("NULL")?;
            return Ok(negated(is_not, Expr::IsNull(left)));
        }
        let is_not = self.eat("NOT")?;
        let made = if self.eat("BETWEEN")? {
            let low = self.above(COMPARISON)?;
            self.want("AND")?;
            let high = self.above(COMPARISON)?;
            Expr::Between(left, Box::new(low), Box::new(high))
        } else if self.eat("LIKE")? {
            Expr::Like(left, Box::new(self.above(COMPARISON)?))
        } else if self.eat("IN")? {
            self.want_symbol("(")?;
            let made = if self.is("SELECT") {
                Expr::InQuery(left, Box::new(self.select()?))
            } else {
                Expr::In(left, self.list()?)
            };
            self.want_symbol(")")?;
            made
        } else {
            return Err(self.unexpected("BETWEEN, IN or LIKE"));
        };
        Ok(negated(is_not, made))
    }

    fn list(&mut self) -> Result<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat_symbol(",")? {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        Some(match &self.next {
            Token::Word(word) if word.eq_ignore_ascii_case("OR") => (Operator::Or, 1),
            Token::Word(word) if word.eq_ignore_ascii_case("AND") => (Operator::And, 2),
            Token::Symbol(symbol) => match *symbol {
                "=" => (Operator::Equal, COMPARISON),
                "<>" | "!=" => (Operator::Unequal, COMPARISON),
                "<" => (Operator::Less, COMPARISON),
                "<=" => (Operator::LessEqual, COMPARISON),
                ">" => (Operator::Greater, COMPARISON),
                ">=" => (Operator::GreaterEqual, COMPARISON),
                "+" => (Operator::Add, 5),
                "-" => (Operator::Subtract, 5),
                "*" => (Operator::Multiply, 6),
                "/" => (Operator::Divide, 6),
                "%" => (Operator::Remainder, 6),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn prefix(&mut self) -> Result<Expr> {
        if self.eat("NOT")? {
            return Ok(Expr::Not(Box::new(self.above(NOT)?)));
        }
        if self.eat_symbol("-")? {
            return Ok(match self.at_deeper_level(Self::prefix)? {
                Expr::Int(number) => Expr::Int(-number),
                Expr::Decimal(units, scale) => Expr::Decimal(-units, scale),
                other => Expr::Negative(Box::new(other)),
            });
        }
        if self.eat_symbol("(")? {
            let inner = if self.is("SELECT") {
                Expr::Query(Box::new(self.select()?))
            } else {
                self.expr()?
            };
            self.want_symbol(")")?;
            return Ok(inner);
        }
        match self.next.clone() {
            Token::Number(digits) => {
                let number = operand::read_decimal(digits.as_bytes());
                let (units, scale) = number.ok_or_else(|| self.unexpected("a number"))?;
                self.advance()?;
                Ok(match i64::try_from(units) {
                    Ok(number) if scale == 0 => Expr::Int(number),
                    _ => Expr::Decimal(units, scale),
                })
            }
            Token::Text(text) => {
                self.advance()?;
                Ok(Expr::Text(text.into_owned()))
            }
            Token::Mark => {
                self.advance()?;
                self.marks += 1;
                Ok(Expr::Param(self.marks - 1))
            }
            _ => self.named(),
        }
    }

    /// What begins with a name: NULL, a call, or a column.
    fn named(&mut self) -> Result<Expr> {
        let here = self.here();
        if self.eat("RIGHT")? {
            // A word of joins, which none can follow here.
            self.want_symbol("(")?;
            let call = self.call("right", here)?;
            self.want_symbol(")")?;
            return Ok(call);
        }
        let is_quoted = matches!(self.next, Token::Quoted(_));
        let name = self.name()?;
        if !is_quoted && name.starts_with('@') {
            return self.variable(&name, here);
        }
        if !is_quoted && name.eq_ignore_ascii_case("NULL") {
            return Ok(Expr::Null);
        }
        if !is_quoted && (name.eq_ignore_ascii_case("TRUE") || name.eq_ignore_ascii_case("FALSE")) {
            return Ok(Expr::Int(name.eq_ignore_ascii_case("TRUE").into()));
        }
        if !is_quoted && name.eq_ignore_ascii_case("CURRENT_TIMESTAMP") {
            if self.eat_symbol("(")? {
                self.want_symbol(")")?;
            }
            self.time = Time::Asked;
            return Ok(Expr::Now);
        }
        if self.eat_symbol("(")? {
            let call = self.call(&name, here)?;
            self.want_symbol(")")?;
            return Ok(call);
        }
        if !self.eat_symbol(".")? {
            return Ok(Expr::Column(None, name));
        }
        if self.eat_symbol("*")? {
            return Ok(Expr::Column(Some(name), "*".to_owned()));
        }
        let second = self.name()?;
        if !self.eat_symbol(".")? {
            return Ok(Expr::Column(Some(name), second));
        }
        self.schemas.push(name);
        let column = if self.eat_symbol("*")? { "*".to_owned() } else { self.name()? };
        Ok(Expr::Column(Some(second), column))
    }

    /// `@@name` or `@@session.name`.
    fn variable(&mut self, name: &str, here: usize) -> Result<Expr> {
        let Some(name) = name.strip_prefix("@@") else {
            let error = SqlError::Unknown(format!("the variable {name} of a user"));
            return Err(self.blame(here, error));
        };
        self.variables = Variables::Asked;
        Ok(Expr::Variable(self.variable_name(name, here)?))
    }

    fn call(&mut self, name: &str, here: usize) -> Result<Expr> {
        let name = name.to_ascii_lowercase();
        if TOLD.contains(&name.as_str()) && self.is_symbol(")") {
            self.variables = Variables::Asked;
            return Ok(Expr::Variable(format!("{name}()")));
        }
        let aggregate = match name.as_str() {
            "avg" => Some(Aggregate::Average),
            "count" => Some(Aggregate::Count),
            "max" => Some(Aggregate::Max),
            "min" => Some(Aggregate::Min),
            "sum" => Some(Aggregate::Sum),
            _ => None,
        };
        if let Some(aggregate) = aggregate {
            if aggregate == Aggregate::Count && self.eat_symbol("*")? {
                return Ok(Expr::CountAll);
            }
            let distinct = if self.eat("DISTINCT")? { Distinct::Yes } else { Distinct::No };
            return Ok(Expr::Aggregate(aggregate, distinct, Box::new(self.expr()?)));
        }
        let (function, wanted) = match name.as_str() {
            "now" => {
                self.time = Time::Asked;
                return Ok(Expr::Now);
            }
            "abs" => (Function::Abs, Some(1)),
            "coalesce" => (Function::Coalesce, None),
            "ifnull" => (Function::Coalesce, Some(2)),
            "concat" => (Function::Concat, None),
            "length" => (Function::Length, Some(1)),
            "lower" => (Function::Lower, Some(1)),
            "right" => (Function::Right, Some(2)),
            "sleep" => (Function::Sleep, Some(1)),
            "upper" => (Function::Upper, Some(1)),
            _ => {
                let error = SqlError::Unknown(format!("the function {name}"));
                return Err(self.blame(here, error));
            }
        };
        let arguments = self.list()?;
        if wanted.is_some_and(|wanted: usize| wanted != arguments.len()) {
            let given = arguments.len();
            let error = SqlError::Syntax(format!("{name} does not take {given} arguments"));
            return Err(self.blame(here, error));
        }
        Ok(Expr::Call(function, arguments))
    }
}

fn negated(is_not: bool, expr: Expr) -> Expr {
    if is_not { Expr::Not(Box::new(expr)) } else { expr }
}

#[cfg(test)]
mod tests {
    use crate::parse::{Expr, Item, Operator, Statement, parse};

    fn expr(text: &str) -> Expr {
        let Statement::Select(select) = parse(&format!("SELECT {text}")).unwrap().statement else {
            panic!()
        };
        match select.items.into_iter().next() {
            Some(Item::One(expr, _)) => expr,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operators_bind_as_strongly_as_in_mysql() {
        for (flat, bracketed) in [
            ("a + b * c - d", "(a + (b * c)) - d"),
            ("a = 1 AND b = 2 OR c = 3", "((a = 1) AND (b = 2)) OR (c = 3)"),
            ("NOT a = 1 AND b", "(NOT (a = 1)) AND b"),
            ("a BETWEEN 1 AND 2 AND b = 3", "(a BETWEEN 1 AND 2) AND (b = 3)"),
            ("a >= b - 20 AND a < b", "(a >= (b - 20)) AND (a < b)"),
            ("b = 1 AND a IN (1, 2) OR c", "((b = 1) AND (a IN (1, 2))) OR c"),
            ("b = 1 OR a IS NOT NULL AND c", "(b = 1) OR ((a IS NOT NULL) AND c)"),
            ("-a * b", "(-a) * b"),
            ("a + 1 IN (2) AND b", "((a + 1) IN (2)) AND b"),
            ("a - b - c", "(a - b) - c"),
            ("NOT a IN (1)", "NOT (a IN (1))"),
            ("NOT a NOT LIKE 'x' OR b", "(NOT (NOT (a LIKE 'x'))) OR b"),
        ] {
            assert_eq!(expr(flat), expr(bracketed), "{flat}");
        }
        let Expr::Binary(Operator::Greater, _, bound) = expr("a > 0.005") else { panic!() };
        assert_eq!(*bound, Expr::Decimal(5, 3));
        assert_eq!(expr("-1.50"), Expr::Decimal(-150, 2));
    }
}

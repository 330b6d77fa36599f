//! Questions: what, from where, which, by what, in which order, how many.

use super::{
    Direction, Distinct, Expr, From, Item, Join, Lock, Order, Parser, Result, Select, Source,
    Token, is_reserved,
};

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Result<Select> {
        self.want("SELECT")?;
        self.at_deeper_level(|parser| {
            let distinct = if parser.eat("DISTINCT")? { Distinct::Yes } else { Distinct::No };
            let mut items = vec![parser.item()?];
            while parser.eat_symbol(",")? {
                items.push(parser.item()?);
            }
            let has_tables = parser.eat("FROM")? && !parser.eat("DUAL")?;
            let from = if has_tables { parser.from()? } else { Vec::new() };
            let filter = if parser.eat("WHERE")? { Some(parser.expr()?) } else { None };
            let mut group = Vec::new();
            if parser.eat("GROUP")? {
                parser.want("BY")?;
                group.push(parser.expr()?);
                while parser.eat_symbol(",")? {
                    group.push(parser.expr()?);
                }
            }
            let having = if parser.eat("HAVING")? { Some(parser.expr()?) } else { None };
            let order = parser.order_by()?;
            let (limit, offset) = parser.limit()?;
            let lock = parser.lock()?;
            Ok(Select { distinct, items, from, filter, group, having, order, limit, offset, lock })
        })
    }

    fn item(&mut self) -> Result<Item> {
        if self.eat_symbol("*")? {
            return Ok(Item::All(None));
        }
        let here = self.here();
        let expr = match self.expr()? {
            // The parser of names leaves the star of `t.*` behind the point.
            Expr::Column(Some(table), column) if column == "*" => {
                return Ok(Item::All(Some(table)));
            }
            expr => expr,
        };
        let written = self.written_since(here);
        let name = match (self.alias()?, &expr) {
            (None, Expr::Column(..)) => None,
            // Without the quotes around it.
            (None, Expr::Text(text)) => Some(String::from_utf8_lossy(text).into_owned()),
            (None, _) => Some(written.to_owned()),
            (alias, _) => alias,
        };
        Ok(Item::One(expr, name))
    }

    /// `AS name`, or a name alone.
    fn alias(&mut self) -> Result<Option<String>> {
        if self.eat("AS")? {
            return self.name().map(Some);
        }
        match self.next {
            Token::Word(word) if !is_reserved(word) => self.name().map(Some),
            Token::Quoted(_) => self.name().map(Some),
            _ => Ok(None),
        }
    }

    fn from(&mut self) -> Result<Vec<From>> {
        let mut tables = vec![self.table()?];
        loop {
            let join = if self.eat("LEFT")? {
                self.eat("OUTER")?;
                self.want("JOIN")?;
                Join::Left
            } else if self.eat("INNER")? || self.eat("CROSS")? {
                self.want("JOIN")?;
                Join::Inner
            } else if self.eat("JOIN")? || self.eat("STRAIGHT_JOIN")? || self.eat_symbol(",")? {
                Join::Inner
            } else {
                return Ok(tables);
            };
            let table = self.table()?;
            let on = if self.eat("ON")? { Some(self.expr()?) } else { None };
            tables.push(From { join, on, ..table });
        }
    }

    /// A table or a query in the place of one, and how it is called.
    pub(super) fn table(&mut self) -> Result<From> {
        if self.eat_symbol("(")? {
            let select = self.select()?;
            self.want_symbol(")")?;
            self.eat("AS")?;
            let alias = self.name()?;
            let source = Source::Query(Box::new(select));
            return Ok(From { source, alias, join: Join::Inner, on: None });
        }
        let name = self.table_name()?;
        let alias = self.alias()?;
        let mut index = None;
        if self.eat("FORCE")? {
            if !self.eat("KEY")? {
                self.want("INDEX")?;
            }
            self.want_symbol("(")?;
            index = Some(self.name()?);
            self.want_symbol(")")?;
        }
        let alias = alias.unwrap_or_else(|| name.clone());
        Ok(From { source: Source::Table(name, index), alias, join: Join::Inner, on: None })
    }

    pub(super) fn order_by(&mut self) -> Result<Vec<Order>> {
        let mut order = Vec::new();
        if self.eat("ORDER")? {
            self.want("BY")?;
            loop {
                let by = self.expr()?;
                let direction = if self.eat("DESC")? {
                    Direction::Down
                } else {
                    self.eat("ASC")?;
                    Direction::Up
                };
                order.push(Order { by, direction });
                if !self.eat_symbol(",")? {
                    break;
                }
            }
        }
        Ok(order)
    }

    /// `LIMIT 10`, `LIMIT 10 OFFSET 5`, or MySQL's `LIMIT 5, 10`.
    fn limit(&mut self) -> Result<(Option<Expr>, Option<Expr>)> {
        if !self.eat("LIMIT")? {
            return Ok((None, None));
        }
        let first = self.expr()?;
        if self.eat("OFFSET")? {
            return Ok((Some(first), Some(self.expr()?)));
        }
        if self.eat_symbol(",")? {
            return Ok((Some(self.expr()?), Some(first)));
        }
        Ok((Some(first), None))
    }

    fn lock(&mut self) -> Result<Lock> {
        if self.eat("FOR")? {
            if self.eat("UPDATE")? {
                return Ok(Lock::Update);
            }
            self.want("SHARE")?;
            return Ok(Lock::Share);
        }
        if self.eat("LOCK")? {
            for word in ["IN", "SHARE", "MODE"] {
                self.want(word)?;
            }
            return Ok(Lock::Share);
        }
        Ok(Lock::None)
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{Item, Join, Lock, Source, Statement, parse};

    fn select(sql: &str) -> crate::parse::Select {
        match parse(sql).unwrap().statement {
            Statement::Select(select) => select,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_clauses_are_read() {
        let read = select(
            "SELECT o.*, sum(l.q) AS s FROM orders o JOIN lines l ON l.o = o.id LEFT JOIN \
             (SELECT id FROM x) AS d ON d.id = o.id WHERE o.c = ? AND o.d BETWEEN 1 AND 2 GROUP BY \
             o.id HAVING count(*) > 1 ORDER BY o.id DESC, 2 LIMIT 3 OFFSET 4 FOR UPDATE",
        );
        assert_eq!(read.items[0], Item::All(Some("o".to_owned())));
        assert!(matches!(&read.items[1], Item::One(_, Some(name)) if name == "s"));
        assert_eq!(read.from.len(), 3);
        assert_eq!((read.from[1].join, read.from[2].join), (Join::Inner, Join::Left));
        assert!(matches!(read.from[2].source, Source::Query(_)));
        assert!(read.filter.is_some() && read.having.is_some() && read.offset.is_some());
        assert_eq!((read.group.len(), read.order.len(), read.lock), (1, 2, Lock::Update));
        let forced = select("SELECT a FROM t FORCE INDEX (i) WHERE a > 1 LOCK IN SHARE MODE");
        assert_eq!(forced.from[0].source, Source::Table("t".to_owned(), Some("i".to_owned())));
        assert_eq!(forced.lock, Lock::Share);
    }
}

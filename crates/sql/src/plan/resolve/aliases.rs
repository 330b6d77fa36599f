//! Names that a statement gives to what it asks for, where other clauses use them.

use crate::parse::{self, Expr as Written, Item};

/// What a name stands for that the statement gives to something that it asks for.
pub(super) fn named_item<'i>(name: &Written, items: &'i [Item]) -> Option<&'i Written> {
    let Written::Column(None, name) = name else { return None };
    items.iter().find_map(|item| match item {
        Item::One(of, Some(alias)) if alias.eq_ignore_ascii_case(name) => Some(of),
        _ => None,
    })
}

/// An expression with what stands for such names, but where `is_column` says that a column comes
/// before one.
pub(super) fn without_aliases(
    written: &Written,
    items: &[Item],
    is_column: &dyn Fn(&Written) -> bool,
) -> Written {
    let mut written = written.clone();
    written.replace_parts(&mut |part| {
        let item = named_item(part, items)?;
        (!is_column(part)).then(|| item.clone())
    });
    written
}

/// ORDER BY with what stands for such names, where they are within an expression: a column comes
/// before one there.
pub(super) fn order_without_aliases(
    order: &[parse::Order],
    items: &[Item],
    is_column: &dyn Fn(&Written) -> bool,
) -> Vec<parse::Order> {
    let mut order = order.to_vec();
    for one in order.iter_mut().filter(|one| !matches!(one.by, Written::Column(..))) {
        one.by = without_aliases(&one.by, items, is_column);
    }
    order
}

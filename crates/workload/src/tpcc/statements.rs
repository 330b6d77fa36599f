//! All statements of the five transactions.
//!
//! The list is BenchmarkSQL's: single statements, prepared, no stored procedures. `{lock}` is
//! ` FOR UPDATE` where there are row locks; SQLite locks the database at BEGIN instead.

use dbdyno_model::Dialect;

use crate::statement::Statement;

/// A statement by its place in [`all_statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    BeginToWrite,
    BeginToRead,
    Commit,
    Rollback,
    BuyerAndWarehouse,
    NextOrder,
    CountOrder,
    AddOrder,
    AddNewOrder,
    Item,
    Stock,
    TakeStock,
    AddLine,
    Warehouse,
    District,
    CustomersByName,
    CustomerToPay,
    CustomerData,
    PayWarehouse,
    PayDistrict,
    PayCustomer,
    PayBadCustomer,
    AddHistory,
    Customer,
    LastOrder,
    Lines,
    Oldest,
    TakeOldest,
    OrderToDeliver,
    DeliverOrder,
    SumLines,
    DeliverLines,
    CreditCustomer,
    LowStock,
}

/// The statements of a dialect in the order of [`Ask`].
pub(super) fn all_statements(dialect: Dialect) -> Vec<Statement> {
    let spelled = |&(ask, template): &(Ask, &str)| {
        let sql = spell(ask, template, dialect);
        match ask {
            Ask::BeginToWrite | Ask::BeginToRead | Ask::Commit | Ask::Rollback => {
                Statement::new_control(sql)
            }
            _ => Statement::new_prepared(sql),
        }
    };
    ASKS.iter().map(spelled).collect()
}

fn spell(ask: Ask, template: &str, dialect: Dialect) -> String {
    let lock = match (dialect, ask) {
        // PostgreSQL would wait for another delivery and then find nothing at all, not the next
        // order: the row that LIMIT chose is gone. There the DELETE tells who was first.
        (Dialect::Sqlite | Dialect::Rocksdb, _) | (Dialect::Postgres, Ask::Oldest) => "",
        (Dialect::Mysql | Dialect::Engine | Dialect::Postgres, _) => " FOR UPDATE",
    };
    // A transaction that reads first and writes later would be refused by SQLite when another one
    // wrote in between.
    let begin = if dialect == Dialect::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
    let text = template.replace("{lock}", lock).replace("{begin}", begin);
    if dialect != Dialect::Postgres {
        return text;
    }
    let mut pieces = text.split('?');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    for (index, piece) in pieces.enumerate() {
        numbered.push_str(&format!("${}{piece}", index + 1));
    }
    numbered
}

const ASKS: &[(Ask, &str)] = &[
    (Ask::BeginToWrite, "{begin}"),
    (Ask::BeginToRead, "BEGIN"),
    (Ask::Commit, "COMMIT"),
    (Ask::Rollback, "ROLLBACK"),
    // New-Order.
    (
        Ask::BuyerAndWarehouse,
        "SELECT c_discount, c_last, c_credit, w_tax FROM tpcc_customer \
         JOIN tpcc_warehouse ON w_id=c_w_id WHERE c_w_id=? AND c_d_id=? AND c_id=?",
    ),
    (
        Ask::NextOrder,
        "SELECT d_next_o_id, d_tax FROM tpcc_district WHERE d_w_id=? AND d_id=?{lock}",
    ),
    (
        Ask::CountOrder,
        "UPDATE tpcc_district SET d_next_o_id=d_next_o_id+1 WHERE d_w_id=? AND d_id=?",
    ),
    (
        Ask::AddOrder,
        "INSERT INTO tpcc_orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
    ),
    (Ask::AddNewOrder, "INSERT INTO tpcc_new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)"),
    (Ask::Item, "SELECT i_price, i_name, i_data FROM tpcc_item WHERE i_id=?"),
    (
        Ask::Stock,
        "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, \
         s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM tpcc_stock \
         WHERE s_w_id=? AND s_i_id=?{lock}",
    ),
    (
        Ask::TakeStock,
        "UPDATE tpcc_stock SET s_quantity=?, s_ytd=s_ytd+?, s_order_cnt=s_order_cnt+1, \
         s_remote_cnt=s_remote_cnt+? WHERE s_w_id=? AND s_i_id=?",
    ),
    (
        Ask::AddLine,
        "INSERT INTO tpcc_order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, \
         ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    // Payment.
    (
        Ask::Warehouse,
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM tpcc_warehouse \
         WHERE w_id=?",
    ),
    (
        Ask::District,
        "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM tpcc_district \
         WHERE d_w_id=? AND d_id=?",
    ),
    (
        Ask::CustomersByName,
        "SELECT c_id FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_last=? ORDER BY c_first",
    ),
    (
        Ask::CustomerToPay,
        "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, \
         c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance FROM tpcc_customer \
         WHERE c_w_id=? AND c_d_id=? AND c_id=?{lock}",
    ),
    (Ask::CustomerData, "SELECT c_data FROM tpcc_customer WHERE c_w_id=? AND c_d_id=? AND c_id=?"),
    (Ask::PayWarehouse, "UPDATE tpcc_warehouse SET w_ytd=w_ytd+? WHERE w_id=?"),
    (Ask::PayDistrict, "UPDATE tpcc_district SET d_ytd=d_ytd+? WHERE d_w_id=? AND d_id=?"),
    (
        Ask::PayCustomer,
        "UPDATE tpcc_customer SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?, \
         c_payment_cnt=c_payment_cnt+1 WHERE c_w_id=? AND c_d_id=? AND c_id=?",
    ),
    (
        Ask::PayBadCustomer,
        "UPDATE tpcc_customer SET c_balance=c_balance-?, c_ytd_payment=c_ytd_payment+?, \
         c_payment_cnt=c_payment_cnt+1, c_data=? WHERE c_w_id=? AND c_d_id=? AND c_id=?",
    ),
    (
        Ask::AddHistory,
        "INSERT INTO tpcc_history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, \
         h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)",
    ),
    // Order-Status.
    (
        Ask::Customer,
        "SELECT c_first, c_middle, c_last, c_balance FROM tpcc_customer \
         WHERE c_w_id=? AND c_d_id=? AND c_id=?",
    ),
    (
        Ask::LastOrder,
        "SELECT o_id, o_entry_d, o_carrier_id FROM tpcc_orders \
         WHERE o_w_id=? AND o_d_id=? AND o_id=(SELECT MAX(o_id) FROM tpcc_orders \
         WHERE o_w_id=? AND o_d_id=? AND o_c_id=?)",
    ),
    (
        Ask::Lines,
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
         FROM tpcc_order_line WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=? ORDER BY ol_number",
    ),
    // Delivery.
    (
        Ask::Oldest,
        "SELECT no_o_id FROM tpcc_new_order WHERE no_w_id=? AND no_d_id=? \
         ORDER BY no_o_id LIMIT 1{lock}",
    ),
    (Ask::TakeOldest, "DELETE FROM tpcc_new_order WHERE no_w_id=? AND no_d_id=? AND no_o_id=?"),
    (Ask::OrderToDeliver, "SELECT o_c_id FROM tpcc_orders WHERE o_w_id=? AND o_d_id=? AND o_id=?"),
    (
        Ask::DeliverOrder,
        "UPDATE tpcc_orders SET o_carrier_id=? WHERE o_w_id=? AND o_d_id=? AND o_id=?",
    ),
    (
        Ask::SumLines,
        "SELECT SUM(ol_amount) FROM tpcc_order_line WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?",
    ),
    (
        Ask::DeliverLines,
        "UPDATE tpcc_order_line SET ol_delivery_d=CURRENT_TIMESTAMP \
         WHERE ol_w_id=? AND ol_d_id=? AND ol_o_id=?",
    ),
    (
        Ask::CreditCustomer,
        "UPDATE tpcc_customer SET c_balance=c_balance+?, c_delivery_cnt=c_delivery_cnt+1 \
         WHERE c_w_id=? AND c_d_id=? AND c_id=?",
    ),
    // Stock-Level.
    (
        Ask::LowStock,
        "SELECT COUNT(*) FROM tpcc_stock WHERE s_w_id=? AND s_quantity<? AND s_i_id IN \
         (SELECT ol_i_id FROM tpcc_district JOIN tpcc_order_line ON ol_w_id=d_w_id AND \
         ol_d_id=d_id AND ol_o_id>=d_next_o_id-20 AND ol_o_id<d_next_o_id \
         WHERE d_w_id=? AND d_id=?)",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_places() {
        for (place, (ask, _)) in ASKS.iter().enumerate() {
            assert_eq!(*ask as usize, place, "{ask:?}");
        }
        assert_eq!(ASKS.last().unwrap().0, Ask::LowStock);
    }

    #[test]
    fn dialects_differ_in_marks_and_locks() {
        let sql = |dialect, ask| all_statements(dialect)[ask as usize].sql.clone();
        let wanted = "SELECT d_next_o_id, d_tax FROM tpcc_district WHERE ";
        let ours = |dialect| sql(dialect, Ask::NextOrder).replace(wanted, "");
        assert_eq!(ours(Dialect::Mysql), "d_w_id=? AND d_id=? FOR UPDATE");
        assert_eq!(ours(Dialect::Postgres), "d_w_id=$1 AND d_id=$2 FOR UPDATE");
        assert_eq!(ours(Dialect::Sqlite), "d_w_id=? AND d_id=?");
        assert!(sql(Dialect::Mysql, Ask::Oldest).ends_with("LIMIT 1 FOR UPDATE"));
        assert!(sql(Dialect::Postgres, Ask::Oldest).ends_with("LIMIT 1"));
        assert_eq!(sql(Dialect::Sqlite, Ask::BeginToWrite), "BEGIN IMMEDIATE");
        assert_eq!(sql(Dialect::Sqlite, Ask::BeginToRead), "BEGIN");
    }
}

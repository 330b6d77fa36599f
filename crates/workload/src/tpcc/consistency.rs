//! The consistency conditions 1 to 4 (clause 3.3.2), as numbers of rows that break them.
//!
//! Sums of money are compared to half a cent: SQLite adds them as doubles.

/// Questions whose answer must be 0, and what they mean.
pub(super) fn condition_queries() -> Vec<(String, String)> {
    CONDITIONS.into_iter().map(|(sql, meaning)| (sql.to_owned(), meaning.to_owned())).collect()
}

const CONDITIONS: [(&str, &str); 4] = [
    (
        "SELECT COUNT(*) FROM tpcc_warehouse WHERE ABS(w_ytd - \
         (SELECT SUM(d_ytd) FROM tpcc_district WHERE d_w_id=w_id)) > 0.005",
        "TPC-C consistency condition 1: warehouses whose w_ytd is not the sum of d_ytd",
    ),
    (
        "SELECT COUNT(*) FROM tpcc_district \
         LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS newest FROM tpcc_orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id=d_w_id AND o_d_id=d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS waiting FROM tpcc_new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id=d_w_id AND no_d_id=d_id \
         WHERE newest IS NULL OR newest <> d_next_o_id - 1 OR waiting <> d_next_o_id - 1",
        "TPC-C consistency condition 2: districts whose d_next_o_id does not follow the newest order",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id FROM tpcc_new_order \
         GROUP BY no_w_id, no_d_id \
         HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) broken",
        "TPC-C consistency condition 3: districts with a gap among the orders that wait",
    ),
    (
        "SELECT COUNT(*) FROM tpcc_district \
         LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM tpcc_orders \
         GROUP BY o_w_id, o_d_id) o ON o_w_id=d_w_id AND o_d_id=d_id \
         LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS there FROM tpcc_order_line \
         GROUP BY ol_w_id, ol_d_id) l ON ol_w_id=d_w_id AND ol_d_id=d_id \
         WHERE said IS NULL OR there IS NULL OR said <> there",
        "TPC-C consistency condition 4: districts whose orders do not have the lines they say",
    ),
];

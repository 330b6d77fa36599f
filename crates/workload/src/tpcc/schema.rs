//! The nine tables, their keys and their indexes (clause 1.3).
//!
//! Names have a prefix, so that none is a reserved word anywhere (`order`). Indexes are those of
//! BenchmarkSQL: primary keys, customers by name, and orders by carrier, which is unique. `history`
//! has no key, by the standard. There are no foreign keys. Sums that grow with every payment are
//! wider than the standard's least width, so that a long run on one warehouse does not overflow.

use dbdyno_model::Dialect;

use crate::dataset::TableScript;

/// A table by its place in [`TABLES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// What is sold.
    Item,
    /// Where it is sold from.
    Warehouse,
    /// Ten for each warehouse.
    District,
    /// 3000 for each district.
    Customer,
    /// One row for each payment.
    History,
    /// One row for each order.
    Orders,
    /// Orders that are not delivered.
    NewOrder,
    /// Five to fifteen for each order.
    OrderLine,
    /// One row for each item and warehouse.
    Stock,
}

/// All tables, in the order in which they are made.
pub(super) const TABLES: [Table; 9] = [
    Table::Item,
    Table::Warehouse,
    Table::District,
    Table::Customer,
    Table::History,
    Table::Orders,
    Table::NewOrder,
    Table::OrderLine,
    Table::Stock,
];

struct Shape {
    name: &'static str,
    columns: &'static [(&'static str, &'static str)],
    key: &'static str,
    index: &'static str,
}

/// Stands for the type of a point in time.
const TIME: &str = "{time} NOT NULL";
const TIME_OR_NULL: &str = "{time}";
const INT: &str = "INTEGER NOT NULL";
const TEXT_2: &str = "CHAR(2) NOT NULL";
const TEXT_9: &str = "CHAR(9) NOT NULL";
const TEXT_10: &str = "VARCHAR(10) NOT NULL";
const TEXT_16: &str = "VARCHAR(16) NOT NULL";
const TEXT_20: &str = "VARCHAR(20) NOT NULL";
const TEXT_24: &str = "VARCHAR(24) NOT NULL";
const TEXT_50: &str = "VARCHAR(50) NOT NULL";
const DIST: &str = "CHAR(24) NOT NULL";
const RATE: &str = "DECIMAL(4,4) NOT NULL";
const MONEY: &str = "DECIMAL(12,2) NOT NULL";
const MUCH_MONEY: &str = "DECIMAL(15,2) NOT NULL";
const LITTLE_MONEY: &str = "DECIMAL(6,2) NOT NULL";

impl Table {
    /// The statements that make it.
    pub(super) fn create_script(self, dialect: Dialect) -> TableScript {
        let shape = self.shape();
        let name = shape.name;
        let (time, end) = match dialect {
            // MySQL's TIMESTAMP would change by itself on update where old defaults rule.
            Dialect::Mysql | Dialect::Engine => ("DATETIME", " ENGINE=InnoDB"),
            Dialect::Postgres | Dialect::Sqlite => ("TIMESTAMP", ""),
            Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
        };
        let typed = shape.columns.iter().map(|(name, kind)| format!("{name} {kind}"));
        let mut parts: Vec<String> = typed.map(|column| column.replace("{time}", time)).collect();
        if !shape.key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", shape.key));
        }
        let create = format!("CREATE TABLE {name} ({}){end}", parts.join(", "));
        let statistics = match dialect {
            Dialect::Mysql | Dialect::Engine => format!("ANALYZE TABLE {name}"),
            Dialect::Postgres => format!("VACUUM ANALYZE {name}"),
            Dialect::Sqlite => format!("ANALYZE {name}"),
            Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
        };
        let index = (!shape.index.is_empty()).then(|| shape.index.to_owned());
        TableScript {
            name: name.to_owned(),
            create,
            columns: shape.columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            numbers: Vec::new(),
            reshaped: Vec::new(),
            finish: index.into_iter().chain([statistics]).collect(),
        }
    }

    fn shape(self) -> Shape {
        match self {
            Table::Item => ITEM,
            Table::Warehouse => WAREHOUSE,
            Table::District => DISTRICT,
            Table::Customer => CUSTOMER,
            Table::History => HISTORY,
            Table::Orders => ORDERS,
            Table::NewOrder => NEW_ORDER,
            Table::OrderLine => ORDER_LINE,
            Table::Stock => STOCK,
        }
    }
}

const ITEM: Shape = Shape {
    name: "tpcc_item",
    columns: &[
        ("i_id", INT),
        ("i_im_id", INT),
        ("i_name", TEXT_24),
        ("i_price", LITTLE_MONEY),
        ("i_data", TEXT_50),
    ],
    key: "i_id",
    index: "",
};

const WAREHOUSE: Shape = Shape {
    name: "tpcc_warehouse",
    columns: &[
        ("w_id", INT),
        ("w_name", TEXT_10),
        ("w_street_1", TEXT_20),
        ("w_street_2", TEXT_20),
        ("w_city", TEXT_20),
        ("w_state", TEXT_2),
        ("w_zip", TEXT_9),
        ("w_tax", RATE),
        ("w_ytd", MUCH_MONEY),
    ],
    key: "w_id",
    index: "",
};

const DISTRICT: Shape = Shape {
    name: "tpcc_district",
    columns: &[
        ("d_w_id", INT),
        ("d_id", INT),
        ("d_name", TEXT_10),
        ("d_street_1", TEXT_20),
        ("d_street_2", TEXT_20),
        ("d_city", TEXT_20),
        ("d_state", TEXT_2),
        ("d_zip", TEXT_9),
        ("d_tax", RATE),
        ("d_ytd", MUCH_MONEY),
        ("d_next_o_id", INT),
    ],
    key: "d_w_id, d_id",
    index: "",
};

const CUSTOMER: Shape = Shape {
    name: "tpcc_customer",
    columns: &[
        ("c_w_id", INT),
        ("c_d_id", INT),
        ("c_id", INT),
        ("c_first", TEXT_16),
        ("c_middle", TEXT_2),
        ("c_last", TEXT_16),
        ("c_street_1", TEXT_20),
        ("c_street_2", TEXT_20),
        ("c_city", TEXT_20),
        ("c_state", TEXT_2),
        ("c_zip", TEXT_9),
        ("c_phone", "CHAR(16) NOT NULL"),
        ("c_since", TIME),
        ("c_credit", TEXT_2),
        ("c_credit_lim", MONEY),
        ("c_discount", RATE),
        ("c_balance", MONEY),
        ("c_ytd_payment", MONEY),
        ("c_payment_cnt", INT),
        ("c_delivery_cnt", INT),
        ("c_data", "VARCHAR(500) NOT NULL"),
    ],
    key: "c_w_id, c_d_id, c_id",
    index: "CREATE INDEX tpcc_customer_by_name ON tpcc_customer (c_w_id, c_d_id, c_last, c_first)",
};

const HISTORY: Shape = Shape {
    name: "tpcc_history",
    columns: &[
        ("h_c_id", INT),
        ("h_c_d_id", INT),
        ("h_c_w_id", INT),
        ("h_d_id", INT),
        ("h_w_id", INT),
        ("h_date", TIME),
        ("h_amount", LITTLE_MONEY),
        ("h_data", TEXT_24),
    ],
    key: "",
    index: "",
};

const ORDERS: Shape = Shape {
    name: "tpcc_orders",
    columns: &[
        ("o_w_id", INT),
        ("o_d_id", INT),
        ("o_id", INT),
        ("o_c_id", INT),
        ("o_entry_d", TIME),
        ("o_carrier_id", "INTEGER"),
        ("o_ol_cnt", INT),
        ("o_all_local", INT),
    ],
    key: "o_w_id, o_d_id, o_id",
    index: "CREATE UNIQUE INDEX tpcc_orders_by_carrier ON tpcc_orders \
            (o_w_id, o_d_id, o_carrier_id, o_id)",
};

const NEW_ORDER: Shape = Shape {
    name: "tpcc_new_order",
    columns: &[("no_w_id", INT), ("no_d_id", INT), ("no_o_id", INT)],
    key: "no_w_id, no_d_id, no_o_id",
    index: "",
};

const ORDER_LINE: Shape = Shape {
    name: "tpcc_order_line",
    columns: &[
        ("ol_w_id", INT),
        ("ol_d_id", INT),
        ("ol_o_id", INT),
        ("ol_number", INT),
        ("ol_i_id", INT),
        ("ol_supply_w_id", INT),
        ("ol_delivery_d", TIME_OR_NULL),
        ("ol_quantity", INT),
        ("ol_amount", LITTLE_MONEY),
        ("ol_dist_info", DIST),
    ],
    key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
    index: "",
};

const STOCK: Shape = Shape {
    name: "tpcc_stock",
    columns: &[
        ("s_w_id", INT),
        ("s_i_id", INT),
        ("s_quantity", INT),
        ("s_ytd", INT),
        ("s_order_cnt", INT),
        ("s_remote_cnt", INT),
        ("s_data", TEXT_50),
        ("s_dist_01", DIST),
        ("s_dist_02", DIST),
        ("s_dist_03", DIST),
        ("s_dist_04", DIST),
        ("s_dist_05", DIST),
        ("s_dist_06", DIST),
        ("s_dist_07", DIST),
        ("s_dist_08", DIST),
        ("s_dist_09", DIST),
        ("s_dist_10", DIST),
    ],
    key: "s_w_id, s_i_id",
    index: "",
};

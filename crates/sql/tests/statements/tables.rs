//! Tables with a bit of everything, for texts that are nearly statements.

pub(crate) const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, k INT, p DECIMAL(8,2), c VARCHAR(9), d \
     DATETIME, INDEX k_1 (k), INDEX c_p (c, p), UNIQUE k_c (k, c))",
    "CREATE TABLE s (a INT, b INT, t_id INT NOT NULL DEFAULT 3, n TEXT, PRIMARY KEY (a, b))",
    "INSERT INTO t VALUES (1, 3, 1.50, 'b', '2026-11-22'), (2, NULL, NULL, NULL, NULL), (3, 5, \
     -0.05, 'B', '1969-12-31 23:59:59'), (4, -3, 20, 'a ', '0001-01-01')",
    "INSERT INTO s VALUES (1, 1, 1, 'x'), (1, 2, 1, ''), (2, 1, 4, NULL)",
];

// The steps of connectors.rs by MySQL's Connector/J: java Ask URL USER PASSWORD DATABASE
import java.math.BigDecimal;
import java.sql.*;
import java.time.LocalDate;
import java.time.LocalDateTime;

public class Ask {
  interface Steps { void run() throws Exception; }

  static final String COLUMNS =
    "(`id` BIGINT NOT NULL AUTO_INCREMENT, `c` VARCHAR(20) COMMENT 'text', "
    + "d DECIMAL(6,2), at DATETIME(6), day DATE, n INT, PRIMARY KEY (`id`), KEY (`n`)) "
    + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='asked'";

  static Connection db;

  static void step(String name, Steps steps) throws Exception {
    try {
      steps.run();
    } catch (Throwable error) {
      System.out.println(name + ": " + error);
      System.exit(1);
    }
    System.out.println("did " + name);
  }

  static void same(Object expected, Object got) {
    if (!expected.equals(got)) throw new AssertionError(expected + " expected, got " + got);
  }

  static int refused(String sql) throws Exception {
    try (Statement s = db.createStatement()) {
      s.execute(sql);
      return 0;
    } catch (SQLException error) {
      // The connector's own refusals have no number.
      return error.getErrorCode() == 0 ? -1 : error.getErrorCode();
    }
  }

  static int count() throws Exception {
    String sql = "SELECT count(*) FROM ask";
    try (Statement s = db.createStatement(); ResultSet r = s.executeQuery(sql)) {
      r.next();
      return r.getInt(1);
    }
  }

  public static void main(String[] args) throws Exception {
    db = DriverManager.getConnection(args[0], args[1], args[2]);
    String database = args[3];
    LocalDateTime at = LocalDateTime.of(2026, 11, 25, 19, 30, 0, 123456000);
    LocalDate day = LocalDate.of(2026, 11, 25);
    step("create", () -> {
      try (Statement s = db.createStatement()) {
        s.execute("DROP TABLE IF EXISTS `" + database + "`.`ask`");
        s.execute("CREATE TABLE `" + database + "`.`ask` " + COLUMNS);
      }
    });
    step("insert", () -> {
      String sql = "INSERT INTO ask (c, d, at, day, n) VALUES (?, ?, ?, ?, ?)";
      try (PreparedStatement p = db.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
        p.setString(1, "caf\u00e9 \u0436");
        p.setBigDecimal(2, new BigDecimal("-1.50"));
        p.setObject(3, at);
        p.setObject(4, day);
        p.setInt(5, 7);
        same(1, p.executeUpdate());
        try (ResultSet keys = p.getGeneratedKeys()) { keys.next(); same(1, keys.getInt(1)); }
      }
    });
    step("select", () -> {
      String sql = "SELECT id, c, d, at, day, n FROM ask WHERE id = ?";
      try (PreparedStatement p = db.prepareStatement(sql)) {
        p.setInt(1, 1);
        try (ResultSet r = p.executeQuery()) {
          r.next();
          same("caf\u00e9 \u0436", r.getString("c"));
          same(new BigDecimal("-1.50"), r.getBigDecimal(3));
          same(at, r.getObject("at", LocalDateTime.class));
          same(day, r.getObject("day", LocalDate.class));
          same(7, r.getInt("n"));
          same(Types.TIMESTAMP, r.getMetaData().getColumnType(4));
          same(Types.DATE, r.getMetaData().getColumnType(5));
        }
      }
    });
    step("savepoint", () -> {
      db.setAutoCommit(false);
      Savepoint savepoint = db.setSavepoint("a");
      same(0, refused("INSERT INTO ask (c) VALUES ('x')"));
      db.rollback(savepoint);
      db.commit();
      db.setAutoCommit(true);
      same(1, count());
    });
    step("read only", () -> {
      db.setReadOnly(true);
      db.setAutoCommit(false);
      same(-1, refused("INSERT INTO ask (c) VALUES ('x')"));
      db.rollback();
      db.setReadOnly(false);
      db.setAutoCommit(true);
      same(1, count());
    });
    step("levels", () -> {
      int[] levels = {
        Connection.TRANSACTION_READ_COMMITTED,
        Connection.TRANSACTION_SERIALIZABLE,
        Connection.TRANSACTION_REPEATABLE_READ,
      };
      for (int level : levels) {
        db.setTransactionIsolation(level);
        same(level, db.getTransactionIsolation());
      }
    });
    step("batch", () -> {
      try (PreparedStatement p = db.prepareStatement("INSERT INTO ask (n, c) VALUES (?, ?)")) {
        for (int i = 0; i < 3; i++) { p.setInt(1, i); p.setString(2, "b" + i); p.addBatch(); }
        same(3, p.executeBatch().length);
      }
      same(4, count());
    });
    step("coalesce", () -> {
      String sql = "SELECT COALESCE(SUM(n), 0), IFNULL(d, 0) FROM ask WHERE id = ? GROUP BY d";
      try (PreparedStatement p = db.prepareStatement(sql)) {
        p.setInt(1, 1);
        try (ResultSet r = p.executeQuery()) {
          r.next();
          same(Types.DECIMAL, r.getMetaData().getColumnType(1));
          same(Types.DECIMAL, r.getMetaData().getColumnType(2));
          same(new BigDecimal("7"), r.getBigDecimal(1));
        }
      }
    });
    step("columns", () -> {
      try (Statement s = db.createStatement();
          ResultSet r = s.executeQuery("SELECT a.id, a.n, a.c FROM ask AS a WHERE a.id = 1")) {
        ResultSetMetaData about = r.getMetaData();
        same("ask", about.getTableName(1));
        same(Types.BIGINT, about.getColumnType(1));
        same(Types.INTEGER, about.getColumnType(2));
        same(20, about.getPrecision(3));
        same(true, about.isAutoIncrement(1));
        same(ResultSetMetaData.columnNoNulls, about.isNullable(1));
      }
      try (Statement s = db.createStatement();
          ResultSet r = s.executeQuery("SELECT n + 1 FROM ask WHERE id = 1")) {
        r.next();
        same(8L, r.getObject(1));
      }
    });
    step("refusals", () -> {
      same(1292, refused("INSERT INTO ask (day) VALUES ('hello')"));
      same(1062, refused("INSERT INTO ask (id) VALUES (1)"));
      same(1146, refused("DELETE FROM nowhere"));
    });
    step("limits", () -> {
      try (Statement s = db.createStatement()) {
        s.setMaxRows(1);
        s.setQueryTimeout(60);
        int rows = 0;
        try (ResultSet r = s.executeQuery("SELECT id FROM ask")) { while (r.next()) rows++; }
        same(1, rows);
      }
      same(true, db.isValid(60));
      same(database, db.getCatalog());
    });
    db.close();
    System.out.println("all is well");
  }
}

// The steps of connectors.rs by Go: ask DSN DATABASE
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
)

const columns = "(`id` BIGINT NOT NULL AUTO_INCREMENT, `c` VARCHAR(20) COMMENT 'text', " +
	"d DECIMAL(6,2), at DATETIME(6), day DATE, n INT, PRIMARY KEY (`id`), KEY (`n`)) " +
	"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='asked'"

func step(name string, steps func() error) {
	if err := steps(); err != nil {
		fmt.Println(name+":", err)
		os.Exit(1)
	}
	fmt.Println("did", name)
}

func same(expected, got any) error {
	if expected != got {
		return fmt.Errorf("%v expected, got %v", expected, got)
	}
	return nil
}

func first(errors ...error) error {
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}

func code(err error) any {
	if refused, is := err.(*mysql.MySQLError); is {
		return int(refused.Number)
	}
	return err
}

func main() {
	db, err := sql.Open("mysql", os.Args[1])
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	at := time.Date(2026, 11, 25, 19, 30, 0, 123456789, time.UTC)
	day := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	exec := func(query string, values ...any) error {
		_, err := db.Exec(query, values...)
		return err
	}
	step("create", func() error {
		made := "CREATE TABLE `" + os.Args[2] + "`.`ask` " + columns
		return first(exec("DROP TABLE IF EXISTS ask"), exec(made))
	})
	step("insert", func() error {
		insert := "INSERT INTO ask (c, d, at, day, n) VALUES (?, ?, ?, ?, ?)"
		done, err := db.Exec(insert, "café ж", "-1.50", at, day, 7)
		if err != nil {
			return err
		}
		number, err := done.LastInsertId()
		return first(err, same(int64(1), number))
	})
	const query = "SELECT c, d, at, day, n FROM ask"
	for _, values := range [][]any{{1}, nil} {
		step("select", func() error {
			var c, d string
			var kept, keptDay time.Time
			var n int
			asked := query
			if values != nil {
				asked += " WHERE id = ?"
			}
			err := db.QueryRow(asked, values...).Scan(&c, &d, &kept, &keptDay, &n)
			rounded := at.Round(time.Microsecond)
			return first(err, same("café ж", c), same("-1.50", d), same(rounded, kept),
				same(day, keptDay), same(7, n))
		})
	}
	step("nine digits", func() error {
		return first(exec("INSERT INTO ask (at) VALUES ('2026-11-25 19:30:00.123456789')"),
			exec("DELETE FROM ask WHERE c IS NULL"))
	})
	step("levels", func() error {
		levels := []sql.IsolationLevel{sql.LevelSerializable, sql.LevelReadCommitted,
			sql.LevelRepeatableRead, sql.LevelDefault}
		for _, level := range levels {
			tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level})
			if err != nil {
				return err
			}
			if _, err = tx.Exec("UPDATE ask SET n = n + 1"); err != nil {
				return err
			}
			if err = tx.Rollback(); err != nil {
				return err
			}
		}
		var n int
		err := db.QueryRow("SELECT n FROM ask").Scan(&n)
		return first(err, same(7, n))
	})
	step("read only", func() error {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE ask SET n = n + 1")
		return first(same(1792, code(err)), tx.Rollback())
	})
	step("refusals", func() error {
		return first(
			same(1292, code(exec("INSERT INTO ask (day) VALUES (?)", "hello"))),
			same(1062, code(exec("INSERT INTO ask (id) VALUES (?)", 1))),
			same(1146, code(exec("DELETE FROM nowhere"))))
	})
	step("coalesce", func() error {
		rows, err := db.Query("SELECT COALESCE(n, 0), IFNULL(d, 0) FROM ask WHERE id = ?", 1)
		if err != nil {
			return err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		whole := types[0].DatabaseTypeName()
		return first(same(true, whole == "BIGINT" || whole == "INT"),
			same("DECIMAL", types[1].DatabaseTypeName()))
	})
	step("ping", db.Ping)
	fmt.Println("all is well")
}

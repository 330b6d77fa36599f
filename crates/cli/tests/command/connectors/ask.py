# The steps of connectors.rs by Python: ask.py CONNECTOR PORT USER PASSWORD DATABASE
import datetime
import decimal
import sys

connector, port, user, password, database = sys.argv[1:6]
to = dict(host='127.0.0.1', port=int(port), user=user, password=password, database=database)
AT = datetime.datetime(2026, 11, 25, 19, 30, 0, 123456)
DAY = datetime.date(2026, 11, 25)
MONEY = decimal.Decimal('-1.50')


def step(name):
    def run(steps):
        try:
            steps()
        except BaseException as error:
            sys.exit(f'{name}: {type(error).__name__}: {error}')
        print('did', name)
    return run


def same(expected, got):
    assert expected == got, f'{expected!r} expected, got {got!r}'


def text(value):
    return value.decode() if isinstance(value, (bytes, bytearray)) else value


def rows(cursor):
    return [tuple(map(text, row)) for row in cursor.fetchall()]


def by_database_api(module, db, cursor):
    """PEP 249: text, and where the connector has them prepared statements."""
    def refused(sql, values=()):
        made = cursor()
        try:
            made.execute(sql, values)
        except module.Error as error:
            return error.args[0]
        finally:
            made.close()
        return None

    def ask(sql, values=()):
        made = cursor()
        made.execute(sql, values)
        got = rows(made)
        made.close()
        return got

    @step('create')
    def _():
        made = db.cursor()
        made.execute('DROP TABLE IF EXISTS ask')
        made.execute(
            f"CREATE TABLE `{database}`.`ask` (`id` BIGINT NOT NULL AUTO_INCREMENT, "
            "`c` VARCHAR(20) COMMENT 'text', d DECIMAL(6,2), at DATETIME(6), day DATE, n INT, "
            "PRIMARY KEY (`id`), KEY (`n`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 "
            "COLLATE=utf8mb4_bin COMMENT='asked'")

    @step('insert')
    def _():
        made = cursor()
        row = ('café ж', MONEY, AT, DAY, 7)
        made.execute('INSERT INTO ask (c, d, at, day, n) VALUES (%s, %s, %s, %s, %s)', row)
        same(1, made.lastrowid)
        made.close()
        db.commit()

    @step('select')
    def _():
        got = ask('SELECT c, d, at, day, n FROM ask WHERE id = %s', (1,))
        same([('café ж', MONEY, AT, DAY, 7)], got)

    @step('savepoint')
    def _():
        made = db.cursor()
        made.execute('SAVEPOINT a')
        made.execute("INSERT INTO ask (c) VALUES ('x')")
        made.execute('ROLLBACK TO a')
        db.commit()
        same([(1,)], ask('SELECT count(*) FROM ask'))
        db.rollback()

    @step('refusals')
    def _():
        same(1292, refused('INSERT INTO ask (day) VALUES (%s)', ('hello',)))
        same(1062, refused('INSERT INTO ask (id) VALUES (%s)', (1,)))
        same(1146, refused('SELECT 1 FROM nowhere'))
        db.rollback()

    @step('coalesce')
    def _():
        got = ask('SELECT COALESCE(n, 0), IFNULL(d, 0) FROM ask WHERE id = %s', (1,))
        same([(7, MONEY)], got)
        same([(0,)], ask('SELECT COALESCE(SUM(n), 0) FROM ask WHERE id > %s', (9,)))
        db.rollback()

    @step('columns')
    def _():
        made = cursor()
        made.execute("SELECT n + 1 AS m, a.n, 'text' FROM ask AS a WHERE id = 1")
        same([(8, 7, 'text')], rows(made))
        names = [(column[0], bool(column[6])) for column in made.description]
        same([('m', True), ('n', True), ('text', False)], names)
        made.close()
        db.rollback()

    @step('read only')
    def _():
        made = db.cursor()
        if hasattr(db, 'start_transaction'):
            db.start_transaction(readonly=True, isolation_level='READ COMMITTED')
        else:
            made.execute('START TRANSACTION READ ONLY')
        same(1792, refused("INSERT INTO ask (c) VALUES ('x')"))
        db.rollback()

    @step('many')
    def _():
        made = cursor()
        made.executemany('INSERT INTO ask (n, c) VALUES (%s, %s)', [(n, str(n)) for n in range(5)])
        same(5, made.rowcount)
        db.commit()


def by_sqlalchemy(driver):
    import sqlalchemy as sa
    from sqlalchemy.orm import Session, declarative_base

    engine = sa.create_engine(f'mysql+{driver}://{user}:{password}@127.0.0.1:{port}/{database}')
    base = declarative_base()

    class Parent(base):
        __tablename__ = 'parent'
        __table_args__ = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4', 'comment': 'all'}
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(30), index=True, comment='a name')
        at = sa.Column(sa.DateTime)
        day = sa.Column(sa.Date)
        d = sa.Column(sa.Numeric(8, 2))
        ok = sa.Column(sa.Boolean)

    @step(f'{driver} create')
    def _():
        base.metadata.drop_all(engine)
        base.metadata.create_all(engine)

    @step(f'{driver} objects')
    def _():
        at = AT.replace(microsecond=0)
        with Session(engine) as session:
            session.add_all([Parent(name='a', at=at, day=DAY, d=MONEY, ok=True), Parent(name='b')])
            session.commit()
            got = session.scalars(sa.select(Parent).where(Parent.name == 'a')).one()
            same((at, DAY, MONEY, True), (got.at, got.day, got.d, got.ok))

    @step(f'{driver} nested')
    def _():
        with Session(engine) as session:
            with session.begin_nested() as nested:
                session.add(Parent(name='x'))
                session.flush()
                nested.rollback()
            session.commit()
            same(2, session.scalar(sa.select(sa.func.count()).select_from(Parent)))
            total = sa.func.coalesce(sa.func.sum(Parent.id), 0)
            same(0, session.scalar(sa.select(total).where(Parent.id > 99)))

    @step(f'{driver} levels')
    def _():
        for level in ['SERIALIZABLE', 'READ COMMITTED', 'REPEATABLE READ']:
            with engine.connect().execution_options(isolation_level=level) as connection:
                same(1, connection.scalar(sa.text('SELECT 1')))
                same(level, connection.get_isolation_level())
        if driver == 'pymysql':
            # The other has no such level.
            engine_of_one = engine.execution_options(isolation_level='AUTOCOMMIT')
        else:
            engine_of_one = engine
        with engine_of_one.connect() as connection:
            connection.execute(sa.text("UPDATE parent SET name = 'z' WHERE id = 2"))

    @step(f'{driver} inspection')
    def _():
        seen = sa.inspect(engine)
        assert 'parent' in seen.get_table_names(), seen.get_table_names()
        names = ['id', 'name', 'at', 'day', 'd', 'ok']
        same(names, [column['name'] for column in seen.get_columns('parent')])
        same(['ix_parent_name'], [index['name'] for index in seen.get_indexes('parent')])
        same(['id'], seen.get_pk_constraint('parent')['constrained_columns'])


if connector == 'sqlalchemy':
    by_sqlalchemy('pymysql')
    by_sqlalchemy('mysqlconnector')
elif connector == 'pymysql':
    import pymysql
    db = pymysql.connect(**to)
    by_database_api(pymysql, db, db.cursor)
elif connector == 'mysqldb':
    import MySQLdb
    db = MySQLdb.connect(**to)
    by_database_api(MySQLdb, db, db.cursor)
else:
    import mysql.connector
    db = mysql.connector.connect(**to, use_pure=True)
    by_database_api(mysql.connector, db, db.cursor)
    by_database_api(mysql.connector, db, lambda: db.cursor(prepared=True))
    db.cmd_reset_connection()
print('all is well')

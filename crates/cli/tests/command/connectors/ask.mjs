// The steps of connectors.rs by Node.js: node ask.mjs PORT USER PASSWORD DATABASE
import mariadb from 'mariadb';
import mysql2 from 'mysql2/promise';

const [, , port, user, password, database] = process.argv;
const to = { host: '127.0.0.1', port: Number(port), user, password, database };

const COLUMNS =
  "(`id` BIGINT NOT NULL AUTO_INCREMENT, `c` VARCHAR(20) COMMENT 'text', " +
  "d DECIMAL(6,2), at DATETIME(6), day DATE, n INT, PRIMARY KEY (`id`), KEY (`n`)) " +
  "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin COMMENT='asked'";

async function step(name, steps) {
  try {
    await steps();
  } catch (error) {
    console.log(`${name}: ${error.message}`);
    process.exit(1);
  }
  console.log('did', name);
}

function same(expected, got) {
  const [left, right] = [expected, got].map(value => JSON.stringify(value));
  if (left !== right) throw new Error(`${left} expected, got ${right}`);
}

// `text` sends a statement whole, `binary` a prepared one; both give rows or what was done.
async function ask(name, text, binary, connection) {
  const at = new Date(2026, 10, 25, 19, 30, 0, 123);
  const day = new Date(2026, 10, 25);
  const refused = async (sql, values) => {
    try {
      await binary(sql, values);
    } catch (error) {
      return error.errno;
    }
  };
  await step(`${name} create`, async () => {
    await text('DROP TABLE IF EXISTS ask');
    await text(`CREATE TABLE \`${database}\`.\`ask\` ${COLUMNS}`);
  });
  await step(`${name} insert`, async () => {
    const row = ['café ж', '-1.50', at, day, 7];
    const done = await binary('INSERT INTO ask (c, d, at, day, n) VALUES (?, ?, ?, ?, ?)', row);
    same(1, Number(done.insertId));
  });
  for (const [form, send] of [['text', text], ['binary', binary]]) {
    await step(`${name} select as ${form}`, async () => {
      const [row] = await send('SELECT c, d, at, day, n FROM ask WHERE id = ?', [1]);
      same(['café ж', -1.5, at, day, 7], [row.c, Number(row.d), row.at, row.day, Number(row.n)]);
    });
  }
  await step(`${name} transactions`, async () => {
    await connection.beginTransaction();
    await text('INSERT INTO ask (c) VALUES (?)', ['x']);
    await text('SAVEPOINT a');
    await text('INSERT INTO ask (c) VALUES (?)', ['y']);
    await text('ROLLBACK TO SAVEPOINT a');
    await text('RELEASE SAVEPOINT a');
    await connection.rollback();
    const [row] = await text('SELECT count(*) AS n FROM ask');
    same(1, Number(row.n));
  });
  await step(`${name} refusals`, async () => {
    same(1292, await refused('INSERT INTO ask (day) VALUES (?)', ['hello']));
    same(1062, await refused('INSERT INTO ask (id) VALUES (?)', [1]));
    same(1146, await refused('DELETE FROM nowhere', []));
  });
  await step(`${name} coalesce`, async () => {
    const [row] = await binary('SELECT COALESCE(n, 0) AS n FROM ask WHERE id = ?', [1]);
    same('7', String(row.n));
    same(false, typeof row.n === 'string');
  });
  await step(`${name} catalogue`, async () => {
    const [table] = await text('SHOW FULL TABLES');
    same([`Tables_in_${database}`, 'Table_type'], Object.keys(table));
    const [column] = await text('SHOW FULL COLUMNS FROM ask');
    const names = 'Field Type Collation Null Key Default Extra Privileges Comment';
    same(names, Object.keys(column).join(' '));
  });
}

const one = await mysql2.createConnection(to);
const first = async (done) => (await done)[0];
const query = (sql, values) => first(one.query(sql, values));
const execute = (sql, values) => first(one.execute(sql, values));
await ask('mysql2', query, execute, one);
await step('mysql2 changes', async () => {
  const sql = 'UPDATE ask SET n = 7 WHERE id = 1';
  const [done] = await one.query(sql);
  same([1, 0], [done.affectedRows, done.changedRows]);
});
await step('mysql2 columns', async () => {
  const [rows, fields] = await one.query('SELECT a.id, a.n + 1 AS m FROM ask AS a WHERE a.id = 1');
  same({ id: 1, m: 8 }, rows[0]);
  same(['a', 'ask', 'id'], [fields[0].table, fields[0].orgTable, fields[0].orgName]);
});
await one.end();
const other = await mariadb.createConnection({ ...to, allowPublicKeyRetrieval: true });
const otherQuery = (sql, values) => other.query(sql, values);
const otherExecute = (sql, values) => other.execute(sql, values);
await ask('mariadb', otherQuery, otherExecute, other);
const pairs = [[1, 'a'], [2, 'b']];
await step('mariadb batch', () => other.batch('INSERT INTO ask (n, c) VALUES (?, ?)', pairs));
await step('mariadb reset', () => other.reset());
await other.end();
console.log('all is well');

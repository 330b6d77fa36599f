-- Version 1. Never change this file once it is released: add the next version instead.

CREATE TABLE run (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of beginning
  id              TEXT    NOT NULL UNIQUE,            -- eight hexadecimal digits
  name            TEXT,
  started_unix_ms INTEGER NOT NULL,
  status          TEXT    NOT NULL,                   -- partial | interrupted | complete
  tool_version    TEXT    NOT NULL,
  command         TEXT    NOT NULL,
  pairs           INTEGER NOT NULL,
  round_ns        INTEGER NOT NULL,
  lead_in_ns      INTEGER NOT NULL,
  warm_up_ns      INTEGER NOT NULL,
  seed            INTEGER NOT NULL,
  tables          INTEGER NOT NULL,
  rows            INTEGER NOT NULL,
  budget          REAL    NOT NULL,                   -- 0.02 = 2 % of rQPS
  pin             TEXT    NOT NULL,                   -- auto | same | none
  restarts        INTEGER NOT NULL,                   -- of both servers, within a cell
  driving         TEXT    NOT NULL                    -- closed | rate … | find-max …
) STRICT;

CREATE INDEX run_by_name ON run (name) WHERE name IS NOT NULL;

CREATE TABLE plan_stage (
  run      INTEGER NOT NULL REFERENCES run,
  position INTEGER NOT NULL,
  stage    TEXT    NOT NULL,  -- settle | warm:LOAD | warm:60s:LOAD | LOAD
  label    TEXT,              -- of the load that is measured; NULL: nothing is
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_file (
  run      INTEGER NOT NULL REFERENCES run,
  position INTEGER NOT NULL,
  file     TEXT    NOT NULL,  -- as the user named it
  text     TEXT    NOT NULL,  -- what was in it: a custom load
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE plan_clients (
  run      INTEGER NOT NULL REFERENCES run,
  position INTEGER NOT NULL,
  clients  INTEGER NOT NULL,
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  id     INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE  -- of each name and value in order, each after its length (8 bytes, LE)
) STRICT;

CREATE TABLE environment_fact (
  environment INTEGER NOT NULL REFERENCES environment,
  name        TEXT    NOT NULL,
  value       TEXT    NOT NULL,
  PRIMARY KEY (environment, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE arm (
  run         INTEGER NOT NULL REFERENCES run,
  arm         TEXT    NOT NULL,  -- base | test
  target      TEXT    NOT NULL,  -- as the user wrote it, without a password
  slow        REAL    NOT NULL,  -- exact; the text may be rounded
  environment INTEGER REFERENCES environment,
  PRIMARY KEY (run, arm)
) STRICT, WITHOUT ROWID;

CREATE TABLE round (
  seq                     INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of measuring
  run                     INTEGER NOT NULL REFERENCES run,
  load                    TEXT    NOT NULL,
  clients                 INTEGER NOT NULL,
  pair                    INTEGER NOT NULL,
  arm                     TEXT    NOT NULL,
  started_unix_ms         INTEGER NOT NULL,
  wall_ns                 INTEGER NOT NULL,
  events                  INTEGER NOT NULL,
  statements              INTEGER NOT NULL,
  rows_read               INTEGER NOT NULL,
  rows_changed            INTEGER NOT NULL,
  retries                 INTEGER NOT NULL,
  server_cpu_ns           INTEGER,  -- NULL: cannot be observed
  server_kernel_ns        INTEGER,
  client_cpu_ns           INTEGER,
  client_kernel_ns        INTEGER,
  server_context_switches INTEGER,
  client_context_switches INTEGER,
  client_run_delay_ns     INTEGER,
  server_read_bytes       INTEGER,
  server_written_bytes    INTEGER,
  pauses_ns               INTEGER,  -- of the client; NULL: it shared a processor with the server
  longest_pause_ns        INTEGER,
  life                    INTEGER NOT NULL,  -- how often the servers had been started again
  offered                 INTEGER,  -- open loop: events meant for the window; NULL: closed loop
  unanswered              INTEGER,  -- those of them that nobody had begun to answer at the end
  UNIQUE (run, load, clients, pair, arm)
) STRICT;

CREATE TABLE series (
  round   INTEGER NOT NULL REFERENCES round,
  metric  TEXT    NOT NULL,   -- statements
  slot_ns INTEGER NOT NULL,
  slots   BLOB    NOT NULL,   -- first byte: version of the format
  fnv1a   INTEGER NOT NULL,   -- 64 bits, of the blob
  PRIMARY KEY (round, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
  round  INTEGER NOT NULL REFERENCES round,
  metric TEXT    NOT NULL,    -- event_latency_ns; open loop: event_response_ns, send_lag_ns too
  hdr    BLOB    NOT NULL,    -- HdrHistogram V2, deflated
  count  INTEGER NOT NULL,
  fnv1a  INTEGER NOT NULL,    -- 64 bits, of the blob
  PRIMARY KEY (round, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE reading (
  round INTEGER NOT NULL REFERENCES round,
  name  TEXT    NOT NULL,   -- model::readings
  value REAL    NOT NULL,
  PRIMARY KEY (round, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  run      INTEGER NOT NULL REFERENCES run,
  severity TEXT    NOT NULL,  -- note | caution | blocks
  code     TEXT    NOT NULL,
  text     TEXT    NOT NULL
) STRICT;

CREATE INDEX warning_by_run ON warning (run);

-- Version 10: waits, and who called whom while instructions were counted. Never change it once it is released.

-- What an operation of a cell waits for, by class, in one start of an arm's server: looked at in
-- rounds of their own when the run was explained.
CREATE TABLE wait (
  run      INTEGER NOT NULL REFERENCES run,
  load     TEXT    NOT NULL,
  clients  INTEGER NOT NULL,
  arm      TEXT    NOT NULL,  -- base | test
  start    INTEGER NOT NULL,
  class    TEXT    NOT NULL,
  us       REAL    NOT NULL,  -- microseconds for an operation
  function TEXT    NOT NULL,  -- in which most of it is waited
  PRIMARY KEY (run, load, clients, arm, start, class)
) STRICT, WITHOUT ROWID;

-- Names that two builds give one function are matched by who calls it and whom it calls.
CREATE TABLE counted_call (
  run              INTEGER NOT NULL REFERENCES run,
  load             TEXT    NOT NULL,
  arm              TEXT    NOT NULL,
  caller           TEXT    NOT NULL,
  callee           TEXT    NOT NULL,
  inclusive_per_op REAL    NOT NULL,
  PRIMARY KEY (run, load, arm, caller, callee)
) STRICT, WITHOUT ROWID;

-- Version 10: who called whom while instructions were counted. Never change it once it is released.

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

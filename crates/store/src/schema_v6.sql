-- Version 6: instructions per operation. Never change it once it is released.

CREATE TABLE counted (
  run          INTEGER NOT NULL REFERENCES run,
  load         TEXT    NOT NULL,
  arm          TEXT    NOT NULL CHECK (arm IN ('base', 'test')),
  repeat       INTEGER NOT NULL,
  operations   INTEGER NOT NULL,  -- statements
  instructions INTEGER NOT NULL,
  PRIMARY KEY (run, load, arm, repeat)
) STRICT, WITHOUT ROWID;

CREATE TABLE counted_function (
  run              INTEGER NOT NULL REFERENCES run,
  load             TEXT    NOT NULL,
  arm              TEXT    NOT NULL CHECK (arm IN ('base', 'test')),
  name             TEXT    NOT NULL,  -- empty: what has no name in that object
  object           TEXT    NOT NULL,  -- program or library
  own_per_op       REAL    NOT NULL,
  inclusive_per_op REAL    NOT NULL,
  PRIMARY KEY (run, load, arm, name, object)
) STRICT, WITHOUT ROWID;
